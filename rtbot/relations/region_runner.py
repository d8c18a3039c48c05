"""A region and its sources: transactions close as all sources pass them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations.change_feed import (
    FIRST,
    LAST,
    ChangeFeed,
    TimedRows,
    find_times,
    group_rows,
    join_rows,
    make_empty_rows,
)
from rtbot.relations.deltas import Deltas, make_empty_deltas
from rtbot.relations.expiry import Expiry
from rtbot.relations.region import Region
from rtbot.relations.row_codec import RowCodec, list_text_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.relations.region import BadTransaction, Closed
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

STOP = "stop"


@dataclass
class Released:
    """What a region released, by output; `bad` is the transaction at which it stopped, if any.

    That one is still there: `RegionRunner.discard` drops it.
    """

    outputs: dict[str, TimedRows] = field(default_factory=dict)
    bad: BadTransaction | None = None


class RegionRunner:
    """Closes the transactions of a region.

    `lateness` is that of every source that has one. The row over nothing of a GroupBy without keys
    is stamped one before the first transaction that takes effect.
    """

    def __init__(
        self,
        plan: RegionPlan,
        texts: StringDictionary,
        compiled: bool | str | None,
        lateness: Mapping[str, int | None],
    ) -> None:
        self.plan = plan
        self.region = Region(plan, texts, compiled)
        self.codecs = {
            name: RowCodec(plan.streams[stream], texts) for name, stream in plan.outputs.items()
        }
        self.feeds = {
            source.name: ChangeFeed(
                source.name,
                RowCodec(plan.streams[source.stream], texts),
                lateness.get(source.name),
            )
            for source in plan.sources
        }
        self.expiries = {
            source.name: Expiry(source.ttl, plan.streams[source.stream], self.region.code.kernels)
            for source in plan.sources
            if source.ttl is not None
        }
        self.begun = not any(has_row_over_nothing(node) for node in plan.nodes)
        self._early: Mapping[str, Deltas] | None = None

    @property
    def frontier(self) -> int:
        """The time up to which all outputs are final; FIRST before there is any."""
        reached = min(feed.frontier for feed in self.feeds.values())
        for feed in self.feeds.values():
            waiting = feed.find_earliest()
            if waiting is not None and waiting <= reached:
                reached = max(waiting - 1, FIRST)
        if not self.begun and FIRST < reached < LAST:
            reached -= 1
        return reached

    def feed_rows(self, name: str, rows: TimedRows, reached: int) -> None:
        """Take rows of a source that are before it, up to a time; those that expire do so."""
        feed, expiry = self.feeds[name], self.expiries.get(name)
        if expiry is not None:
            rows, reached = expiry.take(rows), expiry.find_frontier(reached, LAST)
        feed.add(rows)
        feed.advance(reached)

    # ---- transactions

    def run(self) -> Released:
        """Close all transactions that the sources have passed, up to a bad one where it stops."""
        until = min(feed.frontier for feed in self.feeds.values())
        taken = {name: feed.take(until) for name, feed in self.feeds.items()}
        times = find_times([*taken.values()])
        released = Released()
        if not len(times):
            return self._finish(released, [])
        if not self.begun and self._early is None:
            self._begin(int(times[0]))
        inputs = {name: group_rows(rows, times) for name, rows in taken.items()}
        parts: list[dict[str, TimedRows]] = []
        at = 0
        while at < len(times):
            rest = {name: deltas.cut(at, len(times)) for name, deltas in inputs.items()}
            closed = self.region.close(times[at:], rest)
            if closed.taken:
                parts.append(self._stamp(closed, times[at:]))
            at += closed.taken
            if closed.fault is None:
                break
            if self.plan.on_bad_transaction == STOP:
                released.bad = closed.fault
                self._put_back(taken, inputs, at)
                break
            for name, deltas in inputs.items():
                self.feeds[name].lose("discarded", int(deltas.starts[at + 1] - deltas.starts[at]))
            at += 1
        return self._finish(released, parts)

    def release_over_nothing(self) -> dict[str, TimedRows]:
        """Return the rows that outputs have over nothing, where no transaction has taken effect.

        They have no time: there it is 0. Nothing changes that can be seen.
        """
        if self.begun:
            return {}
        if self._early is None:
            self._begin(0)
        return {
            name: TimedRows(np.zeros(len(deltas), np.int64), deltas.words, deltas.weights)
            for name, deltas in (self._early or {}).items()
        }

    def discard(self, bad: BadTransaction) -> None:
        """Drop the transaction at which it stopped."""
        for feed in self.feeds.values():
            feed.lose("discarded", len(feed.take(bad.time)))

    def _begin(self, first: int) -> None:
        """Let operators release what they do over nothing, in a transaction before the first."""
        nothing = {
            source.name: make_empty_deltas(1, self.plan.streams[source.stream].width)
            for source in self.plan.sources
        }
        closed = self.region.close(np.array([max(first - 1, FIRST)]), nothing)
        assert closed.fault is None, "a transaction without changes is not bad"
        self._early = closed.outputs

    def _stamp(self, closed: Closed, times: np.ndarray) -> dict[str, TimedRows]:
        """Return the rows of transactions that took effect with their times."""
        done = times[: closed.taken]
        found = {
            name: TimedRows(np.repeat(done, np.diff(d.starts)), d.words, d.weights)
            for name, d in closed.outputs.items()
        }
        if self._early is not None:
            early, self._early, self.begun = self._early, None, True
            before = max(int(times[0]) - 1, FIRST)
            for name, deltas in early.items():
                stamped = np.full(len(deltas), before)
                rows = TimedRows(stamped, deltas.words, deltas.weights)
                found[name] = join_rows([rows, found[name]])
        return found

    def _put_back(
        self, taken: Mapping[str, TimedRows], inputs: Mapping[str, Deltas], at: int
    ) -> None:
        for name, rows in taken.items():
            self.feeds[name].put_back(rows.cut(int(inputs[name].starts[at]), len(rows)))

    def _finish(self, released: Released, parts: list[dict[str, TimedRows]]) -> Released:
        for name, stream in self.plan.outputs.items():
            rows = [part[name] for part in parts]
            width = self.plan.streams[stream].width
            released.outputs[name] = join_rows(rows) if rows else make_empty_rows(width)
        return released

    # ---- saving

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in its state and in rows that wait."""
        yield from self.region.list_text_codes()
        for feed in self.feeds.values():
            yield from feed.list_text_codes()
        for expiry in self.expiries.values():
            yield from expiry.list_text_codes()
        for name, deltas in (self._early or {}).items():
            schema = self.plan.streams[self.plan.outputs[name]]
            yield from list_text_words(schema, deltas.words)

    def save(self) -> Saved:
        """Return its state: values that JSON can hold, and arrays."""
        state, own = self.region.save()
        arrays = {f"region/{name}": array for name, array in own.items()}
        feeds = {}
        for name, feed in self.feeds.items():
            feeds[name], own = feed.save()
            arrays |= {f"feed {name}/{field}": array for field, array in own.items()}
        expiries = {}
        for name, expiry in self.expiries.items():
            expiries[name], own = expiry.save()
            arrays |= {f"expiry {name}/{field}": array for field, array in own.items()}
        for name, deltas in (self._early or {}).items():
            arrays[f"early {name}/words"] = deltas.words.ravel()
            arrays[f"early {name}/weights"] = deltas.weights
        values = {
            "region": state,
            "feeds": feeds,
            "expiries": expiries,
            "begun": self.begun,
            "early": self._early is not None,
        }
        return values, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self.region.restore(values["region"], _select(arrays, "region"))
        for name, feed in self.feeds.items():
            feed.restore(values["feeds"][name], _select(arrays, f"feed {name}"))
        for name, expiry in self.expiries.items():
            expiry.restore(values["expiries"][name], _select(arrays, f"expiry {name}"))
        self.begun = bool(values["begun"])
        self._early = None
        if values["early"]:
            self._early = {n: self._restore_early(n, arrays) for n in self.plan.outputs}

    def _restore_early(self, name: str, arrays: Mapping[str, np.ndarray]) -> Deltas:
        own = _select(arrays, f"early {name}")
        width = self.plan.streams[self.plan.outputs[name]].width
        words = own["words"].reshape(-1, width)
        return Deltas(np.array([0, len(words)]), words, own["weights"])


def has_row_over_nothing(node: RegionNode) -> bool:
    """Return whether it has rows before any change: a GroupBy without keys, rules without facts."""
    if node.skeleton == "program":
        return bool(node.setting["begins"])
    return node.skeleton == "grouped" and not node.setting["by"]


def _select(arrays: Mapping[str, np.ndarray], owner: str) -> dict[str, np.ndarray]:
    """Return the arrays of one owner by their own names."""
    begin = f"{owner}/"
    return {
        name.removeprefix(begin): array for name, array in arrays.items() if name.startswith(begin)
    }
