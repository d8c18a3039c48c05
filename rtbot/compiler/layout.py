"""The layout of all state of a plan: one header, then one 64-byte-aligned row per key.

Both are 8-byte words of one buffer that is seen as float64 (`F`) and as int64 (`I`). The header
holds what may differ between two runs of one generated text (parameters, sizes, offsets) and the
counters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rtbot.compiler.span_layout import SPAN_WORDS

if TYPE_CHECKING:
    from collections.abc import Container

    import numpy as np

    from rtbot.compiler.calls import SpaceLayout

LINE = 8
"""Words in a cache line."""


@dataclass(frozen=True)
class StateField:
    """Words of each key's row that have one name: where they begin, how many, of which kind."""

    offset: int
    size: int
    kind: str


@dataclass
class StateAllocation:
    """Words of each key's row that belong together, and the ids of the nodes that use them.

    `window` is what a ring holds: the ref of its rows, "value" or "time", and how many or how long.
    `spans` are the words of an entry of each list.
    """

    users: list[str]
    window: tuple[str, str, int] | None = None
    words: int = 0
    spans: list[int] = field(default_factory=list)


class StateLayout:
    """Allocates places; `finish` fixes those of arrays and lists, which depend on parameters."""

    def __init__(self) -> None:
        self.header: list[tuple[str, float | int]] = [("integer", 0), ("integer", 0)]
        self.counters: list[int] = []
        self.scalars: list[tuple[str, float | int]] = []
        self.arrays: list[tuple[str, int, float | int]] = []
        self.lists: list[tuple[int, tuple[float, ...]]] = []
        self.scratches: dict[int, int] = {}
        self.shares: list[StateAllocation] = []
        self.fields: dict[str, StateField] = {}
        self.spans: dict[str, dict[str, str]] = {}
        self.spans_width = -1
        self.spaces: list[SpaceLayout] = []

    def put(self, kind: str, value: float) -> int:
        """Reserve a word of the header with this value; return its index."""
        self.header.append((kind, value))
        return len(self.header) - 1

    def put_list(self, numbers: tuple[float, ...]) -> int:
        """Reserve words of the header for a list; return the index of the word of their place."""
        self.lists.append((self.put("integer", 0), numbers))
        return self.lists[-1][0]

    def add_counter(self) -> int:
        """Reserve a counter in the header; return its index."""
        self.counters.append(self.put("integer", 0))
        return self.counters[-1]

    def allocate_scratch(self, size: int) -> int:
        """Return the first of `size` header words that any call may use, the same ones for all."""
        if size not in self.scratches:
            self.scratches[size] = len(self.header)
            self.header += [("integer", 0)] * size
        return self.scratches[size]

    def allocate(self, user: str, window: tuple[str, str, int] | None = None) -> StateAllocation:
        """Return a new allocation, to be passed with what belongs to it."""
        self.shares.append(StateAllocation([user], window))
        return self.shares[-1]

    def add_scalar(self, share: StateAllocation, name: str, kind: str, start: float) -> int:
        """Reserve a word of each key's row, `name` (operator.item) in dumps; return its offset."""
        share.words += 1
        self._add_field(name, StateField(len(self.scalars), 1, kind))
        self.scalars.append((kind, start))
        return len(self.scalars) - 1

    def add_array(
        self, share: StateAllocation, name: str, field: tuple[str, int], start: float = 0
    ) -> int:
        """Reserve (kind, count) words of each key's row; return the header word of their offset."""
        kind, size = field
        share.words += size
        place = self.put("integer", 0)
        self._add_field(name, StateField(-1, size, kind))
        self.arrays.append((name, place, start))
        return place

    def add_span(self, share: StateAllocation, name: str, kinds: dict[str, str]) -> int:
        """Reserve a list per key whose entries have fields of these kinds; return its index."""
        assert name not in self.spans, f"two lists are named {name}"
        if not self.spans:
            self.spans_width = self.put("integer", 0)
        share.spans.append(len(kinds))
        self.spans[name] = kinds
        return len(self.spans) - 1

    def add_space(self, space: SpaceLayout) -> int:
        """Reserve state of keys inside every key; return its index."""
        self.spaces.append(space)
        return len(self.spaces) - 1

    def _add_field(self, name: str, field: StateField) -> None:
        assert name not in self.fields, f"two items of state are named {name}"
        self.fields[name] = field

    def finish(self) -> None:
        """Fix the sizes. After this nothing is allocated any more."""
        offset = len(self.scalars)
        self.template_parts: list[tuple[int, int, str, float | int]] = []
        for name, place, start in self.arrays:
            self.header[place] = ("integer", offset)
            field = self.fields[name] = replace(self.fields[name], offset=offset)
            self.template_parts.append((offset, field.size, field.kind, start))
            offset += field.size
        if self.spans:
            self.header[self.spans_width] = ("integer", len(self.spans) * SPAN_WORDS)
        for place, numbers in self.lists:
            self.header[place] = ("integer", len(self.header))
            self.header += [("number", number) for number in numbers]
        self.width = -(-max(offset, 1) // LINE) * LINE
        self.length = -(-len(self.header) // LINE) * LINE
        self.header[0] = ("integer", self.length)
        self.header[1] = ("integer", self.width)

    def words_of(self, kinds: Container[str]) -> list[int]:
        """Return offsets, in a key's row, of the words of these kinds."""
        found = [offset for offset, (kind, _) in enumerate(self.scalars) if kind in kinds]
        for offset, size, kind, _ in self.template_parts:
            found += range(offset, offset + size) if kind in kinds else ()
        return found

    def make_header(self) -> np.ndarray[Any, Any]:
        """Return the header of a new session, float64 words."""
        return _pack_words(self.header, self.length)

    def make_template(self) -> np.ndarray[Any, Any]:
        """Return the row of a new key, float64 words."""
        row = _pack_words(self.scalars, self.width)
        for offset, size, kind, start in self.template_parts:
            part = row[offset : offset + size]
            (part if kind == "number" else part.view("int64"))[:] = start
        return row


def _pack_words(items: list[tuple[str, float | int]], length: int) -> np.ndarray[Any, Any]:
    import numpy as np

    words = np.zeros(length)
    for index, (kind, value) in enumerate(items):
        (words if kind == "number" else words.view("int64"))[index] = value
    return words
