"""What Spark calls for a shard group of a stream, on the workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from spark_adapter.packing import GUARD, ROWS, SLICE, STATE, freeze_loaded, pack_result
from spark_adapter.shard import describe_state, resume_shard, start_shard
from spark_adapter.shard_state import check_same, digest_state, format_notes, parse_notes
from spark_adapter.state_cache import LocalStateCache
from spark_adapter.worker_errors import hide_worker_traceback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from spark_adapter.packing import RowPacking
    from spark_adapter.shard import Shard
    from spark_adapter.shard_state import ShardLayout
    from spark_adapter.watermark_clock import WatermarkClock

STATES = "slices"
"""The state variable that maps a number to the state of a shard."""

NUMBERED = StructType([StructField(SLICE, IntegerType())])
HELD = StructType([StructField(STATE, BinaryType())])
NOTED = StructType([StructField("index", StringType())])


class Counts(NamedTuple):
    """What a micro-batch did, or a call of one.

    `late` messages were left out (`io.late: drop`). In the shards that it wrote, `waiting` rows
    wait for the watermark, and `state_bytes` is the size of their states.
    """

    late: int = 0
    waiting: int = 0
    state_bytes: int = 0


OUT = ", ".join([f"{ROWS} binary", *(f"{name} bigint" for name in Counts._fields)])


class ShardGroupProcessor(StatefulProcessor):
    """What Spark calls for a shard group: with rows, when a timer is due, with an initial state."""

    def __init__(self, packing: RowPacking, split: ShardLayout, clock: WatermarkClock) -> None:
        self.packing, self.split, self.clock = packing, split, clock

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state: the shards, and the notes on each of them."""
        self.handle, self.cache = handle, LocalStateCache.open_for_task()
        self.slices = handle.getMapState(STATES, NUMBERED, HELD)
        self.index = handle.getValueState("index", NOTED)

    def handleInputRows(  # noqa: N802 (Spark's name)
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Take the rows of a micro-batch."""
        if key[0] == GUARD:
            with hide_worker_traceback(self.packing.work):
                self._check_checkpoint()
            return
        arrived = self.packing.split_shards(part for frame in rows for part in frame[ROWS])
        yield from self._run(arrived, timerValues.getCurrentWatermarkInMs(), None)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,  # noqa: ARG002
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Continue the shards that the watermark has reached."""
        fired = expiredTimerInfo.getExpiryTimeInMs()
        yield from self._run({}, timerValues.getCurrentWatermarkInMs(), fired)

    def handleInitialState(  # noqa: N802
        self,
        key: Any,  # noqa: ARG002
        initialState: pd.DataFrame,  # noqa: N803
        timerValues: Any,  # noqa: ARG002, N803
    ) -> None:
        """Take over states from a batch run or another stream."""
        with hide_worker_traceback(self.packing.work):
            index = self._load_index()
            for number, state in zip(initialState[SLICE], initialState[STATE], strict=True):
                self._save(index, int(number), self._open_shard(bytes(state)))
            self._save_index(index, None)

    def close(self) -> None:
        """End a task."""
        if self.cache.folder is not None:
            freeze_loaded()

    def _run(
        self, arrived: Mapping[int, pa.Table], watermark: int, fired: int | None
    ) -> Iterator[pd.DataFrame]:
        made = CallResult()
        with hide_worker_traceback(self.packing.work):
            index, until = self._load_index(), self.clock.to_time(watermark)
            for number in sorted({*arrived, *index.find_ready(until)}):
                one = self._open_shard(self._load_state(index, number))
                made.rows += pack_result(one.push(arrived.get(number), until))
                made.count(one, self._save(index, number, one))
            self._save_index(index, fired)
        yield made.to_frame()

    def _check_checkpoint(self) -> None:
        """Refuse the checkpoint of another graph before any shard group is touched."""
        about = describe_state(self.packing.work, self.split)
        found = self.index.get()
        if found is None:
            self.index.update((format_notes(about=about),))
            return
        for what, told in parse_notes(found[0])["about"].items():
            check_same(told, about[what], what)

    def _load_state(self, index: ShardIndex, number: int) -> bytes | None:
        known = index.notes.get(number)
        if known is None:
            return None
        state = self.cache.get(known.mark)
        if state is None:
            found = self.slices.getValue((number,))
            state = b"" if found is None else bytes(found[0])
        return state

    def _save(self, index: ShardIndex, number: int, one: Shard) -> int:
        """Save a shard; return the number of its bytes."""
        state, before = one.to_bytes(), index.notes.get(number)
        self.slices.updateValue((number,), (state,))
        self.cache.put(state, None if before is None else before.mark)
        index.notes[number] = ShardNote(one.find_due_time(), digest_state(state))
        return len(state)

    def _open_shard(self, state: bytes | None) -> Shard:
        if state is None:
            return start_shard(self.packing.work, self.split)
        return resume_shard(self.packing.work, self.split, state)

    def _load_index(self) -> ShardIndex:
        found = self.index.get()
        return ShardIndex({}, None) if found is None else ShardIndex.from_text(found[0])

    def _save_index(self, index: ShardIndex, fired: int | None) -> None:
        """Save the index, with a timer at its earliest time instead of the one before."""
        earliest = index.find_earliest_due()
        timer = None if earliest is None else self.clock.to_watermark(earliest)
        if index.timer is not None and index.timer not in (timer, fired):
            self.handle.deleteTimer(index.timer)
        if timer is not None and timer != index.timer:
            self.handle.registerTimer(timer)
        self.index.update((ShardIndex(index.notes, timer).to_text(),))


@dataclass
class CallResult:
    """What a call returns: rows of the result as bytes, and the counts."""

    rows: list[bytes] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def count(self, one: Shard, size: int) -> None:
        """Add the counts of a shard."""
        waiting = 0 if one.waiting is None else one.waiting.num_rows
        pairs = zip(self.counts, (one.late, waiting, size), strict=True)
        self.counts = Counts(*map(sum, pairs))

    def to_frame(self) -> pd.DataFrame:
        """Return it as rows, of which the first has the counts."""
        import pandas as pd

        rows = [*self.rows, None]
        zeros = [0] * (len(rows) - 1)
        return pd.DataFrame(
            {ROWS: rows} | {n: [c, *zeros] for n, c in self.counts._asdict().items()}
        )


class ShardNote(NamedTuple):
    """What a shard group knows of a shard: the time at which it is due, and its mark."""

    due: int | None
    mark: str


@dataclass
class ShardIndex:
    """What a shard group knows of its shards, and the timer that is set for them."""

    notes: dict[int, ShardNote]
    timer: int | None

    @classmethod
    def from_text(cls, text: str) -> ShardIndex:
        """Read what `to_text` wrote."""
        found = parse_notes(text)
        notes = {int(number): ShardNote(*note) for number, note in found["slices"].items()}
        return cls(notes, found["timer"])

    def to_text(self) -> str:
        """Return it as text."""
        return format_notes(timer=self.timer, slices=self.notes)

    def find_ready(self, until: int) -> Sequence[int]:
        """Return the shards that are due."""
        return [n for n, note in self.notes.items() if note.due is not None and note.due <= until]

    def find_earliest_due(self) -> int | None:
        """Return the time at which the first of them is due."""
        return min((n.due for n in self.notes.values() if n.due is not None), default=None)
