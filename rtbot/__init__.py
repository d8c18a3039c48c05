"""rtbot: deterministic, event-time operator graphs.

    import rtbot
    graph = rtbot.load("graphs/bollinger.yaml", window=50)
    result = graph.run({"price": table}, key="symbol")

Importing this package imports nothing else; the names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rtbot import ops
    from rtbot.api import Graph, load, read
    from rtbot.builder import Builder
    from rtbot.core.errors import (
        CheckpointError,
        DataError,
        GraphError,
        QueueFull,
        ResourceLimit,
        RtbotError,
        StateError,
    )
    from rtbot.database.datalog_database import Datalog
    from rtbot.relations.cache import Cache
    from rtbot.runtime.result import Result
    from rtbot.runtime.session import Session

__version__ = "0.1.0"

_HOMES = {
    "Graph": "api",
    "load": "api",
    "Builder": "builder",
    "Cache": "relations.cache",
    "Datalog": "database.datalog_database",
    "read": "api",
    "Session": "runtime.session",
    "Result": "runtime.result",
    **dict.fromkeys(
        (
            *("CheckpointError", "DataError", "GraphError", "QueueFull"),
            *("ResourceLimit", "RtbotError", "StateError"),
        ),
        "core.errors",
    ),
}

__all__ = [
    "Builder",
    "Cache",
    "CheckpointError",
    "DataError",
    "Datalog",
    "Graph",
    "GraphError",
    "QueueFull",
    "ResourceLimit",
    "Result",
    "RtbotError",
    "Session",
    "StateError",
    "load",
    "ops",
    "read",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None and name != "ops":
        raise AttributeError(f"module 'rtbot' has no attribute {name!r}")
    from importlib import import_module

    if home is None:
        return import_module("rtbot.ops")
    return getattr(import_module(f"rtbot.{home}"), name)
