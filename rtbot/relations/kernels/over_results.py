"""Results of window functions: of partitions, of equal rows, of rows; what differs is emitted.

The arguments are those of rtbot/relations/kernels/over_rows.py.
"""

from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COPIES,
    NEXT,
    OWN,
    ROW_CELLS,
    ROW_WIDTH,
    SORT_COLUMNS,
    compare_ids,
    count_copies,
    find_before,
)  # fmt: skip
from rtbot.relations.kernels.sliding_frames import read_frame
from rtbot.relations.kernels.window_values import (
    AFTER_PART,
    AT_OUT,
    BY_COPY,
    CELL,
    CELL_COUNT,
    COUNT_OF,
    DENSE,
    FIELDS,
    FIRST_OF,
    FIRST_ROWS,
    FRAME,
    FREE_FRAME,
    FUNCTION,
    GIVEN_FIELDS,
    GIVEN_NULLS,
    HAS_PEERS,
    ITEM,
    ITEMS,
    ITEMS_AT,
    KEEPS,
    LAST_PEERS,
    LAST_ROWS,
    OUT_FIELDS,
    OUT_LIMIT,
    OUT_NULLS,
    PEERS,
    PLACES,
    POSITION,
    RANKED,
    RANKS,
    RESULT_WIDTH,
    ROWS_TO,
    SHIFTED,
    VISITED,
    accumulate,
    copy_sum,
    find_preceding,
    find_sum,
    find_value,
    goes_on,
    has_block,
    keep_sum,
    load_sum,
    read_argument,
    read_shifted,
    settle_result,
)  # fmt: skip


@noinline
def sum_peers(row, emits, known, cells, meta, spec, labels, plan, floats):
    """Add up the rows that are equal in the sort order, and settle it: the row behind them."""
    parts = meta[ROW_CELLS]
    stop = row
    plan[LAST_PEERS], plan[LAST_PEERS + 1] = (-1, -1)
    while stop != plan[AFTER_PART] and (
        stop == row or compare_ids(stop, row, meta[SORT_COLUMNS], known, meta, spec, labels) == 0
    ):
        for state in range(2):
            copies = count_copies(stop, state, cells, meta)
            if copies > 0:
                plan[LAST_PEERS + state] = stop
                add_copies_to(stop, copies, state, known, meta, labels, plan, floats)
        if count_copies(stop, 1, cells, meta) > 0:
            keep_sums(stop, cells, meta, plan)
        stop = cells[stop * parts + NEXT]
    for state in range(2):
        if emits and plan[LAST_PEERS + state] >= 0:
            settle_aggregates(state, row, known, meta, plan, floats)
    return stop


@noinline
def settle_aggregates(state, row, known, meta, plan, floats):
    """Write the results of all aggregates, those of the first and last rows as well."""
    for item in range(plan[ITEMS]):
        function = plan[ITEMS_AT + item * ITEM + FUNCTION]
        if function < COUNT_OF:
            continue
        if function < FIRST_OF:
            settle_result(item, find_sum(item, state, plan), state, row, plan, floats)
        else:
            found = plan[FIRST_ROWS + state]
            if function > FIRST_OF:
                found = plan[LAST_PEERS + state]
            read_argument(item, state, found, known, meta, plan)


@noinline
def total_partition(
    touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats
):  # fmt: skip
    """Add up a partition in both states, and settle it: whether any result differs."""
    first = touched[begin] * meta[ROW_WIDTH]
    tail = find_before(known, first, spec, meta[BY_COLUMNS], True, known, nodes, meta, spec, labels)
    for state in range(2):
        found = tail
        if count_copies(tail, state, cells, meta) == 0:
            found = find_preceding(tail, state, plan, cells, meta)
        plan[LAST_PEERS + state] = found
    if plan[KEEPS] > 1:
        add_partition(touched, begin, end, known, cells, meta, labels, plan, floats)
    for state in range(2):
        if emits and plan[LAST_PEERS + state] >= 0:
            settle_aggregates(state, touched[begin], known, meta, plan, floats)
    if not emits or plan[LAST_PEERS] < 0 or plan[LAST_PEERS + 1] < 0:
        return False
    for item in range(plan[ITEMS]):
        if plan[ITEMS_AT + item * ITEM + FUNCTION] >= COUNT_OF and not equals_result(item, plan):
            return True
    return False


