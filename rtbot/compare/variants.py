"""The ways to run the same data: a table of them, and how each is run, told and made smaller."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from rtbot.compare.canonical_outputs import Outputs
from rtbot.compare.column_variants import FORMS
from rtbot.compare.schedules import Habits, saved_between, schedule, whole
from rtbot.compare.sessions import bare, every_key_alone, fed
from rtbot.compare.shrink import restricted, simpler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.api import Graph
    from rtbot.compare.data import Data
    from rtbot.compare.schedules import Step

BATCHES = (200, 50, 10)
"""Parts of the rows, one of so many, that a random batch may be."""

DUMPS = 20
"""Dumps of one run at most."""

QUIET = Habits(dump=0.0, advance=0.0, close=0.0)
STYLES = ("random", "keys", "starved", "blocks")
"""Orders of the runs of a way, in turn."""


@dataclass(frozen=True)
class Wish:
    """What is asked for.

    `seed` decides over everything random, `runs` is how often a random way is run, `rows` how many
    rows slow ways take at most, `keys` how many keys are run alone; `spark` asks for Spark too.
    """

    seed: int = 0
    runs: int = 4
    rows: int = 20_000
    keys: int = 100
    spark: bool = False


class Attempt:
    """One run in some way; the reference is `Steps` of one push."""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run it; a fault is in the outputs."""
        raise NotImplementedError

    def right(self, outputs: Outputs) -> Outputs:
        """Return what of the reference's outputs this way can show."""
        return outputs

    def part(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Return the same for some of the rows."""
        del data, numbers
        return self

    def simpler(self) -> Iterator[Attempt]:
        """Yield what is a little simpler."""
        yield from ()

    def told(self, data: Data) -> Iterator[str]:
        """Yield what is done with the data, a line for each step."""
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Steps(Attempt):
    """One session that is fed by steps; `form` names the kind of tables, "" as they are read."""

    steps: list[Step]
    compiled: bool | None = None
    form: str = ""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run the steps."""
        return fed(graph, data, self.steps, self.compiled, FORMS.get(self.form))

    def part(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Keep what the rows need; a key without rows is not closed."""
        keys = data.part(numbers).keys if data.key else None
        return replace(self, steps=restricted(self.steps, numbers, keys))

    def simpler(self) -> Iterator[Attempt]:
        """Yield it with fewer steps."""
        for steps in simpler(self.steps):
            yield replace(self, steps=steps)

    def told(self, data: Data) -> Iterator[str]:
        """Yield the steps."""
        del data
        if self.compiled is False:
            yield "interpreted: the generated code as plain Python"
        if self.form:
            yield f"columns: {self.form}"
        yield from map(step_line, self.steps)
        yield "finish"

    def plain(self) -> dict[str, Any]:
        """Return the steps as lists."""
        steps = {"kind": "steps", "steps": [list(step) for step in self.steps]}
        return steps | {"compiled": self.compiled, "form": self.form}


@dataclass(frozen=True)
class Read(Steps):
    """The session that the data was read by, which was `run` of them already."""

    found: Outputs = field(default_factory=Outputs)

    @classmethod
    def of(cls, data: Data, found: Outputs) -> Read:
        """Read the data in the blocks of `rtbot run`."""
        from rtbot.io.reader import BLOCK_ROWS

        starts = range(0, len(data), BLOCK_ROWS)
        ends = [min(start + BLOCK_ROWS, len(data)) for start in starts]
        blocks = [[*range(start, end)] for start, end in zip(starts, ends, strict=True)]
        return cls([("push", block) for block in blocks], found=found)

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Return what came of it."""
        del graph, data
        return self.found

    def part(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Run it for some of the rows."""
        return Steps(self.steps).part(data, numbers)

    def simpler(self) -> Iterator[Attempt]:
        """Yield the same run anew."""
        yield Steps(self.steps)


@dataclass(frozen=True)
class Alone(Attempt):
    """A session for every key."""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run every key."""
        return every_key_alone(graph, data)

    def told(self, data: Data) -> Iterator[str]:
        """Yield the keys."""
        for key, numbers in data.keys.items():
            yield f"{len(numbers)} of key {bare(key)!r} in a session without keys"

    def plain(self) -> dict[str, Any]:
        """Return the kind; there is nothing else."""
        return {"kind": "alone"}


@dataclass(frozen=True)
class Way:
    """A way to run some of the rows: its name, these rows, and the runs.

    `note` says which rows these are, if not all; `seconds` were spent on it already.
    """

    name: str
    data: Data
    attempts: Iterator[Attempt]
    note: str = ""
    seconds: float = 0.0


def ways(data: Data, wish: Wish, *, interprets: bool) -> Iterator[Way]:
    """Yield every way that goes with the data but that of reading it, and Spark.

    `interprets` says that code is run as plain Python anyway.
    """
    few, note = first_rows(data, wish.rows)
    yield Way("random batches", data, _random(data, wish, "batches", QUIET))
    habits = replace(QUIET, advance=0.3, close=0.8, eager=True)
    name = "advanced, keys closed" if data.key else "advanced"
    yield Way(name, data, _random(data, wish, "advanced", habits))
    yield Way("saved and resumed", data, _saved(data, wish))
    yield Way("one message at a time", few, _single(few, wish), note)
    if not interprets:
        yield Way("interpreted", few, iter([Steps(whole(few.rows), compiled=False)]), note)
    forms = (Steps(whole(few.rows), form=form) for form in FORMS)
    yield Way("other column types", few, iter(forms), note)
    if data.key:
        some, told = _some_keys(data, wish)
        yield Way("every key alone", some, iter([Alone()]), told)


def step_line(step: Step) -> str:
    """Say what a step does; rows are numbered from 1."""
    kind, *args = step
    match kind:
        case "push":
            return f"push {_listed(args[0]) or 'nothing'}"
        case "one":
            return f"push_one {_listed(args)}"
        case "advance":
            return f"advance to {args[0]}" + (f", input {args[1]}" if args[1] else "")
        case "close":
            return f"close key {bare(args[0])!r}"
    return "dump and resume"


def _listed(numbers: Sequence[int]) -> str:
    """Row numbers from 1, those that follow one another as a range: row 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    told = ", ".join("-".join(str(number + 1) for number in run) for run in runs)
    return told and f"row{'s' * (len(numbers) > 1)} {told}"


def _rng(wish: Wish, name: str, run: int) -> Random:
    return Random(f"{wish.seed}/{name}/{run}")  # noqa: S311 (it is to come again)


def _random(data: Data, wish: Wish, name: str, habits: Habits) -> Iterator[Steps]:
    for run in range(wish.runs):
        rng = _rng(wish, name, run)
        parts = tuple(len(data) // share for share in BATCHES)
        sizes = habits.sizes + tuple(size for size in parts if size > max(habits.sizes))
        style = STYLES[run % len(STYLES)]
        yield Steps(schedule(rng, data.rows, style, replace(habits, sizes=sizes)))


def _saved(data: Data, wish: Wish) -> Iterator[Steps]:
    for run, attempt in enumerate(_random(data, wish, "saved", QUIET)):
        rng = _rng(wish, "dumps", run)
        yield Steps(saved_between(rng, attempt.steps, DUMPS))


def _single(data: Data, wish: Wish) -> Iterator[Steps]:
    """Every message alone; from the second run on with dumps between."""
    for run in range(wish.runs):
        rng = _rng(wish, "single", run)
        steps = schedule(rng, data.rows, "ones", QUIET)
        yield Steps(saved_between(rng, steps, DUMPS) if run else steps)


def first_rows(data: Data, most: int) -> tuple[Data, str]:
    """Return at most so many rows, and a note where these are not all."""
    if len(data) <= most:
        return data, ""
    return data.part(range(most)), f"the first of {len(data):,}"


def _some_keys(data: Data, wish: Wish) -> tuple[Data, str]:
    """Some of the keys, with all their rows."""
    count = len(data.keys)
    if count <= wish.keys:
        return data, ""
    chosen = _rng(wish, "keys", 0).sample(list(data.keys), wish.keys)
    numbers = sorted(number for key in chosen for number in data.keys[key])
    return data.part(numbers), f"{wish.keys:,} of {count:,} keys"
