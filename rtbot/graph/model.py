"""The checked graph: what the user wrote, with every name resolved and every port typed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.source_span import SourceSpan
from rtbot.core.vector_names import (
    VECTOR,
    expand_roles,
    find_vectors,
    list_places,
    list_whole_ports,
    name_element,
    split_element,
)
from rtbot.operator.declarations import UNREAD
from rtbot.operator.vectors import join_elements, list_elements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.expression import Expression
    from rtbot.operator import Operator, Out, Type


MAX_DELTA_ROWS = 10_000_000
"""Rows that one transaction may release at one operator, if `io` does not say."""


@dataclass(frozen=True, slots=True)
class Ref:
    """An output port of an operator, or an input of the graph (`o1`, or a field of a record).

    That of an element of a vector is `o1.0`, and so on.
    """

    id: str
    port: str = "o1"

    def __str__(self) -> str:
        return f"{self.id}.{self.port}"


@dataclass(frozen=True)
class Input:
    """An input of the graph; `io` is that of the graph with its own keys, None if it has none.

    `columns` are those of the fields of a record that have other names than these.
    """

    name: str
    type: Type
    mark: SourceSpan = SourceSpan()
    doc: str = ""
    io: Io | None = None
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def ports(self) -> dict[str, Type]:
        """The types of what operators read: of `o1`, of every element or field."""
        if self.type.kind == VECTOR:
            elements = list_elements("o1", self.type)
            return {port: one.type for port, one in zip(elements, self.type.fields, strict=True)}
        if self.type.fields:
            return {field.name: field.type for field in self.type.fields}
        return {"o1": self.type}


@dataclass(frozen=True, slots=True)
class OperatorStub:
    """What is left of an operator's class where a plan runs without it."""

    name: str
    version: int

    @property
    def __name__(self) -> str:
        return self.name


@dataclass(frozen=True)
class View:
    """An operator of the graph file that is a text: its id, the text, its tables by their names.

    It is one of SQL, which becomes several nodes, or one of Datalog, which is a node of its own.
    """

    id: str
    query: str
    tables: Mapping[str, Ref]
    mark: SourceSpan = SourceSpan()
    doc: str = ""
    language: str = "SQL"


