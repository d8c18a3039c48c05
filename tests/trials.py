"""What cases are put to besides their schedules: refused pushes, keys that come back, threads."""

import dataclasses
import random
import sys
import threading

import rtbot
from rtbot.compare.schedules import interleave_rows
from tests.families import copies, unseen
from tests.harness import Feeder, Mismatch, compare
from tests.oracles.streams import INT64_LEAST, INT64_MOST
from tests.refusals import NO_VALUES, value_of

ROUNDS = 3
GROWTH = 300
"""Bytes by which counters may be longer in a later dump."""
SHARE = 0.4
"""How often a step of a schedule is followed by something that must be refused."""
RESTORED = 0.1
SWITCH = 1e-6
"""Seconds after which the interpreter may let another thread go on."""


def tried(checked, *, compiled=False):
    """Run the trials of a case."""
    for name in checked.case.trials:
        TRIALS[name](checked, random.Random(f"{checked.case.name}/{name}"), compiled=compiled)


# ---- keys that are closed and come back


def again(checked, rng, *, compiled):
    """A key that was closed begins anew: the same rows give the same bits, once for every time."""
    case, news = checked.case, {}
    if not case.keys:
        return
    rows = list(case.rows)
    for number, key in enumerate(dict.fromkeys(row.key for row in rows)):
        news[key] = unseen(case, number) if rng.random() < 0.4 else key
    longer = dataclasses.replace(case, rows=[*rows, *copies(rows, news)])
    feeder = Feeder(checked.graph, longer, compiled=compiled)
    right = {name: dict(keys) for name, keys in checked.right.items()}
    sizes = []
    for turn in range(ROUNDS):
        first = len(rows) * (turn % 2)
        _fed_and_closed(checked, feeder, rng, range(first, first + len(rows)))
        sizes.append(len(feeder.session.dump()))
    for keys in right.values():
        for key, found in list(keys.items()):
            times = ROUNDS if news.get(key) == key else ROUNDS - 1
            keys[key] = found * times
            if news.get(key) != key:
                keys[news[key]] = found
    if feeder.session.held():
        raise Mismatch(f"all keys are closed, and rows wait: {feeder.session.held()}")
    if sizes[2] > sizes[0] + GROWTH:
        raise Mismatch(f"closed keys are kept: dumps without a key grow, {sizes} bytes")
    feeder.step(("advance", INT64_MOST, None))
    feeder.run([])
    compare(feeder.outputs(), right, "keys closed and back")
    _adds_up(feeder.session.account(), "keys closed and back")


def _fed_and_closed(checked, feeder, rng, numbers):
    """Feed rows in a random order and close every key, some at once and some at the end."""
    rows = [feeder.case.rows[number] for number in numbers]
    order = [numbers[place] for place in interleave_rows(rng, rows, rng.choice(["random", "keys"]))]
    left, open_keys, at_once = {}, [], rng.random()
    for row in rows:
        left[row.key] = left.get(row.key, 0) + 1
    least = min((row.time for row in rows), default=INT64_LEAST)
    while order:
        size = rng.choice([1, 1, 2, 6])
        batch, order = order[:size], order[size:]
        feeder.step(("one", batch[0]) if size == 1 else ("push", batch))
        for number in batch:
            key = feeder.case.rows[number].key
            left[key] -= 1
            if not left[key] and rng.random() < at_once:
                _closed(checked, feeder, key)
            elif not left[key]:
                open_keys.append(key)
        if rng.random() < RESTORED:
            feeder.step(("dump",))
    _all_closed(checked, feeder, rng, open_keys)
    checked.coverage["closed keys across a restore"] += len(left)
    if rng.random() < 0.5 and least > INT64_LEAST:
        feeder.step(("advance", least - 1, None))
        checked.coverage["advance behind closed keys"] += 1


def _all_closed(checked, feeder, rng, open_keys):
    """Close what is open yet, with restores between and behind."""
    rng.shuffle(open_keys)
    for key in open_keys:
        _closed(checked, feeder, key)
        if rng.random() < RESTORED:
            feeder.step(("dump",))
    feeder.step(("dump",))


def _closed(checked, feeder, key):
    feeder.step(("close", key))
    checked.coverage["key closed"] += 1


def _adds_up(account, what):
    for place, ports in (account["operators"] | {"inputs": account["inputs"]}).items():
        for port, entry in ports.items():
            lost = sum(entry["lost"].values())
            if entry["in"] != entry["consumed"] + entry["held"] + lost or entry["consumed"] < 0:
                raise Mismatch(f"{what}: account of {place}.{port} does not add up: {entry}")


# ---- what is refused leaves nothing


