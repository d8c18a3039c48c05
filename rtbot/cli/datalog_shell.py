"""The shell of `rtbot datalog -i`: commands from a terminal, a pipe or a file."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

from rtbot.cli.exit_codes import DATA, OK, report_error
from rtbot.cli.messages import echo
from rtbot.cli.shell_facts import FactReader, read_fact
from rtbot.core.errors import DataError, RtbotError, suggest_known_name
from rtbot.core.number_text import format_count
from rtbot.database.fact_text import format_fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.cli.datalog_run import DatalogRun

PROMPT = "> "
HELP = {
    "insert R(1, 2), R(3, 4)": "insert facts with the next commit",
    "remove R(1, 2)": "remove facts with the next commit; the last command on a fact wins",
    "commit": "evaluate, and print what has changed",
    "rollback": "forget the commands since the last commit",
    "print R [N]": "print the rows of a relation, the first N of them",
    "why R(1, 2)": "print a derivation of a row; `why json R(1, 2)` prints it as JSON",
    "relations": "print all relations with their sizes",
    "explain": "print strata, rules, joins and sizes",
    "limits [facts N] [iterations N]": "print the limits of a commit, or set them",
    "write [FOLDER]": "write the results to files",
    "history": "print the commands so far",
    "help": "print this",
    "quit": "end; so does Ctrl-D. Facts that are not committed are lost",
}


class DatalogShell:
    """Reads commands and answers them; `program` is the file that it is about.

    An error ends its command only. Where no terminal is, it decides the exit code in the end.
    """

    def __init__(self, run: DatalogRun, program: str) -> None:
        self.run, self.database, self.program = run, run.database, program
        self.is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self.code = OK
        self.lines: list[str] = []
        self.commands: dict[str, Callable[[str], object]] = {
            "insert": lambda rest: self._change(rest, inserts=True),
            "remove": lambda rest: self._change(rest, inserts=False),
            "commit": self._commit,
            "rollback": self._roll_back,
            "print": self._print_rows,
            "why": self._explain_row,
            "relations": self._print_relations,
            "explain": self._explain,
            "limits": self._set_limits,
            "write": self._write,
            "history": self._print_history,
            "help": self._print_help,
        }

    def talk(self) -> int:
        """Take commands until the last one; return the exit code."""
        if self.is_terminal:
            self._greet()
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return self._take_lines()
        finally:
            signal.signal(signal.SIGINT, usual)

    def _take_lines(self) -> int:
        while True:
            try:
                line = self._read_line()
            except KeyboardInterrupt:
                if self.is_terminal:
                    echo()
                continue
            if line is None or line.strip().rstrip(".;") in ("quit", "exit"):
                return OK if self.is_terminal else self.code
            self.take(line)
            sys.stdout.flush()

    def _read_line(self) -> str | None:
        if not self.is_terminal:
            return sys.stdin.readline() or None
        try:
            return input(PROMPT)
        except EOFError:
            echo()
            return None

    def _greet(self) -> None:
        from rtbot.cli.shell_terminal import prepare_readline

        prepare_readline([*self.commands, "quit"], list(self.database.codecs))
        facts = ", ".join(self.database.list_inputs()) or "no relation"
        echo(f"{self.program}: epoch {self.database.epoch}; facts go into {facts}; try help")

    def take(self, line: str) -> None:
        """Run one command; report what is wrong with it."""
        line = line.strip()
        if not line or line.startswith(("#", "//")):
            return
        self.lines.append(line)
        word, _, rest = line.partition(" ")
        word = word.rstrip(".;")
        try:
            if word not in self.commands:
                hint = suggest_known_name(word, [*self.commands, "quit"])
                hint = hint or f"there are {', '.join([*self.commands, 'quit'])}"
                raise DataError(f"there is no command {word!r}", code="RT530", hint=hint)
            self.commands[word](rest.strip())
        except KeyboardInterrupt:
            during = ": all is as it was before the epoch" if word == "commit" else ""
            self._fail(f"interrupted{during}", DATA)
        except (RtbotError, OSError) as error:
            if isinstance(error, OSError) and self.run.store is not None:
                raise
            code = report_error(error)
            self.code = self.code or code

    def _fail(self, text: str, code: int) -> None:
        echo(text, err=True)
        self.code = self.code or code

    # ---- commands

    def _change(self, rest: str, *, inserts: bool) -> None:
        facts = FactReader(rest, self.database).read_all()
        inputs = self.database.list_inputs()
        for relation, _ in facts:
            if relation not in inputs:
                self.database.insert(relation, [])  # raises, before any fact is taken
        for relation, row in facts:
            (self.database.insert if inserts else self.database.remove)(relation, [row])

    def _commit(self, rest: str) -> None:
        _expect_nothing("commit", rest)
        changes, seconds = self.run.commit()
        echo(f"epoch {self.database.epoch}: {format_seconds(seconds)}")
        for name, (added, removed) in changes.items():
            if len(added) or len(removed):
                echo(f"  {name} +{len(added):,} -{len(removed):,}")

    def _roll_back(self, rest: str) -> None:
        _expect_nothing("rollback", rest)
        count = self.database.pending
        self.database.rollback()
        echo(f"{format_count(count, 'fact')} forgotten")

    def _print_rows(self, rest: str) -> None:
        words = rest.rstrip(".;").split()
        if not words or len(words) > 2 or (len(words) > 1 and not words[1].isdecimal()):
            raise DataError("print takes a relation", code="RT530", hint="print R, or print R 20")
        rows = self.database.facts(words[0])
        for row in rows[: int(words[1])] if len(words) > 1 else rows:
            echo(format_fact(words[0], row))

    def _explain_row(self, rest: str) -> None:
        word, _, fact = rest.partition(" ")
        if word == "json":
            found = self.database.why(*read_fact(fact, self.database))
            echo(json.dumps(found.to_json(), ensure_ascii=False))
        else:
            echo(str(self.database.why(*read_fact(rest, self.database))))

    def _print_relations(self, rest: str) -> None:
        _expect_nothing("relations", rest)
        for name in self.database.codecs:
            echo(f"{name} {self.database.count(name):,}")

    def _explain(self, rest: str) -> None:
        _expect_nothing("explain", rest)
        self.run.print_answers(None, explains=True)

    def _set_limits(self, rest: str) -> None:
        ranks = self.database.evaluation.ranks
        names = {"facts": "max_facts", "iterations": "max_iterations"}
        words = rest.replace("=", " ").split()
        pairs = list(zip(words[::2], words[1::2], strict=False))
        wrong = len(words) % 2 or any(n not in names or not v.isdecimal() for n, v in pairs)
        if wrong or any(int(value) < 1 for _, value in pairs):
            hint = "limits facts 1000000 iterations 1000"
            raise DataError("limits takes numbers of at least 1", code="RT530", hint=hint)
        for name, value in pairs:
            setattr(ranks, names[name], int(value))
        echo(f"facts {ranks.max_facts:,}, iterations {ranks.max_iterations:,}")

    def _write(self, rest: str) -> None:
        self.database.write_results(rest or ".")

    def _print_history(self, rest: str) -> None:
        _expect_nothing("history", rest)
        for number, line in enumerate(self.lines, 1):
            echo(f"{number:>4}  {line}")

    def _print_help(self, _rest: str) -> None:
        width = max(map(len, HELP))
        for form, meaning in HELP.items():
            echo(f"{form:<{width}}  {meaning}")


def _expect_nothing(command: str, rest: str) -> None:
    if rest.rstrip(".; "):
        hint = "a command is a line of its own"
        raise DataError(f"{command} takes nothing behind it", code="RT530", hint=hint)


def format_seconds(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
