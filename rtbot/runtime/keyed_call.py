"""The call of a segment with keys inside keys, message by message: places are found one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.runtime.inner_keys import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.compiler.calls import KeyColumn, SegmentCall
    from rtbot.core.batch import Batch, Column
    from rtbot.runtime.session import Session


class KeyedCall:
    """Calls the function with arguments that are made once, where there is one row or none.

    `given` are those of `Executor.make_segment_arguments` behind the call.
    """

    def __init__(self, session: Session, call: SegmentCall, *given: Any) -> None:
        self.runner = session.runner
        self.function = getattr(session.module, call.function.name)
        self.call = call
        self.given = given
        self.slots: np.ndarray = given[0]
        self.source: Batch = given[1]
        carried: list[Column] = given[3][0]
        self.keys = [(key, np.full(1, NONE), *self._find(key, carried)) for key in call.keys]
        self.version = -1
        self.arguments: Sequence[Any] = ()

    def _find(self, key: KeyColumn, carried: list[Column]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the values of a column of keys, and the flags that say in which rows is one."""
        column, flags = self.runner.find_keys(self.call, key, self.source, carried)
        return column.value, flags

    def __call__(self) -> None:
        """Call the function for what is in the buffers now."""
        runner = self.runner
        if self.source.starts[1] > 1:
            self.function(*runner.make_segment_arguments(self.call, *self.given))
            return
        if self.source.starts[1]:
            self._locate_row()
        if runner.version != self.version:
            self._bind()
        self.function(*self.arguments)

    def _locate_row(self) -> None:
        """Find the places of the one row."""
        runner, slot = self.runner, int(self.slots[0])
        for key, place, values, flags in self.keys:
            place[0] = NONE
            if all(flag[0] for flag in flags):
                space = runner.spaces[key.space]
                place[0] = space.locate_one(slot, values[:1], create=key.create)
                if space.moved:
                    runner.renew_views()

    def _bind(self) -> None:
        """Make the arguments, with the places of the one row."""
        function = self.call.function
        found = [*self.runner.make_segment_arguments(self.call, *self.given)]
        names = function.reads[len(function.reads) - len(self.keys) :]
        for name, (_, place, _, _) in zip(names, self.keys, strict=True):
            found[function.parameters.index(name)] = place
        self.version = self.runner.version
        self.arguments = found
