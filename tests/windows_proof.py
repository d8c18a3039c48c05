"""Compare moving sums, means and deviations with exact fractions: python -m tests.windows_proof.

The oracle is the definition (Fraction, statistics.variance); the program prints, per kind of data,
how many windows it compared, how many were wrong and how many rows rebuilt their sums.
"""

import functools
import hashlib
import importlib.util
import inspect
import math
import pathlib
import random
import struct
import sys
import tempfile
from array import array
from fractions import Fraction

import numpy as np

from rtbot.numeric import ieee
from rtbot.numeric.exact import cumulative, deviations, digits, sums

MODULES = (ieee, digits, sums, deviations, cumulative)
MAX_FLOAT = sys.float_info.max


def compiled_module(modules=MODULES, extra="", inline=False):
    """One generated module with every constant and @step function, compiled by numba.

    With `inline` the fast paths are inlined into their callers; the slow ones never are.
    """
    lines = ["import math", "import numba"]
    lines += ["noinline = numba.njit(error_model='numpy', cache=True)"]
    inlined = ", forceinline=True" if inline else ""
    lines.append(f"step = numba.njit(error_model='numpy', cache=True{inlined})")
    for module in modules:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, (int, float)):
                lines.append(f"{name} = {value!r}")
        steps = [v for v in vars(module).values() if getattr(v, "is_step", False)]
        lines += [inspect.getsource(v) for v in steps if v.__module__ == module.__name__]
    text = "\n".join([*lines, inspect.cleandoc(extra), ""])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = pathlib.Path(tempfile.gettempdir()) / "rtbot_windows_proof"
    folder.mkdir(exist_ok=True)
    path = folder / f"steps_{digest}.py"
    if not path.exists():
        path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


# ---- the oracle -------------------------------------------------------------------------------


def divided(numerator, denominator):
    """The float nearest to a fraction of whole numbers, infinite beyond the range."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def special_total(window):
    """The sum of a window with NaN or infinities; None if it has none."""
    kinds = {x for x in window if math.isinf(x)}
    if any(x != x for x in window) or len(kinds) == 2:
        return math.nan
    return kinds.pop() if kinds else None


def root_beyond(variance):
    """The root, rounded once, of a variance that is no float itself."""
    shifted, rest = divmod(variance.numerator << 400, variance.denominator)
    root = math.isqrt(shifted)
    inexact = rest != 0 or root * root != shifted
    return divided(2 * root + inexact, 2**201)


@functools.lru_cache(maxsize=100_000)
def in_units(x):
    """A finite float as a whole number of 2**-1074, and its square."""
    units = int(Fraction(x) * 2**1074)
    return units, units * units


def right_answers(window):
    """(sum, mean, deviation) of a window, by definition."""
    special = special_total(window)
    if special is not None:
        return special, special, math.nan
    count, pairs = len(window), [in_units(x) for x in window]
    total, squares = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    answers = divided(total, 2**1074), divided(total, count * 2**1074)
    if count == 1:
        return (*answers, 0.0)
    variance = (count * squares - total * total, count * (count - 1) * 2**2148)
    spread = divided(*variance)
    return (*answers, math.sqrt(spread) if spread < math.inf else root_beyond(Fraction(*variance)))


def bits(x):
    """Bits of a float; NaN must be the canonical one."""
    return struct.pack("<d", x)


# ---- the data ---------------------------------------------------------------------------------


def walk(generator, rows):
    """Prices with two decimals."""
    price, prices = 10000 + generator.randrange(10000), []
    for _ in range(rows):
        price = max(1, price + generator.randint(-30, 30))
        prices.append(price / 100)
    return prices


def spiked(generator, rows, height):
    """Prices with huge spikes of either sign."""
    prices = walk(generator, rows)
    for row in range(rows):
        if generator.random() < 0.04:
            prices[row] = generator.choice([height, -height, height * 1.1])
    return prices


def plateaus(generator, rows):
    """Runs of one value, of lengths around the windows'."""
    values = []
    while len(values) < rows:
        level = generator.choice([0.1, 1 / 3, 101.37, 0.0, -0.0, 1e9 + 0.1, 1e200, 1.7e308, 5e-324])
        values += [level] * generator.randint(1, 70)
    return values[:rows]


def ties(generator, rows):
    """Few bits far apart, so that sums, means and variances lie half way between floats."""
    values = []
    for _ in range(rows):
        kind = generator.random()
        if kind < 0.3:
            values.append(2.0**53 + 2 * generator.randint(0, 3))
        elif kind < 0.6:
            values.append(float(generator.randint(-3, 3)))
        elif kind < 0.7:
            values.append(generator.choice([2.0**-53, -(2.0**-53), 2.0**-106, 0.5, 1.0]))
        else:
            values.append(float(generator.randint(2**26, 2**27)))
    return values


