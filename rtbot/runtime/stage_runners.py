"""The stages of a session at work: parts of series in sessions of their own, and regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.relations.change_feed import FIRST, LAST, make_empty_rows
from rtbot.relations.row_codec import RowCodec
from rtbot.runtime.bridges import make_messages, make_rows
from rtbot.runtime.output_frontiers import find_output_frontiers
from rtbot.runtime.result import Result, merge_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.compiler.tiers.graph_code import GraphCode
    from rtbot.graph.model import Ref
    from rtbot.graph.stages import RegionStage, SeriesStage, StageSource
    from rtbot.relations.change_feed import TimedRows
    from rtbot.relations.region import BadTransaction
    from rtbot.relations.region_runner import RegionRunner
    from rtbot.runtime.session import Session
    from rtbot.tables.string_dictionary import StringDictionary


@dataclass
class Flow:
    """What the stages release in one call, by stream: results of series, rows of changes.

    `reached` are the times up to which streams are final, `bad` the transactions at which regions
    stopped. With `ending` nothing more comes.
    """

    reached: dict[Ref, int]
    series: dict[Ref, Mapping[str, Any]] = field(default_factory=dict)
    changes: dict[Ref, TimedRows] = field(default_factory=dict)
    bad: list[tuple[RegionStageRunner, BadTransaction]] = field(default_factory=list)
    ending: bool = False


class StagesCode:
    """The code of all stages, as one asks a session for its own; it goes over by itself."""

    tiers = ()

    def __init__(self, stages: Sequence[SeriesStageRunner | RegionStageRunner]) -> None:
        self._stages = stages

    @property
    def interpreted(self) -> bool:
        """Whether functions in use are plain Python."""
        return any(stage.code.interpreted for stage in self._stages)


class SeriesStageRunner:
    """A part of series: the first one is fed from outside, others by the stages before them."""

    def __init__(
        self, stage: SeriesStage, session: Session, texts: StringDictionary, key: tuple[str, ...]
    ) -> None:
        self.stage, self.session, self.texts, self.key = stage, session, texts, key
        self.is_first = all(source.is_input for source in stage.sources)
        self.told: dict[str, int] = {}

    def run(self, flow: Flow, given: list[Result]) -> None:
        """Take what other stages have released, and add what comes out to the flow."""
        results = list(given) if self.is_first else self._feed(flow)
        if results:
            whole = merge_results(results)
            for name, ref in self.stage.outputs.items():
                flow.series[ref] = whole[name]
        flow.reached |= self.measure()

    @property
    def code(self) -> GraphCode:
        """The code of its session."""
        return self.session.code

    def measure(self) -> dict[Ref, int]:
        """Return up to which time the streams that others read are final."""
        reached = find_output_frontiers(self.session)
        return {ref: reached[name] for name, ref in self.stage.outputs.items()}

    def _feed(self, flow: Flow) -> list[Result]:
        """Push the rows of the sources, and advance as far as they have come."""
        if self.session.finished:
            return []
        tables = {}
        for source in self.stage.sources:
            table = self._read(source, flow)
            if table is not None:
                tables[source.name] = table
        results = [self.session.push(tables)] if tables else []
        reached = {source.name: flow.reached[source.ref] for source in self.stage.sources}
        if flow.ending and min(reached.values()) == LAST:
            return [*results, self.session.finish()]
        for name, until in reached.items():
            if until > self.told.get(name, FIRST):
                self.told[name] = until
                results.append(self.session.advance(until, name))
        return results

    def _read(self, source: StageSource, flow: Flow) -> Mapping[str, Any] | None:
        """Return the messages of a source as a table; None if there are none."""
        if source.bridge is None:
            table = flow.series.get(source.ref)
            return table if table is not None and len(table["t"]) else None
        rows = flow.changes.get(source.ref)
        if rows is None or not len(rows):
            return None
        schema = source.bridge.types[next(iter(source.bridge.inputs))].schema
        assert schema is not None, "a ToSeries reads changes"
        codec = RowCodec(schema, self.texts)
        return make_messages(rows, self.key, source.bridge.values["field"], codec)


class RegionStageRunner:
    """A region: its sources are fed from outside and by the stages before it."""

    def __init__(self, stage: RegionStage, runner: RegionRunner, key: tuple[str, ...]) -> None:
        self.stage, self.runner, self.key = stage, runner, key

    @property
    def code(self) -> GraphCode:
        """The code of its region."""
        return self.runner.region.code

    def run(self, flow: Flow) -> None:
        """Take what other stages have released, close transactions, and add what comes out."""
        for source in self.stage.sources:
            if not source.is_input:
                self._feed(source, flow)
        released = self.runner.run()
        flow.bad += [] if released.bad is None else [(self, released.bad)]
        for name, ref in self.stage.outputs.items():
            flow.changes[ref] = released.outputs[name]
            flow.reached[ref] = self.runner.frontier

    def release_over_nothing(self, flow: Flow) -> None:
        """Add rows that are there without any transaction to the flow."""
        rows = self.runner.release_over_nothing()
        flow.changes |= {self.stage.outputs[name]: found for name, found in rows.items()}

    def discard(self, bad: BadTransaction, flow: Flow) -> None:
        """Drop a transaction at which it stopped."""
        self.runner.discard(bad)
        flow.reached |= dict.fromkeys(self.stage.outputs.values(), self.runner.frontier)

    def _feed(self, source: StageSource, flow: Flow) -> None:
        codec = self.runner.feeds[source.name].codec
        rows = flow.changes.get(source.ref)
        if source.reads_series:
            table = flow.series.get(source.ref)
            rows = make_rows(table, self.key, codec) if table and len(table["t"]) else None
        if rows is None:
            rows = make_empty_rows(codec.schema.width)
        self.runner.feed_rows(source.name, rows, flow.reached[source.ref])
