"""What `Graph.run` is given, as pushes of a session: paths are read, tables go on as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rtbot.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.formats.wiring import Request
    from rtbot.graph import Input, Io

    Push = Callable[[Any], Any]


def push_all(
    push: Push, data: Any, inputs: Mapping[str, Input], io: Io, key: tuple[str, ...]
) -> list[Any]:
    """Push data and return what every push gave.

    `data` is a path of a file for all inputs, one table of them all, or a mapping from input to a
    table or a path. Raises DataError with file and row where a file is wrong.
    """
    if isinstance(data, str | os.PathLike):
        return _push_files(push, data, {}, inputs, io, key)
    if not isinstance(data, Mapping):
        return [push(data)]
    paths = {name: path for name, path in data.items() if isinstance(path, str | os.PathLike)}
    tables = {name: table for name, table in data.items() if name not in paths}
    given = [push(tables)] if tables else []
    return given + (_push_files(push, None, paths, inputs, io, key) if paths else [])


def _push_files(
    push: Push,
    file: str | os.PathLike[str] | None,
    paths: Mapping[str, str | os.PathLike[str]],
    inputs: Mapping[str, Input],
    io: Io,
    key: tuple[str, ...],
) -> list[Any]:
    from rtbot.formats.wiring import Request

    singles = {name: (os.fspath(path), None) for name, path in paths.items()}
    request = Request(None if file is None else os.fspath(file), singles, io.time, key)
    wanted = inputs if file is not None else {n: i for n, i in inputs.items() if n in singles}
    return push_request(push, request, wanted, io)


def push_request(push: Push, request: Request, inputs: Mapping[str, Input], io: Io) -> list[Any]:
    """Push the files of a request, block by block, and return what every push gave.

    Raises DataError with file and row where a file is wrong.
    """
    from rtbot.files import Files
    from rtbot.formats.blocks import Judge
    from rtbot.formats.intake import Intake
    from rtbot.formats.wiring import wire

    intake = Intake(wire(Files(), inputs, request), io.unit, Judge(drop=io.bad == "drop"))
    given = []
    for pieces, _ in intake.turns():
        for piece in pieces:
            try:
                given.append(push(piece.columns))
            except DataError as error:
                raise piece.located(error) from None
    return given
