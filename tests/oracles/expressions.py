"""An evaluator of expressions over Python's own parser, with the rules of the graph language."""

import ast
import math
import re
from dataclasses import dataclass

from tests.oracles.registry import FAULT, attempt
from tests.oracles.streams import Domain, fits, greatest, least

WORDS = re.compile(
    r"`[^`]*`(?:\.\w+){0,2}"  # an id that holds a minus
    r"|\$\w+"  # a parameter
    r"|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"  # a number
    r"|[A-Za-z]\w*(?:\.[A-Za-z]\w*)?(?:\.\d+)?"  # an id, an element or a function
)
FUNCTIONS = [
    "if",
    "min",
    "max",
    "abs",
    "sqrt",
    "exp",
    "log",
    "floor",
    "ceil",
    "round",
    "sign",
    "isnan",
    "coalesce",
]
NUMBER_ONLY = {"sqrt", "exp", "log"}
BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


@dataclass(frozen=True)
class Term:
    """A typed expression: `name` is an operation, a function, "ref" or "constant"."""

    name: str
    kind: str
    args: tuple = ()
    value: object = None


def parse(text, kinds, params):
    """Typed term and the references in order of appearance; `kinds` maps references to kinds."""
    refs, names = [], {}

    def rename(match):
        word = match.group()
        follows = text[match.end() :].lstrip()
        if word in ("and", "or", "not") or word[0] in "0123456789.":
            return word
        if word in FUNCTIONS and follows.startswith("("):
            return f"{word}_"
        ref = word.replace("`", "")
        if ref[0] != "$" and ref not in refs:
            refs.append(ref)
        return names.setdefault(ref, f"_{len(names)}")

    tree = ast.parse(WORDS.sub(rename, text).strip(), mode="eval").body
    by_name = {name: ref for ref, name in names.items()}
    return _typed(tree, lambda name: _leaf(by_name[name], kinds, params)), refs


def _leaf(ref, kinds, params):
    if ref[0] != "$":
        return Term("ref", kinds[ref], value=ref)
    value = params[ref[1:]]
    return Term("constant", _kind_of(value), value=value)


def _kind_of(value):
    return {bool: "boolean", int: "integer", float: "number"}[type(value)]


def _typed(node, leaf):
    match node:
        case ast.Name(name):
            return leaf(name)
        case ast.Constant(value):
            return Term("constant", _kind_of(value), value=value)
        case ast.UnaryOp(op, inner):
            name = "not" if isinstance(op, ast.Not) else "neg"
            arg = _typed(inner, leaf)
            return Term(name, "boolean" if name == "not" else arg.kind, (arg,))
        case ast.BoolOp(op, inner):
            args = tuple(_typed(item, leaf) for item in inner)
            return Term("and" if isinstance(op, ast.And) else "or", "boolean", args)
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
            return _operation(BINARY[type(op)], _typed(left, leaf), _typed(right, leaf))
        case ast.Call(ast.Name(name), inner):
            return _call(name[:-1], tuple(_typed(item, leaf) for item in inner))
    raise AssertionError(ast.dump(node))


def _operation(name, left, right):
    if name in ("<", "<=", ">", ">=", "==", "!="):
        return Term(name, "boolean", _widened((left, right)))
    both_integer = left.kind == right.kind == "integer"
    if name == "/" or not both_integer:
        return Term(name, "number", (_number(left), _number(right)))
    whole = right.name == "constant" and right.value >= 0
    if name == "**" and not whole:
        return Term(name, "number", (_number(left), _number(right)))
    return Term(name, "integer", (left, right))


def _call(name, args):
    if name == "isnan":
        return Term(name, "boolean", args)
    if name in NUMBER_ONLY:
        return Term(name, "number", tuple(map(_number, args)))
    if name == "if":
        branches = _widened(args[1:])
        return Term(name, branches[0].kind, (args[0], *branches))
    args = _widened(args)
    return Term(name, args[0].kind, args)


