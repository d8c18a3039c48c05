"""Loops over the state of joins: the rows of both sides, in a chain for every join key.

They follow the rules of hash_tables.py. `cells` of a row: its weight, and the links of its chain:
`next | previous << 31`, ids plus one, 0 at an end. A table finds a row by the hash of its unique
key, or of all of it; without one (length 0) it is found in its chain, which is short then. `cells`
of a join key: the first row of the left chain and of the right one, ids plus one, and how many rows
of each are there. Of a side that is only counted there are no rows: the sum of its weights counts.

While a transaction is gathered, the weight of a touched row (MARK in its links) is its number in
`touched` of its side, and the left count of a touched key (TOUCHED in its entry) is its number in
`k_touched`. A row whose key is null is in no chain: in `touched`, its id is -1 - its place in the
input. `cursor`: transaction, stage (the side that is gathered, then GATHERED), row, touched rows of
both sides, touched keys, rows out, rows there have to be room for, rows of both sides that are out
of all chains and whose ids wait, a chain of them, and what `find_net_keys` has found: behind which
transaction, pairs, inserts, keys that are not there.
"""

from rtbot.relations.kernels.weighing import EXCESS, MOST, OVERFLOW
from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    HALF,
    IDS,
    TOUCHED,
    fetch_rows,
    find_entry,
    find_id,
    free_id,
    has_room,
    hash_key,
    is_same_row,
    prefetch,
    remove_entry,
    take_id,
)

JOIN_AT, STAGE, JOIN_ROW, ROWS_TOUCHED, KEYS_TOUCHED, JOINED, NEEDED, WAITING, FOUND = (
    0, 1, 2, 3, 5, 6, 7, 8, 10,
)  # fmt: skip
JOIN_CURSOR = 14
"""Words of a cursor."""

GATHERED = 2
ROOM_LEFT, ROOM_RIGHT, ROOM_KEYS, ROOM_OUT, SETTLE, TOO_MANY = 10, 11, 12, 13, 14, 15
UNFIT, UNDO = 16, 17

ROW_ID, ROW_TAG, ROW_BEFORE, ROW_AFTER, ROW_KEY, ROW_HIGH, ROW_LOW, ROW_BAD = 0, 1, 2, 3, 4, 5, 6, 7
ROW_PARTS = 8
"""Words of a touched row."""

KEY_ENTRY, KEY_BEFORE, KEY_AFTER, KEY_LENGTH, KEY_CHANGED, KEY_HIGH, KEY_LOW = 0, 1, 3, 5, 7, 9, 10
KEY_PARTS = 11
"""Words of a touched key; those from KEY_BEFORE to KEY_CHANGED are pairs, left and right."""

MARK = 1 << 62
PREVIOUS = IDS << 31
KEY_CELLS = 4


def read_key(words, first, places, nulls, safe, key):
    """Copy the join key of the row at `first` to `key`; False if it is null and so equals none.

    `nulls` has for every part the word of its null bit, 0 if it has none, and the bit.
    """
    masked = 0
    for part in range(len(places)):
        key[part] = words[first + places[part]]
        word = nulls[2 * part]
        if word > 0 and words[first + word] & nulls[2 * part + 1] != 0:
            if safe[part] == 0:
                return False
            masked |= 1 << part
    if len(key) > len(places):
        key[len(places)] = masked
    return True


def hash_joined_rows(
    given, width, parts, bits, places, nulls, safe, key, k_parts, k_bits, tags, key_tags
):
    """Hash rows, unless `tags` has no room, and their join keys: -1 for one that equals none."""
    for row in range(len(key_tags)):
        if len(tags) > 0:
            tags[row] = hash_key(given, row * width, parts, bits)
        key_tags[row] = -1
        if read_key(given, row * width, places, nulls, safe, key):
            key_tags[row] = hash_key(key, 0, k_parts, k_bits)


