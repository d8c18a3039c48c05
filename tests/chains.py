"""Pairings behind pairings, fed by `push_one` alone and by `push` of the same rows one by one.

`python -m tests.chains` feeds the graphs below and random ones compiled, compares what came out of
both paths, and prints what was done; with NUMBA_BOUNDSCHECK=1 an index beyond an array is an error
(see tests/runtime/test_push_one.py). `--times` repeats it with other rows, `--interpreted` needs no
compiler.
"""

import argparse
import itertools
import os
import random

import numpy as np

import rtbot
from rtbot.compiler import jit
from rtbot.compiler.calls import RetimeCall
from rtbot.runtime.push_one import to_rows
from tests.generate import case
from tests.harness import Feeder, compare, compute_expected, load, to_bits


def joined(how, *refs):
    return {"type": "Join", "in": list(refs), "how": how}


def merged(*refs, ties="first"):
    return {"type": "Merge", "in": list(refs), "ties": ties}


def asked(value, query):
    return {"type": "Variable", "in": value, "control": query}


CHAINS = {
    "merge of merge": {"m": merged("a", "b"), "o": merged("m", "c")},
    "merge of merge of merge": {
        "m": merged("a", "b"),
        "n": merged("m", "c"),
        "o": merged("n", "a", ties="sum"),
    },
    "outer of outer": {"j": joined("outer", "a", "b"), "o": joined("outer", "j.o1", "c")},
    "inner of outer": {"j": joined("outer", "a", "b"), "o": joined("inner", "j.o1", "j.o2", "c")},
    "merge of variable": {"v": asked("a", "b"), "o": merged("v", "c")},
    "merge of as-of": {"j": joined("asof", "a", "b"), "o": merged("j.o1", "c")},
    "outer of left": {"j": joined("left", "a", "b"), "o": joined("outer", "j.o1", "c")},
    "variable of merge": {"m": merged("a", "b"), "o": asked("c", "m")},
    "windows between": {
        "m": merged("a", "b"),
        "s": {"type": "MovingSum", "in": "m", "window": 2},
        "o": merged("s", "c"),
    },
}
INPUTS = ("a", "b", "c")


def chain(name):
    """The graph of that name; its last operator's first port is the output."""
    operators = CHAINS[name]
    out = "o" if operators["o"]["type"] != "Join" else "o.o1"
    inputs = dict.fromkeys(INPUTS, "number")
    document = {"name": name.replace(" ", "-"), "inputs": inputs, "operators": operators}
    return rtbot.load(document | {"outputs": {"o": out}})


def messages(seed, keys=(None,), times=60):
    """Messages of inputs that fall silent and catch up by turns: [(input, time, value, key)]."""
    rng = random.Random(seed)
    coming = {
        (name, key): sorted(rng.sample(range(2 * times), times)) for name in INPUTS for key in keys
    }
    found = []
    while coming:
        name, key = place = rng.choice(list(coming))
        count = rng.choice([1, 3, times // 2, times])
        now, later = coming[place][:count], coming[place][count:]
        found += [(name, time, time + INPUTS.index(name) / 8, key) for time in now]
        coming[place] = later
        if not later:
            del coming[place]
    return found


def silence(last, count, keys=(None,)):
    """Messages of which those of one input come last, behind `count` of each other one."""
    found = []
    for key in keys:
        for place, name in enumerate(name for name in INPUTS if name != last):
            found += [(name, 2 * n + place, 2 * n + place / 8, key) for n in range(count)]
        found += [(last, time, time / 4, key) for time in (1, 4, 2 * count, 2 * count + 100)]
    return found


def both_roads(graph, fed, *, keyed=False, compiled=False):
    """What comes out by `push_one`, and by pushes of one row: ({output: rows}, account) of each."""
    answers = []
    for one in (True, False):
        session = graph.start("k" if keyed else (), compiled=compiled)
        found = {name: [] for name in graph.checked.outputs}
        for name, time, value, key in fed:
            if one:
                released = session.push_one(name, time, value, **({"key": key} if keyed else {}))
            else:
                row = {"t": [time], "value": [value]} | ({"k": [key]} if keyed else {})
                released = to_rows(session.push({name: row}), session.key)
            for output, rows in released.items():
                found[output] += rows
        answers.append((repr(found), session.account()))
    return answers


def check_chain(graph, seed, *, compiled):
    """Compare the two roads in rows that wait in many ways."""
    for keys in ((None,), ("x", "y")):
        many = [messages(f"{graph.checked.name}/{seed}", keys)]
        many += [silence(last, count + seed, keys) for last in INPUTS for count in (12, 13, 40)]
        for fed in many:
            one, whole = both_roads(graph, fed, keyed=len(keys) > 1, compiled=compiled)
            assert one == whole, f"{fed}: {one} is not {whole}"


def random_case(seed):
    """A case of nothing but messages, one at a time; None where `push` takes them all the same."""
    found = case(seed, most=6)
    if found.document.get("io"):
        return None
    graph = load(found.document)
    if (
        any(isinstance(call, RetimeCall) for call in graph.plan().calls)
        or not graph.plan().pairings
    ):
        return None
    return found


def check_random(found, *, compiled):
    """Compare what comes out of a random case with the oracle."""
    graph = load(found.document)
    feeder = Feeder(graph, found, compiled=compiled)
    feeder.run([("one", number) for number in range(len(found.rows))])
    names = list(found.document["outputs"])
    compare(feeder.outputs(), to_bits(compute_expected(found), names), "push_one")


def check_bounds():
    """Fail unless compiled code finds an index beyond its array."""
    beyond = jit.load_compiled("def beyond(array, place):\n    return array[place]\n").beyond
    assert beyond(np.zeros(2), 1) == 0
    try:
        beyond(np.zeros(2), 2)
    except IndexError:
        print("bounds are checked", flush=True)
    else:
        raise AssertionError("bounds are not checked")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1, help="how often, each with other rows")
    parser.add_argument("--random", type=int, default=2, help="how many random graphs")
    parser.add_argument("--chains", nargs="*", default=list(CHAINS), help="graphs by name")
    parser.add_argument("--interpreted", action="store_true")
    options = parser.parse_args(arguments)
    compiled = not options.interpreted
    if os.environ.get("NUMBA_BOUNDSCHECK"):
        check_bounds()
    for name in options.chains:
        graph = chain(name)
        for seed in range(options.times):
            check_chain(graph, seed, compiled=compiled)
        print(f"{name}: right", flush=True)
    cases = filter(None, (random_case(f"chains/{number}") for number in itertools.count()))
    for number, found in zip(range(options.random), cases, strict=False):
        check_random(found, compiled=compiled)
        print(f"random graph {number}: right", flush=True)


if __name__ == "__main__":
    main()
