"""Runs as pictures: no extreme is lost, nothing is drawn where nothing is, all texts are safe."""

import itertools
import math
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import rtbot
from rtbot.cli.main import run
from rtbot.conformance.random_rows import NUMBERS
from rtbot.core.times import TimeStyle
from rtbot.runtime.result import Result
from rtbot.viz.charts.axes import (
    TimeAxis,
    TimeScale,
    ValueScale,
    choose_ticks,
    format_brief,
    round_step,
)
from rtbot.viz.charts.change_lines import ChangeLines
from rtbot.viz.charts.chart import draw_chart
from rtbot.viz.charts.downsample import (
    BUCKETS,
    KEYS,
    OTHER,
    TEXTS,
    TURNS,
    ChartSeries,
    Collector,
    split_by_key,
)
from rtbot.viz.charts.lines import MIXED, RING, draw_dots, draw_line, find_states
from rtbot.viz.charts.panels import find_sparse, group_panels
from rtbot.viz.charts.summary import Summary

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
INT64_LEAST, INT64_MOST = -(2**63), 2**63 - 1
HOSTILE = "<script>&\"'`]]>\x00\u202e"
DAY = 86_400


def parsed(markup):
    return ET.fromstring(markup)  # noqa: S314 (our own)


def table(rows, **columns):
    """A table of an output from its (t, value) rows; a value None is null."""
    times, values = zip(*rows, strict=True) if rows else ((), ())
    first = next((v for v in values if v is not None), 0.0)
    text = isinstance(first, str)
    kind = object if text else np.array(first).dtype
    filler = None if text else np.zeros((), kind)[()]
    made = {name: np.array(column, object) for name, column in columns.items()}
    made["t"] = np.array(times, np.int64)
    made["value"] = np.array([filler if v is None else v for v in values], kind)
    if None in values:
        made["value_valid"] = np.array([v is not None for v in values])
    return made


def series(rows, kind="number"):
    made = ChartSeries(kind)
    times, values = zip(*rows, strict=True)
    made.add(np.array(times, np.int64), np.array(values, np.float64))
    return made


def walk(count, seed):
    source = np.random.default_rng(seed)
    times = np.cumsum(source.integers(1, 1000, count)) * 10 ** int(source.integers(0, 6))
    return times, source.normal(size=count).cumsum()


# ---- thinning


@pytest.mark.parametrize("seed", range(8))
def test_thinned_messages_do_not_depend_on_how_they_came(seed):
    times, values = walk(30_000, seed)
    values[np.random.default_rng(seed).random(30_000) < 0.01] = np.nan
    whole, parts = ChartSeries("number"), ChartSeries("number")
    whole.add(times, values)
    source = random.Random(seed)
    at = 0
    while at < len(times):
        stop = at + source.choice([1, 7, 500, 9000])
        parts.add(times[at:stop], values[at:stop])
        at = stop
    assert whole.count == parts.count == 30_000
    for name in ChartSeries("number").buckets.__slots__:
        assert np.array_equal(getattr(whole.buckets, name), getattr(parts.buckets, name)), name


@pytest.mark.parametrize("seed", range(5))
def test_thinning_keeps_ends_and_extremes_in_bounded_memory(seed):
    times, values = walk(200_000, seed)
    values[123_456], values[77_777] = 1e9, -1e9
    made = ChartSeries("number")
    for part in np.array_split(np.arange(len(times)), 7):
        made.add(times[part], values[part])
    buckets = made.buckets
    assert BUCKETS / 4 < len(buckets) <= BUCKETS
    assert made.span() == (-1e9, 1e9)
    assert (buckets.first_time[0], buckets.last_time[-1]) == (times[0], times[-1])
    assert (buckets.first[0], buckets.last[-1]) == (values[0], values[-1])


def test_few_messages_are_kept_as_they_are():
    rows = [(1, 5.0), (2, -5.0), (INT64_MOST, 7.0)]
    buckets = series(rows).buckets
    assert len(buckets) == 3
    assert list(zip(buckets.first_time, buckets.first, strict=True)) == rows


def test_messages_at_both_ends_of_time_are_thinned():
    times = np.concatenate([INT64_LEAST + np.arange(5000), INT64_MOST - np.arange(5000)[::-1]])
    made = ChartSeries("number")
    made.add(times, np.arange(10_000.0))
    assert made.span() == (0.0, 9999.0)
    assert len(made.buckets) <= BUCKETS


def test_late_messages_of_an_input_find_their_place():
    made = ChartSeries("number")
    made.add(np.array([5, 6]), np.array([5.0, 6.0]))
    made.add(np.array([1, 9]), np.array([1.0, 9.0]))
    assert made.buckets.first_time.tolist() == [1, 5, 6, 9]