def guess_id(table, tag):
    """The first id with this hash, 0 if there is none: good enough to read in advance."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY and entry >> 32 != tag:
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return entry & IDS if entry != EMPTY else 0


def fetch_keys(tags, first, ahead, table, known, width, cells):
    """Bring what the next rows will find of their join keys into the caches."""
    size = len(table)
    last = min(first + ahead, len(tags))
    for row in range(first, last):
        prefetch(table, ((tags[row] & IDS) * size) >> 31)
    for row in range(first, last):
        one = guess_id(table, tags[row] & IDS)
        prefetch(known, one * width)
        prefetch(cells, one * KEY_CELLS)


def fetch_gathered(
    tags, key_tags, first, ahead, words, width, cells, table, k_words, k_cells, k_table
):
    """Bring what the next rows will find of their join keys and of their side into the caches."""
    k_width = len(k_words) * KEY_CELLS // len(k_cells)
    fetch_keys(key_tags, first, ahead, k_table, k_words, k_width, k_cells)
    if len(table) > 0:
        fetch_rows(tags, first, ahead, table, words, width, cells, 2)


def gather_side(
    side, counted, sign, ahead, starts, given, weights, tags, key_tags, width, words, cells, table,
    meta, touched, places, nulls, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits,
    safe, key, cursor,
):  # fmt: skip
    """Sum the weights of the rows of a side in a transaction: DONE, or what has no room."""
    at = cursor[JOIN_AT]
    for row in range(max(starts[at], cursor[JOIN_ROW]), starts[at + 1]):
        cursor[JOIN_ROW] = row
        if ahead > 0 and row % ahead == 0:
            fetch_gathered(
                tags, key_tags, row, ahead, words, width, cells, table, k_words, k_cells, k_table
            )
        high, low = sign * (weights[row] >> 32), sign * (weights[row] & HALF)
        if key_tags[row] < 0:
            if not counted:
                note_keyless_row(side, sign, row, weights, touched, cursor)
            continue
        read_key(given, row * width, places, nulls, safe, key)
        tag = key_tags[row]
        index = touch_join_key(
            key, tag, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, cursor
        )
        if index < 0:
            return ROOM_KEYS
        if counted:
            k_touched[index * KEY_PARTS + KEY_HIGH] += high
            k_touched[index * KEY_PARTS + KEY_LOW] += low
            continue
        found = touch_joined_row(
            side, index, given, row, tags, width, words, cells, table, meta, touched, k_cells,
            k_touched, cursor,
        )  # fmt: skip
        if found < 0:
            return ROOM_LEFT + side
        touched[found * ROW_PARTS + ROW_HIGH] += high
        touched[found * ROW_PARTS + ROW_LOW] += low
    cursor[JOIN_ROW] = 0
    cursor[STAGE] = side + 1
    return DONE


def note_keyless_row(side, sign, row, weights, touched, cursor):
    """Note a row that no row of the other side can match; nothing remembers it."""
    base = cursor[ROWS_TOUCHED + side] * ROW_PARTS
    cursor[ROWS_TOUCHED + side] += 1
    touched[base + ROW_ID] = -1 - row
    touched[base + ROW_BEFORE] = 0
    touched[base + ROW_AFTER] = weights[row] if sign > 0 else 0
    touched[base + ROW_KEY] = -1
    touched[base + ROW_BAD] = 0


def touch_join_key(key, tag, k_words, k_cells, k_table, k_meta, k_touched, k_parts, k_bits, cursor):
    """The number of a join key in its transaction; -1 if there is no room for it."""
    width = len(key)
    place = find_entry(k_table, tag, key, 0, k_words, width, k_parts, k_bits)
    entry = k_table[place]
    if entry == EMPTY:
        if not has_room(k_meta):
            return -1
        new = take_id(k_meta, key, 0, k_words, width)
        entry = (tag << 32) | new
        for part in range(KEY_CELLS):
            k_cells[new * KEY_CELLS + part] = 0
    first = (entry & IDS) * KEY_CELLS
    if entry & TOUCHED == 0:
        index = cursor[KEYS_TOUCHED]
        cursor[KEYS_TOUCHED] = index + 1
        k_table[place] = entry | TOUCHED
        base = index * KEY_PARTS
        k_touched[base + KEY_ENTRY] = entry
        for side in range(2):
            count = k_cells[first + 2 + side]
            k_touched[base + KEY_BEFORE + side] = count
            k_touched[base + KEY_AFTER + side] = count
            k_touched[base + KEY_LENGTH + side] = count
            k_touched[base + KEY_CHANGED + side] = 0
        k_touched[base + KEY_HIGH] = 0
        k_touched[base + KEY_LOW] = 0
        k_cells[first + 2] = index
    return k_cells[first + 2]


def touch_joined_row(
    side, key, given, row, tags, width, words, cells, table, meta, touched, k_cells, k_touched,
    cursor,
):  # fmt: skip
    """The number of a row in its transaction; -1 if its side has no room for it."""
    head = (k_touched[key * KEY_PARTS + KEY_ENTRY] & IDS) * KEY_CELLS + side
    tag, place = 0, 0
    found = -1
    if len(table) == 0:
        found = find_chained(given, row * width, width, words, cells, k_cells[head])
    else:
        tag = tags[row]
        place = find_row(table, tag, given, row * width, words, width)
        if table[place] != EMPTY:
            found = table[place] & IDS
    if found < 0:
        if not has_room(meta):
            return -1
        found = take_id(meta, given, row * width, words, width)
        cells[2 * found] = 0
        link_row(found, head, cells, k_cells)
        if len(table) > 0:
            table[place] = (tag << 32) | found
    link = cells[2 * found + 1]
    if link & MARK == 0:
        index = cursor[ROWS_TOUCHED + side]
        cursor[ROWS_TOUCHED + side] = index + 1
        base = index * ROW_PARTS
        touched[base + ROW_ID] = found
        touched[base + ROW_TAG] = tag
        touched[base + ROW_BEFORE] = cells[2 * found]
        touched[base + ROW_KEY] = key
        touched[base + ROW_HIGH] = 0
        touched[base + ROW_LOW] = 0
        touched[base + ROW_BAD] = 0
        cells[2 * found] = index
        cells[2 * found + 1] = link | MARK
    return cells[2 * found]


def find_row(table, tag, words, first, known, width):
    """Where the table has the row at `first`, or the empty place where it belongs."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY:
        if entry >> 32 == tag and is_same_row(words, first, known, (entry & IDS) * width, width):
            return place
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return place


