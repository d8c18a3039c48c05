"""Paths, modules and functions that pages for contributors name exist."""

import re

import pytest

from tests.project.test_imports import PACKAGES
from tests.samples import DOCS, ROOT

ARCHITECTURE = DOCS / "architecture.md"
PAGES = [ROOT / "CONTRIBUTING.md", ARCHITECTURE, ROOT / "tests" / "README.md"]
ELSEWHERE = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "operators"),
]
"""Pages that name a few paths; those of operators are generated."""

PATH = re.compile(r"\b(?:rtbot|spark_adapter|tests|benchmarks)/[\w/.]*\w")
MODULE = re.compile(r"\bpython -m\s+((?:tests|benchmarks)[\w.]*)")
FUNCTION = re.compile(r"^\|[^|]*\| `([\w/.]+\.py)` \| `([\w.]+)` \|", re.MULTILINE)


def find_missing(text):
    """The paths and modules of a text that do not exist."""
    modules = [name.replace(".", "/") for name in MODULE.findall(text)]
    found = {*PATH.findall(text), *modules}
    return {name for name in found if not any(map(exists, (name, f"{name}.py")))}


def exists(name):
    return (ROOT / name).exists()


@pytest.mark.parametrize("page", [*PAGES, *ELSEWHERE], ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page):
    text = page.read_text(encoding="utf-8")
    assert find_missing(text) == set()
    assert page not in PAGES or len(PATH.findall(text)) > 10


def test_a_missing_path_is_found():
    text = "`rtbot/core/errors.py`, `rtbot/herd.py`, `python -m tests.torture`, `-m tests.none`"
    assert find_missing(text) == {"rtbot/herd.py"}
    assert find_missing("run python -m tests.none now") == {"tests/none"}


def test_functions_of_the_way_are_in_their_files():
    rows = FUNCTION.findall(ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(rows) >= 15
    for path, name in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        *owner, function = name.split(".")
        assert f"def {function}(" in text, f"{path}: {name}"
        assert all(f"class {part}" in text for part in owner), f"{path}: {name}"


def test_the_tree_is_the_list_of_packages():
    block = re.search(r"```text\n(.*?)```", ARCHITECTURE.read_text(encoding="utf-8"), re.DOTALL)
    assert [line.split()[0] for line in block[1].splitlines()] == PACKAGES
