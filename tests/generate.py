"""Random cases, drawn from the registry: a graph, data for it, and schedules that feed it."""

import itertools
import random
from dataclasses import dataclass, replace

from rtbot.conformance import random_rows
from rtbot.conformance.random_cases import draw_arity
from rtbot.core.times import INT64_MAX
from rtbot.operator import Duration, Integer, Number, Space, TimeSpan, Type, WindowLength
from tests.catalogue import catalogue, pairing_pool, topics
from tests.expression_texts import RandomExpressionWriter
from tests.oracles.expressions import parse
from tests.oracles.vectors import kind_of, type_of
from tests.refusals import add_refusals
from tests.schedules import STYLES, schedule, schedule_whole

KINDS = ["number", "number", "number", "integer", "integer", "boolean", "text"]
TANGLED = 0.3
"""Share of graphs that are about pairing: few kinds of operators, everything joined with all."""
EAGER = 0.3
"""Share of cases in which a schedule advances the inputs wherever it may."""
NUMERIC = ["number", "integer"]
NUMERIC_TIES = ("min", "max", "sum", "mean")
"""Rules for equal times that only numbers have."""
PARAMS = {
    "level": {"type": "number", "default": 1.5},
    "whole": {"type": "integer", "default": 2},
}


@dataclass
class Case:
    """A graph file, the key columns, the rows in order of arrival per input and key, schedules."""

    document: dict
    keys: tuple
    rows: list
    schedules: list
    name: str = ""
    trials: tuple = ()
    """What is checked besides the schedules (tests/trials.py), with numbers drawn by the name."""
    limit: int = 2
    """How many rows may wait at a port where queues are short."""
    prompt: bool = True
    """Whether all that is certain has to come out at once. Where frontiers leave int64 and come
    back they are bounds, and some rows come later."""


def case(seed, *, schedules=2, most=12, first=()):
    """The case of a seed, with these classes of operators and at most so many others."""
    rng = random.Random(seed)
    times = random_rows.draw_times(rng, rng.randint(1, 16))
    tangled = rng.random() < TANGLED
    graph = Grower(rng, times[-1] - times[0] + 1, pairing_pool() if tangled else None)
    for cls in first:
        graph.add(cls)
    graph.grow(rng.randint(1, most))
    styles = ["whole", *(rng.choice(STYLES) for _ in range(schedules - 1))]
    if random.Random(f"{seed}/eager").random() < EAGER:
        styles[-1] = "eager"
    return add_refusals(random.Random(f"{seed}/wrong"), feed_graph(rng, graph, times, styles))


def case_of(seed, classes, styles):
    """A case whose graph has one operator of each class, and what they need."""
    rng = random.Random(seed)
    times = random_rows.draw_times(rng, rng.randint(8, 24))
    graph = Grower(rng, span=times[-1] - times[0] + 1)
    for cls in classes:
        graph.add(cls)
    return feed_graph(rng, graph, times, styles)


def feed_graph(rng, graph, times, styles):
    """The grown graph with data and schedules."""
    rules = random_rows.draw_policies(rng)
    if any(type_.kind not in NUMERIC for type_ in graph.inputs.values()):
        rules.duplicates = rules.duplicates.replace("sum", "first").replace("min", "last")
        rules.duplicates = rules.duplicates.replace("max", "error")
    columns, run_keys = random_rows.draw_keys(rng)
    rows = []
    for key in run_keys:
        for name, type_ in graph.inputs.items():
            source = random_rows.draw_values(rng, kind_of(type_), nullable=type_.nullable)
            rows += random_rows.draw_arrivals(
                rng, (name, key), source, times, allowed(rules, type_)
            )
    plans = [
        schedule_whole(rows) if style == "whole" else schedule(rng, rows, style, rules)
        for style in styles
    ]
    return Case(graph.document(rules), columns, rows, plans)


def allowed(rules, type_):
    """What happens to equal times of nulls under a rule for numbers is not put to the test."""
    if not type_.nullable or rules.duplicates in ("first", "last"):
        return rules
    return random_rows.Policies(rules.late, "error", rules.lateness)


