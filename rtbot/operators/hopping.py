"""Aggregates over windows of time that overlap.

Their messages are in *panes*: between two times at which a window begins or ends, so that a window
has all messages of a pane or none. At the end of a window the panes that came since the last end go
into totals, and those that no later window has are taken off again. Counts and sums are exact, so
that nothing remains of these. For extremes the panes are two stacks: those in front have, each, the
extremes of itself and of all behind it in the front; those behind the front have one together, and
become the front when that is used up. So a pane costs the same whatever the window.

The sum of a pane is two floats, and what these could not hold, value by value in the list `drops`.
"""

from __future__ import annotations

from rtbot.numeric.exact.digits import SUM_DIGITS, clear_digits
from rtbot.numeric.exact.gathered import (
    gather_value,
    gathered_mean,
    gathered_sum,
    refit_sum,
    split_integer,
)
from rtbot.numeric.exact.sums import SUM_LIMIT, special_code, special_sum
from rtbot.numeric.ieee import add_checked, two_sum
from rtbot.operator import EMIT, NEVER, SILENT, Cells, Duration, Example, Scalar, Span, step
from rtbot.operators.aggregates import OFFSET, SUMS, Aggregate, since_start
from rtbot.operators.silence import wait_from
from rtbot.operators.windows import prefer

EXTREMES = 32 | 64 | 128
"""Bits of `how` that need extremes: those of `min`, `max` and `ohlc`."""

PANES, FRONT, DROPS, MESSAGES, MARKS, SPECIALS = range(6)
"""Words of `totals`: how many panes, those of them in front, drops, messages; and their sum."""


@step
def find_end(time, window, hop, offset, due):
    """(code, due, until): the ends of the first window that has this time, and of its pane.

    `until` is NEVER if there is none, or it ends beyond int64; else it is not behind `due`.
    """
    since = since_start(time, hop, offset)
    distance = hop - (since - window % hop) % hop
    if distance > window:
        return SILENT, due, NEVER
    code = SILENT
    if due == NEVER:
        code, due = wait_from(time, distance)
    if due == NEVER:
        return code, due, NEVER
    return code, due, time + min(distance, hop - since)


@step
def note_in_pane(
    time, value, is_new, panes_count, panes_time, panes_time_first, panes_messages_first,
    panes_drops_first, panes_high, panes_high_first, panes_low_first, panes_oldest,
    panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
):  # fmt: skip
    """Put a value into the newest pane, but for its sum; return that pane."""
    pane = panes_count if is_new else panes_count - 1
    least, greatest = panes_least_first + pane, panes_greatest_first + pane
    if is_new:
        panes_time[panes_time_first + pane] = time
        panes_time[panes_messages_first + pane] = 0
        panes_time[panes_drops_first + pane] = 0
        panes_high[panes_high_first + pane] = 0.0
        panes_high[panes_low_first + pane] = 0.0
        panes_oldest[panes_oldest_first + pane] = value
        panes_oldest[least] = value
        panes_oldest[greatest] = value
    panes_time[panes_messages_first + pane] += 1
    panes_oldest[panes_newest_first + pane] = value
    panes_oldest[least] = prefer(panes_oldest[least], value, False)
    panes_oldest[greatest] = prefer(panes_oldest[greatest], value, True)
    return pane


@step
def add_exactly(x, high, low):
    """(high, low, rest): the sum of two floats with x, and what it cannot hold, or else 0."""
    total, error = two_sum(high, x)
    if not abs(total) < SUM_LIMIT:
        return high, low, x
    lower, rest = two_sum(low, error)
    return total, lower, rest


