"""Feeds a case to the engine step by step, and compares what comes out with the oracles."""

from collections import Counter, defaultdict

import rtbot
from tests.oracles.edge import ADVANCE, Edge, RefusedError, stream
from tests.oracles.streams import bits
from tests.oracles.whole import answer
from tests.refusals import NotApplicable, refuse, refused_after_the_end


class Mismatch(AssertionError):  # noqa: N818 (it names what was found)
    """The engine and the oracle, or two runs of the engine, differ."""


class Feeder:
    """A session under test; collects what it releases, by output and key."""

    def __init__(self, graph, case, *, compiled=False, tap=(), limit=None):
        self.graph, self.case, self.compiled, self.tap = graph, case, compiled, tap
        self.session = graph.start(
            key=case.keys or None, tap=tap, compiled=compiled, queue_limit=limit
        )
        self.released = {name: defaultdict(list) for name in case.document["outputs"]}
        self.coverage = Counter()
        self.done = []
        self.kinds = {
            name: spec.removesuffix("?") for name, spec in case.document["inputs"].items()
        }

    def step(self, step):
        """Do one step of a schedule."""
        kind, *args = step
        getattr(self, f"_{kind}")(*args)
        self.done.append(step)

    def run(self, steps):
        """Do all steps, then finish."""
        for step in steps:
            self.step(step)
        self._collect(self.session.finish())
        codes = refused_after_the_end(self.session, next(iter(self.kinds)))
        if codes != {"RT301"}:
            raise Mismatch(f"a finished session refuses with {codes}")
        self.coverage["refused RT301"] += 1
        return self

    def _push(self, numbers):
        self._collect(self.session.push(self.tables(self.case.rows[n] for n in numbers)))

    def tables(self, rows):
        """Rows as one table per input."""
        own = defaultdict(list)
        for row in rows:
            own[row.input].append(row)
        return {name: self._table(rows) for name, rows in own.items()}

    def _table(self, rows):
        columns = {
            name: [row.key[place] for row in rows] for place, name in enumerate(self.case.keys)
        }
        return columns | {"t": [row.time for row in rows], "value": [row.value for row in rows]}

    def _one(self, number):
        row = self.case.rows[number]
        key = {"key": _bare(row.key)} if self.case.keys else {}
        for name, rows in self.session.push_one(row.input, row.time, row.value, **key).items():
            assert rows, "push_one names only outputs that emitted"
            for *own, time, value in rows:
                if name in self.released:
                    self._release(name, _key(own), time, value)

    def _refused(self, numbers, row):
        if row.key in {args[0] for kind, *args in self.done if kind == "close"}:
            return
        own = list_events(self.case, [*self.done, ("push", numbers)])[row.key][row.input]
        try:
            stream([*own, (row.time, row.value)], Edge.of(self.case.document), "number")
        except RefusedError:
            pass
        else:
            return
        rows = [*(self.case.rows[number] for number in numbers), row]
        try:
            self.session.push(self.tables(rows))
        except rtbot.DataError as error:
            self.coverage[f"refused {error.code}"] += 1
            restored = any(kind == "dump" for kind, *_ in self.done)
            self.coverage["second row at a time that waits, behind a restore"] += (
                restored and error.code == "RT203" and bool(self.session.held())
            )
            return
        raise Mismatch(f"a push with the row {tuple(row)} was accepted")

    def _wrong(self, code):
        try:
            found = refuse(self, code)
        except NotApplicable:
            return
        if found != code:
            raise Mismatch(f"what must be refused with {code} was: {found}")
        self.coverage[f"refused {code}"] += 1

    def _advance(self, time, name):
        self._collect(self.session.advance(time, *([] if name is None else [name])))

    def _close(self, key):
        self._collect(self.session.close_key(_bare(key)))

    def _dump(self):
        held = sum(self.session.held().values())
        self.coverage["restore with rows waiting" if held else "restore with nothing waiting"] += 1
        blob = self.session.dump()
        self.session = self.graph.resume(blob, tap=self.tap, compiled=self.compiled)

    def _collect(self, result):
        for name in self.released:
            table = result[name]
            keys = [_column(table, column) for column in self.case.keys]
            times, values = table["t"].tolist(), _column(table, "value")
            order = [
                (*(_sortable(column[place]) for column in keys), time)
                for place, time in enumerate(times)
            ]
            if order != sorted(order):
                raise Mismatch(f"{name}: a result is not in order of key and time: {order}")
            for place, (time, value) in enumerate(zip(times, values, strict=True)):
                self._release(name, tuple(column[place] for column in keys), time, value)

    def _release(self, name, key, time, value):
        self.released[name][key].append((time, value))

    def outputs(self):
        """What was released, as text that differs where a bit differs."""
        return {
            name: {key: [(time, bits(value)) for time, value in rows] for key, rows in own.items()}
            for name, own in self.released.items()
        }


def _bare(key):
    return key[0] if len(key) == 1 else key


def _key(parts):
    return tuple(parts[0]) if parts and isinstance(parts[0], tuple) else tuple(parts)


def _sortable(value):
    return (value is None, value or (0 if not isinstance(value, str) else ""))


def _column(table, name):
    values = table[name].tolist()
    valid = table.get(f"{name}_valid")
    if valid is None:
        return values
    return [value if good else None for value, good in zip(values, valid.tolist(), strict=True)]


def list_events(case, steps=None):
    """Events per key and input, as the oracle wants them; of some steps, or of all rows."""
    steps = [("push", range(len(case.rows)))] if steps is None else steps
    every = {row.key: defaultdict(list) for row in case.rows}
    for kind, *args in steps:
        if kind == "advance":
            limit, name = args
            for own in every.values():
                for own_name in case.document["inputs"] if name is None else [name]:
                    own[own_name].append((ADVANCE, limit))
        elif kind in ("push", "one"):
            for number in args[0] if kind == "push" else args:
                row = case.rows[number]
                every[row.key][row.input].append((row.time, row.value))
    return every


def compute_expected(case, steps=None, *, ended=True):
    """Evaluations by the oracle, per key."""
    return answer(case.document, list_events(case, steps), ended=ended)


def to_bits(evaluations, names):
    """The outputs of evaluations in the form of `Feeder.outputs`."""
    return {
        name: {
            key: [(time, bits(value)) for time, value in evaluation.outputs[name].rows]
            for key, evaluation in evaluations.items()
            if evaluation.outputs[name].rows
        }
        for name in names
    }


def load(document):
    """The graph of a case."""
    return rtbot.load(document)


def compare(found, right, what):
    """Raise where two sets of outputs differ, naming the first difference."""
    for name, keys in right.items():
        for key in keys | found[name]:
            ours, theirs = found[name].get(key, []), keys.get(key, [])
            if ours != theirs:
                both = list(zip(ours, theirs, strict=False))
                place = next((i for i, (a, b) in enumerate(both) if a != b), len(both))
                raise Mismatch(
                    f"{what}: output {name}, key {key}, row {place}:\n"
                    f"  expected {theirs[place : place + 3]}\n  got      {ours[place : place + 3]}"
                )


def is_prefix(short, long):
    """Whether every output and key of one is a beginning of the other."""
    return all(
        long[name].get(key, [])[: len(rows)] == rows
        for name, keys in short.items()
        for key, rows in keys.items()
    )
