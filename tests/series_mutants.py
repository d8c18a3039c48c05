"""Mutants of the series operators, and of what keeps their lists, inner keys and timers."""

from tests.mutation import Mutant, TextMutant

EDGES = ("edges of operators", "series")
AGGREGATES = ("aggregates", "series")
SERIES = [
    # ---- lists, inner keys, timers
    Mutant(
        "rtbot/runtime/kernels/spans.py::make_room",
        "table[at + SPAN_FIRST] + table[at + SPAN_COUNT] + rows",
        "table[at + SPAN_FIRST] + rows",
        ("spans",),
    ),
    Mutant(
        "rtbot/runtime/kernels/spans.py::pack_blocks",
        "fresh += capacity * fields[index]",
        "fresh += count * fields[index]",
        ("spans",),
    ),
    Mutant(
        "rtbot/runtime/span_pool.py::SpanPool.clear",
        "words[:] = 0",
        "pass",
        ("spans", "series"),
    ),
    Mutant(
        "rtbot/runtime/span_pool.py::SpanPool._place",
        "fields * (np.cumsum(capacity) - capacity)",
        "fields * np.cumsum(capacity)",
        ("spans", "series"),
    ),
    TextMutant(
        "rtbot/compiler/window_code.py::write_time_window",
        "{prefix}_full or {prefix}_evicts",
        "{prefix}_evicts",
        EDGES,
    ),
    Mutant("rtbot/numeric/ieee.py::is_older", "time <= now - span", "time < now - span", EDGES),
    Mutant(
        "rtbot/numeric/ieee.py::is_older",
        "time + span <= now if time < 0 else time <= now - span",
        "time <= now - span",
        ("ieee",),
    ),
    Mutant("rtbot/runtime/inner_keys.py::encode_keys", "0.0", "-0.0", EDGES),
    Mutant(
        "rtbot/runtime/inner_keys.py::encode_keys",
        "numbers[numbers != numbers] = np.nan",
        "pass",
        ("inner keys",),
    ),
    Mutant(
        "rtbot/runtime/inner_keys.py::InnerKeys.clear",
        "self.owners[slot] = NONE",
        "pass",
        ("inner keys", "series"),
    ),
    Mutant(
        "rtbot/runtime/inner_keys.py::InnerKeys.sweep",
        "self.met.clear()",
        "pass",
        ("inner keys", "series"),
    ),
    Mutant(
        "rtbot/runtime/inner_keys.py::InnerKeys.save",
        "places, whose = places[kept], whose[kept]",
        "pass",
        ("inner keys",),
    ),
    Mutant("rtbot/compiler/timer_layout.py::is_due", "due <= until", "due < until", EDGES),
    Mutant(
        "rtbot/compiler/timer_layout.py::moves_on",
        "due > before",
        "due > before + 1",
        EDGES,
    ),
    Mutant(
        "rtbot/runtime/waiting_rows.py::Wakes.find_next",
        "self.watched[self.slot[0]] == self.time[0]",
        "True",
        ("timers", "series"),
    ),
    Mutant(
        "rtbot/runtime/timers.py::Timers.restore",
        "self.rebuild()",
        "pass",
        ("timers", "series"),
    ),
    TextMutant(
        "rtbot/compiler/retime_code.py::RetimeWriter._write_timer",
        "if {self.call.due} != {NEVER}:",
        "if {self.call.due} == {NEVER}:",
        ("timers", "series"),
    ),
    # ---- windows of time
    Mutant(
        "rtbot/operators/aggregates.py::since_start",
        "time % length - offset % length",
        "abs(time) % length - offset % length",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/aggregates.py::note_value",
        "lower != 0.0",
        "lower > 0.0 and upper != 0.0",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/aggregates.py::note_value",
        "messages == 0",
        "messages <= 1",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/aggregates.py::close_window",
        "clear_digits(digits, digits_first, SUM_DIGITS)",
        "clear_digits(digits, digits_first, 1)",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::find_end",
        "distance > window",
        "distance >= window",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::find_end",
        "min(distance, hop - since)",
        "distance",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::add_exactly",
        "return high, low, x",
        "return high, low, 0.0",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::shift_drops",
        "totals[totals_first + SPECIALS] += sign * special",
        "totals[totals_first + SPECIALS] += special",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::extreme_of_panes",
        "panes_count > front",
        "panes_count > panes",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::stack_extremes",
        "range(2, end - begin + 1)",
        "range(3, end - begin + 1)",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::close_hop",
        "time - panes_time[panes_time_first + leaving] > window - hop",
        "time - panes_time[panes_time_first + leaving] >= window - hop",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/hopping.py::leave_front",
        "leaving > totals[totals_first + FRONT]",
        "leaving > totals[totals_first + FRONT] + 1",
        AGGREGATES,
    ),
    Mutant(
        "rtbot/numeric/exact/gathered.py::refit_sum",
        "sign * scratch[scratch_first + place]",
        "scratch[scratch_first + place]",
        AGGREGATES,
    ),
    # ---- silence, changes, thresholds
    Mutant(
        "rtbot/operators/silence.py::wait_from",
        "due if fits else NEVER",
        "due",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/silence.py::GapDetector.step", "distance >= gap", "distance > gap", EDGES
    ),
    Mutant(
        "rtbot/operators/silence.py::GapDetector.step",
        "code if fits or not started else DOMAIN",
        "code",
        EDGES,
    ),
    Mutant("rtbot/operators/filters.py::Dedup.step", "age < within", "age <= within", EDGES),
    Mutant(
        "rtbot/operators/filters.py::Dedup.step",
        "i1 == passed or (i1 != i1 and passed != passed)",
        "i1 == passed",
        EDGES,
    ),
    Mutant("rtbot/operators/comparison.py::hysteresis", "i1 < low", "i1 <= low", EDGES),
    Mutant(
        "rtbot/operators/comparison.py::integer_hysteresis",
        "greater_mixed(i1, high)",
        "float(i1) > high",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/running.py::rate_of_integers",
        "subtract_to_number(i1, previous)",
        "float(i1) - float(previous)",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/running.py::rate",
        "counter and i1 < previous",
        "counter and i1 <= previous",
        EDGES,
    ),
    # ---- order, scores, pairs
    Mutant(
        "rtbot/operators/quantiles.py::slide_quantile_of_span",
        "key - passed >= values_count",
        "key - passed > values_count",
        ("quantiles",),
    ),
    Mutant(
        "rtbot/operators/quantiles.py::replace_ranked",
        "words[p + key] = 0",
        "pass",
        ("quantiles",),
    ),
    Mutant(
        "rtbot/numeric/rank_heaps.py::settle",
        "node > 1 and is_nearer(value, values[v + parent], side)",
        "False",
        ("heaps",),
    ),
    Mutant(
        "rtbot/numeric/rank_heaps.py::replace_value",
        "other_count > 0 and is_nearer(value, values[other_v + 1], side)",
        "other_count > 1 and is_nearer(value, values[other_v + 1], side)",
        ("heaps",),
    ),
    Mutant(
        "rtbot/numeric/rank_heaps.py::blend_ranked",
        "part == 0.5 * whole and middle - middle == 0.0",
        "part == 0.5 * whole",
        ("heaps",),
    ),
    Mutant(
        "rtbot/numeric/rank_heaps.py::blend_ranked",
        "abs(error) + abs(product_rest) + abs(change_rest) + abs(more)",
        "abs(error) * 0.0",
        ("heaps",),
    ),
    Mutant(
        "rtbot/numeric/rank_heaps.py::rest_of",
        "2.0**53 <= abs(nearest) <= 2.0**63",
        "2.0**53 < abs(nearest) < 2.0**63",
        ("heaps",),
    ),
    Mutant(
        "rtbot/numeric/curves.py::point_between",
        "left, right, part = right, left, whole - part",
        "pass",
        ("curves",),
    ),
    Mutant(
        "rtbot/numeric/curves.py::round_triple", "error > 0.0 and least > 0.0", "False", ("curves",)
    ),
    Mutant(
        "rtbot/operators/scores.py::ZScore.step",
        "divide(values_entering - mean, deviation)",
        "divide(mean - values_entering, deviation)",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/scores.py::leave_score",
        "high, low, slack, infinities = leave_sum(values_leaving, high, low, slack, infinities)",
        "pass",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/covariances.py::leave_pair",
        "store_sums(found, sums, sums_first)",
        "pass",
        EDGES,
    ),
    Mutant(
        "rtbot/numeric/exact/products.py::digits_to_covariance",
        "divide_digits(count - 1, cut, scratch, products, SQUARE_DIGITS)",
        "divide_digits(count, cut, scratch, products, SQUARE_DIGITS)",
        ("pairs",),
    ),
    # ---- null, averages, filters
    Mutant(
        "rtbot/operators/filling.py::fill_linear",
        "frontier = nulls_time[nulls_time_first] - 1",
        "frontier = nulls_time[nulls_time_first]",
        EDGES,
    ),
    Mutant("rtbot/operators/filling.py::fill_number", "EMIT if known else DOMAIN", "EMIT", EDGES),
    Mutant(
        "rtbot/operators/smoothing.py::RelativeStrengthIndex.step",
        "i1 - i1 != 0.0",
        "i1 != i1",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/smoothing.py::RelativeStrengthIndex.step",
        "changes < n",
        "changes <= n",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/smoothing.py::ema_by_time",
        "return EMIT, math.nan, started, average, before",
        "return EMIT, math.nan, started, average, time",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/linear_filters.py::add_weighted",
        "recent[base + newest + count - k]",
        "recent[base + newest + k - count]",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/linear_filters.py::InfiniteImpulseResponse.step",
        "behind - 1 if behind > 0 else a_count - 1",
        "behind",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/resample.py::hold_for_a_while", "age > max_gap", "age >= max_gap", EDGES
    ),
    # ---- routing, inner keys, ranks, vectors
    Mutant(
        "rtbot/operators/routing.py::Multiplexer.step",
        "count == 1 and i_valid[chosen]",
        "count > 0 and i_valid[chosen]",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/routing.py::Demultiplexer.keep",
        'f"c{k}"',
        '"c1"',
        EDGES,
    ),
    Mutant("rtbot/operators/keyed.py::MovingKeyCount.step", "i1 == i1", "True", EDGES),
    Mutant(
        "rtbot/operators/keyed.py::MovingKeyCount.step",
        "counts_count[leaving] -= 1",
        "counts_count[leaving] -= 0",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/keyed.py::keep_latest",
        "held_known[held_i1] = i2 == i2",
        "held_known[held_i1] = True",
        EDGES,
    ),
    Mutant("rtbot/operators/ranking.py::find_rank", "score >= other", "score > other", EDGES),
    Mutant("rtbot/operators/ranking.py::find_rank", "other != other", "False", EDGES),
    Mutant(
        "rtbot/operators/ranking.py::TopK.step",
        "order[order_first + k - 1]",
        "order[order_first + place]",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/vectors.py::VectorProject.formula",
        "name_element(ports[0], index)",
        "name_element(ports[0], place)",
        EDGES,
    ),
    Mutant(
        "rtbot/operators/vectors.py::check_index",
        "index >= len(type_.fields)",
        "index > len(type_.fields)",
        ("refused parameters",),
    ),
]
"""Lists first, then operators by topic."""
