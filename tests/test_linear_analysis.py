"""Linear equations and modes against closed forms, in natural and relative coordinates; derivatives
of eigenvalues against closed forms and differences.
"""

from __future__ import annotations

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import bicycle, bicycle_matrices

BOTH = pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
G = 9.81


def oscillator(damping: float = 0.6) -> vm.Mechanism:
    m = vm.Mechanism("oscillator", dimension=2)
    k, c, mass = m.parameter("k", 50.0), m.parameter("c", damping), m.parameter("m", 2.0)
    m.ground_point("O", (0, 0))
    m.ground_point("W", (-1, 0))
    m.body("block", mass=mass, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("guide", "ground.O", "block.C", axis=(1, 0))
    m.spring("spring", "ground.W", "block.C", stiffness=k, natural_length=1.0)
    m.damper("damper", "ground.W", "block.C", damping=c)
    m.force("push", "block.C", (0, 0))
    m.start(displacement={"guide": 0.1})
    return m


@BOTH
def test_a_damped_oscillator(coordinates: str) -> None:
    m = oscillator()
    model = m.linearize(
        inputs=["push", "c"],
        outputs={"x": lambda s: s.displacement("guide")},
        wrt="all",
        coordinates=coordinates,
    )
    assert model.inputs == ("push.x", "push.y", "c")
    np.testing.assert_allclose(model.A, np.array([[0, 1], [-25, -0.3]]), atol=1e-10)
    np.testing.assert_allclose(model.B, np.array([[0, 0, 0], [0.5, 0, 0]]), atol=1e-10)
    np.testing.assert_allclose(model.C, [[1, 0]], atol=1e-10)
    slopes = model.dataset["A_derivative"].sel(rate="guide.displacement rate").to_numpy()
    np.testing.assert_allclose(slopes, [[-0.5, 0, 12.5], [0, -0.5, 0.15]], atol=1e-10)
    f = np.array([0.3, 0.8])
    ω = 2 * np.pi * f
    response = model.frequency_response(f)
    H = 1 / (50 - 2 * ω**2 + 0.6j * ω)
    np.testing.assert_allclose(response["response"].sel(input="push.x", output="x"), H, rtol=1e-10)
    for name, column in (("push.x", [0, 0.5]), ("push.y", [0, 0])):
        one = m.linearize(inputs=name, coordinates=coordinates)
        assert one.inputs == (name,)
        np.testing.assert_allclose(one.B, np.array([column]).T, atol=1e-10)
    for inputs, message in (
        ("push.z", "no input is called 'push.z'; did you mean 'push.y' or 'push.x'"),
        (["push.x", "push"], "names 'push.x' twice"),
    ):
        with pytest.raises(vm.ModelError, match=message):
            m.linearize(inputs=inputs)
    texts = model.frequency_response(["300 mHz", "0.8 Hz"])
    np.testing.assert_allclose(texts["response"], response["response"], rtol=1e-14)
    for bad, message in (
        ("2 kg", "frequency = '2 kg' has the wrong dimension; expected Hz"),
        ("120 rpm", "Hz counts turns"),
        ([None], "must be finite numbers"),
    ):
        with pytest.raises(vm.ModelError, match=message):
            model.frequency_response(bad)  # type: ignore[arg-type]
    slope = response["derivative"].sel(input="push.x", output="x", parameter="c")
    np.testing.assert_allclose(slope, -1j * ω * H**2, rtol=1e-9)
    assert model.to_scipy().A.shape == (2, 2)
    modes = m.modes(wrt="all", coordinates=coordinates)
    np.testing.assert_allclose(modes.eigenvalues, [-0.15 + 1j * np.sqrt(25 - 0.0225)], rtol=1e-10)
    np.testing.assert_allclose(modes.damping_ratio, [0.03], rtol=1e-9)
    np.testing.assert_allclose(
        modes.dataset["damping_ratio_derivative"].sel(parameter="c"), [0.05], rtol=1e-9
    )


def test_critical_damping_is_refused_by_name() -> None:
    critical = oscillator(damping=20.0)
    assert critical.modes().repeated == ((1, 2),)
    with pytest.raises(vm.VarimechError, match="modes 1, 2 have the eigenvalue"):
        critical.modes(wrt="all")


def rotating_pendulum() -> vm.Mechanism:
    m = vm.Mechanism("rotating pendulum", dimension=2)
    a, L, Ω = m.parameter("a", 0.5), m.parameter("L", 0.4), m.parameter("Omega", 10.0)
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "P", length=a, mass=1.0)
    m.bar("rod", "P", "Q", length=L, mass=1.0)
    m.revolute("O")
    m.revolute("P")
    m.drive_angle("motor", "O", lambda t: Ω * t)
    m.start(angle={"P": 0.01})
    return m


