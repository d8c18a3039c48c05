"""Parameters of `.input`, `.output` and `.limitsize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.datalog.program import FactFile

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import DirectiveSyntax
    from rtbot.datalog.language.program_text import ProgramText

_MEDIA = {
    "input": {"file": "file", "stdin": "stdin"},
    "output": {"file": "file", "stdout": "stdout"},
}
_PARAMETERS = ("IO", "filename", "delimiter", "headers", "rfc4180", "compress", "columns")
_IGNORED = ("name", "operation", "attributeNames", "types", "relation")


def read_fact_file(source: ProgramText, directive: DirectiveSyntax) -> FactFile:
    """Return where facts are, and how; notes what cannot be."""
    given = dict(directive.parameters)
    medium, span = given.pop("IO", ("file", directive.span))
    known = _MEDIA[directive.kind]
    if medium not in known:
        shown = " or ".join(dict.fromkeys(known))
        message = f"IO={medium} is not in this version"
        source.report_at("RT502", span, message, f"for .{directive.kind} it is {shown}")
        return FactFile()
    found: dict[str, Any] = {"medium": known[str(medium)]}
    for name, (value, place) in given.items():
        if name not in _PARAMETERS:
            if name not in _IGNORED:
                hint = source.problems.suggest_name(name, _PARAMETERS)
                hint = hint or "known are " + ", ".join(_PARAMETERS)
                message = f"unknown parameter {name!r} of .{directive.kind}"
                source.report_at("RT512", place, message, hint)
            continue
        checked = _check_value(name, value)
        if checked is None:
            _report_value(source, name, value, place)
        else:
            found[name] = checked
    if found.get("rfc4180"):
        found.setdefault("delimiter", ",")
    return FactFile(**found)


def _check_value(name: str, value: str | float) -> Any:
    """Return the value of a parameter as its field has it, None if it cannot be."""
    if name in ("headers", "rfc4180", "compress"):
        text = str(value).lower()
        return {"true": True, "false": False}.get(text)
    if name == "columns":
        parts = str(value).replace(",", ":").split(":")
        wanted = all(part.strip().isdecimal() for part in parts)
        return tuple(int(part) for part in parts) if wanted else None
    if not isinstance(value, str) or not value:
        return None
    return value


def _report_value(source: ProgramText, name: str, value: str | float, span: SourceSpan) -> None:
    hints = {
        "delimiter": 'write delimiter=","',
        "filename": 'write filename="FILE"',
        "columns": 'write columns="0:2" for the first and the third column of the file',
    }
    hint = hints.get(name, f"write {name}=true or {name}=false")
    source.report_at("RT512", span, f"{name}={value!r} cannot be", hint)


def read_limit(source: ProgramText, directive: DirectiveSyntax) -> int | None:
    """Return the number of `.limitsize R(n=NUMBER)`."""
    value, span = directive.parameters.get("n", (None, directive.span))
    if set(directive.parameters) - {"n"} or not isinstance(value, int) or value < 1:
        message = f".limitsize {directive.relation} has no number of rows"
        hint = f"write .limitsize {directive.relation}(n=1000)"
        source.report_at("RT512", span, message, hint)
        return None
    return value
