"""What reports say and draw, as data: where points are, what is said of them, and that it is so."""

from __future__ import annotations

import base64
import json
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats

import varimech as vm
from varimech.reports.page import page
from varimech.web.encoding import printed
from varimech.web.modules import IMPORT, asset, in_one, needed

TRAVEL = {"travel": vm.final(lambda s: s.displacement("guide"), unit="m")}


def slider_crank(**options: Any) -> vm.Mechanism:
    m = vm.Mechanism("slider-crank", gravity=(0, -9.81))
    crank = m.parameter("crank", 0.10, unit="m", distribution=vm.Tolerance(0.0005))
    rod = m.parameter("rod", 0.25, unit="m", distribution=vm.Tolerance(0.001))
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=crank, mass=0.5)
    m.bar("rod", "P", "S", length=rod, mass=0.8)
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    for joint in "OPS":
        m.revolute(joint)
    m.prismatic("guide", *options.get("guide", ("ground.O", "slider.S")), axis=(1, 0))
    m.start(angle={"crank": 1.0}, near={"S": (0.3, 0)})
    return m


def pendulum(
    at: tuple[float, ...] = (0, 0), length: float = 0.1, gravity: float = -9.81
) -> vm.Mechanism:
    space: dict[str, Any] = {"radius": 0.01} if len(at) == 3 else {}
    hinge: dict[str, Any] = {"axis": (0, 1, 0)} if len(at) == 3 else {}
    m = vm.Mechanism("pendulum", gravity=(*[0.0] * (len(at) - 1), gravity))
    m.ground_point("O", at)
    m.bar("rod", "O", "tip", length=length, mass=1.0, **space)
    m.revolute("O", **hinge)
    m.start(angle={"O" if space else "rod": 0.0})
    return m


def how(duration: float = 0.5, step: float = 0.01) -> dict[str, Any]:
    return {"duration": duration, "step": step, "backend": "interpreted"}


class Content:
    """A page as it is written: its words, and the data of its plots and of the animation."""

    def __init__(self, *results: Any, **options: Any):
        text = page(results, **options)
        self.data: dict[str, Any] = json.loads(
            re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL).group(1)  # type: ignore[union-attr]
        )
        self.html = text[: text.index('<script type="application/json"')]
        self.text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", self.html, flags=re.DOTALL)
        self.chips = dict(
            reversed(pair)
            for pair in re.findall(r'<li class="(\w*)">(.*?)</li>', self.html.split("<main>")[0])
        )

    @property
    def cells(self) -> list[list[str]]:
        """Of all tables, row by row."""
        return [
            re.findall(r"<td [^>]*>(.*?)</td>", row)
            for row in re.findall(r"<tr>.*?</tr>", self.html)
        ]

    @property
    def animation(self) -> dict[str, Any]:
        computed: dict[str, Any] = self.data["animation"]
        return computed

    @property
    def glance(self) -> dict[str, tuple[str, str]]:
        """Name → value and remark, at the top of the page."""
        tiles = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)<small>([^<]*)</small>", self.html)
        return {name: (value, note) for name, value, note in tiles}

    def plot(self, title: str) -> dict[str, Any]:
        return next(spec for spec in self.data["plots"] if spec["title"] == title)

    def curves(self, title: str) -> dict[str, np.ndarray]:
        spec = self.plot(title)
        return {c["name"]: _numbers(c["y"]["f8"], "<f8") for c in spec["curves"]}

    def places(self, point: str) -> np.ndarray:
        """As they are drawn, (time, component)."""
        a = self.animation
        all_of_them = _numbers(a["motion"]["places"], "<f4").reshape(
            a["motion"]["frames"], len(a["points"]), -1
        )
        return np.asarray(all_of_them[:, a["points"].index(point)].astype(float) + a["origin"])

    def joint(self, name: str) -> dict[str, Any]:
        return next(j for j in self.animation["joints"] if j["name"] == name)