@BOTH
def test_a_pendulum_on_a_rotating_arm(coordinates: str) -> None:
    """ω = Ω √(3a/2L); its derivatives follow."""
    m = rotating_pendulum()
    modes = m.modes("steady", wrt="all", coordinates=coordinates)
    f = 10 / (2 * np.pi) * np.sqrt(0.5 * 1.5 / 0.4)
    assert modes.steady
    np.testing.assert_allclose(modes.frequency, [f], rtol=1e-10)
    np.testing.assert_allclose(
        modes.dataset["frequency_derivative"], [[f / 1.0, -f / 0.8, f / 10]], rtol=1e-9
    )
    with pytest.raises(vm.ModelError, match="at='steady'"):
        m.modes()


@BOTH
def test_a_driver_as_input(coordinates: str) -> None:
    """φ̈ = −(1 + 3a/2L) ü, and −2 Ω u̇ · 3a/2L · φ, which vanishes at φ = 0."""
    m = rotating_pendulum()
    model = m.linearize("steady", inputs="motor", coordinates=coordinates)
    assert model.states == ("P.angle", "P.angle rate", "motor", "motor rate")
    np.testing.assert_allclose(model.A[1], [-187.5, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(model.A[2], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(model.B, np.array([[0], [-(1 + 1.875)], [0], [1]]), atol=1e-9)


@BOTH
def test_a_double_pendulum(coordinates: str) -> None:
    m = vm.Mechanism("double pendulum", gravity=(0, -G))
    L = m.parameter("L", 0.7)
    m.ground_point("O", (0, 0))
    m.bar("one", "O", "P", length=L, mass=2.0)
    m.bar("two", "P", "Q", length=1.1, mass=3.0)
    m.revolute("O")
    m.revolute("P")
    m.start(angle={"one": -1.0, "two": -1.4})

    def closed(L1: float) -> np.ndarray:
        m1, m2, L2 = 2.0, 3.0, 1.1
        M = np.array(
            [[(m1 / 3 + m2) * L1**2, m2 * L1 * L2 / 2], [m2 * L1 * L2 / 2, m2 * L2**2 / 3]]
        )
        K = G * np.diag([(m1 / 2 + m2) * L1, m2 * L2 / 2])
        return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)))) / (2 * np.pi)

    modes = m.modes(wrt="L", coordinates=coordinates)
    np.testing.assert_allclose(modes.frequency, closed(0.7), rtol=1e-10)
    differences = (closed(0.7 + 1e-5) - closed(0.7 - 1e-5)) / 2e-5
    np.testing.assert_allclose(modes.dataset["frequency_derivative"][:, 0], differences, rtol=1e-7)
    np.testing.assert_allclose(m.frequencies(2), modes.frequency, rtol=1e-9)


def cart(gravity: float = G) -> vm.Mechanism:
    m = vm.Mechanism("cart and pole", gravity=(0, -gravity))
    L, F = m.parameter("L", 0.8), m.parameter("F", 0.0)
    m.ground_point("O", (0, 0))
    m.body("cart", mass=1.5, inertia=0.1, points={"C": (0, 0)})
    m.bar("pole", "P", "tip", length=L, mass=0.3)
    m.prismatic("rail", "ground.O", "cart.C", axis=(1, 0))
    m.revolute("hinge", "cart.C", "pole.P")
    m.force("push", "cart.C", lambda s: (F, 0))
    m.start(displacement={"rail": 0.0}, angle={"pole": np.pi / 2})
    return m


@BOTH
@pytest.mark.parametrize("at", ["start", "steady"])
def test_a_cart_with_a_pole_that_stands(coordinates: str, at: str) -> None:
    """(M + m) ẍ − ½ m L φ̈ = u,  ⅓ m L² φ̈ − ½ m L ẍ = ½ m g L φ."""
    model = cart().linearize(at, inputs=["push", "F"], coordinates=coordinates)
    m, L = 0.3, 0.8
    M = np.array([[1.8, -m * L / 2], [-m * L / 2, m * L**2 / 3]])
    K = np.array([[0, 0], [0, m * G * L / 2]])
    np.testing.assert_allclose(model.A[2:, :2], np.linalg.solve(M, K), atol=1e-10)
    np.testing.assert_allclose(model.A[2:, 2:], 0, atol=1e-10)
    u = np.linalg.solve(M, [1, 0])
    np.testing.assert_allclose(model.B.sel(input="push.x"), [0, 0, *u], atol=1e-10)
    np.testing.assert_allclose(model.B.sel(input="F"), [0, 0, *u], atol=1e-10)


