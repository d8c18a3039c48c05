"""What window functions give: sums that go on from row to row, rows before and behind, frames.

`plan` has what an operator is and where its loop stands, `items` its functions, ITEM words each. A
state is 0 for the rows before a transaction and 1 for those after it. What a function has summed up
is an accumulator of ACCUMULATOR words in `records` (`floats` is the same memory): how many values,
then the words of a sum of rtbot/numeric/exact/weighted.py, or the least or greatest value; or how
many different sort keys. The same words are kept in the cells of a row, for all rows up to it; but
a sum that needs a block of digits is only marked there, and added up again where it is needed.

`values` has the results of a row, one per function, then whether they are null, for both states.
"""

from rtbot.numeric.exact.digits import SUM_DIGITS
from rtbot.numeric.exact.weighted import (
    BLOCK_COUNTS,
    add_weighted_integer,
    add_weighted_number,
    free_block,
    integer_sum_fits,
    mean_integers,
    mean_numbers,
    take_digits,
    total_integers,
    total_numbers,
)
from rtbot.numeric.ieee import two_sum
from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_search import (
    COPIES,
    FIRST,
    LABELLED,
    NEXT,
    NUMBER,
    OWN,
    PENDING,
    PREVIOUS,
    ROW_CELLS,
    ROW_WIDTH,
)
from rtbot.relations.kernels.weighing import MOST

POSITION, RANKED, DENSE, SHIFTED, COUNTED, SUMMED, AVERAGED = 0, 1, 2, 3, 4, 5, 6
LEAST_OF, GREATEST_OF, FIRST_OF, LAST_OF = 7, 8, 9, 10
"""Functions."""

FUNCTION, ARGUMENT, NULL_AT, NULL_PLACE, VALUE_KIND, SHIFT, DEFAULT, NO_DEFAULT = range(8)
CELL, CELL_COUNT = 8, 9
ITEM = 10
"""Words of a function: what it is, the word of its argument (-1: none), word and bit of its null
(-1: never null), the kind of the argument, how many copies behind the row lead looks, the default,
whether that is null, the first of its cells and how many it has."""

ACCUMULATOR = 4

WHOLE, PEERS, ROWS_TO, FREE_FRAME = 0, 1, 2, 3
"""Frames: the partition, up to the last peer, up to the row, and any other of copies."""

FRAME, FRAME_START, FRAME_END, BACK, AHEAD, HAS_PLACES, HAS_PEERS, BY_COPY = range(8)
ITEMS, FIELDS, GIVEN_FIELDS, OUT_FIELDS, OUT_WIDTH, OUT_NULLS, GIVEN_NULLS = range(8, 15)
BEFORE_PART, AFTER_PART, AT_OUT, OUT_LIMIT, BAD_ITEM, BAD_ROW, KEEPS = range(15, 22)
AT_TRANSACTION, AT_ROW, AT_COUNT, AT_STAGE, VISITED, NEEDED = range(22, 28)
PLACES, RANKS, LAST_ROWS, LAST_PEERS, FIRST_ROWS = 28, 30, 32, 34, 36
WINDOW_PLAN = 38
"""Words of a plan; from PLACES on there is one for each state."""

UNBOUNDED = 0x4000000000000000
BLOCK_WORDS = BLOCK_COUNTS + SUM_DIGITS


# ---- rows of a partition


@step
def count_copies(row, state, cells, meta):
    """How often a row is there."""
    at = row * meta[ROW_CELLS]
    return cells[at + COPIES] + (cells[at + PENDING] if state == 1 else 0)


@noinline
def find_following(row, state, plan, cells, meta):
    """The next row of the partition that is there, the first one behind -1; -1 if there is none."""
    if row < 0:
        row = plan[BEFORE_PART]
    row = meta[FIRST] if row < 0 else cells[row * meta[ROW_CELLS] + NEXT]
    while row != plan[AFTER_PART] and count_copies(row, state, cells, meta) == 0:
        row = cells[row * meta[ROW_CELLS] + NEXT]
    return -1 if row == plan[AFTER_PART] else row


@noinline
def find_preceding(row, state, plan, cells, meta):
    """The row before a row in its partition that is there; -1 if there is none."""
    row = cells[row * meta[ROW_CELLS] + PREVIOUS]
    while row != plan[BEFORE_PART] and count_copies(row, state, cells, meta) == 0:
        row = cells[row * meta[ROW_CELLS] + PREVIOUS]
    return -1 if row == plan[BEFORE_PART] else row


@noinline
def move_on(row, copy, distance, state, plan, cells, meta):
    """The copy so far behind one, or the last one: (row, copy, how far it is)."""
    left = distance
    while True:
        rest = count_copies(row, state, cells, meta) - 1 - copy
        if left <= rest:
            return row, copy + left, distance
        after = find_following(row, state, plan, cells, meta)
        if after < 0:
            return row, copy + rest, distance - (left - rest)
        left -= rest + 1
        row, copy = after, 0


