"""A fact file line by line: slow, exact about what is wrong and where."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.errors import Problem
from rtbot.core.source_span import SourceSpan
from rtbot.database.fact_codec import NOUNS, shorten_value
from rtbot.datalog.evaluation.term_values import encode_float
from rtbot.datalog.functors import DIGITS_MAX, LIMITS, parse_integer
from rtbot.datalog.program import FLOAT, SYMBOL, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.database.fact_codec import FactCodec
    from rtbot.database.fact_problems import FactProblems
    from rtbot.datalog.program import FactFile

_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
OTHER_DELIMITERS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": "a bar", " ": "a blank"}
EMPTY_ROW = "()"


class LineReader:
    """Reads the lines of one file; what is wrong goes to `problems`."""

    def __init__(self, path: str, file: FactFile, codec: FactCodec, problems: FactProblems) -> None:
        self.path, self.file, self.codec, self.problems = path, file, codec, problems
        self.places = file.columns or tuple(range(codec.width))
        self.wanted = max(self.places, default=-1) + 1
        self._line, self._number = "", 0

    def read(self, data: bytes) -> np.ndarray:
        """Return the rows as int64[n, width]; those that are wrong are left out."""
        rows = []
        for cells in self._split(data):
            row = self._read_row(cells)
            if row is not None:
                rows.append(row)
            if self.problems.is_full:
                break
        return np.array(rows, np.int64).reshape(len(rows), self.codec.width)

    def _split(self, data: bytes) -> Iterator[list[str]]:
        """Yield the cells of every line."""
        lines = self._list_lines(data)
        if self.file.rfc4180:
            yield from self._split_quoted(lines)
            return
        for line in lines:
            yield line.split(self.file.delimiter)

    def _list_lines(self, data: bytes) -> Iterator[str]:
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, raw in enumerate(lines, 1):
            self._number = number
            if number == 1 and self.file.headers:
                continue
            line = raw.removesuffix(b"\r")
            try:
                self._line = line.decode()
            except UnicodeDecodeError as error:
                self._line = line.decode(errors="replace")
                column = len(line[: error.start].decode(errors="replace")) + 1
                self._report("RT209", column, 1, "bytes that are not UTF-8 text",
                             "save the file as UTF-8")  # fmt: skip
                continue
            yield self._line

    def _split_quoted(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """Yield the cells of records in which cells may be in quotes."""
        try:
            reader = csv.reader(
                (f"{line}\n" for line in lines), delimiter=self.file.delimiter, strict=True
            )
            yield from reader
        except csv.Error as error:
            hint = 'a quote inside a cell is written twice: "a ""b"" c"'
            self._report("RT210", 1, len(self._line), f"a quote out of place: {error}", hint)

    def _read_row(self, cells: list[str]) -> list[int] | None:
        if not self.codec.width:
            if cells == [EMPTY_ROW]:
                return []
            message = f"{self.codec.name} has no columns: its only row is written ()"
            self._report("RT207", 1, len(self._line), message)
            return None
        is_short = len(cells) < self.wanted
        if is_short or (len(cells) > self.wanted and not self.file.columns):
            self._report_count(cells)
            return None
        row = [self._read_cell(place, cells) for place in range(self.codec.width)]
        return None if None in row else [code for code in row if code is not None]

    def _report_count(self, cells: Sequence[str]) -> None:
        wanted = f"{self.wanted} cell{'s' * (self.wanted != 1)}"
        message = f"{self.codec.name} needs {wanted}, this line has {len(cells)}"
        if not self._line.strip():
            message = f"an empty line, where {self.codec.name} needs {wanted}"
        column = 1
        if len(cells) > self.wanted:
            column = self._find_column(self.wanted, cells)
        self._report("RT207", column, len(self._line) - column + 1, message, self._hint(cells))

    def _hint(self, cells: Sequence[str]) -> str:
        """Return what divides the cells, if it is something else."""
        delimiter = self.file.delimiter
        own = OTHER_DELIMITERS.get(delimiter, repr(delimiter))
        if not self._line.strip():
            return "remove the line"
        for other, noun in OTHER_DELIMITERS.items():
            count = self._line.count(other) + 1
            if other != delimiter and len(cells) == 1 < self.wanted and count == self.wanted:
                written = '"\\t"' if other == "\t" else f'"{other}"'
                return (
                    f"cells are divided by {own}; if {noun} divides them here, write "
                    f".input {self.codec.name}(delimiter={written})"
                )
        columns = ", ".join(
            f"{n}:{t}" for n, t in zip(self.codec.columns, self.codec.types, strict=True)
        )
        return f"cells are divided by {own}: {columns}"

    def _read_cell(self, place: int, cells: Sequence[str]) -> int | None:
        cell, kind = cells[self.places[place]], self.codec.types[place]
        if kind == SYMBOL:
            return self.codec.texts.code(cell)
        text = cell.strip(" ")
        if kind == FLOAT and _FLOAT.fullmatch(text) and len(text) <= DIGITS_MAX:
            return encode_float(float(text))
        number = None if kind == FLOAT else parse_integer(text)
        if number is None:
            column = f"{self.codec.columns[place]} of {self.codec.name}"
            message = f"{shorten_value(cell)} is not {NOUNS[kind]}, which {column} is"
            self._report_cell("RT201" if cell.strip() else "RT211", place, cells, message)
            return None
        least, most = LIMITS[kind]
        if not least <= number <= most:
            below = kind == UNSIGNED and number < 0
            message = f"{shorten_value(cell)} is {'below 0' if below else 'beyond 64 bits'}"
            self._report_cell("RT201" if below else "RT213", place, cells, message)
            return None
        return number - 2**64 if number >= 2**63 else number

    def _report_cell(self, code: str, place: int, cells: Sequence[str], message: str) -> None:
        at = self.places[place]
        column = 1 if self.file.rfc4180 else self._find_column(at, cells)
        kind = self.codec.types[place]
        hint = f"declared as {self.codec.columns[place]}:{kind}"
        self._report(code, column, max(len(cells[at]), 1), message, hint)

    def _find_column(self, place: int, cells: Sequence[str]) -> int:
        """Return where a cell begins in its line, from 1."""
        return sum(len(cell) + len(self.file.delimiter) for cell in cells[:place]) + 1

    def _report(self, code: str, column: int, length: int, message: str, hint: str = "") -> None:
        mark = SourceSpan(self.path, self._number, column, max(length, 1))
        self.problems.add(Problem(code, mark, message, hint, source=self._line or " "))
