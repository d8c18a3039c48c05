"""Random schedules, those of `rtbot compare`, with pushes between that must be refused."""

from functools import partial

from rtbot.compare import schedules
from rtbot.compare.schedules import insert_dumps, schedule_whole
from rtbot.core.times import INT64_MIN

__all__ = ["STYLES", "insert_dumps", "schedule", "schedule_whole"]
STYLES = ("random", "ones", "starved", "blocks")


def schedule(rng, rows, style, rules):
    """Steps that feed every row, with dumps, advances, closed keys and refused pushes between."""
    extra = partial(insert_refused_push, rng, rows, rules) if rules.late == "error" else None
    return schedules.schedule(rng, rows, style, extra=extra)


def insert_refused_push(rng, rows, rules, order, place, restless):
    """Now and then a push of rows that are in order, but for one."""
    if rng.random() >= restless * 0.2 or not place:
        return
    row = rows[rng.choice(order[:place])]
    done = (rows[number] for number in order[:place])
    newest = max(r.time for r in done if (r.input, r.key) == (row.input, row.key))
    duplicate = rules.duplicates == "error" and rng.random() < 0.5
    time = newest if duplicate else newest - (rules.lateness or 0) - rng.choice([1, 1, 7])
    if time >= INT64_MIN:
        batch = order[place:][: rng.choice([0, 1, 3])]
        yield ("refused", batch, row._replace(time=time))


def refused_waiting(rng, rows, rules, order, place, _restless):
    """Now and then a row at the time of one that waits for late ones, or of the newest."""
    if rng.random() >= 0.5 or not place:
        return
    row = rows[rng.choice(order[:place])]
    times = [r.time for r in (rows[n] for n in order[:place]) if r[:2] == row[:2]]
    waiting = [time for time in times if time >= max(times) - rules.lateness]
    yield ("refused", [], row._replace(time=rng.choice(waiting)))
