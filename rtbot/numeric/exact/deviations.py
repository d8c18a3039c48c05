"""Exact moving sample deviations: the state alone where that settles it, else the window.

See `exact` for the meaning and the state of every function.
"""

import math

from rtbot.numeric.exact.digits import (
    SCRATCH_DIGITS,
    SUM_DIGITS,
    add_to_squares,
    add_value,
    clear_digits,
    digits_to_deviation,
    exact_deviation,
)
from rtbot.numeric.exact.sums import CORRECTION_ROUNDING, SLACK_FACTOR, special_code
from rtbot.numeric.ieee import plain_product, split, two_sum
from rtbot.operator import noinline, step

SQUARE_LIMIT = 2.0**960
SQUARE_LOWEST = 2.0**-900
UNDERFLOW_BOUND = 2.0**-1000
CROSS_ROUNDING = 2.0**-50
MOMENT_ROUNDING = 2.0**-99
TAIL_ROUNDING = 2.0**-50
SHORT_FACTOR = 2.0**26


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
def leave_deviation(
    values_leaving,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):
    """The state of a moving deviation without a value of the window."""
    sum_high, sum_low, sum_slack, square_high, square_low, square_slack = shift_moments(
        center, values_leaving, center,
        sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
    )
    specials -= special_code(values_leaving)
    return (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials
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


@noinline
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
