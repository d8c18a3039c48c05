"""Every registered operator says what it is, and its example is true."""

import importlib
import inspect
import math
import pkgutil
from array import array

import pytest

import rtbot.operators  # (it registers them)
from rtbot.conformance import list_gaps
from rtbot.operator import (
    DOMAIN,
    EMIT,
    EMIT_AGAIN,
    NEVER,
    REGISTRY,
    SILENT,
    Cells,
    Choice,
    Choices,
    Duration,
    Numbers,
    Operator,
    Points,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
)
from rtbot.operator.relation import Relation
from rtbot.operator.step_source import find_globals
from rtbot.operators.joins import Join
from rtbot.operators.merge import Merge
from rtbot.operators.smoothing import EMA
from rtbot.operators.windows import WindowMinMax

NAN, INFINITY = math.nan, math.inf
LEAST, MOST = -(2**63), 2**63 - 1
ALL_OPERATORS = sorted(set(REGISTRY.values()), key=lambda cls: cls.__name__)
OPERATORS = [cls for cls in ALL_OPERATORS if not issubclass(cls, Relation)]
STEPS = [cls for cls in OPERATORS if cls.step is not None and list(cls.inputs) == ["i1"]]
"""Those that are tried here without the engine."""
NUMERIC_OPERATORS = [cls for cls in STEPS if cls.integer_step is not None]
WHOLE_OPERATORS = [
    cls
    for cls in NUMERIC_OPERATORS
    if all(out.kind in ("N", "integer") for out in cls.outputs.values())
]


def name_of(cls):
    return cls.__name__


def settings(cls, parameters):
    """Every parameter as a step sees it."""
    values = {name: p.default for name, p in cls.parameters.items()} | parameters
    known = dict(values)
    for name, declared in cls.parameters.items():
        if isinstance(declared, Choice):
            known[name] = declared.options.index(values[name])
        elif isinstance(declared, Choices):
            values[name] = declared.normalise(values[name])
            known[name] = declared.encode(name, values[name])[1]
        elif isinstance(declared, Duration) and values[name] is None:
            known[name] = -1
    return values, known


