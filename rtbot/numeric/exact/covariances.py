"""Exact moving covariances, and correlations: the state alone where that settles it, else digits.

The state is `sums`: fifteen floats, three for each of the sums of x, of y, of x * x, of x * y and
of y * y, all of distances from a center. The excess of two sides is count * sum(x * y) - sum(x) *
sum(y); the covariance is that divided by count * (count - 1), and the correlation, a function of
the three rounded excesses. So both follow from the window alone, whatever came before.

Limits: fewer than 2**26 pairs. A row costs a pass over the window while a product is beyond
2**960, an excess for a correlation outside 2**-400 .. 2**400, or integers of the window are more
than 2**53 apart.
"""

import math

from rtbot.numeric.exact.deviations import (
    MOMENT_ROUNDING,
    SQUARE_LIMIT,
    SQUARE_LOWEST,
    TAIL_ROUNDING,
    UNDERFLOW_BOUND,
    choose_center,
    excess_less_product,
)
from rtbot.numeric.exact.integers import distance_from
from rtbot.numeric.exact.products import (
    digits_to_covariance,
    digits_to_parts,
    excess_of_integers,
    excess_of_sums,
    excess_of_window,
    scale_ratio,
)
from rtbot.numeric.exact.sums import CORRECTION_ROUNDING, SLACK_FACTOR, shift_sum, special_code
from rtbot.numeric.ieee import plain_product, split, two_sum
from rtbot.operator import noinline, step

SUMS = 15
"""Floats of the sums."""

EXCESS_LIMIT = 2.0**400
EXCESS_LOWEST = 2.0**-400


@step
def no_sums(slack):
    """The sums of nothing, or with a slack of infinity those that are to be built again."""
    return (
        0.0, 0.0, slack, 0.0, 0.0, slack, 0.0, 0.0, slack, 0.0, 0.0, slack, 0.0, 0.0, slack
    )  # fmt: skip


@step
def load_sums(cells, first):
    """The sums that an array has from `first` on."""
    return (
        cells[first], cells[first + 1], cells[first + 2], cells[first + 3], cells[first + 4],
        cells[first + 5], cells[first + 6], cells[first + 7], cells[first + 8], cells[first + 9],
        cells[first + 10], cells[first + 11], cells[first + 12], cells[first + 13],
        cells[first + 14],
    )  # fmt: skip


@step
def store_sums(sums, cells, first):
    """Put the sums into an array, from `first` on."""
    (
        cells[first], cells[first + 1], cells[first + 2], cells[first + 3], cells[first + 4],
        cells[first + 5], cells[first + 6], cells[first + 7], cells[first + 8], cells[first + 9],
        cells[first + 10], cells[first + 11], cells[first + 12], cells[first + 13],
        cells[first + 14],
    ) = sums  # fmt: skip


@step
def add_to_product(a, b, sign, high, low, slack):
    """A sum of two floats with sign * a * b added; what does not fit goes into the slack."""
    product, product_error = plain_product(sign * a, b)
    high, error = two_sum(high, product)
    error, missed = two_sum(error, product_error)
    low, dropped = two_sum(low, error)
    slack += abs(missed) + abs(dropped)
    if abs(product) < SQUARE_LOWEST and a != 0.0 and b != 0.0:
        slack += UNDERFLOW_BOUND
    return high, low, slack


@step
def shift_product(enter_x, enter_y, depart_x, depart_y, high, low, slack):
    """The sum of products after one pair came and another left."""
    high, low, slack = add_to_product(enter_x, enter_y, 1.0, high, low, slack)
    return add_to_product(depart_x, depart_y, -1.0, high, low, slack)


