"""Treaps that know how many values are below a place: they select a quantile.

A node has the words of one of `rtbot.numeric.treap`, but for the second: it has the copies of all
values of its tree, so that those of its own value are what the trees below it do not have. Values
are compared as int64. Everything takes a number of steps that grows with the logarithm of the
number of values.
"""

import math

from rtbot.numeric.exact.weighted import free_entry, take_entry
from rtbot.numeric.treap import (
    GREATER,
    LESSER,
    NODE,
    draw_priority,
    link_node,
    order_bits,
)
from rtbot.operator import noinline, step


@noinline
def add_counted(value, copies, at, pool, records, counters, nodes):
    """Add copies of a value to the tree of a record: its root, then the number of its nodes."""
    priority = draw_priority(value)
    parent, side, node = 0, 0, records[at]
    above, above_side, below, before = 0, 0, -1, 0
    while node > 0 and nodes[node * NODE] != value:
        known = nodes[node * NODE]
        if below < 0 and draw_priority(known) < priority:
            above, above_side, below = parent, side, node
        parent, side = node, LESSER
        if known < value:
            side = GREATER
            if below >= 0:
                before += nodes[node * NODE + 1] - nodes[nodes[node * NODE + GREATER] * NODE + 1]
        node = nodes[node * NODE + side]
    if node == 0:
        if below < 0:
            above, above_side, below = parent, side, 0
        add_along(value, copies, records[at], below, nodes)
        node = take_entry(pool, counters, nodes, NODE)
        nodes[node * NODE] = value
        nodes[node * NODE + 1] = copies + nodes[below * NODE + 1]
        split_counted(below, node, before, nodes)
        link_node(node, above, above_side, at, records, nodes)
        records[at + 1] += 1
        return
    add_along(value, copies, records[at], node, nodes)
    copies += nodes[node * NODE + 1]
    nodes[node * NODE + 1] = copies
    lesser, greater = nodes[node * NODE + LESSER], nodes[node * NODE + GREATER]
    if copies == nodes[lesser * NODE + 1] + nodes[greater * NODE + 1]:
        merged = merge_counted(lesser, greater, nodes)
        link_node(merged, parent, side, at, records, nodes)
        free_entry(node, pool, counters, nodes, NODE)
        records[at + 1] -= 1


@step
def add_along(value, copies, node, last, nodes):
    """Add copies of a value to the trees that it is in, above that of the node `last`."""
    while node != last:
        nodes[node * NODE + 1] += copies
        node = nodes[node * NODE + (LESSER if value < nodes[node * NODE] else GREATER)]


@noinline
def split_counted(node, new, before, nodes):
    """Put the values of a tree, `before` of which are less, below and above a new node."""
    value, after = nodes[new * NODE], nodes[node * NODE + 1] - before
    below, above = new * NODE + LESSER, new * NODE + GREATER
    while node > 0:
        copies = nodes[node * NODE + 1]
        if nodes[node * NODE] < value:
            nodes[node * NODE + 1] = before
            nodes[below] = node
            below = node * NODE + GREATER
            node = nodes[below]
            before -= copies - nodes[node * NODE + 1]
        else:
            nodes[node * NODE + 1] = after
            nodes[above] = node
            above = node * NODE + LESSER
            node = nodes[above]
            after -= copies - nodes[node * NODE + 1]
    nodes[below] = 0
    nodes[above] = 0


@noinline
def merge_counted(lesser, greater, nodes):
    """Merge two trees, all values of one below those of the other; the root."""
    root, place = lesser + greater, 0
    while lesser > 0 and greater > 0:
        copies = nodes[lesser * NODE + 1] + nodes[greater * NODE + 1]
        if draw_priority(nodes[lesser * NODE]) >= draw_priority(nodes[greater * NODE]):
            chosen = lesser
            following = lesser * NODE + GREATER
            lesser = nodes[following]
        else:
            chosen = greater
            following = greater * NODE + LESSER
            greater = nodes[following]
        nodes[chosen * NODE + 1] = copies
        if place == 0:
            root = chosen
        else:
            nodes[place] = chosen
        place = following
    if place > 0:
        nodes[place] = lesser + greater
    return root


@step
def select_value(place, node, nodes):
    """The value at a place of the order, from 0 on, of which there are as many as copies."""
    value = 0
    while node > 0:
        before = nodes[nodes[node * NODE + LESSER] * NODE + 1]
        if place < before:
            node = nodes[node * NODE + LESSER]
            continue
        value = nodes[node * NODE]
        place -= nodes[node * NODE + 1] - nodes[nodes[node * NODE + GREATER] * NODE + 1]
        node = nodes[node * NODE + GREATER] if place >= 0 else 0
    return value


@noinline
def find_quantile(share, count, node, nodes, ordered, words, floats, at):
    """The number at (count - 1) * share of the order, by distance between two that differ.

    `ordered`: the values are numbers by `order_bits`. The word at `at` is written over.
    """
    exact = (count - 1) * share
    place = math.floor(exact)
    part = exact - place
    one = select_value(place, node, nodes)
    other = select_value(place + 1, node, nodes) if part > 0 else one
    low, high = float(one), float(other)
    if ordered:
        words[at] = order_bits(one)
        low = floats[at]
        words[at] = order_bits(other)
        high = floats[at]
    if one == other:
        return low
    found = low * (1.0 - part) + high * part
    return math.nan if found != found else found + 0.0
