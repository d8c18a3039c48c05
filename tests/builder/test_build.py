"""Graphs that are built in Python are the graphs that files say, and mistakes have their line."""

import inspect
import math
import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import rtbot
from rtbot import ops
from rtbot.builder import record
from rtbot.builder.expression_text import format_operand
from rtbot.builder.stub import render_stub
from rtbot.expression import parse_expression, without_place
from rtbot.operator import REGISTRY, In, Number, Operator, Out, step
from tests.catalogue import catalogue
from tests.expression_texts import RandomExpressionWriter
from tests.oracles.vectors import example_kind

ROOT = Path(__file__).parents[2]


def bollinger():
    g = rtbot.Builder("bollinger", description="bands around an average")
    window = g.parameter("window", 20, type="integer", minimum=2, doc="prices in the average")
    width = g.parameter("width", 2, type="number", minimum=0)
    price = g.input("price")
    ma = ops.MovingAverage(price, window=window, id="ma", doc="the middle")
    sd = ops.StandardDeviation(price, window=window)
    g.output(upper=ma + width * sd, middle=ma, lower=ma - width * sd)
    g.io(key=["symbol"])
    rows = [[1, 5], [2, 5], [3, 5]]
    g.test("no width", params={"window": 3}, given={"price": rows}, expect={"upper": [[3, 5]]})
    return g


def test_what_is_built_is_a_graph_file():
    graph = bollinger().graph()
    assert (
        graph.to_yaml()
        == """\
version: 1
name: bollinger
description: bands around an average

params:
  window: {type: integer, default: 20, min: 2, doc: prices in the average}
  width: {type: number, default: 2, min: 0}

inputs:
  price: number

operators:
  ma: {type: MovingAverage, in: price, window: $window, doc: the middle}
  standard_deviation: {type: StandardDeviation, in: price, window: $window}
  upper: ma + $width * standard_deviation
  lower: ma - $width * standard_deviation

outputs: {upper: upper, middle: ma, lower: lower}

tests:
  - name: no width
    params: {window: 3}
    given: {price: [[1, 5], [2, 5], [3, 5]]}
    expect: {upper: [[3, 5]]}

io: {key: [symbol]}
"""
    )
    assert rtbot.load(graph.to_yaml()) == graph
    assert graph.run({"price": {"symbol": ["A"] * 20, "t": range(20), "value": [1.0] * 20}})[
        "upper"
    ]["value"].tolist() == [1.0]


def test_a_graph_can_be_taken_while_it_grows():
    g = bollinger()
    first = g.graph(window=5)
    g.output(twice=ops.Scale(g.made[0].feeds["i1"][1], value=2))
    assert list(first.checked.outputs) == ["upper", "middle", "lower"]
    assert list(g.graph().checked.outputs) == ["upper", "middle", "lower", "twice"]
    assert first.checked.params["window"] == 5


def as_given(cls, streams):
    """The streams by position: those of a variadic port that is not the last as a list."""
    *ports, last = cls.inputs.values()
    rest = len(streams) - sum(not port.variadic for port in (*ports, last))
    several = rest // sum(port.variadic for port in (*ports, last)) if rest else 0
    streams, given = iter(streams), []
    for port in ports:
        own = [next(streams) for _ in range(several if port.variadic else 1)]
        given.append(own if port.variadic else own[0])
    return [*given, *streams]


@pytest.mark.parametrize("name", catalogue())
def test_every_operator_has_a_constructor(name):
    cls = catalogue()[name]
    example = cls.example
    g = rtbot.Builder("g")
    kinds = {port: example_kind(cls, port) for port in example.inputs}
    streams = [g.input(f"x_{port}", kind) for port, kind in kinds.items()]
    made = getattr(ops, name)(*as_given(cls, streams), **example.parameters, id="node")
    outputs = list(made) if isinstance(made, rtbot.builder.Streams) else [made]
    g.output(**{f"out{k}": stream for k, stream in enumerate(outputs)})
    ports = [f"node.{port}" for port in example.outputs]
    operator = {"type": name, **example.parameters}
    operator |= {"in": {port: f"x_{port}" for port in example.inputs}}
    document = {
        "name": "g",
        "inputs": {f"x_{port}": kind for port, kind in kinds.items()},
        "operators": {"node": operator},
        "outputs": {f"out{k}": port for k, port in enumerate(ports)},
    }
    assert g.graph() == rtbot.load(document)


# ---- expressions


