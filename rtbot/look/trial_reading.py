"""Reading what was looked at with the options that were found, to see if they are right."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING, BinaryIO

from rtbot.core.errors import RtbotError
from rtbot.graph.model import Input
from rtbot.look.change_files import list_schema
from rtbot.look.file_facts import STORED, TrialReading
from rtbot.operator import Type
from rtbot.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from rtbot.look.file_facts import FileFacts
    from rtbot.look.file_sample import FileSample

ROWS_MAX, COLUMNS_MAX = 100_000, 50
"""So many rows of a file of columns are read, and so many columns of any."""

ALONE_MAX = 5
"""Members of objects are given by name, for which each is read alone."""

WIDE_ENCODINGS = ("utf-16", "utf-32")


class SampleFiles(Files):
    """A file of which there are only the bytes that were looked at."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def open(self, path: str) -> BinaryIO:  # noqa: ARG002 (there is one file)
        """Open the bytes."""
        return io.BytesIO(self._data)

    def list_matching(self, pattern: str) -> list[str]:
        """Return the one file there is."""
        return [pattern]

    def pipe(self, path: str) -> tuple[int, int] | None:  # noqa: ARG002 (it is none)
        """Return None: it can be read again."""
        return None


def try_options(facts: FileFacts, files: Files, sample: FileSample) -> None:
    """Read what was looked at of a file with its options, and note what is refused."""
    trial = facts.trial = TrialReading()
    if facts.time is None or facts.obstacles:
        trial.skipped = "nothing reads it"
    elif not facts.numeric and not facts.changes:
        trial.skipped = "there is no column of numbers"
    else:
        chosen = files if facts.form in STORED or facts.packed else _take_head(facts, sample)
        try:
            _read_rows(facts, chosen, trial)
        except RtbotError as error:
            trial.problems[error.message] = 1


def _take_head(facts: FileFacts, sample: FileSample) -> Files:
    """Return the beginning of a file without the line in which it is cut."""
    data = sample.head
    if not sample.whole and not facts.dialect.encoding.startswith(WIDE_ENCODINGS):
        data = data[: data.rfind(b"\n") + 1]
    return SampleFiles(data)


def _read_rows(facts: FileFacts, files: Files, trial: TrialReading) -> None:
    from rtbot.io.bindings import InputSpec, bind_columns
    from rtbot.io.blocks import BadRowPolicy
    from rtbot.io.reader import FileReader

    found = facts.io
    names = [column.name for column in facts.numeric[:COLUMNS_MAX]]
    if found.reading.columns_as is not None:
        names = ["value"]
    inputs = {name: Input(name, Type("number")) for name in names}
    alone: dict[str, tuple[str, str | None]] = {}
    if facts.form == "jsonl":
        alone = {n: (facts.file, n) for n in names[:ALONE_MAX]}
    if facts.changes:
        inputs = {"rows": Input("rows", Type("changes", schema=list_schema(facts)))}
        alone = {"rows": (facts.file, None)}
    request = InputSpec(
        None if alone else facts.file,
        alone,
        found.time,
        found.key,
        found.reading,
        facts.form_option,
        bad="drop",
    )
    wanted = {name: inputs[name] for name in alone} or inputs
    problems: Counter[str] = Counter()
    policy = BadRowPolicy(_make_counter(problems))
    reader = FileReader(bind_columns(files, wanted, request), found.unit, policy)
    enough = ROWS_MAX if facts.form in STORED else facts.rows * max(len(alone), 1)
    for _ in reader.read_in_turn():
        if not facts.whole and reader.rows > enough:
            break
    trial.rows = reader.rows // max(len(alone), 1)
    trial.bad = sum(policy.counts.values()) // max(len(alone), 1)
    trial.problems = dict(problems)


def _make_counter(problems: Counter[str]) -> Callable[[pa.Table], object]:
    def count(table: pa.Table) -> None:
        for column, problem in zip(
            table["column"].to_pylist(), table["problem"].to_pylist(), strict=True
        ):
            problems[f"{column}: {problem}" if column else problem] += 1

    return count
