"""Everything that goes wrong for a user raises from this tree.

    RtbotError
    ├── GraphError        a graph file is wrong: every problem at once, with places  (exit code 3)
    ├── DataError         a row, a cell or a call brings bad data  (exit code 4)
    ├── StateError        a call that the session's state does not allow
    ├── QueueFull         a push to an input that is too far ahead of another
    ├── CheckpointError   a dump or checkpoint does not fit, or is damaged  (exit code 5)
    └── ResourceLimit     a stated limit is reached  (exit code 6)

Every problem and every error has a code of `rtbot.core.error_codes`. Our own mistakes are asserts
and never one of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from rtbot.core.error_codes import CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from rtbot.core.source_span import SourceSpan

HINTS, HINTS_NAMES = 100, 2_000
"""How many unknown names are compared with known ones, and with how many."""

SHORT = 3
"""Names of so few letters are like many others, unless one is a part of the other."""

EXCERPT = 100
"""How many characters of a source line are shown."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a graph file: what, where, and what to try; `source` is the line."""

    code: str
    mark: SourceSpan
    message: str
    hint: str = ""
    operator: str = ""
    port: str = ""
    source: str = ""

    @property
    def severity(self) -> str:
        """Either "error" or "warning"."""
        return "warning" if self.code.startswith("RT19") else "error"

    @property
    def place(self) -> str:
        """The place as `file:line:column`, or what replaces a file where there are no lines."""
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
    """Base of everything a user may catch; the text has where, what and what to try.

    `code` is one of CODES; `hint` is what to try, or "".
    """

    __module__ = "rtbot"

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        assert code in CODES, f"unknown code {code}"
        super().__init__(message)
        self.message, self.code, self.hint = message, code, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_error, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return self._format_message()

    def _format_message(self, place: str = "", details: str = "") -> str:
        hint = f"\n     {self.hint}" if self.hint else ""
        place = f"{place}: " if place else ""
        details = f" ({details})" if details else ""
        return f"{place}error[{self.code}]: {self.message}{details}{hint}"


class GraphError(RtbotError):
    """A graph file is wrong; `problems` has every mistake, in the order of the file.

    `code`, `message` and `hint` are those of the first.
    """

    __module__ = "rtbot"

    def __init__(self, problems: Sequence[Problem]) -> None:
        Exception.__init__(self, tuple(problems))
        self.problems = tuple(problems)
        told = [(first.code, first.message, first.hint) for first in self.problems[:1]]
        self.code, self.message, self.hint = told[0] if told else ("", "", "")

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class PlacedError(RtbotError):
    """An error of rows, whose place is known as far as its fields are.

    `times` are put in the message where it has `{}`.
    """

    __module__ = "rtbot"

    FIELDS = ("input", "row", "key", "time", "value", "file", "column")

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str = "",
        output: Any = None,
        times: Sequence[int] = (),
        **where: Any,
    ) -> None:
        unknown = set(where) - set(self.FIELDS)
        assert not unknown, f"{type(self).__name__} has no field {unknown}"
        super().__init__(message.format(*times) if times else message, code=code, hint=hint)
        self.form, self.times, self.output = message, times, output
        self.where = where

    def __getattr__(self, name: str) -> Any:
        if name in PlacedError.FIELDS:
            return self.where.get(name)
        raise AttributeError(name)

    def at(self, **where: Any) -> Self:
        """Return the same error with these fields of its place instead of its own."""
        return self._copy_with(self.form, self.times, self.where | where)

    def with_times(self, shown: Callable[[int], str], **where: Any) -> Self:
        """Return the same error with the times of its message as text, and these fields."""
        message = self.form.format(*map(shown, self.times)) if self.times else self.message
        return self._copy_with(message, (), self.where | where)

    def _copy_with(self, form: str, times: Sequence[int], where: dict[str, Any]) -> Self:
        error = type(self)(form, code=self.code, hint=self.hint, times=times, **where)
        error.output = self.output
        return error

    def __str__(self) -> str:
        given = {name: value for name, value in self.where.items() if value is not None}
        place = str(given.pop("file", ""))
        if place and "row" in given:
            place += f":{given.pop('row')}"
        if given.get("key") == (None,):
            given["key"] = "null"
            parts = [f"{n} {v if n == 'key' else _quote(v)}" for n, v in given.items()]
        else:
            parts = [f"{name} {_quote(value)}" for name, value in given.items()]
        return self._format_message(place, ", ".join(parts))


class DataError(PlacedError):
    """A row is wrong; the fields that are known say which one.

    `output` holds what was released before the error, in the form of `push`.
    """

    __module__ = "rtbot"


