"""Text in pictures: escaped for XML, measured, cut to the room it has.

No font is available when a picture is made, and the one that will show it is unknown: widths are
those of a wide font (DejaVu Sans), in steps of 1/20 em, so that what fits here fits everywhere.
"""

from __future__ import annotations

import unicodedata
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
BOLD, MONO_WIDTH, WIDE_WIDTH, OTHER_WIDTH = 1.11, 0.61, 1.05, 0.8
ELLIPSIS = "…"

LIGHT = {"paper": "#ffffff", "ink": "#1b2330", "quiet": "#5c6675", "faint": "#e3e7ed"}
DARK = {"paper": "#14181f", "ink": "#e8ecf2", "quiet": "#9aa6b5", "faint": "#2b323d"}
"""What pictures have in common on white pages and on dark ones."""

BOX_LIGHT = LIGHT | {
    "operator": "#f6f8fa",
    "operator-edge": "#aeb7c4",
    "input": "#e7f5ec",
    "input-edge": "#5fa877",
    "output": "#e8f0fc",
    "output-edge": "#5b8fd6",
}
BOX_DARK = DARK | {
    "operator": "#1e242e",
    "operator-edge": "#4d5867",
    "input": "#163022",
    "input-edge": "#5fa877",
    "output": "#172a45",
    "output-edge": "#5b8fd6",
}
"""Those of pictures of operators, and of what goes in and comes out."""

FIT = "max-width: 100%; height: auto;"
"""How a picture is printed: not cut off at the edge of the paper."""

_EMS = {
    0.30: "'IJijl",
    0.35: " ,./:;\\|",
    0.40: "()-[]ft",
    0.45: "!r",
    0.50: '"*_`',
    0.55: "?csz",
    0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.70: "ABCKRVXZ",
    0.75: "NU",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~",
    0.90: "M",
    0.95: "%",
    1.00: "@Wm…",
}
_WIDTHS = {character: em for em, characters in _EMS.items() for character in characters}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def clean_line(text: str) -> str:
    """Return the text on one line, without what cannot be seen (controls, surrogates, marks)."""
    return "".join(c if c.isprintable() else " " for c in text)


def escape(text: str, *, lines: bool = False) -> str:
    """Return the text as XML has it, in an element or in an attribute; with its lines or as one."""
    kept = "\n".join(map(clean_line, text.split("\n"))) if lines else clean_line(text)
    return "".join(_ENTITIES.get(c, c) for c in kept)


def measure_width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """Return how wide the text is at this size of the font, at most."""
    return size * sum(_measure_ems(text, mono=mono)) * (BOLD if bold else 1)


def shorten(text: str, room: float, size: float, *, bold: bool = False, mono: bool = False) -> str:
    """Return the text, cut and with an ellipsis if it is wider than the room."""
    text = clean_line(text)
    if measure_width(text, size, bold=bold, mono=mono) <= room:
        return text
    left = room / (size * (BOLD if bold else 1)) - (MONO_WIDTH if mono else _WIDTHS[ELLIPSIS])
    count = sum(reached <= left for reached in accumulate(_measure_ems(text, mono=mono)))
    return text[:count].rstrip() + ELLIPSIS


def shorten_middle(text: str, room: float, size: float) -> str:
    """Return the text; if it is wider than the room, with an ellipsis in place of its middle."""
    text = clean_line(text)
    if measure_width(text, size) <= room:
        return text
    half = (room / size - _WIDTHS[ELLIPSIS]) / 2
    ems = _measure_ems(text, mono=False)
    before = sum(reached <= half for reached in accumulate(ems))
    after = sum(reached <= half for reached in accumulate(reversed(ems)))
    return f"{text[:before].rstrip()}{ELLIPSIS}{text[len(text) - after :].lstrip()}"


def wrap_text(text: str, room: float, size: float, lines: int, *, mono: bool = False) -> list[str]:
    """Return the text as at most so many lines, broken at spaces; the last may be cut."""
    found: list[str] = []
    words = clean_line(text).split()
    while words and len(found) < lines - 1:
        count = 1
        while (
            count < len(words)
            and measure_width(" ".join(words[: count + 1]), size, mono=mono) <= room
        ):
            count += 1
        found.append(shorten(" ".join(words[:count]), room, size, mono=mono))
        words = words[count:]
    return [*found, shorten(" ".join(words), room, size, mono=mono)] if words else found


def format_element(name: str, *content: str, **attributes: object) -> str:
    """Return an XML element; `content` is markup, attributes are escaped.

    An attribute `class_` is `class`, `stroke_width` is `stroke-width`; None leaves one out.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_format_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{''.join(content)}</{name}>" if content else f"<{name}{given}/>"


def format_document(
    look: str, title: str, style: str, size: tuple[float, float], *parts: str
) -> str:
    """Return an SVG document of the class `look`, on a paper of its own."""
    wide, high = size
    root = format_element(
        "svg",
        format_element("title", escape(title)),
        format_element("style", f"{style}@media print {{ .{look} {{ {FIT} }} }}\n"),
        format_element("rect", class_="paper", width=wide, height=high, rx=8.0),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_=look,
        role="img",
        aria_label=title,
        width=wide,
        height=high,
        viewBox=f"0 0 {format_coordinate(wide)} {format_coordinate(high)}",
    )
    return root + "\n"


def theme_rules(
    rules: Callable[[Mapping[str, str]], Iterable[str]],
    light: Mapping[str, str],
    dark: Mapping[str, str],
) -> str:
    """Return style rules with the colours for white pages, then again with those for dark ones."""
    night = "".join(f"  {rule}\n" for rule in rules(dark))
    day = "".join(f"{rule}\n" for rule in rules(light))
    return f"{day}@media (prefers-color-scheme: dark) {{\n{night}}}\n"


def format_coordinate(value: float) -> str:
    """Return a coordinate, to a tenth."""
    text = f"{value:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


def _format_attribute(value: object) -> str:
    return format_coordinate(value) if isinstance(value, float) else escape(str(value))


def _measure_ems(text: str, *, mono: bool) -> list[float]:
    return [_measure_em(c, MONO_WIDTH if mono else None) for c in text]


def _measure_em(character: str, mono: float | None) -> float:
    if character in _WIDTHS:
        return mono or _WIDTHS[character]
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE_WIDTH
    return mono or OTHER_WIDTH
