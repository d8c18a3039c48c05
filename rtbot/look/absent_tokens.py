"""Texts and numbers that mean an absent value, as tokens for the whole file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.look.cell_forms import is_beyond
from rtbot.look.column_facts import NUMERIC, measure_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.look.column_facts import DetectedSigns, SampledTable
    from rtbot.look.file_facts import FileFacts

TOKEN_LENGTH = 16
LARGE = 999
"""A positive number below this that is there once is not proposed as a token."""

SIGN = re.compile(r"[.,]")


def choose_tokens(facts: FileFacts, table: SampledTable, signs: DetectedSigns) -> None:
    """Choose the tokens of absent cells; those that are not known as such are doubts."""
    _spread_sentinels(facts, table, signs)
    counts: Counter[str] = Counter()
    _choose_texts(facts, counts)
    _choose_numbers(facts, table, counts)
    if counts:
        tokens = tuple(sorted(counts, key=lambda token: (-counts[token], token)))
        facts.io = replace(facts.io, reading=replace(facts.io.reading, null=tokens))
    for name in facts.key:
        column = next(c for c in facts.columns if c.name == name)
        if column.empty:
            facts.doubts.append(f"key {name}: {column.empty:,} cells are empty")


def _choose_texts(facts: FileFacts, counts: Counter[str]) -> None:
    """Choose texts among numbers, and note the others."""
    taken: dict[str, dict[str, int]] = {}
    for column in facts.numeric:
        strange: dict[str, int] = {}
        for token, count in column.tokens.items():
            if token in column.known:
                counts[token] += count
            elif _may_be_token(token, count, column.cells):
                counts[token] += count
                taken.setdefault(token, {})[column.name] = count
            else:
                strange[token] = count
        if strange:
            shown = ", ".join(f"{token!r} ({count:,})" for token, count in strange.items())
            what = "is no number" if len(strange) == 1 else "are no numbers"
            facts.doubts.append(f"{column.name}: {shown} {what}")
    for token, found in taken.items():
        what = f"{token!r} ({sum(found.values()):,}) is taken for an absent value"
        facts.doubts.append(f"{_name_columns([*found])}: {what}")


def _may_be_token(text: str, count: int, cells: int) -> bool:
    """Return whether a text among numbers is likely to mean an absent value."""
    if any(character.isdigit() for character in text) or len(text) > TOKEN_LENGTH:
        return False
    return is_beyond(text) or count > 1 or count * 20 >= cells


def _name_columns(names: Sequence[str]) -> str:
    if len(names) < 4:
        return ", ".join(name or "(no name)" for name in names)
    return f"{names[0]} and {len(names) - 1} more columns"


def _spread_sentinels(facts: FileFacts, table: SampledTable, signs: DetectedSigns) -> None:
    """Take numbers for absent also in columns of nothing else, or of no other negative ones."""
    every = {text for column in facts.columns for text in column.sentinels}
    for place, column in enumerate(facts.columns):
        cells = table.columns[place]
        here = [text for text in every if text in cells.counts]
        if column.kind not in NUMERIC or not here or {*here} <= {*column.sentinels}:
            continue
        numbers = cells.read_numbers(signs.decimal, signs.thousands)
        rest = [value for text, value in numbers.items() if text not in here]
        negative = all(text[0] == "-" for text in here)
        if not rest or (negative and len(rest) > 1 and min(rest) >= 0):
            changed = replace(column, sentinels={text: cells.counts[text] for text in here})
            facts.columns[place] = measure_numbers(changed, cells, numbers)


def _choose_numbers(facts: FileFacts, table: SampledTable, counts: Counter[str]) -> None:
    """Choose numbers that are far from all others, unless they are values elsewhere."""
    found: dict[str, dict[str, int]] = {}
    for column in facts.numeric:
        for text, count in column.sentinels.items():
            found.setdefault(text, {})[column.name] = count
    for text, columns in found.items():
        count = sum(columns.values())
        what = f"{_name_columns([*columns])}: {text} ({count:,}) is far from all other numbers"
        other = next(_list_owners(text, facts, table), None)
        if other is not None:
            what += f", but {other or '(no name)'} has such values, and `null` is for all columns"
        elif facts.form == "csv" and (text[0] == "-" or count > 1 or _read(text) >= LARGE):
            what += ": it is taken for an absent value"
            counts[text] += count
        else:
            what += f': if it means an absent value, add it to `null`: ["{text}"]'
        facts.doubts.append(what)


def _list_owners(text: str, facts: FileFacts, table: SampledTable) -> Iterator[str]:
    """Yield the columns in which a text is a value, or may be one in what was not looked at."""
    value, digits = _read(text), _count_digits(text)
    for column, cells in zip(facts.columns, table.columns, strict=True):
        if text in column.sentinels:
            continue
        if text in cells.counts:
            yield column.name
        elif column.kind in NUMERIC and column.least is not None and column.greatest is not None:
            within = column.least <= value <= column.greatest
            if within and digits in map(_count_digits, cells.counts):
                yield column.name


def _read(text: str) -> float:
    """Return a sentinel as a number: its signs are a decimal sign at most."""
    return float(text.replace(",", "."))


def _count_digits(text: str) -> int:
    """Return how many digits are after the decimal sign."""
    return len(SIGN.split(text)[-1]) if SIGN.search(text) else -1
