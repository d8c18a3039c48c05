"""Tables of results: key columns that are decoded when they are read."""

import copy
import pickle
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rtbot
from rtbot.runtime.result import merge_results
from rtbot.tables.output_table import CodedColumn, OutputTable, concat_raw, read_raw
from rtbot.tables.wide import build_long, build_wide, concat_results, sort_outputs

KINDS = {"text": ["b", "a", "é", "", "zz"], "mixed": ["b", None, "a"], "integers": [3, None, -7]}


def make_objects(values):
    found = np.empty(len(values), object)
    found[:] = values
    return found


def test_all_that_reads_a_dict_gets_arrays():
    column = CodedColumn(np.array([1, 0, 1]), make_objects(["b", None]))
    table = OutputTable({"k": column, "t": np.arange(3)})
    plain = {"k": [None, "b", None], "t": [0, 1, 2]}
    assert isinstance(table.raw("k"), CodedColumn)
    for made in (dict(table), {**table}, table.copy(), copy.copy(table), copy.deepcopy(table)):
        assert {name: array.tolist() for name, array in made.items()} == plain
    for made in (pickle.loads(pickle.dumps(table)), table | {}, {} | table, dict(table.items())):  # noqa: S301
        assert type(made) is dict
        assert {name: array.tolist() for name, array in made.items()} == plain
    assert [array.tolist() for array in table.values()] == [*plain.values()]
    assert table["k"] is table["k"]
    assert table.get("k").tolist() == plain["k"]
    assert table.get("x", 5) == 5
    assert list(table) == [*table.keys()] == ["k", "t"]
    assert pd.DataFrame(table)["k"].tolist() == plain["k"]
    assert pa.table(table).column("k").to_pylist() == plain["k"]
    assert "object" in repr(table)
    assert "CodedColumn" not in repr(table)


def test_results_show_texts_and_keep_codes():
    made = rtbot.load({"inputs": {"x": "number"}, "operators": {"y": "x + 1"}, "outputs": ["y"]})
    found = made.run({"k": ["b", "a", "b"], "t": [1, 1, 2], "x": [1.0, 2, 3]}, key="k")
    assert isinstance(read_raw(found["y"], "k"), CodedColumn)
    assert found["y"]["k"].tolist() == ["a", "b", "b"]
    assert merge_results([found, found])["y"]["k"].tolist() == ["a", "a", "b", "b", "b", "b"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_coded_columns_are_sorted_joined_and_laid_out_as_objects_are(kind, seed):
    rng = random.Random(f"{kind}/{seed}")
    results, plain = [], []
    for _ in range(rng.randint(1, 3)):
        coded_result, plain_result = {}, {}
        for output in ("p", "q"):
            values = make_objects([rng.choice(KINDS[kind]) for _ in range(rng.randint(1, 4))])
            rows = rng.choice([0, 1, 7])
            codes = np.array([rng.randrange(len(values)) for _ in range(rows)], np.int64)
            time = np.array([rng.randint(0, 3) for _ in range(rows)], np.int64)
            table = {"t": time, "value": np.arange(rows, dtype=float)}
            coded_result[output] = OutputTable({"k": CodedColumn(codes, values), **table})
            plain_result[output] = {"k": values[codes], **table}
        results.append(coded_result)
        plain.append(plain_result)
    joined, expected = concat_results(results), concat_results(plain)
    assert show(joined) == show(expected)
    assert show(sort_outputs(joined, ["k"])) == show(sort_outputs(expected, ["k"]))
    for build in (build_wide, build_long):
        assert build(joined, ["k"]).to_pylist() == build(expected, ["k"]).to_pylist()


def show(outputs):
    return {name: {n: a.tolist() for n, a in table.items()} for name, table in outputs.items()}


def test_columns_of_one_dictionary_keep_it():
    values = make_objects(["a", "b"])
    one, other = (CodedColumn(np.array([k]), values) for k in (0, 1))
    joined = concat_raw([one, other])
    assert isinstance(joined, CodedColumn)
    assert vars(joined)["values"] is values
    assert concat_raw([one, make_objects(["c"])]).tolist() == ["a", "c"]
