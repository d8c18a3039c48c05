"""Text of a session as numbers: one code for every text that ever came, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.tables import Text

NULL_TEXT = -1


class Texts:
    """Text to int64 codes, in order of arrival; codes never show outside. Null is -1."""

    def __init__(self, values: Sequence[str] = ()) -> None:
        self.values = list(values)
        self.codes = {text: code for code, text in enumerate(self.values)}
        self._ranks = np.zeros(0, np.int64)
        self._objects = np.zeros(0, object)
        self._decoded = 0

    def code(self, text: str | None) -> int:
        """The code of one text."""
        if text is None:
            return NULL_TEXT
        found = self.codes.get(text)
        if found is None:
            found = self.codes[text] = len(self.values)
            self.values.append(text)
        return found

    def text(self, code: int) -> str | None:
        """The text of one code; None for one that stands for no text."""
        return self.values[code] if 0 <= code < len(self.values) else None

    def encode(self, column: Text) -> np.ndarray:
        """Codes of a column that comes with a dictionary of its own."""
        table = np.fromiter(
            (*map(self.code, column.values), NULL_TEXT), np.int64, len(column.values) + 1
        )
        codes: np.ndarray = table[column.codes]
        return codes

    def shrink(self, length: int) -> None:
        """Forget texts beyond the first `length`."""
        for text in self.values[length:]:
            del self.codes[text]
        del self.values[length:]
        self._objects = np.zeros(0, object)
        self._ranks = np.zeros(0, np.int64)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Texts as an object array; None for null."""
        if len(self._objects) <= len(self.values):
            self._objects = np.full(2 * len(self.values) + 1, None)
            self._decoded = 0
        self._objects[self._decoded : len(self.values)] = self.values[self._decoded :]
        self._decoded = len(self.values)
        texts: np.ndarray = self._objects[codes]
        return texts

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """Numbers in the order of the texts (code points), null last."""
        if len(codes) * 8 < len(self.values):
            texts = [self.values[c] if c >= 0 else None for c in codes]
            places = {t: k for k, t in enumerate(sorted({t for t in texts if t is not None}))}
            return np.array([places.get(t, len(places)) for t in texts], np.int64)
        if len(self._ranks) != len(self.values) + 1:
            self._ranks = np.empty(len(self.values) + 1, np.int64)
            order = sorted(range(len(self.values)), key=self.values.__getitem__)
            self._ranks[order] = np.arange(len(self.values))
            self._ranks[-1] = len(self.values)
        ranks: np.ndarray = self._ranks[codes]
        return ranks
