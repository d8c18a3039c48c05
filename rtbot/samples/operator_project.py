"""A project for a package of operators: its files, from `rtbot/starters/operators`."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files

NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "{module}/__init__.py": "",
    "{module}/operators.py": "operators.py.txt",
    "tests/test_operators.py": "test_operators.py.txt",
}
"""Files of a project and their templates."""


def name_module(name: str) -> str:
    """Return the name of the module of a package, "" if the name is none of a package."""
    module = re.sub(r"[._-]+", "_", name).lower()
    fits = NAME.fullmatch(name) and not keyword.iskeyword(module) and module != "rtbot"
    return module if fits else ""


def render_project(name: str) -> dict[str, str]:
    """Return the files of a project, by their paths in its folder."""
    module = name_module(name)
    assert module, f"{name!r} is no name of a package"
    folder = files("rtbot").joinpath("starters", "operators")
    found = {}
    for path, template in FILES.items():
        text = folder.joinpath(template).read_text("utf-8") if template else '"""{name}."""\n'
        for word, value in (("{name}", name), ("{module}", module)):
            text = text.replace(word, value)
        found[path.replace("{module}", module)] = text
    return found
