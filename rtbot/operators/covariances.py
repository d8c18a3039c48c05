"""Windows over two streams: how much they vary together.

It stands alone because its windows hold pairs, messages of both streams of equal time.
"""

from __future__ import annotations

from rtbot.numeric.exact.covariances import (
    leave_integers,
    leave_numbers,
    moving_integer_pairs,
    moving_pairs,
)
from rtbot.numeric.exact.products import PAIR_DIGITS
from rtbot.operator import EMIT, SILENT, Example, In, Out, Ring, Scalar, Scratch, step
from rtbot.operators.windows import Window


@step
def leave_pair(
    xs_leaving, ys_leaving, center_x, center_y, specials, x_high, x_low, x_slack,
    y_high, y_low, y_slack, xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack,
    yy_high, yy_low, yy_slack,
):  # fmt: skip
    """Take a pair out of a window of numbers."""
    sums = (
        x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
        xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    )  # fmt: skip
    sums, specials = leave_numbers(xs_leaving, ys_leaving, center_x, center_y, sums, specials)
    return (
        center_x, center_y, specials, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6],
        sums[7], sums[8], sums[9], sums[10], sums[11], sums[12], sums[13], sums[14],
    )  # fmt: skip


@step
def leave_integer_pair(
    xs_leaving, ys_leaving, center_x, center_y, specials, x_high, x_low, x_slack,
    y_high, y_low, y_slack, xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack,
    yy_high, yy_low, yy_slack,
):  # fmt: skip
    """Take a pair out of a window of integers."""
    sums = (
        x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
        xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    )  # fmt: skip
    sums = leave_integers(xs_leaving, ys_leaving, center_x, center_y, sums)
    return (
        center_x, center_y, specials, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6],
        sums[7], sums[8], sums[9], sums[10], sums[11], sums[12], sums[13], sums[14],
    )  # fmt: skip


@step
def integer_covariance(
    partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
    ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first,
    center_x, center_y, specials, x_high, x_low, x_slack, y_high, y_low, y_slack,
    xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
):  # fmt: skip
    """The step of Covariance for integers."""
    sums = (
        x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
        xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    )  # fmt: skip
    result, center_x, center_y, sums = moving_integer_pairs(
        False, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
        xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y, sums,
    )  # fmt: skip
    return (
        EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials,
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8], sums[9],
        sums[10], sums[11], sums[12], sums[13], sums[14],
    )  # fmt: skip


@step
def integer_correlation(
    partial, xs, xs_first, xs_count, xs_entering, xs_leaving, xs_evicts, xs_full,
    ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first,
    center_x, center_y, specials, x_high, x_low, x_slack, y_high, y_low, y_slack,
    xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
):  # fmt: skip
    """The step of Correlation for integers."""
    sums = (
        x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
        xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    )  # fmt: skip
    result, center_x, center_y, sums = moving_integer_pairs(
        True, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
        xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y, sums,
    )  # fmt: skip
    return (
        EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials,
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8], sums[9],
        sums[10], sums[11], sums[12], sums[13], sums[14],
    )  # fmt: skip


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
    x_high = Scalar("number", 0.0)
    x_low = Scalar("number", 0.0)
    x_slack = Scalar("number", 0.0)
    y_high = Scalar("number", 0.0)
    y_low = Scalar("number", 0.0)
    y_slack = Scalar("number", 0.0)
    xx_high = Scalar("number", 0.0)
    xx_low = Scalar("number", 0.0)
    xx_slack = Scalar("number", 0.0)
    xy_high = Scalar("number", 0.0)
    xy_low = Scalar("number", 0.0)
    xy_slack = Scalar("number", 0.0)
    yy_high = Scalar("number", 0.0)
    yy_low = Scalar("number", 0.0)
    yy_slack = Scalar("number", 0.0)
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
        ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first,
        center_x, center_y, specials, x_high, x_low, x_slack, y_high, y_low, y_slack,
        xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    ):  # fmt: skip
        sums = (
            x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
            xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
        )  # fmt: skip
        result, center_x, center_y, sums, specials = moving_pairs(
            False, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
            xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y, sums, specials,
        )  # fmt: skip
        return (
            EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials,
            sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8],
            sums[9], sums[10], sums[11], sums[12], sums[13], sums[14],
        )  # fmt: skip


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
        ys, ys_first, ys_entering, ys_leaving, scratch, scratch_first,
        center_x, center_y, specials, x_high, x_low, x_slack, y_high, y_low, y_slack,
        xx_high, xx_low, xx_slack, xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
    ):  # fmt: skip
        sums = (
            x_high, x_low, x_slack, y_high, y_low, y_slack, xx_high, xx_low, xx_slack,
            xy_high, xy_low, xy_slack, yy_high, yy_low, yy_slack,
        )  # fmt: skip
        result, center_x, center_y, sums, specials = moving_pairs(
            True, xs_entering, ys_entering, xs_leaving, ys_leaving, xs_evicts, xs_count,
            xs, xs_first, ys, ys_first, scratch, scratch_first, center_x, center_y, sums, specials,
        )  # fmt: skip
        return (
            EMIT if partial or xs_full else SILENT, result, center_x, center_y, specials,
            sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8],
            sums[9], sums[10], sums[11], sums[12], sums[13], sums[14],
        )  # fmt: skip
