"""Loops of AsOfJoin: which left rows have another right row nearest to them than before.

While a transaction is at work both states are in the stores. The rows that a right row is nearest
to in the union of both are those up to the next one, so each left row has one right row there. What
that row means in each state is in two columns of its own, if it is touched: itself, or the one that
is nearest without it.
"""

from rtbot.relations.kernels.near_rows import (
    NEAR_FORWARD,
    NEAR_OUT,
    NEAR_STRICT,
    NEAR_TOLERANT,
    compare_shifted,
    emit_near,
    has_same_keys,
    is_loose,
)
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COPIES,
    FIRST,
    NEXT,
    OWN,
    PENDING,
    PRIOR,
    ROW_CELLS,
    ROW_MARK,
    ROW_WIDTH,
    SORT_COLUMNS,
    find_before,
)


def emit_as_of(
    rules, distances, left, right, touched, count, others, other_count, cursor, out_words,
    out_weights,
):  # fmt: skip
    """Emit what touched left and right rows change: the rows out, written or not."""
    made = cursor[NEAR_OUT]
    forward = rules[NEAR_FORWARD] != 0
    for at in range(other_count):
        row = others[other_count - 1 - at] if forward else others[at]
        if not is_loose(right, row) and note_nearest(forward, right, row):
            made = emit_retargeted(
                rules, distances, left, right, row, made, out_words, out_weights
            )
    cells, parts = left[2], left[4][ROW_CELLS]
    for at in range(count):
        row = touched[at]
        change = cells[row * parts + PENDING]
        if change != 0:
            near, differs = -1, False
            if not is_loose(left, row):
                near, differs = find_nearest(rules, left, row, right)
            if not differs:
                near = check_distance(rules, distances, left, row, right, near)
                made = emit_near(
                    rules, left, row, right, near, change, made, out_words, out_weights
                )
    return made


def note_nearest(forward, right, row):
    """Note what a touched right row stands for in both states; whether they differ.

    The touched rows before it, behind it if `forward`, are noted already.
    """
    cells, parts = right[2], right[4][ROW_CELLS]
    first = row * parts
    near = cells[first + NEXT] if forward else cells[first + PRIOR]
    old, new = -1, -1
    if near >= 0 and has_same_keys(right, row, right, near) and not is_loose(right, near):
        old, new = near, near
        if cells[near * parts + ROW_MARK] != 0:
            old, new = cells[near * parts + OWN], cells[near * parts + OWN + 1]
    if cells[first + COPIES] > 0:
        old = row
    if cells[first + COPIES] + cells[first + PENDING] > 0:
        new = row
    cells[first + OWN] = old
    cells[first + OWN + 1] = new
    return old != new


def find_nearest(rules, left, row, right):
    """The right row that a left row has in both states, -1 if none; whether it has two."""
    l_known, _, _, _, l_meta, l_spec, _ = left
    known, _, cells, nodes, meta, spec, labels = right
    parts = meta[ROW_CELLS]
    forward = rules[NEAR_FORWARD] != 0
    near = find_before(
        l_known, row * l_meta[ROW_WIDTH], l_spec, meta[SORT_COLUMNS],
        (rules[NEAR_STRICT] != 0) == forward, known, nodes, meta, spec, labels,
    )  # fmt: skip
    if forward:
        near = meta[FIRST] if near < 0 else cells[near * parts + NEXT]
    if near < 0 or not has_same_keys(left, row, right, near) or is_loose(right, near):
        return -1, False
    if cells[near * parts + ROW_MARK] == 0:
        return near, False
    old = cells[near * parts + OWN]
    return old, old != cells[near * parts + OWN + 1]


def check_distance(rules, distances, left, row, right, near):
    """The right row, or -1 if it is too far away."""
    if near < 0 or rules[NEAR_TOLERANT] == 0:
        return near
    forward = rules[NEAR_FORWARD] != 0
    order = compare_shifted(rules, distances, left, row, 1 if forward else 0, right, near)
    return -1 if (order < 0 if forward else order > 0) else near


def emit_retargeted(rules, distances, left, right, row, made, out_words, out_weights):
    """Emit the left rows that had another right row than they have now."""
    cells, meta = left[2], left[4]
    parts = meta[ROW_CELLS]
    old = right[2][row * right[4][ROW_CELLS] + OWN]
    new = right[2][row * right[4][ROW_CELLS] + OWN + 1]
    at, end = find_targets(rules, left, right, row)
    while at != end:
        at = meta[FIRST] if at < 0 else cells[at * parts + NEXT]
        if is_loose(left, at):
            break
        before = check_distance(rules, distances, left, at, right, old)
        after = check_distance(rules, distances, left, at, right, new)
        copies = cells[at * parts + COPIES]
        net = copies + cells[at * parts + PENDING]
        if before == after:
            net -= copies
            copies = 0
        made = emit_near(rules, left, at, right, before, -copies, made, out_words, out_weights)
        made = emit_near(rules, left, at, right, after, net, made, out_words, out_weights)
    return made


def find_targets(rules, left, right, row):
    """The left rows that a right row is nearest to in the union: behind the first, to the last."""
    forward = rules[NEAR_FORWARD] != 0
    past = (rules[NEAR_STRICT] != 0) != forward
    cells, parts = right[2], right[4][ROW_CELLS]
    own = find_bound(left, right, row, past)
    other = cells[row * parts + PRIOR] if forward else cells[row * parts + NEXT]
    if other >= 0 and has_same_keys(right, row, right, other) and not is_loose(right, other):
        end = find_bound(left, right, other, past)
    else:
        known, _, _, nodes, meta, spec, labels = left
        end = find_before(
            right[0], row * right[4][ROW_WIDTH], right[5], meta[BY_COLUMNS], not forward, known,
            nodes, meta, spec, labels,
        )  # fmt: skip
    return (end, own) if forward else (own, end)


def find_bound(left, right, row, past):
    """The last left row before a right one, in key and matched field."""
    known, _, _, nodes, meta, spec, labels = left
    return find_before(
        right[0], row * right[4][ROW_WIDTH], right[5], meta[SORT_COLUMNS], past, known, nodes, meta,
        spec, labels,
    )  # fmt: skip
