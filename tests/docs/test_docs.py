"""Every sample in the documentation runs and shows what it says; every link leads somewhere."""

import re
import shlex

import click
import pytest

from rtbot.cli.main import VERBS, program
from rtbot.core.error_codes import CODES
from tests import pages, samples
from tests.samples import DOCS, ROOT

WRITTEN = samples.written_pages()
ALONE = [page for page in WRITTEN if page != samples.ON_SPARK]
EVERY = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/README.md")),
    *sorted(DOCS.rglob("*.md")),
]
MADE = pages.make_pages()
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|a)[^>]* (?:src|href)=\"([^\"]+)\"")
ANCHOR = re.compile(r"<a id=\"([^\"]+)\">")
CODE_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"```.*?^```$|`([^`\n]*(?:\n[^`\n]+)*)`", re.DOTALL | re.MULTILINE)
SHELL = ("make", "pip", "git", "python", "spark-submit", "cd ", ". ", "#")
"""How lines of `sh` blocks begin: what a test does not run."""


def each(paths) -> list[pytest.param]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@pytest.mark.parametrize("page", each(page for page in ALONE if samples.find_blocks(page)))
def test_samples_show_what_they_say(page, tmp_path):
    with samples.enter_folder(tmp_path):
        for block, line, expected, shown in samples.run_page(page):
            place = f"{block.page}:{block.line}"
            assert samples.matches(expected, shown), f"{place}: $ {line}\n{shown}"
        made = {path.name: path.read_bytes() for path in tmp_path.rglob("*.svg")}
    assert made.keys() == samples.pictures_made(page)
    for name, drawn in made.items():
        kept = pages.PICTURES / name
        assert drawn == kept.read_bytes(), f"{name} is another now: look at it, and `make pages`"


def test_every_picture_is_made_by_a_page_and_shown_by_it():
    made = {name: page for page in WRITTEN for name in samples.pictures_made(page)}
    assert made.keys() == {path.name for path in pages.PICTURES.iterdir()}
    for name, page in made.items():
        assert f"pictures/{name}" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", each(MADE))
def test_a_made_page_is_up_to_date(page):
    assert page.read_text(encoding="utf-8") == MADE[page], "`make pages` writes it anew"


def test_no_made_page_is_left_over():
    assert set((DOCS / "operators").iterdir()) == {p for p in MADE if p.parent.name == "operators"}


@pytest.mark.parametrize("page", each(WRITTEN))
def test_commands_of_ours_are_run(page):
    for block in samples.find_blocks(page):
        if block.language == "console":
            assert block.text.startswith("$ rtbot "), f"{block.page}:{block.line}"
        elif block.language == "sh":
            for line in block.text.splitlines():
                begun = line.removeprefix(".venv/bin/")
                assert begun.startswith((*SHELL, " ")), f"{block.page}: {line}"
        else:
            assert not re.search(r"^\$ ", block.text, re.MULTILINE), f"{block.page}:{block.line}"


@pytest.mark.parametrize("page", each([*WRITTEN, DOCS / "operators" / "README.md"]))
def test_commands_in_sentences_exist(page):
    text = page.read_text(encoding="utf-8")
    spans = [" ".join(code.split()) for code in CODE.findall(text)]
    for span in spans:
        words = shlex.split(span, comments=True) if span.startswith("rtbot ") else []
        if len(words) > 1 and words[1] not in ("VERB", "--help", "--version"):
            assert words[1] in VERBS, f"`{span}`"
            command = program.get_command(click.Context(program), words[1])
            if "--help" not in words:
                command.make_parser(click.Context(command)).parse_args(words[2:])


@pytest.mark.parametrize("page", each(EVERY))
def test_links_lead_somewhere(page):
    for link in links(page):
        target, _, anchor = link.partition("#")
        there = (page.parent / target).resolve() if target else page
        assert there.is_relative_to(ROOT), f"{link} leads out of the project"
        assert there.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(there), f"{link}: there is no such place"


def links(page) -> list[str]:
    """The links of a page within the project, outside of code."""
    text = re.sub(CODE, "", page.read_text(encoding="utf-8"))
    found = ["".join(pair) for pair in LINK.findall(text)]
    return [link for link in found if not link.startswith(("https:", "http:"))]


def anchors(page) -> set[str]:
    """The places of a page: its headings, as GitHub names them, and those with a name."""
    text = re.sub(CODE_BLOCK, "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(ANCHOR.findall(text))


def test_every_page_is_found_from_the_first():
    found, waiting = set(), [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page.is_dir():
            waiting += page.glob("*.md")
        if page.suffix == ".md" and page not in found:
            found.add(page)
            waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
    assert set(EVERY) <= found


def test_the_index_lists_every_page():
    index = DOCS / "README.md"
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in links(index)}
    pages_there = {*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md"), *DOCS.glob("examples/*.md")}
    assert pages_there - {index} <= listed


def test_every_code_that_a_page_names_exists():
    for page in WRITTEN:
        named = set(re.findall(r"\bRT\d{3}\b", page.read_text(encoding="utf-8")))
        assert named <= set(CODES), page.name


@pytest.mark.parametrize(
    ("expected", "shown", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a...z\n", "a to z\n", True),
        ("a...z\n", "a\nz\n", False),
        ("1.5\n", "1x5\n", False),
        ("a  rows/s\nok  ... M\n", "a    rows/s\nok  124.9 M\n", True),
        ("a  rows/s\nok  ... M\n", "a rows/s\nok  9 M\n", False),
        ("a  b\n", "a   b\n", False),
    ],
)
def test_dots_stand_for_any_text(expected, shown, same):
    assert samples.matches(expected, shown) is same


def test_there_are_samples_of_every_language():
    languages = {block.language for page in WRITTEN for block in samples.find_blocks(page)}
    assert {"python", "yaml", "console", "sh"} <= languages


def test_every_test_that_a_page_names_is_there():
    named = {
        (page, found[0], found[1])
        for page in WRITTEN
        for found in re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page.read_text("utf-8"))
    }
    assert len(named) > 20
    for page, file, name in named:
        source = (ROOT / file).read_text("utf-8")
        assert f"\ndef {name}(" in source, (page.name, file, name)
