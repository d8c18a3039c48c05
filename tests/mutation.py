"""A mutant: one node of the syntax tree of one function, and the source that replaces it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

TORTURES = ("torture", "long torture")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Mutant:
    """A function of the package with one expression or statement replaced by another."""

    place: str
    """`package/module.py::Class.function`. A class, or a module (nothing after the colons), is
    what is in it outside the definitions in it."""
    old: str
    """An expression or a statement; layout, comments and the kind of quotes do not matter."""
    new: str
    caught_by: tuple[str, ...] = TORTURES
    """Commands one of which must fail, in the order in which they are tried."""
    compared: bool = False
    """Whether two runs of the same data differ by it: it touches order, cuts or state. What is as
    wrong in every run, or wrong in what is refused or in when something comes out, does not."""
    nth: int | None = None
    """Which of several equal nodes, from 0; None if there is one."""

    @property
    def file(self) -> str:
        """The file, from the root of the project."""
        return self.place.partition("::")[0]

    def apply(self, root: Path) -> None:
        """Change the file; LookupError if the place is not there, or not unique."""
        path = root / self.file
        if not path.is_file():
            raise LookupError(f"there is no file {self.file}")
        path.write_bytes(self.mutate(path.read_bytes()))

    def mutate(self, source: bytes) -> bytes:
        """The source with the change, otherwise byte for byte as it was."""
        scope = find_scope(ast.parse(source), self.place.partition("::")[2])
        found = list(self.find_spans(source, scope))
        if self.nth is None and len(found) != 1:
            raise LookupError(f"{len(found)} places, not one")
        if self.nth is not None and not 0 <= self.nth < len(found):
            raise LookupError(f"{len(found)} places: there is no number {self.nth}")
        begin, end = found[self.nth or 0]
        return source[:begin] + self.new.encode() + source[end:]

    def find_spans(self, source: bytes, scope: ast.AST) -> Iterator[tuple[int, int]]:
        """Yield where the nodes begin and end that are equal to `old`, in their order."""
        wanted = parse_node(self.old)
        for node in list_own_nodes(scope):
            if type(node) is type(wanted) and ast.dump(node) == ast.dump(wanted):
                yield find_span(source, node)


@dataclass(frozen=True)
class TextMutant(Mutant):
    """A function with a part of a string literal replaced: generated code. `old` is as in the
    source, without quotes."""

    def find_spans(self, source: bytes, scope: ast.AST) -> Iterator[tuple[int, int]]:
        """Yield where `old` begins and ends in the string literals of the scope."""
        wanted = self.old.encode()
        for node in list_own_nodes(scope):
            if is_string(node):
                begin, end = find_span(source, node)
                place = source.find(wanted, begin, end)
                while place >= 0:
                    yield place, place + len(wanted)
                    place = source.find(wanted, place + 1, end)


def parse_node(source: str) -> ast.AST:
    """The node of an expression or of one statement."""
    (statement,) = ast.parse(source).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def find_scope(module: ast.Module, name: str) -> ast.AST:
    """The module, or the class or function with this dotted name in it."""
    scope: ast.AST = module
    for part in name.split(".") if name else ():
        named = [
            node
            for node in list_own_nodes(scope)
            if isinstance(node, DEFINITIONS) and node.name == part
        ]
        if len(named) != 1:
            raise LookupError(f"{len(named)} definitions of {name}, not one")
        (scope,) = named
    return scope


def list_own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a scope from top to bottom, but nothing that is in definitions in it.

    String literals are whole: Python 3.11 does not know the positions of what is in them.
    """
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, DEFINITIONS) and not is_string(node):
            yield from list_own_nodes(node)


def is_string(node: ast.AST) -> bool:
    """Whether the node is a string literal, with or without expressions in it."""
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return constant or isinstance(node, ast.JoinedStr)


def find_span(source: bytes, node: ast.AST) -> tuple[int, int]:
    """Where the node begins and ends in the source."""
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
    begin = lines[node.lineno - 1] + node.col_offset
    return begin, lines[node.end_lineno - 1] + node.end_col_offset
