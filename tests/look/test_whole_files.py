"""What is found anywhere in a file: tokens, lateness, numbers for absent values, steps."""

import gzip
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from rtbot.look.file_report import format_report
from rtbot.look.look_at_file import look_at_file
from rtbot.look.series_facts import collect_rows, measure_series
from rtbot.look.starter_graph import choose_inputs
from tests.look.test_layout import look


def write_rows(count):
    start = datetime(2024, 1, 31, tzinfo=UTC)
    rows = [
        f"{(start + timedelta(seconds=row)):%Y-%m-%dT%H:%M:%S}Z,{'a' * 180},{row % 7}"
        for row in range(count)
    ]
    late, token = count - 1000, count - 500
    rows[late] = f"{(start + timedelta(seconds=late - 600)):%Y-%m-%dT%H:%M:%S}Z,,1"
    rows[token] = rows[token][:-1] + "nil"
    return "\n".join(["time,note,x", *rows, ""]).encode()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_late_rows_and_tokens_are_found_behind_the_first_megabyte(tmp_path, suffix):
    data = write_rows(6_000)
    path = tmp_path / f"x.csv{suffix}"
    path.write_bytes(gzip.compress(data) if suffix else data)
    facts = look_at_file(str(path), tried=True)
    assert (facts.whole, facts.rows, facts.rows_total) == (True, 6_000, 6_000)
    assert (facts.io.lateness, facts.io.unit, facts.reading.null) == (599, "s", ("nil",))
    assert (facts.trial.rows, facts.trial.problems) == (6_000, {})
    assert (facts.size, facts.looked) == (path.stat().st_size,) * 2
    assert facts.unpacked == (len(data) if suffix else None)


def test_of_a_large_compressed_file_the_counts_are_of_the_file(tmp_path):
    path = tmp_path / "x.csv.gz"
    draw = random.Random(1)
    data = "t,x\n" + "".join(f"{row},{draw.random()}\n" for row in range(30_000))
    path.write_bytes(gzip.compress(data.encode()))
    facts = look_at_file(str(path), limit=1 << 18, tried=True)
    assert not facts.whole
    assert facts.looked < facts.size
    assert abs(facts.rows_total - 30_000) < 3_000
    assert facts.trial.rows >= facts.rows
    first = next(format_report(facts, str))
    assert f"{facts.looked:,} were looked at, {facts.unpacked:,} bytes when unpacked" in first
    assert facts.unpacked <= 1 << 18
    path.write_bytes(path.read_bytes()[:-40])
    assert look_at_file(str(path), tried=True).trial.problems


def test_a_number_far_from_all_others_is_proposed_where_no_column_can_have_it():
    rows = ["2024-01-01,1.5,20", "2024-01-02,-999,21", "2024-01-03,2.5,-999", "2024-01-04,1,25"]
    facts = look("date,a,b\n" + "\n".join(rows) + "\n")
    assert facts.reading.null == ("-999",)
    assert [(c.least, c.greatest) for c in facts.columns[1:]] == [(1.0, 2.5), (20.0, 25.0)]
    assert facts.first_rows[1] == ["2024-01-02", "", "21"]
    assert "a, b: -999 (2) is far from all other numbers" in facts.doubts[0]


@pytest.mark.parametrize(
    ("other", "safe"),
    [
        (["-2000", "0", "1000", "5"], False),
        (["-999", "-998", "-997", "-999"], False),
        (["-2000.5", "0.5", "1000.5", "5.5"], True),
        (["990", "1010", "1000", "1005"], True),
    ],
)
def test_a_number_that_another_column_can_have_is_not_proposed(other, safe):
    first = ["1", "2", "-999", "3"]
    lines = [f"2024-01-0{n + 1},{a},{b}" for n, (a, b) in enumerate(zip(first, other, strict=True))]
    facts = look("date,a,b\n" + "\n".join(lines) + "\n")
    assert facts.reading.null == (("-999",) if safe else ())
    assert ("but b has such values" in "".join(facts.doubts)) != safe


def test_a_small_number_that_is_there_once_is_said_alone():
    facts = look("date,a\n2024-01-01,1\n2024-01-02,2\n2024-01-03,99\n2024-01-04,3\n")
    assert facts.reading.null == ()
    assert 'add it to `null`: ["99"]' in facts.doubts[0]


