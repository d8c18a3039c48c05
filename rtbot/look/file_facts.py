"""All that is found out about a file, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.graph.model import CsvDialect, Io, ReadOptions
from rtbot.look.series_facts import describe_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.column_facts import ColumnFacts
    from rtbot.look.series_facts import SeriesFacts
    from rtbot.look.time_guesses import TimeFacts

STORED = ("parquet", "arrow")
"""Formats whose files have names and types of columns themselves."""


@dataclass(slots=True)
class TrialReading:
    """What came of reading the sample with the options: rows read, and what was refused.

    `problems` are messages with their counts, `skipped` says why it was not tried.
    """

    rows: int = 0
    bad: int = 0
    problems: dict[str, int] = field(default_factory=dict)
    skipped: str = ""


@dataclass(slots=True)
class FileFacts:
    """What a file is. All of it is a guess from the bytes that were looked at.

    `form` is csv, jsonl, parquet, arrow, or what else it is. `size` and `looked` are bytes of
    the file, `unpacked` those of the content of a compressed one that were looked at; `whole` is
    whether all were. `rows` were looked at, of about `rows_total`. `notes`
    are facts with their reasons, `doubts` what may be otherwise, `obstacles` what no option reads.
    `changes` is the column that says what is inserted and deleted, "" if there is none.
    `header` is a line, 0 without one. `first_rows` are rows as they are read. `clocks_changed` is
    whether an hour is there twice, as where daylight saving time ends.
    """

    file: str
    form: str
    size: int = 0
    looked: int = 0
    whole: bool = True
    packed: bool = False
    unpacked: int | None = None
    line_end: str = ""
    bom: bool = False
    header: int = 0
    rows: int = 0
    rows_total: int = 0
    columns: list[ColumnFacts] = field(default_factory=list)
    time: TimeFacts | None = None
    other_times: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    key_count: int = 0
    io: Io = field(default_factory=Io)
    form_option: str | None = None
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    first_rows: list[list[str]] = field(default_factory=list)
    trial: TrialReading | None = None
    clocks_changed: bool = False
    changes: str = ""

    @property
    def reading(self) -> ReadOptions:
        """How values are written, as options."""
        return self.io.reading

    @property
    def dialect(self) -> CsvDialect:
        """How a CSV file is written, as options."""
        return self.io.reading.csv

    @property
    def numeric(self) -> list[ColumnFacts]:
        """The columns of numbers that are neither times nor keys."""
        taken = {*(self.time.columns if self.time else ()), *self.key, *self.other_times}
        taken.add(self.changes)
        kinds = ("number", "integer")
        return [c for c in self.columns if c.kind in kinds and c.name not in taken]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        return {
            "file": self.file,
            "format": self.form,
            "bytes": self.size,
            "bytes_looked_at": self.looked,
            "whole": self.whole,
            "compressed": self.packed,
            "bytes_unpacked": self.unpacked,
            "encoding": {"name": self.dialect.encoding, "bom": self.bom},
            "line_end": self.line_end,
            "csv": asdict(self.dialect) if self.form == "csv" else None,
            "header": self.header or None,
            "rows": self.rows,
            "rows_estimated": self.rows_total,
            "columns": [_column_to_json(column) for column in self.columns],
            "time": None if self.time is None else _time_to_json(self.time),
            "other_times": list(self.other_times),
            "key": {"columns": list(self.key), "count": self.key_count} if self.key else None,
            "columns_as": self.reading.columns_as,
            "changes": self.changes or None,
            "notes": self.notes,
            "doubts": self.doubts,
            "obstacles": self.obstacles,
            "first_rows": self.first_rows,
            "io": self.suggest_io(),
            "tried": None if self.trial is None else asdict(self.trial),
        }

    def suggest_io(self) -> str:
        """Return the lines of the `io` section that reads the file; "" if none are needed."""
        from rtbot.look.io_lines import render_io

        return render_io(self)


def _column_to_json(column: ColumnFacts) -> dict[str, Any]:
    found = asdict(column)
    return found | {"known": list(column.known)}


def _time_to_json(time: TimeFacts) -> dict[str, Any]:
    series = time.series
    return {
        "columns": list(time.columns),
        "time_format": time.form,
        "integers": time.integer,
        "unit": time.unit,
        "naive": time.naive,
        "other_formats": list(time.others),
        "first": show_time(time, series.first),
        "last": show_time(time, series.last),
        "step": show_step(time, series),
        "step_share": round(series.share, 4),
        "median_step": None if series.median is None else show_length(time, series.median),
        "gaps": series.gaps,
        "longest_gap": show_length(time, series.gap) if series.gaps else None,
        "order": series.order,
        "late": series.late,
        "lateness": show_length(time, series.lateness) if series.late else None,
        "duplicates": series.duplicates,
        "unread": time.bad,
    }


def counts_instants(time: TimeFacts) -> bool:
    """Return whether times are instants, rather than integers of which nothing is known."""
    return not time.integer or time.unit is not None


def show_time(time: TimeFacts, value: int) -> str:
    """Return a time as text."""
    if not counts_instants(time):
        return f"{value}"
    dates = time.series.dates
    return format_instant(value, date=dates) + ("" if time.naive or dates else "Z")


def show_length(time: TimeFacts, length: int) -> str:
    """Return a distance of times as text."""
    return describe_duration(length) if counts_instants(time) else f"{length:,}"


def show_step(time: TimeFacts, series: SeriesFacts) -> str | None:
    """Return the usual distance of times as text."""
    if series.step is None:
        return None
    return series.calendar or show_length(time, series.step)


def list_problems(facts: FileFacts) -> Sequence[str]:
    """Return what is to be known before the file is used."""
    return [*facts.obstacles, *facts.doubts]
