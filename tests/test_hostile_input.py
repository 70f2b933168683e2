"""Absurd counts and sizes are refused with the remedy before anything is allocated, and so are
files full of mistakes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import swinging

import varimech as vm
from varimech.core import memory
from varimech.core.errors import LONGEST_COMPARED, MOST, MOST_COMPARED, near_names
from varimech.files.studies import OptimizeStudy, SimulateStudy, UncertaintyStudy

ABSURD = 10**30
ANGLE = vm.final(lambda s: s.angle("rod"))
WIDTH: dict[str, Any] = {"L": vm.Tolerance(0.01)}
SHORT: dict[str, Any] = {"duration": 0.1, "step": 0.01, "backend": "interpreted"}
BOUNDS: dict[str, Any] = {"over": ["L"], "bounds": {"L": (0.5, 2.0)}}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 100 MB."""
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 1e8)


COUNTS: dict[str, Callable[[vm.Mechanism, int], object]] = {
    "samples": lambda m, n: m.monte_carlo(ANGLE, WIDTH, samples=n, **SHORT),
    "chunk": lambda m, n: m.monte_carlo(ANGLE, WIDTH, samples=10, chunk=n, **SHORT),
    "seed": lambda m, n: m.monte_carlo(ANGLE, WIDTH, samples=10, seed=n, **SHORT),
    "executor": lambda m, n: m.monte_carlo(ANGLE, WIDTH, samples=10, executor=n, **SHORT),
    "threads": lambda m, n: m.ensemble(ANGLE, {"L": [1.0]}, threads=n, **SHORT),
    "starts": lambda m, n: m.optimize(ANGLE, starts=n, **BOUNDS, **SHORT),
    "seed of starts": lambda m, n: m.optimize(ANGLE, starts=2, seed=n, **BOUNDS, **SHORT),
    "max_iterations": lambda m, n: m.optimize(ANGLE, max_iterations=n, **BOUNDS, **SHORT),
    "every": lambda m, n: m.simulate(0.1, step=0.01, every=n),
    "segments": lambda m, n: m.beam(
        "b", "A", "B", segments=n, E=1e9, area=1e-4, inertia=1e-8, density=1e3, length=1
    ),
}


@pytest.mark.parametrize("label", COUNTS)
@pytest.mark.parametrize("number", [ABSURD, -ABSURD, 0.5, "many", None.__class__])
def test_absurd_counts_are_refused(label: str, number: Any) -> None:
    with pytest.raises(vm.ModelError, match=label.split()[0]):
        COUNTS[label](swinging(), number)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda m: m.monte_carlo(ANGLE, WIDTH, samples=10**9, chunk=10**8, **SHORT),
            "use a smaller chunk=…",
        ),
        (
            lambda m: m.monte_carlo(ANGLE, WIDTH, samples=10**9, keep=True, **SHORT),
            "give a folder as checkpoint=…",
        ),
        (lambda m: m.simulate(5e3, step=1e-3), "every=…"),
        (lambda m: m.simulate(1e9, step=1e-3, every=10**9), "take longer steps"),
        (lambda m: m.simulate(1.0, output=2e-7, tolerance=1e-6), "output=…"),
        (lambda m: m.sensitivity(ANGLE, duration=1e3, step=1e-3), "with 2 derivatives each"),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_before_it_is_allocated(
    call: Callable[[Any], object], words: str
) -> None:
    with pytest.raises(
        vm.ModelError, match=r"needs .* GB of memory, and 0\.1 GB are available to this process; "
    ) as caught:
        call(swinging())
    assert words in str(caught.value)


def test_limits_of_processes_and_containers_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = memory.memory_bytes()
    assert 1e8 < machine < 1e15
    limit = tmp_path / "memory.max"
    limit.write_text("123456789\n")
    monkeypatch.setattr(memory, "LIMITS", (str(limit), str(tmp_path / "none")))
    memory._machine_bytes.cache_clear()
    assert memory.memory_bytes() == 123456789
    limit.write_text("max\n")
    memory._machine_bytes.cache_clear()
    assert memory.memory_bytes() >= machine
    memory._machine_bytes.cache_clear()


def test_unused_parameters_cost_nothing_squared() -> None:
    """20,000 of them would take 3.2 GB where each has a place for each other."""
    m = swinging()
    for k in range(20_000):
        m.parameter(f"p{k}", 1.0)
    expected = swinging().sensitivity(ANGLE, wrt=["L", "M"], **SHORT)
    gradient = m.sensitivity(ANGLE, wrt=["L", "M"], **SHORT)
    np.testing.assert_array_equal(gradient.gradient, expected.gradient)


