"""What every operator of a region is at run time: a loop over transactions, and its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from rtbot.relations.deltas import Deltas


OUTPUT = -1
"""The `port` of a row of an operator's output."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a transaction is bad: its place in the batch, the operator, and the row that shows it.

    `words` is that row (int64[width] of the stream `port` of the operator, of its output if `port`
    is OUTPUT), None where no row is to blame.
    """

    transaction: int
    code: str
    message: str
    hint: str = ""
    port: int = 0
    words: np.ndarray | None = None


class RegionOperator(Protocol):
    """An operator of a region while it runs.

    Transactions that `run` has taken are in its state; it has no state of the others. Its state is
    the sum of all changes it took: to take them with the opposite weights restores what it was.
    """

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take all transactions of a batch in turn; return the changes that they make.

        `inputs` has the deltas of every port, all of the same transactions. Before a transaction
        that is bad it stops: the state has those before it, and the deltas returned are of those
        before it (`starts` is so much shorter). The changes of a transaction may have equal rows
        several times, with any weights but 0.
        """

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take transactions that `run` has taken out of the state, the latest of all it took."""

    def count_bytes(self) -> int:
        """Return the bytes of its state."""

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in its state."""

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return its state: values that JSON can hold, and arrays. Nothing changes."""

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""


class StatelessOperator:
    """What an operator that remembers nothing does for its state."""

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Nothing is remembered."""

    def count_bytes(self) -> int:
        """Return 0."""
        return 0

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield nothing."""
        return iter(())

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return nothing."""
        return {}, {}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore nothing; what an older version has saved here is in the state of others."""


def make_size_fault(transaction: int, rows: int, most: int) -> Fault:
    """Return that a transaction changes more rows than it may."""
    return Fault(
        transaction,
        "RT403",
        f"one transaction changes {rows:,} rows, more than {most:,}",
        "divide it into smaller ones, or raise io.max_delta_rows",
    )
