"""The files of a program: facts, which `.input` lines name, and results, for `.output` lines."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import Problem, suggest_name
from rtbot.core.source_span import SourceSpan
from rtbot.database.fact_lines import EMPTY_ROW, LineReader
from rtbot.database.fact_problems import FactProblems
from rtbot.database.fact_reader import read_fast
from rtbot.datalog.program import FLOAT, SYMBOL, UNSIGNED
from rtbot.storage.files import STANDARD, name_path_in_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rtbot.database.fact_codec import FactCodec
    from rtbot.datalog.program import FactFile, Program
    from rtbot.storage.files import Files

BOM = b"\xef\xbb\xbf"
CHUNK_ROWS = 1 << 20
RULE = "=" * 15


def read_fact_files(
    files: Files, folder: str, program: Program, codecs: Mapping[str, FactCodec]
) -> dict[str, list[np.ndarray]]:
    """Return the rows of all files that `.input` lines name, by relation: int64[n, width] each.

    Raises FactFileError with the problems of all of them.
    """
    problems = FactProblems()
    found: dict[str, list[np.ndarray]] = {}
    for name, relation in program.relations.items():
        for file in relation.reads:
            if problems.is_full:
                break
            path = find_fact_path(folder, name, file)
            data = _read_file(files, path, relation.span, file, problems)
            if data is None:
                continue
            words = read_fast(data, file, codecs[name])
            if words is None:
                words = LineReader(_show(path), file, codecs[name], problems).read(data)
            found.setdefault(name, []).append(words)
    problems.raise_errors()
    return found


def find_fact_path(folder: str, name: str, file: FactFile) -> str:
    """Return the path of a file of facts; `-` is stdin."""
    if file.medium == "stdin":
        return STANDARD
    return str(Path(folder) / (file.filename or f"{name}.facts"))


def _show(path: str) -> str:
    return "stdin" if path == STANDARD else path


def _read_file(
    files: Files, path: str, span: SourceSpan, file: FactFile, problems: FactProblems
) -> bytes | None:
    """Return the bytes of a file; None, and a problem, if there is none, or a damaged one."""
    try:
        with name_path_in_errors(path):
            stream = files.open(path)
            data: bytes = stream.read()
            if path != STANDARD:
                stream.close()
    except FileNotFoundError:
        there = [each.name for each in Path(path).parent.glob("*.facts")]
        hint = suggest_name(Path(path).name, there) or "-F FOLDER is where the files of facts are"
        message = f"there is no file of facts, which {span.file}:{span.line} asks for"
        problems.add(Problem("RT531", SourceSpan(path), message, hint))
        return None
    if file.compress and data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            message = f"a damaged gzip file: {error}"
            problems.add(Problem("RT208", SourceSpan(path), message, "make it again"))
            return None
    return data.removeprefix(BOM)


def write_results(
    files: Files,
    folder: str,
    program: Program,
    codecs: Mapping[str, FactCodec],
    list_rows: Callable[[str], np.ndarray],
) -> None:
    """Write what `.output` and `.printsize` lines ask for; to stdout, in the order of the program.

    The folder is made if there is none. `list_rows` returns the rows of a relation as codes.
    """
    for name, relation in program.relations.items():
        if not relation.writes and not relation.prints_size:
            continue
        words = codecs[name].sort(list_rows(name))
        for file in relation.writes:
            if file.medium == "stdout" or folder == STANDARD:
                _print_rows(file, codecs[name], words)
                continue
            files.make_folder(folder)
            path = str(Path(folder) / (file.filename or _name_result(name, file)))
            with files.open_replacement(path) as out:
                out.writelines(_format_file(file, codecs[name], words))
        if relation.prints_size:
            _print(f"{name}\t{len(words)}\n".encode())


def _name_result(name: str, file: FactFile) -> str:
    return f"{name}.csv.gz" if file.compress else f"{name}.csv"


def _format_file(file: FactFile, codec: FactCodec, words: np.ndarray) -> Iterator[bytes]:
    parts = format_rows(file, codec, words)
    if file.compress:
        yield gzip.compress(b"".join(parts), mtime=0)
    else:
        yield from parts


def _print_rows(file: FactFile, codec: FactCodec, words: np.ndarray) -> None:
    """Print rows as a block, as Soufflé does."""
    head = "\t".join(codec.columns)
    _print(f"{'-' * 15}\n{codec.name}\n{head}\n{RULE}\n".encode())
    for part in format_rows(file, codec, words, headed=False):
        _print(part)
    _print(f"{RULE}\n".encode())


def _print(data: bytes) -> None:
    with name_path_in_errors(STANDARD):
        sys.stdout.buffer.write(data)


def format_rows(
    file: FactFile, codec: FactCodec, words: np.ndarray, *, headed: bool | None = None
) -> Iterator[bytes]:
    """Yield rows of codes, which are in order, as lines; texts as they are."""
    order = _order_columns(file, codec)
    if file.headers if headed is None else headed:
        yield (file.delimiter.join(codec.columns[place] for place in order) + "\n").encode()
    for first in range(0, len(words), CHUNK_ROWS):
        columns = [
            _format_column(codec, place, words[first : first + CHUNK_ROWS, place])
            for place in order
        ]
        if file.rfc4180:
            yield _join_quoted(columns, file.delimiter)
        elif columns:
            yield _join_cells(columns, file.delimiter)
        else:
            yield f"{EMPTY_ROW}\n".encode() * len(words)


def _order_columns(file: FactFile, codec: FactCodec) -> list[int]:
    """Return the columns in the order in which a line has them."""
    if len(set(file.columns)) != codec.width:
        return list(range(codec.width))
    return sorted(range(codec.width), key=lambda place: file.columns[place])


def _format_column(codec: FactCodec, place: int, codes: np.ndarray) -> Any:
    """Return the cells of a column as text, an array of pyarrow."""
    import pyarrow as pa

    kind, codes = codec.types[place], np.ascontiguousarray(codes)
    if kind == SYMBOL:
        return pa.array(codec.texts.decode(codes), pa.large_string())
    if kind == FLOAT:
        texts = map(format_float, codes.view(np.float64).tolist())
        return pa.array(list(texts), pa.large_string())
    values = codes.view(np.uint64) if kind == UNSIGNED else codes
    return pa.array(values).cast(pa.large_string())


def format_float(value: float) -> str:
    """Return the shortest text that gives the same float, without `.0`.

    >>> format_float(2.0), format_float(0.1), format_float(float("nan"))
    ('2', '0.1', 'nan')
    """
    return repr(value).removesuffix(".0")


def _join_cells(columns: list[Any], delimiter: str) -> bytes:
    import pyarrow as pa
    from pyarrow import compute

    end, nothing, between = (pa.scalar(t, pa.large_string()) for t in ("\n", "", delimiter))
    ended = [*columns[:-1], compute.binary_join_element_wise(columns[-1], end, nothing)]
    lines = compute.binary_join_element_wise(*ended, between)
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int64)
    return bytes(data)[int(ends[0]) : int(ends[len(lines)])]


def _join_quoted(columns: list[Any], delimiter: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows(zip(*(column.to_pylist() for column in columns), strict=True))
    return text.getvalue().encode()
