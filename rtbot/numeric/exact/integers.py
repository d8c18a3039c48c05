"""Exact moving sample deviations of integers.

See `exact` for the state. While the values of a window are within 2**53 of one of them, their
distances from it are floats, and `exact.deviations` has the answer; else the sums are kept as
integers.
"""

from rtbot.numeric.exact.deviations import (
    deviation_of_moments,
    quick_deviation,
    settle_deviation,
    shift_moments,
)
from rtbot.numeric.exact.digits import (
    SCRATCH_DIGITS,
    SUM_DIGITS,
    add_to_squares,
    add_value,
    clear_digits,
    digits_to_deviation,
)
from rtbot.numeric.exact.sums import INTEGER_PART, integer_sum
from rtbot.numeric.ieee import subtract_checked
from rtbot.operator import noinline, step

NEAR = 2**53
HALF_PART = 2**22


@step
def distance_from(value, origin):
    """(whether it is a float, value - origin)."""
    fits, distance = subtract_checked(value, origin)
    near = fits and -NEAR <= distance <= NEAR
    return near, float(distance) if near else 0.0


@step
def integer_deviation(
    entering, leaving, evicts, count, values, first, scratch, scratch_first,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):  # fmt: skip
    """Exact sample deviation of a window of int64: (deviation, and the eight of the state).

    A slack below zero says that the sums are whole, and for how many rows they have been.
    """
    near, enter = distance_from(entering, specials)
    if near and square_slack >= 0.0:
        depart = float(leaving - specials) if evicts else 0.0
        (
            settled, deviation, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
        ) = quick_deviation(
            enter, depart, evicts, count,
            0.0, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, 0,
        )  # fmt: skip
        if settled:
            return (
                deviation, center, sum_high, sum_low, sum_slack,
                square_high, square_low, square_slack, specials,
            )  # fmt: skip
    return integer_deviation_again(
        entering, leaving, evicts, count, values, first, scratch, scratch_first, near,
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
    )  # fmt: skip


@step
def leave_integer_deviation(
    values_leaving,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):  # fmt: skip
    """The state of a moving deviation of int64 without a value of the window."""
    if square_slack >= 0.0:
        sum_high, sum_low, sum_slack, square_high, square_low, square_slack = shift_moments(
            0.0, float(values_leaving - specials), 0.0,
            sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
        )  # fmt: skip
    else:
        sum_high, sum_low = integer_sum(0, values_leaving, True, sum_high, sum_low)
        center, sum_slack, square_high, square_low = add_whole_square(
            values_leaving, -1, center, sum_slack, square_high, square_low
        )
    return (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials
    )  # fmt: skip


@noinline
def integer_deviation_again(
    entering, leaving, evicts, count, values, first, scratch, scratch_first, near,
    center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
):  # fmt: skip
    """The deviation and the state where the distances do not settle it; as `integer_deviation`."""
    if square_slack < 0.0 and -square_slack < count:
        return whole_deviation(
            entering, leaving, evicts, count, scratch, scratch_first,
            center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
        )  # fmt: skip
    if near and sum_slack == 0.0 and square_slack == 0.0:
        deviation = deviation_of_moments(
            count, sum_high, sum_low, square_high, square_low, scratch, scratch_first
        )
        if deviation > 0.0:
            return (
                deviation, center, sum_high, sum_low, sum_slack,
                square_high, square_low, square_slack, specials,
            )  # fmt: skip
    return integer_deviation_of_window(entering, count, values, first, scratch, scratch_first)


