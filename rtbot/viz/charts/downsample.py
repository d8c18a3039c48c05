"""Messages downsampled to what a chart can show, as they come, in bounded memory.

Neighbouring messages are put into buckets of time that keep the first, the last, the least and the
greatest value (M4: Jugel et al., 2014), so that no extreme is lost and a line looks as it would
with all points. A bucket spans a power of two of time units, counted from 0; the span is the
smallest with which there are few enough buckets, so the order in which messages came does not
matter.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot.core.arrow import fill_nulls

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Table = Mapping[str, np.ndarray]

BUCKETS = 4096
KEYS = 6
TURNS = 16
"""Lines of an output that has several messages of one time; the last has all that are left."""

TEXTS = 8
OTHER = TEXTS
"""The code of texts beyond the first ones."""


@dataclass(frozen=True, slots=True)
class ChartBuckets:
    """Equally long arrays: times (int64) and values (float64) of the first and last messages.

    `runs` count how often values that cannot be drawn came before: a line ends there.
    """

    first_time: np.ndarray
    last_time: np.ndarray
    first: np.ndarray
    last: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first_run: np.ndarray
    last_run: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


def bucket_each(times: np.ndarray, values: np.ndarray, runs: np.ndarray) -> ChartBuckets:
    """Return a bucket for every message."""
    return ChartBuckets(times, times, values, values, values, values, runs, runs)


def merge_buckets(buckets: ChartBuckets, ids: np.ndarray) -> ChartBuckets:
    """Merge neighbouring buckets of equal id."""
    if not len(ids):
        return buckets
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    ends = np.append(starts[1:], len(ids)) - 1
    return ChartBuckets(
        buckets.first_time[starts],
        buckets.last_time[ends],
        buckets.first[starts],
        buckets.last[ends],
        np.minimum.reduceat(buckets.low, starts),
        np.maximum.reduceat(buckets.high, starts),
        buckets.first_run[starts],
        buckets.last_run[ends],
    )


def merge_columns(buckets: ChartBuckets, place: Callable[[np.ndarray], np.ndarray]) -> ChartBuckets:
    """Merge buckets that begin in the same column of a picture; `place` maps times to columns."""
    return merge_buckets(buckets, np.floor(place(buckets.first_time)).astype(np.int64))


def _concat_buckets(parts: Sequence[ChartBuckets]) -> ChartBuckets:
    columns = [np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(ChartBuckets)]
    return ChartBuckets(*columns)


def _sort_buckets(buckets: ChartBuckets) -> ChartBuckets:
    """Return the buckets by time; messages of an input may come late."""
    if (buckets.first_time[1:] >= buckets.first_time[:-1]).all():
        return buckets
    order = np.argsort(buckets.first_time, kind="stable")
    return ChartBuckets(*(getattr(buckets, f.name)[order] for f in fields(ChartBuckets)))


class ChartSeries:
    """The messages of one output (or input) of one key; `count` of all, drawable or not.

    If there are several of one time, `later` are the second ones of every time, the third ones, and
    so on.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.later: list[ChartSeries] = []
        self.count = 0
        self.shift = 0
        self.runs = 0
        empty = np.empty(0)
        self.buckets = bucket_each(empty.astype(np.int64), empty, empty.astype(np.int64))

    def add(self, times: np.ndarray, values: np.ndarray) -> None:
        """Take messages; values are float64, those that are not finite end the line."""
        good = np.isfinite(values)
        runs = self.runs + np.cumsum(~good)
        self.count += len(times)
        self.runs = int(runs[-1]) if len(runs) else self.runs
        new = _sort_buckets(bucket_each(times[good], values[good], runs[good]))
        self.buckets = self._downsample(
            _sort_buckets(_concat_buckets([self.buckets, self._downsample(new)]))
        )

    def add_turns(self, times: np.ndarray, values: np.ndarray) -> None:
        """Take messages by time, of which those of one time are together."""
        starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
        if len(starts) >= len(times):
            self.add(times, values)
            return
        sizes = np.diff(starts, append=len(times))
        turns = np.minimum(np.arange(len(times)) - np.repeat(starts, sizes), TURNS - 1)
        for turn in range(int(turns.max()) + 1):
            if turn > len(self.later):
                self.later.append(ChartSeries(self.kind))
            chosen = turns == turn
            (self.later[turn - 1] if turn else self).add(times[chosen], values[chosen])

    def list_lines(self) -> list[ChartSeries]:
        """Return what is drawn as a line of its own: itself and `later`, those with anything."""
        return [one for one in (self, *self.later) if len(one.buckets)]

    def _downsample(self, buckets: ChartBuckets) -> ChartBuckets:
        """Merge buckets, in spans that are longer if there are still too many."""
        buckets = merge_buckets(buckets, buckets.first_time >> self.shift)
        while len(buckets) > BUCKETS:
            self.shift += 1
            buckets = merge_buckets(buckets, buckets.first_time >> self.shift)
        return buckets

    def span(self) -> tuple[float, float]:
        """Return the least and the greatest value of all lines; there is one at least."""
        every = [one.buckets for one in self.list_lines()]
        lows, highs = [float(b.low.min()) for b in every], [float(b.high.max()) for b in every]
        return min(lows), max(highs)


