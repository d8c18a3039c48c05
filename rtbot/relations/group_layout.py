"""What is kept of a group: where its weight, the states of its aggregates and its row are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.numeric.exact.weighted import BLOCK_MOMENTS, BLOCK_SUM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression import Expression
    from rtbot.operator.schema import Schema

WEIGHT, FLAGS, HEAD = 0, 1, 2
"""Words of every record: the summed weight, or the next free record; the flags; how many these are.
"""
EMITTED, TOUCHED, USED, STALE = 1, 2, 4, 8
"""Flags: the row has been emitted; the transaction has changed the group; the record is a group;
the transaction may have changed its least or greatest values."""

TREES = ("tree", "counted")
WORDS = {"present": 1, "true": 1, "integers": 2, "numbers": 3, "moments": 7} | dict.fromkeys(
    TREES, 2
)
"""Words of the states of aggregates, by their names."""
BLOCK_AT = {"numbers": 2, "moments": 6}
"""Where in a state the number of its block is."""

MEANS = ("avg",)
SPREADS = {
    "stddev": (1, True),
    "stddev_pop": (0, True),
    "variance": (1, False),
    "variance_pop": (0, False),
}
"""How many values less one divides by, and whether it is the root, by function."""
EXTREMES = {"min": "LESSER", "max": "GREATER"}
BOOLEANS = ("bool_and", "bool_or")
QUANTILE = "quantile"
FUNCTIONS = ("count", "sum", *MEANS, *EXTREMES, *SPREADS, *BOOLEANS, QUANTILE)


class Computation(NamedTuple):
    """A field that is computed: the function, the field it is of (count: None), `distinct`.

    A quantile has its `share` of the values, from 0 to 1.
    """

    function: str
    place: int | None
    distinct: bool
    share: float = 0.5


class StateKey(NamedTuple):
    """A state that aggregates share: its name, the field it is of, and whether it is `distinct`."""

    name: str
    place: int
    distinct: bool = False


def make_computation(
    function: str, place: int | None, distinct: bool, share: Expression | None
) -> Computation:
    """Return the computation of an aggregate; `share` is the second argument of a quantile."""
    if function not in ("median", QUANTILE):
        return Computation(function, place, distinct)
    return Computation(QUANTILE, place, distinct, 0.5 if share is None else share.value)


@dataclass
class GroupLayout:
    """The record of a group: weight, flags, states, and the row that is emitted for it.

    `source` and `target` are the schemas of the rows that come and go; the first fields of the
    target are those of `by`. `places` has the first word of every state.
    """

    source: Schema
    target: Schema
    by: tuple[int, ...]
    compute: tuple[Computation, ...]
    places: dict[StateKey, int] = field(default_factory=dict)
    row: int = HEAD

    def __post_init__(self) -> None:
        for computation in self.compute:
            for key in self.list_states(computation):
                if key not in self.places:
                    self.places[key] = self.row
                    self.row += WORDS[key.name]

    @property
    def width(self) -> int:
        """Words of a record."""
        return self.row + self.target.width

    @property
    def block(self) -> int:
        """Words of a block of digits; 0 if none is needed."""
        names = {key.name for key in self.places}
        return BLOCK_MOMENTS if "moments" in names else BLOCK_SUM if "numbers" in names else 0

    def kind(self, place: int) -> str:
        """Return the kind of a field of the rows that come."""
        return self.source.fields[place].type.kind

    def is_nullable(self, place: int) -> bool:
        """Return whether a field of the rows that come may be null."""
        return self.source.fields[place].type.nullable

    def list_states(self, computation: Computation) -> list[StateKey]:
        """Return the states that a computation needs, a tree before what follows from it."""
        function, place, distinct, _ = computation
        if place is None:
            return []
        found = [StateKey("present", place)] if self.is_nullable(place) else []
        distinct &= function not in {*EXTREMES, *BOOLEANS}
        if distinct or function in EXTREMES:
            found.append(StateKey("tree", place))
        if function == "sum" or function in MEANS:
            name = "integers" if self.kind(place) == "integer" else "numbers"
            found.append(StateKey(name, place, distinct))
        elif function in SPREADS:
            found.append(StateKey("moments", place, distinct))
        elif function in BOOLEANS:
            found.append(StateKey("true", place))
        elif function == QUANTILE:
            found.append(StateKey("counted", place, distinct))
        return found

    def list_blocks(self) -> list[int]:
        """Return the words of a record that have the number of a block."""
        return [at + BLOCK_AT[key.name] for key, at in self.places.items() if key.name in BLOCK_AT]

    def list_trees(self, *, text: bool) -> list[int]:
        """Return the words of a record that have the root of a tree, of texts or of others."""
        return [
            at
            for key, at in self.places.items()
            if key.name in TREES and (self.kind(key.place) == "text") == text
        ]

    def list_counted_trees(self) -> list[int]:
        """Return the words of a record that have the root of a tree that selects values."""
        return [at for key, at in self.places.items() if key.name == "counted"]

    def list_text_words(self) -> list[int]:
        """Return the words of a record that have the code of a text."""
        fields = enumerate(self.target.fields)
        return [self.row + place for place, found in fields if found.type.kind == "text"]

    @property
    def weight_limit(self) -> int:
        """How many rows a group may have: an exact division takes fewer than a sum does."""
        divides = {one.function for one in self.compute} & {*MEANS, *SPREADS}
        return 2**38 if divides else 2**53


def make_layout(setting: Mapping[str, Any], source: Schema, target: Schema) -> GroupLayout:
    """Return the layout of a grouped operator; `setting` has `by` and `compute`."""
    compute = tuple(Computation(*computation) for computation in setting["compute"])
    return GroupLayout(source, target, tuple(setting["by"]), compute)
