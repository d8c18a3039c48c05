"""Text of pairings: the only place where streams with different times meet.

Each port has a role. Time t is decided for a key when every `must` port has a row at t and nothing at
or before t can still come on the `may` and `last` ports. Rows that wait lie in lists of small blocks,
all keys and ports of a pairing in one pool, so that a push costs the same whatever waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtbot.operator import Type, step

BLOCK = 8
"""Rows per block of the pool: one cache line of times."""
FIRST, LAST = -(2**63), 2**63 - 1
QUEUE = 5
"""Words per key and port: head block, place in it, tail block, rows in it, rows waiting."""
LATEST = 4
"""Words per key and `last` port: its latest row's presence, time, valid flag and value."""

FREE, FRESH, ENDING = 0, 1, 2
PORT_WORDS = 5
FLOOR, SHIFT, LOST, HELD, WATCHED = 0, 1, 2, 3, 4
"""Words of a pairing's header: free list, first unused block, ending; then these of every port."""


@dataclass(frozen=True)
class Port:
    """A port of a pairing: what comes in, and its role; `tolerance` is a word of the header."""

    name: str
    type: Type
    role: str

    @property
    def out(self) -> Type:
        """The type after pairing."""
        return self.type if self.role == "must" else self.type.or_null()


def header_place(port: int, word: int) -> int:
    """Index of a port's word in the header."""
    return 3 + port * PORT_WORDS + word


def tolerance_place(ports: int) -> int:
    """Index of the tolerance in the header."""
    return 3 + ports * PORT_WORDS


def width(ports: list[Port]) -> int:
    """Words per key."""
    return QUEUE * len(ports) + LATEST * sum(p.role == "last" for p in ports)


