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
@click.option(
    "--data",
    metavar="FILE",
    type=click.Path(),
    help="Write a graph that runs on this file as it is.",
)
@click.option(
    "--operators",
    is_flag=True,
    help="Write a project for a package of operators into the folder NAME.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(
    name: Path,
    kind: str | None,
    data: str | None,
    operators: bool,
    force: bool,
    debug: bool,  # noqa: ARG001 (main reads it)
) -> None:
    """Write NAME.yaml, a commented graph with tests, and the schema for editors beside it.

    With --data, the graph smooths the columns of numbers of a file, as `rtbot look` finds them.
    With --operators, NAME is a folder for a package of operators, with one and its tests.

    The schema, rtbot.schema.json, makes editors with a YAML language server complete and check the
    file; it is rewritten each time.
    """
    from rtbot.graph.packages import load_packages
    from rtbot.graph.schema import format_schema
    from rtbot.storage.files import Files

    if data is not None and kind is not None:
        raise click.UsageError("--data makes a graph for a file: leave --from out")
    if operators:
        if data is not None or kind is not None:
            raise click.UsageError("--operators makes no graph: leave --data and --from out")
        _write_project(name, force=force)
        return
    load_packages()
    path = _resolve_path(name)
    if path.exists() and not force:
        raise click.UsageError(f"{path} exists already; --force replaces it")
    text, advice = _render(path, kind) if data is None else _render_for_file(path, data)
    files = Files()
    files.make_folder(str(path.parent))
    head = f"# yaml-language-server: $schema={SCHEMA}\n"
    files.write(str(path), (head + text).encode())
    files.write(str(path.with_name(SCHEMA)), format_schema().encode())
    _print_advice(path, advice, tests=data is None)


def _write_project(folder: Path, *, force: bool) -> None:
    """Write a project for a package of operators, and what to do with it on stderr."""
    from rtbot.samples.operator_project import name_module, render_project
    from rtbot.storage.files import Files

    name = folder.resolve().name
    if not name_module(name):
        message = f"{name!r} is not a name of a package: letters, digits, and - between them"
        raise click.UsageError(message)
    paths = {folder / path: text for path, text in render_project(name).items()}
    known = [path for path in paths if path.exists()]
    if known and not force:
        raise click.UsageError(f"{known[0]} exists already; --force replaces it")
    files = Files()
    for path, text in paths.items():
        files.make_folder(str(path.parent))
        files.write(str(path), text.encode())
        echo(str(path), err=True)
    echo("\nTry:", err=True)
    echo(f"  pip install --editable {shlex.quote(f'{folder}[test]')}", err=True)
    echo(f"  rtbot check-operators {name}", err=True)
    echo(f"  pytest {shlex.quote(str(folder))}", err=True)


def _render(path: Path, kind: str | None) -> tuple[str, list[str]]:
    """Return the text of a starter, and commands to try it with."""
    from rtbot.core.errors import suggest_name
    from rtbot.samples import STARTERS, render_starter

    kind = kind or (path.stem if path.stem in STARTERS else STARTER)
    if kind not in STARTERS:
        hint = suggest_name(kind, STARTERS) or f"there are {', '.join(STARTERS)}"
        raise click.UsageError(f"there is no starter {kind!r}; {hint}")
    names = f"{STARTERS[kind]}.csv", f"{path.stem}-chart.svg", f"{path.stem}.svg"
    graph, data, chart, drawing = (shlex.quote(str(p)) for p in (path, *map(path.with_name, names)))
    return render_starter(kind, path.stem), [
        f"rtbot test {graph}",
        f"rtbot sample {STARTERS[kind]} -o {data}",
        f"rtbot run {graph} {data}",
        f"rtbot run {graph} {data} --plot {chart}",
        f"rtbot draw {graph} -o {drawing}",
        f"rtbot explain {graph}",
    ]


def _render_for_file(path: Path, data: str) -> tuple[str, list[str]]:
    """Return the text of a graph for a file, and commands to run it."""
    from rtbot.look.look_at_file import look_at_file
    from rtbot.look.starter_graph import render_run, render_starter_graph

    facts = look_at_file(data)
    text = render_starter_graph(facts, path.stem)
    chart, target = (str(path.with_name(path.stem + end)) for end in ("-chart.svg", "-out.csv"))
    return text, [
        render_run(facts, str(path), chart, target),
        f"rtbot explain {shlex.quote(str(path))}",
    ]


def _resolve_path(name: Path) -> Path:
    """Return the file of a name, which may have its suffix already."""
    if name.is_dir():
        raise click.UsageError(f"{name} is a folder; name a graph in it: {name / 'NAME'}")
    if not name.stem.strip(".") or not str(name).isprintable():
        raise click.UsageError(f"{str(name)!r} is not a file name")
    return name if name.suffix in (".yaml", ".yml") else name.with_name(f"{name.name}.yaml")


def _print_advice(path: Path, commands: list[str], *, tests: bool) -> None:
    """Print on stderr what has been written, and what to try."""
    echo(f"{path}: a graph{' with tests' if tests else ''}", err=True)
    echo(f"{path.with_name(SCHEMA)}: what editors need to complete and check it", err=True)
    echo("\nTry:", err=True)
    for command_line in commands:
        echo(f"  {command_line}", err=True)
