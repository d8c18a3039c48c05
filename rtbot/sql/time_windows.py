"""Windows over a column of times: tumbling ones as a value, hopping ones as a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.sql.logical import Filter, Project, SetOp
from rtbot.sql.naming import make_fresh, make_key
from rtbot.sql.refusals import refuse_rest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder

HOPS_MAX = 64
"""So many hopping windows may a time be in."""


def bind_bucket(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind `time_bucket(width, t)`: the start of the window that a time is in."""
    refuse_rest(binder.query, node, "this", "expression")
    return bind_tumble(binder, node, [node.expression, node.this])


def bind_tumble(
    binder: ScalarBinder, node: exp.Expr, arguments: Sequence[exp.Expr]
) -> Expression | None:
    """Bind `tumble(t, width)`, the greatest multiple of the width that is not above the time."""
    read = _read_arguments(binder, node, arguments, ("tumble(t, width)", "time_bucket(width, t)"))
    if read is None:
        return None
    time, (width,) = read
    return make_start(time, width, binder.query.locate(node))


def make_rest(time: Expression, width: int, mark: SourceSpan) -> Expression:
    """Return how far behind the start of its window a time is."""
    size, zero = _integer(width, mark), _integer(0, mark)
    rest = make_call("%", [time, size], mark)
    negative = make_call("<", [rest, zero], mark)
    return make_call("case", [negative, make_call("+", [rest, size], mark), rest], mark)


def make_start(time: Expression, width: int, mark: SourceSpan) -> Expression:
    """Return the start of the window that a time is in; beyond int64 it has no value."""
    return make_call("-", [time, make_rest(time, width, mark)], mark)


def _integer(value: int, mark: SourceSpan) -> Expression:
    return Expression("constant", Type("integer"), (), value, mark)


def _read_arguments(
    binder: ScalarBinder, node: exp.Expr, arguments: Sequence[exp.Expr], forms: Sequence[str]
) -> tuple[Expression, list[int]] | None:
    """Return the time, and the widths; report what is wrong."""
    query = binder.query
    count = forms[0].count(",") + 1
    if len(arguments) != count:
        message = f"{forms[0].split('(')[0]} takes {count} arguments, {len(arguments)} given"
        query.report("RT132", node, message, f"write {' or '.join(forms)}")
        return None
    trees = [binder.bind(one) for one in arguments]
    known = [settle_null(tree, "integer") for tree in trees if tree is not None]
    if len(known) < count:
        return None
    if known[0].type.kind != "integer":
        message = f"{query.quote(node)} takes a time that is an integer, here is {known[0].type}"
        query.report("RT133", node, message, "CAST(floor(t) AS BIGINT) makes one")
        return None
    for one, tree in zip(arguments[1:], known[1:], strict=True):
        if tree.op != "constant" or type(tree.value) is not int or tree.value < 1:
            hint = f"write {' or '.join(forms)}, with a number or $name"
            query.report("RT133", one, "the width of a window is a constant above 0", hint)
            return None
    return known[0], [tree.value for tree in known[1:]]


class HopWindows:
    """The hopping windows of a query: one call, however often it is written.

    A row is there for every window that its time is in; one without a time is in none.
    """

    def __init__(self, query: QueryText, plan: LogicalPlan) -> None:
        self.query, self.plan = query, plan
        self.name = make_fresh("hop_1", [field.name for field in plan.fields])
        self.call: tuple[Expression, int, int, SourceSpan] | None = None

    def bind(
        self, binder: ScalarBinder, node: exp.Expr, arguments: Sequence[exp.Expr]
    ) -> Expression | None:
        """Bind `hop(t, hop, width)`: the start of a window."""
        plain = type(binder)(self.query, binder.scope, "hop")
        read = _read_arguments(plain, node, arguments, ("hop(t, hop, width)",))
        if read is None:
            return None
        time, (hop, width) = read
        mark = self.query.locate(node)
        if -(-width // hop) > HOPS_MAX:
            message = f"a time is in {-(-width // hop)} of these windows, {HOPS_MAX} are the most"
            self.query.report("RT135", node, message, "let them begin less often")
            return None
        if width < hop:
            message = "these windows leave out times: the width is less than the hop"
            self.query.report("RT133", node, message, "tumble(t, width), and a condition on it")
            return None
        if self.call is None:
            self.call = (time, hop, width, mark)
        elif (make_key(time), hop, width) != (make_key(self.call[0]), *self.call[1:3]):
            hint = "read the other from a query under WITH"
            self.query.report("RT181", node, "several hopping windows in one query", hint)
            return None
        return Expression("field", time.type, (), self.name, mark)

    def place(self) -> LogicalPlan:
        """Return the plan with the start of a window in every row, if there is a call.

        A row without a time is left out.
        """
        if self.call is None:
            return self.plan
        time, hop, width, mark = self.call
        fields = (*self.plan.fields, Field(self.name, time.type))
        own = [Expression("field", f.type, (), f.name) for f in self.plan.fields]
        parts: list[LogicalPlan] = []
        child = self.plan
        if time.type.nullable:
            there = make_call("not", [make_call("is_null", [time], mark)], mark)
            child = Filter(child, there, mark)
        for before in range(0, width, hop):
            start = make_start(time, hop, mark)
            if before:
                start = make_call("-", [start, _integer(before, mark)], mark)
            plan = child
            if width - before < hop:
                inside = [make_rest(time, hop, mark), _integer(width - before, mark)]
                plan = Filter(plan, make_call("<", inside, mark), mark)
            parts.append(Project(plan, fields, (*own, start), mark))
        if len(parts) == 1:
            return parts[0]
        return SetOp("Union", True, tuple(parts), fields, mark)
