"""Words: one of several, or several of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.document_nodes import SequenceNode
from rtbot.core.errors import graph_error, join_names, suggest_known_name
from rtbot.operator.parameter_kinds.parameter import Parameter
from rtbot.operator.parameter_kinds.schema_texts import (
    anchor_pattern,
    build_message,
    list_text_forms,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from rtbot.core.document_nodes import DocumentNode, ScalarNode
    from rtbot.operator.parameter_kinds.contexts import ReadingContext
    from rtbot.operator.parameter_kinds.parameter import JsonSchema


@dataclass(kw_only=True)
class Choice(Parameter):
    """One of `options`; a step sees its index."""

    options: tuple[str, ...] = ()

    def describe(self) -> str:
        return "one of " + join_names(self.options)

    def list_options(self) -> Sequence[str]:
        return self.options

    def annotate(self) -> str:
        """Return a Literal of the options."""
        return f"Literal[{', '.join(map(json.dumps, self.options))}]"

    def read_scalar(self, scalar: ScalarNode, context: ReadingContext) -> str:
        """Return one of the options."""
        text = scalar.text if not isinstance(scalar.value, bool) else scalar.text.lower()
        if text not in self.options:
            hint = suggest_known_name(text, self.options)
            raise self.make_error(scalar, hint, "RT112")
        return text

    def build_schema(self, texts: list[str]) -> JsonSchema:
        message = build_message(self)
        options = {"enum": [form for option in self.options for form in list_text_forms(option)]}
        if not texts:
            return options | message
        dollar = {"type": "string", "pattern": anchor_pattern(*texts)}
        return {"anyOf": [options | message, dollar | message]}

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return the index of the option, from 0; -1 where there is none."""
        return "integer", -1 if value is None else self.options.index(value)

    def draw(self, rng: Random, span: int) -> str:
        """Return one of the options."""
        return rng.choice(self.options)


@dataclass(kw_only=True)
class Choices(Parameter):
    """One or several of `options`, each once; a step sees an integer with a bit for each option."""

    annotation: ClassVar[str] = "str | Sequence[str]"

    options: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"one or a list of {join_names(self.options)}"

    def list_options(self) -> Sequence[str]:
        return self.options

    def read(self, node: DocumentNode, context: ReadingContext) -> tuple[str, ...]:
        """Return one word or several as a tuple."""
        one = Choice(name=self.name, options=self.options)
        items = node.items if isinstance(node, SequenceNode) else [node]
        if not items:
            raise graph_error("RT112", node.mark, f"{self.name} is empty", self.describe())
        words: list[str] = []
        for item in items:
            word = one.read(item, context)
            if word in words:
                message = f"{self.name} has {word} twice"
                raise graph_error("RT112", item.mark, message, "leave one out")
            words.append(word)
        return tuple(words)

    def normalise(self, given: str | Sequence[str]) -> tuple[str, ...]:
        """Return the words of a value, which may be one alone."""
        return (given,) if isinstance(given, str) else tuple(given)

    def build_schema(self, texts: list[str]) -> JsonSchema:
        one = Choice(name=self.name, options=self.options).build_schema(texts)
        several = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
        return {"anyOf": [*one.get("anyOf", [one]), several | build_message(self)]}

    def encode(self, name: str, value: Any) -> tuple[str, int]:
        """Return an integer with a bit for each option, that of the first the lowest."""
        return "integer", sum(1 << self.options.index(word) for word in value or ())

    def draw(self, rng: Random, span: int) -> list[str]:
        """Return some of the options."""
        return rng.sample(self.options, rng.randint(1, len(self.options)))
