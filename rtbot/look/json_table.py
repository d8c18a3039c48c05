"""Lines of JSON as a table of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rtbot.look.cell_forms import NUMBER, describe_cell
from rtbot.look.column_facts import LIST, SampledTable, name_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.look.file_facts import FileFacts
    from rtbot.look.text_encoding import TextSample

TRIED = 20
"""So many lines are examined to know if a text is JSON lines."""


def is_json_lines(lines: Sequence[str]) -> bool:
    """Return whether at least half of the first lines are objects."""
    filled = [line for line in lines[: 2 * TRIED] if line.strip()][:TRIED]
    good = sum(isinstance(_parse_line(line), dict) for line in filled)
    return bool(filled) and 2 * good >= len(filled)


def read_json_table(text: TextSample, facts: FileFacts) -> SampledTable:
    """Return the objects as rows of text; what is nested has a name with points."""
    segments = [
        [row for row in map(_parse_line, lines) if isinstance(row, dict)]
        for lines in (text.lines, *text.parts)
    ]
    bad = [
        number
        for number, line in enumerate(text.lines, 1)
        if line.strip() and not isinstance(_parse_line(line), dict)
    ]
    if bad:
        facts.doubts.append(f"no JSON objects: lines {', '.join(map(str, bad[:5]))}")
    flat = [[_flatten(row) for row in rows] for rows in segments]
    names = tuple(dict.fromkeys(name for rows in flat for row in rows for name in row))
    _note_values(facts, segments, names)
    rows, *parts = [[[_write(row.get(name)) for name in names] for row in rows] for rows in flat]
    kinds = {name: "text" for name in names if _holds_text(flat, name)}
    kinds |= {name: name_lists(lists) for name in names if (lists := _find_lists(flat, name))}
    facts.notes += [f"{name} is a list, which is not read" for name in kinds if kinds[name] == LIST]
    return SampledTable(names, rows, parts, kinds)


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line, parse_float=_Written, parse_int=_Written)
    except (ValueError, RecursionError):
        return None


class _Written(str):
    """A number as it is written."""

    __slots__ = ()


def _flatten(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and prefix.count(".") < 4:
            found |= _flatten(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def _write(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_write, value))}]"
    return str(value) if isinstance(value, str) else json.dumps(value)


def _holds_text(segments: Iterable[Iterable[dict[str, Any]]], name: str) -> bool:
    values = (row.get(name) for rows in segments for row in rows)
    first = next((value for value in values if value is not None), None)
    return isinstance(first, str) and not isinstance(first, _Written)


def _find_lists(segments: Iterable[Iterable[dict[str, Any]]], name: str) -> list[list[Any]]:
    """Return the cells of a column, numbers as such, if the first is a list."""
    cells = [row[name] for rows in segments for row in rows if row.get(name) is not None]
    if not cells or not isinstance(cells[0], list):
        return []
    return [[*map(_parse_number, cell)] if isinstance(cell, list) else [cell] for cell in cells]


def _parse_number(cell: Any) -> Any:
    return float(cell) if isinstance(cell, _Written) else cell


def _note_values(
    facts: FileFacts, segments: Sequence[Sequence[dict[str, Any]]], names: Sequence[str]
) -> None:
    """Note objects in objects, and numbers that are written as text."""
    first = segments[0][0] if segments[0] else {}
    for name, value in first.items():
        if isinstance(value, dict):
            inner = [known for known in names if known.startswith(f"{name}.")]
            facts.notes.append(f"{name} is an object; in it are {', '.join(inner[:8])}")
        elif (
            isinstance(value, str)
            and not isinstance(value, _Written)
            and describe_cell(value).kind == NUMBER
        ):
            facts.notes.append(f"{name} has numbers as text ({value!r})")
