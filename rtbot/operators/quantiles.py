"""Windows whose values are kept in order: medians and other quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact.digits import SUM_DIGITS
from rtbot.numeric.rank_heaps import (
    add_ranked,
    blend_ranked,
    find_place,
    part_ranked,
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
    Scratch,
    Span,
    TimeSpan,
    step,
)
from rtbot.operators.windows import Window

if TYPE_CHECKING:
    from collections.abc import Mapping


@step
def replace_ranked(
    q, value, key, node, held, lesser, greater, values, words, lv, lk, gv, gk, p,
    scratch, scratch_first,
):  # fmt: skip
    """Put a value in the place of that at a node; the quantile of the window, which has `held`.

    NaN are in neither heap.
    """
    if value != value:
        words[p + key] = 0
        lesser, greater = remove_ranked(
            node, lesser, greater, values, words, lv, lk, gv, gk, p
        )  # fmt: skip
    else:
        lesser, greater = add_ranked(
            value + 0, key, node, lesser, greater, values, words, lv, lk, gv, gk, p
        )  # fmt: skip
    count = lesser + greater
    place, part, whole = find_place(count, q)
    lesser, greater = part_ranked(
        min(place + 1, count), lesser, greater, values, words, lv, lk, gv, gk, p
    )  # fmt: skip
    result = math.nan
    if count == held:
        one, other = values[lv + 1], values[(gv if greater > 0 else lv) + 1]
        result = blend_ranked(one, other, part, whole, scratch, scratch_first)
    return result, lesser, greater


@step
def slide_quantile(
    q, window, partial, values_position, values_count, values_entering, values_evicts, values_full,
    heaps, heaps_first, words, words_first, lesser, greater, scratch, scratch_first,
):  # fmt: skip
    """The step of RollingQuantile, for numbers and for integers: keys are places in the ring.

    Before it is where it belongs, what comes in may be one more among the lesser values.
    """
    lv, lk, room = heaps_first - 1, words_first - 1, find_place(window, q)[0] + 2
    p = words_first + window + 1
    result, lesser, greater = replace_ranked(
        q, values_entering, values_position, words[p + values_position] if values_evicts else 0,
        values_count, lesser, greater, heaps, words, lv, lk, lv + room, lk + room, p,
        scratch, scratch_first,
    )  # fmt: skip
    return EMIT if partial or values_full else SILENT, result, lesser, greater


@step
def slide_quantile_of_span(
    q, partial, values_count, values_entering, values_full, passed, key_count, key_node,
    key_node_first, lesser_count, lesser_value, lesser_value_first, lesser_key, lesser_key_first,
    greater_count, greater_value_first, greater_key_first, scratch, scratch_first,
):  # fmt: skip
    """The step of RollingQuantile for windows of time, for numbers and for integers.

    Keys are numbers of messages, of which `passed` have left. All lists are in one pool.
    """
    lv, lk, p = lesser_value_first - 1, lesser_key_first - 1, key_node_first - passed
    gv, gk, key, node = greater_value_first - 1, greater_key_first - 1, passed + key_count, 0
    while key - passed >= values_count:
        lesser_count, greater_count = remove_ranked(
            node, lesser_count, greater_count, lesser_value, lesser_key, lv, lk, gv, gk, p
        )  # fmt: skip
        node = key_node[p + passed]
        passed += 1
    result, lesser_count, greater_count = replace_ranked(
        q, values_entering, key, node, values_count, lesser_count, greater_count,
        lesser_value, lesser_key, lv, lk, gv, gk, p, scratch, scratch_first,
    )  # fmt: skip
    code, dropped = EMIT if partial or values_full else SILENT, key_count + 1 - values_count
    return code, result, passed, dropped, values_count, 0, lesser_count, 0, greater_count


class OrderedWindow(Window, abstract=True):
    """A window of messages and its values in two heaps that meet at a quantile.

    `heaps` has the values of the lesser heap, then those of the greater one, `words` their keys and
    then the node of every key.
    """

    i1 = In("N", doc="values")
    values = Ring("i1", size="window")
    heaps = Cells("N", size=lambda values: values["window"] + 1)
    words = Cells("integer", size=lambda values: 2 * values["window"] + 1)
    lesser = Scalar("integer", 0)
    greater = Scalar("integer", 0)
    scratch = Scratch(SUM_DIGITS)


class OrderedSpan(Window, abstract=True):
    """A window of time and its values in two heaps that meet at a quantile."""

    i1 = In("N", doc="values")
    values = Ring("i1", size="window")
    passed = Scalar("integer", 0)
    key = Span({"node": "integer"})
    lesser = Span({"value": "N", "key": "integer"})
    greater = Span({"value": "N", "key": "integer"})
    scratch = Scratch(SUM_DIGITS)


class RollingQuantile(OrderedWindow):
    """The value below which a share `q` of the values in a window is: 0 the least, 1 the greatest.

    Of n values in order it is the one at place (n - 1) * q, counted from 0; between two places it
    is on the line between their values, rounded once. A `q` of up to nine decimals is exactly what
    is written. NaN inside gives NaN. A message takes a time that grows with the logarithm of the
    window.
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
        """Of a time span there is no number of cells."""
        return QuantileOfSpan if isinstance(values["window"], TimeSpan) else cls


class QuantileOfSpan(OrderedSpan, variant_of="RollingQuantile"):
    """The quantile of a window of time."""

    q = RollingQuantile.parameters["q"]
    o1 = Out("number", doc="quantiles")
    step = slide_quantile_of_span
    integer_step = slide_quantile_of_span


@step
def slide_median(
    window, partial, values_position, values_count, values_entering, values_evicts, values_full,
    heaps, heaps_first, words, words_first, lesser, greater, scratch, scratch_first,
):  # fmt: skip
    """The step of RollingMedian, for numbers and for integers."""
    return slide_quantile(
        0.5, window, partial, values_position, values_count, values_entering, values_evicts,
        values_full, heaps, heaps_first, words, words_first, lesser, greater,
        scratch, scratch_first,
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
        """Of a time span there is no number of cells."""
        return MedianOfSpan if isinstance(values["window"], TimeSpan) else cls


@step
def slide_median_of_span(
    partial, values_count, values_entering, values_full, passed, key_count, key_node,
    key_node_first, lesser_count, lesser_value, lesser_value_first, lesser_key, lesser_key_first,
    greater_count, greater_value_first, greater_key_first, scratch, scratch_first,
):  # fmt: skip
    """The step of RollingMedian for windows of time, for numbers and for integers."""
    return slide_quantile_of_span(
        0.5, partial, values_count, values_entering, values_full, passed, key_count, key_node,
        key_node_first, lesser_count, lesser_value, lesser_value_first,
        lesser_key, lesser_key_first, greater_count, greater_value_first, greater_key_first,
        scratch, scratch_first,
    )  # fmt: skip


class MedianOfSpan(OrderedSpan, variant_of="RollingMedian"):
    """The median of a window of time."""

    o1 = Out("number", doc="medians")
    step = slide_median_of_span
    integer_step = slide_median_of_span
