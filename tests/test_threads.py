"""One mechanism used by many threads at once: results are those of one after the other, to the last
bit, also where all of them build it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from oscillator import oscillator, x_of

import varimech as vm
from varimech.backends import compiler

FINAL = vm.final(x_of, unit="m")
HOW: dict[str, Any] = {"duration": 0.02, "step": 1e-3}
BACKENDS = ["interpreted", *(["native"] if compiler.find_compiler() else [])]
WORK: dict[str, Callable[[vm.Mechanism, str], Any]] = {
    "simulate": lambda m, backend: m.simulate(**HOW, backend=backend).live.trajectory.states,
    "chosen steps": lambda m, backend: (
        m.simulate(0.02, tolerance=1e-6, backend=backend).live.trajectory.states
    ),
    "direct": lambda m, backend: (
        m.sensitivity(FINAL, ["k", "c"], **HOW, backend=backend).gradient_history
    ),
    "adjoint": lambda m, backend: (
        m.sensitivity(FINAL, ["k", "c"], **HOW, method="adjoint", backend=backend).gradient
    ),
    "ensemble": lambda m, backend: (
        m.ensemble(FINAL, {"k": [90.0, 110.0]}, **HOW, threads=2, backend=backend).values
    ),
    "others": lambda m, backend: (
        m.simulate(**HOW, parameters={"k": 120.0}, backend=backend).live.trajectory.states
    ),
}


def together(work: list[Callable[[], Any]]) -> list[Any]:
    """Results of all of them, begun in the same moment."""
    ready = threading.Barrier(len(work))

    def begun(each: Callable[[], Any]) -> Any:
        ready.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(begun, work))


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_analyses_at_once_on_one_mechanism_that_is_not_built_yet(backend: str) -> None:
    names = [*WORK] * 2 if backend == "interpreted" else ["simulate", "adjoint", "others"] * 2
    alone = {name: WORK[name](oscillator(), backend) for name in names}
    m = oscillator()
    computed = together([lambda work=WORK[name]: work(m, backend) for name in names])  # type: ignore[misc]
    for name, numbers in zip(names, computed, strict=True):
        np.testing.assert_array_equal(numbers, alone[name], err_msg=name)


def test_threads_that_make_mechanisms_of_their_own() -> None:
    alone = WORK["direct"](oscillator(), "interpreted")
    for numbers in together([lambda: WORK["direct"](oscillator(), "interpreted")] * 6):
        np.testing.assert_array_equal(numbers, alone)
