"""The list of `tests.sabotage`: a text that stands once in the package, what it becomes, and the
commands one of which must catch it, in the order in which they are tried."""

from dataclasses import dataclass

TORTURE = ["-m", "tests.torture", "--compiled", "0", "--no-shrink", "--no-floors", "--workers", "1"]
PYTEST = ["-m", "pytest", "-xq", "-p", "no:cacheprovider"]
COMMANDS = {
    "torture": [*TORTURE, "--graphs", "150", "--seed", "sabotage", "--failures", "0"],
    "long torture": [*TORTURE, "--graphs", "2500", "--seed", "sabotage", "--failures", "0"],
    "dumps": [*PYTEST, "tests/conformance/test_dumps.py"],
    "compare": ["-m", "tests.comparisons"],
    "exact": [*PYTEST, "tests/test_exact.py"],
    "session": [*PYTEST, "tests/test_session.py"],
    "edge": [*PYTEST, "tests/conformance/test_edge.py"],
    "loader": [
        *PYTEST,
        "tests/test_check.py",
        "tests/test_document.py",
        "tests/test_expression.py",
    ],
    "one": [*PYTEST, "tests/test_faults_one.py", "-k", "pairing or refused_texts or thousands_of"],
    "state": [*PYTEST, "tests/test_faults_state.py"],
    "times": [*PYTEST, "tests/test_faults_times.py"],
    "late": [*PYTEST, "tests/test_faults_late.py", "-k", "may_begin_an_interval"],
    "files": [
        *PYTEST,
        "tests/test_faults_files.py",
        "-k",
        "replaced_under or digest_of_pages or another_end or quoted_as",
    ],
    "spark": [*PYTEST, "tests/spark/test_faults.py", "-k", "ordered_by_port"],
}
TORTURES = ("torture", "long torture")


@dataclass(frozen=True)
class Sabotage:
    """One line of the package, broken."""

    old: str
    new: str
    caught_by: tuple = TORTURES
    compared: bool = False
    """Whether two runs of the same data differ by it: it touches order, cuts or state. What is as
    wrong in every run, or wrong in what is refused or in when something comes out, does not."""


