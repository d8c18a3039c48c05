"""The cases of `tests/golden` in the form of a graph file and its streams."""

import json
from pathlib import Path

from rtbot.operator import REGISTRY

GOLDEN = Path(__file__).parent / "golden"
WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
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

    There are no vectors yet.
    """
    for number, record in enumerate(records("rtbot_vectors")):
        operator = REGISTRY.get(record["operator"])
        if operator is None or record["note"].startswith(("RTBOT FAULT", "C++ only (JSON")):
            continue
        if any(isinstance(value, list) for rows in record["inputs"].values() for _, value in rows):
            continue
        feeds = {letter: [p for p in record["inputs"] if p[0] == letter] for letter in "ic"}
        spec = {"type": record["operator"], "in": feeds["i"]}
        if feeds["c"]:
            spec["control"] = feeds["c"]
        spec |= {
            RENAMED.get(name, name): value
            for name, value in record["params"].items()
            if RENAMED.get(name, name) is not None
        }
        kinds = {port: _kind(rows) for port, rows in record["inputs"].items()}
        document = {
            "inputs": kinds,
            "operators": {"op": spec},
            "outputs": {port: f"op.{port}" for port in record["outputs"]},
            "io": {"late": "drop", "duplicates": "first"},
        }
        yield f"{record['operator']}-{number}", document, record["inputs"], record["outputs"]


def _kind(rows):
    first = rows[0][1]
    if isinstance(first, list):
        return f"vector[{len(first)}]"
    return "boolean" if isinstance(first, bool) else "number"


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
