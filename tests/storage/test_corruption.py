"""A slice of `python -m tests.corruption`, and that it sees what it looks for."""

import pytest

from rtbot.core.errors import CheckpointError
from rtbot.storage import container
from tests.corruption import DecodedError, check_chunk, decode_blindly, foreign_pairs, pool


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr("tests.corruption.POOL", 12)


@pytest.mark.parametrize("kind", ["damaged", "forged"])
def test_spoilt_dumps_end_in_a_known_way(kind):
    outcomes, failures = check_chunk("suite", 0, 300, kind)
    assert failures == []
    assert outcomes.total() == 300
    assert len(outcomes) > (10 if kind == "damaged" else 2)


def test_dumps_of_other_graphs_are_refused():
    outcomes, failures = foreign_pairs("suite")
    assert failures == []
    assert set(outcomes) == {"RT313"}


def test_bytes_that_are_decoded_are_a_failure():
    with pytest.raises(DecodedError):
        decode_blindly(pool("suite")[0][1])


def test_a_digest_that_is_not_looked_at_is_a_failure(monkeypatch):
    lengths = container.LENGTHS
    monkeypatch.setattr(container, "verify_blob", lambda blob: lengths.unpack_from(blob, 11)[2])
    _, failures = check_chunk("suite", 0, 60, "damaged")
    assert failures


def test_another_exception_is_a_failure(monkeypatch):
    def refuse(_blob):
        raise KeyError("state")

    monkeypatch.setattr("tests.corruption.decode_blindly", refuse)
    _, failures = check_chunk("suite", 0, 20, "damaged")
    assert {what for _, what in failures} == {"KeyError: 'state'"}
    assert not isinstance(KeyError(), CheckpointError)