@noinline
def move_back(row, copy, distance, state, plan, cells, meta):
    """The copy so far before one, or the first one: (row, copy, how far it is)."""
    left = distance
    while True:
        if left <= copy:
            return row, copy - left, distance
        before = find_preceding(row, state, plan, cells, meta)
        if before < 0:
            return row, 0, distance - (left - copy)
        left -= copy + 1
        row, copy = before, count_copies(before, state, cells, meta) - 1


# ---- accumulators


@step
def comes_before(one, other, kind, labels):
    """Whether a value is less than another one of its kind."""
    if one == other:
        return False
    if kind == LABELLED:
        return labels[one] < labels[other]
    if kind == NUMBER:
        return one ^ ((one >> 63) & MOST) < other ^ ((other >> 63) & MOST)
    return one < other


@step
def is_null_in(row, item, known, meta, items):
    """Whether the argument of a function is null in a row."""
    null = items[item * ITEM + NULL_AT]
    if null < 0:
        return False
    return (known[row * meta[ROW_WIDTH] + null] >> items[item * ITEM + NULL_PLACE]) & 1 != 0


@noinline
def accumulate(
    item, base, row, copies, known, known_floats, meta, labels, items, records, floats, counters,
    blocks,
):  # fmt: skip
    """Add copies of a row to the accumulator of a function."""
    at = item * ITEM
    if is_null_in(row, item, known, meta, items):
        return
    function, kind = items[at + FUNCTION], items[at + VALUE_KIND]
    word = row * meta[ROW_WIDTH] + items[at + ARGUMENT]
    count = records[base]
    records[base] = count + copies
    if function == SUMMED or function == AVERAGED:
        if kind == NUMBER:
            add_weighted_number(
                known_floats[word], copies, base + 1, 0, records, floats, counters, blocks,
                BLOCK_WORDS,
            )  # fmt: skip
        else:
            add_weighted_integer(known[word], copies, base + 1, records)
    elif function == LEAST_OF:
        if count == 0 or comes_before(known[word], records[base + 1], kind, labels):
            records[base + 1] = known[word]
    elif function == GREATEST_OF:
        if count == 0 or comes_before(records[base + 1], known[word], kind, labels):
            records[base + 1] = known[word]


@step
def has_block(item, items):
    """Whether the accumulator of a function may have a block."""
    function = items[item * ITEM + FUNCTION]
    return items[item * ITEM + VALUE_KIND] == NUMBER and (
        function == SUMMED or function == AVERAGED
    )


@noinline
def clear_sum(base, records, counters, blocks):
    """Let an accumulator have nothing."""
    free_block(base + 3, 0, records, counters, blocks, BLOCK_WORDS)
    for word in range(ACCUMULATOR):
        records[base + word] = 0


@noinline
def copy_sum(item, source, target, items, records, counters, blocks):
    """Let an accumulator have what another one has."""
    clear_sum(target, records, counters, blocks)
    for word in range(ACCUMULATOR):
        records[target + word] = records[source + word]
    if has_block(item, items) and records[source + 3] != 0:
        block = take_digits(0, counters, blocks, BLOCK_WORDS)
        records[target + 3] = block
        first = records[source + 3] * BLOCK_WORDS
        for word in range(BLOCK_WORDS):
            blocks[block * BLOCK_WORDS + word] = blocks[first + word]


@noinline
def keep_sum(item, base, row, cells, meta, items, records):
    """Keep in a row what all rows up to it sum up to."""
    at = row * meta[ROW_CELLS] + OWN + items[item * ITEM + CELL]
    for word in range(items[item * ITEM + CELL_COUNT]):
        cells[at + word] = records[base + word]
    if has_block(item, items):
        cells[at + 3] = 1 if records[base + 3] != 0 else 0


@noinline
def load_sum(
    item, base, row, state, known, known_floats, cells, meta, labels, plan, items, records, floats,
    counters, blocks,
):  # fmt: skip
    """Load what all rows up to one sum up to; nothing for -1."""
    clear_sum(base, records, counters, blocks)
    cell = OWN + items[item * ITEM + CELL]
    known_at = row
    if has_block(item, items):
        while known_at >= 0 and cells[known_at * meta[ROW_CELLS] + cell + 3] != 0:
            known_at = find_preceding(known_at, state, plan, cells, meta)
    if known_at >= 0:
        for word in range(items[item * ITEM + CELL_COUNT]):
            records[base + word] = cells[known_at * meta[ROW_CELLS] + cell + word]
    while known_at != row:
        known_at = find_following(known_at, state, plan, cells, meta)
        accumulate(
            item, base, known_at, count_copies(known_at, state, cells, meta), known, known_floats,
            meta, labels, items, records, floats, counters, blocks,
        )  # fmt: skip


