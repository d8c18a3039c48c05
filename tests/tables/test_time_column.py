"""Frames that come out have the column of times that went in: its name and its type."""

import datetime as dt
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rtbot
import rtbot.operators
from rtbot.tables.time_column import TimeColumn, build_time_column, describe_times

SAME = {
    "inputs": {"x": "number"},
    "operators": {"o": {"type": "Identity", "in": "x"}},
    "outputs": ["o"],
}
HALF = SAME | {"operators": {"o": {"type": "TimeShift", "in": "x", "shift": 500_000}}}
TEXTS = ["2024-03-31T00:30:00", "2024-03-31T01:30:00", "2024-10-27T03:00:00"]
STAMPS = pd.to_datetime(TEXTS)
UTC = STAMPS.tz_localize("UTC")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def run(times, graph=SAME, **options):
    return rtbot.load(graph).run({"x": {"ts": times, "value": [1.0, 2.0, 3.0]}}, **options)


TYPES = {
    "datetime64[s]": (np.array(TEXTS, "M8[s]"), pa.timestamp("s")),
    "datetime64[ms]": (np.array(TEXTS, "M8[ms]"), pa.timestamp("ms")),
    "datetime64[10ms]": (np.array(TEXTS, "M8[10ms]"), pa.timestamp("ms")),
    "datetime64[m]": (np.array(TEXTS, "M8[m]"), pa.timestamp("s")),
    "pandas": (pd.Series(STAMPS), pa.timestamp("ns")),
    "pandas with a zone": (pd.Series(UTC.tz_convert("Europe/Madrid")), "ns, tz=Europe/Madrid"),
    "pandas with an offset": (pd.Series(UTC.tz_convert("+05:30")), "ns, tz=+05:30"),
    "polars": (pl.Series(TEXTS).str.to_datetime(time_unit="ms"), pa.timestamp("ms")),
    "polars with a zone": (
        pl.Series(TEXTS).str.to_datetime(time_zone="Asia/Tokyo"),
        "us, tz=Asia/Tokyo",
    ),
    "Arrow": (pa.array(STAMPS, pa.timestamp("s")), pa.timestamp("s")),
    "Arrow dictionary": (
        pa.array(STAMPS, pa.timestamp("us")).dictionary_encode(),
        pa.timestamp("us"),
    ),
    "dates of Arrow": (pa.array([1, 2, 3], pa.date32()), pa.date32()),
    "long dates of Arrow": (pa.array([1, 2, 3], pa.date32()).cast(pa.date64()), pa.date64()),
    "datetimes": (list(STAMPS.to_pydatetime()), pa.timestamp("us")),
    "datetimes with a zone": (list(UTC.to_pydatetime()), "us, tz=UTC"),
    "dates": ([dt.date(2024, 1, day) for day in (1, 2, 3)], pa.date32()),
    "texts": (TEXTS, pa.string()),
    "texts of Arrow": (pa.array(TEXTS), pa.string()),
    "categories": (pd.Series(TEXTS, dtype="category"), pa.string()),
    "integers": ([1, 2, 3], pa.int64()),
    "short integers": (np.array([1, 2, 3], np.int16), pa.int64()),
    "short integers of Arrow": (pa.array([1, 2, 3], pa.int8()), pa.int64()),
}


@pytest.mark.parametrize(("times", "kind"), TYPES.values(), ids=TYPES)
def test_times_come_out_with_the_type_and_the_name_that_went_in(times, kind):
    result = run(times)
    table = result.to_arrow()
    assert table.column_names == ["ts", "o"]
    told = f"timestamp[{kind}]" if isinstance(kind, str) else str(kind)
    assert str(table.schema.field("ts").type) == told
    assert result["o"]["t"].dtype == np.int64
    again = rtbot.load(SAME).run({"x": table.rename_columns(["ts", "value"])})
    assert again["o"]["t"].tolist() == result["o"]["t"].tolist()