def rebuilt(term, builder, streams):
    """An expression of Python, by Python's own operators, from the term of a text."""
    args = [rebuilt(arg, builder, streams) for arg in term.args]
    if term.op == "constant":
        return term.value
    if term.op == "name":
        return streams.get(term.value, {"nan": math.nan, "inf": math.inf}.get(term.value))
    if term.op == "parameter":
        return streams[f"${term.value}"]
    if term.op == "call":
        return getattr(ops, {"if": "if_"}.get(term.value, term.value))(*args)
    return SIGNS[term.op](*args)


SIGNS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
    "neg": lambda a: -a,
}
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def shape(term):
    """A term without places; Python turns `1 < x` around, and knows NaN only as a number."""
    args = [shape(arg) for arg in term.args]
    mirrored = term.op in (*MIRRORED, "==", "!=") and term.args[0].op == "constant"
    if mirrored:
        return MIRRORED.get(term.op, term.op), repr(term.value), args[::-1]
    return term.op, repr(term.value), args


def test_expressions_of_python_are_those_of_the_file():
    rng = random.Random(7)
    names = {"a": "number", "b-c": "number", "n.o1": "integer", "f": "boolean"}
    written = 0
    for _ in range(2_000):
        g = rtbot.Builder("g")
        streams = {name: g.input(name) for name in names}
        streams["$p"], streams["$q"] = g.parameter("p", 1.5), g.parameter("q", 2)
        refs = [(name, rtbot.operator.Type(kind)) for name, kind in names.items()]
        try:
            text, _ = RandomExpressionWriter(rng, refs, {"number": ["p"], "integer": ["q"]}).top(
                "number", 4
            )
        except (LookupError, TypeError):
            continue
        term = parse_expression(text, without_place)
        if constant_part(term):
            continue
        written += 1
        again = parse_expression(format_operand(rebuilt(term, g, streams)), without_place)
        assert shape(again) == shape(term), text
    assert written > 500


def constant_part(term):
    """Whether Python would compute a part by itself."""
    alone = term.args and all(arg.op == "constant" for arg in term.args)
    return alone or any(map(constant_part, term.args))


def test_numbers_of_every_kind_stand_in_expressions():
    g = rtbot.Builder("g")
    x, word = g.input("x"), g.input("not")
    shown = {
        "x / `not`": x / word,
        "2 + x": 2 + x,
        "x ** 0.5": x ** np.float64(0.5),
        "(-2) ** x": (-2) ** x,
        "-x ** 2": -(x**2),
        "(-x) ** 2": (-x) ** 2,
        "x - (x - 1)": x - (x - 1),
        "x + nan": x + math.nan,
        "x * 1e-07": x * 1e-7,
        "x - -inf": x - -math.inf,
        "not (x > 1 and x < 3)": ~((x > 1) & (x < 3)),
        "(x > 1) == true": (x > 1) == True,  # noqa: E712
        "abs(round(x)) + floor(x) + ceil(x)": abs(round(x)) + math.floor(x) + math.ceil(x),
        "if(x > 0, max(x, 1, 2), coalesce(x, 0))": ops.if_(
            x > 0, ops.max(x, 1, 2), ops.coalesce(x, 0)
        ),
    }
    assert list(map(format_operand, shown.values())) == list(shown)


def lines(g):
    text = g.graph().to_yaml()
    return text[text.index("operators:\n") :].split("\n\n", maxsplit=1)[0].splitlines()[1:]


def test_a_part_that_is_used_twice_is_an_operator_of_its_own():
    g = rtbot.Builder("g")
    x, y = g.input("x"), g.input("y")
    gap = abs(x - y)
    k = g.parameter("k", 2.0) * 3
    g.output(narrow=gap < k, wide=gap > k, mean=ops.MovingAverage(x / y, window=2))
    assert lines(g) == [
        "  value: abs(x - y)",
        "  narrow: value < $k * 3",
        "  wide: value > $k * 3",
        "  value_2: x / y",
        "  mean: {type: MovingAverage, in: value_2, window: 2}",
    ]


def test_what_doubles_at_every_step_stays_small():
    g = rtbot.Builder("g")
    x = g.input("x")
    for _ in range(50):
        x = x + x
    g.output(x50=x)
    assert lines(g)[-1] == "  x50: value_49 + value_49"


