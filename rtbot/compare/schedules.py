"""Random schedules: in which order and batches, and with which interruptions, rows are pushed.

A schedule is a list of steps: ("push", numbers of rows), ("one", number), ("advance", time, input
or None), ("dump",) and ("close", key). The outputs after all of them do not depend on the schedule.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.core.times import INT64_MAX, INT64_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from random import Random

    Step = tuple[Any, ...]
    Extra = Callable[[list[int], int, float], Iterable[Step]]
    """Further steps, by the order of rows, how many of them are pushed, and the restlessness."""


class Change(NamedTuple):
    """The value of a row of changes: its weight, and a cell for every field, None for null."""

    weight: int
    cells: tuple[Any, ...]


class Row(NamedTuple):
    """One arrival at an input; `key` has a cell for every key column, of changes none."""

    input: str
    key: tuple[Any, ...]
    time: int
    value: Any


@dataclass(frozen=True)
class ScheduleMix:
    """How rows are pushed.

    `sizes` are those of batches, `single` the chance that a batch of one comes by `push_one`,
    `close` that a key is closed behind its last row; `dump` and `advance` are chances behind a
    batch, for the most restless schedule. `eager` advances every input wherever it may.
    """

    sizes: tuple[int, ...] = (0, 1, 1, 2, 5, 20)
    single: float = 0.3
    close: float = 0.3
    dump: float = 0.4
    advance: float = 0.3
    eager: bool = False


def schedule_whole(rows: Sequence[Row]) -> list[Step]:
    """Return the schedule that pushes everything at once."""
    return [("push", list(range(len(rows))))]


def interleave_rows(rng: Random, rows: Sequence[Row], style: str) -> list[int]:
    """Return row numbers in a random order that keeps the order within each input and key.

    Style `starved` has one input last, `keys` key after key, `blocks` every input and key in one
    block.
    """
    queues: dict[tuple[str, Any], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        queues[row.input, row.key].append(number)
    starved = rng.choice(sorted({row.input for row in rows})) if rows else None
    turns: dict[Any, list[list[int]]] = {False: [], True: []} if style != "keys" else {}
    for (name, key), queue in queues.items():
        turn = key if style == "keys" else style == "starved" and name == starved
        turns.setdefault(turn, []).append(queue[::-1])
    parts = list(turns.values())
    if style == "keys":
        rng.shuffle(parts)
    order: list[int] = []
    for ready in parts:
        while ready:
            place = rng.choice(range(len(ready)))
            taken = len(ready[place]) if style == "blocks" else 1
            order += [ready[place].pop() for _ in range(taken)]
            if not ready[place]:
                del ready[place]
    return order


class RemainingRows:
    """The rows of an order from a place on; the place moves forward."""

    def __init__(self, rows: Sequence[Row], order: list[int]) -> None:
        self.inputs = sorted({row.input for row in rows})
        self._rows, self._order = rows, order
        self._least: dict[str | None, list[int]] = {}
        self.place = 0

    def find_earliest(self, name: str | None) -> int | None:
        """Return the earliest time still to come at an input, or at any; None if there is none."""
        if name not in self._least:
            self._least[name] = self._find_earliest_suffixes(name)
        found = self._least[name][self.place]
        return None if found > INT64_MAX else found

    def _find_earliest_suffixes(self, name: str | None) -> list[int]:
        least = [INT64_MAX + 1] * (len(self._order) + 1)
        for place in range(len(self._order) - 1, -1, -1):
            row = self._rows[self._order[place]]
            counts = name in (None, row.input)
            least[place] = min(least[place + 1], row.time) if counts else least[place + 1]
        return least


def schedule(
    rng: Random,
    rows: Sequence[Row],
    style: str,
    mix: ScheduleMix | None = None,
    extra: Extra | None = None,
) -> list[Step]:
    """Return steps that push every row in the style, with interruptions between.

    Styles are `random`, `starved`, `keys`, `blocks` (see `interleave_rows`), `ones` (every row
    alone).
    """
    mix = mix or ScheduleMix(eager=style == "eager")
    order = interleave_rows(rng, rows, style)
    remaining = RemainingRows(rows, order)
    left: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        left[row.key] += 1
    restless = rng.random()
    steps: list[Step] = []
    while remaining.place < len(order):
        size = 1 if style == "ones" else rng.choice(mix.sizes)
        batch = order[remaining.place : remaining.place + size]
        remaining.place = min(remaining.place + size, len(order))
        single = len(batch) == 1 and (style == "ones" or rng.random() < mix.single)
        steps.append(("one", batch[0]) if single else ("push", batch))
        for number in batch:
            key = rows[number].key
            left[key] -= 1
            if key and not left[key] and rng.random() < mix.close:
                steps.append(("close", key))
        if mix.eager:
            steps += _advance_inputs(rng, remaining)
        steps += _interrupt(rng, remaining, mix, restless)
        if extra is not None:
            steps += extra(order, remaining.place, restless)
    return steps


def _advance_inputs(rng: Random, remaining: RemainingRows) -> Iterator[Step]:
    """Return steps that advance some inputs as far as their remaining rows allow."""
    for name in remaining.inputs:
        least = remaining.find_earliest(name)
        if least is not None and least > INT64_MIN and rng.random() < 0.6:
            yield ("advance", least - 1, name)


def _interrupt(
    rng: Random, remaining: RemainingRows, mix: ScheduleMix, restless: float
) -> Iterator[Step]:
    if rng.random() < restless * mix.dump:
        yield ("dump",)
    if rng.random() < restless * mix.advance:
        name = rng.choice([None, *remaining.inputs])
        limit = _choose_advance(rng, remaining.find_earliest(name))
        if limit is not None:
            yield ("advance", limit, name)


def _choose_advance(rng: Random, least: int | None) -> int | None:
    """Return a time that no remaining row of the input would be late for; None if there is none."""
    if least is None:
        return rng.choice([0, INT64_MAX])
    limit = least - rng.choice([1, 1, 2, 10])
    return limit if limit >= INT64_MIN else None


def insert_dumps(steps: Sequence[Step]) -> list[Step]:
    """Return the same steps with a dump and a resume behind each."""
    return [("dump",), *(both for step in steps for both in (step, ("dump",)))]


def insert_some_dumps(rng: Random, steps: Sequence[Step], most: int) -> list[Step]:
    """Return the steps with a dump and a resume behind at most so many, one behind the first."""
    if len(steps) < most:
        return insert_dumps(steps)
    chosen = {0, *rng.sample(range(len(steps)), most - 1)}
    return [
        both
        for place, step in enumerate(steps)
        for both in ([step, ("dump",)] if place in chosen else [step])
    ]
