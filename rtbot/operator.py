"""Operator declarations: one class says everything, the rest is derived.

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
ports, `time`, parameters, state; of a variadic port `i` the tuples `i` and `i_valid`). It returns, in this order: the emission code (only if `silent`,
`faults` or `own_time`), the time (only if `own_time`), the outputs (a nullable output as value and
valid flag), and every scalar of its state in the order of declaration.

An operator without memory is a `formula` in the language of expressions instead of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

SILENT, EMIT, DOMAIN, EMIT_AGAIN = 0, 1, 2, 3
"""Emission codes of a step: nothing; a message; no message, counted under `domain`; a message, and
call me again with the same row (only `own_time` operators)."""

KINDS = ("number", "integer", "boolean", "text")
ROLES = ("must", "may", "last")


@dataclass(frozen=True, slots=True)
class Type:
    """What a port carries: a kind of `KINDS`, and whether a message may be null."""

    kind: str
    nullable: bool = False

    def __str__(self) -> str:
        return self.kind + ("?" if self.nullable else "")

    def or_null(self) -> Type:
        """The same kind, nullable."""
        return Type(self.kind, nullable=True)


def step(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function whose source goes into generated modules; changes nothing."""
    function.is_step = True  # type: ignore[attr-defined]
    return function


def rarely(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a step that few rows reach: it is called, where other steps are copied into their callers."""
    function.is_rare = True  # type: ignore[attr-defined]
    return step(function)


@dataclass(kw_only=True)
class Parameter:
    """A parameter of an operator; the subclass is its type in the graph file."""

    required: bool = True
    default: Any = None
    aliases: tuple[str, ...] = ()
    doc: str = ""
    name: str = ""

    def __init_subclass__(cls) -> None:
        cls.type_name = cls.__name__.lower()

    type_name: ClassVar[str] = "parameter"


@dataclass(kw_only=True)
class Number(Parameter):
    """A float64 parameter; `minimum` and `maximum` are inclusive."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None


@dataclass(kw_only=True)
class Integer(Parameter):
    """An int64 parameter; `minimum` and `maximum` are inclusive; `odd` asks for an odd one."""

    minimum: int | None = None
    maximum: int | None = None
    odd: bool = False


@dataclass(kw_only=True)
class Boolean(Parameter):
    """True or false."""


@dataclass(kw_only=True)
class Choice(Parameter):
    """One of `options`; a step sees its index."""

    options: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Duration(Parameter):
    """A time span in `io.unit`: an integer, or text such as "5s"; a step sees the int64.

    `minimum` is inclusive. None if it is optional and absent (a step then sees -1).
    """

    minimum: int | None = 0
    maximum: int | None = None


@dataclass(kw_only=True)
class Numbers(Parameter):
    """A list of float64; formulas see the elements as `name_1` .. `name_N`."""

    shortest: int = 1


@dataclass
class In:
    """A data or control port. `kind`: one of KINDS, "T" (any), "N" (number or integer).

    All ports declared "T" (or "N") of one operator carry the same kind, except those of an
    operator with `mixed = True`. A `variadic` port `i` stands for i1..iN, N >= `shortest`.
    A port accepts null only if `nullable`. `role`: must, may or last (see DESIGN 4).
    """

    kind: str
    doc: str = ""
    alias: str = ""
    role: str = "must"
    nullable: bool = False
    variadic: bool = False
    shortest: int = 2
    name: str = ""


@dataclass
class Out:
    """An output port. `kind` as for In; `alias` is a readable second name.

    A `variadic` output `o` has one port per variadic input, of the same type.
    """

    kind: str
    doc: str = ""
    alias: str = ""
    nullable: bool = False
    variadic: bool = False
    name: str = ""


@dataclass
class Scalar:
    """One value of state per key: "number" (float64), "integer" (int64) or "boolean", or "T"/"N"."""

    kind: str
    start: float | int | bool
    name: str = ""


@dataclass
class Ring:
    """The last `size` values of a port, owned by the plan and shared by all who read it.

    `size` is the name of an Integer parameter. `extra` asks for that many places more.
    A step that names the ring `values` may take: `values` (flat array), `values_first` (offset of the
    ring in it), `values_count` (values held, the entering one included), `values_entering`,
    `values_leaving` (undefined unless `values_evicts`), `values_evicts`, `values_position` (place of
    the entering one, 0 <= position < size). `of="time"` keeps the times of the port's rows (int64).
    """

    port: str
    size: str
    extra: int = 0
    of: str = "value"
    name: str = ""


@dataclass
class Cells:
    """A fixed number of values per key: flat array under the name, offset as `NAME_first`.

    `kind` as for Scalar; `size` is a number, the name of an Integer parameter, or a function of the
    parameters.
    """

    kind: str
    size: int | str | Callable[[Mapping[str, Any]], int]
    start: float | int = 0
    name: str = ""

    def places(self, values: Mapping[str, Any]) -> int:
        """How many values a key has under these parameters; may be 0."""
        if callable(self.size):
            return self.size(values)
        return self.size if isinstance(self.size, int) else int(values[self.size])


@dataclass
class Scratch:
    """Room for the integers of one call: any content, shared by all keys and operators.

    A step that names it `scratch` takes `scratch` (flat int64 array) and `scratch_first`. It is part
    of no key's row and of no dump.
    """

    size: int
    name: str = ""


@dataclass(frozen=True)
class Example:
    """A runnable example: parameters, rows per input port, rows per output port."""

    inputs: Mapping[str, Sequence[tuple[int, Any]]]
    outputs: Mapping[str, Sequence[tuple[int, Any]]]
    parameters: Mapping[str, Any] = field(default_factory=dict)


REGISTRY: dict[str, type[Operator]] = {}
"""Every operator by its name and its aliases; filled by declaring a class."""


class Operator:
    """Base of all operators; see the head of this file. Subclasses register themselves."""

    aliases: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[int] = 1
    abstract: ClassVar[bool] = True
    mixed: ClassVar[bool] = False
    silent: ClassVar[bool] = False
    faults: ClassVar[bool] = False
    own_time: ClassVar[bool] = False
    frontier: ClassVar[str | Scalar] = "copy"
    """copy; shift (adds the parameter `shift`); state (the scalar named `frontier` of the state, and
    the frontier of its source where that is the greatest int64)."""
    causal: ClassVar[bool] = True
    example: ClassVar[Example | None] = None

    parameters: ClassVar[dict[str, Parameter]] = {}
    inputs: ClassVar[dict[str, In]] = {}
    outputs: ClassVar[dict[str, Out]] = {}
    state: ClassVar[dict[str, Scalar | Ring | Cells | Scratch]] = {}
    step: ClassVar[Callable[..., Any] | None] = None
    integer_step: ClassVar[Callable[..., Any] | None] = None
    """The step where "N" is integer, if the arithmetic differs."""

    formula: ClassVar[str | Callable[..., Any] | None] = None
    """Text, or a static function of (values, ports) giving text or {output: text}."""
    keep: ClassVar[str | Callable[..., Any] | None] = None
    """A filter's condition: nothing is emitted where it is false."""
    fault: ClassVar[str | Callable[..., Any] | None] = None
    """Condition under which no message is emitted and `domain` is counted."""

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        cls.abstract = abstract
        for group, kinds in (
            ("parameters", (Parameter,)),
            ("inputs", (In,)),
            ("outputs", (Out,)),
            ("state", (Scalar, Ring, Cells, Scratch)),
        ):
            declared = dict(getattr(cls, group))
            for name, item in vars(cls).items():
                if isinstance(item, kinds):
                    item.name = name
                    declared[name] = item
            setattr(cls, group, declared)
        if "frontier" in cls.state:
            cls.frontier = "state"
        if not abstract:
            _register(cls)

    @classmethod
    def ports(cls, arity: int) -> list[str]:
        """Names of the data ports, i1.., then the control ports, c1.., for this arity."""
        names = []
        for name, port in cls.inputs.items():
            names += [f"{name}{k + 1}" for k in range(arity)] if port.variadic else [name]
        return names

    @classmethod
    def port(cls, name: str) -> In:
        """The declaration behind the port name `i1`, `c2`, ..."""
        return cls.inputs[name] if name in cls.inputs else cls.inputs[name.rstrip("0123456789")]

    @classmethod
    def role(cls, port: str, values: Mapping[str, Any]) -> str:  # noqa: ARG003 (for overriding)
        """How the pairing treats the port: must, may or last."""
        return cls.port(port).role

    @classmethod
    def roles(cls, values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, str]:
        """How the pairing treats every port; override it where a role depends on the last port."""
        return {port: cls.role(port, values) for port in ports}

    @classmethod
    def step_for(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
        inputs: Mapping[str, Type],
    ) -> Callable[..., Any]:
        """The step for these parameters and types of the input ports after pairing."""
        kinds = [type_.kind for port, type_ in inputs.items() if cls.port(port).kind == "N"]
        chosen = cls.integer_step if cls.integer_step and "integer" in kinds else cls.step
        assert chosen is not None, f"{cls.__name__} has no step"
        return chosen

    @classmethod
    def reach(cls, values: Mapping[str, Any]) -> int:  # noqa: ARG003 (for overriding)
        """How far before the next row it may emit while its scalar `frontier` names no time."""
        return 0

    @classmethod
    def lost(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (for overriding)
        ports: Sequence[str],  # noqa: ARG003
    ) -> dict[str, tuple[str, str]]:
        """Messages that are paired and then left out: port -> (reason, formula of the condition)."""
        return {}

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Problems that involve several parameters, as sentences."""
        return []

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """Types of the outputs; `inputs` has the types after pairing (may and last are nullable)."""
        generic = next((t for p, t in inputs.items() if cls.port(p).kind in ("T", "N")), None)
        result: dict[str, Type] = {}
        for name, out in cls.outputs.items():
            if out.variadic:
                result |= {f"{name}{k + 1}": t for k, t in enumerate(inputs.values())}
            elif out.kind in ("T", "N"):
                assert generic is not None, f"{cls.__name__}.{name} has no input of kind T or N"
                result[name] = Type(generic.kind, out.nullable)
            else:
                result[name] = Type(out.kind, out.nullable)
        return result


def _register(cls: type[Operator]) -> None:
    for name in (cls.__name__, *cls.aliases):
        known = REGISTRY.get(name)
        if known is not None and known.__module__ != cls.__module__:
            raise ValueError(f"an operator named {name} is registered already: {known!r}")
        REGISTRY[name] = cls
