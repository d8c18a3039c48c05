"""Loops over rows in an order: a counted B+ tree of the rows of rtbot/relations/ordered_store.py.

All arrays are flat and int64, and the caller's; a store is passed as `known, cells, nodes, meta,
spec, labels`. `known` has the words of every row by its id, `cells` what it has besides: copies,
what the transaction at work adds to them, whether that has touched it, its leaf, the rows after and
before it (-1: none), then columns of the operator's own. Ids stay while a row is there.

`spec` has the columns by which rows are compared, one after the other: the place of the word, its
kind, whether it descends, and the word and bit of its null (-1: never null). Nulls are last. The
first columns are the partition's; of these it matters only which are equal.

An entry of a node has two heads, which ascend as the first two columns do, what it leads to, the
first row of that, and sums: of the copies, and of what else the operator adds. A row with no copies
is in the order like others while the transaction at work may give it some, so that both states can
be walked: that before has the copies, the one after has the copies and the pending ones.
"""

from rtbot.relations.kernels.weighing import EXCESS, MOST, OVERFLOW
from rtbot.tables.hash_tables import DONE, HALF, copy_row

COPIES, PENDING, HIGH, MARK, LEAF, NEXT, PREVIOUS = 0, 1, 2, 3, 4, 5, 6
OWN = 7
"""Cells of a row; from OWN on they are the operator's."""

ROOT, NODES_USED, NODE_FREE, NODE_LIMIT, ROWS_USED, ROW_FREE, ROW_LIMIT, ROW_COUNT = range(8)
FIRST, LAST, TOTAL, LEVELS, AT_LEAF, AT_SLOT, REST = range(8, 15)
ROW_WIDTH, ROW_CELLS, FAN, SUMS, BY_COLUMNS, SORT_COLUMNS, COLUMNS = range(15, 22)
ORDER_META = 22
"""Words of the meta array of a store."""

PLACE, KIND, DESCENDING, NULL_WORD, NULL_BIT = 0, 1, 2, 3, 4
SPEC = 5
"""Words of a column of a spec."""

PLAIN, NUMBER, LABELLED = 0, 1, 2
"""Kinds of columns: words as they are, bits of numbers, codes of texts that have labels."""

ENTRIES, PARENT, LEVEL = 0, 1, 2
NODE_HEAD = 3
"""The first words of a node: how many entries it has, the node above or -1, 0 for a leaf."""


# ---- comparing


def compare_cells(words, first, spec, others, second, other_spec, labels, columns):
    """Whether a row comes before another (-1), behind it (1), or is equal (0) in some columns."""
    for column in range(columns):
        part = column * SPEC
        null = has_null(words, first, spec, part)
        other_null = has_null(others, second, other_spec, part)
        if null or other_null:
            if null and other_null:
                continue
            return 1 if null else -1
        left = words[first + spec[part + PLACE]]
        right = others[second + other_spec[part + PLACE]]
        if left != right:
            if spec[part + KIND] == LABELLED:
                left = labels[left]
                right = labels[right]
            elif spec[part + KIND] == NUMBER:
                left ^= (left >> 63) & MOST
                right ^= (right >> 63) & MOST
            before = left > right if spec[part + DESCENDING] != 0 else left < right
            return -1 if before else 1
    return 0


def has_null(words, first, spec, part):
    """Whether a row is null in a column."""
    word = spec[part + NULL_WORD]
    return word >= 0 and (words[first + word] >> spec[part + NULL_BIT]) & 1 != 0


def find_head(words, first, spec, column):
    """A word that ascends as a column does; MOST for a null, 0 for a text."""
    part = column * SPEC
    if spec[part + KIND] == LABELLED:
        return 0
    if has_null(words, first, spec, part):
        return MOST
    word = words[first + spec[part + PLACE]]
    if spec[part + KIND] == NUMBER:
        word ^= (word >> 63) & MOST
    return ~word if spec[part + DESCENDING] != 0 else word


def compare_ids(one, other, columns, known, meta, spec, labels):
    """Whether a row of a store comes before another one in some columns: -1, 0 or 1."""
    width = meta[ROW_WIDTH]
    return compare_cells(known, one * width, spec, known, other * width, spec, labels, columns)


