"""The loop of LookupJoin: left rows keep the right rows that their key had when they came.

A side is (table, known, cells, meta, places, bits) of a store, the keys of right rows are one more.
The cells of rows begin with what the transaction at work adds, as in ordered_search.py: the lower
halves of weights, and a mark, 0 for a row that is not touched; then how many entries of the log
and, of a right row, snapshots have it. A row that is not there goes when nothing has it any more.

Nodes of NODE words are numbered from 1, 0 is none; a free one has the next in its first word.
- Snapshots are the right rows of a key at a time: how many have it, the first pair, how many pairs.
- Pairs are a right row, how often it was there, and the next pair.
- Versions are copies of a left row, the snapshot that they were given (0: nothing), and the version
  before.

The log has LOG words for each change of the transactions of a run, so that they can be taken back:
what it is, the row, copies, and a snapshot. `pool` is the meta array of the nodes.
"""

from rtbot.relations.kernels.join_index import TOO_MANY, add_halves
from rtbot.relations.kernels.join_output import (
    LEFT,
    LEFT_WIDTH,
    OUT_WIDTH,
    RIGHT_WIDTH,
    ROWS_MOST,
    exceeds,
    write_joined,
)
from rtbot.relations.kernels.weighing import OVERFLOW
from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    FREE,
    HALF,
    IDS,
    LIMIT,
    ROOM,
    ROWS,
    USED,
    find_entry,
    free_id,
    hash_key,
    remove_entry,
    take_id,
)

LOOK_AT, LOOK_STAGE, LOOK_INDEX, LOOK_RIGHTS, LOOK_LEFTS, LOOK_OUT, LOOK_LOG = range(7)
LOOK_OUT_NEEDED, LOOK_LOG_NEEDED, LOOK_NODES_NEEDED, LOOK_PORT, LOOK_BLAMED = range(7, 12)
LOOK_CURSOR = 12
"""Words of the cursor: the transaction, its stage and touched row, how many are touched, rows out
and entries of the log, how many there have to be room for, the side and row of a fault."""

SIDE_TABLE, SIDE_ROWS, SIDE_CELLS, SIDE_META, SIDE_PLACES, SIDE_BITS = range(6)

ADDED, TOUCHED_MARK, HOLDS = 0, 1, 2
NEWEST, ALL_COPIES, HAS_KEY = 3, 4, 5
RIGHT_COUNT, AFTER_IT, BEFORE_IT, KEY_OF = 3, 4, 5, 6
LEFT_CELLS, RIGHT_CELLS = 6, 7
"""Cells of left rows, and of right ones, which are in a list with those of their key."""

KEY_HEAD, KEY_SNAPSHOT, KEY_ROWS = 0, 1, 2
OF_KEY_CELLS = 3

NODE = 3
HELD_BY, FIRST_PAIR, PAIR_COUNT = 0, 1, 2
PAIR_ROW, PAIR_WEIGHT, NEXT_PAIR = 0, 1, 2
VERSION_COPIES, GIVEN, OLDER = 0, 1, 2

LOG = 4
RIGHT_SET, PUSHED, POPPED, REDUCED, LEFT_SEEN = 0, 1, 2, 3, 4

RARELY_CALLED = (
    *("gather_changes", "set_right_count", "find_key", "free_snapshot", "release_row"),
    *("log_change", "take_snapshot", "change_left_row", "emit_given", "count_output"),
    *("change_rights", "find_or_add", "remove_row", "pop_versions", "forget_change", "undo_left"),
)
"""Compiled apart, each once, which takes less time."""


