"""Running the tests of a graph file: rows are pushed one by one, and the outputs compared."""

from __future__ import annotations

import heapq
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbot.compiler.plan import Plan
from rtbot.core.error_codes import CODES
from rtbot.core.errors import DataError, GraphError, RtbotError
from rtbot.core.vector_names import list_vectors
from rtbot.graph.check import check
from rtbot.graph.check.context import to_plain_tree
from rtbot.graph.check.test_changes import FieldCells
from rtbot.graph.check.test_rows import GraphTestRows
from rtbot.graph.document import MappingNode, SequenceNode, load_document
from rtbot.graph.model import Input, Io
from rtbot.graph.output_types import add_outputs, find_type, list_public_names
from rtbot.graph.stages import has_changes
from rtbot.graph_tests.change_cells import collect_stage_rows, list_stage_rows
from rtbot.graph_tests.compare_rows import OutputComparison, compare_rows
from rtbot.graph_tests.notation import Notation
from rtbot.graph_tests.outcome import Outcome
from rtbot.graph_tests.test_files import load_row_file, resolve_beside
from rtbot.runtime.push_one import to_rows
from rtbot.runtime.staged_plan import StagedPlan
from rtbot.tables.vector_results import split_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbot.graph.check import GraphTest
    from rtbot.graph.check.test_rows import Row
    from rtbot.graph.document import Document
    from rtbot.graph.model import CheckedGraph


def load_suite(path: str | os.PathLike[str], params: Mapping[str, Any] | None = None) -> Suite:
    """Load the tests of a graph file. Raises GraphError with every problem of the file."""
    return Suite(load_document(Path(path)), params or {})


class Suite:
    """The tests of one graph; `params` override its parameters, those of a test override both."""

    def __init__(self, document: Document, params: Mapping[str, Any]) -> None:
        self.document = document
        self.params = dict(params)
        self.checked = _check_document(document, self.params)
        self.tests: tuple[GraphTest, ...] = self.checked.tests
        keys = {name: node for name, node in document.root.items.items() if name != "tests"}
        self._bare = replace(document, root=replace(document.root, items=keys))
        self._plans: dict[str, Plan | StagedPlan] = {}

    def run(self, test: GraphTest, *, compiled: bool = False) -> Outcome:
        """Run one test; a user's error is part of the outcome.

        By default the generated code runs as plain Python, which starts sooner: the text of the
        code, and so the result, is the same.
        """
        file = self.document.file
        try:
            plan = self._compile_plan(test)
            given, expected = (
                self._load_given(test, plan.checked),
                self._load_expected(test, plan.checked),
            )
            emitted = self._run_plan(test, plan, given, compiled=compiled)
        except (RtbotError, OSError) as error:
            return Outcome(test, file, fault=_describe_fault(test, error))
        if test.error:
            fault = f"error[{test.error}] is expected ({CODES[test.error]}), but none came"
            return Outcome(test, file, fault=fault)
        comparisons = [
            OutputComparison(
                name,
                compare_rows(rows, emitted[name], test.tolerance),
                silent=name in test.emits_nothing,
                waiting=rows.missing,
                file=rows.file,
            )
            for name, rows in expected.items()
        ]
        notation = self._choose_notation([*expected.values(), *given.values()])
        return Outcome(test, file, tuple(comparisons), notation=notation)

    def _choose_notation(self, rows: Iterable[GraphTestRows]) -> Notation:
        style = next((one.style for one in rows if one.style is not None), None)
        quoted = self.document.source.lstrip().startswith("{")
        return Notation(self.checked.io.unit, style, quoted)

    def _compile_plan(self, test: GraphTest) -> Plan | StagedPlan:
        """Return the plan of the graph with the parameters of the test, and what that looks at."""
        key = repr((sorted(test.params.items()), sorted(test.targets.items(), key=str)))
        if key not in self._plans:
            checked = check(self._bare, self.params | dict(test.params))
            seen = {name: ref for name, ref in test.targets.items() if name not in checked.outputs}
            whole = add_outputs(checked, seen)
            self._plans[key] = StagedPlan(whole) if has_changes(whole) else Plan(whole)
        return self._plans[key]

    def _load_expected(self, test: GraphTest, checked: CheckedGraph) -> dict[str, GraphTestRows]:
        """Return the expected rows by output; all public outputs if the test names none."""
        silent = dict.fromkeys(test.emits_nothing, GraphTestRows())
        if not (test.expect or silent or test.error):
            names = list_public_names(self.checked)
            return dict.fromkeys(names, GraphTestRows(missing=True))
        found = {}
        for name, rows in test.expect.items():
            item = Input(name, find_type(test.targets[name], checked))
            if rows.file and not Path(resolve_beside(self.document.file, rows)).exists():
                found[name] = replace(rows, missing=True)
            else:
                found[name] = self._load_rows(rows, item, test.key, Io(checked.io.unit))
        return found | silent

    def _load_given(self, test: GraphTest, checked: CheckedGraph) -> dict[str, GraphTestRows]:
        """Return the rows of the inputs, in their order; an input left out has no messages."""
        return {
            name: self._load_rows(test.given[name], item, test.key, checked.io)
            for name, item in checked.inputs.items()
            if name in test.given
        }

    def _run_plan(
        self,
        test: GraphTest,
        plan: Plan | StagedPlan,
        given: Mapping[str, GraphTestRows],
        *,
        compiled: bool,
    ) -> dict[str, list[Row]]:
        """Return the rows of all outputs, in the order in which they came."""
        if isinstance(plan, StagedPlan):
            return self._run_stages(plan, given, compiled=compiled)
        from rtbot.runtime.session import Session

        session = Session(plan, plan.checked.io, test.key, compiled=compiled)
        emitted: dict[str, list[Row]] = {name: [] for name in (*plan.outputs, *plan.records)}
        for name, index, (*keys, time, value) in sort_by_time(given):
            try:
                found = session.push_one(name, time, value, key=_unwrap_key(keys))
            except DataError as error:
                raise self._locate_error(error, given[name], index) from None
            _collect_rows(emitted, _add_elements(found, plan), len(test.key))
        rest = to_rows(session.finish(), test.key)
        _collect_rows(emitted, _add_elements(rest, plan), len(test.key))
        return emitted

    def _run_stages(
        self, plan: StagedPlan, given: Mapping[str, GraphTestRows], *, compiled: bool
    ) -> dict[str, list[Row]]:
        """Return the rows of all outputs of a graph with tables that change."""
        from rtbot.runtime.staged_session import StagedSession

        session = StagedSession(plan, plan.checked.io, compiled=compiled)
        emitted: dict[str, list[Row]] = {name: [] for name in (*plan.outputs, *plan.records)}
        for name, index, (*keys, time, value) in sort_by_time(given):
            try:
                if keys and isinstance(keys[0], FieldCells):
                    found = session.push_one(name, time, dict(keys[0]), value)
                else:
                    key = {"key": _unwrap_key(keys)} if keys else {}
                    found = session.push_one(name, time, value, **key)
            except DataError as error:
                if error.output is not None:  # of a transaction, whose rows came before
                    raise
                raise self._locate_error(error, given[name], index) from None
            collect_stage_rows(emitted, found, plan)
        collect_stage_rows(emitted, list_stage_rows(session.finish(), plan), plan)
        return emitted

    def _load_rows(
        self, rows: GraphTestRows, item: Input, key: Sequence[str], io: Io
    ) -> GraphTestRows:
        if not rows.file:
            return rows
        return load_row_file(rows, item, resolve_beside(self.document.file, rows), key, io)

    def _locate_error(self, error: DataError, rows: GraphTestRows, index: int) -> DataError:
        """Return the error with the line of the row that it is about."""
        line = rows.lines[index] if index < len(rows.lines) else 0
        file = resolve_beside(self.document.file, rows) if rows.file else self.document.file
        return error.at(file=file, row=line or None)


