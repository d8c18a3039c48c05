"""Dumps and checkpoints that chance has spoilt: `python -m tests.corruption --help`.

A damaged one (bits turned, parts lost, doubled, zeroed or exchanged, bytes of other files) is
refused with CheckpointError before anything of it is decoded. A foreign one, whole but of another
graph, is refused as that. One that somebody forged, with lengths and digest that fit, gives a
session or CheckpointError, and nothing else.
"""

import argparse
import hashlib
import json
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np

import rtbot
from rtbot.core.errors import CheckpointError
from rtbot.storage import container
from rtbot.storage.run_record import READING, RunRecord
from tests import generate
from tests.harness import Feeder

POOL = 60
CHUNK = 500
SECONDS = 10
"""Longer takes no blob."""

FOREIGN = [
    b"",
    b"PAR1",
    b"ARROW1\x00\x00",
    b"\x1f\x8b\x08\x00",
    b"PK\x03\x04",
    b"SQLite format 3\x00",
]
FOREIGN += [b"\x80\x05\x95", b"\x93NUMPY\x01\x00", b"{}", b"rtbot", container.MAGIC]


class DecodedError(AssertionError):
    """Something was decoded although the bytes are not what was written."""


class ForbiddenDecoder:
    """Stands in for a decoder, and must not be called."""

    def __getattr__(self, name):
        raise DecodedError(name)


@cache
def pool(seed):
    """Dumps of random graphs in the middle of their data, and checkpoints that hold them."""
    found = []
    for number in range(POOL):
        case = generate.case(f"{seed}/{number}", most=5)
        feeder = Feeder(rtbot.load(case.document), case)
        for step in case.schedules[1][: len(case.schedules[1]) // 2]:
            feeder.step(step)
        found.append((case.document, feeder.session.dump()))
    return found


@cache
def blobs(seed):
    """The bytes of the pool: dumps, and every third one inside a checkpoint."""
    dumps = [blob for _, blob in pool(seed)]
    return [_checkpoint(blob) if place % 3 == 0 else blob for place, blob in enumerate(dumps)]


def _checkpoint(dump):
    waiting = [{"o": {"t": np.arange(3), "value": np.ones(3)}}]
    read = [{"file": "a.csv", "rows": 3}]
    return RunRecord({}, READING, 3, read, [(5, "")], {}, {}, waiting, dump).encode()


# ---- ways to damage bytes


def flip(data, rng, _others):
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def another(data, rng, _others):
    place = rng.randrange(len(data))
    return data[:place] + rng.randbytes(rng.choice([1, 8])) + data[place + 8 :]


def cut(data, rng, _others):
    return data[: rng.randrange(len(data))]


def lost(data, rng, _others):
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.choice([1, 8, 512]) :]


def longer(data, rng, _others):
    place = rng.choice([0, rng.randrange(len(data)), len(data)])
    return data[:place] + rng.randbytes(rng.choice([1, 8, 512])) + data[place:]


def zeroed(data, rng, _others):
    start = rng.randrange(len(data))
    count = min(rng.choice([8, 512, len(data)]), len(data) - start)
    return data[:start] + bytes(count) + data[start + count :]


def swapped(data, rng, _others):
    places = sorted(rng.randrange(len(data)) for _ in range(4))
    a, b, c, d = places
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def spliced(data, rng, others):
    other = rng.choice(others)
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def head_of_another(data, rng, others):
    other = rng.choice(others)
    count = rng.choice([container.START, 64, 512])
    return other[:count] + data[count:]


def digest_of_another(data, rng, others):
    return data[: -container.DIGEST] + rng.choice(others)[-container.DIGEST :]


def foreign(data, rng, _others):
    return rng.choice(FOREIGN) + rng.choice([b"", rng.randbytes(200), data])


def twice(data, _rng, others):
    return data + others[0]


WAYS = [flip, flip, flip, another, cut, lost, longer, zeroed, swapped, spliced]
WAYS += [head_of_another, digest_of_another, foreign, twice]


def damage_blob(name, seed):
    """The blob of a name, and the way in which it was damaged."""
    rng = random.Random(f"damaged {name}")
    every = blobs(seed)
    while True:
        way = rng.choice(WAYS)
        blob = way(rng.choice(every), rng, every)
        if blob not in every:
            return blob, way.__name__


def decode_blindly(blob):
    """The code with which a blob is refused, before a decoder sees it."""
    try:
        container.decode_blob(blob)
    except CheckpointError as error:
        return error.code
    raise DecodedError("nothing was refused")


# ---- ways to forge: the head is another, lengths and digest fit


