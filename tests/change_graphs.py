"""Random graphs with change streams, beside series: part of `python -m tests.torture`.

A graph is run in one push, and in random orders and cuts, one change at a time, advanced, and with
dumps between. All runs release the same. If no transaction is bad, every output holds at every time
what its operators give when they are computed anew of all rows that are there.
"""

import math
import random
import traceback
from collections import Counter
from types import SimpleNamespace

import rtbot
from rtbot.compare.schedules import Row, ScheduleMix, insert_some_dumps, schedule, schedule_whole
from rtbot.tables.change_values import list_changes
from tests.harness import Mismatch
from tests.oracles.ordered import as_of_join, top_rows

NAN = float("nan")
"""The only one, so that rows with it are equal."""
FIELDS = {"a": "integer", "b": "text?", "c": "number?"}
TEXTS = [None, "", "x", "y", "Ä"]
NUMBERS = [None, 0.0, -0.0, 0.1, 0.5, -2.5, 1e300, -1e300, math.inf, NAN]
SHARE = 10
"""A case for every so many graphs of series."""
PREFIX = "changes"
"""Begins the numbers of these cases."""
KINDS = (
    "Where",
    "Select",
    "Union",
    "Intersect",
    "Except",
    "Distinct",
    "GroupBy",
    "TopRows",
    "AsOfJoin",
)
FLOORS = {
    **{f"change operator {kind}": 0.1 for kind in (*KINDS, "ToChanges", "ToSeries")},
    "changes beside series": 0.3,
    "changes computed anew": 0.3,
    "bad transactions": 0.1,
}
"""How often, per graph of changes, each thing must at least have been met."""
CONDITIONS = {
    "a > 1": lambda row: row[0] > 1,
    "b is not null": lambda row: row[1] is not None,
    "c >= 0.5": lambda row: row[2] is not None and (row[2] is NAN or row[2] >= 0.5),
    "a % 2 == 0 or b == 'x'": lambda row: math.fmod(row[0], 2) == 0 or row[1] == "x",
}
SELECTIONS = (
    ({"a": "a + 1", "b": "upper(b)", "c": "c"}, lambda a, b, c: (a + 1, b and b.upper(), c)),
    ({"a": "a % 2", "b": "b", "c": "-c"}, lambda a, b, c: (int(math.fmod(a, 2)), b, negate(c))),
    (
        {"a": "1", "b": "b", "c": "coalesce(c, 2)"},
        lambda _, b, c: (1, b, 2.0 if c is None else c),
    ),
)
SETS = {
    ("Union", False): lambda *n: int(any(n)),
    ("Union", True): lambda *n: sum(n),
    ("Intersect", False): lambda *n: int(all(n)),
    ("Intersect", True): min,
    ("Except", False): lambda first, *n: int(first > 0 and not any(n)),
    ("Except", True): lambda first, *n: max(first - sum(n), 0),
}
STYLES = ("random", "ones", "starved", "blocks", "eager")


def negate(number):
    return None if number is None else clean(-number)


def clean(number):
    """The number as rows have it: one NaN, one zero."""
    return NAN if number is not None and math.isnan(number) else number and number + 0.0


