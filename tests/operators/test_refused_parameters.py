"""Parameters at their extremes that are no parameters: a code for each, before any data.

What their neighbours give that are parameters is in `tests/golden/edge_cases.jsonl`.
"""

import pytest

import rtbot

SECONDS = {"io": {"unit": "s"}}


def load(kind, operator, io):
    names = [kind] if isinstance(kind, str) else kind
    inputs = {f"x{place}": own for place, own in enumerate(names)}
    wired = {"in": list(inputs)} | operator
    return rtbot.load({"inputs": inputs, "operators": {"y": wired}, "outputs": ["y.o1"]} | io)


@pytest.mark.parametrize(
    ("kind", "type_", "parameters", "code"),
    [
        ("number", "MovingSum", {"window": "0s"}, "RT112"),
        ("number", "MovingSum", {"window": "-5s"}, "RT112"),
        ("number", "MovingSum", {"window": "1.5s"}, "RT115"),
        ("number", "MovingSum", {"window": "500ms"}, "RT115"),
        ("number", "MovingSum", {"window": "5q"}, "RT113"),
        ("number", "MovingKeyCount", {"window": 0}, "RT112"),
        ("number", "RollingQuantile", {"window": 2, "q": 1.5}, "RT112"),
        ("number", "RollingQuantile", {"window": 2, "q": "nan"}, "RT113"),
        ("number", "RollingQuantile", {"window": 2}, "RT111"),
        ("number", "TumblingAggregate", {"window": "0s", "how": "count"}, "RT112"),
        ("number", "TumblingAggregate", {"window": "5s"}, "RT111"),
        ("number", "TumblingAggregate", {"window": "5s", "how": "median"}, "RT112"),
        ("number", "TumblingAggregate", {"window": "5s", "how": []}, "RT112"),
        ("number", "TumblingAggregate", {"window": "5s", "how": ["sum", "sum"]}, "RT112"),
        ("text", "TumblingAggregate", {"window": "5s", "how": "count"}, "RT125"),
        ("number", "HoppingAggregate", {"window": 3, "hop": 0, "how": "count"}, "RT112"),
        ("number", "SessionAggregate", {"gap": 0, "how": "count"}, "RT112"),
        ("number", "Debounce", {"quiet": 0}, "RT112"),
        ("number", "GapDetector", {"gap": "0s"}, "RT112"),
        ("number", "Rate", {"per": 0}, "RT112"),
        ("number", "Dedup", {"within": 0}, "RT112"),
        ("number?", "Dedup", {}, "RT126"),
        ("number", "Hysteresis", {"low": 3, "high": 1}, "RT116"),
        ("number", "Hysteresis", {"low": "nan", "high": 1}, "RT113"),
        ("number", "Hysteresis", {"low": 1}, "RT111"),
        ("boolean?", "Fill", {"how": "value", "value": "false"}, "RT113"),
        ("number?", "Fill", {"how": "value"}, "RT116"),
        ("number?", "Fill", {"how": "previous", "value": 3}, "RT116"),
        ("text?", "Fill", {"how": "linear"}, "RT125"),
        ("number", "EMA", {}, "RT116"),
        ("number", "EMA", {"half_life": "1s", "window": 3}, "RT116"),
        ("number", "EMA", {"half_life": "1s", "seed": "mean"}, "RT116"),
        ("number", "EMA", {"half_life": "0s"}, "RT112"),
        ("number", "EMA", {"window": "3s"}, "RT113"),
        ("number", "RelativeStrengthIndex", {"n": 0}, "RT112"),
        ("number", "FiniteImpulseResponse", {"coeff": []}, "RT112"),
        ("number", "FiniteImpulseResponse", {"coeff": ["a"]}, "RT113"),
        ("number", "InfiniteImpulseResponse", {"b": [], "a": [1]}, "RT112"),
        ("number", "Function", {"points": [[0, 0]]}, "RT112"),
        ("number", "Function", {"points": [[1, 1], [1, 2]]}, "RT116"),
        ("number", "Function", {"points": [[1, 1, 3], [1, 2]]}, "RT105"),
        ("number", "ResamplerConstant", {"interval": 0}, "RT112"),
        ("number", "ResamplerConstant", {"interval": 1, "max_gap": -1}, "RT112"),
        ("number", "Covariance", {"window": 2}, "RT123"),
        ("number", "TopK", {"k": 0}, "RT112"),
        (["number", "number"], "TopK", {"k": 1, "score_index": 2}, "RT125"),
        (["number", "text"], "TopK", {"k": 1, "score_index": 1}, "RT125"),
        ("vector[2]", "VectorExtract", {"index": 2}, "RT125"),
        ("vector[2]", "VectorExtract", {"index": -1}, "RT112"),
        ("vector[2]", "VectorProject", {"indices": []}, "RT112"),
        ("vector[2]", "VectorProject", {"indices": [0, 2]}, "RT125"),
    ],
)
def test_it_is_refused(kind, type_, parameters, code):
    with pytest.raises(rtbot.GraphError) as caught:
        load(kind, {"type": type_} | parameters, SECONDS)
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize("parameters", [{"window": "5s"}, {"window": "1d"}])
def test_a_window_of_time_needs_a_unit(parameters):
    with pytest.raises(rtbot.GraphError, match=r"no io\.unit"):
        load("number", {"type": "MovingSum"} | parameters, {})


