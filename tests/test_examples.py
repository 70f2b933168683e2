"""The examples against truths of their own: statics and kinematics by hand, finer runs, neighbours,
and the noise that was put in.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq, minimize
from scipy.stats import binom

import andrews_lengths
import andrews_peak_reaction
import bicycle
import bricard_loop
import cardan_shaft
import clearance_slider_crank
import five_bar_path
import five_bar_soft
import five_bar_still
import geneva_drive
import governor_regulation
import one_way_parts
import path_synthesis
import pendulum_fit
import planetary_gear
import robot_arm_pid
import slider_crank_reaction
import slider_crank_section
import stick_slip
import tolerances
import valve_train
import varimech as vm
import woodpecker
from varimech.benchmarks import bicycle as bicycle_model
from varimech.benchmarks import (
    bicycle_matrices,
    bricard,
    flexible_five_bar,
    spatial_slider_crank,
)


def balancing_lengths() -> tuple[float, float]:
    """Natural lengths that hold the five-bar, by moments: of each bar about a joint, with the joint
    forces as unknowns.

    Unknowns: forces of the joints A, 1, 2, 3, B on the bar that comes first in A1, 12, 23, 3B (two
    components each), and both spring forces. Three equations for each of four bars.
    """
    A, P1, P2, P3, B = (
        np.array(p) for p in ((0.0, 0.0), (-1.0, -1.0), (0.5, -2.0), (2.0, -1.0), (1.0, 0.0))
    )
    bars = [(A, P1, 1.0), (P1, P2, 1.5), (P2, P3, 1.5), (P3, B, 1.0)]
    matrix, right = np.zeros((12, 12)), np.zeros(12)

    def add(row: int, column: int, force: np.ndarray, arm: np.ndarray) -> None:
        matrix[row : row + 3, column] += [*force, arm[0] * force[1] - arm[1] * force[0]]

    for k, (start, end, mass) in enumerate(
        bars
    ):  # column 2k: force of the joint at its start, column 2k + 2: reversed, at its end
        for c, unit in enumerate(np.eye(2)):
            add(3 * k, 2 * k + c, unit, start)
            add(3 * k, 2 * k + 2 + c, -unit, end)
        centre = (start + end) / 2
        right[3 * k : 3 * k + 3] = [0.0, 9.81 * mass, 9.81 * mass * centre[0]]
    for column, bar, point in (
        (10, 0, P1),
        (11, 1, P2),
    ):  # tension of a spring pulls its point towards B
        add(3 * bar, column, (B - point) / np.linalg.norm(B - point), point)
    tension = np.linalg.solve(matrix, right)[10:]
    return tuple(
        float(np.linalg.norm(B - p) - t / 100) for p, t in zip((P1, P2), tension, strict=True)
    )  # type: ignore[return-value]


@pytest.fixture(scope="module")
def still() -> vm.Mechanism:
    return five_bar_still.mechanism()


@pytest.mark.parametrize("hessian", ["approximate", "exact"])
@pytest.mark.parametrize("start", five_bar_still.STARTS, ids=["relaxed", "second", "third"])
def test_the_five_bar_is_kept_still(
    still: vm.Mechanism, start: dict[str, float], hessian: str
) -> None:
    o = five_bar_still.solve(still, start, hessian)
    assert o.converged and o.iterations <= 30
    assert list(o.parameters.values()) == pytest.approx(balancing_lengths(), abs=1e-8)
    assert balancing_lengths() == pytest.approx((2.4319235744576, 1.8448688868054), abs=1e-13)


def drawn(lengths: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Point 2 of the five-bar with driven cranks, where circles around the crank pins meet above:
    (component, time).
    """
    width, a, r, s, b = lengths
    α, β = (first + five_bar_path.TURN * t for first in five_bar_path.FIRST.values())
    P, Q = (
        np.array([x + c * np.cos(φ), c * np.sin(φ)])
        for x, c, φ in ((-width / 2, a, α), (width / 2, b, β))
    )
    d = Q - P
    D = np.hypot(*d)
    x = (r**2 - s**2 + D**2) / (2 * D)
    return np.asarray(
        P + d / D * x + np.array([-d[1], d[0]]) / D * np.sqrt(np.maximum(r**2 - x**2, 0))
    )


def test_the_five_bar_draws_the_ellipse_as_well_as_it_can() -> None:
    o = five_bar_path.solve(five_bar_path.mechanism())
    t = np.arange(256) / 256  # equal parts of a period: exact for all harmonics that matter
    centre, axes = (
        np.array(five_bar_path.CENTRE)[:, None],
        np.array(five_bar_path.HALF_AXES)[:, None],
    )
    ellipse = centre + axes * np.array([np.cos(2 * math.pi * t), np.sin(2 * math.pi * t)])

    def psi(lengths: np.ndarray) -> float:
        return float(np.square(drawn(lengths, t) - ellipse).sum(axis=0).mean())

    assert o.objective == pytest.approx(psi(o.best.x), rel=1e-7)
    assert o.objective_before == pytest.approx(psi(o.best.start), rel=1e-7)

    def best(x: np.ndarray, widest: float = 0.3) -> tuple[np.ndarray, float]:
        bounds = [(0.1, widest), *[bounds for _, bounds in five_bar_path.LENGTHS.values()][1:]]
        rows = np.array([[-1, -1, 1, 1, -1], [1, -1, -1, 1, -1], [1, -1, 1, -1, -1]])
        reach = {"type": "ineq", "fun": lambda x: rows @ x - five_bar_path.MARGIN}
        options = {"ftol": 1e-14, "maxiter": 500}
        optimum = minimize(
            lambda x: 1e4 * psi(x),
            x,
            method="SLSQP",
            bounds=bounds,
            constraints=reach,
            options=options,
        )
        return optimum.x, 1e-4 * optimum.fun

    lengths, least = best(o.best.start)
    assert o.converged and o.objective == pytest.approx(least, rel=1e-6)
    assert o.best.x == pytest.approx(lengths, abs=2e-5)
    # the bound of the width holds it: by hand, what the optimum changes with that bound is −λ
    change = best(lengths, 0.3005)[1] - best(lengths, 0.2995)[1]
    assert o.multipliers["width"] == pytest.approx(-change / 0.001, rel=1e-2)
    assert (
        all(o.multipliers[name] == 0 for name in five_bar_path.closing()) and o.certificate.trusted
    )


