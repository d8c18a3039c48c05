"""The loop of window functions: it goes through the rows that a transaction may have changed.

Both states of the rows are in the store (see rtbot/relations/ordered_store.py). In each partition
that is touched the loop begins so many copies before a touched row as functions look ahead, and
goes on as far as they look back, and until what goes on from row to row is the same in both states.
Of every row it passes, it computes the results in both, and emits those that differ.

numba compiles a function again for an argument that is a constant: states come from loops, and
some zeros are computed.
"""

from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_rows import (
    apply_touched,
    check_touched,
    sort_touched,
    touch_rows,
)  # fmt: skip
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COLUMNS,
    COPIES,
    FIRST,
    NEXT,
    PENDING,
    PRIOR,
    ROW_CELLS,
    ROW_WIDTH,
    SORT_COLUMNS,
    compare_ids,
    count_copies,
    find_after,
    find_before,
    sum_before,
)  # fmt: skip
from rtbot.relations.kernels.over_results import pass_row, sum_peers, total_partition
from rtbot.relations.kernels.sliding_frames import forget_frames
from rtbot.relations.kernels.window_values import (
    ACCUMULATOR,
    AFTER_PART,
    AT_COUNT,
    AT_OUT,
    AT_ROW,
    AT_STAGE,
    AT_TRANSACTION,
    BAD_ITEM,
    BEFORE_PART,
    CELL_COUNT,
    DENSE,
    FIRST_OF,
    FIRST_ROWS,
    FRAME,
    FUNCTION,
    HAS_PEERS,
    HAS_PLACES,
    ITEM,
    ITEMS,
    ITEMS_AT,
    KEEPS,
    LAST_ROWS,
    OUT_LIMIT,
    OUT_NEEDED,
    PEERS,
    PLACES,
    RANKS,
    REACH_AHEAD,
    REACH_BACK,
    ROWS_TO,
    UNBOUNDED,
    WHOLE,
    accumulate,
    clear_sum,
    copy_sum,
    equals_sum,
    find_following,
    find_preceding,
    find_sum,
    goes_on,
    keep_sum,
    load_sum,
)  # fmt: skip  # fmt: skip
from rtbot.tables.hash_tables import DONE

STORE_FULL, OUTPUT_FULL, TOO_LARGE, EMITS_TOO_MANY = -1, -2, -3, -4
"""Codes besides those of `check_touched`: the store or the output has no room; a sum is beyond
int64, or a transaction emits more rows than it may: it has been taken."""


def take_over(
    sign, emits, most, starts, words, weights, last, known, cells, nodes, meta, spec, labels, plan,
    floats, touched, other, out, out_weights, out_starts,
):  # fmt: skip
    """Take transactions in turn, and emit what changes: a code.

    When a store is full, it goes on from `plan` after that has grown.
    """
    while plan[AT_TRANSACTION] < last:
        transaction = plan[AT_TRANSACTION]
        if plan[AT_STAGE] == 0:
            code = begin_transaction(
                sign, words, weights, starts[transaction + 1], known, cells, nodes, meta, spec,
                labels, plan, touched, other,
            )  # fmt: skip
            if code != DONE:
                return code
            plan[AT_STAGE] = 1
        count = plan[AT_COUNT]
        if emits and not has_output_room(
            touched, count, most, known, cells, nodes, meta, spec, labels, plan
        ):
            return OUTPUT_FULL
        begin = 0 * count
        while begin < count and (emits or plan[KEEPS] != 0):
            end = find_partition(
                touched, begin, count, known, cells, nodes, meta, spec, labels, plan
            )
            walk_partition(
                touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats,
                out, out_weights,
            )  # fmt: skip
            begin = end
        apply_touched(touched, count, cells, nodes, meta)
        plan[AT_STAGE] = 0
        plan[AT_COUNT] = 0
        plan[AT_TRANSACTION] = transaction + 1
        if plan[BAD_ITEM] >= 0:
            return TOO_LARGE
        if emits and plan[AT_OUT] - out_starts[transaction] > most:
            return EMITS_TOO_MANY
        out_starts[transaction + 1] = plan[AT_OUT]
    return DONE


@noinline
def begin_transaction(
    sign, words, weights, end, known, cells, nodes, meta, spec, labels, plan, touched, other
):  # fmt: skip
    """Touch the rows of a transaction, and put them in order."""
    plan[AT_ROW], plan[AT_COUNT] = touch_rows(
        sign, words, weights, plan[AT_ROW], end, touched, plan[AT_COUNT], known, cells, nodes,
        meta, spec, labels,
    )  # fmt: skip
    if plan[AT_ROW] < end:
        return STORE_FULL
    code = check_touched(touched, plan[AT_COUNT], cells, meta)
    if code == DONE:
        sort_touched(touched, other, plan[AT_COUNT], known, cells, meta, spec, labels)
    return code


