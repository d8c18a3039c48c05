"""Completion and history of the Datalog shell on a terminal, by Python's readline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TAKES_RELATIONS = ("insert", "remove", "print", "why")


def prepare_readline(commands: Sequence[str], relations: Sequence[str]) -> None:
    """Let the tab key complete commands and relations, and the arrows walk through history."""
    try:
        import readline
    except ImportError:  # systems without it have lines without completion
        return
    readline.set_completer(make_completer(commands, relations, readline.get_line_buffer))
    readline.set_completer_delims(" \t(),.;")
    readline.parse_and_bind("tab: complete")


def make_completer(
    commands: Sequence[str], relations: Sequence[str], get_line: Callable[[], str]
) -> Callable[[str, int], str | None]:
    """Return what gives the completions of a word, one after the other."""

    def complete(word: str, number: int) -> str | None:
        first, space, _ = get_line().lstrip().partition(" ")
        names = relations if space and first in TAKES_RELATIONS else ()
        names = names if space else commands
        found = [name for name in names if name.startswith(word)]
        return found[number] + ("" if space else " ") if number < len(found) else None

    return complete