def test_a_negative_number_is_absent_in_all_columns_that_are_not_negative():
    rows = [("10", "1000"), ("-200", "1500"), ("11", "-200"), ("12", "2000"), ("13", "1000")]
    text = "".join(f"2024-01-0{n},{a},{b}\n" for n, (a, b) in enumerate(rows, 1))
    facts = look("date,a,b\n" + text)
    assert (facts.reading.null, facts.columns[2].least) == (("-200",), 1000.0)


def test_the_usual_step_is_the_most_frequent_one():
    times = [0, 3, 6, 9, 14, 20, 27, 35, 44, 54, 60]
    facts = look("t,x\n" + "".join(f"{time},1\n" for time in times))
    lines = list(format_report(facts, str))
    assert any("step 3 (30% of all, the median is 6)" in line for line in lines)
    assert facts.to_json()["time"]["median_step"] == "6"


def measure_slowly(segments, series):
    """Measure rows one by one."""
    last, seen, late, lateness, again = {}, set(), 0, 0, 0
    steps = []
    for segment, numbers in zip(segments, series, strict=True):
        times = {}
        for time, number in zip(segment, numbers, strict=True):
            behind = max(last.get(number, time) - time, 0)
            late += behind > 0
            lateness = max(lateness, behind)
            last[number] = max(last.get(number, time), time)
            again += (number, time) in seen
            seen.add((number, time))
            times.setdefault(number, set()).add(time)
        steps += [b - a for one in times.values() for a, b in pairwise(sorted(one))]
    count = max(map(steps.count, steps), default=0)
    step = min((one for one in steps if steps.count(one) == count), default=None)
    median = sorted(steps)[(len(steps) - 1) // 2] if steps else None
    return late, lateness, again, step, median, max(steps, default=0)


def test_times_are_measured_like_one_by_one():
    draw = random.Random(3)
    for _ in range(200):
        spread = draw.choice([3, 50, 2**63 - 1])
        sizes = [draw.randint(0, 12) for _ in range(draw.randint(1, 3))]
        segments = [[draw.randint(-spread, spread) for _ in range(size)] for size in sizes]
        series = [[draw.randint(0, 2) for _ in segment] for segment in segments]
        rows = collect_rows(segments)
        rows.series[:] = np.array([number for part in series for number in part], np.int64)
        facts = measure_series(rows)
        slow = measure_slowly(segments, series)
        found = (facts.late, facts.lateness, facts.duplicates, facts.step, facts.median)
        assert found == slow[:5]
        assert facts.gap in (0, slow[5])


@pytest.mark.parametrize(
    "head",
    [
        "geo\\TIME_PERIOD;2011 ;2012 ;2013 ",
        "Province;Lat;1/22/20;1/23/20;1/24/20",
        "a;b;1960;1961;1962;",
    ],
)
def test_a_header_of_times_is_a_header(head):
    width = head.count(";") + 1
    rows = [
        ";".join(["AL", *[str(10 * row + place) for place in range(width - 1)]]) for row in (1, 2)
    ]
    facts = look("\n".join([head, *rows, ""]))
    assert (facts.header, facts.columns[0].name) == (1, head.split(";")[0])
    assert (facts.time, facts.rows) == (None, 2)
    assert facts.obstacles[0].startswith("columns are times, ")


def test_numbers_that_name_things_are_not_averaged():
    rows = "".join(f"2024-01-31T00:00:{n:02},{7000 + n},5,{n % 4},1.5\n" for n in range(20))
    facts = look("time,order_no,station,level,same\n" + rows)
    assert [one.name for one in choose_inputs(facts)] == ["level"]
    rows = "".join(f"2024-01-31T00:00:{n:02},{n},{n * n}\n" for n in range(20))
    assert [one.name for one in choose_inputs(look("time,a,b\n" + rows))] == ["b"]


def test_letters_are_written_with_ascii_in_names():
    facts = look("date;Größe (m²);Ångström;Łódź\n2024-01-01;1;2;3\n2024-01-02;2;3;4\n")
    assert [one.name for one in choose_inputs(facts)] == ["groesse_m2", "angstroem", "lodz"]