@pytest.mark.parametrize("cut", [1, 3, 7])
def test_several_messages_of_one_time_are_lines_of_their_own(cut):
    rows = [(1, 5.0), (2, 7.0), (2, 5.0), (3, 7.0), (3, 6.0), (3, math.nan), (4, 1.0)]
    made = ChartSeries("number")
    for part in (rows[:cut], rows[cut:]):
        times, values = zip(*part, strict=True) if part else ((), ())
        made.add_turns(np.array(times, np.int64), np.array(values, np.float64))
    lines = [
        [*zip(one.buckets.first_time, one.buckets.first, strict=True)] for one in made.list_lines()
    ]
    assert lines == [[(1, 5.0), (2, 7.0), (3, 7.0), (4, 1.0)], [(2, 5.0), (3, 6.0)]]
    assert made.span() == (1.0, 7.0)
    assert len(made.later) == 2


def test_the_last_line_has_all_messages_of_a_time_that_are_left():
    made = ChartSeries("number")
    made.add_turns(np.zeros(40, np.int64), np.arange(40.0))
    assert len(made.later) == TURNS - 1
    assert (made.later[-1].buckets.low, made.later[-1].buckets.high) == (TURNS - 1, 39)


# ---- lines, dots, strips


def points(path):
    return [tuple(map(float, at)) for at in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


SCALES = TimeScale(0, 100, 0.0, 100.0), ValueScale(0.0, 10.0, 0.0, 10.0)


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        ([(0, 0), (50, 10), (100, 5)], "M0 10h0L50 0L100 5"),
        ([(0, 0), (10, 1), (20, math.nan), (30, 3), (40, 4)], "M0 10h0L10 9M30 7h0L40 6"),
        ([(0, math.nan), (10, 1), (20, math.inf)], f"M10 9{RING}"),
        ([(0, math.nan)], ""),
        ([(50, 2), (50, 2)], f"M50 8{RING}"),
    ],
)
def test_lines_break_where_there_is_nothing_to_draw(rows, path):
    assert draw_line(series(rows).buckets, *SCALES) == path


@pytest.mark.parametrize("spike", [1e6, -1e6])
def test_a_single_spike_among_a_million_is_drawn(spike):
    values = np.zeros(1_000_000)
    values[654_321] = spike
    made = ChartSeries("number")
    made.add(np.arange(1_000_000), values)
    scale = TimeScale(0, 999_999, 0.0, 240.0), ValueScale(-1e6, 1e6, 0.0, 48.0)
    path = points(draw_line(made.buckets, *scale))
    (peak,) = {(x, y) for x, y in path if y != 24.0}
    assert peak == (pytest.approx(157.0, abs=1.0), 0.0 if spike > 0 else 48.0)
    assert len(path) <= 4 * 241


def test_a_line_of_many_messages_has_the_same_extent_in_every_column():
    times, values = walk(100_000, 3)
    made = ChartSeries("number")
    made.add(times, values)
    scale = TimeScale(int(times[0]), int(times[-1]), 0.0, 100.0)
    value = ValueScale(float(values.min()), float(values.max()), 0.0, 1000.0)
    path = np.array(points(draw_line(made.buckets, scale, value)))
    for column in range(100):
        inside = (scale.at(times) >= column + 0.1) & (scale.at(times) < column + 0.9)
        drawn = path[(path[:, 0] >= column - 0.5) & (path[:, 0] < column + 1.5), 1]
        assert drawn.min() <= value.at(values[inside]).min() + 0.1
        assert drawn.max() >= value.at(values[inside]).max() - 0.1


@pytest.mark.parametrize(
    ("low", "high", "flat"),
    [
        (0.1 + 0.2, 0.3, True),
        (-0.3, -0.1 - 0.2, True),
        (0.3, 0.3000001, False),
        (10**13, 10**13 + 1, False),
        (7.0, 7.0, True),
        (0.0, 0.0, True),
    ],
)
def test_what_differs_by_rounding_alone_is_flat(low, high, flat):
    low, high = sorted([float(low), float(high)])
    scale = ValueScale.around(low, high, 0.0, 100.0)
    assert (abs(scale.one(low) - scale.one(high)) < 0.1) == flat
    labels = [text for _, text in scale.ticks()]
    assert len(labels) == len({*labels})
    assert not flat or max(map(len, labels)) <= 6


def test_dots_are_a_point_per_message():
    rows = [(0, 0), (50, 10), (50, 2), (100, math.nan), (100, 5)]
    assert draw_dots(series(rows).buckets, *SCALES) == "M0 10h0M50 0h0M50 8h0M100 5h0"


@pytest.mark.parametrize(
    ("rows", "spans"),
    [
        ([(0, 1), (50, 0), (100, 1)], [(0, 50, 1), (50, 100, 0), (100, 100, 1)]),
        ([(0, 1), (50, 1), (100, 1)], [(0, 100, 1)]),
        ([(10, 1), (20, math.nan), (50, 1), (60, 0)], [(10, 10, 1), (50, 60, 1), (60, 100, 0)]),
        ([(50, 1)], [(50, 100, 1)]),
        ([(40, 0), (50, 1), (60, math.nan)], [(40, 50, 0), (50, 50, 1)]),
        ([(50, math.nan)], []),
    ],
)
def test_a_state_holds_until_the_next_message(rows, spans):
    assert list(find_states(series(rows), SCALES[0])) == spans


