"""Declaring operators: the class, its parameters, ports and state; see `operator.py` here."""

from rtbot.core.scalar_values import KINDS
from rtbot.operator.declarations import (
    ROLES,
    UNREAD,
    Cells,
    Example,
    In,
    Kept,
    Out,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
    Type,
    WarmUp,
)
from rtbot.operator.operator import (
    DOMAIN,
    EMIT,
    EMIT_AGAIN,
    NEVER,
    REGISTRY,
    SILENT,
    Operator,
    find_by_search_term,
    noinline,
    step,
    suggest_operator,
)
from rtbot.operator.parameter_kinds.choices import Choice, Choices
from rtbot.operator.parameter_kinds.lists import Integers, ListParameter, Numbers, Points
from rtbot.operator.parameter_kinds.parameter import Parameter, TimeSpan
from rtbot.operator.parameter_kinds.scalars import Boolean, Integer, Number, Text
from rtbot.operator.parameter_kinds.times import STATE_LIMIT, Duration, WindowLength
from rtbot.operator.vectors import make_vector

__all__ = [
    "DOMAIN",
    "EMIT",
    "EMIT_AGAIN",
    "KINDS",
    "NEVER",
    "REGISTRY",
    "ROLES",
    "SILENT",
    "STATE_LIMIT",
    "UNREAD",
    "Boolean",
    "Cells",
    "Choice",
    "Choices",
    "Duration",
    "Example",
    "In",
    "Integer",
    "Integers",
    "Kept",
    "ListParameter",
    "Number",
    "Numbers",
    "Operator",
    "Out",
    "Parameter",
    "Points",
    "Ring",
    "Scalar",
    "Scratch",
    "Space",
    "Span",
    "Text",
    "TimeSpan",
    "Type",
    "WarmUp",
    "WindowLength",
    "find_by_search_term",
    "make_vector",
    "noinline",
    "step",
    "suggest_operator",
]


def __getattr__(name: str) -> object:
    """Return what had another name, with a warning."""
    if name != "rarely":
        raise AttributeError(f"module 'rtbot.operator' has no attribute {name!r}")
    import warnings

    warnings.warn("rarely is called noinline now", DeprecationWarning, stacklevel=2)
    return noinline
