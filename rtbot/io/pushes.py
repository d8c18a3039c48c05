"""Files and tables as pushes of a session, for `rtbot run`, `Graph.run` and `compare` alike."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from rtbot.core.errors import PlacedError, QueueFull
from rtbot.core.times import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rtbot.graph.model import Input, Io
    from rtbot.io.bindings import InputSpec
    from rtbot.io.input_batch import InputBatch
    from rtbot.io.reader import FileReader
    from rtbot.tables.time_column import TimeColumn


class PushTarget(Protocol):
    """What takes pushes."""

    def push(self, data: Any, *, sort: bool = False) -> Any:
        """Take a table, or {input: table}, which `sort` sorts by time; return what it releases."""

    def advance(self, time: int, name: str | None = None) -> Any:
        """Note that an input sends nothing more up to a time; return what that releases."""

    def note_times(self, column: TimeColumn | None) -> None:
        """Note what the times are that come in."""


def pump(
    session: PushTarget,
    reader: FileReader,
    take: Callable[[Any, InputBatch | None], object],
    end_block: Callable[[], object] | None = None,
    cut: Callable[[InputBatch], Iterable[InputBatch]] | None = None,
) -> None:
    """Push every block of files; advance an input whose file has ended, so nothing waits for it.

    `take` is called with all that the session returns, and the batch that was pushed. `cut` makes
    smaller batches of one, after each of which a block may end. Raises DataError with file and row
    where a file is wrong.
    """
    for batches, ended in reader.read_in_turn():
        for number, batch in enumerate(batches if cut is None else chain(*map(cut, batches))):
            if number and cut is not None and end_block is not None:
                end_block()
            with locate_transactions(reader):
                result = _pushed(session, batch)
            take(result, batch)
        for name in ended:
            with locate_transactions(reader):
                result = session.advance(INT64_MAX, name)
            take(result, None)
        if end_block is not None:
            end_block()


@contextmanager
def locate_transactions(reader: FileReader) -> Iterator[None]:
    """Let errors of transactions have the file of their input, and times as they were read.

    The row that shows that a transaction is bad may have come with any push before, so that its
    line is not known.
    """
    try:
        yield
    except PlacedError as error:
        if error.output is None:
            raise
        raise reader.locate_transaction(error) from None


def _pushed(session: PushTarget, batch: InputBatch) -> Any:
    """Push a batch; errors have its place in the file, and a hint for files."""
    try:
        return session.push(batch.columns)
    except PlacedError as error:
        raise batch.locate_error(error) from None
    except QueueFull as error:
        error.hint = (
            f"{batch.block.file} has no rows of {error.input} that go with them: sort it by time, "
            f"check that {error.input} is fed, or raise --queue (queue_limit in Python)"
        )
        raise error from None


def push_all(
    session: PushTarget,
    data: Any,
    inputs: Mapping[str, Input],
    request: InputSpec,
    io: Io,
    *,
    sort: bool = False,
) -> list[Any]:
    """Push data and return all that the session released for it.

    `data` is a path of a file for all inputs, one table of them all, or a mapping from input to a
    table or a path. `request` has the columns and how files are written. With `sort` the rows of
    every input are put in the order of their times. Raises DataError with file and row where a file
    is wrong.
    """
    if isinstance(data, str | os.PathLike):
        return push_inputs(session, replace(request, file=os.fspath(data)), inputs, io, sort=sort)
    if not isinstance(data, Mapping):
        return [session.push(data, sort=sort)]
    paths = {name: path for name, path in data.items() if isinstance(path, str | os.PathLike)}
    tables = {name: table for name, table in data.items() if name not in paths}
    given = [session.push(tables, sort=sort)] if tables else []
    if not paths:
        return given
    given += _end(session, (name for name in inputs if name not in paths))
    columns = request.columns.inputs
    singles = {name: (os.fspath(path), columns.get(name)) for name, path in paths.items()}
    wanted = {name: item for name, item in inputs.items() if name in singles}
    return given + push_inputs(session, replace(request, inputs=singles), wanted, io, sort=sort)


def _end(session: PushTarget, names: Iterable[str]) -> list[Any]:
    """Declare that nothing comes (any more) for these inputs."""
    return [session.advance(INT64_MAX, name) for name in names]


def push_inputs(
    session: PushTarget,
    request: InputSpec,
    inputs: Mapping[str, Input],
    io: Io,
    *,
    sort: bool = False,
) -> list[Any]:
    """Push the files of a request, block by block, and return all that the session released.

    Sorted, they are read as a whole and pushed at once. Raises DataError with file and row where a
    file is wrong.
    """
    from rtbot.io.bindings import bind_columns
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.reader import FileReader
    from rtbot.io.sorted_push import push_sorted
    from rtbot.storage.files import Files

    reader = FileReader(bind_columns(Files(), inputs, request), io.unit, BadRowPolicy())
    session.note_times(reader.describe_times())
    if sort:
        return [push_sorted(session, reader)]
    given: list[Any] = []
    pump(session, reader, lambda result, _piece: given.append(result))
    return given
