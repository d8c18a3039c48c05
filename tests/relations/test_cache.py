"""A cache holds what tables of changes lead to, and refuses what does not fit."""

import random

import numpy as np
import pytest

from rtbot import StateError
from rtbot.relations.cache import Cache
from tests.cache_trials import follow_clients, follow_operators


def table(changes, **more):
    """(t, weight, id)"""
    times, weights, ids = zip(*changes, strict=True) if changes else ((), (), ())
    return {"id": list(ids), "t": list(times), "weight": list(weights), **more}


def test_copies_and_order():
    cache = Cache(table([(1, 2, 5), (1, 1, 3)]))
    cache.apply(table([(2, -1, 5), (2, 1, 4)]))
    assert cache.rows() == [{"id": 3}, {"id": 4}, {"id": 5}]
    assert len(cache) == 3
    assert repr(cache) == "<Cache: 3 rows>"


def test_a_table_that_does_not_fit_changes_nothing():
    cache = Cache(table([(1, 1, 5)]))
    for changes, said in [
        ([(2, 1, 6), (2, -1, 7)], "the cache has no row {'id': 7} to delete (t 2, weight -1)"),
        ([(2, 1, 6), (3, -2, 5)], "the cache has 1 of the row {'id': 5}, fewer than are deleted"),
    ]:
        with pytest.raises(StateError) as caught:
            cache.apply(table(changes))
        assert (caught.value.code, said in str(caught.value)) == ("RT405", True)
        assert cache.rows() == [{"id": 5}]
    with pytest.raises(ValueError, match="a table of x, not of id"):
        cache.apply({"t": [1], "weight": [1], "x": [1]})


def test_one_row_for_each_key():
    cache = Cache({"t": [1, 1], "weight": [1, 1], "k": [1, 2], "v": [0, 0]}, unique=["k"])
    cache.apply({"t": [2, 2], "weight": [-1, 1], "k": [1, 1], "v": [0, 5]})
    for changes in (
        {"t": [3], "weight": [1], "k": [2], "v": [9]},
        {"t": [3], "weight": [1], "k": [2], "v": [0]},
        {"t": [3], "weight": [2], "k": [3], "v": [0]},
        {"t": [3, 3], "weight": [-1, 2], "k": [2, 2], "v": [0, 1]},
    ):
        with pytest.raises(StateError):
            cache.apply(changes)
        assert cache.rows() == [{"k": 1, "v": 5}, {"k": 2, "v": 0}]
    first = Cache(unique=["k"])
    with pytest.raises(StateError):
        first.apply({"t": [1, 1], "weight": [1, 1], "k": [1, 1], "v": [0, 1]})
    with pytest.raises(ValueError, match="there is no field z"):
        Cache(table([]), unique=["z"])


def test_values_that_are_equal_in_python_only():
    cache = Cache(
        {
            "t": np.array([1, 1, 1]),
            "weight": np.array([1, 1, 1]),
            "x": np.array([np.nan, -0.0, 1.0]),
            "x_valid": np.array([True, True, False]),
        }
    )
    cache.apply({"t": [2, 2], "weight": [-1, -1], "x": [float("nan"), 0.0]})
    assert cache.rows() == [{"x": None}]
    mixed = Cache({"t": [1], "weight": [1], "x": [True]})
    with pytest.raises(StateError):
        mixed.apply({"t": [2], "weight": [-1], "x": [1]})


def test_fields_of_the_names_of_the_columns_of_changes():
    cache = Cache({"_t": [1], "_weight": [2], "t": [5], "weight": [7]})
    assert cache.rows() == [{"t": 5, "weight": 7}] * 2
    with pytest.raises(ValueError, match="weight"):
        Cache({"t": [1]})


def test_what_every_operator_and_a_subscription_release():
    follow_operators(random.Random(1), 300, block=100)
    follow_clients(random.Random(1), 1_000, block=50)
