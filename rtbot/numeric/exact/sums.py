"""Exact moving sums and means: the state alone where that settles it, else the window.

See `exact` for the meaning and the state of every function.
"""

import math

from rtbot.numeric.exact.digits import (
    SUM_DIGITS,
    add_value,
    clear_digits,
    digits_to_mean,
    exact_mean,
    exact_sum,
)
from rtbot.numeric.ieee import split, two_sum
from rtbot.operator import noinline, step

NEGATIVE_SPECIAL = 2**31
SUM_LIMIT = 2.0**1020
MEAN_LIMIT = 2.0**990
MEAN_LOWEST = 2.0**-900
SLACK_FACTOR = 2.0  # covers the rounding of the slack itself
ROUNDING = 2.0**-52
CORRECTION_ROUNDING = 2.0**-49
INTEGER_PART = 2**44


@step
def special_code(x):
    """What x adds to `specials`."""
    if x != x:
        return NEGATIVE_SPECIAL + 1
    if x == math.inf:
        return 1
    return NEGATIVE_SPECIAL if x == -math.inf else 0


@step
def special_sum(specials):
    """The sum, or mean, of a window that holds NaN or infinities."""
    if specials < NEGATIVE_SPECIAL:
        return math.inf
    return -math.inf if specials % NEGATIVE_SPECIAL == 0 else math.nan


@step
def shift_sum(entering, departing, high, low, slack):
    """The sum after one value came and another left; what does not fit goes into the slack."""
    change, change_error = two_sum(entering, -departing)
    total, total_error = two_sum(high, change)
    error, missed = two_sum(change_error, total_error)
    rest, dropped = two_sum(low, error)
    return total, rest, slack + (abs(missed) + abs(dropped))


@step
def sum_of_window(count, values, first):
    """The two-float sum of a window, and its slack."""
    high, low, slack = 0.0, 0.0, 0.0
    for index in range(first, first + count):
        high, low, slack = shift_sum(values[index], 0.0, high, low, slack)
    return high, low, slack


@step
def settle_sum(high, low, slack):
    """(settled, sum): settled if all sums within the slack round to the same float."""
    if slack == 0.0:
        return True, high + low
    bound = SLACK_FACTOR * slack + ROUNDING * abs(low)
    total = high + (low - bound)
    return total == high + (low + bound), total


@step
def settle_mean(count, high, low, slack):
    """(settled, mean): the rounded quotient, corrected by the exact remainder of the division.

    The remainder is exact (Dekker); if its sum with the low part is exact too, then so is every
    comparison of the correction with half a step, and the last addition rounds right, ties too.
    """
    total, rest = two_sum(high, low)
    if not MEAN_LOWEST < abs(total) < MEAN_LIMIT:
        return total == 0.0 and slack == 0.0, 0.0
    size = float(count)
    mean = total / size
    upper, lower = split(mean)
    remainder, missed = two_sum((total - upper * size) - lower * size, rest)
    correction = remainder / size
    if missed == 0.0 and slack == 0.0:
        return True, mean + correction
    bound = 2.0 * (SLACK_FACTOR * slack + abs(missed)) / size
    bound += CORRECTION_ROUNDING * abs(correction)
    result = mean + (correction - bound)
    return result == mean + (correction + bound), result


@step
def quick_sum(entering, leaving, evicts, high, low, slack, specials):
    """(settled, sum, high, low, slack) from the state alone; if not settled, `sum_again`."""
    departing = leaving if evicts else 0.0
    high, low, slack = shift_sum(entering, departing, high, low, slack)
    settled, total = settle_sum(high, low, slack)
    return settled and specials == 0 and abs(high) < SUM_LIMIT, total, high, low, slack


@step
def moving_sum(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    high, low, slack, specials,
):
    """Exact sum of the window, rounded once: (sum, high, low, slack, specials)."""
    settled, total, high, low, slack = quick_sum(
        entering, leaving, evicts, high, low, slack, specials
    )
    if settled:
        return total, high, low, slack, specials
    return sum_again(
        entering, leaving, evicts, count, values, first, scratch, scratch_first, specials
    )


