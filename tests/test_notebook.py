"""What notebooks show, and figures for papers: nothing fails while it is shown, and settings stay
as they were.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.image
import matplotlib.text
import numpy as np
import pytest
from markdown_pages import DOCS, run_page

import varimech as vm
from varimech.plotting.mechanism_drawing import _free_direction

ψ = {"ψ": vm.final(lambda s: s.position("tip")[1], unit="m")}


def pendulum(name: str = "pendulum <b>") -> vm.Mechanism:
    m = vm.Mechanism(name, gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar(
        "rod",
        "O",
        "tip",
        length=m.parameter("L", 1.0, unit="m", bounds=(0.5, None), distribution=vm.Tolerance(0.01)),
        mass=3.0,
    )
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return pendulum()


@pytest.fixture(scope="module")
def gradient(m: vm.Mechanism) -> vm.Gradient:
    return m.sensitivity(ψ, duration=0.5, step=0.01)


def pictures(html: str) -> list[str]:
    """All pictures, as SVG that parses."""
    results = [
        base64.b64decode(x).decode()
        for x in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    ]
    for svg in results:
        assert ElementTree.fromstring(svg).tag.endswith("svg")
    return results


@pytest.fixture(scope="module")
def things(m: vm.Mechanism, gradient: vm.Gradient) -> dict[str, tuple[Any, int, str]]:
    """Thing, how many pictures, and what has to be read."""
    near = {"L": (0.9, 1.1)}
    at = gradient.time[::10]
    data = vm.measurement(
        lambda s: s.angle("rod"),
        at,
        np.interp(at, gradient.time, gradient.run.angle("rod").to_numpy()),
    )
    return {
        "mechanism": (m, 1, "planar, 1 rigid body, 1 joint"),
        "parameters": (m.parameters, 0, "± 0.01 (3σ)"),
        "run": (gradient.run, 2, "50 steps"),
        "at rest": (m.equilibrium(), 1, "equilibrium"),
        "gradient": (gradient, 1, "dψ/d L (m)"),
        "hessian": (m.hessian(ψ, duration=0.1, step=0.01), 0, "d²ψ/dρ²"),
        "topology": (m.topology(), 1, ""),
        "ensemble": (
            m.ensemble(ψ, {"L": [0.9, 1.0]}, duration=0.1, step=0.01),
            0,
            "Ensemble of 2 runs",
        ),
        "moments": (m.moments(ψ, duration=0.1, step=0.01), 1, "Moments of"),
        "study": (m.monte_carlo(ψ, duration=0.1, step=0.01, samples=16), 1, "16 samples"),
        "optimum": (
            m.optimize(ψ, ["L"], duration=0.1, step=0.01, bounds=near),
            1,
            "Local optimum of",
        ),
        "fit": (m.fit({"angle": data}, ["L"], duration=0.5, step=0.01, bounds=near), 1, "Fit of"),
        "certificate": (gradient.certify(relative_steps=[1e-3, 1e-4, 1e-5]), 1, "trusted"),
    }


def test_everything_is_shown(things: dict[str, tuple[Any, int, str]]) -> None:
    for name, (thing, count, words) in things.items():
        html = thing._display()  # hides no errors
        assert thing._repr_html_().startswith(html[:30]), name
        assert len(pictures(html)) == count, name
        assert words in html and "pendulum <b>" not in html, name
        ElementTree.fromstring(f"<div>{html}</div>")


def test_showing_never_fails(gradient: vm.Gradient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no display")

    monkeypatch.setattr(vm.Run, "draw", broken)
    assert gradient.run._repr_html_().startswith("<pre") and "Run of" in gradient.run._repr_html_()


def test_a_mechanism_that_does_not_close_says_why() -> None:
    m = pendulum("open")
    m.ground_point("P", (5, 0))
    m.spring("s", "tip", "P", stiffness=1, natural_length=1)
    m.distance("rope", "tip", "ground.P", length=1.0)
    html = m._repr_html_()
    assert not pictures(html) and "not drawn" in html and "rope" in html and "<td" in html


def test_parameters_are_printed_as_a_table(m: vm.Mechanism) -> None:
    head, row = str(m.parameters).splitlines()
    assert head.split() == ["parameter", "value", "unit", "lower", "upper", "distribution"]
    assert row.split() == ["L", "1.0", "m", "0.5", "±", "0.01", "(3σ)"]
    assert m.parameters == {"L": m.parameters["L"]}


def test_a_mechanism_draws_itself_at_its_start(m: vm.Mechanism) -> None:
    ax = m.draw(parameters={"L": 2.0}).axes[0]
    ends = [
        np.asarray(line.get_xydata())[-1] for line in ax.lines if np.size(line.get_xdata()) == 2
    ]
    assert ends[0] == pytest.approx([2 * np.cos(-1.0), 2 * np.sin(-1.0)], abs=1e-12)


def test_figures_for_papers(things: dict[str, tuple[Any, int, str]], tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    for name, (thing, _, _) in things.items():
        for word in ("plot", "draw", "bars"):
            if word == "plot" and isinstance(thing, vm.Run):
                figure = thing.plot(angle=["rod", "O"], energy="total", style="paper")
            elif hasattr(thing, word):
                figure = getattr(thing, word)(style="paper")
            else:
                continue
            width = figure.get_size_inches()[0]
            assert (
                width == pytest.approx(7.0 if name in ("moments", "optimum") else 3.4)
                or name == "topology"
            )
            sizes = {float(t.get_fontsize()) for t in figure.findobj(mpl.text.Text) if t.get_text()}
            assert max(sizes) <= 8.0
            figure.savefig(tmp_path / "figure.svg")
            assert "<text" in (tmp_path / "figure.svg").read_text(encoding="utf-8")
            if name in ("run", "topology"):
                figure.savefig(tmp_path / "figure.pdf")
                assert b"/Type3" not in (tmp_path / "figure.pdf").read_bytes()
    assert dict(mpl.rcParams) == before


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = DOCS / "figures.md"
    monkeypatch.chdir(tmp_path)
    run_page(page)
    assert {p.name for p in tmp_path.iterdir()} == {
        "both.png",
        "motion.pdf",
        "mechanism.svg",
        "wide.pdf",
    }


def test_curves_for_papers_differ_in_grey(gradient: vm.Gradient, tmp_path: Path) -> None:
    figure = gradient.run.plot(energy=["kinetic", "potential", "total"], style="paper")
    lines = figure.axes[0].lines
    assert len({str(line._dash_pattern) for line in lines}) == 3  # type: ignore[attr-defined]
    assert max(line.get_linewidth() for line in lines) < 1
    figure.savefig(tmp_path / "figure.png")
    assert mpl.image.imread(tmp_path / "figure.png").shape[1] == 1020  # 300 dpi
    titled = gradient.run.plot(energy="total", style="paper", title="Energy")
    assert titled.get_suptitle() == "Energy" and not figure.get_suptitle()
    with pytest.raises(vm.ModelError, match="no style is called 'papper'; did you mean 'paper'"):
        gradient.plot(style="papper")


@pytest.fixture(scope="module")
def sliding() -> vm.Run:
    """A crank-slider whose slider goes along y."""
    m = vm.Mechanism("crank-slider", dimension=2)
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=m.parameter("L", 0.1, unit="m"), mass=0.5)
    m.bar("rod", "P", "S", length=0.25, mass=0.8)
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    for name in "OPS":
        m.revolute(name)
    m.prismatic("guide", "ground.O", "slider.S", axis=(0, 1))
    m.spring(
        "spring",
        "ground.O",
        "slider.S",
        stiffness=m.parameter("k", 200.0, unit="N/m"),
        natural_length=0.3,
    )
    m.start(angle={"crank": 0.5}, near={"S": (0, 0.3)})
    return m.sensitivity(duration=0.1, step=0.01).run


def test_curves_of_derivatives_show_parameters_and_units(sliding: vm.Run) -> None:
    (one,), (several,) = (
        sliding.panels(displacement="guide", wrt=wrt) for wrt in (["L"], ["L", "k"])
    )
    assert (one.ylabel, [line.label for line in one.lines]) == (
        "∂ displacement / ∂ L (m/m)",
        ["guide"],
    )
    assert several.ylabel == "∂ displacement / ∂ parameter"
    assert [line.label for line in several.lines] == ["guide / ∂ L (m/m)", "guide / ∂ k (m/(N/m))"]


def test_sliders_are_blocks_on_rails(sliding: vm.Run) -> None:
    ax = sliding.draw(times=[0.1]).axes[0]
    place, scheme = sliding.position("S").to_numpy()[-1], sliding.position("S").to_numpy()[:, 1]
    (block,) = ax.patches
    corners = np.asarray(block.get_path().vertices)[:-1]
    np.testing.assert_allclose(corners.mean(axis=0), place, atol=1e-12)
    assert np.ptp(corners[:, 1]) > np.ptp(corners[:, 0])  # longer along its way
    rails = [np.asarray(line.get_xydata()) for line in ax.lines if line.get_path_effects()]
    assert len(rails) == 1 and np.ptp(rails[0][:, 0]) < 1e-12
    assert rails[0][:, 1].min() < scheme.min() and rails[0][:, 1].max() > scheme.max()


def test_labels_keep_clear_of_lines() -> None:
    """A point in the middle of a vertical line, and the upper end of it."""
    line = np.array([[(0.0, 0.0), (0.0, 1.0)]])
    assert _free_direction(np.array([0.0, 0.5]), line) == pytest.approx([1, 0])
    assert _free_direction(np.array([0.0, 1.0]), line) == pytest.approx([0, 1])
    assert _free_direction(np.array([3.0, 1.0]), line) == pytest.approx([0.5**0.5, 0.5**0.5])
