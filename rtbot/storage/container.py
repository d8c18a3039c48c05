"""A header and arrays as bytes in which any damage is detected.

    magic               11 bytes
    format              4 bytes, little endian
    length of the whole 8 bytes
    length of the head  8 bytes
    head                JSON: the header, and of every array its name, type and length
    arrays              little endian, one after the other
    SHA-256             of everything before it

The lengths and the digest are verified before anything else is read, and no length in the header
decides how much memory is taken: arrays are cut out of the bytes that exist.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAGIC = b"rtbot\x00dump\n"
FORMAT = 3
READABLE = (1, 2, FORMAT)
"""Formats that are read: before the third, state had places and no names; before the second, a dump
also held what is no longer alive."""
LENGTHS = struct.Struct("<IQQ")
START = len(MAGIC) + LENGTHS.size
DIGEST = hashlib.sha256().digest_size
DTYPES = ("<f8", "<i8", "<i4", "|b1", "|u1")


def encode_blob(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Encode a header that JSON can hold and named one-dimensional arrays as one blob."""
    listed = [[name, a.dtype.newbyteorder("<").str, len(a)] for name, a in arrays.items()]
    head = json.dumps({"header": header, "arrays": listed}, separators=(",", ":")).encode()
    parts = [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    length = START + len(head) + sum(map(len, parts)) + DIGEST
    body = b"".join([MAGIC, LENGTHS.pack(FORMAT, length, len(head)), head, *parts])
    return body + hashlib.sha256(body).digest()


def decode_blob(blob: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Decode header and arrays of a blob; raise CheckpointError if a byte is not as written."""
    head = verify_blob(blob)
    try:
        content = json.loads(blob[START : START + head])
        header, listed = content["header"], content["arrays"]
        arrays, place = {}, START + head
        for name, dtype, count in listed:
            size = _size(dtype, count)
            array = np.frombuffer(blob[place : place + size], dtype)
            arrays[str(name)] = _whole(array, count)
            place += size
        if place != len(blob) - DIGEST:
            raise _make_format_error()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _make_format_error() from error
    return header, arrays


def is_plausible(start: bytes, size: int) -> bool:
    """Return whether a file of so many bytes that begins with these `START` bytes may be a blob."""
    if len(start) < START or start[: len(MAGIC)] != MAGIC:
        return False
    version, length, _ = LENGTHS.unpack(start[len(MAGIC) :])
    return bool(version in READABLE and length == size)


def verify_blob(blob: bytes) -> int:
    """Return the length of the head, if a blob is what was written and in the format of today."""
    if len(blob) < START + DIGEST or blob[: len(MAGIC)] != MAGIC:
        raise CheckpointError("this is not a dump of rtbot", code="RT311")
    version, length, head = LENGTHS.unpack(blob[len(MAGIC) : START])
    if length != len(blob) and version in READABLE:
        message = f"the dump is damaged: it has {len(blob):,} bytes, and not {length:,}"
        raise CheckpointError(message, code="RT311")
    if hashlib.sha256(memoryview(blob)[:-DIGEST]).digest() != blob[-DIGEST:]:
        raise CheckpointError("the dump is damaged: its digest does not match", code="RT311")
    if version not in READABLE:
        hint = "use the version of rtbot that wrote it, or start again"
        message = f"the dump has format {version}; this version reads up to {FORMAT}"
        raise CheckpointError(message, code="RT312", hint=hint)
    if head > len(blob) - START - DIGEST:
        raise _make_format_error()
    return int(head)


def _size(dtype: str, count: int) -> int:
    if dtype not in DTYPES or not isinstance(count, int) or count < 0:
        raise _make_format_error()
    return np.dtype(dtype).itemsize * count


def _whole(array: np.ndarray, count: int) -> np.ndarray:
    if len(array) != count:
        raise _make_format_error()
    return array.copy()


def _make_format_error() -> CheckpointError:
    """Return the error for bytes that are whole and yet not in the form that is written here."""
    return CheckpointError("the dump does not hold what a dump holds", code="RT311")
