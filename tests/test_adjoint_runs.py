"""Adjoints as a user runs them: within little memory, chosen by counting, known at the end only;
and steps that suit derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from loops import OBJECTIVES, four_bar, pendulum

import varimech as vm
from test_adjoint import needs_compiler, objectives
from varimech.analyses.gradients import (
    ADJOINT_PAYS,
    ADJOINT_PAYS_IN_THREADS,
    ADJOINT_PAYS_IN_VECTORS,
    faster_method,
)
from varimech.backends.tape import Tape
from varimech.core.errors import ModelError

LONG_CHAIN = 60
"""Bars, more than are unrolled."""


def hanging_chain(parameters: int) -> vm.Mechanism:
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    m.ground_point("P0", (0, 0))
    for k in range(LONG_CHAIN):
        mass = m.parameter(f"m{k}", 1.0) if k < parameters else 1.0
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=1.0, mass=mass)
        m.revolute(f"P{k}")
    m.start(angle={f"b{k}": -1.0 for k in range(LONG_CHAIN)})
    return m


# memory


@needs_compiler
@pytest.mark.parametrize(
    ("options", "twin"),
    [
        ({"integrator": "hht", "step": 1e-3, "every": 50}, False),
        ({"tolerance": 1e-9, "output": 0.1}, False),
        ({"formulation": "independent", "integrator": "rk4", "step": 1e-3, "every": 50}, True),
    ],
    ids=["implicit", "adaptive", "explicit, redundant"],
)
def test_little_memory_gives_the_same(
    options: dict[str, Any], twin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segments are given up and merged, carried out once more, and all that is recorded stays
    within the bound.
    """
    m, options = (
        four_bar(twin=twin),
        {"duration": 1.0, "method": "adjoint", "backend": "native", **options},
    )
    ample = m.sensitivity(OBJECTIVES, **options)
    with pytest.raises(
        ModelError, match=r"memory = 0.001 MB is too little .* give .* MB or more"
    ) as refused:
        m.sensitivity(OBJECTIVES, **options, memory=1e-3)
    enough = float(str(refused.value).split("give ")[1].split(" MB")[0])
    assert enough < 0.03
    advance, taken, rounds = Tape._advance, 0, 0

    def watched(self: Tape, last: int) -> None:
        nonlocal taken, rounds
        advance(self, last)
        held = sum(s.records.nbytes for s in self._segments if s.records is not None) + sum(
            s.state.nbytes for s in self._segments
        )
        assert held <= self.taken
        taken, rounds = max(taken, self.taken), rounds + 1

    monkeypatch.setattr(Tape, "_advance", watched)
    for memory in (enough, 2 * enough, 0.1):
        taken = rounds = 0
        little = m.sensitivity(OBJECTIVES, **options, memory=memory)
        assert taken <= 1e6 * memory
        assert rounds > 10
        np.testing.assert_allclose(little.gradient, ample.gradient, rtol=1e-11)
        for name in ("value_history", "time"):
            np.testing.assert_array_equal(getattr(little, name), getattr(ample, name))
        np.testing.assert_array_equal(little.run.position("C"), ample.run.position("C"))
        assert {k: v for k, v in little.run.info.items() if k != "seconds"} == {
            k: v for k, v in ample.run.info.items() if k != "seconds"
        }


def test_interpreted_records_stay_within_memory() -> None:
    with pytest.raises(
        ModelError,
        match=r"memory = 0.01 MB holds .* steps .* interpreted; give more, or backend='native'",
    ):
        four_bar().sensitivity(
            OBJECTIVES,
            duration=0.3,
            step=1e-3,
            method="adjoint",
            memory=0.01,
            backend="interpreted",
        )