# ---- finding


def find_before(words, first, probe_spec, columns, past, known, nodes, meta, spec, labels):
    """The last row that comes before some key; -1 if there is none.

    The key is in the first `columns` columns of the row at `first`, whose spec may be another one.
    Rows that are equal to it in them come before it if `past`. AT_LEAF and AT_SLOT of `meta` say
    where a row would be put behind the one that is found.
    """
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    width = meta[ROW_WIDTH]
    head = find_head(words, first, probe_spec, 0) if columns > 0 else 0
    second = find_head(words, first, probe_spec, 1) if columns > 1 else 0
    exact = columns > 1 and head != MOST and spec[KIND] != LABELLED
    node = meta[ROOT]
    while True:
        base = node * size
        low = 0
        high = nodes[base + ENTRIES]
        while low < high:
            middle = (low + high) >> 1
            at = base + NODE_HEAD + middle
            if columns > 0 and nodes[at] != head:
                before = nodes[at] < head
            elif exact and nodes[at + fan] != second:
                before = nodes[at + fan] < second
            else:
                order = compare_cells(
                    known, nodes[at + 3 * fan] * width, spec, words, first, probe_spec, labels,
                    columns,
                )  # fmt: skip
                before = order < 0 or (past and order == 0)
            if before:
                low = middle + 1
            else:
                high = middle
        if nodes[base + LEVEL] == 0:
            break
        node = nodes[base + NODE_HEAD + 2 * fan + max(low - 1, 0)]
    meta[AT_LEAF] = node
    meta[AT_SLOT] = low
    return nodes[base + NODE_HEAD + 3 * fan + low - 1] if low > 0 else -1


def find_after(row, cells, meta):
    """The row after a row, the first one of all after -1; -1 if there is none."""
    return meta[FIRST] if row < 0 else cells[row * meta[ROW_CELLS] + NEXT]


def find_slot(node, part, wanted, nodes, meta):
    """Where a node has an entry: 2 for what it leads to, 3 for its first row."""
    fan = meta[FAN]
    base = node * (NODE_HEAD + fan * (4 + meta[SUMS])) + NODE_HEAD + part * fan
    slot = 0
    while nodes[base + slot] != wanted:
        slot += 1
    return slot


def sum_before(row, number, cells, nodes, meta):
    """A sum of all rows before a row, of all rows there are for -1."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    node = meta[ROOT]
    total = 0
    if row < 0:
        base = node * size + NODE_HEAD + (4 + number) * fan
        for slot in range(nodes[node * size + ENTRIES]):
            total += nodes[base + slot]
        return total
    node = cells[row * meta[ROW_CELLS] + LEAF]
    last = find_slot(node, 3, row, nodes, meta)
    while True:
        base = node * size + NODE_HEAD + (4 + number) * fan
        for slot in range(last):
            total += nodes[base + slot]
        above = nodes[node * size + PARENT]
        if above < 0:
            return total
        last = find_slot(above, 2, node, nodes, meta)
        node = above


def find_at(place, number, nodes, meta):
    """The row in which a sum exceeds `place`, 0 or more; -1 if it never does.

    REST of `meta` is what the sum of the rows before it leaves of `place`.
    """
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    node = meta[ROOT]
    while True:
        base = node * size + NODE_HEAD
        sums = base + (4 + number) * fan
        count = nodes[node * size + ENTRIES]
        slot = 0
        while slot < count and place >= nodes[sums + slot]:
            place -= nodes[sums + slot]
            slot += 1
        if slot == count:
            return -1
        if nodes[node * size + LEVEL] == 0:
            meta[REST] = place
            return nodes[base + 3 * fan + slot]
        node = nodes[base + 2 * fan + slot]


def add_sum(row, number, change, cells, nodes, meta):
    """Add to a sum of a row; number 0 are the copies."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    node = cells[row * meta[ROW_CELLS] + LEAF]
    slot = find_slot(node, 3, row, nodes, meta)
    while True:
        nodes[node * size + NODE_HEAD + (4 + number) * fan + slot] += change
        above = nodes[node * size + PARENT]
        if above < 0:
            return
        slot = find_slot(above, 2, node, nodes, meta)
        node = above


