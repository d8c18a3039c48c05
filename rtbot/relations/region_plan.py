"""A region as data: connected change operators in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.operator.schema import Schema


@dataclass(frozen=True)
class RegionNode:
    """An operator of a region, without its class.

    `skeleton` names the loop that runs it (`rtbot.relations.skeletons`), `setting` is what the
    skeleton needs beside the generated functions: plain data only. `inputs` and `output` are
    numbers of streams. `functions` are the names of its functions in the generated module.
    """

    id: str
    operator: str
    skeleton: str
    inputs: tuple[int, ...]
    output: int
    setting: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChangeSource:
    """What feeds a region from outside: an input of the graph, or an operator of a series.

    `unique` is the key of upserts, () where rows have weights alone. With `single` there is one row
    at most, which a put replaces. `excess` is error or ignore, `conflicts` error or last. With
    `passes` it remembers nothing: only inserts come, or every reader finds a delete too many. With
    `ttl` its rows expire before they come in.
    """

    name: str
    stream: int
    unique: tuple[str, ...] = ()
    excess: str = "error"
    conflicts: str = "error"
    single: bool = False
    passes: bool = False
    ttl: int | None = None


@dataclass(frozen=True)
class RegionPlan:
    """Immutable, and plain data: what a worker needs to run it.

    `streams` are the schemas of all streams by number; the sources come first. `text` is the
    generated module. `max_delta_rows` bounds the rows that one transaction may release at any
    operator.
    """

    name: str
    sources: tuple[ChangeSource, ...]
    nodes: tuple[RegionNode, ...]
    streams: tuple[Schema, ...]
    outputs: Mapping[str, int]
    text: str
    max_delta_rows: int = 10_000_000
    on_bad_transaction: str = "stop"
