"""Updates of a stratum by ranked support.

A row has the rank at which it came in, from a counter that never goes back, and the number of its
derivations whose rows of the same stratum all have a lower rank. Such a derivation proves the row,
as ranks fall along it. An epoch takes the derivations away that earlier strata end, takes the rows
out that have none left, wave by wave, brings those back that have another derivation from what is
left, and then adds what is new, round by round (semi-naive evaluation).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import distinct
from rtbot.datalog.evaluation.kernels.ranked_rows import FACT, IN, LEAVING, OUT, WAS
from rtbot.datalog.evaluation.ranked_relation import NO_IDS, ROOM
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.evaluation.rule_versions import HEAD, NOTHING
from rtbot.datalog.evaluation.version_runner import EVERY, HIGHEST, RuleRunner
from rtbot.datalog.program import Atom, Comparison, Negation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.datalog.evaluation.group_updates import GroupUpdate
    from rtbot.datalog.evaluation.ranked_relation import RankedRelation
    from rtbot.datalog.evaluation.rule_forms import Stratum
    from rtbot.datalog.evaluation.rule_versions import VersionPlan
    from rtbot.datalog.evaluation.version_runner import Act, Filter, Workspace

BOTH = WAS | IN
SHARE, LARGE = 3, 2
"""A stratum is evaluated from scratch once more than one in so many of its rows are taken out, or
if more than one in so many rows that it reads have changed."""

Facts = tuple[np.ndarray, np.ndarray]


class Ranks:
    """The counter of rounds, and the limits on rounds and rows of an epoch."""

    def __init__(self, max_facts: int, max_iterations: int) -> None:
        self.now = 0
        self.max_facts, self.max_iterations = max_facts, max_iterations
        self.facts = 0

    def advance(self) -> int:
        """Return the rank of a new round."""
        self.now += 1
        return self.now

    @contextmanager
    def lift_limits(self) -> Iterator[None]:
        """Let there be no limits inside the block."""
        limits = self.max_facts, self.max_iterations
        self.max_facts = self.max_iterations = HIGHEST
        try:
            yield
        finally:
            self.max_facts, self.max_iterations = limits


class StratumUpdate:
    """The rows of one stratum's relations, and how they follow those of earlier strata."""

    def __init__(
        self,
        stratum: Stratum,
        space: Workspace,
        ranks: Ranks,
        limits: Mapping[str, int],
        groups: Sequence[GroupUpdate],
    ) -> None:
        self.stratum, self.space, self.ranks, self.groups = stratum, space, ranks, groups
        self.relations = [space.relations[name] for name in stratum.relations]
        self.limits = {n: limits[n] for n in stratum.relations if n in limits}
        own = frozenset(stratum.relations)
        self.runners = [
            RuleRunner(rule, space, [k for k, e in enumerate(rule.body)
                                     if isinstance(e, Atom) and e.relation in own])
            for rule in stratum.rules
        ]  # fmt: skip
        self.recursive = any(runner.inner for runner in self.runners)
        self.lower = [_list_lower(runner) for runner in self.runners]
        self.reads = {
            _relation_of(runner.rule.body[k])
            for runner, places in zip(self.runners, self.lower, strict=True)
            for k in places
        }
        self.begun = False
        self.rounds = 0

    def update(self, facts: Mapping[str, Facts]) -> None:
        """Take in an epoch: facts that go and come, and what has changed in earlier strata."""
        changes = {name: self.space.relations[name].list_changed() for name in self.reads}
        touched = any(len(ids) for pair in changes.values() for ids in pair)
        touched = touched or any(facts.get(r.name) is not None for r in self.relations)
        if touched or not self.begun:
            self._update(facts, changes)
        self.ranks.facts += sum(map(len, self.relations)) if self.runners else 0

    def _update(self, facts: Mapping[str, Facts], changes: Mapping[str, Facts]) -> None:
        self.rounds = 0
        self._remove_facts(facts)
        begun, self.begun = self.begun, True
        if not begun or self._is_large(changes) or self.limits or self.groups:
            self._restart(facts)
        elif self.recursive:
            self._update_recursive(facts, changes)
        else:
            self._lose(changes)
            self.add_facts(facts)
            self._gain(changes)
            self._take_out_due(0)
            self._check_facts(None)
        for relation in self.relations:
            relation.take_fresh()

    def _is_large(self, changes: Mapping[str, Facts]) -> bool:
        changed = sum(len(ids) for pair in changes.values() for ids in pair)
        return LARGE * changed > sum(len(self.space.relations[name]) for name in self.reads)

    def _update_recursive(self, facts: Mapping[str, Facts], changes: Mapping[str, Facts]) -> None:
        before = sum(map(len, self.relations))
        self._lose(changes)
        taken: dict[str, list[np.ndarray]] = {r.name: [] for r in self.relations}
        count = 0
        while True:
            wave = self._take_out_due(LEAVING | OUT)
            if not wave:
                break
            for name, ids in wave.items():
                taken[name].append(ids)
                count += len(ids)
            if SHARE * count > before:
                self._restart(facts)
                return
            self._lose_by_wave(wave)
        self.ranks.advance()
        self.add_facts(facts)
        self._gain(changes)
        self._bring_back({n: np.concatenate(ids) for n, ids in taken.items() if ids})
        self._go_on()

    def _restart(self, facts: Mapping[str, Facts]) -> None:
        """Evaluate from scratch."""
        rank = self.ranks.advance()
        for group in self.groups:
            group.asked.clear()
        for relation in self.relations:
            relation.reserve_lists(relation.count)
            relation.take_pending()
            self.space.kernels.empty_rows(
                relation.rows, relation.width, relation.meta, relation.log
            )
            relation.take_fresh()
        self.add_facts(facts)
        for relation in self.relations:
            relation.reserve_lists(relation.count)
            self.space.kernels.fill_with_facts(
                relation.rows, relation.width, relation.meta, relation.log, relation.fresh, rank
            )
        for runner, lower in zip(self.runners, self.lower, strict=True):
            if not runner.inner:
                filters = dict.fromkeys(lower, AFTER)
                runner.run(NOTHING, NO_IDS, filters, self._adding(runner, rank, -1))
                self._check_facts(runner)
        self._go_on()

    def _remove_facts(self, facts: Mapping[str, Facts]) -> None:
        for relation in self.relations:
            words, _ = facts.get(relation.name, (NO_IDS, NO_IDS))
            flat = words.reshape(-1)
            for first in range(0, len(words), ROOM):
                last = min(first + ROOM, len(words))
                relation.reserve_lists(last - first)
                self.space.kernels.drop_facts(
                    flat, first, last, relation.rows, relation.width, relation.places,
                    relation.table, relation.meta, relation.log, relation.pending,
                )  # fmt: skip

    def add_facts(self, facts: Mapping[str, Facts], mark: int = FACT) -> None:
        """Put the facts that come, with a mark that says who put them."""
        for relation in self.relations:
            _, words = facts.get(relation.name, (NO_IDS, NO_IDS))
            flat = words.reshape(-1)
            relation.reserve(len(words))
            for first in range(0, len(words), ROOM):
                last = min(first + ROOM, len(words))
                self.space.pause()
                relation.reserve(last - first)
                self.space.kernels.add_facts(
                    flat, first, last, relation.rows, relation.width, relation.places,
                    relation.table, relation.meta, relation.log, relation.fresh, self.ranks.now,
                    mark, relation.tags,
                )  # fmt: skip

    def _lose(self, changes: Mapping[str, Facts]) -> None:
        """Take the derivations away of which a literal of an earlier stratum is no longer true.

        Each is found once, at the first such literal: those before it hold before and after.
        """
        for runner, lower in zip(self.runners, self.lower, strict=True):
            for place in lower:
                _came, went = self._find_trigger(runner, place, changes)
                if len(went):
                    filters = {k: HELD if k < place else BEFORE for k in lower}
                    filters |= dict.fromkeys(runner.inner, BEFORE)
                    self._run(runner, place, went, filters, self._losing(runner))

    def _lose_by_wave(self, wave: Mapping[str, np.ndarray]) -> None:
        """Take the derivations away that rows of a wave were part of."""
        for runner, lower in zip(self.runners, self.lower, strict=True):
            for place in sorted(runner.inner):
                ids = wave.get(_relation_of(runner.rule.body[place]), NO_IDS)
                if len(ids):
                    filters = dict.fromkeys(lower, HELD)
                    filters |= {k: AFTER if k < place else LEFT for k in runner.inner}
                    self._run(runner, place, ids, filters, self._losing(runner))
        for name, ids in wave.items():
            relation = self.space.relations[name]
            self.space.kernels.clear_marks(ids, len(ids), relation.rows, relation.width, LEAVING)

    def _gain(self, changes: Mapping[str, Facts]) -> None:
        """Count the derivations that earlier strata make possible, from rows that are in."""
        rank = self.ranks.now if self.recursive else self.ranks.advance()
        for runner, lower in zip(self.runners, self.lower, strict=True):
            for place in lower:
                came, _went = self._find_trigger(runner, place, changes)
                if len(came):
                    filters = {k: HELD if k < place else AFTER for k in lower}
                    filters |= dict.fromkeys(runner.inner, (IN, 0, -1, rank - 1))
                    self._run(runner, place, came, filters, self._adding(runner, rank, -1))
                    self._check_facts(runner)

    def _find_trigger(self, runner: RuleRunner, place: int, changes: Mapping[str, Facts]) -> Facts:
        """Return the rows by which a literal becomes true, and those by which it ends to be."""
        literal = runner.rule.body[place]
        added, removed = changes[_relation_of(literal)]
        if isinstance(literal, Atom):
            return added, removed
        assert isinstance(literal, Negation)
        if not len(added) and not len(removed):
            return NO_IDS, NO_IDS
        relation = self.space.relations[literal.atom.relation]
        columns = tuple(k for k, term in enumerate(literal.atom.arguments) if term is not None)
        if len(columns) == relation.width:
            return removed, added
        came, went = _find_transitions(relation, columns, np.concatenate((added, removed)))
        return went, came

    def _bring_back(self, taken: Mapping[str, np.ndarray]) -> None:
        """Let rows that were taken out be in again if they have a derivation from what is in."""
        rank = self.ranks.now
        for runner, lower in zip(self.runners, self.lower, strict=True):
            ids = taken.get(runner.rule.relation, NO_IDS)
            if len(ids):
                filters = dict.fromkeys(lower, AFTER)
                filters |= dict.fromkeys(runner.inner, (IN, 0, -1, rank - 1))
                runner.run(HEAD, ids, filters, self._counting(runner))
        for name, ids in taken.items():
            relation = self.space.relations[name]
            relation.reserve_lists(len(ids))
            self.space.kernels.bring_back(
                ids, len(ids), relation.rows, relation.width, relation.meta, relation.fresh, rank
            )

    def _go_on(self) -> None:
        """Add what follows from the newest rows, round by round.

        When nothing does, the first groups that were asked for are complete.
        """
        while True:
            fresh = {relation.name: relation.take_fresh() for relation in self.relations}
            self._check_facts(None)
            if not self.recursive or self._is_full():
                return
            for group in self.groups:
                group.asked.append(fresh[group.group.asked])
            if not any(map(len, fresh.values())):
                if any(group.add_asked() for group in self.groups):
                    continue
                return
            self._begin_round()
            rank = self.ranks.now
            self.ranks.advance()
            for runner, lower in zip(self.runners, self.lower, strict=True):
                self._follow(runner, lower, fresh, rank)

    def _follow(
        self, runner: RuleRunner, lower: list[int], fresh: Mapping[str, np.ndarray], rank: int
    ) -> None:
        """Add what follows by a rule from rows that came in at a rank, and from older ones."""
        for place in sorted(runner.inner):
            ids = fresh[_relation_of(runner.rule.body[place])]
            if not len(ids):
                continue
            filters = dict.fromkeys(lower, AFTER)
            for k in runner.inner:
                filters[k] = (IN, 0, -1, rank - 1 if k < place else rank)
            runner.run(place, ids, filters, self._adding(runner, rank + 1, rank))
            self._check_facts(runner)

    def _begin_round(self) -> None:
        self.rounds += 1
        if self.rounds > self.ranks.max_iterations:
            runner = next(runner for runner in self.runners if runner.inner)
            message = f"more than {self.ranks.max_iterations} rounds without an end"
            hint = "a rule makes new values for ever, or max_iterations is too small"
            raise RuleError(message, code="RT521", hint=hint, rule=runner.rule)

    def _is_full(self) -> bool:
        """Return whether a relation has as many rows as its limit, which ends the stratum."""
        relations = self.space.relations
        return any(len(relations[name]) >= limit for name, limit in self.limits.items())

    def _check_facts(self, runner: RuleRunner | None) -> None:
        if not self.runners:
            return
        count = self.ranks.facts + sum(map(len, self.relations))
        if count > self.ranks.max_facts:
            rule = runner.rule if runner else self.stratum.rules[0]
            message = f"more than {self.ranks.max_facts} derived rows"
            hint = "a rule makes new values for ever, or max_facts is too small"
            raise RuleError(message, code="RT521", hint=hint, rule=rule)

    def _take_out_due(self, marks: int) -> dict[str, np.ndarray]:
        """Take out the rows that nothing supports any more; return their ids by relation."""
        wave = {}
        for relation in self.relations:
            ids = relation.take_pending()
            if not len(ids):
                continue
            relation.reserve_lists(len(ids))
            taken = self.space.kernels.take_out(
                ids, len(ids), relation.rows, relation.width, relation.meta, relation.log, marks
            )
            if taken:
                wave[relation.name] = ids[:taken]
        return wave

    def _run(
        self, runner: RuleRunner, place: int, ids: np.ndarray, filters: dict[int, Filter], act: Act
    ) -> None:
        """Run a version that must know the highest rank of what it finds."""
        runner.run(place, ids, filters | {place: EVERY}, act, tracks=bool(runner.inner))

    def _adding(self, runner: RuleRunner, rank: int, floor: int) -> Act:
        """Return what adds the derivations that bindings are, with new rows at a rank."""
        relation, space = self.space.relations[runner.rule.relation], self.space
        tracked = floor < 0 and bool(runner.inner)

        def add(plan: VersionPlan, buffer: np.ndarray, count: int) -> None:
            runner.compute_head(plan, buffer, count)
            relation.reserve(count)
            space.kernels.add_derivations(
                buffer, ROOM, count, plan.head, runner.planner.constants,
                plan.ranks if tracked else -1, floor, relation.rows, relation.width,
                relation.places, relation.table, relation.meta, relation.log, relation.fresh, rank,
                space.tags,
            )  # fmt: skip
            if self.ranks.facts + len(relation) > self.ranks.max_facts:
                self._check_facts(runner)

        return add

    def _losing(self, runner: RuleRunner) -> Act:
        """Return what takes the derivations that bindings are from their heads."""
        relation, space = self.space.relations[runner.rule.relation], self.space
        tracked = bool(runner.inner)

        def lose(plan: VersionPlan, buffer: np.ndarray, count: int) -> None:
            runner.compute_head(plan, buffer, count)
            relation.reserve(count)
            faults = space.kernels.lose_derivations(
                buffer, ROOM, count, plan.head, runner.planner.constants,
                plan.ranks if tracked else -1, -1, relation.rows, relation.width, relation.places,
                relation.table, relation.meta, relation.log, relation.pending, space.tags,
            )  # fmt: skip
            assert not faults, f"{faults} derivations lost that were never counted"

        return lose

    def _counting(self, runner: RuleRunner) -> Act:
        """Return what counts the derivations of rows that may come back."""
        relation, space = self.space.relations[runner.rule.relation], self.space

        def count_again(_plan: VersionPlan, buffer: np.ndarray, count: int) -> None:
            space.kernels.count_derivations(
                buffer, ROOM, count, runner.planner.head_id, relation.rows, relation.width
            )

        return count_again


