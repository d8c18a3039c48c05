"""A whole graph over complete streams, as a mapping of a graph file says it."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from rtbot.operator import (
    REGISTRY,
    Choices,
    Duration,
    Integers,
    Number,
    Numbers,
    Points,
    TimeSpan,
    WindowLength,
)
from tests.oracles.expressions import evaluate, parse
from tests.oracles.registry import ABSENT, FAULT, ORACLES, Oracle
from tests.oracles.streams import ALWAYS, OracleStream, pair
from tests.oracles.vectors import element, kind_of, type_of

NUMBERS = {"integer": int, "number": float}
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9}
NANOSECONDS |= {"h": 60 * NANOSECONDS["m"], "d": 24 * 60 * NANOSECONDS["m"]}


@dataclass
class Losses:
    """What happened to the rows at the ports of one operator."""

    rows: dict
    unmatched: dict
    held: dict
    domain: dict = field(default_factory=dict)
    tied: dict = field(default_factory=dict)
    alone: dict = field(default_factory=dict)


class Evaluation:
    """Streams of every port of a graph, and the losses of every operator, computed on demand."""

    def __init__(self, document, streams):
        unit = document.get("io", {}).get("unit")
        self.operators = {
            name: spec if isinstance(spec, str) else _in_unit(spec, unit)
            for name, spec in document.get("operators", {}).items()
        }
        self.params = {
            name: spec["default"] if isinstance(spec, dict) else spec
            for name, spec in document.get("params", {}).items()
        }
        self.ports = {name: {"o1": stream} for name, stream in streams.items()}
        self.losses = {}
        self.outputs = {public: self.stream(ref) for public, ref in document["outputs"].items()}

    def stream(self, ref):
        """The stream of `id`, `id.port` or `id.readable_name`, or of an element of it."""
        whole, _, place = ref.rpartition(".")
        if place.isdigit():
            return element(self.stream(whole), int(place))
        name, _, port = ref.partition(".")
        if name not in self.ports:
            self._run(name)
        ports = self.ports[name]
        if port and port not in ports:
            spec = self.operators[name]
            operator = REGISTRY[spec["type"]]
            arity = operator.count_arity(wiring(operator, spec))
            declared = operator.outputs_for(settings(operator, spec, self.params), arity)
            port = next(out.name for out in declared.values() if out.alias == port)
        return ports[port or "o1"]

    def _run(self, name):
        spec = self.operators[name]
        if isinstance(spec, str):
            self._run_expression(name, spec)
            return
        operator = REGISTRY[spec["type"]]
        oracle = ORACLES[operator.__name__]
        values = settings(operator, spec, self.params)
        streams = {
            port: self._fitting(operator, port, ref) for port, ref in wiring(operator, spec).items()
        }
        for port, declared in operator.inputs.items():
            if declared.within and port not in streams:
                vector = streams[declared.within]
                streams |= {declared.within: element(vector, 0), port: element(vector, 1)}
        roles = (
            oracle.roles(list(streams), **values)
            if oracle.roles
            else dict.fromkeys(streams, "must")
        )
        paired = pair(streams, roles, values.get("tolerance"), ABSENT)
        frontier = paired.frontier
        known = settings_for(oracle, values | {"frontier": frontier})
        answer = list(oracle.function(_rows_for(oracle, paired), **known))
        if oracle.frontier and frontier != ALWAYS:
            frontier = oracle.frontier(_rows_for(oracle, paired), frontier, **values)
        tied = Counter()
        if oracle.tied:
            for _, row in paired.rows:
                tied.update(oracle.tied(row, values["ties"]))
        types = operator.output_types(
            values,
            {p: type_of(s.kind, s.nullable or roles[p] != "must") for p, s in streams.items()},
        )
        kinds = {p: kind_of(t) for p, t in types.items()}
        self._keep(name, streams, paired, answer, kinds, frontier)
        self.losses[name].tied = tied
        self.losses[name].domain = _faults(paired, answer, roles)
        if values.get("how") == "asof":
            self.losses[name].alone = paired.alone

    def _fitting(self, operator, port, ref):
        stream = self.stream(ref)
        if operator.port(port).kind == "number" and stream.kind == "integer":
            rows = [(t, value if value is None else float(value)) for t, value in stream.rows]
            return OracleStream(rows, "number", stream.nullable, stream.frontier)
        return stream

    def _run_expression(self, name, text):
        kinds = References(self)
        term, refs = parse(text, kinds, self.params)
        streams = {ref: self.stream(ref) for ref in refs}
        paired = pair(streams, dict.fromkeys(streams, "must"))
        answer = [(time, evaluate(term, row)) for time, row in paired.rows]
        ports = {f"i{number}": stream for number, stream in enumerate(streams.values(), 1)}
        for table in (paired.unmatched, paired.held):
            for port, ref in zip(ports, refs, strict=True):
                table[port] = table.pop(ref)
        self._keep(name, ports, paired, answer, {"o1": term.kind}, paired.frontier)
        faults = _faults(paired, answer, dict.fromkeys(refs, "must"))
        self.losses[name].domain = dict(zip(ports, map(faults.__getitem__, refs), strict=True))

    def _keep(self, name, streams, paired, answer, kinds, frontier):
        rows = {port: len(stream.rows) for port, stream in streams.items()}
        self.losses[name] = Losses(rows, paired.unmatched, paired.held)
        messages = [(time, value) for time, value in answer if value is not FAULT]
        self.ports[name] = {}
        for place, (port, kind) in enumerate(kinds.items()):
            every = [(t, v[place] if isinstance(v, tuple) else v) for t, v in messages]
            own = [(time, value) for time, value in every if value is not ABSENT]
            if kind in NUMBERS:  # a constant is of the kind of the output
                own = [(t, v if v is None else NUMBERS[kind](v)) for t, v in own]
            self.ports[name][port] = OracleStream(own, kind, frontier=frontier)


def _faults(paired, answer, roles):
    """By port, the messages at times at which the answer does not exist; not those looked up."""
    faulty = Counter(time for time, value in answer if value is FAULT)
    found = Counter()
    for time, values in paired.rows:
        if faulty[time] > 0:  # of several rows of one time, so many as are faulty
            faulty[time] -= 1
            read = [port for port, value in values.items() if value is not ABSENT]
            found.update(port for port in read if roles[port] != "last")
    return found


class References(dict):
    """Kinds of references, looked up in an evaluation."""

    def __init__(self, evaluation):
        super().__init__()
        self.evaluation = evaluation

    def __missing__(self, ref):
        return self.evaluation.stream(ref).kind


def _in_unit(spec, unit):
    """The parameters of an operator with every duration, such as "5s", in the unit of the graph."""

    def convert(value):
        word = value.lstrip("-0123456789.") if isinstance(value, str) else ""
        if word not in NANOSECONDS or word in (unit, value):
            return value
        count = Fraction(value.removesuffix(word)) * NANOSECONDS[word] / NANOSECONDS[unit]
        return f"{int(count)}{unit}"

    return {name: convert(value) for name, value in spec.items()}


def _rows_for(oracle: Oracle, paired):
    if oracle.ports:
        return paired.rows
    return [(time, *values.values()) for time, values in paired.rows]


def settings_for(oracle, values):
    """The parameters an oracle names; the pairing has used up the others."""
    code = getattr(oracle.function, "__code__", None)
    takes_all = code is None or code.co_flags & 0x08
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    unasked = {"num_ports", "frontier"} - {*names}
    given = {name: value for name, value in values.items() if name not in unasked}
    return {name: value for name, value in given.items() if takes_all or name in names}


def settings(operator, spec, params):
    """Every declared parameter by its declared name, with defaults and `$p` replaced."""
    values = {}
    for name, parameter in operator.parameters.items():
        given = [spec[key] for key in (name, *parameter.aliases) if key in spec]
        value = given[0] if given else parameter.default
        if isinstance(value, str) and value.startswith("$"):
            value = params[value[1:]]
        values[name] = value if value is None else _converted(parameter, value)
    return values


def _converted(parameter, value):
    match parameter:
        case Number():
            return float(value)
        case Integers():
            return value
        case Numbers():
            return [float(item) for item in value]
        case Choices():
            return parameter.normalise(value)
        case WindowLength():
            is_text = isinstance(value, str)
            return TimeSpan(value.rstrip("nsmhd")) if is_text else value
        case Points():
            return [(float(x), float(y)) for x, y in value]
        case Duration():
            return int(str(value).rstrip("nsmhd"))  # the cases write spans in their own unit
    return value


def wiring(operator, spec):
    """Port to reference, in the order of the ports."""
    feeds = {}
    for group, letter in (("in", "i"), ("control", "c")):
        given = spec.get(group, [])
        if isinstance(given, dict):
            aliases = {port.alias: name for name, port in operator.inputs.items() if port.alias}
            feeds |= {aliases.get(port, port): ref for port, ref in given.items()}
            continue
        refs = [given] if isinstance(given, str) else given
        feeds |= {f"{letter}{place}": ref for place, ref in enumerate(refs, 1)}
    return dict(sorted(feeds.items(), key=lambda item: (item[0][0] == "c", int(item[0][1:]))))
