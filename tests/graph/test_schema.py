"""The JSON Schema of graph files: it and the checker are of one mind, file by file."""

import copy
import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml

import rtbot
from rtbot.cli.main import run
from rtbot.conformance.random_rows import draw_policies
from rtbot.graph.check import KEYS, LATER
from rtbot.graph.schema import build_schema, format_schema
from rtbot.operator import REGISTRY
from tests.catalogue import catalogue
from tests.generate import Grower
from tests.oracles.vectors import example_kind

ROOT = Path(__file__).parents[2]
GRAPHS = sorted((ROOT / "graphs").glob("*.yaml"))
MALFORMED = sorted((ROOT / "tests" / "malformed" / "graphs").iterdir())
VALIDATOR = jsonschema.Draft7Validator(build_schema())


# ---- a file as an editor reads it: the types of YAML 1.2


CORE = {
    r"null|Null|NULL|~|": lambda _: None,
    r"true|True|TRUE": lambda _: True,
    r"false|False|FALSE": lambda _: False,
    r"[-+]?[0-9]+": int,
    r"0o[0-7]+": lambda text: int(text, 0),
    r"0x[0-9a-fA-F]+": lambda text: int(text, 0),
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?": float,
    r"[-+]?\.(inf|Inf|INF)": lambda text: float(text.replace(".", "")),
    r"\.(nan|NaN|NAN)": lambda _: float("nan"),
}


def as_an_editor_reads(text):
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    return core(root) if root else None