def sort_by_time(given: Mapping[str, GraphTestRows]) -> Iterator[tuple[str, int, Row]]:
    """Yield (input, index, row) by time, equal times in the order of inputs.

    The rows of one input stay as written, so that a test can be about rows that are late.
    """
    streams = [[(n, k, row) for k, row in enumerate(rows.rows)] for n, rows in given.items()]
    yield from heapq.merge(*streams, key=lambda item: item[2][-2])


def _check_document(document: Document, params: Mapping[str, Any]) -> CheckedGraph:
    """Check the graph; where a parameter has no value, with those of the first test that has."""
    try:
        return check(document, params)
    except GraphError as error:
        if any(problem.code != "RT111" for problem in error.problems):
            raise
        first = error
    for own in _list_own_parameters(document):
        try:
            return check(document, {**params, **own})
        except GraphError:
            continue
    raise first


def _list_own_parameters(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the parameters of every test that has some, as written."""
    node = document.root.items.get("tests")
    for item in node.items if isinstance(node, SequenceNode) else []:
        own = item.items.get("params") if isinstance(item, MappingNode) else None
        if isinstance(own, MappingNode):
            yield to_plain_tree(own)


def _unwrap_key(keys: list[Any]) -> Any:
    """Return a key as sessions take it."""
    return (keys[0] if len(keys) == 1 else tuple(keys)) if keys else None


def _add_elements(found: Mapping[str, Any], plan: Plan) -> Mapping[str, Any]:
    """Return rows by output, those of vectors also by element: a test may look at either."""
    vectors = list_vectors(plan.records)
    return {**found, **split_rows(found, vectors)} if vectors else found


def _collect_rows(emitted: dict[str, list[Row]], found: Mapping[str, Any], keys: int) -> None:
    """Add what was released, keys of several columns as cells of their own."""
    for name, rows in found.items():
        emitted[name] += [(*row[0], *row[1:]) for row in rows] if keys > 1 else rows


def _describe_fault(test: GraphTest, error: RtbotError | OSError) -> str:
    """Describe what went wrong, or return "" if it is the error that the test expects."""
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    problems = error.problems if isinstance(error, GraphError) else (error,)
    if test.error in {problem.code for problem in problems}:
        return ""
    wanted = f"error[{test.error}] is expected, but another one came\n" if test.error else ""
    return f"{wanted}{error}"
