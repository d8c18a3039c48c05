"""Loops over the rows of a relation, each with a rank, a count of derivations and marks.

All arrays are flat. A row of `rows` has `width` columns, its rank, and its state: marks in the low
bits, the count from COUNT on. `stride` is width + 2. The ids of rows are their places; a row that
is out keeps its place until the relation is packed. `table` finds rows as in hash_tables.py.

`meta` of a relation: how many rows were ever put, how many are in, entries of `log`, of `fresh`
(rows that came in) and of `pending` (rows to be taken out), and how many rows there were, and were
in, when the epoch began. `log` has id, rank and state of every older row before its first change in
the epoch. `fresh`, `pending` and `log` have room for all that one call may add.

`bindings` has a column of `room` places per slot. A source is a slot, or -1 - k for `constants[k]`.
"""

from rtbot.tables.hash_tables import (
    EMPTY,
    HALF,
    IDS,
    find_id,
    fold_product,
    put_entry,
    remove_entry,
)

IN, WAS, FACT, FIXED = 1, 2, 4, 8
LOGGED, DUE, LEAVING, OUT = 16, 32, 64, 128
COUNT = 256
ROWS, ALIVE, LOG_SIZE, FRESH_SIZE, PENDING_SIZE, BASE, BASE_ALIVE = 0, 1, 2, 3, 4, 5, 6
BLOCK = 64


def hash_word(value, word):
    """Hash of what was hashed before and a word: 32 bits."""
    value = fold_product(value ^ (word & HALF), 0x5851F42D)
    return fold_product(value ^ ((word >> 32) & HALF) ^ 0x14057B7E, 0x4C957F2D)


def hash_columns(rows, base, places):
    """Hash of columns of the row at `base`: 31 bits."""
    value = 0x3C6EF372
    for part in range(len(places)):
        value = hash_word(value, rows[base + places[part]])
    return value >> 1


def read_source(bindings, room, at, source, constants):
    """The value of a source in the binding `at`."""
    if source >= 0:
        return bindings[source * room + at]
    return constants[-1 - source]


def hash_sources(bindings, room, at, sources, constants):
    """Hash of sources in the binding `at`: 31 bits."""
    value = 0x3C6EF372
    for part in range(len(sources)):
        value = hash_word(value, read_source(bindings, room, at, sources[part], constants))
    return value >> 1


def fits_sources(bindings, room, at, sources, constants, rows, base, places):
    """Whether columns of the row at `base` are the sources in the binding `at`."""
    for part in range(len(sources)):
        value = read_source(bindings, room, at, sources[part], constants)
        if rows[base + places[part]] != value:
            return False
    return True


