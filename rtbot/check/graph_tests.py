"""The `tests` section: rows that go in, rows that are expected, typed but not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.check.context import Context, entries, text_of
from rtbot.check.values import INT64_MAX, INT64_MIN, boolean, convert, integer, number
from rtbot.document import Mapping as MappingNode
from rtbot.document import Node, Scalar, Sequence
from rtbot.errors import GraphError, refused
from rtbot.graph import Input, Mark, Ref
from rtbot.operator import Number, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.check.references import Names

KEYS = (
    *("name", "params", "key", "given", "expect", "emits_nothing", "tolerance", "error", "doc"),
)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Rows:
    """Rows as (t, value) or, in a keyed test, (key..., t, value); or the path of a file of them."""

    rows: tuple[Row, ...] = ()
    file: str = ""
    mark: Mark = Mark()


@dataclass(frozen=True)
class GraphTest:
    """One test of a graph file. `expect` is by public output or reference, as written."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    given: Mapping[str, Rows] = field(default_factory=dict)
    expect: Mapping[str, Rows] = field(default_factory=dict)
    emits_nothing: tuple[str, ...] = ()
    targets: Mapping[str, Ref] = field(default_factory=dict)
    tolerance: float = 0.0
    error: str = ""
    mark: Mark = Mark()

    @property
    def refs(self) -> set[Ref]:
        """The output ports that the test looks at."""
        return set(self.targets.values())


@dataclass
class _Graph:
    inputs: Mapping[str, Input | None]
    outputs: Mapping[str, Ref | None]
    names: Names
    types: Mapping[Ref, Type]
    context: Context


def read_tests(
    node: Node | None,
    inputs: Mapping[str, Input | None],
    outputs: Mapping[str, Ref | None],
    names: Names,
    types: Mapping[Ref, Type],
    context: Context,
) -> list[GraphTest]:
    """Return the tests; what is wrong with one does not hide what is wrong with the next."""
    if node is None or (isinstance(node, Scalar) and node.missing):
        return []
    if not isinstance(node, Sequence):
        context.problems.add("RT105", node.mark, f"tests is a list, this is {node.form}")
        return []
    graph = _Graph(inputs, outputs, names, types, context)
    return [_Reader(graph, item, index).read() for index, item in enumerate(node.items, start=1)]


