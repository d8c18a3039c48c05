"""Windows that rate their newest value by the others: the z-score.

It stands alone because it keeps both what a mean and what a deviation needs.
"""

from __future__ import annotations

from rtbot.numeric.exact import (
    integer_deviation,
    integer_mean,
    integer_sum,
    leave_deviation,
    leave_integer_deviation,
    leave_integer_sum,
    leave_sum,
    moving_mean,
)
from rtbot.numeric.exact import standard_deviation as exact_standard_deviation
from rtbot.numeric.ieee import divide
from rtbot.operator import EMIT, SILENT, Example, Out, Scalar, step
from rtbot.operators.windows import ExactWindowDeviation


@step
def leave_score(
    values_leaving, center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
    specials, high, low, slack, infinities,
):  # fmt: skip
    """Take a value out of a score of numbers."""
    (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials
    ) = leave_deviation(
        values_leaving, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )  # fmt: skip
    high, low, slack, infinities = leave_sum(values_leaving, high, low, slack, infinities)
    return (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
        high, low, slack, infinities,
    )  # fmt: skip


@step
def leave_integer_score(
    values_leaving, center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack,
    specials, high, low, slack, infinities,
):  # fmt: skip
    """Take a value out of a score of integers."""
    (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials
    ) = leave_integer_deviation(
        values_leaving, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )  # fmt: skip
    high, low, slack, infinities = leave_integer_sum(values_leaving, high, low, slack, infinities)
    return (
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
        high, low, slack, infinities,
    )  # fmt: skip


@step
def integer_score(
    partial, values, values_first, values_count, values_entering, values_leaving, values_evicts,
    values_full, scratch, scratch_first, center, sum_high, sum_low, sum_slack,
    square_high, square_low, square_slack, specials, high, low, slack, infinities,
):  # fmt: skip
    """The step of ZScore for integers."""
    (
        deviation, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    ) = integer_deviation(
        values_entering, values_leaving, values_evicts, values_count, values, values_first,
        scratch, scratch_first, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )  # fmt: skip
    high, low = integer_sum(values_entering, values_leaving, values_evicts, high, low)
    mean = integer_mean(values_count, high, low, scratch, scratch_first)
    code = EMIT if partial or values_full else SILENT
    return (
        code, divide(float(values_entering) - mean, deviation),
        center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
        high, low, slack, infinities,
    )  # fmt: skip


class ZScore(ExactWindowDeviation):
    """How many deviations the newest value is above the mean of its window.

    The mean and the sample deviation are those of `MovingAverage` and `StandardDeviation`, the
    value included. Where all values are equal, and with an infinity or a NaN inside, it is NaN.
    """

    search_terms = "standard_score, standardize, standardise, normalize, normalise"
    o1 = Out("number", doc="scores")
    high = Scalar("number", 0.0)
    low = Scalar("number", 0.0)
    slack = Scalar("number", 0.0)
    infinities = Scalar("integer", 0)
    leave = leave_score
    integer_leave = leave_integer_score
    integer_step = integer_score
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 1.0), (2, 2.0), (3, 3.0), (5, 1.0)]},
        outputs={"o1": [(3, 1.0), (5, -1.0)]},
    )

    @step
    def step(
        partial, values, values_first, values_count, values_entering, values_leaving,
        values_evicts, values_full, scratch, scratch_first, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials, high, low, slack, infinities,
    ):  # fmt: skip
        (
            deviation, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        ) = exact_standard_deviation(
            values_entering, values_leaving, values_evicts, values_count, values, values_first,
            scratch, scratch_first, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        )  # fmt: skip
        mean, high, low, slack, infinities = moving_mean(
            values_entering, values_leaving, values_evicts, values_count, values, values_first,
            scratch, scratch_first, high, low, slack, infinities,
        )  # fmt: skip
        code = EMIT if partial or values_full else SILENT
        return (
            code, divide(values_entering - mean, deviation),
            center, sum_high, sum_low, sum_slack, square_high, square_low, square_slack, specials,
            high, low, slack, infinities,
        )  # fmt: skip
