"""The base of all kinds of parameters: what a kind says, and what holds if it says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rtbot.core.document_nodes import ScalarNode, SequenceNode
from rtbot.core.errors import GraphError, graph_error
from rtbot.core.number_text import format_duration, format_plain
from rtbot.core.scalar_values import INT64_MAX, INT64_MIN, KINDS, NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from rtbot.core.document_nodes import DocumentNode
    from rtbot.core.source_span import SourceSpan
    from rtbot.operator.parameter_kinds.contexts import ReadingContext, RowScope, RowTexts

JsonSchema = dict[str, Any]
N = TypeVar("N", bound=float)


class TimeSpan(int):
    """A length of time in `io.unit`, as the value of a parameter that may be a count as well."""


@dataclass(kw_only=True)
class Parameter:
    """A parameter of an operator; the subclass is its kind, of which all that follows derives.

    A parameter with a default is not required; one that is not required and has no default may be
    None. What `read` returns is what an operator gets in `values`, and what a dump has to fit: a
    boolean, an integer, a float, a text, or tuples of these.
    """

    required: bool = True
    default: Any = None
    aliases: tuple[str, ...] = ()
    doc: str = ""
    name: str = ""

    type_name: ClassVar[str] = "parameter"
    """What it is in pages of operators; the name of the class in small letters, unless given."""

    annotation: ClassVar[str] = "Any"
    """The type of a value in Python, for constructors and their stub."""

    def __init_subclass__(cls) -> None:
        cls.type_name = cls.__dict__.get("type_name", cls.__name__.lower())

    def __post_init__(self) -> None:
        self.required &= self.default is None

    def list_missing(self) -> list[str]:
        """Return the methods that a kind has to have, and this one has not."""
        own = type(self)
        reads = "read_scalar" if own.read is Parameter.read else "read"
        wanted = [reads, "build_schema", *(["encode"] if self.list_arguments() else [])]
        return [name for name in wanted if getattr(own, name) is getattr(Parameter, name)]

    # ---- in texts

    def describe(self) -> str:
        """Return what is expected, for messages and editors: "an integer of at least 1"."""
        return self.add_limits(f"a {self.type_name}")

    def add_limits(self, what: str) -> str:
        """Return a description with the limits `minimum`, `maximum` and `above`."""
        low, high = getattr(self, "minimum", None), getattr(self, "maximum", None)
        above = getattr(self, "above", None)
        bounds = [f"above {above}" if above is not None else ""]
        bounds += [f"of at least {low}" if low is not None and high is None else ""]
        bounds += [f"of at most {high}" if high is not None and low is None else ""]
        bounds += [f"from {low} to {high}" if low is not None and high is not None else ""]
        return " ".join([what, *(bound for bound in bounds if bound)])

    def list_limits(self) -> list[str]:
        """Return the limits of a value as pages have them."""
        words = {"minimum": "at least", "above": "above", "maximum": "at most"}
        bounds = {text: getattr(self, name, None) for name, text in words.items()}
        found = [f"{text} {format_plain(it)}" for text, it in bounds.items() if it is not None]
        return [*found, "odd"] if getattr(self, "odd", False) else found

    def list_options(self) -> Sequence[str]:
        """Return the words that may be given, if these are all."""
        return ()

    def format(self, value: Any, unit: str | None) -> str:
        """Return a value as a graph file whose times are in `unit` has it."""
        return format_span(value, unit) if isinstance(value, TimeSpan) else format_plain(value)

    def format_default(self) -> str:
        """Return the default as a graph file has it."""
        return self.default if isinstance(self.default, str) else self.format(self.default, None)

    def is_absent(self, value: Any) -> bool:
        """Return whether a value means that there is none."""
        return value is None

    def explain(self, value: Any, texts: RowTexts) -> str:
        """Return a value of a change operator as explanations show it, "" if they do not."""
        return "" if value == self.default else self.format(value, None)

    def list_fields(self, value: Any, texts: RowTexts) -> Iterator[tuple[str, str]] | None:
        """Return the fields that it defines, with their expressions; None if it defines none."""
        return None

    # ---- in a graph file

    def read(self, node: DocumentNode, context: ReadingContext) -> Any:
        """Return the value that is in the file; raise GraphError if it does not fit.

        This takes a single value with `$name` substituted, and leaves it to `read_scalar`.
        """
        if not isinstance(node, ScalarNode):
            hint = "write the value without brackets" if isinstance(node, SequenceNode) else ""
            raise self.make_form_error(node, hint)
        scalar = context.substitute(node)
        if scalar.missing:
            message = f"{self.name} has no value"
            raise graph_error("RT105", node.mark, message, f"{self.describe()} is expected")
        try:
            return self.read_scalar(scalar, context)
        except GraphError as error:
            raise _suggest_dollar(error, scalar, context) from None

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> Any:
        """Return the value of a scalar that is not empty; raise GraphError if it does not fit."""
        raise NotImplementedError

    def read_default(self, mark: SourceSpan, context: ReadingContext) -> Any:
        """Return the default as `read` returns values; a text is read as if it were at `mark`."""
        if not isinstance(self.default, str):
            return self.default
        return self.read(ScalarNode(self.default, mark, quoted=True), context)

    def resolve(self, value: Any, rows: RowScope) -> Any:
        """Return what a node of a change operator has for what `read` has returned."""
        return value

    def normalise(self, given: Any) -> Any:
        """Return what is given in Python as `read` returns it, where outputs depend on it."""
        return given

    def make_error(self, scalar: ScalarNode, hint: str = "", code: str = "RT113") -> GraphError:
        """Make the error of a value that is not what is expected; RT112 if it is beyond a limit."""
        shown = shorten_text(scalar.text)
        message = f"{self.name} is {shown}, {self.describe()} is expected"
        return graph_error(code, scalar.mark, message, hint)

    def make_form_error(self, node: DocumentNode, hint: str = "") -> GraphError:
        """Make the error of a list or a mapping where a scalar is expected, or the reverse."""
        message = f"{self.name} is {self.describe()}, this is {node.form}"
        return graph_error("RT105", node.mark, message, hint)

    def check_range(self, scalar: ScalarNode, value: N) -> N:
        """Return a number; raise GraphError unless it fits `minimum`, `maximum`, `odd`, 64 bits."""
        number: object = value
        if isinstance(number, int) and not INT64_MIN <= number <= INT64_MAX:
            message = f"{self.name} is {shorten_text(scalar.text)}, beyond 64 bits"
            raise graph_error("RT134", scalar.mark, message, f"{self.describe()} is expected")
        low, high = getattr(self, "minimum", None), getattr(self, "maximum", None)
        outside = (low is not None and value < low) or (high is not None and value > high)
        if outside or (getattr(self, "odd", False) and value % 2 == 0):
            raise self.make_error(scalar, code="RT112")
        return value

    # ---- in an editor

    def build_schema(self, texts: list[str]) -> JsonSchema:
        """Return the JSON Schema of a value; patterns of `texts` are allowed in its place."""
        raise NotImplementedError

    # ---- in Python

    def annotate(self) -> str:
        """Return the type of a value in Python, as text."""
        return self.annotation

    # ---- in steps and formulas

    def list_arguments(self) -> list[str]:
        """Return the names by which a step may take it."""
        return [self.name]

    def is_element(self, name: str) -> bool:
        """Return whether a step may use the name for a part of it, such as `name_1`."""
        return False

    def has_formula_name(self, name: str) -> bool:
        """Return whether a formula may use the name for it, or for a part of it."""
        return name in self.list_arguments()

    def encode(self, name: str, value: Any) -> tuple[str, float | int]:
        """Return (kind, word) of one of its names: a number, an integer or a boolean for a step."""
        raise NotImplementedError

    def list_kinds(self, value: Any) -> dict[str, str]:
        """Return the names that a formula may use if it has this value, with their kinds."""
        if value is None:
            return {}
        return {name: self.encode(name, value)[0] for name in self.list_arguments()}

    # ---- in random graphs

    def draw(self, rng: Random, span: int) -> Any:
        """Return a random value that is allowed, as a graph file has it.

        `span` is how far the times of a run reach, in nanoseconds, which is the graph's `io.unit`.
        """
        raise NotImplementedError


@dataclass(kw_only=True)
class RowParameter(Parameter):
    """The base of kinds that are about the fields of rows; no step takes them."""

    def read_default(self, mark: SourceSpan, context: ReadingContext) -> Any:
        return self.default

    def list_arguments(self) -> list[str]:
        return []


def format_span(value: Any, unit: str | None) -> str:
    """Return a length of time, which is in `unit`, as a graph file has it: "7d"."""
    return str(value) if unit is None else format_duration(value, unit)


def shorten_text(text: str) -> str:
    """Return the text of a value for a message."""
    short = text if len(text) <= 40 else text[:37] + "..."
    return short if NUMBER.fullmatch(text) or text.isalnum() else repr(short)


def _suggest_dollar(error: GraphError, scalar: ScalarNode, context: ReadingContext) -> GraphError:
    """Return the error; one that does not fit may be a parameter of the graph without its `$`."""
    if scalar.text not in (*context.parameters, *KINDS):
        return error
    (problem,) = error.problems
    hint = f"write ${scalar.text} for the parameter of the graph"
    if scalar.text in KINDS:
        hint = f"that is its default; one that has none is {{type: {scalar.text}}}"
    return GraphError([replace(problem, hint=hint)])
