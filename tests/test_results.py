"""Results: labelled arrays with units and derivatives, checked by hand on a driven rod; files that
hold the same; gradients.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import varimech as vm
from varimech.core import progress
from varimech.results.catalog import OUTPUTS

L, M, W, G = 0.8, 2.0, 40.0, 9.81
DURATION, STEP = 1.0, 0.01
PARAMETERS = ["L", "M", "W"]


def driven_rod() -> vm.Mechanism:
    """A uniform rod that a motor turns with constant speed: everything about it is known."""
    m = vm.Mechanism("rotor", gravity=(0, -G))
    length = m.parameter("L", L, unit="m")
    mass = m.parameter("M", M, unit="kg")
    speed = m.parameter("W", W, unit="rad/s")
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (0, -2))
    m.bar("rod", "O", "tip", length=length, mass=mass)
    m.revolute("O")
    m.drive_angle("motor", "rod", lambda t: speed * t)
    m.start()
    return m


HEIGHT = vm.final(lambda s: s.position("tip")[1], unit="m")
WORK = vm.integral(lambda s: s.effort("motor") * s.angular_velocity("rod"), unit="J")


@pytest.fixture(scope="module")
def rotor() -> vm.Gradient:
    return driven_rod().sensitivity({"height": HEIGHT, "work": WORK}, duration=DURATION, step=STEP)


@pytest.fixture(scope="module")
def planar() -> vm.Run:
    """A slider-crank with a motor, a spring and a damper: every kind of planar measure."""
    m = vm.Mechanism("press", gravity=(0, -G))
    crank = m.parameter("crank", 0.3, unit="m")
    k = m.parameter("k", 40.0, unit="N/m")
    m.ground_point("A", (0, 0))
    m.ground_point("R", (0, 0.1))
    m.bar("crank", "A", "B", length=crank, mass=1)
    m.bar("rod", "B", "C", length=1.0, mass=2)
    m.body("block", mass=3, inertia=0.1, points={"C": (0, 0)})
    for name in "ABC":
        m.revolute(name)
    m.prismatic("rail", "ground.R", "block.C", axis=(1, 0))
    m.spring("spring", "ground.R", "C", stiffness=k, natural_length=0.5, damping=1.0)
    m.drive_angle("motor", "crank", lambda t: 30 * t)
    m.start(near={"rod": 0.0})
    return m.sensitivity(duration=0.3, step=0.01).run


@pytest.fixture(scope="module")
def spatial() -> vm.Run:
    """A sleeve on a shaft that carries a swinging body: every kind of spatial measure."""
    m = vm.Mechanism("carousel", gravity=(0, 0, -G))
    mass = m.parameter("mass", 1.5, unit="kg")
    m.ground_point("O", (0, 0, 0))
    m.body("sleeve", mass=mass, inertia=(0.2, 0.3, 0.4), points={"O": (0, 0, 0), "P": (0.5, 0, 0)})
    m.body("swing", mass=1, inertia=(0.02, 0.03, 0.04), com=(0, 0, -0.3), points={"P": (0, 0, 0)})
    m.cylindrical("O", axis=(0, 0, 1))
    m.revolute("P", axis=(0, 1, 0))
    m.drive_displacement("lift", "O", lambda t: 0.2 * vm.sin(5 * t))
    m.start(angle={"O": 0.1, "P": 0.5}, speed={"O": 3.0})
    return m.sensitivity(duration=0.2, step=0.01).run


@pytest.fixture(scope="module")
def flexible() -> vm.Run:
    """Three beams of different numbers of segments, clamped, pinned and hanging: measures within
    beams, and of their points.
    """
    m = vm.Mechanism("reeds", gravity=(0, -G))
    E = m.parameter("E", 1e7, unit="Pa")
    m.ground_point("A", (0, 0))
    m.beam("first", "A", "B", segments=3, length=0.4, E=E, section=vm.square(0.02), density=1000)
    m.beam("second", "B", "C", segments=2, length=0.3, E=E, section=vm.circle(0.02), density=1000)
    m.beam("third", "C", "D", segments=1, length=0.2, E=E, section=vm.circle(0.02), density=1000)
    m.clamp("A", direction=(1, 0))
    for name in "BC":
        m.revolute(name)
    m.start(angle={"second": 0.2, "third": -1.0})
    return m.sensitivity(duration=0.1, step=5e-3).run


@pytest.fixture(scope="module")
def loaded(planar: vm.Run, tmp_path_factory: pytest.TempPathFactory) -> vm.Run:
    return vm.load_run(planar.save(tmp_path_factory.mktemp("saved") / "planar.nc"))


@pytest.fixture(scope="module")
def plain() -> vm.Run:
    return driven_rod().simulate(0.1, step=STEP)


def turning(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors along the rod and a quarter turn ahead, (time, component)."""
    c, s = np.cos(W * t), np.sin(W * t)
    return np.stack([c, s], axis=1), np.stack([-s, c], axis=1)


