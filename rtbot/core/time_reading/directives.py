"""Formats of directives such as `%d/%m/%Y %H:%M`: what is wrong with one, and its parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.core.times import CYCLE_YEARS, TIME_PATTERN, TimeStyle, compose_time, extend_offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np


def _pair(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SHORT = 3
"""Letters of the short name of a month."""

CENTURY = 69
"""The first year of two digits that is of the 20th century, as in POSIX."""

END = "end"
"""Stands for the directive where the format ends with a percent sign."""

LENGTH_MAX = 200
EXAMPLE = _pair(
    "Y=2024 y=24 m=01 d=31 b=Jan B=January j=031 H=13 I=01 M=45 S=06 f=123 p=PM z=+01:00"
)
NAMES = _pair(
    "Y=year y=year2 m=month d=day j=yday b=short_month B=long_month H=hour I=hour12 p=half "
    "M=minute S=second f=fraction z=offset"
)
"""Directives and the fields that they read."""

WIDTHS = {"Y": (4, 4), "y": (2, 2), "j": (1, 3), "f": (1, 9)} | dict.fromkeys("mdHIMS", (1, 2))
"""The fewest and the most digits of a directive; what is beside a digit has the most of them."""

TEXTS = {
    "b": f"(?i:{'|'.join(name[:SHORT] for name in MONTHS)})",
    "B": f"(?i:{'|'.join(MONTHS)})",
    "p": r"(?i:[ap]m|[ap]\.m\.)",
    "z": r"(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)",
}
INSTEAD = {
    "s": "for seconds since 1970 write unix",
    "T": "write %H:%M:%S",
    "R": "write %H:%M",
    "F": "write %Y-%m-%d",
    "D": "write %m/%d/%y",
    "e": "write %d, which reads one digit too",
    "k": "write %H, which reads one digit too",
    "l": "write %I, which reads one digit too",
    "h": "write %b",
    "N": "write %f",
    "L": "write %f",
    "P": "write %p",
    "Z": "name the zone in io.timezone, and write its letters as they are",
    "-": "leave the - out: %d, %m, %H, %I, %M and %S read one digit too",
    "#": "leave the # out: %d, %m, %H, %I, %M and %S read one digit too",
}
"""Directives of other tools, and what to write."""

PLAIN = _pair(
    "yyyy=%Y YYYY=%Y yy=%y YY=%y MMMM=%B MMM=%b MM=%m M=%m dd=%d DD=%d d=%d D=%d HH=%H H=%H hh=%I "
    "h=%I mm=%M m=%M ss=%S s=%S SSSSSS=%f SSS=%f fff=%f tt=%p a=%p A=%p Z=%z"
) | {"X" * 3: "%z"}
"""Words of formats without directives, as in yyyy-MM-dd, and the directives they mean."""

RULES = (
    ("jymbBdHIMSfpz", "Yy", "the format has no year", "add %Y"),
    ("d", "mbB", "%d needs the month", "add %m"),
    ("HI", "dj", "the hour needs a day", "add %d"),
    ("I", "p", "%I counts to 12", "add %p (AM or PM), or write %H"),
    ("p", "I", "%p goes with %I, the hour from 1 to 12", "write %I in place of %H"),
    ("M", "HI", "%M needs the hour", "add %H; the month is %m"),
    ("S", "M", "%S needs the minute", "add %M"),
    ("f", "S", "%f needs the second", "add %S"),
    ("z", "HI", "%z needs the hour", "add %H"),
)
"""What is in a format, what has to be there too, and what is wrong otherwise."""

RIVALS = ("Yy", "mbB", "HI", "jm", "jb", "jB", "jd")
"""Directives of which a format has one at most."""


@dataclass(frozen=True, slots=True)
class FormatProblem:
    """What is wrong with an option, and what to try."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A directive, or literal text if `directive` is empty; a run of blanks is one blank."""

    text: str
    directive: str = ""

    @property
    def starts_with_digit(self) -> bool:
        """Whether what it reads starts with a digit."""
        return self.directive in WIDTHS if self.directive else self.text[0].isdecimal()

    @property
    def ends_with_digit(self) -> bool:
        """Whether what it reads may end with a digit."""
        if self.directive:
            return self.directive in WIDTHS or self.directive == "z"
        return self.text[-1].isdecimal()


def find_directive_problem(text: str) -> FormatProblem | None:
    """Return what is wrong with a format of directives, None if nothing is."""
    if len(text) > LENGTH_MAX:
        return FormatProblem(f"a format of more than {LENGTH_MAX} characters")
    if "%" not in text:
        return FormatProblem("a format without directives, which begin with %", _translate(text))
    parts = list(_split_parts(text))
    directives = [part.directive for part in parts if part.directive]
    for name in directives:
        if name == END:
            return FormatProblem("a % without a directive", "write %% for a percent sign")
        if name not in NAMES:
            known = " ".join(f"%{one}" for one in NAMES)
            hint = INSTEAD.get(name, f"there are {known} %%")
            return FormatProblem(f"there is no directive %{name}", hint)
        if directives.count(name) > 1:
            return FormatProblem(f"%{name} is there twice")
    return _find_missing(directives) or _find_touching(parts)


def _find_missing(directives: list[str]) -> FormatProblem | None:
    for rivals in RIVALS:
        both = [name for name in directives if name in rivals]
        if len(both) > 1:
            return FormatProblem(f"%{both[0]} and %{both[1]} exclude each other", "leave one out")
    for some, needed, message, hint in RULES:
        if any(one in some for one in directives) and not any(one in needed for one in directives):
            return FormatProblem(message, hint)
    return None if directives else FormatProblem("the format has no year", "add %Y")


