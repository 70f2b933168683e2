"""Choosing formulations and integrators: what is chosen where little is said, what goes together,
and what is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from loops import EQUAL_ONLY, TOLERANCE_ONLY, pendulum
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.core.schedule import (
    DEFAULT_OUTPUTS,
    DEFAULT_STEP,
    DEFAULT_TOLERANCE,
    MOST_STORED,
    equal_steps,
)
from varimech.schemes import COORDINATES, FORMULATIONS, INTEGRATORS, choose, integrators_of

NAN, INF = math.nan, math.inf


# what is chosen


@pytest.mark.parametrize(
    ("options", "formulation", "integrator"),
    [
        ({}, "index1", "dop853"),
        ({"tolerance": 1e-6}, "index1", "dop853"),
        ({"output": 0.1}, "index1", "dop853"),
        ({"step": 1e-2}, "ali3p", "trapezoidal"),
        ({"every": 2}, "ali3p", "trapezoidal"),
        *[({"integrator": name}, "ali3p", name) for name in EQUAL_ONLY[:4]],
        *[({"integrator": name}, "index1", name) for name in ("rk4", "dopri5", "dop853")],
        *[({"integrator": name}, "index1-stabilised", name) for name in TOLERANCE_ONLY],
        ({"formulation": "ali3p"}, "ali3p", "trapezoidal"),
        *[({"formulation": name}, name, "dop853") for name in FORMULATIONS if name != "ali3p"],
        ({"formulation": "index1", "step": 1e-2}, "index1", "dop853"),
        ({"formulation": "penalty", "step": 1e-2}, "penalty", "trapezoidal"),
        ({"formulation": "penalty", "tolerance": 1e-3}, "penalty", "dop853"),
        ({"integrator": "dopri5", "step": 1e-2}, "index1", "dopri5"),
    ],
)
def test_what_is_chosen_where_few_options_are_given(
    options: dict[str, Any], formulation: str, integrator: str
) -> None:
    method, schedule = choose(1.0, **options)
    assert (method.formulation, method.integrator) == (
        FORMULATIONS[formulation],
        INTEGRATORS[integrator],
    )
    equal = "step" in options or "every" in options or (integrator in EQUAL_ONLY)
    assert (schedule.tolerance == 0.0) == equal
    if equal:
        assert schedule.step == pytest.approx(options.get("step", DEFAULT_STEP))
        assert schedule.every == options.get("every", 1)
    else:
        assert schedule.tolerance == options.get("tolerance", DEFAULT_TOLERANCE)
        assert schedule.stored_count == (11 if "output" in options else DEFAULT_OUTPUTS + 1)


def test_the_command_line_lists_all_there_is() -> None:
    stated = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)["methods"]
    kinds: dict[str, Mapping[str, Any]] = {
        "formulation": FORMULATIONS,
        "integrator": INTEGRATORS,
        "coordinates": COORDINATES,
    }
    assert [(row["kind"], row["name"]) for row in stated] == [
        (kind, name) for kind, names in kinds.items() for name in names
    ]
    for row in stated:
        assert row["suits"] == kinds[row["kind"]][row["name"]].suits
        assert set(row["goes_with"]) <= set(
            INTEGRATORS if row["kind"] == "formulation" else FORMULATIONS
        )
    shown = CliRunner().invoke(app, ["methods"])
    assert shown.exit_code == 0
    assert all(name in shown.stdout for name in COORDINATES)


def test_penalties_without_inertia_go_with_implicit_integrators_only() -> None:
    stiff = vm.Penalty(inertial=False)
    assert choose(1.0, formulation=stiff)[0].integrator == INTEGRATORS["trapezoidal"]
    assert integrators_of(stiff) == list(EQUAL_ONLY[:4])
    with pytest.raises(
        vm.ModelError,
        match=r"formulation 'penalty without inertia .*' cannot be combined with integrator 'dop853'",
    ):
        choose(1.0, formulation=stiff, integrator="dop853")


def test_a_run_says_what_it_was_done_with() -> None:
    run = pendulum().simulate(0.02, step=0.01, integrator=vm.HHT(alpha=0.1))
    assert run.info["method"] == "ALI3-P, HHT (α = 0.1), natural coordinates"


def short(integrator: str) -> dict[str, Any]:
    return {"tolerance": 1e-4, "output": 0.01} if integrator in TOLERANCE_ONLY else {"step": 0.002}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_pair_runs_or_is_refused_with_one_that_runs(
    formulation: str, integrator: str
) -> None:
    def angle(formulation: str, integrator: str) -> float:
        run = pendulum().simulate(
            0.02,
            formulation=formulation,
            integrator=integrator,
            **short(integrator),
        )
        assert run.info["method"].startswith(FORMULATIONS[formulation].title)
        return float(run.angle("rod")[-1])

    allowed = integrator in integrators_of(FORMULATIONS[formulation])
    if allowed:
        assert angle(formulation, integrator) == pytest.approx(
            -1 - 0.5 * 1.5 * 9.81 * math.cos(1) * 0.02**2, abs=2e-6
        )
        return
    with pytest.raises(vm.ModelError) as caught:
        angle(formulation, integrator)
    text = str(caught.value)
    assert f"formulation {formulation!r}" in text
    assert f"integrator {integrator!r}" in text
    match = re.search(r"use one of (.*) with it, or formulation='(.*)'$", text)
    assert match is not None, text
    others = re.findall(r"'([^']+)'", match[1])
    assert others == integrators_of(FORMULATIONS[formulation])
    for other in others:
        angle(formulation, other)
    angle(match[2], integrator)


# what is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *[
            (
                {"tolerance": 1e-6, "integrator": name},
                (f"integrator '{name}'", "has no tolerance", "step=", "'dop853'"),
            )
            for name in EQUAL_ONLY
        ],
        (
            {"tolerance": 1e-6, "integrator": vm.Newmark(gamma=0.7)},
            ("Newmark (γ = 0.7", "has no tolerance"),
        ),
        (
            {"tolerance": 1e-6, "formulation": "ali3p"},
            ("'trapezoidal'", "has no tolerance", "step="),
        ),
        *[
            (
                {"step": 0.1, "integrator": name},
                (f"integrator '{name}'", "tolerance= instead of step="),
            )
            for name in TOLERANCE_ONLY
        ],
        ({"step": 0.1, "tolerance": 1e-6}, ("step=", "tolerance=", "give one of the two")),
        ({"every": 2, "tolerance": 1e-6}, ("every = 2", "step=", "output=")),
        ({"every": 2, "integrator": "dopri5"}, ("every = 2", "step=", "output=")),
        ({"every": 2, "integrator": "cvodes"}, ("every = 2", "output=")),
        ({"step": 0.1, "output": 0.1}, ("output=", "every=")),
        ({"output": 0.1, "integrator": "rk4"}, ("output=", "every=")),
        *[
            ({"tolerance": x}, (f"tolerance = {x!r}", "between 1e-13 and 0.1"))
            for x in (0, -1e-6, NAN, INF, True, "1e-6", 1e-14, 0.2)
        ],
        *[
            ({"output": x}, (f"output = {x!r}", "positive finite number of seconds"))
            for x in (0, -0.1, NAN, INF, True, "0.1")
        ],
        *[({"output": x}, (f"output = {x!r} s is too short",)) for x in (1e-300, 5e-324, 1e-13)],
        *[({"step": x}, (f"step = {x!r} s is too short",)) for x in (1e-300, 5e-324)],
        ({"output": 2.0}, ("output = 2.0 s is longer than the whole run of 1 s",)),
        ({"integrator": ["rk4"]}, ("no integrator is called ['rk4']", "'rk4'")),
        ({"integrator": vm.Newmark}, ("no integrator is called", "varimech.Newmark(gamma=…)")),
        ({"formulation": {"index1": 1}}, ("no formulation is called {'index1': 1}", "'index1'")),
        ({"formulation": "ali3"}, ("no formulation is called 'ali3'; did you mean 'ali3p'?",)),
        ({"integrator": "dop583"}, ("no integrator is called 'dop583'; did you mean 'dop853'",)),
    ],
)
def test_settings_that_make_no_sense(options: dict[str, Any], words: tuple[str, ...]) -> None:
    calls: list[Callable[[], object]] = [
        lambda: pendulum().simulate(1.0, **options),
        lambda: pendulum().sensitivity(duration=1.0, **options),
    ]
    for call in calls:
        with pytest.raises(vm.ModelError) as caught:
            call()
        for word in words:
            assert word in str(caught.value)


@pytest.mark.parametrize("duration", [0, -1.0, NAN, INF, True, "1"])
@pytest.mark.parametrize("options", [{}, {"step": 0.1}, {"tolerance": 1e-6}, {"integrator": "rk4"}])
def test_durations_that_make_no_sense(duration: Any, options: dict[str, Any]) -> None:
    with pytest.raises(
        vm.ModelError,
        match=re.escape(f"duration = {duration!r} must be a positive finite number of seconds"),
    ):
        choose(duration, **options)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        *[
            (lambda x=x: vm.Newmark(gamma=x), ("Newmark: gamma", repr(x)))
            for x in (0.49, 1.01, NAN, INF, "0.6", None, True)
        ],
        *[
            (lambda x=x: vm.Newmark(gamma=0.6, beta=x), ("Newmark: beta", repr(x)))
            for x in (0.29, -0.5, NAN, INF, "0.3")
        ],
        *[
            (lambda x=x: vm.HHT(alpha=x), ("HHT: alpha", repr(x)))
            for x in (-0.01, 0.34, NAN, INF, "0", None)
        ],
        *[
            (lambda x=x: vm.GeneralisedAlpha(rho=x), ("GeneralisedAlpha: rho", repr(x)))
            for x in (-0.01, 1.01, NAN, INF, "1", True)
        ],
        *[
            (lambda x=x: vm.Penalty(factor=x), ("Penalty: factor", repr(x)))
            for x in (0, -1e7, NAN, INF, "1e7", None)
        ],
        *[
            (lambda x=x: vm.Penalty(omega=x), ("Penalty: omega", repr(x)))
            for x in (0, -1.0, NAN, INF)
        ],
        *[(lambda x=x: vm.Penalty(xi=x), ("Penalty: xi", repr(x))) for x in (-0.1, NAN, INF)],
        *[
            (lambda x=x: vm.Stabilised(omega=x), ("Stabilised: omega", repr(x)))
            for x in (-1.0, NAN, INF, "10")
        ],
        *[
            (lambda x=x: vm.Stabilised(xi=x), ("Stabilised:", "xi", repr(x)))
            for x in (-1.0, NAN, INF)
        ],
    ],
)
def test_constants_out_of_range(make: Callable[[], object], words: tuple[str, ...]) -> None:
    with pytest.raises(vm.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_constants_at_the_ends_of_their_ranges() -> None:
    for integrator in (
        vm.Newmark(0.5, 0.25),
        vm.Newmark(1.0),
        vm.HHT(0.0),
        vm.HHT(1 / 3),
        vm.GeneralisedAlpha(0),
        vm.GeneralisedAlpha(1),
    ):
        run = pendulum().simulate(0.02, step=1e-3, integrator=integrator)
        assert float(run.angle("rod")[-1]) == pytest.approx(
            -1 - 0.5 * 1.5 * 9.81 * math.cos(1) * 0.02**2, abs=1e-4
        )


def test_as_many_results_as_may_be_stored() -> None:
    assert equal_steps(1.0, 1 / (MOST_STORED - 1), 1).stored_count == MOST_STORED
    with pytest.raises(vm.ModelError, match="would store more than"):
        equal_steps(1.0, 1 / MOST_STORED, 1)


def test_stabilisation_by_nothing_is_none() -> None:
    """Both constants may be zero, together or alone."""
    plain, free, undamped = (
        pendulum().simulate(0.02, step=1e-3, formulation=formulation, integrator="rk4")
        for formulation in ("index1", vm.Stabilised(omega=0, xi=0), vm.Stabilised(xi=0))
    )
    np.testing.assert_allclose(free.angle("rod"), plain.angle("rod"), rtol=1e-14)
    np.testing.assert_allclose(undamped.angle("rod"), plain.angle("rod"), rtol=1e-9)
