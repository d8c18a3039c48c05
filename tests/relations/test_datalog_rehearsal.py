"""What is compiled ahead for Datalog is all that programs call."""

import pytest

from rtbot.cli.main import run
from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.io import compile_plan
from rtbot.relations.datalog_loops import DATALOG_LOOPS
from rtbot.relations.datalog_rehearsal import rehearse_datalog
from tests import datalog_trials

GRAPH = """
inputs: {edges: {changes: {a: integer, b: integer}}}
operators: {r: {type: Datalog, in: {edge: edges}, rules: "p(x) :- edge(x, _)."}}
outputs: [r.p]
"""


def test_a_rehearsal_calls_all_that_random_programs_call(monkeypatch):
    text, ahead = rehearse_datalog()
    assert all(len(types) == 1 for types in ahead.values())
    tier = TieredModule(text, DATALOG_LOOPS.list_functions(), notes=True)
    monkeypatch.setattr(type(DATALOG_LOOPS), "load", lambda _self, _mode: tier.functions)
    for seed in range(12):
        datalog_trials.run(seed, 6, compiled=False)
    noted = tier.copy_noted()
    assert len(noted) > 20
    assert all(types <= ahead[name] for name, types in noted.items())


@pytest.mark.parametrize(
    ("name", "text"), [("g.yaml", GRAPH), ("p.dl", ".decl p(x: number)\np(1).")]
)
def test_datalog_is_compiled_ahead(name, text, tmp_path, monkeypatch, capfd):
    compiled = []
    monkeypatch.setattr(compile_plan, "is_compiled", lambda _text, _wanted: bool(compiled))
    monkeypatch.setattr(compile_plan, "compile_module", lambda *each: compiled.append(each) or ())
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    for told in ("compiled in", "is compiled"):
        assert run(["warm", str(path)]) == 0
        assert told in capfd.readouterr().err
    ((text, wanted),) = compiled
    assert text == DATALOG_LOOPS.text
    assert "add_derivations" in wanted
