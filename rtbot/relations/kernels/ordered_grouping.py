"""The loop of what depends on the order of the rows of a group: first, last, texts put together.

`fields` has, for each field of the output, PARTS words: which row has its value, the word of that
and its null (word, or -1, and bit), where its null is in the output (word and bit). The texts to be
put together come as the place in `pieces` of how many rows have one, then their codes and copies.
`cursor` is that of ranking.py, and how many words of `pieces` are in use.
"""

from rtbot.relations.kernels.join_index import ROOM_OUT
from rtbot.relations.kernels.ordered_rows import apply_touched
from rtbot.relations.kernels.ordered_search import (
    BY_COLUMNS,
    NEXT,
    PRIOR,
    ROW_CELLS,
    ROW_WIDTH,
    count_copies,
    find_after,
    find_before,
)
from rtbot.relations.kernels.ranking import (
    TOP_AT,
    TOP_COUNT,
    TOP_CURSOR,
    TOP_EMITTING,
    TOP_NEEDED,
    TOP_OUT,
    end_transaction,
    find_stop,
    touch_transaction,
)
from rtbot.tables.hash_tables import DONE, is_same_row

PIECES = TOP_CURSOR
PIECES_CURSOR = TOP_CURSOR + 1
"""Words of the cursor."""

FIRST_ROW, LAST_ROW, ALL_ROWS = 0, 1, 2
SOURCE, PLACE_OF, NULL_OF, NULL_BIT_OF, NULL_TO, NULL_BIT_TO = 0, 1, 2, 3, 4, 5
PARTS = 6
"""Words of a field."""

RARELY_CALLED = ("emit_groups", "find_group", "write_group", "list_pieces")
"""Compiled apart, each once, which takes less time."""


def group_in_order(
    fields, out_width, starts, words, weights, known, cells, nodes, meta, spec, labels, touched,
    other, cursor, out_words, out_weights, out_starts, pieces,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, ROOM or ROOM_OUT (call again), or a fault.

    After a fault the rows of the transaction are still touched. ROOM_OUT is of `pieces`; the output
    has room for two rows of each that comes.
    """
    while cursor[TOP_AT] < len(starts) - 1:
        code = DONE
        if cursor[TOP_EMITTING] == 0:
            code = touch_transaction(
                starts[cursor[TOP_AT] + 1], words, weights, known, cells, nodes, meta, spec, labels,
                touched, other, cursor,
            )  # fmt: skip
        if code == DONE:
            code = emit_groups(
                fields, out_width, known, cells, nodes, meta, spec, labels, touched,
                cursor[TOP_COUNT], cursor, out_words, out_weights, pieces,
            )  # fmt: skip
        if code != DONE:
            return code
        apply_touched(touched, cursor[TOP_COUNT], cells, nodes, meta)
        end_transaction(cursor, out_starts)
    return DONE


def emit_groups(
    fields, out_width, known, cells, nodes, meta, spec, labels, touched, count, cursor, out_words,
    out_weights, pieces,
):  # fmt: skip
    """Emit the groups that a transaction changes, before it is done: DONE, or ROOM_OUT."""
    made, held, at = cursor[TOP_OUT], cursor[PIECES], 0
    while at < count:
        head, tail = find_group(touched[at], known, cells, nodes, meta, spec, labels)
        at = find_stop(touched, at, count, meta[BY_COLUMNS], known, meta, spec, labels)
        begun, texts = made, held
        for state in range(2):
            first, last = find_ends(head, tail, state, cells, meta)
            if first >= 0:
                held = write_group(
                    fields, first, last, state, known, cells, meta, out_words, made * out_width,
                    out_width, pieces, held,
                )  # fmt: skip
                out_weights[made] = 2 * state - 1
                made += 1
        if made == begun + 2 and held == texts and is_same_row(
            out_words, begun * out_width, out_words, (begun + 1) * out_width, out_width
        ):  # fmt: skip
            made = begun
    if held > len(pieces):
        cursor[TOP_NEEDED] = held
        return ROOM_OUT
    cursor[TOP_OUT] = made
    cursor[PIECES] = held
    return DONE


def find_group(row, known, cells, nodes, meta, spec, labels):
    """The first and the last row of the group of a row, those without copies as well."""
    first, by = row * meta[ROW_WIDTH], meta[BY_COLUMNS]
    before = find_before(known, first, spec, by, False, known, nodes, meta, spec, labels)
    last = find_before(known, first, spec, by, True, known, nodes, meta, spec, labels)
    return find_after(before, cells, meta), last


def find_ends(head, tail, state, cells, meta):
    """The first and the last row of a group that are there; -1 if none is."""
    parts = meta[ROW_CELLS]
    while head != tail and count_copies(head, state, cells, meta) == 0:
        head = cells[head * parts + NEXT]
    if count_copies(head, state, cells, meta) == 0:
        return -1, -1
    while count_copies(tail, state, cells, meta) == 0:
        tail = cells[tail * parts + PRIOR]
    return head, tail


def write_group(
    fields, first, last, state, known, cells, meta, out, at, out_width, pieces, held
):
    """Write the row of a group at a place of the output: how many words of `pieces` are in use."""
    width = meta[ROW_WIDTH]
    for word in range(out_width):
        out[at + word] = 0
    for field in range(len(fields) // PARTS):
        part = field * PARTS
        null = False
        if fields[part + SOURCE] == ALL_ROWS:
            begun = held
            held = list_pieces(fields, part, first, last, state, known, cells, meta, pieces, held)
            null = held == begun
            out[at + field] = 0 if null else begun
        else:
            row = first if fields[part + SOURCE] == FIRST_ROW else last
            null = is_null_field(fields, part, known, row * width)
            out[at + field] = 0 if null else known[row * width + fields[part + PLACE_OF]]
        if null:
            out[at + fields[part + NULL_TO]] |= 1 << fields[part + NULL_BIT_TO]
    return held


def is_null_field(fields, part, known, first):
    """Whether the value of a field is null in a row."""
    word = fields[part + NULL_OF]
    return word >= 0 and (known[first + word] >> fields[part + NULL_BIT_OF]) & 1 != 0


def list_pieces(fields, part, first, last, state, known, cells, meta, pieces, held):
    """List the texts of the rows from one to another; what has no room is counted only."""
    row, stop = first, cells[last * meta[ROW_CELLS] + NEXT]
    begun, end = held, held + 1
    while row != stop:
        word = row * meta[ROW_WIDTH]
        copies = count_copies(row, state, cells, meta)
        if copies > 0 and not is_null_field(fields, part, known, word):
            if end + 2 <= len(pieces):
                pieces[end] = known[word + fields[part + PLACE_OF]]
                pieces[end + 1] = copies
            end += 2
        row = cells[row * meta[ROW_CELLS] + NEXT]
    if end == begun + 1:
        return begun
    if begun < len(pieces):
        pieces[begun] = (end - begun) // 2
    return end
