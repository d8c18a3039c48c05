"""A graph under construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack, overload

from rtbot.builder.call_sites import CallSite, add_source_lines, find_call_site
from rtbot.builder.stream import Fields, Operand, ParameterRef, Stream
from rtbot.core.errors import GraphError

if TYPE_CHECKING:
    from rtbot.api import Graph
    from rtbot.operator import Operator


class Limits(TypedDict, total=False):
    """The limits of the value of a parameter."""

    minimum: float | str
    maximum: float | str
    choices: Sequence[Any]


class Dialect(TypedDict, total=False):
    """The keys of `csv`."""

    delimiter: str
    decimal: str
    thousands: str
    quote: str
    encoding: str
    skip: int
    skip_after: int
    comment: str
    names: Sequence[str]


class InputSettings(TypedDict, total=False):
    """The keys of `io` that an input may have of its own."""

    time: str | Sequence[str]
    late: str
    duplicates: str
    lateness: int | str
    bad: str
    time_format: str
    timezone: str
    ambiguous: str
    nonexistent: str
    null: str | Sequence[str]
    csv: Dialect
    columns: Mapping[str, str]


class Settings(InputSettings, total=False):
    """The keys of `io`."""

    unit: str
    key: str | Sequence[str] | Mapping[str, str]
    columns_as: str


@dataclass(frozen=True)
class Record:
    """The fields of an input whose messages have several values, and their types."""

    fields: Mapping[str, str]


def record(**fields: str) -> Record:
    """Return the type of an input with these fields: number, integer, boolean or text, with `?`."""
    return Record(fields)


class Test(TypedDict, total=False):
    """The keys of a test, besides its name."""

    params: Mapping[str, Any]
    key: Sequence[str]
    given: Mapping[str, Any]
    expect: Mapping[str, Any]
    emits_nothing: Sequence[str]
    tolerance: float
    error: str


@dataclass(eq=False)
class BuiltNode:
    """An input, an operator or a named expression, as it was made.

    `named` is whether the keys of `feeds` are names of the graph's own.
    """

    place: CallSite
    number: int
    id: str = ""
    kind: str = ""
    operator: type[Operator] | None = None
    feeds: dict[str, tuple[str, Stream]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    expression: Operand | None = None
    named: bool = False


class BuiltPort(NamedTuple):
    """An output of what was made, "" if it is the only one; `element` is that of a vector."""

    made: BuiltNode
    port: str = ""
    element: str = ""

    @property
    def name(self) -> str:
        """A name for it before everything has one."""
        return ".".join(filter(None, [self.made.id or self.made.kind, self.port, self.element]))


class Entry(NamedTuple):
    """A named part of the graph: an input, a parameter, an output, a test or settings."""

    name: str
    value: Any
    place: CallSite


class Builder:
    """A graph under construction; `graph` checks it.

    Inputs and operators of `rtbot.ops` are streams; Python operators make expressions of them.
    """

    def __init__(
        self, name: str, *, description: str = "", meta: Mapping[str, Any] | None = None
    ) -> None:
        self.place = find_call_site()
        self.head = {"name": name, "description": description, "meta": dict(meta or {})}
        self.parameters: list[Entry] = []
        self.inputs: list[Entry] = []
        self.made: list[BuiltNode] = []
        self.outputs: list[Entry] = []
        self.settings: list[Entry] = []
        self.tests: list[Entry] = []
        self.count = 0

    def __repr__(self) -> str:
        inputs = ", ".join(entry.name for entry in self.inputs)
        return f"<Builder {self.head['name']}: {inputs} -> {len(self.made)} operators>"

    @overload
    def input(
        self, name: str, type: str = ..., *, doc: str = ..., io: InputSettings | None = ...
    ) -> Stream: ...

    @overload
    def input(
        self, name: str, type: Record, *, doc: str = ..., io: InputSettings | None = ...
    ) -> Fields: ...

    def input(
        self,
        name: str,
        type: str | Record = "number",  # noqa: A002 (the word of the file)
        *,
        doc: str = "",
        io: InputSettings | None = None,
    ) -> Stream | Fields:
        """Add an input: number, integer, boolean, text or vector[n]; with `?` it may be null.

        `v[0]` is an element of a vector. That of a `record` is a stream for each field. `io`
        are keys of `io` that are other ones for this input.
        """
        more = {key: to_argument(value) for key, value in (("doc", doc), ("io", io)) if value}
        if not isinstance(type, Record):
            return self._add_input(name, {"type": type, **more} if more else type)
        made = self._add_node(name, {"record": dict(type.fields), **more})
        fields = {
            field: Stream(self, "stream", (), BuiltPort(made, field), made.place)
            for field in type.fields
        }
        return Fields(name, {field: field for field in fields}, fields)

    def changes(
        self,
        name: str,
        fields: Mapping[str, str],
        *,
        unique: Sequence[str] = (),
        doc: str = "",
        io: InputSettings | None = None,
    ) -> Stream:
        """Add an input whose rows are inserted and deleted: the types of its fields by name.

        With `unique`, the fields of a key, a row replaces the one with its key.
        """
        given = (("unique", list(unique)), ("doc", doc), ("io", io))
        more = {key: to_argument(value) for key, value in given if value}
        return self._add_input(name, {"changes": dict(fields), **more})

    def _add_input(self, name: str, declared: Any) -> Stream:
        made = self._add_node(name, declared)
        return Stream(self, "stream", (), BuiltPort(made), made.place)

    def _add_node(self, name: str, declared: Any) -> BuiltNode:
        place = find_call_site()
        self.inputs.append(Entry(name, declared, place))
        return BuiltNode(place, self.next_number(), id=name)

    def parameter(
        self,
        name: str,
        default: Any = None,
        *,
        type: str = "",  # noqa: A002 (the word of the file)
        doc: str = "",
        **limits: Unpack[Limits],
    ) -> ParameterRef:
        """Add a parameter of the graph; the type is that of the default, if none is given.

        Types are number, integer, boolean, text, duration and numbers.
        """
        place = find_call_site()
        names = {"minimum": "min", "maximum": "max"}
        given = {"type": type or None, "default": to_argument(default)}
        given |= {names.get(key, key): to_argument(value) for key, value in limits.items()}
        given["doc"] = doc or None
        declared = {key: value for key, value in given.items() if value is not None}
        short = set(declared) == {"default"}
        self.parameters.append(Entry(name, declared["default"] if short else declared, place))
        return ParameterRef(self, "parameter", (), name, place)

    def output(self, **streams: Stream | Fields | Mapping[str, Stream]) -> None:
        """Make streams public under these names; a mapping, or a record, has one for each field.

        An operator without an `id` gets the name of its output as its id.
        """
        place = find_call_site()
        for name, given in streams.items():
            what = f"the output {name}"
            value: Stream | dict[str, Stream]
            if isinstance(given, Mapping):
                value = {
                    field: require_stream(stream, self, f"{what}.{field}")
                    for field, stream in given.items()
                }
            elif isinstance(given, Fields):
                value = {one.value.port: require_stream(one, self, what) for one in given}
            else:
                value = require_stream(given, self, what)
            self.outputs.append(Entry(name, value, place))

    def io(self, **settings: Unpack[Settings]) -> None:
        """Set keys of `io`: units, columns, what happens at the edge, how files are written."""
        place = find_call_site()
        self.settings += [Entry(key, to_argument(value), place) for key, value in settings.items()]

    def test(self, name: str, **fields: Unpack[Test]) -> None:
        """Add a test: rows that are given, and rows that are expected of outputs or ids."""
        self.tests.append(Entry(name, to_argument({"name": name, **fields}), find_call_site()))

    def graph(self, **params: Any) -> Graph:
        """Check what was built so far, with these values of its parameters.

        Raises GraphError with every problem; places are those of the Python file.
        """
        from rtbot.api import Graph
        from rtbot.builder.assembly import assemble_document

        try:
            return Graph(assemble_document(self), params)
        except GraphError as error:
            raise add_source_lines(error) from None

    def next_number(self) -> int:
        """Count what is made, so that a file has it in the order of the program."""
        self.count += 1
        return self.count

    def add(self, made: BuiltNode) -> None:
        """Add an operator."""
        self.made.append(made)

    def add_expression(self, root: Stream, id_: str) -> Stream:
        """Make an operator of an expression."""
        place = find_call_site()
        self.made.append(BuiltNode(place, root.number, id_, expression=root))
        return Stream(self, "stream", (), BuiltPort(self.made[-1]), place)


def require_stream(given: Any, builder: Builder, what: str) -> Stream:
    """Return what feeds a port or is an output; raise TypeError if it is not a stream."""
    if not isinstance(given, Stream):
        several = hasattr(given, "_ports")
        hint = "choose one of its outputs" if several else "give a stream; parameters go by name"
        raise TypeError(f"{what} is {given!r}: {hint}")
    if given.builder is not builder:
        raise TypeError(f"{what} is {given!r}, which belongs to another Builder")
    return given


def to_argument(value: Any) -> Any:
    """Return a value as a graph file has it: `$name` for a parameter, a text for a time span."""
    if isinstance(value, ParameterRef):
        return f"${value.value}"
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, Mapping):
        return {key: to_argument(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_argument(item) for item in value]
    return value
