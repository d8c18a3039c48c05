"""The folder in which compiled code is kept: only one that nobody else can have written to.

numba reads what it finds there with pickle and runs it, so whoever can write there runs code as
this user. A folder is used only if it is this user's and closed to all others, as is what is in it,
and if every folder above it belongs to this user or to the administrator and cannot be written to
by others (a sticky one, such as /tmp, can: but nobody can replace another user's files there). Then
nobody else can put anything there, neither before the check nor after it.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG, S_ISVTX
from typing import TYPE_CHECKING

from rtbot.core import notices

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHERS_WRITE, OTHERS = 0o022, 0o077
COMPILED = "__pycache__"
"""The folder below in which numba keeps machine code."""


class UnsafeError(OSError):
    """A folder into which somebody else may have put code; the text is why."""


def folders() -> Iterator[Path]:
    """Yield the folders for generated modules, best first: the user's choice, or the usual ones.

    The last is a temporary one. There is none where the system has no users.
    """
    if not hasattr(os, "geteuid"):
        return
    chosen = os.environ.get("RTBOT_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    with suppress(OSError, RuntimeError):  # a user without a home, as in containers
        yield Path(chosen).absolute() if chosen else Path(base).expanduser().absolute() / "rtbot"
    with suppress(OSError):  # no temporary folder can be written to
        yield Path(tempfile.gettempdir()).absolute() / f"rtbot-{os.geteuid()}"


def usable(name: str) -> Iterator[Path]:
    """Yield the folders that may be read and written to, with what has this name in them."""
    for folder in folders():
        try:
            yield _prepared(folder, name)
        except UnsafeError as error:
            notices.warn_once(f"rtbot: compiled code is not kept in {folder}: {error}")
        except (OSError, ValueError):
            continue


def is_usable(path: Path) -> bool:
    """Return whether nobody else can have written to an existing folder."""
    try:
        _check_above(path)
        _check_folder(path)
    except UnsafeError as error:
        notices.warn_once(f"rtbot: compiled code is not kept in {path}: {error}")
        return False
    return True


def _prepared(folder: Path, name: str) -> Path:
    """Return the folder by a path without links, after making it if it is not there."""
    _make(folder.parent)
    place = Path(os.path.realpath(folder.parent)) / folder.name
    _check_above(place)
    for one in (place, place / COMPILED):
        _make(one)
        _check_folder(one)
    _check_files(place, name)
    return place


def _make(folder: Path) -> None:
    """Make a folder and those above it, closed to others; what is there stays as it is."""
    if not os.path.lexists(folder):
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _check_folder(path: Path) -> None:
    """Raise UnsafeError unless a folder is this user's alone; what others could read is closed."""
    found = path.lstat()
    if not S_ISDIR(found.st_mode):
        raise UnsafeError(f"{path} is not a folder" + " but a link" * S_ISLNK(found.st_mode))
    if found.st_uid != os.geteuid():
        raise UnsafeError(f"{path} belongs to another user")
    if found.st_mode & OTHERS_WRITE:
        mode = f"its mode is {S_IMODE(found.st_mode):o}"
        raise UnsafeError(f"others can have written to {path} ({mode}); remove it")
    if found.st_mode & OTHERS:
        path.chmod(0o700)


def _check_above(path: Path) -> None:
    """Raise UnsafeError if another user could put another folder in the place of this one."""
    for folder in path.parents:
        found = folder.lstat()
        if found.st_uid not in (0, os.geteuid()):
            raise UnsafeError(f"{folder} belongs to another user")
        if found.st_mode & OTHERS_WRITE and not found.st_mode & S_ISVTX:
            raise UnsafeError(f"others can write to {folder}")


def list_files(folder: Path, module: str, name: str, suffix: str = "") -> Iterator[Path]:
    """Return numba's files in a folder of a function of a module, both by their names."""
    return folder.glob(f"{module}.{name}-*{suffix}")


def _check_files(folder: Path, name: str) -> None:
    """Raise UnsafeError if a file of this name, or compiled from it, is not this user's."""
    found = [entry for place in (folder, folder / COMPILED) for entry in place.glob(f"{name}*")]
    for path in found:
        stat = path.lstat()
        if not S_ISREG(stat.st_mode) or stat.st_uid != os.geteuid():
            raise UnsafeError(f"{path} is not a file of this user")
