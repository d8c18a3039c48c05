"""Files of tables: written bytes depend on the rows alone, and no more is read than is needed."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtbot.core.arrow import from_list, from_numpy
from rtbot.core.times import TimeStyle
from rtbot.io.sinks import writers
from rtbot.io.sinks.writers import BackgroundWriter, TimeFormat, open_writer
from rtbot.io.sources.columnar import ColumnarSource
from rtbot.tables.wide import build_wide

ROOT = Path(__file__).parents[2]
GROUP_ROWS = 1_000


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch):
    monkeypatch.setattr(writers, "GROUP_ROWS", GROUP_ROWS)


def table(rows):
    generator = np.random.default_rng(rows)
    some = generator.random(rows) < 0.1
    return pa.table(
        {
            "t": pa.array(np.arange(rows) * 60),
            "k": pa.array([f"K{number}" for number in generator.integers(0, 9, rows)], pa.string()),
            "x": pa.array(generator.normal(0, 1, rows), mask=some),
            "n": pa.array(generator.integers(-9, 9, rows)),
            "b": pa.array(some),
        }
    )


def written(form, parts, clock=None):
    stream = io.BytesIO()
    writer = BackgroundWriter(open_writer(stream, "", form, clock or TimeFormat()))
    for part in parts:
        writer.write(part)
    writer.close()
    writer.stop()
    return stream.getvalue()


def cut(whole, places):
    ends = [*places, whole.num_rows]
    return [whole.slice(a, b - a) for a, b in zip([0, *places], ends, strict=True)]


# ---- Parquet

CUTS = [[], [1], [999, 1000, 1001], [0, 0, 2499], list(range(100, 2500, 100))]


@pytest.mark.parametrize("places", CUTS, ids=str)
def test_parquet_holds_the_rows_in_groups_of_equal_size(places):
    whole = table(2_500)
    data = written("parquet", cut(whole, places))
    file = pq.ParquetFile(io.BytesIO(data))
    sizes = [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)]
    assert sizes == [1_000, 1_000, 500]
    assert file.read().equals(whole)
    assert data == written("parquet", [whole])


def test_only_text_has_a_dictionary_in_parquet():
    file = pq.ParquetFile(io.BytesIO(written("parquet", [table(2_000)])))
    group = file.metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    assert [column.has_dictionary_page for column in columns] == [False, True, False, False, False]
    assert "DELTA_BINARY_PACKED" in columns[0].encodings
    assert all(column.statistics is not None for column in columns)


def test_parquet_without_rows_has_the_schema():
    nothing = table(10).slice(0, 0)
    assert pq.read_table(io.BytesIO(written("parquet", [nothing]))).equals(nothing)


@pytest.mark.parametrize("offset", ["", "Z"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_parquet_has_timestamps_where_times_were_no_integers(unit, offset):
    found = pq.read_table(
        io.BytesIO(written("parquet", [table(1_500)], TimeFormat(unit, TimeStyle(offset=offset))))
    )
    assert found.schema.field("t").type == pa.timestamp(unit, "UTC" if offset else None)
    assert found.column("t").cast(pa.int64()).to_pylist() == list(range(0, 90_000, 60))


@pytest.mark.parametrize("places", CUTS, ids=str)
def test_arrow_files_hold_the_rows(places):
    whole = table(2_500)
    assert pa.ipc.open_file(written("arrow", cut(whole, places))).read_all().equals(whole)


class Watched(io.BytesIO):
    """A stream that keeps the sizes of what was read."""

    def __init__(self, data):
        super().__init__(data)
        self.sizes = []

    def read(self, size=-1):
        data = super().read(size)
        self.sizes.append(len(data))
        return data


@pytest.mark.parametrize("group_rows", [20_000, 2_000_000])
def test_parquet_is_read_as_it_is_used(group_rows):
    rows = 2_000_000
    numbers = np.random.default_rng(1).normal(0, 1, rows)
    whole = pa.table({"t": pa.array(np.arange(rows)), "x": pa.array(numbers)})
    data = io.BytesIO()
    pq.write_table(whole, data, row_group_size=group_rows, use_dictionary=False)
    stream = Watched(data.getvalue())
    file = ColumnarSource(stream, "f.parquet", "parquet")
    count, read = 0, []
    for block in file.read_blocks({"t": "integer", "x": "number"}):
        count += block.count
        read.append(sum(stream.sizes))
    assert count == rows
    assert max(stream.sizes) <= 2 << 20
    assert read[len(read) // 4] < len(data.getvalue()) / 2


# ---- Arrow arrays made without pyarrow's own road


@pytest.mark.parametrize(
    ("values", "valid", "expected"),
    [
        (np.array([1.5, np.nan]), None, pa.array([1.5, np.nan])),
        (np.array([1.5, 2.5]), np.array([False, True]), pa.array([None, 2.5])),
        (np.array([1, 2, 3])[::2], None, pa.array([1, 3])),
        (np.array([True] * 9 + [False]), None, pa.array([True] * 9 + [False])),
        (np.array([True, False]), np.array([True, False]), pa.array([True, None])),
        (np.array([], np.float64), None, pa.array([], pa.float64())),
        (np.array([], np.bool_), np.array([], np.bool_), pa.array([], pa.bool_())),
    ],
)
def test_numpy_to_arrow(values, valid, expected):
    found = from_numpy(values, valid)
    found.validate(full=True)
    # nan is no equal of itself
    assert str(found) == str(expected)
    assert (found.type, found.null_count) == (expected.type, expected.null_count)


@pytest.mark.parametrize(
    "values", [["a", "", None, "äö"], [], [None], [3, None, -(2**63)], [2**63 - 1]], ids=str
)
def test_lists_to_arrow(values):
    found = from_list(values)
    found.validate(full=True)
    assert found.to_pylist() == values
    assert found.type == (pa.int64() if any(isinstance(v, int) for v in values) else pa.string())


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["B", "B", "A", None, "A"], [("A", 3), ("A", 5), ("B", 1), ("B", 2), (None, 4)]),
        (["é", "z", "é", "z", ""], [("", 5), ("z", 2), ("z", 4), ("é", 1), ("é", 3)]),
        ([None] * 3, [(None, 1), (None, 2), (None, 3)]),
        ([10, 9, None, 9], [(9, 2), (9, 4), (10, 1), (None, 3)]),
    ],
    ids=str,
)
def test_keys_sort_by_value_with_null_last(keys, expected):
    keys = np.array([*keys, None], object)[:-1]
    rows = {"k": keys, "t": np.arange(1, len(keys) + 1), "value": np.ones(len(keys))}
    found = build_wide({"x": rows}, ["k"])
    pairs = zip(found.column("k").to_pylist(), found.column("t").to_pylist(), strict=True)
    assert list(pairs) == expected


# ---- what a run does not need

IMPORTS = """
import sys
from rtbot.cli.main import run
assert run(["run", "graphs/bollinger.yaml", sys.argv[1], "-p", "window=2", "-o", sys.argv[2]]) == 0
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_run_does_not_import_pandas(suffix, tmp_path):
    source = tmp_path / f"in.{suffix}"
    if suffix == "csv":
        source.write_text("t,symbol,price\n1,A,1\n2,A,2.5\n")
    else:
        rows = {"t": [1, 2], "symbol": ["A", "A"], "price": [1.0, 2.5]}
        pq.write_table(pa.table(rows), source)
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(source), str(tmp_path / f"out.{suffix}")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"RTBOT_INTERPRET": "1", "PATH": "/usr/bin:/bin"},
    )
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr
