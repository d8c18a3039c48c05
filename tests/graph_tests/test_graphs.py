"""The example graphs, on their real data, against plain Python."""

import csv
import itertools
import math
import random
import statistics
from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import rtbot

GRAPHS = Path(__file__).parents[2] / "graphs"


def rows(name: str) -> list[dict[str, str]]:
    with (GRAPHS / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def mean(values: list[float]) -> float:
    """The exact mean, rounded once."""
    return float(sum(map(Fraction, values)) / len(values))


def test_shares_on_both_sides_of_a_price():
    graph = rtbot.load(GRAPHS / "share_sides.yaml")
    prices = GRAPHS / "data" / "prices.csv"
    result = graph.run({"prices": prices})
    seen: dict[str, list[float]] = {}
    crossed = {}
    for row in rows("prices.csv"):
        seen.setdefault(row["symbol"], []).append(float(row["price"]))
        below = {price < 200 for price in seen[row["symbol"]]}
        if len(below) == 2:
            crossed.setdefault(row["symbol"], row["date"])
    sides = result["sides"]
    assert dict(zip(sides["symbol"], sides["t"], strict=True)) == {
        symbol: datetime.fromisoformat(f"{date}T00:00:00+00:00").timestamp()
        for symbol, date in crossed.items()
    }
    spans = result["spans"]
    last = {}
    for place, weight in enumerate(spans["weight"].tolist()):
        if weight > 0:
            last[spans["symbol"][place]] = (spans["lowest"][place], spans["highest"][place])
    assert last == {symbol: (min(seen[symbol]), max(seen[symbol])) for symbol in crossed}


def follow(table, names):
    """The rows that are there after each of its times."""
    present = Counter()
    columns = zip(table["t"].tolist(), table["weight"].tolist(), strict=True)
    cells = zip(*(table[name].tolist() for name in names), strict=True)
    for t, changes in itertools.groupby(zip(columns, cells, strict=True), key=lambda c: c[0][0]):
        for (_, weight), row in changes:
            present[row] += weight
        yield t, set(present.elements())


def test_flights_without_those_that_were_cancelled():
    graph = rtbot.load(GRAPHS / "flights.yaml")
    files = {name: GRAPHS / "data" / f"{name}.csv" for name in ("flights", "cancelled")}
    views = list(follow(graph.run(files, compiled=False)["per_origin"], ["origin", "flown"]))
    flown = Counter()
    steps = {}
    for row in rows("departures.csv"):
        flown[row["origin"]] += 1
        steps[row["time"]] = {*flown.items()}
    assert [view for _, view in views] == list(steps.values())
    assert 700 < flown.total() < len(rows("flights.csv")) / 2


def test_seats_of_departures_with_their_aircraft():
    graph = rtbot.load(GRAPHS / "seats.yaml")
    files = {name: GRAPHS / "data" / f"{name}.csv" for name in ("departures", "planes")}
    names = ["dest", "flights", "unknown", "seats"]
    *_, (_, view) = follow(graph.run(files, compiled=False)["per_airport"], names)
    seats = {row["tail"]: int(row["seats"]) for row in rows("planes.csv")}
    found = {}
    for row in rows("departures.csv"):
        found.setdefault(row["dest"], []).append(seats.get(row["tail"]))
    expected = {
        (dest, len(every), every.count(None), sum(one or 0 for one in every))
        for dest, every in found.items()
    }
    assert view == {(*row[:3], 0 if row[2] == row[1] else row[3]) for row in expected}
    assert any(unknown for _, _, unknown, _ in view)


def test_a_ranking_of_hubs():
    files = {"departures": GRAPHS / "data" / "departures.csv"}
    result = rtbot.load(GRAPHS / "hubs.yaml").run(files, compiled=False)
    views = dict(follow(result["ranking"], ["dest", "aircraft", "place"]))
    places, expected, last = {}, {}, set()
    for time, group in itertools.groupby(rows("departures.csv"), key=lambda row: row["time"]):
        places.update({row["tail"]: row["dest"] for row in group})
        counts = Counter(places.values())
        ranked = {
            (dest, count, 1 + sum(other > count for other in counts.values()))
            for dest, count in counts.items()
        }
        ranking = {row for row in ranked if row[2] <= 3}
        if ranking != last:
            expected[day(time) + 5 * 3600] = last = ranking
    assert views == expected
    assert len(views) > 100


def test_the_places_to_which_most_seats_left_in_an_hour():
    files = {name: GRAPHS / "data" / f"{name}.csv" for name in ("departures", "planes")}
    graph = rtbot.load(GRAPHS / "busiest.yaml")
    result = graph.run(files, compiled=False)
    views = dict(follow(result["busiest"], ["dest", "flights", "seats", "place"]))
    planes = {row["tail"]: int(row["seats"]) for row in rows("planes.csv")}
    flights = [
        (day(row["time"]) + 5 * 3600, row["dest"], planes[row["tail"]])
        for row in rows("departures.csv")
        if row["tail"] in planes
    ]
    times = {time for time, _, _ in flights}
    times |= {time + 3600 for time in times if time + 3600 <= max(times)}
    expected, last = {}, set()
    for now in sorted(times):
        found = {}
        for time, dest, seats in flights:
            if time <= now < time + 3600:
                found.setdefault(dest, []).append(seats)
        ranked = sorted((-sum(own), dest, len(own)) for dest, own in found.items())[:3]
        view = {(d, n, -seats, place) for place, (seats, d, n) in enumerate(ranked, 1)}
        if view != last:
            expected[now] = last = view
    assert views == expected
    assert len(views) > 100


def test_bollinger_bands_of_every_symbol():
    graph = rtbot.load(GRAPHS / "bollinger.yaml")
    result = graph.run(GRAPHS / "data" / "prices.csv")
    prices: dict[str, list[float]] = {}
    for row in rows("prices.csv"):
        prices.setdefault(row["symbol"], []).append(float(row["price"]))
    expected = {"upper": [], "middle": [], "lower": []}
    for symbol in sorted(prices):
        for end in range(20, len(prices[symbol]) + 1):
            window = prices[symbol][end - 20 : end]
            middle, band = mean(window), 2 * math.sqrt(statistics.variance(window))
            expected["middle"].append((symbol, middle))
            expected["upper"].append((symbol, middle + band))
            expected["lower"].append((symbol, middle - band))
    for name, wanted in expected.items():
        found = result[name]
        assert list(zip(found["symbol"], found["value"].tolist(), strict=True)) == wanted


def test_the_channel_of_every_symbol():
    graph = rtbot.load(GRAPHS / "channel.yaml")
    result = graph.run(GRAPHS / "data" / "bars.csv")
    days: dict[str, list[dict[str, str]]] = {}
    for row in rows("bars.csv"):
        days.setdefault(row["symbol"], []).append(row)
    channel, breakout = [], []
    for symbol in sorted(days):
        tops = []
        for end in range(20, len(days[symbol]) + 1):
            window = days[symbol][end - 20 : end]
            tops.append(max(float(row["high"]) for row in window))
            channel.append((symbol, tops[-1], min(float(row["low"]) for row in window)))
            if len(tops) > 1:
                breakout.append((symbol, float(window[-1]["close"]) > tops[-2]))
    found = result["channel"]
    columns = (found["symbol"], found["top"].tolist(), found["bottom"].tolist())
    assert list(zip(*columns, strict=True)) == channel
    flags = result["breakout"]
    assert list(zip(flags["symbol"], flags["value"].tolist(), strict=True)) == breakout
    assert {flag for _, flag in breakout} == {True, False}


def test_two_sensors_drift_apart():
    graph = rtbot.load(GRAPHS / "two_sensors.yaml")
    data = GRAPHS / "data"
    result = graph.run({"inlet": data / "inlet.csv", "outlet": data / "outlet.csv"})
    inlet = {row["time"]: float(row["inlet"]) for row in rows("inlet.csv")}
    outlet = {row["time"]: float(row["outlet"]) for row in rows("outlet.csv")}
    gaps = [inlet[t] - outlet[t] for t in sorted(inlet.keys() & outlet.keys())]
    drift = [mean(gaps[end - 24 : end]) for end in range(24, len(gaps) + 1)]
    assert result["drift"]["value"].tolist() == drift
    assert result["alert"]["value"].tolist() == [value > 5 for value in drift]
    assert any(result["alert"]["value"])


def day(text: str) -> int:
    """Seconds since 1970 of a date."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def test_a_share_told_in_barrels_of_oil():
    graph = rtbot.load(GRAPHS / "share_in_oil.yaml")
    result = graph.run({name: GRAPHS / "data" / f"{name}.csv" for name in ("share", "oil")})
    quotes = {day(row["date"]): float(row["oil"]) for row in rows("oil.csv")}
    joined, barrels = [], []
    for row in rows("share.csv"):
        now = day(row["date"])
        fresh = [t for t in quotes if now - 7 * 86400 <= t <= now]
        joined.append(quotes[max(fresh)] if fresh else None)
        barrels.append(float(row["share"]) / joined[-1] if fresh else None)
    assert nullable(result["oil"]) == joined
    assert nullable(result["barrels"]) == barrels
    known = [value for value in barrels if value is not None]
    averages = [mean(known[end - 20 : end]) for end in range(20, len(known) + 1)]
    assert result["average"]["value"].tolist() == averages
    assert 0 < barrels.count(None) < 30


def test_weekly_carbon_dioxide_keeps_its_gaps():
    result = rtbot.load(GRAPHS / "co2.yaml").run(GRAPHS / "data" / "co2.csv")
    measured = {day(row["date"]): float(row["co2"]) for row in rows("co2.csv") if row["co2"]}
    week = 7 * 86400
    grid = range(min(measured) + week, max(measured) + 1, week)
    assert result["weekly"]["t"].tolist() == list(grid)
    assert nullable(result["weekly"]) == [measured.get(t) for t in grid]
    held = [measured[max(t for t in measured if t <= now)] for now in grid]
    levels = [mean(held[end - 52 : end]) for end in range(52, len(held) + 1)]
    assert result["level"]["value"].tolist() == levels
    seasons = [
        None if measured.get(t) is None else measured[t] - level
        for t, level in zip(grid[51:], levels, strict=True)
    ]
    assert nullable(result["season"]) == seasons
    assert nullable(result["weekly"]).count(None) == 59


def test_peaks_of_glucose():
    graph = rtbot.load(GRAPHS / "glucose.yaml")
    result = graph.run(GRAPHS / "data" / "glucose.csv")
    readings = {row["time"]: float(row["glucose"]) for row in rows("glucose.csv")}
    times, values = map(list, zip(*readings.items(), strict=True))
    levels = [mean(values[end - 3 : end]) for end in range(3, len(values) + 1)]
    assert result["level"]["value"].tolist() == levels
    assert result["high"]["value"].tolist() == [level > 180 for level in levels]
    peaks = [
        (day(times[place + 2]) * 10**6, level)
        for place, level in enumerate(levels)
        if place >= 12
        and place + 12 < len(levels)
        and level > 180
        and all(level > other for other in levels[place - 12 : place])
        and all(level > other for other in levels[place + 1 : place + 13])
    ]
    found = result["peak"]
    assert list(zip(found["t"].tolist(), found["value"].tolist(), strict=True)) == peaks
    assert len(peaks) > 10


def nullable(table) -> list[float | None]:
    """The values of an output, None where they are null."""
    cells = zip(table["value"].tolist(), table["value_valid"].tolist(), strict=True)
    return [value if valid else None for value, valid in cells]


def test_every_client_has_what_is_around_its_player():
    rng = random.Random(14)
    session = rtbot.load(GRAPHS / "subscriptions.yaml").start()
    steps = [{"dx": dx, "dz": dz} for dx in (-1, 0, 1) for dz in (-1, 0, 1)]
    session.push({"around": [[0, 1, row] for row in steps]})
    entities, players = {}, {}
    caches = {client: rtbot.Cache(unique=["client", "entity"]) for client in range(4)}
    for t in range(1, 60):
        moved = {"entities": [], "players": []}
        for name, key, there, most in (
            ("entities", "entity", entities, 12),
            ("players", "client", players, 4),
        ):
            for number in rng.sample(range(most), rng.choice([0, 1, 2])):
                row = {key: number, "x": rng.randrange(-60, 60), "z": rng.randrange(-60, 60)}
                row |= {"kind": rng.choice(["boar", "wolf"])} if key == "entity" else {}
                if number in there and rng.random() < 0.2:
                    moved[name].append([t, -1, there.pop(number)])
                else:
                    moved[name].append([t, 1, row])
                    there[number] = row
        session.push(moved)
        seen = session.advance(t)["seen"]
        for client, cache in caches.items():
            own = seen["client"] == client
            cache.apply({field: column[own] for field, column in seen.items()})
            assert cache.rows() == list_seen(client, players, entities)


def list_seen(client, players, entities):
    """The rows that a client has, from all positions."""
    if client not in players:
        return []
    chunk = [players[client][axis] // 16 for axis in "xz"]
    return [
        {"client": client, "entity": number, "kind": row["kind"], "x": row["x"], "z": row["z"]}
        for number, row in sorted(entities.items())
        if all(abs(row[axis] // 16 - own) <= 1 for axis, own in zip("xz", chunk, strict=True))
    ]
