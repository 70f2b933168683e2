"""Tolerances as variables: their costs and derivatives, grades of ISO 286-1, model files, and what
they refuse.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.core.errors import FileError, ModelError
from varimech.files.editing import with_tolerance
from varimech.model.iso_grades import (
    GRADES,
    SIZES,
    grade_width,
    grades_of,
    nearest_grade,
    size_range,
)


def model() -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.parameter("L", "80 mm", tolerance="0.1 mm")
    m.parameter("k", 5.0, unit="N/m")
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length="L", mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


# --- costs


COSTS: dict[str, tuple[Any, Callable[[float], float]]] = {
    "reciprocal": (vm.cost(1.5, 2e-4), lambda t: 1.5 + 2e-4 / t),
    "reciprocal, by text": (vm.cost(1.5, "0.2 mm"), lambda t: 1.5 + 2e-4 / t),
    "square": (vm.cost(1.5, 2e-8, power=2), lambda t: 1.5 + 2e-8 / t**2),
    "square, by text": (vm.cost(1.5, "0.02 mm**2", power=2), lambda t: 1.5 + 2e-8 / t**2),
    "root": (vm.cost(0, 2e-2, power=0.5), lambda t: 2e-2 / math.sqrt(t)),
    "exponential": (vm.exponential_cost(1, 3, 1e4), lambda t: 1 + 3 * math.exp(-1e4 * t)),
    "exponential, by text": (
        vm.exponential_cost(1, 3, "10 1/mm"),
        lambda t: 1 + 3 * math.exp(-1e4 * t),
    ),
    "text": ("2 + (0.1 mm)/t + exp(-2e4*t)", lambda t: 2 + 1e-4 / t + math.exp(-2e4 * t)),
    "function": (
        lambda t: 2 + 1e-4 / t + vm.exp(-2e4 * t),
        lambda t: 2 + 1e-4 / t + math.exp(-2e4 * t),
    ),
}


@pytest.mark.parametrize("kind", COSTS)
def test_costs_and_their_derivatives(kind: str) -> None:
    given, expected = COSTS[kind]
    C = model().tolerance("L", 1e-4, at_least=2e-5, at_most=5e-4, cost=given).cost
    assert C is not None
    for t in (2e-5, 7e-5, 5e-4):
        assert C.value(t) == pytest.approx(expected(t), rel=1e-13)
        h = 1e-3 * t  # fourth order: h⁴ = 1e-12 of the size, rounding 1e-13
        outer, inner = expected(t + 2 * h) - expected(t - 2 * h), expected(t + h) - expected(t - h)
        assert C.derivative(t) == pytest.approx((8 * inner - outer) / (12 * h), rel=1e-9)


def test_costs_by_grade_meet_their_grades_and_fall_between_them() -> None:
    grades: dict[int | str, float] = {6: 12, "IT7": 8, 8: 5, 11: 1}
    C = model().tolerance("L", "IT8", cost=vm.grade_cost(grades)).cost
    assert C is not None
    widths = [grade_width(0.08, g) for g in (6, 7, 8, 11)]
    assert C.range == (widths[0], widths[-1])
    assert [C.value(t) for t in widths] == pytest.approx([12, 8, 5, 1], rel=1e-14)
    t = np.geomspace(widths[0], widths[-1], 200)
    assert (np.diff([C.value(x) for x in t]) < 0).all()
    for x in t[1:-1]:
        h = 1e-6 * x
        slope = (C.value(x + h) - C.value(x - h)) / (2 * h)
        assert C.derivative(x) == pytest.approx(slope, rel=1e-5, abs=1e-6 / x)


def test_costs_by_grade_of_another_size() -> None:
    C = model().tolerance("L", "IT8", cost=vm.grade_cost({6: 12, 9: 1}, size="40 mm")).cost
    assert C is not None and C.range == (8e-6, 31e-6)


def test_tolerances_with_costs_can_be_sent_to_other_processes() -> None:
    m = model()
    for given in ("1 + 1e-4/t", vm.cost(1, 1e-4), vm.grade_cost({6: 2, 9: 1})):
        t = m.tolerance("L", "IT8", cost=given)
        again = pickle.loads(pickle.dumps(t))
        assert again.cost.value(3e-5) == t.cost.value(3e-5)  # type: ignore[union-attr]


# --- grades of ISO 286-1


FACTORS = dict(
    zip(range(5, 19), (7, *(10, 16, 25, 40, 64), *(100, 160, 250, 400, 640)), strict=False)
)
FACTORS |= {16: 1000, 17: 1600, 18: 2500}
"""IT5 … IT18 in units of i or I, a geometric series of five grades to the factor 10."""


def unit_of_tolerance(low: float, high: float) -> float:
    """i or I (µm) of a range of sizes (mm), by its geometric mean."""
    D = math.sqrt((low or 1) * high)
    return 0.45 * D ** (1 / 3) + 0.001 * D if high <= 500 else 0.004 * D + 2.1


def test_grades_follow_from_the_formulas_of_the_standard() -> None:
    off: list[float] = []
    for low, high in zip((0, *SIZES), SIZES, strict=False):
        widths = grades_of(high / 1000)
        for grade, factor in FACTORS.items():
            computed, table = factor * unit_of_tolerance(low, high), 2e6 * widths[str(grade)]
            off.append(table / computed - 1)
            if high <= 3:  # the values of this range are rounded up, to those before the standard
                assert -0.05 < table / computed - 1 < 0.16, grade
            else:  # to preferred numbers; below 10 µm to 1 µm
                assert abs(table - computed) < max(0.055 * computed, 0.7), (high, grade)
    assert abs(np.mean(off)) < 0.01  # not one-sided; a grade is 25 % from the next at least
    assert len(off) == 21 * 14


def test_the_finest_grades_follow_from_their_formulas() -> None:
    """IT01 = 0.3 + 0.008 D, IT0 = 0.5 + 0.012 D, IT1 = 0.8 + 0.020 D (µm, D in mm)."""
    for low, high in zip((0, *SIZES[:12]), SIZES[:13], strict=False):
        D, widths = math.sqrt((low or 1) * high), grades_of(high / 1000)
        for grade, computed in (
            ("01", 0.3 + 0.008 * D),
            ("0", 0.5 + 0.012 * D),
            ("1", 0.8 + 0.02 * D),
        ):
            # one or two figures of values about 1 µm; the next grade is 1.5 times as wide
            assert abs(math.log(2e6 * widths[grade] / computed)) < 0.255, (high, grade)


def test_grades_are_ordered_and_grow_with_the_size() -> None:
    rows = [list(grades_of(size / 1000).values()) for size in SIZES]
    for row in rows:
        assert (np.diff(row) > 0).all()
    for smaller, larger in pairwise(rows):
        n = min(len(smaller), len(larger))
        assert (np.array(larger[-n:]) >= np.array(smaller[-n:])).all()
    assert [len(row) for row in rows] == [20] * 13 + [18] * 8 and len(GRADES) == 20


def test_sizes_at_the_ends_of_ranges() -> None:
    assert grade_width(0.08, 7) == 15e-6 and grade_width(0.0800001, 7) == 17.5e-6
    assert grade_width(0.1 - 0.02, "IT7") == 15e-6  # rounding of a length
    assert "14" not in grades_of(0.001) and "14" in grades_of(0.00101)
    assert "01" in grades_of(0.5) and "01" not in grades_of(0.501)
    assert size_range(0.08) == (0.05, 0.08) and size_range(-0.0800001) == (0.08, 0.12)
    assert size_range(0.001) == (0.0, 0.001) and size_range(0.002) == (0.001, 0.003)


def test_the_grade_of_a_width_is_not_coarser() -> None:
    assert nearest_grade(0.08, 15e-6) == "7" and nearest_grade(0.08, 22e-6) == "7"
    assert nearest_grade(0.08, 1e-9) == "01"


# --- tolerances of models


def test_what_is_not_stated_is_as_before() -> None:
    m = model()
    t = m.tolerance("L", at_most="0.5 mm", cost=vm.cost(1, "0.1 mm"))
    assert t is m.parameters["L"].distribution
    assert (t.width, t.at_most, t.sigmas) == (1e-4, 5e-4, 3.0)
    assert t.limits == pytest.approx((1e-5, 5e-4))
    again = m.tolerance(m.parameters["L"], "IT9", sigmas=4)
    assert (again.width, again.cost, again.sigmas) == (37e-6, t.cost, 4)
    assert "{width: IT9, at_most: 0.5 mm" in " ".join(m.to_text().split()) or (
        "width: IT9\n      at_most: 0.5 mm" in m.to_text()
    )
    assert m.tolerance("k", at_most=0.2).width == 0.2


def test_limits_are_those_of_grades_that_have_a_cost() -> None:
    t = model().tolerance("L", "IT8", cost=vm.grade_cost({7: 2, 9: 1}))
    assert t.limits == (15e-6, 37e-6)


BAD: dict[str, tuple[Callable[[vm.Mechanism], object], str]] = {
    "grade without cost": (
        lambda m: m.tolerance("L", "IT11", cost=vm.grade_cost({6: 12, 9: 4})),
        r"width = 9.5e-05 is outside the tolerances with a cost, 9.5e-06 to 3.7e-05; give costs of",
    ),
    "finer than the grades": (
        lambda m: m.tolerance("L", 1e-6, cost=vm.grade_cost({6: 12, 9: 4})),
        r"width = 1e-06 is outside the tolerances with a cost, 9.5e-06 to 3.7e-05",
    ),
    "bound outside the grades": (
        lambda m: m.tolerance("L", "IT8", at_most="IT12", cost=vm.grade_cost({6: 12, 9: 4})),
        r"at_most = 0.00015 is outside the tolerances with a cost",
    ),
    "no such grade": (lambda m: m.tolerance("L", "IT19"), r"'IT19' is not a grade of ISO 286-1"),
    "cost of no grade": (lambda m: vm.grade_cost({6: 2, 20: 1}), r"20 is not a grade of ISO 286-1"),
    "grade of no length": (lambda m: m.tolerance("k", "IT7"), r"parameter 'k'.*unit is N/m"),
    "cost by grades of no length": (
        lambda m: m.tolerance("k", 0.1, cost=vm.grade_cost({6: 2, 7: 1})),
        r"'k': cost is by grades, which lengths have",
    ),
    "too large for grades": (
        lambda m: m.tolerance(m.parameter("big", 5.0, unit="m"), "IT7"),
        r"'big': tolerance of 5000 mm has no grades: .* up to 3150 mm",
    ),
    "too large for fine grades": (
        lambda m: m.tolerance(m.parameter("big", 1.0, unit="m"), "IT0"),
        r"IT0' is not defined for a size of 1000 mm; take one from IT1 to IT18",
    ),
    "coarser and dearer": (
        lambda m: vm.grade_cost({6: 3, 7: 4}),
        r"IT7 costs 4, not less than IT6 \(3\)",
    ),
    "one grade": (lambda m: vm.grade_cost({6: 3}), r"two grades or more"),
    "negative cost": (lambda m: vm.cost(-1, 1e-4), r"a = -1 must not be negative"),
    "no factor": (lambda m: vm.cost(1, 0), r"b = 0 must be positive"),
    "no power": (lambda m: vm.cost(1, 1, power=0), r"power = 0 must be positive"),
    "infinite": (lambda m: vm.cost(math.inf, 1), r"a = inf must be a finite number"),
    "wrong unit": (
        lambda m: m.tolerance("L", cost=vm.cost(1, "0.2 kg")),
        r"'L': cost: b = '0.2 kg' has the wrong dimension",
    ),
    "broken power of a text": (
        lambda m: m.tolerance("L", cost=vm.cost(1, "0.2 mm", power=0.5)),
        r"power of 0.5 is a number, not a text",
    ),
    "no cost at all": (lambda m: m.tolerance("L", cost=3.0), r"cost = 3.0 is not a cost; give"),  # type: ignore[arg-type]
    "function of Python": (
        lambda m: m.tolerance("L", cost=lambda t: max(t, 1.0)),
        r"cost cannot be computed",
    ),
    "unknown name": (lambda m: m.tolerance("L", cost="1/u"), r"called 'u'"),
    "not finite": (
        lambda m: m.tolerance("L", 1e-4, at_least=5e-5, cost="1/(t - 5e-5)"),
        r"tolerance of 'L': cost is inf for a tolerance of 5e-05",
    ),
    "too wide": (
        lambda m: m.tolerance("L", 1e-3, at_most="0.5 mm"),
        r"tolerance of 'L': width = 0.001 is not within its bounds \(0, 0.0005\)",
    ),
    "no width": (lambda m: m.tolerance("k"), r"tolerance of 'k': width is missing"),
    "unknown parameter": (lambda m: m.tolerance("q", 1.0), r"called 'q'"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_tolerances_and_costs(what: str) -> None:
    call, message = BAD[what]
    m = model()
    before = m.parameters["L"].distribution, m.to_text()
    with pytest.raises(ModelError, match=message):
        call(m)
    if "big" not in m.parameters:
        assert (m.parameters["L"].distribution, m.to_text()) == before


def test_other_distributions_have_no_tolerance_to_choose() -> None:
    from scipy.stats import uniform

    m = model()
    m.parameter("u", 1.0, distribution=uniform(0.9, 0.2))
    with pytest.raises(ModelError, match=r"'u': distribution = .* is no tolerance"):
        m.tolerance("u", 0.1)


def test_an_unbound_cost_by_grades_has_no_values() -> None:
    with pytest.raises(ModelError, match="before it belongs to a parameter"):
        vm.grade_cost({6: 2, 7: 1}).value(1e-5)
    with pytest.raises(ModelError, match="is a text"):
        vm.cost(1, "0.2 mm").value(1e-5)


# --- model files


def test_tolerances_are_written_back(tmp_path: Path) -> None:
    m = model()
    m.tolerance("L", at_most="1 mm", cost=vm.cost(1, "0.2 mm"))
    m.tolerance("k", 0.1, at_least=0.05, sigmas=2, cost=vm.exponential_cost(1, 2, "20 mm/N"))
    grades: dict[int | str, float] = {"01": 9, 6: 5, 9: 1}
    costs: list[Any] = [vm.cost(1, 2e-8, power=2), vm.grade_cost(grades), "2 + (0.1 mm)/t"]
    for i, given in enumerate(costs):
        m.parameter(f"L{i}", "40 mm")
        m.tolerance(f"L{i}", "IT8", at_least="IT7", cost=given)
    m.to_file(tmp_path / "a.yaml")
    again = vm.Mechanism.from_file(tmp_path / "a.yaml")
    assert again.to_text() == m.to_text()
    for name, p in m.parameters.items():
        assert again.parameters[name].distribution == p.distribution
    assert "cost: {a: 1, b: 0.2 mm}" in m.to_text() and "width: IT8" in m.to_text()


def test_functions_of_python_cannot_be_written() -> None:
    m = model()
    m.tolerance("L", cost=lambda t: 1 + 1e-4 / t)
    with pytest.raises(ModelError, match="Python function, which a file cannot hold"):
        m.to_text()


WRONG_KEYS = (
    ("b: 0.2 mm", "b: 0.2 kg", r"a.yaml:\d+: parameters.L.tolerance.*wrong dimension"),
    ("a: 1, ", "", r"a cost has a and b \(and power\)"),
    ("at_most", "at_mots", r"a.yaml:\d+: parameters.L.tolerance.at_mots: .*'at_most'"),
    ("at_most: 1 mm", "at_most: IT27", r"a.yaml:\d+: .*'IT27' is not a grade"),
)


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG_KEYS)
def test_mistakes_in_files(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    m = model()
    m.tolerance("L", at_most="1 mm", cost=vm.cost(1, "0.2 mm"))
    text = m.to_text()
    assert right in text
    (tmp_path / "a.yaml").write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(FileError, match=message):
        vm.Mechanism.from_file(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        (
            "{value: 80 mm, tolerance: {width: 0.1 mm, at_most: 1 mm}}",
            "{value: 80 mm, tolerance: {width: 0.3 mm, at_most: 1 mm}}",
        ),
        (
            "{value: 80 mm, tolerance: {at_most: 1 mm}}",
            "{value: 80 mm, tolerance: {width: 0.0003, at_most: 1 mm}}",
        ),
    ],
)
def test_the_width_alone_is_edited(entry: str, after: str) -> None:
    text = f"varimech: 1\nparameters:\n  L: {entry}\n"
    assert with_tolerance(text, "L", 3e-4) == f"varimech: 1\nparameters:\n  L: {after}\n"
