"""ISO 8601 text to integers and back, exactly."""

import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from rtbot.core.errors import DataError
from rtbot.core.times import (
    UNITS,
    TimeStyle,
    convert_datetimes,
    detect_style,
    format_times,
    parse_time,
    parse_times,
)

SECOND_2004 = 1073037600  # 2004-01-02T10:00:00Z


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("1970-01-01", "s", 0),
        ("1969-12-31", "s", -86400),
        ("2004-01-02", "ns", (SECOND_2004 - 36000) * 10**9),
        ("2004-01-02T10:00:00Z", "s", SECOND_2004),
        ("2004-01-02 10:00:00", "ms", SECOND_2004 * 1000),
        ("2004-01-02T10:00", "s", SECOND_2004),
        ("2004-01-02T10", "s", SECOND_2004),
        ("2004-01-02T12:00:00+02:00", "s", SECOND_2004),
        ("2004-01-02T12:00:00+0200", "s", SECOND_2004),
        ("2004-01-02T05:30:00-04:30", "s", SECOND_2004),
        ("2004-01-02T10:00:00.5", "ms", SECOND_2004 * 1000 + 500),
        ("2004-01-02T10:00:00.000000001", "ns", SECOND_2004 * 10**9 + 1),
        ("2004-01-02T10:00:00.500000", "ms", SECOND_2004 * 1000 + 500),
        ("2004-01-02T10:00:00.000", "s", SECOND_2004),
        ("1969-12-31T23:59:59.999999", "us", -1),
        ("2000-02-29", "s", 951782400),
        ("0000-01-01", "s", -62167219200),
        ("9999-12-31T23:59:59.999999", "us", 253402300799999999),
        ("2262-04-11T23:47:16.854775807", "ns", 2**63 - 1),
        ("1677-09-21T00:12:43.145224192", "ns", -(2**63) + 0),
        ("1677-09-21T00:12:43.145224193Z", "ns", -(2**63) + 1),
        ("2262-04-11T23:47:16,854775807z", "ns", 2**63 - 1),
        ("2004-01-01T24:00", "s", SECOND_2004 - 36000),
        ("2003-12-31 24", "s", SECOND_2004 - 36000 - 86400),
        ("2004-01-01T24:00:00.000+01:00", "s", SECOND_2004 - 36000 - 3600),
        ("2004-01-02 10:00:00,5", "ms", SECOND_2004 * 1000 + 500),
        ("20040102T100000Z", "s", SECOND_2004),
        ("20040102T1000", "s", SECOND_2004),
        ("20040102 10", "s", SECOND_2004),
        ("20040102 10:00:00", "s", SECOND_2004),
        ("2004-01-02T100000", "s", SECOND_2004),
        ("20040102t120000,25 +0200", "ms", SECOND_2004 * 1000 + 250),
        ("2004-01-02t10:00:00z", "s", SECOND_2004),
        ("2004-01-02 12:00:00 +0200", "s", SECOND_2004),
        ("2004-01-02 12:00 +02", "s", SECOND_2004),
    ],
)
def test_times_are_read_exactly(text, unit, count):
    assert parse_time(text, unit) == count
    assert parse_times(pa.array([text]), unit)[0].tolist() == [count]


