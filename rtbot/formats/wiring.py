"""Which column of which file feeds which input of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.errors import DataError, nearest
from rtbot.formats.opening import open_source
from rtbot.tables.convert import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.files import Files
    from rtbot.formats.blocks import Source
    from rtbot.graph import Input

INPUT, VALUE = "input", "value"
"""Columns of the long form: which input a row is for, and its value."""


@dataclass(frozen=True, slots=True)
class Feed:
    """An input and the column that feeds it.

    `selector` is what a row has in the column `input`, or None if all rows are for this input.
    `sparse` says that an empty cell is no message (the wide form), rather than null.
    """

    input: Input
    column: str
    selector: str | None = None
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A file and the inputs that it feeds."""

    source: Source
    time: str
    key: tuple[str, ...]
    feeds: tuple[Feed, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user said: a file for all inputs, files for single ones, and names of columns."""

    file: str | None = None
    inputs: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    time: str | None = None
    key: tuple[str, ...] = ()


def wire(files: Files, inputs: Mapping[str, Input], request: Request) -> list[Reading]:
    """Open the files and find the column of every input, or raise DataError."""
    for name in request.inputs:
        if name not in inputs:
            hint = nearest(name, inputs) or f"the inputs are {', '.join(inputs)}"
            raise DataError(f"the graph has no input {name!r}; {hint}")
    left = [item for name, item in inputs.items() if name not in request.inputs]
    readings = [
        _single(open_source(files, path), inputs[name], column, request)
        for name, (path, column) in request.inputs.items()
    ]
    if request.file is not None and not left:
        raise DataError("every input has a file of its own already", file=request.file)
    if request.file is not None:
        readings.append(_common(open_source(files, request.file), left, request))
    elif left:
        names = ", ".join(item.name for item in left)
        raise DataError(f"nothing feeds {names}: give a file, or --in {left[0].name}=FILE")
    return readings


def _single(source: Source, item: Input, column: str | None, request: Request) -> Reading:
    """Read a file of one input: the column said, its name, `value`, or the only one left."""
    time = _time_column(source, request, [column or item.name])
    rest = [name for name in source.names if name not in (time, *request.key)]
    if column is not None:
        _need(source, column)
    elif item.name in rest:
        column = item.name
    elif VALUE in rest or not source.names:
        column = VALUE
    elif len(rest) == 1:
        column = rest[0]
    else:
        message = f"which column is {item.name}? say --in {item.name}={source.file}:COLUMN"
        raise DataError(f"{message}; there are {_listed(source.names)}", file=source.file)
    return _reading(source, time, request, (Feed(item, column),))


def _common(source: Source, inputs: Sequence[Input], request: Request) -> Reading:
    """Read a file of several inputs: wide if it has their columns, else long."""
    names = [item.name for item in inputs]
    time = _time_column(source, request, names)
    missing = [name for name in names if name not in source.names]
    if not missing or not source.names:
        feeds = [Feed(item, item.name, sparse=True) for item in inputs]
    elif INPUT in source.names and VALUE in source.names:
        feeds = [Feed(item, VALUE, selector=item.name) for item in inputs]
    elif len(inputs) == 1 and VALUE in source.names:
        feeds = [Feed(inputs[0], VALUE)]
    else:
        hint = f"there are {_listed(source.names)}; say --in {missing[0]}={source.file}:COLUMN"
        raise DataError(f"there is no column {missing[0]!r}; {hint}", file=source.file, row=1)
    return _reading(source, time, request, tuple(feeds))


def _reading(source: Source, time: str, request: Request, feeds: tuple[Feed, ...]) -> Reading:
    for name in request.key:
        _need(source, name)
    return Reading(source, time, request.key, feeds)


def _time_column(source: Source, request: Request, values: Sequence[str]) -> str:
    """Find the column of times; one that is also an input's or a key only if there is no other."""
    if request.time is not None:
        _need(source, request.time)
        return request.time
    there = [name for name in TIME_NAMES if name in source.names and name not in request.key]
    there = [name for name in there if name not in values] or there
    if not there and source.names:
        message = f"there is no column of times ({', '.join(TIME_NAMES)}); say --time COLUMN"
        raise DataError(f"{message}; there are {_listed(source.names)}", file=source.file, row=1)
    return there[0] if there else TIME_NAMES[0]


def _need(source: Source, name: str) -> None:
    if name not in source.names and source.names:
        hint = nearest(name, source.names) or f"there are {_listed(source.names)}"
        raise DataError(f"there is no column {name!r}; {hint}", file=source.file, row=1)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return shown + (", ..." if len(names) > 20 else "")