# labels


def test_efforts_are_forces_or_torques() -> None:
    m = vm.Mechanism("arm", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "A", length=1.0, mass=1.0)
    m.revolute("O")
    m.body("hand", mass=1.0, inertia=0.1, points={"B": (0, 0)})
    m.prismatic("slide", "arm.A", "hand.B", axis=(1, 0))
    m.drive_angle("motor", "arm", lambda t: 2 * t)
    m.drive_displacement("jack", "slide", lambda t: 0.1 * t)
    run = m.simulate(0.02, step=0.01)
    assert [run.effort(d).attrs["units"] for d in ("motor", "jack")] == ["N·m", "N"]
    assert run.dataset["effort"].attrs["units"] == "N or N·m"  # in one table


@pytest.mark.parametrize(
    ("kind", "name", "dims", "unit"),
    [
        ("position", "tip", ("time", "component"), "m"),
        ("velocity", "rod.tip", ("time", "component"), "m/s"),
        ("acceleration", "rod.com", ("time", "component"), "m/s²"),
        ("angle", "rod", ("time",), "rad"),
        ("angle", "O", ("time",), "rad"),
        ("angular_velocity", "rod", ("time",), "rad/s"),
        ("angular_acceleration", "O", ("time",), "rad/s²"),
        ("reaction", "O", ("time", "component"), "N"),
        ("reaction_torque", "O", ("time",), "N·m"),
        ("effort", "motor", ("time",), "N·m"),
        ("multiplier", "rigidity of rod", ("time",), "J per unit of Φ"),
        ("energy", "kinetic", ("time",), "J"),
        ("rotation", "rod", ("time", "row", "column"), "1"),
    ],
)
def test_labels_in_the_plane(
    kind: str, name: str, dims: tuple[str, ...], unit: str, rotor: vm.Gradient
) -> None:
    array = getattr(rotor.run, kind)(name)
    assert isinstance(array, xr.DataArray)
    assert (array.name, array.dims, array.attrs["units"]) == (kind, dims, unit)
    assert array["time"].attrs["units"] == "s"
    assert array["time"].values == pytest.approx(np.arange(101) * STEP)
    assert str(array[OUTPUTS[kind].of].item()) == ("rod.tip" if name == "tip" else name)
    for dim in dims[1:]:
        assert list(array[dim].values) == ["x", "y"]
    slope = getattr(rotor.run, kind)(name, wrt="all")
    assert (slope.dims, slope.attrs["units"]) == (
        (*dims, "parameter"),
        f"({unit}) per parameter unit",
    )
    assert list(slope["parameter"].values) == PARAMETERS
    assert list(slope["parameter_unit"].values) == ["m", "kg", "rad/s"]


@pytest.mark.parametrize(
    ("kind", "name", "dims", "unit"),
    [
        ("position", "P", ("time", "component"), "m"),
        ("rotation", "swing", ("time", "row", "column"), "1"),
        ("angular_velocity", "swing", ("time", "component"), "rad/s"),
        ("angular_velocity", "P", ("time",), "rad/s"),
        ("angular_acceleration", "swing", ("time", "component"), "rad/s²"),
        ("angular_acceleration", "P", ("time",), "rad/s²"),
        ("angle", "O", ("time",), "rad"),
        ("displacement", "O", ("time",), "m"),
        ("displacement_rate", "O", ("time",), "m/s"),
        ("reaction", "P", ("time", "component"), "N"),
        ("reaction_torque", "P", ("time", "component"), "N·m"),
    ],
)
def test_labels_in_space(
    kind: str, name: str, dims: tuple[str, ...], unit: str, spatial: vm.Run
) -> None:
    array = getattr(spatial, kind)(name)
    assert (array.dims, array.attrs["units"]) == (dims, unit)
    for dim in dims[1:]:
        assert list(array[dim].values) == ["x", "y", "z"]
    assert getattr(spatial, kind)(name, wrt="mass").dims == dims


def test_rotation_has_the_body_axes_as_columns(spatial: vm.Run) -> None:
    R = spatial.rotation("sleeve")
    arm = (spatial.position("P") - spatial.position("sleeve.O")) / 0.5
    assert R.sel(column="x").values == pytest.approx(arm.values, abs=1e-12)
    assert R.isel(time=-1).values @ R.isel(time=-1).values.T == pytest.approx(np.eye(3), abs=1e-12)