@pytest.mark.parametrize(
    ("texts", "unit", "row", "message"),
    [
        (["2004-01-02", "2004-02-30"], "us", 1, "no such day"),
        (["2004-01-02", "2003-02-29"], "us", 1, "no such day"),
        (["2004-13-01"], "us", 0, "no such day"),
        (["2004-01-02T10:11:60"], "us", 0, "leap seconds"),
        (["2016-12-31T23:59:60Z"], "us", 0, "leap seconds"),
        (["2004-01-02T24:00:01"], "us", 0, "no such time"),
        (["2004-01-02T24:00:00.1"], "us", 0, "no such time"),
        (["2004-01-02T25"], "us", 0, "no such time"),
        (["2004-01-02T10:60:00"], "us", 0, "no such time"),
        (["2004-01-02T10:00:00+25:00"], "us", 0, "no such offset"),
        (["2004-01-02T10:00:00Z", "2004-01-02T10:00:00"], "us", 1, "mixed"),
        (["2004-01-02T10:00:00", "2004-01-02T10:00:00Z"], "us", 1, "mixed"),
        (["2004-01-02T10:00:00Z", "2004-01-03"], "us", 1, "mixed"),
        (["2004-01-02", "2004-01-02T10:00:00.1"], "s", 1, "finer than the unit s"),
        (["2004-01-02T10:00:00.1234567"], "us", 0, "finer than the unit us"),
        (["2004-01-02", "3000-01-01"], "ns", 1, "int64"),
        (["1677-09-21T00:12:43.145224191"], "ns", 0, "int64"),
        (["2262-04-11T23:47:16.854775807-02:00"], "ns", 0, "int64"),
        (["2004-01-02", None], "us", 1, "without a time"),
        (["2004-1-2"], "us", 0, "ISO 8601"),
        (["20040102"], "us", 0, "ISO 8601"),
        (["02/01/2004"], "us", 0, "ISO 8601"),
        (["2004-01-02T10:00:00;5"], "us", 0, "ISO 8601"),
        (["2004-0102T10:00"], "us", 0, "ISO 8601"),
        (["2004-01-02T10:00  Z"], "us", 0, "ISO 8601"),
        (["20040102Z"], "us", 0, "ISO 8601"),
        (["2004-01-02T10:00", "2004-01-02 24:00z"], "us", 1, "mixed"),
        ([" 2004-01-02"], "us", 0, "ISO 8601"),
        (["2004-01-02Z"], "us", 0, "ISO 8601"),
        (["٢٠٠٤-01-02"], "us", 0, "ISO 8601"),
        ([""], "us", 0, "ISO 8601"),
    ],
)
def test_bad_times_are_refused_with_their_row(texts, unit, row, message):
    with pytest.raises(DataError) as caught:
        parse_times(pa.array(texts, pa.string()), unit)
    assert caught.value.row == row
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("2004-01-02", TimeStyle("", 0)),
        ("2004-01-02 10:11", TimeStyle(" ", 2)),
        ("2004-01-02T10", TimeStyle("T", 1)),
        ("2004-01-02T10:11:12.25Z", TimeStyle("T", 3, 2, "Z")),
        ("2004-01-02T10:11:12+02:00", TimeStyle("T", 3, 0, "+02:00")),
    ],
)
def test_times_are_written_as_they_were_read(text, style):
    assert detect_style(text) == style
    counts, found = parse_times(pa.array([text]), "us")
    assert found == style
    assert format_times(counts, "us", style).to_pylist() == [text]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("20040102T101112Z", "2004-01-02T10:11:12Z"),
        ("2004-01-02t10:11:12,25z", "2004-01-02T10:11:12.25Z"),
        ("2004-01-02 10:11 +02", "2004-01-02 10:11+02"),
        ("2004-01-02 24:00", "2004-01-03 00:00"),
    ],
)
def test_rarer_forms_are_written_in_the_usual_one(text, written):
    counts, style = parse_times(pa.array([text]), "us")
    assert format_times(counts, "us", style).to_pylist() == [written]


