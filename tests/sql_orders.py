"""Random queries in an order: LIMIT, window functions, quantiles, time windows, ASOF JOIN.

What sorts rows ends with all their columns, so that only one answer is right.
"""

from tests.sql_queries import COLUMNS, KINDS, QueryMaker

HOPS = (
    "unnest([w8 FOR w8 IN [tumble({t}, {hop}) - k8 FOR k8 IN range(0, {width}, {hop})]"
    " IF w8 + {width} > {t}])"
)
"""What DuckDB does not have; its variables have names that no column of the tables has."""
MACRO = "CREATE OR REPLACE MACRO tumble(t, w) AS t - ((t % w) + w) % w"
"""What DuckDB does not have, as it has it."""

ORDER_FEATURES = {
    "limit": r"LIMIT [1-9]",
    "offset": "OFFSET [1-9]",
    "nulls first": "NULLS FIRST",
    "descending": " DESC",
    "distinct on": r"DISTINCT ON",
    "limit of a set operation": r"ORDER BY 1[^()]*LIMIT",
    "limit in brackets": r"LIMIT \d+( OFFSET \d+)?\)",
    "limit by key": r"WHERE z\d+\.\w+ = .* LIMIT",
    "row_number": "row_number",
    "rank": r"\brank",
    "dense_rank": "dense_rank",
    "lag": "lag",
    "lead": "lead",
    "first_value": "first_value",
    "last_value": "last_value",
    "sum over": r"sum\([^()]*(\([^()]*\))*[^()]*\) (FILTER \(.*\) )?OVER",
    "rows frame": "ROWS",
    "named window": "WINDOW w",
    "several windows": r"OVER .* AS k1.* OVER \(",
    "window over groups": r"OVER .*GROUP BY",
    "qualify": "QUALIFY",
    "first rows of a number": r"rn (<|=|BETWEEN)",
    "median": "median",
    "quantile_cont": "quantile_cont",
    "string_agg": "string_agg",
    "first or last": r"(first|last)\(",
    "arg_min or arg_max": "arg_m",
    "tumble": "tumble",
    "hop": r"hop\(",
    "asof": "ASOF JOIN",
    "asof left": "ASOF LEFT JOIN",
}
"""What is counted of the queries in an order whose answers were right."""


