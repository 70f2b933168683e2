"""Equations of motion in other hands (CasADi's integrator, a C compiler), and results in files that
others read.
"""

from __future__ import annotations

import csv
import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
import xarray as xr
from loops import add_four_bar
from markdown_pages import DOCS, run_page
from scipy.integrate import solve_ivp
from scipy.io import loadmat

import varimech as vm


def four_bar() -> vm.Mechanism:
    m = vm.Mechanism("4-bar ψ", gravity=(0, -9.81))
    L, mass = m.parameter("L", 0.5, unit="m"), m.parameter("mass", 1.0, unit="kg")
    add_four_bar(m, 2, L, 1.8, 1.2, masses=(mass, 3.0, 2.0), names=("AB", "BC", "DC"))
    m.spring("s", "B", "D", stiffness=50, natural_length=1.0, damping=2.0)
    m.force("wind", "BC.com", lambda s: (vm.sin(5 * s.time), 0.0))
    m.start(angle={"AB": 1.0}, speed={"AB": 3.0}, near={"C": (1.5, 1)})
    return m


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0", "rtdyn1"])
def test_another_integrator_finds_the_same_motion(coordinates: str) -> None:
    """SciPy with M a + Φ_qᵀ λ = Q, Φ_q a = γ solved by numpy: nothing of Varimech runs."""
    m = four_bar()
    equations = m.equations(
        coordinates=coordinates,
        outputs={"C": lambda s: s.position("C"), "energy": lambda s: s.energy},
    )
    f, n = equations.function, equations.q.size
    assert f.name_in() == ["q", "v", "t", "rho"] and f.name_out() == [
        "M",
        "Q",
        "Phi",
        "Phi_q",
        "gamma",
        "C",
        "energy",
    ]
    assert len(equations.coordinate_names) == n and equations.parameter_names == ("L", "mass")
    assert len(equations.constraint_names) == f.size1_out("Phi")
    ρ = [0.55, 1.2]

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        M, Q, Φ, J, γ = (np.array(y) for y in f(x[:n], x[n:], t, equations.parameters)[:5])
        system = np.block([[M, J.T], [J, np.zeros((Φ.size, Φ.size))]])
        a = np.linalg.lstsq(system, np.vstack([Q, γ]), rcond=None)[0][:n, 0]
        return np.concatenate([x[n:], a])

    end = solve_ivp(
        rates,
        (0, 0.5),
        np.concatenate([equations.q, equations.v]),
        method="DOP853",
        rtol=1e-10,
        atol=1e-10,
    ).y[:, -1]
    run = m.simulate(0.5, tolerance=1e-11)
    out = f(q=end[:n], v=end[n:], t=0.5, rho=equations.parameters)
    assert np.array(out["C"]).ravel() == pytest.approx(run.position("C").to_numpy()[-1], abs=1e-8)
    assert float(out["energy"]) == pytest.approx(run.energy().to_numpy()[-1], abs=1e-6)
    assert np.abs(run.position("C").to_numpy()[-1] - run.position("C").to_numpy()[0]).max() > 0.1
    assert not np.allclose(
        f(equations.q, equations.v, 0, ρ)[0],
        f(equations.q, equations.v, 0, equations.parameters)[0],
    )


def test_casadis_own_integrator_takes_the_function() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameter("L", 1.0), mass=2.0)
    m.revolute("O")
    m.start(angle={"rod": 0.3})
    equations = m.equations(coordinates="rtdyn1")
    q, v, L = (ca.SX.sym(x) for x in "qvL")
    M, Q = equations.function(q, v, 0, L)[:2]
    flow = ca.integrator(
        "flow",
        "cvodes",
        {"x": ca.vertcat(q, v), "p": L, "ode": ca.vertcat(v, Q / M)},
        0,
        1.0,
        {"reltol": 1e-11, "abstol": 1e-11},
    )
    end = flow(x0=ca.vertcat(equations.q, equations.v), p=1.0)["xf"]
    slope = flow.factory("slope", ["x0", "p"], ["jac:xf:p"])(
        x0=ca.vertcat(equations.q, equations.v), p=1.0
    )["jac_xf_p"]
    own = m.sensitivity(
        {"angle": vm.final(lambda s: s.angle("rod"))}, duration=1.0, tolerance=1e-11
    )
    assert float(end[0]) == pytest.approx(own.run.angle("rod").to_numpy()[-1], abs=1e-8)
    assert float(slope[0]) == pytest.approx(own.gradient.item(), rel=1e-6)


