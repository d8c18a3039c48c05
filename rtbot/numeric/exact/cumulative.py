"""Exact running sums, of floats and of whole numbers: nothing is ever lost.

See `exact` for the meaning and the state of every function.
"""

import math

from rtbot.numeric.exact.digits import (
    DIGIT,
    DIGIT_BITS,
    SUM_BASE,
    SUM_DIGITS,
    add_value,
    carry_digits,
    float_parts,
    round_digits,
)
from rtbot.numeric.exact.sums import SUM_LIMIT, settle_sum
from rtbot.numeric.ieee import two_sum
from rtbot.operator import noinline, step

RUNNING_SUM_DIGITS = SUM_DIGITS
DIGIT_LIMIT = 2**60
INTEGER_LIMB = 2**62


@step
def running_sum(x, digits, first, high, low, slack, specials):
    """Exact sum of all values so far, rounded once: (sum, high, low, slack, specials).

    What the two floats cannot hold goes into the key's digits, so nothing is ever lost and a sum
    that leaves the range and comes back is right again. An infinity stays; both kinds: NaN.
    """
    total, error = two_sum(high, x)
    rest, dropped = two_sum(low, error)
    if specials == 0 and abs(total) < SUM_LIMIT:
        settled, result = settle_sum(total, rest, slack + abs(dropped))
        if settled:
            if dropped != 0.0:
                add_dropped(dropped, digits, first)
            return result, total, rest, slack + abs(dropped), specials
    return running_sum_again(x, digits, first, high, low, specials)


@noinline
def running_sum_again(x, digits, first, high, low, specials):
    """Everything into the digits; then their leading two floats come out again."""
    if specials != 0 or not abs(x) < math.inf:
        specials |= 3 if x != x else (1 if x == math.inf else (2 if x == -math.inf else 0))
        result = math.nan if specials == 3 else (math.inf if specials == 1 else -math.inf)
        return result, 0.0, 0.0, math.inf, specials
    add_value(x, digits, first)
    add_value(high, digits, first)
    add_value(low, digits, first)
    result = signed_round(digits, first)
    if not abs(result) < SUM_LIMIT:
        return result, 0.0, 0.0, math.inf, specials
    add_value(-result, digits, first)
    low = signed_round(digits, first)
    add_value(-low, digits, first)
    return result, result, low, abs(signed_round(digits, first)), specials


@step
def signed_round(digits, first):
    """The float nearest to a sum, which keeps its value."""
    negative = carry_digits(digits, first, SUM_DIGITS)
    size = round_digits(digits, first, SUM_DIGITS, SUM_BASE, False)
    if not negative:
        return size
    for index in range(first, first + SUM_DIGITS):
        digits[index] = -digits[index]
    return -size


@step
def add_dropped(x, digits, first):
    """Add to a sum for ever: a digit that has grown large hands its excess to the next one."""
    add_value(x, digits, first)
    _, exponent = float_parts(x)
    lowest = first + (exponent - SUM_BASE) // DIGIT_BITS
    for index in range(lowest, lowest + 4):
        if abs(digits[index]) > DIGIT_LIMIT:
            carry = digits[index] // DIGIT
            digits[index] -= carry * DIGIT
            digits[index + 1] += carry


@step
def running_integer_sum(x, high, low):
    """Exact sum of all int64 so far: (fits, sum, high, low); where it does not fit, sum is 0."""
    low += x % INTEGER_LIMB
    high += x // INTEGER_LIMB
    if low >= INTEGER_LIMB:
        low -= INTEGER_LIMB
        high += 1
    fits = -2 <= high <= 1
    return fits, high * INTEGER_LIMB + low if fits else 0, high, low
