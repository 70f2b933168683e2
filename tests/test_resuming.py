"""Studies that were broken off go on where they were, to the same bits; those that are something
else do not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oscillator import oscillator
from pendulum_exact import OBJECTIVES
from scipy.stats import uniform

import varimech as vm
from test_monte_carlo import SETTINGS, mechanism, same, study
from varimech.uncertainty.checkpoint import Checkpoint

REQUEST: dict[str, Any] = {
    "samples": 330,
    "chunk": 32,
    "sampling": "sobol",
    "control": True,
    "keep": True,
}
KILLED = """
import os, signal
from varimech.uncertainty import checkpoint
import test_monte_carlo, test_resuming

replace, states = os.replace, []

def replace_or_die(source, target):
    states.append(str(target).endswith("state.npz"))
    if sum(states) == 7:
        os.kill(os.getpid(), signal.SIGKILL)  # the new state is written, and not yet in its place
    replace(source, target)

checkpoint.os.replace = replace_or_die
test_monte_carlo.study(checkpoint={folder!r}, **test_resuming.REQUEST)
"""


INTERRUPTED = """
import os, signal, threading
from varimech.backends.sampler import Sampler
from varimech.solving.solver import Solver
import test_monte_carlo

ran, interrupted = [], []
request = {request!r}

def counted(original, rows_of):
    def counting(self, *arguments, **options):
        if threading.current_thread() is not threading.main_thread():
            ran.append(rows_of(arguments))
            if len(ran) == 10:
                interrupted.append(sum(ran))
                os.kill(os.getpid(), signal.SIGINT)
        return original(self, *arguments, **options)
    return counting

test_monte_carlo.study(samples=5, **request)
if request["backend"] == "native":
    Sampler.__call__ = counted(Sampler.__call__, lambda arguments: len(arguments[0]))
else:
    Solver.run = counted(Solver.run, lambda arguments: 1)
try:
    test_monte_carlo.study(samples=10**6, **request)
except KeyboardInterrupt:
    print(sum(ran) - interrupted[0])
