"""Imports point one way, and `import rtbot` stays cheap."""

import ast
import graphlib
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import rtbot
import rtbot.operators
from rtbot.operator import REGISTRY

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "rtbot"
MODULES = sorted(PACKAGE.rglob("*.py"))
ADAPTER = sorted((ROOT / "spark_adapter").rglob("*.py"))

# From the bottom up: a module may import what is above it in this list, and its own package.
PACKAGES = [
    "core",
    "storage",
    "tables",
    "operator",
    "numeric",
    "expression",
    "operators",
    "sql",
    "datalog",
    "graph",
    "viz",
    "compiler",
    "relations",
    "database",
    "runtime",
    "io",
    "look",
    "compare",
    "graph_tests",
    "api",
    "adapter",
    "explain",
    "conformance",
    "samples",
    "builder",
    "ops",
    "cli",
    "pytest_plugin",
]
SHIMS = {"ieee"}
"""Names that users' files import and that are elsewhere in the package."""

STEPS = {"numeric", "operators"}
RUNTIME = {"compiler", "runtime"}
# What the adapter may import of the package, beside what `import rtbot` offers to everybody.
ADAPTED = {"adapter"}
HEAVY = ["numpy", "numba", "yaml", "click", "rich", "pyarrow", "pandas", "polars", "pyspark"]


def family(path: Path) -> str:
    """The first name below the package: `rtbot/operators/windows.py` belongs to `operators`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Families that a module imports, wherever the import stands, but not only for its types."""
    names = names_in(running(ast.parse(path.read_text(encoding="utf-8"))), path)
    families = {name.split(".")[1] for name in names if name.startswith("rtbot.")}
    return families - {family(path), "__version__"}


def names_in(nodes: Iterable[ast.AST], path: Path) -> set[str]:
    """Modules that nodes import, or what they import of a module, with dots."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree without the blocks that only a type checker reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
        yield from running(child)


def of(families: set[str]) -> list[pytest.param]:
    chosen = [path for path in MODULES if family(path) in families]
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in chosen]


def test_every_package_is_in_the_list():
    families = {family(path) for path in MODULES} - {"__init__", "__main__"}
    assert families == {*PACKAGES, *SHIMS}


@pytest.mark.parametrize("path", of({*PACKAGES}))
def test_imports_point_up_the_list(path):
    own = PACKAGES.index(family(path))
    assert imported(path) - set(PACKAGES[:own]) == set()


@pytest.mark.parametrize("path", of(STEPS))
def test_no_step_imports_the_runtime(path):
    assert imported(path) & RUNTIME == set()


@pytest.mark.parametrize("path", of(RUNTIME))
def test_the_runtime_names_no_operator(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert texts & set(REGISTRY) == set()
    assert "operators" not in imported(path)


@pytest.mark.parametrize("path", of({"cli"}))
def test_the_command_line_uses_what_everybody_may(path):
    assert imported(path) & (RUNTIME | {"api"}) == set()


@pytest.mark.parametrize("path", of({*PACKAGES} - {"compare"}))
def test_only_compare_knows_the_adapter(path):
    names = names_in(ast.walk(ast.parse(path.read_text(encoding="utf-8"))), path)
    assert {name.split(".")[0] for name in names} & {"spark_adapter", "pyspark"} == set()


@pytest.mark.parametrize("path", ADAPTER, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_adapter_takes_what_it_may(path):
    names = names_in(running(ast.parse(path.read_text(encoding="utf-8"))), path)
    families = {name.split(".")[1] for name in names if name.startswith("rtbot.")}
    assert families - set(rtbot.__all__) <= ADAPTED


def test_the_adapter_imports_one_way():
    below = {}
    for path in ADAPTER:
        names = names_in(ast.parse(path.read_text(encoding="utf-8")).body, path)
        own = {name for name in names if name.startswith("spark_adapter.")}
        below[path.stem] = {name.split(".")[1] for name in own}
    assert [*graphlib.TopologicalSorter(below).static_order()][-1] == "__init__"


def test_the_adapter_says_how_to_get_spark():
    code = "import sys; sys.modules['pyspark'] = None; import spark_adapter"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr.endswith("PySpark is not installed: pip install 'rtbot-graphs[spark]'\n")


def heavy_after(statement: str) -> str:
    code = f"import sys; {statement}; print(*[name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    assert heavy_after("import rtbot") == ""
    assert heavy_after("import rtbot; rtbot.GraphError") == ""
    assert heavy_after("import rtbot; rtbot.Builder; rtbot.ops") == ""
    assert heavy_after("import numpy") == "numpy"


def test_the_version_is_that_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rtbot.__version__ == project["version"]
