"""Vectors of samples: the bits of single runs in every lane, whatever the other lanes do; sines and
cosines to one unit in the last place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.backends import compiler, lanes, machine
from varimech.backends.native import NativeProgram
from varimech.benchmarks import (
    bouncing_ball,
    clearance_slider_crank,
    five_bar,
    spatial_slider_crank,
)

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)

COUNT = 19
"""Samples: two vectors of eight, and some that take seats that became free."""
QUIET: dict[str, Any] = {"threads": 1, "progress": False}


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Switches vectors of samples off, and on again."""

    def switch(off: bool) -> None:
        monkeypatch.undo()
        if off:
            monkeypatch.setattr(NativeProgram, "has_lanes", False)

    return switch


def around(m: vm.Mechanism, names: list[str], width: float = 0.01) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    nominal = {name: m.parameters[name].value for name in names}
    return {n: x * (1 + width * (2 * rng.random(COUNT) - 1)) for n, x in nominal.items()}


def both(
    one_by_one: Callable[[bool], None],
    m: vm.Mechanism,
    objectives: Any,
    samples: dict[str, np.ndarray],
    **options: Any,
) -> tuple[vm.Ensemble, vm.Ensemble]:
    """In vectors, and one by one."""
    results = []
    for off in (False, True):
        one_by_one(off)
        results.append(m.ensemble(objectives, samples, **QUIET, **options))
    return results[0], results[1]


FIVE_BAR: dict[str, dict[str, Any]] = {
    "equal steps of order 8": {"step": 0.05, "integrator": "dop853"},
    "equal steps of order 4": {"step": 0.02, "integrator": "rk4"},
    "chosen steps": {"tolerance": 1e-6},
    "chosen steps of order 5": {"tolerance": 1e-5, "integrator": "dopri5"},
    "many outputs": {"tolerance": 1e-6, "output": 0.01},
    "trapezoidal rule": {"step": 0.01, "formulation": "ali3p"},
    "generalised alpha": {"step": 0.01, "integrator": "generalised-alpha"},
    "independent coordinates": {"tolerance": 1e-6, "formulation": "independent"},
    "penalty": {"tolerance": 1e-5, "formulation": "penalty"},
}


COMPILED = ("equal steps of order 8", "trapezoidal rule")
"""The others are interpreted: compiling takes seconds."""


@pytest.mark.parametrize("name", FIVE_BAR)
def test_lanes_have_the_bits_of_single_runs(name: str, one_by_one: Callable[[bool], None]) -> None:
    options = {"backend": "native" if name in COMPILED else "auto", **FIVE_BAR[name]}
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    samples = around(m, list(five_bar.PARAMETERS))
    lanes, single = both(one_by_one, m, objectives, samples, duration=0.5, **options)
    assert np.ptp(single.values.to_numpy(), axis=0).min() > 0
    np.testing.assert_array_equal(lanes.values, single.values)


@pytest.mark.parametrize("wrt", [["Ls1"], list(five_bar.PARAMETERS)], ids=["one", "five"])
@pytest.mark.parametrize("name", ["chosen steps", "trapezoidal rule"])
def test_gradients_of_lanes_have_the_bits_of_single_runs(
    name: str, wrt: list[str], one_by_one: Callable[[bool], None]
) -> None:
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    samples = around(m, list(five_bar.PARAMETERS))
    compiled = name == "chosen steps" and len(wrt) > 1
    options = {"duration": 0.4, "wrt": wrt, "backend": "native" if compiled else "auto"}
    options |= FIVE_BAR[name]
    lanes, single = both(one_by_one, m, objectives, samples, **options)
    np.testing.assert_array_equal(lanes.values, single.values)
    np.testing.assert_array_equal(lanes.gradient, single.gradient)
    assert np.abs(single.gradient.to_numpy()).min() > 0


def test_lanes_take_different_numbers_of_steps(one_by_one: Callable[[bool], None]) -> None:
    """Speeds over two decades: lanes end at different times, and others take their places."""
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length=1.0, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": 0.3}, speed={"rod": m.parameter("w", 1.0)})
    samples = {"w": np.geomspace(0.1, 60.0, 37)[np.random.default_rng(0).permutation(37)]}
    place = {"x": vm.final("position('P')[0]", unit="m")}
    lanes, single = both(one_by_one, m, place, samples, duration=1.0, tolerance=1e-7)
    np.testing.assert_array_equal(lanes.values, single.values)


def test_events_at_different_times_in_different_lanes(one_by_one: Callable[[bool], None]) -> None:
    m = bouncing_ball.mechanism()
    samples = around(m, list(m.parameters), 0.2)
    options = {"duration": 2.0, "tolerance": 1e-9}
    objectives = {"height": vm.final(lambda s: s.position("ball.com")[1])}
    lanes, single = both(one_by_one, m, objectives, samples, wrt=list(m.parameters), **options)
    np.testing.assert_array_equal(lanes.values, single.values)
    np.testing.assert_array_equal(lanes.gradient, single.gradient)


def test_impacts_with_clearance_agree_to_rounding(one_by_one: Callable[[bool], None]) -> None:
    """Its coordinates have sines. Impacts amplify rounding."""
    m, objectives = clearance_slider_crank.mechanism(), clearance_slider_crank.objectives()
    names = list(clearance_slider_crank.PARAMETERS)
    options = {"duration": 0.012, "tolerance": 1e-9, "wrt": names}
    lanes, single = both(one_by_one, m, objectives, around(m, names, 0.02), **options)
    np.testing.assert_allclose(lanes.values, single.values, rtol=0, atol=1e-13)
    scale = np.abs(single.gradient.to_numpy()).max(axis=(0, 1))
    assert (np.abs((lanes.gradient - single.gradient).to_numpy()) <= 1e-11 * scale).all()


