"""What expressions over rows have beyond `ieee`: SQL's order of numbers, quotients, casts.

In that order NaN is equal to itself and greater than every other number.
"""

import math

from rtbot.numeric.ieee import INTEGER_MIN, WHOLE_FROM, truncate
from rtbot.operator import step

INTEGERS_END = 2.0**63


@step
def is_same_number(a, b):
    """Whether two numbers are equal, NaN to itself."""
    return a == b or (a != a and b != b)


@step
def is_before_number(a, b):
    """Whether one number is less than another; NaN is the greatest."""
    return a < b or (b != b and a == a)


@step
def is_not_after_number(a, b):
    """Whether one number is at most another; NaN is the greatest."""
    return a <= b or b != b


@step
def quotient_checked(a, b):
    """(whether a // b is there, a // b cut towards zero); not for b == 0 and -2**63 // -1."""
    if b == 0 or (b == -1 and a == INTEGER_MIN):
        return False, 0
    whole = a // b
    if whole < 0 and whole * b != a:
        whole += 1
    return True, whole


@step
def remainder_checked(a, b):
    """(whether a % b is there, a % b with the sign of a); not for b == 0."""
    if b == 0:
        return False, 0
    if b == -1:
        return True, 0
    rest = a % b
    if rest != 0 and (a < 0) != (b < 0):
        rest -= b
    return True, rest


@step
def remainder_number(x, y):
    """C's fmod: the sign of x; NaN for y == 0 or infinite x."""
    if x != x or y != y or y == 0.0 or abs(x) == math.inf:
        return math.nan
    return math.copysign(abs(x) % abs(y), x)


@step
def round_half_even(x):
    """To the nearest whole number as a float, halves to the even one."""
    if not abs(x) < WHOLE_FROM:
        return x
    whole = truncate(x)
    apart = abs(x - whole)
    if apart > 0.5 or (apart == 0.5 and abs(whole) % 2.0 == 1.0):
        whole += math.copysign(1.0, x)
    return whole


@step
def to_integer_checked(x):
    """(whether a number is an integer of 64 bits once it is rounded, that integer)."""
    whole = round_half_even(x)
    if not -INTEGERS_END <= whole < INTEGERS_END:
        return False, 0
    return True, int(whole)


@step
def clean_number(x):
    """The number as rows hold it: one zero, one NaN."""
    return x + 0.0 if x == x else math.nan
