"""The account of a batch run: counted on the workers, reported by Spark's `Observation`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions

from rtbot import DataError
from rtbot.adapter import join_vectors
from spark_adapter.packing import ROWS, pack_result, unpack_batches
from spark_adapter.partition import run_partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, Observation

    from rtbot import Graph, Session
    from spark_adapter.partition import JobSpec

TIMEOUT = 10.0
"""Seconds that an account waits for an action to end: Spark reports a little after it."""

AT_INPUTS = ("in", "null", "duplicate", "late")
AT_PORTS = ("in", "domain", "tied", "unmatched")
"""What is counted at a port: rows that came in, then those that were lost, by reason."""

ALONE = "alone"
"""The counter of an as-of join's port: messages that found nothing there, and were not lost."""


def account(observation: Observation, *, timeout: float | None = TIMEOUT) -> dict[str, Any]:
    """Return the account of a batch run that had `observe=observation`, summed over all keys.

    It has the form of `Session.account`: per input, and per operator and port, in = consumed +
    held + lost, and is that of the first action. Raises DataError if none has ended after `timeout`
    seconds; None waits for ever. A task that failed and ran again counts once; one that ran again
    because what it had made was lost counts twice.
    """
    found: dict[str, Any] = {"operators": {}, "inputs": {}, "outputs": {}}
    for path, count in _observed(observation, timeout).items():
        section, name = path.split(".", maxsplit=1)
        line = found[section]
        if section != "outputs":  # their names may have dots
            *place, name = name.split(".")
            for part in place:
                line = line.setdefault(part, {})
        line[name] = count or 0
    ports = [port for ports in found["operators"].values() for port in ports.items()]
    for line in (*found["inputs"].values(), *(line for _, line in ports)):
        arrived, alone = line.pop("in"), line.pop(ALONE, 0)
        lost = {reason: count for reason, count in sorted(line.items()) if count}
        line.clear()
        line |= {"in": arrived, "consumed": arrived - sum(lost.values()), "held": 0, "lost": lost}
        if alone:
            line["unmatched"] = alone
    return found


def _observed(observation: Observation, timeout: float | None) -> dict[str, Any]:
    """Return what was observed, for which Spark waits for ever; Spark Connect returns {} then."""
    if timeout is None:
        return observation.get
    answers: SimpleQueue[dict[str, Any] | BaseException] = SimpleQueue()

    def wait() -> None:
        try:
            answers.put(observation.get)
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            answers.put(error)

    Thread(target=wait, daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except Empty:
        answer = {}
    if isinstance(answer, BaseException):
        raise answer
    if not answer:
        message = f"there is no account yet: no action has ended within {timeout:g} s"
        hint = "run an action on the DataFrame first (count, write), or give a longer timeout="
        raise DataError(message, code="RT325", hint=hint)
    return answer


def list_counters(graph: Graph) -> list[str]:
    """Return the names of all counters of a graph."""
    checked = join_vectors(graph.checked)
    inputs = [f"inputs.{name}.{what}" for name in checked.inputs for what in AT_INPUTS]
    ports = [f"{name}.{port}" for name, node in checked.nodes.items() for port in node.inputs]
    inside = [f"operators.{port}.{what}" for port in ports for what in (*AT_PORTS, ALONE)]
    return [*inputs, *inside, *(f"outputs.{name}" for name in checked.outputs)]


def flatten_account(told: Mapping[str, Any]) -> dict[str, int]:
    """Return the counters of an account by name.

    >>> line = {"in": 5, "consumed": 3, "held": 0, "lost": {"null": 2}}
    >>> flatten_account({"inputs": {"a": line}, "operators": {}, "outputs": {"m": 3}})
    {'inputs.a.in': 5, 'inputs.a.null': 2, 'outputs.m': 3}
    >>> line = {"in": 5, "consumed": 5, "held": 0, "lost": {}, "unmatched": 1}
    >>> flatten_account({"inputs": {}, "operators": {"j": {"i2": line}}, "outputs": {}})
    {'operators.j.i2.in': 5, 'operators.j.i2.alone': 1}
    """
    lines = {f"inputs.{name}": line for name, line in told["inputs"].items()}
    for name, ports in told["operators"].items():
        lines |= {f"operators.{name}.{port}": line for port, line in ports.items()}
    found: dict[str, int] = {}
    for path, line in lines.items():
        found |= {f"{path}.{what}": n for what, n in ({"in": line["in"]} | line["lost"]).items()}
        if "unmatched" in line:
            found[f"{path}.{ALONE}"] = line["unmatched"]
    return found | {f"outputs.{name}": count for name, count in told["outputs"].items()}


@dataclass(frozen=True)
class CountedRun:
    """A run that reports its counters: rows of the result as bytes, then a row of counts."""

    work: JobSpec

    def schema(self) -> str:
        """Return the columns that go to Spark."""
        counts = [f"`{name}` bigint" for name in list_counters(self.work.graph)]
        return ", ".join([f"{ROWS} binary", *counts])

    def observe_counts(self, told: DataFrame, observation: Observation) -> DataFrame:
        """Let Spark sum the counts; return the rows alone."""
        names = [f"`{name}`" for name in list_counters(self.work.graph)]
        sums = [functions.sum(name).alias(name.strip("`")) for name in names]
        return told.observe(observation, *sums).select(ROWS)

    def unpack(self) -> Any:
        """Return what makes rows of the bytes."""
        schema = self.work.schema

        def rtbot_unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return unpack_batches(schema, batches)

        return rtbot_unpack

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run over rows sorted by (key, t)."""
        counts: Counter[str] = Counter()

        def ended(session: Session) -> None:
            counts.update(flatten_account(session.account()))

        for batch in run_partition(self.work, batches, ended):
            yield self._make_batch(pack_result(pa.Table.from_batches([batch])), None)
        yield self._make_batch([None], counts)

    def _make_batch(
        self, rows: Sequence[bytes | None], counts: Counter[str] | None
    ) -> pa.RecordBatch:
        columns = {ROWS: pa.array(rows, pa.binary())}
        for name in list_counters(self.work.graph):
            value = None if counts is None else counts[name]
            columns[name] = pa.array([value] * len(rows), pa.int64())
        return pa.RecordBatch.from_pydict(columns)
