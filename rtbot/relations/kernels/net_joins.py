"""The loop of joins over a transaction that changes rows of one side, each row once.

What it changes of the join is then the product of its rows with those of the other side, row by
row: nothing has to be summed first, and nothing is noted but where the join key of every row is.
Names are as in joining.py and join_index.py; `o_` is the other side. `keys` has a word for every
row of the transaction, and behind these the keys that have lost their last row.
"""

from rtbot.relations.kernels.join_index import (
    FOUND,
    JOIN_AT,
    JOIN_ROW,
    JOINED,
    KEY_CELLS,
    NEEDED,
    ROOM_KEYS,
    ROOM_LEFT,
    ROOM_OUT,
    UNDO,
    UNFIT,
    fetch_keys,
    find_chained,
    find_row,
    guess_id,
    link_row,
    read_key,
    unlink_row,
)
from rtbot.relations.kernels.join_output import (
    AHEAD,
    EMITS,
    LEFT,
    LEFT_WIDTH,
    MATCHED,
    OUT_WIDTH,
    PAIRS,
    ROWS_MOST,
    UNMATCHED,
    emit_single,
    exceeds,
    write_joined,
)
from rtbot.relations.kernels.weighing import MOST
from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    IDS,
    LIMIT,
    ROWS,
    find_entry,
    find_id,
    free_id,
    hash_key,
    prefetch,
    remove_entry,
    take_id,
)

NO_KEY, NULL_KEY = -1, -2
"""Of a row whose key no row has, and of one whose key is null."""


def fetch_partners(
    side, row, ahead, begin, end, weights, tags, key_tags, keys, words, width, cells, table,
    o_words, o_width, o_cells, k_cells, k_table,
):  # fmt: skip
    """Bring what the next rows will find on both sides into the caches, behind `fetch_keys`.

    Those from `begin` to `end` - 1 are of the transaction, whose `keys` are known.
    """
    size, last = len(table), min(row + ahead, len(key_tags))
    for at in range(row, last):
        if at < end:
            prefetch(k_cells, keys[at - begin] * KEY_CELLS)
        if size > 0:
            prefetch(table, (tags[at] * size) >> 31)
    for at in range(row, last):
        one = keys[at - begin] if at < end else guess_id(k_table, key_tags[at] & IDS)
        cell = max(one, 0) * KEY_CELLS
        other = k_cells[cell + 1 - side] - 1
        prefetch(cells, 2 * k_cells[cell + side] - 1)
        prefetch(o_cells, 2 * other)
        prefetch(o_words, other * o_width)
        prefetch(o_words, other * o_width + o_width - 1)
        if size > 0 and weights[at] < 0:
            one = guess_id(table, tags[at])
            prefetch(cells, 2 * one)
            prefetch(words, one * width)
            prefetch(words, one * width + width - 1)


