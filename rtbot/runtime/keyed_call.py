"""The call of a segment with keys inside keys, message by message: places are found one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.runtime.inner_keys import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.compiler.calls import KeyColumn, SegmentCall
    from rtbot.core.batch import Column
    from rtbot.runtime.session import Session


class KeyedCall:
    """Calls the function with arguments that are made once, where there is one row or none.

    `given` are those of `Executor.make_segment_arguments` behind the call.
    """

    def __init__(self, session: Session, function: Any, call: SegmentCall, *given: Any) -> None:
        self.runner = session.runner
        self.function = function
        self.call = call
        self.given = given
        self.slots, self.source = memoryview(given[0]), given[1]
        self.starts = memoryview(self.source.starts)
        carried: list[Column] = given[3][0]
        self.places = [np.full(1, NONE) for _ in call.keys]
        spaces = self.runner.spaces
        self.keys = [
            (key.create, spaces[key.space], memoryview(place), *self._find(key, carried))
            for key, place in zip(call.keys, self.places, strict=True)
        ]
        self.version = -1
        self.arguments: Sequence[Any] = ()

    def _find(self, key: KeyColumn, carried: list[Column]) -> tuple[Any, list[Any]]:
        """Return the values of a column of keys, and the flags that say in which rows is one."""
        column, flags = self.runner.find_keys(self.call, key, self.source, carried)
        return memoryview(column.value), [memoryview(flag) for flag in flags]

    def __call__(self) -> None:
        """Call the function for what is in the buffers now."""
        runner, rows = self.runner, self.starts[1]
        if rows > 1:
            self.function(*runner.make_segment_arguments(self.call, *self.given))
            return
        if rows:
            self._locate_row()
        if runner.grew != self.version:
            self._bind()
        self.function(*self.arguments)

    def _locate_row(self) -> None:
        """Find the places of the one row."""
        slot = self.slots[0]
        for create, space, place, values, flags in self.keys:
            place[0] = NONE
            if not flags or all(flag[0] for flag in flags):
                place[0] = space.locate_one(slot, values[0], create=create)
                if space.moved:
                    self.runner.renew_views()

    def _bind(self) -> None:
        """Make the arguments, with the places of the one row."""
        function = self.call.function
        found = [*self.runner.make_segment_arguments(self.call, *self.given)]
        names = function.reads[len(function.reads) - len(self.keys) :]
        for name, place in zip(names, self.places, strict=True):
            found[function.parameters.index(name)] = place
        self.version = self.runner.grew
        self.arguments = found