class Pair:
    """Writes the function of one pairing."""

    def __init__(self, name: str, ports: list[Port]) -> None:
        self.name = name
        self.ports = ports
        self.must = [k for k, p in enumerate(ports) if p.role == "must"]
        self.others = [k for k, p in enumerate(ports) if p.role != "must"]
        self.last = [k for k, p in enumerate(ports) if p.role == "last"]

    def parameters(self) -> list[str]:
        """Names of the function's parameters, in the order in which the runtime hands them over."""
        names = ["runs", "slots"]
        for k, port in enumerate(self.ports):
            names += [f"starts{k}", f"time{k}", f"column{k}"]
            names += [f"valid{k}"] if port.type.nullable else []
            names += [f"frontier{k}", f"pinned{k}"]
        names += ["Q", "QF", "header", "pool_time", "pool_F", "pool_I", "pool_valid", "pool_next"]
        for k in range(len(self.ports)):
            names += [f"heap_time{k}", f"heap_slot{k}", f"watch{k}"]
        names += ["out_frontier", "out_pinned", "out_starts", "out_time"]
        for k, port in enumerate(self.ports):
            names += [f"out{k}"] + ([f"out_valid{k}"] if port.out.nullable else [])
        return names

    def text(self) -> str:
        """The function."""
        lines = [f"def {self.name}({', '.join(self.parameters())}):"]
        opening = ["m = 0", "out_starts[0] = 0", f"width = {width(self.ports)}"]
        opening += [f"ending = header[{ENDING}] != 0"]
        for k in range(len(self.ports)):
            opening += [f"floor{k} = header[{header_place(k, FLOOR)}]"]
            opening += [f"shift{k} = header[{header_place(k, SHIFT)}]"]
            opening += [f"lost{k} = 0", f"held{k} = 0"]
        if self.last:
            opening.append(f"tolerance = header[{tolerance_place(len(self.ports))}]")
        body = self._begin_run()
        if len(self.must) == len(self.ports) == 2:
            body += self._two_must()
        body += ["while True:", *indent(self._decide(), 1)]
        body += self._end_run()
        closing = []
        for k in range(len(self.ports)):
            closing += [f"header[{header_place(k, LOST)}] += lost{k}"]
            closing += [f"header[{header_place(k, HELD)}] += held{k}"]
        lines += indent(opening, 1)
        lines += ["    for run in range(runs):", *indent(body, 2)]
        lines += indent([*closing, "return m"], 1)
        return "\n".join(lines) + "\n"

    # ---- one port's list

    def _begin_run(self) -> list[str]:
        lines = ["slot = slots[run]", "q = slot * width"]
        for k in range(len(self.ports)):
            lines += [
                f"f{k} = frontier_at(frontier{k}[slot], pinned{k}[slot], floor{k}, shift{k}, ending)",
                f"r{k} = starts{k}[run]",
                f"e{k} = starts{k}[run + 1]",
                f"left{k} = Q[q + {QUEUE * k + 4}]",
                f"held{k} -= left{k}",
                f"block{k} = Q[q + {QUEUE * k}]",
                f"at{k} = Q[q + {QUEUE * k + 1}]",
            ]
            lines += self._front(k)
        for number, k in enumerate(self.last):
            place = f"q + {self._latest(number)}"
            kind = self.ports[k].type.kind
            lines += [
                f"known{k} = Q[{place}] != 0",
                f"known_time{k} = Q[{place} + 1]",
                f"known_valid{k} = Q[{place} + 2] != 0",
                f"known_value{k} = {'QF' if kind == 'number' else 'Q'}[{place} + 3]"
                + (" != 0" if kind == "boolean" else ""),
            ]
        return lines

    def _latest(self, number: int) -> int:
        return QUEUE * len(self.ports) + LATEST * number

    def _front(self, k: int) -> list[str]:
        return [
            f"has{k} = True",
            f"t{k} = 0",
            f"if left{k} > 0:",
            f"    t{k} = pool_time[block{k} * {BLOCK} + at{k}]",
            f"elif r{k} < e{k}:",
            f"    t{k} = time{k}[r{k}]",
            "else:",
            f"    has{k} = False",
        ]

    def _pop(self, k: int) -> list[str]:
        return [
            f"if left{k} > 0:",
            f"    left{k} -= 1",
            f"    at{k} += 1",
            f"    if left{k} == 0 or at{k} == {BLOCK}:",
            f"        following = pool_next[block{k}]",
            f"        pool_next[block{k}] = header[{FREE}]",
            f"        header[{FREE}] = block{k}",
            f"        block{k} = following",
            f"        at{k} = 0",
            "else:",
            f"    r{k} += 1",
            *self._front(k),
        ]

    def _value(self, k: int, target: str, valid: str | None) -> list[str]:
        kind = self.ports[k].type.kind
        place = f"block{k} * {BLOCK} + at{k}"
        pooled = {
            "number": f"pool_F[{place}]",
            "boolean": f"pool_I[{place}] != 0",
        }.get(kind, f"pool_I[{place}]")
        nullable = self.ports[k].type.nullable
        new = [f"    {target} = column{k}[r{k}]"]
        old = [f"    {target} = {pooled}"]
        if valid is not None:
            flag = f"pool_valid[{place}]"
            old.append(f"    {valid} = {flag if nullable else 'True'}")
            new.append(f"    {valid} = {f'valid{k}[r{k}]' if nullable else 'True'}")
        return [f"if left{k} > 0:", *old, "else:", *new]

    # ---- what is decided

    def _two_must(self) -> list[str]:
        a, b = self.ports
        emit = ["out_time[m] = time0[r0]", "out0[m] = column0[r0]", "out1[m] = column1[r1]"]
        emit += ["out_valid0[m] = valid0[r0]"] if a.type.nullable else []
        emit += ["out_valid1[m] = valid1[r1]"] if b.type.nullable else []
        return [
            "if left0 == 0 and left1 == 0:",
            "    while r0 < e0 and r1 < e1:",
            "        if time0[r0] == time1[r1]:",
            *indent([*emit, "m += 1", "r0 += 1", "r1 += 1"], 3),
            "        else:",
            "            before = time0[r0] < time1[r1]",
            "            lost0 += before",
            "            r0 += before",
            "            lost1 += not before",
            "            r1 += not before",
            *indent(self._front(0) + self._front(1), 1),
        ]

    def _decide(self) -> list[str]:
        lines = self._candidate() if self.must else self._earliest()
        for k in self.others:
            lines += [f"if f{k} < t or (f{k} == {FIRST} and not has{k}):", *indent(self._watch(k, "t"), 1), "    break"]
        lines += ["out_time[m] = t"]
        for k in range(len(self.ports)):
            lines += self._emit(k)
        return [*lines, "m += 1"]

    def _candidate(self) -> list[str]:
        """The earliest time that all must ports may still share; earlier rows match nothing."""
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
            drop = [f"lost{k} += 1", "moved = True", *self._pop(k)]
            lines += [f"while has{k} and (over or t{k} < t):", *indent(drop, 1)]
            lines += [f"if not has{k}:", "    ready = False", f"    waits = {k}"]
        lines += ["if moved and not over:", "    continue"]
        for k in self.others:
            lines += self._pass_by(k)
        lines += ["if over:", "    break", "if not ready:", *indent(self._wait_for_must(), 1)]
        return [*lines, "    break"]

    def _pass_by(self, k: int) -> list[str]:
        """Rows of a may or last port that lie before the candidate."""
        if self.ports[k].role == "may":
            drop = [f"lost{k} += 1", *self._pop(k)]
            return [f"while has{k} and (over or t{k} < t):", *indent(drop, 1)]
        take = [f"known{k} = True", f"known_time{k} = t{k}", f"known_valid{k} = True"]
        take += self._value(k, f"known_value{k}", f"known_valid{k}")
        take += self._pop(k)
        return [f"while has{k} and (over or t{k} <= t):", *indent(take, 1)]

    def _wait_for_must(self) -> list[str]:
        """Wake up when the port that lacks a row has passed the earliest row that waits for it."""
        lines = [f"wake = {LAST}"]
        for k in range(len(self.ports)):
            lines += [f"if has{k} and t{k} < wake:", f"    wake = t{k}"]
        for k in self.must:
            lines += [f"if waits == {k}:", *indent(self._watch(k, "wake"), 1)]
        return lines

    def _earliest(self) -> list[str]:
        lines = ["any_row = False", "t = 0"]
        for k in range(len(self.ports)):
            lines += [f"if has{k} and (not any_row or t{k} < t):", f"    t = t{k}", "    any_row = True"]
        return [*lines, "if not any_row:", "    break"]

    def _watch(self, k: int, t: str) -> list[str]:
        place = header_place(k, WATCHED)
        return [f"watch(heap_time{k}, heap_slot{k}, watch{k}, header, {place}, slot, {t})"]

    def _emit(self, k: int) -> list[str]:
        port = self.ports[k]
        valid = f"out_valid{k}[m]" if port.out.nullable else None
        take = [*self._value(k, f"out{k}[m]", valid), *self._pop(k)]
        if port.role == "must":
            return take
        zero = {"number": "math.nan", "boolean": "False"}.get(port.type.kind, "0")
        none = [f"    out{k}[m] = {zero}", f"    out_valid{k}[m] = False"]
        if port.role == "may":
            return [f"if has{k} and t{k} == t:", *indent(take, 1), "else:", *none]
        usable = f"known{k} and near(t, known_time{k}, tolerance)"
        return [
            f"if {usable} and known_valid{k}:",
            f"    out{k}[m] = known_value{k}",
            f"    out_valid{k}[m] = True",
            "else:",
            *none,
        ]

    # ---- what stays

    def _end_run(self) -> list[str]:
        lines = ["out_starts[run + 1] = m"]
        for k in range(len(self.ports)):
            lines += self._keep(k)
        for number, k in enumerate(self.last):
            place = f"q + {self._latest(number)}"
            kind = self.ports[k].type.kind
            lines += [
                f"Q[{place}] = 1 if known{k} else 0",
                f"Q[{place} + 1] = known_time{k}",
                f"Q[{place} + 2] = 1 if known_valid{k} else 0",
                f"{'QF' if kind == 'number' else 'Q'}[{place} + 3] = known_value{k}"
                + (" * 1" if kind == "boolean" else ""),
            ]
        return lines + self._progress()

    def _keep(self, k: int) -> list[str]:
        place = f"q + {QUEUE * k}"
        kind = self.ports[k].type.kind
        value = {
            "number": f"pool_F[to] = column{k}[r{k}]",
            "boolean": f"pool_I[to] = 1 if column{k}[r{k}] else 0",
        }.get(kind, f"pool_I[to] = column{k}[r{k}]")
        valid = [f"pool_valid[to] = valid{k}[r{k}]"] if self.ports[k].type.nullable else []
        return [
            f"if left{k} == 0:",
            f"    block{k} = -1",
            f"if r{k} < e{k}:",
            f"    tail = Q[{place} + 2] if left{k} > 0 else -1",
            f"    used = Q[{place} + 3] if left{k} > 0 else {BLOCK}",
            f"    while r{k} < e{k}:",
            f"        if used == {BLOCK}:",
            "            fresh = take_block(header, pool_next)",
            "            if tail < 0:",
            f"                block{k} = fresh",
            f"                at{k} = 0",
            "            else:",
            "                pool_next[tail] = fresh",
            "            tail = fresh",
            "            used = 0",
            f"        to = tail * {BLOCK} + used",
            f"        pool_time[to] = time{k}[r{k}]",
            f"        {value}",
            *indent(valid, 2),
            "        used += 1",
            f"        left{k} += 1",
            f"        r{k} += 1",
            f"    Q[{place} + 2] = tail",
            f"    Q[{place} + 3] = used",
            f"Q[{place}] = block{k}",
            f"Q[{place} + 1] = at{k}",
            f"Q[{place} + 4] = left{k}",
            f"held{k} += left{k}",
        ]

    def _progress(self) -> list[str]:
        """The frontier of what comes out: just before the earliest time that may still be decided."""
        if self.must:
            lines = [f"t = {FIRST}", "over = False"]
            for k in self.must:
                lines += [
                    f"if left{k} > 0:",
                    f"    t = max(t, max(t{k}, {FIRST + 1}) - 1)",
                    f"elif f{k} > t:",
                    f"    t = f{k}",
                ]
            decisive = self.must
        else:
            lines = [f"t = {LAST}"]
            for k in range(len(self.ports)):
                lines += [
                    f"if left{k} > 0:",
                    f"    t = min(t, max(t{k}, {FIRST + 1}) - 1)",
                    f"elif f{k} < t:",
                    f"    t = f{k}",
                ]
            decisive = list(range(len(self.ports)))
        waiting = " or ".join(f"left{k} > 0 or pinned{k}[slot] != 0" for k in decisive)
        lines += ["out_frontier[slot] = max(out_frontier[slot], t)"]
        return [*lines, f"out_pinned[slot] = 1 if {waiting} else 0"]


