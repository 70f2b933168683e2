"""Forces of springs, dampers, contacts and other elements, as arrows show them: against their laws, and
against the balance of the bodies that they act on.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.web.animation import moving

G = np.array([0.0, -9.81])


def block(slope: float = 0.0, **surface: Any) -> vm.Mechanism:
    """A block with two corners on a slope, which slides under its weight."""
    m = vm.Mechanism("block", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    corners = {"P": (-0.1, -0.05), "Q": (0.1, -0.05)}
    points = {"C": (0, 0), **corners}
    m.body("block", mass=2.0, inertia=0.02, points=points, floating=True)
    normal = (-np.sin(slope), np.cos(slope))
    m.contact("floor", "block.P", "ground.O", also=["block.Q"], normal=normal, **surface)
    place = 0.05 * np.array(normal)
    m.start(angle={"block": slope}, position={"block.C": tuple(place)})
    return m


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_springs_and_dampers_obey_their_laws(coordinates: str) -> None:
    m = vm.Mechanism("swing", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.ground_point("W", (0.6, 0.1))
    m.bar("rod", "O", "E", length=0.5, mass=1.0)
    m.bar("bob", "E", "T", length=0.3, mass=1.0)
    m.revolute("O")
    m.revolute("E")
    m.spring("spring", "ground.W", "rod.E", stiffness=80, natural_length=0.3, damping=2.0)
    m.damper("damper", "rod.O", "bob.T", damping=3.0)
    m.force("push", "bob.T", lambda s: (vm.sin(s.time), 1.0))
    m.start(angle={"rod": -0.9, "bob": 0.3})
    run = m.simulate(0.3, step=0.01, coordinates=coordinates, backend="interpreted")
    given = [("spring", "ground.W"), ("spring", "rod.E"), ("damper", "bob.T"), ("push", "bob.T")]
    found = run.acting(given)

    def pull(a: str, b: str, k: float, x0: float, c: float) -> np.ndarray:
        """On b."""
        r, v = (f(b).to_numpy() - f(a).to_numpy() for f in (run.position, run.velocity))
        x = np.linalg.norm(r, axis=1)
        tension = k * (x - x0) + c * (r * v).sum(axis=1) / x
        return np.asarray(-r * (tension / x)[:, None])

    spring = pull("ground.W", "rod.E", 80, 0.3, 2.0)
    assert found[:, 1] == pytest.approx(spring, abs=1e-9)
    assert found[:, 0] == pytest.approx(-spring, abs=1e-9)
    assert found[:, 2] == pytest.approx(pull("rod.O", "bob.T", 0, 0, 3.0), abs=1e-9)
    pushed = np.column_stack([np.sin(run.time), np.ones(run.time.size)])
    assert found[:, 3] == pytest.approx(pushed, abs=1e-12)


@pytest.mark.parametrize(
    "surface",
    [
        {"friction": 0.2},
        {"stiffness": 2e4, "damping": 0.3},
        {"stiffness": 2e4, "friction": 0.2, "friction_law": "tanh"},
    ],
)
def test_contacts_balance_the_block_on_them(surface: dict[str, Any]) -> None:
    run = block(0.3, **surface).simulate(0.2, tolerance=1e-8, output=0.01, backend="interpreted")
    found = run.acting([("floor", "block.P"), ("floor", "block.Q")])
    needed = 2.0 * (run.acceleration("block.C").to_numpy() - G)
    assert found.sum(axis=1)[1:] == pytest.approx(needed[1:], abs=1e-6)
    r = [(run.position(f"block.{p}") - run.position("block.C")).to_numpy() for p in "PQ"]
    torque = sum(a[:, 0] * found[:, k, 1] - a[:, 1] * found[:, k, 0] for k, a in enumerate(r))
    inertial = 0.02 * run.angular_acceleration("block").to_numpy()
    assert torque[1:] == pytest.approx(inertial[1:], abs=1e-6)
    assert np.abs(needed).max() > 10


def test_arrows_are_where_forces_act() -> None:
    run = block(0.0, stiffness=2e4, damping=0.3).simulate(0.1, step=0.01, backend="interpreted")
    data: Any = moving(run, [])
    arrows = data["acting"]
    assert [data["points"][k] for k in arrows["points"]] == ["block.P", "block.Q"]
    values = np.frombuffer(base64.b64decode(arrows["values"]), "<f4").reshape(-1, 2, 2)
    expected = run.acting([("floor", "block.P"), ("floor", "block.Q")])
    assert values == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert arrows["largest"] == pytest.approx(np.linalg.norm(expected, axis=2).max())
    assert 0 < arrows["scale"] <= arrows["largest"]


def test_points_of_the_ground_have_no_force_of_contacts() -> None:
    run = block().simulate(0.02, step=0.01, backend="interpreted")
    with pytest.raises(vm.ModelError, match="does not move"):
        run.acting([("floor", "ground.O")])
