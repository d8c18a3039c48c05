"""The pages of error codes: texts in `rtbot/pages`, one per code, in Markdown.

A page explains what a code means and how to fix the error. Its fenced blocks are files and
commands, distinguished by the words behind the fence: the language, `wrong` for what gives the
error, and a name where it is not `graph.yaml` or `data.csv`. A `text` block is a command with its
output on the wrong files; an `sh` block is the command for the fixed ones, where it is another.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rtbot.core.error_codes import CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FENCE = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)^```\n", re.MULTILINE)
FILES = {"yaml": "graph.yaml", "csv": "data.csv"}


@dataclass(frozen=True)
class PageBlock:
    """A fenced block of a page."""

    language: str
    words: tuple[str, ...]
    text: str

    @property
    def wrong(self) -> bool:
        """Whether it belongs to what gives the error, and not to the fixed files."""
        return "wrong" in self.words

    @property
    def file(self) -> str | None:
        """The name of the file that it is, if it is one."""
        named = (word for word in self.words if "." in word)
        return next(named, FILES.get(self.language))

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode("latin-1" if "latin-1" in self.words else "utf-8")


def read_body(code: str) -> str:
    """Return the text of the page, without its title."""
    return files("rtbot").joinpath("pages", f"{code}.md").read_text("utf-8")


def read_title(code: str) -> str:
    """Return the title of the page."""
    return f"{code}: {CODES[code]}"


def split_page(text: str) -> Iterator[str | PageBlock]:
    """Yield paragraphs and blocks in their order."""
    end = 0
    for found in FENCE.finditer(text):
        yield from _split_paragraphs(text[end : found.start()])
        yield PageBlock(found[1], tuple(found[2].split()), found[3])
        end = found.end()
    yield from _split_paragraphs(text[end:])


def render_error_page(code: str) -> str:
    """Return the page of a code as Markdown."""
    return f"# {read_title(code)}\n\n{read_body(code)}"


def format_error_page(code: str, width: int, bold: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the lines of a page for a terminal; what is quoted is not wrapped."""
    yield bold(read_title(code))
    for part in split_page(read_body(code)):
        yield ""
        if isinstance(part, str):
            yield from textwrap.wrap(part, width, break_on_hyphens=False)
            continue
        if part.file is not None:
            yield f"    # {part.file}{', wrong' if part.wrong else ''}"
        for line in part.text.rstrip().splitlines():
            yield f"    {line}".rstrip()


def describe_error(code: str) -> dict[str, Any]:
    """Return the page as data of the types of JSON."""
    found: dict[str, Any] = {"code": code, "title": CODES[code], "text": []}
    found |= {"wrong": {}, "message": "", "right": {}, "python": []}
    for part in split_page(read_body(code)):
        if isinstance(part, str):
            found["text"].append(part)
        elif part.language == "text":
            found["message"] = part.text
        elif part.language == "python":
            found["python"].append(part.text)
        elif part.file is not None:
            found["wrong" if part.wrong else "right"][part.file] = part.text
    return found


def _split_paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.strip():
            yield " ".join(paragraph.split())
