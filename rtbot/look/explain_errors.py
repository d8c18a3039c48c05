"""Errors about a file, with what the file looks like and the options that would read it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_count
from rtbot.look.io_lines import render_io
from rtbot.look.look_at_file import look_at_file
from rtbot.look.records import show_delimiter
from rtbot.look.table_facts import NO_TIMES
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.core.errors import DataError
    from rtbot.graph.model import Io
    from rtbot.look.file_facts import FileFacts

FORM_CODES = frozenset(
    {"RT204", "RT205", "RT207", "RT208", "RT209", "RT210", "RT211", "RT215", "RT218", "RT219"}
)
"""Errors by which a file may be written in another way than the options say."""

CELL_CODES = frozenset({"RT201", "RT212", "RT213"})
"""Errors of one cell: explained if its signs or its token are those of the column."""

ORDER_CODES = frozenset({"RT202", "RT203"})
"""Errors of rows that are no series: explained by a key, or by an hour that is there twice."""

TIME_CODES = frozenset({"RT204", "RT205", "RT211", "RT218"})
GRAPH_SUFFIXES = (".yaml", ".yml")
DOUBTS_SHOWN = 6
LOOKED = 1 << 20
"""Files up to so many bytes are looked at whole for an error."""

INDENT = "\n     "


def explain_error(error: DataError, used: Sequence[Io], *, keyed: bool = True) -> None:
    """Add to the hint of an error what its file looks like, unless that is what the options say."""
    if error.code not in FORM_CODES | CELL_CODES | ORDER_CODES:
        return
    path = error.file
    files = Files()
    if not path or path in (STANDARD, "stdin") or path.lower().endswith(GRAPH_SUFFIXES):
        return
    if not files.is_regular(path):
        return
    try:
        facts = look_at_file(path, files, limit=LOOKED)
    except Exception:  # noqa: BLE001 (the error of the file is what counts, whatever looking meets)
        return
    if not keyed:
        facts.io = replace(facts.io, key=())
        facts.doubts = [text for text in facts.doubts if not text.startswith("key ")]
    if all(_differs(facts, io, error) for io in used):
        error.hint = INDENT.join(filter(None, [error.hint, *_list_lines(facts)]))


def _differs(facts: FileFacts, used: Io, error: DataError) -> bool:
    """Return whether the file looks otherwise than the options say, where that is of use."""
    if error.code in ORDER_CODES:
        return _differs_in_series(facts, used)
    if _differs_in_form(facts, used) or _list_new_tokens(facts, used, error.column):
        return True
    if error.code not in FORM_CODES:
        return False
    if _list_obstacles(facts) or facts.form_option:
        return True
    new_time = facts.io.time != used.time and not (used.time and {*used.time} <= _names(facts))
    new_format = facts.io.reading.time_format != used.reading.time_format
    return error.code in TIME_CODES and facts.time is not None and (new_time or new_format)


def _list_obstacles(facts: FileFacts) -> list[str]:
    """Return what no options read; that there are no times is what the error says itself."""
    return [text for text in facts.obstacles if text != NO_TIMES]


def _differs_in_form(facts: FileFacts, used: Io) -> bool:
    """Return whether cells would be other ones; a name that is given is as good as another."""
    if facts.form != "csv":
        return False
    ours, theirs = facts.io.reading.csv, used.reading.csv
    names = [field.name for field in fields(ours) if field.name != "names"]
    if theirs.names and len(theirs.names) == len(facts.columns):
        names = [name for name in names if name not in ("skip", "skip_after")]
    elif bool(ours.names) != bool(theirs.names):
        return True
    return any(getattr(ours, name) != getattr(theirs, name) for name in names)


def _list_new_tokens(facts: FileFacts, used: Io, column: str | None) -> list[str]:
    """Return the tokens of a column that the options do not have."""
    found = [fact for fact in facts.columns if fact.name == column]
    tokens = {token for fact in found for token in fact.tokens}
    return [t for t in facts.io.reading.null if t in tokens and t not in used.reading.null]


def _names(facts: FileFacts) -> set[str]:
    return {column.name for column in facts.columns}


def _differs_in_series(facts: FileFacts, used: Io) -> bool:
    if facts.time is None or _differs_in_form(facts, used):
        return False
    new_key = bool(facts.io.key) and not {*facts.io.key} <= {*used.key}
    return new_key or (facts.clocks_changed and used.reading.timezone is None)


def _list_lines(facts: FileFacts) -> Iterator[str]:
    """Yield what the file looks like, what is not certain, and the lines that would read it."""
    traits = list_traits(facts)
    if traits:
        yield f"{facts.file} looks like this: {', '.join(traits)}"
    if facts.form_option is not None:
        yield f"whatever its name, it is {facts.form}: say --input-format {facts.form_option}"
    yield from _list_obstacles(facts)
    yield from facts.doubts[:DOUBTS_SHOWN]
    section = render_io(facts)
    if section and not facts.obstacles:
        yield "these lines in the graph would read it:"
        yield from (f"  {line}" for line in section.splitlines())


def list_traits(facts: FileFacts) -> list[str]:
    """Return in a few words each how a file differs from one that needs no option."""
    if facts.form not in ("csv", "jsonl"):
        return [facts.form]
    reading = facts.reading
    traits = ["JSON lines"] if facts.form == "jsonl" else _list_csv_traits(facts)
    if reading.null:
        traits.append(f"{', '.join(map(repr, reading.null))} for no value")
    if facts.time is not None and (facts.io.time or facts.time.form):
        form = f" as {facts.time.form}" if facts.time.form else ""
        traits.append(f"times in {' + '.join(map(repr, facts.time.columns))}{form}")
    return traits


def _list_csv_traits(facts: FileFacts) -> list[str]:
    dialect = facts.dialect
    after = dialect.skip_after
    found = {
        f"separated by {show_delimiter(dialect.delimiter)}": dialect.delimiter != ",",
        "with decimal commas": dialect.decimal != ".",
        f"{dialect.thousands!r} between thousands": dialect.thousands,
        f"in {dialect.encoding}": dialect.encoding != "utf-8",
        f"header in line {facts.header}": facts.header > 1,
        "no header": not facts.header,
        f"comments after {dialect.comment!r}": dialect.comment,
        f"{format_count(after, 'line')} of units or types after the header": after,
    }
    return [text for text, applies in found.items() if applies]
