"""Total arithmetic: never raises, same bits compiled and interpreted, IEEE 754 values."""

import functools
import inspect
import itertools
import math
import random
import sys
from fractions import Fraction

import pytest

from rtbot.numeric import ieee
from tests.windows_proof import bits, compiled_module

NAN, INF, MAX, TINY = math.nan, math.inf, sys.float_info.max, 5e-324
LOW, HIGH = -(2**63), 2**63 - 1

LOOPS = '''
@step
def two_power(y):
    """A constant base, which compilers like to replace."""
    return power(2.0, y)


@step
def ten_power(y):
    """Another one."""
    return power(10.0, y)


@step
def cubed(x):
    """A constant exponent."""
    return power(x, 3.0)


@step
def inverse(x):
    """Another one."""
    return power(x, -1.0)


@step
def square(x):
    """Another one."""
    return power(x, 2.0)


@step
def root(x):
    """Another one."""
    return power(x, 0.5)
'''

FLOATS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2.0, -2.0, 3.0, -3.0, 10.0, 0.1),
    *(TINY, -TINY, MAX, -MAX, INF, -INF, NAN, 1e16, 2.0**52 - 0.5, 2.0**52, 2.0**53, 1e300),
    *(0.49999999999999994, -0.49999999999999994, 709.0, 709.782712893384, 709.7827128933841),
    *(710.0, -745.0, -746.0),
    *(1023.0, 1024.0, -1074.0, -1075.0, 4503599627370495.5, 1e-308, math.pi, -7.25, 308.0, 309.0),
]
INTEGERS = [0, 1, -1, 2, -2, 3, -3, 7, 2**31, -(2**32), 2**62, -(2**62), 2**62 - 1, HIGH, HIGH - 1]
INTEGERS += [LOW, LOW + 1, 3037000499, 3037000500, -3037000500, 10**18]

ONE = [
    *("square_root", "exponential", "logarithm", "logarithm10", "truncate", "floor_", "ceil_"),
    *("round_half_away", "sign", "sine", "cosine", "tangent", "canonical"),
]
CONSTANT_POWERS = ["two_power", "ten_power", "cubed", "inverse", "square", "root"]
TWO = ["divide", "power", "modulo"]
CHECKED = {
    "add_checked": lambda a, b: a + b,
    "subtract_checked": lambda a, b: a - b,
    "multiply_checked": lambda a, b: a * b,
    "floor_divide_checked": lambda a, b: a // b,
    "modulo_checked": lambda a, b: a % b,
}


@functools.lru_cache(maxsize=1)
def compiled():
    """All helpers, compiled."""
    return compiled_module((ieee,), LOOPS)


@functools.lru_cache(maxsize=1)
def plain():
    """All helpers and loops, interpreted."""
    names = dict(vars(ieee))
    exec(inspect.cleandoc(LOOPS), names)  # noqa: S102 - our own source
    return names


def floats(seed, count):
    """The chosen floats, then random ones of every magnitude."""
    generator = random.Random(seed)
    yield from FLOATS
    for _ in range(count):
        kind = generator.random()
        if kind < 0.4:
            yield math.ldexp(generator.uniform(-1, 1), generator.randint(-1073, 1024))
        elif kind < 0.8:
            yield generator.uniform(-800, 800)
        else:
            yield float(generator.randint(-60, 60)) / 2


def pairs(seed, count):
    """Pairs of them."""
    yield from itertools.product(FLOATS, repeat=2)
    yield from zip(floats(seed, count), floats(seed + 1, count), strict=True)


@pytest.mark.parametrize("name", [*ONE, *CONSTANT_POWERS])
def test_one_argument_same_bits_in_both_modes(name):
    fast, slow = getattr(compiled(), name), plain()[name]
    for x in floats(1, 4000):
        assert bits(fast(x)) == bits(slow(x)), x


@pytest.mark.parametrize("name", TWO)
def test_two_arguments_same_bits_in_both_modes(name):
    fast, slow = getattr(compiled(), name), plain()[name]
    for x, y in pairs(2, 8000):
        assert bits(fast(x, y)) == bits(slow(x, y)), (x, y)


@pytest.mark.parametrize("name", CHECKED)
def test_integers_never_wrap(name):
    generator = random.Random(3)
    some = [generator.randint(LOW, HIGH) >> generator.choice([0, 20, 31, 50]) for _ in range(80)]
    fast, slow = getattr(compiled(), name), plain()[name]
    for a, b in itertools.product(INTEGERS + some, repeat=2):
        undefined = b == 0 and ("divide" in name or "modulo" in name)
        right = HIGH + 1 if undefined else CHECKED[name](a, b)
        expected = (True, right) if LOW <= right <= HIGH else (False, 0)
        assert fast(a, b) == expected == slow(a, b), (a, b)


@pytest.mark.parametrize(
    ("name", "function", "raised"),
    [
        ("exponential", math.exp, INF),
        ("logarithm", math.log, NAN),
        ("logarithm10", math.log10, NAN),
        ("square_root", math.sqrt, NAN),
        ("sine", math.sin, NAN),
        ("cosine", math.cos, NAN),
        ("tangent", math.tan, NAN),
    ],
)
def test_one_argument_equals_the_library_where_it_answers(name, function, raised):
    for x in floats(4, 3000):
        try:
            right = function(x)
        except (ValueError, OverflowError):
            right = -INF if x == 0.0 else raised
        assert bits(plain()[name](x)) == bits(right if right == right else NAN), x


