"""The order of texts for loops that see only their codes."""

from __future__ import annotations

from bisect import bisect_left
from operator import eq
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import distinct, grow_array
from rtbot.relations.kernels.ordered_search import UNLABELLED

if TYPE_CHECKING:
    from collections.abc import Collection

    from rtbot.tables.string_dictionary import StringDictionary

HIGHEST = 2**62
STEP = 2**32
FEW = 16
"""So many new texts, or a share of those there are, are put in one by one, if not over MANY."""

MANY = 1024
"""So many take longer one by one than all at once, however many there are: each moves a list."""


class TextOrder:
    """Labels of codes: they ascend as the texts do, by code point.

    `labels` is int64 by code, valid for the codes that were added and still have that text, and
    UNLABELLED for others. A new text gets a label between its neighbours'; where there is none,
    those around it get new ones, in the same order.
    """

    def __init__(self, texts: StringDictionary) -> None:
        self.texts = texts
        self.labels = np.full(1, UNLABELLED, np.int64)
        self._known: list[str | None] = []
        self._sorted: list[str] = []
        self._codes: list[int] = []

    def add(self, codes: np.ndarray) -> None:
        """Give labels to these codes; ValueError if one has no text."""
        found = codes.tolist() if len(codes) == 1 else distinct(codes).tolist()
        if not found:
            return
        self._reach(found[0], found[-1])
        values = self.texts.values
        new = [code for code in found if self._known[code] != values[code] or values[code] is None]
        if self._are_many(new):
            self._add_many(new)
        else:
            for code in new:
                self._add_one(code)

    def _are_many(self, codes: Collection[int]) -> bool:
        """Return whether these are taken at once."""
        return len(codes) > min(FEW + len(self._codes) // 8, MANY)

    def _reach(self, least: int, greatest: int) -> None:
        """Have places for all codes; ValueError if these are not among them."""
        count = len(self.texts.values)
        if least < 0 or greatest >= count:
            raise ValueError("a code without a text")
        if len(self._known) < count:
            self._known += [None] * (count - len(self._known))
            if len(self.labels) < count:
                self.labels = grow_array(self.labels, 2 * count, UNLABELLED)

    def forget_replaced(self, codes: np.ndarray) -> None:
        """Let those of these codes have no label that have got another text.

        ValueError if one has no text.
        """
        if not len(codes):
            return
        self._reach(int(codes.min()), int(codes.max()))
        values = self.texts.values
        if None in map(values.__getitem__, codes.tolist()):
            raise ValueError("a code without a text")
        labelled = codes[self.labels[codes] != UNLABELLED].tolist()
        self._forget({code for code in labelled if self._known[code] != values[code]})

    def _forget(self, codes: set[int]) -> None:
        """Take codes out of the order."""
        if self._are_many(codes):
            kept = [place for place, code in enumerate(self._codes) if code not in codes]
            self._sorted = [self._sorted[place] for place in kept]
            self._codes = [self._codes[place] for place in kept]
        else:
            for code in codes:
                text = self._known[code]
                assert text is not None
                place = bisect_left(self._sorted, text)
                del self._sorted[place], self._codes[place]
        for code in codes:
            self._drop(code)

    def _drop(self, code: int) -> None:
        self._known[code] = None
        self.labels[code] = UNLABELLED

    def _add_one(self, code: int) -> None:
        text = self._begin(code)
        place = bisect_left(self._sorted, text)
        if place < len(self._sorted) and self._sorted[place] == text:
            self.labels[code] = self.labels[self._codes[place]]
            self._drop(self._codes[place])
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
        if self._known[code] is not None:
            self._forget({code})
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
            self._spread(place)

    def _spread(self, place: int) -> None:
        """Give new labels to the texts around a place: the fewest that get gaps wide enough.

        The more they are, the wider: so a place where texts come all the time is seldom full.
        """
        codes, labels, size = self._codes, self.labels, FEW
        while True:
            begin, end = max(place - size, 0), min(place + size, len(codes))
            count = end - begin
            if count == len(codes):
                self._label_all()
                return
            below = (
                int(labels[codes[begin - 1]]) if begin else int(labels[codes[end]]) - count * STEP
            )
            above = int(labels[codes[end]]) if end < len(codes) else below + count * STEP
            gap = (above - below) // (count + 1)
            if gap > count and max(abs(below), abs(above)) <= HIGHEST:
                labels[codes[begin:end]] = below + gap * np.arange(1, count + 1)
                return
            size *= 2

    def _add_many(self, codes: list[int]) -> None:
        self._forget({code for code in codes if self._known[code] is not None})
        for code in codes:
            text = self._begin(code)
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
        if not any(map(eq, self._sorted, self._sorted[1:])):
            return
        kept: list[int] = []
        for place, text in enumerate(self._sorted):
            if kept and self._sorted[kept[-1]] == text:
                codes = self._codes[kept[-1]], self._codes[place]
                stays = codes[1] if self.texts.codes.get(text) == codes[1] else codes[0]
                self._drop(codes[0] if stays == codes[1] else codes[1])
                self._codes[kept[-1]] = stays
            else:
                kept.append(place)
        self._sorted = [self._sorted[place] for place in kept]
        self._codes = [self._codes[place] for place in kept]

    def _label_all(self) -> None:
        count = len(self._codes)
        step = max(HIGHEST // (count + 1), 1)
        self.labels[self._codes] = np.arange(1, count + 1) * min(step, STEP)

    def count_bytes(self) -> int:
        """Return the bytes of the labels and lists, without the texts."""
        return self.labels.nbytes + 8 * (len(self._known) + 2 * len(self._codes))
