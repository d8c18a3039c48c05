"""Rows of numbers, times and text as lines of CSV, in compiled loops.

This text is compiled as one generated module (see `modules`), so it imports nothing of ours. A
float is written in the fewest digits that read back as the same bits, the nearest such to it:
Raffaello Giulietti, The Schubfach way to render doubles (2020). Eight digits at a time are made in
one word. Everything is int64, which must not wrap in compiled code; only the factors of long
products are uint64. `& LOW_63` tells the compiler what is not negative: that is divided faster.
"""

import numpy as np

NUMBER, INTEGER, TIME, TEXT = 0, 1, 2, 3
"""Kinds of columns."""

RARELY_CALLED = ("put_exponent", "put_time")  # compiled apart, which takes less time

WORD_32, WORD_63 = np.uint64((1 << 32) - 1), np.uint64((1 << 63) - 1)
LOW_63 = (1 << 63) - 1
COMMA, LINE_FEED, MINUS, PLUS, POINT, ZERO, LETTER_E = 44, 10, 45, 43, 46, 48, 101


# ---- the digits of a float

FRACTION, IMPLICIT = (1 << 52) - 1, 1 << 52
SPECIAL, INFINITY = 0x7FF, 0x7FF << 52
LOG10_OF_2 = 661971961083  # times 2**41
LOG10_OF_3_4 = -274743187321  # of 3/4, times 2**41
LOG2_OF_10 = 913124641741  # times 2**38
LOWEST_POWER, HIGHEST_POWER = -292, 324


def upper_product(a, b):
    """The upper 64 bits of a product."""
    a_lower, a_upper = a & WORD_32, a >> 32
    b_lower, b_upper = b & WORD_32, b >> 32
    first = a_upper * b_lower + ((a_lower * b_lower) >> 32)
    second = a_lower * b_upper + (first & WORD_32)
    return a_upper * b_upper + (first >> 32) + (second >> 32)


def scaled(upper, lower, factor):
    """factor * power / 2**127, its last bit set if it is no whole number (rounding to odd).

    The power is upper * 2**63 + lower.
    """
    word = np.uint64(factor)
    rest = ((upper * word) >> 1) + upper_product(lower, word)
    whole = upper_product(upper, word) + (rest >> 63)
    return np.int64(whole | (((rest & WORD_63) + WORD_63) >> 63))


def shortest(bits, powers):
    """(digits, exponent): digits * 10**exponent is the shortest text of a positive finite float.

    `powers` has 10**e from LOWEST_POWER to HIGHEST_POWER, each as two words of 63 bits; the digits
    may end in zeros.
    """
    fraction, exponent = bits & FRACTION, (bits >> 52) & SPECIAL
    q = exponent - 1075 if exponent > 0 else -1074
    middle = 4 * (fraction | IMPLICIT if exponent > 0 else fraction)
    left = middle - 2
    k = (q * LOG10_OF_2) >> 41
    if fraction == 0 and exponent > 1:  # the next float below is nearer
        left = middle - 1
        k = (q * LOG10_OF_2 + LOG10_OF_3_4) >> 41
    shift = q + ((-k * LOG2_OF_10) >> 38) + 2
    place = 2 * (-k - LOWEST_POWER)
    upper, lower = powers[place], powers[place + 1]
    odd = fraction & 1
    value = scaled(upper, lower, middle << shift)
    least = scaled(upper, lower, left << shift) + odd
    most = scaled(upper, lower, (middle + 2) << shift) - odd
    digits = (value >> 2) & LOW_63
    if digits >= 10:
        tens = digits // 10 * 10
        down, up = least <= 4 * tens, 4 * tens + 40 <= most
        if down != up:
            return tens if down else tens + 10, k
    down, up = least <= 4 * digits, 4 * digits + 4 <= most
    if down == up:
        above = value - 4 * digits - 2
        down = above < 0 or (above == 0 and digits & 1 == 0)
    return digits if down else digits + 1, k