def test_states_that_change_within_a_column_are_mixed():
    rows = [(0, 0), (10_000, 0), (10_001, 1), (10_002, 0), (99_999, 0)]
    time = TimeScale(0, 99_999, 0.0, 100.0)
    shown = [state for *_, state in find_states(series(rows), time)]
    assert shown == [0, MIXED, 0]


# ---- keys


def test_the_first_keys_are_shown_whatever_order_they_come_in():
    names = [f"k{n:02}" for n in range(30)]
    random.Random(1).shuffle(names)
    collected = Collector(("k",))
    for name in names:
        collected.add({"y": table([(1, 1.0), (2, 2.0)], k=[name, name])})
    assert collected.shown() == [(f"k{n:02}",) for n in range(KEYS)]
    assert all(collected.series[key]["y"].count == 2 for key in collected.shown())


def test_keys_are_in_the_order_of_results():
    rows = [(1, 1.0)] * 4
    keyed = table(rows, a=[-1, 2, 2, None], b=["x", "a", None, "z"])
    collected = Collector(("a", "b"))
    collected.add({"y": keyed})
    assert collected.shown() == [(-1, "x"), (2, "a"), (2, None), (None, "z")]
    assert [stop - start for _, start, stop in split_by_key(keyed, ("a", "b"))] == [1] * 4


def test_texts_beyond_the_first_share_a_code():
    collected = Collector()
    collected.add({"y": table([(k, f"text {k}") for k in range(TEXTS + 3)])})
    collected.add({"y": table([(99, "text 2"), (100, None)])})
    assert list(collected.texts["y"]) == [f"text {k}" for k in range(TEXTS)]
    buckets = collected.series[()]["y"].buckets
    assert buckets.first.tolist() == [*range(TEXTS), OTHER, OTHER, OTHER, 2]


# ---- axes


def seconds(text):
    return int(np.datetime64(text, "s").astype(np.int64))


@pytest.mark.parametrize(
    ("first", "last", "count", "labels"),
    [
        ("2010-01-04", "2013-03-01", 8, ["Jul", "2011", "Jul", "2012", "Jul", "2013"]),
        ("1958-03-29", "2001-12-29", 6, ["1960", "1970", "1980", "1990", "2000"]),
        ("2013-04-01", "2013-09-30", 6, ["Apr", "May", "Jun", "Jul", "Aug", "Sep"]),
        ("2024-02-20", "2024-03-20", 6, ["Feb 26", "Mar 4", "Mar 11", "Mar 18"]),
        ("2023-12-30T12:00", "2024-01-02T12:00", 3, ["Dec 31", "2024", "Jan 2"]),
        ("2024-05-01T22:10", "2024-05-02T01:05", 6, ["22:30", "23:00", "23:30", "May 2", "00:30"]),
        ("2024-05-01T22:10:00", "2024-05-01T22:10:20", 6, ["22:10:00", "22:10:05", "22:10:10"]),
        ("2024-05-01T22:10:01", "2024-05-01T22:10:01", 6, ["22:10:01"]),
    ],
)
def test_dates_at_the_axis(first, last, count, labels):
    clock = TimeAxis("s").fit_times(seconds(first), seconds(last))
    ticks = clock.ticks(seconds(first), seconds(last), count)
    assert [label for _, label in ticks][: len(labels)] == labels
    times = [time for time, _ in ticks]
    assert times == sorted(set(times))
    assert all(seconds(first) <= time <= seconds(last) for time in times)


@pytest.mark.parametrize(
    ("unit", "scale", "label"),
    [("ms", 10**3, "05.250"), ("us", 10**6, "05.250000"), ("ns", 10**9, "05.250000000")],
)
def test_parts_of_seconds_at_the_axis(unit, scale, label):
    first = seconds("2024-05-01T22:10:05") * scale + scale // 4
    labels = [text for _, text in TimeAxis(unit).ticks(first, first + 4, 4)]
    assert labels[0][: len(label)] == label


def test_dates_are_those_of_the_offset_that_was_read():
    clock = TimeAxis.of("s", TimeStyle(offset="+02:00"))
    midnight = seconds("2024-05-01T22:00:00")
    assert clock.text(midnight) == "2024-05-02"
    assert clock.zone == "+02:00"
    assert (midnight, "May 2") in clock.ticks(midnight - DAY, midnight + DAY, 4)


