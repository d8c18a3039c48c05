"""Operators of users' own run on workers that cannot import what declares them."""

import shutil
import sys

import pyarrow as pa
import pytest

import rtbot
from rtbot.graph import packages
from rtbot.graph.plugins import load_plugin
from tests.operator_packages import install

pytest.importorskip("pyspark")

from spark_adapter import register, run_graph

DECLARED = """
from rtbot.operator import Example, In, Number, Operator, Out, Scalar, step

@step
def twice(value):
    return 2.0 * value

class Doubled(Operator):
    "Twice the value, and what came before."
    i1 = In("number")
    o1 = Out("number")
    before = Scalar("number", 0.0)
    example = Example(inputs={"i1": [(1, 1.0)]}, outputs={"o1": [(1, 2.0)]})

    @step
    def step(i1, before):
        return twice(i1) + before, i1
"""
GRAPH = "inputs: {price: number}\noperators: {d: {type: Doubled, in: price}}\noutputs: {d: d}\n"


@pytest.fixture(params=["a plugin", "a module that is imported", "an installed package"])
def gone(request, tmp_path, monkeypatch):
    """A graph with an operator whose file is deleted before any worker sees the graph."""
    path = tmp_path / "doubling_for_spark.py"
    if request.param != "an installed package":
        path.write_text(DECLARED)
    if request.param == "a plugin":
        load_plugin(str(path))
    elif request.param == "an installed package":
        monkeypatch.syspath_prepend(tmp_path)
        install(tmp_path, "doubling", "doubling_for_spark", __init__=DECLARED)
        packages._load_all.cache_clear()
    else:
        monkeypatch.syspath_prepend(tmp_path)
        __import__(path.stem)
    graph = rtbot.load(GRAPH)
    graph.plan()
    shutil.rmtree(tmp_path)
    yield graph
    sys.modules.pop("doubling_for_spark", None)
    packages._load_all.cache_clear()


def importable(batches):
    """What a worker finds of the modules that declare operators."""
    import importlib.util

    found = importlib.util.find_spec("doubling_for_spark")
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"found": [str(found)]})


def test_a_worker_needs_no_module(spark, gone):
    rows = [("x", t, float(t)) for t in range(1, 5)]
    data = spark.createDataFrame(rows, "k string, t long, price double")
    probe = type(importable)(importable.__code__, {"pa": pa, "__builtins__": __builtins__})
    assert {row.found for row in data.mapInArrow(probe, "found string").collect()} == {"None"}
    right = [2.0, 5.0, 8.0, 11.0]
    for strategy in ("partitions", "groups"):
        out = run_graph(data, gone, key="k", time="t", strategy=strategy)
        assert [row.d for row in out.orderBy("t").collect()] == right
    data.createOrReplaceTempView("doubling")
    register(spark, "doubled", gone, like=data, key="k", time="t")
    out = spark.sql("SELECT * FROM doubled(TABLE(doubling) PARTITION BY k ORDER BY t) ORDER BY t")
    assert [row.d for row in out.collect()] == right
