"""The places of an operator's class and its parts in a Python file."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rtbot.core.source_span import SourceSpan
from rtbot.operator.step_source import shorten_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.core.errors import Problem


class ClassSource:
    """The places of a class or a function, and of what is in it."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        try:
            self.file = shorten_path(inspect.getsourcefile(owner) or "<unknown>")
            lines, self.first = inspect.getsourcelines(owner)
        except (OSError, TypeError):
            self.file, lines, self.first = f"<{owner.__module__}>", [], 0
        self.text = textwrap.dedent("".join(lines))
        self.margin = len(lines[0]) - len(lines[0].lstrip()) if lines else 0

    @cached_property
    def node(self) -> Any:
        """The syntax of the class or function; None if its source cannot be read."""
        return ast.parse(self.text).body[0] if self.text else None

    def mark(self, node: Any, length: int = 0) -> SourceSpan:
        """Return the place of a part of the syntax."""
        if node is None:
            return SourceSpan(self.file)
        end = node.end_col_offset if node.end_lineno == node.lineno else node.col_offset + 1
        width = length or max(end - node.col_offset, 1)
        line = self.first + node.lineno - 1
        return SourceSpan(self.file, line, self.margin + node.col_offset + 1, width)

    def of(self, name: str) -> SourceSpan:
        """Return the place of an attribute of the class; of the class if it is not there."""
        found = self.attribute(name)
        if found is not None:
            return self.mark(found)
        return self.mark(self.node, len(f"class {self.owner.__name__}"))

    def attribute(self, name: str) -> Any:
        """Return the syntax that defines an attribute of the class, None if none does."""
        for node in getattr(self.node, "body", ()):
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
            if named or getattr(node, "name", None) == name:
                return node
        return None

    def inside(self, name: str) -> Callable[[int, int], SourceSpan]:
        """Return a function from (offset, length) in a text attribute to its place in the file."""
        value = getattr(self.attribute(name), "value", None)
        plain = isinstance(value, ast.Constant) and value.lineno == value.end_lineno
        whole, quote = self.of(name), self.mark(value) if plain else None

        def place(offset: int, length: int = 1) -> SourceSpan:
            if quote is None:
                return whole
            return replace(quote, column=quote.column + 1 + offset, length=length)

        return place

    @staticmethod
    def with_source(problem: Problem) -> Problem:
        """Return the problem with the line that it is about."""
        line = linecache.getline(problem.mark.file, problem.mark.line)
        return replace(problem, source=line.rstrip("\n"))
