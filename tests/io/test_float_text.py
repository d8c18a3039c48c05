"""Rows as lines of CSV: compiled loops against Python's repr and Arrow, byte by byte.

FLOAT_TEXTS=10000000 in the environment makes of the random floats as many.
"""

import io
import math
import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rtbot.core.errors import DataError
from rtbot.core.times import TimeStyle
from rtbot.io.sinks import csv_writer
from rtbot.io.sinks.csv_writer import CsvEncoder
from rtbot.io.sinks.writers import CsvWriter, TimeFormat

COUNT = int(os.environ.get("FLOAT_TEXTS", "200000"))
BATCH = 1_000_000
ALWAYS, NEVER = 0, 1 << 60
"""From how many rows on the loops write."""


def written(table, few_rows, clock=None):
    return b"".join(map(bytes, CsvEncoder(clock or TimeFormat(), few_rows).encode(table)))


def texts(floats):
    array = pa.array(np.asarray(floats, np.float64), from_pandas=False)
    return written(pa.table({"x": array}), ALWAYS).decode().splitlines()


def digits(text):
    """The digits that count, and the power of ten of the last; sign and form left out."""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    together = (whole + fraction).lstrip("0")
    stripped = together.rstrip("0")
    return stripped, int(exponent or 0) - len(fraction) + len(together) - len(stripped)


def assert_right(floats):
    """Same digits as repr (the shortest, nearest ones), same text as Arrow, same bits read back."""
    floats = np.asarray(floats, np.float64)
    found = texts(floats)
    assert found == pc.cast(pa.array(floats), pa.string()).to_pylist()
    back = np.array(list(map(float, found)))
    assert back.tobytes() == floats.tobytes()
    assert list(map(digits, found)) == list(map(digits, map(repr, floats.tolist())))


