"""What a new user gets wrong is told in one message, with its place, cause and next step.

`mistakes/*.toml` has the mistakes; `docs/mistakes.md` shows what is told, and must be up to date.
"""

import re

import pytest

import rtbot
from rtbot.core.errors import suggest_known_name, suggest_name
from rtbot.core.hints import SYNONYMS, find_synonym, fold_word
from rtbot.operator import REGISTRY, find_by_search_term, suggest_operator
from tests.mistakes.cases import PAGE, SECTIONS, cases, command, first_message, row, told

ALL = [(section, case) for section in SECTIONS for case in cases(section)]
KINDS = {
    r"Error: ": 2,
    r".*error\[RT1\d\d\]: ": 3,
    r".*error\[RT2\d\d\]: ": 4,
    r"[^ ]+: error: ": 74,
}
each = pytest.mark.parametrize(
    ("section", "case"), ALL, ids=[f"{section}: {case['mistake']}" for section, case in ALL]
)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Compile nothing: a mistake runs a few rows, if any."""
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


@each
def test_a_mistake_is_told_as_the_page_says(section, case):
    rows = PAGE.read_text(encoding="utf-8").split(f"\n## {SECTIONS[section]}\n")[1]
    assert f"\n{row(case)}\n" in rows, "run: python -m tests.mistakes"


@each
def test_a_mistake_is_told_once_and_without_a_traceback(section, case):
    code, text = told(case)
    assert "Traceback" not in text
    assert "internal error" not in text
    if section == "python" or case.get("accepted"):
        assert bool(code) is not bool(case.get("accepted"))
        return
    first, _ = first_message(text)
    kinds = [KINDS[form] for form in KINDS if re.match(form, first)]
    assert [code] == (kinds or [case["exit"]])
    assert len(re.findall(r"error\[|rror: ", text)) == case.get("messages", len(kinds))


def test_there_are_many_mistakes_and_no_row_too_much():
    assert len(ALL) >= 200
    assert len({(section, case["mistake"]) for section, case in ALL}) == len(ALL)
    rows = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.startswith("| ")]
    assert len(rows) == len(ALL) + len(SECTIONS)


def test_every_command_is_one_of_ours():
    assert {command(case).split()[0] for section, case in ALL if section != "python"} == {"rtbot"}


def test_what_looks_like_a_mistake_and_is_none():
    """A key of an operator may be the word for another, and an operator may be called `type`."""
    with pytest.raises(rtbot.GraphError, match=r"m\.i1 is not fed"):
        rtbot.load("{inputs: {x: number}, operators: {m: {type: Lag, n: 1}}, outputs: [m]}")
    graph = rtbot.load("{inputs: {x: number}, operators: {EMA: 2 * x, type: EMA}, outputs: [type]}")
    assert list(graph.checked.nodes) == ["EMA", "type"]


# ---- words of other tools


@pytest.mark.parametrize(
    ("word", "operator"),
    [
        ("SMA", "MovingAverage"),
        ("rolling_mean", "MovingAverage"),
        ("rollingMean", "MovingAverage"),
        ("ewm", "EMA"),
        ("rolling_std", "StandardDeviation"),
        ("shift", "Lag"),
        ("diff", "Difference"),
        ("cumsum", "CumulativeSum"),
        ("resample", "ResamplerConstant"),
        ("ffill", "ResamplerConstant"),
        ("find_peaks", "PeakDetector"),
        ("concat", "Merge"),
    ],
)
def test_an_operator_is_known_by_the_word_of_another_tool(word, operator):
    assert find_by_search_term(word) == (operator, "")
    assert suggest_operator(word) == f"did you mean {operator!r}?"


def test_a_word_may_imply_parameters():
    assert find_by_search_term("merge_asof") == ("Join", "how: asof")
    assert suggest_operator("rolling_max") == "did you mean 'WindowMinMax' with mode: max?"


def test_a_word_means_one_operator_and_is_no_name_of_another():
    words = {}
    for operator in dict.fromkeys(REGISTRY.values()):
        for entry in filter(None, operator.search_terms.split(", ")):
            word = fold_word(entry.partition(" ")[0])
            assert words.setdefault(word, operator) is operator, word
            assert {fold_word(name) for name in REGISTRY} & {word} == set(), word


def test_what_a_word_implies_are_parameters_of_the_operator():
    for operator in REGISTRY.values():
        for entry in operator.search_terms.split(", "):
            _, _, setting = entry.partition(" ")
            name, _, value = setting.partition(": ")
            options = getattr(operator.parameters.get(name), "options", ("true", "false"))
            assert not setting or value in options


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("period", ("window", "partial"), "window"),
        ("min_periods", ("partial",), "partial"),
        ("inputs", ("type", "in"), "in"),
        ("expected", ("given", "expect"), "expect"),
        ("Float64", ("number", "integer"), "number"),
        ("full", ("inner", "outer"), "outer"),
        ("check", ("run", "validate"), "validate"),
        ("seconds", ("s", "ms"), "s"),
        ("avg", ("count", "sum", "mean"), "mean"),
        ("ffill", ("previous", "value", "linear"), "previous"),
        ("has", ("lookup", "exists"), "exists"),
        ("period", ("partial",), ""),
        ("colour", tuple(SYNONYMS), ""),
    ],
)
def test_a_word_stands_for_a_name_that_is_there(word, names, meant):
    assert find_synonym(word, names) == meant


def test_a_synonym_comes_before_a_name_that_looks_alike():
    assert suggest_known_name("n", ("in", "window")) == "did you mean 'window'?"
    assert suggest_known_name("windw", ("in", "window")) == "did you mean 'window'?"


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("tt", ["t", "price"], "did you mean 't'?"),
        ("m", ["ma", "sd"], "did you mean 'ma'?"),
        ("RSI", ["Sin", "EMA"], ""),
        ("SMA", ["EMA"], ""),
        ("ema", ["EMA"], "did you mean 'EMA'?"),
        ("prize", ["price"], "did you mean 'price'?"),
    ],
)
def test_short_names_are_not_like_every_other(name, candidates, hint):
    assert suggest_name(name, candidates) == hint
