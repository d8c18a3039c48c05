"""Formats of times, against values that are known before they are written as text."""

import random
from datetime import date, datetime, time
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from rtbot.core.errors import DataError
from rtbot.core.time_formats import (
    EPOCHS,
    detect_time_format,
    find_format_problem,
    make_time_parser,
)
from rtbot.core.times import UNITS, TimeStyle, format_times
from rtbot.graph.model import ReadOptions

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def parser_of(form, unit="us", **options):
    return make_time_parser(ReadOptions(time_format=form, **options), unit)


def shown(form, *texts, unit="us", **options):
    """What texts are read as, written in ISO 8601."""
    parser = parser_of(form, unit, **options)
    style = parser.detect_style(texts[0])
    return format_times(parser.parse(pa.array(texts)), unit, style).to_pylist()


# ---- one format at a time


@pytest.mark.parametrize(
    ("form", "text", "iso"),
    [
        ("%d/%m/%Y %H:%M:%S", "9/1/2007 23:58:00", "2007-01-09T23:58:00"),
        ("%m/%d/%Y %I:%M %p", "07/29/2025 8:00 AM", "2025-07-29T08:00"),
        ("%m/%d/%Y %I:%M %p", "7/9/2025   12:05 am", "2025-07-09T00:05"),
        ("%m/%d/%Y %I:%M %p", "7/9/2025 12:05 P.M.", "2025-07-09T12:05"),
        ("%m/%d/%Y  %I:%M%p", "7/9/2025\t1:05pm", "2025-07-09T13:05"),
        ("%d-%b-%y", "03-FEB-69", "1969-02-03"),
        ("%d-%b-%y", "3-feb-68", "2068-02-03"),
        ("%B %d, %Y", "September 30, 2023", "2023-09-30"),
        ("%B %d, %Y", "MAY 1,  2023", "2023-05-01"),
        ("%d%b%Y", "1Jan2024", "2024-01-01"),
        ("%Y%m%d", "20240229", "2024-02-29"),
        ("%Y%m%d%H%M%S%f", "20240229235959123", "2024-02-29T23:59:59.123"),
        ("%d.%m.%Y %H:%M", "31.12.2023 24:00", "2024-01-01T00:00"),
        ("%Y-%j", "2024-366", "2024-12-31"),
        ("%Y %j", "2023 1", "2023-01-01"),
        ("%y%j %H", "24060 7", "2024-02-29T07:00"),
        ("%Y", "1969", "1969-01-01"),
        ("%b %Y", "Dec 1969", "1969-12-01"),
        ("%Y%%%m", "2024%3", "2024-03-01"),
        ("%Y年%m月%d日", "2024年2月3日", "2024-02-03"),
        ("%H:%M %d.%m.%Y UTC", " 7:05 3.2.2024 UTC ", "2024-02-03T07:05"),
        ("%Y/%m/%d %H:%M:%S %z", "2024/2/3 04:05:06 +0530", "2024-02-03T04:05:06+05:30"),
        ("%Y/%m/%d %H:%M:%S.%f%z", "2024/2/3 04:05:06.5Z", "2024-02-03T04:05:06.5Z"),
        ("%Y/%m/%d %H:%M:%S,%f%z", "2024/2/3 04:05:06,120-05", "2024-02-03T04:05:06.120-05"),
        ("%d/%m/%Y", "1/1/0000", "0000-01-01"),
        ("%d/%m/%Y %H:%M:%S", "31/12/9999 23:59:59", "9999-12-31T23:59:59"),
    ],
)
def test_a_text_is_read_as_its_format_has_it(form, text, iso):
    assert find_format_problem(form) is None
    assert shown(form, text) == [iso]
    assert shown(form, text, text, text) == [iso] * 3


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("%d/%m/%Y", "31/02/2024", "no such day"),
        ("%d/%m/%Y", "1/13/2024", "no such day"),
        ("%d/%m/%Y", "0/1/2024", "no such day"),
        ("%d/%m/%Y", "001/1/2024", "not a time of the format %d/%m/%Y, such as 31/01/2024"),
        ("%d/%m/%Y", "1/1/24", "not a time of the format"),
        ("%d/%m/%Y", "2024-01-31", "ISO 8601"),
        ("%d/%m/%Y", "1/1/2024 10:00", "not a time of the format"),
        ("%d/%m/%Y", "", "not a time of the format"),
        ("%d/%m/%Y", "٣/1/2024", "not a time of the format"),
        ("%d-%b-%Y", "1-\u017fep-2024", "not a time of the format"),
        ("%d-%b-%Y", "1-June-2024", "not a time of the format"),
        ("%d-%B-%Y", "1-Jun-2024", "not a time of the format"),
        ("%Y%m%d", "2024131", "not a time of the format"),
        ("%Y-%j", "2023-366", "no such day"),
        ("%Y-%j", "2024-0", "no such day"),
        ("%Y-%j", "2024-367", "no such day"),
        ("%d/%m/%Y %I:%M %p", "1/1/2024 0:30 AM", "no such time"),
        ("%d/%m/%Y %I:%M %p", "1/1/2024 13:30 PM", "no such time"),
        ("%d/%m/%Y %H:%M", "1/1/2024 24:01", "no such time"),
        ("%d/%m/%Y %H:%M:%S", "1/1/2024 1:00:60", "leap seconds"),
        ("%d/%m/%Y %H:%M%z", "1/1/2024 1:00+24:00", "no such offset"),
        ("%d/%m/%Y %H:%M:%S.%f", "1/1/2024 1:00:00.0000001", "finer than the unit us"),
        ("unix", "1e", "not a number of seconds since 1970"),
        ("unix", ".", "not a number"),
        ("unix", "", "not a number"),
        ("unix", "0x10", "not a number"),
        ("unix", "nan", "not a number"),
        ("unix", "1_000", "not a number"),
        ("unix_ms", "2024-01-31", "ISO 8601: leave io.time_format out"),
        ("unix", "1.0000001", "finer than the unit us"),
        ("unix_ns", "1001", "finer than the unit us"),
        ("unix", "9223372036854.775808", "int64"),
        ("unix", "-9223372036854.775809", "int64"),
        ("unix", "1e999999999999", "int64"),
        pytest.param("unix", "9" * 5000, "int64", id="unix-long"),
        pytest.param("unix", "1" + "0" * 38, "int64", id="unix-wraps"),
    ],
)
def test_what_is_no_such_time_is_refused_with_its_row(form, text, message):
    good = parser_of(form)._format
    first = "1490195805" if good is None else good.example
    parser = parser_of(form)
    texts = ["1490195805000000" if form == "unix_ns" else first, text]
    with pytest.raises(DataError) as caught:
        parser.parse(pa.array(texts))
    assert (caught.value.row, caught.value.value) == (1, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("form", "message", "hint"),
    [
        ("", "without directives", "such as %d/%m/%Y"),
        ("dd/MM/yyyy HH:mm", "without directives", "did you mean %d/%m/%Y %H:%M?"),
        ("yyyy-MM-dd hh:mm a", "without directives", "did you mean %Y-%m-%d %I:%M %p?"),
        ("Unix", "no time_format 'Unix'", "did you mean 'unix'?"),
        ("unix_s", "no time_format", "did you mean 'unix"),
        ("iso8601", "no time_format", "without time_format"),
        ("%d/%m", "no year", "add %Y"),
        ("%H:%M", "no year", "add %Y"),
        ("UTC %%", "no year", "add %Y"),
        ("%d %Y", "needs the month", "add %m"),
        ("%Y-%m %H", "needs a day", "add %d"),
        ("%d/%m/%Y %I:%M", "%I counts to 12", "add %p"),
        ("%d/%m/%Y %H:%M %p", "%p goes with %I", "write %I"),
        ("%d/%m/%Y %H %I %p", "%H and %I exclude", "leave one out"),
        ("%d/%m/%Y %M", "%M needs the hour", "add %H"),
        ("%d/%m/%Y %H %S", "%S needs the minute", "add %M"),
        ("%d/%m/%Y %H:%M.%f", "%f needs the second", "add %S"),
        ("%d/%m/%Y %z", "%z needs the hour", "add %H"),
        ("%d/%m/%Y %y", "%Y and %y exclude", "leave one out"),
        ("%d/%m/%Y %d", "%d is there twice", ""),
        ("%Y %m %j", "%m and %j exclude", "leave one out"),
        ("%j", "no year", "add %Y"),
        ("%e/%m/%Y", "no directive %e", "write %d"),
        ("%Y-%-m-%d", "no directive %-", "leave the - out"),
        ("%s", "no directive %s", "unix"),
        ("%Y-%m-%d %Z", "no directive %Z", "io.timezone"),
        ("%A %d %m %Y", "no directive %A", "there are %Y"),
        ("%Y-%m-%d%", "a % without a directive", "%%"),
        ("%Y-%m-%d %H:%M:%S.%f0", "where %f ends", "between it and 0"),
        ("%H:%M%z%Y%m%d", "where %z ends", "between it and %Y"),
        ("%Y" * 101, "more than 200 characters", ""),
    ],
)
def test_what_is_wrong_with_a_format_is_found(form, message, hint):
    problem = find_format_problem(form)
    assert message in problem.message
    assert hint in problem.hint
    with pytest.raises(DataError):
        parser_of(form)


