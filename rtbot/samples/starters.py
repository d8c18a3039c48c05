"""Graphs to start from: commented files, each with tests and with sample data that fits it."""

from __future__ import annotations

import re
from importlib.resources import files

STARTERS = {
    "bollinger": "prices",
    "sensors": "sensors",
    "heartbeat": "ecg",
    "counter": "counter",
}
"""From the name of a starter to that of the sample data for it."""

PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def render_starter(name: str, title: str) -> str:
    """Return the text of a starter as a graph of this title."""
    text = files("rtbot").joinpath("starters", f"{name}.yaml").read_text("utf-8")
    quoted = title if PLAIN.fullmatch(title) else "'" + title.replace("'", "''") + "'"
    found = re.search(r"^name: .*$", text, re.MULTILINE)
    assert found is not None, f"the starter {name} has no name"
    return text[: found.start()] + f"name: {quoted}" + text[found.end() :]