# ---- putting in and taking out


def has_order_room(meta):
    """Whether one more row can be put in."""
    if meta[ROW_FREE] < 0 and meta[ROWS_USED] >= meta[ROW_LIMIT]:
        return False
    return meta[NODES_USED] + meta[LEVELS] + 2 <= meta[NODE_LIMIT]


def take_node(level, nodes, meta):
    """A node without entries."""
    size = NODE_HEAD + meta[FAN] * (4 + meta[SUMS])
    node = meta[NODE_FREE]
    if node >= 0:
        meta[NODE_FREE] = nodes[node * size + PARENT]
    else:
        node = meta[NODES_USED]
        meta[NODES_USED] += 1
    nodes[node * size + ENTRIES] = 0
    nodes[node * size + PARENT] = -1
    nodes[node * size + LEVEL] = level
    return node


def free_node(node, nodes, meta):
    """Free a node."""
    size = NODE_HEAD + meta[FAN] * (4 + meta[SUMS])
    nodes[node * size + PARENT] = meta[NODE_FREE]
    meta[NODE_FREE] = node


def put_row(words, first, before, known, cells, nodes, meta, spec):
    """Put a row without copies behind the one that `find_before` has found: its id."""
    parts = meta[ROW_CELLS]
    width = meta[ROW_WIDTH]
    row = meta[ROW_FREE]
    if row >= 0:
        meta[ROW_FREE] = cells[row * parts + NEXT]
    else:
        row = meta[ROWS_USED]
        meta[ROWS_USED] += 1
    meta[ROW_COUNT] += 1
    copy_row(words, first, known, row * width, width)
    for cell in range(parts):
        cells[row * parts + cell] = 0
    after = find_after(before, cells, meta)
    cells[row * parts + NEXT] = after
    cells[row * parts + PREVIOUS] = before
    if before < 0:
        meta[FIRST] = row
    else:
        cells[before * parts + NEXT] = row
    if after < 0:
        meta[LAST] = row
    else:
        cells[after * parts + PREVIOUS] = row
    put_entry_of(row, known, cells, nodes, meta, spec)
    return row


