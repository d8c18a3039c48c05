"""Putting rows into an order, and taking them out; see ordered_search.py."""

from rtbot.relations.kernels.ordered_search import (
    AT_LEAF,
    AT_SLOT,
    COLUMNS,
    ENTRIES,
    FAN,
    FIRST,
    LAST,
    LEAF,
    LEVEL,
    LEVELS,
    NEXT,
    NODE_FREE,
    NODE_HEAD,
    NODE_LIMIT,
    NODES_USED,
    PARENT,
    PRIOR,
    ROOT,
    ROW_CELLS,
    ROW_COUNT,
    ROW_FREE,
    ROW_LIMIT,
    ROW_WIDTH,
    ROWS_USED,
    SUMS,
    find_after,
    find_head,
    find_slot,
)
from rtbot.tables.hash_tables import copy_row


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
    link_rows(before, row, cells, meta)
    link_rows(row, after, cells, meta)
    put_entry_of(row, known, cells, nodes, meta, spec)
    return row


def link_rows(before, after, cells, meta):
    """Let two rows follow each other; -1 is none, before the first row or after the last."""
    if before < 0:
        meta[FIRST] = after
    else:
        cells[before * meta[ROW_CELLS] + NEXT] = after
    if after < 0:
        meta[LAST] = before
    else:
        cells[after * meta[ROW_CELLS] + PRIOR] = before


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
    link_rows(cells[row * parts + PRIOR], cells[row * parts + NEXT], cells, meta)
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
    return merge_nodes(above, slot, cells, nodes, meta) or merge_nodes(
        above, slot - 1, cells, nodes, meta
    )


def merge_nodes(above, slot, cells, nodes, meta):
    """Put the node of an entry and the next one together; False if they do not fit."""
    fan = meta[FAN]
    size = NODE_HEAD + fan * (4 + meta[SUMS])
    base = above * size + NODE_HEAD
    if slot < 0 or slot + 1 >= nodes[above * size + ENTRIES]:
        return False
    one = nodes[base + 2 * fan + slot]
    other = nodes[base + 2 * fan + slot + 1]
    if 4 * (nodes[one * size + ENTRIES] + nodes[other * size + ENTRIES]) > 3 * fan:
        return False
    move_node_entries(other, 0, one, cells, nodes, meta)
    free_node(other, nodes, meta)
    close_slot(above, slot + 1, nodes, meta)
    for number in range(meta[SUMS]):
        nodes[base + (4 + number) * fan + slot] = add_entries(one, number, nodes, meta)
    return True