# ---- any format


def write_fields(form, when, nanos, offset, generator):
    """Write a time by the directives of a format, with one digit where that is allowed."""
    wide = not any(pair in form for pair in ("%m%d", "%d%m", "%H%M", "%M%S"))
    hour12 = when.hour % 12 or 12

    def number(value):
        return str(value) if wide and generator.random() < 0.5 else f"{value:02}"

    digits = f"{nanos:09}".rstrip("0") or "0"
    half = generator.choice([("AM", "PM"), ("am", "pm"), ("a.m.", "p.m.")])[when.hour >= 12]
    sign, ahead = "-" if offset < 0 else "+", abs(offset)
    zones = [f"{sign}{ahead // 60:02}:{ahead % 60:02}", f"{sign}{ahead // 60:02}{ahead % 60:02}"]
    cased = generator.choice([str.upper, str.lower, str])
    fields = {
        "Y": f"{when.year:04}",
        "y": f"{when.year % 100:02}",
        "m": number(when.month),
        "d": number(when.day),
        "b": cased(MONTHS[when.month - 1][:3]),
        "B": cased(MONTHS[when.month - 1]),
        "j": str(when.timetuple().tm_yday),
        "H": number(when.hour),
        "I": number(hour12),
        "p": half,
        "M": number(when.minute),
        "S": number(when.second),
        "f": digits + "0" * generator.randrange(10 - len(digits)),
        "z": generator.choice([*zones, *(["Z"] if not offset else [])]),
    }
    text = form.replace(" ", " " * generator.choice([1, 1, 3]))
    for name, value in fields.items():
        text = text.replace(f"%{name}", value)
    return text


