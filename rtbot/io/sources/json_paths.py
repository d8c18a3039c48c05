"""Chunks of JSON lines read by pyarrow, where it reads what `json_tokens` would; members too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from rtbot.io.sources import json_tokens
from rtbot.io.sources.json_tokens import find_vector_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    Path = tuple[str, ...]
    Tree = dict[str, Any]

TYPES = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "integer key": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "text key": pa.string(),
    "raw": pa.string(),
    "epoch": pa.int64(),
}
BLANK = json_tokens.BLANK.encode()


def read_with_arrow(
    data: bytes, kinds: Mapping[str, str], *, closed: bool = False
) -> tuple[dict[str, pa.Array], int] | None:
    """Return columns and the number of rows; None if that might not be what `json_tokens` reads.

    If `closed`, it is None too if an object has another key.
    """
    data = data.rstrip(BLANK)
    if "any" in kinds.values() or not data.startswith(b"{") or _is_deceptive(data):
        return None
    paths = {name: _find_path(name, data) for name in kinds}
    sizes = {name: size for name, kind in kinds.items() if (size := find_vector_size(kind))}
    types = {name: json_tokens.VECTORS if name in sizes else TYPES[kinds[name]] for name in kinds}
    tree = _build_tree({path: types[name] for name, path in paths.items() if path})
    if tree is None or None in paths.values():
        return None
    try:
        table = pajson.read_json(
            pa.BufferReader(data),
            read_options=pajson.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=pajson.ParseOptions(
                pa.schema(list(_build_fields(tree))),
                unexpected_field_behavior="error" if closed else "ignore",
            ),
        )
    except pa.ArrowInvalid:
        return None
    # Where every line feed is between the end of an object and the start of the next, and
    # there is one less than objects, each object has a line of its own.
    between = data.count(b"}\n{") or data.count(b"}\r\n{")
    if not between == data.count(b"\n") == table.num_rows - 1:
        return None
    columns = {name: _take_member(table, path) for name, path in paths.items() if path}
    for name, size in sizes.items():
        if pc.any(pc.not_equal(pc.list_value_length(columns[name]), size)).as_py():
            return None
    return columns, table.num_rows


def _find_path(name: str, data: bytes) -> Path | None:
    """Return the keys that lead to a cell; None if objects may differ in that."""
    parts = tuple(name.split("."))
    if len(parts) == 1:
        return parts
    if b"\\u" in data:
        return None
    ends = [(start, stop) for start in range(len(parts)) for stop in range(start, len(parts))]
    keys = {".".join(parts[start : stop + 1]) for start, stop in ends}
    there = {key for key in keys if json.dumps(key, ensure_ascii=False).encode() in data}
    if there <= {name}:
        return (name,)
    return parts if there <= set(parts) else None


def _build_tree(types: Mapping[Path, pa.DataType]) -> Tree | None:
    """Return the types as a tree; None if a key has a cell in one place and members in another."""
    tree: Tree = {}
    for path, found in types.items():
        inner = tree
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                return None
        if path[-1] in inner:
            return None
        inner[path[-1]] = found
    return tree


def _build_fields(tree: Tree) -> list[pa.Field]:
    return [
        pa.field(key, pa.struct(_build_fields(found)) if isinstance(found, dict) else found)
        for key, found in tree.items()
    ]


def _take_member(table: pa.Table, path: Path) -> pa.Array:
    """Return the column that a path leads to, null where an object on the way is missing."""
    column = table.column(path[0])
    found = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return pc.struct_field(found, list(path[1:])) if len(path) > 1 else found


def _is_deceptive(data: bytes) -> bool:
    """Return whether pyarrow might read as a number what is not one: Inf, -NaN."""
    infinities = data.count(b"Inf")
    return (bool(infinities) and (infinities != data.count(b"Infinity"))) or b"-NaN" in data
