"""The example graphs with rules: against plain Python, and in any cut."""

import csv
import random
from collections import Counter
from pathlib import Path

import pytest

import rtbot

GRAPHS = Path(__file__).parents[2] / "graphs"


def read_flights(name):
    """Flights by time, as the file has them."""
    found = {}
    with (GRAPHS / "data" / name).open(newline="") as file:
        for row in csv.DictReader(file):
            flight = row["carrier"], row["flight"], row["origin"], row["dest"]
            found.setdefault(row["time"], []).append(flight)
    return found


def find_stranded(flown, planned):
    """Airports of planned flights that JFK has no way to."""
    legs = {}
    for *_, a, b in flown:
        legs.setdefault(a, set()).add(b)
        legs.setdefault(b, set()).add(a)
    reached, new = set(), {"JFK"}
    while new:
        reached |= new
        new = {y for x in new for y in legs.get(x, ())} - reached
    return {dest for *_, dest in planned} - reached


def test_airports_that_cannot_be_reached():
    files = {name: GRAPHS / "data" / f"{name}.csv" for name in ("flights", "cancelled")}
    table = rtbot.load(GRAPHS / "stranded.yaml").run(files, compiled=False)["stranded"]
    changes = {}
    for time, weight, airport in zip(
        *(table[name].tolist() for name in ("t", "weight", "airport")), strict=True
    ):
        changes.setdefault(time, []).append((airport, weight))
    planned, cancelled = read_flights("flights.csv"), read_flights("cancelled.csv")
    counts, seen, before, expected = Counter(), set(), set(), []
    for time in sorted(planned.keys() | cancelled.keys()):
        counts.update(planned.get(time, ()))
        counts.subtract(cancelled.get(time, ()))
        seen |= set(planned.get(time, ()))
        now = find_stranded([flight for flight, n in counts.items() if n > 0], seen)
        if now != before:
            expected.append(
                sorted([(x, -1) for x in before - now]) + sorted([(x, 1) for x in now - before])
            )
        before = now
    assert [changes[time] for time in sorted(changes)] == expected


def make_outages(rng):
    stations = "abcde"
    load = [(s, t, float(rng.randrange(10))) for t in range(1, 8) for s in stations]
    most = [[0, 1, {"station": s, "most": float(rng.randrange(3, 8))}] for s in stations]
    pairs = [(x, y) for x in stations for y in stations if rng.random() < 0.3]
    feeds = [[0, 1, {"source": x, "target": y}] for x, y in pairs]
    feeds += [[5, -1, {"source": x, "target": y}] for x, y in pairs[::2]]
    return {"load": load, "stations": most, "feeds": feeds}


def list_rows(result):
    table = result["out"]
    columns = (table[name].tolist() for name in ("t", "weight", "station"))
    return list(zip(*columns, strict=True))


def push_load(session, rows):
    keys, times, values = zip(*rows, strict=True)
    return session.push({"load": {"station": list(keys), "t": list(times), "value": list(values)}})


@pytest.mark.parametrize("seed", range(3))
def test_a_series_sql_and_rules_have_the_same_rows_in_any_cut(seed):
    rng = random.Random(seed)
    graph, data = rtbot.load(GRAPHS / "outages.yaml"), make_outages(rng)
    wholes = []
    for cut in (100, 7, 1):
        session, found = graph.start(compiled=False, key=("station",)), []
        parts = [("load", data["load"][k : k + cut]) for k in range(0, len(data["load"]), cut)]
        for name in ("stations", "feeds"):
            rows = data[name]
            parts += [(name, rows[k : k + cut]) for k in range(0, len(rows), cut)]
        if cut == 7:
            session = graph.resume(session.dump(), compiled=False)
        for name, rows in parts:
            made = push_load(session, rows) if name == "load" else session.push({name: rows})
            found += list_rows(made)
        wholes.append(found + list_rows(session.finish()))
    assert wholes[0] == wholes[1] == wholes[2]
    assert wholes[0]