class ChangeCase:
    """A graph, its rows, and what every stream of changes is of the rows that are there."""

    def __init__(self, name):
        self.name = name
        self.rng = rng = random.Random(f"changes/{name}")
        self.bags, self.operators, self.inputs = {}, {}, {}
        for number in range(rng.randint(1, 3)):
            self._add_input(f"in{number}")
        if rng.random() < 0.4:
            self._add_series()
        for _ in range(rng.randint(1, 6)):
            add = (self._filter, self._combine, self._combine, self._reduce, self._group)
            rng.choice((*add, self._rank, self._match))()
        self.outputs = rng.sample(list(self.bags), min(len(self.bags), rng.randint(1, 3)))
        self.lines = []
        if rng.random() < 0.4:
            self._add_line()
        io = {"on_bad_transaction": "discard"}
        self.lateness = rng.choice([0, 0, 2])
        io |= {"lateness": self.lateness} if self.lateness else {}
        io |= {"excess": "ignore"} if rng.random() < 0.2 else {}
        self.document = {
            "inputs": self.inputs,
            "operators": self.operators,
            "outputs": self.outputs + self.lines,
            "io": io,
        }
        self.rows = self._draw_rows()

    # ---- the graph

    def _add_input(self, name):
        unique = {"unique": ["a"]} if self.rng.random() < 0.4 else {}
        self.inputs[name] = {"changes": FIELDS} | unique
        self.bags[name] = lambda there: there[name]

    def _add_series(self):
        """A series, as changes: all of its messages, or the last one."""
        mode = self.rng.choice(["append", "latest"])
        self.inputs["s"] = "number"
        self.operators["rows"] = {"type": "ToChanges", "in": "s", "mode": mode}
        fields = {"a": "3", "b": "'x'", "c": "value"}
        self.operators["of_s"] = {"type": "Select", "in": "rows", "fields": fields}

        def compute(there):
            values = there["s"] if mode == "append" else there["s"][-1:]
            return Counter((3, "x", clean(value)) for value in values)

        self.bags["of_s"] = compute

    def _add_line(self):
        """The sum of a stream as a series, with an operator behind it."""
        source = self.rng.choice(list(self.bags))
        group = {"type": "GroupBy", "in": source, "by": [], "compute": {"sum": "sum(a)"}}
        line = {"type": "ToSeries", "in": "one", "field": "sum"}
        more = "coalesce(line, 0) * 2"
        self.operators |= {"one": group, "line": line, "more": more}
        self.lines = ["line", "more"]

    def _take(self):
        return self.rng.choice(list(self.bags))

    def _add(self, spec, compute):
        name = f"n{len(self.operators)}"
        self.operators[name] = spec
        self.bags[name] = compute

    def _filter(self):
        text, source = self.rng.choice(list(CONDITIONS)), self._take()
        bag = self.bags[source]
        self._add(
            {"type": "Where", "in": source, "condition": text},
            lambda there: Counter({r: n for r, n in bag(there).items() if CONDITIONS[text](r)}),
        )

    def _combine(self):
        kind, every = self.rng.choice(list(SETS))
        sources = [self._take() for _ in range(self.rng.choice([2, 2, 3]))]
        bags = [self.bags[source] for source in sources]

        def compute(there):
            counts = [bag(there) for bag in bags]
            rows = set().union(*counts)
            return Counter({row: SETS[kind, every](*(c[row] for c in counts)) for row in rows})

        self._add({"type": kind, "in": sources, "all": every}, compute)

    def _reduce(self):
        source = self._take()
        bag = self.bags[source]
        if self.rng.random() < 0.4:
            spec = {"type": "Distinct", "in": source}
            self._add(spec, lambda there: Counter([r for r, n in bag(there).items() if n]))
            return
        fields, function = self.rng.choice(SELECTIONS)

        def compute(there):
            found = Counter()
            for row, count in bag(there).items():
                found[function(*row)] += count
            return found

        self._add({"type": "Select", "in": source, "fields": fields}, compute)

    def _group(self):
        """Groups by one field, with sums in the others: as rows of the same fields."""
        source = self._take()
        bag, least = self.bags[source], self.rng.choice(["min", "max"])
        name = f"g{len(self.operators)}"
        self.operators[name] = {
            "type": "GroupBy",
            "in": source,
            "by": ["b"],
            "compute": {"n": "count()", "low": f"{least}(a)", "sum": "sum(c)"},
        }

        def compute(there):
            groups = {}
            for row, count in bag(there).items():
                if count:
                    groups.setdefault(row[1], Counter())[row] += count
            choose = min if least == "min" else max
            return Counter(
                (n.total() * 10 + choose(r[0] for r in n), b, sum_up(n)) for b, n in groups.items()
            )

        fields = {"a": "n * 10 + coalesce(low, 0)", "b": "b", "c": "sum"}
        self._add({"type": "Select", "in": name, "fields": fields}, compute)

    def _rank(self):
        """The first rows in an order."""
        rng, source = self.rng, self._take()
        bag = self.bags[source]
        ties = rng.random() < 0.3
        values = {
            "by": rng.sample(list(FIELDS), rng.choice([0, 0, 1])),
            "order": [(n, rng.random() < 0.5) for n in rng.sample(list(FIELDS), rng.randint(0, 2))],
            "k": rng.choice([1, 2, 5]),
            "offset": 0 if ties else rng.choice([0, 0, 3]),
            "ties": ties,
        }
        order = ["-" * down + name for name, down in values["order"]]
        node = SimpleNamespace(values=values | {"number": None})
        self._add(
            {"type": "TopRows", "in": source} | values | {"order": order},
            lambda there: top_rows(node, [+bag(there)], [list(FIELDS)]),
        )

    def _match(self):
        """Rows with the third field of the row that is nearest in the first one."""
        rng, sources = self.rng, [self._take(), self._take()]
        bags = [self.bags[source] for source in sources]
        values = {
            "on": rng.choice([[], ["b"]]),
            "match": ["a"],
            "direction": rng.choice(["backward", "forward"]),
            "strict": rng.random() < 0.3,
            "how": rng.choice(["inner", "left"]),
        }
        pairs = {name: [(one, one) for one in values[name]] for name in ("on", "match")}
        node = SimpleNamespace(values=values | pairs | {"tolerance": None})
        name = f"m{len(self.operators)}"
        self.operators[name] = {"type": "AsOfJoin", "in": sources} | values

        def compute(there):
            found = Counter()
            given = [+bag(there) for bag in bags]
            for row, count in as_of_join(node, given, [list(FIELDS)] * 2).items():
                found[row[0], row[1], row[5]] += count
            return found

        fields = {"a": "a", "b": "b", "c": "c_2"}
        self._add({"type": "Select", "in": name, "fields": fields}, compute)

    # ---- the data

    def _draw_rows(self):
        rng, rows = self.rng, []
        for name, spec in self.inputs.items():
            time, there = rng.choice([0, 0, 1 - 2**63, 2**63 - 200]), Counter()
            own = []
            for _ in range(rng.randint(0, 24)):
                if spec == "number":
                    time += rng.choice([1, 1, 2, 5])
                    own.append(Row(name, (), time, clean(rng.choice(NUMBERS[1:]))))
                    continue
                time += rng.choice([0, 0, 1, 1, 3])
                own.append(Row(name, (), time, self._draw_change(there, "unique" in spec)))
            rows += own if spec == "number" else self._disorder(own)
        return rows

    def _draw_change(self, there, unique):
        rng = self.rng
        known = [row for row, count in there.items() if count > 0]
        if known and rng.random() < 0.4:
            row = rng.choice(known)
            weight = -1 if unique else -rng.randint(1, there[row])
        else:
            row = (rng.randint(-3, 3), rng.choice(TEXTS), clean(rng.choice(NUMBERS)))
            weight = 1 if unique else rng.choice([1, 1, 2, -1 if rng.random() < 0.05 else 3])
        there[row] += weight
        return weight, row

    def _disorder(self, rows):
        """Rows of one time in any order; where lateness allows it, others too."""
        late = self.rng.randint(0, self.lateness) if self.lateness else 0
        keys = {
            number: (row.time + self.rng.randint(0, late), self.rng.random())
            for number, row in enumerate(rows)
        }
        return [rows[n] for n in sorted(keys, key=keys.get)]

    def list_bags(self, until):
        """What is there at a time, by input."""
        found = {name: [] if spec == "number" else Counter() for name, spec in self.inputs.items()}
        keys = {name: {} for name in self.inputs}
        for time in sorted({row.time for row in self.rows if row.time <= until}):
            for name, spec in self.inputs.items():
                own = [row.value for row in self.rows if row.input == name and row.time == time]
                if spec == "number":
                    found[name] += own
                elif "unique" in spec:
                    puts = {row[0]: row for weight, row in own if weight > 0}
                    gone = {row[0]: None for weight, row in own if weight < 0}
                    keys[name] |= gone | puts
                    found[name] = Counter([row for row in keys[name].values() if row])
                else:
                    for weight, row in own:
                        found[name][row] += weight
        return found