def test_names_come_from_the_id_the_output_or_the_type():
    g = rtbot.Builder("g")
    scale = g.input("scale")
    first, second = ops.Scale(scale, value=1), ops.Scale(scale, value=2)
    third = ops.Scale(scale, value=3, id="value")
    half = (third / 2).named("half-of-it")
    g.output(one=first, scale=second, other=third, again=third, sum=half + third * half)
    assert lines(g) == [
        "  one: {type: Scale, in: scale, value: 1}",
        "  scale_2: {type: Scale, in: scale, value: 2}",
        "  value: {type: Scale, in: scale, value: 3}",
        "  half-of-it: value / 2",
        '  sum: "`half-of-it` + value * `half-of-it`"',
    ]


def test_ports_are_given_by_position_by_name_or_unpacked():
    g = rtbot.Builder("g")
    x, y = g.input("x"), g.input("y")
    joined = ops.Join(x, y)
    left, right = joined
    assert len(joined) == 2
    assert format_operand(left + joined.o1 + joined[0]) == "Join.o1 + Join.o1 + Join.o1"
    g.output(
        a=ops.Variable(c1=left, i1=right),
        b=ops.CompareSyncGT(right, i2=left),
        c=ops.Merge(*joined, ties=g.parameter("ties", "last")),
        d=ops.Linear(x, y, coefficients=np.array([1.0, 2.0])),
        e=ops.MovingAverage(i1=left, window_size=3),
        f=ops.TimeShift(left, shift=timedelta(seconds=2)),
    )
    g.io(unit="ms")
    assert lines(g) == [
        "  join: {type: Join, in: [x, y]}",
        "  a: {type: Variable, in: join.o2, control: join.o1}",
        "  b: {type: CompareSyncGT, in: [join.o2, join.o1]}",
        "  c: {type: Merge, in: [join.o1, join.o2], ties: $ties}",
        "  d: {type: Linear, in: [x, y], coefficients: [1.0, 2.0]}",
        "  e: {type: MovingAverage, in: join.o1, window_size: 3}",
        "  f: {type: TimeShift, in: join.o1, shift: 2000000us}",
    ]


# ---- mistakes


MISTAKES = [
    ("ops.MovingAverage(price, windw=20)", "RT104", "windw", "did you mean 'window'?"),
    ("ops.MovingAverage(price)", "RT111", "ops.MovingAverage(price)", "messages in the window"),
    ("ops.MovingAverage(price, window=0)", "RT112", "0", ""),
    ("ops.MovingAverage(price, window='a')", "RT113", "'a'", ""),
    ("ops.MovingAverage(price, price, window=2)", "RT122", "price", "there is only i1"),
    ("ops.Join(price).o1", "RT123", "ops.Join(price)", ""),
    ("ops.MovingAverage(word, window=2)", "RT125", "word", ""),
    ("ops.Scale(price,\n    value=True)", "RT113", "True", ""),
    ("price + word", "RT133", "price + word", ""),
    ("1 + (price * 2 > word)", "RT133", "price * 2 > word", ""),
    ("ops.sqrt(price) * ops.log(word)", "RT133", "ops.log(word)", ""),
    ("ops.sqrt(price, price)", "RT132", "ops.sqrt(price, price)", ""),
    ("price + 2 ** 70", "RT134", "price + 2 ** 70", ""),
    ("ops.Scale(price, value=1, id='price')", "RT106", "'price'", "choose another id"),
    ("ops.Scale(price, value=1, id='1x')", "RT107", "'1x'", ""),
    ("ops.Scale(price, value=1, doc=[1])", "RT105", "[1]", ""),
    ("ops.Scale(price, value=object())", "RT105", "object()", ""),
    ("(price + 1).named('no good')", "RT107", "'no good'", ""),
    ("g.input('x', 'numbr')", "RT140", "'numbr'", "did you mean 'number'?"),
    ("g.input('x', type='numbr')", "RT140", "'numbr'", "did you mean 'number'?"),
    ("g.input('price')", "RT106", "'price'", ""),
    ("g.parameter('p', 3, maximum=2)", "RT112", "3", ""),
    ("g.parameter('p')", "RT110", "'p'", ""),
    ("g.output(**{'a b': price})", "RT107", "g.output(**{'a b': price})", ""),
    ("g.io(unit='hours')", "RT112", "'hours'", ""),
    ("g.io(unti='s')", "RT104", "unti", "did you mean 'unit'?"),
    ("g.test('t', given={'prize': []}, expect={})", "RT120", "{'prize': []}", "'price'"),
    ("g.output(ü=ops.Scale(price, value='ü'))", "RT113", "'ü'", ""),
]


