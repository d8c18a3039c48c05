"""Sessions that several threads use at once: one of all, and one each of the same graph.

`python -m tests.threads` starts all of it so often as `--times` says and compares every key with
what one thread gets; `--interpreted` needs no compiler. Compiled code in two places of one session
may end the process: that is for no process of pytest.
"""

import argparse
import sys
import threading

import numpy as np

import rtbot

GRAPHS = {
    "direct": (["a"], {"o": {"type": "MovingAverage", "in": "a", "window": 3}}, ["o"]),
    "joined": (
        ["a", "b"],
        {
            "j": {"type": "Join", "in": ["a", "b"]},
            "o": {"type": "MovingSum", "in": "j.o2", "window": 3},
        },
        ["o"],
    ),
}
THREADS = 4
SINGLE, ROWS, TABLES = 60, 200, 6
"""Of every thread: messages, rows of a table and tables, by turns."""


def graph(name, window=3):
    inputs, operators, outputs = GRAPHS[name]
    operators = operators | {"o": operators["o"] | {"window": window}}
    document = {"name": f"threads-{name}-{window}", "operators": operators, "outputs": outputs}
    return rtbot.load(document | {"inputs": dict.fromkeys(inputs, "number")})


def together(*works):
    """Do all of it at once, a thread each; the first error is raised."""
    errors = []
    begin = threading.Barrier(len(works))

    def guarded(work):
        begin.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def feed(session, key, found):
    """Push all there is of a key, by one message and by tables; collects its rows."""
    inputs, time = list(session.specs), 0
    for _ in range(TABLES):
        for _ in range(SINGLE):
            for name in inputs:
                for output, rows in session.push_one(name, time, time / 4, key=key).items():
                    found.setdefault((key, output), []).extend(row[1:] for row in rows)
            time += 1
        times = np.arange(time, time + ROWS)
        table = {"k": [key] * ROWS, "t": times, "value": times / 4}
        for output, rows in session.push(dict.fromkeys(inputs, table)).items():
            pairs = zip(rows["t"].tolist(), rows["value"].tolist(), strict=True)
            found.setdefault((key, output), []).extend(pairs)
        time += ROWS


def watch(graph, session, done):
    """Dump, resume and count meanwhile."""
    while not done.is_set():
        whole = graph.resume(session.dump(), compiled=False)
        assert whole.account()["inputs"].keys() == session.account()["inputs"].keys()
        session.held(), session.frontiers([np.arange(2)])


def one_session(name, *, compiled):
    """Let several threads feed one session while another one dumps it."""
    used = graph(name)
    right, found = {}, {}
    for key in range(THREADS):
        feed(used.start("k", compiled=compiled), key, right)
    session, done = used.start("k", compiled=compiled), threading.Event()
    left = list(range(THREADS))

    def feeding(key):
        try:
            feed(session, key, found)
        finally:
            left.remove(key)
            if not left:
                done.set()

    works = [lambda key=key: feeding(key) for key in range(THREADS)]
    together(*works, lambda: watch(used, session, done))
    assert found == right, f"{name}: {THREADS} threads in one session get other rows than one"
    counts = session.account()["inputs"]["a"]
    assert counts["in"] == THREADS * TABLES * (SINGLE + ROWS), counts


def many_sessions(name, window, *, compiled):
    """Let several threads run a graph that nobody has run before."""
    times = np.arange(500)
    used, found = graph(name, window), []
    data = {n: {"t": times, "value": times / 4} for n in used.checked.inputs}

    def work():
        result = used.run(data, compiled=compiled)
        found.append({n: (t["t"].tolist(), t["value"].tolist()) for n, t in result.items()})

    together(*[work] * THREADS)
    work()
    assert all(one == found[-1] for one in found), f"{name}: threads with a session each differ"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--new", type=int, default=1, help="how many graphs nobody has run before")
    parser.add_argument("--interpreted", action="store_true")
    options = parser.parse_args(arguments)
    compiled = not options.interpreted
    sys.setswitchinterval(1e-5)
    for number in range(options.new):
        for name in GRAPHS:
            many_sessions(name, number + 3, compiled=compiled)
    print(f"one session each, {options.new} times: right", flush=True)
    for name in GRAPHS:
        for _ in range(options.times):
            one_session(name, compiled=compiled)
        print(f"one session of all, {name}, {options.times} times: right", flush=True)


if __name__ == "__main__":
    main()
