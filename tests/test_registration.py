"""Schemes of others: what registering one asks for, where it is known afterwards, and that the
engine looks at what a scheme can do, never at its class.
"""

from __future__ import annotations

import ast
import ctypes
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import pendulum
from packages import SOURCE
from typer.testing import CliRunner

import varimech as vm
from varimech.backends import compiler, constants, newton
from varimech.cli.app import app
from varimech.coordinates.dynamics import Dynamics
from varimech.core import registry
from varimech.formulations.ali3p import ALI3P
from varimech.formulations.formulation import ContinuousRates, Formulation, FormulationTraits
from varimech.formulations.index1 import Projected
from varimech.integrators.difference import DifferenceScheme, V
from varimech.integrators.integrator import CONTINUOUS
from varimech.integrators.registry import FACTS
from varimech.integrators.runge_kutta import hermite
from varimech.schemes import FORMULATIONS, INTEGRATORS, choose, formulations_of
from varimech.stages.chain import Chain
from varimech.stages.saddle import Saddle
from varimech.testing import (
    check_backends,
    check_derivatives,
    check_order,
    check_tolerance,
    pendulum_errors,
)

pytestmark = pytest.mark.usefixtures("own_registries")


def heun(**changes: Any) -> vm.RungeKutta:
    options: dict[str, Any] = {
        "name": "heun",
        "title": "Heun",
        "order": 2,
        "a": ((), (1.0,)),
        "b": (0.5, 0.5),
        "error": (-0.5, 0.5, 0.0),
        "error_order": 2,
        "dense": hermite((0.5, 0.5)),
        "suits": "tests",
    }
    return vm.RungeKutta(**options | changes)


@dataclass(frozen=True)
class Average(DifferenceScheme):
    """The trapezoidal rule, by somebody else."""

    beta: float = 0.25
    gamma: float = 0.5
    name = "average"
    title = "average acceleration"
    suits = "tests"
    order = 2
    remembers = False

    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        return q + h * v + h**2 / 4 * a, v + h / 2 * a

    def remember(self, a: V, memory: V, a_new: V) -> V:
        return a_new


@dataclass(frozen=True)
class Drifting(Formulation):
    """Index 1 without any remedy, by somebody else."""

    name = "drifting"
    title = "index 1 as it is"
    suits = "tests"
    traits = FormulationTraits(exact=False, rates=True, composite=True)

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        return Projected().rates(dynamics, saddle)


