"""Windows over two streams: how much they vary together.

It stands alone because its windows hold pairs, messages of both streams of equal time.
"""

from __future__ import annotations

from rtbot.numeric.exact.covariances import (
    SUMS,
    leave_integers,
    leave_numbers,
    load_sums,
    moving_integer_pairs,
    moving_pairs,
    store_sums,
)
from rtbot.numeric.exact.products import PAIR_DIGITS
from rtbot.operator import EMIT, SILENT, Cells, Example, In, Out, Ring, Scalar, Scratch, step
from rtbot.operators.windows import Window


@step
def leave_pair(xs_leaving, ys_leaving, center_x, center_y, specials, sums, sums_first):
    """Take a pair out of a window of numbers."""
    found, specials = leave_numbers(
        xs_leaving, ys_leaving, center_x, center_y, load_sums(sums, sums_first), specials
    )
    store_sums(found, sums, sums_first)
    return center_x, center_y, specials


@step
def leave_integer_pair(xs_leaving, ys_leaving, center_x, center_y, specials, sums, sums_first):
    """Take a pair out of a window of integers."""
    found = leave_integers(xs_leaving, ys_leaving, center_x, center_y, load_sums(sums, sums_first))
    store_sums(found, sums, sums_first)
    return center_x, center_y, specials


@step
def integer_covariance(
    partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
    ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first, sums, sums_first,
    center_x, center_y, specials,
):  # fmt: skip
    """The step of Covariance for integers."""
    result, center_x, center_y, found = moving_integer_pairs(
        False, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
        xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y,
        load_sums(sums, sums_first),
    )  # fmt: skip
    store_sums(found, sums, sums_first)
    return EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials


@step
def integer_correlation(
    partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
    ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first, sums, sums_first,
    center_x, center_y, specials,
):  # fmt: skip
    """The step of Correlation for integers."""
    result, center_x, center_y, found = moving_integer_pairs(
        True, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
        xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y,
        load_sums(sums, sums_first),
    )  # fmt: skip
    store_sums(found, sums, sums_first)
    return EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials


class PairWindow(Window, abstract=True):
    """A window of pairs, and the sums of both sides, of their squares and of their products."""

    i1 = In("N", doc="one side")
    i2 = In("N", doc="the other side")
    xs = Ring("i1", size="window")
    ys = Ring("i2", size="window")
    scratch = Scratch(PAIR_DIGITS)
    center_x = Scalar("N", 0)
    center_y = Scalar("N", 0)
    specials = Scalar("integer", 0)
    sums = Cells("number", size=SUMS)
    leave = leave_pair
    integer_leave = leave_integer_pair


class Covariance(PairWindow):
    """The sample covariance of two streams in a window: the exact one (n - 1) rounded once.

    The window holds pairs of messages of equal time. One pair alone has 0; a covariance beyond the
    range of numbers is an infinity; NaN or an infinity in the window gives NaN.
    """

    search_terms = "cov, rolling_cov, moving_covariance, ts_cov, covar_samp, comoment"
    o1 = Out("number", doc="covariances")
    integer_step = integer_covariance
    example = Example(
        parameters={"window": 3},
        inputs={
            "i1": [(1, 1.0), (2, 2.0), (3, 3.0), (5, 1.0)],
            "i2": [(1, 2.0), (2, 4.0), (3, 9.0), (5, 8.0)],
        },
        outputs={"o1": [(3, 3.5), (5, 0.5)]},
    )

    @step
    def step(
        partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
        ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first, sums, sums_first,
        center_x, center_y, specials,
    ):  # fmt: skip
        result, center_x, center_y, found, specials = moving_pairs(
            False, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
            xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y,
            load_sums(sums, sums_first), specials,
        )  # fmt: skip
        store_sums(found, sums, sums_first)
        return EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials


class Correlation(PairWindow):
    """Pearson's correlation of two streams in a window, from -1 to 1, at most 4e-16 off.

    The window holds pairs of messages of equal time. Where all values of one side are equal, as
    with one pair alone, and with NaN or an infinity in the window it is NaN.
    """

    search_terms = "corr, rolling_corr, moving_correlation, ts_corr, pearson, pearsonr, corrcoef"
    o1 = Out("number", doc="correlations")
    integer_step = integer_correlation
    example = Example(
        parameters={"window": 3},
        inputs={
            "i1": [(1, 1.0), (2, 2.0), (3, 3.0), (5, 4.0)],
            "i2": [(1, 2.0), (2, 4.0), (3, 6.0), (5, 2.0)],
        },
        outputs={"o1": [(3, 1.0), (5, -0.5)]},
    )

    @step
    def step(
        partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
        ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first, sums, sums_first,
        center_x, center_y, specials,
    ):  # fmt: skip
        result, center_x, center_y, found, specials = moving_pairs(
            True, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
            xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y,
            load_sums(sums, sums_first), specials,
        )  # fmt: skip
        store_sums(found, sums, sums_first)
        return EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials
