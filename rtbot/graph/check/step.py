"""What is wrong with a step, by its source: arguments, what it uses, what it returns."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import suggest_name
from rtbot.graph.check.class_source import ClassSource
from rtbot.operator import (
    Cells,
    Kept,
    Operator,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
)
from rtbot.operator.step_source import find_globals, is_user_defined

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from rtbot.core.errors import Problems
    from rtbot.core.source_span import SourceSpan
RING_PARTS = ("first", "count", "entering", "leaving", "evicts", "full", "position")
_SINGLE = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
"""Expressions that are certainly one value."""
_FORBIDDEN = {
    ast.Raise: ("it raises", "return SILENT for no message, DOMAIN for one that counts as lost"),
    ast.Try: ("it has a try", "test before what may fail; rtbot.ieee has `divide` and others"),
    ast.Global: ("it changes what is outside of it", "keep it in state, such as a Scalar"),
    ast.Import: ("it imports", "import at the top of the file"),
    ast.ImportFrom: ("it imports", "import at the top of the file"),
    ast.With: ("it has a with", "a step computes from its arguments alone"),
    ast.Yield: ("it yields", "return EMIT_AGAIN to be called with the same row once more"),
}
"""Statements that no step may have: what is wrong, and what to do."""
_OUTSIDE = {
    "eval",
    "exec",
    "getattr",
    "globals",
    "hash",
    "id",
    "input",
    "locals",
    "open",
    "setattr",
}
"""Functions of Python whose results depend on more than what they are given."""


def check_step(
    cls: type[Operator], name: str, step: Callable[..., Any], problems: Problems
) -> None:
    """Note every problem of a step of an operator."""
    _StepCheck(cls, name, step, problems).check()


class _StepCheck:
    def __init__(
        self, cls: type[Operator], name: str, step: Callable[..., Any], problems: Problems
    ) -> None:
        self.cls, self.step, self.problems = cls, step, problems
        self.known = close_names(cls) if name == "close" else step_names(cls)
        self.title = f"{cls.__name__}.{name}"
        taken = inspect.signature(step).parameters
        is_leave = name.endswith("leave")
        self.wanted = list_state_results(cls, taken) if is_leave else result_names(cls, taken)
        if cls.gathers and name != "close" and not is_leave:
            self.wanted = ["code", *list_state_results(cls, taken)]
        self.places = ClassSource(step)

    def add(self, node: Any, message: str, hint: str = "", *, length: int = 0) -> None:
        self.note(self.places.mark(node, length), message, hint)

    def note(self, mark: SourceSpan, message: str, hint: str = "") -> None:
        message = f"{self.title}: {message}"
        self.problems.add("RT170", mark, message, hint, operator=self.cls.__name__)

    def check(self) -> None:
        node = self.places.node
        if not isinstance(node, ast.FunctionDef):
            hint = "write it as a function, `def`, in a file"
            self.add(node, "the source of the step cannot be read", hint)
            return
        self.arguments(node)
        self.results(node)
        self.values(node)
        for function in find_helpers(self.step):
            self.uses(function)

    def arguments(self, node: ast.FunctionDef) -> None:
        known = self.known
        given = node.args
        if given.vararg or given.kwarg or given.defaults or given.kwonlyargs:
            head = len(f"def {node.name}")
            hint = "name what it takes; a parameter of the operator has the default"
            self.add(node, "a step has plain arguments only", hint, length=head)
        for argument in (*given.posonlyargs, *given.args):
            if argument.arg == "self":
                hint = "leave it out: state is declared, and is an argument by its name"
                self.add(argument, "a step has no self", hint)
            elif argument.arg not in known and not self.element(argument.arg):
                hint = suggest_name(argument.arg, known) or f"there are {', '.join(known)}"
                self.add(argument, f"the argument {argument.arg} names nothing", hint)

    def element(self, name: str) -> bool:
        """Return whether the name is an element of a list parameter, `name_1`."""
        return any(one.is_element(name) for one in self.cls.parameters.values())

    def results(self, node: ast.FunctionDef) -> None:
        returns = [part for part in walk_function(node) if isinstance(part, ast.Return)]
        wanted = self.wanted
        if not returns:
            hint = f"return {', '.join(wanted or ['its results'])}"
            self.add(node, "it returns nothing", hint, length=len(f"def {node.name}"))
        for found in returns:
            count = count_results(found.value)
            if wanted is not None and count is not None and count != len(wanted):
                values = "value" if count == 1 else "values"
                message = f"it returns {count} {values}, {len(wanted)} are expected"
                self.add(found, message, f"return {', '.join(wanted)}")

    def values(self, node: ast.FunctionDef) -> None:
        """Note values of no kind that a step returns: None, and texts."""
        for value in list_returned(node):
            if isinstance(value, ast.Constant) and isinstance(value.value, str | None):
                self.add(value, f"it returns {value.value!r}", _hint_kinds(value.value))

    def uses(self, function: Callable[..., Any]) -> None:
        """Note what a step or a helper uses that a generated module cannot hold."""
        places = ClassSource(function)
        for node in walk_function(places.node):
            if type(node) in _FORBIDDEN:
                message, hint = _FORBIDDEN[type(node)]
                self.note(places.mark(node), message, hint)
        local = set(function.__code__.co_varnames)
        if function.__code__.co_freevars:
            free = ", ".join(function.__code__.co_freevars)
            mark = places.mark(places.node, len(f"def {function.__name__}"))
            hint = "a step sees its arguments, numbers and other steps of its file"
            self.note(mark, f"it uses {free} of the function around it", hint)
            return
        seen: set[str] = set()
        for node in walk_function(places.node):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            message, hint = (
                self.describe_unusable(node.id, function) if node.id not in local else ("", "")
            )
            if message and node.id not in seen:
                self.note(places.mark(node), message, hint)
                seen.add(node.id)

    def describe_unusable(self, name: str, function: Callable[..., Any]) -> tuple[str, str]:
        if name not in function.__globals__:
            if name in _OUTSIDE:
                return f"it uses {name}", "a step computes from its arguments alone"
            known = name in vars(builtins)
            return ("", "") if known else (f"{name} is not defined", "")
        value = function.__globals__[name]
        if value is math or getattr(value, "is_step", False):
            return "", ""
        if isinstance(value, bool | int | float):
            return "", ""
        if inspect.ismodule(value):
            return f"it uses the module {name}", "a step may use math, and no other module"
        hint = "write it in the step"
        if inspect.isfunction(value):
            hint = f"mark {name} with @step"
        elif not isinstance(value, str | tuple):
            hint = "what it keeps from row to row is state: a Scalar, Ring, Cells, Span or Space"
        return f"it uses {name}, which is neither a step nor a number", hint


def _hint_kinds(value: str | None) -> str:
    """Return what to return in place of None, or of a text."""
    if value is None:
        return (
            "no message: silent = True, and SILENT as the code; null: an output with nullable=True"
        )
    return "a step has numbers, integers and booleans; text that it passes on is that of a port"


def find_helpers(step: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Yield a step and the users' steps that it calls, each once."""
    seen = [step]
    for function in seen:
        if is_user_defined(function):
            yield function
            used = [v for v in find_globals(function).values() if getattr(v, "is_step", False)]
            seen += [value for value in used if value not in seen]


