"""What a declaration that works still lacks: texts, and an example that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.check.class_source import ClassSource
from rtbot.operator import Parameter
from rtbot.operator.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.operator import Operator


def list_gaps(cls: type[Operator]) -> list[str]:
    """Return what is missing, or does not fit together, as sentences, each behind its place."""
    found = [*_list_missing_texts(cls), *(("example", text) for text in _list_example_gaps(cls))]
    marks = map(ClassSource(cls).of, (name for name, _ in found))
    return [
        f"{mark.file}:{mark.line}: {text}" for mark, (_, text) in zip(marks, found, strict=True)
    ]


def _list_missing_texts(cls: type[Operator]) -> Iterator[tuple[str, str]]:
    """Yield the attribute, "" for the class, and what it lacks."""
    first = (cls.__doc__ or "").partition("\n")[0]
    if not first:
        yield "", "the class has no docstring, whose first line is the meaning of the operator"
    elif not first.endswith((".", ",", "...")):
        yield "", f"the first line of the docstring is no sentence: {first!r}"
    for group in (cls.parameters, cls.inputs, cls.outputs):
        for name, item in group.items():
            if not item.doc:
                yield name, f'{name} has no doc: add doc="..."'
    for name, parameter in cls.parameters.items():
        if type(parameter).draw is Parameter.draw and not issubclass(cls, Relation):
            kind = type(parameter).__name__
            yield name, f"{name} has no random values: the kind {kind} has no draw"


def _list_example_gaps(cls: type[Operator]) -> Iterator[str]:
    example = cls.example
    if example is None:
        yield "it has no example: add example = Example(inputs={...}, outputs={...})"
        return
    ports = cls.ports(cls.count_arity(example.inputs))
    if list(example.inputs) != ports and not issubclass(cls, Relation):
        yield f"the example has rows for {', '.join(example.inputs)}, the inputs are {ports}"
    unknown = set(example.parameters) - set(cls.parameters)
    if unknown:
        yield f"the example has values of {sorted(unknown)}, which are no parameters"
    required = {name for name, parameter in cls.parameters.items() if parameter.required}
    absent = required - set(example.parameters)
    if absent and not issubclass(cls, Relation):
        yield f"the example has no value of {sorted(absent)}"
    if issubclass(cls, Relation):
        return
    repeats = any(out.repeats for out in cls.outputs.values())
    for port, rows in {**example.inputs, **example.outputs}.items():
        times = [time for time, _ in rows]
        if times != sorted(times if repeats else set(times)):
            yield f"the times of the example's {port} do not ascend"
