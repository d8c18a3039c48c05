"""Dumps: everything a session knows as bytes, and back. Never pickle.

A dump is a container (rtbot/storage/container.py) whose header says which graph it is of. A graph
that differs is refused with the difference named, as is one whose state this version lays out in
another way; docs/checkpoints.md says what a change of version has to keep.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rtbot import __version__
from rtbot.core.errors import CheckpointError, RtbotError
from rtbot.graph.model import Io
from rtbot.runtime import snapshot
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from rtbot.compiler.plan import Plan
    from rtbot.runtime.keys import KeyTable
    from rtbot.runtime.session import Session

    Begin = Callable[..., Session]
    """Makes a session, as the class does."""

__all__ = ["decode_blob", "describe_differences", "describe_plan", "dump", "encode_blob", "resume"]

RESUME_HINT = "resume with the graph and the parameters of the dump, or begin anew"


def dump(session: Session) -> bytes:
    """The bytes of a session."""
    keys = session.keys
    slots = snapshot.open_slots(session)
    arrays = snapshot.taken(session, slots)
    header = {
        "rtbot": __version__,
        "graph": describe_plan(session.plan),
        "state": session.plan.state_digest,
        "io": asdict(session.io),
        "key": list(session.key),
        "queue_limit": session.queue_limit,
        "finished": session.finished,
        "slots": len(slots),
        "rows": session.rows,
        "texts": [session.texts.values[code] for code in arrays["texts"]],
        "own_rows": session.runner.own_rows,
        "feeds": {n: _make_port_header(f) for n, f in session.input_ports.items()},
        "keys": None if keys is None else snapshot.keys_taken(keys, slots, arrays),
    }
    return encode_blob(header, arrays)


def _make_port_header(feed: Any) -> dict[str, Any]:
    header = {"floor": feed.floor, "counts": feed.counts, "lost": feed.lost}
    if feed.holds:
        header |= {"order": feed.order, "unused": 0}
    return header


def describe_plan(plan: Plan) -> dict[str, Any]:
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
        "steps": plan.user_defined,
    }


def resume(plan: Plan, blob: bytes, begin: Begin) -> Session:
    """A session that goes on exactly where the dumped one stood; `begin` makes a new one."""
    header, arrays = decode_blob(bytes(blob))
    try:
        _check_header(plan, header)
        io = Io(**header["io"] | {"key": tuple(header["io"]["key"])})
        session = begin(plan, io, header["key"], queue_limit=header["queue_limit"])
        _restore(session, header, arrays)
    except (RtbotError, MemoryError):
        raise
    except Exception as error:
        message = "the dump does not hold what a dump of this graph holds"
        raise CheckpointError(message, code="RT311") from error
    return session


def _check_header(plan: Plan, header: Mapping[str, Any]) -> None:
    """Refuse the dump of another graph, or of a version that lays its state out otherwise."""
    difference = describe_differences(header["graph"], json.loads(json.dumps(describe_plan(plan))))
    if difference:
        message = f"the dump is of another graph: {difference}"
        raise CheckpointError(message, code="RT313", hint=RESUME_HINT)
    if header["state"] != plan.state_digest:
        message = f"rtbot {header['rtbot']} wrote the dump, whose state is laid out otherwise"
        hint = "use the version of rtbot that wrote it, or begin anew"
        raise CheckpointError(message, code="RT312", hint=hint)


def _restore(session: Session, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    keys = session.keys
    if keys is not None:
        _restore_keys(keys, header["keys"], arrays)
    snapshot.restore(session, arrays, header["slots"])
    for name, feed in session.input_ports.items():
        _restore_port(feed, header["feeds"][name])
    session.runner.own_rows = dict(header["own_rows"])
    session.rows = dict(header["rows"])
    session.finished = header["finished"]
    session.texts.restore(snapshot.listed(header["texts"], arrays.get("texts")))


def _restore_port(feed: Any, header: Mapping[str, Any]) -> None:
    feed.floor = header["floor"]
    feed.counts = dict(header["counts"])
    feed.lost = dict(header["lost"])
    if feed.holds:
        feed.order, feed.unused = header["order"], header["unused"]
        feed.rebuild()


def _restore_keys(
    keys: KeyTable, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    keys.kinds = header["kinds"]
    keys.nulls = header["nulls"]
    for place, (texts, values) in enumerate(zip(keys.texts, header["texts"], strict=True)):
        texts.restore(snapshot.listed(values, arrays.get(f"keys/texts/{place}")))
    keys.ordered = header.get("ordered", True)
    keys.restore(arrays["keys/words"], header["count"], header["free"])
