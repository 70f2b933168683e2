"""Searches from several initial designs side by side: the same results as one after another."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.backends import compiler
from varimech.benchmarks import five_bar
from varimech.core.errors import Interrupted
from varimech.optimization import lockstep
from varimech.optimization.evaluation import MechanismEvaluator

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)

GOAL = {"psi1": five_bar.objectives()["psi1"]}
BOUNDS = {"Ls1": (1.8, 2.8), "m_A1": (0.8, 1.2)}
OPTIONS: dict[str, Any] = {
    "over": list(BOUNDS),
    "bounds": BOUNDS,
    "duration": 0.5,
    "step": 0.02,
    "integrator": "rk4",
    "starts": 5,
    "max_iterations": 12,
    "progress": False,
}


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of all batches in vectors."""
    sizes: list[int] = []
    run_all = MechanismEvaluator.run_all

    def counted(self: MechanismEvaluator, designs: Any) -> Any:
        sizes.append(len(designs))
        return run_all(self, designs)

    monkeypatch.setattr(MechanismEvaluator, "run_all", counted)
    return sizes


def one_after_another(monkeypatch: pytest.MonkeyPatch, **options: Any) -> vm.Optimum:
    with monkeypatch.context() as changed:
        changed.setattr(MechanismEvaluator, "has_vectors", False)
        return five_bar.mechanism().optimize(GOAL, **options)


@pytest.mark.parametrize("solver", ["ipopt", "L-BFGS-B"])
def test_searches_have_the_same_bits(
    solver: str, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = five_bar.mechanism().optimize(GOAL, **OPTIONS, solver=solver)
    assert max(batches) == 5 and min(batches) >= lockstep.FEWEST
    batches.clear()
    alone = one_after_another(monkeypatch, **OPTIONS, solver=solver)
    assert not batches and len(alone.starts) == 5
    for one, other in zip(together.starts, alone.starts, strict=True):
        np.testing.assert_array_equal(one.trace, other.trace)
        assert (one.message, one.iterations) == (other.message, other.iterations)
    assert together.parameters == alone.parameters


def test_more_searches_than_threads(batches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that end make room for the next ones."""
    monkeypatch.setattr(lockstep, "MOST", 3)
    options = {**OPTIONS, "solver": "L-BFGS-B", "starts": 7}
    together = five_bar.mechanism().optimize(GOAL, **options)
    assert max(batches) == 3
    alone = one_after_another(monkeypatch, **options)
    for one, other in zip(together.starts, alone.starts, strict=True):
        np.testing.assert_array_equal(one.start, other.start)
        np.testing.assert_allclose(one.x, other.x, rtol=1e-12)


def test_starts_that_fail_leave_the_others(batches: list[int]) -> None:
    """Bars of 0.1 to 5 m do not close the loop everywhere."""
    options = {**OPTIONS, "over": ["L_A1"], "bounds": {"L_A1": (0.1, 6.0)}, "starts": 6}
    o = five_bar.mechanism().optimize(GOAL, **options, solver="L-BFGS-B")
    assert batches and len(o.failed_starts) >= 1 and len(o.starts) >= 2
    assert len(o.starts) + len(o.failed_starts) == 6


def test_ctrl_c_keeps_the_best_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it came while the main thread waits; searches end at their next designs."""
    wait, enough = lockstep.wait, threading.Event()
    run_all, calls = MechanismEvaluator.run_all, list[int]()

    def counted(self: MechanismEvaluator, designs: Any) -> Any:
        calls.append(len(designs))
        if len(calls) == 6:
            enough.set()
        return run_all(self, designs)

    def interrupted(running: Any) -> Any:
        monkeypatch.setattr(lockstep, "wait", wait)
        assert enough.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(MechanismEvaluator, "run_all", counted)
    monkeypatch.setattr(lockstep, "wait", interrupted)
    options = {**OPTIONS, "max_iterations": 100, "tolerance_optimality": 1e-14}
    with pytest.raises(Interrupted) as caught:
        five_bar.mechanism().optimize(GOAL, **options, solver="L-BFGS-B")
    best = caught.value.result
    assert isinstance(best, vm.Optimum) and not best.converged
    assert best.objective <= best.objective_before


def test_a_bug_ends_all_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: MechanismEvaluator, designs: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(MechanismEvaluator, "run_all", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        five_bar.mechanism().optimize(GOAL, **OPTIONS, solver="L-BFGS-B")


def test_designs_with_paths_are_searched_one_after_another(batches: list[int]) -> None:
    m = five_bar.mechanism()
    low = vm.path("position('2')[1]") <= 10.0
    m.optimize(GOAL, **OPTIONS, solver="SLSQP", constraints={"low": low})
    assert not batches
