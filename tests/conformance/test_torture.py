"""A slice of the torture, and the cases that failed once."""

import pytest

from tests import generate, torture
from tests.catalogue import catalogue


@pytest.mark.parametrize("name", torture.remembered())
def test_what_failed_once(name):
    torture.run_case(name)


@pytest.mark.parametrize("part", range(6))
def test_random_graphs_interpreted(part):
    for number in range(part * 25, part * 25 + 25):
        torture.run_case(f"slice/{number}")


@pytest.mark.parametrize("number", range(6))
def test_random_graphs_compiled(number):
    torture.run_case(f"slice/c{number}", compiled=True)


def test_the_generator_is_not_blind():
    coverage = torture.Counter()
    for number in range(600):
        torture.Checked(generate.case(f"blind/{number}"), coverage).meet()
    engine_only = {name for name in torture.FLOORS if name.startswith(("restore", "refused"))}
    unmet = torture.missing(coverage, 600, catalogue())
    assert {name: count for name, count in unmet.items() if name not in engine_only} == {}
