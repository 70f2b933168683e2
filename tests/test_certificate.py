"""Certificates: good gradients get their digits, bad ones are caught, and what spoils derivatives
is called by its name.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.backends import compiler
from varimech.benchmarks import five_bar, four_bar
from varimech.certification.agreement import value_sizes
from varimech.certification.judgement import _bound, digits_of
from varimech.certification.motion import singularity_of
from varimech.certification.plateau import other_slope, plateau
from varimech.cli.app import app

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)


@pytest.fixture(scope="module")
def five_bar_gradient() -> vm.Gradient:
    return five_bar.mechanism().sensitivity(five_bar.objectives(), duration=1.0, step=1e-3)


@pytest.fixture(scope="module")
def five_bar_certificate(five_bar_gradient: vm.Gradient) -> vm.Certificate:
    return five_bar_gradient.certify()


def double_pendulum() -> vm.Mechanism:
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("upper", "O", "P", length=L, mass=1.0)
    m.bar("lower", "P", "Q", length=1.0, mass=1.0)
    m.revolute("O")
    m.revolute("P")
    m.start(angle={"upper": 2.0, "lower": 2.5})
    return m


def two_pendulums() -> vm.Mechanism:
    """They do not touch each other; the mass of the first does not matter to it, and one parameter
    is nowhere.
    """
    m = vm.Mechanism("two pendulums", gravity=(0, -9.81))
    L, M, R, unused = (
        m.parameter(name, value)
        for name, value in (("L", 1.0), ("M", 2.0), ("R", 1.5), ("unused", 1.0))
    )
    del unused
    for name, place, length, mass in (("1", 0, L, M), ("2", 5, R, 1.0)):
        m.ground_point(f"O{name}", (place, 0))
        m.bar(f"bar {name}", f"O{name}", f"P{name}", length=length, mass=mass)
        m.revolute(f"O{name}")
    m.start(angle={"bar 1": 0.0, "bar 2": 0.0})
    return m


def ball(force: Any) -> vm.Mechanism:
    m = vm.Mechanism("ball", gravity=(0, -9.81))
    k, y0 = m.parameter("k", 2.0), m.parameter("y0", 1.0)
    m.body("ball", mass=1.0, inertia=1.0, points={"C": (0, 0)}, floating=True)
    m.force(
        "push",
        "ball.C",
        lambda s: (0, force(s, s.position("ball.C")[1], s.velocity("ball.C")[1], k)),
    )
    m.start(position={"ball.C": (0, y0)}, angle={"ball": 0.0})
    return m


HEIGHT = vm.final(lambda s: s.position("ball.C")[1])


def kinds(certificate: vm.Certificate) -> set[str]:
    return {f.kind for f in certificate.findings}


def test_a_good_gradient_gets_its_digits(five_bar_certificate: vm.Certificate) -> None:
    c = five_bar_certificate
    assert c.trusted and not c.reasons
    assert (c.digits.sel(of="computed function") >= 8).all()
    assert (c.digits.sel(of="true motion") >= 3).all()
    assert np.median(c.order) == pytest.approx(2, abs=0.1)
    assert np.median(c.slope) == pytest.approx(2, abs=0.1)
    assert set(c.status.ravel()) == {"trusted"}
    derivative_check = next(r for r in c.derivative_checks if r.name == "complex-step")
    assert derivative_check.gradient is not None
    np.testing.assert_allclose(derivative_check.gradient, c.gradient, rtol=1e-11)


def test_digits_of_the_true_motion_are_there(five_bar_certificate: vm.Certificate) -> None:
    exact = (
        five_bar.mechanism()
        .sensitivity(five_bar.objectives(), duration=1.0, tolerance=1e-12)
        .gradient_history[-1]
    )
    errors = np.abs(five_bar_certificate.gradient / exact - 1)
    assert (-np.log10(errors) >= five_bar_certificate.digits.sel(of="true motion").to_numpy()).all()


def test_a_wrong_gradient_is_caught(five_bar_gradient: vm.Gradient) -> None:
    final = five_bar_gradient.final_gradient.copy()
    final[1, 2] *= 1 + 1e-4
    wrong = dataclasses.replace(five_bar_gradient, final_gradient=final).certify()
    assert not wrong.trusted
    assert wrong.reasons == ("methods disagree",)
    assert (wrong.status == "not trusted").sum() == 1 and wrong.status[1, 2] == "not trusted"
    assert wrong.digit_array[0, 1, 2] == pytest.approx(4, abs=0.01)


def test_differences_alone_catch_a_wrong_gradient(five_bar_gradient: vm.Gradient) -> None:
    final = five_bar_gradient.final_gradient.copy()
    final[0, 0] *= 1 + 1e-4
    repeat = five_bar_gradient.repeat
    assert repeat is not None

    def refusing(**changes: Any) -> vm.Gradient:
        if changes.get("method") != "finite-difference":
            raise vm.ModelError("not today")
        return repeat(**changes)

    alone = dataclasses.replace(five_bar_gradient, final_gradient=final, repeat=refusing).certify()
    assert {r.refusal for r in alone.derivative_checks} == {"not today"}
    right = np.ones(final.shape, dtype=bool)
    right[0, 0] = False
    assert alone.digit_array[0, 0, 0] == pytest.approx(4, abs=0.01)
    assert (alone.digit_array[0][right] > 6).all()
    assert alone.reason[0, 0] == "methods disagree"
    assert not alone.trusted  # without shorter steps nothing is known of the true motion
    assert (alone.digit_array[1] == 0).all()


def test_a_chaotic_motion_is_called_so() -> None:
    tip = vm.final(lambda s: s.position("Q")[0])
    c = double_pendulum().sensitivity(tip, duration=30.0, step=2e-3).certify()
    assert not c.trusted
    assert c.reasons == ("chaotic motion",)
    assert c.growth is not None and c.growth.exponential and c.growth.factor > 1e6
    assert float(c.digits.sel(of="true motion").min()) < 1
    assert "does not converge" in repr(c)


def test_an_orderly_motion_is_not_chaotic(five_bar_certificate: vm.Certificate) -> None:
    assert five_bar_certificate.growth is not None and not five_bar_certificate.growth.exponential
    assert (
        five_bar_certificate.singularity is not None
        and five_bar_certificate.singularity.closeness > 0.5
    )


def test_a_singular_position_is_called_so() -> None:
    place = vm.final(lambda s: s.position("B0")[0])
    m = four_bar.mechanism()
    through, before = (m.sensitivity(place, duration=T, step=2e-3).certify() for T in (1.5, 0.6))
    assert before.trusted
    assert not through.trusted and through.reasons == ("singular position",)
    assert through.singularity is not None and through.singularity.time == pytest.approx(
        1.228, abs=0.01
    )
    assert float(through.digits.sel(of="true motion").max()) == 0


def test_a_contact_is_called_non_smooth() -> None:
    m = ball(lambda s, y, v, k: vm.maximum(0, -500 * k * y))
    coarse, fine = (
        m.sensitivity(HEIGHT, duration=1.0, step=step).certify() for step in (2e-3, 2e-4)
    )
    assert not coarse.trusted and coarse.reasons == ("non-smooth force",)
    assert fine.trusted  # steps end at the kink
    for c in (coarse, fine):
        assert "non-smooth force" in kinds(c)
        assert any("'push' has a kink (maximum)" in f.text for f in c.findings)
    short = m.sensitivity(HEIGHT, duration=0.3, step=2e-3).certify()
    assert any("the motion does not pass there" in f.text for f in short.findings)
    assert short.status.tolist() == [["zero within rounding", "trusted"]]


def test_jumps_are_called_non_smooth_where_parameters_move_them() -> None:
    m = ball(lambda s, y, v, k: -k * vm.sign(v + 3))
    c = m.sensitivity(HEIGHT, duration=1.0, tolerance=1e-8).certify()
    assert c.trusted and any(
        "steps end there, and derivatives include it" in f.text for f in c.findings
    )
    # dψ/dk with the time at which the sign changes, from the closed form
    g, T, k = 9.81, 1.0, 2.0
    t = 3 / (g + k)

    def height(k: float) -> float:
        t = 3 / (g + k)
        return 1 - (g + k) * t**2 / 2 - 3 * (T - t) - (g - k) * (T - t) ** 2 / 2

    exact = (height(k + 1e-5) - height(k - 1e-5)) / 2e-5
    assert 0 < t < T and c.gradient[0, 0] == pytest.approx(exact, rel=1e-8)
    every: tuple[dict[str, Any], ...] = ({}, {"integrator": "rk4", "formulation": "index1"})
    for options in every:
        c = m.sensitivity(HEIGHT, duration=1.0, step=1e-3, **options).certify()
        assert c.trusted and c.gradient[0, 0] == pytest.approx(exact, rel=1e-8)


def test_a_second_slope_is_one_that_several_perturbations_agree_on() -> None:
    steps = 10.0 ** -np.arange(1, 7)
    gradient, rounding = np.ones((1, 1)), np.full((6, 1, 1), 1e-9)

    def found(*sweep: float) -> float:
        return float(
            other_slope(
                steps, np.array(sweep).reshape(6, 1, 1), gradient, np.abs(gradient), rounding
            )[0, 0]
        )

    assert found(1.9, 2.0, 2.02, 1.0, 1.0, 1.0) == pytest.approx(
        0.9
    )  # small steps of the function, seen from afar
    assert found(1.4, 0.7, 1.01, 1.0001, 1.000001, 1.0) == 0  # a curved one
    assert found(0.5, 2.0, 1.5, 1.005, 1.00005, 1.0) == 0


@pytest.mark.parametrize("step", [1e-3, 2e-4])
def test_a_force_that_changes_within_a_step_is_noticed(step: float) -> None:
    """Shorter steps agree on a wrong value; but samples along the motion show the force, and a run
    that resolves it has another gradient.
    """
    m = ball(lambda s, y, v, k: -k * vm.tanh((v + 3) / 1e-6))
    c = m.sensitivity(HEIGHT, "k", duration=1.0, step=step).certify(wanted=1)
    assert not c.trusted and c.reasons == ("unresolved function",)
    assert {"runs nearby fail", "unresolved function"} <= kinds(c)
    careful = m.sensitivity(HEIGHT, "k", duration=1.0, tolerance=1e-6)
    assert abs(c.gradient[0, 0] / careful.gradient_history[-1, 0, 0] - 1) > 0.4


def test_jumps_at_given_times_are_harmless() -> None:
    m = ball(lambda s, y, v, k: vm.where(s.time > 0.4, k, 0))
    c = m.sensitivity(HEIGHT, duration=1.0, tolerance=1e-8).certify()
    assert c.trusted
    assert any("whatever the parameters are" in f.text for f in c.findings)
    assert c.gradient[0, 0] == pytest.approx(0.6**2 / 2, rel=1e-6)


def test_zeros_are_distinguished() -> None:
    objectives = {
        "place": vm.final(lambda s: s.position("P1")[0]),
        "side": vm.integral(lambda s: vm.sign(s.position("P1")[0]) + 1e-3 * s.position("P1")[0]),
    }
    c = two_pendulums().sensitivity(objectives, duration=1.0, step=2e-3).certify()
    unconnected = ["does not depend"] * 2
    assert [row[0] for row in c.status.tolist()] == ["trusted", "trusted"]
    # x = sin(angle) passes zero at t*, and the sign turns from 1 to −1 there
    differences = two_pendulums().sensitivity(
        objectives, "L", duration=1.0, tolerance=1e-10, method="finite-difference"
    )
    assert c.gradient[1, 0] == pytest.approx(differences.final_gradient[1, 0], rel=1e-4)
    assert (
        all(row[2:] == unconnected for row in c.status.tolist())
        and c.status[0, 1] == "zero within rounding"
    )
    assert abs(c.gradient[0, 1]) < c.errors[0, 0, 1] < 1e-10
    assert np.isnan(c.digits.sel(parameter="unused")).all()


def test_what_is_zero_all_along_is_a_zero() -> None:
    """Nothing presses a block that falls straight down against its guide, whatever it weighs,
    although reactions depend on masses.
    """
    m = vm.Mechanism("block in a guide", gravity=(0, -9.81))
    m.ground_point("top", (0, 0))
    m.body("block", mass=m.parameter("mass", 1.0), inertia=0.01, points={"C": (0, 0)})
    m.prismatic("guide", "ground.top", "block.C", axis=(0, -1))
    m.start(displacement={"guide": 0.5})
    c = m.sensitivity(
        {"pressure": vm.final(lambda s: s.reaction("guide")[0])}, duration=0.5
    ).certify()
    assert c.trusted and c.verdict(0, 0) == "zero within rounding"


@pytest.mark.parametrize(
    ("change", "status"), [(1e-16, "zero within rounding"), (1e-12, "not trusted")]
)
def test_a_zero_that_is_rounded_otherwise_stays_one(change: float, status: str) -> None:
    """The mass of a pendulum does not matter, and other code rounds what is left of it
    otherwise.
    """
    place = {"place": vm.final(lambda s: s.position("P1")[0])}
    gradient = two_pendulums().sensitivity(place, "M", duration=1.0, step=2e-3)
    c = dataclasses.replace(gradient, final_gradient=gradient.final_gradient + change).certify()
    assert c.status.tolist() == [[status]]


@pytest.mark.parametrize("method", ["direct", "adjoint", "complex-step"])
def test_objectives_without_a_gradient_are_refused(method: str) -> None:
    m = two_pendulums()
    for objective in (
        vm.final(lambda s: ca.floor(7 * s.position("P1")[0])),
        vm.integral(lambda s: vm.sign(s.position("P1")[0])),
        vm.integral(lambda s: vm.where(s.position("P1")[0] > 0, 1, 2)),
    ):
        with pytest.raises(
            vm.ModelError, match="'psi1' has no gradient: it is constant but for jumps"
        ):
            m.sensitivity(objective, duration=1.0, step=2e-3, method=method)


def test_a_value_where_nothing_depends_is_caught() -> None:
    gradient = two_pendulums().sensitivity(
        vm.final(lambda s: s.position("P1")[0]), duration=0.2, step=0.01
    )
    final = gradient.final_gradient.copy()
    final[0, 3] = 1e-9
    c = dataclasses.replace(gradient, final_gradient=final).certify()
    assert c.status[0, 3] == "not trusted" and c.reason[0, 3] == "methods disagree"
    assert any("dpsi1/dunused should be zero" in f.text for f in c.findings)


def test_perturbations_that_cannot_be_assembled_do_no_harm() -> None:
    m = vm.Mechanism("triangle", gravity=(0, -9.81))
    L = m.parameter("L", 1.0)
    mass = m.parameter("m", 1.0)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (2, 0))
    m.bar("AC", "A", "C", length=L, mass=mass)
    m.bar("CD", "C", "D", length=1.0, mass=1.0)
    m.bar("BD", "B", "D", length=1.0, mass=1.0)
    for joint in "ABCD":
        m.revolute(joint)
    m.start(angle={"AC": 0.1}, near={"D": (1.9, 1.0)})
    c = m.sensitivity(vm.final(lambda s: s.position("C")[1]), duration=0.1, step=2e-3).certify(
        relative_steps=[1.0, *(10.0**-k for k in range(1, 10))]
    )
    assert np.isnan(c.sweep[0, 0, 0])  # a bar without length
    assert np.isfinite(c.sweep[1:]).all()
    assert c.trusted


def test_a_derivative_method_that_fails_is_reported_and_the_others_are_used() -> None:
    place = vm.final(lambda s: s.position("P1")[0])
    g = two_pendulums().sensitivity(place, "L", duration=0.1, step=1e-2, method="adjoint")
    repeat = g.repeat

    def without_direct(**options: Any) -> vm.Gradient:
        if options["method"] == "direct":
            raise vm.ModelError("not this way")
        assert repeat is not None
        return repeat(**options)

    c = dataclasses.replace(g, repeat=without_direct).certify(relative_steps=(1e-2, 1e-4, 1e-6))
    derivative_checks = {
        derivative_check.name: derivative_check for derivative_check in c.derivative_checks
    }
    assert (
        derivative_checks["direct"].gradient is None
        and derivative_checks["direct"].refusal == "not this way"
    )
    assert derivative_checks["adjoint"].gradient == pytest.approx(g.gradient.to_numpy(), rel=1e-12)


def test_a_gradient_by_differences_is_certified_too() -> None:
    place = vm.final(lambda s: s.position("P1")[0])
    g = two_pendulums().sensitivity(
        place, "L", duration=0.5, tolerance=1e-8, method="finite-difference", relative_steps=(1e-2,)
    )
    c = g.certify(wanted=2)
    assert c.differentiated == "finite-difference"
    assert 3 < float(c.digits.sel(of="computed function").min()) < 6
    assert not g.certify(wanted=8).trusted


def test_tables_json_and_files(five_bar_certificate: vm.Certificate, tmp_path: Path) -> None:
    c = five_bar_certificate
    table = c.table()
    assert len(table) == 15 and (table["verdict"] == "trusted").all()
    assert table["complex-step"].max() < 1e-11 and math.isnan(table["adjoint"].iloc[0]) == (
        c.derivative_checks[1].gradient is None
    )
    back = vm.Certificate.load(c.save(tmp_path / "certificate.json"))
    assert back.to_json() == c.to_json() == json.loads(json.dumps(c.to_json()))
    assert repr(back) == repr(c) and back.trusted
    assert c.to_json()["trusted"] is True
    assert "TRUSTED (at least" in repr(c)
    back.plot().savefig(tmp_path / "certificate.png")
    assert (tmp_path / "certificate.png").stat().st_size > 10_000
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(vm.ModelError, match="is not a saved certificate"):
        vm.Certificate.load(tmp_path / "other.json")
    with pytest.raises(vm.ModelError, match="there is no file"):
        vm.Certificate.load(tmp_path / "nowhere.json")


def test_derivatives_that_vanish_are_measured_by_sizes_given(tmp_path: Path) -> None:
    """Where the five-bar stays still derivatives are rounding; beside ones that matter they have
    digits, and a wrong one is found out.
    """
    m = five_bar.mechanism()
    there = {"Ls1": 2.4319235744576, "Ls2": 1.8448688868054}
    g = m.sensitivity(
        {"psi": five_bar.objectives()["psi1"]},
        list(there),
        duration=1.0,
        parameters=there,
        tolerance=1e-9,
    )
    assert not g.certify().trusted
    sized = g.certify(sizes=[[1.0, 1.0]])
    assert sized.trusted and sized.digit_array.min() > 7
    assert "rounding is amplified" not in str(
        sized
    ) and "dpsi/dLs1, dpsi/dLs2: small compared" in str(sized)
    sized.save(tmp_path / "sized.json")
    again = vm.Certificate.load(tmp_path / "sized.json")
    assert again.sizes == pytest.approx(sized.sizes)
    wrong = dataclasses.replace(g, final_gradient=g.final_gradient + 1e-2).certify(sizes=1.0)
    assert not wrong.trusted and wrong.reasons == ("methods disagree",)
    for bad in ("a", -1.0, [[1.0, 2.0, 3.0]], np.nan):
        with pytest.raises(vm.ModelError, match="sizes"):
            g.certify(sizes=bad)


def test_perturbations_that_change_the_whole_motion_are_no_second_slope() -> None:
    """Differences of Andrews' mechanism: the two largest jump about, all others fall; beside them a
    function that runs in small steps.
    """
    steps = 10.0 ** -np.arange(1, 7)
    wild = np.array([-3518.9, -24162.3, -7067.89, -6888.40, -6886.60, -6886.584])
    stepped = np.array([-5500.0, -5490.0, -5510.0, -6850.0, -6886.2, -6886.584])
    sweep, g = np.stack([wild, stepped], axis=1)[:, None], np.full((1, 2), -6886.5839)
    assert other_slope(steps, sweep, g, np.abs(g), np.zeros(sweep.shape)).round(1).tolist() == [
        [0.0, 1376.6]
    ]


def test_nothing_to_certify(five_bar_gradient: vm.Gradient) -> None:
    with pytest.raises(vm.ModelError, match="in the session that computed it"):
        dataclasses.replace(five_bar_gradient, repeat=None).certify()
    m = double_pendulum()
    with pytest.raises(vm.ModelError, match="at least one objective"):
        m.sensitivity((), duration=0.1, step=0.01).certify()


def test_plateau_of_a_known_function() -> None:
    """D(δ) of exp at 0 is sinh(δ)/δ, with some rounding."""
    steps = np.array([10.0**-k for k in range(1, 13)])
    sweep = (np.sinh(steps) / steps + 1e-16 / steps * np.resize([1, -1], steps.size))[:, None, None]
    rounding = 1e-16 / steps[:, None, None]
    step_range = plateau(steps, sweep, rounding)
    assert abs(step_range.value[0, 0] - 1) <= step_range.error[0, 0] < 1e-9
    assert step_range.decades[0, 0] >= 3
    assert np.isnan(plateau(steps, 1 / steps[:, None, None], rounding).value).all()


def test_rounding_is_measured_by_values_and_by_sizes_that_were_given() -> None:
    e: Any = SimpleNamespace(
        values=np.array([1e-6, 0.0]),
        sizes=np.array([[1e-7], [2.0]]),
        gradient=np.array([[1.0], [1e-9]]),
        parameters=np.array([3.0]),
    )
    np.testing.assert_array_equal(value_sizes(e), [1e-6, 6.0])


def test_what_small_perturbations_do_not_change_has_a_bound_whatever_large_ones_do() -> None:
    e: Any = SimpleNamespace(
        relative_steps=(1e-1, 1e-8),
        parameters=np.ones(1),
        values=np.ones(1),
        sweep=np.array([[[1e-9]], [[0.0]]]),
    )
    assert _bound(e, np.array([1e-16])).item() == pytest.approx(1e-8, rel=1e-5)
    changed: Any = SimpleNamespace(**{**vars(e), "sweep": np.array([[[1e-9]], [[1e-3]]])})
    assert np.isnan(_bound(changed, np.array([1e-16])).item())


@pytest.mark.parametrize(
    ("curve", "closeness"), [(lambda t: t - 4.6, 0.0), (lambda t: 0.4 + (t - 5) ** 2, 0.4 / 9.4)]
)
def test_what_passes_zero_between_two_instants_is_singular(curve: Any, closeness: float) -> None:
    """The only singular value of a Jacobian of one entry is its size."""
    q, time = ca.SX.sym("q"), np.arange(11.0)
    e = SimpleNamespace(q=q, λ=ca.SX.sym("λ"), ρ=ca.SX(0, 1), t=ca.SX.sym("t"), force_directions=q)
    live: Any = SimpleNamespace(
        equations=e,
        parameters=np.zeros(0),
        trajectory=SimpleNamespace(time=time, states=curve(time)[:, None]),
    )
    computed = singularity_of(live)
    assert computed is not None and computed.time == 5.0
    assert computed.closeness == pytest.approx(closeness, abs=1e-12)


def test_digits() -> None:
    digits = digits_of(
        np.array([1e-5, 0.0, 5.0, np.inf, np.nan]), np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    )
    np.testing.assert_allclose(digits, [5, 15, 0, 0, 0])


def test_the_command(tmp_path: Path) -> None:
    common = [
        "certify",
        "five-bar",
        "--duration",
        "0.2",
        "--objective",
        "psi1",
        "--wrt",
        "Ls1",
        "--wrt",
        "L_A1",
    ]
    result = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "TRUSTED" in result.stdout and "L_A1" in result.stdout
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "certificate.json",
        "certificate.png",
        "model.yaml",
        "report.html",
    }
    data = json.loads(CliRunner().invoke(app, [*common, "--json"]).stdout)
    assert data["trusted"] and data["parameter_names"] == ["Ls1", "L_A1"]
    assert CliRunner().invoke(app, [*common, "--wanted", "14"]).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pendulum"], "there are no objectives; give some under studies.objectives"),
        (["five-bar", "--objective", "psi7"], "no objective is called 'psi7'"),
        (["five-bar", "--wrt", "LA1"], "no parameter"),
    ],
)
def test_what_the_command_refuses(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["certify", *arguments])
    assert result.exit_code != 0
    assert message in str(result.exception)


@pytest.mark.parametrize("steps", [[], [0.0], [-1e-3], "a", 1e-3, [math.nan]])
def test_bad_perturbations_are_refused(five_bar_gradient: vm.Gradient, steps: Any) -> None:
    with pytest.raises(vm.ModelError, match="relative_steps"):
        five_bar_gradient.certify(relative_steps=steps)


@pytest.mark.parametrize("expected", [math.nan, "a", 99, 0])
def test_impossible_wishes_are_refused(five_bar_gradient: vm.Gradient, expected: Any) -> None:
    with pytest.raises(vm.ModelError, match="wanted"):
        five_bar_gradient.certify(wanted=expected)
