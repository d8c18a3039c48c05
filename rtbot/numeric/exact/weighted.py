"""Exact sums and deviations of values that come and go with weights, and are not kept.

The state is in words of a record, as int64 (`records`) and, the same memory, as float64 (`floats`):

sum of integers   high, low             the sum is high * 2**62 + low
sum of numbers    high, low, block      the sum is high + low, or all of it is in the block
moments           2 + 4 floats, block   sums of x and of x * x, together with what is in the block

A block is taken when floats cannot hold a sum exactly, or a value is NaN or infinite. It has three
counts (NaN, inf, -inf), the digits of a sum and, for moments, those of a sum of squares. Entries
of a pool (blocks are one) are numbered from 1; `counters[pool:]` are the first entry of the free
chain, the highest entry ever used, and how many are left. Before a value is added, an entry must be
left. Results depend on the values present alone, never on their order or on values that have gone.

Limits: weights below 2**53 in size; for means and deviations fewer than 2**38 values.
"""

import math

from rtbot.numeric.exact.cumulative import DIGIT_LIMIT, INTEGER_LIMB
from rtbot.numeric.exact.digits import (
    DIGIT,
    DIGIT_BITS,
    QUOTIENT_DIGITS,
    SCRATCH_DIGITS,
    SQUARE_BASE,
    SQUARE_DIGITS,
    SQUARE_SPLIT,
    SUM_BASE,
    SUM_DIGITS,
    add_integer,
    add_to_squares,
    add_value,
    carry_digits,
    clear_digits,
    digits_to_mean,
    digits_to_root,
    divide_digits,
    float_parts,
    round_digits,
    top_digit,
)
from rtbot.numeric.exact.sums import SUM_LIMIT, settle_mean
from rtbot.numeric.ieee import plain_product, two_product, two_sum
from rtbot.operator import noinline, step

BLOCK_COUNTS = 3
BLOCK_SUM = BLOCK_COUNTS + SUM_DIGITS
BLOCK_MOMENTS = BLOCK_COUNTS + SCRATCH_DIGITS
HALF_LIMB = 2**31
LIMB_BITS = 62
FLOAT_WHOLE = 2**53
PRODUCT_LOWEST = 2.0**-900
MOMENT_HIGHEST = 2.0**380
MOMENT_LOWEST = 2.0**-380
MEAN_COUNT = 2**26


# ---- entries of pools


@step
def take_entry(pool, counters, entries, stride):
    """Take a free entry of a pool that has one left."""
    counters[pool + 2] -= 1
    entry = counters[pool]
    if entry > 0:
        counters[pool] = entries[entry * stride]
        return entry
    counters[pool + 1] += 1
    return counters[pool + 1]


@step
def free_entry(entry, pool, counters, entries, stride):
    """Give an entry back, all zero but for the chain."""
    for index in range(entry * stride + 1, entry * stride + stride):
        entries[index] = 0
    entries[entry * stride] = counters[pool]
    counters[pool] = entry
    counters[pool + 2] += 1


@noinline
def take_digits(pool, counters, blocks, stride):
    """Take a block of zeros."""
    block = take_entry(pool, counters, blocks, stride)
    blocks[block * stride] = 0
    return block


@noinline
def free_block(at, pool, records, counters, blocks, stride):
    """Give back the block of a sum that is over."""
    if records[at] != 0:
        free_entry(records[at], pool, counters, blocks, stride)
        records[at] = 0


# ---- integers


@step
def add_weighted_integer(x, weight, at, records):
    """Add weight * x to a sum of integers."""
    if weight == 1:
        high = records[at] + (x >> LIMB_BITS)
        low = records[at + 1] + (x & (INTEGER_LIMB - 1))
        if low >= INTEGER_LIMB:
            low -= INTEGER_LIMB
            high += 1
        records[at] = high
        records[at + 1] = low
    elif weight == -1:
        high = records[at] - (x >> LIMB_BITS)
        low = records[at + 1] - (x & (INTEGER_LIMB - 1))
        if low < 0:
            low += INTEGER_LIMB
            high -= 1
        records[at] = high
        records[at + 1] = low
    else:
        add_integer_product(x, weight, at, records)


@noinline
def add_integer_product(x, weight, at, records):
    """Add weight * x to a sum of integers, in halves of 31 bits."""
    x_low, x_high = x & (HALF_LIMB - 1), x >> 31
    w_low, w_high = weight & (HALF_LIMB - 1), weight >> 31
    first, second = w_low * x_high, w_high * x_low
    low = records[at + 1] + w_low * x_low
    high = records[at] + w_high * x_high + (first >> 31) + (second >> 31) + (low >> LIMB_BITS)
    low = (low & (INTEGER_LIMB - 1)) + (first & (HALF_LIMB - 1)) * HALF_LIMB
    high += low >> LIMB_BITS
    low = (low & (INTEGER_LIMB - 1)) + (second & (HALF_LIMB - 1)) * HALF_LIMB
    records[at] = high + (low >> LIMB_BITS)
    records[at + 1] = low & (INTEGER_LIMB - 1)