def test_the_squeezer_is_lighter_on_its_bearing() -> None:
    m = andrews_peak_reaction.mechanism()
    o = andrews_peak_reaction.solve(m)
    assert o.converged and o.peak == pytest.approx(o.objective, rel=1e-6)

    def peak_and_turn(places: dict[str, float]) -> tuple[float, float]:
        """By another integrator, and at 5,000 instants."""
        run = m.simulate(0.05, integrator="dopri5", tolerance=1e-9, output=1e-5, parameters=places)
        angle = run.angle("OF").to_numpy()
        return float(run.measure(andrews_peak_reaction.reaction).to_numpy().max()), float(
            angle[-1] - angle[0]
        )

    before, turned = peak_and_turn({})
    after, as_far = peak_and_turn(o.parameters)
    assert (before, after) == (
        pytest.approx(o.objective_before, rel=1e-4),
        pytest.approx(o.objective, rel=1e-5),
    )
    assert after < 0.82 * before and as_far == pytest.approx(turned, abs=1e-5)
    # no neighbour within bounds that turns as far is better: patterns of steps along what is free,
    # and away from bounds
    (low, high), step = np.array(o.problem.bounds).T, 1e-4
    for signs in (
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, -1, 0, 0),
        (0, 0, -1, 0),
        (0, 0, 0, 1),
        (0, 1, 0, 1),
        (0, -1, 0, 1),
        (1, 1, -1, 1),
    ):
        x = np.clip(o.best.x + step * np.array(signs), low, high)
        peak, turn = peak_and_turn(dict(zip(o.problem.names, x.tolist(), strict=True)))
        # an exact penalty: where the turn is shorter, somewhat more than its multiplier says is
        # added
        assert peak + o.multipliers["turned"] * min(0.0, turn - turned) * 1.2 > after * (1 - 1e-6)


def test_the_rod_is_as_light_as_it_may_be() -> None:
    m = slider_crank_section.mechanism()
    o = slider_crank_section.solve(m)
    T = slider_crank_section.DURATION

    def largest(width: float, height: float, **options: float) -> float:
        run = m.simulate(
            T,
            parameters={"width": width, "height": height},
            **{"tolerance": 1e-8, "output": T / 1000, **options},  # type: ignore[arg-type]
        )
        return float(np.abs(run.measure(slider_crank_section.deflection).to_numpy()).max())

    width, height = o.parameters.values()
    assert (
        o.converged
        and width == pytest.approx(0.006, abs=1e-7)
        and bool(o.constraints.loc["deflection", "active"])
    )
    assert o.objective == pytest.approx(1410 * 0.24 * width * height, rel=1e-12)
    assert largest(width, height, tolerance=1e-10, output=T / 4000) == pytest.approx(1e-3, rel=1e-4)
    # mass against stiffness: anything lighter bends more, of the same width or wider; twice the
    # height bends by some quarter
    for w, h in ((1.0, 0.99), (1.0, 0.9), (1.15, 0.99 / 1.15), (1.1, 0.99 / 1.1)):
        assert largest(w * width, h * height) > 1.001e-3
    assert largest(width, 2 * height) == pytest.approx(1e-3 / 4, rel=0.15)
    assert 0.5e-3 < largest(2 * width, height) < 1e-3
    # multipliers by hand: from the slope of the deflection over the height, mass = ρ L w h
    slope = (
        largest(width, 1.005 * height, output=T / 4000)
        - largest(width, 0.995 * height, output=T / 4000)
    ) / (0.01 * height)
    assert o.multipliers["deflection"] == pytest.approx(-1410 * 0.24 * width / slope, rel=1e-2)


def test_stiffness_and_damping_are_found_as_well_as_they_can_be() -> None:
    m, truth = pendulum_fit.mechanism(), np.array(list(pendulum_fit.TRUTH.values()))
    fits = [pendulum_fit.solve(m, pendulum_fit.samples(seed)) for seed in range(1, 21)]
    assert all(f.converged for f in fits)
    f = fits[0]
    steps = 1e-5 * f.x
    derivatives = [
        (pendulum_fit.motion(*(f.x + d)) - pendulum_fit.motion(*(f.x - d))) / (2 * d.sum())
        for d in np.diag(steps)
    ]
    J, r = np.array(derivatives).T, pendulum_fit.motion(*f.x) - pendulum_fit.samples(1)
    covariance = r @ r / (r.size - 2) * np.linalg.inv(J.T @ J)
    assert f.covariance.to_numpy() == pytest.approx(covariance, rel=1e-4)
    assert np.abs(J.T @ r).max() < 1e-6 * np.abs(J.T @ J).max()  # the normal equations hold
    # 20 fits: their mean is off by no more than three of its deviations, and intervals hold the
    # truth as often as they should
    mean = np.mean([f.x for f in fits], axis=0)
    assert (
        np.abs(mean - truth)
        < 3 * np.mean([f.standard_errors for f in fits], axis=0) / math.sqrt(20)
    ).all()
    hits = sum(
        row["lower"] <= pendulum_fit.TRUTH[str(name)] <= row["upper"]
        for f in fits
        for name, row in f.intervals.iterrows()
    )
    assert binom.cdf(hits, 40, 0.95) > 1e-3
    noise = float(np.mean([f.residual_deviation["angle"] for f in fits]))
    assert noise == pytest.approx(pendulum_fit.NOISE, rel=4 / math.sqrt(2 * 20 * 118))


def test_an_example_as_a_user_runs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        vm.Gradient, "certify", lambda gradient: ""
    )  # certificates take their time, and have tests of their own
    pendulum_fit.main(tmp_path / "fit")
    assert (
        "within its interval" in capsys.readouterr().out
        and (tmp_path / "fit" / "fit.png").stat().st_size > 20_000
    )


def test_tolerances_of_the_five_bar_are_those_of_differences() -> None:
    """Runs one standard deviation to either side of each length, for slopes and for how much the
    mean moves.
    """
    moments = tolerances.five_bar_moments()
    m = tolerances.five_bar()
    names, σ = list(m.parameters), np.array([1e-3, 1e-3, 1e-3, 1e-3, 2e-3, 2e-3]) / 3
    nominal = np.array([p.value for p in m.parameters.values()])
    rows = np.vstack([nominal, nominal + np.diag(σ), nominal - np.diag(σ)])
    columns = {name: rows[:, k] for k, name in enumerate(names)}
    values = m.ensemble(
        tolerances.FIVE_BAR, columns, duration=5.0, tolerance=1e-11
    ).values.to_numpy()
    middle, above, below = values[0], values[1:7], values[7:]
    parts = ((above - below) / 2) ** 2
    assert moments.std.values[-1] == pytest.approx(np.sqrt(parts.sum(axis=0)), rel=1e-4)
    assert moments.contributions.values[-1] == pytest.approx(
        (parts / parts.sum(axis=0)).T, abs=1e-4
    )
    assert moments.mean.values[-1] - middle == pytest.approx(
        (above - 2 * middle + below).sum(axis=0) / 2, rel=1e-2
    )
    assert moments.horizon.values.tolist() == [5.0, 5.0, 5.0]


def test_tolerances_of_the_squeezer_hold_as_long_as_documented() -> None:
    moments = tolerances.squeezer_moments()
    study = tolerances.squeezer().monte_carlo(
        tolerances.SQUEEZER,
        tolerances.SQUEEZER_TOLERANCES,
        duration=0.05,
        samples=2048,
        sampling="sobol",
        output=2.5e-4,
    )
    off = np.maximum(abs(moments.mean - study.mean).values, abs(moments.std - study.std).values)
    t, σ = study.time, study.std.to_numpy()
    largest = np.array([σ[np.searchsorted(t, x / 2) : k + 1].max(axis=0) for k, x in enumerate(t)])
    beyond = off > 0.1 * largest + 1e-9
    assert moments.horizons[0] == 0.05 and not beyond[:, 0].any()
    assert moments.horizons[1] == pytest.approx(t[np.flatnonzero(beyond[:, 1])[0]], rel=0.05)


