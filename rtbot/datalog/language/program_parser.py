"""A whole program: declarations and directives, and what is behind a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_parser import RESERVED, ClauseParser
from rtbot.datalog.language.clause_syntax import (
    ColumnSyntax,
    DirectiveSyntax,
    ProgramSyntax,
    RelationSyntax,
    TypeSyntax,
)
from rtbot.datalog.language.program_tokens import suggest_directive
from rtbot.datalog.language.token_reader import ClauseError

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.program_tokens import ProgramToken

QUALIFIERS = ("inline", "no_inline", "magic", "no_magic", "btree", "brie", "overridable")
"""What a declaration may say that changes no result."""

_DIRECTIVES_BEHIND = ("input", "output", "printsize")
"""What old programs write behind a declaration in place of a directive."""

_REFUSED_QUALIFIERS = {
    "eqrel": "write the rules of an equivalence relation out",
    "btree_delete": "it is for subsumption",
    **dict.fromkeys(
        ("btree_min", "btree_max", "btree_sum"), "write an aggregate over the relation"
    ),
    "choice": "what is chosen depends on the order of evaluation",
}
_REFUSED_DIRECTIVES = {
    "comp": "components are not in this version; write their relations and rules out",
    "init": "components are not in this version; write their relations and rules out",
    "override": "components are not in this version; write their relations and rules out",
    "functor": "functors of your own are not in this version; compute the values in the facts",
    "include": "a program is one file; put the text of the other file here",
    "once": "a program is one file",
    "lattice": "lattices are not in this version",
    "debug_delta": "it shows the rounds of the evaluation, which are not those of Soufflé",
}


class ProgramParser(ClauseParser):
    """Reads a program; a clause that cannot be read is left out, with what is wrong noted."""

    def read_program(self) -> ProgramSyntax:
        """Read to the end of the text."""
        self.program = ProgramSyntax()
        while self.token.kind != "end":
            start = self.at
            self.nesting = 0
            try:
                self.read_part()
            except ClauseError:
                self.skip(start)
        return self.program

    def read_part(self) -> None:
        """Read a clause or a directive."""
        token = self.token
        if token.kind == "directive":
            self.take()
            self.read_directive(token)
        elif self.is_sign(".") and self.look(1).kind == "name":
            hint = suggest_directive(self.look(1).text)
            self.source.is_partial = True
            self.take()
            self.fail(self.token, f"there is no directive .{self.token.text}", hint)
        elif self.is_sign("."):
            self.fail(token, "a '.' that ends nothing", "a directive has no . at its end")
        elif token.text == "?" and self.look(1).text == "-":
            self.fail(token, "a program has no queries", "write a relation, and .output for it")
        else:
            self.program.clauses.append(self.read_clause())

    def skip(self, start: int) -> None:
        """Go on behind the end of a clause that cannot be read, or at the next directive."""
        self.at = max(self.at, start + 1)
        for at in range(start, self.at):
            if self.closing.get(at, 0) >= self.at:
                self.at = self.closing[at] + 1
                break
        while self.token.kind not in ("end", "directive"):
            if self.starts_line() and self.look(1).text == "(":
                return
            if self.take().text == "." and self.tokens[self.at - 1].kind == "sign":
                return

    def read_directive(self, token: ProgramToken) -> None:
        """Read what follows the name of a directive."""
        kind = token.text
        if kind in _REFUSED_DIRECTIVES:
            self.source.is_partial = True
            self.source.report(
                "RT502", token.start, len(kind) + 1, f".{kind} is not in this version",
                _REFUSED_DIRECTIVES[kind],
            )  # fmt: skip
            self.skip_directive()
        elif kind == "decl":
            self.read_declaration()
        elif kind in ("type", "number_type", "symbol_type"):
            self.read_type(kind)
        elif kind == "pragma":
            self.read_pragma()
        elif kind == "plan":
            self.read_plan()
        else:
            self.read_io(kind)

    def skip_directive(self) -> None:
        """Go on at what is behind a directive that is refused, with its braces."""
        line_end = self.source.text.find("\n", self.token.start)
        line_end = len(self.source.text) if line_end < 0 else line_end
        while self.token.kind not in ("end", "directive") and self.token.start < line_end:
            if self.is_sign("{") and self.at in self.closing:
                self.at = self.closing[self.at]
            self.take()
        if self.is_sign("{"):
            self.at = self.closing.get(self.at, self.at)
            self.take()

    # ---- .decl

    def read_declaration(self) -> None:
        """Read `.decl name, name(columns) qualifiers`."""
        names = [self.read_new_name("relation")]
        while self.take_sign(","):
            names.append(self.read_new_name("relation"))
        try:
            columns = self.read_columns(names[-1])
            directives = self.read_qualifiers(names[-1])
        except ClauseError:
            self.program.broken.update(name.text for name in names)
            raise
        for name in names:
            span = self.source.locate(name.start, name.end - name.start)
            self.program.relations.append(RelationSyntax(name.text, columns, span))
            self.program.directives += [
                DirectiveSyntax(kind, name.text, {}, span) for kind in directives
            ]

    def read_new_name(self, what: str) -> ProgramToken:
        """Read a name that is declared."""
        name = self.expect_name(f"the name of a {what}")
        if name.text in RESERVED or name.text == "_":
            self.fail(name, f"{name.text!r} is a word of the language", "choose another name")
        return name

    def read_columns(self, name: ProgramToken) -> tuple[ColumnSyntax, ...]:
        """Read `(name: type, ...)`."""
        if not self.is_sign("("):
            self.fail_expected("'('", f"after {name.text}", f"write .decl {name.text}(x: number)")
        self.take()
        if self.take_sign(")"):
            return ()
        columns = [self.read_column()]
        while self.take_sign(","):
            columns.append(self.read_column())
        if not self.is_sign(")"):
            self.fail_expected("',' or ')'", f"behind a column of {name.text}")
        self.take()
        return tuple(columns)

    def read_column(self) -> ColumnSyntax:
        """Read `name: type`."""
        name = self.expect_name("the name of a column")
        if not self.is_sign(":"):
            hint = f"a column is {name.text}: number, unsigned, float or symbol"
            self.fail_expected("':'", f"after the column {name.text}", hint)
        self.take()
        first = self.token
        type_name = self.expect_name("a type")
        while self.is_sign(".") and self.look(1).kind == "name":
            name_inside = f"{first.text}.{self.look(1).text}"
            self.fail(first, f"{name_inside}: components are not in this version",
                      "write the types of the component out", "RT502")  # fmt: skip
        return ColumnSyntax(
            name.text,
            type_name.text,
            self.source.locate(name.start, name.end - name.start),
            self.source.locate(first.start, first.end - first.start),
        )

    def read_qualifiers(self, name: ProgramToken) -> list[str]:
        """Read words behind a declaration; return those that are directives."""
        found: list[str] = []
        while self.token.kind == "name" and not self.is_clause():
            word = self.token
            known = word.text in (*QUALIFIERS, *_DIRECTIVES_BEHIND, *_REFUSED_QUALIFIERS)
            if self.starts_line() and not known:
                return found
            if word.text in _DIRECTIVES_BEHIND:
                found.append(word.text)
            if word.text in _REFUSED_QUALIFIERS:
                self.program.broken.add(name.text)
                hint = _REFUSED_QUALIFIERS[word.text]
                shown = "choice-domain" if word.text == "choice" else word.text
                self.fail(word, f"{shown} is not in this version", hint, "RT502")
            if not known:
                self.fail(word, f"unknown qualifier {word.text!r} of {name.text}",
                          "known are " + ", ".join(QUALIFIERS))  # fmt: skip
            self.take()
        return found

    def is_clause(self) -> bool:
        """Return whether a clause is next."""
        return self.look(1).kind == "sign" and self.look(1).text in "(."

    # ---- .type, .pragma, .plan

    def read_type(self, kind: str) -> None:
        """Read `.type name`, `.type name <: type` or `.type name = type | type`."""
        name = self.read_new_name("type")
        try:
            of, is_subtype = self.read_definition(kind, name)
        except ClauseError:
            self.program.broken.add(name.text)
            raise
        span = self.source.locate(name.start, name.end - name.start)
        self.program.types.append(TypeSyntax(name.text, of, is_subtype, span))

    def read_definition(
        self, kind: str, name: ProgramToken
    ) -> tuple[tuple[tuple[str, SourceSpan], ...], bool]:
        """Read what a type is made of, and whether it is a subtype."""
        sign = self.take_sign("<:", "=")
        if sign is None:
            base = "number" if kind == "number_type" else "symbol"
            return ((base, self.source.locate(name.start, len(name.text))),), True
        if self.is_sign("[", "{"):
            self.fail(self.token, "records are not in this version", "write the fields as columns",
                      "RT502")  # fmt: skip
        parts = [self.read_part_of_type()]
        while sign.text == "=" and self.take_sign("|"):
            parts.append(self.read_part_of_type())
        return tuple(parts), sign.text == "<:"

    def read_part_of_type(self) -> tuple[str, SourceSpan]:
        """Read the name of a type and its place."""
        name = self.expect_name("a type")
        if self.is_sign("{"):
            self.fail(name, "algebraic types are not in this version",
                      "write the fields as columns", "RT502")  # fmt: skip
        return name.text, self.source.locate(name.start, len(name.text))

    def read_pragma(self) -> None:
        """Read `.pragma "name" "value"`, which changes no result."""
        if self.token.kind not in ("text", "name"):
            self.fail_expected("a text", "after .pragma", 'write .pragma "name" "value"')
        self.take()
        if self.token.kind == "text":
            self.take()

    def read_plan(self) -> None:
        """Read `.plan 0:(2,1), 1:(1,2)`, which changes no result."""
        hint = "write .plan 0:(1,2)"
        if not self.program.clauses:
            self.fail(self.tokens[self.at - 1], "a .plan without a rule before it", hint)
        while True:
            if self.token.kind != "whole":
                self.fail_expected("a number", "after .plan", hint)
            self.take()
            self.expect(":", "", hint)
            self.expect("(", "", hint)
            while not self.take_sign(")"):
                if self.token.kind != "whole":
                    self.fail_expected("a number", "in a .plan", hint)
                self.take()
                self.take_sign(",")
            if not self.take_sign(","):
                return

    # ---- .input, .output, .printsize, .limitsize

    def read_io(self, kind: str) -> None:
        """Read `.input name, name(key=value, ...)`."""
        names = [self.expect_name(f"a relation after .{kind}")]
        while self.take_sign(","):
            names.append(self.expect_name("a relation"))
        for name in names:
            self.refuse_dotted(name)
        parameters: dict[str, tuple[str | int | float | bool, SourceSpan]] = {}
        if self.is_sign("("):
            self.take()
            while not self.take_sign(")"):
                self.read_parameter(kind, parameters)
                if not self.is_sign(")"):
                    self.expect(",", "between parameters")
        for name in names:
            span = self.source.locate(name.start, len(name.text))
            self.program.directives.append(DirectiveSyntax(kind, name.text, parameters, span))

    def read_parameter(
        self, kind: str, found: dict[str, tuple[str | int | float | bool, SourceSpan]]
    ) -> None:
        """Read `key=value`."""
        name = self.expect_name(f"a parameter of .{kind}")
        self.expect("=", f"after {name.text}", f"write {name.text}=VALUE")
        token = self.token
        if token.kind not in ("text", "name", "whole"):
            self.fail_expected("a text, a name or a number", f"after {name.text}=")
        self.take()
        value = token.value if token.kind != "name" else token.text
        if token.kind == "name" and token.text in ("true", "false"):
            value = token.text == "true"
        if name.text in found:
            self.fail(name, f"{name.text} is given twice", "", "RT504")
        found[name.text] = value, self.source.locate(name.start, token.end - name.start)