def _numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_the_contribution_of_a_parameter_is_what_it_would_make_alone() -> None:
    m = slider_crank()
    computed = Content(m.moments(TRAVEL, order=1, **how())).curves(
        "standard deviation of travel by each parameter alone"
    )
    for name in ("crank", "rod"):
        others = {n: None for n in ("crank", "rod") if n != name}
        alone = m.moments(TRAVEL, others, order=1, **how())
        assert computed[name] == pytest.approx(alone.std.to_numpy()[:, 0], rel=1e-9)
    assert computed["all parameters"] == pytest.approx(
        np.hypot(computed["crank"], computed["rod"]), rel=1e-9
    )


def test_far_from_the_origin_it_is_drawn_as_near_it() -> None:
    near, far = (Content(pendulum(at).simulate(**how())) for at in ((0.0, 0.0), (5e5, 5e6)))
    assert far.places("rod.tip") - (5e5, 5e6) == pytest.approx(near.places("rod.tip"), abs=1e-8)
    assert np.ptp(far.animation["box"], axis=0) == pytest.approx(
        np.ptp(near.animation["box"], axis=0), abs=1e-8
    )


@pytest.mark.parametrize(("gravity", "up"), [(-9.81, [2, 1]), (9.81, [2, -1]), (0.0, [2, 1])])
def test_gravity_points_down(gravity: float, up: list[int]) -> None:
    assert Content(pendulum((0, 0, 0), gravity=gravity).simulate(**how(0.1))).animation["up"] == up


def test_what_turns_too_far_between_stored_times_is_reported_and_not_made_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m = pendulum(gravity=0.0)
    m.drive_angle("motor", "rod", lambda t: 300 * t)
    m.start()
    fast, slow = (
        m.simulate(0.2, step=1e-3, every=k, backend="interpreted") for k in (20, 5)
    )  # 6 rad, 1.5 rad
    content = Content(fast)
    assert "This run is stored every 0.02 s" in content.animation["warning"]
    assert content.animation["warning"] in content.text
    assert content.animation["motion"]["stepwise"]
    assert Content(slow).animation["warning"] == ""
    monkeypatch.setattr(
        "varimech.web.animation.MOST_NUMBERS", 140
    )  # 10 frames of 3 points and a joint
    assert "This page shows 10 of 41 stored times" in Content(slow).animation["warning"]


def test_a_swinging_mass_too() -> None:
    m = vm.Mechanism("oscillator", gravity=(0, 0))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"S": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.S", axis=(1, 0))
    m.spring("spring", "ground.O", "mass.S", stiffness=100.0, natural_length=0.5)
    m.start(displacement={"guide": 0.6})
    seldom, often = (m.simulate(4.0, step=1e-2, every=k, backend="interpreted") for k in (57, 10))
    assert Content(seldom).animation["warning"]
    assert not Content(often).animation["warning"]


def test_a_study_moves_as_at_the_means_of_its_parameters(tmp_path: Any) -> None:
    m = slider_crank()
    expected: dict[str, Any] = {
        "duration": 0.2,
        "step": 0.01,
        "samples": 32,
        "checkpoint": tmp_path / "samples",
    }
    distributions = {"crank": scipy.stats.uniform(0.1, 0.02), "rod": vm.Tolerance(0.001)}
    m.monte_carlo(TRAVEL, distributions, **expected)
    # goes on from there, with nothing left to do
    study = m.monte_carlo(TRAVEL, distributions, **expected)
    content = Content(study)
    at_means = m.simulate(0.2, step=0.01, parameters={"crank": 0.11})
    assert content.places("slider.S") == pytest.approx(at_means.position("S").to_numpy(), abs=1e-7)
    assert "uniform" in content.text
    assert "version of casadi" in content.text
    m.ground_point("elsewhere", (1, 1))  # now it is another mechanism
    assert Content(study).animation["points"] == content.animation["points"]
    with pytest.raises(vm.ModelError, match="has been changed since; make the study anew"):
        replace(study).run
    assert Content(replace(study)).data["animation"] is None
    again = pickle.loads(pickle.dumps(study))
    assert again.table().equals(study.table())
    with pytest.raises(vm.ModelError, match="was pickled without its mechanism"):
        again.run


