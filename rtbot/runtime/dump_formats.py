"""Dumps of formats 1 and 2 in the present format: their state had places, and now has names.

Places are known only to a version with the same layout of state; a dump of another one is refused.
Format 1 also has slots of closed keys and nodes in which no row waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.compiler.plan import select_chosen
from rtbot.core.errors import CheckpointError
from rtbot.runtime.reorder import LINKS, find_nodes, number_nodes
from rtbot.runtime.state_owner import OTHER_STATE, describe_fields, split_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.compiler.plan import Plan

    Arrays = Mapping[str, np.ndarray]

NONE = np.zeros(0, np.int64)


def name_arrays(
    plan: Plan, header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return header and arrays of any format as the present one has them."""
    if "state" not in header:
        return header, arrays
    if header["state"] != plan.state_digest:
        message = f"rtbot {header['rtbot']} wrote the dump, whose state is laid out otherwise"
        raise CheckpointError(message, code="RT312", hint=OTHER_STATE)
    for name, node in header["graph"]["operators"].items():
        node["values"] = select_chosen(node["values"], plan.defaults.get(name, {}))
    keys = header.pop("keys")
    is_open = np.ones(header["slots"], np.bool_)
    is_open[[] if keys is None else keys["free"]] = False
    slots = np.flatnonzero(is_open)
    named = {"texts": arrays.get("texts", np.arange(len(header["texts"])))}
    owners: dict[str, Any] = {}
    for name, values, own in _list_owners(plan, header, arrays, slots):
        owners[name] = values
        named |= {f"{name}/{field}": array for field, array in own.items()}
    if keys is not None:
        owners["keys"] = keys | {"count": len(slots)}
        width = len(arrays["keys/words"]) // max(keys["count"], 1)
        named["keys/words"] = _select(arrays["keys/words"], width, slots)
        for place, texts in enumerate(keys["texts"]):
            codes = arrays.get(f"keys/texts/{place}", np.arange(len(texts)))
            named[f"keys/texts.{place}"] = codes
    return header | {"slots": len(slots), "owners": owners}, named


def _select(array: np.ndarray, width: int, slots: np.ndarray) -> np.ndarray:
    rows: np.ndarray = array.reshape(-1, width)[slots]
    return rows.ravel()


def _list_owners(
    plan: Plan, header: Mapping[str, Any], arrays: Arrays, slots: np.ndarray
) -> Iterator[tuple[str, dict[str, Any], dict[str, np.ndarray]]]:
    """Return the owners of state of a session: their names, values and arrays."""
    layout, words = plan.layout, arrays["state"]
    counters = words[: layout.length].view(np.int64)
    rows = words[layout.length :].reshape(-1, layout.width)[slots]
    values = {
        "counters": {name: int(counters[index]) for name, index in plan.counters.items()},
        "fields": describe_fields(layout),
    }
    yield "operators", values, split_rows(layout, rows)
    frontiers = {}
    for index, name in enumerate(plan.frontier_names):
        for before, now in (("frontier", "frontier"), ("pin", "held_back"), ("known", "known")):
            if f"{before}/{index}" in arrays:
                frontiers[f"{name}/{now}"] = arrays[f"{before}/{index}"][slots]
    yield "frontiers", {}, frontiers
    for number, name in enumerate(plan.pairing_names):
        ports = plan.pairings[number].ports
        old = {n: arrays[f"pool/{number}/{n}"] for n in ("time", "value", "valid", "next")}
        width = pairing_layout.count_key_words(ports)
        old["queue"] = _select(arrays[f"pool/{number}/queue"], width, slots)
        words = arrays[f"pool/{number}/header"]
        lost = []
        for port in range(len(ports)):
            old[f"watched.{port}"] = arrays[f"pool/{number}/watched/{port}"][slots]
            lost.append(int(words[pairing_layout.locate_word(port, pairing_layout.LOST)]))
        yield f"pairing {name}", {"lost": lost}, old
    for name, values in header["feeds"].items():
        yield f"input {name}", values, _name_port(f"feed/{name}", values, arrays, slots)


def _name_port(
    name: str, values: Mapping[str, Any], arrays: Arrays, slots: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the arrays of an input; rows that wait get nodes without gaps."""
    found = {field: arrays[f"{name}/{field}"][slots] for field in ("last", "begun")}
    if "order" not in values:
        return found
    found["frontier"] = arrays[f"{name}/frontier"][slots]
    pool = {field: arrays[f"{name}/pool/{field}"] for field in ("time", "order", *LINKS)}
    pool |= {field: arrays[f"{name}/{field}"] for field in ("value", "valid")}
    unused = arrays[f"{name}/free"][: values["unused"]] if values["unused"] else NONE
    nodes = find_nodes(len(pool["time"]), unused)
    return found | number_nodes(arrays[f"{name}/roots"][slots], pool, nodes)
