"""Windows whose values are kept in order: medians and other quantiles."""

from __future__ import annotations

import math

from rtbot.numeric.rank_heaps import blend_ranked, move_root, remove_node, replace_node
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
def slide_quantile(
    q, i1, partial, times_count, times_full, passed, place_count, place_node, place_node_first,
    lesser_count, lesser_value, lesser_value_first, lesser_key, lesser_key_first,
    greater_count, greater_value_first, greater_key_first,
):  # fmt: skip
    """The step of RollingQuantile, for numbers and for integers.

    The message that comes in takes the node of the last one that leaves, if there is one.
    """
    values, words = lesser_value, lesser_key
    lv, lk = lesser_value_first - 1, lesser_key_first - 1
    gv, gk = greater_value_first - 1, greater_key_first - 1
    p, key, first = place_node_first - passed, passed + place_count, passed
    node = 0
    while key - passed >= times_count:
        if node > 0:
            remove_node(node, lesser_count, 1, values, words, lv, lk, p)
            lesser_count -= 1
        elif node < 0:
            remove_node(-node, greater_count, -1, values, words, gv, gk, p)
            greater_count -= 1
        node = words[p + passed]
        passed += 1
    if i1 != i1:
        words[p + key] = 0
        if node > 0:
            remove_node(node, lesser_count, 1, values, words, lv, lk, p)
            lesser_count -= 1
        elif node < 0:
            remove_node(-node, greater_count, -1, values, words, gv, gk, p)
            greater_count -= 1
    else:
        if node == 0:
            lesser_count += 1
            node = lesser_count
        if node > 0:
            replace_node(
                i1 + 0, key, node, lesser_count, 1, greater_count, values, words, lv, lk, gv, gk, p
            )
        else:
            replace_node(
                i1 + 0, key, -node, greater_count, -1, lesser_count, values, words, gv, gk, lv, lk, p
            )
    count = lesser_count + greater_count
    exact = (count - 1) * q
    place = math.floor(exact)
    wanted = min(place + 1, count)
    while lesser_count > wanted:
        move_root(lesser_count, 1, greater_count, values, words, lv, lk, gv, gk, p)
        lesser_count -= 1
        greater_count += 1
    while lesser_count < wanted:
        move_root(greater_count, -1, lesser_count, values, words, gv, gk, lv, lk, p)
        lesser_count += 1
        greater_count -= 1
    result = math.nan
    if count == times_count:
        other = values[(gv if greater_count > 0 else lv) + 1]
        result = blend_ranked(values[lv + 1], other, exact - place)
    code = EMIT if partial or times_full else SILENT
    return (
        code, result, passed, passed - first, times_count, 0, lesser_count, 0, greater_count
    )  # fmt: skip


class OrderedWindow(Window, abstract=True):
    """A window and its values in two heaps that meet at the quantile; NaN are in neither."""

    i1 = In("N", doc="values")
    times = Ring("i1", size="window", of="time")
    passed = Scalar("integer", 0)
    place = Span({"node": "integer"})
    lesser = Span({"value": "N", "key": "integer"})
    greater = Span({"value": "N", "key": "integer"})


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
    i1, partial, times_count, times_full, passed, place_count, place_node, place_node_first,
    lesser_count, lesser_value, lesser_value_first, lesser_key, lesser_key_first,
    greater_count, greater_value_first, greater_key_first,
):  # fmt: skip
    """The step of RollingMedian, for numbers and for integers."""
    return slide_quantile(
        0.5, i1, partial, times_count, times_full, passed, place_count, place_node,
        place_node_first, lesser_count, lesser_value, lesser_value_first, lesser_key,
        lesser_key_first, greater_count, greater_value_first, greater_key_first,
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
