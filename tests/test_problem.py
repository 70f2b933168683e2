"""Problems: stated once, checked once, answered by every analysis as the short forms answer it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oscillator import oscillator, x_of

import varimech as vm
from varimech.elements.builder import Model

END = {"x": vm.final(x_of, unit="m")}
OPTIONS: dict[str, Any] = {"duration": 0.5, "step": 0.01, "backend": "interpreted"}
TOLERANCES = {"k": vm.Tolerance(1.0), "c": vm.Tolerance(0.05)}


@pytest.fixture
def m() -> vm.Mechanism:
    return oscillator()


def measured(m: vm.Mechanism) -> vm.Measurement:
    times = np.linspace(0.1, 0.5, 5)
    run = m.simulate(0.5, step=0.01, every=10, parameters={"k": 90.0})
    return vm.measurement(x_of, times, run.measure(x_of).to_numpy().ravel()[1:])


ANALYSES: dict[str, tuple[Callable[[vm.Problem], Any], Callable[[vm.Mechanism], Any]]] = {
    "run": (lambda p: p.run().energy(), lambda m: m.simulate(0.5, **_runs()).energy()),
    "gradient": (
        lambda p: p.gradient("adjoint").gradient,
        lambda m: m.sensitivity(END, ["k", "c"], method="adjoint", **OPTIONS).gradient,
    ),
    "hessian": (
        lambda p: p.hessian("backward").hessian,
        lambda m: m.hessian(END, ["k", "c"], method="backward", **OPTIONS).hessian,
    ),
    "hessian_product": (
        lambda p: p.hessian_product({"k": 1.0}, "forward"),
        lambda m: m.hessian(END, ["k", "c"], method="forward", **OPTIONS).hessian.sel(
            parameter2="k", drop=True
        ),
    ),
    "ensemble": (
        lambda p: p.ensemble({"k": [90.0, 110.0]}).gradient,
        lambda m: m.ensemble(END, {"k": [90.0, 110.0]}, wrt=["k", "c"], **OPTIONS).gradient,
    ),
    "moments": (
        lambda p: p.moments(TOLERANCES, order=1).std,
        lambda m: m.moments(END, TOLERANCES, order=1, **OPTIONS).std,
    ),
    "monte_carlo": (
        lambda p: p.monte_carlo(TOLERANCES, samples=64, seed=3).mean,
        lambda m: m.monte_carlo(END, TOLERANCES, samples=64, seed=3, **OPTIONS).mean,
    ),
    "optimize": (
        lambda p: p.optimize(bounds={"k": (80, 120)}, max_iterations=3).parameters["k"],
        lambda m: m.optimize(
            END, ["k", "c"], bounds={"k": (80, 120)}, max_iterations=3, **OPTIONS
        ).parameters["k"],
    ),
    "design_problem": (
        lambda p: p.design_problem("k").jac(np.array([95.0])),
        lambda m: m.sensitivity(END, "k", parameters={"k": 95.0}, **OPTIONS).gradient[0],
    ),
}


def _runs() -> dict[str, Any]:
    return {name: value for name, value in OPTIONS.items() if name != "duration"}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_every_analysis_gives_the_bits_of_its_short_form(m: vm.Mechanism, analysis: str) -> None:
    of_problem, short = ANALYSES[analysis]
    one, other = of_problem(m.problem(END, ["k", "c"], **OPTIONS)), short(m)
    assert np.array_equal(np.asarray(one), np.asarray(other))


def test_fits_and_exports(m: vm.Mechanism, tmp_path: Path) -> None:
    p = m.problem(END, "k", duration=0.5, step=0.01)
    fitted = p.fit(measured(m))
    assert fitted.parameters == pytest.approx({"k": 90.0}, rel=1e-6)
    assert fitted.parameters == m.fit(measured(m), "k", duration=0.5, step=0.01).parameters
    assert (p.export(tmp_path, target="c") / "bundle.json").is_file()
    with pytest.raises(vm.ModelError, match="get their parameters there; leave parameters= out"):
        p.with_options(parameters={"c": 1.0}).export(tmp_path, target="c")


def test_certificates(m: vm.Mechanism) -> None:
    assert m.problem(END, ["k"], duration=0.5, progress=False).certify().trusted


def test_wrt_is_what_optimisation_and_fits_may_change(m: vm.Mechanism) -> None:
    p = m.problem(END, ["k"], **OPTIONS)
    assert p.design_problem().names == ("k",) and p.design_problem("c").names == ("c",)
    assert m.problem(**OPTIONS).wrt is None and m.problem(wrt="all", **OPTIONS).wrt == tuple(
        m.parameters
    )
    assert "gradient" in p.ensemble({"c": [1.0]}).dataset
    assert "gradient" not in m.problem(END, **OPTIONS).ensemble({"c": [1.0]}).dataset


def test_samples_keep_the_values_of_the_problem(m: vm.Mechanism) -> None:
    p = m.problem(END, **OPTIONS, parameters={"k": 90.0})
    alone = p.with_options(parameters={"k": 90.0, "c": 2.0}).gradient().values
    assert p.ensemble({"c": [2.0]}).values.to_numpy() == pytest.approx(alone.to_numpy()[None])


def test_one_of_several_objectives_is_minimised(m: vm.Mechanism) -> None:
    p = m.problem({**END, "top": vm.peak(x_of)}, ["k"], **OPTIONS)
    with pytest.raises(vm.ModelError, match="one objective, not 2; name it with minimize="):
        p.optimize()
    with pytest.raises(vm.ModelError, match="no objective is called 'tap'; did you mean 'top'"):
        p.optimize(minimize="tap")
    assert p.design_problem(minimize="top").is_peak
    exact = m.problem(p.objectives, ["k"], duration=0.5, backend="interpreted").gradient()
    assert p.gradient().final_gradient == pytest.approx(exact.final_gradient, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stepp": 0.1}, "no option is called 'stepp'; did you mean 'step'"),
        ({"tolerance": 1e-6}, "give one of the two"),
        ({"integrator": "rk5"}, "no integrator is called 'rk5'"),
        ({"backend": "gpu"}, "many runs at once"),
        ({"duration": -1.0}, "duration = -1.0"),
        ({"wrt": []}, "wrt is empty"),
        ({"wrt": ["k", "k"]}, "twice"),
        ({"wrt": "kk"}, "is called 'kk'"),
        ({"parameters": {"kk": 1.0}}, "is called 'kk'"),
        ({"parameters": 3}, "must be a dictionary"),
        ({"objectives": 3}, "is not an objective"),
        ({"objectives": vm.path(x_of)}, "a function of time"),
    ],
)
def test_everything_is_checked_when_the_problem_is_stated(
    m: vm.Mechanism, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(vm.ModelError, match=message):
        m.problem(**{"objectives": END, **OPTIONS, **given})


def test_problems_do_not_change(m: vm.Mechanism) -> None:
    p = m.problem(END, "k", **OPTIONS, parameters={"c": "2 kg/s"})
    longer = p.with_options(duration=1.0, step=0.02)
    assert (p.duration, longer.duration) == (0.5, 1.0)
    assert p.run().time[-1] == 0.5 and longer.run().time.size == 51
    assert p.parameters["c"] == longer.parameters["c"] == 2.0
    with pytest.raises(AttributeError):
        p.objectives = {}  # type: ignore[misc]
    m.parameter("new", 1.0)
    for analysis in (p.run, p.gradient, p.hessian):
        with pytest.raises(vm.ModelError, match="changed since; state the problem anew"):
            analysis()


def test_a_problem_shows_what_it_is(m: vm.Mechanism) -> None:
    p = m.problem(END, "k", **OPTIONS, parameters={"c": 2.0})
    text = repr(p)
    assert text.startswith("<Problem of 'oscillator'>")
    for line in ("objectives  x (m)", "wrt         k", "0.5 s, 50 steps of 0.01 s", "c = 2.0"):
        assert line in text
    assert "ALI3-P, trapezoidal rule, natural coordinates" in text
    assert "Problem of oscillator" in p._repr_html_() and "<table>" in p._repr_html_()
    adaptive = repr(m.problem(duration=1.0, tolerance=1e-6))
    assert "none" in adaptive and "all parameters" in adaptive and "tolerance 1e-06" in adaptive


def test_a_mechanism_is_a_builder_with_analyses_beside_it() -> None:
    assert vm.Mechanism.__bases__ == (Model,)
    analyses = set(dir(vm.Mechanism)) - set(dir(Model))
    assert {"simulate", "problem", "sensitivity"} <= analyses
