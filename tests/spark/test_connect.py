"""Spark Connect does what classic Spark does; in a process of its own, since a process has one."""

import importlib.util
import subprocess
import sys

import pytest

from tests.spark.conftest import ROOT, missing, skip_without

LIMIT_SECONDS = 900

pytestmark = pytest.mark.xdist_group("spark")


def test_all_that_the_adapter_does_works_by_connect():
    lacking = missing()
    if not lacking and not all(map(importlib.util.find_spec, ("grpc", "grpc_status", "zstandard"))):
        lacking = "no grpcio: pip install 'pyspark[connect]'"
    skip_without(lacking)
    command = [sys.executable, "-m", "tests.spark.connect"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    assert run.stdout.count(": right\n") == 8
