"""Texts as times: which formats read them, and what they are in microseconds since 1970."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.core import times
from rtbot.core.errors import DataError
from rtbot.core.time_formats import detect_time_format, make_time_parser
from rtbot.graph.model import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.core.time_formats import TimeParser

UNITS = {"s": 10**6, "ms": 10**3, "us": 1}
EPOCH_DIGITS = {"s": range(9, 11), "ms": range(12, 14), "us": range(15, 17), "ns": range(18, 20)}
"""How many digits counts since 1970 have in each unit, from 1973 to 2286."""

EPOCH = re.compile(r"([0-9]+)(\.[0-9]+)?")
COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Dates that are written as one integer."""

UNUSUAL = re.compile(r"%Y[^%]?%d")
"""A day behind a year with four digits, which nobody writes if a month will do."""

SAMPLES = 2000
RETRIES = 20
NANOSECONDS = re.compile(r"[.,][0-9]{7,}")


def list_formats(texts: Sequence[str]) -> list[str | None]:
    """Return the formats that read all texts, the likeliest first; None is ISO 8601."""
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    distinct = distinct[:: len(distinct) // SAMPLES + 1]
    if not distinct:
        return []
    styles = [times.detect_style(text) for text in distinct]
    if all(style is not None for style in styles):
        return [None] if len({bool(style.offset) for style in styles if style}) == 1 else []
    forms = detect_time_format(distinct)
    return [*([form for form in forms if not UNUSUAL.match(form)] or forms)]


def find_epoch_unit(texts: Sequence[str]) -> str | None:
    """Return the unit in which numbers count since 1970, by how many digits they have."""
    matches = [EPOCH.fullmatch(text) for text in texts]
    lengths = {len(found[1].lstrip("0")) if found else 0 for found in matches}
    for unit, digits in EPOCH_DIGITS.items():
        if lengths and lengths <= set(digits):
            return unit
    return None


def find_compact_format(texts: Sequence[str]) -> str | None:
    """Return the format of dates that are written as integers, such as 20240131."""
    lengths = {len(text) for text in texts}
    form = COMPACT.get(max(lengths, default=0)) if len(lengths) == 1 else None
    if form is None or not all(re.fullmatch(r"(?:19|20)[0-9]+", text) for text in texts):
        return None
    return form if all(time is not None for time in parse_texts(texts[:SAMPLES], form)) else None


def choose_unit(texts: Iterable[str]) -> str:
    """Return "ns" if any text has more than six digits of a second, else "us"."""
    return "ns" if NANOSECONDS.search("\n".join(texts)) else times.DEFAULT_UNIT


def parse_texts(texts: Sequence[str], form: str | None) -> list[int | None]:
    """Read texts as microseconds since 1970, as UTC where there is no offset; None where they fail.

    Digits beyond a microsecond are left out.
    """
    if form is not None and form.startswith("unix"):
        return [_parse_epoch(text, form) for text in texts]
    cut = [text.strip() for text in texts]
    if choose_unit(cut) == "ns":
        cut = [re.sub(r"([.,][0-9]{6})[0-9]+", r"\1", text) for text in cut]
    distinct = list(dict.fromkeys(cut))
    read = dict(zip(distinct, _parse_distinct(distinct, form), strict=True))
    return [read[text] for text in cut]


def _parse_epoch(text: str, form: str) -> int | None:
    found = EPOCH.fullmatch(text.strip().lstrip("-"))
    if found is None:
        return None
    unit = form.removeprefix("unix").removeprefix("_") or "s"
    digits = 6 - times.UNITS[unit]
    whole, fraction = found[1], (found[2] or ".")[1:]
    count = int(whole + fraction[:digits].ljust(digits, "0")) if digits >= 0 else int(whole) // 1000
    return -count if text.strip().startswith("-") else count


def _parse_distinct(texts: list[str], form: str | None) -> list[int | None]:
    import pyarrow as pa

    parser = make_time_parser(ReadOptions(time_format=form), "us")
    found: list[int | None] = [None] * len(texts)
    places, tries = list(range(len(texts))), 0
    while places:
        try:
            counts = parser.parse(pa.array([texts[place] for place in places], pa.string()))
        except DataError as error:
            tries += 1
            if error.row is None or tries > RETRIES:
                break
            del places[error.row]
            continue
        for place, count in zip(places, counts.tolist(), strict=True):
            found[place] = count
        break
    if tries > RETRIES:
        return [_parse_one(text, parser) for text in texts]
    return found


def _parse_one(text: str, parser: TimeParser) -> int | None:
    import pyarrow as pa

    try:
        return int(parser.parse(pa.array([text], pa.string()))[0])
    except DataError:
        return None
