"""What was built goes when nobody holds it any more; `python tools/harden/soak.py` watches
thousands of mechanisms come and go.
"""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oscillator import oscillator, x_of

import varimech as vm
from varimech.backends import compiler
from varimech.core import expressions, units
from varimech.stages import elimination

SHORT: dict[str, Any] = {"duration": 2e-3, "step": 1e-3}
FINAL = vm.final(x_of)
WORK: dict[str, Callable[[vm.Mechanism, Path], object]] = {
    "run": lambda m, path: m.simulate(**SHORT, backend="interpreted"),
    "direct": lambda m, path: m.sensitivity(FINAL, "k", **SHORT, backend="interpreted"),
    "adjoint": lambda m, path: m.sensitivity(
        FINAL, "k", **SHORT, method="adjoint", backend="interpreted"
    ),
    "ensemble": lambda m, path: m.ensemble(
        FINAL, {"k": [90.0, 110.0]}, **SHORT, backend="interpreted"
    ),
    "saved": lambda m, path: m.simulate(**SHORT, backend="interpreted").save(path / "run.nc"),
    "report": lambda m, path: vm.report(
        path / "report.html", m.simulate(**SHORT, backend="interpreted")
    ),
}


@pytest.mark.parametrize("which", WORK)
def test_a_mechanism_goes_with_all_that_was_made_of_it(which: str, tmp_path: Path) -> None:
    m = oscillator()
    WORK[which](m, tmp_path)
    solvers = [weakref.ref(solver) for solver in m._solvers.kept.values()]
    gone = weakref.ref(m)
    assert solvers
    del m
    gc.collect()
    assert gone() is None and [solver() for solver in solvers] == [None] * len(solvers)


@pytest.mark.parametrize("which", ["ensemble", "saved"])
def test_files_and_threads_are_given_back(which: str, tmp_path: Path) -> None:
    WORK[which](oscillator(), tmp_path)  # libraries open some for good
    before = sorted(os.listdir("/proc/self/fd")), threading.active_count()
    WORK[which](oscillator(), tmp_path)
    gc.collect()
    assert (sorted(os.listdir("/proc/self/fd")), threading.active_count()) == before


@pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler on this machine")
def test_a_library_is_unloaded_with_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VARIMECH_CACHE", str(tmp_path))

    def loaded() -> bool:
        return str(tmp_path) in Path("/proc/self/maps").read_text(encoding="utf-8")

    m = oscillator()
    run = m.simulate(**SHORT, backend="native")
    assert loaded()
    del m, run
    gc.collect()
    assert not loaded()


@pytest.mark.parametrize("cache", [elimination._pattern, expressions._read_cached, units._read])
def test_what_is_remembered_for_all_mechanisms_has_a_bound(cache: Any) -> None:
    assert cache.cache_parameters()["maxsize"] is not None
