"""The same rows on Spark: shuffled, in several numbers of partitions, by both strategies."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rtbot.compare.canonical_outputs import Outputs, sort_by_key
from rtbot.compare.variants import Attempt, Variant, take_first_rows
from rtbot.core.vector_names import RECORD, VECTOR, list_vectors
from rtbot.graph.model import find_file_setting
from rtbot.graph.stages import has_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.api import Graph
    from rtbot.compare.data import Data
    from rtbot.compare.variants import ComparisonOptions
    from rtbot.operator import Type

PARTITIONS = (1, 3, 8)
STRATEGIES = ("partitions", "groups")
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -Duser.timezone=UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
KINDS = {"number": "float64", "integer": "int64", "boolean": "bool", "text": "string"}


def describe_missing() -> str:
    """Return what Spark lacks here, and how to install it; "" if nothing."""
    for module in ("pyspark", "pandas", "spark_adapter"):
        if importlib.util.find_spec(module) is None:
            return f"there is no {module} here: pip install 'rtbot-graphs[spark]'"
    home = os.environ.get("JAVA_HOME")
    if not (home and Path(home, "bin", "java").exists()) and shutil.which("java") is None:
        return "there is no Java here: install one (17 or 21), or set JAVA_HOME"
    return ""


def explain_unfit(graph: Graph, right: Outputs) -> str:
    """Return why a run cannot be the same on Spark, which has no order of arrival; "" if it can."""
    io = graph.checked.io
    if has_changes(graph.checked):
        return "it has no tables that change yet"
    if io.duplicates in ("first", "last"):
        return f"io.duplicates: {io.duplicates} asks for an order of arrival"
    setting = find_file_setting(graph.checked)
    if setting:
        return f"{setting} has no meaning for DataFrames, whose columns have types"
    inputs = (right.account or {}).get("inputs", {}).values()
    late = sum(entry["lost"].get("late", 0) for entry in inputs)
    return f"{late:,} rows are late here, and there are put in order" if late else ""


class SparkCluster:
    """A Spark session: the active one, or one of our own, which ends with this object."""

    def __init__(self) -> None:
        self._own: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.stop()

    def session(self) -> Any:
        """Return the session; the first call starts it."""
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            return active
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").appName("rtbot compare")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        self._own = builder.getOrCreate()
        return self._own


@dataclass(frozen=True)
class SparkAttempt(Attempt):
    """One batch job."""

    cluster: SparkCluster
    strategy: str
    partitions: int
    seed: int

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run it and collect the rows; an error becomes the fault of the outputs."""
        try:
            return self._outputs(graph, data)
        except Exception as error:  # noqa: BLE001 (another way of running raised nothing)
            first = str(error).strip().splitlines()[:1]
            return Outputs(fault=f"Spark: {type(error).__name__}: {''.join(first)}")

    def _outputs(self, graph: Graph, data: Data) -> Outputs:
        from spark_adapter import run_graph

        session = self.cluster.session()
        rng = Random(f"{self.seed}/spark/{self.partitions}")  # noqa: S311 (it is to come again)
        frames = {
            name: session.createDataFrame(table)
            for name, table in _shuffle_tables(graph, data, rng)
        }
        found = run_graph(
            frames,
            graph,
            key=data.key,
            time="t",
            strategy=self.strategy,
            partitions=self.partitions,
        ).toArrow()
        found = _split_vectors(found, list_vectors(graph.checked.records))
        names = list(graph.checked.outputs)
        return Outputs({name: _extract_output(found, name, data.key) for name in names}, data.key)

    def adapt_reference(self, outputs: Outputs) -> Outputs:
        """Return all but null messages: a wide row cannot distinguish them from none."""
        return outputs.drop_nulls()

    def describe_steps(self, data: Data) -> Iterator[str]:
        """Yield the call."""
        yield f"{len(data.rows)} shuffled rows, run_graph(..., key={data.key!r},"
        yield f"strategy={self.strategy!r}, partitions={self.partitions})"

    def to_json(self) -> dict[str, Any]:
        """Return what the call takes."""
        call = {"strategy": self.strategy, "partitions": self.partitions, "seed": self.seed}
        return {"kind": "spark", **call}


def make_spark_variant(cluster: SparkCluster, data: Data, options: ComparisonOptions) -> Variant:
    """Return the variant: every number of partitions, by both strategies."""
    few, note = take_first_rows(data, options.rows)
    counts = PARTITIONS if data.key else PARTITIONS[:1]
    attempts = (
        SparkAttempt(cluster, strategy, count, options.seed)
        for count in counts
        for strategy in STRATEGIES
    )
    return Variant("Spark", few, attempts, note)


def _shuffle_tables(graph: Graph, data: Data, rng: Random) -> Iterator[tuple[str, Any]]:
    """Yield the rows of every input as an Arrow table, in any order."""
    import pyarrow as pa

    places = range(len(data.key))
    texts = [any(isinstance(row.key[place], str) for row in data.rows) for place in places]
    kinds = ["string" if text else "int64" for text in texts]
    for name, declared in graph.checked.inputs.items():
        rows = [(*row.key, row.time, row.value) for row in data.rows if row.input == name]
        rng.shuffle(rows)
        types = [pa.type_for_alias(kind) for kind in (*kinds, "int64")]
        types.append(_choose_arrow_type(declared.type))
        cells = list(zip(*rows, strict=True)) or [()] * len(types)
        arrays = [pa.array(column, kind) for column, kind in zip(cells, types, strict=True)]
        *heads, values = arrays
        fields = {f"{name}.{one.name}": place for place, one in enumerate(declared.type.fields)}
        columns = dict(zip([*data.key, "t"], heads, strict=True)) | {"value": values}
        if declared.type.kind == RECORD:
            del columns["value"]
            columns |= {column: values.field(place) for column, place in fields.items()}
        yield name, pa.table(columns)


def _choose_arrow_type(given: Type) -> Any:
    import pyarrow as pa

    if given.kind == VECTOR:
        return pa.list_(pa.float64())
    if given.kind == RECORD:
        return pa.struct([(field.name, _choose_arrow_type(field.type)) for field in given.fields])
    return pa.type_for_alias(KINDS[given.kind])


def _split_vectors(found: Any, vectors: Mapping[str, Sequence[str]]) -> Any:
    """Return the wide table that Spark returned with a column for each element."""
    import pyarrow.compute as pc

    for name, elements in vectors.items():
        whole = found.column(name)
        for place, one in enumerate(elements):
            found = found.append_column(one, pc.list_element(whole, place))
    return found


def _extract_output(found: Any, output: str, key: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return the rows of one output in the wide table that Spark returned."""
    import pyarrow.compute as pc

    rows = found.filter(pc.is_valid(found.column(output)))
    table = {name: _to_array(rows.column(name)) for name in (*key, "t")}
    return dict(sort_by_key(table | {"value": _to_array(rows.column(output))}, key))


def _to_array(column: Any) -> np.ndarray:
    if column.null_count or str(column.type) in ("string", "large_string"):
        return np.array(column.to_pylist(), object)
    return np.ascontiguousarray(column.to_numpy())
