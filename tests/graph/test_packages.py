"""Installed packages of operators: found when a name is not known, and their faults are named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rtbot
from rtbot import ops
from rtbot.graph import packages
from rtbot.graph.plugins import load_plugin
from rtbot.operator import REGISTRY
from tests.operator_packages import declare, install

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder in which a test installs packages; what it imports is forgotten."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    packages._load_all.cache_clear()
    yield tmp_path
    packages._load_all.cache_clear()
    for name in set(sys.modules) - known:
        if name.startswith(("acme", "other")):
            del sys.modules[name]


def graph_of(*types):
    return {
        "inputs": {"x": "number"},
        "operators": {f"y{k}": {"type": name, "in": "x"} for k, name in enumerate(types)},
        "outputs": [f"y{k}" for k in range(len(types))],
    }


def first_outputs(graph):
    found = rtbot.load(graph).run({"x": {"t": [1], "value": [3.0]}}, compiled=False)
    return [table["value"].tolist() for table in found.values()]


def problems(*types):
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(graph_of(*types))
    return [(problem.code, problem.message, problem.hint) for problem in caught.value.problems]


def test_a_graph_finds_the_operators_of_an_installed_package(site):
    install(site, "acme-scales", "acme_scales.operators", operators=declare("AcmeTwice"))
    assert first_outputs(graph_of("AcmeTwice")) == [[6.0]]
    assert packages.describe_origin(REGISTRY["AcmeTwice"]) == "acme-scales 1.0"


def test_nothing_is_imported_as_long_as_every_operator_is_known(site):
    install(site, "acme-scales", "acme_scales.operators", operators=declare("AcmeTwice"))
    first_outputs(graph_of("Sin"))
    assert "acme_scales" not in sys.modules
    assert packages._load_all.cache_info().currsize == 0


def test_packages_are_imported_once(site):
    count = "import builtins\nbuiltins.acme_count = getattr(builtins, 'acme_count', 0) + 1\n"
    install(site, "acme-scales", "acme_scales", __init__=count)
    for _ in range(3):
        assert problems("AcmeNone")[0][0] == "RT103"
    assert __builtins__["acme_count"] == 1


def test_constructors_are_there_as_well(site):
    install(site, "acme-scales", "acme_scales.operators", operators=declare("AcmeTwice"))
    builder = rtbot.Builder("twice")
    builder.output(twice=ops.AcmeTwice(builder.input("x")))
    found = builder.graph().run({"x": {"t": [1], "value": [3.0]}}, compiled=False)
    assert found["twice"]["value"].tolist() == [6.0]
    assert "AcmeTwice" in dir(ops)


def test_a_package_that_cannot_be_imported_is_named_with_the_line(site):
    install(site, "acme-bands", "acme_bands.operators", "1.2", operators="\nimport acme_missing\n")
    place = site / "acme_bands" / "operators.py"
    assert problems("MovingAvrage") == [
        ("RT103", "unknown operator type 'MovingAvrage'", "did you mean 'MovingAverage'?"),
        (
            "RT174",
            "the package acme-bands 1.2 cannot be imported",
            f"{place}:2: ModuleNotFoundError: No module named 'acme_missing'",
        ),
    ]
    with pytest.raises(AttributeError, match=r"acme-bands 1\.2 cannot be imported: .*acme_missing"):
        _ = ops.AcmeTwice


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = = 1\n", "operators.py:1: SyntaxError: invalid syntax"),
        ("\nraise SystemExit(3)\n", "operators.py:2: SystemExit: 3"),
        ("import acme_bands.none\n", "operators.py:1: ModuleNotFoundError"),
        (
            declare("Scale"),
            "operators.py:5:1: there is an operator named Scale already; rename one of the two;",
        ),
    ],
    ids=["syntax", "exit", "module", "one of ours"],
)
def test_what_is_wrong_with_a_package_is_told(text, told, site):
    install(site, "acme-bands", "acme_bands.operators", operators=text)
    ((_, _, hint),) = [problem for problem in problems("AcmeNone") if problem[0] == "RT174"]
    assert told in hint
    assert first_outputs(graph_of("Abs")) == [[3.0]]


def test_a_missing_module_and_a_package_without_the_attribute(site):
    install(site, "acme-none", "acme_none.missing")
    install(site, "acme-part", "acme_part:missing")
    hints = [hint for code, _, hint in problems("AcmeNone") if code == "RT174"]
    assert "No module named 'acme_none.missing'" in hints[0]
    assert "has no attribute 'missing'" in hints[1]


def test_a_fault_of_one_package_does_not_touch_graphs_of_another(site):
    install(site, "acme-bands", "acme_bands", __init__="1 / 0\n")
    install(site, "other-scales", "other_scales", __init__=declare("AcmeTwice"))
    assert first_outputs(graph_of("AcmeTwice")) == [[6.0]]


def test_of_a_package_that_fails_nothing_is_registered(site):
    install(site, "acme-bands", "acme_bands", __init__=declare("AcmeTwice") + "\n1 / 0\n")
    assert [code for code, *_ in problems("AcmeTwice")] == ["RT103", "RT174"]


@pytest.mark.parametrize("order", ["az", "za"])
def test_two_packages_of_one_name_are_both_named(order, site):
    for letter, factor in zip(order, (2, 3), strict=True):
        text = declare("AcmeTwice", factor) + declare(f"Acme{letter.upper()}", factor)
        install(site, f"acme-{letter}", f"acme_{letter}.ops", ops=text)
    assert problems("AcmeTwice") == [
        (
            "RT171",
            "AcmeTwice is an operator of acme-a 1.0 (acme_a.ops) and acme-z 1.0 (acme_z.ops)",
            "uninstall one of them, or import the module that you mean before rtbot looks for it",
        )
    ]
    assert len(first_outputs(graph_of("AcmeA", "AcmeZ"))) == 2
    with pytest.raises(AttributeError, match="acme-a"):
        _ = ops.AcmeTwice


def test_a_package_may_build_on_another(site):
    more = "from acme_z import AcmeTwice\n" + declare("AcmeThrice", 3)
    install(site, "acme-a", "acme_a", __init__=more)
    install(site, "acme-z", "acme_z", __init__=declare("AcmeTwice"))
    assert first_outputs(graph_of("AcmeTwice", "AcmeThrice")) == [[6.0], [9.0]]
    assert packages.describe_origin(REGISTRY["AcmeTwice"]) == "acme-z 1.0"
    assert packages.describe_origin(REGISTRY["AcmeThrice"]) == "acme-a 1.0"


def test_a_plugin_or_an_import_comes_before_packages(site, monkeypatch):
    install(site, "acme-a", "acme_a", __init__=declare("AcmeTwice", 2) + declare("AcmeMore", 5))
    path = site / "mine.py"
    path.write_text(declare("AcmeTwice", 7))
    load_plugin(str(path))
    assert first_outputs(graph_of("AcmeTwice", "AcmeMore")) == [[21.0], [15.0]]
    monkeypatch.chdir(site)
    assert packages.describe_origin(REGISTRY["AcmeTwice"]) == "mine.py"


def test_the_declaration_is_checked_where_a_graph_uses_it(site):
    wrong = declare("AcmeTwice").replace("2 * i1", "2 * i7")
    install(site, "acme-a", "acme_a", __init__=wrong + declare("AcmeMore", 5))
    assert first_outputs(graph_of("AcmeMore")) == [[15.0]]
    ((code, message, _),) = problems("AcmeTwice")
    assert code == "RT170"
    assert "i7" in message


def test_every_verb_knows_the_operators_of_a_package(call, site):
    install(site, "acme-a", "acme_a.scales", scales='"""Scales."""\n' + declare("AcmeTwice"))
    install(site, "acme-b", "acme_b", __init__="1 / 0\n")
    graph = "inputs: {x: number}\noperators: {y: {type: AcmeTwice, in: x}}\noutputs: [y]\n"
    code, out, _ = call("run", "g.yaml", "d.csv", g__yaml=graph, d__csv="t,x\n1,4\n")
    assert (code, out) == (0, "t,y\n1,8\n")
    code, out, err = call("ops", "--grep", "acme")
    assert out.startswith("Scales (acme-a 1.0)\n  AcmeTwice")
    assert "the package acme-b 1.0 cannot be imported" in err
    code, out, _ = call("ops", "--grep", "acme", "--format", "json")
    assert '"origin": "acme-a 1.0"' in out
    code, out, _ = call("doc", "AcmeTwice")
    assert (code, "acme-a 1.0" in out) == (0, True)
    code, out, _ = call("schema")
    assert '"AcmeTwice"' in out
    code, _, err = call("doc", "AcmeThrice")
    assert code == 2
    assert "the package acme-b 1.0 cannot be imported" in err
    code, _, err = call("explain", "AcmeTwice")
    assert "rtbot doc AcmeTwice" in err


WATCH = """
import sys
from rtbot.cli.main import run
code = run(["run", "graphs/bollinger.yaml", "graphs/data/prices.csv", "-q", "-o", sys.argv[1]])
names = ("rtbot.graph.packages", "importlib.metadata", "acme_a")
print(code, [name for name in names if name in sys.modules])
"""


def test_a_run_of_known_operators_looks_for_no_package(site):
    install(site, "acme-a", "acme_a", __init__=declare("AcmeTwice"))
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{site}", "RTBOT_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(site / "out.csv")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment,
    )
    assert done.stdout.splitlines()[-1] == "0 []"
