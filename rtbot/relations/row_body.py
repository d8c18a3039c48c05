"""The body of a loop over rows: what an expression is at one row, as lines of Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.relations.text_calls import FAULT, NULL, TEXT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.expression import Expression
    from rtbot.relations.row_code import LoopWriter

CHECKED = {
    "+": "add_checked",
    "-": "subtract_checked",
    "*": "multiply_checked",
    "//": "quotient_checked",
    "%": "remainder_checked",
    "neg": "negate_checked",
    "abs": "absolute_checked",
}
"""Operations of integers that may have no result."""

NUMBERS = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "({} * {})",
    "neg": "(-{})",
    "abs": "abs({})",
    "/": "divide({}, {})",
    "%": "remainder_number({}, {})",
    "power": "power({}, {})",
    "sqrt": "square_root({})",
    "exp": "exponential({})",
    "ln": "logarithm({})",
    "log10": "logarithm10({})",
    "floor": "floor_({})",
    "ceil": "ceil_({})",
    "round": "round_half_away({})",
    "sign": "sign({})",
    "<": "is_before_number({}, {})",
    "<=": "is_not_after_number({}, {})",
    ">": "is_before_number({1}, {0})",
    ">=": "is_not_after_number({1}, {0})",
    "==": "is_same_number({}, {})",
    "!=": "(not is_same_number({}, {}))",
    "isnan": "({0} != {0})",
}
OTHERS = {
    "not": "(not {})",
    "widen": "float({})",
    "sign": "sign_integer({})",
    **dict.fromkeys(("floor", "ceil", "round"), "{}"),
    **{sign: f"({{}} {sign} {{}})" for sign in ("<", "<=", ">", ">=", "==", "!=")},
}
"""Operations of integers, and of booleans and texts once they are in order as integers."""

ORDERINGS = ("<", "<=", ">", ">=")
COMPARISONS = (*ORDERINGS, "==", "!=")
ZEROS = {"integer": "0", "number": "0.0", "boolean": "False", "text": "0"}


@dataclass(frozen=True)
class Cell:
    """The texts of a value and of its null flag; None where it is never null."""

    value: str
    null: str | None
    kind: str


def is_call(tree: Expression) -> bool:
    """Return whether Python computes an operation for each combination of its arguments."""
    if tree.op in ("cast", "try_cast"):
        return "text" in (tree.type.kind, tree.args[0].type.kind)
    return tree.op in TEXT_FUNCTIONS


def indent_lines(lines: Sequence[str], depth: int) -> list[str]:
    """Return lines at a depth."""
    return ["    " * depth + line for line in lines]


def load_cell(words: str, floats: str, place: int, kind: str) -> str:
    """Return the text of a cell of a row as a value of its kind, plain Python's if interpreted."""
    if kind == "number":
        return f"float({floats}[row, {place}])"
    return f"{words}[row, {place}] != 0" if kind == "boolean" else f"int({words}[row, {place}])"


def join_nulls(*nulls: str | None) -> str | None:
    """Return whether any is null."""
    named = list(dict.fromkeys(null for null in nulls if null is not None))
    if not named:
        return None
    return named[0] if len(named) == 1 else f"({' or '.join(named)})"


def compare_cells(op: str, one: Cell, other: Cell) -> str:
    """Return the text of a comparison of two cells of one kind that are not null."""
    values = [one.value, other.value]
    if one.kind == "number":
        return NUMBERS[op].format(*values)
    if op in ORDERINGS and one.kind == "text":
        values = [f"ranks[{value}]" for value in values]
    if op in ORDERINGS and one.kind == "boolean":
        values = [f"int({value})" for value in values]
    return OTHERS[op].format(*values)