@step
def integer_sum_fits(at, records):
    """Whether a sum of integers is one of int64."""
    return -2 <= records[at] <= 1


@step
def total_integers(at, records):
    """The sum of integers, which fits."""
    return records[at] * INTEGER_LIMB + records[at + 1]


@step
def mean_integers(count, at, records, scratch):
    """The mean of integers, rounded once."""
    if integer_sum_fits(at, records) and count <= FLOAT_WHOLE:
        total = records[at] * INTEGER_LIMB + records[at + 1]
        if -FLOAT_WHOLE <= total <= FLOAT_WHOLE:
            return float(total) / float(count) + 0.0
    return wide_integer_mean(count, at, records, scratch)


@noinline
def wide_integer_mean(count, at, records, scratch):
    """As `mean_integers`, in digits."""
    clear_digits(scratch, 0, SUM_DIGITS)
    high = records[at]
    add_integer(abs(high), -1 if high < 0 else 1, LIMB_BITS - SUM_BASE, scratch, 0)
    add_integer(records[at + 1], 1, -SUM_BASE, scratch, 0)
    return digits_to_mean(count, scratch, 0)


# ---- numbers


@step
def add_to_pair(x, high, low):
    """(high, low, what is lost) of a sum of two floats with x added."""
    total, error = two_sum(high, x)
    rest, lost = two_sum(low, error)
    return total, rest, lost


@step
def add_weighted_number(x, weight, at, pool, records, floats, counters, blocks, stride):
    """Add weight * x to a sum of numbers."""
    if weight == 1 or weight == -1:
        high, low, lost = add_to_pair(x * weight, floats[at], floats[at + 1])
        kept = lost == 0.0 and abs(high) < SUM_LIMIT
    else:
        product, error = two_product(x, float(weight))
        high, low, lost = add_to_pair(product, floats[at], floats[at + 1])
        high, low, again = add_to_pair(error, high, low)
        kept = lost == 0.0 and again == 0.0 and abs(high) < SUM_LIMIT
        kept = kept and (x == 0.0 or abs(product) > PRODUCT_LOWEST)
    if kept and records[at + 2] == 0:
        floats[at] = high
        floats[at + 1] = low
    else:
        add_number_digits(x, weight, at, pool, records, floats, counters, blocks, stride)


@noinline
def add_number_digits(x, weight, at, pool, records, floats, counters, blocks, stride):
    """Add weight * x to a sum of numbers in its block, which is taken if it has none."""
    if records[at + 2] == 0:
        records[at + 2] = take_digits(pool, counters, blocks, stride)
        first = records[at + 2] * stride + BLOCK_COUNTS
        add_value(floats[at], blocks, first)
        add_value(floats[at + 1], blocks, first)
        floats[at] = 0.0
        floats[at + 1] = 0.0
    first = records[at + 2] * stride
    if abs(x) < math.inf:
        magnitude, exponent = float_parts(x)
        sign = -1 if x < 0.0 else 1
        position = exponent - SUM_BASE
        add_scaled(magnitude, sign, weight, position, blocks, first + BLOCK_COUNTS)
    else:
        blocks[first + (0 if x != x else (1 if x > 0.0 else 2))] += weight


