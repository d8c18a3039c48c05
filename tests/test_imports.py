"""Imports point one way, and `import rtbot` stays cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rtbot"

# From the bottom up. A module may import what stands below its row, and its own family.
LAYERS = [
    {"errors"},
    {"batch", "files"},
    {"pairing", "kernels"},
    {"operator"},
    {"expression", "operators", "relations", "datalog"},
    {"graph"},
    {"loader", "check"},
    {"segment", "plan"},
    {"feed", "session", "checkpoint"},
    {"tables", "describe", "draw", "report"},
    {"cli"},
]
RUNTIME = {"batch", "pairing", "kernels", "plan", "segment", "session", "feed", "checkpoint"}
HEAVY = ["numpy", "numba", "yaml", "click", "rich", "pyarrow", "pandas", "polars", "pyspark"]

MODULES = sorted(PACKAGE.rglob("*.py"))


def family(path: Path) -> str:
    """The first name below the package: `rtbot/operators/windows.py` belongs to `operators`."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Families that a module imports, wherever the import stands, but not only for its types."""
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            tails = [alias.name for alias in node.names] if node.module == "rtbot" else [""]
            names = [f"{node.module}.{tail}".rstrip(".") for tail in tails]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("rtbot."))


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree without the blocks that only a type checker reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
        yield from running(child)


def layer(name: str) -> int:
    return next(height for height, names in enumerate(LAYERS) if name in names)


def test_every_module_has_a_layer():
    placed = set().union(*LAYERS) | {"__init__", "__main__"}
    assert {family(path) for path in MODULES} - placed == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    own = family(path)
    if own in {"__init__", "__main__"}:
        return
    upwards = {name for name in imported(path) if name != own and layer(name) >= layer(own)}
    assert upwards == set()


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if family(path) in RUNTIME],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_runtime_names_no_operator(path):
    import rtbot.operators  # noqa: F401
    from rtbot.operator import REGISTRY

    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                named.add(name)
    assert named & set(REGISTRY) == set()


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, rtbot; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_the_guard_sees_a_heavy_import():
    code = f"import sys, numpy; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['numpy']"