class BodyWriter:
    """Writes the body of a loop: what a tree is at one row."""

    def __init__(self, loop: LoopWriter, fault: tuple[str, str], count: int = 0) -> None:
        self.loop, self.fault = loop, fault
        self.lines: list[str] = []
        self.fields: dict[str, Cell] = {}
        self.count = count

    def add(self, depth: int, *lines: str) -> None:
        """Add lines at a depth."""
        self.lines += indent_lines(lines, depth)

    def make_name(self, letter: str) -> str:
        """Return a new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def add_fault(self, depth: int, place: str) -> None:
        """Leave the row: there is no value."""
        self.add(depth, *(line.format(place) for line in self.fault))

    def write(self, tree: Expression, depth: int) -> Cell:
        """Return the texts of a tree; the lines that compute it are added at this depth."""
        if is_call(tree):
            return self.write_call(tree, depth)
        special = getattr(self, f"write_{tree.op}", None)
        if special is not None:
            found: Cell = special(tree, depth)
            return found
        return self.write_strict(tree, [self.write(a, depth) for a in tree.args], depth)

    def write_field(self, tree: Expression, _depth: int) -> Cell:
        """Load a field, once for the row: at the top of its body."""
        if tree.value not in self.fields:
            place = self.loop.source.place(tree.value)
            kind = tree.type.kind
            value, null = f"f{place}", None
            loads = [f"{value} = {load_cell('words', 'floats', place, kind)}"]
            if self.loop.source.fields[place].type.nullable:
                null = f"g{place}"
                mask = f"words[row, {len(self.loop.source) + place // 63}]"
                loads.append(f"{null} = {mask} & {1 << place % 63} != 0")
            self.lines[:0] = indent_lines(loads, 2)
            self.fields[tree.value] = Cell(value, null, kind)
        return self.fields[tree.value]

    def write_constant(self, tree: Expression, _depth: int) -> Cell:
        """Write a constant; the code of a text is that of the call."""
        kind, value = tree.type.kind, tree.value
        if value is None:
            return Cell(ZEROS[kind], "True", kind)
        if kind == "text":
            return Cell(self.loop.code_of(value), None, kind)
        if kind == "number":
            value = float(value)
            if not math.isfinite(value):
                text = "math.nan" if value != value else "math.inf" if value > 0 else "(-math.inf)"
                return Cell(text, None, kind)
        text = repr(value)
        return Cell(f"({text})" if text.startswith("-") else text, None, kind)

    def write_call(self, tree: Expression, depth: int) -> Cell:
        """Load what Python has computed of texts."""
        column = self.loop.column_of(tree)
        state, value = self.make_name("s"), self.make_name("v")
        self.add(depth, f"{state} = made_states[row, {column}]", f"if {state} >= {FAULT}:")
        self.add_fault(depth + 1, f"{state} - {FAULT}")
        load = load_cell("made", "made_floats", column, tree.type.kind)
        self.add(depth, f"{value} = {load}")
        null = f"({state} == {NULL})" if tree.type.nullable else None
        return Cell(value, null, tree.type.kind)

    # ---- operations of which no part is left out

    def write_strict(self, tree: Expression, args: list[Cell], depth: int) -> Cell:
        """Write an operation that is null if an argument is."""
        kind = args[0].kind
        null = self.name_null(join_nulls(*(a.null for a in args)), depth)
        values = [a.value for a in args]
        if tree.op in CHECKED and tree.type.kind == "integer":
            text = f"{CHECKED[tree.op]}({', '.join(values)})"
            return self.write_checked(tree, text, null, depth)
        if tree.op == "cast":
            return self.write_plain_cast(tree, args[0], depth)
        if len(args) == 2 and tree.op in COMPARISONS:
            text = compare_cells(tree.op, *args)
        else:
            text = (NUMBERS if kind == "number" else OTHERS)[tree.op].format(*values)
        return self.keep(text, null, tree.type.kind, depth)

    def keep(self, text: str, null: str | None, kind: str, depth: int) -> Cell:
        """Give a value a name."""
        name = self.make_name("v")
        self.add(depth, f"{name} = {text}")
        return Cell(name, null, kind)

    def name_null(self, null: str | None, depth: int) -> str | None:
        """Give a flag that is more than a name one."""
        if null is None or null.isidentifier():
            return null
        name = self.make_name("n")
        self.add(depth, f"{name} = {null}")
        return name

    def write_checked(self, tree: Expression, text: str, null: str | None, depth: int) -> Cell:
        """Write an operation whose result may not be there, which is a fault unless it is null."""
        fits, name = self.make_name("k"), self.make_name("v")
        place = str(self.loop.add_place(tree))
        if null is not None:
            self.add(depth, f"{name} = 0", f"if not {null}:")
            depth += 1
        self.add(depth, f"{fits}, {name} = {text}", f"if not {fits}:")
        self.add_fault(depth + 1, place)
        return Cell(name, null, tree.type.kind)

    def write_plain_cast(self, tree: Expression, cell: Cell, depth: int) -> Cell:
        """Write a cast between numbers, integers and booleans."""
        kind = tree.type.kind
        if (cell.kind, kind) == ("number", "integer"):
            return self.write_checked(tree, f"to_integer_checked({cell.value})", cell.null, depth)
        texts = {
            "boolean": f"({cell.value} != 0)",
            "integer": f"int({cell.value})",
            "number": f"float(int({cell.value}))",
        }
        return self.keep(texts[kind], cell.null, kind, depth)

    def write_is_null(self, tree: Expression, depth: int) -> Cell:
        """True where the argument is null."""
        cell = self.write(tree.args[0], depth)
        return Cell(cell.null or "False", None, "boolean")

    def write_is_distinct(self, tree: Expression, depth: int) -> Cell:
        """Unequal, where null is equal to null."""
        one, other = (self.write(a, depth) for a in tree.args)
        unequal = compare_cells("!=", one, other)
        nulls = one.null or "False", other.null or "False"
        text = unequal
        if one.null or other.null:
            text = f"({nulls[0]} != {nulls[1]}) or (not {nulls[0]} and {unequal})"
        return self.keep(text, None, "boolean", depth)

    def write_in(self, tree: Expression, depth: int) -> Cell:
        """True if equal to one; else null if anything is null."""
        one, *others = (self.write(a, depth) for a in tree.args)
        null = self.name_null(join_nulls(one.null, *(a.null for a in others)), depth)
        found = self.make_name("v")
        self.add(depth, f"{found} = False")
        inner = depth
        if one.null is not None:
            self.add(depth, f"if not {one.null}:")
            inner = depth + 1
        for other in others:
            equal = compare_cells("==", one, other)
            equal = equal if other.null is None else f"not {other.null} and {equal}"
            self.add(inner, f"{found} = {found} or ({equal})")
        if null is not None:
            null = self.name_null(f"({null} and not {found})", depth)
        return Cell(found, null, "boolean")

    def write_least(self, tree: Expression, depth: int) -> Cell:
        """The least of those that are not null."""
        return self.write_extreme(tree, "<", depth)

    def write_greatest(self, tree: Expression, depth: int) -> Cell:
        """The greatest of those that are not null."""
        return self.write_extreme(tree, ">", depth)

    def write_extreme(self, tree: Expression, sign: str, depth: int) -> Cell:
        """Write the one that is before all others by a comparison."""
        first, *others = (self.write(a, depth) for a in tree.args)
        value, null = self.make_name("v"), self.make_name("n")
        self.add(depth, f"{value} = {first.value}", f"{null} = {first.null or 'False'}")
        chosen = Cell(value, null, first.kind)
        for other in others:
            absent = other.null or "False"
            better = compare_cells(sign, other, chosen)
            self.add(depth, f"if not {absent} and ({null} or {better}):")
            self.add(depth + 1, f"{value} = {other.value}", f"{null} = False")
        return chosen if tree.type.nullable else Cell(value, None, first.kind)

    # ---- operations that leave parts out

    def write_and(self, tree: Expression, depth: int) -> Cell:
        """False if one is false; else null if one is null."""
        return self.write_logic(tree, depth, decisive=False)

    def write_or(self, tree: Expression, depth: int) -> Cell:
        """True if one is true; else null if one is null."""
        return self.write_logic(tree, depth, decisive=True)

    def write_logic(self, tree: Expression, depth: int, *, decisive: bool) -> Cell:
        """The second argument is computed unless the first decides."""
        opposite = "not " if decisive else ""
        one = self.write(tree.args[0], depth)
        value, null = self.make_name("v"), self.make_name("n")
        self.add(depth, f"{value} = {decisive}", f"{null} = False")
        self.add(depth, f"if {_either(one.null, opposite + one.value)}:")
        other = self.write(tree.args[1], depth + 1)
        self.add(depth + 1, f"if {_either(other.null, opposite + other.value)}:")
        both = join_nulls(one.null, other.null) or "False"
        self.add(depth + 2, f"{null} = {both}", f"{value} = {not decisive}")
        return Cell(value, null if tree.type.nullable else None, "boolean")

    def write_case(self, tree: Expression, depth: int) -> Cell:
        """The value of the first condition that is true."""
        kind = tree.type.kind
        value, null, undecided = self.make_name("v"), self.make_name("n"), self.make_name("u")
        self.add(depth, f"{value} = {ZEROS[kind]}", f"{null} = False", f"{undecided} = True")
        *pairs, last = tree.args
        inner = depth
        for place in range(0, len(pairs), 2):
            if place:
                self.add(depth, f"if {undecided}:")
                inner = depth + 1
            condition = self.write(pairs[place], inner)
            true = condition.value
            if condition.null is not None:
                true = f"not {condition.null} and {true}"
            self.add(inner, f"if {true}:")
            self.assign(value, null, self.write(pairs[place + 1], inner + 1), inner + 1)
            self.add(inner + 1, f"{undecided} = False")
        self.add(depth, f"if {undecided}:")
        self.assign(value, null, self.write(last, depth + 1), depth + 1)
        return Cell(value, null if tree.type.nullable else None, kind)

    def assign(self, value: str, null: str, cell: Cell, depth: int) -> None:
        """Make a cell the result."""
        self.add(depth, f"{value} = {cell.value}", f"{null} = {cell.null or 'False'}")

    def write_coalesce(self, tree: Expression, depth: int) -> Cell:
        """The first that is not null."""
        first, *others = tree.args
        value, null = self.make_name("v"), self.make_name("n")
        self.assign(value, null, self.write(first, depth), depth)
        for other in others:
            self.add(depth, f"if {null}:")
            self.assign(value, null, self.write(other, depth + 1), depth + 1)
        return Cell(value, null if tree.type.nullable else None, tree.type.kind)


def _either(null: str | None, text: str) -> str:
    return text if null is None else f"{null} or {text}"
