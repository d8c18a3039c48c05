"""What the loops of joins emit: rows of both sides side by side, or of one side alone.

`rules` say what is emitted, and how, by the names below.
"""

from rtbot.relations.kernels.join_index import JOINED
from rtbot.relations.kernels.weighing import MOST
from rtbot.tables.hash_tables import copy_row

PAIRS, LEFT, RIGHT, COUNTED, LOGGED, EMITS, SIGN, ROWS_MOST, LOG_MOST = 0, 1, 2, 3, 4, 5, 6, 7, 8
LEFT_FIELDS, RIGHT_FIELDS, LEFT_WIDTH, RIGHT_WIDTH, OUT_WIDTH = 9, 10, 11, 12, 13
AHEAD, NET = 14, 15
"""Rows that are looked up in advance; of each side, how many rows `join_net_rows` may take."""

RULES = 17
"""Words of the rules."""

UNMATCHED, MATCHED = 1, 2
LIMBS = 63
"""Bits of a word of null masks."""


def exceeds(one, other):
    """Whether a product of two weights is beyond int64."""
    return max(one, other) > 0x7FFFFFFF and min(one, other) > 1 and one > MOST // other


def emit_single(rules, side, words, first, change, cursor, out_words, out_weights):
    """Emit the change of a row of one side alone, unless nothing is to be emitted."""
    if change == 0 or rules[EMITS] == 0:
        return
    out = cursor[JOINED]
    at = out * rules[OUT_WIDTH]
    if rules[PAIRS] == 0:
        copy_row(words, first, out_words, at, rules[OUT_WIDTH])
    elif side == 0:
        write_joined(rules, rules[OUT_WIDTH], words, first, words, -1, out_words, at)
    else:
        write_joined(rules, rules[OUT_WIDTH], words, -1, words, first, out_words, at)
    out_weights[out] = change
    cursor[JOINED] = out + 1


def write_joined(rules, width, l_words, left, r_words, right, out, at):
    """Write the fields of the rows at `left` and `right` as one row; -1 is a row of nulls."""
    l_fields, r_fields = rules[LEFT_FIELDS], rules[RIGHT_FIELDS]
    for part in range(l_fields):
        out[at + part] = l_words[left + part] if left >= 0 else 0
    at += l_fields
    for part in range(r_fields):
        out[at + part] = r_words[right + part] if right >= 0 else 0
    at += r_fields
    if width == l_fields + r_fields:
        return
    for part in range(width - l_fields - r_fields):
        out[at + part] = 0
    write_nulls(l_words, left, l_fields, rules[LEFT_WIDTH], 0, out, at)
    write_nulls(r_words, right, r_fields, rules[RIGHT_WIDTH], l_fields, out, at)


def write_nulls(words, first, fields, width, begin, out, at):
    """Write the null bits of a row to those from `begin` on at `at`; all of them for -1."""
    if first < 0:
        for place in range(begin, begin + fields):
            out[at + place // LIMBS] |= 1 << place % LIMBS
        return
    word, shift = begin // LIMBS, begin % LIMBS
    for part in range(fields, width):
        mask = words[first + part]
        if mask != 0:
            out[at + word] |= (mask << shift) & MOST
            if mask >> (LIMBS - shift) != 0:
                out[at + word + 1] |= mask >> (LIMBS - shift)
        word += 1