@step
def shift_pairs(enter_x, enter_y, depart_x, depart_y, sums):
    """All sums after one pair of distances came and another left (zeros if none did)."""
    xh, xl, xs, yh, yl, ys, xxh, xxl, xxs, xyh, xyl, xys, yyh, yyl, yys = sums
    xh, xl, xs = shift_sum(enter_x, depart_x, xh, xl, xs)
    yh, yl, ys = shift_sum(enter_y, depart_y, yh, yl, ys)
    xxh, xxl, xxs = shift_product(enter_x, enter_x, depart_x, depart_x, xxh, xxl, xxs)
    xyh, xyl, xys = shift_product(enter_x, enter_y, depart_x, depart_y, xyh, xyl, xys)
    yyh, yyl, yys = shift_product(enter_y, enter_y, depart_y, depart_y, yyh, yyl, yys)
    return xh, xl, xs, yh, yl, ys, xxh, xxl, xxs, xyh, xyl, xys, yyh, yyl, yys


@step
def is_lost(sums):
    """Whether the sums are to be built again."""
    return not (sums[2] < math.inf and sums[5] < math.inf)


@step
def is_exact(
    size, x_high, x_low, x_slack, y_high, y_low, y_slack, high, low,
    excess_error, scaled_error, squared_error,
):  # fmt: skip
    """Whether the sum of two floats that `estimate_excess` finds is the excess itself."""
    if high == 0.0 and low == 0.0:
        if x_high == 0.0 and x_low == 0.0 and x_slack == 0.0:
            return True
        if y_high == 0.0 and y_low == 0.0 and y_slack == 0.0:
            return True
    if x_slack != 0.0 or y_slack != 0.0 or x_low != 0.0 or y_low != 0.0:
        return False
    in_range = high == 0.0 or abs(high) > SQUARE_LOWEST
    in_range = in_range and (low == 0.0 or abs(low) > SQUARE_LOWEST)
    if not in_range or (x_high != 0.0 and y_high != 0.0 and abs(x_high * y_high) < SQUARE_LOWEST):
        return False
    rest, rest_error = plain_product(low, size)
    errors, first_missed = two_sum(scaled_error, -squared_error)
    errors, second_missed = two_sum(errors, rest)
    _, third_missed = two_sum(excess_error, errors)
    return rest_error == 0.0 and (first_missed == second_missed == third_missed == 0.0)


@step
def estimate_excess(
    count, x_high, x_low, x_slack, y_high, y_low, y_slack, high, low, slack
):  # fmt: skip
    """(excess, tail, bound): the excess is excess + tail, off by at most bound; 0 is exact.

    Integers and prices often have an excess of a few bits more than a float, halfway between two.
    """
    size = float(count)
    upper, lower = split(high)
    upper, lower = upper * size, lower * size
    scaled = upper + lower
    scaled_error = lower - (scaled - upper)
    squared, squared_error = plain_product(x_high, y_high)
    excess, excess_error = two_sum(scaled, -squared)
    scaled_rest, left, right = low * size, x_high * y_low, x_low * y_high
    tail = excess_error + ((scaled_error - squared_error) + (scaled_rest - (left + right)))
    excess, tail = two_sum(excess, tail)
    x_bound, y_bound = SLACK_FACTOR * x_slack, SLACK_FACTOR * y_slack
    bound = SLACK_FACTOR * size * slack + 2.0 * abs(x_low * y_low)
    bound += 2.0 * x_bound * (abs(y_high) + abs(y_low) + y_bound)
    bound += 2.0 * y_bound * (abs(x_high) + abs(x_low))
    bound += TAIL_ROUNDING * (abs(scaled_rest) + abs(left) + abs(right) + abs(tail))
    bound += MOMENT_ROUNDING * (abs(scaled) + abs(squared)) + UNDERFLOW_BOUND
    if slack == 0.0 and is_exact(
        size, x_high, x_low, x_slack, y_high, y_low, y_slack, high, low,
        excess_error, scaled_error, squared_error,
    ):  # fmt: skip
        bound = 0.0
    return excess, tail, bound


@step
def settle_excess(excess, tail, bound):
    """(settled, the excess rounded once, + 0.0)."""
    if bound == 0.0:
        return True, excess + 0.0
    lower = excess + (tail - 2.0 * bound)
    return lower == excess + (tail + 2.0 * bound), lower