BEFORE: Filter = (WAS, 0, -1, HIGHEST)
AFTER: Filter = (IN, 0, -1, HIGHEST)
HELD: Filter = (BOTH, 0, -1, HIGHEST)
LEFT: Filter = (0, IN | LEAVING, -1, HIGHEST)


def _relation_of(literal: object) -> str:
    atom = literal.atom if isinstance(literal, Negation) else literal
    assert isinstance(atom, Atom)
    return atom.relation


def _list_lower(runner: RuleRunner) -> list[int]:
    """Return the places of the literals of earlier strata."""
    return [
        k
        for k, literal in enumerate(runner.rule.body)
        if k not in runner.inner and not isinstance(literal, Comparison)
    ]


def _find_transitions(relation: RankedRelation, columns: tuple[int, ...], ids: np.ndarray) -> Facts:
    """Return the keys, as one row of each, that have their first row, and that lost their last."""
    index = relation.find_index(columns)
    heads = np.empty(len(ids), np.int64)
    relation.kernels.find_heads(
        ids, len(ids), relation.rows, relation.stride, index.places, index.table, heads
    )
    heads = distinct(heads)
    came, went = np.empty(len(heads), np.int64), np.empty(len(heads), np.int64)
    more, less = relation.kernels.split_heads(
        heads, len(heads), relation.rows, relation.width, index.links, came, went
    )
    return came[:more], went[:less]
