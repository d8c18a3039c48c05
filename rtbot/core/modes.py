"""When generated code is compiled: before the first row, beside the run, or never."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rtbot.core import notices

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES = NOW, BESIDE, NEVER = "now", "beside", "never"
VARIABLE = "RTBOT_COMPILE"

_chosen: list[str] = []


def choose_mode(wanted: bool | str | None = None, default: str = BESIDE) -> str:
    """Return the mode; True is now, False is never.

    None is what `use_mode` says, else the environment: RTBOT_INTERPRET=1 is never, RTBOT_COMPILE
    names a mode. Raises ValueError for another text.
    """
    if wanted is None:
        return _chosen[-1] if _chosen else _read_environment() or default
    if isinstance(wanted, bool):
        return NOW if wanted else NEVER
    if wanted not in MODES:
        raise ValueError(f"compiled is {', '.join(MODES)}, True or False, not {wanted!r}")
    return wanted


@contextmanager
def use_mode(mode: str | None) -> Iterator[None]:
    """Let a mode be that of all threads inside the block that name none; None changes nothing."""
    if mode is None:
        yield
        return
    _chosen.append(mode)
    try:
        yield
    finally:
        _chosen.remove(mode)


def _read_environment() -> str | None:
    if os.environ.get("RTBOT_INTERPRET") == "1":
        return NEVER
    found = os.environ.get(VARIABLE)
    if found and found not in MODES:
        notices.warn_once(f"rtbot: {VARIABLE} is {', '.join(MODES)}, not {found!r}: ignored")
        return None
    return found or None