@step
def settle_quotient(count, excess, tail, bound):
    """(settled, the excess divided by count * (count - 1), rounded once)."""
    size = float(count)
    divisor = size * (size - 1.0)
    if bound == 0.0 and tail == 0.0:
        return True, excess / divisor + 0.0
    bound += MOMENT_ROUNDING * abs(excess) + UNDERFLOW_BOUND
    inverse = 1.0 / divisor
    quotient = excess * inverse
    correction = (excess_less_product(excess, quotient, divisor) + tail) * inverse
    bound = 2.0 * bound * inverse + CORRECTION_ROUNDING * abs(correction)
    lower = quotient + (correction - bound)
    return lower == quotient + (correction + bound), lower


@step
def divide_by_root(between, x, y):
    """between / sqrt(x * y), where these do not leave the range: less than 2**-53 off."""
    product, product_error = plain_product(x, y)
    root = math.sqrt(product)
    squared, squared_error = plain_product(root, root)
    rest = ((product - squared) - squared_error + product_error) / (2.0 * root)
    ratio = between / root
    back, back_error = plain_product(ratio, root)
    return ratio + ((between - back) - back_error - ratio * rest) / root


@step
def settle_covariance(count, sums):
    """(settled, covariance) from the sums, the products of which are finite."""
    xh, xl, xs, yh, yl, ys, _, _, _, high, low, slack, _, _, _ = sums
    if not abs(high) < SQUARE_LIMIT:
        return False, 0.0
    excess, tail, bound = estimate_excess(count, xh, xl, xs, yh, yl, ys, high, low, slack)
    return settle_quotient(count, excess, tail, bound)


@step
def settle_correlation(count, sums):
    """(settled, correlation) from the sums; NaN where one side is constant."""
    xh, xl, xs, yh, yl, ys, xxh, xxl, xxs, xyh, xyl, xys, yyh, yyl, yys = sums
    if not (xxh < SQUARE_LIMIT and yyh < SQUARE_LIMIT):
        return False, 0.0
    excess, tail, bound = estimate_excess(count, xh, xl, xs, xh, xl, xs, xxh, xxl, xxs)
    x_settled, x = settle_excess(excess, tail, bound)
    excess, tail, bound = estimate_excess(count, yh, yl, ys, yh, yl, ys, yyh, yyl, yys)
    y_settled, y = settle_excess(excess, tail, bound)
    if (x_settled and x == 0.0) or (y_settled and y == 0.0):
        return True, math.nan
    excess, tail, bound = estimate_excess(count, xh, xl, xs, yh, yl, ys, xyh, xyl, xys)
    settled, between = settle_excess(excess, tail, bound)
    settled = settled and x_settled and y_settled
    settled = settled and EXCESS_LOWEST < x < EXCESS_LIMIT and EXCESS_LOWEST < y < EXCESS_LIMIT
    if not settled or not (between == 0.0 or abs(between) > EXCESS_LOWEST):
        return False, 0.0
    return True, min(1.0, max(-1.0, divide_by_root(between, x, y)))


@step
def settle_pairs(count, is_ratio, sums):
    """(settled, correlation if `is_ratio`, or covariance) from the sums."""
    if is_lost(sums):
        return False, 0.0
    if count < 2:
        return True, math.nan if is_ratio else 0.0
    if is_ratio:
        return settle_correlation(count, sums)
    return settle_covariance(count, sums)


