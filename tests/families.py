"""Families of random cases, each with much of something that plain cases have too little of.

A name such as "7/chain12" is the twelfth case of the family `chain` of seed 7; "7/12" is a plain
case. What a family is about is checked by its trials (tests/trials.py) besides its schedules.
"""

import random
import re
from functools import partial

from rtbot.compare import schedules
from rtbot.compare.schedules import Row, ScheduleMix, schedule_whole
from rtbot.conformance import random_rows
from rtbot.conformance.random_rows import INT64_LEAST, INT64_MOST, Policies
from rtbot.operator import Integer
from tests.catalogue import catalogue
from tests.generate import Case, Grower, allowed
from tests.oracles.vectors import kind_of
from tests.schedules import insert_refused_push, refused_waiting

EVERY = 10
"""So many plain cases come with one of a family."""
PAIRINGS = ("Merge", "Merge", "Join", "Join", "Variable")
BETWEEN = ("Identity", "TimeShift", "MovingSum", "GreaterThan", "Lag", "Dedup")
EXTREME = (*["TimeShift"] * 4, "ResamplerConstant", "Join", "Join", "Merge", "Variable", "Lag")
NEAR = [
    n + d for n in (2**53, -(2**53), INT64_MOST - 2, INT64_LEAST + 2) for d in (-2, -1, 0, 1, 2)
]
BESIDE = [2.0**53, -(2.0**53), 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**62, 1e16, 0.5, 0.0, -0.0]


class Chained(Grower):
    """Pairings behind pairings: the first port is fed by what came last, the others by inputs."""

    def __init__(self, rng, span):
        super().__init__(rng, span)
        self.inputs, self.types, self.last = {}, {}, None
        for _ in range(rng.choice([2, 3, 3, 4])):
            self._add_input("number", nullable=False)
        self.wanted = []

    def grow(self, count):
        """Add `count` pairings, now and then something between them."""
        pool = catalogue()
        for _ in range(count):
            self._next(pool[self.rng.choice(PAIRINGS)])
            between = [name for name in BETWEEN if name in pool]
            if self.rng.random() < 0.25:
                self._next(pool[self.rng.choice(between)])

    def _next(self, cls):
        inputs = self.rng.sample(sorted(self.inputs), len(self.inputs))
        if self.rng.random() < 0.8:
            inputs.sort(key=lambda name: name in self.used)
        self.wanted = [self.last, *inputs]
        if self.rng.random() < 0.3:  # the chain comes second
            self.wanted[:2] = self.wanted[1::-1]
        outer = cls.__name__ == "Join" and self.rng.random() < 0.8
        name = self.add(cls, {"how": self.rng.choice(["outer", "left"])} if outer else {})
        refs = [ref for ref in self.types if ref == name or ref.startswith(f"{name}.")]
        self.last = self.rng.choice(refs) if name and refs else self.last

    def _arity(self, cls, values):
        return 2 if self.rng.random() < 0.8 else super()._arity(cls, values)

    def _source(self, kinds, nullable, others=(), *, repeating=False):
        while self.wanted:
            ref = self.wanted.pop(0)
            type_ = self.types.get(ref)
            if type_ is None or type_.repeats:
                continue
            if kind_of(type_) in kinds and (nullable or not type_.nullable):
                return ref
        return super()._source(kinds, nullable, others, repeating=repeating)


