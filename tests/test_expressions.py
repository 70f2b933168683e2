"""Texts as mathematics: what they mean, what they may not say, and quantities with units."""

from __future__ import annotations

import math
import re

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import varimech as vm
from varimech.core.expressions import Expression, Scope
from varimech.core.mathematics import FUNCTIONS
from varimech.core.units import in_unit, is_si, si_unit, split_quantity
from varimech.files.formula import formula

NAMES = {"a": 2.0, "b": -0.5, "L_A1": 1.25}


def value(text: str) -> float:
    return float(ca.SX(Expression(text).value(Scope(NAMES))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L_A1/2", 0.625),
        ("-a**2 + 3*b", -5.5),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("(1 - a)*(2 + b)", -1.5),
        ("sqrt(a)*sin(b) + atan2(1, a)", math.sqrt(2) * math.sin(-0.5) + math.atan2(1, 2)),
        ("where(a > 1, 10, 20) + where(a <= 1, 1, 2)", 12.0),
        ("norm([3, 4]) + dot([1, 2], [3, 4]) + cross([1, 0], [0, 2])", 18.0),
        ("rotation([0, 0, 1], pi/2)[1, 0]", 1.0),
        ("rotation([0, 0, 1], pi/2)[0, 1]", -1.0),
        ("([[1, 2], [3, 4]] @ [1, 1])[1]", 7.0),
        ("minimum(a, b) + maximum(a, b) + absolute(b) + sign(b)", 1.0),
        ("1e3 + .5 + 2.", 1002.5),
    ],
)
def test_worth_of_expressions(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-14)


def test_every_function_is_that_of_the_python_interface() -> None:
    for name, function in FUNCTIONS.items():
        assert function is getattr(vm, name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.b", "a dot is not supported"),
        ("().__class__.__bases__", "a dot"),
        ("__import__('os').system('true')", "a dot"),
        ("__import__('os')", "no function is called '__import__'"),
        ("(lambda: 1)()", "contains syntax that expressions do not support"),
        ("[x for x in [1]]", "contains syntax that expressions do not support"),
        ("a if b else 1", "where(condition, yes, no)"),
        ("a and b", "where(condition, yes, no)"),
        ("a^2", "write ** for a power"),
        ("a == b", "compare with <, <=, > or >="),
        ("0 < a < 1", "contains syntax that expressions do not support"),
        ("sin(x=1)", "contains syntax that expressions do not support"),
        ("sin(*[1])", "contains syntax that expressions do not support"),
        ("True", "contains syntax that expressions do not support"),
        ("f'{a}'", "contains syntax that expressions do not support"),
        ("9**9**9**9", "cannot be computed"),
        ("1/0", "cannot be computed: float division by zero"),
        ("9" * 400, "a number that is too large"),
        ("'P' + 1", "'P' is a text, not a number"),
        ("[1, 2][2]", "no component [2] of 2; indices start at 0"),
        ("rotation([0, 0, 1], 0.5)[1]", "a 3×3 matrix needs a row and a column, such as [0, 1]"),
        ("rotation([0, 0, 1], 0.5)[1, 3]", "no component [1, 3] of 3×3; indices start at 0"),
        ("[1, 2][0, 1]", "a vector of 2 components needs one index, such as [0]"),
        ("sin()", "sin: missing a required argument: 'x'; it takes (x)"),
        ("lenght", "no parameter or quantity is called 'lenght'"),
        ("L_A", "did you mean 'L_A1'?"),
        ("sine(1)", "did you mean"),
        ("a +", "cannot be read"),
        ("", "cannot be read"),
        ("1\x00", "cannot be read"),
        ("(" * 500 + "1" + ")" * 500, "cannot be read"),
        ("-" * 6000 + "1", "nested too deeply"),
        ("+".join(["a"] * 4000), "nested too deeply"),
        ("a" * 20_000, "20000 characters; at most 10000 are allowed"),
    ],
)
def test_what_expressions_may_not_say(text: str, words: str) -> None:
    with pytest.raises(vm.ModelError) as caught:
        value(text)
    assert words in str(caught.value) and len(str(caught.value)) < 400


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_has_a_value_or_an_error_with_a_reason(text: str) -> None:
    try:
        ca.SX(Expression(text).value(Scope(NAMES)))
    except vm.ModelError:
        pass
    except NotImplementedError:  # a text alone is a name, which whoever asks for a number refuses
        assert isinstance(Expression(text).value(Scope(NAMES)), str)


