"""The order of texts for loops that see only their codes."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import distinct, grow_array

if TYPE_CHECKING:
    from rtbot.tables.string_dictionary import StringDictionary

HIGHEST = 2**62
STEP = 2**32
FEW = 16
"""So many new texts, or a share of those there are, are put in one by one."""


class TextOrder:
    """Labels of codes: they ascend as the texts do, by code point.

    `labels` is int64 by code, valid for the codes that were added and still have that text. A new
    text gets a label between its neighbours'; where there is none, all get new ones, in the same
    order.
    """

    def __init__(self, texts: StringDictionary) -> None:
        self.texts = texts
        self.labels = np.zeros(1, np.int64)
        self._known: list[str | None] = []
        self._sorted: list[str] = []
        self._codes: list[int] = []

    def add(self, codes: np.ndarray) -> None:
        """Give labels to these codes; ValueError if one has no text."""
        values = self.texts.values
        found = codes.tolist() if len(codes) == 1 else distinct(codes).tolist()
        if not found:
            return
        if found[0] < 0 or found[-1] >= len(values):
            raise ValueError("a code without a text")
        if len(self._known) < len(values):
            self._known += [None] * (len(values) - len(self._known))
            if len(self.labels) < len(values):
                self.labels = grow_array(self.labels, 2 * len(values), 0)
        new = [code for code in found if self._known[code] != values[code] or values[code] is None]
        if len(new) > FEW + len(self._sorted) // 8:
            self._add_many(new)
        else:
            for code in new:
                self._add_one(code)

    def _add_one(self, code: int) -> None:
        text = self._begin(code)
        place = bisect_left(self._sorted, text)
        if place < len(self._sorted) and self._sorted[place] == text:
            self._known[self._codes[place]] = None
            self.labels[code] = self.labels[self._codes[place]]
            self._codes[place] = code
        else:
            self._sorted.insert(place, text)
            self._codes.insert(place, code)
            self._label(place)
        self._known[code] = text

    def _begin(self, code: int) -> str:
        """Forget the text that a code had before; return the one that it has."""
        text = self.texts.values[code]
        if text is None:
            raise ValueError("a code without a text")
        before = self._known[code]
        if before is not None:
            place = bisect_left(self._sorted, before)
            del self._sorted[place], self._codes[place]
            self._known[code] = None
        return text

    def _label(self, place: int) -> None:
        """Give a label to the text at this place of the order."""
        codes, labels = self._codes, self.labels
        below = int(labels[codes[place - 1]]) if place else None
        above = int(labels[codes[place + 1]]) if place + 1 < len(codes) else None
        if below is None:
            label = 0 if above is None else above - STEP
        else:
            label = below + STEP if above is None else (below + above) // 2
        labels[codes[place]] = label
        if label == below or abs(label) > HIGHEST:
            self._label_all()

    def _add_many(self, codes: list[int]) -> None:
        for code in codes:
            self._begin(code)
        for code in codes:
            text = self.texts.values[code]
            assert text is not None
            self._sorted.append(text)
            self._codes.append(code)
            self._known[code] = text
        order = sorted(range(len(self._sorted)), key=self._sorted.__getitem__)
        self._sorted = [self._sorted[place] for place in order]
        self._codes = [self._codes[place] for place in order]
        self._drop_doubles()
        self._label_all()

    def _drop_doubles(self) -> None:
        """Of equal texts keep the code that has the text now: the others have lost it."""
        kept: list[int] = []
        for place, text in enumerate(self._sorted):
            if kept and self._sorted[kept[-1]] == text:
                codes = self._codes[kept[-1]], self._codes[place]
                stays = codes[1] if self.texts.codes.get(text) == codes[1] else codes[0]
                self._known[codes[0] if stays == codes[1] else codes[1]] = None
                self._codes[kept[-1]] = stays
            else:
                kept.append(place)
        if len(kept) < len(self._sorted):
            self._sorted = [self._sorted[place] for place in kept]
            self._codes = [self._codes[place] for place in kept]

    def _label_all(self) -> None:
        count = len(self._codes)
        step = max(HIGHEST // (count + 1), 1)
        self.labels[self._codes] = np.arange(1, count + 1) * min(step, STEP)

    def count_bytes(self) -> int:
        """Return the bytes of the labels and lists, without the texts."""
        return self.labels.nbytes + 8 * (len(self._known) + 2 * len(self._codes))