def refusals(checked, rng, *, compiled):
    """What is refused between the steps of a schedule changes neither the dump nor the answer."""
    feeder = Feeder(checked.graph, checked.case, compiled=compiled)
    floors = dict.fromkeys(feeder.kinds, INT64_LEAST)
    for number, step in enumerate(checked.case.schedules[-1]):
        if step[0] != "close":
            feeder.step(step)
        if step[0] == "advance":
            for name in floors if step[2] is None else [step[2]]:
                floors[name] = max(floors[name], step[1])
        if rng.random() < SHARE:
            _refused(checked, feeder, Wrong(rng, feeder, floors, number))
            name = rng.choice(sorted(floors))
            if floors[name] > INT64_LEAST:
                feeder.step(("advance", floors[name], name))
                checked.coverage["refused, then advance"] += 1
    feeder.run([])
    compare(feeder.outputs(), checked.right, "with refused pushes")
    _adds_up(feeder.session.account(), "with refused pushes")


def _refused(checked, feeder, wrong):
    """Do one thing that must be refused, and compare what is saved before and behind it."""
    before = feeder.session.dump()
    what = wrong.rng.choice(sorted(WRONGS))
    act = WRONGS[what](wrong)
    if act is None:
        return
    try:
        act()
    except rtbot.RtbotError:
        checked.coverage[f"wrong {what}"] += 1
    else:
        raise Mismatch(f"{what} was not refused")
    if (after := feeder.session.dump()) != before:
        raise Mismatch(f"{what} was refused, and the dump has {len(after)}, not {len(before)}")


class Wrong:
    """What wrong pushes are made of: unseen keys, times at the floor of an input and behind it."""

    def __init__(self, rng, feeder, floors, number):
        self.rng, self.feeder, self.floors = rng, feeder, floors
        self.session, self.case = feeder.session, feeder.case
        self.name = rng.choice(sorted(floors))
        self.kind, self.floor = feeder.kinds[self.name], floors[self.name]
        self.number = 100 * number
        self.count = rng.choice([1, 2, 5, 40])

    def keys(self, count):
        """So many keys that the session has not seen."""
        return [unseen(self.case, self.number + place) for place in range(count)]

    def table(self, keys, times, values):
        """A table of the input."""
        columns = dict(zip(self.case.keys, map(list, zip(*keys, strict=True)), strict=True))
        return {self.name: columns | {"t": times, "value": values}}

    def values(self, count):
        """Values of the input that nobody has seen before, if it is of texts."""
        if self.kind == "text":
            return [f"text {self.number + place}" for place in range(count)]
        return [value_of(self.kind)] * count

    def push(self, *columns):
        """A push of a table, with rows of another input beside it."""
        given = self.table(*columns)
        other = next((name for name in sorted(self.floors) if name != self.name), None)
        if other is not None and self.floors[other] < INT64_MOST and self.rng.random() < 0.5:
            value = value_of(self.feeder.kinds[other])
            (key,) = self.keys(1)
            row = {name: [cell] for name, cell in zip(self.case.keys, key, strict=True)}
            given[other] = row | {"t": [self.floors[other] + 1], "value": [value]}
        return lambda: self.session.push(given)

    @property
    def strict(self):
        """Whether late rows are refused, and some would be late."""
        late = self.case.document.get("io", {}).get("late", "error")
        return late == "error" and INT64_LEAST < self.floor < INT64_MOST


def _late_one(wrong):
    (key,) = wrong.keys(1)
    (value,) = wrong.values(1)
    bare = {"key": key[0] if len(key) == 1 else key} if key else {}
    if wrong.strict:
        return lambda: wrong.session.push_one(wrong.name, wrong.floor, value, **bare)
    return None


def _late_table(wrong, keys=None):
    if not wrong.strict:
        return None
    keys = keys or wrong.keys(wrong.count)
    times = [wrong.floor + 1 + (not wrong.case.keys) * n for n in range(len(keys))]
    if times[-1] > INT64_MOST:
        return None
    times[wrong.rng.randrange(len(keys))] = wrong.floor
    return wrong.push(keys, times, wrong.values(len(keys)))


def _value(wrong):
    if wrong.floor == INT64_MOST:
        return None
    keys = wrong.keys(wrong.count)
    values = [*wrong.values(wrong.count)[1:], NO_VALUES.get(wrong.kind, "x")]
    return wrong.push(keys, [wrong.floor + 1] * wrong.count, values)


