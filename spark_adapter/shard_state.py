"""The state of a shard as bytes, and what has to be equal for it to continue.

First the length of the shard's own part (8 bytes, little endian), then that part, a container of
rtbot with the version of the format, the rows that wait and the digest of what comes last: the
session, as `rtbot.runtime.dump` writes it.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot import CheckpointError
from rtbot.adapter import decode_blob, describe_differences, encode_blob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spark_adapter.partition import JobSpec

VERSION = 2
LENGTH = struct.Struct("<Q")
DIGEST = 32
"""The last bytes of a container."""

SCHEMA = "/schema"
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
OTHER = (
    "start the query as the checkpoint was made, or with a new checkpoint and initial_state="
    "state_of(history, ...)"
)


@dataclass(frozen=True)
class ShardLayout:
    """How keys are assigned: to `buckets` shard groups, each of `slices` shards."""

    buckets: int
    slices: int = 1

    def __post_init__(self) -> None:
        if min(self.buckets, self.slices) < 1:
            raise TypeError("buckets and slices are numbers from 1 on")


@dataclass(frozen=True)
class ShardState:
    """What the bytes of a shard hold; the dump of the session is not read yet."""

    header: dict[str, Any]
    tables: dict[str, pa.Table]
    schema: pa.Schema
    dump: bytes


def encode_state(saved: ShardState) -> bytes:
    """Return the bytes of a shard."""
    arrays = {SCHEMA: np.frombuffer(saved.schema.serialize(), np.uint8)}
    for name, table in saved.tables.items():
        arrays[name] = np.frombuffer(_to_ipc(table), np.uint8)
    header = {"slice": VERSION, "session": _digest(saved.dump), **saved.header}
    own = encode_blob(header, arrays)
    return LENGTH.pack(len(own)) + own + saved.dump


def decode_state(state: bytes) -> ShardState:
    """Return what `encode_state` was given; raise CheckpointError if the bytes are not its own."""
    end = _find_own_end(state)
    header, arrays = decode_blob(state[LENGTH.size : end])
    check_version(header.get("slice"))
    if header["session"] != _digest(state):
        message = "the state is damaged: its parts do not belong together"
        raise CheckpointError(message, code="RT311")
    schema = pa.ipc.read_schema(pa.py_buffer(arrays.pop(SCHEMA)))
    tables = {name: _from_ipc(array) for name, array in arrays.items()}
    return ShardState(header, tables, schema, state[end:])


def digest_state(state: bytes) -> str:
    """Return what identifies a state: the digest of its own part, which has that of the rest."""
    return _digest(state[: _find_own_end(state)])


def format_notes(**told: Any) -> str:
    """Return what a shard group knows beside its shards as text."""
    return json.dumps({"version": VERSION, **told})


def parse_notes(text: str) -> dict[str, Any]:
    """Return what `format_notes` was given; raise CheckpointError if the text is not its own."""
    try:
        found: dict[str, Any] = json.loads(text)
        version = found["version"]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError("the checkpoint is not of a stream of rtbot", code="RT311") from error
    check_version(version)
    return found


def check_version(version: Any) -> None:
    """Refuse what another version of the adapter wrote."""
    if version != VERSION:
        message = f"the state has format {version}; this version reads {VERSION}"
        hint = "use the version of rtbot that wrote it, or start again with a new checkpoint"
        raise CheckpointError(message, code="RT312", hint=hint)


def describe_form(work: JobSpec, split: ShardLayout) -> dict[str, Any]:
    """Return what must be equal for a state to fit, beside the graph itself."""
    io = work.graph.checked.io
    kinds = {field.name: str(field.type) for field in work.schema}
    return {
        "key": {name: kinds.get(name, "") for name in work.keys},
        "time": kinds[work.stamp],
        "inputs": "a relation for each" if work.port else "columns of one relation",
        "unit": io.unit,
        "duplicates": io.duplicates,
        "lateness": io.lateness,
        **asdict(split),
    }


def check_same(old: Mapping[str, Any], new: Mapping[str, Any], what: str = "form") -> None:
    """Refuse a state of another graph, or another form."""
    difference = describe_differences(old, new)
    if difference:
        message = f"the state is of another {what}: {difference}"
        raise CheckpointError(message, code="RT313", hint=_suggest_remedy(old, new))


def _suggest_remedy(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return what to do about a difference; if only the split differs, it has to be given."""
    split = {field.name: old[field.name] for field in fields(ShardLayout) if field.name in old}
    if not split or describe_differences(old, {**new, **split}):
        return OTHER
    told = ", ".join(f"{name}={number}" for name, number in split.items())
    return f"say {told}; by default buckets go by spark.sql.shuffle.partitions"


def _find_own_end(state: bytes) -> int:
    if len(state) < LENGTH.size:
        return len(state)
    return int(LENGTH.size + LENGTH.unpack(state[: LENGTH.size])[0])


def _digest(container: bytes) -> str:
    return container[-DIGEST:].hex()


def _to_ipc(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=COMPRESSED) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_ipc(array: np.ndarray) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(array)).read_all()