def _find_touching(parts: list[Part]) -> FormatProblem | None:
    """Return a problem if it is not clear where the digits of a directive end."""
    for part, following in pairwise(parts):
        if part.directive in ("f", "z") and following.starts_with_digit:
            message = f"it is not clear where %{part.directive} ends"
            return FormatProblem(message, f"put something between it and {following.text}")
    return None


def _translate(text: str) -> str:
    """Return a hint for a format as other tools write it, such as dd/MM/yyyy."""
    words = re.split(r"([A-Za-z]+)", text)
    if not any(word in PLAIN for word in words):
        return "such as %d/%m/%Y %H:%M, or unix for seconds since 1970"
    found = "".join(PLAIN.get(word, word) for word in words)
    if "%I" in found and "%p" not in found:
        found = found.replace("%I", "%H")
    return f"did you mean {found}?" if find_directive_problem(found) is None else ""


def _split_parts(text: str) -> Iterator[Part]:
    """Yield the parts of a format."""
    for found in re.finditer(r"%(.?)|([ \t]+)|[^% \t]+", text.strip(" \t"), re.DOTALL):
        if found[2]:
            yield Part(" ")
        elif found[1] is None or found[1] == "%":
            yield Part("%" if found[1] else found[0])
        else:
            yield Part(found[0], found[1] or END)


def _make_pattern(parts: list[Part]) -> re.Pattern[str]:
    """Return the pattern of a format; its groups are the fields."""
    found = []
    for place, part in enumerate(parts):
        name = part.directive
        if not name:
            found.append("[ \t]+" if part.text == " " else re.escape(part.text))
            continue
        text = TEXTS.get(name, "")
        if name in WIDTHS:
            fewest, most = WIDTHS[name]
            touched = place and parts[place - 1].ends_with_digit
            touched = touched or (place + 1 < len(parts) and parts[place + 1].starts_with_digit)
            fewest = most if touched and name != "f" else fewest
            text = f"[0-9]{{{fewest},{most}}}"
        found.append(f"(?P<{NAMES[name]}>{text})")
    return re.compile(f"[ \t]*{''.join(found)}[ \t]*", re.ASCII)


class DirectiveFormat:
    """The parser of texts of a format, which `find_directive_problem` accepts."""

    def __init__(self, text: str, unit: str) -> None:
        parts = list(_split_parts(text))
        self.text, self.unit = text, unit
        self.pattern = _make_pattern(parts)
        self.zoned = any(part.directive == "z" for part in parts)
        self.example = "".join(EXAMPLE.get(part.directive, part.text) for part in parts)

    def detect_style(self, text: str) -> TimeStyle | None:
        """Return the style of ISO 8601 that shows as much as this text; None if it is no time."""
        found = self.pattern.fullmatch(text)
        if found is None:
            return None
        fields = _read_match(found)
        if fields.get("hour") is None:
            return TimeStyle("", 0)
        parts = 2 if fields.get("second") is None else 3
        digits, offset = len(fields.get("fraction") or ""), fields.get("offset") or ""
        return TimeStyle("T", parts, digits, extend_offset(offset))

    @property
    def default_style(self) -> TimeStyle:
        """The style of a text that is not known."""
        style = self.detect_style(self.example)
        assert style is not None, "an example is a time of its format"
        return replace(style, digits=0, offset="Z" if style.offset else "")

    def read(self, texts: Any) -> np.ndarray:
        """Read an Arrow array of text as int64 counts; raise DataError with `row` at the first."""
        from rtbot.core.time_reading.time_fields import read_fields

        return read_fields(texts, self.pattern, self.unit, self.read_one, zoned=self.zoned)

    def read_one(self, text: str) -> int:
        """Read one text, or raise DataError."""
        found = self.pattern.fullmatch(text)
        if found is None:
            hint = "" if TIME_PATTERN.fullmatch(text) is None else "it is ISO 8601, which is read"
            hint = hint and f"{hint} if io.time_format is left out"
            message = f"not a time of the format {self.text}, such as {self.example}"
            raise DataError(message, code="RT205", hint=hint, value=text)
        return compose_time(_read_match(found), self.unit, text)


def _read_match(found: re.Match[str]) -> dict[str, str | None]:
    """Return the fields of ISO 8601 of a text that matches."""
    fields: dict[str, Any] = found.groupdict()
    if "year2" in fields:
        fields["year"] = f"{'20' if int(fields['year2']) < CENTURY else '19'}{fields['year2']}"
    for name in ("short_month", "long_month"):
        if name in fields:
            shorts = [month[:SHORT] for month in MONTHS]
            fields["month"] = str(shorts.index(fields[name][:SHORT].lower()) + 1)
    if "hour12" in fields:
        fields["hour"] = _read_hour(int(fields["hour12"]), fields["half"])
    if "yday" in fields:
        fields["month"], fields["day"] = _read_day(int(fields["year"]), int(fields["yday"]))
    fields.setdefault("month", "1")
    fields.setdefault("day", "1")
    return fields


def _read_hour(hour: int, half: str) -> str:
    """Return the hour from 0 to 23; one that does not exist is beyond."""
    if not 1 <= hour <= 12:
        return "99"
    return str(hour % 12 + (12 if half[0] in "pP" else 0))


def _read_day(year: int, day: int) -> tuple[str, str]:
    """Return month and day of the day of a year; one that does not exist is the day 0."""
    start = date(year % CYCLE_YEARS + CYCLE_YEARS, 1, 1)
    found = start + timedelta(days=day - 1)
    return (str(found.month), str(found.day)) if found.year == start.year else ("1", "0")
