"""Dumps: everything a session knows as bytes, and back. Never pickle.

A dump is a container (rtbot/storage/container.py): what each owner of state saves, by name, and a
header that identifies its graph. A graph that differs is refused with the difference named;
docs/checkpoints.md has the rules for changes of version.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rtbot import __version__
from rtbot.compiler.own_operators import describe_formula_changes, list_other_packages
from rtbot.core.errors import CheckpointError, RtbotError
from rtbot.runtime.dump_formats import name_arrays
from rtbot.runtime.ingest import UNKEYED
from rtbot.runtime.input_options import InputOptions
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences
from rtbot.tables.column_names import ColumnNames

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from rtbot.compiler.plan import Plan
    from rtbot.graph.model import Io
    from rtbot.runtime.session import Session

    Begin = Callable[..., Session]
    """Makes a session, as the class does."""

IO_KEYS = ("unit", "time", "key", "late", "duplicates", "lateness", "bad")
"""Keys of `io` that the rows of a session depend on; how files are written is not among them."""

RESUME_HINT = "resume with the graph and the parameters of the dump, or start again"


def dump(session: Session) -> bytes:
    """Return the bytes of a session: what is alive in it, by owner and name; change nothing."""
    keys = session.keys
    slots = UNKEYED if keys is None else keys.list_open_slots()
    texts, codes = session.texts.save(session.runner.list_text_codes(slots))
    arrays = {"texts": codes}
    owners: dict[str, Any] = {}
    for name, owner in session.list_owners().items():
        owners[name], own = owner.save(slots)
        arrays |= {f"{name}/{field}": array for field, array in own.items()}
    header = {
        "rtbot": __version__,
        "graph": session.plan.description,
        "own_operators": session.plan.own_operators,
        "io": describe_io(session.io),
        "own": {name: describe_io(own) for name, own in session.own.items()},
        "key": list(session.key),
        "columns": asdict(session.columns),
        "queue_limit": session.queue_limit,
        "finished": session.finished,
        "slots": len(slots),
        "rows": session.rows,
        "texts": texts,
        "own_rows": session.runner.own_rows,
        "owners": owners,
    }
    return encode_blob(header, arrays)


def is_staged(header: Any) -> bool:
    """Return whether a dump is of a graph with change streams."""
    return isinstance(header, dict) and "staged" in header


def describe_io(io: Io) -> dict[str, Any]:
    """Return the keys of `io` that rows depend on, as JSON can hold them."""
    return {name: getattr(io, name) for name in IO_KEYS}


def restore_io(saved: Mapping[str, Any], io: Io) -> Io:
    """Return `io` with the keys that were saved; older dumps have one time column, or None."""
    given = {name: saved[name] for name in IO_KEYS}
    time = given["time"] or ()
    given["time"] = (time,) if isinstance(time, str) else tuple(time)
    return replace(io, **given | {"key": tuple(given["key"])})


def resume(plan: Plan, blob: bytes, begin: Begin) -> Session:
    """Return a session that goes on exactly where the dumped one was; `begin` makes a new one."""
    header, arrays = decode_blob(bytes(blob))
    if is_staged(header):
        message = "the dump is of another graph, one with change streams"
        raise CheckpointError(message, code="RT313", hint=RESUME_HINT)
    try:
        header, arrays = name_arrays(plan, header, arrays)
        _check_graph(plan, header)
        io = restore_io(header["io"], plan.checked.io)
        inputs = plan.checked.inputs
        own = {n: restore_io(o, inputs[n].io or io) for n, o in header.get("own", {}).items()}
        options = InputOptions(own, read_column_names(header.get("columns", {})))
        limit = header["queue_limit"]
        session = begin(plan, io, header["key"], inputs=options, queue_limit=limit)
        _restore(session, header, arrays)
    except (RtbotError, MemoryError):
        raise
    except Exception as error:
        message = "the dump does not hold what a dump of this graph holds"
        raise CheckpointError(message, code="RT311") from error
    return session


def read_column_names(saved: Mapping[str, Any]) -> ColumnNames:
    """Return the columns that were named for the run."""
    return ColumnNames(tuple(saved.get("time", ())), dict(saved.get("inputs", {})))


def _check_graph(plan: Plan, header: Mapping[str, Any]) -> None:
    """Refuse the dump of another graph."""
    found = [describe_differences(header["graph"], json.loads(json.dumps(plan.description)))]
    noted, now = header.get("own_operators", {}), plan.own_operators
    found += describe_formula_changes(noted, now)
    if any(found):
        others = list_other_packages(noted, now)
        told = [f"{name} was of {was} and is of {own}" for name, (was, own) in others.items()]
        message = f"the dump is of another graph: {'; '.join([*told, *filter(None, found)])}"
        needed = " and ".join(sorted({was for was, _ in others.values()}))
        hint = f"install {needed}, or start again" if others else RESUME_HINT
        raise CheckpointError(message, code="RT313", hint=hint)


def _restore(session: Session, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Put everything into a session that is new."""
    if header["slots"] > session.runner.capacity:
        session.runner.resize(header["slots"])
    owned: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        owner_name, _, field = name.partition("/")
        owned.setdefault(owner_name, {})[field] = array
    for name, owner in session.list_owners().items():
        owner.restore(header["owners"][name], owned.get(name, {}))
    session.runner.own_rows = dict(header["own_rows"])
    session.rows = dict(header["rows"])
    session.finished = header["finished"]
    session.texts.load(header["texts"], arrays["texts"])
    session.runner.renew_views()
