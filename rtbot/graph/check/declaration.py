"""What is wrong with the declaration of an operator, before any graph uses it.

Ours are checked by a test, a user's where they are first used: every problem at once, each with its
place in the Python file.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problems, suggest_name
from rtbot.core.vector_names import VECTOR
from rtbot.expression import find_constant, parse_expression
from rtbot.expression.rules import ARGUMENTS, INTERNAL_ARGUMENTS
from rtbot.graph.check.class_source import ClassSource
from rtbot.graph.check.context import hint_known_names
from rtbot.graph.check.step import argument_names, check_step
from rtbot.operator import (
    KINDS,
    NEVER,
    ROLES,
    UNREAD,
    Cells,
    Duration,
    In,
    Integer,
    Kept,
    Operator,
    Out,
    Ring,
    Scalar,
    Space,
    Span,
    WindowLength,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression import Term

GENERIC = ("T", "N")
STATE_KINDS = ("number", "integer", "boolean", *GENERIC)
RESERVED = ("type", "in", "control", "doc", "meta", "id")
IN_STEPS = ("time",)
"""What a step may take by name whatever its operator declares."""
_CONDITIONS = ("keep", "fault")


def is_builtin(cls: type[Operator]) -> bool:
    """Return whether an operator is one of rtbot's own, which a test checks."""
    return cls.__module__.startswith("rtbot.")


def verify_declaration(cls: Any) -> None:
    """Raise GraphError with every problem of a user's operator."""
    found = () if is_builtin(cls) else find_problems(cls)
    if found:
        raise GraphError(found)


@functools.cache
def find_problems(cls: Any) -> tuple[Any, ...]:
    """Return every problem of a declaration, with its line."""
    checker = _Checker(cls)
    checker.check()
    return tuple(map(checker.places.with_source, checker.problems.list_problems("error")))


