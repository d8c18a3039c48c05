"""A slice of `python -m tests.fuzz_datalog`, and that it sees what it looks for."""

import pytest

from tests import fuzz_datalog


def test_spoilt_programs_are_read_or_refused():
    read, evaluated = fuzz_datalog.run(150, seed=70)
    assert read > evaluated // 2 > 5


def test_a_crash_is_seen(monkeypatch):
    monkeypatch.setattr(fuzz_datalog, "read_program", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fuzz_datalog.run(1)
