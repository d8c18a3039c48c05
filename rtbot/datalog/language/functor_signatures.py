"""Functors and aggregates: how many arguments they take, and of which types."""

from __future__ import annotations

from dataclasses import dataclass

from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED

NUMERIC = frozenset({NUMBER, UNSIGNED, FLOAT})
INTEGRAL = frozenset({NUMBER, UNSIGNED})
EVERY = NUMERIC | {SYMBOL}
SAME = "same"
"""In place of a type: that of the call."""


@dataclass(frozen=True, slots=True)
class FunctorSignature:
    """Types of arguments, the last for all that follow; `types` are those that SAME may be."""

    name: str
    least: int
    most: int
    arguments: tuple[frozenset[str] | str, ...]
    result: frozenset[str] | str
    types: frozenset[str] = EVERY


def _convert(name: str, given: frozenset[str], target: str) -> FunctorSignature:
    return FunctorSignature(name, 1, 1, (given,), frozenset({target}))


_ANY_NUMBER = 1_000
_TEXT, _WHOLE = frozenset({SYMBOL}), frozenset({NUMBER})
_BOTH = ["-", "*", "/", "^"]
_BITS = ["%", "band", "bor", "bxor", "bshl", "bshr", "bshru", "land", "lor", "lxor"]
SIGNATURES = {
    "+": FunctorSignature("+", 2, 2, (SAME,), SAME),
    **{name: FunctorSignature(name, 2, 2, (SAME,), SAME, NUMERIC) for name in _BOTH},
    **{name: FunctorSignature(name, 2, 2, (SAME,), SAME, INTEGRAL) for name in _BITS},
    **{name: FunctorSignature(name, 1, 1, (SAME,), SAME, INTEGRAL) for name in ("bnot", "lnot")},
    "neg": FunctorSignature("neg", 1, 1, (SAME,), SAME, frozenset({NUMBER, FLOAT})),
    "min": FunctorSignature("min", 2, _ANY_NUMBER, (SAME,), SAME),
    "max": FunctorSignature("max", 2, _ANY_NUMBER, (SAME,), SAME),
    "range": FunctorSignature("range", 2, 3, (SAME,), SAME, NUMERIC),
    "cat": FunctorSignature("cat", 1, _ANY_NUMBER, (_TEXT,), _TEXT),
    "strlen": FunctorSignature("strlen", 1, 1, (_TEXT,), _WHOLE),
    "substr": FunctorSignature("substr", 3, 3, (_TEXT, _WHOLE), _TEXT),
    "to_string": _convert("to_string", EVERY, SYMBOL),
    "to_number": _convert("to_number", EVERY, NUMBER),
    "to_unsigned": _convert("to_unsigned", EVERY, UNSIGNED),
    "to_float": _convert("to_float", EVERY, FLOAT),
    "itof": _convert("to_float", frozenset({NUMBER}), FLOAT),
    "itou": _convert("to_unsigned", frozenset({NUMBER}), UNSIGNED),
    "utof": _convert("to_float", frozenset({UNSIGNED}), FLOAT),
    "utoi": _convert("to_number", frozenset({UNSIGNED}), NUMBER),
    "ftoi": _convert("to_number", frozenset({FLOAT}), NUMBER),
    "ftou": _convert("to_unsigned", frozenset({FLOAT}), UNSIGNED),
}
FUNCTORS = {name for name in SIGNATURES if name[0].isalpha() and name != "neg"}
"""Names that are no relations."""

SHORT_CONVERSIONS = {"itof", "itou", "utof", "utoi", "ftoi", "ftou"}

CONSTRAINTS = ("match", "contains")
AGGREGATES = ("count", "sum", "min", "max", "mean")
REFUSED_FUNCTORS = {
    "ord": "the number of a symbol depends on the order in which symbols came",
    "autoinc": "its numbers depend on the order of evaluation",
}
"""Functors of Soufflé that this version does not have, and why."""