def find_chained(words, first, width, known, cells, head):
    """The id of the row at `first` in a chain, or -1."""
    one = head
    while one > 0:
        if is_same_row(words, first, known, (one - 1) * width, width):
            return one - 1
        one = cells[2 * one - 1] & IDS
    return -1


def link_row(new, head, cells, k_cells):
    """Put a row in front of its chain."""
    second = k_cells[head]
    cells[2 * new + 1] = second
    if second > 0:
        cells[2 * second - 1] |= (new + 1) << 31
    k_cells[head] = new + 1


def unlink_row(gone, head, cells, k_cells):
    """Take a row out of its chain."""
    link = cells[2 * gone + 1]
    after, before = link & IDS, (link >> 31) & IDS
    if after > 0:
        cells[2 * after - 1] = (cells[2 * after - 1] & ~PREVIOUS) | (before << 31)
    if before > 0:
        cells[2 * before - 1] = (cells[2 * before - 1] & ~IDS) | after
    else:
        k_cells[head] = after
    cells[2 * gone + 1] = 0


def sum_side(side, touched, k_touched, cursor):
    """Sum the weights of touched rows, and count rows of their keys: DONE, or the worst code."""
    worst = DONE
    for index in range(cursor[ROWS_TOUCHED + side]):
        base = index * ROW_PARTS
        if touched[base + ROW_KEY] < 0:
            continue
        before = touched[base + ROW_BEFORE]
        code, after = add_halves(before, touched[base + ROW_HIGH], touched[base + ROW_LOW])
        worst = max(worst, code)
        touched[base + ROW_BAD] = code
        touched[base + ROW_AFTER] = after
        key = touched[base + ROW_KEY] * KEY_PARTS + side
        if before == 0:
            k_touched[key + KEY_LENGTH] += 1
            k_touched[key + KEY_AFTER] += 1
        if after == 0:
            k_touched[key + KEY_AFTER] -= 1
        if after != before:
            k_touched[key + KEY_CHANGED] += 1
    return worst