def formulas() -> st.SearchStrategy[str]:
    numbers = st.floats(-9, 9).map(lambda x: repr(round(x, 3)))
    leaves = st.sampled_from(["a", "b", "L_A1"]) | numbers
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(
                lambda x: f"({x[0]} {x[1]} {x[2]})"
            ),
            st.tuples(
                st.sampled_from(["sin", "cos", "exp", "tanh", "absolute", "sign"]), inner
            ).map(lambda x: f"{x[0]}({x[1]})"),
            inner.map(lambda x: f"({x})**2"),
            inner.map(lambda x: f"(-{x})"),
            st.tuples(inner, inner, inner).map(lambda x: f"where({x[0]} < {x[1]}, {x[2]}, 0)"),
        ),
        max_leaves=12,
    )


@given(formulas())
@settings(max_examples=150, deadline=None)
def test_written_formulas_mean_the_same(text: str) -> None:
    symbols = {name: ca.SX.sym(name) for name in NAMES}
    try:
        expression = ca.SX(Expression(text).value(Scope(symbols)))
    except vm.ModelError:
        return  # a division by zero
    try:
        stated = formula(expression, symbols, "it")
    except vm.ModelError:
        assert re.search(
            r"\b(inf|nan)\b", str(expression)
        )  # a folded division by zero, wherever it stands
        return
    again = (
        ca.SX(stated)
        if isinstance(stated, float)
        else ca.SX(Expression(stated).value(Scope(symbols)))
    )
    both = ca.Function("f", list(symbols.values()), [expression, again])
    first, second = (float(x) for x in both(*NAMES.values()))
    assert first == second or (math.isnan(first) and math.isnan(second))


def test_a_formula_without_a_name_is_refused() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(vm.ModelError, match="texts cannot express"):
        formula(ca.erf(x), {"x": x}, "body 'b': mass")


@pytest.mark.parametrize(
    ("text", "requested", "expected"),
    [
        ("30 mm", "m", 0.03),
        ("2 deg", "rad", math.radians(2)),
        ("2°", "rad", math.radians(2)),
        ("-9.81 m/s²", "m/s²", -9.81),
        ("206.94 GPa", "Pa", 206.94e9),
        ("5 N/mm", "N/m", 5000.0),
        ("1e-3 kg·m²", "kg·m²", 1e-3),
        ("3 cm^4", "m⁴", 3e-8),
        ("2 N*m/deg", "N·m/rad", 2 / math.radians(1)),
        ("10 inch", "m", 0.254),
        ("1500 rpm", "rad/s", 1500 * 2 * math.pi / 60),
        ("1500 rev/min", "rad/s", 1500 * 2 * math.pi / 60),
        ("3 rev", "rad", 6 * math.pi),
        ("7", "m", 7.0),
        ("3 Nm", "N·m", 3.0),
        ("2 kNm", "N·m", 2000.0),
        ("5 1/s", "1/s", 5.0),
        ("10 turn/s", "rad/s", 20 * math.pi),
    ],
)
def test_quantities(text: str, requested: str, expected: float) -> None:
    quantity = split_quantity(text)
    assert quantity is not None
    assert in_unit(*quantity, requested, "it") == pytest.approx(expected, rel=1e-15)


def test_texts_that_are_no_quantities() -> None:
    for text in ("L/2", "2*L", "sin(2)", "mm", "", "2 + 1 mm"):
        assert split_quantity(text) is None
    assert split_quantity("3e5") == (3e5, "")


def test_units_that_do_not_fit_are_refused() -> None:
    for text, words in (
        ("30 kg", "wrong dimension; expected m"),
        ("3 furlongz", "'furlongz' is not a unit"),
        ("1 m^999", "not a unit"),
        ("20 degC", "not a unit"),
        ("3 dB", "not a unit"),
    ):
        number, unit = split_quantity(text) or (0.0, "")
        with pytest.raises(vm.ModelError, match="length") as caught:
            in_unit(number, unit, "m", "bar 'a': length")
        assert words in str(caught.value)


def test_hertz_are_not_taken_for_radians() -> None:
    with pytest.raises(
        vm.ModelError, match="Hz counts turns, and rad/s radians; write turn/s, rpm or rad/s"
    ):
        in_unit(10.0, "Hz", "rad/s", "start: speed of 'rod'")
    assert in_unit(10.0, "Hz", "1/s", "damping") == 10.0
    with pytest.raises(vm.ModelError, match="= '1e-05 MHz': Hz counts turns, and rad/s radians"):
        in_unit(1e-5, "MHz", "rad/s", "start: speed of 'rod'")


