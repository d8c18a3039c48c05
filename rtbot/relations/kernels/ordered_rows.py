"""Transactions over rows in an order; see rtbot/relations/ordered_store.py."""

from rtbot.relations.kernels.ordered_search import (
    ASKS,
    COLUMNS,
    COPIES,
    FIRST,
    NEXT,
    PENDING,
    ROW_CELLS,
    ROW_COUNT,
    ROW_MARK,
    ROW_WIDTH,
    TOTAL,
    add_sum,
    compare_ids,
    find_before,
)
from rtbot.relations.kernels.ordered_tree import drop_row, has_order_room, put_row
from rtbot.relations.kernels.weighing import EXCESS, MOST, OVERFLOW
from rtbot.tables.hash_tables import DONE, HALF, is_same_row

RARELY_CALLED = (
    *("find_before", "sum_before", "find_at", "add_sum", "put_row", "drop_row", "split_node"),
    *("touch_rows", "check_touched", "sort_touched", "apply_touched", "finish_touched"),
    *("shrink_nodes", "merge_beside", "raise_first", "compare_cells"),
)
"""Compiled apart, each once, which takes less time."""

ORDER_FULL = 20
"""The code that there would be more copies in an order than an integer counts."""


def touch_rows(
    sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
):
    """Note what rows add to the copies, those that are not there yet as well.

    Returns (row, touched rows): all is done if the row is `end`; else the store has no room for
    that row, or texts need labels, and this goes on from there. `touched` gets every row once, in
    any order.
    """
    parts = meta[ROW_CELLS]
    width = meta[ROW_WIDTH]
    columns = meta[COLUMNS]
    for at in range(begin, end):
        row = find_before(words, at * width, spec, columns, True, known, nodes, meta, spec, labels)
        if row == ASKS:
            return at, count
        if row < 0 or not is_same_row(words, at * width, known, row * width, width):
            if not has_order_room(meta):
                return at, count
            row = put_row(words, at * width, row, known, cells, nodes, meta, spec)
        mark = row * parts + ROW_MARK
        if cells[mark] == 0:
            cells[mark] = 1
            touched[count] = row
            count += 1
        cells[row * parts + PENDING] += sign * (weights[at] & HALF)
        cells[mark] += 2 * sign * (weights[at] >> 32)
    return end, count


def check_touched(touched, count, cells, meta):
    """Let PENDING be the net change of every touched row: DONE, OVERFLOW, EXCESS or ORDER_FULL.

    ROW_MARK of a row to blame is -1 then. ORDER_FULL: more copies in all than an integer counts.
    """
    parts = meta[ROW_CELLS]
    code = DONE
    total = meta[TOTAL]
    for at in range(count):
        first = touched[at] * parts
        wrong = net_pending(first, cells)
        if wrong != DONE:
            cells[first + ROW_MARK] = -1
            code = wrong if code == DONE or wrong == OVERFLOW else code
        elif cells[first + PENDING] < 0:
            total += cells[first + PENDING]
    if code != DONE:
        return code
    for at in range(count):
        first = touched[at] * parts
        if cells[first + PENDING] > 0:
            if cells[first + PENDING] > MOST - total:
                return ORDER_FULL
            total += cells[first + PENDING]
    return DONE


def net_pending(first, cells):
    """Let PENDING of the row whose cells begin there be its net change: DONE, or why it is bad."""
    upper = (cells[first + ROW_MARK] >> 1) + (cells[first + PENDING] >> 32)
    cells[first + ROW_MARK] = 1
    if upper >= 0x80000000 or upper < -0x80000000:
        return OVERFLOW
    net = (upper << 32) | (cells[first + PENDING] & HALF)
    cells[first + PENDING] = net
    if net > 0 and cells[first + COPIES] > MOST - net:
        return OVERFLOW
    return EXCESS if cells[first + COPIES] + net < 0 else DONE


def sort_touched(touched, other, count, known, cells, meta, spec, labels):
    """Put touched rows in order. `other` has as much room."""
    parts = meta[ROW_CELLS]
    columns = meta[COLUMNS]
    at = 1
    while at < count and (
        compare_ids(touched[at - 1], touched[at], columns, known, meta, spec, labels) < 0
    ):
        at += 1
    if at >= count:
        return
    if count > 64 and count > meta[ROW_COUNT] >> 4:
        row = meta[FIRST]
        at = 0
        while row >= 0:
            if cells[row * parts + ROW_MARK] != 0:
                touched[at] = row
                at += 1
            row = cells[row * parts + NEXT]
        return
    size = 1
    while size < count:
        for start in range(0, count, 2 * size):
            merge_touched(
                touched, other, start, min(start + size, count), min(start + 2 * size, count),
                known, meta, spec, labels,
            )  # fmt: skip
        for place in range(count):
            touched[place] = other[place]
        size *= 2


def merge_touched(touched, other, start, middle, end, known, meta, spec, labels):
    """Merge two parts of touched rows that are in order into `other`."""
    columns = meta[COLUMNS]
    left, right = start, middle
    for place in range(start, end):
        takes_right = left >= middle or (
            right < end
            and compare_ids(touched[right], touched[left], columns, known, meta, spec, labels) < 0
        )
        if takes_right:
            other[place] = touched[right]
            right += 1
        else:
            other[place] = touched[left]
            left += 1


def apply_touched(touched, count, cells, nodes, meta):
    """Give the touched rows their new copies; those without any go.

    Deletes come first, so that there are never more copies than an integer counts.
    """
    parts = meta[ROW_CELLS]
    for sign in range(-1, 2, 2):
        for at in range(count):
            change = cells[touched[at] * parts + PENDING]
            if change != 0 and (change > 0) == (sign > 0):
                apply_row(touched[at], cells, nodes, meta)
    finish_touched(touched, count, cells, nodes, meta)


def apply_row(row, cells, nodes, meta):
    """Give a row its new copies; it stays in the order, even without any."""
    first = row * meta[ROW_CELLS]
    change = cells[first + PENDING]
    if change != 0:
        cells[first + COPIES] += change
        cells[first + PENDING] = 0
        meta[TOTAL] += change
        add_sum(row, 0, change, cells, nodes, meta)


def finish_touched(touched, count, cells, nodes, meta):
    """Forget what the transaction has touched and what is pending; rows without copies go."""
    parts = meta[ROW_CELLS]
    for at in range(count):
        row = touched[at]
        cells[row * parts + PENDING] = 0
        cells[row * parts + ROW_MARK] = 0
        if cells[row * parts + COPIES] == 0:
            drop_row(row, cells, nodes, meta)


def list_ordered(ids, cells, meta):
    """The ids of all rows in order."""
    row = meta[FIRST]
    for at in range(len(ids)):
        ids[at] = row
        row = cells[row * meta[ROW_CELLS] + NEXT]


# ---- called from Python, which may not call what other loops call


def add_rows(
    sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
):
    """Touch rows, as `touch_rows` does."""
    return touch_rows(
        sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
    )


def settle_rows(touched, count, cells, nodes, meta):
    """Give touched rows their new copies; with another code than DONE nothing has changed."""
    code = check_touched(touched, count, cells, meta)
    if code == DONE:
        apply_touched(touched, count, cells, nodes, meta)
    else:
        finish_touched(touched, count, cells, nodes, meta)
    return code


def release_rows(touched, count, cells, nodes, meta):
    """Forget what a transaction that is bad has touched."""
    finish_touched(touched, count, cells, nodes, meta)
