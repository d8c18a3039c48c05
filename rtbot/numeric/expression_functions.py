"""Functions of expressions beyond `ieee`: extremes, and integers that never wrap."""

import math

from rtbot.numeric.ieee import INTEGER_MIN, multiply_checked, subtract_checked
from rtbot.operator import step

INTEGER_RANGE = 2.0**63
HALF = 2**32


@step
def minimum(a, b):
    """The lesser; NaN if either is, and -0.0 before 0.0."""
    if a != a or b != b:
        return math.nan
    if a == b:
        return a if math.copysign(1.0, a) < 0.0 else b
    return a if a < b else b


@step
def maximum(a, b):
    """The greater; NaN if either is, and 0.0 before -0.0."""
    if a != a or b != b:
        return math.nan
    if a == b:
        return b if math.copysign(1.0, a) < 0.0 else a
    return a if a > b else b


@step
def minimum_integer(a, b):
    """The lesser of two integers."""
    return a if a < b else b


@step
def maximum_integer(a, b):
    """The greater of two integers."""
    return a if a > b else b


@step
def sign_integer(a):
    """-1, 0 or 1."""
    if a > 0:
        return 1
    return -1 if a < 0 else 0


@step
def negate_checked(a):
    """(whether -a fits into int64, -a)."""
    if a == INTEGER_MIN:
        return False, 0
    return True, -a


@step
def absolute_checked(a):
    """(whether abs(a) fits into int64, abs(a))."""
    if a == INTEGER_MIN:
        return False, 0
    return True, a if a >= 0 else -a


@step
def power_checked(a, b):
    """(whether a ** b is an integer that fits into int64, a ** b)."""
    if b < 0:
        return False, 0
    if a == 0 or a == 1:
        return True, a if b > 0 else 1
    if a == -1:
        return True, 1 if b % 2 == 0 else -1
    if b > 64:
        return False, 0
    result = 1
    for _ in range(b):
        fits, result = multiply_checked(result, a)
        if not fits:
            return False, 0
    return True, result


@step
def close_to(a, b, epsilon):
    """Whether two numbers are equal or less than epsilon apart."""
    return a == b or abs(a - b) < epsilon


@step
def far_from(a, b, epsilon):
    """Whether two numbers are at least epsilon apart; false if one is NaN."""
    return abs(a - b) >= epsilon


@step
def close_to_integer(a, b, epsilon):
    """`close_to` of integers, exact: their distance is never rounded."""
    fits, distance = subtract_checked(a, b)
    if not fits or distance == INTEGER_MIN:
        return abs(float(a) - float(b)) < epsilon
    distance = abs(distance)
    if epsilon >= INTEGER_RANGE:
        return True
    whole = int(epsilon)
    return distance == 0 or distance < whole or (distance == whole and float(whole) < epsilon)


@step
def far_from_integer(a, b, epsilon):
    """`far_from` of integers."""
    return not close_to_integer(a, b, epsilon)


@step
def within(a, b, distance):
    """Whether two numbers are at most so far apart; false if one is NaN."""
    return abs(a - b) <= distance


@step
def beyond(a, b, distance):
    """Whether two numbers are farther apart; false if one is NaN."""
    return abs(a - b) > distance


@step
def within_integer(a, b, distance):
    """`within` of integers, exact also where their distance is no int64."""
    upper = a if a > b else b
    lower = b if a > b else a
    fits, apart = subtract_checked(upper, lower)
    if fits:
        return at_most_mixed(apart, distance)
    apart = upper + INTEGER_MIN - lower
    return at_most_mixed(apart, distance - INTEGER_RANGE)


@step
def beyond_integer(a, b, distance):
    """`beyond` of integers."""
    return not within_integer(a, b, distance)


@step
def within_mixed(a, b, distance):
    """`within` of an integer and a number, exact where the number is an int64."""
    if not -INTEGER_RANGE <= b < INTEGER_RANGE:
        return abs((b - float(a // HALF) * HALF) - float(a % HALF)) <= distance
    if float(int(b)) == b:
        return within_integer(a, int(b), distance)
    return abs(float(a) - b) <= distance


@step
def beyond_mixed(a, b, distance):
    """`beyond` of an integer and a number; false if that is NaN."""
    return b == b and not within_mixed(a, b, distance)


@step
def less_mixed(a, b):
    """Whether an integer is less than a number, exact; false for NaN."""
    if not -INTEGER_RANGE <= b < INTEGER_RANGE:
        return b >= INTEGER_RANGE
    whole = int(b)
    return a < whole or (a == whole and float(whole) < b)


@step
def greater_mixed(a, b):
    """Whether an integer is greater than a number, exact; false for NaN."""
    if not -INTEGER_RANGE <= b < INTEGER_RANGE:
        return b < -INTEGER_RANGE
    whole = int(b)
    return a > whole or (a == whole and float(whole) > b)


@step
def equal_mixed(a, b):
    """Whether an integer equals a number, exact."""
    if not -INTEGER_RANGE <= b < INTEGER_RANGE:
        return False
    return a == int(b) and float(int(b)) == b


@step
def unequal_mixed(a, b):
    """Whether an integer differs from a number, exact; true for NaN."""
    return not equal_mixed(a, b)


@step
def at_most_mixed(a, b):
    """Whether an integer is at most a number, exact; false for NaN."""
    return less_mixed(a, b) or equal_mixed(a, b)


@step
def at_least_mixed(a, b):
    """Whether an integer is at least a number, exact; false for NaN."""
    return greater_mixed(a, b) or equal_mixed(a, b)
