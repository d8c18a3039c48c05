"""The `tests` section: input rows and expected rows, typed but not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.error_codes import CODES
from rtbot.core.errors import GraphError, graph_error, suggest_name
from rtbot.core.source_span import SourceSpan
from rtbot.core.vector_names import name_element, split_element
from rtbot.graph.check.context import Context, read_entries, read_text
from rtbot.graph.check.test_rows import GraphTestRows, read_rows
from rtbot.graph.check.vector_type import check_element
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.model import Ref
from rtbot.operator import Number, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.graph.check.references import SymbolTable
    from rtbot.graph.model import Input

KEYS = (
    *("name", "params", "key", "given", "expect", "emits_nothing", "tolerance", "error", "doc"),
)

ERROR_CODES = [code for code, told in CODES.items() if not told.startswith("warning")]
"""What a test can expect."""


@dataclass(frozen=True)
class GraphTest:
    """One test of a graph file.

    `expect` is by public output or reference, as written; `targets` are the ports that these and
    `emits_nothing` name. A test that expects nothing yet, not even an error, is to be filled in.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    given: Mapping[str, GraphTestRows] = field(default_factory=dict)
    expect: Mapping[str, GraphTestRows] = field(default_factory=dict)
    emits_nothing: tuple[str, ...] = ()
    targets: Mapping[str, Ref] = field(default_factory=dict)
    tolerance: float = 0.0
    error: str = ""
    doc: str = ""
    mark: SourceSpan = SourceSpan()

    @property
    def refs(self) -> set[Ref]:
        """The output ports that the test looks at."""
        return set(self.targets.values())


@dataclass
class _TestScope:
    inputs: Mapping[str, Input | None]
    outputs: Mapping[str, Ref | None]
    names: SymbolTable
    types: Mapping[Ref, Type]
    context: Context


def read_tests(
    node: DocumentNode | None,
    inputs: Mapping[str, Input | None],
    outputs: Mapping[str, Ref | None],
    names: SymbolTable,
    types: Mapping[Ref, Type],
    context: Context,
) -> list[GraphTest]:
    """Return the tests; a problem of one does not hide those of the next."""
    if node is None or (isinstance(node, ScalarNode) and node.missing):
        return []
    if not isinstance(node, SequenceNode):
        hint = "write a list: `- name: ...`, with given and expect below it"
        context.problems.add("RT105", node.mark, f"tests is a list, this is {node.form}", hint)
        return []
    graph = _TestScope(inputs, outputs, names, types, context)
    readers = [_TestReader(graph, item, index) for index, item in enumerate(node.items, start=1)]
    first: dict[str, SourceSpan] = {}
    for reader in readers:
        if first.setdefault(reader.name, reader.mark) is not reader.mark:
            line = first[reader.name].line
            message = f"the test {reader.name!r} is there twice, first on line {line}"
            context.problems.add("RT106", reader.mark, message, "give it a name of its own")
    return [reader.read() for reader in readers]


