"""Expressions that were made in Python as the text of a graph file, part by part."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.builder.call_sites import add_source_lines
from rtbot.core.errors import graph_error
from rtbot.expression.tree import ATOM, POWERS
from rtbot.graph.document import ScalarNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtbot.builder.stream import Operand
    from rtbot.core.source_span import SourceSpan

    Piece = tuple[str, SourceSpan]
    Reference = Callable[[Operand], str | None]
    """From a part to its name, None if it has none of its own."""

PIECES_MAX = 10_000
_WORDS = {"and", "or", "not", "true", "false"}


@dataclass(slots=True)
class WrittenExpression(ScalarNode):
    """An expression whose parts know where in a Python file they were written."""

    starts: list[int] = field(default_factory=list)
    places: list[SourceSpan] = field(default_factory=list)

    def place(self, offset: int, length: int = 1) -> SourceSpan:  # noqa: ARG002 (not of the text)
        """Return the place of the part that holds the character `offset` of the text."""
        return self.places[max(bisect_right(self.starts, offset) - 1, 0)]


def write_expression(root: Operand, reference: Reference) -> WrittenExpression:
    """Return an expression as a scalar of a graph file."""
    text, starts, places = "", [], []
    for piece, mark in _Renderer(root, reference).part(root)[0]:
        starts.append(len(text))
        places.append(mark)
        text += piece
    return WrittenExpression(text, root.place.mark, starts=starts, places=places)


def format_operand(root: Operand) -> str:
    """Return an expression as text, before its operators have names."""
    return write_expression(
        root, lambda part: part.value.name if part.op == "stream" else None
    ).text


def quote_reference(reference: str) -> str:
    """Return `id` or `id.port` as an expression has it: in backquotes if it is no plain name."""
    name, dot, port = reference.partition(".")
    return f"`{name}`{dot}{port}" if "-" in name or name.lower() in _WORDS else reference


class _Renderer:
    def __init__(self, root: Operand, reference: Reference) -> None:
        self.root, self.reference = root, reference
        self.count = 0

    def part(self, part: Operand) -> tuple[list[Piece], int]:
        """Return the pieces of a part, and the precedence of its outermost operation."""
        self.count += 1
        if self.count > PIECES_MAX:
            message = f"an expression of more than {PIECES_MAX} parts"
            raise add_source_lines(
                graph_error("RT135", self.root.place.mark, message, "give a part a name")
            )
        mark = part.place.mark
        name = self.reference(part) if part is not self.root else None
        if part.op == "stream":
            name = self.reference(part)
        if name is not None:
            return [(quote_reference(name), mark)], ATOM
        if part.op in ("constant", "parameter"):
            return self.leaf(part)
        args = [self.part(arg) for arg in part.args]
        power = POWERS.get(part.op)
        if power is None:
            inner = [piece for own, _ in args for piece in [*own, (", ", mark)]][:-1]
            return [(f"{part.op}(", mark), *inner, (")", mark)], ATOM
        if len(args) == 1:
            sign = "-" if part.op == "neg" else "not "
            return [(sign, mark), *_parenthesise(args[0], power, mark)], power
        right = POWERS["neg"] if part.op == "**" else power + 1
        left = power + 1 if power in (POWERS["<"], POWERS["**"]) else power
        sides = _parenthesise(args[0], left, mark), _parenthesise(args[1], right, mark)
        return [*sides[0], (f" {part.op} ", mark), *sides[1]], power

    def leaf(self, part: Operand) -> tuple[list[Piece], int]:
        value: Any = part.value
        if part.op == "parameter":
            return [(f"${value}", part.place.mark)], ATOM
        text = str(value).lower() if isinstance(value, bool) else repr(value)
        return [(text, part.place.mark)], POWERS["neg"] if text.startswith("-") else ATOM


def _parenthesise(part: tuple[list[Piece], int], power: int, mark: SourceSpan) -> Iterable[Piece]:
    pieces, own = part
    return pieces if own >= power else [("(", mark), *pieces, (")", mark)]
