"""Loops of joins whose condition decides which pairs match: over what joining.py has logged.

`matches` of a row has two words: how many rows of the other side match it, and its number in
`visited` plus one while a transaction is settled, else 0. As all weights are positive, nothing
matches exactly if that count is 0, as if the weights were summed.
"""

from rtbot.relations.kernels.join_index import JOINED
from rtbot.relations.kernels.join_output import (
    EMITS,
    LEFT,
    LEFT_WIDTH,
    MATCHED,
    OUT_WIDTH,
    PAIRS,
    RIGHT_WIDTH,
    UNMATCHED,
    emit_single,
    write_joined,
)
from rtbot.relations.kernels.joining import KEYLESS, LOG_PARTS, NO_ROW

VISIT_PARTS = 4
"""Words of a visited row: its id, its matches before, its weights before and after."""


def write_candidates(rules, log, width, l_words, r_words, pairs):
    """Write the pairs of a log as rows of `width` words."""
    for row in range(len(log) // LOG_PARTS):
        write_joined(
            rules, width, l_words, log[row * LOG_PARTS] * rules[LEFT_WIDTH], r_words,
            log[row * LOG_PARTS + 1] * rules[RIGHT_WIDTH], pairs, row * width,
        )  # fmt: skip


def settle_transactions(
    rules, first, last, log, log_starts, flags, given_l, given_r, l_words, l_matches, l_visited,
    r_words, r_matches, r_visited, counts, cursor, out_words, out_weights, out_starts,
):  # fmt: skip
    """Count the matches of the transactions first to last - 1, and emit what they change.

    `flags` has 1 for an entry whose condition is true. `counts` are the visited rows of each side.
    """
    for at in range(first, last):
        for entry in range(log_starts[at], log_starts[at + 1]):
            settle_entry(
                rules, entry, log, flags, given_l, given_r, l_words, l_matches, l_visited, r_words,
                r_matches, r_visited, counts, cursor, out_words, out_weights,
            )  # fmt: skip
        settle_side(
            rules, 0, l_words, rules[LEFT_WIDTH], l_matches, l_visited, counts, cursor, out_words,
            out_weights,
        )  # fmt: skip
        settle_side(
            rules, 1, r_words, rules[RIGHT_WIDTH], r_matches, r_visited, counts, cursor, out_words,
            out_weights,
        )  # fmt: skip
        out_starts[at + 1] = cursor[JOINED]


def settle_entry(
    rules, entry, log, flags, given_l, given_r, l_words, l_matches, l_visited, r_words, r_matches,
    r_visited, counts, cursor, out_words, out_weights,
):  # fmt: skip
    """Take one entry of a log."""
    base = entry * LOG_PARTS
    left, right = log[base], log[base + 1]
    l_before, l_after = log[base + 2], log[base + 3]
    r_before, r_after = log[base + 4], log[base + 5]
    if right == NO_ROW:
        settle_single(
            rules, 0, left, l_before, l_after, given_l, l_matches, l_visited, counts, cursor,
            out_words, out_weights,
        )  # fmt: skip
        return
    if left == NO_ROW:
        settle_single(
            rules, 1, right, r_before, r_after, given_r, r_matches, r_visited, counts, cursor,
            out_words, out_weights,
        )  # fmt: skip
        return
    if flags[entry] != 1:
        return
    change = l_after * r_after - l_before * r_before
    if rules[PAIRS] != 0 and rules[EMITS] != 0 and change != 0:
        out = cursor[JOINED]
        write_joined(
            rules, rules[OUT_WIDTH], l_words, left * rules[LEFT_WIDTH], r_words,
            right * rules[RIGHT_WIDTH], out_words, out * rules[OUT_WIDTH],
        )  # fmt: skip
        out_weights[out] = change
        cursor[JOINED] = out + 1
    step = min(l_after, r_after, 1) - min(l_before, r_before, 1)
    if step != 0 and rules[LEFT] != 0:
        visit_row(0, left, l_before, l_after, step, l_matches, l_visited, counts)
    if step != 0 and rules[LEFT + 1] != 0:
        visit_row(1, right, r_before, r_after, step, r_matches, r_visited, counts)


def settle_single(
    rules, side, row, before, after, given, matches, visited, counts, cursor, out_words, out_weights
):
    """Take the entry of a row that is touched."""
    if row >= 0:
        visit_row(side, row, before, after, 0, matches, visited, counts)
    elif rules[LEFT + side] == UNMATCHED:
        emit_single(
            rules, side, given, (KEYLESS - row) * rules[LEFT_WIDTH + side], after, cursor,
            out_words, out_weights,
        )  # fmt: skip


def visit_row(side, one, before, after, step, matches, visited, counts):
    """Add to the matches of a row, and note it with what it had before its transaction."""
    if matches[2 * one + 1] == 0:
        base = counts[side] * VISIT_PARTS
        counts[side] += 1
        matches[2 * one + 1] = counts[side]
        visited[base] = one
        visited[base + 1] = matches[2 * one]
        visited[base + 2] = before
        visited[base + 3] = after
    matches[2 * one] += step


def settle_side(
    rules, side, words, width, matches, visited, counts, cursor, out_words, out_weights
):
    """Emit the visited rows of a side that had matches and have none, or the reverse."""
    mode = rules[LEFT + side]
    for index in range(counts[side]):
        base = index * VISIT_PARTS
        one, before, after = visited[base], visited[base + 2], visited[base + 3]
        if (visited[base + 1] > 0) != (mode == MATCHED):
            before = 0
        if (matches[2 * one] > 0) != (mode == MATCHED):
            after = 0
        matches[2 * one + 1] = 0
        emit_single(rules, side, words, one * width, after - before, cursor, out_words, out_weights)
    counts[side] = 0
