"""The target of a path, who has created it, and the names of files that are to replace it.

In a folder that others can write to, a path may lead to anything by the time it is opened.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from errno import EEXIST, ELOOP, EPERM
from pathlib import Path
from stat import S_IMODE, S_ISREG, S_IWOTH
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

PART = re.compile(r"\.[0-9a-f]{16}\.part")
"""Suffix of the name of a file that is written beside the one which it replaces at the end."""

LINKS_MAX = 40
"""Links that are followed one after the other, as on Linux."""


NAME_BYTES = 200
"""Names of files have 255 bytes at most, and that of a part is longer than that of its place."""


def part_of(place: str) -> str:
    """Return a name, which nobody can guess, for what is to replace the file at this place."""
    return f"{beginning_of(place)}.{os.urandom(8).hex()}.part"


def beginning_of(place: str) -> str:
    """Return the prefix of the names of what is to replace the file at a place."""
    name = Path(place).name
    return place if len(os.fsencode(name)) <= NAME_BYTES else str(Path(place).parent / name[:40])


def place_of(path: str) -> str:
    """Return the file that a path leads to, there or not.

    Raises OSError for a link of another user in a folder that everybody can write to. (Linux does
    not follow those either; but here a link is looked at and not followed by the system.)
    """
    place = path
    for _ in range(LINKS_MAX):
        if not Path(place).is_symlink():
            return place
        if is_foreign(Path(place).lstat(), place):
            raise OSError(EPERM, "a link that another user has put there; remove it", place)
        place = str(Path(place).parent / Path(place).readlink())
    raise OSError(ELOOP, os.strerror(ELOOP), path)


def check_own(number: int, path: str) -> None:
    """Raise OSError if an open file could have been put there to be overwritten."""
    found = os.fstat(number)
    if not S_ISREG(found.st_mode):
        raise OSError(EEXIST, "there is something else than a file", path)
    if found.st_nlink > 1:
        raise OSError(EEXIST, "this file has another name too, a hard link; make a copy", path)
    if is_foreign(found, path):
        raise OSError(EPERM, "a file that another user has put there; remove it", path)


def is_foreign(found: os.stat_result, path: str) -> bool:
    """Return whether another user has put this into a folder writable by everybody."""
    folder = Path(path).absolute().parent.stat()
    is_own = found.st_uid in (os.geteuid(), folder.st_uid) if hasattr(os, "geteuid") else True
    return not is_own and bool(folder.st_mode & S_IWOTH)


def keep_mode(file: BinaryIO, place: str) -> None:
    """Give a new file the permissions of the one that it is to replace, if that is there."""
    with suppress(FileNotFoundError):
        mode = S_IMODE(Path(place).lstat().st_mode) & 0o777
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
