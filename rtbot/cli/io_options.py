"""Options of the command line that are keys of `io`: how the files are written."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import click

from rtbot.core.errors import suggest_known_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.core.errors import GraphError

OPTIONS = ("time", "csv", "null", "time_format", "timezone")
"""Keys of `io` that are options of their own."""

PLACE = "<mapping> io."
"""How the places of values begin that are given at a call."""

SETTINGS = (
    *("excess", "conflicts", "on_bad_transaction", "max_delta_rows", "lateness", "bad", "unit"),
    *("ambiguous", "nonexistent"),
)
"""Keys of `io` that have no option of their own, and are given as --io KEY=VALUE."""

_PATH = re.compile(r"([a-z_]+)(?:\.([^.\[]+))?")
_NAMED = re.compile(rf"\bio\.({'|'.join(SETTINGS)})\b(?:: (\w+))?")


def collect_io(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of `io` that the options of a verb give, as `Graph` takes them."""
    given = {
        "time": [_escape(name) for name in split_names(options.get("time") or ())],
        "csv": dict(map(_parse_setting, options.get("csv") or ())),
        "null": [_escape(token) for token in options.get("null") or ()],
        "time_format": _escape(options.get("time_format") or ""),
        "timezone": _escape(options.get("timezone") or ""),
    }
    own = dict(map(_parse_own, options.get("io") or ()))
    return {key: value for key, value in given.items() if value} | own


def name_options(hint: str) -> str:
    """Return a hint with --io KEY=VALUE in place of the keys of `io` that it names."""
    return _NAMED.sub(lambda found: f"--io {found[1]}={found[2] or '...'}", hint)


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
        if key in SETTINGS and options.get("io"):
            shown = f"--io {key}={dict(map(_parse_own, options['io'])).get(key, '')}"
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


def _parse_own(text: str) -> tuple[str, str]:
    """Split KEY=VALUE of --io."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"--io takes KEY=VALUE, such as excess=ignore, not {text!r}")
    if key not in SETTINGS:
        option = f"--{key.replace('_', '-')}"
        hint = suggest_known_name(key, SETTINGS) or f"there are {', '.join(SETTINGS)}"
        hint = f"say {option}" if key in OPTIONS else hint
        raise click.UsageError(f"--io {text}: {key!r} is none of its keys; {hint}")
    return key, _escape(value)


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
