"""Events of auctions: persons, auctions and bids, as columns, from a seed.

The proportions are those of the Nexmark benchmark (Tucker, Tufte, Papadimos, Maier; as Apache Beam
and Flink have it): of 50 events one is a person, three are auctions and 46 are bids. Half of the
bids go to a hot auction, three quarters of the auctions and bids come from hot persons. There are
10,000 events per second if nothing else is said, and times are milliseconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Columns = dict[str, np.ndarray | pa.Array]

EPOCH, PERSONS, AUCTIONS = 50, 1, 3
"""So many events make a round; so many of it are persons and auctions, the others are bids."""
BLOCK = 200 * EPOCH
"""Events are made in blocks, so that they are the same however many are taken at once."""
BEGIN = 1_704_067_200_000
"""2024-01-01, in ms."""
RATE = 10_000
"""Events per second."""
FIRST_PERSON, FIRST_AUCTION, FIRST_CATEGORY = 1_000, 1_000, 10
CATEGORIES = 5
ACTIVE_PERSONS, OPEN_AUCTIONS, AHEAD = 1_000, 100, 10
"""Persons that do something, auctions that get bids, and how far ids are ahead of their event."""
HOT_AUCTIONS, HOT_PERSONS = 2, 4
"""One in so many is not a hot one; hot ones change with every `HOT_IDS` ids."""
HOT_IDS = 100
CHANNELS = 10_000
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    *("Phoenix", "Fresno", "Oakland", "Boise", "Salem", "Bend", "Eugene", "Tacoma", "Yakima"),
    *("Laramie", "Casper", "Tucson"),
)
FIRST_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jon", "Kim")
LAST_NAMES = ("Abbott", "Baker", "Cole", "Drake", "Ellis", "Frost", "Grant", "Hart", "Irwin")

DECLARED = {
    "person": "id integer, name text, email text, card text, city text, state text, "
    "date_time integer, extra text",
    "auction": "id integer, item text, description text, initial_bid integer, reserve integer, "
    "date_time integer, expires integer, seller integer, category integer, extra text",
    "bid": "auction integer, bidder integer, price integer, channel text, url text, "
    "date_time integer, extra text",
}
FIELDS = {
    table: dict(field.split() for field in text.split(", ")) for table, text in DECLARED.items()
}
"""The fields of every table with their types."""


@dataclass(frozen=True)
class Events:
    """Events in their order: `number` int64[n] of each row of a table, and the table's columns."""

    numbers: dict[str, np.ndarray]
    tables: dict[str, Columns]


