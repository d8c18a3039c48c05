"""Looking at a file: bytes to text to a table to facts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_count
from rtbot.graph.model import CsvDialect, Io, ReadOptions
from rtbot.io.source_opener import detect_format
from rtbot.look.column_facts import (
    DetectedSigns,
    SampledTable,
    find_number_signs,
)
from rtbot.look.dotted_clocks import find_dotted_clocks
from rtbot.look.file_facts import STORED, FileFacts
from rtbot.look.file_sample import WHOLE_BYTES, FileSample, read_sample
from rtbot.look.json_table import is_json_lines, read_json_table
from rtbot.look.records import show_delimiter
from rtbot.look.table_facts import describe_table
from rtbot.look.table_layout import TableLayout, find_layout
from rtbot.look.text_encoding import TextSample, decode_sample
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.look.time_guesses import TimeFacts

NAME = "time"

OTHER_FORMS = {
    "zip": "a zip file, as .xlsx and .ods are too: unpack it, or save the sheet as CSV in UTF-8",
    "Excel (xls)": "a sheet of Excel: save it as CSV in UTF-8",
    "bzip2": "compressed with bzip2: unpack it, or compress it with gzip",
    "xz": "compressed with xz: unpack it, or compress it with gzip",
    "zstd": "compressed with zstd: unpack it, or compress it with gzip",
    "feather 1": "Feather of version 1: write it again as Arrow IPC",
}
"""What to do with files that are not read."""


MARKUP = re.compile(
    r"<(?:\?xml|!doctype|html|!--|[a-z][\w:-]*(?:\s[^<>]*)?>\s*(?:<|$))", re.IGNORECASE
)


BRACKETED_NAMES = re.compile(r"<[A-Z]\w*>(?:[,;\t |]<[A-Z]\w*>)+[ \t]*(?:\r|\n|$)")
"""A header as MetaTrader writes it."""


def look_at_file(
    path: str, files: Files | None = None, *, tried: bool = False, limit: int = WHOLE_BYTES
) -> FileFacts:
    """Return what a file is, which is looked at whole up to `limit` bytes.

    `tried` asks to read what was looked at with the options that are found. Raises OSError; what
    is in the file raises nothing.
    """
    files = files or Files()
    sample = read_sample(files, path, limit)
    facts = look_at_sample(path, sample)
    if facts.form in STORED:
        from rtbot.look.stored_table import describe_stored

        describe_stored(files, path, facts)
    if tried:
        from rtbot.look.trial_reading import try_options

        try_options(facts, files, sample)
    return facts


def look_at_sample(path: str, sample: FileSample) -> FileFacts:
    """Return what bytes are, which `path` names."""
    facts = FileFacts(path, sample.form, sample.size, sample.looked, sample.whole, sample.packed)
    facts.unpacked = len(sample.head) if sample.packed else None
    if not sample.head.strip():
        facts.form = "empty"
        facts.obstacles.append("the file is empty")
        return facts
    text = decode_sample(sample) if sample.form == "text" else None
    if sample.form not in ("parquet", "arrow") and text is None:
        hint = OTHER_FORMS.get(sample.form)
        facts.form = "binary" if sample.form == "text" else sample.form
        facts.obstacles.append(hint or f"{facts.form} is not read: write it as CSV or Parquet")
    if text is not None:
        _describe_text(facts, text, sample)
    _check_name(facts)
    return facts


def _describe_text(facts: FileFacts, text: TextSample, sample: FileSample) -> None:
    facts.bom, facts.line_end = text.encoding.bom, text.line_end
    refused = _name_other_text(text)
    if refused:
        facts.form = refused[0]
        facts.obstacles.append(refused[1])
    elif is_json_lines(text.lines):
        facts.form = "jsonl"
        describe_table(facts, read_json_table(text, facts), DetectedSigns())
    else:
        facts.form = "csv"
        _describe_csv(facts, text)
    _estimate_rows(facts, text, sample)
    if text.line_end in ("CR", "mixed"):
        facts.notes.append(f"lines end with {text.line_end}")


def _name_other_text(text: TextSample) -> tuple[str, str] | None:
    """Recognise text that is not a table."""
    start = "\n".join(text.lines[:50]).lstrip()
    if MARKUP.match(start) and not BRACKETED_NAMES.match(start):
        what = "HTML" if "<html" in start.lower() or "<!doctype html" in start.lower() else "XML"
        return what, f"{what} is not read: was a page saved in place of the data?"
    if start.startswith("["):
        return "JSON", "JSON in brackets is not read: write one object per line (.jsonl)"
    if start.startswith("{") and not is_json_lines(text.lines):
        return "JSON", "one JSON object over several lines is not read: one per line (.jsonl)"
    return None


def _describe_csv(facts: FileFacts, text: TextSample) -> None:
    layout = find_layout(text)
    rows = [record.cells for record in layout.rows]
    parts = [[record.cells for record in part] for part in layout.parts]
    table = SampledTable(layout.names, rows, parts)
    clocks = find_dotted_clocks(layout.names, table.columns)
    table = replace(table, clocks=clocks) if clocks else table
    signs = find_number_signs(table, layout.delimiter)
    dialect = CsvDialect(
        layout.delimiter,
        signs.decimal,
        signs.thousands,
        layout.quote,
        text.encoding.name,
        layout.skip,
        layout.skip_after,
        layout.comment,
        layout.names if layout.named else (),
    )
    facts.header = 0 if layout.named and not layout.header else layout.header
    facts.io = Io(reading=ReadOptions(csv=dialect))
    if signs.doubt:
        facts.doubts.append(signs.doubt)
    _note_layout(facts, layout, text)
    describe_table(facts, table, signs)
    if layout.across:
        _refuse_times_across(facts, layout.across)
    if not layout.header and facts.time is not None and len(facts.time.columns) == 1:
        _rename_time(facts, facts.time)


def _refuse_times_across(facts: FileFacts, times: list[str]) -> None:
    """Say that columns are times, whatever else looks like one."""
    found = facts.time
    doubts = [f"{found.columns[0]}: {doubt}" for doubt in found.doubts] if found else []
    facts.doubts = [text for text in facts.doubts if text not in doubts]
    span = f"{times[0]!r} to {times[-1]!r}"
    what = f"columns are times, {span}: a row for every time is read, so turn the table"
    facts.time, facts.obstacles = None, [what]


def _rename_time(facts: FileFacts, time: TimeFacts) -> None:
    """Name the time column of a file without a header `time`, which then need not be given."""
    old = time.columns[0]
    names = tuple(NAME if name == old else name for name in facts.dialect.names)
    facts.columns = [replace(c, name=NAME) if c.name == old else c for c in facts.columns]
    facts.time = replace(time, columns=(NAME,))
    csv = replace(facts.dialect, names=names)
    facts.io = replace(facts.io, time=(), reading=replace(facts.io.reading, csv=csv))
    for texts in (facts.notes, facts.doubts):
        texts[:] = [re.sub(rf"^{re.escape(old)}:", f"{NAME}:", text) for text in texts]


def _note_layout(facts: FileFacts, layout: TableLayout, text: TextSample) -> None:
    """Note how the file is laid out, where it is not as files that need no option."""
    notes: list[tuple[bool | int | str, Callable[[], str]]] = [
        (layout.stated, lambda: f"line 1 states the delimiter: {layout.delimiter!r}"),
        (
            layout.delimiter != "," and not layout.stated,
            lambda: f"separated by {show_delimiter(layout.delimiter)}",
        ),
        (layout.quote != '"', lambda: f"quoted with {layout.quote}"),
        (text.encoding.reason, lambda: text.encoding.reason),
        (layout.header > 1, lambda: f"the header is in line {layout.header}"),
        (not layout.header, lambda: "there is no header: the first line has values"),
        (layout.comment, lambda: f"lines that begin with {layout.comment!r} are comments"),
        (
            layout.skip_after,
            lambda: f"{format_count(layout.skip_after, 'line')} of units or types after the header",
        ),
    ]
    facts.notes += [make() for applies, make in notes if applies]
    facts.doubts += layout.doubts
    if layout.footer:
        facts.doubts.append(f"no rows at the end: {_name_lines(layout.footer)}")
    if layout.short:
        facts.doubts.append(f"another number of cells: {_name_lines(layout.short)}")
    if layout.short or layout.footer:
        facts.io = replace(facts.io, bad="drop")
    if layout.fit < 0.55 and len(layout.names) > 1:
        facts.doubts.append("cells look mixed: perhaps another sign separates them")
    if len(layout.names) < 2:
        facts.obstacles.append("there is one column: a time and a value need two")


def _name_lines(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:5]))
    return f"line{'s' * (len(lines) > 1)} {shown}" + (", ..." if len(lines) > 5 else "")


def _estimate_rows(facts: FileFacts, text: TextSample, sample: FileSample) -> None:
    facts.rows_total = facts.rows
    if sample.whole or not text.lines:
        return
    facts.rows_total = round(sample.size * facts.rows / max(sample.looked, 1))
    later = f" and {len(sample.parts)} later parts" if sample.parts else ""
    facts.notes.append(f"looked at its beginning{later}: the rest may be otherwise")


def _check_name(facts: FileFacts) -> None:
    """Note where the name of the file promises another format than it has."""
    if facts.file == STANDARD or facts.form not in ("csv", "jsonl", "parquet", "arrow"):
        return
    named = detect_format(facts.file)
    if named == facts.form:
        return
    facts.form_option = facts.form
    what = "no known format" if named is None else named
    facts.notes.append(f"the name means {what}, the bytes are {facts.form}")