def test_bodies_turn_about_the_axis_of_their_joint(spatial: vm.Run, tmp_path: Path) -> None:
    for run in (spatial, vm.load_run(spatial.save(tmp_path / "run.nc"))):
        for kind in ("angular_velocity", "angular_acceleration"):
            body, joint = getattr(run, kind)("sleeve"), getattr(run, kind)("O")
            assert body.sel(component=["x", "y"]).values == pytest.approx(0, abs=1e-9)
            assert body.sel(component="z").values == pytest.approx(joint.values, abs=1e-9)


def test_rotation_in_the_plane(planar: vm.Run, loaded: vm.Run) -> None:
    θ = planar.angle("rod").values
    expected = np.array([[np.cos(θ), -np.sin(θ)], [np.sin(θ), np.cos(θ)]]).transpose(2, 0, 1)
    for run in (planar, loaded):
        assert run.rotation("rod").transpose("time", "row", "column").values == pytest.approx(
            expected, abs=1e-9
        )


# values


def test_outputs_of_a_driven_rod(rotor: vm.Gradient) -> None:
    run, t = rotor.run, rotor.run.time
    e, n = turning(t)
    weight = np.array([0, -M * G])
    for computed, expected in [
        (run.position("tip"), L * e),
        (run.velocity("tip"), L * W * n),
        (run.acceleration("tip"), -L * W**2 * e),
        (run.angular_velocity("rod"), W + 0 * t),
        (run.angular_acceleration("rod"), 0 * t),
        (run.reaction("O"), M * (-L / 2 * W**2 * e) - weight),
        (run.effort("motor"), M * G * L / 2 * e[:, 0]),
        (run.energy("kinetic"), M * L**2 / 3 * W**2 / 2 + 0 * t),
        (run.energy("potential"), M * G * L / 2 * e[:, 1]),
        (run.energy(), M * L**2 / 3 * W**2 / 2 + M * G * L / 2 * e[:, 1]),
        (run.distance("tip", "Q"), np.linalg.norm(L * e - [0, -2], axis=1)),
    ]:
        assert computed.values == pytest.approx(
            expected, abs=1e-9 * max(1.0, np.abs(expected).max())
        )


def test_derivatives_of_a_driven_rod(rotor: vm.Gradient) -> None:
    run, t = rotor.run, rotor.run.time
    e, n = turning(t)
    T = t[:, None]
    reach = run.distance("tip", "Q").values
    for computed, expected in [
        (run.position("tip", wrt="L"), e),
        (run.position("tip", wrt="W"), T * L * n),
        (run.velocity("tip", wrt="W"), L * n - W * T * L * e),
        (run.acceleration("tip", wrt="L"), -(W**2) * e),
        (run.position("tip", wrt="M"), 0 * e),
        (run.angle("rod", wrt="W"), t),
        (run.reaction("O", wrt="M"), -L / 2 * W**2 * e + [0, G]),
        (run.effort("motor", wrt="L"), M * G / 2 * e[:, 0]),
        (run.energy("kinetic", wrt="L"), M * L * W**2 / 3 + 0 * t),
        (run.energy("potential", wrt="M"), G * L / 2 * e[:, 1]),
        (run.distance("tip", "Q", wrt="L"), (L + 2 * e[:, 1]) / reach),
    ]:
        assert computed.values == pytest.approx(
            expected, abs=1e-8 * max(1.0, np.abs(expected).max())
        )


def test_energy_kinds_add_up(planar: vm.Run) -> None:
    total = planar.energy("kinetic") + planar.energy("potential")
    assert planar.energy().values == pytest.approx(total.values, rel=1e-14)
    assert planar.energy("total").values == pytest.approx(planar.energy().values, rel=0)
    x = planar.displacement("rail").values
    heights = {"crank": 1, "rod": 2, "block": 3}
    lifted = sum(
        m * G * planar.position(f"{body}.com").sel(component="y").values
        for body, m in heights.items()
    )
    assert planar.energy("potential").values == pytest.approx(
        lifted + 40 / 2 * (x - 0.5) ** 2, rel=1e-12
    )


def test_angles_do_not_jump_over_many_turns(rotor: vm.Gradient) -> None:
    assert 6 * 2 * math.pi < W * DURATION
    for name in ("rod", "O"):
        assert rotor.run.angle(name).values == pytest.approx(W * rotor.run.time, abs=1e-9)


