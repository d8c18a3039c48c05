"""The API of graphs: load one, run it, start a session, resume one."""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rtbot.compiler.plan import Plan
from rtbot.core.errors import DataError, suggest_name
from rtbot.graph.check import check
from rtbot.graph.document import load_document
from rtbot.graph.model import collect_own
from rtbot.graph.stages import has_changes
from rtbot.io.bindings import make_input_spec
from rtbot.io.pushes import push_all
from rtbot.look.file_errors import collect_used_io, explain_errors, may_have_keys
from rtbot.runtime.result import Result, merge_results
from rtbot.runtime.start_options import POLICIES, StartOptions, check_options
from rtbot.storage.files import Files
from rtbot.tables.column_names import name_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    import pyarrow as pa

    from rtbot.compare import ComparisonReport
    from rtbot.compare.variants import CompareOptions
    from rtbot.graph.document import Document
    from rtbot.graph.model import CheckedGraph
    from rtbot.graph_tests import Outcome
    from rtbot.runtime.session import Session

SORT, KEY = "sort", "key"
"""What `run` takes by name beside the options of a session."""


def read(
    path: str | os.PathLike[str],
    io: Mapping[str, Any] | None = None,
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
) -> pa.Table:
    """Read a file as a run reads it, and return it as an Arrow table.

    `io` are the keys of the section `io` of a graph file, such as `{"csv": {"delimiter": ";"}}`;
    GraphError names those that are wrong. `columns` are the columns to read beside times and keys,
    or their types, `{"flag": "boolean"}`; by default all, each of the first type that all of its
    cells have: integer (int64), number (float64), boolean, text (string). Absent cells are null.
    With `columns_as` the table has a row for every cell, with the column `value`.

    The column of times has its name in the file, or `t` if several were joined, and is a timestamp
    in `io.unit`, by default microseconds; integers stay int64. Instants (times with an offset or a
    zone, and counts since 1970) have a time zone. `Graph.run` takes the table, and gives the same
    bits as for the file. Raises DataError with file, row and column where a cell is wrong, unless
    `bad` is drop, and OSError where the file cannot be read.
    """
    from rtbot.graph.check.io_section import check_io
    from rtbot.io.table_reader import read_table

    found = check_io(io or {})
    with explain_errors([found]):
        return read_table(os.fspath(path), found, columns)


def load(source: str | os.PathLike[str] | Mapping[str, Any] | Graph, **params: Any) -> Graph:
    """Load a graph: a path, a mapping, or text (it holds a newline or begins with `{`).

    `params` override the graph's parameters. A Graph is returned as it is, or as a new one with
    these parameters. Raises GraphError with every problem.
    """
    if isinstance(source, Graph):
        return source.with_params(params) if params else source
    return Graph(load_document(source), params)