def repeating_ties(generator, rows):
    """A short period of values whose sum or variance is a tie, row after row."""
    values = []
    while len(values) < rows:
        base = [float(generator.randint(2**25, 2**28)) for _ in range(generator.choice([2, 3, 7]))]
        base[0] += generator.choice([0.0, 0.5, 2.0**53])
        values += base * generator.randint(2, 30)
    return values[:rows]


def broken_ties(generator, rows):
    """Ties that a value far below the last bit pushes to one side."""
    values = []
    while len(values) < rows:
        size = generator.choice([2.0**27, 2.0**53, 2.0**54])
        count = generator.randint(1, 6)
        base = [size + 2.0 * generator.randint(-(2**24), 2**24) for _ in range(count)]
        base += [float(generator.randint(-9, 9)) for _ in range(generator.randint(0, 2))]
        for _ in range(generator.randint(1, 6)):
            tiny = math.ldexp(generator.choice([-1.0, 1.0, 0.0]), -generator.randint(1, 1074))
            values += [*base, tiny]
    return values[:rows]


def special_values(generator, rows, kinds):
    """Prices with NaN or infinities in between."""
    prices = walk(generator, rows)
    for row in range(rows):
        if generator.random() < 0.02:
            prices[row] = generator.choice(kinds)
    return prices


def mixed(generator, rows):
    """Any magnitude from 2**-1074 to 2**1023."""
    return [
        math.ldexp(generator.uniform(-1, 1), generator.randint(-1073, 1023)) for _ in range(rows)
    ]


def clustered(generator, rows):
    """Magnitudes that wander, so that neighbours are comparable, near both ends too."""
    exponent, values = generator.randint(-1074, 1023), []
    for _ in range(rows):
        exponent = min(1024, max(-1076, exponent + generator.randint(-9, 9)))
        values.append(math.ldexp(generator.uniform(-0.999, 0.999), exponent))
    return values


def from_draw(draw):
    """Independent values."""
    return lambda generator, rows: [draw(generator) for _ in range(rows)]


def alternating(generator, rows):
    """Signs that alternate around zero, nearly cancelling."""
    return [
        (1 if row % 2 else -1) * generator.choice([1e8, 1e8 + 1e-8, 0.1, 1e16])
        for row in range(rows)
    ]


KINDS = {
    "price walk, 2 decimals": walk,
    "normal": from_draw(lambda generator: generator.gauss(0, 1)),
    "log-normal, wide": from_draw(lambda generator: generator.lognormvariate(0, 12)),
    "spikes 1e16": lambda generator, rows: spiked(generator, rows, 1e16),
    "spikes 1e200": lambda generator, rows: spiked(generator, rows, 1e200),
    "tiny": from_draw(lambda g: g.choice([5e-324, -5e-324, 0.0, 1.5e-323, 2.3e-308, 1e-162])),
    "near the maximum": from_draw(lambda g: g.choice([1.7e308, -1.7e308, MAX_FLOAT, 1e308, 1.0])),
    "plateaus": plateaus,
    "exact ties": ties,
    "repeating ties": repeating_ties,
    "ties barely broken": broken_ties,
    "NaN": lambda generator, rows: special_values(generator, rows, [math.nan]),
    "infinities": lambda generator, rows: special_values(generator, rows, [math.inf, -math.inf]),
    "all specials": lambda generator, rows: special_values(
        generator, rows, [math.inf, -math.inf, math.nan, -0.0, 1e308]
    ),
    "alternating signs": alternating,
    "offset 1e9": from_draw(lambda generator: 1e9 + generator.gauss(0, 1e-3)),
    "mixed magnitudes": mixed,
    "wandering magnitudes": clustered,
    "zeros of both signs": from_draw(lambda generator: generator.choice([0.0, -0.0])),
}

# ---- running the functions over a series --------------------------------------------------------

LOOP = '''
@step
def run_windows(
    series, window, values, scratch, sums, means, deviations, only
):
    """All windows of a series; only 1: sums, 2: means, 3: deviations, 4: 2 and 3, 0: all."""
    a_high, a_low, a_slack, a_specials = 0.0, 0.0, 0.0, 0
    b_high, b_low, b_slack, b_specials = 0.0, 0.0, 0.0, 0
    center, s_high, s_low, s_slack = 0.0, 0.0, 0.0, 0.0
    q_high, q_low, q_slack, specials = 0.0, 0.0, 0.0, 0
    position = 0
    for row in range(len(series)):
        x = series[row]
        evicts = row >= window
        leaving = values[position]
        values[position] = x
        position = position + 1 if position + 1 < window else 0
        count = min(row + 1, window)
        if only == 0 or only == 1:
            sums[row], a_high, a_low, a_slack, a_specials = moving_sum(
                x, leaving, evicts, count, values, 0, scratch, 0,
                a_high, a_low, a_slack, a_specials)
        if only == 0 or only == 2 or only == 4:
            means[row], b_high, b_low, b_slack, b_specials = moving_mean(
                x, leaving, evicts, count, values, 0, scratch, 0,
                b_high, b_low, b_slack, b_specials)
        if only == 0 or only == 3 or only == 4:
            (deviations[row], center, s_high, s_low, s_slack, q_high, q_low, q_slack, specials
             ) = standard_deviation(
                x, leaving, evicts, count, values, 0, scratch, 0,
                center, s_high, s_low, s_slack, q_high, q_low, q_slack, specials)


@step
def run_sums(series, digits, sums):
    """The running sum of a series."""
    high, low, slack, specials = 0.0, 0.0, 0.0, 0
    for row in range(len(series)):
        sums[row], high, low, slack, specials = running_sum(
            series[row], digits, 3, high, low, slack, specials)


@step
def run_integer_sums(series, fits, sums):
    """The running sum of whole numbers."""
    high, low = 0, 0
    for row in range(len(series)):
        fits[row], sums[row], high, low = running_integer_sum(series[row], high, low)
'''