def test_relative_coordinates_agree_to_rounding(one_by_one: Callable[[bool], None]) -> None:
    m, objectives = spatial_slider_crank.mechanism(), spatial_slider_crank.objectives()
    names = list(spatial_slider_crank.PSI_GRADIENT)
    options = {"duration": 0.3, "tolerance": 1e-7, "wrt": names}
    lanes, single = both(one_by_one, m, objectives, around(m, names), **options)
    np.testing.assert_allclose(lanes.values, single.values, rtol=1e-13)
    scale = np.abs(single.gradient.to_numpy()).max(axis=(0, 1))
    assert (np.abs((lanes.gradient - single.gradient).to_numpy()) <= 1e-11 * scale).all()


def test_compiled_and_interpreted_lanes_have_the_same_bits() -> None:
    m, names = spatial_slider_crank.mechanism(), list(spatial_slider_crank.PSI_GRADIENT)
    samples, objectives = around(m, names), spatial_slider_crank.objectives()
    compiled, interpreted = (
        m.ensemble(objectives, samples, wrt=names, duration=0.2, tolerance=1e-6, backend=b, **QUIET)
        for b in ("native", "auto")
    )
    np.testing.assert_array_equal(compiled.values, interpreted.values)
    np.testing.assert_array_equal(compiled.gradient, interpreted.gradient)


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    """Alone, in a row of its own order, and among lanes that fail."""
    m, objectives = five_bar.mechanism(), {"psi1": five_bar.objectives()["psi1"]}
    samples = around(m, ["Ls1", "L_A1"])
    options: dict[str, Any] = {"duration": 0.5, "tolerance": 1e-6, **QUIET}
    whole = m.ensemble(objectives, samples, **options).values.to_numpy()
    back = m.ensemble(objectives, {n: x[::-1] for n, x in samples.items()}, **options)
    np.testing.assert_array_equal(back.values.to_numpy()[::-1], whole)
    alone = m.ensemble(objectives, {n: x[5:6] for n, x in samples.items()}, **options)
    np.testing.assert_array_equal(alone.values.to_numpy(), whole[5:6])
    broken = {n: x.copy() for n, x in samples.items()}
    broken["L_A1"][[2, 9]] = 40.0, 50.0  # cannot be assembled
    result = m.ensemble(objectives, broken, **options)
    good = np.setdiff1d(np.arange(COUNT), [2, 9])
    np.testing.assert_array_equal(result.values.to_numpy()[good], whole[good])
    assert sorted(result.failures) == [2, 9] and np.isnan(result.values.to_numpy()[[2, 9]]).all()


def test_schemes_with_more_stages_than_places_have_no_lanes() -> None:
    def program(stages: int) -> Any:
        scheme = SimpleNamespace(b=np.zeros(stages))
        return SimpleNamespace(adjoint=False, slots=[None] * 45, scheme=scheme)

    most = lanes.MOST_STAGES - 1  # the end of a step takes one place
    assert lanes.suits(program(most)) and not lanes.suits(program(most + 1))


def wrapped(width: int, function: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function of lane_math.c with vectors of some width, over arrays."""
    text = Path(lanes.__file__).with_name("lane_math.c").read_text(encoding="utf-8")
    library = compiler.load_library(
        f"#define VM_WIDTH {width}\n{text}\n"
        '__attribute__((visibility("default"))) void over(const double *x, double *y, long long n) {\n'
        f"  for (long long k = 0; k < n; k += VM_WIDTH) {{ vm_vector v; __builtin_memcpy(&v, x + k, sizeof v);"
        f" v = {function}(v); __builtin_memcpy(y + k, &v, sizeof v); }} }}"
    )
    library.over.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong]

    def over(x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        library.over(x.ctypes.data, y.ctypes.data, x.size)
        return y

    return over


def test_sines_and_cosines_to_one_unit_in_the_last_place() -> None:
    """Against extended precision where the processor has it, near multiples of π/2 among them."""
    rng = np.random.default_rng(0)
    near = np.round(rng.uniform(-1e6, 1e6, 20000)) * (np.pi / 2)
    x = np.concatenate([rng.uniform(-10, 10, 80000), rng.uniform(-1e6, 1e6, 40000), near])
    x = np.concatenate([x, [0.0, -0.0, 1e-300, -1e-20, 5e6, -1e15, np.inf, np.nan]])
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("no extended precision here")
    with np.errstate(invalid="ignore"):
        for name in ("sin", "cos"):
            exact = getattr(np, name)(x.astype(np.longdouble))
            computed = wrapped(2, f"vm_{name}")(x)
            units = np.abs((computed - exact) / np.spacing(np.abs(exact.astype(float))))
            assert np.nanmax(units[:-2].astype(float)) <= 1.0
            assert np.isnan(computed[-2:]).all()


def test_every_width_has_the_same_bits() -> None:
    x = np.random.default_rng(1).uniform(-50, 50, 4096)
    for name in ("sin", "cos", "sqrt"):
        given = np.abs(x) if name == "sqrt" else x
        narrow, wide = (wrapped(width, f"vm_{name}")(given) for width in (2, widest()))
        np.testing.assert_array_equal(narrow, wide)
    np.testing.assert_array_equal(wrapped(2, "vm_sqrt")(np.abs(x)), np.sqrt(np.abs(x)))


def widest() -> int:
    return int(machine.lane_machine().vm_lane_count())
