"""Dumps: everything a session knows as bytes, and back. Never pickle.

A dump is: the magic and format version, the length of a JSON header, the header (fingerprint of the
graph, policies, what arrays there are), the arrays, and a SHA-256 of all that, which is verified
before anything else is read.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.arrays import aligned
from rtbot.errors import CheckpointError
from rtbot.graph import Io

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rtbot.api import Graph
    from rtbot.plan import Plan
    from rtbot.session import Session

    Field = tuple[str, Any, Any, int | None]
    """An array that is state: name, owner, attribute or key, how much of it."""

MAGIC = b"rtbot\x00dump"
FORMAT = 1
DIGEST = 32
DTYPES = ("<f8", "<i8", "<i4", "|b1", "|u1")


def encode(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """One blob of a header that JSON can hold and named one-dimensional arrays."""
    listed = [[name, a.dtype.newbyteorder("<").str, len(a)] for name, a in arrays.items()]
    text = json.dumps({"header": header, "arrays": listed}, separators=(",", ":")).encode()
    parts = [MAGIC, struct.pack("<IQ", FORMAT, len(text)), text]
    parts += [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def decode(blob: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """The header and arrays of a blob; raises CheckpointError if a byte of it is not as written."""
    start = len(MAGIC) + 12
    if len(blob) < start + DIGEST or blob[: len(MAGIC)] != MAGIC:
        raise CheckpointError("this is no dump of rtbot", code="RT311")
    body, digest = blob[:-DIGEST], blob[-DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError("the dump is damaged: its digest does not match", code="RT311")
    version, length = struct.unpack("<IQ", body[len(MAGIC) : start])
    if version != FORMAT:
        message = f"the dump has format {version}; this version reads {FORMAT}"
        raise CheckpointError(message, code="RT312")
    content = json.loads(body[start : start + length])
    arrays, place = {}, start + length
    for name, dtype, count in content["arrays"]:
        if dtype not in DTYPES:
            raise CheckpointError(f"the dump has an array of type {dtype}", code="RT311")
        size = np.dtype(dtype).itemsize * count
        arrays[name] = np.frombuffer(body[place : place + size], dtype).copy()
        place += size
    return content["header"], arrays


def dump(session: Session) -> bytes:
    """The bytes of a session."""
    arrays: dict[str, np.ndarray] = {}
    for name, owner, field, count in _fields(session):
        arrays[name] = _get(owner, field)[:count]
    keys = session.keys
    header = {
        "graph": describe(session.plan),
        "io": asdict(session.io),
        "key": list(session.key),
        "queue_limit": session.queue_limit,
        "finished": session.finished,
        "slots": session.runner.capacity if keys is None else max(keys.count, 1),
        "rows": session.rows,
        "texts": session.texts.values,
        "own_rows": session.runner.own_rows,
        "emitted": [pool.emitted for pool in session.runner.pools],
        "feeds": {n: _feed_header(f) for n, f in session.feeds.items()},
        "keys": None if keys is None else _keys_header(keys),
    }
    return encode(header, arrays)


def _feed_header(feed: Any) -> dict[str, Any]:
    header = {"floor": feed.floor, "counts": feed.counts, "lost": feed.lost}
    if feed.holds:
        header |= {"order": feed.order, "unused": feed.unused, "times": sorted(feed.times)}
    return header


def _keys_header(keys: Any) -> dict[str, Any]:
    return {
        "kinds": keys.kinds,
        "nulls": bool(keys.nulls),
        "texts": [t.values for t in keys.texts],
        "count": keys.count,
        "free": keys.free,
        "ordered": keys.ordered,
    }


def describe(plan: Plan) -> dict[str, Any]:
    """What must be equal for a dump to fit: the graph, its operators and their parameters."""
    checked = plan.checked
    nodes = {
        name: {
            "type": node.operator.__name__,
            "version": node.operator.version,
            "in": {p: str(r) for p, r in node.inputs.items()},
            "values": dict(node.values),
            "text": node.text,
        }
        for name, node in checked.nodes.items()
    }
    return {
        "inputs": {n: str(i.type) for n, i in checked.inputs.items()},
        "operators": nodes,
        "outputs": {n: str(r) for n, r in plan.outputs.items()},
        "code": hashlib.sha256(plan.text.encode()).hexdigest(),
    }


def _get(owner: Any, field: Any) -> np.ndarray:
    array: np.ndarray
    array = owner[field] if isinstance(owner, dict | list) else getattr(owner, field)
    return array


def _set(owner: Any, field: Any, value: np.ndarray) -> None:
    if isinstance(owner, dict | list):
        owner[field] = value
    else:
        setattr(owner, field, value)


def _fields(session: Session) -> Iterator[Field]:
    """Every array that is state."""
    runner, keys = session.runner, session.keys
    slots = runner.capacity if keys is None else max(keys.count, 1)
    slots = min(slots, runner.capacity)
    yield "state", runner, "state", runner.length + slots * runner.width
    progress = runner.progress
    tables = {"frontier": progress.frontiers, "pin": progress.pins, "known": progress.known}
    for title, table in tables.items():
        for index in table:
            yield f"{title}/{index}", table, index, slots
    for number, pool in enumerate(runner.pools):
        yield from _pool_fields(f"pool/{number}", pool, slots)
    for name, feed in session.feeds.items():
        yield from _feed_fields(f"feed/{name}", feed, slots)
    if keys is not None:
        yield "keys/words", keys, "words", keys.count * keys.width


def _pool_fields(name: str, pool: Any, slots: int) -> Iterator[Field]:
    yield f"{name}/header", pool, "header", None
    yield f"{name}/queue", pool, "queue", slots * pool.width
    for field in ("time", "value", "valid", "next"):
        yield f"{name}/{field}", pool, field, None
    for port in range(len(pool.watched)):
        yield f"{name}/watched/{port}", pool.watched, port, slots
    for port, heap in enumerate(pool.heaps):
        pool.heaps[port] = list(heap)
        for part, title in enumerate(("time", "slot")):
            yield f"{name}/heap/{port}/{title}", pool.heaps[port], part, None


def _feed_fields(name: str, feed: Any, slots: int) -> Iterator[Field]:
    yield f"{name}/last", feed, "last", slots
    yield f"{name}/begun", feed, "begun", slots
    if feed.holds:
        for field in ("frontier", "roots", "watched"):
            yield f"{name}/{field}", feed, field, slots
        for field in feed.pool:
            yield f"{name}/pool/{field}", feed.pool, field, None
        yield f"{name}/value", feed.pool_value, "value", None
        yield f"{name}/valid", feed.pool_value, "valid", None
        yield f"{name}/free", feed, "free", None


def resume(
    graph: Graph, blob: bytes, *, tap: Iterable[str] = (), compiled: bool | None = None
) -> Session:
    """A session that goes on exactly where the dumped one stood."""
    header, arrays = decode(bytes(blob))
    io = header["io"]
    io["key"] = tuple(io["key"])
    session = graph.start(
        tuple(header["key"]), tap=tap, queue_limit=header["queue_limit"], compiled=compiled
    )
    difference = differ(header["graph"], json.loads(json.dumps(describe(session.plan))))
    if difference:
        raise CheckpointError(f"the dump is of another graph: {difference}", code="RT313")
    fresh = type(session)(
        session.plan,
        Io(**io),
        tuple(header["key"]),
        queue_limit=header["queue_limit"],
        compiled="INTERPRETED" not in vars(session.module),
    )
    _restore(fresh, header, arrays)
    return fresh


def differ(old: Any, new: Any, path: str = "") -> str:
    """The first difference between two descriptions, in words; "" if there is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(n for n in new if n not in old)]:
            here = f"{path}.{name}" if path else name
            if name not in new:
                return f"{here} is gone"
            if name not in old:
                return f"{here} is new"
            found = differ(old[name], new[name], here)
            if found:
                return found
        return ""
    same = old == new or (old != old and new != new)
    return "" if same else f"{path} was {old!r} and is {new!r}"


