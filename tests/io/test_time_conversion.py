"""Times of files in formats, time zones and epochs, whatever the file, its blocks and faults."""

import json
import random
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rtbot
import rtbot.operators
from rtbot.graph.model import CsvDialect, ReadOptions
from rtbot.io import reader
from rtbot.io.bindings import InputSpec, bind_columns
from rtbot.io.blocks import BadRowPolicy
from rtbot.io.checkpointed_run import _parse_position
from rtbot.io.reader import FileReader
from rtbot.io.sources import csv_chunks
from rtbot.storage.files import Files

pytestmark = pytest.mark.usefixtures("own_folder")

GRAPH = rtbot.load("inputs: {x: number}\noutputs: [x]\n")
TWO = rtbot.load("inputs: {a: number, b: number}\noutputs: [a, b]\n")


def open_reader(file, unit="us", *, graph=GRAPH, **options):
    columns = {name: options.pop(name) for name in ("time", "key") if name in options}
    request = InputSpec(file, reading=ReadOptions(**options), marking=True, **columns)
    bound = bind_columns(Files(), graph.checked.inputs, request)
    return FileReader(bound, unit, BadRowPolicy())


def read_times(file, unit="us", **options):
    """The times of all rows in their order, or the error as text."""
    try:
        batches = open_reader(file, unit, **options).read_in_turn()
        return [
            time
            for group, _ in batches
            for batch in group
            for columns in batch.columns.values()
            for time in columns.time.tolist()
        ]
    except rtbot.DataError as error:
        return str(error)


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


def write_objects(*objects):
    return write("d.jsonl", "".join(json.dumps(one) + "\n" for one in objects))


def write_parquet(**columns):
    pq.write_table(
        pa.table({**columns, "x": [1.0] * len(next(iter(columns.values())))}), "d.parquet"
    )
    return "d.parquet"


# ---- one column