@pytest.mark.parametrize(
    ("unit", "first", "last", "text"),
    [
        (None, 5, 9, "5"),
        ("s", 10, 40, "10"),
        ("s", -370_569_600, 1_009_584_000, "1958-04-05"),
        ("s", seconds("2010-01-04T12:30:00"), seconds("2011-01-01"), "2010-01-04 12:30:00"),
        ("ms", seconds("2010-01-04") * 1000 + 250, 10**13, "2010-01-04 00:00:00.25"),
        (None, seconds("2010-01-04") * 10**6, seconds("2011-01-04") * 10**6, "2010-01-04"),
        ("s", 0, INT64_MOST, "0"),
        ("ns", INT64_LEAST + 10**14, 0, "1677-09-22 03:59:23.145224192"),
        ("ns", INT64_LEAST, INT64_MOST, "-9,223,372,036,854,775,808"),
    ],
)
def test_times_are_dates_where_they_look_like_some(unit, first, last, text):
    assert TimeAxis(unit).fit_times(first, last).text(first) == text


def test_times_that_were_read_as_dates_are_dates():
    assert (
        TimeAxis.of("s", TimeStyle(separator="", parts=0)).fit_times(0, DAY).text(DAY)
        == "1970-01-02"
    )


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (-0.12, 0.31, ["-0.1", "0.0", "0.1", "0.2", "0.3"]),
        (980, 1020, ["980", "990", "1,000", "1,010", "1,020"]),
        (0, 4e7, ["0", "1e+07", "2e+07", "3e+07", "4e+07"]),
        (0, 1e-6, ["0", "2e-07", "4e-07", "6e-07", "8e-07"]),
        (1e16, 1e16 + 8, ["10,000,000,000,000,000", "10,000,000,000,000,002"]),
    ],
)
def test_round_numbers_at_the_axis(low, high, labels):
    assert [label for _, label in choose_ticks(low, high, 5)][: len(labels)] == labels


@pytest.mark.parametrize("seed", range(50))
def test_round_numbers_are_few_and_inside(seed):
    source = random.Random(seed)
    low, high = sorted(source.uniform(-1, 1) * 10 ** source.randint(-200, 200) for _ in range(2))
    ticks = choose_ticks(low, high, 6)
    assert 2 <= len(ticks) <= 7
    near = (high - low) * 1e-9
    assert all(low - near <= value <= high + near for value, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)
    assert round_step(high - low, 6) >= (high - low) / 6


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3, "3"),
        (1234567.0, "1,234,567"),
        (2 / 3, "0.66667"),
        (123456.789, "123,456.8"),
        (1e300, "1e+300"),
        (1e-9, "1e-09"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (INT64_MOST, "9.2234e+18"),
    ],
)
def test_numbers_in_tables_are_brief(value, text):
    assert format_brief(value) == text


# ---- panels


def row(**spans):
    return {name: series([(0, low), (1, high)]) for name, (low, high) in spans.items()}


@pytest.mark.parametrize(
    ("rows", "panels"),
    [
        ([row(a=(10, 20), b=(12, 18), c=(15, 25))], [["a", "b", "c"]]),
        ([row(a=(310, 370), b=(312, 365), c=(-4, 5))], [["a", "b"], ["c"]]),
        ([row(a=(0, 5), b=(0, 1000))], [["a"], ["b"]]),
        ([row(a=(0, 100), b=(50, 50))], [["a", "b"]]),
        ([row(a=(0, 100), b=(48, 53))], [["a", "b"]]),
        ([row(a=(0, 100), b=(99, 102))], [["a"], ["b"]]),
        ([row(a=(12, 12.1), b=(8, 8.1))], [["a"], ["b"]]),
        ([row(a=(11, 12), b=(10, 11), c=(9, 10))], [["a", "b", "c"]]),
        ([row(a=(10, 20), b=(12, 18)), row(a=(10, 20), b=(0, 1e6))], [["a"], ["b"]]),
        ([row(a=(10, 20)), row(b=(0, 1e6))], [["a", "b"]]),
        ([row(a=(-1.7e308, 1.7e308), b=(-1e308, 1e308))], [["a", "b"]]),
        ([], [["a", "b", "c"]]),
    ],
)
def test_what_shares_a_scale_shares_a_panel(rows, panels):
    names = sorted({name for one in rows for name in one}) or ["a", "b", "c"]
    assert [panel.names for panel in group_panels(names, [], rows, 8)] == panels


def test_inputs_are_shown_only_where_they_fit():
    rows = [row(up=(10, 20), price=(11, 19), volume=(1e5, 1e6))]
    (panel,) = group_panels(["up"], ["price", "volume"], rows, 1)
    assert (panel.names, panel.guests) == (["up"], ["price"])


def test_few_messages_beside_many_are_dots():
    many, few = series([(k, 1.0) for k in range(100)]), series([(k, 1.0) for k in range(4)])
    assert find_sparse(["a", "b"], [{"a": many, "b": few}]) == {"b"}
    assert find_sparse(["b"], [{"b": few}]) == set()


# ---- the chart of a run


def chart(tables, key=(), clock=None, title="run"):
    collected = Collector(key)
    collected.add(tables)
    return draw_chart(collected, list(tables), clock or TimeAxis(), title, len(collected.series))