DATES = ["%d/%m/%Y", "%m-%d-%Y", "%Y.%m.%d", "%Y%m%d", "%d %b %y", "%B %d, %Y", "%Y-%j", "%y|%m|%d"]
CLOCKS = ["", "T%H:%M:%S.%f", " %H:%M", " %I:%M:%S %p", " %H%M%S", " at %H h %M", "T%H:%M:%S,%f %z"]


def make_cases(form, unit, count, generator):
    """Texts of a format, and their counts."""
    texts, counts = [], []
    years = {"ns": (1678, 2261)}.get(unit, (1, 9998)) if "%Y" in form else (1969, 2068)
    for _ in range(count):
        day = date(generator.randint(*years), generator.randint(1, 12), generator.randint(1, 28))
        sizes = (("%H", "%I"), 24), (("%M",), 60), (("%S",), 60)
        clock = (
            generator.randrange(size) if any(one in form for one in names) else 0
            for names, size in sizes
        )
        when = datetime.combine(day, time(*clock))
        step = 10 ** (9 - UNITS[unit])
        nanos = generator.randrange(10**9) // step * step if "%f" in form else 0
        offset = generator.choice([0, 0, 60, 330, -210]) if "%z" in form else 0
        texts.append(write_fields(form, when, nanos, offset, generator))
        seconds = (when.toordinal() - 719163) * 86400 + when.hour * 3600 + when.minute * 60
        seconds += when.second - offset * 60
        counts.append((seconds * 10**9 + nanos) // step)
    return texts, counts


@pytest.mark.parametrize("date_form", DATES)
def test_what_is_written_in_a_format_is_read_back(date_form):
    for clock in CLOCKS:
        form = date_form + clock
        assert find_format_problem(form) is None
        for unit in ("s", "ns"):
            generator = random.Random(f"{form}{unit}")
            texts, counts = make_cases(form, unit, 20, generator)
            parser = parser_of(form, unit)
            assert parser.parse(pa.array(texts)).tolist() == counts, (form, unit)
            style = parser.detect_style(texts[0])
            assert [parser.read_one(text, style) for text in texts] == counts


def spoil(text, generator):
    """A text with a letter changed, left out or put in."""
    place = generator.randrange(len(text) + 1)
    letter = generator.choice("0123456789 :/-+.apZé")
    rest = generator.choice([text[place:], text[place + 1 :]])
    return text[:place] + generator.choice(["", letter]) + rest


@pytest.mark.parametrize("form", [None, *map(str.__add__, DATES, CLOCKS)])
def test_arrays_are_read_as_single_texts_are(form):
    generator = random.Random(f"spoilt {form}")
    written = form or generator.choice(["%Y-%m-%dT%H:%M:%S.%f", "%Y%m%dT%H%M%S"])
    parser = parser_of(form)
    for _ in range(20):
        texts, _ = make_cases(written, "us", 8, generator)
        style = parser.detect_style(texts[0])
        texts += [spoil(text, generator) for text in texts[:3] for _ in range(3)]
        expected, wrong = [], None
        for row, text in enumerate(texts):
            try:
                expected.append(parser.read_one(text, style))
            except DataError as error:
                wrong = str(error.at(row=row))
                break
        found = pa.concat_arrays([pa.array(["x", None]), pa.array(texts)])[2:]
        if wrong is None:
            assert parser.read_clock(found, style).tolist() == expected
            continue
        with pytest.raises(DataError) as caught:
            parser.read_clock(found, style)
        assert str(caught.value) == wrong


def test_more_layouts_than_are_tried_are_read_too(monkeypatch):
    monkeypatch.setattr("rtbot.core.time_reading.time_fields.LAYOUTS", 3)
    texts, counts = make_cases("%d/%m/%Y %H:%M", "s", 200, random.Random(3))
    assert parser_of("%d/%m/%Y %H:%M", "s").parse(pa.array(texts)).tolist() == counts


# ---- counts since 1970


def write_decimal(value, digits, generator):
    sign, size = "-" if value < 0 else generator.choice(["", "", "+"]), abs(value)
    whole, fraction = divmod(size, 10**digits)
    text = f"{sign}{'0' * generator.choice([0, 0, 2])}{whole}"
    shown = f"{fraction:0{digits}}".rstrip("0") if digits else ""
    if not shown:
        return text + generator.choice(["", ".0"])
    return f"{text}.{shown}{'0' * generator.randrange(3)}"


@pytest.mark.parametrize("form", EPOCHS)
@pytest.mark.parametrize("unit", UNITS)
def test_counts_are_read_exactly_and_written_as_they_were(form, unit):
    generator = random.Random(form + unit)
    shift = UNITS[unit] - UNITS[EPOCHS[form]]
    edge = 2**63 // 10 ** max(-shift, 0)
    counts = [0, 1, -1, *(generator.randrange(-edge, edge) for _ in range(300))]
    counts += [2**63 - 1, -(2**63)] if shift >= 0 else []
    if shift >= 0:
        texts = [write_decimal(count, shift, generator) for count in counts]
    else:
        texts = [write_decimal(count * 10**-shift, 0, generator) for count in counts]
    parser = parser_of(form, unit)
    style = parser.detect_style(texts[5])
    assert parser.parse(pa.array(texts)).tolist() == counts
    assert [parser.read_one(text, style) for text in texts] == counts
    written = format_times(np.array(counts), unit, style)
    assert [Fraction(text) * Fraction(10) ** shift for text in written.to_pylist()] == counts
    assert parser.parse(written).tolist() == counts


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("1490195805.433502912", "ns", 1490195805433502912),
        (" 1490195805.5\t", "ms", 1490195805500),
        ("1.4901958055e9", "ms", 1490195805500),
        ("14901958055E-1", "ms", 1490195805500),
        ("5.", "s", 5),
        ("-.5", "ms", -500),
        ("+7", "s", 7),
        ("0e999", "s", 0),
        ("0.0000000000", "s", 0),
        ("1" + "0" * 30 + "e-30", "s", 1),
    ],
)
def test_counts_may_have_decimals_and_exponents(text, unit, count):
    parser = parser_of("unix", unit)
    assert parser.parse(pa.array([text])).tolist() == [count]
    assert parser.parse(pa.array([text, " 7"])).tolist() == [count, 7 * 10 ** UNITS[unit]]


