"""Versions of installed packages, from the names of folders: `importlib.metadata` takes long."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def find_version(name: str) -> str:
    """Return the version of an installed package, which is not imported for it.

    Raises PackageNotFoundError (an ImportError) if it is not installed.
    """
    spec = find_spec(name)
    found = [
        folder.name.removesuffix(".dist-info").partition("-")[2]
        for place in (spec and spec.submodule_search_locations) or ()
        for folder in Path(place).parent.glob(f"{name}-*.dist-info")
    ]
    if len(found) == 1:
        return found[0]
    from importlib.metadata import version

    return version(name)