def put_entry_of(row, known, cells, nodes, meta, spec):
    """Put the entry of a row at AT_LEAF and AT_SLOT, where nodes that are full are split."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    leaf = meta[AT_LEAF]
    slot = meta[AT_SLOT]
    while nodes[leaf * size + ENTRIES] == fan:
        node = leaf
        above = nodes[node * size + PARENT]
        while above >= 0 and nodes[above * size + ENTRIES] == fan:
            node = above
            above = nodes[node * size + PARENT]
        kept = fan - 1 if node == leaf and slot == fan else fan >> 1
        made = split_node(node, kept, cells, nodes, meta)
        if node == leaf and slot > kept:
            leaf = made
            slot -= kept
    base = leaf * size + NODE_HEAD
    open_slot(leaf, slot, nodes, meta)
    first = row * meta[ROW_WIDTH]
    nodes[base + slot] = find_head(known, first, spec, 0)
    nodes[base + fan + slot] = find_head(known, first, spec, 1) if meta[COLUMNS] > 1 else 0
    nodes[base + 3 * fan + slot] = row
    cells[row * meta[ROW_CELLS] + LEAF] = leaf
    if slot == 0:
        raise_first(leaf, nodes, meta)


def open_slot(node, slot, nodes, meta):
    """Make place for an entry, whose sums are 0."""
    fan = meta[FAN]
    sums = meta[SUMS]
    base = node * (NODE_HEAD + fan * (4 + sums))
    count = nodes[base + ENTRIES]
    nodes[base + ENTRIES] = count + 1
    for part in range(4 + sums):
        begin = base + NODE_HEAD + part * fan
        for at in range(begin + count, begin + slot, -1):
            nodes[at] = nodes[at - 1]
        nodes[begin + slot] = 0


def close_slot(node, slot, nodes, meta):
    """Take an entry out of a node."""
    fan = meta[FAN]
    sums = meta[SUMS]
    base = node * (NODE_HEAD + fan * (4 + sums))
    count = nodes[base + ENTRIES] - 1
    nodes[base + ENTRIES] = count
    for part in range(4 + sums):
        begin = base + NODE_HEAD + part * fan
        for at in range(begin + slot, begin + count):
            nodes[at] = nodes[at + 1]


def move_node_entries(source, first, target, cells, nodes, meta):
    """Move the entries of a node from `first` on behind those of another one."""
    fan = meta[FAN]
    sums = meta[SUMS]
    size = NODE_HEAD + fan * (4 + sums)
    begin = source * size
    end = target * size
    count = nodes[begin + ENTRIES]
    held = nodes[end + ENTRIES]
    for part in range(4 + sums):
        for slot in range(first, count):
            nodes[end + NODE_HEAD + part * fan + held + slot - first] = nodes[
                begin + NODE_HEAD + part * fan + slot
            ]
    nodes[begin + ENTRIES] = first
    nodes[end + ENTRIES] = held + count - first
    is_leaf = nodes[begin + LEVEL] == 0
    for slot in range(held, held + count - first):
        if is_leaf:
            row = nodes[end + NODE_HEAD + 3 * fan + slot]
            cells[row * meta[ROW_CELLS] + LEAF] = target
        else:
            nodes[nodes[end + NODE_HEAD + 2 * fan + slot] * size + PARENT] = target


def split_node(node, kept, cells, nodes, meta):
    """Move all but the first entries of a node to a new one behind it, whose parent has room."""
    fan = meta[FAN]
    sums = meta[SUMS]
    size = NODE_HEAD + fan * (4 + sums)
    above = nodes[node * size + PARENT]
    if above < 0:
        above = take_node(nodes[node * size + LEVEL] + 1, nodes, meta)
        nodes[above * size + ENTRIES] = 1
        lead_to(above, 0, node, nodes, meta)
        meta[ROOT] = above
        meta[LEVELS] += 1
    slot = find_slot(above, 2, node, nodes, meta) + 1
    made = take_node(nodes[node * size + LEVEL], nodes, meta)
    move_node_entries(node, kept, made, cells, nodes, meta)
    open_slot(above, slot, nodes, meta)
    lead_to(above, slot, made, nodes, meta)
    for number in range(sums):
        at = above * size + NODE_HEAD + (4 + number) * fan + slot
        nodes[at - 1] = add_entries(node, number, nodes, meta)
    return made


def lead_to(above, slot, node, nodes, meta):
    """Let an entry lead to a node that has entries."""
    fan = meta[FAN]
    sums = meta[SUMS]
    size = NODE_HEAD + fan * (4 + sums)
    at = above * size + NODE_HEAD + slot
    first = node * size + NODE_HEAD
    nodes[at] = nodes[first]
    nodes[at + fan] = nodes[first + fan]
    nodes[at + 2 * fan] = node
    nodes[at + 3 * fan] = nodes[first + 3 * fan]
    for number in range(sums):
        nodes[at + (4 + number) * fan] = add_entries(node, number, nodes, meta)
    nodes[node * size + PARENT] = above


def add_entries(node, number, nodes, meta):
    """A sum of all entries of a node."""
    fan = meta[FAN]
    base = node * (NODE_HEAD + fan * (4 + meta[SUMS]))
    total = 0
    for slot in range(nodes[base + ENTRIES]):
        total += nodes[base + NODE_HEAD + (4 + number) * fan + slot]
    return total


def raise_first(node, nodes, meta):
    """Tell the nodes above that the first row of a node is another one."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    first = node * size + NODE_HEAD
    above = nodes[node * size + PARENT]
    while above >= 0:
        slot = find_slot(above, 2, node, nodes, meta)
        at = above * size + NODE_HEAD + slot
        nodes[at] = nodes[first]
        nodes[at + fan] = nodes[first + fan]
        nodes[at + 3 * fan] = nodes[first + 3 * fan]
        if slot > 0:
            return
        node = above
        above = nodes[node * size + PARENT]