class _TestReader:
    def __init__(self, graph: _TestScope, node: DocumentNode, index: int) -> None:
        self.graph = graph
        self.problems = graph.context.problems
        self.node = node
        self.fields = read_entries(node, "a test", KEYS, self.problems)
        name = self.fields.get("name")
        self.name = read_text(name, "name", self.problems) or f"test {index}"
        self.mark = name.mark if name else node.mark
        self.targets: dict[str, Ref] = {}
        self.key = self.attempt(self.key_columns) or ()

    def read(self) -> GraphTest:
        fields = self.fields
        return GraphTest(
            name=self.name,
            params=self.attempt(self.parameters) or {},
            key=self.key,
            given=self.rows_by_name("given", self.input_type),
            expect=self.rows_by_name("expect", self.output_type),
            emits_nothing=tuple(self.silent()),
            targets=self.targets,
            tolerance=self.attempt(self.tolerance) or 0.0,
            error=self.attempt(self.error) or "",
            doc=read_text(fields.get("doc"), "doc", self.problems),
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
        items = node.items if isinstance(node, SequenceNode) else [node]
        if not all(isinstance(item, ScalarNode) and not item.missing for item in items):
            raise graph_error("RT150", node.mark, "key is a list of column names", "write [symbol]")
        names = tuple(item.text for item in items if isinstance(item, ScalarNode))
        if len(set(names)) < len(names):
            raise graph_error("RT106", node.mark, "a key column is given twice", "remove one")
        return names

    def parameters(self) -> dict[str, Any]:
        """Read values for the graph's parameters, as written; running the test converts them."""
        result = {}
        known = self.graph.context.parameters
        node = self.fields.get("params")
        for name, item in read_entries(node, "params of a test", None, self.problems).items():
            assert isinstance(node, MappingNode)
            if name not in known:
                hint = self.problems.suggest_name(name, known)
                self.problems.add("RT114", node.keys[name], f"unknown parameter {name!r}", hint)
            elif isinstance(item, ScalarNode):
                result[name] = item.value
            elif isinstance(item, SequenceNode):
                result[name] = [one.value for one in item.items if isinstance(one, ScalarNode)]
            else:
                self.problems.add("RT105", item.mark, "a parameter is not a mapping here")
        return result

    def tolerance(self) -> float:
        node = self.fields.get("tolerance")
        if node is None:
            return 0.0
        parameter = Number(name="tolerance", minimum=0.0)
        return float(parameter.read(node, self.graph.context))

    def error(self) -> str:
        """Return the code of the error that the test expects; no rows come out then."""
        node = self.fields.get("error")
        code = read_text(node, "error", self.problems)
        if not isinstance(node, ScalarNode):
            return ""
        if code not in ERROR_CODES:
            hint = suggest_name(code, ERROR_CODES) or "`rtbot explain RT103` says what a code means"
            raise graph_error("RT150", node.mark, f"there is no error {code[:40]!r}", hint)
        for other in ("expect", "emits_nothing"):
            if other in self.fields:
                hint = "make two tests of it"
                raise graph_error(
                    "RT150", node.mark, f"a test has an error or {other}, not both", hint
                )
        return code

    def silent(self) -> list[str]:
        node, expected = self.fields.get("emits_nothing"), self.fields.get("expect")
        items = node.items if isinstance(node, SequenceNode) else [node] if node else []
        names = []
        for item in items:
            if not isinstance(item, ScalarNode) or item.missing:
                self.problems.add("RT105", item.mark, "emits_nothing is a list of references")
            elif isinstance(expected, MappingNode) and item.text in expected.items:
                message = f"{item.text} is in expect and in emits_nothing"
                self.problems.add("RT150", item.mark, message, "keep one of the two")
            elif self.attempt(self.output_type, item.text, item.mark):
                names.append(item.text)
        return names

    def input_type(self, name: str, mark: SourceSpan) -> Type | None:
        if name not in self.graph.inputs:
            hint = self.problems.suggest_name(name, self.graph.inputs)
            raise graph_error("RT120", mark, f"there is no input {name!r}", hint)
        one = self.graph.inputs[name]
        return one.type if one else None

    def output_type(self, name: str, mark: SourceSpan) -> Type | None:
        """Return the type of a public output, or of any output port of the graph."""
        if name in self.graph.outputs and self.graph.outputs[name] is None:
            return None
        fields = [other for other in self.graph.outputs if other.startswith(f"{name}.")]
        if fields and fields[0] == name_element(name, 0):
            self.targets[name] = self._find_whole(fields[0])
            return self.graph.types.get(self.targets[name])
        if fields and name not in self.graph.outputs:
            message = f"the output {name} is a record"
            raise graph_error("RT121", mark, message, f"expect its fields: {', '.join(fields)}")
        ref = self.graph.outputs.get(name)
        if ref is None:
            ref = self.graph.names.resolve(name, mark)
            check_element(ref, self.graph.types, mark)
        self.targets[name] = ref
        return self.graph.types.get(ref)

    def _find_whole(self, element: str) -> Ref:
        """Return the vector that the output of its first element is of."""
        first = self.graph.outputs[element]
        assert first is not None, "one that is wrong is None as a whole"
        return Ref(first.id, split_element(first.port)[0])

    def rows_by_name(
        self, key: str, type_of: Callable[[str, SourceSpan], Type | None]
    ) -> dict[str, GraphTestRows]:
        result = {}
        node = self.fields.get(key)
        for name, item in read_entries(node, key, None, self.problems).items():
            assert isinstance(node, MappingNode)
            type_ = self.attempt(type_of, name, node.keys[name])
            if type_ is not None:
                rows = self.attempt(read_rows, item, type_, len(self.key), self.graph.context)
                result[name] = rows or GraphTestRows()
        return result
