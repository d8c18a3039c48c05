"""Moving and running sums against exact fractions, compiled and interpreted."""

import functools
import math
import random
import statistics
import sys
from array import array
from fractions import Fraction

import numpy as np
import pytest

from rtbot.numeric import exact
from tests import windows_proof
from tests.windows_proof import KINDS, WINDOWS, bits, right_answers, run_compiled, run_interpreted

NAN, INF, MAX = math.nan, math.inf, sys.float_info.max
NO_ROUNDING = 3  # offset of a key's digits in the running sums


@functools.lru_cache(maxsize=1)
def compiled():
    """The compiled functions and loops."""
    return windows_proof.compiled_module(extra=windows_proof.LOOP)


@functools.lru_cache(maxsize=1)
def interpreted():
    """The same as plain CPython."""
    return windows_proof.InterpretedLoop()


def both_modes(series, window):
    """(name, [sums, means, deviations]) in both modes."""
    yield "compiled", run_compiled(compiled(), series, window)
    yield "interpreted", run_interpreted(interpreted(), series, window)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_windows_equal_fractions(kind, window):
    series = KINDS[kind](random.Random(f"{kind} {window}"), 230)  # 90 cases: 20,700 windows
    assert windows_proof.wrong_rows(series, window, run_compiled(compiled(), series, window)) == [
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_interpreted_windows_equal_fractions(kind, window):
    series = KINDS[kind](random.Random(f"{window} {kind}"), 60)  # 90 cases: 5,400 windows
    answers = run_interpreted(interpreted(), series, window)
    assert windows_proof.wrong_rows(series, window, answers) == [0, 0, 0]
    twins = run_compiled(compiled(), series, window)
    assert [list(map(bits, a)) for a in answers] == [list(map(bits, a)) for a in twins]


@pytest.mark.parametrize("kind", KINDS)
def test_long_windows_equal_fractions(kind):
    series = KINDS[kind](random.Random(kind), 420)
    answers = run_compiled(compiled(), series, 400)
    tail = [column[380:] for column in answers]
    for row, sums in enumerate(zip(*tail, strict=True), start=380):
        right = right_answers(series[max(0, row - 399) : row + 1])
        assert list(map(bits, sums)) == list(map(bits, right))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [2, 7, 50])
def test_nothing_of_the_past_remains(kind, window):
    """Any other beginning gives the same outputs once it has left the window."""
    series = KINDS[kind](random.Random(kind), 120)
    alone = run_compiled(compiled(), series, window)
    for past_kind, past in KINDS.items():
        before = past(random.Random(past_kind), 75)
        answers = run_compiled(compiled(), before + series, window)
        for column, expected in zip(answers, alone, strict=True):
            found = column[75 + window - 1 :]
            assert list(map(bits, found)) == list(map(bits, expected[window - 1 :]))


@pytest.mark.parametrize(
    ("window", "total", "mean", "deviation"),
    [
        ([0.1] * 3, math.fsum([0.1] * 3), 0.1, 0.0),
        ([-0.0, -0.0], 0.0, 0.0, 0.0),
        ([7.5], 7.5, 7.5, 0.0),
        ([NAN], NAN, NAN, NAN),
        ([INF], INF, INF, NAN),
        ([INF, -INF, 1.0], NAN, NAN, NAN),
        ([1.0, -INF, -INF], -INF, -INF, NAN),
        ([MAX, MAX], INF, MAX, 0.0),
        ([-MAX, -MAX], -INF, -MAX, 0.0),
        ([MAX, MAX, -MAX], MAX, MAX / 3, 1.037909311622588e308 * 2),
        ([MAX, -MAX], 0.0, 0.0, INF),
        ([1e200, -1e200], 0.0, 0.0, 1.414213562373095e200),
        ([5e-324, 5e-324], 1e-323, 5e-324, 0.0),
        ([5e-324, 0.0], 5e-324, 0.0, 0.0),
        ([-5e-324, 0.0], -5e-324, -0.0, 0.0),
        ([2.0**53, 1.0], 2.0**53, 2.0**52, None),
        ([2.0**53, 1.0, 2.0**-600], 2.0**53 + 2, None, None),
        ([2.0**53, 3.0], 2.0**53 + 4, None, None),
        ([1e16, 1.0, -1e16], 1.0, 1 / 3, None),
    ],
)
def test_chosen_windows(window, total, mean, deviation):
    right = right_answers(window)
    for mode, answers in both_modes(window, len(window)):
        last = [column[-1] for column in answers]
        assert list(map(bits, last)) == list(map(bits, right)), mode
        for found, expected in zip(last, (total, mean, deviation), strict=True):
            assert expected is None or found != found or found == pytest.approx(expected, rel=4e-16)
            assert expected is None or (found != found) == (expected != expected)


def test_oracle_agrees_with_the_standard_library():
    generator = random.Random(5)
    for _ in range(200):
        window = [generator.gauss(100, 3) for _ in range(generator.randint(2, 40))]
        total, mean, deviation = right_answers(window)
        assert total == math.fsum(window)
        assert mean == float(sum(map(Fraction, window)) / len(window))
        assert deviation == math.sqrt(statistics.variance(window))