@pytest.mark.parametrize(
    ("type_", "parameters", "words"),
    [
        ("RelativeStrengthIndex", {"window": 14}, ["n"]),
        ("RelativeStrengthIndex", {"length": 14}, ["n"]),
        ("Lag", {"window": 3}, ["n"]),
        ("Debounce", {"timeout": "5s"}, ["quiet"]),
        ("Hysteresis", {"lower": 1, "upper": 2}, ["low", "high"]),
        ("Hysteresis", {"off": 1, "on": 2}, ["low", "high"]),
        ("Function", {"table": [[0, 0], [1, 1]]}, ["points"]),
        ("InfiniteImpulseResponse", {"numerator": [1], "denominator": [1]}, ["b", "a"]),
    ],
)
def test_a_required_parameter_by_the_word_of_another_tool_is_one_mistake(type_, parameters, words):
    with pytest.raises(rtbot.GraphError) as caught:
        load("number", {"type": type_} | parameters, SECONDS)
    found = [(problem.code, problem.hint) for problem in caught.value.problems]
    assert found == [("RT104", f"did you mean {word!r}?") for word in words]


@pytest.mark.parametrize(
    ("wiring", "code", "port"),
    [
        ("{type: Join, in: [a, z]}", "RT120", "i2"),
        ("{type: Join, in: [a, v.2]}", "RT121", "i2"),
        ("{type: Join, in: [a, a.o2]}", "RT121", "i2"),
        ("{type: Join, in: {i1: a, i3: a}}", "RT123", "i2"),
        ("{type: Merge, in: [a, s]}", "RT125", "i2"),
        ("{type: Merge, in: [v, w]}", "RT125", "i2"),
        ("{type: Join, in: [a, m.o1]}", "RT127", "i2"),
        ("{type: Demultiplexer, in: {i1: a, c1: q}, control: {c1: q}}", "RT124", "c1"),
    ],
)
def test_a_mistake_at_a_port_says_at_which(wiring, code, port):
    inputs = "{a: number, s: text, q: boolean, v: 'vector[2]', w: 'vector[3]'}"
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(f"inputs: {inputs}\noperators:\n  m: {wiring}\noutputs: [m.o1]")
    (problem,) = caught.value.problems
    assert (problem.code, problem.operator, problem.port) == (code, "m", port)
    assert problem.mark.line == 3
    assert problem.hint
