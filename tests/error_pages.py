"""The examples of error pages, run as they stand; `python -m tests.error_pages` renews messages."""

import contextlib
import io
import os
import shlex
import tempfile
from pathlib import Path

import rtbot.operators  # noqa: F401 (the registry is restored to what it holds)
from rtbot.cli.main import run
from rtbot.core.error_codes import CODES
from rtbot.explain.error_pages import PageBlock, read_body, split_page
from rtbot.operator import REGISTRY

PAGES = Path(__file__).parent.parent / "rtbot" / "pages"


def blocks(code):
    return [part for part in split_page(read_body(code)) if isinstance(part, PageBlock)]


def command_of(code):
    """The command that gives the error, and what the page says that it tells."""
    found = [block.text for block in blocks(code) if block.language == "text"]
    if not found:
        return None
    line, _, message = found[0].partition("\n")
    return line.removeprefix("$ "), message


def find_mended_command(code):
    found = [block.text.strip() for block in blocks(code) if block.language == "sh"]
    return found[0] if found else command_of(code)[0]


def files(code, *, wrong):
    """The files of one side; those that are not marked belong to both unless they are mended."""
    chosen = {block.file: block.data for block in blocks(code) if block.file and not block.wrong}
    if wrong:
        chosen |= {block.file: block.data for block in blocks(code) if block.file and block.wrong}
    return chosen


@contextlib.contextmanager
def restore_operators():
    """Forget the operators of plugins afterwards."""
    before = dict(REGISTRY)
    try:
        yield
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)


def run_command_of_page(command, data):
    """Run a command among the files; returns its exit code and what it tells on stderr."""
    err = io.StringIO()
    out = io.TextIOWrapper(io.BytesIO())
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        restore_operators(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        for name, content in data.items():
            Path(name).write_bytes(content)
        program, *arguments = shlex.split(command)
        assert program == "rtbot"
        code = run(arguments)
    return code, err.getvalue()


def renew(code):
    """Write what is told now into the page."""
    given = command_of(code)
    if given is None:
        return
    command, message = given
    _, now = run_command_of_page(command, files(code, wrong=True))
    path = PAGES / f"{code}.md"
    text = path.read_text(encoding="utf-8")
    text = text.replace(f"```text\n$ {command}\n{message}```", f"```text\n$ {command}\n{now}```")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["RTBOT_INTERPRET"] = "1"
    for each in CODES:
        renew(each)
