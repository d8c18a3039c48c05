"""The formats that read samples of a column of times: candidates by their look, each tried on all.

A text is cut into a time of the day and a date, each of which suggests directives; all else is
literal. So no candidate is certain until it has read every sample.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.time_reading.directives import DirectiveFormat, find_directive_problem
from rtbot.core.time_reading.epochs import COUNT, read_epoch
from rtbot.core.times import detect_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHAPES = 5
"""Shapes of samples that candidates are made for."""

LIKELY = range(315_532_800, 4_102_444_800)
"""Seconds from 1980 to 2099: what is counted since 1970 is rather there."""

EPOCHS = {"unix": "s", "unix_ms": "ms", "unix_us": "us", "unix_ns": "ns"}

CLOCK = re.compile(
    r"(?<![0-9])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:(?P<point>[.,:])(?P<fraction>[0-9]{1,9}))?)?(?![0-9:])"
    r"(?P<half>[ ]*(?:[AaPp]\.?[Mm]\.?)(?![A-Za-z]))?"
    r"(?P<offset>[ ]*(?:[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}|[Zz])(?=\]?$))?"
)
BARE_CLOCK = re.compile(
    r"(?P<gap>[^0-9]+)(?P<hour>[0-9]{1,2})(?:(?P<colon>[^0-9]?)(?P<minute>[0-9]{2})"
    r"(?:(?P<colon2>[^0-9]?)(?P<second>[0-9]{2})(?:(?P<point>[.,])(?P<fraction>[0-9]{1,9}))?)?)?"
)
"""A time of the day behind a date, with other signs than colons or none."""

COMPACT = {10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S", 17: "%Y%m%d%H%M%S%f"}
"""Formats of digits alone, by how many there are."""

WORD, NUMBER, TWO, YEAR = "([A-Za-z]{3,9})", "([0-9]{1,2})", "([0-9]{2})", "([0-9]{4})"
GAP, ANY, NONE = r"([^0-9A-Za-z]+)", r"([^0-9A-Za-z]*)", "()"
DATES: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = (
    ((YEAR + GAP + NUMBER + GAP + NUMBER, ("Ymd", "Ydm")),),
    ((NUMBER + GAP + NUMBER + GAP + YEAR, ("dmY", "mdY")),),
    ((NUMBER + GAP + NUMBER + GAP + TWO, ("dmy", "mdy", "ymd")),),
    ((NUMBER + ANY + WORD + ANY + YEAR, ("dbY", "dBY")),),
    ((TWO + ANY + WORD + ANY + TWO, ("dby", "dBy", "ybd", "yBd")),),
    ((NUMBER + ANY + WORD + ANY + TWO, ("dby", "dBy")),),
    ((WORD + ANY + NUMBER + GAP + YEAR, ("bdY", "BdY")),),
    ((YEAR + ANY + WORD + ANY + NUMBER, ("Ybd", "YBd")),),
    (
        (YEAR + NONE + TWO + NONE + TWO, ("Ymd",)),
        (TWO + NONE + TWO + NONE + YEAR, ("dmY", "mdY")),
    ),
    (
        (YEAR + NONE + TWO, ("Ym",)),
        (TWO + NONE + TWO + NONE + TWO, ("ymd", "dmy", "mdy")),
    ),
    ((YEAR + ANY + "([0-9]{3})", ("Yj",)),),
    ((YEAR + GAP + NUMBER, ("Ym",)),),
    ((NUMBER + GAP + YEAR, ("mY",)),),
    ((WORD + ANY + YEAR, ("bY", "BY")),),
    ((YEAR, ("Y",)),),
)
"""Forms of dates, and their directives in the order of likelihood; the first group that fits."""


def find_formats(samples: Sequence[str]) -> list[str]:
    """Return the values of `time_format` that read all samples, the likeliest first."""
    texts = [text.strip(" \t") for text in samples if text.strip(" \t")]
    if not texts or all(detect_style(text) is not None for text in texts):
        return []
    found = [name for name, unit in EPOCHS.items() if _is_likely_epoch(texts, unit)]
    shapes = {re.sub("[A-Za-z]+", "a", re.sub("[0-9]", "0", text)): text for text in texts}
    candidates = [form for text in [*shapes.values()][:SHAPES] for form in _suggest_formats(text)]
    ranked = []
    for place, form in enumerate(dict.fromkeys(candidates)):
        disorder = _count_disorder(form, texts)
        if disorder is not None:
            ranked.append((disorder, _is_second_choice(form), place, form))
    return [form for *_, form in sorted(ranked)] + found


def _is_likely_epoch(texts: Sequence[str], unit: str) -> bool:
    """Return whether all texts are counts of the unit since 1970 from the years 1980 to 2099."""
    for text in texts:
        try:
            known = COUNT.fullmatch(text) and read_epoch(text, unit, "ns") // 10**9 in LIKELY
        except DataError:
            return False
        if not known:
            return False
    return True


def _count_disorder(form: str, texts: Sequence[str]) -> int | None:
    """Return how often times turn back, with a format that reads all texts; None if it does not.

    Files may be sorted either way.
    """
    parser, counts = DirectiveFormat(form, "ns"), []
    for text in texts:
        try:
            counts.append(parser.read_one(text))
        except DataError as error:
            if error.code != "RT217" or "outside" not in error.message:
                return None
    if not all(map(_is_plausible, map(parser.pattern.fullmatch, texts))):
        return None
    steps = [later - earlier for earlier, later in pairwise(counts)]
    return min(sum(step < 0 for step in steps), sum(step > 0 for step in steps))


def _is_plausible(found: re.Match[str] | None) -> bool:
    """Return whether digits alone have a year that is likely to be one."""
    assert found is not None, "what has been read has matched"
    year = found.groupdict().get("year")
    return not found.string.isdecimal() or year is None or "1900" <= year <= "2100"


def _is_second_choice(form: str) -> bool:
    """Return whether the order of day and month is the rarer one beside what else is written."""
    if "%d" not in form or "%m" not in form or form.startswith(("%Y", "%y")):
        return False
    month_first = form.index("%m") < form.index("%d")
    return month_first != ("%p" in form)


def _suggest_formats(text: str) -> Iterator[str]:
    """Yield formats that the look of a text suggests."""
    for form in _describe(text):
        if find_directive_problem(form) is None:
            yield form


def _describe(text: str) -> Iterator[str]:
    found = CLOCK.search(text)
    if found is not None:
        clock, before, after = _describe_clock(found), text[: found.start()], text[found.end() :]
        for head, date, tail in _describe_dates(before):
            yield _escape(head) + date + _escape(tail) + clock + _escape(after)
        for head, date, tail in _describe_dates(after):
            yield _escape(before) + clock + _escape(head) + date + _escape(tail)
        return
    if text.isdecimal() and len(text) in COMPACT:
        yield COMPACT[len(text)]
    for head, date, tail in _describe_dates(text):
        bare = BARE_CLOCK.fullmatch(tail)
        yield _escape(head) + date + (_escape(tail) if bare is None else _describe_clock(bare))


def _describe_clock(found: re.Match[str]) -> str:
    """Return the directives of a time of the day."""
    parts = {"gap": "", "colon": ":", "colon2": ":"} | found.groupdict()
    half, offset, point = (parts.get(name) or "" for name in ("half", "offset", "point"))
    text = _escape(parts["gap"]) + ("%I" if half else "%H")
    if parts["minute"]:
        text += _escape(parts["colon"]) + "%M"
    if parts["second"]:
        text += _escape(parts["colon2"]) + "%S"
    if parts["fraction"]:
        text += point + "%f"
    for part, directive in ((half, "%p"), (offset, "%z")):
        text += " " * part.startswith(" ") + directive * bool(part)
    return text


def _describe_dates(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what is before a date, its directives, and what is behind it."""
    for group in DATES:
        tried = [(re.search(f"(?<![0-9]){form}(?![0-9])", text), orders) for form, orders in group]
        for found, orders in tried:
            for order in orders if found is not None else ():
                assert found is not None, "there are orders of what is found"
                gaps = [*map(_escape, found.groups()[1::2]), ""]
                date = "".join(f"%{one}{gap}" for one, gap in zip(order, gaps, strict=False))
                yield text[: found.start()], date, text[found.end() :]
        if any(found is not None for found, _ in tried):
            return


def _escape(text: str) -> str:
    return text.replace("%", "%%")
