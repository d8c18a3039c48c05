"""A push of one row costs the same whether nothing waits in a queue or a million rows do.

A join whose first input is ahead: by nothing, or by a million rows that wait for the second. By
turns, one more row goes to the first input (and waits) and one to the second (and releases the row
that has waited longest), so that as many wait all the time. Inside the clock: one `push` of one
row, with its result. The median of all pushes of a kind, in CPU and wall time, both queues by
turns; `worst` in CPU time. Microseconds. Python's garbage collector is off: a full collection
walks every object of every library loaded here, which takes 50 ms in whatever push it falls on.

Then a join with keys, `push_one` to one of them, while 100,000 other keys wait, half of them for
each input: the median of loops over 500 messages to each input, per message.
"""

import gc
import time
from typing import Any

import numpy as np

from benchmarks.measure import Line, Report
from benchmarks.setups import join, walk

PUSHES = 2_000
TOLERATED = 1.25
OTHERS, TOLERATED_ONE = 100_000, 1.2
LOOPS, MESSAGES = 60, 500


class Queue:
    """A join whose first input is `waiting` rows ahead of the second, and what pushes took."""

    def __init__(self, kind: str, waiting: int) -> None:
        self.session = join(kind).start(queue_limit=10 * waiting + 10, compiled="now")
        self.waiting = waiting
        self.seconds: dict[str, list[tuple[float, float]]] = {"a": [], "b": []}
        if waiting:
            self.session.push({"a": {"t": np.arange(waiting), "value": walk(waiting)}})
        held = sum(self.session.held().values())
        assert held == waiting, held

    def push(self, place: int) -> None:
        """Push the next row of each input, each with a clock of its own."""
        for name, at in (("a", place + self.waiting), ("b", place)):
            table = {name: {"t": np.array([at]), "value": np.array([1.0])}}
            wall, cpu = time.perf_counter(), time.process_time()
            result = self.session.push(table)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            self.seconds[name].append((cpu, wall))
            assert len(result["x"]["t"]) == (name == "b")

    def took(self, name: str) -> Any:
        """Median CPU, median wall and worst CPU microseconds of a push to this input."""
        found = np.array(self.seconds[name][PUSHES // 10 :]) * 1e6
        return *np.median(found, axis=0), found[:, 0].max()


class OtherKeys:
    """A join by key of which `waiting` other keys wait, and what loops over one key took."""

    def __init__(self, waiting: int) -> None:
        self.session = join().start(key="k", compiled="now")
        self.waiting = waiting
        self.time = 0
        self.seconds: list[tuple[float, float]] = []
        keys = np.arange(1, waiting + 1)
        for name, part in (("a", keys[::2]), ("b", keys[1::2])):
            table = {"k": part, "t": np.zeros(len(part), np.int64), "value": walk(len(part))}
            self.session.push({name: table} if len(part) else {})
        held = sum(self.session.held().values())
        assert held == waiting, held

    def push(self) -> None:
        """Push messages of one key to both inputs by turns."""
        push_one = self.session.push_one
        wall, cpu = time.perf_counter(), time.process_time()
        for at in range(self.time, self.time + MESSAGES):
            push_one("a", at, 1.0, key=0)
            push_one("b", at, 2.0, key=0)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.time += MESSAGES
        self.seconds.append((cpu, wall))

    def took(self) -> Any:
        """Median CPU and wall microseconds of a message."""
        found = np.array(self.seconds[LOOPS // 10 :]) * 1e6 / (2 * MESSAGES)
        return np.median(found, axis=0)


def measure_other_keys(report: Report) -> None:
    """Measure `push_one` to a key while others wait."""
    case = "push_one, join with keys"
    if not report.wants(case):
        return
    sessions = [OtherKeys(waiting) for waiting in (0, OTHERS)]
    for _ in range(LOOPS):
        for session in sessions:
            session.push()
    without = sessions[0].took()[0]
    for session in sessions:
        line = Line(case, f"{session.waiting:,} other keys waiting", *session.took(), "us")
        if session.waiting:
            line.target = f"<= {TOLERATED_ONE} x"
            line.remark = f"{line.cpu / without:.2f} x the cost with none"
        report.add(line)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    names = {"a": "a row that waits", "b": "a row that releases one"}
    for kind in ("inner", "left"):
        queues = [Queue(kind, waiting) for waiting in (0, report.rows)]
        gc.collect()
        gc.disable()
        for place in range(PUSHES):
            for queue in queues:
                queue.push(place)
        gc.enable()
        for name, meaning in names.items():
            without = queues[0].took(name)
            for queue in queues:
                cpu, wall, worst = queue.took(name)
                line = Line(
                    f"{kind} join, {meaning}", f"{queue.waiting:,} waiting", cpu, wall, "us"
                )
                line.remark = f"worst {worst:.0f} us"
                if queue.waiting:
                    line.target = f"<= {TOLERATED} x"
                    line.remark = f"{cpu / without[0]:.2f} x the cost with none, {line.remark}"
                report.add(line)
    measure_other_keys(report)
    report.finish()


if __name__ == "__main__":
    main()
