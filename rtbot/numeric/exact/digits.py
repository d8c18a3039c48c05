"""Wide fixed-point accumulators: the slow but always exact way to sums, means and deviations.

Meaning: a number is a row of int64 digits of 24 bits, digit i weighing 2**(base + 24 * i), wide
enough for every finite float64 (sums) or every product of two (squares), after Kulisch's long
accumulator (Kulisch and Miranker, The arithmetic of the digital computer, 1986). Between
additions a digit may hold any int64, so adding touches at most four of them; `carry_digits`
brings them back into [0, 2**24). No intermediate leaves int64, for windows below 2**31 values.
"""

import math

from rtbot.operator import noinline

DIGIT_BITS = 24
DIGIT = 2**24
SUM_BASE = -1080
SUM_DIGITS = 94
SQUARE_BASE = -2160
SQUARE_DIGITS = 184
SCRATCH_DIGITS = SUM_DIGITS + SQUARE_DIGITS
FRACTION_BITS = 53
FRACTION_SCALE = 2.0**53
LOWEST_EXPONENT = -1074
HIGHEST_EXPONENT = 971
QUOTIENT_DIGITS = 12  # 288 bits, of which two divisions take 62 and a square of a midpoint 108
SQUARE_SPLIT = 2**27
ROOT_SHIFT = 600


@noinline
def clear_digits(digits, first, length):
    """Set a number to zero."""
    for index in range(first, first + length):
        digits[index] = 0


@noinline
def float_parts(x):
    """abs(x) == magnitude * 2**exponent exactly, with exponent >= -1074; x is finite."""
    fraction, binary_exponent = math.frexp(abs(x))
    magnitude = int(fraction * FRACTION_SCALE)
    exponent = int(binary_exponent) - FRACTION_BITS
    if exponent < LOWEST_EXPONENT:
        magnitude >>= LOWEST_EXPONENT - exponent
        exponent = LOWEST_EXPONENT
    return magnitude, exponent


@noinline
def add_integer(magnitude, sign, position, digits, first):
    """Add sign * magnitude * 2**position units; 0 <= magnitude < 2**62, sign is 1 or -1."""
    index = first + position // DIGIT_BITS
    room = DIGIT_BITS - position % DIGIT_BITS
    digits[index] += sign * ((magnitude % (1 << room)) << (DIGIT_BITS - room))
    rest = magnitude >> room
    while rest > 0:
        index += 1
        digits[index] += sign * (rest % DIGIT)
        rest >>= DIGIT_BITS


@noinline
def add_value(x, digits, first):
    """Add a finite float to a sum."""
    magnitude, exponent = float_parts(x)
    sign = -1 if x < 0.0 else 1
    add_integer(magnitude, sign, exponent - SUM_BASE, digits, first)


@noinline
def add_square(magnitude, exponent, sign, digits, first):
    """Add sign * (magnitude * 2**exponent)**2 to a sum of squares; magnitude < 2**54."""
    upper = magnitude // SQUARE_SPLIT
    lower = magnitude % SQUARE_SPLIT
    position = 2 * exponent - SQUARE_BASE
    add_integer(upper * upper, sign, position + 54, digits, first)
    add_integer(2 * upper * lower, sign, position + 27, digits, first)
    add_integer(lower * lower, sign, position, digits, first)


@noinline
def add_to_squares(x, digits, first):
    """Add a finite float to a sum of squares."""
    magnitude, exponent = float_parts(x)
    add_integer(magnitude, -1 if x < 0.0 else 1, exponent - SQUARE_BASE, digits, first)


@noinline
def carry_digits(digits, first, length):
    """Bring the digits into [0, 2**24) and leave the absolute value; True if it was negative."""
    carry = 0
    for index in range(first, first + length):
        total = digits[index] + carry
        carry = total // DIGIT
        digits[index] = total - carry * DIGIT
    if carry >= 0:
        return False
    carry = 1
    for index in range(first, first + length):
        total = DIGIT - 1 - digits[index] + carry
        carry = total // DIGIT
        digits[index] = total - carry * DIGIT
    return True


@noinline
def sign_of_digits(digits, first, length):
    """-1, 0 or 1, without changing the digits."""
    carry = 0
    any_digit = False
    for index in range(first, first + length):
        total = digits[index] + carry
        carry = total // DIGIT
        if total != carry * DIGIT:
            any_digit = True
    if carry < 0:
        return -1
    return 1 if any_digit else 0


@noinline
def top_digit(digits, first, length):
    """Position of the highest digit that is not zero; -1 if there is none."""
    top = length - 1
    while top >= 0 and digits[first + top] == 0:
        top -= 1
    return top


@noinline
def divide_digits(divisor, cut, digits, first, length):
    """Divide carried digits in place, rounding down; True if something remains.

    Digits below `cut` are not divided: that they are not all zero counts as a remainder.
    """
    remainder = 0
    for back in range(1, length - cut + 1):
        index = first + length - back
        total = remainder * DIGIT + digits[index]
        if total > 0:
            quotient = total // divisor
            digits[index] = quotient
            remainder = total - quotient * divisor
    return remainder != 0 or top_digit(digits, first, cut) >= 0


@noinline
def any_below(position, digits, first):
    """Whether any bit below `position` is set."""
    index = position // DIGIT_BITS
    if digits[first + index] % (1 << (position % DIGIT_BITS)) != 0:
        return True
    for lower in range(index):
        if digits[first + lower] != 0:
            return True
    return False


