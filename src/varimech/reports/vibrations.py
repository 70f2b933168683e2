"""Report section on modes: frequencies, damping, and their derivatives."""

from __future__ import annotations

from ..results.modes import Modes
from .tables import section, table


def modes_section(modes: Modes) -> str:
    """A table of all modes, slowest first."""
    d = modes.dataset
    head = ["mode", "frequency (Hz)", "damping ratio (%)", "growth rate (1/s)", "moves most"]
    most = abs(modes.shape_array).max(axis=2).argmax(axis=1)
    rows: list[list[object]] = [
        [
            k + 1,
            float(d["frequency"][k]),
            100 * float(d["damping_ratio"][k]),
            float(d["growth_rate"][k]),
            modes.point_names[point],
        ]
        for k, point in enumerate(most)
    ]
    if "frequency_derivative" in d:
        head += [f"∂f/∂{name}" for name in modes.parameter_names]
        for row, derivatives in zip(rows, d["frequency_derivative"].to_numpy(), strict=True):
            row += derivatives.tolist()
    lead = f"Small motions about {modes.at}, slowest first."
    if not modes.steady:
        lead += " The linear equations change along this motion: modes hold at its instant only."
    return section("modes", "Modes", table(head, rows), lead=lead)
