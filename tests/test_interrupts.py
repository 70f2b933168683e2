"""Ctrl-C, as a real signal: work stops, what was computed is kept to the last bit, and the
mechanism is as good as before.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oscillator import GOAL, of, oscillator, x_of

import varimech as vm
from test_monte_carlo import same, study
from varimech import cli
from varimech.backends import compiler, native, tape
from varimech.backends.workspace import Workspace
from varimech.core import interrupts, progress
from varimech.optimization import ipopt, refinement, search
from varimech.optimization.design_problem import DesignProblem
from varimech.results import live_run
from varimech.solving import ensemble_runs, solver
from varimech.uncertainty import study_run
from varimech.uncertainty.accumulator import Accumulator

pytestmark = pytest.mark.usefixtures("ctrl_c_heard")

FINAL = {"x": vm.final(x_of, unit="m"), "distance": vm.integral(lambda s: x_of(s) ** 2)}
SCHEMES: list[dict[str, Any]] = [
    {"duration": 0.5, "step": 1e-3},
    {"duration": 0.5, "step": 1e-3, "every": 7},
    {"duration": 10.0, "tolerance": 1e-8},
]


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def interrupting(function: Callable[..., Any], at: int = 1) -> Callable[..., Any]:
    """A function during whose call of this number Ctrl-C comes."""
    calls = 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            interrupt()
        return function(*arguments, **options)

    return counted


@pytest.fixture
def hooked() -> Iterator[Callable[..., None]]:
    """Lets Ctrl-C come during a call of something; undone by calling it without anything."""
    with pytest.MonkeyPatch.context() as patch:

        def hook(owner: Any = None, name: str = "", at: int = 1) -> None:
            patch.undo()
            if owner is not None:
                patch.setattr(owner, name, interrupting(getattr(owner, name), at))

        yield hook
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture(scope="module")
def mechanism() -> vm.Mechanism:
    return oscillator()


def stopped(function: Callable[[], object]) -> vm.Interrupted:
    with pytest.raises(vm.Interrupted) as caught:
        function()
    return caught.value


def plainly(function: Callable[[], object]) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        function()
    assert caught.type is KeyboardInterrupt


# runs


def on_the_way(backend: str, hooked: Callable[..., None]) -> None:
    """Ctrl-C after the first slice of compiled steps, or in the middle of one that Python takes."""
    if backend == "native":
        hooked(native, "next_slice")
    else:
        hooked(Workspace, "keep", 200)


@pytest.mark.parametrize("options", SCHEMES, ids=["equal", "every", "chosen"])
@pytest.mark.parametrize("backend", ["native", "interpreted"])
def test_a_run_keeps_its_first_rows(
    mechanism: vm.Mechanism, hooked: Callable[..., None], backend: str, options: dict[str, Any]
) -> None:
    def go() -> vm.Run:
        return mechanism.simulate(backend=backend, **options)

    whole = go()
    on_the_way(backend, hooked)
    error = stopped(go)
    run, last = error.result, error.result.time[-1]
    assert whole.step_ends is not None
    assert 1 < run.time.size < whole.time.size
    np.testing.assert_array_equal(run.time, whole.time[: run.time.size])
    np.testing.assert_array_equal(
        run.live.trajectory.states, whole.live.trajectory.states[: run.time.size]
    )
    assert whole.step_ends is not None
    np.testing.assert_array_equal(run.step_ends, whole.step_ends[: run.step_ends.size])
    assert run.step_ends[-2] < last <= run.step_ends[-1]
    assert run.info["stopped"] == {"time": last, "duration": options["duration"]}
    assert f"'oscillator': stopped at t = {last:.6g} s of {options['duration']:g} s; " in str(error)
    assert f"{last:g} s of {options['duration']:g} s in {run.step_ends.size - 1} steps" in repr(run)
    hooked()
    np.testing.assert_array_equal(go().live.trajectory.states, whole.live.trajectory.states)


@pytest.mark.parametrize("options", SCHEMES[1:], ids=["every", "chosen"])
@pytest.mark.parametrize("backend", ["native", "interpreted"])
def test_a_gradient_is_that_of_the_motion_up_to_then(
    mechanism: vm.Mechanism, hooked: Callable[..., None], backend: str, options: dict[str, Any]
) -> None:
    def go() -> vm.Gradient:
        return mechanism.sensitivity(FINAL, ["k", "c"], backend=backend, **options)

    whole = go()
    on_the_way(backend, hooked)
    computed, n = (error := stopped(go)).result, error.result.time.size
    hooked()
    assert 1 < n < whole.time.size
    # chosen steps are complete up to the end of one, which is the last time
    same = n if "step" in options else n - 1
    assert computed.time[-1] == computed.run.step_ends[-1] == computed.run.info["stopped"]["time"]
    for name in ("time", "value_history", "gradient_history"):
        np.testing.assert_array_equal(
            getattr(computed, name)[:same], getattr(whole, name)[:same], err_msg=name
        )
    derivatives = whole.run.displacement("guide", wrt="all")[:same]
    np.testing.assert_array_equal(computed.run.displacement("guide", wrt="all")[:same], derivatives)
    np.testing.assert_array_equal(computed.gradient, computed.gradient_history[-1])
    ends = mechanism.sensitivity(
        FINAL,
        ["k", "c"],
        backend=backend,
        **{
            **options,
            "duration": computed.time[-1],
        },
    )
    np.testing.assert_allclose(computed.gradient, ends.gradient, rtol=1e-6)
    with pytest.raises(vm.ModelError, match="a run that was stopped; compute it anew"):
        computed.certify()
    hooked()
    np.testing.assert_array_equal(go().gradient, whole.gradient)


def test_what_is_kept_can_be_saved_and_plotted(
    mechanism: vm.Mechanism, hooked: Callable[..., None], tmp_path: Path
) -> None:
    hooked(native, "next_slice")
    run = stopped(lambda: mechanism.simulate(1.0, step=1e-3, every=32, backend="native")).result
    loaded = vm.load_run(run.save(tmp_path / "run.nc"))
    assert (
        loaded.info["stopped"]
        == {"time": run.time[-1], "duration": 1.0}
        == {"time": pytest.approx(0.064), "duration": 1.0}
    )
    np.testing.assert_array_equal(loaded.displacement("guide"), run.displacement("guide"))
    assert len(run.plot(displacement="guide").axes) == 1


def test_a_signal_that_comes_while_compiled_code_runs(
    mechanism: vm.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way = threading.Event()

    def next_slice(steps: int, seconds: float) -> int:
        under_way.set()
        return 1000

    def wait_and_interrupt() -> None:
        under_way.wait()
        interrupt()

    monkeypatch.setattr(native, "next_slice", next_slice)
    thread = threading.Thread(target=wait_and_interrupt, daemon=True)
    thread.start()
    run = stopped(lambda: mechanism.simulate(1e4, step=1e-3, every=10, backend="native")).result
    thread.join()
    n = run.time.size
    np.testing.assert_array_equal(
        run.live.trajectory.states,
        mechanism.simulate(run.time[-1], step=1e-3, every=10).live.trajectory.states[:n],
    )


def test_nothing_is_kept_of_the_start_alone(
    mechanism: vm.Mechanism, hooked: Callable[..., None]
) -> None:
    hooked(native, "next_slice")
    plainly(lambda: mechanism.simulate(20.0, step=1e-3, every=20_000, backend="native"))


@pytest.mark.parametrize("method", ["adjoint", "composite", "finite-difference", "complex-step"])
def test_methods_that_know_nothing_before_their_end(
    mechanism: vm.Mechanism, hooked: Callable[..., None], method: str
) -> None:
    def go() -> vm.Gradient:
        return mechanism.sensitivity(
            FINAL, "k", duration=1.0, step=1e-3, method=method, backend="native"
        )

    hooked(tape if method == "adjoint" else native, "next_slice")
    plainly(go)
    hooked()
    direct = mechanism.sensitivity(FINAL, "k", duration=1.0, step=1e-3, backend="native").gradient
    np.testing.assert_allclose(go().gradient, direct, rtol=1e-5)


def test_a_run_that_had_failed_is_not_kept(hooked: Callable[..., None]) -> None:
    m, never = oscillator(), vm.final(lambda s: (x_of(s) - 1) ** 0.5)
    hooked(native, "next_slice")
    plainly(lambda: m.sensitivity(never, "k", duration=1.0, step=1e-3, backend="native"))


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_sundials(
    mechanism: vm.Mechanism, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def let_through(self: interrupts.DeferredInterrupt) -> Iterator[None]:
        """As CasADi does where Ctrl-C comes in its functions."""
        self.delivered = True
        raise RuntimeError("the right-hand side failed")
        yield

    with monkeypatch.context() as changed:
        changed.setattr(interrupts.DeferredInterrupt, "allowed", let_through)
        plainly(lambda: mechanism.simulate(1.0, integrator=integrator))
    assert mechanism.simulate(1.0, integrator=integrator).time[-1] == 1.0


# the command


def test_ctrl_c_while_the_command_is_loaded(tmp_path: Path) -> None:
    """As if it came where a library is half loaded."""
    (tmp_path / "casadi.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    program = [sys.executable, "-c", "from varimech_command import main; main()", "methods"]
    done = subprocess.run(
        program, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "stopped; nothing was computed yet\n",
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_ends_cleanly(
    number: int, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stopped(*arguments: object) -> None:
        os.kill(os.getpid(), number)

    monkeypatch.setattr("varimech.cli.options.find_model", stopped)
    monkeypatch.setattr(sys, "argv", ["varimech", "topology", "five-bar"])
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code and signal.getsignal(signal.SIGTERM) is before
    assert capfd.readouterr() == ("", "stopped; nothing was computed yet\n")


# what is derived and compiled


def test_a_compiler_that_is_interrupted_leaves_nothing(
    hooked: Callable[..., None], tmp_path: Path
) -> None:
    m = oscillator()
    hooked(compiler.subprocess.Popen, "communicate")
    with pytest.MonkeyPatch.context() as apart:  # `hooked` undoes what its own has changed
        apart.setenv("VARIMECH_CACHE", str(tmp_path))
        plainly(lambda: m.simulate(1.0, step=1e-3, backend="native"))
        assert list(tmp_path.iterdir()) == []
        hooked()
        assert m.simulate(1.0, step=1e-3, backend="native").time[-1] == pytest.approx(1.0)
        assert len(list(tmp_path.iterdir())) == 1


def test_a_compiler_that_is_interrupted_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, started = tmp_path / "slow-cc", tmp_path / "started"
    slow.write_text(
        f"#!/bin/sh\nsleep 600 &\necho $! > {started}.now\nmv {started}.now {started}\nwait\n",
        encoding="utf-8",
    )
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    monkeypatch.setenv("VARIMECH_CACHE", str(tmp_path / "cache"))

    def wait_and_interrupt() -> None:
        while not started.exists():
            time.sleep(0.01)
        interrupt()

    threading.Thread(target=wait_and_interrupt, daemon=True).start()
    plainly(lambda: oscillator().simulate(1.0, step=1e-3, backend="native"))
    status = Path("/proc", started.read_text(encoding="utf-8").strip(), "status")
    ended = time.monotonic() + 20
    while (
        status.exists()
        and "Z (zombie)" not in status.read_text(encoding="utf-8")
        and time.monotonic() < ended
    ):
        time.sleep(0.01)
    assert time.monotonic() < ended and list((tmp_path / "cache").iterdir()) == []


def test_a_solver_that_is_half_built_is_built_anew(hooked: Callable[..., None]) -> None:
    m = oscillator()
    hooked(solver.Programs, "program")
    plainly(lambda: m.simulate(1.0, step=1e-2))
    hooked()
    np.testing.assert_array_equal(
        m.simulate(1.0, step=1e-2).live.trajectory.states,
        oscillator().simulate(1.0, step=1e-2).live.trajectory.states,
    )


def test_bars_are_closed(
    mechanism: vm.Mechanism, hooked: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.progress import Progress

    started, ended = [], []
    hooked(native, "next_slice", at=3)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(Progress, "start", lambda self: started.append(self))
    monkeypatch.setattr(Progress, "stop", lambda self: ended.append(self))
    stopped(lambda: mechanism.simulate(1e4, step=1e-3, every=1000, backend="native", progress=True))
    assert len(started) == 1
    assert started == ended


# studies


def test_a_study_is_that_of_the_samples_so_far(hooked: Callable[..., None], tmp_path: Path) -> None:
    request: dict[str, Any] = {
        "samples": 96,
        "chunk": 16,
        "sampling": "sobol",
        "keep": True,
        "executor": 2,
    }
    whole, first = study(**request), study(**{**request, "samples": 48})
    hooked(study_run.StudyRunner, "_suffices", at=4)  # looked at before each chunk, and at the end
    error = stopped(lambda: study(checkpoint=tmp_path, **request))
    assert "stopped after 48 of 96 samples; " in str(error)
    assert "resumes from its checkpoint" in str(error)
    same(error.result, first)
    np.testing.assert_array_equal(error.result.samples["values"], first.samples["values"])
    hooked()
    same(study(checkpoint=tmp_path, **request), whole)


def test_a_chunk_is_counted_in_as_a_whole(hooked: Callable[..., None]) -> None:
    request: dict[str, Any] = {"samples": 64, "chunk": 16}
    hooked(Accumulator, "add", at=2)
    computed = stopped(lambda: study(**request)).result
    hooked()
    same(computed, study(**{**request, "samples": 32}))


def test_a_study_without_samples_is_none(hooked: Callable[..., None]) -> None:
    hooked(study_run.StudyRunner, "_suffices")
    plainly(lambda: study(samples=64, chunk=16))


# designs


PARABOLA: dict[str, Any] = {
    "over": ["a", "b"],
    "duration": 0.01,
    "step": 0.01,
    "start": {"a": 0.9, "b": 0.8},
}
BANANA = of(lambda a, b: (1 - a) ** 2 + 100 * (b - a**2) ** 2)


@pytest.mark.parametrize("name", ["ipopt", "SLSQP", "COBYLA", "TNC"])
def test_a_search_keeps_its_best_design(hooked: Callable[..., None], name: str) -> None:
    m = oscillator(a=(-2.0, 2.0), b=(-2.0, 2.0))
    request = {**PARABOLA, "start": {"a": -1.2, "b": 1.0}, "solver": name}
    hooked(DesignProblem, "fun", at=60)
    error = stopped(lambda: m.optimize(BANANA, **request))
    computed = error.result
    assert f"stopped after {computed.iterations} iterations; " in str(error)
    assert computed.iterations == len(computed.history) - 1 > 0
    assert not computed.converged
    assert computed.message.startswith("stopped; ")
    assert (
        computed.objective
        == computed.history["objective"].min()
        < computed.objective_before
        == pytest.approx(24.2)
    )
    a, b = computed.parameters["a"], computed.parameters["b"]
    assert computed.objective == pytest.approx((1 - a) ** 2 + 100 * (b - a**2) ** 2)
    hooked()
    assert "NOT converged" in repr(computed)
    again = m.optimize(BANANA, **{**request, "start": {"a": a, "b": b}, "solver": "ipopt"})
    assert again.parameters["a"] == pytest.approx(1.0, abs=1e-4)


def test_designs_that_meet_constraints_come_first(hooked: Callable[..., None]) -> None:
    m = oscillator()
    limits = {"above": of(lambda a, b: a + b) >= 1.0}
    hooked(DesignProblem, "_evaluated", at=120)
    computed = stopped(
        lambda: m.optimize(GOAL, constraints=limits, **PARABOLA, tolerance_optimality=1e-14)
    ).result
    met = computed.history[computed.history["infeasibility"] <= 1e-6]
    assert computed.objective == pytest.approx(met["objective"].min())
    assert computed.best.feasible


def test_a_signal_between_the_functions_that_ipopt_calls(hooked: Callable[..., None]) -> None:
    """CasADi would print it, and go on."""
    m = oscillator(a=(-2.0, 2.0), b=(-2.0, 2.0))
    hooked(ipopt._Plain, "get_n_out")  # before anything is solved
    plainly(lambda: m.optimize(GOAL, **PARABOLA))
    hooked(ipopt._Plain, "eval", at=20)
    request = {**PARABOLA, "start": {"a": -1.2, "b": 1.0}}
    computed = stopped(lambda: m.optimize(BANANA, **request)).result
    assert 0 < computed.iterations < 20
    assert computed.objective < 24.2


def test_a_search_without_an_iteration_keeps_nothing(hooked: Callable[..., None]) -> None:
    m = oscillator()
    hooked(DesignProblem, "jac", at=2)
    plainly(lambda: m.optimize(GOAL, **PARABOLA))
    hooked()
    assert m.optimize(GOAL, **PARABOLA).converged


def test_starts_that_are_done_count(hooked: Callable[..., None]) -> None:
    """Two run one after another; more of them side by side, see test_lockstep.py."""
    m = oscillator(a=(-2.0, 2.0), b=(-2.0, 2.0))
    first = m.optimize(GOAL, **PARABOLA, method="direct")
    hooked(search, "attempt", at=2)
    computed = stopped(lambda: m.optimize(GOAL, **PARABOLA, starts=2, method="direct")).result
    assert len(computed.starts) == 1
    assert computed.best is computed.starts[0]
    assert computed.parameters == first.parameters
    assert not computed.converged


def test_what_holds_between_stored_times_is_the_last_that_is_done(
    hooked: Callable[..., None],
) -> None:
    m = oscillator()
    hooked(refinement, "_missed")
    request: dict[str, Any] = {"over": ["c"], "duration": 0.5, "output": 0.05, "tolerance": 1e-8}
    goal, limit = vm.final(lambda s: s.parameter("c") ** 2), {"swing": vm.path(x_of) >= -0.05}
    computed = stopped(lambda: m.optimize(goal, constraints=limit, **request)).result
    assert computed.best.feasible
    assert not computed.converged
    assert computed.message.startswith("stopped; ")


# everything else stops, and leaves the mechanism usable


def samples_of(m: vm.Mechanism) -> Any:
    return m.ensemble(FINAL, {"k": np.linspace(90, 110, 200)}, duration=1.0, step=1e-3, threads=2)


OTHERS: dict[str, tuple[Callable[[vm.Mechanism], Any], tuple[Any, str, int]]] = {
    "ensemble": (samples_of, (ensemble_runs, "sample", 2)),
    "hessian": (
        lambda m: m.hessian(FINAL, ["k", "c"], duration=0.2, step=1e-2),
        (solver.Solver, "run_second", 1),
    ),
    "moments": (
        lambda m: m.moments(FINAL, {"k": vm.Tolerance(1.0)}, duration=0.2, step=1e-2),
        (solver.Solver, "run_second", 1),
    ),
    "certify": (
        lambda m: m.sensitivity(FINAL, ["k"], duration=0.2, step=1e-2).certify(),
        (solver.Solver, "run", 3),
    ),
}


@pytest.mark.parametrize("analysis", OTHERS)
def test_other_analyses_stop(
    mechanism: vm.Mechanism, hooked: Callable[..., None], analysis: str
) -> None:
    go, where = OTHERS[analysis]
    hooked(*where)
    plainly(lambda: go(mechanism))
    hooked()
    assert go(mechanism) is not None


def test_a_fit_keeps_its_best_values(mechanism: vm.Mechanism, hooked: Callable[..., None]) -> None:
    """After the run at the initial values and another one, which is nearer to the data."""
    measured = vm.measurement(x_of, [0.1, 0.2], [0.05, -0.01])
    hooked(solver.Solver, "run", 3)
    error = stopped(lambda: mechanism.fit(measured, ["k"], step=1e-2))
    computed = error.result
    assert "stopped after" in str(error)
    assert not computed.converged and "Ctrl-C" in computed.message

    def distance(parameters: dict[str, float]) -> float:
        run = mechanism.simulate(0.2, step=1e-2, parameters=parameters)
        x = run.displacement("guide").sel(time=[0.1, 0.2], method="nearest").to_numpy()
        return float(np.linalg.norm(x - [0.05, -0.01]))

    hooked()
    best = mechanism.fit(measured, ["k"], step=1e-2)
    assert distance(best.parameters) <= distance(computed.parameters) <= distance({})


def test_openturns(hooked: Callable[..., None]) -> None:
    """Whose own handler breaks down where Python runs."""
    x = vm.final(x_of, unit="m")
    computed = oscillator().problem(x, duration=0.1, step=1e-2).openturns({"k": vm.Tolerance(1.0)})
    limit = x >= float(computed.function([100.0])[0]) + 1e-4
    hooked(solver.Solver, "run", at=4)
    plainly(lambda: computed.probability(limit))
    hooked()
    assert 0 < computed.probability(limit).form < 1


def test_a_part_of_a_larger_work_is_not_its_result(
    mechanism: vm.Mechanism, hooked: Callable[..., None]
) -> None:
    """The run in which a fit or a certificate is interrupted is not what was asked for."""
    data = vm.measurement(x_of, [1.0, 2.0], [0.05, -0.01])
    hooked(native, "next_slice", at=2)
    plainly(lambda: mechanism.fit(data, ["k"], step=1e-3, backend="native"))
    gradient = mechanism.sensitivity(FINAL, ["k"], duration=1.0, step=1e-3, backend="native")
    hooked(native, "next_slice", at=2)
    plainly(gradient.certify)


def test_threads_give_up() -> None:
    begun, stop, seen = threading.Event(), threading.Event(), list[bool]()

    def work(number: int) -> None:
        begun.set()
        seen.append(stop.wait(60))

    def wait_for_them() -> None:
        nonlocal stop
        with interrupts.workers(1) as (pool, stop):
            for number in range(3):
                pool.submit(work, number)
            begun.wait()
            interrupt()

    plainly(wait_for_them)
    assert seen == [True]  # nothing new was taken up


# holding back


def test_ctrl_c_is_held_back() -> None:
    done = list[str]()

    def let_through(held: interrupts.DeferredInterrupt) -> None:
        with held.allowed():
            done.append("never")

    def hold() -> None:
        with interrupts.deferred_interrupts() as held:
            interrupt()
            done.append("first")
            plainly(lambda: let_through(held))
            interrupt()
            done.append("second")

    plainly(hold)
    assert done == ["first", "second"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.deferred_interrupts() as held, held.allowed():
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_do_not_touch_signals() -> None:
    computed = list[object]()

    def look() -> None:
        with interrupts.deferred_interrupts():
            computed.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert computed == [signal.default_int_handler]


# measures of what was computed


def test_outputs_of_long_runs_stop_between_slices(
    mechanism: vm.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = mechanism.simulate(0.5, step=1e-3, backend="interpreted")
    whole = run.energy().to_numpy()
    monkeypatch.setattr(live_run, "SLICE", 100)
    np.testing.assert_array_equal(run.energy(), whole)
    taken: list[Any] = []

    def take(array: Any, **options: Any) -> Any:
        taken.append(array)
        if len(taken) == 4:  # after the parameters, two arrays a slice
            interrupt()
        return np.asarray(array, order="C")

    monkeypatch.setattr(live_run.np, "ascontiguousarray", take)
    plainly(run.energy)
    assert len(taken) == 5  # the second slice came to its end, a third was not begun