def drop_row(row, cells, nodes, meta):
    """Take a row out whose sums are all 0; its id is free."""
    parts = meta[ROW_CELLS]
    size = NODE_HEAD + meta[FAN] * (4 + meta[SUMS])
    leaf = cells[row * parts + LEAF]
    before = cells[row * parts + PREVIOUS]
    after = cells[row * parts + NEXT]
    if before < 0:
        meta[FIRST] = after
    else:
        cells[before * parts + NEXT] = after
    if after < 0:
        meta[LAST] = before
    else:
        cells[after * parts + PREVIOUS] = before
    cells[row * parts + NEXT] = meta[ROW_FREE]
    meta[ROW_FREE] = row
    meta[ROW_COUNT] -= 1
    slot = find_slot(leaf, 3, row, nodes, meta)
    close_slot(leaf, slot, nodes, meta)
    if slot == 0 and nodes[leaf * size + ENTRIES] > 0:
        raise_first(leaf, nodes, meta)
    shrink_nodes(leaf, cells, nodes, meta)


def shrink_nodes(node, cells, nodes, meta):
    """Free a node that is empty, or put it and the one beside it together; so those above."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    above = nodes[node * size + PARENT]
    while above >= 0 and nodes[node * size + ENTRIES] <= fan >> 2:
        slot = find_slot(above, 2, node, nodes, meta)
        if nodes[node * size + ENTRIES] == 0:
            free_node(node, nodes, meta)
            close_slot(above, slot, nodes, meta)
            if slot == 0 and nodes[above * size + ENTRIES] > 0:
                raise_first(above, nodes, meta)
        elif not merge_beside(above, slot, cells, nodes, meta):
            break
        node = above
        above = nodes[node * size + PARENT]
    root = meta[ROOT]
    while nodes[root * size + LEVEL] > 0 and nodes[root * size + ENTRIES] == 1:
        below = nodes[root * size + NODE_HEAD + 2 * fan]
        free_node(root, nodes, meta)
        nodes[below * size + PARENT] = -1
        meta[ROOT] = below
        meta[LEVELS] -= 1
        root = below


def merge_beside(above, slot, cells, nodes, meta):
    """Put a node and one beside it together; False if they do not fit into three quarters."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    base = above * size + NODE_HEAD
    for left in (slot, slot - 1):
        if left >= 0 and left + 1 < nodes[above * size + ENTRIES]:
            one = nodes[base + 2 * fan + left]
            other = nodes[base + 2 * fan + left + 1]
            held = nodes[one * size + ENTRIES] + nodes[other * size + ENTRIES]
            if 4 * held <= 3 * fan:
                move_node_entries(other, 0, one, cells, nodes, meta)
                free_node(other, nodes, meta)
                close_slot(above, left + 1, nodes, meta)
                for number in range(meta[SUMS]):
                    nodes[base + (4 + number) * fan + left] = add_entries(one, number, nodes, meta)
                return True
    return False


# ---- transactions


def touch_rows(
    sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
):
    """Note what rows add to the copies, those that are not there yet as well.

    Returns (row, touched rows): all is done if the row is `end`; else the store has no room for
    that row, and this goes on from there. `touched` gets every row once, in any order.
    """
    parts = meta[ROW_CELLS]
    width = meta[ROW_WIDTH]
    columns = meta[COLUMNS]
    for at in range(begin, end):
        row = find_before(
            words, at * width, spec, columns, True, known, nodes, meta, spec, labels
        )
        if row < 0 or not has_equal_words(words, at * width, known, row * width, width):
            if not has_order_room(meta):
                return at, count
            row = put_row(words, at * width, row, known, cells, nodes, meta, spec)
        if cells[row * parts + MARK] == 0:
            cells[row * parts + MARK] = 1
            touched[count] = row
            count += 1
        cells[row * parts + PENDING] += sign * (weights[at] & HALF)
        cells[row * parts + HIGH] += sign * (weights[at] >> 32)
    return end, count


