"""Varimech: mechanisms, their motion, and how every result changes when a number of the model
changes.
"""

from typing import TYPE_CHECKING, Any

__all__ = [
    "HHT",
    "AssemblyError",
    "Certificate",
    "Chaos",
    "Constraint",
    "DesignProblem",
    "Ensemble",
    "FileError",
    "Fit",
    "GeneralisedAlpha",
    "GlobalStudy",
    "Gradient",
    "Hessian",
    "HorizonWarning",
    "InfeasibleError",
    "Interrupted",
    "Line",
    "Measurement",
    "Mechanism",
    "ModelError",
    "Moments",
    "MotionEquations",
    "Newmark",
    "Objective",
    "Optimum",
    "Panel",
    "Parameter",
    "Path",
    "Peak",
    "Penalty",
    "RedundantReactionWarning",
    "Relative",
    "Reliability",
    "Run",
    "Section",
    "SimulationError",
    "SobolIndices",
    "Stabilised",
    "State",
    "Study",
    "StudyError",
    "Tolerance",
    "Topology",
    "VarimechError",
    "absolute",
    "acos",
    "asin",
    "atan",
    "atan2",
    "circle",
    "cos",
    "cosh",
    "cross",
    "dot",
    "elements",
    "exp",
    "final",
    "integral",
    "line_figure",
    "load_run",
    "log",
    "maximum",
    "measurement",
    "minimum",
    "norm",
    "path",
    "peak",
    "rectangle",
    "register",
    "report",
    "rotation",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "tube",
    "vector",
    "where",
]


if TYPE_CHECKING:
    from . import elements
    from .certification.certificate import Certificate
    from .coordinates.redundancy import RedundantReactionWarning
    from .coordinates.systems import Relative
    from .core.errors import (
        AssemblyError,
        FileError,
        InfeasibleError,
        Interrupted,
        ModelError,
        SimulationError,
        StudyError,
        VarimechError,
    )
    from .core.mathematics import (
        absolute,
        acos,
        asin,
        atan,
        atan2,
        cos,
        cosh,
        cross,
        dot,
        exp,
        log,
        maximum,
        minimum,
        norm,
        rotation,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
        vector,
        where,
    )
    from .elements.registry import register
    from .formulations.index1 import Stabilised
    from .formulations.penalty import Penalty
    from .integrators.generalised_alpha import GeneralisedAlpha
    from .integrators.hht import HHT
    from .integrators.newmark import Newmark
    from .interchange.motion_equations import MotionEquations
    from .mechanism import Mechanism
    from .model.parameter import Parameter, Tolerance
    from .model.sections import Section, circle, rectangle, square, tube
    from .model.state import State
    from .optimization.fit import Fit
    from .optimization.measurement import Measurement, measurement
    from .optimization.optimum import Optimum
    from .optimization.problem import DesignProblem
    from .optimization.quantities import Path, Peak, path, peak
    from .plotting.figure import Line, Panel, line_figure
    from .reports.page import report
    from .results.ensemble import Ensemble
    from .results.gradient import Gradient
    from .results.hessian import Hessian
    from .results.run import Run, load_run
    from .results.topology import Topology
    from .sensitivity.comparison import Constraint
    from .sensitivity.objective import Objective, final, integral
    from .uncertainty.chaos import Chaos
    from .uncertainty.global_study import GlobalStudy
    from .uncertainty.horizon import HorizonWarning
    from .uncertainty.moments import Moments
    from .uncertainty.reliability import Reliability
    from .uncertainty.sobol import SobolIndices
    from .uncertainty.study import Study

PLACES = {
    "HHT": "integrators.hht",
    "AssemblyError": "core.errors",
    "Certificate": "certification.certificate",
    "Chaos": "uncertainty.chaos",
    "Constraint": "sensitivity.comparison",
    "DesignProblem": "optimization.problem",
    "Ensemble": "results.ensemble",
    "FileError": "core.errors",
    "Fit": "optimization.fit",
    "GeneralisedAlpha": "integrators.generalised_alpha",
    "GlobalStudy": "uncertainty.global_study",
    "Gradient": "results.gradient",
    "Hessian": "results.hessian",
    "HorizonWarning": "uncertainty.horizon",
    "InfeasibleError": "core.errors",
    "Interrupted": "core.errors",
    "Line": "plotting.figure",
    "Measurement": "optimization.measurement",
    "Mechanism": "mechanism",
    "ModelError": "core.errors",
    "Moments": "uncertainty.moments",
    "MotionEquations": "interchange.motion_equations",
    "Newmark": "integrators.newmark",
    "Objective": "sensitivity.objective",
    "Optimum": "optimization.optimum",
    "Panel": "plotting.figure",
    "Parameter": "model.parameter",
    "Path": "optimization.quantities",
    "Peak": "optimization.quantities",
    "Penalty": "formulations.penalty",
    "RedundantReactionWarning": "coordinates.redundancy",
    "Relative": "coordinates.systems",
    "Reliability": "uncertainty.reliability",
    "Run": "results.run",
    "Section": "model.sections",
    "SimulationError": "core.errors",
    "SobolIndices": "uncertainty.sobol",
    "Stabilised": "formulations.index1",
    "State": "model.state",
    "Study": "uncertainty.study",
    "StudyError": "core.errors",
    "Tolerance": "model.parameter",
    "Topology": "results.topology",
    "VarimechError": "core.errors",
    "absolute": "core.mathematics",
    "acos": "core.mathematics",
    "asin": "core.mathematics",
    "atan": "core.mathematics",
    "atan2": "core.mathematics",
    "circle": "model.sections",
    "cos": "core.mathematics",
    "cosh": "core.mathematics",
    "cross": "core.mathematics",
    "dot": "core.mathematics",
    "exp": "core.mathematics",
    "final": "sensitivity.objective",
    "integral": "sensitivity.objective",
    "line_figure": "plotting.figure",
    "load_run": "results.run",
    "log": "core.mathematics",
    "maximum": "core.mathematics",
    "measurement": "optimization.measurement",
    "minimum": "core.mathematics",
    "norm": "core.mathematics",
    "path": "optimization.quantities",
    "peak": "optimization.quantities",
    "rectangle": "model.sections",
    "register": "elements.registry",
    "report": "reports.page",
    "rotation": "core.mathematics",
    "sign": "core.mathematics",
    "sin": "core.mathematics",
    "sinh": "core.mathematics",
    "sqrt": "core.mathematics",
    "square": "model.sections",
    "tan": "core.mathematics",
    "tanh": "core.mathematics",
    "tube": "model.sections",
    "vector": "core.mathematics",
    "where": "core.mathematics",
}
"""The module of every public name; it is imported when the name is first used, so that a command
that needs little starts fast.
"""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name == "__version__":
        from importlib.metadata import version

        return version("varimech")
    if name == "elements":
        from importlib import import_module

        return import_module(".elements", __name__)
    if name in PLACES:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(f".{PLACES[name]}", __name__), name)
        return found
    raise AttributeError(f"module 'varimech' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names, for completion."""
    return sorted({*globals(), *__all__})
