"""The account of a run as a table: what came in at every port, and where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from rtbot.core.aligned_text import align_cells
from rtbot.core.notices import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HEADER = ("", "in", "consumed", "held", "lost", "unmatched")
"""Titles of the account; the last column is there only if an as-of join found no match."""

AT_LEFT = ("", "lost")
LOSSES = ("late", "duplicate", "tied", "domain", "null")
"""Reasons that fail a run under --strict, as bad rows do; `unmatched` does under --strict=all."""


def show_account(account: Mapping[str, Any], stream: TextIO) -> None:
    """Print the account; in colour where the stream is a terminal."""
    rows = [HEADER, *list_account_rows(account)]
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    if stream.isatty():
        _show_rich(rows, stream)
    else:
        right = [title not in AT_LEFT for title in rows[0]]
        stream.write("\n".join(align_cells(rows, right)) + "\n")
    totals = ", ".join(f"{name} {rows:,}" for name, rows in account["outputs"].items())
    stream.write(f"rows out: {totals}\n")
    bad = account.get("bad", {}).items()
    stream.writelines(f"bad rows left out: {count:,} of {printable(file)}\n" for file, count in bad)


def list_account_rows(account: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row of cells per input and per port of an operator."""
    for name, entry in account["inputs"].items():
        yield _make_row(name, entry)
    for operator, ports in account["operators"].items():
        for port, entry in ports.items():
            yield _make_row(f"{operator}.{port}", entry)


def sum_losses(account: Mapping[str, Any], *, unmatched: bool) -> dict[str, int]:
    """Sum up what was lost, by reason; only what --strict forbids."""
    bad = sum(account.get("bad", {}).values())
    found = {"bad": bad} if bad else {}
    for entry in _entries(account):
        for reason, count in entry["lost"].items():
            if reason in LOSSES or (unmatched and reason == "unmatched"):
                found[reason] = found.get(reason, 0) + count
    return found


def without_match(account: Mapping[str, Any]) -> int:
    """Sum up the messages that found no match in an as-of join: not lost, but beside a null."""
    return sum(entry.get("unmatched", 0) for entry in _entries(account))


def _entries(account: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from account["inputs"].values()
    for ports in account["operators"].values():
        yield from ports.values()


def _make_row(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    lost = ", ".join(f"{reason} {count:,}" for reason, count in entry["lost"].items())
    unmatched = f"{entry['unmatched']:,}" if "unmatched" in entry else ""
    return name, *(f"{entry[column]:,}" for column in HEADER[1:4]), lost, unmatched


def _show_rich(rows: Sequence[Sequence[str]], stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for title in rows[0]:
        table.add_column(title, justify="left" if title in AT_LEFT else "right")
    for row in rows[1:]:
        yellow = [f"[yellow]{cell}[/yellow]" if cell else "" for cell in row[4:]]
        table.add_row(*row[:4], *yellow)
    Console(file=stream).print(table)
