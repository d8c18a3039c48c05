"""Values of terms and truth of constraints, for a batch of bindings at a time."""

from __future__ import annotations

import math
import struct
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from rtbot.datalog.evaluation.checked_integers import INTEGER_FUNCTORS
from rtbot.datalog.evaluation.term_walks import term_type
from rtbot.datalog.functors import FunctorError, compile_pattern, compute_functor
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.datalog.program import Call, Comparison, Term, Value
    from rtbot.tables.string_dictionary import StringDictionary

COMPARISONS = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def encode_float(value: float) -> int:
    """Return the code of a float: its bits, the same for every NaN and for both zeros."""
    if math.isnan(value):
        value = math.nan
    return int(struct.unpack("<q", struct.pack("<d", value + 0.0))[0])


def encode_floats(values: np.ndarray) -> np.ndarray:
    """Return the codes of floats."""
    values = np.where(np.isnan(values), np.nan, values) + 0.0
    return values.view(np.int64)


def order_floats(codes: np.ndarray) -> np.ndarray:
    """Return integers in the order of floats by their codes; NaN is the greatest."""
    return np.where(codes < 0, codes ^ np.int64(2**63 - 1), codes)


class TermValues:
    """Computes terms over bindings, whose columns are the slots: int64[slots, room].

    `failed` are the rows of the last computation that have no value, None if all have one, and
    `reason` says why the first of them has none. `bad_patterns` says of texts that were matched
    against why they are no regular expressions; neither `match` nor `!match` holds with them.
    """

    def __init__(self, texts: StringDictionary) -> None:
        self.texts = texts
        self.failed: np.ndarray | None = None
        self.reason = ""
        self.bad_patterns: dict[str, str] = {}
        self._types: tuple[str, ...] = ()

    def encode(self, constant: Constant) -> int:
        """Return the code of a constant."""
        return self.encode_value(constant.value, constant.type)

    def encode_value(self, value: Value, kind: str) -> int:
        """Return the code of a value of a basic type."""
        if kind == SYMBOL:
            return self.texts.code(str(value))
        if kind == FLOAT:
            return encode_float(float(value))
        number = int(value)
        return number - 2**64 if number >= 2**63 else number

    def decode_value(self, code: int, kind: str) -> Value:
        """Return the value of a code."""
        if kind == SYMBOL:
            text = self.texts.text(code)
            return "" if text is None else text
        if kind == FLOAT:
            return float(struct.unpack("<d", struct.pack("<q", code))[0])
        return code % 2**64 if kind == UNSIGNED else code

    def begin(self, types: tuple[str, ...]) -> None:
        """Forget what has failed; the variables have these types."""
        self.failed, self._types = None, types

    def compute(self, term: Term, columns: np.ndarray, count: int) -> np.ndarray:
        """Return the codes of a term for the first bindings: int64[count]."""
        if isinstance(term, Variable):
            found: np.ndarray = columns[term.index, :count]
            return found
        if isinstance(term, Constant):
            return np.full(count, self.encode(term), np.int64)
        arguments = [self.compute(each, columns, count) for each in term.arguments]
        return self._call(term, arguments)

    def test(self, comparison: Comparison, columns: np.ndarray, count: int) -> np.ndarray:
        """Return which of the first bindings fulfil a constraint: bool[count]."""
        left = self.compute(comparison.left, columns, count)
        right = self.compute(comparison.right, columns, count)
        operator = comparison.operator
        if operator in COMPARISONS:
            if operator not in ("=", "!="):
                left, right = self.order(comparison.type, left, right)
            found: np.ndarray = COMPARISONS[operator](left, right)
        else:
            decide = self._match if operator == "match" else _contains
            codes = self._map_values(decide, (SYMBOL, SYMBOL), NUMBER, left, right)
            chosen: np.ndarray = codes == (0 if comparison.negated else 1)
            return chosen
        return ~found if comparison.negated else found

    def _match(self, pattern: str, text: str) -> int:
        """Return whether a text matches, -1 if the pattern is none."""
        try:
            return int(compile_pattern(pattern).fullmatch(text) is not None)
        except FunctorError as error:
            self.bad_patterns[pattern] = str(error)
            return -1

    def order(self, kind: str, *columns: np.ndarray) -> list[np.ndarray]:
        """Return columns of integers that compare as the values do."""
        if kind == FLOAT:
            return [order_floats(column) for column in columns]
        if kind == UNSIGNED:
            return [column.view(np.uint64) for column in columns]
        if kind == SYMBOL:
            ranks = self.texts.ranks(np.concatenate(columns))
            return np.split(ranks, len(columns))
        return list(columns)

    def _call(self, term: Call, arguments: list[np.ndarray]) -> np.ndarray:
        functor, kind = term.functor, term.type
        if functor in ("min", "max"):
            return reduce(lambda a, b: self._choose(functor, kind, a, b), arguments)
        types = tuple(term_type(each, self._types) for each in term.arguments)
        decide = partial(_compute_values, functor, types[0])
        if functor in BY_VALUE or functor.startswith("to_"):
            return self._map_values(decide, types, kind, *arguments)
        if kind == FLOAT:
            with np.errstate(all="ignore"):
                floats = [argument.view(np.float64) for argument in arguments]
                return encode_floats(FLOAT_FUNCTORS[functor](*floats))
        if kind == UNSIGNED:
            arguments = [argument.view(np.uint64) for argument in arguments]
        with np.errstate(all="ignore"):
            result, bad = INTEGER_FUNCTORS[functor](*arguments)
        if bad is not None and bad.any():
            row = int(bad.argmax())
            self._fail_like(bad, decide, [int(argument[row]) for argument in arguments])
        return result.view(np.int64)

    def _choose(self, functor: str, kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        left, right = self.order(kind, a, b)
        first = left <= right if functor == "min" else left >= right
        return np.where(first, a, b)

    def _fail(self, bad: np.ndarray, reason: str) -> None:
        if self.failed is None:
            self.failed, self.reason = bad.copy(), reason
        else:
            self.failed |= bad

    def _fail_like(self, bad: np.ndarray, decide: Callable[..., Value], values: list[int]) -> None:
        """Note rows that fail, for the reason that plain Python has for one of them."""
        try:
            decide(*values)
        except FunctorError as error:
            self._fail(bad, str(error))
        else:
            raise AssertionError(f"{values} have a value")

    def _map_values(
        self,
        decide: Callable[..., Value],
        types: tuple[str, ...],
        target: str,
        *columns: np.ndarray,
    ) -> np.ndarray:
        """Return what a function gives, which is called once for all rows with equal codes."""
        known: dict[tuple[int, ...], int | None] = {}
        result = np.zeros(len(columns[0]), np.int64)
        for row, codes in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            if codes not in known:
                values = map(self.decode_value, codes, types)
                try:
                    known[codes] = self.encode_value(decide(*values), target)
                except FunctorError as error:
                    known[codes] = None
                    self._fail(np.arange(len(result)) == row, str(error))
            code = known[codes]
            if code is not None:
                result[row] = code
            elif self.failed is not None:
                self.failed[row] = True
        return result


def _contains(part: str, text: str) -> bool:
    return part in text


def _compute_values(functor: str, first: str, *values: Value) -> Value:
    return compute_functor(functor, first, values)


BY_VALUE = ("cat", "strlen", "substr", "^")
FLOAT_FUNCTORS: dict[str, Callable[..., np.ndarray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
}