@pytest.mark.parametrize("unit", ["rpm", "rad/s", "deg/s", "turn/s", "rev/min"])
def test_radians_are_not_taken_for_hertz(unit: str) -> None:
    """120 rpm are 2 Hz, and 12.57 rad/s."""
    message = (
        f"near = '120 {unit}': Hz counts turns, and {unit} is converted to rad/s; write it in Hz"
    )
    with pytest.raises(vm.ModelError, match=message):
        in_unit(120.0, unit, "Hz", "near")
    assert in_unit(120.0, "1/min", "Hz", "near") == pytest.approx(2.0, rel=1e-15)


def test_turns_per_minute_are_not_taken_for_radians_per_minute() -> None:
    """A speed of 1500 1/min is one of 1500 turns per minute to an engineer, 157 rad/s."""
    with pytest.raises(
        vm.ModelError, match=r"1/min may count turns, .*; write rpm, rad/min or rad/s"
    ):
        in_unit(1500.0, "1/min", "rad/s", "speed")
    assert in_unit(1500.0, "rpm", "rad/s", "speed") == pytest.approx(50 * math.pi, rel=1e-15)
    assert in_unit(60.0, "deg/min", "rad/s", "speed") == pytest.approx(math.pi / 180, rel=1e-14)
    assert in_unit(30.0, "1/min", "1/s", "decay") == 0.5


def test_names_that_mean_two_things_are_refused() -> None:
    m = swinging()
    m.parameter("t", 7.0)
    with pytest.raises(
        vm.ModelError,
        match=r"'t' is ambiguous: the time, and also a parameter; write parameter\('t'\)",
    ):
        m.force("push", "rod.tip", ("t", 0))
    m.force("push", "rod.tip", ("parameter('t')", 0))
    with pytest.raises(vm.ModelError, match="'t' is ambiguous: the time"):
        m.drive_angle("motor", "rod", "2*t")


def test_speeds_of_two_degrees_of_freedom_in_text() -> None:
    m = vm.Mechanism("sleeve", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=1.0, inertia=(1, 1, 1), points={"O": (0, 0, 0)})
    m.cylindrical("O", axis=(0, 0, 1))
    m.start(angle={"O": 0.1}, displacement={"O": 0.2}, speed={"O": "[3, 4]"})
    run = m.simulate(0.01, step=0.01, backend="interpreted")
    assert run.angular_velocity("O")[0] == pytest.approx(3.0) and run.displacement_rate("O")[
        0
    ] == pytest.approx(4.0)
    with pytest.raises(vm.ModelError, match="must have 2 components"):
        m.start(angle={"O": 0.1}, displacement={"O": 0.2}, speed={"O": "12"})


def test_rotations_of_bodies_and_by_angles() -> None:
    text = vm.final("(rotation('rod') @ [1, 0])[1] + rotation([0, 0, 1], t)[1, 0]")
    function = vm.final(lambda s: vm.sin(s.angle("rod")) + vm.sin(s.time))
    read, meant = (
        swinging().sensitivity({"x": x}, duration=0.1, step=0.01, backend="interpreted")
        for x in (text, function)
    )
    np.testing.assert_allclose(read.value_history, meant.value_history, rtol=1e-14)


def test_names_of_si_units() -> None:
    stated = {
        "mm": "m",
        "N/mm": "N/m",
        "N·m·s/rad": "N·m·s/rad",
        "deg": "rad",
        "g": "kg",
        "GPa": "Pa",
        "N·m/deg": "N·m/rad",
        "": "",
    }
    assert {unit: si_unit(unit, "it") for unit in stated} == stated
    assert is_si("N·s/m") and is_si("") and not is_si("mm") and not is_si("parsnips")


def swinging(inertia: str | None = None) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, "-9.81 m/s²"))
    m.parameter("L", "1000 mm", bounds=("50 cm", "2 m"), distribution=vm.Tolerance("3 mm"))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length="L", mass="3000 g", com="L/2", inertia=inertia)
    m.revolute("O")
    m.start(angle={"rod": "-45 deg"}, speed={"rod": "30 deg/s"})
    return m