@needs_compiler
def test_progress_goes_from_nothing_to_all_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forwards is half of it, backwards the other."""
    reports: list[float] = []

    @contextmanager
    def bar(label: str, total: float, enabled: bool | None) -> Iterator[Any]:
        assert total == 1
        yield reports.append

    monkeypatch.setattr("varimech.solving.solver.progress_bar", bar)
    options: dict[str, Any] = {"integrator": "hht", "step": 1e-3, "every": 50, "memory": 0.1}
    four_bar().sensitivity(OBJECTIVES, duration=1.0, method="adjoint", backend="native", **options)
    assert reports == sorted(reports) and 0 < reports[0] < 0.5 and reports[-1] == 1
    assert any(0.5 < share < 1 for share in reports)


# what a user sees


def many(count: int) -> vm.Mechanism:
    """A pendulum with so many parameters, of which only the first two matter."""
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    p = [m.parameter(f"p{k}", 1.0 + k / 10) for k in range(count)]
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=p[0], mass=3.0)
    m.revolute("O")
    m.torsional_damper("bearing", "O", damping=p[1])
    m.start(angle={"rod": -1.0})
    return m


def test_auto_counts() -> None:
    heights = {
        "height": vm.final(lambda s: s.position("tip")[1]),
        "square": vm.final(lambda s: s.position("tip")[1] ** 2),
    }
    few, more = many(2 * ADJOINT_PAYS_IN_VECTORS), many(2 * ADJOINT_PAYS_IN_VECTORS + 1)
    options: dict[str, Any] = {
        "duration": 0.2,
        "step": 0.1,
        "method": "auto",
        "backend": "interpreted",
    }
    assert few.sensitivity(heights, **options).method == "direct"
    assert more.sensitivity(heights, **options).method == "adjoint"
    assert more.sensitivity(heights, ["p0", "p1"], **options).method == "direct"
    assert (
        more.sensitivity(**options).method == "direct"
    )  # without objectives there is nothing to sweep back from


def test_auto_knows_that_columns_of_large_models_cost_more() -> None:
    """Programs of large models are assembled, not unrolled."""
    tip = {"tip": vm.final(lambda s: s.position(f"P{LONG_CHAIN}")[0])}
    for parameters, method in ((ADJOINT_PAYS, "direct"), (ADJOINT_PAYS + 1, "adjoint")):
        m = hanging_chain(parameters)
        assert m.sensitivity(tip, duration=1e-3, tolerance=1e-3).method == method


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (
            {"step": 0.1, "integrator": "dop853"},
            ADJOINT_PAYS_IN_VECTORS,
        ),  # warps have a column each
        ({"step": 0.1}, ADJOINT_PAYS_IN_THREADS),  # implicit
        ({"tolerance": 1e-3}, ADJOINT_PAYS_IN_THREADS),
    ],
)
def test_auto_knows_where_threads_of_a_gpu_have_all_columns(
    options: dict[str, Any], most: int
) -> None:
    height = {"height": vm.final(lambda s: s.position("tip")[1])}
    s = many(2).problem(height, duration=0.2, **options)._simulation
    solver = s.solver(height)
    assert faster_method(solver, 1, most, on_gpu=s.schedule) == "direct"
    assert faster_method(solver, 1, most + 1, on_gpu=s.schedule) == "adjoint"
    assert faster_method(solver, 1, ADJOINT_PAYS_IN_VECTORS) == "direct"


def test_parameters_on_which_nothing_depends_have_no_influence() -> None:
    m = many(4)
    named = {
        "height": vm.final(lambda s: s.position("tip")[1]),
        "clock": vm.final(lambda s: s.time**2),
    }
    choices: list[dict[str, Any]] = [{"step": 0.05}, {"tolerance": 1e-6}]
    for options in choices:
        direct, adjoint = (
            m.sensitivity(named, duration=0.5, method=scheme, backend="interpreted", **options)
            for scheme in ("direct", "adjoint")
        )
        for g in (direct, adjoint):
            np.testing.assert_array_equal(g.gradient.sel(parameter=["p2", "p3"]), 0.0)
            np.testing.assert_array_equal(g.gradient.sel(objective="clock"), 0.0)
            assert (np.abs(g.gradient.sel(objective="height", parameter=["p0", "p1"])) > 1e-3).all()


def test_objectives_of_parameters_alone() -> None:
    m = many(3)
    p = list(m.parameters.values())
    named = {
        "final": vm.final(lambda s: p[2] ** 2),
        "integral": vm.integral(lambda s: p[2] * s.time),
    }
    computed = m.sensitivity(
        named, duration=0.5, step=0.05, method="adjoint", backend="interpreted"
    ).gradient
    np.testing.assert_allclose(computed, [[0, 0, 2 * 1.2], [0, 0, 0.125]], rtol=1e-14)


def test_chosen_parameters_in_the_order_asked_for() -> None:
    whole, some = (
        many(4).sensitivity(
            vm.final(lambda s: s.position("tip")[1]),
            wrt,
            duration=0.5,
            step=0.05,
            method="adjoint",
            backend="interpreted",
        )
        for wrt in ("all", ["p1", "p0"])
    )
    assert some.parameter_names == ("p1", "p0")
    np.testing.assert_array_equal(some.gradient.to_numpy()[0], whole.gradient.to_numpy()[0, [1, 0]])


def test_derivatives_over_time_are_those_of_the_direct_method() -> None:
    options: dict[str, Any] = {"duration": 0.1, "step": 0.02, "backend": "interpreted"}
    g = four_bar().sensitivity(OBJECTIVES, method="adjoint", **options)
    direct = four_bar().sensitivity(OBJECTIVES, method="direct", **options)
    np.testing.assert_array_equal(g.gradient_history, direct.gradient_history)
    np.testing.assert_array_equal(g.value_history, direct.value_history)
    np.testing.assert_allclose(g.gradient, g.gradient_history[-1], rtol=1e-12)
    assert (g.gradient != g.gradient_history[-1]).any()  # they are not the same sums
    derivatives = direct.run.position("C", wrt="all")
    np.testing.assert_array_equal(g.run.position("C", wrt="all"), derivatives)
    with pytest.raises(
        ModelError, match=r"differentiates objectives, and there are none.*method='direct'"
    ):
        four_bar().sensitivity(duration=0.1, step=0.02, method="adjoint")


@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
def test_steps_suit_derivatives_where_nothing_moves(integrator: str) -> None:
    """A spring at rest: x(T) = x₀ cos(ωT) has a derivative, although x₀ = 0, with which any step
    would do for the motion.
    """
    m = vm.Mechanism("spring", dimension=2)
    x0, k, tolerance = m.parameter("x0", 0.0), 40.0, 1e-8
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("rail", "ground.O", "block.P", axis=(1, 0))
    m.force("spring", "P", lambda s: (-k * s.position("P")[0], 0))
    m.start(displacement={"rail": x0})
    place = {"place": vm.final(lambda s: s.position("P")[0])}
    gradient = m.sensitivity(
        place,
        duration=3.0,
        tolerance=tolerance,
        integrator=integrator,
        method="adjoint",
        backend="interpreted",
    )
    assert gradient.gradient.item() == pytest.approx(np.cos(np.sqrt(k / 2) * 3), abs=10 * tolerance)


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_integrators_that_do_not_report_their_steps_are_refused(integrator: str) -> None:
    with pytest.raises(
        ModelError, match=r"adjoint of the steps taken.*method='direct', or another integrator"
    ):
        pendulum().sensitivity(
            objectives(pendulum()), duration=0.1, integrator=integrator, method="adjoint"
        )
    assert (
        pendulum()
        .sensitivity(objectives(pendulum()), duration=0.1, integrator=integrator, method="auto")
        .method
        == "direct"
    )
