"""The clock of a source, and rows that wait for their transactions."""

import numpy as np
import pytest

from rtbot.core.errors import DataError
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.change_feed import FIRST, LAST, ChangeFeed, find_times, group_rows
from rtbot.relations.row_codec import RowCodec
from rtbot.tables.change_rows import ChangeSpec, to_change_rows
from rtbot.tables.string_dictionary import StringDictionary

SCHEMA = Schema((Field("s", Type("text")),))


def make_feed(lateness=None):
    return ChangeFeed("a", RowCodec(SCHEMA, StringDictionary()), lateness)


def push(feed, *times):
    rows = to_change_rows({"t": list(times), "s": [f"{t}" for t in times]}, ChangeSpec("a", SCHEMA))
    feed.accept(feed.prepare(rows))


def texts_of(feed, rows):
    return [feed.codec.texts.text(code) for code in rows.words[:, 0].tolist()]


def test_rows_of_the_latest_time_wait():
    feed = make_feed()
    assert feed.frontier == FIRST
    push(feed, 1, 1, 3)
    assert (feed.frontier, feed.held, feed.find_earliest()) == (2, 3, 1)
    assert texts_of(feed, feed.take(2)) == ["1", "1"]
    push(feed, 3, 4)
    feed.advance(4)
    assert texts_of(feed, feed.take(feed.frontier)) == ["3", "3", "4"]
    feed.advance(LAST)
    assert (feed.held, feed.frontier, feed.arrived) == (0, LAST, 5)


@pytest.mark.parametrize(
    ("lateness", "advanced", "times", "bad"),
    [
        (None, None, (1, 3, 2), 2),
        (2, None, (1, 5, 3, 2), 3),
        (None, 4, (4,), 0),
        (9, 4, (5, 4), 1),
        (2**62, None, (FIRST + 1, LAST, 0), 2),
    ],
)
def test_late_rows_are_refused(lateness, advanced, times, bad):
    feed = make_feed(lateness)
    if advanced is not None:
        feed.advance(advanced)
    with pytest.raises(DataError) as caught:
        push(feed, *times)
    error = caught.value
    assert (error.code, error.row, error.time, error.input) == ("RT202", bad, times[bad], "a")
    assert feed.held == 0


def test_lateness_sorts_and_keeps_the_order_of_equal_times():
    feed = make_feed(3)
    push(feed, 5, 3, 4, 3, 6)
    assert feed.frontier == 2
    push(feed, 3)
    feed.advance(LAST)
    assert feed.take(LAST).time.tolist() == [3, 3, 3, 4, 5, 6]


def test_rows_that_are_put_back_come_first_again_and_are_saved():
    feed = make_feed()
    push(feed, 1, 2, 3)
    taken = feed.take(2)
    feed.put_back(taken.cut(1, 2))
    values, arrays = feed.save()
    other = ChangeFeed("a", feed.codec)
    other.restore(values, arrays)
    for one in (feed, other):
        assert one.take(LAST).time.tolist() == [2, 3]
    with pytest.raises(ValueError, match="equally long"):
        other.restore(values, {**arrays, "time": arrays["time"][:1]})


def test_transactions_are_the_times_of_all_sources():
    one, two = make_feed(), make_feed()
    push(one, 1, 1, 4)
    push(two, 2, 4)
    rows = [one.take(9), two.take(9)]
    times = find_times(rows)
    assert times.tolist() == [1, 2, 4]
    assert [group_rows(part, times).starts.tolist() for part in rows] == [
        [0, 2, 2, 3],
        [0, 0, 1, 2],
    ]
    assert find_times([]).tolist() == find_times([one.take(9)]).tolist() == []
    assert group_rows(one.take(9), np.array([7])).starts.tolist() == [0, 0]