@pytest.mark.usefixtures("small")
def test_derivatives_for_too_many_parameters_are_refused_with_the_remedy() -> None:
    m = swinging()
    for k in range(5_000):
        m.parameter(f"p{k}", 1.0)
    with pytest.raises(
        vm.ModelError,
        match=r"5002 derivatives of a mechanism with 5002 parameters needs 0\.2 GB.*adjoint",
    ):
        m.sensitivity(ANGLE, method="direct", **SHORT)


HEAD = "varimech: 1\nname: x\ngravity: [0, 0]\n"


@pytest.mark.parametrize(
    ("study", "field"),
    [
        *[
            ("uncertainty", f)
            for f in ("samples", "chunk", "seed", "accuracy", "target", "allowed_failures")
        ],
        *[("optimize", f) for f in ("starts", "seed", "max_iterations", "tolerance_optimality")],
        *[("simulate", f) for f in ("every", "tolerance")],
        ("sensitivity", "memory"),
    ],
)
@pytest.mark.parametrize("value", ["-1", "1e999", "-1e999", str(ABSURD), "nan"])
def test_numbers_of_studies_have_bounds(tmp_path: Path, study: str, field: str, value: str) -> None:
    path = tmp_path / "model.yaml"
    rest = ", minimize: a" if study == "optimize" else ""
    path.write_text(f"{HEAD}studies:\n  {study}: {{{field}: {value}{rest}}}\n", encoding="utf-8")
    if field in ("memory", "accuracy", "target") and value == str(ABSURD):
        return  # that much is what somebody may ask for
    with pytest.raises(vm.FileError) as caught:
        vm.Mechanism.from_file(path)
    assert (caught.value.line, caught.value.field) == (5, f"studies.{study}.{field}")


def test_files_and_python_have_the_same_bounds() -> None:
    for kind, fields in (
        (UncertaintyStudy, ("samples", "chunk", "seed")),
        (OptimizeStudy, ("starts", "max_iterations", "seed")),
        (SimulateStudy, ("every",)),
    ):
        schema = kind.model_json_schema()["properties"]
        for field in fields:
            assert schema[field]["anyOf"][0]["maximum"] == MOST[field]


MANY = 5_000
WRONG = {
    "unknown keys": "".join(f"massx{k}: 1\n" for k in range(MANY)),
    "keys of a body": "bodies:\n  b:\n    mass: 1\n"
    + "".join(f"    inertia{k}: 1\n" for k in range(MANY)),
    "kinds of bodies": "bodies:\n" + "".join(f"  b{k}: {{barr: 1}}\n" for k in range(MANY)),
    "kinds of joints": "joints:\n" + "".join(f"  j{k}: revolut{k}\n" for k in range(MANY)),
    "values": "bodies:\n" + "".join(f"  b{k}: {{mass: [1], inertia: true}}\n" for k in range(MANY)),
    "what is missing": "forces:\n" + "".join(f"  s{k}: {{spring: [P, Q]}}\n" for k in range(MANY)),
    "long keys": "".join(f"{'massx' * 180}{k}: 1\n" for k in range(100)),
}


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """With how many names each unknown one is compared."""
    counts: list[int] = []
    compare = difflib.get_close_matches

    def counted(name: str, known: Any, **options: Any) -> list[str]:
        names = list(known)
        counts.append(len(names))
        return compare(name, names, **options)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    return counts


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_files_full_of_mistakes_are_refused_soon_and_in_short(
    tmp_path: Path, text: str, comparisons: list[int]
) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    with pytest.raises(vm.FileError, match=r"… and \d+ more") as caught:
        vm.Mechanism.from_file(path)
    assert len(str(caught.value)) < 10_000
    assert sum(comparisons) < 40 * MANY  # not the square of it


def test_texts_count_by_their_length_where_aliases_repeat_them(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(
        f"{HEAD}x: &s {'x' * 100_000}\ny: [{', '.join(['*s'] * 1000)}]\n", encoding="utf-8"
    )
    with pytest.raises(vm.FileError, match="has more than 400000 entries"):
        vm.Mechanism.from_file(path)


def test_suggestions_are_looked_for_among_so_many(comparisons: list[int]) -> None:
    names = [f"point{k}" for k in range(200_000)]
    assert near_names("x" * (LONGEST_COMPARED + 1), names) == [] and comparisons == []
    assert near_names("point1", ["pointt1", "other"]) == ["pointt1"]
    near_names("piont77", names)
    assert comparisons == [2, MOST_COMPARED]