def test_bricards_loop_moves_although_it_should_not() -> None:
    m = bricard_loop.mechanism()
    tree = m.topology()
    assert len(tree.coordinates) - tree.equations["closure"] == 0 and m.dofs == 1
    run = m.simulate(2.5, tolerance=1e-9, output=0.5)
    for t, place in bricard.PLACES.items():  # by another program
        assert run.position("P3").sel(time=t, method="nearest").to_numpy() == pytest.approx(
            place, abs=1e-7
        )
    # it starts at rest, so that it swings to where its weights are as high again: half a turn, by
    # symmetry after half a period
    assert run.angle("P1").to_numpy()[-1] == pytest.approx(math.pi, abs=1e-3)
    assert bricard_loop.mechanism(math.radians(1)).dofs == 0


def test_the_governor_settles_where_statics_say() -> None:
    """The potential of gravity, spring and centrifugal forces is stationary; its derivative is that
    of its values to both sides.
    """
    g = governor_regulation

    def potential(s: float, k: float, Ω: float) -> float:
        droop = math.asin((g.TOP - s) / g.ARM)
        out = g.OUT + g.ARM * math.cos(droop)
        return (
            (2 * g.BALL + g.COLLAR) * 9.81 * s
            + k / 2 * (s - g.NATURAL) ** 2
            - g.BALL * (Ω * out) ** 2
        )

    def speed(s: float, k: float) -> float:
        slope = [(potential(s + 1e-6, k, Ω) - potential(s - 1e-6, k, Ω)) / 2e-6 for Ω in (0.0, 1.0)]
        return math.sqrt(slope[0] / (slope[0] - slope[1]))

    m, k = g.mechanism(), 50.0
    risen = g.S0 + (g.LOADS[0] - g.LOADS[1]) / g.GAIN
    run = m.simulate(6.0, tolerance=1e-7, output=0.5, parameters={"k": k})
    Ω, s = run.angular_velocity("foot").to_numpy(), run.displacement("guide").to_numpy()
    assert Ω[:2] == pytest.approx(speed(g.S0, k), rel=1e-6) and s[:2] == pytest.approx(
        g.S0, abs=1e-6
    )
    assert s[-1] == pytest.approx(risen, abs=2e-5) and Ω[-1] == pytest.approx(
        speed(risen, k), rel=1e-4
    )
    gains = [speed(risen, k) / speed(g.S0, k) for k in g.STIFFNESSES]
    assert gains == sorted(gains)  # softer springs let go of less speed


def test_what_a_longer_crank_does_is_foretold() -> None:
    """What is left falls with the square of the change."""
    m = spatial_slider_crank.mechanism()
    run = slider_crank_reaction.solve(m).run
    R, slope = (
        run.measure(slider_crank_reaction.reaction, wrt=wrt).to_numpy() for wrt in (None, "L_crank")
    )
    left = []
    for longer in (1e-4, 5e-5):
        other = m.simulate(
            slider_crank_reaction.DURATION, tolerance=1e-9, parameters={"L_crank": 0.08 + longer}
        )
        change = other.measure(slider_crank_reaction.reaction).to_numpy() - R
        left.append(np.abs(change - longer * slope).max())
        assert left[-1] < 0.06 * np.abs(change).max()
    assert left[0] / left[1] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("E", [five_bar_soft.STEEL, five_bar_soft.SOFT], ids=["steel", "soft"])
def test_the_five_bar_bends_as_another_program_says(E: float) -> None:
    run = five_bar_soft.mechanism(segments=2).simulate(
        five_bar_soft.DURATION, tolerance=1e-10, output=0.5, parameters={"E": E}
    )
    for point, place in flexible_five_bar.PLACES[E].items():
        assert run.position(point).to_numpy()[-1] == pytest.approx(place, abs=1e-7)


def test_all_lengths_of_the_squeezer_at_once() -> None:
    m = andrews_lengths.mechanism()
    solution = andrews_lengths.solve(m)
    energy, β = solution.run.energy().to_numpy(), solution.run.angle("OF").to_numpy()
    assert energy[-1] - energy[0] == pytest.approx(
        0.033 * (β[-1] - β[0]), rel=1e-7
    )  # what the motor gave
    kinetic = {}
    for name in ("L_BE", "y_C", "rr"):
        x = m.parameters[name].value
        for change in (1e-5, -1e-5):
            run = m.simulate(
                andrews_lengths.DURATION,
                tolerance=1e-11,
                output=0.03,
                parameters={name: x * (1 + change)},
            )
            kinetic[change] = float(run.energy("kinetic")[-1])
        slope = (kinetic[1e-5] - kinetic[-1e-5]) / (2e-5 * x)
        assert solution.gradient.sel(parameter=name).item() == pytest.approx(slope, rel=1e-4)


def slider_with_clearance(c: float) -> tuple[float, list[float]]:
    """Final position of the slider (m) and times of its impacts (s), by hand and SciPy: two angles,
    Newton's impact law, contact without force below 10 μm/s.
    """
    L1, L2, m1, m2, m3 = 0.153, 0.306, 0.038, 0.038, 0.076
    first = 7.4e-5 + (m1 / 4 + m2 + m3) * L1**2
    second, coupled = 5.9e-4 + (m2 / 4 + m3) * L2**2, (m2 / 2 + m3) * L1 * L2

    def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        α, β, u, v = x
        off = coupled * math.cos(α - β)
        weights = 9.81 * np.array([(m1 / 2 + m2 + m3) * L1, (m2 / 2 + m3) * L2])
        force = coupled * math.sin(α - β) * np.array([-(v**2), u**2])
        across = np.array([L1 * math.cos(α), L2 * math.cos(β)])
        bias = -L1 * math.sin(α) * u**2 - L2 * math.sin(β) * v**2
        force = force - weights * np.cos([α, β])
        return np.array([[first, off], [off, second]]), force, across, bias

    def free(t: float, x: np.ndarray) -> np.ndarray:
        M, force, _, _ = parts(x)
        return np.concatenate([x[2:], np.linalg.solve(M, force)])

    def normal(_: float, x: np.ndarray) -> float:
        M, force, w, bias = parts(x)
        return float((w @ np.linalg.solve(M, force) + bias) / (w @ np.linalg.solve(M, w)))

    def closed(t: float, x: np.ndarray) -> np.ndarray:
        M, force, w, _ = parts(x)
        return np.concatenate([x[2:], np.linalg.solve(M, force - w * normal(t, x))])

    def touch(_: float, x: np.ndarray) -> float:
        return c - L1 * math.sin(x[0]) - L2 * math.sin(x[1])

    def leaves(t: float, x: np.ndarray) -> float:
        return normal(t, x)

    touch.terminal = leaves.terminal = True  # type: ignore[attr-defined]
    touch.direction = leaves.direction = -1  # type: ignore[attr-defined]
    rates: Any = free
    event: Any = touch
    t, x, impacts = 0.0, np.array([0.0, 0.0, 150.0, -75.0]), list[float]()
    while t < 0.02:
        s = solve_ivp(
            rates, (t, 0.02), x, "DOP853", events=event, rtol=1e-12, atol=1e-14, max_step=1e-4
        )
        t, x = float(s.t[-1]), s.y[:, -1]
        if not s.t_events[0].size:
            break
        if rates is closed:
            rates, event = free, touch
            t, x = t + 1e-9, x + 1e-9 * free(t, x)  # away from the surface
            continue
        M, _, w, _ = parts(x)
        speed = float(w @ x[2:])
        impacts.append(t)
        solved = np.linalg.solve(M, w)
        slow = speed < 1e-5
        x[2:] -= solved * (1.0 if slow else 1.4) * speed / (w @ solved)
        if slow:
            rates, event = closed, leaves
        else:
            t, x = t + 1e-10, x + 1e-10 * free(t, x)
    return float(L1 * math.cos(x[0]) + L2 * math.cos(x[1])), impacts


