"""Options of the command line that are keys of `io`: how the files are written."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.core.errors import GraphError

PLACE = "<mapping> io."
"""How the places of values begin that are given at a call."""

_PATH = re.compile(r"([a-z_]+)(?:\.([^.\[]+))?")


def collect_io(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of `io` that the options of a verb give, as `Graph` takes them."""
    given = {
        "time": [_escape(name) for name in split_names(options.get("time") or ())],
        "csv": dict(map(_parse_setting, options.get("csv") or ())),
        "null": [_escape(token) for token in options.get("null") or ()],
        "time_format": _escape(options.get("time_format") or ""),
        "timezone": _escape(options.get("timezone") or ""),
    }
    return {key: value for key, value in given.items() if value}


def split_names(texts: Iterable[str]) -> list[str]:
    """Return names of columns, of which a text may have several: `Date,Time`.

    A name that has a comma is in quotes: `"Date, UTC",Time`. A column may have no name.
    """
    found: list[str] = [text for text in texts if not text]
    try:
        for row in csv.reader(texts, skipinitialspace=True):
            found += [name.strip() for name in row if name.strip()]
    except csv.Error as error:
        raise click.UsageError(f"{list(texts)} are no names of columns: {error}") from None
    return found


def make_usage_error(error: GraphError, options: Mapping[str, Any]) -> click.UsageError | None:
    """Return the error of an option, if a problem is that of a value given at the call."""
    for problem in error.problems:
        if not problem.mark.file.startswith(PLACE):
            continue
        key, setting = _find_place(problem.mark.file)
        shown = f"--{key.replace('_', '-')}"
        if key == "csv" and setting:
            values = dict(map(_split_setting, options["csv"]))
            shown += f" {setting}={values.get(setting, '')}"
        elif isinstance(options.get(key), str):
            shown += f" {options[key]}"
        message = f"{shown}: {problem.message.removeprefix(f'{key}: ')}"
        return click.UsageError(message + (f"; {problem.hint}" if problem.hint else ""))
    return None


def _find_place(file: str) -> tuple[str, str]:
    """Return the key of `io` that a place is of, and the key within that, or ""."""
    found = _PATH.match(file.removeprefix(PLACE))
    return (found[1], found[2] or "") if found else ("io", "")


def _parse_setting(text: str) -> tuple[str, Any]:
    key, value = _split_setting(text)
    if key == "names":
        return key, [_escape(name) for name in split_names([value])]
    return key, _escape(value)


def _split_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"--csv takes KEY=VALUE, such as delimiter=';', not {text!r}")
    return key, value


def _escape(text: str) -> str:
    """Return a text that is no parameter of the graph, though it begins with a dollar sign."""
    return "$" + text if text.startswith("$") else text
