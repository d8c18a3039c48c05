"""Loops of TopRows: what enters a range of positions, what leaves it, what has another number.

`rules` has the words below; `cursor` the transaction, the row of it that is next, how many rows are
touched, whether they are being emitted, the step of that, the rows out, and how many rows a
transaction makes. A position is that of a copy in its partition, from 0 on.
"""

from rtbot.relations.kernels.join_index import ROOM_OUT, TOO_MANY
from rtbot.relations.kernels.ordered_rows import (
    apply_row,
    apply_touched,
    check_touched,
    finish_touched,
    sort_touched,
    touch_rows,
)
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    COLUMNS,
    COPIES,
    NEXT,
    PENDING,
    PLACE_LEFT,
    ROW_CELLS,
    ROW_WIDTH,
    SORT_COLUMNS,
    TOTAL,
    compare_ids,
    find_after,
    find_at,
    find_before,
    sum_before,
)
from rtbot.tables.hash_tables import DONE, ROOM, copy_row

TOP_ROWS, TOP_OFFSET, TOP_TIES, TOP_NUMBERED, TOP_MOST, TOP_FIELDS, TOP_WIDTH = range(7)
TOP_RULES = 7
"""Words of the rules; fields of an input row, and words of an output row."""

TOP_AT, TOP_ROW, TOP_COUNT, TOP_EMITTING, TOP_STEP, TOP_OUT, TOP_NEEDED = range(7)
TOP_CURSOR = 7
"""Words of the cursor."""

RARELY_CALLED = (
    *("find_base", "find_end", "find_rank", "emit_range", "emit_row", "emit_shifted", "emit_tied"),
    *("emit_step", "emit_numbered", "number_partition", "emit_both", "touch_transaction"),
)
"""Compiled apart, each once, which takes less time."""


