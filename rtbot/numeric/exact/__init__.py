"""Exact moving sums, means and deviations, and exact running sums.

Each result is a function of the values in the window only: the exact value rounded once (the
variance is rounded once, then its root). A running sum of two floats (Dekker's double-double) is
kept together with a bound of all that it has dropped, its slack. Most of the time the slack is
zero or the result is provably on one side of a rounding boundary; otherwise the sums are built
again from the window, and if that still does not settle it, `exact_digits` does.

State, handed by value and returned by value, in this order:

function            name          type     start   meaning
moving_sum, _mean   high          float64  0.0     high + low is the sum, off by at most 2 * slack
                    low           float64  0.0
                    slack         float64  0.0
                    specials      int64    0       NaN and infinities in the window, see below
standard_deviation  center        float64  0.0     sums are of y = value - center, always exact
                    sum_high      float64  0.0     sum of y, as above
                    sum_low       float64  0.0
                    sum_slack     float64  0.0
                    square_high   float64  0.0     sum of y * y, as above
                    square_low    float64  0.0
                    square_slack  float64  0.0
                    specials      int64    0
running_sum         high          float64  0.0     high + low + digits is the sum, exactly
                    low           float64  0.0
                    slack         float64  0.0     abs(digits) is at most 2 * slack
                    specials      int64    0       1: +inf was seen, 2: -inf, 3: NaN or both
                    digits        int64[RUNNING_SUM_DIGITS] per key, all 0
integer_sum, _mean  high          float64  0.0     the sum of a window of integers is
                    low           float64  0.0     high * 2**44 + low, both whole
integer_deviation   that of standard_deviation     the values are distances from specials, a value
                                                   of the window; or, if square_slack < 0, the sum
                                                   is as above, and the squares are center +
                                                   2**44 * (sum_slack + 2**44 * (square_high +
                                                   2**44 * square_low)), all whole
moving_pairs        see `covariances`
running_integer_sum high          int64    0       the sum is high * 2**62 + low
                    low           int64    0

`moving_X` is `quick_X`, which needs the state only, and where that does not settle the result,
`X_again`, which also needs the window. A loop that calls the two itself saves the cost of handing
arrays to a function in every row.

Where several values leave before one comes, `leave_X` takes each but one out of the state.

Scratch: `scratch[scratch_first : scratch_first + SCRATCH_DIGITS]` is int64, of any content, and
may be shared by all keys and operators. `specials` counts +inf in its low 31 bits and -inf above
them; a NaN counts as one of each, so that both present means NaN.

Limits: fewer than 2**26 values in a window. While a sum is beyond 2**1020 or a square beyond
2**960, every row costs a pass over the window; while the integers of a window are more than 2**53
apart, a row costs as much as some fifty others, whatever the window.
"""

from rtbot.numeric.exact.cumulative import (
    INTEGER_LIMB,
    RUNNING_SUM_DIGITS,
    running_integer_sum,
    running_sum,
)
from rtbot.numeric.exact.deviations import (
    deviation_again,
    leave_deviation,
    quick_deviation,
    standard_deviation,
)
from rtbot.numeric.exact.digits import SCRATCH_DIGITS
from rtbot.numeric.exact.integers import integer_deviation, leave_integer_deviation
from rtbot.numeric.exact.sums import (
    INTEGER_PART,
    integer_mean,
    integer_sum,
    leave_integer_sum,
    leave_sum,
    mean_again,
    moving_mean,
    moving_sum,
    quick_mean,
    quick_sum,
    sum_again,
)

__all__ = [
    "INTEGER_LIMB",
    "INTEGER_PART",
    "RUNNING_SUM_DIGITS",
    "SCRATCH_DIGITS",
    "deviation_again",
    "integer_deviation",
    "integer_mean",
    "integer_sum",
    "leave_deviation",
    "leave_integer_deviation",
    "leave_integer_sum",
    "leave_sum",
    "mean_again",
    "moving_mean",
    "moving_sum",
    "quick_deviation",
    "quick_mean",
    "quick_sum",
    "running_integer_sum",
    "running_sum",
    "standard_deviation",
    "sum_again",
]
