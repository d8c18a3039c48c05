"""How an oracle is written and found: `@oracle("Name")` over rows, by operator name."""

from dataclasses import dataclass
from typing import Any

from tests.oracles.streams import Domain


class Sentinel:
    """A value that is no value."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


FAULT = Sentinel("FAULT")
"""An oracle yields it where there is no message, and `domain` is counted."""

ABSENT = Sentinel("ABSENT")
"""A port that may be silent and was; a `last` port that has seen nothing yet; an output that emits
nothing where others do."""


@dataclass
class Oracle:
    """`function(rows, **parameters)` yields `(time, value)`; a tuple for several output ports.

    A row is `(time, value)`, or `(time, {port: value})` if `ports` is set. `roles`: of the
    ports, to pair them; `frontier`: of the output; `tied`: which ports lose a message to another.
    A function that names `frontier` is given that of its rows: what it emits depends on it.
    """

    function: Any
    roles: Any = None
    ports: bool = False
    frontier: Any = None
    tied: Any = None


ORACLES: dict[str, Oracle] = {}


def oracle(*names, **settings):
    """Register the function as the oracle of the named operators."""

    def register(function):
        for name in names:
            ORACLES[name] = Oracle(function, **settings)
        return function

    return register


def scalar(**functions):
    """Register stateless operators: a function of the value and the parameters; null stays null."""
    for name, function in functions.items():
        ORACLES[name] = Oracle(_each(function))


def synchronised(**functions):
    """The same over several ports: the function sees the values in order of the ports."""
    for name, function in functions.items():
        ORACLES[name] = Oracle(_each_row(function), ports=True)


def filters(**functions):
    """Register filters: the first value passes where the function is true."""
    for name, function in functions.items():
        ORACLES[name] = Oracle(_passing(function))


def synchronised_filters(**functions):
    """Register filters that pass the first port's value."""
    for name, function in functions.items():
        ORACLES[name] = Oracle(_passing_row(function), ports=True)


def attempt(function, *args, **settings):
    """The value, or FAULT where it does not exist or does not fit."""
    try:
        return function(*args, **settings)
    except Domain:
        return FAULT


def _each(function):
    def rows_of(rows, **settings):
        for time, value in rows:
            yield time, None if value is None else attempt(function, value, **settings)

    return rows_of


def _each_row(function):
    def rows_of(rows, **settings):
        for time, values in rows:
            args = list(values.values())
            yield time, None if None in args else attempt(function, *args, **settings)

    return rows_of


def _passing(function):
    def rows_of(rows, **settings):
        return ((time, value) for time, value in rows if function(value, **settings))

    return rows_of


def _passing_row(function):
    def rows_of(rows, **settings):
        for time, values in rows:
            first, *others = values.values()
            if function(first, others, **settings):
                yield time, first

    return rows_of
