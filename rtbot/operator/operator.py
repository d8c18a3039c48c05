"""Operator declarations: one class declares everything, the rest is derived.

    class MovingSum(Operator):
        '''Sum of the last `window` values, exact and rounded once.'''

        window = Integer(minimum=1, aliases=("window_size",), doc="values in the window")
        i1 = In("number")
        o1 = Out("number")
        values = Ring("i1", size="window")          # the last `window` values of i1
        high = Scalar("number", 0.0)                 # handed to the step by value, returned by it
        silent = True                                # may emit nothing

        @step
        def step(i1, window, values, values_first, values_count, ..., high):
            ...
            return EMIT, result, high

A step sees one row of one key: its arguments are found by name (ports, `PORT_valid` of nullable
ports, `time`, parameters, state; of a variadic port `i` the tuples `i` and `i_valid`). It returns,
in this order: the emission code (only if `silent`, `faults` or `sets_time`), the time (only if
`sets_time`), the outputs (a nullable output as value and valid flag; a silent one has a flag behind
these: whether it has a message), and every scalar of its state in the order of declaration.

An operator with `sets_time` may declare what happens at a time, beside what happens at a row: a
second step named `close`, and the state `due = Scalar("integer", NEVER)`. As soon as the frontier
of its input has reached `due`, and before a row at that time or later, `close` is called with
`time` as this `due`, parameters and state. It returns what the step does. The `due` that it returns
is a later time or NEVER; another one ends the run (RT173). If the operator `gathers`, its step
emits nothing, and returns a code and the state alone.

An operator without state is a `formula` in the expression language instead of a step.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.errors import GraphError, Problem, suggest_name
from rtbot.core.hints import fold_word
from rtbot.core.source_span import SourceSpan
from rtbot.core.vector_names import split_element
from rtbot.operator.declarations import (
    Cells,
    Example,
    In,
    Kept,
    Out,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
    Type,
    WarmUp,
)
from rtbot.operator.parameter_kinds.parameter import Parameter
from rtbot.operator.parameter_kinds.scalars import Integer
from rtbot.operator.parameter_kinds.times import STATE_LIMIT
from rtbot.operator.step_source import shorten_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import CodeType

SILENT, EMIT, DOMAIN, EMIT_AGAIN = 0, 1, 2, 3
"""Emission codes of a step: nothing; a message; no message, counted under `domain`; a message, and
call me again with the same row (only `sets_time` operators)."""

NEVER = -(2**63)
"""The `due` of an operator that waits for no time."""


def step(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function whose source goes into generated modules; changes nothing."""
    function.is_step = True  # type: ignore[attr-defined]
    return function


