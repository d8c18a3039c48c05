"""A graph as text for Mermaid, which pages such as those of GitHub show as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.viz.svg_text import clean_line

if TYPE_CHECKING:
    from rtbot.viz.drawing.boxes import Box, Diagram, Wire

DIRECTIONS = {"right": "LR", "down": "TB"}
BRACKETS = {"input": "([{}])", "operator": "[{}]", "output": "([{}])"}
CLASSES = (
    "classDef input fill:#e7f5ec,stroke:#5fa877,color:#1b2330",
    "classDef operator fill:#f6f8fa,stroke:#aeb7c4,color:#1b2330",
    "classDef output fill:#e8f0fc,stroke:#5b8fd6,color:#1b2330",
)
TEXT_MAX = 120
SAFE = " +-*/=.,:()$%!?|^_"
"""What may be in a quoted label as it is, beside letters and digits."""


def render_mermaid(diagram: Diagram, direction: str = "right") -> str:
    """Return the graph as a flowchart. Names are in labels only: no name can break the syntax."""
    lines = [f"flowchart {DIRECTIONS[direction]}"]
    for place, box in enumerate(diagram.boxes):
        shape = BRACKETS[box.form].format(f'"{_format_label(box)}"')
        lines.append(f"  n{place}{shape}:::{box.form}")
    lines += [_format_wire(diagram, wire) for wire in diagram.wires]
    return "\n".join([*lines, *(f"  {line}" for line in CLASSES)]) + "\n"


def _format_label(box: Box) -> str:
    if box.is_terminal:
        return f"{_escape_text(box.title)}: {_escape_text((box.ins or box.outs)[0].type)}"
    return "<br/>".join(map(_escape_text, (box.title, box.subtitle, *box.details)))


def _format_wire(diagram: Diagram, wire: Wire) -> str:
    """Format a wire, dotted where a message may be absent, with ports that are one of several."""
    start, end = diagram.boxes[wire.start], diagram.boxes[wire.end]
    names = [
        _escape_text(ports[place].name)
        for ports, place in ((start.outs, wire.start_port), (end.ins, wire.end_port))
        if len(ports) > 1
    ]
    arrow = "-.->" if wire.looked_up else "-->"
    label = f'|"{" to ".join(names)}"|' if names else ""
    return f"  n{wire.start} {arrow}{label} n{wire.end}"


def _escape_text(text: str) -> str:
    """Return the text with everything that Mermaid or HTML could read as syntax as its number."""
    shown = clean_line(text)
    shown = shown if len(shown) <= TEXT_MAX else shown[: TEXT_MAX - 1] + "…"
    return "".join(c if c.isalnum() or c in SAFE else f"#{ord(c)};" for c in shown)
