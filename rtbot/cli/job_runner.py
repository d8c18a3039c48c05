"""A job carried out: progress, notices and interpreted code as the options of a verb say."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rtbot.cli.messages import echo
from rtbot.cli.startup import begin_collecting
from rtbot.core.modes import use_mode
from rtbot.storage.files import STANDARD

if TYPE_CHECKING:
    import rtbot
    from rtbot.cli.progress_bar import ProgressBar
    from rtbot.io.file_run import Job


def execute_job(graph: rtbot.Graph, asked: Job, mode: str | None, *, quiet: bool) -> dict[str, Any]:
    """Run the graph; return the account."""
    from rtbot.core.notices import suppress_notices
    from rtbot.look.file_errors import collect_used_io, explain_errors, may_have_keys

    with ExitStack() as stack:
        stack.enter_context(use_mode(mode))
        if quiet:
            stack.enter_context(suppress_notices())
        progress = None if quiet else _make_progress_bar(stack, asked)
        if asked.checkpoint is None:
            from rtbot.io.file_run import run_files as execute
        else:
            from rtbot.io.checkpointed_run import run_with_checkpoints as execute
        used, keyed = collect_used_io(graph.checked, asked.request), may_have_keys(graph.checked)
        stack.enter_context(explain_errors(used, keyed=keyed))
        begin_collecting()
        return execute(graph, asked, _discard_notice if quiet else _print_notice, progress)


def _print_notice(text: str) -> None:
    echo(text, err=True)


def _discard_notice(text: str) -> None:
    """Ignore the notice."""


def _make_progress_bar(stack: ExitStack, asked: Job) -> ProgressBar | None:
    """Show how far the run is, if it has an end and no results go to the terminal of stderr."""
    to_stdout = any(target.path == STANDARD for target in asked.targets)
    if asked.request.follow or not sys.stderr.isatty() or (to_stdout and sys.stdout.isatty()):
        return None
    from rtbot.cli.progress_bar import ProgressBar, TrackedFiles
    from rtbot.cli.run_options import list_patterns

    return stack.enter_context(ProgressBar(TrackedFiles(list_patterns(asked.request)), sys.stderr))
