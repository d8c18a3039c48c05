"""Installed packages of operators: the entry points of the group `rtbot.operators`.

    [project.entry-points."rtbot.operators"]
    acme-bands = "acme_bands.operators"

They are imported when something names an operator that is not known, or lists all operators. A
graph of rtbot's own operators looks for none.
"""

from __future__ import annotations

import sys
import threading
import traceback
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, Problem
from rtbot.core.source_span import SourceSpan
from rtbot.graph.check.declaration import is_builtin
from rtbot.graph.plugins import explain_import_error
from rtbot.operator import REGISTRY
from rtbot.operator.operator import REGISTERING
from rtbot.operator.step_source import shorten_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

    from rtbot.operator import Operator

GROUP = "rtbot.operators"


@dataclass(frozen=True)
class OperatorPackage:
    """A module of operators of an installed distribution: what it declares, by name and alias.

    `problem` is why it could not be imported, with file and line.
    """

    distribution: str
    version: str
    module: str
    operators: Mapping[str, type[Operator]] = field(default_factory=dict)
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


_LOCK = threading.RLock()


def find_operator(name: str) -> type[Operator] | None:
    """Return the operator of a name or an alias, if need be from an installed package."""
    if name not in REGISTRY:
        load_packages()
    return REGISTRY.get(name)


def load_packages() -> tuple[OperatorPackage, ...]:
    """Import the installed packages, once; return them by name.

    Every package sees rtbot's own operators and declares more, whatever else is imported. What two
    packages declare by one name is not registered, unless a plugin or an import did it before.
    """
    with _LOCK:
        return _load_all()


@cache
def _load_all() -> tuple[OperatorPackage, ...]:
    from importlib.metadata import entry_points

    entries = {
        (entry.dist.name if entry.dist else entry.name, entry.value): entry
        for entry in entry_points(group=GROUP)
    }
    packages = tuple(_load(entries[key], key[0]) for key in sorted(entries))
    found: dict[str, set[type[Operator]]] = {}
    for package in packages:
        for name, cls in package.operators.items():
            found.setdefault(name, set()).add(cls)
    for name in sorted(found.keys() - REGISTRY.keys()):
        if len(found[name]) == 1:
            REGISTRY[name] = found[name].pop()
    return packages


def _load(entry: EntryPoint, distribution: str) -> OperatorPackage:
    """Import a package beside rtbot's own operators only."""
    made = partial(
        OperatorPackage, distribution, entry.dist.version if entry.dist else "", entry.module
    )
    builtins = {name: cls for name, cls in REGISTRY.items() if is_builtin(cls)}
    declared = dict(builtins)
    token = REGISTERING.set(declared)
    try:
        entry.load()
        return made({name: cls for name, cls in declared.items() if name not in builtins})
    except (Exception, SystemExit) as error:  # noqa: BLE001 (it becomes the problem of the package)
        return made(problem=_describe_failure(error, entry.module.partition(".")[0]))
    finally:
        REGISTERING.reset(token)


def _describe_failure(error: BaseException, root: str) -> str:
    """Describe what went wrong while a package was imported, and on which of its lines."""
    if isinstance(error, GraphError):
        first = error.problems[0]
        return f"{first.place}: {first.message}; {first.hint}".removesuffix("; ")
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    own = [place for place in places if root in (*Path(place[0]).parts, Path(place[0]).stem)]
    place = f"{shorten_path(own[-1][0])}:{own[-1][1]}: " if own else ""
    message = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{place}{type(error).__name__}: {message}{explain_import_error(error)}"


def find_package(operator: type[Operator]) -> OperatorPackage | None:
    """Return the package that an operator is of, None if it is of none."""
    module = operator.__module__.split(".")

    def count_shared(package: OperatorPackage) -> int:
        pairs = zip(package.module.split("."), module, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    owner = max(load_packages(), key=count_shared, default=None)
    return owner if owner is not None and count_shared(owner) else None


def name_package(operator: type[Operator]) -> str:
    """Return the package of an operator with its version; "" if none that is loaded has it."""
    loaded = not is_builtin(operator) and _load_all.cache_info().currsize > 0
    return str((loaded and find_package(operator)) or "")


def describe_origin(operator: type[Operator]) -> str:
    """Return whose an operator is: "rtbot", a package with its version, or a file."""
    if is_builtin(operator):
        return "rtbot"
    package = find_package(operator)
    if package is not None:
        return str(package)
    file = getattr(sys.modules.get(operator.__module__), "__file__", None)
    return shorten_path(file) if file else operator.__module__


def list_missing_reasons(name: str, mark: SourceSpan) -> list[Problem]:
    """Return why installed packages have no operator of an unknown name, or too many."""
    owners = [package for package in load_packages() if name in package.operators]
    if owners:
        told = " and ".join(f"{package} ({package.module})" for package in owners)
        hint = "uninstall one of them, or import the module that you mean before rtbot looks for it"
        return [Problem("RT171", mark, f"{name} is an operator of {told}", hint)]
    return [
        Problem("RT174", mark, f"the package {package} cannot be imported", package.problem)
        for package in load_packages()
        if package.problem
    ]


def explain_missing(name: str) -> str:
    """Return the same reasons in one line, "" if there are none."""
    reasons = list_missing_reasons(name, SourceSpan(""))
    return "; ".join(f"{reason.message}: {reason.hint}" for reason in reasons)