def noinline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a step that few rows reach: it is called; other steps are inlined into their callers."""
    function.is_rare = True  # type: ignore[attr-defined]
    return step(function)


FORMER_NAMES = {"own_time": "sets_time", "known_as": "search_terms"}
"""Attributes of a class that had another name; the old one still works and is reported."""

REGISTRY: dict[str, type[Operator]] = {}
"""Every operator by its name and its aliases; filled by declaring a class."""

REGISTERING: ContextVar[dict[str, type[Operator]]] = ContextVar("REGISTERING", default=REGISTRY)
"""Where a declared class goes: another table only while a package of operators is imported."""


class Operator:
    """Base of all operators; see the docstring of this module. Subclasses register themselves."""

    aliases: ClassVar[tuple[str, ...]] = ()
    search_terms: ClassVar[str] = ""
    """What other tools call it, for hints and `rtbot ops --grep`; none of it is accepted. Commas
    separate the words, each with what it implies: "zip, merge_asof how: asof"."""
    unsupported: ClassVar[Mapping[str, str]] = {}
    """Parameters of the same operator of other tools that this one does not have: {name: hint}."""
    version: ClassVar[int] = 1
    abstract: ClassVar[bool] = True
    mixed: ClassVar[bool] = False
    silent: ClassVar[bool] = False
    faults: ClassVar[bool] = False
    sets_time: ClassVar[bool] = False
    gathers: ClassVar[bool] = False
    returns: ClassVar[tuple[str, ...]] = ()
    """Names of what a step returns in place of the outputs, where `outputs_for` picks these."""
    frontier: ClassVar[str | Scalar] = "copy"
    """copy; shift (adds the parameter `shift`); state (the scalar named `frontier` of the state,
    and the frontier of its source where that is the greatest int64)."""
    causal: ClassVar[bool] = True
    waits: ClassVar[str] = ""
    """A list of the state whose entries are messages that wait: they are counted as held, and at
    the end of the data under `domain`."""
    example: ClassVar[Example | None] = None
    declared_at: ClassVar[tuple[CodeType | None, int]] = (None, 0)
    """The code that has the class statement, and its line there."""

    parameters: ClassVar[dict[str, Parameter]] = {}
    inputs: ClassVar[dict[str, In]] = {}
    outputs: ClassVar[dict[str, Out]] = {}
    state: ClassVar[dict[str, Scalar | Ring | Cells | Kept | Span | Space | Scratch]] = {}
    step: ClassVar[Callable[..., Any] | None] = None
    integer_step: ClassVar[Callable[..., Any] | None] = None
    """The step where "N" is integer, if the arithmetic differs."""

    leave: ClassVar[Callable[..., Any] | None] = None
    integer_leave: ClassVar[Callable[..., Any] | None] = None
    """A step that takes a value out of a window of time: `values_leaving`, parameters and scalars
    to all the scalars."""

    close: ClassVar[Callable[..., Any] | None] = None
    """The step at the time `due`, see the docstring of this module."""

    formula: ClassVar[str | Callable[..., Any] | None] = None
    """Text, or a static function of (values, ports) giving text or {output: text}."""
    keep: ClassVar[str | Callable[..., Any] | None] = None
    """A filter's condition: nothing is emitted where it is false. A function of (values, ports) may
    give {output: text}, each of which decides on one output."""
    fault: ClassVar[str | Callable[..., Any] | None] = None
    """Condition under which no message is emitted and `domain` is counted."""

    def __init_subclass__(cls, *, abstract: bool = False, variant_of: str = "") -> None:
        cls.abstract = abstract or bool(variant_of)
        cls.__name__ = variant_of or cls.__name__
        for former, name in FORMER_NAMES.items():
            if former in vars(cls):
                message = f"{cls.__name__}.{former} is called {name} now"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                setattr(cls, name, vars(cls)[former])
        for group, kinds in (
            ("parameters", (Parameter,)),
            ("inputs", (In,)),
            ("outputs", (Out,)),
            ("state", (Scalar, Ring, Cells, Kept, Span, Space, Scratch)),
        ):
            declared = dict(getattr(cls, group))
            for name, item in vars(cls).items():
                if isinstance(item, kinds):
                    item.name = name
                    declared[name] = item
            setattr(cls, group, declared)
        if "frontier" in cls.state:
            cls.frontier = "state"
        cls._limit_state()
        if not cls.abstract:
            _register(cls)

    @classmethod
    def _limit_state(cls) -> None:
        """Give a parameter that sizes state a maximum, unless it has one."""
        for item in cls.state.values():
            size = getattr(item, "size", None)
            parameter = cls.parameters.get(size) if isinstance(size, str) else None
            if isinstance(parameter, Integer) and parameter.maximum is None:
                cls.parameters[parameter.name] = replace(parameter, maximum=STATE_LIMIT)

    @classmethod
    def ports(cls, arity: int) -> list[str]:
        """Return the names of the data ports i1.., then the control ports c1.., for this arity."""
        names = []
        for name, port in cls.inputs.items():
            names += [f"{name}{k + 1}" for k in range(arity)] if port.variadic else [name]
        return names

    @classmethod
    def port(cls, name: str) -> In:
        """Return the declaration behind the port name `i1`, `c2`, ..., or an element of it."""
        name, _ = split_element(name)
        return cls.inputs[name] if name in cls.inputs else cls.inputs[name.rstrip("0123456789")]

    @classmethod
    def role(cls, port: str, values: Mapping[str, Any]) -> str:  # noqa: ARG003 (for overriding)
        """Return how the pairing treats the port: must, may or last."""
        return cls.port(port).role

    @classmethod
    def roles(cls, values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """Return how the pairing treats every port; override where a role depends on the last."""
        return {port: cls.role(port, values) for port in ports}

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:  # noqa: ARG003 (for overriding)
        """Return the class that does the work with these parameters.

        It is this one, or one of the same parameters and ports that is declared with `variant_of`
        and is not registered: with other state, another step, or times of its own.
        """
        return cls

    @classmethod
    def step_for(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
        inputs: Mapping[str, Type],
    ) -> Callable[..., Any]:
        """Return the step for these parameters and types of the input ports after pairing."""
        chosen = cls.integer_step if cls.integer_step and cls.is_whole(inputs) else cls.step
        assert chosen is not None, f"{cls.__name__} has no step"
        return chosen

    @classmethod
    def formula_for(
        cls,
        values: Mapping[str, Any],
        inputs: Mapping[str, Type],
    ) -> str | Mapping[str, str] | None:
        """Return the formula for these parameters and types, where it depends on the types.

        That is so for vectors: `len(inputs["i1"].fields)` is how many elements one has.
        """
        formula = cls.formula
        return formula(values, list(inputs)) if callable(formula) else formula

    @classmethod
    def has_formula(cls) -> bool:
        """Return whether its outputs are formulas, and not what a step returns."""
        chosen = any("formula_for" in vars(base) for base in cls.__mro__[:-2])
        return cls.formula is not None or chosen

    @classmethod
    def leave_for(cls, inputs: Mapping[str, Type]) -> Callable[..., Any] | None:
        """Return what takes a value out of a window of time, for these types of input ports."""
        return cls.integer_leave if cls.integer_leave and cls.is_whole(inputs) else cls.leave

    @classmethod
    def is_whole(cls, inputs: Mapping[str, Type]) -> bool:
        """Return whether "N" is integer for these types of the input ports."""
        return any(t.kind == "integer" for port, t in inputs.items() if cls.port(port).kind == "N")

    @classmethod
    def reach(cls, values: Mapping[str, Any]) -> int:  # noqa: ARG003 (for overriding)
        """Return how far before the next row it may emit while scalar `frontier` has no time."""
        return 0

    @classmethod
    def grid(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
    ) -> tuple[int, int | None] | tuple[int, int | None, int | None] | None:
        """Return (distance, begin) of times at which it emits a row, once rows have passed them.

        `begin` is a time before which there is none. A third item is how many there are at most for
        each row. None if it has no such times.
        """
        return None

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003 (for overriding)
        """Return the rows until the first output; override it where the first ones are silent."""
        chooses = cls.silent or cls.gathers or any(out.silent for out in cls.outputs.values())
        return WarmUp(1, certain=not chooses and cls.keep is None)

    @classmethod
    def count_arity(cls, ports: Collection[str]) -> int:
        """Return how many ports each variadic port has, if these are fed; 1 if none is variadic."""
        arity = 0
        for name, port in cls.inputs.items():
            if port.variadic:
                numbers = [p[len(name) :] for p in ports if p.startswith(name)]
                fed = [int(n) for n in numbers if n.isdigit()]
                arity = max(arity, port.shortest, *fed)
        return max(arity, 1)

    @classmethod
    def outputs_for(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
        arity: int,
    ) -> Mapping[str, Out]:
        """Return the outputs by port; override it where parameters, or the arity, choose them."""
        found: dict[str, Out] = {}
        for name, out in cls.outputs.items():
            ports = [f"{name}{k + 1}" for k in range(arity)] if out.variadic else [name]
            found |= dict.fromkeys(ports, out)
        return found

    @classmethod
    def lost(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
        ports: Sequence[str],  # noqa: ARG003
    ) -> dict[str, tuple[str, str]]:
        """Return what is paired, then left out: port -> (reason, formula of the condition)."""
        return {}

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Return problems that involve several parameters, as sentences."""
        return []

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """Return the output types; `inputs` are those after pairing (may, last are nullable)."""
        generic = next((t for p, t in inputs.items() if cls.port(p).kind in ("T", "N")), None)
        result: dict[str, Type] = {}
        for port, out in cls.outputs_for(values, cls.count_arity(inputs)).items():
            if out.variadic:
                result[port] = [*inputs.values()][int(port.removeprefix(out.name)) - 1]
            elif out.kind in ("T", "N"):
                assert generic is not None, f"{cls.__name__}.{port} has no input of kind T or N"
                result[port] = generic.as_nullable(nullable=out.nullable)
            else:
                result[port] = Type(out.kind, out.nullable)
        return result