def sum_up(rows):
    """The exact sum of the third field, None if it is null in all rows."""
    values = [row[2] for row in rows.elements() if row[2] is not None]
    if not values:
        return None
    if all(map(math.isfinite, values)):
        return clean(math.fsum(values))
    return NAN if any(value is NAN for value in values) else clean(sum(values))


class ChangeFeeder:
    """A session that is fed by steps, and what it releases."""

    def __init__(self, graph, case, *, compiled=False):
        self.graph, self.case, self.compiled = graph, case, compiled
        self.session = graph.start(compiled=compiled)
        self.released = {name: [] for name in case.document["outputs"]}

    def run(self, steps):
        for kind, *args in steps:
            getattr(self, f"_{kind}")(*args)
        self._collect(self.session.finish())
        return {name: repr(rows) for name, rows in self.released.items()}

    def _push(self, numbers):
        tables = {}
        for number in numbers:
            row = self.case.rows[number]
            tables.setdefault(row.input, []).append(list(self._arguments(row)))
        self._collect(self.session.push(tables))

    def _arguments(self, row):
        if self.case.inputs[row.input] == "number":
            return row.time, row.value
        weight, cells = row.value
        return row.time, weight, dict(zip(FIELDS, cells, strict=True))

    def _one(self, number):
        row = self.case.rows[number]
        if self.case.inputs[row.input] == "number":
            found = self.session.push_one(row.input, row.time, row.value)
        else:
            time, weight, cells = self._arguments(row)
            found = self.session.push_one(row.input, time, cells, weight=weight)
        for name, rows in found.items():
            self.released[name] += rows

    def _advance(self, time, name):
        self._collect(self.session.advance(time, *([] if name is None else [name])))

    def _dump(self):
        self.session = self.graph.resume(self.session.dump(), compiled=self.compiled)

    def _collect(self, result):
        for name, kept in self.released.items():
            table = result[name]
            if name in result.schemas:
                kept.extend(list_changes(table, result.schemas[name]))
                continue
            valid = table.get("value_valid")
            cells = table["value"].tolist()
            if valid is not None:
                cells = [c if k else None for c, k in zip(cells, valid.tolist(), strict=True)]
            kept.extend(zip(table["t"].tolist(), cells, strict=True))