def join_net_rows(
    side, rules, starts, given, weights, tags, key_tags, words, cells, table, meta, places, nulls,
    o_words, o_cells, k_words, k_cells, k_table, k_meta, keys, k_parts, k_bits, safe, key, cursor,
    out_words, out_weights,
):  # fmt: skip
    """Take a transaction: DONE, or what has no room for NEEDED rows, and nothing has changed then.

    With UNFIT it is to be gathered, and nothing has changed. With UNDO it is bad, and the rows
    before JOIN_ROW are to be taken back.
    """
    code = find_net_keys(
        side, rules, starts, given, weights, key_tags, meta, places, nulls, k_words, k_cells,
        k_table, k_meta, keys, k_parts, k_bits, safe, key, cursor, out_weights,
    )  # fmt: skip
    if code != DONE:
        return code
    ahead, width, begin = rules[AHEAD], rules[LEFT_WIDTH + side], cursor[JOINED]
    first, last = starts[cursor[JOIN_AT]], starts[cursor[JOIN_AT] + 1]
    count = lost = last - first
    for row in range(first, last):
        if ahead > 0 and row & (ahead - 1) == 0:
            fetch_partners(
                side, row, ahead, first, last, weights, tags, key_tags, keys, words, width, cells,
                table, o_words, rules[LEFT_WIDTH + 1 - side], o_cells, k_cells, k_table,
            )  # fmt: skip
        one = keys[row - first]
        if one == NULL_KEY:
            if rules[LEFT + side] == UNMATCHED:
                at, weight = row * width, weights[row]
                emit_single(rules, side, given, at, weight, cursor, out_words, out_weights)
            continue
        if one == NO_KEY:
            read_key(given, row * width, places, nulls, safe, key)
            one = put_key(key, key_tags[row], k_words, k_cells, k_table, k_meta, k_parts, k_bits)
        if not take_net_row(
            side, rules, given, row, weights[row], tags, words, cells, table, meta, o_words,
            o_cells, k_cells, one, cursor, out_words, out_weights,
        ):  # fmt: skip
            cursor[JOINED], cursor[JOIN_ROW] = begin, row
            return UNDO
        if k_cells[one * KEY_CELLS + 2] + k_cells[one * KEY_CELLS + 3] == 0:
            keys[lost] = one
            lost += 1
    drop_keys(count, lost, keys, len(key), k_words, k_cells, k_table, k_meta, k_parts, k_bits)
    return DONE


def take_net_row(
    side, rules, given, row, weight, tags, words, cells, table, meta, o_words, o_cells, k_cells,
    one, cursor, out_words, out_weights,
):  # fmt: skip
    """Take a row with the join key `one`; False if it is bad, and nothing has changed then."""
    width = rules[LEFT_WIDTH + side]
    at, head = row * width, one * KEY_CELLS + side
    place, found, before = 0, -1, 0
    if len(table) == 0:
        found = find_chained(given, at, width, words, cells, k_cells[head])
    else:
        place = find_row(table, tags[row], given, at, words, width)
        if table[place] != EMPTY:
            found = table[place] & IDS
    if found >= 0:
        before = cells[2 * found]
    after = before + weight
    if weight > MOST - before or after < 0:
        return False
    other = one * KEY_CELLS + 1 - side
    if rules[EMITS] != 0 and not emit_net_row(
        side, rules, given, at, weight, after, o_words, o_cells, k_cells[other],
        k_cells[other + 2], cursor, out_words, out_weights,
    ):  # fmt: skip
        return False
    if found < 0:
        found = take_id(meta, given, at, words, width)
        link_row(found, head, cells, k_cells)
        k_cells[head + 2] += 1
        if len(table) > 0:
            table[place] = (tags[row] << 32) | found
    elif after == 0:
        unlink_row(found, head, cells, k_cells)
        if len(table) > 0:
            remove_entry(table, place)
        free_id(meta, found, words, width)
        k_cells[head + 2] -= 1
    cells[2 * found] = after
    return True


def find_net_keys(
    side, rules, starts, given, weights, key_tags, meta, places, nulls, k_words, k_cells, k_table,
    k_meta, keys, k_parts, k_bits, safe, key, cursor, out_weights,
):  # fmt: skip
    """Find the keys of a transaction, and whether there is room: DONE, UNFIT or what has none.

    Called again for the same transaction, it has what it found.
    """
    width, ahead = rules[LEFT_WIDTH + side], rules[AHEAD]
    first, last = starts[cursor[JOIN_AT]], starts[cursor[JOIN_AT] + 1]
    if cursor[FOUND] == cursor[JOIN_AT] + 1:
        return check_room(side, rules, last - first, meta, k_meta, cursor, out_weights)
    pairs, inserts, missing = 0, 0, 0
    for row in range(first, last):
        if ahead > 0 and row & (ahead - 1) == 0:
            fetch_keys(key_tags, row, ahead, k_table, k_words, len(key), k_cells)
        if key_tags[row] < 0:
            keys[row - first] = NULL_KEY
            continue
        if weights[row] > 0:
            inserts += 1
        read_key(given, row * width, places, nulls, safe, key)
        place = find_entry(k_table, key_tags[row], key, 0, k_words, len(key), k_parts, k_bits)
        entry = k_table[place]
        if entry != EMPTY:
            keys[row - first] = entry & IDS
            if rules[PAIRS] != 0:
                pairs += k_cells[(entry & IDS) * KEY_CELLS + 3 - side]
        elif weights[row] < 0:
            return UNFIT
        else:
            keys[row - first] = NO_KEY
            missing += 1
    cursor[FOUND] = cursor[JOIN_AT] + 1
    cursor[FOUND + 1] = pairs
    cursor[FOUND + 2] = inserts
    cursor[FOUND + 3] = missing
    return check_room(side, rules, last - first, meta, k_meta, cursor, out_weights)


