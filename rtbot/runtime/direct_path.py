"""The shortest path of one message: no tables, no buffers, one call of a generated function."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.compiler.calls import PairCall, SegmentCall
from rtbot.core.vector_names import VECTOR, group_series, list_vectors
from rtbot.runtime.push_one import PushPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.compiler.plan import Plan
    from rtbot.operator.schema import Field
    from rtbot.runtime.executor import Executor
    from rtbot.runtime.input_port import InputPort
    from rtbot.runtime.session import Session

AHEAD = 64
"""Messages of a key for which there is room in its lists, once two have come in a row."""


def find_function(session: Session, call: SegmentCall) -> Any:
    """Return the twin of a segment's function for one row."""
    return getattr(session.module, f"{call.function.name}_one")


def take_record(function: Any, fields: Sequence[Field]) -> Any:
    """Return the function as one that takes the fields of a record as a mapping."""
    choose = itemgetter(*(field.name for field in fields))
    if len(fields) == 1:
        return lambda slot, time, value, *state: function(slot, time, choose(value), *state)
    return lambda slot, time, value, *state: function(slot, time, *choose(value), *state)


class OutputPlace(NamedTuple):
    """Where a function returns an output: its flag, its values and their valid flag.

    `series` are those of its elements, `take` returns a vector of what the function returned.
    """

    name: str
    series: Sequence[str]
    flag: int
    values: Sequence[int]
    valid: int | None
    take: Any


def take_values(places: Sequence[int]) -> Any:
    """Return a function from what a generated function returned to the vector at these places."""
    if len(places) == 1:
        return lambda found: [found[places[0]]]
    choose = itemgetter(*places)
    return lambda found: list(choose(found))


def take_spans(function: Any, runner: Executor) -> Any:
    """Return the function with the lists of a session, in which room is made first.

    Where messages come to one key, room is made for the next `AHEAD` of them.
    """
    known, left, changes = -1, 0, -1
    arrays: tuple[Any, ...] = ()

    def run(slot: int, *message: Any) -> Any:
        nonlocal known, left, changes, arrays
        left -= 1
        if left < 0 or slot != known or changes != runner.changes:
            left = AHEAD if slot == known else 0
            runner.reserve_one(slot, left + 1)
            arrays = runner.with_spans
            known, changes = slot, runner.changes
        return function(slot, *message[:-2], *arrays)

    return run


class DirectPath(PushPath):
    """`push_one` where only one segment is behind an input: one call of its one-row twin."""

    def __init__(self, session: Session, call: SegmentCall) -> None:
        assert call.input is not None
        super().__init__(session, call.input)
        self.call = call
        self.generated = find_function(session, call)
        self.function = self.generated
        if call.spans:
            self.function = take_spans(self.generated, session.runner)
        self.spread = self.kind == VECTOR
        if self.feed.type.fields and not self.spread:
            self.function = take_record(self.function, self.spec.fields)
        places = self._locate_outputs()
        self.nullable = [one for one in places if one.valid is not None]
        self.outputs = [(one.name, one.series, one.flag, one.values[0], one.take) for one in places]
        self.rows, self.counts, self.runner = session.rows, self.feed.counts, session.runner

    @staticmethod
    def can_serve(plan: Plan, call: SegmentCall, ports: Mapping[str, InputPort]) -> bool:
        """Return whether everything behind the input is this one call."""
        if call.input is None or call.carried or call.carries or call.keys:
            return False
        port = ports[call.input]
        types = plan.streams[call.source].types
        if port.holds or any(type_.nullable or type_.kind == "text" for type_ in types):
            return False
        made = {call.source, *(index for index, _ in call.groups)}
        used = {c.source for c in plan.calls if c is not call and not isinstance(c, PairCall)}
        used |= {s for c in plan.pairings for s, _ in c.sources}
        texts = any(t.kind == "text" for i in made for t in plan.streams[i].types)
        passed_on = any(stream == call.source for stream, _ in plan.places.values())
        return not made & used and not texts and not passed_on

    def list_functions(self) -> list[Any]:
        """Return the function that the path calls."""
        return [self.generated]

    def _locate_outputs(self) -> list[OutputPlace]:
        """Return where the outputs are returned."""
        plan = self.session.plan
        vectors = list_vectors(plan.records)
        found: dict[tuple[int, int], tuple[int, int, int | None]] = {}
        place = 0
        for index, _ in self.call.groups:
            flag = place
            place += 1
            for column, kind in enumerate(plan.streams[index].types):
                found[index, column] = (flag, place, place + 1 if kind.nullable else None)
                place += 1 + kind.nullable
        outputs = []
        for name, series in group_series(plan.places, plan.records).items():
            wheres = [found[plan.places[one]] for one in series if plan.places[one] in found]
            if wheres:
                flag, _, valid = wheres[0]
                places = [place for _, place, _ in wheres]
                take = take_values(places) if name in vectors else None
                outputs.append(OutputPlace(name, series, flag, places, valid, take))
        return outputs

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        self.feed.view[slot] = time
        self.counts["arrived"] += 1
        runner = self.runner
        if self.spread:
            found = self.function(slot, time, *value, runner.F, runner.I)
        else:
            found = self.function(slot, time, value, runner.F, runner.I)
        if self.nullable:
            found = self._with_nulls(found)
        rows, keyed = self.rows, self.keyed
        released: dict[str, Any] = {}
        for name, series, flag, place, take in self.outputs:
            if found[flag]:
                for one in series:
                    rows[one] += 1
                cell = found[place]
                if take is not None and cell is not None:
                    cell = take(found)
                released[name] = [(key, time, cell) if keyed else (time, cell)]
        return released

    def _with_nulls(self, found: tuple[Any, ...]) -> list[Any]:
        """Return what the function returned, None where a valid flag is false."""
        values = list(found)
        for one in self.nullable:
            if one.valid is not None and not found[one.valid]:
                values[one.values[0]] = None
        return values