def is_change_case(name):
    """Whether a case is one of these."""
    return name.rpartition("/")[2].startswith(PREFIX)


def report(name, *, compiled):
    """What a case raises, as text."""
    try:
        check(name, compiled=compiled)
    except Exception:  # noqa: BLE001 (it is reported)
        return traceback.format_exc(limit=-4)
    return f"case {name} passes when it is run alone"


def check(name, coverage=None, *, compiled=False):
    """Check the case of a name; raises Mismatch or what the engine raised."""
    case = ChangeCase(name)
    coverage = Counter() if coverage is None else coverage
    coverage["change graphs"] += 1
    graph = rtbot.load(case.document)
    first = ChangeFeeder(graph, case, compiled=compiled)
    right = first.run(schedule_whole(case.rows))
    account = first.session.account()
    for node in graph.checked.nodes.values():
        coverage[f"change operator {node.operator.__name__}"] += 1
    if case.lines or "s" in case.inputs:
        coverage["changes beside series"] += 1
    for number in range(4):
        rng = random.Random(f"{name}/{number}")
        style = rng.choice(STYLES)
        steps = schedule(rng, case.rows, style, ScheduleMix(eager=style == "eager"))
        steps = insert_some_dumps(rng, steps, 12)
        fed = ChangeFeeder(graph, case, compiled=compiled)
        found = fed.run(steps)
        if found != right:
            raise Mismatch(f"{case.document}\n{case.rows}\n{steps}\n{found}\nis not\n{right}")
        if fed.session.account() != account:
            raise Mismatch(f"{steps}: {fed.session.account()}, not {account}")
    lost = any(one.get("lost") for one in account["inputs"].values())
    coverage["bad transactions"] += lost
    if not lost:
        coverage["changes computed anew"] += 1
        check_contents(case, first.released)


def check_contents(case, released):
    """At every time every output holds what is computed anew."""
    there = {name: Counter() for name in case.outputs}
    rest = {name: list(released[name]) for name in case.outputs}
    for time in sorted({row.time for row in case.rows}):
        given = case.list_bags(time)
        for name, bag in there.items():
            while rest[name] and rest[name][0][0] <= time:
                _, weight, row = rest[name].pop(0)
                cells = (row["a"], row["b"], clean(row["c"]))
                bag[cells] += weight
                if bag[cells] < 0:
                    raise Mismatch(f"{name} at {time}: {cells} is deleted too often")
            right = case.bags[name](given)
            if +bag != +right:
                raise Mismatch(f"{case.document}\n{name} at {time}: {+bag}, not {+right}")
