"""Text of pairings: the only place where streams with different times meet.

Each port has a role. Time t is decided for a key when every `must` port has a row at t and nothing
at or before t can still come on the `may` and `last` ports.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rtbot.compiler.calls import Signature
from rtbot.compiler.generated_text import format_function, indent_lines
from rtbot.compiler.pairing_layout import (
    ENDING,
    FIRST,
    FLOOR,
    HELD,
    LAST,
    LOST,
    QUEUE,
    SHIFT,
    WATCHED,
    count_key_words,
    count_latest_words,
    list_widths,
    locate_tolerance,
    locate_word,
    name_store,
)
from rtbot.compiler.pairing_rows import LatestRowCode, RowQueueCode, number_columns

if TYPE_CHECKING:
    from rtbot.compiler.pairing_layout import PairingPort
    from rtbot.operator import Type


class PairingWriter:
    """Writes the function of one pairing."""

    def __init__(self, name: str, ports: list[PairingPort]) -> None:
        self.name = name
        self.ports = ports
        self.every = list(range(len(ports)))
        self.must = [k for k, p in enumerate(ports) if p.role == "must"]
        self.others = [k for k, p in enumerate(ports) if p.role != "must"]
        self.columns = number_columns(ports)
        self.rows = [RowQueueCode(k, ports) for k in self.every]
        self.latest: list[LatestRowCode] = []
        offset = QUEUE * len(ports)
        for k, port in enumerate(ports):
            self.latest += [LatestRowCode(k, ports, offset)] if port.role == "last" else []
            offset += count_latest_words(port)
        self.parts: list[RowQueueCode | LatestRowCode] = [*self.rows, *self.latest]

    def write_signature(self) -> Signature:
        """Return the name and the parameters of the function; `reads` is in the order of ports."""
        reads: list[str] = []
        frontiers = ["out_frontier", "out_pinned"]
        pool = ["Q", "QF", "header"]
        for store in range(len(list_widths(self.ports))):
            arrays = ("pool_time", "pool_F", "pool_I", "pool_valid", "pool_next")
            pool += [name_store(name, store) for name in arrays]
        writes = ["out_starts", "out_time"]
        for k in self.every:
            reads += [f"starts{k}", f"time{k}"]
            for c, type_, out in self._list_columns(k):
                reads += [f"column{c}", f"valid{c}"] if type_.nullable else [f"column{c}"]
                writes += [f"out{c}", f"out_valid{c}"] if out.nullable else [f"out{c}"]
            frontiers += [f"frontier{k}", f"pinned{k}"]
            pool += [f"heap_time{k}", f"heap_slot{k}", f"watch{k}"]
        names = ["runs", "slots", *reads, *frontiers, *pool, *writes]
        return Signature(self.name, names, reads, writes)

    def _list_columns(self, k: int) -> list[tuple[int, Type, Type]]:
        """Return the columns of a port: their numbers, types, and types after pairing."""
        port = self.ports[k]
        return list(zip(self.columns[k], port.types, port.outs, strict=True))

    def write_function(self) -> tuple[Signature, str]:
        """Write the function."""
        lines = [
            *self._write_opening(),
            "for run in range(runs):",
            *indent_lines(self._write_run(), 1),
            *self._write_closing(),
            "return m",
        ]
        function = self.write_signature()
        return function, format_function(function, lines)

    def _write_opening(self) -> list[str]:
        lines = ["m = 0", "out_starts[0] = 0", f"width = {count_key_words(self.ports)}"]
        lines += [f"ending = header[{ENDING}] != 0"]
        for k in self.every:
            lines += [f"floor{k} = header[{locate_word(k, FLOOR)}]"]
            lines += [f"shift{k} = header[{locate_word(k, SHIFT)}]"]
            lines += [f"lost{k} = 0", f"held{k} = 0"]
        if self.latest:
            lines.append(f"tolerance = header[{locate_tolerance(len(self.ports))}]")
        return lines

    def _write_closing(self) -> list[str]:
        lines = []
        for k in self.every:
            lines += [f"header[{locate_word(k, LOST)}] += lost{k}"]
            lines += [f"header[{locate_word(k, HELD)}] += held{k}"]
        return lines

    def _write_run(self) -> list[str]:
        """Write the handling of all rows of one key."""
        lines = ["slot = slots[run]", "q = slot * width"]
        for part in self.parts:
            lines += part.load()
        if len(self.must) == len(self.ports) == 2:
            lines += self._write_two_must()
        lines += [
            "while True:",
            *indent_lines(self._write_decision(), 1),
            "out_starts[run + 1] = m",
        ]
        for part in self.parts:
            lines += part.keep()
        return lines + self._write_frontier()

    # ---- what is decided

    def _write_two_must(self) -> list[str]:
        """Write the plain case: two columns side by side with nothing waiting."""
        emit = ["out_time[m] = time0[r0]"]
        for k in self.every:
            for c, type_, _ in self._list_columns(k):
                emit.append(f"out{c}[m] = column{c}[r{k}]")
                emit += [f"out_valid{c}[m] = valid{c}[r{k}]"] if type_.nullable else []
        return [
            "if left0 == 0 and left1 == 0:",
            "    while r0 < e0 and r1 < e1:",
            "        if time0[r0] == time1[r1]:",
            *indent_lines([*emit, "m += 1", "r0 += 1", "r1 += 1"], 3),
            "        else:",
            "            before = time0[r0] < time1[r1]",
            "            lost0 += before",
            "            r0 += before",
            "            lost1 += not before",
            "            r1 += not before",
            *indent_lines(self.rows[0].front() + self.rows[1].front(), 1),
        ]

    def _write_decision(self) -> list[str]:
        """Write one time: find it, wait for any port that may still have a row at it, emit."""
        lines = self._write_candidate() if self.must else self._write_earliest()
        for k in self.others:
            lines += [
                f"if f{k} < t or (f{k} == {FIRST} and not has{k}):",
                *indent_lines(self._write_timer(k, "t"), 1),
                "    break",
            ]
        lines += ["out_time[m] = t"]
        for k in self.every:
            lines += self._write_emit(k)
        return [*lines, "m += 1"]

    def _write_candidate(self) -> list[str]:
        """Write the earliest time that all must ports may share; earlier rows match nothing."""
        lines = [f"t = {FIRST}", "over = False", "waits = -1", "ready = True"]
        for k in self.must:
            lines += [
                f"if has{k}:",
                f"    t = max(t, t{k})",
                f"elif f{k} == {LAST}:",
                "    over = True",
                f"elif f{k} >= t and f{k} > {FIRST}:",
                f"    t = f{k} + 1",
            ]
        lines += ["moved = False"]
        for k in self.must:
            drop = [f"lost{k} += 1", "moved = True", *self.rows[k].pop()]
            lines += [f"while has{k} and (over or t{k} < t):", *indent_lines(drop, 1)]
            lines += [f"if not has{k}:", "    ready = False", f"    waits = {k}"]
        lines += ["if moved and not over:", "    continue"]
        for k in self.others:
            lines += self._write_pass_by(k)
        lines += ["if over:", "    break", "if not ready:", *indent_lines(self._write_wait(), 1)]
        return [*lines, "    break"]

    def _write_pass_by(self, k: int) -> list[str]:
        """Write what passes by rows of a may or last port that are before the candidate."""
        if self.ports[k].role == "may":
            drop = [f"lost{k} += 1", *self.rows[k].pop()]
            return [f"while has{k} and (over or t{k} < t):", *indent_lines(drop, 1)]
        take = [f"known{k} = True", f"known_time{k} = t{k}"]
        take += self.rows[k].values("known_value#", "known_valid#")
        take += self.rows[k].pop()
        return [f"while has{k} and (over or t{k} <= t):", *indent_lines(take, 1)]

    def _write_wait(self) -> list[str]:
        """Write the timer: when the port that lacks a row has passed the earliest waiting row."""
        lines = [f"wake = {LAST}"]
        for k in self.every:
            lines += [f"if has{k} and t{k} < wake:", f"    wake = t{k}"]
        for k in self.must:
            lines += [f"if waits == {k}:", *indent_lines(self._write_timer(k, "wake"), 1)]
        return lines

    def _write_earliest(self) -> list[str]:
        lines = ["any_row = False", "t = 0"]
        for k in self.every:
            lines += [f"if has{k} and (not any_row or t{k} < t):"]
            lines += [f"    t = t{k}", "    any_row = True"]
        return [*lines, "if not any_row:", "    break"]

    def _write_timer(self, k: int, t: str) -> list[str]:
        place = locate_word(k, WATCHED)
        return [f"watch(heap_time{k}, heap_slot{k}, watch{k}, header, {place}, slot, {t})"]

    def _write_emit(self, k: int) -> list[str]:
        port = self.ports[k]
        take = [*self.rows[k].values("out#[m]", "out_valid#[m]"), *self.rows[k].pop()]
        if port.role == "must":
            return take
        none: dict[int, list[str]] = {}
        for c, type_, _ in self._list_columns(k):
            zero = {"number": "math.nan", "boolean": "False"}.get(type_.kind, "0")
            none[c] = [f"    out{c}[m] = {zero}", f"    out_valid{c}[m] = False"]
        if port.role == "may":
            absent = itertools.chain(*none.values())
            return [f"if has{k} and t{k} == t:", *indent_lines(take, 1), "else:", *absent]
        lines = [
            f"matched = known{k} and near(t, known_time{k}, tolerance)",
            f"lost{k} += not matched",
        ]
        for c, absent_cell in none.items():
            lines += [
                f"if matched and known_valid{c}:",
                f"    out{c}[m] = known_value{c}",
                f"    out_valid{c}[m] = True",
                "else:",
                *absent_cell,
            ]
        return lines

    # ---- the frontier of what comes out: just before the earliest time that may be decided next

    def _write_frontier(self) -> list[str]:
        """Write the frontier: with must ports the latest of their next times, else the earliest."""
        decisive, start = (self.must, FIRST) if self.must else (self.every, LAST)
        choose, further = ("max", ">") if self.must else ("min", "<")
        lines = [f"t = {start}"]
        for k in decisive:
            lines += [
                f"if left{k} > 0:",
                f"    t = {choose}(t, max(t{k}, {FIRST + 1}) - 1)",
                f"elif f{k} {further} t:",
                f"    t = f{k}",
            ]
        waiting = " or ".join(f"left{k} > 0 or pinned{k}[slot] != 0" for k in decisive)
        return [
            *lines,
            "out_frontier[slot] = max(out_frontier[slot], t)",
            f"out_pinned[slot] = 1 if {waiting} else 0",
        ]
