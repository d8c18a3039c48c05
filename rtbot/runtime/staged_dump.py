"""Dumps of sessions of stages: a container with the dump of every part of series, and the regions.

The rules are those of `rtbot.runtime.dump`: never pickle, and a graph that differs is refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import __version__
from rtbot.compiler.plan import Plan
from rtbot.core.errors import CheckpointError, RtbotError
from rtbot.runtime.dump import (
    RESUME_HINT,
    describe_io,
    dump,
    is_staged,
    read_column_names,
    restore_io,
    resume,
)
from rtbot.runtime.input_options import InputOptions
from rtbot.runtime.session import Session
from rtbot.runtime.stage_runners import SeriesStageRunner
from rtbot.runtime.staged_session import StagedSession
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.runtime.staged_plan import StagedPlan


def dump_stages(session: StagedSession) -> bytes:
    """Return the bytes of a session; change nothing."""
    texts, codes = session.texts.save(session.list_text_codes())
    arrays = {"texts": codes}
    stages: list[Any] = []
    for number, stage in enumerate(session.stages):
        own: dict[str, np.ndarray]
        if isinstance(stage, SeriesStageRunner):
            values: Any = {"told": stage.told}
            own = {"session": np.frombuffer(dump(stage.session), np.uint8)}
        else:
            values, own = stage.runner.save()
        stages.append(values)
        arrays |= {f"stage {number}/{name}": array for name, array in own.items()}
    header = {
        "rtbot": __version__,
        "staged": session.plan.description,
        "io": describe_io(session.io),
        "own": {name: describe_io(own) for name, own in session.own.items()},
        "columns": asdict(session.columns),
        "queue_limit": session.queue_limit,
        "finished": session.finished,
        "ending": session.ending,
        "rows": session.rows,
        "texts": texts,
        "stages": stages,
    }
    return encode_blob(header, arrays)


def resume_stages(plan: StagedPlan, blob: bytes, compiled: bool | str) -> StagedSession:
    """Return a session that goes on exactly where the dumped one was.

    Raises CheckpointError if the bytes are damaged, or a dump of another graph.
    """
    header, arrays = decode_blob(bytes(blob))
    try:
        _check_staged_graph(plan, header)
        io = restore_io(header["io"], plan.checked.io)
        inputs = plan.checked.inputs
        own = {n: restore_io(o, inputs[n].io or io) for n, o in header["own"].items()}
        session = StagedSession(
            plan,
            io,
            inputs=InputOptions(own, read_column_names(header["columns"])),
            queue_limit=header["queue_limit"],
            compiled=compiled,
        )
        _restore_stages(session, header, arrays, compiled)
    except (RtbotError, MemoryError):
        raise
    except Exception as error:
        message = "the dump does not hold what a dump of this graph holds"
        raise CheckpointError(message, code="RT311") from error
    return session


def _check_staged_graph(plan: StagedPlan, header: Mapping[str, Any]) -> None:
    """Refuse the dump of another graph."""
    if not is_staged(header):
        message = "the dump is of another graph, one without change streams"
        raise CheckpointError(message, code="RT313", hint=RESUME_HINT)
    difference = describe_differences(header["staged"], json.loads(json.dumps(plan.description)))
    if difference:
        message = f"the dump is of another graph: {difference}"
        raise CheckpointError(message, code="RT313", hint=RESUME_HINT)


def _restore_stages(
    session: StagedSession,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    compiled: bool | str,
) -> None:
    """Put everything into a session that is new."""
    session.texts.load(header["texts"], arrays["texts"])
    if len(header["stages"]) != len(session.stages):
        raise ValueError("another number of stages")
    for number, (stage, values) in enumerate(zip(session.stages, header["stages"], strict=True)):
        begin = f"stage {number}/"
        own = {n.removeprefix(begin): a for n, a in arrays.items() if n.startswith(begin)}
        if isinstance(stage, SeriesStageRunner):
            plan = session.plan.plans[number]
            assert isinstance(plan, Plan), "a part of series has a plan of series"
            stage.told = {name: int(until) for name, until in values["told"].items()}
            stage.session = resume(plan, own["session"].tobytes(), _begin_with(compiled))
            stage.session.may_get_messages = False
            if number == 0 and stage.is_first:
                session.series = stage.session
        else:
            stage.runner.restore(values, own)
    session.rows = dict(header["rows"])
    session.finished, session.ending = bool(header["finished"]), bool(header["ending"])


def _begin_with(compiled: bool | str) -> Any:
    def begin(*arguments: Any, **options: Any) -> Session:
        return Session(*arguments, compiled=compiled, **options)

    return begin
