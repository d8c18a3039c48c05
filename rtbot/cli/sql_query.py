"""A query over files as a graph of one operator, and the job that runs it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.io_options import collect_io, make_usage_error, split_names
from rtbot.cli.options import choose_followed
from rtbot.cli.run_options import check_files, detect_target_format
from rtbot.core.errors import GraphError, suggest_known_name, suggest_name
from rtbot.graph.model import Ref
from rtbot.graph.query_nodes import list_query_nodes, list_read_tables
from rtbot.io.bindings import InputSpec
from rtbot.io.file_run import Job
from rtbot.io.file_schemas import SchemaRequest, infer_schema
from rtbot.io.sinks.outputs import Target
from rtbot.operator import KINDS, Type
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import rtbot
    from rtbot.graph.model import Io
    from rtbot.operator.schema import Schema
    from rtbot.sql import Query

VIEW = "view"
"""The name of the result."""


@dataclass(frozen=True)
class FileQuery:
    """The graph that computes a query, the files of its tables, and the schema of its rows."""

    graph: rtbot.Graph
    files: Mapping[str, str]
    schema: Schema
    notes: Sequence[str]
    follow: frozenset[str]


def build_query(text: str, options: Mapping[str, Any]) -> FileQuery:
    """Find the types of the files and build the graph of the query.

    Raises GraphError with every problem of the query, DataError where a file cannot be read.
    """
    from rtbot.sql import lower_query

    paths = _parse_tables(options["files"], options["inputs"])
    types, unique = _parse_types(options["types"], paths), _parse_keys(options["unique"], paths)
    if not unique and any(text.startswith("conflicts=") for text in options["io"]):
        raise click.UsageError("--io conflicts is for tables with a key: say --unique NAME=COLUMN")
    io = check_reading(options)
    follow = choose_followed(options["follow"], paths)
    if follow and options["snapshot"]:
        message = "--snapshot prints the rows at the end, and a file that is followed has none"
        raise click.UsageError(message)
    files = Files()
    schemas, notes = {}, []
    for name, path in paths.items():
        wanted = SchemaRequest(
            name,
            path,
            types.get(name, {}),
            unique.get(name, ()),
            options["input_form"],
            path in follow,
        )
        schemas[name], found = infer_schema(files, wanted, io)
        notes += found
    query = lower_query(text, schemas)
    read = list_read_tables(query)
    notes += [f"the query does not read {name}" for name in schemas if name not in read]
    schemas = {name: schema for name, schema in schemas.items() if name in read}
    graph = _make_graph(query, schemas, options)
    return FileQuery(graph, {name: paths[name] for name in schemas}, query.schema, notes, follow)


def build_query_job(query: FileQuery, options: Mapping[str, Any]) -> Job:
    """Build what is to be read and written."""
    io = query.graph.checked.io
    inputs: dict[str, tuple[str, str | None]] = {n: (p, None) for n, p in query.files.items()}
    request = InputSpec(
        None,
        inputs,
        io.time,
        (),
        io.reading,
        options["input_form"],
        live=True,
        follow=query.follow,
        bad=io.bad,
    )
    path = options["target"] or STANDARD
    if path != STANDARD and Files().is_folder(path):
        raise click.UsageError(f"-o {path}: a query has one result, which goes to a file")
    form = options["form"] or detect_target_format("-o", path)
    target = Target(path, form, (VIEW,), schema=query.schema, snapshot=options["snapshot"])
    job = Job(request, (target,), account=options["account_file"])
    check_files(job, [])
    return job


def check_reading(options: Mapping[str, Any]) -> Io:
    """Return how the files are written; a value that is wrong is a wrong use of its option."""
    from rtbot.graph.check.io_section import check_io

    with _name_option(options):
        return check_io(collect_io(options))


@contextmanager
def _name_option(options: Mapping[str, Any]) -> Iterator[None]:
    """Raise the error of an option where a value given by it is wrong."""
    try:
        yield
    except GraphError as error:
        raise (make_usage_error(error, options) or error) from None


def _make_graph(
    query: Query, schemas: Mapping[str, Schema], options: Mapping[str, Any]
) -> rtbot.Graph:
    """Return the graph of the nodes of a query, whose output is the view."""
    import rtbot
    from rtbot.graph.document import load_document

    inputs: dict[str, Any] = {}
    for name, schema in schemas.items():
        inputs[name] = {"changes": {field.name: str(field.type) for field in schema}}
        if schema.unique:
            inputs[name]["unique"] = list(schema.unique[0])
    document = {"name": VIEW, "inputs": inputs, "outputs": {VIEW: next(iter(inputs))}}
    with _name_option(options):
        graph = rtbot.Graph(load_document(document), {}, collect_io(options))
    tables = {name: (Ref(name), schema) for name, schema in schemas.items()}
    nodes = {node.id: node for node in list_query_nodes(query, tables)}
    outputs = {VIEW: Ref(query.result)}
    graph.checked = replace(graph.checked, nodes=nodes, outputs=outputs, warnings=())
    return graph


def _parse_tables(files: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """Name the table of every file after it, and split every NAME=FILE."""
    found: dict[str, str] = {}
    for path in files:
        name = _name_stem(path)
        if not name.isidentifier() or name in found:
            why = (
                f"{found[name]} is the table {name} too" if name in found else "no name of a table"
            )
            raise click.UsageError(f"{path}: {why}; say --in NAME={path}")
        found[name] = path
    for text in given:
        stem = _name_stem(text)
        if "=" not in text and stem.isidentifier():
            message = f"--in takes NAME=FILE, not {text!r}; say --in {stem}={text}"
            raise click.UsageError(message)
        name, path = _split_pair("--in", text, "NAME=FILE")
        if name in found:
            raise click.UsageError(f"--in {name} is given twice")
        found[name] = path
    if not found:
        raise click.UsageError("there is nothing to read: say the FILE of every table")
    if list(found.values()).count(STANDARD) > 1:
        raise click.UsageError("stdin can be read once: give the other tables files")
    return found


def _name_stem(path: str) -> str:
    """Name the table of a file: orders of orders.csv.gz."""
    return Path(path).name.partition(".")[0]


def _parse_keys(given: Sequence[str], tables: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Split every NAME=COLUMN[,COLUMN]."""
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, columns = _split_pair("--unique", text, "NAME=COLUMN[,COLUMN]")
        _check_table("--unique", name, tables)
        names = tuple(split_names([columns]))
        if len(set(names)) < len(names) or name in found:
            raise click.UsageError(f"--unique {text}: something is given twice")
        found[name] = names
    return found