def find_key(table, tag, bindings, room, at, sources, constants, rows, stride, places):
    """Where the table has the entry of the key, or the empty place where it belongs."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY:
        if entry >> 32 == tag and fits_sources(
            bindings, room, at, sources, constants, rows, (entry & IDS) * stride, places
        ):
            return place
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return place


def hash_bindings(bindings, room, first, last, sources, constants, tags):
    """Hash bindings."""
    for at in range(first, last):
        tags[at] = hash_sources(bindings, room, at, sources, constants)


def fetch_found(tags, first, last, table, rows, stride):
    """Read what hashes will find: many reads that wait for memory at one time.

    What is read is returned, so that the compiler cannot leave it out.
    """
    size = len(table)
    read = 0
    for at in range(first, last):
        read ^= table[(tags[at] * size) >> 31]
    for at in range(first, last):
        place = (tags[at] * size) >> 31
        entry = table[place]
        while entry != EMPTY and entry >> 32 != tags[at]:
            place = place + 1 if place + 1 < size else 0
            entry = table[place]
        if entry != EMPTY:
            read ^= rows[(entry & IDS) * stride] ^ rows[(entry & IDS) * stride + stride - 1]
    return read


def log_row(rows, base, width, found, log, meta):
    """Note what an older row was before its first change in the epoch."""
    state = rows[base + width + 1]
    if found < meta[BASE] and state & LOGGED == 0:
        place = 3 * meta[LOG_SIZE]
        log[place] = found
        log[place + 1] = rows[base + width]
        log[place + 2] = state
        rows[base + width + 1] = state | LOGGED
        meta[LOG_SIZE] += 1


def put_row(rows, width, table, place, tag, meta, fresh, rank, state):
    """Take the place of a new row, whose columns the caller fills in; it is in."""
    new = meta[ROWS]
    base = new * (width + 2)
    rows[base + width] = rank
    rows[base + width + 1] = state
    table[place] = (tag << 32) | new
    fresh[meta[FRESH_SIZE]] = new
    meta[FRESH_SIZE] += 1
    meta[ROWS] = new + 1
    meta[ALIVE] += 1
    return base


def revive_row(rows, base, width, found, meta, fresh, rank, state):
    """Let a row that is out be in again."""
    rows[base + width] = rank
    rows[base + width + 1] = state | IN
    fresh[meta[FRESH_SIZE]] = found
    meta[FRESH_SIZE] += 1
    meta[ALIVE] += 1


def copy_sources(bindings, room, at, sources, constants, rows, base):
    """Fill in the columns of the row at `base`."""
    for part in range(len(sources)):
        rows[base + part] = read_source(bindings, room, at, sources[part], constants)


def add_derivation(rows, width, found, highest, meta, log, fresh, rank):
    """Count a derivation of a row that was put once."""
    base = found * (width + 2)
    state = rows[base + width + 1]
    if state & IN != 0:
        if highest < rows[base + width]:
            log_row(rows, base, width, found, log, meta)
            rows[base + width + 1] += COUNT
    elif state & OUT == 0:
        log_row(rows, base, width, found, log, meta)
        state = rows[base + width + 1] & (COUNT - 1)
        revive_row(rows, base, width, found, meta, fresh, rank, state | COUNT)


def add_derivations(
    bindings, room, count, sources, constants, ranks, floor, rows, width, places, table,
    meta, log, fresh, rank, tags,
):  # fmt: skip
    """Count the derivations that bindings are; heads that are not in come in, with this rank.

    A derivation counts if its highest rank, in the slot `ranks` (or `floor` if that is -1), is
    below that of its head. Rows that are OUT are left: their derivations are counted when they come
    back.
    """
    stride = width + 2
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        hash_bindings(bindings, room, first, last, sources, constants, tags)
        tags[count] = fetch_found(tags, first, last, table, rows, stride)
        for at in range(first, last):
            place = find_key(
                table, tags[at], bindings, room, at, sources, constants, rows, stride, places
            )
            entry = table[place]
            if entry != EMPTY:
                highest = bindings[ranks * room + at] if ranks >= 0 else floor
                add_derivation(rows, width, entry & IDS, highest, meta, log, fresh, rank)
                continue
            base = put_row(rows, width, table, place, tags[at], meta, fresh, rank, IN | COUNT)
            copy_sources(bindings, room, at, sources, constants, rows, base)


def lose_derivations(
    bindings, room, count, sources, constants, ranks, floor, rows, width, places, table,
    meta, log, pending, tags,
):  # fmt: skip
    """Take the derivations that bindings were from their heads; those without any become DUE.

    Returns how many heads had no derivation to lose, which is a fault of ours.
    """
    stride = width + 2
    faults = 0
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        hash_bindings(bindings, room, first, last, sources, constants, tags)
        tags[count] = fetch_found(tags, first, last, table, rows, stride)
        for at in range(first, last):
            place = find_key(
                table, tags[at], bindings, room, at, sources, constants, rows, stride, places
            )
            entry = table[place]
            if entry == EMPTY:
                faults += 1
                continue
            found = entry & IDS
            base = found * stride
            highest = bindings[ranks * room + at] if ranks >= 0 else floor
            if rows[base + width + 1] & IN == 0 or highest >= rows[base + width]:
                continue
            if rows[base + width + 1] < COUNT:
                faults += 1
                continue
            log_row(rows, base, width, found, log, meta)
            rows[base + width + 1] -= COUNT
            mark_due(rows, base, width, found, meta, pending)
    return faults


def mark_due(rows, base, width, found, meta, pending):
    """Put a row without derivations among those to be taken out, once; it may be a fact."""
    state = rows[base + width + 1]
    if state < COUNT and state & (IN | DUE) == IN:
        rows[base + width + 1] = state | DUE
        pending[meta[PENDING_SIZE]] = found
        meta[PENDING_SIZE] += 1


def count_derivations(bindings, room, count, slot, rows, width):
    """Count derivations of rows that are OUT, whose ids are in a slot."""
    for at in range(count):
        rows[bindings[slot * room + at] * (width + 2) + width + 1] += COUNT


def take_out(ids, count, rows, width, meta, log, marks):
    """Take out those rows that are still due and unsupported; they get marks. Returns how many.

    Their ids go to the front of `ids`.
    """
    taken = 0
    for at in range(count):
        found = ids[at]
        base = found * (width + 2)
        if rows[base + width + 1] >= COUNT or rows[base + width + 1] & (FACT | FIXED) != 0:
            rows[base + width + 1] &= ~DUE
            continue
        log_row(rows, base, width, found, log, meta)
        rows[base + width + 1] = (rows[base + width + 1] & ~(IN | DUE)) | marks
        meta[ALIVE] -= 1
        ids[taken] = found
        taken += 1
    return taken


def clear_marks(ids, count, rows, width, marks):
    """Clear marks of rows."""
    for at in range(count):
        rows[ids[at] * (width + 2) + width + 1] &= ~marks


def bring_back(ids, count, rows, width, meta, fresh, rank):
    """Let rows that are OUT and supported be in again, with this rank; none is OUT any more."""
    for at in range(count):
        base = ids[at] * (width + 2)
        state = rows[base + width + 1] & ~OUT
        rows[base + width + 1] = state
        if state >= COUNT or state & (FACT | FIXED) != 0:
            revive_row(rows, base, width, ids[at], meta, fresh, rank, state)


def has_words(rows, base, words, first, width):
    """Whether the row at `base` has these words."""
    for part in range(width):
        if rows[base + part] != words[first + part]:
            return False
    return True


def find_place(words, first, width, tag, table, rows):
    """Where the table has the row at `first` of `words`, or the empty place where it belongs."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY:
        base = (entry & IDS) * (width + 2)
        if entry >> 32 == tag and has_words(rows, base, words, first, width):
            break
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return place


