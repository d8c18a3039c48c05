"""A checked Datalog program over sets of tuples, by its definition: naive, slow, obvious.

Every rule of a stratum is tried with all its bindings until nothing new comes. Rows are tuples of
int, float and str; there is one zero and one NaN, which is equal to itself and greatest.
"""

import math
import operator
import re
from fractions import Fraction

from rtbot.datalog.program import (
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Negation,
    Variable,
)

NAN = math.nan
LIMITS = {"number": (-(2**63), 2**63 - 1), "unsigned": (0, 2**64 - 1)}
ROWS_MAX, TEXT_MAX = 100_000, 1_000_000
CLASSES = {"[:digit:]": "0-9", "[:alpha:]": "a-zA-Z"}
COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NoResultError(Exception):
    """An operation has no result, or there are too many rows: the epoch fails."""


def evaluate(program, inputs=(), rows_max=ROWS_MAX):
    """Return the rows of every relation; `inputs` are rows by relation."""
    rows = {name: set() for name in program.relations}
    for name, given in dict(inputs).items():
        rows[name] |= {tuple(map(clean, row)) for row in given}
    for fact in program.facts:
        rows[fact.relation].add(tuple(map(clean, fact.values)))
    for stratum in program.strata:
        rules = [rule for rule in program.rules if rule.relation in stratum]
        for rule in rules:
            if not reads(rule, stratum):
                rows[rule.relation] |= set(derive(rule, rows))
        size = -1
        while size != (size := sum(len(rows[name]) for name in stratum)):
            if is_full(program, stratum, rows):
                break
            found = [(rule.relation, set(derive(rule, rows))) for rule in rules]
            for name, new in found:
                rows[name] |= new
            if size > rows_max:
                raise NoResultError("too many rows")
    return rows


def reads(rule, stratum):
    """Whether a rule has an atom of its own stratum."""
    return any(isinstance(each, Atom) and each.relation in stratum for each in rule.body)


def is_full(program, stratum, rows):
    """Whether a relation has as many rows as its limit, which ends its stratum after a round."""
    limits = {name: program.relations[name].limit for name in stratum}
    return any(limit is not None and len(rows[name]) >= limit for name, limit in limits.items())


def run_epochs(program, epochs):
    """Yield the rows after each epoch, which are pairs of rows to remove and to insert."""
    facts = {name: set() for name in program.relations}
    for removed, inserted in epochs:
        for name, given in removed.items():
            facts[name] -= {tuple(map(clean, row)) for row in given}
        for name, given in inserted.items():
            facts[name] |= {tuple(map(clean, row)) for row in given}
        yield evaluate(program, facts)


def clean(value):
    """One NaN, one zero."""
    if isinstance(value, float):
        return NAN if value != value else value + 0.0
    return value


def derive(rule, rows):
    """Yield the rows that a rule has, given those of all relations."""
    for binding in bind(rule.body, {}, rows, rule):
        yield tuple(compute(term, binding, rule) for term in rule.head)


def bind(literals, binding, rows, rule):
    """Yield every extension of a binding for which all literals hold.

    What may fail comes after all that it need not wait for, in the order in which it is written.
    """
    if not literals:
        yield binding
        return
    ready = [each for each in literals if is_ready(each, binding)]
    atoms = [each for each in literals if isinstance(each, Atom)]
    safe = [each for each in ready if not may_fail(each)]
    literal = next(iter([*safe, *atoms, *ready]))
    rest = [each for each in literals if each is not literal]
    for extended in extend(literal, binding, rows, rule):
        yield from bind(rest, extended, rows, rule)


def is_ready(literal, binding):
    """Whether a literal but an atom has all it needs."""
    match literal:
        case Negation(atom=atom):
            return all(has_value(term, binding) for term in atom.arguments)
        case Comparison(operator="=", left=left, right=right, negated=False):
            sides = (left, right), (right, left)
            return any(
                has_value(one, binding) and (has_value(other, binding) or is_variable(other))
                for one, other in sides
            )
        case Comparison(left=left, right=right):
            return has_value(left, binding) and has_value(right, binding)
        case Aggregate(outer=outer):
            return all(has_value(term, binding) for term in outer)
    return False


def may_fail(literal):
    """Whether a constraint computes something that may have no value."""
    if not isinstance(literal, Comparison):
        return False
    return any(map(computes, (literal.left, literal.right)))


