"""Lost motion of joints with clearance: closed forms of a pin that falls in its bore, offsets in the
frame of a body that turns, and compliant surfaces.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import clearance_slider_crank

G, CLEARANCE, DURATION = 9.81, 1e-3, 0.05


def hanger(**surfaces: Any) -> vm.Mechanism:
    """A plate whose pin falls from the middle of its bore."""
    m = vm.Mechanism("hanger", gravity=(0, -G))
    c = m.parameter("c", CLEARANCE, unit="m")
    m.ground_point("O", (0, 0))
    m.body("plate", mass=1.0, inertia=0.1, points={"P": (0, 0)}, floating=True)
    m.clearance_joint("hinge", "ground.O", "plate.P", clearance=c, **surfaces)
    m.start(position={"plate.P": (0, 0)}, angle={"plate": 0.0})
    return m


def square(s: vm.State) -> Any:
    e = s.deviation("hinge")
    return vm.dot(e, e)


def falls(c: float) -> tuple[float, float]:
    """Time in contact (s), and ∫ |e|² dt (m²·s), without restitution."""
    lands = math.sqrt(2 * c / G)
    return DURATION - lands, G**2 * lands**5 / 20 + c**2 * (DURATION - lands)


def test_a_pin_that_falls_in_its_bore_loses_its_clearance(tmp_path: Path) -> None:
    run = hanger().simulate(DURATION, output=DURATION / 5000)
    lost, (contact, integral) = run.lost_motion("hinge"), falls(CLEARANCE)
    assert lost.joint == "hinge" and lost.impacts == 1
    assert lost.contact == pytest.approx(contact / DURATION, rel=1e-9)
    assert lost.largest == pytest.approx(CLEARANCE, rel=1e-9)
    assert lost.rms == pytest.approx(math.sqrt(integral / DURATION), rel=1e-6)
    assert lost.fastest == pytest.approx(math.sqrt(2 * G * CLEARANCE), rel=1e-9)
    assert "1 impacts" in str(lost) and "71.4 %" in str(lost)
    assert run.deviation("hinge").to_numpy()[-1] == pytest.approx([0, -CLEARANCE], abs=1e-12)
    assert run.plot(deviation="hinge").axes
    saved = vm.load_run(run.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(saved.deviation("hinge"), run.deviation("hinge"))
    with pytest.raises(vm.ModelError, match="a run read from a file has only its saved outputs"):
        saved.lost_motion("hinge")


@pytest.mark.parametrize("backend", ["interpreted", "auto"])
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_time_in_contact_and_mean_square_are_objectives(method: str, backend: str) -> None:
    objectives = {
        "contact": vm.integral(lambda s: s.in_contact("hinge"), unit="s"),
        "square": vm.integral(square, unit="m²·s"),
        "gap": vm.lowest('gap("hinge")', unit="m"),
    }
    g = hanger().sensitivity(objectives, "c", duration=DURATION, method=method, backend=backend)
    assert g.final_values == pytest.approx([*falls(CLEARANCE), 0], rel=1e-9, abs=1e-13)
    h = 1e-5 * CLEARANCE
    after, before = (np.array(falls(CLEARANCE + d)) for d in (h, -h))
    expected = [*((after - before) / (2 * h)), 0]
    assert g.final_gradient[:, 0] == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_offsets_are_in_the_frame_of_the_body_with_the_bore() -> None:
    m = vm.Mechanism("turning bore", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("arm", mass=1.0, inertia=0.1, points={"O": (0, 0), "B": (0.2, 0.1)})
    m.body("plate", mass=1.0, inertia=0.1, points={"P": (0, 0)}, floating=True)
    m.revolute("O")
    m.drive_angle("motor", "arm", lambda t: 0.3 + 20 * t)
    m.clearance_joint("bore", "arm.B", "plate.P", clearance=0.01, restitution=0.5)
    m.clearance_joint("slot", "ground.O", "plate.P", clearance=1.0, axis=(3, 4))
    m.start(position={"plate.P": (0.16, 0.155)}, angle={"plate": 0.0})
    run = m.simulate(0.1)
    offset = (run.position("plate.P") - run.position("arm.B")).to_numpy()
    angle = run.angle("arm").to_numpy()
    x = np.cos(angle) * offset[:, 0] + np.sin(angle) * offset[:, 1]
    y = -np.sin(angle) * offset[:, 0] + np.cos(angle) * offset[:, 1]
    assert run.events["bore"] and np.ptp(angle) == pytest.approx(2)
    assert run.deviation("bore").to_numpy() == pytest.approx(np.column_stack([x, y]), abs=1e-14)
    n, p = np.array([-0.8, 0.6]), run.position("plate.P").to_numpy()
    assert run.deviation("slot").to_numpy() == pytest.approx(np.outer(p @ n, n), abs=1e-14)


def test_compliant_surfaces_are_counted_at_stored_times() -> None:
    run = hanger(stiffness=1e6, damping=30.0).simulate(DURATION, output=DURATION / 20_000)
    lost = run.lost_motion("hinge")
    inside = np.linalg.norm(run.deviation("hinge").to_numpy(), axis=1) <= CLEARANCE
    assert lost.contact == pytest.approx(1 - inside[1:].mean(), abs=1e-3)
    assert lost.impacts == np.count_nonzero(inside[:-1] & ~inside[1:]) > 1
    assert lost.fastest == pytest.approx(math.sqrt(2 * G * CLEARANCE), rel=1e-3)
    assert lost.largest > CLEARANCE


def test_a_block_hits_both_sides_of_its_slot() -> None:
    run = clearance_slider_crank.mechanism().simulate(0.02, tolerance=1e-10)
    lost, events = run.lost_motion("guide"), run.events["guide.left"]
    closes = [e.time for e in events if e.what == "impact"][-1]
    (opens,) = [e.time for e in events if e.what == "release"]
    assert lost.impacts == len(events) - 1 == 13
    assert lost.contact == pytest.approx((opens - closes) / 0.02, rel=1e-6)
    assert lost.fastest == -events[0].before


def test_bad_names() -> None:
    m = hanger()
    run = m.simulate(0.01)
    for call in (run.lost_motion, run.deviation):
        with pytest.raises(vm.ModelError, match="no joint with clearance is called 'hinges'"):
            call("hinges")
    for text in ("gap('hinges')", "in_contact('hinges')"):
        with pytest.raises(vm.ModelError, match="no contact is called 'hinges'; did you mean"):
            m.sensitivity(vm.integral(text), duration=0.01)


def dropped(**surfaces: Any) -> vm.Mechanism:
    """A mass that falls on a stop from a given height."""
    m = vm.Mechanism("hammer", gravity=(0, -G))
    for name, value in {"K": 2e4, "h": 0.05}.items():
        m.parameter(name, value)
    m.ground_point("O", (0, 0))
    m.body("hammer", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "hammer.P", axis=(0, 1))
    m.stop("anvil", "displacement('guide')", lower=0.0, upper=1.0, **surfaces)
    m.start(displacement={"guide": "h"})
    return m


@pytest.mark.parametrize(
    "peak", [lambda s: s.contact_force("anvil.lower"), "contact_force('anvil.lower')"]
)
def test_the_peak_of_a_contact_force_is_that_of_the_energy_balance(peak: Any) -> None:
    K, h, weight = 2e4, 0.05, 2.0 * G
    m = dropped(stiffness="K", restitution=0.0)
    force = m.sensitivity({"peak": vm.peak(peak, unit="N")}, ["K", "h"], duration=0.15)
    root = math.sqrt(weight**2 + 2 * K * weight * h)
    np.testing.assert_allclose(force.final_values, weight + root, rtol=1e-8)
    np.testing.assert_allclose(
        force.final_gradient, [[weight * h / root, K * weight / root]], rtol=1e-6
    )
    run = m.simulate(0.15)
    assert not run.measure(lambda s: s.contact_force("anvil.upper")).any()


def test_a_rigid_contact_carries_the_weight() -> None:
    run = hanger(restitution=0.0).simulate(DURATION)
    flight = run.time < run.events["hinge"].times[0]
    force = run.measure("contact_force('hinge')").values
    assert flight.any() and not force[flight].any()
    np.testing.assert_allclose(force[run.time > run.events["hinge"].times[0]], G, rtol=1e-9)


def test_a_contact_force_beside_smooth_friction_is_the_normal_one() -> None:
    m = vm.Mechanism("block", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"P": (0, 0), "Q": (0.2, 0)}, floating=True)
    m.contact(
        *("floor", "block.P", "ground.O"),
        also=["block.Q"],
        normal=(0, 1),
        stiffness=1e4,
        friction=0.3,
        friction_law="tanh",
    )
    m.start(
        position={"block.P": (0, -1e-3)},
        angle={"block": 0.01},
        speed={"block.P": (1, 0), "block": 0},
    )
    run = m.simulate(1e-3)
    for name in "PQ":
        depth = -run.position(f"block.{name}").values[:, 1]
        np.testing.assert_allclose(
            run.measure(f"contact_force('floor.{name}')"), 1e4 * np.maximum(depth, 0), atol=1e-9
        )


def test_contact_forces_need_the_name_of_a_contact() -> None:
    run = hanger().simulate(0.01)
    with pytest.raises(vm.ModelError, match="no contact is called 'hing'; did you mean 'hinge'"):
        run.measure("contact_force('hing')")
    with pytest.raises(vm.ModelError, match=r"'hinge' is a contact.*use contact_force\('hinge'\)"):
        run.measure("effort('hinge')")
