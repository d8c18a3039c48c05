"""The same jobs in Pathway (https://github.com/pathwaycom/pathway), in an interpreter that has it.

`python peers_pathway.py JOB FILE` reads changes from a file of numpy arrays, runs them through the
job with their times, and once more the first ones alone, which fill the tables; it prints the
difference as JSON: seconds of CPU and of wall time. Nothing here imports rtbot.
"""

import json
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pathway as pw


class Row(pw.Schema):
    """Three integers."""

    a: int
    b: int
    c: int


def group(table: Any, **results: Any) -> Any:
    """Return a table by groups of `a`."""
    return table.groupby(table.a).reduce(table.a, **results)


def distinct(*tables: Any) -> Any:
    """Return the rows of tables, each once, and in how many of the tables it is."""
    marked = [
        table.groupby(table.a, table.b, table.c)
        .reduce(table.a, table.b, table.c)
        .with_columns(side=2**place)
        for place, table in enumerate(tables)
    ]
    whole = marked[0] if len(marked) == 1 else marked[0].concat_reindex(*marked[1:])
    return whole.groupby(whole.a, whole.b, whole.c).reduce(
        whole.a, whole.b, whole.c, sides=pw.reducers.sum(whole.side)
    )


JOBS = {
    "Distinct": distinct,
    "Union": distinct,
    "Intersect": lambda x, y: distinct(x, y).filter(pw.this.sides == 3),
    "Except": lambda x, y: distinct(x, y).filter(pw.this.sides == 1),
    "GroupBy": lambda x: group(x, n=pw.reducers.count(), s=pw.reducers.sum(x.b)),
    "GroupBy min max": lambda x: group(x, least=pw.reducers.min(x.b), most=pw.reducers.max(x.b)),
}


def read_frame(arrays: Any, name: str, rows: slice) -> pd.DataFrame:
    """Return changes of an input as Pathway takes them: even times, and an id for every row."""
    frame = pd.DataFrame({field: arrays[f"{name}.{field}"][rows] for field in ("a", "b", "c")})
    weights = arrays[f"{name}.weight"][rows]
    frame["__time__"] = 2 * arrays[f"{name}.t"][rows]
    frame["__diff__"] = weights
    frame.index = pd.Index(pair_rows(frame["c"].to_numpy(), weights))
    return frame


def pair_rows(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return an id for every insert, and for a delete that of an equal row that is there."""
    present: dict[int, list[int]] = {}
    ids = np.empty(len(rows), np.int64)
    for place, (row, weight) in enumerate(zip(rows.tolist(), weights.tolist(), strict=True)):
        if weight > 0:
            present.setdefault(row, []).append(place)
            ids[place] = place
        else:
            ids[place] = present[row].pop()
    return ids


def measure(job: str, frames: list[pd.DataFrame]) -> tuple[float, float]:
    """Return the seconds of CPU and wall time of a run."""
    pw.internals.parse_graph.G.clear()
    tables = [pw.debug.table_from_pandas(frame, schema=Row) for frame in frames]
    pw.io.null.write(JOBS[job](*tables))
    cpu, wall = time.process_time(), time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Measure the whole and the filling."""
    job, file = sys.argv[1:]
    arrays = np.load(file)
    names = [name for name in ("x", "y") if f"{name}.t" in arrays]
    found = []
    for is_whole in (False, True, False, True):
        ends = {name: None if is_whole else int(arrays[f"{name}.head"][0]) for name in names}
        found.append(measure(job, [read_frame(arrays, n, slice(ends[n])) for n in names]))
    spent = [min(found[1][k], found[3][k]) - min(found[0][k], found[2][k]) for k in range(2)]
    print(json.dumps({"cpu": spent[0], "wall": spent[1], "version": pw.__version__}))


if __name__ == "__main__":
    main()
