"""The loop of rows that expire: each copy goes a fixed time after it came.

Entries are in the order in which they came: ENTRY words each, the id of the row, the time, how many
copies are left, and the next entry of the row or -1. A row has its first and last entry with copies
in `cells`. The first entries up to `cursor[FIRST_ENTRY]` have expired.
"""

from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    IDS,
    ROOM,
    copy_row,
    find_entry,
    find_id,
    free_id,
    has_room,
    hash_key,
    remove_entry,
    take_id,
)

ENTRY = 4
CAME, LEFT_COPIES, NEXT_COPIES = 1, 2, 3
EXPIRY_CURSOR = 5
READ_ROW, FIRST_ENTRY, LAST_ENTRY, EMITTED, GONE = 0, 1, 2, 3, 4
"""The row that is read next, the entries there are, rows emitted, deletes without effect."""
ROOM_ENTRIES, ROOM_EMITTED = 2, 3
LEAST_TIME = -0x7FFFFFFFFFFFFFFF - 1


def expire_rows(
    ttl, times, words, weights, width, places, bits, table, known, cells, meta, entries, cursor,
    out_times, out_words, out_weights,
):  # fmt: skip
    """Take rows, whose times ascend; emit them, and deletes of what expires up to each.

    DONE, or what is full: ROOM of rows, ROOM_ENTRIES, ROOM_EMITTED. It goes on at the cursor.
    """
    while cursor[READ_ROW] < len(times):
        row = cursor[READ_ROW]
        time = times[row]
        code = expire_until(
            ttl, time, width, places, bits, table, known, cells, meta, entries, cursor,
            out_times, out_words, out_weights,
        )  # fmt: skip
        if code != DONE:
            return code
        if cursor[EMITTED] == len(out_times):
            return ROOM_EMITTED
        if weights[row] > 0:
            if not has_room(meta):
                return ROOM
            if (cursor[LAST_ENTRY] + 1) * ENTRY > len(entries):
                return ROOM_ENTRIES
            add_entry(
                words, row * width, time, weights[row],
                width, places, bits, table, known, cells, meta, entries, cursor,
            )  # fmt: skip
            change = weights[row]
        else:
            change = -take_oldest(
                words, row * width, -weights[row],
                width, places, bits, table, known, cells, meta, entries,
            )  # fmt: skip
        if change != 0:
            emit_expiry(
                time, words, row * width, change, width, cursor, out_times, out_words, out_weights
            )
        else:
            cursor[GONE] += 1
        cursor[READ_ROW] = row + 1
    skip_empty(entries, cursor)
    return DONE


def expire_until(
    ttl, time, width, places, bits, table, known, cells, meta, entries, cursor, out_times,
    out_words, out_weights,
):  # fmt: skip
    """Emit deletes of all that expires up to a time."""
    while cursor[FIRST_ENTRY] < cursor[LAST_ENTRY] and time >= LEAST_TIME + ttl:
        entry = cursor[FIRST_ENTRY] * ENTRY
        if entries[entry + CAME] > time - ttl:
            break
        copies = entries[entry + LEFT_COPIES]
        if copies > 0:
            if cursor[EMITTED] == len(out_times):
                return ROOM_EMITTED
            row = entries[entry]
            emit_expiry(
                entries[entry + CAME] + ttl, known, row * width, -copies, width, cursor, out_times,
                out_words, out_weights,
            )  # fmt: skip
            entries[entry + LEFT_COPIES] = 0
            leave_entry(row, width, places, bits, table, known, cells, meta, entries)
        cursor[FIRST_ENTRY] += 1
    return DONE


def skip_empty(entries, cursor):
    """Go on to the first entry that has copies."""
    while cursor[FIRST_ENTRY] < cursor[LAST_ENTRY]:
        if entries[cursor[FIRST_ENTRY] * ENTRY + LEFT_COPIES] > 0:
            break
        cursor[FIRST_ENTRY] += 1


def emit_expiry(time, words, first, weight, width, cursor, out_times, out_words, out_weights):
    """Emit a change of the row at `first`."""
    out = cursor[EMITTED]
    out_times[out] = time
    copy_row(words, first, out_words, out * width, width)
    out_weights[out] = weight
    cursor[EMITTED] = out + 1


def add_entry(
    words, first, time, copies, width, places, bits, table, known, cells, meta, entries, cursor
):
    """Add an entry of the row at `first` with its time and copies; there must be room."""
    tag = hash_key(words, first, places, bits)
    place = find_entry(table, tag, words, first, known, width, places, bits)
    made = cursor[LAST_ENTRY]
    if table[place] == EMPTY:
        row = take_id(meta, words, first, known, width)
        table[place] = (tag << 32) | row
        cells[2 * row] = made
    else:
        row = table[place] & IDS
        entries[cells[2 * row + 1] * ENTRY + NEXT_COPIES] = made
    cells[2 * row + 1] = made
    entries[made * ENTRY] = row
    entries[made * ENTRY + CAME] = time
    entries[made * ENTRY + LEFT_COPIES] = copies
    entries[made * ENTRY + NEXT_COPIES] = -1
    cursor[LAST_ENTRY] = made + 1


def take_oldest(words, first, copies, width, places, bits, table, known, cells, meta, entries):
    """Take copies of the row at `first` out, the oldest first; return how many there were."""
    tag = hash_key(words, first, places, bits)
    place = find_entry(table, tag, words, first, known, width, places, bits)
    if table[place] == EMPTY:
        return 0
    row = table[place] & IDS
    left = copies
    while left > 0:
        entry = cells[2 * row] * ENTRY
        taken = min(left, entries[entry + LEFT_COPIES])
        entries[entry + LEFT_COPIES] -= taken
        left -= taken
        if entries[entry + LEFT_COPIES] == 0:
            last = entries[entry + NEXT_COPIES] < 0
            leave_entry(row, width, places, bits, table, known, cells, meta, entries)
            if last:
                break
    return copies - left


def leave_entry(row, width, places, bits, table, known, cells, meta, entries):
    """Go on to the next entry of a row whose first one is empty; without any the row goes."""
    following = entries[cells[2 * row] * ENTRY + NEXT_COPIES]
    if following >= 0:
        cells[2 * row] = following
    else:
        tag = hash_key(known, row * width, places, bits)
        remove_entry(table, find_id(table, (tag << 32) | row))
        free_id(meta, row, known, width)