def right_power(x, y):
    """math.pow, with C99's values where Python raises."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF
    except ValueError:
        if x == 0.0:
            return math.copysign(INF, x) if y % 2 == 1 else INF
        return NAN


def test_power_equals_the_library():
    for x, y in pairs(5, 8000):
        right, found = right_power(x, y), plain()["power"](x, y)
        assert bits(found) == bits(right if right == right else NAN), (x, y)


def test_power_never_raises_at_the_end_of_the_range():
    generator = random.Random(6)
    for _ in range(3000):
        x = generator.uniform(1.0001, 50)
        y = 1024 / math.log2(x) * (1 + generator.uniform(-1, 1) * 2.0 ** -generator.randint(30, 53))
        assert bits(compiled().power(x, y)) == bits(plain()["power"](x, y)), (x, y)
        assert plain()["power"](x, y) == pytest.approx(right_power(x, y), rel=1e-15) or y > 0


def test_modulo_is_python_s():
    for x, y in pairs(7, 8000):
        try:
            right = x % y
        except ZeroDivisionError:
            right = NAN
        assert bits(plain()["modulo"](x, y)) == bits(right if right == right else NAN), (x, y)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("divide", (1.0, 0.0), INF),
        ("divide", (1.0, -0.0), -INF),
        ("divide", (-INF, 0.0), -INF),
        ("divide", (0.0, 0.0), NAN),
        ("divide", (INF, INF), NAN),
        ("divide", (1e308, 1e-308), INF),
        ("square_root", (-0.0,), -0.0),
        ("square_root", (-1.0,), NAN),
        ("exponential", (1000.0,), INF),
        ("exponential", (-INF,), 0.0),
        ("logarithm", (-0.0,), -INF),
        ("power", (0.0, -1.0), INF),
        ("power", (-0.0, -3.0), -INF),
        ("power", (-8.0, 1 / 3), NAN),
        ("power", (NAN, 0.0), 1.0),
        ("power", (1.0, NAN), 1.0),
        ("power", (-1.0, INF), 1.0),
        ("power", (-INF, 3.0), -INF),
        ("power", (-INF, -3.0), -0.0),
        ("power", (-INF, 0.5), INF),
        ("power", (10.0, 400.0), INF),
        ("power", (-10.0, 401.0), -INF),
        ("power", (-10.0, -401.0), -0.0),
        ("modulo", (-1.0, INF), INF),
        ("modulo", (5.0, 0.0), NAN),
        ("modulo", (-6.0, 3.0), 0.0),
        ("modulo", (6.0, -3.0), -0.0),
        ("floor_", (-0.5,), -1.0),
        ("floor_", (-0.0,), -0.0),
        ("ceil_", (-0.5,), -0.0),
        ("ceil_", (1e300,), 1e300),
        ("round_half_away", (2.5,), 3.0),
        ("round_half_away", (-2.5,), -3.0),
        ("round_half_away", (0.49999999999999994,), 0.0),
        ("round_half_away", (-0.2,), -0.0),
        ("round_half_away", (4503599627370495.5,), 4503599627370496.0),
        ("sign", (-0.0,), 0.0),
        ("sign", (NAN,), NAN),
        ("sine", (INF,), NAN),
    ],
)
def test_chosen_values(name, arguments, result):
    assert bits(plain()[name](*arguments)) == bits(result)
    assert bits(getattr(compiled(), name)(*arguments)) == bits(result)


def test_what_is_older_is_exact_at_the_ends_of_time():
    times = [LOW, LOW + 1, LOW + 9, -(2**62), -1, 0, 1, 2**62, HIGH - 9, HIGH - 1, HIGH]
    for span in (1, 2, 10, 2**62, HIGH - 1, HIGH):
        for time, now in itertools.combinations_with_replacement(times, 2):
            expected = time <= now - span
            assert plain()["is_older"](time, now, span) == expected
            assert compiled().is_older(time, now, span) == expected, (time, now, span)


def test_whole_numbers_equal_math():
    for x in floats(8, 3000):
        if math.isfinite(x):
            assert plain()["floor_"](x) == math.floor(x)
            assert plain()["ceil_"](x) == math.ceil(x)
            half_away = math.copysign(math.floor(Fraction(abs(x)) + Fraction(1, 2)), x)
            assert bits(plain()["round_half_away"](x)) == bits(half_away)


def test_error_free_sum_and_product():
    for a, b in pairs(9, 8000):
        for module in (compiled(), ieee):
            total, error = module.two_sum(a, b)
            if abs(total) < 2.0**1023 and abs(a) < INF and abs(b) < INF:
                assert Fraction(total) + Fraction(error) == Fraction(a) + Fraction(b)
            product, error = module.two_product(a, b)
            if abs(product) < INF and (abs(product) > 2.0**-900 or a == 0.0 or b == 0.0):
                assert Fraction(product) + Fraction(error) == Fraction(a) * Fraction(b)