@noinline
def add_scaled(magnitude, sign, weight, position, digits, first):
    """Add sign * weight * magnitude * 2**position units for ever; 0 <= magnitude < 2**62."""
    if weight < 0:
        sign, weight = -sign, -weight
    while weight > 0:
        piece = weight % DIGIT
        add_for_ever(magnitude % HALF_LIMB * piece, sign, position, digits, first)
        add_for_ever(magnitude // HALF_LIMB * piece, sign, position + 31, digits, first)
        weight //= DIGIT
        position += DIGIT_BITS


@noinline
def add_for_ever(magnitude, sign, position, digits, first):
    """As `add_integer`; a digit that has grown large hands its excess to the next one."""
    add_integer(magnitude, sign, position, digits, first)
    lowest = first + position // DIGIT_BITS
    for index in range(lowest, lowest + 4):
        if abs(digits[index]) > DIGIT_LIMIT:
            carry = digits[index] // DIGIT
            digits[index] -= carry * DIGIT
            digits[index + 1] += carry


@step
def total_numbers(at, pool, records, floats, counters, blocks, stride, scratch):
    """The sum of numbers, rounded once."""
    if records[at + 2] == 0:
        return floats[at] + floats[at + 1] + 0.0
    return total_digits(at, pool, records, floats, counters, blocks, stride, scratch)


@step
def special_total(first, blocks):
    """(whether there is a NaN or an infinity, the sum and mean then) of a block."""
    if blocks[first] == 0 and blocks[first + 1] == 0 and blocks[first + 2] == 0:
        return False, 0.0
    if blocks[first] != 0 or (blocks[first + 1] != 0 and blocks[first + 2] != 0):
        return True, math.nan
    return True, math.inf if blocks[first + 1] != 0 else -math.inf


@noinline
def total_digits(at, pool, records, floats, counters, blocks, stride, scratch):
    """The sum of numbers in a block, which is given back if two floats can hold the sum again."""
    first = records[at + 2] * stride
    special, result = special_total(first, blocks)
    if special:
        return result
    for index in range(SUM_DIGITS):
        scratch[index] = blocks[first + BLOCK_COUNTS + index]
    negative = carry_digits(scratch, 0, SUM_DIGITS)
    high = round_digits(scratch, 0, SUM_DIGITS, SUM_BASE, False)
    if high < SUM_LIMIT:
        add_value(-high, scratch, 0)
        below = carry_digits(scratch, 0, SUM_DIGITS)
        low = round_digits(scratch, 0, SUM_DIGITS, SUM_BASE, False)
        add_value(-low, scratch, 0)
        carry_digits(scratch, 0, SUM_DIGITS)
        if top_digit(scratch, 0, SUM_DIGITS) < 0:
            free_block(at + 2, pool, records, counters, blocks, stride)
            floats[at] = -high if negative else high
            floats[at + 1] = low if negative == below else -low
    return (-high if negative else high) + 0.0


@step
def mean_numbers(count, at, pool, records, floats, counters, blocks, stride, scratch):
    """The mean of numbers, rounded once."""
    if records[at + 2] == 0 and count < MEAN_COUNT:
        settled, mean = settle_mean(count, floats[at], floats[at + 1], 0.0)
        if settled:
            return mean + 0.0
    return mean_digits(count, at, pool, records, floats, counters, blocks, stride, scratch)


@noinline
def mean_digits(count, at, pool, records, floats, counters, blocks, stride, scratch):
    """As `mean_numbers`, in digits."""
    if records[at + 2] != 0:
        special, mean = special_total(records[at + 2] * stride, blocks)
        if special:
            return mean
        total_digits(at, pool, records, floats, counters, blocks, stride, scratch)
    clear_digits(scratch, 0, SUM_DIGITS)
    add_value(floats[at], scratch, 0)
    add_value(floats[at + 1], scratch, 0)
    if records[at + 2] != 0:
        first = records[at + 2] * stride + BLOCK_COUNTS
        for index in range(SUM_DIGITS):
            scratch[index] += blocks[first + index]
    return digits_to_mean(count, scratch, 0) + 0.0


# ---- moments


@step
def add_to_four(x, first, second, third, fourth):
    """(the four, what is lost) of a sum of four floats with x added."""
    first, error = two_sum(first, x)
    second, error = two_sum(second, error)
    third, error = two_sum(third, error)
    fourth, lost = two_sum(fourth, error)
    return first, second, third, fourth, lost


@step
def add_moments(x, weight, at, pool, records, floats, counters, blocks, stride):
    """Add weight * x and weight * x * x to moments of numbers."""
    kept = False
    if records[at + 6] == 0 and (x == 0.0 or MOMENT_LOWEST < abs(x) < MOMENT_HIGHEST):
        size = float(weight)
        product, error = plain_product(x, size)
        high, low, lost = add_to_pair(product, floats[at], floats[at + 1])
        high, low, again = add_to_pair(error, high, low)
        kept = lost == 0.0 and again == 0.0
        square, rest = plain_product(x, x)
        product, error = plain_product(square, size)
        first, second, third, fourth, lost = add_to_four(
            product, floats[at + 2], floats[at + 3], floats[at + 4], floats[at + 5]
        )
        first, second, third, fourth, again = add_to_four(error, first, second, third, fourth)
        kept = kept and lost == 0.0 and again == 0.0
        product, error = plain_product(rest, size)
        first, second, third, fourth, lost = add_to_four(product, first, second, third, fourth)
        first, second, third, fourth, again = add_to_four(error, first, second, third, fourth)
        kept = kept and lost == 0.0 and again == 0.0
        if kept:
            floats[at] = high
            floats[at + 1] = low
            floats[at + 2] = first
            floats[at + 3] = second
            floats[at + 4] = third
            floats[at + 5] = fourth
    if not kept:
        add_moment_digits(x, weight, at, pool, records, counters, blocks, stride)


@noinline
def add_moment_digits(x, weight, at, pool, records, counters, blocks, stride):
    """As `add_moments`, in the block, which is taken if there is none."""
    if records[at + 6] == 0:
        records[at + 6] = take_digits(pool, counters, blocks, stride)
    first = records[at + 6] * stride
    if abs(x) < math.inf:
        magnitude, exponent = float_parts(x)
        sign = -1 if x < 0.0 else 1
        position = exponent - SUM_BASE
        add_scaled(magnitude, sign, weight, position, blocks, first + BLOCK_COUNTS)
        position = 2 * exponent - SQUARE_BASE
        add_scaled_square(magnitude, weight, position, blocks, first + BLOCK_SUM)
    else:
        blocks[first + (0 if x != x else (1 if x > 0.0 else 2))] += weight


@noinline
def add_scaled_square(magnitude, weight, position, digits, first):
    """Add weight * magnitude**2 * 2**position units for ever; 0 <= magnitude < 2**54."""
    upper, lower = magnitude // SQUARE_SPLIT, magnitude % SQUARE_SPLIT
    add_scaled(upper * upper, 1, weight, position + 54, digits, first)
    add_scaled(2 * upper * lower, 1, weight, position + 27, digits, first)
    add_scaled(lower * lower, 1, weight, position, digits, first)


@step
def add_integer_moments(x, weight, at, pool, records, floats, counters, blocks, stride):
    """Add weight * x and weight * x * x to moments of integers."""
    if -FLOAT_WHOLE <= x <= FLOAT_WHOLE:
        add_moments(float(x), weight, at, pool, records, floats, counters, blocks, stride)
    else:
        add_wide_moments(x, weight, at, pool, records, counters, blocks, stride)


@noinline
def add_wide_moments(x, weight, at, pool, records, counters, blocks, stride):
    """As `add_integer_moments` for one that no float is: x = 2**32 * high + low, in the block."""
    if records[at + 6] == 0:
        records[at + 6] = take_digits(pool, counters, blocks, stride)
    first = records[at + 6] * stride + BLOCK_COUNTS
    low, high = x & 0xFFFFFFFF, x >> 32
    size, sign = abs(high), -1 if high < 0 else 1
    add_scaled(low, 1, weight, -SUM_BASE, blocks, first)
    add_scaled(size, sign, weight, 32 - SUM_BASE, blocks, first)
    first += SUM_DIGITS
    add_scaled_square(low, weight, -SQUARE_BASE, blocks, first)
    add_scaled_square(size, weight, 64 - SQUARE_BASE, blocks, first)
    add_scaled(low // 2**16 * size, sign, weight, 49 - SQUARE_BASE, blocks, first)
    add_scaled(low % 2**16 * size, sign, weight, 33 - SQUARE_BASE, blocks, first)


@noinline
def spread_of_moments(count, divisor, root, at, records, floats, blocks, stride, scratch):
    """The variance (count * squares - sum**2) / (count * divisor), or its root, rounded once.

    The root is that of the rounded variance, or, where that is beyond the floats, of the exact one.
    """
    squares = SUM_DIGITS
    clear_digits(scratch, 0, SCRATCH_DIGITS)
    if records[at + 6] != 0:
        first = records[at + 6] * stride
        special, _ = special_total(first, blocks)
        if special:
            return math.nan
        for index in range(SCRATCH_DIGITS):
            scratch[index] = blocks[first + BLOCK_COUNTS + index]
    add_value(floats[at], scratch, 0)
    add_value(floats[at + 1], scratch, 0)
    for index in range(2, 6):
        add_to_squares(floats[at + index], scratch, squares)
    carry_digits(scratch, 0, SUM_DIGITS)
    carry_digits(scratch, squares, SQUARE_DIGITS)
    for index in range(squares, squares + SQUARE_DIGITS):
        scratch[index] *= count
    top = top_digit(scratch, 0, SUM_DIGITS)
    for left in range(top + 1):
        factor = scratch[left]
        if factor != 0:
            for right in range(top + 1):
                scratch[squares + left + right] -= factor * scratch[right]
    carry_digits(scratch, squares, SQUARE_DIGITS)
    cut = max(0, top_digit(scratch, squares, SQUARE_DIGITS) - QUOTIENT_DIGITS)
    more = divide_digits(count, cut, scratch, squares, SQUARE_DIGITS)
    more = divide_digits(divisor, cut, scratch, squares, SQUARE_DIGITS) or more
    variance = round_digits(scratch, squares, SQUARE_DIGITS, SQUARE_BASE, more)
    if not root:
        return variance
    return math.sqrt(variance) if variance < math.inf else digits_to_root(more, scratch, squares)
