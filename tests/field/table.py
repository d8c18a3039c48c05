"""Files in formats of the field: what each looks like, and the page that lists them."""

import tomllib
from pathlib import Path

from rtbot.look.explain_errors import list_traits
from rtbot.look.file_sample import sample_bytes
from rtbot.look.look_at_file import look_at_sample

FORMATS = tomllib.loads((Path(__file__).parent / "formats.toml").read_text("utf-8"))["format"]
HEAD = """\
# Formats of the field

Files as other programs write them, and what [`rtbot look`](look.md) finds in each, without any
option. The rows are a few lines in the form of the real files; a test reads them with the options
that are found, and this table is made of the same data. `rtbot look FILE` prints the options for
your file, and so does every error about a file that is written otherwise than the options say.

| format | looks like | what is not certain, or not read |
|---|---|---|
"""


def find(one):
    """The facts of a file."""
    return look_at_sample(one["file"], sample_bytes(encode(one)))


def encode(one):
    """The bytes of a file."""
    return one["text"].encode(one.get("encoding", "utf-8"))


def page():
    """The page that lists the formats."""
    return HEAD + "".join(map(line, sorted(FORMATS, key=lambda one: one["name"].lower())))


def line(one):
    facts = find(one)
    traits = ", ".join(list_traits(facts)) or "needs no option"
    told = [*facts.obstacles, *facts.doubts]
    if facts.obstacles:
        traits = f"**not read**: {facts.obstacles[0]}" if facts.time is None else traits
        told = [] if facts.time is None else told
    cells = (one["name"], traits, "; ".join(told))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
