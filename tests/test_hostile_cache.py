"""Compiled libraries are executed when they are loaded: none that somebody else could have put
there is.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from varimech.backends import compiler, library_cache, private_folders
from varimech.cli.app import app

pytestmark = [
    pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler on this machine"),
    pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system without owners and modes"),
]
ANSWER = '__attribute__((visibility("default"))) int vm_answer(void) {{ return {}; }}'
GOOD, EVIL = ANSWER.format(42), ANSWER.format(666)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and temporary folders of its own."""
    folder, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("VARIMECH_CACHE", str(folder))
    monkeypatch.setattr(library_cache, "_own", [])
    monkeypatch.setattr(library_cache, "_reported", set())
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return folder


def answer() -> int:
    return int(compiler.load_library(GOOD).vm_answer())


def plant(cache: Path) -> Path:
    """An entry for GOOD with the library of EVIL and a checksum that fits, as somebody who knows
    how entries are made writes it.
    """
    key = compiler._key(GOOD)
    evil = compiler.build_library(EVIL)
    entry = cache / key
    shutil.rmtree(entry, ignore_errors=True)
    shutil.copytree(evil.parent, entry)
    (entry / library_cache.CHECKSUM).write_text(
        library_cache._digest(key, entry / library_cache.LIBRARY)
    )
    return entry


def belongs_to_another(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """As if somebody else owned it: the tests may run without the right to give files away."""
    number, real = path.stat().st_ino, private_folders.os.stat_result

    def changed(computed: os.stat_result) -> os.stat_result:
        fields = list(computed)
        fields[4] = computed.st_uid + 1
        return real(fields) if computed.st_ino == number else computed

    for name in ("stat", "lstat"):
        original = getattr(Path, name)
        monkeypatch.setattr(
            Path,
            name,
            lambda self, original=original, **options: changed(original(self, **options)),
        )


def test_a_planted_library_would_run_if_nobody_looked(cache: Path) -> None:
    """What the others rely on: with the right owner and mode the planted entry is like
    any other.
    """
    plant(cache)
    assert answer() == 666


EXPOSED: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "everybody may write": lambda cache, _: cache.chmod(0o777),
    "a group may write": lambda cache, _: cache.chmod(0o770),
    "sticky, but for everybody": lambda cache, _: cache.chmod(0o1777),
    "the folder above": lambda cache, _: cache.parent.chmod(0o777),
    "belongs to another": lambda cache, patch: belongs_to_another(patch, cache),
    "the folder above belongs to another": lambda cache, patch: belongs_to_another(
        patch, cache.parent
    ),
}


@pytest.mark.parametrize("expose", EXPOSED.values(), ids=EXPOSED)
def test_a_cache_that_others_can_write_to_is_not_used_and_reported_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch, expose: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    planted = plant(cache)
    before = sorted(p.name for p in cache.rglob("*"))
    expose(cache, monkeypatch)
    with pytest.warns(
        UserWarning, match=r"cache of compiled libraries .* is not used, because .*VARIMECH_CACHE"
    ) as options:
        assert answer() == 42
    assert len(options) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answer() == 42  # from the folder of this process
    (own,) = library_cache._own
    assert not str(own).startswith(str(cache)) and own.stat().st_mode & 0o777 == 0o700
    assert len(list(own.iterdir())) == 1
    assert planted.exists() and sorted(p.name for p in cache.rglob("*")) == before
    cache_line = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)["cache"]
    assert not cache_line["fine"] and "not used, because" in cache_line["remedy"]


def test_a_link_to_somebody_elses_folder_is_followed_to_its_owner(
    cache: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    plant(elsewhere)
    elsewhere.chmod(0o777)
    shutil.rmtree(cache)
    cache.symlink_to(elsewhere)
    with pytest.warns(UserWarning, match="is not used"):
        assert answer() == 42


def test_a_link_to_a_private_folder_is_used(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "private")
    assert compiler.build_library(GOOD).is_relative_to(tmp_path / "private") and answer() == 42


@pytest.mark.parametrize("part", ["entry", library_cache.LIBRARY, library_cache.CHECKSUM])
@pytest.mark.parametrize("options", ["a link", "others may write", "belongs to another"])
def test_an_entry_that_somebody_else_could_have_made_is_built_anew(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, options: str
) -> None:
    entry = plant(cache)
    path = entry if part == "entry" else entry / part
    if options == "a link":
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
    elif options == "others may write":
        path.chmod(0o777)
    else:
        belongs_to_another(monkeypatch, path)
    assert answer() == 42


def test_an_entry_of_another_key_is_not_taken(cache: Path) -> None:
    """All in the cache may be this user's own: an entry under the name of another is still not what
    was asked for.
    """
    evil = compiler.build_library(EVIL).parent
    evil.rename(cache / compiler._key(GOOD))
    assert answer() == 42


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_what_is_built_is_private_whatever_the_umask(cache: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        library = compiler.build_library(GOOD)
    finally:
        os.umask(before)
    assert compiler.cached_library(GOOD) == library
    assert all(
        private_folders.is_private(path)
        for path in (cache, library.parent, *library.parent.iterdir())
    )


def test_a_file_system_without_modes_gets_a_folder_of_the_process(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything there has mode 777, and `chmod` is refused."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError("Operation not permitted")

    cache.mkdir()
    cache.chmod(0o777)
    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.warns(UserWarning, match="others may write to it"):
        assert answer() == 42
    assert list(cache.iterdir()) == []