def test_what_was_stopped_says_so() -> None:
    m = slider_crank()
    run = m.simulate(**how())
    assert Content(run).chips["0.5 s"] == ""
    run.info["stopped"] = {"time": 0.5, "duration": 2.0}
    assert Content(run).chips["stopped at 0.5 s of 2 s"] == "warn"
    study = m.monte_carlo(TRAVEL, duration=0.2, step=0.01, samples=16)
    assert not any("stopped" in chip for chip in Content(study).chips)
    stopped = replace(study, stopped=400)
    assert Content(stopped).chips["stopped before 400 samples"] == "warn"
    assert "16 samples of 400" in str(stopped)


def test_parameters_that_are_zero_have_bars_and_ghosts() -> None:
    m = vm.Mechanism("offset", gravity=(0, -9.81))
    offsets = [
        m.parameter("plain", 0.0, unit="m"),
        m.parameter("bounded", 0.0, unit="m", bounds=(-0.1, 0.3)),
        m.parameter("tolerated", 0.0, unit="m", distribution=vm.Tolerance(0.02)),
        m.parameter("given", 2.0, unit="m"),
    ]
    m.ground_point("O", (0, sum(offsets[1:], offsets[0])))
    m.bar("rod", "O", "tip", length=1.0, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": 0.0})
    content = Content(
        m.sensitivity({"y": vm.final(lambda s: s.position("tip")[1], unit="m")}, **how())
    )
    bars = content.data["plots"][0]
    assert dict(zip(bars["names"], bars["series"][0]["values"], strict=True)) == pytest.approx(
        {"plain, by 1 m": 1.0, "bounded, by 0.4 m": 0.4, "tolerated, by 0.02 m": 0.02, "given": 2.0}
    )
    assert [p["scale"] for p in content.data["parameters"]] == pytest.approx([1.0, 0.4, 0.02, 2.0])


def test_a_body_of_one_point_is_a_disc_and_a_slider_its_block() -> None:
    m = vm.Mechanism("ball", gravity=(0, -9.81))
    m.body("ball", mass=1.0, inertia=1.0, points={"P": (0, 0)}, floating=True)
    m.start(position={"P": (0, 1)}, angle={"ball": 0.0}, speed={"P": (1.0, 2.0), "ball": 3.0})
    computed = Content(m.simulate(**how())).animation
    assert [
        (s["kind"], computed["points"][s["points"][0]], s["colour"]) for s in computed["shapes"]
    ] == [("mass", "ball.com", 0)]
    slid = Content(slider_crank().simulate(**how()))
    assert [s["name"] for s in slid.animation["shapes"]] == ["crank", "rod"]
    assert not slid.joint("guide")["ground"]
    assert "rail" in slid.joint("guide")
    turned_round = Content(slider_crank(guide=("slider.S", "ground.O")).simulate(**how()))
    assert [(s["kind"], s["name"]) for s in turned_round.animation["shapes"]][-1] == (
        "mass",
        "slider",
    )
    assert turned_round.joint("guide")["ground"]


def test_what_is_at_rest_has_its_forces() -> None:
    m = vm.Mechanism("hanging", gravity=(0, -10.0))
    k = m.parameter("k", 100.0, unit="N/m")
    m.ground_point("O", (0, 0))
    m.body("weight", mass=2.0, inertia=1e-3, points={"S": (0, 0)})
    m.prismatic("guide", "ground.O", "weight.S", axis=(0, -1))
    m.spring("spring", "ground.O", "weight.S", stiffness=k, natural_length=0.3)
    m.start(displacement={"guide": 0.3})
    cells = Content(m.equilibrium(wrt="k")).cells
    assert ["displacement", "guide", "", "0.5", "m", "−0.002"] in cells  # 0.3 m + m g / k
    assert [
        "energy",
        "potential",
        "",
        "−8",
        "J",
        "0.02",
    ] in cells  # k x² / 2 − m g (0.3 m + x); x² / 2


def test_an_optimum_says_what_its_start_breaks_and_units() -> None:
    m = slider_crank()
    wear = vm.integral(lambda s: vm.dot(s.reaction("O"), s.reaction("O")), unit="N²·s")
    wall = vm.path(lambda s: s.displacement("guide"), unit="m") <= 0.32
    best = m.optimize(
        {"wear": wear},
        over=["crank"],
        bounds={"crank": (0.05, 0.12)},
        constraints={"wall": wall},
        duration=0.5,
        step=0.01,
    )
    computed, reached = Content(best), float(m.simulate(0.5, step=0.01).displacement("guide").max())
    assert reached > 0.33
    assert best.broken_before == pytest.approx({"wall": reached - 0.32})
    assert f"before (violating wall by {reached - 0.32:.3g} m)" in computed.text
    axis = computed.plot("integrand of wear")["y"]
    assert (axis["label"], axis["unit"]) == ("integrand of wear", "N²")


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e7])
def test_constraints_hold_by_the_size_of_the_mechanism(scale: float) -> None:
    run = pendulum(length=0.1 * scale, gravity=-9.81 * scale).simulate(**how())
    run.info["residuals"][0] = 1e-8 * scale
    assert Content(run).chips[f"constraint error {printed(1e-8 * scale, 1)} m"] == "good"
    run.info["residuals"][0] = 1e-5 * scale
    assert Content(run).chips[f"constraint error {printed(1e-5 * scale, 1)} m"] == "bad"


