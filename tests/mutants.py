"""The list of `tests.mutation_testing`: a text that occurs once in the package, what it becomes,
and the commands one of which must catch it, in the order in which they are tried."""

from dataclasses import dataclass

TORTURE = ["-m", "tests.torture", "--compiled", "0", "--no-shrink", "--no-floors", "--workers", "1"]
PYTEST = ["-m", "pytest", "-xq", "-p", "no:cacheprovider"]
COMMANDS = {
    "torture": [*TORTURE, "--graphs", "150", "--seed", "sabotage", "--failures", "0"],
    "long torture": [*TORTURE, "--graphs", "2500", "--seed", "sabotage", "--failures", "0"],
    "dumps": [*PYTEST, "tests/conformance/test_dumps.py"],
    "compare": ["-m", "tests.comparisons"],
    "exact": [*PYTEST, "tests/numeric/test_exact.py"],
    "session": [*PYTEST, "tests/runtime/test_session.py"],
    "edge": [*PYTEST, "tests/conformance/test_edge.py"],
    "loader": [
        *PYTEST,
        "tests/graph/test_check.py",
        "tests/graph/test_document.py",
        "tests/expression/test_expression.py",
    ],
    "one": [
        *PYTEST,
        "tests/runtime/test_push_one.py",
        "-k",
        "pairing or refused_texts or thousands_of",
    ],
    "state": [*PYTEST, "tests/runtime/test_state.py"],
    "times": [*PYTEST, "tests/runtime/test_lateness.py"],
    "late": [*PYTEST, "tests/runtime/test_frontiers.py", "-k", "may_begin_an_interval"],
    "mutants": [*PYTEST, "tests/project/test_survivors.py"],
    "declared": [*PYTEST, "tests/operators/test_operators_declared.py"],
    "oracles": [
        *PYTEST,
        "tests/conformance/test_operators.py",
        "-k",
        "equals_its_oracle and (NotEqualTo or LogicalNor)",
    ],
    "windows": [*PYTEST, "tests/numeric/test_exact.py", "-k", "interpreted_windows"],
    "integers": [
        *PYTEST,
        "tests/operators/test_integers.py",
        "-k",
        "window_of_integers or beyond_the_floats",
    ],
    "files": [
        *PYTEST,
        "tests/io/test_hostile_files.py",
        "-k",
        "replaced_under or digest_of_pages or another_end or quoted_as",
    ],
    "malformed": [*PYTEST, "tests/graph/test_malformed.py", "-k", "fault_of_data"],
    "cli": [
        *PYTEST,
        "tests/cli/test_cli.py",
        "-k",
        "keys_are_integers or quote_without_end or account_and_strict",
    ],
    "clock": [*PYTEST, "tests/core/test_times.py"],
    "tables": [*PYTEST, "tests/tables/test_tables.py"],
    "charts": [
        *PYTEST,
        "tests/viz/test_charts.py",
        "-k",
        "dates_at_the_axis or first_keys_are_shown",
    ],
    "spark": [*PYTEST, "tests/spark/test_faults.py", "-k", "ordered_by_port"],
    "timer": [*PYTEST, "tests/spark/test_shard.py", "-k", "test_a_timer_is"],
    "ranks": [
        *PYTEST,
        "tests/spark/test_partition.py",
        "-k",
        "by_rank or (gives_the_bits and bands)",
    ],
}
TORTURES = ("torture", "long torture")


@dataclass(frozen=True)
class Mutant:
    """One line of the package, broken."""

    old: str
    new: str
    caught_by: tuple = TORTURES
    compared: bool = False
    """Whether two runs of the same data differ by it: it touches order, cuts or state. What is as
    wrong in every run, or wrong in what is refused or in when something comes out, does not."""