class StateError(RtbotError):
    """A call that the state of the session does not allow, such as a push after `finish`."""

    __module__ = "rtbot"


class QueueFull(RtbotError):  # noqa: N818 (the public name)
    """A push to an input that is too far ahead: `input` stalls the `rows` of `operator`.`port`.

    In a keyed session `key` is the one with the most of them.
    """

    __module__ = "rtbot"

    def __init__(
        self,
        operator: str,
        port: str,
        rows: int,
        input: str,  # noqa: A002
        key: Any = None,
    ) -> None:
        message = f"{operator}.{port} holds {rows} rows that wait for input {input}"
        if key is not None:
            message += f", most of all of the key {key!r}"
        super().__init__(message, code="RT304", hint=f"push to {input} or advance it")
        self.operator, self.port, self.rows, self.input = operator, port, rows, input
        self.key = key


class CheckpointError(RtbotError):
    """A dump is damaged, or belongs to another graph, other parameters or operator versions."""

    __module__ = "rtbot"


class ResourceLimit(PlacedError):  # noqa: N818 (the public name)
    """A stated limit is reached; where a row does it, the fields say which one."""

    __module__ = "rtbot"


class Problems:
    """Collects problems, so that all are reported at once."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.hints = 0

    def add(self, code: str, mark: SourceSpan, message: str, hint: str = "", **where: str) -> None:
        """Note a problem; `where` is `operator` and `port`."""
        assert code in CODES, f"unknown code {code}"
        self.found.append(Problem(code, mark, message, hint, **where))

    def add_all(self, problems: Iterable[Problem], operator: str = "", port: str = "") -> None:
        """Note problems that were raised, as problems of the operator, and of its port."""
        self.found += [
            replace(p, operator=p.operator or operator, port=p.port or port) for p in problems
        ]

    def suggest_name(self, name: str, candidates: Iterable[str]) -> str:
        """Return a hint as `suggest_name` does, for the first problems only: it costs time."""
        return self.make_hint(suggest_name, name, islice(candidates, HINTS_NAMES))

    def make_hint(self, make: Callable[..., str], *arguments: Any) -> str:
        """Return the hint that is made, for the first problems only."""
        self.hints += 1
        return make(*arguments) if self.hints <= HINTS else ""

    def list_problems(self, severity: str) -> list[Problem]:
        """Return the distinct problems of a severity, in the order of the file."""
        chosen = dict.fromkeys(p for p in self.found if p.severity == severity)
        return sorted(chosen, key=lambda p: (p.mark.line, p.mark.column))


def graph_error(code: str, mark: SourceSpan, message: str, hint: str = "") -> GraphError:
    """Make the error of a single problem, to be raised."""
    assert code in CODES, f"unknown code {code}"
    return GraphError([Problem(code, mark, message, hint)])


def suggest_name(name: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the candidate most like `name`, or ""."""
    import difflib

    lowered = {candidate.lower(): candidate for candidate in candidates}
    lower = name.lower()
    found = difflib.get_close_matches(lower, lowered, n=1, cutoff=0.6)
    if found and len(name) <= SHORT and not _is_part(*sorted((lower, found[0]), key=len)):
        found = difflib.get_close_matches(lower, lowered, n=1, cutoff=0.75)
    return f"did you mean {_quote(lowered[found[0]])}?" if found else ""


def _is_part(short: str, long: str) -> bool:
    """Return whether a name lacks only letters of the other, or has them in another order."""
    return short in long or sorted(short) == sorted(long)


def suggest_known_name(name: str, candidates: Iterable[str]) -> str:
    """Return a hint as `suggest_name` does for names of a closed set, which may have synonyms."""
    from rtbot.core.hints import find_synonym

    candidates = list(candidates)
    found = find_synonym(name, candidates)
    return f"did you mean {_quote(found)}?" if found else suggest_name(name, candidates)


def join_names(names: Iterable[str]) -> str:
    """Return names for a message, shortened if there are many."""
    names = list(names)
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def describe_non_ascii(text: str) -> str:
    """Return a hint that names the first character that is not ASCII, or ""."""
    import unicodedata

    found = next((character for character in text if not character.isascii()), "")
    name = unicodedata.name(found, "").lower() if found else ""
    return f"it holds U+{ord(found):04X} ({name or 'no name'})" if found else ""


def _restore_error(
    kind: type[RtbotError], args: tuple[Any, ...], fields: dict[str, Any]
) -> RtbotError:
    """Make an error from its parts again, as pickle and copy do."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _excerpt(line: str, mark: SourceSpan) -> tuple[str, str]:
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
