"""From files or tables to data: a session takes them as in any run, and they are kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rtbot.comparing.comparison import Comparison
from rtbot.comparing.data import Gathering
from rtbot.comparing.sessions import ENDLESS, Released
from rtbot.formats.pushes import push_all, push_request
from rtbot.tables import by_input, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.api import Graph
    from rtbot.comparing.agreement import Agreement
    from rtbot.comparing.comparison import Tell
    from rtbot.comparing.ways import Wish


class Reader:
    """A session that keeps what it is given. Raises what the session does."""

    def __init__(self, graph: Graph, key: Sequence[str] | str | None) -> None:
        self.session = graph.start(key, queue_limit=ENDLESS)
        self.released = Released(self.session)
        self.gathering = Gathering(graph.checked.inputs, self.session.key)

    def push(self, data: Any) -> None:
        """Push {input: table}, or one table of all inputs."""
        specs = self.session.specs
        given = by_input(data, specs)
        known = {n: columns(t, specs[n]) for n, t in given.items() if n in specs}
        if len(known) < len(given):
            self.session.push(given)  # which refuses it
        self.released.add(self.session.push(self.gathering.add(known)))


def compare(
    graph: Graph,
    data: Any,
    key: Sequence[str] | str | None,
    wish: Wish,
    tell: Tell | None = None,
) -> Agreement:
    """Compare over data as `Graph.run` takes it, or over the files of a `Request`.

    Raises DataError if the data is wrong, with its place. `tell` is told what goes on.
    """
    from rtbot.formats.wiring import Request

    begun = time.perf_counter()
    reader = Reader(graph, key)
    inputs, session = graph.checked.inputs, reader.session
    if isinstance(data, Request):
        push_request(reader.push, data, inputs, session.io)
    else:
        push_all(reader.push, data, inputs, session.io, session.key)
    read = reader.released.outputs(session.finish(), session.account())
    seconds = time.perf_counter() - begun
    return Comparison(graph, reader.gathering.data(), wish, tell).run(read, seconds)
