"""Single cells and columns: numbers and their signs, tokens, kinds."""

import pytest

from rtbot.look.cell_column import CellColumn
from rtbot.look.cell_forms import describe_cell, is_absent, to_number
from rtbot.look.column_facts import DetectedSigns, SampledTable, describe_column, find_number_signs
from rtbot.look.sparkline import draw_text_sparkline, use_plain_signs


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", ("empty", "", "", "")),
        ("  ", ("empty", "", "", "")),
        ("12", ("number", "", "", "")),
        ("-0.5", ("number", ".", "", "")),
        ("+,5e-3", ("number", ",", "", "")),
        ("1e9", ("number", "", "", "")),
        ("nan", ("number", "", "", "")),
        ("1.234", ("number", "", "", ".")),
        ("1,234", ("number", "", "", ",")),
        ("0.123", ("number", ".", "", "")),
        ("1234.567", ("number", ".", "", "")),
        ("1.234,5", ("number", ",", ".", "")),
        ("1,234.5", ("number", ".", ",", "")),
        ("1.234.567", ("number", ",", ".", "")),
        ("1'234.5", ("number", ".", "'", "")),
        ("1 234", ("number", "", " ", "")),
        ("1\u202f234,5", ("number", ",", "\u202f", "")),
        ("1.234.56", ("text", "", "", "")),
        ("1.2.2024", ("time", "", "", "")),
        ("2024-01-31", ("time", "", "", "")),
        ("31 Jan 2024 10:00", ("time", "", "", "")),
        ("Jan 31, 2024 10:00", ("time", "", "", "")),
        ("10:00", ("clock", "", "", "")),
        ("8:05 PM", ("clock", "", "", "")),
        ("True", ("boolean", "", "", "")),
        ("41.5 %", ("measure", "", "", "")),
        ("$3.20", ("measure", "", "", "")),
        ("5kW", ("measure", "", "", "")),
        ("abc", ("text", "", "", "")),
        ("2024-01", ("text", "", "", "")),
    ],
)
def test_a_cell_is_what_it_looks_like(text, form):
    assert describe_cell(text) == form


@pytest.mark.parametrize(
    ("text", "signs", "value"),
    [
        ("1.5", (".", ""), 1.5),
        ("1,5", (",", ""), 1.5),
        ("1,5", (".", ""), None),
        ("1.234", (".", ""), 1.234),
        ("1.234", (",", "."), 1234.0),
        ("1.234", (",", ""), None),
        ("1.234,5", (",", "."), 1234.5),
        ("x", (".", ""), None),
    ],
)
def test_numbers_are_read_with_their_signs(text, signs, value):
    assert to_number(text, *signs) == value


@pytest.mark.parametrize("text", ["?", "NA", "n/a", "#N/A", "null", "-", "--", "MM", "...", "\\N"])
def test_tokens_of_absent_values_are_known(text):
    assert is_absent(text)


@pytest.mark.parametrize("text", ["0", "x", "Low", "manual", "nan", "----------"])
def test_other_texts_are_none(text):
    assert not is_absent(text)


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands", "doubt"),
    [
        (["1.5", "2"], ".", "", ""),
        (["1,5", "2"], ",", "", ""),
        (["1,5", "1.234"], ",", ".", ""),
        (["1.5", "1,234"], ".", ",", ""),
        (["1.234,5", "1,5"], ",", ".", ""),
        (["1 234", "2,5"], ",", " ", ""),
        (["1,234", "2,345"], ",", "", "1,234 may be"),
        (["1.5", "1,5", "1,5"], ",", "", "as decimal sign"),
        (["1.234", "2.345", "3.456"], ".", "", "three digits"),
    ],
)
def test_signs_are_those_of_all_cells(cells, decimal, thousands, doubt):
    found = find_number_signs(SampledTable(("x",), [[cell] for cell in cells]), ";")
    assert (found.decimal, found.thousands) == (decimal, thousands)
    assert doubt in found.doubt
    assert bool(doubt) == bool(found.doubt)


def column(*cells):
    return describe_column("x", CellColumn(cells), DetectedSigns())


def test_a_column_of_numbers_with_tokens():
    found = column("1", "NA", "3", "", "Ice")
    assert (found.kind, found.empty, found.known) == ("integer", 1, ("NA",))
    assert (found.tokens, found.least, found.greatest) == ({"NA": 1, "Ice": 1}, 1.0, 3.0)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5"], "number"),
        (["007", "008"], "code"),
        (["007", "A1"], "text"),
        (["true", "false"], "boolean"),
        (["a", "b", "1"], "text"),
        (["", ""], "empty"),
        (["2024-01-01", "2024-01-02"], "time"),
        (["5 kW", "6 kW"], "measure"),
    ],
)
def test_the_kind_of_a_column(cells, kind):
    assert column(*cells).kind == kind


def test_numbers_far_from_all_others_may_mean_absent():
    assert column("10", "11", "-999", "12").sentinels == {"-999": 1}
    assert column("10", "11", "-999", "12").least == 10
    assert column("0", "500", "999").sentinels == {}


def test_pictures_have_the_mean_of_each_part():
    assert draw_text_sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert draw_text_sparkline([0, 0, 7, 7], 2) == "▁█"
    assert draw_text_sparkline([None, 5, None]) == " ▁ "
    assert draw_text_sparkline([float("inf"), -1e308, 1e308]) == " ▁█"
    assert use_plain_signs("▁█ ▂") == "_# ."
