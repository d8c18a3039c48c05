"""Subscriptions: what it costs to tell clients of entities that move, by graphs/subscriptions.yaml.

100,000 entities and 10,000 players are spread over a square of so many chunks that ten entities
are around a player. A move sends an entity at most 8 blocks away, in a chunk of 16. Inside the
clock: `push` of a table of moves, one transaction, and `advance`, which releases what clients get.
Before the clock: filling, compilation. CPU µs per move, of the best push. `push_one`: one entity in
a transaction, and `advance`.
"""

import time
from typing import Any

import numpy as np

import rtbot
from benchmarks.measure import Line, Report
from benchmarks.setups import SEED
from rtbot.runtime.staged_session import StagedSession

GRAPH = "graphs/subscriptions.yaml"
ENTITIES, CLIENTS, SIDE, STEP = 100_000, 10_000, 16, 8
SEEN = 10
"""So many entities are around a player, on average."""

SINGLES = 2_000
MOVES = (1, 100, 10_000, 100_000)
"""Moves in one transaction."""


class World:
    """Entities and players in a square, and the session that tells clients of them."""

    def __init__(self, entities: int, clients: int) -> None:
        self.rng = np.random.default_rng(SEED)
        self.length = int(np.ceil(np.sqrt(9 * entities / SEEN))) * SIDE
        self.places = self.rng.integers(0, self.length, (entities, 2))
        self.players = self.rng.integers(0, self.length, (clients, 2))
        self.time = 0
        self.session: Any = rtbot.load(GRAPH).start()
        assert isinstance(self.session, StagedSession)
        around = np.array([(dx, dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1)])
        given = {
            "around": {"dx": around[:, 0], "dz": around[:, 1]},
            "players": {
                "client": np.arange(clients), "x": self.players[:, 0], "z": self.players[:, 1],
            },
            "entities": self.make_rows(np.arange(entities)),
        }  # fmt: skip
        for name, columns in given.items():
            times = np.zeros(len(next(iter(columns.values()))), np.int64)
            self.session.push({name: {"t": times, **columns}})
        self.first = self.session.advance(0)["seen"]

    def make_rows(self, chosen: np.ndarray) -> dict[str, Any]:
        """Return the rows of some entities as they are now."""
        kinds = np.array(["boar", "wolf"], object)[chosen % 2]
        x, z = self.places[chosen].T
        return {"entity": chosen, "kind": kinds, "x": x, "z": z}

    def move(self, count: int) -> np.ndarray:
        """Move some entities; return which."""
        chosen = self.rng.choice(len(self.places), count, replace=False)
        steps = self.rng.integers(-STEP, STEP + 1, (count, 2))
        self.places[chosen] = np.clip(self.places[chosen] + steps, 0, self.length - 1)
        return chosen

    def push(self, count: int) -> tuple[float, Any]:
        """Move entities in one transaction; CPU seconds, and what clients get."""
        rows = self.make_rows(self.move(count))
        self.time += 1
        table = {"entities": {"t": np.full(count, self.time), **rows}}
        began = time.process_time()
        self.session.push(table)
        seen = self.session.advance(self.time)["seen"]
        return time.process_time() - began, seen

    def push_singly(self, count: int) -> float:
        """Move entities one by one; CPU seconds of one, on average."""
        rows = []
        for chosen in self.move(count).tolist():
            x, z = self.places[chosen].tolist()
            rows.append({"entity": chosen, "kind": ("boar", "wolf")[chosen % 2], "x": x, "z": z})
        began = time.process_time()
        for row in rows:
            self.time += 1
            self.session.push_one("entities", self.time, row)
            self.session.advance(self.time)
        return (time.process_time() - began) / count


def main() -> None:
    """Measure and print."""
    report = Report(__doc__ or "")
    entities = min(ENTITIES, report.rows)
    world = World(entities, max(entities * CLIENTS // ENTITIES, 1))
    filled = f"{len(world.first['t']):,} rows seen at first"
    for count in MOVES:
        case = f"{entities:,} entities, {count:,} moves at a time"
        if count > entities or not report.wants(case):
            continue
        best, rows = np.inf, 0
        for _ in range(report.runs if count > 1 else 100 * report.runs):
            seconds, seen = world.push(count)
            best, rows = min(best, seconds), len(seen["t"])
        remark = f"{rows / count:.1f} rows a move; {filled}"
        report.add(Line(case, "push", 1e6 * best / count, None, "µs", remark=remark))
    case = f"{entities:,} entities, one after the other"
    if report.wants(case):
        best = min(world.push_singly(min(SINGLES, entities)) for _ in range(report.runs))
        report.add(Line(case, "push_one", 1e6 * best, None, "µs"))
    report.finish()


if __name__ == "__main__":
    main()