class Graph:
    """A checked graph. Immutable; compiled on first use.

    `io` are keys of the section `io` that are given for this run, instead of those of the file.
    """

    def __init__(
        self,
        document: Document,
        params: Mapping[str, Any],
        io: Mapping[str, Any] | None = None,
    ) -> None:
        self._document = document
        self._params = params
        self._io_given = dict(io or {})
        self.checked = check(document, params, self._io_given)
        self._plans: dict[tuple[str, ...], Plan] = {}

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.checked.name

    @property
    def warnings(self) -> tuple[Any, ...]:
        """What is allowed but odd, such as an input that nothing reads."""
        return self.checked.warnings

    def __getstate__(self) -> dict[str, Any]:
        """Return what runs the graph elsewhere, where the classes of its operators may be unknown.

        The copy runs and resumes; it has no text and takes no policies at a call.
        """
        return {"plan": self.plan()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._plans = {(): state["plan"]}
        self.checked = state["plan"].checked

    def with_params(self, params: Mapping[str, Any]) -> Graph:
        """Return the graph of the same text with these parameters beside those given before."""
        return Graph(self._require_document(), {**self._params, **params}, self._io_given)

    def _require_document(self) -> Document:
        if not hasattr(self, "_document"):
            message = "a graph from a pickle has no text: it takes no parameters and no policies"
            raise TypeError(f"{message}; load it where it is to be changed")
        return self._document

    def __repr__(self) -> str:
        from rtbot.graph.output_types import list_public_names

        shown, names = self.checked, list_public_names(self.checked)
        return f"<Graph {shown.name}: {', '.join(shown.inputs)} -> {', '.join(names)}>"

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        """Return what a notebook shows: the picture, or the text where it shows none."""
        return {"image/svg+xml": self.draw(), "text/plain": repr(self)}

    def draw(self, path: str | os.PathLike[str] | None = None, *, direction: str = "right") -> str:
        """Return the graph as SVG, or write a picture in the format of its suffix and return it.

        The name ends in `.svg`, or in `.mmd` for Mermaid; any other raises ValueError. `direction`
        of the flow is "right" or "down".
        """
        from rtbot.viz.drawing import detect_form, draw_graph

        form = "svg" if path is None else detect_form(path)
        if form is None:
            raise ValueError(f"a picture is .svg or .mmd, not {os.fspath(path or '')!r}")
        text = draw_graph(self.checked, form, direction)
        if path is not None:
            Files().place(os.fspath(path), text.encode())
        return text

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all that determines results: graphs with the same one are equal."""
        import hashlib
        import json
        from dataclasses import asdict

        own = {name: asdict(io) for name, io in collect_own(self.checked.inputs).items()}
        described = [self.plan().description, asdict(self.checked.io), own]
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def to_yaml(self) -> str:
        """Return the text of a graph file that loads as this graph, in its canonical form.

        Parameters given at the call have become the defaults. Comments are not kept.
        """
        from rtbot.graph.canonical import format_canonical

        return format_canonical(self._require_document(), self.checked, self._params)

    def plan(self, taps: Iterable[str] = ()) -> Plan:
        """Return the plan of this graph; the outputs of these operators are results too."""
        names = tuple(taps)
        for name in names:
            if name not in self.checked.nodes:
                there = ", ".join(list(self.checked.nodes)[:20])
                hint = suggest_name(name, self.checked.nodes) or f"there are {there}"
                raise DataError(f"there is no operator {name!r} to tap", code="RT206", hint=hint)
        if names not in self._plans:
            self._plans[names] = _make_plan(self.checked, names)
        return self._plans[names]

    def code(self, *, helpers: bool = True) -> str:
        """Return the text of the generated module that runs this graph.

        Without `helpers` only its own loops, in the order in which they run, and not the functions
        that these call: steps of operators, arithmetic, exact sums.
        """
        return self.plan().text if helpers else self.plan().loops

    def run(
        self,
        data: Any,
        key: str | Sequence[str] | None = None,
        *,
        sort: bool = False,
        **options: Unpack[StartOptions],
    ) -> Result:
        """Run over whole tables, {input: table}; one table of all inputs may be given alone.

        That one is wide, with a column for every input, or long, with the columns `input` and
        `value`. A path means the table in that file. With `sort` the rows of every input are put in
        the order of their times first, a file as a whole, in memory. Options are those of `start`.
        """
        session = self.start(key, **options)
        session.may_get_messages = False
        request = make_input_spec(session.io, session.key, session.columns)
        used, keyed = collect_used_io(self.checked, request), may_have_keys(self.checked)
        with explain_errors(used, keyed=keyed):
            parts = push_all(session, data, self.checked.inputs, request, session.io, sort=sort)
        return merge_results([*parts, session.finish()])

    def start(
        self, key: str | Sequence[str] | None = None, **options: Unpack[StartOptions]
    ) -> Session:
        """Start a session; `key` names key columns, default `io.key`.

        `time` names the column of times in tables and files (or several, whose texts are joined by
        a blank), `inputs` that of an input, {input: column}. `tap` adds operators to the result and
        changes nothing else. `queue_limit` bounds the rows that wait at one port. `late`,
        `duplicates` and `lateness` override those of `io`. Raises TypeError for any other option.

        `compiled` is when generated code is compiled: "now", before it runs; "beside", by another
        process while it runs as plain Python (the default); "never". True is now, False is never.
        Operators of one's own are compiled before they run, not beside.
        """
        from rtbot.runtime.input_options import InputOptions
        from rtbot.runtime.session import DEFAULT_QUEUE_LIMIT
        from rtbot.runtime.session_code import choose_plan_mode

        check_options(options, (KEY, SORT, *StartOptions.__annotations__), self.checked.params)
        given = {name: value for name, value in options.items() if name in POLICIES}
        checked = self._check_policies(given)
        names = checked.io.key if key is None else (key,) if isinstance(key, str) else tuple(key)
        columns = name_columns(options.get("time"), options.get("inputs"), checked.inputs)
        limit = options.get("queue_limit")
        plan = self.plan(options.get("tap") or ())
        make: type[Session] = _find_session_type(plan)
        return make(
            plan,
            checked.io,
            names,
            inputs=InputOptions(collect_own(checked.inputs), columns),
            queue_limit=DEFAULT_QUEUE_LIMIT if limit is None else limit,
            compiled=choose_plan_mode(plan, options.get("compiled")),
        )

    def test(self, *, compiled: bool = False) -> list[Outcome]:
        """Run the tests of the graph's file and return the outcome of each, in their order.

        `outcome.passed` is whether it passed, `print(outcome)` shows what differs.
        """
        from rtbot.graph_tests import Suite

        suite = Suite(self._require_document(), self._params)
        return [suite.run(test, compiled=compiled) for test in suite.tests]

    def compare(
        self,
        data: Any,
        key: str | Sequence[str] | None = None,
        *,
        time: str | Sequence[str] | None = None,
        inputs: Mapping[str, str | Mapping[str, str]] | None = None,
        **options: Unpack[CompareOptions],
    ) -> ComparisonReport:
        """Run over the data, given as to `run`, in many ways, and compare every bit of the outputs.

        The ways: random batches, interleavings of inputs and keys, one message at a time, saved and
        resumed between, keys alone, interpreted, columns of other types. `seed` determines what is
        random, `runs` is how often a random way is run, `rows` how many rows slow ways take at
        most, `keys` how many keys run alone, `dumps` how often one run is saved at most;
        `spark=True` adds Spark. `report.same` is whether all is the same, `print(report)` shows it;
        if it is not, `report.found` is the smallest input and run that differ.
        """
        from rtbot.compare import ComparisonOptions, compare
        from rtbot.compare.variants import CompareOptions

        known = (KEY, "time", "inputs", *CompareOptions.__annotations__)
        check_options(options, known, self.checked.params)
        columns = name_columns(time, inputs, self.checked.inputs)
        return compare(self, data, key, ComparisonOptions(**options), columns=columns)

    def resume(
        self, blob: bytes, *, tap: Iterable[str] = (), compiled: bool | str | None = None
    ) -> Session:
        """Continue from `Session.dump`; raise CheckpointError if it is damaged or does not fit."""
        from rtbot.runtime.dump import resume
        from rtbot.runtime.session import Session
        from rtbot.runtime.session_code import choose_plan_mode

        if isinstance(blob, str | os.PathLike):
            raise TypeError("resume takes the bytes of a dump: Path(...).read_bytes()")
        plan = self.plan(tap or ())
        if has_changes(plan.checked):
            from rtbot.runtime.staged_dump import resume_stages

            staged: Any = plan
            session: Any = resume_stages(staged, blob, choose_plan_mode(plan, compiled))
            return session  # type: ignore[no-any-return]
        begin = partial(Session, compiled=choose_plan_mode(plan, compiled))
        return resume(plan, blob, begin)

    def _check_policies(self, policies: Mapping[str, Any]) -> CheckedGraph:
        """Return the graph with these policies, checked as if it had them itself."""
        if not policies:
            return self.checked
        document = self._require_document()
        return check(document, self._params, {**self._io_given, **policies})


def _make_plan(checked: CheckedGraph, taps: tuple[str, ...]) -> Any:
    """Return the plan of a graph; with change streams a `StagedPlan`, which has plans of stages."""
    if not has_changes(checked):
        return Plan(checked, taps)
    from rtbot.runtime.staged_plan import StagedPlan

    return StagedPlan(checked, taps)


def _find_session_type(plan: Any) -> Any:
    """Return the class of the sessions of a plan; all have the same methods."""
    if isinstance(plan, Plan):
        from rtbot.runtime.session import Session

        return Session
    from rtbot.runtime.staged_session import StagedSession

    return StagedSession
