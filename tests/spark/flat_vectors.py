"""Random cases without vectors that come in or go out, which Spark does not have yet."""

from dataclasses import replace

import rtbot
from tests import generate


def draw_case(seed, **options):
    """The case of a seed (tests/generate.py) with the elements of the vectors at its edges.

    A vector that comes in is composed of an input for each element, and one that goes out is an
    output for each. Rows of null vectors are left out: no element of these vectors is null. There
    are no schedules.
    """
    case = generate.case(seed, **options)
    inputs = rtbot.load(case.document).checked.inputs
    sizes = {name: len(one.type.fields) for name, one in inputs.items() if one.type.fields}
    parts = {name: [f"{name}_of_{place}" for place in range(size)] for name, size in sizes.items()}
    document = dict(case.document)
    document["inputs"] = {
        part: "number" if name in parts else type_
        for name, type_ in case.document["inputs"].items()
        for part in parts.get(name, [name])
    }
    composed = {name: {"type": "VectorCompose", "in": own} for name, own in parts.items()}
    document["operators"] = composed | case.document["operators"]
    document["outputs"] = _flatten_outputs(document)
    rows = [part for row in case.rows for part in _split_row(row, parts)]
    return replace(case, document=document, rows=rows, schedules=[])


def _flatten_outputs(document):
    """The outputs of a graph, those of vectors as one for each element."""
    fields = rtbot.load(document).checked.records
    return {
        f"{name}_of_{field}" if field else name: f"{ref}.{field}" if field else ref
        for name, ref in document["outputs"].items()
        for field in fields.get(name, [""])
    }


def _split_row(row, parts):
    """The rows of the elements, if the input has vectors."""
    if row.input not in parts:
        return [row]
    if row.value is None:
        return []
    pairs = zip(parts[row.input], row.value, strict=True)
    return [row._replace(input=part, value=value) for part, value in pairs]
