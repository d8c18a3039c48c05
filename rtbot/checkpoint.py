"""Dumps: everything a session knows as bytes, and back. Never pickle.

A dump is a container (rtbot/storage/container.py) whose header says which graph it is of. A graph
that differs is refused with the difference named, as is one whose state this version lays out in
another way; docs/checkpoints.md says what a change of version has to keep.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import __version__
from rtbot.arrays import aligned
from rtbot.errors import CheckpointError, RtbotError
from rtbot.graph import Io
from rtbot.storage.container import decode, encode
from rtbot.storage.differences import differ

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rtbot.api import Graph
    from rtbot.plan import Plan
    from rtbot.session import Session

    Field = tuple[str, Any, Any, int | None]
    """An array that is state: name, owner, attribute or key, how much of it."""

__all__ = ["decode", "describe", "differ", "dump", "encode", "resume"]

ANEW = "resume with the graph and the parameters of the dump, or begin anew"


def dump(session: Session) -> bytes:
    """The bytes of a session."""
    session.intake.tidy(now=True)
    arrays: dict[str, np.ndarray] = {}
    for name, owner, field, count in _fields(session):
        arrays[name] = _get(owner, field)[:count]
    keys = session.keys
    header = {
        "rtbot": __version__,
        "graph": describe(session.plan),
        "state": _shape(session.plan),
        "io": asdict(session.io),
        "key": list(session.key),
        "queue_limit": session.queue_limit,
        "finished": session.finished,
        "slots": session.runner.capacity if keys is None else max(keys.count, 1),
        "rows": session.rows,
        "texts": session.texts.values,
        "own_rows": session.runner.own_rows,
        "feeds": {n: _feed_header(f) for n, f in session.feeds.items()},
        "keys": None if keys is None else _keys_header(keys),
    }
    return encode(header, arrays)


def _feed_header(feed: Any) -> dict[str, Any]:
    header = {"floor": feed.floor, "counts": feed.counts, "lost": feed.lost}
    if feed.holds:
        header |= {"order": feed.order, "unused": feed.unused}
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
        "steps": plan.foreign,
    }


def _shape(plan: Plan) -> str:
    """A digest of how the state of a plan is laid out."""
    layout = plan.layout
    kinds = [kind for kind, _ in layout.header]
    parts = [kinds, layout.scalars, layout.template_parts, layout.width, layout.length]
    pools = [[str(port) for port in call.ports] for call in plan.pairings]
    return hashlib.sha256(json.dumps([*parts, pools]).encode()).hexdigest()


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
        for field in ("frontier", "roots"):
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
    try:
        return _resumed(graph, header, arrays, tap, compiled)
    except (RtbotError, MemoryError):
        raise
    except Exception as error:
        message = "the dump does not hold what a dump of this graph holds"
        raise CheckpointError(message, code="RT311") from error


def _resumed(
    graph: Graph,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    tap: Iterable[str],
    compiled: bool | None,
) -> Session:
    io = header["io"]
    io["key"] = tuple(io["key"])
    session = graph.start(
        tuple(header["key"]), tap=tap, queue_limit=header["queue_limit"], compiled=compiled
    )
    _check(session.plan, header)
    fresh = type(session)(
        session.plan,
        Io(**io),
        tuple(header["key"]),
        queue_limit=header["queue_limit"],
        compiled="INTERPRETED" not in vars(session.module),
    )
    _restore(fresh, header, arrays)
    return fresh


def _check(plan: Plan, header: Mapping[str, Any]) -> None:
    """Refuse the dump of another graph, or of a version that lays its state out otherwise."""
    difference = differ(header["graph"], json.loads(json.dumps(describe(plan))))
    if difference:
        message = f"the dump is of another graph: {difference}"
        raise CheckpointError(message, code="RT313", hint=ANEW)
    if header["state"] != _shape(plan):
        message = f"rtbot {header['rtbot']} wrote the dump, whose state is laid out otherwise"
        hint = "use the version of rtbot that wrote it, or begin anew"
        raise CheckpointError(message, code="RT312", hint=hint)


def _restore(session: Session, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    runner, keys = session.runner, session.keys
    if len(arrays["state"]) != runner.length + header["slots"] * runner.width:
        raise ValueError("slots that the state does not have")
    if keys is not None:
        _restore_keys(keys, header["keys"])
        if len(arrays["keys/words"]) != keys.count * keys.width:
            raise ValueError("keys that are not there")
    runner.grow(header["slots"])
    for name, owner, field, count in _fields(session):
        array = arrays[name]
        if array.dtype != _get(owner, field).dtype or count not in (None, len(array)):
            raise TypeError(f"{name} is {len(array)} words of {array.dtype}")
        if name == "state":
            words = aligned(len(array))
            words[:] = array
            array = words
        _set(owner, field, array)
    runner.capacity = header["slots"]
    runner.renew_views()
    for name, feed in session.feeds.items():
        _restore_feed(feed, header["feeds"][name], runner.capacity)
    runner.own_rows = dict(header["own_rows"])
    session.rows = dict(header["rows"])
    session.finished = header["finished"]
    session.texts.restore(header["texts"])
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
        feed.rebuild()
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
