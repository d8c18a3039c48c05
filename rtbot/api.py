"""Graphs as users hold them: load one, run it, start a session, resume one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rtbot.check import check
from rtbot.document import load as load_document
from rtbot.errors import DataError
from rtbot.formats.pushes import push_all
from rtbot.plan import Plan
from rtbot.result import Result, joined

if TYPE_CHECKING:
    from rtbot.document import Document
    from rtbot.graph import Io
    from rtbot.session import Session

POLICIES = ("late", "duplicates", "lateness")
"""Keys of `io` that a call may give."""


def load(source: Any, **params: Any) -> Graph:
    """Load a graph: a path, a mapping, or text (it holds a newline or begins with `{`).

    `params` override the graph's parameters. Raises GraphError with every problem.
    """
    return Graph(load_document(source), params)


class Graph:
    """A checked graph. Immutable; compiled on first use."""

    def __init__(self, document: Document, params: Mapping[str, Any]) -> None:
        self._document = document
        self._params = params
        self.checked = check(document, params)
        self._plans: dict[tuple[str, ...], Plan] = {}

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.checked.name

    @property
    def warnings(self) -> tuple[Any, ...]:
        """What is allowed but odd, such as an input that nothing reads."""
        return self.checked.warnings

    def __repr__(self) -> str:
        shown = self.checked
        return f"<Graph {shown.name}: {', '.join(shown.inputs)} -> {', '.join(shown.outputs)}>"

    def plan(self, taps: Iterable[str] = ()) -> Plan:
        """The plan of this graph, with the outputs of these operators added to the results."""
        names = tuple(taps)
        for name in names:
            if name not in self.checked.nodes:
                raise DataError(f"there is no operator {name!r} to tap")
        if names not in self._plans:
            self._plans[names] = Plan(self.checked, names)
        return self._plans[names]

    def code(self) -> str:
        """The text of the generated module that runs this graph."""
        return self.plan().text

    def run(self, data: Any, key: str | Sequence[str] | None = None, **options: Any) -> Result:
        """Run over whole tables, {input: table}; a single input's table may stand alone.

        A path stands for the table in a file; alone, it is a file of all inputs, wide or long.
        Options are those of `start`.
        """
        session = self.start(key, **options)
        is_path = isinstance(data, str | os.PathLike)
        if len(self.checked.inputs) == 1 and not is_path:
            only = next(iter(self.checked.inputs))
            if not isinstance(data, Mapping) or not set(data) <= {only}:
                data = {only: data}
        parts = push_all(session.push, data, self.checked.inputs, session.io, session.key)
        return joined([*parts, session.finish()])

    def start(
        self,
        key: str | Sequence[str] | None = None,
        *,
        tap: Iterable[str] = (),
        queue_limit: int | None = None,
        compiled: bool | None = None,
        **policies: Any,
    ) -> Session:
        """Start a session; `key` names key columns, default `io.key`.

        `tap` adds operators to the result and changes nothing else. `queue_limit` bounds the rows
        that wait at one port. `late`, `duplicates` and `lateness` override those of `io`. With
        `compiled=False` (or RTBOT_INTERPRET=1) the generated code runs as plain Python.
        """
        from rtbot.session import DEFAULT_QUEUE_LIMIT, Session

        io = self._io(policies)
        names = io.key if key is None else (key,) if isinstance(key, str) else tuple(key)
        if compiled is None:
            compiled = os.environ.get("RTBOT_INTERPRET") != "1"
        limit = DEFAULT_QUEUE_LIMIT if queue_limit is None else queue_limit
        return Session(self.plan(tap or ()), io, names, queue_limit=limit, compiled=compiled)

    def resume(
        self, blob: bytes, *, tap: Iterable[str] = (), compiled: bool | None = None
    ) -> Session:
        """Go on from `Session.dump`; raises CheckpointError if that is damaged or does not fit."""
        from rtbot.checkpoint import resume

        return resume(self, blob, tap=tap, compiled=compiled)

    def _io(self, policies: Mapping[str, Any]) -> Io:
        """The `io` section with these policies, checked as if the graph said so itself."""
        for name in policies:
            if name not in POLICIES:
                raise TypeError(f"there is no option {name!r}")
        if not policies:
            return self.checked.io
        return check(self._document, self._params, policies).io