class Extreme(Chained):
    """Times moved as far as there are times, there and back, and met with what has not moved."""

    def __init__(self, rng, span):
        super().__init__(rng, max(span, 2**64))
        for _ in range(rng.choice([0, 1])):
            self._add_input(rng.choice(["integer", "boolean", "text"]), nullable=rng.random() < 0.2)

    def grow(self, count):
        """Add some operators, most of them behind what came last."""
        pool = catalogue()
        for _ in range(count):
            self._next(pool[self.rng.choice(EXTREME)])
            if self.rng.random() < 0.1:
                self.last = None

    def _draw_duration(self, parameter):
        far = [*[INT64_MOST] * 4, INT64_MOST - 1, 2**62, 2**62 + 1, INT64_MOST // 3]
        if parameter.minimum is not None:
            near = [0, 1] if parameter.minimum == 0 else []
            return self.rng.choice(far + near)
        return self.rng.choice([*far, *(-duration for duration in far), 0, 1, -1])


class Near(Grower):
    """Integer inputs, and constants that numbers and integers have in common, or just not."""

    def __init__(self, rng, span):
        super().__init__(rng, span)
        self._add_input("integer", nullable=rng.random() < 0.2)
        self._add_input("integer", nullable=False)

    def _draw_number(self, parameter):
        drawn = super()._draw_number(parameter)
        free = parameter.minimum is parameter.maximum is parameter.above is None
        return self.rng.choice(BESIDE) if free and self.rng.random() < 0.6 else drawn

    def _draw(self, parameter):
        if isinstance(parameter, Integer) and parameter.minimum is parameter.maximum is None:
            return self.rng.choice(NEAR)
        return super()._draw(parameter)


def chain(rng):
    """Pairings up to four deep; an input starves while others get message after message."""
    count, step = rng.choice([16, 26, 39, 39, 120]), rng.choice([1, 3, 9])
    first = rng.choice([0, -7, INT64_LEAST + 1, INT64_MOST - count * step])
    graph = Chained(rng, count * step)
    graph.grow(rng.randint(2, 4))
    keys = random_rows.draw_keys(rng) if rng.random() < 0.4 else ((), [()])
    found = filled(rng, graph, list(range(count)), None, (keys[0], keys[1][:2]))
    wave = rng.choice([120] if count == 120 else [6, 9, 12, 12, 13, 13, 13, 40])
    first_fed = str(next(iter(graph.operators.values()))).split("'")
    rare = rng.choice([name for name in graph.inputs if name in first_fed])
    share = {name: rng.choice([*[1.0] * 8, 0.9, 0.5, 0.05]) for name in graph.inputs}
    if rng.random() < 0.7:
        share[rare] = 1.0
        found.rows = [r for r in found.rows if r.input != rare or r.time % wave == wave - 1]
    found.rows = [row for row in found.rows if rng.random() < share[row.input]]
    steps = hungry(rng, found.rows, rare, wave)
    found.rows = [
        row._replace(time=first + row.time * step + rng.randrange(step)) for row in found.rows
    ]
    found.schedules = [schedule_whole(found.rows), steps]
    found.limit = rng.choice([2, 9, 15, 40])
    return found


def ends(rng):
    """Times at the ends of int64, and what moves them from one end to the other."""
    times = ends_of_time(rng, rng.randint(2, 10))
    graph = Extreme(rng, times[-1] - times[0] + 1)
    graph.grow(rng.randint(2, 8))
    found = filled(rng, graph, times, Policies(), random_rows.draw_keys(rng))
    found.schedules = [planned(rng, found, style) for style in ("eager", "random", "ones")]
    found.prompt = False
    return found


def near(rng):
    """Integers near 2**53 and 2**63."""
    times = random_rows.draw_times(rng, rng.randint(2, 12))
    graph = Near(rng, times[-1] - times[0] + 1)
    graph.grow(rng.randint(2, 10))
    found = filled(rng, graph, times, Policies(), random_rows.draw_keys(rng))
    found.rows = [
        row._replace(value=rng.choice(NEAR))
        if graph.inputs[row.input].kind == "integer" and row.value is not None
        else row
        for row in found.rows
    ]
    found.schedules = [schedule_whole(found.rows), planned(rng, found, "random")]
    return found


def late(rng):
    """Rows that wait for late ones, and second rows at their times, also behind a resume."""
    rules = Policies(rng.choice(["error", "error", "drop"]), "error", rng.choice([1, 3, 20, 100]))
    times = random_rows.draw_times(rng, rng.randint(6, 24))
    graph = Grower(rng, times[-1] - times[0] + 1)
    graph.grow(rng.randint(1, 4))
    found = filled(rng, graph, times, rules, random_rows.draw_keys(rng))
    again = partial(refused_waiting, rng, found.rows, rules)
    habits = ScheduleMix(dump=0.8, close=0.2)
    found.schedules = [
        schedules.schedule(rng, found.rows, style, habits, again) for style in ("ones", "random")
    ]
    return found


def closed(rng):
    """Many keys that are closed and come back, with resumes between."""
    times = random_rows.draw_times(rng, rng.randint(1, 6))
    graph = Grower(rng, times[-1] - times[0] + 1)
    graph.grow(rng.randint(1, 4))
    return filled(
        rng, graph, times, random_rows.draw_policies(rng), many_keys(rng, rng.choice([3, 8, 20]))
    )


def refusing(rng):
    """Keyed sessions that refuse much, with advances behind."""
    rules = Policies("error", rng.choice(["error", "error", "first"]), rng.choice([None, None, 3]))
    times = random_rows.draw_times(rng, rng.randint(2, 12))
    graph = Grower(rng, times[-1] - times[0] + 1)
    graph.grow(rng.randint(1, 4))
    found = filled(rng, graph, times, rules, many_keys(rng, rng.randint(1, 5)))
    found.schedules = [planned(rng, found, "eager")]
    return found


def repeated(rng):
    """What reads streams with several messages of one time, and their elements."""
    times = random_rows.draw_times(rng, rng.randint(2, 12))
    graph = Grower(rng, times[-1] - times[0] + 1)
    graph.add(catalogue()["TopK"], {"k": rng.choice([1, 2, 3, 5])})
    behind = [cls for cls in catalogue().values() if [*cls.ports(1)] == ["i1"]]
    for _ in range(rng.randint(1, 5)):
        graph.add(rng.choice(behind))
    graph.grow(rng.randint(0, 3))
    found = filled(rng, graph, times, Policies(), random_rows.draw_keys(rng))
    found.schedules += [planned(rng, found, style) for style in ("ones", "random", "eager")]
    return found


def threads(rng):
    """Rows enough for several threads to get in each other's way."""
    times = random_rows.draw_times(rng, rng.choice([20, 40, 80]))
    span = times[-1] - times[0] + 1
    graph = Chained(rng, span) if rng.random() < 0.5 else Grower(rng, span)
    graph.grow(rng.randint(1, 3))
    found = filled(rng, graph, times, Policies(), many_keys(rng, rng.randint(1, 3)))
    found.schedules = [schedule_whole(found.rows)]
    return found


FAMILIES = {
    "chain": (chain, ()),
    "refused": (refusing, ("refusals",)),
    "closed": (closed, ("again",)),
    "ends": (ends, ()),
    "near": (near, ()),
    "late": (late, ()),
    "threads": (threads, ("threaded",)),
    "repeated": (repeated, ()),
    "starved": (chain, ()),
}
"""By the word in the names of their cases, who makes them and their trials; `starved` is a second
share of `chain`."""


def family_of(name):
    """The family of a name; None for a plain case."""
    word = re.match("[a-z]*", name.rpartition("/")[2])[0]
    return word if word in FAMILIES else None


def case(name):
    """The case of a name of a family."""
    made, trials = FAMILIES[family_of(name)]
    found = made(random.Random(name))
    found.name, found.trials = name, trials
    return found


def between(seed, number):
    """The name of the family's case that follows a plain case; None behind most."""
    if number % EVERY != EVERY - 1:
        return None
    words = list(FAMILIES)
    return f"{seed}/{words[number // EVERY % len(words)]}{number}"


def filled(rng, graph, times, rules, keys):
    """The case of a grown graph with rows at the times; its schedule is one push.

    Without rules for what is late or a duplicate there is a row at each of the times.
    """
    rules, plain = rules or Policies(), rules is None
    if any(type_.kind not in ("number", "integer") for type_ in graph.inputs.values()):
        rules.duplicates = rules.duplicates.replace("sum", "first").replace("min", "last")
        rules.duplicates = rules.duplicates.replace("max", "error")
    columns, own = keys
    rows = []
    for key in own:
        for name, type_ in graph.inputs.items():
            source = random_rows.draw_values(rng, kind_of(type_), nullable=type_.nullable)
            if plain:
                rows += [Row(name, key, time, next(source)) for time in times]
            else:
                rows += random_rows.draw_arrivals(
                    rng, (name, key), source, times, allowed(rules, type_)
                )
    return Case(graph.document(rules), columns, rows, [schedule_whole(rows)])


def planned(rng, case, style):
    """A schedule with dumps, advances and refused pushes between."""
    extra = partial(insert_refused_push, rng, case.rows, Policies())
    return schedules.schedule(rng, case.rows, style, extra=extra)


def hungry(rng, rows, rare, wave):
    """Messages one by one, in waves of so many times, in each of which the rare input is last."""
    order = list(range(len(rows)))
    mixed = rng.random() < 0.5
    order.sort(key=lambda n: (rows[n].time // wave, rows[n].input == rare, mixed * rows[n].time))
    steps = []
    for number in order:
        steps.append(("one", number))
        if rng.random() < 0.01:
            steps.append(("dump",))
    return steps


def ends_of_time(rng, count):
    """Ascending times near both ends of int64, and some in the middle."""
    low = [INT64_LEAST + rng.randint(1, 4), INT64_LEAST + 1, INT64_LEAST + 2, -INT64_MOST + 7]
    high = [INT64_MOST - n for n in (0, 1, 2, 5)]
    middle = [-1, 0, 1, 2, 2**62, -(2**62), INT64_MOST // 3]
    ends = [low, high, low + high, low + middle + high]
    pool = sorted({*rng.choice(ends)} | ({INT64_LEAST} if rng.random() < 0.2 else set()))
    return sorted(rng.sample(pool, min(count, len(pool))))


def many_keys(rng, count):
    """Key columns and so many keys of one kind."""
    kind = rng.choice(["integer", "text", "both", "null"])
    numbers = rng.sample(range(-50, 50), count)
    if kind == "both":
        return ("k", "site"), [(f"s{n % 3}", n) for n in numbers]
    if kind == "null":
        return ("k",), [(None,), *((f"n{n}",) for n in numbers[1:])]
    return ("k",), [(n if kind == "integer" else f"k{n}",) for n in numbers]


def copies(rows, change):
    """The rows once more, keys changed as a mapping says."""
    return [Row(row.input, change.get(row.key, row.key), *row[2:]) for row in rows]


def unseen(case, number):
    """A key that no row of a case has, of the same kinds as its keys."""
    known = [row.key for row in case.rows]
    cells = []
    for place in range(len(case.keys)):
        column = [key[place] for key in known if key[place] is not None]
        whole_numbers = bool(column) and isinstance(column[0], int)
        cells.append(1000 + number if whole_numbers else f"new {number}")
    return tuple(cells)
