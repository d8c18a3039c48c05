"""`rtbot sample`: data to try a graph on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.messages import echo
from rtbot.core.errors import suggest_name

if TYPE_CHECKING:
    from rtbot.samples import SampleOptions, SampleSeries

SHARE = click.FloatRange(0, 0.99)
KEYS_MAX = 10_000


@click.command("sample")
@click.argument("name", required=False)
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--keys", type=click.IntRange(0, KEYS_MAX), help="Series in it; 0: no key column.")
@click.option("--late", type=SHARE, default=0.0, help="Share of rows that come late.")
@click.option("--gaps", type=SHARE, default=0.0, help="Share of values that are missing.")
@click.option("--duplicates", type=SHARE, default=0.0, help="Share of rows that come twice.")
@click.option("-o", "target", type=click.Path(), help="Where to; - or nothing is stdout.")
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(
    name: str | None,
    target: str | None,
    debug: bool,  # noqa: ARG001 (main reads it)
    **options: Any,
) -> None:
    """Write the sample data NAME: prices, sensors, ecg or counter; without a NAME, list them.

    The suffix of the file is its format: .csv, .jsonl, .parquet or .arrow. The same options give
    the same data on every machine.
    """
    from rtbot.samples import FORMATS, SERIES, SampleOptions, generate_blocks, write_sample
    from rtbot.storage.files import STANDARD, Files

    if name is None:
        for known, series in SERIES.items():
            echo(f"{known:<8} {series.text}")
        return
    if name not in SERIES:
        hint = suggest_name(name, SERIES) or f"there are {', '.join(SERIES)}"
        raise click.UsageError(f"there is no sample {name!r}; {hint}")
    series = SERIES[name]
    if options["keys"] is None:
        options["keys"] = series.keys
    form = target.rpartition(".")[2] if target not in (None, STANDARD) else "csv"
    if form not in FORMATS:
        raise click.UsageError(f"-o {target}: the suffix is one of .{', .'.join(FORMATS)}")
    wish = SampleOptions(**options)
    with Files().open_replacement(target or STANDARD) as file:
        write_sample(file, series, generate_blocks(series, wish), keyed=wish.keys > 0, form=form)
    _print_advice(series, wish, target if target not in (None, STANDARD) else f"{name}.csv")


def _print_advice(series: SampleSeries, wish: SampleOptions, file: str | None) -> None:
    """Print on stderr which graph to try."""
    from rtbot.samples import LATE_STEPS

    key = f" --key {series.key}" if wish.keys and not series.keys else ""
    echo(f"try it: rtbot init {series.starter}", err=True)
    echo(f"        rtbot run {series.starter}.yaml {file}{key}", err=True)
    if wish.late:
        longest = f"{LATE_STEPS * series.period}{series.unit}"
        echo(f"io: {{lateness: {longest}}} puts the late rows in order", err=True)
    if wish.duplicates:
        echo("io: {duplicates: last} lets double rows pass", err=True)
