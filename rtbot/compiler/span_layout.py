"""The words of a list of one key, as the generated loops and the loops of the runtime know them.

The entries of a list are in a pool that all lists share, in a block of their own: `capacity` words
for each field, one field after the other. It stands alone because both sides import it.
"""

SPAN_FIRST = 0  # the place of the first entry, of its first field, in the pool
SPAN_COUNT = 1
SPAN_CAPACITY = 2
SPAN_START = 3  # the place of the block
SPAN_FULL = 4  # whether an entry of a window of time has left it
SPAN_WORDS = 8

POOL_FRESH = 0  # the first word of the pool that no block has had
POOL_USED = 1  # words of the blocks that lists have
POOL_MISSING = 2  # words that a block needs and the pool does not have
POOL_WORDS = 3