def test_outputs_are_those_that_change_most() -> None:
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    m.ground_point("p0", (0, 0))
    for k in range(20):
        m.bar(f"b{k}", f"p{k}", f"p{k + 1}", length=0.1, mass=1.0)
        m.revolute(f"p{k}")
    m.start(
        angle={f"b{k}": 0.0 for k in range(20)}, speed={f"b{k}": 3.0 * (k == 18) for k in range(20)}
    )
    run = m.simulate(**how(0.1))
    turned = {name: float(np.ptp(run.angle(name).to_numpy())) for name in run.names_of("turn")}
    assert {
        name: float(np.ptp(curve)) for name, curve in run.curves("angle").items()
    } == pytest.approx(turned)
    shown = list(Content(run).curves("angle"))
    assert max(turned, key=lambda name: turned[name]) in shown
    assert len(shown) == 3


def test_units_of_efforts() -> None:
    m = slider_crank()
    m.drive_angle("motor", "crank", lambda t: 1.0 + t)
    m.start(near={"S": (0.3, 0)})
    run = m.simulate(**how(0.1))
    axis = Content(run, show={"effort": ["motor"]}).plot("effort")["y"]
    assert (axis["label"], axis["unit"]) == ("effort", "N·m")


def test_axes_of_hinges_turn_with_their_bodies() -> None:
    m = vm.Mechanism("arm", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.bar("upper", "O", "E", length=1.0, mass=1.0, radius=0.05)
    m.bar("lower", "E", "H", length=1.0, mass=1.0, radius=0.05)
    m.revolute("O", axis=(0, 0, 1))
    m.revolute("E", axis=(0, 1, 0))
    m.start(angle={"O": 0.0, "E": 0.3}, speed={"O": 2.0, "E": 0.0})
    run = m.simulate(**how(0.2))
    content = Content(run)
    axes = _numbers(content.animation["axes"], "<f4").reshape(run.time.size, 2, 3)
    φ = run.angle("O").to_numpy()
    expected = np.stack([-np.sin(φ), np.cos(φ), np.zeros_like(φ)], axis=1)
    assert axes[:, content.joint("E")["axis"]] == pytest.approx(expected, abs=1e-6)
    assert axes[:, content.joint("O")["axis"]] == pytest.approx(
        np.tile([0, 0, 1], (run.time.size, 1))
    )


def test_histograms_have_as_many_bars_as_samples_can_fill() -> None:
    study = slider_crank().monte_carlo(TRAVEL, duration=0.2, step=0.01, samples=512)
    bars = Content(study).plot("travel at the end")["histogram"]["counts"]
    assert sum(bars) == 512
    assert 8 <= len(bars) <= 16  # 2 ∛512


def test_what_matters_comes_first() -> None:
    m = slider_crank()
    gradient, moments = m.sensitivity(TRAVEL, **how()), m.moments(TRAVEL, order=1, **how())
    content = Content(gradient, moments)
    effects = 0.01 * np.array([0.10, 0.25]) * gradient.final_gradient[0]
    value, note = content.glance["travel"]
    assert value == f"{gradient.final_values[0]:.4g} m"
    most = ("crank", "rod")[int(np.abs(effects).argmax())]
    assert note == f"most by {most}: {1e3 * effects[np.abs(effects).argmax()]:+.3g} mm for 1 % more"
    σ = np.hypot(*(gradient.final_gradient[0] * [0.0005 / 3, 0.001 / 3]))
    assert content.glance["σ of travel"][0] == f"{1e6 * σ:.3g} µm"
    run = gradient.run
    reactions = {n: np.linalg.norm(run.reaction(n), axis=1) for n in ("O", "P", "S", "guide")}
    joint = max(reactions, key=lambda n: float(reactions[n].max()))
    peak = reactions[joint]
    assert content.glance["peak reaction"] == (
        f"{peak.max():.3g} N",
        f"{joint}, at {run.time[peak.argmax()]:.3g} s",
    )
    guide = run.displacement("guide").to_numpy()
    assert content.glance["travel, guide"][0] == f"{np.ptp(guide):.3g} m"
    assert content.html.index('id="glance"') < content.html.index('id="motion"')


def test_ends_of_ranges_have_no_rounding_errors() -> None:
    """A driver starts at zero up to rounding, which would be shown as 1e-40°."""
    m = vm.Mechanism("crank", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=0.2, mass=1.0)
    m.revolute("O")
    m.drive_angle("motor", "crank", "1e-30 + t")
    m.start()
    content = Content(m.simulate(1.0, step=0.01))
    assert content.glance["range of the angle, crank"] == ("57.3°", "0° to 57.3°")


def test_an_objective_shows_what_it_integrates() -> None:
    m = slider_crank()
    objective = {
        "way": vm.integral(lambda s: s.displacement("guide"), unit="m·s"),
        "push": vm.integral(lambda s: s.acceleration("S")[0] ** 2, unit="m²/s³"),
    }
    content = Content(m.sensitivity(objective, **how()))
    assert content.plot("integrand of push")["y"]["unit"] == "m²/s⁴"
    shown = content.curves("integrand of way")[""]
    assert shown == pytest.approx(m.simulate(**how()).displacement("guide").to_numpy())
    assert content.plot("integrand of way")["y"]["unit"] == "m"


def test_modes_are_listed() -> None:
    m = pendulum(length=0.3)
    m.start(angle={"rod": -np.pi / 2})
    content = Content(m.modes(at="equilibrium"))
    frequency = np.sqrt(1.5 * 9.81 / 0.3) / (2 * np.pi)  # a slender rod about its end
    assert content.glance["lowest frequency"] == (f"{frequency:.4g} Hz", "damping ratio 0 %")
    row = next(row for row in content.cells if row and row[0] == "1")
    assert float(row[1]) == pytest.approx(frequency, rel=1e-5)
    assert row[4] == "rod.tip"


def test_scripts_of_a_page_share_one_scope() -> None:
    """Each name is defined once, what a module imports is exported by the other, and no import or
    export is left over.
    """
    for entry in ("report.js",):
        defined: dict[str, str] = {}
        for name in needed(entry):
            text = asset(name)
            for found in re.findall(
                r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE
            ):
                assert defined.setdefault(found, name) == name, f"{found}: {defined[found]}, {name}"
            for names, module in IMPORT.findall(text):
                for imported in names.split(", "):
                    pattern = rf"^export (async )?(function|class|const) {imported}\b"
                    assert re.search(pattern, asset(module), re.MULTILINE), (name, imported)
        assert not re.search(r"^(import|export)\b", in_one(entry), re.MULTILINE)
