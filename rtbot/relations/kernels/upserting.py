"""Loops of sources with a unique key: puts and deletes become deletes of old and inserts of new.

They follow the rules of hash_tables.py. `counts` is 1 for a row that is there. While a transaction
is gathered, it is `~` of the number of the row in the transaction: of a number, `entries` has the
entry, `before` the count, and `puts` the row that is put last, -1 if none is. `cursor` is as in
weighing.py.
"""

from rtbot.relations.kernels.weighing import AT, COUNT, CURSOR, OUT, ROW
from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    IDS,
    ROOM,
    copy_row,
    fetch_entries,
    fetch_rows,
    find_entry,
    find_id,
    free_id,
    has_room,
    hash_key,
    is_same_row,
    remove_entry,
    take_id,
)

CONFLICT = 4


def upsert_transactions(
    last_wins, ahead, starts, words, weights, tags, width, places, bits, table, known, counts, meta,
    entries, before, puts, cursor, out_words, out_weights, out_starts, absent,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, ROOM (call again) or CONFLICT.

    A transaction that is bad leaves nothing behind. `out_words` has room for two rows for every one
    of the input. Keys that are deleted, but not there, are counted in `absent`.
    """
    while cursor[AT] < len(out_starts) - 1:
        code = gather_puts(
            last_wins, ahead, starts, words, weights, tags, width, places, bits, table, known,
            counts, meta,
            entries, before, puts, cursor,
        )  # fmt: skip
        if code == ROOM:
            return ROOM
        if code == CONFLICT:
            for index in range(cursor[COUNT]):
                finish_put(index, before[index], width, table, known, counts, meta, entries)
            cursor[COUNT] = 0
            return CONFLICT
        write_puts(
            ahead, words, width, table, known, counts, meta, entries, before, puts, cursor,
            out_words, out_weights, absent,
        )  # fmt: skip
        cursor[AT] += 1
        cursor[COUNT] = 0
        out_starts[cursor[AT]] = cursor[OUT]
    return DONE


def upsert_few(
    last_wins, starts, words, weights, tags, width, places, bits, table, known, counts, meta,
    entries, before, puts, cursor, out_words, out_weights, out_starts, absent,
):  # fmt: skip
    """Take one transaction: DONE, ROOM (call again) or CONFLICT; the cursor is all 0.

    As `upsert_transactions`, without what pays for many rows only. `tags` are found here.
    """
    for row in range(starts[1]):
        tags[row] = hash_key(words, row * width, places, bits)
    code = gather_puts(
        last_wins, 0, starts, words, weights, tags, width, places, bits, table, known, counts, meta,
        entries, before, puts, cursor,
    )  # fmt: skip
    if code == ROOM:
        return ROOM
    absent[0] = 0
    if code == DONE:
        write_puts(
            0, words, width, table, known, counts, meta, entries, before, puts, cursor,
            out_words, out_weights, absent,
        )  # fmt: skip
        out_starts[1] = cursor[OUT]
    else:
        for index in range(cursor[COUNT]):
            finish_put(index, before[index], width, table, known, counts, meta, entries)
    for word in range(CURSOR):
        cursor[word] = 0
    return code


def gather_puts(
    last_wins, ahead, starts, words, weights, tags, width, places, bits, table, known, counts, meta,
    entries, before, puts, cursor,
):  # fmt: skip
    """Find what is put for every key of a transaction: DONE, ROOM or CONFLICT."""
    first = max(starts[cursor[AT]], cursor[ROW])
    for row in range(first, starts[cursor[AT] + 1]):
        cursor[ROW] = row
        if ahead > 0 and row & (ahead - 1) == 0:
            fetch_rows(tags, row, ahead, table, known, width, counts, 1)
        index = touch_key(
            words, row, tags[row], width, places, bits, table, known, counts, meta, entries,
            before, puts,
            cursor,
        )  # fmt: skip
        if index < 0:
            return ROOM
        put = puts[index]
        if weights[row] > 0:
            same = put < 0 or is_same_row(words, row * width, words, put * width, width)
            if not same and not last_wins:
                return CONFLICT
            puts[index] = row
    cursor[ROW] = starts[cursor[AT] + 1]
    return DONE


def touch_key(
    words, row, tag, width, places, bits, table, known, counts, meta, entries, before, puts, cursor
):
    """The number of a row's key in its transaction; -1 if the store has no room."""
    place = find_entry(table, tag, words, row * width, known, width, places, bits)
    entry = table[place]
    if entry == EMPTY:
        if not has_room(meta):
            return -1
        new = take_id(meta, words, row * width, known, width)
        entry = (tag << 32) | new
        table[place] = entry
        counts[new] = 0
    index = ~counts[entry & IDS]
    if index < 0:
        index = cursor[COUNT]
        cursor[COUNT] = index + 1
        entries[index] = entry
        before[index] = counts[entry & IDS]
        puts[index] = -1
        counts[entry & IDS] = ~index
    return index


def write_puts(
    ahead, words, width, table, known, counts, meta, entries, before, puts, cursor, out_words,
    out_weights, absent,
):  # fmt: skip
    """Emit the old and the new rows of a transaction, and store the new ones."""
    out = cursor[OUT]
    for index in range(cursor[COUNT]):
        if ahead > 0 and cursor[COUNT] > ahead and index & (ahead - 1) == 0:
            last = min(index + ahead, cursor[COUNT])
            fetch_entries(entries, index, last, known, width, counts, 1)
        stored = (entries[index] & IDS) * width
        put = puts[index]
        there = before[index] != 0
        same = there and put >= 0 and is_same_row(words, put * width, known, stored, width)
        if there and not same:
            copy_row(known, stored, out_words, out * width, width)
            out_weights[out] = -1
            out += 1
        if put >= 0 and not same:
            copy_row(words, put * width, known, stored, width)
            copy_row(words, put * width, out_words, out * width, width)
            out_weights[out] = 1
            out += 1
        if put < 0 and not there:
            absent[cursor[AT]] += 1
        after = 1 if put >= 0 else 0
        finish_put(index, after, width, table, known, counts, meta, entries)
    cursor[OUT] = out


def finish_put(index, count, width, table, known, counts, meta, entries):
    """Store that a touched row is there, or take it out."""
    entry = entries[index]
    counts[entry & IDS] = count
    if count == 0:
        remove_entry(table, find_id(table, entry))
        free_id(meta, entry & IDS, known, width)


def revert_upserts(starts, words, weights, width, places, bits, table, known, counts, meta):
    """Take back changes that were emitted, the last transaction first; there is always room."""
    for back in range(len(starts) - 1):
        at = len(starts) - 2 - back
        for row in range(starts[at], starts[at + 1]):
            if weights[row] > 0:
                tag = hash_key(words, row * width, places, bits)
                place = find_entry(table, tag, words, row * width, known, width, places, bits)
                gone = table[place] & IDS
                remove_entry(table, place)
                counts[gone] = 0
                free_id(meta, gone, known, width)
        for row in range(starts[at], starts[at + 1]):
            if weights[row] < 0:
                tag = hash_key(words, row * width, places, bits)
                place = find_entry(table, tag, words, row * width, known, width, places, bits)
                new = take_id(meta, words, row * width, known, width)
                counts[new] = 1
                table[place] = (tag << 32) | new
