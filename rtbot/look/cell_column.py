"""The cells of a column, and what each of its different texts looks like."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from rtbot.look.cell_forms import NUMBER, TEXT, CellForm, describe_cell, is_absent, read_number

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLE = 1000
"""So many different texts are examined to know if there are numbers; if there are, all are."""


class CellColumn:
    """Cells without the blanks around them, in the order of the file.

    `counts` says how often each text is there, in the order in which they come first, other than
    the empty one, of which there are `empty`.
    """

    def __init__(self, cells: Iterable[str]) -> None:
        self.cells = [*map(str.strip, cells)]
        self.counts = Counter(self.cells)
        self.empty = self.counts.pop("", 0)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def example(self) -> str:
        """The first cell that is not empty."""
        return next(iter(self.counts), "")

    @property
    def sample(self) -> list[str]:
        """A number of the different texts, from all parts of the file."""
        texts = list(self.counts)
        return texts[:: len(texts) // SAMPLE + 1]

    @cached_property
    def forms(self) -> dict[str, CellForm]:
        """What the different texts look like; a sample of them if no number is among these."""
        found = {text: describe_cell(text) for text in self.sample}
        if any(form.kind == NUMBER for form in found.values()):
            return {text: describe_cell(text) for text in self.counts}
        return found

    @cached_property
    def absent(self) -> dict[str, int]:
        """The tokens that are known to mean an absent value, with their counts."""
        texts = [text for text, form in self.forms.items() if form.kind == TEXT]
        return {text: self.counts[text] for text in texts if is_absent(text)}

    def count_forms(self) -> Counter[CellForm]:
        """Count the forms of the cells that are not empty."""
        found: Counter[CellForm] = Counter()
        for text, form in self.forms.items():
            found[form] += self.counts[text]
        return found

    def read_numbers(self, decimal: str, thousands: str) -> dict[str, float]:
        """Return the texts that are numbers written with these signs."""
        read = {text: read_number(text, f, decimal, thousands) for text, f in self.forms.items()}
        return {text: value for text, value in read.items() if value is not None}

    def number_texts(self) -> dict[str, int]:
        """Return the texts, the empty one too, with a number for each."""
        return {text: number for number, text in enumerate(["", *self.counts])}
