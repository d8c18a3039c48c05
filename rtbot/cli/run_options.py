"""The job that the options of `rtbot run` ask for, and whether it is possible."""

from __future__ import annotations

import os
import re
from fnmatch import filter as matching
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.io_options import split_names
from rtbot.cli.options import choose_followed
from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import suggest_name
from rtbot.core.vector_names import VECTOR
from rtbot.graph.model import collect_own
from rtbot.graph.output_types import list_output_types
from rtbot.graph.stages import has_changes
from rtbot.io.bindings import InputSpec
from rtbot.io.file_run import CHECKPOINT_ROWS, Job
from rtbot.io.sinks.outputs import Target
from rtbot.io.source_opener import detect_format, list_suffixes, split_column
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rtbot.api import Graph
    from rtbot.io.bindings import Given
    from rtbot.operator import Type

POWERS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def build_job(graph: Graph, options: Mapping[str, Any]) -> Job:
    """Build what is to be read and written from the options."""
    request = build_request(graph, options)
    taps = match_taps(graph, options["taps"])
    outputs = list_output_types(graph.checked, taps)
    series = [name for name, kind in outputs.items() if kind.schema is None]
    _check_columns(["t", *request.key, *series])
    rejects = options["rejects"]
    _refuse_for_tables(graph, options)
    found = Job(
        request,
        tuple(_build_targets(outputs, graph.checked.records, options)),
        None
        if rejects is None
        else Target(rejects, detect_target_format("--rejects", rejects), (), "long"),
        options["account_file"],
        taps,
        options["memory"],
        options["queue"],
        options["plot"],
        options["checkpoint"],
        options["every"] or CHECKPOINT_ROWS,
        options["resume"],
    )
    if found.plot not in (None, STANDARD) and not str(found.plot).lower().endswith(".svg"):
        raise click.UsageError(f"--plot {found.plot}: a chart is SVG, name it .svg")
    check_files(found, [options["graph"], *options["plugins"]])
    if options["every"] is not None or found.resume:
        _need_checkpoint(found, "--resume" if found.resume else "--every")
    if found.checkpoint is not None:
        _check_resumable(found)
    return found


def _refuse_for_tables(graph: Graph, options: Mapping[str, Any]) -> None:
    """Refuse options that a graph with tables that change does not have yet."""
    if not has_changes(graph.checked):
        return
    if options.get("timings"):
        message = "--timings does not go with tables that change yet: it comes later"
        raise click.UsageError(message)
    if options["key"] and not any(i.type.schema is None for i in graph.checked.inputs.values()):
        raise click.UsageError("--key: a run key is for series, and no input is one")


def build_request(graph: Graph, options: Mapping[str, Any]) -> InputSpec:
    """Build what is to be read from the options."""
    io = graph.checked.io
    given = options["key"]
    key = io.key if given is None else tuple(split_names([given]) if given.strip() else ())
    file = options["file"]
    if file is None and not options["inputs"]:
        name = next(iter(graph.checked.inputs))
        raise click.UsageError(f"there is nothing to read: give a FILE, or --in {name}=FILE")
    drops = "drop" in {io.bad, *(own.bad for own in collect_own(graph.checked.inputs).values())}
    inputs = _parse_inputs(graph, options["inputs"])
    paths = {name: inputs[name][0] if name in inputs else file for name in graph.checked.inputs}
    given_paths = {name: path for name, path in paths.items() if path is not None}
    follow = choose_followed(options.get("follow"), given_paths)
    if follow and options["checkpoint"] is not None:
        raise click.UsageError("--follow does not go with --checkpoint yet: it comes later")
    found = InputSpec(
        file,
        inputs,
        io.time,
        key,
        io.reading,
        options["input_form"],
        live=bool(follow) or (not key and not drops and options["checkpoint"] is None),
        marking=options["checkpoint"] is not None,
        follow=follow,
        bad=io.bad,
    )
    if list_patterns(found).count(STANDARD) > 1:
        raise click.UsageError("stdin can be read once: give a FILE for all inputs")
    return found


def list_patterns(request: InputSpec) -> list[str]:
    """Return what is to be read: paths and patterns of paths."""
    files = [request.file] if request.file is not None else []
    return files + [path for path, _ in request.inputs.values()]


