"""What is wired together in Python: streams, parameters, and expressions of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypedDict

from rtbot.builder.call_sites import CallSite, add_source_lines, find_call_site
from rtbot.core.errors import graph_error, suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.builder.builder import Builder

    Other: TypeAlias = "Operand | float"


DEPTH_MAX = 60


class About(TypedDict, total=False):
    """What may be given for any operator beside its ports and parameters."""

    id: str
    doc: str
    meta: Mapping[str, Any]


class Operand:
    """A part of an expression: `op` with `args`, or what `value` names.

    `op` is `stream` (`value` is a Port), `parameter` (its name), `constant` (a bool, int or float),
    a sign of the language of expressions, or a function of it. `number` counts what a builder has
    made, `reads` is whether a stream is in it.
    """

    def __init__(
        self,
        builder: Builder,
        op: str,
        args: tuple[Operand, ...] = (),
        value: Any = None,
        place: CallSite | None = None,
    ) -> None:
        self.builder, self.op, self.args, self.value = builder, op, args, value
        self.place = find_call_site() if place is None else place
        self.number = builder.next_number()
        self.reads: bool = op == "stream" or any(part.reads for part in args)
        self.depth: int = 1 + max((part.depth for part in args), default=0)
        if self.depth > DEPTH_MAX:
            message = f"an expression of more than {DEPTH_MAX} levels"
            raise add_source_lines(
                graph_error("RT135", self.place.mark, message, "give a part a name: .named(id)")
            )

    def __add__(self, other: Other) -> Stream:
        return make_operation("+", self, other)

    def __radd__(self, other: Other) -> Stream:
        return make_operation("+", other, self)

    def __sub__(self, other: Other) -> Stream:
        return make_operation("-", self, other)

    def __rsub__(self, other: Other) -> Stream:
        return make_operation("-", other, self)

    def __mul__(self, other: Other) -> Stream:
        return make_operation("*", self, other)

    def __rmul__(self, other: Other) -> Stream:
        return make_operation("*", other, self)

    def __truediv__(self, other: Other) -> Stream:
        return make_operation("/", self, other)

    def __rtruediv__(self, other: Other) -> Stream:
        return make_operation("/", other, self)

    def __mod__(self, other: Other) -> Stream:
        return make_operation("%", self, other)

    def __rmod__(self, other: Other) -> Stream:
        return make_operation("%", other, self)

    def __pow__(self, other: Other) -> Stream:
        return make_operation("**", self, other)

    def __rpow__(self, other: Other) -> Stream:
        return make_operation("**", other, self)

    def __lt__(self, other: Other) -> Stream:
        return make_operation("<", self, other)

    def __le__(self, other: Other) -> Stream:
        return make_operation("<=", self, other)

    def __gt__(self, other: Other) -> Stream:
        return make_operation(">", self, other)

    def __ge__(self, other: Other) -> Stream:
        return make_operation(">=", self, other)

    def __eq__(self, other: Other) -> Stream:  # type: ignore[override]
        return make_operation("==", self, other)

    def __ne__(self, other: Other) -> Stream:  # type: ignore[override]
        return make_operation("!=", self, other)

    def __and__(self, other: Other) -> Stream:
        return make_operation("and", self, other)

    def __rand__(self, other: Other) -> Stream:
        return make_operation("and", other, self)

    def __or__(self, other: Other) -> Stream:
        return make_operation("or", self, other)

    def __ror__(self, other: Other) -> Stream:
        return make_operation("or", other, self)

    def __invert__(self) -> Stream:
        return make_operation("not", self)

    def __neg__(self) -> Stream:
        return make_operation("neg", self)

    def __abs__(self) -> Stream:
        return make_operation("abs", self)

    def __round__(self) -> Stream:
        return make_operation("round", self)

    def __floor__(self) -> Stream:
        return make_operation("floor", self)

    def __ceil__(self) -> Stream:
        return make_operation("ceil", self)

    __hash__ = object.__hash__
    __array_ufunc__ = None
    """So numpy leaves `array(2.0) * stream` to the stream, and refuses `np.log(stream)`."""

    def __bool__(self) -> NoReturn:
        message = "a stream has no value yet: write a & b, a | b, ~a and ops.if_(a, b, c)"
        raise TypeError(
            f"{message} for `and`, `or`, `not` and `if`; a < b < c as (a < b) & (b < c); "
            "ops.max and ops.min for Python's"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} is one stream: there is nothing to unpack")

    def __repr__(self) -> str:
        from rtbot.builder.expression_text import format_operand

        return f"<{type(self).__name__} {format_operand(self)}>"


class ParameterRef(Operand):
    """A parameter of the graph, `$name`: for parameters of operators, and in expressions."""


class Stream(Operand):
    """An input, an output of an operator, or an expression.

    Operators of Python make expressions (`&`, `|` and `~` mean and, or and not). An expression
    becomes an operator where it is used as one: as an output, as a port's stream, under a name of
    its own, or in more than one place.
    """

    def named(self, id: str) -> Stream:  # noqa: A002 (the word of the file)
        """Return the expression as an operator with this id."""
        if self.op == "stream":
            raise TypeError(f"{self!r} has a name: give `id` where it is made")
        return self.builder.add_expression(self, id)

    def __getitem__(self, place: int) -> Stream:
        """Return an element of a vector; the first is 0."""
        if isinstance(place, bool) or not hasattr(place, "__index__") or place.__index__() < 0:
            raise TypeError(f"an element of {self!r} is a number from 0 on, not {place!r}")
        if self.op != "stream" or self.value.element:
            raise TypeError(f"{self!r} is no vector")
        port = self.value._replace(element=str(place.__index__()))
        return Stream(self.builder, "stream", (), port, find_call_site())


class Streams:
    """The outputs of an operator that has several, or the fields of a record.

    They are found by name, by position, or unpacked.
    """

    def __init__(self, type_: str, names: Mapping[str, str], ports: Mapping[str, Stream]) -> None:
        self._type, self._names, self._ports = type_, names, ports

    def __getattr__(self, name: str) -> Stream:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._find(name, AttributeError)

    def __getitem__(self, index: int | str) -> Stream:
        if isinstance(index, str):
            return self._find(index, KeyError)
        return list(self._ports.values())[index]

    def _find(self, name: str, kind: type[AttributeError | KeyError]) -> Stream:
        if name not in self._names:
            hint = suggest_name(name, self._names) or f"there are {', '.join(self._names)}"
            raise kind(f"{self._type} has no output {name!r}; {hint}")
        return self._ports[self._names[name]]

    def __iter__(self) -> Iterator[Stream]:
        return iter(self._ports.values())

    def __len__(self) -> int:
        return len(self._ports)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return f"<Streams of {self._type}: {', '.join(self._ports)}>"


class Fields(Streams):
    """The fields of an input that is a record."""


def find_builder(given: Any) -> Builder | None:
    """Return the builder that something belongs to."""
    if isinstance(given, Streams):
        given = given[0]
    return given.builder if isinstance(given, Operand) else None


def make_operation(op: str, *given: Any) -> Stream:
    """Return an expression; numbers and booleans are constants."""
    builder = next(filter(None, map(find_builder, given)))
    place = find_call_site()
    args = tuple(make_operand(item, builder, place) for item in given)
    return Stream(builder, op, args, place=place)


def make_operand(given: Any, builder: Builder, place: CallSite) -> Operand:
    """Return a part of an expression of this builder."""
    if isinstance(given, Operand):
        if given.builder is not builder:
            raise TypeError(f"{given!r} belongs to another Builder")
        return given
    if isinstance(given, Streams):
        raise TypeError(f"{given!r}: choose one of its outputs")
    if hasattr(given, "dtype") and getattr(given, "ndim", 0) == 0:
        given = given.item()
    if not isinstance(given, bool | int | float):
        hint = "an expression is made of streams, parameters, numbers and booleans"
        raise TypeError(f"{hint}, not of {type(given).__name__}")
    return Stream(builder, "constant", (), given, place)