EDGE = [
    Mutant("            if time[row] <= before:\n", "            if time[row] < before:\n"),
    Mutant(
        "late = time[row] < before or (time[row] <= floor",
        "late = time[row] < before or (False",
        ("edge", *TORTURES),
    ),
    Mutant("late[row] = time[row] < bound or", "late[row] = time[row] <= bound or"),
    Mutant("newest - self.lateness - 1, FIRST", "newest - self.lateness, FIRST", compared=True),
    Mutant('RULES = ("last", "min", "max", "sum")', 'RULES = ("min", "max", "sum")'),
    Mutant("ordered[0 if rule", "ordered[-1 if rule"),
    Mutant("self.floor = max(self.floor, until)", "self.floor = until", ("edge", *TORTURES)),
    Mutant("and node_time[root] <= until[run]", "and node_time[root] < until[run]", compared=True),
    Mutant("if older(time, order, b, a):", "if older(time, order, a, b):", compared=True),
    Mutant('self.lost["duplicate"] = self.lost.get("duplicate", 0) + lost', "pass"),
]
PAIRING = [
    Mutant('f"if f{k} < t or', 'f"if f{k} < t - 1 or', compared=True),
    Mutant('"            lost0 += before",', '"            lost0 += 0",', compared=True),
    Mutant('f"while has{k} and (over or t{k} <= t):"', 'f"while has{k} and (over or t{k} < t):"'),
    Mutant('f"    t = f{k} + 1",', 'f"    t = f{k} + 2",', compared=True),
    Mutant(
        'f"    if left{k} == 0 or at{k} == {BLOCK}:",', 'f"    if left{k} == 0:",', compared=True
    ),
    Mutant(
        'f"    tail = Q[{place} + 2] if left{k} > 0 else -1",', 'f"    tail = -1",', compared=True
    ),
    Mutant("return max(must) if must else", "return min(must) if must else", ("session",)),
    Mutant(
        "while size > 0 and heap_time[0] <= until:",
        "while size > 0 and heap_time[0] < until:",
        ("session",),
    ),
    Mutant("out_pinned[slot] = pinned[slot]", "out_pinned[slot] = 0", ("session",)),
    Mutant("if known[slot] != LAST and before != LAST:", "if known[slot] != LAST:"),
]
STATE = [
    Mutant(
        "        self.state[begin : begin + self.width] = self.template",
        "        pass",
        ("dumps", *TORTURES),
        compared=True,
    ),
    Mutant(
        "        self.queue[slot * self.width : (slot + 1) * self.width] = 0",
        "        pass",
        ("session", *TORTURES),
        compared=True,
    ),
    Mutant("touched.append(self.runner.progress.woken())", "pass"),
    Mutant("        self.known_slots.clear()\n", "", ("dumps",)),
    Mutant("return np.flatnonzero(found)", "return np.arange(len(found))", ("session",)),
    Mutant("self.rows[name] += len(batches[stream])", "pass", compared=True),
    Mutant("self.ordered = not reused and", "self.ordered = True or", compared=True),
    Mutant("mask |= absent.astype(np.int64) << place", "pass", compared=True),
    Mutant(
        "        table[place_of(moved, width, table, mask, known)] = moved\n",
        "        pass\n",
        compared=True,
    ),
    Mutant(
        'yield f"pool/{number}/queue", pool.queue, pool.width',
        'yield f"pool/{number}/queue", pool.queue.copy(), pool.width',
        compared=True,
    ),
    Mutant('yield f"feed/{name}/last", feed.last, 1', "yield from ()", compared=True),
    Mutant(
        "if hashlib.sha256(memoryview(blob)[:-DIGEST]).digest() != blob[-DIGEST:]:",
        "if len(blob) < DIGEST:",
        ("dumps",),
    ),
    Mutant('"values": dict(node.values),', '"values": {},', ("dumps",)),
]
RESUMED = [
    Mutant('session.rows = dict(header["rows"])', "pass", compared=True),
    Mutant('feed.lost = dict(header["lost"])', "feed.lost = {}", compared=True),
    Mutant('listed(header["texts"], arrays', "listed([], None and arrays", compared=True),
    Mutant('own_rows = dict(header["own_rows"])', "own_rows = {}", compared=True),
    Mutant(
        'feed.order, feed.unused = header["order"],', "feed.order, feed.unused = 0,", compared=True
    ),
    Mutant("np.lexsort(columns[::-1])", "np.lexsort(columns)", compared=True),
]
OPERATORS = [
    Mutant(
        "    return total, rest, slack + (abs(missed) + abs(dropped))",
        "    return total, rest, slack",
        ("exact", *TORTURES),
    ),
    Mutant("return NEGATIVE_SPECIAL if x == -math.inf else 0", "return 0"),
    Mutant("return average + weight * change", "return average + change * (weight / 2.0)"),
    Mutant(
        "    if slack == 0.0:\n        return True, high + low\n",
        "    return True, high + low\n",
        ("exact", *TORTURES),
    ),
    Mutant("variance < math.inf", "variance <= math.inf"),
    Mutant("if wrapped and i1 > highest:", "if wrapped and i1 >= highest:"),
    Mutant("code = EMIT if fits else DOMAIN", "code = EMIT", ("session", *TORTURES)),
    Mutant(
        "return EMIT if values_evicts else SILENT, values_leaving", "return EMIT, values_leaving"
    ),
    Mutant("fits = -2 <= high <= 1", "fits = -3 <= high <= 1"),
    Mutant("fits = a <= INTEGER_MAX - b if b >= 0", "fits = a <= INTEGER_MAX if b >= 0"),
    Mutant("value = i1 if due == time else held", "value = held"),
    Mutant("messages = min(messages + 1, window)", "messages = window"),
    Mutant("fault = staticmethod(_some_divisor_is_zero)", "fault = None"),
    Mutant("{text} if {text} == {text} else math.nan", "{text} + 0.0"),
    Mutant("if later != later or (", "if ("),
]
LANGUAGE = [
    Mutant("any(a.type.nullable for a in args)", "False", ("loader", *TORTURES)),
    Mutant(
        "nullable = all(a.type.nullable for a in args)", "nullable = False", ("loader", *TORTURES)
    ),
    Mutant("return Code(value, valid, both(fine, ok))", "return Code(value, valid, fine)"),
    Mutant('"**": (16, 13),', '"**": (13, 16),', ("loader", "torture")),
    Mutant("            known = value >= 0\n", "            known = True\n", ("loader", *TORTURES)),
    Mutant(
        'given[port].nullable or roles[port] != "must"',
        "given[port].nullable",
        ("loader", *TORTURES),
    ),
    Mutant("    if remainder == 0.0:\n        return math.copysign(0.0, y)\n", ""),
]
FOUND = [
    Mutant("        if rows > self.room:\n", "        if rows < 0:\n", ("one",)),
    Mutant(
        "self.count, self.free = count, list(free)", "self.count, self.free = count, []", ("state",)
    ),
    Mutant("or self._digest() != self._known:", "or False:", ("files",)),
    Mutant(", *pages, (max(size - ENDS_BYTES, 0), ENDS_BYTES)]", ", *pages]", ("files",)),
    Mutant("in (work.time, work.port) if name", "in (work.time,) if name", ("spark",)),
    Mutant("        runner.ahead -= 1\n", "", ("one",)),
    Mutant("        self._given = given\n", "", ("one",)),
    Mutant("            child += 1\n", "            child += 2\n", ("state",)),
    Mutant('return values["interval"] if cls._snaps(values) else 0', "return 0", ("late",)),
    Mutant("self.places.rebuild(self.roots, self.pool)", "pass", ("times",)),
    Mutant('            f"        header[{FREE}] = block{k}",\n', "", ("state",)),
    Mutant("""for character in '",\\r\\n')""", """for character in '",\\n')""", ("files",)),
]
MUTANTS = ("mutants",)
KEPT = [
    Mutant("        self._taken += reuse\n", "        self._taken = reuse\n", MUTANTS),
    Mutant(
        "np.any(words[1:] != words[:-1], axis=1",
        "np.all(words[1:] != words[:-1], axis=1",
        ("state",),
    ),
    Mutant("            ends[:] = starts[:-1]\n", "", MUTANTS),
    Mutant("        if self.keys.width != width:", "        if False:", MUTANTS),
    Mutant("            some = some or not late\n", "", MUTANTS),
    Mutant("int(before.max(initial=FIRST)))", "int(before.min(initial=FIRST)))", ("malformed",)),
    Mutant("and not FIRST <= result <= LAST:", "and not FIRST < result < LAST:", MUTANTS),
    Mutant("        return infinite[0]\n", "        return infinite[0] * 0\n", ("edge",)),
    Mutant(
        '    if header["state"] != plan.state_digest:\n', '    if not header["state"]:\n', MUTANTS
    ),
    Mutant('    feed.floor = header["floor"]\n', "", MUTANTS),
    Mutant(
        "        if place != len(blob) - DIGEST:\n",
        "        if place > len(blob) - DIGEST:\n",
        MUTANTS,
    ),
    Mutant(
        'feed.counts["arrived"] - feed.counts["held"] - sum(',
        'feed.counts["arrived"] - sum(',
        MUTANTS,
    ),
    Mutant(
        'if reason in LOSSES or (unmatched and reason == "unmatched"):',
        'if reason in LOSSES or reason == "unmatched":',
        ("cli",),
    ),
]
COMPUTED = [
    Mutant("if wrapped and place + 1 < size:", "if wrapped and place + 2 < size:", ("declared",)),
    Mutant("(later > earlier if largest", "(later >= earlier if largest", ("declared",)),
    Mutant(
        "return EMIT if partial or wrapped else SILENT, result",
        "return EMIT if partial or place + 1 == window else SILENT, result",
        ("declared",),
    ),
    Mutant("            digits[index + 1] += carry\n", "", MUTANTS),
    Mutant("        square_slack = math.inf\n", "        pass\n", ("windows",)),
    Mutant(
        "        lower -= leaving % INTEGER_PART\n",
        "        lower -= leaving % INTEGER_PART + 1\n",
        ("integers",),
    ),
    Mutant("if due > INTEGER_MAX - interval:", "if due >= INTEGER_MAX - interval:", ("declared",)),
    Mutant(
        "if snap_first and time >= INTEGER_MIN + behind:",
        "if snap_first and time > INTEGER_MIN + behind:",
        ("declared",),
    ),
    Mutant(
        'keep = "beyond(i1, value, epsilon)"',
        'keep = "not within(i1, value, epsilon)"',
        ("oracles",),
    ),
    Mutant(
        """return f"not ({' or '.join(ports)})\"""",
        """return f"not {' or '.join(ports)}\"""",
        ("oracles",),
    ),
    Mutant("            both(choice.fine, fine),\n", "            fine,\n", MUTANTS),
    Mutant(
        "fine = self._chosen(code.valid, code.fine, result.fine)",
        "fine = both(code.fine, result.fine)",
        MUTANTS,
    ),
    Mutant('MIRRORED = {"<": ">", "<=": ">="', 'MIRRORED = {"<": ">=", "<=": ">="', MUTANTS),
    Mutant("    if len(names) > 64:\n", "    if len(names) > 65:\n", MUTANTS),
    Mutant("_note_cycle([*cycle[first:], *cycle[:first]], ", "_note_cycle(cycle, ", MUTANTS),
]
READ_AND_SHOWN = [
    Mutant('KEY_INTEGER = r"^(0|-?[1-9][0-9]*)$"', 'KEY_INTEGER = r"^-?[0-9]+$"', ("cli",)),
    Mutant('bare = text.lstrip("-").lstrip("0")', 'bare = text.lstrip("-")', MUTANTS),
    Mutant("    odd = data.count(b'\"', 0, end) % 2\n", "    odd = 0\n", ("cli",)),
    Mutant("""doubled = pc.replace_substring(text, '"', '""')""", "doubled = text", ("files",)),
    Mutant("        bad |= times >= last\n", "        bad |= times > last\n", ("clock",)),
    Mutant("(counts > INT64_MAX // factor)", "(counts >= INT64_MAX // factor)", ("clock",)),
    Mutant('int(offset[3:].strip(":") or 0)\n', 'int(offset[4:].strip(":") or 0)\n', ("clock",)),
    Mutant("        shift -= MONDAY if step % (7 * DAY) == 0 else 0\n", "", ("charts",)),
    Mutant("if rank(key) > rank(greatest):", "if rank(key) < rank(greatest):", ("charts",)),
    Mutant(" or (known is bool and bool not in accepted)", "", ("tables",)),
    Mutant(
        "value = value.astimezone(UTC).replace(tzinfo=None)",
        "value = value.replace(tzinfo=None)",
        ("tables",),
    ),
    Mutant("    array[valid] = _array(", "    array[: valid.sum()] = _array(", ("tables",)),
    Mutant(
        "return replace(of_form(form, strict), nulls=0)",
        "return of_form(form, strict)",
        ("tables",),
    ),
    Mutant('below = 999 if self.unit == "ns" else 0', "below = 0", ("timer",)),
    Mutant(
        "unequal = pc.or_(unequal, pc.xor(pc.is_null(after), pc.is_null(before)))",
        "pass",
        ("ranks",),
    ),
    Mutant(
        "begin = int(np.searchsorted(ranks, ranks[-1]))",
        'begin = int(np.searchsorted(ranks, ranks[-1], "right"))',
        ("ranks",),
    ),
]
SABOTAGES = [
    *(*FOUND, *EDGE, *PAIRING, *STATE, *RESUMED, *OPERATORS, *LANGUAGE),
    *(*KEPT, *COMPUTED, *READ_AND_SHOWN),
]
