"""Rows as words: equal rows have equal words, and come back as they were."""

import random

import numpy as np
import pytest

from rtbot.relations.row_codec import RowCodec, find_least, make_order_keys
from rtbot.tables.string_dictionary import StringDictionary
from rtbot.tables.text_columns import TextColumn
from tests.relations_oracle import (
    MOST,
    NAN,
    draw_row,
    encode,
    identify,
    make_schema,
    order_of,
)


def test_one_zero_and_one_nan():
    schema = make_schema(["number"])
    codec = RowCodec(schema, StringDictionary())
    other = np.array([-0.0, 0.0, NAN, -NAN]).view(np.int64)
    other[3] |= 12345  # a NaN with a payload
    words = codec.encode([other.view(np.float64)], [None])
    assert words[0, 0] == words[1, 0] == 0
    assert words[2, 0] == words[3, 0]
    assert other[0] != 0, "what is given is not written to"


def test_what_is_encoded_comes_back():
    schema = make_schema(["integer", "integer?", "number?", "boolean?", "text?", "text"])
    texts = StringDictionary()
    rows = [
        (MOST, None, None, None, None, ""),
        (-MOST - 1, 0, 0.5, False, "", "ä"),
        (0, -1, NAN, True, "x", "x"),
    ]
    words = encode([[(row, 1) for row in rows]], schema, texts).words
    assert words.shape == (3, 7)
    assert words[0, 1:6].tolist() == [0, 0, 0, 0, texts.code("")]
    assert words[:, 6].tolist() == [0b11110, 0, 0]
    columns = RowCodec(schema, texts).decode(words)
    assert columns["f0"].tolist() == [MOST, -MOST - 1, 0]
    assert columns["f1"].tolist() == [0, 0, -1]
    assert columns["f1_valid"].tolist() == [False, True, True]
    assert [repr(v) for v in columns["f2"].tolist()] == ["nan", "0.5", "nan"]
    assert columns["f2_valid"].tolist() == [False, True, True]
    assert columns["f3"].tolist() == [False, False, True]
    assert columns["f4"].tolist() == [None, "", "x"]
    assert columns["f5"].tolist() == ["", "ä", "x"]
    assert "f0_valid" not in columns
    codec = RowCodec(schema, texts)
    assert codec.decode_row(words[0]) == dict(zip(schema.names, rows[0], strict=True))


def test_more_fields_than_one_word_of_nulls_has():
    schema = make_schema(["integer?"] * 130)
    assert schema.width == 133
    row = tuple(None if k % 7 == 0 else k for k in range(130))
    words = encode([[(row, 1)]], schema, StringDictionary()).words
    assert (words >= 0).all()
    found = RowCodec(schema, StringDictionary()).decode_row(words[0])
    assert tuple(found.values()) == row


def test_null_where_none_may_be():
    codec = RowCodec(make_schema(["integer", "text"]), StringDictionary())
    texts = TextColumn(np.array([0]), ["a"])
    with pytest.raises(ValueError, match="f0"):
        codec.encode([np.array([1]), texts], [np.array([False]), None])
    with pytest.raises(ValueError, match="f1"):
        codec.encode([np.array([1]), TextColumn(np.array([-1]), [])], [None, None])


def test_order_keys():
    texts = StringDictionary()
    schema = make_schema(["number?"])
    rows = [(v,) for v in (None, NAN, float("inf"), 1.0, 0.0, -1.0, float("-inf"))]
    words = encode([[(row, 1) for row in rows]], schema, texts).words
    keys = make_order_keys(schema, words, texts)
    assert np.argsort(keys[:, 0]).tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert (find_least(schema, words[:3], texts) == words[2]).all()
    plain = make_schema(["integer", "boolean"])
    words = encode([[((5, True), 1)]], plain, texts).words
    assert make_order_keys(plain, words, texts) is words


@pytest.mark.parametrize("types", [["integer?", "text?", "text"], ["text", "number?", "text?"]])
def test_many_rows_have_their_order_whatever_comes_before_a_text(types):
    schema, texts = make_schema(types), StringDictionary()
    rng = random.Random(str(types))
    rows = [draw_row(rng, schema) for _ in range(300)]
    words = encode([[(row, 1) for row in rows]], schema, texts).words
    order = np.lexsort(make_order_keys(schema, words, texts).T[::-1])
    assert [order_of(identify(rows[n])) for n in order] == sorted(
        order_of(identify(row)) for row in rows
    )
