"""Vectors, of which a stream has lists: their types, their elements, and their operators."""

import re

from rtbot.operator import Type
from rtbot.operator.vectors import make_vector
from tests.oracles.registry import oracle
from tests.oracles.streams import OracleStream


def type_of(kind, nullable):
    """The type that a kind such as number, or vector[3], is written for."""
    size = re.fullmatch(r"vector\[(\d+)\]", kind)
    return make_vector(int(size[1]), nullable=nullable) if size else Type(kind, nullable)


def kind_of(type_):
    """The kind that a type is written as."""
    return str(type_).removesuffix("?")


def example_kind(cls, port):
    """The kind of a port in the example of an operator; any is number."""
    kind = cls.port(port).kind
    if kind == "vector":
        return f"vector[{len(cls.example.inputs[port][0][1])}]"
    return "number" if kind in ("T", "N") else kind


def element(stream, place):
    """One element of a stream of vectors, as a stream."""
    rows = [(time, None if value is None else value[place]) for time, value in stream.rows]
    return OracleStream(rows, "number", stream.nullable, stream.frontier)


@oracle("VectorCompose", ports=True)
def vector_compose(rows):
    for time, values in rows:
        yield time, list(values.values())


@oracle("VectorExtract")
def vector_extract(rows, index):
    for time, vector in rows:
        yield time, None if vector is None else vector[index]


@oracle("VectorProject")
def vector_project(rows, indices):
    for time, vector in rows:
        yield time, None if vector is None else [vector[index] for index in indices]
