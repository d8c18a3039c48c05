"""What a plan gives the runtime: which functions to call on which streams, and where counts are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.compiler import pairing_layout
    from rtbot.graph.model import Ref
    from rtbot.operator import Type


@dataclass(frozen=True)
class Signature:
    """The name of a generated function and those of its parameters, in their order.

    `reads` are the parameters for the arrays of its sources (starts, times, columns), `writes`
    those for the batches that it makes. The runtime gives arguments by these names.
    """

    name: str
    parameters: list[str]
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    @cached_property
    def arrays(self) -> list[str]:
        """The parameters of `reads` and `writes`."""
        return self.reads + self.writes

    def make_selector(self, names: Sequence[str]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Return what puts arguments, given in the order of names, into that of parameters."""
        return itemgetter(*map(list(names).index, self.parameters))


@dataclass
class SpaceLayout:
    """Keys inside a key of one node: `name` in dumps, the kind of keys, the fields of state.

    Fields are (name, kind, start). If there is a `ttl`, the last one is `Space.RENEWED`, and a key
    is as new once so much time has passed since then.
    """

    name: str
    key: str
    fields: list[tuple[str, str, float | int | bool]]
    ttl: int | None = None


@dataclass
class KeyColumn:
    """Keys that get places in a `space` before a segment runs; `create`: also those that are new.

    `place` is the column of the stream, or of what is carried if `carried`; `flags` are the carried
    columns that say in which rows there is one.
    """

    space: int
    place: int
    carried: bool
    flags: list[int]
    create: bool


@dataclass
class SegmentCall:
    """Runs a segment; `groups` are (stream, has every row), and `carried` is passed to the next.

    `keys` are columns of places that it reads, behind all others. `spans` are the lists that may
    get an entry for every row.
    """

    function: Signature
    source: int
    columns: list[int]
    carries: bool
    groups: list[tuple[int, bool]]
    carried: list[Type]
    input: str | None = None
    spans: list[int] = field(default_factory=list)
    keys: list[KeyColumn] = field(default_factory=list)


@dataclass
class RetimeCall:
    """Runs an operator with its own times; `columns` of the source stream go in.

    It updates the frontiers `settles`. If it `closes`, it is called as well for keys without rows,
    once the frontier has reached the time for which they wait. `spans` are as of a segment.
    """

    function: Signature
    node: str
    source: int
    columns: list[int]
    target: int
    progress: int
    keeps_frontier: bool
    settles: list[int]
    spans: list[int] = field(default_factory=list)
    closes: bool = False


@dataclass
class Grid:
    """The points of an operator over every row of an input, from the row before or `begin` on.

    There are at most `per_row` of them for each row.
    """

    input: str
    interval: int
    begin: int | None
    per_row: int | None = None


@dataclass
class PairCall:
    """Runs a pairing; `sources` are (stream, columns), by port."""

    function: Signature
    key: int
    sources: list[tuple[int, list[int]]]
    ports: list[pairing_layout.PairingPort]
    target: int
    progress: int
    tolerance: int


@dataclass
class PortCounters:
    """How the account of one port is found: indices into the header, or a pairing's port.

    `answers` is whether the port is looked up, and gives null to rows that find nothing there.
    `waits` is a list of the state with the messages that the operator holds back.
    """

    source: Ref
    active: int | None = None
    pairing: tuple[int, int] | None = None
    answers: bool = False
    domain: int | None = None
    waits: str = ""
