"""From expressions over rows to the text of loops: numba compiles it, or Python runs it, same bits.

A loop goes over all rows; functions of texts are computed by Python before it, level by level, as
their arguments may be results of others. What is computed only for some rows (the branches of
`case`, the right side of `and`) is in an `if`, so that its faults count only there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.numeric import expression_functions, ieee, row_functions
from rtbot.relations.row_body import BodyWriter, Cell, indent_lines, is_call
from rtbot.relations.text_calls import FAULT, NULL, TextCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.expression import Expression
    from rtbot.operator.schema import Schema

PARAMETERS = (
    "words, floats, made, made_floats, made_states, texts, ranks, out, out_floats, out_states"
)
"""Arguments of every loop.

Rows that come in, and results of functions of texts, as words and as float64; the states of these;
the codes of constant texts; the ranks of texts by code; what is written, as words and as float64,
and states. `out_states[0, 0]` is the number of the place of a fault.
"""

STEPS: tuple[Callable[..., Any], ...] = (
    *(f for f in vars(row_functions).values() if getattr(f, "is_step", False)),
    *(f for f in vars(ieee).values() if getattr(f, "is_step", False)),
    expression_functions.negate_checked,
    expression_functions.absolute_checked,
    expression_functions.sign_integer,
)


@dataclass(frozen=True)
class RowCode:
    """The functions of a Where or Select as text, and what their operator needs beside it.

    `functions` has `rows`, the loop, and `level_N`, which computes arguments of functions of texts.
    `setting` is plain data: the calls of every level, constant texts, what is compared by order,
    and the places of faults.
    """

    text: str
    functions: Mapping[str, str]
    setting: Mapping[str, Any]


def list_row_steps(text: str) -> list[Callable[..., Any]]:
    """Return the steps that a text calls."""
    return [step for step in dict.fromkeys(STEPS) if f"{step.__name__}(" in text]


def write_row_functions(
    name: str, trees: Sequence[Expression], source: Schema, target: Schema | None
) -> RowCode:
    """Return the loops of a Select whose fields are `trees`, or of a Where (no `target`).

    `out` is the new rows, or a column of 1 where the condition is true. A loop returns the first
    row at which an expression has no value, or -1. It needs the steps of `list_row_steps(text)`.
    """
    return LoopWriter(name, source).write(list(trees), target)


def write_match_functions(name: str, condition: Expression, source: Schema) -> RowCode:
    """Return the loops of a join's condition over pairs of rows, `source` being their fields.

    `out` is 1 for a pair that matches, 0 for one that does not, and 2 + the number of a place for
    one without a value there; all of them are evaluated.
    """
    return MatchWriter(name, source).write([condition], None)


@dataclass
class _Level:
    """Calls whose arguments need results of lower levels only, and the columns of arguments."""

    calls: list[TextCall] = field(default_factory=list)
    columns: list[Expression] = field(default_factory=list)


class LoopWriter:
    """Writes the functions of one operator."""

    fault: ClassVar[tuple[str, str]] = ("out_states[0, 0] = {}", "return row")
    """What the loop of the operator does with a row that has no value at a place."""

    def __init__(self, name: str, source: Schema) -> None:
        self.name, self.source = name, source
        self.levels: list[_Level] = []
        self.places: list[str] = []
        self.texts: list[str] = []
        self.compared: dict[int, None] = {}
        self.compares = False
        self.calls: dict[int, tuple[int, int]] = {}
        """Level and number within it, by the identity of a tree."""

    def write(self, trees: list[Expression], target: Schema | None) -> RowCode:
        """Return the functions of an operator."""
        self.kept = trees
        for tree in trees:
            self.plan_calls(tree)
        functions, parts = {}, []
        for number, level in enumerate(self.levels):
            functions[f"level_{number}"] = f"{self.name}_level_{number}"
            parts.append(self.write_level(number, level))
        functions["rows"] = self.name
        parts.append(self.write_rows(trees, target))
        setting = {
            "levels": tuple((len(x.columns), tuple(map(tuple, x.calls))) for x in self.levels),
            "texts": tuple(self.texts),
            "compares": self.compares,
            "compared": tuple(self.compared),
            "places": tuple(self.places),
            "keeps": target is None,
        }
        return RowCode("\n\n".join(parts), functions, setting)

    # ---- functions of texts

    def plan_calls(self, tree: Expression) -> int:
        """Give every call within a tree its level; return how many levels the tree needs."""
        needed = max((self.plan_calls(a) for a in tree.args), default=0)
        if tree.op in ("<", "<=", ">", ">=", "least", "greatest"):
            self.note_compared(tree)
        if not is_call(tree):
            return needed
        while len(self.levels) <= needed:
            self.levels.append(_Level())
        level = self.levels[needed]
        arguments: list[tuple[Any, ...]] = []
        for argument in tree.args:
            if argument.op == "constant" and argument.value is not None:
                arguments.append(("constant", argument.value))
            else:
                arguments.append(("column", len(level.columns), argument.type.kind))
                level.columns.append(argument)
        self.calls[id(tree)] = needed, len(level.calls)
        place = self.add_place(tree)
        level.calls.append(TextCall(tree.op, tree.type.kind, tuple(arguments), place))
        return needed + 1

    def note_compared(self, tree: Expression) -> None:
        """Note the fields of texts below a comparison by order: their ranks are needed."""
        if not any(a.type.kind == "text" for a in tree.args):
            return
        self.compares = True
        todo = list(tree.args)
        while todo:
            one = todo.pop()
            todo += one.args
            if one.op == "field" and one.type.kind == "text":
                self.compared[self.source.place(one.value)] = None

    def column_of(self, tree: Expression) -> int:
        """Return the column of `made` with the results of a call."""
        level, number = self.calls[id(tree)]
        return sum(len(one.calls) for one in self.levels[:level]) + number

    def add_place(self, tree: Expression) -> int:
        """Return the number of a place where an expression may have no value."""
        self.places.append(describe_fault(tree))
        return len(self.places) - 1

    def code_of(self, text: str) -> str:
        """Return the text for the code of a constant."""
        if text not in self.texts:
            self.texts.append(text)
        return f"texts[{self.texts.index(text)}]"

    # ---- loops

    def write_level(self, number: int, level: _Level) -> str:
        """Return the function that computes the arguments of the calls of a level."""
        lines, count = [f"def {self.name}_level_{number}({PARAMETERS}):"], 0
        for column, tree in enumerate(level.columns):
            fault = (f"out_states[row, {column}] = {FAULT} + {{}}", "continue")
            writer = BodyWriter(self, fault, count)
            cell = writer.write(tree, 2)
            count = writer.count
            lines += ["    for row in range(len(words)):", *writer.lines]
            lines += write_cell(f"row, {column}", cell, 2)
            lines += indent_lines([f"out_states[row, {column}] = 0"], 2)
            if cell.null is not None:
                lines += indent_lines(
                    [f"if {cell.null}:", f"    out_states[row, {column}] = {NULL}"], 2
                )
        return "\n".join([*lines, "    return -1", ""])

    def write_rows(self, trees: list[Expression], target: Schema | None) -> str:
        """Return the loop of the operator."""
        writer = BodyWriter(self, self.fault)
        cells = [writer.write(tree, 2) for tree in trees]
        lines = [f"def {self.name}({PARAMETERS}):", "    for row in range(len(words)):"]
        lines += writer.lines
        if target is None:
            (cell,) = cells
            kept = cell.value if cell.null is None else f"{cell.value} and not {cell.null}"
            lines += indent_lines(["out[row, 0] = 0", f"if {kept}:", "    out[row, 0] = 1"], 2)
        else:
            for place, cell in enumerate(cells):
                lines += write_cell(f"row, {place}", cell, 2)
            lines += _write_masks(cells, target)
        return "\n".join([*lines, "    return -1", ""])


class MatchWriter(LoopWriter):
    """Writes the functions of the condition of a join, which do not stop at a fault."""

    fault = ("out[row, 0] = 2 + {}", "continue")


def describe_fault(tree: Expression) -> str:
    """Return why an operation may have no value."""
    what = {"neg": "-", "abs": "abs"}.get(tree.op, tree.op)
    if tree.op == "cast":
        kinds = tree.args[0].type.kind, tree.type.kind
        article = "an" if kinds[1] == "integer" else "a"
        if kinds[0] == "text":
            return f"a text that is not {article} {kinds[1]}"
        return "a number that is no integer of 64 bits"
    if tree.op in ("//", "%"):
        return f"`{what}` by zero, or a result beyond 64 bits"
    return f"`{what}` gives an integer beyond 64 bits"


def write_cell(at: str, cell: Cell, depth: int) -> list[str]:
    """Return the lines that write a value as a word; 0 for null."""
    out = {
        "number": f"out_floats[{at}] = clean_number({cell.value})",
        "boolean": f"out[{at}] = 1 if {cell.value} else 0",
    }.get(cell.kind, f"out[{at}] = {cell.value}")
    if cell.null is None:
        return indent_lines([out], depth)
    return indent_lines([f"if {cell.null}:", f"    out[{at}] = 0", "else:", f"    {out}"], depth)


def _write_masks(cells: Sequence[Cell], target: Schema) -> list[str]:
    """Return the lines that write the masks of nulls."""
    if not target.nullable:
        return []
    lines = [f"out[row, {word}] = 0" for word in range(len(target), target.width)]
    for place, cell in enumerate(cells):
        if cell.null is not None:
            mask = f"out[row, {len(target) + place // 63}]"
            lines += [f"if {cell.null}:", f"    {mask} |= {1 << place % 63}"]
    return indent_lines(lines, 2)
