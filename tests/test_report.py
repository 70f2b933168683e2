"""Reports in a real browser: they load without a network, play, scrub, turn, follow the time, and
no name in a model can harm them.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.plotting.figure import COLOURS
from varimech.reports import outputs
from varimech.web.animation import MOST_NUMBERS
from varimech.web.encoding import printed, script_json, thinned, worth_plotting

CHROMIUM = shutil.which("chromium")
browsing = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at reports with")
STALL = "GPU stall due to ReadPixels"
"""What a browser without a graphics card says of its own copies of WebGL pictures."""
HOSTILE = "$t_1$</script><b onclick='x()'>&\"<img src=x onerror=alert()>"
MODEL = "name: slider\n# ρ, \ttabs, </script> and “quotes”\r\nbodies: {}\n"
TRAVEL = {"travel": vm.final(lambda s: s.displacement("guide"), unit="m")}


def slider_crank(name: str = "slider-crank") -> vm.Mechanism:
    m = vm.Mechanism(name, gravity=(0, -9.81))
    crank = m.parameter("crank", 0.10, unit="m", distribution=vm.Tolerance(0.0003))
    rod = m.parameter("rod", 0.25, unit="m", bounds=(0.2, 0.3), distribution=vm.Tolerance(0.0003))
    m.ground_point("O", (0, 0))
    m.ground_point("W", (0.5, 0))
    m.bar("crank", "O", "P", length=crank, mass=0.5)
    m.bar("rod", "P", "S", length=rod, mass=0.8, points={"T": (0.12, 0.08)})
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    for joint in "OPS":
        m.revolute(joint)
    m.prismatic("guide", "ground.O", "slider.S", axis=(1, 0))
    m.spring("spring", "ground.W", "slider.S", stiffness=200, natural_length=0.3)
    m.damper("damper", "ground.O", "rod.T", damping=0.5)
    m.start(angle={"crank": 1.0}, near={"S": (0.3, 0)})
    return m


def spatial_pendulum() -> vm.Mechanism:
    m = vm.Mechanism("swing", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=1.0, radius=0.05)
    m.revolute("O", axis=(0, 1, 0))
    m.start(angle={"O": 0.4})
    return m


def how() -> dict[str, Any]:
    return {"duration": 0.5, "step": 0.01, "backend": "interpreted"}


@pytest.fixture(scope="module")
def gradient() -> vm.Gradient:
    return slider_crank().sensitivity(TRAVEL, **how())


@pytest.fixture(scope="module")
def moments() -> vm.Moments:
    return slider_crank().moments(TRAVEL, order=1, duration=0.5, step=0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One address for all reports."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """One page for all reports."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        computed = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
        computed.emulate_media(color_scheme="light")
        yield computed
        browser.close()


class Look:
    """A report opened without a network; what it asked for and complained of."""

    def __init__(self, page: Any, path: Path, *, plots: bool):
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.unroute_all()
        page.route(re.compile("^(?!file:|data:|blob:)"), self._refuse)
        page.on("console", self._hear)
        page.on("pageerror", self._hear_error)
        page.on("requestfailed", self._hear_failure)
        page.goto(path.as_uri())
        if plots:  # also those that are out of sight
            page.evaluate("for (const plot of varimech.plots.plots) plot.draw()")

    def close(self) -> None:
        for event, listener in (
            ("console", self._hear),
            ("pageerror", self._hear_error),
            ("requestfailed", self._hear_failure),
        ):
            self.page.remove_listener(event, listener)
        assert self.asked == []
        assert self.complaints == []

    def _refuse(self, route: Any) -> None:
        self.asked.append(route.request.url)
        route.abort()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and STALL not in message.text:
            self.complaints.append(message.text)

    def _hear_error(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _hear_failure(self, request: Any) -> None:
        self.complaints.append(request.url)

    def wait(self, condition: str) -> None:
        """Until it holds; the page allows no script from outside, so it is asked again
        and again.
        """
        for _ in range(500):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"never: {condition}")

    def picture(self) -> str:
        """The animation as it is drawn now."""
        self.page.evaluate("varimech.animation.draw()")
        return str(self.page.evaluate("varimech.animation.canvas.toDataURL()"))

    def place(self, point: str) -> list[float]:
        """Where the animation has a point, in metres."""
        self.page.evaluate("varimech.animation.draw()")
        script = """(name) => { const a = varimech.animation, p = a.place(a.places, a.data.points.indexOf(name));
            return a.data.origin.map((x, k) => x + p[k]); }"""
        return list(self.page.evaluate(script, point))

    def middle(self, selector: str) -> tuple[float, float]:
        """Of an element that is scrolled into view, in pixels of the screen."""
        self.page.locator(selector).scroll_into_view_if_needed()
        box = self.page.locator(selector).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def set(self, slider: str, value: float) -> None:
        self.page.evaluate(
            "([id, value]) => { const e = document.getElementById(id); e.value = value;"
            " e.dispatchEvent(new Event('input')); }",
            [slider, value],
        )

    def cursor(self, plot: int) -> float:
        """Time at the line in a plot."""
        script = """(k) => { const p = varimech.plots.plots.filter((p) => p.cursor)[k];
            return p.view.x.number(p.cursor.getBoundingClientRect().left - p.box.getBoundingClientRect().left); }"""
        return float(self.page.evaluate(script, plot))


