"""Wide digits of sums of products: count * sum(x * y) - sum(x) * sum(y) of pairs, exactly.

It stands alone because, unlike a deviation, a covariance has a sign and two sums. Scratch has
the digits of both sums, some below those of the products, and those of the products: see `digits`.
"""

import math

from rtbot.numeric.exact.digits import (
    DIGIT_BITS,
    QUOTIENT_DIGITS,
    SQUARE_BASE,
    SQUARE_DIGITS,
    SQUARE_SPLIT,
    SUM_DIGITS,
    add_integer,
    add_to_squares,
    add_value,
    carry_digits,
    clear_digits,
    divide_digits,
    float_parts,
    round_digits,
    top_digit,
)
from rtbot.operator import noinline

BELOW_DIGITS = 4  # so that the 53 bits of the smallest product are above the lowest digit
PRODUCTS = 2 * SUM_DIGITS + BELOW_DIGITS
PAIR_DIGITS = PRODUCTS + SQUARE_DIGITS
LOW_HALF = 2**32


@noinline
def add_product(x, y, digits, first):
    """Add the product of two finite floats to a sum of products."""
    x_magnitude, x_exponent = float_parts(x)
    y_magnitude, y_exponent = float_parts(y)
    sign = -1 if (x < 0.0) != (y < 0.0) else 1
    position = x_exponent + y_exponent - SQUARE_BASE
    x_upper, x_lower = x_magnitude // SQUARE_SPLIT, x_magnitude % SQUARE_SPLIT
    y_upper, y_lower = y_magnitude // SQUARE_SPLIT, y_magnitude % SQUARE_SPLIT
    add_integer(x_upper * y_upper, sign, position + 54, digits, first)
    add_integer(x_upper * y_lower + x_lower * y_upper, sign, position + 27, digits, first)
    add_integer(x_lower * y_lower, sign, position, digits, first)


@noinline
def add_pair(x, y, scratch, first):
    """Add a pair of finite floats to all three sums."""
    add_value(x, scratch, first)
    add_value(y, scratch, first + SUM_DIGITS)
    add_product(x, y, scratch, first + PRODUCTS)


@noinline
def add_integer_pair(x, y, scratch, first):
    """Add a pair of int64 to all three sums; each half of one is a float."""
    x_upper, x_lower = float(x // LOW_HALF) * LOW_HALF, float(x % LOW_HALF)
    y_upper, y_lower = float(y // LOW_HALF) * LOW_HALF, float(y % LOW_HALF)
    add_pair(x_upper, y_upper, scratch, first)
    add_pair(x_lower, y_lower, scratch, first)
    add_product(x_upper, y_lower, scratch, first + PRODUCTS)
    add_product(x_lower, y_upper, scratch, first + PRODUCTS)


@noinline
def excess_of_window(count, xs, x_first, ys, y_first, scratch, first):
    """Leave the digits of the excess of a window of finite floats; True if it is negative."""
    clear_digits(scratch, first, PAIR_DIGITS)
    for index in range(count):
        add_pair(xs[x_first + index], ys[y_first + index], scratch, first)
    return subtract_sums(count, scratch, first)


@noinline
def excess_of_integers(count, xs, x_first, ys, y_first, scratch, first):
    """As `excess_of_window`, of int64."""
    clear_digits(scratch, first, PAIR_DIGITS)
    for index in range(count):
        add_integer_pair(xs[x_first + index], ys[y_first + index], scratch, first)
    return subtract_sums(count, scratch, first)


@noinline
def excess_of_sums(count, x_high, x_low, y_high, y_low, high, low, scratch, first):
    """As `excess_of_window`, from sums that have dropped nothing."""
    clear_digits(scratch, first, PAIR_DIGITS)
    add_value(x_high, scratch, first)
    add_value(x_low, scratch, first)
    add_value(y_high, scratch, first + SUM_DIGITS)
    add_value(y_low, scratch, first + SUM_DIGITS)
    add_to_squares(high, scratch, first + PRODUCTS)
    add_to_squares(low, scratch, first + PRODUCTS)
    return subtract_sums(count, scratch, first)


@noinline
def subtract_sums(count, scratch, first):
    """Replace the products by abs(count * products - x * y); True if that was negative."""
    products = first + PRODUCTS
    sign = -1 if carry_digits(scratch, first, SUM_DIGITS) else 1
    if carry_digits(scratch, first + SUM_DIGITS, SUM_DIGITS):
        sign = -sign
    negative = carry_digits(scratch, products, SQUARE_DIGITS)
    if negative:
        sign = -sign
    for index in range(products, products + SQUARE_DIGITS):
        scratch[index] *= count
    x_top = top_digit(scratch, first, SUM_DIGITS)
    y_top = top_digit(scratch, first + SUM_DIGITS, SUM_DIGITS)
    for left in range(x_top + 1):
        factor = sign * scratch[first + left]
        if factor != 0:
            for right in range(y_top + 1):
                scratch[products + left + right] -= factor * scratch[first + SUM_DIGITS + right]
    return carry_digits(scratch, products, SQUARE_DIGITS) != negative


@noinline
def digits_to_covariance(count, negative, scratch, first):
    """The excess divided by count * (count - 1), rounded once."""
    products = first + PRODUCTS
    cut = max(0, top_digit(scratch, products, SQUARE_DIGITS) - QUOTIENT_DIGITS)
    more = divide_digits(count, cut, scratch, products, SQUARE_DIGITS)
    more = divide_digits(count - 1, cut, scratch, products, SQUARE_DIGITS) or more
    size = round_digits(scratch, products, SQUARE_DIGITS, SQUARE_BASE, more)
    return (-size if negative else size) + 0.0


@noinline
def digits_to_parts(negative, scratch, first):
    """(m, e): the excess is m * 2**e rounded once; e is a multiple of 24, 1 <= abs(m) <= 2**24.

    Both are 0 if the excess is.
    """
    bottom = first + 2 * SUM_DIGITS
    top = top_digit(scratch, bottom, BELOW_DIGITS + SQUARE_DIGITS)
    if top < 0:
        return 0.0, 0
    base = -DIGIT_BITS * top
    size = round_digits(scratch, bottom, BELOW_DIGITS + SQUARE_DIGITS, base, False)
    exponent = SQUARE_BASE + DIGIT_BITS * (top - BELOW_DIGITS)
    return -size if negative else size, exponent


@noinline
def scale_ratio(ratio, exponent):
    """ratio * 2**exponent, between -1 and 1."""
    return min(1.0, max(-1.0, math.ldexp(ratio, exponent)))
