"""Loops that net the changes of transactions and put them in a total order.

All arrays are flat and int64, and the caller's. `keys` has `width` words a row, which are compared
one after the other; rows with the same words are equal.
"""

from rtbot.relations.kernels.weighing import OVERFLOW
from rtbot.tables.hash_tables import DONE, HALF, copy_row

SHORT = 12
"""So few rows are sorted by insertion."""


def mark_unordered(starts, words, width, weights, marks):
    """Mark the transactions whose rows may have to be netted or sorted: how many.

    Those of one row are in order, and so are a delete and an insert of another row.
    """
    found = 0
    for at in range(len(starts) - 1):
        first = starts[at]
        count = starts[at + 1] - first
        marks[at] = 0
        if count > 1:
            pair = count == 2 and weights[first] < 0 and weights[first + 1] > 0
            if not pair or compare_rows(words, width, first, first + 1) == 0:
                marks[at] = 1
                found += 1
    return found


def order_transactions(
    marks, starts, keys, width, words, cells, weights, order, other, heads, spare,
    out_words, nets, out_starts,
):  # fmt: skip
    """Net and order the rows of transactions: (transactions done, code, rows out).

    `out_words` and `nets` get the words, `cells` a row, and the weight of every change that is
    left: by transaction, deletes before inserts, then by keys. Those that are not marked stay as
    they are. With OVERFLOW, `other` has the row at 0 whose weights have a sum beyond int64.
    """
    out = 0
    transactions = len(starts) - 1
    for at in range(transactions):
        begin = starts[at]
        count = starts[at + 1] - begin
        if marks[at] == 0:
            for row in range(begin, begin + count):
                copy_row(words, row * cells, out_words, out * cells, cells)
                nets[out] = weights[row]
                out += 1
        else:
            sort_rows(begin, count, keys, width, order, other, heads, spare, nets, out)
            groups = net_rows(count, keys, width, weights, order, other, heads)
            if groups < 0:
                return at, OVERFLOW, out
            out = split_signs(groups, order, other, words, cells, out_words, nets, out)
        out_starts[at + 1] = out
    return transactions, DONE, out


def compare_rows(keys, width, a, b):
    """Whether row a comes before row b (-1), behind it (1), or is equal (0)."""
    for word in range(width):
        left = keys[a * width + word]
        right = keys[b * width + word]
        if left != right:
            return -1 if left < right else 1
    return 0


def is_before(head, row, other_head, other, keys, width):
    """Whether a row with this first word comes before another one."""
    if head != other_head:
        return head < other_head
    return compare_rows(keys, width, row, other) < 0


def sort_rows(begin, count, keys, width, order, other, heads, spare, ends, base):
    """Put the rows from `begin` on into `order`, sorted by keys.

    Their first words are in `heads`, so that most comparisons read what is close together. Many
    rows are dealt to as many ranges of first words, and each range is sorted by itself. `ends` has
    room for a word a row from `base` on.
    """
    if count <= SHORT:
        for place in range(count):
            order[place] = begin + place
            heads[place] = keys[(begin + place) * width]
        insert_rows(0, count, keys, width, order, heads)
        return
    first = 0
    for at in range(deal_rows(begin, count, keys, width, order, heads, ends, base)):
        last = ends[base + at]
        if last - first > SHORT:
            merge_sort(first, last, keys, width, order, other, heads, spare)
        else:
            insert_rows(first, last, keys, width, order, heads)
        first = last


def deal_rows(begin, count, keys, width, order, heads, ends, base):
    """Deal rows to ranges of their first words, the least range first: how many.

    `ends` has, from `base` on, where in `order` each of them ends. Words are halved: no
    difference overflows.
    """
    least = keys[begin * width]
    greatest = least
    for row in range(begin + 1, begin + count):
        least = min(least, keys[row * width])
        greatest = max(greatest, keys[row * width])
    lowest = least >> 1
    span = (greatest >> 1) - lowest
    shift = 0
    while span >> shift >= count:
        shift += 1
    ranges = (span >> shift) + 1
    for at in range(ranges):
        ends[base + at] = 0
    for row in range(begin, begin + count):
        ends[base + (((keys[row * width] >> 1) - lowest) >> shift)] += 1
    place = 0
    for at in range(ranges):
        place += ends[base + at]
        ends[base + at] = place - ends[base + at]
    for row in range(begin, begin + count):
        head = keys[row * width]
        at = base + (((head >> 1) - lowest) >> shift)
        place = ends[at]
        ends[at] = place + 1
        order[place] = row
        heads[place] = head
    return ranges


def merge_sort(begin, end, keys, width, order, other, heads, spare):
    """Sort places of `order`: from below, by merging."""
    for start in range(begin, end, SHORT):
        insert_rows(start, min(start + SHORT, end), keys, width, order, heads)
    size = SHORT
    while size < end - begin:
        for start in range(begin, end, 2 * size):
            merge_rows(start, min(start + size, end), min(start + 2 * size, end),
                       keys, width, order, other, heads, spare)  # fmt: skip
        for place in range(begin, end):
            order[place] = other[place]
            heads[place] = spare[place]
        size *= 2


def insert_rows(first, last, keys, width, order, heads):
    """Sort a few places of `order` by insertion."""
    for place in range(first + 1, last):
        row, head = order[place], heads[place]
        at = place
        while at > first and is_before(head, row, heads[at - 1], order[at - 1], keys, width):
            order[at] = order[at - 1]
            heads[at] = heads[at - 1]
            at -= 1
        order[at] = row
        heads[at] = head


def merge_rows(first, middle, last, keys, width, order, other, heads, spare):
    """Merge two sorted parts of `order` into `other`."""
    left, right = first, middle
    for place in range(first, last):
        takes_right = left >= middle or (
            right < last
            and is_before(heads[right], order[right], heads[left], order[left], keys, width)
        )
        if takes_right:
            other[place] = order[right]
            spare[place] = heads[right]
            right += 1
        else:
            other[place] = order[left]
            spare[place] = heads[left]
            left += 1


def net_rows(count, keys, width, weights, order, other, heads):
    """Keep one of equal rows in `order`, and its summed weight in `other`: how many, or -1.

    Rows whose sum is 0 go. After -1, a sum is beyond int64, of the row that is in `other` at 0.
    """
    groups = 0
    place = 0
    while place < count:
        row, head = order[place], heads[place]
        high, low = weights[row] >> 32, weights[row] & HALF
        place += 1
        while place < count and not is_before(head, row, heads[place], order[place], keys, width):
            high += weights[order[place]] >> 32
            low += weights[order[place]] & HALF
            place += 1
        upper = high + (low >> 32)
        if upper >= 0x80000000 or upper < -0x80000000:
            other[0] = row
            return -1
        total = (upper << 32) | (low & HALF)
        if total != 0:
            order[groups] = row
            other[groups] = total
            groups += 1
    return groups


def split_signs(groups, order, other, words, cells, out_words, nets, out):
    """Append the deletes, then the inserts, to `out_words` and `nets`; the new length."""
    for group in range(groups):
        if other[group] < 0:
            copy_row(words, order[group] * cells, out_words, out * cells, cells)
            nets[out] = other[group]
            out += 1
    for group in range(groups):
        if other[group] > 0:
            copy_row(words, order[group] * cells, out_words, out * cells, cells)
            nets[out] = other[group]
            out += 1
    return out