class Key:
    """The state of one key, as the plan holds it, in the plainest way."""

    def __init__(self, cls, parameters, kind="number"):
        self.cls = cls
        self.values, self.known = settings(cls, parameters)
        self.step = cls.integer_step if kind == "integer" and cls.integer_step else cls.step
        self.kind = kind
        self.known |= self.lists()
        self.scalars = {}
        self.rings = {}
        self.spaces = {}
        for name, item in cls.state.items():
            match item:
                case Scalar():
                    self.scalars[name] = self.number(item.kind, item.start)
                case Cells():
                    self.known[name] = self.cells(item.kind, item.places(self.values), item.start)
                    self.known[f"{name}_first"] = 0
                case Space():
                    self.spaces[name] = (item, {})
                case Span() if f"{name}_count" in inspect.signature(self.step).parameters:
                    self.span(name, item)
                case Scratch():
                    self.known[name] = memoryview(array("q", [77] * (item.size + 3)))
                    self.known[f"{name}_first"] = 3
                case Ring():
                    self.rings[name] = (item, [])

    def lists(self):
        """What a step takes of the parameters that are lists."""
        known = {}
        for name, declared in self.cls.parameters.items():
            if isinstance(declared, Numbers | Points):
                items = self.values[name]
                pairs = isinstance(declared, Points)
                flat = [part for item in items for part in item] if pairs else list(items)
                known[name] = memoryview(array("d", [NAN, *flat, NAN]))
                known |= {f"{name}_first": 1, f"{name}_count": len(items)}
        return known

    def kind_of(self, kind):
        return self.kind if kind in ("T", "N") else kind

    def number(self, kind, start):
        return {"number": float, "integer": int, "boolean": bool}[self.kind_of(kind)](start)

    def cells(self, kind, size, start=0):
        code = "d" if self.kind_of(kind) == "number" else "q"
        return memoryview(array(code, [start] * (size + 1)))

    def ring(self, name, item, held, value):
        size = self.values[item.size] + item.extra
        held.append(value)
        evicts = len(held) > size
        count = min(len(held), size)
        places = self.cells("N", size)
        for number in range(len(held) - count, len(held)):
            places[number % size] = held[number]
        return {
            name: places,
            f"{name}_first": 0,
            f"{name}_count": count,
            f"{name}_entering": value,
            f"{name}_leaving": held[-1 - size] if evicts else value,
            f"{name}_evicts": evicts,
            f"{name}_full": count == size,
            f"{name}_position": (len(held) - 1) % size,
        }

    def span(self, name, item):
        """A list of at most so many entries, each kind of its fields in one array."""
        room = 64
        self.scalars |= {f"{name}_dropped": 0, f"{name}_count": 0}
        arrays = {kind: self.cells(kind, room * len(item.fields)) for kind in ("integer", "number")}
        for place, (field, kind) in enumerate(item.fields.items()):
            self.known[f"{name}_{field}"] = arrays[self.kind_of(kind)]
            self.known[f"{name}_{field}_first"] = room * place

    def space(self, name, item, held, value):
        place = held.setdefault(value, len(held))
        for field, scalar in item.fields.items():
            own = self.known.setdefault(f"{name}_{field}", [])
            own += [self.number(scalar.kind, scalar.start)] * (len(held) - len(own))
        return {f"{name}_{port}": place for port in item.ports} | self.known

    def feed(self, time, value):
        """The messages for one row; a fault is (time, "domain")."""
        messages, code = self.reach(time), EMIT_AGAIN
        there = value is not None
        known = {"time": time, "i1": value if there else 0, "i1_valid": there, **self.known}
        for name, (item, held) in self.rings.items():
            known |= self.ring(name, item, held, time if item.of == "time" else value)
        for name, (item, held) in self.spaces.items():
            known |= self.space(name, item, held, value)
        while code == EMIT_AGAIN:
            code = self.call(self.step, known, messages)
        return messages

    def reach(self, until):
        """The messages up to a time."""
        messages = []
        while self.cls.close and self.scalars["due"] != NEVER and self.scalars["due"] <= until:
            before = self.scalars["due"]
            self.call(self.cls.close, {"time": before, **self.known}, messages)
            assert self.scalars["due"] == NEVER or self.scalars["due"] > before
        return messages

    def call(self, function, known, messages):
        """One call of a step; its code."""
        given = {**known, **self.scalars}
        result = function(**{n: given[n] for n in inspect.signature(function).parameters})
        results = list(result) if isinstance(result, tuple) else [result]
        coded = self.cls.silent or self.cls.faults or self.cls.sets_time
        emits = function is self.cls.close or not self.cls.gathers
        code = results.pop(0) if coded else EMIT
        at = results.pop(0) if self.cls.sets_time and emits else known["time"]
        returned = (self.cls.returns or ["o1"]) if emits else []
        values = {name: results.pop(0) for name in returned}
        result = values.get(self.cls.outputs_for(self.values, 1)["o1"].source or "o1")
        assert code in (SILENT, EMIT, DOMAIN, EMIT_AGAIN)
        self.scalars = dict(zip(self.scalars, results, strict=True))
        for name, item in self.cls.state.items():
            for field in getattr(item, "fields", ()) if f"{name}_dropped" in self.scalars else ():
                self.known[f"{name}_{field}_first"] += self.scalars[f"{name}_dropped"]
        if code != SILENT:
            messages.append((at, "domain" if code == DOMAIN else result))
        return code


def run(cls, rows, *, kind="number", **parameters):
    """All messages of one key; every value as it is, so that 1 and 1.0 differ."""
    cls = REGISTRY[cls] if isinstance(cls, str) else cls
    key = Key(cls, parameters, kind)
    return [message for time, value in rows for message in key.feed(time, value)] + key.reach(MOST)


def timed(values):
    return list(enumerate(values))


