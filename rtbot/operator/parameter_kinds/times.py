"""Lengths of time, and what may be one: how long a window is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.hints import find_synonym
from rtbot.core.number_text import DURATION_UNITS, format_duration
from rtbot.core.scalar_values import (
    DURATION,
    INT64_MAX,
    INTEGER,
    NUMBER,
    parse_duration,
    parse_integer,
    parse_number,
)
from rtbot.operator.parameter_kinds.parameter import Parameter, TimeSpan, format_span
from rtbot.operator.parameter_kinds.schema_texts import build_scalar, refuse_even

if TYPE_CHECKING:
    from random import Random

    from rtbot.core.document_nodes import ScalarNode
    from rtbot.operator.parameter_kinds.contexts import ReadingContext
    from rtbot.operator.parameter_kinds.parameter import JsonSchema

_UNITS = ", ".join(reversed(DURATION_UNITS))
_HINT = f"a duration is a number such as 5 or 1.5, and one of {_UNITS}"

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([A-Za-z]+) *")

STATE_LIMIT = 1 << 24
"""The most values that an item of state may hold for each key: 128 MiB of them."""


def suggest_duration(text: str) -> str:
    """Return a hint how a span with other words for units, or with several, is written here, or "".

    >>> suggest_duration("1 min"), suggest_duration("1h30m"), suggest_duration("2 weeks")
    ("did you mean '1m'?", "did you mean '90m'?", "did you mean '14d'?")
    """
    total, rest = Fraction(0), text.strip()
    while found := _PART.match(rest):
        word = found[2]
        weeks = word.lower() in ("w", "wk", "week", "weeks")
        unit = word if word in DURATION_UNITS else find_synonym(word, DURATION_UNITS)
        if not (unit or weeks):
            return ""
        total += Fraction(found[1]) * (7 * DURATION_UNITS["d"] if weeks else DURATION_UNITS[unit])
        rest = rest[found.end() :]
    if rest or not total or total.denominator > 1:
        return ""
    return f"did you mean {format_duration(int(total), 'ns')!r}?"


@dataclass(kw_only=True)
class Duration(Parameter):
    """A time span in `io.unit`: an integer, or text such as "5s"; a step sees the int64.

    `minimum` is inclusive. None if it is optional and absent (a step then sees -1).
    """

    annotation: ClassVar[str] = "int | str | timedelta"

    minimum: int | None = 0
    maximum: int | None = None

    def describe(self) -> str:
        return self.add_limits("a duration such as 500ms")

    def format(self, value: Any, unit: str | None) -> str:
        return format_span(value, unit)

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> int:
        """Return the span in `io.unit`."""
        value = parse_integer(scalar)
        if value is None:
            value = parse_duration(scalar.text, context.unit, scalar.mark, self.name)
        if value is None:
            raise self.make_error(scalar, suggest_duration(scalar.text) or _HINT)
        return self.check_range(scalar, value)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        return build_span(self, texts)

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return the int64; -1 where there is none."""
        return "integer", -1 if value is None else int(value)

    def draw(self, rng: Random, span: int) -> int:
        """Return a part of the times of a run, or one near 0."""
        share = max(1, span // rng.randint(3, 40))
        if self.minimum is not None and self.minimum >= 1:
            return max(self.minimum, min(share, INT64_MAX))
        choices = [0, 1, 2, 5, min(share, INT64_MAX)]
        if self.minimum is None:
            choices += [-1, -3, -min(share, INT64_MAX), INT64_MAX]
        return rng.choice(choices)


@dataclass(kw_only=True)
class WindowLength(Parameter):
    """How long a window is: so many messages, an integer, or a `TimeSpan`, written as "5s".

    `minimum` and `maximum` are inclusive, and of messages, as is `odd`; a time span is at least 1.
    A step sees the int64.
    """

    type_name = "integer or duration"
    annotation: ClassVar[str] = "int | str | timedelta"

    minimum: int = 1
    maximum: int | None = STATE_LIMIT
    odd: bool = False

    def describe(self) -> str:
        kind = "an odd integer" if self.odd else "an integer"
        return f"{kind} from {self.minimum} to {self.maximum} or a duration such as 5s"

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> int:
        """Return a count of messages, or a `TimeSpan`: a text, or `$name` of a duration."""
        count = None if isinstance(scalar.value, TimeSpan) else parse_integer(scalar)
        if count is not None:
            return self.check_range(scalar, count)
        length: int | None = scalar.value if isinstance(scalar.value, TimeSpan) else None
        if length is None:
            instead = "count messages, with an integer"
            length = parse_duration(scalar.text, context.unit, scalar.mark, self.name, instead)
        if length is None:
            raise self.make_error(scalar, suggest_duration(scalar.text) or _HINT)
        if length < 1:
            raise self.make_error(scalar, code="RT112")
        return TimeSpan(Duration(name=self.name).check_range(scalar, length))

    def build_schema(self, texts: list[str]) -> JsonSchema:
        result = build_span(self, texts)
        return refuse_even(result) if self.odd else result

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return the int64, of messages or of time; -1 where there is none."""
        return "integer", -1 if value is None else int(value)

    def draw(self, rng: Random, span: int) -> int | str:
        """Return a few messages, or a part of the times of a run."""
        length = f"{Duration(minimum=1).draw(rng, span)}ns"
        choices: list[int | str] = [rng.randint(self.minimum, 6) | self.odd, length]
        return rng.choice(choices)


@dataclass(kw_only=True)
class Distance(Parameter):
    """How far apart two values are, an integer, a number, or a duration such as -5s.

    A node has an int, or a float where it was written so. `minimum` is inclusive.
    """

    minimum: int | None = None

    def describe(self) -> str:
        return self.add_limits("an integer, a number or a duration such as -5s")

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> float:
        """Return an integer, a span in `io.unit`, or a float."""
        value: float | None = parse_integer(scalar)
        if value is None:
            value = parse_duration(scalar.text, context.unit, scalar.mark, self.name)
        if value is None:
            value = parse_number(scalar)
        if value is None:
            raise self.make_error(scalar)
        return self.check_range(scalar, value)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        forms = [NUMBER.pattern, DURATION.pattern, *texts]
        return build_scalar(self, "number", forms, minimum=self.minimum)

    def list_arguments(self) -> list[str]:
        return []


def build_span(parameter: Duration | WindowLength, texts: list[str]) -> JsonSchema:
    """Return the schema of an integer or a duration."""
    limits = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    forms = [INTEGER.pattern, DURATION.pattern, *texts]
    return build_scalar(parameter, "integer", forms, **limits)