def texts(picture, look=None):
    found = [e for e in parsed(picture).iter(f"{SVG}text") if look in (None, e.get("class"))]
    return ["".join(element.itertext()) for element in found]


def boxes(picture, look):
    return [e for e in parsed(picture).iter(f"{SVG}rect") if look in e.get("class", "").split()]


def test_a_chart_has_panels_strips_and_an_axis():
    picture = chart(
        {
            "up": table([(k, 10.0 + k) for k in range(10)]),
            "down": table([(k, 19.0 - k) for k in range(10)]),
            "far": table([(k, 1000.0 * k) for k in range(10)]),
            "alert": table([(k, k > 4) for k in range(10)]),
            "state": table([(0, "idle"), (5, "busy"), (9, "idle")]),
        }
    )
    assert len(boxes(picture, "frame")) == 2
    assert len(boxes(picture, "bed")) == 2
    assert len(boxes(picture, "state")) == 1 + 3
    assert texts(picture, "ink") == ["up", "down", "far"], "strips have their names beside them"
    assert texts(picture, "told") == ["idle", "busy"]
    assert {"alert", "state", "0 to 9", "10", "run"} <= set(texts(picture))


def draw_means(many, **more):
    """Draw so many outputs that share a scale, beside others as given."""
    rows = {f"m{k}": table([(t, t + k / 10) for t in range(50)]) for k in range(many)}
    return chart(rows | more)


def list_named_panels(picture):
    """Return the names between each panel and the one above it, from top to bottom."""
    tops = [float(box.get("y")) for box in boxes(picture, "frame")]
    found = [(float(e.get("y")), e.text) for e in parsed(picture).iter(f"{SVG}text")]
    return [
        [text for y, text in found if low < y < high and text in texts(picture, "ink")]
        for low, high in itertools.pairwise([0.0, *tops])
    ]


def list_looks(picture):
    """Return the classes of all lines, then those of the names."""
    looks = [path.get("class") for path in parsed(picture).iter(f"{SVG}path")]
    swatches = [look.removesuffix(" swatch") for look in looks if look.endswith(" swatch")]
    return [look for look in looks if not look.endswith(" swatch")], swatches


def test_more_outputs_than_colours_are_spread_over_panels_with_names_above_each():
    picture = draw_means(20, far=table([(t, 1e9 + t) for t in range(50)]))
    wanted = [[f"m{k}" for k in range(first, first + 5)] for first in (0, 5, 10, 15)]
    assert list_named_panels(picture) == [*wanted, ["far"]]
    looks = [f"line s{k}" for k in range(5)] * 4 + ["line s0"]
    assert list_looks(picture) == (looks, looks)


def test_as_many_outputs_as_colours_share_a_panel_and_the_names_above_all():
    picture = draw_means(8)
    assert list_named_panels(picture) == [[f"m{k}" for k in range(8)]]
    looks = [f"line s{k}" for k in range(8)]
    assert list_looks(picture) == (looks, looks)


def test_many_panels_are_lower():
    few, many = (
        chart({f"m{k}": table([(t, 1000.0**k + t) for t in range(5)]) for k in range(count)})
        for count in (8, 9)
    )
    heights = [{box.get("height") for box in boxes(picture, "frame")} for picture in (few, many)]
    assert heights == [{"190"}, {"120"}]


def test_parts_of_a_chart_stand_apart():
    names = [f"output {k}" for k in range(12)]
    numbers = {n: table([(t, 1000.0**k + t) for t in range(5)]) for k, n in enumerate(names)}
    flags = {f"flag {k}": table([(t, t > 2) for t in range(5)]) for k in range(3)}
    picture = chart(numbers | flags)
    places = sorted(
        (float(e.get("y")), float(e.get("height")))
        for e in boxes(picture, "frame") + boxes(picture, "bed")
    )
    assert all(a + high < b for (a, high), (b, _) in itertools.pairwise(places))
    root = parsed(picture)
    below = [float(e.get("y")) for e in root.iter(f"{SVG}text") if e.get("text-anchor") == "middle"]
    assert min(below) > places[-1][0] + places[-1][1]
    assert places[-1][0] + places[-1][1] < float(root.get("height"))


def test_every_key_has_its_panels_and_the_rest_is_counted():
    keys = [f"k{n}" for n in range(9)]
    tables = {"y": table([(1, 1.0), (2, 2.0)] * 9, k=sorted(keys * 2))}
    collected = Collector(("k",))
    collected.add(tables)
    picture = draw_chart(collected, ["y"], TimeAxis(), "run", 9)
    assert texts(picture, "key") == [f"k k{n}" for n in range(KEYS)]
    assert "and 3 more keys" in texts(picture)


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_charts_of_nasty_numbers(values):
    picture = chart({"y": table(list(enumerate(values)))})
    assert re.search(r"nan|inf", picture.lower()) is None
    root = parsed(picture)
    for path in root.iter(f"{SVG}path"):
        if path.get("class").startswith("line s") and "swatch" not in path.get("class"):
            assert all(0 <= x <= 960 and 0 <= y <= 400 for x, y in points(path.get("d")))


