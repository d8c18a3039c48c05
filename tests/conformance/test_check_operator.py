"""`check_operator` finds what is wrong with an operator, and nothing where nothing is."""

import json

import pytest

from rtbot.conformance import check_operator, format_reports
from rtbot.core.modes import use_mode
from rtbot.graph import packages
from rtbot.graph.plugins import load_plugin
from rtbot.operator import REGISTRY
from tests.operator_packages import declare, install

HEAD = """
from rtbot.operator import (
    EMIT, NEVER, SILENT, Cells, Example, In, Integer, Number, Operator, Out, Scalar, Scratch,
    WarmUp, step,
)


class Tried(Operator):
    '''An operator of a test.'''

    i1 = In("{kind}", doc="values")
    o1 = Out("{kind}", doc="results")
    example = Example(inputs={{"i1": [(1, 4)]}}, outputs={{"o1": [(1, {right})]}})
"""
SAME = """
    @step
    def step(i1):
        return i1
"""
RIGHT = {
    "a formula": ({}, "    formula = 'i1'\n"),
    "a step": ({}, SAME),
    "a formula of all elements of a vector": (
        {"right": 6},
        """
    i1 = In("vector", doc="vectors")
    example = Example(inputs={"i1": [(1, [1.0, 2.0, 3.0])]}, outputs={"o1": [(1, 6)]})

    @classmethod
    def formula_for(cls, values, inputs):
        return " + ".join(f"i1.{element.name}" for element in inputs["i1"].fields)
""",
    ),
    "state": (
        {"right": 8},
        """
    total = Scalar("number", 4.0)

    @step
    def step(i1, total):
        total = total + i1
        return total, total
""",
    ),
}
WRONG = {
    "texts": ("declared", "i1 has no doc", {}, "    i1 = In('number')\n    formula = 'i1'\n"),
    "no example": ("declared", "it has no example", {}, "    example = None\n    formula = 'i1'\n"),
    "a parameter without a value": (
        "declared",
        "the example has no value of ['share']",
        {},
        "    share = Number(doc='a factor')\n    formula = 'share * i1'\n",
    ),
    "a step": ("declared", "the argument none names nothing", {}, SAME.replace("i1)", "none)")),
    "a false example": ("example", "expected", {"right": 5}, SAME),
    "a division": (
        "values",
        "ZeroDivisionError",
        {"right": 0.25},
        SAME.replace("return i1", "return 1 / i1"),
    ),
    "an integer beyond 64 bits": (
        "values",
        "ValueError",
        {"kind": "integer", "right": 16},
        SAME.replace("return i1", "return i1 * i1"),
    ),
    "a late first row": (
        "warm-up",
        "WarmUp(rows=1, certain=True)",
        {},
        """
    silent = True
    example = Example(inputs={"i1": [(1, 4), (2, 3)]}, outputs={"o1": [(2, 3)]})
    n = Scalar("integer", 0)

    @classmethod
    def warm_up(cls, values):
        return WarmUp(1, certain=True)

    @step
    def step(i1, n):
        return EMIT if n else SILENT, i1, n + 1
""",
    ),
    "a first row that the values decide": (
        "warm-up",
        "if the values decide, say silent = True, or return WarmUp",
        {},
        """
    sets_time = True
    example = Example(inputs={"i1": [(1, 4), (2, 3)]}, outputs={"o1": [(1, 4)]})

    @step
    def step(i1, time):
        return EMIT if i1 > 3 else SILENT, time, i1
""",
    ),
    "a close that stays due": (
        "values",
        "Tried.close returned due = ",
        {},
        """
    sets_time = gathers = True
    example = Example(inputs={"i1": [(1, 4)]}, outputs={"o1": []})
    due = Scalar("integer", NEVER)

    @step
    def close(time, due):
        return EMIT, time, 1.0, due

    @step
    def step(i1, time):
        return SILENT, time
""",
    ),
    "times that go back": (
        "values",
        "the times that a step returns have to ascend",
        {},
        """
    sets_time = True

    @step
    def step(i1, time):
        return EMIT, -(time % 7), i1
""",
    ),
    "vectors in a step": (
        "example",
        "a step takes single values: vectors are for formula",
        {},
        """
    i1 = In("vector", doc="values")
    example = Example(inputs={"i1": [(1, [4.0])]}, outputs={"o1": [(1, 4)]})

    @step
    def step(i1):
        return i1
""",
    ),
    "memory that is not state": (
        "batches",
        "DIFFERENT",
        {},
        """
    seen = Scratch(1)

    @step
    def step(i1, seen, seen_first):
        seen[seen_first] += 1
        return i1 if seen[seen_first] < 5 else -i1
""",
    ),
}