def test_plain_c_gives_the_same_numbers(tmp_path: Path) -> None:
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no C compiler")
    equations = four_bar().equations(outputs={"tip": lambda s: s.position("C")})
    source = equations.to_c(tmp_path / "c")
    assert source.name == "mechanism_4_bar_equations.c"
    header = source.with_suffix(".h").read_text(encoding="utf-8")
    assert (
        "[0] L = 0.5 m" in header and "M: 4 x 4, column by column" in header and "[1] B.y" in header
    )
    library = tmp_path / "lib.so"
    strict = ["-Wall", "-Werror", "-std=c99", "-shared", "-fPIC", "-O1"]
    subprocess.run(
        [compiler, *strict, str(source), "-o", str(library), "-lm"], check=True, timeout=60
    )
    call = ctypes.CDLL(str(library)).mechanism_4_bar_equations
    pointer = np.ctypeslib.ndpointer(dtype=float)
    call.argtypes, call.restype = (
        [pointer, pointer, ctypes.c_double, *[pointer] * 3, ctypes.c_void_p, *[pointer] * 3],
        None,
    )
    v, ρ = equations.v + 0.3, np.array([0.6, 1.5])
    want = [np.array(x) for x in equations.function(equations.q, v, 0.2, ρ)]
    got = [np.full(x.T.shape, np.nan) for x in want]
    call(equations.q, v, 0.2, ρ, *got[:2], None, *got[3:])  # what is not wanted may be 0
    for k, (w, g) in enumerate(zip(want, got, strict=True)):
        assert np.isnan(g).all() if k == 2 else np.allclose(g.T, w, rtol=1e-14, atol=1e-14), (
            equations.function.name_out()[k]
        )
    with pytest.raises(vm.ModelError, match="'4x' is not a C identifier"):
        equations.to_c(tmp_path, "4x")


def test_outputs_of_equations_are_checked() -> None:
    m = four_bar()
    with pytest.raises(
        vm.ModelError, match="output 'reaction': depends on accelerations or reactions"
    ):
        m.equations(outputs={"reaction": lambda s: s.reaction("A")})
    with pytest.raises(vm.ModelError, match="output 'M' needs a unique name"):
        m.equations(outputs={"M": lambda s: s.energy})


@pytest.fixture(scope="module")
def gradient() -> vm.Gradient:
    return four_bar().sensitivity(
        {"ψ": vm.final(lambda s: s.position("C")[0], unit="m")}, duration=0.05, step=0.01
    )