def test_an_instant_of_a_run_has_total_derivatives() -> None:
    """A = ∂φ̈/∂φ = −(3 g / 2 L) cos φ(t), with the change of φ; against differences."""
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    p = m.problem(wrt="L", duration=0.5, tolerance=1e-12)
    run = p.gradient("direct").run
    model = m.linearize(run, time=0.5, wrt="L")
    assert not model.steady
    np.testing.assert_allclose(p.linearize(time=0.5).matrix, model.matrix, rtol=1e-12)
    sin = -1.5 * G * np.cos(run.angle("rod")[-1].item() + np.pi / 2)
    np.testing.assert_allclose(model.A[1, 0], sin, rtol=1e-9)
    values = [
        m.linearize(m.simulate(0.5, tolerance=1e-12, parameters={"L": 1 + h})).A[1, 0].item()
        for h in (1e-4, -1e-4)
    ]
    slope = model.dataset["A_derivative"][1, 0, 0]
    np.testing.assert_allclose(slope, (values[0] - values[1]) / 2e-4, rtol=1e-6)


@BOTH
def test_a_closed_four_bar_has_the_frequency_of_its_statics(coordinates: str) -> None:
    m = vm.Mechanism("four-bar", gravity=(0, -G))
    r = m.parameter("r", 0.5)
    m.ground_point("A", (0, 0))
    m.ground_point("D", (2, 0))
    for name, L in (("AB", r), ("BC", 1.8), ("DC", 1.2)):
        m.bar(name, name[0], name[1], length=L, mass=1.0)
    for name in "ABCD":
        m.revolute(name)
    m.start(angle={"AB": -1.0})
    modes = m.modes(wrt="r", coordinates=coordinates)
    np.testing.assert_allclose(modes.frequency, m.frequencies(1), rtol=1e-9)
    f = [m.frequencies(1, parameters={"r": 0.5 + h}).item() for h in (1e-4, -1e-4)]
    np.testing.assert_allclose(
        modes.dataset["frequency_derivative"].item(), (f[0] - f[1]) / 2e-4, rtol=1e-6
    )