@dataclass(frozen=True)
class Node:
    """An operator of the graph.

    `values` holds every parameter under its declared name (durations in `io.unit`, choices as text,
    absent optional ones None). `inputs` maps every port to what feeds it, in port order. `types`
    has the type of every input port after pairing (may and last are nullable) and of every output
    port. `formulas` maps an output port, "keep", "keep PORT", "fault" or "lost PORT" to its typed
    expression; empty for step operators. For a user's expression `operator` is
    `rtbot.expression.Formula`, with ports i1..iN. A node that is a part of a query has it as
    `view`; the last one has the id of the view, the others are called `VIEW::NAME`.
    """

    id: str
    operator: type[Operator]
    values: Mapping[str, Any]
    inputs: Mapping[str, Ref]
    types: Mapping[str, Type]
    formulas: Mapping[str, Expression] = field(default_factory=dict)
    mark: SourceSpan = SourceSpan()
    doc: str = ""
    text: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    view: View | None = None

    @property
    def outputs(self) -> list[str]:
        """Names of the output ports."""
        return [port for port in self.types if port not in self.inputs]

    @property
    def declared_outputs(self) -> Mapping[str, Out]:
        """The declarations of the output ports, without elements of vectors."""
        arity = self.operator.count_arity(list_whole_ports(self.inputs))
        return self.operator.outputs_for(self.values, arity)

    @property
    def roles(self) -> dict[str, str]:
        """How a pairing treats the input ports."""
        whole = self.operator.roles(self.values, list_whole_ports(self.inputs))
        return expand_roles(whole, list(self.inputs))

    @property
    def reads(self) -> dict[str, Ref]:
        """The inputs whose messages the operator reads, by port."""
        roles = self.roles
        return {port: ref for port, ref in self.inputs.items() if roles[port] != UNREAD}


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a CSV file is written.

    `delimiter` is one character, or "blank" for runs of blanks and tabs. `thousands` and `comment`
    are "" where there are none. `skip` is how many lines are before the header, `skip_after` how
    many are after it (units, types). `names` are the columns of a file without a header.
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    encoding: str = "utf-8"
    skip: int = 0
    skip_after: int = 0
    comment: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the values in files are written; the defaults are what is read without any option.

    `time_format` is one of `unix unix_ms unix_us unix_ns` or a text of directives such as
    `%d/%m/%Y %H:%M`; None means ISO 8601 or integers. `timezone` is that of times without an
    offset. `ambiguous` is error, earlier, later or order, `nonexistent` error or shift. `null` are
    the tokens of an absent cell. `columns_as` is the key whose values are the names of the columns
    that are neither times nor named otherwise. `key_types` has the type of a key column, text or
    integer, where it is given.
    """

    time_format: str | None = None
    timezone: str | None = None
    ambiguous: str = "error"
    nonexistent: str = "error"
    null: tuple[str, ...] = ()
    columns_as: str | None = None
    key_types: Mapping[str, str] = field(default_factory=dict, hash=False)
    csv: CsvDialect = CsvDialect()


@dataclass(frozen=True)
class Io:
    """The `io` section: units, columns and policies at the edge. Durations are in `unit`.

    The texts of several `time` columns are joined by a blank. `reading` is how files are written.
    The last four are for change inputs: `excess` is error or ignore, `conflicts` error or last,
    `on_bad_transaction` stop or discard.
    """

    unit: str | None = None
    time: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    late: str = "error"
    duplicates: str = "error"
    lateness: int | None = None
    bad: str = "error"
    reading: ReadOptions = ReadOptions()
    excess: str = "error"
    conflicts: str = "error"
    on_bad_transaction: str = "stop"
    max_delta_rows: int = MAX_DELTA_ROWS

    @property
    def time_column(self) -> str | None:
        """The time column, if one alone is given."""
        return self.time[0] if len(self.time) == 1 else None


def collect_own(inputs: Mapping[str, Input]) -> dict[str, Io]:
    """Return the `io` of the inputs that have keys of their own."""
    return {name: one.io for name, one in inputs.items() if one.io is not None}


@dataclass(frozen=True)
class CheckedGraph:
    """Everything that `check` has found about a graph file; `nodes` is in dependency order.

    `records` are the fields of outputs that are records, of which each is one of `outputs`.
    """

    name: str
    inputs: Mapping[str, Input]
    nodes: Mapping[str, Node]
    outputs: Mapping[str, Ref]
    io: Io = Io()
    params: Mapping[str, Any] = field(default_factory=dict)
    tests: tuple[Any, ...] = ()
    description: str = ""
    file: str = "<graph>"
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Any, ...] = ()
    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def list_vector_types(nodes: Iterable[Node], inputs: Iterable[Input] = ()) -> dict[Ref, Type]:
    """Return the types of all vectors: of inputs and of output ports of nodes."""
    found = {Ref(one.name): one.type for one in inputs if one.type.kind == VECTOR}
    for node in nodes:
        types = join_elements({port: node.types[port] for port in node.outputs})
        found |= {Ref(node.id, port): t for port, t in types.items() if t.kind == VECTOR}
    return found


def group_fields(outputs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the fields of outputs that are records, from the names `NAME.FIELD` of these."""
    found: dict[str, tuple[str, ...]] = {}
    for output in outputs:
        name, dot, field_ = output.partition(".")
        if dot:
            found[name] = (*found.get(name, ()), field_)
    return found


def list_input_types(inputs: Iterable[Input]) -> dict[Ref, Type]:
    """Return the types of all that operators read of inputs."""
    return {Ref(one.name, port): type_ for one in inputs for port, type_ in one.ports.items()}


def list_node_types(nodes: Iterable[Node]) -> dict[Ref, Type]:
    """Return the types of all output ports of nodes."""
    return {Ref(node.id, port): node.types[port] for node in nodes for port in node.outputs}


def find_file_setting(checked: CheckedGraph) -> str:
    """Return a setting of how files give times and series, or of one input alone; "" if none is.

    Tables of another engine have typed columns, for which it has no meaning.
    """
    for name, io in (("", checked.io), *collect_own(checked.inputs).items()):
        where = f"the io of {name}: " if name else "io."
        for setting in ("time_format", "timezone", "columns_as"):
            if getattr(io.reading, setting) is not None:
                return f"{where}{setting}"
        if len(io.time) > 1:
            return f"{where}time with several columns"
        for setting in ("time", "late", "duplicates", "lateness"):
            if getattr(io, setting) != getattr(checked.io, setting):
                return f"{where}{setting}"
    return ""


def collect_outputs(checked: CheckedGraph, taps: Iterable[str] = ()) -> dict[str, Ref]:
    """Return what the outputs show, and the ports of the operators in `taps`, by name."""
    outputs = dict(checked.outputs)
    for name in taps:
        node = checked.nodes[name]
        several = len(list_whole_ports(node.outputs)) > 1
        for port in node.outputs:
            whole, place = split_element(port)
            label = f"{name}.{whole}" if several else name
            outputs.setdefault(name_element(label, place) if place else label, Ref(name, port))
    return outputs


def collect_records(checked: CheckedGraph, taps: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the fields of outputs that are records or vectors, with those of `taps`."""
    tapped = find_vectors(collect_outputs(checked, taps))
    places = {name: list_places(elements) for name, elements in tapped.items()}
    return {**checked.records, **places}