Open = Callable[..., Look]


@pytest.fixture
def opened(page: Any, folder: Path) -> Iterator[Open]:
    looks: list[Look] = []

    def open_report(*results: Any, plots: bool = True, **options: Any) -> Look:
        if looks:
            looks.pop().close()
        looks.append(
            Look(page, vm.report(folder / "report.html", *results, **options), plots=plots)
        )
        return looks[-1]

    yield open_report
    for look in looks:
        look.close()


@browsing
def test_a_run_plays_and_scrubs(opened: Open) -> None:
    run = slider_crank().simulate(**how())
    look = opened(run, show={"position": ["P"], "reaction": ["O"], "trace": ["P", "T"]})
    assert look.page.title() == "slider-crank"
    assert "3 rigid bodies, 4 joints" in look.page.inner_text("header")
    assert "1 degree of freedom" in look.page.inner_text("header")
    assert look.page.inner_text("#clock") == "0.000 s"
    first = look.picture()
    look.page.click("#play")
    look.wait("varimech.animation.time > 0.01")
    look.page.keyboard.press("Space")  # the button has the focus: it pauses
    look.wait("!varimech.player.playing")
    assert look.page.inner_text("#clock") != "0.000 s"
    look.set("scrub", 0.305)
    assert look.page.inner_text("#clock") == "0.305 s"
    assert look.picture() != first
    r, v = (measure("slider.S").to_numpy()[30:32] for measure in (run.position, run.velocity))
    assert look.place("slider.S") == pytest.approx(
        r.mean(axis=0) + 0.01 * (v[0] - v[1]) / 8, abs=1e-7
    )
    assert look.cursor(0) == pytest.approx(0.305, abs=2e-3)
    assert look.page.is_hidden("#sensitivity")


@browsing
def test_bodies_keep_their_length_between_stored_times(opened: Open) -> None:
    look = opened(slider_crank().simulate(0.5, output=0.05, backend="interpreted"), plots=False)
    for time in (0.075, 0.175, 0.275, 0.325):
        look.set("scrub", time)
        assert math.hypot(*look.place("rod.P")) == pytest.approx(0.10, rel=0.02)
    path = look.page.evaluate("varimech.animation.traces[0].length")
    assert path > 1000  # not a polygon through eleven places


@browsing
def test_keys_and_switches(opened: Open) -> None:
    look = opened(slider_crank().simulate(**how()), plots=False)
    look.page.focus("#stage")
    look.page.keyboard.press("ArrowRight")
    assert look.page.evaluate("varimech.player.time") == pytest.approx(0.0025)
    look.page.keyboard.press("ArrowLeft")
    assert look.page.evaluate("varimech.player.time") == 0
    look.page.keyboard.press("Space")
    look.wait("varimech.player.playing")
    look.page.keyboard.press("Space")
    pictures = [look.picture()]
    for switch in ("#show-labels", "#show-traces", "#show-centres"):
        look.page.click(switch)
        pictures.append(look.picture())
    look.page.mouse.move(*look.middle("#stage"))
    look.page.mouse.wheel(0, -300)
    look.wait("varimech.animation.camera.zoom > 1")
    pictures.append(look.picture())
    assert len(set(pictures)) == 5
    look.page.click("#reset-view")
    assert look.page.evaluate("varimech.animation.camera.zoom") == 1


