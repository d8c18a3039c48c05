"""From the text of a graph file to nodes, by the events of a YAML parser."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.document_nodes import (
    Document,
    DocumentNode,
    MappingNode,
    ScalarNode,
    SequenceNode,
    add_entry,
)
from rtbot.core.errors import GraphError, graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.graph.document.diagnosis import (
    GRAPH_FIRST,
    PARAMETER_BARE,
    identify_text,
    make_yaml_error,
)
from rtbot.graph.document.text import normalise_text

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES_MAX = 1 << 20
DEPTH_MAX = 32
NODES_MAX = 100_000
SCALAR_MAX = 1 << 16


def parse_yaml(text: str, file: str = "<graph>") -> Document:
    """Read the text of a graph file."""
    document = Document(MappingNode({}, SourceSpan(file)), file, text)
    try:
        document.source = normalise_text(text, file, BYTES_MAX)
        document.root = _NodeBuilder(document).read()
    except GraphError as error:
        stops = {problem.mark.line for problem in error.problems}
        before = [p for p in document.problems.list_problems("error") if p.mark.line not in stops]
        everything = [*before, *error.problems]
        raise GraphError([document.with_source(problem) for problem in everything]) from None
    return document


class _NodeBuilder:
    """Builder of nodes from the parser's events; depth is counted, not recursed into."""

    def __init__(self, document: Document) -> None:
        self.text = document.source
        self.file = document.file
        self.problems = document.problems
        self.stack: list[tuple[MappingNode | SequenceNode, list[ScalarNode]]] = []
        self.roots: list[DocumentNode] = []
        self.count = 0
        self.fatal = False

    def read(self) -> MappingNode:
        for event in self.events():
            getattr(self, "on_" + type(event).__name__, self.ignore)(event)
        start = SourceSpan(self.file, 1, 1)
        if self.fatal:
            raise GraphError(self.problems.list_problems("error"))
        root = self.roots[0] if self.roots else ScalarNode(None, start)
        if isinstance(root, ScalarNode) and root.missing:
            raise graph_error("RT105", start, "the graph file is empty", "start with `inputs:`")
        if not isinstance(root, MappingNode):
            self.refuse_data()
            message = f"a graph file is a mapping of keys, this one is {root.form}"
            raise graph_error("RT105", root.mark, message, "start with `inputs:`")
        return root

    def refuse_data(self) -> None:
        """Raise GraphError if the text is data, not a graph."""
        if other := identify_text(self.text):
            start = SourceSpan(self.file, 1, 1)
            raise graph_error("RT105", start, f"this looks like {other}", GRAPH_FIRST)

    def events(self) -> Iterator[Any]:
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            yield from yaml.parse(self.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            raise make_yaml_error(self.text, self.file, error) from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            reason = str(error).splitlines()[0]
            message = f"this is not YAML: {reason}"
            raise graph_error("RT101", SourceSpan(self.file, 1, 1), message) from None

    def mark(self, event: Any) -> SourceSpan:
        start, end = event.start_mark, event.end_mark
        length = end.column - start.column if start.line == end.line else 1
        return SourceSpan(self.file, start.line + 1, start.column + 1, max(length, 1))

    def ignore(self, event: Any) -> None:
        """Ignore the ends of streams and documents."""

    def refuse(self, event: Any, what: str, written: str, hint: str) -> None:
        self.fatal = True
        mark = replace(self.mark(event), length=len(written))
        self.problems.add("RT102", mark, f"{what}, {written}", hint)

    def on_DocumentStartEvent(self, event: Any) -> None:  # noqa: N802 (named by the parser)
        if self.roots:
            mark = self.mark(event)
            raise graph_error(
                "RT102", mark, "a second document", "one graph per file: remove `---`"
            )

    def on_AliasEvent(self, event: Any) -> None:  # noqa: N802
        hint = "write the value out, or use a parameter; quote the text if it is an expression"
        self.refuse(event, "an alias", f"*{event.anchor}", hint)
        self.add(ScalarNode("", self.mark(event), quoted=True))

    def on_ScalarEvent(self, event: Any) -> None:  # noqa: N802
        self.count_node(event)
        mark = self.mark(event)
        if len(event.value) > SCALAR_MAX:
            self.refuse_data()
            raise graph_error("RT108", mark, f"a text of more than {SCALAR_MAX} characters")
        start, end = event.start_mark.index, event.end_mark.index
        quoted = event.style in ("'", '"')
        self.add(ScalarNode(event.value, mark, quoted, self.text, start, end))

    def on_MappingStartEvent(self, event: Any) -> None:  # noqa: N802
        self.open(event, MappingNode({}, self.mark(event)))

    def on_SequenceStartEvent(self, event: Any) -> None:  # noqa: N802
        self.open(event, SequenceNode([], self.mark(event)))

    def on_MappingEndEvent(self, event: Any) -> None:  # noqa: N802
        self.close(event)

    def on_SequenceEndEvent(self, event: Any) -> None:  # noqa: N802
        self.close(event)

    def count_node(self, event: Any) -> None:
        self.count += 1
        if self.count > NODES_MAX:
            raise graph_error(
                "RT108", self.mark(event), f"more than {NODES_MAX} values in one file"
            )
        if event.anchor:
            self.refuse(event, "an anchor", f"&{event.anchor}", "remove it, or quote the text")
        if event.tag:
            written = self.text[event.start_mark.index :].split(maxsplit=1)[0]
            other = "" if written[1:2] in ("!", "<") else f"write `not {written[1:]}`, or "
            self.refuse(event, "a tag", written, f"remove it, or {other}quote the text")

    def open(self, event: Any, node: MappingNode | SequenceNode) -> None:
        self.count_node(event)
        if len(self.stack) >= DEPTH_MAX:
            raise graph_error("RT108", self.mark(event), f"more than {DEPTH_MAX} levels of nesting")
        self.add(node)
        self.stack.append((node, []))
        node.flow, node.start = bool(event.flow_style), event.start_mark.index

    def close(self, event: Any) -> None:
        """End a list or mapping: at its bracket, or with the text of its last item."""
        node, _ = self.stack.pop()
        items = node.items if isinstance(node, SequenceNode) else [*node.items.values()]
        node.end = event.end_mark.index if node.flow or not items else items[-1].end
        while not node.flow and self.text[node.end - 1].isspace():
            node.end -= 1

    def add(self, node: DocumentNode) -> None:
        """Put the node at the parser's place: a key, a value, an item, or the root."""
        if not self.stack:
            self.roots.append(node)
            return
        parent, pending = self.stack[-1]
        if isinstance(parent, SequenceNode):
            parent.items.append(node)
        elif pending:
            add_entry(parent, pending.pop(), node, self.problems)
        elif isinstance(node, ScalarNode):
            pending.append(node)
        else:
            hint = PARAMETER_BARE if isinstance(node, MappingNode) else ""
            raise graph_error("RT105", node.mark, f"a key is text, this one is {node.form}", hint)
