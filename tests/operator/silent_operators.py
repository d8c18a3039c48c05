"""Operators whose outputs have messages or not, each on its own, with their oracles.

A test that uses them registers them.
"""

import itertools

from rtbot.ieee import divide
from rtbot.operator import (
    DOMAIN,
    EMIT,
    NEVER,
    SILENT,
    Duration,
    Example,
    In,
    Integer,
    Number,
    Operator,
    Out,
    Scalar,
    step,
)
from rtbot.operator.operator import REGISTERING
from tests.oracles.registry import ABSENT, FAULT, oracle

REGISTER = REGISTERING.set({})


class SplitForTest(Operator):
    """Values above `level`, the others, and every `n`-th place; all places."""

    level = Number(default=0.0, doc="what a value above it is greater than")
    n = Integer(default=2, minimum=1, doc="how far apart the places are")
    i1 = In("N", nullable=True, doc="values")
    o1 = Out("N", alias="above", silent=True, doc="values above the level")
    o2 = Out("N", alias="others", silent=True, nullable=True, doc="other values and null")
    o3 = Out("integer", alias="nth", silent=True, doc="places that are multiples of `n`")
    o4 = Out("integer", alias="place", doc="the place of every message")
    place = Scalar("integer", 0)
    example = Example(
        inputs={"i1": [(1, 1.0), (2, -1.0), (3, 4.0)]},
        outputs={
            "o1": [(1, 1.0), (3, 4.0)],
            "o2": [(2, -1.0)],
            "o3": [(2, 2)],
            "o4": [(1, 1), (2, 2), (3, 3)],
        },
    )

    @step
    def step(i1, i1_valid, level, n, place):
        place += 1
        above = i1_valid and i1 > level
        return i1, above, i1, i1_valid, not above, place, place % n == 0, place, place

    integer_step = step


@oracle("SplitForTest")
def split(rows, level, n):
    for place, (time, value) in enumerate(rows, 1):
        above = value is not None and value > level
        pair = (value, ABSENT) if above else (ABSENT, value)
        yield time, (*pair, place if place % n == 0 else ABSENT, place)


class RatiosForTest(Operator):
    """Ratios of neighbours: those that grow, and all; none where the value before is 0."""

    i1 = In("number", doc="values")
    i2 = In("T", doc="what comes with them")
    o1 = Out("number", alias="growing", silent=True, doc="ratios above 1")
    o2 = Out("number", alias="all", doc="ratios")
    o3 = Out("T", silent=True, doc="what comes with ratios below 1")
    before = Scalar("number", 0.0)
    known = Scalar("boolean", False)
    silent = True
    faults = True
    example = Example(
        inputs={"i1": [(1, 2.0), (2, 4.0), (3, 1.0)], "i2": [(1, 7.0), (2, 8.0), (3, 9.0)]},
        outputs={"o1": [(2, 2.0)], "o2": [(2, 2.0), (3, 0.25)], "o3": [(3, 9.0)]},
    )

    @step
    def step(i1, i2, before, known):
        ratio = divide(i1, before)
        code = EMIT if known else SILENT
        if known and before == 0:
            code = DOMAIN
        return code, ratio, ratio > 1, ratio, i2, ratio < 1, i1, True


@oracle("RatiosForTest")
def ratios(rows):
    for (_, before, _), (time, value, also) in itertools.pairwise(rows):
        if before == 0:
            yield time, FAULT
            continue
        ratio = float(divide(value, before))
        yield (
            time,
            (ratio if ratio > 1 else ABSENT, ratio, also if ratio < 1 else ABSENT),
        )


class BurstsForTest(Operator):
    """The last value of a burst, if it is above 0; how long one was that is longer than 1."""

    gap = Duration(minimum=1, doc="what ends a burst")
    i1 = In("number", doc="values")
    o1 = Out("number", alias="last", silent=True, doc="last values above 0")
    o2 = Out("integer", alias="length", silent=True, doc="lengths above 1")
    o3 = Out("number", alias="either", nullable=True, silent=True, doc="null after a negative one")
    due = Scalar("integer", NEVER)
    value = Scalar("number", 0.0)
    length = Scalar("integer", 0)
    sets_time = True
    gathers = True
    silent = True
    faults = True
    example = Example(
        parameters={"gap": 3},
        inputs={"i1": [(1, 2.0), (2, 4.0), (8, -1.0)]},
        outputs={"o1": [(5, 4.0)], "o2": [(5, 2)], "o3": [(5, 4.0), (11, None)]},
    )

    @step
    def close(time, value, length):
        is_positive = value > 0
        return (
            EMIT, time, value, is_positive, length, length > 1, value, is_positive, value != 0,
            NEVER, 0.0, 0,
        )  # fmt: skip

    @step
    def step(i1, time, gap, length):
        if time > 2**63 - 1 - gap:
            return DOMAIN, NEVER, 0.0, 0
        return SILENT, time + gap, i1, length + 1


@oracle("BurstsForTest")
def bursts(rows, gap, frontier):
    due, value, length = None, 0.0, 0

    def message():
        is_positive = value > 0
        either = (value if is_positive else None) if value != 0 else ABSENT
        return due, (value if is_positive else ABSENT, length if length > 1 else ABSENT, either)

    for time, now in rows:
        if due is not None and due <= time:
            yield message()
            length = 0
        if time > 2**63 - 1 - gap:
            due, length = None, 0
            yield time, FAULT
            continue
        due, value, length = time + gap, now, length + 1
    if due is not None and due <= frontier:
        yield message()


REGISTERING.reset(REGISTER)
OPERATORS = [SplitForTest, RatiosForTest, BurstsForTest]
