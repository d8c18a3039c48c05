"""From a draft of a Datalog operator to a node with a port for every relation that comes out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problem, Problems, graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.datalog.language import read_program
from rtbot.datalog.language.program_parser import ProgramParser
from rtbot.datalog.language.program_text import ProgramText, TooManyProblemsError
from rtbot.datalog.language.program_tokens import fill_parameters
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, Atom, Negation
from rtbot.graph.check.context import check_field_name
from rtbot.graph.check.resolve_relation import list_mismatches
from rtbot.graph.check.resolve_view import choose_places, place_line
from rtbot.graph.document import ScalarNode
from rtbot.graph.model import Node, View
from rtbot.operator import Type
from rtbot.operator.relation import CHANGES
from rtbot.operator.schema import Field, Schema
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rtbot.datalog.language.program_text import FindParameter
    from rtbot.datalog.program import Literal, Program, Relation
    from rtbot.graph.check.context import Context
    from rtbot.graph.check.drafts import Draft
    from rtbot.graph.model import Ref

BASIC_TYPES = {"integer": NUMBER, "number": FLOAT, "text": SYMBOL}
"""What the values of a field are in rules."""

KINDS_OF = {basic: kind for kind, basic in BASIC_TYPES.items()}
BYTES_MAX = 1 << 24


def find_program_outputs(draft: Draft) -> None:
    """Give a draft the text of its program as `scalar`, and its output ports.

    They are found before the types are known. Raises GraphError if there is no text.
    """
    rules, path = draft.values.get("rules"), draft.values.get("program")
    if (rules is None) == (path is None):
        draft.shapeless = True
        return
    scalar: Any = rules if path is None else read_program_file(path)
    draft.scalar = scalar
    names = list_output_names(scalar.text)
    draft.outputs = {name: name for name in names}
    draft.shapeless |= not names


def read_program_file(path: ScalarNode) -> ScalarNode:
    """Return the text of a program that is beside the graph file or below it."""
    parts = PureWindowsPath(path.text)
    if parts.anchor or ".." in parts.parts or path.text == STANDARD:
        hint = "name a file beside the graph or below it, as rules/reach.dl"
        message = f"{path.text!r} is not below the graph's folder"
        raise graph_error("RT514", path.mark, message, hint)
    place = str(Path(path.mark.file).parent / path.text)
    try:
        text = Files().read(place, BYTES_MAX).decode("utf-8-sig")
    except OSError as error:
        message = f"{place} cannot be read: {error.strerror}"
        raise graph_error("RT514", path.mark, message, "its path begins at the graph") from None
    except UnicodeDecodeError:
        raise graph_error("RT514", path.mark, f"{place} is not UTF-8 text") from None
    return ScalarNode(text, SourceSpan(place), quoted=True)


def list_output_names(text: str) -> list[str]:
    """Return the relations that `.output` names, or else all that have rules or facts."""
    try:
        source = ProgramText(text, "<program>", find_parameter=lambda _name, _mark: 0)
        syntax = ProgramParser(source).read_program()
    except TooManyProblemsError:
        return []
    named = [each.relation for each in syntax.directives if each.kind == "output"]
    heads = (head.relation for clause in syntax.clauses for head in clause.heads)
    return list(dict.fromkeys(named or heads))


def resolve_program(draft: Draft, types: Mapping[Ref, Type], context: Context) -> Node:
    """Return the node of a program; raise GraphError with every problem of it."""
    given = {port: types[ref] for port, ref in draft.inputs.items()}
    names = {port: name for name, port in draft.names.items()}
    wrong = list(list_mismatches(draft, given)) or list(_list_unfit(draft, given))
    if wrong:
        raise GraphError(wrong)
    schemas = {names[port]: type_.schema or Schema(()) for port, type_ in given.items()}

    def find_parameter(name: str, mark: SourceSpan) -> Any:
        return context.parameter(name, mark).value

    program = _read(draft, schemas, find_parameter)
    context.problems.add_all(program.warnings, draft.id)
    _check_inputs(draft, program, context)
    outputs = _list_output_types(draft, program)
    assert draft.scalar is not None
    path, text = draft.values["program"], draft.scalar.text
    values = {
        **draft.values,
        "rules": fill_parameters(text, find_parameter) if path is None else text,
        "program": None if path is None else path.text,
    }
    refs = {name: draft.inputs[port] for name, port in draft.names.items()}
    view = View(draft.id, draft.scalar.text.strip(), refs, draft.mark, draft.doc, "Datalog")
    inputs = {port: draft.inputs[port] for port in given}
    return Node(
        id=draft.id,
        operator=draft.operator,
        values=values,
        inputs=inputs,
        types={**given, **outputs},
        mark=draft.mark,
        doc=draft.doc,
        meta=draft.meta,
        view=view,
    )


def _list_output_types(draft: Draft, program: Program) -> dict[str, Type]:
    """Return the types of the output ports; raise GraphError with every relation that is none."""
    outputs, problems = {}, Problems()
    for name in draft.outputs:
        relation = program.relations[name]
        try:
            _check_port(relation, draft.inputs)
            outputs[name] = Type(CHANGES, schema=make_schema(relation))
        except GraphError as error:
            problems.add_all(error.problems)
    if problems.found:
        raise GraphError(problems.found)
    return outputs


def list_relation_columns(schema: Schema) -> tuple[tuple[str, str], ...]:
    """Return the columns of a relation that a stream feeds: names and types."""
    return tuple((field.name, BASIC_TYPES[field.type.kind]) for field in schema)


def make_schema(relation: Relation) -> Schema:
    """Return the fields of a relation's rows, each of which is there once."""
    fields = []
    for column in relation.columns:
        check_field_name(column.name, relation.span)
        fields.append(Field(column.name, Type(KINDS_OF[column.type])))
    return Schema(tuple(fields), (tuple(field.name for field in fields),))


