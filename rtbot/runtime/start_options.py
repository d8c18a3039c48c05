"""The options of a session: what `Graph.start` and `Graph.run` take by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003 (annotations are read)
from typing import Literal, TypedDict

from rtbot.core.errors import suggest_known_name

POLICIES = ("late", "duplicates", "lateness")
"""Keys of `io` that a call may give."""


class StartOptions(TypedDict, total=False):
    """The options of a session.

    `time` names the column of times in tables and files, or several whose texts are joined by a
    blank; `inputs` names the column of an input, {input: column}, or the columns of a record,
    {input: {field: column}}. `tap` adds operators to the result and changes nothing else.
    `queue_limit` bounds the rows that wait at one port. `compiled` is when generated code is
    compiled: "now" (or True), before it runs; "beside", by another process while it runs as plain
    Python (the default); "never" (or False). `late`, `duplicates` and `lateness` override those of
    `io`.
    """

    time: str | Sequence[str] | None
    inputs: Mapping[str, str | Mapping[str, str]] | None
    tap: Iterable[str]
    queue_limit: int | None
    compiled: bool | str | None
    late: Literal["error", "drop"]
    duplicates: Literal["error", "first", "last", "min", "max", "sum"]
    lateness: int | str


def check_options(
    given: Iterable[str], known: Iterable[str], parameters: Iterable[str] = ()
) -> None:
    """Raise TypeError for an option that there is not, with the name that may be meant.

    `parameters` are those of the graph.
    """
    names, own = list(known), set(parameters)
    for name in given:
        if name in names:
            continue
        hint = suggest_known_name(name, names) or f"there are {', '.join(names)}"
        if name in own:
            hint = f"it is a parameter of the graph: rtbot.load(..., {name}=...)"
        raise TypeError(f"there is no option {name!r}: {hint}")
