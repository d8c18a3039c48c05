"""An operator's page: as Markdown for the documentation, as text for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rtbot.explain.explain_operator import describe
from rtbot.explain.phrases import format_hanging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rtbot.operator import Operator

MARGIN = 14
TITLES = ("inputs", "outputs", "parameters")
FACTS = {"warm_up": "warm-up", "state": "state", "progress": "progress"}


def render_operator_page(operator: type[Operator], picture: str = "") -> str:
    """Return the page of an operator as Markdown; `picture` is the file of its example, drawn."""
    found = describe(operator)
    lines = [f"# {found['name']}", "", found["text"]]
    if found["aliases"]:
        lines += ["", f"Also called {', '.join(f'`{name}`' for name in found['aliases'])}."]
    if found["origin"] != "rtbot":
        lines += ["", f"From {found['origin']}."]
    if picture:
        lines += ["", f"![What goes into {found['name']}, and what comes out]({picture})"]
    for title in TITLES:
        if found[title]:
            table = _list_parameters if title == "parameters" else _list_ports
            lines += [
                "",
                f"## {title.capitalize()}",
                "",
                *_format_markdown_table(table(found[title])),
            ]
    if "example" in found:
        example = found["example"]
        lines += ["", "## Example", "", "```yaml", example["graph"].rstrip(), "```"]
        lines += ["", *_format_markdown_table(example["rows"]), "", "In this graph:", ""]
        lines += [f"- **{label}**: {found[name]}" for name, label in FACTS.items() if found[name]]
    if found["others"]:
        lines += ["", "## What others call it", ""]
        lines += [", ".join(_format_other(other, "`") for other in found["others"]) + "."]
    return "\n".join(lines) + "\n"


def format_operator(
    found: dict[str, Any], width: int, bold: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield the lines of a description, at most `width` long if they can be wrapped."""
    from rtbot.core.aligned_text import align_cells

    yield bold(found["name"])
    if found["aliases"]:
        yield f"also called {', '.join(found['aliases'])}"
    if found["origin"] != "rtbot":
        yield f"from {found['origin']}"
    yield ""
    yield from _wrap_paragraphs(found["text"], width)
    for title in TITLES:
        if found[title]:
            yield from ["", bold(title)]
        for item in found[title]:
            yield from _format_item(item, width)
    if "example" in found:
        yield from ["", bold("example"), *_indent(found["example"]["graph"].splitlines()), ""]
        rows = found["example"]["rows"]
        yield from _indent(align_cells(rows, [True] * len(rows[0])))
        yield ""
        for name, label in FACTS.items():
            if not found[name]:
                continue
            yield from format_hanging(f"  {label}", found[name], width, MARGIN)
    if found["others"]:
        yield from ["", bold("what others call it")]
        names = ", ".join(map(_format_other, found["others"]))
        yield from _indent(textwrap.wrap(names, width - 2))


def _format_other(other: dict[str, str], quote: str = "") -> str:
    """Return a name that other tools have, and the parameters that it implies here."""
    settings = f" ({quote}{other['parameters']}{quote})" if other["parameters"] else ""
    return f"{quote}{other['name']}{quote}{settings}"


def _wrap_paragraphs(text: str, width: int) -> Iterator[str]:
    """Yield the text, wrapped again; an empty line separates paragraphs."""
    for number, paragraph in enumerate(text.split("\n\n")):
        yield from [""] * (number > 0)
        yield from textwrap.wrap(" ".join(paragraph.split()), width)


def _format_item(item: dict[str, Any], width: int) -> Iterator[str]:
    """Yield the lines of a port or a parameter: its name, then all that is known of it."""
    words = _list_parameter_words(item) if "required" in item else _list_port_words(item)
    label = f"  {item['name']}"
    margin = max(MARGIN, len(label) + 2)
    yield from format_hanging(label, f"{item['doc']} ({'; '.join(words)})", width, margin)


def _list_port_words(item: dict[str, Any]) -> list[str]:
    alias = f"or {item['alias']}" if item["alias"] else ""
    return [word for word in (alias, item["kind"], item["role"]) if word]


def _list_parameter_words(item: dict[str, Any]) -> list[str]:
    alias = f"or {', '.join(item['aliases'])}" if item["aliases"] else ""
    kind = " | ".join(item["options"]) if item["options"] else item["type"]
    return [word for word in (alias, kind, item["range"], _format_need(item)) if word]


def _format_need(item: dict[str, Any]) -> str:
    if item["required"]:
        return "required"
    return "optional" if item["default"] is None else f"default {item['default']}"


def _list_ports(items: list[dict[str, Any]]) -> list[list[str]]:
    rows = [["port", "carries", "meaning"]]
    for item in items:
        alias = f" or `{item['alias']}`" if item["alias"] else ""
        role = f"; {item['role']}" if item["role"] else ""
        rows.append([f"`{item['name']}`{alias}", item["kind"], item["doc"] + role])
    return rows


def _list_parameters(items: list[dict[str, Any]]) -> list[list[str]]:
    rows = [["parameter", "value", "default", "meaning"]]
    for item in items:
        names = " or ".join(f"`{name}`" for name in (item["name"], *item["aliases"]))
        kind = ", ".join(f"`{option}`" for option in item["options"]) or item["type"]
        value = f"{kind}, {item['range']}" if item["range"] else kind
        need = _format_need(item).removeprefix("default ")
        rows.append([names, value, need, item["doc"]])
    return rows


def _format_markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    head, *body = [f"| {' | '.join(row)} |" for row in escaped]
    return [head, f"|{'---|' * len(rows[0])}", *body]


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]
