"""One mechanism for each joint, with a geometric parameter p of this joint, its reference motion,
and the residuals of its conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from joint_conditions import (
    DOWN,
    at,
    disoriented,
    gap,
    misaligned,
    off_length,
    off_line,
    off_plane,
    off_square,
    vec,
)
from joint_motions_in_plane import (
    build_double_pendulum,
    build_pin_in_slot,
    build_rod_pendulum,
    build_welded_pendulum,
    double_pendulum,
    pin_in_slot,
    rod_pendulum,
    welded_pendulum,
)
from joint_motions_in_space import (
    CROSS_ON_BODY,
    FIXED_TURN,
    OWN_AXIS,
    PLANE,
    RAIL,
    SLIDER_TURN,
    TILTED,
    ball,
    bead,
    block,
    build_ball,
    build_bead,
    build_block,
    build_cross,
    build_flying_weld,
    build_on_plane,
    build_on_rod,
    build_planar_slider,
    build_plate,
    build_spatial_slider,
    build_threaded,
    build_tilted_hinge,
    build_tilted_screw,
    build_tilted_sleeve,
    cross,
    flying_weld,
    on_plane,
    on_rod,
    on_tilted_axis,
    on_tilted_screw,
    plate,
    slider,
    threaded,
)
from newton_euler import Array, Z, turned

import varimech as vm

STEP = 1e-3
DURATION = 0.5


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism that tests a joint. `reference(p, times)` returns the positions of `points`, one
    after the other.
    """

    kind: str
    dimension: int
    dofs: int
    p: float
    points: tuple[str, ...]
    build: Callable[[vm.Mechanism, vm.Parameter], None]
    reference: Callable[[float, Array], Array]
    broken: Callable[[vm.Run, float], list[Array]]
    """Residuals of the conditions of the joint, from measured positions and rotations."""
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.dimension}d{self.note}"

    @cached_property
    def mechanism(self) -> vm.Mechanism:
        m = vm.Mechanism(self.name, gravity=tuple(DOWN[self.dimension][: self.dimension]))
        self.build(m, m.parameter("p", self.p))
        return m

    @cache  # noqa: B019 - cases live as long as the tests
    def run(self, h: float) -> vm.Run:
        return self.mechanism.simulate(DURATION, step=h, every=round(DURATION / 50 / h))

    def measured(self, run: vm.Run) -> Array:
        return np.hstack([at(run, p) for p in self.points])


# fmt: off
CASES = [
    # kind, dimension, DOF, p, measured points, builder, reference motion,
    #   residuals of the joint conditions
    Case("revolute", 2, 2, 0.5, ("one.B", "two.com"), build_double_pendulum, double_pendulum,
      lambda r, p: [gap(r, "ground.O", "one.O"), gap(r, "one.B", "two.B")]),
    Case("prismatic", 2, 2, 0.3, ("slider.com",), build_planar_slider, lambda p, times: slider(2, p, times),
      lambda r, p: [off_line(r, "bar.S", "slider.S", vec(1.0, p)), disoriented(r, "bar", "slider", SLIDER_TURN[2])]),
    Case("fixed", 2, 1, 0.4, ("b.tip",), build_welded_pendulum, welded_pendulum,
      lambda r, p: [gap(r, "a.W", "b.W"), disoriented(r, "a", "b", turned(Z, 0.7))]),
    Case("point-on-line", 2, 3, 0.05, ("pin.P", "pin.com"), build_pin_in_slot, pin_in_slot,
      lambda r, p: [off_line(r, "bar.S", "pin.P", vec(2.0, 0.6))]),
    Case("distance", 2, 2, 0.7, ("b.P", "b.com"), build_rod_pendulum, rod_pendulum,
      lambda r, p: [off_length(r, "ground.O", "b.P", p)]),
    Case("revolute", 3, 1, OWN_AXIS[0], ("b.tip",), build_tilted_hinge,
      lambda p, times: on_tilted_axis(TILTED, vec(p, -0.2, 1.0), 0.2, 0.4, None, times),
      lambda r, p: [gap(r, "ground.O", "b.O"), misaligned(r, "ground", "b", TILTED, vec(p, -0.2, 1.0))]),
    Case("prismatic", 3, 2, 0.2, ("slider.com",), build_spatial_slider, lambda p, times: slider(3, p, times),
      lambda r, p: [off_line(r, "bar.S", "slider.S", vec(1.0, p, 0.5)), disoriented(r, "bar", "slider", SLIDER_TURN[3])]),
    Case("fixed", 3, 6, 0.3, ("a.com", "b.end"), build_flying_weld, flying_weld,
      lambda r, p: [gap(r, "a.W", "b.W"), disoriented(r, "a", "b", FIXED_TURN)]),
    Case("point-on-line", 3, 4, 0.4, ("b.P", "b.tip"), build_bead, bead,
      lambda r, p: [off_line(r, "ground.O", "b.P", vec(1.0, p, 0.3))]),
    Case("point-on-line", 3, 4, 0.05, ("b.P", "b.tip"), build_threaded, threaded,
      lambda r, p: [off_line(r, "b.P", "ground.O", RAIL)], "-moving-line"),
    Case("distance", 3, 5, 0.8, ("b.P", "b.tip"), build_on_rod, on_rod,
      lambda r, p: [off_length(r, "ground.O", "b.P", p)]),
    Case("spherical", 3, 3, 0.05, ("b.P", "b.tip"), build_ball, ball,
      lambda r, p: [gap(r, "ground.O", "b.P")]),
    Case("cylindrical", 3, 2, TILTED[1], ("b.tip",), build_tilted_sleeve,
      lambda p, times: on_tilted_axis(vec(0.3, p, 1.0), OWN_AXIS, 0.3, 0.9, (0.2, 0.5), times),
      lambda r, p: [off_line(r, "ground.O", "b.O", vec(0.3, p, 1.0)), misaligned(r, "ground", "b", vec(0.3, p, 1.0), OWN_AXIS)]),
    Case("screw", 3, 1, 0.3, ("b.tip",), build_tilted_screw, on_tilted_screw,
      lambda r, p: [off_line(r, "ground.O", "b.O", TILTED), misaligned(r, "ground", "b", TILTED, TILTED),
                    r.displacement("thread").to_numpy() - p / (2 * np.pi) * r.angle("thread").to_numpy()]),
    Case("universal", 3, 2, CROSS_ON_BODY[0], ("b.tip",), build_cross, cross,
      lambda r, p: [gap(r, "ground.O", "b.O"), off_square(r, "ground", "b", TILTED, vec(p, 1.0, 0.2))]),
    Case("planar", 3, 4, PLANE[1], ("b.P", "b.tip"), build_block, block,
      lambda r, p: [off_plane(r, "table.S", "b.P", vec(0.2, p, 1.0)), misaligned(r, "table", "b", vec(0.2, p, 1.0), OWN_AXIS)]),
    Case("point-on-plane", 3, 5, -0.1, ("b.P", "b.tip"), build_on_plane, on_plane,
      lambda r, p: [off_plane(r, "ground.O", "b.P", vec(0.2, p, 1.0))]),
    Case("point-on-plane", 3, 5, 0.1, ("b.P", "b.tip"), build_plate, plate,
      lambda r, p: [off_plane(r, "b.P", "ground.O", PLANE)], "-moving-plane"),
]
# fmt: on
