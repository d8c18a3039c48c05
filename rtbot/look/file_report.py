"""The facts of a file as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.aligned_text import align_cells
from rtbot.core.number_text import format_count
from rtbot.look.change_files import list_change_lines, render_change_run, render_query
from rtbot.look.column_facts import NUMERIC
from rtbot.look.file_facts import show_length, show_step, show_time
from rtbot.look.io_lines import list_graph_only, render_command, render_io, render_vector
from rtbot.look.sparkline import use_plain_signs
from rtbot.look.starter_graph import name_table
from rtbot.look.time_guesses import show_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rtbot.look.column_facts import ColumnFacts
    from rtbot.look.file_facts import FileFacts
    from rtbot.look.time_guesses import TimeFacts

COLUMNS_SHOWN = 24
"""Of a file with more columns the first and the last are shown."""

CELL_WIDTH = 32
ROW_COLUMNS = 8
FORMS = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet", "arrow": "Arrow"}


def format_report(
    facts: FileFacts, bold: Callable[[str], str], *, plain: bool = False
) -> Iterator[str]:
    """Yield the lines of a report; `plain` asks for pictures of ASCII alone."""
    yield bold(_title(facts))
    yield from (f"  {note}" for note in facts.notes)
    if facts.time is not None:
        yield from ("", bold("time"))
        yield from (f"  {line}" for line in _describe_time(facts, facts.time))
    if facts.columns:
        yield from ("", bold("columns"))
        lines = _format_columns(facts)
        yield from (f"  {use_plain_signs(line) if plain else line}" for line in lines)
    if facts.first_rows and facts.time is not None:
        yield from ("", bold("first rows, as they are read"))
        yield from (f"  {line}" for line in _format_rows(facts))
    for title, texts in (("not certain", facts.doubts), ("cannot be read", facts.obstacles)):
        if texts:
            yield from ("", bold(title))
            yield from (f"  {text}" for text in texts)
    if facts.time is not None:
        yield from _format_options(facts, bold)


def _title(facts: FileFacts) -> str:
    about = "" if facts.rows == facts.rows_total else "about "
    rows = f", {about}{format_count(facts.rows_total, 'row')}" if facts.columns else ""
    looked = "" if facts.whole else f", of which {facts.looked:,} were looked at"
    if facts.unpacked is not None:
        looked += f", {format_count(facts.unpacked, 'byte')} when unpacked"
    packed = ", compressed with gzip" if facts.packed else ""
    form = FORMS.get(facts.form, facts.form)
    text = ""
    if facts.form in ("csv", "jsonl"):
        mark = " with a byte order mark" if facts.bom else ""
        text = f", {facts.dialect.encoding.upper()}{mark}" + (
            f", lines end with {facts.line_end}" if facts.line_end else ""
        )
    return f"{facts.file}: {form}{packed}{rows}, {format_count(facts.size, 'byte')}{looked}{text}"


def _describe_time(facts: FileFacts, time: TimeFacts) -> Iterator[str]:
    series = time.series
    form = time.form or (f"counts of {time.unit}" if time.unit and time.integer else "")
    form = form or ("integers" if time.integer else "ISO 8601")
    zone = ", without an offset: taken as UTC" if time.naive else ""
    yield f"{show_columns(time.columns)}, {form}{zone}"
    yield f"{show_time(time, series.first)} to {show_time(time, series.last)}"
    step = show_step(time, series)
    if step is not None:
        share = "" if series.share > 0.995 or series.calendar else f" ({series.share:.0%} of all)"
        if series.usual != series.step and not series.calendar:
            share = share.replace(")", f", the median is {show_length(time, series.median or 0)})")
        gaps = "no gaps"
        if series.gaps:
            longest = show_length(time, series.gap)
            after = show_time(time, series.gap_at)
            gaps = f"{format_count(series.gaps, 'gap')}, the longest {longest} after {after}"
        yield f"step {step}{share}, {gaps}"
    again = format_count(series.duplicates, "duplicate")
    if facts.changes:
        again = f"{format_count(series.duplicates, 'row')} with the time of another"
    yield f"{series.order}, {series.late:,} late, {again}"
    if facts.key:
        yield f"key {', '.join(facts.key)}: {facts.key_count:,} of them"
    if facts.other_times:
        yield f"also times: {', '.join(facts.other_times[:5])}"


def _format_columns(facts: FileFacts) -> list[str]:
    columns = facts.columns
    head = ("name", "kind", "empty", "absent", "least", "greatest", "distinct", "")
    cut = len(columns) > COLUMNS_SHOWN
    shown: Sequence[ColumnFacts] = columns[: COLUMNS_SHOWN - 2] if cut else columns
    rows = [_describe_column(column) for column in shown]
    if cut:
        rows.append((f"({len(columns) - COLUMNS_SHOWN} more)", *[""] * 7))
        rows += [_describe_column(column) for column in columns[-2:]]
    right = (False, False, True, False, True, True, True, False)
    return align_cells([head, *rows], right)


def _describe_column(column: ColumnFacts) -> tuple[str, ...]:
    tokens = " ".join(
        f"{token} {count:,}" for token, count in {**column.tokens, **column.sentinels}.items()
    )
    numeric = column.kind in NUMERIC
    return (
        _shorten(column.name or "(no name)"),
        column.kind,
        f"{column.empty:,}" if column.empty else "",
        _shorten(tokens),
        f"{column.least:.10g}" if numeric and column.least is not None else "",
        f"{column.greatest:.10g}" if numeric and column.greatest is not None else "",
        f"{column.distinct:,}",
        column.picture if numeric else _shorten(column.example),
    )


def _format_rows(facts: FileFacts) -> list[str]:
    taken = facts.time.columns if facts.time is not None else ()
    names = ["t", *(column.name for column in facts.columns if column.name not in taken)]
    kinds = ["", *(column.kind for column in facts.columns if column.name not in taken)]
    rows = [names, *facts.first_rows]
    more = len(names) > ROW_COLUMNS
    cells = [[*map(_shorten, row[:ROW_COLUMNS]), *(["..."] if more else [])] for row in rows]
    right = [kind in NUMERIC for kind in kinds[:ROW_COLUMNS]] + ([False] if more else [])
    return align_cells(cells, right)


def _format_options(facts: FileFacts, bold: Callable[[str], str]) -> Iterator[str]:
    section = render_io(facts).splitlines()
    commands = [render_command(facts)]
    if facts.changes:
        name = name_table(facts)
        section = [*list_change_lines(facts, name)]
        commands = [render_change_run(facts, "GRAPH", name), render_query(facts, name)]
    yield ""
    yield bold("in the graph" if section else "in the graph nothing is needed")
    yield from (f"  {line}" for line in section)
    yield from ("", bold("or on the command line"))
    yield from (f"  {command}" for command in commands)
    missing = list_graph_only(facts)
    vector = render_vector(facts)
    if missing:
        of = " of `rtbot run`" if facts.changes else ""
        yield f"  ({', '.join(missing)}{of} can only be in the graph)"
    if vector:
        yield from ("", bold("or in the graph, as one message with all of them"))
        yield from (f"  {line}" for line in vector)
    trial = facts.trial
    if trial is not None and not trial.skipped:
        yield from ("", bold("tried"))
        yield f"  {format_count(trial.rows, 'row')} read with these options, {trial.bad:,} refused"
        yield from (f"  {text} ({count:,})" for text, count in trial.problems.items())


def _shorten(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 3] + "..."