@noinline
def add_partition(touched, begin, end, known, cells, meta, labels, plan, floats):
    """Add up a partition in both states, from its first touched row on."""
    row = touched[begin]
    before = find_preceding(row, 1, plan, cells, meta)
    for item in range(plan[ITEMS]):
        if COUNT_OF <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            for state in range(2):
                base = find_sum(item, state, plan)
                last = before if state == 1 else plan[LAST_PEERS]
                load_sum(item, base, last, state, known, cells, meta, labels, plan, floats)
    at, going = begin, True
    while row != plan[AFTER_PART] and going:
        if at < end and row == touched[at]:
            at += 1
        if count_copies(row, 1, cells, meta) > 0:
            going = at < end or cells[row * meta[ROW_CELLS] + COPIES] == 0
            going = keep_total(row, going, known, cells, meta, labels, plan, floats)
        plan[VISITED] += 1
        row = cells[row * meta[ROW_CELLS] + NEXT]
    if not going:
        for item in range(plan[ITEMS]):
            copy_sum(item, find_sum(item, 0, plan), find_sum(item, 1, plan), plan)


@noinline
def keep_total(row, going, known, cells, meta, labels, plan, floats):
    """Add a row to the sums of a partition; False if all are as they were, and nothing follows."""
    copies = count_copies(row, 1, cells, meta)
    for item in range(plan[ITEMS]):
        if COUNT_OF <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            base = find_sum(item, 1, plan)
            accumulate(item, base, row, copies, known, meta, labels, plan, floats)
            cell = row * meta[ROW_CELLS] + OWN + plan[ITEMS_AT + item * ITEM + CELL]
            for word in range(plan[ITEMS_AT + item * ITEM + CELL_COUNT]):
                going = going or cells[cell + word] != plan[base + word]
            if has_block(item, plan) and plan[base + 3] != 0:
                going = True
            keep_sum(item, base, row, cells, meta, plan)
    return going


@step
def equals_result(item, plan):
    """Whether the result of a function is the same in both states."""
    one, other = find_value(item, 0, plan), find_value(item, 1, plan)
    return plan[one] == plan[other] and plan[one + plan[ITEMS]] == plan[other + plan[ITEMS]]


# ---- a row


@noinline
def pass_row(row, emits, known, cells, meta, spec, labels, plan, floats, out, out_weights):
    """Emit what differs in a row between the states, and go on to the next one."""
    plan[VISITED] += 1
    before = count_copies(row, 0, cells, meta)
    after = count_copies(row, 1, cells, meta)
    if plan[HAS_PEERS] != 0:
        for state in range(2):
            if (after if state == 1 else before) > 0:
                enter_row(row, state, known, meta, spec, labels, plan)
    if emits:
        emit_by_copy(row, before, after, known, cells, meta, labels, plan, floats, out, out_weights)
    elif plan[FRAME] == ROWS_TO:
        add_to_both(row, before, after, known, meta, labels, plan, floats)
    plan[PLACES] += before
    plan[PLACES + 1] += after
    if before > 0:
        plan[LAST_ROWS] = row
    if after > 0:
        plan[LAST_ROWS + 1] = row
        for item in range(plan[ITEMS]):
            kept = plan[FRAME] != PEERS or plan[ITEMS_AT + item * ITEM + FUNCTION] == DENSE
            if kept and goes_on(item, plan):
                keep_sum(item, find_sum(item, 1, plan), row, cells, meta, plan)


@noinline
def emit_by_copy(row, before, after, known, cells, meta, labels, plan, floats, out, out_weights):
    """Emit what differs in a row between the states, copy by copy if copies differ."""
    copies = 1 if plan[BY_COPY] == 0 else max(before, after)
    for copy in range(copies):
        old, new = before, after
        if plan[BY_COPY] != 0:
            old = 1 if copy < before else 0
            new = 1 if copy < after else 0
        if plan[FRAME] == ROWS_TO:
            add_to_both(row, old, new, known, meta, labels, plan, floats)
        emit_copies(row, copy, old, new, known, cells, meta, labels, plan, floats, out, out_weights)