# what is refused


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"a": ((), (1.0,), (1.0, 1.0))}, "a has 3 rows and b 2 numbers"),
        ({"a": ((), (0.5, 0.5))}, "row 1 of a has 2 numbers, an explicit scheme has 1"),
        ({"a": ((0.5,), (0.5,))}, "row 0 of a has 1 numbers, an explicit scheme has 0"),
        ({"b": (0.5, 0.6)}, "b adds up to 1.1, not to 1"),
        ({"b": (math.inf, 0.6)}, "b = inf is not a finite number"),
        ({"error": (-0.5, 0.5)}, "error has 2 numbers, not 3: 2 stages and the end"),
        ({"error": (-0.5, 0.5, 0.1)}, "error adds up to 0.1, not to 0"),
        ({"error_order": 0}, "error needs its error_order"),
        ({"dense": ()}, r"error needs dense, such as hermite\(b\)"),
        ({"dense": hermite((1.0,))}, "dense has 2 rows, not 3"),
        ({"dense": ((1.0,), (0.0,), (0.0, 0.0))}, "rows of dense are of different lengths"),
        ({"dense": ((1.0,), (0.5,), (0.0,))}, "dense adds up to 1.5 at the end of a step"),
        ({"extra": ((0.0, 0.0),)}, "row 0 of extra has 2 numbers, not 3"),
    ],
)
def test_coefficients_that_cannot_be(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(vm.ModelError, match=f"RungeKutta 'heun': .*{words}"):
        heun(**changes)


def test_a_scheme_of_too_many_stages() -> None:
    """The compiled driver has room for 64."""
    n = 64
    a = tuple(tuple([0.0] * i) for i in range(n))
    with pytest.raises(vm.ModelError, match="65 stages are more than 64"):
        vm.RungeKutta("long", "long", 1, a, (1.0, *[0.0] * (n - 1)), suits="tests")


def test_names_are_taken_once() -> None:
    vm.register_integrator(heun())
    vm.register_formulation(Drifting())
    for scheme in (heun(), heun(name="rk4")):
        with pytest.raises(vm.ModelError, match=f"'{scheme.name}': is registered already"):
            vm.register_integrator(scheme)
    with pytest.raises(vm.ModelError, match="formulation 'drifting': is registered already"):
        vm.register_formulation(Drifting())


def _text(value: Any) -> Any:
    """A value of a wrong type."""
    return value


class Bare:
    """Nearly nothing."""

    name = "bare"


def _facts(scheme: object) -> dict[str, Any]:
    return {name: getattr(scheme, name) for name in FACTS}


def _without(scheme: object, *names: str, **changes: Any) -> Any:
    facts = _facts(scheme) | changes
    return type("Changed", (), {n: x for n, x in facts.items() if n not in names})()


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (Bare(), "integrator 'bare': .* lacks title, suits, order, traits, difference, coeff"),
        (object(), r"integrator object\(…\): cannot be registered: it lacks name, title"),
        (Average, r"it is a class: register an object, Average\(…\)"),
        (heun(suits=""), "suits = '' must be a text"),
        (SimpleNamespace(**_facts(heun())), "it is not hashable: a frozen dataclass is"),
        (
            _without(INTEGRATORS["rk4"], traits=INTEGRATORS["dopri5"].traits),
            "traits.adaptive needs coefficients with an error estimate",
        ),
        (_without(Average(), traits=CONTINUOUS), "traits.adaptive needs coefficients with an"),
        (heun(order=0), "order = 0 must be 1 or more"),
        (_without(heun(), traits={}), r"traits = {} must be IntegratorTraits\(…\)"),
        (_without(heun(), coefficients=None), "exactly one of difference, .* not none"),
        (_without(heun(), difference=Average()), "not difference and coefficients"),
        (_without(heun(), coefficients=Bare()), "its coefficients lacks a, b, c, error"),
        (_without(Average(), difference=Bare()), "its difference lacks beta, gamma, remembers"),
        (Average(beta=_text("¼")), "beta = '¼' must be a number"),
        (
            _without(INTEGRATORS["cvodes"], traits=replace(CONTINUOUS, adjoint=True)),
            "traits.adjoint is out of reach of a continuous solver",
        ),
    ],
    ids=lambda x: x[:30] if isinstance(x, str) else "",
)
def test_integrators_that_lack_something(scheme: Any, words: str) -> None:
    known = dict(INTEGRATORS)
    with pytest.raises(vm.ModelError, match=words):
        vm.register_integrator(scheme)
    assert known == INTEGRATORS


class Promising(Drifting):
    """It promises what it has not."""

    traits = FormulationTraits(exact=True, step=True, projection=True)


