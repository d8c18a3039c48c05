"""`rtbot test`: runs the tests that graph files hold."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.exit_codes import FAILED, GRAPH, OK
from rtbot.cli.messages import echo
from rtbot.cli.options import (
    GRAPHS_ARGUMENT,
    JSON_OPTION,
    add_graph_options,
    load_plugins,
    parse_parameter,
)
from rtbot.core.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.core.errors import Problem
    from rtbot.graph_tests import Outcome, OutputComparison, RowPair

SUFFIXES = (".yaml", ".yml")


@dataclass
class _Tally:
    """What has been found so far."""

    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if not outcome.passed]


@click.command("test")
@GRAPHS_ARGUMENT
@click.option("--update", is_flag=True, help="Write what comes into the files as what is expected.")
@click.option("-k", "--grep", "word", default="", metavar="TEXT", help="Only tests named so.")
@click.option("--compiled", is_flag=True, help="Run compiled code: the same text, a slower start.")
@JSON_OPTION
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of tests that pass.")
@add_graph_options
def command(
    graphs: tuple[str, ...],
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
    **options: Any,
) -> int:
    """Run the tests of graph files; of a folder, of all its *.yaml.

    The exit code is 0 if all pass, 1 if one fails or there is none, 3 if a graph is invalid.
    --update changes only rows of `expect` that differ, and fills in what is missing; look at the
    difference before you keep it.
    """
    load_plugins(plugins)
    values = dict(map(parse_parameter, parameters))
    if options["update"] and values:
        raise click.UsageError("--update takes no -p: give the test `params` instead")
    text, tally = options["form"] == "text", _Tally()
    for path in [path for graph in graphs for path in _list_files(graph)]:
        try:
            _run_file(path, values, options, tally)
        except GraphError as error:
            tally.problems += error.problems
            if text:
                echo(str(error), err=True)
    if text:
        _print_summary(tally, options["word"])
    else:
        echo(json.dumps(_to_json(tally), indent=2))
    if tally.problems:
        return GRAPH
    return FAILED if tally.failed or not tally.outcomes else OK


def _list_files(path: str) -> list[str]:
    """Return the file, or the files of a folder that may be graphs."""
    if not Path(path).is_dir():
        return [path]
    there = (one for one in Path(path).iterdir() if one.suffix in SUFFIXES and one.is_file())
    found = sorted(map(str, there))
    if not found:
        raise click.UsageError(f"there is no *.yaml in {path}")
    return found


def _run_file(path: str, values: dict[str, Any], options: dict[str, Any], tally: _Tally) -> None:
    """Run the tests of a file; with --update, once more after it was changed."""
    from rtbot import graph_tests

    def outcomes(suite: graph_tests.Suite) -> Iterator[Outcome]:
        chosen = [test for test in suite.tests if options["word"].lower() in test.name.lower()]
        yield from (suite.run(test, compiled=options["compiled"]) for test in chosen)

    suite = graph_tests.load_suite(path, values)
    if options["update"]:
        written = graph_tests.update(suite, list(outcomes(suite)))
        tally.written += written
        suite = graph_tests.load_suite(path, values) if written else suite
    for outcome in outcomes(suite):
        tally.outcomes.append(outcome)
        if options["form"] == "text":
            _print_outcome(outcome, quiet=options["quiet"])


def _print_outcome(outcome: Outcome, *, quiet: bool) -> None:
    name = f"{outcome.file}: {outcome.name}"
    if not outcome.passed:
        echo(name, mark=click.style("FAIL", fg="red", bold=True) + " ")
        echo(f"     {outcome.place}")
        for line in outcome.lines():
            echo(f"     {line}".rstrip())
    elif not quiet:
        echo(name, mark=click.style("ok", fg="green") + "   ")


def _print_summary(tally: _Tally, word: str) -> None:
    failed = tally.failed
    for path in dict.fromkeys(tally.written):
        echo(f"updated {path}")
    if any(outcome.differences for outcome in failed):
        echo("if what came is right, --update makes it what is expected", err=True)
    passed = len(tally.outcomes) - len(failed)
    if tally.outcomes:
        text = [f"{passed} passed"] + [f"{len(failed)} failed"] * bool(failed)
        echo(mark=click.style(", ".join(text), fg="red" if failed else "green"))
    elif not tally.problems:
        none = "no tests found: they go under `tests:` in a graph file"
        echo(f"no test has {word!r} in its name" if word else none, err=True)


def _to_json(tally: _Tally) -> dict[str, Any]:
    from rtbot.cli.commands.validate import _to_json as plain_problem

    return {
        "tests": [_outcome_to_json(outcome) for outcome in tally.outcomes],
        "problems": [plain_problem(problem) for problem in tally.problems],
        "updated": list(dict.fromkeys(tally.written)),
        "passed": len(tally.outcomes) - len(tally.failed),
        "failed": len(tally.failed),
    }


def _outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "file": outcome.file,
        "line": outcome.test.mark.line,
        "name": outcome.test.name,
        "passed": outcome.passed,
        "fault": outcome.fault,
        "differences": [
            {"output": one.output, "key": list(outcome.test.key), "rows": list(_rows_to_json(one))}
            for one in outcome.differences
        ],
    }


def _rows_to_json(comparison: OutputComparison) -> Iterator[dict[str, Any]]:
    """Yield the rows that are not as expected: [key..., t, value], or null where there is none."""
    for pair in comparison.pairs:
        if not pair.equal:
            yield _pair_to_json(pair)


def _pair_to_json(pair: RowPair) -> dict[str, Any]:
    rows = {"expected": pair.expected, "emitted": pair.emitted}
    text = {
        name: None if row is None else list(map(_cell_to_json, row)) for name, row in rows.items()
    }
    return {"status": pair.status, "line": pair.line, **text}


def _cell_to_json(value: Any) -> Any:
    """Return a value as JSON has it: `nan`, `inf` and `-inf` are text."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
