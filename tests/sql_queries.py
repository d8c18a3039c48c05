"""Random queries: joins, subqueries, groups, set operations, expressions over two tables."""

from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema

NAN, INF = float("nan"), float("inf")
KINDS = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN"}
COLUMNS = {
    "i": "integer",
    "j": "integer?",
    "x": "number?",
    "y": "number",
    "s": "text?",
    "r": "text",
    "c": "boolean?",
}
VALUES = {
    "integer": [-3, -1, 0, 1, 2, 7],
    "number": [-1.5, -0.0, 0.0, 0.5, 2.0, 3.25],
    "text": ["", "a", "b", "ab", "A b", " a", "é", "z%"],
    "boolean": [True, False],
}
NASTY = {
    "integer": [(1 << 63) - 1, -(1 << 63), 1 << 53],
    "number": [NAN, INF, -INF, 1e300, 5e-324],
    "text": ["\U0001f600", "\uff5e", "a'b"],
    "boolean": [],
}
SCHEMA = Schema(tuple(Field(n, Type(k.rstrip("?"), k.endswith("?"))) for n, k in COLUMNS.items()))
TABLES = {"t": SCHEMA, "u": SCHEMA}


class QueryMaker:
    """Makes random queries over the tables, most of which have types that go together."""

    def __init__(self, rng, *, nasty, joins=True):
        self.rng, self.nasty, self.joins = rng, nasty, joins
        self.columns, self.outside = {}, {}
        self.subqueries, self.names = False, 0

    def query(self, depth=2):
        """A query, and the kinds of its columns."""
        kinds = [self.rng.choice([*KINDS]) for _ in range(self.rng.randint(1, 3))]
        if self.joins and self.rng.random() < 0.06:
            inner = self.query_of([self.rng.choice([*KINDS]) for _ in range(3)], 1)
            return f"WITH w AS ({inner}) {self.query_of(kinds, 1)} UNION ALL {self.of_with(kinds)}"
        return self.query_of(kinds, depth)

    def of_with(self, kinds):
        """A query that reads what WITH names, as often as it likes."""
        texts = {"text": "TRY_CAST(k1 AS BIGINT)::VARCHAR"}  # the digits of a number may differ
        casts = ", ".join(
            f"{texts.get(kind, f'TRY_CAST(k1 AS {KINDS[kind]})')} AS k{n}"
            for n, kind in enumerate(kinds)
        )
        join = self.rng.choice(["w", "w AS a SEMI JOIN w AS b USING (k1)"])
        return f"SELECT {casts} FROM {join}"  # noqa: S608 (a test)

    def query_of(self, kinds, depth):
        if depth and self.rng.random() < 0.3:
            kind = self.rng.choice(["UNION", "INTERSECT", "EXCEPT"])
            kind += self.rng.choice(["", " ALL"])
            left, right = (self.query_of(kinds, depth - 1) for _ in range(2))
            if self.rng.random() < 0.5:
                right = f"({right})"
            if self.rng.random() < 0.3:
                left = f"({left})"
            return f"{left} {kind} {right}"
        return self.select(kinds, depth)

    def select(self, kinds, depth):
        source, self.columns, self.outside, self.condition = self.source(depth)
        style = self.rng.choice(["plain", "plain", "distinct", "group", "group", "total"])
        if style in ("group", "total"):
            return self.grouped(kinds, source, style)
        distinct = "DISTINCT " if style == "distinct" else ""
        self.subqueries = self.joins
        items = ", ".join(f"{self.value(k, 2)} AS k{n}" for n, k in enumerate(kinds, 1))
        self.subqueries = False
        return f"SELECT {distinct}{items} FROM {source}{self.where()}"  # noqa: S608 (a test)

    def source(self, depth):
        """FROM, its columns, those by which a subquery names them, and what WHERE has to have."""
        roll = self.rng.random()
        if self.joins and roll < 0.4:
            return self.joined(depth)
        table = self.rng.choice("tu")
        if depth and roll < 0.55:
            kinds = [self.rng.choice([*KINDS]) for _ in range(self.rng.randint(1, 4))]
            inner = self.query_of(kinds, depth - 1)
            columns = {f"k{n}": kind for n, kind in enumerate(kinds, 1)}
            return f"({inner}) AS q", columns, {f"q.{n}": k for n, k in columns.items()}, ""
        columns = {name: kind.rstrip("?") for name, kind in COLUMNS.items()}
        if roll < 0.75:
            outside = {f"q.{n}": k for n, k in columns.items()}
            return f"{table} AS q", columns | outside, outside, ""
        return table, columns, {f"{table}.{n}": k for n, k in columns.items()}, ""

    def joined(self, depth):
        """A join, or two, with columns that have the name of their table."""
        rng = self.rng
        text, columns = self.side("a", depth)
        where = ""
        for name in ["b", "c"][: rng.choice([1, 1, 1, 2])]:
            other, more = self.side(name, depth)
            kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN",
                               "SEMI JOIN", "ANTI JOIN", "CROSS JOIN", ","])  # fmt: skip
            kind = "INNER JOIN" if kind == "JOIN" and rng.random() < 0.3 else kind
            condition = self.on(columns, more)
            if kind in (",", "CROSS JOIN"):
                text = f"{text}{'' if kind == ',' else ' '}{kind} {other}"
                where = f"{where}{condition} AND " if rng.random() < 0.9 else where
            elif rng.random() < 0.3 and "w." not in text:
                shared = [n.split(".")[1] for n in more if any(c.endswith(n[1:]) for c in columns)]
                shared = [n for n in shared if name == "b"] or []
                if shared:
                    using = ", ".join(rng.sample(shared, min(rng.choice([1, 2]), len(shared))))
                    text = f"{text} {kind} {other} USING ({using})"
                else:
                    text = f"{text} {kind} {other} ON {condition}"
            else:
                text = f"{text} {kind} {other} ON {condition}"
            if kind not in ("SEMI JOIN", "ANTI JOIN"):
                columns = columns | more
        return text, columns, columns, where

    def side(self, name, depth):
        rng = self.rng
        if depth > 1 and rng.random() < 0.15:
            kinds = [rng.choice([*KINDS]) for _ in range(rng.randint(1, 3))]
            inner = self.query_of(kinds, 0)
            return f"({inner}) AS {name}", {f"{name}.k{n}": k for n, k in enumerate(kinds, 1)}
        columns = {f"{name}.{n}": kind.rstrip("?") for n, kind in COLUMNS.items()}
        return f"{rng.choice('tu')} AS {name}", columns

    def on(self, left, right):
        """A condition on pairs: equalities, and at times anything else."""
        rng = self.rng
        kept, self.columns = self.columns, left | right
        pairs = [(a, b) for a, k in left.items() for b, m in right.items() if k == m]
        rng.shuffle(pairs)
        sign = lambda: rng.choice(["=", "=", "=", "IS NOT DISTINCT FROM"])  # noqa: E731
        parts = [f"{a} {sign()} {b}" for a, b in pairs[: rng.choice([1, 1, 2])]]
        if rng.random() < 0.15:
            numbers = [n for n, k in left.items() if k in ("integer", "number")]
            others = [n for n, k in right.items() if k in ("integer", "number")]
            if numbers and others:
                parts = [f"{rng.choice(numbers)} + 1 = {rng.choice(others)}"]
        if not parts or rng.random() < 0.25:
            parts.append(f"({self.value('boolean', 1)})")
        if rng.random() < 0.08:
            parts = parts[-1:]
        self.columns = kept
        return " AND ".join(parts)

    def where(self, chance=0.5):
        rng = self.rng
        begin = self.condition
        parts = []
        self.subqueries = self.joins
        while rng.random() < chance:
            chance /= 2
            test = self.subquery_test() if self.joins and rng.random() < 0.3 else ""
            parts.append(test or f"({self.value('boolean', 2)})")
        self.subqueries = False
        if not parts:
            return f" WHERE {begin.removesuffix(' AND ')}" if begin else ""
        return f" WHERE {begin}{' AND '.join(parts)}"

    # ---- subqueries

    def inner(self):
        """A table for a subquery: FROM, its columns by kind."""
        self.names += 1
        name = f"z{self.names}"
        columns = {f"{name}.{n}": kind.rstrip("?") for n, kind in COLUMNS.items()}
        return f"{self.rng.choice('tu')} AS {name}", columns

    def restricted(self, columns, chance=0.6):
        """WHERE of a subquery: it compares with the outer query, or its own rows, or both."""
        rng = self.rng
        parts = []
        pairs = [(a, b) for a, k in columns.items() for b, m in self.outside.items() if k == m]
        if pairs and rng.random() < chance:
            for a, b in rng.sample(pairs, rng.choice([1, 1, 2]) if len(pairs) > 1 else 1):
                sign = rng.choice(["=", "=", "=", "IS NOT DISTINCT FROM"])
                parts.append(f"{a} {sign} {b}")
        if rng.random() < 0.4:
            kept, self.columns = self.columns, columns
            flag, self.subqueries = self.subqueries, False
            parts.append(f"({self.value('boolean', 1)})")
            self.columns, self.subqueries = kept, flag
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def subquery_test(self):
        """A condition that is a subquery."""
        rng = self.rng
        source, columns = self.inner()
        negated = rng.choice(["", "NOT "])
        if rng.random() < 0.4:
            where = self.restricted(columns, 0.8) + self.by(columns, 0.15)
            return f"{negated}EXISTS (SELECT 1 FROM {source}{where})"  # noqa: S608 (a test)
        kind = rng.choice([*KINDS])
        flag, self.subqueries = self.subqueries, False
        value = self.value(kind, 1)
        self.subqueries = flag
        wanted = rng.choice([n for n, k in columns.items() if k == kind])
        where = self.restricted(columns, 0.3)
        if negated:
            where = where.replace("IS NOT DISTINCT FROM", "=")
        if rng.random() < 0.2:
            wanted = f"{rng.choice(['min', 'max'])}({wanted})"
            where += self.by(columns, 0.5)
        return f"({value}) {negated}IN (SELECT {wanted} FROM {source}{where})"  # noqa: S608

    def by(self, columns, chance):
        """GROUP BY of a subquery, and perhaps HAVING."""
        rng = self.rng
        if rng.random() > chance:
            return ""
        having = rng.choice(["", f" HAVING count(*) {rng.choice(['>', '<', '='])} 1"])
        return f" GROUP BY {rng.choice([*columns])}{having}"

    def subquery_value(self, kind):
        """A value that is a subquery, an aggregate."""
        rng = self.rng
        source, columns = self.inner()
        names = [n for n, k in columns.items() if k == kind]
        call = f"{rng.choice(['min', 'max'])}({rng.choice(names)})"
        if kind == "integer":
            call = rng.choice([call, "count(*)", f"count({rng.choice([*columns])})"])
        where = self.restricted(columns)
        return f"(SELECT {call} FROM {source}{where})"  # noqa: S608 (a test)

    def grouped(self, kinds, source, style):
        rng = self.rng
        where = self.where(0.3)
        keys = []
        if style == "group":
            keys = [(rng.choice([*KINDS])) for _ in range(rng.randint(1, 2))]
            keys = [(kind, self.value(kind, rng.choice([0, 0, 1]))) for kind in keys]
        items, by = [], []
        for n, kind in enumerate(kinds, 1):
            same = [text for k, text in keys if k == kind]
            if same and rng.random() < 0.5:
                items.append(f"{same[0]} AS k{n}")
            else:
                items.append(f"{self.over_group(kind, keys, 2)} AS k{n}")
        for _, text in keys:
            places = [n for n, item in enumerate(items, 1) if item == f"{text} AS k{n}"]
            choices = [text, *map(str, places)]
            by.append(rng.choice(choices))
        having = f" HAVING {self.over_group('boolean', keys, 1)}" if rng.random() < 0.3 else ""
        by = f" GROUP BY {', '.join(by)}" if by else ""
        return f"SELECT {', '.join(items)} FROM {source}{where}{by}{having}"  # noqa: S608

    def over_group(self, kind, keys, depth):
        """An expression over keys and aggregates."""
        rng = self.rng
        same = [text for k, text in keys if k == kind]
        if same and rng.random() < 0.3:
            return same[0]
        if depth and rng.random() < 0.3:
            return self.combine(kind, lambda k: self.over_group(k, keys, depth - 1))
        return self.aggregate(kind)

    def aggregate(self, kind):
        rng = self.rng
        distinct = rng.choice(["", "", "", "DISTINCT "])
        suffix = f" FILTER (WHERE {self.value('boolean', 1)})" if rng.random() < 0.15 else ""
        name = rng.choice(["min", "max"])
        argument = self.value(kind, 1)
        if kind == "integer":
            name = rng.choice(["min", "max", "sum", "count", "count", "count"])
            if name == "count":
                argument = self.value(rng.choice([*KINDS]), 1)
                if rng.random() < 0.4:
                    argument, distinct = "*", ""
        elif kind == "number":
            names = ["min", "max"]
            if not self.nasty:  # its sums are not exact, and its variance of infinity an error
                names += ["avg", "sum", "stddev", "stddev_pop", "variance", "var_pop"]
            name = rng.choice(names)
            if name in ("avg", "stddev", "var_pop"):
                argument = self.value(rng.choice(["number", "integer"]), 1)
        elif kind == "boolean":
            name = rng.choice(["bool_and", "bool_or", "min", "max"])
        return f"{name}({distinct}{argument}){suffix}"

    # ---- expressions

    def value(self, kind, depth):
        """An expression of a kind over the columns."""
        if self.subqueries and depth and self.rng.random() < 0.06:
            if kind == "boolean" and self.rng.random() < 0.6:
                return f"({self.subquery_test()})"
            return self.subquery_value(kind)
        if depth and self.rng.random() < 0.7:
            return self.combine(kind, lambda k: self.value(k, depth - 1))
        names = [name for name, k in self.columns.items() if k == kind]
        if names and self.rng.random() < 0.75:
            return self.rng.choice(names)
        return self.literal(kind)

    def literal(self, kind):
        rng = self.rng
        if rng.random() < 0.08:
            return f"CAST(NULL AS {KINDS[kind]})" if rng.random() < 0.7 else "NULL"
        value = rng.choice(VALUES[kind])
        if kind == "number":
            return f"{value}e0"
        if kind == "text":
            return "'" + value.replace("'", "''") + "'"
        return str(value)

    def combine(self, kind, part):
        """An operation that gives a kind; brackets are sometimes left out."""
        rng = self.rng

        def inner(k):
            text = part(k)
            return text if rng.random() < 0.4 else f"({text})"

        return getattr(self, f"combine_{kind}")(inner, kind)

    def combine_any(self, inner, kind):
        rng = self.rng
        form = rng.choice(["case", "switch", "if", "coalesce", "nullif", "least", "cast"])
        if form == "case":
            last = f" ELSE {inner(kind)}" if rng.random() < 0.7 else ""
            return f"CASE WHEN {inner('boolean')} THEN {inner(kind)}{last} END"
        if form == "switch":
            k = rng.choice([*KINDS])
            return f"CASE {inner(k)} WHEN {inner(k)} THEN {inner(kind)} ELSE {inner(kind)} END"
        if form == "if":
            return f"if({inner('boolean')}, {inner(kind)}, {inner(kind)})"
        if form == "coalesce":
            return f"{rng.choice(['coalesce', 'ifnull'])}({inner(kind)}, {inner(kind)})"
        if form == "least":
            name = rng.choice(["least", "greatest"])
            return f"{name}({inner(kind)}, {inner(kind)})"
        if form == "cast":
            if rng.random() < 0.3:
                source = rng.choice(["integer", "boolean"] if kind == "text" else [*KINDS])
                return f"TRY_CAST({inner(source)} AS {KINDS[kind]})"
            return f"{inner(kind)}::{KINDS[kind]}"
        return f"nullif({inner(kind)}, {inner(kind)})"

    def combine_integer(self, inner, kind):
        rng = self.rng
        form = rng.randrange(8)
        if form < 3:
            return f"{inner(kind)} {rng.choice('+-*')} {inner(kind)}"
        if form == 3:
            return f"{inner(kind)} {rng.choice(['%', '//'])} {rng.choice([-3, 2, 5])}"
        if form == 4:
            return f"- {inner(kind)}"
        if form == 5:
            return f"abs({inner(kind)})"
        if form == 6:
            return f"length({inner('text')})"
        return self.combine_any(inner, kind)

    def combine_number(self, inner, kind):
        rng = self.rng
        form = rng.randrange(8)
        if form < 3:
            other = rng.choice(["number", "integer"])
            return f"{inner(kind)} {rng.choice('+-*')} {inner(other)}"
        if form == 3:  # DuckDB keeps the sign of zero in a column: nothing is divided by it
            divisor = rng.choice(["2", "0.5e0", "-3", f"(abs({inner('integer')}) + 1)"])
            return f"{inner(rng.choice(['integer', 'number']))} / {divisor}"
        if form == 4:
            return f"- {inner(kind)}"
        if form == 5:
            name = rng.choice(["abs", "floor", "ceil", "round", "digits"])
            if name == "digits":
                return f"round({inner(kind)}, {rng.randint(-1, 3)})"
            return f"{name}({inner(kind)})"
        if form == 6:
            return f"{inner('integer')}::DOUBLE"
        return self.combine_any(inner, kind)

    def combine_text(self, inner, kind):
        rng = self.rng
        form = rng.randrange(7)
        if form == 0:
            return f"{inner(kind)} || {inner(rng.choice(['text', 'integer', 'boolean']))}"
        if form == 1:
            return f"concat({inner(kind)}, {inner(kind)})"
        if form == 2:
            name = rng.choice(["upper", "lower", "trim", "ltrim", "rtrim"])
            return f"{name}({inner(kind)})"
        if form == 3:
            return f"substring({inner(kind)}, {rng.randint(1, 2)}, {rng.randint(0, 2)})"
        if form == 4:
            return f"replace({inner(kind)}, 'a', {inner(kind)})"
        if form == 5:
            return f"CAST({inner('integer')} AS VARCHAR)"
        return self.combine_any(inner, kind)

    def combine_boolean(self, inner, kind):
        rng = self.rng
        k = rng.choice([*KINDS])
        form = rng.randrange(11)
        if form < 3:
            sign = rng.choice(["<", "<=", ">", ">=", "=", "<>", "!=", "=="])
            return f"{inner(k)} {sign} {inner(k)}"
        if form == 3:
            return f"{inner(kind)} {rng.choice(['AND', 'OR'])} {inner(kind)}"
        if form == 4:
            return f"NOT {inner(kind)}"
        if form == 5:
            what = rng.choice(["NULL", "NOT NULL", f"DISTINCT FROM {inner(k)}"])
            what = rng.choice([what, f"NOT DISTINCT FROM {inner(k)}"])
            return f"{inner(k)} IS {what}"
        if form == 6:
            return f"{inner(kind)} IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE'])}"
        if form == 7:
            negated = rng.choice(["", "NOT "])
            return f"{inner(k)} {negated}BETWEEN {inner(k)} AND {inner(k)}"
        if form == 8:
            choices = ", ".join(inner(k) for _ in range(rng.randint(1, 3)))
            return f"{inner(k)} {rng.choice(['', 'NOT '])}IN ({choices})"
        if form == 9:
            pattern = rng.choice(["a%", "%b", "_", "%", "", "%a%"])
            like = rng.choice(["LIKE", "LIKE", "ILIKE"])
            return f"{inner('text')} {rng.choice(['', 'NOT '])}{like} '{pattern}'"
        name = rng.choice(["starts_with", "ends_with", "contains"])
        return f"{name}({inner('text')}, {inner('text')})"