def core(node):
    if isinstance(node, yaml.MappingNode):
        return {key.value: core(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [core(item) for item in node.value]
    if node.style:
        return node.value
    found = (read for pattern, read in CORE.items() if re.fullmatch(pattern, node.value))
    return next(found, str)(node.value)


def refusal(text, validator=VALIDATOR):
    """What the schema says against it first, or ""."""
    errors = validator.iter_errors(as_an_editor_reads(text))
    return next((f"{error.json_path}: {error.message[:200]}" for error in errors), "")


def problems(text):
    """What the checker says against it."""
    try:
        rtbot.load(text)
    except rtbot.GraphError as error:
        return list(error.problems)
    return []


# ---- what a schema cannot see


STRUCTURAL = {"RT103", "RT104", "RT105", "RT107", "RT110", "RT111", "RT112", "RT113"}
STRUCTURAL |= {"RT122", "RT123", "RT140", "RT141"}
WHOLE = r"(0x[0-9a-f]+|[+-]?[0-9]+(\.0*(e[+-]?0+)?|e[+-]?0+))(?![0-9.])"
BEYOND = {
    "a parameter may get its value at the call": ("RT111", r"the parameter .* has no value", ""),
    "what $name stands for": ("RT105|RT112|RT113", "", r"[\"']?\$"),
    "the range of a number in quotes": ("RT112", "", r"[\"'][+-]?[0-9.]"),
    "3.0, 3e0 and 0x3 are the integer 3 to an editor": ("RT112|RT113", "", WHOLE),
    "a default beside its range and choices": ("RT112", r"^(%s) is .*", ""),
    "the range of a default that has no type": ("RT113", r"^(min|max) of ", ""),
    "the same of a default, which is text to us": ("RT105", r"of type text has no m(in|ax)$", ""),
    "a number beyond float64": ("RT113", "", r"[\"']?1e400"),
    "dialects, formats and zones": ("RT112", r"^(csv\.|time_format: |timezone: ).*", ""),
    "holes in the numbers of ports": ("RT123", r"^(?!.*\.[ic]1 ).* not fed", ""),
}
"""Structural problems that no schema can see: code, words of the message, text at the place."""


def is_visible(problem, text):
    """Whether a schema must see this problem of a file."""
    at = text.split("\n")[problem.mark.line - 1][problem.mark.column - 1 :]
    parameters = "|".join(as_an_editor_reads(text).get("params") or ["-"])
    return problem.code in STRUCTURAL and not any(
        re.fullmatch(code, problem.code)
        and re.search(words.replace("%s", parameters), problem.message)
        and re.match(here, at)
        for code, words, here in BEYOND.values()
    )


def compared(text):
    """Whether the file loads, whether the schema takes it, and why they are not of one mind."""
    found, refused = problems(text), refusal(text)
    if refused:
        return not found, False, "" if found else f"the schema alone refuses it: {refused}"
    visible = [str(problem) for problem in found if is_visible(problem, text)]
    return not found, True, f"the checker alone refuses it: {visible}" if visible else ""


# ---- files that chance has made


RECORDS = {
    "inputs": {
        "q": {
            "record": {"b": "number", "c": "text?", "d_1": "integer"},
            "doc": "x",
            "io": {"columns": {"b": "Best Bid"}, "late": "drop"},
        },
        "r": "record{a: number, b: text?}",
        "a": "number",
    },
    "operators": {"s": "q.b + r.a", "m": {"type": "Lag", "in": "q.d_1", "n": 1}},
    "outputs": {"s": "s", "q": "q", "both": {"s": "s", "d": "q.d_1"}},
    "tests": [{"given": {"q": [[1, {"b": 1, "c": None, "d_1": 2}]]}, "expect": {"q.b": [[1, 1]]}}],
}
RICH = {
    "version": 1,
    "name": "rich",
    "description": "everything at once",
    "meta": {"a": [1, None]},
    "params": {
        "p": {"type": "number", "default": 2, "min": 0, "max": 9, "choices": [1, 2], "doc": "x"},
        "d": {"type": "duration", "default": "5s", "min": "1s"},
        "c": [1, 2.5, 3],
        "curve": [[0, 1], [2.5, 3]],
        "shape": {"type": "points", "default": [[3, 1], [2, 0.5]]},
        "w": 3,
        "big": {"default": 7, "min": 1},
        "kind": "left",
        "u": {"type": "boolean", "default": True},
        "k": {"type": "numbers", "default": [1, 2]},
        "letter": {"type": "text", "default": "x", "choices": ["x", "y"]},
    },
    "inputs": {
        "a": "number",
        "n": {
            "type": "number?",
            "doc": "x",
            "meta": {"b": 1},
            "io": {"time": ["day", "hour"], "late": "drop", "csv": {"delimiter": ";", "skip": 1}},
        },
        "s": "text",
        "i": "integer",
        "f": "boolean?",
    },
    "operators": {
        "j": {"type": "Join", "in": ["a", "n"], "how": "$kind", "numPorts": 2},
        "l": {
            "type": "Linear",
            "in": ["a", "a", "a"],
            "coefficients": "$c",
            "portTypes": [1, 2, 3],
        },
        "e": "if(j.o1 > 3 and not isnan(j.o1), coalesce(j.o2, 1), -j.o1 ** 2) * $p + if($u, 1, 0)",
        "v": {"type": "Variable", "in": "a", "control": {"c1": "s"}, "meta": {"a": [1]}},
        "drawn": {"type": "Function", "in": "a", "points": "$curve"},
        "x": {"type": "Variable", "in": {"i1": "a", "c1": "s"}, "default_value": -1.5},
        "t": {"type": "TimeShift", "in": {"i1": "i"}, "shift": "$d"},
        "m": {"type": "MovingAverage", "in": "a", "window_size": "$w", "doc": 5},
        "h": {"type": "PeakDetector", "in": ["l"], "window": 5},
        "r": {
            "type": "ResamplerConstant",
            "in": "a",
            "interval": "2s",
            "snapFirst": False,
            "t0": 0,
        },
        "q": {"type": "WindowMinMax", "in": "a", "window": 4, "mode": "max", "partial": True},
        "b": {"type": "Merge", "in": {"i1": "a", "i2": "e"}, "ties": "mean"},
        "g": {"type": "CountNumber", "in": "a"},
    },
    "outputs": {"e": "e", "j": "j.o1", "v": "v", "t": "t", "l": "l", "x": "x", "m": "m"},
    "io": {
        "unit": "ms",
        "time": ["at", "on"],
        "key": {"k": "text", "w": "integer"},
        "late": "drop",
        "duplicates": "last",
        "lateness": "$d",
        "bad": "drop",
        "null": ["?", "NA", -999],
        "columns_as": "k",
        "time_format": "%d.%m.%Y %H:%M",
        "timezone": "Europe/Madrid",
        "ambiguous": "later",
        "nonexistent": "shift",
        "csv": {
            "delimiter": "tab",
            "decimal": ",",
            "thousands": ".",
            "quote": "'",
            "encoding": "latin-1",
            "skip": 2,
            "skip_after": 1,
            "comment": "#",
        },
    },
    "tests": [
        {
            "name": "z",
            "doc": "what it shows",
            "key": ["k", "w"],
            "params": {"p": 1, "c": [1]},
            "given": {"a": [["x", 3, 1, 2]], "n": [["x", 3, 1, None]], "s": {"csv": "f.csv"}},
            "expect": {"e": [["x", 3, 1, 2]], "j.o2": []},
            "emits_nothing": ["v"],
            "tolerance": 0.1,
        },
        {"given": {"a": [[1, 2.5], [2, "nan"]]}, "emits_nothing": "e"},
        {"params": {"w": 0}, "error": "RT112"},
    ],
}
JUNK = [None, [], {}, "x", 5, -1, 0, True, 1.5, "$w", "$$", "$p", "$d", "$c", "", "a", "a.o1", "e"]
JUNK += ["5s", "1.5 h", "text?", "type", ["a"], ["a", "a"], ["a", "i", "a", "n"], {"i1": "a"}]
JUNK += [{"i1": "a", "i2": "a"}, {"i3": "a"}, "a + b", "a +", "1e3", "1e400", 10**30, "020", "-7"]
JUNK += [
    [[1, 2]],
    [[1]],
    [1],
    [1, 2],
    {"a": {"b": {}}},
    "x y",
    "no",
    "2.50",
    "inner",
    "RT103",
    "min",
]
JUNK += [{"type": "Merge", "in": ["a", "i"]}, {"type": "Lag", "in": "a"}, {"csv": "x.csv"}, "Lag"]
NAMES = ["windw", "window", "window_size", "typ", "type", "in", "control", "doc", "numPorts", "i1"]
NAMES += [
    "c1",
    "i2",
    "value",
    "tolerance",
    "1st",
    "two words",
    "a.b",
    "unit",
    "default",
    "min",
    "csv",
]
NAMES += [
    "time",
    "null",
    "skip",
    "delimiter",
    "names",
    "text",
    "inputs",
    "params",
    "imports",
    "ttl",
    "expect",
    "error",
    "key",
    "x" * 65,
    "",
    "é",
    "$w",
]


def places(node):
    """Every (container, key) of nested dicts and lists."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def spoilt(document, rng):
    """A document with a value exchanged, a key renamed, added or removed; one place or two."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2])):
        container, key = rng.choice(list(places(document)) or [(document, "inputs")])
        match rng.randrange(5):
            case 0 if isinstance(container, dict):
                container[rng.choice(NAMES)] = container.pop(key, None)
            case 1 if isinstance(container, dict):
                container[rng.choice(NAMES)] = copy.deepcopy(rng.choice(JUNK))
            case 2:
                container.pop(key)
            case 3 if isinstance(container, list):
                container.insert(key, copy.deepcopy(container[key]))
            case _:
                container[key] = copy.deepcopy(rng.choice(JUNK))
    return document


def written(value, rng):
    """A value as YAML in flow style; every scalar in one of the ways in which people write it."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)}: {written(v, rng)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(written(item, rng) for item in value)}]"
    if isinstance(value, str):
        bare = re.fullmatch(r"[A-Za-z$][A-Za-z0-9_.$?-]*( [A-Za-z]+)?", value)
        return value if bare and rng.random() < 0.8 else json.dumps(value)
    plain = json.dumps(value)
    if isinstance(value, bool | type(None)):
        return plain if value is None or rng.random() < 0.8 else f'"{plain}"'
    ways = [f'"{plain}"', f"'{plain}'"]
    ways += ["0" + plain, "+" + plain] if value >= 0 else []
    if rng.random() < 0.02:
        ways = [plain + ".0", plain + "e0", hex(value)] if isinstance(value, int) else [plain + "0"]
    return rng.choice(ways) if rng.random() < 0.2 else plain


def grown(seed):
    """A graph of a few operators of any type, with as many parameters as chance will have."""
    rng = random.Random(seed)
    grower = Grower(rng, 100)
    grower.grow(rng.randint(1, 4))
    return grower.document(draw_policies(rng))


@pytest.mark.parametrize("path", [*GRAPHS, *MALFORMED], ids=lambda path: path.stem)
def test_schema_and_checker_agree_about_the_files_of_the_project(path):
    text = path.read_bytes().decode("utf-8", errors="replace") + "\n"
    try:
        as_an_editor_reads(text)
    except yaml.YAMLError:
        assert problems(text)
    else:
        assert compared(text)[2] == ""


@pytest.mark.parametrize("chunk", range(6))
def test_schema_and_checker_agree_about_files_that_chance_has_made(chunk):
    verdicts, found = Counter(), {}
    for seed in range(chunk * 36, chunk * 36 + 36):
        rng = random.Random(f"{seed}/spoilt")
        good = grown(seed)
        for document in [good, *(spoilt(one, rng) for one in (good, good, RECORDS, RICH))]:
            text = written(document, rng)
            loads, valid, why = compared(text)
            verdicts[loads, valid] += 1
            found |= {text: why} if why else {}
    assert found == {}
    assert verdicts.total() == 180
    assert min(verdicts[True, True], verdicts[False, False]) > 25


def test_the_rich_file_loads_however_its_values_are_written_and_is_spoilt_in_every_way():
    rng = random.Random(10)
    texts = [written(RICH, rng) for _ in range(30)]
    assert sum(compared(text) == (True, True, "") for text in texts) > 20
    spoilt_texts = [written(spoilt(RICH, rng), rng) for _ in range(600)]
    codes = {problem.code for text in spoilt_texts for problem in problems(text)}
    assert codes >= STRUCTURAL


SMALL = [
    ("inputs: {}\noutputs: [a]\n", "RT110"),
    ("inputs: {a: number}\noutputs: {}\n", "RT110"),
    ("inputs: {a: number}\noutputs: []\n", "RT110"),
    ("version: '01'\ninputs: {a: number}\noutputs: [a]\n", ""),
    ("params: {p: null}\ninputs: {a: number}\noutputs: [a]\n", "RT110"),
    ("inputs: {a: number}\noutputs: {x: ~}\n", "RT105"),
    ("inputs: {a: number}\noutputs: null\n", "RT110"),
    ("inputs: {a: number}\noutputs: [a]\ntests: null\n", ""),
    ("inputs: {a: number}\noutputs: [a]\ntests: [{error: }]\n", "RT150"),
    (
        "inputs: {a: number}\noutputs: [m]\noperators: {m: {type: Lag, in: {'': a}, n: 1}}\n",
        "RT122",
    ),
]


@pytest.mark.parametrize(("text", "code"), SMALL)
def test_schema_and_checker_agree_about_nothing_in_its_place(text, code):
    assert [problem.code for problem in problems(text)] == [code] * bool(code)
    assert bool(refusal(text)) == bool(code)


# ---- every operator, one mistake at a time


def graph_of(cls, **changes):
    """A graph of one operator, as its example has it; a change of None leaves a key out."""
    ports = list(cls.example.inputs)
    kinds = {port: example_kind(cls, port) for port in ports}
    operator = {
        "type": cls.__name__,
        "in": [f"x{port}" for port in ports if port[0] == "i"],
        "control": [f"x{port}" for port in ports if port[0] == "c"],
        **cls.example.parameters,
        **changes,
    }
    document = {
        "inputs": {f"x{port}": kind for port, kind in kinds.items()},
        "operators": {
            "m": {key: value for key, value in operator.items() if value not in (None, [])}
        },
        "outputs": [f"m.{port}" for port in cls.example.outputs],
        "io": {"unit": "s"},
    }
    return json.dumps(document)


def mistakes(cls):
    """Changes of an operator that must not load, by what they are."""
    ports = list(cls.example.inputs)
    yield "an unknown key", {"windw": 3}
    yield "no input", {"in": None}
    yield (
        "an input that is not there",
        {"in": {port: f"x{port}" for port in ports} | {"x1": "xi1"}},
    )
    yield "a list in a list", {"in": [[f"x{port}"] for port in ports]}
    if not any(port.variadic for port in cls.inputs.values()):
        yield "an input too many", {"in": [f"x{port}" for port in [*ports, "i1"]]}
    several = len([port for port in ports if port[0] == "i"]) > 1
    fewer = any(p.within or (p.variadic and p.shortest == 1) for p in cls.inputs.values())
    if several and not fewer:
        yield "an input too few", {"in": "xi1"}
    if "c1" not in ports:
        yield "a control port that is not there", {"control": "xi1"}
    for name, parameter in cls.parameters.items():
        if parameter.required:
            yield f"no {name}", {name: None}
        yield f"{name} in words", {name: "a few"}
        yield f"{name} as a mapping", {name: {"a": 1}}
        limits = {"minimum": -1, "above": 0, "maximum": 1}
        for limit, step in limits.items():
            if (at := getattr(parameter, limit, None)) is not None:
                yield f"{name} beyond its {limit}", {name: at + step}
        if getattr(parameter, "odd", False):
            yield f"{name} even", {name: 4}
        for alias in parameter.aliases:
            yield f"{name} twice", {alias: cls.example.parameters.get(name, True), name: 3}


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_operator_as_in_its_example_and_with_every_mistake(name):
    cls = catalogue()[name]
    assert problems(graph_of(cls)) == []
    assert refusal(graph_of(cls)) == ""
    for what, changes in mistakes(cls):
        text = graph_of(cls, **changes)
        assert problems(text), what
        assert refusal(text), what


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_parameter_has_its_text_and_may_be_that_of_the_graph(name):
    properties = build_schema()["definitions"][name]["properties"]
    for parameter in catalogue()[name].parameters.values():
        definition = properties[parameter.name]["$ref"].split("/")[-1]
        assert parameter.doc in build_schema()["definitions"][definition]["description"]
        given = graph_of(catalogue()[name], **{parameter.name: "$x"})
        assert refusal(given.replace('"io"', '"params": {"x": 1}, "io"', 1)) == ""


def test_snippets_are_operators():
    snippets = build_schema()["definitions"]["operator"]["else"]["defaultSnippets"]
    labels = [snippet["label"] for snippet in snippets]
    assert labels == sorted({cls.__name__ for cls in REGISTRY.values() if not cls.abstract})
    for snippet in (one for one in snippets if one["label"] in catalogue()):
        filled = re.sub(r'"\$\{\d+:([^}]*)\}"', r"\1", json.dumps(snippet["body"]))
        operator = re.sub(r"\$\d+", "a", filled)
        text = f"inputs: {{a: number}}\noperators: {{m: {operator}}}\noutputs: [m]\n"
        assert refusal(text) == "", text


# ---- the schema itself


def test_it_is_a_schema_of_draft_7_and_always_the_same():
    jsonschema.Draft7Validator.check_schema(build_schema())
    assert format_schema() == format_schema()
    assert json.loads(format_schema()) == build_schema()
    assert build_schema()["version"] == rtbot.__version__


def test_it_knows_the_keys_that_this_version_has():
    assert list(build_schema()["properties"]) == [key for key in KEYS if key not in LATER]
    assert build_schema()["definitions"]["operator"]["properties"]["type"]["enum"] == sorted(
        REGISTRY
    )


def test_every_definition_is_used_and_every_reference_is_defined():
    used = {place[key] for place, key in places(build_schema()) if key == "$ref"}
    assert used == {f"#/definitions/{name}" for name in build_schema()["definitions"]}


def test_patterns_mean_the_same_to_javascript():
    """Only what both languages have, also with the flag `u`, under which editors run them."""
    patterns = {place[key] for place, key in places(build_schema()) if key == "pattern"}
    assert len(patterns) > 20
    for pattern in patterns:
        assert not re.search(r"\\[^$.sS?*+()|\[\]{}/^\\]|\(\?[^:!=]", pattern), pattern


# ---- operators of one's own


PLUGIN = '''
from rtbot.operator import Boolean, Choice, In, Integer, Number, Numbers, Operator, Out


class Blend(Operator):
    """A blend of `several` streams."""

    aliases = ("Mix",)
    mode = Choice(options=("1", "true", "soft"), aliases=("how",), doc="how hard")
    taps = Integer(minimum=3, maximum=9, odd=True, required=False, default=3)
    share = Number(above=0.0, required=False, default=1.0)
    weights = Numbers(shortest=2, required=False)
    i = In("number", variadic=True, shortest=3, alias="stream")
    c1 = In("boolean", alias="gate")
    o1 = Out("number", alias="blend")
    formula = "i1"


class Shade(Operator):
    """One stream under another."""

    i1 = In("number", alias="base")
    i2 = In("number", alias="cover")
    o1 = Out("number")
    formula = "i1"
'''
BLENDS = [
    ("{type: Blend, in: [a, a, a], control: f, mode: soft}", True),
    ("{type: Mix, in: [a, a, a, a, a], control: [f], how: 1}", True),
    ("{type: Mix, in: {stream1: a, i2: a, i3: a}, control: {gate: f}, mode: true}", True),
    ("{type: Mix, in: {i1: a, i2: a, i3: a, gate: f}, mode: '1'}", True),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, taps: '5', weights: [1, '2']}", True),
    ("{type: Mix, in: [a, a], control: f, mode: soft}", False),
    ("{type: Mix, in: a, control: f, mode: soft}", False),
    ("{type: Mix, in: [a, a, a], control: [f, f], mode: soft}", False),
    ("{type: Mix, in: [a, a, a], mode: soft}", False),
    ("{type: Mix, in: {stream1: a, i3: a}, control: f, mode: soft}", False),
    ("{type: Mix, in: {i1: a, i2: a, i3: a, i04: a}, control: f, mode: soft}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: hard}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, how: soft}", False),
    ("{type: Mix, in: [a, a, a], control: f}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, taps: 4}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, taps: 11}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, share: 0}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, weights: [1]}", False),
    ("{type: Mix, in: [a, a, a], control: f, mode: soft, weights: 1}", False),
    ("{type: Mixed, in: [a, a, a], control: f, mode: soft}", False),
    ("{type: Shade, in: {base: a, cover: a}}", True),
    ("{type: Shade, in: {base: a, i2: a}}", True),
    ("{type: Shade, in: {base: a, i1: a}}", False),
    ("{type: Shade, in: {base: a}}", False),
    ("{type: Shade, in: {base: a, '': a}}", False),
    ("{type: Shade, in: [a]}", False),
]


def test_operators_of_a_plugin_are_in_the_schema_that_the_verb_writes(tmp_path):
    (tmp_path / "blends.py").write_text(PLUGIN, encoding="utf-8")
    command = [sys.executable, "-m", "rtbot", "schema", "--plugin", "blends.py", "-o", "s.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
    validator = jsonschema.Draft7Validator(json.loads((tmp_path / "s.json").read_text("utf-8")))
    verdicts = []
    for number, (operator, _) in enumerate(BLENDS):
        text = f"inputs: {{a: number, f: boolean}}\noperators: {{m: {operator}}}\noutputs: [m]\n"
        (tmp_path / f"{number}.yaml").write_text(text, encoding="utf-8")
        verdicts.append((operator, refusal(text, validator) == ""))
    assert verdicts == BLENDS
    files = [f"{number}.yaml" for number in range(len(BLENDS))]
    command = [sys.executable, "-m", "rtbot", "validate", "--plugin", "blends.py", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    loaded = [re.search(rf"^{file}: ok", done.stderr, re.MULTILINE) is not None for file in files]
    assert loaded == [good for _, good in BLENDS]


def test_the_verb_prints_the_schema(capfd):
    assert run(["schema"]) == 0
    assert capfd.readouterr() == (format_schema(), "")
