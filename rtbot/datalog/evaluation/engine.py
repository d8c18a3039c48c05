"""A program under insertions and removals: commits, what relations hold, and why."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.interrupts import HeldInterrupts
from rtbot.datalog.evaluation.derivations import find_derivation
from rtbot.datalog.evaluation.descriptions import describe_strata
from rtbot.datalog.evaluation.group_updates import GroupUpdate
from rtbot.datalog.evaluation.kernels.ranked_rows import FIXED
from rtbot.datalog.evaluation.ranked_relation import NO_IDS, RankedRelation
from rtbot.datalog.evaluation.rule_forms import make_forms
from rtbot.datalog.evaluation.stratum_updates import Ranks, StratumUpdate
from rtbot.datalog.evaluation.term_values import TermValues
from rtbot.datalog.evaluation.version_runner import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    from rtbot.datalog.evaluation.derivations import Derivation
    from rtbot.datalog.program import Program
    from rtbot.tables.string_dictionary import StringDictionary

    Changes = Mapping[str, tuple[np.ndarray, np.ndarray]]

MAX_FACTS, MAX_ITERATIONS = 100_000_000, 1_000_000


class Evaluation:
    """The relations of a program after each commit.

    Rows are int64[n, width], a code per value: a number as it is, the bits of an unsigned number or
    a float (one NaN, one zero), the code of a symbol in `texts`. `kernels` are the loops of
    rtbot/datalog/evaluation/kernels, compiled or not.
    """

    def __init__(
        self,
        program: Program,
        texts: StringDictionary,
        kernels: ModuleType,
        *,
        max_facts: int = MAX_FACTS,
        max_iterations: int = MAX_ITERATIONS,
    ) -> None:
        self.program, self.texts = program, texts
        self.values = TermValues(texts)
        self.forms = make_forms(program)
        self.relations = {
            name: RankedRelation(kernels, name, types) for name, types in self.forms.types.items()
        }
        self.spend: Callable[[float], None] | None = None
        """Called between batches with the seconds since the last call, if it is set."""
        self._paused = 0.0
        self._interrupts = HeldInterrupts()
        self.on_pause: list[Callable[[], object]] = []
        self.begun = False
        self.ranks = Ranks(max_facts, max_iterations)
        self.space = Workspace(kernels, self.relations, self.values, self._pause)
        limits = {n: r.limit for n, r in program.relations.items() if r.limit is not None}
        self.strata: list[StratumUpdate | GroupUpdate] = [
            StratumUpdate(
                stratum,
                self.space,
                self.ranks,
                limits,
                [GroupUpdate(group, self.space, self.ranks) for group in stratum.asked],
            )
            if stratum.group is None
            else GroupUpdate(stratum.group, self.space, self.ranks)
            for stratum in self.forms.strata
        ]
        self._watched = {n for n, r in program.relations.items() if r.is_output or r.prints_size}

    def watch(self, relations: Iterable[str]) -> None:
        """Let commits return the changes of these relations too."""
        self._watched |= set(relations)

    def commit(self, changes: Changes) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Take in removed and inserted facts by relation; removals come first.

        Returns the rows that went and the rows that came, of every watched relation that has
        changed. Raises RuleError, and KeyboardInterrupt, after everything is as it was before.
        """
        facts = {name: self._check(name, pair) for name, pair in changes.items()}
        mark, rank = self.texts.mark(), self.ranks.now
        begun = [stratum.begun for stratum in self.strata], self.begun
        is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with self._interrupts.hold() if is_usual else nullcontext():
            for relation in self.relations.values():
                relation.settle()
            try:
                self._update(facts)
                return self._list_changes()
            except BaseException:
                for relation in self.relations.values():
                    relation.roll_back()
                self.texts.roll_back(mark)
                self.ranks.now = rank
                for stratum, had_begun in zip(self.strata, begun[0], strict=True):
                    stratum.begun = had_begun
                self.begun = begun[1]
                raise

    def _update(self, facts: Changes) -> None:
        self.ranks.facts, self._paused = 0, perf_counter()
        self.values.bad_patterns.clear()
        if not self.begun:
            self._add_program_facts()
            self.begun = True
        for stratum in self.strata:
            self._pause()
            stratum.update(facts)

    def _add_program_facts(self) -> None:
        found: dict[str, list[list[int]]] = {}
        for fact in self.program.facts:
            types = self.forms.types[fact.relation]
            codes = list(map(self.values.encode_value, fact.values, types))
            found.setdefault(fact.relation, []).append(codes)
        facts = {
            name: (NO_IDS, np.array(rows, np.int64).reshape(len(rows), -1))
            for name, rows in found.items()
        }
        for stratum in self.strata:
            if isinstance(stratum, StratumUpdate):
                stratum.add_facts(facts, FIXED)

    def _list_changes(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        found = {}
        for name in self._watched:
            relation = self.relations[name]
            added, removed = relation.list_changed()
            if len(added) or len(removed):
                found[name] = relation.read_rows(removed), relation.read_rows(added)
        return found

    def _check(
        self, name: str, pair: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return arrays as kernels read them."""
        width = self.relations[name].width
        removed, inserted = (np.ascontiguousarray(words, np.int64) for words in pair)
        assert removed.shape[1:] == inserted.shape[1:] == (width,), f"rows of {name}"
        return removed, inserted

    def _pause(self) -> None:
        """Stop between batches if an interrupt has come, or a call of `on_pause` raises."""
        if self.spend is not None:
            before, self._paused = self._paused, perf_counter()
            self.spend(self._paused - before)
        for call in self.on_pause:
            call()
        self._interrupts.check()

    def list_rows(self, relation: str) -> np.ndarray:
        """Return the rows of a relation, in no order: int64[n, width]."""
        found = self.relations[relation]
        return found.read_rows(found.list_ids())

    def count_rows(self, relation: str) -> int:
        """Return how many rows a relation has."""
        return len(self.relations[relation])

    def count_bytes(self) -> int:
        """Return how much memory rows, indexes and buffers take."""
        return self.space.count_bytes() + sum(r.count_bytes() for r in self.relations.values())

    def list_text_codes(self) -> list[np.ndarray]:
        """Return arrays that hold the codes of all symbols that are in use, among other numbers."""
        found = self._list_constants()
        for relation in self.relations.values():
            symbols = [k for k, kind in enumerate(relation.types) if kind == "symbol"]
            if symbols:
                rows = relation.rows.reshape(-1, relation.stride)[: relation.count, symbols]
                found.append(rows.reshape(-1))
        return found

    def _list_constants(self) -> list[np.ndarray]:
        return [
            runner.planner.constants
            for stratum in self.strata
            if isinstance(stratum, StratumUpdate)
            for runner in stratum.runners
        ]

    def save(self) -> dict[str, np.ndarray]:
        """Return the facts that were inserted, by relation: all that `restore` needs."""
        saved = {name: relation.list_facts() for name, relation in self.relations.items()}
        return {name: rows for name, rows in saved.items() if name in self.program.relations}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take in saved facts in place of everything; nothing is reported as changed."""
        for relation in self.relations.values():
            relation.clear()
        for stratum in self.strata:
            stratum.begun = isinstance(stratum, GroupUpdate)
        self.begun = False
        self.commit({name: (rows[:0], rows) for name, rows in saved.items()})

    def derive(self, relation: str, row: np.ndarray) -> Derivation | None:
        """Return one derivation of a row, None if the row is not there.

        Going on with the rows of its body ends: ranks fall within a stratum.
        """
        return find_derivation(self, relation, np.ascontiguousarray(row, np.int64))

    def describe(self) -> dict[str, Any]:
        """Return strata, rules, their versions and sizes, as data."""
        return describe_strata(self)
