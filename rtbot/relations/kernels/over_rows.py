"""The loop of window functions: it goes through the rows that a transaction may have changed.

Both states of the rows are in the store (see rtbot/relations/ordered_store.py). In each partition
that is touched the loop begins so many copies before a touched row as functions look ahead, and
goes on as far as they look back, and until what goes on from row to row is the same in both states.
Of every row it passes, it computes the results in both, and emits those that differ.
"""

from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_rows import (
    apply_touched,
    check_touched,
    finish_touched,
    sort_touched,
    touch_rows,
)
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COPIES,
    FIRST,
    MARK,
    NEXT,
    OWN,
    PENDING,
    PREVIOUS,
    ROW_CELLS,
    ROW_WIDTH,
    SORT_COLUMNS,
    compare_ids,
    find_after,
    find_before,
    sum_before,
)
from rtbot.relations.kernels.window_values import (
    ACCUMULATOR,
    AFTER_PART,
    AHEAD,
    AT_COUNT,
    AT_OUT,
    AT_ROW,
    AT_STAGE,
    AT_TRANSACTION,
    BACK,
    BAD_ITEM,
    BAD_ROW,
    BEFORE_PART,
    BY_COPY,
    CELL,
    CELL_COUNT,
    COUNTED,
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
    HAS_PLACES,
    ITEM,
    ITEMS,
    ITEMS_AT,
    KEEPS,
    LAST_PEERS,
    LAST_ROWS,
    NEEDED,
    OUT_FIELDS,
    OUT_LIMIT,
    OUT_NULLS,
    OUT_WIDTH,
    PEERS,
    PLACES,
    POSITION,
    RANKED,
    RANKS,
    ROWS_TO,
    SHIFTED,
    UNBOUNDED,
    VISITED,
    WHOLE,
    accumulate,
    clear_sum,
    copy_sum,
    count_copies,
    equals_sum,
    find_following,
    find_preceding,
    find_sum,
    find_value,
    has_block,
    keep_sum,
    load_sum,
    read_argument,
    read_frame,
    read_shifted,
    settle_sum,
)
from rtbot.tables.hash_tables import DONE

RARELY_CALLED = (
    *("find_before", "compare_cells", "sum_before", "add_sum", "put_row", "drop_row"),
    *("touch_rows", "check_touched", "sort_touched", "apply_touched", "finish_touched"),
    *("put_entry_of", "split_node", "shrink_nodes", "open_slot", "close_slot", "find_slot"),
    *("move_node_entries", "add_entries", "lead_to", "raise_first"),
)
"""Of the loops over the order; those that are marked are called as well."""

STORE_FULL, OUTPUT_FULL, TOO_LARGE, TOO_MANY = -1, -2, -3, -4
"""Codes besides those of `check_touched`: the store or the output has no room; a sum is beyond
int64, or a transaction emits more rows than it may: it has been taken."""