@browsing
def test_a_click_in_a_plot_sets_the_time(opened: Open) -> None:
    look = opened(slider_crank().simulate(**how()))
    place = look.page.evaluate(
        """() => { const p = varimech.plots.plots.find((p) => p.cursor);
        p.area.scrollIntoView(); const b = p.box.getBoundingClientRect();
        return [b.left + p.view.x.pixel(0.25), b.top + b.height / 2]; }"""
    )
    look.page.mouse.click(*place)
    assert look.page.evaluate("varimech.player.time") == pytest.approx(0.25, abs=2e-3)
    assert look.cursor(1) == pytest.approx(0.25, abs=2e-3)


@browsing
def test_a_gradient_with_arrows_ghost_and_bands(opened: Open, gradient: vm.Gradient) -> None:
    look = opened(gradient)
    look.set("scrub", 0.3)
    plain = look.picture()
    look.page.check("input[value=arrows]", force=True)
    arrows = look.picture()
    look.wait("document.getElementById('stage-legend').textContent.startsWith('Arrows: ∂r/∂crank')")
    look.page.select_option("#parameter", label="rod")
    look.page.check("input[value=ghost]", force=True)
    look.set("change", 4)
    ghost = look.picture()
    assert len({plain, arrows, ghost}) == 3
    look.wait(
        "document.getElementById('stage-legend').textContent === 'Ghost: rod changed by +4 %, to"
        " first order'"
    )
    script = """() => { const a = varimech.animation, p = a.place(a.others, a.data.points.indexOf('slider.S'));
        return a.data.origin.map((x, k) => x + p[k]); }"""
    slope = gradient.run.position("slider.S", wrt="rod").to_numpy()[30]
    place = gradient.run.position("slider.S").to_numpy()[30]
    assert look.page.evaluate(script) == pytest.approx(place + 0.04 * 0.25 * slope, abs=1e-6)
    assert "Bands: rod ± 4 %, to first order." in look.page.inner_text("#outputs")
    script = """() => { const p = varimech.plots.plots.find((p) => p.spec.title === 'displacement');
        const c = p.view.curves[0]; return c.chosen.upper[30] - c.y[30]; }"""
    expected = abs(0.04 * 0.25 * gradient.run.displacement("guide", wrt="rod").to_numpy()[30])
    assert look.page.evaluate(script) == pytest.approx(expected, rel=1e-5)
    bars = look.page.evaluate("varimech.plots.plots[0].spec")
    assert bars["names"] == ["crank", "rod"]
    assert bars["series"][0]["values"] == pytest.approx(
        [0.10, 0.25] * gradient.gradient_history[-1, 0]
    )
    assert "∂ψ/∂ρ" in look.page.text_content("#gradient table")


@browsing
def test_space_is_turned(opened: Open) -> None:
    look = opened(spatial_pendulum().simulate(**how()), plots=False)
    before = look.picture()
    x, y = look.middle("#stage")
    look.page.mouse.move(x, y)
    look.page.mouse.down()
    look.page.mouse.move(x + 60, y + 30)
    look.page.mouse.up()
    assert look.page.evaluate("varimech.animation.camera.yaw") != 0.6
    assert look.picture() != before


@browsing
def test_tolerances(opened: Open, moments: vm.Moments) -> None:
    study = slider_crank().monte_carlo(TRAVEL, duration=0.5, step=0.01, samples=64)
    look = opened(study, moments)
    assert "64 samples, 0 failed" in look.page.inner_text("header")
    assert {"Monte Carlo", "Tolerances"} <= set(look.page.locator("h2").all_inner_texts())
    titles = [p["title"] for p in look.page.evaluate("varimech.plots.plots.map((p) => p.spec)")]
    assert {"travel", "travel at the end", "contributions to the variance of travel"} <= set(titles)
    counted = look.page.evaluate(
        "varimech.plots.plots.find((p) => p.spec.title === 'travel at the end').spec.histogram.counts"
    )
    assert sum(counted) == 64
    script = """() => { const p = varimech.plots.plots.find((p) => p.spec.title === 'displacement');
        const c = p.view.curves[0]; return c.chosen.upper[50] - c.y[50]; }"""
    assert look.page.evaluate(script) == pytest.approx(3 * moments.std.to_numpy()[-1, 0], rel=1e-5)
    assert "± 3 standard deviations due to all tolerances" in look.page.inner_text("#outputs")
    alone = opened(study)
    assert alone.page.evaluate("varimech.animation.duration") == pytest.approx(0.5)