@pytest.mark.parametrize("c", [1e-3, 1.6e-3], ids=["stays in contact", "three impacts"])
def test_the_slider_hits_its_guide_as_by_hand(c: float) -> None:
    g = clearance_slider_crank.gradient(clearance_slider_crank.mechanism(), c)
    x, times = slider_with_clearance(c)
    hits = [e.time for e in clearance_slider_crank.impacts(g.run)]
    n = len(times)  # later ones are slower than 10 μm/s
    assert hits[:n] == pytest.approx(times[: len(hits)], abs=1e-8) and n >= 3
    assert g.final_values.item() == pytest.approx(x, abs=1e-8)
    after, before = (slider_with_clearance(c + d)[0] for d in (1e-5, -1e-5))
    assert g.final_gradient.item() == pytest.approx((after - before) / 2e-5, rel=1e-3)


def test_the_block_sticks_and_slides_as_in_closed_form() -> None:
    m = stick_slip.mechanism()
    objective = vm.final(stick_slip.position)
    g = m.sensitivity(objective, ["mu_s"], duration=stick_slip.DURATION, tolerance=1e-11)
    sticks, slides = stick_slip.phases()
    slips = [e.time for e in g.run.events if e.what == "slip"]
    assert np.diff(slips) == pytest.approx(sticks + slides, rel=1e-9) and len(slips) == 5
    assert g.final_gradient.item() == pytest.approx(stick_slip.derivative(5), rel=1e-9)
    h = 1e-6  # the closed form of the derivative against that of the phases
    longer, shorter = (np.array(stick_slip.phases(stick_slip.STATIC + d)) for d in (h, -h))
    change = (longer - shorter) / (2 * h)
    later = stick_slip.derivative(2) - stick_slip.derivative(1)
    assert later == pytest.approx(-stick_slip.BELT * change.sum(), rel=1e-6)


WOODPECKER = np.array([0.3, 0.0056, 0.0031])
"""Friction coefficient, stiffness (N·m/rad) and inner radius (m) of the toy."""