def take_over(
    sign,
    emits,
    most,
    starts,
    words,
    weights,
    last,
    known,
    cells,
    nodes,
    meta,
    spec,
    labels,
    plan,
    floats,
    touched,
    other,
    out,
    out_weights,
    out_starts,
):
    """Take transactions in turn, and emit what changes: a code.

    When a store is full, it goes on from `plan` after that has grown.
    """
    while plan[AT_TRANSACTION] < last:
        transaction = plan[AT_TRANSACTION]
        if plan[AT_STAGE] == 0:
            end = starts[transaction + 1]
            plan[AT_ROW], plan[AT_COUNT] = touch_rows(
                sign,
                words,
                weights,
                plan[AT_ROW],
                end,
                touched,
                plan[AT_COUNT],
                known,
                cells,
                nodes,
                meta,
                spec,
                labels,
            )
            if plan[AT_ROW] < end:
                return STORE_FULL
            code = check_touched(touched, plan[AT_COUNT], cells, meta)
            if code != DONE:
                for at in range(plan[AT_COUNT]):
                    if cells[touched[at] * meta[ROW_CELLS] + MARK] < 0:
                        plan[BAD_ROW] = touched[at]
                finish_touched(touched, plan[AT_COUNT], cells, nodes, meta)
                plan[AT_COUNT] = 0
                return code
            sort_touched(touched, other, plan[AT_COUNT], known, cells, meta, spec, labels)
            plan[AT_STAGE] = 1
        count = plan[AT_COUNT]
        if emits:
            needed = min(
                bound_output(touched, count, known, cells, nodes, meta, spec, labels, plan),
                most + 1,
            )
            if plan[AT_OUT] + needed > plan[OUT_LIMIT]:
                plan[NEEDED] = needed
                return OUTPUT_FULL
        begin = 0
        while begin < count and (emits or plan[KEEPS] != 0):
            end = find_partition(
                touched, begin, count, known, cells, nodes, meta, spec, labels, plan
            )
            walk_partition(
                touched,
                begin,
                end,
                emits,
                known,
                cells,
                nodes,
                meta,
                spec,
                labels,
                plan,
                floats,
                out,
                out_weights,
            )
            begin = end
        apply_touched(touched, count, cells, nodes, meta)
        plan[AT_STAGE] = 0
        plan[AT_COUNT] = 0
        plan[AT_TRANSACTION] = transaction + 1
        if plan[BAD_ITEM] >= 0:
            return TOO_LARGE
        if emits and plan[AT_OUT] - out_starts[transaction] > most:
            return TOO_MANY
        out_starts[transaction + 1] = plan[AT_OUT]
    return DONE


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


@noinline
def bound_output(touched, count, known, cells, nodes, meta, spec, labels, plan):
    """How many rows the transaction emits at most."""
    local = plan[BACK] < UNBOUNDED and plan[AHEAD] < UNBOUNDED and (plan[KEEPS] == 0)
    local = local and plan[HAS_PLACES] == 0
    needed = 0
    for at in range(count):
        first = touched[at] * meta[ROW_CELLS]
        needed += 2 * cells[first + COPIES] + abs(cells[first + PENDING])
        if local:
            needed += 2 * (plan[BACK] + plan[AHEAD] + 1)
    begin = 0
    while begin < count and (not local):
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
    touched,
    begin,
    end,
    emits,
    known,
    cells,
    nodes,
    meta,
    spec,
    labels,
    plan,
    floats,
    out,
    out_weights,
):
    """Go through what a transaction may have changed in a partition."""
    parts = meta[ROW_CELLS]
    for state in range(2):
        plan[FIRST_ROWS + state] = find_following(-1, state, plan, cells, meta)
    whole = False
    if plan[FRAME] == WHOLE:
        whole = total_partition(
            touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats
        )
    at, last = (begin, -1)
    while at < end:
        if not whole and cells[touched[at] * parts + PENDING] == 0:
            at += 1
            continue
        row = find_start(touched[at], last, whole, known, cells, nodes, meta, spec, labels, plan)
        if last < 0 or cells[last * parts + NEXT] != row:
            begin_range(row, known, cells, nodes, meta, spec, labels, plan, floats)
        since, going = (0, True)
        while going:
            stop = cells[row * parts + NEXT]
            if plan[FRAME] == PEERS:
                stop = sum_peers(row, emits, known, cells, meta, spec, labels, plan, floats)
            while row != stop:
                if at < end and row == touched[at]:
                    at += 1
                if cells[row * parts + PENDING] != 0:
                    since = 0
                else:
                    since += cells[row * parts + COPIES]
                pass_row(
                    row, emits, known, cells, meta, spec, labels, plan, floats, out, out_weights
                )
                last = row
                row = cells[row * parts + NEXT]
            going = row != plan[AFTER_PART] and (
                whole
                or since < plan[AHEAD]
                or (not is_settled(known, meta, spec, labels, plan, floats))
            )
        if row == plan[AFTER_PART]:
            return


@noinline
def find_start(row, last, whole, known, cells, nodes, meta, spec, labels, plan):
    """The first row that a touched one may change, behind `last`, which has been passed."""
    parts = meta[ROW_CELLS]
    if whole:
        return find_after(plan[BEFORE_PART], cells, meta)
    left = plan[BACK]
    before = cells[row * parts + PREVIOUS]
    while left > 0 and before != plan[BEFORE_PART] and (before != last):
        row = before
        left -= min(count_copies(row, 0, cells, meta), count_copies(row, 1, cells, meta))
        before = cells[row * parts + PREVIOUS]
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
            load_sum(
                item,
                base + ACCUMULATOR,
                plan[LAST_ROWS + 1],
                1,
                known,
                cells,
                meta,
                labels,
                plan,
                floats,
            )
            copy_sum(item, base + ACCUMULATOR, base, plan)


