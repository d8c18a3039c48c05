"""Aggregates over windows of time that do not overlap: tumbling windows and sessions.

What is known of the messages of a window: how many there are, their sum (see `exact.gathered`),
the first, the last, the least and the greatest of them. Windows that overlap are in `hopping`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact.digits import SCRATCH_DIGITS, SUM_DIGITS, clear_digits
from rtbot.numeric.exact.gathered import (
    IN_DIGITS,
    gather_value,
    gathered_mean,
    gathered_sum,
    split_integer,
)
from rtbot.operator import (
    EMIT,
    NEVER,
    Cells,
    Choices,
    Duration,
    Example,
    In,
    Operator,
    Out,
    Scalar,
    Scratch,
    WarmUp,
    step,
)
from rtbot.operators.silence import wait_from
from rtbot.operators.windows import prefer

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = {
    "count": "integer", "sum": "number", "mean": "number",
    "first": "N", "last": "N", "min": "N", "max": "N",
}  # fmt: skip
"""What there is of a window, in the order in which a step returns it, and the kind of each."""

PRICES = {"open": "first", "high": "max", "low": "min", "close": "last"}
"""What `ohlc` is made of."""

SUMS = 2 | 4
"""Bits of `how` that need sums: those of `sum` and `mean`."""

OFFSET = "the beginning of a window, counted from 1970-01-01"


def count_digits(values: Mapping[str, Any]) -> int:
    """Return how many digits the sum of a key needs; none where nobody asks for sums."""
    return SUM_DIGITS if {"sum", "mean"} & {*values["how"]} else 0


class Aggregate(Operator, abstract=True):
    """Counts, sums and extremes of the messages of windows of time."""

    how = Choices(options=(*KINDS, "ohlc"), doc="what comes out: an output for each word")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="the first word of `how`; o2, ... the others, each also by its name")
    due = Scalar("integer", NEVER)
    digits = Cells("integer", size=count_digits)
    scratch = Scratch(SCRATCH_DIGITS)
    silent = True
    faults = True
    sets_time = True
    gathers = True
    returns = tuple(KINDS)

    @classmethod
    def outputs_for(
        cls,
        values: Mapping[str, Any],
        arity: int,  # noqa: ARG003 (one input)
    ) -> dict[str, Out]:
        """One for each word of `how`, but four for `ohlc`."""
        found: dict[str, Out] = {}
        for word in values["how"]:
            for alias, source in (PRICES if word == "ohlc" else {word: word}).items():
                name = f"o{len(found) + 1}"
                found[name] = Out(KINDS[source], alias=alias, source=source, name=name)
        return found

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """A window may have one message."""
        return WarmUp(1, certain=False)


class SeparateAggregate(Aggregate, abstract=True):
    """Aggregates of one window after the other."""

    messages = Scalar("integer", 0)
    marks = Scalar("integer", 0)
    high = Scalar("number", 0.0)
    low = Scalar("number", 0.0)
    first = Scalar("N", 0)
    last = Scalar("N", 0)
    least = Scalar("N", 0)
    greatest = Scalar("N", 0)


@step
def note_value(
    value, upper, lower, how, messages, marks, high, low, first, least, greatest,
    digits, digits_first,
):  # fmt: skip
    """The state with one value more; `upper` + `lower` is what the sum has of it."""
    if messages == 0:
        first = least = greatest = value
    least = prefer(least, value, False)
    greatest = prefer(greatest, value, True)
    if how & SUMS != 0:
        high, low, marks = gather_value(upper, digits, digits_first, high, low, marks)
        if lower != 0.0:
            high, low, marks = gather_value(lower, digits, digits_first, high, low, marks)
    return messages + 1, marks, high, low, first, value, least, greatest


@step
def note_integer(
    value, how, messages, marks, high, low, first, least, greatest, digits, digits_first
):
    """The state with one integer more."""
    upper, lower = split_integer(value)
    return note_value(
        value, upper, lower, how, messages, marks, high, low, first, least, greatest,
        digits, digits_first,
    )  # fmt: skip


@step
def close_window(
    time, how, messages, marks, high, low, first, last, least, greatest,
    digits, digits_first, scratch, scratch_first,
):  # fmt: skip
    """The end of a window, which leaves nothing behind."""
    total = mean = 0.0
    if how & SUMS != 0:
        total = gathered_sum(digits, digits_first, high, low, marks, scratch, scratch_first)
        mean = gathered_mean(
            messages, digits, digits_first, high, low, marks, scratch, scratch_first
        )
        if marks & IN_DIGITS != 0:
            clear_digits(digits, digits_first, SUM_DIGITS)
    return (
        EMIT, time, messages, total, mean, first, last, least, greatest,
        NEVER, 0, 0, 0.0, 0.0, first, last, least, greatest,
    )  # fmt: skip


@step
def since_start(time, length, offset):
    """How long ago a stretch of such a length began, of those of which one begins at `offset`."""
    return (time % length - offset % length) % length


@step
def tumble(
    i1, time, window, offset, how, messages, marks, high, low, first, least, greatest,
    digits, digits_first,
):  # fmt: skip
    """The step of TumblingAggregate for numbers."""
    noted = note_value(
        i1, i1, 0.0, how, messages, marks, high, low, first, least, greatest,
        digits, digits_first,
    )  # fmt: skip
    return (*wait_from(time, window - since_start(time, window, offset)), *noted)


@step
def tumble_integer(
    i1, time, window, offset, how, messages, marks, high, low, first, least, greatest,
    digits, digits_first,
):  # fmt: skip
    """The step of TumblingAggregate for integers."""
    noted = note_integer(
        i1, how, messages, marks, high, low, first, least, greatest, digits, digits_first
    )
    return (*wait_from(time, window - since_start(time, window, offset)), *noted)


class TumblingAggregate(SeparateAggregate):
    """Aggregates of the messages of every window of time, at the end of the window.

    Windows are from k * window + offset up to the next one, the end excluded, k = 0 in 1970: days
    are those of UTC, and weeks begin on Thursdays, or with an `offset` of 4d on Mondays. A window
    without messages gives none; the last one comes at the end of the data. `sum` and `mean` are
    numbers, of integers, too, exact and rounded once; NaN in a window makes them NaN, and `min` and
    `max`. The words of `how` are the names of the outputs, and `ohlc` has four: open, high, low,
    close. A message in a window that ends beyond int64 is in none, counted under `domain`.
    """

    search_terms = "bars, candles, resample_agg, time_bucket, groupby_time, window_aggregate"
    window = Duration(minimum=1, doc="length of the windows")
    offset = Duration(default=0, minimum=None, doc=OFFSET)
    close = close_window
    step = tumble
    integer_step = tumble_integer
    example = Example(
        parameters={"window": 5, "how": "ohlc"},
        inputs={"i1": [(1, 3.0), (2, 1.5), (4, 2.5), (5, 4.0), (17, 8.0)]},
        outputs={
            "o1": [(5, 3.0), (10, 4.0), (20, 8.0)],
            "o2": [(5, 3.0), (10, 4.0), (20, 8.0)],
            "o3": [(5, 1.5), (10, 4.0), (20, 8.0)],
            "o4": [(5, 2.5), (10, 4.0), (20, 8.0)],
        },
    )


@step
def extend_session(
    i1, time, gap, how, messages, marks, high, low, first, least, greatest,
    digits, digits_first,
):  # fmt: skip
    """The step of SessionAggregate for numbers."""
    noted = note_value(
        i1, i1, 0.0, how, messages, marks, high, low, first, least, greatest,
        digits, digits_first,
    )  # fmt: skip
    return (*wait_from(time, gap), *noted)


@step
def extend_session_integer(
    i1, time, gap, how, messages, marks, high, low, first, least, greatest,
    digits, digits_first,
):  # fmt: skip
    """The step of SessionAggregate for integers."""
    noted = note_integer(
        i1, how, messages, marks, high, low, first, least, greatest, digits, digits_first
    )
    return (*wait_from(time, gap), *noted)


class SessionAggregate(SeparateAggregate):
    """Aggregates of the messages of every session: a pause of at least `gap` ends it.

    They come at the time of the last message plus `gap`; those of the last session come at the end
    of the data. `how` is that of TumblingAggregate. A session that ends beyond int64 gives no
    message; its messages from which on that is so are counted under `domain`.
    """

    search_terms = "session_window, sessionize, activity, inactivity_gap"
    gap = Duration(minimum=1, doc="the least pause between two sessions")
    close = close_window
    step = extend_session
    integer_step = extend_session_integer
    example = Example(
        parameters={"gap": 10, "how": "count"},
        inputs={"i1": [(1, 1.0), (9, 2.0), (19, 3.0), (25, 4.0)]},
        outputs={"o1": [(19, 2), (35, 2)]},
    )