def _parse_types(given: Sequence[str], tables: Mapping[str, str]) -> dict[str, dict[str, Type]]:
    """Split every NAME='FIELD: TYPE, ...'."""
    found: dict[str, dict[str, Type]] = {}
    for text in given:
        name, fields = _split_pair("--types", text, "NAME='FIELD: TYPE, ...'")
        _check_table("--types", name, tables)
        for part in split_names([fields]):
            field, colon, kind = (piece.strip() for piece in part.partition(":"))
            if not colon or not field:
                raise click.UsageError(f"--types {name} has FIELD: TYPE, not {part!r}")
            if field in found.setdefault(name, {}):
                raise click.UsageError(f"--types {name}: {field!r} is given twice")
            found[name][field] = _parse_type(name, kind)
    return found


def _parse_type(table: str, text: str) -> Type:
    kind = text.removesuffix("?").strip()
    if kind not in KINDS:
        hint = suggest_known_name(kind, KINDS) or f"there are {', '.join(KINDS)}, with ? if null"
        raise click.UsageError(f"--types {table}: there is no type {text!r}; {hint}")
    return Type(kind, nullable=text.endswith("?"))


def _check_table(option: str, name: str, tables: Mapping[str, str]) -> None:
    if name not in tables:
        hint = suggest_name(name, tables) or f"there are {', '.join(tables)}"
        raise click.UsageError(f"{option} {name}: there is no table of this name; {hint}")


def _split_pair(option: str, text: str, form: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest:
        raise click.UsageError(f"{option} takes {form}, not {text!r}")
    return name.strip(), rest
