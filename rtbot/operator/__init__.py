"""Declaring operators: the class, its parameters, ports and state; see `operator.py` here."""

from rtbot.operator.declarations import (
    KINDS,
    ROLES,
    STATE_LIMIT,
    UNREAD,
    Boolean,
    Cells,
    Choice,
    Choices,
    Duration,
    Example,
    In,
    Integer,
    Integers,
    Kept,
    Number,
    Numbers,
    Out,
    Parameter,
    Points,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
    TimeSpan,
    Type,
    WarmUp,
    WindowLength,
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
    "TimeSpan",
    "Type",
    "WarmUp",
    "WindowLength",
    "find_by_search_term",
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
