"""Text of a session as numbers and back: one code for every text that the session still needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.tables import TextColumn

NULL_TEXT = -1
ROOM = 1 << 16
"""So many new texts may come, or as many as there are, before unused ones are forgotten."""


class StringDictionary:
    """Text to int64 codes; codes never show outside. Null is -1.

    `values` are the texts by their codes, None where a code is free; free codes are reused.
    """

    def __init__(self, values: Sequence[str | None] = ()) -> None:
        self.restore(values)

    def restore(self, values: Sequence[str | None]) -> None:
        """Restore these texts in place of all others."""
        self.values = list(values)
        self.codes = {text: code for code, text in enumerate(self.values) if text is not None}
        self._free = [code for code, text in enumerate(self.values) if text is None]
        self._given = 0
        self._limit = 2 * len(self.codes) + ROOM
        self._clear_caches()

    def _clear_caches(self) -> None:
        """Clear what is derived from `values` for speed."""
        self._ranks = np.zeros(0, np.int64)
        self._objects = np.zeros(0, object)
        self._decoded = 0

    def code(self, text: str | None) -> int:
        """Return the code of one text."""
        if text is None:
            return NULL_TEXT
        found = self.codes.get(text)
        return self._add_text(text) if found is None else found

    def code_all(self, texts: Sequence[str | None]) -> np.ndarray:
        """Return the codes of texts; new ones get theirs together if none is there twice."""
        if self._given == len(self._free) and self.codes.keys().isdisjoint(texts):
            new = dict.fromkeys(text for text in texts if text is not None)
            if len(new) == len(texts):
                first = len(self.values)
                self.codes.update(zip(new, range(first, first + len(new)), strict=True))
                self.values += new
                return np.arange(first, len(self.values))
        return np.fromiter(map(self.code, texts), np.int64, len(texts))

    def _add_text(self, text: str) -> int:
        if self._given == len(self._free):
            code = len(self.values)
            self.values.append(text)
        else:
            code = self._free[self._given]
            self._given += 1
            self.values[code] = text
            self._ranks = self._ranks[:0]
            if code < self._decoded:
                self._objects[code] = text
        self.codes[text] = code
        return code

    def text(self, code: int) -> str | None:
        """Return the text of one code; None for one that has no text."""
        return self.values[code] if 0 <= code < len(self.values) else None

    def encode(self, column: TextColumn) -> np.ndarray:
        """Encode a column that comes with a dictionary of its own."""
        table = np.append(self.code_all(column.values), NULL_TEXT)
        codes: np.ndarray = table[column.codes]
        return codes

    def mark(self) -> tuple[int, int]:
        """Return what `roll_back` needs."""
        return len(self.values), self._given

    def roll_back(self, mark: tuple[int, int]) -> None:
        """Forget the texts that came after the mark."""
        length, given = mark
        if mark == self.mark():
            return
        again = self._free[given : self._given]
        for code in (*again, *range(length, len(self.values))):
            del self.codes[self.values[code]]
        for code in again:
            self.values[code] = None
        del self.values[length:]
        self._given = given
        self._clear_caches()

    def is_crowded(self) -> bool:
        """Return whether it is time to `keep` those that are needed."""
        return len(self.codes) > self._limit

    def keep(self, words: Iterable[np.ndarray]) -> None:
        """Forget the texts whose codes are not among these words (int64).

        There may be other numbers among them: a text may be kept needlessly, but is never lost.
        """
        if not self.values:
            return
        kept = np.zeros(len(self.values), bool)
        for part in words:
            kept[part[(part >= 0) & (part < len(kept))]] = True
        length = int(kept.nonzero()[0].max(initial=-1)) + 1
        pairs = zip(self.values[:length], kept[:length].tolist(), strict=True)
        self.restore([text if needed else None for text, needed in pairs])

    def save(self, words: Iterable[np.ndarray]) -> tuple[list[str | None], np.ndarray]:
        """Return the texts whose codes are among these words, and their codes, ascending."""
        found = np.zeros(len(self.values), np.bool_)
        for part in words:
            found[part[(part >= 0) & (part < len(found))]] = True
        codes = np.flatnonzero(found)
        return [self.values[code] for code in codes], codes

    def load(self, texts: Sequence[str | None], codes: np.ndarray) -> None:
        """Restore what `save` returned in place of all texts."""
        values: list[str | None] = [None] * (int(codes.max(initial=-1)) + 1)
        for code, text in zip(codes.tolist(), texts, strict=True):
            values[code] = text
        self.restore(values)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Decode texts to an object array; None for null."""
        if len(self._objects) <= len(self.values):
            self._objects = np.full(2 * len(self.values) + 1, None)
            self._decoded = 0
        self._objects[self._decoded : len(self.values)] = self.values[self._decoded :]
        self._decoded = len(self.values)
        texts: np.ndarray = self._objects[codes]
        return texts

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """Return numbers in the order of the texts (code points), null last."""
        if len(codes) * 8 < len(self.values):
            texts = [self.values[c] if c >= 0 else None for c in codes]
            places = {t: k for k, t in enumerate(sorted({t for t in texts if t is not None}))}
            return np.array([places.get(t, len(places)) for t in texts], np.int64)
        if len(self._ranks) != len(self.values) + 1:
            self._ranks = np.empty(len(self.values) + 1, np.int64)
            order = sorted(range(len(self.values)), key=lambda code: self.values[code] or "")
            self._ranks[order] = np.arange(len(self.values))
            self._ranks[-1] = len(self.values)
        ranks: np.ndarray = self._ranks[codes]
        return ranks
