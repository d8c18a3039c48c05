"""What Spark calls for a bucket of keys in a stream, on the workers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming import StatefulProcessor

from rtbot.errors import RtbotError
from spark_adapter.bucket import begun, resumed
from spark_adapter.packing import ROWS, SLICE, STATE, results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from pyspark.sql.streaming import StatefulProcessorHandle

    from spark_adapter.bucket import Slice, Split
    from spark_adapter.clock import Clock
    from spark_adapter.packing import Packing

STATES = "slices"
"""The state variable that maps a number to the state of a slice."""

COUNTS = ("late", "waiting", "state_bytes")
"""What a call tells beside rows: late rows, then of the slices it wrote rows waiting and bytes."""

OUT = ", ".join([f"{ROWS} binary", *(f"{name} bigint" for name in COUNTS)])


class Buckets(StatefulProcessor):
    """What Spark calls for a bucket: with rows, when a timer is due, or with an initial state."""

    def __init__(self, packing: Packing, split: Split, clock: Clock) -> None:
        self.packing, self.split, self.clock = packing, split, clock

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state: the slices, and when each of them is due."""
        self.handle = handle
        self.slices = handle.getMapState(STATES, f"{SLICE} int", f"{STATE} binary")
        self.index = handle.getValueState("due", "due string")

    def handleInputRows(  # noqa: N802 (Spark's name)
        self,
        key: Any,  # noqa: ARG002
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Take the rows of a micro-batch."""
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
        index = self._index()
        for number, state in zip(initialState[SLICE], initialState[STATE], strict=True):
            one = self._slice(bytes(state))
            self.slices.updateValue((int(number),), (bytes(state),))
            index.note(int(number), one.due())
        self._keep(index, None)

    def close(self) -> None:
        """Nothing is open."""

    def _run(
        self, arrived: Mapping[int, pa.Table], watermark: int, fired: int | None
    ) -> Iterator[pd.DataFrame]:
        index, until = self._index(), self.clock.until(watermark)
        told = Told()
        for number in sorted({*arrived, *index.ready(until)}):
            found = self.slices.getValue((number,))
            one = self._slice(bytes(found[0]) if found else None)
            try:
                told.rows += results(one.push(arrived.get(number), until))
            except RtbotError as error:
                raise error.with_traceback(None) from None
            state = one.state()
            self.slices.updateValue((number,), (state,))
            index.note(number, one.due())
            told.count(one, len(state))
        self._keep(index, fired)
        yield told.frame()

    def _slice(self, state: bytes | None) -> Slice:
        try:
            if state is None:
                return begun(self.packing.work, self.split)
            return resumed(self.packing.work, self.split, state)
        except RtbotError as error:
            raise error.with_traceback(None) from None

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
        self.index.update((Index(index.due, timer).text(),))


@dataclass
class Told:
    """What a call returns: rows of the result as bytes, and the counts."""

    rows: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def count(self, one: Slice, size: int) -> None:
        """Add what a slice tells."""
        waiting = 0 if one.waiting is None else one.waiting.num_rows
        for name, number in zip(COUNTS, (one.late, waiting, size), strict=True):
            self.counts[name] += number

    def frame(self) -> pd.DataFrame:
        """Return it as rows, of which the first has the counts."""
        import pandas as pd

        rows = [*self.rows, None]
        zeros = [0] * (len(rows) - 1)
        return pd.DataFrame({ROWS: rows} | {n: [c, *zeros] for n, c in self.counts.items()})


@dataclass
class Index:
    """When which slice of a bucket is due, and the timer that is set for it."""

    due: dict[int, int]
    timer: int | None

    @classmethod
    def of_text(cls, text: str) -> Index:
        """Read what `text` wrote."""
        timer, due = json.loads(text)
        return cls({int(number): time for number, time in due.items()}, timer)

    def text(self) -> str:
        """Return it as text."""
        return json.dumps([self.timer, self.due])

    def note(self, number: int, due: int | None) -> None:
        """Say when a slice is due next."""
        if due is None:
            self.due.pop(number, None)
        else:
            self.due[number] = due

    def ready(self, until: int) -> Sequence[int]:
        """Return the slices that are due."""
        return [number for number, due in self.due.items() if due <= until]

    def earliest(self) -> int | None:
        """Return the time at which the first of them is due."""
        return min(self.due.values(), default=None)
