"""The list of `tests.mutation_testing`: functions with one change each, and the commands of which
one must catch it."""

from tests.change_mutants import CHANGES
from tests.datalog_mutants import DATALOG
from tests.mutation import TORTURES, Mutant, TextMutant
from tests.series_mutants import SERIES

TORTURE = ["-m", "tests.torture", "--compiled", "0", "--no-shrink", "--no-floors", "--workers", "1"]
PYTEST = ["-m", "pytest", "-xq", "-p", "no:cacheprovider"]
COMMANDS = {
    "torture": [*TORTURE, "--graphs", "150", "--seed", "mutation", "--failures", "0"],
    "long torture": [*TORTURE, "--graphs", "2500", "--seed", "mutation", "--failures", "0"],
    "datalog trials": ["-m", "tests.datalog_trials", "--count", "100", "--interpreted"],
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
    "aggregates": [*PYTEST, "tests/operators/test_aggregates.py", "-k", "not True"],
    "edges of operators": [*PYTEST, "tests/runtime/test_golden.py", "-k", "edge"],
    "series": [
        *PYTEST,
        "tests/conformance/test_operators.py",
        "-k",
        "equals_its_oracle and (RollingMedian or Fill or ZScore or Covariance or Debounce)",
    ],
    "refused parameters": [*PYTEST, "tests/operators/test_refused_parameters.py"],
    "ieee": [*PYTEST, "tests/numeric/test_ieee.py", "-k", "what_is_older"],
    "curves": [*PYTEST, "tests/numeric/test_curves.py"],
    "pairs": [*PYTEST, "tests/numeric/test_pairs.py", "-k", "not compiled"],
    "spans": [*PYTEST, "tests/runtime/test_spans.py"],
    "inner keys": [*PYTEST, "tests/runtime/test_inner_keys.py"],
    "timers": [*PYTEST, "tests/runtime/test_timers.py"],
    "survivors": [*PYTEST, "tests/project/test_survivors.py"],
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
    "regions": [
        *PYTEST,
        "tests/relations/test_region.py",
        "tests/relations/test_operators.py",
        "-k",
        "not compiled",
    ],
    "groups": [*PYTEST, "tests/relations/test_grouped.py"],
    "feeds": [*PYTEST, "tests/relations/test_change_feed.py"],
    "codec": [*PYTEST, "tests/relations/test_row_codec.py"],
    "cache": [*PYTEST, "tests/relations/test_cache.py"],
    "staged": [*PYTEST, "tests/runtime/test_staged_session.py"],
    "change rows": [*PYTEST, "tests/tables/test_change_rows.py"],
    "change files": [*PYTEST, "tests/io/test_change_files.py"],
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
SURVIVORS = ("survivors",)

EDGE = [
    Mutant(
        "rtbot/runtime/kernels/rows.py::first_unordered",
        "time[row] <= before",
        "time[row] < before",
    ),
    Mutant(
        "rtbot/runtime/kernels/rows.py::admit", "time[row] <= floor", "False", ("edge", *TORTURES)
    ),
    Mutant("rtbot/runtime/kernels/heaps.py::judge", "time[row] < bound", "time[row] <= bound"),
    Mutant(
        "rtbot/runtime/reorder.py::ReorderBuffer._let_go",
        "newest - self.lateness - 1",
        "newest - self.lateness",
        compared=True,
    ),
    Mutant("rtbot/runtime/reorder.py::", '("last", "min", "max", "sum")', '("min", "max", "sum")'),
    Mutant(
        "rtbot/runtime/reorder.py::settle_tie",
        '0 if rule == "min" else -1',
        "-1",
    ),
    Mutant(
        "rtbot/runtime/input_port.py::InputPort.advance",
        "max(self.floor, until)",
        "until",
        ("edge", *TORTURES),
    ),
    Mutant(
        "rtbot/runtime/kernels/heaps.py::release",
        "node_time[root] <= until[run]",
        "node_time[root] < until[run]",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/kernels/heaps.py::meld",
        "older(time, order, b, a)",
        "older(time, order, a, b)",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/reorder.py::ReorderBuffer._settle_ties",
        'self.lost["duplicate"] = self.lost.get("duplicate", 0) + lost',
        "pass",
    ),
]
PAIRING = [
    TextMutant(
        "rtbot/compiler/pairing_code.py::PairingWriter._write_decision",
        "if f{k} < t or",
        "if f{k} < t - 1 or",
        compared=True,
    ),
    TextMutant(
        "rtbot/compiler/pairing_code.py::PairingWriter._write_two_must",
        "lost0 += before",
        "lost0 += 0",
        compared=True,
    ),
    TextMutant(
        "rtbot/compiler/pairing_code.py::PairingWriter._write_pass_by",
        "over or t{k} <= t",
        "over or t{k} < t",
    ),
    TextMutant(
        "rtbot/compiler/pairing_code.py::PairingWriter._write_candidate",
        "t = f{k} + 1",
        "t = f{k} + 2",
        compared=True,
    ),
    TextMutant(
        "rtbot/compiler/pairing_rows.py::RowQueueCode.pop",
        "if left{k} == 0 or at{k} == {BLOCK}:",
        "if left{k} == 0:",
        compared=True,
    ),
    TextMutant(
        "rtbot/compiler/pairing_rows.py::RowQueueCode.keep",
        "tail = Q[{place} + 2] if left{k} > 0 else -1",
        "tail = -1",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/frontier.py::FrontierTracker._find_pair_frontier",
        "max(must)",
        "min(must)",
        ("session",),
    ),
    Mutant(
        "rtbot/runtime/kernels/rows.py::wake",
        "heap_time[0] <= until",
        "heap_time[0] < until",
        ("session",),
    ),
    Mutant(
        "rtbot/runtime/kernels/rows.py::settle",
        "out_pinned[slot] = pinned[slot]",
        "out_pinned[slot] = 0",
        ("session",),
    ),
    Mutant(
        "rtbot/runtime/kernels/rows.py::settle",
        "known[slot] != LAST and before != LAST",
        "known[slot] != LAST",
    ),
]
STATE = [
    Mutant(
        "rtbot/runtime/state_owner.py::OperatorState.clear",
        "self.rows[slot] = self.template",
        "pass",
        ("dumps", *TORTURES),
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/pairing_pool.py::PairingPool.clear",
        "self.queue[slot * self.width : (slot + 1) * self.width] = 0",
        "pass",
        ("session", *TORTURES),
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/session.py::Session.advance",
        "touched.append(self.runner.progress.fire_timers())",
        "pass",
    ),
    Mutant(
        "rtbot/runtime/session.py::Session.close_key",
        "self.known_slots.clear()",
        "pass",
        ("dumps",),
    ),
    Mutant(
        "rtbot/tables/string_dictionary.py::StringDictionary.save",
        "np.flatnonzero(found)",
        "np.arange(len(found))",
        ("session",),
    ),
    Mutant(
        "rtbot/runtime/session.py::Session._make_result",
        "self.rows[name] += len(batches[stream])",
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/keys.py::KeyTable.add",
        "not reused and self._is_after(before, new[:1])",
        "True",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/keys.py::KeyTable.encode",
        "mask |= absent.astype(np.int64) << place",
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/kernels/rows.py::remove",
        "table[place_of(moved, width, table, mask, known)] = moved",
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/pairing_pool.py::PairingPool.restore",
        'restore_rows("queue", self.queue, arrays["queue"], self.width)',
        'restore_rows("queue", self.queue.copy(), arrays["queue"], self.width)',
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/input_port.py::InputPort.restore",
        'restore_rows("last", self.last, arrays["last"])',
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/pairing_pool.py::PairingPool.restore",
        "self.write_word(port, pairing_layout.LOST, lost)",
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/state_owner.py::OperatorState.restore",
        'self.header[index] = values["counters"][name]',
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/keys.py::KeyTable.drop", "self.free += map(int, slots)", "pass", ("state",)
    ),
    Mutant(
        "rtbot/storage/container.py::verify_blob",
        "hashlib.sha256(memoryview(blob)[:-DIGEST]).digest() != blob[-DIGEST:]",
        "len(blob) < DIGEST",
        ("dumps",),
    ),
    Mutant(
        "rtbot/compiler/plan.py::select_chosen",
        "{n: v for n, v in values.items() if n not in defaults or v != defaults[n]}",
        "{}",
        ("dumps",),
    ),
]
RESUMED = [
    Mutant(
        "rtbot/runtime/dump.py::_restore",
        'session.rows = dict(header["rows"])',
        "pass",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/input_port.py::InputPort.restore",
        'dict(values["lost"])',
        "{}",
        compared=True,
    ),
    Mutant(
        "rtbot/runtime/dump.py::_restore",
        'session.texts.load(header["texts"], arrays["texts"])',
        "pass",
        compared=True,
    ),
    Mutant("rtbot/runtime/dump.py::_restore", 'dict(header["own_rows"])', "{}", compared=True),
    Mutant(
        "rtbot/runtime/reorder.py::ReorderBuffer.restore", 'values["order"]', "0", compared=True
    ),
    Mutant(
        "rtbot/runtime/keys.py::KeyTable._sort_words", "columns[::-1]", "columns", compared=True
    ),
]
OPERATORS = [
    Mutant(
        "rtbot/numeric/exact/sums.py::shift_sum",
        "slack + (abs(missed) + abs(dropped))",
        "slack",
        ("exact", *TORTURES),
    ),
    Mutant(
        "rtbot/numeric/exact/sums.py::special_code",
        "NEGATIVE_SPECIAL if x == -math.inf else 0",
        "0",
    ),
    Mutant("rtbot/numeric/curves.py::blend", "share * change", "change * (share / 2.0)"),
    Mutant(
        "rtbot/numeric/exact/sums.py::settle_sum",
        "if slack == 0.0: return True, high + low",
        "return True, high + low",
        ("exact", *TORTURES),
    ),
    Mutant(
        "rtbot/numeric/exact/digits.py::digits_to_deviation",
        "variance < math.inf",
        "variance <= math.inf",
    ),
    Mutant("rtbot/operators/timing.py::find_peak", "i1 > highest", "i1 >= highest"),
    Mutant(
        "rtbot/operators/running.py::difference_integer",
        "EMIT if fits else DOMAIN",
        "EMIT",
        ("session", *TORTURES),
    ),
    Mutant("rtbot/operators/timing.py::Lag.step", "EMIT if values_evicts else SILENT", "EMIT"),
    Mutant(
        "rtbot/numeric/exact/cumulative.py::running_integer_sum",
        "-2 <= high <= 1",
        "-3 <= high <= 1",
    ),
    Mutant("rtbot/numeric/ieee.py::add_checked", "INTEGER_MAX - b", "INTEGER_MAX"),
    Mutant(
        "rtbot/operators/resample.py::ResamplerConstant.step", "i1 if due == time else held", "held"
    ),
    Mutant("rtbot/operators/smoothing.py::EMA.step", "min(messages + 1, window)", "window"),
    Mutant(
        "rtbot/operators/arithmetic.py::Division", "staticmethod(_some_divisor_is_zero)", "None"
    ),
    TextMutant(
        "rtbot/compiler/variables.py::canonicalise_value",
        "{text} if {text} == {text} else math.nan",
        "{text} + 0.0",
    ),
    Mutant(
        "rtbot/operators/windows.py::prefer",
        "later != later or (later > earlier if largest else later < earlier)",
        "later > earlier if largest else later < earlier",
    ),
]
LANGUAGE = [
    Mutant(
        "rtbot/expression/rules.py::_Typer.build",
        "any(a.type.nullable for a in args)",
        "False",
        ("loader", *TORTURES),
    ),
    Mutant(
        "rtbot/expression/rules.py::_Typer.coalesce",
        "all(a.type.nullable for a in args)",
        "False",
        ("loader", *TORTURES),
    ),
    Mutant(
        "rtbot/compiler/expression_code.py::ExpressionWriter._write_checked",
        "join_flags(fine, ok)",
        "fine",
    ),
    Mutant(
        "rtbot/expression/syntax.py::",
        "(16, 13)",
        "(13, 16)",
        ("loader", "torture"),
    ),
    Mutant("rtbot/expression/rules.py::_Typer.power", "value >= 0", "True", ("loader", *TORTURES)),
    Mutant(
        "rtbot/graph/check/resolve_nodes.py::_resolve_operator",
        'type_.nullable or roles[port] != "must"',
        "type_.nullable",
        ("loader", *TORTURES),
    ),
    Mutant(
        "rtbot/numeric/ieee.py::modulo",
        "if remainder == 0.0: return math.copysign(0.0, y)",
        "pass",
    ),
]
FOUND = [
    Mutant(
        "rtbot/runtime/buffered_path.py::BufferedPath._make_room",
        "rows > self.room",
        "rows < 0",
        ("one",),
    ),
    Mutant(
        "rtbot/runtime/keys.py::KeyTable.roll_back",
        "self.free += reversed(self._taken)",
        "pass",
        ("state",),
    ),
    Mutant(
        "rtbot/storage/checkpoint_store.py::CheckpointStore._check_ownership",
        "self._read_digest() != self._known",
        "False",
        ("files",),
    ),
    Mutant(
        "rtbot/io/sources/offsets.py::digest_pages",
        "[(0, ENDS_BYTES), *pages, (max(size - ENDS_BYTES, 0), ENDS_BYTES)]",
        "[(0, ENDS_BYTES), *pages]",
        ("files",),
    ),
    Mutant(
        "spark_adapter/ranks.py::_sort_open_units",
        "(work.time, work.port)",
        "(work.time,)",
        ("spark",),
    ),
    Mutant(
        "rtbot/runtime/buffered_path.py::BufferedPath._run",
        "runner.ahead -= self.rows",
        "pass",
        ("one",),
    ),
    Mutant(
        "rtbot/tables/string_dictionary.py::StringDictionary.roll_back",
        "self._given = given",
        "pass",
        ("one",),
    ),
    Mutant("rtbot/runtime/kernels/rows.py::sift", "child += 1", "child += 2", ("state",)),
    Mutant(
        "rtbot/operators/resample.py::ResamplerConstant.reach",
        'values["interval"] if cls._snaps(values) else 0',
        "0",
        ("late",),
    ),
    Mutant(
        "rtbot/runtime/reorder.py::ReorderBuffer.rebuild",
        "self.places.rebuild(self.roots, self.pool)",
        "pass",
        ("times",),
    ),
    Mutant(
        "rtbot/compiler/pairing_rows.py::RowQueueCode.pop",
        'f"        header[{self.free}] = block{k}"',
        'f"        pass"',
        ("state",),
    ),
    Mutant("rtbot/io/sinks/csv_writer.py::quote_cell", r"""'",\r\n'""", r"""'",\n'""", ("files",)),
]
KEPT = [
    Mutant(
        "rtbot/runtime/keys.py::KeyTable._take_slots",
        "self._taken += reuse",
        "self._taken = reuse",
        SURVIVORS,
    ),
    Mutant("rtbot/runtime/keys.py::KeyTable._distinct", "np.any", "np.all", ("state",)),
    Mutant(
        "rtbot/runtime/ingest.py::Ingest._sort_table", "ends[:] = starts[:-1]", "pass", SURVIVORS
    ),
    Mutant(
        "rtbot/runtime/ingest.py::Ingest.assign_slots",
        "self.keys.width != width",
        "False",
        SURVIVORS,
    ),
    Mutant("rtbot/runtime/kernels/rows.py::admit", "some = some or not late", "pass", SURVIVORS),
    Mutant(
        "rtbot/runtime/input_port.py::InputPort.make_refused_error",
        "before.max",
        "before.min",
        ("malformed",),
    ),
    Mutant(
        "rtbot/runtime/reorder.py::ReorderBuffer._settle_ties",
        "FIRST <= result <= LAST",
        "FIRST < result < LAST",
        SURVIVORS,
    ),
    Mutant("rtbot/runtime/reorder.py::sum_exactly", "infinite[0]", "infinite[0] * 0", ("edge",)),
    Mutant(
        "rtbot/runtime/dump_formats.py::name_arrays",
        'header["state"] != plan.state_digest',
        'not header["state"]',
        SURVIVORS,
    ),
    Mutant(
        "rtbot/runtime/input_port.py::InputPort.restore",
        'self.floor = values["floor"]',
        "pass",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/storage/container.py::decode_blob",
        "place != len(blob) - DIGEST",
        "place > len(blob) - DIGEST",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/runtime/account.py::count_emitted",
        'port.counts["arrived"] - port.counts["held"]',
        'port.counts["arrived"]',
        SURVIVORS,
    ),
    Mutant(
        "rtbot/io/account_table.py::sum_losses",
        'unmatched and reason == "unmatched"',
        'reason == "unmatched"',
        ("cli",),
    ),
]
COMPUTED = [
    Mutant("rtbot/operators/windows.py::slide_extreme", "place + 1", "place + 2", ("declared",)),
    Mutant(
        "rtbot/operators/windows.py::prefer", "later > earlier", "later >= earlier", ("declared",)
    ),
    Mutant(
        "rtbot/operators/windows.py::window_extreme",
        "partial or wrapped",
        "partial or place + 1 == window",
        ("declared",),
    ),
    Mutant(
        "rtbot/numeric/exact/cumulative.py::add_dropped",
        "digits[index + 1] += carry",
        "pass",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/numeric/exact/deviations.py::shift_moments",
        "square_slack = math.inf",
        "pass",
        ("windows",),
    ),
    Mutant(
        "rtbot/numeric/exact/sums.py::integer_sum",
        "leaving % INTEGER_PART",
        "leaving % INTEGER_PART + 1",
        ("integers",),
    ),
    Mutant(
        "rtbot/operators/resample.py::take_point",
        "due > INTEGER_MAX - interval",
        "due >= INTEGER_MAX - interval",
        ("declared",),
    ),
    Mutant(
        "rtbot/operators/resample.py::first_grid_point",
        "time >= INTEGER_MIN + behind",
        "time > INTEGER_MIN + behind",
        ("declared",),
    ),
    Mutant(
        "rtbot/operators/filters.py::NotEqualTo",
        '"beyond(i1, value, epsilon)"',
        '"not within(i1, value, epsilon)"',
        ("oracles",),
    ),
    TextMutant(
        "rtbot/operators/logic.py::_none",
        "not ({' or '.join(ports)})",
        "not {' or '.join(ports)}",
        ("oracles",),
    ),
    Mutant(
        "rtbot/compiler/expression_code.py::ExpressionWriter._if",
        "join_flags(choice.fine, fine)",
        "fine",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/compiler/expression_code.py::ExpressionWriter._coalesce",
        "self._select_flag(code.valid, code.fine, result.fine)",
        "join_flags(code.fine, result.fine)",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/expression/tree.py::",
        '{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}',
        '{"<": ">=", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}',
        SURVIVORS,
    ),
    Mutant(
        "rtbot/graph/check/io_section.py::_read_key",
        "len(names) > COLUMNS_MAX",
        "len(names) > COLUMNS_MAX + 1",
        SURVIVORS,
    ),
    Mutant(
        "rtbot/graph/check/references.py::sort_drafts",
        "[*cycle[first:], *cycle[:first]]",
        "cycle",
        SURVIVORS,
    ),
]
READ_AND_SHOWN = [
    Mutant(
        "rtbot/io/sources/key_integers.py::",
        'r"^(0|-?[1-9][0-9]*)$"',
        'r"^-?[0-9]+$"',
        ("cli",),
    ),
    Mutant(
        "rtbot/io/sources/key_integers.py::_is_int64",
        'text.lstrip("-").lstrip("0")',
        'text.lstrip("-")',
        SURVIVORS,
    ),
    Mutant(
        "rtbot/io/sources/csv_chunks.py::find_last_record_end",
        "data.count(quote, 0, end) % 2",
        "0",
        ("cli",),
    ),
    Mutant(
        "rtbot/io/sinks/csv_writer.py::_encode_quoted",
        "pc.replace_substring(text, '\"', '\"\"')",
        "text",
        ("files",),
    ),
    Mutant("rtbot/core/times.py::_check_writable", "times >= last", "times > last", ("clock",)),
    Mutant(
        "rtbot/core/times.py::convert_datetimes",
        "counts > INT64_MAX // factor",
        "counts >= INT64_MAX // factor",
        ("clock",),
    ),
    Mutant("rtbot/core/times.py::_parse_offset", "offset[3:]", "offset[4:]", ("clock",)),
    Mutant(
        "rtbot/viz/charts/axes.py::TimeAxis._regular_ticks",
        "shift -= MONDAY if step % (7 * DAY) == 0 else 0",
        "pass",
        ("charts",),
    ),
    Mutant(
        "rtbot/viz/charts/downsample.py::Collector._shows",
        "rank_key(key) > rank_key(greatest)",
        "rank_key(key) < rank_key(greatest)",
        ("charts",),
    ),
    Mutant(
        "rtbot/tables/number_columns.py::_from_list",
        "not issubclass(known, accepted) or (known is bool and bool not in accepted)",
        "not issubclass(known, accepted)",
        ("tables",),
    ),
    Mutant(
        "rtbot/tables/number_columns.py::_to_stamps",
        "value.astimezone(UTC)",
        "value",
        ("tables",),
    ),
    Mutant(
        "rtbot/tables/number_columns.py::_from_list",
        "array[valid] = _make_array(list(compress(column, valid)), kind)",
        "array[: valid.sum()] = _make_array(list(compress(column, valid)), kind)",
        ("tables",),
    ),
    Mutant(
        "rtbot/tables/split.py::_split_wide",
        "replace(convert_table(form, strict), nulls=0)",
        "convert_table(form, strict)",
        ("tables",),
    ),
    Mutant(
        "spark_adapter/watermark_clock.py::WatermarkClock.to_time",
        '999 if self.unit == "ns" else 0',
        "0",
        ("timer",),
    ),
    Mutant(
        "spark_adapter/row_order.py::find_key_changes",
        "unequal = pc.or_(unequal, pc.xor(pc.is_null(after), pc.is_null(before)))",
        "pass",
        ("ranks",),
    ),
    Mutant(
        "spark_adapter/ranks.py::sort_units",
        "np.searchsorted(ranks, ranks[-1])",
        'np.searchsorted(ranks, ranks[-1], "right")',
        ("ranks",),
    ),
]
MUTANTS = [
    *(*FOUND, *EDGE, *PAIRING, *STATE, *RESUMED, *OPERATORS, *LANGUAGE),
    *(*KEPT, *COMPUTED, *READ_AND_SHOWN, *CHANGES, *DATALOG, *SERIES),
]
