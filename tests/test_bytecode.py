"""Bytecode and code in pieces, against CasADi's own evaluation: to the last bit."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import OBJECTIVES, four_bar
from pendulums import wheel

import varimech as vm
from varimech.backends import bytecode, c_pieces, compiler, native
from varimech.backends.bytecode import NotInterpretable, bytecode_of, operations
from varimech.backends.columns import all_columns, lanes, row_length
from varimech.backends.machine import driver_text
from varimech.backends.native import NativeProgram
from varimech.backends.plan_tables import Bytecode, Kernels
from varimech.backends.sampler import Sampler
from varimech.benchmarks import chain
from varimech.core import symbols

pytestmark = pytest.mark.skipif(compiler.find_compiler() is None, reason="no compiler")
EXPORT = '__attribute__((visibility("default")))'
UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    name: getattr(ca, name)
    for name in (
        *("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "floor", "ceil"),
        *("fabs", "sign", "erf", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "log1p"),
        *("expm1", "logic_not"),
    )
} | {
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "twice": lambda x: x + x,
    "inverse": lambda x: 1 / x,
    "cube": lambda x: x**3,
}
BINARY: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
    name: getattr(ca, name)
    for name in (
        *("plus", "minus", "times", "rdivide", "power", "fmod", "copysign", "fmin", "fmax"),
        *("atan2", "hypot", "remainder", "lt", "le", "eq", "ne", "logic_and", "logic_or"),
    )
} | {"if_else_zero": lambda x, y: ca.if_else(x, y, 0)}
NUMBERS = [0.3, -0.7, 1.0, 0.0, -1.0, 2.5, -3.25, 1e-9, 1e300, np.inf, -np.inf, np.nan, -0.0]


def interpret(function: ca.Function, columns: int | None = None) -> Any:
    """A call of the interpreter on arrays."""
    definitions = [bytecode.operation_definitions(), driver_text("bytecode.c")]
    entry = f"{EXPORT} void vm_test(const vm_bytecode *t, const double *const *arg, double *const *res, double *w) {{ vm_interpret(t, arg, res, w); }}"
    library = compiler.load_library("\n".join([*definitions, entry]))
    counts = {} if columns is None else {function.name(): columns}
    kept = Bytecode([function], Kernels([]), counts)
    code = kept.functions[0]
    assert code is not None

    def call(*arguments: np.ndarray, kept: Bytecode = kept) -> list[np.ndarray]:
        width = row_length(columns) if columns else 1
        results = [np.zeros(function.numel_out(k) * width) for k in range(function.n_out())]
        work = np.zeros(function.sz_w() * lanes(columns or 1) + 1)
        pointers = [
            (ctypes.c_void_p * max(1, len(arrays)))(*[a.ctypes.data for a in arrays])
            for arrays in (arguments, results)
        ]
        library.vm_test(ctypes.byref(code), *pointers, ctypes.c_void_p(work.ctypes.data))
        return results

    return call


def every_operation() -> ca.Function:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    return ca.Function("all", [x, y], [ca.densify(ca.vertcat(*results, 3.25, x))])


def test_every_operation_is_that_of_casadi() -> None:
    function = every_operation()
    used = {function.instruction_id(k) for k in range(function.n_instructions())}
    names = {name for name, number in operations().items() if number in used}
    assert names >= operations().keys() - {"LIFT", "ASSIGN", "CONSTPOW"}
    call = interpret(function)
    for x in NUMBERS:
        for y in NUMBERS:
            (result,) = call(np.array([x]), np.array([y]))
            np.testing.assert_array_equal(result, np.array(function(x, y)).ravel())


def test_instructions_are_those_that_casadi_lists() -> None:
    for function in (every_operation(), ca.Function("f", [ca.SX.sym("x", 3)], [ca.SX(2)])):
        listed = [bytecode._instruction(function, k) for k in range(function.n_instructions())]
        assert bytecode_of(function).tolist() == listed
        assert bytecode._serialised(function, len(listed)) is not None


def random_function(seed: int) -> ca.Function:
    """Expressions in which the same operations recur, also with exchanged operands."""
    rng, x = np.random.default_rng(seed), ca.SX.sym("x", 4)
    pool = [*ca.vertsplit(x), ca.SX(2.0), ca.SX(0.5)]
    operations: list[Callable[[ca.SX, ca.SX], ca.SX]] = [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - b,
        lambda a, _: ca.sin(a),
        lambda a, b: a / (2 + b * b),
        lambda a, b: ca.fmin(a, b),
    ]
    for _ in range(400):
        a, b = (pool[k] for k in rng.integers(0, len(pool), 2))
        operation = operations[int(rng.integers(len(operations)))]
        pool += [operation(a, b), operation(ca.SX(a), ca.SX(b)), operation(b, a)]
    return ca.Function("random", [x], [ca.densify(ca.vertcat(*pool[-60:], x[0], 1.5))])


@pytest.mark.parametrize("seed", range(8))
def test_bytecode_without_repetitions_yields_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many instructions as CasADi's elimination of common subexpressions leaves, or fewer."""
    function = random_function(seed)
    x = np.random.default_rng(seed).standard_normal(4)
    whole, shorter = (
        ca.Function("f", [y := function.sx_in(0)], [f(function(y))]) for f in (ca.SX, ca.cse)
    )
    monkeypatch.setattr(bytecode, "CSE_LONGEST", 0)
    code = bytecode_of(whole)
    assert code.size <= shorter.n_instructions() < whole.n_instructions()
    assert bytecode.places_of(code) <= code.size
    np.testing.assert_array_equal(interpret(whole)(x)[0], np.array(whole(x)).ravel())


