"""`rtbot init`: a graph to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rtbot.cli.messages import echo

SCHEMA = "rtbot.schema.json"
STARTER = "bollinger"


@click.command("init")
@click.argument("name", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "kind",
    metavar="STARTER",
    help="bollinger, sensors, heartbeat or counter; what NAME is, or else bollinger.",
)
@click.option("--force", is_flag=True, help="Replace NAME.yaml if it exists.")
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(name: Path, kind: str | None, force: bool, debug: bool) -> None:  # noqa: ARG001
    """Write NAME.yaml, a commented graph with tests, and the schema for editors beside it.

    The schema, rtbot.schema.json, makes editors with a YAML language server complete and check the
    file; it is rewritten each time.
    """
    from rtbot.core.errors import suggest_name
    from rtbot.graph.schema import format_schema
    from rtbot.samples import STARTERS, render_starter
    from rtbot.storage.files import Files

    path = _resolve_path(name)
    kind = kind or (path.stem if path.stem in STARTERS else STARTER)
    if kind not in STARTERS:
        hint = suggest_name(kind, STARTERS) or f"there are {', '.join(STARTERS)}"
        raise click.UsageError(f"there is no starter {kind!r}; {hint}")
    if path.exists() and not force:
        raise click.UsageError(f"{path} exists already; --force replaces it")
    files = Files()
    files.make_folder(str(path.parent))
    head = f"# yaml-language-server: $schema={SCHEMA}\n"
    files.write(str(path), (head + render_starter(kind, path.stem)).encode())
    files.write(str(path.with_name(SCHEMA)), format_schema().encode())
    _print_advice(path, STARTERS[kind])


def _resolve_path(name: Path) -> Path:
    """Return the file of a name, which may have its suffix already."""
    if name.is_dir():
        raise click.UsageError(f"{name} is a folder; name a graph in it: {name / 'NAME'}")
    if not name.stem.strip(".") or not str(name).isprintable():
        raise click.UsageError(f"{str(name)!r} is not a file name")
    return name if name.suffix in (".yaml", ".yml") else name.with_name(f"{name.name}.yaml")


def _print_advice(path: Path, sample: str) -> None:
    """Print on stderr what has been written, and what to try."""
    names = f"{sample}.csv", f"{path.stem}-chart.svg", f"{path.stem}.svg"
    graph, data, chart, drawing = (shlex.quote(str(p)) for p in (path, *map(path.with_name, names)))
    echo(f"{path}: a graph with tests", err=True)
    echo(f"{path.with_name(SCHEMA)}: what editors need to complete and check it", err=True)
    echo("\nTry:", err=True)
    for command_line in (
        f"rtbot test {graph}",
        f"rtbot sample {sample} -o {data}",
        f"rtbot run {graph} {data}",
        f"rtbot run {graph} {data} --plot {chart}",
        f"rtbot draw {graph} -o {drawing}",
        f"rtbot explain {graph}",
    ):
        echo(f"  {command_line}", err=True)
