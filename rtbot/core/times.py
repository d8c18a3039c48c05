"""ISO 8601 text to int64 counts of a unit since 1970 (UTC) and back, without a float in between.

Reading is one cast of pyarrow, which is exact and refuses what is out of range; only where it
refuses are the texts read field by field, to read what it was too strict about or to report what
is wrong. Other forms of times are those of `rtbot.core.time_formats`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from rtbot.core.arrow import to_numpy
from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Decimal digits of a second that each unit can express."""

DEFAULT_UNIT = "us"
"""What times are counted in where `io.unit` is not given."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
DAY_SECONDS = 86400
DATE_WIDTH, SECONDS_WIDTH = len("2004-01-02"), len("2004-01-02T10:00:00")
DAYS_BEFORE_1970 = 719163
CYCLE_YEARS, CYCLE_DAYS = 400, 146097

TIME_PATTERN = re.compile(
    r"(?=[0-9]{4}-|[0-9]{8}[Tt ])"
    r"(?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})"
    r"(?:(?P<separator>[Tt ])(?P<hour>[0-9]{2})(?::?(?P<minute>[0-9]{2})"
    r"(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,30}))?)?)?"
    r"(?: ?(?P<offset>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
"""ISO 8601: the extended and the basic form, the latter only with a time of the day."""


@dataclass(frozen=True, slots=True)
class TimeStyle:
    """How times are written, which changes no instant.

    `separator` is "T", " " or "" (dates alone); `parts` counts hour, minute and second; `digits`
    are those of the fraction; `offset` is "" (naive, so UTC), "Z" or such as "+02:00". `zone` is
    the time zone of texts without an offset, whose offsets are written. `epoch` is the unit that
    is counted since 1970, with decimals where they are needed, "" if times are no such counts.
    """

    separator: str = "T"
    parts: int = 3
    digits: int = 0
    offset: str = ""
    zone: str = ""
    epoch: str = ""

    @property
    def is_naive(self) -> bool:
        """Whether times are written without what makes them instants."""
        return not (self.offset or self.zone or self.epoch)

    @property
    def offset_seconds(self) -> int:
        """How far local time is ahead of UTC."""
        return _parse_offset(self.offset)


BARE = TimeStyle("", 0, 0, "integer")
"""The style of times that are no text but integers in the unit."""


def detect_style(text: str) -> TimeStyle | None:
    """Return how this time is written; None if it is not a time of ISO 8601.

    The style of the basic form is that of the extended form, `+02:00` for `+0200`.

    >>> detect_style("20240131T1200+0200")
    TimeStyle(separator='T', parts=2, digits=0, offset='+02:00', zone='', epoch='')
    """
    found = TIME_PATTERN.fullmatch(text)
    if found is None:
        return None
    parts = sum(found[name] is not None for name in ("hour", "minute", "second"))
    separator, fraction, offset = (
        found[name] or "" for name in ("separator", "fraction", "offset")
    )
    return TimeStyle(separator.upper(), parts, len(fraction), extend_offset(offset))


def extend_offset(text: str) -> str:
    """Return an offset as ISO 8601 has it behind a time with colons: `+02:00` for `+0200`."""
    return re.sub(r"([+-][0-9]{2})([0-9]{2})", r"\1:\2", text).upper()


def parse_times(
    texts: Any, unit: str, style: TimeStyle | None = None
) -> tuple[np.ndarray, TimeStyle]:
    """Read an Arrow array of text as int64 in the unit; also how its times are written.

    `style` is that of the rows before: the first row of all decides how times are written, and
    whether they carry an offset. Raises DataError with `row` (from 0) and `value` on text that is
    no time, nulls, a mix of naive times and offsets, digits finer than the unit, and times that
    int64 cannot hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if texts.null_count:
        row = pc.index(pc.is_null(texts), True).as_py()
        raise DataError("a row without a time", code="RT211", row=row)
    if style is None:
        style = (detect_style(texts[0].as_py()) if len(texts) else None) or TimeStyle()
    wanted = pa.timestamp(unit, tz="UTC" if style.offset else None)
    try:
        pc.cast(texts[:1], wanted)  # a text that is refused costs much more than one that is read
        stamps = pc.cast(texts, wanted)
    except pa.ArrowInvalid:
        return _parse_fields(texts, unit, style), style
    return to_numpy(stamps.cast(pa.int64())), style


