"""Every operator of series, alone in a graph: batches of 1, 256 and 8,192 rows, keys, long windows.

The operators come from the registry, with the parameters of their examples and windows of 50.
Inside the clock: `push` of batches that lie ready into a running session whose windows are full,
with checks and complete result arrays. Several inputs have the same times; a row is one of each.
With keys: 1,000 of them, each with a row per time, in random order within a time. `push_one`: a
loop over messages that lie ready, to all inputs by turns; a message is one of them. Windows that
may be of time are also measured so, with as many messages. Before the clock: arrays, compilation,
filling. CPU time, M rows (messages) per second, the best of several runs. The tables are those of
docs/speed-of-operators.md, below them what is slower than is to be.

The second table has the operators that remember a number of messages, at 8,192 rows per batch, for
three lengths: the cost of a row should not depend on the length.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import rtbot
from benchmarks.measure import Line, Report, best, pivot
from benchmarks.setups import SEED, WINDOW, walk
from rtbot.operator import REGISTRY, Operator, Parameter, WindowLength
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
TIMED = ", window of time"
KEYED = f"{KEYS:,} keys"
ONE, MESSAGES = "push_one", 10_000
LEAST_ONE = 0.2
"""M messages per second by `push_one`."""
HEADS = {f"{size:,}": f"{size:,}" for size in SIZES}
HEADS |= {KEYED: f"{LARGEST:,}, {KEYED}", ONE: "`push_one`"}


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


def costs_the_same(cls: type[Operator]) -> bool:
    """Return whether a row should cost the same however many messages the operator remembers.

    What gives as many at every message cannot.
    """
    repeats = any(port.repeats for port in cls.outputs.values())
    return find_window(cls) is not None and not repeats


class Setting:
    """A session of one operator, and tables for all its inputs, each later than all before."""

    def __init__(
        self,
        cls: type[Operator],
        window: int = WINDOW,
        *,
        keyed: bool = False,
        timed: bool = False,
    ) -> None:
        assert cls.example is not None, f"{cls.__name__} has no example"
        ports = list(cls.example.inputs)
        parameters = dict(cls.example.parameters)
        sized = find_window(cls)
        if sized is not None:
            count = window | 1 if getattr(sized, "odd", False) else window
            parameters[sized.name] = f"{count}ns" if timed else count
        self.kinds = {f"x_{port}": find_kind(cls, port) for port in ports}
        operator = {"type": cls.__name__, "in": {port: f"x_{port}" for port in ports}}
        graph = {
            "inputs": self.kinds,
            "operators": {"m": operator | parameters},
            "outputs": {port: f"m.{port}" for port in cls.example.outputs},
            "io": {"unit": "ns"},
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

    def measure_one(self, runs: int) -> tuple[float, float]:
        """M messages per CPU second and per second by `push_one`, to all inputs by turns."""

        def run(messages: list[tuple[str, int, Any]]) -> None:
            push_one = self.session.push_one
            for name, time, value in messages:
                push_one(name, time, value)

        prepare = lambda: (self.make_messages(MESSAGES),)  # noqa: E731
        run(*prepare())
        cpu, wall = best(run, prepare, runs)
        count = MESSAGES * len(self.kinds)
        return count / cpu / 1e6, count / wall / 1e6

    def make_messages(self, times: int) -> list[tuple[str, int, Any]]:
        """Return the next messages of all inputs, in order of time."""
        tables = self.make_batch(times)
        columns = {name: table["value"].tolist() for name, table in tables.items()}
        order = next(iter(tables.values()))["t"].tolist()
        return [(n, t, columns[n][place]) for place, t in enumerate(order) for n in tables]


def find_kind(cls: type[Operator], port: str) -> str:
    """Return the type of the input at a port; where it may be any it is a number."""
    kind = cls.port(port).kind
    if kind == "vector":
        assert cls.example is not None, f"{cls.__name__} has no example"
        return f"vector[{len(cls.example.inputs[port][0][1])}]"
    return "number" if kind in ("T", "N") else kind


def make_values(kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    """Return values of a type: prices that wander, integers up to 1,000, one of ten words."""
    if kind == "number":
        return walk(rows)
    if kind.startswith("vector"):
        width = int(kind.removeprefix("vector[").removesuffix("]"))
        return walk(rows * width).reshape(rows, width)
    if kind == "boolean":
        return generator.random(rows) < 1 / 2
    whole = generator.integers(0, 1_000, rows)
    return whole if kind == "integer" else np.array([f"word {n % 10}" for n in whole], object)


def measure_sizes(report: Report, cls: type[Operator], *, timed: bool) -> Iterator[Line]:
    """Measure an operator in batches of all sizes, then with keys, then by single messages."""
    name = f"{cls.__name__}{TIMED if timed else ''}"
    setting = Setting(cls, timed=timed)
    for size in SIZES:
        yield Line(name, f"{size:,}", *setting.measure(size, report.runs))
    yield Line(name, KEYED, *Setting(cls, keyed=True, timed=timed).measure(LARGEST, report.runs))
    yield Line(name, ONE, *setting.measure_one(report.runs), unit="M msg/s")


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
        for timed in (False, True) if isinstance(find_window(cls), WindowLength) else (False,):
            for line in measure_sizes(report, cls, timed=timed):
                report.add(line)
    for cls in operators:
        for line in measure_lengths(report, cls) if costs_the_same(cls) else ():
            report.add(line)
    text = pivot(report.lines, HEADS, "rows per batch")
    windows = {f"window {length:,}": f"{length:,}" for length in LENGTHS}
    if any(map(costs_the_same, operators)):
        text += "\n\n" + pivot(report.lines, windows, "window")
    for who, least in ((f"{LARGEST:,}", LEAST), (ONE, LEAST_ONE)):
        found = [line for line in report.lines if line.who == who and (line.cpu or least) < least]
        if found:
            text += f"\n\nBelow {least} at {who}: {', '.join(line.case for line in found)}"
    report.finish(text)


if __name__ == "__main__":
    main()
