"""The cases of `tests/golden` in the form of a graph file and its streams."""

import json
from pathlib import Path

from rtbot.operator import REGISTRY

GOLDEN = Path(__file__).parent / "golden"
SHARED = Path(__file__).parents[2] / "shared" / "cases"
"""Where the same files are beside a checkout, if they are."""

WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
FLAGS = {"true": True, "false": False}
"""RtBot has some flags as texts."""
RENAMED = {"numPorts": "num_ports", "portTypes": None, "portType": None}
SWITCHES = ("snapFirst",)
"""Parameters that are 0 or 1 in RtBot, and false or true here."""

ADDED = {"ResamplerHermite": {"compat": "rtbot"}}
"""What makes an operator do what RtBot's does, where that is a choice here."""

FAULT = "RTBOT FAULT"
"""How the note of a record begins that has what RtBot does, which is not right."""

MISSING = {
    *("BurstAggregate", "FusedExpression"),
    *("FusedExpressionVector", "Input"),
    *("KeyedPipeline", "Pipeline"),
}
"""Operators of the cases that do not exist yet; a test fails if one of them does."""

UNREAD = {
    "duplicates-last-without-order": "only frames of Spark have no order: tests/spark",
    "hourly-across-dst": "its times are texts: see test_times_that_are_texts",
    "naive-time-text": "its times are texts: see test_times_that_are_texts",
    "time-text-finer-than-unit": "its times are texts: see test_times_that_are_texts",
}
"""Series cases of operators that exist which are not run here, and why."""


def records(name):
    """The records of a file of cases, with the words for special numbers replaced."""
    lines = (GOLDEN / f"{name}.jsonl").read_text().splitlines()
    return [_numbers(json.loads(line)) for line in lines]


def _numbers(item):
    if isinstance(item, dict):
        return {key: _numbers(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_numbers(value) for value in item]
    return WORDS.get(item, item) if isinstance(item, str) else item


def vectors():
    """Single operators: id, graph file, rows per input, rows per output, whether RtBot is wrong.

    What is a vector there is a port for each of its elements here, `i1` as the first.
    """
    for number, record in enumerate(records("rtbot_vectors")):
        if record["operator"] in MISSING:
            continue
        operator = REGISTRY[record["operator"]]
        for inputs, outputs in _split_vectors(operator, record["inputs"], record["outputs"]):
            yield _vector(f"{record['operator']}-{number}", record, inputs, outputs)


def _vector(name, record, inputs, outputs):
    feeds = {letter: [p for p in inputs if p[0] == letter] for letter in "ic"}
    spec = {"type": record["operator"], "in": feeds["i"]}
    if feeds["c"]:
        spec["control"] = feeds["c"]
    spec |= {
        RENAMED.get(name, name): _setting(name, value)
        for name, value in record["params"].items()
        if RENAMED.get(name, name) is not None
    }
    spec |= ADDED.get(record["operator"], {})
    document = {
        "inputs": {port: _kind(rows) for port, rows in inputs.items()},
        "operators": {"op": spec},
        "outputs": {port: f"op.{port}" for port in outputs},
        "io": {"late": "drop", "duplicates": "first"},
    }
    return name, document, inputs, outputs, record["note"].startswith(FAULT)


def _setting(name, value):
    """The value of a parameter; flags are texts or integers in RtBot."""
    if name in SWITCHES:
        return bool(value)
    return FLAGS.get(value, value) if isinstance(value, str) else value


def _split_vectors(operator, inputs, outputs):
    """The rows of every port, vectors by element: as ports, or each alone where one is passed on.

    A vector of any length is passed on by an operator that has one data port of any type.
    """
    width = max(len(v) if isinstance(v, list) else 0 for rows in inputs.values() for _, v in rows)
    kinds = [port.kind for port in (*operator.inputs.values(), *operator.outputs.values())]
    if not width or "vector" in kinds:
        return [(inputs, outputs)]
    if "i1" in operator.inputs and "i2" not in operator.inputs:
        return [
            (_take_element(inputs, place), _take_element(outputs, place)) for place in range(width)
        ]
    return [(_as_ports(inputs, width), _as_ports(outputs, width))]


def _take_element(ports, place):
    return {
        port: [(t, v[place] if isinstance(v, list) else v) for t, v in rows]
        for port, rows in ports.items()
    }


def _as_ports(ports, width):
    found = {}
    for port, rows in ports.items():
        if not isinstance(rows[0][1], list):
            found[port] = rows
            continue
        for place in range(width):
            found[f"{port[0]}{place + 1}"] = [(time, value[place]) for time, value in rows]
    return found


def _kind(rows):
    first = rows[0][1]
    if isinstance(first, list):
        return f"vector[{len(first)}]"
    return "boolean" if isinstance(first, bool) else "number"


def series():
    """Whole graphs: the records whose operators exist and whose data needs no other tool.

    Those of `edge_cases` were written down from the documents before the code was read.
    """
    for record in (*records("series_cases"), *records("edge_cases")):
        if not list_types(record) & MISSING and record["id"] not in UNREAD:
            yield record


def list_types(record):
    """The types of the operators of a series case."""
    return {spec["type"] for spec in record["graph"]["operators"].values()}


def list_operators():
    """The operators of all cases."""
    found = {record["operator"] for record in records("rtbot_vectors")}
    return found.union(*map(list_types, records("series_cases")))


def list_missing():
    """Those of them that do not exist."""
    return {name for name in list_operators() if name not in REGISTRY}


def rows_by_key(record, table):
    """`{key: [(t, value)]}` of a table of a record."""
    columns = [table[name] for name in record.get("key", [])]
    result = {}
    for place, (time, value) in enumerate(zip(table["t"], table["value"], strict=True)):
        key = tuple(column[place] for column in columns)
        result.setdefault(key, []).append((time, value))
    return result
