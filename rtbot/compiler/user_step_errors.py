"""Errors of a user's step, reported at the line of the user's file instead of the generated one.

A step is copied into a generated module; an error there, while numba compiles it or while it runs,
belongs to the line that it was copied from.
"""

from __future__ import annotations

import linecache
import re
import traceback
from typing import TYPE_CHECKING

from rtbot.compiler.step_signature import name_function
from rtbot.core.errors import GraphError, Problem, RtbotError
from rtbot.core.source_span import SourceSpan
from rtbot.operator import REGISTRY, Out, Scalar
from rtbot.operator.step_source import SEPARATOR, shorten_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.compiler.plan import Plan

_LINE = re.compile(r'g[0-9a-f]{40}\.py(?:", line | \()(\d+)')
_NOISE = re.compile(r"Failed in nopython mode pipeline.*\n")
_BEYOND = "it returns an integer beyond 64 bits"
_CHECKED = "rtbot.ieee has `add_checked` and others, which say whether a result fits"
_OTHER_TYPE = "it returns a value of another type than is declared"
_KEEP = "what it keeps from row to row is state: a Scalar, Ring, Cells, Span or Space"
_ENTRIES = "return how many are dropped in front, and how many are left, the new one among them"
_STORED = re.compile(
    r"\s*(?:\w+(?:\[[^=]*\])? = (\w+)(?: if .*)?|(\w+) = \(?\2 [|*] .*  # (?P<declared>.*)"
    r"|raise .*  # of (?P<refused>\w+))"
)
"""A line that stores a local, checks its kind or refuses it (`rtbot.compiler.generated_text`)."""
_MEANINGS = {
    "NRT required": ("it makes a list, a text or an array", _KEEP),
    "wrong tuple length": ("it returns more or fewer values than are declared", ""),
    "to unpack": ("it returns more or fewer values than are declared", ""),
    "division by zero": ("", "rtbot.ieee has `divide`, which gives an infinity or NaN"),
    "Cannot unify": ("", "a name has one type in the whole step"),
    "invalid type for format": (_OTHER_TYPE, ""),
    "got None": (_OTHER_TYPE, ""),
    "that are not there": ("", _ENTRIES),
    "invalid value for format": (_BEYOND, _CHECKED),
    "too large to convert to C": (_BEYOND, _CHECKED),
}
"""What an error text of numba or Python means here, if it is not plain, and what to try."""


def to_step_error(error: Exception, plan: Plan) -> GraphError | None:
    """Return the error of the user's step behind an error of generated code, or None."""
    if isinstance(error, RtbotError) or not plan.origins:
        return None
    compiling = type(error).__module__.startswith("numba.")
    places = _find_compiled_lines(error, plan) if compiling else _find_run_lines(error, plan)
    for name, offset, declared in (*places, *_find_giver_of_none(error, plan)):
        code = "RT172" if compiling else "RT173"
        told = _describe(error, name, declared, compiling=compiling)
        return _make_error(code, name, offset, *told, plan)
    return None


def make_due_error(node: str, due: int, time: int, plan: Plan) -> GraphError:
    """Return the error of a node whose `close` at `time` returned a `due` that is not later."""
    found = plan.checked.nodes[node]
    assert found.operator.close is not None, f"{node} has no close"
    name = name_function(found, found.operator.close)
    fault = f"returned due = {due} at {time}, and was called for that time already"
    return _make_error("RT173", name, 0, fault, "return a due later than `time`, or NEVER", plan)


def _describe(error: Exception, name: str, declared: str, *, compiling: bool) -> tuple[str, str]:
    """Return what a step of this name does that it should not, and what to try.

    `declared` is "NAME: KIND" where it returns something else as that, "" if it is not known.
    """
    text = _NOISE.sub("", str(error)).strip()
    first = text.split("\n", maxsplit=1)[0].split(" at /", maxsplit=1)[0].split(", defined")[0]
    known = (told for part, told in _MEANINGS.items() if part in text)
    meaning, hint = next(known, ("", ""))
    if declared:
        result, _, kind = declared.partition(": ")
        meaning = f"what it returns as {result} is no {kind}"
        hint = "int(...) drops a fraction" if kind == "integer" else ""
    elif meaning == _OTHER_TYPE:
        hint = _list_results(name.partition(SEPARATOR)[0])
    verb = "cannot be compiled" if compiling else f"raised {type(error).__name__}"
    return f"{verb}: {meaning or first}", hint


