"""Evaluation under insertions and removals."""

import numpy as np
import pytest

from rtbot.datalog.language import read_program
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.tables.string_dictionary import StringDictionary
from tests.datalog.test_shared_cases import CASES, REFUSED


def start(text, **limits):
    return start_evaluation(read_program(text, "test.dl"), StringDictionary(), **limits)


def encode(evaluation, relation, rows):
    types = evaluation.forms.types[relation]
    encode = evaluation.values.encode_value
    words = [list(map(encode, row, types)) for row in rows]
    return np.array(words, np.int64).reshape(len(rows), len(types))


def decode(evaluation, relation, words):
    types = evaluation.forms.types[relation]
    return {tuple(map(evaluation.values.decode_value, row, types)) for row in words.tolist()}


def commit(evaluation, remove=None, insert=None):
    """Commit plain rows; the changes as plain rows: (removed, added)."""
    remove, insert = remove or {}, insert or {}
    names = {*remove, *insert}
    changes = {
        name: tuple(encode(evaluation, name, each.get(name, [])) for each in (remove, insert))
        for name in names
    }
    found = evaluation.commit(changes)
    return {
        name: tuple(decode(evaluation, name, words) for words in pair)
        for name, pair in found.items()
    }


def read(evaluation, relation):
    return decode(evaluation, relation, evaluation.list_rows(relation))


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_a_shared_case_epoch_by_epoch(name):
    case = CASES[name]
    evaluation = start(case["program"])
    known: dict = {}
    for epoch in case["epochs"]:
        changed = commit(evaluation, epoch["remove"], epoch["insert"])
        for relation, rows in epoch["expect"].items():
            expected = set(map(tuple, rows))
            assert read(evaluation, relation) == expected
            removed, added = changed.get(relation, (set(), set()))
            before = known.get(relation, set())
            assert (removed, added) == (before - expected, expected - before)
            known[relation] = expected