@pytest.mark.parametrize(
    ("epoch", "digits", "unit", "count", "text"),
    [
        ("s", 0, "ns", 1490195805433502912, "1490195805.433502912"),
        ("s", 1, "ms", 1500, "1.5"),
        ("s", 1, "ms", 1510, "1.510"),
        ("s", 0, "ms", 2000, "2"),
        ("s", 3, "ms", -1, "-0.001"),
        ("ms", 0, "s", -7, "-7000"),
        ("ns", 0, "s", 2**63 - 1, "9223372036854775807000000000"),
        ("ms", 0, "us", -(2**63), "-9223372036854775.808"),
    ],
)
def test_counts_are_written_with_the_decimals_they_need(epoch, digits, unit, count, text):
    style = TimeStyle("", 0, digits, epoch=epoch)
    assert format_times(np.array([count]), unit, style).to_pylist() == [text]


# ---- the formats of samples


@pytest.mark.parametrize(
    ("samples", "formats"),
    [
        (["3/4/2024 8:00 AM", "3/4/2024 1:10 PM"], ["%m/%d/%Y %I:%M %p", "%d/%m/%Y %I:%M %p"]),
        (["3/4/2024", "4/4/2024", "5/4/2024"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["3/4/2024", "3/5/2024", "4/1/2024"], ["%m/%d/%Y", "%d/%m/%Y"]),
        (["3/4/2024", "13/4/2024"], ["%d/%m/%Y"]),
        (["4/13/2024", "3/4/2024"], ["%m/%d/%Y"]),
        (["31.12.2024 24:00"], ["%d.%m.%Y %H:%M"]),
        (["2024 01 13 03 50"], ["%Y %m %d %H %M"]),
        (["2024-01-13-03-50-59"], ["%Y-%m-%d-%H-%M-%S"]),
        (["2024/1/31 10:00:00.25 +0100"], ["%Y/%m/%d %H:%M:%S.%f %z"]),
        (["02-Jan-2024 10:11:12"], ["%d-%b-%Y %H:%M:%S"]),
        (["01/Jun/2024:00:09:33 +0000"], ["%d/%b/%Y:%H:%M:%S %z"]),
        (["[10/Oct/2000:13:55:36 -0700]"], ["[%d/%b/%Y:%H:%M:%S %z]"]),
        (["January 2, 2024", "May 3, 2024"], ["%B %d, %Y"]),
        (["May 3, 2024"], ["%b %d, %Y", "%B %d, %Y"]),
        (["10:00 31.12.2024"], ["%H:%M %d.%m.%Y"]),
        (["2024-031"], ["%Y-%j"]),
        (["2007-01", "2007-02"], ["%Y-%m"]),
        (["Jan 2007"], ["%b %Y"]),
        (["20240131"], ["%Y%m%d"]),
        (["20240131120000"], ["%Y%m%d%H%M%S"]),
        (["1698364800000", "1698368400000"], ["unix_ms"]),
        (["1490195805.433502912"], ["unix"]),
        (["2024-01-31", "2024-1-3"], ["%Y-%m-%d"]),
        (["2024-01-31T10:00Z"], []),
        (["17", "18"], []),
        (["", " "], []),
        (["high", "low"], []),
        (["3/4/2024", "high"], []),
    ],
)
def test_the_formats_of_samples_are_detected(samples, formats):
    assert detect_time_format(samples) == formats


@pytest.mark.parametrize("day", [day for day in DATES if "|" not in day])
@pytest.mark.parametrize("clock", [clock for clock in CLOCKS if " at " not in clock])
def test_detected_formats_read_what_was_written(day, clock):
    texts, _ = make_cases(day + clock, "us", 15, random.Random(day + clock))
    found = detect_time_format(texts)
    assert day + clock in found or not found or day.startswith("%Y%m%d")
    for form in found:
        parser_of(form, "us").parse(pa.array(texts))