class Collector:
    """The series of a run: by key, the first ones in the order of keys, and by name.

    `texts` are the distinct texts of every series of text, the first ones that came.
    """

    def __init__(self, key: Sequence[str] = (), keys: int = KEYS) -> None:
        self.key = tuple(key)
        self.limit = keys
        self.series: dict[tuple[Any, ...], dict[str, ChartSeries]] = {} if key else {(): {}}
        self.texts: dict[str, dict[str, int]] = {}

    def add(self, tables: Mapping[str, Table], *, repeats: bool = False) -> None:
        """Take tables by name, each in the order of (key, t).

        If it `repeats`, several messages of one time are several lines, and not one up and down.
        """
        for name, table in tables.items():
            times, values = table["t"], self._values(name, table)
            for key, start, stop in split_by_key(table, self.key):
                if not self._shows(key):
                    break
                series = self.series[key].setdefault(name, ChartSeries(detect_kind(table["value"])))
                add = series.add_turns if repeats else series.add
                add(times[start:stop], values[start:stop])

    def drop(self, names: Collection[str]) -> None:
        """Forget series."""
        for row in self.series.values():
            for name in names:
                row.pop(name, None)

    def _shows(self, key: tuple[Any, ...]) -> bool:
        """Return whether the key is one of the first; a new one displaces the last of them."""
        if key in self.series:
            return True
        if len(self.series) == self.limit:
            greatest = max(self.series, key=rank_key)
            if rank_key(key) > rank_key(greatest):
                return False
            del self.series[greatest]
        self.series[key] = {}
        return True

    def _values(self, name: str, table: Table) -> np.ndarray:
        """Return values as float64, nulls as NaN; texts by their codes."""
        values, valid = table["value"], table.get("value_valid")
        text = values.dtype == object
        numbers = self._codes(name, values) if text else values.astype(np.float64)
        return numbers if valid is None else np.where(valid, numbers, np.nan)

    def _codes(self, name: str, texts: np.ndarray) -> np.ndarray:
        """Return the codes of texts; the first texts that come have codes of their own."""
        encoded = pa.array(texts.tolist(), pa.string()).dictionary_encode()
        known = self.texts.setdefault(name, {})
        codes = []
        for text in encoded.dictionary.to_pylist():
            if len(known) < TEXTS:
                known.setdefault(text, len(known))
            codes.append(known.get(text, OTHER))
        found: np.ndarray = np.array([*codes, OTHER], np.float64)[
            fill_nulls(encoded.indices, -1)[0]
        ]
        return found

    def find_end(self) -> int | None:
        """Return the greatest time of all points, None without any."""
        every = [
            line for row in self.series.values() for s in row.values() for line in s.list_lines()
        ]
        return max((int(line.buckets.last_time[-1]) for line in every), default=None)

    def shown(self) -> list[tuple[Any, ...]]:
        """Return the keys that are shown, in their order."""
        return sorted(self.series, key=rank_key)


def detect_kind(values: np.ndarray) -> str:
    """Return what is drawn: text, boolean or number."""
    return {"O": "text", "b": "boolean"}.get(values.dtype.kind, "number")


def rank_key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what keys are sorted by: column by column, null last."""
    return tuple((True,) if part is None else (False, part) for part in key)


def split_by_key(table: Table, key: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], int, int]]:
    """Yield (key, start, stop) of a table in the order of (key, t); an empty key if none."""
    count = len(table["t"])
    if not count:
        return
    changes = np.zeros(count - 1, np.bool_)
    for name in key:
        changes |= table[name][1:] != table[name][:-1]
    cuts = [0, *(np.flatnonzero(changes) + 1).tolist(), count]
    for start, stop in pairwise(cuts):
        yield tuple(_unwrap(table[name][start]) for name in key), start, stop


def _unwrap(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
