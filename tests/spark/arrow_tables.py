"""Values as Arrow has them on Spark, and tables of them compared to the last bit."""

import numpy as np
import pyarrow as pa

LIST = pa.list_(pa.float64())
ARROW = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "vector": LIST,
}
"""The type of a column, by the kind of an input."""


def bits(table):
    """The rows of a table by column name, comparable to the last bit, in an order of their own."""
    names = sorted(table.column_names)
    cells = [[plain(value) for value in table.column(name).to_pylist()] for name in names]
    return sorted(zip(*cells, strict=True), key=repr)


def plain(value):
    """A cell, floats as their bits."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return np.float64(value).tobytes() if isinstance(value, float) else value


def result_fields(schema):
    """The columns of a local result as Spark has them: vectors are lists of any length."""
    return [
        (field.name, LIST if pa.types.is_fixed_size_list(field.type) else field.type)
        for field in schema
    ]


def released(table):
    """The rows of every key in their order, those of one time and output too."""
    found = {}
    for row in table.to_pylist():
        found.setdefault((row.pop("k"), row.get("output")), []).append(repr(row))
    return found
