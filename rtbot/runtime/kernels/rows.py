"""Loops of the runtime over columns: keys to slots, rows to runs, order checks, wake-ups.

This text and that of heaps.py are compiled as one generated module (see `modules`), so they import
nothing of ours. All arrays are allocated by the caller. Slots of rows are int32, everything else
int64 unless stated.
"""

import math  # noqa: F401 (every generated module has it)

import numpy as np

FIRST = -(2**63)
LAST = 2**63 - 1


# ---- keys: open addressing, linear probing; `table` holds slots, -1 where empty


def mix(word):
    """Spread the bits of a word; the result is not negative.

    Without signs: the compiler takes it that the product of signed words does not overflow, and two
    loops that know different things of a word would get different hashes.
    """
    bits = np.uint64(word)
    bits = bits ^ (bits >> np.uint64(32))
    bits = bits * np.uint64(0x5851F42D4C957F2D)
    bits = bits ^ (bits >> np.uint64(29))
    return np.int64(bits & np.uint64(LAST))


def find_1(words, count, table, mask, known, slots):
    """Slots of one-word keys, -1 where unknown; how many are unknown. `known[slot]` is its key."""
    missing = 0
    for row in range(count):
        word = words[row]
        place = mix(word) & mask
        slot = table[place]
        while slot >= 0 and known[slot] != word:
            place = (place + 1) & mask
            slot = table[place]
        slots[row] = slot
        missing += slot < 0
    return missing


def hash_of(words, first, width):
    """Hash of a key of `width` words."""
    value = 0
    for part in range(width):
        value = mix(value ^ words[first + part])
    return value


def same(words, first, known, slot, width):
    """Whether the key at `first` is that of the slot."""
    for part in range(width):
        if words[first + part] != known[slot * width + part]:
            return False
    return True


def find_many(words, count, width, table, mask, known, slots):
    """As `find_1` for keys of several words, row after row in one flat array."""
    missing = 0
    for row in range(count):
        place = hash_of(words, row * width, width) & mask
        slot = table[place]
        while slot >= 0 and not same(words, row * width, known, slot, width):
            place = (place + 1) & mask
            slot = table[place]
        slots[row] = slot
        missing += slot < 0
    return missing


def place_of(slot, width, table, mask, known):
    """Where the table holds the slot's key, or the empty place where it belongs."""
    if width == 1:
        place = mix(known[slot]) & mask
    else:
        place = hash_of(known, slot * width, width) & mask
    while table[place] >= 0 and table[place] != slot:
        place = (place + 1) & mask
    return place


def insert(slots, count, width, table, mask, known):
    """Put slots whose keys are in `known`, and not yet in the table, into it."""
    for row in range(count):
        table[place_of(slots[row], width, table, mask, known)] = slots[row]


def remove(slot, width, table, mask, known):
    """Take a slot out and move later ones up, so that no search breaks off."""
    hole = place_of(slot, width, table, mask, known)
    table[hole] = -1
    place = (hole + 1) & mask
    while table[place] >= 0:
        moved = table[place]
        table[place] = -1
        table[place_of(moved, width, table, mask, known)] = moved
        place = (place + 1) & mask


# ---- rows to runs: one run per key, keys in order, rows of a key in the order they came


def mark(slots, count, place, distinct, found):
    """Append to `distinct` the slots not marked yet; `place` is -1 for those. New length."""
    for row in range(count):
        slot = slots[row]
        if place[slot] < 0:
            place[slot] = found
            distinct[found] = slot
            found += 1
    return found


def arrange(distinct, count, place):
    """Number the distinct slots in their final order."""
    for index in range(count):
        place[distinct[index]] = index


def forget(distinct, count, place):
    """Undo `mark`."""
    for index in range(count):
        place[distinct[index]] = -1


