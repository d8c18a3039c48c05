"""A session that gets no memory: what it answers, and that an earlier dump goes on from there.

`python -m tests.memory_limits`; not in a process of pytest, since it forks.
"""

import os
import resource
from pathlib import Path

import numpy as np

import rtbot

GRAPH = {
    "inputs": {"a": "number", "b": "number"},
    "operators": {
        "pair": {"type": "Join", "in": ["a", "b"]},
        "mean": {"type": "MovingAverage", "in": "pair.o1", "window": 3},
    },
    "outputs": {"mean": "mean", "other": "pair.o2"},
}
ROWS = 2_000_000
ENDINGS = WHOLE, REFUSED, BROKEN, WRONG = "whole", "refused", "broken", "wrong"
"""How a child ends; anything else is a crash, told as its exit code."""


def columns(start, count=ROWS):
    return {"t": np.arange(start, start + count), "value": np.arange(count) / 7}


def limit_memory(megabytes):
    """Allow so much more memory than there is now."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    size = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmSize"))
    limit = (size << 10) + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def lift_limit():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def push_with(megabytes):
    """Push two large tables; returns how it ended, after a look at what is left."""
    graph = rtbot.load(GRAPH)
    session = graph.start(compiled=True)
    session.push({"a": columns(0, 10), "b": columns(0, 10)})
    blob, given = session.dump(), {"a": columns(10), "b": columns(10)}
    limit_memory(megabytes)
    ended = WHOLE
    try:
        found = session.push(given).digest()
    except MemoryError:
        ended = REFUSED
    lift_limit()
    if ended == REFUSED:
        try:
            found = session.push(given).digest()
        except rtbot.StateError as error:
            assert error.code == "RT302"
            ended = BROKEN
            found = graph.resume(blob, compiled=True).push(given).digest()
    right = graph.resume(blob, compiled=True).push(given).digest()
    return ended if found == right else WRONG


def in_a_child(megabytes):
    """How a process ends that pushes with so much memory."""
    child = os.fork()
    if not child:
        code = 70
        try:
            code = ENDINGS.index(push_with(megabytes))
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return ENDINGS[code] if 0 <= code < len(ENDINGS) else str(code)


def main():
    """Print how pushes end that get so many megabytes: few, more, and plenty."""
    rtbot.load(GRAPH).run({"a": columns(0, 9), "b": columns(0, 9)}, compiled=True)
    print(*(in_a_child(megabytes) for megabytes in (*range(0, 240, 24), 4000)))


if __name__ == "__main__":
    main()
