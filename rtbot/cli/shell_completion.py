"""What a shell may be offered: graph files, and names that a graph, an operator or a code has.

A completion never fails: what cannot be read offers nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click
    from click.shell_completion import CompletionItem

    import rtbot

VARIABLE = "_RTBOT_COMPLETE"
"""The variable through which a shell asks for completions."""

SUFFIXES = (".yaml", ".yml", ".json")


def complete_graph_files(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return graph files; where there are none, the shell looks for folders."""
    from click.shell_completion import CompletionItem

    folder, slash, start = incomplete.rpartition("/")
    try:
        names = sorted(path.name for path in Path(folder + slash or ".").iterdir())
    except OSError:
        names = []
    fitting = [name for name in names if name.startswith(start) and name.endswith(SUFFIXES)]
    found = [CompletionItem(folder + slash + name) for name in fitting]
    return found or [CompletionItem(incomplete, type="dir")]


def complete_explain(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return error codes, or graph files."""
    from rtbot.core.error_codes import CODES

    codes = _make_items(CODES, incomplete.upper() or "-")
    return codes or complete_graph_files(context, parameter, incomplete)


def complete_operators(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return names of operators, also of plugins on the line; upper and lower case are equal."""
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.explain import read_summary
    from rtbot.graph.packages import load_packages
    from rtbot.operator import REGISTRY

    if not _try_load_plugins(context):
        return []
    load_packages()
    low = incomplete.lower()
    fitting = sorted(name for name in REGISTRY if name.lower().startswith(low))
    return _make_items({name: read_summary(REGISTRY[name]) for name in fitting}, "")


def complete_parameters(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return `name=` for every parameter of the graph that is earlier on the line."""
    return _complete_names(context, "params", incomplete)


def complete_inputs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return `name=` for every input of the graph that is earlier on the line."""
    return _complete_names(context, "inputs", incomplete)


def complete_outputs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return `name=` for every output of the graph that is earlier on the line."""
    return _complete_names(context, "outputs", incomplete)


def _complete_names(context: click.Context, part: str, incomplete: str) -> list[CompletionItem]:
    graph = _load_graph(context)
    known = {} if graph is None else getattr(graph.checked, part)
    return _make_items({f"{name}=": "" for name in known}, incomplete)


def _make_items(known: dict[str, str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=text or None)
        for name, text in known.items()
        if name.startswith(incomplete)
    ]


def _load_graph(context: click.Context) -> rtbot.Graph | None:
    """Return the graph that is earlier on the line, if it can be loaded."""
    import rtbot
    from rtbot.core.errors import RtbotError

    path = next(filter(Path.is_file, map(Path, _list_words(context))), None)
    if path is None or not _try_load_plugins(context):
        return None
    try:
        return rtbot.load(path)
    except (RtbotError, OSError):
        return None


def _list_words(context: click.Context) -> Iterator[str]:
    """Yield the words of the line that may be a graph file, also of an incomplete line."""
    given: Iterable[Any] = (context.params.get(name) for name in ("graph", "graphs", "what"))
    for word in (*given, context.args):
        words = [word] if isinstance(word, str) else word or ()
        yield from (text for text in words if text.endswith(SUFFIXES))


def _try_load_plugins(context: click.Context) -> bool:
    """Load the plugins that are earlier on the line; return False if one cannot be loaded."""
    import click

    from rtbot.cli.options import load_plugins
    from rtbot.core.errors import RtbotError

    try:
        load_plugins(context.params.get("plugins") or ())
    except (click.UsageError, RtbotError):
        return False
    return True