def has_equal_words(words, first, others, second, width):
    """Whether two rows have the same words."""
    for word in range(width):
        if words[first + word] != others[second + word]:
            return False
    return True


def check_touched(touched, count, cells, meta):
    """Let PENDING be the net change of every touched row: DONE, or OVERFLOW or EXCESS.

    MARK of a row to blame is -1 then. Rows with more copies in all than int64 are OVERFLOW.
    """
    parts = meta[ROW_CELLS]
    code = DONE
    total = meta[TOTAL]
    for at in range(count):
        first = touched[at] * parts
        wrong = net_pending(first, cells)
        if wrong != DONE:
            cells[first + MARK] = -1
            code = wrong if code == DONE or wrong == OVERFLOW else code
        elif cells[first + PENDING] < 0:
            total += cells[first + PENDING]
    if code != DONE:
        return code
    for at in range(count):
        first = touched[at] * parts
        if cells[first + PENDING] > 0:
            if cells[first + PENDING] > MOST - total:
                cells[first + MARK] = -1
                return OVERFLOW
            total += cells[first + PENDING]
    return DONE


def net_pending(first, cells):
    """Let PENDING of the row whose cells begin there be its net change: DONE, or why it is bad."""
    upper = cells[first + HIGH] + (cells[first + PENDING] >> 32)
    if upper >= 0x80000000 or upper < -0x80000000:
        return OVERFLOW
    net = (upper << 32) | (cells[first + PENDING] & HALF)
    cells[first + PENDING] = net
    cells[first + HIGH] = 0
    if net > 0 and cells[first + COPIES] > MOST - net:
        return OVERFLOW
    return EXCESS if cells[first + COPIES] + net < 0 else DONE


def sort_touched(touched, other, count, known, cells, meta, spec, labels):
    """Put touched rows in order. `other` has as much room."""
    parts = meta[ROW_CELLS]
    if count > 64 and count > meta[ROW_COUNT] >> 4:
        row = meta[FIRST]
        at = 0
        while row >= 0:
            if cells[row * parts + MARK] != 0:
                touched[at] = row
                at += 1
            row = cells[row * parts + NEXT]
        return
    columns = meta[COLUMNS]
    size = 1
    while size < count:
        for start in range(0, count, 2 * size):
            left, middle = start, min(start + size, count)
            right, end = middle, min(start + 2 * size, count)
            for place in range(start, end):
                takes_right = left >= middle or (
                    right < end
                    and compare_ids(
                        touched[right], touched[left], columns, known, meta, spec, labels
                    ) < 0
                )  # fmt: skip
                if takes_right:
                    other[place] = touched[right]
                    right += 1
                else:
                    other[place] = touched[left]
                    left += 1
        for place in range(count):
            touched[place] = other[place]
        size *= 2


def apply_touched(touched, count, cells, nodes, meta):
    """Give the touched rows their new copies; those without any go."""
    for at in range(count):
        apply_row(touched[at], cells, nodes, meta)
    finish_touched(touched, count, cells, nodes, meta)


def apply_row(row, cells, nodes, meta):
    """Give a row its new copies; it stays in the order, even without any."""
    first = row * meta[ROW_CELLS]
    change = cells[first + PENDING]
    if change != 0:
        cells[first + COPIES] += change
        cells[first + PENDING] = 0
        meta[TOTAL] += change
        add_sum(row, 0, change, cells, nodes, meta)


def finish_touched(touched, count, cells, nodes, meta):
    """Forget what the transaction has touched and what is pending; rows without copies go."""
    parts = meta[ROW_CELLS]
    for at in range(count):
        row = touched[at]
        cells[row * parts + PENDING] = 0
        cells[row * parts + HIGH] = 0
        cells[row * parts + MARK] = 0
        if cells[row * parts + COPIES] == 0:
            drop_row(row, cells, nodes, meta)


def list_ordered(ids, cells, meta):
    """The ids of all rows in order."""
    row = meta[FIRST]
    for at in range(len(ids)):
        ids[at] = row
        row = cells[row * meta[ROW_CELLS] + NEXT]
