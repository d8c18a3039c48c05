"""How times are written in files: what is wrong with an option, and the parser of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.time_reading.directives import (
    DirectiveFormat,
    FormatProblem,
    find_directive_problem,
)
from rtbot.core.times import (
    DEFAULT_UNIT,
    UNITS,
    TimeStyle,
    detect_style,
    make_range_error,
    parse_time,
    parse_times,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rtbot.core.time_reading.repeated_hour import RepeatedHour
    from rtbot.core.time_reading.time_zones import LocalTimes

EPOCHS = {"unix": "s", "unix_ms": "ms", "unix_us": "us", "unix_ns": "ns"}
"""Names of the formats that count since 1970, and the unit that each counts."""

ISO_NAMES = ("iso", "iso8601", "iso-8601", "auto", "integer")

BadRow = tuple[int, DataError]
"""A row, from 0, and what is wrong with its time."""


class TimeOptions(Protocol):
    """The part of `ReadOptions` that is about times."""

    @property
    def time_format(self) -> str | None:
        """A name of `EPOCHS`, a text of directives, or None: ISO 8601."""

    @property
    def timezone(self) -> str | None:
        """The time zone of texts without an offset; None: UTC."""

    @property
    def ambiguous(self) -> str:
        """What a local time that occurs twice is: error, earlier, later or order."""

    @property
    def nonexistent(self) -> str:
        """What a local time that never occurs is: error or shift."""


def find_format_problem(text: str) -> FormatProblem | None:
    """Return what is wrong with the text of `time_format`, None if nothing is.

    >>> find_format_problem("%d/%m/%Y %I:%M")
    FormatProblem(message='%I counts to 12', hint='add %p (AM or PM), or write %H')
    """
    if text in EPOCHS:
        return None
    if "%" not in text:
        near = "it is read without time_format" if text.lower() in ISO_NAMES else ""
        near = near or suggest_name(text, EPOCHS)
        if near:
            return FormatProblem(f"there is no time_format {text!r}", near)
    return find_directive_problem(text)


def find_timezone_problem(name: str) -> FormatProblem | None:
    """Return what is wrong with the name of a time zone, None if nothing is."""
    from rtbot.core.time_reading.time_zones import load_zone

    try:
        load_zone(name)
    except DataError as error:
        return FormatProblem(f"{error.message}: {name!r}", error.hint)
    return None


def make_time_parser(options: TimeOptions, unit: str) -> TimeParser:
    """Return the parser of times that are written as the options say, in the unit.

    Raises DataError if `find_format_problem` or `find_timezone_problem` finds something.
    """
    return TimeParser(options, unit)


def make_clock(options: TimeOptions, unit: str | None) -> TimeParser | None:
    """Return the parser of times in tables; None if they are ISO 8601 and UTC."""
    if options.time_format is None and options.timezone is None:
        return None
    return make_time_parser(options, unit or DEFAULT_UNIT)


class TimeParser:
    """Reads texts as int64 counts of the unit since 1970 (UTC).

    Reading has two steps: `read_clock` reads what is written, and `localise` takes it for local
    times of the zone. The second is for times of a style with a zone only.
    """

    def __init__(self, options: TimeOptions, unit: str) -> None:
        self.options, self.unit = options, unit
        self.epoch = EPOCHS.get(options.time_format or "")
        self._format: DirectiveFormat | None = None
        if options.time_format is not None and self.epoch is None:
            problem = find_format_problem(options.time_format)
            if problem is not None:
                raise DataError(problem.message, code="RT205", hint=problem.hint)
            self._format = DirectiveFormat(options.time_format, unit)
        if options.timezone is not None:
            from rtbot.core.time_reading.time_zones import load_zone

            self._zone = load_zone(options.timezone)

    def detect_style(self, text: str) -> TimeStyle | None:
        """Return how this text is written, which is how outputs are; None if it is no time."""
        if self.epoch is not None:
            return self._detect_epoch(text)
        style = detect_style(text) if self._format is None else self._format.detect_style(text)
        return None if style is None else self.add_zone(style)

    def _detect_epoch(self, text: str) -> TimeStyle | None:
        from rtbot.core.time_reading.epochs import COUNT

        assert self.epoch is not None, "only epochs are asked for their digits"
        found = COUNT.fullmatch(text.strip(" \t"))
        if found is None:
            return None
        digits = 0 if found[4] else len(found[3] or "")
        return TimeStyle("", 0, digits, epoch=self.epoch)

    def add_zone(self, style: TimeStyle) -> TimeStyle:
        """Return the style with the zone, if it is one of texts without an offset."""
        if self.options.timezone is None or not style.is_naive:
            return style
        return replace(style, zone=self.options.timezone)

    @property
    def default_style(self) -> TimeStyle:
        """How times are written of which no text is known."""
        if self.epoch is not None:
            return TimeStyle("", 0, epoch=self.epoch)
        return self.add_zone(TimeStyle() if self._format is None else self._format.default_style)

    def parse(
        self, texts: Any, style: TimeStyle | None = None, passes: RepeatedHour | None = None
    ) -> np.ndarray:
        """Read an Arrow array of text as int64 counts.

        Raises DataError with `row` (from 0) and `value` at the first text that is no time of the
        format, is null, is finer than the unit, is outside what int64 holds, or is a local time
        that occurs twice or never. Without a `style` it is that of the first text. `passes` are
        needed where `ambiguous` is order: they are of one series, whose rows these texts are.
        """
        if style is None:
            first = texts[0].as_py() if len(texts) else None
            style = (self.detect_style(first) if first is not None else None) or self.default_style
        counts = self.read_clock(texts, style)
        return self.to_instants(counts, texts, passes) if style.zone else counts

    def to_instants(
        self, clock: np.ndarray, values: Any, passes: RepeatedHour | None = None
    ) -> np.ndarray:
        """Return local times of the zone as instants.

        Raises DataError with `row`, and `value` from these, for the first that occurs twice or
        never.
        """
        instants, bad = self.localise(clock, passes)
        for row, error in bad:
            value = values[row]
            shown = value.as_py() if hasattr(value, "as_py") else value
            raise error.at(row=row, value=str(shown))
        return instants

    @property
    def by_order(self) -> bool:
        """Whether local times that occur twice are resolved by the order of rows."""
        return self.options.timezone is not None and self.options.ambiguous == "order"

    def read_clock(self, texts: Any, style: TimeStyle) -> np.ndarray:
        """Read texts as written in the style, those without an offset as if they were UTC.

        Raises DataError with `row` and `value`.
        """
        import pyarrow.compute as pc

        if texts.null_count:
            row = pc.index(pc.is_null(texts), value=True).as_py()
            raise DataError("a row without a time", code="RT211", row=row)
        if self.epoch is not None:
            from rtbot.core.time_reading.epochs import read_epochs

            return read_epochs(texts, self.epoch, self.unit)
        if self._format is not None:
            return self._format.read(texts)
        return parse_times(texts, self.unit, style)[0]

    def read_one(self, text: str, style: TimeStyle) -> int:
        """Read one text as `read_clock` does, or raise DataError."""
        if self.epoch is not None:
            from rtbot.core.time_reading.epochs import read_epoch

            return read_epoch(text, self.epoch, self.unit)
        if self._format is not None:
            return self._format.read_one(text)
        return parse_time(text, self.unit, offset=bool(style.offset))

    def convert_counts(self, counts: np.ndarray) -> np.ndarray:
        """Convert int64 counts of the epoch's unit, or raise DataError with `row`."""
        from rtbot.core.time_reading.epochs import convert_counts

        assert self.epoch is not None, "only epochs have counts"
        return convert_counts(counts, self.epoch, self.unit)

    def localise(
        self, clock: np.ndarray, passes: RepeatedHour | None = None, series: Any = None
    ) -> tuple[np.ndarray, list[BadRow]]:
        """Return local times of the zone as instants, and what is wrong with some of them.

        `passes` is how far each series is in an hour that occurs twice, None if that is not known;
        `series(rows)` returns what these rows belong to, by default all to one. A bad time is 0.
        """
        import numpy as np

        scale = 10 ** UNITS[self.unit]
        found = self._zone.resolve(clock // scale)
        offsets = found.before
        bad: list[BadRow] = []
        if found.is_plain:
            return self._subtract(clock, offsets * scale, bad), bad
        later = found.ambiguous & (self.options.ambiguous == "later")
        refused = found.nonexistent & (self.options.nonexistent == "error")
        if self.options.ambiguous == "error" or (self.by_order and passes is None):
            refused |= found.ambiguous
        elif self.by_order and passes is not None:
            rows = np.flatnonzero(found.ambiguous)
            names = None if series is None else series(rows)
            second, back = passes.find_passes(names, found.change[rows], clock[rows])
            later[rows] = second
            refused[rows] = back
        offsets = np.where(later, found.after, offsets)
        bad += [
            (row, self._make_error(found, row, in_order=passes is not None))
            for row in np.flatnonzero(refused).tolist()
        ]
        return self._subtract(clock, offsets * scale, bad), bad

    def _subtract(self, clock: np.ndarray, ahead: np.ndarray, bad: list[BadRow]) -> np.ndarray:
        """Return clock - ahead; what is out of range is bad, and what is bad is 0."""
        import numpy as np

        counts: np.ndarray = clock - ahead
        wrapped = (counts < clock) != (ahead > 0)
        beyond = np.flatnonzero(wrapped & (ahead != 0)).tolist()
        bad += [(row, make_range_error(self.unit)) for row in beyond]
        bad.sort(key=lambda one: one[0])
        counts[[row for row, _ in bad]] = 0
        return counts

    def _make_error(self, found: LocalTimes, row: int, *, in_order: bool) -> DataError:
        zone = self.options.timezone
        if found.nonexistent[row]:
            message = f"there is no such local time in {zone}: the clock is put forward there"
            hint = "set io.nonexistent: shift, or io.timezone if it is another one"
        elif self.by_order and in_order:
            message = f"the second hour of two in {zone} has rows that go back"
            hint = "sort each series by time, or set io.ambiguous: earlier or later"
        else:
            message = f"this local time occurs twice in {zone}: the clock is put back there"
            hint = "set io.ambiguous: earlier, later, or order if each series is in order"
            if self.by_order:
                hint = "only files have an order: set io.ambiguous: earlier or later"
        return DataError(message, code="RT225", hint=hint)


def detect_time_format(samples: Sequence[str]) -> list[str]:
    """Return the values of `time_format` that read all samples, the likeliest first.

    Where day and month cannot be distinguished both orders are there. ISO 8601, which needs no
    format, is not in the list: `rtbot.core.times.detect_style` finds it.

    >>> detect_time_format(["3/4/2024 8:00 AM", "3/4/2024 1:10 PM"])
    ['%m/%d/%Y %I:%M %p', '%d/%m/%Y %I:%M %p']
    """
    from rtbot.core.time_reading.format_detection import find_formats

    return find_formats(samples)
