"""Vectors of samples of large models, whose functions are plans: the bits of single runs in every
lane; sines and cosines to one unit in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from long_chain import BARS, chain, objectives

import varimech as vm
from varimech.backends import compiler
from varimech.backends.native import NativeProgram
from varimech.solving import programs
from varimech.solving.programs import LARGE

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)
COUNT = 11
"""Samples: a vector of eight, and some that take seats that became free."""
NAMES = ["L", "M", "c"]
QUIET: dict[str, Any] = {"threads": 1, "progress": False, "duration": 0.1}
SCHEMES: dict[str, dict[str, Any]] = {
    "trapezoidal rule": {"step": 0.02, "formulation": "ali3p"},
    "chosen steps": {"tolerance": 1e-6, "coordinates": "natural", "output": 0.02},
    "equal steps": {"step": 0.02, "integrator": "rk4", "coordinates": "natural"},
}
RECURSIVE: dict[str, Any] = {"step": 0.01, "integrator": "dopri5", "coordinates": "rtdyn0"}


def around(m: vm.Mechanism) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {n: p.value * (1 + 0.01 * rng.uniform(-1, 1, COUNT)) for n, p in m.parameters.items()}


def both(
    monkeypatch: pytest.MonkeyPatch, m: vm.Mechanism, bars: int = BARS, **options: Any
) -> tuple[vm.Ensemble, vm.Ensemble]:
    """In vectors, and one by one."""
    executed = [m.ensemble(objectives(bars), around(m), **{**QUIET, **options})]
    monkeypatch.setattr(NativeProgram, "has_lanes", False)
    executed.append(m.ensemble(objectives(bars), around(m), **{**QUIET, **options}))
    for each in executed:
        assert not each.failures and np.ptp(each.value_array, axis=0).min() > 0
    return executed[0], executed[1]


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_lanes_have_the_bits_of_single_runs(
    scheme: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values and derivatives with respect to three parameters, interpreted and compiled."""
    assert 3 * BARS > LARGE
    lanes, single = both(monkeypatch, chain(), wrt=NAMES, backend=backend, **SCHEMES[scheme])
    assert lanes.gradient_array is not None and single.gradient_array is not None
    np.testing.assert_array_equal(lanes.value_array, single.value_array)
    np.testing.assert_array_equal(lanes.gradient_array, single.gradient_array)
    assert np.abs(single.gradient_array).max(axis=0).min() > 0


@pytest.mark.parametrize("wrt", [None, ["L"]], ids=["values", "one parameter"])
def test_lanes_without_rows_of_derivatives(
    wrt: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes, single = both(monkeypatch, chain(), wrt=wrt, **SCHEMES["chosen steps"])
    np.testing.assert_array_equal(lanes.value_array, single.value_array)
    if wrt is not None:
        assert lanes.gradient_array is not None and single.gradient_array is not None
        np.testing.assert_array_equal(lanes.gradient_array, single.gradient_array)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_recursive_lanes_agree_to_rounding(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lanes, single = both(monkeypatch, chain(), wrt=NAMES, backend=backend, **RECURSIVE)
    assert lanes.gradient_array is not None and single.gradient_array is not None
    np.testing.assert_allclose(lanes.value_array, single.value_array, rtol=1e-13)
    scale = np.abs(single.gradient_array).max(axis=0)
    assert (np.abs(lanes.gradient_array - single.gradient_array) <= 1e-11 * scale).all()


def test_events_in_different_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that hits a stop; its functions are assembled however small it is."""
    monkeypatch.setattr(programs, "EVENTFUL", 0)
    m = chain(3)
    e = m.parameter("e", 0.5)
    m.stop("stop", lambda s: s.position("b2.P3")[1], lower=-0.12, restitution=e)
    options: dict[str, Any] = {"duration": 0.2, "tolerance": 1e-6, "wrt": ["L", "e"]}
    lanes, single = both(monkeypatch, m, 3, **options)
    assert lanes.gradient_array is not None and single.gradient_array is not None
    assert np.abs(single.gradient_array[:, 1, 1]).min() > 1e-4  # they have hit it
    np.testing.assert_array_equal(lanes.value_array, single.value_array)
    np.testing.assert_array_equal(lanes.gradient_array, single.gradient_array)


def test_lanes_are_those_of_simulations() -> None:
    m, samples = chain(), around(chain())
    options: dict[str, Any] = {"progress": False, **SCHEMES["equal steps"]}
    lanes = m.ensemble(objectives(), samples, threads=1, duration=0.1, **options)
    for k in (0, COUNT - 1):
        values = {name: float(column[k]) for name, column in samples.items()}
        run = m.simulate(0.1, parameters=values, backend="interpreted", **options)
        height = run.position(f"P{BARS}")[-1, 1].item()
        assert lanes.value_array[k, 0] == pytest.approx(height, rel=1e-12)


def test_a_lane_that_fails_leaves_the_others_alone() -> None:
    """Explicit steps diverge with strong dampers."""
    m, samples = chain(), around(chain())
    options: dict[str, Any] = {**QUIET, **SCHEMES["equal steps"]}
    whole = m.ensemble(objectives(), samples, **options).value_array
    samples["c"][[2, 9]] = 1e3, 1e6
    broken = m.ensemble(objectives(), samples, **options)
    good = np.setdiff1d(np.arange(COUNT), [2, 9])
    np.testing.assert_array_equal(broken.value_array[good], whole[good])
    assert sorted(broken.failures) == [2, 9]
