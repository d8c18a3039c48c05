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
    "mutants": [*PYTEST, "tests/test_mutants.py"],
    "declared": [*PYTEST, "tests/test_operators_declared.py"],
    "oracles": [
        *PYTEST,
        "tests/conformance/test_operators.py",
        "-k",
        "equals_its_oracle and (NotEqualTo or LogicalNor)",
    ],
    "windows": [*PYTEST, "tests/test_exact.py", "-k", "interpreted_windows"],
    "integers": [
        *PYTEST,
        "tests/test_faults_integers.py",
        "-k",
        "window_of_integers or beyond_the_floats",
    ],
    "files": [
        *PYTEST,
        "tests/test_faults_files.py",
        "-k",
        "replaced_under or digest_of_pages or another_end or quoted_as",
    ],
    "malformed": [*PYTEST, "tests/test_malformed.py", "-k", "fault_of_data"],
    "cli": [
        *PYTEST,
        "tests/test_cli.py",
        "-k",
        "keys_are_integers or quote_without_end or account_and_strict",
    ],
    "clock": [*PYTEST, "tests/test_times.py"],
    "tables": [*PYTEST, "tests/test_tables.py"],
    "charts": [
        *PYTEST,
        "tests/test_charts.py",
        "-k",
        "dates_at_the_axis or first_keys_are_shown",
    ],
    "spark": [*PYTEST, "tests/spark/test_faults.py", "-k", "ordered_by_port"],
    "timer": [*PYTEST, "tests/spark/test_bucket.py", "-k", "test_a_timer_is"],
    "ranks": [*PYTEST, "tests/spark/test_rows.py", "-k", "by_rank or (gives_the_bits and bands)"],
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
MUTANTS = ("mutants",)
KEPT = [
    Sabotage("        self._taken += reuse\n", "        self._taken = reuse\n", MUTANTS),
    Sabotage(
        "np.any(words[1:] != words[:-1], axis=1",
        "np.all(words[1:] != words[:-1], axis=1",
        ("state",),
    ),
    Sabotage("            ends[:] = starts[:-1]\n", "", MUTANTS),
    Sabotage("        if self.keys.width != width:", "        if False:", MUTANTS),
    Sabotage("            some = some or not late\n", "", MUTANTS),
    Sabotage("int(before.max(initial=FIRST)))", "int(before.min(initial=FIRST)))", ("malformed",)),
    Sabotage("and not FIRST <= result <= LAST:", "and not FIRST < result < LAST:", MUTANTS),
    Sabotage("        return infinite[0]\n", "        return infinite[0] * 0\n", ("edge",)),
    Sabotage(
        '    if header["state"] != plan.state_digest:\n', '    if not header["state"]:\n', MUTANTS
    ),
    Sabotage('    feed.floor = header["floor"]\n', "", MUTANTS),
    Sabotage(
        "        if place != len(blob) - DIGEST:\n",
        "        if place > len(blob) - DIGEST:\n",
        MUTANTS,
    ),
    Sabotage(
        'feed.counts["arrived"] - feed.counts["held"] - sum(',
        'feed.counts["arrived"] - sum(',
        MUTANTS,
    ),
    Sabotage(
        'if reason in LOSSES or (unmatched and reason == "unmatched"):',
        'if reason in LOSSES or reason == "unmatched":',
        ("cli",),
    ),
]
COMPUTED = [
    Sabotage("if wrapped and place + 1 < size:", "if wrapped and place + 2 < size:", ("declared",)),
    Sabotage("(later > earlier if largest", "(later >= earlier if largest", ("declared",)),
    Sabotage(
        "return EMIT if partial or wrapped else SILENT, result",
        "return EMIT if partial or place + 1 == window else SILENT, result",
        ("declared",),
    ),
    Sabotage("            digits[index + 1] += carry\n", "", MUTANTS),
    Sabotage("        square_slack = math.inf\n", "        pass\n", ("windows",)),
    Sabotage(
        "        lower -= leaving % INTEGER_PART\n",
        "        lower -= leaving % INTEGER_PART + 1\n",
        ("integers",),
    ),
    Sabotage(
        "if due > INTEGER_MAX - interval:", "if due >= INTEGER_MAX - interval:", ("declared",)
    ),
    Sabotage(
        "if snap_first and time >= INTEGER_MIN + behind:",
        "if snap_first and time > INTEGER_MIN + behind:",
        ("declared",),
    ),
    Sabotage(
        'keep = "beyond(i1, value, epsilon)"',
        'keep = "not within(i1, value, epsilon)"',
        ("oracles",),
    ),
    Sabotage(
        """return f"not ({' or '.join(ports)})\"""",
        """return f"not {' or '.join(ports)}\"""",
        ("oracles",),
    ),
    Sabotage("            both(choice.fine, fine),\n", "            fine,\n", MUTANTS),
    Sabotage(
        "fine = self._chosen(code.valid, code.fine, result.fine)",
        "fine = both(code.fine, result.fine)",
        MUTANTS,
    ),
    Sabotage('MIRRORED = {"<": ">", "<=": ">="', 'MIRRORED = {"<": ">=", "<=": ">="', MUTANTS),
    Sabotage("    if len(names) > 64:\n", "    if len(names) > 65:\n", MUTANTS),
    Sabotage("_note_cycle([*cycle[first:], *cycle[:first]], ", "_note_cycle(cycle, ", MUTANTS),
]
READ_AND_SHOWN = [
    Sabotage('KEY_INTEGER = r"^(0|-?[1-9][0-9]*)$"', 'KEY_INTEGER = r"^-?[0-9]+$"', ("cli",)),
    Sabotage('bare = text.lstrip("-").lstrip("0")', 'bare = text.lstrip("-")', MUTANTS),
    Sabotage("    odd = data.count(b'\"', 0, end) % 2\n", "    odd = 0\n", ("cli",)),
    Sabotage("""doubled = pc.replace_substring(text, '"', '""')""", "doubled = text", ("files",)),
    Sabotage("        bad |= times >= last\n", "        bad |= times > last\n", ("clock",)),
    Sabotage("(counts > INT64_MAX // factor)", "(counts >= INT64_MAX // factor)", ("clock",)),
    Sabotage('int(offset[3:].strip(":") or 0)\n', 'int(offset[4:].strip(":") or 0)\n', ("clock",)),
    Sabotage("        shift -= MONDAY if step % (7 * DAY) == 0 else 0\n", "", ("charts",)),
    Sabotage("if rank(key) > rank(greatest):", "if rank(key) < rank(greatest):", ("charts",)),
    Sabotage(" or (known is bool and bool not in accepted)", "", ("tables",)),
    Sabotage(
        "value = value.astimezone(UTC).replace(tzinfo=None)",
        "value = value.replace(tzinfo=None)",
        ("tables",),
    ),
    Sabotage("    array[valid] = _array(", "    array[: valid.sum()] = _array(", ("tables",)),
    Sabotage(
        "return replace(of_form(form, strict), nulls=0)",
        "return of_form(form, strict)",
        ("tables",),
    ),
    Sabotage('below = 999 if self.unit == "ns" else 0', "below = 0", ("timer",)),
    Sabotage(
        "unequal = pc.or_(unequal, pc.xor(pc.is_null(after), pc.is_null(before)))",
        "pass",
        ("ranks",),
    ),
    Sabotage(
        "begin = int(np.searchsorted(ranks, ranks[-1]))",
        'begin = int(np.searchsorted(ranks, ranks[-1], "right"))',
        ("ranks",),
    ),
]
SABOTAGES = [
    *(*FOUND, *EDGE, *PAIRING, *STATE, *RESUMED, *OPERATORS, *LANGUAGE),
    *(*KEPT, *COMPUTED, *READ_AND_SHOWN),
]
