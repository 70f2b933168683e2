"""Many runs at once: the same numbers as one by one, in order, whatever the number of threads;
failures reported, not raised.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import varimech as vm
from varimech.benchmarks import five_bar

SETTINGS: dict[str, Any] = {"duration": 0.2, "step": 2e-3}


def samples(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {"Ls1": 2.2 + 0.1 * rng.random(count), "L_A1": 1.4 + 0.05 * rng.random(count)}


@pytest.mark.parametrize("threads", [1, 3])
def test_every_sample_equals_its_own_run(threads: int) -> None:
    m, objectives, values = five_bar.mechanism(), five_bar.objectives(), samples(5)
    ensemble = m.ensemble(objectives, values, wrt=["Ls2", "L_A1"], threads=threads, **SETTINGS)
    for k in range(5):
        alone = m.sensitivity(
            objectives, ["Ls2", "L_A1"], parameters={n: v[k] for n, v in values.items()}, **SETTINGS
        )
        np.testing.assert_array_equal(ensemble.values[k], alone.values)
        np.testing.assert_array_equal(ensemble.gradient[k], alone.gradient)
    assert ensemble.values.dims == ("sample", "objective")
    assert ensemble.gradient.dims == ("sample", "objective", "parameter")
    np.testing.assert_array_equal(ensemble.dataset["sample_Ls1"], values["Ls1"])
    assert "5 runs, 0 failed" in repr(ensemble)


def test_starts_far_away_are_found_on_the_way_there() -> None:
    """A fifth shorter or longer, and both at once: as by assembling each by itself, and none had to
    be looked after.
    """
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    values = {"L_A1": np.array([1.1, 1.7, 1.2, 1.42]), "m_A1": np.array([1.0, 3.0, 0.2, 1.0])}
    ensemble = m.ensemble(objectives, values, backend="native", **SETTINGS)
    for k in range(4):
        alone = m.sensitivity(
            objectives, ["Ls1"], parameters={n: v[k] for n, v in values.items()}, **SETTINGS
        )
        np.testing.assert_allclose(ensemble.values[k], alone.values, rtol=1e-9)


def test_samples_may_be_a_table() -> None:
    m, objectives, values = five_bar.mechanism(), five_bar.objectives(), samples(3)
    given, table = (
        m.ensemble(objectives, v, **SETTINGS).values for v in (values, pd.DataFrame(values))
    )
    np.testing.assert_array_equal(given, table)


def test_a_start_too_far_away_to_be_followed_is_assembled_by_itself() -> None:
    """Nine turns of a crank further; from the nominal start it would be assembled with the slider
    on the other side.
    """
    m = vm.Mechanism("crank-slider", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=0.1, mass=0.5)
    m.bar("rod", "P", "S", length=0.25, mass=0.8)
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    for pin in "OPS":
        m.revolute(pin)
    m.prismatic("guide", "ground.O", "slider.S", axis=(1, 0))
    m.start(angle={"crank": m.parameter("turned", 0.3)}, near={"S": (0.3, 0)})
    place = vm.final(lambda s: s.displacement("guide"))
    computed = m.ensemble(
        place, {"turned": [60.0]}, backend="native", duration=0.01, step=1e-3
    ).values
    assembled = 0.1 * math.cos(60) + math.sqrt(0.25**2 - (0.1 * math.sin(60)) ** 2)
    assert computed.item() == pytest.approx(assembled, abs=1e-3)  # it moves by less in 10 ms


def test_both_backends_give_the_same_ensemble() -> None:
    m, objectives = five_bar.mechanism(), five_bar.objectives()
    native, interpreted = (
        m.ensemble(
            objectives, samples(12), wrt=["Ls2", "L_A1"], backend=b, threads=1, **SETTINGS
        )  # three at a call
        for b in ("native", "interpreted")
    )
    np.testing.assert_array_equal(native.values, interpreted.values)
    np.testing.assert_array_equal(native.gradient, interpreted.gradient)


def test_a_sample_that_fails_is_reported_and_the_others_go_on() -> None:
    m = five_bar.mechanism()
    lengths = np.array([1.4, 9.0, 1.5])  # a bar of 9 m does not fit
    ensemble = m.ensemble(five_bar.objectives(), {"L_A1": lengths}, **SETTINGS)
    assert list(ensemble.failures) == [1]
    assert isinstance(ensemble.failures[1], vm.AssemblyError)
    assert np.isnan(ensemble.values[1]).all()
    assert np.isfinite(ensemble.values[[0, 2]]).all()


def test_a_sample_that_outruns_light_is_no_result() -> None:
    """Explicit steps are too long for the second damper; at once, where the others are carried out,
    too.
    """
    m = vm.Mechanism("damped pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length=1.0, mass=1.0)
    m.revolute("O")
    m.torsional_damper("oil", "rod", damping=m.parameter("damping", 1.0))
    m.start(angle={"rod": 0.5}, speed={"rod": 1.0})
    turned = vm.final(lambda s: s.angular_velocity("rod"))
    options: dict[str, Any] = {
        "duration": 0.8,
        "step": 0.1,
        "integrator": "rk4",
        "coordinates": "rtdyn1",
        "backend": "native",
    }
    ensemble = m.ensemble(turned, {"damping": [1.0, 20.0]}, **options)
    assert np.isfinite(ensemble.values.to_numpy().ravel()).tolist() == [True, False]
    assert "integration diverged" in str(ensemble.failures[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "name at least one parameter"),
        ({"Ls1": [1.0, 2.0], "Ls2": [1.0]}, "different numbers of samples"),
        ({"Ls1": 2.0}, "needs a list of values"),
        ({"Ls1": [2.0, np.nan]}, "not finite"),
        ({"Ls9": [2.0]}, "did you mean"),
    ],
)
def test_bad_samples(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        five_bar.mechanism().ensemble(five_bar.objectives(), parameters, **SETTINGS)


def test_an_ensemble_needs_objectives_and_threads() -> None:
    m = five_bar.mechanism()
    with pytest.raises(vm.ModelError, match="at least one objective"):
        m.ensemble([], {"Ls1": [2.0]}, **SETTINGS)
    with pytest.raises(vm.ModelError, match="threads = 0"):
        m.ensemble(five_bar.objectives(), {"Ls1": [2.0]}, threads=0, **SETTINGS)
