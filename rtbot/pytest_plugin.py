"""The pytest plugin that runs the tests of graph files.

It collects YAML files that are given on the command line, and those that the setting
`rtbot_graphs` names:

    [tool.pytest.ini_options]
    testpaths = ["tests", "graphs"]
    rtbot_graphs = ["graphs/*.yaml"]

Each test of a file is one item, `graphs/bollinger.yaml::flat prices have no width`. The setting
`rtbot_plugins` names Python files, relative to the root folder, that declare operators of one's
own. Nothing of rtbot is imported until a graph file is collected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from rtbot.graph_tests import Outcome, Suite

SUFFIXES = (".yaml", ".yml")
GRAPHS, PLUGINS = "rtbot_graphs", "rtbot_plugins"
FOUND = pytest.StashKey[set["Path"]]()
"""The files that the setting names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings."""
    told = "globs of graph files, relative to the root folder, whose tests are run"
    parser.addini(GRAPHS, told, type="linelist", default=[])
    told = "Python files, relative to the root folder, that declare operators of graphs"
    parser.addini(PLUGINS, told, type="linelist", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GraphFile | None:
    """Collect a graph file that is requested."""
    if file_path.suffix not in SUFFIXES:
        return None
    config = parent.config
    asked = parent.session.isinitpath(file_path) or _is_named(file_path, config)
    return GraphFile.from_parent(parent, path=file_path) if asked else None


def _is_named(path: Path, config: pytest.Config) -> bool:
    """Return whether a glob of the setting names the file; they are looked up once in a run."""
    if FOUND not in config.stash:
        globs = map(config.rootpath.glob, config.getini(GRAPHS))
        config.stash[FOUND] = set().union(*globs)
    return path in config.stash[FOUND]


class GraphFile(pytest.File):
    """A graph file; its tests are the items."""

    def collect(self) -> Iterator[GraphItem]:
        """Load the graph; the problems of an invalid one are an error of collection."""
        from rtbot import graph_tests
        from rtbot.core.errors import RtbotError
        from rtbot.core.notices import printable
        from rtbot.graph.plugins import PluginError, load_plugin

        plugin = ""
        try:
            for plugin in self.config.getini(PLUGINS):
                load_plugin(str(self.config.rootpath / plugin))
            suite = graph_tests.load_suite(self.path)
        except PluginError as error:
            raise self.CollectError(f"{PLUGINS}: {plugin}: {error}") from None
        except RtbotError as error:
            raise self.CollectError(_shorten_path(str(error), self.path)) from None
        for place, test in enumerate(suite.tests):
            name = printable(" ".join(test.name.split()))
            yield GraphItem.from_parent(self, name=name, suite=suite, place=place)


class GraphItem(pytest.Item):
    """A test of a graph file."""

    def __init__(self, *, suite: Suite, place: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.suite = suite
        self.test = suite.tests[place]

    def runtest(self) -> None:
        """Run it; the differences are the text of the failure."""
        outcome = self.suite.run(self.test)
        if not outcome.passed:
            raise GraphTestFailed(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *rest: Any) -> Any:
        """Show what differs, without a traceback; an internal error has one."""
        if isinstance(excinfo.value, GraphTestFailed):
            return _shorten_path(str(excinfo.value), self.path)
        return super().repr_failure(excinfo, *rest)

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """Return the place of the test in its file."""
        return self.path, max(self.test.mark.line - 1, 0), self.name


class GraphTestFailed(Exception):  # noqa: N818 (what a test does)
    """A test of a graph file failed; the text is how."""

    def __init__(self, outcome: Outcome) -> None:
        lines = [f"{outcome.place}: {outcome.name}", *outcome.lines()]
        lines += [f"to accept what came: {outcome.hint}"] * bool(outcome.hint)
        super().__init__("\n".join(lines))


def _shorten_path(text: str, path: Path) -> str:
    """Shorten the path of the file in a text to one relative to this folder."""
    from rtbot.core.notices import printable

    here = type(path).cwd()
    inside = here in path.parents
    return printable(text.replace(str(path), str(path.relative_to(here))) if inside else text)
