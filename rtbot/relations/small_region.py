"""A region that takes one small transaction at a time, as `push_one` brings them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.relations.output_order import order_changes
from rtbot.relations.row_buffer import ROOM, RowBuffer
from rtbot.relations.small_steps import SmallStep, make_small_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.relations.region import OperatorCounts, Region
    from rtbot.relations.row_buffer import WaitingRow


class SmallRegion:
    """The operators of a region with a buffer for every stream.

    What it does is what `Region.close` does with one transaction that is not bad: any other is left
    to that, and so is one that has too many rows somewhere.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        plan = region.plan
        buffers = [RowBuffer(schema.width) for schema in plan.streams]
        self.sources = {
            source.name: RowBuffer(plan.streams[source.stream].width) for source in plan.sources
        }
        self.steps: list[tuple[SmallStep, OperatorCounts]] = []
        for step in region.steps:
            name = step.node.id
            given = [buffers[stream] for stream in step.node.inputs]
            if step.is_source:
                given = [self.sources[name]]
            output = buffers[step.node.output]
            made = make_small_step(step.operator, given, output)
            self.steps.append((made, region.counts[name]))
        self.streams = {name: buffers[stream] for name, stream in plan.outputs.items()}
        self.ordered = {name: RowBuffer(rows.size // 8) for name, rows in self.streams.items()}
        self.outputs = dict(self.streams)

    def take(self, given: Mapping[str, Sequence[WaitingRow]]) -> bool:
        """Take the rows of all sources as one transaction; `outputs` then have what comes out.

        False if the general way has to do it: nothing has changed then.
        """
        for name, rows in self.sources.items():
            rows.put(given[name])
        for place, (step, _) in enumerate(self.steps):
            if not (step.first.ends[1] or (step.rest and step.has_rows())):
                step.output.ends[1] = 0
            elif not step.take():
                self._take_back(place)
                return False
        for name, rows in self.streams.items():
            self.outputs[name] = rows
            if rows.ends[1] > 1 and not self._order(name, rows):
                self._take_back(len(self.steps))
                return False
        self._count()
        return True

    def _take_back(self, last: int) -> None:
        """Take the transaction out of the first so many operators again."""
        for step, _ in reversed(self.steps[:last]):
            if step.has_rows():
                step.take_back()
        for step, _ in self.steps:
            step.ignored = step.absent = 0

    def _order(self, name: str, rows: RowBuffer) -> bool:
        """Put the rows of an output in their order; False if a sum of weights has no int64."""
        signs = rows.signs
        if rows.ends[1] == 2 and signs[0] < 0 < signs[1]:
            size = rows.size
            if rows.bytes[:size] != rows.bytes[size : 2 * size]:
                return True
        region = self.region
        schema = region.plan.streams[region.plan.outputs[name]]
        made, fault = order_changes(rows.copy(), schema, region.code.kernels, region.texts)
        self.outputs[name] = self.ordered[name]
        return fault is None and self.ordered[name].fill(made)

    def _count(self) -> None:
        """Count what every operator did."""
        for step, found in self.steps:
            found.rows_in += step.first.ends[1]
            for rows in step.rest:
                found.rows_in += rows.ends[1]
            found.rows_out += step.output.ends[1]
            if step.ignored or step.absent:
                found.ignored += step.ignored
                found.absent += step.absent
                step.ignored = step.absent = 0


def fits(region: Region) -> bool:
    """Return whether no transaction that a buffer holds has too many rows for `max_delta_rows`."""
    return region.plan.max_delta_rows >= ROOM
