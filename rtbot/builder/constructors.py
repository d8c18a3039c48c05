"""Constructors of operators, derived from their declarations.

`rtbot.ops`, `help` and the stub for type checkers share one signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import rtbot.operators  # noqa: F401 (registers the operators)
from rtbot.builder.builder import BuiltNode, BuiltPort, require_stream, to_argument
from rtbot.builder.call_sites import find_call_site
from rtbot.builder.stream import (
    Operand,
    ParameterRef,
    Stream,
    Streams,
    find_builder,
    make_operation,
)
from rtbot.core.errors import suggest_name
from rtbot.core.source_span import SourceSpan
from rtbot.expression.rules import ARGUMENTS
from rtbot.graph.check.resolve_program import list_output_names, read_program_file
from rtbot.graph.check.wiring import (
    is_named,
    map_output_names,
    names_outputs,
)
from rtbot.graph.document import ScalarNode
from rtbot.graph.packages import explain_missing, find_operator
from rtbot.operator import Choices, suggest_operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.operator import In, Operator
    from rtbot.operator import Parameter as Declared

ABOUT = ("id", "doc", "meta")
PORT_COUNTS = ("num_ports",)
"""Parameters for what a call shows anyway."""

FUNCTIONS = {f"{name}_" if name == "if" else name: name for name in ARGUMENTS}
"""Functions of expressions, by their names in Python."""

Kind = inspect._ParameterKind  # noqa: SLF001 (typeshed names it so)
NAMED, SEVERAL, ONLY_NAMED = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
)


def make_constructor(name: str) -> Callable[..., Any]:
    """Return the constructor of an operator, or a function of expressions."""
    if name in FUNCTIONS:
        return _make_function(name)
    declared: Any = find_operator(name)
    if declared is None:
        hint = suggest_operator(name) or suggest_name(name, FUNCTIONS) or "`rtbot ops` lists them"
        raise AttributeError(f"there is no operator {name!r}; {explain_missing(name) or hint}")
    return _make_operator(declared, name)


@cache
def _make_operator(cls: type[Operator], name: str) -> Callable[..., Any]:
    def made(*streams: Any, **named: Any) -> Stream | Streams:
        return construct(cls, name, streams, named)

    made.__name__ = made.__qualname__ = name
    made.__module__ = "rtbot.ops"
    made.__doc__ = build_docstring(cls)
    made.__signature__ = build_signature(cls)  # type: ignore[attr-defined]
    return made


@cache
def _make_function(name: str) -> Callable[..., Stream]:
    def function(*parts: Any) -> Stream:
        if not any(isinstance(part, Operand) for part in parts):
            raise TypeError(f"ops.{name} takes streams; for plain numbers there is `math`")
        return make_operation(FUNCTIONS[name], *parts)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "rtbot.ops"
    function.__doc__ = f"The function `{FUNCTIONS[name]}` of expressions."
    return function


def construct(
    cls: type[Operator], name: str, streams: tuple[Any, ...], named: dict[str, Any]
) -> Stream | Streams:
    """Add an operator to the graph of the streams that feed it; return its outputs."""
    place = find_call_site()
    about = {key: named[key] for key in ABOUT[1:] if named.get(key)}
    tables = streams[0] if is_named(cls) and len(streams) == 1 else None
    given = [*_match_positions(cls, streams), *_match_names(cls, named)]
    if isinstance(tables, Mapping):
        given = [(table, "0", stream) for table, stream in tables.items()]
    builder = next(filter(None, (find_builder(stream) for *_, stream in given)), None)
    if builder is None:
        first = next(iter(cls.inputs.values()))
        told = f", not {streams[0]!r}" if streams else ""
        raise TypeError(f"{name} needs a stream for {first.alias or first.name}{told}")
    feeds: dict[str, tuple[str, Stream]] = {}
    for port, argument, stream in given:
        if port in feeds:
            raise TypeError(f"{name}.{port} is given twice")
        feeds[port] = argument, require_stream(stream, builder, f"{name}.{port}")
    used = {argument for argument, _ in feeds.values()} | {*ABOUT}
    values = {k: to_argument(v) for k, v in named.items() if k not in used and v is not None}
    values = {k: _escape_dollar(v, named[k]) for k, v in values.items()}
    made = BuiltNode(
        place, builder.next_number(), named.get("id", ""), name, cls, feeds, values, about
    )
    made.named = isinstance(tables, Mapping)
    builder.add(made)
    names = map_output_names(cls, cls.count_arity(feeds), _read_choices(cls, name, values))
    if names_outputs(cls):
        names = _name_relations(name, values)
    ports = list(dict.fromkeys(names.values()))
    if len(ports) == 1 and not names_outputs(cls):
        return Stream(builder, "stream", (), BuiltPort(made), place)
    outputs = {port: Stream(builder, "stream", (), BuiltPort(made, port), place) for port in ports}
    return Streams(name, names, outputs)


def _read_choices(cls: type[Operator], name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with those that choose outputs as tuples of words."""
    found = dict(values)
    for parameter in cls.parameters.values():
        if isinstance(parameter, Choices):
            given = values.get(parameter.name)
            words = parameter.normalise(given) if isinstance(given, Sequence) else ()
            if not words or not {*words} <= {*parameter.options}:
                options = ", ".join(parameter.options)
                raise TypeError(f"{name} needs {parameter.name}=..., one or a list of {options}")
            found[parameter.name] = words
    return found