"""


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize(
    ("backend", "options"),
    [("native", {"step": 2e-4, "every": 5000}), ("interpreted", {"step": 0.1, "every": 10})],
)
def test_an_interrupt_stops_within_a_chunk_and_leaves_what_was_done(
    backend: str, options: dict[str, Any], tmp_path: Path
) -> None:
    request = {
        "chunk": 1 << 14,
        "executor": 2,
        "checkpoint": str(tmp_path),
        "backend": backend,
        **options,
    }
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    script = INTERRUPTED.replace("{request!r}", repr(request))
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < 1 << 13
    assert study(samples=5, **request).count == 5
    assert study(samples=6, **request).count == 6


def test_a_study_that_was_killed_goes_on(tmp_path: Path) -> None:
    whole, folder = study(**REQUEST), tmp_path / "study"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    script = KILLED.replace("{folder!r}", repr(str(folder)))
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with np.load(folder / "state.npz") as state:
        assert state["taken"] == 6 * 32
    resumed = study(checkpoint=folder, **REQUEST)
    same(whole, resumed)
    np.testing.assert_array_equal(whole.samples["values"], resumed.samples["values"])
    np.testing.assert_array_equal(whole.samples["parameters"], resumed.samples["parameters"])
    assert (
        study(checkpoint=folder, **REQUEST).seconds["run"] == resumed.seconds["run"]
    )  # there is nothing left to do


def test_a_study_can_be_extended(tmp_path: Path) -> None:
    request: dict[str, Any] = {**REQUEST, "checkpoint": tmp_path}
    study(**{**request, "samples": 100})  # three chunks and a part of one
    extended, whole = study(**request), study(**REQUEST)
    np.testing.assert_array_equal(extended.samples["values"], whole.samples["values"])
    np.testing.assert_allclose(
        extended.mean, whole.mean, rtol=1e-13
    )  # a chunk in two parts is added up in another order
    np.testing.assert_array_equal(extended.histogram(), whole.histogram())
    np.testing.assert_array_equal(extended.quantile([0.1, 0.5]), whole.quantile([0.1, 0.5]))


def test_a_longer_study_keeps_its_chunks(tmp_path: Path) -> None:
    short = study(samples=64, checkpoint=tmp_path)
    assert short.sampling.size == 4
    assert study(samples=10_000, checkpoint=tmp_path, target=1.0).sampling.size == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, r"differs in seed \(0 there, 1 here\)"),
        ({"sampling": "random"}, "differs in sampling"),
        ({"chunk": 64}, r"chunk \(32 there, 64 here\)"),
        ({"control": False}, "differs in control"),
        ({"keep": False}, "differs in keep"),
        ({"step": 0.005, "every": 100}, r"step \(0.01 there, 0.005 here\); every"),
        ({"integrator": None}, "differs in .*method"),
        ({"duration": 2.0}, "differs in duration"),
    ],
)
def test_another_study_does_not_go_on_from_there(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    request = {**REQUEST, "samples": 1, "checkpoint": tmp_path}
    study(**request)
    with pytest.raises(vm.ModelError, match=message):
        study(**{**request, **change})


def test_neither_do_other_objectives_nor_distributions(tmp_path: Path) -> None:
    def go(objectives: Any, width: float, **options: Any) -> None:
        settings = {**SETTINGS, "samples": 1, "checkpoint": tmp_path, **options}
        mechanism().monte_carlo(objectives, {"L": vm.Tolerance(width)}, **settings)

    go(OBJECTIVES, 0.01)
    go(
        {name: vm.final(o.final, unit=o.unit) for name, o in OBJECTIVES.items() if o.final}, 0.01
    )  # the same, written anew
    with pytest.raises(vm.ModelError, match="differs in distributions"):
        go(OBJECTIVES, 0.02)
    other = {**OBJECTIVES, "y": vm.final(lambda s: 2 * s.position("mass")[1])}
    with pytest.raises(vm.ModelError, match="differs in bodies, joints, forces or objectives"):
        go(other, 0.01)


def test_a_state_that_cannot_be_read(tmp_path: Path) -> None:
    study(samples=10, checkpoint=tmp_path)
    whole = (tmp_path / "state.npz").read_bytes()
    for broken in (b"PK\x03\x04 broken", b"", whole[: len(whole) // 2], whole[:-20], b"text"):
        (tmp_path / "state.npz").write_bytes(broken)
        with pytest.raises(vm.ModelError, match=r"state.npz cannot be read .* delete it"):
            study(samples=10, checkpoint=tmp_path)
    with pytest.raises(vm.ModelError, match="checkpoint = 5 must be the path of a folder"):
        study(samples=10, checkpoint=5)
    with pytest.raises(vm.ModelError, match="cannot be created"):
        study(samples=10, checkpoint=tmp_path / "state.npz" / "below")


def test_a_state_of_an_older_format_is_refused(tmp_path: Path) -> None:
    study(samples=10, checkpoint=tmp_path)
    path = tmp_path / "state.npz"
    with np.load(path) as arrays:
        older = {
            name: arrays[name]
            for name in arrays.files
            if name != "format" and not name.startswith("sketch")
        }
    np.savez(path, **older)
    with pytest.raises(
        vm.ModelError,
        match=(
            r"state.npz has format 1, of another version of Varimech; .* delete the file to start"
            r" again"
        ),
    ):
        study(samples=20, checkpoint=tmp_path)


def test_two_studies_at_once_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        Checkpoint(tmp_path).alone(),
        pytest.raises(
            vm.ModelError,
            match=(
                r"another study is running in .*; wait until it has ended, or give another folder"
            ),
        ),
    ):
        study(samples=10, checkpoint=tmp_path)
    assert (
        study(samples=10, checkpoint=tmp_path).count
        == study(samples=10, checkpoint=tmp_path).count
        == 10
    )


def test_samples_that_are_missing_or_broken(tmp_path: Path) -> None:
    request: dict[str, Any] = {**REQUEST, "samples": 80, "checkpoint": tmp_path}
    (tmp_path / "samples-notes.npz").write_text("those of somebody else", encoding="utf-8")
    computed, path = study(**request), tmp_path / "samples-000000000032.npz"
    assert computed.samples.sizes["sample"] == 80
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"text"):
        path.write_bytes(broken)
        with pytest.raises(
            vm.ModelError, match=r"samples-000000000032\.npz cannot be read .* delete the folder"
        ):
            computed.samples
    path.unlink()
    with pytest.raises(
        vm.ModelError,
        match=r"samples-000000000032\.npz is missing, with the samples from number 32 on",
    ):
        computed.samples
    path.write_bytes((tmp_path / "samples-000000000064.npz").read_bytes())
    with pytest.raises(vm.ModelError, match=r"samples-000000000048\.npz is missing"):
        computed.samples


def test_samples_of_another_study_are_not_taken_for_its_own(tmp_path: Path) -> None:
    request: dict[str, Any] = {**REQUEST, "checkpoint": tmp_path}
    study(**{**request, "samples": 40, "chunk": 8})
    (tmp_path / "samples-by-hand.npz").touch()
    (tmp_path / "state.npz").unlink()
    computed = study(**{**request, "samples": 64}).samples
    np.testing.assert_array_equal(
        computed["values"], study(**{**REQUEST, "samples": 64}).samples["values"]
    )
    assert {p.name for p in tmp_path.glob("samples-*")} == {
        "samples-000000000000.npz",
        "samples-000000000032.npz",
        "samples-by-hand.npz",
    }


def test_a_study_that_was_refused_is_refused_again(tmp_path: Path) -> None:
    m, objective = oscillator(a=(0.0, 1.0)), vm.final(lambda s: s.parameter("a"))
    for _ in range(2):
        with pytest.raises(vm.StudyError, match="of 40 samples failed"):
            m.monte_carlo(
                objective,
                {"a": uniform(0.5, 0.6)},
                duration=0.1,
                step=0.1,
                samples=40,
                checkpoint=tmp_path,
                allowed_failures=0.01,
            )


def test_a_study_that_failed_goes_on_when_more_may_fail(tmp_path: Path) -> None:
    m, objective = oscillator(a=(0.0, 1.0)), vm.final(lambda s: s.parameter("a"))
    request: dict[str, Any] = {
        "duration": 0.1,
        "step": 0.1,
        "samples": 200,
        "chunk": 8,
        "distributions": {"a": uniform(0.5, 0.6)},
    }
    whole = m.monte_carlo(objective, allowed_failures=0.5, **request)
    with pytest.raises(vm.StudyError, match="its checkpoint is kept"):
        m.monte_carlo(objective, checkpoint=tmp_path, **request)
    resumed = m.monte_carlo(objective, checkpoint=tmp_path, allowed_failures=0.5, **request)
    assert resumed.failures == whole.failures
    np.testing.assert_array_equal(resumed.mean, whole.mean)
