"""Loops of operators that weigh rows: per distinct row, f(counts after) - f(counts before).

They follow the rules of hash_tables.py. `counts` has a count of every port for each id. The rows of
all ports are one array; `starts` has, for one port after the other, where the rows of each
transaction begin, and the end of the last.

While a transaction is gathered, the first count of a touched row is `~` of its number in the
transaction, which is negative, as no count is. Of a number, `entries` has the entry, `rows` the row
that touched it first, `before` the counts, and `high` and `low` the sums of the halves of the
weights, so that no sum of int64 overflows. `cursor`: transaction, port, row, rows touched, rows
out, rows to blame.
"""

from rtbot.tables.hash_tables import (
    DONE,
    EMPTY,
    HALF,
    IDS,
    ROOM,
    copy_row,
    fetch_entries,
    fetch_rows,
    find_entry,
    find_id,
    free_id,
    has_room,
    hash_key,
    remove_entry,
    take_id,
)

MOST = 2**63 - 1
AT, PORT, ROW, COUNT, OUT, BLAMED = 0, 1, 2, 3, 4, 5
CURSOR = 6
"""Words of a cursor."""

OVERFLOW, EXCESS = 2, 3
NOTHING, BAG, FORGIVING_BAG, ANY, ALL, FIRST_ONLY, LEAST, REST = 0, 1, 2, 3, 4, 5, 6, 7


def weigh_transactions(
    how, sign, ahead, starts, words, weights, tags, ports, width, places, bits, table, known,
    counts, meta,
    entries, rows, before, high, low, cursor, out_words, out_weights, out_starts, lost,
):  # fmt: skip
    """Take the transactions from the cursor on: DONE, ROOM (call again), OVERFLOW or EXCESS.

    A transaction that is bad leaves nothing behind. `out_words` has room for every row of the
    input. With FORGIVING_BAG what is deleted too often is counted in `lost` of the transaction.
    """
    transactions = len(out_starts) - 1
    while cursor[AT] < transactions:
        if not gather_rows(
            sign, ahead, starts, words, weights, tags, ports, width, places, bits, table, known,
            counts, meta,
            entries, rows, before, high, low, cursor, transactions,
        ):  # fmt: skip
            return ROOM
        code = sum_counts(how, ports, rows, before, high, low, cursor, lost)
        if code != DONE:
            restore_counts(ports, width, table, known, counts, meta, entries, before, cursor)
            return code
        write_counts(
            how, ahead, ports, width, table, known, counts, meta, entries, before, high, cursor,
            out_words, out_weights,
        )  # fmt: skip
        cursor[AT] += 1
        cursor[PORT] = 0
        cursor[ROW] = 0
        cursor[COUNT] = 0
        out_starts[cursor[AT]] = cursor[OUT]
    return DONE


def weigh_few(
    how, starts, words, weights, tags, ports, width, places, bits, table, known, counts, meta,
    entries, rows, before, high, low, cursor, out_words, out_weights, out_starts, lost,
):  # fmt: skip
    """Take one transaction: DONE, ROOM (call again), OVERFLOW or EXCESS; the cursor is all 0.

    As `weigh_transactions`, without what pays for many rows only. `tags` are found here.
    """
    for row in range(starts[2 * ports - 1]):
        tags[row] = hash_key(words, row * width, places, bits)
    if not gather_rows(
        1, 0, starts, words, weights, tags, ports, width, places, bits, table, known, counts, meta,
        entries, rows, before, high, low, cursor, 1,
    ):  # fmt: skip
        return ROOM
    lost[0] = 0
    code = sum_counts(how, ports, rows, before, high, low, cursor, lost)
    if code == DONE:
        write_counts(
            how, 0, ports, width, table, known, counts, meta, entries, before, high, cursor,
            out_words, out_weights,
        )  # fmt: skip
        out_starts[1] = cursor[OUT]
    else:
        restore_counts(ports, width, table, known, counts, meta, entries, before, cursor)
    for word in range(CURSOR):
        cursor[word] = 0
    return code


def gather_rows(
    sign, ahead, starts, words, weights, tags, ports, width, places, bits, table, known, counts,
    meta,
    entries, rows, before, high, low, cursor, transactions,
):  # fmt: skip
    """Sum the weights of the distinct rows of a transaction; False if the store has no room."""
    at = cursor[AT]
    for port in range(cursor[PORT], ports):
        first = starts[port * (transactions + 1) + at]
        if port == cursor[PORT] and first < cursor[ROW]:
            first = cursor[ROW]
        for row in range(first, starts[port * (transactions + 1) + at + 1]):
            if ahead > 0 and row & (ahead - 1) == 0:
                fetch_rows(tags, row, ahead, table, known, width, counts, ports)
            index = touch_row(
                words, row, tags[row], ports, width, places, bits, table, known, counts, meta,
                entries, rows,
                before, high, low, cursor,
            )  # fmt: skip
            if index < 0:
                cursor[PORT] = port
                cursor[ROW] = row
                return False
            high[index * ports + port] += sign * (weights[row] >> 32)
            low[index * ports + port] += sign * (weights[row] & HALF)
    cursor[PORT] = ports
    return True