class Grower:
    """Grows a graph operator by operator; every new one is fed from what is already there."""

    def __init__(self, rng, span, pool=None):
        self.rng, self.span, self.unit = rng, span, ""
        self.topics = topics(pool or catalogue())
        self.all = list(itertools.chain.from_iterable(self.topics))
        self.inputs, self.operators, self.types, self.used = {}, {}, {}, set()
        for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
            self._add_input(rng.choice(KINDS), nullable=rng.random() < 0.2)

    def grow(self, count):
        """Add `count` operators: expressions, any of all operators, or any of a topic.

        By topic alone, those of a large topic would hardly be met; without, those that stand alone.
        """
        for _ in range(count):
            if self.rng.random() < 0.25:
                self.add_expression()
            else:
                drawn = self.rng.choice([self.all, self.rng.choice(self.topics)])
                self.add(self.rng.choice(drawn))

    def add(self, cls, required=()):
        """Add one operator of the class; `required` parameters override the drawn ones."""
        for _ in range(20):
            values = {n: v for n, p in cls.parameters.items() if (v := self._draw(p)) is not None}
            values |= dict(required)
            complete = {name: parameter.default for name, parameter in cls.parameters.items()}
            complete |= {name: _resolve_value(value) for name, value in values.items()}
            arity = draw_arity(self.rng, cls, complete)
            if not cls.check(complete, arity) and complete.get("score_index", 0) < arity:
                return self._wire(cls, values, complete, arity)
        return None

    def _wire(self, cls, values, complete, arity):
        filled = complete.get("how") in ("value", "linear")
        numeric = filled or complete.get("ties") in NUMERIC_TIES
        numeric = cls.ports(arity) if numeric else []
        if "score_index" in complete:
            numeric = [f"i{complete['score_index'] + 1}"]
        alone = cls.ports(arity) == ["i1"] and cls.role("i1", complete) == "must"
        alone = alone and not cls.variant(complete).sets_time
        feeds = self._feeds(cls, arity, numeric, _least_size(complete), alone=alone)
        spec = {"type": self.rng.choice(_names(cls))} | self._wiring(feeds) | values
        name = self._fresh("n")
        self.operators[name] = spec
        roles = cls.roles(complete, list(feeds))
        types = {
            port: t.as_nullable(nullable=t.nullable or roles[port] != "must")
            for port, t in ((port, self.types[ref]) for port, ref in feeds.items())
        }
        outputs = cls.output_types(complete, types)
        makers = {self.types[ref].repeats for ref in feeds.values()} - {""}
        if any(out.repeats for out in cls.outputs.values()):
            makers = {name}
        for maker in makers:
            outputs = {port: replace(type_, repeats=maker) for port, type_ in outputs.items()}
        self._declare(name, outputs)
        return name

    def add_expression(self):
        """Add one expression of a random kind."""
        single = [(ref, type_) for ref, type_ in self.types.items() if not type_.repeats]
        refs = [item for item in single if self.rng.random() < 0.6]
        several = [(ref, type_) for ref, type_ in self.types.items() if type_.repeats]
        if several and self.rng.random() < 0.5:
            refs = [self.rng.choice(several)]
        params = {"number": ["level"], "integer": ["whole"]}
        kind = self.rng.choice(["number", "number", "integer", "boolean", "text"])
        try:
            written = RandomExpressionWriter(self.rng, refs, params).top(
                kind, self.rng.randint(1, 3)
            )
        except LookupError:
            return
        kinds = {ref: type_.kind for ref, type_ in refs}
        values = {param: spec["default"] for param, spec in PARAMS.items()}
        if written and parse(written[0], kinds, values)[1]:  # one that reads no stream is refused
            name = self._fresh("x")
            self.operators[name] = written[0]
            kind = parse(written[0], kinds, values)[0].kind  # whole numbers may stay integer
            repeats = refs[0][1].repeats if refs else ""
            self._declare(name, {"o1": Type(kind, written[1].nullable, repeats=repeats)}, bare=True)
            self.used |= {ref for ref, _ in refs}

    def document(self, rules):
        """The graph file: every stream that nobody reads is an output, and some that are read."""
        shown = [ref for ref in self.types if ref not in self.used or self.rng.random() < 0.2]
        document = {
            "params": PARAMS,
            "inputs": {name: str(type_) for name, type_ in self.inputs.items()},
            "operators": self.operators,
            "outputs": {f"out{number}": ref for number, ref in enumerate(shown)},
        }
        io = ({"unit": self.unit} if self.unit else {}) | rules.io()
        return document | ({"io": io} if io else {})

    def _feeds(self, cls, arity, numeric, size, *, alone):
        feeds, shared = {}, {}
        keyed = any(isinstance(item, Space) for item in cls.state.values())
        whole = not (numeric or keyed) and (
            cls.formula is not None or all(out.kind != "T" for out in cls.outputs.values())
        )
        for port in cls.ports(arity):
            declared = cls.port(port)
            anything = NUMERIC if port in numeric else KINDS
            kinds = {"N": NUMERIC, "T": anything}.get(declared.kind, [declared.kind])
            generic = declared.kind in ("T", "N") and not cls.mixed
            if declared.kind == "vector":
                kinds = [f"vector[{n}]" for n in range(size, size + 3)]
            if generic and declared.kind in shared:
                kinds = [shared[declared.kind]]
            others = {kind_of(t) for t in self.types.values() if t.kind == "vector"}
            others = others if declared.kind == "T" and whole and kinds == KINDS else set()
            feeds[port] = self._source(kinds, declared.nullable, others, repeating=alone)
            shared.setdefault(declared.kind, kind_of(self.types[feeds[port]]))
        self.used |= set(feeds.values())
        return feeds

    def _source(self, kinds, nullable, others=(), *, repeating=False):
        """A stream of one of the kinds, or of what is there of others."""
        fitting = [
            ref
            for ref, type_ in self.types.items()
            if kind_of(type_) in {*kinds, *others}
            and (nullable or not type_.nullable)
            and (repeating or not type_.repeats)
        ]
        fresh = [ref for ref in fitting if ref not in self.used]
        if fresh and self.rng.random() < 0.5:
            return self.rng.choice(fresh)
        if fitting and (len(self.inputs) > 3 or self.rng.random() < 0.9):
            return self.rng.choice(fitting)
        return self._add_input(
            self.rng.choice(list(kinds)), nullable=nullable and self.rng.random() < 0.3
        )

    def _wiring(self, feeds):
        wiring = {}
        for group, letter in (("in", "i"), ("control", "c")):
            own = {port: ref for port, ref in feeds.items() if port[0] == letter}
            if not own:
                continue
            refs = list(own.values())
            forms = [refs, own] + ([refs[0]] if len(refs) == 1 else [])
            wiring[group] = self.rng.choice(forms)
        return wiring

    def _draw(self, parameter):
        if not parameter.required and self.rng.random() < 0.4:
            return None
        if isinstance(parameter, Number):
            return self._draw_number(parameter)
        if isinstance(parameter, Duration):
            return self._draw_duration(parameter)
        if isinstance(parameter, WindowLength):
            return self._draw_window(parameter)
        value = parameter.draw(self.rng, self.span)
        if isinstance(parameter, Integer) and not parameter.odd:
            low, high = parameter.find_limits()
            return "$whole" if low <= 2 <= high and self.rng.random() < 0.1 else value
        return value

    def _draw_window(self, parameter):
        value = parameter.draw(self.rng, self.span)
        if isinstance(value, str):
            self.unit = "ns"
            return value
        return "$whole" if not parameter.odd and self.rng.random() < 0.1 else value

    def _draw_number(self, parameter):
        if parameter.minimum is parameter.maximum is None and self.rng.random() < 0.1:
            return "$level"
        return parameter.draw(self.rng, self.span)

    def _draw_duration(self, parameter):
        chosen = parameter.draw(self.rng, self.span)
        if chosen == INT64_MAX:  # what is shifted so far may meet again what is not
            self.span = max(self.span, chosen)
        return chosen

    def _add_input(self, kind, *, nullable):
        name = self._fresh("in")
        self.inputs[name] = type_of(kind, nullable)
        self._note(name, self.inputs[name])
        return name

    def _note(self, ref, type_):
        """Note what there is to read: a stream, and the elements of a vector."""
        self.types[ref] = type_
        for place, field in enumerate(type_.fields):
            self.types[f"{ref}.{place}"] = replace(field.type, repeats=type_.repeats)

    def _fresh(self, prefix):
        dash = self.rng.choice(["", "", "-", "_"])
        return f"{prefix}{dash}{len(self.inputs) + len(self.operators)}"

    def _declare(self, name, outputs, *, bare=False):
        for port, type_ in outputs.items():
            alone = len(outputs) == 1 and (bare or self.rng.random() < 0.5)
            self._note(name if alone else f"{name}.{port}", type_)


def _least_size(values):
    """How many elements a vector needs for these parameters."""
    indices = values.get("indices") or [values.get("index") or 0]
    return max(indices) + 1


def _names(cls):
    return [cls.__name__, *cls.aliases]


def _resolve_value(value):
    if isinstance(value, str) and value.startswith("$"):
        return PARAMS[value[1:]]["default"]
    if isinstance(value, list) and isinstance(value[0], list):
        return sorted(value, key=lambda point: point[0])
    is_span = isinstance(value, str) and value.endswith("ns") and value[0].isdigit()
    return TimeSpan(value.removesuffix("ns")) if is_span else value
