"""The answer of a whole run: a graph file and rows per input and key, in order of arrival."""

from tests.oracles import pairs, rowwise, timed, vectors, windowed  # noqa: F401 (they register)
from tests.oracles.edge import Edge, stream
from tests.oracles.graph import Evaluation


def answer(document, events, *, ended=True):
    """Evaluation per key; `events` maps key to input to events (see `edge.stream`)."""
    return {key: answer_for_key(document, own, ended=ended) for key, own in events.items()}


def answer_for_key(document, events, *, ended=True):
    """Evaluation of one key."""
    edge = Edge.of(document)
    streams = {}
    for name, type_ in document["inputs"].items():
        kind, nullable = type_.rstrip("?"), type_.endswith("?")
        streams[name] = stream(events.get(name, ()), edge, kind, nullable=nullable, ended=ended)
    return Evaluation(document, streams)
