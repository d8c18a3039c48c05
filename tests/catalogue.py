"""Registered operators, and groups of them."""

from rtbot import operators as _operators  # noqa: F401 (fills the registry)
from rtbot.operator import REGISTRY
from rtbot.operator.relation import Relation


def catalogue():
    """Every operator of series by its own name."""
    classes = {c for c in REGISTRY.values() if not c.abstract and not issubclass(c, Relation)}
    named = {cls.__name__: cls for cls in classes if cls.__module__.startswith("rtbot.operators")}
    return dict(sorted(named.items()))


def pairing_pool():
    """The operators that wait for several streams or change times, and a few that thin them out."""
    chosen = {}
    for name, cls in catalogue().items():
        complete = {key: parameter.default for key, parameter in cls.parameters.items()}
        waits = {cls.role(port, complete) for port in cls.ports(2)} != {"must"} or cls.mixed
        if waits or cls.sets_time or (cls.keep is not None and len(cls.ports(2)) == 1):
            chosen[name] = cls
    return chosen


def topics(pool):
    """The classes of a catalogue by the module they are in."""
    modules = {}
    for cls in pool.values():
        modules.setdefault(cls.__module__, []).append(cls)
    return list(modules.values())
