"""How operators take one small transaction: in buffers that stay, with as little Python as goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations import group_counters
from rtbot.relations.change_sources import PassingSource, SourceBag, SourceTable
from rtbot.relations.grouped import GroupedOperator
from rtbot.relations.kernels import weighing
from rtbot.relations.row_buffer import ROOM, RowBuffer
from rtbot.relations.rowwise import RowwiseOperator
from rtbot.relations.weighed import SetOperation
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.relations.region_operator import RegionOperator
    from rtbot.relations.stores import Bag
    from rtbot.relations.weighed import Weigher


class SmallStep:
    """An operator with the buffers that it reads and fills; this one runs as for many rows.

    After `take` a source has how many deletes it took no notice of in `ignored` and `absent`.
    """

    ignored = absent = 0

    def __init__(
        self, operator: RegionOperator, inputs: Sequence[RowBuffer], output: RowBuffer
    ) -> None:
        self.operator, self.inputs, self.output = operator, inputs, output
        self.first, self.rest = inputs[0], inputs[1:]

    def has_rows(self) -> bool:
        """Return whether any input has rows."""
        return any(rows.ends[1] for rows in self.inputs)

    def take(self) -> bool:
        """Take the rows of all inputs as one transaction, and fill the output.

        False, with the state as it was, if the transaction is bad or the output too small.
        """
        given = [rows.copy() for rows in self.inputs]
        made, fault = self.operator.run(given)
        if fault is None and self.output.fill(made):
            return True
        if fault is None:
            self.operator.take_back(given)
        return False

    def take_back(self) -> None:
        """Take the rows out of the state again."""
        self.operator.take_back([rows.copy() for rows in self.inputs])


class WeighStep(SmallStep):
    """An operator that weighs rows: a source of weighted rows, or a set operation."""

    operator: SourceBag | SetOperation

    def __init__(
        self,
        operator: SourceBag | SetOperation,
        inputs: Sequence[RowBuffer],
        output: RowBuffer,
    ) -> None:
        super().__init__(operator, inputs, output)
        self.weigher: Weigher = operator.weigher
        bag, ports = self.weigher.bag, len(inputs)
        self.given = RowBuffer(bag.width)
        self.starts, self.flat, self.weights = inputs[0].starts, inputs[0].flat, inputs[0].weights
        if ports > 1:
            self.starts = np.zeros(2 * ports, np.int64)
            self.flat, self.weights = self.given.flat, self.given.weights
        cells = ROOM * ports
        self.scratch = [np.zeros(n, np.int64) for n in (ROOM, ROOM, cells, cells, cells)]
        self.tags, self.cursor = np.zeros(ROOM, np.int64), np.zeros(weighing.CURSOR, np.int64)
        self.out_starts, self.lost = self.output.starts, np.zeros(1, np.int64)
        self.arguments = _Arguments(bag, self._collect)
        self.forgives = self.weigher.how == weighing.FORGIVING_BAG

    def _collect(self, bag: Bag) -> tuple[Any, ...]:
        out = self.output
        return (
            self.weigher.how, self.starts, self.flat, self.weights, self.tags, bag.ports,
            bag.width, bag.places, bag.bits, bag.table, bag.words, bag.counts, bag.meta,
            *self.scratch, self.cursor, out.flat, out.weights, self.out_starts, self.lost,
        )  # fmt: skip

    def take(self) -> bool:
        """See SmallStep."""
        if len(self.inputs) > 1 and not self._join():
            return False
        code = self.arguments.call(self.weigher.kernels.weigh_few)
        if self.forgives:
            self.ignored = int(self.lost[0])
        return bool(code == hash_tables.DONE)

    def _join(self) -> bool:
        """Put the rows of all ports into one buffer."""
        given, end = self.given, 0
        if sum([rows.ends[1] for rows in self.inputs]) > ROOM:
            return False
        given.ends[1] = 0
        for port, rows in enumerate(self.inputs):
            self.starts[2 * port] = end
            for row in range(rows.ends[1]):
                given.take(rows, row)
            end += rows.ends[1]
            self.starts[2 * port + 1] = end
        return True

    def take_back(self) -> None:
        """See SmallStep."""
        if isinstance(self.operator, SourceBag):
            self.operator.emitted = self.output.copy()
        super().take_back()


class PassStep(SmallStep):
    """A source that remembers nothing."""

    def take(self) -> bool:
        """See SmallStep."""
        given, out = self.inputs[0], self.output
        count = given.ends[1]
        out.bytes[: count * out.size] = given.bytes[: count * out.size]
        out.weights[:count] = given.weights[:count]
        out.ends[1] = count
        return True

    def take_back(self) -> None:
        """Nothing is remembered."""


class UpsertStep(SmallStep):
    """A source with a unique key."""

    operator: SourceTable

    def __init__(
        self, operator: SourceTable, inputs: Sequence[RowBuffer], output: RowBuffer
    ) -> None:
        super().__init__(operator, inputs, output)
        self.scratch = [np.zeros(ROOM, np.int64) for _ in range(3)]
        self.tags, self.cursor = np.zeros(ROOM, np.int64), np.zeros(weighing.CURSOR, np.int64)
        self.missing = np.zeros(1, np.int64)
        self.arguments = _Arguments(operator.bag, self._collect)

    def _collect(self, bag: Bag) -> tuple[Any, ...]:
        given, out = self.inputs[0], self.output
        return (
            self.operator.last_wins, given.starts, given.flat, given.weights, self.tags, bag.width,
            bag.places, bag.bits, bag.table, bag.words, bag.counts, bag.meta, *self.scratch,
            self.cursor, out.flat, out.weights, out.starts, self.missing,
        )  # fmt: skip

    def take(self) -> bool:
        """See SmallStep."""
        if 2 * self.inputs[0].ends[1] > ROOM:
            return False
        code = self.arguments.call(self.operator.kernels.upsert_few)
        self.absent = int(self.missing[0])
        return bool(code == hash_tables.DONE)

    def take_back(self) -> None:
        """See SmallStep."""
        self.operator.emitted = self.output.copy()
        super().take_back()


class _Arguments:
    """The arguments of a loop over a store, which are collected again when it has grown."""

    def __init__(self, bag: Bag, collect: Any) -> None:
        self.bag, self.collect = bag, collect
        self.growths = -1
        self.found: tuple[Any, ...] = ()

    def call(self, function: Any) -> int:
        """Call a loop until there is room for what it does."""
        while True:
            if self.growths != self.bag.growths:
                self.growths, self.found = self.bag.growths, self.collect(self.bag)
            code: int = function(*self.found)
            if code != hash_tables.ROOM:
                return code
            self.growths, self.found = -1, ()  # what nothing refers to is not copied
            self.bag.grow()


class RowwiseStep(SmallStep):
    """A Where or a Select without functions of texts and comparisons of texts by their order."""

    operator: RowwiseOperator

    def __init__(
        self, operator: RowwiseOperator, inputs: Sequence[RowBuffer], output: RowBuffer
    ) -> None:
        super().__init__(operator, inputs, output)
        self.keeps, self.constants = operator.keeps, operator.functions.setting["texts"]
        empty = np.zeros((ROOM, 1), np.int64)
        codes = np.zeros(len(self.constants) + 1, np.int64)
        self.codes = memoryview(codes)
        made = np.zeros((ROOM, 1), np.int64) if self.keeps else output.words
        self.flags = memoryview(made.reshape(-1))
        self.others = (
            empty, empty.view(np.float64), empty, codes, np.zeros(1, np.int64),
            made, made.view(np.float64), np.zeros((1, 1), np.int64),
        )  # fmt: skip
        words = inputs[0].words
        self.parts = [(words[:n], words[:n].view(np.float64)) for n in range(ROOM + 1)]

    def take(self) -> bool:
        """See SmallStep."""
        operator, given, out = self.operator, self.inputs[0], self.output
        for place, text in enumerate(self.constants):
            self.codes[place] = operator.functions.texts.code(text)
        count = given.ends[1]
        functions = operator.functions
        function = getattr(functions.module, functions.functions["rows"])
        if function(*self.parts[count], *self.others) >= 0:
            return False
        if self.keeps:
            if count == 1:
                out.bytes[: out.size] = given.bytes[: out.size]
                out.signs[0] = given.signs[0]
                out.ends[1] = self.flags[0]
                return True
            out.ends[1] = 0
            for row in range(count):
                if self.flags[row]:
                    out.take(given, row)
        else:
            out.weights[:count] = given.weights[:count]
            out.ends[1] = count
        return True

    def take_back(self) -> None:
        """Nothing is remembered."""


class GroupStep(SmallStep):
    """A GroupBy whose row over nothing, if it has one, has been released."""

    operator: GroupedOperator

    def __init__(
        self, operator: GroupedOperator, inputs: Sequence[RowBuffer], output: RowBuffer
    ) -> None:
        super().__init__(operator, inputs, output)
        given = inputs[0]
        self.arguments = (
            given.starts, given.flat, given.floats, given.weights, 1, 1,
            output.flat, output.floats, output.weights, output.starts,
        )  # fmt: skip

    def take(self) -> bool:
        """See SmallStep."""
        if 2 * self.inputs[0].ends[1] > ROOM:
            return False
        result, row = self.operator.take_few(self.inputs[0], self.arguments)
        if result == group_counters.DONE:
            return True
        self.operator.undo_few(self.inputs[0].copy(), row)
        return False


MAKERS: dict[type, Any] = {
    SourceBag: WeighStep,
    PassingSource: PassStep,
    SetOperation: WeighStep,
    SourceTable: UpsertStep,
    RowwiseOperator: RowwiseStep,
    GroupedOperator: GroupStep,
}
"""The steps of operators that have one of their own."""


def make_small_step(
    operator: RegionOperator, inputs: Sequence[RowBuffer], output: RowBuffer
) -> SmallStep:
    """Return how an operator takes small transactions."""
    make = MAKERS.get(type(operator), SmallStep)
    widths = {rows.size for rows in (*inputs, output)}
    if make is WeighStep and len(widths) > 1:
        make = SmallStep  # masks of nulls are added or left out
    if isinstance(operator, RowwiseOperator):
        setting = operator.functions.setting
        make = SmallStep if setting["levels"] or setting["compares"] else make
    step: SmallStep = make(operator, inputs, output)
    return step
