"""What an operator's class has beside parameters: types, ports, items of state, an example."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rtbot.core.vector_names import VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.operator.schema import Field, Schema

ROLES = ("must", "may", "last")
UNREAD = "unread"
"""The role of a port whose messages are not paired with others, and change nothing."""


@dataclass(frozen=True, slots=True)
class Type:
    """What a port carries: a kind of `KINDS`, and whether a message may be null.

    The kind of a change stream is `changes`; `schema` is what its rows have. That of an input whose
    messages have several values is `record`, or `vector` if these are numbered from 0; `fields` are
    these. `repeats` is the operator that gives several messages of one time, if one does.
    """

    kind: str
    nullable: bool = False
    schema: Schema | None = field(default=None, repr=False)
    fields: tuple[Field, ...] = field(default=(), repr=False)
    repeats: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        if self.schema is not None:
            return f"{self.kind} {self.schema}"
        if self.kind == VECTOR:
            return f"{VECTOR}[{len(self.fields)}]" + ("?" if self.nullable else "")
        if self.fields:
            return f"{self.kind}{{{', '.join(map(str, self.fields))}}}"
        return self.kind + ("?" if self.nullable else "")

    @property
    def size(self) -> int:
        """How many values a message has."""
        return len(self.fields) or 1

    def or_null(self) -> Type:
        """Return the same kind, nullable."""
        return self.as_nullable(nullable=True)

    def as_nullable(self, *, nullable: bool) -> Type:
        """Return the same kind, nullable or not; a vector is so in all elements."""
        fields = tuple(replace(one, type=Type(one.type.kind, nullable)) for one in self.fields)
        return Type(self.kind, nullable, fields=fields)


@dataclass
class In:
    """A data or control port. `kind`: one of KINDS, "vector", "T" (any), "N" (number or integer).

    All ports declared "T" (or "N") of one operator carry the same kind, except those of an operator
    with `mixed = True`. A `variadic` port `i` means i1..iN, N >= `shortest`; if it is `named`, a
    graph names each as it likes. A port accepts null only if `nullable`. `role`: must, may or last,
    or unread for one whose messages change nothing. An `optional` port may be left out. So may one
    that is `within` another, if a vector feeds that one: its elements then feed both, in order.
    """

    kind: str
    doc: str = ""
    alias: str = ""
    role: str = "must"
    nullable: bool = False
    variadic: bool = False
    named: bool = False
    optional: bool = False
    within: str = ""
    shortest: int = 2
    name: str = ""

    @property
    def needed(self) -> bool:
        """Whether a graph must feed it, whatever feeds the others."""
        return not self.optional and not self.within


@dataclass
class Out:
    """An output port. `kind` as for In; `alias` is a readable second name.

    A `variadic` output `o` has one port per variadic input, of the same type. Instead of a `named`
    one there are ports that the operator's own text names. One that `repeats` may have several
    messages of one time, in an order that means something: it is paired with nothing. `source` is
    which of the `returns` of the operator's steps it is, if it has these. Of a `silent` one the
    step says each time whether it has a message: behind its value (and valid flag) it returns true,
    or false for none.
    """

    kind: str
    doc: str = ""
    alias: str = ""
    nullable: bool = False
    variadic: bool = False
    named: bool = False
    repeats: bool = False
    silent: bool = False
    source: str = ""
    name: str = ""


@dataclass
class Scalar:
    """One value of state per key: "number" (float64), "integer" (int64), "boolean", "T" or "N"."""

    kind: str
    start: float | int | bool
    name: str = ""


@dataclass
class Ring:
    """The last `size` values of a port, owned by the plan and shared by all readers.

    `size` is the name of an Integer or a WindowLength parameter. `extra` asks for that many places
    more. A step that names the ring `values` may take: `values` (flat array), `values_first`
    (offset of the first value in it), `values_count` (values held, the entering one included),
    `values_entering`, `values_leaving` (undefined unless `values_evicts`), `values_evicts`,
    `values_full` (whether the window is as long as it gets), `values_position` (place of the
    entering one, 0 <= position < size; not of a WindowLength). `of="time"` keeps the times of the
    port's rows (int64).

    Where a WindowLength is a `TimeSpan` w, a row at t has the values of (t - w, t], in their order;
    the window is full once a value has left it. Several may leave before a row: the step is given
    the first of them, and the `leave` of the operator is called for each of the others.
    """

    port: str
    size: str
    extra: int = 0
    of: str = "value"
    name: str = ""


@dataclass
class Cells:
    """A fixed number of values per key: flat array under the name, offset as `NAME_first`.

    `kind` as for Scalar; `size` is a number, the name of an Integer parameter, or a function of the
    parameters.
    """

    kind: str
    size: int | str | Callable[[Mapping[str, Any]], int]
    start: float | int = 0
    name: str = ""

    def places(self, values: Mapping[str, Any]) -> int:
        """Return how many values a key has under these parameters; may be 0."""
        if callable(self.size):
            return self.size(values)
        return self.size if isinstance(self.size, int) else int(values[self.size])


@dataclass
class Kept:
    """Rows of a variadic port that an operator of own times keeps, and gives again when it likes.

    `size` is the name of an Integer parameter, and `by` of one that says which of the ports the
    step looks at, from 0. A step that names it `rows` takes `rows` (a flat array of the values of
    that port), `rows_first` (offset of the first place in it) and `rows_entering` (the value that
    comes in). In the place of the outputs, which are the ports of a kept row, it returns the place
    of the row that comes in, -1 if it is not kept, and the place of the row that comes out.
    """

    port: str
    size: str
    by: str
    name: str = ""

    def arguments(self) -> list[str]:
        """Return the names of what a step takes of it."""
        return [self.name, f"{self.name}_first", f"{self.name}_entering"]


@dataclass
class Span:
    """A list per key whose length the step decides; entries have fields: {name: kind}, as Scalar.

    A step that names the span `best` takes `best_count` and, for every field such as `time`,
    `best_time` (flat array) and `best_time_first` (offset of the first entry in it). There is room
    for one more entry than it had. It returns, in the place of the item among the scalars, how many
    entries are dropped in front and how many are left behind these. A step that does not take
    `best_count` has nothing to do with it.
    """

    fields: Mapping[str, str]
    name: str = ""


@dataclass
class Space:
    """State of keys inside a key: some values for each distinct value of a port, `fields` by name.

    A step that names it `held`, with a field `value`, takes `held_value` (a flat array) and, for
    every port of `ports`, such as `held_i1`, the place in it of the port's value; -1 where there is
    none. A value of the first port has a place from its first message on; those of the other ports,
    which are of the same kind, are looked up. NaN is a value like others, and -0.0 is 0.0.

    A place whose fields all have their `start` may be given to another value: a step that is done
    with a value puts them back. If `ttl` is the name of a Duration parameter, and a graph gives it,
    a value that was not renewed for so long has its `start` again, before the step sees its place.
    What renews it is a row in which all ports of `renewed_by` have a message; if there are none,
    the first of `ports`.
    """

    ports: tuple[str, ...]
    fields: Mapping[str, Scalar]
    ttl: str = ""
    renewed_by: tuple[str, ...] = ()
    name: str = ""

    RENEWED: ClassVar[str] = "renewed"
    """The field of the time since which a value lives, where there is a `ttl`."""

    def arguments(self) -> list[str]:
        """Return the names of what a step takes of it."""
        return [f"{self.name}_{part}" for part in (*self.fields, *self.ports)]


@dataclass
class Scratch:
    """Room for the integers of one call: any content, shared by all keys and operators.

    A step that names it `scratch` takes `scratch` (flat int64 array) and `scratch_first`. It is
    part of no key's row and of no dump.
    """

    size: int
    name: str = ""


class WarmUp(NamedTuple):
    """How many rows it takes until the first output, the last of them included.

    `certain`: a row comes out with that one and with every later one, whatever the values (but for
    faults). If not, the data decide, and `rows` is the least.
    """

    rows: int
    certain: bool


@dataclass(frozen=True)
class Example:
    """A runnable example: parameters, rows per input port, rows per output port.

    Rows are (t, value), those of changes (t, weight, {field: value}). `schemas` has the fields of
    input ports that carry changes, {field: type}.
    """

    inputs: Mapping[str, Sequence[tuple[Any, ...]]]
    outputs: Mapping[str, Sequence[tuple[Any, ...]]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schemas: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
