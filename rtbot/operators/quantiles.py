"""Windows whose values are kept in order: medians and other quantiles."""

from __future__ import annotations

import math

from rtbot.numeric.rank_tree import add_ranked, draw_rank, quantile_of_ranked, remove_ranked
from rtbot.operator import (
    EMIT,
    SILENT,
    Example,
    In,
    Number,
    Out,
    Ring,
    Scalar,
    Span,
    step,
)
from rtbot.operators.windows import Window


@step
def leave_order(
    values_leaving, tree_value, tree_value_first, tree_copies, tree_copies_first,
    tree_total_first, tree_lesser_first, tree_greater_first, tree_priority_first,
    root, free, seed, missing,
):  # fmt: skip
    """Take a value out of an ordered window; its node goes to the free ones, if it has no copy."""
    if values_leaving != values_leaving:
        return root, free, seed, missing - 1
    root, node = remove_ranked(
        values_leaving + 0, tree_value, tree_copies, tree_value_first - 1, tree_copies_first - 1,
        tree_total_first - 1, tree_lesser_first - 1, tree_greater_first - 1,
        tree_priority_first - 1, root,
    )  # fmt: skip
    if node > 0:
        tree_copies[tree_lesser_first + node - 1] = free
        free = node
    return root, free, seed, missing


@step
def slide_quantile(
    q, partial, values_count, values_entering, values_leaving, values_evicts, values_full,
    tree_count, tree_value, tree_value_first, tree_copies, tree_copies_first, tree_total_first,
    tree_lesser_first, tree_greater_first, tree_priority_first, root, free, seed, missing,
):  # fmt: skip
    """The step of RollingQuantile, for numbers and for integers."""
    v, c, t = tree_value_first - 1, tree_copies_first - 1, tree_total_first - 1
    lesser, greater, p = tree_lesser_first - 1, tree_greater_first - 1, tree_priority_first - 1
    if values_evicts:
        root, free, seed, missing = leave_order(
            values_leaving, tree_value, tree_value_first, tree_copies, tree_copies_first,
            tree_total_first, tree_lesser_first, tree_greater_first, tree_priority_first,
            root, free, seed, missing,
        )  # fmt: skip
    if values_entering != values_entering:
        missing += 1
    else:
        seed = draw_rank(seed)
        node = free if free > 0 else tree_count + 1
        following = tree_copies[lesser + free] if free > 0 else 0
        root, used = add_ranked(
            values_entering + 0, seed, node, tree_value, tree_copies,
            v, c, t, lesser, greater, p, root,
        )  # fmt: skip
        if used:
            free = following
            tree_count = max(tree_count, node)
    result = math.nan
    if missing == 0:
        result = quantile_of_ranked(
            q, values_count, tree_value, tree_copies, v, c, t, lesser, greater, root
        )
    code = EMIT if partial or values_full else SILENT
    return code, result, root, free, seed, missing, 0, tree_count


class OrderedWindow(Window, abstract=True):
    """A window and its values in order: a tree of them, and how many are NaN."""

    i1 = In("N", doc="values")
    values = Ring("i1", size="window")
    root = Scalar("integer", 0)
    free = Scalar("integer", 0)
    seed = Scalar("integer", 1)
    missing = Scalar("integer", 0)
    tree = Span(
        {
            "value": "N",
            "copies": "integer",
            "total": "integer",
            "lesser": "integer",
            "greater": "integer",
            "priority": "integer",
        }
    )
    leave = leave_order
    integer_leave = leave_order


class RollingQuantile(OrderedWindow):
    """The value below which a share `q` of the values in a window is: 0 the least, 1 the greatest.

    Of n values in order it is the one at place (n - 1) * q, counted from 0; between two places it
    is on the line between their values, rounded once. NaN inside gives NaN. A message takes a time
    that grows with the logarithm of the window.
    """

    search_terms = "quantile, percentile, ts_quantile, moving_percentile"
    q = Number(minimum=0.0, maximum=1.0, doc="the share, from 0 to 1")
    o1 = Out("number", doc="quantiles")
    step = slide_quantile
    integer_step = slide_quantile
    example = Example(
        parameters={"window": 3, "q": 0.25},
        inputs={"i1": [(1, 5.0), (2, 1.0), (3, 3.0), (4, 9.0)]},
        outputs={"o1": [(3, 2.0), (4, 2.0)]},
    )


@step
def slide_median(
    partial, values_count, values_entering, values_leaving, values_evicts, values_full,
    tree_count, tree_value, tree_value_first, tree_copies, tree_copies_first, tree_total_first,
    tree_lesser_first, tree_greater_first, tree_priority_first, root, free, seed, missing,
):  # fmt: skip
    """The step of RollingMedian, for numbers and for integers."""
    return slide_quantile(
        0.5, partial, values_count, values_entering, values_leaving, values_evicts, values_full,
        tree_count, tree_value, tree_value_first, tree_copies, tree_copies_first,
        tree_total_first, tree_lesser_first, tree_greater_first, tree_priority_first,
        root, free, seed, missing,
    )  # fmt: skip


class RollingMedian(OrderedWindow):
    """The median of the values in a window: the middle one in order, or half way between two.

    NaN inside gives NaN. A message takes a time that grows with the logarithm of the window.
    """

    search_terms = "median, moving_median, ts_median, medfilt, median_filter"
    o1 = Out("number", doc="medians")
    step = slide_median
    integer_step = slide_median
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 5.0), (2, 1.0), (3, 3.0), (4, 9.0)]},
        outputs={"o1": [(3, 3.0), (4, 3.0)]},
    )
