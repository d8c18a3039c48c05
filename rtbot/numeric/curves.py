"""Curves through points: which piece a place is in, and straight and cubic pieces.

Averages that fade, operators that look a value up in a list of points and those that resample share
them. Points are flat in an array from `first` on: x, y, x, y, ...
"""

from __future__ import annotations

import math

from rtbot.numeric.ieee import plain_product, two_sum
from rtbot.operator import noinline, step

LARGE, SMALL, FAR = 2.0**800, 2.0**-500, 2.0**-300
DOWN, UP = 2.0**-128, 2.0**600
NORMAL = 2.0**-1022 * UP
"""The least number with all its bits, scaled up: beside it sums have the bits of results."""


@step
def find_piece(x, points, first, count):
    """The place of the last point at or before x that has one behind it; 0 for what is before."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if points[first + 2 * middle] <= x:
            low = middle
        else:
            high = middle
    return low


@step
def blend(left, right, share):
    """What is between two values: the left one at 0, the right one at 1.

    Where their difference is no float, the two are weighted apart.
    """
    if share == 1.0:
        return right
    change = right - left
    if change - change == 0.0:
        return left + share * change
    return share * right + (1.0 - share) * left


@noinline
def point_between(left, right, part, whole):
    """left + (right - left) * part / whole, rounded once, for 0 <= part <= whole.

    Three floats carry what is exact. What is infinite or NaN is blended.
    """
    if left == right:
        return left
    if left - left != 0.0 or right - right != 0.0:
        return blend(left, right, part / whole)
    if part > whole - part:
        left, right, part = right, left, whole - part
    if part == 0.0:
        return left
    scale = 1.0
    if abs(left) > LARGE or abs(right) > LARGE:
        scale = DOWN
    elif abs(left) < SMALL and abs(right) < SMALL:
        scale = UP
    far = max(abs(left), abs(right)) * FAR
    left, right = keep_sign(left, far) * scale, keep_sign(right, far) * scale
    change, change_rest = two_sum(right, -left)
    product, rest = plain_product(change, part)
    more, last = plain_product(change_rest, part)
    rest, more = two_sum(rest, more)
    quotient = product / whole
    back, back_rest = plain_product(quotient, whole)
    rest, also = two_sum((product - back) - back_rest, rest)
    second = rest / whole
    back, back_rest = plain_product(second, whole)
    third = (((rest - back) - back_rest) + (also + more + last)) / whole
    total, error = two_sum(left, quotient)
    error, least = two_sum(error, second)
    total, error = two_sum(total, error)
    error, least = two_sum(error, least + third)
    if scale == UP and abs(total) < NORMAL:
        base = math.copysign(NORMAL, total)
        coarse, rest = two_sum(base, total)
        error, more = two_sum(rest, error)
        return math.copysign(round_triple(coarse, error, more + least) - base, total) / scale
    return round_triple(total, error, least) / scale


@step
def keep_sign(x, least):
    """x, or what has its sign, where only that matters beside a number that is far greater."""
    return math.copysign(least, x) if 0.0 < abs(x) < least else x


@step
def round_triple(total, error, least):
    """The sum of three floats, each far below the one before, rounded once.

    Where the second is half of the last bit of the first, the sign of the third decides (as
    in `math.fsum`).
    """
    result, error = two_sum(total, error)
    if (error > 0.0 and least > 0.0) or (error < 0.0 and least < 0.0):
        twice = 2.0 * error
        other = result + twice
        if other - result == twice:
            return other
    return result


@step
def straight(x, left, left_value, right, right_value):
    """The line through two points at x, exactly their values at both."""
    if x == left or (left_value == right_value and x == x):
        return left_value
    return blend(left_value, right_value, (x - left) / (right - left))


@step
def slope_at(points, first, count, place):
    """The slope of the line through the neighbours of a point; at an end, through itself."""
    before = first + 2 * max(place - 1, 0)
    after = first + 2 * min(place + 1, count - 1)
    return (points[after + 1] - points[before + 1]) / (points[after] - points[before])


@step
def cubic(share, left, right, left_rise, right_rise):
    """The cubic with these values at 0 and 1, and these slopes there (Hermite's form)."""
    rest = 1.0 - share
    return (
        left * ((1.0 + 2.0 * share) * rest * rest)
        + right * ((1.0 + 2.0 * rest) * share * share)
        + left_rise * (share * rest * rest)
        - right_rise * (rest * share * share)
    )
