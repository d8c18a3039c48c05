"""The bytes of a graph file as clean text: UTF-8, known characters, no tabs in the indentation."""

from __future__ import annotations

import re

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.graph.document.diagnosis import GRAPH_FIRST, identify_bytes

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)
_TAB = re.compile(r"^[ ]*\t[ \t]*(?=[^\s#])", re.MULTILINE)


def decode_text(data: bytes, file: str, bytes_max: int) -> str:
    """Decode a file's bytes as UTF-8; a byte order mark of UTF-8 is allowed."""
    start = SourceSpan(file, 1, 1)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise graph_error("RT109", start, "the file is UTF-16", "save it as UTF-8")
    other = identify_bytes(data)
    if other:
        raise graph_error("RT109", start, f"this is {other}, not the text of a graph", GRAPH_FIRST)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if len(data) > bytes_max:
        raise graph_error("RT108", start, f"a graph file of more than {bytes_max} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").replace("\r\n", "\n")
        byte = data[error.start]
        message = f"the byte 0x{byte:02x} is not UTF-8"
        mark = _locate(before, len(before), file)
        raise graph_error("RT109", mark, message, "save it as UTF-8") from None


def normalise_text(text: str, file: str, bytes_max: int) -> str:
    """Return the text with line ends as newlines; raise GraphError for what is not plain text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > bytes_max or len(text.encode("utf-8", "surrogatepass")) > bytes_max:
        raise graph_error(
            "RT108", SourceSpan(file, 1, 1), f"a graph file of more than {bytes_max} bytes"
        )
    for found in _FORBIDDEN.finditer(text):
        message = f"the character U+{ord(found.group()):04X} is not allowed"
        hint = "remove it, or write it as an escape in quotes"
        raise graph_error("RT109", _locate(text, found.start(), file), message, hint)
    if text.lstrip().startswith("{"):
        text = _PAIR.sub(_join_surrogates, text)
        return _TAB.sub(lambda found: " " * len(found.group()), text)
    tabs = [text.index("\t", found.start()) for found in _TAB.finditer(text)]
    if tabs:
        more = f", here and on {len(tabs) - 1} more lines" if len(tabs) > 1 else ""
        hint = f"indent with spaces{more}"
        raise graph_error("RT102", _locate(text, tabs[0], file), "a tab in the indentation", hint)
    return text


def _join_surrogates(pair: re.Match[str]) -> str:
    """Write a character that JSON escapes as two surrogates as YAML escapes it."""
    units = bytes.fromhex(pair.group(2) + pair.group(3))
    return f"{pair.group(1)}\\U{ord(units.decode('utf-16-be')):08X}"


def _locate(text: str, offset: int, file: str) -> SourceSpan:
    line_start = text.rfind("\n", 0, offset) + 1
    return SourceSpan(file, text.count("\n", 0, offset) + 1, offset - line_start + 1)
