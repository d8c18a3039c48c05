"""Nodes of queries over bags of rows, one after another: a row is a tuple, a bag a Counter."""

import math
import re
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

INT64 = range(-(1 << 63), 1 << 63)
NAN = float("nan")


class FaultError(Exception):
    """An operation that has no value for a row."""


def evaluate(query, tables, names):
    """Return the bag of a query; `tables` are bags, `names` the names of their fields."""
    bags, fields = dict(tables), dict(names)
    for node in query.nodes:
        rows = [bags[each] for each in node.inputs]
        bags[node.id] = +NODES[node.operator](node, rows, [fields[each] for each in node.inputs])
        fields[node.id] = [field.name for field in node.schema]
    return bags[query.result]


def clean(value):
    """Return a value with one zero and one NaN, which is equal to itself."""
    if isinstance(value, float):
        return NAN if value != value else value + 0.0
    return value


def _where(node, bags, fields):
    tree = node.formulas["condition"]
    return Counter(
        {r: n for r, n in bags[0].items() if compute(tree, dict(zip(fields[0], r, strict=True)))}
    )


def _select(node, bags, fields):
    result = Counter()
    trees = [node.formulas[f"fields.{name}"] for name in node.values["fields"]]
    for row, count in bags[0].items():
        scope = dict(zip(fields[0], row, strict=True))
        result[tuple(clean(compute(tree, scope)) for tree in trees)] += count
    return result


def _group_by(node, bags, fields):
    groups = defaultdict(list)
    if not node.values["by"]:
        groups[()] = []
    for row, count in bags[0].items():
        scope = dict(zip(fields[0], row, strict=True))
        groups[tuple(scope[name] for name in node.values["by"])] += [scope] * count
    result = Counter()
    for key, rows in groups.items():
        found = []
        for name, function, distinct in node.values["compute"]:
            tree = node.formulas.get(f"compute.{name}")
            if tree is None:
                found.append(len(rows))
                continue
            values = [v for v in (compute(tree, row) for row in rows) if v is not None]
            values = list(dict.fromkeys(map(clean, values))) if distinct else values
            found.append(clean(aggregate(function, values)))
        result[(*key, *found)] += 1
    return result


def aggregate(function, values):
    if function == "count":
        return len(values)
    if not values:
        return None
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=order)
    if function in ("bool_and", "bool_or"):
        return (all if function == "bool_and" else any)(values)
    if function == "sum" and isinstance(values[0], int):
        return checked(sum(values))
    if function in ("sum", "avg"):
        total = add_all(values)
        return total if function == "sum" else total / len(values)
    sample = function in ("stddev", "variance")
    if len(values) <= sample:
        return None
    if not all(map(math.isfinite, values)):
        return NAN
    exact = list(map(Fraction, values))
    spread = as_float((statistics.variance if sample else statistics.pvariance)(exact))
    return math.sqrt(spread) if function.startswith("stddev") else spread


