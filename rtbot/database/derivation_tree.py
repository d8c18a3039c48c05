"""Why a row is there: its derivation from facts, as text and as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.database.fact_text import format_fact, format_value
from rtbot.datalog.program import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np

    from rtbot.database.fact_codec import FactCodec, Row
    from rtbot.datalog.evaluation.derivations import BodyPart
    from rtbot.datalog.evaluation.engine import Evaluation
    from rtbot.datalog.program import Rule, Value

STEPS_MAX = 10_000
"""Rows that are derived in one answer; those beyond are named, and not derived."""

INDENT, LEVELS_MAX = 2, 40


@dataclass
class DerivationStep:
    """A row, and the rule that gives it; without a rule it is a fact, or `cut` is set.

    `values` are those of the variables of the rule, `parts` what the literals of its body are, and
    `steps` the steps of those parts that are rows.
    """

    relation: str
    row: Row
    rule: Rule | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
    parts: tuple[BodyPart, ...] = ()
    steps: list[DerivationStep] = field(default_factory=list)
    cut: bool = False

    @property
    def text(self) -> str:
        """The row, and why it is there, in a line."""
        fact = format_fact(self.relation, self.row)
        if self.rule is None:
            return f"{fact}  {'...' if self.cut else 'fact'}"
        span = self.rule.span
        rule = " ".join(self.rule.text.split())
        return f"{fact}  by {rule}  ({span.file}:{span.line})"


class DerivationTree:
    """A derivation of a row from facts: `steps`, that of the row first, each row once.

    `str` shows it as a tree, in which a row that comes again is not derived again.
    """

    def __init__(self, steps: list[DerivationStep]) -> None:
        self.steps = steps

    def __repr__(self) -> str:
        root = self.steps[0]
        return f"<DerivationTree: {format_fact(root.relation, root.row)}, {len(self.steps)} steps>"

    def __str__(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        shown: set[int] = set()
        waiting: list[tuple[int, DerivationStep | str]] = [(0, self.steps[0])]
        while waiting:
            level, step = waiting.pop()
            indent = " " * (INDENT * min(level, LEVELS_MAX))
            if isinstance(step, str):
                yield indent + step
                continue
            if id(step) in shown and step.rule is not None:
                yield f"{indent}{format_fact(step.relation, step.row)}  as above"
                continue
            shown.add(id(step))
            yield indent + step.text
            below = [(level + 1, part) for part in _list_below(step)]
            waiting += reversed(below)

    def to_json(self) -> dict[str, Any]:
        """Return it as data that JSON can hold: `steps`, which refer to each other by number."""
        numbers = {id(step): number for number, step in enumerate(self.steps)}
        root = self.steps[0]
        return {
            "relation": root.relation,
            "row": _list_values(root.row),
            "steps": [_describe_step(step, numbers) for step in self.steps],
        }


def _list_below(step: DerivationStep) -> Iterator[DerivationStep | str]:
    """Yield what the literals of a rule are: steps, and lines for those that are no rows."""
    steps = iter(step.steps)
    for part in step.parts:
        yield next(steps) if is_row(part) else _format_part(part)


def is_row(part: BodyPart) -> bool:
    """Return whether a part of a derivation is a row of a relation of the program."""
    return part.kind == "row" and HIDDEN not in part.relation


def _format_part(part: BodyPart) -> str:
    values = ["_" if value is None else format_value(value) for value in part.values]
    if part.kind == "aggregate":
        group = f" for {', '.join(values[:-1])}" if len(values) > 1 else ""
        return f"{part.relation} is {values[-1]}{group}"
    if part.kind == "absent":
        return f"no {part.relation}({', '.join(values)})"
    return f"in the range: {', '.join(values)}"


def _describe_step(step: DerivationStep, numbers: Mapping[int, int]) -> dict[str, Any]:
    found: dict[str, Any] = {"relation": step.relation, "row": _list_values(step.row)}
    if step.rule is None:
        return {**found, "cut": True} if step.cut else {**found, "fact": True}
    span = step.rule.span
    steps = iter(step.steps)
    return {
        **found,
        "rule": " ".join(step.rule.text.split()),
        "file": span.file,
        "line": span.line,
        "values": dict(zip(step.values, _list_values(step.values.values()), strict=True)),
        "from": [
            {
                "kind": part.kind,
                "relation": part.relation,
                "row": _list_values(part.values),
                **({"step": numbers[id(next(steps))]} if is_row(part) else {}),
            }
            for part in step.parts
        ],
    }


def derive_row(
    evaluation: Evaluation, codecs: Mapping[str, FactCodec], relation: str, words: np.ndarray
) -> DerivationTree | None:
    """Return the derivation of a row of codes; None if the row is not there."""
    first = evaluation.derive(relation, words)
    if first is None:
        return None
    root = DerivationStep(relation, first.values)
    steps = {(relation, words.tobytes()): root}
    waiting = [(root, words)]
    while waiting:
        step, words = waiting.pop()
        found = evaluation.derive(step.relation, words)
        assert found is not None, "a row of a derivation is there"
        step.rule, step.values, step.parts = found.rule, found.bindings, found.body
        for part in filter(is_row, found.body):
            row: Any = part.values
            words = codecs[part.relation].encode([row])[0]
            key = part.relation, words.tobytes()
            if key not in steps:
                cut = len(steps) >= STEPS_MAX
                steps[key] = DerivationStep(part.relation, row, cut=cut)
                waiting += [] if cut else [(steps[key], words)]
            step.steps.append(steps[key])
    return DerivationTree([*steps.values()])


def _list_values(values: Iterable[Value | None]) -> list[Value | None]:
    """Return values as JSON can hold them: floats that are not finite as text."""
    return [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in values]
