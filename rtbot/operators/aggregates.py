"""Aggregates over windows of time: tumbling, hopping, and sessions.

What is known of the messages of a window is in *panes*, stretches of time that are parts of all
windows or of none: one for a tumbling window or a session, several where windows overlap. A pane
has how many messages it has, their sum (see `exact.gathered`), the first, the last, the least and
the greatest of them. At the end of a window its panes are put together.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact.digits import SCRATCH_DIGITS, SUM_DIGITS, clear_digits
from rtbot.numeric.exact.gathered import (
    IN_DIGITS,
    gather_value,
    gathered_mean,
    gathered_sum,
    split_integer,
)
from rtbot.numeric.ieee import add_checked
from rtbot.operator import (
    EMIT,
    NEVER,
    SILENT,
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

COUNTED, SUMMED, NOTED = 2, 2, 4
"""Words of a pane: messages and marks; high and low; first, last, least and greatest."""

OFFSET = "the beginning of a window, counted from 1970-01-01"

MOST_PANES = 1 << 16
"""Panes of a window, each of which has 800 bytes of state for a sum."""


@step
def note_value(
    value, upper, lower, how, pane, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """Put a value into a pane; `upper` + `lower` is what the sum has of it."""
    at, place = counted_first + COUNTED * pane, noted_first + NOTED * pane
    if counted[at] == 0:
        for word in range(NOTED):
            noted[place + word] = value
    noted[place + 1] = value
    noted[place + 2] = prefer(noted[place + 2], value, False)
    noted[place + 3] = prefer(noted[place + 3], value, True)
    counted[at] += 1
    if how & SUMS != 0:
        sums, first = summed_first + SUMMED * pane, digits_first + SUM_DIGITS * pane
        high, low, marks = gather_value(
            upper, digits, first, summed[sums], summed[sums + 1], counted[at + 1]
        )
        if lower != 0.0:
            high, low, marks = gather_value(lower, digits, first, high, low, marks)
        summed[sums], summed[sums + 1], counted[at + 1] = high, low, marks


@step
def note_integer(
    value, how, pane, counted, counted_first, summed, summed_first, noted, noted_first,
    digits, digits_first,
):  # fmt: skip
    """Put an integer into a pane."""
    upper, lower = split_integer(value)
    note_value(
        value, upper, lower, how, pane, counted, counted_first, summed, summed_first,
        noted, noted_first, digits, digits_first,
    )  # fmt: skip


@step
def merge_noted(oldest, panes, counted, counted_first, noted, noted_first):
    """(count, first, last, least, greatest) of a window that has some message."""
    count = 0
    first = last = least = greatest = noted[noted_first]
    for number in range(panes):
        pane = (oldest + number) % panes
        own, place = counted[counted_first + COUNTED * pane], noted_first + NOTED * pane
        if own == 0:
            continue
        if count == 0:
            first, least, greatest = noted[place], noted[place + 2], noted[place + 3]
        last = noted[place + 1]
        least = prefer(least, noted[place + 2], False)
        greatest = prefer(greatest, noted[place + 3], True)
        count += own
    return count, first, last, least, greatest


@step
def merge_sums(
    count, panes, counted, counted_first, summed, summed_first, digits, digits_first,
    scratch, scratch_first,
):  # fmt: skip
    """(sum, mean) of the messages of all panes."""
    high, low, marks = 0.0, 0.0, 0
    clear_digits(scratch, scratch_first, SUM_DIGITS)
    for pane in range(panes):
        own = counted[counted_first + COUNTED * pane + 1]
        marks |= own
        for part in range(SUMMED * pane, SUMMED * pane + SUMMED):
            high, low, marks = gather_value(
                summed[summed_first + part], scratch, scratch_first, high, low, marks
            )
        if own & IN_DIGITS != 0:
            for digit in range(SUM_DIGITS):
                place = digits_first + SUM_DIGITS * pane + digit
                scratch[scratch_first + digit] += digits[place]
    room = scratch_first + SUM_DIGITS
    total = gathered_sum(scratch, scratch_first, high, low, marks, scratch, room)
    mean = gathered_mean(count, scratch, scratch_first, high, low, marks, scratch, room)
    return total, mean


@step
def put_together(
    how, oldest, panes, counted, counted_first, summed, summed_first, noted, noted_first,
    digits, digits_first, scratch, scratch_first,
):  # fmt: skip
    """What there is of a window that has some message, from its panes in the order of time."""
    count, first, last, least, greatest = merge_noted(
        oldest, panes, counted, counted_first, noted, noted_first
    )
    total = mean = 0.0
    if how & SUMS != 0:
        total, mean = merge_sums(
            count, panes, counted, counted_first, summed, summed_first, digits, digits_first,
            scratch, scratch_first,
        )  # fmt: skip
    return count, total, mean, first, last, least, greatest


@step
def clear_pane(pane, counted, counted_first, summed, summed_first, digits, digits_first):
    """Make a pane as new."""
    at, sums = counted_first + COUNTED * pane, summed_first + SUMMED * pane
    if counted[at + 1] & IN_DIGITS != 0:
        clear_digits(digits, digits_first + SUM_DIGITS * pane, SUM_DIGITS)
    counted[at] = counted[at + 1] = 0
    summed[sums] = summed[sums + 1] = 0.0


def count_panes(values: Mapping[str, Any]) -> int:
    """Return how many panes a window has."""
    return values["window"] // gcd(values["window"], values["hop"]) if "hop" in values else 1


def count_digits(values: Mapping[str, Any]) -> int:
    """Return how many digits the sums of a key need; none where nobody asks for sums."""
    return SUM_DIGITS * count_panes(values) if {"sum", "mean"} & {*values["how"]} else 0


class Aggregate(Operator, abstract=True):
    """Counts, sums and extremes of the messages of windows of time."""

    how = Choices(options=(*KINDS, "ohlc"), doc="what comes out: an output for each word")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="the first word of `how`; o2, ... the others, each also by its name")
    due = Scalar("integer", NEVER)
    counted = Cells("integer", size=lambda values: COUNTED * count_panes(values))
    summed = Cells("number", size=lambda values: SUMMED * count_panes(values))
    noted = Cells("N", size=lambda values: NOTED * count_panes(values))
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


@step
def close_pane(
    time, how, counted, counted_first, summed, summed_first, noted, noted_first,
    digits, digits_first, scratch, scratch_first,
):  # fmt: skip
    """The end of a window of one pane."""
    found = put_together(
        how, 0, 1, counted, counted_first, summed, summed_first, noted, noted_first,
        digits, digits_first, scratch, scratch_first,
    )  # fmt: skip
    clear_pane(0, counted, counted_first, summed, summed_first, digits, digits_first)
    return (EMIT, time, *found, NEVER)


@step
def since_start(time, length, offset):
    """How long ago a stretch of such a length began, of those of which one begins at `offset`."""
    return (time % length - offset % length) % length


@step
def tumble(
    i1, time, window, offset, how, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of TumblingAggregate for numbers."""
    note_value(
        i1, i1, 0.0, how, 0, counted, counted_first, summed, summed_first,
        noted, noted_first, digits, digits_first,
    )  # fmt: skip
    return wait_from(time, window - since_start(time, window, offset))


