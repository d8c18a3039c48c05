"""A slice of the random graphs with change streams of `python -m tests.torture`."""

import pytest

from tests import change_graphs
from tests.harness import Mismatch


@pytest.mark.parametrize("number", [3, 5, 6, 11])
def test_all_runs_of_a_graph_release_what_is_computed_anew(number):
    change_graphs.check(f"suite/changes{number}")


def test_another_content_is_found(monkeypatch):
    right = change_graphs.ChangeCase.list_bags
    monkeypatch.setattr(change_graphs.ChangeCase, "list_bags", lambda c, t: right(c, t - 1))
    with pytest.raises(Mismatch, match=r"at -?\d+: Counter"):
        change_graphs.check("suite/changes5")


def test_another_run_is_found(monkeypatch):
    monkeypatch.setattr(change_graphs.ChangeFeeder, "_one", lambda *_: None)
    with pytest.raises(Mismatch):
        change_graphs.check("suite/changes3")
