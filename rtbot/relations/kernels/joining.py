"""Loops of joins: what every transaction changes of the pairs of rows with equal keys.

The state is that of join_index.py. A pair is there as often as the product of the weights; what is
emitted is that product after the transaction without the one before, for every pair of which a row
has changed: each pair once. Rows of one side alone are emitted with LEFT or RIGHT: UNMATCHED ones
(padded with nulls beside pairs), or MATCHED ones. `rules` says what to do, by the names below.

With LOGGED a condition decides which pairs match, and somebody else evaluates it: pairs and touched
rows are written to `log` in place of the output, and matching.py goes on with them.
"""

from rtbot.relations.kernels.join_index import (
    JOIN_AT,
    JOINED,
    KEY_AFTER,
    KEY_BEFORE,
    KEY_CELLS,
    KEY_CHANGED,
    KEY_ENTRY,
    KEY_LENGTH,
    KEY_PARTS,
    KEYS_TOUCHED,
    MARK,
    NEEDED,
    ROOM_OUT,
    ROW_AFTER,
    ROW_BAD,
    ROW_BEFORE,
    ROW_ID,
    ROW_KEY,
    ROW_PARTS,
    ROWS_TOUCHED,
    SETTLE,
    STAGE,
    TOO_MANY,
    UNFIT,
    finish_keys,
    finish_side,
    gather_side,
    sum_counted,
    sum_side,
)
from rtbot.relations.kernels.join_output import (
    AHEAD,
    COUNTED,
    EMITS,
    LEFT,
    LEFT_WIDTH,
    LOG_MOST,
    LOGGED,
    MATCHED,
    NET,
    OUT_WIDTH,
    PAIRS,
    RIGHT,
    RIGHT_WIDTH,
    ROWS_MOST,
    SIGN,
    UNMATCHED,
    emit_single,
    exceeds,
    write_joined,
)
from rtbot.relations.kernels.net_joins import join_net_rows
from rtbot.relations.kernels.weighing import OVERFLOW
from rtbot.tables.hash_tables import DONE, IDS

LOG_PARTS = 6
"""Words of an entry of a log: left row, right row, the weights of both, each before and after.

A row is an id; NO_ROW, beside the touched row of an entry that is no pair; or less, down from
KEYLESS, for one of the input whose key is null.
"""

NO_ROW, KEYLESS = -1, -2
RARELY_CALLED = ("emit_single", "emit_singles", "settle_side", "write_nulls")
"""Called in several places, so that a copy in each of them takes long to compile."""


