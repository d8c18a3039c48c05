"""Finding rows in an order: a counted B+ tree of the rows of rtbot/relations/ordered_store.py.

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

from rtbot.relations.kernels.weighing import MOST

COPIES, PENDING, ROW_MARK, LEAF, NEXT, PRIOR = 0, 1, 2, 3, 4, 5
OWN = 6
"""Cells of a row; from OWN on they are the operator's.

ROW_MARK is 0 but for rows that are touched; while these are gathered it is twice the sum of the
upper halves of their weights, and 1, so that no sum of int64 overflows. PENDING has the lower ones.
"""

ROOT, NODES_USED, NODE_FREE, NODE_LIMIT, ROWS_USED, ROW_FREE, ROW_LIMIT, ROW_COUNT = range(8)
FIRST, LAST, TOTAL, LEVELS, AT_LEAF, AT_SLOT, PLACE_LEFT = range(8, 15)
ROW_WIDTH, ROW_CELLS, FAN, SUMS, BY_COLUMNS, SORT_COLUMNS, COLUMNS = range(15, 22)
ASKED_AT, ASKED_PLACE, ASKED_CODE, ASKED_OTHER = range(22, 26)
ORDER_META = 26
"""Words of the meta array of a store. ASKED: what has to be labelled before a row can be found: the
row of the words at work (-1: nothing), the place of a text, its code there and in a row in order.
"""

PLACE, KIND, DESCENDING, NULL_WORD, NULL_BIT = 0, 1, 2, 3, 4
SPEC = 5
"""Words of a column of a spec."""

UNLABELLED = -MOST - 1
"""The label of a text that has none yet."""

ASKS = -2
"""No row, but a question: some texts need labels."""

PLAIN, NUMBER, LABELLED = 0, 1, 2
"""Kinds of columns: words as they are, bits of numbers, codes of texts that have labels."""

ENTRIES, PARENT, LEVEL = 0, 1, 2
NODE_HEAD = 3
"""The first words of a node: how many entries it has, the node above or -1, 0 for a leaf."""


# ---- comparing


def compare_cells(words, first, spec, others, second, other_spec, labels, columns):
    """Whether a row comes before another (-1), behind it (1), or is equal (0) in some columns.

    It is 2 and the column where a text has no label.
    """
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
            return compare_values(left, right, spec, part, labels)
    return 0


def compare_values(left, right, spec, part, labels):
    """Whether a value of a column comes before another one that is not the same."""
    if spec[part + KIND] == LABELLED:
        left = labels[left]
        right = labels[right]
        if left == UNLABELLED or right == UNLABELLED:
            return 2 + part // SPEC
    elif spec[part + KIND] == NUMBER:
        left ^= (left >> 63) & MOST
        right ^= (right >> 63) & MOST
    before = left > right if spec[part + DESCENDING] != 0 else left < right
    return -1 if before else 1


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
    where a row would be put behind the one that is found. It is ASKS if it depends on a text that
    has no label; only a row that is not in order yet may. Both texts in which two rows in order
    differ first have labels.
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
                order = compare_known(
                    known, nodes[at + 3 * fan] * width, words, first, probe_spec, columns, meta,
                    spec, labels,
                )  # fmt: skip
                before = order < 0 or (past and order == 0)
            if before:
                low = middle + 1
            else:
                high = middle
        if nodes[base + LEVEL] == 0:
            break
        node = nodes[base + NODE_HEAD + 2 * fan + max(low - 1, 0)]
    if meta[ASKED_AT] >= 0:
        return ASKS
    meta[AT_LEAF] = node
    meta[AT_SLOT] = low
    return nodes[base + NODE_HEAD + 3 * fan + low - 1] if low > 0 else -1


def compare_known(known, row, words, first, probe_spec, columns, meta, spec, labels):
    """Compare a row in order with another one; ask for the labels that this takes."""
    order = compare_cells(known, row, spec, words, first, probe_spec, labels, columns)
    if order > 1:
        place = spec[(order - 2) * SPEC + PLACE]
        meta[ASKED_AT] = first // meta[ROW_WIDTH]
        meta[ASKED_PLACE] = place
        meta[ASKED_CODE] = words[first + place]
        meta[ASKED_OTHER] = known[row + place]
    return order


def find_after(row, cells, meta):
    """The row after a row, the first one of all after -1; -1 if there is none."""
    return meta[FIRST] if row < 0 else cells[row * meta[ROW_CELLS] + NEXT]


def count_copies(row, state, cells, meta):
    """How often a row is there before the transaction (0), or after it (1)."""
    at = row * meta[ROW_CELLS]
    return cells[at + COPIES] + (cells[at + PENDING] if state == 1 else 0)


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

    PLACE_LEFT of `meta` is what the sum of the rows before it leaves of `place`.
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
            meta[PLACE_LEFT] = place
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
