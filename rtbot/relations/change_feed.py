"""The changes that wait for their transaction to close, and how far their source has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError
from rtbot.relations.deltas import Deltas
from rtbot.relations.row_buffer import ROOM
from rtbot.relations.row_codec import list_text_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.relations.row_buffer import WaitingRow
    from rtbot.relations.row_codec import RowCodec
    from rtbot.tables.change_rows import ChangeRows

FIRST, LAST = -(2**63), 2**63 - 1
"""No time has come yet; no more will come."""

SINGLE_MOST = 4096
"""So many rows at most wait one by one."""


@dataclass(frozen=True, slots=True)
class TimedRows:
    """Rows with their times: `time` and `weights` int64[n], `words` int64[n, width]."""

    time: np.ndarray
    words: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    def cut(self, first: int, last: int) -> TimedRows:
        """Return these rows, views."""
        return TimedRows(self.time[first:last], self.words[first:last], self.weights[first:last])


class ChangeFeed:
    """One source of a region: its rows that wait, and its clock, which is one for all rows.

    Times never decrease; `lateness` sorts what comes later by so much at most. `newest` is the
    latest time that came, `floor` what the source was advanced to. All up to `frontier` has come.
    """

    def __init__(self, name: str, codec: RowCodec, lateness: int | None = None) -> None:
        self.name, self.codec, self.lateness = name, codec, lateness
        self.newest = self.floor = FIRST
        self.arrived = 0
        self.lost: dict[str, int] = {}
        self.single: list[WaitingRow] = []
        """Rows that wait behind `_parts`, one by one, in the order of their times."""
        self._parts: list[TimedRows] = []

    @property
    def held(self) -> int:
        """How many rows wait."""
        return sum(map(len, self._parts)) + len(self.single)

    # ---- single rows

    def find_first(self) -> int:
        """Return the time of the first row that waits; LAST if none does."""
        if self._parts:
            return int(self._parts[0].time[0])
        return self.single[0][0] if self.single else LAST

    def add_single(self, row: WaitingRow) -> None:
        """Take a row whose time is the clock, and not before that of any other row."""
        self.newest = row[0]
        self.arrived += 1
        self.single.append(row)
        if len(self.single) > SINGLE_MOST:
            self._list_parts()

    def hold_singly(self) -> bool:
        """Let all rows that wait be in `single`, where they are few and in their order."""
        if not self._parts:
            return True
        if self.held > ROOM:
            return False
        whole = join_rows(self._list_parts())
        if (whole.time[1:] < whole.time[:-1]).any():
            return False
        times, weights = whole.time.tolist(), whole.weights.tolist()
        words = [row.tobytes() for row in whole.words]
        self.single, self._parts = list(zip(times, weights, words, strict=True)), []
        return True

    def _list_parts(self) -> list[TimedRows]:
        """Return all rows that wait, in arrays, and keep them so."""
        if self.single:
            times, weights, words = zip(*self.single, strict=True)
            cells = np.frombuffer(b"".join(words), np.int64).reshape(len(words), -1).copy()
            rows = TimedRows(np.array(times, np.int64), cells, np.array(weights, np.int64))
            self._parts.append(rows)
            self.single = []
        return self._parts

    @property
    def frontier(self) -> int:
        """The time up to which nothing more comes."""
        if self.newest == FIRST:
            return self.floor
        return max(self.floor, self.newest - (self.lateness or 0) - 1, FIRST)

    # ---- what comes in

    def prepare(self, rows: ChangeRows) -> TimedRows:
        """Check rows and encode them; nothing changes but the dictionary of texts.

        Raises DataError for the first row that is late.
        """
        if len(rows):
            self._check_times(rows)
        return TimedRows(rows.time, self.codec.encode(rows.columns, rows.valid), rows.weight)

    def _check_times(self, rows: ChangeRows) -> None:
        time = rows.time
        before = np.empty(len(time), np.int64)
        before[0] = self.newest
        if len(time) > 1:
            before[1:] = np.maximum(np.maximum.accumulate(time[:-1]), self.newest)
        if self.lateness:
            least = np.where(before < FIRST + self.lateness, FIRST, before - self.lateness)
        else:
            least = before
        late = (time < least) | (time <= self.floor)
        if not late.any():
            return
        row = int(late.argmax())
        at, newest = int(time[row]), int(before[row])
        message, times = "t={} is late: t={} came before it", [at, newest]
        hint = "sort the changes by time, or set io.lateness"
        if at == FIRST:
            message, times, hint = "t={} is below the least time of a change, {}", [at, at + 1], ""
        elif at <= self.floor:
            message, times, hint = (
                "t={} is late: the input was advanced to {}",
                [at, self.floor],
                "",
            )
        place = row if rows.rows is None else int(rows.rows[row])
        where: dict[str, Any] = {"input": self.name, "time": at, "row": place}
        raise DataError(message, code="RT202", hint=hint, times=times, **where)

    def accept(self, rows: TimedRows) -> None:
        """Take prepared rows, whose times are the clock."""
        if len(rows):
            self.newest = max(self.newest, int(rows.time.max()))
            self.add(rows)

    def add(self, rows: TimedRows) -> None:
        """Take rows of a source that is advanced, and has no clock of its own."""
        if len(rows):
            self.arrived += len(rows)
            self._list_parts().append(rows)

    def advance(self, until: int) -> None:
        """Note that nothing up to a time comes any more."""
        self.floor = max(self.floor, until)

    # ---- what goes on

    def find_earliest(self) -> int | None:
        """Return the least time of the rows that wait, if any do."""
        return min((int(part.time.min()) for part in self._list_parts()), default=None)

    def take(self, until: int) -> TimedRows:
        """Return the rows up to a time, in the order of their times, and keep the others."""
        if not self._list_parts():
            return make_empty_rows(self.codec.schema.width)
        whole = join_rows(self._parts)
        if len(whole) > 1 and (whole.time[1:] < whole.time[:-1]).any():
            order = np.argsort(whole.time, kind="stable")
            whole = TimedRows(whole.time[order], whole.words[order], whole.weights[order])
        count = int(np.searchsorted(whole.time, until, side="right"))
        rest = whole.cut(count, len(whole))
        self._parts = [rest] if len(rest) else []
        return whole.cut(0, count)

    def put_back(self, rows: TimedRows) -> None:
        """Take back rows that were taken last, before all others."""
        if len(rows):
            self._list_parts().insert(0, rows)

    def lose(self, reason: str, count: int) -> None:
        """Count rows that are lost."""
        if count:
            self.lost[reason] = self.lost.get(reason, 0) + count

    # ---- saving

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows that wait."""
        for part in self._list_parts():
            yield from list_text_words(self.codec.schema, part.words)

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the clock and the counters, and the rows that wait."""
        values = {name: getattr(self, name) for name in ("newest", "floor", "arrived")}
        width = self.codec.schema.width
        parts = self._list_parts()
        whole = join_rows(parts) if parts else make_empty_rows(width)
        arrays = {"time": whole.time, "words": whole.words.ravel(), "weights": whole.weights}
        return values | {"lost": dict(self.lost)}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        words = arrays["words"].reshape(-1, self.codec.schema.width)
        rows = TimedRows(arrays["time"], words, arrays["weights"])
        if not len(rows.time) == len(rows.words) == len(rows.weights):
            raise ValueError(f"the rows of {self.name} that wait are not equally long")
        self.newest, self.floor = int(values["newest"]), int(values["floor"])
        self.arrived, self.lost = int(values["arrived"]), dict(values["lost"])
        self._parts, self.single = [rows] if len(rows) else [], []


def make_empty_rows(width: int) -> TimedRows:
    """Return no rows."""
    empty = np.empty(0, np.int64)
    return TimedRows(empty, np.empty((0, width), np.int64), empty)


def join_rows(parts: Sequence[TimedRows]) -> TimedRows:
    """Return the rows of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    return TimedRows(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def find_times(parts: Sequence[TimedRows]) -> np.ndarray:
    """Return the distinct times of rows that are in their order, ascending."""
    filled = [part.time for part in parts if len(part)]
    if not filled:
        return np.empty(0, np.int64)
    times = filled[0] if len(filled) == 1 else np.sort(np.concatenate(filled), kind="stable")
    begins = np.empty(len(times), np.bool_)
    begins[0] = True
    np.not_equal(times[1:], times[:-1], out=begins[1:])
    return times if begins.all() else times[begins]


def group_rows(rows: TimedRows, times: np.ndarray) -> Deltas:
    """Return rows, in the order of their times, by the transactions at these times."""
    starts = np.empty(len(times) + 1, np.int64)
    starts[:-1] = np.searchsorted(rows.time, times, side="left")
    starts[-1] = len(rows)
    return Deltas(starts, rows.words, rows.weights)
