"""What tests of the program share.

Where nothing else is said, code is compiled before it runs: what is tested is not left to the time
that something takes.
"""

import os
from pathlib import Path

import pytest

import rtbot.operators  # noqa: F401 (registers its own before a test can)
from rtbot.cli.main import run
from rtbot.operator import REGISTRY

os.environ.setdefault("RTBOT_COMPILE", "now")


@pytest.fixture(autouse=True)
def registered():
    """Operators that a test registers are not there for the next one."""
    before = dict(REGISTRY)
    yield
    if before != REGISTRY:
        REGISTRY.clear()
        REGISTRY.update(before)


@pytest.fixture
def own_folder(monkeypatch, tmp_path):
    """Small graphs need no compiler; files are named as a user would, from their folder."""
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(capfdbinary, own_folder):
    """Run the program on files made of text or bytes; returns (code, stdout, stderr)."""

    def called(*arguments, **files):
        for name, data in files.items():
            path = Path(own_folder, name.replace("__", "."))
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return code, out.decode(), err.decode()

    return called


def pytest_make_parametrize_id(val):
    """Name a case by the beginning of a long text: ids travel between processes."""
    return f"{val[:60]}..." if isinstance(val, str) and len(val) > 100 else None