def step_names(cls: type[Operator]) -> list[str]:
    """Return the possible names of a step's arguments."""
    return [*(name for _, names in argument_names(cls) for name in names), "time"]


def close_names(cls: type[Operator]) -> list[str]:
    """Return the possible names of the arguments of a `close`, which sees no row."""
    rows = {*cls.inputs, *(f"{name}_valid" for name in cls.inputs)}
    rings = [name for name, item in cls.state.items() if isinstance(item, Ring)]
    rows |= {f"{name}_{part}" for name in rings for part in RING_PARTS[2:]}
    return [name for name in step_names(cls) if name not in rows]


def argument_names(cls: type[Operator]) -> Iterator[tuple[str, list[str]]]:
    """Yield every port, parameter and item of state with its arguments."""
    for name in cls.inputs:
        yield name, [name, f"{name}_valid"]
    for name, parameter in cls.parameters.items():
        yield name, parameter.list_arguments()
    for name, item in cls.state.items():
        if isinstance(item, Ring):
            yield name, [name, *(f"{name}_{part}" for part in RING_PARTS)]
        elif isinstance(item, Span):
            parts = (f"{name}_{part}" for part in item.fields)
            yield name, [f"{name}_count", *(n for part in parts for n in (part, f"{part}_first"))]
        elif isinstance(item, Space | Kept):
            yield name, item.arguments()
        elif isinstance(item, Cells | Scratch):
            yield name, [name, f"{name}_first"]
        else:
            yield name, [name]


def result_names(cls: type[Operator], taken: Container[str]) -> list[str] | None:
    """Return what a step with these arguments has to return; None if that is not certain."""
    chosen = {"output_types", "outputs_for"}
    varies = cls.returns or any(chosen & vars(base).keys() for base in cls.__mro__[:-2])
    if varies or any(out.variadic for out in cls.outputs.values()):
        return None
    names = ["code"] if cls.silent or cls.faults or cls.sets_time else []
    names += ["time"] if cls.sets_time else []
    for name, out in cls.outputs.items():
        names += [name, f"{name}_valid"] if out.nullable else [name]
        names += [f"{name}_on"] if out.silent else []
    return names + list_state_results(cls, taken)


def list_state_results(cls: type[Operator], taken: Container[str]) -> list[str]:
    """Return the state that a step with these arguments has to return, in order."""
    names = []
    for name, item in cls.state.items():
        if isinstance(item, Scalar):
            names.append(name)
        elif isinstance(item, Span) and f"{name}_count" in taken:
            names += [f"{name}_dropped", f"{name}_count"]
    return names


def count_results(value: ast.expr | None) -> int | None:
    """Return how many values a return statement has, None if that is not certain."""
    if value is None:
        return 0
    if isinstance(value, ast.Tuple):
        starred = any(isinstance(item, ast.Starred) for item in value.elts)
        return None if starred else len(value.elts)
    return 1 if isinstance(value, _SINGLE) else None


def list_returned(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield every value that a function returns, both of a choice between two."""
    for part in walk_function(node):
        whole = part.value if isinstance(part, ast.Return) else None
        for one in whole.elts if isinstance(whole, ast.Tuple) else [whole]:
            if one is not None:
                yield from (one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,)


def walk_function(node: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the parts of a function in order, its decorators and annotations left out."""
    for child in getattr(node, "body", ()):
        yield from _inner(child)


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from _inner(child)