@noinline
def round_digits(digits, first, length, base, more):
    """The float nearest to carried digits, ties to even; `more`: a little lies below them."""
    top = top_digit(digits, first, length)
    if top < 0:
        return 0.0
    width = 0
    while digits[first + top] >> width > 0:
        width += 1
    exponent = max(base + DIGIT_BITS * top + width - FRACTION_BITS, LOWEST_EXPONENT)
    position = exponent - base
    bottom = position // DIGIT_BITS
    offset = position % DIGIT_BITS
    magnitude = digits[first + bottom] >> offset
    for index in range(bottom + 1, top + 1):
        magnitude += digits[first + index] << (DIGIT_BITS * (index - bottom) - offset)
    half = position - 1
    at_least_half = (digits[first + half // DIGIT_BITS] >> (half % DIGIT_BITS)) % 2 == 1
    if at_least_half and (magnitude % 2 == 1 or more or any_below(half, digits, first)):
        magnitude += 1
    if exponent > HIGHEST_EXPONENT:
        return math.inf
    if exponent == HIGHEST_EXPONENT and magnitude == 1 << FRACTION_BITS:
        return math.inf
    return math.ldexp(float(magnitude), exponent)


@noinline
def digits_to_sum(digits, first):
    """The exact sum rounded once."""
    negative = carry_digits(digits, first, SUM_DIGITS)
    size = round_digits(digits, first, SUM_DIGITS, SUM_BASE, False)
    return -size if negative else size


@noinline
def digits_to_mean(count, digits, first):
    """The exact sum divided by count, rounded once."""
    negative = carry_digits(digits, first, SUM_DIGITS)
    cut = max(0, top_digit(digits, first, SUM_DIGITS) - QUOTIENT_DIGITS)
    more = divide_digits(count, cut, digits, first, SUM_DIGITS)
    size = round_digits(digits, first, SUM_DIGITS, SUM_BASE, more)
    return -size if negative else size


@noinline
def digits_to_deviation(count, digits, first):
    """Square root of the variance (count * squares - sum**2) / (count * (count - 1)).

    The variance is exact and rounded once before the root, as math.sqrt(statistics.variance(...)).
    """
    squares = first + SUM_DIGITS
    carry_digits(digits, first, SUM_DIGITS)
    carry_digits(digits, squares, SQUARE_DIGITS)
    for index in range(squares, squares + SQUARE_DIGITS):
        digits[index] *= count
    top = top_digit(digits, first, SUM_DIGITS)
    for left in range(top + 1):
        factor = digits[first + left]
        if factor != 0:
            for right in range(top + 1):
                digits[squares + left + right] -= factor * digits[first + right]
    carry_digits(digits, squares, SQUARE_DIGITS)
    cut = max(0, top_digit(digits, squares, SQUARE_DIGITS) - QUOTIENT_DIGITS)
    more = divide_digits(count, cut, digits, squares, SQUARE_DIGITS)
    more = divide_digits(count - 1, cut, digits, squares, SQUARE_DIGITS) or more
    variance = round_digits(digits, squares, SQUARE_DIGITS, SQUARE_BASE, more)
    if variance < math.inf:
        return math.sqrt(variance)
    return digits_to_root(more, digits, squares)


@noinline
def digits_to_root(more, digits, squares):
    """The exact root, rounded once, of a variance that is itself beyond the floats.

    The root of the rounded, scaled variance is at most one step off; the exact variance is then
    compared with the squares of the two midpoints around it.
    """
    scaled = round_digits(digits, squares, SQUARE_DIGITS, SQUARE_BASE - 2 * ROOT_SHIFT, more)
    magnitude, exponent = float_parts(math.sqrt(scaled))
    exponent += ROOT_SHIFT
    odd = magnitude % 2 == 1
    above = compare_square(2 * magnitude + 1, exponent - 1, digits, squares)
    below = compare_square(2 * magnitude - 1, exponent - 1, digits, squares)
    if above > 0 or (above == 0 and (more or odd)):
        magnitude += 1
    elif below < 0 or (below == 0 and odd and not more):
        magnitude -= 1
    if exponent > HIGHEST_EXPONENT:
        return math.inf
    if exponent == HIGHEST_EXPONENT and magnitude == 1 << FRACTION_BITS:
        return math.inf
    return math.ldexp(float(magnitude), exponent)


@noinline
def compare_square(magnitude, exponent, digits, squares):
    """Sign of (number in digits) - (magnitude * 2**exponent)**2; the number is kept."""
    add_square(magnitude, exponent, -1, digits, squares)
    sign = sign_of_digits(digits, squares, SQUARE_DIGITS)
    add_square(magnitude, exponent, 1, digits, squares)
    return sign


@noinline
def exact_sum(count, values, first, scratch, scratch_first):
    """Correctly rounded sum of finite values."""
    clear_digits(scratch, scratch_first, SUM_DIGITS)
    for index in range(first, first + count):
        add_value(values[index], scratch, scratch_first)
    return digits_to_sum(scratch, scratch_first)


@noinline
def exact_mean(count, values, first, scratch, scratch_first):
    """Correctly rounded mean of finite values."""
    clear_digits(scratch, scratch_first, SUM_DIGITS)
    for index in range(first, first + count):
        add_value(values[index], scratch, scratch_first)
    return digits_to_mean(count, scratch, scratch_first)


@noinline
def exact_deviation(count, values, first, scratch, scratch_first):
    """Sample deviation of at least two finite values, from the exact variance."""
    clear_digits(scratch, scratch_first, SCRATCH_DIGITS)
    squares = scratch_first + SUM_DIGITS
    for index in range(first, first + count):
        add_value(values[index], scratch, scratch_first)
        magnitude, exponent = float_parts(values[index])
        add_square(magnitude, exponent, 1, scratch, squares)
    return digits_to_deviation(count, scratch, scratch_first)
