"""The operations and functions of SQL by their classes in sqlglot, and the operations they are."""

from __future__ import annotations

from sqlglot import exp

BINARY: dict[type[exp.Expr], str] = {
    exp.And: "and",
    exp.Or: "or",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.Pow: "power",
    exp.EQ: "==",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeNEQ: "is_distinct",
    exp.DPipe: "concat",
}

SUBQUERIES = (exp.Subquery, exp.Exists)

ASSOCIATIVE = ("and", "or", "concat")
"""Operations whose chains are joined at once: the result is the same, whatever comes first."""

SIGNS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
COMPARISONS = (*SIGNS, exp.NullSafeEQ, exp.NullSafeNEQ)
RANGES = (exp.Between, exp.In, exp.Like, exp.ILike)
CONDITIONS = (*COMPARISONS, *RANGES, exp.Is, exp.Not)

FUNCTIONS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Abs: ("abs", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.IsNan: ("isnan", ("this",)),
    exp.Least: ("least", ("this", "expressions")),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
    exp.Upper: ("upper", ("this",)),
    exp.Lower: ("lower", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
}
"""Functions: the operation, and the arguments of the node in their order."""

HARMLESS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.DPipe: ("safe",),
    exp.Div: ("typed", "safe"),
    exp.Least: ("ignore_nulls",),
    exp.Greatest: ("ignore_nulls",),
}
"""Arguments that say how other dialects differ from this one."""

SYNONYMS_OF_FUNCTIONS = {"prefix": "starts_with", "suffix": "ends_with"}
SYNONYMS_OF_AGGREGATES: dict[str, type[exp.Expr]] = {"mean": exp.Avg}

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "variance",
    exp.VariancePop: "variance_pop",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.CountIf: "count",
}
NUMERIC_AGGREGATES = {"sum", "avg", "stddev", "stddev_pop", "variance", "variance_pop"}
IDEMPOTENT = {"min", "max", "bool_and", "bool_or"}
"""Aggregates that are the same with DISTINCT."""

NAMES = sorted(
    {
        *(op for op, _ in FUNCTIONS.values()),
        *AGGREGATES.values(),
        *("round", "left", "right", "log10", "power", "mod", "nullif", "if", "ifnull"),
        *("trim", "ltrim", "rtrim", "concat"),
    }
)
"""The functions that a query may call, for hints."""

TYPES = {
    "INT": "integer",
    "BIGINT": "integer",
    "DOUBLE": "number",
    "TEXT": "text",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
}
TYPES_INSTEAD = {
    **dict.fromkeys(("FLOAT", "DECIMAL"), "DOUBLE"),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT128", "UINT", "UBIGINT"), "BIGINT"),
    **dict.fromkeys(("CHAR", "NVARCHAR", "BPCHAR"), "VARCHAR"),
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME"), "BIGINT"),
}
