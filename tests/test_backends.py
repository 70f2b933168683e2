"""Both backends give the same bits; the compiled one is built once, survives damage and rivals, and
can be done without.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from pendulums import pendulum
from typer.testing import CliRunner

import varimech as vm
from varimech.backends import background, compiler, library_cache, machine, native, runner
from varimech.benchmarks import five_bar
from varimech.cli import doctor
from varimech.cli.app import app

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VARIMECH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library_cache, "_own", [])
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """One entry for each call of the compiler, once it has done what tests before asked for."""
    background.in_background(lambda: None).wait()
    calls: list[Path] = []
    build = compiler._compile

    def counted(command: list[str], source: str, folder: Path, *options: bool) -> None:
        calls.append(folder)
        build(command, source, folder, *options)

    monkeypatch.setattr(compiler, "_compile", counted)
    return calls


def test_backends_agree_to_the_last_bit() -> None:
    m = five_bar.mechanism()
    native, interpreted = (
        m.sensitivity(five_bar.objectives(), duration=0.5, step=1e-3, every=7, backend=backend)
        for backend in ("native", "interpreted")
    )
    assert native.time[-1] == interpreted.time[-1] == pytest.approx(0.5)
    np.testing.assert_array_equal(native.time, interpreted.time)
    np.testing.assert_array_equal(native.value_history, interpreted.value_history)
    np.testing.assert_array_equal(native.gradient_history, interpreted.gradient_history)
    np.testing.assert_array_equal(
        native.run.position("2", wrt="all"), interpreted.run.position("2", wrt="all")
    )
    assert native.run.info["iterations"] == interpreted.run.info["iterations"]
    assert native.run.info["residuals"] == interpreted.run.info["residuals"]


def test_other_steps_lengths_and_values_never_compile_again(compilations: list[Path]) -> None:
    m = pendulum()
    for duration, step, L in (
        (0.1, 1e-2, 1.0),
        (0.5, 1e-2, 1.0),
        (0.1, 1e-3, 1.0),
        (0.1, 1e-2, 2.0),
    ):
        m.simulate(duration, step=step, parameters={"L": L}, backend="native")
    assert len(compilations) == 1


def test_an_equal_model_finds_the_library_in_the_cache(compilations: list[Path]) -> None:
    for _ in range(2):
        pendulum().simulate(0.1, step=1e-2, backend="native")
    assert len(compilations) == 1


def test_a_damaged_cache_entry_is_built_anew(own_cache: Path, compilations: list[Path]) -> None:
    reference = pendulum().simulate(0.1, step=1e-2, backend="native").angle("rod")
    library = next(own_cache.glob("*/program.so"))
    content = library.read_bytes()
    library.unlink()  # this process has the old one mapped
    library.write_bytes(content[:1000])
    again = pendulum().simulate(0.1, step=1e-2, backend="native").angle("rod")
    np.testing.assert_array_equal(again, reference)
    assert len(compilations) == 2


def test_threads_building_at_once_all_get_a_library(own_cache: Path) -> None:
    source = "double vm_answer(void) { return 42; }"
    with ThreadPoolExecutor(8) as pool:
        libraries = list(pool.map(compiler.build_library, [source] * 8))
    assert len(set(libraries)) == 1
    assert [entry.name for entry in own_cache.iterdir()] == [libraries[0].parent.name]


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null/below", __file__])
def test_a_cache_that_cannot_be_written_does_not_stop_a_run(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[Path]
) -> None:
    """One folder of this process takes its place."""
    monkeypatch.setenv("VARIMECH_CACHE", folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(library_cache, "_reported", set())
    with pytest.warns(UserWarning, match="libraries .* cannot be written"):
        pendulum().simulate(0.1, step=1e-2, backend="native")
    assert pendulum().simulate(0.1, step=1e-2, backend="native").time.size == 11
    assert len(compilations) == 1 and len(list(library_cache._own[0].glob("*/program.so"))) == 1


def answer(source: str) -> int:
    return int(compiler.load_library(source).vm_answer())


def test_processes_filling_one_cache_at_once_all_get_their_libraries(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIMECH_CACHE_MB", "0")  # each one makes room after each build
    sources = [
        f'__attribute__((visibility("default"))) int vm_answer(void) {{ return {k}; }}'
        for k in range(3)
    ]
    with multiprocessing.get_context("fork").Pool(6) as pool:
        computed = pool.map(answer, [sources[k % 3] for k in range(18)], chunksize=1)
    assert computed == [k % 3 for k in range(18)]
    assert sorted(p.name for p in own_cache.iterdir()) == sorted(
        compiler._key(source) for source in sources
    )


@pytest.fixture
def instantly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that takes no time: libraries of 1 MB each."""

    def compile_nothing(command: list[str], source: str, folder: Path, *options: bool) -> None:
        (folder / library_cache.LIBRARY).write_bytes(bytes(1_000_000 - 64))

    monkeypatch.setattr(compiler, "_compile", compile_nothing)


