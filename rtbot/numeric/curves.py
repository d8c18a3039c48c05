"""Curves through points: which piece a place is in, and straight and cubic pieces.

Averages that fade, operators that look a value up in a list of points and those that resample share
them. Points are flat in an array from `first` on: x, y, x, y, ...
"""

from __future__ import annotations

from rtbot.operator import step


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


@step
def straight(x, left, left_value, right, right_value):
    """The line through two points at x, exactly their values at both."""
    if left_value == right_value and x == x:
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
