"""The text of a Datalog program as tokens, with what no token can be made of as problems."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, describe_non_ascii, suggest_name
from rtbot.datalog.language.program_text import ProgramText

if TYPE_CHECKING:
    from rtbot.datalog.language.program_text import FindParameter

DIRECTIVES = (
    *("decl", "type", "number_type", "symbol_type", "input", "output", "printsize", "limitsize"),
    *("pragma", "plan", "comp", "init", "override", "functor", "include", "once", "lattice"),
    "debug_delta",
)
_TOKEN = re.compile(
    r"""(?P<space>\s+|\A\ufeff|//[^\n]*|/\*.*?\*/)
    |(?P<hash>\#(?:\\\r?\n|[^\n])*)
    |(?P<unclosed>/\*)
    |(?P<address>[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)
    |(?P<number>0[xX][0-9a-zA-Z_]*|0[bB][0-9a-zA-Z_]*
        |[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[A-Za-z_0-9]*)
    |(?P<text>"(?:\\[^\n]|[^"\\\n])*")
    |(?P<name>[A-Za-z_?][A-Za-z0-9_?]*)
    |(?P<functor>@[A-Za-z_][A-Za-z0-9_]*)
    |(?P<directive>\.(?:DIRECTIVES)\b)
    |(?P<half>\.[0-9]+)
    |(?P<quoted>'[^'\n]*'|[\u201c\u201d][^\u201c\u201d\n]*[\u201c\u201d])
    |(?P<foreign>==|<>|&&|\|\|)
    |(?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>:-|<:|<=|>=|!=|\*\*|[-+*/%^&|=<>!(),.:;{}\[\]$])
    |(?P<other>.)""".replace("DIRECTIVES", "|".join(DIRECTIVES)),
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(
    r"(?P<whole>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)(?P<unsigned>u?)"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
)
_ESCAPES = {
    **{sign: sign for sign in ('"', "'", "\\")},
    **dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_HINTS = {
    '"': 'a text ends with " on the line on which it begins',
    "'": 'a text is in double quotes: "text"',
    **dict.fromkeys("\u201c\u201d\u2018\u2019", 'a text is in straight double quotes: "text"'),
}
_FOREIGN = {
    "==": "=",
    "<>": "!=",
    "&&": ",",
    "||": ";",
    "\u2190": ":-",
    "\u00ac": "!",
    "~": "!",
    "\u2260": "!=",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2227": ",",
    "\u2228": ";",
}
"""Signs of other languages, and what they are here."""

DIGITS_MAX = 400
_KINDS = {int: "whole", float: "float", str: "text"}
"""Of the values of parameters."""


@dataclass(slots=True)
class ProgramToken:
    """A part of a program. `value` is what a number or a text means; `end` is behind the last.

    Kinds: name, directive (`text` without the dot), functor, whole, unsigned, float, text, sign,
    end, and bad for what has been noted as a problem.
    """

    kind: str
    text: str
    start: int
    end: int
    value: Any = None


def split_program(source: ProgramText) -> list[ProgramToken]:
    """Return the tokens of a program without blanks and comments; notes what is none."""
    tokens: list[ProgramToken] = []
    for found in _TOKEN.finditer(source.text):
        kind, text, start = str(found.lastgroup), found.group(), found.start()
        if kind == "space":
            continue
        if kind == "hash":
            _refuse_preprocessor(source, text, start)
            continue
        if kind == "parameter" and source.find_parameter is None:
            tokens.append(ProgramToken("sign", "$", start, start + 1))
            kind, text, start = "name", text[1:], start + 1
        token = ProgramToken(kind, text, start, found.end())
        if kind in ("foreign", "other") and text in _FOREIGN:
            hint = f"write {_FOREIGN[text]}"
            source.report("RT501", start, len(text), f"{text!r} is not part of a program", hint)
            token = ProgramToken("sign", _FOREIGN[text], start, found.end())
        elif kind in ("unclosed", "quoted", "half", "other"):
            _refuse_part(source, text, start)
            token = ProgramToken("bad", text, start, found.end())
        tokens.append(_read_token(source, token))
        if text in ('"', "/*"):
            break
    size = len(source.text)
    tokens.append(ProgramToken("end", "the end of the program", size, size))
    return tokens


def _refuse_preprocessor(source: ProgramText, text: str, start: int) -> None:
    """Note a line for the preprocessor."""
    source.is_partial = True
    word = "".join(text[1:].split(maxsplit=1)[:1])
    hint = "run the preprocessor first, as in: cpp -P PROGRAM.dl > PLAIN.dl"
    length = len(text.partition("\n")[0].rstrip())
    source.report("RT502", start, length, f"#{word}: a program has no preprocessor", hint)


def _refuse_part(source: ProgramText, text: str, start: int) -> None:
    """Note a part that is no token."""
    if text == "/*":
        hint = "a comment ends with */"
        source.report("RT501", start, 2, "a comment that is not closed", hint)
    elif text[0] == ".":
        source.report("RT501", start, len(text), f"{text!r} is no number", f"write 0{text}")
    elif text == '"':
        source.report("RT501", start, 1, "a text that is not closed", _HINTS['"'])
    else:
        hint = _HINTS.get(text[0], "") or describe_non_ascii(text[0])
        message = f"{text[0]!r} is not part of a program"
        source.report("RT501", start, len(text), message, hint)


def _read_token(source: ProgramText, token: ProgramToken) -> ProgramToken:
    """Return a token with its value, and a directive without its dot."""
    kind, text = token.kind, token.text
    if kind == "number":
        return _read_number(source, token)
    if kind == "address":
        return _read_address(source, token)
    if kind == "text":
        return ProgramToken(kind, text, token.start, token.end, _read_text(source, token))
    if kind == "directive":
        return ProgramToken(kind, text[1:], token.start, token.end)
    if kind == "parameter":
        return _read_parameter(source, token)
    return token


def _read_parameter(source: ProgramText, token: ProgramToken) -> ProgramToken:
    """Return the value of a parameter as a number or a text.

    Raises GraphError without a problem for one that was found wrong elsewhere.
    """
    span = source.locate(token.start, len(token.text))
    assert source.find_parameter is not None
    try:
        value = source.find_parameter(token.text[1:], span)
    except GraphError as error:
        if not error.problems:
            raise
        source.problems.add_all(error.problems)
        return ProgramToken("bad", token.text, token.start, token.end)
    kind = _KINDS.get(type(value), "bad")
    if kind == "bad" or (kind == "float" and not math.isfinite(value)):
        message = f"{token.text} is no number or text, and rules have only these"
        source.report_at("RT133", span, message)
        kind = "bad"
    return ProgramToken(kind, token.text, token.start, token.end, value)


def fill_parameters(text: str, find_parameter: FindParameter) -> str:
    """Return a program with constants in place of its parameters, which are right."""
    parts, end = [], 0
    for token in split_program(ProgramText(text, "", find_parameter=find_parameter)):
        if token.kind in _KINDS.values() and token.text[0] == "$":
            parts += [text[end : token.start], _write_constant(token.value)]
            end = token.end
    return "".join([*parts, text[end:]])


def _write_constant(value: float | str) -> str:
    if isinstance(value, str):
        escaped = re.sub('[\\\\"]', r"\\\g<0>", value)
        return '"' + escaped.replace("\n", "\\n") + '"'
    written = repr(value)
    if isinstance(value, float) and "." not in written:
        written = written.replace("e", ".0e")
    return f"({written})" if value < 0 else written


def _read_number(source: ProgramText, token: ProgramToken) -> ProgramToken:
    text, start = token.text, token.start
    found = _NUMBER.fullmatch(text)
    if found is None or len(text) > DIGITS_MAX:
        shown = text if len(text) < 30 else text[:27] + "..."
        hint = "numbers are 12, 0x1f, 0b101, 12u and 1.5e3"
        if re.fullmatch(r"[0-9]+[uU]?[lL]+|[0-9.]+[fF]", text):
            hint = "a number has no suffix but u"
        elif re.fullmatch(r"[0-9]+[eE][+-]?[0-9]+", text):
            hint = f"a float has a point: {text.lower().replace('e', '.0e')}"
        source.report("RT501", start, len(text), f"{shown!r} is no number", hint)
        return ProgramToken("bad", text, start, token.end)
    if found["float"] is not None:
        return ProgramToken("float", text, start, token.end, float(text))
    base = {"0x": 16, "0b": 2}.get(text[:2].lower(), 10)
    value = int(found["whole"], base)
    return ProgramToken("unsigned" if found["unsigned"] else "whole", text, start, token.end, value)


def _read_address(source: ProgramText, token: ProgramToken) -> ProgramToken:
    """Return an address as in 127.0.0.1, which is the number of its 32 bits."""
    parts = [int(part[:4]) for part in token.text.split(".")]
    if max(parts) > 255:
        message = f"{token.text} is no address"
        source.report("RT501", token.start, len(token.text), message, "its parts are 0 to 255")
    value = int.from_bytes(bytes(min(part, 255) for part in parts), "big")
    return ProgramToken("whole", token.text, token.start, token.end, value)


def _read_text(source: ProgramText, token: ProgramToken) -> str:
    """Return what a text in quotes means."""

    def replace_escape(found: re.Match[str]) -> str:
        sign = found[1]
        if sign not in _ESCAPES:
            hint = "write \\\\ for a backslash"
            place = token.start + 1 + found.start()
            source.report("RT501", place, 2, f"unknown escape \\{sign} in a text", hint)
        return _ESCAPES.get(sign, sign)

    half = _SURROGATE.search(token.text)
    if half is not None:
        place = token.start + half.start()
        source.report("RT501", place, 1, "a character that text does not have",
                      describe_non_ascii(half.group()))  # fmt: skip
    return _ESCAPE.sub(replace_escape, token.text[1:-1])


def suggest_directive(name: str) -> str:
    """Return a hint for a word behind a point that is no directive."""
    hint = suggest_name(name, DIRECTIVES)
    return hint.replace("'", "'.", 1) if hint else ""