@step
def goes_on(item, plan):
    """Whether what a function adds up goes on from row to row."""
    function = plan[ITEMS_AT + item * ITEM + FUNCTION]
    if function == DENSE:
        return True
    return (plan[FRAME] == PEERS or plan[FRAME] == ROWS_TO) and COUNTED <= function < FIRST_OF


@noinline
def is_settled(known, meta, spec, labels, plan, floats):
    """Whether what goes on to the next row is the same in both states."""
    if plan[HAS_PLACES] != 0 and plan[PLACES] != plan[PLACES + 1]:
        return False
    if plan[HAS_PEERS] != 0:
        one, other = (plan[LAST_ROWS], plan[LAST_ROWS + 1])
        if (one < 0) != (other < 0):
            return False
        if plan[HAS_PLACES] != 0 and plan[RANKS] != plan[RANKS + 1]:
            return False
        columns = meta[SORT_COLUMNS]
        if one != other and compare_ids(one, other, columns, known, meta, spec, labels) != 0:
            return False
    for item in range(plan[ITEMS]):
        base = find_sum(item, 0, plan)
        if goes_on(item, plan):
            if not equals_sum(item, base, base + ACCUMULATOR, plan, floats):
                return False
        elif plan[ITEMS_AT + item * ITEM + FUNCTION] == FIRST_OF and (
            plan[FRAME] == PEERS or plan[FRAME] == ROWS_TO
        ):
            if plan[FIRST_ROWS] != plan[FIRST_ROWS + 1]:
                return False
    return True


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
            if copies == 0:
                continue
            plan[LAST_PEERS + state] = stop
            for item in range(plan[ITEMS]):
                if COUNTED <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
                    base = find_sum(item, state, plan)
                    accumulate(item, base, stop, copies, known, meta, labels, plan, floats)
                    if state == 1:
                        keep_sum(item, base, stop, cells, meta, plan)
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
        if function < COUNTED:
            continue
        if function < FIRST_OF:
            settle_sum(item, find_sum(item, state, plan), state, row, plan, floats)
        else:
            found = plan[FIRST_ROWS + state]
            if function > FIRST_OF:
                found = plan[LAST_PEERS + state]
            read_argument(item, state, found, known, meta, plan)


@noinline
def total_partition(
    touched, begin, end, emits, known, cells, nodes, meta, spec, labels, plan, floats
):
    """Add up a partition in both states, and settle it: whether any result differs."""
    first = touched[begin] * meta[ROW_WIDTH]
    tail = find_before(known, first, spec, meta[BY_COLUMNS], True, known, nodes, meta, spec, labels)
    for state in range(2):
        found = tail
        if count_copies(tail, state, cells, meta) == 0:
            found = find_preceding(tail, state, plan, cells, meta)
        plan[LAST_PEERS + state] = found
    row = touched[begin]
    before = find_preceding(row, 1, plan, cells, meta)
    for item in range(plan[ITEMS]):
        if COUNTED <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            base = find_sum(item, 0, plan)
            load_sum(item, base, plan[LAST_PEERS], 0, known, cells, meta, labels, plan, floats)
            load_sum(item, base + ACCUMULATOR, before, 1, known, cells, meta, labels, plan, floats)
    at, going = (begin, True)
    while row != plan[AFTER_PART] and going:
        if at < end and row == touched[at]:
            at += 1
        copies = count_copies(row, 1, cells, meta)
        if copies > 0:
            going = keep_total(
                row,
                copies,
                at < end or cells[row * meta[ROW_CELLS] + COPIES] == 0,
                known,
                cells,
                meta,
                labels,
                plan,
                floats,
            )
        plan[VISITED] += 1
        row = cells[row * meta[ROW_CELLS] + NEXT]
    if not going:
        for item in range(plan[ITEMS]):
            base = find_sum(item, 0, plan)
            copy_sum(item, base, base + ACCUMULATOR, plan)
    for state in range(2):
        if emits and plan[LAST_PEERS + state] >= 0:
            settle_aggregates(state, touched[begin], known, meta, plan, floats)
    differs = False
    if emits and plan[LAST_PEERS] >= 0 and (plan[LAST_PEERS + 1] >= 0):
        for item in range(plan[ITEMS]):
            if plan[ITEMS_AT + item * ITEM + FUNCTION] >= COUNTED:
                differs = differs or not equals_result(item, plan)
    return differs


