"""Local times as instants, against `zoneinfo` asked for one time after the other."""

import json
import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from rtbot.core.errors import DataError
from rtbot.core.time_formats import find_timezone_problem, make_time_parser
from rtbot.core.time_reading import time_zones
from rtbot.core.time_reading.repeated_hour import RepeatedHour
from rtbot.core.time_reading.time_zones import TimeZone, format_offset
from rtbot.core.times import TimeStyle, format_times
from rtbot.graph.model import ReadOptions

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE_EPOCH = EPOCH.replace(tzinfo=None)
ZONES = [
    "Europe/Madrid",
    "America/New_York",
    "America/Sao_Paulo",  # clocks are put forward at midnight
    "America/St_Johns",
    "Africa/Casablanca",  # back for Ramadan
    "Africa/Monrovia",  # offsets of seconds until 1972
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # by half an hour
    "Europe/Dublin",
    "Pacific/Apia",  # a day that never was
    "Antarctica/Troll",  # by two hours
    "UTC",
]


def parser_of(zone, unit="s", **options):
    return make_time_parser(ReadOptions(timezone=zone, **options), unit)


def count(when):
    """Seconds since 1970 of a naive time as if it were UTC, or of an instant."""
    return (when.replace(tzinfo=when.tzinfo or UTC) - EPOCH) // timedelta(seconds=1)


def naive_time(year, month=1, day=1, hour=0):
    return datetime(year, month, day, hour, tzinfo=UTC).replace(tzinfo=None)


def around_changes(zone, generator, years=(1970, 2030)):
    """Naive times near the changes of a zone, and some others."""
    found = []
    changes = TimeZone(zone)._find_changes(np.array([count(naive_time(y)) for y in years]))
    for instant, *offsets in zip(
        changes.instants.tolist(),
        changes.offsets.tolist(),
        changes.offsets[1:].tolist(),
        strict=False,
    ):
        edges = [instant + offset for offset in offsets]
        near = [
            edge + step for edge in edges for step in (-1, 0, 1, generator.randint(-7200, 7200))
        ]
        found += [NAIVE_EPOCH + timedelta(seconds=one) for one in near]
    day = timedelta(days=1)
    found += [NAIVE_EPOCH + day * generator.uniform(-60_000, 40_000) for _ in range(30)]
    return [when.replace(microsecond=0) for when in generator.sample(found, min(len(found), 120))]


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_are_those_of_zoneinfo(zone):
    place = ZoneInfo(zone)
    naive = around_changes(zone, random.Random(zone))
    texts = pa.array([str(when) for when in naive])
    for pick, fold in (("earlier", 0), ("later", 1)):
        parser = parser_of(zone, ambiguous=pick, nonexistent="shift")
        expected = [count(when.replace(tzinfo=place, fold=fold)) for when in naive]
        gaps = [count(when.replace(tzinfo=place, fold=0)) for when in naive]
        real = [
            instant if datetime.fromtimestamp(instant, place).replace(tzinfo=None) == when else gap
            for when, instant, gap in zip(naive, expected, gaps, strict=True)
        ]
        assert parser.parse(texts).tolist() == real


