"""Loops that find the rows that fit bindings, and the indexes of relations that lead to them.

They follow the rules of ranked_rows.py. An index finds the rows by some of their columns, `places`:
`table` has an entry for every key, whose id is the newest row of that key; `links` has for every
row the next older one, or -1. Without links every key is that of one row. `meta` of an index: how
many rows it has, and how many keys.

A row passes if its state has all marks of `need` and one of `any` (if that is not 0), and its rank
is from `low` to `high`.
"""

from rtbot.datalog.evaluation.kernels.ranked_rows import (
    BLOCK,
    IN,
    WAS,
    fetch_found,
    find_key,
    hash_bindings,
    hash_columns,
)
from rtbot.tables.hash_tables import EMPTY, IDS, find_id, remove_entry

INDEXED, KEYS = 0, 1
BEGIN = -2


def is_passing(rows, base, width, need, some, low, high):
    """Whether a row passes."""
    state = rows[base + width + 1]
    if state & need != need or (some != 0 and state & some == 0):
        return False
    return low <= rows[base + width] <= high


def has_equal(rows, base, same):
    """Whether the pairs of columns in `same` are equal."""
    for part in range(0, len(same), 2):
        if rows[base + same[part]] != rows[base + same[part + 1]]:
            return False
    return True


def load_rows(
    ids, first, last, out, room, rows, width, new, same, checks, constants, ranks, slot,
    need, some, low, high,
):  # fmt: skip
    """Bind rows: columns go to slots as the pairs in `new` say; how many bindings were made.

    Columns must equal constants, by the pairs (column, place of a constant) in `checks`. The rank
    goes to the slot `ranks` and the id to `slot`, if they are not -1.
    """
    made = 0
    for at in range(first, last):
        base = ids[at] * (width + 2)
        passing = is_passing(rows, base, width, need, some, low, high)
        passing = passing and has_equal(rows, base, same)
        for part in range(0, len(checks), 2):
            if rows[base + checks[part]] != constants[checks[part + 1]]:
                passing = False
        if not passing:
            continue
        for part in range(0, len(new), 2):
            out[new[part + 1] * room + made] = rows[base + new[part]]
        if ranks >= 0:
            out[ranks * room + made] = rows[base + width]
        if slot >= 0:
            out[slot * room + made] = ids[at]
        made += 1
    return made


def fetch_next(heads, first, last, links, rows, stride):
    """Read the rows behind the newest ones, as `fetch_found` does."""
    read = 0
    for at in range(first, last):
        if heads[at] >= 0:
            read ^= links[heads[at]]
    for at in range(first, last):
        if heads[at] >= 0 and links[heads[at]] >= 0:
            read ^= rows[links[heads[at]] * stride]
    return read


def probe_keys(
    bindings, room, count, keys, constants, rows, stride, places, table, links, heads,
):  # fmt: skip
    """Find the newest row of the key of every binding, or -1."""
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        hash_bindings(bindings, room, first, last, keys, constants, heads)
        heads[count] = fetch_found(heads, first, last, table, rows, stride)
        for at in range(first, last):
            place = find_key(
                table, heads[at], bindings, room, at, keys, constants, rows, stride, places
            )
            entry = table[place]
            heads[at] = -1 if entry == EMPTY else entry & IDS
        if len(links) > 0:
            heads[count] = fetch_next(heads, first, last, links, rows, stride)


def copy_binding(bindings, room, at, out, made, keep):
    """Copy slots of a binding."""
    for part in range(len(keep)):
        out[keep[part] * room + made] = bindings[keep[part] * room + at]


def join_rows(
    bindings, count, out, room, state, heads, keep, rows, width, links, new, same, ranks,
    need, some, low, high,
):  # fmt: skip
    """Go on with a join of bindings and the rows that `heads` lead to; how many were made.

    `state` is the binding at work and its next row, or BEGIN. The highest rank stays in the slot
    `ranks`, if it is not -1.
    """
    at, found = state[0], state[1]
    linked = len(links) > 0
    made = 0
    while at < count:
        if found == BEGIN:
            found = heads[at]
        while found >= 0:
            if made == room:
                state[0] = at
                state[1] = found
                return made
            base = found * (width + 2)
            found = links[found] if linked else -1
            if not is_passing(rows, base, width, need, some, low, high):
                continue
            if not has_equal(rows, base, same):
                continue
            copy_binding(bindings, room, at, out, made, keep)
            for part in range(0, len(new), 2):
                out[new[part + 1] * room + made] = rows[base + new[part]]
            if ranks >= 0:
                rank = rows[base + width]
                highest = bindings[ranks * room + at]
                out[ranks * room + made] = rank if rank > highest else highest
            made += 1
        at += 1
        found = BEGIN
    state[0] = at
    state[1] = BEGIN
    return made


