"""`rtbot run`, `test`, `explain` and `sql` with tables that change."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folder")

BOTH = """
inputs:
  a: {changes: {product: text}}
  b: {changes: {product: text}}
operators:
  everywhere: {type: Intersect, in: [a, b]}
outputs: [everywhere]
"""
TWO = BOTH.replace("outputs", "  anywhere: {type: Union, in: [a, b]}\noutputs").replace(
    "[everywhere]", "[everywhere, anywhere]"
)
A = "t,product\n1,tea\n2,salt\n"
B = "t,op,product\n1,+,tea\n3,-,tea\n3,+,salt\n"
BAD = "t,op,product\n1,+,tea\n3,-,tea\n4,-,tea\n5,+,salt\n"
INPUTS = ("--in", "a=a.csv", "--in", "b=b.csv")
ORDERS = """t,op,id,region,amount
1,+,1,north,10.5
1,+,2,south,20
2,+,3,north,4
3,-,1,north,10.5
3,+,1,south,10.5
4,-,2,south,20
"""
TOTALS = "SELECT region, count(*) AS n, sum(amount) AS total FROM orders GROUP BY region"


def test_changes_of_one_output_go_to_stdout(call):
    code, out, err = call("run", "g.yaml", *INPUTS, g__yaml=BOTH, a__csv=A, b__csv=B)
    assert (code, out) == (0, "t,weight,product\n1,1,tea\n3,-1,tea\n3,1,salt\n")
    assert "rows out: everywhere 3" in err


def test_every_table_has_a_file_of_its_own(call):
    code, _, err = call("run", "g.yaml", *INPUTS, g__yaml=TWO, a__csv=A, b__csv=B)
    assert code == 2
    assert "give every one a file: -o DIR/, or --out everywhere=FILE" in err
    assert call("run", "g.yaml", *INPUTS, "-o", "all.csv")[0] == 2
    assert "-o new/, or" in call("run", "g.yaml", *INPUTS, "-o", "new")[2]
    Path("out").mkdir()
    assert call("run", "g.yaml", *INPUTS, "-o", "out", "--format", "jsonl")[0] == 0
    rows = [json.loads(line) for line in Path("out/anywhere.jsonl").read_text().splitlines()]
    assert rows == [
        {"t": 1, "weight": 1, "product": "tea"},
        {"t": 2, "weight": 1, "product": "salt"},
    ]
    assert call("run", "g.yaml", *INPUTS, "--out", "everywhere=e.csv")[0] == 0
    assert not Path("anywhere.csv").exists()


def test_series_and_tables_go_to_files_of_their_own(call):
    graph = """
    inputs: {p: number, a: {changes: {product: text}}}
    operators:
      twice: p * 2
      all: {type: GroupBy, in: a, by: [], compute: {n: count()}}
      n: {type: ToSeries, in: all, field: n}
      rows: {type: ToChanges, in: p, mode: latest}
    outputs: [twice, n, rows]
    """
    inputs = ("--in", "p=p.csv", "--in", "a=a.csv")
    out = ("--out", "rows=rows.csv", "-o", "-")
    code, shown, err = call(
        "run", "g.yaml", *inputs, *out, g__yaml=graph, a__csv=A, p__csv="t,p\n1,5\n3,6\n"
    )
    assert (code, shown) == (0, "t,twice,n\n0,,0\n1,10,1\n2,,2\n3,12,\n"), err
    assert Path("rows.csv").read_text() == "t,weight,value\n1,1,5\n3,-1,5\n3,1,6\n"


@pytest.mark.parametrize("times", ["1 3 4 5", "2024-01-01 2024-01-03 2024-01-04 2024-01-05"])
def test_a_bad_transaction_ends_the_run_behind_the_good_ones(call, times):
    text = BAD
    for short, long in zip("1345", times.split(), strict=True):
        text = text.replace(f"\n{short},", f"\n{long},")
    code, out, err = call("run", "g.yaml", *INPUTS, g__yaml=BOTH, a__csv=text, b__csv=text)
    first, third, fourth, _ = times.split()
    assert (code, out) == (4, f"t,weight,product\n{first},1,tea\n{third},-1,tea\n")
    assert "a.csv: error[RT401]" in err
    assert "input 'a'" in err
    assert f"time {fourth}" in err
    assert "{'product': 'tea'}" in err


def test_bad_transactions_are_discarded_and_counted(call):
    graph = "io: {on_bad_transaction: discard}\n" + BOTH
    options = (*INPUTS, "--account", "account.json")
    code, out, _ = call("run", "g.yaml", *options, g__yaml=graph, a__csv=BAD, b__csv=BAD)
    assert (code, out.splitlines()[1:]) == (0, ["1,1,tea", "3,-1,tea", "5,1,salt"])
    account = json.loads(Path("account.json").read_text())
    assert account["inputs"]["a"]["lost"] == {"discarded": 1}


def test_options_that_come_later_are_refused(call):
    arguments = ("run", "g.yaml", *INPUTS)
    code, _, err = call(*arguments, "--timings", g__yaml=BOTH, a__csv=A, b__csv=B)
    assert code == 2
    assert "--timings does not go with tables that change yet" in err
    code, _, err = call(*arguments, "--key", "product")
    assert code == 2
    assert "a run key is for series" in err
    assert "not ahead" in call("warm", "g.yaml")[2]


def test_a_killed_run_goes_on_to_the_same_bytes(call):
    graph = """
    inputs: {orders: {changes: {id: integer, region: text}}}
    operators: {per: {type: GroupBy, in: orders, by: [region], compute: {n: count()}}}
    outputs: [per]
    """
    rows = "".join(f"{k // 3},{k},r{k % 7}\n" for k in range(80_000))
    run = ("run", "g.yaml", "--in", "orders=orders.csv", "-q")
    orders = "t,id,region\n" + rows
    assert call(*run, "-o", "full.csv", g__yaml=graph, orders__csv=orders)[0] == 0
    kept = (*run, "-o", "part.csv", "--checkpoint", "ck", "--every", "1")
    process = subprocess.Popen([sys.executable, "-m", "rtbot", *kept])
    while process.poll() is None and not (
        Path("part.csv").exists() and Path("part.csv").stat().st_size
    ):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert call(*kept, "--resume")[0] == 0
    assert Path("part.csv").read_bytes() == Path("full.csv").read_bytes()


# ---- tests of graphs

TESTS = """tests:
  - name: right
    given: {a: [[1, 1, {product: tea}]], b: [[1, 2, {product: tea}]]}
    expect: {everywhere: [[1, 1, {product: tea}]]}
