"""A part of what `python -m tests.crashes` does at length: kills, faults, power that is lost."""

import errno
import random

import pytest

from rtbot.cli.main import run
from tests import crashes, disks
from tests.checkpointed_runs import BLOCK_ROWS, CASES, prepare, use_files, use_small_blocks
from tests.subprocess_runs import alone


@pytest.fixture(autouse=True)
def _place(monkeypatch, own_folder):  # noqa: ARG001 (where a test is)
    with use_small_blocks(monkeypatch):
        yield


@pytest.fixture
def place(request):
    return crashes.RunFolder(*request.param, 5 * BLOCK_ROWS // 2)


one = pytest.mark.parametrize("place", [("keyed", "parquet")], ids=", ".join, indirect=True)


def test_killed_at_random():
    words = ["--kills", "20", "--rows", str(5 * BLOCK_ROWS // 2), "--seed", "7"]
    told = alone("tests.crashes", *words).splitlines()
    kills = [int(line.split(": ")[1].split()[0]) for line in told]
    assert len(kills) == len(crashes.SUITE)
    assert min(kills) >= 5


@one
def test_a_full_disk_at_every_operation(place):
    crashes.fail_everywhere(place, [errno.ENOSPC], kills=False)


@one
def test_power_lost_at_random(place):
    crashes.lose_power(place, 0.1, random.Random(7))


@pytest.mark.parametrize("place", [("unkeyed", "csv")], ids=", ".join, indirect=True)
def test_a_force_onto_the_disk_that_is_left_out_is_seen(place):
    first, *_ = crashes.find_loose_syncs(place.record().operations)
    assert crashes.leave_out(place, first) is not None


def test_the_disk_of_tests_forgets_what_was_not_forced(tmp_path):
    files = disks.RecordingDisk(tmp_path)
    for name, synced in (("a", True), ("b", False)):
        with files.create(name) as file:
            file.write(b"12")
            file.write(b"34")
            if synced:
                files.sync(file)
    files.sync_folder("a")
    files.rename("b", "c")
    found = [tuple(sorted(state.items())) for state in disks.list_states(files.operations, {})]
    whole = (("a", b"1234"), ("c", b"1234"))
    assert found[0] == whole
    assert {dict(state)["a"] for state in found} == {b"1234"}
    loose = {(name, data) for state in found for name, data in state if name != "a"}
    parts = (b"1234", b"12", b"\0\x0034", b"\0\0\0\0", b"")
    assert loose == {(name, data) for name in "bc" for data in parts}


def test_an_error_of_the_disk_has_its_exit_code(tmp_path, capfd):
    command = prepare(CASES["unkeyed"], tmp_path, 300)
    with use_files(disks.FailingDisk(tmp_path, 20)):
        assert run([*command, "-o", "out.csv", "--checkpoint", "ck", "--every", "1"]) == 74
    assert "error: No space left on device" in capfd.readouterr().err


@pytest.mark.parametrize("place", [("keyed", "csv")], ids=", ".join, indirect=True)
def test_commands_that_are_killed(place):
    crashes.kill_commands(place, random.Random(7), 2)
