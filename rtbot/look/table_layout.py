"""Where the table is in a text: what is before the header, the header, units after it, the rows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_count
from rtbot.look.cell_forms import (
    CLOCK,
    EMPTY,
    MEASURE,
    NUMBER,
    TEXT,
    TIME,
    describe_cell,
    is_absent,
)
from rtbot.look.records import (
    Record,
    TextLine,
    choose_delimiter,
    find_comment_sign,
    find_width,
    rate_records,
    split_records,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.text_encoding import TextSample

HEADER_REACH = 8
"""The header is among so many records before the first row."""

EXAMINED = 1000
"""So many records, from all parts of the text, tell what cells look like."""

ACROSS = re.compile(r"(?:1[6-9]|20)[0-9]{2}(?:[- ]?[MQWSH]?[0-9]{1,2})?")
ACROSS_MIN = 3
"""Years and months as names of columns, and how many of them there are at least."""

SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)

TIME_WORD = re.compile(
    r"(?:^|[^a-z])(?:date|time|day|datetime|timestamp|ts|utc|datum|zeit|tag|uhrzeit|zeitstempel"
    r"|fecha|hora|horodate|heure|jour|data|ora|czas|epoch|period|mtu|x_value"
    r"|tijd|tidspunkt|year|yyyy|yy)"
    r"(?:[^a-z]|$)|time$|^time|date$|^date|zeit$",
    re.IGNORECASE,
)
UNIT_WORD = re.compile(
    r"[(\[].*[)\]]|[%°\u2030-]|(?:deg|°)\s?[a-z]*|[kmgµu]?(?:w|wh|v|a|hz|pa|m|g|l|s|j|b)|hpa|mbar"
    r"|m/s|km/h|mph|kts?|in|ft|mi|mm|cm|sec|min|hr|mo|dy|yr|mn|usd|eur|gbp|unitless|ts|rn|smp|avg"
    r"|mg/dl|mmol/l|w/m\^?2|volts?|nmi|hg|inhg|ppm|ppb|psi|[0-9]+[sdnf]",
    re.IGNORECASE,
)
TYPE_WORD = re.compile(
    r"string|str|text|varchar|char|long|int(?:eger)?(?:32|64)?|double|float(?:32|64)?|real|number"
    r"|numeric|decimal|bool(?:ean)?|date|datetime|time|timestamp|datetime:rfc3339(?:nano)?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class TableLayout:
    """How a text is laid out: the options that read it, and its rows.

    `names` are the columns as they are named by the header, or would have to be named; `named` is
    whether they must be given, as there is no header that does. `header` is the line of the header,
    0 if there is none; `skip` and `skip_after` are lines before and after it. `parts` are rows of
    later parts. `across` are times that are names of columns. `short` are the lines of records that
    have another number of cells, `footer` those at the end that are no rows.
    """

    delimiter: str
    quote: str
    fit: float
    comment: str = ""
    stated: bool = False
    skip: int = 0
    skip_after: int = 0
    header: int = 0
    named: bool = False
    names: tuple[str, ...] = ()
    rows: list[Record] = field(default_factory=list)
    parts: list[list[Record]] = field(default_factory=list)
    across: list[str] = field(default_factory=list)
    short: list[int] = field(default_factory=list)
    footer: list[int] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


def find_layout(text: TextSample) -> TableLayout:
    """Find the table in a text."""
    lines = [TextLine(number, line) for number, line in enumerate(text.lines, 1)]
    stated = SEPARATOR_LINE.fullmatch(lines[0].text.strip()) if lines else None
    comment = find_comment_sign(lines[bool(stated) :])
    plain = lines[bool(stated) :]
    if comment:
        plain = [line for line in plain if not _is_comment(line, comment)]
    delimiter, quote, fit = choose_delimiter(plain)
    if stated is not None:
        delimiter = stated[1]
    layout = TableLayout(delimiter, quote, fit, comment, stated is not None)
    records = split_records(plain, delimiter, quote)
    remarks = [line for line in lines if _is_comment(line, comment)] if comment else []
    _place_table(layout, records, remarks)
    layout.fit = rate_records(layout.rows[:: len(layout.rows) // EXAMINED + 1], delimiter)
    width = len(layout.names)
    for part in text.parts:
        found = [TextLine(0, line) for line in part if not (comment and line.startswith(comment))]
        rows = split_records(found, delimiter, quote)
        layout.parts.append([row for row in rows if len(row.cells) == width])
    return layout


def _is_comment(line: TextLine, sign: str) -> bool:
    return line.text.startswith(sign)


def _place_table(layout: TableLayout, records: list[Record], remarks: Sequence[TextLine]) -> None:
    """Find the header and the rows among the records."""
    width = find_width(records)
    kinds = find_kinds(records[len(records) // 2 :], width)
    across = _find_times_across(records[:HEADER_REACH], width)
    first = _find_first_row(records, width, kinds) if across is None else across + 1
    before = records[:first]
    body = records[first:]
    begin = body[0].line if body else (records[-1].last + 1 if records else 1)
    leading = [line for line in remarks if line.number < begin]
    candidates = [r for r in before[-HEADER_REACH:] if abs(len(r.cells) - width) <= 1]
    header = _find_series_header(before, width) or _choose_header(candidates, width, kinds)
    if across is not None:
        header = records[across]
        layout.across = _list_times(header)
    if header is None and leading and not before:
        _take_commented_header(layout, leading, remarks, width, begin)
    elif header is not None:
        _take_header(layout, header, before, width)
        layout.skip_after = max(before[-1].last - header.last, 0)
        _doubt_skipped(layout, [r for r in before if r.line > header.line])
        _decide_skip(layout, records, remarks, header)
    if not layout.names:
        layout.named = True
        layout.names = tuple(f"column_{place}" for place in range(1, width + 1))
        if before:
            layout.skip = before[-1].last
    _split_body(layout, body, width, kinds)


def _doubt_skipped(layout: TableLayout, records: Sequence[Record]) -> None:
    """Doubt that lines behind the header are of units where they have numbers."""
    for record in records:
        kinds = [describe_cell(cell).kind for cell in record.cells]
        if 2 * kinds.count(NUMBER) > len(kinds) - kinds.count(EMPTY):
            count = format_count(len(kinds), "cell")
            layout.doubts.append(f"line {record.line} has {count}, and is left out")


def find_kinds(records: Sequence[Record], width: int) -> list[str]:
    """Return the kind that most cells of each column have, "text" if none has three of five."""
    chosen = records[:: len(records) // EXAMINED + 1]
    found = []
    for place in range(width):
        cells = [r.cells[place] for r in chosen if len(r.cells) == width]
        counts = Counter(describe_cell(cell).kind for cell in cells if not is_absent(cell))
        counts.pop(EMPTY, None)
        kind, count = counts.most_common(1)[0] if counts else (EMPTY, 0)
        found.append(kind if count >= 0.6 * counts.total() else "text")
    return found


def is_row(record: Record, width: int, kinds: Sequence[str]) -> bool:
    """Return whether a record has the kinds of the columns where these are numbers or times."""
    if len(record.cells) != width:
        return False
    agree: list[int] = []
    differ: list[int] = []
    for place, (cell, kind) in enumerate(zip(record.cells, kinds, strict=True)):
        form = describe_cell(cell)
        if kind not in (NUMBER, TIME, CLOCK, MEASURE) or form.kind == EMPTY or is_absent(cell):
            continue
        (agree if form.kind == kind else differ).append(place)
    leading = [place for place, kind in enumerate(kinds) if kind in (TIME, CLOCK)]
    leading = leading or [place for place, kind in enumerate(kinds) if kind == NUMBER]
    return bool(agree) and len(agree) >= len(differ) and leading[0] not in differ


def _find_first_row(records: Sequence[Record], width: int, kinds: Sequence[str]) -> int:
    """Return where the rows begin; where nothing is typed the first record is a header."""
    if not any(kind in (NUMBER, TIME, CLOCK) for kind in kinds):
        wide = (place for place, r in enumerate(records) if len(r.cells) == width)
        return next(wide, -1) + 1
    for place, record in enumerate(records):
        if is_row(record, width, kinds):
            after = records[place + 1 : place + 4]
            if 2 * (1 + sum(is_row(one, width, kinds) for one in after)) > len(after):
                return place
    return len(records)


def _find_series_header(before: Sequence[Record], width: int) -> Record | None:
    """Return the first record if it names series, and the next ones describe them.

    It has an empty cell and then codes; the others begin with what they describe. The Bundesbank
    writes such files.
    """
    if len(before) < 3:
        return None
    first, *others = before
    codes = [cell.strip() for cell in first.cells[1:]]
    if len(first.cells) != width or first.cells[0].strip() or len({*codes}) != width - 1:
        return None
    coded = all(re.fullmatch(r"[A-Za-z][\w.]*", code) and "." in code for code in codes)
    labels = [record.cells[0].strip() for record in others]
    plain = sum(bool(label) and not TIME_WORD.search(label.lower()) for label in labels)
    return first if coded and plain else None


def _find_times_across(records: Sequence[Record], width: int) -> int | None:
    """Return which record has times as names of columns, behind names of what rows are; or None."""
    for place, record in enumerate(records):
        times = _list_times(record)
        if len(record.cells) != width or len(times) < ACROSS_MIN:
            continue
        later = [len(_list_times(other)) for other in records[place + 1 :]]
        rising = sorted(times, key=_order_time) in (times, times[::-1])
        if rising and later and max(later) < ACROSS_MIN:
            return place
    return None


def _list_times(record: Record) -> list[str]:
    """Return the cells at the end of a record if they are times, and those before are names."""
    cells = [cell.strip() for cell in record.cells]
    while cells and not cells[-1]:
        cells.pop()
    start = next((place for place, cell in enumerate(cells) if _is_time(cell)), 0)
    names, times = cells[:start], cells[start:]
    plain = all(name and describe_cell(name).kind == TEXT for name in names)
    return times if names and plain and all(map(_is_time, times)) else []


def _is_time(cell: str) -> bool:
    return ACROSS.fullmatch(cell) is not None or describe_cell(cell).kind == TIME


def _order_time(text: str) -> list[int]:
    """Return what orders times that are written alike: their parts, a year of four digits first."""
    parts = [int(part) for part in re.findall("[0-9]+", text)]
    if "/" in text and len(parts) == 3:
        return [parts[2], parts[0], parts[1]]
    return parts[::-1] if "." in text else parts


def _choose_header(candidates: Sequence[Record], width: int, kinds: Sequence[str]) -> Record | None:
    rated = [(_rate_header(r, width, kinds), place, r) for place, r in enumerate(candidates)]
    score, _, best = max(rated, key=lambda one: one[:2], default=(0.0, 0, None))
    return best if score > 0 else None


def _rate_header(record: Record, width: int, kinds: Sequence[str]) -> float:
    """Return how much a record looks like names of columns; not above 0 if it does not."""
    cells = [cell.strip() for cell in record.cells]
    forms = [describe_cell(cell).kind for cell in cells]
    filled = [cell for cell in cells if cell]
    if not filled or forms.count(TIME) + forms.count(CLOCK) > 0:
        return 0.0
    score = (len(filled) + len(set(filled))) / len(cells)
    score -= 1.5 * forms.count(NUMBER) / len(cells)
    units = sum(bool(UNIT_WORD.fullmatch(c) or TYPE_WORD.fullmatch(c)) for c in filled)
    score -= 1.5 * (units > 0.5 * len(filled) and units > 1)
    timed = [place for place, kind in enumerate(kinds) if kind in (TIME, CLOCK)]
    if any(place < len(cells) and TIME_WORD.search(cells[place]) for place in timed):
        score += 1.0
    return score - 0.5 * (len(cells) != width)


def _take_header(layout: TableLayout, header: Record, before: list[Record], width: int) -> None:
    """Take the names of the header; where they cannot be used as they are, names must be given."""
    layout.header = header.line
    names = _trim_names(header.cells)
    if len(names) == width + 1 and not names[-1].strip():
        layout.doubts.append(f"the header ends with a delimiter, and its {width} columns do not")
        names.pop()
        layout.named = True
    elif len(names) != width:
        count = f"{len(names)} names in line {header.line}, and rows have {width} cells"
        layout.doubts.append(count)
        names = [*names, *(f"column_{place}" for place in range(len(names) + 1, width + 1))][:width]
        layout.named = True
    filled = [name for name in names if name.strip()]
    if len(set(filled)) < len(filled):
        above = [r for r in before if r.line < header.line and len(r.cells) == len(header.cells)]
        names = _join_header_lines(above[-1].cells if above else (), names)
        layout.doubts.append(f"names of line {header.line} are there twice")
        layout.named = True
    layout.names = tuple(names)


def _trim_names(names: Sequence[str]) -> list[str]:
    """Remove blanks around names, except where two would then be equal."""
    counts = Counter(name.strip() for name in names)
    return [name.strip() if counts[name.strip()] == 1 else name for name in names]


def _join_header_lines(above: Sequence[str], names: Sequence[str]) -> list[str]:
    """Make names distinct: by the line above where it has something, or by a number."""
    upper = [*above, *[""] * len(names)][: len(names)]
    joined = [f"{high} {low}".strip() for high, low in zip(upper, names, strict=True)]
    counts: Counter[str] = Counter()
    found = []
    for name in joined:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return found


def _take_commented_header(
    layout: TableLayout,
    leading: Sequence[TextLine],
    remarks: Sequence[TextLine],
    width: int,
    begin: int,
) -> None:
    """Take a comment before the rows as header if it has as many names as there are columns."""
    raw = split_records(leading, layout.delimiter, layout.quote)
    bare = [TextLine(line.number, line.text.lstrip(layout.comment + " ")) for line in leading]
    stripped = split_records(bare, layout.delimiter, layout.quote)
    wide = [r for r in stripped[-HEADER_REACH:] if len(r.cells) == width]
    header = _choose_header(wide, width, [])
    if header is None:
        return
    written = next((r for r in raw if r.line == header.line), header)
    layout.header = header.line
    alone = all(line.number < begin for line in remarks)
    if alone and len(written.cells) == width:
        layout.names, layout.comment = tuple(_trim_names(written.cells)), ""
        layout.skip = header.line - 1
        layout.skip_after = leading[-1].number - header.line
    else:
        layout.names, layout.named = tuple(_trim_names(header.cells)), True


def _decide_skip(
    layout: TableLayout, records: Sequence[Record], remarks: Sequence[TextLine], header: Record
) -> None:
    """Decide how many lines are before the header, and if comments have to be left out."""
    above = [record for record in records if record.line < header.line]
    if above or layout.named:
        later = any(line.number > header.line for line in remarks)
        layout.skip = header.line - 1
        layout.comment = layout.comment if later else ""
    if layout.named:
        layout.skip = header.last + layout.skip_after
        layout.skip_after = 0


def _split_body(
    layout: TableLayout, body: Sequence[Record], width: int, kinds: Sequence[str]
) -> None:
    """Sort records into rows, records of other lengths, and lines at the end that are no rows."""
    end = len(body)
    typed = any(kind in (NUMBER, TIME, CLOCK) for kind in kinds)
    while typed and end > 1 and not is_row(body[end - 1], width, kinds) and len(body) - end < 20:
        end -= 1
    if len(body) - end == 20:
        end = len(body)
    layout.footer = [record.line for record in body[end:]]
    for record in body[:end]:
        if len(record.cells) == width:
            layout.rows.append(record)
        else:
            layout.short.append(record.line)
