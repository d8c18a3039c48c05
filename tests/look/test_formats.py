"""Files in formats of the field are what they are, and the options that are found read them."""

import pytest
import yaml

from rtbot.graph.csv_dialect import check_dialect
from tests.field.table import FORMATS, encode, find

EVERY = [pytest.param(one, id=one["name"]) for one in FORMATS]


@pytest.mark.parametrize("one", EVERY)
def test_the_first_rows_are_read_as_they_are(one):
    facts = find(one)
    taken = facts.time.columns if facts.time else ()
    names = ["t", *(column.name for column in facts.columns if column.name not in taken)]
    places = [0, *map(names.index, one["columns"])] if one["rows"] else []
    count = len(one["rows"])
    assert [[row[place] for place in places] for row in facts.first_rows[:count]] == one["rows"]


@pytest.mark.parametrize("one", EVERY)
def test_keys_doubts_and_obstacles_are_stated(one):
    facts = find(one)
    assert list(facts.io.key) == one.get("key", [])
    assert one.get("doubt", "") in "\n".join(facts.doubts)
    assert bool(facts.obstacles) == ("refused" in one)
    assert one.get("refused", "") in "\n".join(facts.obstacles)


@pytest.mark.parametrize("one", EVERY)
def test_the_section_is_the_options(one):
    facts = find(one)
    section = yaml.safe_load(facts.suggest_io() or "{}").get("io", {})
    csv = section.get("csv", {})
    for name, value in csv.items():
        ours = getattr(facts.dialect, name)
        given = "\t" if value == "tab" else value
        assert (list(ours) if name == "names" else ours) == given
    assert check_dialect(facts.dialect) is None
    assert section.get("time_format") == facts.reading.time_format
    assert section.get(None, []) == list(facts.reading.null)
    assert facts.to_json()["bytes"] == len(encode(one))