def text(messages):
    """Messages with their types: 1, 1.0 and True differ, NaN equals itself, -0.0 is not 0.0."""
    return repr(messages)


# ---- declarations


def arguments_of_steps(cls):
    """What its steps take by name: of these only a duration may be absent, which is -1 then.

    An operator that checks its parameters together knows which are there.
    """
    steps = [found for found in (cls.step, cls.integer_step) if found is not None]
    return {name for found in steps for name in inspect.signature(found).parameters}


@pytest.mark.parametrize("cls", ALL_OPERATORS, ids=name_of)
def test_says_what_it_is(cls):
    assert list_gaps(cls) == []
    assert cls.outputs
    assert cls.inputs
    for group in (cls.parameters, cls.inputs, cls.outputs):
        assert all(item.name == name for name, item in group.items())
    absent = {n for n, p in cls.parameters.items() if not p.required and p.default is None}
    durations = {n for n, p in cls.parameters.items() if isinstance(p, Duration)}
    checks = cls.check.__func__ is not Operator.check.__func__
    assert checks or not (absent - durations) & arguments_of_steps(cls)


@pytest.mark.parametrize("cls", OPERATORS, ids=name_of)
def test_is_a_formula_or_a_step(cls):
    chooses = "step_for" in vars(cls)
    assert (cls.formula is None) != (cls.step is None)
    assert not chooses or cls.formula is not None or cls.step is not None
    assert cls.integer_step is None or cls.step is not None
    assert cls.close is None or (cls.sets_time and cls.state["due"].start == NEVER)
    assert cls.close is None or cls.frontier == "copy"
    assert (cls.frontier == "state") == isinstance(cls.state.get("frontier"), Scalar)
    assert cls.frontier in ("copy", "shift", "state")
    assert cls.frontier != "shift" or "shift" in cls.parameters


@pytest.mark.parametrize("cls", OPERATORS, ids=name_of)
def test_example_fits_the_declaration(cls):
    values, _ = settings(cls, dict(cls.example.parameters))
    assert cls.check(values, cls.count_arity(cls.example.inputs)) == []


@pytest.mark.parametrize("cls", STEPS, ids=name_of)
def test_example_of_a_step_is_true(cls):
    found = run(cls, cls.example.inputs["i1"], **cls.example.parameters)
    found = [message for message in found if message[1] != "domain"]
    assert text(found) == text(list(cls.example.outputs["o1"]))


# ---- hooks


@pytest.mark.parametrize(
    ("how", "roles"),
    [
        ("inner", ["must", "must", "must"]),
        ("left", ["must", "may", "may"]),
        ("right", ["may", "may", "must"]),
        ("outer", ["may", "may", "may"]),
        ("asof", ["must", "last", "last"]),
    ],
)
def test_roles_of_a_join(how, roles):
    ports = ["i1", "i2", "i3"]
    assert Join.roles({"how": how}, ports) == dict(zip(ports, roles, strict=True))


def test_tolerance_needs_asof():
    assert Join.check({"how": "asof", "tolerance": 5, "num_ports": None}, 2) == []
    assert len(Join.check({"how": "left", "tolerance": 5, "num_ports": None}, 2)) == 1


def test_number_of_ports_is_compared_with_the_wiring():
    assert Join.check({"how": "left", "tolerance": None, "num_ports": 3}, 3) == []
    assert len(Join.check({"how": "left", "tolerance": None, "num_ports": 3}, 2)) == 1


def test_merge_counts_what_stands_behind_another():
    ports = ["i1", "i2", "i3"]
    assert Merge.lost({"ties": "sum"}, ports) == {}
    assert Merge.lost({"ties": "first"}, ports) == {
        "i2": ("tied", "present(i2) and (present(i1))"),
        "i3": ("tied", "present(i3) and (present(i1) or present(i2))"),
    }
    assert list(Merge.lost({"ties": "last"}, ports)) == ["i2", "i1"]


# ---- steps, by table


