"""`rtbot.Datalog`: a program, its facts, and what follows from them after every commit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError, graph_error, suggest_name
from rtbot.database.derivation_tree import DerivationTree, derive_row
from rtbot.database.fact_codec import FactCodec
from rtbot.database.fact_folder import read_fact_files, write_results
from rtbot.database.pending_changes import PendingChanges
from rtbot.database.saved_facts import decode_facts, encode_facts
from rtbot.datalog.evaluation.engine import MAX_FACTS, MAX_ITERATIONS
from rtbot.datalog.language import read_program
from rtbot.datalog.program import HIDDEN
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.storage.files import Files
from rtbot.tables.string_dictionary import StringDictionary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.database.fact_codec import Row
    from rtbot.datalog.program import Program

    Changes = dict[str, tuple[list[Row], list[Row]]]


class Datalog:
    """A Datalog program under insertions and removals.

    `text` is the program, or a Path to its file. Facts are inserted and removed; `commit` closes
    the epoch and evaluates what has changed. An epoch takes effect as a whole or not at all. The
    first one also has the facts of the program itself.

    `max_facts` and `max_iterations` bound the rows of all derived relations, and the rounds of a
    recursion. `compiled` is as in `Graph.start`.

    Raises GraphError with every problem of the program.

    >>> d = Datalog('''
    ... .decl edge(x:number, y:number)
    ... .input edge
    ... .decl path(x:number, y:number)
    ... .output path
    ... path(x, y) :- edge(x, y).
    ... path(x, z) :- path(x, y), edge(y, z).
    ... ''')
    >>> d.insert("edge", [(1, 2), (2, 3)])
    >>> d.commit()
    {'path': ([(1, 2), (1, 3), (2, 3)], [])}
    >>> d.remove("edge", [(1, 2)])
    >>> d.commit()
    {'path': ([], [(1, 2), (1, 3)])}
    >>> d.facts("path")
    [(2, 3)]
    """

    __module__ = "rtbot"

    def __init__(
        self,
        text: str | Path,
        file: str | None = None,
        *,
        max_facts: int = MAX_FACTS,
        max_iterations: int = MAX_ITERATIONS,
        compiled: bool | str | None = None,
    ) -> None:
        if isinstance(text, Path):
            text, file = _read_text(text), file or str(text)
        self.program: Program = read_program(text, file or "<program>")
        _check_files(self.program)
        self.epoch = 0
        self.texts = StringDictionary()
        self.codecs = {
            name: FactCodec(relation, self.texts)
            for name, relation in self.program.relations.items()
            if HIDDEN not in name
        }
        self.outputs = _list_outputs(self.program)
        self._pending = PendingChanges()
        self.evaluation = start_evaluation(
            self.program,
            self.texts,
            max_facts=max_facts,
            max_iterations=max_iterations,
            compiled=compiled,
        )
        self.evaluation.watch(self.outputs)

    def __repr__(self) -> str:
        facts = ", ".join(self.list_inputs())
        return f"<Datalog: {facts} -> {', '.join(self.outputs)}; epoch {self.epoch}>"

    # ---- facts

    def list_inputs(self) -> list[str]:
        """Return the relations that take facts: those with `.input`, and those without a rule."""
        ruled = {rule.relation for rule in self.program.rules}
        relations = self.program.relations
        return [n for n in self.codecs if relations[n].is_input or n not in ruled]

    def insert(self, relation: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert facts with the next commit; a row is any sequence.

        Raises DataError for an unknown relation, or a row that does not fit: none is taken then.
        """
        self._change(relation, rows, inserts=True)

    def remove(self, relation: str, rows: Iterable[Sequence[Any]]) -> None:
        """Remove facts with the next commit; the last command on a fact wins.

        Raises DataError as `insert` does.
        """
        self._change(relation, rows, inserts=False)

    def _change(self, relation: str, rows: Iterable[Sequence[Any]], *, inserts: bool) -> None:
        codec = self.find_codec(relation)
        inputs = self.list_inputs()
        if relation not in inputs:
            message = f"{relation} is derived by rules and takes no facts"
            raise DataError(message, code="RT206", hint=f"write .input {relation} in the program")
        mark = self.texts.mark()
        try:
            words = codec.encode(rows)
        except BaseException:
            self.texts.roll_back(mark)
            raise
        self._pending.add(relation, words, inserts=inserts)

    def find_codec(self, relation: str) -> FactCodec:
        """Return what encodes the rows of a relation; raise DataError if there is none."""
        if relation not in self.codecs:
            message = f"there is no relation {relation!r}"
            hint = suggest_name(str(relation), self.codecs)
            hint = hint or f"there are {', '.join(self.codecs) or 'none'}"
            raise DataError(message, code="RT206", hint=hint)
        return self.codecs[relation]

    def read_facts(self, folder: str | Path) -> None:
        """Insert, with the next commit, the facts of the files that `.input` lines name.

        Raises FactFileError, which is a DataError, with the problems of all files.
        """
        mark = self.texts.mark()
        try:
            found = read_fact_files(Files(), str(folder), self.program, self.codecs)
        except BaseException:
            self.texts.roll_back(mark)
            raise
        for name, parts in found.items():
            for words in parts:
                self._pending.add(name, words, inserts=True)

    def write_results(self, folder: str | Path) -> None:
        """Write the files that `.output` lines name, and print what goes to stdout."""
        codecs, list_rows = self.codecs, self.evaluation.list_rows
        write_results(Files(), str(folder), self.program, codecs, list_rows)

    # ---- epochs

    @property
    def pending(self) -> int:
        """Facts in commands since the last commit."""
        return len(self._pending)

    def commit(self) -> Changes:
        """Evaluate what has changed; return the rows that came and went, by output relation.

        They are sorted lists of tuples of int, float and str. Without `.output` all relations that
        have rules are returned. Raises an RtbotError for a limit, or a rule that fails: everything
        is as it was before the epoch then, and its commands are forgotten.
        """
        changes = self.commit_words()
        return {
            name: (self.codecs[name].decode(added), self.codecs[name].decode(removed))
            for name, (added, removed) in changes.items()
        }

    def commit_words(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Commit; return the rows that came and went as codes, in no order."""
        changes = self._pending.collect()
        self._pending.clear()
        found = self.evaluation.commit(changes)
        self.epoch += 1
        if self.texts.is_crowded():
            self.texts.keep(self.evaluation.list_text_codes())
        return {name: self._find_change(found, name) for name in self.outputs}

    def _find_change(
        self, found: dict[str, tuple[np.ndarray, np.ndarray]], name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        nothing = np.empty((0, self.codecs[name].width), np.int64)
        removed, added = found.get(name, (nothing, nothing))
        return added, removed

    @property
    def warnings(self) -> list[str]:
        """What was odd in the last commit: a line for each text that is no regular expression."""
        found = self.evaluation.values.bad_patterns
        return [f"{found[pattern]}; neither match nor !match holds" for pattern in sorted(found)]

    def rollback(self) -> None:
        """Forget the commands since the last commit."""
        self._pending.clear()

    # ---- questions

    def facts(self, relation: str) -> list[Row]:
        """Return the rows of a relation after the last commit, in order."""
        codec = self.find_codec(relation)
        return codec.decode(self.evaluation.list_rows(relation))

    def count(self, relation: str) -> int:
        """Return how many rows a relation has."""
        self.find_codec(relation)
        return self.evaluation.count_rows(relation)

    def why(self, relation: str, row: Sequence[Any]) -> DerivationTree:
        """Return a derivation of a row from facts, after the last commit.

        Any one that holds: there may be others. Raises DataError if the row is not there.
        """
        codec = self.find_codec(relation)
        mark = self.texts.mark()
        words = codec.encode([row])[0]
        found = derive_row(self.evaluation, self.codecs, relation, words)
        self.texts.roll_back(mark)
        if found is None:
            message = f"{relation} has no row {tuple(row)!r}"
            raise DataError(message, code="RT532", hint="it is not there after the last commit")
        return found

    def explain(self) -> dict[str, Any]:
        """Return the strata, the rules with their versions and join orders, and sizes, as data."""
        return self.evaluation.describe()

    # ---- checkpoints

    def dump(self) -> bytes:
        """Return the facts and the number of the epoch as bytes, without what is not committed."""
        saved = self.evaluation.save()
        return encode_facts(self.epoch, saved, self.codecs, self.texts)

    def restore(self, dump: bytes) -> None:
        """Go on where `dump` was: its facts take the place of all there are.

        The rules may be others than they were. Raises CheckpointError for bytes that are damaged,
        or of relations that the program does not have.
        """
        epoch, facts = decode_facts(dump, self.codecs, self.texts)
        self._pending.clear()
        self.evaluation.restore(facts)
        self.epoch = epoch


def _read_text(path: Path) -> str:
    data = Files().read(str(path), 1 << 28)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        from rtbot.core.source_span import SourceSpan

        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        mark = SourceSpan(str(path), line, column)
        raise graph_error("RT109", mark, "the program is not UTF-8 text") from None


def _list_outputs(program: Program) -> tuple[str, ...]:
    """Return the relations whose changes a commit returns."""
    relations = {n: each for n, each in program.relations.items() if HIDDEN not in n}
    found = tuple(name for name, relation in relations.items() if relation.is_output)
    ruled = {rule.relation for rule in program.rules}
    return found or tuple(name for name in relations if name in ruled)


def _check_files(program: Program) -> None:
    """Raise GraphError for quoted files whose delimiter cannot be one."""
    for relation in program.relations.values():
        for file in (*relation.reads, *relation.writes):
            if file.rfc4180 and (len(file.delimiter) != 1 or file.delimiter in '"\r\n'):
                message = f"rfc4180 needs a delimiter of one character, not {file.delimiter!r}"
                raise graph_error("RT512", relation.span, message)
