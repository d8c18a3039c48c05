"""The loops over transactions of joins by the distance of two fields; see near_rows.py."""

from rtbot.relations.kernels.asof_joining import emit_as_of
from rtbot.relations.kernels.interval_joining import emit_interval
from rtbot.relations.kernels.join_index import ROOM_LEFT, ROOM_OUT, ROOM_RIGHT, TOO_MANY
from rtbot.relations.kernels.join_output import ROWS_MOST, SIGN
from rtbot.relations.kernels.near_rows import (
    NEAR_AT,
    NEAR_NEEDED,
    NEAR_OTHERS,
    NEAR_OUT,
    NEAR_ROW,
    NEAR_SIDE,
    NEAR_TOUCHED,
)
from rtbot.relations.kernels.ordered_rows import (
    apply_touched,
    check_touched,
    sort_touched,
    touch_rows,
)
from rtbot.tables.hash_tables import DONE

RARELY_CALLED = (
    *("touch_side", "emit_as_of", "emit_retargeted", "find_targets", "find_bound", "find_nearest"),
    *("emit_interval", "emit_left_row", "emit_right_row", "find_padding", "find_near"),
    *("find_shifted", "emit_near", "is_loose", "has_same_keys", "finish_sides"),
)
"""Compiled apart, each once, which takes less time."""


def join_as_of(
    rules, distances, l_starts, l_words, l_weights, r_starts, r_words, r_weights,
    l_known, l_floats, l_cells, l_nodes, l_meta, l_spec, l_labels,
    r_known, r_floats, r_cells, r_nodes, r_meta, r_spec, r_labels,
    touched, others, spare, cursor, out_words, out_weights, out_starts,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, a ROOM (call again), or a fault.

    After a fault the rows of the transaction are still touched.
    """
    left = (l_known, l_floats, l_cells, l_nodes, l_meta, l_spec, l_labels)
    right = (r_known, r_floats, r_cells, r_nodes, r_meta, r_spec, r_labels)
    while cursor[NEAR_AT] < len(l_starts) - 1:
        code = touch_sides(
            rules, l_starts, l_words, l_weights, r_starts, r_words, r_weights, left, right, touched,
            others, spare, cursor,
        )  # fmt: skip
        if code != DONE:
            return code
        made = emit_as_of(
            rules, distances, left, right, touched, cursor[NEAR_TOUCHED], others,
            cursor[NEAR_OTHERS], cursor, out_words, out_weights,
        )  # fmt: skip
        if made - cursor[NEAR_OUT] > rules[ROWS_MOST]:
            cursor[NEAR_NEEDED] = made - cursor[NEAR_OUT]
            return TOO_MANY
        if made > len(out_weights):
            cursor[NEAR_NEEDED] = made
            return ROOM_OUT
        cursor[NEAR_OUT] = made
        finish_sides(left, right, touched, others, cursor, out_starts)
    return DONE


def join_interval(
    rules, distances, l_starts, l_words, l_weights, r_starts, r_words, r_weights,
    l_known, l_floats, l_cells, l_nodes, l_meta, l_spec, l_labels,
    r_known, r_floats, r_cells, r_nodes, r_meta, r_spec, r_labels,
    touched, others, spare, probe, probe_floats, probe_spec, cursor, out_words, out_weights,
    out_starts,
):  # fmt: skip
    """Take the transactions from the cursor on, as `join_as_of` does."""
    left = (l_known, l_floats, l_cells, l_nodes, l_meta, l_spec, l_labels)
    right = (r_known, r_floats, r_cells, r_nodes, r_meta, r_spec, r_labels)
    while cursor[NEAR_AT] < len(l_starts) - 1:
        code = touch_sides(
            rules, l_starts, l_words, l_weights, r_starts, r_words, r_weights, left, right, touched,
            others, spare, cursor,
        )  # fmt: skip
        if code == DONE:
            code = emit_interval(
                rules, distances, left, right, touched, cursor[NEAR_TOUCHED], others,
                cursor[NEAR_OTHERS], probe, probe_floats, probe_spec, cursor, out_words,
                out_weights,
            )  # fmt: skip
        if code != DONE:
            return code
        finish_sides(left, right, touched, others, cursor, out_starts)
    return DONE


def touch_sides(
    rules, l_starts, l_words, l_weights, r_starts, r_words, r_weights, left, right, touched, others,
    spare, cursor,
):  # fmt: skip
    """Touch the rows of a transaction on both sides, in order: DONE, a ROOM, or a fault."""
    at = cursor[NEAR_AT]
    if cursor[NEAR_SIDE] == 0:
        code = touch_side(
            rules, l_starts[at], l_starts[at + 1], l_words, l_weights, left, touched, spare,
            NEAR_TOUCHED, cursor,
        )  # fmt: skip
        if code != DONE:
            return ROOM_LEFT if code == ROOM_OUT else code
        cursor[NEAR_SIDE] = 1
        cursor[NEAR_ROW] = r_starts[at]
    if cursor[NEAR_SIDE] == 1:
        code = touch_side(
            rules, r_starts[at], r_starts[at + 1], r_words, r_weights, right, others, spare,
            NEAR_OTHERS, cursor,
        )  # fmt: skip
        if code != DONE:
            return ROOM_RIGHT if code == ROOM_OUT else code
        cursor[NEAR_SIDE] = 2
    return DONE


def touch_side(rules, begin, end, words, weights, side, touched, spare, counter, cursor):
    """Touch the rows of a side: DONE, ROOM_OUT if its store has no room, or a fault."""
    known, _, cells, nodes, meta, spec, labels = side
    row, count = touch_rows(
        rules[SIGN], words, weights, max(begin, cursor[NEAR_ROW]), end, touched, cursor[counter],
        known, cells, nodes, meta, spec, labels,
    )  # fmt: skip
    cursor[NEAR_ROW] = row
    cursor[counter] = count
    if row < end:
        return ROOM_OUT
    code = check_touched(touched, count, cells, meta)
    if code == DONE and count > 1:
        sort_touched(touched, spare, count, known, cells, meta, spec, labels)
    return code


def finish_sides(left, right, touched, others, cursor, out_starts):
    """Make the new state of both sides the one there is, and go on to the next transaction."""
    apply_touched(touched, cursor[NEAR_TOUCHED], left[2], left[3], left[4])
    apply_touched(others, cursor[NEAR_OTHERS], right[2], right[3], right[4])
    cursor[NEAR_AT] += 1
    cursor[NEAR_SIDE] = 0
    cursor[NEAR_ROW] = 0
    cursor[NEAR_TOUCHED] = 0
    cursor[NEAR_OTHERS] = 0
    out_starts[cursor[NEAR_AT]] = cursor[NEAR_OUT]