def test_angles_with_few_stored_steps() -> None:
    run = driven_rod().simulate(1.0, step=0.01, every=10)
    assert W * np.diff(run.time).min() > math.pi
    assert run.angle("rod").values == pytest.approx(W * run.time, abs=1e-9)


def test_angles_at_some_rows_keep_their_turns() -> None:
    m = vm.Mechanism("rotor", gravity=(0, 0))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=M)
    m.revolute("O")
    m.drive_angle("motor", "rod", lambda t: 20 * t**3)  # rates at both ends would tell 30 rad
    m.start()
    run = m.simulate(1.0, step=STEP)
    assert run.at_rows(np.array([0, 100])).angle("rod").to_numpy() == pytest.approx([0.0, 20.0])


def test_angles_do_not_jump_in_space() -> None:
    m = vm.Mechanism("wheel", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("wheel", mass=1, inertia=(1, 1, 1), points={"O": (0, 0, 0)})
    m.revolute("O", axis=(1, 1, 0))
    m.start(angle={"O": 0.5}, speed={"O": -25.0})
    run = m.simulate(1.0, step=0.01, coordinates="natural")
    # the trapezoidal rule turns by 2 atan(ωh/2) a step
    assert run.angle("O").values == pytest.approx(
        0.5 - 2 * math.atan(25 * 0.005) / 0.01 * run.time, abs=1e-6
    )


@pytest.mark.parametrize("every", [4, np.int64(4)], ids=["int", "int64"])
def test_every_so_many_steps_are_stored_and_the_last(every: int) -> None:
    m = driven_rod()
    run = m.simulate(0.1, step=0.01, every=every)
    assert run.time == pytest.approx([0, 0.04, 0.08, 0.1])
    assert run.position("tip").values == pytest.approx(
        m.simulate(0.1, step=0.01).position("tip").values[[0, 4, 8, 10]], rel=1e-14
    )


def test_the_step_is_shortened_to_divide_the_run() -> None:
    run = driven_rod().simulate(0.1, step=0.03)
    assert run.info["steps"] == 4
    assert run.time == pytest.approx([0, 0.025, 0.05, 0.075, 0.1])


# wrt


def test_wrt_takes_a_name_a_parameter_a_list_or_all(rotor: vm.Gradient) -> None:
    run = rotor.run
    everything = run.velocity("tip", wrt="all")
    assert everything.dims == ("time", "component", "parameter")
    one = run.velocity("tip", wrt="W")
    assert one.dims == ("time", "component")
    assert str(one["parameter"].item()) == "W"
    assert one.values == pytest.approx(everything.sel(parameter="W").values, rel=0)
    assert run.velocity("tip", wrt=driven_rod().parameters["W"]).identical(one)
    some = run.velocity("tip", wrt=["W", "L"])
    assert list(some["parameter"].values) == ["W", "L"]
    assert some.values == pytest.approx(everything.values[..., [2, 0]], rel=0)


def test_a_sensitivity_takes_all_parameters_by_default_or_by_word() -> None:
    for wrt in (None, "all"):
        assert (
            driven_rod().sensitivity(wrt=wrt, duration=0.02, step=0.01).run.parameter_names
            == PARAMETERS
        )


def test_only_the_parameters_asked_for(rotor: vm.Gradient) -> None:
    few = driven_rod().sensitivity({"height": HEIGHT}, ["W", "L"], duration=DURATION, step=STEP)
    assert few.run.parameter_names == ["W", "L"]
    assert few.gradient.values == pytest.approx(
        rotor.gradient.sel(objective=["height"], parameter=["W", "L"]).values, rel=1e-12
    )
    assert few.run.position("tip", wrt="L").values == pytest.approx(
        rotor.run.position("tip", wrt="L").values, rel=1e-12
    )
    with pytest.raises(
        vm.ModelError, match="no parameter of this run is called 'M'; known: 'L', 'W'"
    ):
        few.run.position("tip", wrt="M")


def test_wrt_needs_a_differentiated_run(plain: vm.Run) -> None:
    assert plain.parameter_names == []
    for call in (
        lambda: plain.position("tip", wrt="L"),
        lambda: plain.energy(wrt="all"),
        lambda: plain.distance("tip", "Q", wrt="L"),
    ):
        with pytest.raises(
            vm.ModelError,
            match=r"not differentiated; get one from Mechanism\.sensitivity",
        ):
            call()


# custom measures


def test_custom_outputs(rotor: vm.Gradient) -> None:
    run, t = rotor.run, rotor.run.time
    e, n = turning(t)
    power = run.measure(
        lambda s: s.effort("motor") * s.angular_velocity("rod"), name="power", unit="W"
    )
    assert (power.name, power.dims, power.attrs["units"]) == ("power", ("time",), "W")
    assert power.values == pytest.approx(M * G * L / 2 * e[:, 0] * W, abs=1e-8)
    momentum = run.measure(lambda s: M * s.velocity("rod.com"), unit="N·s")
    assert (momentum.name, momentum.dims, list(momentum["component"].values)) == (
        "output",
        ("time", "component"),
        ["x", "y"],
    )
    assert momentum.values == pytest.approx(M * L / 2 * W * n, abs=1e-9)
    mixed = run.measure(lambda s: [s.time, s.angular_velocity("rod"), s.distance("O", "tip")])
    assert mixed.values == pytest.approx(np.stack([t, W + 0 * t, L + 0 * t], axis=1), abs=1e-9)
    rate = run.measure(lambda s: s.rate(s.position("tip")[0]))
    assert rate.values == pytest.approx(run.velocity("tip").sel(component="x").values, abs=1e-12)
    assert run.measure(lambda s: 2 * s.parameter("L")).values == pytest.approx(
        2 * L + 0 * t, rel=1e-15
    )
    assert run.measure(lambda s: 3.0).values == pytest.approx(3 + 0 * t, rel=0)
    assert run.measure('M*velocity("rod.com")').values == pytest.approx(momentum.values, rel=1e-12)


def test_custom_outputs_of_any_size(plain: vm.Run) -> None:
    four = plain.measure(lambda s: [s.time, 1.0, 2.0, 3 * s.time])
    assert (four.dims, four.shape) == (("time", "component"), (11, 4))
    assert four.values == pytest.approx(
        np.stack([plain.time, 1 + 0 * plain.time, 2 + 0 * plain.time, 3 * plain.time], axis=1)
    )
    matrix = plain.measure(lambda s: s.rotation("rod"))
    assert matrix.sizes["time"] == 11
    e, n = turning(plain.time)
    assert matrix.values == pytest.approx(
        np.concatenate([e, n], axis=1), abs=1e-9
    )  # column by column


def test_derivatives_of_custom_outputs(rotor: vm.Gradient) -> None:
    run, t = rotor.run, rotor.run.time
    power = run.measure(
        lambda s: s.effort("motor") * s.angular_velocity("rod"),
        wrt=["L", "M"],
        name="power",
        unit="W",
    )
    assert (power.name, power.dims, power.attrs["units"]) == (
        "power_wrt",
        ("time", "parameter"),
        "(W) per parameter unit",
    )
    c = np.cos(W * t)
    assert power.values == pytest.approx(
        np.stack([M * G / 2 * c * W, G * L / 2 * c * W], axis=1), abs=1e-7
    )
    direct = run.measure(lambda s: s.parameter("M") * s.time, wrt="M")
    assert direct.values == pytest.approx(t, abs=1e-15)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (3.0, "an output needs a function of the state, such as lambda s: s.energy; got 3.0"),
        (lambda s: "tip", "output 'odd' returned 'tip', which is neither a number nor a vector"),
        (lambda s: None, "output 'odd' returned None"),
        (lambda s: s.position("tpi"), "no point is called 'tpi'; did you mean 'tip'"),
        (
            lambda s: driven_rod().parameters["M"] * s.time,
            "output 'odd' uses 'M' of another mechanism, which mechanism 'rotor' does not have",
        ),
    ],
)
def test_custom_outputs_that_make_no_sense(function: Any, words: str, plain: vm.Run) -> None:
    with pytest.raises(vm.ModelError) as caught:
        plain.measure(function, name="odd")
    assert words in str(caught.value)


