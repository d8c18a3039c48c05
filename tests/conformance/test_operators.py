"""What every registered operator must do: an operator is tested the day it is registered."""

import pytest

from tests import generate
from tests.catalogue import catalogue, topics
from tests.checks import CaseChecks
from tests.oracles import pairs, rowwise, timed, vectors, windowed  # noqa: F401 (they register)
from tests.oracles.registry import ORACLES
from tests.schedules import insert_dumps

CATALOGUE = catalogue()
TOPICS = {classes[0].__module__: classes for classes in topics(CATALOGUE)}
SEEDS = 4

every_operator = pytest.mark.parametrize("name", CATALOGUE)


def cases(name, *styles, seeds=SEEDS):
    for seed in range(seeds):
        yield CaseChecks(generate.case_of(f"{name}/{seed}", [CATALOGUE[name]], styles))


@every_operator
def test_has_an_oracle(name):
    assert name in ORACLES


@every_operator
def test_equals_its_oracle_whole_one_by_one_and_in_any_cuts_and_interleavings(name):
    for checked in cases(name, "whole", "ones", "random", "starved", "blocks"):
        checked.schedules()


@every_operator
def test_is_the_same_when_saved_and_restored_at_every_boundary(name):
    for checked in cases(name, "ones", "random", seeds=2):
        for steps in checked.case.schedules:
            checked.run(insert_dumps(steps), "saved everywhere")


@every_operator
def test_gives_a_key_what_it_gives_it_alone(name):
    for checked in cases(name, "whole"):
        checked.keyed_is_alone()


@every_operator
def test_is_not_changed_by_a_tap(name):
    for checked in cases(name, "random", seeds=2):
        checked.tap()


@pytest.mark.parametrize("topic", TOPICS)
def test_is_the_same_compiled(topic):
    classes = TOPICS[topic]
    checked = CaseChecks(generate.case_of(topic, classes, ("whole", "random", "random", "ones")))
    checked.schedules(compiled=True)
