"""Expressions over rows, one value at a time, as plainly as possible: SQL's meaning."""

import math
import re

INT64 = range(-(1 << 63), 1 << 63)
NAN = math.nan


class NoValueError(Exception):
    """An operation that has no value for a row."""


def evaluate(tree, row):  # noqa: C901, PLR0912 (a case for each operation)
    """Return the value of a tree; `row` is {field: value}, None is null."""
    if tree.op == "field":
        return row[tree.value]
    if tree.op == "constant":
        return tree.value
    if tree.op in ("and", "or"):
        return _decide(tree, row, decisive=tree.op == "or")
    if tree.op == "case":
        *pairs, last = tree.args
        for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
            if evaluate(condition, row) is True:
                return evaluate(value, row)
        return evaluate(last, row)
    if tree.op == "coalesce":
        for argument in tree.args:
            value = evaluate(argument, row)
            if value is not None:
                return value
        return None
    values = [evaluate(argument, row) for argument in tree.args]
    if tree.op in NULLS:
        return NULLS[tree.op](*values)
    if None in values:
        return None
    if tree.op == "cast":
        return cast(values[0], tree.type.kind)
    if tree.op == "try_cast":
        try:
            return cast(values[0], tree.type.kind)
        except NoValueError:
            return None
    result = OPERATIONS[tree.op](*values)
    if type(result) is int and result not in INT64:
        raise NoValueError(tree.op)
    return result


def _decide(tree, row, *, decisive):
    first = evaluate(tree.args[0], row)
    if first is decisive:
        return decisive
    second = evaluate(tree.args[1], row)
    if second is decisive:
        return decisive
    return None if None in (first, second) else not decisive


def rank(value):
    """Return what a value is compared by: NaN is the greatest number."""
    return (value != value, 0 if value != value else value) if isinstance(value, float) else value


def is_in(value, *others):
    if value is None:
        return None
    if any(o is not None and rank(o) == rank(value) for o in others):
        return True
    return None if None in others else False


def extreme(choose):
    def chosen(*values):
        known = [value for value in values if value is not None]
        return choose(known, key=rank) if known else None

    return chosen


NULLS = {
    "is_null": lambda a: a is None,
    "is_distinct": lambda a, b: (
        (a is None) != (b is None) or (a is not None and rank(a) != rank(b))
    ),
    "in": is_in,
    "least": extreme(min),
    "greatest": extreme(max),
}


def divide(a, b):
    if b == 0:
        return NAN if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def quotient(a, b):
    if b == 0:
        raise NoValueError("//")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    if isinstance(a, float):
        return NAN if b == 0 or math.isinf(a) or a != a or b != b else math.fmod(a, b)
    if b == 0:
        raise NoValueError("%")
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def whole(function):
    def applied(a):
        return a if isinstance(a, int) or not math.isfinite(a) else float(function(a))

    return applied


def half_away(a):
    size = math.floor(abs(a))
    return math.copysign(size + (abs(a) - size >= 0.5), a)


def power(a, b):
    try:
        found = math.pow(a, b)
    except OverflowError:
        found = -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        found = NAN
        if a == 0:
            found = math.copysign(math.inf, a) if b % 2 == 1 else math.inf
    return found


def exponential(a):
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def logarithm(function):
    def applied(a):
        return function(a) if a > 0 else -math.inf if a == 0 else NAN

    return applied


def sign(a):
    return a if a != a else type(a)((a > 0) - (a < 0))


def like(text, pattern):
    """Match by the definition, letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[k:], pattern[1:]) for k in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])


def substring(text, start, length=None):
    """Choose by the place of every character."""
    first = start if start >= 0 else len(text) + start + 1
    if length is None:
        return "".join(c for k, c in enumerate(text, 1) if k >= first)
    low, high = min(first, first + length), max(first, first + length)
    return "".join(c for k, c in enumerate(text, 1) if low <= k < high)


def cast(value, kind):
    if isinstance(value, str):
        return _read(value, kind)
    if kind == "text":
        return str(value).lower() if isinstance(value, bool) else repr(clean(value))
    if kind == "boolean":
        return value != 0
    if kind == "number":
        return float(value)
    if isinstance(value, float):
        if not math.isfinite(value) or round(value) not in INT64:
            raise NoValueError("cast")
        return round(value)
    return int(value)


def _read(text, kind):
    try:
        if kind == "boolean":
            return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}[
                text.lower()
            ]
        if not re.fullmatch(r" *[+-]?[0-9a-z.+-]+ *", text, re.ASCII | re.IGNORECASE):
            raise NoValueError("cast")
        value = int(text) if kind == "integer" else float(text)
    except (KeyError, ValueError):
        raise NoValueError("cast") from None
    if kind == "integer" and value not in INT64:
        raise NoValueError("cast")
    return value


def clean(value):
    """Return a value as a row holds it: one zero, one NaN."""
    return value + 0.0 if isinstance(value, float) else value


OPERATIONS = {
    "widen": float,
    "neg": lambda a: -a,
    "not": lambda a: not a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "//": quotient,
    "%": remainder,
    "power": power,
    "<": lambda a, b: rank(a) < rank(b),
    "<=": lambda a, b: rank(a) <= rank(b),
    ">": lambda a, b: rank(a) > rank(b),
    ">=": lambda a, b: rank(a) >= rank(b),
    "==": lambda a, b: rank(a) == rank(b),
    "!=": lambda a, b: rank(a) != rank(b),
    "abs": abs,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round": whole(half_away),
    "sign": sign,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else NAN,
    "exp": exponential,
    "ln": logarithm(math.log),
    "log10": logarithm(math.log10),
    "isnan": lambda a: a != a,
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda a: a.strip(" "),
    "ltrim": lambda a: a.lstrip(" "),
    "rtrim": lambda a: a.rstrip(" "),
    "length": len,
    "concat": lambda *parts: "".join(parts),
    "substring": substring,
    "replace": lambda a, old, new: new.join(a.split(old)) if old else a,
    "starts_with": lambda a, b: a[: len(b)] == b,
    "ends_with": lambda a, b: a[len(a) - len(b) :] == b if len(b) <= len(a) else False,
    "contains": lambda a, b: b in a,
    "like": like,
}