class Idle(Drifting):
    """It promises nothing."""

    traits = FormulationTraits(exact=True, compliant=True)


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (Promising(), "traits promise step, projection, which it lacks; .* without rates"),
        (Idle(), "neither step nor rates: no integrator fits; .* are compliant"),
        (Bare(), "formulation 'bare': .* lacks title, suits, traits, saddle, residual_limits"),
        (ALI3P, "it is a class"),
    ],
)
def test_formulations_that_lack_something(scheme: Any, words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        vm.register_formulation(scheme)


def test_an_object_that_is_not_registered_is_examined_at_the_call() -> None:
    run = pendulum().simulate(0.1, step=0.01, integrator=heun(), backend="interpreted")
    assert run.info["method"].startswith("index 1 with projections, Heun")
    plain = heun(suits="")  # which only lists need
    again = pendulum().simulate(0.1, step=0.01, integrator=plain, backend="interpreted")
    np.testing.assert_array_equal(run.angle("rod"), again.angle("rod"))
    with pytest.raises(vm.ModelError, match=r"integrator Changed\(…\): it lacks order"):
        pendulum().simulate(0.1, step=0.01, integrator=_without(heun(), "order"))


class Short(Average):
    """Its prediction is a number too short."""

    name = "short"

    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        return q[1:], v


class Cut(Drifting):
    """Its state is a number too short."""

    name = "cut"

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        chain = Projected().rates(dynamics, saddle)
        q, *others = chain.result
        return replace(chain, result=(replace(q, value=q.value[1:]), *others))


class Forgetful(Drifting):
    """It returns nothing."""

    name = "forgetful"

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Any:
        return None


class Mistaken(Drifting):
    """It says that there is a stabilisation where there is none."""

    name = "mistaken"
    traits = FormulationTraits(exact=False, rates=True, continuous=True)

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        chain = Projected().rates(dynamics, saddle)
        return ContinuousRates(chain, chain, omega=1.0)


def test_wrong_shapes_are_named_at_the_call() -> None:
    vm.register_integrator(Short())
    vm.register_formulation(Cut())
    with pytest.raises(vm.ModelError, match=r"integrator 'short': predict\(…\) .* of 1 .* not 2"):
        pendulum().simulate(0.1, step=0.01, integrator="short")
    with pytest.raises(
        vm.ModelError,
        match=r"formulation 'cut': rates\(…\) makes a chain whose result has vectors of"
        r" \[1, 2, 2, 1\] numbers; expected q: 2, v: 2, a: 2, λ: 1",
    ):
        pendulum().simulate(0.1, step=0.01, formulation="cut")
    vm.register_formulation(Forgetful())
    vm.register_formulation(Mistaken())
    with pytest.raises(vm.ModelError, match=r"'forgetful': rates\(…\) returns None, not a Chain"):
        pendulum().simulate(0.1, step=0.01, formulation="forgetful")
    with pytest.raises(vm.ModelError, match=r"continuous\(…\) .* settings .* expected ω: 1, α: 1"):
        pendulum().simulate(0.1, formulation="mistaken", integrator="cvodes")


# where it is known


def test_registered_schemes_are_known_everywhere(tmp_path: Path) -> None:
    vm.register_integrator(heun())
    vm.register_formulation(Drifting())
    own = [name for name in FORMULATIONS if name not in ("ali3p", "drifting")]
    assert formulations_of(heun()) == [*own, "drifting"]
    rows = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)["methods"]
    row = next(row for row in rows if row["name"] == "heun")
    assert (row["kind"], row["suits"]) == ("integrator", "tests")
    assert "drifting" in row["goes_with"]
    model = tmp_path / "pendulum.yaml"
    pendulum().to_file(model)
    text = "studies:\n  simulate: {duration: 0.1, step: 0.01, integrator: heun}\n"
    model.write_text(model.read_text(encoding="utf-8") + text, encoding="utf-8")
    of_file = vm.Mechanism.from_file(model)
    assert of_file.studies is not None and of_file.studies.simulate is not None
    done = CliRunner().invoke(app, ["run", str(model), "--formulation", "drifting", "--json"])
    assert done.exit_code == 0, done.output
    assert "index 1 as it is, Heun" in done.output


def test_packages_offer_schemes_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def offer() -> None:
        vm.register_integrator(heun(name="offered"))

    def broken() -> None:
        raise ImportError("no such thing")

    results = [SimpleNamespace(value="a", load=broken), SimpleNamespace(value="b", load=offer)]
    asked = []

    def entry_points(group: str) -> list[Any]:
        asked.append(group)
        return results

    monkeypatch.setattr(registry, "entry_points", entry_points)
    registry.load_plugins.cache_clear()
    try:
        choose(1.0, integrator="rk4")
        assert not asked  # only where a name is not known
        with pytest.warns(UserWarning, match="plugin a cannot be imported: ImportError"):
            assert choose(1.0, integrator="offered")[0].integrator.title == "Heun"
        with pytest.raises(vm.ModelError, match="no formulation is called 'other'"):
            choose(1.0, formulation="other")
        assert asked == ["varimech.plugins"]
    finally:
        registry.load_plugins.cache_clear()


# what it yields


def test_an_explicit_scheme_of_somebody_else_conforms() -> None:
    """docs/extending.md shows all checks of one."""
    vm.register_integrator(heun())
    for group, errors in pendulum_errors("independent", "heun").items():
        check_order("heun", errors, group)
    check_derivatives("independent", "heun", step=1e-2)
    check_backends("independent", "heun", tolerance=1e-3)


def test_an_implicit_scheme_of_somebody_else_is_the_same_as_ours() -> None:
    vm.register_integrator(Average())
    own, other = (
        pendulum().simulate(0.1, step=0.01, integrator=i, backend="interpreted")
        for i in ("trapezoidal", "average")
    )
    np.testing.assert_array_equal(own.angle("rod"), other.angle("rod"))
    check_derivatives("ali3p", "average", step=1e-2)


