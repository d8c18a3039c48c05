"""Tasks that fail and run again change no byte; in a process whose Spark tries them again."""

import subprocess
import sys

import pytest

from tests.spark.conftest import ROOT, missing, skip_without

LIMIT_SECONDS = 600

pytestmark = pytest.mark.xdist_group("spark")


def test_a_task_that_fails_and_runs_again_gives_the_same_bytes():
    skip_without(missing())
    command = [sys.executable, "-m", "tests.spark.retries"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    assert run.stdout.count(": right\n") == 3
