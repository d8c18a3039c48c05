"""Blocks of a sample as CSV, JSON lines, Parquet or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from rtbot.samples.disorder import Block
    from rtbot.samples.generators import Series

FORMATS = ("csv", "jsonl", "parquet", "arrow")


def write(
    file: BinaryIO, series: Series, blocks: Iterable[Block], *, keyed: bool, form: str
) -> None:
    """Write all blocks to the file; `form` is one of FORMATS."""
    names = [_time_name(series), *([series.key] if keyed else []), *series.columns]
    if form in ("parquet", "arrow"):
        _write_columns(file, names, (_table(series, block, keyed=keyed) for block in blocks), form)
        return
    if form == "csv":
        file.write((",".join(names) + "\n").encode())
    line = _csv_line if form == "csv" else _json_line
    for block in blocks:
        columns = _cells(series, block, keyed=keyed, quote="" if form == "csv" else '"')
        rows = (line(names, cells) for cells in zip(*columns, strict=True))
        file.write("".join(rows).encode())


def _time_name(series: Series) -> str:
    """The name of the time column: `time` where it is a date, `t` where it is a count."""
    return "time" if series.unit == "s" else "t"


def _cells(series: Series, block: Block, *, keyed: bool, quote: str) -> Iterator[list[str | None]]:
    """Yield the columns as texts; None where there is no value; `quote` stands around text."""
    if series.unit == "s":
        texts = np.datetime_as_string(block.time.astype("datetime64[s]"))
        yield [f"{quote}{text}Z{quote}" for text in texts]
    else:
        yield [str(time) for time in block.time.tolist()]
    if keyed:
        yield [f"{quote}{_key(series, number)}{quote}" for number in block.key.tolist()]
    for values, present in zip(block.values, block.present, strict=True):
        cells = zip(values.tolist(), present.tolist(), strict=True)
        yield [_decimal(v, series.decimals) if there else None for v, there in cells]


def _key(series: Series, number: int) -> str:
    return f"{series.key}-{number + 1}"


def _decimal(value: int, decimals: int) -> str:
    """The text of value * 10 ** -decimals, as short as it is exact."""
    if not decimals:
        return str(value)
    whole, rest = divmod(abs(value), 10**decimals)
    digits = f"{rest:0{decimals}}".rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def _csv_line(_names: list[str], cells: tuple[str | None, ...]) -> str:
    return ",".join(cell or "" for cell in cells) + "\n"


def _json_line(names: list[str], cells: tuple[str | None, ...]) -> str:
    pairs = zip(names, cells, strict=True)
    return "{" + ", ".join(f'"{name}": {cell}' for name, cell in pairs if cell) + "}\n"


def _table(series: Series, block: Block, *, keyed: bool) -> list[Any]:
    """The columns as Arrow arrays: times with their unit, decimals as the nearest float64."""
    import pyarrow as pa

    stamped = series.unit == "s"
    columns = [pa.array(block.time, pa.timestamp("s", "UTC") if stamped else pa.int64())]
    if keyed:
        names = [_key(series, number) for number in block.key.tolist()]
        columns.append(pa.array(names, pa.string()))
    for values, present in zip(block.values, block.present, strict=True):
        exact = values / 10**series.decimals if series.decimals else values
        columns.append(pa.array(exact, mask=~present))
    return columns


def _write_columns(
    file: BinaryIO, names: list[str], tables: Iterator[list[Any]], form: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = pa.table(next(tables), names)
    if form == "parquet":
        opened: Any = pq.ParquetWriter(file, first.schema)
    else:
        opened = pa.ipc.new_file(file, first.schema)
    with opened as writer:
        writer.write_table(first)
        for columns in tables:
            writer.write_table(pa.table(columns, names))