def _read(draft: Draft, schemas: Mapping[str, Schema], find_parameter: FindParameter) -> Program:
    """Read the program; problems are placed in the graph file, or in that of the program."""
    scalar: Any = draft.scalar
    inputs = {name: list_relation_columns(schema) for name, schema in schemas.items()}
    if draft.values["program"] is not None:
        return read_program(scalar.text, scalar.mark.file, inputs=inputs)
    try:
        program = read_program(
            scalar.text,
            scalar.mark.file,
            inputs=inputs,
            place=choose_places(scalar),
            find_parameter=find_parameter,
        )
    except GraphError as error:
        raise GraphError([place_line(problem, scalar) for problem in error.problems]) from None
    warnings = tuple(place_line(problem, scalar) for problem in program.warnings)
    return replace(program, warnings=warnings)


def _list_unfit(draft: Draft, given: Mapping[str, Type]) -> Iterator[Problem]:
    """Yield a problem for every field whose values rules cannot have."""
    for port, type_ in given.items():
        for field in type_.schema or ():
            name, where = field.name, f"{field.name} of {draft.inputs[port].id}"
            if field.type.nullable:
                message = f"{where} may be null, and rules know no null"
                hint = f"give it a value first: {{type: Select, fields: {{{name}: "
                hint += f"coalesce({name}, VALUE)}}}}"
                yield Problem("RT126", draft.marks[port], message, hint, draft.id, port)
            elif field.type.kind not in BASIC_TYPES:
                message = f"{where} is {field.type}, and rules have integers, numbers and texts"
                hint = f"make an integer of it first: {{type: Select, fields: {{{name}: "
                hint += f"case when {name} then 1 else 0 end}}}}"
                yield Problem("RT125", draft.marks[port], message, hint, draft.id, port)


def _check_inputs(draft: Draft, program: Program, context: Context) -> None:
    """Raise GraphError for inputs of the program that nothing feeds; note those that it ignores."""
    read = {name for rule in program.rules for name in _list_read(rule.body)}
    for name, port in draft.names.items():
        if name not in read and name not in draft.outputs:
            message = f"the rules do not read {name}"
            context.problems.add("RT190", draft.marks[port], message, operator=draft.id)
    unfed = [
        Problem(
            "RT123",
            relation.span,
            f"{name} has .input, and the graph does not feed it",
            f"add it to `in`: {{{name}: ID}}",
            draft.id,
        )
        for name, relation in program.relations.items()
        if relation.is_input and name not in draft.names
    ]
    if unfed:
        raise GraphError(unfed)


def _list_read(body: Iterable[Literal]) -> Iterator[str]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal.relation
        elif isinstance(literal, Negation):
            yield literal.atom.relation
        elif hasattr(literal, "body"):
            yield from _list_read(literal.body)


def _check_port(relation: Relation, ports: Iterable[str]) -> None:
    """Raise GraphError if a relation cannot be an output of a graph."""
    name, span = relation.name, relation.span
    if name in ports:
        message = f"the relation {name} has the name of an input port"
        raise graph_error("RT107", span, message, "choose another name")
    if not relation.columns:
        message = f"{name} has no columns, and rows of a graph have at least one"
        raise graph_error("RT505", span, message, f"give it one: {name}(1) :- ...")
    for column in relation.columns:
        if column.type not in KINDS_OF:
            message = f"{column.name} of {name} is {column.type}, which fields of a graph are not"
            raise graph_error("RT506", span, message, "to_number(x) makes a number of it")


def derives_from_nothing(program: Program) -> bool:
    """Return whether a program has rows before there is any fact of its inputs."""
    if program.facts:
        return True
    return any(not any(isinstance(each, Atom) for each in rule.body) for rule in program.rules)
