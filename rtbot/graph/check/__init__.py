"""The one checker of graph files: from a document to a checked graph, or to every problem."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import rtbot.operators  # noqa: F401 (registers the operators)
from rtbot.core.errors import GraphError, Problems, graph_error, join_names
from rtbot.core.scalar_values import parse_integer
from rtbot.core.source_span import SourceSpan
from rtbot.graph.check.change_schema import refuse_mask
from rtbot.graph.check.context import Context, read_entries, read_text, to_plain_tree
from rtbot.graph.check.drafts import Draft, read_drafts
from rtbot.graph.check.edge import read_inputs, read_outputs
from rtbot.graph.check.io_section import (
    IO_KEYS,
    override_io,
    read_input_io,
    read_io,
    read_unit,
)
from rtbot.graph.check.parameters import read_parameters
from rtbot.graph.check.record_outputs import RecordOutputs
from rtbot.graph.check.references import SymbolTable, resolve_drafts, sort_drafts
from rtbot.graph.check.resolve_nodes import make_nodes
from rtbot.graph.check.run_keys import check_bridges, make_key_fields
from rtbot.graph.check.tests_section import GraphTest, read_tests
from rtbot.graph.check.wiring import list_output_names
from rtbot.graph.document import Document, DocumentNode, MappingNode, ScalarNode
from rtbot.graph.model import (
    CheckedGraph,
    Input,
    Node,
    Ref,
    group_fields,
    list_input_types,
    list_node_types,
    list_vector_types,
)

if TYPE_CHECKING:
    from collections import abc

    from rtbot.operator import Type

__all__ = ["GraphTest", "check"]

KEYS = (
    *("version", "name", "description", "meta", "imports", "params", "inputs", "operators"),
    *("outputs", "prototypes", "tests", "io"),
)
LATER = ("imports", "prototypes")
_RTBOT = ("apiVersion", "entryOperator", "connections", "output", "title")


def check(
    document: Document,
    params: abc.Mapping[str, Any] | None = None,
    overrides_io: abc.Mapping[str, Any] | None = None,
) -> CheckedGraph:
    """Check a graph with these parameters; `overrides_io` are keys of `io` given at the call.

    Raises GraphError with every problem, each once, in the order of the file.
    """
    problems = Problems()
    problems.add_all(document.problems.found)
    try:
        checked = _Check(document, problems).run(params or {}, overrides_io)
    except GraphError as error:
        problems.add_all(error.problems)
        checked = None
    found = [document.with_source(problem) for problem in problems.list_problems("error")]
    if found or checked is None:
        raise GraphError(found)
    return checked


class _Check:
    def __init__(self, document: Document, problems: Problems) -> None:
        self.document = document
        self.problems = problems
        self.context = Context(problems)
        self.nodes: dict[str, Node] = {}

    def run(
        self, params: abc.Mapping[str, Any], overrides: abc.Mapping[str, Any] | None
    ) -> CheckedGraph:
        context, root = self.context, self.document.root
        sections = self.sections(root)
        io_section = override_io(sections.get("io"), overrides)
        context.unit = read_unit(io_section)
        parameters = sections.get("params")
        context.blind = self.misspelt or not (is_empty(parameters) or is_mapping(parameters))
        context.parameters = read_parameters(parameters, params, context)
        inputs = read_inputs(sections.get("inputs"), context)
        taken = {name: sections["inputs"].keys[name] for name in inputs}
        drafts = read_drafts(sections.get("operators"), taken, context)
        names = SymbolTable(
            inputs, drafts, self.problems, blind=self.has_missing_names(sections, inputs)
        )
        resolve_drafts(names, context)
        io = read_io(io_section, inputs, context)
        context.key_fields = make_key_fields(io)
        types = self.type_nodes(inputs, drafts)
        check_bridges(self.nodes.values(), io, io_section, context)
        outputs = self.outputs(sections.get("outputs"), names, types)
        self.check_complete(sections, inputs, drafts, outputs)
        inputs = read_input_io(sections.get("inputs"), inputs, io, overrides, context)
        tests = read_tests(sections.get("tests"), inputs, outputs, names, types, context)
        self.warn(inputs, drafts, outputs, tests)
        return CheckedGraph(
            name=self.name(sections.get("name")),
            inputs={name: one for name, one in inputs.items() if one is not None},
            nodes=self.nodes,
            outputs={name: ref for name, ref in outputs.items() if ref is not None},
            io=io,
            params={name: p.value for name, p in context.parameters.items()},
            tests=tuple(tests),
            description=read_text(sections.get("description"), "description", self.problems),
            file=self.document.file,
            meta=self.meta(sections.get("meta")),
            records=group_fields(outputs),
            warnings=tuple(map(self.document.with_source, self.problems.list_problems("warning"))),
        )

    def sections(self, root: MappingNode) -> dict[str, Any]:
        """Return the top-level entries; those of RtBot's own form and of later versions stop."""
        for key in _RTBOT:
            if key in root.items and "inputs" not in root.items:
                message = f"`{key}` belongs to RtBot's own form, which comes later"
                raise graph_error(
                    "RT141", root.keys[key], message, "write inputs, operators, outputs"
                )
        for key in LATER:
            if key in root.items:
                hint = "leave it out for now"
                self.problems.add("RT141", root.keys[key], f"`{key}` comes later", hint)
        sections = read_entries(root, "a graph file", KEYS, self.problems, _suggest_sections(root))
        version = sections.get("version")
        if version is not None and not (
            isinstance(version, ScalarNode) and parse_integer(version) == 1
        ):
            self.problems.add("RT112", version.mark, "version is 1 for now", "write version: 1")
        return dict(sections)

    def type_nodes(
        self, inputs: dict[str, Input | None], drafts: dict[str, Draft]
    ) -> dict[Ref, Type]:
        """Make the nodes in dependency order; return the types of all outputs that have one."""
        given = [one for one in inputs.values() if one is not None]
        types = list_input_types(given) | list_vector_types((), given)
        for draft in sort_drafts(drafts, self.context):
            for node in make_nodes(draft, types, self.context):
                self.nodes[node.id] = node
                types |= list_node_types([node]) | list_vector_types([node])
        return types

    def outputs(
        self, node: DocumentNode | None, names: SymbolTable, types: dict[Ref, Type]
    ) -> dict[str, Ref | None]:
        """Return the outputs; the Joins before those that are records are nodes, with types."""
        records = RecordOutputs(names, types, self.context)
        found = read_outputs(node, names, records, self.context)
        self.nodes |= records.nodes
        types |= list_node_types(records.nodes.values())
        for name, ref in found.items():
            if ref is None or ref.id not in self.nodes or ref not in types:
                continue
            mark = self.nodes[ref.id].mark
            try:
                refuse_mask(f"the output {name}", types[ref].schema or (), mark)
            except GraphError as error:
                self.problems.add_all(error.problems)
        return found

    def check_complete(
        self,
        sections: dict[str, Any],
        inputs: dict[str, Input | None],
        drafts: dict[str, Draft],
        outputs: dict[str, Ref | None],
    ) -> None:
        """Note a missing input or output; a section that is wrong is reported as such."""
        start = SourceSpan(self.document.file, *((1, 1) if self.document.source else (0, 0)))
        read = {ref.id for draft in drafts.values() for ref in draft.inputs.values()}
        ends = [name for name in drafts if name not in read]
        hints = {
            "inputs": "add `inputs: {price: number}`",
            "outputs": f"add `outputs: [{', '.join(ends[:4]) or 'ID'}]`",
        }
        for key, found in (("inputs", inputs), ("outputs", outputs)):
            if not found and not self.misspelt and is_empty(sections.get(key)):
                mark = self.document.root.keys.get(key, start)
                self.problems.add("RT110", mark, f"the graph has no {key}", hints[key])

    @property
    def misspelt(self) -> bool:
        """Whether a key of the file is unknown: any section may be meant."""
        return not self.document.root.items.keys() <= set(KEYS)

    def has_missing_names(self, sections: dict[str, Any], inputs: dict[str, Input | None]) -> bool:
        """Return whether names are missing that the file meant to give."""
        operators = sections.get("operators")
        odd = not (is_empty(operators) or is_mapping(operators))
        return not inputs or self.misspelt or odd

    def warn(
        self,
        inputs: dict[str, Input | None],
        drafts: dict[str, Draft],
        outputs: dict[str, Ref | None],
        tests: list[GraphTest],
    ) -> None:
        """Note what nothing reads: no error, but seldom meant."""
        read = {ref.id for draft in drafts.values() for ref in draft.inputs.values()}
        read |= {ref.id for node in self.nodes.values() for ref in node.inputs.values()}
        read |= {ref.id for ref in outputs.values() if ref is not None}
        read |= {ref.id for test in tests for ref in test.refs}
        for name, one in inputs.items():
            if one is not None and name not in read:
                self.problems.add("RT190", one.mark, f"nothing reads the input {name}")
        for name, draft in drafts.items():
            if name not in read:
                message = f"nothing reads the operator {name}"
                ports = list_output_names(draft.outputs)
                shown = [name] if len(ports) == 1 else [f"{name}.{port}" for port in ports]
                hint = f"add it to outputs: {join_names(shown)}"
                self.problems.add("RT191", draft.mark, message, hint, operator=name)
        for name, parameter in self.context.parameters.items():
            if name not in self.context.used:
                message = f"nothing uses the parameter {name}"
                self.problems.add("RT192", parameter.mark, message, f"it is used as ${name}")

    def name(self, node: Any) -> str:
        """Return the graph's name: given, or the file's."""
        given = read_text(node, "name", self.problems)
        file = os.fspath(self.document.file)
        return given or (PurePath(file).stem if not file.startswith("<") else "graph")

    def meta(self, node: Any) -> dict[str, Any]:
        found = read_entries(node, "meta", None, self.problems)
        return {key: to_plain_tree(item) for key, item in found.items()}


def _suggest_sections(root: MappingNode) -> dict[str, str]:
    """Return hints on where keys belong that are not keys of a graph file."""
    hints = {key: f"it belongs under `io`: `io: {{{key}: ...}}`" for key in IO_KEYS}
    for key, item in root.items.items():
        if isinstance(item, MappingNode) and "type" in item.items:
            hints[key] = "indent it: it belongs to `operators`"
    return hints


def is_empty(section: Any) -> bool:
    """Return whether a section has nothing in it, as opposed to something wrong."""
    if section is None or isinstance(section, ScalarNode):
        return section is None or section.missing
    return not section.items


def is_mapping(section: Any) -> bool:
    """Return whether a section has the form of a mapping."""
    return isinstance(section, MappingNode)
