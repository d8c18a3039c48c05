"""Results of a run put in order and sent to files.

Unkeyed results go out by t: a row when every output is past it. Keyed ones go to files by (key, t)
at the end, or block by block in the order of release.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rtbot.formats.writing import Behind, open_writer
from rtbot.tables.wide import long, put_together, wide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.files import Files
    from rtbot.formats.writing import Clock, Writer

    Table = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Target:
    """A file (`-` is stdout), its format, and the outputs that go there, wide or long.

    `stream`: keyed rows go out block by block, and not at the end.
    """

    path: str
    form: str
    outputs: tuple[str, ...]
    layout: str = "wide"
    stream: bool = False


class Gathered:
    """Rows of some outputs that wait for their turn."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self.outputs = outputs
        self._results: list[Mapping[str, Table]] = []

    def add(self, result: Mapping[str, Table]) -> None:
        """Take the rows of one push."""
        self._results.append({name: result[name] for name in self.outputs})

    def all(self) -> Mapping[str, Table]:
        """Give everything."""
        return self._given(put_together(self._results), None)

    def until(self, frontier: int) -> Mapping[str, Table]:
        """Give the rows of an unkeyed run with t <= frontier; the others go on waiting."""
        return self._given(put_together(self._results), frontier)

    def _given(self, whole: Mapping[str, Table], frontier: int | None) -> Mapping[str, Table]:
        given: dict[str, Table] = {}
        rest: dict[str, Table] = {}
        for name, table in whole.items():
            cut = len(table["t"])
            if frontier is not None and cut and table["t"][-1] > frontier:
                cut = int(np.searchsorted(table["t"], frontier, side="right"))
            whole_table = cut == len(table["t"])
            given[name] = table if whole_table else {n: array[:cut] for n, array in table.items()}
            rest[name] = {column: array[cut:] for column, array in table.items()}
        self._results = [rest]
        return given


class Outlet:
    """The files of a run. They appear when it ends well; after an error, only what streams does."""

    def __init__(self, files: Files, targets: Sequence[Target], key: Sequence[str]) -> None:
        self._files, self._key = files, tuple(key)
        self._stack = ExitStack()
        self._routes = [_Route(target, Gathered(target.outputs)) for target in targets]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> bool | None:
        return self._stack.__exit__(*error)  # type: ignore[arg-type]

    def open(self, clock: Clock) -> None:
        """Open the files, when it is known how times are written."""
        for route in self._routes:
            target = route.target
            stream = self._stack.enter_context(self._files.replacing(target.path))
            writer = Behind(open_writer(stream, target.path, target.form, clock))
            self._stack.callback(writer.stop)
            route.writer = writer

    def add(self, result: Mapping[str, Table]) -> None:
        """Take what a push released."""
        for route in self._routes:
            route.waiting.add(result)

    def end_block(self, frontier: int | None) -> None:
        """Write what is ready: keyed, all of the block; unkeyed, what is not after the frontier."""
        for route in self._routes:
            if self._key and route.target.stream:
                route.write(route.waiting.all(), self._key)
            elif frontier is not None:
                route.write(route.waiting.until(frontier), self._key)

    def finish(self) -> None:
        """Write all that is left."""
        for route in self._routes:
            route.write(route.waiting.all(), self._key, last=True)


@dataclass
class _Route:
    """A target with its writer and the rows that wait for it."""

    target: Target
    waiting: Gathered
    writer: Writer | None = None
    began: bool = False

    def write(self, tables: Mapping[str, Table], key: Sequence[str], *, last: bool = False) -> None:
        """Write rows, if there are any; at the end there is at least a header."""
        assert self.writer is not None
        shape = wide if self.target.layout == "wide" else long
        rows = any(len(table["t"]) for table in tables.values())
        if rows or (last and not self.began):
            self.writer.write(shape(tables, key))
            self.began = True
        if last:
            self.writer.close()
