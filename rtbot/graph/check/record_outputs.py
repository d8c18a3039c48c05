"""Outputs of several series: records, `{bid: ref, ask: ref}`, and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, graph_error
from rtbot.core.vector_names import VECTOR, name_element
from rtbot.graph.check.drafts import Draft
from rtbot.graph.check.record_type import check_field
from rtbot.graph.check.resolve_nodes import make_nodes
from rtbot.graph.check.vector_type import check_element, check_single
from rtbot.graph.check.wiring import map_output_names
from rtbot.graph.document import MappingNode, ScalarNode
from rtbot.graph.model import Ref
from rtbot.operator.vectors import list_elements
from rtbot.operators.joins import Join

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.check.context import Context
    from rtbot.graph.check.references import SymbolTable
    from rtbot.graph.model import Node
    from rtbot.operator import Type

OUTPUT_EXAMPLE = "write {bid: id, ask: id}"


class RecordOutputs:
    """Makes the series of outputs, of a record one for each field, which have equal times.

    A vector has one for each element.

    What does not come from one record is joined by time: `nodes` are the Joins, by their ids, which
    are the name of the output and `.join`.
    """

    def __init__(self, names: SymbolTable, types: Mapping[Ref, Type], context: Context) -> None:
        self.names, self.types, self.context = names, types, context
        self.nodes: dict[str, Node] = {}

    def show(self, name: str, item: ScalarNode) -> dict[str, Ref | None]:
        """Return what a reference shows: a series, or the elements of a vector by `NAME.0`."""
        ref = self._resolve(item)
        type_ = self.types.get(ref)
        if type_ is None or type_.kind != VECTOR:
            return {name: ref}
        ports = list_elements(ref.port, type_)
        return {name_element(name, k): Ref(ref.id, port) for k, port in enumerate(ports)}

    def _resolve(self, item: ScalarNode) -> Ref:
        ref = self.names.resolve(item.text, item.mark)
        check_element(ref, self.types, item.mark)
        return ref

    def read(self, name: str, mark: SourceSpan, node: MappingNode) -> dict[str, Ref | None]:
        """Return what the fields of an output show, by `NAME.FIELD`; None for what is wrong."""
        if not node.items:
            raise graph_error("RT110", mark, f"{name} has no fields", OUTPUT_EXAMPLE)
        found: dict[str, Ref] = {}
        marks: dict[str, SourceSpan] = {}
        for field, item in node.items.items():
            try:
                check_field(field, node.keys[field])
                if not isinstance(item, ScalarNode) or item.missing:
                    message = f"a field of an output is a reference, this is {item.form}"
                    raise graph_error("RT105", item.mark, message, OUTPUT_EXAMPLE)
                found[field] = self._resolve(item)
                check_single(found[field], self.types, item.mark)
                marks[field] = item.mark
            except GraphError as error:
                self.context.problems.add_all(error.problems)
        joined = self._join(name, mark, found, marks) if len(found) == len(node.items) else {}
        return {f"{name}.{field}": joined.get(field) for field in node.items}

    def _join(
        self,
        name: str,
        mark: SourceSpan,
        refs: Mapping[str, Ref],
        marks: Mapping[str, SourceSpan],
    ) -> Mapping[str, Ref]:
        """Return references that appear together, by field; none if they cannot."""
        sources = {ref.id for ref in refs.values()}
        if len(refs) == 1 or (len(sources) == 1 and sources <= self.names.inputs.keys()):
            return refs
        ports = [f"i{number}" for number in range(1, len(refs) + 1)]
        draft = Draft(
            f"{name}.join",
            mark,
            Join,
            {key: parameter.default for key, parameter in Join.parameters.items()},
            inputs=dict(zip(ports, refs.values(), strict=True)),
            marks=dict(zip(ports, marks.values(), strict=True)),
            outputs=map_output_names(Join, len(refs), {}),
            arity=len(refs),
        )
        made = make_nodes(draft, self.types, self.context)
        self.nodes |= {node.id: node for node in made}
        places = enumerate(refs, start=1)
        return {field: Ref(made[0].id, f"o{place}") for place, field in places} if made else {}
