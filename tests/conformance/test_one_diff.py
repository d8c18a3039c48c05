"""The diff of CONTRIBUTING.md is a whole operator with its oracle: nothing else names it."""

import re
from pathlib import Path

from rtbot.conformance import check_operator
from rtbot.graph.plugins import load_plugin
from rtbot.operator import REGISTRY
from tests import generate
from tests.checks import CaseChecks
from tests.oracles import windowed
from tests.oracles.registry import ORACLES

ROOT = Path(__file__).parents[2]


def read_diff():
    """The lines that the diff adds, by file."""
    (text,) = re.findall(
        r"^```diff\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL
    )
    found = {}
    for line in text.splitlines():
        if line.startswith("+++ b/"):
            lines = found.setdefault(line.removeprefix("+++ b/"), [])
        elif line.startswith("+"):
            lines.append(line[1:])
    return {file: "\n".join(lines) + "\n" for file, lines in found.items()}


def test_the_operator_of_the_diff_passes(tmp_path, monkeypatch):
    (operator, oracle) = read_diff().values()
    head = "from rtbot.operator import Example, In, Number, Operator, Out, Scalar, step\n\n\n"
    path = tmp_path / "running.py"
    path.write_text(head + operator)
    load_plugin(str(path))
    monkeypatch.setitem(ORACLES, "Streak", None)
    exec(compile(oracle, "windowed.py", "exec"), dict(vars(windowed)))  # noqa: S102
    cls = REGISTRY["Streak"]
    for seed in range(4):
        CaseChecks(generate.case_of(f"Streak/{seed}", [cls], ("whole", "random"))).schedules()
    assert check_operator(cls, cases=2).failures == []
