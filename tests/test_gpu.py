"""Runs on GPUs, as far as they can be tested without one: the kernel is the same text, built for
the processor.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy
from scipy import stats

import varimech as vm
from varimech.backends import batch
from varimech.backends.batch import Bundle
from varimech.core.errors import ModelError, VarimechError
from varimech.uncertainty.drawing import Drawing, Drawn
from varimech.uncertainty.gpu_drawing import GpuDrawing
from varimech.uncertainty.gpu_study import Launch
from varimech.uncertainty.parameter_distributions import distributions_of
from varimech.uncertainty.sampling import Sampling

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def pendulum(longest: float | None = None) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.1), bounds=(None, longest))
    c = m.parameter("c", 0.1, unit="N·m·s", distribution=vm.Tolerance(0.03))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=2.9 + c)
    m.revolute("O")
    m.torque("brake", "rod", lambda s: -c * s.angular_velocity("rod"))
    m.start(angle={"rod": -1.0})
    return m


OBJECTIVES = {
    "angle": vm.final(lambda s: s.angle("rod"), unit="rad"),
    "work": vm.integral(lambda s: s.angular_velocity("rod") ** 2, unit="rad²/s"),
}
SCHEMES: dict[str, dict[str, Any]] = {
    "implicit": {"step": 0.02},
    "equal steps": {"step": 0.05, "integrator": "dop853"},
    "chosen steps": {"tolerance": 1e-7, "output": 0.25},
    "chosen coordinates": {"tolerance": 1e-7, "output": 0.25, "formulation": "independent"},
}


@needs_compiler
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_gpu_gives_the_same_runs(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    m = pendulum()
    here, there = (
        m.monte_carlo(
            OBJECTIVES,
            duration=1.0,
            samples=100,
            keep=True,
            executor=executor,
            **SCHEMES[scheme],
        )
        for executor in (1, "cuda")
    )
    np.testing.assert_allclose(
        there.samples["values"], here.samples["values"], rtol=1e-11, atol=1e-12
    )
    assert there.failed == here.failed == 0


@needs_compiler
def test_a_small_gpu_takes_several_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(memory=20_000))
    study = pendulum().monte_carlo(
        OBJECTIVES, duration=0.5, step=0.05, samples=300, executor="cuda"
    )
    alone = pendulum().monte_carlo(OBJECTIVES, duration=0.5, step=0.05, samples=300)
    np.testing.assert_allclose(study.mean, alone.mean, rtol=1e-12, atol=1e-12)


def test_without_cupy_the_remedy_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ModelError, match=r"needs cupy, .* pip install 'varimech\[cuda\]'"):
        pendulum().monte_carlo(OBJECTIVES, duration=0.5, executor="cuda")


def test_without_a_gpu_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = fake_cupy()
    module.cuda.runtime.getDeviceCount = lambda: 0
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(ModelError, match="no NVIDIA GPU; leave executor= out"):
        pendulum().monte_carlo(OBJECTIVES, duration=0.5, executor="cuda")


def test_a_bundle_in_c_runs_without_varimech(tmp_path: Path) -> None:
    m = pendulum()
    m.problem(OBJECTIVES, duration=1.0, step=0.05, integrator="dop853").export(
        tmp_path / "bundle", target="c"
    )
    (tmp_path / "samples.csv").write_text("L\n0.98\n1.0\n", encoding="utf-8")
    for arguments in ([], ["samples.csv", "results.csv"]):
        ran = subprocess.run(
            [sys.executable, "-I", tmp_path / "bundle/run.py", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    rows = (tmp_path / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "angle,work,status"
    assert [row.split(",")[2] for row in rows[1:]] == ["good", "good"]
    run = m.simulate(1.0, step=0.05, integrator="dop853", parameters={"L": 0.98})
    assert float(rows[1].split(",")[0]) == pytest.approx(run.angle("rod")[-1].item(), abs=1e-12)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """With lengths up to 1.018 m; it leaves nothing behind where it is built."""
    folder, built = (tmp_path_factory.mktemp(name) for name in ("bundle", "built"))
    pendulum(longest=1.018).problem(
        OBJECTIVES, duration=1.0, step=0.05, integrator="dop853"
    ).export(folder, target="c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(built))
        loaded = Bundle(folder)
    assert not list(built.iterdir())
    return loaded


def test_a_bundle_gives_nothing_where_a_run_would_be_refused(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = [1.0, 1.018, 1.02, -0.5, 0.0, math.nan, math.inf]
    computed = bundle.run({"L": lengths})["angle"]
    assert computed.shape == (7, 2)  # the start and the end
    assert np.isfinite(computed).all(axis=1).tolist() == [True, True, *5 * [False]]
    assert "bar 'rod': mass: positive" in bundle.about["not checked"]
    monkeypatch.setitem(bundle.about, "limits", [-1.0, math.inf])
    assert np.isnan(bundle.run({"L": [1.0]})["angle"]).all()


def test_values_that_a_bundle_cannot_use(bundle: Bundle) -> None:
    with pytest.raises(SystemExit, match="as many values each"):
        bundle.run({"L": [1, 1.01], "c": [0.1, 0.1, 0.1]})
    with pytest.raises(SystemExit, match="values of 'L' must be numbers"):
        bundle.run({"L": ["long"]})
    assert bundle.run({"L": []})["work"].shape == (0, 2)
    np.testing.assert_array_equal(
        bundle.run({"L": [1.0, 1.01], "c": 0.1})["work"], bundle.run({"L": [1.0, 1.01]})["work"]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("L,c\n1.0,3\n1.01,\n", "line 3: c = '' is not a number"),
        ("L,c\n1.0\n", "line 2: 1 values for 2 parameters"),
        ("", "the first line must name parameters"),
        ("L,L\n1,1\n", "each once"),
        ("Q\n1\n", "no parameter is called"),
        ("L, c\n\n", None),
        ("L,c\n1.0,0.1\n9.0,0.1\n", None),
    ],
)
def test_what_a_bundle_reads(
    bundle: Bundle, tmp_path: Path, text: str, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "Bundle", lambda folder: bundle)
    (tmp_path / "samples.csv").write_text(text, encoding="utf-8")
    asked = [str(tmp_path / name) for name in ("samples.csv", "results.csv")]
    if message is not None:
        with pytest.raises(SystemExit, match=message):
            batch.main(asked)
        return
    assert batch.main(asked) == 0
    header, *rows = (tmp_path / "results.csv").read_text(encoding="utf-8").splitlines()
    assert header == "angle,work,status"
    assert [row.rpartition(",")[2] for row in rows] == ["good", "failed"][: len(rows)]
    assert len(rows) == max(0, len(text.splitlines()) - 1) - text.count("\n\n")


def test_a_bundle_needs_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file is a file; give a folder"):
        pendulum().problem(OBJECTIVES, duration=1.0).export(tmp_path / "file", target="c")
    with pytest.raises(ModelError, match="cannot be written: Not a directory"):
        pendulum().problem(OBJECTIVES, duration=1.0, step=0.05, integrator="dop853").export(
            tmp_path / "file" / "below", target="c"
        )


@needs_compiler
def test_a_bundle_for_gpus_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    pendulum().problem(OBJECTIVES, duration=1.0, step=0.05).export(tmp_path, target="cuda")
    bundle = Bundle(tmp_path)
    assert bundle.check() < 1e-12
    assert math.isclose(bundle.times[-1], 1.0)
    about = json.loads((tmp_path / "bundle.json").read_text(encoding="utf-8"))
    assert [p["name"] for p in about["parameters"]] == ["L", "c"]
    with pytest.raises(SystemExit, match="no parameter is called"):
        bundle.run({"x": [1.0]})


def test_a_bundle_for_gpus_names_the_package_that_is_missing(tmp_path: Path) -> None:
    pendulum().problem(OBJECTIVES, duration=1.0, step=0.05).export(tmp_path, target="cuda")
    code = (
        "import runpy, sys; sys.modules['cupy'] = None; sys.argv = ['run.py'];"
        f" runpy.run_path({str(tmp_path / 'run.py')!r}, run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "needs cupy, which is not installed; pip install" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_command_line_writes_bundles(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from varimech.cli.app import app

    ran = CliRunner().invoke(
        app,
        [
            "export",
            "five-bar",
            "--target",
            "cuda",
            "--objective",
            "psi1",
            "--step",
            "0.01",
            "--out",
            str(tmp_path),
        ],
    )
    assert ran.exit_code == 0, ran.output
    assert {p.name for p in tmp_path.iterdir()} == {"bundle.json", "kernel.cu", "run.py"}
    assert "bundle.json, kernel.cu, run.py are in" in ran.output


def drawings(kind: str, distributions: dict[str, Any]) -> tuple[Drawing, list[Drawn]]:
    """Two chunks, and the middle of a third."""
    d = distributions_of(pendulum().parameters, distributions)
    drawing = Drawing(Sampling(kind, 5, 64, len(d.names)), d, np.array([1.0, 0.1]))
    parts = [(0, 0, 64), (1, 0, 64), (37, 10, 30)]
    return drawing, [Drawn(drawing, number, 0, a, b) for number, a, b in parts]


LAWS: dict[str, dict[str, Any]] = {
    "normal": {},
    "uniform and exponential": {"L": stats.uniform(0.9, 0.2), "c": stats.expon(0.1, 0.02)},
    "Weibull and lognormal": {
        "L": stats.weibull_min(3.0, loc=0.8, scale=0.3),
        "c": stats.lognorm(0.2, scale=0.1),
    },
    "triangular and Gumbel": {
        "L": stats.triang(0.3, loc=0.9, scale=0.2),
        "c": stats.gumbel_r(0.1, 0.01),
    },
    "others": {
        "L": stats.rayleigh(0.9, 0.05),
        "c": stats.logistic(0.1, 0.003),
    },
    "only SciPy knows": {"L": stats.beta(2.0, 3.0, loc=0.9, scale=0.2)},
}


DRAWN = [*(("random", law) for law in LAWS), ("sobol", "normal"), ("latin-hypercube", "normal")]


@needs_compiler
@pytest.mark.parametrize(("kind", "law"), DRAWN)
def test_a_gpu_draws_the_same_samples(kind: str, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    drawing, chunks = drawings(kind, LAWS[law])
    here = np.concatenate([each.rows for each in chunks])
    there = GpuDrawing(drawing).rows(chunks)
    np.testing.assert_allclose(there, here, rtol=1e-14)
    assert np.ptp(here, axis=0).min() > 0


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"control": True}, {"sampling": "sobol"}])
def test_a_gpu_sums_up_the_same_statistics(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing but statistics leaves it: values of samples are summed up where they are."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    monkeypatch.setattr(Launch, "_chunk_by_chunk", None)
    studies = [
        pendulum().monte_carlo(
            OBJECTIVES,
            duration=0.5,
            step=0.05,
            samples=1000,
            executor=executor,
            **options,
        )
        for executor in (1, "cuda")
    ]
    here, there = studies
    for name in ("mean", "std"):
        np.testing.assert_allclose(there.dataset[name], here.dataset[name], rtol=1e-10, atol=1e-13)
    assert here.accumulator.summary is not None and there.accumulator.summary is not None
    for name in ("histogram", "sketch"):
        a, b = (getattr(s.accumulator.summary, name).counts for s in studies)
        np.testing.assert_array_equal(a, b)
    assert there.accumulator.count == 1000


@needs_compiler
def test_failures_on_a_gpu_are_rerun_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rods that are longer than allowed."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    here, there = (
        pendulum(longest=1.05).monte_carlo(
            OBJECTIVES,
            duration=0.2,
            step=0.05,
            samples=200,
            executor=executor,
            allowed_failures=0.9,
        )
        for executor in (1, "cuda")
    )
    assert there.failed == here.failed > 10
    np.testing.assert_allclose(there.dataset["mean"], here.dataset["mean"], rtol=1e-11, atol=1e-13)


@needs_compiler
def test_a_study_goes_on_where_the_memory_of_a_gpu_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In smaller launches, whose values are summed up here."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    launch, sizes = batch.Gpu.launch, list[int]()

    def short(self: batch.Gpu, values: Any) -> dict[str, Any]:
        sizes.append(len(values))
        if len(values) > 150:
            raise MemoryError("out of memory")
        return launch(self, values)

    options: dict[str, Any] = {"duration": 0.2, "step": 0.05, "samples": 200, "backend": "native"}
    here = pendulum().monte_carlo(OBJECTIVES, **options)
    monkeypatch.setattr(batch.Gpu, "launch", short)
    there = pendulum().monte_carlo(OBJECTIVES, executor="cuda", **options)
    assert max(sizes) == 200 and sorted(sizes)[:2] == [100, 100]
    np.testing.assert_allclose(there.dataset["mean"], here.dataset["mean"], rtol=1e-11, atol=1e-13)


def _short(*arguments: Any) -> Any:
    raise RuntimeError("CUDA_ERROR_OUT_OF_MEMORY")


@needs_compiler
@pytest.mark.parametrize(("owner", "name"), [(GpuDrawing, "rows"), (Launch, "_summed_up")])
def test_a_study_goes_on_without_memory_for_samples_or_statistics(
    owner: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are drawn, or summed up, here."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    options: dict[str, Any] = {"duration": 0.2, "step": 0.05, "samples": 50, "backend": "native"}
    here = pendulum().monte_carlo(OBJECTIVES, **options)
    monkeypatch.setattr(owner, name, _short)
    there = pendulum().monte_carlo(OBJECTIVES, executor="cuda", **options)
    np.testing.assert_allclose(there.dataset["mean"], here.dataset["mean"], rtol=1e-11, atol=1e-13)


@needs_compiler
def test_a_study_on_a_gpu_without_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    monkeypatch.setattr(batch.Gpu, "launch", _short)
    expected = "not enough memory for 25 runs at once.*; end other programs on the GPU, or leave"
    with pytest.raises(VarimechError, match=expected):
        pendulum().monte_carlo(
            OBJECTIVES, duration=0.2, step=0.05, samples=50, executor="cuda", backend="native"
        )
