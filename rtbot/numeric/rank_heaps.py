"""Two heaps that part the values of a window at a rank, so that its quantile is at their roots.

The lesser values are in one heap, its root the greatest of them, the rest are in the other, its
root the least (Härdle and Steiger, Optimal median smoothing, 1995). A node has a value and the key
of the message that it came with; a word per key has the node: of the lesser heap as it is, of the
greater one with a minus, 0 for none. So what leaves the window is found at once, what comes in
takes its node, and goes up or down from there. Nodes are numbered from 1 on, with `BRANCHES`
branches each: an addition or a removal takes a number of steps that grows with the logarithm of the
number of values.

`values` and `words` are flat arrays; `v` and `k` are where value and key of a node 0 would be, `p`
where the word of a key 0 would be. `side` is 1 in the lesser heap, -1 in the greater one.
"""

import math

from rtbot.numeric.curves import point_between
from rtbot.numeric.exact.digits import (
    SUM_DIGITS,
    add_value,
    clear_digits,
    digits_to_mean,
    digits_to_sum,
)
from rtbot.numeric.ieee import plain_product, two_sum
from rtbot.operator import noinline, step

BRANCHES = 8

DECIMALS = 10**9
"""Shares with up to nine decimals are exact, which leaves room for 2**33 values."""

DOUBT = 2.0**-50
"""Four times what the roundings of a sum of four floats are, as a part of their sizes."""
LEAST_DOUBT = 2.0**-1000
"""Far more than products lose that are too small for all their bits."""


@step
def is_nearer(one, other, side):
    """Whether a value belongs nearer to the root than another one."""
    return one > other if side > 0 else one < other


@step
def put_node(value, key, node, side, values, words, v, k, p):
    """Write a node."""
    values[v + node] = value
    words[k + node] = key
    words[p + key] = side * node


@step
def rise(value, key, node, side, values, words, v, k, p):
    """Put a value in the place of a node, or nearer to the root if it has to be."""
    while node > 1:
        parent = (node + BRANCHES - 2) // BRANCHES
        if not is_nearer(value, values[v + parent], side):
            break
        put_node(values[v + parent], words[k + parent], node, side, values, words, v, k, p)
        node = parent
    put_node(value, key, node, side, values, words, v, k, p)


@step
def sink(value, key, node, count, side, values, words, v, k, p):
    """Put a value in the place of a node, or farther from the root if it has to be."""
    first = BRANCHES * (node - 1) + 2
    while first <= count:
        child, best = first, values[v + first]
        for node_of_other in range(first + 1, min(first + BRANCHES, count + 1)):
            other = values[v + node_of_other]
            if is_nearer(other, best, side):
                child, best = node_of_other, other
        if not is_nearer(best, value, side):
            break
        put_node(best, words[k + child], node, side, values, words, v, k, p)
        node = child
        first = BRANCHES * (node - 1) + 2
    put_node(value, key, node, side, values, words, v, k, p)


@step
def settle(value, key, node, count, side, values, words, v, k, p):
    """Put a value in the place of a node, or where it has to be instead."""
    parent = (node + BRANCHES - 2) // BRANCHES
    if node > 1 and is_nearer(value, values[v + parent], side):
        rise(value, key, node, side, values, words, v, k, p)
    else:
        sink(value, key, node, count, side, values, words, v, k, p)


@step
def fill_gap(node, count, side, values, words, v, k, p):
    """Put the last value of a heap of so many in the place of a node."""
    if node < count:
        last, key = values[v + count], words[k + count]
        settle(last, key, node, count - 1, side, values, words, v, k, p)


@step
def replace_value(
    value, key, node, count, side, other_count, values, words, v, k, other_v, other_k, p
):
    """Put a value in the place of a node, or of the other root, which then comes to that node."""
    if other_count > 0 and is_nearer(value, values[other_v + 1], side):
        root, root_key = values[other_v + 1], words[other_k + 1]
        rise(root, root_key, node, side, values, words, v, k, p)
        sink(value, key, 1, other_count, -side, values, words, other_v, other_k, p)
    else:
        settle(value, key, node, count, side, values, words, v, k, p)


@step
def move_root(count, side, other_count, values, words, v, k, other_v, other_k, p):
    """Move the root of a heap of so many to the other one."""
    root, key = values[v + 1], words[k + 1]
    rise(root, key, other_count + 1, -side, values, words, other_v, other_k, p)
    fill_gap(1, count, side, values, words, v, k, p)


