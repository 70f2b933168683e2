"""Every joint, planar and spatial, against equations of motion derived by hand and against its own
condition.

`joint_cases.CASES` holds one mechanism for each joint. A joint kind without a case fails
`test_every_joint_has_a_case`.
"""

from __future__ import annotations

import numpy as np
import pytest
from joint_cases import CASES, DURATION, STEP, Case
from joint_conditions import KINDS
from newton_euler import check_order_two

import varimech as vm

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_every_joint_has_a_case() -> None:
    assert {(case.kind, case.dimension) for case in CASES} == KINDS


@each_case
def test_motion_converges_to_the_reference(case: Case) -> None:
    exact = case.reference(case.p, np.linspace(0, DURATION, 51))
    assert np.abs(case.measured(case.run(STEP))[0] - exact[0]).max() < 1e-10, "start"
    check_order_two(lambda h: case.measured(case.run(h)), exact, STEP, error=5e-5, limit=5e-8)


@each_case
def test_joint_holds(case: Case) -> None:
    """Freedoms, residuals of all levels, and the joint's condition stated from measured positions
    and rotations.
    """
    assert case.mechanism.dofs == case.dofs
    run = case.run(STEP)
    assert max(run.info["residuals"]) < 1e-9
    for broken in case.broken(run, case.p):
        assert broken.shape[0] == run.time.size
        assert np.abs(broken).max() < 1e-9


@each_case
def test_sensitivity_to_the_joints_geometry(case: Case) -> None:
    """Direct differentiation against differences of whole runs, and against differences of the
    reference motion.
    """
    point = case.points[-1]
    objectives = {
        "end": vm.final(lambda s: s.position(point)[0] + 2 * s.position(point)[1]),
        "speed": vm.integral(lambda s: vm.dot(s.velocity(point), s.velocity(point))),
    }
    m = case.mechanism
    direct, differences = (
        m.sensitivity(
            objectives,
            "p",
            duration=0.3,
            step=2e-3,
            method=method,
            relative_steps=(1e-4, 1e-5, 1e-6),
        )
        for method in ("direct", "finite-difference")
    )
    assert (np.abs(direct.gradient.values) > 1e-4).all(), "the parameter must matter"
    np.testing.assert_allclose(direct.gradient.values, differences.gradient.values, rtol=1e-6)
    δ = 1e-4
    above, below = (case.reference(p, direct.run.time) for p in (case.p + δ, case.p - δ))
    slope = ((above - below) / (2 * δ))[:, -3:][:, : case.dimension]
    np.testing.assert_allclose(
        direct.run.position(point, wrt="p").values, slope, rtol=0, atol=1e-4 * np.abs(slope).max()
    )


@pytest.mark.parametrize("case", [c for c in CASES if "moving" in c.note], ids=lambda c: c.name)
def test_a_sliding_point_takes_no_torque(case: Case) -> None:
    """Also with the ground as second body, the torque is about the point that slides."""
    τ = case.run(STEP).reaction_torque(next(iter(case.mechanism.joints))).to_numpy()
    assert np.abs(τ).max() < 1e-9
