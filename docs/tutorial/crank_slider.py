"""A crank-slider with a spring, released from rest: the mechanism of the tutorial."""

import varimech as vm


def crank_slider() -> vm.Mechanism:
    """Crank of 100 mm, rod of 250 mm, and a slider that a spring pushes away from the pivot."""
    m = vm.Mechanism("crank-slider", gravity=(0, -9.81))  # two components: planar
    crank = m.parameter("crank", 0.10, unit="m", bounds=(0.05, 0.15))
    rod = m.parameter("rod", 0.25, unit="m", bounds=(0.2, 0.4))
    stiffness = m.parameter("stiffness", 200.0, unit="N/m", bounds=(0, None))

    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=crank, mass=0.5)
    m.bar("rod", "P", "S", length=rod, mass=0.8)
    m.body("slider", mass=1.2, inertia=1e-3, points={"S": (0, 0)})
    m.revolute("O")  # connects the two bodies with a point "O": ground and crank
    m.revolute("P")
    m.revolute("S")
    m.prismatic("guide", "ground.O", "slider.S", axis=(1, 0))
    m.spring("spring", "ground.O", "slider.S", stiffness=stiffness, natural_length=0.3)
    # one degree of freedom needs one initial value; assembly computes the rest
    m.start(angle={"crank": 1.0}, near={"S": (0.3, 0)})
    return m