@noinline
def sum_again(
    entering, leaving, evicts, count, values, first, scratch, scratch_first, specials
):
    """The moving sum from the window itself; returns as `moving_sum` does."""
    specials += special_code(entering) - (special_code(leaving) if evicts else 0)
    if specials != 0:
        return special_sum(specials), 0.0, 0.0, math.inf, specials
    high, low, slack = sum_of_window(count, values, first)
    if abs(high) < SUM_LIMIT:
        settled, total = settle_sum(high, low, slack)
        if settled:
            return total, high, low, slack, specials
    total = exact_sum(count, values, first, scratch, scratch_first)
    return total, high, low, slack, specials


@step
def quick_mean(entering, leaving, evicts, count, high, low, slack, specials):
    """(settled, mean, high, low, slack) from the state alone; if not settled, `mean_again`."""
    departing = leaving if evicts else 0.0
    high, low, slack = shift_sum(entering, departing, high, low, slack)
    settled, mean = settle_mean(count, high, low, slack)
    return settled and specials == 0, mean, high, low, slack


@step
def moving_mean(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    high, low, slack, specials,
):
    """Exact mean of the window, rounded once: (mean, high, low, slack, specials)."""
    settled, mean, high, low, slack = quick_mean(
        entering, leaving, evicts, count, high, low, slack, specials
    )
    if settled:
        return mean, high, low, slack, specials
    return mean_again(
        entering, leaving, evicts, count, values, first, scratch, scratch_first,
        high, low, slack, specials,
    )


@noinline
def mean_again(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    high, low, slack, specials,
):
    """The moving mean from an exact state, or else from the window; returns as `moving_mean`."""
    specials += special_code(entering) - (special_code(leaving) if evicts else 0)
    if specials != 0:
        return special_sum(specials), 0.0, 0.0, math.inf, specials
    if slack != 0.0 or not abs(high) < SUM_LIMIT:
        high, low, slack = sum_of_window(count, values, first)
        settled, mean = settle_mean(count, high, low, slack)
        if settled:
            return mean, high, low, slack, specials
    if slack == 0.0 and abs(high) < SUM_LIMIT:
        clear_digits(scratch, scratch_first, SUM_DIGITS)
        add_value(high, scratch, scratch_first)
        add_value(low, scratch, scratch_first)
        mean = digits_to_mean(count, scratch, scratch_first)
    else:
        mean = exact_mean(count, values, first, scratch, scratch_first)
    return mean, high, low, slack, specials


@step
def integer_sum(entering, leaving, evicts, high, low):
    """(high, low) of a window of int64, from that before; exact below 2**30 values."""
    upper = int(high) + entering // INTEGER_PART
    lower = int(low) + entering % INTEGER_PART
    if evicts:
        upper -= leaving // INTEGER_PART
        lower -= leaving % INTEGER_PART
    upper += lower // INTEGER_PART
    return float(upper), float(lower % INTEGER_PART)


@step
def leave_sum(values_leaving, high, low, slack, specials):
    """The state of a moving sum or mean without a value of the window."""
    high, low, slack = shift_sum(0.0, values_leaving, high, low, slack)
    return high, low, slack, specials - special_code(values_leaving)


@step
def leave_integer_sum(values_leaving, high, low, slack, specials):
    """The state of a moving sum or mean of int64 without a value of the window."""
    high, low = integer_sum(0, values_leaving, True, high, low)
    return high, low, slack, specials


@step
def integer_mean(count, high, low, scratch, scratch_first):
    """The mean of a window of int64, rounded once."""
    settled, mean = settle_mean(count, high * INTEGER_PART, low, 0.0)
    if not settled:
        clear_digits(scratch, scratch_first, SUM_DIGITS)
        add_value(high * INTEGER_PART, scratch, scratch_first)
        add_value(low, scratch, scratch_first)
        mean = digits_to_mean(count, scratch, scratch_first)
    return mean
