"""The order of texts for loops that see only their codes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain
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
CHUNK = 512
"""So many texts has a chunk of the order at first; one of twice as many is divided."""


class TextOrder:
    """Labels of codes: they ascend as the texts do, by code point.

    `labels` is int64 by code, valid for the codes that were added and still have that text, and
    UNLABELLED for others. A new text gets a label between its neighbours'; where there is none,
    those of the chunks around it get new ones, in the same order (order maintenance: Dietz and
    Sleator, Two algorithms for maintaining order in a list, 1987).
    """

    def __init__(self, texts: StringDictionary) -> None:
        self.texts = texts
        self.labels = np.full(1, UNLABELLED, np.int64)
        self._known: list[str | None] = []
        self._firsts: list[str] = []
        self._texts: list[list[str]] = []
        self._codes: list[list[int]] = []
        """By chunk, none of which is empty: its first text, all its texts, and their codes."""
        self._count = 0

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
        """Return whether to put all in order again takes less time than one after the other."""
        return 2 * len(codes) > CHUNK + self._count

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
            kept = [code for code in chain.from_iterable(self._codes) if code not in codes]
            self._divide([self._known[code] or "" for code in kept], kept)
        else:
            for code in codes:
                self._take_out(self._known[code] or "")
        for code in codes:
            self._drop(code)

    def _take_out(self, text: str) -> None:
        at, place = self._find(text)
        texts = self._texts[at]
        del texts[place], self._codes[at][place]
        self._count -= 1
        if not texts:
            del self._firsts[at], self._texts[at], self._codes[at]
        elif place == 0:
            self._firsts[at] = texts[0]

    def _drop(self, code: int) -> None:
        self._known[code] = None
        self.labels[code] = UNLABELLED

    def _find(self, text: str) -> tuple[int, int]:
        """Return the chunk where a text is or belongs, and its place there."""
        at = max(bisect_right(self._firsts, text) - 1, 0)
        return at, bisect_left(self._texts[at], text) if self._texts else 0

    def _add_one(self, code: int) -> None:
        text = self._begin(code)
        at, place = self._find(text)
        if not self._texts:
            self._divide([text], [code])
            self._label_all()
        elif place < len(self._texts[at]) and self._texts[at][place] == text:
            codes = self._codes[at]
            self.labels[code] = self.labels[codes[place]]
            self._drop(codes[place])
            codes[place] = code
        else:
            self._insert(at, place, text, code)
        self._known[code] = text

    def _begin(self, code: int) -> str:
        """Forget the text that a code had before; return the one that it has."""
        text = self.texts.values[code]
        if text is None:
            raise ValueError("a code without a text")
        if self._known[code] is not None:
            self._forget({code})
        return text

    def _insert(self, at: int, place: int, text: str, code: int) -> None:
        """Put a text into a chunk, and divide that if it is too large."""
        texts, codes = self._texts[at], self._codes[at]
        texts.insert(place, text)
        codes.insert(place, code)
        self._count += 1
        if place == 0:
            self._firsts[at] = text
        self._label(at, place)
        if len(texts) > 2 * CHUNK:
            self._firsts.insert(at + 1, texts[CHUNK])
            self._texts.insert(at + 1, texts[CHUNK:])
            self._codes.insert(at + 1, codes[CHUNK:])
            del texts[CHUNK:], codes[CHUNK:]

    def _label(self, at: int, place: int) -> None:
        """Give a label to the text at this place of a chunk."""
        codes, labels = self._codes[at], self.labels
        below = codes[place - 1] if place else self._codes[at - 1][-1] if at else None
        above = codes[place + 1] if place + 1 < len(codes) else self._find_first(at + 1)
        low = None if below is None else int(labels[below])
        high = None if above is None else int(labels[above])
        if low is None:
            label = 0 if high is None else high - STEP
        else:
            label = low + STEP if high is None else (low + high) // 2
        labels[codes[place]] = label
        if label == low or abs(label) > HIGHEST:
            self._spread(at)

    def _find_first(self, at: int) -> int | None:
        """Return the first code of a chunk; None behind the last one."""
        return self._codes[at][0] if at < len(self._codes) else None

    def _spread(self, at: int) -> None:
        """Give new labels to the chunks around one: the fewest that get gaps wide enough.

        The more they are, the wider: so a place where texts come all the time is seldom full.
        """
        labels, size = self.labels, 0
        while True:
            begin, end = max(at - size, 0), min(at + size + 1, len(self._codes))
            codes = [*chain.from_iterable(self._codes[begin:end])]
            count, behind = len(codes), self._find_first(end)
            if count == self._count:
                self._label_all()
                return
            high = None if behind is None else int(labels[behind])
            if begin:
                low = int(labels[self._codes[begin - 1][-1]])
            else:
                assert high is not None
                low = high - count * STEP
            high = low + count * STEP if high is None else high
            gap = (high - low) // (count + 1)
            if gap > count and max(abs(low), abs(high)) <= HIGHEST:
                labels[codes] = low + gap * np.arange(1, count + 1)
                return
            size = 2 * size + 1

    def _add_many(self, codes: list[int]) -> None:
        self._forget({code for code in codes if self._known[code] is not None})
        texts = [*chain.from_iterable(self._texts)]
        all_codes = [*chain.from_iterable(self._codes)]
        for code in codes:
            text = self._begin(code)
            texts.append(text)
            all_codes.append(code)
            self._known[code] = text
        order = sorted(range(len(texts)), key=texts.__getitem__)
        self._divide([texts[place] for place in order], [all_codes[place] for place in order])
        self._label_all()

    def _divide(self, texts: list[str], codes: list[int]) -> None:
        """Let the chunks have these texts, which are in order; of equal ones one stays."""
        if any(map(eq, texts, texts[1:])):
            texts, codes = self._drop_doubles(texts, codes)
        starts = range(0, len(texts), CHUNK)
        self._texts = [texts[start : start + CHUNK] for start in starts]
        self._codes = [codes[start : start + CHUNK] for start in starts]
        self._firsts = [chunk[0] for chunk in self._texts]
        self._count = len(texts)

    def _drop_doubles(self, texts: list[str], codes: list[int]) -> tuple[list[str], list[int]]:
        """Of equal texts keep the code that has the text now: the others have lost it."""
        kept: list[int] = []
        for place, text in enumerate(texts):
            if kept and texts[kept[-1]] == text:
                pair = codes[kept[-1]], codes[place]
                stays = pair[1] if self.texts.codes.get(text) == pair[1] else pair[0]
                self._drop(pair[0] if stays == pair[1] else pair[1])
                codes[kept[-1]] = stays
            else:
                kept.append(place)
        return [texts[place] for place in kept], [codes[place] for place in kept]

    def _label_all(self) -> None:
        step = max(HIGHEST // (self._count + 1), 1)
        codes = [*chain.from_iterable(self._codes)]
        self.labels[codes] = np.arange(1, self._count + 1) * min(step, STEP)

    def count_bytes(self) -> int:
        """Return the bytes of the labels and lists, without the texts."""
        return self.labels.nbytes + 8 * (len(self._known) + 2 * self._count)
