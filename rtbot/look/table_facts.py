"""The facts of a table: which columns are what, and the options that follow from them."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_count
from rtbot.look.absent_tokens import choose_tokens
from rtbot.look.cell_forms import to_number
from rtbot.look.change_files import describe_changes, find_change_column
from rtbot.look.column_facts import NUMERIC, describe_columns
from rtbot.look.file_facts import counts_instants, show_length, show_time
from rtbot.look.series_facts import (
    DAY,
    NAMED,
    UNIT_LENGTHS,
    collect_rows,
    find_keys,
    measure_series,
)
from rtbot.look.time_guesses import LIKELY, guess_times, join_columns, parse_guess, show_columns
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.graph.model import Io
    from rtbot.look.column_facts import DetectedSigns, SampledTable
    from rtbot.look.file_facts import FileFacts
    from rtbot.look.time_guesses import TimeFacts

FIRST_ROWS = 5
WIDE_COLUMNS = 12
"""So many columns of numbers, with names that are alike, are series of one kind."""

COLUMNS_KEY = "series"
NO_TIMES = "no column looks like times"
NUMBERED = re.compile(r"(.*?)[0-9]+(.*)")
LONG_GAP = 365 * DAY
SUNDAY, OCTOBER = 6, 10
ZONES = {
    (4, 2): "Australia/Sydney",
    (OCTOBER, 1): "Europe/London",
    (OCTOBER, 2): "Europe/Madrid",
    (OCTOBER, 3): "Europe/Athens",
    (11, 1): "America/New_York",
}
"""By month and the hour that is there twice: on the last Sunday of October, else the first."""


def describe_table(facts: FileFacts, table: SampledTable, signs: DetectedSigns) -> None:
    """Fill in what the table has: columns, time, keys, order, and the options that read it."""
    facts.rows = sum(map(len, table.segments()))
    facts.columns = describe_columns(table, signs)
    facts.changes = find_change_column(table)
    if facts.changes:
        facts.notes.append(describe_changes(table, facts.changes))
    candidates = guess_times(table, facts.columns)
    facts.time = next((time for time in candidates if not time.obstacle), None)
    unread = [time for time in candidates if time.obstacle]
    if unread and facts.time is not None and facts.time.rating < min(LIKELY, unread[0].rating):
        facts.time = None
    if unread and (facts.time is None or facts.time.rating < unread[0].rating):
        facts.obstacles.append(f"{show_columns(unread[0].columns)}: {unread[0].obstacle}")
    if facts.time is None and not unread and len(table.names) > 1:
        facts.obstacles.append(NO_TIMES)
    facts.other_times = tuple(
        show_columns(time.columns)
        for time in candidates
        if facts.time and time.rating >= LIKELY and not {*time.columns} & {*facts.time.columns}
    )
    if facts.time is not None:
        _describe_time(facts, table, facts.time)
    choose_tokens(facts, table, signs)
    if not facts.changes:
        _choose_series(facts)
    facts.first_rows = [_show_row(facts, table, row) for row in table.rows[:FIRST_ROWS]]
    facts.doubts += [f"{c.name}: {c.note}" for c in facts.columns if c.note]


def _describe_time(facts: FileFacts, table: SampledTable, time: TimeFacts) -> None:
    """Measure the times of every series, and choose the options for them."""
    rows = collect_rows(parse_guess(table, time))
    rest = [column for column in facts.columns if column.name not in time.columns]
    cells = dict(zip(table.names, table.columns, strict=True))
    facts.key, numbers, reason = (
        ((), rows.series, "") if facts.changes else find_keys(rows, cells, rest)
    )
    rows = replace(rows, series=numbers)
    series = measure_series(rows)
    facts.time = time = replace(time, series=series, bad=facts.rows - len(rows.times))
    facts.key_count = rows.series_count
    if reason == NAMED:
        facts.doubts.append(f"{facts.key[0]} is taken for a key by its name: without it, all rows")
        facts.doubts[-1] += " are one series"
    elif facts.key:
        facts.notes.append(f"key {', '.join(facts.key)}: {reason}")
    facts.io = _choose_io(facts, time)
    _note_time(facts, time)
    if series.duplicates and not facts.changes:
        _judge_duplicates(facts, table, time)


def _choose_io(facts: FileFacts, time: TimeFacts) -> Io:
    """Choose unit, time, format, key and lateness."""
    names = [column.name for column in facts.columns]
    taken = next((name for name in TIME_NAMES if name in names and name not in facts.key), None)
    reading = replace(facts.io.reading, time_format=time.form)
    late, unit = time.series.late, time.unit
    if late and unit is None and counts_instants(time):
        unit = "us" if time.series.lateness % 10**6 else "s"
    size = UNIT_LENGTHS[unit] if unit in UNIT_LENGTHS and counts_instants(time) else 1
    lateness = -(-time.series.lateness // size)
    if unit == "ns":
        lateness *= 1000
    return replace(
        facts.io,
        unit=unit,
        time=() if time.columns == (taken,) else time.columns,
        key=facts.key,
        lateness=lateness if late else None,
        reading=reading,
    )


def _note_time(facts: FileFacts, time: TimeFacts) -> None:
    """Note what is not certain about the times."""
    series, name = time.series, show_columns(time.columns)
    if time.reason:
        facts.notes.append(f"{name}: {time.reason}")
    facts.doubts += [f"{name}: {doubt}" for doubt in time.doubts]
    if time.bad:
        facts.io = replace(facts.io, bad="drop")
        what = f"{format_count(time.bad, 'cell')} {'is' if time.bad == 1 else 'are'} no time"
        facts.doubts.append(f"{name}: {what}: `bad: drop` leaves such rows out")
    if series.late:
        far = show_length(time, series.lateness)
        what = (
            "the newest row comes first"
            if series.order == "descending"
            else f"{format_count(series.late, 'row')} after a later one"
        )
        facts.doubts.append(f"{what}, by up to {far}: `lateness` puts them in order")
    span = series.last - series.first
    if series.gap > max(LONG_GAP, 10 * (span - series.gap)) and counts_instants(time):
        facts.doubts.append(
            f"a gap of {show_length(time, series.gap)} after {show_time(time, series.gap_at)}:"
            " was a clock set?"
        )


def _judge_duplicates(facts: FileFacts, table: SampledTable, time: TimeFacts) -> None:
    """Choose what is done with rows of one time, and doubt it unless they are the same."""
    series = time.series
    rows = Counter(tuple(row) for segment in table.segments() for row in segment)
    at = show_time(time, series.duplicate_at or 0)
    if sum(count - 1 for count in rows.values()) == series.duplicates:
        facts.io = replace(facts.io, duplicates="first")
        facts.notes.append(
            f"{format_count(series.duplicates, 'row')} twice in the file, the first at {at}"
        )
        return
    text = f"{format_count(series.duplicates, 'row')} with a time that was there, the first at {at}"
    zone = _find_zone(series.duplicate_at or 0) if time.naive else None
    if zone is not None:
        facts.clocks_changed = True
        reading = replace(facts.io.reading, timezone=zone, ambiguous="order")
        facts.io = replace(facts.io, reading=reading)
        text += f": an hour twice when clocks go back; {zone} is only one zone that does so then"
    else:
        facts.io = replace(facts.io, duplicates="last")
        text += ": `duplicates: last` keeps the later of them"
    facts.doubts.append(text)


def _find_zone(time: int) -> str | None:
    """Return a zone whose clocks go back in this hour, by the rules of today; None for most."""
    try:
        found = datetime.fromtimestamp(time / 1e6, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    if found.weekday() != SUNDAY:
        return None
    week = (found.day - 1) // 7 if found.month != OCTOBER else (31 - found.day) // 7
    return ZONES.get((found.month, found.hour)) if week == 0 else None


def _choose_series(facts: FileFacts) -> None:
    """Choose `columns_as` for a file with many columns of one kind."""
    numeric = facts.numeric
    if facts.key or facts.time is None or len(numeric) < WIDE_COLUMNS or facts.form != "csv":
        return
    shapes: Counter[tuple[str, ...]] = Counter()
    for column in numeric:
        found = NUMBERED.fullmatch(column.name)
        shapes[found.groups() if found else (column.name,)] += 1
    if max(shapes.values()) < 0.8 * len(facts.columns) - 1:
        return
    reading = replace(facts.io.reading, columns_as=COLUMNS_KEY)
    facts.io = replace(facts.io, key=(COLUMNS_KEY,), reading=reading)
    names = f"{numeric[0].name} to {numeric[-1].name}"
    facts.notes.append(
        f"{len(numeric):,} columns alike, {names}: each is a series of the key series"
    )


def _show_row(facts: FileFacts, table: SampledTable, row: Sequence[str]) -> list[str]:
    """Return a row as it is read: its time, and its cells without tokens."""
    shown = []
    time = facts.time
    if time is not None:
        one = replace_rows(table, row)
        instant = parse_guess(one, time)[0][0]
        text = join_columns(one, time.columns)[0][0]
        shown.append(f"{text}?" if instant is None else show_time(time, instant))
    for column, cell in zip(facts.columns, row, strict=True):
        if time is not None and column.name in time.columns:
            continue
        if column.kind not in NUMERIC:
            shown.append(cell)
            continue
        value = to_number(cell, facts.dialect.decimal, facts.dialect.thousands)
        absent = value is None or cell.strip() in facts.reading.null
        shown.append("" if absent else _show_number(value or 0.0, column.kind))
    return shown


def replace_rows(table: SampledTable, row: Sequence[str]) -> SampledTable:
    """Return a table of one row."""
    return replace(table, rows=[row], parts=())


def _show_number(value: float, kind: str) -> str:
    if kind == "integer" and math.isfinite(value) and abs(value) < 2**53:
        return str(int(value))
    return repr(value)
