"""The account of a session of stages: what came in at every port, and where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.graph.model import Ref
from rtbot.runtime.account import build_account, count_held, count_rows, make_account_line
from rtbot.runtime.stage_runners import RegionStageRunner, SeriesStageRunner

if TYPE_CHECKING:
    from rtbot.relations.region_runner import RegionRunner
    from rtbot.runtime.staged_session import StagedSession


def build_staged_account(session: StagedSession) -> dict[str, Any]:
    """Count in = consumed + held + lost, per operator and port, as `build_account` does.

    Rows of bad transactions are lost as `discarded`, deletes of rows that were not there as
    `excess` if `io.excess` ignores them, those of keys that were not there as `absent`, those of
    rows that had expired as `expired`.
    """
    found: dict[str, Any] = {}
    emitted, expired = _count_emitted(session), _count_expired(session)
    for stage in session.stages:
        if isinstance(stage, SeriesStageRunner):
            found |= build_account(stage.session)["operators"]
    operators = {}
    for name, node in session.plan.checked.nodes.items():
        operators[name] = found.get(name) or {
            port: make_account_line(emitted.get(ref, 0), 0, dict(expired.get(name, {})))
            for port, ref in node.inputs.items()
        }
    inputs = count_inputs(session)
    return {"operators": operators, "inputs": inputs, "outputs": count_rows(session)}


def count_inputs(session: StagedSession) -> dict[str, Any]:
    """Count the rows of every input of the graph."""
    found: dict[str, Any] = {}
    if session.series is not None:
        found |= build_account(session.series)["inputs"]
    for stage in session.stages:
        if isinstance(stage, RegionStageRunner):
            names = [source.name for source in stage.stage.sources if source.is_input]
            found |= {name: _count_input(stage.runner, name) for name in names}
    return {name: found[name] for name in session.specs}


def _count_input(runner: RegionRunner, name: str) -> dict[str, Any]:
    feed, counts = runner.feeds[name], runner.region.counts[name]
    lost = dict(feed.lost)
    found = {"excess": counts.ignored, "absent": counts.absent}
    lost |= {reason: count for reason, count in found.items() if count}
    return make_account_line(feed.arrived, feed.held, dict(sorted(lost.items())))


def _count_emitted(session: StagedSession) -> dict[Ref, int]:
    """Count what came out of streams of changes, and of series that a ToChanges reads."""
    found: dict[Ref, int] = {}
    for stage in session.stages:
        if not isinstance(stage, RegionStageRunner):
            continue
        for name, counts in stage.runner.region.counts.items():
            found[Ref(*name.split(".", 1))] = counts.rows_out
        for source in stage.stage.sources:
            if source.reads_series:
                found[source.ref] = stage.runner.feeds[source.name].arrived
    return found


def _count_expired(session: StagedSession) -> dict[str, dict[str, int]]:
    """Count deletes of rows that had expired, by operator; only where there are some."""
    return {
        name: {"expired": expiry.lost}
        for stage in session.stages
        if isinstance(stage, RegionStageRunner)
        for name, expiry in stage.runner.expiries.items()
        if expiry.lost
    }


def count_staged_held(session: StagedSession) -> dict[str, int]:
    """Count rows that wait, by port or input; only where some do."""
    found: dict[str, int] = {}
    for stage in session.stages:
        if isinstance(stage, SeriesStageRunner):
            found |= count_held(stage.session)
        else:
            feeds = stage.runner.feeds.items()
            found |= {name: feed.held for name, feed in feeds if feed.held}
    return found
