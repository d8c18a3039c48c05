"""Lines as records of cells, and the sign that separates the cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.graph.csv_dialect import BLANK
from rtbot.look.cell_forms import BOOLEAN, CLOCK, EMPTY, NUMBER, TIME, describe_cell, is_absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DELIMITERS = (",", ";", "\t", "|", BLANK)
QUOTES = ('"', "'")
WORDS = re.compile(r'"(?:[^"]|"")*"|[^ \t]+')

TRIED_LINES = 240
"""Lines of the beginning by which the delimiter is chosen."""

MIXED = 0.5
"""If tabs fit better than this, blanks are within the cells."""

RATED_CELLS = 10_000
"""About so many cells tell how well a delimiter fits."""

RECORD_LINES = 200
"""A record of more lines than this has a quote that is not closed."""

COMMENTS = ("#", "//", "%", "!")
TYPED = (EMPTY, NUMBER, TIME, CLOCK, BOOLEAN)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text and its number in the file, from 1; 0 where that is not known."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of a record, and the line where it begins; `last` is the one where it ends."""

    line: int
    last: int
    cells: tuple[str, ...]


def split_records(lines: Sequence[TextLine], delimiter: str, quote: str) -> list[Record]:
    """Split lines into records, leaving out empty lines."""
    if delimiter == BLANK:
        return [
            Record(line.number, line.number, tuple(map(_unquote, WORDS.findall(line.text))))
            for line in lines
            if line.text.strip()
        ]
    reader = csv.reader((line.text + "\n" for line in lines), delimiter=delimiter, quotechar=quote)
    found: list[Record] = []
    start = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            cells = []
        if cells is None or reader.line_num - start > RECORD_LINES:
            return found
        if any(cells):
            place = lines[start].number, lines[reader.line_num - 1].number
            found.append(Record(*place, tuple(cells)))
        start = reader.line_num


def show_delimiter(delimiter: str) -> str:
    """Return what separates cells, in words."""
    return {"\t": "tabs", BLANK: "blanks"}.get(delimiter, repr(delimiter))


def find_comment_sign(lines: Sequence[TextLine]) -> str:
    """Return what begins lines of comments, or "" if there are none."""
    begins = Counter(line.text[:1] for line in lines)
    for sign in COMMENTS:
        count = begins[sign[0]]
        if count and len(sign) > 1:
            count = sum(line.text.startswith(sign) for line in lines)
        if 0 < count < len(lines) - begins[""]:
            return sign
    return ""


def choose_delimiter(lines: Sequence[TextLine]) -> tuple[str, str, float]:
    """Return the delimiter, the quote, and how well they fit from 0 to 1.

    A delimiter fits if most records have the same number of cells, and cells are numbers, times or
    words without other delimiters in them.
    """
    tried = lines[:TRIED_LINES]
    scores = []
    for quote in _list_quotes(tried):
        for rank, delimiter in enumerate(DELIMITERS):
            records = split_records(tried, delimiter, quote)
            scores.append((rate_records(records, delimiter), -rank, delimiter, quote))
    score, _, delimiter, quote = max(scores)
    tabs = max((one for one in scores if one[2] == "\t"), default=None)
    if delimiter == BLANK and tabs is not None and tabs[0] > MIXED:
        score, _, delimiter, quote = tabs
    return (delimiter, quote, score) if score else (",", '"', 0.0)


def find_width(records: Sequence[Record]) -> int:
    """Return how many cells most of the records have; those at the beginning count less.

    Of two that are as frequent it is the one that more of all records have.
    """
    tail = records[len(records) // 3 :] or records
    counts = Counter(len(record.cells) for record in tail)
    every = Counter(len(record.cells) for record in records)
    return max(counts, key=lambda width: (counts[width], every[width]), default=0)


def _list_quotes(lines: Iterable[TextLine]) -> list[str]:
    """Return the quotes to try: the apostrophe only where cells begin and end with it."""
    text = "\n".join(line.text for line in lines)
    if '"' not in text and len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\n]|$)", text)) > 1:
        return ["'"]
    return ['"']


def rate_records(records: Sequence[Record], delimiter: str) -> float:
    """Return how much records look like cells that this delimiter separates, from 0 to 1."""
    width = find_width(records)
    tail = records[len(records) // 3 :] or records
    fitting = [record for record in tail if len(record.cells) == width]
    if width < 2 or not fitting:
        return 0.0
    share = len(fitting) / len(tail)
    others = [sign for sign in DELIMITERS if sign not in (delimiter, BLANK)]
    fitting = fitting[:: len(fitting) * width // RATED_CELLS + 1]
    rates = [_rate_cell(cell, others) for record in fitting for cell in record.cells]
    return share * sum(rates) / len(rates)


def _rate_cell(cell: str, others: Sequence[str]) -> float:
    kind = describe_cell(cell).kind
    if kind in TYPED or is_absent(cell):
        return 1.0
    return 0.1 if any(sign in cell for sign in others) else 0.6


def _unquote(word: str) -> str:
    if len(word) > 1 and word.startswith('"') and word.endswith('"'):
        return word[1:-1].replace('""', '"')
    return word
