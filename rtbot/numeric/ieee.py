"""Total arithmetic: functions that never raise and give the same bits interpreted and compiled.

Floats follow IEEE 754 and C99 annex F (x/0 is infinite, 0/0 is NaN, log(0) is -inf); every NaN
returned is the canonical `math.nan`. Integers are int64 and never wrap: a `*_checked` function
returns (fits, result), with result 0 where it does not fit. The error-free transformations are
Knuth's TwoSum (The art of computer programming 2, 4.2.2) and Dekker's product (A floating-point
technique for extending the available precision, 1971).
"""

import math

from rtbot.operator import step

INTEGER_MAX = 9223372036854775807
INTEGER_MIN = -9223372036854775808
SPLITTER = 134217729.0  # 2**27 + 1 cuts 53 bits into 26 and 26
PRODUCT_HIGHEST = 2.0**990
PRODUCT_LOWEST = 2.0**-900
SCALE_DOWN = 2.0**-64
SCALE_UP = 2.0**64
WHOLE_FROM = 2.0**52  # every float from here on is a whole number
EXPONENTIAL_HIGHEST = 709.782712893384
POWER_DOUBTFUL = 1e-9


@step
def two_sum(a, b):
    """s + e == a + b exactly, s being the rounded sum (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@step
def split(a):
    """a == upper + lower, each of at most 26 bits (Dekker); abs(a) < 2**996."""
    scaled = SPLITTER * a
    upper = scaled - (scaled - a)
    return upper, a - upper


@step
def plain_product(a, b):
    """p + e == a * b exactly (Dekker) where nothing overflows and abs(p) > 2**-900."""
    product = a * b
    a_upper, a_lower = split(a)
    b_upper, b_lower = split(b)
    error = ((a_upper * b_upper - product) + a_upper * b_lower) + a_lower * b_upper
    return product, error + a_lower * b_lower


@step
def two_product(a, b):
    """p + e == a * b exactly, for a finite product of at least 2**-900 in size (or zero).

    Large factors are scaled by powers of two; a smaller product has a rounded e, and a product
    beyond range has e == 0.
    """
    product = a * b
    if not abs(product) < math.inf:
        return product, 0.0
    if abs(a) > PRODUCT_HIGHEST:
        if abs(b) < 1.0 / PRODUCT_HIGHEST:
            _, error = plain_product(a * SCALE_DOWN, b * SCALE_UP)
            return product, error
        _, error = plain_product(a * SCALE_DOWN, b)
        return product, error * SCALE_UP
    if abs(b) > PRODUCT_HIGHEST:
        if abs(a) < 1.0 / PRODUCT_HIGHEST:
            _, error = plain_product(a * SCALE_UP, b * SCALE_DOWN)
            return product, error
        _, error = plain_product(a, b * SCALE_DOWN)
        return product, error * SCALE_UP
    return plain_product(a, b)


@step
def canonical(x):
    """x, with any NaN replaced by the canonical one."""
    return x if x == x else math.nan


@step
def add_checked(a, b):
    """a + b in int64."""
    fits = a <= INTEGER_MAX - b if b >= 0 else a >= INTEGER_MIN - b
    return fits, a + b if fits else 0


@step
def subtract_checked(a, b):
    """a - b in int64."""
    fits = a >= INTEGER_MIN + b if b >= 0 else a <= INTEGER_MAX + b
    return fits, a - b if fits else 0


@step
def is_older(time, now, span):
    """time <= now - span in exact arithmetic, for time <= now and a span above 0."""
    return time + span <= now if time < 0 else time <= now - span


@step
def subtract_to_number(a, b):
    """The difference of two integers as a number, rounded once, also where it is beyond int64.

    There its lowest bit is far below the last one of a float, and only says that more follows.
    """
    fits, difference = subtract_checked(a, b)
    if fits:
        return float(difference)
    odd = (a & 1) - (b & 1)
    half = (a >> 1) - (b >> 1) + (odd >> 1)
    return 2.0 * float(half | (odd & 1))


@step
def multiply_checked(a, b):
    """a * b in int64."""
    if a == 0 or b == 0:
        return True, 0
    if a > 0 and b > 0:
        fits = a <= INTEGER_MAX // b
    elif a > 0:
        fits = b >= (INTEGER_MIN + (a - 1)) // a
    elif b > 0:
        fits = a >= (INTEGER_MIN + (b - 1)) // b
    else:
        fits = a > INTEGER_MIN and b > INTEGER_MIN and -a <= INTEGER_MAX // -b
    return fits, a * b if fits else 0


@step
def floor_divide_checked(a, b):
    """Python's a // b in int64; does not fit for b == 0 and for -2**63 // -1."""
    fits = b != 0 and not (b == -1 and a == INTEGER_MIN)
    return fits, a // b if fits else 0


