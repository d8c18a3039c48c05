"""Everything that goes wrong for a user raises from this tree.

    RtbotError
    ├── GraphError        a graph file is wrong: every problem at once, with places  (exit code 3)
    ├── DataError         a row, a cell or a call brings bad data  (exit code 4)
    ├── StateError        a call that the session's state does not allow
    ├── QueueFull         a push to an input that is too far ahead of another
    ├── CheckpointError   a dump does not belong to this graph, or is damaged  (exit code 5)
    └── ResourceLimit     a stated limit is reached  (exit code 6)

Our own mistakes are asserts and never one of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.graph import Mark

CODES = {
    "RT101": "the text is not YAML",
    "RT102": "YAML that a graph file does not use: tags, anchors, tabs, several documents",
    "RT103": "unknown operator type",
    "RT104": "unknown key",
    "RT105": "the wrong form: a mapping, a list or a scalar where another is expected",
    "RT106": "something is given twice",
    "RT107": "a name that is no valid id",
    "RT108": "too large: bytes, depth, nodes or operators",
    "RT109": "bytes that are not UTF-8 text, or control characters",
    "RT110": "a required key is missing",
    "RT111": "a required parameter is missing",
    "RT112": "a value is outside its range or choices",
    "RT113": "a value is not of the type of its field",
    "RT114": "unknown parameter of the graph",
    "RT115": "a duration that cannot be told in io.unit",
    "RT116": "parameters that contradict each other",
    "RT120": "a reference to nothing",
    "RT121": "a reference to an output port that does not exist, or to one of several",
    "RT122": "an input port that does not exist",
    "RT123": "an input port that nothing feeds",
    "RT124": "an input port that is fed twice",
    "RT125": "a port is fed with another type",
    "RT126": "a port that takes no null is fed with a nullable stream",
    "RT127": "a cycle without a delay",
    "RT130": "an expression that cannot be read",
    "RT131": "unknown function in an expression",
    "RT132": "a function with the wrong number of arguments",
    "RT133": "types that do not go together in an expression",
    "RT134": "an integer beyond 64 bits",
    "RT135": "an expression that is too large or too deep",
    "RT136": "an expression that reads no stream",
    "RT140": "unknown type",
    "RT141": "a feature that this version does not have yet",
    "RT150": "a test whose shape is wrong",
    "RT160": "settings of io that do not fit the graph",
    "RT190": "warning: an input that nothing reads",
    "RT191": "warning: an operator whose outputs nothing reads",
    "RT192": "warning: a parameter that nothing uses",
}
"""Stable codes of graph problems; RT190 and above are warnings."""

HINTS, HINTS_NAMES = 100, 2_000
"""How many unknown names are compared with known ones, and with how many."""

EXCERPT = 100
"""How many characters of a source line are shown."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a graph file: what, where, and what to try; `source` is the line."""

    code: str
    mark: Mark
    message: str
    hint: str = ""
    operator: str = ""
    port: str = ""
    source: str = ""

    @property
    def severity(self) -> str:
        """Either "error" or "warning"."""
        return "warning" if self.code >= "RT190" else "error"

    @property
    def place(self) -> str:
        """The place as `file:line:column`, or what stands for a file where there are no lines."""
        mark = self.mark
        return f"{mark.file}:{mark.line}:{mark.column}" if mark.line else mark.file

    def __str__(self) -> str:
        text = f"{self.place}: {self.severity}[{self.code}]: {self.message}"
        if self.source:
            number = f"{self.mark.line:>4}" if self.mark.line else " " * 4
            line, caret = _excerpt(self.source, self.mark)
            text += f"\n{number} | {line}\n     | {caret} {self.hint}".rstrip()
        elif self.hint:
            text += f"\n     {self.hint}"
        return text


class RtbotError(Exception):
    """Base of everything a user may catch; the text says where, what and what to try."""