FRAMES = {
    "naive": pd.DataFrame({"ts": STAMPS, "x": [1.0, 2.0, 3.0]}),
    "zone": pd.DataFrame({"ts": UTC.tz_convert("Europe/Madrid"), "x": [1.0, 2.0, 3.0]}),
    "texts": pd.DataFrame({"ts": TEXTS, "x": [1.0, 2.0, 3.0]}),
    "integers": pd.DataFrame({"ts": [1, 2, 3], "x": [1.0, 2.0, 3.0]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_comes_back_as_it_went_in(frame):
    result = rtbot.load(SAME | {"outputs": {"x": "o"}}).run(frame)
    pd.testing.assert_frame_equal(result.to_pandas(), frame)
    assert result.to_polars().equals(pl.from_pandas(frame))


@pytest.mark.parametrize(("name", "column"), [("when", "when"), (None, "t")])
def test_an_index_of_times_gives_its_name(name, column):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=pd.DatetimeIndex(STAMPS, name=name))
    found = rtbot.load(SAME).run(frame).to_pandas()
    assert list(found) == [column, "o"]
    assert found[column].tolist() == list(STAMPS)


FINER = {
    "seconds": (np.array(TEXTS, "M8[s]"), pa.timestamp("us")),
    "seconds with a zone": (pa.array(UTC, pa.timestamp("s", "UTC")), "us, tz=UTC"),
    "dates": (pa.array([1, 2, 3], pa.date32()), pa.timestamp("us")),
    "texts": (TEXTS, pa.string()),
}


@pytest.mark.parametrize(("times", "kind"), FINER.values(), ids=FINER)
def test_times_that_the_type_cannot_hold_are_timestamps_in_the_unit(times, kind):
    result = run(times, HALF)
    column = result.to_arrow().column("ts")
    told = f"timestamp[{kind}]" if isinstance(kind, str) else str(kind)
    assert str(column.type) == told
    again = rtbot.load(SAME).run({"x": {"t": column, "value": [1, 2, 3]}})
    assert again["o"]["t"].tolist() == result["o"]["t"].tolist()


def test_random_times_are_exact_in_every_type():
    rng = random.Random(12)
    for _ in range(300):
        unit, own = rng.choice(["s", "ms", "us", "ns"]), rng.choice(["s", "ms", "us", "ns"])
        size = rng.choice([10, 10**6, 10**12, 2**62])
        counts = np.array(sorted({rng.randrange(-size, size) for _ in range(4)}))
        kind = pa.timestamp(own, rng.choice([None, "UTC", "America/New_York"]))
        column = build_time_column(counts, TimeColumn("t", kind), unit)
        found = int(10 ** {"s": 0, "ms": 3, "us": 6, "ns": 9}[column.type.unit])
        scale = int(10 ** {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit])
        values = column.cast(pa.int64()).to_pylist()
        assert [v * scale for v in values] == [int(c) * found for c in counts]
        assert column.type.tz == kind.tz
        assert column.type in (kind, pa.timestamp(unit, kind.tz))


def test_an_empty_table_has_the_type_of_its_times():
    table = pa.table({"ts": pa.array([], pa.timestamp("s", "UTC")), "x": pa.array([], "float64")})
    found = rtbot.load(SAME).run(table).to_arrow()
    assert found.schema.field("ts").type == pa.timestamp("s", "UTC")
    assert rtbot.load(SAME).run({"x": []}).to_arrow().schema.field("t").type == pa.int64()


def test_a_name_that_an_output_or_a_key_has_is_not_taken_twice():
    graph = SAME | {"outputs": {"ts": "o"}}
    assert run(STAMPS, graph).to_arrow().column_names == ["t", "ts"]
    assert run(STAMPS, graph).to_arrow().schema.field("t").type == pa.timestamp("ns")
    keyed = rtbot.load(SAME).run({"x": {"ts": ["2024-01-01"], "value": [1.0]}}, key="ts", time="ts")
    assert keyed.to_arrow().column_names == ["t", "ts", "o"]


@pytest.mark.parametrize("name", ["t", "value"])
def test_a_key_is_not_named_as_what_results_have(name):
    with pytest.raises(rtbot.DataError, match=f"a key column is named {name!r}") as caught:
        rtbot.load(SAME).start(["k", name])
    assert caught.value.code == "RT215"


TWO = {"inputs": {"a": "number", "b": "number"}, "outputs": ["a", "b"]}


def test_the_first_table_decides_and_single_messages_do_not():
    session = rtbot.load(TWO).start()
    session.push_one("a", 5, 1.0)
    first = {"ts": np.array(["2024-01-01"], "M8[s]"), "value": [1.0]}
    second = {"time": pa.array([10**16], pa.timestamp("us", "UTC")), "value": [1.0]}
    with pytest.raises(rtbot.DataError):
        session.push({"b": second | {"value": ["?"]}})
    assert session.advance(6).to_arrow().column_names == ["t", "a", "b"]
    result = session.push({"a": first, "b": second})
    assert result.to_arrow().schema.field("ts").type == pa.timestamp("s")
    assert session.push({"b": [(10**16 + 1, 1.0)]}).to_arrow().column_names[0] == "ts"
    assert session.finish().to_arrow().column_names[0] == "ts"


def test_describe_times_needs_a_cell_of_a_list_only():
    assert describe_times("t", []) is None
    assert describe_times("t", [7]) == TimeColumn("t")
    assert describe_times("t", np.array([], "M8[s]")) == TimeColumn("t", np.dtype("M8[s]"))


FILES = {
    "iso.csv": ("ts,x\n2024-01-01T10:00:00,1\n", pa.timestamp("us")),
    "zone.csv": ("ts,x\n2024-01-01T10:00:00+01:00,1\n", pa.timestamp("us", "UTC")),
    "whole.csv": ("ts,x\n7,1\n", pa.int64()),
    "iso.jsonl": ('{"ts": "2024-01-01", "x": 1}\n', pa.timestamp("us")),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_text_give_timestamps_under_their_name(name, tmp_path):
    text, kind = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    for data in (path, {"x": path}):
        table = rtbot.load(SAME).run(data).to_arrow()
        assert table.schema.field("ts").type == kind


def test_files_with_types_give_these(tmp_path):
    import pyarrow.parquet as pq

    kind = pa.timestamp("ms", "Europe/Madrid")
    pq.write_table(
        pa.table({"ts": pa.array(STAMPS, kind), "x": [1.0, 2.0, 3.0]}), tmp_path / "a.parquet"
    )
    found = rtbot.load(SAME).run(tmp_path / "a.parquet").to_arrow()
    assert found.schema.field("ts").type == kind


def test_nanoseconds_of_timestamps_in_a_list_are_kept():
    times = [pd.Timestamp("2024-01-01 00:00:00.000000001"), pd.Timestamp("2024-01-02")]
    graph = SAME | {"io": {"unit": "ns"}}
    found = rtbot.load(graph).run({"x": {"t": times, "value": [1, 2]}})
    assert found["o"]["t"].tolist() == [1704067200000000001, 1704153600000000000]
    assert found.to_pandas()["t"].tolist() == times
    with pytest.raises(rtbot.DataError, match="finer than the unit us"):
        rtbot.load(SAME).run({"x": {"t": times, "value": [1, 2]}})


# ---- local times, and texts that are not ISO 8601

LOCAL = {
    "datetime64": (np.array(TEXTS[:1], "M8[s]"), "s, tz=Europe/Madrid"),
    "pandas": (pd.Series(STAMPS[:1]), "ns, tz=Europe/Madrid"),
    "Arrow": (pa.array(STAMPS[:1], pa.timestamp("ms")), "ms, tz=Europe/Madrid"),
    "datetimes": ([dt.datetime(2024, 3, 31, 0, 30)], "us, tz=Europe/Madrid"),  # noqa: DTZ001
    "a zone of its own": (pd.Series(UTC[:1]), "ns, tz=UTC"),
}


@pytest.mark.parametrize(("times", "kind"), LOCAL.values(), ids=LOCAL)
def test_local_times_come_out_in_their_zone(times, kind):
    graph = rtbot.load(SAME | {"io": {"timezone": "Europe/Madrid"}})
    column = graph.run({"ts": times, "x": [1.0]}).to_arrow()["ts"]
    assert str(column.type) == f"timestamp[{kind}]"
    assert column[0].as_py().isoformat()[:16] == "2024-03-31T00:30"


def test_local_dates_come_out_as_timestamps_of_their_zone():
    graph = rtbot.load(SAME | {"io": {"timezone": "Europe/Madrid"}})
    column = graph.run({"ts": [dt.date(2024, 7, 1)], "x": [1.0]}).to_arrow()["ts"]
    assert [time.isoformat() for time in column.to_pylist()] == ["2024-07-01T00:00:00+02:00"]


@pytest.mark.parametrize(
    ("io", "given", "expected"),
    [
        ({"timezone": "Europe/Madrid"}, "2024-07-01 12:00", "2024-07-01 12:00+02:00"),
        ({"time_format": "%d/%m/%Y %H:%M"}, "01/07/2024 12:00", "2024-07-01T12:00"),
        ({"time_format": "unix_ms"}, "1719835200000", "1719835200000"),
    ],
)
def test_texts_of_other_forms_come_out_as_files_have_them(tmp_path, io, given, expected):
    graph = rtbot.load(SAME | {"io": io})
    found = graph.run({"ts": [given], "x": [1.0]})
    assert found.to_arrow()["ts"].to_pylist() == [expected]
    (tmp_path / "d.csv").write_text(f"ts,x\n{given},1.0\n")
    kind = graph.run(tmp_path / "d.csv").to_arrow()["ts"].type
    assert str(kind) == f"timestamp[us{', tz=Europe/Madrid' if 'timezone' in io else ''}]"