# ---- digits to bytes

EIGHT, FIFTEEN, SIXTEEN, EIGHTEEN = 10**8, 10**15, 10**16, 10**18
ZEROS, PLACES = 0x3030303030303030, (1 << 48) - 1
LANES_2, LANES_4 = 0x0000007F0000007F, 0x000F000F000F000F


def eight_digits(value):
    """The ASCII digits of a value below 10**8, the first of them in the lowest byte."""
    value &= LOW_63
    upper = value // 10000
    fours = upper | ((value - upper * 10000) << 32)
    upper = ((fours * 10486) >> 20) & LANES_2  # each half divided by 100
    twos = upper | ((fours - upper * 100) << 16)
    upper = ((twos * 103) >> 10) & LANES_4  # each quarter divided by 10
    return (upper | ((twos - upper * 10) << 8)) + ZEROS


def put_word(word, out, place):
    """Write eight bytes, the lowest first; compiled to one store."""
    at = place & PLACES
    for byte in range(8):
        out[at + byte] = (word >> (8 * byte)) & 255


def put_digits(value, count, out, at):
    """Write so many digits of a value that is not negative; up to 8 bytes after them change."""
    value &= LOW_63
    if count > 16:
        upper, value = value // SIXTEEN, value % SIXTEEN
        put_word(eight_digits(upper) >> (8 * (24 - count)), out, at)
        at += count - 16
        count = 16
    if count > 8:
        upper, value = value // EIGHT, value % EIGHT
        put_word(eight_digits(upper) >> (8 * (16 - count)), out, at)
        at += count - 8
        count = 8
    put_word(eight_digits(value) >> (8 * (8 - count)), out, at)


def digit_count(value):
    """How many digits a value has that is not negative."""
    if value >= EIGHTEEN:
        return 19
    count, limit = 1, 10
    if value >= FIFTEEN:
        count, limit = 16, SIXTEEN
    elif value >= EIGHT:
        count, limit = 9, 10 * EIGHT
    while value >= limit:
        count += 1
        limit *= 10
    return count


# ---- cells: each writes one at the place and returns where it ends

LOWEST, NAN, INF = -(2**63), 0x6E616E, 0x666E69
DAY_SECONDS, DATE_WIDTH, SECONDS_WIDTH = 86400, 10, 19
COLONS = (10 << 16) | (10 << 40)  # what makes of hh0mm0ss hh:mm:ss
DASHES = 3 | (3 << 24)  # what makes of 0mm0dd -mm-dd
DECIMAL_FROM, DECIMAL_TO = -5, 10  # where the point may be if there is no exponent


def put_integer(value, out, at):
    """Write an integer."""
    if value < 0:
        out[at] = MINUS
        at += 1
        if value == LOWEST:  # its size is no int64, but what follows its first digit is
            out[at] = ZERO + 9
            at += 1
            value = LOWEST + 9 * EIGHTEEN
        value = -value
    count = digit_count(value)
    put_digits(value, count, out, at)
    return at + count


def put_number(bits, powers, out, at):
    """Write a float as the shortest text that reads back as the same bits; any NaN is nan."""
    size = bits & LOW_63
    if bits < 0 and size <= INFINITY:
        out[at] = MINUS
        at += 1
    if size == 0 or size >= INFINITY:
        letters = NAN if size > INFINITY else INF if size else ZERO
        put_word(letters, out, at)
        return at + (3 if size else 1)
    digits, exponent = shortest(size, powers)
    digits &= LOW_63
    count = digit_count(digits)
    point = count + exponent
    if digits % EIGHT == 0:
        digits //= EIGHT
        count -= 8
    while digits % 10 == 0:
        digits //= 10
        count -= 1
    plain = DECIMAL_FROM <= point <= DECIMAL_TO
    first = at + 1 if point > 0 or not plain else at + 2 - point
    put_digits(digits, count, out, first)
    if not plain:
        return put_exponent(count, point - 1, out, at)
    return put_point(count, point, out, at)


