"""The cells of a column, and what each of its different texts looks like."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from rtbot.look.cell_forms import (
    COMMA,
    NUMBER,
    POINT,
    TEXT,
    CellForm,
    describe_cell,
    is_absent,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

SAMPLE = 1000
"""So many different texts are examined to know if there are numbers; if there are, all are."""

SIMPLE_FORMS = {
    CellForm(NUMBER): r"^-?[0-9]+$",
    CellForm(NUMBER, POINT): r"^-?[0-9]+[.](?:[0-9]{0,2}|[0-9]{4,})$",
    CellForm(NUMBER, COMMA): r"^-?[0-9]+,(?:[0-9]{0,2}|[0-9]{4,})$",
    CellForm(NUMBER, unsure=POINT): r"^-?[1-9][0-9]{0,2}[.][0-9]{3}$",
    CellForm(NUMBER, unsure=COMMA): r"^-?[1-9][0-9]{0,2},[0-9]{3}$",
}
"""The forms that most numbers have, and how they look."""


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
    def forms(self) -> dict[CellForm, list[str]]:
        """The different texts by what they look like; of a sample if no number is among these."""
        found = _group_texts(self.sample)
        if len(self.counts) > len(self.sample) and any(form.kind == NUMBER for form in found):
            return _group_many(list(self.counts))
        return found

    @cached_property
    def absent(self) -> dict[str, int]:
        """The tokens that are known to mean an absent value, with their counts."""
        texts = self.forms.get(CellForm(TEXT), ())
        return {text: self.counts[text] for text in texts if is_absent(text)}

    def count_forms(self) -> Counter[CellForm]:
        """Count the forms of the cells that are not empty."""
        return Counter({form: self.count_cells(texts) for form, texts in self.forms.items()})

    def count_cells(self, texts: Collection[str]) -> int:
        """Count the cells with one of these texts, each given once."""
        if len(self.counts) + self.empty == len(self.cells):
            return len(texts)
        return sum(map(self.counts.__getitem__, texts))

    def read_numbers(self, decimal: str, thousands: str) -> dict[str, float]:
        """Return the texts that are numbers written with these signs."""
        found: dict[str, float] = {}
        for form, texts in self.forms.items():
            if form.kind == NUMBER and form in (CellForm(NUMBER), CellForm(NUMBER, POINT)):
                if form.decimal in ("", decimal):
                    found.update(zip(texts, map(float, texts), strict=True))
            elif form.kind == NUMBER:
                read = ((text, read_number(text, form, decimal, thousands)) for text in texts)
                found.update((text, value) for text, value in read if value is not None)
        return found

    def number_texts(self) -> dict[str, int]:
        """Return the texts, the empty one too, with a number for each."""
        return {text: number for number, text in enumerate(["", *self.counts])}


def _group_texts(texts: Iterable[str]) -> dict[CellForm, list[str]]:
    found: dict[CellForm, list[str]] = {}
    for text in texts:
        found.setdefault(describe_cell(text), []).append(text)
    return found


def _group_many(texts: list[str]) -> dict[CellForm, list[str]]:
    """Group texts of which many are simple numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[CellForm, list[str]] = {}
    left = pa.array(texts, pa.string())
    for form, pattern in SIMPLE_FORMS.items():
        fits = pc.match_substring_regex(left, pattern)
        found[form] = left.filter(fits).to_pylist()
        left = left.filter(pc.invert(fits))
    for form, more in _group_texts(left.to_pylist()).items():
        found.setdefault(form, []).extend(more)
    return {form: group for form, group in found.items() if group}
