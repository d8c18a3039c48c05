"""References: from `id` and `id.port` to an output port, and the order in which nodes depend."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, describe_non_ascii, graph_error, join_names, suggest_name
from rtbot.core.vector_names import RECORD, VECTOR, name_element
from rtbot.expression import Term, find_constant
from rtbot.graph.check.context import Context, hint_known_names
from rtbot.graph.check.wiring import REFERENCE, list_output_names
from rtbot.graph.model import Ref
from rtbot.operator import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.core.errors import Problems
    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.check.drafts import Draft
    from rtbot.graph.model import Input

_WORDS = {
    **{word: f"write {word}" for word in ("true", "false")},
    **dict.fromkeys(("none", "null", "nil"), "null is not written: coalesce(x, VALUE) replaces it"),
    **dict.fromkeys(KINDS, "write what it shows: the id of an input or operator"),
}
"""What to write where a name is not in the graph but one of these, in upper or lower case."""

INPUT_PORTS = {"o1": "o1"}


@dataclass
class SymbolTable:
    """What a reference can name: the inputs and operators of the graph.

    `blind` is whether some of them could not be read: then an unknown name is not a mistake of its
    own.
    """

    inputs: Mapping[str, Input | None]
    drafts: Mapping[str, Draft]
    problems: Problems
    blind: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.drafts or name in self.inputs

    def resolve(self, text: str, mark: SourceSpan) -> Ref:
        """Return the output port that a reference names.

        Raises GraphError, without a problem if what it names has one already.
        """
        found = REFERENCE.fullmatch(text)
        head = text.split(".", maxsplit=1)[0]
        if not found and (self.blind or (head in self and not REFERENCE.fullmatch(head))):
            raise GraphError([])
        if not found:
            raise graph_error(
                "RT120", mark, f"{text[:80]!r} is not a reference", _suggest_reference(text)
            )
        name, port, place = found.groups()
        ref = self._resolve_port(name, port, mark)
        return ref if place is None else Ref(name, name_element(ref.port, place))

    def _resolve_port(self, name: str, port: str | None, mark: SourceSpan) -> Ref:
        """Return the output port of a name, the only one if none is given."""
        names = self.outputs(name, mark)
        given = self.inputs.get(name)
        if given is not None and given.type.kind == RECORD and port not in names:
            raise self._make_field_error(name, port, names, mark)
        ports = list_output_names(names)
        if port is None and len(ports) == 1:
            return Ref(name, names[ports[0]])
        if port is None:
            hint = f"name one of {join_names(f'{name}.{p}' for p in ports)}"
            raise graph_error("RT121", mark, f"{name} has {len(ports)} outputs", hint)
        if port not in names and name in self.inputs and self.inputs[name] is None:
            raise GraphError([])
        if port not in names and given is not None and given.type.kind == VECTOR:
            hint = f"name an element: {join_names(f'{name}.{f.name}' for f in given.type.fields)}"
            raise graph_error("RT121", mark, f"{name} has no element {port!r}", hint)
        if port not in names:
            hint = suggest_name(port, names) or hint_known_names([f"{name}.{p}" for p in names])
            hint = f"it has one output: write {name}" if len(ports) == 1 else hint
            raise graph_error("RT121", mark, f"{name} has no output {port!r}", hint)
        return Ref(name, names[port])

    def _make_field_error(
        self, name: str, port: str | None, fields: Mapping[str, str], mark: SourceSpan
    ) -> GraphError:
        hint = f"name one of its fields: {join_names(f'{name}.{field}' for field in fields)}"
        if port is None:
            return graph_error("RT121", mark, f"{name} is a record", hint)
        near = self.problems.suggest_name(port, fields)
        return graph_error("RT121", mark, f"{name} has no field {port!r}", near or hint)

    def outputs(self, name: str, mark: SourceSpan) -> Mapping[str, str]:
        """Return the outputs of an input or operator: the port by each of its names."""
        if name in self.drafts:
            if self.drafts[name].shapeless:
                raise GraphError([])
            return self.drafts[name].outputs
        if name in self.inputs:
            given = self.inputs[name]
            if given is None or given.type.kind != RECORD:
                return INPUT_PORTS
            return {port: port for port in given.ports}
        if self.blind:
            raise GraphError([])
        ids = [*self.inputs, *self.drafts]
        dashed = self.find_dashed(name)
        hint = self.problems.suggest_name(name, ids) or hint_known_names(ids)
        if name.lower() in _WORDS:
            hint = _WORDS[name.lower()]
        if dashed:
            hint = f"in an expression `-` is minus: write `{dashed}` in backquotes"
        raise graph_error("RT120", mark, f"there is no input or operator {name!r}", hint)

    def find_dashed(self, name: str) -> str:
        """Return the id with `-` that begins with the name, as an expression would split it."""
        return "" if name in self else self.prefixes.get(name, "")

    @cached_property
    def prefixes(self) -> dict[str, str]:
        """The ids that have a `-`, by every beginning that ends before one."""
        result: dict[str, str] = {}
        for id_ in (*self.inputs, *self.drafts):
            parts = id_.split("-")
            for count in range(1, len(parts)):
                result.setdefault("-".join(parts[:count]), id_)
        return result


def _suggest_reference(text: str) -> str:
    """Return what to write instead of a text that is not a reference."""
    if REFERENCE.fullmatch(text.removeprefix("$")):
        return f"`$` is for parameters of the graph: write {text[1:]}"
    names = re.split(r"[\s,;]+", text.strip())
    if len(names) > 1 and all(map(REFERENCE.fullmatch, names)):
        return f"several references are a list: [{', '.join(names)[:60]}]"
    rule = "a reference is `id` or `id.port`; an expression is an operator of its own"
    return describe_non_ascii(text) or rule


def resolve_drafts(names: SymbolTable, context: Context) -> None:
    """Resolve what feeds every operator; a reference that fails poisons it."""
    for draft in names.drafts.values():
        pairs = [(port, s.text, s.mark) for port, s in draft.feeds.items()]
        if draft.term is not None:
            pairs = list(_collect_references(draft, names))
        for port, text, mark in pairs:
            try:
                draft.inputs[port] = names.resolve(text, mark)
                draft.marks[port] = mark
            except GraphError as error:
                own = "" if draft.term is not None else port
                context.problems.add_all(error.problems, operator=draft.id, port=own)
                draft.poisoned = True
        if draft.term is not None and not draft.poisoned:
            _number_ports(draft, context)


def _collect_references(draft: Draft, names: SymbolTable) -> Iterator[tuple[str, str, SourceSpan]]:
    """Return every distinct name of an expression, in order of appearance, at its first place."""
    assert draft.term is not None
    assert draft.scalar is not None
    seen: set[str] = set()
    for term in collect_names(draft.term):
        if term.value in seen or (term.value not in names and find_constant(term.value)):
            continue
        seen |= {term.value, *names.find_dashed(term.value).split("-")}
        yield term.value, term.value, draft.scalar.place(term.offset, term.length)


def collect_names(term: Term) -> Iterator[Term]:
    """Return the names of an expression from left to right."""
    if term.op == "name":
        yield term
    for argument in term.args:
        yield from collect_names(argument)


def _number_ports(draft: Draft, context: Context) -> None:
    """Give the distinct references of an expression the ports i1..iN; names map to ports."""
    if not draft.inputs:
        message = "the expression reads no stream, so it has no times"
        hint = "use a parameter, or combine it with a stream"
        context.problems.add("RT136", draft.mark, message, hint, operator=draft.id)
        draft.poisoned = True
    refs = list(dict.fromkeys(draft.inputs.values()))
    draft.names = {text: f"i{refs.index(ref) + 1}" for text, ref in draft.inputs.items()}
    marks = {draft.names[text]: draft.marks[text] for text in reversed(list(draft.inputs))}
    draft.inputs = {f"i{k}": ref for k, ref in enumerate(refs, start=1)}
    draft.marks = marks


def sort_drafts(drafts: Mapping[str, Draft], context: Context) -> list[Draft]:
    """Return the drafts in dependency order, as near to the order of the file as can be.

    Drafts on a cycle, or behind one, are left out; every cycle is noted once, as a path.
    """
    places = {name: place for place, name in enumerate(drafts)}
    names = list(drafts)
    waits = {n: {r.id for r in d.inputs.values() if r.id in drafts} for n, d in drafts.items()}
    readers: dict[str, list[str]] = {name: [] for name in drafts}
    for name, sources in waits.items():
        for source in sources:
            readers[source].append(name)
    ready = [places[name] for name, sources in waits.items() if not sources]
    heapq.heapify(ready)
    result = []
    while ready:
        name = names[heapq.heappop(ready)]
        result.append(drafts[name])
        for reader in readers[name]:
            waits[reader].discard(name)
            if not waits[reader]:
                heapq.heappush(ready, places[reader])
    for cycle in _find_cycles(
        {n: sorted(w, key=places.__getitem__) for n, w in waits.items() if w}
    ):
        first = min(range(len(cycle)), key=lambda k: places[cycle[k]])
        _note_cycle([*cycle[first:], *cycle[:first]], drafts, context)
    return result


def _find_cycles(waits: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Find disjoint cycles, in the direction of the data, in what the ordering has left over."""
    done: set[str] = set()
    for start in waits:
        path: dict[str, int] = {}
        name = start
        while name not in done and name not in path:
            path[name] = len(path)
            name = waits[name][0]
        if name in path:
            yield list(reversed(list(path)[path[name] :]))
        done |= set(path)


def _note_cycle(cycle: list[str], drafts: Mapping[str, Draft], context: Context) -> None:
    draft, source = drafts[cycle[0]], cycle[-1]
    port = next(port for port, ref in draft.inputs.items() if ref.id == source)
    path = " -> ".join([*cycle, cycle[0]])
    hint = "cycles need an operator with a delay, which come later"
    if len(cycle) == 1:
        hint = "what it was before is known to EMA, CumulativeSum, Count and others: `rtbot ops`"
    own = "" if draft.term is not None else port
    context.problems.add(
        "RT127", draft.marks[port], f"a cycle: {path}", hint, operator=draft.id, port=own
    )