def sum_counted(k_touched, cursor):
    """Sum the weights of the right rows of touched keys, of which nothing else is known."""
    worst = DONE
    for index in range(cursor[KEYS_TOUCHED]):
        base = index * KEY_PARTS
        before = k_touched[base + KEY_BEFORE + 1]
        code, after = add_halves(before, k_touched[base + KEY_HIGH], k_touched[base + KEY_LOW])
        worst = max(worst, code)
        k_touched[base + KEY_AFTER + 1] = after
    return worst


def add_halves(before, high, low):
    """A weight and the change whose halves were summed: (DONE, OVERFLOW or EXCESS, the weight)."""
    upper = high + (low >> 32)
    if upper >= 0x80000000:
        return OVERFLOW, 0
    if upper < -0x80000000:
        return EXCESS, 0
    change = (upper << 32) | (low & HALF)
    if change > MOST - before:
        return OVERFLOW, 0
    if before + change < 0:
        return EXCESS, 0
    return DONE, before + change


def finish_side(
    side, which, waits, width, words, cells, table, meta, touched, k_cells, k_touched, cursor
):
    """Store the weights of touched rows, ROW_BEFORE or ROW_AFTER; one without weight goes.

    With `waits` the ids of rows that go are not used again until `free_waiting`.
    """
    for index in range(cursor[ROWS_TOUCHED + side]):
        base = index * ROW_PARTS
        one = touched[base + ROW_ID]
        if one < 0:
            continue
        weight = touched[base + which]
        cells[2 * one] = weight
        cells[2 * one + 1] &= ~MARK
        if weight != 0:
            continue
        key = k_touched[touched[base + ROW_KEY] * KEY_PARTS + KEY_ENTRY] & IDS
        unlink_row(one, key * KEY_CELLS + side, cells, k_cells)
        if len(table) > 0:
            remove_entry(table, find_id(table, (touched[base + ROW_TAG] << 32) | one))
        if waits:
            cells[2 * one + 1] = cursor[WAITING + side]
            cursor[WAITING + side] = one + 1
        else:
            free_id(meta, one, words, width)
    cursor[ROWS_TOUCHED + side] = 0


def free_waiting(side, width, words, cells, meta, cursor):
    """Let the ids of rows that went be used again."""
    one = cursor[WAITING + side]
    while one > 0:
        after = cells[2 * one - 1]
        cells[2 * one - 1] = 0
        free_id(meta, one - 1, words, width)
        one = after
    cursor[WAITING + side] = 0


def finish_keys(which, k_width, k_words, k_cells, k_table, k_meta, k_touched, cursor):
    """Store the counts of touched keys, KEY_BEFORE or KEY_AFTER; one without rows goes."""
    for index in range(cursor[KEYS_TOUCHED]):
        base = index * KEY_PARTS
        entry = k_touched[base + KEY_ENTRY]
        place = find_id(k_table, entry)
        first = (entry & IDS) * KEY_CELLS
        left, right = k_touched[base + which], k_touched[base + which + 1]
        k_cells[first + 2] = left
        k_cells[first + 3] = right
        if left == 0 and right == 0:
            remove_entry(k_table, place)
            free_id(k_meta, entry & IDS, k_words, k_width)
        else:
            k_table[place] = entry
    cursor[KEYS_TOUCHED] = 0
