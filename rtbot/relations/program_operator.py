"""The operator of a region that evaluates a Datalog program, and those that give its relations out.

All relations come out of the program as one stream, whose rows begin with the number of their
relation and end with zeros. For every relation an operator takes its rows from that stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.modes import choose_mode
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.language import read_program
from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.relations.deltas import Deltas
from rtbot.relations.output_order import net_changes
from rtbot.relations.region_operator import Fault, StatelessOperator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.datalog.evaluation.engine import Evaluation
    from rtbot.datalog.program import Program
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Changes = Mapping[str, tuple[np.ndarray, np.ndarray]]


class ProgramOperator:
    """A program over streams whose rows are there once at most.

    The setting has `rules`, the text; `inputs`, the names and columns of the relations of the
    ports; `outputs`, the relations in the order of their numbers; `max_facts`, `max_iterations`;
    and `begins`, whether there are rows before any fact, which the first transaction of all gives.
    Raises RuleError if those cannot be derived.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        kernels: ModuleType,
        _module: ModuleType,
        texts: StringDictionary,
    ) -> None:
        self.kernels, self.setting, self.texts = kernels, node.setting, texts
        self.inputs = [name for name, _ in node.setting["inputs"]]
        self.outputs: Sequence[str] = node.setting["outputs"]
        self.width = plan.streams[node.output].width
        self.program: Program = read_program(
            node.setting["rules"], node.id, inputs=dict(node.setting["inputs"])
        )
        self.mode = choose_mode()
        self._begin()

    def _begin(self) -> None:
        """Evaluate the program without a fact; what it has then is kept for the first run."""
        self.evaluation: Evaluation = start_evaluation(
            self.program,
            self.texts,
            max_facts=self.setting["max_facts"],
            max_iterations=self.setting["max_iterations"],
            compiled=self.mode,
        )
        self.evaluation.watch(self.outputs)
        self.early: Deltas | None = None
        if self.setting["begins"]:
            self.early = self._tag([self.evaluation.commit({})])

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take every transaction as an epoch; stop before one in which a rule fails."""
        transactions = len(inputs[0].starts) - 1
        found: list[Changes] = []
        fault = None
        for number in range(transactions):
            changes = self._collect(inputs, number)
            try:
                found.append(self.evaluation.commit(changes) if changes else {})
            except RuleError as error:
                fault = make_rule_fault(number, error)
                break
        made = self._tag(found)
        if self.early is not None and found:
            made, self.early = _put_before(self.early, made), None
        return made, fault

    def _collect(self, inputs: Sequence[Deltas], number: int) -> Changes:
        """Return the facts that a transaction removes and inserts."""
        changes = {}
        for name, deltas in zip(self.inputs, inputs, strict=True):
            first, last = int(deltas.starts[number]), int(deltas.starts[number + 1])
            if first < last:
                words, weights = deltas.words[first:last], deltas.weights[first:last]
                changes[name] = words[weights < 0], words[weights > 0]
        return changes

    def _tag(self, found: Sequence[Changes]) -> Deltas:
        """Return the changes of epochs as one stream."""
        starts = np.zeros(len(found) + 1, np.int64)
        words, weights = [np.empty((0, self.width), np.int64)], [np.empty(0, np.int64)]
        for epoch, changes in enumerate(found):
            starts[epoch + 1] = starts[epoch]
            for number, name in enumerate(self.outputs):
                for rows, weight in zip(changes.get(name, ()), (-1, 1), strict=False):
                    tagged = np.zeros((len(rows), self.width), np.int64)
                    tagged[:, 0] = number
                    tagged[:, 1 : 1 + rows.shape[1]] = rows
                    words.append(tagged)
                    weights.append(np.full(len(rows), weight))
                    starts[epoch + 1] += len(rows)
        return Deltas(starts, np.concatenate(words), np.concatenate(weights))

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions out: what they did to the facts, the other way round."""
        changes = {}
        for name, deltas in zip(self.inputs, inputs, strict=True):
            whole = Deltas(deltas.starts[[0, -1]], deltas.words, deltas.weights)
            net = net_changes(whole, self.kernels)
            changes[name] = net.words[net.weights > 0], net.words[net.weights < 0]
        with self.evaluation.ranks.lift_limits():
            self.evaluation.commit(changes)

    def count_bytes(self) -> int:
        """Return the bytes of all relations and their indexes."""
        return self.evaluation.count_bytes()

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in all relations and rules."""
        yield from self.evaluation.list_text_codes()
        if self.early is not None:
            yield self.early.words.ravel()

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the facts: the rest follows from them."""
        facts = self.evaluation.save()
        values = {
            "begun": self.early is None,
            "rows": {name: len(facts[name]) for name in self.inputs},
        }
        return values, {f"facts/{name}": facts[name].ravel() for name in self.inputs}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the facts, and evaluate."""
        self._begin()
        if not values["begun"]:
            return
        self.early = None
        widths = {name: len(columns) for name, columns in self.setting["inputs"]}
        self.evaluation.restore(
            {
                name: arrays[f"facts/{name}"].reshape(int(count), widths[name])
                for name, count in values["rows"].items()
            }
        )


class RelationSelector(StatelessOperator):
    """The rows of one relation, `setting["number"]`, out of the stream of all."""

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        _kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.number = node.setting["number"]
        self.width = plan.streams[node.output].width

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take the rows of all transactions."""
        (deltas,) = inputs
        kept = deltas.words[:, 0] == self.number
        before = np.concatenate([[0], np.cumsum(kept)])
        words = np.ascontiguousarray(deltas.words[kept, 1 : 1 + self.width])
        return Deltas(before[deltas.starts], words, deltas.weights[kept]), None


def make_rule_fault(transaction: int, error: RuleError) -> Fault:
    """Return why a rule makes a transaction bad."""
    message = error.message
    if error.rule is not None:
        message += f", in {' '.join(error.rule.text.split())}"
    if error.bindings:
        shown = ", ".join(f"{name} = {value!r}" for name, value in error.bindings.items())
        message += f" with {shown}"
    return Fault(transaction, error.code, message, error.hint, port=-1)


def make_stream_schema(widths: Iterable[int]) -> Schema:
    """Return the fields of the stream of all relations, whose columns are so many."""
    integer = Type("integer")
    names = ["relation", *(f"c{place}" for place in range(max(widths)))]
    return Schema(tuple(Field(name, integer) for name in names))


def _put_before(early: Deltas, made: Deltas) -> Deltas:
    """Return the changes with others at the beginning of the first transaction."""
    starts = made.starts + len(early)
    starts[0] = 0
    words = np.concatenate([early.words, made.words])
    return Deltas(starts, words, np.concatenate([early.weights, made.weights]))
