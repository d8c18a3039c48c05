"""The tests that a graph file holds: running them, showing what differs, filling them in.

    suite = load("graphs/bollinger.yaml")
    for test in suite.tests:
        outcome = suite.run(test)
        print(outcome)

`rtbot test`, the plugin of pytest and `Graph.test` are all built on these.
"""

from __future__ import annotations

from rtbot.graph_tests.compare_rows import OutputComparison, RowPair
from rtbot.graph_tests.outcome import Outcome
from rtbot.graph_tests.run_tests import Suite, load_suite
from rtbot.graph_tests.update import update

__all__ = ["Outcome", "OutputComparison", "RowPair", "Suite", "load_suite", "update"]