@noinline
def find_partition(touched, begin, count, known, cells, nodes, meta, spec, labels, plan):
    """Find the partition of a touched row: the place behind its last touched row.

    BEFORE_PART and AFTER_PART of `plan` are the rows around it.
    """
    row, by = (touched[begin], meta[BY_COLUMNS])
    plan[BEFORE_PART] = -1
    plan[AFTER_PART] = -1
    if by == 0:
        return count
    first = row * meta[ROW_WIDTH]
    plan[BEFORE_PART] = find_before(known, first, spec, by, False, known, nodes, meta, spec, labels)
    tail = find_before(known, first, spec, by, True, known, nodes, meta, spec, labels)
    plan[AFTER_PART] = cells[tail * meta[ROW_CELLS] + NEXT]
    end = begin + 1
    while end < count and compare_ids(touched[end], row, by, known, meta, spec, labels) == 0:
        end += 1
    return end


@step
def has_output_room(touched, count, most, known, cells, nodes, meta, spec, labels, plan):
    """Whether there is room for what a transaction emits; if not, OUT_NEEDED says how much is."""
    bound = bound_output(touched, count, known, cells, nodes, meta, spec, labels, plan)
    plan[OUT_NEEDED] = min(bound, most + 1)
    return plan[AT_OUT] + plan[OUT_NEEDED] <= plan[OUT_LIMIT]


@noinline
def bound_output(touched, count, known, cells, nodes, meta, spec, labels, plan):
    """How many rows the transaction emits at most."""
    local = plan[REACH_BACK] < UNBOUNDED and plan[REACH_AHEAD] < UNBOUNDED and (plan[KEEPS] == 0)
    local = local and plan[HAS_PLACES] == 0
    needed = 0
    for at in range(count):
        first = touched[at] * meta[ROW_CELLS]
        needed += 2 * cells[first + COPIES] + abs(cells[first + PENDING])
        if local:
            needed += 2 * (plan[REACH_BACK] + plan[REACH_AHEAD] + 1)
    begin = 0 * count
    while begin < count and not local:
        end = find_partition(touched, begin, count, known, cells, nodes, meta, spec, labels, plan)
        head = find_after(plan[BEFORE_PART], cells, meta)
        begin = end
        needed += 2 * (
            sum_before(plan[AFTER_PART], 0, cells, nodes, meta)
            - sum_before(head, 0, cells, nodes, meta)
        )
    return needed


@noinline
def walk_partition(
    touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats, out,
    out_weights,
):  # fmt: skip
    """Go through what a transaction may have changed in a partition."""
    parts = meta[ROW_CELLS]
    for state in range(2):
        plan[FIRST_ROWS + state] = find_following(-1, state, plan, cells, meta)
    whole = plan[FRAME] == WHOLE and total_partition(
        touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats
    )
    at, last = begin, -1
    while at < end:
        if not whole and cells[touched[at] * parts + PENDING] == 0:
            at += 1
            continue
        row = find_start(touched[at], last, whole, known, cells, nodes, meta, spec, labels, plan)
        if last < 0 or cells[last * parts + NEXT] != row:
            begin_range(row, known, cells, nodes, meta, spec, labels, plan, floats)
        last = walk_range(
            row, touched[at], whole, emits, known, cells, meta, spec, labels, plan, floats, out,
            out_weights,
        )  # fmt: skip
        if cells[last * parts + NEXT] == plan[AFTER_PART]:
            return
        while at < end and (
            compare_ids(touched[at], last, meta[COLUMNS], known, meta, spec, labels) <= 0
        ):
            at += 1


@noinline
def walk_range(
    row, target, whole, emits, known, cells, meta, spec, labels, plan, floats, out, out_weights
):  # fmt: skip
    """Go through rows, a touched one and on until no more differ, or all if `whole`: the last."""
    parts = meta[ROW_CELLS]
    since, last, reached = 0, row, False
    while row != plan[AFTER_PART]:
        stop = cells[row * parts + NEXT]
        if plan[FRAME] == PEERS:
            stop = sum_peers(row, emits, known, cells, meta, spec, labels, plan, floats)
        while row != stop:
            if cells[row * parts + PENDING] != 0:
                since = 0
            else:
                since += cells[row * parts + COPIES]
            reached = reached or row == target
            pass_row(row, emits, known, cells, meta, spec, labels, plan, floats, out, out_weights)
            last = row
            row = cells[row * parts + NEXT]
        settled = reached and not whole and since >= plan[REACH_AHEAD]
        if settled and is_settled(known, meta, spec, labels, plan, floats):
            return last
    return last


