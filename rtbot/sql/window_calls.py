"""Window functions of a query: what each computes over which rows, and their plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp

from rtbot.expression.row_rules import make_call, settle_null, widen
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operators.ordered import find_frame, find_window_type
from rtbot.sql.aggregates import AggregateCalls
from rtbot.sql.naming import make_key
from rtbot.sql.refusals import refuse_node, refuse_rest
from rtbot.sql.row_order import (
    SortKey,
    list_sort_nodes,
    make_sort_key,
    split_nulls,
)
from rtbot.sql.scope import find_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder

    WindowParts = tuple[list[exp.Expr], exp.Expr | None, exp.Expr | None]
    FrameBounds = tuple[str, int | None, int | None]

PLACES: dict[type[exp.Expr], str] = {
    exp.RowNumber: "number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
"""Functions of the order alone."""

NEIGHBOURS: dict[type[exp.Expr], str] = {exp.Lag: "lag", exp.Lead: "lead"}
OVER_FRAMES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.CountIf: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.LogicalAnd: "min",
    exp.LogicalOr: "max",
    exp.FirstValue: "first",
    exp.LastValue: "last",
    exp.First: "first",
    exp.Last: "last",
}
"""Functions over the rows of a frame; of conditions, the least is whether all are true."""

WINDOW_FUNCTIONS = (*PLACES, *NEIGHBOURS, exp.FirstValue, exp.LastValue)
"""What is a window function only: it needs OVER."""

INSTEAD = {
    "Ntile": "compare row_number() with count(*) OVER ()",
    "PercentRank": "write (rank() OVER w - 1) / (count(*) OVER (PARTITION BY ...) - 1)",
    "CumeDist": "write count(*) OVER (... ORDER BY ...) / count(*) OVER (PARTITION BY ...)",
    "NthValue": "write first_value(x), or lead(x, n) of it",
}
THERE = (
    "there are row_number, rank, dense_rank, lag, lead, first_value, last_value, sum, count, avg,"
    " min and max"
)
FRAMES_THERE = "ROWS takes numbers of rows; RANGE goes from UNBOUNDED PRECEDING to CURRENT ROW"
DISTANCE_MAX = 1 << 31
WHOLE = ("rows", None, None)
"""The frame of the whole partition."""


class WindowRows(NamedTuple):
    """The rows that a window function looks at: its partition, their order, and the frame."""

    by: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    frame: FrameBounds | None


@dataclass(frozen=True)
class WindowCall:
    """A window function over an argument, and the rows of its window."""

    function: str
    argument: Expression | None
    offset: int
    default: Any
    rows: WindowRows
    type: Type
    mark: SourceSpan

    @property
    def trees(self) -> list[Expression]:
        """All expressions that it is made of."""
        own = [] if self.argument is None else [self.argument]
        return [*self.rows.by, *(key.tree for key in self.rows.order), *own]

    def replace_trees(self, trees: Iterator[Expression]) -> WindowCall:
        """Return the call with other expressions, in the order of `trees`."""
        by = tuple(next(trees) for _ in self.rows.by)
        order = tuple(key._replace(tree=next(trees)) for key in self.rows.order)
        argument = None if self.argument is None else next(trees)
        return replace(self, rows=WindowRows(by, order, self.rows.frame), argument=argument)


class WindowCalls:
    """Collects the window functions of a query; `named` are the windows of its WINDOW clause."""

    def __init__(self, query: QueryText, named: Sequence[exp.Expr]) -> None:
        self.query = query
        self.named = {one.this.name: one for one in named}
        self.calls: list[WindowCall] = []
        self.places: dict[Any, int] = {}
        for number, one in enumerate(named):
            if any(one.this.name == other.this.name for other in named[:number]):
                message = f"the window {one.this.name!r} is there twice"
                query.report("RT183", one.this, message, "name one of them otherwise")

    def check_named(self, inner: ScalarBinder) -> None:
        """Note what is wrong with the windows of the WINDOW clause that nothing uses."""
        for one in self.named.values():
            if "used" not in one.meta:
                self._bind_rows(one, inner)

    def bind(self, node: exp.Expr, inner: ScalarBinder) -> Expression | None:
        """Bind a call; return a reference to it by its place in `calls`."""
        call, condition = node.this, None
        if isinstance(call, exp.RespectNulls):
            call = call.this
        if isinstance(call, exp.Filter):
            refuse_rest(self.query, call, "this", "expression")
            condition, call = call.expression.this, call.this
        rows = self._bind_rows(node, inner)
        if rows is None:
            return None
        kind: type[exp.Expr] = type(call)
        if condition is not None and kind not in OVER_FRAMES:
            hint = "filter the rows in a query before it"
            message = f"FILTER of {self.query.quote(call)} is not supported"
            self.query.report("RT181", call, message, hint)
            return None
        if kind in PLACES:
            if any(call.args.values()):
                hint = "the rows are ranked by OVER (ORDER BY ...)"
                message = f"{self.query.quote(call)} takes no argument"
                self.query.report("RT132", call, message, hint)
                return None
            return self.add(PLACES[kind], None, rows, node)
        if kind in NEIGHBOURS:
            return self._bind_neighbour(node, call, rows, inner)
        if kind in OVER_FRAMES:
            return self._bind_aggregate(node, call, rows, condition, inner)
        self._refuse(call)
        return None

    def _refuse(self, call: exp.Expr) -> None:
        """Report a function that is not there over windows."""
        name = type(call).__name__
        if name in INSTEAD:
            message = f"{self.query.quote(call)} is not supported"
            self.query.report("RT181", call, message, INSTEAD[name])
        elif isinstance(call, exp.IgnoreNulls):
            hint = "filter the nulls out in a query before it"
            self.query.report("RT181", call, "IGNORE NULLS is not supported", hint)
        elif isinstance(call, exp.Func):
            message = f"{self.query.quote(call)} is not supported as a window function"
            self.query.report("RT181", call, message, THERE)
        else:
            refuse_node(self.query, call)

    def add(
        self,
        function: str,
        argument: Expression | None,
        rows: WindowRows,
        node: exp.Expr,
        offset: int = 0,
        default: Any = None,
    ) -> Expression:
        """Return a reference to a call, which is computed once."""
        if function not in OVER_FRAMES.values():
            rows = rows._replace(frame=None)
        given = {"frame": rows.frame, "order": rows.order}
        _, start, end = find_frame(given)
        whole = (start is None or start <= 0) and (end is None or end >= 0)
        type_ = find_window_type(function, argument, default, whole)
        mark = self.query.locate(node)
        call = WindowCall(function, argument, offset, default, rows, type_, mark)
        key = (
            *(function, offset, repr(default), rows.frame, len(rows.by), argument is None),
            *((key.descending, key.nulls_first) for key in rows.order),
            *map(make_key, call.trees),
        )
        if key not in self.places:
            self.places[key] = len(self.calls)
            self.calls.append(call)
        return Expression("window", type_, (), self.places[key], mark)

    # ---- functions

    def _bind_neighbour(
        self, node: exp.Expr, call: exp.Expr, rows: WindowRows, inner: ScalarBinder
    ) -> Expression | None:
        """Bind lag or lead: a value so many rows before or after, else the default."""
        refuse_rest(self.query, call, "this", "offset", "default")
        value = inner.bind(call.this)
        distance = self._read_distance(call.args.get("offset"), inner)
        given = call.args.get("default")
        otherwise = None if given is None else inner.bind(given)
        if value is None or distance is None or (given is not None and otherwise is None):
            return None
        value = settle_null(value, "integer")
        function = NEIGHBOURS[type(call)]
        if distance == 0:
            return value
        if distance < 0:
            function, distance = ("lead" if function == "lag" else "lag"), -distance
        if otherwise is None or (otherwise.op == "constant" and otherwise.value is None):
            return self.add(function, value, rows, node, distance)
        fit = widen(settle_null(otherwise, value.type.kind), value.type.kind)
        mark = self.query.locate(node)
        if fit.type.kind != value.type.kind:
            message = f"{function} of {value.type.kind} has a default of {fit.type.kind}"
            self.query.report("RT133", given or node, message, "cast one of them")
            return None
        if fit.op == "constant":
            return self.add(function, value, rows, node, distance, fit.value)
        one = Expression("constant", Type("integer"), (), 1, mark)
        there = self.add(function, one, rows, node, distance)
        missing = make_call("is_null", [there], mark)
        found = self.add(function, value, rows, node, distance)
        return make_call("case", [missing, fit, found], mark)

    def _read_distance(self, node: exp.Expr | None, inner: ScalarBinder) -> int | None:
        if node is None:
            return 1
        tree = inner.bind(node)
        if tree is None:
            return None
        if tree.op == "constant" and type(tree.value) is int and abs(tree.value) < DISTANCE_MAX:
            return tree.value
        hint = "write a number of rows, as in lag(x, 2)"
        self.query.report("RT133", node, "lag and lead take a constant number of rows", hint)
        return None

    def _bind_aggregate(
        self,
        node: exp.Expr,
        call: exp.Expr,
        rows: WindowRows,
        condition: exp.Expr | None,
        inner: ScalarBinder,
    ) -> Expression | None:
        """Bind an aggregate over the rows of the frame, or the first or last value of them."""
        function = OVER_FRAMES[type(call)]
        if isinstance(call.this, exp.Distinct):
            hint = "group by the column in a query before it, or count changes of rank"
            self.query.report("RT181", call, "DISTINCT over a window is not supported", hint)
            return None
        if isinstance(call.this, exp.Order):
            hint = "the order is that of OVER (ORDER BY ...)"
            message = "ORDER BY within a window function is not supported"
            self.query.report("RT181", call, message, hint)
            return None
        if isinstance(call, exp.FirstValue | exp.LastValue | exp.First | exp.Last):
            refuse_rest(self.query, call, "this")
            value = inner.bind(call.this)
            if value is None:
                return None
            if condition is not None:
                hint = "filter the rows in a query before it"
                message = f"FILTER of {function}_value is not supported"
                self.query.report("RT181", call, message, hint)
                return None
            return self.add(function, settle_null(value, "integer"), rows, node)
        calls = AggregateCalls(self.query, grouped=True)
        arguments, _ = calls.read_arguments(call)
        found = None if arguments is None else calls.type_call(call, arguments, inner, condition)
        if found is None:
            return None
        argument = found[1]
        if function == "count" and argument is not None and not argument.type.nullable:
            argument = None
        return self.add(function, argument, rows, node)

    # ---- the rows of a window

    def _bind_rows(self, node: exp.Expr, inner: ScalarBinder) -> WindowRows | None:
        """Return the rows of OVER or of a named window; None if they are wrong, which is noted."""
        parts = self._collect(node, ())
        if parts is None:
            return None
        by_nodes, order_node, frame_node = parts
        nodes = list_sort_nodes(self.query, order_node)
        by = [inner.bind(one) for one in by_nodes]
        keys = [(one, inner.bind(one.this)) for one in nodes]
        frame = self._read_frame(frame_node, bool(nodes))
        known = tuple(settle_null(tree, "integer") for tree in by if tree is not None)
        order = [make_sort_key(one, tree) for one, tree in keys if tree is not None]
        if frame is False or len(known) < len(by) or len(order) < len(nodes):
            return None
        known = tuple(tree for tree in known if tree.op != "constant")
        return WindowRows(known, tuple(split_nulls(order)), frame)

    def _collect(self, node: exp.Expr, seen: tuple[str, ...]) -> WindowParts | None:
        """Return PARTITION BY, ORDER BY and frame of a window, and of the one it is based on."""
        query = self.query
        if refuse_rest(query, node, "this", "partition_by", "order", "spec", "alias", "over"):
            return None
        args = node.args
        by = list(args.get("partition_by") or ())
        own: WindowParts = (by, args.get("order"), args.get("spec"))
        alias = node.args.get("alias")
        if alias is None:
            return own
        found = find_named(alias.name, self.named, str)
        if not found or alias.name in seen:
            there = ", ".join(self.named) or "none"
            hint = f"the windows of WINDOW are: {there}"
            query.report("RT182", alias, f"there is no window {alias.name!r}", hint)
            return None
        base = self.named[found[0]]
        base.meta["used"] = True
        given = self._collect(base, (*seen, alias.name))
        if given is None:
            return None
        names = ("PARTITION BY", "ORDER BY", "a frame")
        for name, one, other in zip(names, own, given, strict=True):
            if one and other:
                message = f"the window {alias.name!r} has {name} already"
                query.report("RT180", alias, message, "write the whole window in brackets")
                return None
        return own[0] or given[0], own[1] or given[1], own[2] or given[2]

    def _read_frame(self, node: exp.Expr | None, ordered: bool) -> Any:
        """Return a frame as OverRows has it, None for the one without a word, False if wrong."""
        if node is None:
            return None
        query = self.query
        refuse_rest(query, node, "kind", "start", "start_side", "end", "end_side", "exclude")
        if node.args.get("exclude") is not None:
            hint = "subtract the row itself"
            query.report("RT181", node, "EXCLUDE in a frame is not supported", hint, "EXCLUDE")
            return False
        kind = str(node.args.get("kind") or "").upper()
        bounds = [self._read_bound(node, side) for side in ("start", "end")]
        if None in bounds:
            return False
        (start, first), (end, last) = bounds  # type: ignore[misc]
        if (start is None and first == "FOLLOWING") or (end is None and last == "PRECEDING"):
            hint = "a frame begins with UNBOUNDED PRECEDING and ends with UNBOUNDED FOLLOWING"
            query.report("RT180", node, "this frame has no rows", hint, kind)
            return False
        if start is None and end is None:
            return WHOLE
        if kind == "ROWS":
            if start is not None and end is not None and start > end:
                hint = "write the bounds the other way round"
                query.report("RT180", node, "this frame ends before it begins", hint, kind)
                return False
            return ("rows", start, end)
        if kind == "RANGE" and (start, end) == (None, 0):
            return ("range", None, 0) if ordered else WHOLE
        if kind == "RANGE" and not ordered and start in (None, 0) and end in (None, 0):
            return WHOLE
        name = "GROUPS" if kind == "GROUPS" else "this RANGE"
        query.report("RT181", node, f"{name} in a frame is not supported", FRAMES_THERE, kind)
        return False

    def _read_bound(self, node: exp.Expr, side: str) -> tuple[int | None, str] | None:
        """Return how many rows from the current one a frame begins or ends; None: no bound."""
        value = node.args.get(side)
        where = str(node.args.get(f"{side}_side") or "").upper()
        if value is None and side == "end":
            if str(node.args.get("start_side") or "").upper() == "FOLLOWING":
                hint = "write ROWS BETWEEN ... AND ..."
                self.query.report(
                    "RT180", node, "a frame that ends with this row", hint, "FOLLOWING"
                )
                return None
            return 0, ""
        if isinstance(value, str) and value.upper() == "CURRENT ROW":
            return 0, where
        if where not in ("PRECEDING", "FOLLOWING"):
            hint = "write ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"
            self.query.report("RT180", node, "a bound without PRECEDING or FOLLOWING", hint)
            return None
        if isinstance(value, str):
            return None, where
        count = value.this if isinstance(value, exp.Literal) else ""
        if not isinstance(count, str) or not count.isdigit() or int(count) >= DISTANCE_MAX:
            hint = "write a number of rows, as in ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
            self.query.report("RT181", value or node, "a frame has a number of rows", hint)
            return None
        return (-int(count) if where == "PRECEDING" else int(count)), where
