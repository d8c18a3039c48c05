"""The suffix of a name decides the format of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from rtbot.files import Files
    from rtbot.formats.blocks import Block, Source

SUFFIXES = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}


def form_of(path: str) -> str:
    """Return csv, parquet or arrow by the suffix; csv if it has none that is known."""
    lowered = path.lower()
    for suffix, form in SUFFIXES.items():
        if lowered.endswith(suffix):
            return form
    return "csv"


class Several:
    """Files of the same columns, one after the other."""

    def __init__(self, files: Files, paths: list[str]) -> None:
        self.file = paths[0]
        self._first = open_one(files, paths[0])
        self._files, self._rest = files, paths[1:]
        self.names = self._first.names

    def sample(self, column: str) -> pa.Array:
        """Return the column of the first rows of the first file."""
        return self._first.sample(column)

    def blocks(self, wanted: Mapping[str, str]) -> Iterator[Block]:
        """Read the wanted columns of every file."""
        yield from self._first.blocks(wanted)
        for path in self._rest:
            source = open_one(self._files, path)
            missing = [name for name in wanted if name not in source.names]
            if missing and source.names:
                message = f"there is no column {missing[0]!r}, which {self.file} has"
                raise DataError(message, file=path)
            yield from source.blocks(wanted)


def open_source(files: Files, pattern: str) -> Source:
    """Open a file, or all files that a pattern stands for, in the order of their names."""
    paths = files.matching(pattern)
    return open_one(files, pattern) if paths == [pattern] else Several(files, paths)


def open_one(files: Files, path: str) -> Source:
    """Open one file by the format of its suffix; `-` is CSV from stdin."""
    form = form_of(path)
    if form == "csv":
        from rtbot.formats.records import Records

        return Records(files.open(path), path)
    from rtbot.formats.columnar import ColumnFile

    return ColumnFile(files.open(path), path, form)