@noinline
def enter_row(row, state, known, meta, spec, labels, plan):
    """Begin new ranks if a row differs from the one before it in the sort order."""
    last = plan[LAST_ROWS + state]
    if last < 0 or compare_ids(last, row, meta[SORT_COLUMNS], known, meta, spec, labels) != 0:
        plan[RANKS + state] = plan[PLACES + state]
        for item in range(plan[ITEMS]):
            if plan[ITEMS_AT + item * ITEM + FUNCTION] == DENSE:
                plan[find_sum(item, state, plan)] += 1


@noinline
def add_copies_to(row, copies, state, known, meta, labels, plan, floats):
    """Add copies of a row to the aggregates that go on."""
    for item in range(plan[ITEMS]):
        if copies > 0 and COUNT_OF <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            base = find_sum(item, state, plan)
            accumulate(item, base, row, copies, known, meta, labels, plan, floats)


@step
def add_to_both(row, before, after, known, meta, labels, plan, floats):
    """Add copies of a row to the aggregates of both states."""
    for state in range(2):
        copies = after if state == 1 else before
        add_copies_to(row, copies, state, known, meta, labels, plan, floats)


@step
def keep_sums(row, cells, meta, plan):
    """Keep in a row what all aggregates have added up to it."""
    for item in range(plan[ITEMS]):
        if COUNT_OF <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            keep_sum(item, find_sum(item, 1, plan), row, cells, meta, plan)


@noinline
def emit_copies(
    row, copy, before, after, known, cells, meta, labels, plan, floats, out, out_weights
):  # fmt: skip
    """Emit so many copies of a row, with the results of one, before and after the transaction."""
    for state in range(2):
        if (after if state == 1 else before) > 0:
            compute_results(row, copy, state, known, cells, meta, labels, plan, floats)
    if before > 0 and after > 0:
        equal = True
        for item in range(plan[ITEMS]):
            equal = equal and equals_result(item, plan)
        if equal:
            after -= before
            before = 0
    for state in range(2):
        weight = after if state == 1 else -before
        if weight != 0:
            write_result(row, state, weight, known, meta, plan, out, out_weights)


@noinline
def compute_results(row, copy, state, known, cells, meta, labels, plan, floats):
    """Write the results of a copy of a row; those of peers and of the partition are there."""
    frame = plan[FRAME]
    if frame == FREE_FRAME:
        read_frame(state, row, copy, known, cells, meta, labels, plan, floats)
    elif frame == ROWS_TO:
        plan[LAST_PEERS + state] = row
        settle_aggregates(state, row, known, meta, plan, floats)
    for item in range(plan[ITEMS]):
        at = find_value(item, state, plan)
        function = plan[ITEMS_AT + item * ITEM + FUNCTION]
        if function == POSITION:
            plan[at] = plan[PLACES + state] + copy + 1
        elif function == RANKED:
            plan[at] = plan[RANKS + state] + 1
        elif function == DENSE:
            plan[at] = plan[find_sum(item, state, plan)]
        elif function == SHIFTED:
            read_shifted(item, state, row, copy, known, cells, meta, plan)


@noinline
def write_result(row, state, weight, known, meta, plan, out, out_weights):
    """Write a row of the output; what has no room is counted only."""
    number = plan[AT_OUT]
    plan[AT_OUT] = number + 1
    if number >= plan[OUT_LIMIT]:
        return
    out_weights[number] = weight
    at, first = (number * plan[RESULT_WIDTH], row * meta[ROW_WIDTH])
    for place in range(plan[FIELDS]):
        out[at + place] = known[first + place]
    nulls = at + plan[OUT_FIELDS]
    for word in range(plan[OUT_NULLS]):
        bits = 0
        left = plan[FIELDS] - 63 * word
        if word < plan[GIVEN_NULLS] and left > 0:
            bits = known[first + plan[GIVEN_FIELDS] + word]
            if left < 63:
                bits &= (1 << left) - 1
        out[nulls + word] = bits
    count = plan[ITEMS]
    for item in range(count):
        place = plan[FIELDS] + item
        out[at + place] = plan[find_value(item, state, plan)]
        if plan[find_value(item, state, plan) + count] != 0:
            out[nulls + place // 63] |= 1 << place % 63