def find_row(words, first, width, places, table, rows):
    """The id of the row at `first` of `words`, or -1."""
    tag = hash_columns(words, first, places)
    entry = table[find_place(words, first, width, tag, table, rows)]
    return -1 if entry == EMPTY else entry & IDS


def find_rows(words, first, last, width, places, table, rows, ids):
    """The ids of rows of `words`, -1 for those that were never put."""
    for at in range(first, last):
        ids[at - first] = find_row(words, at * width, width, places, table, rows)


def hash_words(words, first, last, width, places, tags):
    """Hash rows of `words`."""
    for at in range(first, last):
        tags[at - first] = hash_columns(words, at * width, places)


def add_facts(words, first, last, rows, width, places, table, meta, log, fresh, rank, mark, tags):
    """Put facts, or mark rows that are there as such; those that are not in come in."""
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        hash_words(words, begin, end, width, places, tags)
        tags[BLOCK] = fetch_found(tags, 0, end - begin, table, rows, width + 2)
        for at in range(begin, end):
            tag = tags[at - begin]
            place = find_place(words, at * width, width, tag, table, rows)
            if table[place] != EMPTY:
                add_fact(rows, width, table[place] & IDS, meta, log, fresh, rank, mark)
                continue
            base = put_row(rows, width, table, place, tag, meta, fresh, rank, IN | mark)
            for part in range(width):
                rows[base + part] = words[at * width + part]


def add_fact(rows, width, found, meta, log, fresh, rank, mark):
    """Mark a row that was put once as a fact."""
    base = found * (width + 2)
    if rows[base + width + 1] & (mark | IN) == mark | IN:
        return
    log_row(rows, base, width, found, log, meta)
    rows[base + width + 1] |= mark
    state = rows[base + width + 1]
    if state & (IN | OUT) == 0:
        revive_row(rows, base, width, found, meta, fresh, rank, state & (COUNT - 1))