def test_contacts_are_refused() -> None:
    m = vm.Mechanism("ball", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.1, points={"C": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.C", axis=(0, 1))
    m.stop("floor", 'displacement("guide")', lower=0.0, restitution=0.5)
    m.start(displacement={"guide": 1.0})
    with pytest.raises(vm.ModelError, match="compliant contacts"):
        m.modes("start")


def test_unknown_inputs_and_places_are_named() -> None:
    with pytest.raises(vm.ModelError, match="input"):
        oscillator().linearize(inputs="puhs")
    with pytest.raises(vm.ModelError, match="place"):
        oscillator().linearize("equilibrum")
    with pytest.raises(vm.ModelError, match="spring"):
        oscillator().linearize(inputs="spring")


def test_a_gyroscope_in_gimbals_nutates() -> None:
    """A rotor with spin Ω in massless-like gimbals: nutation at J Ω / √(I₁ I₂)."""
    m = vm.Mechanism("gyroscope", dimension=3)
    Ω = m.parameter("Omega", 40.0)
    m.ground_point("O", (0, 0, 0))
    for name, inertia in (("outer", (0.02, 0.03, 0.04)), ("inner", (0.01, 0.02, 0.03))):
        m.body(name, mass=1.0, inertia=inertia, points={"C": (0, 0, 0)})
    m.body("rotor", mass=1.0, inertia=(0.3, 0.5, 0.3), points={"C": (0, 0, 0)})
    m.revolute("z", "ground.O", "outer.C", axis=(0, 0, 1))
    m.revolute("x", "outer.C", "inner.C", axis=(1, 0, 0))
    m.revolute("y", "inner.C", "rotor.C", axis=(0, 1, 0))
    m.start(angle={"z": 0.0, "x": 0.0, "y": 0.0}, speed={"y": Ω})
    about_z, about_x = 0.04 + 0.03 + 0.3, 0.01 + 0.3
    nutation = 0.5 * 40.0 / np.sqrt(about_z * about_x)
    for coordinates in ("natural", "rtdyn1"):
        modes = m.modes("steady", wrt="Omega", coordinates=coordinates)
        assert modes.steady
        np.testing.assert_allclose(modes.eigenvalues[-1], 1j * nutation, rtol=1e-10)
        slope = modes.eigenvalue_derivatives[-1].item()
        np.testing.assert_allclose(slope, 1j * nutation / 40.0, rtol=1e-9)


@BOTH
def test_equal_eigenvalues_with_their_own_shapes_have_derivatives(coordinates: str) -> None:
    """Two equal pendulums, f ∝ 1/√L: the length of one changes one of both frequencies."""
    m = vm.Mechanism("two pendulums", gravity=(0, -G))
    lengths = {"one": m.parameter("L", 1.0), "two": 1.0}
    for k, (name, length) in enumerate(lengths.items()):
        m.ground_point(f"O{k}", (float(k), 0))
        m.bar(name, f"O{k}", f"P{k}", length=length, mass=1.0)
        m.revolute(f"O{k}")
    m.start(angle={"one": -1.5, "two": -1.6})
    modes = m.modes(wrt="L", coordinates=coordinates)
    f = np.sqrt(1.5 * G) / (2 * np.pi)
    assert modes.repeated == ((1, 2),)
    np.testing.assert_allclose(modes.frequency, [f, f], rtol=1e-9)
    slopes = np.sort(modes.dataset["frequency_derivative"][:, 0])
    np.testing.assert_allclose(slopes, [-f / 2, 0], atol=1e-8)


def test_redundant_constraints_change_nothing() -> None:
    """A parallelogram of three equal cranks swings as a pendulum, with one loop too many."""
    frequencies = []
    for cranks in (2, 3):
        m = vm.Mechanism("swing", gravity=(0, -G))
        points = {f"P{k}": (0.5 * k, 0.0) for k in range(cranks)}
        m.body("table", mass=2.0, inertia=0.3, points=points)
        for k in range(cranks):
            m.ground_point(f"O{k}", (0.5 * k, 0))
            m.bar(f"crank {k}", f"O{k}", f"Q{k}", length=0.8, mass=0.6 / cranks)
            m.revolute(f"O{k}")
            m.revolute(f"hinge {k}", f"crank {k}.Q{k}", f"table.P{k}")
        m.start(angle={"crank 0": -1.2})
        frequencies.append(m.modes().frequency.item())
    inertia, torque = (2.0 + 0.6 / 3) * 0.8**2, (2.0 + 0.3) * G * 0.8
    np.testing.assert_allclose(frequencies, np.sqrt(torque / inertia) / (2 * np.pi), rtol=1e-9)


@BOTH
def test_a_body_that_spins_freely_about_its_middle_axis_tumbles(coordinates: str) -> None:
    """Euler's equations: λ² = Ω² (I₂ − I₃)(I₁ − I₂) / (I₁ I₃), measured in the body."""
    m = vm.Mechanism("racket", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("racket", mass=1.0, inertia=(0.1, 0.2, 0.25), points={"C": (0, 0, 0)})
    m.spherical("ball", "ground.O", "racket.C")
    m.start(orientation={"racket": np.eye(3)}, speed={"racket": (0, 5.0, 0)})
    modes = m.modes("start", coordinates=coordinates)
    assert modes.steady
    λ = 5.0 * np.sqrt((0.2 - 0.25) * (0.1 - 0.2) / (0.1 * 0.25))
    np.testing.assert_allclose(modes.growth_rate.max(), λ, rtol=1e-10)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0", "rtdyn1"])
@pytest.mark.parametrize("speed", [2.0, 5.0, 8.0])
def test_a_bicycle_has_the_eigenvalues_of_its_published_matrices(
    coordinates: str, speed: float
) -> None:
    """Constraints of velocities leave three rates of seven positions; those of the slacks, by which
    they are stated, are no states.
    """
    values = {"v": speed, "tap": 0.0}
    m = bicycle.mechanism()
    model = m.linearize("start", parameters=values, coordinates=coordinates)
    assert len(model.states) == 10
    assert model.steady
    λ = m.modes("start", parameters=values, coordinates=coordinates).values
    expected = np.linalg.eigvals(bicycle_matrices.matrices({}).state_matrix(speed))
    for value in expected[expected.imag >= 0]:
        assert np.abs(λ - value).min() < 1e-9 * abs(value)


def test_the_matrices_of_the_bicycle_are_the_published_ones() -> None:
    """Table 2 of Meijaard et al. (2007)."""
    b = bicycle_matrices.matrices({})
    np.testing.assert_allclose(b.M[0], [80.81722, 2.31941332208709], rtol=1e-13)
    np.testing.assert_allclose(b.C1[1], [-0.85035641456978, 1.68540397397560], rtol=1e-13)
    np.testing.assert_allclose(b.K0[1], [-2.59951685249872, -0.80329488458618], rtol=1e-13)
    np.testing.assert_allclose(b.K2[:, 1], [76.59734589573222, 2.65431523794604], rtol=1e-13)
