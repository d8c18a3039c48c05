"""Random values of parameters, by their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.times import INT64_MAX
from rtbot.operator import (
    Boolean,
    Choice,
    Choices,
    Duration,
    Integer,
    Integers,
    Number,
    Numbers,
    Points,
    WindowLength,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from rtbot.operator import Operator, Parameter

NUMBER_VALUES = [0.0, 1.0, -1.0, 2.0, 0.5, 2.5, 0.1, -0.0, 1e16, 1e-10, 3.0, -2.0]


def draw_value(rng: Random, parameter: Parameter, span: int) -> Any:
    """Return a value that the parameter allows; `span` is how far the times of a run reach."""
    match parameter:
        case Integer():
            low, high = limit_integer(parameter)
            value = rng.randint(low, min(high, low + 5))
            return value | 1 if parameter.odd else value
        case Number():
            return _draw_number(rng, parameter)
        case Boolean():
            return rng.random() < 0.5
        case Choice():
            return rng.choice(parameter.options)
        case Choices():
            return rng.sample(parameter.options, rng.randint(1, len(parameter.options)))
        case Duration():
            return _draw_duration(rng, parameter, span)
        case WindowLength():
            length = _draw_duration(rng, Duration(minimum=1), span)
            count = rng.randint(parameter.minimum, 6) | parameter.odd
            return rng.choice([count, f"{length}ns"])
    return _draw_list(rng, parameter)


def _draw_list(rng: Random, parameter: Parameter) -> list[Any]:
    """Return a list that the parameter allows."""
    match parameter:
        case Integers():
            low = parameter.minimum if parameter.minimum is not None else -2
            return [rng.randint(low, low + 2) for _ in range(rng.randint(1, 3))]
        case Numbers():
            count = max(parameter.shortest, 1) + rng.randint(0, 2)
            return [rng.choice(NUMBER_VALUES) for _ in range(count)]
        case Points():
            count = max(parameter.shortest, 1) + rng.randint(0, 3)
            return sorted([rng.choice(NUMBER_VALUES) for _ in "xy"] for _ in range(count))
    raise AssertionError(f"no values for parameters of type {type(parameter).__name__}")


def limit_integer(parameter: Integer) -> tuple[int, int]:
    """Return the least and the greatest value; where there is no limit, near the other one."""
    low = parameter.minimum if parameter.minimum is not None else -2
    return low, parameter.maximum if parameter.maximum is not None else low + 5


def _draw_number(rng: Random, parameter: Number) -> float:
    low = -2e16 if parameter.minimum is None else parameter.minimum
    high = 2e16 if parameter.maximum is None else parameter.maximum
    fitting = [value for value in NUMBER_VALUES if low <= value <= high]
    if parameter.above is not None:
        fitting = [value for value in fitting if value > parameter.above]
    return rng.choice(fitting)


def _draw_duration(rng: Random, parameter: Duration, span: int) -> int:
    share = max(1, span // rng.randint(3, 40))
    if parameter.minimum is not None and parameter.minimum >= 1:
        return max(parameter.minimum, min(share, INT64_MAX))
    choices = [0, 1, 2, 5, min(share, INT64_MAX)]
    if parameter.minimum is None:
        choices += [-1, -3, -min(share, INT64_MAX), INT64_MAX]
    return rng.choice(choices)


def draw_arity(rng: Random, cls: type[Operator], values: Mapping[str, Any]) -> int:
    """Return how many streams feed a variadic port, as far as the parameters leave it open."""
    variadic = [port for port in cls.inputs.values() if port.variadic]
    if not variadic:
        return 1
    lists = [v for n, v in values.items() if isinstance(cls.parameters[n], Numbers)]
    sizes: list[Any] = [len(item) for item in lists] + [values.get("num_ports")]
    sizes = [size for size in sizes if size]
    return int(sizes[0]) if sizes else rng.randint(variadic[0].shortest, variadic[0].shortest + 2)
