"""What a cell of text looks like: a number with its signs, a time, a token, or other text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

EMPTY, NUMBER, TIME, CLOCK, BOOLEAN, MEASURE, TEXT = (
    "empty",
    "number",
    "time",
    "clock",
    "boolean",
    "measure",
    "text",
)
"""Kinds of cells; a measure is a number with a unit, a percent sign or a currency."""

POINT, COMMA = ".", ","
BLANKS = " \u00a0\u202f\u2009"

INTEGER = re.compile(r"[+-]?[0-9]+")
SIMPLE = re.compile(r"[+-]?[0-9]+(?:([.,])(?:[0-9]{0,2}|[0-9]{4,}))?")
WORD = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
DECIMAL = re.compile(r"[+-]?(?:[0-9]+([.,])[0-9]*|([.,])[0-9]+)(?:[eE][+-]?[0-9]+)?")
EXPONENT = re.compile(r"[+-]?[0-9]+[eE][+-]?[0-9]+")
UNSURE = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}([.,'\u2019 \u00a0\u202f\u2009])[0-9]{3}((?:\1[0-9]{3})*)([.,][0-9]+)?"
)

MONTHS = (
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    "|mai|okt|dez|ene|abr|ago|set|dic|fév|fev|avr|août|out"
)
DAY = (
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2}))"
)
CLOCK_TEXT = (
    r"[0-9]{1,2}(?:[:.h][0-9]{2}){1,2}(?:[.,][0-9]+)?(?:\s?[ap]\.?m?\.?)?|[0-9]{2}(?:[0-9]{2}){0,2}"
)
ZONE = (
    r"(?:\s?(?:Z|(?:UTC|GMT)?[+-][0-9]{1,2}(?::?[0-9]{2})?|\(?[a-z]{2,5}\)?|\[?[a-z]+/[a-z_]+\]?))?"
)
DAY_BEHIND = rf"(?:[T ,:]+(?:{CLOCK_TEXT}){ZONE}(?:\s*(?:-|to|/|\u2013)\s*[0-9].*)?)?"
TIME_FORM = re.compile(
    rf"(?:{DAY}{DAY_BEHIND}"
    rf"|[0-9]{{8}}[T :](?:{CLOCK_TEXT}){ZONE}"
    rf"|(?:\w{{2,9}}\.?,?[ ]+)?[0-9]{{1,2}}[-/ .]*(?:{MONTHS})\w*[-/ .,:]*[0-9]{{2,4}}.*"
    rf"|(?:\w{{2,9}}\.?,?[ ]+)?(?:{MONTHS})\w*[-/ .,]+[0-9]{{1,2}}[-/ .,:].*[0-9].*"
    rf"|[0-9]{{4}}[-/ ](?:{MONTHS})\w*[-/ ][0-9]{{1,2}}.*)",
    re.IGNORECASE,
)
CLOCK_FORM = re.compile(
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\s*(?:[ap]\.?m?\.?)?Z?", re.IGNORECASE
)
MEASURE_FORM = re.compile(
    r"[^\w\s.,+-]{1,2}\s?[+-]?[0-9][0-9.,]*|[+-]?[0-9][0-9.,]*\s?(?:[^\W\d_]|[%°/²³€$£-]){1,8}"
)

ABSENT = re.compile(
    r"\?|#?n\.?/?a\.?|nan-|null|none|nil|-{1,3}|\u2013|\u2014|mm?|\.{1,3}|\u2026|missing|unknown"
    r"|unavailable|undefined|void|no_?data|n\.?d\.?|\*{1,5}|\\n|#(?:value|ref|div/0)!|bad|error",
    re.IGNORECASE,
)
"""Tokens that mean an absent value."""

BEYOND = re.compile(
    r"low|high|lo|hi|ice|eqp|bkw|dis|mnt|rat|zfl|ssn|trace|t|over|under|off", re.IGNORECASE
)
"""Tokens of sources that mean that something could not be measured, or was out of range."""

LENGTH_MAX = 100
"""Longer cells are texts."""

TRUTH = re.compile(r"true|false|yes|no|on|off", re.IGNORECASE)


class CellForm(NamedTuple):
    """A cell: its kind and, of a number, the signs that it shows.

    `decimal` and `thousands` are "" where there are none. `unsure` is a sign that may be either
    (1.234), in which case both are "".
    """

    kind: str
    decimal: str = ""
    thousands: str = ""
    unsure: str = ""


SIMPLE_FORMS = {sign: CellForm(NUMBER, decimal=sign) for sign in ("", POINT, COMMA)}


@lru_cache(maxsize=1 << 16)
def describe_cell(text: str) -> CellForm:
    """Return what a cell looks like.

    >>> describe_cell("1.234,5")
    CellForm(kind='number', decimal=',', thousands='.', unsure='')
    """
    text = text.strip()
    found = SIMPLE.fullmatch(text)
    if found is not None:
        return SIMPLE_FORMS[found[1] or ""]
    if not text:
        return CellForm(EMPTY)
    if len(text) > LENGTH_MAX:
        return CellForm(TEXT)
    if WORD.fullmatch(text) or EXPONENT.fullmatch(text):
        return CellForm(NUMBER)
    found = DECIMAL.fullmatch(text)
    if found is not None:
        sign = found[1] or found[2]
        if UNSURE.fullmatch(text):
            return CellForm(NUMBER, unsure=sign)
        return CellForm(NUMBER, decimal=sign)
    return _describe_grouped(text) or _describe_other(text)


def is_absent(text: str) -> bool:
    """Return whether a token is known to mean an absent value."""
    return ABSENT.fullmatch(text.strip()) is not None


def is_beyond(text: str) -> bool:
    """Return whether a token is known to mean that there is no measurement, with a reason."""
    return BEYOND.fullmatch(text.strip()) is not None


def _describe_grouped(text: str) -> CellForm | None:
    """Recognise groups of thousands."""
    found = GROUPED.fullmatch(text)
    if found is None:
        return None
    group, more, fraction = found[1], found[2], found[3] or ""
    if group not in (POINT, COMMA):
        return CellForm(NUMBER, decimal=fraction[:1], thousands=group)
    if fraction.startswith(group) or not (more or fraction):
        return None
    return CellForm(NUMBER, decimal=COMMA if group == POINT else POINT, thousands=group)


def _describe_other(text: str) -> CellForm:
    if CLOCK_FORM.fullmatch(text):
        return CellForm(CLOCK)
    if text[0].isalnum() and TIME_FORM.fullmatch(text):
        return CellForm(TIME)
    if TRUTH.fullmatch(text):
        return CellForm(BOOLEAN)
    if MEASURE_FORM.fullmatch(text):
        return CellForm(MEASURE)
    return CellForm(TEXT)


def to_number(text: str, decimal: str = POINT, thousands: str = "") -> float | None:
    """Read a number written with these signs; None if it is none."""
    return read_number(text.strip(), describe_cell(text), decimal, thousands)


def read_number(text: str, form: CellForm, decimal: str, thousands: str) -> float | None:
    """Read a number written with these signs, whose form is known; None if it is none."""
    if form.kind != NUMBER or (form.decimal and form.decimal != decimal):
        return None
    if thousands:
        text = text.replace(thousands, "")
    elif form.thousands or (form.unsure and form.unsure != decimal):
        return None
    try:
        return float(text.replace(decimal, POINT))
    except ValueError:  # other signs of thousands than the others have
        return None