"""


def test_tests_pair_rows_and_compare_weights(call):
    assert call("test", "g.yaml", g__yaml=BOTH + TESTS)[0] == 0
    right = "expect: {everywhere: [[1, 1, {product: tea}]]}"
    other = "expect: {everywhere: [[1, 2, {product: tea}], [3, 1, {product: x}]]}"
    wrong = TESTS.replace(right, other)
    code, out, _ = call("test", "g.yaml", g__yaml=BOTH + wrong)
    assert code == 1
    assert "1 different, 1 missing" in out
    assert "{product: tea}" in out
    assert call("test", "--update", "g.yaml")[0] == 0
    assert right in Path("g.yaml").read_text()
    assert call("test", "g.yaml")[0] == 0


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("[1, {product: tea}]", "a row of a table that changes is [t, weight, {product: ...}]"),
        ("[1, 0, {product: tea}]", "'0' is not a weight"),
        ("[1, 1, {produkt: tea}]", "did you mean 'product'?"),
        ("[1, 1, {}]", "the field product is missing, which is text"),
        ("[1, 1, tea]", "the fields of a row are a mapping"),
        ("[x, 1, {product: tea}]", "'x' is not a time"),
    ],
)
def test_wrong_rows_of_tests_have_a_place(call, row, problem):
    text = BOTH + f"tests:\n  - given: {{a: [{row}]}}\n    expect: {{everywhere: []}}\n"
    code, _, err = call("validate", "g.yaml", g__yaml=text)
    assert code == 3
    assert problem in err
    assert "g.yaml:9:" in err


# ---- sql


def sql(call, *arguments, query=TOTALS, **files):
    return call("sql", query, "--in", "orders=orders.csv", *arguments, **files)


def test_a_query_prints_its_changes_or_its_rows(call):
    code, out, err = sql(call, orders__csv=ORDERS)
    assert (code, out.splitlines()[-2:]) == (0, ["4,-1,south,2,30.5", "4,1,south,1,10.5"])
    assert "rows out: view 10" in err
    code, out, err = sql(call, "--snapshot", "-q")
    assert (code, out, err) == (0, "region,n,total\nnorth,1,4\nsouth,1,10.5\n", "")
    assert sql(call, "-o", "v.parquet", "-q")[:2] == (0, "")
    assert Path("v.parquet").exists()


def test_a_file_is_the_table_of_its_name(call):
    query = "SELECT a.id FROM orders AS a JOIN more AS b ON a.id = b.id"
    files = {"orders__csv": ORDERS, "more__csv": ORDERS}
    named = call("sql", query, "--in", "orders=orders.csv", "--in", "more=more.csv", **files)
    assert call("sql", query, "orders.csv", "more.csv") == named
    assert call("sql", query, "orders.csv", "--in", "more=more.csv") == named
    assert named[0] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("orders.csv", "--in", "orders=orders.csv"), "--in orders is given twice"),
        (("orders.csv", "./orders.csv"), "./orders.csv: orders.csv is the table orders too"),
        (
            ("2026-orders.csv",),
            "2026-orders.csv: no name of a table; say --in NAME=2026-orders.csv",
        ),
        (("-",), "-: no name of a table; say --in NAME=-"),
        ((), "there is nothing to read: say the FILE of every table"),
    ],
)
def test_files_that_name_no_table(call, arguments, problem):
    code, _, err = call("sql", TOTALS, *arguments, orders__csv=ORDERS)
    assert (code, problem in err) == (2, True), err


def test_a_count_of_nothing_is_a_row(call):
    query = "SELECT count(*) AS n, sum(amount) AS total FROM orders"
    nothing = "t,id,region,amount\n"
    types = ("-q", "--types", "orders=amount: number")
    assert sql(call, *types, query=query, orders__csv=nothing)[1] == "t,weight,n,total\n"
    assert sql(call, *types, "--snapshot", query=query)[1] == "n,total\n0,\n"
    grouped = query + " GROUP BY region"
    assert sql(call, *types, "--snapshot", query=grouped)[1] == "n,total\n"
    joined = f"SELECT a.n, b.n AS m FROM ({query}) a, ({query}) b"  # noqa: S608 (a test)
    assert sql(call, *types, "--snapshot", query=joined)[1] == "n,m\n0,0\n"
    bad = nothing + "1,7,north,2\n"
    fails = "SELECT count(*) AS n, max(id // (id - 7)) AS m FROM orders"
    discard = ("--snapshot", "-q", "--io", "on_bad_transaction=discard")
    assert sql(call, *discard, query=fails, orders__csv=bad)[1] == "n,m\n0,\n"


def test_types_are_those_of_the_file(call):
    text = "t,a,b,c,d,when\n1,1,1.5,true,x,\n2,,2,false,,\n"
    query = "SELECT * FROM orders"
    code, out, err = sql(call, "--explain", query=query, orders__csv=text)
    assert code == 0
    fields = "{a: integer?, b: number, c: boolean, d: text?, when: text?}"
    assert fields in " ".join(out.split())
    assert "the column 'when' has no value and is taken as text" in err
    out = sql(call, "--explain", "--types", "orders=a: number?, when: integer?", query=query)[1]
    assert "{a: number?, b: number, c: boolean, d: text?, when: integer?}" in " ".join(out.split())


def test_a_key_replaces_rows(call):
    text = "t,id,region,amount\n1,7,north,1\n2,7,south,1\n"
    assert sql(call, "-q", "--snapshot", orders__csv=text)[1].count("\n") == 3
    options = ("-q", "--snapshot", "--unique", "orders=id")
    assert sql(call, *options)[1] == "region,n,total\nsouth,1,1\n"


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("--types", "orders=a: int8"), 2, "--types orders: there is no type 'int8'"),
        (("--types", "order=a: text"), 2, "--types order: there is no table of this name"),
        (("--types", "orders=b: text"), 4, "there is no column of orders 'b'"),
        (("--unique", "orders=idd"), 4, "did you mean 'id'?"),
        (("--in", "orders=x.csv"), 2, "--in orders is given twice"),
        (("-o", "."), 2, "which goes to a file"),
        (("-o", "orders.csv"), 2, "would be overwritten"),
        (("--time", "at"), 4, "there is no column 'at'"),
        (("--csv", "delimiter=xyz"), 2, "--csv delimiter=xyz"),
        (("--io", "excess=no"), 2, "--io excess=no: excess is no, one of error, ignore"),
        (("--io", "exces=ignore"), 2, "did you mean 'excess'?"),
        (("--io", "excess"), 2, "--io takes KEY=VALUE"),
        (("--io", "time=at"), 2, "say --time"),
        (("--io", "conflicts=last"), 2, "say --unique NAME=COLUMN"),
    ],
)
def test_wrong_options_of_a_query(call, arguments, code, problem):
    found, _, err = sql(call, *arguments, orders__csv=ORDERS)
    assert (found, problem in err) == (code, True), err


def test_what_a_hint_names_is_an_option(call):
    late = "t,op,id,region,amount\n1,+,1,north,1\n3,-,2,south,2\n2,+,3,north,3\n"
    code, _, err = sql(call, "-q", orders__csv=late)
    assert (code, "set --io lateness=..." in err) == (4, True), err
    code, _, err = sql(call, "-q", "--io", "lateness=1")
    assert (code, "--io excess=ignore takes no notice" in err) == (4, True), err
    options = ("-q", "--snapshot", "--io", "lateness=1", "--io")
    for value in ("excess=ignore", "on_bad_transaction=discard"):
        code, out, _ = sql(call, *options, value)
        assert (code, out) == (0, "region,n,total\nnorth,2,4\n")
    twice = "t,id,region,amount\n1,7,north,1\n1,7,south,1\n"
    key = ("-q", "--snapshot", "--unique", "orders=id")
    code, _, err = sql(call, *key, orders__csv=twice)
    assert (code, "--io conflicts=last takes the last" in err) == (4, True), err
    assert sql(call, *key, "--io", "conflicts=last")[1] == "region,n,total\nsouth,1,1\n"


def test_wrong_queries_have_a_place(call):
    code, _, err = sql(call, query="SELECT regio FROM orders", orders__csv=ORDERS)
    assert code == 3
    assert "<query>:1:8: error" in err
    assert "did you mean 'region'?" in err


def test_a_file_without_a_name_is_told_one(call):
    code, _, err = call("sql", TOTALS, "--in", "orders.csv")
    assert code == 2
    assert "say --in orders=orders.csv" in err
    assert "\\b" not in call("sql", "--help")[1]


def test_a_file_of_changes_is_not_told_a_key(call):
    graph = "inputs: {a: {changes: {id: integer, who: text}}}\noutputs: [a]\n"
    rows = "when,op,id,who\n2,+,1,x\n2,+,1,y\n2,+,2,x\n3,-,1,x\n3,+,1,z\n1,+,2,y\n"
    _, _, err = call("run", "g.yaml", "a.csv", g__yaml=graph, a__csv=rows)
    assert "say --time when" in err
    _, _, err = call("run", "g.yaml", "a.csv", "--time", "when")
    assert "RT202" in err
    assert "key" not in err


def test_a_pipe_needs_types(call):
    code, _, err = call("sql", TOTALS, "--in", "orders=-")
    assert code == 4
    assert "say --types orders='FIELD: TYPE, ...'" in err


def test_a_bad_row_is_left_out_alone_and_its_delete_finds_nothing(call):
    rows = "t,op,product\n1,+,tea\n1,plus,salt\n2,-,tea\n3,-,salt\n"
    graph = "inputs: {a: {changes: {product: text}}}\noutputs: [a]\nio: {bad: drop"
    code, out, err = call("run", "g.yaml", "a.csv", g__yaml=graph + "}\n", a__csv=rows)
    assert (code, out) == (4, "t,weight,product\n1,1,tea\n2,-1,tea\n")
    assert "RT401" in err
    code, out, _ = call(
        "run", "g.yaml", "a.csv", "--account", "n.json", g__yaml=graph + ", excess: ignore}\n"
    )
    assert (code, out) == (0, "t,weight,product\n1,1,tea\n2,-1,tea\n")
    account = json.loads(Path("n.json").read_text())
    assert account["bad"] == {"a.csv": 1}
    assert account["inputs"]["a"]["lost"] == {"excess": 1}
