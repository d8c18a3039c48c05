"""The ways to run the same data: a table of them, and how each is run, described and shrunk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, TypedDict

from rtbot.compare.canonical_outputs import Outputs
from rtbot.compare.column_variants import COLUMN_VARIANTS
from rtbot.compare.schedules import ScheduleMix, insert_some_dumps, schedule, schedule_whole
from rtbot.compare.sessions import run_keys_alone, run_steps, unwrap_key
from rtbot.compare.shrink import restrict_steps, simplify_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.api import Graph
    from rtbot.compare.data import Data
    from rtbot.compare.schedules import Step

BATCHES = (200, 50, 10)
"""Parts of the rows, one of so many, that a random batch may be."""

QUIET = ScheduleMix(dump=0.0, advance=0.0, close=0.0)
STYLES = ("random", "keys", "starved", "blocks")
"""Orders of the runs of a way, in turn."""


class CompareOptions(TypedDict, total=False):
    """The fields of `ComparisonOptions`, as a call takes them by name."""

    seed: int
    runs: int
    rows: int
    keys: int
    spark: bool
    dumps: int


@dataclass(frozen=True)
class ComparisonOptions:
    """The options of a comparison.

    `seed` determines everything random, `runs` is how often a random way is run, `rows` how many
    rows slow ways take at most, `keys` how many keys are run alone; `spark` asks for Spark too, and
    `dumps` is how often one run is saved at most.
    """

    seed: int = 0
    runs: int = 4
    rows: int = 20_000
    keys: int = 100
    spark: bool = False
    dumps: int = 20


class Attempt:
    """One run in some way; the reference is `StepsAttempt` of one push."""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run it; a fault is in the outputs."""
        raise NotImplementedError

    def adapt_reference(self, outputs: Outputs) -> Outputs:
        """Return what of the reference's outputs this way can show."""
        return outputs

    def select(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Return the same for some of the rows."""
        del data, numbers
        return self

    def simplify(self) -> Iterator[Attempt]:
        """Yield slightly simpler attempts."""
        yield from ()

    def describe_steps(self, data: Data) -> Iterator[str]:
        """Yield what is done with the data, a line for each step."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        raise NotImplementedError


@dataclass(frozen=True)
class StepsAttempt(Attempt):
    """One session that is pushed to by steps; `form` is the kind of tables, "" as they are read."""

    steps: list[Step]
    compiled: bool | None = None
    form: str = ""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run the steps."""
        return run_steps(graph, data, self.steps, self.compiled, COLUMN_VARIANTS.get(self.form))

    def select(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Keep what the rows need; a key without rows is not closed."""
        keys = data.select(numbers).keys if data.key else None
        return replace(self, steps=restrict_steps(self.steps, numbers, keys))

    def simplify(self) -> Iterator[Attempt]:
        """Yield it with fewer steps."""
        for steps in simplify_steps(self.steps):
            yield replace(self, steps=steps)

    def describe_steps(self, data: Data) -> Iterator[str]:
        """Yield the steps."""
        del data
        if self.compiled is False:
            yield "interpreted: the generated code as plain Python"
        if self.form:
            yield f"columns: {self.form}"
        yield from map(format_step, self.steps)
        yield "finish"

    def to_json(self) -> dict[str, Any]:
        """Return the steps as lists."""
        steps = {"kind": "steps", "steps": [list(step) for step in self.steps]}
        return steps | {"compiled": self.compiled, "form": self.form}


@dataclass(frozen=True)
class ReadAttempt(StepsAttempt):
    """The session that the data was read by, which was `run` of them already."""

    found: Outputs = field(default_factory=Outputs)

    @classmethod
    def of(cls, data: Data, found: Outputs) -> ReadAttempt:
        """Read the data in the blocks of `rtbot run`."""
        from rtbot.io.reader import BLOCK_ROWS

        starts = range(0, len(data), BLOCK_ROWS)
        ends = [min(start + BLOCK_ROWS, len(data)) for start in starts]
        blocks = [[*range(start, end)] for start, end in zip(starts, ends, strict=True)]
        return cls([("push", block) for block in blocks], found=found)

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Return its outputs."""
        del graph, data
        return self.found

    def select(self, data: Data, numbers: Sequence[int]) -> Attempt:
        """Run it for some of the rows."""
        return StepsAttempt(self.steps).select(data, numbers)

    def simplify(self) -> Iterator[Attempt]:
        """Yield the same run again."""
        yield StepsAttempt(self.steps)


@dataclass(frozen=True)
class AloneAttempt(Attempt):
    """A session for every key."""

    def outputs(self, graph: Graph, data: Data) -> Outputs:
        """Run every key."""
        return run_keys_alone(graph, data)

    def describe_steps(self, data: Data) -> Iterator[str]:
        """Yield the keys."""
        for key, numbers in data.keys.items():
            yield f"{len(numbers)} of key {unwrap_key(key)!r} in a session without keys"

    def to_json(self) -> dict[str, Any]:
        """Return the kind; there is nothing else."""
        return {"kind": "alone"}


@dataclass(frozen=True)
class Variant:
    """A way to run some of the rows: its name, these rows, and the runs.

    `note` is which rows these are, if not all; `seconds` were spent on it already.
    """

    name: str
    data: Data
    attempts: Iterator[Attempt]
    note: str = ""
    seconds: float = 0.0


def list_variants(data: Data, options: ComparisonOptions, *, interprets: bool) -> Iterator[Variant]:
    """Yield every variant that goes with the data, except that of reading it, and Spark.

    `interprets` is whether code is run as plain Python anyway.
    """
    few, note = take_first_rows(data, options.rows)
    yield Variant("random batches", data, _make_random(data, options, "batches", QUIET))
    closes = bool(data.key) and not data.has_changes
    mix = replace(QUIET, advance=0.3, close=0.8 if closes else 0.0, eager=True)
    name = "advanced, keys closed" if closes else "advanced"
    yield Variant(name, data, _make_random(data, options, "advanced", mix))
    yield Variant("saved and resumed", data, _make_saved(data, options))
    yield Variant("one message at a time", few, _make_single(few, options), note)
    if not interprets:
        yield Variant(
            "interpreted", few, iter([StepsAttempt(schedule_whole(few.rows), compiled=False)]), note
        )
    if data.has_changes:
        return
    forms = (StepsAttempt(schedule_whole(few.rows), form=form) for form in COLUMN_VARIANTS)
    yield Variant("other column types", few, iter(forms), note)
    if data.key:
        some, lines = _choose_keys(data, options)
        yield Variant("every key alone", some, iter([AloneAttempt()]), lines)


def format_step(step: Step) -> str:
    """Describe what a step does; rows are numbered from 1."""
    kind, *args = step
    match kind:
        case "push":
            return f"push {_format_numbers(args[0]) or 'nothing'}"
        case "one":
            return f"push_one {_format_numbers(args)}"
        case "advance":
            return f"advance to {args[0]}" + (f", input {args[1]}" if args[1] else "")
        case "close":
            return f"close key {unwrap_key(args[0])!r}"
    return "dump and resume"


def _format_numbers(numbers: Sequence[int]) -> str:
    """Return row numbers from 1, those that follow one another as a range: row 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    lines = ", ".join("-".join(str(number + 1) for number in run) for run in runs)
    return lines and f"row{'s' * (len(numbers) > 1)} {lines}"


def _make_rng(options: ComparisonOptions, name: str, run: int) -> Random:
    return Random(f"{options.seed}/{name}/{run}")  # noqa: S311 (it is to come again)


def _make_random(
    data: Data, options: ComparisonOptions, name: str, mix: ScheduleMix
) -> Iterator[StepsAttempt]:
    for run in range(options.runs):
        rng = _make_rng(options, name, run)
        parts = tuple(len(data) // share for share in BATCHES)
        sizes = mix.sizes + tuple(size for size in parts if size > max(mix.sizes))
        style = STYLES[run % len(STYLES)]
        yield StepsAttempt(schedule(rng, data.rows, style, replace(mix, sizes=sizes)))


def _make_saved(data: Data, options: ComparisonOptions) -> Iterator[StepsAttempt]:
    for run, attempt in enumerate(_make_random(data, options, "saved", QUIET)):
        rng = _make_rng(options, "dumps", run)
        yield StepsAttempt(insert_some_dumps(rng, attempt.steps, options.dumps))


def _make_single(data: Data, options: ComparisonOptions) -> Iterator[StepsAttempt]:
    """Return every message alone; from the second run on with dumps between."""
    for run in range(options.runs):
        rng = _make_rng(options, "single", run)
        steps = schedule(rng, data.rows, "ones", QUIET)
        yield StepsAttempt(insert_some_dumps(rng, steps, options.dumps) if run else steps)


def take_first_rows(data: Data, most: int) -> tuple[Data, str]:
    """Return at most so many rows, and a note where these are not all."""
    if len(data) <= most:
        return data, ""
    return data.select(range(most)), f"the first of {len(data):,}"


def _choose_keys(data: Data, options: ComparisonOptions) -> tuple[Data, str]:
    """Return some of the keys, with all their rows."""
    count = len(data.keys)
    if count <= options.keys:
        return data, ""
    chosen = _make_rng(options, "keys", 0).sample(list(data.keys), options.keys)
    numbers = sorted(number for key in chosen for number in data.keys[key])
    return data.select(numbers), f"{options.keys:,} of {count:,} keys"
