"""A program while it is read: its text, its places and its problems."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, Problem, Problems
from rtbot.core.source_span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    FindParameter = Callable[[str, SourceSpan], Any]

PROBLEMS_MAX = 1_000
"""After so many problems the rest of a program is not looked at."""


class TooManyProblemsError(Exception):
    """A program has so many problems that no more are looked for."""


class ProgramText:
    """The text of a program; `place(offset, length)` is the place of a part of it.

    `find_parameter(name, place)` is the value of `$name`, without it a program has no parameters.
    `is_partial`: declarations may be missing because the text has parts that are refused, so that
    a name that is not declared is no mistake.
    """

    def __init__(
        self,
        text: str,
        file: str,
        place: Callable[[int, int], SourceSpan] | None = None,
        find_parameter: FindParameter | None = None,
    ) -> None:
        self.text, self.file, self.find_parameter = text, file, find_parameter
        self.problems = Problems()
        self.is_partial = False
        self._place = place
        self._lines = [0]
        for line in text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def locate(self, start: int, length: int = 1) -> SourceSpan:
        """Return the place of a part of the text, as far as it is on one line."""
        line = bisect_right(self._lines, start, hi=len(self._lines) - 1) - 1
        length = max(min(length, self._lines[line + 1] - 1 - start), 1)
        if self._place is not None:
            return self._place(start, length)
        return SourceSpan(self.file, line + 1, start - self._lines[line] + 1, length)

    def report(self, code: str, start: int, length: int, message: str, hint: str = "") -> None:
        """Note a problem at a part of the text."""
        self.report_at(code, self.locate(start, length), message, hint)

    def report_at(self, code: str, span: SourceSpan, message: str, hint: str = "") -> None:
        """Note a problem at a place."""
        self.problems.add(code, span, message, hint)
        if len(self.problems.found) >= PROBLEMS_MAX:
            raise TooManyProblemsError

    def list_problems(self, severity: str) -> list[Problem]:
        """Return the problems of a severity in the order of the text, with their lines."""
        found = self.problems.list_problems(severity)
        if self._place is not None:
            return found
        lines = self.text.split("\n")
        return [replace(p, source=lines[min(p.mark.line, len(lines)) - 1].rstrip("\r"))
                for p in found]  # fmt: skip

    def has_errors(self) -> bool:
        """Return whether anything is wrong so far."""
        return any(problem.severity == "error" for problem in self.problems.found)

    def raise_errors(self) -> None:
        """Raise GraphError with every problem, if there is any."""
        found = self.list_problems("error")
        if found:
            raise GraphError(found)