@step
def enter_pane(
    i1, time, window, hop, offset, due, until, panes_count, panes_time, panes_time_first,
    panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
    panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
):  # fmt: skip
    """(code, due, until, pane): the pane that has a value now, -1 if no window takes it."""
    code, is_new, pane = SILENT, time >= until, -1
    if is_new:
        code, due, until = find_end(time, window, hop, offset, due)
    if until != NEVER:
        pane = note_in_pane(
            time, i1, is_new, panes_count, panes_time, panes_time_first, panes_messages_first,
            panes_drops_first, panes_high, panes_high_first, panes_low_first, panes_oldest,
            panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
        )  # fmt: skip
    return code, due, until, pane


@step
def hop_on(
    i1, time, window, hop, offset, how, due, until, panes_count, panes_time, panes_time_first,
    panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
    panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
    drops_count, drops_value, drops_value_first,
):  # fmt: skip
    """The step of HoppingAggregate for numbers."""
    code, due, until, pane = enter_pane(
        i1, time, window, hop, offset, due, until, panes_count, panes_time, panes_time_first,
        panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
        panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first,
        panes_greatest_first,
    )  # fmt: skip
    if pane >= 0 and how & SUMS != 0:
        high, low = panes_high_first + pane, panes_low_first + pane
        panes_high[high], panes_high[low], rest = add_exactly(i1, panes_high[high], panes_high[low])
        if rest != 0.0:
            drops_value[drops_value_first + drops_count] = rest
            drops_count += 1
            panes_time[panes_drops_first + pane] += 1
    return code, due, until, 0, max(panes_count, pane + 1), 0, drops_count


@step
def hop_on_integer(
    i1, time, window, hop, offset, how, due, until, panes_count, panes_time, panes_time_first,
    panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
    panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
    drops_count,
):  # fmt: skip
    """The step of HoppingAggregate for integers, of which nothing drops."""
    code, due, until, pane = enter_pane(
        i1, time, window, hop, offset, due, until, panes_count, panes_time, panes_time_first,
        panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
        panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first,
        panes_greatest_first,
    )  # fmt: skip
    if pane >= 0 and how & SUMS != 0:
        high, low = panes_high_first + pane, panes_low_first + pane
        upper, lower = split_integer(i1)
        total, rest, _ = add_exactly(upper, panes_high[high], panes_high[low])
        total, rest, _ = add_exactly(lower, total, rest)
        panes_high[high], panes_high[low] = two_sum(total, rest)
    return code, due, until, 0, max(panes_count, pane + 1), 0, drops_count


@step
def shift_drops(
    sign, drop, end, sums, sums_first, totals, totals_first, digits, digits_first,
    drops_value, drops_value_first,
):  # fmt: skip
    """Add drops to the sum, or take them off."""
    high, low, marks = sums[sums_first], sums[sums_first + 1], totals[totals_first + MARKS]
    for place in range(drops_value_first + drop, drops_value_first + end):
        value = drops_value[place]
        special = special_code(value)
        totals[totals_first + SPECIALS] += sign * special
        if special == 0:
            high, low, marks = gather_value(sign * value, digits, digits_first, high, low, marks)
    sums[sums_first], sums[sums_first + 1], totals[totals_first + MARKS] = high, low, marks


@step
def shift_totals(
    sign, panes, end, drop, totals, totals_first, sums, sums_first, digits, digits_first,
    panes_time, panes_messages_first, panes_drops_first, panes_high, panes_high_first,
    panes_low_first, drops_value, drops_value_first,
):  # fmt: skip
    """Add panes to the totals, or take them off; `drop` is their first one. Return the next."""
    following = drop
    high, low, marks = sums[sums_first], sums[sums_first + 1], totals[totals_first + MARKS]
    for pane in range(panes, end):
        totals[totals_first + MESSAGES] += sign * panes_time[panes_messages_first + pane]
        following += panes_time[panes_drops_first + pane]
        upper = sign * panes_high[panes_high_first + pane]
        lower = sign * panes_high[panes_low_first + pane]
        high, low, marks = gather_value(upper, digits, digits_first, high, low, marks)
        high, low, marks = gather_value(lower, digits, digits_first, high, low, marks)
    sums[sums_first], sums[sums_first + 1], totals[totals_first + MARKS] = high, low, marks
    if following > drop:
        shift_drops(
            sign, drop, following, sums, sums_first, totals, totals_first, digits, digits_first,
            drops_value, drops_value_first,
        )  # fmt: skip
    return following


