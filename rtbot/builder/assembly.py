"""From what was built in Python to the tree of a graph file."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from rtbot.builder.call_sites import BuiltDocument, CallSite
from rtbot.builder.expression_text import write_expression
from rtbot.compiler.step_signature import to_snake_case
from rtbot.core.document_nodes import add_entry
from rtbot.graph.check.wiring import is_control
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.mapping import to_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.builder.builder import Builder, BuiltNode, Entry
    from rtbot.builder.stream import Operand, Stream
    from rtbot.core.source_span import SourceSpan


def assemble_document(builder: Builder) -> BuiltDocument:
    """Return the document of what a builder holds so far."""
    return _Assembly(builder).document()


class _Assembly:
    """The assembly of a document; the builder stays as it is."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.source = BuiltDocument(MappingNode({}, builder.place.mark), builder.place.mark.file)
        self.made = list(builder.made)
        self.operators: dict[int, BuiltNode] = {}
        self.promote()
        self.made.sort(key=lambda made: made.number)
        self.ids = self.assign_ids()

    # ---- which expressions are operators

    def promote(self) -> None:
        """Make operators of expressions that are used as one, or in several places."""
        from rtbot.builder.builder import BuiltNode

        roots = [made.expression for made in self.made if made.expression is not None]
        self.operators = {id(made.expression): made for made in self.made}
        fed = [stream for made in self.made for _, stream in made.feeds.values()]
        ends = [stream for stream in (*fed, *self.outputs()) if stream.op != "stream"]
        uses: Counter[int] = Counter()
        seen: dict[int, Operand] = {}
        todo = [*roots, *ends]
        while todo:
            part = todo.pop()
            if id(part) not in seen:
                seen[id(part)] = part
                uses.update(id(arg) for arg in part.args)
                todo += part.args
        wanted = {id(end) for end in ends}
        wanted |= {key for key, part in seen.items() if part.args and part.reads and uses[key] > 1}
        for key in wanted - self.operators.keys():
            part = seen[key]
            self.operators[key] = BuiltNode(part.place, part.number, expression=part)
            self.made.append(self.operators[key])

    def outputs(self) -> list[Stream]:
        values = (entry.value for entry in self.builder.outputs)
        return [
            stream
            for value in values
            for stream in (value.values() if isinstance(value, dict) else [value])
        ]

    def of(self, part: Operand) -> tuple[BuiltNode, str] | None:
        """Return the operator and the port that a part names, if it names one."""
        if part.op == "stream":
            return part.value.made, ".".join(filter(None, part.value[1:]))
        made = self.operators.get(id(part))
        return (made, "") if made is not None else None

    def reference(self, part: Operand) -> str | None:
        """Return `id` or `id.port` of a part that is an output or an input."""
        found = self.of(part)
        if found is None:
            return None
        made, port = found
        name = made.id or self.ids[id(made)]
        return f"{name}.{port}" if port else name

    def assign_ids(self) -> dict[int, str]:
        """Return ids for what has none: that of its output, else one by its type."""
        taken = {entry.name for entry in self.builder.inputs} | {m.id for m in self.made if m.id}
        found: dict[int, str] = {}
        for entry in self.builder.outputs:
            if isinstance(entry.value, dict):
                continue
            made, port = self.of(entry.value) or (None, "")
            free = made is not None and not made.id and id(made) not in found and not port
            if free and entry.name not in taken:
                found[id(made)] = entry.name
                taken.add(entry.name)
        for made in self.made:
            if not made.id and id(made) not in found:
                stem = to_snake_case(made.kind) if made.kind else "value"
                name, number = stem, 2
                while name in taken:
                    name, number = f"{stem}_{number}", number + 1
                found[id(made)] = name
                taken.add(name)
        return found

    # ---- the tree

    def document(self) -> BuiltDocument:
        builder, root = self.builder, self.source.root
        for key, value in builder.head.items():
            if value:
                self.put(root, key, self.nodes(value, builder.place, key), builder.place.mark)
        self.section("params", builder.parameters)
        self.section("inputs", builder.inputs)
        operators = self.section("operators", ())
        for made in self.made:
            self.put(operators, *self.operator(made))
        self.show()
        self.section("io", builder.settings)
        if builder.tests:
            items = [self.nodes(entry.value, entry.place) for entry in builder.tests]
            self.put(root, "tests", SequenceNode(items, builder.tests[0].place.mark))
        root.items = {key: node for key, node in root.items.items() if not _is_empty(node)}
        return self.source

    def show(self) -> None:
        """Put `outputs`: a list if every output has the name of what it shows."""
        section = self.section("outputs", ())
        for entry in self.builder.outputs:
            mark = entry.place.value(entry.name)
            node: DocumentNode
            if isinstance(entry.value, dict):
                node = MappingNode({}, mark)
                for field, stream in entry.value.items():
                    self.put(node, field, ScalarNode(self.reference(stream), mark, quoted=True))
            else:
                node = ScalarNode(self.reference(entry.value), mark, quoted=True)
            self.put(section, entry.name, node, entry.place.key(entry.name))
        shown = list(section.items.values())
        if [node.text for node in shown if isinstance(node, ScalarNode)] == list(section.items):
            self.source.root.items["outputs"] = SequenceNode(shown, section.mark)

    def section(self, key: str, entries: Iterable[Entry]) -> MappingNode:
        section = MappingNode({}, self.builder.place.mark)
        self.put(self.source.root, key, section)
        bare = {"params": "default", "inputs": "type"}.get(key)
        for entry in entries:
            mark = entry.place.keys.get(entry.name) or entry.place.value("0")
            node = self.nodes(entry.value, entry.place, bare or entry.name)
            self.put(section, entry.name, node, mark)
        return section

    def put(
        self, parent: MappingNode, key: str, node: DocumentNode, mark: SourceSpan | None = None
    ) -> None:
        add_entry(parent, ScalarNode(key, mark or node.mark), node, self.source.problems)

    def nodes(self, value: Any, place: CallSite, bare: str = "") -> DocumentNode:
        """Return a value as nodes at the place of its argument; `bare` is that of all."""

        def where(path: str) -> SourceSpan:
            first = re.split(r"[.\[]", path, maxsplit=1)[0] or bare
            named = {"min": "minimum", "max": "maximum"}.get(first, first)
            second = "1" if named in ("default", "type") else ""
            return place.values.get(named) or place.value(second)

        return to_nodes(value, where, self.source.problems)

    def operator(self, made: BuiltNode) -> tuple[str, DocumentNode, SourceSpan]:
        place = made.place
        id_ = made.id or self.ids[id(made)]
        node = MappingNode({}, place.mark)
        if made.expression is not None:
            mark = place.values.get("id") or place.value("0")  # of `assign_ids`
            return id_, write_expression(made.expression, self.reference), mark
        self.put(node, "type", ScalarNode(made.kind, place.mark, quoted=True))
        self.wire(node, made)
        for name, value in (made.values | made.about).items():
            self.put(node, name, self.nodes(value, place, name), place.key(name))
        return id_, node, place.value("id")

    def wire(self, node: MappingNode, made: BuiltNode) -> None:
        """Put `in` and `control`: one reference, a list by position, or by port."""
        assert made.operator is not None
        if made.named:
            marks = {name: made.place.value(argument) for name, (argument, _) in made.feeds.items()}
            tables: dict[str, DocumentNode] = {
                name: ScalarNode(self.reference(stream), marks[name], quoted=True)
                for name, (_, stream) in made.feeds.items()
            }
            self.put(node, "in", MappingNode(tables, made.place.mark, marks), made.place.mark)
            return
        order = made.operator.ports(made.operator.count_arity(made.feeds))
        for key, control in (("in", False), ("control", True)):
            refs: dict[str, DocumentNode] = {}
            marks = {}
            for port, (argument, stream) in made.feeds.items():
                if is_control(port) is control:
                    marks[port] = made.place.value(argument)
                    refs[port] = ScalarNode(self.reference(stream), marks[port], quoted=True)
            if not refs:
                continue
            group = [port for port in order if is_control(port) is control]
            known = [port for port in refs if port in group]
            wiring: DocumentNode = SequenceNode(list(refs.values()), made.place.mark)
            if known != group[: len(known)]:
                wiring = MappingNode(refs, made.place.mark, marks)
            elif len(refs) == 1:
                wiring = refs[known[0]]
            self.put(node, key, wiring, made.place.mark)


def _is_empty(node: DocumentNode) -> bool:
    return not isinstance(node, ScalarNode) and not node.items
