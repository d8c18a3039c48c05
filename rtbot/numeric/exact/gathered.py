"""Exact sums and means of values that are gathered one by one and looked at once in a while.

Meaning: high + low + digits is the sum, exactly. Most values go into the two floats; what these
drop, or cannot hold, goes into the digits (`exact.digits`). Two such sums are added by adding the
three parts of one to the other. `marks` has what else there was: INFINITY and NEGATIVE_INFINITY (a
NaN marks both), and IN_DIGITS where the digits are not all zero.
"""

import math

from rtbot.numeric.exact.digits import (
    SUM_DIGITS,
    add_value,
    carry_digits,
    clear_digits,
    digits_to_mean,
    digits_to_sum,
    top_digit,
)
from rtbot.numeric.exact.sums import SUM_LIMIT, settle_mean
from rtbot.numeric.ieee import two_sum
from rtbot.operator import noinline, step

INFINITY, NEGATIVE_INFINITY, IN_DIGITS = 1, 2, 4
SPECIAL = INFINITY | NEGATIVE_INFINITY
INTEGER_PART = 2**44


@step
def gather_value(x, digits, first, high, low, marks):
    """(high, low, marks) of the sum with x."""
    total, error = two_sum(high, x)
    rest, dropped = two_sum(low, error)
    if not abs(total) < SUM_LIMIT:
        return high, low, gather_far_value(x, digits, first, marks)
    if dropped != 0.0:
        add_value(dropped, digits, first)
        marks |= IN_DIGITS
    return total, rest, marks


@noinline
def gather_far_value(x, digits, first, marks):
    """The marks with a value that the two floats cannot take: NaN, infinite, or huge."""
    if x != x:
        return marks | SPECIAL
    if abs(x) == math.inf:
        return marks | (INFINITY if x > 0.0 else NEGATIVE_INFINITY)
    add_value(x, digits, first)
    return marks | IN_DIGITS


@step
def split_integer(value):
    """Two floats whose sum is the integer."""
    return float(value // INTEGER_PART) * INTEGER_PART, float(value % INTEGER_PART)


@step
def gathered_sum(digits, first, high, low, marks, scratch, scratch_first):
    """The sum, rounded once."""
    if marks == 0:
        return high + low
    return settle_gathered(0, digits, first, high, low, marks, scratch, scratch_first)


@step
def gathered_mean(count, digits, first, high, low, marks, scratch, scratch_first):
    """The mean of so many values, rounded once."""
    if marks == 0:
        settled, mean = settle_mean(count, high, low, 0.0)
        if settled:
            return mean
    return settle_gathered(count, digits, first, high, low, marks, scratch, scratch_first)


@noinline
def settle_gathered(count, digits, first, high, low, marks, scratch, scratch_first):
    """The mean, or the sum if `count` is 0, with all digits; these stay as they are."""
    special = marks & SPECIAL
    if special == SPECIAL:
        return math.nan
    if special != 0:
        return math.inf if special == INFINITY else -math.inf
    copy_digits(digits, first, scratch, scratch_first)
    add_value(high, scratch, scratch_first)
    add_value(low, scratch, scratch_first)
    if count == 0:
        return digits_to_sum(scratch, scratch_first)
    return digits_to_mean(count, scratch, scratch_first)


@noinline
def refit_sum(digits, first, high, low, scratch, scratch_first):
    """(high, low, marks) of the same sum, with nothing in the digits that two floats can hold."""
    add_value(high, digits, first)
    add_value(low, digits, first)
    high = take_float(digits, first, scratch, scratch_first)
    low = take_float(digits, first, scratch, scratch_first)
    copy_digits(digits, first, scratch, scratch_first)
    sign = -1 if carry_digits(scratch, scratch_first, SUM_DIGITS) else 1
    if top_digit(scratch, scratch_first, SUM_DIGITS) < 0:
        clear_digits(digits, first, SUM_DIGITS)
        return high, low, 0
    for place in range(SUM_DIGITS):
        digits[first + place] = sign * scratch[scratch_first + place]
    return high, low, IN_DIGITS


@noinline
def take_float(digits, first, scratch, scratch_first):
    """Take the float nearest to the digits off them; 0 if that is too large."""
    copy_digits(digits, first, scratch, scratch_first)
    nearest = digits_to_sum(scratch, scratch_first)
    if not abs(nearest) < SUM_LIMIT:
        return 0.0
    add_value(-nearest, digits, first)
    return nearest


@noinline
def copy_digits(digits, first, scratch, scratch_first):
    """Write the digits of a sum to another place."""
    for place in range(SUM_DIGITS):
        scratch[scratch_first + place] = digits[first + place]
