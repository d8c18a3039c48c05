"""Events as tables of changes: transactions of so many events, with corrections at the source."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.nexmark.events import (
    BLOCK,
    CATEGORIES,
    FIELDS,
    FIRST_CATEGORY,
    RATE,
    find_times,
    list_blocks,
    make_prices,
)

DELAY = 20
"""A correction comes so many transactions after its row at most."""
UNIQUE = {"person": ["id"], "auction": ["id"]}

Fields = dict[str, dict[str, str]]
Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class Stream:
    """Which events come: how many, so many in each transaction, and which share is corrected."""

    count: int
    transaction: int = 1_000
    corrections: float = 0.0
    seed: int = 7
    rate: int = RATE

    def list_pushes(self, fields: Fields, events: int) -> Iterator[Tables]:
        """Yield tables of changes with `t`, `weight` and these fields, for so many events each.

        `t` is the time at which a transaction is complete. Corrections come beside the events.
        """
        last = -(-self.count // self.transaction)
        waiting: Tables = {}
        for block, found in enumerate(list_blocks(self.seed, self.count, self.rate)):
            random = np.random.default_rng([self.seed, block, 1])
            made = {}
            for name in fields:
                columns, number = found.tables[name], found.numbers[name]
                whole = pa.table({"number": number, **columns})
                whole = whole.filter(pa.array(number < self.count))
                at = whole["number"].to_numpy() // self.transaction
                parts = [mark(whole, at, 1)]
                if self.corrections and name != "person":
                    parts += self.correct(name, whole, at, random)
                parts = [part.select(["transaction", "weight", *fields[name]]) for part in parts]
                parts += [waiting[name]] if name in waiting else []
                made[name] = pa.concat_tables(parts)
            end = min((block + 1) * BLOCK // self.transaction, last)
            waiting = {name: table.filter(find(table) >= end) for name, table in made.items()}
            yield from self.cut(made, block * BLOCK // self.transaction, end, events)
        yield from self.cut(waiting, last, last + DELAY, events)

    def correct(
        self, name: str, table: pa.Table, at: np.ndarray, random: np.random.Generator
    ) -> list[pa.Table]:
        """Return deletes of some rows, and inserts of what they should have been."""
        rows = np.flatnonzero(random.random(len(table)) < self.corrections)
        later = at[rows] + random.integers(1, DELAY, len(rows), endpoint=True)
        old = table.take(pa.array(rows))
        if name == "bid":
            new = put(old, "price", make_prices(random, len(rows)))
        else:
            category = FIRST_CATEGORY + random.integers(0, CATEGORIES, len(rows))
            new = put(put(old, "category", category), "reserve", make_prices(random, len(rows)))
        return [mark(old, later, -1), mark(new, later, 1)]

    def cut(self, tables: Tables, first: int, last: int, events: int) -> Iterator[Tables]:
        """Yield the transactions from `first` to before `last`, for so many events each."""
        step = max(events // self.transaction, 1)
        ordered = {}
        for name, table in tables.items():
            order = np.argsort(find(table), kind="stable")
            ordered[name] = table.take(pa.array(order[np.sort(find(table)) < last]))
        for begin in range(first, last, step):
            bounds = [begin, min(begin + step, last)]
            pushed = {}
            for name, table in ordered.items():
                start, end = np.searchsorted(find(table), bounds)
                pushed[name] = self.stamp(table.slice(start, end - start).combine_chunks())
            if any(map(len, pushed.values())):
                yield pushed

    def stamp(self, table: pa.Table) -> pa.Table:
        """Replace the number of a transaction by its time."""
        time = find_times((find(table) + 1) * self.transaction, self.rate)
        return table.drop_columns(["transaction"]).append_column("t", pa.array(time))


def find_fields(query: str) -> Fields:
    """Return the fields that a query reads, by table."""
    words = set(re.findall(r"\w+", query))
    tables = set(re.findall(r"(?:FROM|JOIN)\s+(\w+)", query))
    return {
        table: {name: kind for name, kind in fields.items() if name in words}
        for table, fields in FIELDS.items()
        if table in tables
    }


def find(table: pa.Table) -> np.ndarray:
    """Return the numbers of the transactions of rows."""
    return table["transaction"].to_numpy()


def mark(table: pa.Table, at: np.ndarray, weight: int) -> pa.Table:
    """Return rows with their transaction and their weight."""
    weights = pa.array(np.full(len(table), weight))
    return table.append_column("transaction", pa.array(at)).append_column("weight", weights)


def put(table: pa.Table, name: str, column: np.ndarray) -> pa.Table:
    """Return rows with another column in place of one."""
    return table.set_column(table.column_names.index(name), name, pa.array(column))
