"""`rtbot warm`: graphs compiled ahead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from rtbot.cli.exit_codes import INPUT_OUTPUT
from rtbot.cli.messages import echo
from rtbot.cli.options import GRAPHS_ARGUMENT, add_graph_options, load_graph

if TYPE_CHECKING:
    from rtbot.compiler.plan import Plan


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
    """
    from rtbot.cli.run_options import match_taps
    from rtbot.graph.stages import has_changes

    for path in graphs:
        graph = load_graph(path, parameters, plugins)
        if has_changes(graph.checked):
            echo(f"{path}: tables that change are compiled as they run, not ahead", err=True)
        elif not _warm(path, graph.plan(match_taps(graph, taps))):
            return INPUT_OUTPUT
    return 0


def _warm(path: str, plan: Plan) -> bool:
    """Compile a plan and report it; return whether its code can be kept."""
    from rtbot.io.compile_plan import can_keep, warm_plan

    if not can_keep(plan):
        echo("error: there is no folder to keep code in; set RTBOT_CACHE_DIR to one", err=True)
        return False
    started = time.perf_counter()
    compiled = warm_plan(plan)
    seconds = time.perf_counter() - started
    echo(f"{path}: compiled in {seconds:.1f} s" if compiled else f"{path}: is compiled", err=True)
    return True