def look_up_transactions(
    rules, starts, words, weights, tags, has_key, r_starts, r_words, r_weights, r_tags, r_has_key,
    l_table, l_known, l_cells, l_meta, l_places, l_bits, r_table, r_known, r_cells, r_meta,
    r_places, r_bits, k_table, k_known, k_cells, k_meta, k_places, k_bits, r_on, probe, nodes, pool,
    on, log, log_starts, touched, r_touched, cursor, out_words, out_weights, out_starts,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, ROOM (call again), or a fault.

    After a fault the rows of the transaction are still touched, and what it has changed is logged.
    """
    left = (l_table, l_known, l_cells, l_meta, l_places, l_bits)
    right = (r_table, r_known, r_cells, r_meta, r_places, r_bits)
    keys = (k_table, k_known, k_cells, k_meta, k_places, k_bits)
    while cursor[LOOK_AT] < len(starts) - 1:
        at = cursor[LOOK_AT]
        if cursor[LOOK_STAGE] == 0:
            cursor[LOOK_RIGHTS] = gather_changes(
                right, rules[RIGHT_WIDTH], RIGHT_CELLS, r_words, r_weights, r_tags, r_has_key,
                r_starts[at], r_starts[at + 1], r_touched,
            )  # fmt: skip
            cursor[LOOK_LEFTS] = gather_changes(
                left, rules[LEFT_WIDTH], LEFT_CELLS, words, weights, tags, has_key, starts[at],
                starts[at + 1], touched,
            )  # fmt: skip
            cursor[LOOK_STAGE] = 1
        if cursor[LOOK_STAGE] == 1:
            code = change_rights(
                rules, right, keys, r_on, probe, nodes, pool, log, r_touched, cursor
            )
            if code != DONE:
                return code
        while cursor[LOOK_INDEX] < cursor[LOOK_LEFTS]:
            code = change_left_row(
                rules, touched[cursor[LOOK_INDEX]], left, right, keys, on, probe, nodes, pool, log,
                cursor, out_words, out_weights, out_starts[at],
            )  # fmt: skip
            if code != DONE:
                return code
            cursor[LOOK_INDEX] += 1
        end_lookups(l_cells, r_cells, touched, r_touched, cursor)
        out_starts[at + 1], log_starts[at + 1] = cursor[LOOK_OUT], cursor[LOOK_LOG]
    return DONE


def end_lookups(l_cells, r_cells, touched, r_touched, cursor):
    """Go on to the next transaction."""
    settle_marks(touched, cursor[LOOK_LEFTS], l_cells, LEFT_CELLS)
    settle_marks(r_touched, cursor[LOOK_RIGHTS], r_cells, RIGHT_CELLS)
    cursor[LOOK_AT] += 1
    cursor[LOOK_STAGE] = 0


def gather_changes(side, width, parts, words, weights, tags, has_key, begin, end, touched):
    """Sum the weights of the rows of a side: how many are touched, for which there is room.

    Left rows note whether they have a key; right rows without one are nothing.
    """
    cells = side[SIDE_CELLS]
    count = 0
    for row in range(begin, end):
        if parts == RIGHT_CELLS and has_key[row] == 0:
            continue
        found = find_or_add(side, width, parts, words, row, tags[row])
        first = found * parts
        if cells[first + TOUCHED_MARK] == 0:
            cells[first + TOUCHED_MARK] = 1
            touched[count] = found
            count += 1
        if parts == LEFT_CELLS:
            cells[first + HAS_KEY] = has_key[row]
        cells[first + ADDED] += weights[row] & HALF
        cells[first + TOUCHED_MARK] += 2 * (weights[row] >> 32)
    return count


def find_or_add(side, width, parts, words, row, tag):
    """The id of a row in a store, which has room for it."""
    table, known = side[SIDE_TABLE], side[SIDE_ROWS]
    place = find_entry(
        table, tag, words, row * width, known, width, side[SIDE_PLACES], side[SIDE_BITS]
    )
    if table[place] != EMPTY:
        return table[place] & IDS
    new = take_id(side[SIDE_META], words, row * width, known, width)
    table[place] = (tag << 32) | new
    for cell in range(new * parts, (new + 1) * parts):
        side[SIDE_CELLS][cell] = 0
    return new


def settle_marks(touched, count, cells, parts):
    """Forget what a transaction has touched."""
    for at in range(count):
        cells[touched[at] * parts + ADDED] = 0
        cells[touched[at] * parts + TOUCHED_MARK] = 0


def remove_row(side, width, row):
    """Take a row out of its store."""
    known, places, bits = side[SIDE_ROWS], side[SIDE_PLACES], side[SIDE_BITS]
    tag = hash_key(known, row * width, places, bits)
    table = side[SIDE_TABLE]
    remove_entry(
        table, find_entry(table, tag, known, row * width, known, width, places, bits)
    )
    free_id(side[SIDE_META], row, known, width)


def release_row(side, width, parts, row):
    """Let one entry of the log, or a snapshot, not have a row any more, which goes if it can."""
    cells = side[SIDE_CELLS]
    first = row * parts
    cells[first + HOLDS] -= 1
    is_there = cells[first + (RIGHT_COUNT if parts == RIGHT_CELLS else NEWEST)] != 0
    if not is_there and cells[first + HOLDS] == 0 and cells[first + TOUCHED_MARK] == 0:
        remove_row(side, width, row)


# ---- nodes and the log


def take_lookup_node(one, two, three, nodes, pool):
    """A node with these words, for which there is room."""
    node = pool[FREE]
    if node > 0:
        pool[FREE] = nodes[node * NODE]
    else:
        node = pool[USED]
        pool[USED] += 1
    pool[ROWS] += 1
    nodes[node * NODE] = one
    nodes[node * NODE + 1] = two
    nodes[node * NODE + 2] = three
    return node


def free_lookup_node(node, nodes, pool):
    """Free a node."""
    nodes[node * NODE] = pool[FREE]
    pool[FREE] = node
    pool[ROWS] -= 1


def log_change(kind, row, copies, snapshot, cells, parts, log, cursor):
    """Note a change, for which the log has room."""
    entry = cursor[LOOK_LOG] * LOG
    log[entry] = kind
    log[entry + 1] = row
    log[entry + 2] = copies
    log[entry + 3] = snapshot
    cursor[LOOK_LOG] += 1
    cells[row * parts + HOLDS] += 1


# ---- right rows


def change_rights(rules, right, keys, on, probe, nodes, pool, log, touched, cursor):
    """Change the counts of right rows: DONE, ROOM, or a fault."""
    count = cursor[LOOK_RIGHTS]
    cells = right[SIDE_CELLS]
    if (cursor[LOOK_LOG] + count) * LOG > len(log):
        cursor[LOOK_LOG_NEEDED] = cursor[LOOK_LOG] + count
        return ROOM
    for at in range(count):
        row = touched[at]
        first = row * RIGHT_CELLS
        before = cells[first + RIGHT_COUNT]
        code, after = add_halves(before, cells[first + TOUCHED_MARK] >> 1, cells[first + ADDED])
        if code != DONE:
            cursor[LOOK_PORT] = 1
            cursor[LOOK_BLAMED] = row
            return code
        log_change(RIGHT_SET, row, before, 0, cells, RIGHT_CELLS, log, cursor)
        if after != before:
            set_right_count(rules, row, after, right, keys, on, probe, nodes, pool)
    cursor[LOOK_STAGE] = 2
    cursor[LOOK_INDEX] = 0
    return DONE


def set_right_count(rules, row, after, right, keys, on, probe, nodes, pool):
    """Let a right row be there so often; the next left row of its key gets another snapshot."""
    cells, k_cells = right[SIDE_CELLS], keys[SIDE_CELLS]
    first = row * RIGHT_CELLS
    before = cells[first + RIGHT_COUNT]
    cells[first + RIGHT_COUNT] = after
    if before == 0:
        key = find_key(rules[RIGHT_WIDTH], row, right[SIDE_ROWS], on, probe, keys, True)
        head = k_cells[key * OF_KEY_CELLS + KEY_HEAD] - 1
        cells[first + KEY_OF] = key
        cells[first + AFTER_IT] = head
        cells[first + BEFORE_IT] = -1
        if head >= 0:
            cells[head * RIGHT_CELLS + BEFORE_IT] = row
        k_cells[key * OF_KEY_CELLS + KEY_HEAD] = row + 1
        k_cells[key * OF_KEY_CELLS + KEY_ROWS] += 1
    key = cells[first + KEY_OF]
    snapshot = k_cells[key * OF_KEY_CELLS + KEY_SNAPSHOT]
    if snapshot != 0:
        k_cells[key * OF_KEY_CELLS + KEY_SNAPSHOT] = 0
        free_snapshot(rules, snapshot, right, nodes, pool)
    if after == 0:
        unlink_right(row, key, cells, k_cells)
        if k_cells[key * OF_KEY_CELLS + KEY_ROWS] == 0:
            remove_row(keys, len(probe), key)


def unlink_right(row, key, cells, k_cells):
    """Take a right row out of the list of its key."""
    before, after = cells[row * RIGHT_CELLS + BEFORE_IT], cells[row * RIGHT_CELLS + AFTER_IT]
    if before < 0:
        k_cells[key * OF_KEY_CELLS + KEY_HEAD] = after + 1
    else:
        cells[before * RIGHT_CELLS + AFTER_IT] = after
    if after >= 0:
        cells[after * RIGHT_CELLS + BEFORE_IT] = before
    k_cells[key * OF_KEY_CELLS + KEY_ROWS] -= 1


def find_key(width, row, known, on, probe, keys, adds):
    """The id of the key of a row; -1 if there is none and it is not to be added."""
    for part in range(len(on)):
        probe[part] = known[row * width + on[part]]
    tag = hash_key(probe, 0, keys[SIDE_PLACES], keys[SIDE_BITS])
    if adds:
        return find_or_add(keys, len(probe), OF_KEY_CELLS, probe, 0, tag)
    place = find_entry(
        keys[SIDE_TABLE], tag, probe, 0, keys[SIDE_ROWS], len(probe), keys[SIDE_PLACES],
        keys[SIDE_BITS],
    )  # fmt: skip
    entry = keys[SIDE_TABLE][place]
    return -1 if entry == EMPTY else entry & IDS


def take_snapshot(key, right, keys, nodes, pool):
    """The snapshot of the rows of a key as they are now, for which there is room."""
    cells, k_cells = right[SIDE_CELLS], keys[SIDE_CELLS]
    snapshot = k_cells[key * OF_KEY_CELLS + KEY_SNAPSHOT]
    if snapshot != 0:
        return snapshot
    row = k_cells[key * OF_KEY_CELLS + KEY_HEAD] - 1
    pair = 0
    while row >= 0:
        pair = take_lookup_node(row, cells[row * RIGHT_CELLS + RIGHT_COUNT], pair, nodes, pool)
        cells[row * RIGHT_CELLS + HOLDS] += 1
        row = cells[row * RIGHT_CELLS + AFTER_IT]
    snapshot = take_lookup_node(1, pair, k_cells[key * OF_KEY_CELLS + KEY_ROWS], nodes, pool)
    k_cells[key * OF_KEY_CELLS + KEY_SNAPSHOT] = snapshot
    return snapshot


def free_snapshot(rules, snapshot, right, nodes, pool):
    """Let one key, version or entry of the log not have a snapshot any more."""
    nodes[snapshot * NODE + HELD_BY] -= 1
    if nodes[snapshot * NODE + HELD_BY] > 0:
        return
    pair = nodes[snapshot * NODE + FIRST_PAIR]
    while pair != 0:
        after = nodes[pair * NODE + NEXT_PAIR]
        release_row(right, rules[RIGHT_WIDTH], RIGHT_CELLS, nodes[pair * NODE + PAIR_ROW])
        free_lookup_node(pair, nodes, pool)
        pair = after
    free_lookup_node(snapshot, nodes, pool)


# ---- left rows


def change_left_row(
    rules, row, left, right, keys, on, probe, nodes, pool, log, cursor, out_words, out_weights,
    begun,
):  # fmt: skip
    """Change the copies of a left row, and emit what they are given or lose: DONE, ROOM, a fault.

    With ROOM nothing has changed.
    """
    cells = left[SIDE_CELLS]
    first = row * LEFT_CELLS
    before = cells[first + ALL_COPIES]
    code, after = add_halves(before, cells[first + TOUCHED_MARK] >> 1, cells[first + ADDED])
    key = -1
    if code == DONE and after > before and cells[first + HAS_KEY] != 0:
        key = find_key(rules[LEFT_WIDTH], row, left[SIDE_ROWS], on, probe, keys, False)
    if code == DONE and key >= 0:
        code = check_product(key, after - before, right[SIDE_CELLS], keys[SIDE_CELLS])
    if code == DONE:
        code = find_room(rules, row, key, after - before, left, keys, nodes, pool, log, cursor,
                         len(out_weights), begun)  # fmt: skip
    if code != DONE:
        cursor[LOOK_PORT] = 0
        cursor[LOOK_BLAMED] = row
        return code
    cells[first + ALL_COPIES] = after
    if after > before:
        snapshot = 0
        if key >= 0:
            snapshot = take_snapshot(key, right, keys, nodes, pool)
            nodes[snapshot * NODE + HELD_BY] += 1
        cells[first + NEWEST] = take_lookup_node(
            after - before, snapshot, cells[first + NEWEST], nodes, pool
        )
        log_change(PUSHED, row, after - before, snapshot, cells, LEFT_CELLS, log, cursor)
        emit_given(rules, row, after - before, snapshot, left, right, nodes, cursor, out_words,
                   out_weights)  # fmt: skip
    elif after < before:
        pop_versions(rules, row, before - after, left, right, nodes, pool, log, cursor, out_words,
                     out_weights)  # fmt: skip
    else:
        log_change(LEFT_SEEN, row, 0, 0, cells, LEFT_CELLS, log, cursor)
    return DONE


def check_product(key, copies, cells, k_cells):
    """OVERFLOW if a pair of a left row would be there too often, else DONE."""
    row = k_cells[key * OF_KEY_CELLS + KEY_HEAD] - 1
    while row >= 0:
        if exceeds(copies, cells[row * RIGHT_CELLS + RIGHT_COUNT]):
            return OVERFLOW
        row = cells[row * RIGHT_CELLS + AFTER_IT]
    return DONE


def find_room(
    rules, row, key, change, left, keys, nodes, pool, log, cursor, room, begun
):
    """Whether there is room for what the change of a left row makes: DONE, ROOM or TOO_MANY."""
    made, entries, taken = 0, 1, 1
    if change > 0:
        made = keys[SIDE_CELLS][key * OF_KEY_CELLS + KEY_ROWS] if key >= 0 else 0
        taken += made + 1
        made = max(made, rules[LEFT])
    else:
        made, entries = count_output(rules, row, -change, left[SIDE_CELLS], nodes)
    cursor[LOOK_OUT_NEEDED] = cursor[LOOK_OUT] + made
    cursor[LOOK_LOG_NEEDED] = cursor[LOOK_LOG] + entries
    cursor[LOOK_NODES_NEEDED] = taken
    if cursor[LOOK_OUT_NEEDED] - begun > rules[ROWS_MOST]:
        return TOO_MANY
    has_room = cursor[LOOK_OUT_NEEDED] <= room and cursor[LOOK_LOG_NEEDED] * LOG <= len(log)
    return DONE if has_room and pool[LIMIT] - pool[ROWS] >= taken else ROOM


def count_output(rules, row, copies, cells, nodes):
    """How many rows come out when a left row loses copies, and from how many versions they are."""
    made, entries = 0, 1
    version = cells[row * LEFT_CELLS + NEWEST]
    while copies > 0:
        snapshot = nodes[version * NODE + GIVEN]
        made += nodes[snapshot * NODE + PAIR_COUNT] if snapshot != 0 else rules[LEFT]
        entries += 1
        copies -= nodes[version * NODE + VERSION_COPIES]
        version = nodes[version * NODE + OLDER]
    return made, entries


def pop_versions(
    rules, row, copies, left, right, nodes, pool, log, cursor, out_words, out_weights
):
    """Take the newest copies of a left row away, with what they were given."""
    cells = left[SIDE_CELLS]
    while copies > 0:
        version = cells[row * LEFT_CELLS + NEWEST]
        held, snapshot = nodes[version * NODE], nodes[version * NODE + GIVEN]
        taken = min(held, copies)
        copies -= taken
        emit_given(rules, row, -taken, snapshot, left, right, nodes, cursor, out_words,
                   out_weights)  # fmt: skip
        if taken < held:
            nodes[version * NODE + VERSION_COPIES] = held - taken
            log_change(REDUCED, row, taken, 0, cells, LEFT_CELLS, log, cursor)
        else:
            cells[row * LEFT_CELLS + NEWEST] = nodes[version * NODE + OLDER]
            free_lookup_node(version, nodes, pool)
            log_change(POPPED, row, taken, snapshot, cells, LEFT_CELLS, log, cursor)


def emit_given(rules, row, copies, snapshot, left, right, nodes, cursor, out_words, out_weights):
    """Emit copies of a left row with what they were given; -: they are gone."""
    width, known = rules[OUT_WIDTH], left[SIDE_ROWS]
    first, made = row * rules[LEFT_WIDTH], cursor[LOOK_OUT]
    pair = nodes[snapshot * NODE + FIRST_PAIR] if snapshot != 0 else 0
    if pair == 0 and rules[LEFT] != 0:
        write_joined(rules, width, known, first, known, -1, out_words, made * width)
        out_weights[made] = copies
        made += 1
    while pair != 0:
        other = nodes[pair * NODE + PAIR_ROW] * rules[RIGHT_WIDTH]
        write_joined(rules, width, known, first, right[SIDE_ROWS], other, out_words, made * width)
        out_weights[made] = copies * nodes[pair * NODE + PAIR_WEIGHT]
        made += 1
        pair = nodes[pair * NODE + NEXT_PAIR]
    cursor[LOOK_OUT] = made