@pytest.mark.parametrize(
    "times", [[INT64_LEAST, INT64_MOST], [0], [INT64_MOST], [-1, 0, 1], [INT64_LEAST, 0]]
)
@pytest.mark.parametrize("unit", [None, "s", "ms", "us", "ns"])
def test_charts_of_all_times(times, unit):
    picture = chart({"y": table([(t, 1.0) for t in times])}, clock=TimeAxis(unit))
    assert 1 <= len(texts(picture, "quiet")) < 40
    assert not re.search(r"nan|inf", picture)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"y": table([])},
        {"y": table([(1, None), (2, None)])},
        {"y": table([(1, math.nan)])},
        {"y": table([]), "z": table([(1, True)])},
        {"y": {"t": np.zeros(0, np.int64), "value": np.zeros(0, object)}},
    ],
)
def test_charts_of_nothing(tables):
    parsed(chart(tables))
    parsed(Result(tables).plot())
    parsed(Result(tables)._repr_mimebundle_()["text/html"])
    assert repr(Result(tables)).startswith("<Result: ")


def test_no_text_breaks_a_chart():
    rows = [(1, 1.0), (2, 2.0)]
    for tables in (
        {HOSTILE: table(rows, **{HOSTILE: [HOSTILE, HOSTILE + "b"]})},
        {HOSTILE: table([(1, HOSTILE), (9, "x" * 900)], **{HOSTILE: ["", None]})},
    ):
        picture = chart(tables, (HOSTILE,), title=HOSTILE)
        assert not [e for e in parsed(picture).iter() if e.tag.endswith("script")]
        html = Result(tables, (HOSTILE,))._repr_mimebundle_()["text/html"]
        assert not [e for e in parsed(html).iter() if e.tag.endswith("script")]


def test_a_result_writes_its_chart(tmp_path):
    result = Result({"y": table([(seconds("2024-05-01") + k * DAY, 1.0 * k) for k in range(9)])})
    assert "May 3" in texts(result.plot(tmp_path / "x.svg", title="Mine", unit="s"))
    assert texts((tmp_path / "x.svg").read_text(encoding="utf-8"), "name") == ["Mine"]
    assert result.plot(unit="s", title="Mine") == (tmp_path / "x.svg").read_text(encoding="utf-8")


# ---- the summary of a result


def test_a_result_in_a_terminal():
    tables = {
        "upper": table([(1, 1.5), (2, 2.0), (3, None)], k=["A", "A", "B"]),
        "alert": table([(1, True), (2, False)], k=["A", "B"]),
        "word": table([(5, "on")], k=["C"]),
        "none": table([], k=[]),
    }
    assert repr(Result(tables, ("k",))).splitlines() == [
        "<Result: 4 outputs by k (3 keys), 6 rows, 1 to 5>",
        "output        rows  first  last  min        mean  max",
        "upper   3 (1 null)  1      3     1.5        1.75    2",
        "alert            2  1      2          50.0% true",
        "word             1  5      5",
        "none             0",
    ]


def test_a_result_stays_a_dict():
    result = Result({"y": table([(1, 1.0)])})
    assert dict(result) == {"y": result["y"]}
    assert list(result) == ["y"]


def test_a_result_in_a_notebook_has_charts_and_the_first_rows():
    tables = {
        "y": table([(k, math.sin(k)) for k in range(100)]),
        "alert": table([(k, k % 7 == 0) for k in range(100)]),
        "word": table([(0, "a"), (1, "b"), (2, "a")]),
    }
    bundle = Result(tables)._repr_mimebundle_(include=None)
    root = parsed(bundle["text/html"])
    assert bundle["text/plain"] == repr(Result(tables))
    summary, first = root.findall("table")
    assert len(list(summary.iter(f"{SVG}svg"))) == 2
    assert ["".join(cell.itertext()) for cell in summary.findall("tr")[3]][-1] == "a (2), b (1)"
    rows = [["".join(cell.itertext()).strip() for cell in line] for line in first.findall("tr")]
    assert rows[:3] == [
        ["t", "y", "alert", "word"],
        ["0", "0", "true", "a"],
        ["1", "0.84147", "false", "b"],
    ]
    assert len(rows) == 9


def test_a_keyed_result_has_a_small_chart_for_each_of_the_first_keys():
    keys = [f"k{n:02}" for n in range(11) for _ in range(3)]
    tables = {"y": table([(1, 1.0), (2, 3.0), (3, 2.0)] * 11, k=keys)}
    html = Summary(tables, ("k",), None).html()
    shown = "".join(parsed(html).itertext())
    assert len(list(parsed(html).iter(f"{SVG}svg"))) == 8
    assert "k07" in shown
    assert "k08" not in shown
    assert "and 3 more" in shown


