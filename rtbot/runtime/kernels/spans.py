"""Loops of the runtime over lists of keys: making room for entries, packing blocks.

This text is compiled together with that of rows.py, and follows the rules given there. `table` has
the words of all lists, key after key, `items` is the pool as int64.
"""

from rtbot.compiler.span_layout import (
    POOL_FRESH,
    POOL_MISSING,
    POOL_USED,
    SPAN_CAPACITY,
    SPAN_COUNT,
    SPAN_FIRST,
    SPAN_START,
    SPAN_WORDS,
)

SPAN_LEAST = 8
SPAN_SPARE = 16


def make_room(slots, starts, run, runs, table, width, place, fields, items, header):
    """Make room for an entry per row in the list of every run from `run` on.

    Returns the run at which the pool has too few words, `runs` if there is none. A list that moves
    fills at most half of its block afterwards, so that a row moves two entries on average.
    """
    while run < runs:
        at = slots[run] * width + place
        rows = starts[run + 1] - starts[run]
        end = table[at + SPAN_FIRST] + table[at + SPAN_COUNT] + rows
        full = end > table[at + SPAN_START] + table[at + SPAN_CAPACITY]
        if full and rows > 0 and not move_list(table, at, rows, fields, items, header):
            return run
        run += 1
    return runs


def move_list(table, at, rows, fields, items, header):
    """Move a list to the start of its block, or to another one; whether the pool has the words."""
    count, capacity = table[at + SPAN_COUNT], table[at + SPAN_CAPACITY]
    wanted = count + rows
    start, size = table[at + SPAN_START], capacity
    if 2 * wanted > capacity or capacity > SPAN_SPARE * max(wanted, SPAN_LEAST):
        size = SPAN_LEAST
        while size < 2 * wanted:
            size *= 2
        start = header[POOL_FRESH]
        if start + size * fields > len(items):
            header[POOL_MISSING] = size * fields
            return False
        header[POOL_FRESH] += size * fields
        header[POOL_USED] += (size - capacity) * fields
    move_entries(items, table[at + SPAN_FIRST], capacity, items, start, size, count, fields)
    table[at + SPAN_FIRST] = start
    table[at + SPAN_START] = start
    table[at + SPAN_CAPACITY] = size
    return True


def move_entries(items, first, capacity, target, start, size, count, fields):
    """Copy entries to the start of a block, which may be their own."""
    for field in range(fields):
        source, place = first + field * capacity, start + field * size
        for entry in range(count):
            target[place + entry] = items[source + entry]


def pack_blocks(table, keys, width, fields, items, target):
    """Copy the blocks of all lists to another pool without gaps; the words that they take.

    `fields` is how many every list has, in the order of their words.
    """
    fresh = 0
    for key in range(keys):
        for index in range(len(fields)):
            at = key * width + index * SPAN_WORDS
            capacity = table[at + SPAN_CAPACITY]
            if capacity > 0:
                first, count = table[at + SPAN_FIRST], table[at + SPAN_COUNT]
                move_entries(items, first, capacity, target, fresh, capacity, count, fields[index])
                table[at + SPAN_FIRST] = fresh
                table[at + SPAN_START] = fresh
                fresh += capacity * fields[index]
    return fresh
