"""A client's copy of the rows that an output of changes has led to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = tuple[Any, ...]

NOT_A_NUMBER = "NaN"
HINT = "apply the tables of one output, each once, in their order from the first on"


class Cache:
    """The rows that tables of changes lead to, each as often as it is there.

    A table is a mapping of columns: the fields, `<field>_valid` for nullable ones, `t` and `weight`
    (`_t` and `_weight` where a field has such a name). With `unique`, the names of fields, there is
    at most one row with the same values of these.

    >>> cache = Cache({"t": [1, 1], "weight": [1, 2], "id": [7, 8]})
    >>> cache.apply({"t": [2, 2], "weight": [-1, 1], "id": [8, 9]})
    >>> cache.rows()
    [{'id': 7}, {'id': 8}, {'id': 9}]
    """

    __module__ = "rtbot"

    def __init__(
        self, table: Mapping[str, Any] | None = None, *, unique: Sequence[str] | None = None
    ) -> None:
        self.unique = None if unique is None else tuple(unique)
        self.fields: tuple[str, ...] = ()
        self._counts: dict[Row, int] = {}
        self._values: dict[Row, Row] = {}
        self._keys: dict[Row, Row] = {}
        if table is not None:
            self.apply(table)

    def __len__(self) -> int:
        return sum(self._counts.values())

    def __repr__(self) -> str:
        return f"<Cache: {len(self):,} rows>"

    def apply(self, table: Mapping[str, Any]) -> None:
        """Take the changes of a table, in their order.

        StateError for a delete of a row that is not there and for a second row with one key;
        nothing is taken then. ValueError for a table of other fields.
        """
        fields, changes = read_changes(table)
        if self.fields and fields != self.fields:
            raise ValueError(f"a table of {', '.join(fields)}, not of {', '.join(self.fields)}")
        missing = set(self.unique or ()) - set(fields)
        if missing:
            raise ValueError(f"there is no field {', '.join(sorted(missing))}")
        self.fields = fields
        undo: list[tuple[Row, Row, int]] = []
        try:
            for time, weight, row in changes:
                identity = tuple(map(_identify, row))
                self._change(identity, row, weight, time)
                undo.append((identity, row, weight))
        except StateError:
            for identity, row, weight in reversed(undo):
                self._add(identity, row, -weight)
            raise

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, copies repeated, in a total order: column by column, nulls last."""
        found = sorted(self._counts, key=lambda row: [_order(cell) for cell in row])
        return [
            dict(zip(self.fields, self._values[row], strict=True))
            for row in found
            for _ in range(self._counts[row])
        ]

    def _change(self, identity: Row, row: Row, weight: int, time: Any) -> None:
        before = self._counts.get(identity, 0)
        if before + weight < 0:
            what = f"the cache has no row {self._show(row)} to delete"
            if before:
                what = (
                    f"the cache has {before} of the row {self._show(row)}, fewer than are deleted"
                )
            raise _make_error(what, time, weight)
        if weight > 0 and self.unique is not None and self._keys:
            other = self._keys.get(self._find_key(identity))
            if other is not None:
                raise _make_error(
                    f"the cache has the row {self._show(self._values[other])} with the key of "
                    f"{self._show(row)}",
                    time,
                    weight,
                )
        if weight > 1 and self.unique is not None:
            raise _make_error(f"the row {self._show(row)} comes {weight} times", time, weight)
        self._add(identity, row, weight)

    def _add(self, identity: Row, row: Row, weight: int) -> None:
        after = self._counts.get(identity, 0) + weight
        if after:
            self._counts[identity] = after
            self._values[identity] = row
        else:
            self._counts.pop(identity, None)
            self._values.pop(identity, None)
        if self.unique is not None:
            key = self._find_key(identity)
            if after:
                self._keys[key] = identity
            else:
                self._keys.pop(key, None)

    def _find_key(self, identity: Row) -> Row:
        assert self.unique is not None
        return tuple(identity[self.fields.index(name)] for name in self.unique)

    def _show(self, row: Row) -> dict[str, Any]:
        return dict(zip(self.fields, row, strict=True))


def read_changes(
    table: Mapping[str, Any],
) -> tuple[tuple[str, ...], Iterator[tuple[Any, int, Row]]]:
    """Return the fields of a table of changes, and its changes as (t, weight, row)."""
    time = "_t" if "_t" in table else "t"
    weight = "_weight" if "_weight" in table else "weight"
    for name in (time, weight):
        if name not in table:
            raise ValueError(f"a table of changes has a column {name}")
    fields = tuple(
        name for name in table if name not in {time, weight} and not _is_mask(table, name)
    )
    columns = [_list_cells(table, name) for name in fields]
    times, weights = _to_list(table[time]), _to_list(table[weight])
    cells = zip(*columns, strict=True) if columns else iter([()] * len(times))
    return fields, zip(times, weights, cells, strict=True)


def _is_mask(table: Mapping[str, Any], name: str) -> bool:
    """Return whether a column says which cells of another one are not null."""
    if not name.endswith("_valid") or name.removesuffix("_valid") not in table:
        return False
    return all(isinstance(cell, bool) for cell in _to_list(table[name]))


def _list_cells(table: Mapping[str, Any], name: str) -> list[Any]:
    cells = _to_list(table[name])
    valid = f"{name}_valid"
    if valid not in table or not _is_mask(table, valid):
        return cells
    return [
        cell if there else None for cell, there in zip(cells, _to_list(table[valid]), strict=True)
    ]


def _to_list(column: Any) -> list[Any]:
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _identify(cell: Any) -> Any:
    """Return a value that is equal for equal cells only: True, 1 and 1.0 are different."""
    if isinstance(cell, float):
        return (float, NOT_A_NUMBER if cell != cell else cell + 0.0)
    return (type(cell), cell)


def _order(cell: Any) -> tuple[Any, ...]:
    kind, value = cell
    if value is None:
        return (2,)
    return (1,) if kind is float and value == NOT_A_NUMBER else (0, value)


def _make_error(message: str, time: Any, weight: int) -> StateError:
    return StateError(f"{message} (t {time}, weight {weight})", code="RT405", hint=HINT)
