"""Sources and set operations on random transactions, against bags that are recomputed."""

import pytest

from tests.relations_cases import OPERATORS, check_case, check_chain


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: f"{o[0]}{'-all' * o[1]}")
def test_every_transaction_is_as_recomputed(operator):
    for number in range(4):
        check_case(operator, number)


@pytest.mark.parametrize("place", range(3))
def test_a_fault_in_a_chain_leaves_nothing_behind(place):
    assert sum(check_chain(number, place) for number in range(8)) >= 3


def test_compiled_loops_do_the_same():
    for operator in OPERATORS:
        check_case(operator, 100, "now")
    assert check_chain(0, 1, "now") in {True, False}
