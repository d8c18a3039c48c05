"""A graph to start from that runs on a file as it is."""

from __future__ import annotations

import re
import shlex
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.look.change_files import render_change_graph, render_change_run
from rtbot.look.io_lines import quote_scalar, render_io
from rtbot.look.series_facts import DAY, has_key_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.column_facts import ColumnFacts
    from rtbot.look.file_facts import FileFacts

INPUTS_MAX = 3
"""So many columns become inputs of the graph."""

LEFT_OUT = 8
"""So many further columns are named in it."""

ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,55}")
ROW_WORD = re.compile(
    r"(?i:(?:.*[_ ])?(?:id|index|nr|no|row|record|seq|table)|)|.*[a-z](?:ID|Id|Nr|No)"
)
TAKEN = re.compile(
    r"t|time|input|value_|null|true|false|yes|no|on|off|y|n|nan|inf"
    r"|and|or|not|if|min|max|abs|sqrt|exp|log|floor|ceil|sign|round|isnan"
    r"|coalesce|.*_mean",
    re.IGNORECASE,
)
"""Names that the graph, or an expression that is added later, has already."""

LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe"}
    | {"ł": "l", "đ": "d", "ð": "d", "þ": "th"}
)
"""Small letters that are more than one of ASCII with a mark, and how they are written with it."""

LONG = 10**7
"""Integers from this on that are as long as each other, and all different, name things."""

HOUR, MINUTE = DAY // 24, DAY // 1440
SPANS = ((MINUTE, "a minute"), (HOUR, "an hour"), (DAY, "a day"), (7 * DAY, "a week"))
WINDOW, WINDOW_MAX = 20, 100


@dataclass(frozen=True, slots=True)
class StarterInput:
    """An input of the graph and the column that feeds it; `own` is whether it has its name."""

    name: str
    column: str

    @property
    def own(self) -> bool:
        """Whether the input is named like the column."""
        return self.name == self.column


def render_starter_graph(facts: FileFacts, title: str) -> str:
    """Return the text of a graph that smooths the first columns of numbers of a file.

    Of a table that changes it counts the rows of groups. Raises DataError if the file cannot be
    read, or has no times or no numbers.
    """
    if facts.changes:
        _check_file(facts)
        return render_change_graph(facts, title, name_table(facts))
    inputs = choose_inputs(facts)
    window, span = _choose_window(facts)
    lines = [
        f"name: {quote_scalar(title)}",
        f"description: {quote_scalar(f'moving averages of {facts.file}')}",
        "",
        "params:",
        f"  window: {{type: integer, default: {window}, min: 1, doc: messages in a mean}}{span}",
        "",
        "inputs:",
        *(f"  {one.name}: number{_name_column(one)}" for one in inputs),
        *_list_left_out(facts, inputs),
        "",
        "operators:",
        *(
            f"  {one.name}_mean: {{type: MovingAverage, in: {one.name}, window: $window}}"
            for one in inputs
        ),
        "",
        "outputs:",
        *(f"  {name}: {name}" for one in inputs for name in (one.name, f"{one.name}_mean")),
    ]
    section = render_io(facts)
    doubts = [f"# {line}" for doubt in facts.doubts for line in doubt.splitlines()]
    if section:
        lines += ["", *doubts, section.rstrip("\n")]
    return "\n".join(lines) + "\n"


def render_run(facts: FileFacts, graph: str, chart: str, target: str) -> str:
    """Return the command line that runs the graph on the file and draws a chart."""
    if facts.changes:
        end = "-o", target, "--plot", chart
        return render_change_run(facts, graph, name_table(facts), *end)
    inputs = choose_inputs(facts)
    words = ["rtbot", "run", graph]
    if facts.io.reading.columns_as is not None or all(one.own for one in inputs):
        words.append(facts.file)
    else:
        for one in inputs:
            words += ["--in", f"{one.name}={facts.file}:{one.column}"]
    if facts.form_option is not None:
        words += ["--input-format", facts.form_option]
    return " ".join(map(shlex.quote, [*words, "-o", target, "--plot", chart]))