@noinline
def equals_sum(item, one, other, items, records, floats):
    """Whether two accumulators are the same; False where that takes long to find out."""
    if not has_block(item, items):
        for word in range(ACCUMULATOR):
            if records[one + word] != records[other + word]:
                return False
        return True
    if records[one] != records[other] or records[one + 3] != 0 or records[other + 3] != 0:
        return False
    high, low = two_sum(floats[one + 1], floats[one + 2])
    other_high, other_low = two_sum(floats[other + 1], floats[other + 2])
    return high == other_high and low == other_low


@noinline
def settle_sum(
    item, base, state, row, plan, items, values, records, floats, counters, blocks, scratch
):  # fmt: skip
    """Write the result that an accumulator is; note `row` if it is beyond int64."""
    function = items[item * ITEM + FUNCTION]
    at = 2 * state * plan[ITEMS] + item
    count = records[base]
    values[at] = count if function == COUNTED else 0
    values[at + plan[ITEMS]] = 1 if count == 0 and function != COUNTED else 0
    if function == COUNTED or count == 0:
        return
    free = (2 * plan[ITEMS] + 1) * ACCUMULATOR
    if function == LEAST_OF or function == GREATEST_OF:
        values[at] = records[base + 1]
    elif has_block(item, items):
        if function == SUMMED:
            floats[free] = total_numbers(
                base + 1, 0, records, floats, counters, blocks, BLOCK_WORDS, scratch
            )
        else:
            floats[free] = mean_numbers(
                count, base + 1, 0, records, floats, counters, blocks, BLOCK_WORDS, scratch
            )
        values[at] = records[free]
    elif function == AVERAGED:
        floats[free] = mean_integers(count, base + 1, records, scratch)
        values[at] = records[free]
    elif integer_sum_fits(base + 1, records):
        values[at] = total_integers(base + 1, records)
    elif state == 1 and plan[BAD_ITEM] < 0:
        plan[BAD_ITEM] = item
        plan[BAD_ROW] = row


@step
def read_argument(item, state, row, known, meta, plan, items, values):
    """Let the result be the argument of a function in a row."""
    at = 2 * state * plan[ITEMS] + item
    null = is_null_in(row, item, known, meta, items)
    values[at + plan[ITEMS]] = 1 if null else 0
    values[at] = 0 if null else known[row * meta[ROW_WIDTH] + items[item * ITEM + ARGUMENT]]


@noinline
def read_shifted(item, state, row, copy, known, cells, meta, plan, items, values):
    """Let the result be the argument so many copies before or behind, or the default."""
    shift = items[item * ITEM + SHIFT]
    if shift < 0:
        found, _, moved = move_back(row, copy, -shift, state, plan, cells, meta)
    else:
        found, _, moved = move_on(row, copy, shift, state, plan, cells, meta)
    if moved == abs(shift):
        read_argument(item, state, found, known, meta, plan, items, values)
        return
    at = 2 * state * plan[ITEMS] + item
    values[at] = items[item * ITEM + DEFAULT]
    values[at + plan[ITEMS]] = items[item * ITEM + NO_DEFAULT]


@noinline
def read_frame(
    state, row, copy, known, known_floats, cells, meta, labels, plan, items, values, records,
    floats, counters, blocks, scratch,
):  # fmt: skip
    """Let the results of all aggregates be those of the frame of a copy, which is gone through."""
    start, end = plan[FRAME_START], plan[FRAME_END]
    low, low_copy, moved, rest = row, copy, 0, UNBOUNDED
    if start <= 0:
        low, low_copy, moved = move_back(row, copy, -start, state, plan, cells, meta)
        if end != UNBOUNDED:
            rest = moved + end + 1
    else:
        low, low_copy, moved = move_on(row, copy, start, state, plan, cells, meta)
        if end != UNBOUNDED:
            rest = end - start + 1
        if moved < start:
            rest = 0
    free = 2 * plan[ITEMS] * ACCUMULATOR
    for item in range(plan[ITEMS]):
        function = items[item * ITEM + FUNCTION]
        if function < COUNTED:
            continue
        clear_sum(free, records, counters, blocks)
        at, left, last = low, rest, -1
        skipped = low_copy
        while at >= 0 and left > 0:
            copies = min(left, count_copies(at, state, cells, meta) - skipped)
            if function < FIRST_OF:
                accumulate(
                    item, free, at, copies, known, known_floats, meta, labels, items, records,
                    floats, counters, blocks,
                )  # fmt: skip
            last = at
            left -= copies
            skipped = 0
            if function == FIRST_OF:
                break
            at = find_following(at, state, plan, cells, meta)
        if function < FIRST_OF:
            settle_sum(
                item, free, state, row, plan, items, values, records, floats, counters, blocks,
                scratch,
            )  # fmt: skip
        elif last >= 0:
            read_argument(item, state, last, known, meta, plan, items, values)
        else:
            values[2 * state * plan[ITEMS] + item] = 0
            values[(2 * state + 1) * plan[ITEMS] + item] = 1
