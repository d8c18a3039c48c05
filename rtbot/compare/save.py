"""A difference as two files, `graph.yaml` and `difference.json`; and run again from them."""

from __future__ import annotations

import json
import math
import os
import struct
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compare.data import Data
from rtbot.compare.report import ComparisonReport, MinimalDifference, VariantOutcome
from rtbot.compare.run_variants import Trial, VariantComparison
from rtbot.compare.schedules import Change, Row
from rtbot.compare.variants import AloneAttempt, Attempt, ComparisonOptions, StepsAttempt
from rtbot.core.errors import DataError
from rtbot.storage.files import Files
from rtbot.tables import to_columns
from rtbot.tables.change_rows import ChangeSpec, to_change_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.api import Graph
    from rtbot.tables.change_rows import ChangeRows

GRAPH, DIFFERENCE = "graph.yaml", "difference.json"
FORMAT = 1
LARGEST = 64 << 20
"""Bytes of a saved difference that are read."""


def save(found: MinimalDifference, graph: Graph, folder: str) -> tuple[str, str]:
    """Write the graph and the difference into a folder; returns both paths. Raises OSError."""
    files = Files()
    files.make_folder(folder)
    paths = os.path.join(folder, GRAPH), os.path.join(folder, DIFFERENCE)  # noqa: PTH118
    content = {
        "difference": FORMAT,
        "way": found.way,
        "run": found.run,
        "key": list(found.data.key),
        "rows": [
            [row.input, list(row.key), row.time, _encode_value(row.value)]
            for row in found.data.rows
        ],
        "attempt": found.attempt.to_json(),
    }
    files.write(paths[0], graph.to_yaml().encode())
    files.write(paths[1], (json.dumps(content, indent=1) + "\n").encode())
    return paths


def replay(graph: Graph, path: str) -> ComparisonReport:
    """Run a saved difference again. Raise DataError if the file is not one, or of another graph."""
    begun = time.perf_counter()
    content = _read_file(path)
    try:
        rows = [
            Row(name, tuple(key), moment, _decode_value(value))
            for name, key, moment, value in content["rows"]
        ]
        data = build_data(graph, rows, tuple(content["key"]))
        way, run, attempt = content["way"], content["run"], parse_attempt(content["attempt"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = "this is not a difference of rtbot compare, or one of another graph"
        raise DataError(message, code="RT208", file=path) from error
    comparison = VariantComparison(graph, data, ComparisonOptions())
    first = comparison.find_difference(Trial(data, attempt))
    found = None if first is None else MinimalDifference(way, run, first, data, attempt)
    seconds = time.perf_counter() - begun
    outcome = VariantOutcome(way, 1, len(data), first is None, seconds, f"run {run} again")
    return comparison.make_report((outcome,), found)


def parse_attempt(plain: Mapping[str, Any]) -> Attempt:
    """Return the run that `Attempt.to_json` described."""
    match plain["kind"]:
        case "steps":
            steps = [
                ("close", tuple(args[0])) if kind == "close" else (kind, *args)
                for kind, *args in plain["steps"]
            ]
            return StepsAttempt(steps, plain["compiled"], plain["form"])
        case "alone":
            return AloneAttempt()
        case "spark":
            from rtbot.compare.spark import SparkAttempt, SparkCluster

            return SparkAttempt(
                SparkCluster(), plain["strategy"], plain["partitions"], plain["seed"]
            )
    raise ValueError(plain["kind"])


def _read_file(path: str) -> dict[str, Any]:
    with Files().open(path) as stream:
        text = stream.read(LARGEST + 1)
    try:
        content = json.loads(text[:LARGEST])
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("difference") != FORMAT:
        raise DataError("this is not a difference of rtbot compare", code="RT208", file=path)
    return content


def build_data(graph: Graph, rows: Sequence[Row], key: tuple[str, ...]) -> Data:
    """Put rows into tables, and keep their order."""
    specs: Any = graph.start(key, compiled=False).specs
    own: dict[str, list[Row]] = {name: [] for name in specs}
    sources, places = [], []
    for row in rows:
        sources.append(list(specs).index(row.input))
        places.append(len(own[row.input]))
        own[row.input].append(row)
    tables = {
        name: _build_changes(own[name], spec)
        if isinstance(spec, ChangeSpec)
        else to_columns([[*row.key, row.time, row.value] for row in own[name]], spec)
        for name, spec in specs.items()
    }
    return Data(tables, key, np.array(sources, np.int64), np.array(places, np.int64))


def _build_changes(rows: Sequence[Row], spec: ChangeSpec) -> ChangeRows:
    names = spec.schema.names
    changes = [(row.time, *row.value) for row in rows]
    table = [[t, weight, dict(zip(names, cells, strict=True))] for t, weight, cells in changes]
    return to_change_rows(table, spec)


def _encode_value(value: Any) -> Any:
    """Return a value as JSON has it; NaN with its bits, and infinities, as text."""
    if isinstance(value, dict):
        return {"fields": {name: _encode_value(cell) for name, cell in value.items()}}
    if isinstance(value, Change):
        return {"weight": value.weight, "cells": list(map(_encode_value, value.cells))}
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return {"bits": struct.pack(">d", value).hex()}


def _decode_value(value: Any) -> Any:
    if isinstance(value, dict) and "fields" in value:
        return {name: _decode_value(cell) for name, cell in value["fields"].items()}
    if isinstance(value, dict) and "weight" in value:
        return Change(value["weight"], tuple(map(_decode_value, value["cells"])))
    if isinstance(value, dict):
        return struct.unpack(">d", bytes.fromhex(value["bits"]))[0]
    return value
