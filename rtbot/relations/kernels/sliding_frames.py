"""Frames of a fixed distance, which move with the rows: what enters and what leaves is added up.

For each state SLIDE words of `plan` at SLIDES say where the frame is: the first copy in it, the
copy that is next to enter (row -1 is none, UNSET is no frame yet), the last row that has entered,
and at which copy the loop is. Copies are counted from where it has begun. Sums and counts take back
what leaves. A least or greatest value is the first of a queue of those that no later one has
replaced (Lemire, Streaming maximum-minimum filter, 2006): for each function and state its begin and
length, then rows, each with the number of its last copy, in a ring of RING_ROOM entries.
"""

from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_search import ROW_WIDTH, count_copies
from rtbot.relations.kernels.window_values import (
    ARGUMENT,
    COUNT_OF,
    FIRST_OF,
    FRAME_END,
    FRAME_START,
    FUNCTION,
    GREATEST_OF,
    ITEM,
    ITEMS,
    ITEMS_AT,
    LEAST_OF,
    RING_AT,
    RING_ROOM,
    SHIFTED,
    SLIDES,
    UNBOUNDED,
    UNSET,
    VALUE_KIND,
    accumulate,
    clear_sum,
    comes_before,
    find_following,
    find_sum,
    find_value,
    is_null_in,
    move_back,
    read_argument,
    settle_result,
)  # fmt: skip

LOW_ROW, LOW_COPY, LOW_AT, HIGH_ROW, HIGH_COPY, HIGH_AT, LAST_IN, NOW_AT = range(8)
SLIDE = 8


@noinline
def read_frame(state, row, copy, known, cells, meta, labels, plan, floats):
    """Let the results of all aggregates be those of the frame of a copy, the one after the last."""
    slide_frame(state, row, copy, known, cells, meta, labels, plan, floats)
    at = SLIDES + state * SLIDE
    for item in range(plan[ITEMS]):
        function = plan[ITEMS_AT + item * ITEM + FUNCTION]
        base = find_sum(item, state, plan)
        if function == LEAST_OF or function == GREATEST_OF:
            read_extreme(item, base, state, known, meta, plan)
        if COUNT_OF <= function < FIRST_OF:
            settle_result(item, base, state, row, plan, floats)
        elif function >= FIRST_OF and plan[at + LOW_AT] < plan[at + HIGH_AT]:
            found = plan[at + LOW_ROW] if function == FIRST_OF else plan[at + LAST_IN]
            read_argument(item, state, found, known, meta, plan)
        elif function >= FIRST_OF:
            plan[find_value(item, state, plan)] = 0
            plan[find_value(item, state, plan) + plan[ITEMS]] = 1


@step
def forget_frames(plan):
    """Let no frame or shift be there: the next copy does not follow the last one."""
    for state in range(2):
        plan[SLIDES + state * SLIDE + HIGH_ROW] = UNSET
        for item in range(plan[ITEMS]):
            if plan[ITEMS_AT + item * ITEM + FUNCTION] == SHIFTED:
                plan[find_sum(item, state, plan) + 2] = UNSET


@noinline
def begin_frame(state, row, copy, cells, meta, plan):
    """Let the frame be empty, where the first copy comes that will be in it or be passed."""
    at = SLIDES + state * SLIDE
    moved = 0 * copy
    if plan[FRAME_START] < 0:
        row, copy, moved = move_back(row, copy, -plan[FRAME_START], state, plan, cells, meta)
    plan[at + LOW_ROW], plan[at + LOW_COPY], plan[at + LOW_AT] = (row, copy, -moved)
    plan[at + HIGH_ROW], plan[at + HIGH_COPY], plan[at + HIGH_AT] = (row, copy, -moved)
    plan[at + NOW_AT] = 0
    for item in range(plan[ITEMS]):
        if COUNT_OF <= plan[ITEMS_AT + item * ITEM + FUNCTION] < FIRST_OF:
            clear_sum(find_sum(item, state, plan), plan)
            plan[find_ring(item, state, plan) + 1] = 0


@noinline
def slide_frame(state, row, copy, known, cells, meta, labels, plan, floats):
    """Let the frame be that of a copy: later copies enter, earlier ones leave."""
    at = SLIDES + state * SLIDE
    if plan[at + HIGH_ROW] == UNSET:
        begin_frame(state, row, copy, cells, meta, plan)
    else:
        plan[at + NOW_AT] += 1
    end = plan[at + NOW_AT] + plan[FRAME_END] + 1
    while plan[at + HIGH_ROW] >= 0 and plan[at + HIGH_AT] < end:
        found = plan[at + HIGH_ROW]
        copies = pass_copies(at + HIGH_ROW, end, state, plan, cells, meta)
        plan[at + LAST_IN] = found
        enter_copies(found, copies, state, known, meta, labels, plan, floats)
    begin = min(plan[at + NOW_AT] + plan[FRAME_START], plan[at + HIGH_AT])
    while plan[at + LOW_AT] < begin:
        found = plan[at + LOW_ROW]
        copies = pass_copies(at + LOW_ROW, begin, state, plan, cells, meta)
        leave_copies(found, copies, state, known, meta, labels, plan, floats)


