"""Columns of a file found by name, and errors about those that are not there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError, suggest_name
from rtbot.graph.csv_dialect import TAB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.io.blocks import Source

SIGNS = (",", ";", "\t", "|")
"""What may separate the names of a header that was read as one name."""

EMPTY = "''"
"""Is shown for a column without a name, such as the index that pandas writes."""


def find_header_line(source: Source) -> int:
    """Return the line of a file that names its columns."""
    return int(getattr(source, "header_line", 1))


def require_column(source: Source, name: str, what: str = "column") -> str:
    """Return the column of this name, or else of this name without the blanks around it."""
    if name in source.names or not source.names:
        return name
    if name.strip() in source.names:
        return name.strip()
    if source.sparse and "." in name:  # a member of a member
        return name
    hint = suggest_name(name, source.names) or f"there are {list_columns(source.names)}"
    raise make_absent_error(source, name, hint, what)


def make_absent_error(source: Source, name: str, hint: str, what: str = "column") -> DataError:
    """Return the error of a column that is not there."""
    message = f"there is no {what} {name!r}"
    place = find_header_line(source)
    return DataError(message, code="RT204", hint=hint, file=source.file, row=place)


def suggest_header(names: Sequence[str]) -> str:
    """Return a hint if the first line of a file is no header, or has another separator."""
    if all(re.fullmatch(r"[+-]?[0-9][0-9T:.Z+-]*", name) for name in names):
        return "the first line is to name the columns, and has numbers: set io.csv.names"
    if names[0].startswith("#"):
        return "the first line is to name the columns: set io.csv.comment, or remove the comments"
    found = max(SIGNS, key=names[0].count) if len(names) == 1 else ""
    shown, said = (TAB, TAB) if found == "\t" else (f'"{found}"', f"'{found}'")
    what = "tabs" if found == "\t" else f"{found!r}"
    hint = f"the header looks separated by {what}: set io.csv.delimiter: {shown}"
    hint += f", or say --csv delimiter={said}"
    return hint if found and found in names[0] else ""


def list_columns(names: Sequence[str]) -> str:
    """Return names of columns as text, the first of many."""
    shown = ", ".join(name or EMPTY for name in names[:20])
    return shown + (", ..." if len(names) > 20 else "")