def check_room(side, rules, rows, meta, k_meta, cursor, out_weights):
    """Whether there is room for what a transaction emits and remembers, as `join_net_rows`."""
    pairs = cursor[FOUND + 1]
    if rules[EMITS] != 0:
        if pairs + rows > rules[ROWS_MOST]:
            return UNFIT
        cursor[NEEDED] = pairs + (rows if rules[LEFT + side] != 0 else 0)
        if cursor[JOINED] + cursor[NEEDED] > len(out_weights):
            return ROOM_OUT
    cursor[NEEDED] = meta[ROWS] + cursor[FOUND + 2]
    if cursor[NEEDED] > meta[LIMIT]:
        return ROOM_LEFT + side
    cursor[NEEDED] = k_meta[ROWS] + cursor[FOUND + 3]
    return ROOM_KEYS if cursor[NEEDED] > k_meta[LIMIT] else DONE


def put_key(key, tag, k_words, k_cells, k_table, k_meta, k_parts, k_bits):
    """The id of a join key, which is put into the table if it is not there."""
    width = len(key)
    place = find_entry(k_table, tag, key, 0, k_words, width, k_parts, k_bits)
    if k_table[place] == EMPTY:
        new = take_id(k_meta, key, 0, k_words, width)
        for part in range(KEY_CELLS):
            k_cells[new * KEY_CELLS + part] = 0
        k_table[place] = (tag << 32) | new
    return k_table[place] & IDS


def emit_net_row(
    side, rules, given, at, weight, after, o_words, o_cells, other, others, cursor, out_words,
    out_weights,
):  # fmt: skip
    """Emit what a row changes: its pairs with a chain of `others` rows, or itself if it is alone.

    False if a weight has no int64.
    """
    mode = rules[LEFT + side]
    if mode != 0 and (others > 0) == (mode == MATCHED):
        emit_single(rules, side, given, at, weight, cursor, out_words, out_weights)
    if rules[PAIRS] == 0:
        return True
    out, width = cursor[JOINED], rules[OUT_WIDTH]
    while other > 0:
        partner = o_cells[2 * other - 2]
        if exceeds(after, partner):
            return False
        second = (other - 1) * rules[LEFT_WIDTH + 1 - side]
        if side == 0:
            write_joined(rules, width, given, at, o_words, second, out_words, out * width)
        else:
            write_joined(rules, width, o_words, second, given, at, out_words, out * width)
        out_weights[out] = weight * partner
        out += 1
        other = o_cells[2 * other - 1] & IDS
    cursor[JOINED] = out
    return True


def drop_keys(first, last, keys, width, k_words, k_cells, k_table, k_meta, k_parts, k_bits):
    """Take keys of which no side has a row out of their table; one may be in `keys` twice."""
    for index in range(first, last):
        one = keys[index]
        count = one * KEY_CELLS + 2
        if k_cells[count] == 0 and k_cells[count + 1] == 0:
            tag = hash_key(k_words, one * width, k_parts, k_bits)
            remove_entry(k_table, find_id(k_table, (tag << 32) | one))
            free_id(k_meta, one, k_words, width)
            k_cells[count] = -1
    for index in range(first, last):
        count = keys[index] * KEY_CELLS + 2
        k_cells[count] = max(k_cells[count], 0)
