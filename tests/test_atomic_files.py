"""Whatever happens while a file is written, it is whole or not there, and nothing lies
beside it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.figure import Figure
from oscillator import oscillator
from typer.testing import CliRunner

import varimech as vm
from test_interrupts import interrupt
from varimech.benchmarks.outcome import Checked
from varimech.cli.app import app
from varimech.core.atomic_files import atomic_write, write_text
from varimech.interchange import c_source


def test_a_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    for text in ("first", "second"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text and os.listdir(path.parent) == ["file.txt"]
    path.chmod(0o600)
    write_text(path, "private")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError()], ids=repr
)
def test_what_fails_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file.txt"
    path.write_text("before", encoding="utf-8")
    stated = vm.ModelError if isinstance(error, OSError) else type(error)

    def fail() -> None:
        with atomic_write(path) as beside:
            beside.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(stated) as caught:
        fail()
    assert os.listdir(tmp_path) == ["file.txt"] and path.read_text(encoding="utf-8") == "before"
    if stated is vm.ModelError:
        assert str(caught.value) == f"{path} cannot be written: No space left on device"


def test_a_full_disk_is_reported() -> None:
    with pytest.raises(vm.ModelError, match="/dev/full cannot be written: No space left on device"):
        write_text("/dev/full", "text")


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, place = tmp_path / "link", tmp_path / "there" / "file"
    link.symlink_to(place)
    write_text(link, "text")
    assert link.is_symlink() and place.read_text(encoding="utf-8") == "text"
    write_text("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def stopped_in(owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at the end of a call, when something is written already."""
    function: Callable[..., Any] = getattr(owner, name)

    def stopped(*arguments: Any, **options: Any) -> Any:
        computed = function(*arguments, **options)
        interrupt()
        return computed

    monkeypatch.setattr(owner, name, stopped)


def save_certificate(path: Path) -> object:
    certificate: Any = SimpleNamespace(to_json=dict, text=lambda *_: "")
    return vm.Certificate.save(certificate, path)


WRITERS: dict[str, tuple[Any, str, Callable[[Path], object]]] = {
    "model": (Path, "write_text", lambda path: vm.Mechanism("m").to_file(path / "m.yaml")),
    "netCDF": (
        Path,
        "write_bytes",
        lambda path: oscillator().simulate(0.01, step=1e-3).save(path / "r.nc"),
    ),
    "report": (
        Path,
        "write_text",
        lambda path: vm.report(path / "r.html", oscillator().simulate(0.01, step=1e-3)),
    ),
    "certificate": (Path, "write_text", lambda path: save_certificate(path / "c.json")),
    "C": (c_source, "write_text", lambda path: oscillator().equations().to_c(path)),
}


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize("which", WRITERS)
def test_ctrl_c_leaves_no_half_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    owner, name, write = WRITERS[which]
    stopped_in(owner, name, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path)
    assert all(path.suffix == ".h" for path in tmp_path.iterdir())


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize("at", ["write", "savefig"])
def test_ctrl_c_leaves_no_half_of_the_files_of_a_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    stopped_in(Checked if at == "write" else Figure, at, monkeypatch)
    result = CliRunner().invoke(app, ["benchmark", "pendulum", "--out", str(tmp_path)])
    assert result.exit_code == 130 and os.listdir(tmp_path) == []


@pytest.mark.usefixtures("ctrl_c_heard")
def test_ctrl_c_leaves_no_half_of_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_in(Figure, "savefig", monkeypatch)
    result = CliRunner().invoke(app, ["topology", "pendulum", "--out", str(tmp_path / "t.png")])
    assert result.exit_code == 130 and os.listdir(tmp_path) == []
