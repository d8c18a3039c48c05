"""RtBot's operators with its own ports and parameters, vectors whole, as its programs have them."""

import numpy as np
import pytest

import rtbot
from tests import golden_cases
from tests.oracles.vectors import kind_of, type_of

RECORDS = [
    record
    for record in golden_cases.records("rtbot_vectors")
    if record["operator"] not in golden_cases.MISSING
    and not record["note"].startswith(golden_cases.FAULT)
]
LAST_BITS = 1e-12
"""RtBot's running sums differ from the exact ones in the last bits."""


def kind(rows):
    first = rows[0][1]
    if isinstance(first, list):
        return kind_of(type_of(f"vector[{len(first)}]", nullable=False))
    return "boolean" if isinstance(first, bool) else "number"


def tables(rows_by_port):
    return {
        port: {"t": [t for t, _ in rows], "value": [value for _, value in rows]}
        for port, rows in rows_by_port.items()
    }


def load(record):
    ports = record["inputs"]
    wired = {"in": [port for port in ports if port[0] == "i"]}
    if controls := [port for port in ports if port[0] == "c"]:
        wired["control"] = controls
    own = golden_cases.ADDED.get(record["operator"], {})
    return rtbot.load(
        {
            "inputs": {port: kind(rows) for port, rows in ports.items()},
            "operators": {"op": {"type": record["operator"], **wired, **record["params"], **own}},
            "outputs": {port: f"op.{port}" for port in record["outputs"]},
            "io": {"late": "drop", "duplicates": "first"},
        }
    )


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["operator"])
def test_it_gives_what_rtbot_gives(record):
    graph = load(record)
    found = graph.run(tables(record["inputs"]))
    for port, rows in record["outputs"].items():
        times, values = found[port]["t"].tolist(), found[port]["value"].tolist()
        if record["operator"] == "Variable":  # RtBot never answers queries behind the last value
            times, values = times[: len(rows)], values[: len(rows)]
        assert times == [t for t, _ in rows]
        right = np.array([value for _, value in rows])
        assert np.allclose(np.array(values), right, LAST_BITS, LAST_BITS, equal_nan=True)


@pytest.mark.parametrize("name", ["numPorts", "num_ports"])
@pytest.mark.parametrize("type_", ["CompareSyncEQ", "CompareSyncLT", "Covariance", "Addition"])
def test_the_number_of_ports_may_be_told(type_, name):
    operator = {"type": type_, "in": ["a", "a"], name: 2}
    operator |= {"window": 2} if type_ == "Covariance" else {}
    rtbot.load({"inputs": {"a": "number"}, "operators": {"m": operator}, "outputs": ["m"]})


VECTORS = [record for record in RECORDS if kind(record["inputs"]["i1"]).startswith("vector")]


@pytest.mark.parametrize("record", VECTORS, ids=lambda record: record["operator"])
def test_vectors_one_by_one_and_saved_between(record):
    graph = load(record)
    whole = graph.run(tables(record["inputs"]))
    session = graph.start()
    found = {port: [] for port in record["outputs"]}

    def add(result):
        for port, table in result.items():
            found[port] += zip(table["t"].tolist(), table["value"].tolist(), strict=True)

    arrivals = [(t, p, v) for p, rows in record["inputs"].items() for t, v in rows]
    for t, port, value in sorted(arrivals, key=lambda arrival: arrival[:2]):
        for name, rows in session.push_one(port, t, value).items():
            found[name] += rows
        session = graph.resume(session.dump())
    add(session.finish())
    for port, rows in found.items():
        assert [t for t, _ in rows] == whole[port]["t"].tolist()
        assert [value for _, value in rows] == whole[port]["value"].tolist()


@pytest.mark.parametrize(
    ("inputs", "operator", "code", "port", "message"),
    [
        (
            "v: vector[3]",
            "{type: TopK, in: v, k: 1, score_index: 3}",
            "RT125",
            "",
            "numbered 0 to 2",
        ),
        ("v: vector[3]?", "{type: TopK, in: v, k: 1}", "RT126", "i1", "takes no null"),
        (
            "v: vector[3]\n  q: number",
            "{type: KeyedVariable, in: v, control: q}",
            *("RT125", "i1", "has key and value, v is vector[3]"),
        ),
        (
            "v: number\n  q: number",
            "{type: KeyedVariable, in: v, control: q}",
            *("RT123", "i2", "m.i2 is not fed"),
        ),
        (
            "v: number",
            "{type: CompareSyncGT, in: [v, v], numPorts: 3}",
            *("RT116", "", "numPorts says 3 ports, the wiring has 2"),
        ),
        (
            "v: number",
            "{type: Abs, in: v, numPorts: 1}",
            *("RT104", "", "Abs has no parameter 'numPorts'"),
        ),
        (
            "v: number\n  q: boolean",
            "{type: Demultiplexer, in: v, control: q, portType: numbr}",
            *("RT113", "", "portType is no type of a port"),
        ),
        (
            "v: number",
            "{type: ResamplerConstant, in: v, interval: 1, snapFirst: 2}",
            *("RT113", "", "true or false"),
        ),
    ],
)
def test_what_is_refused(inputs, operator, code, port, message):
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(f"inputs:\n  {inputs}\noperators:\n  m: {operator}\noutputs: [m]")
    (problem,) = caught.value.problems
    assert (problem.code, problem.port or "", problem.operator) == (code, port, "m")
    assert message in problem.message
    assert problem.hint or problem.code == "RT113"
