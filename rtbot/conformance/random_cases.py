"""A graph of one operator with random parameters, and random rows for it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from rtbot.conformance.random_rows import (
    Policies,
    draw_arrivals,
    draw_keys,
    draw_times,
    draw_values,
)
from rtbot.core.errors import GraphError
from rtbot.core.vector_names import VECTOR
from rtbot.explain.examples import ID
from rtbot.operator import Numbers, Type
from rtbot.operator.vectors import make_vector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.api import Graph
    from rtbot.compare.schedules import Row
    from rtbot.operator import Operator

TRIES, SIZE_MAX = 100, 4
KINDS = {"N": ("number", "integer"), "T": ("number", "integer", "boolean", "text")}


@dataclass(frozen=True)
class RandomCase:
    """A graph, the key columns, and rows in an order of arrival."""

    graph: Graph
    key: tuple[str, ...]
    rows: list[Row]


def draw_case(cls: type[Operator], number: int) -> RandomCase:
    """Return the case of a number; every second one has keys.

    Raises GraphError if no random parameters and types of inputs make a graph.
    """
    import rtbot

    rng = Random(f"{cls.__name__}/{number}")  # noqa: S311 (the same case every time)
    times = draw_times(rng, rng.randint(8, 24))
    found: GraphError | None = None
    for _ in range(TRIES):
        try:
            document, inputs = _draw_document(rng, cls, times[-1] - times[0] + 1)
            graph = rtbot.load(document)
        except GraphError as error:
            found = found or error
            continue
        columns, keys = draw_keys(rng)
        while not columns and number % 2 == 0:
            columns, keys = draw_keys(rng)
        rows = [
            row
            for key in keys
            for name, type_ in inputs.items()
            for source in [draw_values(rng, str(type_).rstrip("?"), nullable=type_.nullable)]
            for row in draw_arrivals(rng, (name, key), source, times, Policies())
        ]
        if rows:
            return RandomCase(graph, columns, rows)
    assert found is not None, "rows are drawn sooner or later"
    raise found


def _draw_document(
    rng: Random, cls: type[Operator], span: int
) -> tuple[dict[str, Any], dict[str, Type]]:
    """Return a graph file, which may be refused, and the types of its inputs."""
    values = {
        name: parameter.draw(rng, span)
        for name, parameter in cls.parameters.items()
        if parameter.required or rng.random() < 0.6
    }
    complete = {name: parameter.default for name, parameter in cls.parameters.items()} | values
    arity = draw_arity(rng, cls, complete)
    ports = cls.ports(arity)
    types = _draw_types(rng, cls, ports)
    roles = cls.roles(complete, ports)
    paired = {
        port: type_.as_nullable(nullable=type_.nullable or roles[port] != "must")
        for port, type_ in types.items()
    }
    feeds = {port: f"x_{port}" for port in ports}
    wiring = {
        group: {port: name for port, name in feeds.items() if port[0] == letter}
        for group, letter in (("in", "i"), ("control", "c"))
    }
    inputs = {feeds[port]: type_ for port, type_ in types.items()}
    refused = cls.check(complete, arity)  # the graph is not loaded then
    outputs = ["o1"] if refused else list(cls.output_types(complete, paired))
    return {
        "io": {"unit": "ns"},
        "inputs": {name: str(type_) for name, type_ in inputs.items()},
        "operators": {
            ID: {"type": cls.__name__, **{k: v for k, v in wiring.items() if v}, **values}
        },
        "outputs": {port: f"{ID}.{port}" for port in outputs},
    }, inputs


def draw_arity(rng: Random, cls: type[Operator], values: Mapping[str, Any]) -> int:
    """Return how many streams feed a variadic port, as far as the parameters leave it open."""
    variadic = [port for port in cls.inputs.values() if port.variadic]
    if not variadic:
        return 1
    lists = [v for n, v in values.items() if isinstance(cls.parameters[n], Numbers)]
    sizes: list[Any] = [len(item) for item in lists] + [values.get("num_ports")]
    sizes = [size for size in sizes if size]
    return int(sizes[0]) if sizes else rng.randint(variadic[0].shortest, variadic[0].shortest + 2)


def _draw_types(rng: Random, cls: type[Operator], ports: Sequence[str]) -> dict[str, Type]:
    """Return types of what feeds the ports."""
    types: dict[str, Type] = {}
    shared = {kind: rng.choice(kinds) for kind, kinds in KINDS.items()}
    for port in ports:
        declared = cls.port(port)
        kind = shared.get(declared.kind, declared.kind)
        if cls.mixed and declared.kind in KINDS:
            kind = rng.choice(KINDS[declared.kind])
        nullable = declared.nullable and rng.random() < 0.3
        size = rng.randint(1, SIZE_MAX) if kind == VECTOR else 0
        types[port] = make_vector(size, nullable=nullable) if size else Type(kind, nullable)
    return types
