"""The shortest way of one message: a plain value comes in, plain values come out.

It is one closure, whose variables are found faster than attributes, and it calls compiled code by
its entry point, without the search for one that fits the types of the arguments: these are known.
What it does not take goes the way of `PushPath.push`, which says what is wrong.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rtbot.compiler.jit import find_entry
from rtbot.runtime.kernels.rows import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.runtime.direct_path import DirectPath
    from rtbot.runtime.executor import Executor

    Push = Callable[[Any, Any, Any], dict[str, Any]]

AHEAD = 64
"""Messages of a key for which there is room in its lists, once two have come in a row."""


def take_slot(known: Callable[[Any, int], int]) -> Callable[[Any], int]:
    """Return the function from a key that has come before to its slot; -1 for others."""
    return lambda key: known(key, -1) if type(key) is int or type(key) is str else -1


def take_room(runner: Executor) -> Callable[[int], tuple[Any, ...]]:
    """Return the function from a slot to arrays with room for a message in its lists.

    Where messages come to one key, room is made for the next `AHEAD` of them; so that none takes it
    uncounted, all ways of a path have the same function.
    """
    known, left, changes = -1, 0, -1
    arrays: tuple[Any, ...] = ()

    def reserve(slot: int) -> tuple[Any, ...]:
        nonlocal known, left, changes, arrays
        left -= 1
        if left < 0 or slot != known or changes != runner.changes:
            left = AHEAD if slot == known else 0
            runner.reserve_one(slot, left + 1)
            arrays = runner.with_spans
            known, changes = slot, runner.changes
        return arrays

    return reserve


def take_cells(path: DirectPath) -> tuple[Any, Callable[[Any], Any] | None]:
    """Return the type of the messages that go the shortest way, and what takes one apart.

    That gives the values that the function takes, None of a message with values of other types. It
    is None itself where a message is one value; there is no type if none goes that way.
    """
    kinds = (*path.plain_types.values(),)
    if not kinds or None in kinds:
        return path.plain, None
    if path.spread:
        return list, lambda value: value if (*map(type, value),) == kinds else None
    choose, width = itemgetter(*path.plain_types), len(kinds)

    def take(value: dict[str, Any]) -> Any:
        try:
            cells = choose(value) if width > 1 else (choose(value),)
        except KeyError:
            return None
        return cells if len(value) == width and (*map(type, cells),) == kinds else None

    return dict, take


def bind_push(path: DirectPath, otherwise: Push) -> Push:
    """Return the way of a path that has had a message; `otherwise` is that of what it refuses."""
    session, runner, port = path.session, path.runner, path.feed
    plain, take_apart = take_cells(path)
    keyed, whole, collect = path.keyed, plain is int, path.collect
    counts, rows, recover = path.counts, path.rows, path.recover
    spans, [(output, _, flag, place, take)] = path.call.spans, path.outputs[:1]
    single = len(path.outputs) == 1 and take is None
    call, find_slot, reserve = find_entry(path.generated), take_slot(path.known), path.reserve

    def push(time: Any, value: Any, key: Any) -> dict[str, Any]:
        if type(value) is not plain or type(time) is not int or session.finished or session.broken:
            return otherwise(time, value, key)
        slot = find_slot(key) if keyed else 0 if key is None else -1
        cells = () if take_apart is None else take_apart(value)
        if slot < 0 or cells is None or (whole and not FIRST <= value <= LAST):
            return otherwise(time, value, key)
        view = port.view
        if time <= view[slot] or time <= port.floor:
            return otherwise(time, value, key)
        try:
            view[slot] = time
            counts["arrived"] += 1
            if cells:
                arrays = reserve(slot) if spans else (runner.F, runner.I)
                found = call(slot, time, *cells, *arrays)
            elif spans:
                found = call(slot, time, value, *reserve(slot))
            else:
                found = call(slot, time, value, runner.F, runner.I)
        except BaseException as error:  # noqa: BLE001 (raised again; interrupts count)
            return recover(error, time, value, key)
        if not single:
            return collect(found, time, key)
        if not found[flag]:
            return {}
        rows[output] += 1
        return {output: [(key, time, found[place]) if keyed else (time, found[place])]}

    return push
