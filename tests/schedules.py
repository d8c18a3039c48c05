"""Random schedules: in which order, batches and with which interruptions rows are fed."""

from collections import defaultdict

from tests.data import INT64_LEAST, INT64_MOST

STYLES = ("random", "ones", "starved", "blocks")


def whole(rows):
    """Everything in one push."""
    return [("push", list(range(len(rows))))]


def interleaved(rng, rows, style):
    """Row numbers in a random order that keeps the order within each input and key."""
    queues = defaultdict(list)
    for number, row in enumerate(rows):
        queues[row.input, row.key].append(number)
    starved = rng.choice(sorted({row.input for row in rows})) if rows else None
    order = []
    while any(queues.values()):
        ready = [name for name, queue in queues.items() if queue]
        if style == "starved":
            ready = [name for name in ready if name[0] != starved] or ready
        queue = queues[rng.choice(ready)]
        take = len(queue) if style == "blocks" else 1
        order += queue[:take]
        del queue[:take]
    return order


def schedule(rng, rows, style, rules):
    """Steps that feed every row, with dumps, advances, closed keys and refused pushes between."""
    order = interleaved(rng, rows, style)
    left = defaultdict(int)
    for row in rows:
        left[row.key] += 1
    restless = rng.random()
    steps, place = [], 0
    while place < len(order):
        size = 1 if style == "ones" else rng.choice([0, 1, 1, 2, 5, 20])
        batch = order[place : place + size]
        place += size
        single = len(batch) == 1 and (style == "ones" or rng.random() < 0.3)
        steps.append(("one", batch[0]) if single else ("push", batch))
        for number in batch:
            left[rows[number].key] -= 1
            if rows[number].key and not left[rows[number].key] and rng.random() < 0.3:
                steps.append(("close", rows[number].key))
        if style == "eager":
            steps += _every_advance(rng, rows, order[place:])
        steps += _interruptions(rng, rows, order[place:], restless)
        if rules.late == "error" and rng.random() < restless * 0.2:
            steps += _refused(rng, [rows[number] for number in order[:place]], order[place:], rules)
    return steps


def _refused(rng, done, remaining, rules):
    """A push of rows that are in order, but for one."""
    if not done:
        return
    row = rng.choice(done)
    newest = max(r.time for r in done if (r.input, r.key) == (row.input, row.key))
    duplicate = rules.duplicates == "error" and rng.random() < 0.5
    time = newest if duplicate else newest - (rules.lateness or 0) - rng.choice([1, 1, 7])
    if time >= INT64_LEAST:
        batch = remaining[: rng.choice([0, 1, 3])]
        yield ("refused", batch, row._replace(time=time))


def _every_advance(rng, rows, remaining):
    """For some inputs, as far as their remaining rows allow."""
    for name in sorted({row.input for row in rows}):
        times = [rows[number].time for number in remaining if rows[number].input == name]
        if times and min(times) > INT64_LEAST and rng.random() < 0.6:
            yield ("advance", min(times) - 1, name)


def _interruptions(rng, rows, remaining, restless):
    if rng.random() < restless * 0.4:
        yield ("dump",)
    if rng.random() < restless * 0.3:
        name = rng.choice([None, *sorted({row.input for row in rows})])
        limit = _legal_advance(rng, [rows[number] for number in remaining], name)
        if limit is not None:
            yield ("advance", limit, name)


def _legal_advance(rng, remaining, name):
    """A time that no remaining row of the input would be late for; None if there is none."""
    times = [row.time for row in remaining if name in (None, row.input)]
    if not times:
        return rng.choice([0, INT64_MOST])
    limit = min(times) - rng.choice([1, 1, 2, 10])
    return limit if limit >= INT64_LEAST else None


def saved_everywhere(steps):
    """The same steps with a dump and a resume behind each."""
    return [("dump",), *(both for step in steps for both in (step, ("dump",)))]