@noinline
def keep_total(row, copies, going, known, cells, meta, labels, plan, floats):
    """Add a row to the sums of a partition; False if all are as they were, and nothing follows."""
    for item in range(plan[ITEMS]):
        if COUNTED <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
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
    for state in range(2):
        if (after if state == 1 else before) > 0 and plan[HAS_PEERS] != 0:
            enter_row(row, state, known, meta, spec, labels, plan)
    if plan[FRAME] == ROWS_TO and (not emits):
        add_copies_to(row, before, after, known, meta, labels, plan, floats)
    if emits and plan[BY_COPY] != 0:
        for copy in range(max(before, after)):
            if plan[FRAME] == ROWS_TO:
                add_copies_to(
                    row,
                    1 if copy < before else 0,
                    1 if copy < after else 0,
                    known,
                    meta,
                    labels,
                    plan,
                    floats,
                )
            emit_copies(
                row,
                copy,
                1 if copy < before else 0,
                1 if copy < after else 0,
                known,
                cells,
                meta,
                labels,
                plan,
                floats,
                out,
                out_weights,
            )
    elif emits:
        emit_copies(
            row, 0, before, after, known, cells, meta, labels, plan, floats, out, out_weights
        )
    plan[PLACES] += before
    plan[PLACES + 1] += after
    if before > 0:
        plan[LAST_ROWS] = row
    if after > 0:
        plan[LAST_ROWS + 1] = row
        for item in range(plan[ITEMS]):
            if plan[FRAME] != PEERS or plan[ITEMS_AT + item * ITEM + FUNCTION] == DENSE:
                if goes_on(item, plan):
                    keep_sum(item, find_sum(item, 1, plan), row, cells, meta, plan)


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
def add_copies_to(row, before, after, known, meta, labels, plan, floats):
    """Add copies of a row to what goes on, in both states."""
    for item in range(plan[ITEMS]):
        if COUNTED <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            for state in range(2):
                copies = after if state == 1 else before
                if copies > 0:
                    accumulate(
                        item,
                        find_sum(item, state, plan),
                        row,
                        copies,
                        known,
                        meta,
                        labels,
                        plan,
                        floats,
                    )


@noinline
def emit_copies(
    row, copy, before, after, known, cells, meta, labels, plan, floats, out, out_weights
):
    """Emit so many copies of a row, with the results of one, before and after the transaction."""
    if before > 0:
        compute_results(row, copy, 0, known, cells, meta, labels, plan, floats)
    if after > 0:
        compute_results(row, copy, 1, known, cells, meta, labels, plan, floats)
    if before > 0 and after > 0:
        equal = True
        for item in range(plan[ITEMS]):
            equal = equal and equals_result(item, plan)
        if equal:
            after -= before
            before = 0
    if before != 0:
        write_result(row, 0, -before, known, meta, plan, out, out_weights)
    if after != 0:
        write_result(row, 1, after, known, meta, plan, out, out_weights)


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
    at, first = (number * plan[OUT_WIDTH], row * meta[ROW_WIDTH])
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


def sum_again(known, cells, meta, spec, labels, plan, floats):
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
                    item,
                    base,
                    row,
                    cells[row * meta[ROW_CELLS] + COPIES],
                    known,
                    meta,
                    labels,
                    plan,
                    floats,
                )
            if plan[ITEMS_AT + item * ITEM + CELL_COUNT] > 0:
                keep_sum(item, base, row, cells, meta, plan)
        before = row
        row = cells[row * meta[ROW_CELLS] + NEXT]
