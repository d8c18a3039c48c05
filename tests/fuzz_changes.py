"""Files of changes that chance has spoilt: a kind of `python -m tests.fuzz_files`.

A good graph over a spoilt file of changes, or a query over it, ends with a result or with an error
that has a code: of data, or of a transaction. A client can apply what is written.
"""

import csv
import io
import json
import re
from collections import Counter
from functools import cache

import rtbot
from rtbot.core.error_codes import CODES

GRAPHS = (
    """inputs: {rows: {changes: {id: integer, name: text?, price: number?, new: boolean}}}
operators:
  some: {type: Where, in: rows, condition: id < 20 or new}
  per:
    {type: GroupBy, in: some, by: [name], compute: {n: count(), sum: sum(price), low: min(id)}}
  names: {type: Select, in: rows, fields: {name: upper(name), part: 60 // id}}
  each: {type: Distinct, in: names}
outputs: [per, each]
""",
    """inputs:
  rows: {changes: {id: integer, name: text?, price: number?, new: boolean}, unique: [id]}
operators:
  all: {type: GroupBy, in: rows, by: [], compute: {n: count(), sd: stddev(price), top: max(id)}}
outputs: [rows, all]
""",
    """inputs: {rows: {changes: {t: integer, weight: number?, name: text}}}
operators: {both: {type: Union, in: [rows, rows], all: true}}
outputs: [both]
""",
)
SETTINGS = (
    "",
    "io: {lateness: 3}\n",
    "io: {bad: drop, excess: ignore, conflicts: last}\n",
    "io: {on_bad_transaction: discard, bad: drop}\n",
    "io: {on_bad_transaction: discard, lateness: 2, max_delta_rows: 7}\n",
)
QUERY = "SELECT name, count(*) AS n FROM f GROUP BY name"


@cache
def change_files():
    """Good files of changes: the number of a graph, the suffix and the bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, prices = ["tea", "", 'a "quoted, one"', None], [None, 0.25, float("inf")]
    puts = [
        {"t": k // 3, "id": 1 + k % 7, "name": names[k % 4], "price": prices[k % 3], "new": k > 9}
        for k in range(60)
    ]
    bags = [{"weight": w, **put, "t": put["t"] + (w < 0)} for put in puts for w in (2, -1)]
    bags.sort(key=lambda row: row["t"])
    marked = [{"op": "+" if row["weight"] > 0 else "delete", **row} for row in bags]
    for row in marked:
        del row["weight"]
    own = [
        {"_t": k, "_weight": 1 + k % 2, "t": k, "weight": k / 2, "name": f"n{k}"} for k in range(40)
    ]
    table = pa.Table.from_pylist(bags)
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet)
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    return [
        *((place, ".csv", format_csv(rows)) for place, rows in enumerate((bags, puts, own))),
        (0, ".csv", format_csv(marked)),
        (1, ".csv", format_csv(marked)),
        (0, ".jsonl", "\n".join(map(json.dumps, bags)).encode()),
        (1, ".jsonl", "\n".join(map(json.dumps, puts)).encode()),
        (0, ".parquet", parquet.getvalue()),
        (1, ".arrow", arrow.getvalue()),
    ]


def format_csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def check_changes(place, suffix, data, folder, run_program):
    """Run a good graph over a spoilt file; raises AssertionError if it ends in another way.

    `place` is the number of a graph, and of a setting of it; behind the last graph, of a query.
    """
    path = folder / f"spoilt{suffix}"
    path.write_bytes(data)
    number, setting = divmod(place, len(SETTINGS))
    if number < len(GRAPHS):
        graph = folder / "good.yaml"
        settings = SETTINGS[setting]
        if "unique" not in GRAPHS[number]:
            settings = settings.replace(", conflicts: last", "")
        graph.write_text(GRAPHS[number] + settings, encoding="utf-8")
        command = ["run", graph, path, "-o", f"{folder}/"]
    else:
        command = ["sql", QUERY, "--in", f"f={path}", "-o", folder / "view.csv"]
    code, out, err = run_program(*command)
    is_query = number == len(GRAPHS)
    assert code in (0, *([3] if is_query else []), 4, 6, 74), (code, err)
    assert out == "", out[:200]
    assert "Traceback" not in err
    if code == 0 and not is_query:
        check_outputs(rtbot.load(graph), folder)
    if code in (3, 4):
        found = re.search(rf"error\[(RT{'1' if code == 3 else '[24]'}\d\d)\]: ", err)
        assert found, err
        assert found[1] in CODES
        return found[1]
    if code == 0:
        return "0, some lost" if re.search("bad|discarded|excess", err) else "0"
    return str(code)


def check_outputs(graph, folder):
    """Every row of what was written is there before it is deleted."""
    for name in graph.checked.outputs:
        written, there = folder / f"{name}.csv", Counter()
        with written.open(encoding="utf-8", newline="") as file:
            heads, *rows = csv.reader(file)
            place = heads.index("_weight" if "_weight" in heads else "weight")
            for row in rows:
                there[tuple(row[2:])] += int(row[place])
                assert there[tuple(row[2:])] >= 0, row
        written.unlink()