class GraphError(RtbotError):
    """A graph file is wrong; `problems` has every mistake, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class DataError(RtbotError):
    """A row is wrong; the fields that are known say which one.

    `output` holds what good work before the error has released, in the form of `push`.
    """

    FIELDS = ("input", "row", "key", "time", "value", "file", "column")

    def __init__(self, message: str, *, output: Any = None, **where: Any) -> None:
        unknown = set(where) - set(self.FIELDS)
        assert not unknown, f"DataError has no field {unknown}"
        super().__init__(message)
        self.message = message
        self.output = output
        self.where = where

    def __getattr__(self, name: str) -> Any:
        if name in DataError.FIELDS:
            return self.where.get(name)
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _data_error, (self.message, self.output, self.where)

    def __str__(self) -> str:
        given = {name: value for name, value in self.where.items() if value is not None}
        known = [f"{name} {_quoted(value)}" for name, value in given.items()]
        return f"{self.message} ({', '.join(known)})" if known else self.message


class StateError(RtbotError):
    """A call that the state of the session does not allow, such as a push after `finish`."""


class QueueFull(RtbotError):  # noqa: N818 (the public name)
    """A push to an input that is too far ahead: `input` stalls the `rows` of `operator`.`port`."""

    def __init__(self, operator: str, port: str, rows: int, input: str) -> None:  # noqa: A002
        super().__init__(operator, port, rows, input)
        self.operator, self.port, self.rows, self.input = operator, port, rows, input

    def __str__(self) -> str:
        return (
            f"{self.operator}.{self.port} holds {self.rows} rows that wait for input {self.input}: "
            f"push to {self.input} or advance it"
        )


class CheckpointError(RtbotError):
    """A dump is damaged, or belongs to another graph, other parameters or operator versions."""


class ResourceLimit(RtbotError):  # noqa: N818 (the public name)
    """A stated limit is reached."""


class Problems:
    """Collects problems, so that all are reported at once."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.hints = 0

    def add(self, code: str, mark: Mark, message: str, hint: str = "", **where: str) -> None:
        """Note a problem; `where` is `operator` and `port`."""
        assert code in CODES, f"unknown code {code}"
        self.found.append(Problem(code, mark, message, hint, **where))

    def add_all(self, problems: Iterable[Problem], operator: str = "") -> None:
        """Note problems that were raised, as problems of the operator."""
        self.found += [replace(p, operator=p.operator or operator) for p in problems]

    def nearest(self, name: str, candidates: Iterable[str]) -> str:
        """Return a hint as `nearest` does, for the first problems only: it costs time."""
        self.hints += 1
        return nearest(name, list(candidates)[:HINTS_NAMES]) if self.hints <= HINTS else ""

    def ordered(self, severity: str) -> list[Problem]:
        """The distinct problems of a severity, in the order of the file."""
        chosen = dict.fromkeys(p for p in self.found if p.severity == severity)
        return sorted(chosen, key=lambda p: (p.mark.line, p.mark.column))


def refused(code: str, mark: Mark, message: str, hint: str = "") -> GraphError:
    """Make the error of a single problem, to be raised."""
    assert code in CODES, f"unknown code {code}"
    return GraphError([Problem(code, mark, message, hint)])


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the candidate most like `name`, or ""."""
    import difflib

    lowered = {candidate.lower(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f"did you mean {_quoted(lowered[found[0]])}?" if found else ""


def _data_error(message: str, output: Any, where: dict[str, Any]) -> DataError:
    return DataError(message, output=output, **where)


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _excerpt(line: str, mark: Mark) -> tuple[str, str]:
    """Return a line that is safe to print, cut around the mark if it is long, and its caret."""
    line = "".join(c if c.isprintable() else " " for c in line)
    start = max(mark.column, 1) - 1
    length = max(min(mark.length, len(line) - start, EXCERPT // 2), 1)
    if len(line) > EXCERPT:
        cut = max(min(start - EXCERPT // 3, len(line) - EXCERPT), 0)
        line, start = line[cut : cut + EXCERPT], start - cut
        if cut:
            line = "..." + line[3:]
    return line, " " * start + "^" * length