def find_by_search_term(word: str) -> tuple[str, str]:
    """Return the operator that other tools call `word`, and the parameters that this implies.

    Two empty texts if there is none.
    """
    wanted = fold_word(word)
    for name, operator in REGISTRY.items():
        for entry in operator.search_terms.split(", "):
            known, _, settings = entry.partition(" ")
            if wanted and fold_word(known) == wanted:
                return name, settings
    return "", ""


def suggest_operator(word: str) -> str:
    """Return a hint that names the operator that a word may have meant, or ""."""
    name, settings = find_by_search_term(word)
    if name:
        return f"did you mean {name!r}" + (f" with {settings}?" if settings else "?")
    return suggest_name(word, REGISTRY)


def _register(cls: type[Operator]) -> None:
    """Register a class; one of the same place, imported again, replaces the old one.

    Two of one name in a file are two places, unless the file was run again in between.
    """
    registry = REGISTERING.get()
    frame = sys._getframe(2)  # noqa: SLF001 (the class statement that is being run)
    cls.declared_at = (frame.f_code, frame.f_lineno)
    for name in (cls.__name__, *cls.aliases):
        known = registry.get(name)
        if known is None:
            continue
        same = (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)
        code, line = known.declared_at
        if not same or (code is frame.f_code and line != frame.f_lineno):
            raise _make_duplicate_error(name, known)
        for old in [other for other, one in registry.items() if one is known]:
            del registry[old]
    registry.update(dict.fromkeys((cls.__name__, *cls.aliases), cls))


def _make_duplicate_error(name: str, known: type[Operator]) -> GraphError:
    """Make the error of a second operator of one name, at the second class."""
    frame = sys._getframe(3)  # noqa: SLF001 (the class statement that is being run)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip("\n")
    column = len(line) - len(line.lstrip()) + 1
    length = max(len(line.split("(")[0].strip()), 1)
    mark = SourceSpan(shorten_path(frame.f_code.co_filename), frame.f_lineno, column, length)
    file = known.__module__
    if not file.startswith("rtbot."):
        file = shorten_path(getattr(sys.modules.get(file), "__file__", None) or file)
        file += f":{known.declared_at[1]}"
    message = f"there is an operator named {name} already"
    hint = f"rename one of the two; the other is {known.__name__} in {file}"
    return GraphError([Problem("RT171", mark, message, hint, source=line)])
