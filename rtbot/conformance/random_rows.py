"""Random rows: times, nasty values, keys, and an order of arrival that the policies allow."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.compare.schedules import Row
from rtbot.core.times import INT64_MAX as INT64_MOST
from rtbot.core.times import INT64_MIN as INT64_LEAST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

NUMBERS = {
    "small": [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
    "decimal": [0.1, 0.2, 0.3, 0.7, -0.1, 1.1, 10.3, 9.05],
    "spikes": [1e16, -1e16, 1.0, 0.25, 3.0, 1e200, -1e200],
    "huge": [1.5e308, -1.5e308, 1e300, 1.0, 8.98846567431158e307],
    "tiny": [5e-324, -5e-324, 1e-310, 0.0, -0.0, 2.2250738585072014e-308],
    "zeros": [0.0, -0.0, 0.0, -0.0, 1.0],
    "close": [1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1.0, 1.0 + 2**-52, 1.0 - 2**-53],
    "powers": [2.0**k for k in range(-60, 61, 12)],
    "special": [math.nan, math.inf, -math.inf, 1.0, 2.0, -0.0, 5.0, 7.0],
}
INTEGERS = {
    "small": [-3, -2, -1, 0, 1, 2, 3],
    "edges": [INT64_LEAST, INT64_MOST, INT64_MOST - 1, 0, -1, 1, 2**62, -(2**62)],
    "wide": [2**53, 2**53 + 1, -(2**53) - 1, 3037000500, -3037000500, 10, 7],
}
TEXTS = ["", "a", "b", "B", "é", "nan", "a b", "0"]
KEYS: dict[str, list[Any]] = {
    "integer": [0, 7, -1, INT64_MOST, INT64_LEAST],
    "text": ["A", "b", "", "é"],
    "null text": ["A", None, "b"],
    "null integer": [5, None, -5],
}


@dataclass
class Policies:
    """The `io` section, and how much it is put to the test."""

    late: str = "error"
    duplicates: str = "error"
    lateness: int | None = None

    def io(self) -> dict[str, Any]:
        """Return the part of a graph file."""
        given = {"late": self.late, "duplicates": self.duplicates, "lateness": self.lateness}
        plain = {"late": "error", "duplicates": "error", "lateness": None}
        return {key: value for key, value in given.items() if value != plain[key]}


def draw_policies(rng: Random) -> Policies:
    """Return policies, strict ones in half of the cases."""
    if rng.random() < 0.5:
        return Policies()
    return Policies(
        late=rng.choice(["error", "drop"]),
        duplicates=rng.choice(["error", "error", "first", "last", "min", "max", "sum"]),
        lateness=rng.choice([None, None, 0, 1, 3, 20]),
    )


def draw_times(rng: Random, count: int) -> list[int]:
    """Return ascending times that the inputs of a graph share."""
    profile = rng.choice(["dense", "dense", "sparse", "gaps", "negative", "low", "high", "both"])
    start = {"negative": -count, "low": INT64_LEAST, "both": INT64_LEAST}.get(profile, 1)
    steps = [1] * count
    if profile in ("sparse", "negative"):
        steps = [rng.randint(1, 6) for _ in range(count)]
    if profile == "gaps":
        steps = [rng.choice([1, 1, 2, 1000]) for _ in range(count)]
    times = [start + sum(steps[:place]) for place in range(count)]
    if profile == "high":
        times = [INT64_MOST - times[-1] + time for time in times]
    if profile == "both":
        half = count // 2
        times[half:] = [INT64_MOST - (times[-1] - time) for time in times[half:]]
    return times


def draw_values(rng: Random, kind: str, *, nullable: bool) -> Iterator[Any]:
    """Yield values of one kind without end, from a palette of their own; of `vector[n]` lists."""
    size = re.fullmatch(r"vector\[(\d+)\]", kind)
    if size:
        yield from _draw_vectors(rng, int(size[1]), nullable=nullable)
    palettes: dict[str, Callable[[], list[Any]]] = {
        "number": lambda: NUMBERS[rng.choice(list(NUMBERS))],
        "integer": lambda: INTEGERS[rng.choice(list(INTEGERS))],
        "boolean": lambda: [True, False],
        "text": lambda: TEXTS,
    }
    palette: list[Any] = palettes[kind]()
    runs = rng.random() < 0.2
    mixed = rng.random() < 0.3 and kind == "number"
    previous = rng.choice(palette)
    while True:
        if nullable and rng.random() < 0.2:
            yield None
            continue
        if not (runs and rng.random() < 0.6):
            previous = rng.choice(palette)
        if mixed and rng.random() < 0.1:
            previous = rng.choice(NUMBERS["special"])
        yield previous


def _draw_vectors(rng: Random, size: int, *, nullable: bool) -> Iterator[Any]:
    elements = [draw_values(rng, "number", nullable=False) for _ in range(size)]
    while True:
        vector = [next(one) for one in elements]
        yield None if nullable and rng.random() < 0.2 else vector


def draw_keys(rng: Random) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return names of key columns and the keys of a run; no columns means one nameless key."""
    shape = rng.choice(["none", "none", "one", "one", "two"])
    if shape == "none":
        return (), [()]
    if shape == "one":
        pool: list[tuple[Any, ...]] = [(value,) for value in KEYS[rng.choice(list(KEYS))]]
        names: tuple[str, ...] = ("k",)
    else:
        pool = [(a, b) for a in KEYS["text"] for b in KEYS["integer"]]
        names = ("k", "site")
    return names, rng.sample(pool, min(len(pool), rng.randint(1, 4)))


def draw_arrivals(
    rng: Random,
    stream: tuple[str, tuple[Any, ...]],
    source: Iterator[Any],
    times: Sequence[int],
    rules: Policies,
) -> list[Row]:
    """Return rows of an input and key, in an order of arrival that the rules allow."""
    share = rng.choice([0.0, 0.5, 0.8, 1.0, 1.0, 1.0])
    chosen = [time for time in times if rng.random() < share]
    if rules.duplicates != "error":
        chosen = [time for time in chosen for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    if rules.lateness:
        most = rules.lateness
        chosen.sort(key=lambda time: time + rng.randint(0, most))
    if rules.late == "drop" and chosen:
        for _ in range(rng.randint(0, 3)):
            place = rng.randrange(len(chosen))
            late = chosen[place] - rng.choice([1, 2, 5, 30])
            if late >= INT64_LEAST and late not in chosen:
                chosen.insert(rng.randint(place, len(chosen)), late)
    return [Row(*stream, time, next(source)) for time in chosen]