def descent_by_hand(parameters: np.ndarray, T: float) -> np.ndarray:
    """Times (s) of the woodpecker's pecks until T, and the heights of its sleeve (m), by hand and
    SciPy: no more than one of three contacts is closed at once, and it sticks or slides.
    """
    w, (μ, k, radius) = woodpecker, parameters.tolist()
    m1, m2, J1, J2 = 0.0003, 0.0045, 5e-9, 7e-7
    normals = np.array([[0, 0, -w.BEAK_HEIGHT], [0, w.EDGE, 0], [0, -w.EDGE, 0]])
    slips = np.array([[1, w.HINGE, w.COM - w.BEAK], [1, radius, 0], [1, radius, 0]])
    play = np.array([w.HINGE + w.COM - w.BEAK - w.POLE, radius - w.POLE, radius - w.POLE])
    arms = np.array([w.HINGE, w.COM])

    def balance(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        φ, χ = x[1:3]
        lift, both = m2 * arms * np.cos(x[1:3]), m2 * w.HINGE * w.COM
        off, turn = both * math.cos(φ - χ), both * math.sin(φ - χ)
        M = np.diag([m1 + m2, J1 + m2 * w.HINGE**2, J2 + m2 * w.COM**2])
        M[0, 1:] = M[1:, 0] = lift
        M[1, 2] = M[2, 1] = off
        swing, torque = m2 * (arms * np.sin(x[1:3])) @ x[4:] ** 2, k * (χ - φ)
        moments = [torque - turn * x[5] ** 2, turn * x[4] ** 2 - torque]
        return M, np.array([swing - 9.81 * (m1 + m2), *(moments - 9.81 * lift)])

    def reaction(i: int, slides: float, M: np.ndarray, a: np.ndarray, b: float) -> np.ndarray:
        """Normal and friction force (or impulses) of a contact that change a, so that its normal
        component becomes b, and its tangential one 0 if the contact sticks.
        """
        W = np.array([normals[i], slips[i]])
        A, c = W @ np.linalg.solve(M, W.T), np.array([b, 0]) - W @ a
        if slides:
            A[1], c[1] = [slides * μ, 1], 0.0
        return np.linalg.solve(A, c)

    def forces(i: int, slides: float, x: np.ndarray) -> np.ndarray:
        M, f = balance(x)
        return reaction(i, slides, M, np.linalg.solve(M, f), 0.0)

    def rates(_: float, x: np.ndarray, i: int, slides: float) -> np.ndarray:
        M, f = balance(x)
        if i >= 0:
            f = f + forces(i, slides, x) @ np.array([normals[i], slips[i]])
        return np.concatenate([x[3:], np.linalg.solve(M, f)])

    def values(x: np.ndarray, i: int, slides: float) -> np.ndarray:
        """Positive until the mode ends: gaps, normal force, and slip or the reserve of friction."""
        gaps, force, grip = play + normals @ x[:3], 1.0, 1.0
        if i >= 0:
            gaps[i] = 1.0
            force, friction = forces(i, slides, x)
            grip = slides * slips[i] @ x[3:] if slides else μ * force - abs(friction)
        return np.array([*gaps, force, grip])

    def event(j: int) -> Any:
        def value(_: float, x: np.ndarray, i: int, slides: float) -> float:
            return float(values(x, i, slides)[j])

        value.terminal, value.direction = True, -1  # type: ignore[attr-defined]
        return value

    events, pecks = [event(j) for j in range(5)], list[tuple[float, float]]()
    x = np.array([0.0, -play[1] / w.EDGE, -0.2788, -0.3411, 0.0, -7.4583])
    t, i, slides = 0.0, 1, -1.0
    while True:
        s = solve_ivp(
            rates, (t, T), x, "DOP853", events=events, args=(i, slides), rtol=1e-11, atol=1e-13
        )
        t, x = float(s.t[-1]), s.y[:, -1]
        ended = [j for j in range(5) if s.t_events[j].size]
        if not ended:
            return np.array(pecks)
        if ended[0] == 3:  # no normal force
            i, slides = -1, 0.0
        elif ended[0] == 4:  # sticks if friction is sufficient, or slides
            force, friction = forces(i, 0.0, x)
            sticks = slides != 0 and abs(friction) <= μ * force
            slides = 0.0 if sticks else -(slides or float(np.sign(friction)))
        else:
            assert i < 0
            i, slides, (M, _) = ended[0], 0.0, balance(x)
            target = -0.5 * normals[0] @ x[3:] if i == 0 else 0.0
            before = x[3:].copy()
            impulses = reaction(i, 0.0, M, before, target)
            if abs(impulses[1]) > μ * impulses[0]:
                slides = -float(np.sign(impulses[1]))
                impulses = reaction(i, slides, M, before, target)
            W = np.array([normals[i], slips[i]])
            x[3:] = before + np.linalg.solve(M, W.T @ impulses)
            assert slides * slips[i] @ x[3:] >= 0
            if i == 0:
                pecks.append((t, float(x[0])))
                i, slides = -1, 0.0
        t, x = t + 1e-9, x + 1e-9 * rates(t, x, i, slides)  # away from the event


def test_the_woodpecker_descends_as_by_hand() -> None:
    m, T, p = woodpecker.mechanism(), 0.45, WOODPECKER
    objectives = {
        "time": vm.time_of("beak", occurrence=3),
        "height": vm.at("beak", woodpecker.height, occurrence=3),
    }
    g = m.sensitivity(objectives, duration=T, tolerance=1e-10)
    pecks = descent_by_hand(p, T)
    assert g.run.events["beak"].times == pytest.approx(pecks[:, 0], abs=1e-7)
    assert g.final_values == pytest.approx(pecks[2], abs=1e-7)
    for k, change in enumerate(1e-5 * np.diag(p)):
        after, before = (descent_by_hand(q, T)[2] for q in (p + change, p - change))
        difference = (after - before) / (2 * change[k])
        assert g.final_gradient[:, k] == pytest.approx(difference, rel=1e-4)


def test_the_woodpecker_reaches_its_limit_cycle() -> None:
    m = woodpecker.mechanism()
    values, derivatives = woodpecker.cycle(m, ["mu", "r"], "direct")
    pecks = descent_by_hand(WOODPECKER, woodpecker.DURATION)
    cycles = np.diff(pecks, axis=0) * [1, -1]
    assert len(pecks) == woodpecker.PECKS
    assert values == pytest.approx(cycles[-1], rel=1e-5)
    assert cycles[-2] == pytest.approx(cycles[-1], rel=1e-5)  # it repeats itself
    assert woodpecker.cycle(m, ["mu", "r"], "adjoint")[1] == pytest.approx(derivatives, rel=1e-6)


@pytest.mark.parametrize(
    ("friction", "periods"),
    # by Moreau's time stepping with 0.2 μs, projected Gauss–Seidel, no events; to 0.03 ms
    [(0.302, (165.82, 165.82)), (0.304, (156.07, 164.11)), (0.306, (152.05, 162.19))],
)
def test_the_woodpecker_doubles_its_period(friction: float, periods: tuple[float, float]) -> None:
    m = woodpecker.mechanism()
    run = m.simulate(4.0, tolerance=1e-9, parameters={"mu": friction}, output=4.0)
    last = 1e3 * np.diff(run.events["beak"].times)[-2:]
    assert sorted(last) == pytest.approx(periods, abs=0.03)


def geneva_hit(c: float, brake: float) -> tuple[float, float]:
    """Speed (m/s) and time (s) at which the pin of the Geneva drive hits the second wall, in closed
    form: the first wall determines the angle of the wheel until the brake alone (`brake`, torque over
    inertia, rad/s²) slows it down as much; then it turns freely.
    """
    g = geneva_drive
    φ = ca.SX.sym("φ")
    to_pin = ca.vertcat(g.CENTRES - g.CRANK * ca.cos(φ), -g.CRANK * ca.sin(φ))
    wall = ca.atan2(to_pin[1], to_pin[0]) + ca.asin(c / ca.norm_2(to_pin))
    rate = ca.jacobian(wall, φ)
    closed = ca.Function("closed", [φ], [wall, rate, ca.jacobian(rate, φ)])
    turn = g.SPEED**2
    leaves = brentq(lambda x: turn * float(closed(x)[2]) - brake, -0.3, 0.3, xtol=1e-15)
    angle, ω = float(closed(leaves)[0]), g.SPEED * float(closed(leaves)[1])
    t = (φ - leaves) / g.SPEED
    free = angle + ω * t + brake * t**2 / 2
    across = -ca.sin(free) * to_pin[0] + ca.cos(free) * to_pin[1]
    flight = ca.Function("flight", [φ], [across, g.SPEED * ca.jacobian(across, φ)])
    hits = brentq(lambda x: float(flight(x)[0]) - c, leaves + 0.02, leaves + 0.5, xtol=1e-15)
    return float(flight(hits)[1]), (hits - g.START) / g.SPEED


def test_the_geneva_drive_turns_and_hits_as_in_closed_form() -> None:
    g, m = geneva_drive, geneva_drive.mechanism()
    direct, adjoint = (g.hit(m, method) for method in ("direct", "adjoint"))
    c, T, J = (p.value for p in m.parameters.values())
    assert direct.final_values == pytest.approx(geneva_hit(c, T / J), rel=1e-9)
    h = 1e-4 * c
    after, before = (np.array(geneva_hit(c + d, T / J)) for d in (h, -h))
    assert direct.final_gradient[:, 0] == pytest.approx((after - before) / (2 * h), rel=1e-6)
    h = 1e-3 * T
    after, before = (np.array(geneva_hit(c, (T + d) / J)) for d in (h, -h))
    assert direct.final_gradient[:, 1] == pytest.approx((after - before) / (2 * h), rel=1e-6)
    assert adjoint.final_gradient == pytest.approx(direct.final_gradient, rel=1e-8)


def test_the_geneva_drive_indexes_twice() -> None:
    g, m = geneva_drive, geneva_drive.mechanism()
    run = m.simulate(g.DURATION, output=g.DURATION / 2000)
    c, angle, φ = m.parameters["c"].value, run.angle("wheel").to_numpy(), g.crank_angle(run.time)
    for turn in (0, 1):  # the wheel is ahead of the pin by the clearance, or behind it
        position = φ - 2 * np.pi * turn
        for name, sign in ((f"drives {turn}", 1), (f"holds {turn}", -1)):
            touched = [e.time for e in run.events[name] if e.what == "impact"][-1]
            (left,) = [e.time for e in run.events[name] if e.what == "release"]
            k = (run.time > touched) & (run.time < left)
            ahead = sign * np.arcsin(c / g.pin_radius(position[k])) - turn * np.pi / 2
            assert k.sum() > 50 and angle[k] == pytest.approx(
                g.slot_angle(position[k]) + ahead, abs=1e-9
            )
        dwells = (np.degrees(position) > 60) & (np.degrees(position) < 300)
        play = np.abs(angle[dwells] + (turn + 1) * np.pi / 2)
        x, y = g.horn(1)
        lever = g.CENTRES * y / math.hypot(g.CENTRES - x, y)  # of a force of the disc on a horn
        assert play.max() < 1.01 * g.PLAY / lever
        assert np.ptp(angle[dwells]) < 1e-9


def test_parts_act_in_one_direction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_way_parts.main(tmp_path)
    printed = capsys.readouterr().out
    assert len(list(tmp_path.glob("*.png"))) == 1

    def numbers(line: str) -> list[float]:
        text = next(x for x in printed.splitlines() if x.startswith(line))
        return [float(x) for x in re.findall(r"-?\d+\.\d+", text)]

    assert numbers("bumper") == pytest.approx([1e3 * 0.5 * math.sqrt(2 / 800), 0.5], rel=1e-5)
    overrun = math.asin(0.1 / 0.02 / 36) / 6  # the driver slows down faster than drag does
    lock = brentq(
        lambda t: 6 * math.cos(6 * overrun) - 5 * (t - overrun) - 6 * math.cos(6 * t), 0.5, 1.0
    )
    assert numbers("clutch") == pytest.approx([overrun, lock], abs=1e-6)

    def pull(_: float, x: np.ndarray) -> float:
        return float(x[1] ** 2 + 9.81 * math.cos(x[0]))

    s = solve_ivp(
        lambda _, x: [x[1], -9.81 * math.sin(x[0])],
        (0, 1),
        [0.0, 6.0],
        "DOP853",
        events=pull,
        rtol=1e-11,
        atol=1e-13,
    )
    slack, (φ, ω) = s.t_events[0][0], s.y_events[0][0]
    place, v = np.array([math.sin(φ), -math.cos(φ)]), ω * np.array([math.cos(φ), math.sin(φ)])
    fall = np.array([0.0, -9.81 / 2])
    flown = brentq(lambda t: np.hypot(*(place + v * t + fall * t * t)) - 1, 0.1, 1.5)
    assert numbers("cable") == pytest.approx([slack, slack + flown], abs=1e-6)
    assert np.diff(numbers("ratchet")) == pytest.approx(1.0, abs=2e-4)

    def held(x: float) -> float:
        front, back = math.tanh((x - 0.01) / 0.004), math.tanh((x - 0.024) / 0.0005)
        z = 2e-3 * (1 + front) * (1 - back)
        ramp = (1 - front**2) * (1 - back) / 0.004 - (1 + front) * (1 - back**2) / 0.0005
        return -3 - 2e-3 * ramp * (5 + 1000 * z)

    assert numbers("latch: closed at 1.2")[1] == pytest.approx(
        1e3 * brentq(held, 0.024, 0.028), abs=2e-3
    )
    assert numbers("latch: closed at 0.8")[1] < -20


@pytest.mark.parametrize(
    "example", [andrews_lengths, slider_crank_reaction], ids=lambda e: e.__name__
)
def test_pictures_of_the_gallery_are_drawn(
    example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example.main(tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 2 and len(capsys.readouterr().out) > 100


def test_every_example_is_in_the_gallery_and_in_the_makefile() -> None:
    root = Path(__file__).parent.parent
    page, makefile = (
        (root / name).read_text(encoding="utf-8") for name in ("docs/gallery.md", "Makefile")
    )
    listed = re.search(r"^EXAMPLES := (.*)$", makefile, flags=re.MULTILINE)
    names = {path.stem for path in (root / "examples").glob("*.py")}
    assert listed and set(listed[1].split()) == names
    for name in names:
        assert f"examples/{name}.py" in page, name
    pictures = [root / "docs" / x for x in re.findall(r"\]\((images/[^)]+)\)", page)]
    assert len(pictures) >= len(names) and all(p.stat().st_size < 150_000 for p in pictures)


@pytest.mark.parametrize("gear", planetary_gear.GEARS)
def test_a_planetary_set_obeys_willis(gear: str) -> None:
    p = planetary_gear
    run = p.planetary(gear).simulate(1.0)
    ω = {name: run.angular_velocity(name).to_numpy() for name in ("sun", "ring", "carrier")}
    i = p.RING / p.SUN
    assert ω["sun"] - ω["carrier"] == pytest.approx(-i * (ω["ring"] - ω["carrier"]), abs=1e-8)
    expected = {"ring held": 1 + i, "sun held": 1 + 1 / i, "carrier held": -i}[gear]
    held, driving, driven = p.GEARS[gear]
    assert ω[driving] / ω[driven] == pytest.approx(expected, rel=1e-9)
    T = p.torques(run, gear)
    assert T["ring"] == pytest.approx(i * T["sun"], rel=1e-7)
    assert T["carrier"] == pytest.approx(-(1 + i) * T["sun"], rel=1e-7)
    assert T[driving] * ω[driving][-1] > 0 > T[driven] * ω[driven][-1]
    assert abs(T[driven]) == p.LOAD and abs(ω[held]).max() < 1e-9


def of_differential(cl: complex, cr: complex, t: float) -> np.ndarray:
    """Speeds of both wheels: M ω̇ = T/2 − c ω, from rest, by the exponential of a matrix."""
    p, J = planetary_gear, planetary_gear.INERTIAS
    cage = J["cage"] + J["spider"] + p.SPIDER_MASS * p.SPIDER_RADIUS**2
    half, spin = np.array([0.5, 0.5]), p.SIDE / p.SPIDER * np.array([0.5, -0.5])
    M = np.diag([J["left"], J["right"]]) + cage * np.outer(half, half)
    M += J["spider"] * np.outer(spin, spin)
    A = np.zeros((3, 3), dtype=complex)
    A[:2, :2] = -np.linalg.solve(M, np.diag([cl, cr]))
    A[:2, 2] = np.linalg.solve(M, half * p.CAGE_TORQUE)
    return expm(A * t)[:2, 2]


def test_a_differential_with_a_wheel_on_ice() -> None:
    p, t, h = planetary_gear, 2.0, 1e-20
    m = p.differential()
    slopes = [of_differential(0.5 + 1j * h, 5.0, t), of_differential(0.5, 5.0 + 1j * h, t)]
    for method in ("direct", "adjoint"):
        g = m.sensitivity(p.SPEEDS, duration=t, method=method, tolerance=1e-10)
        assert g.final_values == pytest.approx(of_differential(0.5, 5.0, t).real, rel=1e-8)
        assert g.final_gradient == pytest.approx(np.stack(slopes, axis=1).imag / h, rel=1e-7)
    run = m.simulate(t, tolerance=1e-9)
    left, right, cage = (
        run.angular_velocity(name).to_numpy()[:, 0] for name in ("left", "right", "cage")
    )
    assert left + right == pytest.approx(2 * cage, abs=1e-8)
    # torques of the spider on both wheels, along their own axes: equal but for its own inertia
    i = p.SIDE / p.SPIDER
    on = {side: -i * run.effort(f"mesh {side}").to_numpy() for side in ("left", "right")}
    spin = p.INERTIAS["spider"] * run.angular_acceleration("spider").to_numpy()
    R = run.rotation("spider").to_numpy()
    own = np.einsum("ti,ti->t", R[:, :, 2], spin)
    assert -(on["left"] + on["right"]) / i == pytest.approx(own, abs=1e-6)
    assert np.abs(on["left"] + on["right"]).max() < 0.01 * np.abs(on["left"]).max()


def test_one_universal_joint_is_uneven() -> None:
    c = cardan_shaft
    run = c.single().simulate(c.DURATION, tolerance=1e-10, output=c.DURATION / 90)
    ratio = run.measure(c.output_speed).to_numpy() / c.SPEED
    assert ratio == pytest.approx(c.single_ratio(c.SPEED * run.time), rel=1e-8)
    assert ratio.max() == pytest.approx(1 / np.cos(c.BETA), rel=1e-8)
    assert run.reaction("B").sizes["time"] == 91


def cardan_range(β: float, ψ: float) -> float:
    """Range of the output speed of two joints over a turn, from  tan φ₂ = tan φ₁/cos β  and
    tan φ₃ = cos β tan(φ₂ + ψ).
    """
    φ1 = np.linspace(0.0, np.pi, 200_001)
    φ2 = np.arctan2(np.sin(φ1), np.cos(β) * np.cos(φ1))
    first = np.cos(β) / (1 - np.sin(β) ** 2 * np.cos(φ1) ** 2)
    second = np.cos(β) / (1 - np.sin(β) ** 2 * np.sin(φ2 + ψ) ** 2)
    return float(np.ptp(first * second))


def test_two_universal_joints_are_even_unless_their_forks_are_twisted() -> None:
    c = cardan_shaft
    m = c.double()
    run = m.simulate(c.DURATION, tolerance=1e-10)
    assert run.angular_velocity("B").to_numpy() == pytest.approx(c.SPEED, rel=1e-9)
    ψ, h = np.radians(10), 1e-4
    for method in ("direct", "adjoint"):
        g = c.unevenness(m, ψ, method)
        assert g.final_values[0] == pytest.approx(cardan_range(c.BETA, ψ), rel=1e-7)
        slopes = [
            (cardan_range(c.BETA + a, ψ + b) - cardan_range(c.BETA - a, ψ - b)) / (2 * h)
            for a, b in ((h, 0), (0, h))
        ]
        assert g.final_gradient[0] == pytest.approx(slopes, rel=1e-5)


def test_the_robot_arm_has_the_margins_of_its_equations(tmp_path: Path) -> None:
    """Phase margin by the linear equations of two pendulums about the final position, by hand; its
    deviation to first order against a sample.
    """
    a = robot_arm_pid
    result = a.main(tmp_path, samples_count=30)
    assert result["sampled"] == pytest.approx(result["first order"], rel=0.35)
    kp, ki, kd = (result[name] for name in a.GAINS)
    M, mu, mf, L1, L2 = 0.5, 1.5, 0.8, a.UPPER, a.FORE
    θ, ψ = a.TARGETS["shoulder"], a.TARGETS["elbow"]
    # kinetic energy of both bars and the load in rates of the absolute angles θ and θ + ψ
    one, both = mu * L1**2 / 3 + (mf + M) * L1**2, (mf / 2 + M) * L1 * L2 * math.cos(ψ)
    two = mf * L2**2 / 3 + M * L2**2 + 1e-3
    inertia = np.array([[one + 2 * both + two, both + two], [both + two, two]])
    fall2 = -9.81 * (mf / 2 + M) * L2 * math.sin(θ + ψ)
    fall1 = -9.81 * (mu / 2 + mf + M) * L1 * math.sin(θ)
    weight = np.array([[fall1 + fall2, fall2], [fall2, fall2]])

    def loop(ω: float) -> complex:
        s = 1j * ω
        elbow = 60 + 60 / s + 6 * s
        K = inertia * s**2 + weight + np.diag([0, elbow])
        plant = np.linalg.solve(K, np.array([1.0, 0.0]))[0]
        return complex((kp + ki / s + kd * s / (0.005 * s + 1)) / (0.005 * s + 1) * plant)

    ω = brentq(lambda ω: abs(loop(ω)) - 1, 15, 200, xtol=1e-12)
    margin = math.degrees(math.pi + np.angle(loop(ω)))
    assert result["phase margin"] == pytest.approx(margin, abs=1e-5)


def test_the_learned_controller_moves_as_its_equation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One equation for the crank angle, by hand, with the network evaluated by PyTorch:

    I θ'' + ½ I_θ θ'² = T − c x_θ² θ' − V_θ
    """
    torch = pytest.importorskip("torch")
    import learned_controller as c

    outcome = c.main(tmp_path, steps=12)
    assert outcome is not None
    result, _ = outcome
    assert result.losses[-1] < 0.2 * result.losses[0]
    assert (tmp_path / "learned_controller.png").stat().st_size > 20_000

    def rates(t: float, y: np.ndarray, mass: float) -> list[float]:
        θ, ω, _ = y
        sβ = c.CRANK * math.sin(θ) / c.ROD
        cβ = math.sqrt(1 - sβ**2)
        β1 = c.CRANK * math.cos(θ) / (c.ROD * cβ)
        β2 = (-c.CRANK * math.sin(θ) / c.ROD + sβ * β1**2) / cβ
        x1 = -c.CRANK * math.sin(θ) - c.ROD * sβ * β1
        x2 = -c.CRANK * math.cos(θ) - c.ROD * (cβ * β1**2 + sβ * β2)
        # the middle of the rod lies halfway between pin and slider
        G1 = np.array([(x1 - c.CRANK * math.sin(θ)) / 2, c.CRANK * math.cos(θ) / 2])
        G2 = np.array([(x2 - c.CRANK * math.cos(θ)) / 2, -c.CRANK * math.sin(θ) / 2])
        m1, m2, J = c.CRANK_MASS, c.ROD_MASS, c.ROD_MASS * c.ROD**2 / 12
        inertia = m1 * c.CRANK**2 / 3 + m2 * G1 @ G1 + J * β1**2 + mass * x1**2
        half_slope = m2 * G1 @ G2 + J * β1 * β2 + mass * x1 * x2
        inputs = torch.tensor([math.cos(θ), math.sin(θ), ω / c.SPEED - 1], dtype=torch.float64)
        with torch.no_grad():
            u = float(result.net(inputs))
        weight = (m1 + m2) / 2 * 9.81 * c.CRANK * math.cos(θ)
        effort = c.TORQUE * u - c.LOAD * x1**2 * ω - weight - half_slope * ω**2
        cost = ((ω / c.SPEED - 1) ** 2 + 1e-3 * u**2) / c.DURATION
        return [ω, effort / inertia, cost]

    for mass in (1.0, 2.7):
        options: dict[str, Any] = {"args": (mass,), "rtol": 1e-9, "atol": 1e-9, "method": "DOP853"}
        motion = solve_ivp(rates, (0, c.DURATION), [0.3, c.SPEED, 0.0], **options)
        run = c.mechanism().sensitivity(
            c.unevenness(), "slider", duration=c.DURATION, tolerance=1e-9,
            parameters={"slider": mass, **result.weights},
        )  # fmt: skip
        assert run.values.item() == pytest.approx(motion.y[2, -1], rel=1e-6)
        assert float(run.run.angular_velocity("crank")[-1]) == pytest.approx(
            motion.y[1, -1], rel=1e-6
        )
    monkeypatch.setattr(c, "torch", None)
    capsys.readouterr()
    assert c.main(tmp_path) is None
    assert "needs PyTorch: pip install 'varimech[torch]'" in capsys.readouterr().out


def test_path_synthesis_beats_chebyshev() -> None:
    """Both linkages by the law of cosines: the deviation from the line over the stroke."""
    m = path_synthesis.linkage()
    before, after = path_synthesis.main()

    def deviation(crank: float, coupler: float, rocker: float, x: float, y: float) -> Any:
        φ = np.linspace(0.3, 1.6, 200_001)
        B = crank * np.exp(1j * φ)
        r = abs(0.2 - B)
        with np.errstate(invalid="ignore"):
            inner = np.arccos((coupler**2 + r**2 - rocker**2) / (2 * coupler * r))
        P = B + (x + 1j * y) * np.exp(1j * (np.angle(0.2 - B) - inner))
        inside = np.abs(P.real - 0.1) <= path_synthesis.STROKE / 2
        return np.abs(P.imag[inside] - path_synthesis.HEIGHT).max()

    nominal = {name: p.value for name, p in m.parameters.items()}
    assert before == pytest.approx(deviation(**nominal), rel=1e-3)
    assert after < before / 5
    best = m.synthesize("a", {"P": _line()}, span=(0.5, 1.4)).parameters
    assert after == pytest.approx(deviation(**best), rel=0.1)


def _line() -> np.ndarray:
    x = 0.1 + np.linspace(-path_synthesis.STROKE / 2, path_synthesis.STROKE / 2, 17)
    return np.column_stack([x, np.full(x.size, path_synthesis.HEIGHT)])


def valve_train_force(ψ: Any, w: Any, k: Any, F0: Any) -> Any:
    """Force on the cam (N) at the angle ψ from the greatest lift, by Lagrange's equation of the lift s:
    the flat faces move by arms times the sine of the rocker's angle α, sin α = (s − h/2)/L₁.
    """
    v = valve_train
    h, (L1, L2) = v.LIFT, v.ARMS
    ratio, c = L2 / L1, (1 + np.cos(ψ)) / 2
    s, s1 = h * c**4, -2 * h * c**3 * np.sin(ψ)
    s2 = 3 * h * c**2 * np.sin(ψ) ** 2 - 2 * h * c**3 * np.cos(ψ)
    sine = (s - h / 2) / L1
    cosine2 = 1 - sine**2
    inertia = v.TAPPET + ratio**2 * v.VALVE + v.ROCKER / (L1**2 * cosine2)
    grows = v.ROCKER * sine / (L1**3 * cosine2**2)  # half of its derivative for s
    return w**2 * (inertia * s2 + grows * s1**2) + ratio * (F0 + k * ratio * s)


def test_the_tappet_leaves_the_cam_as_by_hand() -> None:
    """Near the greatest lift the force is smallest there, by symmetry."""
    m, k, F0 = valve_train.mechanism(), 30e3, 200.0

    def lift_off(k: float, F0: float) -> float:
        return float(brentq(lambda w: valve_train_force(0.0, w, k, F0), 200, 800, xtol=1e-11))

    slopes = [
        (lift_off(k * 1.0001, F0) - lift_off(k * 0.9999, F0)) / (2e-4 * k),
        (lift_off(k, F0 * 1.0001) - lift_off(k, F0 * 0.9999)) / (2e-4 * F0),
    ]
    w, found = valve_train.lift_off(m)
    assert w == pytest.approx(lift_off(k, F0), rel=1e-7)
    assert found == pytest.approx(slopes, rel=1e-6)
    N_w, *others = valve_train.smallest(m, w, "adjoint").final_gradient[0]
    assert -np.array(others) / N_w == pytest.approx(slopes, rel=1e-6)
    run = m.simulate(2 * math.pi / 300, parameters={"w": 300.0}, output=1e-4)
    exact = valve_train_force(300.0 * run.time - math.pi, 300.0, k, F0)
    assert run.effort("cam face").to_numpy() == pytest.approx(exact, rel=1e-5)


def test_the_valve_floats_beyond_the_lift_off_speed() -> None:
    """The tappet leaves the cam where the force vanishes, and not at all below the lift-off speed."""
    w = 417.0
    release = brentq(lambda ψ: valve_train_force(ψ, w, 30e3, 200.0), -0.6, -0.1)
    run = valve_train.float_of(w)
    left = next(float(e.time) for e in run.events if e.time > 1e-4)
    assert left == pytest.approx((math.pi + release) / w, abs=1e-6)
    assert run.measure('gap("cam face")').max() > 4e-4
    assert valve_train.float_of(378.0).measure('gap("cam face")').max() < 1e-9


def test_the_preload_keeps_the_tappet_on_its_cam() -> None:
    v = valve_train
    o = v.solve(v.mechanism())
    # the force grows by the ratio of the arms times the preload
    missing = v.LEAST - valve_train_force(0.0, v.RATED, 30e3, 200.0)
    F0 = 200.0 + missing / (v.ARMS[1] / v.ARMS[0])
    assert o.parameters["F0"] == pytest.approx(F0, rel=1e-4)
    ψ = np.linspace(0, np.pi, 100_001)
    assert o.objective == pytest.approx(valve_train_force(ψ, v.RATED, 30e3, F0).max(), rel=1e-4)


@pytest.mark.parametrize("v", [0.5, 3.0, 5.0, 9.0])
def test_eigenvalues_of_the_bicycle_are_those_of_published_matrices(v: float) -> None:
    values = bicycle.eigenvalues(bicycle_model.mechanism(), v)
    exact = np.linalg.eigvals(bicycle_matrices.matrices({}).state_matrix(v))
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(exact), abs=1e-9)


def test_the_trail_moves_the_stable_range_of_the_bicycle() -> None:
    """Roots of Hurwitz' determinant and of the determinant of the stiffness, of published matrices."""
    changed = {"c": 0.06, "w": 1.0}

    def root(kind: str, near: float, values: dict[str, float]) -> float:
        published = bicycle_matrices.matrices(values)
        condition = getattr(published, f"{kind}_condition")
        return float(brentq(lambda v: condition(v).real, near - 0.5, near + 0.5, xtol=1e-14))

    for kind, (v, slopes) in bicycle.critical(bicycle_model.mechanism(), **changed).items():
        assert v == pytest.approx(root(kind, v, changed), rel=1e-9)
        for name, slope in zip(("w", "c"), slopes, strict=True):
            low, high = (root(kind, v, {**changed, name: changed[name] + h}) for h in (-1e-5, 1e-5))
            assert slope == pytest.approx((high - low) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("v", bicycle.TAPS)
def test_a_tapped_bicycle_steers_as_linear_equations_say(
    v: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bicycle, "TAP", 1e-4)
    run = bicycle.tapped(bicycle_model.mechanism(), v)
    A = bicycle_matrices.matrices({}).state_matrix(v)
    t = run.time[::50]
    # the references have z downwards: a tap to the left is a negative lean, and angles are reversed
    exact = [-(expm(A * x) @ [0, 0, -1e-4, 0])[1] for x in t]
    steer = run.angle("steer").to_numpy()[::50]
    assert steer == pytest.approx(np.array(exact), abs=1e-3 * np.abs(exact).max())


ROOT = Path(__file__).parents[1]
GALLERY = re.findall(
    r"\w+", re.findall(r"^EXAMPLES := (.*)", (ROOT / "Makefile").read_text("utf-8"), re.M)[0]
)


def test_make_runs_all_examples() -> None:
    assert sorted(GALLERY) == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_examples_draw_their_pictures(name: str, tmp_path: Path) -> None:
    script = ROOT / "examples" / f"{name}.py"
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]
    assert list(tmp_path.rglob("*.png"))
