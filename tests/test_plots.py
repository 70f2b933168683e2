"""Plots in a real browser: what they draw and read out, by mouse and keys, at 60 frames a second."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from varimech.web.encoding import escaped, script_json
from varimech.web.modules import asset, in_one
from varimech.web.plots import Axis, Curve, Plots, bar_plot, curve_plot, histogram_plot
from varimech.web.units import degrees, engineering, engineering_unit

CHROMIUM = shutil.which("chromium")
browsing = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at plots with")
TIMES = np.linspace(0.0, 2.0, 201)


def all_plots() -> tuple[str, list[dict[str, Any]]]:
    """A plot of each kind: over time, bars, a histogram, logarithmic axes."""
    plots = Plots()
    wave, ramp = 0.02 * np.sin(np.pi * TIMES), 0.01 * TIMES
    curves = [
        Curve("wave", TIMES, wave, derivatives=np.stack([0 * ramp, ramp], axis=1), deviation=ramp),
        Curve("ramp", TIMES, ramp, dash="dash", band=(ramp - 0.005, ramp + 0.005), band_name="±"),
        Curve("data", TIMES[::50], wave[::50], mode="markers", error=np.full(5, 0.001)),
    ]
    shown = curve_plot(curves, Axis("way", "m"), limits=[0.03], until=1.5, marks=[0.7])
    steps = 10.0 ** -np.arange(1, 9)
    decay = Curve("error", steps, steps**2, mode="lines+markers")
    sweep = curve_plot([decay], Axis("error", log=True), x=Axis("step", log=True), nearest="point")
    figures = [
        plots.add("over time", shown),
        plots.add("bars", bar_plot(["a", "b"], [2500.0, -500.0], Axis("force", "N"), ["A", ""])),
        plots.add("counts", histogram_plot("samples", 1.0, 0.5, np.array([1, 4, 2]), Axis("x"))),
        plots.add("sweep", sweep),
    ]
    return "".join(figures), plots.specs


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    figures, specs = all_plots()
    script = (
        in_one("plots.js")
        + "const specs = JSON.parse(document.getElementById('data').textContent);"
        + "window.times = []; window.set = new PlotSet(specs, (t) => times.push(t));"
        + "window.units = engineeringUnit; for (const plot of set.plots) plot.draw();"
    )
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_context(viewport={"width": 700, "height": 1400}).new_page()
        opened.set_content(
            f"<style>{asset('style.css')}</style><main>{figures}</main>"
            f'<script type="application/json" id="data">{script_json(specs)}</script>'
            f"<script>{script}</script>"
        )
        yield opened
        browser.close()


def point(page: Any, plot: int, x: float) -> tuple[float, float]:
    """Pixels of the screen at the middle of a plot, at a number of its horizontal axis."""
    left, top, at, height = page.evaluate(
        "([k, x]) => { const p = set.plots[k], b = p.box.getBoundingClientRect();"
        " return [b.left, b.top, p.view.x.pixel(x), b.height]; }",
        [plot, x],
    )
    return left + at, top + height / 2


def readout(page: Any, plot: int) -> str:
    return str(page.locator(".readout").nth(plot).inner_text())


def focus(page: Any, plot: int) -> None:
    page.locator(".plot-area").nth(plot).focus()


@browsing
def test_the_mouse_reads_out_all_curves_with_units(page: Any) -> None:
    page.mouse.move(*point(page, 0, 0.5))
    text = readout(page, 0)
    assert "time 0.5000 s" in text
    assert "20.000 mm" in text  # the wave's crest; the axis is in mm
    assert "5.000 ± 5.000 mm" in text
    assert text.count("20.000 mm") == 2  # the data, too
    page.mouse.move(*point(page, 0, 0.75))
    assert "data" not in readout(page, 0)  # none is near
    page.mouse.move(5, 5)
    assert page.locator(".readout").nth(0).is_hidden()


@browsing
def test_a_click_sets_the_time_a_drag_zooms_and_a_double_click_resets(page: Any) -> None:
    page.mouse.click(*point(page, 0, 1.25))
    assert page.evaluate("times.at(-1)") == pytest.approx(1.25, abs=0.01)
    page.mouse.move(*point(page, 0, 0.5))
    page.mouse.down()
    page.mouse.move(*point(page, 0, 1.0), steps=4)
    page.mouse.up()
    assert page.evaluate("set.plots[0].zoom") == pytest.approx([0.5, 1.0], abs=0.01)
    page.evaluate("set.plots[0].draw()")
    assert page.evaluate("set.plots[0].view.y.low") > -0.01  # the trough is out of sight
    page.mouse.dblclick(*point(page, 0, 0.75))
    page.evaluate("set.plots[0].draw()")
    assert page.evaluate("[set.plots[0].view.x.low, set.plots[0].view.x.high]") == [0, 2]
    assert page.evaluate("set.plots[0].view.y.low") < -0.02


@browsing
def test_keys_move_the_readout(page: Any) -> None:
    focus(page, 0)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "time 0.0300 s" in readout(page, 0)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("times.at(-1)") == pytest.approx(0.13)
    page.keyboard.press("Escape")
    assert page.locator(".readout").nth(0).is_hidden()
    focus(page, 1)
    page.keyboard.press("ArrowDown")
    assert readout(page, 1) == "A"  # its note
    page.keyboard.press("ArrowDown")
    assert "−0.5 kN" in readout(page, 1)
    focus(page, 2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert readout(page, 2).split("\n")[0] == "1.5000 to 2.0000"
    assert readout(page, 2).endswith("4")


@browsing
def test_logarithmic_axes_read_out_the_nearest_point(page: Any) -> None:
    focus(page, 3)
    page.keyboard.press("ArrowRight")
    assert "10⁻" in readout(page, 3) or "0.01" in readout(page, 3)
    x = page.evaluate("set.plots[3].found.points[0]")
    assert x["y"] == pytest.approx(x["x"] ** 2)
    ticks = page.evaluate("set.plots[3].view.y.ticks(4)")
    assert [t["text"] for t in ticks][-1].startswith("10")
    assert np.log10([t["at"] for t in ticks]) == pytest.approx(
        np.round(np.log10([t["at"] for t in ticks]))
    )


@browsing
def test_ticks_are_round_and_within_the_axis(page: Any) -> None:
    for low, high in ((0, 1), (-3.7e-5, 8.1e-5), (99.99, 100.01), (-1e7, 2.5e8), (5, 5)):
        ticks = page.evaluate(
            "([low, high]) => { const a = set.plots[0].view.y.constructor, y = new a({unit: 'N'});"
            " y.setRange(low, high); return [y.ticks(5), y.low, y.high, y.factor]; }",
            [low, high],
        )
        at, factor = np.array([t["at"] for t in ticks[0]]), ticks[3]
        assert 2 <= at.size <= 11
        assert (at >= ticks[1] - 1e-9 * abs(ticks[1])).all() and (at <= ticks[2]).all()
        step = np.diff(at)[0]
        mantissa = step / 10 ** np.floor(np.log10(step) + 1e-6)
        assert min(abs(mantissa - round_one) for round_one in (1, 2, 5)) < 1e-4
        shown = [float(t["text"].replace("−", "-")) * factor for t in ticks[0]]
        assert shown == pytest.approx(at, rel=1e-9, abs=1e-6 * step)


@browsing
def test_data_are_replaced_and_zoom_and_bands_stay(page: Any) -> None:
    result = page.evaluate("""() => {
      const p = set.plots[0];
      p.setZoom([0.5, 1]);
      p.setBand({ parameter: 1, change: 3 });
      const x = new Float64Array(501).map((_, k) => k / 250);
      const spec = (k) => ({ ...p.spec, curves: [{ name: "wave", colour: "#0b6fb8", x, y: x.map((t) => k + t), derivatives: [x, x] }] });
      for (let k = 0; k < 60; k++) { p.setData(spec(k)); p.draw(); }
      const c = p.view.curves[0];
      return { zoom: p.zoom, upper: c.chosen.upper[250], low: p.view.y.low, legend: p.legend.hidden };
    }""")
    assert result["zoom"] == [0.5, 1]
    assert result["upper"] == pytest.approx(59 + 1 + 3)
    assert result["low"] == pytest.approx(57 - 0.06 * (63 - 57))  # the band from 0.5 s to 1 s
    assert result["legend"]  # a single curve has none


@browsing
def test_a_curve_is_switched_off_in_the_legend(page: Any) -> None:
    _, specs = all_plots()
    page.evaluate("(spec) => { set.plots[0].setZoom(null); set.plots[0].setData(spec); }", specs[0])
    page.get_by_role("button", name="wave").click()
    page.evaluate("set.plots[0].draw()")
    page.mouse.move(*point(page, 0, 0.5))
    assert "wave" not in readout(page, 0)
    assert "ramp" in readout(page, 0)
    assert page.get_by_role("button", name="wave").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="wave").click()


@browsing
def test_bars_are_grouped_by_name(page: Any) -> None:
    bars = page.evaluate("""() => {
      const { fillRect } = CanvasRenderingContext2D.prototype, drawn = [], p = set.plots[1];
      const series = [["before", "#0b6fb8", [1, 3]], ["after", "#d1495b", [2, -1]]];
      p.setData({ ...p.spec, notes: null, series: series.map(([name, colour, values]) => ({ name, colour, values: new Float64Array(values) })) });
      CanvasRenderingContext2D.prototype.fillRect = function (...box) { drawn.push(box); };
      p.draw();
      CanvasRenderingContext2D.prototype.fillRect = fillRect;
      return drawn.map(([x, y, width]) => [p.view.x.number(x), p.view.x.number(x + width), y]);
    }""")
    ends = [(0, 1), (0, 2), (0, 3), (-1, 0)]  # name by name, from top to bottom
    assert [bar[:2] for bar in bars] == [pytest.approx(pair, abs=1e-9) for pair in ends]
    assert [bar[2] for bar in bars] == sorted(bar[2] for bar in bars)
    assert page.locator(".plot-legend").nth(1).inner_text().split() == ["before", "after"]


@browsing
@pytest.mark.parametrize("unit", ["m", "rad", "N·m", "m/s²", "kg", "", "N²·s", "Hz", "mm"])
def test_axes_and_texts_have_the_same_units(page: Any, unit: str) -> None:
    for exponent in np.arange(-13, 13, 0.25):
        number = float(10.0**exponent)
        shown = page.evaluate("([x, unit]) => units(x, unit)", [number, unit])
        factor, text = engineering_unit(number, unit)
        assert (shown["unit"], shown["factor"]) == (text, pytest.approx(factor))


def test_numbers_in_engineering_notation() -> None:
    assert engineering(12345.0, "N") == "12.3 kN"
    assert engineering(-0.0045, "m") == "−4.5 mm"
    assert engineering(999.9, "N") == "1 kN"
    assert engineering(0.35, "m", sign=True) == "+0.35 m"
    assert engineering(0.0002, "kg") == "200 mg"
    assert engineering(12345.0, "m/s²") == "12300 m/s²"
    assert engineering(2.5e-7, "N²·s") == "250·10⁻⁹ N²·s"
    assert engineering(0.0, "N") == "0 N"
    assert engineering(2.5, "") == "2.5"
    assert (degrees(-np.pi / 3), degrees(10 * np.pi)) == ("−60°", "5 rev")


def test_a_single_curve_is_named_in_the_heading() -> None:
    plots = Plots()
    one = Curve("guide", TIMES, TIMES)
    assert "<figcaption>way: guide</figcaption>" in plots.add("way", curve_plot([one], Axis("y")))
    two = curve_plot([one, Curve("<b>", TIMES, TIMES)], Axis("y"))
    assert "<figcaption>way</figcaption>" in plots.add("way", two)
    assert two["curves"][1]["x"] == 0  # places are shared
    assert escaped("<b>") in plots.add("<b>", two) and json.dumps(plots.specs)
