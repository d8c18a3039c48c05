"""A session rehearsed: its functions are called with all types of arguments before it needs them.

What is called is noted (see `TieredModule`), so that it can be compiled at once, also what comes
only behind filters and full windows.
"""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.calls import PairCall, RetimeCall, SegmentCall
from rtbot.compiler.tiers.argument_types import describe_arguments
from rtbot.core.arrays import allocate_columns
from rtbot.core.batch import Batch
from rtbot.core.modes import BESIDE
from rtbot.runtime.direct_path import DirectPath
from rtbot.runtime.executor import RUN, Run
from rtbot.runtime.kernels.rows import FIRST
from rtbot.runtime.push_paths import choose_paths

if TYPE_CHECKING:
    from rtbot.compiler.tiers.tiered_module import TieredModule
    from rtbot.runtime.executor import Executor
    from rtbot.runtime.session import Session

TIMES, KEYS = [1, 2, 3], ["a", "b", "a"]
VALUES = {"number": 1.0, "integer": 1, "boolean": True, "text": "a"}
RESULTS = {SegmentCall: None, RetimeCall: (1, 1, 0), PairCall: 0}
"""What a function returns that has read one run of one row and written nothing."""


def rehearse(session: Session) -> None:
    """Push a few rows to a session like this one, and call all functions of its plan."""
    twin = type(session)(session.plan, session.io, session.key, compiled=BESIDE)
    tier = twin.code.tiers[0]
    twin.code.tiers = ()
    keys = dict.fromkeys(session.key, KEYS)
    with suppress(Exception):  # a step that fails for these values is noted all the same
        for name, declared in twin.plan.checked.inputs.items():
            values = {
                port if declared.type.fields else "value": [VALUES[type_.kind]] * len(TIMES)
                for port, type_ in declared.ports.items()
            }
            twin.push({name: {**keys, "t": TIMES, **values}})
        for name in twin.plan.checked.inputs:
            twin.advance(TIMES[-1], name)
        twin.finish()
    note_calls(twin.runner, tier)


def note_calls(executor: Executor, tier: TieredModule) -> None:
    """Note all functions that a plan calls, with the types of their arguments; run none of them."""
    slots = np.zeros(1, np.int64)
    batches: list[Batch | None] = [
        Batch(np.array([0, 1]), np.zeros(1, np.int64), allocate_columns(stream.types, 1))
        for stream in executor.plan.streams
    ]
    run = Run(slots, batches, [FIRST] * len(executor.plan.progress), ending=False)
    for call in executor.plan.calls:
        run.batches = [*batches]
        executor.module = _make_notebook(tier, call.function.name, RESULTS[type(call)])
        RUN[type(call)](executor, call, run)


def note_rows(session: Session) -> None:
    """Note the functions of one row that `push_one` calls."""
    runner = session.runner
    for path in choose_paths(session).values():
        if isinstance(path, DirectPath):
            types = session.plan.streams[path.call.source].types
            values = (VALUES[type_.kind] for type_ in types)
            state = runner.list_state_arrays(path.call)
            signature = describe_arguments((0, 0, *values, *state))
            session.code.tiers[0].note(f"{path.call.function.name}_one", signature)


def _make_notebook(tier: TieredModule, name: str, result: Any) -> Any:
    """Return a module whose function notes its arguments and does nothing."""

    def note(*arguments: Any) -> Any:
        tier.note(name, describe_arguments(arguments))
        return result

    return SimpleNamespace(**{name: note})