@step
def pass_copies(at, end, state, plan, cells, meta):
    """Move a row, a copy and its number at a place of the plan on, up to `end`: by how many."""
    row, copy = (plan[at], plan[at + 1])
    rest = count_copies(row, state, cells, meta) - copy
    copies = min(rest, end - plan[at + 2])
    plan[at + 2] += copies
    plan[at + 1] = copy + copies
    if copies == rest:
        plan[at] = find_following(row, state, plan, cells, meta)
        plan[at + 1] = 0
    return copies


@noinline
def enter_copies(row, copies, state, known, meta, labels, plan, floats):
    """Add copies of a row to all aggregates."""
    for item in range(plan[ITEMS]):
        function = plan[ITEMS_AT + item * ITEM + FUNCTION]
        base = find_sum(item, state, plan)
        if COUNT_OF <= function < LEAST_OF:
            accumulate(item, base, row, copies, known, meta, labels, plan, floats)
        elif (function == LEAST_OF or function == GREATEST_OF) and not is_null_in(
            row, item, known, meta, plan
        ):
            plan[base] += copies
            put_extreme(item, state, row, known, meta, labels, plan)


@noinline
def leave_copies(row, copies, state, known, meta, labels, plan, floats):
    """Take copies of a row out of all aggregates."""
    for item in range(plan[ITEMS]):
        function = plan[ITEMS_AT + item * ITEM + FUNCTION]
        base = find_sum(item, state, plan)
        if COUNT_OF <= function < LEAST_OF:
            accumulate(item, base, row, -copies, known, meta, labels, plan, floats)
            if plan[base] == 0:
                clear_sum(base, plan)
        elif (function == LEAST_OF or function == GREATEST_OF) and not is_null_in(
            row, item, known, meta, plan
        ):
            plan[base] -= copies
            drop_extremes(item, state, plan)


# ---- least and greatest values


@step
def find_ring(item, state, plan):
    """Where the queue of a function is."""
    return plan[RING_AT] + (2 * item + state) * (2 + 2 * plan[RING_ROOM])


@step
def find_queued(ring, number, plan):
    """Where an entry of a queue is."""
    number += plan[ring]
    room = plan[RING_ROOM]
    return ring + 2 + 2 * (number - room if number >= room else number)


@noinline
def put_extreme(item, state, row, known, meta, labels, plan):
    """Put a row at the end of a queue, in place of those whose values are no better.

    Where frames have no begin, only the best value is kept, for no row ever leaves.
    """
    ring = find_ring(item, state, plan)
    part = ITEMS_AT + item * ITEM
    while plan[ring + 1] > 0:
        last = plan[find_queued(ring, plan[ring + 1] - 1, plan)]
        if is_better(part, last, row, known, meta, labels, plan):
            break
        plan[ring + 1] -= 1
    if plan[ring + 1] == 0:
        plan[ring] = 0
    elif plan[FRAME_START] == -UNBOUNDED:
        return
    entry = find_queued(ring, plan[ring + 1], plan)
    plan[entry] = row
    plan[entry + 1] = plan[SLIDES + state * SLIDE + HIGH_AT] - 1
    plan[ring + 1] += 1


@step
def is_better(part, one, other, known, meta, labels, plan):
    """Whether a row has a less value than another one, or a greater one."""
    width, place, kind = (meta[ROW_WIDTH], plan[part + ARGUMENT], plan[part + VALUE_KIND])
    first, second = (known[one * width + place], known[other * width + place])
    if plan[part + FUNCTION] == LEAST_OF:
        return comes_before(first, second, kind, labels)
    return comes_before(second, first, kind, labels)


@step
def drop_extremes(item, state, plan):
    """Take what has left the frame from the begin of a queue."""
    ring = find_ring(item, state, plan)
    low = plan[SLIDES + state * SLIDE + LOW_AT]
    while plan[ring + 1] > 0 and plan[find_queued(ring, 0, plan) + 1] < low:
        plan[ring] = plan[ring] + 1 if plan[ring] + 1 < plan[RING_ROOM] else 0
        plan[ring + 1] -= 1


@step
def read_extreme(item, base, state, known, meta, plan):
    """Let the accumulator of a function have the first value of its queue."""
    ring = find_ring(item, state, plan)
    if plan[ring + 1] > 0:
        row = plan[find_queued(ring, 0, plan)]
        plan[base + 1] = known[row * meta[ROW_WIDTH] + plan[ITEMS_AT + item * ITEM + ARGUMENT]]