def choose_inputs(facts: FileFacts) -> list[StarterInput]:
    """Return the inputs for the columns of numbers that vary, or for all of them; at most three."""
    _check_file(facts)
    if facts.io.reading.columns_as is not None:
        return [StarterInput("value", "")]
    columns = _choose_columns(facts)
    if not columns:
        message, hint = "there is no column of numbers", f"rtbot look {shlex.quote(facts.file)}"
        raise DataError(message, code="RT204", hint=hint, file=facts.file)
    names: list[str] = []
    for column in columns[:INPUTS_MAX]:
        names.append(_make_id(column.name, names))
    return [StarterInput(n, c.name) for n, c in zip(names, columns, strict=False)]


def _choose_columns(facts: FileFacts) -> list[ColumnFacts]:
    """Return the columns of numbers that vary, or all of them if none does."""
    columns = [column for column in facts.numeric if column.kind != "code"]
    return [c for c in columns if c.least != c.greatest and not _names_things(c)] or columns


def _list_left_out(facts: FileFacts, inputs: Sequence[StarterInput]) -> list[str]:
    """Return a comment that names further columns of numbers, if there are any."""
    if facts.io.reading.columns_as is not None:
        return []
    left = [quote_scalar(column.name) for column in _choose_columns(facts)[len(inputs) :]]
    more = [f"and {len(left) - LEFT_OUT:,} more"] if len(left) > LEFT_OUT else []
    return [f"  # further columns of numbers: {', '.join([*left[:LEFT_OUT], *more])}"] * bool(left)


def _check_file(facts: FileFacts) -> None:
    if facts.obstacles or facts.time is None:
        hint = "; ".join(facts.obstacles)
        message = "no graph can be made for this file"
        raise DataError(message, code="RT208", hint=hint, file=facts.file)


def name_table(facts: FileFacts) -> str:
    """Return a name for the table that a file is."""
    return _make_id(Path(facts.file).name.partition(".")[0], ())


def _names_things(column: ColumnFacts) -> bool:
    """Return whether a column is likely to count rows or name things."""
    if ROW_WORD.fullmatch(column.name.strip()):
        return True
    if column.kind != "integer" or column.least is None or column.greatest is None:
        return False
    if has_key_word(column.name):
        return True
    counted = column.greatest - column.least + 1 == column.distinct
    alike = column.least >= LONG and len(f"{column.least:.0f}") == len(f"{column.greatest:.0f}")
    return column.distinct == column.cells - column.empty > 2 and (counted or alike)


def _make_id(name: str, taken: Sequence[str]) -> str:
    """Return the name as an id, changed if it is none or if it is taken."""
    bare = name
    if not ID.fullmatch(name) or TAKEN.fullmatch(name):
        bare = re.sub(r"[^a-z0-9]+", "_", _write_ascii(name)).strip("_")[:50] or "value"
        bare = bare if bare[0].isalpha() else f"column_{bare}"
        bare = f"{bare}_in" if TAKEN.fullmatch(bare) else bare
    count, found = 1, bare
    while found.lower() in (one.lower() for one in taken):
        count += 1
        found = f"{bare}_{count}"
    return found


def _write_ascii(name: str) -> str:
    """Return a name in small letters, those of other alphabets than ASCII left out or replaced."""
    text = unicodedata.normalize(
        "NFKD", unicodedata.normalize("NFC", name).lower().translate(LETTERS)
    )
    return "".join(c for c in text if not unicodedata.combining(c))


def _name_column(one: StarterInput) -> str:
    return "" if one.own or not one.column else f"   # column {quote_scalar(one.column)}"


def _choose_window(facts: FileFacts) -> tuple[int, str]:
    """Return how many messages go into a mean, and as a comment what time that is."""
    series = facts.time.series if facts.time is not None else None
    longest = max(facts.rows // max(facts.key_count, 1) // 3, 2)
    if series is None or series.step is None or series.share < 0.5:
        return min(WINDOW, longest), ""
    for length, name in SPANS:
        count = length // series.step
        if 5 <= count <= min(longest, WINDOW_MAX) and length % series.step == 0:
            return count, f"   # {name}"
    return min(WINDOW, longest), ""