@pytest.mark.parametrize("zone", ZONES)
def test_what_occurs_twice_or_never_is_an_error(zone):
    place, parser = ZoneInfo(zone), parser_of(zone)
    for when in around_changes(zone, random.Random(zone))[:40]:
        first, second = (count(when.replace(tzinfo=place, fold=fold)) for fold in (0, 1))
        exists = datetime.fromtimestamp(first, place).replace(tzinfo=None) == when
        if first == second:
            assert parser.parse(pa.array([str(when)])).tolist() == [first]
            continue
        with pytest.raises(
            DataError, match="occurs twice" if exists else "no such local"
        ) as caught:
            parser.parse(pa.array([str(when)]))
        assert (caught.value.row, caught.value.value) == (0, str(when))


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_are_written_and_read_back(zone):
    generator = random.Random(zone)
    for unit, scale in (("s", 1), ("us", 10**6)):
        parser, place = parser_of(zone, unit), ZoneInfo(zone)
        naive = around_changes(zone, generator)
        counts = np.array([count(w) * scale + generator.randrange(scale) for w in naive])
        style = parser.add_zone(TimeStyle(" ", 3, 0))
        written = format_times(counts, unit, style).to_pylist()
        for text, instant in zip(written, counts.tolist(), strict=True):
            when = datetime.fromisoformat(text)
            assert (when - EPOCH) // timedelta(microseconds=1) * scale == instant * 10**6
            ahead = datetime.fromtimestamp(instant // scale, place).utcoffset()
            assert when.utcoffset() == (timedelta(0) if ahead.total_seconds() % 60 else ahead)


@pytest.mark.parametrize("zone", ["Africa/Freetown", "Africa/Casablanca", "America/Noronha"])
def test_the_closest_changes_are_days_apart(zone):
    """So asking every other day finds them all."""
    changes = TimeZone(zone)._find_changes(np.array([-2_000_000_000, 3_000_000_000]))
    days = np.diff(changes.instants).min() / 86400
    assert 2 * time_zones.STEP.days - 1 < days < 40


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/New_York", "Pacific/Apia"])
def test_years_that_are_far_away_are_read_as_zoneinfo_reads_them(zone):
    generator, place = random.Random(zone), ZoneInfo(zone)
    naive = [
        naive_time(
            generator.randint(2, 9998), generator.randint(1, 12), 15, generator.randrange(24)
        )
        for _ in range(200)
    ]
    naive += [naive_time(9999, 12, 31), naive_time(2), naive_time(2501)]
    parser = parser_of(zone)
    expected = [count(when.replace(tzinfo=place)) for when in naive]
    texts = [when.isoformat(" ") for when in naive]
    assert parser.parse(pa.array(texts)).tolist() == expected


def test_years_are_searched_as_they_come():
    whole, zone = TimeZone("Europe/Madrid"), TimeZone("Europe/Madrid")
    seconds = np.array([count(naive_time(year, 7)) for year in range(1950, 2600, 13)])
    expected = whole.find_offsets(seconds)
    for place in random.Random(1).sample(range(len(seconds)), len(seconds)):
        assert zone.find_offsets(seconds[place : place + 1]) == expected[place]


def test_times_at_the_ends_of_int64():
    parser = parser_of("+02:00", "ns")
    assert parser.parse(pa.array(["1677-09-21 02:12:43.145224192"])).tolist() == [-(2**63)]
    with pytest.raises(DataError, match="int64") as caught:
        parser.parse(pa.array(["2000-01-01", "1677-09-21 02:12:43.145224191"]))
    assert caught.value.row == 1
    parser = parser_of("-02:00", "ns")
    with pytest.raises(DataError, match="int64"):
        parser.parse(pa.array(["2000-01-01", "2262-04-11 21:47:16.854775808"]))


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("Europe/Madird", "no such time zone", "did you mean 'Europe/Madrid'?"),
        ("", "no such time zone", "Europe/Madrid"),
        ("Europe", "no such time zone", ""),
        ("../etc/passwd", "no such time zone", ""),
        ("/etc/localtime", "no such time zone", ""),
        ("localtime", "no such time zone", ""),
        ("right/Europe/Madrid", "no such time zone", "Europe/Madrid"),
        ("+1", "no such time zone", "+01:00"),
        ("+24:00", "no such time zone", "+01:00"),
        ("\x00", "no such time zone", ""),
        ("e" * 9000, "no such time zone", ""),
    ],
)
def test_what_is_no_zone_is_explained(name, message, hint):
    problem = find_timezone_problem(name)
    assert message in problem.message
    assert hint in problem.hint
    with pytest.raises(DataError):
        parser_of(name)


def test_a_machine_without_zones_is_explained(monkeypatch):
    monkeypatch.setattr(time_zones, "ZoneInfo", lambda _: {}["none"])
    monkeypatch.setattr(time_zones, "available_timezones", set)
    time_zones.load_zone.cache_clear()
    problem = find_timezone_problem("Asia/Tokyo")
    assert "no time zone database" in problem.message
    assert problem.hint == "pip install tzdata"
    assert find_timezone_problem("+09:00") is None


def test_a_zone_is_for_texts_without_an_offset():
    parser = parser_of("Europe/Madrid")
    assert parser.parse(pa.array(["1970-01-02 00:00Z"])).tolist() == [86400]
    assert parser.parse(pa.array(["1970-01-02 01:00"])).tolist() == [86400]
    assert parser.parse(pa.array(["1970-01-02"])).tolist() == [82800]
    assert parser.detect_style("1970-01-02 00:00Z").zone == ""
    assert make_time_parser(ReadOptions(time_format="unix", timezone="Europe/Madrid"), "s").parse(
        pa.array(["7"])
    ).tolist() == [7]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "+00:00"), (-12600, "-03:30"), (50400, "+14:00"), (-884, "Z"), (3599, "Z")],
)
def test_offsets_are_those_of_iso_8601(seconds, text):
    assert format_offset(seconds) == text


