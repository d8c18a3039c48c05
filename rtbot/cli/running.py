"""A graph over files, from the first block read to the last row written."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.errors import DataError
from rtbot.files import Files
from rtbot.formats.blocks import Judge
from rtbot.formats.intake import Intake
from rtbot.formats.outlet import Outlet
from rtbot.formats.wiring import Request, wire
from rtbot.formats.writing import Clock
from rtbot.times import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.api import Graph
    from rtbot.formats.outlet import Target
    from rtbot.session import Session


@dataclass(frozen=True, slots=True)
class Job:
    """What to read and where to write; `request.key` are the key columns of the run."""

    request: Request
    targets: tuple[Target, ...]
    rejects: str | None = None
    account: str | None = None


def execute(
    graph: Graph, job: Job, tell: Callable[[str], object], files: Files | None = None
) -> dict[str, Any]:
    """Run the graph; returns the account. `tell` gets notices.

    Raises DataError with the place in the file. Files other than stdout appear at the end.
    """
    files = files or Files()
    checked = graph.checked
    with ExitStack() as stack:
        rejects = stack.enter_context(files.replacing(job.rejects)) if job.rejects else None
        judge = Judge(checked.io.bad == "drop", rejects)
        intake = Intake(wire(files, checked.inputs, job.request), checked.io.unit, judge)
        for file in intake.naive():
            tell(f"{file}: times without an offset are taken as UTC")
        session = graph.start(job.request.key)
        outlet = stack.enter_context(Outlet(files, job.targets, session.key))
        outlet.open(Clock(intake.unit, intake.style))
        _pump(session, intake, outlet)
        account = session.account()
    if judge.counts:
        account["bad"] = dict(judge.counts)
    if job.account:
        files.write(job.account, (json.dumps(account, indent=2) + "\n").encode())
    return account


def _pump(session: Session, intake: Intake, outlet: Outlet) -> None:
    """Push every block and write what it releases; an input whose file has ended is advanced."""
    for pieces, ended in intake.turns():
        for piece in pieces:
            try:
                outlet.add(session.push(piece.columns))
            except DataError as error:
                raise piece.located(error) from None
        for name in ended:
            outlet.add(session.advance(INT64_MAX, name))
        outlet.end_block(None if session.key else session.frontier())
    outlet.add(session.finish())
    outlet.finish()
