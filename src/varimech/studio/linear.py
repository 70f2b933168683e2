"""Small motions of a design: its modes, an animation of one of them, and the root locus over the
range of a slider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, VarimechError, unknown_name
from ..plotting.figure import COLOURS
from ..sensitivity.stability_objective import PLACES
from ..web.animation import moving
from .messages import Message

if TYPE_CHECKING:
    from .engine import Engine

CYCLE = 2.0
"""Duration (s) of a cycle on the screen, whatever the period of the mode: slow enough to be
visible.
"""
UNSEEN = 1e-12
"""Amplitude (m) of the grey reference drawing, the motion about which a mode oscillates: invisibly
small.
"""
POINTS = 21
"""Number of parameter values in a root locus: branches are followed between them, and look smooth.
"""


@dataclass(frozen=True)
class LinearChoice:
    """Selection of the pages for small motions."""

    at: str = "equilibrium"
    mode: int | None = None
    """The animated mode."""
    parameter: str | None = None
    """Parameter of the root locus; the first one if not given."""

    def changed(self, known: Mapping[str, object], **choice: Any) -> LinearChoice:
        """Return another selection.

        Raises:
            ModelError: for a selection that does not exist.
        """
        new = replace(self, **choice)
        if new.at not in PLACES:
            raise unknown_name("place", str(new.at), PLACES)
        if new.mode is not None and (type(new.mode) is not int or new.mode < 1):
            raise ModelError("must be a number from 1 on", field="mode", value=new.mode)
        if choice.get("parameter") is not None and new.parameter not in known:
            raise unknown_name("parameter", str(new.parameter), known)
        return new


def modes_message(engine: Engine, values: Mapping[str, float], choice: LinearChoice) -> Message:
    """Modes of a design, or the reason why there are none."""
    message = Message("modes", at=choice.at)
    try:
        modes = engine.mechanism.modes(choice.at, parameters=values)
        number = choice.mode if choice.mode and choice.mode <= modes.values.size else None
        shown = None if number is None else modes.motion(number, seconds=CYCLE)
        still = None if number is None else modes.motion(number, seconds=CYCLE, amplitude=UNSEEN)
    except VarimechError as error:
        message.content["refused"] = str(error)
        return message
    data = modes.dataset
    columns = [data[n].to_numpy() for n in ("growth_rate", "frequency", "damping_ratio")]
    rows = [
        dict(zip(("growth", "frequency", "damping"), map(float, row), strict=True))
        for row in zip(*columns, strict=True)
    ]
    message.content.update(modes=rows, mode=number, steady=modes.steady)
    if shown is not None:
        message.content["animation"] = moving(shown, [], still, encode=message.single, loads=False)
    return message


def locus_message(engine: Engine, values: Mapping[str, float], choice: LinearChoice) -> Message:
    """Eigenvalues over the range of the slider of a parameter, with all other parameters unchanged."""
    sliders = {str(p["name"]): p for p in engine.parameters}
    name = choice.parameter if choice.parameter in sliders else next(iter(sliders), None)
    message = Message("locus", at=choice.at, parameter=name)
    if name is None:
        message.content["refused"] = "there are no parameters"
        return message
    slider: Mapping[str, Any] = sliders[name]
    span = (float(slider["low"]), float(slider["high"]), POINTS)
    others = {n: x for n, x in values.items() if n != name}
    try:
        locus = engine.mechanism.root_locus(
            name, span, at=choice.at, parameters=others, progress=False
        )
    except VarimechError as error:
        message.content["refused"] = str(error)
        return message
    λ = locus.branches.eigenvalues
    message.content.update(
        unit=slider["unit"],
        ends=span[:2],
        branches=[
            {
                "growth": message.double(branch.real),
                "frequency": message.double(branch.imag / (2 * np.pi)),
                "colour": COLOURS[k % len(COLOURS)],
            }
            for k, branch in enumerate(locus.branches.broken(λ).T)
        ],
        jumps=[list(locus.values[row - 1 : row + 1]) for row in locus.branches.jumps],
        crossings=[
            {"value": c.value, "frequency": c.eigenvalue.imag / (2 * np.pi)} for c in locus.places
        ],
    )
    return message
