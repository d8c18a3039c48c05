"""From what was made in Python to the tree of a graph file."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from rtbot.builder.call_sites import Place, Source
from rtbot.builder.expression_text import written
from rtbot.compiler.step_signature import snake
from rtbot.graph.check.wiring import arity_of, is_control
from rtbot.graph.document import Mapping, Node, Scalar, Sequence
from rtbot.graph.document.mapping import nodes_of
from rtbot.graph.document.nodes import put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.builder.builder import Builder, Entry, Made
    from rtbot.builder.stream import Operand, Stream
    from rtbot.core.source_span import Mark


def assembled(builder: Builder) -> Source:
    """Return the document of what a builder holds so far."""
    return _Assembly(builder).document()


class _Assembly:
    """One look at a builder; the builder stays as it is."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.source = Source(Mapping({}, builder.place.mark), builder.place.mark.file)
        self.made = list(builder.made)
        self.operators: dict[int, Made] = {}
        self.promote()
        self.made.sort(key=lambda made: made.number)
        self.ids = self.named()

    # ---- which expressions are operators

    def promote(self) -> None:
        """Make operators of expressions that are used as one, or in several places."""
        from rtbot.builder.builder import Made

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
            self.operators[key] = Made(part.place, part.number, expression=part)
            self.made.append(self.operators[key])

    def outputs(self) -> list[Stream]:
        return [entry.value for entry in self.builder.outputs]

    def of(self, part: Operand) -> tuple[Made, str] | None:
        """Return the operator and the port that a part names, if it names one."""
        if part.op == "stream":
            return part.value.made, part.value.port
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

    def named(self) -> dict[int, str]:
        """Return ids for what has none: that of its output, else one by its type."""
        taken = {entry.name for entry in self.builder.inputs} | {m.id for m in self.made if m.id}
        found: dict[int, str] = {}
        for entry in self.builder.outputs:
            made, port = self.of(entry.value) or (None, "")
            free = made is not None and not made.id and id(made) not in found and not port
            if free and entry.name not in taken:
                found[id(made)] = entry.name
                taken.add(entry.name)
        for made in self.made:
            if not made.id and id(made) not in found:
                stem = snake(made.kind) if made.kind else "value"
                name, number = stem, 2
                while name in taken:
                    name, number = f"{stem}_{number}", number + 1
                found[id(made)] = name
                taken.add(name)
        return found

    # ---- the tree

    def document(self) -> Source:
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
            self.put(root, "tests", Sequence(items, builder.tests[0].place.mark))
        root.items = {key: node for key, node in root.items.items() if not _is_empty(node)}
        return self.source

    def show(self) -> None:
        """Put `outputs`: a list if every output is called what it shows."""
        section = self.section("outputs", ())
        for entry in self.builder.outputs:
            node = Scalar(self.reference(entry.value), entry.place.value(entry.name), quoted=True)
            self.put(section, entry.name, node, entry.place.key(entry.name))
        shown = list(section.items.values())
        if [node.text for node in shown if isinstance(node, Scalar)] == list(section.items):
            self.source.root.items["outputs"] = Sequence(shown, section.mark)

    def section(self, key: str, entries: Iterable[Entry]) -> Mapping:
        section = Mapping({}, self.builder.place.mark)
        self.put(self.source.root, key, section)
        bare = {"params": "default", "inputs": "type"}.get(key)
        for entry in entries:
            mark = entry.place.keys.get(entry.name) or entry.place.value("0")
            node = self.nodes(entry.value, entry.place, bare or entry.name)
            self.put(section, entry.name, node, mark)
        return section

    def put(self, parent: Mapping, key: str, node: Node, mark: Mark | None = None) -> None:
        put(parent, Scalar(key, mark or node.mark), node, self.source.problems)

    def nodes(self, value: Any, place: Place, bare: str = "") -> Node:
        """Return a value as nodes that stand where its argument stands; `bare` is that of all."""

        def where(path: str) -> Mark:
            first = re.split(r"[.\[]", path, maxsplit=1)[0] or bare
            named = {"min": "minimum", "max": "maximum"}.get(first, first)
            second = "1" if named in ("default", "type") else ""
            return place.values.get(named) or place.value(second)

        return nodes_of(value, where, self.source.problems)

    def operator(self, made: Made) -> tuple[str, Node, Mark]:
        place = made.place
        id_ = made.id or self.ids[id(made)]
        node = Mapping({}, place.mark)
        if made.expression is not None:
            mark = place.values.get("id") or place.value("0")  # of `named`
            return id_, written(made.expression, self.reference), mark
        self.put(node, "type", Scalar(made.kind, place.mark, quoted=True))
        self.wire(node, made)
        for name, value in (made.values | made.about).items():
            self.put(node, name, self.nodes(value, place, name), place.key(name))
        return id_, node, place.value("id")

    def wire(self, node: Mapping, made: Made) -> None:
        """Put `in` and `control`: one reference, a list by position, or by port."""
        assert made.operator is not None
        order = made.operator.ports(arity_of(made.operator, made.feeds))
        for key, control in (("in", False), ("control", True)):
            refs: dict[str, Node] = {}
            marks: dict[str, Mark] = {}
            for port, (argument, stream) in made.feeds.items():
                if is_control(port) is control:
                    marks[port] = made.place.value(argument)
                    refs[port] = Scalar(self.reference(stream), marks[port], quoted=True)
            if not refs:
                continue
            group = [port for port in order if is_control(port) is control]
            known = [port for port in refs if port in group]
            wiring: Node = Sequence(list(refs.values()), made.place.mark)
            if known != group[: len(known)]:
                wiring = Mapping(refs, made.place.mark, marks)
            elif len(refs) == 1:
                wiring = refs[known[0]]
            self.put(node, key, wiring, made.place.mark)


def _is_empty(node: Node) -> bool:
    return not isinstance(node, Scalar) and not node.items
