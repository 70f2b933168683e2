"""Every number × every unit × every form reads as the value that pint gives, or is refused; what
could be two things is never guessed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pint
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import varimech as vm
from varimech.core import units
from varimech.core.expressions import fixed_number
from varimech.core.units import is_of_kind, is_si, si_unit, split_quantity

COMMON = (
    *(
        "m",
        "mm",
        "cm",
        "km",
        "µm",
        "inch",
        "ft",
        "kg",
        "g",
        "lb",
        "t",
        "s",
        "ms",
        "min",
        "h",
        "N",
        "kN",
        "lbf",
        "rad",
        "deg",
        "turn",
    ),
    *(
        "Pa",
        "MPa",
        "GPa",
        "bar",
        "psi",
        "J",
        "W",
        "Hz",
        "rpm",
        "newton",
        "degree",
        "e",
        "eV",
        "L",
        "K",
        "A",
    ),
)
"""None of these may be refused."""
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@cache
def exact() -> pint.UnitRegistry[Any]:
    """Pint in rational numbers: no rounding of its own."""
    return pint.UnitRegistry(cache_folder=None, non_int_type=Fraction)


@cache
def in_floats() -> pint.UnitRegistry[Any]:
    return pint.UnitRegistry(cache_folder=None)


@cache
def names() -> list[str]:
    """All that pint knows, short and long, with some prefixes."""
    known = sorted(name for name in exact()._units if re.fullmatch(r"[^\W\d]+", name))
    return [*known, *(f"{prefix}{name}" for prefix in ("milli", "k", "µ") for name in known[::7])]


@cache
def factor(name: str) -> Fraction | None:
    """Of a unit to those of the SI; None for those that are more than a factor."""
    try:
        unit = exact().Quantity(Fraction(1), exact().parse_units(name))
        return Fraction(unit.to_base_units().magnitude) if unit._is_multiplicative else None
    except Exception:  # the names of pint's tests of itself, offsets, logarithms
        return None


numbers = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}{part}{power}",
    st.sampled_from(("", "", "-", "+")),
    st.integers(0, 10**20).map(str) | st.sampled_from(("1", "21", "101", "0", "007")),
    st.just("") | st.just(".") | st.integers(0, 10**20).map(lambda k: f".{k}"),
    st.just("")
    | st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-30, 30))
    | st.just("e+05"),
) | st.integers(0, 999).map(lambda k: f".{k}")


@st.composite
def quantities(
    draw: st.DrawFn, known: st.SearchStrategy[str]
) -> tuple[str, str, list[tuple[str, int]]]:
    """A text, its number, and the names in it with their powers."""

    def item() -> str:
        name, power = draw(known), draw(st.sampled_from((1, 1, 1, 2, 3, -1)))
        items.append((name, power))
        return name + (
            draw(st.sampled_from((f"**{power}", f"^{power}", str(power).translate(SUPERSCRIPTS))))
            if power != 1
            else ""
        )

    number, items = draw(numbers), list[tuple[str, int]]()
    text = item() if draw(st.integers(0, 3)) else ""
    for _ in range(draw(st.integers(0, 2)) if text else 0):
        text += draw(st.sampled_from(("*", " * ", "·", " "))) + item()
    above = len(items)
    if not text or draw(st.booleans()):
        slash, times = draw(st.sampled_from(("/", " / "))), draw(st.sampled_from(("*", " ", "·")))
        below = times.join(item() for _ in range(draw(st.integers(1, 2))))
        several = len(items) > above + 1
        text += f"{slash}({below})" if several else f"{slash}{below}"
        if above == 0 and draw(st.booleans()):
            text = f" 1{text}"
    powers = [(name, power if k < above else -power) for k, (name, power) in enumerate(items)]
    blank = draw(st.sampled_from(("", " ", "  ")))
    return f"{blank}{number}{draw(st.sampled_from(('', ' ', '   ')))}{text}{blank}", number, powers


def value(text: str) -> float | None:
    try:
        return vm.Mechanism("q").parameter("p", text).value
    except vm.ModelError:
        return None


def check(text: str, number: str, powers: list[tuple[str, int]]) -> None:
    read = value(text)
    if any(re.fullmatch(r"[kM]?N(mm|ms|m|s)", name) for name, _ in powers):
        return  # Nm is N·m here, and a unit of yarns in pint
    angles = {name for name, _ in powers} & {"rad", "deg", "turn", "degree", "rpm"}
    if "Hz" in dict(powers) and angles:
        return  # Hz counts turns, and is refused where radians are
    alone = [power for _, power in powers] == [1]
    total: Counter[str] = Counter()
    for name, power in powers:
        total[name] += power
    powers = [
        (name, power) for name, power in total.items() if power
    ]  # decade/decade is 1, although a decade is no factor
    factors = [
        factor(name) or (None if alone else factor(f"delta_{name}")) for name, _ in powers
    ]  # W/degC is per kelvin
    if None in factors:
        assert read is None
    elif read is None:
        assert not {name for name, _ in powers} <= {*COMMON} or len(text) > 60
    else:
        expected = Fraction(number) * math.prod(
            f**power for f, (_, power) in zip(factors, powers, strict=True) if f is not None
        )
        exactly = abs(Fraction(read) - expected) <= abs(expected) * Fraction(1, 10**14)
        assert exactly or (
            not {name for name, _ in powers} <= {*COMMON}
            and math.isclose(read, by_pint(number, powers), rel_tol=1e-14)
        )


def by_pint(number: str, powers: list[tuple[str, int]]) -> float:
    """Pint's own floats: products of tiny constants of physics pass through numbers that have few
    digits.
    """
    unit = math.prod(
        (in_floats().Unit(name) ** power for name, power in powers), start=in_floats().Unit("")
    )
    return float(in_floats().Quantity(float(number), unit).to_base_units().magnitude)


@given(quantities(st.sampled_from(COMMON)))
@example(("21/s", "21", [("s", -1)]))
@example(("101/min", "101", [("min", -1)]))
@example(("2e11/s", "2e11", [("s", -1)]))
@example(("5 1/s", "5", [("s", -1)]))
@settings(max_examples=200, deadline=None)
def test_common_units_read_as_pint_gives_them(
    quantity: tuple[str, str, list[tuple[str, int]]],
) -> None:
    check(*quantity)


@given(quantities(st.sampled_from(names())))
@settings(max_examples=200, deadline=None)
def test_every_unit_reads_as_pint_gives_it_or_is_refused(
    quantity: tuple[str, str, list[tuple[str, int]]],
) -> None:
    check(*quantity)


@given(st.sampled_from(names()), st.sampled_from(("30 {}", "30{}", "21/{}", "5 1/{}", "2 {}²")))
@settings(max_examples=200, deadline=None)
def test_the_si_unit_of_every_unit_is_one(name: str, form: str) -> None:
    """A parameter that was written with its unit is read again with it."""
    text = form.format(name)
    if value(text) is not None:
        number, unit = split_quantity(text) or (0.0, "")
        si = si_unit(unit, "it")
        assert (
            is_si(si)
            and is_of_kind(unit, si)
            and fixed_number(f"{number!r} {si}", si, "it") == number
        )


def test_newton_metres_are_not_a_unit_of_yarns() -> None:
    for text, requested, expected in (
        ("3 Nm", "N·m", 3.0),
        ("2 kNm", "N·m", 2000.0),
        ("2 rad/Nm", "rad/(N·m)", 2.0),
        ("7 Nm²", "N·m²", 7.0),
        ("7 Nm^2", "N·m²", 7.0),
        ("4 Nmm", "N·m", 4e-3),
        ("4 Nms", "N·m·s", 4.0),
        ("5 1/Nms", "1/(N·m·s)", 5.0),
    ):
        assert fixed_number(text, requested, "it") == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5 N/m s", r"after a slash, write products with a sign: N/\(m\*s\) or N/m\*s"),
        ("5 m°", "is not a unit"),
        ("5°C", "is not a unit"),
        ("5 m2", "is not a unit"),
        ("5 m**10", "is not a unit"),
        ("5 (Ym**9/m**9)**9", "is not a unit"),
        ("1e999 m", "is out of range"),
        ("1e999", "is out of range"),
        ("1e300 Ym", "is out of range"),
        ("0x10", "is not a unit"),
        ("1_000", "is not a unit"),
        ("1 000", "is not a number, nor a quantity"),
        ("1,5 m", "is not a number, nor a quantity"),
        ("1/2 m", "is not a number, nor a quantity"),
        ("5 1/4", "is not a unit"),
        ("٣ m", "is not a number, nor a quantity"),
        ("21/4/", "is not a number, nor a quantity"),
        ("2 m + 1", "is not a number, nor a quantity"),
        ("2*m", "is not a number, nor a quantity"),
        ("[1, 2]", "is not a number, nor a quantity"),
        ("'a'", "is not a number, nor a quantity"),
        ("1/0", "is not a number, nor a quantity"),
        ("sqrt(-1)", "is not a number, nor a quantity"),
        ("", "is not a number, nor a quantity"),
    ],
)
def test_texts_that_are_no_fixed_numbers(text: str, words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        vm.Mechanism("q").parameter("p", text)


@cache
def model() -> vm.Mechanism:
    m = vm.Mechanism("e", gravity=(0, -9.81))
    for name, number in PARAMETERS.items():
        m.parameter(name, number)
    return m


PARAMETERS = {"p": 2e4, "L": 0.3, "s": 7.0, "m": 3.0, "k": 1e-3, "e5": 11.0}
"""Most are units, too."""


@st.composite
def expressions(draw: st.DrawFn, depth: int = 0) -> str:
    """Beginning with a number more often than not; read by Python itself as well."""
    leaf = numbers.filter(lambda x: not re.match(r"[-+]?0[0-9]", x)) | st.sampled_from(
        [*PARAMETERS]
    )  # 007 is no number of Python
    if depth > 2 or draw(st.booleans()):
        return draw(leaf)
    left, right = draw(leaf), draw(expressions(depth + 1))
    sign = draw(st.sampled_from(("/", "*", " / ", "/ ", "*", " + ", " - ", "-")))
    return draw(
        st.sampled_from(
            (
                f"{left}{sign}{right}",
                f"{left}{sign}({right})",
                f"({left}){sign}{right}",
                f"-({left}){sign}{right}",
            )
        )
    )


@given(expressions())
@example("1e-3*p")
@example("1e3/p")
@example("21/4")
@example("11/(2*p)")
@example("21/s")
@settings(max_examples=200, deadline=None)
def test_expressions_that_begin_with_a_number_are_those_of_python(text: str) -> None:
    """`inertia` is in kg·m², which no quotient of these units and numbers is."""
    try:
        expected = float(eval(text, {}, dict(PARAMETERS)))
    except (ZeroDivisionError, OverflowError):
        return
    if not math.isfinite(expected):
        return
    numbers = model().data.parameter_set
    np.testing.assert_allclose(
        numbers.evaluate(numbers.scalar(text, "it", unit="kg·m²")), expected, rtol=1e-13
    )


@given(
    st.sampled_from(COMMON), st.sampled_from(("m", "kg", "rad/s", "1/s", "Pa", "N/m", "")), numbers
)
@settings(max_examples=100, deadline=None)
def test_a_name_that_is_a_unit_and_a_parameter_is_never_guessed(
    name: str, expected: str, number: str
) -> None:
    assume(not re.match(r"[-+]?0[0-9]", number))  # 007 is no number of Python
    m = vm.Mechanism("e")
    m.parameter(name, 3.0)
    read = m.data.parameter_set.scalar
    for text in (f"{number} {name}", f"{number} 1/{name}", f"{number} kg/{name}"):
        with pytest.raises(vm.ModelError, match=f"'({name}|kg)' is a unit and a parameter; write "):
            read(text, "it", unit=expected)
    quotient, meant = f"{number}/{name}", float(number) / 3.0
    if is_of_kind(f"1/{name}", expected):
        with pytest.raises(vm.ModelError, match=r"is a unit and a parameter; write \("):
            read(quotient, "it", unit=expected)
    else:
        assert (
            float(m.data.parameter_set.evaluate(read(quotient, "it", unit=expected)).item())
            == meant
        )
    assert (
        float(m.data.parameter_set.evaluate(read(f"({quotient})", "it", unit=expected)).item())
        == meant
    )


def test_names_of_their_own_in_forces_motions_and_shapes() -> None:
    m = vm.Mechanism("e", gravity=(0, 0))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length="300 mm", mass=1.0)
    m.revolute("O")
    m.force("F", "rod.P", ("5/(1 + t)", "1/t"))
    m.force("G", "rod.P", ("5 kN", "2 N"))
    with pytest.raises(vm.ModelError, match="'t' is a unit and a name in expressions"):
        m.force("H", "rod.P", ("2 t*m/s^2", 0))
    m.drive_angle("D", "rod", "30 deg")
    with pytest.raises(vm.ModelError, match="wrong dimension; expected m"):
        m.beam(
            "b", "A", "B", segments=2, E=1e9, area=1e-4, inertia=1e-9, mass=1, shape=("21/kg", "s")
        )
    m.beam(
        "b",
        "A",
        "B",
        segments=2,
        E=1e9,
        area=1e-4,
        inertia=1e-9,
        mass=1,
        shape=("0.5*s", "0.03*s"),
        floating=True,
    )


def test_values_of_a_run_are_quantities_in_python_too() -> None:
    m = vm.Mechanism("e", gravity=(0, -9.81))
    m.parameter("x", 0.0, bounds=(-1, 1))
    L = m.parameter("L", "30 cm", bounds=("1 cm", "pi/4"), distribution=vm.Tolerance("1/1000"))
    assert (L.value, L.unit, L.bounds, L.distribution.width) == (
        0.3,
        "m",
        (0.01, math.pi / 4),
        1e-3,
    )
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length=L, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": 0.0})
    for text in ("260 mm", "13/50"):
        assert m.data.parameter_set.values({"L": text}).tolist() == [0.0, 0.26]
    with pytest.raises(vm.ModelError, match=r"value 0\.9 m is outside its bounds"):
        m.simulate(0.02, parameters=dict[str, Any](L="90 cm"))
    assert "value: 0.26\n    unit: m" in m.to_text(values=dict[str, Any](L="260 mm"))
    best = m.optimize(
        vm.final("parameter('x')"), over="x", parameters=dict[str, Any](L="260 mm"), duration=0.01
    )
    assert best.parameters["x"] == pytest.approx(-1.0)


def test_common_units_need_no_pint_and_have_its_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    common = ["mm", "cm", "km", "g", "deg", "°", "ms", "kN", "mN", "kPa", "MPa", "GPa", "kJ", "kW"]
    products = ["N/m", "N·m/rad", "kg*m**2", "N²·s", "1/s", "m/s²", ""]
    expected = {
        unit: in_floats().Quantity(0.3, unit).to_base_units() for unit in [*common, *products]
    }
    units._read.cache_clear()
    monkeypatch.setattr(units, "_by_pint", None)
    for unit, quantity in expected.items():
        assert units.si_value(0.3, unit, "") == quantity.magnitude
        assert units._read(unit).dimension == frozenset(quantity.dimensionality.items())