def parse_bytes(text: str) -> int:
    """Read a number of bytes such as 64M; raise ValueError if it is not one."""
    found = re.fullmatch(r"([0-9]{1,18})([kmgt]?)(i?b)?", text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is not a number of bytes such as 500000, 64M or 2G")
    return int(found[1]) << POWERS[found[2]]


def match_taps(graph: Graph, globs: Sequence[str]) -> tuple[str, ...]:
    """Return the operators that the patterns name, in the order of the graph."""
    names = list(graph.checked.nodes)
    chosen: set[str] = set()
    for glob in globs:
        found = matching(names, glob)
        if not found:
            hint = suggest_name(glob, names) or f"there are {', '.join(names)}"
            raise click.UsageError(f"--tap {glob}: there is no such operator; {hint}")
        chosen.update(found)
    return tuple(name for name in names if name in chosen)


def _check_columns(names: Sequence[str]) -> None:
    twice = repeated(names)
    if twice is not None:
        raise click.UsageError(f"two columns of the result would be named {twice!r}")


def _parse_inputs(graph: Graph, given: Sequence[str]) -> dict[str, tuple[str, Given]]:
    """Split every NAME=FILE[:COLUMN]; a record has FIELD=COLUMN,... behind the colon.

    A vector has one column of lists, or COLUMN,... with one for every element.
    """
    found: dict[str, tuple[str, Given]] = {}
    for text in given:
        name, path = _split_assignment(text, "--in", graph.checked.inputs)
        if name in found:
            raise click.UsageError(f"--in {name} is given twice")
        file, column = split_column(Files(), path)
        fields = [field.name for field in graph.checked.inputs[name].type.fields]
        found[name] = file, column
        if graph.checked.inputs[name].type.kind == VECTOR and column is not None:
            found[name] = file, _parse_elements(text, column, len(fields))
        elif fields and column is not None:
            found[name] = file, _parse_fields(text, column, fields)
    return found


def _parse_elements(text: str, columns: str, size: int) -> Given:
    """Split COLUMN[,COLUMN]."""
    names = columns.split(",")
    if len(names) == 1:
        return columns
    if len(names) != size:
        message = f"--in {text}: {len(names)} columns, and the vector has {size} elements"
        raise click.UsageError(message)
    return {str(place): name for place, name in enumerate(names)}


def _parse_fields(text: str, columns: str, fields: Sequence[str]) -> dict[str, str]:
    """Split FIELD=COLUMN[,FIELD=COLUMN]."""
    found: dict[str, str] = {}
    for part in columns.split(","):
        field, equals, column = part.partition("=")
        if not equals or not column:
            raise click.UsageError(f"--in {text}: a record takes FIELD=COLUMN, not {part!r}")
        if field not in fields:
            hint = suggest_name(field, fields) or f"there are {', '.join(fields)}"
            raise click.UsageError(f"--in {text}: there is no field {field!r}; {hint}")
        found[field] = column
    return found


def _split_assignment(text: str, option: str, known: Collection[str]) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not path:
        name = next(iter(known), "NAME")
        alone = f"-o {text}" if option == "--out" else f"GRAPH {text}"
        hint = f"say {option} {name}={text} for one, {alone} for all"
        raise click.UsageError(f"{option} takes NAME=FILE, not {text!r}; {hint}")
    if name not in known:
        hint = suggest_name(name, known) or f"there are {', '.join(known)}"
        raise click.UsageError(f"{option} {text}: the graph has no {name!r}; {hint}")
    return name, path


def _build_targets(
    outputs: Mapping[str, Type],
    records: Mapping[str, Sequence[str]],
    options: Mapping[str, Any],
) -> Iterator[Target]:
    """Decide which outputs go where: --out, the rest to -o; without either all go to stdout.

    The fields of a record go to one file.
    """
    places: dict[str, str] = {}
    for text in options["outputs"]:
        given, path = _split_assignment(text, "--out", [*outputs, *records])
        for name in [f"{given}.{field}" for field in records.get(given, ())] or [given]:
            if name in places:
                raise click.UsageError(f"--out {name} is given twice")
            places[name] = path
    rest, target, form = options["target"], options["target"], options["form"]
    if rest is None and not places:
        rest = STANDARD
    if target is not None and Files().is_folder(target):
        Files().make_folder(target)
        suffix = "txt" if form == "table" else form or "csv"
        heads = {f"{name}.{field}": name for name, fields in records.items() for field in fields}
        files = {name: f"{heads.get(name, name)}.{suffix}" for name in outputs}
        places = {name: str(Path(target) / file) for name, file in files.items()} | places
        rest = None
    paths = {name: places.get(name, rest) for name in outputs}
    grouped: dict[object, list[str]] = {}
    for name, path in paths.items():
        if path is not None:
            grouped.setdefault(_identify_file(path), []).append(name)
    for names in grouped.values():
        path = str(paths[names[0]])
        _check_tables(path, names, outputs)
        form_here = form or detect_target_format("-o" if path == target else "--out", path)
        stream = (options["stream"] or path == STANDARD) and form_here != "table"
        stream = stream or options["checkpoint"] is not None or options.get("follow") is not None
        schema = outputs[names[0]].schema
        yield Target(path, form_here, tuple(names), options["layout"], stream, schema)


def _check_tables(path: str, names: Sequence[str], outputs: Mapping[str, Type]) -> None:
    """Refuse to write a table that changes into a file with anything else."""
    change = next((name for name in names if outputs[name].schema is not None), None)
    if change is None or len(names) == 1:
        return
    place = "stdout" if path == STANDARD else path
    message = f"{place} would get {len(names)} outputs, and {change} is a table that changes"
    folder = f"{path if path != STANDARD and not Path(path).suffix else 'DIR'}/"
    hint = f"give every one a file: -o {folder}, or --out {change}=FILE"
    raise click.UsageError(f"{message}; {hint}")


def detect_target_format(option: str, path: str) -> str:
    """Return the format that the name of an output has; raise UsageError if it tells none."""
    form = detect_format(path)
    if form is None:
        message = f"{option} {path}: the name does not tell a format; known are {list_suffixes()}"
        raise click.UsageError(message + ("; or say --format" if option != "--rejects" else ""))
    return form


def check_files(found: Job, others: Sequence[str]) -> None:
    """Refuse to write what is read, or to write a file twice."""
    patterns = list_patterns(found.request)
    read = {_identify_file(path): path for path in others if path != STANDARD}
    for pattern in patterns:
        if pattern != STANDARD:
            read |= {_identify_file(path): path for path in Files().list_matching(pattern)}
    written: set[object] = set()
    targets = [target.path for target in found.targets]
    rejects = None if found.rejects is None else found.rejects.path
    for path in (*targets, rejects, found.account, found.plot, found.checkpoint):
        if path is None or (path != STANDARD and not Files().is_regular(path)):
            continue
        one = _identify_file(path)
        if one in read:
            raise click.UsageError(f"{path} would be overwritten, but it is read")
        if one in written and path == STANDARD:
            raise click.UsageError("stdout would get more than one thing; give -o FILE")
        if one in written:
            raise click.UsageError(f"{path} would be written twice")
        written.add(one)


def _need_checkpoint(found: Job, option: str) -> None:
    if found.checkpoint is None:
        raise click.UsageError(f"{option} goes with --checkpoint FILE")


def _check_resumable(found: Job) -> None:
    """Refuse what a run cannot be resumed with."""
    files = Files()
    for pattern in list_patterns(found.request):
        for path in [pattern] if pattern == STANDARD else files.list_matching(pattern):
            if not files.is_regular(path):
                name = "stdin" if path == STANDARD else path
                raise click.UsageError(f"--checkpoint: {name} cannot be read again: give a file")
    rejects = None if found.rejects is None else found.rejects.path
    for written in (*(target.path for target in found.targets), rejects, found.checkpoint):
        if written is not None and not files.is_regular(written):
            name = "stdout" if written == STANDARD else written
            raise click.UsageError(f"--checkpoint: {name} cannot be cut back: give -o FILE")
    if found.plot is not None:
        raise click.UsageError("--plot does not go with --checkpoint: draw when the run is done")


def _identify_file(path: str) -> object:
    """Return what is equal for two paths of one file, there or not."""
    try:
        found = Path(path).stat() if path != STANDARD else None
    except OSError:
        return os.path.realpath(path)
    return path if found is None else (found.st_dev, found.st_ino)
