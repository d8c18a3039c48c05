"""Operators that keep something for every value of a stream: keys inside the key of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.numeric.ieee import is_older
from rtbot.operator import (
    EMIT,
    SILENT,
    UNREAD,
    Cells,
    Choice,
    Duration,
    Example,
    In,
    Number,
    Operator,
    Out,
    Scalar,
    Space,
    Span,
    TimeSpan,
    Type,
    WindowLength,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def check_keys(inputs: Mapping[str, Type]) -> None:
    """Raise GraphError if a port of keys has vectors."""
    for port, type_ in inputs.items():
        if type_.fields:
            hint = "VectorExtract takes one of the elements"
            raise graph_error("RT125", SourceSpan(), f"{port} has keys, which are no vectors", hint)


class KeyCount(Operator, abstract=True):
    """What all counts of values in a window have."""

    window = WindowLength(
        aliases=("window_size",), doc="values in the window, or its length in time"
    )
    i1 = In("T", doc="values: numbers, integers, texts or booleans")
    o1 = Out("integer", doc="how often the value is there")
    counts = Space(("i1",), {"count": Scalar("integer", 0)})

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """Places of the values in the window, with their times where it is one of time."""
        return MovingKeyCountByTime if isinstance(values["window"], TimeSpan) else MovingKeyCount

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003 (none matters)
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """An integer, of values that are not vectors."""
        check_keys(inputs)
        return {"o1": Type("integer")}


class MovingKeyCount(KeyCount):
    """How often the value of the message is among the last `window` values, itself included.

    It counts from the first message on. A window of time, such as `5s`, has the messages of
    (t - 5s, t]. NaN is equal to nothing, so that its count is 0.
    """

    search_terms = "value_counts, occurrences"
    recent = Cells("integer", size=lambda values: values["window"], start=-1)
    place = Scalar("integer", 0)
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 7.0), (2, 7.0), (3, 8.0), (4, 8.0), (5, 7.0)]},
        outputs={"o1": [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1)]},
    )

    @step
    def step(i1, window, recent, recent_first, place, counts_count, counts_i1):
        leaving = recent[recent_first + place]
        if leaving >= 0:
            counts_count[leaving] -= 1
        recent[recent_first + place] = counts_i1
        counts_count[counts_i1] += 1
        place = place + 1 if place + 1 < window else 0
        return counts_count[counts_i1] if i1 == i1 else 0, place


@step
def count_in_time(
    i1, time, window, counts_count, counts_i1, recent_count, recent_time, recent_time_first,
    recent_place, recent_place_first,
):  # fmt: skip
    """The step of MovingKeyCount for windows of time."""
    left = 0
    while left < recent_count and is_older(recent_time[recent_time_first + left], time, window):
        counts_count[recent_place[recent_place_first + left]] -= 1
        left += 1
    recent_time[recent_time_first + recent_count] = time
    recent_place[recent_place_first + recent_count] = counts_i1
    counts_count[counts_i1] += 1
    return counts_count[counts_i1] if i1 == i1 else 0, left, recent_count + 1 - left


class MovingKeyCountByTime(KeyCount, variant_of="MovingKeyCount"):
    """The count in a window of time."""

    recent = Span({"time": "integer", "place": "integer"})
    step = count_in_time


@step
def keep_latest(i1_valid, i2, i2_valid, held_value, held_known, held_i1):
    """Note the value of a key, or forget the key if the value is NaN."""
    if i1_valid and i2_valid:
        held_known[held_i1] = i2 == i2
        held_value[held_i1] = i2 if i2 == i2 else 0.0
    return held_i1


@step
def look_up_key(
    i1_valid, i2, i2_valid, c1_valid, default_value, held_value, held_known, held_i1, held_c1
):  # fmt: skip
    """The latest value of the key that is asked for."""
    keep_latest(i1_valid, i2, i2_valid, held_value, held_known, held_i1)
    value = default_value
    if c1_valid and held_c1 >= 0 and held_known[held_c1]:
        value = held_value[held_c1]
    return EMIT if c1_valid else SILENT, value


@step
def find_key(i1_valid, i2, i2_valid, c1_valid, held_value, held_known, held_i1, held_c1):
    """Whether the key that is asked for has a value."""
    keep_latest(i1_valid, i2, i2_valid, held_value, held_known, held_i1)
    known = bool(c1_valid and held_c1 >= 0 and held_known[held_c1])
    return EMIT if c1_valid else SILENT, known


class KeyedVariable(Operator):
    """The last value of a key, asked for at the times of another stream.

    Messages of `i1` and `i2` of one time are a key and its value, as are the elements of a
    `vector[2]` that feeds `i1` alone; NaN takes the key out. A query at
    t names a key and gets its latest value at or before t, or `default_value` if there is none, or
    in mode `exists` whether there is one. The answer comes once it is certain: when keys and values
    have passed t. A key without a value of the same time, or the other way round, does nothing.
    With `ttl` a value that came at t is forgotten from t + ttl on, unless the key has another one.
    """

    search_terms = "dictionary, key_value, lookup"
    mode = Choice(
        options=("lookup", "exists"),
        required=False,
        default="lookup",
        doc="whether the answer is the value, or whether there is one",
    )
    default_value = Number(
        required=False, default=0.0, doc="the answer for a key that has no value"
    )
    ttl = Duration(required=False, minimum=1, doc="how long a value counts")
    i1 = In("T", alias="key", role="may", doc="keys: numbers, integers, texts or booleans")
    i2 = In("number", alias="value", role="may", within="i1", doc="their values")
    c1 = In("T", alias="query", role="may", doc="keys that are asked for")
    c2 = In("T", alias="heartbeat", role=UNREAD, optional=True, doc="no answer waits for it")
    o1 = Out("number", doc="answers, at the times of the queries; in mode exists a boolean")
    held = Space(
        ("i1", "c1"),
        {"value": Scalar("number", 0.0), "known": Scalar("boolean", False)},
        ttl="ttl",
        renewed_by=("i1", "i2"),
    )
    silent = True
    example = Example(
        parameters={"default_value": -1.0},
        inputs={
            "i1": [(1, 7.0), (3, 8.0), (5, 7.0)],
            "i2": [(1, 100.0), (3, 200.0), (5, 101.0)],
            "c1": [(2, 7.0), (4, 8.0), (5, 7.0), (6, 9.0)],
            "c2": [(6, 0.0)],
        },
        outputs={"o1": [(2, 100.0), (4, 200.0), (5, 101.0), (6, -1.0)]},
    )
    step = look_up_key

    @classmethod
    def step_for(
        cls,
        values: Mapping[str, Any],
        inputs: Mapping[str, Type],  # noqa: ARG003 (one for all types)
    ) -> Callable[..., Any]:
        """The step of the mode."""
        return find_key if values["mode"] == "exists" else look_up_key

    @classmethod
    def output_types(
        cls,
        values: Mapping[str, Any],
        inputs: Mapping[str, Type],
    ) -> dict[str, Type]:
        """A number, or whether there is one."""
        check_keys(inputs)
        return {"o1": Type("boolean" if values["mode"] == "exists" else "number")}
