"""Aggregates: the groups whose rows have changed are computed again, whole."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import sort_equal_rows
from rtbot.datalog.evaluation.kernels.binding_joins import BEGIN
from rtbot.datalog.evaluation.kernels.ranked_rows import FACT
from rtbot.datalog.evaluation.ranked_relation import NO_IDS, ROOM
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.evaluation.rule_forms import WITH_ZERO
from rtbot.datalog.evaluation.stratum_updates import AFTER
from rtbot.datalog.program import FLOAT, NUMBER, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.datalog.evaluation.ranked_relation import RankedRelation
    from rtbot.datalog.evaluation.rule_forms import Group
    from rtbot.datalog.evaluation.stratum_updates import Facts, Ranks
    from rtbot.datalog.evaluation.version_runner import Workspace
    from rtbot.datalog.program import Value

SAFE_SUM = 2.0**62


class GroupUpdate:
    """The relation of (group, aggregate) over another one."""

    def __init__(self, group: Group, space: Workspace, ranks: Ranks) -> None:
        self.group, self.space, self.ranks = group, space, ranks
        self.source = space.relations[group.source]
        self.relation = space.relations[group.relation]
        self.columns = tuple(range(group.width))
        self.begun = True
        self.asked: list[np.ndarray] = []

    def update(self, _facts: Mapping[str, Facts]) -> None:
        """Take in what has changed in the source."""
        ids = np.concatenate(self.source.list_changed())
        if not len(ids):
            self.ranks.facts += len(self.relation)
            return
        keys = self.source.read_rows(ids)[:, : self.group.width]
        order, begins = sort_equal_rows(keys)
        keys = keys[order[begins]]
        for first in range(0, len(keys), ROOM):
            self.space.pause()
            self._update_groups(keys[first : first + ROOM])
        self.relation.take_fresh()
        self.ranks.facts += len(self.relation)

    def add_asked(self) -> bool:
        """Add the groups of the rows of `group.asked` whose ids are in `asked`, and forget these.

        Returns whether there were any. All rows of the source with these groups are there already.
        """
        ids, self.asked = np.concatenate([NO_IDS, *self.asked]), []
        keys = self.space.relations[self.group.asked].read_rows(ids)
        for first in range(0, len(keys), ROOM):
            self.space.pause()
            some = keys[first : first + ROOM]
            found, owners = self._find_rows(some)
            if self.group.how in WITH_ZERO:
                empty = np.delete(some, owners, axis=0)
                zeros = np.column_stack((empty, np.zeros(len(empty), np.int64)))
                found = np.concatenate((found, zeros))
            self._put(found, 0)
        return bool(len(ids))

    def _update_groups(self, keys: np.ndarray) -> None:
        """Let the rows of these groups, no more than ROOM, be as the source has them now."""
        owners, values = self._gather(keys, self.relation)
        self._take_out(np.column_stack((keys[owners], values)))
        self._put(self._find_rows(keys)[0], FACT)

    def _find_rows(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of groups, no more than ROOM, and which of them have one."""
        owners, values = self._gather(keys, self.source)
        starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
        found = self._aggregate(values, starts) if len(owners) else NO_IDS
        return np.column_stack((keys[owners[starts]], found)), owners[starts]

    def _gather(self, keys: np.ndarray, relation: RankedRelation) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that groups have now in a relation: which group, and the last column."""
        space, width = self.space, self.group.width
        index = relation.find_index(self.columns)
        buffer = np.empty((width + 1) * ROOM, np.int64)
        columns = buffer.reshape(-1, ROOM)
        columns[:width, : len(keys)] = keys.T
        columns[width, : len(keys)] = np.arange(len(keys))
        heads, out = np.empty(ROOM + 1, np.int64), np.empty((width + 2) * ROOM, np.int64)
        space.kernels.probe_keys(
            buffer, ROOM, len(keys), np.arange(width), NO_IDS, relation.rows, relation.stride,
            index.places, index.table, index.links, heads,
        )  # fmt: skip
        state, keep = np.array([0, BEGIN]), np.array([width])
        last = [max(relation.width - 1, 0), width + 1]
        owners, found = [], []
        while state[0] < len(keys):
            made = space.kernels.join_rows(
                buffer, len(keys), out, ROOM, state, heads, keep, relation.rows, relation.width,
                index.links, np.array(last), NO_IDS, -1, *AFTER,
            )  # fmt: skip
            owners.append(out.reshape(-1, ROOM)[width, :made].copy())
            found.append(out.reshape(-1, ROOM)[width + 1, :made].copy())
        return np.concatenate(owners), np.concatenate(found)

    def _take_out(self, rows: np.ndarray) -> None:
        relation, kernels = self.relation, self.space.kernels
        relation.reserve_lists(len(rows))
        kernels.drop_facts(
            np.ascontiguousarray(rows).reshape(-1), 0, len(rows), relation.rows, relation.width,
            relation.places, relation.table, relation.meta, relation.log, relation.pending,
        )  # fmt: skip
        ids = relation.take_pending()
        kernels.take_out(
            ids, len(ids), relation.rows, relation.width, relation.meta, relation.log, 0
        )

    def _put(self, words: np.ndarray, mark: int) -> None:
        relation = self.relation
        relation.reserve(len(words))
        self.space.kernels.add_facts(
            np.ascontiguousarray(words).reshape(-1), 0, len(words), relation.rows, relation.width,
            relation.places, relation.table, relation.meta, relation.log, relation.fresh,
            self.ranks.now, mark, relation.tags,
        )  # fmt: skip

    def _aggregate(self, codes: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the aggregates of runs of values that begin at `starts`, as codes."""
        how, kind = self.group.how, self.group.type
        sizes = np.diff(np.append(starts, len(codes)))
        if how == "count":
            return sizes.astype(np.float64).view(np.int64) if kind == FLOAT else sizes
        values = self.space.values
        if how in ("min", "max"):
            (ordered,) = values.order(kind, codes)
            least = (np.minimum if how == "min" else np.maximum).reduceat(ordered, starts)
            chosen = np.flatnonzero(ordered == np.repeat(least, sizes))
            owners = np.searchsorted(starts, chosen, "right") - 1
            _, firsts = np.unique(owners, return_index=True)
            found: np.ndarray = codes[chosen[firsts]]
            return found
        if kind == NUMBER and how == "sum":
            bound = np.abs(codes.astype(np.float64)).max() * sizes.max()
            if bound < SAFE_SUM:
                return np.add.reduceat(codes, starts)
        return self._aggregate_each(codes, starts, sizes)

    def _aggregate_each(
        self, codes: np.ndarray, starts: np.ndarray, sizes: np.ndarray
    ) -> np.ndarray:
        """Compute sums and means exactly, group by group."""
        kind, values = self.group.type, self.space.values
        plain: list[float]
        if kind == FLOAT:
            plain = codes.view(np.float64).tolist()
        else:
            plain = (codes.view(np.uint64) if kind == UNSIGNED else codes).tolist()
        found = []
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            group = plain[start : start + size]
            result: Value = add_exactly(group) if kind == FLOAT else sum(group)
            if self.group.how == "mean":
                found.append(values.encode_value(average_exactly(group), FLOAT))
                continue
            if kind != FLOAT:
                self._check_sum(int(result))
            found.append(values.encode_value(result, kind))
        return np.array(found, np.int64)

    def _check_sum(self, total: int) -> None:
        low, high = (0, 2**64) if self.group.type == UNSIGNED else (-(2**63), 2**63)
        if not low <= total < high:
            message = f"a sum has more than 64 bits: {total}"
            hint = "the commit is taken back; sum floats instead: to_float(x)"
            raise RuleError(message, code="RT520", hint=hint, rule=self.group.rule)


def add_exactly(values: list[float]) -> float:
    """Return the correctly rounded sum; infinities and NaN as in any order of addition."""
    if all(map(math.isfinite, values)):
        try:
            return math.fsum(values)
        except OverflowError:
            return _round(sum(map(Fraction, values), Fraction(0)))
    return sum(value for value in values if not math.isfinite(value))


def average_exactly(values: list[float]) -> float:
    """Return the correctly rounded mean of floats or integers."""
    if all(map(math.isfinite, values)):
        return _round(sum(map(Fraction, values), Fraction(0)) / len(values))
    return add_exactly(values)


def _round(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
