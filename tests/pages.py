"""Pages that are made: operators, error codes, pictures. `python -m tests.pages` renews them."""

import shutil
import tempfile
from pathlib import Path

from rtbot.core.error_codes import CODES
from rtbot.explain import (
    format_signature,
    group_operators,
    list_names,
    read_summary,
    render_operator_page,
)
from rtbot.explain.error_pages import PageBlock, read_body, read_title, split_page
from rtbot.explain.example_run import draw_example
from tests import samples
from tests.field.table import page as field_page
from tests.samples import DOCS

OPERATORS, PICTURES, ERRORS = DOCS / "operators", DOCS / "pictures", DOCS / "errors.md"
FILES = DOCS / "files-table.md"
MADE_FROM = "<!-- Made by `make pages` from {}. -->\n\n"
BACK = "\n[All operators](README.md) · [The graph file](../graph-file.md)\n"
OPERATORS_HEAD = """\
# Operators

Every `type` of [a graph file](../graph-file.md). `rtbot ops` lists them in a terminal, `rtbot
doc OPERATOR` shows one. A formula needs none of them: see
[expressions](../graph-file.md#expressions). For what is missing here, write [an operator of your
own](../custom-operators.md).
"""
ERRORS_HEAD = """\
# Error codes

Every message names a code, and a code keeps its meaning. `rtbot explain RT103` shows the same in a
terminal. Most have files that cause the error, the message, and the corrected files.
"""
SECTIONS = {
    "RT1": ("Graphs", "Exit code 3. All problems of a graph are reported together."),
    "RT19": ("Warnings", "A graph with warnings runs. They go to stderr."),
    "RT2": ("Data", "Exit code 4. The message has the file, the row and the column."),
    "RT3": (
        "Sessions, limits, dumps and checkpoints",
        "Exit code 4 for sessions, 5 for dumps and checkpoints, 6 for limits.",
    ),
    "RT4": (
        "Change streams",
        "Exit code 4. The transaction has no effect, and the session goes on behind it.",
    ),
    "RT5": (
        "Datalog",
        "Exit code 3 for a program, which is checked whole; 4 for a commit, which has no effect.",
    ),
}
"""Codes by how they begin; the longest beginning counts."""


def make_pages() -> dict[Path, str]:
    """Every made page and its text."""
    operators = [operator for family in group_operators().values() for operator in family]
    pages = {OPERATORS / f"{operator.__name__}.md": make_page(operator) for operator in operators}
    pages |= {OPERATORS / f"{cls.__name__}.svg": draw_example(cls) for cls in operators}
    pages |= {OPERATORS / "README.md": operator_index(), ERRORS: errors()}
    return pages | {FILES: MADE_FROM.format("tests/field/formats.toml") + field_page()}


def make_page(operator: type) -> str:
    source = operator.__module__.replace(".", "/")
    text = render_operator_page(operator, f"{operator.__name__}.svg")
    return MADE_FROM.format(f"{source}.py") + text + BACK


def operator_index() -> str:
    """The operators by subject, a line each."""
    text = MADE_FROM.format("rtbot/operators") + OPERATORS_HEAD
    for subject, operators in group_operators().items():
        text += f"\n## {subject}\n\n| operator | from, to | meaning |\n|---|---|---|\n"
        for operator in operators:
            name, *aliases = list_names(operator)
            links = ", ".join([f"[{name}]({name}.md)", *(f"`{alias}`" for alias in aliases)])
            text += f"| {links} | {format_signature(operator)} | {read_summary(operator)} |\n"
    return text


def errors() -> str:
    """All codes on one page: a list, then the text of each."""
    sections: dict[str, list[str]] = {beginning: [] for beginning in SECTIONS}
    for code in CODES:
        sections[max(filter(code.startswith, SECTIONS), key=len)].append(code)
    index = texts = ""
    for beginning, codes in sections.items():
        heading, told = SECTIONS[beginning]
        index += f"\n**{heading}**\n\n"
        index += "".join(f"- [{code}](#{code.lower()}): {CODES[code]}\n" for code in codes)
        texts += f"\n## {heading}\n\n{told}\n" + "".join(map(error, codes))
    return MADE_FROM.format("rtbot/pages") + ERRORS_HEAD + index + texts


def error(code: str) -> str:
    """The text of a code, below a place to link to."""
    text = "\n\n".join(map(format_part, split_page(read_body(code))))
    return f'\n<a id="{code.lower()}"></a>\n\n### {read_title(code)}\n\n{text}\n'


def format_part(part: str | PageBlock) -> str:
    """A paragraph, or a block below the name of the file that it is."""
    if isinstance(part, str):
        return part
    name = f"`{part.file}`{', wrong' if part.wrong else ''}:\n\n" if part.file else ""
    return f"{name}```{part.language}\n{part.text}```"


def pictures() -> dict[Path, bytes]:
    """Every picture that commands of pages make."""
    found = {}
    for page in filter(samples.pictures_made, samples.written_pages()):
        with tempfile.TemporaryDirectory() as folder, samples.enter_folder(Path(folder)):
            for _block, line, expected, told in samples.run_page(page):
                if not samples.matches(expected, told):
                    print(f"{page.name} does not show what this does: $ {line}")
            found |= {PICTURES / path.name: path.read_bytes() for path in Path().rglob("*.svg")}
    return found


def main() -> None:
    """Write the pages and the pictures in place of those that are there."""
    made = {path: text.encode() for path, text in make_pages().items()} | pictures()
    for folder in (OPERATORS, PICTURES):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for path, data in made.items():
        path.write_bytes(data)


if __name__ == "__main__":
    main()