def test_a_formulation_of_somebody_else_conforms() -> None:
    vm.register_formulation(Drifting())
    for group, errors in pendulum_errors("drifting", "rk4").items():
        check_order("rk4", errors, group)
    check_derivatives("drifting", "dopri5", tolerance=1e-4)
    check_tolerance("drifting", "dop853")
    check_backends("drifting", "rk4", step=5e-3)


@dataclass(frozen=True)
class Collocation:
    """CasADi's implicit Runge–Kutta scheme as a solver of its own."""

    name = "collocation"
    title = "collocation of CasADi"
    suits = "tests"
    order = difference = coefficients = None
    traits = CONTINUOUS
    algebraic = False
    most_steps = 1000

    @property
    def continuous(self) -> Collocation:
        return self

    def function(
        self, problem: dict[str, ca.SX], times: np.ndarray, tolerance: float, longest: float
    ) -> ca.Function:
        options = {"number_of_finite_elements": 10}
        return ca.integrator("run", "collocation", problem, 0.0, times[1:].tolist(), options)

    def gave_up(self, error: RuntimeError) -> bool:
        return False


def test_a_solver_of_somebody_else_is_as_accurate_as_asked() -> None:
    vm.register_integrator(Collocation())
    assert formulations_of(Collocation()) == ["index1-stabilised", "penalty"]
    check_tolerance("index1-stabilised", "collocation")
    with pytest.raises(vm.ModelError, match=r"adjoint.* which collocation of CasADi does not"):
        pendulum().sensitivity(
            vm.final(lambda s: s.angle("rod")),
            duration=0.1,
            integrator="collocation",
            method="adjoint",
        )


def test_checks_can_fail() -> None:
    """A scheme that claims too much, and derivatives that are off, do not conform."""
    vm.register_integrator(heun(order=3, name="boastful"))
    errors = pendulum_errors("index1", "boastful")
    with pytest.raises(AssertionError, match=r"states: errors"):
        check_order("boastful", errors["states"], "states")
    vm.register_integrator(heun(error=(-1e-6, 1e-6, 0.0), name="careless"))
    with pytest.raises(AssertionError):
        check_tolerance("index1", "careless")


# the engine asks


SCHEMES = {type(s).__name__ for s in (*INTEGRATORS.values(), *FORMULATIONS.values())} | {
    "CVODES",
    "IDAS",
    "DOP853",
    "DOPRI5",
    "RK4",
    "TRAPEZOIDAL",
}
"""Concrete classes, and objects of them that have names."""


def asked(path: Path) -> Iterator[str]:
    """Questions of a file for the class of a scheme, or whether it is a certain one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Call, ast.Compare)):
            continue
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif getattr(node.func, "id", "") == "isinstance":
            parts = node.args[1:]
        names = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
        if names & SCHEMES - own and not (path.stem == "newmark" and names <= {"self", *SCHEMES}):
            yield f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)}"


def test_nothing_asks_for_the_class_of_a_scheme() -> None:
    assert {"Newmark", "RungeKutta", "Sundials", "ALI3P", "Penalty"} <= SCHEMES
    assert not [question for path in SOURCE.rglob("*.py") for question in asked(path)]


# Newton's rule


@pytest.mark.skipif(compiler.find_compiler() is None, reason="no C compiler on this machine")
def test_newton_rule_is_the_same_in_c() -> None:
    """newton.c decides as newton.py does, with its constants, for ratios of all sizes."""
    text = (Path(newton.__file__).with_name("newton.c")).read_text(encoding="utf-8")
    export = (
        '#ifdef _WIN32\n__declspec(dllexport)\n#else\n__attribute__((visibility("default")))\n'
        "#endif\nint rule(double ratio, double last, long long k, long long most)"
        " { return vm_converged(ratio, last, k, most); }"
    )
    rule = compiler.load_library("\n".join([constants.definitions(), text, export])).rule
    rule.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_longlong, ctypes.c_longlong]
    sizes = [0.0, 1.0, math.nextafter(1.0, 2), 1e3, math.nextafter(1e3, 1e4), math.nan, math.inf]
    sizes += np.geomspace(1e-8, 1e12, 30).tolist()
    seen = set()
    for ratio in sizes:
        for last in sizes:
            for k, most in ((1, 40), (2, 40), (3, 40), (40, 40)):
                computed = newton.converged(ratio, last, k, most)
                assert bool(rule(ratio, last, k, most)) == computed, (ratio, last, k, most)
                seen.add(computed)
    assert seen == {True, False}
