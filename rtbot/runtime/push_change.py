"""One change of `push_one`: no tables where the transactions that close are small and good."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from rtbot.relations.change_feed import LAST
from rtbot.relations.row_buffer import ROOM
from rtbot.relations.row_bytes import RowPacker, RowReader
from rtbot.relations.small_region import SmallRegion, fits
from rtbot.runtime.stage_runners import RegionStageRunner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.relations.change_feed import ChangeFeed
    from rtbot.relations.row_buffer import WaitingRow
    from rtbot.runtime.staged_session import StagedSession


class ChangePath:
    """The short way of the changes of one input through its region.

    It decides before anything has changed whether it can serve; what it cannot (errors, late rows,
    values that have to be converted, large transactions) is left to `StagedSession.push`.
    """

    def __init__(self, session: StagedSession, name: str, region: ChangeRegion) -> None:
        self.session, self.region = session, region
        self.feed = region.feeds[name]
        self.packer = RowPacker(self.feed.codec.schema, session.texts)

    def push(self, time: Any, value: Any, weight: Any) -> dict[str, Any] | None:
        """Push one change; None if the general way has to do it, where nothing has changed."""
        row = self._read(time, value, weight)
        if row is None:
            return None
        feed, feeds = self.feed, self.region.feeds.values()
        until = time - 1
        for other in feeds:
            if other is not feed:
                until = min(until, other.frontier)
        released: dict[str, Any] | None = {}
        for other in feeds:
            if other.find_first() <= until:
                released = self.region.close(until)
                break
        if released is not None:
            feed.add_single(row)
        return released

    def _read(self, time: Any, value: Any, weight: Any) -> WaitingRow | None:
        """Return a change as it waits, if the session and its input take it as it is."""
        session, feed = self.session, self.feed
        if session.finished or session.broken or session.closed or session.ending:
            return None
        if session.stopped or session.callbacks or session.time_column is None:
            return None
        if type(time) is not int or type(weight) is not int or not -LAST <= weight <= LAST:
            return None
        if not (weight and feed.newest <= time < LAST and feed.floor < time):
            return None
        if feed.held >= session.queue_limit or session.texts.is_crowded():
            return None
        words = self.packer.pack(value)
        return None if words is None else (time, weight, words)


class ChangeRegion:
    """A region that is fed from outside alone, as `push_one` runs it.

    `outputs` are the outputs of the session that it makes, with the readers of their rows.
    """

    def __init__(self, session: StagedSession, stage: RegionStageRunner) -> None:
        self.session, self.runner = session, stage.runner
        self.feeds: dict[str, ChangeFeed] = stage.runner.feeds
        self.code = stage.code
        self.small = SmallRegion(stage.runner.region)
        self.outputs = [
            (output, name, RowReader(session.plan.change_outputs[output], session.texts))
            for output, wanted in session.plan.outputs.items()
            for name, ref in stage.stage.outputs.items()
            if ref == wanted
        ]

    def close(self, until: int) -> dict[str, Any] | None:
        """Close the one transaction up to a time; None if there are several, or it is bad or large.

        Nothing has changed then.
        """
        given = self._take_rows(until)
        if given is None or not self.runner.begun:
            return None
        session, tiered = self.session, self.code.tiers
        started = perf_counter() if tiered else 0.0
        session.broken = True
        is_done = self.small.take(given)
        session.broken = False
        if not is_done:
            return None
        time = LAST
        for name, rows in given.items():
            if rows:
                time = rows[0][0]
                del self.feeds[name].single[: len(rows)]
        released: dict[str, Any] = {}
        for output, name, reader in self.outputs:
            made = self.small.outputs[name]
            count = made.ends[1]
            if count:
                session.rows[output] += count
                released[output] = reader.read(made, time)
        if tiered:
            self.code.spend(perf_counter() - started, _rehearse_nothing)
        return released

    def _take_rows(self, until: int) -> dict[str, Sequence[WaitingRow]] | None:
        """Return the rows of every source up to a time, if all have one time and they are few."""
        found: dict[str, Sequence[WaitingRow]] = {}
        first = LAST
        for feed in self.feeds.values():
            first = min(first, feed.find_first())
        for name, feed in self.feeds.items():
            if not feed.hold_singly():
                return None
            rows, count = feed.single, 0
            for at, _, _ in rows:
                if at > until:
                    break
                if at != first or count == ROOM:
                    return None
                count += 1
            found[name] = rows[:count]
        return found


def choose_change_paths(session: StagedSession) -> dict[str, ChangePath]:
    """Return the short ways of inputs, where all stages are regions that are fed from outside."""
    paths: dict[str, ChangePath] = {}
    for stage in session.stages:
        if not isinstance(stage, RegionStageRunner) or not stage.stage.sources:
            return {}
        if not all(source.is_input for source in stage.stage.sources):
            return {}
        runner = stage.runner
        if any(feed.lateness for feed in runner.feeds.values()):
            continue
        if fits(runner.region):
            region = ChangeRegion(session, stage)
            paths |= {name: ChangePath(session, name, region) for name in runner.feeds}
    return paths


def _rehearse_nothing() -> None:
    """Functions note the types of their arguments when they are called."""