def as_float(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def add_all(values):
    if all(map(math.isfinite, values)):
        return as_float(sum(map(Fraction, values)))
    return sum(v for v in values if not math.isfinite(v))


def _distinct(node, bags, fields):  # noqa: ARG001
    return Counter(dict.fromkeys(bags[0], 1))


def _union(node, bags, fields):  # noqa: ARG001
    total = sum(bags, Counter())
    return total if node.values["all"] else Counter(dict.fromkeys(total, 1))


def _intersect(node, bags, fields):  # noqa: ARG001
    least = bags[0]
    for bag in bags[1:]:
        least = least & bag  # not in place: the first is an input
    return least if node.values["all"] else Counter(dict.fromkeys(least, 1))


def _except(node, bags, fields):  # noqa: ARG001
    first, second = bags
    if node.values["all"]:
        return first - second
    return Counter({row: 1 for row in first if row not in second})


NODES = {
    "Where": _where,
    "Select": _select,
    "GroupBy": _group_by,
    "Distinct": _distinct,
    "Union": _union,
    "Intersect": _intersect,
    "Except": _except,
}


# ---- expressions


def compute(tree, scope):
    """Return the value of an expression for a row; raises FaultError where it has none."""
    if tree.op == "field":
        return scope[tree.value]
    if tree.op == "constant":
        return tree.value
    if tree.op in ("and", "or"):
        values = [compute(argument, scope) for argument in tree.args]
        decisive = tree.op == "or"
        return decisive if decisive in values else None if None in values else not decisive
    if tree.op == "case":
        *pairs, last = tree.args
        for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
            if compute(condition, scope):
                return compute(value, scope)
        return compute(last, scope)
    values = [compute(argument, scope) for argument in tree.args]
    if tree.op in WITH_NULLS:
        return WITH_NULLS[tree.op](*values)
    if None in values:
        return None
    if tree.op == "cast":
        return cast(values[0], tree.type.kind)
    return OPERATIONS[tree.op](*values)


def order(value):
    """Return a key by which values of one kind are in order: NaN is the greatest number."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return (value != value, 0 if value != value else value)
    return value


def checked(value):
    if isinstance(value, int) and value not in INT64:
        raise FaultError("beyond 64 bits")
    return value


def is_in(value, *choices):
    if value is None:
        return None
    if any(c is not None and order(c) == order(value) for c in choices):
        return True
    return None if None in choices else False


def pick(choose):
    def function(*values):
        known = [value for value in values if value is not None]
        return choose(known, key=order) if known else None

    return function


def divide(a, b):
    if b == 0:
        return NAN if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def quotient(a, b):
    if isinstance(a, float):
        return float(math.floor(divide(a, b)))
    if b == 0:
        raise FaultError("division by zero")
    return checked(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def remainder(a, b):
    if isinstance(a, float):
        return NAN if b == 0 or math.isinf(a) or a != a or b != b else math.fmod(a, b)
    if b == 0:
        raise FaultError("division by zero")
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def power(a, b):
    try:
        result = a**b
    except (ZeroDivisionError, OverflowError):
        raise FaultError("power") from None
    return result if isinstance(result, float) else NAN


def rounded(value):
    if isinstance(value, int) or not math.isfinite(value):
        return value
    return math.copysign(math.floor(abs(value) + 0.5), value)


def whole(function):
    def apply(value):
        return (
            value if isinstance(value, int) or not math.isfinite(value) else float(function(value))
        )

    return apply


def sign(value):
    return value if value != value else type(value)((value > 0) - (value < 0))


def cast(value, kind):
    try:
        if kind == "text":
            if isinstance(value, bool):
                return "true" if value else "false"
            return str(value)
        if kind == "boolean":
            return (
                value.strip().lower() in ("true", "t", "1")
                if isinstance(value, str)
                else value != 0
            )
        if kind == "number":
            return float(value)
        if isinstance(value, float):
            return checked(round(value))
        return checked(int(value))
    except (ValueError, OverflowError):
        raise FaultError("a cast") from None


def like(text, pattern):
    parts = {"%": ".*", "_": "."}
    expression = "".join(parts.get(c) or re.escape(c) for c in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


WITH_NULLS = {
    "is_null": lambda a: a is None,
    "is_distinct": lambda a, b: (
        (a is None, a is not None and order(a)) != (b is None, b is not None and order(b))
    ),
    "coalesce": lambda *values: next((v for v in values if v is not None), None),
    "in": is_in,
    "least": pick(min),
    "greatest": pick(max),
}

OPERATIONS = {
    "widen": float,
    "neg": lambda a: checked(-a),
    "not": lambda a: not a,
    "+": lambda a, b: checked(a + b),
    "-": lambda a, b: checked(a - b),
    "*": lambda a, b: checked(a * b),
    "/": divide,
    "//": quotient,
    "%": remainder,
    "power": power,
    "<": lambda a, b: order(a) < order(b),
    "<=": lambda a, b: order(a) <= order(b),
    ">": lambda a, b: order(a) > order(b),
    ">=": lambda a, b: order(a) >= order(b),
    "==": lambda a, b: order(a) == order(b),
    "!=": lambda a, b: order(a) != order(b),
    "abs": lambda a: checked(abs(a)),
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round": rounded,
    "sign": sign,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else NAN,
    "exp": lambda a: math.exp(a) if a < 700 else math.inf,
    "ln": lambda a: math.log(a) if a > 0 else NAN,
    "log10": lambda a: math.log10(a) if a > 0 else NAN,
    "isnan": lambda a: a != a,
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda a: a.strip(" "),
    "ltrim": lambda a: a.lstrip(" "),
    "rtrim": lambda a: a.rstrip(" "),
    "length": len,
    "concat": lambda *parts: "".join(parts),
    "substring": lambda a, first, *length: (
        a[first - 1 :][: length[0]] if length else a[first - 1 :]
    ),
    "replace": lambda a, old, new: a.replace(old, new) if old else a,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda a, part: part in a,
    "like": like,
}