@noinline
def integer_deviation_of_window(entering, count, values, first, scratch, scratch_first):
    """The deviation and the state from the window itself; as `integer_deviation`."""
    sum_high, sum_low, sum_slack = 0.0, 0.0, 0.0
    square_high, square_low, square_slack = 0.0, 0.0, 0.0
    near = True
    for index in range(first, first + count):
        near, distance = distance_from(values[index], entering)
        if not near:
            break
        sum_high, sum_low, sum_slack, square_high, square_low, square_slack = shift_moments(
            distance, 0.0, 0.0,
            sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
        )  # fmt: skip
    if near:
        settled, deviation = settle_deviation(
            count, sum_high, sum_low, sum_slack, square_high, square_low, square_slack
        )
        if not settled and sum_slack == 0.0 and square_slack == 0.0:
            settled = True
            deviation = deviation_of_moments(
                count, sum_high, sum_low, square_high, square_low, scratch, scratch_first
            )
        if settled:
            return (
                deviation, 0.0, sum_high, sum_low, sum_slack,
                square_high, square_low, square_slack, entering,
            )  # fmt: skip
    return whole_deviation_of_window(count, values, first, scratch, scratch_first)


@noinline
def whole_deviation_of_window(count, values, first, scratch, scratch_first):
    """The deviation and sums that are whole from the window itself; as `integer_deviation`."""
    part0, part1, part2, part3, sum_high, sum_low = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for index in range(first, first + count):
        sum_high, sum_low = integer_sum(values[index], 0, False, sum_high, sum_low)
        part0, part1, part2, part3 = add_whole_square(values[index], 1, part0, part1, part2, part3)
    deviation = deviation_of_whole(
        count, sum_high, sum_low, part0, part1, part2, part3, scratch, scratch_first
    )
    return deviation, part0, sum_high, sum_low, part1, part2, part3, -1.0, 0


@noinline
def whole_deviation(
    entering, leaving, evicts, count, scratch, scratch_first,
    part0, sum_high, sum_low, part1, part2, part3, rows,
):  # fmt: skip
    """The deviation and the state from sums that are whole; as `integer_deviation`."""
    sum_high, sum_low = integer_sum(entering, leaving, evicts, sum_high, sum_low)
    part0, part1, part2, part3 = add_whole_square(entering, 1, part0, part1, part2, part3)
    if evicts:
        part0, part1, part2, part3 = add_whole_square(leaving, -1, part0, part1, part2, part3)
    deviation = deviation_of_whole(
        count, sum_high, sum_low, part0, part1, part2, part3, scratch, scratch_first
    )
    return deviation, part0, sum_high, sum_low, part1, part2, part3, rows - 1.0, 0


@noinline
def add_whole_square(value, sign, part0, part1, part2, part3):
    """Add sign * value**2 to a sum of squares: whole parts, each of 44 bits."""
    low, middle = value % HALF_PART, value // HALF_PART % HALF_PART
    high = value // INTEGER_PART
    lower, upper = 2 * low * middle, 2 * middle * high
    total = int(part0) + sign * (low * low + lower % HALF_PART * HALF_PART)
    part0 = float(total % INTEGER_PART)
    inner = lower // HALF_PART + middle * middle + 2 * low * high + upper % HALF_PART * HALF_PART
    total = int(part1) + total // INTEGER_PART + sign * inner
    part1 = float(total % INTEGER_PART)
    total = int(part2) + total // INTEGER_PART + sign * (upper // HALF_PART + high * high)
    part2 = float(total % INTEGER_PART)
    return part0, part1, part2, part3 + float(total // INTEGER_PART)


@noinline
def deviation_of_whole(
    count, sum_high, sum_low, part0, part1, part2, part3, scratch, scratch_first
):
    """The deviation from the sum and the sum of squares, in wide digits."""
    if count < 2:
        return 0.0
    squares = scratch_first + SUM_DIGITS
    clear_digits(scratch, scratch_first, SCRATCH_DIGITS)
    add_value(sum_high * INTEGER_PART, scratch, scratch_first)
    add_value(sum_low, scratch, scratch_first)
    add_to_squares(part0, scratch, squares)
    add_to_squares(part1 * INTEGER_PART, scratch, squares)
    add_to_squares(part2 * INTEGER_PART * INTEGER_PART, scratch, squares)
    add_to_squares(part3 * INTEGER_PART * INTEGER_PART * INTEGER_PART, scratch, squares)
    return digits_to_deviation(count, scratch, scratch_first)