class _Reader:
    def __init__(self, graph: _Graph, node: Node, index: int) -> None:
        self.graph = graph
        self.problems = graph.context.problems
        self.node = node
        self.fields = entries(node, "a test", KEYS, self.problems)
        self.name = text_of(self.fields.get("name"), "name", self.problems) or f"test {index}"
        self.targets: dict[str, Ref] = {}
        self.key = self.attempt(self.key_columns) or ()

    def read(self) -> GraphTest:
        fields = self.fields
        expectations = {"expect", "emits_nothing", "error"} & set(fields)
        whole = isinstance(self.node, MappingNode) and len(self.node.items) == len(fields)
        if whole and not expectations:
            message = f"the test {self.name!r} expects nothing"
            hint = "add expect, emits_nothing or error"
            self.problems.add("RT150", self.node.mark, message, hint)
        return GraphTest(
            name=self.name,
            params=self.attempt(self.parameters) or {},
            key=self.key,
            given=self.rows_by_name("given", self.input_type),
            expect=self.rows_by_name("expect", self.output_type),
            emits_nothing=tuple(self.silent()),
            targets=self.targets,
            tolerance=self.attempt(self.tolerance) or 0.0,
            error=text_of(fields.get("error"), "error", self.problems),
            mark=self.node.mark,
        )

    def attempt(self, reader: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return reader(*arguments)
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None

    def key_columns(self) -> tuple[str, ...]:
        node = self.fields.get("key")
        if node is None:
            return ()
        items = node.items if isinstance(node, Sequence) else [node]
        if not all(isinstance(item, Scalar) and not item.missing for item in items):
            raise refused("RT150", node.mark, "key is a list of column names", "write [symbol]")
        return tuple(item.text for item in items if isinstance(item, Scalar))

    def parameters(self) -> dict[str, Any]:
        """Values for the graph's parameters, as written; they are converted when the test runs."""
        result = {}
        known = self.graph.context.parameters
        node = self.fields.get("params")
        for name, item in entries(node, "params of a test", None, self.problems).items():
            assert isinstance(node, MappingNode)
            if name not in known:
                hint = self.problems.nearest(name, known)
                self.problems.add("RT114", node.keys[name], f"unknown parameter {name!r}", hint)
            elif isinstance(item, Scalar):
                result[name] = item.value
            elif isinstance(item, Sequence):
                result[name] = [one.value for one in item.items if isinstance(one, Scalar)]
            else:
                self.problems.add("RT105", item.mark, "a parameter is no mapping here")
        return result

    def tolerance(self) -> float:
        node = self.fields.get("tolerance")
        if node is None:
            return 0.0
        parameter = Number(name="tolerance", minimum=0.0)
        return float(convert(parameter, node, self.graph.context))

    def silent(self) -> list[str]:
        node = self.fields.get("emits_nothing")
        items = node.items if isinstance(node, Sequence) else [node] if node else []
        names = []
        for item in items:
            if not isinstance(item, Scalar) or item.missing:
                self.problems.add("RT105", item.mark, "emits_nothing is a list of references")
            elif self.attempt(self.output_type, item.text, item.mark):
                names.append(item.text)
        return names

    def input_type(self, name: str, mark: Mark) -> Type | None:
        if name not in self.graph.inputs:
            hint = self.problems.nearest(name, self.graph.inputs)
            raise refused("RT120", mark, f"there is no input {name!r}", hint)
        one = self.graph.inputs[name]
        return one.type if one else None

    def output_type(self, name: str, mark: Mark) -> Type | None:
        """Return the type of a public output, or of any output port of the graph."""
        if name in self.graph.outputs and self.graph.outputs[name] is None:
            return None
        ref = self.graph.outputs.get(name)
        ref = ref or self.graph.names.resolve(name, mark)
        self.targets[name] = ref
        return self.graph.types.get(ref)

    def rows_by_name(
        self, key: str, type_of: Callable[[str, Mark], Type | None]
    ) -> dict[str, Rows]:
        result = {}
        node = self.fields.get(key)
        for name, item in entries(node, key, None, self.problems).items():
            assert isinstance(node, MappingNode)
            type_ = self.attempt(type_of, name, node.keys[name])
            if type_ is not None:
                rows = self.attempt(self.rows, item, type_)
                result[name] = rows or Rows()
        return result

    def rows(self, node: Node, type_: Type) -> Rows:
        if isinstance(node, MappingNode):
            file = entries(node, "rows", ("csv",), self.problems).get("csv")
            if not isinstance(file, Scalar) or file.missing:
                raise refused("RT150", node.mark, "rows are a list, or {csv: path}")
            return Rows(file=file.text, mark=node.mark)
        if not isinstance(node, Sequence):
            if isinstance(node, Scalar) and node.missing:
                return Rows(mark=node.mark)
            raise refused("RT150", node.mark, "rows are a list, as in [[1, 20.5], [2, 21]]")
        return Rows(tuple(self.row(item, type_) for item in node.items), mark=node.mark)

    def row(self, node: Node, type_: Type) -> Row:
        width = len(self.key) + 2
        shape = "[key, t, value]" if self.key else "[t, value]"
        if not isinstance(node, Sequence) or len(node.items) != width:
            hint = "" if self.key else "keyed rows need `key: [column]` in the test"
            raise refused("RT150", node.mark, f"a row is {shape}", hint)
        scalars = []
        for item in node.items:
            if not isinstance(item, Scalar):
                raise refused("RT150", item.mark, f"a row is {shape}, this is {item.form}")
            scalars.append(item)
        *keys, time, cell = scalars
        at = integer(time)
        if at is None or not INT64_MIN <= at <= INT64_MAX:
            hint = "a time is an integer in io.unit"
            raise refused("RT150", time.mark, f"{time.text!r} is no time", hint)
        return (*map(_key, keys), at, _cell(cell, type_))


def _key(scalar: Scalar) -> Any:
    """A key is an integer if it is written as one without quotes, else text."""
    value = None if scalar.quoted else integer(scalar)
    return value if value is not None else scalar.text


def _cell(scalar: Scalar, type_: Type) -> Any:
    if type_.nullable and not scalar.quoted and scalar.value in (None, "", "null", "~"):
        return None
    value: Any
    if type_.kind == "number":
        value = number(scalar, special=True)
    elif type_.kind == "integer":
        value = integer(scalar)
        if value is not None and not INT64_MIN <= value <= INT64_MAX:
            value = None
    elif type_.kind == "boolean":
        value = boolean(scalar)
    else:
        value = scalar.text if scalar.value is not None else None
    if value is None:
        raise refused("RT150", scalar.mark, f"{scalar.text[:40]!r} is no {type_}")
    return value
