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