def _suggest_time(text: str) -> str:
    """Return what to write for a text that is no time, or ""."""
    hints = {
        r"\d+": "times are all integers, or all ISO 8601 text",
        r"\d+\.\d+([eE][+-]?\d+)?": "for seconds since 1970 set io.time_format: unix",
        r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}.*": "set io.time_format, such as %d/%m/%Y",
        r"\d{4}([/.])\d{1,2}\1\d{1,2}.*": "set io.time_format, such as %Y/%m/%d",
        r".*\d\s*[AaPp]\.?[Mm]\.?": "set io.time_format; %I and %p are for such hours",
        r"\d{4}-.*[A-Za-z]{3,}": "set io.timezone, or write an offset such as +01:00 or Z",
        r"\d{1,2}:\d{2}.*": "give the date too; io.time may name several columns",
    }
    for form, hint in hints.items():
        found = re.fullmatch(form, text)
        if found is not None:
            return hint.replace("/", found[1]) if "%Y" in hint else hint
    return ""


def parse_time(text: str, unit: str, *, offset: bool | None = None) -> int:
    """Read one time. `offset` is whether there must be one; None: either will do.

    >>> parse_time("1970-01-01T00:00:01.5+00:01", "ms")
    -58500
    """
    found = TIME_PATTERN.fullmatch(text)
    if found is None:
        message = "not an ISO 8601 time such as 2024-01-31 or 2024-01-31T12:00:00Z"
        raise DataError(message, code="RT205", hint=_suggest_time(text), value=text)
    if offset is not None and bool(found["offset"]) != offset:
        has = "an" if found["offset"] else "no"
        message = f"times with and without offset mixed: this one has {has} offset"
        raise DataError(message, code="RT218", value=text)
    return compose_time(found.groupdict(), unit, text)


def compose_time(fields: Mapping[str, str | None], unit: str, text: str) -> int:
    """Return the count of a time in the unit from its fields.

    These are year, month, day, and if they are there hour, minute, second, fraction and offset.
    Raises DataError, with the text as its value, where there is no such time.
    """
    digits, fraction = UNITS[unit], fields.get("fraction") or ""
    if fraction[digits:].strip("0"):
        raise make_precision_error(unit, value=text)
    seconds: int = _count_days(fields, text) * DAY_SECONDS + _count_seconds(fields, text)
    count: int = seconds * int(10**digits) + int(fraction[:digits].ljust(digits, "0") or "0")
    if not INT64_MIN <= count <= INT64_MAX:
        raise make_range_error(unit, value=text)
    return count


def make_precision_error(unit: str, **where: Any) -> DataError:
    """Return the error of a time that is no whole number of the unit."""
    message = f"the time has digits finer than the unit {unit}"
    hint = "set a finer io.unit (s, ms, us, ns)"
    return DataError(message, code="RT217", hint=hint, **where)


def make_range_error(unit: str, **where: Any) -> DataError:
    """Return the error of a time that has too many of the unit."""
    message = f"the time is outside what int64 holds in {unit}"
    return DataError(message, code="RT217", hint="set a coarser io.unit", **where)


