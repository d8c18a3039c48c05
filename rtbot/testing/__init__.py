"""The tests that a graph file holds: running them, telling what differs, filling them in.

    suite = load("graphs/bollinger.yaml")
    for test in suite.tests:
        outcome = suite.run(test)
        print(outcome)

`rtbot test`, the plugin of pytest and `Graph.test` are all made of these.
"""

from __future__ import annotations

from rtbot.testing.comparing import Comparison, Pair
from rtbot.testing.outcome import Outcome
from rtbot.testing.running import Suite, load
from rtbot.testing.updating import update

__all__ = ["Comparison", "Outcome", "Pair", "Suite", "load", "update"]