@browsing
def test_an_optimum_is_shown_beside_what_was_before_and_a_fit_beside_its_data(opened: Open) -> None:
    m = slider_crank()
    best = m.optimize(TRAVEL, over=["rod"], bounds={"rod": (0.24, 0.26)}, duration=0.2, step=0.01)
    times = np.linspace(0.02, 0.2, 10)
    computed = (
        m.simulate(0.2, step=0.01)
        .displacement("guide")
        .to_numpy()[np.round(times / 0.01).astype(int)]
    )
    data = vm.measurement(lambda s: s.displacement("guide"), times, computed, unit="m")
    look = opened(
        best, m.fit({"measured": data}, over=["rod"], duration=0.2, step=0.01, start={"rod": 0.251})
    )
    both = look.picture()
    look.page.click("#show-before")
    assert look.picture() != both
    assert {"search: travel", "search: rod", "travel", "measured"} <= set(
        look.page.locator("figcaption").all_inner_texts()
    )
    assert "0.24" in look.page.text_content("#optimum table")
    assert "0.25" in look.page.text_content("#fit table")


@browsing
def test_downloads(opened: Open) -> None:
    run = slider_crank().simulate(**how())
    look = opened(run, model=MODEL, show={"displacement": ["guide"]})
    with look.page.expect_download() as download:
        look.page.click("#download-model")
    assert download.value.suggested_filename == "slider-crank.yaml"
    assert Path(download.value.path()).read_bytes() == MODEL.encode()
    with look.page.expect_download() as download:
        look.page.click("#download-data")
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line.startswith('"displacement"')]
    assert [float(r[4]) for r in rows] == run.displacement("guide").to_numpy().tolist()
    assert [float(r[3]) for r in rows] == run.time.tolist()


@browsing
def test_names_do_no_harm(opened: Open) -> None:
    name = HOSTILE.replace(
        "/", "\\"
    )  # parts of a mechanism have no slash in their names; all else may
    m = vm.Mechanism(name, gravity=(0, -9.81))
    m.parameter(HOSTILE, 1.0)
    m.ground_point("O", (0, 0))
    m.bar(name, "O", name.replace(".", ""), length=m.parameters[HOSTILE], mass=1.0)
    m.revolute("O")
    m.start(angle={name: -1.0})
    objective = {HOSTILE: vm.final(lambda s: s.angle(name), unit=HOSTILE)}
    gradient = m.sensitivity(objective, **how())
    look = opened(gradient, title=HOSTILE, model=HOSTILE, show={"angle": [name]})
    assert look.page.title() == HOSTILE
    assert look.page.inner_text("h1") == HOSTILE
    assert look.page.evaluate("varimech.plots.plots[0].spec.names") == [HOSTILE]
    look.page.focus(".plot-area >> nth=0")
    look.page.keyboard.press("ArrowDown")
    assert HOSTILE in look.page.inner_text(".readout >> nth=0")
    assert look.page.locator("b, img, [onclick], [onerror]").count() == 0


@browsing
def test_dark_and_narrow(opened: Open, gradient: vm.Gradient) -> None:
    look = opened(gradient)
    assert look.page.evaluate("varimech.animation.ink.stage") == "#f6f7f8"
    look.page.emulate_media(color_scheme="dark")
    look.wait("varimech.animation.ink.stage === '#171b20'")
    look.page.set_viewport_size({"width": 360, "height": 700})
    assert look.page.evaluate("document.documentElement.scrollWidth") <= 360
    look.page.set_viewport_size({"width": 1100, "height": 900})
    look.page.emulate_media(color_scheme="light")
    look.page.evaluate("dispatchEvent(new Event('beforeprint'))")  # paper is not unfolded
    assert look.page.is_visible("#gradient table")
    look.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert look.page.is_hidden("#gradient table")


@browsing
def test_paper_has_light_and_sharp_plots_that_fit(opened: Open, gradient: vm.Gradient) -> None:
    look = opened(gradient)
    look.page.emulate_media(color_scheme="dark")
    look.wait("varimech.plots.plots[0].look.ink === '#e6e8eb'")
    script = """() => varimech.plots.plots.map((p) => [p.look.ink, p.canvas.width / p.box.clientWidth,
        p.box.getBoundingClientRect().right, getComputedStyle(p.overlay).display])"""
    look.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    paper = look.page.evaluate(script)
    look.page.evaluate("dispatchEvent(new Event('afterprint'))")
    screen = look.page.evaluate(script)
    look.page.emulate_media(color_scheme="light")
    assert {(ink, round(ratio), seen) for ink, ratio, _, seen in paper} == {("#1f2328", 3, "none")}
    assert max(right for _, _, right, _ in paper) <= 703  # A4 within its margins
    assert {(ink, round(ratio)) for ink, ratio, *_ in screen} == {("#e6e8eb", 1)}


