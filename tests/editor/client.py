"""A client of a language server: just enough to open a file and ask about places in it."""

import json
import os
import subprocess
import threading
from collections import defaultdict
from queue import Queue

SECONDS = 60
"""How long an answer may take, on a machine that is busy."""


class LanguageServer:
    """A server that runs with `command`, and the settings that it will ask for."""

    def __init__(self, command, folder, settings):
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.settings = settings
        self.answers = defaultdict(Queue)
        self.count = 0
        threading.Thread(target=self._read, daemon=True).start()
        documentation = {"completionItem": {"documentationFormat": ["markdown"]}}
        capabilities = {
            "workspace": {"configuration": True},
            "textDocument": {"completion": documentation},
        }
        started = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}
        self.ask("initialize", started)
        self.tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def ask(self, method, parameters):
        """The result of a request."""
        self.count += 1
        self._send(id=self.count, method=method, params=parameters)
        return self.answers[self.count].get(timeout=SECONDS)

    def tell(self, method, parameters):
        """Send a notification."""
        self._send(method=method, params=parameters)

    def diagnostics(self, uri, text):
        """Open a file; (line, the text that is marked, the message) of every diagnostic."""
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        found = self.answers[uri].get(timeout=SECONDS)
        return sorted((_marked(text, item["range"]), item["message"]) for item in found)

    def at(self, method, uri, line, character):
        """The result of a request about a place."""
        place = {"line": line, "character": character}
        return self.ask(method, {"textDocument": {"uri": uri}, "position": place})

    def _send(self, **message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def _read(self):
        while header := self.process.stdout.readline():
            length = int(header.split(b":")[1])
            while self.process.stdout.readline().strip():
                pass
            self._take(json.loads(self.process.stdout.read(length)))

    def _take(self, message):
        match message:
            case {"method": "workspace/configuration", "id": number, "params": {"items": items}}:
                given = [self.settings.get(item.get("section")) for item in items]
                self._send(id=number, result=given)
            case {"method": "textDocument/publishDiagnostics", "params": found}:
                self.answers[found["uri"]].put(found["diagnostics"])
            case {"method": _, "id": number}:
                self._send(id=number, result=None)
            case {"id": number, "result": result}:
                self.answers[number].put(result)
            case {"id": number, "error": error}:
                self.answers[number].put(error)


def _marked(text, range_):
    """What a range of one line covers, after the number of its line."""
    start, end = range_["start"], range_["end"]
    line = text.split("\n")[start["line"]]
    return start["line"] + 1, line[start["character"] : end["character"]]