@pytest.mark.parametrize(
    ("cells", "form", "unit", "times"),
    [
        (["1675208619460"], "unix_ms", "us", [1675208619460000]),
        (["1675208619.460", "1675208620"], "unix", "ms", [1675208619460, 1675208620000]),
        (["1675208619", "1675208619.5"], "unix", "ms", [1675208619000, 1675208619500]),
        (["1490195805.433502912"], "unix", "ns", [1490195805433502912]),
        (
            ["31/1/2024 1:05 PM", "1/2/2024 12:00 AM"],
            "%d/%m/%Y %I:%M %p",
            "s",
            [1706706300, 1706745600],
        ),
    ],
)
def test_formats_are_read_from_every_kind_of_file(cells, form, unit, times):
    file = write("d.csv", "t,x\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read_times(file, unit, time_format=form) == times
    file = write_objects(*({"t": cell, "x": 1} for cell in cells))
    assert read_times(file, unit, time_format=form) == times
    file = write_parquet(t=cells)
    assert read_times(file, unit, time_format=form) == times
    if form.startswith("unix"):
        file = write("d.jsonl", "".join(f'{{"t": {cell}, "x": 1}}\n' for cell in cells))
        assert read_times(file, unit, time_format=form) == times


def test_integers_of_a_type_are_counts_of_the_format():
    file = write_parquet(t=pa.array([1500, -500], pa.int32()))
    assert read_times(file, "us", time_format="unix_ms") == [1500000, -500000]
    assert read_times(file, "ms", time_format="unix_us") == (
        "d.parquet:1: error[RT217]: the time has digits finer than the unit ms"
        " (column 't', value '1500')\n     set a finer io.unit (s, ms, us, ns)"
    )
    file = write_parquet(t=pa.array([0, 2**62]))
    assert "d.parquet:2: error[RT217]: the time is outside" in read_times(file, time_format="unix")


def test_typed_times_without_a_zone_are_local():
    zone = {"timezone": "Europe/Madrid"}
    naive = pa.array([datetime.fromisoformat("2024-07-01 02:00")], pa.timestamp("ms"))
    aware = naive.cast(pa.timestamp("ms", "UTC"))
    assert read_times(write_parquet(t=naive), "s", **zone) == [1719792000]
    assert read_times(write_parquet(t=aware), "s", **zone) == [1719799200]
    assert read_times(write_parquet(t=naive.cast(pa.date32())), "s", **zone) == [1719784800]
    gap = pa.array([datetime.fromisoformat("2024-03-31 02:30")], pa.timestamp("us"))
    assert "d.parquet:1: error[RT225]: there is no such" in read_times(write_parquet(t=gap), **zone)


# ---- several columns


def test_columns_are_joined_in_every_kind_of_file():
    form = {"time_format": "%d/%m/%Y %H:%M"}
    joined = {"time": ("Date", "Time"), "unit": "s"}
    cells = [("10/1/2007", " 23:58"), ("10/1/2007", "23:59 ")]
    expected = [1168473480, 1168473540]
    file = write("d.csv", "Time,x,Date\n" + "".join(f"{b},1,{a}\n" for a, b in cells))
    assert read_times(file, **joined, **form) == expected
    file = write_objects(*({"Date": a, "Time": b, "x": 1} for a, b in cells))
    assert read_times(file, **joined, **form) == expected
    file = write_parquet(Date=[a for a, _ in cells], Time=[b for _, b in cells])
    assert read_times(file, **joined, **form) == expected


def test_numbers_are_joined_as_they_are_written():
    names, form = ("Y", "m", "d", "H"), {"time_format": "%Y %m %d %H", "unit": "s"}
    rows = [(2024, 1, 2, 3), (2024, 12, 31, 23)]
    expected = [1704164400, 1735686000]
    file = write_objects(*(dict(zip(names, row, strict=True)) | {"x": 1} for row in rows))
    assert read_times(file, time=names, **form) == expected
    file = write_parquet(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    assert read_times(file, time=names, **form) == expected
    file = write_parquet(
        d=pa.array([datetime.fromisoformat("2024-01-02")], pa.date32()), c=["03:00"]
    )
    assert read_times(file, "s", time=("d", "c")) == expected[:1]


def test_a_fault_names_all_the_columns():
    rows = "1/1/2024,10:00,1\n1/1/2024,,1\n31/2/2024,10:00,1\n"
    file = write("d.csv", f"d,c,x\n{rows}")
    joined = {"time": ("d", "c"), "time_format": "%d/%m/%Y %H:%M"}
    assert read_times(file, **joined) == (
        "d.csv:3: error[RT211]: a row without a time (column 'd + c')"
    )
    file = write("d.csv", "d,c,x\n" + rows.replace(",,", ",9:00,"))
    assert read_times(file, **joined) == (
        "d.csv:4: error[RT205]: there is no such day in the calendar"
        " (column 'd + c', value '31/2/2024 10:00')"
    )


# ---- what is written


@pytest.mark.parametrize(
    ("io", "rows", "written"),
    [
        ("{time_format: '%d/%m/%Y'}", "31/1/2024,1\n", "2024-01-31,1\n"),
        ("{time_format: '%d/%m/%y %H'}", "31/1/24 9,1\n", "2024-01-31T09:00,1\n"),
        (
            "{time_format: '%d/%m/%Y %H:%M:%S.%f', timezone: Europe/Madrid}",
            "30/3/2024 01:00:00.5,1\n31/3/2024 03:00:00.5,1\n",
            "2024-03-30T01:00:00.5+01:00,1\n2024-03-31T03:00:00.5+02:00,1\n",
        ),
        (
            "{timezone: Europe/Madrid}",
            "2024-03-31,1\n2024-04-01,1\n",
            "2024-03-31,1\n2024-04-01,1\n",
        ),
        ("{timezone: '+05:30'}", "2024-03-31 10:00,1\n", "2024-03-31 10:00+05:30,1\n"),
        ("{timezone: Europe/Madrid}", "2024-03-31T01:00Z,1\n", "2024-03-31T01:00Z,1\n"),
        ("{time_format: unix}", "1.5,1\n2.25,1\n", "1.5,1\n2.250000,1\n"),
        ("{time_format: unix, unit: ms}", "-1.50,1\n0.125,1\n", "-1.50,1\n0.125,1\n"),
        ("{time_format: unix_ms, unit: s}", "1000,1\n", "1000,1\n"),
    ],
)
def test_times_are_written_as_they_were_read(call, io, rows, written):
    graph = f"inputs: {{x: number}}\noutputs: [x]\nio: {io}\n"
    files = {"g__yaml": graph, "d__csv": f"t,x\n{rows}"}
    assert call("run", "g.yaml", "d.csv", "-q", **files) == (0, f"t,x\n{written}", "")
    options = ("-q", "--format", "jsonl")
    code, out, _ = call("run", "g.yaml", "d.csv", *options)
    times = [line.split(",")[0] for line in written.splitlines()]
    shown = [json.loads(line, parse_float=str, parse_int=str)["t"] for line in out.splitlines()]
    assert (code, shown) == (0, times)
    assert call("run", "g.yaml", "d.csv", "-q", "-o", "o.parquet")[0] == 0
    kind = pq.read_schema("o.parquet").field("t").type
    zone = "UTC" if "unix" in io or "Z" in rows else None
    assert kind.tz == (zone or (io.partition("timezone: ")[2].strip("'}") or None))


# ---- the hour that occurs twice, over blocks and checkpoints

NEW_YORK = {"timezone": "America/New_York", "ambiguous": "order"}


def make_rows(count):
    """Lines of a long file of three keys, and the instants of their rows."""
    place, lines, instants = ZoneInfo("America/New_York"), [], []
    at = 1667703600  # 2022-11-06 03:00 UTC
    steps = {("a", "p"): 600, ("a", "q"): 900, ("b", "p"): 1800}
    due = dict.fromkeys(steps, at)
    for _ in range(count):
        (name, key), when = min(due.items(), key=lambda one: (one[1], one[0]))
        due[name, key] += steps[name, key]
        lines.append(f"{datetime.fromtimestamp(when, place):%Y-%m-%d %H:%M},{name},{key},1\n")
        instants.append(when)
    return lines, instants


def collect(file_reader):
    """Yield the rows of each turn by their line, and the positions behind it as saved."""
    for batches, _ in file_reader.read_in_turn():
        rows = [
            (batch.block.line(int(row)), time)
            for batch in batches
            for name, columns in batch.columns.items()
            for row, time in zip(batch.rows[name], columns.time.tolist(), strict=True)
        ]
        yield sorted(rows), json.dumps([position.save() for position in file_reader.positions])


@pytest.mark.parametrize("seed", range(3))
def test_passes_survive_blocks_and_checkpoints(seed, monkeypatch):
    generator = random.Random(seed)
    monkeypatch.setattr(reader, "BLOCK_ROWS", generator.choice([1, 5, 7]))
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", generator.choice([100, 300]))
    lines, instants = make_rows(60)
    file = write("d.csv", "t,input,key,value\n" + "".join(lines))

    def start():
        return open_reader(file, "s", graph=TWO, key=("key",), **NEW_YORK)

    expected = list(enumerate(instants, 2))
    turns = list(collect(start()))
    assert [row for rows, _ in turns for row in rows] == expected
    for place in generator.sample(range(len(turns)), min(6, len(turns))):
        resumed = start()
        resumed.positions = [_parse_position(text) for text in json.loads(turns[place][1])]
        rest = [row for rows, _ in collect(resumed) for row in rows]
        assert [row for rows, _ in turns[: place + 1] for row in rows] + rest == expected


def test_bad_rows_do_not_change_the_passes():
    rows = ["11/6/22 01:00", "11/6/22 01:30", "bad", "11/6/22 01:00", "", "11/6/22 01:30"]
    file = write("d.csv", "t,x\n" + "".join(f"{row},1\n" for row in rows))
    options = {"time_format": "%m/%d/%y %H:%M", **NEW_YORK}
    request = InputSpec(file, reading=ReadOptions(**options), bad="drop")
    bound = bind_columns(Files(), GRAPH.checked.inputs, request)
    policy = BadRowPolicy()
    batches = FileReader(bound, "s", policy).read_in_turn()
    times = [t for group, _ in batches for b in group for t in b.columns["x"].time.tolist()]
    assert [time - times[0] for time in times] == [0, 1800, 3600, 5400]
    assert policy.counts == {file: 2}


def test_rows_that_go_back_are_an_error_with_their_line():
    times = ("01:00", "01:30", "01:00", "00:30", "01:30", "01:15")
    file = write("d.csv", "t;x\n" + "".join(f"2022-11-06 {time};1\n" for time in times))
    found = read_times(file, csv=CsvDialect(delimiter=";"), **NEW_YORK)
    assert found.startswith("d.csv:7: error[RT225]: the second hour of two in America/New_York")


# ---- tables


@pytest.mark.parametrize(
    "times",
    [
        ["2024-07-01 02:00", "2024-07-01 02:01"],
        [datetime.fromisoformat("2024-07-01 02:00"), datetime.fromisoformat("2024-07-01 02:01")],
        [
            datetime.fromisoformat("2024-07-01 00:00+00:00"),
            datetime.fromisoformat("2024-07-01 02:01"),
        ],
        [1719792000, 1719792060],
    ],
)
def test_sessions_read_local_times(times):
    graph = rtbot.load(
        "inputs: {x: number}\noutputs: [x]\nio: {unit: s, timezone: Europe/Madrid}\n"
    )
    found = graph.run({"x": {"t": times, "value": [1.0, 2.0]}})
    assert found["x"]["t"].tolist() == [1719792000, 1719792060]
    assert graph.start().push_one("x", times[1], 1.0) == {"x": [(1719792060, 1.0)]}


def test_local_times_of_tables_have_no_order():
    graph = rtbot.load(
        "inputs: {x: number}\noutputs: [x]\n"
        "io: {timezone: America/New_York, ambiguous: order, time_format: '%m/%d/%Y %H:%M'}\n"
    )
    table = {"t": ["11/6/2022 00:30", "11/6/2022 01:30"], "value": [1.0, 2.0]}
    with pytest.raises(rtbot.DataError, match="only files have an order") as caught:
        graph.run({"x": table})
    assert (caught.value.code, caught.value.row, caught.value.value) == (
        *("RT225", 1, "11/6/2022 01:30"),
    )