@browsing
def test_a_printed_page_has_its_curves(opened: Open) -> None:
    """Curves are paths in the file: it is larger than one without these plots."""
    run = slider_crank().simulate(**how())
    sizes = []
    for shown in ({"trace": ["P"]}, {"position": ["P", "S", "T"], "trace": ["P"]}):
        look = opened(run, show=shown)
        sizes.append(len(look.page.pdf(prefer_css_page_size=True)))
    assert sizes[1] > sizes[0] + 3000  # six curves of 51 points


@browsing
def test_vibrations_are_drawn_whole(opened: Open) -> None:
    """A slow swing with a fast vibration of two thousandths of it: simplified, a curve loses every
    other point.
    """
    m = vm.Mechanism("vibrating", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.force("shaker", "block.P", lambda s: [vm.sin(4 * s.time) + 20 * vm.sin(300 * s.time), 0])
    m.start(displacement={"guide": 0.0})
    run = m.simulate(1.0, output=0.002)
    look = opened(run, show={"displacement": ["guide"]})
    drawn = look.page.evaluate(
        """() => { const { lineTo } = CanvasRenderingContext2D.prototype, seen = [];
        CanvasRenderingContext2D.prototype.lineTo = function (x, y) { seen.push(y); lineTo.call(this, x, y); };
        const plot = varimech.plots.plots.find((p) => p.spec.title === 'displacement');
        plot.draw();
        CanvasRenderingContext2D.prototype.lineTo = lineTo;
        return seen.map((pixel) => plot.view.y.number(pixel)); }"""
    )
    curve = run.displacement("guide").to_numpy()[1:]  # the first point is moved to
    assert drawn[-curve.size :] == pytest.approx(curve, abs=1e-12)


@browsing
@pytest.mark.parametrize("columns", [4, 14, 24])
def test_wide_tables_fit_on_paper(opened: Open, columns: int) -> None:
    head = [f"column {k} with a long title" for k in range(columns)]
    rows = [[-1.23456789e-5 * (k + 1) for k in range(columns)]]
    look = opened(slider_crank().simulate(**how()), plots=False, tables={"Wide": (head, rows)})
    size = look.page.viewport_size
    look.page.set_viewport_size(
        {"width": 703, "height": 1000}
    )  # A4 within margins of 12 mm, at 96 pixels an inch
    look.page.emulate_media(media="print")
    script = (
        "[...document.querySelectorAll('.table')].map((e) => [e.scrollWidth - e.clientWidth,"
        " getComputedStyle(e).overflowX])"
    )
    computed = look.page.evaluate(script)
    look.page.emulate_media(media="screen")
    look.page.set_viewport_size(size)
    assert computed and all(
        too_wide <= 0 and overflow == "visible" for too_wide, overflow in computed
    )


@browsing
def test_what_is_at_rest(opened: Open) -> None:
    m = slider_crank()
    look = opened(m.equilibrium(wrt="rod"))
    assert look.page.is_hidden("#playing")
    assert "at rest" in look.page.inner_text("header")
    assert look.page.is_hidden("#bands-choice")
    assert "reaction" in look.page.inner_text("#rest")


@browsing
def test_a_saved_run_and_one_saved_earlier(
    opened: Open, gradient: vm.Gradient, tmp_path: Path
) -> None:
    saved = vm.load_run(gradient.run.save(tmp_path / "run.nc"))
    look = opened(saved, plots=False)
    assert look.page.locator("#parameter option").all_inner_texts() == ["crank", "rod"]
    plan = saved.info["drawing"]
    saved.info["drawing"] = {key: plan[key] for key in ("shapes", "labels", "fixed")}
    look = opened(saved, plots=False)
    look.set("scrub", 0.2)
    assert look.place("slider.S") == pytest.approx(
        gradient.run.position("slider.S").to_numpy()[20], abs=1e-6
    )


def test_a_long_run_stays_small(tmp_path: Path) -> None:
    m = slider_crank()
    run = m.simulate(5.0, step=5e-4)
    assert run.time.size == 10_001
    path = vm.report(tmp_path / "long.html", run)
    assert path.stat().st_size < 2e6
    text = path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL).group(1))  # type: ignore[union-attr]
    animation = data["animation"]
    assert animation["motion"]["frames"] * len(animation["points"]) * 4 <= MOST_NUMBERS
    assert animation["motion"]["frames"] > 2500
    assert animation["colours"] == list(COLOURS)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    text = vm.report(tmp_path / "r.html", slider_crank().simulate(**how())).read_text(
        encoding="utf-8"
    )
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "default-src 'none'" in outside
    assert re.findall(r"https?://|(?:src|href)=(?!\"data:)", outside) == []


