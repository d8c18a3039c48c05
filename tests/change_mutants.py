"""Mutants of change streams: stores, regions, groups, feeds, bridges and what a client keeps."""

from tests.mutation import Mutant

WEIGHING = "rtbot/relations/kernels/weighing.py"
CHANGES = [
    Mutant(
        f"{WEIGHING}::weigh",
        "weigh_any(values, first + 1, ports - 1) == 0",
        "weigh_any(values, first + 1, ports - 1) >= 0",
        ("regions",),
    ),
    Mutant(
        f"{WEIGHING}::weigh_least",
        "range(first + 1, first + ports)",
        "range(first + 1, first + ports - 1)",
        ("regions",),
    ),
    Mutant(
        f"{WEIGHING}::weigh_rest",
        "max(rest - values[place], 0)",
        "rest - values[place]",
        ("regions",),
    ),
    Mutant(f"{WEIGHING}::sum_count", "high[part] < 0", "high[part] < -1", ("regions",)),
    Mutant(
        f"{WEIGHING}::finish_row",
        "some or counts[base + port] != 0",
        "counts[base + port] != 0",
        ("regions",),
    ),
    Mutant(
        "rtbot/tables/hash_tables.py::remove_entry",
        "distance >= gap",
        "distance > gap",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/kernels/upserting.py::gather_puts",
        "not same and not last_wins",
        "not same and last_wins",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/kernels/upserting.py::gather_puts",
        "weights[row] > 0",
        "weights[row] > 1",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/kernels/ordering.py::net_rows", "total != 0", "total > 0", ("regions",)
    ),
    Mutant(
        "rtbot/relations/kernels/ordering.py::compare_rows",
        "left < right",
        "left > right",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/region.py::Region._close_some",
        "step.taken > limit",
        "step.taken > limit + 1",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/region.py::Region._find_excess_rows",
        "np.argmax(sizes > most)",
        "0",
        ("regions",),
    ),
    Mutant(
        "rtbot/relations/row_codec.py::_encode_cells",
        "numbers += 0.0",
        "pass",
        ("codec",),
    ),
    Mutant(
        "rtbot/relations/row_codec.py::_order_cells",
        "cells ^ ((cells >> 63) & LARGEST)",
        "cells",
        ("codec", "regions"),
    ),
    Mutant(
        "rtbot/relations/grouped.py::GroupedOperator.run",
        "self._undo(deltas, int(deltas.starts[bad]), row)",
        "pass",
        ("groups",),
    ),
    Mutant(
        "rtbot/relations/grouped.py::GroupedOperator.restore",
        "self.store.make_table(self._find_fill())",
        "pass",
        ("groups",),
    ),
    Mutant(
        "rtbot/relations/change_feed.py::ChangeFeed._check_times",
        "before - self.lateness",
        "before - self.lateness - 1",
        ("feeds",),
    ),
    Mutant(
        "rtbot/relations/change_feed.py::ChangeFeed.frontier",
        "self.newest - (self.lateness or 0) - 1",
        "self.newest - (self.lateness or 0)",
        ("feeds",),
    ),
    Mutant(
        "rtbot/relations/region_runner.py::RegionRunner._stamp",
        "int(times[0]) - 1",
        "int(times[0])",
        ("staged",),
    ),
    Mutant(
        "rtbot/relations/region_runner.py::RegionRunner.run",
        'self.feeds[name].lose("discarded", int(deltas.starts[at + 1] - deltas.starts[at]))',
        "pass",
        ("staged",),
    ),
    Mutant(
        "rtbot/relations/region_runner.py::RegionRunner._put_back",
        "self.feeds[name].put_back(rows.cut(int(inputs[name].starts[at]), len(rows)))",
        "pass",
        ("staged",),
    ),
    Mutant(
        "rtbot/relations/single_row.py::SingleRow.run",
        "self.counts.get(keys[row], 0) > 1",
        "self.counts.get(keys[row], 0) > 2",
        ("regions", "staged"),
    ),
    Mutant(
        "rtbot/runtime/bridges.py::make_messages",
        "rows.weights[last] > 0",
        "rows.weights[last] < 2",
        ("staged",),
    ),
    Mutant(
        "rtbot/relations/cache.py::_identify",
        "(type(cell), cell)",
        "(type(None), cell)",
        ("cache",),
    ),
    Mutant(
        "rtbot/tables/change_rows.py::order_changes",
        'np.argsort(rows.time, kind="stable")',
        "np.argsort(-rows.time)",
        ("change rows", "staged"),
    ),
    Mutant(
        "rtbot/io/change_batch.py::ChangeConverter.convert_block",
        "whole.take(keep)",
        "whole",
        ("change files",),
    ),
]