def test_dates_alone_are_written_as_dates():
    parser = parser_of("Europe/Madrid", "s")
    style = parser.detect_style("2024-03-31")
    counts = parser.parse(pa.array(["2024-03-31", "2024-04-01"]))
    assert np.diff(counts).tolist() == [23 * 3600]
    assert format_times(counts, "s", style).to_pylist() == ["2024-03-31", "2024-04-01"]
    assert format_times(counts + 60, "s", style).to_pylist() == [
        "2024-03-31T00:01:00+01:00",
        "2024-04-01T00:01:00+02:00",
    ]


# ---- the hour that occurs twice, by the order of rows


def read_by_order(parser, texts, passes, series=None):
    clock = parser.read_clock(pa.array(texts, pa.string()), TimeStyle(" "))
    names = None if series is None else lambda rows: [series[row] for row in rows.tolist()]
    found, bad = parser.localise(clock, passes, names)
    return found.tolist(), [(row, error.message) for row, error in bad]


@pytest.mark.parametrize(
    ("zone", "day", "steps"),
    [
        ("America/New_York", datetime(2022, 11, 6, 4, tzinfo=UTC), (900, 1800, 3600, 1, 7)),
        ("Europe/Madrid", datetime(2023, 10, 28, 23, tzinfo=UTC), (3600, 600)),
        ("Australia/Lord_Howe", datetime(2024, 4, 6, 13, tzinfo=UTC), (1800, 300)),
        ("Antarctica/Troll", datetime(2024, 10, 26, 23, tzinfo=UTC), (3600, 7200)),
    ],
)
def test_rows_in_order_are_read_as_they_happened(zone, day, steps):
    """Whatever the step, the keys, and where blocks and runs end."""
    generator, place = random.Random(zone), ZoneInfo(zone)
    parser = parser_of(zone, "ms", ambiguous="order")
    for step in steps:
        rows = []
        for key in ("a", "b", None):
            at = count(day) * 1000 + generator.choice([0, 250])
            for _ in range(min(generator.randint(5, 40), 4 * 3600 // step)):
                rows.append((at, key))
                at += step * 1000
        rows.sort(key=lambda row: row[0])
        texts, instants, keys = [], [], []
        for at, key in rows:
            when = datetime.fromtimestamp(at // 1000, place)
            texts.append(f"{when:%Y-%m-%d %H:%M:%S}.{at % 1000:03}")
            instants.append(at)
            keys.append((key, 7))
        found, at, passes = [], 0, RepeatedHour()
        while at < len(texts):
            end = at + generator.randint(1, 9)
            part, bad = read_by_order(parser, texts[at:end], passes, keys[at:end])
            assert bad == []
            found += part
            at = end
            saved = json.loads(json.dumps(passes.save()))
            passes = RepeatedHour()
            passes.restore(saved)
        assert found == instants


def test_what_is_not_in_order_is_refused():
    parser = parser_of("America/New_York", ambiguous="order")
    texts = ["01:00", "01:30", "01:00", "01:30", "01:15", "01:30", "01:30", "02:00"]
    found, bad = read_by_order(parser, [f"2022-11-06 {text}" for text in texts], RepeatedHour())
    assert bad == [(4, "the second hour of two in America/New_York has rows that go back")]
    assert [instant - found[0] for instant in found if instant] == [
        *(0, 1800, 3600, 5400),
        *(5400, 5400, 7200),
    ]


def test_a_series_that_starts_in_the_hour_starts_in_its_first_pass():
    parser = parser_of("America/New_York", ambiguous="order")
    passes = RepeatedHour()
    for year, instant in ((2022, 1667712600), (2023, 1699162200)):
        day = "11-06" if year == 2022 else "11-05"
        assert read_by_order(parser, [f"{year}-{day} 01:30"], passes) == ([instant], [])


def test_tables_have_no_order_beyond_themselves():
    parser = parser_of("America/New_York", ambiguous="order")
    texts = [f"2022-11-06 {text}" for text in ("00:00", "01:00", "01:00", "02:00")]
    found = parser.parse(pa.array(texts), passes=RepeatedHour())
    assert np.diff(found).tolist() == [3600, 3600, 3600]
    clock = parser.read_clock(pa.array(texts), TimeStyle(" "))
    _, bad = parser.localise(clock)
    assert [(row, error.hint) for row, error in bad] == [
        (row, "only files have an order: set io.ambiguous: earlier or later") for row in (1, 2)
    ]
