"""Reports of checked operators as text and as data of the types of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.conformance.check_operator import CHECKS
from rtbot.core.aligned_text import align_cells
from rtbot.core.number_text import format_count
from rtbot.graph.packages import describe_origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.conformance.check_operator import OperatorReport


def format_reports(reports: Sequence[OperatorReport]) -> Iterator[str]:
    """Yield a table of all operators and checks, then what failed."""
    rows = [[report.operator.__name__, *_list_cells(report)] for report in reports]
    right = [False] * (len(CHECKS) + 1) + [True]
    yield from align_cells([["operator", *CHECKS, "rows/s"], *rows], right)
    for report in reports:
        for failure in report.failures:
            yield ""
            yield f"{report.operator.__name__}, {failure.check}: {CHECKS[failure.check]}"
            yield from (f"  {line}" for line in failure.lines)
            if failure.graph is not None:
                yield "  in this graph:"
                yield from (f"    {line}" for line in failure.graph.to_yaml().splitlines() if line)


def _list_cells(report: OperatorReport) -> list[str]:
    failed = {failure.check for failure in report.failures}
    cells = ["FAIL" if c in failed else "ok" if c in report.counts else "-" for c in CHECKS]
    speed = report.throughput
    return [*cells, "-" if speed is None else f"{speed / 1e6:.1f} M"]


def format_verdict(reports: Sequence[OperatorReport]) -> str:
    """Return the result in a sentence."""
    failed = [report.operator.__name__ for report in reports if not report.passed]
    if failed:
        return f"not as it should be: {', '.join(failed)}"
    checks = sum(sum(report.counts.values()) for report in reports)
    many = format_count(len(reports), "operator")
    return f"{many}: all is as it should be, in {format_count(checks, 'check')}"


def report_to_json(report: OperatorReport) -> dict[str, Any]:
    """Return a report as JSON has it."""
    return {
        "operator": report.operator.__name__,
        "origin": describe_origin(report.operator),
        "passed": report.passed,
        "checks": dict(report.counts),
        "failures": [
            {
                "check": failure.check,
                "lines": list(failure.lines),
                "graph": None if failure.graph is None else failure.graph.to_yaml(),
            }
            for failure in report.failures
        ],
        "rows_per_second": None if report.throughput is None else round(report.throughput),
    }