@pytest.mark.usefixtures("instantly")
@pytest.mark.parametrize(
    "damage", [b"", b"\xff\xfe", b"0" * 64], ids=["empty", "no text", "another"]
)
def test_an_entry_with_another_checksum_is_made_anew(damage: bytes) -> None:
    checksum = compiler.build_library("a").with_name(library_cache.CHECKSUM)
    whole = checksum.read_bytes()
    checksum.write_bytes(damage)
    assert compiler.cached_library("a") is None
    compiler.build_library("a")
    assert checksum.read_bytes() == whole


@pytest.mark.usefixtures("instantly")
def test_what_was_not_used_for_longest_leaves_the_cache(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIMECH_CACHE_MB", "3")
    now = time.time()
    for k, name in enumerate("abc"):
        os.utime(compiler.build_library(name).parent, (now - 1000 + k, now - 1000 + k))
    assert compiler.build_library("a") == compiler.cached_library("a")  # used again
    compiler.build_library("d")
    assert [name for name in "abcd" if compiler.cached_library(name)] == ["a", "c", "d"]
    assert sum(size for _, size in library_cache.entries_of(own_cache).values()) == 3_000_000


@pytest.mark.usefixtures("instantly")
def test_what_killed_processes_left_leaves_the_cache(own_cache: Path) -> None:
    left, at_work = own_cache / ".building-old", own_cache / ".building-now"
    for folder in (left, at_work):
        folder.mkdir(parents=True)
    os.utime(left, (0, 0))
    compiler.build_library("a")
    assert not left.exists() and at_work.exists()


def fresh_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the machine nor the one for vectors of samples is built."""
    sources = {"_machine": machine.machine_source, "_lane_machine": machine.lane_machine_source}
    for name, source in sources.items():
        monkeypatch.setattr(machine, name, machine._Machine(source, 1.5))


def test_a_cache_without_a_size_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("VARIMECH_CACHE_MB", "much")
    with pytest.raises(
        vm.VarimechError, match="VARIMECH_CACHE_MB = 'much' must be a number of megabytes"
    ):
        pendulum().simulate(0.1, step=1e-2, backend="native")
    monkeypatch.setattr(compiler, "_explained", False)
    fresh_machines(monkeypatch)
    for _ in range(2):
        assert pendulum().simulate(0.1, step=1e-2).time.size == 11
    assert len(caplog.messages) == 1 and "VARIMECH_CACHE_MB = 'much'" in caplog.messages[0]
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert "must be a number of megabytes" in json.loads(result.stdout)["cache"]["remedy"]


def test_killing_a_build_leaves_a_usable_cache(own_cache: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow-cc"
    slow.write_text('#!/bin/sh\ntouch "$0.started"\nsleep 60\n')
    slow.chmod(0o755)
    program = (
        "from test_backends import pendulum; pendulum().simulate(0.1, step=1e-2, backend='native')"
    )
    environment = {
        **os.environ,
        "CC": str(slow),
        "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parent, *sys.path))),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, start_new_session=True
    )
    deadline = time.monotonic() + 30
    while not Path(f"{slow}.started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert Path(f"{slow}.started").exists()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert pendulum().simulate(0.1, step=1e-2, backend="native").time.size == 11


def hide_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(compiler, "_explained", False)
    fresh_machines(monkeypatch)


def test_without_a_compiler_auto_interprets_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hide_compilers(monkeypatch)
    with caplog.at_level(logging.WARNING, logger="varimech"):
        for _ in range(2):
            assert pendulum().simulate(0.1, step=1e-2).time.size == 11
    assert len(caplog.messages) == 1
    assert "ziglang" in caplog.messages[0]


def test_without_a_compiler_native_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide_compilers(monkeypatch)
    with pytest.raises(
        vm.VarimechError, match=r"backend 'native' is not available: no C compiler found.*ziglang"
    ):
        pendulum().simulate(0.1, step=1e-2, backend="native")


def test_a_compiler_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(vm.VarimechError, match="false failed"):
        pendulum().simulate(0.1, step=1e-2, backend="native")


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name != "posix", reason="a script")
def test_a_compiler_that_hangs_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CC", script(tmp_path / "hanging-cc", "sleep 5"))
    monkeypatch.setenv("VARIMECH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "_explained", False)
    fresh_machines(monkeypatch)
    monkeypatch.setattr(machine, "MACHINE_SECONDS", 0.1)
    waited, wait = list[float](), background.Work.wait

    def noted(self: background.Work, timeout: float | None = None) -> bool:
        waited.append(timeout or 0.0)
        return wait(self, timeout)

    monkeypatch.setattr(background.Work, "wait", noted)
    for _ in range(2):
        assert pendulum().simulate(0.1, step=1e-2).time.size == 11
    assert 0 < waited[0] <= 0.1 and not any(waited[1:])
    assert len(caplog.messages) == 1 and "has not finished within 0.1 s" in caplog.messages[0]


BROKEN = {
    "makes nothing": ("true", "cannot build in"),
    "makes no library": (
        'for last; do :; done; shift $(($# - 2)); echo text > "$1"',
        "builds cannot be loaded",
    ),
    "dies": ("kill -9 $$", "failed"),
    "speaks no UTF-8": ("printf '\\377' >&2; exit 1", "failed"),
}


@pytest.mark.parametrize("options", BROKEN)
def test_a_broken_compiler_is_reported_and_done_without(
    options: str,
    own_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    text, words = BROKEN[options]
    monkeypatch.setenv("CC", script(tmp_path / "broken-cc", text))
    monkeypatch.setattr(compiler, "_explained", False)
    fresh_machines(monkeypatch)
    with pytest.raises(vm.VarimechError, match=words):
        pendulum().simulate(0.1, step=1e-2, backend="native")
    assert pendulum().simulate(0.1, step=1e-2).time.size == 11
    assert len(caplog.messages) == 1 and not list(own_cache.glob("*/program.so"))


def test_a_full_disk_is_reported_and_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiler, "_compile", full)
    monkeypatch.setattr(runner, "COMPILE_SECONDS", -1e9)
    with pytest.raises(
        vm.VarimechError, match=r"No space left on device; set VARIMECH_CACHE to a folder with room"
    ):
        pendulum().simulate(0.1, step=1e-2, backend="native")
    assert pendulum().simulate(0.1, step=1e-2).time.size == 11


@pytest.mark.parametrize("given", [" ", "gcc 'unclosed", "/nowhere/cc"])
def test_a_compiler_that_is_no_command_is_passed_over(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    usual = compiler.find_compiler()
    monkeypatch.setenv("CC", given)
    assert compiler.find_compiler() == usual


def test_unknown_backend() -> None:
    with pytest.raises(vm.ModelError, match="no backend is called 'nativ'; did you mean 'native'"):
        pendulum().simulate(0.1, backend="nativ")


def test_auto_compiles_in_the_background_what_takes_long(
    compilations: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert background.in_background(lambda: None).wait(60)  # builds of other tests have ended
    compilations.clear()
    begun: list[background.Work] = []

    def in_background(task: Callable[[], None], estimated: float) -> background.Work:
        begun.append(background.in_background(task, estimated))
        return begun[-1]

    monkeypatch.setattr(native, "in_background", in_background)
    m = pendulum()
    m.simulate(0.01, step=1e-3)
    assert not begun
    monkeypatch.setattr(runner, "PATIENCE", 0.0)  # as if the run had taken long
    for _ in range(2):
        m.simulate(0.01, step=1e-3)
        assert len(begun) == 1 and begun[0].wait(60) and len(compilations) == 1


@pytest.mark.builds_in_background
@pytest.mark.skipif(os.name != "posix", reason="a script")
@pytest.mark.parametrize("text", ["kill -9 $$", "sleep 60"], ids=["killed", "hangs"])
def test_a_build_in_the_background_that_fails_is_done_without(
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine.machine()
    monkeypatch.setenv("CC", script(tmp_path / "broken-cc", text))
    monkeypatch.setattr(compiler, "LONGEST_BUILD", 0.5)
    monkeypatch.setattr(compiler, "_explained", False)
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    runs = []
    for m in (pendulum(), pendulum()):
        for _ in range(2):
            runs.append(m.simulate(0.01, step=1e-3))
            assert background.in_background(lambda: None).wait(20)  # after the build
    interpreted = pendulum().simulate(0.01, step=1e-3, backend="interpreted").angle("rod")
    for run in runs:
        assert run.info["execution"]["by"] == "bytecode"
        np.testing.assert_array_equal(run.angle("rod"), interpreted)
    assert len(caplog.messages) == 1
    assert (
        "runs continue as bytecode" in caplog.messages[0]
        and "broken-cc failed" in caplog.messages[0]
    )


@pytest.mark.builds_in_background
def test_a_run_describes_what_executed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, advance = Event(), Event(), native.NativeProgram.advance
    m = pendulum()
    monkeypatch.setattr(runner, "PATIENCE", 0.0)

    def hold() -> None:
        begun.set()
        go_on.wait(20)

    background.in_background(hold, 3.0)
    assert begun.wait(20)
    waits = m.simulate(0.01, step=1e-3).info["execution"]
    assert waits["by"] == "bytecode" and waits["building"]["seconds"] == 0
    assert waits["building"]["estimated"] > 0
    assert background._build_text() in (
        f"compiling in the background for {k} of about 3 s" for k in range(20)
    )
    go_on.set()

    def wait_and_advance(self: native.NativeProgram, run: Any, last: int) -> None:
        advance(self, run, last)
        assert self._work is not None and self._work.wait(60)

    monkeypatch.setattr(native.NativeProgram, "advance", wait_and_advance)
    execution = m.simulate(0.2, step=1e-3).info["execution"]  # two slices
    assert execution == {"by": "bytecode, then compiled code"}
    assert m.simulate(0.2, step=1e-3).info["execution"] == {"by": "compiled code"}
    assert background._build_text() == ""
    interpreted = m.simulate(0.01, step=1e-3, backend="interpreted").info["execution"]
    assert interpreted == {"by": "interpreter"}


def test_an_error_in_the_background_does_not_stop_what_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    failed, done = background.in_background(fail), background.in_background(lambda: None)
    assert failed.wait(20) and done.wait(20)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.builds_in_background
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_fork_in_the_middle_of_a_build_can_run_and_leaves_it_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine.machine()
    within, go_on = Event(), Event()
    text, main = native.NativeProgram.functions_source, threading.current_thread()

    def held(self: native.NativeProgram, *given: Any, **options: Any) -> str:
        if threading.current_thread() is not main:
            within.set()
            go_on.wait(30)
        return text(self, *given, **options)

    monkeypatch.setattr(native.NativeProgram, "functions_source", held)
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    with library_cache_folder() as building:
        expected = pendulum().simulate(0.01, step=1e-3).angle("rod").to_numpy()
        assert within.wait(20)
        child = os.fork()
        if child == 0:  # another program of the class whose code is being written
            left_alone = not compiler._watched
            monkeypatch.setattr(runner, "SEARCH_SECONDS", 0.0)
            angle = pendulum().simulate(0.01, step=1e-3).angle("rod").to_numpy()
            library_cache._remove_temporary()  # as when Python ends
            os._exit(0 if left_alone and (angle == expected).all() else 1)
        status = ended(child)
        go_on.set()
        assert status == 0 and building.is_dir()


@contextmanager
def library_cache_folder() -> Iterator[Path]:
    """A folder as of a build that is under way."""
    folder = library_cache._temporary_folder(library_cache.BUILDING)
    yield folder
    folder.rmdir()
    library_cache._temporary.discard(folder)


def ended(process: int) -> int | None:
    """Status of a child; None if it had to be ended."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if (reaped := os.waitpid(process, os.WNOHANG))[0]:
            return reaped[1]
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


@pytest.mark.parametrize("backend", ["native", "interpreted"])
def test_failures_come_back_with_step_and_time(backend: str) -> None:
    m = pendulum(lambda s: (vm.sqrt(0.0545 - s.time), 0))
    with pytest.raises(vm.SimulationError, match="look at 'force'") as caught:
        m.simulate(1.0, step=1e-3, backend=backend)
    assert caught.value.time == pytest.approx(
        0.0545, abs=1e-6
    )  # where steps end, because the root is steep there
    assert caught.value.worst == "force"


def test_runs_in_threads_are_independent() -> None:
    m = pendulum()
    lengths = np.linspace(0.5, 2.0, 16)
    alone = [
        m.simulate(0.2, step=1e-3, parameters={"L": L}, backend="native").angle("rod").to_numpy()
        for L in lengths
    ]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(
                lambda L: (
                    m.simulate(0.2, step=1e-3, parameters={"L": L}, backend="native")
                    .angle("rod")
                    .to_numpy()
                ),
                lengths,
            )
        )
    np.testing.assert_array_equal(alone, together)


def test_doctor_finds_what_is_there(own_cache: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0, result.output
    findings = json.loads(result.stdout)
    assert findings["native backend"]["found"] == "builds"
    assert str(own_cache) in findings["cache"]["found"]
    assert findings["varimech"]["found"] == "0.2.0"
    assert findings["bytecode interpreter"]["found"].startswith("not built yet")
    assert findings["builds under way"]["found"] == "none"


def test_doctor_finds_the_interpreter_and_builds(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "machine_source", lambda: "int x;")
    library = compiler.build_library("int x;")
    (own_cache / f"{library_cache.BUILDING}1").mkdir()
    findings = {f.what: f.status for f in (doctor._machine(), doctor._builds())}
    assert findings["bytecode interpreter"] == f"built: {library}"
    assert findings["builds under way"].startswith("for ")


def test_doctor_has_a_remedy_for_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_compilers(monkeypatch)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "ziglang" in result.stdout
