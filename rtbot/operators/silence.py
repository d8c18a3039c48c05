"""Operators that look at how long no message comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.ieee import add_checked, subtract_checked
from rtbot.operator import (
    DOMAIN,
    EMIT,
    NEVER,
    SILENT,
    Duration,
    Example,
    In,
    Operator,
    Out,
    Scalar,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@step
def wait_from(time, wait):
    """(code, due) of a step that waits so long, more than 0, from a time on; beyond int64 never."""
    fits, due = add_checked(time, wait)
    return SILENT if fits else DOMAIN, due if fits else NEVER


class Debounce(Operator):
    """The last value of a burst, once no other has come for a time of `quiet`.

    It is at the time of that value plus `quiet`; a message at just that time begins a new burst.
    The last burst ends at the end of the data. Where the time would be beyond int64 there is no
    message, counted under `domain`.
    """

    search_terms = "settle, quiet_period, throttle_trailing, bounce"
    quiet = Duration(minimum=1, aliases=("wait",), doc="how long no other value comes")
    i1 = In("T", doc="values")
    o1 = Out("T", doc="the last values of bursts")
    due = Scalar("integer", NEVER)
    held = Scalar("T", 0)
    silent = True
    faults = True
    sets_time = True
    gathers = True
    example = Example(
        parameters={"quiet": 5},
        inputs={"i1": [(1, 1.0), (3, 2.0), (6, 3.0), (11, 4.0), (12, 5.0)]},
        outputs={"o1": [(11, 3.0), (17, 5.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """A burst may be one message."""
        return WarmUp(1, certain=False)

    @step
    def close(time, held):
        return EMIT, time, held, NEVER, held

    @step
    def step(i1, time, quiet):
        code, due = wait_from(time, quiet)
        return code, due, i1


class GapDetector(Operator):
    """How long there was no message, at the message after it, if that is at least `gap`.

    The first message has none before it. A distance beyond int64 gives no message, counted under
    `domain`.
    """

    search_terms = "gap, gaps, missing_data, absence, heartbeat, time_between, interarrival"
    gap = Duration(minimum=1, doc="the least distance to the message before")
    i1 = In("T", doc="messages; their values do not matter")
    o1 = Out("integer", doc="distances to the message before")
    started = Scalar("boolean", False)
    newest = Scalar("integer", 0)
    silent = True
    faults = True
    example = Example(
        parameters={"gap": 10},
        inputs={"i1": [(1, 1.0), (5, 2.0), (15, 3.0), (40, 4.0)]},
        outputs={"o1": [(15, 10), (40, 25)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """The first message has none before it."""
        return WarmUp(2, certain=False)

    @step
    def step(time, gap, started, newest):
        fits, distance = subtract_checked(time, newest)
        code = EMIT if started and distance >= gap else SILENT
        return code if fits or not started else DOMAIN, distance, True, time
