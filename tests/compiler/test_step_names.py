"""Names of steps in generated modules: any operators may be in one graph."""

import pytest

import rtbot
from rtbot.compiler.step_signature import list_functions
from rtbot.operator.step_source import collect_sources
from tests import generate
from tests.catalogue import catalogue


def draw_functions():
    """The names and functions of nodes of every operator, on random types and windows."""
    for name, cls in catalogue().items():
        for seed in range(12):
            graph = rtbot.load(generate.case_of(f"{name}/{seed}", [cls], ()).document)
            for node in graph.checked.nodes.values():
                yield from list_functions(node)


def test_no_two_steps_of_all_operators_have_one_name():
    found = collect_sources(draw_functions())
    assert {"standard_deviation", "exact_standard_deviation", "zscore"} <= {*found.functions}


def test_a_second_step_of_a_name_is_noticed():
    steps = dict(draw_functions())
    pairs = [("zscore", steps["zscore"]), ("zscore", steps["standard_deviation"])]
    with pytest.raises(AssertionError, match="two different steps are named zscore"):
        collect_sources(pairs)