@noinline
def find_start(row, last, whole, known, cells, nodes, meta, spec, labels, plan):
    """The first row that a touched one may change, behind `last`, which has been passed."""
    parts = meta[ROW_CELLS]
    if whole:
        return find_after(plan[BEFORE_PART], cells, meta)
    left = plan[REACH_BACK]
    before = cells[row * parts + PRIOR]
    while left > 0 and before != plan[BEFORE_PART] and (before != last):
        row = before
        left -= min(count_copies(row, 0, cells, meta), count_copies(row, 1, cells, meta))
        before = cells[row * parts + PRIOR]
    if plan[FRAME] == PEERS:
        row = find_first_peer(row, known, cells, nodes, meta, spec, labels)
    return row


@step
def find_first_peer(row, known, cells, nodes, meta, spec, labels):
    """The first row that is equal to a row in the sort order."""
    first = row * meta[ROW_WIDTH]
    before = find_before(
        known, first, spec, meta[SORT_COLUMNS], False, known, nodes, meta, spec, labels
    )
    return find_after(before, cells, meta)


@noinline
def begin_range(row, known, cells, nodes, meta, spec, labels, plan, floats):
    """Load what goes on from the rows before a row, which are the same in both states."""
    forget_frames(plan)
    for state in range(2):
        plan[LAST_ROWS + state] = find_preceding(row, state, plan, cells, meta)
    if plan[HAS_PLACES] != 0:
        head = find_after(plan[BEFORE_PART], cells, meta)
        head = sum_before(head, 0, cells, nodes, meta)
        place = sum_before(row, 0, cells, nodes, meta) - head
        plan[PLACES], plan[PLACES + 1] = (place, place)
        if plan[HAS_PEERS] != 0:
            first = find_first_peer(row, known, cells, nodes, meta, spec, labels)
            place = sum_before(first, 0, cells, nodes, meta) - head
            plan[RANKS], plan[RANKS + 1] = (place, place)
    for item in range(plan[ITEMS]):
        if goes_on(item, plan):
            base = find_sum(item, 0, plan)
            for state in range(1, 2):
                last = plan[LAST_ROWS + state]
                load_sum(
                    item, base + ACCUMULATOR, last, state, known, cells, meta, labels, plan, floats
                )
            copy_sum(item, base + ACCUMULATOR, base, plan)


@noinline
def is_settled(known, meta, spec, labels, plan, floats):
    """Whether what goes on to the next row is the same in both states."""
    if plan[HAS_PLACES] != 0 and plan[PLACES] != plan[PLACES + 1]:
        return False
    if plan[HAS_PEERS] != 0 and not are_peers_settled(known, meta, spec, labels, plan):
        return False
    going = plan[FRAME] == PEERS or plan[FRAME] == ROWS_TO
    for item in range(plan[ITEMS]):
        if goes_on(item, plan):
            one, other = find_sum(item, 0, plan), find_sum(item, 1, plan)
            if not equals_sum(item, one, other, plan, floats):
                return False
        elif going and plan[ITEMS_AT + item * ITEM + FUNCTION] == FIRST_OF:
            going = plan[FIRST_ROWS] == plan[FIRST_ROWS + 1]
            if not going:
                return False
    return True


@step
def are_peers_settled(known, meta, spec, labels, plan):
    """Whether the next row has the same rank in both states."""
    one, other = plan[LAST_ROWS], plan[LAST_ROWS + 1]
    if (one < 0) != (other < 0):
        return False
    if plan[HAS_PLACES] != 0 and plan[RANKS] != plan[RANKS + 1]:
        return False
    columns = meta[SORT_COLUMNS]
    return one == other or compare_ids(one, other, columns, known, meta, spec, labels) == 0


def sum_rows_again(known, cells, meta, spec, labels, plan, floats):
    """Keep in all rows what goes on, where no row has it yet."""
    row, before = (meta[FIRST], -1)
    while row >= 0:
        begins = before < 0
        begins = (
            begins or compare_ids(before, row, meta[BY_COLUMNS], known, meta, spec, labels) != 0
        )
        differs = (
            begins or compare_ids(before, row, meta[SORT_COLUMNS], known, meta, spec, labels) != 0
        )
        for item in range(plan[ITEMS]):
            base = find_sum(item, 1, plan)
            if begins:
                clear_sum(base, plan)
            if plan[ITEMS_AT + item * ITEM + FUNCTION] == DENSE:
                plan[base] += 1 if differs else 0
            elif plan[ITEMS_AT + item * ITEM + CELL_COUNT] > 0:
                accumulate(
                    item, base, row, cells[row * meta[ROW_CELLS] + COPIES], known, meta, labels,
                    plan, floats,
                )  # fmt: skip
            if plan[ITEMS_AT + item * ITEM + CELL_COUNT] > 0:
                keep_sum(item, base, row, cells, meta, plan)
        before = row
        row = cells[row * meta[ROW_CELLS] + NEXT]
