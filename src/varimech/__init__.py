"""Varimech: mechanisms, their motion, and how every result changes when a number of the model changes."""

from typing import TYPE_CHECKING, Any

from .coordinates.systems import Relative
from .errors import AssemblyError, FileError, InfeasibleError, Interrupted, ModelError, SimulationError, StudyError, VarimechError
from .formulations.index1 import Stabilised
from .formulations.penalty import Penalty
from .integrators.generalised_alpha import GeneralisedAlpha
from .integrators.hht import HHT
from .integrators.newmark import Newmark
from .mathematics import (
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
from .mechanism import Mechanism
from .model.parameter import Parameter, Tolerance
from .model.sections import Section, circle, rectangle, square, tube
from .model.state import State
from .results.ensemble import Ensemble
from .results.gradient import Gradient
from .results.hessian import Hessian
from .results.run import Run, load_run
from .sensitivity.comparison import Constraint
from .sensitivity.objective import Objective, final, integral
from .view.figure import Line, Panel, line_figure

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
    from .coordinates.redundancy import RedundantReactionWarning
    from .interchange.motion_equations import MotionEquations
    from .optimization.fit import Fit
    from .optimization.measurement import Measurement, measurement
    from .optimization.optimum import Optimum
    from .optimization.problem import DesignProblem
    from .optimization.quantities import Path, Peak, path, peak
    from .reports.page import report
    from .results.certificate import Certificate
    from .results.topology import Topology
    from .uncertainty.chaos import Chaos
    from .uncertainty.global_study import GlobalStudy
    from .uncertainty.horizon import HorizonWarning
    from .uncertainty.moments import Moments
    from .uncertainty.reliability import Reliability
    from .uncertainty.sobol import SobolIndices
    from .uncertainty.study import Study

LATER = {
    "Certificate": "results.certificate",
    "Chaos": "uncertainty.chaos",
    "DesignProblem": "optimization.problem",
    "Fit": "optimization.fit",
    "GlobalStudy": "uncertainty.global_study",
    "HorizonWarning": "uncertainty.horizon",
    "Measurement": "optimization.measurement",
    "Moments": "uncertainty.moments",
    "MotionEquations": "interchange.motion_equations",
    "Optimum": "optimization.optimum",
    "Path": "optimization.quantities",
    "Peak": "optimization.quantities",
    "RedundantReactionWarning": "coordinates.redundancy",
    "Reliability": "uncertainty.reliability",
    "SobolIndices": "uncertainty.sobol",
    "Study": "uncertainty.study",
    "Topology": "results.topology",
    "measurement": "optimization.measurement",
    "path": "optimization.quantities",
    "peak": "optimization.quantities",
    "report": "reports.page",
}
"""Where names are found that are slow to import."""


def __getattr__(name: str) -> Any:
    """What is slow to import, and only loaded when asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("varimech")
    if name in LATER:
        from importlib import import_module

        return getattr(import_module(f".{LATER[name]}", __name__), name)
    raise AttributeError(f"module 'varimech' has no attribute {name!r}")
