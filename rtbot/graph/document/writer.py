"""From nodes to text as a person would write it.

What fits is on one line, `ma: {type: MovingAverage, in: price, window: 20}`; what does not is one
entry below the other. Reading the text gives the same nodes again, and so writing them again gives
the same text.
"""

from __future__ import annotations

import io
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from rtbot.core.document_nodes import DocumentNode, MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 100
KEY_MAX = 500
"""A longer key is marked as one: YAML takes no more than 1,024 characters for one without."""

_NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?|~|", re.ASCII)

_BARE = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_.]*", re.ASCII)
"""What certainly needs no quotes."""

_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_HIDDEN = re.compile(rf"\A\s|[ ]$|\n\n\Z|[\x00-\x09\x0b-\x1f]|{_SPECIAL.pattern}", re.MULTILINE)
"""What is invisible in a text: control characters, blanks at an end of it or of a line."""


def write_yaml(root: MappingNode, opened: dict[str, int]) -> str:
    """Return the text of a mapping with blank lines between its entries.

    `opened` is of which entries so many levels are written open, one entry per line, even where
    they would fit on one.
    """
    lines: list[str] = []
    apart = False
    for key, node in root.items.items():
        levels = opened.get(key, 0)
        lines += [""] if lines and (levels or apart) else []
        lines += _write_pair(key, node, 0, levels)
        apart = levels > 0
    return "\n".join(lines) + "\n"


def _write_entry(prefix: str, node: DocumentNode, indent: int, opened: int = 0) -> Iterator[str]:
    """Yield the lines of a node that is after a prefix, such as `ma:` or `-`."""
    head = " " * indent + prefix
    text = _write_line(node) if not opened else None
    if text is not None and len(head) + 1 + len(text) <= WIDTH:
        yield f"{head} {text}" if text else head
    elif isinstance(node, ScalarNode):
        yield from _write_block(head, node, indent + 2)
    elif not node.items:
        yield f"{head} {'{}' if isinstance(node, MappingNode) else '[]'}"
    elif isinstance(node, MappingNode) and prefix.endswith("-"):
        lines = list(_write_entries(node, indent + 2, opened))
        yield head + lines[0][indent + 1 :]
        yield from lines[1:]
    else:
        yield head
        yield from _write_entries(node, indent + 2, opened)


def _write_entries(node: MappingNode | SequenceNode, indent: int, opened: int) -> Iterator[str]:
    """Yield the lines of the entries of a node, each below the other."""
    if isinstance(node, SequenceNode):
        for number, item in enumerate(node.items):
            yield from [""] if number and opened else []
            yield from _write_entry("-", item, indent, max(opened - 1, 0))
        return
    for key, item in node.items.items():
        yield from _write_pair(key, item, indent, max(opened - 1, 0))


def _write_pair(key: str, node: DocumentNode, indent: int, opened: int) -> Iterator[str]:
    """Yield the lines of an entry of a mapping."""
    text = _write_key(key)
    if len(text) > KEY_MAX:
        yield f"{' ' * indent}? {text}"
        text = ""
    yield from _write_entry(f"{text}:", node, indent, opened)


def _write_line(node: DocumentNode, *, inside: bool = False) -> str | None:
    """Return a node on one line, or None if it needs several."""
    if isinstance(node, ScalarNode):
        return _write_scalar(node, inside=inside)
    if isinstance(node, SequenceNode):
        parts = ["null" if _is_none(i) else _write_line(i, inside=True) for i in node.items]
        return None if None in parts or "" in parts else f"[{', '.join(map(str, parts))}]"
    keys = list(map(_write_key, node.items))
    parts = [_write_line(item, inside=True) for item in node.items.values()]
    if None in parts or "" in parts or any(len(key) > KEY_MAX for key in keys):
        return None
    pairs = zip(keys, parts, strict=True)
    return f"{{{', '.join(f'{key}: {part}' for key, part in pairs)}}}"


def _write_scalar(node: ScalarNode, *, inside: bool) -> str | None:
    """Return a scalar on one line: without quotes if it may be; "" if nothing is there."""
    value = node.value
    if node.missing:
        return ""
    if not isinstance(value, str):
        return node.text
    if "\n" in value:
        return None
    bare = _can_be_plain(value, inside=inside) and not (node.quoted and _needs_quotes(value))
    return value if bare else _quote(value)


def _write_block(head: str, node: ScalarNode, indent: int) -> Iterator[str]:
    """Yield the lines of a text of several lines, or of one that is too long."""
    text = node.text
    margin = " " * indent
    words = re.split(r"(?<=\S) (?=\S)", text)
    if not _can_be_literal(text) or (len(words) == 1 and "\n" not in text):
        yield f"{head} {_write_line(node) or _quote(text)}"
        return
    if "\n" in text:
        yield f"{head} |" if text.endswith("\n") else f"{head} |-"
        yield from (margin + line if line else "" for line in text.removesuffix("\n").split("\n"))
        return
    yield f"{head} >-"
    line = words[0]
    for word in words[1:]:
        if indent + len(line) + 1 + len(word) > WIDTH:
            yield margin + line
            line = word
        else:
            line += " " + word
    yield margin + line


def _can_be_literal(text: str) -> bool:
    """Return whether a text can be written line by line, without escapes or indentation marks."""
    return not _HIDDEN.search(text)


@cache
def _emitter() -> Any:
    import yaml.emitter

    return yaml.emitter.Emitter(io.StringIO(), allow_unicode=True)


def _can_be_plain(text: str, *, inside: bool) -> bool:
    """Return whether a text needs no quotes in YAML; `inside` of brackets it needs them sooner."""
    if _BARE.fullmatch(text):
        return True
    found = _emitter().analyze_scalar(text)
    return bool(found.allow_flow_plain if inside else found.allow_block_plain)


@cache
def _resolver() -> Any:
    import yaml.resolver

    return yaml.resolver.Resolver()


def _needs_quotes(text: str) -> bool:
    """Return whether a text without its quotes might be a number, a null, a boolean or a date."""
    from yaml import ScalarNode

    tag = _resolver().resolve(ScalarNode, text, (True, False))
    return tag != "tag:yaml.org,2002:str" or _NUMBER.fullmatch(text) is not None


def _write_key(text: str) -> str:
    return text if _can_be_plain(text, inside=True) else _quote(text)


def _quote(text: str) -> str:
    """Return a text in quotes; in single ones if that avoids escapes."""
    double = json.dumps(text, ensure_ascii=False)
    double = _SPECIAL.sub(lambda found: f"\\u{ord(found.group()):04x}", double)
    spared = "\\" in double and "'" not in text and all(c.isprintable() for c in text)
    return f"'{text}'" if spared else double


def _is_none(node: DocumentNode) -> bool:
    return isinstance(node, ScalarNode) and node.missing