# files and tables


@pytest.mark.parametrize("which", ["planar", "spatial", "flexible"])
def test_a_saved_run_has_every_output(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    live: vm.Run = request.getfixturevalue(which)
    path = live.save(tmp_path / "run.nc")
    assert path == tmp_path / "run.nc"
    loaded = vm.load_run(path)
    assert loaded.time == pytest.approx(live.time, rel=0)
    assert loaded.parameter_names == live.parameter_names
    assert {key: loaded.info[key] for key in live.info} == live.info
    assert repr(loaded) == repr(live)
    in_beams, in_space = (
        {"axial_force", "bending_moment"},
        {"body_angular_velocity", "body_angular_acceleration"},
    )
    missing = {
        "planar": in_beams | in_space,
        "spatial": in_beams,
        "flexible": {"displacement", "displacement_rate", "effort", "multiplier"} | in_space,
    }[which] | {"state", "signal", "deviation"}
    compared = set()
    for kind, what in OUTPUTS.items():
        for name in live.names_of(what.of) if kind not in missing else ():
            for wrt in (None, "all", live.parameter_names[0], live.parameter_names[:1]):
                a, b = live._output(kind, name, wrt), loaded._output(kind, name, wrt)
                assert (a.dims, a.attrs["units"], a.name) == (b.dims, b.attrs["units"], b.name)
                assert a.values == pytest.approx(b.values, rel=0, nan_ok=True)
            compared.add(kind)
    assert compared == set(OUTPUTS) - missing
    for run in (live, loaded):
        assert set(run.dataset) == compared | {f"{kind}_wrt" for kind in compared}


def test_a_saved_run_knows_short_names(planar: vm.Run, loaded: vm.Run) -> None:
    for name in ("B", "rod.B", "crank.B"):
        assert loaded.position(name).values == pytest.approx(
            planar.position(name).values, rel=0, abs=1e-15
        )
        full = "crank.B" if name == "B" else name
        assert [str(run.position(name)["point"].item()) for run in (planar, loaded)] == [full, full]
    assert loaded.distance("A", "C").values == pytest.approx(
        planar.distance("A", "C").values, rel=1e-15
    )
    slope = planar.distance("A", "C", wrt="crank")
    assert loaded.distance("A", "C", wrt="crank").values == pytest.approx(
        slope.values, rel=1e-12, abs=1e-15
    )


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("position", "CC", "no point is called 'CC'; did you mean 'C'"),
        ("angle", "rodd", "is called 'rodd'; did you mean 'rod'"),
        ("reaction", "rial", "no joint is called 'rial'; did you mean 'rail'"),
        ("effort", "moter", "no driver is called 'moter'; did you mean 'motor'"),
        ("energy", "kinetc", "no kind of energy is called 'kinetc'; did you mean 'kinetic'"),
    ],
)
def test_unknown_names_in_a_saved_run(kind: str, name: str, words: str, loaded: vm.Run) -> None:
    with pytest.raises(vm.ModelError) as caught:
        getattr(loaded, kind)(name)
    assert words in str(caught.value)