def test_window_min_max_by_definition():
    values = [5, 3, 8, 8, 1, 9, 2, 2, 7, 6, 4, 0, 3]
    for window in range(1, 15):
        for mode, best in (("min", min), ("max", max)):
            for kind, convert in (("number", float), ("integer", int)):
                rows = timed(map(convert, values))
                expected = [
                    (t, convert(best(values[max(0, t - window + 1) : t + 1]))) for t, _ in rows
                ]
                parameters = {"window": window, "mode": mode}
                partial = run(WindowMinMax, rows, kind=kind, partial=True, **parameters)
                assert text(partial) == text(expected)
                full = run(WindowMinMax, rows, kind=kind, **parameters)
                assert text(full) == text(expected[window - 1 :])


@pytest.mark.parametrize(
    ("values", "mode", "expected"),
    [
        ([5.0, NAN, 1.0, 2.0, 3.0], "min", [5.0, NAN, NAN, NAN, 1.0]),
        ([-0.0, 0.0, 1.0, 0.0, -0.0], "min", [-0.0, -0.0, -0.0, 0.0, 0.0]),
        ([0.0, -0.0, -1.0, -0.0, 0.0], "max", [0.0, 0.0, 0.0, -0.0, -0.0]),
        ([INFINITY, -INFINITY, 1.0, 2.0, 3.0], "max", [INFINITY, INFINITY, INFINITY, 2.0, 3.0]),
    ],
)
def test_window_min_max_on_special_values(values, mode, expected):
    found = run(WindowMinMax, timed(values), window=3, mode=mode, partial=True)
    assert text([value for _, value in found]) == text(expected)


@pytest.mark.parametrize(
    ("values", "window", "expected"),
    [
        ([9, 3, 5, 5, 2, 4, 1, 6, 8], 3, [(5, 4)]),
        ([0, NAN, 1, 0, 3, 0, NAN, 0], 3, [(4, 3)]),
        ([1, 2, 9, 2, 1, 5, 1, 1], 5, [(2, 9), (5, 5)]),
        ([1, 2, 9, 2, 9, 2, 1], 5, []),
        ([3, 1, 2, 5, 1, 1, 4, 1, 1], 7, [(3, 5)]),
        ([2, 1, 1], 3, []),
    ],
)
def test_peaks(values, window, expected):
    rows = timed(map(float, values))
    expected = [(t, float(v)) for t, v in expected]
    assert text(run("PeakDetector", rows, window=window)) == text(expected)


SPAN_PEAKS = """
inputs: {a: number}
operators: {m: {type: PeakDetector, in: a, window: 5s}}
outputs: [m]
io: {unit: s}
"""


@pytest.mark.parametrize(
    ("rows", "expected", "at_end"),
    [
        ([(0, 1), (1, 5), (3, 2)], [], []),  # the half before is not full
        ([(0, 1), (3, 5), (5, 2), (6, 1)], [(3, 5)], []),
        ([(0, 1), (3, 5), (5, 2)], [], [(3, 5)]),
        ([(0, 1), (3, 5), (5, 5), (6, 1)], [], []),
        ([(0, 1), (3, 5), (6, 6), (9, 4)], [(3, 5), (6, 6)], [(9, 4)]),  # alone in their windows
        ([(0, 1), (3, 5), (5, NAN), (8, 2)], [], [(8, 2)]),
        ([(0, NAN), (2, 5), (3, 6), (7, 2)], [(3, 6)], [(7, 2)]),
    ],
)
def test_peaks_in_spans(rows, expected, at_end):
    session = rtbot.load(SPAN_PEAKS).start()
    found = [row for t, v in rows for row in session.push_one("a", t, float(v)).get("m", [])]
    assert found == expected
    ended = session.finish()["m"]
    assert [*zip(ended["t"].tolist(), ended["value"].tolist(), strict=True)] == at_end


def test_a_peak_in_a_span_is_known_once_half_of_it_has_passed():
    session = rtbot.load(SPAN_PEAKS).start()
    session.push_one("a", 0, 1.0)
    session.push_one("a", 5, 2.0)
    assert len(session.advance(7)["m"]["t"]) == 0
    assert session.advance(8)["m"]["t"].tolist() == [5]


