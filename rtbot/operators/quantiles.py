"""Windows whose values are kept in order: medians and other quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.rank_tree import (
    add_ranked,
    blend_ranked,
    draw_rank,
    quantile_of_ranked,
    remove_ranked,
)
from rtbot.operator import (
    EMIT,
    SILENT,
    Cells,
    Example,
    In,
    Number,
    Operator,
    Out,
    Ring,
    Scalar,
    Span,
    TimeSpan,
    step,
)
from rtbot.operators.windows import Window

if TYPE_CHECKING:
    from collections.abc import Mapping


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


SHORT = 512
"""Messages up to which a window has its values in order in one piece: faster than a tree."""


@step
def slide_in_order(
    q, partial, values_count, values_entering, values_leaving, values_evicts, values_full,
    order, order_first, held, missing,
):  # fmt: skip
    """The step of RollingQuantile for short windows, for numbers and for integers.

    The value that leaves leaves a gap, and those between the gap and the place of the new value
    move by one.
    """
    gap = order_first + held
    if values_evicts and values_leaving != values_leaving:
        missing -= 1
    elif values_evicts:
        below, above = order_first - 1, gap - 1
        while above - below > 1:
            middle = (below + above) // 2
            if order[middle] < values_leaving:
                below = middle
            else:
                above = middle
        gap = above
        held -= 1
    last = order_first + held
    if values_entering != values_entering:
        missing += 1
        while gap < last:
            order[gap] = order[gap + 1]
            gap += 1
    else:
        while gap > order_first and order[gap - 1] > values_entering:
            order[gap] = order[gap - 1]
            gap -= 1
        while gap < last and order[gap + 1] < values_entering:
            order[gap] = order[gap + 1]
            gap += 1
        order[gap] = values_entering + 0
        held += 1
    result = math.nan
    if missing == 0:
        exact = (values_count - 1) * q
        place = math.floor(exact)
        one = order[order_first + place]
        other = order[order_first + min(place + 1, values_count - 1)]
        result = blend_ranked(one, other, exact - place)
    return EMIT if partial or values_full else SILENT, result, held, missing


class ShortWindow(Window, abstract=True):
    """A window of few messages and its values in order, without NaN, of which it may have some."""

    i1 = In("N", doc="values")
    values = Ring("i1", size="window")
    order = Cells("N", size="window")
    held = Scalar("integer", 0)
    missing = Scalar("integer", 0)


def is_short(values: Mapping[str, Any]) -> bool:
    """Return whether a window is of few messages."""
    return not isinstance(values["window"], TimeSpan) and values["window"] <= SHORT


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

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """A short window needs no tree."""
        return ShortQuantile if is_short(values) else cls


class ShortQuantile(ShortWindow, variant_of="RollingQuantile"):
    """What finds quantiles of short windows."""

    q = RollingQuantile.parameters["q"]
    o1 = Out("number", doc="quantiles")
    step = slide_in_order
    integer_step = slide_in_order


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

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """A short window needs no tree."""
        return ShortMedian if is_short(values) else cls


@step
def slide_median_in_order(
    partial, values_count, values_entering, values_leaving, values_evicts, values_full,
    order, order_first, held, missing,
):  # fmt: skip
    """The step of RollingMedian for short windows, for numbers and for integers."""
    return slide_in_order(
        0.5, partial, values_count, values_entering, values_leaving, values_evicts, values_full,
        order, order_first, held, missing,
    )  # fmt: skip


class ShortMedian(ShortWindow, variant_of="RollingMedian"):
    """What finds medians of short windows."""

    o1 = Out("number", doc="medians")
    step = slide_median_in_order
    integer_step = slide_median_in_order
