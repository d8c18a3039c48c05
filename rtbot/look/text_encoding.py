"""Which encoding bytes are in, and their lines."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbot.look.file_sample import FileSample

BOMS = {
    codecs.BOM_UTF8: ("utf-8", "utf-8"),
    codecs.BOM_UTF32_LE: ("utf-32", "utf-32-le"),
    codecs.BOM_UTF32_BE: ("utf-32", "utf-32-be"),
    codecs.BOM_UTF16_LE: ("utf-16", "utf-16-le"),
    codecs.BOM_UTF16_BE: ("utf-16", "utf-16-be"),
}
"""Marks, in the order to try them: the encoding of the file, and that of its parts."""

LINE_ENDS = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}
LINE_END = re.compile(r"\r\n|\n|\r")

CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class FileEncoding:
    """How characters are bytes: `name` is for the option, `parts` decodes a part of the file.

    `reason` is why it is not taken for UTF-8, or "".
    """

    name: str
    parts: str
    bom: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TextSample:
    """The lines of a sample, without their ends, as far as they are whole.

    `lines` are those of the beginning, from line 1 on; `parts` are lines from later. `line_end` is
    LF, CRLF, CR or mixed, or "" if there is none.
    """

    encoding: FileEncoding
    line_end: str
    lines: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ()


def decode_sample(sample: FileSample) -> TextSample | None:
    """Decode a sample, or return None if it is not text."""
    encoding = _detect_encoding(sample)
    if encoding is None:
        return None
    head = _decode(sample.head, encoding.parts)
    if len(CONTROLS.findall(head[:4096])) > len(head[:4096]) // 50:
        return None
    ends = set(LINE_END.findall(head))
    line_end = LINE_ENDS[ends.pop()] if len(ends) == 1 else "mixed" if ends else ""
    lines = _split_lines(head)
    if not sample.whole and len(lines) > 1:
        lines = lines[:-1]
    parts = tuple(_split_part(_decode(part, encoding.parts)) for part in sample.parts)
    return TextSample(encoding, line_end, tuple(lines), parts)


def _detect_encoding(sample: FileSample) -> FileEncoding | None:
    head = sample.head
    for sign, (name, parts) in BOMS.items():
        if head.startswith(sign):
            return FileEncoding(name, parts, bom=True)
    if b"\x00" in head[:4096]:
        return _detect_wide(head[:4096])
    for data in (head, *sample.parts):
        text = data if data is head else data.lstrip(bytes(range(0x80, 0xC0)))
        try:
            codecs.getincrementaldecoder("utf-8")().decode(text)
        except UnicodeDecodeError as error:
            return _detect_single_byte(text, error.start, "" if data is head else "a later part")
    return FileEncoding("utf-8", "utf-8")


def _detect_wide(head: bytes) -> FileEncoding | None:
    """Recognise UTF-16 without a mark by its zeros."""
    even, odd, many = head[::2].count(0), head[1::2].count(0), len(head) // 4
    reason = "every second byte is 0"
    if odd > many and even < odd // 8:
        return FileEncoding("utf-16-le", "utf-16-le", reason=reason)
    if even > many and odd < even // 8:
        return FileEncoding("utf-16-be", "utf-16-be", reason=reason)
    return None


def _detect_single_byte(data: bytes, place: int, where: str) -> FileEncoding:
    """Take it for cp1252 where it has signs that latin-1 does not have, else for latin-1."""
    name = "cp1252" if any(0x80 <= byte < 0xA0 for byte in data) else "latin-1"
    number = data[:place].count(b"\n") + 1
    line = where or f"line {number}"
    around = data[max(place - 8, 0) : place + 8]
    before, after = around[: min(place, 8)], around[min(place, 8) :]
    text = (before.rpartition(b"\n")[2] + after.partition(b"\n")[0]).decode(name, "replace")
    reason = f"byte 0x{data[place]:02X} in {line} is not UTF-8; as {name} it is in {text.strip()!r}"
    return FileEncoding(name, name, reason=reason)


def _decode(data: bytes, encoding: str) -> str:
    """Decode; a character that is cut off at the end is left out."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    return decoder.decode(data).removeprefix("\ufeff")


def _split_lines(text: str) -> list[str]:
    """Split at CRLF, LF and CR alone; str.splitlines would take other signs too."""
    lines = LINE_END.split(text)
    return lines[:-1] if lines and not lines[-1] else lines


def _split_part(text: str) -> tuple[str, ...]:
    """Return the lines of a part that are whole."""
    return tuple(LINE_END.split(text)[1:-1])