@noinline
def parts_to_correlation(between, between_power, x, x_power, y, y_power):
    """The correlation of three excesses, m * 2**e each; the powers are even."""
    if x == 0.0 or y == 0.0:
        return math.nan
    ratio = divide_by_root(between, x, y)
    return scale_ratio(ratio, between_power - (x_power + y_power) // 2)


@noinline
def pairs_of_sums(count, is_ratio, scratch, first, sums):
    """Covariance or correlation from sums that have dropped nothing, in digits."""
    xh, xl, _, yh, yl, _, xxh, xxl, _, xyh, xyl, _, yyh, yyl, _ = sums
    negative = excess_of_sums(count, xh, xl, yh, yl, xyh, xyl, scratch, first)
    if not is_ratio:
        return digits_to_covariance(count, negative, scratch, first)
    between, between_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_sums(count, xh, xl, xh, xl, xxh, xxl, scratch, first)
    x, x_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_sums(count, yh, yl, yh, yl, yyh, yyl, scratch, first)
    y, y_power = digits_to_parts(negative, scratch, first)
    return parts_to_correlation(between, between_power, x, x_power, y, y_power)


@noinline
def pairs_of_window(count, is_ratio, xs, x_first, ys, y_first, scratch, first):
    """Covariance or correlation of a window of finite floats, in digits."""
    negative = excess_of_window(count, xs, x_first, ys, y_first, scratch, first)
    if not is_ratio:
        return digits_to_covariance(count, negative, scratch, first)
    between, between_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_window(count, xs, x_first, xs, x_first, scratch, first)
    x, x_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_window(count, ys, y_first, ys, y_first, scratch, first)
    y, y_power = digits_to_parts(negative, scratch, first)
    return parts_to_correlation(between, between_power, x, x_power, y, y_power)


@noinline
def pairs_of_integers(count, is_ratio, xs, x_first, ys, y_first, scratch, first):
    """As `pairs_of_window`, of int64."""
    negative = excess_of_integers(count, xs, x_first, ys, y_first, scratch, first)
    if not is_ratio:
        return digits_to_covariance(count, negative, scratch, first)
    between, between_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_integers(count, xs, x_first, xs, x_first, scratch, first)
    x, x_power = digits_to_parts(negative, scratch, first)
    negative = excess_of_integers(count, ys, y_first, ys, y_first, scratch, first)
    y, y_power = digits_to_parts(negative, scratch, first)
    return parts_to_correlation(between, between_power, x, x_power, y, y_power)


@step
def has_dropped_nothing(is_ratio, sums):
    """Whether the sums that the result needs are exact and within the range."""
    exact = sums[2] == 0.0 and sums[5] == 0.0 and sums[11] == 0.0 and abs(sums[9]) < SQUARE_LIMIT
    if not is_ratio:
        return exact
    exact = exact and sums[8] == 0.0 and sums[14] == 0.0
    return exact and sums[6] < SQUARE_LIMIT and sums[12] < SQUARE_LIMIT


# ---- numbers


@step
def shift_numbers(x, y, leaving_x, leaving_y, evicts, center_x, center_y, sums):
    """The sums after a pair came; an infinite slack if its distances are no floats."""
    enter_x, x_error = two_sum(x, -center_x)
    enter_y, y_error = two_sum(y, -center_y)
    depart_x = leaving_x - center_x if evicts else 0.0
    depart_y = leaving_y - center_y if evicts else 0.0
    sums = shift_pairs(enter_x, enter_y, depart_x, depart_y, sums)
    return no_sums(math.inf) if x_error != 0.0 or y_error != 0.0 else sums


@step
def moving_pairs(
    is_ratio, x, y, leaving_x, leaving_y, evicts, count, xs, x_first, ys, y_first,
    scratch, scratch_first, center_x, center_y, sums, specials,
):  # fmt: skip
    """Exact covariance or correlation of the window: (it, center_x, center_y, sums, specials).

    A covariance of one pair is 0.0; with a NaN or an infinity inside both are NaN.
    """
    sums = shift_numbers(x, y, leaving_x, leaving_y, evicts, center_x, center_y, sums)
    settled, result = settle_pairs(count, is_ratio, sums)
    if settled and specials == 0:
        return result, center_x, center_y, sums, specials
    return pairs_again(
        is_ratio, x, y, leaving_x, leaving_y, evicts, count, xs, x_first, ys, y_first,
        scratch, scratch_first, center_x, center_y, sums, specials,
    )  # fmt: skip


@noinline
def pairs_again(
    is_ratio, x, y, leaving_x, leaving_y, evicts, count, xs, x_first, ys, y_first,
    scratch, scratch_first, center_x, center_y, sums, specials,
):  # fmt: skip
    """The result from exact sums, or else from the window; as `moving_pairs`."""
    specials += special_code(x) + special_code(y)
    if evicts:
        specials -= special_code(leaving_x) + special_code(leaving_y)
    if specials != 0 or count < 2:
        result = math.nan if specials != 0 or is_ratio else 0.0
        return result, 0.0, 0.0, no_sums(math.inf), specials
    if has_dropped_nothing(is_ratio, sums):
        result = pairs_of_sums(count, is_ratio, scratch, scratch_first, sums)
        if abs(result) > 0.0:
            return result, center_x, center_y, sums, specials
    center_x = choose_center(x, count, xs, x_first)
    center_y = choose_center(y, count, ys, y_first)
    sums = no_sums(0.0)
    for index in range(count):
        sums = shift_numbers(
            xs[x_first + index], ys[y_first + index], 0.0, 0.0, False, center_x, center_y, sums
        )
    settled, result = settle_pairs(count, is_ratio, sums)
    if not settled:
        result = pairs_of_window(
            count, is_ratio, xs, x_first, ys, y_first, scratch, scratch_first
        )  # fmt: skip
    return result, center_x, center_y, sums, specials


@step
def leave_numbers(leaving_x, leaving_y, center_x, center_y, sums, specials):
    """(sums, specials) without a pair of the window."""
    sums = shift_pairs(0.0, 0.0, leaving_x - center_x, leaving_y - center_y, sums)
    return sums, specials - special_code(leaving_x) - special_code(leaving_y)


# ---- integers: the centers are values of the window


@step
def shift_integers(x, y, leaving_x, leaving_y, evicts, center_x, center_y, sums):
    """As `shift_numbers`, of int64."""
    x_near, enter_x = distance_from(x, center_x)
    y_near, enter_y = distance_from(y, center_y)
    depart_x, depart_y = 0.0, 0.0
    if evicts:
        _, depart_x = distance_from(leaving_x, center_x)
        _, depart_y = distance_from(leaving_y, center_y)
    sums = shift_pairs(enter_x, enter_y, depart_x, depart_y, sums)
    return sums if x_near and y_near else no_sums(math.inf)


@step
def moving_integer_pairs(
    is_ratio, x, y, leaving_x, leaving_y, evicts, count, xs, x_first, ys, y_first,
    scratch, scratch_first, center_x, center_y, sums,
):  # fmt: skip
    """As `moving_pairs`, of int64: (it, center_x, center_y, sums)."""
    sums = shift_integers(x, y, leaving_x, leaving_y, evicts, center_x, center_y, sums)
    settled, result = settle_pairs(count, is_ratio, sums)
    if settled:
        return result, center_x, center_y, sums
    return integer_pairs_again(
        is_ratio, x, y, count, xs, x_first, ys, y_first, scratch, scratch_first,
        center_x, center_y, sums,
    )  # fmt: skip


@noinline
def integer_pairs_again(
    is_ratio, x, y, count, xs, x_first, ys, y_first, scratch, scratch_first,
    center_x, center_y, sums,
):  # fmt: skip
    """As `pairs_again`, of int64."""
    if has_dropped_nothing(is_ratio, sums):
        result = pairs_of_sums(count, is_ratio, scratch, scratch_first, sums)
        if abs(result) > 0.0:
            return result, center_x, center_y, sums
    sums = no_sums(0.0)
    for index in range(count):
        sums = shift_integers(xs[x_first + index], ys[y_first + index], 0, 0, False, x, y, sums)
    settled, result = settle_pairs(count, is_ratio, sums)
    if not settled:
        result = pairs_of_integers(
            count, is_ratio, xs, x_first, ys, y_first, scratch, scratch_first
        )  # fmt: skip
    return result, x, y, sums


@step
def leave_integers(leaving_x, leaving_y, center_x, center_y, sums):
    """The sums without a pair of the window."""
    _, depart_x = distance_from(leaving_x, center_x)
    _, depart_y = distance_from(leaving_y, center_y)
    return shift_pairs(0.0, 0.0, depart_x, depart_y, sums)
