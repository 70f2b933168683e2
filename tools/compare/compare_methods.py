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

A method combines a formulation, which enforces the constraints, with an integrator, which advances time. Select both by name; `varimech methods`
lists them. Varimech rejects invalid combinations and suggests a valid one.

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

- **The default** suits most mechanisms. It adapts its steps to a tolerance, satisfies the constraints exactly and has a high order. It supports
  redundant constraints, drivers and massless parts, passes through singular positions, and is fast enough for moderately stiff mechanisms.
- **A fixed step** (`step=…`) suits stiff forces that need not be resolved, real-time applications, and energy conservation over very long
  runs. `hht` and `generalised-alpha` damp vibrations that the step cannot resolve; the trapezoidal rule does not.
- **Beams** have axial vibrations that are much faster than all other motion. For many segments or long runs, use `step=`: a fixed step need not
  resolve these vibrations. For few segments and high accuracy, use a tolerance ([flexible.md](flexible.md) lists steps and errors).
- **`dopri5`** suits coarse tolerances and forces with kinks.
- **`cvodes`, `idas`** suit forces that are too stiff for explicit integrators, if you need a tolerance. Their derivatives are those
  of the continuous problem, accurate to the tolerance; they are not the exact derivatives of the discrete solution.
  Varimech scales their variables with the motion, so that a tolerance has the same meaning for a watch and for a crane. It keeps the ω of the
  stabilisation between 1 and 5 times the rate of the motion (speed divided by the size of the mechanism). A run stops with an error if it steps
  over a singular position, or needs more than 20,000 steps between two stored results.
- **`independent`, `index1-stabilised`, `penalty`** are intended for comparison with programs that use them, and for independent checks.

With adaptive steps, derivatives are exact for the steps that the run has chosen: they do not include the dependence of the steps on the parameters.
`method="finite-difference"` uses the same steps in all perturbed runs.

You can also select the coordinates: `natural`, or relative coordinates along a spanning tree, `rtdyn0` and `rtdyn1`. By default (`auto`), Varimech
selects them according to the topology of the mechanism. The results are the same; [coordinates.md](coordinates.md) compares the speed.
"""
MEASURED = """\
## Cost of accuracy

The table shows the time, in milliseconds, of a whole compiled run that reaches a given error (CVODES and IDAS call an interpreted right-hand side). The error is the largest position error of any point at 50 instants, divided by the largest coordinate. "–" means that no setting tried reached the error, stopped with an
error message, or took longer than 8 s. The first column is the default method. `python tools/compare/compare.py methods` repeats these measurements, and
`make compare` repeats those of all pages.
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
