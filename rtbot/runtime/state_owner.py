"""The protocol of every part of a session that has state, and the state of the operators.

A session has its owners by name (`Session.list_owners`). A dump is what they save, so that a new
kind of state is one more owner and nothing else changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rtbot.core.arrays import allocate_aligned
from rtbot.core.errors import CheckpointError
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.compiler.layout import StateLayout
    from rtbot.compiler.plan import Plan

    Arrays = dict[str, np.ndarray]
    Saved = tuple[dict[str, Any], Arrays]


OTHER_STATE = "use the version of rtbot that wrote it, or start again"
WORDS = {"number": np.float64, "integer": np.int64, "boolean": np.int64, "text": np.int64}
"""Types of the words of state, by kind."""


class StateOwner(Protocol):
    """A part of a session whose state has a row per key, by slot."""

    def grow(self, capacity: int) -> None:
        """Make room for so many keys; those beyond are as new, or unused if there are fewer."""

    def clear(self, slot: int) -> None:
        """Make the slot as new."""

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the state of these slots, among other numbers."""

    def save(self, slots: np.ndarray) -> Saved:
        """Return what is alive in these slots, numbered in this order: values and arrays.

        The values are what JSON can hold. Nothing changes in the owner.
        """

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned, new and with room; raise ValueError if it does not fit."""


class OperatorState:
    """The state of all operators: a header with parameters and counters, then a row per key.

    `words` is 8-byte words, as float64; a dump names counters and the fields of rows.
    """

    def __init__(self, plan: Plan) -> None:
        self.layout = plan.layout
        self.counters = plan.counters
        self.text_words = plan.text_words
        self.template = plan.layout.make_template()
        self.width, self.length = plan.layout.width, plan.layout.length
        self.words = allocate_aligned(self.length + self.width)
        self.words[: self.length] = plan.layout.make_header()
        self.words[self.length :] = self.template

    @property
    def header(self) -> np.ndarray:
        """The header as int64, a view."""
        return self.words[: self.length].view(np.int64)

    @property
    def rows(self) -> np.ndarray:
        """The rows of all keys as float64, a view."""
        return self.words[self.length :].reshape(-1, self.width)

    def grow(self, capacity: int) -> None:
        """Make room for so many keys."""
        words = allocate_aligned(self.length + capacity * self.width)
        kept = min(len(words), len(self.words))
        words[:kept] = self.words[:kept]
        words[kept:].reshape(-1, self.width)[:] = self.template
        self.words = words

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        self.rows[slot] = self.template

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:
        """Yield the words of these rows that may be codes of texts."""
        rows = self.rows.view(np.int64)
        for offset in self.text_words:
            yield rows[slots, offset]

    def save(self, slots: np.ndarray) -> Saved:
        """Return the counters and, for every field, its words of these slots, key after key."""
        counters = {name: int(self.header[index]) for name, index in self.counters.items()}
        values = {"counters": counters, "fields": describe_fields(self.layout)}
        return values, split_rows(self.layout, self.rows[slots])

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore counters and fields; CheckpointError if the operators have other ones now."""
        given = {"state": values["fields"], "counters": dict.fromkeys(values["counters"])}
        wanted = {"state": describe_fields(self.layout), "counters": dict.fromkeys(self.counters)}
        difference = describe_differences(given, wanted)
        if difference:
            message = f"the operators have other state now: {difference}"
            raise CheckpointError(message, code="RT312", hint=OTHER_STATE)
        for name, index in self.counters.items():
            self.header[index] = values["counters"][name]
        for name, field in self.layout.fields.items():
            array = arrays[name]
            slots = check_words(name, array, np.dtype(WORDS[field.kind]), field.size)
            part = array.view(np.float64).reshape(slots, field.size)
            self.rows[:slots, field.offset : field.offset + field.size] = part


def describe_fields(layout: StateLayout) -> dict[str, str]:
    """Return how many words of which kind every field has."""
    return {name: f"{field.size} {field.kind}" for name, field in layout.fields.items()}


def split_rows(layout: StateLayout, rows: np.ndarray) -> Arrays:
    """Return the fields of rows of state by name, of every row one after the other."""
    found = {}
    for name, field in layout.fields.items():
        part = rows[:, field.offset : field.offset + field.size].ravel()
        found[name] = part.view(WORDS[field.kind])
    return found


def check_words(name: str, given: np.ndarray, dtype: np.dtype[Any], width: int = 1) -> int:
    """Return how many rows of `width` words an array has; ValueError if it is of another kind."""
    if given.dtype != dtype or len(given) % max(width, 1):
        raise ValueError(f"{name}: {len(given)} words of {given.dtype}, not {dtype} by {width}")
    return len(given) // max(width, 1)


def restore_rows(name: str, own: np.ndarray, given: np.ndarray, width: int = 1) -> None:
    """Copy rows of `width` words to the beginning of an array that has room for them."""
    rows = check_words(name, given, own.dtype, width)
    own[: rows * width] = given


def check_places(places: np.ndarray, size: int) -> None:
    """Raise ValueError if one of the places is not below `size`; -1 is none."""
    if places.max(initial=-1) >= max(size, 1):
        raise ValueError(f"a place beyond {size}")
