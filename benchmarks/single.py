"""One message at a time through `push_one`, and small batches through `push`.

Inside the clock: a Python loop over messages that lie ready, each with the call and the result it
returns. Windows are full before the clock starts. Messages of a join go to its inputs by turns. A
resampler, which has times of its own, gets a message every second and gives one every five.
Before the clock: input lists and arrays, compilation. Millions of messages (rows) per second.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Line, Report, best
from benchmarks.setups import SEED, bollinger, bollinger_of_join, join, moving, resampled, walk

MESSAGES = 50_000
KEYS = 1_000
FILL = 100
BATCHES = (1, 16, 256, 4096)


class Messages:
    """A session and its next messages; `key` names make it a keyed one."""

    def __init__(self, graph: Any, inputs: tuple[str, ...], names: list[Any] | None = None) -> None:
        self.session = graph.start(key="k" if names else None, compiled="now")
        self.inputs, self.names = inputs, names
        self.generator = np.random.default_rng(SEED)
        self.time = 0
        for key in names or [None]:
            for time in range(FILL):
                for name in inputs:
                    self.session.push_one(name, time, 1.0 + time % 7, key=key)
        self.time = FILL

    def prepare(self) -> tuple[Any, ...]:
        """Return the next messages, as tuples of arguments."""
        each = MESSAGES // len(self.inputs)
        times = range(self.time, self.time + each)
        self.time += each
        values = walk(each).tolist()
        if self.names:
            keys = [self.names[i] for i in self.generator.integers(0, len(self.names), each)]
            return (list(zip(times, values, keys, strict=True)),)
        return (list(zip(times, values, strict=True)),)

    def run(self) -> Callable[[Any], None]:
        """Return the loop that is measured."""
        push_one = self.session.push_one

        def keyed(messages: Any) -> None:
            for time, value, key in messages:
                push_one("price", time, value, key=key)

        def alone(messages: Any) -> None:
            for time, value in messages:
                push_one("price", time, value)

        def both(messages: Any) -> None:
            for time, value in messages:
                push_one("a", time, value)
                push_one("b", time, value)

        return keyed if self.names else both if len(self.inputs) == 2 else alone


def batches(size: int, runs: int) -> tuple[float, float]:
    """CPU and wall seconds per row for Bollinger, pushed in batches of this size."""
    session = bollinger().start(compiled="now")
    count = max(20, min(2_000, 1_000_000 // size))
    values, start = walk(size), 0

    def prepare() -> tuple[Any]:
        nonlocal start
        tables = []
        for _ in range(count):
            tables.append({"price": {"t": np.arange(start, start + size), "value": values}})
            start += size
        return (tables,)

    def run(tables: Any) -> None:
        for table in tables:
            session.push(table)

    run(*prepare())
    cpu, wall = best(run, prepare, runs)
    return cpu / (count * size), wall / (count * size)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    keys = list(range(KEYS))
    for case, messages, target in (
        ("push_one, MovingAverage", Messages(moving("MovingAverage"), ("price",)), ">= 0.8"),
        ("push_one, Bollinger", Messages(bollinger(), ("price",)), ">= 0.5"),
        (f"push_one, Bollinger, {KEYS:,} keys", Messages(bollinger(), ("price",), keys), ""),
        ("push_one, Join", Messages(join(), ("a", "b")), ""),
        ("push_one, Bollinger of join", Messages(bollinger_of_join(), ("a", "b")), ""),
        ("push_one, mean of resampled", Messages(resampled(), ("price",)), ">= 0.2"),
    ):
        cpu, wall = best(messages.run(), messages.prepare, report.runs)
        rates = [MESSAGES / seconds / 1e6 for seconds in (cpu, wall)]
        report.add(Line(case, "rtbot", *rates, unit="M msg/s", target=target))
    for size in BATCHES:
        rates = [1 / seconds / 1e6 for seconds in batches(size, report.runs)]
        report.add(Line(f"push of {size}, Bollinger", "rtbot", *rates))
    report.finish()


if __name__ == "__main__":
    main()
