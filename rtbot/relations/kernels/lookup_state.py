"""Loops over what LookupJoin remembers: taking back, saving, restoring; see looking_up.py."""

from rtbot.relations.kernels.join_output import LEFT_WIDTH, RIGHT_WIDTH
from rtbot.relations.kernels.looking_up import (
    ALL_COPIES,
    GIVEN,
    HELD_BY,
    HOLDS,
    LEFT_CELLS,
    LEFT_SEEN,
    LOG,
    LOOK_LEFTS,
    LOOK_RIGHTS,
    NEWEST,
    NODE,
    OLDER,
    POPPED,
    PUSHED,
    REDUCED,
    RIGHT_CELLS,
    RIGHT_COUNT,
    RIGHT_SET,
    SIDE_CELLS,
    VERSION_COPIES,
    find_or_add,
    free_lookup_node,
    free_snapshot,
    release_row,
    set_right_count,
    settle_marks,
    take_lookup_node,
)

# ---- what a run has changed


def forget_lookups(
    rules, l_table, l_known, l_cells, l_meta, l_places, l_bits, r_table, r_known, r_cells, r_meta,
    r_places, r_bits, nodes, pool, log, count,
):  # fmt: skip
    """Forget the log, so that its transactions cannot be taken back any more."""
    left = (l_table, l_known, l_cells, l_meta, l_places, l_bits)
    right = (r_table, r_known, r_cells, r_meta, r_places, r_bits)
    for entry in range(count):
        forget_change(rules, entry * LOG, left, right, nodes, pool, log)


def forget_change(rules, entry, left, right, nodes, pool, log):
    """Let an entry of the log not have its row and snapshot any more."""
    if log[entry] == RIGHT_SET:
        release_row(right, rules[RIGHT_WIDTH], RIGHT_CELLS, log[entry + 1])
    else:
        release_row(left, rules[LEFT_WIDTH], LEFT_CELLS, log[entry + 1])
        if log[entry] == POPPED and log[entry + 3] != 0:
            free_snapshot(rules, log[entry + 3], right, nodes, pool)


def undo_lookups(
    rules, l_table, l_known, l_cells, l_meta, l_places, l_bits, r_table, r_known, r_cells, r_meta,
    r_places, r_bits, k_table, k_known, k_cells, k_meta, k_places, k_bits, r_on, probe, nodes, pool,
    log, begin, end,
):  # fmt: skip
    """Undo the changes of the log from `end` back to `begin`."""
    left = (l_table, l_known, l_cells, l_meta, l_places, l_bits)
    right = (r_table, r_known, r_cells, r_meta, r_places, r_bits)
    keys = (k_table, k_known, k_cells, k_meta, k_places, k_bits)
    for entry in range((end - 1) * LOG, (begin - 1) * LOG, -LOG):
        row = log[entry + 1]
        if log[entry] != RIGHT_SET:
            undo_left(rules, entry, left, right, nodes, pool, log)
        elif r_cells[row * RIGHT_CELLS + RIGHT_COUNT] != log[entry + 2]:
            set_right_count(rules, row, log[entry + 2], right, keys, r_on, probe, nodes, pool)
        log[entry] = RIGHT_SET if log[entry] == RIGHT_SET else LEFT_SEEN
        forget_change(rules, entry, left, right, nodes, pool, log)


def undo_left(rules, entry, left, right, nodes, pool, log):
    """Undo a change of a left row."""
    kind, copies, snapshot = log[entry], log[entry + 2], log[entry + 3]
    cells = left[SIDE_CELLS]
    first = log[entry + 1] * LEFT_CELLS
    version = cells[first + NEWEST]
    if kind == PUSHED:
        cells[first + ALL_COPIES] -= copies
        cells[first + NEWEST] = nodes[version * NODE + OLDER]
        free_lookup_node(version, nodes, pool)
        if snapshot != 0:
            free_snapshot(rules, snapshot, right, nodes, pool)
    elif kind == POPPED:
        cells[first + ALL_COPIES] += copies
        cells[first + NEWEST] = take_lookup_node(copies, snapshot, version, nodes, pool)
    elif kind == REDUCED:
        cells[first + ALL_COPIES] += copies
        nodes[version * NODE + VERSION_COPIES] += copies


