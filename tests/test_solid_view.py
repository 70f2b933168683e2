"""Solid bodies in a browser: the same projection as the lines, presets, sections, pictures, and lines where
there is no WebGL.
"""

from __future__ import annotations

import base64
import io
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from test_solids import rack

CHROMIUM = shutil.which("chromium")
browsing = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at views with")
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
NO_WEBGL = """const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : get.call(this, kind, ...rest); };"""


def swing() -> vm.Mechanism:
    """A spatial pendulum with a spring, in two pieces, one of which has a shape."""
    m = vm.Mechanism("swing <b>&", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.ground_point("W", (0.6, 0, 0))
    m.bar("rod", "O", "E", length=0.5, mass=1.0, radius=0.02)
    m.body(
        "bob",
        mass=1.0,
        inertia=(0.01, 0.01, 0.01),
        points={"E": (0, 0, 0), "T": (0.3, 0, 0)},
        shape=vm.box((0.3, 0.1, 0.1), at=(0.15, 0, 0)),
    )
    m.revolute("O", axis=(0, 1, 0))
    m.revolute("E", "rod.E", "bob.E", axis=(0, 1, 0))
    m.spring("spring", "ground.W", "rod.E", stiffness=20, natural_length=0.3)
    m.start(angle={"O": 0.9, "E": 0.3})
    return m


def four_bar() -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("D", (1.0, 0))
    m.bar("crank", "A", "B", length=0.3, mass=1.0)
    m.bar("coupler", "B", "C", length=0.9, mass=2.0, points={"P": (0.4, 0.3)})
    m.bar("rocker", "D", "C", length=0.6, mass=1.5)
    for joint in "ABCD":
        m.revolute(joint)
    m.start(angle={"crank": 1.0}, near={"C": (0.9, 0.6)})
    return m


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        computed = p.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield computed
        computed.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("views")
    runs = {"swing": swing(), "four-bar": four_bar(), "rack": rack()}
    return {
        name: vm.report(folder / f"{name}.html", m.simulate(0.3, step=0.01, backend="interpreted"))
        for name, m in runs.items()
    }


def opened(browser: Any, path: Path, before: str = "") -> Any:
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_default_timeout(20_000)
    if before:
        page.add_init_script(before)
    page.goto(path.as_uri())
    return page


def picture(page: Any) -> np.ndarray:
    """What is seen, as the button saves it, (row, column, colour)."""
    from PIL import Image

    page.evaluate("document.querySelector('.more').open = true")
    with page.expect_download() as download:
        page.click("#save-png")
    return np.asarray(
        Image.open(io.BytesIO(Path(download.value.path()).read_bytes())).convert("RGB")
    )


@browsing
def test_spatial_mechanisms_are_solid_and_planar_ones_can_be(
    browser: Any, reports: dict[str, Path]
) -> None:
    page = opened(browser, reports["swing"])
    assert page.is_checked("#show-solid")
    solid = picture(page)
    page.click("#show-solid")
    lines = picture(page)
    assert solid.shape == lines.shape
    count = [len(np.unique(p.reshape(-1, 3), axis=0)) for p in (solid, lines)]
    assert count[0] > 3 * count[1]  # light has many shades, lines few
    page = opened(browser, reports["four-bar"])
    assert not page.is_checked("#show-solid")
    flat = picture(page)
    page.click("#show-solid")
    assert page.evaluate("varimech.animation.camera.spatial")
    assert (picture(page) != flat).any()


@browsing
@pytest.mark.parametrize("name", ["swing", "four-bar"])
@pytest.mark.parametrize("perspective", [True, False])
def test_bodies_are_where_names_and_arrows_are(
    browser: Any, reports: dict[str, Path], name: str, perspective: bool
) -> None:
    """The matrix of WebGL against the projection of the canvas."""
    page = opened(browser, reports[name])
    script = """(perspective) => { const a = varimech.animation; a.setSolid(true); const c = a.camera; c.perspective = perspective;
        c.yaw = 1.1; c.pitch = 0.7; c.wheel(1.7, 100, 200); c.look(); const places = [[0.1, -0.2, 0.3], [0.5, 0.1, -0.4], [-0.3, 0.2, 0.1]];
        return { seen: places.map((p) => c.project(p)), matrix: [...c.matrix()], width: c.width, height: c.height, places }; }"""
    found = page.evaluate(script, perspective)
    M = np.array(found["matrix"]).reshape(4, 4).T
    clip = M @ np.vstack([np.array(found["places"]).T, np.ones(3)])
    x, y, z = clip[:3] / clip[3]
    assert (abs(z) < 1).all()
    seen = np.array(found["seen"])
    assert (1 + x) / 2 * found["width"] == pytest.approx(seen[:, 0], abs=1e-3)
    assert (1 - y) / 2 * found["height"] == pytest.approx(seen[:, 1], abs=1e-3)
    assert (np.argsort(z) == np.argsort(-seen[:, 2])).all()  # what is nearer hides what is behind


@browsing
def test_usual_views(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    page.evaluate("document.querySelector('.more').open = true")
    directions = {}
    for view in ("front", "side", "top"):
        page.click(f"[data-view={view}]")
        directions[view] = page.evaluate(
            "(() => { const c = varimech.animation.camera; c.look();"
            " return [c.global(c.towards), c.global(c.right)]; })()"
        )
    assert np.array(directions["front"]) == pytest.approx(np.array([[0, -1, 0], [1, 0, 0]]))
    assert np.array(directions["side"]) == pytest.approx(np.array([[1, 0, 0], [0, 1, 0]]))
    assert np.array(directions["top"]) == pytest.approx(np.array([[0, 0, 1], [1, 0, 0]]))


@browsing
def test_sections_and_transparency_show_less(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    for box in ("#show-labels", "#show-traces"):
        page.click(box)
    whole = picture(page)
    set_ = "([id, value]) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event('input')); }"
    page.evaluate(set_, ["section", 0])
    nothing = picture(page)
    page.evaluate(set_, ["section", 100])
    assert (picture(page) == whole).all()
    page.evaluate(set_, ["opacity", 80])
    faint = picture(page)
    background = nothing[60, 200].astype(int)

    def ink(seen: np.ndarray) -> int:
        return int((abs(seen.astype(int) - background).sum(axis=2) > 150).sum())

    assert ink(whole) > 1000
    assert ink(nothing) < 0.2 * ink(whole)
    assert ink(faint) < 0.8 * ink(whole)


@browsing
@pytest.mark.parametrize("crossed", [False, True])
def test_belts_have_the_length_of_belts(
    browser: Any, reports: dict[str, Path], crossed: bool
) -> None:
    page = opened(browser, reports["four-bar"])
    d, r, R = 0.5, 0.08, 0.16
    line = np.array(
        page.evaluate("([d, r, R, crossed]) => beltLine(d, r, R, crossed)", [d, r, R, crossed])
    )
    found = np.linalg.norm(np.roll(line, -1, axis=0) - line, axis=1).sum()
    along, turn = (R + r, 1) if crossed else (R - r, 0)
    lean = np.arcsin(along / d)
    arcs = (r + R) * (np.pi + 2 * lean) if turn else np.pi * (r + R) + 2 * (R - r) * lean
    expected = 2 * np.sqrt(d**2 - along**2) + arcs
    assert found == pytest.approx(expected, rel=1e-3)  # chords are shorter than arcs
    assert found < expected


@browsing
def test_racks_move_with_their_bodies(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["rack"])
    script = """(time) => { const a = varimech.animation; a.setSolid(true); a.time = time; a.draw();
        return [...a.solid.kit.groups.bodies.get("rack 0").numbers.slice(0, 2)]; }"""
    first, last = (np.array(page.evaluate(script, t)) for t in (0.0, 0.3))
    assert last - first == pytest.approx([0.3 * 2.0 * 0.05, 0], abs=1e-6)


@browsing
def test_forces_have_arrows_and_a_legend(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    for box in ("#show-labels", "#show-traces"):
        page.click(box)
    plain = picture(page)
    page.click("#show-acting")
    assert (picture(page) != plain).any()
    run = swing().simulate(0.3, step=0.01, backend="interpreted")
    forces = np.linalg.norm(run.acting([("spring", "rod.E")])[:, 0], axis=1)
    legend = page.inner_text("#stage-legend")
    assert f"now {forces[0]:.3g} N" in legend and f"time {forces.max():.3g} N" in legend
    scaled = page.evaluate("varimech.animation.forceScale() * varimech.animation.data.acting.scale")
    assert scaled == pytest.approx(0.2 * page.evaluate("varimech.animation.camera.size"))
    page.click("#show-reactions")
    page.wait_for_function(  # the legend follows with the next frame
        "document.getElementById('stage-legend').textContent.includes('joints')"
    )


@browsing
def test_without_webgl_there_are_lines(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"], NO_WEBGL)
    assert page.is_hidden("#solid-choice")
    assert page.evaluate("varimech.animation.solid === null")
    assert len(np.unique(picture(page).reshape(-1, 3), axis=0)) > 10
    page.evaluate("varimech.player.time = 0.2")
    assert page.inner_text("#clock") == "0.200 s"


@browsing
def test_a_lost_context_falls_back_to_lines(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    page.evaluate(
        "varimech.animation.solidView.gl.getExtension('WEBGL_lose_context').loseContext()"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("varimech.animation.solid === null")


@browsing
def test_lines_as_svg(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["four-bar"])
    page.evaluate("document.querySelector('.more').open = true")
    with page.expect_download() as download:
        page.click("#save-svg")
    assert download.value.suggested_filename == "four-bar.svg"
    root = ET.fromstring(Path(download.value.path()).read_text(encoding="utf-8"))
    tag = "{http://www.w3.org/2000/svg}"
    assert {"A", "B", "C", "D", "P"} <= {e.text for e in root.iter(f"{tag}text")}
    colours = {e.get("stroke") for e in root.iter(f"{tag}path")}
    assert set(page.evaluate("varimech.animation.colours.slice(0, 3)")) <= colours


@browsing
def test_another_motion_is_shown_in_the_same_view(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    script = """() => { const a = varimech.animation; a.camera.yaw = 2; a.time = 0.1; a.draw(); const before = a.place(a.places, 0).slice();
        const motion = { ...a.data.motion, time: a.track.time, places: a.track.values.map((x) => x + 0.25), rates: a.track.rates };
        a.setData({ ...a.data, motion }); a.draw(); return [...a.place(a.places, 0)].map((x, k) => x - before[k]).concat(a.camera.yaw, a.time); }"""
    assert page.evaluate(script) == pytest.approx([0.25, 0.25, 0.25, 2, 0.1], abs=1e-6)


@browsing
def test_a_motion_as_a_film(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["swing"])
    page.evaluate("document.querySelector('.more').open = true")
    page.select_option("#speed", "1")
    page.evaluate("varimech.player.time = 0.2")
    with page.expect_download() as download:
        page.click("#save-film")
        page.get_by_role("button", name="Cancel film").wait_for()
    name, film = download.value.suggested_filename, Path(download.value.path()).read_bytes()
    assert name in ("swing-b.mp4", "swing-b.webm")
    assert film[4:8] == b"ftyp" if name.endswith("mp4") else film[:4] == b"\x1a\x45\xdf\xa3"
    assert 10_000 < len(film) < 5_000_000
    assert page.evaluate("[varimech.player.time, varimech.player.playing]") == [0.2, False]
    assert page.inner_text("#save-film") == "Save film" and not page.inner_text("#film-note")
    # WebM has no duration until its end has been looked for
    script = """(text) => new Promise((done) => { const v = document.createElement("video");
        v.ondurationchange = () => (v.duration < Infinity ? done([v.duration, v.videoWidth]) : (v.currentTime = 1e6)); v.onerror = () => done([0, 0]);
        v.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))])); })"""
    blank = browser.new_page()
    seconds, width = blank.evaluate(script, base64.b64encode(film).decode())
    assert 0.2 < seconds < 1.5  # 0.3 s, then the end for a moment
    assert width == page.evaluate("varimech.animation.canvas.width & ~1")


@browsing
def test_films_are_cancelled_and_at_most_20_s_long(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["four-bar"])
    page.evaluate("document.querySelector('.more').open = true")
    page.select_option("#speed", "0.01")
    page.evaluate("varimech.player.time = 0.1")
    page.click("#save-film")
    assert page.inner_text("#film-note") == "Recording at 0.015×, so that the film lasts 20 s."
    page.get_by_role("button", name="Cancel film").press("Enter")
    page.get_by_role("button", name="Save film").wait_for()
    assert page.inner_text("#film-note") == "No film: recording was cancelled."
    assert page.evaluate("[varimech.player.time, varimech.player.playing]") == [0.1, False]
    page = opened(browser, reports["four-bar"], "delete window.MediaRecorder;")
    page.evaluate("document.querySelector('.more').open = true")
    assert page.is_visible("#save-png") and page.is_hidden("#save-film")
