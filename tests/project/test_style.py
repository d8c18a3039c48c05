"""The numbers of our style, enforced: a rule that nobody checks is a wish."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    *sorted((ROOT / "rtbot").rglob("*.py")),
    *sorted((ROOT / "spark_adapter").rglob("*.py")),
]
COLUMNS, FUNCTION_LINES, FILE_LINES, PARAMETERS, NESTING = 100, 40, 500, 6, 3
KERNELS = (
    "numeric/",
    "tables/hash_tables.py",
    "datalog/evaluation/kernels/",
    "relations/kernels/",
    "runtime/kernels/",
    "io/sinks/csv_kernels.py",
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
UNSAFE_NAMES = {"eval", "exec", "__import__"}
UNSAFE_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "imp"}
UNSAFE_ATTRIBUTES = {
    ("yaml", "load"),
    ("yaml", "load_all"),
    ("yaml", "full_load"),
    ("yaml", "unsafe_load"),
    ("os", "system"),
    ("os", "popen"),
}
UNSAFE_KEYWORDS = {"shell", "allow_pickle"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def problems(text: str, *, kernels: bool = False) -> Iterator[str]:
    """Every breach in one module, as `line: sentence`. In kernels, parameters are not counted."""
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield f"{len(lines)}: more than {FILE_LINES} lines in a file"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{number}: {len(line)} columns, more than {COLUMNS}"
        if UNFINISHED.search(line):
            yield f"{number}: unfinished work belongs in an issue"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            yield from of_function(node, kernels=kernels)
        yield from of_safety(node)


def of_function(node: ast.FunctionDef, *, kernels: bool) -> Iterator[str]:
    """Breaches of the numbers for functions."""
    where = f"{node.lineno}: {node.name}"
    length = node.end_lineno - node.lineno + 1 - docstring_lines(node)
    if length > FUNCTION_LINES:
        yield f"{where} has {length} lines, more than {FUNCTION_LINES}"
    count = parameter_count(node)
    if count > PARAMETERS and not kernels and not is_compiled(node):
        yield f"{where} has {count} parameters, more than {PARAMETERS}"
    depth = nesting(node.body)
    if depth > NESTING:
        yield f"{where} nests {depth} deep, more than {NESTING}"


def of_safety(node: ast.AST) -> Iterator[str]:
    """What runs text as code, reads code from data, or starts a shell."""
    found: set[str] = set()
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in UNSAFE_NAMES:
            found = {name}
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            found = {f"{owner}.{name}"} if (owner, name) in UNSAFE_ATTRIBUTES else set()
        case ast.Import(names=names):
            found = {name.name for name in names if name.name.split(".")[0] in UNSAFE_MODULES}
        case ast.ImportFrom(module=str(module)) if module.split(".")[0] in UNSAFE_MODULES:
            found = {module}
        case ast.keyword(arg=str(name), value=ast.Constant(value=True)) if name in UNSAFE_KEYWORDS:
            found = {f"{name}=True"}
    for what in sorted(found):
        yield f"{getattr(node, 'lineno', 0)}: {what} is not allowed in the package"


def docstring_lines(node: ast.FunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    return node.body[0].end_lineno - node.body[0].lineno + 1


def parameter_count(node: ast.FunctionDef) -> int:
    """All parameters but self and cls."""
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return len([a for a in every if a is not None and a.arg not in {"self", "cls"}])


def is_compiled(node: ast.FunctionDef) -> bool:
    """Whether numba compiles it: a step, or a helper of steps."""
    names = {ast.unparse(d).split("(")[0].split(".")[-1] for d in node.decorator_list}
    return bool(names & {"step", "noinline"})


def nesting(body: list[ast.stmt]) -> int:
    """How deep blocks stand in blocks; `elif` is no deeper than its `if`."""
    return max((depth_of(statement) for statement in body), default=0)


def depth_of(statement: ast.stmt) -> int:
    if not isinstance(statement, BLOCKS):
        return 0
    deepest = 0
    for branch in branches(statement):
        is_elif = isinstance(statement, ast.If) and branch is statement.orelse
        is_elif = is_elif and len(branch) == 1 and isinstance(branch[0], ast.If)
        deepest = max(deepest, nesting(branch) - is_elif)
    return 1 + deepest


def branches(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    parts = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return found + [part.body for part in parts]


def is_kernels(path: Path) -> bool:
    """Whether all of a module is compiled: scalars come by value, one parameter each."""
    return str(path.relative_to(ROOT)).removeprefix("rtbot/").startswith(KERNELS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_keeps_to_the_numbers(path):
    assert list(problems(path.read_text(encoding="utf-8"), kernels=is_kernels(path))) == []


def function(body: str, signature: str = "") -> str:
    return f"def f({signature}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


TOO_DEEP = "for a in b:\n  if a:\n    while a:\n      if a:\n        return"
DEEP_ENOUGH = "for a in b:\n  if a:\n    pass\n  elif c:\n    while a:\n      pass"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", None),
        ("x = " + "1" * 97 + "\n", "101 columns"),
        ("x = 1\n" * 501, "500 lines in a file"),
        (function("x = 1\n" * 39), None),
        (function("x = 1\n" * 40), "41 lines"),
        (function('"""A\n\nlong docstring."""\n' + "x = 1\n" * 39), None),
        (function("pass", "self, a, b, c, d, e, f"), None),
        (function("pass", "a, b, c, *, d, e, f, **g"), "7 parameters"),
        ("@step\n" + function("pass", "a, b, c, d, e, f, g"), None),
        (function(DEEP_ENOUGH), None),
        (function(TOO_DEEP), "nests 4 deep"),
        ("eval(x)\n", "eval"),
        ("model.eval(x)\n", None),
        ("import pickle\n", "pickle"),
        ("from marshal import loads\n", "marshal"),
        ("yaml.load(x)\n", "yaml.load"),
        ("run(x, shell=True)\n", "shell=True"),
        ("numpy.load(x, allow_pickle=True)\n", "allow_pickle=True"),
        ("os.system(x)\n", "os.system"),
        ("x = 1  # " + "TO" + "DO\n", "issue"),
    ],
)
def test_the_rules_find_what_they_are_for(text, expected):
    found = list(problems(text))
    assert len(found) == (expected is not None), found
    assert expected is None or expected in found[0]
