"""What DuckDB says about expressions over rows."""

import math

import duckdb

KINDS = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN"}
FIELDS = {
    "i": "integer", "j": "integer", "x": "number", "y": "number",
    "b": "boolean", "c": "boolean", "s": "text", "t": "text",
}  # fmt: skip
UNLIKE = ("upper", "lower", "power", "exp", "ln", "log10")
"""Functions that are others there in letters beyond ASCII, or in the last bit."""


INFIX = {
    **{sign: sign for sign in ("+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=")},
    "==": "=",
    "!=": "<>",
    "and": "AND",
    "or": "OR",
    "concat": "||",
    "like": "LIKE",
    "is_distinct": "IS DISTINCT FROM",
}
PREFIX = {"neg": "(-{})", "not": "(NOT {})", "is_null": "({} IS NULL)"}


class UnlikeError(Exception):
    """A tree with something that DuckDB has otherwise."""


def write_sql(tree):  # noqa: C901 (a case for each operation)
    """Return a tree as SQL; literals have a cast, as DuckDB takes 0.1 for a decimal."""
    kind = KINDS[tree.type.kind]
    if tree.op == "field":
        return tree.value
    if tree.op == "constant":
        if tree.value is None:
            return f"CAST(NULL AS {kind})"
        return f"CAST('{tree.value}' AS {kind})"
    args = [write_sql(a) for a in tree.args]
    kinds = [a.type.kind for a in tree.args]
    if tree.op in UNLIKE or (tree.op == "cast" and "text" in (tree.type.kind, kinds[0])):
        raise UnlikeError(tree.op)
    if tree.op in ("floor", "ceil", "round") and kinds[0] == "integer":
        return args[0]
    if tree.op in ("widen", "cast"):
        return f"CAST({args[0]} AS {kind})"
    if tree.op == "case":
        pairs = zip(args[:-1:2], args[1::2], strict=True)
        whens = " ".join(f"WHEN {c} THEN {v}" for c, v in pairs)
        return f"CASE {whens} ELSE {args[-1]} END"
    if tree.op == "in":
        return f"({args[0]} IN ({', '.join(args[1:])}))"
    if tree.op == "sign":
        (one,) = args
        return f"CAST(CASE WHEN isnan({one}::DOUBLE) THEN {one} ELSE sign({one}) END AS {kind})"
    if tree.op in INFIX:
        return f"({args[0]} {INFIX[tree.op]} {args[1]})"
    if tree.op in PREFIX:
        return PREFIX[tree.op].format(args[0])
    return f"CAST({tree.op}({', '.join(args)}) AS {kind})"


class Answers:
    """Compares values with DuckDB's; counts where it agrees and what it refuses."""

    def __init__(self):
        self.connection = duckdb.connect()
        self.same = self.refused = 0

    def compare(self, tree, rows, values):
        """Assert that DuckDB has the same values, unless it refuses or means something else."""
        try:
            sql = write_sql(tree)
        except UnlikeError:
            return
        columns = ", ".join(f"{name} {KINDS[kind]}" for name, kind in FIELDS.items())
        self.connection.execute(f"CREATE OR REPLACE TABLE r (n BIGINT, {columns})")
        if not rows:
            return
        data = [[n, *(row[name] for name in FIELDS)] for n, row in enumerate(rows)]
        marks = ", ".join("?" * (len(FIELDS) + 1))
        self.connection.executemany(f"INSERT INTO r VALUES ({marks})", data)  # noqa: S608 (ours)
        try:
            query = f"SELECT {sql} FROM r ORDER BY n"  # noqa: S608 (ours)
            found = self.connection.execute(query).fetchall()
        except duckdb.Error:
            self.refused += 1
            return
        for (got,), value, row in zip(found, values, rows, strict=True):
            same = got == value or (
                got is not None and value is not None and got != got and value != value
            )
            assert same, (sql, row, got, value)
            if isinstance(value, float) and value:
                assert math.copysign(1, got) == math.copysign(1, value) or value != value
        self.same += 1
