"""A slice of `python -m tests.fuzz_files`, and that it sees what it looks for."""

import pytest

from rtbot.core.error_codes import CODES
from rtbot.core.errors import Problem
from rtbot.core.source_span import SourceSpan
from tests.fuzz_files import check_case, check_chunk, check_data, check_places, make_case

SLICES = [("graph", start) for start in range(0, 500, 125)] + [("data", 0)]
SLICES += [("dialect", 0), ("change", 0)]


@pytest.mark.parametrize(("kind", "start"), SLICES)
def test_spoilt_files_end_in_a_known_way(kind, start, monkeypatch):
    monkeypatch.setattr("tests.fuzz_files.SECONDS", 60)  # a hang is longer than a busy compilation
    count = 125 if kind == "graph" else 75
    outcomes, _, failures = check_chunk("suite", start, start + count, kind)
    assert failures == []
    assert outcomes.total() == count
    assert len(outcomes) > 5


@pytest.mark.parametrize(("kind", "name"), [("data", "2026/1947")])
def test_what_once_failed_ends_in_a_known_way(kind, name, tmp_path):
    assert check_case(name, *make_case(name, kind), tmp_path) in CODES


GOOD = b"inputs: {a: number}\noutputs: [a]\n"
OUTSIDE = [
    SourceSpan("f", 0, 1),
    SourceSpan("f", 4, 1),
    SourceSpan("f", 1, 0),
    SourceSpan("f", 1, 21),
    SourceSpan("g", 1, 1),
]


@pytest.mark.parametrize("mark", OUTSIDE)
def test_a_place_outside_the_file_is_a_failure(mark):
    check_places(
        [
            Problem("RT101", SourceSpan("f", 1, 20), "x"),
            Problem("RT101", SourceSpan("f", 3, 1), "x"),
        ],
        GOOD,
        "f",
    )
    with pytest.raises(AssertionError):
        check_places([Problem("RT101", mark, "x")], GOOD, "f")


def test_an_unknown_code_is_a_failure():
    with pytest.raises(AssertionError):
        check_places([Problem("RT999", SourceSpan("f", 1, 1), "x")], GOOD, "f")


def test_another_exception_and_a_long_wait_are_failures(monkeypatch):
    monkeypatch.setattr("rtbot.load", lambda _: 1 / 0)
    assert check_chunk("suite", 1, 2, "graph")[2] == [
        ("suite/1", "ZeroDivisionError: division by zero")
    ]
    monkeypatch.setattr("tests.fuzz_files.SECONDS", 0.01)
    monkeypatch.setattr("rtbot.load", lambda _: all(True for _ in iter(int, 1)))
    assert check_chunk("suite", 1, 2, "graph")[2] == [("suite/1", "TooSlow: ")]


def test_a_bad_end_of_the_program_is_a_failure(monkeypatch, tmp_path):
    monkeypatch.setattr("tests.fuzz_files.run", lambda _: 70)
    with pytest.raises(AssertionError):
        check_data(".csv", b"t,price\n", tmp_path)