def test_what_a_saved_run_cannot_do(plain: vm.Run, loaded: vm.Run, tmp_path: Path) -> None:
    undifferentiated = vm.load_run(plain.save(tmp_path / "plain.nc"))
    assert undifferentiated.parameter_names == []
    with pytest.raises(
        vm.ModelError,
        match="a run read from a file has only its saved outputs; run the mechanism again",
    ):
        loaded.measure(lambda s: s.energy)
    with pytest.raises(vm.ModelError, match="not differentiated"):
        undifferentiated.position("tip", wrt="L")
    with pytest.raises(
        vm.ModelError, match="no parameter of this run is called 'cranck'; did you mean 'crank'"
    ):
        loaded.position("C", wrt="cranck")


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # of h5netcdf, which closes what did not open
@pytest.mark.parametrize("of", [b'"mechanism"', b"_Netcdf4Dimid", b"REFERENCE_LIST"])
def test_a_damaged_file_is_reported(of: bytes, plain: vm.Run, tmp_path: Path) -> None:
    """In what Varimech says of the run, and in what HDF5 says of its variables."""
    path = plain.save(tmp_path / "run.nc")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(of, bytes(255 - byte for byte in of)))
    with pytest.raises(vm.ModelError, match=r"run\.nc' is not a saved run"):
        vm.load_run(path)


