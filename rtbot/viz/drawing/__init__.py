"""Graphs as pictures, without any program or library: SVG, and text for Mermaid."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rtbot.viz.drawing.boxes import diagram

if TYPE_CHECKING:
    import os

    from rtbot.graph.model import Checked

SUFFIXES = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}


def form_of(path: str | os.PathLike[str]) -> str | None:
    """Return svg or mermaid by the suffix of a name, None if it is neither's."""
    return SUFFIXES.get(PurePath(path).suffix.lower())


def drawing(checked: Checked, form: str = "svg", direction: str = "right") -> str:
    """Return a graph as text: `form` is svg or mermaid, `direction` of the flow right or down."""
    made = diagram(checked)
    if form == "mermaid":
        from rtbot.viz.drawing.mermaid import mermaid

        return mermaid(made, direction)
    from rtbot.viz.drawing.placement import lay_out
    from rtbot.viz.drawing.svg import svg

    return svg(made, lay_out(made, direction))