@pytest.mark.parametrize(("code", "problem", "underlined", "hint"), MISTAKES, ids=str)
def test_a_mistake_is_underlined_in_the_python_file(code, problem, underlined, hint, tmp_path):
    path = tmp_path / "user.py"
    text = dedent("""\
        import rtbot
        from rtbot import ops

        g = rtbot.Builder("g")
        price, word = g.input("price"), g.input("word", "text")
        """)
    bare = code.startswith("g.")
    text += f"{code if bare else f'g.output(out={code})'}\ng.output(last=price)\ng.graph()\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rtbot.GraphError) as caught:
        run(path)
    first = next(found for found in caught.value.problems if found.code == problem)
    assert first.mark.file == str(path)
    assert first.source == text.splitlines()[first.mark.line - 1]
    start = first.mark.column - 1
    assert first.source[start : start + first.mark.length] == underlined
    assert hint in first.hint
    assert "^" * len(underlined) in str(first)


def run(path):
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {})  # noqa: S102


def test_a_graph_without_an_output_names_the_file():
    g = rtbot.Builder("g")
    ops.Scale(g.input("x"), value=2)
    with pytest.raises(rtbot.GraphError) as caught:
        g.graph()
    assert [(p.code, p.mark.file) for p in caught.value.problems] == [("RT110", __file__)]


def test_all_mistakes_are_told_at_once_and_warnings_too():
    g = rtbot.Builder("g")
    x = g.input("x")
    g.output(a=ops.Scale(x, valu=1), b=ops.Lag(x, n=-1))
    with pytest.raises(rtbot.GraphError) as caught:
        g.graph()
    assert [problem.code for problem in caught.value.problems] == ["RT104", "RT112"]
    g = rtbot.Builder("g")
    x = g.input("x")
    ops.Scale(x, value=1)
    g.output(x=x)
    (warning,) = g.graph().warnings
    assert (warning.code, "ops.Scale(x, value=1)" in warning.source) == ("RT191", True)


def other():
    return rtbot.Builder("h").input("y")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ops.Scale(3, value=2)", "Scale needs a stream for i1"),
        ("ops.Join(x, 3)", "Join.i2 is 3: give a stream"),
        ("ops.Join(x, other())", "belongs to another Builder"),
        ("x + other()", "belongs to another Builder"),
        ("ops.Abs(x, i1=x)", "Abs.i1 is given twice"),
        ('ops.Abs(g.parameter("p", 2))', "give a stream"),
        ("ops.Abs(ops.Join(x, x))", "choose one of its outputs"),
        ("g.output(y=ops.Join(x, x))", "choose one of its outputs"),
        ("g.output(y=2)", "the output y is 2: give a stream"),
        ("ops.Join(x, x) and ops.Join(x, x).o3", "there are o1, o2"),
        ("ops.MovingAvrage(x)", "did you mean 'MovingAverage'?"),
        ('x + "a"', "not of str"),
        ("x + None", "not of NoneType"),
        ("ops.sqrt(2)", "there is `math`"),
        ("x > 1 and x < 3", "a & b"),
        ("1 < x < 3", "(a < b) & (b < c)"),
        ("list(x)", "nothing to unpack"),
        ('x.named("z")', "has a name"),
        ("sum([x] * 100)", "more than 60 levels"),
    ],
)
def test_what_python_itself_would_refuse(code, message):
    g = rtbot.Builder("g")
    with pytest.raises((TypeError, AttributeError, rtbot.GraphError)) as caught:
        exec(code, {"g": g, "x": g.input("x"), "ops": ops, "other": other})  # noqa: S102
    assert message in str(caught.value)


# ---- operators of one's own, editors and type checkers


@pytest.fixture
def twice():
    """An operator of one's own, for the time of a test."""

    class TwiceForBuild(Operator):
        """The value, and the value twice."""

        by = Number(default=2.0, required=False, doc="how often")
        i1 = In("number", alias="values", doc="values")
        o1 = Out("number", alias="once", doc="as it is")
        o2 = Out("number", alias="often", doc="several times")

        @step
        def step(i1, by):  # noqa: N805
            return i1, i1 * by

    yield TwiceForBuild
    del REGISTRY["TwiceForBuild"]