def rank_transactions(
    rules, starts, words, weights, known, cells, nodes, meta, spec, labels, touched, other, cursor,
    out_words, out_weights, out_starts,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, ROOM or ROOM_OUT (call again), or a fault.

    After a fault the rows of the transaction are still touched.
    """
    while cursor[TOP_AT] < len(starts) - 1:
        code = DONE
        if cursor[TOP_EMITTING] == 0:
            code = touch_transaction(
                starts[cursor[TOP_AT] + 1], words, weights, known, cells, nodes, meta, spec, labels,
                touched, other, cursor,
            )  # fmt: skip
        if code == DONE and rules[TOP_NUMBERED] != 0:
            code = emit_numbered(
                rules, known, cells, nodes, meta, spec, labels, touched, cursor[TOP_COUNT], cursor,
                out_words, out_weights,
            )  # fmt: skip
        elif code == DONE:
            code = emit_in_steps(
                rules, known, cells, nodes, meta, spec, labels, touched, cursor[TOP_COUNT], cursor,
                out_words, out_weights,
            )  # fmt: skip
        if code != DONE:
            return code
        if rules[TOP_NUMBERED] != 0:
            apply_touched(touched, cursor[TOP_COUNT], cells, nodes, meta)
        else:
            finish_touched(touched, cursor[TOP_COUNT], cells, nodes, meta)
        end_transaction(cursor, out_starts)
    return DONE


def touch_transaction(
    end, words, weights, known, cells, nodes, meta, spec, labels, touched, other, cursor
):
    """Touch the rows of a transaction up to `end`, in order: DONE, ROOM, or a fault."""
    row, count = touch_rows(
        1, words, weights, cursor[TOP_ROW], end, touched, cursor[TOP_COUNT], known, cells, nodes,
        meta, spec, labels,
    )  # fmt: skip
    cursor[TOP_ROW] = row
    cursor[TOP_COUNT] = count
    if row < end:
        return ROOM
    code = check_touched(touched, count, cells, meta)
    if code == DONE:
        if count > 1:
            sort_touched(touched, other, count, known, cells, meta, spec, labels)
        cursor[TOP_EMITTING] = 1
        cursor[TOP_STEP] = 0
    return code


def end_transaction(cursor, out_starts):
    """Go on to the next transaction."""
    cursor[TOP_AT] += 1
    cursor[TOP_COUNT] = 0
    cursor[TOP_EMITTING] = 0
    out_starts[cursor[TOP_AT]] = cursor[TOP_OUT]


def emit_in_steps(
    rules, known, cells, nodes, meta, spec, labels, touched, count, cursor, out_words, out_weights
):
    """Apply the deletes, the last one first, then the inserts: what each changes comes out.

    So a row that goes lets the next one in, and one that comes pushes the last one out. In this
    order no more rows come out than twice those of the changes, nor twice those of the range.
    `bound` is the first row behind the range: a row behind it is applied, and nothing else.
    """
    parts = meta[ROW_CELLS]
    columns = meta[SORT_COLUMNS] if rules[TOP_TIES] != 0 else meta[COLUMNS]
    owner, base, bound = -1, 0, -1
    while cursor[TOP_STEP] < 2 * count:
        step = cursor[TOP_STEP]
        if step == count:
            owner = -1
        row = touched[count - 1 - step] if step < count else touched[step - count]
        change = cells[row * parts + PENDING]
        if change == 0 or (change < 0) != (step < count):
            cursor[TOP_STEP] += 1
            continue
        if has_other_peers(owner, row, meta[BY_COLUMNS], known, meta, spec, labels):
            owner = row
            base = find_base(row, known, cells, nodes, meta, spec, labels)
            last = rules[TOP_OFFSET] + rules[TOP_ROWS]
            bound = find_at(base + last, 0, nodes, meta) if last < meta[TOTAL] - base else -1
        if bound >= 0 and compare_ids(row, bound, columns, known, meta, spec, labels) > 0:
            apply_row(row, cells, nodes, meta)
        else:
            code = emit_step(
                rules, row, change, base, known, cells, nodes, meta, spec, labels, cursor,
                out_words, out_weights,
            )  # fmt: skip
            if code != DONE:
                return code
            owner = owner if change < 0 else -1
        cursor[TOP_STEP] += 1
    return DONE


def emit_step(
    rules, row, change, base, known, cells, nodes, meta, spec, labels, cursor, out_words,
    out_weights,
):  # fmt: skip
    """Apply the change of a row and emit what it changes: DONE, or ROOM_OUT and nothing is done."""
    first = row * meta[ROW_CELLS]
    if change > 0:
        apply_row(row, cells, nodes, meta)
    made = cursor[TOP_OUT]
    if rules[TOP_TIES] != 0:
        made = emit_tied(
            rules, row, abs(change), change > 0, base, known, cells, nodes, meta, spec, labels,
            made, out_words, out_weights,
        )  # fmt: skip
    else:
        made = emit_shifted(
            rules, row, abs(change), change > 0, base, known, cells, nodes, meta, spec, labels,
            made, out_words, out_weights,
        )  # fmt: skip
    if made > len(out_weights):
        cursor[TOP_NEEDED] = made
        if change > 0:
            cells[first + PENDING] = -change
            apply_row(row, cells, nodes, meta)
            cells[first + PENDING] = change
        return ROOM_OUT
    cursor[TOP_OUT] = made
    if change < 0:
        apply_row(row, cells, nodes, meta)
    return DONE


def find_base(row, known, cells, nodes, meta, spec, labels):
    """How many copies are before the partition of a row."""
    columns = meta[BY_COLUMNS]
    if columns == 0:
        return 0
    width = meta[ROW_WIDTH]
    before = find_before(
        known, row * width, spec, columns, False, known, nodes, meta, spec, labels
    )
    return sum_before(find_after(before, cells, meta), 0, cells, nodes, meta)


def find_end(row, columns, known, cells, nodes, meta, spec, labels):
    """How many copies there are up to the last row that is equal to a row in some columns."""
    if columns == 0:
        return meta[TOTAL]
    width = meta[ROW_WIDTH]
    last = find_before(known, row * width, spec, columns, True, known, nodes, meta, spec, labels)
    return sum_before(last, 0, cells, nodes, meta) + cells[last * meta[ROW_CELLS] + COPIES]


def emit_shifted(
    rules, row, size, enters, base, known, cells, nodes, meta, spec, labels, made, out_words,
    out_weights,
):  # fmt: skip
    """Emit what `size` copies of a row change, which are there: the rows out, written or not."""
    first = rules[TOP_OFFSET]
    last = first + rules[TOP_ROWS]
    place = sum_before(row, 0, cells, nodes, meta) - base
    place += cells[row * meta[ROW_CELLS] + COPIES] - size
    if place >= last:
        return made
    total = find_end(row, meta[BY_COLUMNS], known, cells, nodes, meta, spec, labels) - base
    begin = max(first, place)
    gained = min(size, last - begin, total - begin)
    sign = 1 if enters else -1
    if gained > 0:
        made = emit_range(
            rules, base + begin, gained, sign, known, cells, nodes, meta, made, out_words,
            out_weights,
        )  # fmt: skip
    begin = max(begin, last - size)
    lost = min(last, total - size) - begin
    if lost > 0:
        made = emit_range(
            rules, base + begin + size, lost, -sign, known, cells, nodes, meta, made, out_words,
            out_weights,
        )  # fmt: skip
    return made


def emit_tied(
    rules, row, size, enters, base, known, cells, nodes, meta, spec, labels, made, out_words,
    out_weights,
):  # fmt: skip
    """Emit what `size` copies of a row change of the rows that are of the first ranks."""
    wanted = rules[TOP_ROWS]
    parts = meta[ROW_CELLS]
    peers = meta[SORT_COLUMNS]
    before = find_before(
        known, row * meta[ROW_WIDTH], spec, peers, False, known, nodes, meta, spec, labels
    )
    if sum_before(find_after(before, cells, meta), 0, cells, nodes, meta) - base >= wanted:
        return made
    sign = 1 if enters else -1
    made = emit_row(rules, row, sign * size, 0, known, meta, made, out_words, out_weights)
    total = find_end(row, meta[BY_COLUMNS], known, cells, nodes, meta, spec, labels) - base
    if wanted >= total:
        return made
    at = find_at(base + wanted - 1, 0, nodes, meta)
    begin = find_end(at, peers, known, cells, nodes, meta, spec, labels) - base
    end = total
    if wanted <= total - size:
        place = sum_before(row, 0, cells, nodes, meta) - base + cells[row * parts + COPIES] - size
        at = find_at(base + wanted - 1 + (size if wanted > place else 0), 0, nodes, meta)
        end = find_end(at, peers, known, cells, nodes, meta, spec, labels) - base
    if end > begin:
        made = emit_range(
            rules, base + begin, end - begin, -sign, known, cells, nodes, meta, made, out_words,
            out_weights,
        )  # fmt: skip
    return made


def emit_range(
    rules, place, size, sign, known, cells, nodes, meta, made, out_words, out_weights
):
    """Emit `size` copies from a place on."""
    parts = meta[ROW_CELLS]
    row = find_at(place, 0, nodes, meta)
    passed = meta[PLACE_LEFT]
    while size > 0:
        copies = min(cells[row * parts + COPIES] - passed, size)
        if copies > 0:
            made = emit_row(rules, row, sign * copies, 0, known, meta, made, out_words, out_weights)
            size -= copies
        passed = 0
        row = cells[row * parts + NEXT]
    return made


def emit_row(rules, row, weight, number, known, meta, made, out_words, out_weights):
    """Write a row, with a number if rows have one, where there is room: the rows out."""
    if made < len(out_weights):
        width = meta[ROW_WIDTH]
        out = made * rules[TOP_WIDTH]
        if rules[TOP_NUMBERED] != 0:
            fields = rules[TOP_FIELDS]
            copy_row(known, row * width, out_words, out, fields)
            out_words[out + fields] = number
            copy_row(known, row * width + fields, out_words, out + fields + 1, width - fields)
            for word in range(width + 1, rules[TOP_WIDTH]):
                out_words[out + word] = 0
        else:
            copy_row(known, row * width, out_words, out, width)
        out_weights[made] = weight
    return made + 1


def emit_numbered(
    rules, known, cells, nodes, meta, spec, labels, touched, count, cursor, out_words, out_weights
):
    """Emit the rows whose numbers change, partition after partition, before it is done."""
    made = cursor[TOP_OUT]
    at = 0
    while at < count:
        made, at = number_partition(
            rules, known, cells, nodes, meta, spec, labels, touched, at, count, made, out_words,
            out_weights,
        )  # fmt: skip
    cursor[TOP_NEEDED] = made
    if made - cursor[TOP_OUT] > rules[TOP_MOST]:
        cursor[TOP_NEEDED] = made - cursor[TOP_OUT]
        return TOO_MANY
    if made > len(out_weights):
        return ROOM_OUT
    cursor[TOP_OUT] = made
    return DONE


def number_partition(
    rules, known, cells, nodes, meta, spec, labels, touched, at, count, made, out_words, out_weights
):
    """Emit the rows of a partition whose numbers change: rows out, the next touched row.

    Both states are walked side by side, from one touched row to the next where they agree.
    """
    parts, peers = meta[ROW_CELLS], meta[SORT_COLUMNS]
    ties = rules[TOP_TIES] != 0
    start = touched[at]
    stop = find_stop(touched, at, count, meta[BY_COLUMNS], known, meta, spec, labels)
    base = find_base(start, known, cells, nodes, meta, spec, labels)
    row, peer = -1, -1
    before, after, old_rank, new_rank = 0, 0, 0, 0
    while True:
        if before == after and old_rank == new_rank:
            if at == stop:
                break
            row = touched[at]
            before = sum_before(row, 0, cells, nodes, meta) - base
            after = before
            if ties and has_other_peers(peer, row, peers, known, meta, spec, labels):
                peer = row
                old_rank = find_rank(row, known, cells, nodes, meta, spec, labels) - base
                new_rank = old_rank
        elif row < 0 or has_other_peers(
            start, row, meta[BY_COLUMNS], known, meta, spec, labels
        ):  # fmt: skip
            break
        if ties and has_other_peers(peer, row, peers, known, meta, spec, labels):
            peer, old_rank, new_rank = row, before, after
        if is_behind(rules, before, after, old_rank, new_rank):
            break
        net = cells[row * parts + COPIES] + cells[row * parts + PENDING]
        made = emit_both(
            rules, row, cells[row * parts + COPIES], net, before, after, old_rank, new_rank, known,
            meta, made, out_words, out_weights,
        )  # fmt: skip
        before += cells[row * parts + COPIES]
        after += net
        if at < stop and row == touched[at]:
            at += 1
        row = cells[row * parts + NEXT]
    return made, stop


def has_other_peers(one, other, columns, known, meta, spec, labels):
    """Whether a row, or none, differs from another one in some columns."""
    return one < 0 or compare_ids(one, other, columns, known, meta, spec, labels) != 0


def is_behind(rules, before, after, old_rank, new_rank):
    """Whether all rows from here on are behind the range, in both states."""
    last = rules[TOP_OFFSET] + rules[TOP_ROWS]
    if rules[TOP_TIES] != 0:
        return min(old_rank, new_rank) >= last
    return min(before, after) >= last


def emit_both(
    rules, row, copies, net, before, after, old_rank, new_rank, known, meta, made, out_words,
    out_weights,
):  # fmt: skip
    """Emit what differs of a row in both states."""
    if rules[TOP_TIES] == 0:
        return emit_positions(
            rules, row, before, copies, after, net, known, meta, made, out_words, out_weights
        )
    wanted = rules[TOP_ROWS]
    return emit_ranked(
        rules, row, copies if old_rank < wanted else 0, net if new_rank < wanted else 0,
        old_rank, new_rank, known, meta, made, out_words, out_weights,
    )  # fmt: skip


def find_stop(touched, at, count, columns, known, meta, spec, labels):
    """The first touched row behind one that differs from it in some columns."""
    start = touched[at]
    while at < count and compare_ids(start, touched[at], columns, known, meta, spec, labels) == 0:
        at += 1
    return at


def find_rank(row, known, cells, nodes, meta, spec, labels):
    """How many copies are before the first row that is equal in the sort order."""
    before = find_before(
        known, row * meta[ROW_WIDTH], spec, meta[SORT_COLUMNS], False, known, nodes, meta, spec,
        labels,
    )  # fmt: skip
    return sum_before(find_after(before, cells, meta), 0, cells, nodes, meta)


def emit_ranked(
    rules, row, copies, net, old_rank, new_rank, known, meta, made, out_words, out_weights
):
    """Emit a row whose rank or copies change."""
    if old_rank == new_rank:
        net -= copies
        copies = 0
    if copies != 0:
        made = emit_row(
            rules, row, -copies, old_rank + 1, known, meta, made, out_words, out_weights
        )
    if net != 0:
        made = emit_row(rules, row, net, new_rank + 1, known, meta, made, out_words, out_weights)
    return made


def emit_positions(
    rules, row, before, copies, after, net, known, meta, made, out_words, out_weights
):
    """Emit the positions that a row has in one state and not in the other."""
    first = rules[TOP_OFFSET]
    last = first + rules[TOP_ROWS]
    old_first, old_last = max(before, first), min(before + copies, last)
    new_first, new_last = max(after, first), min(after + net, last)
    made = emit_difference(
        rules, row, -1, old_first, old_last, new_first, new_last, known, meta, made, out_words,
        out_weights,
    )  # fmt: skip
    return emit_difference(
        rules, row, 1, new_first, new_last, old_first, old_last, known, meta, made, out_words,
        out_weights,
    )  # fmt: skip


def emit_difference(
    rules, row, weight, first, last, other_first, other_last, known, meta, made, out_words,
    out_weights,
):  # fmt: skip
    """Emit a row with every position of a range that is not in another one."""
    if other_first >= other_last:
        other_first, other_last = last, last
    made = emit_places(
        rules, row, weight, first, min(last, other_first), known, meta, made, out_words, out_weights
    )
    return emit_places(
        rules, row, weight, max(first, other_last), last, known, meta, made, out_words, out_weights
    )


def emit_places(rules, row, weight, first, last, known, meta, made, out_words, out_weights):
    """Emit a row with every position of a range; where there is no room they are only counted."""
    count = max(last - first, 0)
    if made + count <= len(out_weights):
        for place in range(first, last):
            emit_row(rules, row, weight, place + 1, known, meta, made + place - first, out_words,
                     out_weights)  # fmt: skip
    return made + count
