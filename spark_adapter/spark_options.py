"""What may be given to `run_graph` by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from rtbot.adapter import suggest_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, Observation

STRATEGIES = ("auto", "groups", "partitions")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run, checked as far as they can be without its data."""

    inputs: Mapping[str, str | Sequence[str] | Mapping[str, str]] | None = None
    params: Mapping[str, Any] | None = None
    strategy: str = "auto"
    layout: str = "wide"
    partitions: int | None = None
    observe: Observation | None = None
    watermark: str | Mapping[str, str] | None = None
    buckets: int | None = None
    slices: int | None = None
    initial_state: DataFrame | None = None
    finish: bool = True

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            names = ", ".join(STRATEGIES)
            raise TypeError(f"strategy is one of {names}, not {self.strategy!r}")
        for name in ("partitions", "buckets", "slices"):
            number = getattr(self, name)
            if number is not None and (not isinstance(number, int) or number < 1):
                raise TypeError(f"{name} is a whole number from 1 on, not {number!r}")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> RunOptions:
        """Return the options of these names; raise TypeError if one is unknown."""
        names = [one.name for one in fields(cls)]
        for name in options:
            if name not in names:
                hint = suggest_name(name, names) or "parameters of the graph go in params={...}"
                raise TypeError(f"there is no option {name!r}: {hint}")
        return cls(**options)

    def refuse(self, names: Sequence[str], what: str) -> None:
        """Refuse options that do not go with this kind of run."""
        for name in names:
            if getattr(self, name) != getattr(RunOptions, name):
                raise TypeError(f"{name} goes with {what} only")
