"""Single values: numbers, integers, booleans, texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.scalar_values import (
    DURATION,
    INTEGER,
    NUMBER,
    parse_boolean,
    parse_integer,
    parse_number,
)
from rtbot.operator.parameter_kinds.parameter import Parameter
from rtbot.operator.parameter_kinds.schema_texts import build_free_text, build_scalar, refuse_even

if TYPE_CHECKING:
    from random import Random

    from rtbot.core.document_nodes import ScalarNode
    from rtbot.core.source_span import SourceSpan
    from rtbot.operator.parameter_kinds.contexts import ReadingContext
    from rtbot.operator.parameter_kinds.parameter import JsonSchema

NUMBER_VALUES = [0.0, 1.0, -1.0, 2.0, 0.5, 2.5, 0.1, -0.0, 1e16, 1e-10, 3.0, -2.0]
"""What random numbers are chosen from."""

_NO_DOLLAR = r"[^$][\s\S]*|\$\$[\s\S]*|"


@dataclass(kw_only=True)
class Number(Parameter):
    """A float64 parameter; `minimum` and `maximum` are inclusive."""

    annotation: ClassVar[str] = "float"

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None

    def describe(self) -> str:
        return self.add_limits("a number")

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> float:
        """Return a finite number within the limits."""
        value = parse_number(scalar)
        if value is None:
            raise self.make_error(scalar)
        if self.above is not None and value <= self.above:
            raise self.make_error(scalar, code="RT112")
        return self.check_range(scalar, value)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        limits = {"minimum": self.minimum, "maximum": self.maximum, "exclusiveMinimum": self.above}
        return build_scalar(self, "number", [NUMBER.pattern, *texts], **limits)

    def encode(self, name: str, value: Any) -> tuple[str, float]:
        """Return the float64; NaN where there is none."""
        return "number", float(value) if value is not None else float("nan")

    def draw(self, rng: Random, span: int) -> float:
        """Return one of `NUMBER_VALUES` that is within the limits, or one between them."""
        bounds = [bound for bound in (self.minimum, self.above) if bound is not None]
        low = max(bounds, default=-2e16)
        high = max(2e16, 2 * low) if self.maximum is None else self.maximum
        low = min(low, high)
        values = [value for value in NUMBER_VALUES if low <= value <= high and value != self.above]
        return rng.choice(values or [low / 2 + high / 2, float(high)])


@dataclass(kw_only=True)
class Integer(Parameter):
    """An int64 parameter; `minimum` and `maximum` are inclusive; `odd` asks for an odd one."""

    annotation: ClassVar[str] = "int"

    minimum: int | None = None
    maximum: int | None = None
    odd: bool = False

    def describe(self) -> str:
        return self.add_limits("an odd integer" if self.odd else "an integer")

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> int:
        """Return an integer within the limits."""
        value = parse_integer(scalar)
        if value is None:
            hint = "it counts messages" if DURATION.fullmatch(scalar.text) else ""
            raise self.make_error(scalar, hint)
        return self.check_range(scalar, value)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        limits = {"minimum": self.minimum, "maximum": self.maximum}
        result = build_scalar(self, "integer", [INTEGER.pattern, *texts], **limits)
        return refuse_even(result) if self.odd else result

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return the int64; -1 where there is none."""
        return "integer", -1 if value is None else int(value)

    def find_limits(self) -> tuple[int, int]:
        """Return the least and the greatest random value; without a limit, near the other one."""
        high = self.maximum
        low = (
            self.minimum if self.minimum is not None else min(-2, -2 if high is None else high - 5)
        )
        return low, low + 5 if high is None else high

    def draw(self, rng: Random, span: int) -> int:
        """Return an integer near the least."""
        low, high = self.find_limits()
        return rng.randrange(low | self.odd, min(high, low + 5) + 1, 1 + self.odd)


@dataclass(kw_only=True)
class Boolean(Parameter):
    """True or false; or 1 or 0 where it is `numbered`, as flags of RtBot are."""

    numbered: bool = False
    annotation: ClassVar[str] = "bool"

    def describe(self) -> str:
        return "true or false"

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> bool:
        """Return a boolean."""
        value = parse_boolean(scalar)
        if value is None and self.numbered:
            value = {"1": True, "0": False}.get(scalar.text)
        if value is None:
            raise self.make_error(scalar)
        return value

    def build_schema(self, texts: list[str]) -> JsonSchema:
        if not self.numbered:
            return build_scalar(self, "boolean", ["true", "false", *texts])
        found = build_scalar(
            self, "boolean", ["true", "false", "0", "1", *texts], minimum=0, maximum=1
        )
        return found | {"type": ["boolean", "integer", "string"]}

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return 0 or 1; 0 where there is none."""
        return "boolean", int(value or 0)

    def draw(self, rng: Random, span: int) -> bool:
        """Return one of the two."""
        return rng.random() < 0.5


@dataclass(kw_only=True)
class Text(Parameter):
    """Any text; a step takes none."""

    annotation: ClassVar[str] = "str"

    def describe(self) -> str:
        return "a text"

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> str:
        """Return the text of the file."""
        if not isinstance(scalar.value, str):
            raise self.make_error(scalar)
        return scalar.value

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_scalar(self, "string", [_NO_DOLLAR, *texts]) | build_free_text(self)

    def read_default(self, mark: SourceSpan, context: ReadingContext) -> Any:
        return self.default

    def list_arguments(self) -> list[str]:
        return []

    def draw(self, rng: Random, span: int) -> str:
        """Return a short text."""
        return rng.choice(["", "a", "B c", "0", "\u00e9"])