@pytest.fixture
def tried(tmp_path):
    """A function that declares the operator `Tried` and checks it, without compiling."""

    def check(body, kind="number", right=4, mode="never"):
        path = tmp_path / "tried.py"
        path.write_text(HEAD.format(kind=kind, right=right) + body)
        load_plugin(str(path))
        with use_mode(mode):
            return check_operator(REGISTRY["Tried"], cases=6)

    return check


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_wrong_with_what_is_right(tried, name):
    settings, body = RIGHT[name]
    report = tried(body, **settings)
    assert report.failures == []
    assert set(report.counts) >= {"declared", "example", "values", "batches", "saved", "alone"}
    assert report.throughput > 0


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(tried, name):
    check, told, settings, body = WRONG[name]
    if name == "a step":
        with pytest.raises(Exception, match=told):
            tried(body, **settings)
        return
    report = tried(body, **settings)
    failed = {failure.check: "\n".join(failure.lines) for failure in report.failures}
    assert told in failed[check]
    assert "FAIL" in "\n".join(format_reports([report]))


def test_plain_python_that_differs_from_compiled_code_is_found(tried):
    report = tried(SAME.replace("return i1", "return 1 / i1"), right=0.25, mode="now")
    failed = {failure.check: "\n".join(failure.lines) for failure in report.failures}
    assert "ZeroDivisionError" in failed["plain"]
    assert "values" not in failed


@pytest.mark.parametrize("name", ["MovingAverage", "Join", "ResamplerConstant", "Distinct"])
def test_operators_of_ours_pass(name):
    assert check_operator(REGISTRY[name], cases=2).failures == []


# ---- the command


def test_a_file_is_checked(call):
    code, out, _ = call("check-operators", "mine.py", "--cases", 1, mine__py=declare("TriedTwice"))
    assert code == 0
    assert out.startswith("operator    declared  example  values")
    assert "1 operator: all is as it should be" in out


def test_a_failure_has_exit_code_1_and_can_be_saved_and_run_again(call, own_folder):
    path = own_folder / "tried.py"
    settings = {"kind": "number", "right": 4}
    path.write_text(HEAD.format(**settings) + WRONG["memory that is not state"][3])
    code, out, err = call("check-operators", "tried.py", "--save", "found")
    assert code == 1
    assert "not as it should be: Tried" in out
    assert "DIFFERENT: " in out
    line = next(line for line in err.splitlines() if "Tried-batches" in line)
    command = line.partition("rtbot ")[2].split()
    assert call(*command, "--plugin", "tried.py")[0] == 1


def test_the_result_as_json(call):
    code, out, _ = call(
        "check-operators", "mine.py", "--cases", 1, "--format", "json", mine__py=declare("Tried2")
    )
    (found,) = json.loads(out)
    assert (code, found["operator"], found["passed"]) == (0, "Tried2", True)
    assert found["origin"] == "mine.py"
    assert found["checks"]["saved"] == 1
    assert found["rows_per_second"] > 0


def test_an_installed_package_is_checked_by_any_of_its_names(call, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site")
    text = declare("TriedTwice") + declare("TriedThrice", 3)
    install(tmp_path / "site", "tried-scales", "tried_scales.operators", operators=text)
    packages._load_all.cache_clear()
    for names in [(), ("tried-scales",), ("tried_scales",), ("tried_scales.operators",)]:
        code, out, _ = call("check-operators", *names, "--cases", 1)
        assert code == 0
        assert "2 operators: all is as it should be" in out
    assert "1 operator:" in call("check-operators", "TriedThrice", "--cases", 1)[1]
    packages._load_all.cache_clear()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), "no package of operators is installed: name a file"),
        (("MovingAvrage",), "is no package with operators, file or operator"),
        (("movingaverage",), "did you mean 'MovingAverage'?"),
        (("none.py",), "Error: none.py: there is no such Python file"),
        (("empty.py",), "empty.py declares no operator"),
    ],
)
def test_what_cannot_be_checked_is_told(call, names, told):
    code, _, err = call("check-operators", *names, empty__py="x = 1\n")
    assert code == 2
    assert told in err


def test_a_package_that_declares_nothing_is_told(call, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site")
    install(tmp_path / "site", "tried-nothing", "tried_nothing.operators", operators="x = 1\n")
    packages._load_all.cache_clear()
    code, _, err = call("check-operators")
    assert (code, "no operator is declared in tried-nothing" in err) == (2, True), err
    packages._load_all.cache_clear()


TIMEOUT = """
from rtbot.ieee import add_checked
from rtbot.operator import (
    DOMAIN, EMIT, NEVER, SILENT, Duration, Example, In, Operator, Out, Scalar, step,
)


class TriedTimeout(Operator):
    '''The value that no other followed within `after`.'''

    after = Duration(minimum=1, doc="how long it waits")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="last values")
    due = Scalar("integer", NEVER)
    value = Scalar("number", 0.0)
    sets_time = True
    gathers = True
    example = Example(
        parameters={"after": 3},
        inputs={"i1": [(1, 2.0), (2, 4.0), (9, 1.0)]},
        outputs={"o1": [(5, 4.0), (12, 1.0)]},
    )

    @step
    def close(time, value):
        return EMIT, time, value, NEVER, value

    @step
    def step(i1, time, after):
        fits, due = add_checked(time, after)
        return SILENT if fits else DOMAIN, due if fits else NEVER, i1
"""


def test_a_step_that_never_emits_claims_no_first_row(call):
    code, out, err = call("check-operators", "timeout.py", "--cases", 8, timeout__py=TIMEOUT)
    assert code == 0, err
    assert "all is as it should be" in out
