"""What is wrong with fact files: all of it at once, within reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError, Problem
from rtbot.core.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBLEMS_MAX = 20
"""So many problems are reported for all files together."""


class FactFileError(DataError):
    """Fact files are wrong; `problems` has every mistake up to a limit, with its place.

    `code`, `message` and `hint` are those of the first. `more` is whether there are others.
    """

    def __init__(self, problems: Sequence[Problem], *, more: bool = False) -> None:
        first = problems[0]
        where: dict[str, Any] = {"file": first.mark.file}
        if first.mark.line:
            where |= {"row": first.mark.line}
        super().__init__(first.message, code=first.code, hint=first.hint, **where)
        self.problems, self.more = tuple(problems), more

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems]
        if self.more:
            count = format_count(len(self.problems), "problem")
            shown.append(f"more than {count}: the rest of the files was not looked at")
        return "\n".join(shown)


class FactProblems:
    """Collects problems of fact files."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    @property
    def is_full(self) -> bool:
        """Whether no more are looked for."""
        return len(self.found) > PROBLEMS_MAX

    def add(self, problem: Problem) -> None:
        """Note a problem."""
        self.found.append(problem)

    def raise_errors(self) -> None:
        """Raise FactFileError if there is any."""
        if self.found:
            raise FactFileError(self.found[:PROBLEMS_MAX], more=self.is_full)