def reject_bindings(bindings, room, count, heads, keep, rows, width, links, marks):
    """Leave out the bindings for which there is a row with one of the marks; how many are left."""
    linked = len(links) > 0
    made = 0
    for at in range(count):
        found = heads[at]
        while found >= 0:
            base = found * (width + 2)
            if rows[base + width + 1] & marks != 0:
                break
            found = links[found] if linked else -1
        if found < 0:
            if made < at:
                copy_binding(bindings, room, at, bindings, made, keep)
            made += 1
    return made


def choose_bindings(bindings, room, count, chosen, keep):
    """Leave out the bindings that are not chosen; how many are left."""
    made = 0
    for at in range(count):
        if chosen[at]:
            if made < at:
                copy_binding(bindings, room, at, bindings, made, keep)
            made += 1
    return made


def has_columns(rows, base, other, places):
    """Whether two rows have the same values in columns."""
    for part in range(len(places)):
        if rows[base + places[part]] != rows[other + places[part]]:
            return False
    return True


def find_columns(rows, base, stride, tag, places, table):
    """Where an index has the key of the row at `base`, or the empty place where it belongs."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY:
        if entry >> 32 == tag and has_columns(rows, base, (entry & IDS) * stride, places):
            break
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return place


def hash_rows_of(rows, stride, first, last, places, tags):
    """Hash columns of rows."""
    for at in range(first, last):
        tags[at - first] = hash_columns(rows, at * stride, places)


def extend_index(rows, stride, count, places, table, links, meta, limit, tags):
    """Put further rows into an index, until it has `limit` keys or more."""
    while meta[INDEXED] < count and meta[KEYS] < limit:
        first = meta[INDEXED]
        last = min(first + min(BLOCK, limit - meta[KEYS]), count)
        hash_rows_of(rows, stride, first, last, places, tags)
        tags[BLOCK] = fetch_found(tags, 0, last - first, table, rows, stride)
        for new in range(first, last):
            tag = tags[new - first]
            place = find_columns(rows, new * stride, stride, tag, places, table)
            entry = table[place]
            if entry == EMPTY:
                links[new] = -1
                meta[KEYS] += 1
            else:
                links[new] = entry & IDS
            table[place] = (tag << 32) | new
        meta[INDEXED] = last


def shorten_index(rows, stride, count, places, table, links, meta):
    """Take the newest rows out of an index until it has `count`."""
    while meta[INDEXED] > count:
        last = meta[INDEXED] - 1
        tag = hash_columns(rows, last * stride, places)
        place = find_id(table, (tag << 32) | last)
        if links[last] < 0:
            remove_entry(table, place)
            meta[KEYS] -= 1
        else:
            table[place] = (tag << 32) | links[last]
        meta[INDEXED] = last


def find_heads(ids, count, rows, stride, places, table, heads):
    """Find the newest row with the key of each of these rows, which are all in the index."""
    for at in range(count):
        base = ids[at] * stride
        tag = hash_columns(rows, base, places)
        heads[at] = table[find_columns(rows, base, stride, tag, places, table)] & IDS


def split_heads(heads, count, rows, width, links, came, went):
    """List the keys, by their newest rows, that have rows now and had none, and the other way."""
    more = less = 0
    for at in range(count):
        found = heads[at]
        marks = 0
        while found >= 0 and marks != IN | WAS:
            marks |= rows[found * (width + 2) + width + 1] & (IN | WAS)
            found = links[found]
        if marks == IN:
            came[more] = heads[at]
            more += 1
        elif marks == WAS:
            went[less] = heads[at]
            less += 1
    return more, less