EDGE = [
    Sabotage("            if time[row] <= before:\n", "            if time[row] < before:\n"),
    Sabotage(
        "late = time[row] < before or (time[row] <= floor",
        "late = time[row] < before or (False",
        ("edge", *TORTURES),
    ),
    Sabotage("late[row] = time[row] < bound or", "late[row] = time[row] <= bound or"),
    Sabotage("newest - self.lateness - 1, FIRST", "newest - self.lateness, FIRST", compared=True),
    Sabotage('RULES = ("last", "min", "max", "sum")', 'RULES = ("min", "max", "sum")'),
    Sabotage("ordered[0 if rule", "ordered[-1 if rule"),
    Sabotage("self.floor = max(self.floor, until)", "self.floor = until", ("edge", *TORTURES)),
    Sabotage(
        "and node_time[root] <= until[run]", "and node_time[root] < until[run]", compared=True
    ),
    Sabotage("if older(time, order, b, a):", "if older(time, order, a, b):", compared=True),
    Sabotage('self.lost["duplicate"] = self.lost.get("duplicate", 0) + lost', "pass"),
]
PAIRING = [
    Sabotage('f"if f{k} < t or', 'f"if f{k} < t - 1 or', compared=True),
    Sabotage('"            lost0 += before",', '"            lost0 += 0",', compared=True),
    Sabotage('f"while has{k} and (over or t{k} <= t):"', 'f"while has{k} and (over or t{k} < t):"'),
    Sabotage('f"    t = f{k} + 1",', 'f"    t = f{k} + 2",', compared=True),
    Sabotage(
        'f"    if left{k} == 0 or at{k} == {BLOCK}:",', 'f"    if left{k} == 0:",', compared=True
    ),
    Sabotage(
        'f"    tail = Q[{place} + 2] if left{k} > 0 else -1",', 'f"    tail = -1",', compared=True
    ),
    Sabotage("return max(must) if must else", "return min(must) if must else", ("session",)),
    Sabotage(
        "while size > 0 and heap_time[0] <= until:",
        "while size > 0 and heap_time[0] < until:",
        ("session",),
    ),
    Sabotage("out_pinned[slot] = pinned[slot]", "out_pinned[slot] = 0", ("session",)),
    Sabotage("if known[slot] != LAST and before != LAST:", "if known[slot] != LAST:"),
]
STATE = [
    Sabotage(
        "        self.state[begin : begin + self.width] = self.template",
        "        pass",
        ("dumps", *TORTURES),
        compared=True,
    ),
    Sabotage(
        "        self.queue[slot * self.width : (slot + 1) * self.width] = 0",
        "        pass",
        ("session", *TORTURES),
        compared=True,
    ),
    Sabotage("touched.append(self.runner.progress.woken())", "pass"),
    Sabotage("        self.known_slots.clear()\n", "", ("dumps",)),
    Sabotage("return np.flatnonzero(found)", "return np.arange(len(found))", ("session",)),
    Sabotage("self.rows[name] += len(batches[stream])", "pass", compared=True),
    Sabotage("self.ordered = not reused and", "self.ordered = True or", compared=True),
    Sabotage("mask |= absent.astype(np.int64) << place", "pass", compared=True),
    Sabotage(
        "        table[place_of(moved, width, table, mask, known)] = moved\n",
        "        pass\n",
        compared=True,
    ),
    Sabotage(
        'yield f"pool/{number}/queue", pool.queue, pool.width',
        'yield f"pool/{number}/queue", pool.queue.copy(), pool.width',
        compared=True,
    ),
    Sabotage('yield f"feed/{name}/last", feed.last, 1', "yield from ()", compared=True),
    Sabotage(
        "if hashlib.sha256(memoryview(blob)[:-DIGEST]).digest() != blob[-DIGEST:]:",
        "if len(blob) < DIGEST:",
        ("dumps",),
    ),
    Sabotage('"values": dict(node.values),', '"values": {},', ("dumps",)),
]
RESUMED = [
    Sabotage('session.rows = dict(header["rows"])', "pass", compared=True),
    Sabotage('feed.lost = dict(header["lost"])', "feed.lost = {}", compared=True),
    Sabotage('listed(header["texts"], arrays', "listed([], None and arrays", compared=True),
    Sabotage('own_rows = dict(header["own_rows"])', "own_rows = {}", compared=True),
    Sabotage(
        'feed.order, feed.unused = header["order"],', "feed.order, feed.unused = 0,", compared=True
    ),
    Sabotage("np.lexsort(columns[::-1])", "np.lexsort(columns)", compared=True),
]
OPERATORS = [
    Sabotage(
        "    return total, rest, slack + (abs(missed) + abs(dropped))",
        "    return total, rest, slack",
        ("exact", *TORTURES),
    ),
    Sabotage("return NEGATIVE_SPECIAL if x == -math.inf else 0", "return 0"),
    Sabotage("return average + weight * change", "return average + change * (weight / 2.0)"),
    Sabotage(
        "    if slack == 0.0:\n        return True, high + low\n",
        "    return True, high + low\n",
        ("exact", *TORTURES),
    ),
    Sabotage("variance < math.inf", "variance <= math.inf"),
    Sabotage("if wrapped and i1 > highest:", "if wrapped and i1 >= highest:"),
    Sabotage("code = EMIT if fits else DOMAIN", "code = EMIT", ("session", *TORTURES)),
    Sabotage(
        "return EMIT if values_evicts else SILENT, values_leaving", "return EMIT, values_leaving"
    ),
    Sabotage("fits = -2 <= high <= 1", "fits = -3 <= high <= 1"),
    Sabotage("fits = a <= INTEGER_MAX - b if b >= 0", "fits = a <= INTEGER_MAX if b >= 0"),
    Sabotage("value = i1 if due == time else held", "value = held"),
    Sabotage("messages = min(messages + 1, window)", "messages = window"),
    Sabotage("fault = staticmethod(_some_divisor_is_zero)", "fault = None"),
    Sabotage("{text} if {text} == {text} else math.nan", "{text} + 0.0"),
    Sabotage("if later != later or (", "if ("),
]
LANGUAGE = [
    Sabotage("any(a.type.nullable for a in args)", "False", ("loader", *TORTURES)),
    Sabotage(
        "nullable = all(a.type.nullable for a in args)", "nullable = False", ("loader", *TORTURES)
    ),
    Sabotage("return Code(value, valid, both(fine, ok))", "return Code(value, valid, fine)"),
    Sabotage('"**": (16, 13),', '"**": (13, 16),', ("loader", "torture")),
    Sabotage(
        "            known = value >= 0\n", "            known = True\n", ("loader", *TORTURES)
    ),
    Sabotage(
        'given[port].nullable or roles[port] != "must"',
        "given[port].nullable",
        ("loader", *TORTURES),
    ),
    Sabotage("    if remainder == 0.0:\n        return math.copysign(0.0, y)\n", ""),
]
FOUND = [
    Sabotage("        if rows > self.room:\n", "        if rows < 0:\n", ("one",)),
    Sabotage(
        "self.count, self.free = count, list(free)", "self.count, self.free = count, []", ("state",)
    ),
    Sabotage("or self._digest() != self._known:", "or False:", ("files",)),
    Sabotage(", *pages, (max(size - ENDS_BYTES, 0), ENDS_BYTES)]", ", *pages]", ("files",)),
    Sabotage("in (work.time, work.port) if name", "in (work.time,) if name", ("spark",)),
    Sabotage("        runner.ahead -= 1\n", "", ("one",)),
    Sabotage("        self._given = given\n", "", ("one",)),
    Sabotage("            child += 1\n", "            child += 2\n", ("state",)),
    Sabotage('return values["interval"] if cls._snaps(values) else 0', "return 0", ("late",)),
    Sabotage("self.places.rebuild(self.roots, self.pool)", "pass", ("times",)),
    Sabotage('            f"        header[{FREE}] = block{k}",\n', "", ("state",)),
    Sabotage("""for character in '",\\r\\n')""", """for character in '",\\n')""", ("files",)),
]
SABOTAGES = [*FOUND, *EDGE, *PAIRING, *STATE, *RESUMED, *OPERATORS, *LANGUAGE]