def _make_error(code: str, name: str, offset: int, fault: str, hint: str, plan: Plan) -> GraphError:
    """Return the error of a user's function, at the line so far behind its `def`."""
    owner, _, function = name.partition(SEPARATOR)
    file, first = plan.origins[name]
    mark = SourceSpan(shorten_path(file), first + offset, 1)
    line = linecache.getline(mark.file, mark.line).rstrip("\n")
    start = len(line) - len(line.lstrip())
    mark = SourceSpan(mark.file, mark.line, start + 1, max(len(line) - start, 1))
    message = f"{owner}.{function} {fault}"
    return GraphError([Problem(code, mark, message, hint, operator=owner, source=line)])


def _list_results(owner: str) -> str:
    """Return the types that an operator declares for what its step returns."""
    cls = REGISTRY.get(owner)
    declared = [*cls.outputs.values(), *cls.state.values()] if cls else []
    kinds = {one.name: one.kind for one in declared if isinstance(one, Out | Scalar)}
    return f"declared: {', '.join(f'{name} {kind}' for name, kind in kinds.items())}"


def _find_giver_of_none(error: Exception, plan: Plan) -> Iterator[tuple[str, int, str]]:
    """Yield the step that returned None for a number: compiled code has no line for it."""
    owners = {name.partition(SEPARATOR)[0] for name in plan.origins}
    if "got None" in str(error) and len(owners) == 1:
        yield next(iter(plan.origins)), 0, ""


def _find_compiled_lines(error: Exception, plan: Plan) -> Iterator[tuple[str, int, str]]:
    """Yield users' functions that an error of the compiler names, as `_find_in_text`."""
    lines = plan.text.split("\n")
    for found in _LINE.finditer(str(error)):
        yield from _find_in_text(lines, int(found[1]), plan)


def _find_run_lines(error: Exception, plan: Plan) -> Iterator[tuple[str, int, str]]:
    """Yield users' functions in which an error was raised, the innermost first."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for code, line in reversed(frames):
        if code.co_name in plan.origins:
            yield code.co_name, line - code.co_firstlineno, ""
        elif re.search(r"g[0-9a-f]{40}\.py$|^<string>$", code.co_filename):
            yield from _find_in_text(plan.text.split("\n"), line, plan)


def _find_in_text(lines: list[str], number: int, plan: Plan) -> Iterator[tuple[str, int, str]]:
    """Yield the user's function that holds a line of the generated text, or is called on it.

    Of a line that stores or checks a value it is one that gave it, `close` last. With it comes the
    line in it, and what was checked: "NAME: KIND", as declared.
    """
    if number > len(lines):
        return
    start = next((k for k in range(number, 0, -1) if lines[k - 1].startswith("def ")), None)
    name = lines[start - 1].removeprefix("def ").partition("(")[0] if start else ""
    if start is not None and name in plan.origins:
        yield name, number - start, ""
    for other in plan.origins:
        if start is not None and f"{other}(" in lines[number - 1]:
            yield other, 0, ""
    stored = _STORED.fullmatch(lines[number - 1])
    if stored is None or start is None:
        return
    call = re.compile(rf"\b{stored[1] or stored[2] or stored['refused']}\b[^=]*= .*?(\w+)\(")
    makers = (call.search(lines[k - 1]) for k in range(number - 1, start, -1))
    given = [found[1] for found in makers if found and found[1] in plan.origins]
    for name in sorted(given, key=lambda name: name.endswith("close")):
        yield name, 0, stored["declared"] or ""