class OrderedMaker(QueryMaker):
    """Makes random queries in an order; `theirs` is the same one as DuckDB has it."""

    theirs = ""

    def query(self, depth=1):
        self.theirs = ""
        form = self.rng.choice(
            ["limited", "limited", "set", "inside", "membership", "window", "window", "window",
             "numbered", "numbered", "over_groups", "first_of", "aggregates", "aggregates",
             "asof", "tumbling", "hopping"]
        )  # fmt: skip
        return getattr(self, f"make_{form}")(depth)

    # ---- parts

    def open(self, depth=1, *, distinct=False):
        """FROM and WHERE; the columns are noted, and all of them as they are sorted by."""
        source, self.columns, self.outside, self.condition = self.source(depth)
        self.every = [*(self.outside or self.columns)]
        where = self.where(0.3)
        if distinct:
            star = ", ".join(f"{name} AS c{n}" for n, name in enumerate(self.every))
            kinds = [self.outside.get(name) or self.columns[name] for name in self.every]
            self.columns = {f"c{n}": kind for n, kind in enumerate(kinds)}
            self.every, self.outside = [*self.columns], {}
            return f"(SELECT DISTINCT {star} FROM {source}{where}) AS d"  # noqa: S608 (a test)
        return f"{source}{where}"

    def direction(self):
        return self.rng.choice(["", "", " DESC", " DESC", " NULLS FIRST", " DESC NULLS FIRST"])

    def sorting(self, last):
        """What rows are sorted by: some values, and then all of them."""
        keys = [self.key() for _ in range(self.rng.choice([0, 1, 1, 2]))]
        return ", ".join(f"{key}{self.direction()}" for key in [*keys, *last])

    def key(self):
        kind = self.rng.choice([*KINDS])
        names = [name for name, k in self.columns.items() if k == kind]
        if names and self.rng.random() < 0.6:
            return self.rng.choice(names)
        value = self.value(kind, 1)
        return f"({value})" if any(name in value for name in names) else self.rng.choice(self.every)

    def limit(self):
        rng = self.rng
        offset = f" OFFSET {rng.randint(0, 3)}" if rng.random() < 0.3 else ""
        return f" LIMIT {rng.choice([0, 1, 1, 2, 3, 5, 20])}{offset}"

    def kinds(self, most=3):
        return [self.rng.choice([*KINDS]) for _ in range(self.rng.randint(1, most))]

    def items(self, kinds):
        return ", ".join(f"{self.value(kind, 1)} AS k{n}" for n, kind in enumerate(kinds, 1))

    # ---- LIMIT

    def limited(self, kinds, depth):
        source = self.open(depth)
        distinct = self.rng.choice(["", "", "DISTINCT "])
        items = self.items(kinds)
        last = [str(n) for n in range(1, len(kinds) + 1)]
        order = self.sorting(last) if not distinct else ", ".join(self.rng.sample(last, len(last)))
        return f"SELECT {distinct}{items} FROM {source} ORDER BY {order}{self.limit()}"  # noqa: S608

    def make_limited(self, depth):
        if self.rng.random() < 0.3:
            return self.grouped_limit(depth)
        return self.limited(self.kinds(), depth)

    def grouped_limit(self, depth):
        kinds = self.kinds()
        source, self.columns, self.outside, self.condition = self.source(depth)
        text = self.grouped(kinds, source, self.rng.choice(["group", "total"]))
        order = ", ".join(f"{n}{self.direction()}" for n in range(1, len(kinds) + 1))
        return f"{text} ORDER BY {order}{self.limit()}"

    def make_set(self, depth):
        kinds = self.kinds()
        left, right = self.limited(kinds, 0), self.select(kinds, depth)
        left = self.rng.choice([f"({left})", self.select(kinds, 0)])
        kind = self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT ALL"])
        order = ", ".join(f"{n}{self.direction()}" for n in range(1, len(kinds) + 1))
        return f"{left} {kind} {right} ORDER BY {order}{self.limit()}"

    def make_inside(self, depth):
        """A query over the first rows of another one."""
        kinds = self.kinds()
        inner = self.limited(kinds, depth)
        self.columns = {f"k{n}": kind for n, kind in enumerate(kinds, 1)}
        self.outside, self.condition = {}, ""
        return self.grouped(self.kinds(), f"({inner}) AS q", self.rng.choice(["group", "total"]))

    def make_membership(self, depth):  # noqa: ARG002
        """First rows in a subquery, of all rows or of those of every key."""
        rng = self.rng
        source, self.columns, self.outside, self.condition = self.source(0)
        items = self.items(self.kinds(2))
        where = self.where(0.2)
        inner, columns = self.inner()
        restricted = ""
        pairs = [(a, b) for a, k in columns.items() for b, m in self.outside.items() if k == m]
        if pairs and rng.random() < 0.7:
            restricted = " WHERE {} = {}".format(*rng.choice(pairs))
        order = ", ".join(f"{n}{self.direction()}" for n in [rng.choice([*columns]), *columns])
        if rng.random() < 0.5:
            wanted = rng.choice([*columns])
            got = f"SELECT {wanted} FROM {inner}{restricted} ORDER BY {order} LIMIT 1"  # noqa: S608
            return f"SELECT {items}, ({got}) AS k9 FROM {source}{where}"  # noqa: S608 (a test)
        kind = rng.choice([*KINDS])
        wanted = rng.choice([name for name, k in columns.items() if k == kind])
        got = f"(SELECT {wanted} FROM {inner}{restricted} ORDER BY {order}{self.limit()})"  # noqa: S608
        where = f"{where} AND" if where else " WHERE"
        return f"SELECT {items} FROM {source}{where} ({self.value(kind, 1)}) IN {got}"  # noqa: S608

    # ---- windows

    def over(self, *, framed=True):
        """OVER with a total order, and perhaps a frame of rows."""
        rng = self.rng
        by = rng.sample(self.every, min(rng.choice([0, 1, 1, 2]), len(self.every)))
        by = f"PARTITION BY {', '.join(by)} " if by else ""
        frame = ""
        if framed and rng.random() < 0.4:
            frame = " ROWS " + rng.choice(
                ["UNBOUNDED PRECEDING", "2 PRECEDING", "BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                 "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "CURRENT ROW",
                 "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                 "BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "BETWEEN 3 PRECEDING AND 2 PRECEDING"]
            )  # fmt: skip
        return f"{by}ORDER BY {self.sorting(self.every)}{frame}"

    def window_function(self, over):
        rng = self.rng
        kind = rng.choice([*KINDS])
        value = self.value(kind, 1)
        choices = ["row_number()", "rank()", "dense_rank()", f"lag({value})",
                   f"lead({value}, {rng.randint(0, 3)})", f"first_value({value})",
                   f"last_value({value})", f"count({value})", "count(*)", f"min({value})",
                   f"max({value})", f"lag({value}, 2, {self.literal(kind)})"]  # fmt: skip
        if kind == "integer":
            choices += [f"sum({value})", f"sum({value})", f"lag({value}, 1, {self.value(kind, 0)})"]
        if kind in ("integer", "number") and not self.nasty:
            choices += [f"sum({value})", f"avg({value})"]
        text = rng.choice(choices)
        plain = text.startswith(("sum", "count", "min", "max", "avg"))
        if plain and rng.random() < 0.2:
            text += f" FILTER (WHERE {self.value('boolean', 1)})"
        return f"{text} OVER {over}"

    def make_window(self, depth):
        rng = self.rng
        several = rng.random() < 0.3
        source = self.open(depth, distinct=several)
        items = [self.value(kind, 1) for kind in self.kinds(2)]
        over = f"({self.over()})"
        named = rng.random() < 0.2
        for _ in range(rng.randint(1, 3)):
            over = f"({self.over()})" if several else over
            items.append(self.window_function("w" if named and not several else over))
        window = f" WINDOW w AS {over}" if named and not several else ""
        if rng.random() < 0.15:
            items.append(f"count(*) OVER (PARTITION BY {rng.choice(self.every)})")
        rng.shuffle(items)
        items = ", ".join(f"{item} AS k{n}" for n, item in enumerate(items, 1))
        return f"SELECT {items} FROM {source}{window}"  # noqa: S608 (a test)

    def make_numbered(self, depth):
        """First rows by a condition on a number or a rank."""
        rng = self.rng
        source = self.open(depth)
        items = self.items(self.kinds(2))
        function = rng.choice(["row_number()", "row_number()", "rank()", "dense_rank()"])
        over = f"({self.over(framed=False)})"
        if function != "row_number()" and rng.random() < 0.5:
            key = self.rng.choice(self.every)
            over = f"(ORDER BY {key}{self.direction()})"
        test = rng.choice(["<= 2", "< 3", "= 1", "= 2", "BETWEEN 2 AND 4", "> 1", "IN (1, 3)"])
        if rng.random() < 0.4:
            rest = f" AND {self.value('boolean', 1)}" if rng.random() < 0.2 else ""
            return f"SELECT {items} FROM {source} QUALIFY {function} OVER {over} {test}{rest}"  # noqa: S608
        inner = f"SELECT {items}, {function} OVER {over} AS rn FROM {source}"  # noqa: S608 (a test)
        star = rng.choice(["k1", "*", "rn, k1", "count(*) AS n"])
        return f"SELECT {star} FROM ({inner}) AS q WHERE rn {test}"  # noqa: S608 (a test)

    def make_over_groups(self, depth):
        """Window functions over groups."""
        rng = self.rng
        source, self.columns, self.outside, self.condition = self.source(depth)
        where = self.where(0.3)
        kind = rng.choice([*KINDS])
        key = self.value(kind, 1)
        numbers = [
            "count(*)",
            f"count({self.value('boolean', 1)})",
            f"max({self.value('integer', 0)})",
        ]
        one, other = rng.choice(numbers), rng.choice(numbers)
        over = rng.choice([f"(ORDER BY {one}{self.direction()}, {key}{self.direction()})",
                           f"(PARTITION BY {one} ORDER BY {key})"])  # fmt: skip
        function = rng.choice(["row_number()", "rank()", f"sum({other})", f"lag({other})"])
        limit = f" ORDER BY 2{self.direction()}, 1{self.limit()}" if rng.random() < 0.3 else ""
        return (
            f"SELECT {key} AS k1, {function} OVER {over} AS k2, {other} AS k3 FROM {source}{where} "  # noqa: S608
            f"GROUP BY {key}{limit and limit.replace(', 1', ', 1, 3')}"
        )

    def make_first_of(self, depth):
        source = self.open(depth)
        items = self.items(self.kinds(2))
        on = self.rng.sample(self.every, min(self.rng.choice([1, 1, 2]), len(self.every)))
        order = ", ".join([*on, self.sorting(self.every)])
        limit = ""
        if self.rng.random() < 0.2:
            limit = self.limit()
        return f"SELECT DISTINCT ON ({', '.join(on)}) {items} FROM {source} ORDER BY {order}{limit}"  # noqa: S608

    # ---- aggregates, time windows, ASOF JOIN

    def make_aggregates(self, depth):
        rng = self.rng
        source = self.open(depth)
        key = rng.choice(self.every)
        items = [self.ordered_aggregate() for _ in range(rng.randint(1, 3))]
        items = ", ".join(f"{item} AS k{n}" for n, item in enumerate(items, 1))
        by = f" GROUP BY {key}" if rng.random() < 0.7 else ""
        return f"SELECT {items} FROM {source}{by}"  # noqa: S608 (a test)

    def ordered_aggregate(self):
        rng = self.rng
        kind = rng.choice([*KINDS])
        value = self.value(kind, 1)
        form = rng.choice(["quantile", "end", "texts", "extreme"])
        if form == "quantile" and not self.nasty:
            value = self.value(rng.choice(["integer", "number"]), 1)
            text = f"median({value})"
            if rng.random() < 0.6:
                distinct = rng.choice(["", "", "DISTINCT "])
                text = (
                    f"quantile_cont({distinct}{value}, {rng.choice([0, 0.1, 0.25, 0.5, 0.9, 1])})"
                )
        elif form == "texts":
            value = self.value("text", 1)
            separator = rng.choice(["", ", ', '", ", ''", ", '-'"])
            last = [value] if any(name in value for name in self.every) else self.every
            text = f"string_agg({value}{separator} ORDER BY {self.sorting(last)})"
        elif form == "extreme":
            text = f"{rng.choice(['arg_min', 'arg_max'])}({value}, {value})"
        else:
            text = f"{rng.choice(['first', 'last'])}({value} ORDER BY {self.sorting(self.every)})"
        if rng.random() < 0.2:
            text += f" FILTER (WHERE {self.value('boolean', 1)})"
        return text

    def make_asof(self, depth):  # noqa: ARG002
        rng = self.rng
        kinds = {name: kind.rstrip("?") for name, kind in COLUMNS.items()}
        numbers = ["i", "j"] if self.nasty else ["i", "j", "x", "y"]
        one, other = rng.choice(numbers), rng.choice(numbers)
        same = [(a, b) for a, k in kinds.items() for b, m in kinds.items() if k == m]
        pairs = rng.sample(same, rng.choice([0, 1, 1, 2]))
        sign = rng.choice([">=", ">", "<=", "<"])
        parts = [f"a.{a} = b.{b}" for a, b in pairs]
        shift = f" + {rng.randint(0, 2)}" if rng.random() < 0.2 and not self.nasty else ""
        parts.insert(rng.randint(0, len(parts)), f"a.{one} {sign} b.{other}{shift}")
        how = rng.choice(["ASOF JOIN", "ASOF LEFT JOIN"])
        self.columns = {f"a.{name}": kind for name, kind in kinds.items()}
        self.columns |= {f"b.{b}": kinds[b] for _, b in [*pairs, (0, other)]}
        self.outside, self.condition = {}, ""
        source = f"{rng.choice('tu')} AS a {how} {rng.choice('tu')} AS b ON {' AND '.join(parts)}"
        items = self.items(self.kinds())
        if rng.random() < 0.3:
            return self.grouped(self.kinds(), source, rng.choice(["group", "total"]))
        return f"SELECT {items}, b.{other} AS k9 FROM {source}{self.where(0.2)}"  # noqa: S608

    def make_tumbling(self, depth):
        rng = self.rng
        source = self.open(depth)
        window = f"tumble({self.value('integer', 1)}, {rng.choice([1, 2, 3, 7])})"
        calls = ", ".join(f"{self.aggregate(k)} AS k{n}" for n, k in enumerate(self.kinds(2), 1))
        return f"SELECT {window} AS w, {calls} FROM {source} GROUP BY {rng.choice(['w', window])}"  # noqa: S608

    def make_hopping(self, depth):  # noqa: ARG002
        rng = self.rng
        source, self.condition = rng.choice("tu"), ""
        self.columns, self.outside = {n: k.rstrip("?") for n, k in COLUMNS.items()}, {}
        where = self.where(0.3)
        time, hop = self.value("integer", 1), rng.choice([1, 2, 3])
        width = hop + rng.randint(0, 5)
        calls = ", ".join(f"{self.aggregate(k)} AS k{n}" for n, k in enumerate(self.kinds(2), 1))
        call = HOPS.format(t=f"({time})", hop=hop, width=width)
        self.theirs = (
            f"SELECT w9 AS w, {calls} FROM "  # noqa: S608 (a test)
            f"(SELECT *, {call} AS w9 FROM {source}{where}) AS {source} GROUP BY w9"
        )
        return f"SELECT hop({time}, {hop}, {width}) AS w, {calls} FROM {source}{where} GROUP BY 1"  # noqa: S608
