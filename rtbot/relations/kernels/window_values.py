"""What window functions give: sums that go on from row to row, rows before and behind, frames.

`plan` has all that an operator is and where its loop stands: words that are named here, its
functions of ITEM words each, and what they compute; `floats` is the same memory. A state is 0 for
the rows before a transaction and 1 for those after it. What a function has summed up is an
accumulator: how many values, then the words of a sum of rtbot/numeric/exact/weighted.py, or the
least or greatest value; or how many different sort keys. The same words are kept in the cells of a
row, for all rows up to it; but a sum that needs a block of digits is only marked there, and added
up again where it is needed.

The results of a row are one per function, then whether they are null, for both states.
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
)  # fmt: skip
from rtbot.numeric.ieee import two_sum
from rtbot.operator import noinline, step
from rtbot.relations.kernels.ordered_search import (
    FIRST,
    LABELLED,
    NEXT,
    NUMBER,
    OWN,
    PRIOR,
    ROW_CELLS,
    ROW_WIDTH,
    count_copies,
)  # fmt: skip
from rtbot.relations.kernels.weighing import MOST

POSITION, RANKED, DENSE, SHIFTED, COUNT_OF, SUMMED, AVERAGED = 0, 1, 2, 3, 4, 5, 6
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

FRAME, FRAME_START, FRAME_END, REACH_BACK, REACH_AHEAD, HAS_PLACES = range(291, 297)
HAS_PEERS, BY_COPY = 297, 298
ITEMS, FIELDS, GIVEN_FIELDS, OUT_FIELDS, RESULT_WIDTH, OUT_NULLS, GIVEN_NULLS = range(299, 306)
BEFORE_PART, AFTER_PART, AT_OUT, OUT_LIMIT, BAD_ITEM, BAD_ROW, KEEPS = range(306, 313)
AT_TRANSACTION, AT_ROW, AT_COUNT, AT_STAGE, VISITED, OUT_NEEDED = range(313, 319)
PLACES, RANKS, LAST_ROWS, LAST_PEERS, FIRST_ROWS = 319, 321, 323, 325, 327
VALUES_AT, SUMS_AT, BLOCKS_LEFT = 329, 330, 331
RING_AT, RING_ROOM, SLIDES, ITEMS_AT = 334, 335, 336, 352
"""Words of a plan: what the operator is, where the loop stands, then two for both states each,
where results and sums are, counters of blocks, queues of extremes, where frames are. Scratch digits
are before it, functions behind."""

UNBOUNDED = 0x4000000000000000
BEHIND, UNSET = -1, -2
BLOCK_WORDS = BLOCK_COUNTS + SUM_DIGITS


@step
def find_value(item, state, plan):
    """Where the result of a function is; whether it is null is so many words on as functions."""
    return plan[VALUES_AT] + 2 * state * plan[ITEMS] + item


@step
def find_sum(item, state, plan):
    """Where the accumulator of a function is; there is one more, and a free word behind that."""
    return plan[SUMS_AT] + (2 * item + state) * ACCUMULATOR


@step
def goes_on(item, plan):
    """Whether what a function adds up goes on from row to row."""
    function = plan[ITEMS_AT + item * ITEM + FUNCTION]
    if function == DENSE:
        return True
    return (plan[FRAME] == PEERS or plan[FRAME] == ROWS_TO) and COUNT_OF <= function < FIRST_OF


# ---- rows of a partition


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
    row = cells[row * meta[ROW_CELLS] + PRIOR]
    while row != plan[BEFORE_PART] and count_copies(row, state, cells, meta) == 0:
        row = cells[row * meta[ROW_CELLS] + PRIOR]
    return -1 if row == plan[BEFORE_PART] else row


@noinline
def move_on(row, copy, distance, state, plan, cells, meta):
    """The copy so far behind one, or the last one: (row, copy, how far it is)."""
    left = distance
    while True:
        rest = count_copies(row, state, cells, meta) - 1 - copy
        if left <= rest:
            return (row, copy + left, distance)
        after = find_following(row, state, plan, cells, meta)
        if after < 0:
            return (row, copy + rest, distance - (left - rest))
        left -= rest + 1
        row, copy = (after, 0)


@noinline
def move_back(row, copy, distance, state, plan, cells, meta):
    """The copy so far before one, or the first one: (row, copy, how far it is)."""
    left = distance
    while True:
        if left <= copy:
            return (row, copy - left, distance)
        before = find_preceding(row, state, plan, cells, meta)
        if before < 0:
            return (row, 0, distance - (left - copy))
        left -= copy + 1
        row, copy = (before, count_copies(before, state, cells, meta) - 1)


# ---- accumulators


@step
def comes_before(one, other, kind, labels):
    """Whether a value is less than another one of its kind."""
    if one == other:
        return False
    if kind == LABELLED:
        return labels[one] < labels[other]
    if kind == NUMBER:
        return one ^ one >> 63 & MOST < other ^ other >> 63 & MOST
    return one < other


@step
def is_null_in(row, item, known, meta, plan):
    """Whether the argument of a function is null in a row."""
    null = plan[ITEMS_AT + item * ITEM + NULL_AT]
    if null < 0:
        return False
    return known[row * meta[ROW_WIDTH] + null] >> plan[ITEMS_AT + item * ITEM + NULL_PLACE] & 1 != 0


@noinline
def accumulate(item, base, row, copies, known, meta, labels, plan, floats):
    """Add copies of a row to the accumulator of a function."""
    at = ITEMS_AT + item * ITEM
    if is_null_in(row, item, known, meta, plan):
        return
    function, kind = (plan[at + FUNCTION], plan[at + VALUE_KIND])
    word = row * meta[ROW_WIDTH] + plan[at + ARGUMENT]
    count = plan[base]
    plan[base] = count + copies
    if function == SUMMED or function == AVERAGED:
        if kind == NUMBER:
            free = find_sum(plan[ITEMS], 1, plan)
            plan[free] = known[word]
            add_weighted_number(
                floats[free], copies, base + 1, BLOCKS_LEFT, plan, floats, plan, plan, BLOCK_WORDS
            )
        else:
            add_weighted_integer(known[word], copies, base + 1, plan)
    elif function == LEAST_OF:
        if count == 0 or comes_before(known[word], plan[base + 1], kind, labels):
            plan[base + 1] = known[word]
    elif function == GREATEST_OF and (
        count == 0 or comes_before(plan[base + 1], known[word], kind, labels)
    ):
        plan[base + 1] = known[word]


@step
def has_block(item, plan):
    """Whether the accumulator of a function may have a block."""
    function = plan[ITEMS_AT + item * ITEM + FUNCTION]
    return plan[ITEMS_AT + item * ITEM + VALUE_KIND] == NUMBER and (
        function == SUMMED or function == AVERAGED
    )


@noinline
def clear_sum(base, plan):
    """Let an accumulator have nothing."""
    free_block(base + 3, BLOCKS_LEFT, plan, plan, plan, BLOCK_WORDS)
    for word in range(ACCUMULATOR):
        plan[base + word] = 0


@noinline
def copy_sum(item, source, target, plan):
    """Let an accumulator have what another one has."""
    clear_sum(target, plan)
    for word in range(ACCUMULATOR):
        plan[target + word] = plan[source + word]
    if has_block(item, plan) and plan[source + 3] != 0:
        block = take_digits(BLOCKS_LEFT, plan, plan, BLOCK_WORDS)
        plan[target + 3] = block
        first = plan[source + 3] * BLOCK_WORDS
        for word in range(BLOCK_WORDS):
            plan[block * BLOCK_WORDS + word] = plan[first + word]


@noinline
def keep_sum(item, base, row, cells, meta, plan):
    """Keep in a row what all rows up to it sum up to."""
    at = row * meta[ROW_CELLS] + OWN + plan[ITEMS_AT + item * ITEM + CELL]
    for word in range(plan[ITEMS_AT + item * ITEM + CELL_COUNT]):
        cells[at + word] = plan[base + word]
    if has_block(item, plan):
        cells[at + 3] = 1 if plan[base + 3] != 0 else 0


@noinline
def load_sum(item, base, row, state, known, cells, meta, labels, plan, floats):
    """Load what all rows up to one sum up to; nothing for -1."""
    clear_sum(base, plan)
    cell = OWN + plan[ITEMS_AT + item * ITEM + CELL]
    known_at = row
    if has_block(item, plan):
        while known_at >= 0 and cells[known_at * meta[ROW_CELLS] + cell + 3] != 0:
            known_at = find_preceding(known_at, state, plan, cells, meta)
    if known_at >= 0:
        for word in range(plan[ITEMS_AT + item * ITEM + CELL_COUNT]):
            plan[base + word] = cells[known_at * meta[ROW_CELLS] + cell + word]
    while known_at != row:
        known_at = find_following(known_at, state, plan, cells, meta)
        accumulate(
            item, base, known_at, count_copies(known_at, state, cells, meta), known, meta, labels,
            plan, floats,
        )  # fmt: skip


@noinline
def equals_sum(item, one, other, plan, floats):
    """Whether two accumulators are the same; False where that takes long to find out."""
    if not has_block(item, plan):
        for word in range(ACCUMULATOR):
            if plan[one + word] != plan[other + word]:
                return False
        return True
    if plan[one] != plan[other] or plan[one + 3] != 0 or plan[other + 3] != 0:
        return False
    high, low = two_sum(floats[one + 1], floats[one + 2])
    other_high, other_low = two_sum(floats[other + 1], floats[other + 2])
    return high == other_high and low == other_low


@noinline
def settle_result(item, base, state, row, plan, floats):
    """Write the result that an accumulator is; note `row` if it is beyond int64."""
    function = plan[ITEMS_AT + item * ITEM + FUNCTION]
    at = find_value(item, state, plan)
    count = plan[base]
    plan[at] = count if function == COUNT_OF else 0
    plan[at + plan[ITEMS]] = 1 if count == 0 and function != COUNT_OF else 0
    if function == COUNT_OF or count == 0:
        return
    free = find_sum(plan[ITEMS], 1, plan)
    if function == LEAST_OF or function == GREATEST_OF:
        plan[at] = plan[base + 1]
    elif has_block(item, plan):
        if function == SUMMED:
            floats[free] = total_numbers(
                base + 1, BLOCKS_LEFT, plan, floats, plan, plan, BLOCK_WORDS, plan
            )
        else:
            floats[free] = mean_numbers(
                count, base + 1, BLOCKS_LEFT, plan, floats, plan, plan, BLOCK_WORDS, plan
            )
        plan[at] = plan[free]
    elif function == AVERAGED:
        floats[free] = mean_integers(count, base + 1, plan, plan)
        plan[at] = plan[free]
    elif integer_sum_fits(base + 1, plan):
        plan[at] = total_integers(base + 1, plan)
    elif state == 1 and plan[BAD_ITEM] < 0:
        plan[BAD_ITEM] = item
        plan[BAD_ROW] = row


@step
def read_argument(item, state, row, known, meta, plan):
    """Let the result be the argument of a function in a row."""
    at = find_value(item, state, plan)
    null = is_null_in(row, item, known, meta, plan)
    plan[at + plan[ITEMS]] = 1 if null else 0
    plan[at] = 0 if null else known[row * meta[ROW_WIDTH] + plan[ITEMS_AT + item * ITEM + ARGUMENT]]


@noinline
def begin_shift(item, at, state, row, copy, cells, meta, plan):
    """Find the copy so far from one, where no copy was passed before."""
    shift = plan[ITEMS_AT + item * ITEM + SHIFT]
    if shift < 0:
        row, copy, moved = move_back(row, copy, -shift, state, plan, cells, meta)
        plan[at + 2] = -shift - moved
    else:
        row, copy, moved = move_on(row, copy, shift, state, plan, cells, meta)
        plan[at + 2] = 0 if moved == shift else BEHIND
    plan[at], plan[at + 1] = (row, copy)


@noinline
def read_shifted(item, state, row, copy, known, cells, meta, plan):
    """Let the result be the argument so many copies before or behind, or the default.

    Words of the accumulator are the copy so far away, which moves with the rows, and how many rows
    come before it is there: 0 where it is, BEHIND where there is none any more, UNSET at first.
    """
    at = find_sum(item, state, plan)
    if plan[at + 2] == UNSET:
        begin_shift(item, at, state, row, copy, cells, meta, plan)
    elif plan[at + 2] > 0:
        plan[at + 2] -= 1
    elif plan[at + 2] == 0:
        row, copy, moved = move_on(plan[at], plan[at + 1], 1, state, plan, cells, meta)
        plan[at], plan[at + 1], plan[at + 2] = (row, copy, moved - 1)
    if plan[at + 2] == 0:
        read_argument(item, state, plan[at], known, meta, plan)
        return
    at = find_value(item, state, plan)
    plan[at] = plan[ITEMS_AT + item * ITEM + DEFAULT]
    plan[at + plan[ITEMS]] = plan[ITEMS_AT + item * ITEM + NO_DEFAULT]