@step
def find_sums(totals, totals_first, sums, sums_first, digits, digits_first, scratch, scratch_first):
    """(sum, mean) of the totals."""
    specials = totals[totals_first + SPECIALS]
    if specials != 0:
        return special_sum(specials), special_sum(specials)
    high, low, marks = sums[sums_first], sums[sums_first + 1], totals[totals_first + MARKS]
    if marks != 0:
        high, low, marks = refit_sum(digits, digits_first, high, low, scratch, scratch_first)
        sums[sums_first], sums[sums_first + 1] = high, low
        totals[totals_first + MARKS] = marks
    count = totals[totals_first + MESSAGES]
    total = gathered_sum(digits, digits_first, high, low, marks, scratch, scratch_first)
    mean = gathered_mean(count, digits, digits_first, high, low, marks, scratch, scratch_first)
    return total, mean


@step
def extreme_of_panes(largest, panes, front, panes_count, behind, place, panes_oldest, panes_first):
    """The extreme of all panes, of which those behind `panes` are new; `behind` keeps theirs."""
    for pane in range(panes, panes_count):
        value = panes_oldest[panes_first + pane]
        behind[place] = prefer(behind[place], value, largest) if pane > front else value
    if front == 0:
        return behind[place]
    found = panes_oldest[panes_first]
    return prefer(found, behind[place], largest) if panes_count > front else found


@step
def stack_extremes(largest, begin, end, panes_oldest, panes_first):
    """Give each of these panes the extreme of itself and of all behind it."""
    for back in range(2, end - begin + 1):
        pane = panes_first + end - back
        panes_oldest[pane] = prefer(panes_oldest[pane], panes_oldest[pane + 1], largest)


@step
def describe_window(
    how, totals, totals_first, sums, sums_first, behind, behind_first, digits, digits_first,
    scratch, scratch_first, panes_count, panes_oldest, panes_oldest_first, panes_newest_first,
    panes_least_first, panes_greatest_first,
):  # fmt: skip
    """What there is of the window of all panes, of which the totals have the count and the sum."""
    panes, front = totals[totals_first + PANES], totals[totals_first + FRONT]
    total = mean = 0.0
    oldest = least = greatest = panes_oldest[panes_oldest_first]
    newest = panes_oldest[panes_newest_first + panes_count - 1]
    if how & SUMS != 0:
        total, mean = find_sums(
            totals, totals_first, sums, sums_first, digits, digits_first, scratch, scratch_first
        )
    if how & EXTREMES != 0:
        least = extreme_of_panes(
            False, panes, front, panes_count, behind, behind_first, panes_oldest, panes_least_first
        )
        greatest = extreme_of_panes(
            True, panes, front, panes_count, behind, behind_first + 1, panes_oldest,
            panes_greatest_first,
        )  # fmt: skip
    return totals[totals_first + MESSAGES], total, mean, oldest, newest, least, greatest


@step
def leave_front(
    how, leaving, panes_count, totals, totals_first, panes_oldest, panes_least_first,
    panes_greatest_first,
):  # fmt: skip
    """Take panes off the front; those behind it become the front if it has not so many."""
    if leaving > totals[totals_first + FRONT]:
        totals[totals_first + FRONT] = panes_count
        if how & EXTREMES != 0:
            stack_extremes(False, leaving, panes_count, panes_oldest, panes_least_first)
            stack_extremes(True, leaving, panes_count, panes_oldest, panes_greatest_first)
    totals[totals_first + FRONT] -= leaving
    totals[totals_first + PANES] = panes_count - leaving