@step
def tumble_integer(
    i1, time, window, offset, how, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of TumblingAggregate for integers."""
    note_integer(
        i1, how, 0, counted, counted_first, summed, summed_first,
        noted, noted_first, digits, digits_first,
    )  # fmt: skip
    return wait_from(time, window - since_start(time, window, offset))


class TumblingAggregate(Aggregate):
    """Aggregates of the messages of every window of time, at the end of the window.

    Windows are from k * window + offset up to the next one, the end excluded, k = 0 in 1970: days
    are those of UTC, and weeks begin on Thursdays, or with an `offset` of 4d on Mondays. A window
    without messages gives none; the last one comes at the end of the data. `sum` and `mean` are
    exact and rounded once; NaN in a window makes them NaN, and `min` and `max`. The words of `how`
    are the names of the outputs, and `ohlc` has four: open, high, low, close. A message in a window
    that ends beyond int64 is in none, counted under `domain`.
    """

    search_terms = "bars, candles, resample_agg, time_bucket, groupby_time, window_aggregate"
    window = Duration(minimum=1, doc="length of the windows")
    offset = Duration(default=0, minimum=None, doc=OFFSET)
    close = close_pane
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
    i1, time, gap, how, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of SessionAggregate for numbers."""
    note_value(
        i1, i1, 0.0, how, 0, counted, counted_first, summed, summed_first,
        noted, noted_first, digits, digits_first,
    )  # fmt: skip
    return wait_from(time, gap)


@step
def extend_session_integer(
    i1, time, gap, how, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of SessionAggregate for integers."""
    note_integer(
        i1, how, 0, counted, counted_first, summed, summed_first,
        noted, noted_first, digits, digits_first,
    )  # fmt: skip
    return wait_from(time, gap)


class SessionAggregate(Aggregate):
    """Aggregates of the messages of every session: a pause of at least `gap` ends it.

    They come at the time of the last message plus `gap`; those of the last session come at the end
    of the data. `how` is that of TumblingAggregate. A session that ends beyond int64 gives no
    message; its messages from which on that is so are counted under `domain`.
    """

    search_terms = "session_window, sessionize, activity, inactivity_gap"
    gap = Duration(minimum=1, doc="the least pause between two sessions")
    close = close_pane
    step = extend_session
    integer_step = extend_session_integer
    example = Example(
        parameters={"gap": 10, "how": "count"},
        inputs={"i1": [(1, 1.0), (9, 2.0), (19, 3.0), (25, 4.0)]},
        outputs={"o1": [(19, 2), (35, 2)]},
    )


@step
def close_hop(
    time, window, hop, offset, how, width, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first, scratch, scratch_first,
):  # fmt: skip
    """The end of a window of several panes, of which those of the first hop leave."""
    panes = window // width
    oldest = find_pane(time, offset, width, panes)
    found = put_together(
        how, oldest, panes, counted, counted_first, summed, summed_first, noted, noted_first,
        digits, digits_first, scratch, scratch_first,
    )  # fmt: skip
    left = 0
    for number in range(panes):
        pane = (oldest + number) % panes
        if number < hop // width:
            clear_pane(pane, counted, counted_first, summed, summed_first, digits, digits_first)
        left += counted[counted_first + COUNTED * pane]
    fits, end = add_checked(time, hop)
    due = end if fits and left > 0 else NEVER
    return (EMIT, time, *found, due, width)


@step
def find_pane(time, offset, width, panes):
    """The pane of a time; that of the end of a window is the first of the window."""
    earlier = 1 if time % width < offset % width else 0
    return (time // width - earlier) % panes


@step
def first_end(time, window, hop, offset, due):
    """(code, due, inside): the end of the first window that has this time, and whether one has."""
    distance = hop - (since_start(time, hop, offset) - window % hop) % hop
    if distance > window:
        return SILENT, due, False
    if due != NEVER:
        return SILENT, due, True
    code, due = wait_from(time, distance)
    return code, due, due != NEVER


@step
def pane_width(window, hop, width):
    """The greatest length of which window and hop are multiples; `width` if that is known."""
    if width > 0:
        return width
    width, rest = window, hop
    while rest > 0:
        width, rest = rest, width % rest
    return width


@step
def hop_on(
    i1, time, window, hop, offset, how, due, width, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of HoppingAggregate for numbers."""
    width = pane_width(window, hop, width)
    code, due, inside = first_end(time, window, hop, offset, due)
    if inside:
        note_value(
            i1, i1, 0.0, how, find_pane(time, offset, width, window // width), counted,
            counted_first, summed, summed_first, noted, noted_first, digits, digits_first,
        )  # fmt: skip
    return code, due, width


@step
def hop_on_integer(
    i1, time, window, hop, offset, how, due, width, counted, counted_first, summed, summed_first,
    noted, noted_first, digits, digits_first,
):  # fmt: skip
    """The step of HoppingAggregate for integers."""
    width = pane_width(window, hop, width)
    code, due, inside = first_end(time, window, hop, offset, due)
    if inside:
        note_integer(
            i1, how, find_pane(time, offset, width, window // width), counted, counted_first,
            summed, summed_first, noted, noted_first, digits, digits_first,
        )  # fmt: skip
    return code, due, width


class HoppingAggregate(Aggregate):
    """Aggregates of the messages of windows that begin every `hop`, at the end of each.

    Windows are from k * hop + offset up to `window` later, the end excluded: they overlap where
    `hop` is less than `window`, and where it is greater, messages between them are in none. A
    window without messages gives none; the last ones come at the end of the data. `how` is that of
    TumblingAggregate. It costs a message the same whatever the overlap, and the end of a window as
    many steps as the greatest common divisor of `window` and `hop` is in `window`.
    """

    search_terms = "hop, sliding_window, overlapping_windows, rolling_time"
    window = Duration(minimum=1, doc="length of the windows")
    hop = Duration(minimum=1, aliases=("slide",), doc="how far apart windows begin")
    offset = Duration(default=0, minimum=None, doc=OFFSET)
    width = Scalar("integer", 0)
    close = close_hop
    step = hop_on
    integer_step = hop_on_integer
    example = Example(
        parameters={"window": 10, "hop": 5, "how": "max"},
        inputs={"i1": [(1, 1.0), (4, 2.5), (7, 2.0), (21, 8.0)]},
        outputs={"o1": [(5, 2.5), (10, 2.5), (15, 2.0), (25, 8.0), (30, 8.0)]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """A window has so many panes at most."""
        panes = count_panes(values)
        if panes <= MOST_PANES:
            return []
        common = values["window"] // panes
        sentence = f"the greatest common divisor of window and hop is {common:,}: a window would "
        return [f"{sentence}have {panes:,} parts of that length, more than {MOST_PANES:,}"]
