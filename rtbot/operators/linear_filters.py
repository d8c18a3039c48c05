"""Linear filters: weighted sums of the last values, and of the last results.

They are computed in float64 in the order of the coefficients, each product and each sum rounded
(IEEE 754), so that the same values give the same bits wherever rows are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import (
    EMIT,
    SILENT,
    Cells,
    Example,
    In,
    Numbers,
    Operator,
    Out,
    Scalar,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@step
def add_weighted(total, weights, first, count, recent, base, newest):
    """`total` and the products of weights with the values of a ring, from its newest one back."""
    for k in range(min(count, newest + 1)):
        total += weights[first + k] * recent[base + newest - k]
    for k in range(newest + 1, count):
        total += weights[first + k] * recent[base + newest + count - k]
    return total


@step
def following_place(place, size):
    """The place after this one in a ring."""
    return place + 1 if place + 1 < size else 0


class FiniteImpulseResponse(Operator):
    """The sum of the last values, each times a coefficient; the first one weights the newest.

    It emits nothing before there are as many values as coefficients. NaN inside gives NaN, and
    leaves with it.
    """

    search_terms = (
        "fir, convolve, convolution, lfilter, weighted_moving_average, wma, taps, low_pass"
    )
    coefficients = Numbers(aliases=("coeff",), doc="weights, that of the newest value first")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="weighted sums")
    recent = Cells("number", size=lambda values: len(values["coefficients"]))
    place = Scalar("integer", 0)
    full = Scalar("boolean", False)
    silent = True
    example = Example(
        parameters={"coefficients": [0.5, 0.25, 0.25]},
        inputs={"i1": [(1, 4.0), (2, 8.0), (3, 2.0), (5, 6.0)]},
        outputs={"o1": [(3, 4.0), (5, 5.5)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """There have to be as many values as coefficients."""
        return WarmUp(len(values["coefficients"]), certain=True)

    @step
    def step(
        i1, coefficients, coefficients_first, coefficients_count, recent, recent_first, place, full
    ):
        recent[recent_first + place] = i1
        total = add_weighted(
            0.0, coefficients, coefficients_first, coefficients_count, recent, recent_first, place
        )
        place = following_place(place, coefficients_count)
        full = full or place == 0
        return EMIT if full else SILENT, total, place, full


class InfiniteImpulseResponse(Operator):
    """The sum of the last values times `b`, less the sum of its own last results times `a`.

    That is y[n] = b[0] x[n] + b[1] x[n - 1] + ... - a[0] y[n - 1] - a[1] y[n - 2] - ...: the
    coefficient 1 of y[n] itself is left out of `a`. It emits nothing before there are as many
    values as there are in `b`; results before the first are 0. NaN and infinities stay in it.
    """

    search_terms = "iir, recursive_filter, biquad, butterworth, high_pass, band_pass, notch, arma"
    b = Numbers(aliases=("b_coeffs",), doc="weights of values, that of the newest first")
    a = Numbers(aliases=("a_coeffs",), doc="weights of results, that of the one before first")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="results")
    recent = Cells("number", size=lambda values: len(values["b"]))
    results = Cells("number", size=lambda values: len(values["a"]))
    place = Scalar("integer", 0)
    behind = Scalar("integer", 0)
    full = Scalar("boolean", False)
    silent = True
    example = Example(
        parameters={"b": [0.5, 0.5], "a": [-0.5]},
        inputs={"i1": [(1, 4.0), (2, 8.0), (3, 2.0), (5, 6.0)]},
        outputs={"o1": [(2, 6.0), (3, 8.0), (5, 8.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """There have to be as many values as weights of values."""
        return WarmUp(len(values["b"]), certain=True)

    @step
    def step(
        i1, b, b_first, b_count, a, a_first, a_count, recent, recent_first, results, results_first,
        place, behind, full,
    ):  # fmt: skip
        recent[recent_first + place] = i1
        total = add_weighted(0.0, b, b_first, b_count, recent, recent_first, place)
        newest = behind - 1 if behind > 0 else a_count - 1
        total -= add_weighted(0.0, a, a_first, a_count, results, results_first, newest)
        place = following_place(place, b_count)
        full = full or place == 0
        if full:
            results[results_first + behind] = total
            behind = following_place(behind, a_count)
        return EMIT if full else SILENT, total, place, behind, full
