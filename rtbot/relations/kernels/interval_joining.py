"""Loops of IntervalJoin: pairs of rows whose matched fields are within an interval.

While a transaction is at work both states are in the stores. Pairs of touched left rows are emitted
first, then those of touched right rows with the other left rows.
"""

from rtbot.relations.kernels.join_index import ROOM_OUT, TOO_MANY
from rtbot.relations.kernels.join_output import ROWS_MOST, exceeds
from rtbot.relations.kernels.near_rows import (
    NEAR_LEFT,
    NEAR_LOWER,
    NEAR_NEEDED,
    NEAR_OUT,
    add_saturated,
    compare_shifted,
    emit_near,
    find_shifted,
    has_same_keys,
    is_loose,
)
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COPIES,
    FIRST,
    KIND,
    NEXT,
    NUMBER,
    PENDING,
    PLACE,
    ROW_CELLS,
    ROW_MARK,
    ROW_WIDTH,
    SORT_COLUMNS,
    SPEC,
    find_before,
)
from rtbot.relations.kernels.weighing import OVERFLOW
from rtbot.tables.hash_tables import DONE

NO_NUMBER = 0x7FF8000000000000
"""The bits of NaN."""


def emit_interval(
    rules, distances, left, right, touched, count, others, other_count, probe, probe_floats,
    probe_spec, cursor, out_words, out_weights,
):  # fmt: skip
    """Emit what touched rows change: DONE, ROOM_OUT, TOO_MANY or OVERFLOW."""
    made = cursor[NEAR_OUT]
    most = made + rules[ROWS_MOST]
    for at in range(count):
        made, code = emit_left_row(
            rules, distances, left, touched[at], right, probe, probe_floats, probe_spec, made, most,
            out_words, out_weights,
        )  # fmt: skip
        if code != DONE:
            return code
    cells, parts = right[2], right[4][ROW_CELLS]
    previous = -1
    for at in range(other_count):
        row = others[at]
        if cells[row * parts + PENDING] != 0 and not is_loose(right, row):
            made, code = emit_right_row(
                rules, distances, left, right, row, previous, probe, probe_floats, probe_spec, made,
                most, out_words, out_weights,
            )  # fmt: skip
            if code != DONE:
                return code
            previous = row
    cursor[NEAR_NEEDED] = made
    if made > most:
        cursor[NEAR_NEEDED] = made - cursor[NEAR_OUT]
        return TOO_MANY
    if made > len(out_weights):
        return ROOM_OUT
    cursor[NEAR_OUT] = made
    return DONE


def emit_left_row(
    rules, distances, left, row, right, probe, probe_floats, probe_spec, made, most, out_words,
    out_weights,
):  # fmt: skip
    """Emit what a touched left row changes, with all right rows: rows out, and the code."""
    first = row * left[4][ROW_CELLS]
    copies = left[2][first + COPIES]
    net = copies + left[2][first + PENDING]
    cells, meta = right[2], right[4]
    parts = meta[ROW_CELLS]
    before, after = False, False
    at, end = -1, -1
    if not is_loose(left, row):
        at, end = find_near(rules, distances, left, row, right, probe, probe_floats, probe_spec)
    while at != end:
        at = meta[FIRST] if at < 0 else cells[at * parts + NEXT]
        old = cells[at * parts + COPIES]
        new = old + cells[at * parts + PENDING]
        before = before or old > 0
        after = after or new > 0
        if exceeds(copies, old) or exceeds(net, new):
            return made, OVERFLOW
        made = emit_near(
            rules, left, row, right, at, net * new - copies * old, made, out_words, out_weights
        )
        if made > most:
            break
    change = (0 if after else net) - (0 if before else copies)
    return emit_near(rules, left, row, right, -1, change, made, out_words, out_weights), DONE


def emit_right_row(
    rules, distances, left, right, row, previous, probe, probe_floats, probe_spec, made, most,
    out_words, out_weights,
):  # fmt: skip
    """Emit what a right row changes, with the left rows that are not touched.

    `previous` is the touched right row before it: what is near that one as well is padded already.
    """
    old = right[2][row * right[4][ROW_CELLS] + COPIES]
    new = old + right[2][row * right[4][ROW_CELLS] + PENDING]
    cells, meta = left[2], left[4]
    parts = meta[ROW_CELLS]
    if previous >= 0 and not has_same_keys(right, previous, right, row):
        previous = -1
    at = find_shifted(rules, distances, left, 1, False, right, row)
    end = find_shifted(rules, distances, left, 0, True, right, row)
    while at != end and made <= most:
        at = meta[FIRST] if at < 0 else cells[at * parts + NEXT]
        if cells[at * parts + ROW_MARK] == 0:
            copies = cells[at * parts + COPIES]
            if exceeds(copies, old) or exceeds(copies, new):
                return made, OVERFLOW
            made = emit_near(
                rules, left, at, right, row, copies * new - copies * old, made, out_words,
                out_weights,
            )  # fmt: skip
            is_first = previous < 0 or compare_shifted(
                rules, distances, left, at, 0, right, previous
            ) > 0  # fmt: skip
            if rules[NEAR_LEFT] != 0 and is_first:
                change = find_padding(
                    rules, distances, left, at, right, probe, probe_floats, probe_spec
                )
                made = emit_near(
                    rules, left, at, right, -1, change * copies, made, out_words, out_weights
                )
    return made, DONE


def find_padding(rules, distances, left, row, right, probe, probe_floats, probe_spec):
    """Whether a left row begins to come out alone (1), or ends to (-1), or neither (0)."""
    cells, meta = right[2], right[4]
    parts = meta[ROW_CELLS]
    before, after = False, False
    at, end = find_near(rules, distances, left, row, right, probe, probe_floats, probe_spec)
    while at != end and not (before and after):
        at = meta[FIRST] if at < 0 else cells[at * parts + NEXT]
        before = before or cells[at * parts + COPIES] > 0
        after = after or cells[at * parts + COPIES] + cells[at * parts + PENDING] > 0
    return (0 if after else 1) - (0 if before else 1)


def find_near(rules, distances, left, row, right, probe, probe_floats, probe_spec):
    """The right rows within the interval of a left row: behind the first, to the last."""
    known, floats, _, _, meta, spec, _ = left
    columns = meta[BY_COLUMNS]
    first = row * meta[ROW_WIDTH]
    for column in range(columns):
        probe[column] = known[first + spec[column * SPEC + PLACE]]
    at = first + spec[columns * SPEC + PLACE]
    is_number = spec[columns * SPEC + KIND] == NUMBER
    begin, end = -1, -1
    for number in range(2):
        if is_number:
            probe_floats[columns] = floats[at] + distances[number] + 0.0
            if probe_floats[columns] != probe_floats[columns]:
                probe[columns] = NO_NUMBER
        else:
            probe[columns] = add_saturated(known[at], rules[NEAR_LOWER + number])
        others, _, _, nodes, other_meta, other_spec, labels = right
        found = find_before(
            probe, 0, probe_spec, other_meta[SORT_COLUMNS], number == 1, others, nodes, other_meta,
            other_spec, labels,
        )  # fmt: skip
        if number == 0:
            begin = found
        else:
            end = found
    return begin, end
