"""Graphs as pictures, without any program or library: SVG, and text for Mermaid."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rtbot.viz.drawing.boxes import build_diagram

if TYPE_CHECKING:
    import os

    from rtbot.graph.model import CheckedGraph

SUFFIXES = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}


def detect_form(path: str | os.PathLike[str]) -> str | None:
    """Return svg or mermaid by the suffix of a name, None if it is neither's."""
    return SUFFIXES.get(PurePath(path).suffix.lower())


def draw_graph(checked: CheckedGraph, form: str = "svg", direction: str = "right") -> str:
    """Return a graph as text: `form` is svg or mermaid, `direction` of the flow right or down."""
    made = build_diagram(checked)
    if form == "mermaid":
        from rtbot.viz.drawing.mermaid import render_mermaid

        return render_mermaid(made, direction)
    from rtbot.viz.drawing.placement import lay_out
    from rtbot.viz.drawing.svg import render_svg

    return render_svg(made, lay_out(made, direction))
