"""The nodes of a graph file: scalars, lists and mappings that know their places."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import Problem, Problems
from rtbot.core.source_span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Iterator

NULLS = ("", "~", "null", "Null", "NULL")
"""What means nothing where it is not quoted."""


@dataclass(slots=True)
class ScalarNode:
    """A value without children: the text of the file, or a Python value of a mapping."""

    value: Any
    mark: SourceSpan
    quoted: bool = False
    source: str = field(default="", repr=False)
    start: int = 0
    end: int = 0
    walked: list[int] = field(default_factory=list, repr=False, compare=False)

    form = "a single value"

    @property
    def text(self) -> str:
        """The value as a file would have it."""
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        return self.value if isinstance(self.value, str) else str(self.value)

    @property
    def missing(self) -> bool:
        """Whether nothing is after the colon, or what YAML and JSON call null."""
        return self.value is None or (self.value in NULLS and not self.quoted)

    def place(self, offset: int, length: int = 1) -> SourceSpan:
        """Return the place in the file of the character `offset` of the text."""
        if not self.source:
            return replace(self.mark, column=offset + 1, length=length)
        if not self.walked:
            self.walked = [*self._walk(), self.end]
        at = self.walked[min(offset, len(self.walked) - 1)]
        line = self.mark.line + self.source.count("\n", self.start, at)
        column = at - self.source.rfind("\n", 0, at)
        return SourceSpan(self.mark.file, line, column, length)

    def _walk(self) -> Iterator[int]:
        """Yield the offset in the file of every character.

        Characters that are not white space are in the file in the order of the text; an escape that
        hides a character leaves the place before it.
        """
        at = self.start
        if self.source[at : at + 1] in ("|", ">") and not self.quoted:
            at = self.source.find("\n", at)
        elif self.quoted:
            at += 1
        for character in self.value:
            found = -1 if character.isspace() else self.source.find(character, at, self.end)
            yield at if found < 0 else found
            at = at if found < 0 else found + 1


@dataclass(slots=True)
class SequenceNode:
    """A list of nodes; `flow` if it has brackets, `start` and `end` are its place in the text."""

    items: list[DocumentNode]
    mark: SourceSpan
    flow: bool = field(default=False, compare=False)
    start: int = field(default=0, repr=False, compare=False)
    end: int = field(default=0, repr=False, compare=False)

    form = "a list"


@dataclass(slots=True)
class MappingNode:
    """Nodes by key, and the places of the keys; `flow`, `start` and `end` as in `SequenceNode`."""

    items: dict[str, DocumentNode]
    mark: SourceSpan
    keys: dict[str, SourceSpan] = field(default_factory=dict)
    flow: bool = field(default=False, compare=False)
    start: int = field(default=0, repr=False, compare=False)
    end: int = field(default=0, repr=False, compare=False)

    form = "a mapping"


DocumentNode = ScalarNode | SequenceNode | MappingNode


@dataclass
class Document:
    """A graph file that could be read; `problems` are those that do not prevent reading on."""

    root: MappingNode
    file: str
    source: str = ""
    problems: Problems = field(default_factory=Problems)

    def with_source(self, problem: Problem) -> Problem:
        """Return the problem with the line of the file that it is about."""
        line = problem.mark.line
        if problem.source or problem.mark.file != self.file or not 0 < line <= len(self.lines):
            return problem
        return replace(problem, source=self.lines[line - 1])

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.source.split("\n")


def add_entry(parent: MappingNode, key: ScalarNode, node: DocumentNode, problems: Problems) -> None:
    """Add an entry to a mapping; a key that is there already (after NFC) is a problem."""
    name = unicodedata.normalize("NFC", key.text)
    if name in parent.items:
        first = parent.keys[name]
        message = f"the key {name!r} is given twice, first on line {first.line}"
        problems.add("RT106", key.mark, message, "keep one of the two")
        return
    parent.items[name] = node
    parent.keys[name] = key.mark
