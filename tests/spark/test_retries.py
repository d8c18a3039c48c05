"""Tasks that fail and run again change no byte; in a process whose Spark tries them again."""

import pytest

from tests.spark.conftest import missing, skip_without
from tests.subprocess_runs import alone

pytestmark = pytest.mark.xdist_group("spark")


def test_a_task_that_fails_and_runs_again_gives_the_same_bytes():
    skip_without(missing())
    assert alone("tests.spark.retries").count(": right\n") == 3
