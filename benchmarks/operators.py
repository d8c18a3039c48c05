"""Every operator of series, alone in a graph: batches of 1, 256 and 8,192 rows, keys, long windows.

The operators come from the registry, with the parameters of their examples and windows of 50.
Inside the clock: `push` of batches that lie ready into a running session whose windows are full,
with checks and complete result arrays. Several inputs have the same times; a row is one of each.
With keys: 1,000 of them, each with a row per time, in random order within a time. Before the clock:
arrays, compilation, filling. CPU time, M rows per second, the best of several runs; `<` marks what
is below 5 at 8,192 rows.

The second table has the operators that remember a number of messages, at 8,192 rows per batch, for
three lengths: the cost of a row should not depend on the length.
"""

from collections.abc import Iterator

import numpy as np

import rtbot
from benchmarks.measure import Line, Report, best, pivot
from benchmarks.setups import SEED, WINDOW, walk
from rtbot.operator import REGISTRY, Operator, Parameter
from rtbot.operator.relation import Relation

SIZES = (1, 256, 8_192)
LARGEST = SIZES[-1]
KEYS = 1_000
LENGTHS = (10, 1_000, 100_000)
LEAST = 5
"""M rows per second at 8,192 rows per batch."""
ROWS, PUSHES = 1 << 17, 400
"""The most rows and the most pushes of a run."""
FILLING = 1 << 16
KEYED = f"{KEYS:,} keys"


def list_operators() -> list[type[Operator]]:
    """Return the operators of series by name, each once."""
    found = {
        cls.__name__: cls
        for cls in REGISTRY.values()
        if cls.__module__.startswith("rtbot.operators.") and not issubclass(cls, Relation)
    }
    return [found[name] for name in sorted(found)]


def find_window(cls: type[Operator]) -> Parameter | None:
    """Return the parameter that says how many messages the operator remembers, if there is one."""
    sizes = [str(getattr(item, "size", "")) for item in cls.state.values()]
    found = [cls.parameters[name] for name in ("window", *sizes) if name in cls.parameters]
    example = cls.example.parameters if cls.example else {}
    return next((one for one in found if isinstance(example.get(one.name), int)), None)


class Setting:
    """A session of one operator, and tables for all its inputs, each later than all before."""

    def __init__(self, cls: type[Operator], window: int = WINDOW, *, keyed: bool = False) -> None:
        assert cls.example is not None, f"{cls.__name__} has no example"
        ports = list(cls.example.inputs)
        parameters = dict(cls.example.parameters)
        sized = find_window(cls)
        if sized is not None:
            parameters[sized.name] = window | 1 if getattr(sized, "odd", False) else window
        self.kinds = {f"x_{port}": find_kind(cls, port) for port in ports}
        operator = {"type": cls.__name__, "in": {port: f"x_{port}" for port in ports}}
        graph = {
            "inputs": self.kinds,
            "operators": {"m": operator | parameters},
            "outputs": {port: f"m.{port}" for port in cls.example.outputs},
        }
        self.keyed = keyed
        self.session = rtbot.load(graph).start(key="k" if keyed else None, compiled="now")
        self.generator = np.random.default_rng(SEED)
        self.time = 0
        filling = max(FILLING, 2 * window) if not keyed else (WINDOW + 1) * KEYS
        self.run([self.make_batch(min(filling, LARGEST)) for _ in range(-(-filling // LARGEST))])

    def make_batch(self, rows: int) -> dict[str, dict[str, np.ndarray]]:
        """Return the next table of every input."""
        shared = {"t": np.arange(self.time, self.time + rows)}
        if self.keyed:
            laps = -(-rows // KEYS)
            orders = [self.generator.permutation(KEYS) for _ in range(laps)]
            shared = {"k": np.concatenate(orders)[:rows]}
            shared["t"] = self.time + np.arange(rows) // KEYS
            self.time += laps
        else:
            self.time += rows
        return {
            name: shared | {"value": make_values(kind, rows, self.generator)}
            for name, kind in self.kinds.items()
        }

    def run(self, batches: list[dict[str, dict[str, np.ndarray]]]) -> None:
        """Push batches, one after the other."""
        push = self.session.push
        for batch in batches:
            push(batch)

    def measure(self, size: int, runs: int) -> tuple[float, float]:
        """M rows per CPU second and per second, in batches of this size."""
        count = min(PUSHES, ROWS // size)
        prepare = lambda: ([self.make_batch(size) for _ in range(count)],)  # noqa: E731
        cpu, wall = best(self.run, prepare, runs)
        return count * size / cpu / 1e6, count * size / wall / 1e6


def find_kind(cls: type[Operator], port: str) -> str:
    """Return the type of the input at a port; where it may be any it is a number."""
    kind = cls.port(port).kind
    return "number" if kind in ("T", "N") else kind


def make_values(kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    """Return values of a type: prices that wander, integers up to 1,000, one of ten words."""
    if kind == "number":
        return walk(rows)
    if kind == "boolean":
        return generator.random(rows) < 1 / 2
    whole = generator.integers(0, 1_000, rows)
    return whole if kind == "integer" else np.array([f"word {n % 10}" for n in whole], object)


def measure_sizes(report: Report, cls: type[Operator]) -> Iterator[Line]:
    """Measure an operator in batches of all sizes, then with keys."""
    name = cls.__name__
    setting = Setting(cls)
    for size in SIZES:
        yield Line(name, f"{size:,}", *setting.measure(size, report.runs))
    yield Line(name, KEYED, *Setting(cls, keyed=True).measure(LARGEST, report.runs))


def measure_lengths(report: Report, cls: type[Operator]) -> Iterator[Line]:
    """Measure an operator with windows of all lengths."""
    for length in LENGTHS:
        rates = Setting(cls, length).measure(LARGEST, report.runs)
        yield Line(cls.__name__, f"window {length:,}", *rates)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    operators = [cls for cls in list_operators() if report.wants(cls.__name__)]
    for cls in operators:
        for line in measure_sizes(report, cls):
            report.add(line)
    for cls in operators:
        for line in measure_lengths(report, cls) if find_window(cls) else ():
            report.add(line)
    slow = {
        line.case
        for line in report.lines
        if line.who == f"{LARGEST:,}" and line.cpu is not None and line.cpu < LEAST
    }
    sizes = pivot(report.lines, [*(f"{size:,}" for size in SIZES), KEYED], slow)
    lengths = pivot(report.lines, [f"window {length:,}" for length in LENGTHS])
    report.finish(f"{sizes}\n\n{lengths}" if any(map(find_window, operators)) else sizes)


if __name__ == "__main__":
    main()
