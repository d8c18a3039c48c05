"""Values, counts and durations as text."""

from __future__ import annotations

from typing import Any

DURATION_UNITS = {
    "d": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1_000,
    "ns": 1,
}
"""Nanoseconds of the units in which a duration may be written, the longest first."""


def format_plain(value: Any) -> str:
    """Return a value as a graph file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(format_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {format_plain(item)}' for key, item in value.items())}}}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "null" if value is None else str(value)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> format_count(1, "row"), format_count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_duration(value: int, unit: str) -> str:
    """Return a count of a unit in the longest unit that expresses it exactly.

    >>> format_duration(90_000, "ms"), format_duration(604_800, "s")
    ('90s', '7d')
    """
    total = value * DURATION_UNITS[unit]
    exact = (name for name, length in DURATION_UNITS.items() if total % length == 0)
    longest = next(exact) if value else unit
    return f"{total // DURATION_UNITS[longest]}{longest}"