def test_an_unknown_operation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ca.SX.sym("x")
    with pytest.raises(NotInterpretable, match=r"f, number \d+"):
        bytecode_of(ca.Function("f", [x], [ca.erfinv(x)]))


def column_function() -> ca.Function:
    """Linear in its second and third argument."""
    c, x, y = ca.SX.sym("c", 4), ca.SX.sym("x", 5), ca.SX.sym("y", 2)
    rows = [c[0] * x[k] - x[k - 1] / c[1] + 2 * y[k % 2] * c[2] ** 2 for k in range(5)]
    return ca.Function("columns", [c, x, y], [ca.vertcat(*rows, -y), ca.densify(c[3] * x)])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 33])
@pytest.mark.parametrize("pieces", [False, True])
def test_columns_are_those_of_single_ones(
    count: int, pieces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, rng = column_function(), np.random.default_rng(count)
    row = row_length(count)
    c, x, y = rng.standard_normal(4), rng.standard_normal(5 * row), rng.standard_normal(2 * row)
    whole = all_columns(function, count, 1)
    expected = [
        np.array(r).ravel(order="F") for r in whole(c, x.reshape(5, row).T, y.reshape(2, row).T)
    ]
    if pieces:
        monkeypatch.setattr(c_pieces, "LONGEST", 0)
        monkeypatch.setattr(c_pieces, "PIECE", 6)
        results = compiled(function, count, 1, [c, x, y])
    else:
        results = interpret(function, count)(c, x, y)
    for result, exact in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, exact)


