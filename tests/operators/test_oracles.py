"""The oracles against answers that others worked out."""

import pytest

from tests import golden_cases
from tests.catalogue import catalogue
from tests.oracles.streams import bits
from tests.oracles.whole import answer

CATALOGUE = catalogue()
VECTORS = list(golden_cases.vectors())
SERIES = list(golden_cases.series())
LAST_BITS = 1e-12
"""RtBot's running sums differ from the exact ones in the last bits."""


def close(rows, expected):
    return [t for t, _ in rows] == [t for t, _ in expected] and all(
        bits(a) == bits(b) or abs(a - b) <= LAST_BITS * max(abs(a), abs(b), 1.0)
        for (_, a), (_, b) in zip(rows, expected, strict=True)
    )


@pytest.mark.parametrize("vector", VECTORS, ids=[vector[0] for vector in VECTORS])
def test_vectors(vector):
    _, document, inputs, outputs, wrong = vector
    found = answer(document, {(): inputs})[()].outputs
    for port, rows in outputs.items():
        got = found[port].rows
        if document["operators"]["op"]["type"] == "Variable":
            got = got[: len(rows)]  # RtBot never answers the queries behind the last value
        assert close(got, [tuple(row) for row in rows]) is not wrong


def test_the_operators_that_cases_wait_for_are_the_missing_ones():
    missing = golden_cases.list_missing()
    assert missing == golden_cases.MISSING, "tests/golden_cases.py names what is missing"


@pytest.mark.skipif(not golden_cases.SHARED.is_dir(), reason="the checkout is alone")
@pytest.mark.parametrize("name", ["rtbot_vectors", "series_cases"])
def test_the_cases_are_those_that_are_shared(name):
    shared = (golden_cases.SHARED / f"{name}.jsonl").read_text()
    assert (golden_cases.GOLDEN / f"{name}.jsonl").read_text() == shared


@pytest.mark.parametrize("record", SERIES, ids=[record["id"] for record in SERIES])
def test_series(record):
    shuffled = record.get("via") == "shuffled"
    events = {}
    for name, table in record["inputs"].items():
        for key, rows in golden_cases.rows_by_key(record, table).items():
            events.setdefault(key, {})[name] = sorted(rows) if shuffled else rows
    found = answer(record["graph"], events)
    for name, table in record["expected"].items():
        expected = golden_cases.rows_by_key(record, table)
        got = {key: own.outputs[name].rows for key, own in found.items() if own.outputs[name].rows}
        assert {key: [(t, bits(v)) for t, v in rows] for key, rows in got.items()} == {
            key: [(t, bits(v)) for t, v in rows] for key, rows in expected.items()
        }


@pytest.mark.parametrize("name", [name for name, cls in CATALOGUE.items() if cls.example])
def test_examples_of_the_operators(name):
    cls = CATALOGUE[name]
    kinds = {port: _kind(cls, port, rows) for port, rows in cls.example.inputs.items()}
    spec = {"type": name, "in": [p for p in kinds if p[0] == "i"]}
    if controls := [p for p in kinds if p[0] == "c"]:
        spec["control"] = controls
    document = {
        "inputs": kinds,
        "operators": {"op": spec | dict(cls.example.parameters)},
        "outputs": {port: f"op.{port}" for port in cls.example.outputs},
    }
    found = answer(document, {(): dict(cls.example.inputs)})[()].outputs
    for port, rows in cls.example.outputs.items():
        assert [(t, bits(v)) for t, v in found[port].rows] == [(t, bits(v)) for t, v in rows]


def _kind(cls, port, rows):
    kind = cls.port(port).kind
    value = next((value for _, value in rows if value is not None), 0.0)
    if kind == "vector":
        return f"vector[{len(value)}]"
    if kind in ("T", "N"):
        kind = {bool: "boolean", int: "integer", float: "number", str: "text"}[type(value)]
    return kind + "?" * any(value is None for _, value in rows)