class _Checker:
    def __init__(self, cls: type[Operator]) -> None:
        self.cls = cls
        self.problems = Problems()
        self.places = ClassSource(cls)
        self.varies = "variant" in vars(cls)  # it may leave windows of time to another class

    def add(self, name: str, message: str, hint: str = "") -> None:
        """Note a problem of an attribute of the class, "" for the class."""
        self.note(self.places.of(name), f"{self.cls.__name__}: {message}", hint)

    def note(self, mark: SourceSpan, message: str, hint: str) -> None:
        self.problems.add("RT170", mark, message, hint, operator=self.cls.__name__)

    def check(self) -> None:
        self.ports()
        self.parameters()
        self.state()
        self.arguments()
        self.meaning()
        if not self.problems.found:
            for name in ("close", "step", "integer_step", "leave", "integer_leave"):
                step = getattr(self.cls, name)
                if step is not None:
                    check_step(self.cls, name, step, self.problems)

    # ---- what the class is made of

    def ports(self) -> None:
        cls = self.cls
        if not cls.inputs:
            self.add("", "it has no input", 'add i1 = In("number")')
        if not cls.outputs:
            self.add("", "it has no output", 'add o1 = Out("number")')
        for letter in ("i", "c"):
            self.check_numbering(letter, [n for n in cls.inputs if n[:1] == letter])
        self.check_numbering("o", list(cls.outputs))
        for name in cls.inputs:
            if name[:1] not in ("i", "c"):
                self.note_misnamed(name, "i1")
        ports: list[In | Out] = [*cls.inputs.values(), *cls.outputs.values()]
        for port in ports:
            self.port(port.name, port)

    def check_numbering(self, letter: str, names: list[str]) -> None:
        """Check that ports of a group are numbered from 1 on, or one is variadic."""
        wanted = [f"{letter}{k}" for k in range(1, len(names) + 1)]
        for name, right in zip(names, wanted, strict=True):
            declared = self.cls.inputs.get(name) or self.cls.outputs[name]
            if declared.variadic and len(names) == 1:
                right = letter  # noqa: PLW2901 (the one that means all)
            if name != right:
                self.note_misnamed(name, right)

    def note_misnamed(self, name: str, right: str) -> None:
        hint = f"name it {right}, and what it means by alias={name!r}"
        self.add(name, f"{name} is not a name of a port here", hint)

    def port(self, name: str, port: In | Out) -> None:
        known = (*KINDS, VECTOR, *GENERIC)
        if port.kind not in known:
            hint = suggest_name(str(port.kind), KINDS) or hint_known_names(known)
            self.add(name, f"{port.kind!r} is not a kind of a port", hint)
        roles = (*ROLES, UNREAD)
        if isinstance(port, In) and port.role not in roles:
            self.add(name, f"{port.role!r} is not a role of a port", hint_known_names(roles))
        if isinstance(port, In) and port.within:
            whole = self.cls.inputs.get(port.within)
            if whole is None or whole is port or whole.variadic or whole.within:
                hint = f'{name} is within a single port, as in {name} = In("number", within="i1")'
                self.add(name, f"within is {port.within!r}, not another port", hint)
        generic = isinstance(port, Out) and port.kind in GENERIC
        if generic and not any(p.kind in GENERIC for p in self.cls.inputs.values()):
            hint = "the kind of an output T or N is that of an input T or N"
            self.add(name, f"{name} is {port.kind}, but no input is", hint)

    def parameters(self) -> None:
        taken = {**self.cls.inputs, **self.cls.outputs, **self.cls.state}
        for name, parameter in self.cls.parameters.items():
            if name in RESERVED:
                self.add(name, f"{name} has a meaning of its own in a graph file", "rename it")
            if name in IN_STEPS:
                self.add(name, f"a step gets the row's {name} by this name", "rename it")
            if name in taken:
                self.add(name, f"{name} is a parameter and a port or a piece of state")
            for method in parameter.list_missing():
                kind = type(parameter).__name__
                self.add(name, f"the kind {kind} has no {method}", f"write {kind}.{method}")
            default = parameter.default
            options = parameter.list_options()
            words = default if isinstance(default, list | tuple) else (default,)
            if options and default is not None and not {*words} <= {*options}:
                message = f"the default {default!r} is not one of the options"
                self.add(name, message, hint_known_names(options))

    def state(self) -> None:
        for name, item in self.cls.state.items():
            if name in IN_STEPS:
                self.add(name, f"a step gets the row's {name} by this name", "rename it")
            if isinstance(item, Space):
                self.space(name, item)
            if isinstance(item, Kept):
                self.kept(name, item)
            kind = getattr(item, "kind", "integer")
            if kind not in STATE_KINDS:
                self.add(name, f"{kind!r} is not a kind of state", hint_known_names(STATE_KINDS))
            if isinstance(item, Ring):
                self.ring(name, item)
            kinds = item.fields.values() if isinstance(item, Span) else ()
            for kind in kinds:
                if kind not in STATE_KINDS:
                    hint = hint_known_names(STATE_KINDS)
                    self.add(name, f"{kind!r} is not a kind of state", hint)
            size = item.size if isinstance(item, Ring | Cells | Kept) else 1
            spans = isinstance(item, Ring) or (self.varies and isinstance(item, Cells))
            sizes = (Integer, WindowLength) if spans else (Integer,)
            if isinstance(size, str) and not isinstance(self.cls.parameters.get(size), sizes):
                hint = f"add {size} = Integer(minimum=1)"
                self.add(name, f"its size {size!r} is not an Integer parameter", hint)

    def space(self, name: str, space: Space) -> None:
        for port in (*space.ports, *space.renewed_by):
            if port not in self.cls.inputs:
                hint = hint_known_names(self.cls.inputs)
                self.add(name, f"{port!r} is not an input port", hint)
        for field, item in space.fields.items():
            if item.kind not in STATE_KINDS:
                hint = hint_known_names(STATE_KINDS)
                self.add(name, f"{field}: {item.kind!r} is not a kind of state", hint)
        if space.ttl and not isinstance(self.cls.parameters.get(space.ttl), Duration):
            hint = f"add {space.ttl} = Duration(required=False, minimum=1)"
            self.add(name, f"its ttl {space.ttl!r} is not a Duration parameter", hint)
        if space.ttl and Space.RENEWED in space.fields:
            self.add(name, f"{Space.RENEWED} is a field that the loop has for the ttl", "rename it")
        if self.cls.sets_time:
            hint = "leave sets_time out: what comes out has the times of what comes in"
            self.add(name, "an operator with times of its own has no keys inside a key", hint)

    def kept(self, name: str, kept: Kept) -> None:
        port = self.cls.inputs.get(kept.port)
        if port is None or not port.variadic or port.nullable:
            hint = 'it keeps rows of i = In("T", variadic=True)'
            self.add(name, f"{kept.port!r} is not a variadic input port without null", hint)
        if not isinstance(self.cls.parameters.get(kept.by), Integer):
            hint = f"add {kept.by} = Integer(minimum=0)"
            self.add(name, f"{kept.by!r} is not an Integer parameter", hint)
        if not self.cls.sets_time:
            self.add(name, "only an operator with times of its own keeps rows", "set sets_time")

    def ring(self, name: str, ring: Ring) -> None:
        if ring.port not in self.cls.inputs:
            self.add(name, f"{ring.port!r} is not an input port", hint_known_names(self.cls.inputs))
        if isinstance(self.cls.parameters.get(ring.size), WindowLength) and not self.varies:
            self.window(name)
        if ring.of not in ("value", "time"):
            self.add(name, f"a ring is of value or of time, not of {ring.of!r}")

    def window(self, name: str) -> None:
        """Check that steps can do without what a window of time does not have."""
        for title, leave in (("step", "leave"), ("integer_step", "integer_leave")):
            step = getattr(self.cls, title)
            taken = inspect.signature(step).parameters if step is not None else ()
            if f"{name}_position" in taken:
                message = f"{title} takes {name}_position, which a window of time does not have"
                self.add(name, message, "take its values by their order, or size it by an Integer")
            if f"{name}_leaving" in taken and getattr(self.cls, leave) is None:
                message = f"several values may leave a window of time, and there is no {leave}"
                self.add(name, message, f"add the step {leave}({name}_leaving, ...)")

    def arguments(self) -> None:
        """Check that each argument a step may take has one meaning, such as `window_first`."""
        owners: dict[str, str] = {}
        for owner, names in argument_names(self.cls):
            for name in names:
                if name in owners:
                    message = f"a step would take {name} for {owners[name]}"
                    self.add(owner, f"{owner} is not a free name: {message}", "rename it")
                    break
            owners |= {name: owner for name in names if name not in owners}

    # ---- what it does

    def meaning(self) -> None:
        cls = self.cls
        chosen = "step_for" in vars(cls)
        if cls.step is None and not cls.has_formula() and not chosen:
            hint = 'write a step, or a formula such as formula = "2 * i1"'
            self.add("", "it has neither a step nor a formula", hint)
        if cls.step is not None and cls.has_formula():
            self.add("formula", "it has a step and a formula", "keep one of the two")
        if cls.close is not None:
            self.times()
        self.silence()
        for name, text in self.formulas():
            self.formula(name, text)

    def silence(self) -> None:
        """Check that outputs are silent only where a step returns them."""
        kept = any(isinstance(item, Kept) for item in self.cls.state.values())
        for name, out in self.cls.outputs.items():
            if out.silent and self.cls.has_formula():
                hint = "leave silent out, and say by `keep` where it has a message"
                self.add(name, f"{name} is silent, and made by a formula", hint)
            if out.silent and (kept or self.cls.returns):
                hint = "leave silent out: all outputs of this operator come together"
                self.add(name, f"{name} is silent, and no step returns it alone", hint)

    def times(self) -> None:
        """Check that an operator with a `close` says for what time it waits."""
        due = self.cls.state.get("due")
        if not isinstance(due, Scalar) or (due.kind, due.start) != ("integer", NEVER):
            hint = 'add due = Scalar("integer", NEVER)'
            self.add("close", "it has a close, but no state says when it is due", hint)
        if not self.cls.sets_time:
            self.add("close", "what a close emits is at a time of its own", "add sets_time = True")
        if "frontier" in self.cls.state:
            hint = "leave it out: what is due is emitted as soon as the frontier has reached it"
            self.add("frontier", "an operator with a close keeps no frontier", hint)

    def formulas(self) -> Iterator[tuple[str, str]]:
        for name in ("formula", *_CONDITIONS):
            text = getattr(self.cls, name)
            if isinstance(text, str):
                yield name, text

    def formula(self, name: str, text: str) -> None:
        try:
            term = parse_expression(text, self.places.inside(name))
        except GraphError as error:
            for problem in error.problems:
                message = f"{self.cls.__name__}.{name}: {problem.message}"
                self.note(problem.mark, message, problem.hint)
            return
        for part in _walk_terms(term):
            message, hint = self.wrong(part)
            if message:
                mark = self.places.inside(name)(part.offset, part.length)
                self.note(mark, f"{self.cls.__name__}.{name}: {message}", hint)

    def wrong(self, part: Term) -> tuple[str, str]:
        """Return what is wrong with a name or a call of a formula, and what to try."""
        functions = ARGUMENTS | INTERNAL_ARGUMENTS
        if part.op == "call" and part.value not in functions:
            hint = suggest_name(part.value, functions) or hint_known_names(sorted(functions))
            return f"unknown function {part.value!r}", hint
        if part.op == "parameter":
            return f"${part.value} is not a parameter here", f"write {part.value}"
        if part.op != "name" or find_constant(part.value) or self.names(part.value):
            return "", ""
        there = [*self.cls.inputs, *self.cls.parameters]
        hint = suggest_name(part.value, there) or hint_known_names(there)
        return f"{part.value} is neither a port nor a parameter", hint

    def names(self, name: str) -> bool:
        """Return whether a formula may use the name: a port, a parameter, an element of a list."""
        stem = name.rstrip("0123456789")
        port = self.cls.inputs.get(name) or self.cls.inputs.get(stem)
        if port is not None:
            return port.variadic is (name not in self.cls.inputs)
        parameters = self.cls.parameters.values()
        return any(one.has_formula_name(name) for one in parameters)


def _walk_terms(term: Term) -> Iterator[Term]:
    yield term
    for argument in term.args:
        yield from _walk_terms(argument)