@pytest.mark.parametrize("kind", ["price walk, 2 decimals", "normal", "offset 1e9", "plateaus"])
def test_ordinary_rows_do_not_build_their_sums_again(kind):
    counting = windows_proof.InterpretedLoop()
    series = KINDS[kind](random.Random(3), 1500)
    if kind == "plateaus":
        series = [101.37] * 700 + [0.1] * 800
    run_interpreted(counting, series, 50)
    assert max(counting.rebuilt.values()) <= 4


# ---- running sums -------------------------------------------------------------------------------


def right_running_sums(series):
    """Prefix sums by definition."""
    total, specials, sums = Fraction(0), set(), []
    for x in series:
        if math.isfinite(x):
            total += Fraction(x)
        else:
            specials.add(x if x == x else "nan")
        if specials:
            sums.append(specials.copy().pop() if specials in ({INF}, {-INF}) else NAN)
        else:
            sums.append(windows_proof.divided(total.numerator, total.denominator))
    return sums


def running_sums(series):
    """The running sums in both modes; digits of other keys must not be touched."""
    places = exact.RUNNING_SUM_DIGITS + 2 * NO_ROUNDING
    digits, sums = np.zeros(places, dtype=np.int64), np.zeros(len(series))
    compiled().run_sums(np.array(series, dtype=float), digits, sums)
    yield list(sums)
    plain_digits = memoryview(array("q", bytes(8 * places)))
    plain_sums = memoryview(array("d", bytes(8 * len(series))))
    interpreted().names["run_sums"](memoryview(array("d", series)), plain_digits, plain_sums)
    yield list(plain_sums)
    for row in (digits, plain_digits):
        assert not any(row[:NO_ROUNDING])
        assert not any(row[-NO_ROUNDING:])


@pytest.mark.parametrize("kind", KINDS)
def test_running_sum_is_the_exact_prefix_sum(kind):
    series = KINDS[kind](random.Random(f"running {kind}"), 700)
    right = list(map(bits, right_running_sums(series)))
    for sums in running_sums(series):
        assert list(map(bits, sums)) == right


@pytest.mark.parametrize(
    ("series", "sums"),
    [
        ([MAX, MAX, -MAX, -MAX, 1.0], [MAX, INF, MAX, 0.0, 1.0]),
        ([MAX, 2.0**970, -(2.0**970)], [MAX, INF, MAX]),
        ([1e16, 1.0, 1e-300, -1e16], [1e16, 1e16, 1e16 + 2, 1.0]),
        ([-0.0, -0.0], [0.0, 0.0]),
        ([INF, 1.0, -INF, 1.0], [INF, INF, NAN, NAN]),
        ([-INF, -1.0, NAN, 1.0], [-INF, -INF, NAN, NAN]),
        ([2.0**53, 1.0, 5e-324, -(2.0**53), -1.0], [2.0**53, 2.0**53, 2.0**53 + 2, 1.0, 5e-324]),
    ],
)
def test_chosen_running_sums(series, sums):
    for found in running_sums(series):
        assert list(map(bits, found)) == list(map(bits, sums))


@pytest.mark.parametrize(
    ("series", "sums"),
    [
        ([1, 2, -5], [1, 3, -2]),
        ([2**63 - 1, 1, -1, -1], [2**63 - 1, None, 2**63 - 1, 2**63 - 2]),
        ([-(2**63), -1, 1, 2**63 - 1], [-(2**63), None, -(2**63), -1]),
        ([2**63 - 1] * 3 + [-(2**63)] * 3, [2**63 - 1, None, None, None, 2**63 - 3, -3]),
        ([-(2**63)] * 3 + [2**63 - 1] * 3, [-(2**63), None, None, None, None, -3]),
    ],
)
def test_running_integer_sum(series, sums):
    fits, found = np.zeros(len(series), dtype=bool), np.zeros(len(series), dtype=np.int64)
    compiled().run_integer_sums(np.array(series, dtype=np.int64), fits, found)
    plain_fits, plain = [None] * len(series), [None] * len(series)
    interpreted().names["run_integer_sums"](series, plain_fits, plain)
    for flags, values in ((fits, found), (plain_fits, plain)):
        pairs = zip(flags, values, strict=True)
        assert [int(value) if flag else None for flag, value in pairs] == sums


def test_running_integer_sum_of_random_values():
    generator = random.Random(1)
    shifts = generator.choices([0, 0, 20, 60], k=3000)
    series = [generator.randint(-(2**63), 2**63 - 1) >> shift for shift in shifts]
    fits, found = np.zeros(3000, dtype=bool), np.zeros(3000, dtype=np.int64)
    compiled().run_integer_sums(np.array(series, dtype=np.int64), fits, found)
    total = 0
    for x, flag, value in zip(series, fits, found, strict=True):
        total += x
        assert flag == (-(2**63) <= total < 2**63)
        assert value == (total if flag else 0)
