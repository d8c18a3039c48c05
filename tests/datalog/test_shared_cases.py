"""The shared Datalog cases, epoch by epoch, by the oracle; those that are wrong are refused."""

import json
from pathlib import Path

import pytest

import rtbot
from rtbot.datalog.language import read_program
from tests.oracles.datalog import output_rows, run_epochs

GOLDEN = Path(__file__).parents[1] / "golden" / "datalog_cases.jsonl"
CASES = {case["id"]: case for case in map(json.loads, GOLDEN.read_text("utf-8").splitlines())}
REFUSED = {
    "subsumption_negation": (10, "RT502"),
    "err_cyclic_negation": (6, "RT509"),
    "err_cyclic_aggregate": (6, "RT509"),
    "err_ungrounded": (5, "RT508"),
    "err_ungrounded_negation": (7, "RT508"),
    "err_type_clash": (5, "RT506"),
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_a_shared_case(name):
    case = CASES[name]
    program = read_program(case["program"], f"{name}.dl")
    epochs = [(epoch["remove"], epoch["insert"]) for epoch in case["epochs"]]
    for epoch, rows in zip(case["epochs"], run_epochs(program, epochs), strict=True):
        expected = {relation: set(map(tuple, rows)) for relation, rows in epoch["expect"].items()}
        assert output_rows(program, rows) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_a_shared_case_that_is_refused(name):
    with pytest.raises(rtbot.GraphError) as found:
        read_program(CASES[name]["program"], "case.dl")
    assert (found.value.problems[0].mark.line, found.value.code) == REFUSED[name]