@step
def close_hop(
    time, window, hop, how, until, totals, totals_first, sums, sums_first, behind, behind_first,
    digits, digits_first, scratch, scratch_first, panes_count, panes_time, panes_time_first,
    panes_messages_first, panes_drops_first, panes_high, panes_high_first, panes_low_first,
    panes_oldest, panes_oldest_first, panes_newest_first, panes_least_first, panes_greatest_first,
    drops_count, drops_value, drops_value_first,
):  # fmt: skip
    """The end of a window; the panes that no later one has leave."""
    shift_totals(
        1, totals[totals_first + PANES], panes_count, totals[totals_first + DROPS], totals,
        totals_first, sums, sums_first, digits, digits_first, panes_time, panes_messages_first,
        panes_drops_first, panes_high, panes_high_first, panes_low_first, drops_value,
        drops_value_first,
    )  # fmt: skip
    found = describe_window(
        how, totals, totals_first, sums, sums_first, behind, behind_first, digits, digits_first,
        scratch, scratch_first, panes_count, panes_oldest, panes_oldest_first, panes_newest_first,
        panes_least_first, panes_greatest_first,
    )  # fmt: skip
    leaving = 0
    while leaving < panes_count and time - panes_time[panes_time_first + leaving] > window - hop:
        leaving += 1
    dropped = shift_totals(
        -1, 0, leaving, 0, totals, totals_first, sums, sums_first, digits, digits_first,
        panes_time, panes_messages_first, panes_drops_first, panes_high, panes_high_first,
        panes_low_first, drops_value, drops_value_first,
    )  # fmt: skip
    totals[totals_first + DROPS] = drops_count - dropped
    leave_front(
        how, leaving, panes_count, totals, totals_first, panes_oldest, panes_least_first,
        panes_greatest_first,
    )  # fmt: skip
    left = panes_count - leaving
    if left == 0:
        sums[sums_first] = sums[sums_first + 1] = 0.0
        if totals[totals_first + MARKS] != 0:
            clear_digits(digits, digits_first, SUM_DIGITS)
            totals[totals_first + MARKS] = 0
    fits, end = add_checked(time, hop)
    due = end if fits and left > 0 else NEVER
    return EMIT, time, *found, due, until, leaving, left, dropped, drops_count - dropped


class HoppingAggregate(Aggregate):
    """Aggregates of the messages of windows that begin every `hop`, at the end of each.

    Windows are from k * hop + offset up to `window` later, the end excluded: they overlap where
    `hop` is less than `window`, and where it is greater, messages between them are in none. A
    window without messages gives none; the last ones come at the end of the data. `how` is that of
    TumblingAggregate. A message and the end of a window cost the same whatever the overlap.
    """

    search_terms = "hop, sliding_window, overlapping_windows, rolling_time"
    window = Duration(minimum=1, doc="length of the windows")
    hop = Duration(minimum=1, aliases=("slide",), doc="how far apart windows begin")
    offset = Duration(default=0, minimum=None, doc=OFFSET)
    until = Scalar("integer", NEVER)
    totals = Cells("integer", size=6)
    sums = Cells("number", size=2)
    behind = Cells("N", size=2)
    panes = Span(
        {
            "time": "integer",
            "messages": "integer",
            "drops": "integer",
            "high": "number",
            "low": "number",
            "oldest": "N",
            "newest": "N",
            "least": "N",
            "greatest": "N",
        }
    )
    drops = Span({"value": "number"})
    close = close_hop
    step = hop_on
    integer_step = hop_on_integer
    example = Example(
        parameters={"window": 10, "hop": 5, "how": "max"},
        inputs={"i1": [(1, 1.0), (4, 2.5), (7, 2.0), (21, 8.0)]},
        outputs={"o1": [(5, 2.5), (10, 2.5), (15, 2.0), (25, 8.0), (30, 8.0)]},
    )
