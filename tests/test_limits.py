"""What a formulation or integrator does not take is refused by name and limit, and what it does
take runs: starts, redundancy, size.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pendulums
import pytest
from loops import add_four_bar, pendulum

import varimech as vm
from varimech.schemes import FORMULATIONS, integrators_of
from varimech.solving.programs import LARGE

# starts


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [
        (f, i)
        for f in FORMULATIONS
        for i in (None, "cvodes")
        if i is None or i in integrators_of(FORMULATIONS[f])
    ],
)
def test_a_start_that_does_not_close(formulation: str, integrator: str | None) -> None:
    m = vm.Mechanism("open", gravity=(0, -9.81))
    add_four_bar(m, 2, 0.3, 0.3, 0.3)
    m.start(angle={"crank": 1.0})
    with pytest.raises(vm.AssemblyError, match="'open': assembly fails"):
        m.simulate(0.1, formulation=formulation, integrator=integrator)


def twin() -> vm.Mechanism:
    m = pendulums.pendulum(name="twin")
    m.distance("again", "rod.tip", "ground.O", length=m.parameters["L"])
    return m


@pytest.mark.parametrize("options", [{"step": 1e-2}, {"tolerance": 1e-6}])
def test_redundant_constraints_are_refused_by_the_composite_system(options: dict[str, Any]) -> None:
    angle = vm.final(lambda s: s.angle("rod"))
    with pytest.raises(
        vm.ModelError,
        match=r"'twin': method 'composite' takes no redundant constraints .*; use method='direct'",
    ):
        twin().sensitivity(angle, duration=0.1, method="composite", **options)
    g = twin().sensitivity(angle, duration=0.1, method="direct", **options)
    reference = pendulum().sensitivity(angle, duration=0.1, **options)
    np.testing.assert_allclose(g.gradient, reference.gradient, rtol=1e-5)


def test_redundant_constraints_are_refused_by_idas() -> None:
    with pytest.raises(
        vm.ModelError,
        match=(
            r"'twin': integrator 'idas' takes no redundant constraints .*; use integrator='cvodes'"
        ),
    ):
        twin().simulate(0.1, integrator="idas")
    angles = [
        float(m.simulate(0.1, integrator="cvodes").angle("rod")[-1]) for m in (twin(), pendulum())
    ]
    assert angles[0] == pytest.approx(angles[1], abs=1e-7)


# large models


@cache
def chain() -> vm.Mechanism:
    """One more unknown than straight-line code takes."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    M = m.parameter("M", 1.0)
    m.ground_point("P0", (0, 0))
    count = LARGE // 3 + 1
    for k in range(count):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=0.2, mass=M)
        m.revolute(f"P{k}")
    m.start(angle={f"b{k}": -1.5 + 0.02 * k for k in range(count)})
    return m


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"formulation": "independent"},
            f"independent coordinates takes up to {LARGE}; use formulation='index1' or 'ali3p'",
        ),
        (
            {"integrator": "cvodes"},
            f"CVODES takes up to {LARGE}; use formulation='index1' or 'ali3p'",
        ),
        ({"integrator": "idas"}, f"IDAS takes up to {LARGE}; use formulation='index1' or 'ali3p'"),
        ({"method": "composite"}, f"method 'composite' takes up to {LARGE}; use method='direct'"),
    ],
)
def test_large_models_are_refused_with_the_limit(options: dict[str, Any], words: str) -> None:
    with pytest.raises(
        vm.ModelError, match=r"mechanism 'chain' has 5[13] unknowns and multipliers"
    ) as caught:
        chain().sensitivity(
            vm.final(lambda s: s.angle("b0")), duration=0.1, coordinates="natural", **options
        )
    assert words in str(caught.value)


@cache
def end_of_chain(step: float) -> np.ndarray:
    return np.asarray(
        chain().simulate(0.1, step=step, every=1000).position(f"P{LARGE // 3 + 1}")[-1]
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tolerance": 1e-8}, 1e-8),
        ({"integrator": "rk4", "step": 1e-3}, 1e-8),
        ({"formulation": "index1-stabilised"}, 1e-8),
        ({"integrator": "hht", "step": 1e-3}, 1e-7),
        ({"integrator": "generalised-alpha", "step": 1e-3}, 1e-7),
        ({"formulation": "penalty"}, 2e-6),
        ({"formulation": "penalty", "step": 1e-3}, 2e-6),
    ],
)
def test_large_models_run_with_the_others(options: dict[str, Any], error: float) -> None:
    coarse, fine = end_of_chain(2e-3), end_of_chain(1e-3)
    exact = fine + (fine - coarse) / 3  # the trapezoidal rule is of order 2
    run = chain().simulate(0.1, **options)
    assert (
        np.abs(run.position(f"P{LARGE // 3 + 1}")[-1] - run.position(f"P{LARGE // 3 + 1}")[0]).max()
        > 1e-3
    )
    np.testing.assert_allclose(run.position(f"P{LARGE // 3 + 1}")[-1], exact, rtol=0, atol=error)
