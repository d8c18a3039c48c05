"""What a run or a push released: one table per output, and all of them as one wide table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rtbot.core.vector_names import list_places, list_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from rtbot.operator.schema import Schema
    from rtbot.tables.time_column import TimeColumn


VALUES = ("value", "value_valid")


def _join_vectors(
    outputs: Mapping[str, Mapping[str, np.ndarray]], vectors: Mapping[str, Sequence[str]]
) -> Mapping[str, Mapping[str, np.ndarray]]:
    from rtbot.tables.vector_results import join_tables

    return join_tables(outputs, vectors)


class Result(dict[str, "Mapping[str, np.ndarray]"]):
    """A dict from output to its table: a dict of equally long numpy arrays.

    A table has the key columns (int64, or objects where text or null), `t` (int64), `value`
    (float64, int64, bool, or objects for text) and, where the output may be null, `value_valid`
    (bool). Rows are in the order of (key, t). `key` names the key columns, `unit` is `io.unit`,
    `time_column` is the column of times that came in, which frames have again.

    The table of a change output, which is in `schemas`, has `t`, `weight` (int64) and the fields
    instead, with `<field>_valid` for those that may be null; where a field has the name `t` or
    `weight`, the time or the weight is `_t` or `_weight`. Its rows are in the order of t, deletes
    first.

    An output that is a record, one of `records`, is in the dict as an output for each of its
    fields, `NAME.FIELD`, which have the same rows. `result[NAME]` has a column for each field
    instead of `value`, with `<field>_valid` for those that may be null.

    The values of an output that is a vector are a float64 array (rows, elements); those that are
    null are NaN in all elements. `series` has an output for each element instead, `NAME.0`.
    """

    def __init__(
        self,
        outputs: Mapping[str, Mapping[str, np.ndarray]],
        key: Sequence[str] = (),
        unit: str | None = None,
        time_column: TimeColumn | None = None,
        schemas: Mapping[str, Schema] | None = None,
        records: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.vectors = list_vectors(records or {})
        super().__init__(_join_vectors(outputs, self.vectors) if self.vectors else outputs)
        self.series = outputs if self.vectors else self
        self.records = {n: f for n, f in (records or {}).items() if n not in self.vectors}
        self.key, self.unit, self.time_column = tuple(key), unit, time_column
        self.schemas = dict(schemas or {})

    def __missing__(self, name: str) -> Mapping[str, np.ndarray]:
        fields = self.records.get(name, ())
        if not fields:
            raise KeyError(name)
        table: dict[str, np.ndarray] = {}
        for field in fields:
            for column, values in self[f"{name}.{field}"].items():
                table[column.replace("value", field) if column in VALUES else column] = values
        return table

    def __repr__(self) -> str:
        from rtbot.viz.charts.summary import Summary

        return Summary(self._chartable(), self.key, self.unit, self._count_changes()).text()

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        """Return what a notebook shows: a table with small charts, or text where it shows none."""
        from rtbot.viz.charts.summary import Summary

        summary = Summary(self._chartable(), self.key, self.unit, self._count_changes())
        return {"text/html": summary.html(), "text/plain": summary.text()}

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        unit: str | None = None,
    ) -> str:
        """Return a chart of the outputs over time as SVG, and write it to a file if one is named.

        Numbers that share a scale are in one panel, booleans and texts are strips; nulls and NaN
        end a line; of many keys the first are shown. Of a change output it shows how many rows
        there are, and the numbers of rows with a unique key if these are few. `unit` is what times
        count since 1970, if `io.unit` is not set; times near 1970 are shown as integers.
        """
        from rtbot.storage.files import Files
        from rtbot.viz.charts.axes import TimeAxis
        from rtbot.viz.charts.change_lines import ChangeLines
        from rtbot.viz.charts.chart import draw_chart
        from rtbot.viz.charts.downsample import Collector
        from rtbot.viz.charts.summary import count_keys

        series = {name: table for name, table in self.series.items() if name not in self.schemas}
        collected = Collector(self.key)
        collected.add(series, repeats=True)
        lines = [ChangeLines(name, schema, self.key) for name, schema in self.schemas.items()]
        for one in lines:
            one.add(self[one.name], collected)
        if (end := collected.find_end()) is not None:
            for one in lines:
                one.extend(end, collected)
        names = [*series, *(name for one in lines for name in one.names)]
        clock, keys = TimeAxis(unit or self.unit), count_keys(series, self.key)
        picture = draw_chart(collected, names, clock, title, keys)
        if path is not None:
            Files().place(os.fspath(path), picture.encode())
        return picture

    def digest(self) -> dict[str, str]:
        """Return a digest of every output, in hex: equal wherever all its rows are, to the bit.

        It is that of `rtbot compare`, and does not depend on the machine. `rtbot.tables.digests`
        defines it.
        """
        from rtbot.tables.digests import digest_changes, digest_table

        return {
            name: digest_changes(table, self.schemas[name])
            if name in self.schemas
            else digest_table(table, self.key)
            for name, table in self.series.items()
        }

    def _chartable(self) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Return the tables as charts draw them: of changes, how many rows there are over time."""
        from rtbot.tables.change_values import count_rows

        if not self.schemas:
            return self.series
        return {
            name: count_rows(table, self.schemas[name], self.key) if name in self.schemas else table
            for name, table in self.series.items()
        }

    def _count_changes(self) -> dict[str, int]:
        return {name: len(next(iter(self[name].values()))) for name in self.schemas}

    def _choose_output(self, output: str | None) -> str | None:
        """Return the change output that is to be a table of its own; None for series."""
        from rtbot.core.errors import DataError, suggest_name

        if output is not None and output not in self and output not in self.records:
            hint = suggest_name(output, self) or f"the outputs are {', '.join(self)}"
            raise DataError(f"there is no output {output!r}", code="RT206", hint=hint)
        if output is None and len(self) == 1:
            (output,) = self
        if output is None and self.schemas:
            name = next(iter(self.schemas))
            message = f"{name} has changes, which are a table of their own"
            raise DataError(message, code="RT214", hint=f"name the output: {name!r}")
        return output if output in self.schemas else None

    def _choose_columns(self, output: str | None) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Return the series that are the columns of a frame, by the names of these."""
        if output in self.records:
            return {field: self[f"{output}.{field}"] for field in self.records[output]}
        if output in self.vectors:
            return {name: self.series[name] for name in self.vectors[output]}
        return self.series if output is None else {output: self[output]}

    def to_arrow(self, output: str | None = None) -> Any:
        """Return one pyarrow Table: the times, the key columns, then a column per output.

        With `output` only that one; of a change output, the times, the weights and the fields, of a
        record a column for each field. The column of a vector is a list of fixed size.

        The times have the name and the type of the column that came in; they are timestamps in
        `io.unit` where that type cannot hold them all (half a second in seconds), and int64 where
        integers came in. The column is `t` where it had no name, and where an output or a key has
        the same. There is a row for every (key, t) at which any output has a message, in that
        order; where an output has none, or null, its cell is null.
        """
        from rtbot.core.arrow import to_numpy
        from rtbot.tables.time_column import OWN_NAME, build_time_column
        from rtbot.tables.vector_results import join_columns
        from rtbot.tables.wide import build_wide

        like, changes = self.time_column, self._choose_output(output)
        if changes is not None:
            from rtbot.tables.change_table import build_change_table

            table = build_change_table(self[changes], self.schemas[changes])
        else:
            columns = self._choose_columns(output)
            table = join_columns(build_wide(columns, self.key), self.vectors)
        if like is None:
            return table
        own = table.column_names[0] if changes is not None else OWN_NAME
        name = like.name if like.name not in table.column_names[1:] else own
        times = build_time_column(to_numpy(table.column(0)), like, self.unit)
        return table.set_column(0, name, times)

    def to_pandas(self, output: str | None = None) -> Any:
        """Return `to_arrow` as a pandas frame.

        Integers and booleans with nulls get pandas' nullable types; numbers stay float64, where a
        null is NaN.
        """
        import pandas as pd
        import pyarrow as pa

        nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        table = self.to_arrow(output)
        return pd.DataFrame(
            {
                name: column.to_pandas(types_mapper=nullable.get if column.null_count else None)
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )

    def to_polars(self, output: str | None = None) -> Any:
        """Return `to_arrow` as a polars frame."""
        import polars as pl

        return pl.from_arrow(self.to_arrow(output))


def merge_results(parts: Sequence[Result]) -> Result:
    """Return results that follow one another as one, every output in the order of (key, t)."""
    from rtbot.tables.wide import concat_results, sort_outputs

    key, last = parts[0].key, parts[-1]
    whole = concat_results([part.series for part in parts])
    tables: dict[str, Mapping[str, np.ndarray]] = dict(whole)
    tables |= sort_outputs({n: t for n, t in whole.items() if n not in last.schemas}, key)
    records = {**last.records, **{n: list_places(e) for n, e in last.vectors.items()}}
    return Result(tables, key, last.unit, last.time_column, last.schemas, records)
