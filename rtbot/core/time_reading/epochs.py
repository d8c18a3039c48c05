"""Counts since 1970 as decimal texts to int64 counts of a unit and back, exactly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import from_numpy
from rtbot.core.errors import DataError
from rtbot.core.time_reading.time_fields import view_texts
from rtbot.core.times import (
    INT64_MAX,
    INT64_MIN,
    UNITS,
    detect_style,
    make_precision_error,
    make_range_error,
)

if TYPE_CHECKING:
    from rtbot.core.times import TimeStyle

COUNT = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
PRECISION = 38
"""Digits of Arrow's widest decimal of 128 bits."""

DIGITS_MAX = 400
"""A count of more digits, or a greater exponent, is out of range or finer than all units."""


def read_epochs(texts: Any, epoch: str, unit: str) -> np.ndarray:
    """Read an Arrow array of decimal texts, which count the unit `epoch`, as int64 in the unit.

    Raises DataError with `row` and `value` at the first that is no number, has digits finer than
    the unit, or is out of range.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    shift = UNITS[unit] - UNITS[epoch]
    if not _is_plain(texts):
        return _read_each(texts, epoch, unit)
    try:
        words = _view_words(pc.cast(texts, pa.decimal128(PRECISION, max(shift, 0))))
    except pa.ArrowInvalid:
        return _read_each(texts, epoch, unit)
    counts, above = np.ascontiguousarray(words[:, 0]), words[:, 1]
    good = above == counts >> 63
    if shift < 0:
        divisor = 10**-shift
        good &= counts % divisor == 0
        counts = counts // divisor
    return counts if good.all() else _read_each(texts, epoch, unit)


def _is_plain(texts: Any) -> bool:
    """Return whether Arrow reads what it accepts exactly: short texts without an exponent.

    With more digits than a decimal of 128 bits has it may return another number.
    """
    letters, starts, lengths = view_texts(texts)
    if not len(texts):
        return True
    end = int(starts[-1] + lengths[-1])
    exponents = (letters[int(starts[0]) : end] | np.uint8(0x20)) == ord("e")
    return int(lengths.max()) < PRECISION - 9 and not exponents.any()


def _view_words(decimals: Any) -> np.ndarray:
    """Return decimals of 128 bits as two words each, the lower one first."""
    if not len(decimals):
        return np.zeros((0, 2), np.int64)
    data = np.frombuffer(decimals.buffers()[1], np.dtype("<i8"))
    return data.reshape(-1, 2)[decimals.offset : decimals.offset + len(decimals)]


def _read_each(texts: Any, epoch: str, unit: str) -> np.ndarray:
    counts = np.zeros(len(texts), np.int64)
    for row, text in enumerate(texts.to_pylist()):
        try:
            counts[row] = read_epoch(text, epoch, unit)
        except DataError as error:
            raise error.at(row=row) from None
    return counts


def read_epoch(text: str, epoch: str, unit: str) -> int:
    """Read one count, around which there may be blanks.

    >>> read_epoch("1490195805.433502912", "s", "ns")
    1490195805433502912
    """
    found = COUNT.fullmatch(text.strip(" \t"))
    if found is None or not (found[2] or found[3]):
        hint = "it is ISO 8601: leave io.time_format out" if detect_style(text) else ""
        what = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        message = f"not a number of {what[epoch]} since 1970"
        raise DataError(message, code="RT205", hint=hint, value=text)
    whole, fraction = found[2], (found[3] or "")
    digits = (whole + fraction).lstrip("0")
    trimmed = digits.rstrip("0")
    exponent = found[4] or "0"
    if not trimmed:
        return 0
    if len(digits) > DIGITS_MAX or len(exponent.lstrip("+-").lstrip("0")) > 3:
        raise make_range_error(unit, value=text)
    power = int(exponent) + UNITS[unit] - UNITS[epoch] - len(fraction) + len(digits) - len(trimmed)
    if power < 0:
        raise make_precision_error(unit, value=text)
    if power + len(trimmed) > PRECISION:
        raise make_range_error(unit, value=text)
    count: int = int(trimmed) * int(10**power) * (-1 if found[1] == "-" else 1)
    if not INT64_MIN <= count <= INT64_MAX:
        raise make_range_error(unit, value=text)
    return count


def convert_counts(counts: np.ndarray, epoch: str, unit: str) -> np.ndarray:
    """Convert int64 counts of one unit to another.

    Raises DataError with `row` and `value` where digits would be lost, or out of range.
    """
    shift = UNITS[unit] - UNITS[epoch]
    factor, divisor = 10 ** max(shift, 0), 10 ** max(-shift, 0)
    beyond = (counts > INT64_MAX // factor) | (counts < -(-INT64_MIN // factor))
    for bad, make in ((counts % divisor != 0, make_precision_error), (beyond, make_range_error)):
        if bad.any():
            row = int(bad.argmax())
            raise make(unit, row=row, value=int(counts[row]))
    converted: np.ndarray = counts // divisor * factor
    return converted


def format_epochs(times: np.ndarray, unit: str, style: TimeStyle) -> Any:
    """Write int64 times in the unit as an Arrow array of decimal text that counts `style.epoch`.

    There are as many decimals as in the style, and all of the unit where these are not enough.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    shift = UNITS[unit] - UNITS[style.epoch]
    if shift <= 0:
        text = pc.cast(from_numpy(times), pa.string())
        zeros = pc.if_else(from_numpy(times == 0), "", "0" * -shift)
        return pc.binary_join_element_wise(text, zeros, "")
    sizes = np.where(times < 0, -times.view(np.uint64), times.view(np.uint64))
    scale, shown = np.uint64(10**shift), min(style.digits, shift)
    sign = pc.if_else(from_numpy(times < 0), "-", "")
    whole = pc.cast(from_numpy(sizes // scale), pa.string())
    fraction = pc.utf8_lpad(pc.cast(from_numpy(sizes % scale), pa.string()), shift, "0")
    full = pc.binary_join_element_wise(sign, whole, ".", fraction, "")
    cut = pc.utf8_slice_codeunits(fraction, 0, shown)
    short = pc.binary_join_element_wise(sign, whole, "." if shown else "", cut, "")
    return pc.if_else(from_numpy(sizes % np.uint64(10 ** (shift - shown)) == 0), short, full)