def computes(term):
    if not isinstance(term, Call):
        return False
    safe = {"min", "max", "strlen", "substr", "to_string", "bnot", "lnot", "band", "bor"}
    return term.functor not in safe or any(map(computes, term.arguments))


def is_variable(term):
    return isinstance(term, Variable)


def has_value(term, binding):
    match term:
        case Variable(index=index):
            return index in binding
        case Call(arguments=arguments):
            return all(has_value(argument, binding) for argument in arguments)
    return True


def extend(literal, binding, rows, rule):
    """Yield the binding with what one literal adds, as often as the literal holds."""
    match literal:
        case Atom():
            yield from match_rows(literal, binding, rows)
        case Negation(atom=atom):
            if not any(True for _ in match_rows(atom, binding, rows)):
                yield binding
        case Comparison(operator="=", negated=False):
            yield from equate(literal.left, literal.right, binding, rule)
        case Comparison():
            if holds(literal, binding, rule):
                yield binding
        case Aggregate():
            value = aggregate(literal, binding, rows, rule)
            index = literal.target.index
            if value is not None and is_same(binding.get(index, value), value):
                yield {**binding, index: value}


def equate(left, right, binding, rule):
    """Yield the binding in which both sides are the same, if there is one."""
    known, other = (left, right) if has_value(left, binding) else (right, left)
    value = compute(known, binding, rule)
    if not has_value(other, binding):
        yield {**binding, other.index: value}
    elif is_same(value, compute(other, binding, rule)):
        yield binding


def match_rows(atom, binding, rows):
    """Yield a binding for each row that an atom matches."""
    for row in rows[atom.relation]:
        found = dict(binding)
        for term, value in zip(atom.arguments, row, strict=True):
            if is_variable(term):
                if not is_same(found.setdefault(term.index, value), value):
                    break
            elif term is not None and not is_same(clean(term.value), value):
                break
        else:
            yield found


def is_same(one, other):
    return one == other or (one != one and other != other)


def order(value):
    """A key by which values of one type are ordered."""
    return (1, 0) if value != value else (0, value)


def holds(literal, binding, rule):
    left, right = (compute(term, binding, rule) for term in (literal.left, literal.right))
    if literal.operator == "match":
        try:
            for name, characters in CLASSES.items():
                left = left.replace(name, characters)
            if re.search(r"\{(?!\d+(,\d*)?\}|,\d+\})", left):
                return False
            found = re.fullmatch(left, right) is not None
        except (re.error, OverflowError):
            return False  # neither matches nor does not
    elif literal.operator == "contains":
        found = left in right
    else:
        found = COMPARE[literal.operator](order(left), order(right))
    return found is not literal.negated


def aggregate(literal, binding, rows, rule):
    """The value of an aggregate, None if it has none."""
    scope = {variable.index: binding[variable.index] for variable in literal.outer}
    bindings = [*bind(count_wildcards(literal.body, rule), scope, rows, rule)]
    if literal.how == "count":
        return len(bindings)
    values = [compute(literal.value, each, rule) for each in bindings]
    if literal.how == "sum":
        return add_up(values, literal.type)
    if not values:
        return None
    if literal.how == "mean":
        return mean(values)
    return (min if literal.how == "min" else max)(values, key=order)


def count_wildcards(body, rule):
    """A body in which every wildcard of an atom is a variable of its own."""
    found, free = [], len(rule.variables)
    for literal in body:
        if isinstance(literal, Atom):
            arguments = []
            for term in literal.arguments:
                arguments.append(Variable(free) if term is None else term)
                free += term is None
            found.append(Atom(literal.relation, tuple(arguments), literal.span))
        else:
            found.append(literal)
    return found


def add_up(values, type_):
    """The sum: of floats the exact one, rounded once."""
    if type_ != "float":
        return within(sum(values), type_)
    special = [value for value in values if not math.isfinite(value)]
    if special:
        return clean(sum(special))
    exact = sum(map(Fraction, values), Fraction(0))
    return to_float(exact)


def mean(values):
    special = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if special:
        return clean(sum(special))
    return to_float(sum(map(Fraction, values), Fraction(0)) / len(values))


def to_float(exact):
    """The nearest float of a fraction, an infinity beyond the largest."""
    try:
        return clean(float(exact))
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def within(value, type_):
    least, most = LIMITS[type_]
    if not least <= value <= most:
        raise NoResultError(f"{value} is beyond {type_}")
    return value


# ---- terms


def type_of(term, rule):
    return rule.variables[term.index].type if is_variable(term) else term.type