def tally(slots, count, place, runs, starts, ends):
    """Rows per run as starts; `ends` is left at the starts. Whether rows are in order already."""
    for run in range(runs + 1):
        starts[run] = 0
    ordered = True
    before = 0
    for row in range(count):
        run = place[slots[row]]
        starts[run + 1] += 1
        ordered = ordered and run >= before
        before = run
    for run in range(runs):
        starts[run + 1] += starts[run]
        ends[run] = starts[run]
    return ordered


def scatter(slots, count, place, ends, time, value, out_time, out_value):
    """Move rows into their runs; `ends` moves on by one for each."""
    for row in range(count):
        run = place[slots[row]]
        to = ends[run]
        ends[run] = to + 1
        out_time[to] = time[row]
        out_value[to] = value[row]


def scatter_valid(slots, count, place, ends, valid, out_valid):
    """As `scatter`, for one more column."""
    for row in range(count):
        run = place[slots[row]]
        to = ends[run]
        ends[run] = to + 1
        out_valid[to] = valid[row]


# ---- order within a key


def first_unordered(slots, runs, starts, time, last, floor):
    """The first row whose time is not after the one before it and the frontier, or -1."""
    for run in range(runs):
        before = max(last[slots[run]], floor)
        for row in range(starts[run], starts[run + 1]):
            if time[row] <= before:
                return row
            before = time[row]
    return -1


def admit(slots, runs, starts, time, last, begun, floor, keep, out_starts, counts):
    """Sort rows into kept (1), late (0, counted in counts[0]) and duplicate (0, counts[1]).

    counts[2], counts[3]: the first late and the first duplicate row, or -1. Rows kept. A frontier
    of FIRST means none yet; `begun` marks keys that have had a row at that very time.
    """
    kept = 0
    out_starts[0] = 0
    for run in range(runs):
        before = last[slots[run]]
        some = before != FIRST or begun[slots[run]] != 0
        for row in range(starts[run], starts[run + 1]):
            late = time[row] < before or (time[row] <= floor and floor != FIRST)
            duplicate = some and time[row] == before and not late
            some = some or not late
            if late:
                counts[0] += 1
                counts[2] = row if counts[2] < 0 else counts[2]
            elif duplicate:
                counts[1] += 1
                counts[3] = row if counts[3] < 0 else counts[3]
            else:
                before = time[row]
                kept += 1
            keep[row] = not (late or duplicate)
        out_starts[run + 1] = kept
    return kept


def accept(slots, runs, starts, time, last, begun):
    """Remember the newest time of every key."""
    for run in range(runs):
        if starts[run] < starts[run + 1]:
            last[slots[run]] = time[starts[run + 1] - 1]
            begun[slots[run]] = 1


# ---- rows that wait in blocks, of as many rows as in pairs.py

BLOCK = 8


def pack(queue, runs, width, first, following, fresh, places, out_following):
    """Renumber the blocks of a port's rows, key by key, from `fresh` on, without free places.

    Of every new place `places` receives the old one; it is -1 before. See pairs.py for `queue`.
    """
    used = 0
    for run in range(runs):
        base = run * width + first
        left = queue[base + 4]
        block, at = queue[base], queue[base + 1]
        for word in range(4):
            queue[base + word] = 0
        if left == 0:
            continue
        queue[base] = fresh + used
        for row in range(left):
            places[used * BLOCK + row] = block * BLOCK + at
            at += 1
            if at == BLOCK:
                block, at = following[block], 0
        blocks = (left + BLOCK - 1) // BLOCK
        for part in range(1, blocks):
            out_following[used + part - 1] = fresh + used + part
        queue[base + 2] = fresh + used + blocks - 1
        queue[base + 3] = left - (blocks - 1) * BLOCK
        used += blocks


# ---- rows that wait, found by key and time: `table` holds their nodes, -1 where empty


def waiting_place(slot, time, table, mask, owner, node_time):
    """Where the table holds the row that waits with this key and time, or the empty place."""
    place = mix(mix(slot) ^ time) & mask
    node = table[place]
    while node >= 0 and (node_time[node] != time or owner[node] != slot):
        place = (place + 1) & mask
        node = table[place]
    return place


