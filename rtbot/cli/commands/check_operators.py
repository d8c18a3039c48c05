"""`rtbot check-operators`: what every operator must do, tried on operators of one's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbot.cli import shell_completion
from rtbot.cli.exit_codes import FAILED, OK
from rtbot.cli.messages import echo
from rtbot.cli.options import JSON_OPTION, load_plugins
from rtbot.core.errors import suggest_name
from rtbot.core.notices import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.conformance import OperatorReport
    from rtbot.graph.packages import OperatorPackage
    from rtbot.operator import Operator


@click.command("check-operators")
@click.argument(
    "names",
    metavar="[PACKAGE | FILE.py | OPERATOR]...",
    nargs=-1,
    shell_complete=shell_completion.complete_operators,
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=6,
    show_default=True,
    help="Random graphs and data for every operator.",
)
@click.option(
    "--save",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where differences are written, to be run again.",
)
@JSON_OPTION
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(
    names: tuple[str, ...],
    cases: int,
    folder: str | None,
    form: str,
    debug: bool,  # noqa: ARG001 (main reads it)
) -> int:
    """Check operators that you wrote: those of an installed package, of a file, or some by name.

    Without an argument, those of all installed packages. Every operator needs texts and an example
    that is true. Then it runs on random parameters and rows, with zeros of both signs, NaN,
    infinities, nulls and the ends of int64, and has to give the same bits in any batches and
    interleavings, saved and restored at every boundary, one message at a time, key by key, and as
    plain Python. The smallest input that shows a difference is printed. `rows/s` is measured on
    the example's graph.

    The exit code is 1 if anything fails. docs/custom-operators.md describes the checks.
    """
    from rtbot.conformance import check_operator, format_reports, format_verdict, report_to_json

    reports = []
    for operator in _find_operators(names):
        if sys.stderr.isatty():
            echo(f"checking {operator.__name__}", err=True)
        reports.append(check_operator(operator, cases))
    passed = all(report.passed for report in reports)
    if form == "json":
        echo(json.dumps([report_to_json(report) for report in reports], indent=2))
    else:
        for line in format_reports(reports):
            echo(line)
        echo()
        echo(mark=click.style(printable(format_verdict(reports)), fg="green" if passed else "red"))
    if folder:
        _save_differences(reports, folder)
    return OK if passed else FAILED


def _find_operators(names: Sequence[str]) -> list[type[Operator]]:
    """Return the operators, in the order of the names, then by module and name."""
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.graph.packages import load_packages

    packages = load_packages()
    wanted = names or [package.distribution for package in packages]
    found = [operator for name in wanted for operator in _list_operators(name)]
    if not found and not packages:
        raise click.UsageError("no package of operators is installed: name a file")
    if not found:
        shown = ", ".join(f"{p} ({p.module})" for p in packages if p.distribution in wanted)
        raise click.UsageError(f"no operator is declared in {shown}")
    return list(dict.fromkeys(found))


def _list_operators(name: str) -> Iterator[type[Operator]]:
    """Yield the operators of a file, of a package, or the one of a name."""
    from rtbot.explain import list_operators
    from rtbot.graph.packages import explain_missing, find_operator, find_package, load_packages

    if name.endswith(".py"):
        load_plugins([name], option="")
        file = str(Path(name).resolve())
        own = [cls for cls in list_operators() if _find_file(cls) == file]
        if not own:
            raise click.UsageError(f"{name} declares no operator")
        yield from own
        return
    packages = [p for p in load_packages() if name in (p.distribution, p.module, _name_root(p))]
    for package in packages:
        if package.problem:
            raise click.UsageError(f"the package {package} cannot be imported: {package.problem}")
        own = [cls for cls in package.operators.values() if find_package(cls) is package]
        yield from sorted(set(own), key=lambda cls: (cls.__module__, cls.__name__))
    operator = None if packages else find_operator(name)
    if operator is not None:
        yield operator
    elif not packages:
        known = [cls.__name__ for cls in list_operators()]
        known += [p.distribution for p in load_packages()]
        hint = explain_missing(name) or suggest_name(name, known)
        hint = hint or "`rtbot ops` lists the operators and where they are from"
        raise click.UsageError(f"{name!r} is no package with operators, file or operator; {hint}")


def _name_root(package: OperatorPackage) -> str:
    return package.module.partition(".")[0]


def _find_file(operator: type[Operator]) -> str | None:
    """Return the file that an operator was loaded from."""
    return getattr(sys.modules.get(operator.__module__), "__file__", None)


def _save_differences(reports: Sequence[OperatorReport], folder: str) -> None:
    """Write every difference into a folder of its own."""
    from rtbot.compare import save

    for report in reports:
        for failure in report.failures:
            if failure.difference is None or failure.graph is None:
                continue
            own = str(Path(folder) / f"{report.operator.__name__}-{failure.check}")
            graph, rows = save(failure.difference, failure.graph, own)
            echo(f"run it again: rtbot compare {graph} --replay {rows}", err=True)