def _restore(session: Session, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    runner, keys = session.runner, session.keys
    if keys is not None:
        _restore_keys(keys, header["keys"])
    runner.grow(header["slots"])
    for name, owner, field, _ in _fields(session):
        array = arrays[name]
        if name == "state":
            words = aligned(len(array))
            words[:] = array
            array = words
        _set(owner, field, array)
    runner.capacity = header["slots"]
    runner.renew_views()
    for name, feed in session.feeds.items():
        _restore_feed(feed, header["feeds"][name], runner.capacity)
    for pool, count in zip(runner.pools, header["emitted"], strict=True):
        pool.emitted = count
    runner.own_rows = dict(header["own_rows"])
    session.rows = dict(header["rows"])
    session.finished = header["finished"]
    for text in header["texts"]:
        session.texts.code(text)
    if keys is not None:
        keys.rebuild()


def _restore_feed(feed: Any, header: Mapping[str, Any], capacity: int) -> None:
    feed.floor = header["floor"]
    feed.counts = dict(header["counts"])
    feed.lost = dict(header["lost"])
    feed.pinned = np.zeros(capacity, np.uint8)
    feed.view = memoryview(feed.last)
    if feed.holds:
        feed.order, feed.unused = header["order"], header["unused"]
        feed.times = {(slot, time) for slot, time in header["times"]}
    else:
        feed.frontier = feed.last


def _restore_keys(keys: Any, header: Mapping[str, Any]) -> None:
    keys.kinds = header["kinds"]
    keys.nulls = header["nulls"]
    keys.texts = [type(t)(values) for t, values in zip(keys.texts, header["texts"], strict=True)]
    keys.count = header["count"]
    keys.free = list(header["free"])
    keys.closed = set(keys.free)
    keys.ordered = header["ordered"]
