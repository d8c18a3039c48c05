"""Facts as commands have them: `edge(1, 2), name("Ann")`."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.datalog.functors import parse_integer
from rtbot.datalog.program import FLOAT, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import rtbot
    from rtbot.database.fact_codec import FactCodec

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<name>[A-Za-z_?][A-Za-z0-9_?]*)
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+
      |(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf\b|nan\b))
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<sign>[(),.;]))""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
FORM = 'write relation(1, "text"), one or several, with commas between'


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class FactReader:
    """Reads facts from a line, and gives their values the types of their relations."""

    def __init__(self, line: str, database: rtbot.Datalog) -> None:
        self.line, self.database = line, database
        self.tokens = list(_split(line))
        self.at = 0

    def read_all(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the facts as pairs of a relation and a row; raise DataError if one is wrong."""
        found = []
        while self._see().kind != "end":
            found.append(self._read_one())
            while self._see().text in {",", ".", ";"}:
                self.at += 1
        if not found:
            raise _make_error("there is no fact", FORM)
        return found

    def _see(self) -> _Token:
        return self.tokens[self.at]

    def _take(self, wanted: str) -> None:
        token = self._see()
        if token.text != wanted or token.kind == "text":
            shown = token.text or "the end of the line"
            message = f"column {token.column}: {wanted} is expected, not {shown}"
            raise _make_error(message, FORM)
        self.at += 1

    def _read_one(self) -> tuple[str, tuple[Any, ...]]:
        token = self._see()
        if token.kind != "name":
            message = f"column {token.column}: a relation is expected, not {token.text}"
            raise _make_error(message, FORM)
        codec = self.database.find_codec(token.text)
        self.at += 1
        self._take("(")
        values: list[_Token] = []
        while self._see().text != ")" or self._see().kind == "text":
            if values:
                self._take(",")
            if self._see().kind not in ("number", "text", "name"):
                self._take(")")
            values.append(self._see())
            self.at += 1
        self._take(")")
        return token.text, self._convert(values, codec)

    def _convert(self, values: Sequence[_Token], codec: FactCodec) -> tuple[Any, ...]:
        if len(values) != codec.width:
            noun = "value" if codec.width == 1 else "values"
            message = f"{codec.name} has {codec.width} {noun}, not {len(values)}"
            raise DataError(message, code="RT207", hint=_show_columns(codec))
        pairs = zip(values, codec.types, codec.columns, strict=True)
        return tuple(_convert_value(value, kind, column, codec) for value, kind, column in pairs)


def _convert_value(token: _Token, kind: str, column: str, codec: FactCodec) -> Any:
    if kind == SYMBOL and token.kind == "text":
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[0]), token.text[1:-1])
    if kind == FLOAT and (token.kind == "number" or token.text in ("inf", "nan")):
        with suppress(OverflowError):
            return float(token.text) if _is_decimal(token.text) else float(int(token.text, 0))
    number = parse_integer(token.text) if token.kind == "number" else None
    if kind not in (SYMBOL, FLOAT) and number is not None:
        return number
    message = f"column {token.column}: {column} of {codec.name} is {kind}, not {token.text}"
    hint = 'texts are written in double quotes: "text"' if kind == SYMBOL else _show_columns(codec)
    raise DataError(message, code="RT201", hint=hint)


def _is_decimal(text: str) -> bool:
    return text.lstrip("+-")[:2].lower() not in ("0x", "0b")


def _show_columns(codec: FactCodec) -> str:
    columns = zip(codec.columns, codec.types, strict=True)
    return f"{codec.name}({', '.join(f'{name}:{kind}' for name, kind in columns)})"


def _split(line: str) -> list[_Token]:
    tokens = []
    at = 0
    while line[at:].strip():
        found = _TOKEN.match(line, at)
        if found is None:
            column = at + len(line[at:]) - len(line[at:].lstrip()) + 1
            rest = line[column - 1 :]
            what = "a text that does not end" if rest[0] == '"' else f"{rest[0]!r}"
            raise _make_error(f"column {column}: {what}", FORM)
        kind = found.lastgroup or ""
        tokens.append(_Token(kind, found[kind], found.start(kind) + 1))
        at = found.end()
    return [*tokens, _Token("end", "", len(line) + 1)]


def _make_error(message: str, hint: str) -> DataError:
    return DataError(message, code="RT530", hint=hint)


def read_fact(line: str, database: rtbot.Datalog) -> tuple[str, tuple[Any, ...]]:
    """Return the relation and the row of one fact; raise DataError if it cannot be read."""
    found = FactReader(line, database).read_all()
    if len(found) != 1:
        raise _make_error(f"one fact is expected, not {len(found)}", FORM)
    return found[0]
