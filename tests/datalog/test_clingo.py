"""Programs have the answer sets of clingo, where it is installed."""

import pytest

from tests.datalog_clingo import Clingo, compare_written, list_written, run

pytest.importorskip("clingo")


def test_programs_that_are_written_out():
    with Clingo() as clingo:
        assert sum(compare_written(clingo, text) for text in list_written()) > 60


def test_random_programs():
    with Clingo() as clingo:
        assert sum(run(clingo, seed, 4, compiled=False) is not None for seed in range(20)) > 15
