"""Datalog: from scratch, and after single and many insertions and deletions.

`python -m benchmarks.datalog [NAME ...]` prints CPU seconds. Loops are compiled before the first
measurement. "scratch" evaluates all facts in one commit; the other commits follow on it, each after
one like it has made the indexes that it needs.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from rtbot.datalog.language import read_program
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.tables.string_dictionary import StringDictionary

CLOSURE = """
.decl edge(x:number, y:number)
.input edge
.decl path(x:number, y:number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
REACH = """
.decl start(x:number)
.input start
.decl edge(x:number, y:number)
.input edge
.decl reach(x:number)
.output reach
reach(x) :- start(x).
reach(y) :- reach(x), edge(x, y).
"""
POINTS_TO = """
.decl new(v:number, h:number)
.input new
.decl assign(v:number, w:number)
.input assign
.decl load(v:number, b:number, f:number)
.input load
.decl store(b:number, f:number, v:number)
.input store
.decl points(v:number, h:number)
.output points
.decl heap(h:number, f:number, g:number)
.output heap
points(v, h) :- new(v, h).
points(v, h) :- assign(v, w), points(w, h).
points(v, h) :- load(v, b, f), points(b, g), heap(g, f, h).
heap(g, f, h) :- store(b, f, v), points(b, g), points(v, h).
"""
GENERATION = """
.decl parent(c:number, p:number)
.input parent
.decl same(x:number, y:number)
.output same
same(x, y) :- parent(x, p), parent(y, p), x != y.
same(x, y) :- parent(x, a), same(a, b), parent(y, b).
"""


def make_closure(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """3,000 random edges over 1,500 nodes."""
    return {"edge": np.unique(rng.integers(0, 1500, (3000, 2)), axis=0)}


def make_reach(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A million random edges over 600,000 nodes, and three starts."""
    edges = rng.integers(0, 600_000, (1_000_000, 2))
    return {"start": np.array([[1], [2], [3]]), "edge": edges}


def make_points_to(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random statements of a program: allocations, assignments, loads and stores."""
    variables, heaps, fields = 60_000, 15_000, 200
    return {
        "new": np.column_stack((rng.integers(0, variables, heaps), np.arange(heaps))),
        "assign": rng.integers(0, variables, (51_000, 2)),
        "load": np.column_stack(
            (rng.integers(0, variables, (6_000, 2)), rng.integers(0, fields, 6_000))
        ),
        "store": np.column_stack(
            (
                rng.integers(0, variables, 6_000),
                rng.integers(0, fields, 6_000),
                rng.integers(0, variables, 6_000),
            )
        ),
    }


def make_generation(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A random tree of 4,000 nodes."""
    nodes = np.arange(1, 4_000)
    return {"parent": np.column_stack((nodes, rng.integers(0, np.maximum(nodes // 3, 1))))}


CASES = {
    "closure": (CLOSURE, make_closure, "edge", "path"),
    "reach": (REACH, make_reach, "edge", "reach"),
    "points_to": (POINTS_TO, make_points_to, "assign", "points"),
    "generation": (GENERATION, make_generation, "parent", "same"),
}


def measure(name: str) -> None:
    """Measure one program."""
    text, make, changed, result = CASES[name]
    program = read_program(text, f"{name}.dl")
    rng = np.random.default_rng(7)
    facts = make(rng)

    def begin():
        evaluation = start_evaluation(program, StringDictionary(), compiled=True)
        evaluation.commit({n: (rows[:0], rows) for n, rows in facts.items()})
        return evaluation

    warm = start_evaluation(program, StringDictionary(), compiled=True)
    for part in (slice(0, 50), slice(50, 60)):
        warm.commit({n: (rows[:0], rows[part]) for n, rows in facts.items()})
        warm.commit({n: (rows[:3], rows[:0]) for n, rows in facts.items()})
    scratch = []
    for _ in range(3):
        begun = process_time()
        evaluation = begin()
        scratch.append(process_time() - begun)
    size = evaluation.count_rows(result)
    total = sum(len(relation) for relation in evaluation.relations.values())
    print(f"{name}: {size:,} rows; scratch {min(scratch):.3f} s")
    print(f"  {evaluation.count_bytes() / total:.0f} bytes per row, all relations")

    def commit(removed: np.ndarray, inserted: np.ndarray) -> tuple[float, int]:
        begun = process_time()
        found = evaluation.commit({changed: (removed, inserted)})
        seconds = process_time() - begun
        return seconds, sum(len(rows) for pair in found.values() for rows in pair)

    rows = facts[changed]
    none = rows[:0]
    singles = rows[rng.permutation(len(rows))[:30]]
    commit(rows[:50], none)
    commit(none, rows[:50])
    deleted, inserted = [], []
    for k in range(1, len(singles)):
        deleted.append(commit(singles[k : k + 1], none)[0])
        inserted.append(commit(none, singles[k : k + 1])[0])
    fresh = rng.permutation(rows.ravel()).reshape(-1, 2)[:30]
    new = [commit(none, fresh[k : k + 1])[0] for k in range(len(fresh))]
    for what, seconds in (("delete 1", deleted), ("insert it", inserted), ("insert 1 new", new)):
        print(f"  {what}: {1e3 * np.median(seconds):.2f} ms median, {1e3 * max(seconds):.1f} most")
    commit(fresh, none)
    commit(none, rows)
    for share in (0.001, 0.01, 0.03, 0.1, 0.3):
        part = rows[rng.permutation(len(rows))[: max(1, int(share * len(rows)))]]
        gone, changes = commit(part, none)
        back, _ = commit(none, part)
        print(
            f"  {share:.1%} of {changed}: delete {gone:.3f} s, back {back:.3f} s ({changes:,} rows)"
        )


def main() -> None:
    """Measure the named programs, or all."""
    for name in sys.argv[1:] or CASES:
        measure(name)


if __name__ == "__main__":
    main()
