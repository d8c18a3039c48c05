"""What a run or a push released: one table per output, and all of them as one wide table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np


class Result(dict[str, "Mapping[str, np.ndarray]"]):
    """A dict from output to its table: a dict of equally long numpy arrays.

    A table has the key columns (int64, or objects where text or null), `t` (int64), `value`
    (float64, int64, bool, or objects for text) and, where the output may be null, `value_valid`
    (bool). Rows are in the order of (key, t).
    """

    def __init__(
        self, outputs: Mapping[str, Mapping[str, np.ndarray]], key: Sequence[str] = ()
    ) -> None:
        super().__init__(outputs)
        self.key = tuple(key)

    def to_arrow(self) -> Any:
        """Return one pyarrow Table: `t`, the key columns, then a column per output.

        It has a row for every (key, t) at which any output has a message, in that order; where an
        output has none, or null, its cell is null.
        """
        from rtbot.tables.wide import wide

        return wide(self, self.key)

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a pandas frame.

        Integers and booleans with nulls get pandas' nullable types; numbers stay float64, where a
        null is NaN.
        """
        import pandas as pd
        import pyarrow as pa

        nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        table = self.to_arrow()
        return pd.DataFrame(
            {
                name: column.to_pandas(types_mapper=nullable.get if column.null_count else None)
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )


def joined(parts: Sequence[Result]) -> Result:
    """Return results that follow one another as one, every output in the order of (key, t)."""
    from rtbot.tables.wide import in_order, put_together

    key = parts[0].key
    return Result(in_order(put_together(parts), key), key)
