"""One graph and one data set run in many ways, whose outputs must be the same bits.

    report = compare(graph, "prices.csv", key=("symbol",), ComparisonOptions(runs=10))
    print(report)

`rtbot compare` and `Graph.compare` are built on these.
"""

from __future__ import annotations

from rtbot.compare.read import compare
from rtbot.compare.report import ComparisonReport, MinimalDifference, VariantOutcome
from rtbot.compare.save import replay, save
from rtbot.compare.variants import ComparisonOptions

__all__ = [
    "ComparisonOptions",
    "ComparisonReport",
    "MinimalDifference",
    "VariantOutcome",
    "compare",
    "replay",
    "save",
]