def test_curves_of_long_runs_are_thinned_before_they_are_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = slider_crank().simulate(**how())
    evaluated: list[int] = []
    energy = vm.Run.energy

    def counted(self: vm.Run, kind: str) -> Any:
        evaluated.append(self.time.size)
        return energy(self, kind)

    monkeypatch.setattr(vm.Run, "energy", counted)
    monkeypatch.setattr(outputs, "MOST_TIMES", 20)
    text = vm.report(tmp_path / "r.html", run).read_text(encoding="utf-8")
    assert run.time.size > 20 and set(evaluated) == {20}
    assert f"{run.time.size:,}, curves are of 20" in text


def test_refusals(tmp_path: Path, gradient: vm.Gradient) -> None:
    path = tmp_path / "r.html"
    with pytest.raises(vm.ModelError, match="no results; give one or more of Run, Gradient"):
        vm.report(path)
    with pytest.raises(vm.ModelError, match=r"dict .* is not a reportable result"):
        vm.report(path, {"a": 1})  # type: ignore[arg-type]
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(vm.ModelError, match=r"r\.html cannot be written: File exists"):
        vm.report(tmp_path / "file" / "r.html", gradient)
    with pytest.raises(vm.ModelError, match="must be the text of a model file"):
        vm.report(path, gradient, model=path)  # type: ignore[arg-type]
    with pytest.raises(vm.ModelError, match="certify"):
        vm.report(path, gradient, certificate=True)  # type: ignore[arg-type]
    with pytest.raises(vm.ModelError, match="must map outputs to names"):
        vm.report(path, gradient, show=["2"])  # type: ignore[arg-type]
    with pytest.raises(
        vm.ModelError, match="no output is called 'positon'; did you mean 'position'"
    ):
        vm.report(path, gradient, show={"positon": ["P"]})
    with pytest.raises(vm.ModelError, match="no point is called 'Q'"):
        vm.report(path, gradient, show={"trace": ["Q"]})
    with pytest.raises(vm.ModelError, match="2 results of kind Gradient; give one of each kind"):
        vm.report(path, gradient, gradient)
    with pytest.raises(vm.ModelError, match=r"several mechanisms \('slider-crank', 'swing'\)"):
        vm.report(path, gradient, spatial_pendulum().simulate(**how()))
    assert not path.exists()


def test_thinned_curves_keep_their_peaks() -> None:
    y = np.sin(np.linspace(0, 20, 50_000))
    y[31_234], y[7] = 5.0, -3.0
    rows = worth_plotting(y[:, None])
    assert len(rows) <= 2000
    assert {0, 7, 31_234, 49_999} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    assert thinned(10, 20).tolist() == list(range(10))
    assert thinned(1001, 11).tolist() == list(range(0, 1001, 100))


def test_data_cannot_leave_its_script() -> None:
    text = script_json({"a": HOSTILE, "b": "<!--\u2028"})
    assert "<" not in text
    assert json.loads(text) == {"a": HOSTILE, "b": "<!--\u2028"}


def test_numbers_as_they_are_read() -> None:
    assert [printed(x) for x in (0.25, -1.5, math.nan, math.inf, 1.5e-7, 2e12, None, True, "m")] == [
        "0.25", "−1.5", "–", "∞", "1.5e−7", "2e12", "–", "yes", "m",
    ]  # fmt: skip


@browsing
def test_a_certificate(opened: Open, gradient: vm.Gradient) -> None:
    certificate = gradient.certify(relative_steps=(1e-4, 1e-6))
    assert not certificate.trusted  # its steps are long
    look = opened(gradient, certificate=certificate)
    assert "gradient not trusted" in look.page.inner_text("header")
    assert certificate.reasons[0] in look.page.text_content("#certificate table")