def first_twin(
    slots, runs, starts, time, late, table, mask, owner, node_time, rows, rows_mask, run_of
):
    """The first row that is not late and has key and time of one before it, or -1.

    Those before it wait, or are of the batch: `rows` is a table of these, all -1.
    """
    for run in range(runs):
        slot = slots[run]
        for row in range(starts[run], starts[run + 1]):
            if late[row]:
                continue
            if table[waiting_place(slot, time[row], table, mask, owner, node_time)] >= 0:
                return row
            run_of[row] = slot
            place = waiting_place(slot, time[row], rows, rows_mask, run_of, time)
            if rows[place] >= 0:
                return row
            rows[place] = row
    return -1


def enlist(nodes, count, table, mask, owner, node_time):
    """Put the nodes that still wait (they have an owner) into the table. How many."""
    added = 0
    for index in range(count):
        node = nodes[index]
        if node >= 0 and owner[node] >= 0:
            place = waiting_place(owner[node], node_time[node], table, mask, owner, node_time)
            table[place] = node
            added += 1
    return added


def delist(nodes, count, since, table, mask, owner, node_time, node_order):
    """Take nodes out of the table; those that arrived from `since` on are not in it. How many."""
    taken = 0
    for index in range(count):
        node = nodes[index]
        if node_order[node] < since:
            taken += 1
            hole = waiting_place(owner[node], node_time[node], table, mask, owner, node_time)
            table[hole] = -1
            place = (hole + 1) & mask
            while table[place] >= 0:
                moved = table[place]
                table[place] = -1
                to = waiting_place(owner[moved], node_time[moved], table, mask, owner, node_time)
                table[to] = moved
                place = (place + 1) & mask
        owner[node] = -1
    return taken


def own_nodes(slots, runs, roots, child, sibling, stack, owner):
    """Give every row that waits to its key; `stack` has room for all. Whether they are heaps."""
    for run in range(runs):
        size = 0
        if roots[slots[run]] >= 0:
            stack[0] = roots[slots[run]]
            size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if owner[node] >= 0:
                return False
            owner[node] = slots[run]
            if child[node] >= 0:
                stack[size] = child[node]
                size += 1
            if sibling[node] >= 0:
                stack[size] = sibling[node]
                size += 1
    return True


# ---- progress


def settle(slots, runs, known, frontier, pinned, floor, shift, out_frontier, out_pinned):
    """Frontiers behind an operator that keeps its own: `known`, its source's where that is LAST.

    Where the source's is LAST nothing comes from it any more, and nothing out of the operator.
    """
    for run in range(runs):
        slot = slots[run]
        before = frontier[slot]
        if pinned[slot] == 0 and floor > before:
            before = floor
        if known[slot] != LAST and before != LAST:
            out_frontier[slot] = known[slot]
            out_pinned[slot] = 1
            continue
        if before != FIRST and before != LAST:
            if shift > 0 and before > LAST - shift:
                before = LAST
            elif shift < 0 and before < FIRST - shift:
                before = FIRST
            else:
                before += shift
        out_frontier[slot] = before
        out_pinned[slot] = pinned[slot]


def wake(heap_time, heap_slot, watched, size, until, out):
    """Take the keys that wait for a time up to `until` off a heap. (new size, keys taken)."""
    taken = 0
    while size > 0 and heap_time[0] <= until:
        time, slot = heap_time[0], heap_slot[0]
        size -= 1
        sift(heap_time, heap_slot, size)
        if watched[slot] == time:
            watched[slot] = LAST
            out[taken] = slot
            taken += 1
    return size, taken


def sift(heap_time, heap_slot, size):
    """Fill the root of a heap with its last entry, which is at `size`."""
    time, slot = heap_time[size], heap_slot[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap_time[child + 1] < heap_time[child]:
            child += 1
        if heap_time[child] >= time:
            break
        heap_time[place], heap_slot[place] = heap_time[child], heap_slot[child]
        place = child
    heap_time[place], heap_slot[place] = time, slot
