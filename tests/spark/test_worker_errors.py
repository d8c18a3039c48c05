"""Errors as users read them: times as dates, and what is ours in what Spark tells around it."""

import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import CheckpointError, DataError

pytest.importorskip("pyspark")

from spark_adapter import partition, reason, worker_errors

SECOND = 1_704_067_201
"""2024-01-01T00:00:01Z."""


def work_of(kind, unit):
    graph = rtbot.load("inputs: {a: number}\noperators: {b: a + 1}\noutputs: [b]\n")
    schema = pa.schema([("at", kind), ("b", pa.float64())])
    return partition.JobSpec(
        graph, (), "at", (partition.InputColumn("a", "a"),), schema, "at", unit=unit
    )


@pytest.mark.parametrize(
    ("kind", "unit", "time", "told"),
    [
        (pa.timestamp("us", "UTC"), "s", SECOND, "2024-01-01T00:00:01Z"),
        (pa.timestamp("us"), "s", SECOND, "2024-01-01T00:00:01"),
        (pa.timestamp("us"), "us", SECOND * 10**6 + 5, "2024-01-01T00:00:01.000005"),
        (pa.timestamp("us"), "ns", SECOND * 10**9, "2024-01-01T00:00:01"),
        (pa.timestamp("us", "UTC"), "ms", -1, "1969-12-31T23:59:59.999Z"),
        (pa.timestamp("us"), "us", 2**62, str(2**62)),
    ],
)
def test_a_time_is_told_as_the_timestamp_that_it_was(kind, unit, time, told):
    message = "t={} is late: the input was advanced to {}; 17 is no time"
    where = {"input": "a", "time": time, "value": time}
    error = DataError(message, code="RT202", hint="t=1", times=[time, time], **where)
    with (
        pytest.raises(DataError) as caught,
        worker_errors.hide_worker_traceback(work_of(kind, unit)),
    ):
        raise error
    assert str(caught.value) == (
        f"error[RT202]: t={told} is late: the input was advanced to {told}; 17 is no time"
        f" (input 'a', time {told} = {time}, value {time})\n     t=1"
    )
    assert caught.value.time == time


def test_a_time_that_was_an_integer_stays_one():
    error = DataError("t={} is late", code="RT202", times=[7], time=7)
    told = pytest.raises(DataError, match=r"t=7 is late \(time 7\)")
    with told, worker_errors.hide_worker_traceback(work_of(pa.int64(), "s")):
        raise error


OURS = "error[RT203]: a second message at t=7 (input 'a', time 7)\n     set io.duplicates"
WORKER = "An exception was thrown from the Python worker:"
STREAM = """
[STREAM_FAILED] Query [id = 1] terminated with exception: [PYTHON_EXCEPTION] {} {}
 SQLSTATE: 38000 SQLSTATE: XXKST
=== Streaming Query ===
Logical Plan:
~WriteToMicroBatchDataSourceV1
   +- ~Project
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{WORKER}\nrtbot.errors.DataError: {OURS}\n", OURS),
        (STREAM.format(WORKER, f"rtbot.DataError: {OURS}"), OURS),
        (
            "Traceback\nrtbot.errors.CheckpointError: error[RT311]: damaged\n",
            "error[RT311]: damaged",
        ),
        (f"{WORKER}\nValueError: rtbot.core.errors are of no importance here\n", ""),
    ],
)
def test_the_reason_is_what_is_ours_in_the_text(text, told):
    assert reason(RuntimeError(text)) == told


def test_the_reason_of_our_own_errors_and_of_none():
    assert reason(CheckpointError("damaged", code="RT311")) == "error[RT311]: damaged"
    assert reason(None) == ""
