"""Pictures of Python go into a folder that is not there yet, as in a notebook without `out`."""

import pytest

import rtbot

GRAPH = "inputs: {x: number}\nio: {unit: s}\noperators: {y: x + 1}\noutputs: [y]\n"
ROWS = {"x": {"t": [1, 2, 3], "value": [1.0, 2.0, 3.0]}}
PICTURES = {
    "a chart": lambda path: rtbot.load(GRAPH).run(ROWS).plot(path),
    "a drawing": lambda path: rtbot.load(GRAPH).draw(path),
}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_picture_makes_the_folder_that_it_goes_into(tmp_path, draw):
    path = tmp_path / "out" / "spark" / "one.svg"
    shown = draw(path)
    assert path.read_text(encoding="utf-8") == shown


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_picture_below_a_file_is_refused(tmp_path, draw):
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(OSError, match="out"):
        draw(tmp_path / "out" / "one.svg")