def test_operators_of_ones_own_have_constructors(twice):
    g = rtbot.Builder("g")
    made = ops.TwiceForBuild(values=g.input("x"), by=3)
    g.output(often=made.often, once=made.once)
    assert lines(g) == ["  twice_for_build: {type: TwiceForBuild, in: x, by: 3}"]
    result = g.graph().start(compiled=False).push({"x": {"t": [1], "value": [2.0]}})
    assert result["often"]["value"].tolist() == [6.0]
    assert ops.of(twice) is ops.TwiceForBuild
    assert "TwiceForBuild" in dir(ops)
    assert "once: as it is" in inspect.getdoc(ops.TwiceForBuild)
    shown = str(inspect.signature(ops.TwiceForBuild)).replace("'", "")
    told = "(values: Stream, *, by: float | ParameterRef = 2.0, **about: Unpack[About]) -> Streams"
    assert shown == told


def test_a_record_is_a_stream_for_each_field():
    g = rtbot.Builder("quotes")
    io = {"columns": {"bid": "Best Bid"}}
    quote = g.input("quote", record(bid="number", ask="number?"), doc="x", io=io)
    bid, ask = quote
    assert quote.bid is quote["bid"] is bid
    g.output(
        spread=ask - bid, best={"bid": bid, "mean": ops.MovingAverage(bid, window=2)}, all=quote
    )
    expected = """
inputs:
  quote: {record: {bid: number, ask: "number?"}, doc: x, io: {columns: {bid: Best Bid}}}
operators:
  spread: quote.ask - quote.bid
  moving_average: {type: MovingAverage, in: quote.bid, window: 2}
outputs:
  spread: spread
  best: {bid: quote.bid, mean: moving_average}
  all: {bid: quote.bid, ask: quote.ask}
"""
    built, loaded = g.graph(), rtbot.load(expected)
    assert built.checked.nodes.keys() == loaded.checked.nodes.keys()
    assert built.checked.outputs == loaded.checked.outputs
    assert rtbot.load(built.to_yaml()).checked.outputs == loaded.checked.outputs
    with pytest.raises(AttributeError, match="did you mean 'bid'"):
        _ = quote.bidd
    with pytest.raises(KeyError, match="there are bid, ask"):
        quote["x"]
    bad = rtbot.Builder("bad")
    bad.output(x=bad.input("quote", record(t="number")).t)
    with pytest.raises(rtbot.GraphError, match="as the time of a message"):
        bad.graph()


def test_the_stub_is_what_the_declarations_say():
    written = (ROOT / "rtbot" / "ops.pyi").read_text(encoding="utf-8")
    assert written == render_stub(), "run `make constructors`"


GOOD = """\
import rtbot
from rtbot import ops

g = rtbot.Builder("good")
window = g.parameter("window", 20, minimum=2)
price = g.input("price", "number")
mean = ops.MovingAverage(price, window=window, id="mean")
a, b = ops.Join(mean, price, how="asof", tolerance="5s")
low = ops.WindowMinMax(price, window=3, mode="min")
g.output(upper=mean + window * a, near=ops.if_(price > low, 1, 0), other=ops.Join(a, b).o1)
g.io(unit="ms", key="symbol")
graph: rtbot.Graph = g.graph(window=3)
text: str = graph.to_yaml()
"""
BAD = {
    "ops.MovingAverage(price, window=2.5)": "arg-type",
    "ops.MovingAverage(price)": "call-arg",
    "ops.MovingAverage(price, window=2, partial=2.5)": "arg-type",
    "ops.WindowMinMax(price, window=3, mode='mini')": "arg-type",
    "ops.MovingAvrage(price, window=3)": "attr-defined",
    "ops.Scale(3, value=2)": "arg-type",
    "ops.Scale(g.parameter('p', 2), value=2)": "arg-type",
    "ops.sqrt('2')": "arg-type",
    "price + 'a'": "operator",
    "g.output(x=3)": "arg-type",
    "g.io(unti='s')": "call-arg",
}


def test_type_checkers_know_every_operator(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    head = "from rtbot import Builder, ops\n\ng = Builder('bad')\nprice = g.input('price')\n"
    (tmp_path / "bad.py").write_text(head + "".join(f"{line}\n" for line in BAD))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "users"),
    ]
    command += ["good.py", "bad.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = {int(line.split(":")[1]): line.rsplit("[", 1)[-1].rstrip("]") for line in errors}
    assert not [line for line in errors if not line.startswith("bad.py")], done.stdout
    assert found == dict(enumerate(BAD.values(), start=5)), done.stdout
