"""Equal chains share their derived functions; chains that differ in anything do not."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm
from varimech.backends.program import ChainFunctions
from varimech.coordinates.systems import COORDINATES
from varimech.formulations.formulation import Conditioning
from varimech.schemes import FORMULATIONS, INTEGRATORS, Method
from varimech.solving import unrolled_chains
from varimech.solving.unrolled_chains import FunctionStore
from varimech.stages.chain import Block, Chain


def pendulum(length: float = 0.4) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("bar", "O", "P", length=length, mass=m.parameter("mass", 2.0))
    m.revolute("O")
    m.spring("spring", "ground.O", "bar.P", stiffness=30.0, natural_length=0.1)
    m.start(angle={"bar": 0.3})
    return m


def step_of(m: vm.Mechanism) -> Chain:
    method = Method(FORMULATIONS["ali3p"], INTEGRATORS["trapezoidal"], COORDINATES["natural"])
    equations = method.coordinates.equations(m.data)
    saddle = method.formulation.saddle(Conditioning())
    return method.step(equations, saddle, constrained=True)


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the chains that are derived during a test, from an empty store."""
    derived, derive = list[str](), unrolled_chains._derived

    def counted(chain: Chain, *arguments: Any) -> ChainFunctions:
        derived.append(chain.name)
        return derive(chain, *arguments)

    monkeypatch.setattr(unrolled_chains, "_derived", counted)
    monkeypatch.setattr(unrolled_chains, "_store", FunctionStore())
    return derived


def test_a_model_that_is_built_again_derives_nothing(derivations: list[str]) -> None:
    travel = {"end": vm.final(lambda s: s.position("P")[0])}
    first = pendulum().sensitivity(travel, duration=0.3, step=0.01)
    assert derivations
    derivations.clear()
    again = pendulum().sensitivity(travel, duration=0.3, step=0.01)
    assert derivations == []
    np.testing.assert_array_equal(again.final_gradient, first.final_gradient)


def test_a_model_with_another_number_has_functions_of_its_own(derivations: list[str]) -> None:
    """T = 2π √(l/g) of a point mass, for small amplitudes."""

    def period(length: float) -> float:
        m = vm.Mechanism("mass", gravity=(0, -9.81))
        m.ground_point("O", (0, 0))
        m.body("bob", mass=1.0, inertia=0.0, points={"O": (0, length), "C": (0, 0)})
        m.revolute("O")
        m.start(angle={"bob": 1e-3})
        run = m.simulate(0.9, tolerance=1e-9, coordinates="natural")
        position = run.position("C")
        x, t = position.to_numpy()[:, 0], position["time"].to_numpy()
        k = int(np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))[0])
        return 4 * float(t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k]))

    for length in (0.3, 0.5):
        derivations.clear()
        assert period(length) == pytest.approx(2 * np.pi * np.sqrt(length / 9.81), rel=1e-4)
        assert derivations


def changed(value: Any) -> Any:
    """Another value of a field of a stage."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "!"
    if isinstance(value, int):
        return value + 1
    if isinstance(value, ca.SX):
        return 2 * value + 1
    if value is None:
        return ca.SX(3)
    if not value:  # no names
        return ((ca.SX.sym("name"), ca.SX(1), 1),)
    return tuple((symbol, 2 * relation) for symbol, relation in value)


def test_the_digest_depends_on_everything_that_defines_a_stage() -> None:
    chain = step_of(pendulum())
    stage, *others = chain.stages
    for definition in fields(stage):
        if definition.name in ("unknown", "multiplier"):
            continue  # symbols of the others
        changes: dict[str, Any] = {definition.name: changed(getattr(stage, definition.name))}
        other = replace(chain, stages=(replace(stage, **changes), *others))
        assert other.digest != chain.digest, definition.name
    for name in ("unknown", "multiplier"):
        lost: dict[str, Any] = {name: ca.SX.sym("other", getattr(stage, name).numel())}
        with pytest.raises(RuntimeError, match="free"):  # a symbol that belongs to nothing
            _ = replace(chain, stages=(replace(stage, **lost), *others)).digest


def test_the_digest_depends_on_everything_that_defines_a_chain() -> None:
    chain = step_of(pendulum())
    assert chain.digest == step_of(pendulum()).digest
    assert chain.digest != step_of(pendulum(0.41)).digest
    renamed = tuple(Block(block.space + "!", block.value) for block in chain.result)
    doubled = tuple(Block(block.space, 2 * block.value) for block in chain.result)
    changes: dict[str, Any] = {
        "name": "other",
        "saddle": replace(chain.saddle, relaxation=0.5),
        "levels": tuple(2 * level + 1 for level in chain.levels),
        "stages": chain.stages[:-1],
    }
    for name, value in changes.items():
        with_change = replace(chain, **{name: value})
        if name == "stages":
            with pytest.raises(RuntimeError, match="free"):
                _ = with_change.digest
        else:
            assert with_change.digest != chain.digest, name
    for result in (renamed, doubled, chain.result[:-1]):
        assert replace(chain, result=result).digest != chain.digest
    assert {f.name for f in fields(chain)} == {*changes, "state", "settings", "result"}


def test_a_store_forgets_what_was_used_longest_ago() -> None:
    x = ca.SX.sym("x")
    functions = ChainFunctions(None, None, ca.Function("f", [x], [ca.sin(x) + x]))
    size, made = functions.instructions, list[str]()
    assert size == ca.Function("f", [x], [ca.sin(x) + x]).n_instructions()
    store = FunctionStore(most_instructions=2 * size)

    def get(key: str) -> None:
        def derive() -> ChainFunctions:
            made.append(key)
            return replace(functions)

        store.of((key,), derive)

    for key in "aabacab":  # b goes for c, then c for b
        get(key)
    assert made == ["a", "b", "c", "b"]
