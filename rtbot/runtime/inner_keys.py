"""Keys inside a key: their table, and their state as one array per field.

The rows of a push get their places before a loop runs, all at once, so that generated code never
hashes. A place whose state is as at the start is as if it were not there: it is given back when
room is short, which no result shows. Where keys have a `ttl`, so is one that no later row of its
owner can find: one that was renewed long before another of its owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import grow_array
from rtbot.core.batch import DTYPES
from rtbot.core.times import INT64_MIN
from rtbot.operator.declarations import Space
from rtbot.runtime.keys import KeyTable
from rtbot.runtime.state_owner import check_places, check_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from rtbot.compiler.calls import SpaceLayout
    from rtbot.runtime.state_owner import Saved

NONE = -1
"""The place of a row without a key, or with one that is not known."""

FEW, MANY = 16, 65_536
"""Inner keys for which there is room at first; those that `locate_one` remembers at most."""


class InnerKeys:
    """The state of one `Space` for all keys of a session.

    A key of the session has a number of its own, `owners` by slot, which no other ever gets: one
    that is closed leaves its inner keys behind, until the next sweep. `moved` says that arrays of
    `fields` are others than before.
    """

    def __init__(self, layout: SpaceLayout, kernels: ModuleType) -> None:
        self.layout = layout
        self.keys = KeyTable(("owner", "key"), kernels)
        self.keys.kinds = ["integer", "integer"]
        self.owners = np.full(1, NONE)
        self.numbers = 0
        self.moved = False
        self.met: dict[tuple[int, Any], int] = {}
        self.fields = {
            name: np.full(FEW, start, DTYPES[kind]) for name, kind, start in layout.fields
        }

    @property
    def room(self) -> int:
        """How many inner keys there is room for."""
        return len(next(iter(self.fields.values())))

    def grow(self, capacity: int) -> None:
        """Make room for so many keys of the session."""
        self.owners = grow_array(self.owners, capacity, NONE)

    def clear(self, slot: int) -> None:
        """Make the slot as new: its inner keys belong to nobody now."""
        self.owners[slot] = NONE
        self.met.clear()

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:
        """Yield the codes of texts among inner keys, and in their state."""
        places, _ = self._find_owned(self.owners[slots])
        if self.layout.key == "text":
            yield self.keys.rows_of(places)[:, 1]
        for name, kind, _ in self.layout.fields:
            if kind == "text":
                yield self.fields[name][places]

    # ---- places of rows

    def locate(
        self,
        slots: np.ndarray,
        rows: tuple[np.ndarray, np.ndarray, np.ndarray | None],
        *,
        create: bool,
    ) -> np.ndarray:
        """Return the place of each row's key, int64; NONE where there is none.

        `rows` are the runs, one for each of `slots`, the keys, and in which rows there is one, None
        for all. If `create`, new keys get a place.
        """
        starts, values, mask = rows
        pairs = np.empty((len(values), 2), np.int64)
        pairs[:, 0] = np.repeat(self._number_owners(slots), np.diff(starts))
        pairs[:, 1] = encode_keys(values, self.layout.key)
        if mask is None:
            return self._find(pairs, create=create)
        places = np.full(len(values), NONE)
        places[mask] = self._find(pairs[mask], create=create)
        return places

    def locate_one(self, slot: int, value: Any, *, create: bool) -> int:
        """Return the place of one key of a slot, as `locate` does; one met before is looked up."""
        pair = slot, value if value == value else None
        place = self.met.get(pair)
        if place is None:
            rows = np.array([0, 1]), np.array([value], DTYPES[self.layout.key]), None
            place = int(self.locate(np.array([slot]), rows, create=create)[0])
            if place != NONE:
                if len(self.met) >= MANY:
                    self.met.clear()
                self.met[pair] = place
        return place

    def _find(self, pairs: np.ndarray, *, create: bool) -> np.ndarray:
        """Return the places of (owner, key), a row each."""
        words = pairs.ravel()
        places, missing = self.keys.find(words)
        if missing and create:
            if self._make_room(missing):
                places, _ = self.keys.find(words)
            self.keys.mark()  # nothing is rolled back: the rows are accepted
            self.keys.add(pairs[places < 0].ravel())
            places, _ = self.keys.find(words)
        return np.array(places, np.int64)

    def _number_owners(self, slots: np.ndarray) -> np.ndarray:
        """Return the numbers of these keys of the session; one without gets the next."""
        known: np.ndarray = self.owners[slots]
        new = known < 0
        count = int(np.count_nonzero(new))
        if count:
            known[new] = np.arange(self.numbers, self.numbers + count)
            self.numbers += count
            self.owners[slots] = known
        return known

    def _make_room(self, wanted: int) -> bool:
        """Make room for so many more inner keys; return whether others were given back."""
        free = self.room - self.keys.count + len(self.keys.free)
        if free >= wanted:
            return False
        swept = self.sweep()
        used = self.keys.count - len(self.keys.free) + wanted
        if 2 * used > self.room:
            self._resize(max(2 * used, len(self.owners)))
        return swept

    def _resize(self, room: int) -> None:
        for name, _, start in self.layout.fields:
            self.fields[name] = grow_array(self.fields[name], room, start)
        self.moved = True

    def sweep(self) -> bool:
        """Give back the places of those whose state is as at the start, and of closed keys."""
        places, whose = self._find_owned(self.owners)
        held = np.zeros(self.keys.count, bool)
        held[places] = self._find_living(places, whose)
        dropped = np.setdiff1d(self.keys.find_open(), np.flatnonzero(held))
        self.keys.drop(dropped.tolist())
        self.met.clear()
        for name, _, start in self.layout.fields:
            self.fields[name][dropped] = start
        return bool(len(dropped))

    def _find_owned(self, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of the inner keys of these owners, and whose each is, by number."""
        places = self.keys.find_open()
        own = self.keys.rows_of(places)[:, 0]
        order = np.argsort(owners)
        if not len(owners):
            return places[:0], places[:0]
        found = np.searchsorted(owners, own, sorter=order)
        whose = order[np.minimum(found, len(owners) - 1)]
        is_owned = owners[whose] == own
        return places[is_owned], whose[is_owned]

    def _find_living(self, places: np.ndarray, whose: np.ndarray) -> np.ndarray:
        """Return which of these have another state than at the start, bit for bit, and still live.

        `whose` they are is a number for each.
        """
        changed = np.zeros(len(places), bool)
        for name, kind, start in self.layout.fields:
            if name == Space.RENEWED:
                continue
            array = self.fields[name][places]
            words = array if kind == "boolean" else array.view(np.int64)
            changed |= words != np.array(start, array.dtype).view(words.dtype)
        if self.layout.ttl is not None and len(places):
            renewed = self.fields[Space.RENEWED][places]
            newest = np.full(int(whose.max()) + 1, INT64_MIN)
            np.maximum.at(newest, whose, renewed)
            changed &= ~find_older(renewed, newest[whose], self.layout.ttl)
        return changed

    # ---- saving

    def save(self, slots: np.ndarray) -> Saved:
        """Return what these keys of the session hold; places stay, as other state has them."""
        places, whose = self._find_owned(self.owners[slots])
        kept = self._find_living(places, whose)
        places, whose = places[kept], whose[kept]
        arrays = {"place": places.astype(np.int64), "owner": whose.astype(np.int64)}
        arrays["key"] = self.keys.rows_of(places)[:, 1].copy()
        return {}, arrays | {f"field {name}": own[places] for name, own in self.fields.items()}

    def restore(self, values: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved: the keys of the session are numbered as their slots."""
        del values
        self.met.clear()
        places, owners = arrays["place"], arrays["owner"]
        count = int(places.max(initial=-1)) + 1
        check_places(owners, len(self.owners))
        for name in ("place", "owner", "key"):
            if check_words(name, arrays[name], np.dtype(np.int64)) != len(places):
                raise ValueError(f"{len(places)} places of inner keys, and more or fewer of {name}")
        if len(np.unique(places)) != len(places) or places.min(initial=0) < 0:
            raise ValueError("inner keys share a place")
        self.numbers = int(owners.max(initial=-1)) + 1
        self.owners[: self.numbers] = np.arange(self.numbers)
        self.keys.fill(places, np.stack([owners, arrays["key"]], 1))
        self._resize(max(2 * count, FEW))
        for name, own in self.fields.items():
            check_words(name, arrays[f"field {name}"], own.dtype)
            own[places] = arrays[f"field {name}"]


def find_older(times: np.ndarray, now: np.ndarray, span: int) -> np.ndarray:
    """Return where times <= now - span in exact arithmetic, for times <= now."""
    reaches = now >= INT64_MIN + span
    older: np.ndarray = reaches & (times <= np.where(reaches, now, 0) - span)
    return older


def encode_keys(values: np.ndarray, kind: str) -> np.ndarray:
    """Return keys as int64 words: NaN is equal to NaN, and -0.0 to 0.0."""
    if kind != "number":
        return values.astype(np.int64)
    numbers = values.astype(np.float64) + 0.0
    numbers[numbers != numbers] = np.nan
    return numbers.view(np.int64)
