"""What a ToSeries demands of its rows: at most one for each key at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.relations.region_operator import Fault
from rtbot.relations.row_codec import list_text_words
from rtbot.relations.stores import list_key_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.deltas import Deltas
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    Key = tuple[int, ...]

SEVERAL = (
    "RT407",
    "there would be several rows, and a series has one value at a time",
    "GroupBy makes one row of many; in a keyed run rows have the key columns",
)


class SingleRow:
    """Changes as they come; a transaction after which a key has several rows is bad.

    The setting is {"key": names of fields}; without one there is one row at most. Its state is how
    many rows every key has.
    """

    def __init__(
        self,
        node: RegionNode,
        plan: RegionPlan,
        _kernels: ModuleType,
        _module: ModuleType,
        _texts: StringDictionary,
    ) -> None:
        self.schema = plan.streams[node.output]
        self.places, self.bits = list_key_parts(self.schema, node.setting["key"])
        names = set(node.setting["key"])
        kinds = [field.type.kind for field in self.schema if field.name in names]
        self.has_texts = "text" in kinds
        self.counts: dict[Key, int] = {}

    def run(self, inputs: Sequence[Deltas]) -> tuple[Deltas, Fault | None]:
        """Take transactions up to one that leaves several rows of a key."""
        deltas = inputs[0]
        keys, weights = self._list_keys(deltas), deltas.weights.tolist()
        starts = deltas.starts.tolist()
        for at in range(len(starts) - 1):
            rows = range(starts[at], starts[at + 1])
            for row in rows:
                self._add(keys[row], weights[row])
            bad = [row for row in rows if self.counts.get(keys[row], 0) > 1]
            if bad:
                for row in rows:
                    self._add(keys[row], -weights[row])
                words = min(deltas.words[row].tolist() for row in bad)
                fault = Fault(at, *SEVERAL, words=np.array(words, np.int64))
                return deltas.cut(0, at), fault
        return deltas, None

    def take_back(self, inputs: Sequence[Deltas]) -> None:
        """Take the changes out of the counts."""
        for key, weight in zip(self._list_keys(inputs[0]), inputs[0].weights.tolist(), strict=True):
            self._add(key, -weight)

    def _list_keys(self, deltas: Deltas) -> list[Key]:
        if not len(self.places):
            return [()] * len(deltas)
        return list(map(tuple, (deltas.words[:, self.places] & self.bits).tolist()))

    def _add(self, key: Key, weight: int) -> None:
        count = self.counts.get(key, 0) + weight
        if count:
            self.counts[key] = count
        else:
            self.counts.pop(key, None)

    def count_bytes(self) -> int:
        """Return the bytes of the counts, roughly."""
        return len(self.counts) * 8 * (len(self.places) + 1)

    def _save_keys(self) -> np.ndarray:
        return np.array([*self.counts], np.int64).reshape(len(self.counts), len(self.places))

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the keys."""
        if self.has_texts:
            words = np.zeros((len(self.counts), self.schema.width), np.int64)
            words[:, self.places] = self._save_keys()
            yield from list_text_words(self.schema, words)

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the keys and their counts."""
        counts = np.array([*self.counts.values()], np.int64)
        return {"keys": len(self.counts)}, {"keys": self._save_keys().ravel(), "counts": counts}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        keys = arrays["keys"].reshape(values["keys"], len(self.places)).tolist()
        self.counts = dict(zip(map(tuple, keys), arrays["counts"].tolist(), strict=True))
