"""The list of sabotages fits the code, and `rtbot compare` alone finds some of them."""

import pytest

from tests.mutants import COMMANDS, SABOTAGES
from tests.mutation_testing import PACKAGES, ROOT, catch_by_compare, run_mutant

TEXTS = [
    path.read_text(encoding="utf-8")
    for name in PACKAGES
    for path in sorted((ROOT / name).rglob("*.py"))
]
QUICK = ["self.rows[name] += len(batches[stream])", 'feed.lost = dict(header["lost"])']


def test_every_sabotage_has_its_place():
    places = {item.old: sum(text.count(item.old) for text in TEXTS) for item in SABOTAGES}
    assert {old: count for old, count in places.items() if count != 1} == {}
    assert len(SABOTAGES) >= 100
    assert len({(item.old, item.new) for item in SABOTAGES}) == len(SABOTAGES)


def test_every_sabotage_has_who_catches_it():
    assert {command for item in SABOTAGES for command in item.caught_by} <= set(COMMANDS)


@pytest.mark.parametrize("word", QUICK)
def test_compare_finds_what_touches_order_cuts_or_state(word):
    (item,) = (item for item in SABOTAGES if word in item.old)
    assert item.compared
    _, _, outcome, _ = run_mutant(item, catch_by_compare)
    assert outcome.startswith("caught by ")
