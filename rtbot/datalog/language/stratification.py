"""Strata: relations that depend on each other, in an order in which they can be computed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from rtbot.datalog.language.clause_syntax import AtomSyntax
from rtbot.datalog.language.rule_draft import DraftAggregate, DraftNegation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import DraftLiteral, RuleDraft


class _Edge(NamedTuple):
    """That the relation `head` reads `body`; `sign` is "", "!" or an aggregate."""

    head: str
    body: str
    sign: str
    span: SourceSpan


def find_strata(
    source: ProgramText, relations: Sequence[str], rules: Iterable[RuleDraft]
) -> tuple[tuple[str, ...], ...]:
    """Return the strata, each after those that it reads; notes negation in a cycle."""
    edges = [edge for rule in rules for edge in _list_edges(rule.head.relation, rule.body, "")]
    reads: dict[str, dict[str, None]] = {name: {} for name in relations}
    for edge in edges:
        if edge.head in reads and edge.body in reads:
            reads[edge.head][edge.body] = None
    places = {name: place for place, name in enumerate(relations)}
    found = [tuple(sorted(group, key=places.__getitem__)) for group in _find_components(reads)]
    stratum_of = {name: number for number, group in enumerate(found) for name in group}
    noted: set[int] = set()
    for edge in edges:
        number = stratum_of.get(edge.head, -1)
        if edge.sign and number == stratum_of.get(edge.body, -2) and number not in noted:
            noted.add(number)
            inside = set(found[number])
            _report_cycle(source, edge, [e for e in edges if {e.head, e.body} <= inside])
    return tuple(found)


def _list_edges(head: str, body: Iterable[DraftLiteral], sign: str) -> Iterator[_Edge]:
    for literal in body:
        match literal:
            case AtomSyntax():
                yield _Edge(head, literal.relation, sign, literal.span)
            case DraftNegation():
                yield _Edge(head, literal.atom.relation, sign or "!", literal.atom.span)
            case DraftAggregate():
                yield from _list_edges(head, literal.body, sign or f"{literal.how} ")


def _find_components(reads: Mapping[str, Mapping[str, None]]) -> list[list[str]]:
    """Return strongly connected components, each after those that it reads (Tarjan 1972)."""
    search = _ComponentSearch(reads)
    for name in reads:
        if name not in search.numbers:
            search.visit(name)
    return search.found


class _ComponentSearch:
    """A depth-first search; `open` are the names whose component is not known yet."""

    def __init__(self, reads: Mapping[str, Mapping[str, None]]) -> None:
        self.reads = reads
        self.numbers: dict[str, int] = {}
        self.lowest: dict[str, int] = {}
        self.open: dict[str, None] = {}
        self.path: list[tuple[str, Iterator[str]]] = []
        self.found: list[list[str]] = []

    def visit(self, start: str) -> None:
        """Find the components that can be reached from a name."""
        self._enter(start)
        while self.path:
            name, others = self.path[-1]
            other = next((o for o in others if o not in self.numbers or o in self.open), None)
            if other is None:
                self._leave(name)
            elif other in self.numbers:
                self.lowest[name] = min(self.lowest[name], self.numbers[other])
            else:
                self._enter(other)

    def _enter(self, name: str) -> None:
        self.numbers[name] = self.lowest[name] = len(self.numbers)
        self.open[name] = None
        self.path.append((name, iter(self.reads[name])))

    def _leave(self, name: str) -> None:
        """Go back from a name; it closes its component if nothing before it is in it."""
        self.path.pop()
        if self.path:
            above = self.path[-1][0]
            self.lowest[above] = min(self.lowest[above], self.lowest[name])
        if self.lowest[name] == self.numbers[name]:
            group: list[str] = []
            while not group or group[-1] != name:
                group.append(self.open.popitem()[0])
            self.found.append(group)


def _report_cycle(source: ProgramText, edge: _Edge, inside: Sequence[_Edge]) -> None:
    """Note a relation that depends on its own negation or aggregate, with the way round."""
    back = _find_path(edge.body, edge.head, inside)
    path = [edge, *back]
    shown = " -> ".join([edge.head, *(f"{each.sign}{each.body}" for each in path)])
    kind = "a negation" if edge.sign == "!" else f"{edge.sign.strip()} of an aggregate"
    message = f"{edge.head} depends on {kind} of itself: {shown}"
    if edge.sign != "!":
        message = f"{edge.head} depends on the {edge.sign}of itself: {shown}"
    lines = ", ".join(f"{each.head} reads {each.sign}{each.body} on line {each.span.line}"
                      for each in path)  # fmt: skip
    source.report_at("RT509", edge.span, message, lines)


def _find_path(start: str, end: str, edges: Sequence[_Edge]) -> list[_Edge]:
    """Return the shortest way between relations of one component."""
    if start == end:
        return []
    came: dict[str, _Edge] = {}
    waiting = deque([start])
    while end not in came:
        name = waiting.popleft()
        for edge in edges:
            if edge.head == name and edge.body not in came and edge.body != start:
                came[edge.body] = edge
                waiting.append(edge.body)
    path = [came[end]]
    while path[-1].head != start:
        path.append(came[path[-1].head])
    return path[::-1]