def list_blocks(seed: int, count: int, rate: int = RATE) -> Iterator[Events]:
    """Yield `count` events, rounded up to whole blocks."""
    for block in range(-(-count // BLOCK)):
        yield make_block(seed, block, rate)


def make_block(seed: int, block: int, rate: int) -> Events:
    """Return the events of a block."""
    random = np.random.default_rng([seed, block])
    number = np.arange(block * BLOCK, (block + 1) * BLOCK)
    place = number % EPOCH
    parts = {
        "person": number[place < PERSONS],
        "auction": number[(place >= PERSONS) & (place < PERSONS + AUCTIONS)],
        "bid": number[place >= PERSONS + AUCTIONS],
    }
    makers = {"person": make_persons, "auction": make_auctions, "bid": make_bids}
    tables = {
        name: make(random, parts[name], find_times(parts[name], rate))
        for name, make in makers.items()
    }
    length = OPEN_AUCTIONS * EPOCH * 1_000 // AUCTIONS // rate
    auction = tables["auction"]
    lengths = random.integers(1, 2 * length, len(parts["auction"]), endpoint=True)
    auction["expires"] = auction["date_time"] + lengths
    return Events(parts, tables)


@cache
def list_channels() -> tuple[pa.Array, pa.Array]:
    """Return the names of channels, and their addresses."""
    names = [*HOT_CHANNELS, *(f"channel-{n}" for n in range(CHANNELS))]
    places = (n * 7_919 % 99_991 for n in range(len(names)))
    urls = [f"https://auctions.example/{place}/item?query=1" for place in places]
    return pa.array(names), pa.array(urls)


def make_persons(random: np.random.Generator, number: np.ndarray, time: np.ndarray) -> Columns:
    """Return the persons of these events."""
    count = len(number)
    first, last = pick(random, FIRST_NAMES, count), pick(random, LAST_NAMES, count)
    return {
        "id": FIRST_PERSON + number // EPOCH,
        "name": join_texts(first, " ", last),
        "email": join_texts(make_texts(random, count, 5, 9), "@", make_texts(random, count, 4, 7)),
        "card": make_texts(random, count, 16, 16, b"0123456789"),
        "city": pick(random, CITIES, count),
        "state": pick(random, STATES, count),
        "date_time": time,
        "extra": make_texts(random, count, 80, 120),
    }


def make_auctions(random: np.random.Generator, number: np.ndarray, time: np.ndarray) -> Columns:
    """Return the auctions of these events."""
    count = len(number)
    initial = make_prices(random, count)
    return {
        "id": FIRST_AUCTION + count_auctions(number) - 1,
        "item": make_texts(random, count, 10, 20),
        "description": make_texts(random, count, 60, 100),
        "initial_bid": initial,
        "reserve": initial + make_prices(random, count),
        "date_time": time,
        "expires": time,
        "seller": choose_persons(random, number, 0),
        "category": FIRST_CATEGORY + random.integers(0, CATEGORIES, count),
        "extra": make_texts(random, count, 150, 250),
    }


def make_bids(random: np.random.Generator, number: np.ndarray, time: np.ndarray) -> Columns:
    """Return the bids of these events."""
    count, auctions = len(number), count_auctions(number)
    hot = (auctions - 1) // HOT_IDS * HOT_IDS
    usual = spread(random, np.maximum(auctions - OPEN_AUCTIONS, 0), auctions + AHEAD)
    is_hot = random.integers(0, HOT_AUCTIONS, count) > 0
    channel = random.integers(0, CHANNELS, count)
    names, urls = list_channels()
    is_known = random.integers(0, 2, count) > 0
    places = pa.array(np.where(is_known, channel % 4, channel + len(HOT_CHANNELS)))
    return {
        "auction": FIRST_AUCTION + np.where(is_hot, hot, usual),
        "bidder": choose_persons(random, number, 1),
        "price": make_prices(random, count),
        "channel": names.take(places),
        "url": urls.take(places),
        "date_time": time,
        "extra": make_texts(random, count, 54, 82),
    }


def find_times(number: np.ndarray, rate: int) -> np.ndarray:
    """Return the times of events, in ms."""
    return BEGIN + number * 1_000 // rate


def count_auctions(number: np.ndarray) -> np.ndarray:
    """Return how many auctions there are up to an event."""
    return number // EPOCH * AUCTIONS + np.clip(number % EPOCH - PERSONS + 1, 0, AUCTIONS)


def choose_persons(random: np.random.Generator, number: np.ndarray, place: int) -> np.ndarray:
    """Return the ids of hot persons, the one at this place among their neighbours, and others."""
    persons = number // EPOCH + 1
    hot = (persons - 1) // HOT_IDS * HOT_IDS + place
    usual = spread(random, np.maximum(persons - ACTIVE_PERSONS, 0), persons + AHEAD)
    return FIRST_PERSON + np.where(random.integers(0, HOT_PERSONS, len(number)) > 0, hot, usual)


def spread(random: np.random.Generator, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return random integers from `first` to before `last`, both int64[n]."""
    return first + (random.random(len(first)) * (last - first)).astype(np.int64)


def make_prices(random: np.random.Generator, count: int) -> np.ndarray:
    """Return prices in cents: all sizes from 1 to 1,000,000 are as likely."""
    return np.rint(10 ** (random.random(count) * 6) * 100).astype(np.int64)


def pick(random: np.random.Generator, texts: tuple[str, ...], count: int) -> pa.Array:
    """Return random ones of some texts."""
    return pa.array(texts).take(pa.array(random.integers(0, len(texts), count)))


def join_texts(first: pa.Array, between: str, last: pa.Array) -> pa.Array:
    """Return texts with another one between them."""
    return pc.binary_join_element_wise(first, last, between)


def make_texts(
    random: np.random.Generator,
    count: int,
    least: int,
    most: int,
    letters: bytes = b"abcdefghijklmnopqrstuvwxyz",
) -> pa.Array:
    """Return random texts of so many letters."""
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(random.integers(least, most, count, endpoint=True), out=offsets[1:])
    letter = np.frombuffer(letters, np.uint8)
    cells = letter[random.integers(0, len(letter), int(offsets[-1]), np.uint8)]
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(cells))
