"""A query, where its parts are, and what is wrong with it."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import Problems, graph_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression.tree import Expression

    Place = Callable[[int, int], SourceSpan]
    FindParameter = Callable[[str, SourceSpan], Any]

EXCERPT_MAX = 40
_BRACKET = re.compile(r"\s*\)")
TERMS_MAX, TREE_MAX = 2_000, 200


class QueryText:
    """The text of a query with its tokens, and the problems that were found in it.

    `place(offset, length)` is the place of a part of the text. Only some nodes of sqlglot's trees
    know where they are: a part reaches from the first to the last such node in it, and one without
    any is where what it is a part of is. `sources` are the names of all tables in it,
    `names_under_with` those of queries under WITH.
    """

    def __init__(self, text: str, place: Place, tokens: Sequence[Token]) -> None:
        self.text, self.place, self.tokens = text, place, tokens
        self.starts = [token.start for token in tokens]
        self.problems = Problems()
        self.find_parameter: FindParameter | None = None
        self.sources: set[str] = set()
        self.names_under_with: set[str] = set()
        self.extents: dict[int, tuple[int, int]] = {}
        self.sizes: dict[int, tuple[int, int, Expression]] = {}

    def measure(self, tree: exp.Expr) -> int:
        """Note where all nodes of a tree are; return its depth, chains of operations aside."""
        from sqlglot.expressions import Window

        from rtbot.sql.sql_functions import BINARY  # only with sqlglot

        nodes = list(tree.walk())
        depths = {id(tree.parent): 0}
        for node in nodes:
            parent = node.parent
            chained = parent is not None and parent.args.get("this") is node
            chained &= type(node) in BINARY and type(parent) in BINARY
            depths[id(node)] = depths[id(parent)] + (not chained)
        for node in reversed(nodes):
            if "start" in node.meta:
                own = (node.meta["start"], node.meta["end"] + 1)
                self._extend(node, own)
                self._close_call(node, own[1])
            if isinstance(node, Window):
                self._close_window(node)
            if id(node) in self.extents and node is not tree and node.parent is not None:
                self._extend(node.parent, self.extents[id(node)])
        return max(depths.values())

    def _close_call(self, node: exp.Expr, name_end: int) -> None:
        """Extend a call by the bracket behind its last argument."""
        end = self.extents[id(node)][1]
        if self.text[name_end : name_end + 1] == "(" and end > name_end:
            bracket = _BRACKET.match(self.text, end)
            if bracket is not None:
                self._extend(node, (name_end, bracket.end()))

    def _close_window(self, node: exp.Expr) -> None:
        """Extend a window function by what is behind OVER: a name, or brackets."""
        behind = self.extents.get(id(node.this), (0, 0))[1]
        first = bisect_left(self.starts, behind)
        over = [n for n in range(first, len(self.tokens)) if is_word(self.tokens[n], "OVER")]
        depth = 0
        for token in self.tokens[over[0] + 1 :] if over and behind else ():
            depth += {"L_PAREN": 1, "R_PAREN": -1}.get(token.token_type.name, 0)
            if depth == 0:
                self._extend(node, (token.start, token.end + 1))
                return

    def _extend(self, node: exp.Expr, extent: tuple[int, int]) -> None:
        first, last = self.extents.get(id(node), extent)
        self.extents[id(node)] = (min(first, extent[0]), max(last, extent[1]))

    def is_parameter(self, token: Token, name: str) -> bool:
        """Return whether a token is the name behind `$`."""
        return token.text == name and self.text[token.start - 1 : token.start] == "$"

    def find_value(self, node: exp.Expr) -> tuple[Any, SourceSpan] | None:
        """Return the value of `$name` and its place; None if the query has no such parameter.

        Raises GraphError if it is not one value.
        """
        name = str(node.this or "")
        first = next((t for t in self.tokens if self.is_parameter(t, name)), None)
        if first is None or self.find_parameter is None or not name.isidentifier():
            return None
        mark = self.mark(first.start - 1, first.end + 1)
        value = self.find_parameter(name, mark)
        if type(value) not in (bool, int, float, str):
            message = f"${name} is not one value, which a query takes"
            raise graph_error("RT133", mark, message)
        return value, mark

    def has_between(self, one: exp.Expr, other: exp.Expr, keyword: str) -> bool:
        """Return whether a word is between two nodes, as far as it is known where they are."""
        if id(one) not in self.extents or id(other) not in self.extents:
            return True
        first, last = self.extents[id(one)][1], self.extents[id(other)][0]
        return any(is_word(token, keyword) for token in self.tokens if first <= token.start < last)

    def find(self, node: exp.Expr, keyword: str = "", *, inside: bool = False) -> tuple[int, int]:
        """Return where a node begins and ends; with `keyword`, the last such word before it.

        `inside`: the last such word that is not behind it.
        """
        at: exp.Expr | None = node
        while at is not None and id(at) not in self.extents:
            at = at.parent
        if at is None:
            return 0, len(self.text)
        extent = self.extents[id(at)]
        if keyword:
            limit = extent[0] if at is node and not inside else extent[1]
            found = [t for t in self.tokens if t.start <= limit and is_word(t, keyword)]
            if found:
                return found[-1].start, found[-1].end + 1
        return extent

    def locate(self, node: exp.Expr, keyword: str = "", *, inside: bool = False) -> SourceSpan:
        """Return the place of a node, or of a keyword as `find` does."""
        return self.mark(*self.find(node, keyword, inside=inside))

    def locate_clause(self, node: exp.Expr, keyword: str) -> SourceSpan:
        """Return the place of a clause: where it is known, else of the first such word behind."""
        if id(node) in self.extents:
            return self.locate(node)
        behind = bisect_left(self.starts, self.find(node)[1])
        words = [token for token in self.tokens[behind:] if is_word(token, keyword)]
        return self.mark(words[0].start, words[0].end + 1) if words else self.locate(node)

    def mark(self, first: int, last: int) -> SourceSpan:
        """Return the place of a part of the text, as far as it is on one line."""
        lines = self.text[first:last].split("\n")
        return self.place(first, max(len(lines[0]), 1))

    def quote(self, node: exp.Expr) -> str:
        """Return the text of a node, cut if it is long."""
        text = " ".join(self.text[slice(*self.find(node))].split())
        return text if len(text) <= EXCERPT_MAX else text[: EXCERPT_MAX - 3] + "..."

    def report(
        self, code: str, node: exp.Expr, message: str, hint: str = "", keyword: str = ""
    ) -> None:
        """Note a problem at a node, or at the last `keyword` before it."""
        self.problems.add(code, self.locate(node, keyword), message, hint)

    def is_refused(self) -> bool:
        """Return whether a problem is noted; that of a wrong parameter is noted elsewhere."""
        return bool(self.problems.list_problems("error")) or self.find_parameter is not None

    def check_size(self, tree: Expression) -> Expression:
        """Return a bound expression; raise GraphError if it became too large.

        Names of columns and what is written once in SQL, as in BETWEEN, stand for expressions that
        are there several times.
        """
        terms, depth = self._count(tree)
        if terms > TERMS_MAX or depth > TREE_MAX:
            hint = "divide the query: a query may read the output of another one"
            raise graph_error("RT135", tree.mark, "an expression that is too large", hint)
        return tree

    def _count(self, tree: Expression) -> tuple[int, int]:
        """Return the terms and the depth of an expression; parts are counted once."""
        if id(tree) not in self.sizes:
            sizes = [self._count(argument) for argument in tree.args]
            terms = 1 + sum(size[0] for size in sizes)
            depth = 1 + max((size[1] for size in sizes), default=0)
            self.sizes[id(tree)] = terms, depth, tree
        return self.sizes[id(tree)][:2]


def is_word(token: Token, keyword: str) -> bool:
    """Return whether a token is a keyword, or begins with it, as ORDER BY does."""
    return token.text.upper().split()[:1] == [keyword]