def _widened(args):
    if {arg.kind for arg in args} == {"integer", "number"}:
        return tuple(map(_number, args))
    return args


def _number(term):
    return term if term.kind == "number" else Term("widen", "number", (term,))


def evaluate(term, row):
    """Value of a term where `row` maps references to values.

    None is null and FAULT is no value; null wins, and what is not chosen does not matter.
    """
    if term.name == "constant":
        return term.value
    if term.name == "ref":
        return row[term.value]
    if term.name == "if":
        chosen = evaluate(term.args[0], row)
        return chosen if chosen in (None, FAULT) else evaluate(term.args[1 if chosen else 2], row)
    if term.name == "coalesce":
        found = (evaluate(arg, row) for arg in term.args)
        return next((value for value in found if value is not None), None)
    args = [evaluate(arg, row) for arg in term.args]
    for none in (None, FAULT):
        if any(arg is none for arg in args):
            return none
    return attempt(_apply, term.name, term.kind, args)


def _apply(name, kind, args):
    if name in COMPARISONS:
        return COMPARISONS[name](*args)
    if kind == "integer":
        return fits(_integer(name, *args))
    if kind == "number":
        return number(name, *args)
    return {"not": lambda x: not x, "and": lambda *x: all(x), "or": lambda *x: any(x)}.get(
        name, math.isnan
    )(*args)


COMPARISONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _integer(name, *args):
    if name == "%" and args[1] == 0:
        raise Domain
    return {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "%": lambda a, b: a % b,
        "**": lambda a, b: a**b,
        "min": min,
        "max": max,
        "abs": abs,
        "neg": lambda a: -a,
        "sign": lambda a: (a > 0) - (a < 0),
        "floor": int,
        "ceil": int,
        "round": int,
    }[name](*args)


def number(name, *args):
    """IEEE 754: an operation or function over floats, total."""
    return {
        "widen": float,
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": quotient,
        "%": remainder,
        "**": power,
        "min": lambda *x: least(x),
        "max": lambda *x: greatest(x),
        "neg": lambda a: -a,
        "abs": abs,
        "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
        "exp": exponential,
        "log": lambda a: logarithm(math.log, a),
        "floor": lambda a: rounding(math.floor, a),
        "ceil": lambda a: rounding(math.ceil, a),
        "round": half_away,
        "sign": sign,
    }[name](*args)


def quotient(a, b):
    """IEEE division: x/0 is infinite, 0/0 is NaN."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def remainder(a, b):
    """What is left of `a` after whole `b`, with the sign of `b`."""
    return math.nan if b == 0 or math.isinf(a) else a % b


def power(a, b):
    """IEEE pow: total."""
    try:
        return math.pow(a, b)
    except ValueError:
        odd = math.fmod(b, 2) != 0
        if a == 0 and b < 0:
            return math.copysign(math.inf, a) if odd and b == math.floor(b) else math.inf
        return math.nan
    except OverflowError:
        return -math.inf if a < 0 and math.fmod(b, 2) != 0 else math.inf


def exponential(a):
    """e to the power; infinite beyond the range."""
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def logarithm(function, a):
    """-inf at zero, NaN below."""
    if a > 0:
        return function(a)
    return -math.inf if a == 0 else math.nan


def rounding(function, a):
    """`math.floor` or `math.ceil` as a float; the sign of zero stays."""
    return a if not math.isfinite(a) else math.copysign(float(function(a)), a)


def half_away(a):
    """Nearest whole number, halves away from zero."""
    if not math.isfinite(a) or abs(a) >= 2.0**52:
        return a
    whole = math.floor(abs(a))
    return math.copysign(float(whole + (abs(a) - whole >= 0.5)), a)


def sign(a):
    """-1, 0 or 1; NaN of NaN."""
    return a if math.isnan(a) else float((a > 0) - (a < 0))
