"""Averages that fade, and what is made of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.curves import blend
from rtbot.numeric.exact.digits import SCRATCH_DIGITS, SUM_DIGITS, add_value, digits_to_mean
from rtbot.numeric.ieee import power, subtract_to_number
from rtbot.operator import (
    EMIT,
    SILENT,
    Boolean,
    Cells,
    Choice,
    Duration,
    Example,
    In,
    Integer,
    Operator,
    Out,
    Scalar,
    Scratch,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def _seed_digits(values: Mapping[str, Any]) -> int:
    return SUM_DIGITS if values["seed"] == "mean" else 0


@step
def mean_so_far(value, seen, average, digits, digits_first, scratch, scratch_first):
    """The exact mean of `seen` values and this one, rounded once; an infinity among them stays."""
    if value - value != 0.0:
        return average + value
    add_value(value, digits, digits_first)
    if average - average != 0.0:
        return average
    for place in range(SUM_DIGITS):
        scratch[scratch_first + place] = digits[digits_first + place]
    return digits_to_mean(seen + 1, scratch, scratch_first)


class FadingAverage(Operator, abstract=True):
    """An average in which older values weigh less; its parameters and ports."""

    window = Integer(
        required=False,
        minimum=1,
        aliases=("window_size",),
        doc="messages that alpha is made of, and the warm-up",
    )
    half_life = Duration(
        required=False,
        minimum=1,
        doc="instead of a window: the time after which a value has faded to half",
    )
    seed = Choice(
        options=("first", "mean"), required=False, default="first", doc="what it begins with"
    )
    partial = Boolean(required=False, default=False, doc="emit from the first message on")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="averages")
    silent = True

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """It fades by messages or by time."""
        if (values["window"] is None) == (values["half_life"] is None):
            return [
                "it takes window, a number of messages, or half_life, a duration: one of the two"
            ]
        if values["half_life"] is not None and values["seed"] == "mean":
            return ["seed: mean is the mean of the first window messages, and there is no window"]
        return []


class EMA(FadingAverage):
    """The exponential moving average, by messages (`window`) or by time (`half_life`).

    By messages y += alpha * (x - y), with alpha = 2 / (window + 1). It begins with the first value
    and is silent for the first window - 1 messages, or emits from the first with `partial`.
    `seed: mean` is the exact mean of the first `window` values before it fades, as TA-Lib does.
    With a window of 1 it is the value itself.

    By time alpha = 1 - 2 ** (-dt / half_life), where dt is the time since the value before it, so
    that after `half_life` an old value weighs half as much. It emits from the first message on.

    A NaN gives NaN, and the average is as if it had not come; an infinity stays.
    """

    search_terms = (
        "ewm, ewma, ewm_mean, exponential_moving_average, exponential_smoothing, ema_indicator"
    )
    unsupported = {  # noqa: RUF012 (declared once, as `search_terms` is)
        "alpha": "the window of an alpha is 2 / alpha - 1",
        "com": "the window of a centre of mass is 2 * com + 1",
        "adjust": "it is that of adjust=False",
    }
    digits = Cells("integer", size=_seed_digits)
    scratch = Scratch(SCRATCH_DIGITS)
    messages = Scalar("integer", 0)
    seen = Scalar("integer", 0)
    average = Scalar("number", 0.0)
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 1.0), (2, 3.0), (3, 6.0), (4, float("nan")), (5, 8.0)]},
        outputs={"o1": [(3, 4.0), (4, float("nan")), (5, 6.0)]},
    )

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """By time it remembers the time of the last value, and no messages."""
        return cls if values["half_life"] is None else EMAByTime

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """As many messages as alpha is made of, unless it may be partial."""
        return WarmUp(1 if values["partial"] else values["window"], certain=True)

    @step
    def step(
        i1, window, seed, partial, digits, digits_first, scratch, scratch_first,
        messages, seen, average,
    ):  # fmt: skip
        messages = min(messages + 1, window)
        code = EMIT if partial or messages == window else SILENT
        if i1 != i1:
            return code, math.nan, messages, seen, average
        if seed == 1 and seen < window:
            average = mean_so_far(i1, seen, average, digits, digits_first, scratch, scratch_first)
        elif seen == 0:
            average = i1
        else:
            average = blend(average, i1, 2.0 / (float(window) + 1.0))
        seen = min(seen + 1, window)
        return code, average, messages, seen, average


@step
def ema_by_time(i1, time, half_life, started, average, before):
    """The step of EMA where it fades by time."""
    if i1 != i1:
        return EMIT, math.nan, started, average, before
    if started:
        age = subtract_to_number(time, before) / float(half_life)
        average = blend(average, i1, 1.0 - power(2.0, -age))
    else:
        average = i1
    return EMIT, average, True, average, time


class EMAByTime(FadingAverage, variant_of="EMA"):
    """The average that fades by the time between values."""

    started = Scalar("boolean", False)
    average = Scalar("number", 0.0)
    before = Scalar("integer", 0)
    step = ema_by_time

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """It emits from the first message on."""
        return WarmUp(1, certain=True)


class RelativeStrengthIndex(Operator):
    """How much of the recent changes of a price were gains: from 0, only losses, to 100.

    The index is 100 - 100 / (1 + gain / loss). Gain and loss are averages of the changes up and
    down: the mean of the first `n`, then Wilder's smoothing, ((n - 1) * average + change) / n.
    Where the average loss is 0, also where prices are flat, it is 100. A value that is NaN or
    infinite gives NaN, and is as if it had not come. (Wilder, New Concepts in Technical Trading
    Systems, 1978.)
    """

    search_terms = "rsi, wilder, relative_strength, momentum_oscillator"
    n = Integer(minimum=1, doc="changes in the first averages, and how slowly they fade")
    i1 = In("number", doc="prices")
    o1 = Out("number", doc="indices from 0 to 100")
    messages = Scalar("integer", 0)
    changes = Scalar("integer", -1)
    previous = Scalar("number", 0.0)
    gain = Scalar("number", 0.0)
    loss = Scalar("number", 0.0)
    silent = True
    example = Example(
        parameters={"n": 2},
        inputs={"i1": [(1, 7.0), (2, 8.0), (3, 7.0), (4, 9.0), (5, 9.0)]},
        outputs={"o1": [(3, 50.0), (4, 83.33333333333333), (5, 83.33333333333333)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """A change needs two messages."""
        return WarmUp(values["n"] + 1, certain=True)

    @step
    def step(i1, n, messages, changes, previous, gain, loss):
        messages = min(messages + 1, n + 1)
        code = EMIT if messages > n else SILENT
        if i1 - i1 != 0.0:
            return code, math.nan, messages, changes, previous, gain, loss
        change = i1 - previous if changes >= 0 else 0.0
        up, down = max(change, 0.0), max(-change, 0.0)
        if changes < n:
            changes += 1
            gain += up
            loss += down
            if changes == n:
                gain /= n
                loss /= n
        else:
            gain = (gain * (n - 1) + up) / n
            loss = (loss * (n - 1) + down) / n
        index = math.nan
        if changes == n:
            index = 100.0 if loss == 0.0 else 100.0 - 100.0 / (1.0 + gain / loss)
        return code, index, messages, changes, i1, gain, loss