def test_files_that_are_no_runs(tmp_path: Path) -> None:
    with pytest.raises(vm.ModelError, match=r"there is no file '.*nothing\.nc'"):
        vm.load_run(tmp_path / "nothing.nc")
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(vm.ModelError, match=r"file '.*text\.nc' is not a saved run"):
        vm.load_run(tmp_path / "text.nc")
    xr.Dataset({"x": ("t", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(vm.ModelError, match=r"file '.*other\.nc' is not a saved run"):
        vm.load_run(tmp_path / "other.nc")


def test_the_file_is_plain_netcdf(planar: vm.Run, tmp_path: Path) -> None:
    data = xr.load_dataset(planar.save(tmp_path / "run.nc"), engine="h5netcdf")
    assert data["position"].dims == ("time", "point", "component")
    assert data["position"].attrs["units"] == "m"
    assert data["rotation"].dims == ("time", "body", "row", "column")
    assert data["position_wrt"].sel(point="block.C", parameter="crank").values == pytest.approx(
        planar.position("block.C", wrt="crank").values, rel=0
    )
    assert data["energy"].sel(energy_kind="total").values == pytest.approx(
        planar.energy().values, rel=0
    )


def test_table_of_all_outputs(rotor: vm.Gradient, plain: vm.Run) -> None:
    table = rotor.run.to_dataframe()
    assert table.index.name == "time"
    assert table.index.to_numpy() == pytest.approx(rotor.run.time, rel=0)
    for column, expected in {
        "position rod.tip x": rotor.run.position("tip").sel(component="x"),
        "position_wrt rod.tip y W": rotor.run.position("tip", wrt="W").sel(component="y"),
        "angle rod": rotor.run.angle("rod"),
        "reaction O y": rotor.run.reaction("O").sel(component="y"),
        "effort motor": rotor.run.effort("motor"),
        "energy kinetic": rotor.run.energy("kinetic"),
        "energy_wrt total M": rotor.run.energy(wrt="M"),
    }.items():
        assert table[column].to_numpy() == pytest.approx(expected.values, rel=0)
    assert not any("_wrt" in str(column) for column in plain.to_dataframe().columns)


def test_table_of_rotations(spatial: vm.Run) -> None:
    table = spatial.to_dataframe()
    expected = spatial.rotation("swing").sel(row="x", column="z").values
    assert table["rotation swing x z"].to_numpy() == pytest.approx(expected, rel=0)


# the model may change after a run


def test_a_run_keeps_its_results_when_the_model_changes(plain: vm.Run) -> None:
    m = driven_rod()
    run = m.simulate(0.1, step=STEP)
    m.force("push", "tip", (100, 0))
    m.spring("coil", "tip", "Q", stiffness=1e3, natural_length=0)
    for changed, kept in (
        (run.reaction("O"), plain.reaction("O")),
        (run.effort("motor"), plain.effort("motor")),
        (run.energy(), plain.energy()),
    ):
        assert changed.values == pytest.approx(kept.values, rel=1e-12, abs=1e-12)


def test_a_run_can_be_saved_after_the_model_has_grown(plain: vm.Run, tmp_path: Path) -> None:
    m = driven_rod()
    run = m.simulate(0.1, step=STEP)
    m.bar("second", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    loaded = vm.load_run(run.save(tmp_path / "run.nc"))
    assert set(loaded.dataset["point"].values) == set(plain.dataset["point"].values)
    for one in (run, loaded):
        with pytest.raises(vm.ModelError, match="no point is called 'end'"):
            one.position("end")


def test_a_run_keeps_its_points_when_the_model_gets_more(plain: vm.Run, tmp_path: Path) -> None:
    m = driven_rod()
    run = m.simulate(0.1, step=STEP)
    m.point("rod", "mid", (m.parameter("x", 0.3), 0))
    m.ground_point("tip", (5, 5))
    assert run.position("tip").values == pytest.approx(plain.position("tip").values, rel=0)
    loaded = vm.load_run(run.save(tmp_path / "run.nc"))
    assert set(loaded.dataset["point"].values) == set(plain.dataset["point"].values)


# gradients


def test_gradient_labels(rotor: vm.Gradient) -> None:
    assert (rotor.method, rotor.sweep) == ("direct", None)
    assert rotor.values.dims == ("objective",)
    assert rotor.gradient.dims == ("objective", "parameter")
    history = rotor.history
    assert (history["value"].dims, history["gradient"].dims) == (
        ("time", "objective"),
        ("time", "objective", "parameter"),
    )
    assert list(history["objective"].values) == ["height", "work"]
    assert list(history["objective_unit"].values) == ["m", "J"]
    assert list(history["parameter"].values) == PARAMETERS
    assert list(history["parameter_unit"].values) == ["m", "kg", "rad/s"]
    assert history["time"].attrs["units"] == "s"
    assert set(rotor.seconds) == {"build", "run"}


def test_gradient_values(rotor: vm.Gradient) -> None:
    t, e, n = rotor.time, *turning(rotor.time)
    history = rotor.history
    assert history["value"].sel(objective="height").values == pytest.approx(L * e[:, 1], abs=1e-9)
    derivatives = history["gradient"].sel(objective="height").values
    assert derivatives == pytest.approx(
        np.stack([e[:, 1], 0 * t, t * L * n[:, 1]], axis=1), abs=1e-8
    )
    # the trapezoidal rule on the steps of the run
    power = M * G * L / 2 * W * e[:, 0]
    work = np.concatenate([[0.0], np.cumsum(STEP / 2 * (power[1:] + power[:-1]))])
    assert history["value"].sel(objective="work").values == pytest.approx(work, abs=1e-8)
    assert history["gradient"].sel(objective="work", parameter="M").values == pytest.approx(
        work / M, abs=1e-8
    )
    assert (
        rotor.values.sel(objective="work").item()
        == history["value"].sel(objective="work").values[-1]
    )
    assert rotor.gradient.values == pytest.approx(history["gradient"].values[-1], rel=0)


def test_gradient_table_and_text(rotor: vm.Gradient) -> None:
    table = rotor.to_dataframe()
    assert (list(table.index), table.index.name) == (["height", "work"], "objective")
    assert (list(table.columns), table.columns.name) == (PARAMETERS, "parameter")
    assert table.loc["work", "L"] == rotor.gradient.sel(objective="work", parameter="L").item()
    text = repr(rotor)
    assert text.startswith("<Gradient") and "direct" in text.splitlines()[0]
    for word in (*PARAMETERS, "height", "work"):
        assert word in text


def test_objectives_without_names() -> None:
    m = driven_rod()
    assert list(m.sensitivity(HEIGHT, duration=0.02, step=0.01).objective_names) == ["psi1"]
    both = m.sensitivity([HEIGHT, WORK], "L", duration=0.02, step=0.01)
    assert list(both.to_dataframe().index) == ["psi1", "psi2"]
    total = m.sensitivity({"sum": HEIGHT + WORK}, "L", duration=0.02, step=0.01)
    assert total.values.item() == pytest.approx(both.values.sum().item(), rel=1e-12)
    assert total.gradient.item() == pytest.approx(both.gradient.sum().item(), rel=1e-12)
    none = m.sensitivity(wrt="L", duration=0.02, step=0.01)
    assert (none.values.size, none.gradient.shape) == (0, (0, 1))


def test_sweep_of_finite_differences() -> None:
    m = driven_rod()
    steps = (1e-3, 1e-4, 1e-5)
    exact = m.sensitivity({"height": HEIGHT, "work": WORK}, ["L", "W"], duration=0.1, step=0.01)
    gradient = m.sensitivity(
        {"height": HEIGHT, "work": WORK},
        ["L", "W"],
        duration=0.1,
        step=0.01,
        method="finite-difference",
        relative_steps=steps,
    )
    assert gradient.method == "finite-difference" and "finite-difference" in repr(gradient)
    assert gradient.sweep is not None
    assert gradient.sweep.dims == ("relative_step", "objective", "parameter")
    assert gradient.sweep["relative_step"].values == pytest.approx(steps, rel=0)
    assert list(gradient.sweep["objective"].values) == ["height", "work"]
    assert list(gradient.sweep["parameter"].values) == ["L", "W"]
    error = abs(gradient.sweep - exact.gradient).sel(objective="work", parameter="W").values
    assert error[1] < 0.02 * error[0]  # of second order
    assert gradient.gradient.values == pytest.approx(exact.gradient.values, rel=1e-7, abs=1e-9)
    assert gradient.history["gradient"].values == pytest.approx(
        exact.history["gradient"].values, rel=1e-6, abs=1e-8
    )
    assert gradient.run.position("tip", wrt="W").values == pytest.approx(
        exact.run.position("tip", wrt="W").values, rel=1e-6, abs=1e-8
    )


# text


def test_text_of_a_run_and_of_a_mechanism(plain: vm.Run) -> None:
    text = repr(plain)
    assert text.startswith("<Run of 'rotor': 0.1 s in 10 steps of 0.01 s, ALI3-P, trapezoidal rule")
    assert "residuals" in text
    assert (
        repr(driven_rod())
        == "<Mechanism 'rotor': planar, 1 rigid body, 1 joint, 1 driver, 3 parameters>"
    )
    assert repr(driven_rod().parameters["L"]) == "Parameter('L', 0.8, unit='m')"


def test_what_a_run_reports_about_itself() -> None:
    info = driven_rod().simulate(0.1, step=0.01, parameters={"L": 0.9}).info
    assert (info["mechanism"], info["steps"], info["step"]) == ("rotor", 10, 0.01)
    assert info["parameters"] == {"L": 0.9, "M": M, "W": W}
    assert len(info["residuals"]) == 3 and max(info["residuals"]) < 1e-9
    assert info["iterations"] >= 10
    assert {"varimech", "casadi", "numpy"} <= set(info["versions"])


def test_only_the_outer_of_two_progress_bars_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    shown: list[str] = []
    real = Progress.add_task

    def add_task(self: Progress, label: str, **options: Any) -> Any:
        shown.append(label)
        return real(self, label, **options)

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(Progress, "add_task", add_task)
    with progress.progress_bar("outer", 1.0, True) as tell:
        tell(0.5)
        with progress.progress_bar("inner", None, True) as tell_too:
            tell_too(0)
    with progress.progress_bar("later", None, True) as tell:
        tell(0)
    assert shown == ["outer", "later"]
