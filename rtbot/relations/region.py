"""A region at work: its operators run one after another over all transactions of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError
from rtbot.core.modes import choose_mode, use_mode
from rtbot.relations.deltas import Deltas
from rtbot.relations.output_order import order_changes
from rtbot.relations.region_code import RegionCode
from rtbot.relations.region_operator import OUTPUT, Fault, make_size_fault
from rtbot.relations.region_plan import RegionNode
from rtbot.relations.row_codec import RowCodec
from rtbot.relations.skeletons import SKELETONS
from rtbot.relations.weighed import COUNT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_operator import RegionOperator
    from rtbot.relations.region_plan import ChangeSource, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

FEW = 64
"""So many transactions are tried at once behind a bad one; then twice as many."""


@dataclass(frozen=True, slots=True)
class BadTransaction:
    """Why a transaction is bad: where it was found, its time, and the row to blame if there is one.

    `operator` is an id, or the name of an input if `is_source`.
    """

    fault: Fault
    operator: str
    is_source: bool
    time: int
    row: dict[str, Any] | None

    def make_error(self, output: Any = None) -> DataError:
        """Return the error that says so; `output` is what was released before it."""
        where = "" if self.is_source else f"{self.operator}: "
        return DataError(
            where + self.fault.message,
            code=self.fault.code,
            hint=self.fault.hint,
            output=output,
            input=self.operator if self.is_source else None,
            time=self.time,
            value=self.row,
        )


@dataclass(frozen=True, slots=True)
class Closed:
    """What came of transactions: how many took effect, and their outputs by name.

    `fault` is why the one behind them is bad, None if all took effect.
    """

    taken: int
    outputs: Mapping[str, Deltas]
    fault: BadTransaction | None = None


@dataclass(slots=True)
class OperatorCounts:
    """What an operator has done: rows in and out, and what a source took no notice of."""

    rows_in: int = 0
    rows_out: int = 0
    ignored: int = 0
    absent: int = 0


@dataclass(slots=True)
class _Step:
    """An operator with the streams that it reads and makes, and how many transactions it took."""

    node: RegionNode
    operator: RegionOperator
    is_source: bool
    taken: int = 0
    inputs: list[Deltas] = field(default_factory=list)
    made: Deltas | None = None


class Region:
    """The operators of a plan and their state.

    `counts` has what every operator did, by id; a source has the name of its input. Transactions
    that are bad are in none of it.
    """

    def __init__(
        self, plan: RegionPlan, texts: StringDictionary, compiled: bool | str | None = None
    ) -> None:
        self.plan, self.texts = plan, texts
        self.code = RegionCode(plan.text, choose_mode(compiled))
        nodes = [(make_source_node(source), True) for source in plan.sources]
        nodes += [(node, False) for node in plan.nodes]
        self.steps = [
            _Step(node, self._make_operator(node), is_source) for node, is_source in nodes
        ]
        self.counts = {step.node.id: OperatorCounts() for step in self.steps}
        self._attempt = 0

    def _make_operator(self, node: RegionNode) -> RegionOperator:
        make = SKELETONS[node.skeleton]
        with use_mode(self.code.mode):
            return make(node, self.plan, self.code.kernels, self.code.module, self.texts)

    # ---- transactions

    def close(self, times: np.ndarray, inputs: Mapping[str, Deltas]) -> Closed:
        """Take transactions up to the first bad one, which leaves nothing behind.

        `times` int64[n] are those of the transactions, `inputs` the changes of every source in
        them. The caller drops the bad one, and calls again with what follows it.
        """
        rows = sum(map(len, inputs.values()))
        self.code.prepare(rows, _rehearse_nothing)
        began = perf_counter()
        parts: list[Mapping[str, Deltas]] = []
        at, bad = 0, None
        while bad is None and (at < len(times) or not parts):
            last = min(at + self._attempt, len(times)) if self._attempt else len(times)
            given = {name: deltas.cut(at, last) for name, deltas in inputs.items()}
            taken, outputs, bad = self._close_some(times[at:last], given)
            parts.append(outputs)
            at += taken
            if bad is not None:
                self._attempt = FEW
            elif self._attempt:
                self._attempt = 2 * self._attempt if at < len(times) else 0
        self.code.spend(perf_counter() - began, _rehearse_nothing)
        return Closed(at, {name: join_deltas([p[name] for p in parts]) for name in parts[0]}, bad)

    def _close_some(
        self, times: np.ndarray, inputs: Mapping[str, Deltas]
    ) -> tuple[int, dict[str, Deltas], BadTransaction | None]:
        """Run all operators over transactions; take back what is behind the first bad one."""
        limit, found, where = len(times), None, None
        streams: dict[int, Deltas] = {}
        for step in self.steps:
            given = self._read_inputs(step, inputs, streams)
            step.inputs = [deltas.cut(0, limit) for deltas in given]
            made, fault = step.operator.run(step.inputs)
            step.taken = len(made.starts) - 1
            fault = self._find_excess_rows(made) or fault
            if fault is not None:
                limit, found, where = fault.transaction, fault, self._blame(fault, step)
            step.made = streams[step.node.output] = made
        outputs = {}
        for name, stream in self.plan.outputs.items():
            made = streams[stream].cut(0, limit)
            outputs[name], fault = order_changes(
                made, self.plan.streams[stream], self.code.kernels, self.texts
            )
            if fault is not None:
                limit, found, where = fault.transaction, fault, self._find_step(stream)
        for step in reversed(self.steps):
            if step.taken > limit:
                step.operator.take_back([d.cut(limit, step.taken) for d in step.inputs])
            self._count(step, limit)
        outputs = {name: made.cut(0, limit) for name, made in outputs.items()}
        if found is None or where is None:
            return limit, outputs, None
        return limit, outputs, self._describe(found, where, int(times[limit]))

    def _read_inputs(
        self, step: _Step, inputs: Mapping[str, Deltas], streams: Mapping[int, Deltas]
    ) -> list[Deltas]:
        if step.is_source:
            return [inputs[step.node.id]]
        return [streams[stream] for stream in step.node.inputs]

    def _find_excess_rows(self, made: Deltas) -> Fault | None:
        """Return the first transaction that releases too many rows as a fault."""
        most = self.plan.max_delta_rows
        if len(made) <= most:
            return None
        sizes = np.diff(made.starts)
        if sizes.max() <= most:
            return None
        first = int(np.argmax(sizes > most))
        return make_size_fault(first, int(sizes[first]), most)

    def _blame(self, fault: Fault, step: _Step) -> _Step:
        """Return the source of the rows that an operator finds bad in its place."""
        if fault.code not in COUNT_CODES or fault.port < 0 or not step.node.inputs:
            return step
        source = self._find_step(step.node.inputs[fault.port])
        return source if source.node.skeleton == "passing" else step

    def _find_step(self, stream: int) -> _Step:
        return next(step for step in self.steps if step.node.output == stream)

    def _count(self, step: _Step, limit: int) -> None:
        """Count what an operator did in the transactions that took effect; forget its arrays."""
        counts = self.counts[step.node.id]
        counts.rows_in += sum(int(deltas.starts[limit]) for deltas in step.inputs)
        if step.made is not None:
            counts.rows_out += int(step.made.starts[limit])
        if step.is_source:
            operator: Any = step.operator
            counts.ignored += int(operator.ignored[:limit].sum())
            counts.absent += int(operator.absent[:limit].sum())
        step.inputs, step.made = [], None

    def _describe(self, fault: Fault, step: _Step, time: int) -> BadTransaction:
        row = None
        if fault.words is not None:
            schema = self._find_schema(fault, step)
            row = RowCodec(schema, self.texts).decode_row(fault.words[: schema.width])
        return BadTransaction(fault, step.node.id, step.is_source, time, row)

    def _find_schema(self, fault: Fault, step: _Step) -> Schema:
        """Return the schema of the row to blame; set operations may have added masks of nulls."""
        inputs, output = step.node.inputs, step.node.output
        if step.is_source:
            return self.plan.streams[output]
        streams = [output, *inputs] if fault.port == OUTPUT or not inputs else [*inputs, output]
        if fault.port > 0:
            streams.insert(0, inputs[fault.port])
        assert fault.words is not None
        width = len(fault.words)
        return next(s for s in map(self.plan.streams.__getitem__, streams) if s.width == width)

    # ---- state

    def count_bytes(self) -> dict[str, int]:
        """Return the bytes of the state of every operator."""
        return {step.node.id: step.operator.count_bytes() for step in self.steps}

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the state."""
        for step in self.steps:
            yield from step.operator.list_text_codes()

    def save(self) -> Saved:
        """Return the state: values that JSON can hold, and arrays by `operator.array`."""
        values: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for step in self.steps:
            kept, own = step.operator.save()
            counts = self.counts[step.node.id]
            values[step.node.id] = {
                "state": kept,
                "counts": {name: getattr(counts, name) for name in OperatorCounts.__slots__},
            }
            arrays |= {f"{step.node.id}.{name}": array for name, array in own.items()}
        return {"operators": values}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        given = values["operators"]
        if set(given) != set(self.counts):
            raise ValueError(f"state of {', '.join(given)}, not of {', '.join(self.counts)}")
        for step in self.steps:
            name = step.node.id
            own = {
                array.removeprefix(f"{name}."): found
                for array, found in arrays.items()
                if array.startswith(f"{name}.")
            }
            try:
                step.operator.restore(given[name]["state"], own)
            except KeyError as error:
                raise ValueError(f"{name}: there is no {error}") from error
            for counter, count in given[name]["counts"].items():
                setattr(self.counts[name], counter, count)


def make_source_node(source: ChangeSource) -> RegionNode:
    """Return the operator that lets the changes of a source in."""
    setting = {
        "unique": source.unique,
        "excess": source.excess,
        "conflicts": source.conflicts,
    }
    skeleton = "upsert" if source.unique or source.single else "bag"
    skeleton = "passing" if source.passes else skeleton
    return RegionNode(source.name, "source", skeleton, (), source.stream, setting)


def join_deltas(parts: Sequence[Deltas]) -> Deltas:
    """Return the transactions of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(len(part) for part in parts)])
    starts = [part.starts[:-1] + begin for part, begin in zip(parts, begins[:-1], strict=True)]
    return Deltas(
        np.concatenate([*starts, begins[-1:]]),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _rehearse_nothing() -> None:
    """Functions note the types of their arguments when they are called."""
