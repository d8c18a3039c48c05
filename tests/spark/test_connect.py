"""Spark Connect does what classic Spark does; in a process of its own, since a process has one."""

import importlib.util

import pytest

from tests.spark.conftest import missing, skip_without
from tests.subprocess_runs import alone

pytestmark = pytest.mark.xdist_group("spark")


def test_all_that_the_adapter_does_works_by_connect():
    lacking = missing()
    if not lacking and not all(map(importlib.util.find_spec, ("grpc", "grpc_status", "zstandard"))):
        lacking = "no grpcio: pip install 'pyspark[connect]'"
    skip_without(lacking)
    assert alone("tests.spark.connect").count(": right\n") == 8
