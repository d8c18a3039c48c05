"""The cases of `tests/golden` in the form of a graph file and its streams."""

import json
from pathlib import Path

from rtbot.operator import REGISTRY

GOLDEN = Path(__file__).parent / "golden"
WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
FLAGS = {"true": True, "false": False}
"""RtBot has some flags as texts."""
RENAMED = {"numPorts": "num_ports", "portTypes": None, "portType": None}


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
    """Single operators: id, graph file, rows per input, rows per output; wrong ones left out.

    What is a vector there is a port for each of its elements here, `i1` as the first.
    """
    for number, record in enumerate(records("rtbot_vectors")):
        operator = REGISTRY.get(record["operator"])
        if operator is None or record["note"].startswith(("RTBOT FAULT", "C++ only (JSON")):
            continue
        for inputs, outputs in _split_vectors(operator, record["inputs"], record["outputs"]):
            yield _vector(f"{record['operator']}-{number}", record, inputs, outputs)


def _vector(name, record, inputs, outputs):
    feeds = {letter: [p for p in inputs if p[0] == letter] for letter in "ic"}
    spec = {"type": record["operator"], "in": feeds["i"]}
    if feeds["c"]:
        spec["control"] = feeds["c"]
    spec |= {
        RENAMED.get(name, name): FLAGS.get(value, value) if isinstance(value, str) else value
        for name, value in record["params"].items()
        if RENAMED.get(name, name) is not None
    }
    document = {
        "inputs": {port: _kind(rows) for port, rows in inputs.items()},
        "operators": {"op": spec},
        "outputs": {port: f"op.{port}" for port in outputs},
        "io": {"late": "drop", "duplicates": "first"},
    }
    return name, document, inputs, outputs


def _split_vectors(operator, inputs, outputs):
    """The rows of every port, vectors by element: as ports, or each alone where one is passed on.

    A vector of any length is passed on by an operator that has one data port of any type.
    """
    width = max(len(v) if isinstance(v, list) else 0 for rows in inputs.values() for _, v in rows)
    if not width:
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
    return "boolean" if isinstance(rows[0][1], bool) else "number"


def series():
    """Whole graphs: the records whose operators exist and whose data needs no other tool."""
    for record in records("series_cases"):
        specs = record["graph"]["operators"].values()
        windows = [spec.get("window") for spec in specs]
        known = all(spec["type"] in REGISTRY and _has_parameters(spec) for spec in specs)
        plain = all(type(time) is int for table in record["inputs"].values() for time in table["t"])
        by_time = any(isinstance(window, str) for window in windows)
        if known and plain and not by_time and "error" not in record["expected"]:
            yield record


def _has_parameters(spec):
    declared = REGISTRY[spec["type"]].parameters
    names = {alias for name, item in declared.items() for alias in (name, *item.aliases)}
    return set(spec) <= names | {"type", "in", "control"}


def rows_by_key(record, table):
    """`{key: [(t, value)]}` of a table of a record."""
    columns = [table[name] for name in record.get("key", [])]
    result = {}
    for place, (time, value) in enumerate(zip(table["t"], table["value"], strict=True)):
        key = tuple(column[place] for column in columns)
        result.setdefault(key, []).append((time, value))
    return result
