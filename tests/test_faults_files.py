"""What neighbours on one machine could do to a run, and what broke at the edges of its files."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from rtbot import cache, modules, notices

ROOT = Path(__file__).parent.parent
TEXT = "def added(a):\n    return a + 1\n"
NAME = f"g{modules.fingerprint(TEXT)[:40]}"


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The folder of a user's cache, which is not there yet; the temporary one is elsewhere."""
    monkeypatch.setenv("RTBOT_CACHE_DIR", str(tmp_path / "kept"))
    temporary = SimpleNamespace(gettempdir=lambda: str(tmp_path / "temporary"))
    monkeypatch.setattr(cache, "tempfile", temporary)
    monkeypatch.setattr(notices, "_warned", set())
    return tmp_path / "kept"


def used(text=TEXT):
    """The folder that a generated module is kept in, by its name."""
    path = modules.write(text)
    return None if path is None else path.parent.name.split("-")[0]


def test_a_new_cache_is_closed_to_others_whatever_the_umask(kept):
    before = os.umask(0)
    try:
        kept = kept / "a" / "b"
        os.environ["RTBOT_CACHE_DIR"] = str(kept)
        assert used() == "b"
    finally:
        os.umask(before)
    for folder in (kept, kept.parent, kept / "__pycache__"):
        assert folder.stat().st_mode & 0o777 == 0o700


def make_link(kept):
    Path(f"{kept}-else").mkdir(mode=0o700)
    kept.symlink_to(f"{kept}-else")


def make_wide(kept):
    kept.mkdir()
    kept.chmod(0o720)


def make_wide_below(kept):
    kept.mkdir(mode=0o700)
    (kept / "__pycache__").mkdir()
    (kept / "__pycache__").chmod(0o702)


def make_link_below(kept):
    Path(f"{kept}-else").mkdir(mode=0o700)
    kept.mkdir(mode=0o700)
    (kept / "__pycache__").symlink_to(f"{kept}-else")


def make_linked_code(kept):
    (kept / "__pycache__").mkdir(parents=True, mode=0o700)
    kept.chmod(0o700)
    Path(f"{kept}-else").touch()
    (kept / "__pycache__" / f"{NAME}.added-1.py312.nbi").symlink_to(f"{kept}-else")


def make_linked_text(kept):
    kept.mkdir(mode=0o700)
    Path(f"{kept}-else").write_text(TEXT)
    (kept / f"{NAME}.py").symlink_to(f"{kept}-else")


PLANTED = {
    make_link: "is no folder but a link",
    make_wide: "(its mode is 720); remove it",
    make_wide_below: "(its mode is 702); remove it",
    make_link_below: "__pycache__ is no folder but a link",
    make_linked_code: ".nbi is no file of this user",
    make_linked_text: ".py is no file of this user",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_cache_in_which_others_can_have_put_code_is_not_used(kept, plant, capfd):
    plant(kept)
    assert used() == "rtbot"  # the temporary one
    told = capfd.readouterr().err
    assert told.startswith(f"rtbot: compiled code is not kept in {kept}: ")
    assert told.endswith(PLANTED[plant] + "\n")


def test_a_cache_below_a_folder_that_others_can_write_to_is_not_used(kept, capfd):
    kept.parent.chmod(0o770)
    assert used() is None
    kept.parent.chmod(0o1777)
    assert used() == "kept"
    assert f"others can write to {kept.parent}\n" in capfd.readouterr().err


def test_a_cache_that_others_can_only_read_is_closed_and_used(kept):
    kept.mkdir()
    kept.chmod(0o755)
    assert used() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("kept")
def test_a_cache_of_another_user_is_not_used(monkeypatch, capfd):
    assert used() == "kept"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert used() is None
    assert "belongs to another user" in capfd.readouterr().err


def test_code_of_another_user_in_an_own_cache_is_not_run(kept, monkeypatch):
    """Only the file is another's: somebody put it there while the folder was open to all."""
    assert used() == "kept"
    alien = kept / "__pycache__" / f"{NAME}.added-1.py312.nbi"
    alien.touch()
    lstat = Path.lstat

    def found(path):
        owner = [4] if path.name == alien.name else []
        return os.stat_result([c + (k in owner) for k, c in enumerate(lstat(path))])

    monkeypatch.setattr(Path, "lstat", found)
    assert used() == "rtbot"


def test_machine_code_is_read_from_nowhere_else(kept, monkeypatch):
    """NUMBA_CACHE_DIR comes before the folder of the module: it is looked at like that."""
    from numba.core import config

    other = kept.parent / "numba"
    other.mkdir()
    other.chmod(0o777)
    monkeypatch.setattr(config, "CACHE_DIR", str(other))
    text = TEXT.replace("1", "3")
    made = modules.compiled(text)
    assert made.added.stats.cache_path is None
    assert made.added(1) == 4
    assert not list(other.rglob("*.nbi"))


def test_where_no_home_is_known_the_temporary_folder_is_used(kept, monkeypatch):
    """As in containers whose user has no line in passwd: `Path.home` raises there."""
    for name in ("RTBOT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _uid: {}["nobody"])
    assert [folder.parent for folder in cache.folders()] == [kept.parent / "temporary"]
    assert used() == "rtbot"


@pytest.mark.usefixtures("kept")
def test_where_there_is_no_folder_at_all_code_is_made_without(monkeypatch):
    def none():
        raise FileNotFoundError

    monkeypatch.setenv("RTBOT_CACHE_DIR", "/proc/none")
    monkeypatch.setattr(cache, "tempfile", SimpleNamespace(gettempdir=none))
    assert used() is None
    assert modules.interpreted(TEXT).added(1) == 2