def join_transactions(
    rules, starts_l, given_l, weights_l, starts_r, given_r, weights_r, l_tags, l_key_tags, r_tags,
    r_key_tags, l_words, l_cells, l_table, l_meta, l_touched, l_places, l_nulls, r_words, r_cells,
    r_table, r_meta, r_touched, r_places, r_nulls, k_words, k_cells, k_table, k_meta, k_touched,
    k_parts, k_bits, safe, key, cursor, log, out_words, out_weights, out_starts,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, SETTLE, what has no room, or why one is bad.

    ROOM_OUT wants room for NEEDED rows more than there are in `out_words`, or in `log`. With SETTLE
    the log has enough entries to be settled. A transaction that is bad is to be finished by
    `restore_transaction`, and leaves nothing behind then.
    """
    while cursor[JOIN_AT] < len(out_starts) - 1:
        code = join_one_side(
            rules, starts_l, given_l, weights_l, starts_r, given_r, weights_r, l_tags, l_key_tags,
            r_tags, r_key_tags, l_words, l_cells, l_table, l_meta, l_places, l_nulls, r_words,
            r_cells, r_table, r_meta, r_places, r_nulls, k_words, k_cells, k_table, k_meta,
            k_touched, k_parts, k_bits, safe, key, cursor, out_words, out_weights,
        )  # fmt: skip
        if code == UNFIT:
            code = gather_sides(
                rules, starts_l, given_l, weights_l, starts_r, given_r, weights_r, l_tags,
                l_key_tags, r_tags, r_key_tags, l_words, l_cells, l_table, l_meta, l_touched,
                l_places, l_nulls, r_words, r_cells, r_table, r_meta, r_touched, r_places, r_nulls,
                k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, safe, key, cursor,
            )  # fmt: skip
            if code == DONE and rules[EMITS] + rules[LOGGED] != 0:
                code = write_changes(
                    rules, given_l, given_r, l_words, l_cells, l_touched, r_words, r_cells,
                    r_touched, k_cells, k_touched, cursor, log, out_words, out_weights,
                )  # fmt: skip
            if code == DONE:
                finish_transaction(
                    False, rules, l_words, l_cells, l_table, l_meta, l_touched, r_words, r_cells,
                    r_table, r_meta, r_touched, k_words, k_cells, k_table, k_meta, k_touched,
                    len(key), cursor,
                )  # fmt: skip
        if code != DONE:
            return code
        cursor[JOIN_AT] += 1
        out_starts[cursor[JOIN_AT]] = cursor[JOINED]
        if rules[LOGGED] != 0 and cursor[JOINED] >= rules[LOG_MOST]:
            return SETTLE
    return DONE


def join_one_side(
    rules, starts_l, given_l, weights_l, starts_r, given_r, weights_r, l_tags, l_key_tags, r_tags,
    r_key_tags, l_words, l_cells, l_table, l_meta, l_places, l_nulls, r_words, r_cells, r_table,
    r_meta, r_places, r_nulls, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, safe,
    key, cursor, out_words, out_weights,
):  # fmt: skip
    """Take a transaction of one side as `join_net_rows` does, if its rows are known to be net."""
    at = cursor[JOIN_AT]
    lefts, rights = starts_l[at + 1] - starts_l[at], starts_r[at + 1] - starts_r[at]
    if cursor[STAGE] != 0 or cursor[KEYS_TOUCHED] + cursor[ROWS_TOUCHED] != 0:
        return UNFIT
    if rights == 0 and 0 < lefts <= rules[NET]:
        side, starts, given, weights = 0, starts_l, given_l, weights_l
        tags, key_tags = l_tags, l_key_tags
        words, cells, table, meta = l_words, l_cells, l_table, l_meta
        places, nulls = l_places, l_nulls
        o_words, o_cells = r_words, r_cells
    elif lefts == 0 and 0 < rights <= rules[NET + 1]:
        side, starts, given, weights = 1, starts_r, given_r, weights_r
        tags, key_tags = r_tags, r_key_tags
        words, cells, table, meta = r_words, r_cells, r_table, r_meta
        places, nulls = r_places, r_nulls
        o_words, o_cells = l_words, l_cells
    else:
        return UNFIT
    return join_net_rows(
        side, rules, starts, given, weights, tags, key_tags, words, cells, table, meta, places,
        nulls, o_words, o_cells, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits,
        safe, key, cursor, out_words, out_weights,
    )  # fmt: skip


def gather_sides(
    rules, starts_l, given_l, weights_l, starts_r, given_r, weights_r, l_tags, l_key_tags, r_tags,
    r_key_tags, l_words, l_cells, l_table, l_meta, l_touched, l_places, l_nulls, r_words, r_cells,
    r_table, r_meta, r_touched, r_places, r_nulls, k_words, k_cells, k_table, k_meta, k_touched,
    k_parts, k_bits, safe, key, cursor,
):  # fmt: skip
    """Gather a transaction, or what is left of it to gather: DONE, or why it cannot go on."""
    if cursor[STAGE] == 0:
        cursor[NEEDED] = 0
        code = gather_side(
            0, False, rules[SIGN], rules[AHEAD], starts_l, given_l, weights_l, l_tags, l_key_tags,
            rules[LEFT_WIDTH], l_words, l_cells, l_table, l_meta, l_touched, l_places, l_nulls,
            k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, safe, key, cursor,
        )  # fmt: skip
        if code != DONE:
            return code
    if cursor[STAGE] == 1:
        cursor[NEEDED] = 0
        code = gather_side(
            1, rules[COUNTED] != 0, rules[SIGN], rules[AHEAD], starts_r, given_r, weights_r, r_tags,
            r_key_tags, rules[RIGHT_WIDTH], r_words, r_cells, r_table, r_meta, r_touched, r_places,
            r_nulls, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, safe, key,
            cursor,
        )  # fmt: skip
        if code != DONE:
            return code
        return sum_sides(rules, l_touched, r_touched, k_touched, cursor)
    return DONE


def finish_transaction(
    is_bad, rules, l_words, l_cells, l_table, l_meta, l_touched, r_words, r_cells, r_table, r_meta,
    r_touched, k_words, k_cells, k_table, k_meta, k_touched, k_width, cursor,
):  # fmt: skip
    """Store what a transaction leaves, or what was before it if it is bad."""
    row, keys = (ROW_BEFORE, KEY_BEFORE) if is_bad else (ROW_AFTER, KEY_AFTER)
    waits = rules[LOGGED] != 0
    finish_side(
        0, row, waits, rules[LEFT_WIDTH], l_words, l_cells, l_table, l_meta, l_touched, k_cells,
        k_touched, cursor,
    )  # fmt: skip
    finish_side(
        1, row, waits, rules[RIGHT_WIDTH], r_words, r_cells, r_table, r_meta, r_touched, k_cells,
        k_touched, cursor,
    )  # fmt: skip
    finish_keys(keys, k_width, k_words, k_cells, k_table, k_meta, k_touched, cursor)
    cursor[STAGE] = 0


def restore_transaction(
    rules, l_words, l_cells, l_table, l_meta, l_touched, r_words, r_cells, r_table, r_meta,
    r_touched, k_words, k_cells, k_table, k_meta, k_touched, k_width, cursor,
):  # fmt: skip
    """Store what was before a transaction that is bad."""
    finish_transaction(
        True, rules, l_words, l_cells, l_table, l_meta, l_touched, r_words, r_cells, r_table,
        r_meta, r_touched, k_words, k_cells, k_table, k_meta, k_touched, k_width, cursor,
    )  # fmt: skip


def sum_sides(rules, l_touched, r_touched, k_touched, cursor):
    """Sum the weights after a transaction, and count what it may emit: DONE, or why it is bad."""
    code = sum_side(0, l_touched, k_touched, cursor)
    if rules[COUNTED] != 0:
        code = max(code, sum_counted(k_touched, cursor))
    else:
        code = max(code, sum_side(1, r_touched, k_touched, cursor))
    if code == DONE:
        cursor[NEEDED] = count_rows(rules, k_touched, cursor)
        if rules[EMITS] != 0 and cursor[NEEDED] > rules[ROWS_MOST]:
            code = TOO_MANY
    return code


def count_rows(rules, k_touched, cursor):
    """How many rows a transaction looks at to be emitted, from the lengths of chains."""
    count = cursor[ROWS_TOUCHED] + cursor[ROWS_TOUCHED + 1]
    for index in range(cursor[KEYS_TOUCHED]):
        base = index * KEY_PARTS
        left, right = k_touched[base + KEY_LENGTH], k_touched[base + KEY_LENGTH + 1]
        changed = k_touched[base + KEY_CHANGED]
        if rules[PAIRS] + rules[LOGGED] != 0:
            count += changed * right + k_touched[base + KEY_CHANGED + 1] * (left - changed)
        if rules[LOGGED] == 0:
            if rules[LEFT] != 0 and is_turned(k_touched, base, 1):
                count += left
            if rules[RIGHT] != 0 and is_turned(k_touched, base, 0):
                count += right
    return count


def is_turned(k_touched, base, side):
    """Whether a side of a key has rows now and had none, or the reverse."""
    before, after = k_touched[base + KEY_BEFORE + side], k_touched[base + KEY_AFTER + side]
    return (before > 0) != (after > 0)


def write_changes(
    rules, given_l, given_r, l_words, l_cells, l_touched, r_words, r_cells, r_touched, k_cells,
    k_touched, cursor, log, out_words, out_weights,
):  # fmt: skip
    """Write what a transaction changes to where there is room: DONE, ROOM_OUT or OVERFLOW."""
    begin = cursor[JOINED]
    room = len(log) // LOG_PARTS if rules[LOGGED] != 0 else len(out_weights)
    if begin + cursor[NEEDED] > room:
        return ROOM_OUT
    code = emit_changes(
        rules, given_l, given_r, l_words, l_cells, l_touched, r_words, r_cells, r_touched, k_cells,
        k_touched, cursor, log, out_words, out_weights,
    )  # fmt: skip
    if code != DONE:
        cursor[JOINED] = begin
    return code


def emit_changes(
    rules, given_l, given_r, l_words, l_cells, l_touched, r_words, r_cells, r_touched, k_cells,
    k_touched, cursor, log, out_words, out_weights,
):  # fmt: skip
    """Emit what a transaction changes, or log what may change: DONE or OVERFLOW."""
    code = DONE
    if rules[PAIRS] + rules[LOGGED] != 0:
        code = emit_left_pairs(
            rules, l_words, l_touched, r_words, r_cells, r_touched, k_cells, k_touched, cursor, log,
            out_words, out_weights,
        )  # fmt: skip
        code = max(code, emit_right_pairs(
            rules, l_words, l_cells, l_touched, r_words, r_touched, k_cells, k_touched, cursor, log,
            out_words, out_weights,
        ))  # fmt: skip
    for side in range(2):
        mode = rules[LEFT + side]
        if mode == 0:
            continue
        if rules[LOGGED] != 0:
            log_singles(side, l_touched if side == 0 else r_touched, cursor, log)
        elif side == 0:
            emit_singles(
                rules, 0, mode, given_l, l_words, l_cells, l_touched, k_cells, k_touched, cursor,
                out_words, out_weights,
            )  # fmt: skip
        else:
            emit_singles(
                rules, 1, mode, given_r, r_words, r_cells, r_touched, k_cells, k_touched, cursor,
                out_words, out_weights,
            )  # fmt: skip
    return code


def emit_left_pairs(
    rules, l_words, l_touched, r_words, r_cells, r_touched, k_cells, k_touched, cursor, log,
    out_words, out_weights,
):  # fmt: skip
    """Emit the pairs of left rows that have changed: DONE or OVERFLOW."""
    worst = DONE
    for index in range(cursor[ROWS_TOUCHED]):
        base = index * ROW_PARTS
        before, after = l_touched[base + ROW_BEFORE], l_touched[base + ROW_AFTER]
        if l_touched[base + ROW_KEY] < 0 or before == after:
            continue
        key = k_touched[l_touched[base + ROW_KEY] * KEY_PARTS + KEY_ENTRY] & IDS
        other = k_cells[key * KEY_CELLS + 1]
        while other > 0:
            link = r_cells[2 * other - 1]
            first = last = r_cells[2 * other - 2]
            if link & MARK != 0:
                place = first * ROW_PARTS
                first, last = r_touched[place + ROW_BEFORE], r_touched[place + ROW_AFTER]
            code = emit_pair(
                rules, l_touched[base + ROW_ID], other - 1, before, after, first, last, l_words,
                r_words, cursor, log, out_words, out_weights,
            )  # fmt: skip
            if code != DONE:
                l_touched[base + ROW_BAD] = worst = code
            other = link & IDS
    return worst


def emit_right_pairs(
    rules, l_words, l_cells, l_touched, r_words, r_touched, k_cells, k_touched, cursor, log,
    out_words, out_weights,
):  # fmt: skip
    """Emit the pairs of right rows that have changed with left rows that have not."""
    worst = DONE
    for index in range(cursor[ROWS_TOUCHED + 1]):
        base = index * ROW_PARTS
        before, after = r_touched[base + ROW_BEFORE], r_touched[base + ROW_AFTER]
        if r_touched[base + ROW_KEY] < 0 or before == after:
            continue
        key = k_touched[r_touched[base + ROW_KEY] * KEY_PARTS + KEY_ENTRY] & IDS
        other = k_cells[key * KEY_CELLS]
        while other > 0:
            link = l_cells[2 * other - 1]
            first = last = l_cells[2 * other - 2]
            if link & MARK != 0:
                place = first * ROW_PARTS
                first, last = l_touched[place + ROW_BEFORE], l_touched[place + ROW_AFTER]
            code = DONE
            if first == last:
                code = emit_pair(
                    rules, other - 1, r_touched[base + ROW_ID], first, last, before, after, l_words,
                    r_words, cursor, log, out_words, out_weights,
                )  # fmt: skip
            if code != DONE:
                r_touched[base + ROW_BAD] = worst = code
            other = link & IDS
    return worst


def emit_pair(
    rules, left, right, l_before, l_after, r_before, r_after, l_words, r_words, cursor, log,
    out_words, out_weights,
):  # fmt: skip
    """Emit, or log, the change of a pair: DONE or OVERFLOW."""
    was, will = l_before > 0 and r_before > 0, l_after > 0 and r_after > 0
    out = cursor[JOINED]
    if rules[LOGGED] != 0:
        if was != will or (was and rules[PAIRS] != 0):
            write_entry(log, out, left, right, l_before, l_after, r_before, r_after)
            cursor[JOINED] = out + 1
        return DONE
    if exceeds(l_after, r_after):
        return OVERFLOW
    change = l_after * r_after - l_before * r_before
    if change != 0:
        write_joined(
            rules, rules[OUT_WIDTH], l_words, left * rules[LEFT_WIDTH], r_words,
            right * rules[RIGHT_WIDTH], out_words, out * rules[OUT_WIDTH],
        )  # fmt: skip
        out_weights[out] = change
        cursor[JOINED] = out + 1
    return DONE


def write_entry(log, place, left, right, l_before, l_after, r_before, r_after):
    """Write an entry of a log."""
    base = place * LOG_PARTS
    log[base] = left
    log[base + 1] = right
    log[base + 2] = l_before
    log[base + 3] = l_after
    log[base + 4] = r_before
    log[base + 5] = r_after


def log_singles(side, touched, cursor, log):
    """Log the touched rows of a side."""
    for index in range(cursor[ROWS_TOUCHED + side]):
        base = index * ROW_PARTS
        before, after = touched[base + ROW_BEFORE], touched[base + ROW_AFTER]
        if before == after:
            continue
        one = touched[base + ROW_ID]
        row = one if one >= 0 else one - 1
        out = cursor[JOINED]
        if side == 0:
            write_entry(log, out, row, NO_ROW, before, after, 0, 0)
        else:
            write_entry(log, out, NO_ROW, row, 0, 0, before, after)
        cursor[JOINED] = out + 1


def emit_singles(
    rules, side, mode, given, words, cells, touched, k_cells, k_touched, cursor, out_words,
    out_weights,
):  # fmt: skip
    """Emit the rows of a side that have no partner now and had one, or the reverse, or changed."""
    width = rules[LEFT_WIDTH + side]
    for index in range(cursor[ROWS_TOUCHED + side]):
        base = index * ROW_PARTS
        before, after = touched[base + ROW_BEFORE], touched[base + ROW_AFTER]
        one, key = touched[base + ROW_ID], touched[base + ROW_KEY] * KEY_PARTS
        if one < 0:
            if mode == UNMATCHED:
                emit_single(
                    rules, side, given, (-1 - one) * width, after, cursor, out_words, out_weights
                )
            continue
        if (k_touched[key + KEY_BEFORE + 1 - side] > 0) != (mode == MATCHED):
            before = 0
        if (k_touched[key + KEY_AFTER + 1 - side] > 0) != (mode == MATCHED):
            after = 0
        emit_single(rules, side, words, one * width, after - before, cursor, out_words, out_weights)
    for index in range(cursor[KEYS_TOUCHED]):
        base = index * KEY_PARTS
        if not is_turned(k_touched, base, 1 - side):
            continue
        comes = (k_touched[base + KEY_AFTER + 1 - side] > 0) == (mode == MATCHED)
        one = k_cells[(k_touched[base + KEY_ENTRY] & IDS) * KEY_CELLS + side]
        while one > 0:
            link = cells[2 * one - 1]
            if link & MARK == 0:
                weight = cells[2 * one - 2]
                emit_single(
                    rules, side, words, (one - 1) * width, weight if comes else -weight, cursor,
                    out_words, out_weights,
                )  # fmt: skip
            one = link & IDS
