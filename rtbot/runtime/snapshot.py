"""Snapshots: copies of all that a session knows and is alive, and back into a new session.

Open keys are numbered in their order, rows that wait lie without gaps, and of texts there are those
that are needed: the size is that of what is alive, whatever has been there. What follows from the
rest is left out: heaps, the table of keys, frontiers that are others'. Nothing in the session
changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.runtime.kernels.rows import LAST
from rtbot.runtime.reorder import ReorderBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.runtime.keys import KeyTable
    from rtbot.runtime.pairing_pool import PairingPool
    from rtbot.runtime.session import Session
    from rtbot.tables.string_dictionary import StringDictionary

    Arrays = dict[str, np.ndarray]

UNKEYED = np.zeros(1, np.int64)
POOL = ("time", "value", "valid", "next")


def by_slot(session: Session) -> Iterator[tuple[str, np.ndarray, int]]:
    """Every array with a row per key, except the state: its name, itself, and words per key."""
    runner = session.runner
    progress = runner.progress
    tables = {"frontier": progress.frontiers, "pin": progress.held_back, "known": progress.known}
    for title, table in tables.items():
        for index, array in table.items():
            yield f"{title}/{index}", array, 1
    for number, pool in enumerate(runner.pools):
        yield f"pool/{number}/queue", pool.queue, pool.width
        for port, watched in enumerate(pool.watched):
            yield f"pool/{number}/watched/{port}", watched, 1
    for name, feed in session.input_ports.items():
        yield f"feed/{name}/last", feed.last, 1
        yield f"feed/{name}/begun", feed.begun, 1
        if isinstance(feed, ReorderBuffer):
            yield f"feed/{name}/frontier", feed.frontier, 1
            yield f"feed/{name}/roots", feed.roots, 1


# ---- out of a session


def open_slots(session: Session) -> np.ndarray:
    """The slots that are dumped, in the order in which they are."""
    return UNKEYED if session.keys is None else session.keys.list_open_slots()


def taken(session: Session, slots: np.ndarray) -> Arrays:
    """Return copies of all arrays that are state."""
    runner = session.runner
    rows = runner.state[runner.length :].reshape(-1, runner.width)[slots]
    arrays = {"state": np.concatenate([runner.state[: runner.length], rows.ravel()])}
    for name, array, width in by_slot(session):
        arrays[name] = array.reshape(-1, width)[slots].ravel()
    for number, pool in enumerate(runner.pools):
        _take_pool(session, f"pool/{number}", pool, arrays)
    for name, feed in session.input_ports.items():
        if isinstance(feed, ReorderBuffer):
            _take_held(f"feed/{name}", feed, arrays)
    arrays["texts"] = needed(session.texts, runner.codes(slots))
    return arrays


def _take_pool(session: Session, name: str, pool: PairingPool, arrays: Arrays) -> None:
    queue = arrays[f"{name}/queue"].view(np.int64)
    parts = []
    fresh = 0
    for port in range(len(pool.call.ports)):
        parts.append(pool.pack(session.kernels, queue, port, fresh))
        fresh += len(parts[-1][1])
    places = np.concatenate([places for places, _ in parts])
    header = pool.header.copy()
    header[pairing_layout.FREE], header[pairing_layout.FRESH] = -1, fresh
    for port in range(len(pool.call.ports)):
        waits = arrays[f"{name}/watched/{port}"] != LAST
        header[pairing_layout.locate_word(port, pairing_layout.WATCHED)] = np.count_nonzero(waits)
    arrays[f"{name}/header"] = header
    for field in ("time", "value", "valid"):
        array = getattr(pool, field)
        arrays[f"{name}/{field}"] = found = np.zeros(len(places), array.dtype)
        found[places >= 0] = array[places[places >= 0]]
    arrays[f"{name}/next"] = np.concatenate([following for _, following in parts])


def _take_held(name: str, feed: ReorderBuffer, arrays: Arrays) -> None:
    waits = np.ones(len(feed.free), np.bool_)
    waits[feed.free[: feed.unused]] = False
    nodes = np.flatnonzero(waits)
    numbers = np.full(len(waits) + 1, -1)
    numbers[nodes] = np.arange(len(nodes))
    arrays[f"{name}/roots"] = numbers[arrays[f"{name}/roots"]]
    for field, array in feed.pool.items():
        found = array[nodes]
        arrays[f"{name}/pool/{field}"] = numbers[found] if field in ("child", "sibling") else found
    arrays[f"{name}/value"] = feed.pool_value.value[nodes]
    assert feed.pool_value.valid is not None
    arrays[f"{name}/valid"] = feed.pool_value.valid[nodes]


def needed(texts: StringDictionary, codes: Iterator[np.ndarray]) -> np.ndarray:
    """The codes among these that are those of texts, ascending."""
    found = np.zeros(len(texts.values), np.bool_)
    for part in codes:
        found[part[(part >= 0) & (part < len(found))]] = True
    return np.flatnonzero(found)


def keys_taken(keys: KeyTable, slots: np.ndarray, arrays: Arrays) -> dict[str, Any]:
    """The header of these keys; their words and the codes of their texts go to the arrays."""
    words = keys.rows_of(slots)
    nulls = bool(keys.nulls and words[:, -1].any())
    width = len(keys.names) + nulls
    arrays["keys/words"] = words[:, :width].ravel()
    texts = []
    for place, known in enumerate(keys.texts):
        codes = needed(known, iter([words[:, place]]))
        arrays[f"keys/texts/{place}"] = codes
        texts.append([known.values[code] for code in codes])
    kinds = keys.kinds
    return {"kinds": kinds, "nulls": nulls, "texts": texts, "count": len(slots), "free": []}


# ---- into a session


def restore(session: Session, arrays: Mapping[str, np.ndarray], slots: int) -> None:
    """Put arrays into a session that is new; raises ValueError where they do not fit."""
    runner = session.runner
    if slots > runner.capacity:
        runner.resize(slots)
    _fill(runner.state, arrays["state"], runner.length + slots * runner.width)
    for name, array, width in by_slot(session):
        _fill(array, arrays[name], slots * width)
    for number, pool in enumerate(runner.pools):
        _restore_pool(f"pool/{number}", pool, arrays)
    for name, feed in session.input_ports.items():
        if isinstance(feed, ReorderBuffer):
            _restore_held(f"feed/{name}", feed, arrays)
    runner.renew_views()


def _fill(own: np.ndarray, given: np.ndarray, size: int) -> None:
    if given.dtype != own.dtype or len(given) != size:
        raise ValueError(f"{len(given)} words of {given.dtype}, not {size} of {own.dtype}")
    own[:size] = given


def _like(own: np.ndarray, given: np.ndarray, size: int) -> np.ndarray:
    if given.dtype != own.dtype or len(given) != size:
        raise ValueError(f"{len(given)} words of {given.dtype}, not {size} of {own.dtype}")
    return given


def _check_places(places: np.ndarray, size: int) -> None:
    if places.max(initial=-1) >= max(size, 1):
        raise ValueError(f"a place beyond {size}")


def _restore_pool(name: str, pool: PairingPool, arrays: Mapping[str, np.ndarray]) -> None:
    _fill(pool.header, arrays[f"{name}/header"], len(pool.header))
    blocks = len(arrays[f"{name}/next"])
    for field in POOL:
        size = blocks if field == "next" else blocks * pairing_layout.BLOCK
        setattr(pool, field, _like(getattr(pool, field), arrays[f"{name}/{field}"], size))
    heads = pool.queue.view(np.int64).reshape(-1, pool.width)
    for port in range(len(pool.call.ports)):
        _check_places(heads[:, pairing_layout.QUEUE * port], blocks)
    _check_places(pool.next, blocks)
    for port, watched in enumerate(pool.watched):
        slots = np.flatnonzero(watched != LAST)
        pool.header[pairing_layout.locate_word(port, pairing_layout.WATCHED)] = len(slots)
        pool.heaps[port] = pool.wakes(port, slots, len(slots))


def _restore_held(name: str, feed: ReorderBuffer, arrays: Mapping[str, np.ndarray]) -> None:
    size = len(arrays[f"{name}/pool/time"])
    for field, array in feed.pool.items():
        feed.pool[field] = _like(array, arrays[f"{name}/pool/{field}"], size)
    for links in (feed.roots, feed.pool["child"], feed.pool["sibling"]):
        _check_places(links, size)
    kept = feed.pool_value
    assert kept.valid is not None
    kept.value = _like(kept.value, arrays[f"{name}/value"], size)
    kept.valid = _like(kept.valid, arrays[f"{name}/valid"], size)
    free = arrays.get(f"{name}/free", np.full(size, -1))
    feed.free = _like(feed.free, free, size)


def listed(texts: list[str | None], codes: np.ndarray | None) -> list[str | None]:
    """Texts by their codes, as `StringDictionary.restore` takes them."""
    if codes is None:
        return texts
    values: list[str | None] = [None] * (int(codes.max(initial=-1)) + 1)
    for code, text in zip(codes.tolist(), texts, strict=True):
        values[code] = text
    return values
