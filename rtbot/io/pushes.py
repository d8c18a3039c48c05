"""Files and tables as pushes of a session, for `rtbot run`, `Graph.run` and `compare` alike."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from rtbot.core.errors import DataError, QueueFull
from rtbot.core.times import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtbot.graph.model import Input, Io
    from rtbot.io.bindings import InputSpec
    from rtbot.io.input_batch import InputBatch
    from rtbot.io.reader import FileReader


class PushTarget(Protocol):
    """What takes pushes."""

    def push(self, data: Any) -> Any:
        """Take a table, or {input: table}; return what it releases."""

    def advance(self, time: int, name: str | None = None) -> Any:
        """Note that an input sends nothing more up to a time; return what that releases."""


def pump(
    session: PushTarget,
    reader: FileReader,
    take: Callable[[Any, InputBatch | None], object],
    end_block: Callable[[], object] | None = None,
) -> None:
    """Push every block of files; advance an input whose file has ended, so nothing waits for it.

    `take` is called with all that the session returns, and the batch that was pushed. Raises
    DataError with file and row where a file is wrong.
    """
    for batches, ended in reader.read_in_turn():
        for batch in batches:
            take(_pushed(session, batch), batch)
        for name in ended:
            take(session.advance(INT64_MAX, name), None)
        if end_block is not None:
            end_block()


def _pushed(session: PushTarget, batch: InputBatch) -> Any:
    """Push a batch; errors have its place in the file, and a hint for files."""
    try:
        return session.push(batch.columns)
    except DataError as error:
        raise batch.locate_error(error) from None
    except QueueFull as error:
        error.hint = (
            f"{batch.block.file} has no rows of {error.input} that go with them: sort it by time, "
            f"check that {error.input} is fed, or raise --queue (queue_limit in Python)"
        )
        raise error from None


def push_all(
    session: PushTarget, data: Any, inputs: Mapping[str, Input], io: Io, key: tuple[str, ...]
) -> list[Any]:
    """Push data and return all that the session released for it.

    `data` is a path of a file for all inputs, one table of them all, or a mapping from input to a
    table or a path. Raises DataError with file and row where a file is wrong.
    """
    if isinstance(data, str | os.PathLike):
        return _push_files(session, data, {}, inputs, io, key)
    if not isinstance(data, Mapping):
        return [session.push(data)]
    paths = {name: path for name, path in data.items() if isinstance(path, str | os.PathLike)}
    tables = {name: table for name, table in data.items() if name not in paths}
    given = [session.push(tables)] if tables else []
    if not paths:
        return given
    given += _end(session, (name for name in inputs if name not in paths))
    return given + _push_files(session, None, paths, inputs, io, key)


def _end(session: PushTarget, names: Iterable[str]) -> list[Any]:
    """Declare that nothing comes (any more) for these inputs."""
    return [session.advance(INT64_MAX, name) for name in names]


def _push_files(
    session: PushTarget,
    file: str | os.PathLike[str] | None,
    paths: Mapping[str, str | os.PathLike[str]],
    inputs: Mapping[str, Input],
    io: Io,
    key: tuple[str, ...],
) -> list[Any]:
    from rtbot.io.bindings import InputSpec

    singles = {name: (os.fspath(path), None) for name, path in paths.items()}
    whole = None if file is None else os.fspath(file)
    request = InputSpec(whole, singles, io.time, key, io.reading, bad=io.bad)
    wanted = inputs if file is not None else {n: i for n, i in inputs.items() if n in singles}
    return push_inputs(session, request, wanted, io)


def push_inputs(
    session: PushTarget, request: InputSpec, inputs: Mapping[str, Input], io: Io
) -> list[Any]:
    """Push the files of a request, block by block, and return all that the session released.

    Raises DataError with file and row where a file is wrong.
    """
    from rtbot.io.bindings import bind_columns
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.reader import FileReader
    from rtbot.storage.files import Files

    reader = FileReader(bind_columns(Files(), inputs, request), io.unit, BadRowPolicy())
    given: list[Any] = []
    pump(session, reader, lambda result, _piece: given.append(result))
    return given
