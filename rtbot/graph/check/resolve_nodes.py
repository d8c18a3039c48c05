"""From drafts to nodes: every port gets its type, every formula its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, Problem, graph_error
from rtbot.core.vector_names import VECTOR
from rtbot.expression import Expression, cast_outputs, find_constant, infer_types, type_formulas
from rtbot.graph.check.class_source import ClassSource
from rtbot.graph.check.resolve_relation import describe_repeats, resolve_relation
from rtbot.graph.check.resolve_view import resolve_view
from rtbot.graph.check.vector_ports import lower_vectors, spread_vectors
from rtbot.graph.check.vector_type import check_element, check_single, show_stream
from rtbot.graph.model import Node, Ref
from rtbot.operator import UNREAD, Type
from rtbot.operator.relation import Relation
from rtbot.operators.views import SQL, Datalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.expression import Term
    from rtbot.graph.check.context import Context
    from rtbot.graph.check.drafts import Draft
    from rtbot.operator import In, Operator

NUMERIC = {"number", "integer"}
_GENERIC = {"T": "any type", "N": "number or integer"}
CHANGES = "changes"
TO_SERIES = "ToSeries makes a series of its rows: {type: ToSeries, in: ..., field: ...}"


def make_nodes(draft: Draft, types: Mapping[Ref, Type], context: Context) -> Sequence[Node]:
    """Return the draft as a node, a query as several; none if it, or what feeds it, is wrong."""
    if draft.poisoned:
        return ()
    port = ""
    try:
        for name, ref in draft.inputs.items():
            port = name if draft.term is None else ""
            check_element(ref, types, draft.marks[name])
        port = ""
        if any(ref not in types for ref in draft.inputs.values()):
            return ()
        draft.shown = {port: show_stream(ref, types) for port, ref in draft.inputs.items()}
        if draft.operator is SQL:
            return resolve_view(draft, types, context)
        if draft.operator is Datalog:
            from rtbot.graph.check.resolve_program import resolve_program

            return (resolve_program(draft, types, context),)
        if issubclass(draft.operator, Relation):
            return (resolve_relation(draft, types, context),)
        if draft.term:
            return (_mark_repeats(draft, _resolve_formula(draft, types, context), types),)
        return (_mark_repeats(draft, _resolve_operator(draft, types), types),)
    except GraphError as error:
        context.problems.add_all(error.problems, operator=draft.id, port=port)
    except ValueError as error:
        mark = ClassSource(draft.operator).of("formula")
        context.problems.add("RT170", mark, str(error), operator=draft.operator.__name__)
    return ()


def _resolve_formula(draft: Draft, types: Mapping[Ref, Type], context: Context) -> Node:
    """Resolve an expression of the graph file: its types follow from those of its streams."""
    assert draft.term is not None
    assert draft.scalar is not None
    ports = {port: types[ref] for port, ref in draft.inputs.items()}
    wrong = [port for port, type_ in ports.items() if type_.kind == CHANGES]
    if wrong:
        raise GraphError([_make_changes_problem(draft, port) for port in wrong])
    for port, ref in draft.inputs.items():
        check_single(ref, types, draft.marks[port])

    def resolved(term: Term) -> Expression | None:
        if term.op == "parameter":
            return _resolve_parameter(draft, term, context)
        if term.value in draft.names:
            port = draft.names[term.value]
            mark = draft.scalar.place(term.offset, term.length) if draft.scalar else draft.mark
            return Expression("port", ports[port], (), port, mark)
        return find_constant(term.value)

    tree = infer_types(draft.term, resolved, context.problems, draft.scalar.place, draft.values)
    if tree is None:
        raise GraphError([])
    return _build_node(draft, {**ports, "o1": tree.type}, {"o1": tree})


def _resolve_parameter(draft: Draft, term: Term, context: Context) -> Expression | None:
    """Return `$name` as a value of the node; one that is named like a port gets another name."""
    assert draft.scalar is not None
    mark = draft.scalar.place(term.offset, term.length)
    try:
        parameter = context.parameter(term.value, mark)
        kind = "integer" if parameter.kind == "duration" else parameter.kind
        if kind not in ("number", "integer", "boolean"):
            message = f"${term.value} is {parameter.kind}, which an expression cannot take"
            raise graph_error("RT133", mark, message, "numbers, integers and booleans can")
    except GraphError as error:
        context.problems.add_all(error.problems, operator=draft.id)
        return None
    name = f"parameter_{term.value}" if term.value in draft.inputs else term.value
    draft.values[name] = parameter.value
    return Expression("value", Type(kind), (), name, mark)


def _resolve_operator(draft: Draft, types: Mapping[Ref, Type]) -> Node:
    cls = draft.operator
    spread_vectors(draft, types)
    ports = [port for port in cls.ports(draft.arity) if port in draft.inputs]
    draft.inputs = {port: draft.inputs[port] for port in ports}
    given = {port: types[draft.inputs[port]] for port in ports}
    kinds = _match_kinds(draft, given)
    roles = cls.roles(draft.values, ports)
    paired = {}
    for port, type_ in given.items():
        fitting = type_ if type_.kind == VECTOR else Type(kinds[port])
        paired[port] = fitting.as_nullable(nullable=type_.nullable or roles[port] != "must")
    try:
        outputs = cls.output_types(draft.values, paired)
        if any(type_.kind == VECTOR for type_ in (*paired.values(), *outputs.values())):
            return _build_node(draft, *lower_vectors(draft, paired, outputs))
        trees = type_formulas(cls, draft.values, paired)
    except GraphError as error:
        shown = ", ".join(f"{port} {type_}" for port, type_ in given.items())
        message = f"{cls.__name__} does not work on {shown}: {error.problems[0].message}"
        raise graph_error("RT125", draft.mark, message, error.problems[0].hint) from None
    return _build_node(draft, {**paired, **outputs}, cast_outputs(trees, outputs))


def _mark_repeats(draft: Draft, node: Node, types: Mapping[Ref, Type]) -> Node:
    """Return the node with outputs that repeat marked; refuse one that would pair such a stream.

    What reads nothing but messages of one operator, one by one, repeats as these do.
    """
    cls = draft.operator
    makers = {port: types[ref].repeats for port, ref in node.reads.items()}
    repeating = [port for port, maker in makers.items() if maker]
    paired = len({*makers.values()}) > 1 or {*node.roles.values()} != {"must"} or cls.sets_time
    if repeating and paired:
        port = repeating[0]
        message = describe_repeats(draft, port, makers[port])
        hint = f"do this before {makers[port]}; behind it, expressions and filters read its outputs"
        mark = draft.marks.get(port, draft.mark)
        raise GraphError([Problem("RT125", mark, message, hint, draft.id, port)])
    maker = makers[repeating[0]] if repeating else ""
    if any(out.repeats for out in cls.outputs.values()):
        maker = draft.id
    if not maker:
        return node
    marked = {port: replace(node.types[port], repeats=maker) for port in node.outputs}
    return replace(node, types={**node.types, **marked})


def _build_node(
    draft: Draft, types: Mapping[str, Type], formulas: Mapping[str, Expression]
) -> Node:
    return Node(
        id=draft.id,
        operator=draft.operator,
        values=draft.values,
        inputs=draft.inputs,
        types=types,
        formulas=formulas,
        mark=draft.mark,
        doc=draft.doc,
        text=draft.text,
        meta=draft.meta,
    )


def _match_kinds(draft: Draft, given: Mapping[str, Type]) -> dict[str, str]:
    """Return the kind of every port; raise GraphError with every port that does not fit."""
    cls = draft.operator
    kinds, wrong = {}, []
    for port, type_ in given.items():
        declared = cls.port(port)
        kind = _match_kind(cls, declared, type_.kind)
        if kind is None:
            wrong.append(_make_mismatch_problem(draft, port, declared, type_))
        elif type_.nullable and not declared.nullable:
            wrong.append(_make_null_problem(draft, port, type_))
        kinds[port] = kind or ""
    if wrong:
        raise GraphError(wrong)
    if cls.mixed:
        return kinds
    _check_sizes(draft, given)
    return _unify_kinds(draft, kinds)


def _check_sizes(draft: Draft, given: Mapping[str, Type]) -> None:
    """Raise GraphError if vectors of several sizes feed ports of one type."""
    sizes = {port: len(type_.fields) for port, type_ in given.items() if type_.kind == VECTOR}
    first = next(iter(sizes), "")
    for port, size in sizes.items():
        if size != sizes[first] and draft.operator.port(port).kind == "T":
            message = (
                f"{draft.id}.{port} is fed with {given[port]} ({draft.shown[port]}), "
                f"{draft.id}.{first} with {given[first]} ({draft.shown[first]})"
            )
            hint = f"the ports of {draft.operator.__name__} carry one type"
            raise GraphError([Problem("RT125", draft.marks[port], message, hint, draft.id, port)])


def _match_kind(cls: type[Operator], declared: In, kind: str) -> str | None:
    """Return the kind that a port takes for a stream of `kind`, None if it does not take it."""
    if kind == CHANGES:
        return None
    if declared.kind == "T":
        return kind
    if declared.kind == "N":
        if kind == "integer" and not cls.has_formula() and cls.integer_step is None:
            return "number"
        return kind if kind in NUMERIC else None
    if declared.kind == "number" and kind == "integer":
        return "number"
    return kind if kind == declared.kind else None


def _unify_kinds(draft: Draft, kinds: dict[str, str]) -> dict[str, str]:
    """Give all ports declared T one kind, and all declared N; widen integers beside numbers."""
    for generic in _GENERIC:
        declared = {port: draft.operator.port(port) for port in kinds}
        group = [p for p, d in declared.items() if d.kind == generic and d.role != UNREAD]
        present = {kinds[port] for port in group}
        if len(present) > 1 and not present <= NUMERIC:
            first = next(port for port in group if kinds[port] != kinds[group[0]])
            message = (
                f"{draft.id}.{first} is fed with {kinds[first]} ({draft.shown[first]}), "
                f"{draft.id}.{group[0]} with {kinds[group[0]]} ({draft.shown[group[0]]})"
            )
            hint = f"the ports of {draft.operator.__name__} carry one type"
            raise GraphError([Problem("RT125", draft.marks[first], message, hint, draft.id, first)])
        if len(present) > 1:
            kinds |= dict.fromkeys(group, "number")
    return kinds


def _make_mismatch_problem(draft: Draft, port: str, declared: In, given: Type) -> Problem:
    wanted = _GENERIC.get(declared.kind, declared.kind)
    message = f"{draft.id}.{port} takes {wanted}, {draft.shown[port]} is {given}"
    hint = ""
    if given.kind == "boolean" and declared.kind in ("number", "integer", "N"):
        hint = "BooleanToNumber, or if(x, 1, 0), makes a number of a boolean"
    if given.kind in NUMERIC and declared.kind == "boolean":
        hint = "compare it first, as in x > 0"
    if given.kind == CHANGES:
        hint = TO_SERIES
    if given.kind == VECTOR:
        hint = f"name an element: {draft.shown[port]}.0"
    if declared.kind == VECTOR:
        hint = "VectorCompose makes a vector of streams of numbers"
    return Problem("RT125", draft.marks[port], message, hint, draft.id, port)


def _make_changes_problem(draft: Draft, port: str) -> Problem:
    source = draft.inputs[port]
    message = f"{source.id} has changes of rows, and an expression reads series"
    return Problem("RT125", draft.marks[port], message, TO_SERIES, draft.id, port)


def _make_null_problem(draft: Draft, port: str, given: Type) -> Problem:
    source = draft.shown[port]
    message = f"{draft.id}.{port} takes no null, {source} is {given}"
    hint = f"replace nulls first: coalesce({source}, VALUE), or the operator Fill"
    return Problem("RT126", draft.marks[port], message, hint, draft.id, port)