def seal_container(head, rest):
    """A container of any bytes."""
    length = container.START + len(head) + len(rest) + container.DIGEST
    lengths = container.LENGTHS.pack(container.FORMAT, length, len(head))
    body = container.MAGIC + lengths + head + rest
    return body + hashlib.sha256(body).digest()


VALUES = [None, True, 0, -1, 1 << 62, 1 << 70, 0.5, "", "x", [], [0], {}, {"x": 1}, "\ud800"]


def forge_dump(name, seed):
    """A dump whose head is another in one place, with the graph of the dump."""
    rng = random.Random(f"forged {name}")
    document, blob = rng.choice(pool(seed))
    length = container.verify_blob(blob)
    content = json.loads(blob[container.START : container.START + length])
    rest = blob[container.START + length : -container.DIGEST]
    if rng.random() < 0.1:
        return document, seal_container(rng.randbytes(rng.choice([0, 5, 300])), rest)
    _change(content, rng)
    return document, seal_container(json.dumps(content).encode(), rest)


def _change(content, rng):
    """Change, remove or add something at a random depth."""
    while True:
        places = list(content) if isinstance(content, dict) else list(range(len(content)))
        if not places:
            return
        place = rng.choice(places)
        if not isinstance(content[place], dict | list) or not content[place] or rng.random() < 0.2:
            break
        content = content[place]
    match rng.randrange(4):
        case 0:
            del content[place]
        case 1 if isinstance(content, dict):
            content[str(place) + "x"] = content.pop(place)
        case _:
            content[place] = rng.choice(VALUES)


def check_forged(document, blob):
    """A forged dump gives a session or is refused; returns which."""
    try:
        rtbot.load(document).resume(blob, compiled=False)
    except CheckpointError as error:
        return error.code
    return "a session"


# ---- the run


def check_chunk(seed, start, stop, kind):
    """Check some blobs; returns the count of outcomes, and (name, what went wrong)."""
    outcomes, failures = Counter(), []
    blobs(seed)
    for number in range(start, stop):
        name = f"{seed}/{number}"
        before = time.perf_counter()
        try:
            outcomes[_outcome(name, seed, kind)] += 1
        except Exception as error:  # noqa: BLE001 (it is reported)
            failures.append((name, f"{type(error).__name__}: {str(error)[:300]}"))
        if time.perf_counter() - before > SECONDS:
            failures.append((name, "took too long"))
    return outcomes, failures


def _outcome(name, seed, kind):
    if kind == "forged":
        return check_forged(*forge_dump(name, seed))
    blob, way = damage_blob(name, seed)
    real = container.json, container.np
    container.json = container.np = ForbiddenDecoder()
    try:
        return f"{way}: {decode_blindly(blob)}"
    finally:
        container.json, container.np = real


def foreign_pairs(seed):
    """Every dump of the pool to the graph of the next: it is refused as another graph's."""
    outcomes, failures = Counter(), []
    given = pool(seed)
    for place, (_, blob) in enumerate(given):
        document = given[(place + 1) % len(given)][0]
        try:
            outcomes[check_forged(document, blob)] += 1
        except Exception as error:  # noqa: BLE001 (it is reported)
            failures.append((f"{seed}/{place}", repr(error)))
    if set(outcomes) != {"RT313"}:
        failures.append((seed, f"foreign dumps ended as {dict(outcomes)}"))
    return outcomes, failures


def check_all(options, kind, count):
    """Check all blobs of a kind on all workers."""
    outcomes, failures = Counter(), []
    with ProcessPoolExecutor(options.workers) as workers:
        starts = range(0, count, CHUNK)
        parts = [
            workers.submit(check_chunk, options.seed, start, min(start + CHUNK, count), kind)
            for start in starts
        ]
        for part in parts:
            more, failed = part.result()
            outcomes += more
            failures += failed
    return outcomes, failures


def main(given=None):
    """Check and print what came of it; the number of failures is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.corruption", description=__doc__)
    parser.add_argument("--blobs", type=int, default=50_000, help="damaged ones")
    parser.add_argument("--forged", type=int, default=2_000, help="forged ones")
    parser.add_argument("--seed", default="1", help="where the numbers come from")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args(given)
    bad = 0
    for kind, run in (
        ("damaged", lambda: check_all(options, "damaged", options.blobs)),
        ("foreign", lambda: foreign_pairs(options.seed)),
        ("forged", lambda: check_all(options, "forged", options.forged)),
    ):
        begun = time.monotonic()
        outcomes, failures = run()
        print(f"{kind}: {outcomes.total():,} in {time.monotonic() - begun:.0f} s")
        for outcome, count in sorted(outcomes.items()):
            print(f"  {outcome}: {count:,}")
        for name, what in failures[:20]:
            print(f"FAILED {name}: {what}")
        bad += len(failures)
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
