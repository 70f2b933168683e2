"""Synthesis: designs whose targets were made with known parameters are found again."""

from typing import Any

import kinematic_mechanisms as km
import numpy as np
import pytest

import varimech as vm

TRUTH = {"a": 0.55, "b": 1.7, "c": 1.3}


def four_bar() -> vm.Mechanism:
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    return m


def test_path_with_prescribed_timing_is_found_again() -> None:
    u = np.linspace(0.2, 4.0, 9)
    path = km.four_bar_positions(u, **TRUTH, d=2.0)
    s = four_bar().synthesize("crank", {"P": path}, ["a", "b", "c"], values=u)
    for name, value in TRUTH.items():
        assert s.parameters[name] == pytest.approx(value, abs=1e-9)
    assert s.error < 1e-10 < s.error_before
    assert s.defects == ()
    np.testing.assert_allclose(s.kinematics.position("P")[[0, -1]], path[[0, -1]], atol=1e-9)


def test_path_with_free_timing_and_several_starts() -> None:
    u = np.linspace(0.2, 4.0, 11)
    path = km.four_bar_positions(u, **TRUTH, d=2.0)
    bounds = {"a": (0.4, 0.7), "b": (1.5, 2.0), "c": (1.1, 1.5)}
    s = four_bar().synthesize("crank", [("P", path)], bounds, starts=3)
    np.testing.assert_allclose(s.values, u, atol=1e-6)
    assert s.error < 1e-9
    assert s.local_optima["error"].is_monotonic_increasing
    assert "Synthesis of 'four-bar': 11 targets" in str(s)
    assert len(s.plot(point="P").axes) == 1


def test_function_generator_against_scipy() -> None:
    """The least-squares optimum by SciPy alone: Freudenstein's equation, differences."""
    from scipy.optimize import least_squares

    u = np.linspace(0.5, 2.0, 9)
    wanted = 1.9 + 0.25 * (u - 0.5)
    s = four_bar().synthesize("crank", {"angle('rocker')": wanted}, ["b", "c"], values=u)

    def rocker(x: np.ndarray) -> Any:
        b, c = x
        D = 2 - 0.5 * np.exp(1j * u)
        inner = np.arccos((b**2 + abs(D) ** 2 - c**2) / (2 * b * abs(D)))
        C = 0.5 * np.exp(1j * u) + b * np.exp(1j * (np.angle(D) + inner))
        return np.angle(C - 2)

    best = least_squares(lambda x: rocker(x) - wanted, [1.8, 1.2], xtol=1e-14, ftol=1e-14)
    np.testing.assert_allclose([s.parameters["b"], s.parameters["c"]], best.x, atol=1e-5)
    assert s.error == pytest.approx(np.sqrt(2 * best.cost / 9), rel=1e-6)


def test_defects_are_reported() -> None:
    u = np.array([1.0, 1.4, 1.2])
    path = km.four_bar_positions(u, 1.5, 1.8, 1.2, 2.0)
    m = km.four_bar(1.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    s = m.synthesize("crank", {"P": path}, ["a"], values=u)
    assert len(s.defects) == 2
    assert s.defects[0].startswith("order")
    assert "does not turn fully" in s.defects[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.synthesize("crank", {}, values=[1.0]), "targets.*missing"),
        (lambda m: m.synthesize("crank", {"P": [(0, np.nan)]}, values=[1.0]), "finite numbers, 2"),
        (
            lambda m: m.synthesize("crank", {"P": [(0, 1)]}, values=[1.0, 2.0]),
            "2 values.*1 targets",
        ),
        (lambda m: m.synthesize("crank", {"P": [(0, 1)]}, values=[1.0], starts=2), "need bounds"),
        (lambda m: m.synthesize("crank", {"P": [(0, 1)]}, values=[1.0], starts=0), "starts"),
        (lambda m: m.synthesize("crank", {"P": [(0, 1)]}, {"a": (2, 1)}), "lower, upper"),
        (lambda m: m.synthesize("crank", {"P": [(0, 1)]}, ["Z"]), "'Z'"),
        (lambda m: m.synthesize("crank", {"velocity('P')": [(0, 1)]}), "positions only"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        call(four_bar())


def test_no_start_reaches_the_targets() -> None:
    m = km.four_bar(1.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    with pytest.raises(vm.VarimechError, match="none of 1 starts"):
        m.synthesize("crank", {"P": [(0, 1)]}, ["b"], values=[3.0])
