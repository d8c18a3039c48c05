"""Loops of the runtime over rows that wait at an input: one pairing heap per key.

The nodes of all heaps are in one pool: arrays of their times, arrival, first child, next sibling.
This text is compiled together with that of rows.py, and follows the rules given there.
"""

FIRST = -(2**63)
LAST = 2**63 - 1


def older(time, order, a, b):
    """Whether node a comes before node b: by time, then by arrival."""
    return time[a] < time[b] or (time[a] == time[b] and order[a] < order[b])


def meld(time, order, child, sibling, a, b):
    """Join two pairing heaps (Fredman et al. 1986); -1 is the empty one."""
    if a < 0:
        return b
    if b < 0:
        return a
    if older(time, order, b, a):
        a, b = b, a
    sibling[b] = child[a]
    child[a] = b
    return a


def pop_root(time, order, child, sibling, root):
    """The heap without its root: its children melded in pairs, then from the back."""
    pairs = -1
    node = child[root]
    while node >= 0:
        other = sibling[node]
        following = sibling[other] if other >= 0 else -1
        sibling[node] = -1
        if other >= 0:
            sibling[other] = -1
        joined = meld(time, order, child, sibling, node, other)
        sibling[joined] = pairs
        pairs = joined
        node = following
    heap = -1
    while pairs >= 0:
        following = sibling[pairs]
        sibling[pairs] = -1
        heap = meld(time, order, child, sibling, heap, pairs)
        pairs = following
    return heap


def hold(slots, runs, starts, time, nodes, roots, node_time, node_order, child, sibling, order):
    """Put rows into the heaps of their keys; `nodes` has a free node for every row."""
    for run in range(runs):
        slot = slots[run]
        for row in range(starts[run], starts[run + 1]):
            node = nodes[row]
            if node < 0:
                continue
            node_time[node] = time[row]
            node_order[node] = order + row
            child[node] = -1
            sibling[node] = -1
            roots[slot] = meld(node_time, node_order, child, sibling, roots[slot], node)


def release(
    slots, runs, until, roots, node_time, node_order, child, sibling, out, out_starts,
    wake_time, wake_slot, watched, size,
):  # fmt: skip
    """Take rows up to each run's `until` off the heaps, oldest first.

    A key of which rows are left is watched for its oldest. (How many were taken, keys watched.)
    """
    taken = 0
    out_starts[0] = 0
    for run in range(runs):
        root = roots[slots[run]]
        while root >= 0 and until[run] != FIRST and node_time[root] <= until[run]:
            out[taken] = root
            taken += 1
            root = pop_root(node_time, node_order, child, sibling, root)
        roots[slots[run]] = root
        out_starts[run + 1] = taken
        if root >= 0:
            size = watch(wake_time, wake_slot, watched, size, slots[run], node_time[root])
    return taken, size


def watch(wake_time, wake_slot, watched, size, slot, time):
    """Put a key on the heap of watched keys, lowest time first; the new size.

    `watched` has, per key, the time of its valid entry; an entry that differs from it is stale.
    """
    if time >= watched[slot]:
        return size
    watched[slot] = time
    place = size
    while place > 0 and wake_time[(place - 1) // 2] > time:
        wake_time[place] = wake_time[(place - 1) // 2]
        wake_slot[place] = wake_slot[(place - 1) // 2]
        place = (place - 1) // 2
    wake_time[place] = time
    wake_slot[place] = slot
    return size + 1


def overdue(slots, count, floor, roots, node_time, wake_time, wake_slot, watched, size):
    """Keep the due keys whose oldest row `floor` releases; watch the others: how many, size.

    What a key was watched for may have gone since, with a newer row of that key.
    """
    kept = 0
    for index in range(count):
        slot = slots[index]
        root = roots[slot]
        if root >= 0 and node_time[root] <= floor:
            slots[kept] = slot
            kept += 1
        elif root >= 0:
            size = watch(wake_time, wake_slot, watched, size, slot, node_time[root])
    return kept, size


def judge(slots, runs, starts, time, largest, lateness, floor, late):
    """Under a lateness: whether each row is late. How many are; `largest` is not changed."""
    count = 0
    for run in range(runs):
        newest = largest[slots[run]]
        for row in range(starts[run], starts[run + 1]):
            bound = newest - lateness if newest >= FIRST + lateness else FIRST
            late[row] = time[row] < bound or (time[row] <= floor and floor != FIRST)
            count += late[row]
            newest = max(newest, time[row])
    return count


def behind(slots, runs, starts, time, late, largest):
    """How many rows are not late, and not newer than all of their key before them."""
    count = 0
    for run in range(runs):
        newest = largest[slots[run]]
        for row in range(starts[run], starts[run + 1]):
            count += time[row] <= newest and not late[row]
            newest = max(newest, time[row])
    return count