def touch_row(
    words, row, tag, ports, width, places, bits, table, known, counts, meta, entries, rows, before,
    high, low, cursor,
):  # fmt: skip
    """The number of a row in its transaction; -1 if the store has no room."""
    place = find_entry(table, tag, words, row * width, known, width, places, bits)
    entry = table[place]
    if entry == EMPTY:
        if not has_room(meta):
            return -1
        new = take_id(meta, words, row * width, known, width)
        entry = (tag << 32) | new
        table[place] = entry
        for port in range(ports):
            counts[new * ports + port] = 0
    base = (entry & IDS) * ports
    index = ~counts[base]
    if index < 0:
        index = cursor[COUNT]
        cursor[COUNT] = index + 1
        entries[index] = entry
        rows[index] = row
        for port in range(ports):
            before[index * ports + port] = counts[base + port]
            high[index * ports + port] = 0
            low[index * ports + port] = 0
        counts[base] = ~index
    return index


def sum_counts(how, ports, rows, before, high, low, cursor, lost):
    """Put the counts after the transaction into `high`: DONE, or why there are none.

    Of the worst code, the rows to blame are the first of `rows`.
    """
    worst = DONE
    for index in range(cursor[COUNT]):
        code = DONE
        for part in range(index * ports, (index + 1) * ports):
            code = max(code, sum_count(part, before, high, low))
        if code == EXCESS and how == FORGIVING_BAG:
            lost[cursor[AT]] += 1
            high[index] = 0
            code = DONE
        if code > worst:
            worst = code
            cursor[BLAMED] = 0
        if code != DONE and code == worst:
            rows[cursor[BLAMED]] = rows[index]
            cursor[BLAMED] += 1
    return worst


def sum_count(part, before, high, low):
    """Put one count after the transaction into `high`: DONE, OVERFLOW or EXCESS."""
    upper = high[part] + (low[part] >> 32)
    if upper >= 0x80000000:
        return OVERFLOW
    if upper < -0x80000000:
        return EXCESS
    change = (upper << 32) | (low[part] & HALF)
    if change > MOST - before[part]:
        return OVERFLOW
    high[part] = before[part] + change
    return EXCESS if high[part] < 0 else DONE


def restore_counts(ports, width, table, known, counts, meta, entries, before, cursor):
    """Take a bad transaction out."""
    for index in range(cursor[COUNT]):
        finish_row(index, ports, width, table, known, counts, meta, entries, before)
    cursor[COUNT] = 0


def write_counts(
    how, ahead, ports, width, table, known, counts, meta, entries, before, high, cursor,
    out_words, out_weights,
):  # fmt: skip
    """Emit the changes of a transaction, and let its counts be those of the store."""
    out = cursor[OUT]
    for index in range(cursor[COUNT]):
        if ahead > 0 and cursor[COUNT] > ahead and index & (ahead - 1) == 0:
            last = min(index + ahead, cursor[COUNT])
            fetch_entries(entries, index, last, known, width, counts, ports)
        change = weigh(how, high, index * ports, ports) - weigh(how, before, index * ports, ports)
        if change != 0:
            copy_row(known, (entries[index] & IDS) * width, out_words, out * width, width)
            out_weights[out] = change
            out += 1
        finish_row(index, ports, width, table, known, counts, meta, entries, high)
    cursor[OUT] = out


def finish_row(index, ports, width, table, known, counts, meta, entries, values):
    """Store the counts of a touched row; without any the row goes."""
    entry = entries[index]
    base = (entry & IDS) * ports
    some = False
    for port in range(ports):
        counts[base + port] = values[index * ports + port]
        some = some or counts[base + port] != 0
    if not some:
        remove_entry(table, find_id(table, entry))
        free_id(meta, entry & IDS, known, width)


def weigh(how, values, first, ports):
    """The weight of a row in the output, from its counts: the meaning of the operator."""
    if how == BAG or how == FORGIVING_BAG:
        return values[first]
    if how == ANY:
        return weigh_any(values, first, ports)
    if how == ALL:
        return 1 if weigh_least(values, first, ports) > 0 else 0
    if how == FIRST_ONLY:
        return 1 if values[first] > 0 and weigh_any(values, first + 1, ports - 1) == 0 else 0
    if how == LEAST:
        return weigh_least(values, first, ports)
    if how == REST:
        return weigh_rest(values, first, ports)
    return 0


def weigh_any(values, first, ports):
    """One if any of the counts is positive."""
    for place in range(first, first + ports):
        if values[place] > 0:
            return 1
    return 0


def weigh_least(values, first, ports):
    """The least of the counts."""
    least = values[first]
    for place in range(first + 1, first + ports):
        least = min(least, values[place])
    return least


def weigh_rest(values, first, ports):
    """The first count without all others, at least zero; no sum overflows."""
    rest = values[first]
    for place in range(first + 1, first + ports):
        rest = max(rest - values[place], 0)
    return rest
