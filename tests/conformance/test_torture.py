"""A slice of the torture, and the cases that failed once."""

import pytest

from rtbot.operator import REGISTRY
from tests import families, torture
from tests.catalogue import catalogue


@pytest.mark.parametrize("name", torture.list_remembered())
def test_what_failed_once(name):
    torture.run_case(name)


@pytest.mark.parametrize("part", range(6))
def test_random_graphs_interpreted(part):
    for number in range(part * 25, part * 25 + 25):
        torture.run_case(f"slice/{number}")


@pytest.mark.parametrize("number", range(6))
def test_random_graphs_compiled(number):
    torture.run_case(f"slice/c{number}", compiled=True)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_random_graphs_of_a_family(family):
    for number in range(8):
        torture.run_case(f"slice/{family}{number}")


def test_sixty_compiled_cases_have_every_operator():
    drawn = [torture.draw_case(f"slice/c{number}", compiled=True) for number in range(60)]
    specs = [spec for case in drawn for spec in case.document["operators"].values()]
    types = {REGISTRY[spec["type"]].__name__ for spec in specs if isinstance(spec, dict)}
    assert {*catalogue()} - types == set()


def test_a_family_is_compiled():
    torture.run_case("slice/chain8", compiled=True)


def test_the_generator_is_not_blind():
    coverage = torture.Counter()
    for name in torture.with_families("blind", range(600)):
        torture.CaseChecks(torture.draw_case(name, compiled=False), coverage).meet()
    engine_only = {name for name in torture.FLOORS if name.startswith(torture.BY_THE_ENGINE)}
    unmet = torture.missing(coverage, 600, catalogue())
    assert {name: count for name, count in unmet.items() if name not in engine_only} == {}
