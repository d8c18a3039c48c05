"""Runs the versions of a rule over batches of bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.datalog.evaluation.kernels.binding_joins import BEGIN
from rtbot.datalog.evaluation.ranked_relation import ROOM, estimate_fan_out
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.evaluation.rule_versions import (
    HEAD,
    NOTHING,
    AssignStep,
    AtomStep,
    NegationStep,
    TestStep,
    VersionPlanner,
)
from rtbot.datalog.evaluation.term_walks import list_literal_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from rtbot.datalog.evaluation.ranked_relation import RankedRelation
    from rtbot.datalog.evaluation.rule_versions import Step, VersionPlan
    from rtbot.datalog.evaluation.term_values import TermValues
    from rtbot.datalog.program import Rule

    Filter = tuple[int, int, int, int]
    Filters = Mapping[int, Filter]
    Act = Callable[["VersionPlan", np.ndarray, int], None]

HIGHEST = 2**62
REPLANNED, FEW = 4, 64
"""A version is planned again when a relation is so many times as large or small, and not small."""


class Workspace:
    """What the rules of a program share: relations, buffers of bindings, terms, fan-outs.

    `pause` is called between batches and may raise.
    """

    def __init__(
        self,
        kernels: ModuleType,
        relations: Mapping[str, RankedRelation],
        values: TermValues,
        pause: Callable[[], None],
    ) -> None:
        self.kernels, self.relations, self.values = kernels, relations, values
        self.pause = pause
        self.slots = 2
        self.tags = np.empty(ROOM + 1, np.int64)
        self._buffers: list[np.ndarray] = []
        self._heads: list[np.ndarray] = []
        self._fan_outs: dict[tuple[str, tuple[int, ...]], tuple[int, float]] = {}

    def find_buffer(self, depth: int) -> np.ndarray:
        """Return the buffer of a depth, flat: `slots` columns of ROOM bindings."""
        if self._buffers and len(self._buffers[0]) < self.slots * ROOM:
            self._buffers.clear()
            self._heads.clear()
        while len(self._buffers) <= depth:
            self._buffers.append(np.empty(self.slots * ROOM, np.int64))
            self._heads.append(np.empty(ROOM + 1, np.int64))
        return self._buffers[depth]

    def find_heads(self, depth: int) -> np.ndarray:
        """Return the scratch of a depth for the rows that bindings lead to."""
        return self._heads[depth]

    def estimate_fan_out(self, name: str, columns: tuple[int, ...]) -> float:
        """Return how many rows of a relation fit one key, about."""
        relation = self.relations[name]
        size = len(relation)
        if len(columns) == relation.width:
            return min(size, 0.5)
        if not columns:
            return size
        known = self._fan_outs.get((name, columns))
        if known is None or not _is_like(known[0], size):
            known = size, estimate_fan_out(relation, columns)
            self._fan_outs[name, columns] = known
        return known[1] * size / max(known[0], 1)

    def count_bytes(self) -> int:
        """Return how much memory the buffers take."""
        return sum(array.nbytes for array in (*self._buffers, *self._heads, self.tags))


def _is_like(before: int, size: int) -> bool:
    return size <= REPLANNED * before + FEW and before <= REPLANNED * size + FEW


class RuleRunner:
    """Runs the versions of one rule. `inner` are the places of its atoms of its own stratum."""

    def __init__(self, rule: Rule, space: Workspace, inner: Iterable[int]) -> None:
        self.rule, self.space = rule, space
        self.inner = frozenset(inner)
        self.planner = VersionPlanner(rule, space.values.encode)
        self.types = tuple(variable.type for variable in rule.variables)
        self.types += ("", "", *space.relations[rule.relation].types)
        space.slots = max(space.slots, self.planner.slots)
        self.plans: dict[int, VersionPlan] = {}
        self._read = {step.relation for step in self._atoms()}
        self._filters: Filters = {}
        self._tracks = False
        self._act: Act | None = None

    def _atoms(self) -> list[AtomStep | NegationStep]:
        plan = self.planner.plan(NOTHING, lambda _name, _columns: 0.0, {})
        return [s for s in plan.steps if isinstance(s, AtomStep | NegationStep)]

    def find_plan(self, start: int) -> VersionPlan:
        """Return the plan of a version, made again when sizes are no longer like those it had."""
        relations = self.space.relations
        plan = self.plans.get(start)
        if plan is not None and all(
            _is_like(size, len(relations[name])) for name, size in plan.sizes.items()
        ):
            return plan
        sizes = {name: len(relations[name]) for name in self._read}
        plan = self.planner.plan(start, self.space.estimate_fan_out, sizes)
        self.plans[start] = plan
        return plan

    def run(
        self, start: int, ids: np.ndarray, filters: Filters, act: Act, *, tracks: bool = False
    ) -> None:
        """Run a version from rows of its start, and act on its bindings, batch by batch.

        `filters` says by the place of a literal which of its rows pass, or for a negation which
        marks count. The highest rank of rows of the own stratum is found if `tracks`.
        """
        self._filters, self._act, self._tracks = filters, act, tracks
        plan = self.find_plan(start)
        space = self.space
        buffer = space.find_buffer(0)
        step = plan.start
        if step is None:
            buffer[plan.ranks * ROOM] = -1
            self._go(plan, plan.steps, 0, 1)
            return
        relation = space.relations[step.relation]
        passed = filters.get(start, EVERY)
        own = start in self.inner
        for first in range(0, len(ids), ROOM):
            last = min(first + ROOM, len(ids))
            count = space.kernels.load_rows(
                ids, first, last, buffer, ROOM, relation.rows, relation.width, step.new, step.same,
                step.checks, self.planner.constants, plan.ranks if tracks and own else -1,
                self.planner.head_id if start == HEAD else -1, *passed,
            )  # fmt: skip
            if tracks and not own:
                buffer[plan.ranks * ROOM : plan.ranks * ROOM + count] = -1
            if count:
                self._go(plan, plan.steps, 0, count)

    def _go(self, plan: VersionPlan, steps: Sequence[Step], depth: int, count: int) -> None:
        """Take bindings in the buffer of a depth through steps, and act on what is left."""
        space = self.space
        buffer = space.find_buffer(depth)
        for place, step in enumerate(steps):
            if isinstance(step, AtomStep):
                self._join(plan, step, steps[place + 1 :], depth, count)
                return
            if isinstance(step, NegationStep):
                count = self._reject(step, depth, count)
            elif isinstance(step, AssignStep):
                count = self._assign(plan, step, depth, count)
            else:
                count = self._test(plan, step, depth, count)
            if not count:
                return
        space.pause()
        assert self._act is not None
        self._act(plan, buffer, count)

    def _join(
        self, plan: VersionPlan, step: AtomStep, rest: Sequence[Step], depth: int, count: int
    ) -> None:
        space, kernels = self.space, self.space.kernels
        relation = space.relations[step.relation]
        index = relation.find_index(step.columns)
        buffer, out = space.find_buffer(depth), space.find_buffer(depth + 1)
        heads = space.find_heads(depth)
        kernels.probe_keys(
            buffer, ROOM, count, step.keys, self.planner.constants, relation.rows, relation.stride,
            index.places, index.table, index.links, heads,
        )  # fmt: skip
        state = np.array([0, BEGIN])
        ranks = plan.ranks if self._tracks and step.literal in self.inner else -1
        passed = self._filters[step.literal]
        while state[0] < count:
            made = kernels.join_rows(
                buffer, count, out, ROOM, state, heads, step.keep, relation.rows, relation.width,
                index.links, step.new, step.same, ranks, *passed,
            )  # fmt: skip
            if made:
                self._go(plan, rest, depth + 1, made)

    def _reject(self, step: NegationStep, depth: int, count: int) -> int:
        space, kernels = self.space, self.space.kernels
        relation = space.relations[step.relation]
        index = relation.find_index(step.columns)
        buffer, heads = space.find_buffer(depth), space.find_heads(depth)
        kernels.probe_keys(
            buffer, ROOM, count, step.keys, self.planner.constants, relation.rows, relation.stride,
            index.places, index.table, index.links, heads,
        )  # fmt: skip
        left: int = kernels.reject_bindings(
            buffer, ROOM, count, heads, step.keep, relation.rows, relation.width, index.links,
            self._filters[step.literal][0],
        )  # fmt: skip
        return left

    def _columns(self, depth: int) -> np.ndarray:
        return self.space.find_buffer(depth).reshape(-1, ROOM)

    def _assign(self, plan: VersionPlan, step: AssignStep, depth: int, count: int) -> int:
        values, columns = self.space.values, self._columns(depth)
        values.begin(self.types)
        columns[step.slot, :count] = values.compute(step.term, columns, count)
        if values.failed is None:
            return count
        chosen = self._check_failed(plan, step, depth)
        assert step.waiting is not None
        others = [step.slot, plan.ranks, self.planner.head_id]
        keep = np.array([*sorted(step.waiting.bound), *others], np.int64)
        return self._choose(depth, count, chosen, keep)

    def _test(self, plan: VersionPlan, step: TestStep, depth: int, count: int) -> int:
        values, columns = self.space.values, self._columns(depth)
        values.begin(self.types)
        chosen = values.test(step.comparison, columns, count)
        if values.failed is not None:
            chosen &= self._check_failed(plan, step, depth)
        return self._choose(depth, count, chosen, step.keep)

    def _choose(self, depth: int, count: int, chosen: np.ndarray, keep: np.ndarray) -> int:
        buffer = self.space.find_buffer(depth)
        left: int = self.space.kernels.choose_bindings(buffer, ROOM, count, chosen, keep)
        return left

    def _check_failed(
        self, plan: VersionPlan, step: AssignStep | TestStep, depth: int
    ) -> np.ndarray:
        """Raise if a binding for which a term has no value fits all else; return the others."""
        values = self.space.values
        failed, reason = values.failed, values.reason
        assert failed is not None
        assert step.waiting is not None
        steps, known = self.planner.plan_check(step.waiting, self.space.estimate_fan_out)
        columns = self._columns(depth)
        rows = np.flatnonzero(failed)
        self.space.find_buffer(depth + 1)
        self._columns(depth + 1)[:, : len(rows)] = columns[:, rows]
        act, tracks = self._act, self._tracks

        def fail(_plan: VersionPlan, buffer: np.ndarray, _count: int) -> None:
            raise self.make_error(reason, buffer.reshape(-1, ROOM)[:, 0], known)

        self._act, self._tracks = fail, False
        self._go(plan, steps, depth + 1, len(rows))
        self._act, self._tracks = act, tracks
        return ~failed

    def compute_head(self, plan: VersionPlan, buffer: np.ndarray, count: int) -> None:
        """Compute the columns of the head that are no variables."""
        if not plan.computed:
            return
        values, columns = self.space.values, buffer.reshape(-1, ROOM)
        values.begin(self.types)
        for slot, term in plan.computed:
            columns[slot, :count] = values.compute(term, columns, count)
            if values.failed is not None:
                row = int(values.failed.argmax())
                known = sorted(self.find_bound())
                raise self.make_error(values.reason, columns[:, row], known)

    def find_bound(self) -> set[int]:
        """Return the variables that have values when the body is done."""
        return {v for literal in self.rule.body for v in list_literal_variables(literal)}

    def make_error(self, reason: str, column: np.ndarray, known: Sequence[int]) -> RuleError:
        """Return the error of a binding, given by its slots."""
        bindings = {}
        for slot in known:
            if slot < self.planner.count and not self.rule.variables[slot].name.startswith("_"):
                value = self.space.values.decode_value(int(column[slot]), self.types[slot])
                bindings[self.rule.variables[slot].name] = value
        hint = "the commit is taken back; a constraint can leave such rows out"
        return RuleError(reason, code="RT520", hint=hint, rule=self.rule, bindings=bindings)


EVERY: Filter = (0, 0, -1, HIGHEST)