def test_texts_take_the_place_of_numbers_everywhere() -> None:
    m = swinging(inertia="3*L**2/12")
    L = m.parameters["L"]
    assert (L.value, L.unit, L.bounds, L.distribution.sigma) == (1.0, "m", (0.5, 2.0), 0.001)
    plain = vm.Mechanism("pendulum", gravity=(0, -9.81))
    length = plain.parameter(
        "L", 1.0, unit="m", bounds=(0.5, 2.0), distribution=vm.Tolerance(0.003)
    )
    plain.ground_point("O", (0, 0))
    plain.bar(
        "rod", "O", "tip", length=length, mass=3.0, com=length / 2, inertia=3 * length**2 / 12
    )
    plain.revolute("O")
    plain.start(angle={"rod": -math.pi / 4}, speed={"rod": math.pi / 6})
    texts = {
        "height": vm.final('position("tip")[1]', unit="m"),
        "work": vm.integral("dot(velocity('tip'), velocity('tip'))/L"),
    }
    lambdas = {
        "height": vm.final(lambda s: s.position("tip")[1], unit="m"),
        "work": vm.integral(
            lambda s: vm.dot(s.velocity("tip"), s.velocity("tip")) / s.parameter("L")
        ),
    }
    first = m.sensitivity(texts, duration=0.5, step=0.01, backend="interpreted")
    second = plain.sensitivity(lambdas, duration=0.5, step=0.01, backend="interpreted")
    np.testing.assert_array_equal(first.value_history, second.value_history)
    np.testing.assert_array_equal(first.gradient_history, second.gradient_history)


def test_forces_and_motions_in_text() -> None:
    def pushed(force: object, motion: object) -> vm.Run:
        m = vm.Mechanism("cart", gravity=(0, 0))
        m.parameter("c", 2.0)
        m.ground_point("O", (0, 0))
        m.body("cart", mass=1.0, inertia=1.0, points={"P": (0, 0)})
        m.body("arm", mass=1.0, inertia=1.0, points={"P": (0, 0), "Q": (1, 0)})
        m.prismatic("rail", "ground.O", "cart.P", axis=(1, 0))
        m.revolute("P")
        m.force("push", "cart.P", force)
        m.drive_angle("motor", "arm", motion)
        m.start(displacement={"rail": 0.0})
        return m.simulate(0.5, step=0.01, backend="interpreted")

    stated = pushed(["3*sin(4*t) - c*velocity('cart.P')[0]", "1 N"], "6*t + t**2")
    meant = pushed(
        lambda s: (3 * vm.sin(4 * s.time) - s.parameter("c") * s.velocity("cart.P")[0], 1.0),
        lambda t: 6 * t + t**2,
    )
    np.testing.assert_array_equal(stated.position("Q"), meant.position("Q"))


def test_every_output_can_be_written_as_text() -> None:
    m = swinging()
    m.spring("s", "ground.O", "rod.com", stiffness="1 N/mm", natural_length="400 mm")
    parts = (
        "acceleration('tip')[0] + angle('rod') + angular_velocity('rod') +"
        " angular_acceleration('rod') + rotation('rod')[1, 0] + distance('ground.O', 'tip') +"
        " distance_rate('ground.O', 'rod.com') + reaction('O')[0] + reaction_torque('O') +"
        " kinetic_energy() + potential_energy() + energy() + rate(angle('rod')) +"
        " parameter('L') + t"
    )
    stated = m.sensitivity({"all": vm.final(parts)}, duration=0.1, step=0.01, backend="interpreted")

    def meant(s: vm.State) -> object:
        return (
            s.acceleration("tip")[0] + s.angle("rod") + s.angular_velocity("rod") + s.angular_acceleration("rod") + s.rotation("rod")[1, 0]
            + s.distance("ground.O", "tip") + s.distance_rate("ground.O", "rod.com") + s.reaction("O")[0] + s.reaction_torque("O")
            + s.kinetic_energy + s.potential_energy + s.energy + s.rate(s.angle("rod")) + s.parameter("L") + s.time
        )  # fmt: skip

    same = m.sensitivity({"all": vm.final(meant)}, duration=0.1, step=0.01, backend="interpreted")
    np.testing.assert_array_equal(stated.gradient_history, same.gradient_history)


def test_a_text_with_the_wrong_unit_is_located() -> None:
    with pytest.raises(
        vm.ModelError,
        match="bar 'rod': mass = '3 m' has the wrong dimension; expected kg",
    ):
        vm.Mechanism("x", gravity=(0, -1)).bar("rod", "A", "B", length=1, mass="3 m")
    with pytest.raises(
        vm.ModelError,
        match="parameter 'L': value = 'long' is not a number, nor a quantity such as '30 mm'",
    ):
        vm.Mechanism("x").parameter("L", "long")
    with pytest.raises(vm.ModelError, match=r"tolerance = '1 kg' has the wrong dimension"):
        vm.Mechanism("x").parameter("L", "3 m", distribution=vm.Tolerance("1 kg"))
