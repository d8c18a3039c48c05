"""Blocks of a sample as CSV, JSON lines, Parquet or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from rtbot.samples.disorder import SampleBlock
    from rtbot.samples.generators import SampleSeries

FORMATS = ("csv", "jsonl", "parquet", "arrow")


def write_sample(
    file: BinaryIO, series: SampleSeries, blocks: Iterable[SampleBlock], *, keyed: bool, form: str
) -> None:
    """Write all blocks to the file; `form` is one of FORMATS."""
    names = [_name_time(series), *([series.key] if keyed else []), *series.columns]
    if form in ("parquet", "arrow"):
        _write_columns(
            file, names, (_build_table(series, block, keyed=keyed) for block in blocks), form
        )
        return
    if form == "csv":
        file.write((",".join(names) + "\n").encode())
    line = _format_csv if form == "csv" else _format_json
    for block in blocks:
        columns = _format_cells(series, block, keyed=keyed, quote="" if form == "csv" else '"')
        rows = (line(names, cells) for cells in zip(*columns, strict=True))
        file.write("".join(rows).encode())


def _name_time(series: SampleSeries) -> str:
    """Return the name of the time column: `time` where it is a date, `t` where it is a count."""
    return "time" if series.unit == "s" else "t"


def _format_cells(
    series: SampleSeries, block: SampleBlock, *, keyed: bool, quote: str
) -> Iterator[list[str | None]]:
    """Yield the columns as texts; None where there is no value; `quote` is put around text."""
    if series.unit == "s":
        texts = np.datetime_as_string(block.time.astype("datetime64[s]"))
        yield [f"{quote}{text}Z{quote}" for text in texts]
    else:
        yield [str(time) for time in block.time.tolist()]
    if keyed:
        yield [f"{quote}{_format_key(series, number)}{quote}" for number in block.key.tolist()]
    for values, present in zip(block.values, block.present, strict=True):
        cells = zip(values.tolist(), present.tolist(), strict=True)
        yield [_format_decimal(v, series.decimals) if there else None for v, there in cells]


def _format_key(series: SampleSeries, number: int) -> str:
    return f"{series.key}-{number + 1}"


def _format_decimal(value: int, decimals: int) -> str:
    """Return the text of value * 10 ** -decimals, as short as it is exact."""
    if not decimals:
        return str(value)
    whole, rest = divmod(abs(value), 10**decimals)
    digits = f"{rest:0{decimals}}".rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def _format_csv(_names: list[str], cells: tuple[str | None, ...]) -> str:
    return ",".join(cell or "" for cell in cells) + "\n"


def _format_json(names: list[str], cells: tuple[str | None, ...]) -> str:
    pairs = zip(names, cells, strict=True)
    return "{" + ", ".join(f'"{name}": {cell}' for name, cell in pairs if cell) + "}\n"


def _build_table(series: SampleSeries, block: SampleBlock, *, keyed: bool) -> list[Any]:
    """Build the columns as Arrow arrays: times with their unit, decimals as the nearest float64."""
    import pyarrow as pa

    stamped = series.unit == "s"
    columns = [pa.array(block.time, pa.timestamp("s", "UTC") if stamped else pa.int64())]
    if keyed:
        names = [_format_key(series, number) for number in block.key.tolist()]
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
