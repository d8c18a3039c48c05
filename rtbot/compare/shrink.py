"""Shrinking of a failing case while it still fails: fewer rows first, then fewer steps."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from rtbot.compare.schedules import Step

T = TypeVar("T")

FEEDING = ("push", "one")
"""Steps that push rows."""


def shrink_case(
    case: T,
    moves: Sequence[Callable[[T], Iterable[T]]],
    fails: Callable[[T], bool],
    budget: int = 600,
) -> T:
    """Return the smallest case found with at most `budget` trials of `fails`.

    A move yields what is a little smaller; the first that fails is taken further.
    """
    trials = 0

    def keeps_failing(candidate: T) -> bool:
        nonlocal trials
        trials += 1
        return trials <= budget and fails(candidate)

    smaller = True
    while smaller and trials < budget:
        smaller = False
        for move in moves:
            found = next(filter(keeps_failing, move(case)), None)
            if found is not None:
                case, smaller = found, True
    return case


def list_kept_parts(count: int) -> Iterator[list[int]]:
    """Yield numbers below `count` without a part of them: halves first, then ever smaller parts."""
    size = count // 2
    while size >= 1:
        for start in range(0, count, size):
            yield [*range(start), *range(start + size, count)]
        size //= 2


def restrict_steps(
    steps: Iterable[Step], chosen: Iterable[int], keys: Collection[Any] | None
) -> list[Step]:
    """Return the steps with the chosen rows only, renumbered; `keys` still have rows."""
    number_of = {old: new for new, old in enumerate(sorted(chosen))}
    kept: list[Step] = []
    for kind, *args in steps:
        if kind in ("push", "refused"):
            batch = [number_of[old] for old in args[0] if old in number_of]
            kept.append((kind, batch, *args[1:]))
        elif kind == "one":
            kept += [(kind, number_of[old]) for old in args if old in number_of]
        elif kind != "close" or keys is None or args[0] in keys:
            kept.append((kind, *args))
    return kept


def simplify_steps(steps: list[Step]) -> Iterator[list[Step]]:
    """Yield the steps without some that push nothing, ever fewer; and with two pushes in one."""
    idle = [
        place
        for place, step in enumerate(steps)
        if step[0] not in FEEDING or (step[0] == "push" and not step[1])
    ]
    for kept in ([], *list_kept_parts(len(idle))):
        dropped = {*idle} - {idle[number] for number in kept}
        if dropped:
            yield [step for place, step in enumerate(steps) if place not in dropped]
    for place, (step, following) in enumerate(itertools.pairwise(steps)):
        if step[0] == following[0] == "push":
            yield [*steps[:place], ("push", [*step[1], *following[1]]), *steps[place + 2 :]]
