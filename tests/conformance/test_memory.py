"""A session that gets no memory."""

import sys

import pytest

from tests.subprocess_runs import alone


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_push_without_memory_is_refused_or_breaks_the_session_and_nothing_else():
    first, *between, last = alone("tests.memory_limits").split()
    assert first in ("refused", "broken")
    assert set(between) <= {"whole", "refused", "broken"}
    assert last == "whole"
