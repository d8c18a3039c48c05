"""Lists of numbers, of integers and of points; a step takes them as a flat array."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.document_nodes import ScalarNode, SequenceNode
from rtbot.core.errors import graph_error
from rtbot.operator.parameter_kinds.parameter import Parameter
from rtbot.operator.parameter_kinds.scalars import NUMBER_VALUES, Integer, Number
from rtbot.operator.parameter_kinds.schema_texts import build_list

if TYPE_CHECKING:
    from random import Random

    from rtbot.core.document_nodes import DocumentNode
    from rtbot.operator.parameter_kinds.contexts import ReadingContext
    from rtbot.operator.parameter_kinds.parameter import JsonSchema


@dataclass(kw_only=True)
class ListParameter(Parameter):
    """The base of lists of at least `shortest` elements.

    A step that names it takes `name` (flat float64 array), `name_first` (place of the first word in
    it) and `name_count` (how many elements there are).
    """

    shortest: int = 1

    def list_missing(self) -> list[str]:
        """Return what is missing; an array needs no `encode`."""
        return [name for name in super().list_missing() if name != "encode"]

    def flatten(self, value: Any) -> tuple[float, ...]:
        """Return the words of all elements in order."""
        return tuple(map(float, value))

    def list_arguments(self) -> list[str]:
        return [self.name, f"{self.name}_first", f"{self.name}_count"]

    def has_formula_name(self, name: str) -> bool:
        """Return whether it is an element: a formula takes no array."""
        return self.is_element(name)

    def list_kinds(self, value: Any) -> dict[str, str]:
        return {}

    def list_limits(self) -> list[str]:
        """Return how many elements there are at least."""
        return [f"{self.shortest} or more"] if self.shortest > 1 else []

    def check_length(self, node: DocumentNode, count: int) -> None:
        """Raise GraphError if there are too few elements."""
        if count < self.shortest:
            message = f"{self.name} has {count} elements"
            raise graph_error("RT112", node.mark, message, f"{self.describe()} is expected")


@dataclass(kw_only=True)
class Numbers(ListParameter):
    """A list of float64; formulas see the elements as `name_1` .. `name_N`.

    A step that names it takes `name` (flat float64 array), `name_first` (place of the first
    element in it) and `name_count` (how many there are).
    """

    annotation: ClassVar[str] = "Sequence[float]"

    def describe(self) -> str:
        return f"a list of at least {self.shortest} numbers"

    def describe_element(self) -> Parameter:
        """Return the parameter that an element would be."""
        return Number(name=f"an element of {self.name}")

    def read(self, node: DocumentNode, context: ReadingContext) -> tuple[float, ...]:
        """Return the elements as a tuple."""
        if isinstance(node, ScalarNode):
            scalar = context.substitute(node)
            plain = isinstance(scalar.value, tuple) and not isinstance(scalar.value[0], tuple)
            if not plain:
                raise self.make_form_error(node, "write [1, 2, 3]")
            values = self.convert_numbers(scalar.value, scalar)
        elif isinstance(node, SequenceNode):
            one = self.describe_element()
            values = tuple(one.read(item, context) for item in node.items)
        else:
            raise self.make_form_error(node, "write [1, 2, 3]")
        self.check_length(node, len(values))
        return values

    def convert_numbers(self, values: tuple[float, ...], scalar: ScalarNode) -> tuple[float, ...]:
        """Return the numbers of a parameter of the graph as elements."""
        return values

    def build_schema(self, texts: list[str]) -> JsonSchema:
        one = replace(self.describe_element(), name="an element")
        return build_list(self, one.build_schema(texts), self.shortest, texts)

    def is_element(self, name: str) -> bool:
        stem, _, place = name.rpartition("_")
        return stem == self.name and place.isdecimal()

    def list_kinds(self, value: Any) -> dict[str, str]:
        """Return the names of the elements, which are numbers."""
        return {f"{self.name}_{k + 1}": "number" for k in range(len(value or ()))}

    def encode(self, name: str, value: Any) -> tuple[str, float]:
        """Return the element that `name_1` and so on names."""
        return "number", float(value[int(name.rpartition("_")[2]) - 1])

    def draw(self, rng: Random, span: int) -> list[Any]:
        """Return a few of `NUMBER_VALUES`."""
        count = max(self.shortest, 1) + rng.randint(0, 2)
        return [rng.choice(NUMBER_VALUES) for _ in range(count)]


@dataclass(kw_only=True)
class Integers(Numbers):
    """A list of int64 of at least `minimum`; a formula is made of them, a step takes none."""

    annotation: ClassVar[str] = "Sequence[int]"

    minimum: int | None = None

    def describe(self) -> str:
        return f"a list of at least {self.shortest} integers"

    def list_limits(self) -> list[str]:
        """Return the least element, and how many there are at least."""
        return [*Parameter.list_limits(self), *super().list_limits()]

    def describe_element(self) -> Parameter:
        return Integer(name=f"an element of {self.name}", minimum=self.minimum)

    def convert_numbers(self, values: tuple[float, ...], scalar: ScalarNode) -> tuple[int, ...]:
        least = -math.inf if self.minimum is None else self.minimum
        if not all(value.is_integer() and value >= least for value in values):
            message = f"{self.name} is {list(values)}"
            raise graph_error("RT113", scalar.mark, message, f"{self.describe()} is expected")
        return tuple(map(int, values))

    def draw(self, rng: Random, span: int) -> list[int]:
        """Return a few integers near the least."""
        low = self.minimum if self.minimum is not None else -2
        count = max(self.shortest, 1) + rng.randint(0, 2)
        return [rng.randint(low, low + 2) for _ in range(count)]


@dataclass(kw_only=True)
class Points(ListParameter):
    """A list of pairs [x, y] of float64, in order of x; those of one x in order of the file.

    A step takes `name` (flat float64 array), `name_first` (place of the first x in it, each y is
    behind its x) and `name_count` (how many pairs there are).
    """

    annotation: ClassVar[str] = "Sequence[tuple[float, float]]"

    def describe(self) -> str:
        return f"a list of at least {self.shortest} points [x, y]"

    def flatten(self, value: Any) -> tuple[float, ...]:
        """Return x and y in turn."""
        return tuple(float(part) for pair in value for part in pair)

    def read(self, node: DocumentNode, context: ReadingContext) -> tuple[Any, ...]:
        """Return the pairs in order of x; those of one x stay as they are."""
        hint = "write [[0, 1], [2.5, 3]]"
        if isinstance(node, ScalarNode):
            given = context.substitute(node).value
            if isinstance(given, tuple) and all(isinstance(item, tuple) for item in given):
                self.check_length(node, len(given))
                return given
        if not isinstance(node, SequenceNode):
            raise self.make_form_error(node, hint)
        points = [self._read_point(item, hint, context) for item in node.items]
        self.check_length(node, len(points))
        return tuple(sorted(points, key=itemgetter(0)))

    def _read_point(
        self, item: DocumentNode, hint: str, context: ReadingContext
    ) -> tuple[float, ...]:
        count = len(item.items) if isinstance(item, SequenceNode) else 0
        if not isinstance(item, SequenceNode) or count != 2:
            shape = f"a list of {count}" if isinstance(item, SequenceNode) else item.form
            message = f"a point of {self.name} is [x, y], two numbers, this is {shape}"
            raise graph_error("RT105", item.mark, message, hint)
        axes = [Number(name=f"the {axis} of a point of {self.name}") for axis in "xy"]
        return tuple(a.read(part, context) for a, part in zip(axes, item.items, strict=True))

    def build_schema(self, texts: list[str]) -> JsonSchema:
        pair = {
            "type": ["array"],
            "items": Number(name="a coordinate").build_schema(texts),
            "minItems": 2,
            "maxItems": 2,
            "errorMessage": "a point is [x, y]",
        }
        return build_list(self, pair, self.shortest, texts)

    def draw(self, rng: Random, span: int) -> list[list[float]]:
        """Return a few pairs of `NUMBER_VALUES`."""
        count = max(self.shortest, 1) + rng.randint(0, 3)
        return sorted([rng.choice(NUMBER_VALUES) for _ in "xy"] for _ in range(count))