def with_neighbours(floats):
    floats = np.asarray(floats, np.float64)
    down, up = np.nextafter(floats, -math.inf), np.nextafter(floats, math.inf)
    found = np.concatenate([down, floats, up])
    found = found[np.isfinite(found) & (found != 0)]
    return np.concatenate([found, -found])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (0.1, "0.1"),
        (100.5, "100.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e9, "1000000000"),
        (9999999999.5, "9999999999.5"),
        (1e10, "1e+10"),
        (12345678901.25, "1.234567890125e+10"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (1e22, "1e+22"),
        (1e23, "1e+23"),
        (2.0**-44, "5.684341886080802e-14"),
        (9007199254740993.0, "9.007199254740992e+15"),
        (5e-324, "5e-324"),
        (1e-323, "1e-323"),
        (1.5e-323, "1.5e-323"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (2.225073858507201e-308, "2.225073858507201e-308"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (-math.nan, "nan"),
    ],
)
def test_a_float_has_one_text(number, text):
    assert texts([number]) == [text]


def test_powers_of_two_and_their_neighbours():
    assert_right(with_neighbours([math.ldexp(1.0, power) for power in range(-1074, 1024)]))


def test_powers_of_ten_and_their_neighbours():
    assert_right(with_neighbours([float(f"1e{power}") for power in range(-323, 309)]))


def test_integers_where_floats_stop_telling_them_apart():
    exact = [2**power + more for power in range(64) for more in range(-20, 21)]
    assert_right(np.array([number for number in exact if number > 0], np.float64))


def batches(make):
    """Random floats in batches; the seed is that of the batch."""
    for start in range(0, COUNT, BATCH):
        yield make(np.random.default_rng(start), min(BATCH, COUNT - start))


def of_all_bits(generator, count):
    floats = generator.integers(-(2**63), 2**63, count).view(np.float64)
    return floats[np.isfinite(floats)]


def below_normal(generator, count):
    return generator.integers(1, 2**52, count).view(np.float64)


def with_few_digits(generator, count):
    scale = 10.0 ** generator.integers(0, 12, count)
    return generator.integers(1, 10 ** generator.integers(1, 16, count)) / scale


def like_prices(generator, count):
    return 100 + np.cumsum(generator.normal(0, 0.01, count))


@pytest.mark.parametrize("make", [of_all_bits, below_normal, with_few_digits, like_prices])
def test_random_floats(make):
    for floats in batches(make):
        assert_right(floats)


def test_nan_of_any_bits_is_nan():
    bits = np.array([0x7FF0000000000001, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF], np.int64)
    assert texts(np.concatenate([bits, bits | -(2**63)]).view(np.float64)) == ["nan"] * 6


# ---- integers, truth values, text, nulls


def test_integers_of_every_length():
    sizes = [10**power + more for power in range(19) for more in (-1, 0, 1)]
    integers = [0, *sizes, *(-size for size in sizes), 2**63 - 1, -(2**63), -(2**63) + 1]
    table = pa.table({"n": pa.array(integers, pa.int64())})
    assert written(table, ALWAYS).decode().split() == list(map(str, integers))


def test_all_kinds_of_columns_with_nulls():
    table = pa.table(
        {
            "t": pa.array([1, 2, -3]),
            "x": pa.array([1.5, None, math.nan]),
            "n": pa.array([None, 7, 2**63 - 1]),
            "b": pa.array([True, False, None]),
            "s": pa.array(["a", None, ""]),
            "q": pa.array(['say "no"', "a,b\nc", "plain äöü"]),
        }
    )
    expected = (
        '1,1.5,,true,a,"say ""no"""\n'
        '2,,7,false,,"a,b\nc"\n'
        '-3,nan,9223372036854775807,,"",plain äöü\n'
    )
    assert written(table, ALWAYS).decode() == expected
    assert written(table, NEVER).decode() == expected


def test_columns_of_nothing_but_nulls_and_tables_without_rows():
    table = pa.table({"t": pa.array([1, 2]), "s": pa.nulls(2, pa.string())})
    assert written(table, ALWAYS) == written(table, NEVER) == b"1,\n2,\n"
    assert written(table.slice(0, 0), ALWAYS) == written(table.slice(0, 0), NEVER) == b""


def test_texts_longer_than_any_number():
    long = pa.array(["x" * 100_000, "y", "z" * 50_000])
    table = pa.table({"t": pa.array([1, 2, 3]), "s": long, "r": long})
    assert written(table, ALWAYS) == written(table, NEVER)


def mixed(rows):
    generator = np.random.default_rng(rows)
    numbers = generator.normal(0, 1, rows)
    words = np.array(["A", "B,C", "", 'd"', "ok"], object)[generator.integers(0, 5, rows)]
    some = generator.random(rows) < 0.1
    return pa.table(
        {
            "t": pa.array(np.arange(rows)),
            "x": pa.array(numbers, mask=some),
            "n": pa.array(generator.integers(-(2**62), 2**62, rows)),
            "b": pa.array(numbers > 0, mask=some),
            "s": pa.array(words, pa.string(), mask=some),
        }
    )


@pytest.mark.parametrize("cuts", [[], [1], [9_999, 10_000], [20_000]])
def test_the_bytes_depend_neither_on_the_way_nor_on_the_cuts(cuts, monkeypatch):
    monkeypatch.setattr(csv_writer, "SLICE_ROWS", 1_000)
    table = mixed(30_000)
    ends = [*cuts, table.num_rows]
    parts = [table.slice(a, b - a) for a, b in zip([0, *cuts], ends, strict=True)]
    for few_rows in (ALWAYS, 10_000, NEVER):
        some = CsvEncoder(TimeFormat(), few_rows)
        assert b"".join(bytes(text) for part in parts for text in some.encode(part)) == written(
            table, NEVER
        )


def test_a_file_changes_over_to_the_loops_without_a_seam(monkeypatch):
    used = []
    loops = csv_writer.load_csv_loops
    monkeypatch.setattr(csv_writer, "load_csv_loops", lambda: used.append(1) or loops())
    table = mixed(csv_writer.FEW_ROWS)
    stream = io.BytesIO()
    writer = CsvWriter(stream, TimeFormat())
    writer.write(table)
    assert not used
    writer.write(table.slice(0, 10))
    writer.close()
    assert used
    assert stream.getvalue() == b"t,x,n,b,s\n" + written(table, NEVER) + written(
        table.slice(0, 10), NEVER
    )


# ---- times

DAYS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
STYLES = [
    TimeStyle("", 0),
    TimeStyle("T", 1),
    TimeStyle(" ", 2),
    TimeStyle("T", 2, 0, "Z"),
    TimeStyle("T", 3),
    TimeStyle(" ", 3, 0, "+02:00"),
    TimeStyle("T", 3, 1, "Z"),
    TimeStyle("T", 3, 3, "-0930"),
    TimeStyle("T", 3, 6),
    TimeStyle("T", 3, 9, "+14"),
    TimeStyle("T", 3, 12),
    TimeStyle(" ", 3, 0, zone="America/New_York"),
    TimeStyle("", 0, zone="Europe/Madrid"),
    TimeStyle("", 0, epoch="s"),
    TimeStyle("", 0, 2, epoch="ms"),
    TimeStyle("", 0, epoch="us"),
]


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("unit", DAYS)
def test_times_are_written_as_arrow_writes_them(unit, style):
    day, generator = DAYS[unit], np.random.default_rng(len(unit))
    first, last = max(-719_000 * day, -(2**62)), min(2_932_000 * day, 2**62)
    counts = [generator.integers(first, last, 2_000)]
    counts += [counts[0] // step * step for step in (day, day // 24, day // 1440, day // 86_400)]
    counts += [np.arange(-800, 800) * day // 86_400, np.array([0, -1, 1, day - 1, day, -day])]
    table = pa.table({"t": pa.array(np.concatenate(counts)), "x": pa.nulls(11_606, pa.float64())})
    clock = TimeFormat(unit, style)
    assert written(table, ALWAYS, clock) == written(table, NEVER, clock)


def test_every_day_of_a_cycle_of_the_calendar():
    table = pa.table({"t": pa.array(np.arange(-719_528, -719_528 + 146_097 + 366) * 86_400)})
    clock = TimeFormat("s", TimeStyle("", 0))
    found = written(table, ALWAYS, clock)
    assert found == written(table, NEVER, clock)
    assert found.startswith(b"0000-01-01\n0000-01-02\n")


@pytest.mark.parametrize("few_rows", [ALWAYS, NEVER])
def test_a_time_beyond_the_calendar_cannot_be_written(few_rows):
    table = pa.table({"t": pa.array([0, 2**62])})
    with pytest.raises(DataError, match="0 to 9999"):
        written(table, few_rows, TimeFormat("s", TimeStyle()))
