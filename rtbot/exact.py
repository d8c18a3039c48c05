"""Exact moving sums, means and deviations, and exact running sums.

Each result is a function of the values in the window only: the exact value rounded once (the
variance is rounded once, then its root). A running sum of two floats (Dekker's double-double) is
kept together with a bound of all that it has dropped, its slack. Most of the time the slack is
zero or the result is provably on one side of a rounding boundary; otherwise the sums are built
again from the window, and if that still does not settle it, `exact_digits` does.

State, handed by value and returned by value, in this order:

function            name          type     start   meaning
moving_sum, _mean   high          float64  0.0     high + low is the sum, off by at most 2 * slack
                    low           float64  0.0
                    slack         float64  0.0
                    specials      int64    0       NaN and infinities in the window, see below
standard_deviation  center        float64  0.0     sums are of y = value - center, always exact
                    sum_high      float64  0.0     sum of y, as above
                    sum_low       float64  0.0
                    sum_slack     float64  0.0
                    square_high   float64  0.0     sum of y * y, as above
                    square_low    float64  0.0
                    square_slack  float64  0.0
                    specials      int64    0
running_sum         high          float64  0.0     high + low + digits is the sum, exactly
                    low           float64  0.0
                    slack         float64  0.0     abs(digits) is at most 2 * slack
                    specials      int64    0       1: +inf was seen, 2: -inf, 3: NaN or both
                    digits        int64[RUNNING_SUM_DIGITS] per key, all 0
running_integer_sum high          int64    0       the sum is high * 2**62 + low
                    low           int64    0

Scratch: `scratch[scratch_first : scratch_first + SCRATCH_DIGITS]` is int64, of any content, and
may be shared by all keys and operators. `specials` counts +inf in its low 31 bits and -inf above
them; a NaN counts as one of each, so that both present means NaN.

Limits: fewer than 2**26 values in a window. While a sum is beyond 2**1020 or a square beyond
2**960, every row costs a pass over the window.
"""

import math

from rtbot.exact_digits import (
    DIGIT,
    DIGIT_BITS,
    SCRATCH_DIGITS,
    SUM_BASE,
    SUM_DIGITS,
    add_to_squares,
    add_value,
    carry_digits,
    clear_digits,
    digits_to_deviation,
    digits_to_mean,
    exact_deviation,
    exact_mean,
    exact_sum,
    float_parts,
    round_digits,
)
from rtbot.ieee import plain_product, split, two_sum
from rtbot.operator import step

RUNNING_SUM_DIGITS = SUM_DIGITS
NEGATIVE_SPECIAL = 2**31
SUM_LIMIT = 2.0**1020
MEAN_LIMIT = 2.0**990
MEAN_LOWEST = 2.0**-900
SQUARE_LIMIT = 2.0**960
SQUARE_LOWEST = 2.0**-900
UNDERFLOW_BOUND = 2.0**-1000
SLACK_FACTOR = 2.0  # covers the rounding of the slack itself
ROUNDING = 2.0**-52
CORRECTION_ROUNDING = 2.0**-49
CROSS_ROUNDING = 2.0**-50
MOMENT_ROUNDING = 2.0**-99
TAIL_ROUNDING = 2.0**-50
SHORT_FACTOR = 2.0**26
DIGIT_LIMIT = 2**60
INTEGER_LIMB = 2**62


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
    """(settled, sum): do all sums within the slack round to the same float?"""
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


@step
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


@step
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
def shift_moments(
    entering, departing, center,
    sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
):
    """Both sums after one value came and another left (`departing` is the center if none did).

    The squares change by enter**2 - depart**2 = (enter - depart) * (enter + depart). A value
    whose distance from the center is no float makes the slack infinite: build again.
    """
    enter, enter_error = two_sum(entering, -center)
    depart = departing - center
    change, change_error = two_sum(enter, -depart)
    both, both_error = two_sum(enter, depart)
    sum_high, error = two_sum(sum_high, change)
    error, missed = two_sum(error, change_error)
    sum_low, dropped = two_sum(sum_low, error)
    sum_slack += abs(missed) + abs(dropped)

    product, product_error = plain_product(change, both)
    square_high, error = two_sum(square_high, product)
    error, missed = two_sum(error, product_error)
    square_slack += abs(missed)
    if both_error != 0.0 or change_error != 0.0:
        left, right = change * both_error, both * change_error
        error, missed = two_sum(error, left + right)
        square_slack += abs(missed) + CROSS_ROUNDING * (abs(left) + abs(right)) + UNDERFLOW_BOUND
    square_low, dropped = two_sum(square_low, error)
    square_slack += abs(dropped)
    if abs(product) < SQUARE_LOWEST and change != 0.0 and both != 0.0:
        square_slack += UNDERFLOW_BOUND
    if enter_error != 0.0:
        square_slack = math.inf
    return sum_high, sum_low, sum_slack, square_high, square_low, square_slack


@step
def excess_less_product(excess, variance, divisor):
    """excess - variance * divisor, which is small; exact to 2**-103 of excess."""
    if divisor < SHORT_FACTOR:
        upper, lower = split(variance)
        return (excess - upper * divisor) - lower * divisor
    whole, whole_error = plain_product(variance, divisor)
    return (excess - whole) - whole_error


