"""The generated loop of a grouped operator, over transactions and their rows.

A loop works on arrays that its caller grows, and returns a code of `group_counters` when one is
full; it goes on from `counters` when it is called again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric import counted_treap, treap
from rtbot.numeric.exact import weighted
from rtbot.relations.group_counters import (
    BAD_FIELD,
    BAD_GROUP,
    BAD_SUM,
    BAD_WEIGHT,
    BLOCKS,
    COUNT,
    DONE,
    FULL_BLOCKS,
    FULL_NODES,
    FULL_TEXT_NODES,
    MASK,
    NODES,
    ROW,
    ROWS_OUT,
    TEXT_NODES,
    TRANSACTION,
)
from rtbot.relations.group_keys import KeyWriter, indent_lines
from rtbot.relations.group_layout import (
    BOOLEANS,
    EMITTED,
    EXTREMES,
    MEANS,
    QUANTILE,
    SPREADS,
    STALE,
    TOUCHED,
    Computation,
    GroupLayout,
    StateKey,
)

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS: tuple[Callable[..., Any], ...] = (
    weighted.take_entry,
    weighted.free_entry,
    weighted.free_block,
    weighted.add_weighted_integer,
    weighted.integer_sum_fits,
    weighted.total_integers,
    weighted.mean_integers,
    weighted.add_weighted_number,
    weighted.total_numbers,
    weighted.mean_numbers,
    weighted.add_moments,
    weighted.add_integer_moments,
    weighted.spread_of_moments,
    treap.spread_bits,
    treap.draw_priority,
    treap.order_bits,
    treap.add_copies,
    treap.fetch_paths,
    treap.find_extreme,
    counted_treap.add_counted,
    counted_treap.find_quantile,
)
"""Steps that loops call by their names."""

CALL_PARAMETERS = (
    *("starts", "words", "floats", "weights", "last", "sign"),
    *("out", "out_floats", "out_weights", "out_starts"),
)
"""The parameters of a loop that are new with every call."""


def list_parameters(layout: GroupLayout) -> list[str]:
    """Return the names of the parameters of the loop."""
    names = [*CALL_PARAMETERS, "records", "record_floats"]
    names += ["table"] if layout.by else []
    names += ["blocks"] if layout.block else []
    names += ["nodes"] if layout.list_trees(text=False) else []
    names += ["text_nodes"] if layout.list_trees(text=True) else []
    names += ["ranks"] if {"nodes", "text_nodes"} & {*names} else []
    return [*names, "touched", "counters", "scratch"]


def list_steps(text: str) -> list[Callable[..., Any]]:
    """Return the steps that generated text calls."""
    return [step for step in STEPS if f"{step.__name__}(" in text]


def write_group_functions(name: str, layout: GroupLayout) -> str:
    """Return the text of the loop NAME, and of NAME_fill, which makes the table, if there are keys.

    It needs the text of `list_steps(text)` beside it.
    """
    writer = _GroupWriter(name, layout)
    parts = [writer.write_loop()]
    if layout.by:
        tree = writer.find_tree()
        fetch = [writer.write_fetch(*tree)] if tree else []
        parts = [writer.write_hash(), writer.write_fill(), *fetch, *parts]
    return "\n\n".join(parts)


class _GroupWriter(KeyWriter):
    """Writes the functions of one operator."""

    def check_room(self) -> list[str]:
        """Return lines that leave if a row could need more entries than there are."""
        needs = [
            (BLOCKS, len(self.layout.list_blocks()), FULL_BLOCKS),
            (NODES, len(self.layout.list_trees(text=False)), FULL_NODES),
            (TEXT_NODES, len(self.layout.list_trees(text=True)), FULL_TEXT_NODES),
        ]
        lines = []
        for pool, count, code in needs:
            if count:
                lines.append(f"if counters[{pool + 2}] < {count}:")
                lines += indent_lines(self.leave(code))
        return lines

    def write_loop(self) -> str:
        """Write the loop."""
        layout = self.layout
        limit = layout.weight_limit
        row = [
            f"base = row * {layout.source.width}",
            "weight = weights[row]",
            f"if sign > 0 and (weight < -{limit} or weight > {limit}):",
            *indent_lines(self.leave(BAD_WEIGHT)),
            "weight *= sign",
            *self.check_room(),
            *self.find_group(),
            f"at = slot * {layout.width}",
            "total = records[at] + weight",
            f"if sign > 0 and (total < -{limit} or total > {limit}):",
            *indent_lines(self.leave(BAD_WEIGHT)),
            "records[at] = total",
            f"if records[at + 1] & {TOUCHED} == 0:",
            f"    records[at + 1] |= {TOUCHED}",
            "    touched[count] = slot",
            "    count += 1",
            *self.update_states(),
            "row += 1",
        ]
        lines = [
            f"transaction = counters[{TRANSACTION}]",
            f"row = counters[{ROW}]",
            f"count = counters[{COUNT}]",
            f"emitted = counters[{ROWS_OUT}]",
            *([f"table_mask = counters[{MASK}]"] if self.keys else []),
            "while transaction < last:",
            "    end = starts[transaction + 1]",
            "    while row < end:",
            *indent_lines(row, 2),
            *indent_lines(self.emit_rows()),
            "    transaction += 1",
            "    out_starts[transaction] = emitted",
            *self.leave(DONE),
        ]
        head = f"def {self.name}({', '.join(list_parameters(layout))}):"
        return "\n".join([head, *indent_lines(lines), ""])

    def update_states(self) -> list[str]:
        """Return lines that add a row to the states of its group."""
        lines = []
        for place in dict.fromkeys(key.place for key in self.layout.places):
            keys = [key for key in self.layout.places if key.place == place]
            found = [line for key in keys if not key.distinct for line in self.update_state(key)]
            distinct = [line for key in keys if key.distinct for line in self.update_state(key)]
            if distinct:
                found += ["if change != 0:", *indent_lines(distinct)]
            if self.layout.is_nullable(place):
                word, bit = self.fields + place // 63, place % 63
                found = [f"if words[base + {word}] >> {bit} & 1 == 0:", *indent_lines(found)]
            lines += found
        return lines

    def update_state(self, key: StateKey) -> list[str]:
        """Return lines that add the value of a row to one state."""
        at, kind = f"at + {self.layout.places[key]}", self.layout.kind(key.place)
        word, weight = f"words[base + {key.place}]", "change" if key.distinct else "weight"
        value = f"floats[base + {key.place}]" if kind == "number" else word
        stores = f"{BLOCKS}, records, record_floats, counters, blocks, {self.layout.block}"
        match key.name:
            case "present":
                return [f"records[{at}] += weight"]
            case "true":
                return [f"records[{at}] += weight * {word}"]
            case "integers":
                return [f"add_weighted_integer({value}, {weight}, {at}, records)"]
            case "numbers":
                return [f"add_weighted_number({value}, {weight}, {at}, {stores})"]
            case "moments":
                step = "add_integer_moments" if kind == "integer" else "add_moments"
                return [f"{step}({value}, {weight}, {at}, {stores})"]
        order = f"order_bits({word})" if kind == "number" else word
        if key.name == "counted":
            return [f"add_counted({order}, {weight}, {at}, {NODES}, records, counters, nodes)"]
        marks = self.mark_stale(key.place, word)
        pool, nodes = (TEXT_NODES, "text_nodes") if kind == "text" else (NODES, "nodes")
        others = f"{pool}, records, counters, {nodes}, ranks, {kind == 'text'}"
        return [f"change = add_copies({order}, weight, {at}, {others})", *marks]

    def mark_stale(self, place: int, word: str) -> list[str]:
        """Return lines that mark a group if a value that came or went may be an extreme."""
        compared = []
        for number, (function, of, *_) in enumerate(self.layout.compute):
            if function in EXTREMES and of == place:
                known = self.rank_word(place, self.read_known(number))
                sign = "<=" if function == "min" else ">="
                compared.append(f"{self.rank_word(place, word)} {sign} {known}")
        if not compared:
            return []
        condition = " or ".join(dict.fromkeys(compared))
        return [f"if change != 0 and ({condition}):", f"    records[at + 1] |= {STALE}"]

    def rank_word(self, place: int, word: str) -> str:
        """Return text of what the value of a word is ordered by."""
        order = {"text": f"ranks[{word}]", "number": f"order_bits({word})"}
        return order.get(self.layout.kind(place), word)

    # ---- the end of a transaction

    def emit_rows(self) -> list[str]:
        """Return lines that emit what the transaction has changed."""
        layout = self.layout
        out, target = f"* {layout.target.width}", layout.target.width
        exists = "True" if not self.keys else "records[at] > 0"
        forget = ["if records[at] == 0:", *indent_lines(self.forget_group())] if self.keys else []
        return [
            "for index in range(count):",
            "    slot = touched[index]",
            f"    at = slot * {layout.width}",
            f"    was = records[at + 1] & {EMITTED}",
            f"    if {exists}:",
            f"        base = (emitted + was) {out}",
            *indent_lines(self.compute_results(), 2),
            "        differs = was == 0",
            f"        for word in range({target}):",
            f"            differs |= out[base + word] != records[at + {layout.row} + word]",
            "        if differs:",
            f"            for word in range({target}):",
            f"                before = records[at + {layout.row} + word]",
            f"                records[at + {layout.row} + word] = out[base + word]",
            "                if was != 0:",
            f"                    out[emitted {out} + word] = before",
            "            out_weights[emitted] = -1",
            "            emitted += was",
            "            out_weights[emitted] = 1",
            "            emitted += 1",
            f"            records[at + 1] |= {EMITTED}",
            "    elif was != 0:",
            f"        for word in range({target}):",
            f"            out[emitted {out} + word] = records[at + {layout.row} + word]",
            "        out_weights[emitted] = -1",
            "        emitted += 1",
            f"        records[at + 1] &= {~EMITTED}",
            "for index in range(count):",
            "    slot = touched[index]",
            f"    at = slot * {layout.width}",
            f"    records[at + 1] &= {~(TOUCHED | STALE)}",
            *indent_lines(forget),
            "count = 0",
        ]

    def compute_results(self) -> list[str]:
        """Return lines that write the row of a group at `base` of the output."""
        row = self.layout.row
        lines = [f"out[base + {k}] = records[at + {row + k}]" for k in range(self.keys)]
        if self.has_masks:
            for word in range(self.results, self.layout.target.width):
                bits = self.masks.get(word, 0)
                known = f"records[at + {row + word}] & {bits}" if bits else "0"
                lines.append(f"out[base + {word}] = {known}")
        for number, computation in enumerate(self.layout.compute):
            lines += self.compute_field(number, computation)
        return lines

    def compute_field(self, number: int, computation: Computation) -> list[str]:
        """Return lines that write one computed field, or null."""
        place = self.keys + number
        type_ = self.layout.target.fields[place].type
        is_float = type_.kind == "number" and computation.function not in EXTREMES
        array = "out_floats" if is_float else "out"
        checks, value = self.compute_value(number, computation)
        lines = [*checks, f"{array}[base + {place}] = {value}"]
        if not type_.nullable or computation.function == "count":
            return lines
        is_sample = SPREADS.get(computation.function, (0, False))[0]
        return [
            f"if {self.count_values(computation)} > {is_sample}:",
            *indent_lines(lines),
            "else:",
            f"    out[base + {place}] = 0",
            f"    out[base + {self.results + place // 63}] |= {1 << place % 63}",
        ]

    def count_values(self, computation: Computation) -> str:
        """Return text of how many values a computation is over."""
        places, place = self.layout.places, computation.place
        if place is None:
            return "records[at]"
        if computation.distinct and computation.function not in {*EXTREMES, *BOOLEANS}:
            return f"records[at + {places[StateKey('tree', place)] + 1}]"
        if self.layout.is_nullable(place):
            return f"records[at + {places[StateKey('present', place)]}]"
        return "records[at]"

    def read_known(self, number: int) -> str:
        """Return text of the word of a computed field in the row that was emitted last."""
        return f"records[at + {self.layout.row + self.keys + number}]"

    def is_stale(self, number: int) -> str:
        """Return text of whether an extreme has to be looked up: what was emitted may be wrong."""
        place = self.keys + number
        parts = [f"records[at + 1] & {EMITTED | STALE} != {EMITTED}"]
        if self.layout.target.fields[place].type.nullable:
            nulls = f"records[at + {self.layout.row + self.results + place // 63}]"
            parts.append(f"{nulls} >> {place % 63} & 1 != 0")
        return " or ".join(parts)

    def compute_value(self, number: int, computation: Computation) -> tuple[list[str], str]:
        """Return lines that check a value, and the text of it."""
        function, place = computation.function, computation.place
        count = self.count_values(computation)
        if function == "count" or place is None:
            return [], count
        key = self.layout.list_states(computation)[-1]
        at = f"at + {self.layout.places[key]}"
        stores = "records, record_floats, counters, blocks"
        numbers = f"{at}, {BLOCKS}, {stores}, {self.layout.block}, scratch"
        if function in EXTREMES:
            side, kind = EXTREMES[function], self.layout.kind(place)
            nodes = "text_nodes" if kind == "text" else "nodes"
            found = f"find_extreme(records[{at}], {getattr(treap, side)}, {nodes})"
            found = f"order_bits({found})" if kind == "number" else found
            return [], f"{found} if {self.is_stale(number)} else {self.read_known(number)}"
        if function == QUANTILE:
            target = f"out, out_floats, base + {self.keys + number}"
            values = f"records[{at}], nodes, {self.layout.kind(place) == 'number'}"
            return [], f"find_quantile({computation.share!r}, {count}, {values}, {target})"
        if function in BOOLEANS:
            compared = f"== {count}" if function == "bool_and" else "> 0"
            return [], f"1 if records[{at}] {compared} else 0"
        if function in SPREADS:
            less, root = SPREADS[function]
            others = f"{at}, records, record_floats, blocks, {self.layout.block}, scratch"
            return [], f"spread_of_moments({count}, {count} - {less}, {root}, {others})"
        if key.name == "numbers":
            step = f"mean_numbers({count}, " if function in MEANS else "total_numbers("
            return [], f"{step}{numbers})"
        if function in MEANS:
            return [], f"mean_integers({count}, {at}, records, scratch)"
        leave = [f"counters[{BAD_GROUP}] = slot", f"counters[{BAD_FIELD}] = {number}"]
        leave += self.leave(BAD_SUM)
        check = [f"if not integer_sum_fits({at}, records):", *indent_lines(leave)]
        return check, f"total_integers({at}, records)"