def format_times(times: np.ndarray, unit: str, style: TimeStyle) -> Any:
    """Write int64 times as an Arrow array of text in the style.

    A time that the style cannot express (half a second where no fraction was read, noon where dates
    alone were) is written with the parts and digits that it needs. Raises DataError for times
    outside the years 0 to 9999.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if style.epoch:
        from rtbot.core.time_reading.epochs import format_epochs

        return format_epochs(times, unit, style)
    if style.zone:
        return _format_zoned(times, unit, style)
    scale, width, step = measure_style(times, unit, style)
    local = times + style.offset_seconds * scale if style.offset_seconds else times
    told = local % step == 0
    text = _format_truncated(local, unit, width, style)
    if bool(np.all(told)):
        return text
    full = _format_truncated(local, unit, SECONDS_WIDTH + 1 + UNITS[unit], style)
    if width < SECONDS_WIDTH:
        seconds = _format_truncated(local, unit, SECONDS_WIDTH, style)
        full = pc.if_else(pa.array(local % scale == 0), seconds, full)
    return pc.if_else(pa.array(told), text, full)


def _format_zoned(times: np.ndarray, unit: str, style: TimeStyle) -> Any:
    """Write times as those of their zone, each with its offset."""
    import numpy as np
    import pyarrow as pa

    parts = list(split_by_offset(times, unit, style))
    if len(parts) == 1:
        return format_times(times, unit, parts[0][0])
    texts = [format_times(times[rows], unit, fixed) for fixed, rows in parts]
    places = np.argsort(np.concatenate([rows for _, rows in parts]) if parts else times)
    return pa.concat_arrays([pa.array([], pa.string()), *texts]).take(pa.array(places))


def split_by_offset(
    times: np.ndarray, unit: str, style: TimeStyle
) -> Iterator[tuple[TimeStyle, np.ndarray]]:
    """Yield styles without a zone, and the places of the times that are written in each."""
    import numpy as np

    from rtbot.core.time_reading.time_zones import format_offset, load_zone

    offsets = load_zone(style.zone).find_offsets(times // 10 ** UNITS[unit])
    for offset in np.unique(offsets).tolist():
        fixed = replace(style, zone="", offset=format_offset(offset))
        yield fixed, np.flatnonzero(offsets == offset)


def measure_style(times: np.ndarray, unit: str, style: TimeStyle) -> tuple[int, int, int]:
    """Return units per second, the characters of a time in the style, and what steps they show.

    Raises DataError for times outside the years 0 to 9999.
    """
    scale = 10 ** UNITS[unit]
    _check_writable(times, scale, style)
    return (scale, *_measure_width(style, unit))


def _format_truncated(local: np.ndarray, unit: str, width: int, style: TimeStyle) -> Any:
    """Write times with so many characters, cutting off what these do not show."""
    import pyarrow as pa
    import pyarrow.compute as pc

    scale = 10 ** UNITS[unit]
    if width == DATE_WIDTH:
        days = (local // (DAY_SECONDS * scale)).astype("int32")
        return pc.cast(pa.array(days).cast(pa.date32()), pa.string())
    if width <= SECONDS_WIDTH:
        local, unit = local // scale, "s"
    text = pc.cast(pa.array(local).cast(pa.timestamp(unit)), pa.string())
    if style.separator != " ":
        text = pc.binary_replace_slice(text, DATE_WIDTH, DATE_WIDTH + 1, "T")
    if width != SECONDS_WIDTH + bool(UNITS[unit]) + UNITS[unit]:
        text = pc.utf8_slice_codeunits(text, 0, width)
    return pc.binary_join_element_wise(text, style.offset, "") if style.offset else text


def convert_datetimes(stamps: np.ndarray, unit: str) -> np.ndarray:
    """Convert datetime64 to int64 counts of the unit.

    Raises DataError with `row` and `value` on NaT, on digits that would be lost, and out of range.
    """
    import numpy as np

    missing = np.isnat(stamps)
    if missing.any():
        row = int(missing.argmax())
        raise DataError("a row without a time", code="RT211", row=row, value="NaT")
    source, multiple = np.datetime_data(stamps.dtype)
    counts = stamps.astype(np.int64)
    if source in ("W", "D", "h", "m"):
        multiple *= {"W": 7 * DAY_SECONDS, "D": DAY_SECONDS, "h": 3600, "m": 60}[source]
        source = "s"
    if source not in UNITS:
        hint = f"cast them to datetime64[{unit}]"
        raise DataError(f"times of numpy's unit {source!r}", code="RT220", hint=hint)
    shift = UNITS[unit] - UNITS[source]
    factor = multiple * 10 ** max(shift, 0)
    too_large = (counts > INT64_MAX // factor) | (counts < -(-INT64_MIN // factor))
    _raise_first_bad(too_large, stamps, f"the time is out of range in {unit}")
    counts = counts * factor if factor != 1 else counts
    if shift < 0:
        divisor = 10**-shift
        lost = counts % divisor != 0
        _raise_first_bad(lost, stamps, f"the time has digits finer than the unit {unit}")
        counts = counts // divisor
    return counts


def _raise_first_bad(bad: np.ndarray, stamps: np.ndarray, message: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise DataError(message, code="RT217", row=row, value=str(stamps[row]))


def _parse_fields(texts: Any, unit: str, style: TimeStyle) -> np.ndarray:
    from rtbot.core.time_reading.time_fields import read_fields

    zoned = bool(style.offset)
    return read_fields(
        texts, TIME_PATTERN, unit, lambda text: parse_time(text, unit, offset=zoned), zoned=zoned
    )


def _count_days(fields: Mapping[str, str | None], text: str) -> int:
    """Return days since 1970; the year 0 is counted in the calendar of 400 years later."""
    year = int(fields["year"] or 0)
    try:
        at = date(
            year % CYCLE_YEARS + CYCLE_YEARS, int(fields["month"] or 0), int(fields["day"] or 0)
        )
    except ValueError:
        message = "there is no such day in the calendar"
        raise DataError(message, code="RT205", value=text) from None
    return at.toordinal() - DAYS_BEFORE_1970 + (year // CYCLE_YEARS - 1) * CYCLE_DAYS


def _count_seconds(fields: Mapping[str, str | None], text: str) -> int:
    """Return seconds since midnight UTC, negative or beyond a day where the offset makes it so."""
    clock = fields.get("hour"), fields.get("minute"), fields.get("second")
    hour, minute, second = [int(part or 0) for part in clock]
    beyond = hour > 23 and (
        hour > 24 or minute or second or (fields.get("fraction") or "").strip("0")
    )
    if beyond or minute > 59 or second > 59:
        leap = " (leap seconds are not supported)" if second == 60 else ""
        raise DataError(f"there is no such time of the day{leap}", code="RT205", value=text)
    seconds, offset = hour * 3600 + minute * 60 + second, fields.get("offset")
    if not offset or offset in "Zz":
        return seconds
    if int(offset[1:3]) > 23 or int(offset[3:].strip(":") or 0) > 59:
        raise DataError("there is no such offset from UTC", code="RT205", value=text)
    return seconds - _parse_offset(offset)


def _parse_offset(offset: str) -> int:
    if offset in ("", "Z"):
        return 0
    minutes = int(offset[1:3]) * 60 + int(offset[3:].strip(":") or 0)
    return minutes * 60 * (-1 if offset[0] == "-" else 1)


def _measure_width(style: TimeStyle, unit: str) -> tuple[int, int]:
    """Return the characters of a full time in the style, and the step of times that it can show."""
    digits = min(style.digits, UNITS[unit])
    if digits:
        return SECONDS_WIDTH + 1 + digits, int(10 ** (UNITS[unit] - digits))
    seconds = (DAY_SECONDS, 3600, 60, 1)[style.parts]
    return (DATE_WIDTH, 13, 16, SECONDS_WIDTH)[style.parts], int(seconds * 10 ** UNITS[unit])


def _check_writable(times: np.ndarray, scale: int, style: TimeStyle) -> None:
    import numpy as np

    first = (-719528 * DAY_SECONDS - style.offset_seconds) * scale
    last = (2932897 * DAY_SECONDS - style.offset_seconds) * scale
    bad = np.zeros(len(times), np.bool_)
    if first > INT64_MIN:
        bad |= times < first
    if last <= INT64_MAX:
        bad |= times >= last
    if style.offset_seconds and last > INT64_MAX:
        span = abs(style.offset_seconds) * scale
        bad |= (times > INT64_MAX - span) | (times < INT64_MIN + span)
    if bad.any():
        row = int(bad.argmax())
        message = "the time is outside the years 0 to 9999 of ISO 8601"
        raise DataError(message, code="RT217", time=int(times[row]))
