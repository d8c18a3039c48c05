"""What Spark calls for a bucket of keys in a stream, on the workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from spark_adapter.bucket import begun, described, resumed
from spark_adapter.packing import GUARD, ROWS, SLICE, STATE, results, settled
from spark_adapter.shelf import Shelf
from spark_adapter.states import fits, mark, note, noted
from spark_adapter.telling import plainly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from spark_adapter.bucket import Slice
    from spark_adapter.clock import Clock
    from spark_adapter.packing import Packing
    from spark_adapter.states import Split

STATES = "slices"
"""The state variable that maps a number to the state of a slice."""

NUMBERED = StructType([StructField(SLICE, IntegerType())])
HELD = StructType([StructField(STATE, BinaryType())])
NOTED = StructType([StructField("index", StringType())])


class Counts(NamedTuple):
    """What a micro-batch did, or a call of one.

    `late` messages were left out (`io.late: drop`). Of the slices that it wrote, `waiting` rows
    wait for the watermark, and `state_bytes` are their states.
    """

    late: int = 0
    waiting: int = 0
    state_bytes: int = 0


OUT = ", ".join([f"{ROWS} binary", *(f"{name} bigint" for name in Counts._fields)])


class Buckets(StatefulProcessor):
    """What Spark calls for a bucket: with rows, when a timer is due, or with an initial state."""

    def __init__(self, packing: Packing, split: Split, clock: Clock) -> None:
        self.packing, self.split, self.clock = packing, split, clock

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state: the slices, and what is known of each of them."""
        self.handle, self.shelf = handle, Shelf.of_task()
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
            with plainly(self.packing.work):
                self._guard()
            return
        arrived = self.packing.slices(part for frame in rows for part in frame[ROWS])
        yield from self._run(arrived, timerValues.getCurrentWatermarkInMs(), None)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,  # noqa: ARG002
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Let go on what the watermark has reached."""
        fired = expiredTimerInfo.getExpiryTimeInMs()
        yield from self._run({}, timerValues.getCurrentWatermarkInMs(), fired)

    def handleInitialState(  # noqa: N802
        self,
        key: Any,  # noqa: ARG002
        initialState: pd.DataFrame,  # noqa: N803
        timerValues: Any,  # noqa: ARG002, N803
    ) -> None:
        """Take states over, from a batch run or another stream."""
        with plainly(self.packing.work):
            index = self._index()
            for number, state in zip(initialState[SLICE], initialState[STATE], strict=True):
                self._save(index, int(number), self._slice(bytes(state)))
            self._keep(index, None)

    def close(self) -> None:
        """End a task."""
        if self.shelf.folder is not None:
            settled()

    def _run(
        self, arrived: Mapping[int, pa.Table], watermark: int, fired: int | None
    ) -> Iterator[pd.DataFrame]:
        made = Made()
        with plainly(self.packing.work):
            index, until = self._index(), self.clock.until(watermark)
            for number in sorted({*arrived, *index.ready(until)}):
                one = self._slice(self._state(index, number))
                made.rows += results(one.push(arrived.get(number), until))
                made.count(one, self._save(index, number, one))
            self._keep(index, fired)
        yield made.frame()

    def _guard(self) -> None:
        """Refuse the checkpoint of another graph before any bucket is touched."""
        about = described(self.packing.work, self.split)
        found = self.index.get()
        if found is None:
            self.index.update((note(about=about),))
            return
        for what, told in noted(found[0])["about"].items():
            fits(told, about[what], what)

    def _state(self, index: Index, number: int) -> bytes | None:
        known = index.notes.get(number)
        if known is None:
            return None
        state = self.shelf.get(known.mark)
        if state is None:
            found = self.slices.getValue((number,))
            state = b"" if found is None else bytes(found[0])
        return state

    def _save(self, index: Index, number: int, one: Slice) -> int:
        """Save a slice; returns the number of its bytes."""
        state, before = one.state(), index.notes.get(number)
        self.slices.updateValue((number,), (state,))
        self.shelf.put(state, None if before is None else before.mark)
        index.notes[number] = Note(one.due(), mark(state))
        return len(state)

    def _slice(self, state: bytes | None) -> Slice:
        if state is None:
            return begun(self.packing.work, self.split)
        return resumed(self.packing.work, self.split, state)

    def _index(self) -> Index:
        found = self.index.get()
        return Index({}, None) if found is None else Index.of_text(found[0])

    def _keep(self, index: Index, fired: int | None) -> None:
        """Save the index, with a timer at its earliest time in place of the one before."""
        earliest = index.earliest()
        timer = None if earliest is None else self.clock.timer(earliest)
        if index.timer is not None and index.timer not in (timer, fired):
            self.handle.deleteTimer(index.timer)
        if timer is not None and timer != index.timer:
            self.handle.registerTimer(timer)
        self.index.update((Index(index.notes, timer).text(),))


@dataclass
class Made:
    """What a call returns: rows of the result as bytes, and the counts."""

    rows: list[bytes] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def count(self, one: Slice, size: int) -> None:
        """Add what a slice tells."""
        waiting = 0 if one.waiting is None else one.waiting.num_rows
        pairs = zip(self.counts, (one.late, waiting, size), strict=True)
        self.counts = Counts(*map(sum, pairs))

    def frame(self) -> pd.DataFrame:
        """Return it as rows, of which the first has the counts."""
        import pandas as pd

        rows = [*self.rows, None]
        zeros = [0] * (len(rows) - 1)
        return pd.DataFrame(
            {ROWS: rows} | {n: [c, *zeros] for n, c in self.counts._asdict().items()}
        )


class Note(NamedTuple):
    """What a bucket knows of a slice: the time at which it is due, and its mark."""

    due: int | None
    mark: str


@dataclass
class Index:
    """What a bucket knows of its slices, and the timer that is set for them."""

    notes: dict[int, Note]
    timer: int | None

    @classmethod
    def of_text(cls, text: str) -> Index:
        """Read what `text` wrote."""
        found = noted(text)
        notes = {int(number): Note(*note) for number, note in found["slices"].items()}
        return cls(notes, found["timer"])

    def text(self) -> str:
        """Return it as text."""
        return note(timer=self.timer, slices=self.notes)

    def ready(self, until: int) -> Sequence[int]:
        """Return the slices that are due."""
        return [n for n, note in self.notes.items() if note.due is not None and note.due <= until]

    def earliest(self) -> int | None:
        """Return the time at which the first of them is due."""
        return min((n.due for n in self.notes.values() if n.due is not None), default=None)
