"""Random expressions of a wanted kind over typed references, as text."""

from rtbot.operator import Type

NUMBER_TEXTS = ["0", "1", "2", "0.5", "3", "1e16", "0.1", "1e200", "10", "7"]
WHOLE_TEXTS = ["0", "1", "2", "3", "7", "4611686018427387904", "9007199254740993"]


class RandomExpressionWriter:
    """Writes expressions; `refs` are pairs of reference and type, `params` names by kind."""

    def __init__(self, rng, refs, params):
        self.rng, self.refs, self.params = rng, refs, params

    def write(self, kind, depth):
        """Text and type of an expression of the kind; the text is safe as an operand."""
        if depth == 0 or self.rng.random() < 0.15:
            return self._leaf(kind)
        text, nullable = getattr(self, f"_{kind}")(depth - 1)
        return text, Type(kind, nullable)

    def top(self, kind, depth):
        """An expression that has at least one reference, without the outer parentheses."""
        for _ in range(20):
            text, type_ = self.write(kind, depth)
            if any(f"{reference(ref)}" in text for ref, _ in self.refs):
                bare = text[1:-1] if text.startswith("(") and _closes_last(text) else text
                return bare, type_
        return None

    def _leaf(self, kind):
        known = [(reference(ref), type_) for ref, type_ in self.refs if type_.kind == kind]
        known += [(f"${name}", Type(kind)) for name in self.params.get(kind, ())]
        if known and (kind in ("text", "boolean") or self.rng.random() < 0.75):
            return self.rng.choice(known)
        if kind == "number":
            return self.rng.choice(NUMBER_TEXTS[3:] if not known else NUMBER_TEXTS), Type(kind)
        if kind == "integer":
            return self.rng.choice(WHOLE_TEXTS), Type(kind)
        return self._no_leaf(kind)

    def _no_leaf(self, kind):
        if kind == "text":
            raise LookupError(kind)
        text, nullable = self._boolean(0)
        return text, Type(kind, nullable)

    def _args(self, depth, *kinds):
        written = [self.write(kind, depth) for kind in kinds]
        return [text for text, _ in written], any(type_.nullable for _, type_ in written)

    def _infix(self, operators, depth, *kinds):
        (left, right), nullable = self._args(depth, *kinds)
        return f"({left} {self.rng.choice(operators)} {right})", nullable

    def _number(self, depth):
        other = self.rng.choice(["number", "number", "integer"])
        form = self.rng.randrange(8)
        if form < 3:
            return self._infix(["+", "-", "*", "/", "%", "+", "-", "*"], depth, "number", other)
        if form == 3:
            return self._infix(["/"], depth, "integer", "integer")
        if form == 4:
            return self._infix(["**"], depth, "number", "number")
        return self._common("number", depth, ["sqrt", "exp", "log", "floor", "ceil", "round"])

    def _integer(self, depth):
        form = self.rng.randrange(6)
        if form < 3:
            return self._infix(["+", "-", "*", "%"], depth, "integer", "integer")
        if form == 3:
            (base,), nullable = self._args(depth, "integer")
            return f"({base} ** {self.rng.choice('0123')})", nullable
        return self._common("integer", depth, [])

    def _common(self, kind, depth, functions):
        form = self.rng.randrange(5)
        if form == 0:
            name = self.rng.choice([*functions, "abs", "sign", "floor", "round"])
            args, nullable = self._args(depth, kind)
            return f"{name}({args[0]})", nullable
        if form == 1:
            args, nullable = self._args(depth, *[kind] * self.rng.choice([2, 2, 3]))
            return f"{self.rng.choice(['min', 'max'])}({', '.join(args)})", nullable
        if form == 2:
            args, nullable = self._args(depth, kind)
            return f"(-{args[0]})", nullable
        return self._choice(kind, depth)

    def _choice(self, kind, depth):
        if self.rng.random() < 0.5:
            args, nullable = self._args(depth, "boolean", kind, kind)
            return f"if({', '.join(args)})", nullable
        (first, one), (last, other) = self.write(kind, depth), self.write(kind, depth)
        return f"coalesce({first}, {last})", one.nullable and other.nullable

    def _boolean(self, depth):
        kinds = {type_.kind for _, type_ in self.refs}
        form = self.rng.randrange(7)
        if form == 0 and depth:
            return self._infix(["and", "or"], depth, "boolean", "boolean")
        if form == 1 and depth:
            (arg,), nullable = self._args(depth, "boolean")
            return f"(not {arg})", nullable
        if form == 2 and "text" in kinds:
            return self._infix(["==", "!="], 0, "text", "text")
        if form == 3:
            (arg,), nullable = self._args(depth, "number")
            return f"isnan({arg})", nullable
        kind = "integer" if form == 4 and "integer" in kinds else "number"
        return self._infix(["<", "<=", ">", ">=", "==", "!="], depth, kind, "number")

    def _text(self, depth):
        return self._choice("text", depth)


def reference(ref):
    """The reference as an expression spells it: an id with a minus stands in backquotes."""
    name, dot, port = ref.partition(".")
    return (f"`{name}`" if "-" in name else name) + dot + port


def _closes_last(text):
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
