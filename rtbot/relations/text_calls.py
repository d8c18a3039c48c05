"""Functions of texts, which Python computes once for every combination of values of a batch."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rtbot.numeric.row_functions import clean_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.tables.string_dictionary import StringDictionary

FINE, NULL, FAULT = 0, 1, 2
"""States of a computed cell; FAULT + n is a fault at the place number n of the code."""

TEXT_FUNCTIONS = (
    *("upper", "lower", "trim", "ltrim", "rtrim", "length", "concat", "substring", "replace"),
    *("starts_with", "ends_with", "contains", "like"),
)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NUMBER = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_BOOLEANS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_DIGITS_MAX = 400


class TextCall(NamedTuple):
    """A function of texts: its name, the kind of its result, its arguments, its place in the code.

    An argument is ("column", number, kind) of the columns of its level, or ("constant", value).
    """

    function: str
    kind: str
    arguments: tuple[tuple[Any, ...], ...]
    place: int


def substring(text: str, start: int, length: int | None = None) -> str:
    """Return characters from `start`, counted from 1, or from the end where it is negative.

    A length below zero takes those before the start.
    """
    first = start - 1 if start >= 0 else len(text) + start
    end = len(text) if length is None else first + length
    first, end = min(first, end), max(first, end)
    return text[max(first, 0) : max(end, 0)]


@lru_cache(maxsize=256)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    signs = {"%": ".*", "_": "."}
    return re.compile("".join(signs.get(sign) or re.escape(sign) for sign in pattern), re.DOTALL)


def is_like(text: str, pattern: str) -> bool:
    """Return whether a text has a pattern, in which % is any text and _ any character."""
    if pattern.count("%") > 1:
        return _match_parts(text, pattern)
    return _compile_pattern(pattern).fullmatch(text) is not None


def _match_parts(text: str, pattern: str) -> bool:
    """Match a pattern with several %, in time that does not grow with their number to a power."""
    first, *middle, last = pattern.split("%")
    begin = _compile_pattern(first).match(text)
    if begin is None or len(first) + len(last) > len(text):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = _compile_pattern(part).search(text, at, end)
        if found is None:
            return False
        at = found.end()
    return _compile_pattern(last).fullmatch(text, end) is not None


def read_integer(text: str) -> int:
    """Return the integer that a text is; ValueError if it is none of 64 bits."""
    stripped = text.strip(" ")
    if not _INTEGER.fullmatch(stripped) or len(stripped) > _DIGITS_MAX:
        raise ValueError(text)
    value = int(stripped)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(text)
    return value


def read_number(text: str) -> float:
    """Return the number that a text is; ValueError if it is none."""
    stripped = text.strip(" ")
    if not _NUMBER.fullmatch(stripped):
        raise ValueError(text)
    return float(stripped)


def read_boolean(text: str) -> bool:
    """Return the boolean that a text is; ValueError if it is none."""
    if text.lower() not in _BOOLEANS:
        raise ValueError(text)
    return _BOOLEANS[text.lower()]


def write_text(value: float | bool) -> str:
    """Return a value as text: `true`, 12, 1.5, 1e+20, nan."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "length": len,
    "concat": lambda *texts: "".join(texts),
    "substring": substring,
    "replace": lambda text, old, new: text.replace(old, new) if old else text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda text, part: part in text,
    "like": is_like,
}
_CASTS: dict[str, Callable[..., Any]] = {
    "integer": read_integer,
    "number": read_number,
    "boolean": read_boolean,
    "text": write_text,
}


def compute_calls(
    calls: Sequence[TextCall],
    columns: tuple[np.ndarray, np.ndarray],
    made: tuple[np.ndarray, np.ndarray],
    first: int,
    texts: StringDictionary,
) -> None:
    """Compute calls for every row: column `first` and the next ones of `made`.

    `columns` and `made` are words int64[rows, n] and states int64[rows, n].
    """
    for number, call in enumerate(calls):
        words, states = _compute_call(call, *columns, texts)
        made[0][:, first + number], made[1][:, first + number] = words, states


def _compute_call(
    call: TextCall, words: np.ndarray, states: np.ndarray, texts: StringDictionary
) -> tuple[np.ndarray, np.ndarray]:
    rows = len(words)
    used = [part for part in call.arguments if part[0] == "column"]
    result, state = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for _, column, _ in used:
        state = np.where(state >= FAULT, state, np.maximum(state, states[:, column]))
    fine = np.flatnonzero(state == FINE)
    keys = list(zip(*(words[fine, column].tolist() for _, column, _ in used), strict=True))
    keys = keys or [()] * len(fine)
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    for key in keys:
        if key not in known:
            known[key] = _compute_one(call, key, texts)
    pairs = np.array([known[key] for key in keys], np.int64).reshape(-1, 2)
    result[fine], state[fine] = pairs[:, 0], pairs[:, 1]
    return result, state


def _compute_one(call: TextCall, key: tuple[int, ...], texts: StringDictionary) -> tuple[int, int]:
    """Return the word and the state of a call for the words of its columns."""
    left = iter(key)
    values = [
        part[1] if part[0] == "constant" else _decode(next(left), part[2], texts)
        for part in call.arguments
    ]
    casts = call.function in ("cast", "try_cast")
    function = _CASTS[call.kind] if casts else _FUNCTIONS[call.function]
    try:
        return _encode(function(*values), call.kind, texts), FINE
    except ValueError:
        return 0, NULL if call.function == "try_cast" else FAULT + call.place


def _decode(word: int, kind: str, texts: StringDictionary) -> Any:
    if kind == "text":
        return texts.text(word) or ""
    if kind == "number":
        return float(np.int64(word).view(np.float64))
    return bool(word) if kind == "boolean" else word


def _encode(value: Any, kind: str, texts: StringDictionary) -> int:
    if kind == "text":
        return texts.code(value)
    if kind == "number":
        return int(np.float64(clean_number(value)).view(np.int64))
    return int(value)