def put_point(count, point, out, at):
    """Put the point of a number, and zeros where it has no digits, around the digits.

    These are there already, and begin at `at + 1`, or behind the zeros in front.
    """
    if point <= 0:
        for place in range(at, at + 2 - point):
            out[place] = ZERO
        out[at + 1] = POINT
        return at + 2 - point + count
    for place in range(at, at + min(point, count)):
        out[place] = out[place + 1]
    if point < count:
        out[at + point] = POINT
        return at + count + 1
    for place in range(at + count, at + point):
        out[place] = ZERO
    return at + point


def put_exponent(count, exponent, out, at):
    """Put the point after the first of the digits that are there, and an exponent with its sign."""
    out[at] = out[at + 1]
    out[at + 1] = POINT
    at += count + 1 if count > 1 else 1
    out[at] = LETTER_E
    out[at + 1] = MINUS if exponent < 0 else PLUS
    return put_integer(abs(exponent), out, at + 2)


def put_time(time, clock, out, at):
    """Write a time in ISO 8601, with more parts than usual if it needs them.

    `clock` is how (see `csv_writer`): units per second and their decimal digits, the offset in
    seconds, how many characters are usual and which steps they show, separator, offset text.
    """
    scale, width = clock[0], clock[3]
    local = time + clock[2] * scale
    seconds = local // scale
    fraction = local - seconds * scale
    if local % clock[4] != 0:
        whole = fraction == 0 and width < SECONDS_WIDTH
        width = SECONDS_WIDTH if whole else SECONDS_WIDTH + 1 + clock[1]
    days = seconds // DAY_SECONDS
    put_date(days, out, at)
    if width > DATE_WIDTH:
        out[at + DATE_WIDTH] = clock[5]
        minutes = (seconds - days * DAY_SECONDS) // 60
        hour = minutes // 60
        told = hour * 1000000 + (minutes - hour * 60) * 1000 + seconds % 60
        put_word(eight_digits(told) + COLONS, out, at + DATE_WIDTH + 1)
    if width > SECONDS_WIDTH:
        out[at + SECONDS_WIDTH] = POINT
        put_digits(fraction, clock[1], out, at + SECONDS_WIDTH + 1)
    put_word(clock[6], out, at + width)
    return at + width + clock[7]


def put_date(days, out, at):
    """Write the date so many days after 1970-01-01; years count from March in between.

    Howard Hinnant, chrono-compatible low-level date algorithms (2014).
    """
    days += 719468
    cycle = days // 146097
    day = days - cycle * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year += cycle * 400 + (month >= 10)
    month += -9 if month >= 10 else 3
    put_digits(year, 4, out, at)
    put_word(eight_digits((month * 1000 + day) * 100) - DASHES, out, at + 4)


def put_cell(kind, word, clock, texts, starts, powers, out, at):
    """Write a cell of any kind."""
    if kind == NUMBER:
        return put_number(word, powers, out, at)
    if kind == INTEGER:
        return put_integer(word, out, at)
    if kind == TIME:
        return put_time(word, clock, out, at)
    for place in range(starts[word], starts[word + 1]):
        out[at] = texts[place]
        at += 1
    return at


def put_rows(kinds, words, valid, clock, texts, starts, powers, out):
    """Write rows as lines and return how many bytes they take.

    `words[column, row]` is the cell: an integer, a time, the bits of a float, or the place of a
    text, which is `texts[starts[place] : starts[place + 1]]`. Cells that are not valid are empty.
    `out` has room for the longest cells, and for 8 bytes after the last.
    """
    at = 0
    for row in range(words.shape[1]):
        for column in range(len(kinds)):
            if valid[column, row]:
                kind, word = kinds[column], words[column, row]
                at = put_cell(kind, word, clock, texts, starts, powers, out, at)
            out[at] = COMMA
            at += 1
        out[at - 1] = LINE_FEED
    return at