def compute(term, binding, rule):
    """The value of a term."""
    match term:
        case Variable(index=index):
            return binding[index]
        case Constant(value=value):
            return clean(value)
        case Call(functor=functor, arguments=arguments, type=type_):
            values = [compute(argument, binding, rule) for argument in arguments]
            given = type_of(arguments[0], rule)
            if functor.startswith("to_"):
                return convert(functor[3:], given, values[0])
            if functor in TEXTS:
                return TEXTS[functor](*values)
            if functor in ("min", "max"):
                return (min if functor == "min" else max)(values, key=order)
            if given == "float":
                return clean(FLOATS[functor](*values))
            return INTEGERS[functor](type_, *values)


def convert(target, given, value):
    if target == "string":
        return value if given == "symbol" else repr(value)
    if target == "float":
        if given != "symbol":
            return clean(float(value))
        form = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan"
        if not re.fullmatch(form, value, re.ASCII):
            raise NoResultError(f"{value!r} is no float")
        return clean(float(value))
    if given == "symbol":
        if not re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)", value, re.ASCII):
            raise NoResultError(f"{value!r} is no {target}")
        sign, digits = ("-", value[1:]) if value[0] == "-" else ("", value.lstrip("+"))
        base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 10)
        value = int(sign + digits, base)
    elif given == "float" and not math.isfinite(value):
        raise NoResultError(f"{value} is no {target}")
    return within(math.trunc(value), target)


def divide_floats(one, other):
    if other:
        return one / other
    if one == 0 or one != one:
        return NAN
    return math.inf if (one > 0) == (math.copysign(1, other) > 0) else -math.inf


def raise_float(one, other):
    try:
        result = one**other
    except OverflowError:
        return -math.inf if one < 0 and other % 2 == 1 else math.inf
    except ZeroDivisionError:
        return math.inf
    return NAN if isinstance(result, complex) else result


def divide(type_, one, other):
    if other == 0:
        raise NoResultError("a division by zero")
    return within(math.trunc(Fraction(one, other)), type_)


def rest(_type, one, other):
    if other == 0:
        raise NoResultError("a division by zero")
    return int(math.copysign(1, one)) * (abs(one) % abs(other))


def raise_integer(type_, one, other):
    if other < 0 or (abs(one) > 1 and other > 64):
        raise NoResultError(f"{one} ^ {other}")
    return within(one ** min(other, 64 + other % 2), type_)


def bits(type_, value):
    value %= 2**64
    return value - 2**64 if type_ == "number" and value >= 2**63 else value


def shift(one, by, type_, how):
    if not 0 <= by < 64:
        raise NoResultError("a shift")
    if how == "bshl":
        return bits(type_, one * 2**by)
    return bits(type_, (one if how == "bshr" else one % 2**64) // 2**by)


def cut(text, start, length):
    if start < 0 or start > len(text):
        return ""
    return text[start:] if length < 0 else text[start : start + length]


def join(*texts):
    if sum(map(len, texts)) > TEXT_MAX:
        raise NoResultError("too long a text")
    return "".join(texts)


TEXTS = {
    "cat": join,
    "strlen": len,
    "substr": cut,
}
FLOATS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide_floats,
    "^": raise_float,
    "neg": operator.neg,
}
INTEGERS = {
    "+": lambda t, a, b: within(a + b, t),
    "-": lambda t, a, b: within(a - b, t),
    "*": lambda t, a, b: within(a * b, t),
    "/": divide,
    "%": rest,
    "^": raise_integer,
    "neg": lambda t, a: within(-a, t),
    "band": lambda t, a, b: bits(t, a & b),
    "bor": lambda t, a, b: bits(t, a | b),
    "bxor": lambda t, a, b: bits(t, a ^ b),
    "bnot": lambda t, a: bits(t, ~a),
    "bshl": lambda t, a, b: shift(a, b, t, "bshl"),
    "bshr": lambda t, a, b: shift(a, b, t, "bshr"),
    "bshru": lambda t, a, b: shift(a, b, t, "bshru"),
    "land": lambda _, a, b: int(a != 0 and b != 0),
    "lor": lambda _, a, b: int(a != 0 or b != 0),
    "lxor": lambda _, a, b: int((a != 0) != (b != 0)),
    "lnot": lambda _, a: int(a == 0),
}


def output_rows(program, rows):
    """The rows of the relations that a program prints or writes."""
    return {n: rows[n] for n, each in program.relations.items() if each.is_output}
