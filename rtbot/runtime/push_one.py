"""One message of `push_one`: its checks, and the general path for inputs without a faster one."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rtbot.compiler.user_step_errors import to_step_error
from rtbot.core.arrays import put_nulls
from rtbot.core.errors import DataError, QueueFull, StateError
from rtbot.core.vector_names import RECORD, VECTOR
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.tables import TableSpec, to_columns
from rtbot.tables.record_column import RecordColumn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.runtime.result import Result
    from rtbot.runtime.session import Session


PLAIN_TYPES = {"number": float, "boolean": bool}
"""The types of Python of which every value is one of the kind."""


class UnservedError(Exception):
    """The path leaves a message to the general one; nothing has changed."""


PLAIN_VALUES = {**PLAIN_TYPES, "integer": int}
"""The types of Python of values that are taken as they are, integers if they fit."""


class PushPath:
    """What all paths share: the checks of one message, and the general path where they fail."""

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.name = name
        self.feed = session.input_ports[name]
        self.kind = self.feed.type.kind
        self.keyed = session.keys is not None
        self.known = session.known_slots.get
        spec = session.specs[name]
        self.spec = TableSpec(
            spec.name, spec.kind, spec.nullable, (), spec.unit, clock=spec.clock, fields=spec.fields
        )
        self.plain: Any = PLAIN_VALUES.get(self.kind)
        self.plain_types = {one.name: PLAIN_TYPES.get(str(one.type)) for one in spec.fields}
        self.plain_cells = [*self.plain_types.values()] if spec.kind == VECTOR else []
        self.row_specs = {name: replace(self.spec, key=session.key)}

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push one message, as `Session.push_one`."""
        session = self.session
        if session.finished or session.broken:
            session.check_open()
        if (
            type(value) is not self.plain
            or type(time) is not int
            or (self.plain is int and not FIRST <= value <= LAST)
        ):
            time, value = self._convert_message(time, value)
        slot = 0
        if self.keyed:
            given = key
            if type(key) is not int and type(key) is not str:
                key = plain(key)
            slot = self.known(key, -1)
            if slot < 0:
                return self._push_first(time, value, given)
        elif key is not None:
            raise make_unkeyed_error()
        port = self.feed
        if time <= port.view[slot] or time <= port.floor:
            return self.push_general(time, value, key)
        try:
            return self._run(slot, time, value, key)
        except BaseException as error:  # noqa: BLE001 (raised again; interrupts count)
            return self.recover(error, time, value, key)

    def recover(self, error: BaseException, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push by the general path what the work has left to it; else raise the error."""
        unchanged = isinstance(error, UnservedError)
        if not unchanged and time <= LAST:  # beyond that the port, which takes it first, has not
            self._break_off(error)
        return self.push_general(time, value, key)

    def list_functions(self) -> list[Any]:
        """Return the generated functions that the path has looked up, and calls."""
        return []

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Do the work; raise QueueFull or UnservedError, and no other, before anything changes."""
        raise NotImplementedError

    def _break_off(self, error: BaseException) -> NoReturn:
        """Raise the error of the work; the session is broken unless the message was refused."""
        if isinstance(error, QueueFull):
            raise error
        self.session.broken = True
        found = to_step_error(error, self.session.plan) if isinstance(error, Exception) else None
        if found is None:
            raise error
        raise found from error

    def _convert_message(self, time: Any, value: Any) -> tuple[int, Any]:
        if self.plain_types and type(time) is int and self._is_plain(value):
            return time, value
        checked = to_columns({"t": [time], "value": [value]}, self.spec)
        if not len(checked) and self.kind == RECORD and value is not None:
            cells = {f.name: value[f.name] for f in self.spec.fields if not f.type.nullable}
            name = next((name for name, cell in cells.items() if cell is None), "")
            message = f"null in the field {name}, which takes none"
            if not name:  # what is null as well, such as NaN in place of a text
                message = "null in a field that takes none"
            raise DataError(message, code="RT211", input=self.name, time=time)
        if not len(checked):
            message = "a null for an input that takes none"
            raise DataError(message, code="RT211", input=self.name, time=time)
        if checked.valid is not None and not checked.valid[0]:
            return int(checked.time[0]), None
        if isinstance(checked.value, RecordColumn):
            return int(checked.time[0]), checked.value.tolist()[0]
        if self.kind == "text":
            return int(checked.time[0]), value
        return int(checked.time[0]), checked.value[0].item()  # type: ignore[union-attr]

    def _is_plain(self, value: Any) -> bool:
        """Return whether all values of a message have the types that functions take."""
        if self.plain_cells:
            return type(value) in (list, tuple) and [*map(type, value)] == self.plain_cells
        if type(value) is not dict:
            return False
        return {name: type(cell) for name, cell in value.items()} == self.plain_types

    def _push_first(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push the first message of a key: the general path finds or makes its slot."""
        released = self.push_general(time, value, key)
        session = self.session
        assert session.keys is not None
        key = plain(key)
        if key is not ...:
            session.known_slots[key] = session.keys.find_slot(key, create=False)
        return released

    def push_general(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push by the general path, that of `Session.push`."""
        session = self.session
        row: dict[str, Any] = {"t": [time], "value": [value]}
        row |= make_key_columns(session.key, key)
        return to_rows(session.push_within({self.name: row}, self.row_specs), session.key)


class General(PushPath):
    """The path of an input that has no faster one than that of `Session.push`."""

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push one message, as `Session.push_one`."""
        self.session.check_open()
        return self.push_general(time, value, key)


class TieredPath(PushPath):
    """A path whose functions are interpreted: it notes the time, and another one takes its place.

    That happens when they have gone over to compiled code.
    """

    def __init__(self, path: PushPath) -> None:
        super().__init__(path.session, path.name)
        self._path = path

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push one message, as `Session.push_one`."""
        started = perf_counter()
        released = self._path.push(time, value, key)
        self.session.spend(perf_counter() - started)
        return released


def plain(key: Any) -> Any:
    """Return a key of Python's own integers and texts, for look-up; `...` if it is not one.

    In a dictionary True and 1.0 are the key 1, which they are not.
    """
    parts = key if isinstance(key, tuple) else (key,)
    found: list[Any] = []
    for part in parts:
        if part is None or type(part) is int or type(part) is str:
            found.append(part)
        elif isinstance(part, np.integer):
            found.append(int(part))
        elif isinstance(part, np.str_):
            found.append(str(part))
        else:
            return ...
    return tuple(found) if len(found) != 1 else found[0]


def make_key_columns(names: Iterable[str], key: Any) -> dict[str, list[Any]]:
    """Return columns of one row of the key, a tuple where there are several."""
    names = tuple(names)
    if not names:
        if key is not None:
            raise make_unkeyed_error()
        return {}
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) != len(names):
        message = f"a key of {len(names)} columns is needed, not {key!r}"
        raise DataError(message, code="RT212")
    return {name: [part] for name, part in zip(names, parts, strict=True)}


def make_keyless_error(names: Iterable[str]) -> DataError:
    """Make the error of a message without a key for a session that has one."""
    message = f"a message without a key, which is {', '.join(names)} here"
    return DataError(message, code="RT212", hint="give key=...; None is the key that is null")


def make_unkeyed_error() -> StateError:
    """Make the error of a key for a session that has none."""
    hint = "start(key=...) makes a keyed one"
    return StateError("this session has no key", code="RT303", hint=hint)


def to_rows(result: Result, key: Iterable[str]) -> dict[str, Any]:
    """Return a result as lists of tuples, outputs without rows left out."""
    names = list(key)
    found: dict[str, Any] = {}
    for output, table in result.items():
        if not len(table["t"]):
            continue
        values = put_nulls(table["value"].tolist(), table.get("value_valid"))
        parts = [table[n].tolist() for n in names]
        keys = [parts[0]] if len(parts) == 1 else [list(zip(*parts, strict=True))] if parts else []
        found[output] = list(zip(*keys, table["t"].tolist(), values, strict=True))
    return found