AGAIN = ("sum_again", "mean_again", "deviation_again")


class InterpretedLoop:
    """The loop as plain CPython on memoryviews; counts the rows that left the fast path."""

    def __init__(self):
        self.names = {name: value for module in MODULES for name, value in vars(module).items()}
        self.rebuilt = dict.fromkeys(AGAIN, 0)
        sources = [
            inspect.getsource(value)
            for value in self.names.values()
            if getattr(value, "is_step", False)
        ]
        exec("\n".join([*sources, LOOP]), self.names)  # noqa: S102 - our own source
        for name in AGAIN:
            self.names[name] = self.counted(name, self.names[name])
        self.run_windows = self.names["run_windows"]

    def counted(self, name, function):
        """The function, counting its calls."""

        def call(*arguments):
            self.rebuilt[name] += 1
            return function(*arguments)

        return call


def run_interpreted(interpreted, series, window):
    """Lists of sums, means and deviations from plain CPython."""
    buffers = [memoryview(array("d", bytes(8 * len(series)))) for _ in range(3)]
    scratch = memoryview(array("q", bytes(8 * digits.SCRATCH_DIGITS)))
    values = memoryview(array("d", bytes(8 * window)))
    interpreted.run_windows(memoryview(array("d", series)), window, values, scratch, *buffers, 0)
    return [list(buffer) for buffer in buffers]


def run_compiled(module, series, window, only=0):
    """Arrays of sums, means and deviations from the compiled loop."""
    buffers = [np.zeros(len(series)) for _ in range(3)]
    scratch = np.full(digits.SCRATCH_DIGITS, -77, dtype=np.int64)
    module.run_windows(
        np.array(series, dtype=float), window, np.zeros(window), scratch, *buffers, only
    )
    return [list(buffer) for buffer in buffers]


def wrong_rows(series, window, answers):
    """How many sums, means and deviations differ from the oracle in any bit."""
    wrong = [0, 0, 0]
    for row in range(len(series)):
        right = right_answers(series[max(0, row + 1 - window) : row + 1])
        for column in range(3):
            if bits(right[column]) != bits(answers[column][row]):
                wrong[column] += 1
                if sum(wrong) < 4:
                    print("WRONG", column, row, window, answers[column][row], right[column])
    return wrong


WINDOWS = (1, 2, 3, 7, 50)


def prove(rows=2400, seed=1):
    """Compare every kind with every window; print the table; return the number of wrong values."""
    module = compiled_module(extra=LOOP)
    all_windows, all_wrong = 0, 0
    print(f"{'kind':26} {'windows':>8} {'wrong sum, mean, deviation':>28}  rebuilt, %")
    for kind, make in KINDS.items():
        generator, interpreted = random.Random(f"{kind} {seed}"), InterpretedLoop()
        wrong, windows = [0, 0, 0], 0
        for window in WINDOWS:
            series = make(generator, rows)
            answers = run_compiled(module, series, window)
            twins = run_interpreted(interpreted, series, window)
            pairs = zip(answers, twins, strict=True)
            different = [list(map(bits, a)) != list(map(bits, b)) for a, b in pairs]
            found = wrong_rows(series, window, answers)
            wrong = [a + b + c for a, b, c in zip(wrong, found, different, strict=True)]
            windows += rows
        rates = " ".join(f"{100 * interpreted.rebuilt[name] / windows:8.3f}" for name in AGAIN)
        print(f"{kind:26} {windows:8} {wrong!s:>28} {rates}", flush=True)
        all_windows, all_wrong = all_windows + windows, all_wrong + sum(wrong)
    print(f"{all_windows} windows, {all_wrong} wrong")
    return all_wrong


if __name__ == "__main__":
    sys.exit(prove(int(sys.argv[1]) if len(sys.argv) > 1 else 2400) > 0)
