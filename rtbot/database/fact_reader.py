"""Fact files as rows of codes: all lines of a file at once, or one by one to say what is wrong.

A line is a row, its cells divided by a tab or another delimiter; nothing is quoted but where the
program says `rfc4180=true`. Both ways accept the same files: what pyarrow reads in another way than
is said here is read line by line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.datalog.evaluation.term_values import encode_floats
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED

if TYPE_CHECKING:
    from rtbot.database.fact_codec import FactCodec
    from rtbot.datalog.program import FactFile

_PREFIX = re.compile(rb"0[xXbB]")
"""Of a number that is not decimal, which pyarrow reads as its bits."""


def read_fast(data: bytes, file: FactFile, codec: FactCodec) -> np.ndarray | None:
    """Return the rows of a file as int64[n, width]; None if it has to be read line by line."""
    if not codec.width or len(file.delimiter) != 1 or not _is_plain(data, file, codec):
        return None
    if not data:
        return np.empty((0, codec.width), np.int64)
    import pyarrow as pa

    try:
        table = _parse(data, file, codec)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    if any(column.null_count for column in table.columns):
        return None
    words = np.empty((table.num_rows, codec.width), np.int64)
    places = [place for place, kind in enumerate(codec.types) if kind == SYMBOL]
    if places:
        words[:, places] = _read_texts([table.column(place) for place in places], codec)
    for place, kind in enumerate(codec.types):
        if kind == FLOAT:
            words[:, place] = encode_floats(table.column(place).to_numpy())
        elif kind != SYMBOL:
            words[:, place] = table.column(place).to_numpy().view(np.int64)
    return words


def _is_plain(data: bytes, file: FactFile, codec: FactCodec) -> bool:
    """Return whether pyarrow reads the lines and numbers of a file as is said here."""
    if file.rfc4180 or not file.delimiter.isascii() or file.delimiter in '"\r\n':
        return False
    if data.count(b"\r") != data.count(b"\r\n") or data.startswith(b"\xef\xbb\xbf"):
        return False
    return set(codec.types) <= {SYMBOL, FLOAT} or _PREFIX.search(data) is None


def _parse(data: bytes, file: FactFile, codec: FactCodec) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    types = {NUMBER: pa.int64(), UNSIGNED: pa.uint64(), FLOAT: pa.float64(), SYMBOL: pa.string()}
    first = data[: data.find(b"\n") + 1 or len(data)]
    count = first.count(file.delimiter.encode()) + 1
    if file.columns and max(file.columns) >= count:
        raise pa.ArrowInvalid("too few columns")
    places = file.columns or range(codec.width)
    names = [f"c{place}" for place in range(count if file.columns else codec.width)]
    chosen = [f"c{place}" for place in places]
    if len(set(chosen)) != len(chosen):
        raise pa.ArrowInvalid("a column twice")
    return csv.read_csv(
        pa.py_buffer(data),
        csv.ReadOptions(
            column_names=names,
            skip_rows=int(file.headers),
            use_threads=False,
            block_size=max(1 << 20, min(len(data) + 1, 1 << 24)),
        ),
        csv.ParseOptions(
            delimiter=file.delimiter,
            quote_char=False,
            double_quote=False,
            ignore_empty_lines=False,
        ),
        csv.ConvertOptions(
            column_types={n: types[k] for n, k in zip(chosen, codec.types, strict=True)},
            include_columns=chosen,
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _read_texts(columns: list[Any], codec: FactCodec) -> np.ndarray:
    """Return the codes of columns of texts: int64[n, columns]. A text is looked up once for all."""
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks]
    found = pa.chunked_array(chunks, pa.string()).combine_chunks().dictionary_encode()
    table = codec.texts.code_all(found.dictionary.to_numpy(zero_copy_only=False).tolist())
    codes: np.ndarray = table[found.indices.to_numpy(zero_copy_only=False)]
    return codes.reshape(len(columns), -1).T