def test_a_table_has_units_and_all_digits(gradient: vm.Gradient, tmp_path: Path) -> None:
    run = gradient.run
    with run.save(tmp_path / "run.csv", variables=["position", "velocity_wrt", "energy"]).open(
        encoding="utf-8"
    ) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert [float(r["time (s)"]) for r in rows] == run.time.tolist()
    assert [float(r["position BC.C y (m)"]) for r in rows] == run.position("C").to_numpy()[
        :, 1
    ].tolist()
    slope = run.velocity("BC.C", wrt="mass").to_numpy()
    assert [float(r["velocity_wrt BC.C x mass ((m/s)/kg)"]) for r in rows] == slope[:, 0].tolist()
    assert not any(name.startswith("angle") for name in rows[0])
    with gradient.save(tmp_path / "gradient.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["gradient ψ L (m/m)"]) == gradient.gradient.sel(parameter="L").item()
    assert float(last["value ψ (m)"]) == gradient.values.item()


def test_matlab_files_have_fields_that_matlab_takes(gradient: vm.Gradient, tmp_path: Path) -> None:
    run = gradient.run
    data = loadmat(run.save(tmp_path / "run.mat"), simplify_cells=True)
    assert data["time"].tolist() == run.time.tolist()
    assert np.array_equal(data["position"]["BC_C"], run.position("BC.C").to_numpy())
    assert data["names"]["position"]["BC_C"] == "BC.C" and data["units"]["position"] == "m"
    assert data["position_wrt"]["BC_C"].shape == (6, 2, 2) and data["parameter"].tolist() == [
        "L",
        "mass",
    ]
    assert np.array_equal(
        data["position_wrt"]["BC_C"][..., 1], run.position("BC.C", wrt="mass").to_numpy()
    )
    for struct in data["names"].values():
        assert all(
            field.isidentifier() and field.isascii() and field[0] != "_" and len(field) < 64
            for field in struct
        )
    data = loadmat(gradient.save(tmp_path / "gradient.mat"), simplify_cells=True)
    assert (
        np.array_equal(data["gradient"]["psi"], gradient.gradient_history[:, 0])
        and data["mechanism"] == "4-bar ψ"
    )


def test_studies_and_ensembles_are_saved_too(tmp_path: Path) -> None:
    m, ψ = four_bar(), {"ψ": vm.final(lambda s: s.position("C")[0], unit="m")}
    ensemble = m.ensemble(ψ, {"L": [0.45, 0.5, 0.55]}, duration=0.02, step=0.01, wrt=["mass"])
    with ensemble.save(tmp_path / "ensemble.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["sample_L"]) for r in rows] == [0.45, 0.5, 0.55]
    assert [
        float(r["gradient ψ mass"]) for r in rows
    ] == ensemble.gradient.to_numpy().ravel().tolist()
    moments = m.moments(ψ, {"L": vm.Tolerance(0.001)}, duration=0.02, step=0.01)
    assert (
        loadmat(moments.save(tmp_path / "moments.mat"), simplify_cells=True)["std"]["psi"].tolist()
        == moments.std.to_numpy()[:, 0].tolist()
    )
    with moments.save(tmp_path / "moments.csv").open(encoding="utf-8") as file:
        assert (
            float(list(csv.DictReader(file))[-1]["variance ψ (m²)"])
            == moments.variance.to_numpy()[-1, 0]
        )


def test_hessians_are_saved_too(tmp_path: Path) -> None:
    objectives = {name: vm.final(f"position('C')[{k}]", unit="m") for k, name in enumerate("xy")}
    h = four_bar().hessian(objectives, ["L", "mass"], duration=0.02, step=0.01)
    with h.save(tmp_path / "hessian.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["objective"] for row in rows] == ["x", "y"] and rows[0]["objective_unit"] == "m"
    assert (
        float(rows[1]["hessian L mass"])
        == h.hessian.sel(objective="y", parameter="L", parameter2="mass").item()
    )
    data = loadmat(h.save(tmp_path / "hessian.mat"), simplify_cells=True)
    np.testing.assert_array_equal(data["hessian"]["L"], h.hessian.sel(parameter="L"))
    np.testing.assert_array_equal(data["gradient"]["mass"], h.gradient.sel(parameter="mass"))
    h.save(tmp_path / "hessian.nc")
    np.testing.assert_array_equal(
        xr.load_dataset(tmp_path / "hessian.nc", engine="h5netcdf")["hessian"], h.hessian
    )


def test_saving_elsewhere_is_refused(gradient: vm.Gradient, tmp_path: Path) -> None:
    run = gradient.run
    with pytest.raises(vm.ModelError, match=r"must end with \.nc, \.csv, \.mat"):
        run.save(tmp_path / "run.xlsx")
    with pytest.raises(
        vm.ModelError,
        match="no variable of this result is called 'positon'; did you mean 'position'",
    ):
        run.save(tmp_path / "run.csv", variables="positon")
    (tmp_path / "file").touch()
    with pytest.raises(vm.ModelError, match="cannot be written"):
        run.save(tmp_path / "file" / "run.csv")
    with pytest.raises(vm.ModelError, match="has all variables"):
        run.save(tmp_path / "run.nc", variables="position")


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "interchange.md"
    monkeypatch.chdir(tmp_path)
    run_page(page)
    assert "four-bar: 3 bodies, 4 joints, 1 loop" in capsys.readouterr().out
    assert {p.name for p in tmp_path.iterdir()} > {"run.nc", "run.csv", "run.mat"}
    declared = re.search(r"```c\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    header = (tmp_path / "out" / "c" / "four_bar_equations.h").read_text(encoding="utf-8")
    assert declared and " ".join(declared[1].split()) in " ".join(header.split())
