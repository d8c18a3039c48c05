"""`rtbot warm`: graphs compiled ahead."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbot.cli.exit_codes import INPUT_OUTPUT
from rtbot.cli.messages import echo
from rtbot.cli.options import GRAPHS_ARGUMENT, add_graph_options, load_graph

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command("warm")
@GRAPHS_ARGUMENT
@click.option(
    "--tap", "taps", multiple=True, metavar="GLOB", help="As for `rtbot run`: it is another code."
)
@add_graph_options
def command(
    graphs: tuple[str, ...],
    taps: tuple[str, ...],
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
) -> int:
    """Compile GRAPHs, so that their runs start with compiled code.

    It is kept in ~/.cache/rtbot or in RTBOT_CACHE_DIR. A graph is compiled once per machine and
    version; its parameters are no part of the code, unless they choose between operators' forms.
    The code of Datalog is the same for all programs: a GRAPH may be a PROGRAM.dl.
    """
    import rtbot
    from rtbot.cli.run_options import match_taps
    from rtbot.graph.stages import has_changes
    from rtbot.io.compile_plan import warm_datalog, warm_plan

    for path in graphs:
        if path.endswith(".dl"):
            rtbot.Datalog(Path(path), compiled=False)
            if not _warm(path, warm_datalog):
                return INPUT_OUTPUT
            continue
        graph = load_graph(path, parameters, plugins)
        views = [node.view for node in graph.checked.nodes.values()]
        has_rules = any(view is not None and view.language == "Datalog" for view in views)
        if has_rules and not _warm(f"{path}: Datalog", warm_datalog):
            return INPUT_OUTPUT
        if has_changes(graph.checked):
            echo(f"{path}: tables that change are compiled as they run, not ahead", err=True)
        elif not _warm(path, partial(warm_plan, graph.plan(match_taps(graph, taps)))):
            return INPUT_OUTPUT
    return 0


def _warm(what: str, compile_missing: Callable[[], bool | None]) -> bool:
    """Compile and report it; return whether the code can be kept."""
    started = time.perf_counter()
    compiled = compile_missing()
    seconds = time.perf_counter() - started
    if compiled is None:
        echo("error: there is no folder to keep code in; set RTBOT_CACHE_DIR to one", err=True)
        return False
    echo(f"{what}: compiled in {seconds:.1f} s" if compiled else f"{what}: is compiled", err=True)
    return True