@pytest.mark.parametrize(
    ("style", "unit", "count", "text"),
    [
        (TimeStyle("", 0), "us", 500_000, "1970-01-01T00:00:00.500000"),
        (TimeStyle("", 0), "us", 36_000_000_000, "1970-01-01T10:00:00"),
        (TimeStyle("", 0), "s", 1, "1970-01-01T00:00:01"),
        (TimeStyle("T", 2, 0, "Z"), "ms", 61_000, "1970-01-01T00:01:01Z"),
        (TimeStyle("T", 2, 0, "Z"), "ms", 1, "1970-01-01T00:00:00.001Z"),
        (TimeStyle(" ", 3, 1), "us", 500_000, "1970-01-01 00:00:00.5"),
        (TimeStyle(" ", 3, 1), "us", 510_000, "1970-01-01 00:00:00.510000"),
        (TimeStyle(" ", 3, 9), "ms", 5, "1970-01-01 00:00:00.005"),
        (TimeStyle("T", 3, 0, "+01:00"), "ns", -1, "1970-01-01T00:59:59.999999999+01:00"),
    ],
)
def test_a_time_that_its_style_cannot_tell_is_written_with_what_it_needs(style, unit, count, text):
    assert format_times(np.array([count]), unit, style).to_pylist() == [text]
    both = format_times(np.array([0, count]), unit, style)
    assert both[1].as_py() == text


def test_how_a_time_is_written_does_not_depend_on_its_neighbours():
    style = TimeStyle("", 0)
    counts = np.array([0, 1, 1_000_000, 86_400_000_000])
    whole = format_times(counts, "us", style).to_pylist()
    assert whole == [format_times(counts[k : k + 1], "us", style)[0].as_py() for k in range(4)]


STYLES = [
    TimeStyle(),
    TimeStyle(" "),
    TimeStyle("", 0),
    TimeStyle("T", 2),
    TimeStyle("T", 1, 0, "Z"),
    TimeStyle(" ", 3, 6, "+02:30"),
    TimeStyle("T", 3, 1, "-0730"),
    TimeStyle("T", 2, 0, "+05"),
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("unit", UNITS)
def test_writing_and_reading_are_inverse(unit, style):
    generator = random.Random(f"{unit}{style}")
    scale = 10 ** UNITS[unit]
    years = 60 * 10**9 if unit != "ns" else 9 * 10**9
    counts = [
        generator.randint(-years, years) * scale + generator.choice([0, generator.randrange(scale)])
        for _ in range(300)
    ]
    texts = format_times(np.array(counts), unit, style)
    assert parse_times(texts, unit, style)[0].tolist() == counts
    assert [parse_time(text, unit) for text in texts.to_pylist()] == counts


def test_reading_agrees_with_datetime():
    generator = random.Random(7)
    start = datetime(1, 1, 1, tzinfo=UTC)
    for _ in range(300):
        when = start + timedelta(microseconds=generator.randrange(3 * 10**17))
        counted = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        assert parse_time(when.isoformat(), "us") == counted


def test_times_beyond_the_calendar_cannot_be_written():
    for count in (253402300800, -62167219201):
        with pytest.raises(DataError, match="years 0 to 9999"):
            format_times(np.array([count]), "s", TimeStyle())


@pytest.mark.parametrize(
    ("stamps", "unit", "counts"),
    [
        (np.array(["1970-01-02"], "M8[D]"), "ms", [86_400_000]),
        (np.array(["1969-12-31T23"], "M8[h]"), "s", [-3600]),
        (np.array([5], "M8[ms]"), "us", [5000]),
        (np.array([-5000], "M8[ns]"), "us", [-5]),
        (np.array([3], "M8[10s]"), "s", [30]),
        (np.array([2**63 - 1], "M8[us]"), "us", [2**63 - 1]),
    ],
)
def test_datetime64_is_converted_exactly(stamps, unit, counts):
    assert convert_datetimes(stamps, unit).tolist() == counts


@pytest.mark.parametrize(
    ("stamps", "unit", "message"),
    [
        (np.array(["1970-01-01", "NaT"], "M8[s]"), "s", "without a time"),
        (np.array([0, -1], "M8[ns]"), "us", "finer"),
        (np.array([0, 2**62], "M8[s]"), "ns", "out of range"),
        (np.array([0, -(2**62)], "M8[ms]"), "us", "out of range"),
    ],
)
def test_datetime64_that_would_lose_something_is_refused(stamps, unit, message):
    with pytest.raises(DataError, match=message) as caught:
        convert_datetimes(stamps, unit)
    assert caught.value.row == 1
