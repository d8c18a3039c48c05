"""What joins by the distance of two fields share: two stores of rows in order, side by side.

Both are sorted by the same key, then by the field that is matched, then by all fields. A side is a
tuple of the arrays of its store, with the words as float64 as well: `known, floats, cells, nodes,
meta, spec, labels`. `rules` are those of join_output.py and the words below; `distances` has the
two distances of numbers, those of integers are in the rules. A row with a null in its key or in the
matched field is loose: it matches nothing.
"""

from rtbot.relations.kernels.join_output import LEFT_WIDTH, OUT_WIDTH, RIGHT_WIDTH, write_joined
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    ENTRIES,
    FAN,
    KIND,
    LEVEL,
    NODE_HEAD,
    NUMBER,
    PLACE,
    ROOT,
    ROW_WIDTH,
    SORT_COLUMNS,
    SPEC,
    SUMS,
    compare_cells,
    has_null,
)
from rtbot.relations.kernels.weighing import MOST

NEAR_LEFT, NEAR_FORWARD, NEAR_STRICT, NEAR_TOLERANT, NEAR_LOWER, NEAR_UPPER = range(17, 23)
NEAR_RULES = 23
"""Words of the rules; NEAR_LEFT: left rows without a partner come out with nulls."""

NEAR_AT, NEAR_SIDE, NEAR_ROW, NEAR_TOUCHED, NEAR_OTHERS, NEAR_OUT, NEAR_NEEDED = range(7)
NEAR_CURSOR = 7
"""The transaction, the side that is being touched (2: none), its row, touched rows of both."""


def is_loose(side, row):
    """Whether a row has a null in its key or in the matched field."""
    known, _, _, _, meta, spec, _ = side
    for column in range(meta[SORT_COLUMNS]):
        if has_null(known, row * meta[ROW_WIDTH], spec, column * SPEC):
            return True
    return False


def has_same_keys(side, row, other_side, other):
    """Whether two rows have equal keys; that of nulls is equal too."""
    known, _, _, _, meta, spec, labels = side
    others, _, _, _, other_meta, other_spec, _ = other_side
    return compare_cells(
        known, row * meta[ROW_WIDTH], spec, others, other * other_meta[ROW_WIDTH], other_spec,
        labels, meta[BY_COLUMNS],
    ) == 0  # fmt: skip


def add_saturated(value, distance):
    """The sum of two integers, at the edges of int64 where it is beyond."""
    if distance > 0:
        return MOST if value > MOST - distance else value + distance
    return -MOST - 1 if value < -MOST - 1 - distance else value + distance


def compare_shifted(rules, distances, left, row, number, right, other):
    """Whether a left row's field and a distance is below a right row's (-1), above (1) or 0."""
    l_known, l_floats, _, _, l_meta, l_spec, _ = left
    r_known, r_floats, _, _, r_meta, r_spec, _ = right
    part = l_meta[BY_COLUMNS] * SPEC
    one = row * l_meta[ROW_WIDTH] + l_spec[part + PLACE]
    two = other * r_meta[ROW_WIDTH] + r_spec[part + PLACE]
    if l_spec[part + KIND] == NUMBER:
        value = l_floats[one] + distances[number]
        wanted = r_floats[two]
        if value != value or wanted != wanted:
            return (1 if value != value else 0) - (1 if wanted != wanted else 0)
        return (1 if value > wanted else 0) - (1 if value < wanted else 0)
    whole = add_saturated(l_known[one], rules[NEAR_LOWER + number])
    return (1 if whole > r_known[two] else 0) - (1 if whole < r_known[two] else 0)


def find_shifted(rules, distances, left, number, past, right, other):
    """The last left row whose key and field with a distance come before a right row's; -1: none.

    An equal one comes before it if `past`.
    """
    _, _, _, nodes, meta, _, _ = left
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    node = meta[ROOT]
    while True:
        base = node * size
        low = 0
        high = nodes[base + ENTRIES]
        while low < high:
            middle = (low + high) >> 1
            row = nodes[base + NODE_HEAD + 3 * fan + middle]
            order = compare_near(rules, distances, left, row, number, right, other)
            if order < 0 or (past and order == 0):
                low = middle + 1
            else:
                high = middle
        if nodes[base + LEVEL] == 0:
            return nodes[base + NODE_HEAD + 3 * fan + low - 1] if low > 0 else -1
        node = nodes[base + NODE_HEAD + 2 * fan + max(low - 1, 0)]


def compare_near(rules, distances, left, row, number, right, other):
    """Whether the key of a left row, then its field with a distance, is before a right row's."""
    known, _, _, _, meta, spec, labels = left
    others, _, _, _, other_meta, other_spec, _ = right
    first = row * meta[ROW_WIDTH]
    columns = meta[BY_COLUMNS]
    order = compare_cells(
        known, first, spec, others, other * other_meta[ROW_WIDTH], other_spec, labels, columns
    )
    if order != 0:
        return order
    if has_null(known, first, spec, columns * SPEC):
        return 1
    return compare_shifted(rules, distances, left, row, number, right, other)


def emit_near(rules, left, row, right, other, weight, made, out_words, out_weights):
    """Write a left row with a right one, -1 is none, where there is room: the rows out."""
    if weight == 0 or (other < 0 and rules[NEAR_LEFT] == 0):
        return made
    if made < len(out_weights):
        write_joined(
            rules, rules[OUT_WIDTH], left[0], row * rules[LEFT_WIDTH], right[0],
            other * rules[RIGHT_WIDTH] if other >= 0 else -1, out_words, made * rules[OUT_WIDTH],
        )  # fmt: skip
        out_weights[made] = weight
    return made + 1
