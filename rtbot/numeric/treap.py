"""Treaps: ordered values with the number of their copies, which come and go.

A node of four words has a value, its copies (any number but 0), and the nodes with lesser and with
greater values (0: none). The hash of the value (`draw_priority`) is the priority, so that the tree
depends on the values present alone. Values are compared as int64 or, `ranked`, by `ranks[value]`.
Nodes are the entries of a pool (`rtbot.numeric.exact.weighted`). Everything takes a number of steps
that grows with the logarithm of the number of values (Seidel and Aragon, Randomized search trees,
1996).
"""

from rtbot.numeric.exact.weighted import free_entry, take_entry
from rtbot.operator import noinline, step

NODE = 4
LESSER = 2
GREATER = 3
LOW_WORD = 0xFFFFFFFF
LOW_HALF = 0x7FFFFFFF
SIGN_BITS = 0x7FFFFFFFFFFFFFFF


@step
def spread_bits(word):
    """Hash a word; the result is not negative. No product leaves int64."""
    value = (word & LOW_WORD) * 974711537 + (word >> 32 & LOW_WORD) * 1059285703
    value ^= value >> 29
    value = (value & LOW_HALF) * 858993719 + (value >> 31) * 1013904223
    return value ^ value >> 32


@step
def draw_priority(word):
    """Hash a word for the balance of a tree; the result is not negative.

    Halves are multiplied and folded twice: what is linear in the word makes long chains.
    """
    product = (word & LOW_WORD) * 0x5851F42D
    folded = (product ^ product >> 32) & LOW_WORD
    product = (folded ^ (word >> 32 & LOW_WORD) ^ 0x14057B7E) * 0x4C957F2D
    folded = (product ^ product >> 32) & LOW_WORD
    product = (folded ^ 0x2C1B3C6D) * 0x297A2D39
    return (product ^ product >> 32) & LOW_WORD ^ (folded & LOW_HALF) << 31


@step
def order_bits(word):
    """The word of a number as an integer of the same order, and back; NaN is the greatest."""
    return word if word >= 0 else word ^ SIGN_BITS


@step
def rank_value(value, ranks, ranked):
    """What a value is compared by."""
    return ranks[value] if ranked else value


@noinline
def add_copies(value, copies, at, pool, records, counters, nodes, ranks, ranked):
    """Add copies of a value to the tree of a record; 1 if it is new, -1 if it has gone, else 0.

    `records[at]` is the root of the tree, and the next word the number of its nodes.
    """
    rank, priority = rank_value(value, ranks, ranked), draw_priority(value)
    parent, side, node = 0, 0, records[at]
    above, above_side, below = 0, 0, -1
    while node > 0 and nodes[node * NODE] != value:
        known = nodes[node * NODE]
        if below < 0 and draw_priority(known) < priority:
            above, above_side, below = parent, side, node
        parent = node
        side = LESSER if rank < rank_value(known, ranks, ranked) else GREATER
        node = nodes[node * NODE + side]
    if node == 0:
        if below < 0:
            above, above_side, below = parent, side, 0
        node = take_entry(pool, counters, nodes, NODE)
        nodes[node * NODE] = value
        nodes[node * NODE + 1] = copies
        split_nodes(below, node, rank, nodes, ranks, ranked)
        link_node(node, above, above_side, at, records, nodes)
        records[at + 1] += 1
        return 1
    copies += nodes[node * NODE + 1]
    nodes[node * NODE + 1] = copies
    if copies != 0:
        return 0
    merged = merge_nodes(nodes[node * NODE + LESSER], nodes[node * NODE + GREATER], nodes)
    link_node(merged, parent, side, at, records, nodes)
    free_entry(node, pool, counters, nodes, NODE)
    records[at + 1] -= 1
    return -1


@step
def fetch_paths(count, values, nodes, scratch):
    """Read the paths to values: `scratch` has the roots of their trees, and from `values` on them.

    One step of all paths after the other, so that many reads wait for memory at one time. The roots
    are overwritten.
    """
    going = count
    while going > 0:
        going = 0
        for index in range(count):
            node = scratch[index]
            if node > 0:
                value, known = scratch[values + index], nodes[node * NODE]
                node = nodes[node * NODE + (LESSER if value < known else GREATER)]
                scratch[index] = 0 if value == known else node
                going += 1


@step
def link_node(node, parent, side, at, records, nodes):
    """Let a node be the child at this side of its parent, or the root if that is 0."""
    if parent == 0:
        records[at] = node
    else:
        nodes[parent * NODE + side] = node


@noinline
def split_nodes(node, new, rank, nodes, ranks, ranked):
    """Put the values of a tree below and above a new node, which is not in it."""
    below, above = new * NODE + LESSER, new * NODE + GREATER
    while node > 0:
        if rank_value(nodes[node * NODE], ranks, ranked) < rank:
            nodes[below] = node
            below = node * NODE + GREATER
            node = nodes[below]
        else:
            nodes[above] = node
            above = node * NODE + LESSER
            node = nodes[above]
    nodes[below] = 0
    nodes[above] = 0


@noinline
def merge_nodes(lesser, greater, nodes):
    """Merge two trees, all values of one below those of the other; the root."""
    if lesser == 0 or greater == 0:
        return lesser + greater
    root, place = 0, 0
    while lesser > 0 and greater > 0:
        if draw_priority(nodes[lesser * NODE]) >= draw_priority(nodes[greater * NODE]):
            chosen = lesser
            following = lesser * NODE + GREATER
            lesser = nodes[following]
        else:
            chosen = greater
            following = greater * NODE + LESSER
            greater = nodes[following]
        if root == 0:
            root = chosen
        else:
            nodes[place] = chosen
        place = following
    nodes[place] = lesser + greater
    return root


@noinline
def find_extreme(root, side, nodes):
    """The least value (LESSER) or the greatest (GREATER) of a tree that has one."""
    node = root
    while nodes[node * NODE + side] > 0:
        node = nodes[node * NODE + side]
    return nodes[node * NODE]