def test_frontier_of_a_peak_detector_is_just_before_the_candidate_if_there_is_one():
    key = Key(REGISTRY["PeakDetector"], {"window": 3})
    frontiers = []
    for time, value in [(10, 1.0), (20, 5.0), (30, 6.0), (40, 2.0), (50, 2.0)]:
        key.feed(time, value)
        frontiers.append(key.scalars["frontier"])
    assert frontiers == [MOST, 19, 29, MOST, MOST]


@pytest.mark.parametrize(
    ("parameters", "rows", "expected"),
    [
        ({}, [(3, 1), (4, 2), (9, 3), (10, 4), (15, 5)], [(8, 2), (13, 4)]),
        ({"t0": 0}, [(3, 1), (4, 2), (10, 4), (16, 5)], [(5, 2), (10, 4), (15, 4)]),
        ({"t0": 20}, [(3, 1), (9, 3), (21, 5)], [(20, 3)]),
        ({"t0": 20}, [(20, 1), (26, 3)], [(25, 1)]),
        ({"t0": 0, "snap_first": True}, [(3, 1), (4, 2), (9, 3)], [(0, 1), (5, 2)]),
        ({"t0": 0, "snap_first": True}, [(5, 1), (9, 3), (11, 4)], [(5, 1), (10, 3)]),
        ({"t0": 2}, [(-9, 1), (-8, 2), (3, 3)], [(2, 2)]),
        ({"t0": -98}, [(-9, 1), (-8, 2), (3, 3)], [(-8, 2), (-3, 2), (2, 2)]),
        ({"t0": -1}, [(-9, 1), (5, 2)], [(-1, 1), (4, 1)]),
        ({"t0": MOST - 1}, [(MOST - 8, 1), (MOST, 2)], [(MOST - 1, 1)]),
        ({"t0": LEAST + 4}, [(LEAST + 3, 1), (LEAST + 6, 2)], [(LEAST + 4, 1)]),
        ({"t0": MOST, "snap_first": True}, [(LEAST, 1), (LEAST + 3, 2)], [(LEAST + 0, 1)]),
        ({"t0": MOST - 2, "snap_first": True}, [(LEAST, 1), (LEAST + 3, 2)], [(LEAST + 3, 2)]),
        ({}, [(MOST - 3, 1), (MOST, 2)], []),
        ({}, [(MOST - 5, 1), (MOST, 2)], [(MOST, 2)]),
        ({}, [(MOST - 10, 1), (MOST, 2)], [(MOST - 5, 1), (MOST, 2)]),
    ],
)
def test_resampler(parameters, rows, expected):
    rows = [(t, float(v)) for t, v in rows]
    found = run("ResamplerConstant", rows, interval=5, **parameters)
    assert found == [(t, float(v)) for t, v in expected]


def test_frontier_of_a_resampler_is_just_before_the_next_grid_point():
    key = Key(REGISTRY["ResamplerConstant"], {"interval": 5, "t0": 0})
    frontiers = [key.scalars["frontier"]]
    for time in (3, 4, 10, 12, 21):
        key.feed(time, 1.0)
        frontiers.append(key.scalars["frontier"])
    assert frontiers == [MOST, 4, 4, 14, 14, 24]


def test_no_grid_point_is_left_at_the_end_of_time():
    key = Key(REGISTRY["ResamplerConstant"], {"interval": 5})
    key.feed(MOST - 9, 1.0)
    assert key.scalars["frontier"] == MOST - 5
    key.feed(MOST - 3, 2.0)
    assert key.scalars["frontier"] == MOST - 1
    key.feed(MOST, 3.0)
    assert key.scalars["frontier"] == MOST


def test_time_shift_never_wraps():
    rows = [(LEAST, 1.0), (0, 2.0), (MOST, 3.0)]
    assert [v for _, v in run("TimeShift", rows, shift=1)] == [1.0, 2.0, "domain"]
    assert [v for _, v in run("TimeShift", rows, shift=-1)] == ["domain", 2.0, 3.0]
    assert run("TimeShift", [(-1, 4.0)], shift=LEAST + 1) == [(LEAST, 4.0)]


