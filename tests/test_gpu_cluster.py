"""Studies on the GPUs of a Dask cluster, as far as they can be tested without one: each worker has a
simulated GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import fake_gpu
import numpy as np
import pytest

import varimech as vm
from varimech.uncertainty import gpu_cluster

pytestmark = pytest.mark.skipif(fake_gpu.COMPILER is None, reason="no C++ compiler")
OBJECTIVES = {"angle": vm.final(lambda s: s.angle("rod"), unit="rad")}
OPTIONS: dict[str, Any] = {"duration": 0.2, "step": 0.05, "samples": 500, "chunk": 32, "seed": 3}


def pendulum(longest: float | None = None) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.1), bounds=(None, longest))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


def put_gpu(present: bool) -> None:
    """Into the process that calls it."""
    if not present:
        sys.modules["cupy"] = None  # type: ignore[assignment]
        return
    module: Any = fake_gpu.fake_cupy()
    module.launches = 0
    launch = fake_gpu.Kernel.__call__

    def counted(self: fake_gpu.Kernel, *arguments: Any, **options: Any) -> None:
        module.launches += 1
        launch(self, *arguments, **options)

    fake_gpu.Kernel.__call__ = counted  # type: ignore[method-assign]
    sys.modules["cupy"] = module


def launches() -> int:
    module: Any = sys.modules["cupy"]
    return int(module.launches)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_every_worker_uses_its_gpu(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same samples as on one GPU; statistics are merged in other groups."""
    client.run(put_gpu, True)
    monkeypatch.setitem(sys.modules, "cupy", fake_gpu.fake_cupy())
    monkeypatch.setattr(gpu_cluster, "GROUPED", 64)
    one, several = (
        pendulum().monte_carlo(OBJECTIVES, executor=executor, **OPTIONS)
        for executor in ("cuda", vm.GpuWorkers(client))
    )
    assert min(client.run(launches).values()) > 0
    assert several.count == one.count == 500
    assert one.std[-1].min() > 0
    for name in ("mean", "std"):
        np.testing.assert_allclose(several.dataset[name], one.dataset[name], rtol=1e-12)
    assert one.accumulator.summary is not None and several.accumulator.summary is not None
    np.testing.assert_array_equal(
        several.accumulator.summary.sketch.counts, one.accumulator.summary.sketch.counts
    )


def test_failures_on_workers_are_rerun_here(client: Any) -> None:
    """Rods that are longer than allowed; the reference is a study on threads."""
    client.run(put_gpu, True)
    here, there = (
        pendulum(longest=1.05).monte_carlo(
            OBJECTIVES, executor=executor, allowed_failures=0.9, keep=True, **OPTIONS
        )
        for executor in (1, vm.GpuWorkers(client))
    )
    assert there.failed == here.failed > 10
    np.testing.assert_allclose(there.samples["values"], here.samples["values"], rtol=1e-11)


def test_workers_without_a_gpu_are_an_error(client: Any) -> None:
    client.run(put_gpu, False)
    with pytest.raises(vm.ModelError, match="needs cupy, which is not installed"):
        pendulum().monte_carlo(OBJECTIVES, executor=vm.GpuWorkers(client), **OPTIONS)


def test_only_clients_have_workers() -> None:
    with pytest.raises(vm.ModelError, match=r"client = 'cuda' must be a dask.distributed.Client"):
        vm.GpuWorkers("cuda")
