"""Trees that know how many values are below a place: they select a value by its rank.

A tree is a treap (Seidel and Aragon, Randomized search trees, 1996). A node has a value, how many
copies there are of it, how many values its tree has, the trees of lesser and of greater values, and
a priority that is not below those of these trees. Nodes are numbered from 1 on, 0 is none. `values`
and `words` are flat arrays; `v`, `c`, `t`, `l`, `g`, `p` are where the fields of a node 0 would be.
All takes a number of steps that grows with the logarithm of the number of values.
"""

import math

from rtbot.numeric.curves import point_between
from rtbot.operator import noinline, step

DRAW_FACTOR = 48271
DRAW_MODULUS = 2147483647


@step
def draw_rank(seed):
    """The next of a series of random priorities (Park and Miller, 1988)."""
    return seed * DRAW_FACTOR % DRAW_MODULUS


@step
def count_ranked(words, t, node):
    """How many values a tree has."""
    return words[t + node] if node > 0 else 0


@noinline
def find_ranked(value, values, words, v, l, g, node):  # noqa: E741 (fields of a node)
    """The node of a value in a tree, or 0."""
    while node > 0 and values[v + node] != value:
        node = words[(l if value < values[v + node] else g) + node]
    return node


@noinline
def add_ranked(value, priority, new, values, words, v, c, t, l, g, p, root):  # noqa: E741
    """Add a value; (root, whether the node `new` has been used, as the value was not there)."""
    known = find_ranked(value, values, words, v, l, g, root)
    parent, side, node = 0, l, root
    while node > 0 and node != known and (known > 0 or words[p + node] >= priority):
        words[t + node] += 1
        parent = node
        side = l if value < values[v + node] else g
        node = words[side + node]
    if known > 0:
        words[t + known] += 1
        words[c + known] += 1
        return root, False
    values[v + new] = value
    words[c + new] = 1
    words[t + new] = 1 + count_ranked(words, t, node)
    words[p + new] = priority
    split_ranked(value, new, values, words, v, t, l, g, node)
    if parent == 0:
        return new, True
    words[side + parent] = new
    return root, True


@noinline
def split_ranked(value, new, values, words, v, t, l, g, node):  # noqa: E741
    """Put the values of a tree, none of which is `value`, below and above the node `new`."""
    less, at = 0, node
    while at > 0:
        if values[v + at] < value:
            less += words[t + at] - count_ranked(words, t, words[g + at])
            at = words[g + at]
        else:
            at = words[l + at]
    more = count_ranked(words, t, node) - less
    below, above = l + new, g + new
    while node > 0:
        size = words[t + node]
        if values[v + node] < value:
            words[t + node] = less
            words[below] = node
            below = g + node
            node = words[below]
            less -= size - count_ranked(words, t, node)
        else:
            words[t + node] = more
            words[above] = node
            above = l + node
            node = words[above]
            more -= size - count_ranked(words, t, node)
    words[below] = 0
    words[above] = 0


@noinline
def remove_ranked(value, values, words, v, c, t, l, g, p, root):  # noqa: E741
    """Take a value that is there out of a tree; (root, the node that is free now, or 0)."""
    parent, side, node = 0, l, root
    while values[v + node] != value:
        words[t + node] -= 1
        parent = node
        side = l if value < values[v + node] else g
        node = words[side + node]
    if words[c + node] > 1:
        words[c + node] -= 1
        words[t + node] -= 1
        return root, 0
    merged = merge_ranked(words, t, l, g, p, words[l + node], words[g + node])
    if parent == 0:
        return merged, node
    words[side + parent] = merged
    return root, node


@noinline
def merge_ranked(words, t, l, g, p, lesser, greater):  # noqa: E741
    """Merge two trees, all values of one below those of the other; the root."""
    root, place = lesser + greater, -1
    while lesser > 0 and greater > 0:
        size = words[t + lesser] + words[t + greater]
        if words[p + lesser] >= words[p + greater]:
            chosen, following = lesser, g + lesser
            lesser = words[following]
        else:
            chosen, following = greater, l + greater
            greater = words[following]
        words[t + chosen] = size
        if place < 0:
            root = chosen
        else:
            words[place] = chosen
        place = following
    if place >= 0:
        words[place] = lesser + greater
    return root


@noinline
def select_ranked(rank, values, words, v, c, t, l, g, root):  # noqa: E741
    """The value at a place of the order, from 0 on."""
    node = root
    while True:
        before = count_ranked(words, t, words[l + node])
        if rank < before:
            node = words[l + node]
        elif rank < before + words[c + node]:
            return values[v + node]
        else:
            rank -= before + words[c + node]
            node = words[g + node]


@noinline
def quantile_of_ranked(share, count, values, words, v, c, t, l, g, root):  # noqa: E741
    """The number at (count - 1) * share of the order, by distance between two that differ."""
    exact = (count - 1) * share
    place = math.floor(exact)
    part = exact - place
    one = select_ranked(place, values, words, v, c, t, l, g, root)
    if part == 0.0:
        return float(one)
    other = select_ranked(place + 1, values, words, v, c, t, l, g, root)
    return blend_ranked(one, other, part)


@step
def blend_ranked(one, other, part):
    """The number at a part of the way from one value to the next one in order."""
    if part == 0.0:
        return float(one)
    return point_between(float(one), float(other), part, 1.0) + 0.0