def compiled(
    function: ca.Function, columns: int | None, shared: int, arguments: list[np.ndarray]
) -> list[np.ndarray]:
    """The results of code in pieces."""
    text = c_pieces.in_pieces(function, columns, shared)
    assert text is not None
    entry = f"{EXPORT} void vm_test(const double **arg, double **res, double *w) {{ {function.name()}(arg, res, 0, w, 0); }}"
    library = compiler.load_library("\n".join(["#include <math.h>", text, entry]))
    width = row_length(columns) if columns else 1
    results = [np.zeros(function.numel_out(k) * width) for k in range(function.n_out())]
    work = np.zeros(function.sz_w() * lanes(columns or 1) + 1)
    pointers = [
        (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        for arrays in (arguments, results)
    ]
    library.vm_test(*pointers, ctypes.c_void_p(work.ctypes.data))
    return results


@pytest.mark.parametrize("size", [1, 5, 17, 1000])
def test_code_in_pieces_is_that_of_casadi(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_pieces, "LONGEST", 0)
    monkeypatch.setattr(c_pieces, "PIECE", size)
    function = every_operation()
    for x, y in ((0.3, -0.7), (-3.25, 2.5), (0.0, np.inf), (np.nan, 1.0)):
        (result,) = compiled(function, None, 0, [np.array([x]), np.array([y])])
        np.testing.assert_array_equal(result, np.array(function(x, y)).ravel())


@pytest.fixture
def by_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Nothing is compiled; whether runs used compiled functions all the same."""
    used, advance = list[bool](), NativeProgram.advance

    def noted(self: NativeProgram, run: Any, last: int) -> None:
        advance(self, run, last)
        used.append(bool(run.entry_points))

    monkeypatch.setattr(NativeProgram, "load", lambda self: False)
    monkeypatch.setattr(NativeProgram, "build_in_background", lambda *_: None)
    monkeypatch.setattr(NativeProgram, "advance", noted)
    yield used
    assert used and not any(used)


def check_equal(first: vm.Gradient, second: vm.Gradient) -> None:
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.gradient, second.gradient)


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 1e-6},
        {"tolerance": 1e-6, "method": "adjoint"},
        {"tolerance": 1e-6, "coordinates": "rtdyn1"},
        {"tolerance": 1e-6, "formulation": "independent"},
        {"step": 0.01},
        {"step": 0.01, "method": "adjoint"},
        {"step": 0.01, "integrator": "rk4"},
    ],
    ids=str,
)
def test_the_machine_executes_what_casadi_interprets(
    options: dict[str, Any], by_machine: list[bool]
) -> None:
    four_bar.cache_clear()
    by_bytecode, interpreted = (
        four_bar().sensitivity(OBJECTIVES, duration=0.3, backend=backend, **options)
        for backend in ("auto", "interpreted")
    )
    check_equal(by_bytecode, interpreted)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (lambda: chain.mechanism(26), {"step": 0.01}),
        (lambda: chain.mechanism(26), {"step": 0.01, "method": "adjoint"}),
        (lambda: chain.mechanism(10), {"tolerance": 1e-6, "coordinates": "rtdyn1"}),
    ],
    ids=["assembled", "assembled-adjoint", "recursive"],
)
def test_plans_are_executed_by_the_machine(
    model: Callable[[], vm.Mechanism], options: dict[str, Any], by_machine: list[bool]
) -> None:
    """Their sparse factors are rounded otherwise by SciPy than by plan.c, so compiled code is what
    agrees to the last bit.
    """
    objectives = {"energy": vm.final(lambda s: s.kinetic_energy)}
    by_bytecode = model().sensitivity(objectives, duration=0.05, **options)
    compiled_ = compiled_gradient(model(), objectives, options)
    check_equal(by_bytecode, compiled_)


def compiled_gradient(
    m: vm.Mechanism, objectives: dict[str, vm.Objective], options: dict[str, Any]
) -> vm.Gradient:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeProgram, "advance", native_advance)
        return m.sensitivity(objectives, duration=0.05, backend="native", **options)


native_advance = NativeProgram.advance


def test_simplified_functions_are_compiled_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without repetitions, values live longer: functions may need more places than CasADi's have."""
    for module in (bytecode, native, symbols):
        monkeypatch.setattr(module, "CSE_LONGEST", 100)
    monkeypatch.setattr(c_pieces, "LONGEST", 100)
    gradients = [
        four_bar().sensitivity(OBJECTIVES, duration=0.05, step=5e-3, backend=backend)
        for backend in ("native", "interpreted", "auto")
    ]
    for other in gradients[1:]:
        np.testing.assert_array_equal(gradients[0].gradient, other.gradient)


def test_what_runs_call_once_may_stay_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "COLD", 0)
    monkeypatch.setattr(c_pieces, "LONGEST", 0)
    for options in ({"tolerance": 1e-6}, {"step": 0.01, "method": "adjoint"}):
        four_bar.cache_clear()
        check_equal(
            four_bar().sensitivity(OBJECTIVES, duration=0.3, backend="native", **options),
            four_bar().sensitivity(OBJECTIVES, duration=0.3, backend="interpreted", **options),
        )
    four_bar.cache_clear()


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_a_killed_python_leaves_no_compiler(tmp_path: Path) -> None:
    slow = tmp_path / "slow-cc"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    code = "from varimech.backends.compiler import build_library; build_library('int x;')"
    environment = {**os.environ, "CC": str(slow), "VARIMECH_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    pid = tmp_path / "pid"
    for _ in range(600):
        if pid.exists() and pid.read_text(encoding="utf-8").strip():
            break
        time.sleep(0.05)
    compiler_process = int(pid.read_text(encoding="utf-8"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    for _ in range(200):
        try:
            os.kill(compiler_process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the compiler goes on")


@pytest.mark.parametrize("backend", ["auto", "native"])
@pytest.mark.parametrize("method", ["direct", "adjoint", "composite"])
def test_a_mechanism_without_constraints_has_functions_without_results(
    backend: str, method: str
) -> None:
    """No penalties, in relative coordinates: a wheel on a shaft."""
    m = wheel()
    g = m.sensitivity(
        vm.final("angle('O')"),
        duration=1.0,
        tolerance=1e-10,
        coordinates="rtdyn0",
        formulation="index1",
        method=method,
        backend=backend,
    )  # φ = cos ωt, ω² = k
    assert g.values.item() == pytest.approx(np.cos(3**0.5), abs=1e-9)
    assert g.gradient.item() == pytest.approx(-np.sin(3**0.5) / (2 * 3**0.5), abs=1e-8)


def test_code_that_is_built_while_samples_are_prepared_is_taken_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In another process: never tables of the one with the library of the other."""
    made: list[Sampler] = []
    build, sizes = Sampler.__init__, vars(NativeProgram)["sizes"].fget

    def noted(self: Sampler, *arguments: Any, **options: Any) -> None:
        build(self, *arguments, **options)
        made.append(self)

    def sizes_and_build(self: NativeProgram) -> dict[str, int]:
        self.build()
        return dict(sizes(self))

    monkeypatch.setattr(Sampler, "__init__", noted)
    monkeypatch.setattr(NativeProgram, "load", lambda self: False)
    monkeypatch.setattr(NativeProgram, "build_in_background", lambda *_: None)
    four_bar.cache_clear()
    nominal = np.array([p.value for p in four_bar().parameters.values()])
    name = next(iter(four_bar().parameters))
    four_bar().ensemble(OBJECTIVES, {name: nominal[:1]}, duration=0.1, tolerance=1e-6)
    rows = nominal * (1 + np.linspace(-0.01, 0.01, 5)[:, None])
    expected, copy = made[-1](rows), pickle.loads(pickle.dumps(made[-1]))
    monkeypatch.setattr(NativeProgram, "sizes", property(sizes_and_build))
    computed = copy(rows)
    assert expected.done.all() and computed.done.all()
    np.testing.assert_array_equal(computed.values, expected.values)
    four_bar.cache_clear()
