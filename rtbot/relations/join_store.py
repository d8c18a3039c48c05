"""What joins remember: the rows of each side, and the join keys that lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.operator.declarations import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.join_views import KEYED, ROW
from rtbot.relations.row_codec import MASK_BITS
from rtbot.relations.stores import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from rtbot.relations.join_views import StateView

    Arrays = dict[str, np.ndarray]

KEY_CELLS = 4
NO_TABLE = np.empty(0, np.int64)


class JoinSide(Store):
    """The rows of a side; `cells` and `matches` are as in kernels/join_index.py and matching.py.

    `places` and `nulls` say where the join key of a row is. There are `matches` where a condition
    decides whether a row comes out alone.
    """

    def __init__(
        self,
        kernels: ModuleType,
        schema: Schema,
        view: StateView,
        key: Sequence[int],
        *,
        counts_matches: bool,
    ) -> None:
        self.view = view
        columns = {"cells": 2, "matches": 2} if counts_matches else {"cells": 2}
        super().__init__(kernels, schema, columns, view.unique if view.kind == KEYED else None)
        self.key_places = np.array(key, np.int64)
        nulls = [
            (len(schema) + place // MASK_BITS, 1 << place % MASK_BITS)
            if schema.fields[place].type.nullable
            else (0, 0)
            for place in key
        ]
        self.key_nulls = np.array(nulls, np.int64).reshape(-1)

    def _make_table(self, limit: int) -> np.ndarray:
        """Return an empty table, without room where the chain of a join key finds its one row."""
        return NO_TABLE if self.view.kind == ROW else super()._make_table(limit)

    @property
    def matches(self) -> np.ndarray:
        """The matches of all rows; empty if they are not counted."""
        return self.columns.get("matches", NO_TABLE)

    def hash_joined(self, words: np.ndarray, keys: JoinKeys) -> tuple[np.ndarray, np.ndarray]:
        """Return the hashes of rows, if a table finds them, and those of their join keys.

        The latter are -1 where a key has a null and so equals none.
        """
        tags = np.empty(len(words) if len(self.table) else 0, np.int64)
        key_tags = np.empty(len(words), np.int64)
        self.kernels.hash_joined_rows(
            words.reshape(-1), self.width, self.places, self.bits, self.key_places, self.key_nulls,
            keys.safe, keys.key, keys.places, keys.bits, tags, key_tags,
        )  # fmt: skip
        return tags, key_tags

    def find_ids(self) -> np.ndarray:
        """Return the ids in use, ascending."""
        return np.flatnonzero(self.columns["cells"][0 : 2 * int(self.meta[0]) : 2])

    def save_rows(self) -> tuple[int, Arrays]:
        """Return how many rows there are, and the arrays that bring them back."""
        arrays = {
            "words": self._select("words", self.width).ravel(),
            "weights": self._select("cells", 2)[:, 0].copy(),
        }
        if "matches" in self.columns:
            arrays["matches"] = self._select("matches", 2)[:, 0].copy()
        return len(self), arrays

    def read_rows(self, rows: int, arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return words and weights that `save_rows` returned; ValueError if they do not fit."""
        widths = {"words": self.width, "weights": 1} | dict.fromkeys(
            ("matches",) if "matches" in self.columns else (), 1
        )
        for name, width in widths.items():
            array = arrays[name]
            if array.dtype != np.int64 or array.shape != (rows * width,):
                raise ValueError(f"{name}: {array.shape} of {array.dtype}, not {rows} by {width}")
        if (arrays["weights"] < 1).any() or (arrays.get("matches", arrays["weights"]) < 0).any():
            raise ValueError("rows without a weight")
        return arrays["words"].reshape(rows, self.width), arrays["weights"]

    def restore_matches(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the matches of rows that came in the order of these arrays."""
        if "matches" in self.columns:
            self.matches[0 : 2 * len(self) : 2] = arrays["matches"]


class JoinKeys(Store):
    """The join keys that any row has, each with its chains and counts.

    `safe` has 1 for a part in which null is equal to null. `key` has room for one key.
    """

    def __init__(
        self, kernels: ModuleType, schema: Schema, key: Sequence[int], safe: Sequence[bool]
    ) -> None:
        fields = [
            Field(f"k{n}", Type(schema.fields[place].type.kind)) for n, place in enumerate(key)
        ]
        if any(safe) or not fields:
            fields.append(Field("nulls", Type("integer")))
        super().__init__(kernels, Schema(tuple(fields)), {"cells": KEY_CELLS})
        self.safe = np.array(safe, np.int64)
        self.key = np.zeros(self.width, np.int64)

    def save_counts(self) -> tuple[int, Arrays]:
        """Return the keys that have right rows, which are only counted."""
        ids = self.find_ids()
        ids = ids[self.columns["cells"].reshape(-1, KEY_CELLS)[ids, 3] > 0]
        return len(ids), {
            "words": self.words.reshape(-1, self.width)[ids].ravel(),
            "counts": self.columns["cells"].reshape(-1, KEY_CELLS)[ids, 3],
        }

    def restore_counts(self, rows: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save_counts` returned, in place of all keys."""
        counts = arrays["counts"]
        if counts.dtype != np.int64 or counts.shape != (rows,) or (counts < 1).any():
            raise ValueError("keys without a count")
        cells = np.zeros((rows, KEY_CELLS), np.int64)
        cells[:, 3] = counts
        self.restore({"rows": rows}, {"words": arrays["words"], "cells": cells.ravel()})