def _mixed_keys(wrong):
    if not wrong.case.keys:
        return None
    keys = [*wrong.keys(wrong.count), *wrong.keys(1)]
    other = 5 if isinstance(keys[-1][-1], str) else "five"
    keys[-1] = (*keys[-1][:-1], other)
    times = [min(wrong.floor, INT64_MOST - 1) + 1] * len(keys)
    return wrong.push(keys, times, wrong.values(len(keys)))


def _null_key(wrong):
    if not wrong.case.keys:
        return None
    null = tuple(None for _ in wrong.case.keys)
    return _late_table(wrong, [null, *wrong.keys(wrong.count)])


def _other_key(wrong):
    if not wrong.case.keys or not wrong.feeder.done:
        return None
    (key,) = wrong.keys(1)
    kinds = {type(row.key[-1]) for row in _pushed(wrong.feeder)} - {type(None)}
    if not kinds:
        return None
    key = (*key[:-1], 7 if kinds == {str} else "seven")
    (value,) = wrong.values(1)
    time = min(wrong.floor, INT64_MOST - 1) + 1
    bare = key[0] if len(key) == 1 else key
    return lambda: wrong.session.push_one(wrong.name, time, value, key=bare)


def _pushed(feeder):
    for kind, *args in feeder.done:
        if kind in ("push", "one"):
            for number in args[0] if kind == "push" else args:
                yield feeder.case.rows[number]


def _odd_key(wrong):
    if not wrong.case.keys:
        return None
    (key,) = wrong.keys(1)
    odd = wrong.rng.choice([["A"], {"A": 1}, 1.5, 1.0, True, b"A"])
    bare = odd if len(key) == 1 else (*key[:-1], odd)
    (value,) = wrong.values(1)
    time = min(wrong.floor, INT64_MOST - 1) + 1
    return lambda: wrong.session.push_one(wrong.name, time, value, key=bare)


def _odd_time(wrong):
    (key,) = wrong.keys(1)
    time = wrong.rng.choice([2**63, -(2**63) - 1, 2**200, 1.5, "soon", None])
    (value,) = wrong.values(1)
    bare = {"key": key[0] if len(key) == 1 else key} if key else {}
    return lambda: wrong.session.push_one(wrong.name, time, value, **bare)


WRONGS = {
    "late message of a new key": _late_one,
    "late row of new keys": _late_table,
    "late row behind a null key": _null_key,
    "value of another type": _value,
    "keys of two kinds": _mixed_keys,
    "key of another kind": _other_key,
    "odd key": _odd_key,
    "odd time": _odd_time,
}
"""What must be refused, as functions of a `Wrong`; None where it would not be wrong."""


# ---- several threads


def threaded(checked, rng, *, compiled):
    """Rows of every input and key in order, from several threads: the answer is the same."""
    case = checked.case
    count = rng.randint(2, 4)
    owner, parts = {}, [[] for _ in range(count)]
    for number, row in enumerate(case.rows):
        place = owner.setdefault((row.input, row.key), rng.randrange(count))
        parts[place].append(number)
    shared = Feeder(checked.graph, case, compiled=compiled)
    feeders = [Feeder(checked.graph, case, compiled=compiled) for _ in parts]
    works = []
    for feeder, numbers in zip(feeders, parts, strict=True):
        feeder.session = shared.session
        sizes = [rng.choice([1, 1, 1, 1, 3, 10]) for _ in numbers]
        works.append(lambda f=feeder, n=numbers, s=sizes: _feed(f, n, s))
    works.append(lambda: _watch(checked, shared.session))
    together(works)
    shared.run([])
    found = shared.outputs()
    for feeder in feeders:
        for name, keys in feeder.outputs().items():
            for key, rows in keys.items():
                found[name][key] = sorted([*found[name].get(key, []), *rows], key=_time)
    compare(found, checked.right, f"{count} threads")
    checked.account(shared.session.account(), f"{count} threads")
    checked.coverage["threads"] += sum(map(bool, parts))
    checked.coverage["message by threads"] += len(case.rows)


def _time(row):
    return row[0]


def _feed(feeder, numbers, sizes):
    place = 0
    for size in sizes:
        batch = numbers[place : place + size]
        place += size
        if len(batch) == 1:
            feeder.step(("one", batch[0]))
        elif batch:
            feeder.step(("push", batch))


def _watch(checked, session):
    for _ in range(3):
        checked.graph.resume(session.dump(), compiled=False)
        _adds_up(session.account(), "account while threads push")


def together(works):
    """Do all of it at once, a thread each; the first error is raised."""
    errors, begin = [], threading.Barrier(len(works))

    def guarded(work):
        begin.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (raised below)
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        running = [threading.Thread(target=guarded, args=(work,)) for work in works]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]


TRIALS = {"again": again, "refusals": refusals, "threaded": threaded}