def indent(lines: list[str], depth: int) -> list[str]:
    """The lines, `depth` levels in."""
    return ["    " * depth + line for line in lines]


@step
def frontier_at(frontier, pinned, floor, shift, ending):  # noqa: ANN001, ANN201
    """The frontier of a port: nothing at or before it can still come."""
    if ending:
        return LAST
    if pinned == 0 and floor > frontier:
        frontier = floor
    if frontier == LAST or frontier == FIRST:
        return frontier
    if shift > 0 and frontier > LAST - shift:
        return LAST
    if shift < 0 and frontier < FIRST - shift:
        return FIRST
    return frontier + shift


@step
def near(time, other, tolerance):  # noqa: ANN001, ANN201
    """Whether `other` (at or before `time`) is at most `tolerance` older; -1 means any age."""
    return tolerance < 0 or time < FIRST + tolerance or other >= time - tolerance


@step
def take_block(header, pool_next):  # noqa: ANN001, ANN201
    """A free block of the pool; the caller has made sure that there is one."""
    block = header[FREE]
    if block >= 0:
        header[FREE] = pool_next[block]
    else:
        block = header[FRESH]
        header[FRESH] = block + 1
    return block


@step
def watch(heap_time, heap_slot, watched, header, size, slot, time):  # noqa: ANN001, ANN201
    """Wake the key when its port has passed `time`: a binary heap, lowest time first.

    `watched` has, per key, the time of its valid entry; an entry that differs from it is stale.
    """
    if time >= watched[slot]:
        return
    watched[slot] = time
    place = header[size]
    header[size] = place + 1
    while place > 0 and heap_time[(place - 1) // 2] > time:
        heap_time[place] = heap_time[(place - 1) // 2]
        heap_slot[place] = heap_slot[(place - 1) // 2]
        place = (place - 1) // 2
    heap_time[place] = time
    heap_slot[place] = slot
