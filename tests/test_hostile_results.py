"""Saved results that were damaged or changed are refused, and never fail raw; studies survive
clusters, kills and changed units.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from refusals import swinging

import varimech as vm
from test_monte_carlo import DISTRIBUTIONS, SETTINGS, mechanism, same, study
from varimech.results.seal import SEAL, is_intact
from varimech.uncertainty.study_run import StudyRunner

quiet = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # of h5netcdf, which closes what did not open


@pytest.fixture(scope="module")
def run() -> vm.Run:
    angle = vm.final(lambda s: s.angle("rod"))
    return (
        swinging().sensitivity(angle, wrt="L", duration=0.05, step=0.01, backend="interpreted").run
    )


def ask_everything(run: vm.Run) -> None:
    """What a user does with a run."""
    repr(run)
    run.position("tip", wrt="L")
    run.angle("rod")
    run.reaction("O")
    run.energy()
    run.to_dataframe()


@quiet
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_any_byte_of_a_saved_run_may_be_wrong(count: int, run: vm.Run, tmp_path: Path) -> None:
    whole, chance, refused = run.save(tmp_path / "run.nc").read_bytes(), random.Random(0), 0
    for k in range(count):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 4, 64))):
            content[chance.randrange(len(content))] = chance.randrange(256)
        if k % 5 == 0:
            content = content[: chance.randrange(len(content))]
        (tmp_path / "bad.nc").write_bytes(content)
        try:
            read = vm.load_run(tmp_path / "bad.nc")
        except vm.VarimechError:
            refused += 1
        else:  # bytes that nothing depends on: it is the run that was saved
            ask_everything(read)
            assert read.dataset.drop_attrs().equals(run.dataset.drop_attrs()) and repr(
                read
            ) == repr(run)
    assert refused >= count // 5


CHANGES: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
    "a value": lambda d: d.assign(angle=d["angle"] + 1e-12),
    "a variable less": lambda d: d.drop_vars("position"),
    "another shape": lambda d: d.isel(time=slice(2)),
    "a point of another name": lambda d: d.assign_coords(
        point=[f"{p}x" for p in d["point"].values]
    ),
    "another unit": lambda d: d.assign(angle=d["angle"].assign_attrs(units="deg")),
    "times as texts": lambda d: d.assign_coords(time=[str(t) for t in d["time"].values]),
    "a description less": lambda d: d.assign_attrs(varimech=json.dumps({"mechanism": "x"})),
    "another description": lambda d: d.assign_attrs(
        varimech=d.attrs["varimech"].replace("pendulum", "other")
    ),
    "no seal": lambda d: d.drop_attrs(deep=False).assign_attrs(varimech=d.attrs["varimech"]),
    "another seal": lambda d: d.assign_attrs({SEAL: "0" * 64}),
    "a list in its place": lambda d: d.assign_attrs(varimech="[]"),
}


@pytest.fixture(scope="module")
def saved(run: vm.Run, tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return xr.load_dataset(run.save(tmp_path_factory.mktemp("saved") / "run.nc"), engine="h5netcdf")


def test_all_that_can_be_changed_is_noticed(saved: xr.Dataset, tmp_path: Path) -> None:
    assert is_intact(saved)
    for change in CHANGES.values():
        assert not is_intact(change(saved))
    for name in ("a variable less", "a list in its place"):
        CHANGES[name](saved).to_netcdf(tmp_path / "changed.nc", engine="h5netcdf")
        with pytest.raises(vm.ModelError, match="is not a saved run"):
            vm.load_run(tmp_path / "changed.nc")


def test_a_copy_of_a_saved_run_is_read(saved: xr.Dataset, tmp_path: Path) -> None:
    """However it is stored: compressed, and with another order of its variables."""
    turned = saved[sorted(map(str, saved.data_vars), reverse=True)]
    turned.to_netcdf(tmp_path / "copy.nc", engine="h5netcdf", encoding={"position": {"zlib": True}})
    ask_everything(vm.load_run(tmp_path / "copy.nc"))


def changed_at_random(data: Any, chance: random.Random) -> Any:
    """Plain data with something else in some place."""
    other: Any = chance.choice([None, -1, 1e300, "", "x", [], {}, [[1.0]], True, {"a": []}])
    if chance.random() < 0.25 or not isinstance(data, (dict, list)) or not data:
        return other
    if isinstance(data, dict):
        key = chance.choice(list(data))
        if chance.random() < 0.2:
            return {k: v for k, v in data.items() if k != key}
        return {**data, key: changed_at_random(data[key], chance)}
    k = chance.randrange(len(data))
    return (
        data[:k]
        + ([changed_at_random(data[k], chance)] if chance.random() < 0.8 else [])
        + data[k + 1 :]
    )


def test_a_saved_certificate_that_was_changed_is_refused_or_works(tmp_path: Path) -> None:
    m = swinging()
    gradient = m.sensitivity(
        vm.final(lambda s: s.angle("rod")), wrt="L", duration=0.05, backend="interpreted"
    )
    path, chance, refused = (
        gradient.certify().save(tmp_path / "certificate.json"),
        random.Random(0),
        0,
    )
    data = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(300):
        path.write_text(json.dumps(changed_at_random(data, chance)), encoding="utf-8")
        try:
            certificate = vm.Certificate.load(path)
        except vm.VarimechError:
            refused += 1
        else:
            repr(certificate)
            certificate.sweep_panels()
    assert refused > 250
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(vm.ModelError, match="is not a saved certificate"):
        vm.Certificate.load(path)


def test_a_checkpoint_that_was_changed_is_refused(tmp_path: Path) -> None:
    request: dict[str, Any] = {"samples": 32, "chunk": 16, "keep": True, "checkpoint": tmp_path}
    study(**request)
    state = tmp_path / "state.npz"
    with np.load(state) as file:
        arrays = dict(file)
    for name, value in arrays.items():
        for other in (value[()] + 1 if value.dtype.kind in "fi" else np.array("x"), None):
            changed = (
                {**arrays, name: other}
                if other is not None
                else {k: v for k, v in arrays.items() if k != name}
            )
            np.savez(state, **changed)
            with pytest.raises(
                vm.ModelError,
                match=(
                    r"state\.npz (cannot be read|has format) .* delete (it|the file) to start again"
                ),
            ):
                study(**request)


def test_what_killed_studies_left_is_removed_and_other_files_stay(tmp_path: Path) -> None:
    request: dict[str, Any] = {"samples": 32, "chunk": 16, "keep": True, "checkpoint": tmp_path}
    study(**request)
    left = [tmp_path / ".0123abcd.state.npz", tmp_path / ".89abcdef.samples-000000000016.npz"]
    others = [
        tmp_path / name for name in (".hidden", "notes.txt", ".state.npz", ".0123abcd.notes.txt")
    ]
    for path in (*left, *others):
        path.write_bytes(b"x")
    assert study(**{**request, "samples": 48}).count == 48
    assert not any(path.exists() for path in left) and all(path.exists() for path in others)


def test_changed_units_are_noticed(tmp_path: Path) -> None:
    def go(m: vm.Mechanism, unit: str) -> None:
        m.monte_carlo(
            {"y": vm.final(lambda s: s.position("mass")[1], unit=unit)},
            DISTRIBUTIONS,
            **{**SETTINGS, "samples": 1, "checkpoint": tmp_path},
        )

    go(mechanism(), "m")
    go(mechanism(), "m")
    with pytest.raises(vm.ModelError, match="differs in units of objectives"):
        go(mechanism(), "mm")
    other = mechanism.__wrapped__()  # the cached one is that of other tests, too
    next(iter(other.parameters.values())).unit = "ft"
    with pytest.raises(vm.ModelError, match=r"differs in .*units of parameters"):
        go(other, "m")


LOCAL = """
import distributed, time
cluster = distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50)
print(cluster.scheduler_address, flush=True)
time.sleep(60)
"""


def test_a_study_whose_scheduler_is_killed_names_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    import dask

    request: dict[str, Any] = {"samples": 64 * 6, "chunk": 64, "sampling": "random"}
    path = os.pathsep.join(sys.path)
    cluster = subprocess.Popen(
        [sys.executable, "-c", LOCAL],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    add = StudyRunner._add

    def kill_after_two_chunks(self: StudyRunner, *arguments: Any) -> None:
        add(self, *arguments)
        if self.study.accumulator.taken == 2 * 64:
            cluster.kill()
            cluster.wait()

    try:
        assert cluster.stdout is not None
        with dask.config.set(
            {"distributed.comm.timeouts.connect": "1s", "distributed.client.heartbeat": "1s"}
        ):
            client = distributed.Client(cluster.stdout.readline().strip(), timeout=10)
            try:
                monkeypatch.setattr(StudyRunner, "_add", kill_after_two_chunks)
                with pytest.raises(
                    vm.StudyError, match=r"the Dask cluster was lost after 128 of 384 samples"
                ) as caught:
                    study(executor=client, checkpoint=tmp_path, **request)
            finally:
                client.close(timeout=1)
    finally:
        cluster.kill()
        cluster.communicate()
    assert f"checkpoint {tmp_path} has all of them: the same call resumes" in str(caught.value)
    assert caught.value.study.count == 128 and caught.value.__cause__ is None
    monkeypatch.setattr(StudyRunner, "_add", add)
    same(study(checkpoint=tmp_path, **request), study(**request))


class Broken:
    """A client that fails as Dask does, in ways of its own."""

    asynchronous, status = False, "running"

    def __init__(self, error: BaseException):
        self.error = error

    def submit(self, *_: Any, **__: Any) -> Any:
        raise self.error

    def cancel(self, *_: Any) -> None:
        raise self.error


Broken.__module__, Broken.__name__ = "distributed.client", "Client"


@pytest.mark.parametrize(
    "error", [OSError("gone"), TimeoutError(), RuntimeError("KilledWorker"), KeyError("x")]
)
def test_without_a_checkpoint_the_remedy_names_it(error: Exception) -> None:
    with pytest.raises(
        vm.StudyError, match=r"lost after 0 of 5 samples \(\w+: .*\); give checkpoint=… a folder"
    ):
        study(executor=Broken(error), samples=5)


def test_a_mechanism_is_sent_as_its_file() -> None:
    m = swinging()
    expected = m.simulate(0.1, step=0.01, backend="interpreted").angle("rod")
    for again in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
        assert again is not m and again.to_text() == m.to_text() and again.studies is None
        np.testing.assert_array_equal(
            again.simulate(0.1, step=0.01, backend="interpreted").angle("rod"), expected
        )
    m.force("push", "tip", lambda s: (s.time, 0))
    with pytest.raises(
        vm.ModelError,
        match=r"'pendulum' cannot be pickled or copied.*to_text.*force 'push'.*write it as a text",
    ):
        pickle.dumps(m)
