"""The stub `rtbot/ops.pyi`, for type checkers and editors: `make constructors` writes it.

python -m rtbot.builder.stub
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import TYPE_CHECKING, Any

from rtbot.builder.constructors import FUNCTIONS, build_docstring, build_signature, make_constructor
from rtbot.expression.rules import ARGUMENTS
from rtbot.operator import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.operator import Operator

WIDTH, LONG = 100, 10
HEAD = '''\
"""A constructor for every operator of rtbot, and the functions of expressions.

Written by `make constructors` from the declarations; not by hand.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, Unpack

from rtbot.builder import About, Operand, ParameterRef, Stream, Streams
from rtbot.operator import Operator

def of(operator: type[Operator]) -> Callable[..., Any]:
    """Return the constructor of an operator of your own, which type checkers do not know here."""
'''


def render_stub() -> str:
    """Return the text of the stub."""
    ours = {n: c for n, c in REGISTRY.items() if c.__module__.startswith("rtbot.operators.")}
    parts = [HEAD]
    parts += [_render_function(name) for name in sorted(FUNCTIONS)]
    for name, cls in sorted(ours.items(), key=_sort_aliases_behind):
        parts.append(
            _render_operator(cls) if name == cls.__name__ else f"{name} = {cls.__name__}\n"
        )
    return "\n".join(parts)


def _sort_aliases_behind(entry: tuple[str, type[Operator]]) -> tuple[str, bool, str]:
    name, cls = entry
    return cls.__name__, name != cls.__name__, name


def _render_operator(cls: type[Operator]) -> str:
    shown = build_signature(cls)
    head, tail = f"def {cls.__name__}(", f") -> {shown.return_annotation}:\n"
    parameters = list(_render_parameters(shown))
    line = head + ", ".join(parameters) + tail.rstrip("\n")
    if len(line) > WIDTH:
        line = head + "".join(f"\n    {text}," for text in parameters) + "\n" + tail.rstrip("\n")
    lines = build_docstring(cls).split("\n")
    body = [f"    {text}".rstrip() for text in [f'"""{lines[0]}', *lines[1:]]]
    if len(lines) > 1:
        body.append('    """')
    else:
        body[0] += '"""'
    return "\n".join([line, *body]) + "\n"


def _render_parameters(shown: inspect.Signature) -> Iterator[str]:
    several = False
    for parameter in shown.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            several = True
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not several:
            several = True
            yield "*"
        text = str(parameter.replace(annotation=inspect.Parameter.empty)).split("=")[0]
        text += f": {parameter.annotation}"
        if parameter.default is not inspect.Parameter.empty:
            given = f"{text} = {_render_default(parameter.default)}"
            text = given if len(given) < WIDTH - 4 else f"{text} = ..."
        yield text


def _render_default(value: Any) -> str:
    """Return a default as a stub has it: one that is long is left to the docstring."""
    text = json.dumps(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= LONG else "..."


def _render_function(name: str) -> str:
    low, high = ARGUMENTS[FUNCTIONS[name]]
    names = [("x",), ("a", "b"), ("condition", "a", "b")][low - 1]
    parts = [f"{part}: Operand | float" for part in names]
    parts.append("*more: Operand | float" if high > low else "/")
    doc = f'    """{make_constructor(name).__doc__}"""'
    return f"def {name}({', '.join(parts)}) -> Stream:\n{doc}\n"


if __name__ == "__main__":
    sys.stdout.write(render_stub())