def test_integer_difference_that_does_not_fit_is_a_fault():
    rows = timed([LEAST, 0, MOST, -2, 5])
    assert run("Difference", rows, kind="integer") == [
        (1, "domain"),
        (2, MOST),
        (3, "domain"),
        (4, 7),
    ]


def test_integer_sum_stays_exact_beyond_64_bits():
    rows = timed([MOST, MOST, -5, LEAST, LEAST, 10])
    found = run("CumulativeSum", rows, kind="integer")
    assert [value for _, value in found] == [MOST, "domain", "domain", MOST - 6, -7, 3]


@pytest.mark.parametrize(
    ("values", "parameters", "expected"),
    [
        ([1.0, NAN, 5.0, NAN, 4.0], {"window": 3, "partial": True}, [1.0, NAN, 3.0, NAN, 3.5]),
        ([1.0, NAN, 5.0, NAN, 4.0], {"window": 3}, [3.0, NAN, 3.5]),
        ([0.1, 0.7, 0.3], {"window": 1}, [0.1, 0.7, 0.3]),
        ([0.1, 0.1, 0.1, 0.1], {"window": 3, "seed": "mean"}, [0.1, 0.1]),
        ([1.0, 2.0, 6.0, 5.0], {"window": 3, "seed": "mean"}, [3.0, 4.0]),
        ([1e308, -1e308, 1e308], {"window": 3, "partial": True}, [1e308, 0.0, 5e307]),
        ([1.0, INFINITY, 3.0, 4.0], {"window": 2}, [INFINITY] * 3),
        ([INFINITY, 1.0, -INFINITY, 4.0], {"window": 2, "seed": "mean"}, [INFINITY, NAN, NAN]),
    ],
)
def test_exponential_average(values, parameters, expected):
    found = run(EMA, timed(values), **parameters)
    assert text([value for _, value in found]) == text(expected)


def test_trackers_pass_over_nan():
    rows = timed([NAN, 3.5, NAN, 2.0, 9.0])
    assert [v for _, v in run("MinTracker", rows)] == [INFINITY, 3.5, 3.5, 2.0, 2.0]
    assert [v for _, v in run("MaxTracker", rows)] == [-INFINITY, 3.5, 3.5, 3.5, 9.0]
    rows = timed([4, 2**60 + 1, 2**60, 3])
    assert [v for _, v in run("MinTracker", rows, kind="integer")] == [4, 4, 4, 3]
    assert [v for _, v in run("MaxTracker", rows, kind="integer")][-1] == 2**60 + 1


@pytest.mark.parametrize("cls", WHOLE_OPERATORS, ids=name_of)
def test_integers_stay_integers(cls):
    parameters = {**cls.example.parameters}
    for time, value in run(cls, timed([3, 1, 2, 1, 5]), kind="integer", **parameters):
        assert type(time) is int
        assert type(value) is int


def test_every_operator_is_an_operator():
    assert all(issubclass(cls, Operator) for cls in ALL_OPERATORS)


def collect_used(function, found):
    """All steps that a step uses, by the names under which the generated module has them."""
    for name, value in find_globals(function).items():
        if getattr(value, "is_step", False):
            found.setdefault(name, set()).add(value)
            collect_used(value, found)


def test_no_two_steps_have_one_name_in_generated_modules():
    found = {}
    for module in pkgutil.walk_packages(rtbot.__path__, "rtbot."):
        if module.name.startswith(("rtbot.operators.", "rtbot.numeric.", "rtbot.compiler.")):
            for name, value in vars(importlib.import_module(module.name)).items():
                if getattr(value, "is_step", False) and value.__module__ == module.name:
                    found.setdefault(name, set()).add(value)
                    collect_used(value, found)
    assert {name for name, steps in found.items() if len(steps) > 1} == set()