@step
def remove_ranked(node, lesser, greater, values, words, lv, lk, gv, gk, p):
    """Take the value of a key out, whose word is given; how many there are in both heaps."""
    if node > 0:
        fill_gap(node, lesser, 1, values, words, lv, lk, p)
        lesser -= 1
    elif node < 0:
        fill_gap(-node, greater, -1, values, words, gv, gk, p)
        greater -= 1
    return lesser, greater


@step
def add_ranked(value, key, node, lesser, greater, values, words, lv, lk, gv, gk, p):
    """Put a value in the place of that of another key, whose word is given; how many there are."""
    if node == 0:
        lesser += 1
        node = lesser
    if node > 0:
        replace_value(
            value, key, node, lesser, 1, greater, values, words, lv, lk, gv, gk, p
        )  # fmt: skip
    else:
        replace_value(
            value, key, -node, greater, -1, lesser, values, words, gv, gk, lv, lk, p
        )  # fmt: skip
    return lesser, greater


@step
def part_ranked(wanted, lesser, greater, values, words, lv, lk, gv, gk, p):
    """Move roots until there are so many lesser values; how many there are in both heaps."""
    while lesser > wanted:
        move_root(lesser, 1, greater, values, words, lv, lk, gv, gk, p)
        lesser -= 1
        greater += 1
    while lesser < wanted:
        move_root(greater, -1, lesser, values, words, gv, gk, lv, lk, p)
        lesser += 1
        greater -= 1
    return lesser, greater


@step
def find_place(count, q):
    """(place, part, whole): the quantile is part / whole behind that place of the order, from 0.

    That is (count - 1) * q: of q as it is written if it has nine decimals at most, else as a float.
    """
    units = math.floor(q * DECIMALS + 0.5)
    if units / DECIMALS == q:
        steps = (count - 1) * units
        place = steps // DECIMALS
        return place, float(steps - place * DECIMALS), float(DECIMALS)
    exact = (count - 1) * q
    place = math.floor(exact)
    return place, exact - place, 1.0


@step
def rest_of(value, nearest):
    """What is left of an integer without the float nearest to it; 0 of a number."""
    if not 2.0**53 <= abs(nearest) <= 2.0**63:
        return 0.0
    half = int(nearest * 0.5)
    return float((value - half) - half)


@step
def blend_ranked(one, other, part, whole, scratch, scratch_first):
    """The number at part / whole of the way from one value to the next in order, rounded once.

    Two floats, `total` and `tail`, are off by less than `doubt`: if both ends of that are rounded
    to the same number, so is the exact value (Ziv, Fast evaluation of elementary mathematical
    functions with correctly rounded last bit, 1991). All else goes a longer way.
    """
    left, right = float(one), float(other)
    if part == 0.0:
        return left
    left_rest, right_rest = rest_of(one, left), rest_of(other, right)
    if left_rest != 0.0 or right_rest != 0.0:
        return blend_integers(
            left, left_rest, right, right_rest, part, whole, scratch, scratch_first
        )
    middle = (left + right) * 0.5
    if part == 0.5 * whole and middle - middle == 0.0:  # a sum that is rounded is halved exactly
        return middle + 0.0
    share = part / whole
    back, back_rest = plain_product(share, whole)
    share_rest = ((part - back) - back_rest) / whole
    change, change_rest = two_sum(right, -left)
    product, product_rest = plain_product(change, share)
    more = change * share_rest
    total, error = two_sum(left, product)
    tail = error + (product_rest + (change_rest * share + more))
    sizes = abs(error) + abs(product_rest) + abs(change_rest) + abs(more)
    doubt = sizes * DOUBT + LEAST_DOUBT
    if total + (tail - doubt) == total + (tail + doubt):
        return total + tail + 0.0
    return point_between(left, right, part, whole) + 0.0


@noinline
def blend_integers(left, left_rest, right, right_rest, part, whole, scratch, scratch_first):
    """The number on the way between integers that are no floats, each the sum of two."""
    clear_digits(scratch, scratch_first, SUM_DIGITS)
    add_blended(whole, left, scratch, scratch_first)
    add_blended(whole, left_rest, scratch, scratch_first)
    add_blended(-part, left, scratch, scratch_first)
    add_blended(-part, left_rest, scratch, scratch_first)
    add_blended(part, right, scratch, scratch_first)
    add_blended(part, right_rest, scratch, scratch_first)
    if whole == 1.0:
        return digits_to_sum(scratch, scratch_first)
    return digits_to_mean(int(whole), scratch, scratch_first)


@step
def add_blended(a, b, digits, first):
    """Add a product to the digits of a sum."""
    product, rest = plain_product(a, b)
    add_value(product, digits, first)
    add_value(rest, digits, first)
