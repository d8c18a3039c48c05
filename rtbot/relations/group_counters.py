"""What a group loop and its caller share: the words of `counters`, and the codes of a return.

It stands alone since the texts of loops, the stores and the callers all need it.
"""

TRANSACTION, ROW, COUNT, ROWS_OUT, MASK, BAD_GROUP, BAD_FIELD = range(7)
"""Words of `counters`: where the loop is, how many groups are touched, the mask of the table, the
group and the number of the computation that has a fault."""
GROUPS, BLOCKS, NODES, TEXT_NODES = 7, 10, 13, 16
"""Words of `counters` that begin the three of a pool: its free chain, highest entry, entries left.
"""
AHEAD, COUNTERS = 19, 20
"""How many rows are looked up in advance, 0 or a power of two; how many words there are."""
MOST_AHEAD = 32
"""So many rows at most are looked up in advance."""

DONE, FULL_GROUPS, FULL_BLOCKS, FULL_NODES, FULL_TEXT_NODES, BAD_SUM, BAD_WEIGHT = range(7)
"""Codes that a loop returns."""
