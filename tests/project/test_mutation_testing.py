"""The list of mutants fits the code, and `rtbot compare` alone finds some of them."""

import ast

import pytest

from tests.mutants import COMMANDS, MUTANTS
from tests.mutation import Mutant, TextMutant, find_scope, list_own_nodes, parse_node
from tests.mutation_testing import ROOT, catch_by_compare, run_mutant

QUICK = [
    ("rtbot/runtime/session.py::Session._make_result", "self.rows[name] += len(batches[stream])"),
    ("rtbot/runtime/input_port.py::InputPort.restore", 'dict(values["lost"])'),
]
SOURCE = '''
import math

LIMIT = 1  # ä


class Total:
    """The total of `x`."""

    start = 1

    def add(self, x):
        """Add x + 1."""

        def twice(value):
            return value + value  # value

        ä = "ä"; y = x + 1 ; z = (x
              + 1)
        return [f"{x} + 1", ä, y, z, twice(x)]
'''.encode()


def mutate(place, old, new, kind=Mutant, **rest):
    changed = kind(f"m.py::{place}", old, new, **rest).mutate(SOURCE).decode()
    pairs = zip(SOURCE.decode().splitlines(), changed.splitlines(), strict=True)
    return [line.strip() for before, line in pairs if line != before]


# ---- the list


def test_every_mutant_has_its_place():
    stale = {}
    for mutant in MUTANTS:
        try:
            changed = mutant.mutate((ROOT / mutant.file).read_bytes())
            ast.parse(changed)
        except (LookupError, OSError, SyntaxError) as error:
            stale[mutant.place, mutant.old] = str(error)
    assert stale == {}
    assert len({(mutant.place, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
    assert len(MUTANTS) >= 100


def test_the_new_source_is_a_node_of_its_own():
    """Not part of an operation that binds more closely, say."""
    for mutant in MUTANTS:
        if not isinstance(mutant, TextMutant):
            source = (ROOT / mutant.file).read_bytes()
            expected = count_nodes(source, mutant) - count_in(ast.parse(mutant.old), mutant) + 1
            assert count_nodes(mutant.mutate(source), mutant) == expected, mutant


def count_nodes(source, mutant):
    return count_in(find_scope(ast.parse(source), mutant.place.partition("::")[2]), mutant)


def count_in(scope, mutant):
    wanted = parse_node(mutant.new)
    nodes = (node for node in list_own_nodes(scope) if type(node) is type(wanted))
    return sum(ast.dump(node) == ast.dump(wanted) for node in nodes)


def test_every_mutant_has_commands_that_catch_it():
    assert all(mutant.caught_by for mutant in MUTANTS)
    assert {command for mutant in MUTANTS for command in mutant.caught_by} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_name_files_and_tests_that_exist(name):
    command = COMMANDS[name]
    files = [part for part in command if part.endswith(".py")]
    modules = [part for part in command if part.startswith("tests.")]
    paths = [ROOT / file for file in files or [f"{m.replace('.', '/')}.py" for m in modules]]
    assert [path for path in paths if not path.is_file()] == []
    assert paths
    if "-k" in command:
        selection = command[command.index("-k") + 1]
        words = {n.id for n in ast.walk(ast.parse(selection)) if isinstance(n, ast.Name)}
        text = "".join(path.read_text(encoding="utf-8") for path in paths)
        assert {word for word in words if word not in text} <= PARAMETERS


PARAMETERS = {"NotEqualTo", "LogicalNor", "bands", "edge"}
PARAMETERS |= {"RollingMedian", "Fill", "ZScore", "Covariance", "Debounce"}
"""Words of -k that select parameters of tests."""


# ---- how a place is found


def test_layout_comments_and_quotes_do_not_matter():
    assert mutate("Total.add.twice", "(value+\n value)", "0") == ["return 0  # value"]
    assert mutate("Total.add", "ä='''ä'''", "ä = ''") == ["ä = ''; y = x + 1 ; z = (x"]


def test_bytes_before_a_node_on_its_line_are_counted_as_bytes():
    assert mutate("Total.add", "y = x + 1", "y = x") == ['ä = "ä"; y = x ; z = (x']


def test_a_statement_replaces_an_expression_that_is_one():
    assert mutate("Total.add.twice", "return value + value", "pass") == ["pass  # value"]


def test_equal_nodes_are_told_apart_by_number():
    assert mutate("Total.add", "x + 1", "x", nth=0) == ['ä = "ä"; y = x ; z = (x']
    for nth, message in [(None, "2 places, not one"), (2, "no number 2"), (-1, "no number -1")]:
        with pytest.raises(LookupError, match=message):
            mutate("Total.add", "x + 1", "x", nth=nth)


def test_a_scope_is_what_is_outside_the_definitions_in_it():
    assert mutate("", "1", "2") == ["LIMIT = 2  # ä"]
    assert mutate("Total", "1", "2") == ["start = 2"]
    for place in ("Total", "Total.add"):
        with pytest.raises(LookupError, match="0 places"):
            mutate(place, "value + value", "value")


def test_text_is_found_in_string_literals_only():
    assert mutate("Total.add", "{x} + 1", "{x}", TextMutant) == [
        'return [f"{x}", ä, y, z, twice(x)]'
    ]
    with pytest.raises(LookupError, match="0 places"):
        mutate("Total.add", "y = x", "y", TextMutant)


@pytest.mark.parametrize("place", ["Total.sub", "add", "Total.add.Total"])
def test_a_definition_that_is_not_there_is_an_error(place):
    with pytest.raises(LookupError, match=f"0 definitions of {place}, not one"):
        mutate(place, "1", "2")


# ---- compared


@pytest.mark.parametrize(("place", "old"), QUICK)
def test_compare_finds_what_touches_order_cuts_or_state(place, old):
    (mutant,) = (m for m in MUTANTS if (m.place, m.old) == (place, old))
    assert mutant.compared
    _, outcome, _ = run_mutant(mutant, catch_by_compare)
    assert outcome.startswith("caught by ")
