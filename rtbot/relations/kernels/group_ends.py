"""The first and the last row of a group in an order."""

from rtbot.relations.kernels.ordered_search import BY_COLUMNS, find_after, find_before


def find_group_ends(words, ends, known, cells, nodes, meta, spec, labels):
    """Let `ends` be the first and the last row of the group of a row; -1 if there is none."""
    by = meta[BY_COLUMNS]
    before = find_before(words, 0, spec, by, False, known, nodes, meta, spec, labels)
    last = find_before(words, 0, spec, by, True, known, nodes, meta, spec, labels)
    ends[0] = find_after(before, cells, meta) if last != before else -1
    ends[1] = last if last != before else -1
