"""The project that `rtbot init --operators` writes: it is built, installed, and passes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rtbot.samples.operator_project import name_module

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("acme-bands", "acme_bands"),
        ("Acme.Bands", "acme_bands"),
        ("bands2", "bands2"),
        ("2bands", ""),
        ("bands-", ""),
        ("import", ""),
        ("rtbot", ""),
        ("a b", ""),
    ],
)
def test_names_of_packages(name, module):
    assert name_module(name) == module


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["in", "--operators"], "'in' is not a name of a package"),
        (["x", "--operators", "--from", "counter"], "leave --data and --from out"),
        (["mine", "--operators"], "exists already; --force replaces it"),
    ],
)
def test_what_init_refuses(call, arguments, told):
    assert call("init", "mine", "--operators")[0] == 0
    code, _, err = call("init", *arguments)
    assert (code, told in err) == (2, True), err


def test_existing_files_are_replaced_if_that_is_wanted(call):
    assert call("init", "mine", "--operators")[0] == 0
    Path("mine/README.md").write_text("mine\n")
    assert call("init", "mine", "--operators", "--force")[0] == 0
    assert "# mine" in Path("mine/README.md").read_text()


def test_the_project_is_installed_and_passes(call, own_folder):
    assert call("init", "acme-falls", "--operators")[0] == 0
    site, project = own_folder / "site", own_folder / "acme-falls"
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=own_folder,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    run("pip", "install", "--quiet", *offline, "--target", str(site), str(project))
    assert "1 operator: all is as it should be" in run(
        "rtbot", "check-operators", "acme-falls", "--cases", "2"
    )
    assert "(acme-falls 0.1.0)\n  Drawdown" in run("rtbot", "ops", "--grep", "highest so far")
    Path("g.yaml").write_text(
        "inputs: {x: number}\noperators: {y: {type: Drawdown, in: x}}\noutputs: [y]\n"
    )
    Path("d.csv").write_text("t,x\n1,4\n2,3\n")
    assert run("rtbot", "run", "g.yaml", "d.csv") == "t,y\n1,0\n2,0.25\n"
    assert "3 passed" in run("pytest", "-q", "-p", "no:cacheprovider", str(project))