def test_a_million_rows_are_a_small_summary():
    source = np.random.default_rng(1)
    times = np.arange(1_000_000)
    tables = {"y": {"t": times, "value": source.normal(size=1_000_000)}}
    assert len(Result(tables)._repr_mimebundle_()["text/html"]) < 40_000


def test_rows_that_cannot_be_put_beside_one_another_are_left_out():
    result = Result({"t": table([(1, 1.0)])})
    assert len(parsed(result._repr_mimebundle_()["text/html"]).findall("table")) == 1


def test_a_run_knows_its_unit(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(
        {
            "inputs": {"x": "number"},
            "operators": {"y": "x + 1"},
            "outputs": ["y"],
            "io": {"unit": "s"},
        }
    )
    result = graph.run({"t": [seconds("2024-05-01")], "value": [1.0]})
    assert result.unit == "s"
    assert "2024-05-01 to 2024-05-01" in repr(result)


# ---- run --plot

KEYED = """\
inputs: {x: number}
operators: {y: x + 1, high: x > 2}
outputs: [y, high]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(KEYED, encoding="utf-8")
    lines = [f"2024-05-{day:02},{key},{day}" for day in range(1, 10) for key in "ba"]
    (tmp_path / "d.csv").write_text("date,k,x\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_a_run_draws_its_chart(folder):
    assert run(["run", "g.yaml", "d.csv", "--key", "k", "-o", "o.csv", "--plot", "x.svg"]) == 0
    picture = (folder / "x.svg").read_text(encoding="utf-8")
    assert texts(picture, "key") == ["k a", "k b"]
    assert texts(picture, "ink") == ["y", "x (input)"]
    assert {"May 3", "high", "2024-05-01 to 2024-05-09", "g"} <= set(texts(picture))
    assert len((folder / "o.csv").read_text(encoding="utf-8").splitlines()) == 19


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--plot", "x.png"], "--plot x.png: a chart is SVG"),
        (["--plot", "-"], "stdout would get more than one thing"),
    ],
)
def test_mistakes_with_plot_are_told(folder, capfd, arguments, told):
    assert run(["run", "g.yaml", "d.csv", "--key", "k", *arguments]) == 2
    assert told in capfd.readouterr().err
    assert not (folder / "x.png").exists()


def test_no_chart_of_a_run_that_fails(folder):
    (folder / "d.csv").write_text("date,k,x\n2024-05-01,a,1\n2024-05-02,a,oops\n", encoding="utf-8")
    assert run(["run", "g.yaml", "d.csv", "--key", "k", "-o", "o.csv", "--plot", "x.svg"]) == 4
    assert not (folder / "x.svg").exists()


def test_an_input_that_is_an_output_is_drawn_once(folder):
    both = "inputs: {x: number, z: number}\noperators: {y: x + z}\noutputs: [x, y]\n"
    (folder / "g.yaml").write_text(both, encoding="utf-8")
    (folder / "d.csv").write_text("t,x,z\n1,1,2\n2,2,3\n3,3,4\n", encoding="utf-8")
    assert run(["run", "g.yaml", "d.csv", "-o", "o.csv", "--plot", "x.svg"]) == 0
    picture = (folder / "x.svg").read_text(encoding="utf-8")
    assert texts(picture, "ink") == ["x", "y", "z (input)"]


def test_long_names_are_cut_in_the_middle():
    name = "biomasse_mwh_originalaufloesungen_" + "_x" * 20
    rows = {"t": np.array([1, 2]), "value": np.array([1.0, 2.0])}
    picture = chart({name: rows, f"{name}_mean": rows})
    shown = texts(picture, "ink")
    assert all(text.startswith("biomasse_mwh") and len(text) < len(name) for text in shown)
    assert shown[1].endswith("_x_mean")


def test_one_instant_has_one_mark_of_time():
    (instant,) = TimeAxis("us").ticks(noon := 1_700_049_600_000_000, noon, 8)
    assert instant == (noon, "12:00")


# ---- tables that change

TOTALS = """
inputs: {rows: {changes: {id: integer, kind: text?, x: number?}, unique: [id]}}
operators:
  per: {type: GroupBy, in: rows, by: [kind], compute: {n: count(), total: sum(x)}}
  all: {type: GroupBy, in: rows, by: [], compute: {low: min(x)}}
outputs: [rows, per, all]
"""


def list_points(series):
    """The points of a line that no bucket has merged."""
    return list(zip(series.buckets.first_time.tolist(), series.buckets.first.tolist(), strict=True))


def collect_lines(result, parts):
    """The lines of a result that came in so many parts, by name, and their names in the legend."""
    collected, names = Collector(), []
    for name, schema in result.schemas.items():
        lines, table = ChangeLines(name, schema), result[name]
        count = len(table["weight"])
        for place in range(parts):
            part = slice(count * place // parts, count * (place + 1) // parts)
            lines.add({column: cells[part] for column, cells in table.items()}, collected)
        names += lines.names
    return {name: list_points(series) for name, series in collected.series[()].items()}, names


def put(time, weight, number, kind, x):
    return [time, weight, {"id": number, "kind": kind, "x": x}]


def test_lines_of_changes_hold_their_values():
    rows = [put(1, 1, 1, "a", 2), put(5, 1, 2, None, None), put(6, 1, 1, "a", 3)]
    result = rtbot.load(TOTALS).run({"rows": [*rows, put(9, -1, 1, "a", 3)]})
    lines, names = collect_lines(result, 1)
    assert lines == {
        "rows (rows)": [(1, 1), (4, 1), (5, 2), (6, 2), (8, 2), (9, 1)],
        "rows.x 1": [(1, 2), (5, 2), (6, 3), (8, 3)],
        "rows.x 2": [],
        "per (rows)": [(1, 1), (4, 1), (5, 2), (6, 2), (8, 2), (9, 1)],
        "per.n a": [(1, 1), (5, 1), (6, 1), (8, 1)],
        "per.total a": [(1, 2), (5, 2), (6, 3), (8, 3)],
        "per.n null": [(5, 1)],
        "per.total null": [],
        "all.low": [(1, 2), (5, 2), (6, 3), (8, 3)],
    }
    assert names == list(lines)
    assert "per.total a" in result.plot()


def test_lines_of_changes_go_on_to_the_end_of_the_data(call):
    graph = TOTALS.replace("outputs: [rows, per, all]", "outputs: [all]")
    rows = "t,id,kind,x\n1,1,a,2\n3,2,a,4\n9,3,a,4\n"
    run = ("run", "g.yaml", "--in", "rows=r.csv", "-q", "--plot", "c.svg")
    assert call(*run, g__yaml=graph, r__csv=rows)[0] == 0
    assert ">9<" in Path("c.svg").read_text()


def test_a_line_is_extended_and_has_no_value_where_its_row_is_gone():
    rows = [put(1, 1, 1, "a", 2), put(2, 1, 2, "a", 4), put(3, -1, 2, "a", 4), put(9, 1, 1, "b", 2)]
    result = rtbot.load(TOTALS).run({"rows": rows})
    collected, lines = Collector(), ChangeLines("rows", result.schemas["rows"])
    lines.add(result["rows"], collected)
    lines.extend(20, collected)
    found = {name: list_points(series) for name, series in collected.series[()].items()}
    assert [points[-1] for points in found.values()] == [(20, 1), (20, 2), (2, 4)]
    assert collected.find_end() == 20
    assert Collector().find_end() is None


def test_rows_of_many_keys_are_counted():
    result = rtbot.load(TOTALS).run({"rows": [put(t, 1, t, f"k{t}", t) for t in range(9)]})
    for parts in (1, 3, 9):
        lines, names = collect_lines(result, parts)
        assert names == [*lines] == ["rows (rows)", "per (rows)", "all.low"]
        assert lines["rows (rows)"] == [(t, t + 1) for t in range(9)]


def test_a_notebook_shows_results_of_changes():
    rows = [put(1, 1, 1, "<a>", 2), put(3, 1, 2, "b", 4)]
    result = rtbot.load(TOTALS).run({"rows": rows})
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == repr(result)
    assert re.search(r"per +2 +1 +3 +1 +1\.5 +2", repr(result))
    assert shown["text/html"].count("<svg") == 3
    for frame in (result.to_arrow("per").to_pandas(), result.to_pandas("per")):
        assert list(frame.columns) == ["t", "weight", "kind", "n", "total"]
        assert frame["kind"].tolist() == ["<a>", "b"]


# ---- streams that repeat

BEST = """
inputs: {points: number, player: text}
operators: {best: {type: TopK, in: [points, player], k: 3}}
outputs: {points: best.o1, player: best.o2, input: points}
"""


def test_a_chart_of_the_best_has_a_line_for_each_rank(monkeypatch, tmp_path):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    times = list(range(1, 7))
    rows = {
        "points": {"t": times, "value": [5.0, 7.0, 6.0, 1.0, 9.0, 8.0]},
        "player": {"t": times, "value": list("abcabc")},
    }
    picture = rtbot.load(BEST).run(rows).plot(tmp_path / "best.svg")
    drawn = [
        path for path in parsed(picture).iter(f"{SVG}path") if "swatch" not in path.get("class")
    ]
    assert [path.get("class") for path in drawn] == ["line s0"] * 3 + ["line s2"]
    for path in drawn:  # what is best goes up only: each line is one of a rank
        heights = [float(at.split()[1]) for at in re.findall(r"[\d.]+ [\d.]+", path.get("d"))]
        assert path.get("class") == "line s2" or heights == sorted(heights, reverse=True)
    shown = [text.text for text in parsed(picture).iter(f"{SVG}text")]
    assert [name for name in filter(None, shown) if name.startswith("player")] == [
        "player", "player 2", "player 3"
    ]  # fmt: skip
