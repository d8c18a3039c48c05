"""`rtbot compare --spark`: the rows shuffled and dealt, and what cannot be the same there."""

import numpy as np
import pytest

import rtbot
from rtbot.compare.canonical_outputs import Outputs
from rtbot.compare.spark import explain_unfit

GRAPH = """
inputs: {a: number, b: integer?}
operators:
  ma: {type: MovingAverage, in: a, window: 2}
  pair: {type: Join, in: [ma, b], how: left}
outputs: {mean: pair.o1, other: pair.o2}
"""
DATA = {
    "a": {"k": ["x", "x", None, "é", "x"], "t": [1, 2, 2, 2, 5], "value": [0.1, 0.2, 3, -0.0, 7]},
    "b": {"k": ["x", None, "x"], "t": [2, 3, 5], "value": [4, 5, None]},
}


@pytest.mark.usefixtures("spark")
def test_spark_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr("rtbot.compare.spark.PARTITIONS", (3,))
    agreement = rtbot.load(GRAPH).compare(DATA, key="k", runs=1, spark=True)
    assert agreement.same
    outcome = agreement.outcomes[-1]
    assert (outcome.way, outcome.runs, outcome.rows) == ("Spark", 2, 8)
    assert agreement.left_out == ()


VECTORS = """
inputs:
  v: vector[2]
  w: vector[3]?
  q: {record: {bid: number, ask: "number?", venue: text}}
operators:
  pair: {type: Join, in: [v, w], how: left}
  both: {type: VectorCompose, in: [v.1, q.bid]}
outputs: [pair.o1, pair.o2, both, q]
"""
MESSAGES = {
    "v": {
        "k": [0, 1, 0, 1],
        "t": [1, 1, 2, 3],
        "value": [[0.1, -0.0], [1, np.nan], [2, 1e16], [3, 4]],
    },
    "w": {"k": [0, 1, 1], "t": [1, 1, 3], "value": [[1, 2, 3], [4, None, 6], None]},
    "q": [
        {"k": 0, "t": 1, "bid": 1.0, "ask": None, "venue": "x"},
        {"k": 1, "t": 1, "bid": 2.5, "ask": 0.5, "venue": "é"},
    ],
}


@pytest.mark.usefixtures("spark")
def test_vectors_and_records_have_the_same_bits_on_spark(monkeypatch):
    monkeypatch.setattr("rtbot.compare.spark.PARTITIONS", (3,))
    agreement = rtbot.load(VECTORS).compare(MESSAGES, key="k", runs=1, spark=True)
    assert agreement.same, str(agreement)
    assert agreement.outcomes[-1].way == "Spark"


@pytest.mark.usefixtures("spark")
def test_a_difference_on_spark_is_found(monkeypatch):
    def negated(found, output, key):
        table = TABLE(found, output, key)
        return table | {"value": -table["value"]}

    from rtbot.compare import spark as module

    TABLE = module._extract_output  # noqa: N806 (what is replaced)
    monkeypatch.setattr(module, "_extract_output", negated)
    monkeypatch.setattr(module, "PARTITIONS", (2,))
    monkeypatch.setattr("rtbot.compare.run_variants.SHRINK_SECONDS", 5)
    agreement = rtbot.load(GRAPH).compare(DATA, key="k", runs=1, spark=True)
    assert not agreement.same
    assert agreement.found.way == "Spark"
    assert "strategy='partitions', partitions=2" in str(agreement)


@pytest.mark.parametrize(
    ("io", "lost", "why"),
    [
        ("{}", {}, ""),
        ("{duplicates: min}", {"duplicate": 3}, ""),
        ("{duplicates: last}", {}, "io.duplicates: last asks for an order of arrival"),
        (
            "{timezone: UTC}",
            {},
            "io.timezone has no meaning for DataFrames, whose columns have types",
        ),
        ("{late: drop}", {"late": 2}, "2 rows are late here, and there are put in order"),
    ],
)
def test_what_depends_on_the_order_of_arrival_is_left_out(io, lost, why):
    graph = rtbot.load(GRAPH + f"io: {io}\n")
    account = {"inputs": {"a": {"lost": lost}, "b": {"lost": {}}}}
    assert explain_unfit(graph, Outputs(account=account)) == why