def abandon_lookups(
    rules, l_table, l_known, l_cells, l_meta, l_places, l_bits, r_table, r_known, r_cells, r_meta,
    r_places, r_bits, touched, r_touched, cursor,
):  # fmt: skip
    """Forget what a transaction that is bad has touched, of which nothing is logged any more."""
    left = (l_table, l_known, l_cells, l_meta, l_places, l_bits)
    right = (r_table, r_known, r_cells, r_meta, r_places, r_bits)
    settle_marks(touched, cursor[LOOK_LEFTS], l_cells, LEFT_CELLS)
    settle_marks(r_touched, cursor[LOOK_RIGHTS], r_cells, RIGHT_CELLS)
    for at in range(cursor[LOOK_LEFTS]):
        l_cells[touched[at] * LEFT_CELLS + HOLDS] += 1
        release_row(left, rules[LEFT_WIDTH], LEFT_CELLS, touched[at])
    for at in range(cursor[LOOK_RIGHTS]):
        r_cells[r_touched[at] * RIGHT_CELLS + HOLDS] += 1
        release_row(right, rules[RIGHT_WIDTH], RIGHT_CELLS, r_touched[at])


# ---- saving and restoring


def list_versions(rows, cells, nodes, owners, copies, given):
    """The versions of left rows, the oldest of each first: how many there are, written or not."""
    count = 0
    for at in range(len(rows)):
        begun = count
        version = cells[rows[at] * LEFT_CELLS + NEWEST]
        while version != 0:
            count += 1
            version = nodes[version * NODE + OLDER]
        place = count - 1
        version = cells[rows[at] * LEFT_CELLS + NEWEST]
        while place >= begun and count <= len(owners):
            owners[place] = rows[at]
            copies[place] = nodes[version * NODE + VERSION_COPIES]
            given[place] = nodes[version * NODE + GIVEN]
            version = nodes[version * NODE + OLDER]
            place -= 1
    return count


def add_lookup_rows(
    table, known, cells, meta, places, bits, width, parts, words, tags, ids
):
    """The ids of rows in a store, which has room for those that are new."""
    side = (table, known, cells, meta, places, bits)
    for row in range(len(ids)):
        ids[row] = find_or_add(side, width, parts, words, row, tags[row])


def set_right_counts(
    rules, r_table, r_known, r_cells, r_meta, r_places, r_bits, k_table, k_known, k_cells, k_meta,
    k_places, k_bits, r_on, probe, nodes, pool, ids, counts,
):  # fmt: skip
    """Let right rows that are not there be there so often."""
    right = (r_table, r_known, r_cells, r_meta, r_places, r_bits)
    keys = (k_table, k_known, k_cells, k_meta, k_places, k_bits)
    for at in range(len(ids)):
        set_right_count(rules, ids[at], counts[at], right, keys, r_on, probe, nodes, pool)


def put_versions(
    l_cells, r_cells, nodes, pool, sizes, pairs, counts, owners, copies, given, numbers
):
    """Put snapshots, one after the other, and versions that have them, where there is room."""
    begin = 0
    for at in range(len(sizes)):
        pair = 0
        for place in range(begin, begin + sizes[at]):
            pair = take_lookup_node(pairs[place], counts[place], pair, nodes, pool)
            r_cells[pairs[place] * RIGHT_CELLS + HOLDS] += 1
        begin += sizes[at]
        numbers[at] = take_lookup_node(0, pair, sizes[at], nodes, pool) if pair != 0 else 0
    for at in range(len(owners)):
        first = owners[at] * LEFT_CELLS
        snapshot = numbers[given[at]]
        if snapshot != 0:
            nodes[snapshot * NODE + HELD_BY] += 1
        l_cells[first + ALL_COPIES] += copies[at]
        l_cells[first + NEWEST] = take_lookup_node(
            copies[at], snapshot, l_cells[first + NEWEST], nodes, pool
        )
