"""Times, values and rows as a graph file writes them, so that they read back bit for bit."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.graph.check.test_changes import FieldCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.times import TimeStyle

WHOLE_MAX = 10**15
"""Numbers below are written as integers where they are whole."""

_PLAIN = re.compile(r"[^\W\d][\w.+-]*")
_RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Notation:
    """How one test is written: times as text in a style or integers; `quoted` as JSON requires."""

    unit: str | None = None
    style: TimeStyle | None = None
    quoted: bool = False

    def time(self, time: int) -> str:
        """Format a time; as an integer where the style cannot show it, or shows counts."""
        if self.style is None or self.unit is None or self.style.epoch:
            return str(time)
        import numpy as np

        from rtbot.core.times import format_times

        try:
            text: str = format_times(np.array([time], np.int64), self.unit, self.style)[0].as_py()
        except DataError:
            return str(time)
        return json.dumps(text) if self.quoted else text

    def cell(self, value: Any) -> str:
        """Format a value or key: text, bool, int, float, a list of these, or None for null."""
        if value is None:
            return "null"
        if isinstance(value, list):
            return f"[{', '.join(map(self.cell, value))}]"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if not math.isfinite(value):
            return json.dumps(repr(value)) if self.quoted else repr(value)
        whole = value == int(value) and abs(value) < WHOLE_MAX and math.copysign(1, value) > 0
        whole = whole or (value == int(value) and -WHOLE_MAX < value < 0)
        return str(int(value)) if whole else repr(value)

    def text(self, text: str) -> str:
        """Format a text, in quotes unless it is a plain word in every reading of YAML."""
        if not self.quoted and _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
            return text
        dumped = json.dumps(text, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", dumped)

    def fields(self, cells: FieldCells) -> str:
        """Format the fields of a change."""
        return f"{{{', '.join(f'{self.text(name)}: {self.cell(cell)}' for name, cell in cells)}}}"

    def row(self, row: Sequence[Any]) -> str:
        """Format a row as (key..., t, value), or as (cells, t, weight)."""
        *keys, time, value = row
        if keys and isinstance(keys[0], FieldCells):
            return f"[{self.time(time)}, {value}, {self.fields(keys[0])}]"
        return f"[{', '.join([*map(self.cell, keys), self.time(time), self.cell(value)])}]"