def drop_facts(words, first, last, rows, width, places, table, meta, log, pending):
    """Let rows be no facts any more; unsupported ones become DUE."""
    for at in range(first, last):
        found = find_row(words, at * width, width, places, table, rows)
        base = found * (width + 2)
        if found < 0 or rows[base + width + 1] & FACT == 0:
            continue
        log_row(rows, base, width, found, log, meta)
        rows[base + width + 1] &= ~FACT
        mark_due(rows, base, width, found, meta, pending)


def empty_rows(rows, width, meta, log):
    """Take all rows out and forget what was counted."""
    for found in range(meta[ROWS]):
        base = found * (width + 2)
        state = rows[base + width + 1]
        if state & IN != 0 or state >= COUNT:
            log_row(rows, base, width, found, log, meta)
        rows[base + width + 1] &= WAS | FACT | FIXED | LOGGED
    meta[ALIVE] = 0


def fill_with_facts(rows, width, meta, log, fresh, rank):
    """Let all facts be in, with this rank."""
    for found in range(meta[ROWS]):
        base = found * (width + 2)
        state = rows[base + width + 1]
        if state & (FACT | FIXED) != 0 and state & IN == 0:
            log_row(rows, base, width, found, log, meta)
            revive_row(rows, base, width, found, meta, fresh, rank, rows[base + width + 1])


def list_changed(rows, width, meta, log, added, removed):
    """List the ids of rows that came in and went out in the epoch; how many of each."""
    more = less = 0
    for found in range(meta[BASE], meta[ROWS]):
        if rows[found * (width + 2) + width + 1] & IN != 0:
            added[more] = found
            more += 1
    for at in range(meta[LOG_SIZE]):
        found = log[3 * at]
        state = rows[found * (width + 2) + width + 1] & (IN | WAS)
        if state == IN:
            added[more] = found
            more += 1
        elif state == WAS:
            removed[less] = found
            less += 1
    return more, less


def settle_row(rows, base, width):
    """Let what a row is be what it was, and clear the marks of the epoch."""
    state = rows[base + width + 1]
    kept = state & ~(WAS | LOGGED | DUE | LEAVING | OUT)
    rows[base + width + 1] = kept | WAS if state & IN != 0 else kept


def settle_rows(rows, width, meta, log):
    """Begin an epoch: what is in was in."""
    for found in range(meta[BASE], meta[ROWS]):
        settle_row(rows, found * (width + 2), width)
    for at in range(meta[LOG_SIZE]):
        settle_row(rows, log[3 * at] * (width + 2), width)
    meta[BASE] = meta[ROWS]
    meta[BASE_ALIVE] = meta[ALIVE]
    meta[LOG_SIZE] = meta[FRESH_SIZE] = meta[PENDING_SIZE] = 0


def roll_back(rows, width, places, table, meta, log):
    """Take back all that the epoch has done to the rows; what was half taken back is no matter."""
    stride = width + 2
    while meta[ROWS] > meta[BASE]:
        last = meta[ROWS] - 1
        entry = (hash_columns(rows, last * stride, places) << 32) | last
        remove_entry(table, find_id(table, entry))
        meta[ROWS] = last
    for at in range(meta[LOG_SIZE]):
        base = log[3 * at] * stride
        rows[base + width] = log[3 * at + 1]
        rows[base + width + 1] = log[3 * at + 2]
    meta[ALIVE] = meta[BASE_ALIVE]
    meta[LOG_SIZE] = meta[FRESH_SIZE] = meta[PENDING_SIZE] = 0


def copy_alive(rows, width, count, places, others, table):
    """Copy the rows that are in to others, which are empty; how many."""
    copied = 0
    stride = width + 2
    for found in range(count):
        base = found * stride
        if rows[base + width + 1] & IN != 0:
            for part in range(stride):
                others[copied * stride + part] = rows[base + part]
            put_entry(table, (hash_columns(rows, base, places) << 32) | copied)
            copied += 1
    return copied
