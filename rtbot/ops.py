"""A constructor for every operator, and the functions of expressions: see `rtbot.builder`.

`ops.MovingAverage(price, window=20)` adds an operator to the graph of `price` and returns its
output. Everything here is derived from the registry, so that operators of your own and of installed
packages are here too; `ops.pyi` declares ours to type checkers and editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.operator import Operator


def of(operator: type[Operator]) -> Callable[..., Any]:
    """Return the constructor of an operator of your own, which type checkers do not know here."""
    from rtbot.builder.constructors import make_constructor

    return make_constructor(operator.__name__)


def __getattr__(name: str) -> Any:
    from rtbot.builder.constructors import make_constructor

    if name.startswith("_"):
        raise AttributeError(f"module 'rtbot.ops' has no attribute {name!r}")
    return make_constructor(name)


def __dir__() -> list[str]:
    from rtbot.builder.constructors import FUNCTIONS
    from rtbot.graph.packages import load_packages
    from rtbot.operator import REGISTRY

    load_packages()
    return sorted(["of", *REGISTRY, *FUNCTIONS])