def _name_relations(name: str, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs that a program names."""
    text, path = values.get("rules"), values.get("program")
    if text is None and isinstance(path, str):
        text = read_program_file(ScalarNode(path, SourceSpan("."), quoted=True)).text
    if not isinstance(text, str):
        raise TypeError(f"{name} needs rules=... or program=..., a text")
    found = {relation: relation for relation in list_output_names(text)}
    if not found:
        raise TypeError(f"the rules of {name} name no relation that comes out")
    return found


def _escape_dollar(value: Any, given: Any) -> Any:
    """Escape `$` in a text: only a ParameterRef becomes `$name`."""
    text = isinstance(value, str) and not isinstance(given, ParameterRef)
    return value.replace("$", "$$", 1) if text and value.startswith("$") else value


def _match_positions(cls: type[Operator], streams: tuple[Any, ...]) -> list[tuple[str, str, Any]]:
    """Return (port, argument, stream) of what is given by position."""
    left = [(str(place), stream) for place, stream in enumerate(streams)]
    found = []
    for name, port in cls.inputs.items():
        if port.variadic and _is_last(cls, port):
            found += [(f"{name}{k}", *pair) for k, pair in enumerate(left, start=1)]
            left = []
        elif port.variadic and left:
            found += _number_streams(name, *left.pop(0))
        elif left:
            found.append((name, *left.pop(0)))
    return found + [(f"i{len(found) + k}", *pair) for k, pair in enumerate(left, start=1)]


def _match_names(cls: type[Operator], named: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    found = []
    for name, port in cls.inputs.items():
        for argument in (name, port.alias):
            if argument in named and port.variadic:
                found += _number_streams(name, argument, named[argument])
            elif argument in named and not (port.optional and named[argument] is None):
                found.append((name, argument, named[argument]))
    return found


def _number_streams(name: str, argument: str, streams: Any) -> list[tuple[str, str, Any]]:
    if isinstance(streams, Operand) or not isinstance(streams, Sequence | Streams):
        raise TypeError(f"{argument} takes a list of streams, not {streams!r}")
    return [(f"{name}{k}", argument, stream) for k, stream in enumerate(streams, start=1)]


def _is_last(cls: type[Operator], port: In) -> bool:
    return port is list(cls.inputs.values())[-1]


def build_signature(cls: type[Operator]) -> inspect.Signature:
    """Return the signature of an operator's constructor; annotations are texts."""
    wanted: list[tuple[str, Kind, str, Any]] = []
    for name, port in cls.inputs.items():
        label = port.alias or name
        if port.variadic and _is_last(cls, port):
            type_ = "Stream | Mapping[str, Stream]" if port.named else "Stream"
            wanted.append((label, SEVERAL, type_, inspect.Parameter.empty))
        else:
            type_ = "Sequence[Stream]" if port.variadic else "Stream"
            type_ += " | None" if port.optional else ""
            default = None if port.optional else inspect.Parameter.empty
            wanted.append((label, NAMED, type_, default))
    for name, parameter in cls.parameters.items():
        if name not in PORT_COUNTS:
            wanted.append((name, ONLY_NAMED, *_annotate(parameter)))
    outputs = list(cls.outputs.values())
    single = len(outputs) == 1 and not outputs[0].variadic and not outputs[0].named
    return inspect.Signature(
        [
            *(
                inspect.Parameter(name, kind, annotation=type_, default=default)
                for name, kind, type_, default in wanted
            ),
            inspect.Parameter("about", inspect.Parameter.VAR_KEYWORD, annotation="Unpack[About]"),
        ],
        return_annotation="Any" if cls.returns else "Stream" if single else "Streams",
    )


def _annotate(parameter: Declared) -> tuple[str, Any]:
    """Return the type of a parameter in Python, and its default."""
    type_ = f"{parameter.annotate()} | ParameterRef"
    required = parameter.required and parameter.default is None
    if not required and parameter.default is None:
        type_ += " | None"
    return type_, inspect.Parameter.empty if required else parameter.default


def build_docstring(cls: type[Operator]) -> str:
    """Return the meaning of an operator, its ports and its parameters."""
    lines = inspect.cleandoc(cls.__doc__ or "").split("\n")
    inputs = [(p.alias or n, p.doc) for n, p in cls.inputs.items()]
    parameters = [(n, p.doc) for n, p in cls.parameters.items() if n not in PORT_COUNTS]
    outputs = [(p.alias or n, p.doc) for n, p in cls.outputs.items()]
    for title, items in (("In", inputs), ("Parameters", parameters), ("Out", outputs)):
        rows = [f"    {name}: {doc}" if doc else f"    {name}" for name, doc in items]
        lines += ["", f"{title}:", *rows] if rows else []
    return "\n".join(lines)
