"""The shortest path of one message: no tables, no buffers, one call of a generated function."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.compiler.calls import PairCall, SegmentCall
from rtbot.compiler.jit import has_code
from rtbot.core.vector_names import VECTOR, group_series, list_vectors
from rtbot.runtime.plain_push import bind_push, take_cells, take_room
from rtbot.runtime.push_one import PushPath

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.compiler.plan import Plan
    from rtbot.operator.schema import Field
    from rtbot.runtime.input_port import InputPort
    from rtbot.runtime.plain_push import Push
    from rtbot.runtime.session import Session


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


def take_spans(function: Any, reserve: Callable[[int], tuple[Any, ...]]) -> Any:
    """Return the function with the lists of a session, in which room is made first."""
    return lambda slot, *message: function(slot, *message[:-2], *reserve(slot))


class DirectPath(PushPath):
    """`push_one` where only one segment is behind an input: one call of its one-row twin."""

    def __init__(self, session: Session, call: SegmentCall) -> None:
        assert call.input is not None
        super().__init__(session, call.input)
        self.call = call
        self.generated = find_function(session, call)
        self.function = self.generated
        self.reserve = take_room(session.runner)
        if call.spans:
            self.function = take_spans(self.generated, self.reserve)
        self.spread = self.kind == VECTOR
        if self.feed.type.fields and not self.spread:
            self.function = take_record(self.function, self.spec.fields)
        places = self._locate_outputs()
        self.nullable = [one for one in places if one.valid is not None]
        self.outputs = [(one.name, one.series, one.flag, one.values[0], one.take) for one in places]
        self.rows, self.counts, self.runner = session.rows, self.feed.counts, session.runner

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push one message, as `Session.push_one`; the first one compiles, others go shorter."""
        released = super().push(time, value, key)
        if not has_code(self.generated):  # a first message of a key goes another way
            return released
        others: Push = super().push
        if take_cells(self)[0] is not None and self.outputs and not self.nullable:
            others = bind_push(self, others)
        self.push = others  # type: ignore[method-assign, assignment]
        return released

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
        return self.collect(self._with_nulls(found) if self.nullable else found, time, key)

    def collect(self, found: Sequence[Any], time: int, key: Any) -> dict[str, Any]:
        """Return the rows of all outputs from what the function has returned."""
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
