"""Which formulation and integrator suit what, measured on all benchmarks; docs/methods.md."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from methods_side import ACCURACIES, MECHANISMS
from pages import DOCS, machine, markdown, number, run_side, show

from varimech.schemes import (
    COORDINATES,
    FORMULATIONS,
    INTEGRATORS,
    choose,
    formulations_of,
    integrators_of,
)

PAGE = DOCS / "methods.md"
CHOICE = f"""\
# Methods

A method combines a formulation, which enforces the constraints, with an integrator, which advances the motion in time. You can select both by name;
`varimech methods` lists them. Varimech rejects invalid combinations and suggests a valid one.

```python
import varimech as vm
from varimech.benchmarks import five_bar

m, objectives = five_bar.mechanism(), five_bar.objectives()
# {choose(1.0)[0].title}; tolerance 1e-8
m.simulate(0.5)
m.simulate(0.5, tolerance=1e-6)  # coarser; output=0.01 sets the interval of stored results
m.simulate(0.5, step=1e-3)  # {choose(1.0, step=0.1)[0].title}
m.simulate(0.5, step=1e-3, integrator="generalised-alpha")
m.simulate(0.5, integrator="dopri5", formulation="independent")
m.simulate(0.5, step=1e-3, formulation=vm.Penalty(factor=1e8, omega=20))
m.simulate(0.5, coordinates="rtdyn1")
m.sensitivity(objectives, duration=0.5, method="composite")  # a second derivative method
# a third one, without derivative code; at the end of the run only
m.sensitivity(objectives, duration=0.5, method="complex-step")
m.sensitivity(objectives, duration=0.5).certify()  # compares all of them: docs/certificate.md
```

How to choose:

- **The default** suits most mechanisms. It has a high order, adapts its steps to a tolerance, and satisfies the constraints exactly. It supports
  redundant constraints, drivers and massless parts, passes through singular positions, and is fast enough for moderately stiff mechanisms.
- **A fixed step** (`step=…`) suits mechanisms with stiff forces whose fast vibrations need not be resolved, real-time applications, and very long
  runs that must conserve energy. The integrators `hht` and `generalised-alpha` damp vibrations that the step cannot resolve; the trapezoidal rule
  does not damp them.
- **Beams** have axial vibrations that are much faster than the rest of the motion. For beams with many segments or for long runs, use `step=…`,
  because a fixed step need not resolve these vibrations. For few segments and high accuracy, use a tolerance. [Flexible bars](flexible.md) lists
  steps and errors.
- **`dopri5`** suits coarse tolerances and forces with kinks.
- **`cvodes`, `idas`** suit forces that are too stiff for explicit integrators, if you need a tolerance. Their derivatives approximate the derivatives
  of the continuous problem to within the tolerance; they are not the exact derivatives of the discrete solution. Varimech scales the variables of
  these integrators with the motion, so that a tolerance has the same meaning for a watch and for a crane. It keeps the stabilisation parameter ω
  between 1 and 5 times the rate of the motion (the speed divided by the size of the mechanism). A run stops with an error if it steps over a singular
  position, or if it needs more than 20,000 steps between two stored results.
- **`independent`, `index1-stabilised`, `penalty`** are intended for comparison with programs that use them, and for independent checks.

With adaptive steps, derivatives are exact for the steps that the run has taken; they do not take into account that these steps depend on the
parameters. With `method="finite-difference"`, all perturbed runs use the same steps.

You can also select the coordinates: natural coordinates (`natural`), or relative coordinates along a spanning tree (`rtdyn0`, `rtdyn1`). By default
(`auto`), Varimech selects the coordinates according to the topology of the mechanism. All coordinates give the same results; the page
[Coordinates](coordinates.md) compares their speed.
"""
MEASURED = """\
## Cost of accuracy

How long does a run of a given accuracy take? The table shows the time, in milliseconds, of a complete compiled run that reaches a given error. The
error is the largest position error of any point at 50 instants, divided by the largest coordinate. The first column of times shows the default
method. CVODES and IDAS call an interpreted right-hand side. A dash means that no setting reached the error, because the runs were less accurate,
stopped with an error message, or took longer than 8 s. `python tools/compare/compare.py methods` repeats these measurements, and `make compare`
repeats the measurements of all pages.
"""


def listed(kind: str, schemes: Mapping[str, Any], pairs: dict[str, list[str]]) -> str:
    return markdown(
        [kind, "suits", "combines with"],
        [[f"`{n}`", schemes[n].suits, ", ".join(p)] for n, p in pairs.items()],
        3,
    )


def compare_methods() -> None:
    """Measure, print, and write the page."""
    report = run_side("methods", sys.executable, {})
    chosen = "index1 · dop853"
    methods = sorted(next(iter(report["mechanisms"].values())), key=lambda name: name != chosen)
    rows = [
        [
            f"{name}{f' ({MECHANISMS[name][1]})' if MECHANISMS[name][1] else ''}" if k == 0 else "",
            f"{accuracy:g}",
        ]
        + ["–" if times[method][k] is None else number(times[method][k]) for method in methods]
        for name, times in report["mechanisms"].items()
        for k, accuracy in enumerate(ACCURACIES)
    ]
    headings = ["benchmark", "error", *methods]
    show("Milliseconds to an accuracy", headings, rows, 2)
    formulations = {name: integrators_of(f) for name, f in FORMULATIONS.items()}
    integrators = {name: formulations_of(i) for name, i in INTEGRATORS.items()}
    parts = [
        CHOICE,
        "## Formulations\n",
        listed("formulation", FORMULATIONS, formulations),
        "## Integrators\n",
        listed("integrator", INTEGRATORS, integrators),
        "## Coordinates\n",
        markdown(
            ["coordinates", "suits"], [[f"`{name}`", c.suits] for name, c in COORDINATES.items()], 2
        ),
    ]
    parts += [MEASURED, markdown(headings, rows, 2), machine(report["versions"])]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
