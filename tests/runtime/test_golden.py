"""The engine against answers that others worked out, bit for bit, interpreted."""

import pytest

import rtbot
from rtbot.compare.schedules import Row
from tests import golden_cases
from tests.generate import Case
from tests.harness import Feeder, compare
from tests.oracles.streams import bits
from tests.oracles.whole import answer

VECTORS = list(golden_cases.vectors())
SERIES = [record for record in golden_cases.series() if record.get("via") != "shuffled"]


def whole_push(rows):
    return [("push", list(range(len(rows))))]


def in_bits(rows_by_key):
    return {key: [(t, bits(v)) for t, v in rows] for key, rows in rows_by_key.items() if rows}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector[0] for vector in VECTORS])
def test_vectors(vector):
    _, document, inputs, outputs, _ = vector
    rows = [Row(port, (), time, value) for port, own in inputs.items() for time, value in own]
    case = Case(document, (), rows, [whole_push(rows)])
    feeder = Feeder(rtbot.load(document), case).run(whole_push(rows))
    right = answer(document, {(): inputs})[()].outputs
    compare(feeder.outputs(), {port: in_bits({(): right[port].rows}) for port in outputs}, "whole")


def rows_in_arrival(record):
    keys = record.get("key", [])
    rows = {
        name: [
            Row(name, tuple(table[key][place] for key in keys), time, value)
            for place, (time, value) in enumerate(zip(table["t"], table["value"], strict=True))
        ]
        for name, table in record["inputs"].items()
    }
    if "arrival" in record:
        return [rows[name][place] for name, place in record["arrival"]]
    return [row for own in rows.values() for row in own]


@pytest.mark.parametrize("style", ["whole", "one by one", "saved"])
@pytest.mark.parametrize("record", SERIES, ids=[record["id"] for record in SERIES])
def test_series(record, style):
    rows = rows_in_arrival(record)
    ones = [("one", number) for number in range(len(rows))]
    steps = {
        "whole": whole_push(rows),
        "one by one": ones,
        "saved": [both for one in ones for both in (one, ("dump",))],
    }[style]
    case = Case(record["graph"], tuple(record.get("key", ())), rows, [steps])
    feeder = Feeder(rtbot.load(record["graph"]), case).run(steps)
    right = {
        name: in_bits(golden_cases.rows_by_key(record, table))
        for name, table in record["expected"].items()
    }
    compare(feeder.outputs(), right, style)
    lost = [
        count
        for place in feeder.session.account()["inputs"].values()
        for reason, count in place["lost"].items()
        if reason == "late"
    ]
    domain = max(
        (
            entry["lost"].get("domain", 0)
            for ports in feeder.session.account()["operators"].values()
            for entry in ports.values()
        ),
        default=0,
    )
    dropped = record.get("dropped", {})
    assert (sum(lost), domain) == (dropped.get("late", 0), dropped.get("domain", 0))


TEXTS = [
    record
    for record in golden_cases.records("series_cases")
    if any(type(table["t"][0]) is str for table in record["inputs"].values())
    and not golden_cases.list_types(record) & golden_cases.MISSING
]


@pytest.mark.parametrize("record", TEXTS, ids=[record["id"] for record in TEXTS])
def test_times_that_are_texts(record):
    graph = rtbot.load(record["graph"])
    if "error" in record["expected"]:
        with pytest.raises(rtbot.DataError):
            graph.run(record["inputs"])
        return
    found = graph.run(record["inputs"])
    for name, table in record["expected"].items():
        seconds = found[name]["t"].astype("datetime64[s]").astype(int).tolist()
        assert (seconds, found[name]["value"].tolist()) == (table["t"], table["value"])