@step
def settle_deviation(
    count, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
):
    """(settled, deviation): the root of the rounded variance, if the slack leaves one choice.

    The variance is (count * squares - sum**2) / (count * (count - 1)); products and their
    difference are taken in two floats, the quotient is corrected by its remainder.
    """
    if count < 2:
        return True, 0.0
    size = float(count)
    upper, lower = split(square_high)
    upper, lower = upper * size, lower * size
    scaled = upper + lower
    scaled_error = lower - (scaled - upper)
    squared, squared_error = plain_product(sum_high, sum_high)
    excess, excess_error = two_sum(scaled, -squared)
    scaled_rest, squared_rest = square_low * size, 2.0 * sum_high * sum_low
    tail = excess_error + ((scaled_error - squared_error) + (scaled_rest - squared_rest))
    excess, tail = excess + tail, tail - ((excess + tail) - excess)

    sum_bound = SLACK_FACTOR * sum_slack
    bound = SLACK_FACTOR * size * square_slack
    bound += 4.0 * sum_bound * (abs(sum_high) + abs(sum_low) + sum_bound) + sum_low * sum_low
    bound += TAIL_ROUNDING * (abs(scaled_rest) + abs(squared_rest) + abs(tail))
    bound += MOMENT_ROUNDING * (abs(scaled) + squared) + UNDERFLOW_BOUND

    divisor = size * (size - 1.0)
    inverse = 1.0 / divisor
    variance = excess * inverse
    remainder = excess_less_product(excess, variance, divisor) + tail
    correction = remainder * inverse
    bound = 2.0 * bound * inverse + CORRECTION_ROUNDING * abs(correction)
    lower = variance + (correction - bound)
    upper = variance + (correction + bound)
    if lower == upper:
        return True, math.sqrt(lower)
    if lower > 0.0 and upper < SQUARE_LIMIT:
        root = math.sqrt(lower)
        return root == math.sqrt(upper), root
    exact = square_slack == 0.0 and sum_slack == 0.0
    return exact and square_high == 0.0 and square_low == 0.0, 0.0


@step
def quick_deviation(
    entering, leaving, evicts, count,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):
    """(settled, deviation, the six sums) from the state alone; if not, `deviation_again`."""
    departing = leaving if evicts else center
    sum_high, sum_low, sum_slack, square_high, square_low, square_slack = shift_moments(
        entering, departing, center,
        sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
    )
    settled, deviation = False, 0.0
    if specials == 0 and square_high < SQUARE_LIMIT:
        settled, deviation = settle_deviation(
            count, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
        )
    return (
        settled, deviation, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
    )


@step
def standard_deviation(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):
    """Exact sample deviation of the window: (deviation, and the eight of the state).

    math.sqrt(statistics.variance(window)); 0.0 for one value, NaN with a NaN or an infinity.
    """
    (settled, deviation, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
     ) = quick_deviation(
        entering, leaving, evicts, count,
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
    )
    if settled:
        return (
            deviation, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        )
    return deviation_again(
        entering, leaving, evicts, count, values, first, scratch, scratch_first,
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
    )


@step
def deviation_again(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):
    """The deviation from an exact state, or else from the window; as `standard_deviation`."""
    specials += special_code(entering) - (special_code(leaving) if evicts else 0)
    if specials != 0 or count < 2:
        deviation = math.nan if specials != 0 else 0.0
        return deviation, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf, specials
    if square_slack == 0.0 and sum_slack == 0.0 and square_high < SQUARE_LIMIT:
        deviation = deviation_of_moments(
            count, sum_high, sum_low, square_high, square_low, scratch, scratch_first
        )
        if deviation > 0.0:
            return (
                deviation, center, sum_high, sum_low, sum_slack,
                square_high, square_low, square_slack, specials,
            )
    center = choose_center(entering, count, values, first)
    sum_high, sum_low, sum_slack, square_high, square_low, square_slack = moments_of_window(
        center, count, values, first
    )
    settled, deviation = False, 0.0
    if square_high < SQUARE_LIMIT:
        settled, deviation = settle_deviation(
            count, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
        )
    if not settled:
        deviation = exact_deviation(count, values, first, scratch, scratch_first)
    return (
        deviation, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )


@step
def choose_center(entering, count, values, first):
    """A value of the window if all lie so close that their differences are exact, or else 0.0.

    Sterbenz: x - y is exact where y / 2 <= x <= 2 * y.
    """
    lowest, highest = entering, entering
    for index in range(first, first + count):
        lowest = min(lowest, values[index])
        highest = max(highest, values[index])
    nearest = lowest if lowest > 0.0 else -highest
    return entering if highest - lowest < 0.5 * nearest else 0.0


@step
def moments_of_window(center, count, values, first):
    """Both sums of a window around a center, and their slacks."""
    sum_high, sum_low, sum_slack = 0.0, 0.0, 0.0
    square_high, square_low, square_slack = 0.0, 0.0, 0.0
    for index in range(first, first + count):
        sum_high, sum_low, sum_slack, square_high, square_low, square_slack = shift_moments(
            values[index], center, center,
            sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
        )
    return sum_high, sum_low, sum_slack, square_high, square_low, square_slack


@step
def deviation_of_moments(
    count, sum_high, sum_low, square_high, square_low, scratch, scratch_first
):
    """The deviation from sums that have dropped nothing, in wide digits."""
    clear_digits(scratch, scratch_first, SCRATCH_DIGITS)
    add_value(sum_high, scratch, scratch_first)
    add_value(sum_low, scratch, scratch_first)
    add_to_squares(square_high, scratch, scratch_first + SUM_DIGITS)
    add_to_squares(square_low, scratch, scratch_first + SUM_DIGITS)
    return digits_to_deviation(count, scratch, scratch_first)


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


@step
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
