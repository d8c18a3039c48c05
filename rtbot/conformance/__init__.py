"""What every operator must do, tried on operators that somebody wrote.

    for failure in check_operator(Drawdown).failures:
        print(failure.check, *failure.lines)

`rtbot check-operators` is built on this; our own tests draw their cases from here, and have an
oracle for every operator beside it.
"""

from __future__ import annotations

from rtbot.conformance.check_operator import CHECKS, Failure, OperatorReport, check_operator
from rtbot.conformance.check_report import format_reports, format_verdict, report_to_json
from rtbot.conformance.declaration_gaps import list_gaps

__all__ = [
    "CHECKS",
    "Failure",
    "OperatorReport",
    "check_operator",
    "format_reports",
    "format_verdict",
    "list_gaps",
    "report_to_json",
]
