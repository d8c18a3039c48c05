"""Loops over stores: a hash table of rows by their keys, open addressing, linear probing.

It is compiled as a part of the text of other modules, so it imports nothing of ours. All arrays are
flat and int64, and the caller's. A row has `width` words; its key are the words at `places` of it,
of which the bits in `bits` count. An entry of a table has the hash of a key (31 bits), whether the
row is of the transaction at work (TOUCHED), and the id of the row (31 bits): the table can be moved
without the rows. `meta` of a store: ids ever used, the first free id or -1, rows there are, ids
there is room for. A free id has the next one in its first word.

No product has more than 63 bits, so that plain Python and compiled code find the same hashes.
"""

EMPTY = -1
HALF = 0xFFFFFFFF
TOUCHED = 0x80000000
UNTOUCHED = ~0x80000000
IDS = 0x7FFFFFFF
USED, FREE, ROWS, LIMIT = 0, 1, 2, 3
DONE, ROOM = 0, 1


def fold_product(value, factor):
    """Both halves of a product of 32 bits and 31 bits, as 32 bits (multiply and fold)."""
    product = value * factor
    return (product ^ (product >> 32)) & HALF


def hash_key(words, first, places, bits):
    """Hash of the key of the row at `first`: 31 bits."""
    value = 0x3C6EF372
    for part in range(len(places)):
        word = words[first + places[part]] & bits[part]
        value = fold_product(value ^ (word & HALF), 0x5851F42D)
        value = fold_product(value ^ ((word >> 32) & HALF) ^ 0x14057B7E, 0x4C957F2D)
    return value >> 1


def hash_rows(words, width, places, bits, tags):
    """Hash the keys of many rows."""
    for row in range(len(tags)):
        tags[row] = hash_key(words, row * width, places, bits)


def prefetch(array, place):
    """Let a word be brought into the caches, where it is compiled; the place need not be there."""


def fetch_rows(tags, first, ahead, table, known, width, counts, ports):
    """Bring what the next `ahead` rows will find into the caches: memory is waited for once."""
    size = len(table)
    last = min(first + ahead, len(tags))
    for row in range(first, last):
        prefetch(table, (tags[row] * size) >> 31)
    for row in range(first, last):
        place = (tags[row] * size) >> 31
        entry = table[place]
        while entry != EMPTY and entry >> 32 != tags[row]:
            place = place + 1 if place + 1 < size else 0
            entry = table[place]
        if entry != EMPTY:
            first_word = (entry & IDS) * width
            prefetch(known, first_word)
            prefetch(known, first_word + width - 1)
            prefetch(counts, (entry & IDS) * ports)


def fetch_entries(entries, first, last, known, width, counts, ports):
    """Bring what entries found back: a large transaction may have pushed it out of the caches."""
    for index in range(first, last):
        prefetch(known, (entries[index] & IDS) * width)
        prefetch(counts, (entries[index] & IDS) * ports)


def has_same_key(words, first, known, second, places, bits):
    """Whether the rows at `first` and at `second` of `known` have one key."""
    for part in range(len(places)):
        if (words[first + places[part]] ^ known[second + places[part]]) & bits[part] != 0:
            return False
    return True


def find_entry(table, tag, words, first, known, width, places, bits):
    """Where the table has the key of the row at `first`, or the empty place where it belongs."""
    size = len(table)
    place = (tag * size) >> 31
    entry = table[place]
    while entry != EMPTY:
        if entry >> 32 == tag and has_same_key(
            words, first, known, (entry & IDS) * width, places, bits
        ):
            return place
        place = place + 1 if place + 1 < size else 0
        entry = table[place]
    return place


def find_id(table, entry):
    """Where the table has this entry, touched or not."""
    size = len(table)
    wanted = entry & UNTOUCHED
    place = ((entry >> 32) * size) >> 31
    while table[place] & UNTOUCHED != wanted:
        place = place + 1 if place + 1 < size else 0
    return place


def put_entry(table, entry):
    """Put an entry of a key that is not in the table into it."""
    size = len(table)
    place = ((entry >> 32) * size) >> 31
    while table[place] != EMPTY:
        place = place + 1 if place + 1 < size else 0
    table[place] = entry


def remove_entry(table, hole):
    """Take an entry out and move later ones up, so that no search breaks off."""
    size = len(table)
    table[hole] = EMPTY
    place = hole + 1 if hole + 1 < size else 0
    entry = table[place]
    while entry != EMPTY:
        home = ((entry >> 32) * size) >> 31
        distance = place - home if place >= home else place - home + size
        gap = place - hole if place >= hole else place - hole + size
        if distance >= gap:
            table[hole] = entry
            table[place] = EMPTY
            hole = place
        place = place + 1 if place + 1 < size else 0
        entry = table[place]


def move_entries(table, other):
    """Put all entries of a table into another, which is empty."""
    for place in range(len(table)):
        if table[place] != EMPTY:
            put_entry(other, table[place])


def index_rows(table, known, count, width, places, bits):
    """Put the first `count` rows into an empty table; the first whose key is there twice, or -1."""
    for row in range(count):
        tag = hash_key(known, row * width, places, bits)
        place = find_entry(table, tag, known, row * width, known, width, places, bits)
        if table[place] != EMPTY:
            return row
        table[place] = (tag << 32) | row
    return -1


def has_room(meta):
    """Whether a store can take one more row."""
    return meta[FREE] >= 0 or meta[USED] < meta[LIMIT]


def take_id(meta, words, first, known, width):
    """The id of a new row, which is copied from `first`; there must be room."""
    new = meta[FREE]
    if new >= 0:
        meta[FREE] = known[new * width]
    else:
        new = meta[USED]
        meta[USED] = new + 1
    meta[ROWS] += 1
    copy_row(words, first, known, new * width, width)
    return new


def free_id(meta, gone, known, width):
    """Let the id of a row that is in no table any more be used again."""
    known[gone * width] = meta[FREE]
    meta[FREE] = gone
    meta[ROWS] -= 1


def copy_row(words, first, out, second, width):
    """Copy the row at `first` to `second` of `out`."""
    for part in range(width):
        out[second + part] = words[first + part]


def is_same_row(words, first, known, second, width):
    """Whether two rows have the same words."""
    for part in range(width):
        if words[first + part] != known[second + part]:
            return False
    return True
