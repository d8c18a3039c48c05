"""The operator of a region that looks up right rows: left rows keep what they were given."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import weighing
from rtbot.relations.region_operator import Fault, make_size_fault
from rtbot.relations.row_codec import MASK_BITS, find_nulls
from rtbot.relations.weighed import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Given = tuple[tuple[bytes, int], ...]
    """Right rows with their counts."""

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

MOST = 2**63 - 1
NOTHING: Given = ()


class Entry:
    """The right rows of one key with their counts; `given` are they as left rows keep them."""

    __slots__ = ("counts", "given")

    def __init__(self) -> None:
        self.counts: dict[bytes, int] = {}
        self.given: Given | None = None

    def look_up(self) -> Given:
        """Return the rows; left rows that come between two changes share them."""
        if self.given is None:
            self.given = tuple(self.counts.items())
        return self.given


@dataclass
class Made:
    """What transactions emit: pairs of left rows and right ones (None if missing), and weights."""

    lefts: list[bytes] = field(default_factory=list)
    rights: list[bytes | None] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])

    def cut(self, rows: int) -> None:
        """Forget all but the first rows."""
        del self.lefts[rows:], self.rights[rows:], self.weights[rows:]


class BadLookupError(Exception):
    """A transaction is bad: the fault."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault


class LookedUpOperator:
    """Left rows with the right rows of their key as they are when they come.

    The setting is {"how": inner or left, "on": ((left place, right place), ...)}. A left row has
    versions, the newest last: so many copies, and what they were given. Rows are bytes of words.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        _kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.schemas = [plan.streams[stream] for stream in node.inputs]
        self.output = plan.streams[node.output]
        self.pads = node.setting["how"] == "left"
        self.places = [list(places) for places in zip(*node.setting["on"], strict=True)]
        self.most = plan.max_delta_rows
        self._clear()

    def _clear(self) -> None:
        self.entries: dict[bytes, Entry] = {}
        self.versions: dict[bytes, list[tuple[int, Given]]] = {}
        self.undone: list[list[tuple[Any, ...]]] = []
        """What every transaction of the last run has changed, in its order."""

    # ---- transactions

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take transactions, right changes first, and emit what left rows are given or lose."""
        sides = [self._read_side(side, deltas) for side, deltas in enumerate(inputs)]
        made, self.undone = Made(), []
        fault = None
        for transaction in range(len(inputs[0].starts) - 1):
            changed: list[tuple[Any, ...]] = []
            try:
                self._change_right(transaction, sides[1], changed)
                self._change_left(transaction, sides[0], changed, made)
            except BadLookupError as error:
                self._undo(changed)
                made.cut(made.starts[-1])
                fault = error.fault
                break
            self.undone.append(changed)
            made.starts.append(len(made.weights))
        return self._make_deltas(made), fault

    def _read_side(self, side: int, deltas: Deltas) -> tuple[list[bytes], list[bytes | None], Any]:
        """Return the rows of a side as bytes, their keys (None where one is null), and starts."""
        schema, places = self.schemas[side], self.places[side]
        nulls = np.zeros(len(deltas), np.bool_)
        for place in places:
            found = find_nulls(schema, deltas.words, place)
            nulls |= False if found is None else found
        rows, keys = split_rows(deltas.words), split_rows(deltas.words[:, places])
        known = [None if null else key for key, null in zip(keys, nulls.tolist(), strict=True)]
        return rows, known, (deltas.starts.tolist(), deltas.weights.tolist())

    def _net(self, transaction: int, side: Any) -> Iterator[tuple[bytes, bytes | None, int]]:
        """Yield the rows that a transaction changes, with their keys and net weights."""
        rows, keys, (starts, weights) = side
        first, last = starts[transaction], starts[transaction + 1]
        sums: dict[bytes, int] = {}
        places: dict[bytes, int] = {}
        for row in range(first, last):
            sums[rows[row]] = sums.get(rows[row], 0) + weights[row]
            places[rows[row]] = row
        for name, weight in sums.items():
            if weight:
                yield name, keys[places[name]], weight

    def _change_right(self, transaction: int, side: Any, changed: list[tuple[Any, ...]]) -> None:
        for row, key, weight in self._net(transaction, side):
            if key is None:
                continue
            entry = self.entries.get(key)
            before = 0 if entry is None else entry.counts.get(row, 0)
            self._check(transaction, before + weight, 1, row)
            changed.append((key, row, before))
            self._put_right(key, row, before + weight)

    def _put_right(self, key: bytes, row: bytes, count: int) -> None:
        """Let a right row be there so many times."""
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry()
        entry.given = None
        if count:
            entry.counts[row] = count
        elif len(entry.counts) > 1 or row not in entry.counts:
            entry.counts.pop(row, None)
        else:
            del self.entries[key]

    def _change_left(
        self, transaction: int, side: Any, changed: list[tuple[Any, ...]], made: Made
    ) -> None:
        begun = made.starts[-1]
        for row, key, weight in self._net(transaction, side):
            versions = self.versions.setdefault(row, [])
            changed.append((row, tuple(versions)))
            if weight > 0:
                self._check(transaction, sum(count for count, _ in versions) + weight, 0, row)
                entry = None if key is None else self.entries.get(key)
                given = NOTHING if entry is None else entry.look_up()
                versions.append((weight, given))
                self._emit(transaction, row, weight, given, made)
            else:
                self._take_newest(transaction, row, -weight, made)
            if len(made.weights) - begun > self.most:
                size = len(made.weights) - begun
                raise BadLookupError(make_size_fault(transaction, size, self.most))

    def _take_newest(self, transaction: int, row: bytes, copies: int, made: Made) -> None:
        """Take copies of a left row out, with what they were given."""
        versions = self.versions[row]
        while copies:
            if not versions:
                self._check(transaction, -copies, 0, row)
            count, given = versions.pop()
            taken = min(count, copies)
            copies -= taken
            if count > taken:
                versions.append((count - taken, given))
            self._emit(transaction, row, -taken, given, made)
        if not versions:
            del self.versions[row]

    def _emit(self, transaction: int, row: bytes, weight: int, given: Given, made: Made) -> None:
        for right, count in given:
            self._check(transaction, abs(weight) * count, 0, row)
            made.lefts.append(row)
            made.rights.append(right)
            made.weights.append(weight * count)
        if self.pads and not given:
            made.lefts.append(row)
            made.rights.append(None)
            made.weights.append(weight)

    def _check(self, transaction: int, count: int, port: int, row: bytes) -> None:
        """Raise BadLookupError unless a row can be there so many times."""
        if 0 <= count <= MOST:
            return
        code = weighing.EXCESS if count < 0 else weighing.OVERFLOW
        words = np.frombuffer(row, np.int64)
        raise BadLookupError(Fault(transaction, *MESSAGES[code], port=port, words=words))

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the last transactions out, the latest first."""
        for _ in range(len(inputs[0].starts) - 1):
            self._undo(self.undone.pop())

    def _undo(self, changed: list[tuple[Any, ...]]) -> None:
        for change in reversed(changed):
            if len(change) == 3:
                self._put_right(*change)
            elif change[1]:
                self.versions[change[0]] = list(change[1])
            else:
                self.versions.pop(change[0], None)

    def _make_deltas(self, made: Made) -> Deltas:
        """Return pairs as rows of the output."""
        left, right = self.schemas
        lefts, alone = join_words(made.lefts, left), b"\0" * (8 * right.width)
        rights = join_words([alone if one is None else one for one in made.rights], right)
        missing = np.array([one is None for one in made.rights], np.bool_)
        fields = len(left) + len(right)
        words = np.zeros((len(lefts), self.output.width), np.int64)
        words[:, : len(left)] = lefts[:, : len(left)]
        words[:, len(left) : fields] = rights[:, : len(right)]
        for place, one in enumerate(self.output):
            if not one.type.nullable:
                continue
            is_left = place < len(left)
            schema, own = (left, lefts) if is_left else (right, rights)
            found = find_nulls(schema, own, place if is_left else place - len(left))
            nulls = np.zeros(len(words), np.bool_) if found is None else found
            nulls = nulls if is_left else nulls | missing
            words[:, fields + place // MASK_BITS] |= nulls.astype(np.int64) << place % MASK_BITS
        return Deltas(np.array(made.starts, np.int64), words, np.array(made.weights, np.int64))

    # ---- state

    def count_bytes(self) -> int:
        """Return about how many bytes rows and counts have, without the tables of Python."""
        right = sum(len(entry.counts) for entry in self.entries.values())
        left, versions = len(self.versions), sum(map(len, self.versions.values()))
        widths = [8 * schema.width for schema in self.schemas]
        return left * widths[0] + right * (widths[1] + 8) + versions * 16

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows of both sides, and in what left rows were given."""
        _, arrays = self.save()
        for schema, names in zip(self.schemas, (("left",), ("right", "given")), strict=True):
            texts = [place for place, one in enumerate(schema) if one.type.kind == "text"]
            for name in names:
                words = arrays[f"{name}.words"].reshape(-1, schema.width)
                yield from (words[:, place] for place in texts)

    def save(self) -> Saved:
        """Return right rows with counts, versions of left rows, and what these were given."""
        left, right = self.schemas
        rights = [pair for entry in self.entries.values() for pair in entry.counts.items()]
        versions = [(row, *one) for row, own in self.versions.items() for one in own]
        numbers: dict[Given, int] = {}
        given = [numbers.setdefault(found, len(numbers)) for _, _, found in versions]
        pairs = [pair for found in numbers for pair in found]
        arrays = {
            "right.words": join_words([row for row, _ in rights], right).ravel(),
            "right.counts": np.array([count for _, count in rights], np.int64),
            "left.words": join_words([row for row, _, _ in versions], left).ravel(),
            "left.copies": np.array([count for _, count, _ in versions], np.int64),
            "left.given": np.array(given, np.int64),
            "given.sizes": np.array([len(found) for found in numbers], np.int64),
            "given.words": join_words([row for row, _ in pairs], right).ravel(),
            "given.counts": np.array([count for _, count in pairs], np.int64),
        }
        return {}, arrays

    def restore(
        self,
        values: Mapping[str, Any],  # noqa: ARG002
        arrays: Mapping[str, np.ndarray],
    ) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self._clear()
        left, right = self.schemas
        pairs = read_pairs(arrays, "given", right, "counts")
        ends = np.cumsum([0, *arrays["given.sizes"].tolist()]).tolist()
        if ends[-1] != len(pairs):
            raise ValueError("what left rows were given is not complete")
        given = [tuple(pairs[a:b]) for a, b in itertools.pairwise(ends)]
        copies = read_pairs(arrays, "left", left, "copies")
        for (row, count), number in zip(copies, arrays["left.given"].tolist(), strict=True):
            if not 0 <= number < len(given):
                raise ValueError("a left row without what it was given")
            self.versions.setdefault(row, []).append((count, given[number]))
        rights = read_pairs(arrays, "right", right, "counts")
        words = arrays["right.words"].reshape(-1, right.width)
        for (row, count), key in zip(rights, split_rows(words[:, self.places[1]]), strict=True):
            self._put_right(key, row, count)


def split_rows(words: np.ndarray) -> list[bytes]:
    """Return the bytes of every row of int64[n, width]."""
    size = 8 * words.shape[1]
    raw = np.ascontiguousarray(words).tobytes()
    return [raw[at : at + size] for at in range(0, size * len(words), size)]


def join_words(rows: Sequence[bytes], schema: Schema) -> np.ndarray:
    """Return the words int64[n, width] of rows of bytes."""
    return np.frombuffer(b"".join(rows), np.int64).reshape(-1, schema.width)


def read_pairs(
    arrays: Mapping[str, np.ndarray], name: str, schema: Schema, counts: str
) -> list[tuple[bytes, int]]:
    """Return saved rows with their counts; raise ValueError if they do not fit."""
    words, own = arrays[f"{name}.words"], arrays[f"{name}.{counts}"]
    if words.dtype != np.int64 or own.dtype != np.int64 or (own < 1).any():
        raise ValueError(f"{name}: rows without a count")
    return list(zip(split_rows(words.reshape(-1, schema.width)), own.tolist(), strict=True))