@step
def modulo_checked(a, b):
    """Python's a % b in int64 (sign of b); does not fit for b == 0."""
    if b == 0:
        return False, 0
    if b == -1:
        return True, 0
    return True, a % b


@step
def divide(a, b):
    """IEEE a / b."""
    if b == 0.0:
        if a == 0.0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return canonical(a / b)


@step
def square_root(x):
    """NaN below zero; -0.0 stays -0.0."""
    if x >= 0.0:
        return math.sqrt(x)
    return math.nan


@step
def exponential(x):
    """e**x; beyond the range infinite."""
    if x > EXPONENTIAL_HIGHEST:
        return math.inf
    return canonical(math.exp(x))


@step
def logarithm(x):
    """Natural logarithm; -inf at zero, NaN below."""
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


@step
def logarithm10(x):
    """Logarithm to base 10; -inf at zero, NaN below."""
    if x > 0.0:
        return math.log10(x)
    return -math.inf if x == 0.0 else math.nan


@step
def is_odd(y):
    """Whether this finite float is an odd whole number."""
    return abs(y) % 2.0 == 1.0


@step
def power_of_positive(x, y):
    """x**y for 0 < x < inf and finite y, as the C library computes it, without OverflowError.

    Within 1e-9 of the end of the range, where only the library itself knows whether it overflows,
    the answer is the square of x**(y / 2). Adding zeros keeps compilers from replacing pow of a
    constant base or exponent by exp2, sqrt or a product, which have other bits.
    """
    x, y = x + 0.0 * (y - 1.0), y + 0.0 * (x - 1.0)
    doublings = y * (math.log(x) * 1.4426950408889634)
    if doublings > 1024.0 + POWER_DOUBTFUL:
        return math.inf
    if doublings > 1024.0 - POWER_DOUBTFUL:
        half = math.pow(x, y * 0.5)
        return half * half
    return math.pow(x, y)


@step
def power(x, y):
    """C99 pow."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return math.nan
    if y == 1.0:
        return x
    if x == 0.0 or abs(x) == math.inf or abs(y) == math.inf:
        return power_at_limits(x, y)
    if x > 0.0:
        return power_of_positive(x, y)
    if abs(y) % 1.0 != 0.0:
        return math.nan
    size = power_of_positive(-x, y)
    return -size if is_odd(y) else size


@step
def power_at_limits(x, y):
    """pow where x is zero or infinite or y is infinite; y is not zero, neither is NaN."""
    if abs(y) == math.inf:
        if abs(x) == 1.0:
            return 1.0
        return math.inf if (abs(x) > 1.0) == (y > 0.0) else 0.0
    size = math.inf if (x == 0.0) == (y < 0.0) else 0.0
    return math.copysign(size, x) if is_odd(y) else size


@step
def modulo(x, y):
    """Python's x % y: the sign of y; NaN for y == 0 or infinite x."""
    if x != x or y != y or y == 0.0 or abs(x) == math.inf:
        return math.nan
    remainder = math.copysign(abs(x) % abs(y), x)
    if remainder == 0.0:
        return math.copysign(0.0, y)
    if (y < 0.0) != (remainder < 0.0):
        remainder += y
    return remainder


@step
def truncate(x):
    """Towards zero, as a float; -0.0, NaN and infinities as they are."""
    if abs(x) < WHOLE_FROM:
        return math.copysign(float(int(x)), x)
    return canonical(x)


@step
def floor_(x):
    """The greatest whole number at or below x, as a float."""
    whole = truncate(x)
    return whole - 1.0 if whole > x else whole


@step
def ceil_(x):
    """The least whole number at or above x, as a float."""
    whole = truncate(x)
    return whole + 1.0 if whole < x else whole


@step
def round_half_away(x):
    """To the nearest whole number, halves away from zero (C's round)."""
    if not abs(x) < WHOLE_FROM:
        return canonical(x)
    whole = float(int(abs(x)))
    if abs(x) - whole >= 0.5:
        whole += 1.0
    return math.copysign(whole, x)


@step
def sign(x):
    """-1.0, 0.0 or 1.0; 0.0 for both zeros, NaN for NaN."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return 0.0 if x == 0.0 else math.nan


@step
def sine(x):
    """NaN for infinities."""
    return math.sin(x) if abs(x) < math.inf else math.nan


@step
def cosine(x):
    """NaN for infinities."""
    return math.cos(x) if abs(x) < math.inf else math.nan


@step
def tangent(x):
    """NaN for infinities."""
    return math.tan(x) if abs(x) < math.inf else math.nan
