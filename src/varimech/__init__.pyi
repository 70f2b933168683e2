"""Public names, for type checkers. `python tools/public_api.py` derives `MODULES` from these
imports; at run time a name is imported on first use.
"""

from . import elements as elements
from .analyses.function import FailedRunsWarning as FailedRunsWarning, Function as Function
from .coordinates.redundancy import RedundantReactionWarning as RedundantReactionWarning
from .coordinates.systems import Relative as Relative
from .core.errors import (
    AssemblyError as AssemblyError,
    FileError as FileError,
    InfeasibleError as InfeasibleError,
    Interrupted as Interrupted,
    ModelError as ModelError,
    SimulationError as SimulationError,
    StudyError as StudyError,
    VarimechError as VarimechError,
)
from .core.mathematics import (
    absolute as absolute,
    acos as acos,
    asin as asin,
    atan as atan,
    atan2 as atan2,
    cos as cos,
    cosh as cosh,
    cross as cross,
    dead_band as dead_band,
    dot as dot,
    exp as exp,
    log as log,
    maximum as maximum,
    minimum as minimum,
    norm as norm,
    rotation as rotation,
    saturation as saturation,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    tan as tan,
    tanh as tanh,
    vector as vector,
    where as where,
)
from .core.tables import Table as Table, table as table
from .elements.registry import register as register
from .formulations.index1 import Stabilised as Stabilised
from .formulations.penalty import Penalty as Penalty
from .formulations.registry import register_formulation as register_formulation
from .identification.experiment_result import Experiment as Experiment
from .identification.fit import Fit as Fit
from .identification.measurement import Measurement as Measurement, measurement as measurement
from .identification.posterior import Posterior as Posterior
from .identification.sensors import Sensor as Sensor, sensor as sensor
from .integrators.generalised_alpha import GeneralisedAlpha as GeneralisedAlpha
from .integrators.hht import HHT as HHT
from .integrators.newmark import Newmark as Newmark
from .integrators.registry import register_integrator as register_integrator
from .integrators.runge_kutta import RungeKutta as RungeKutta
from .interchange.motion_equations import MotionEquations as MotionEquations
from .mechanism import Mechanism as Mechanism
from .model.parameter import Parameter as Parameter, Tolerance as Tolerance
from .model.sections import (
    Section as Section,
    circle as circle,
    rectangle as rectangle,
    square as square,
    tube as tube,
)
from .model.solids import (
    Solid as Solid,
    box as box,
    cylinder as cylinder,
    extrusion as extrusion,
    mesh as mesh,
)
from .model.state import State as State
from .model.tolerance_cost import (
    Cost as Cost,
    cost as cost,
    exponential_cost as exponential_cost,
    grade_cost as grade_cost,
)
from .notebook.results import widget as widget
from .optimization.design_problem import DesignProblem as DesignProblem
from .optimization.optimum import Optimum as Optimum
from .optimization.synthesis_result import Synthesis as Synthesis
from .optimization.quantities import Path as Path, Peak as Peak, path as path, peak as peak
from .plotting.figure import Line as Line, Panel as Panel, line_figure as line_figure
from .problem import Problem as Problem
from .reports.page import report as report
from .results.campbell import Campbell as Campbell
from .results.certificate import Certificate as Certificate
from .results.ensemble import Ensemble as Ensemble
from .results.event_smoothness import EventWarning as EventWarning
from .results.events import Event as Event, Events as Events
from .results.kinematics import Kinematics as Kinematics
from .results.linear_model import LinearModel as LinearModel
from .results.lost_motion import LostMotion as LostMotion
from .results.margins import MarginDeviations as MarginDeviations
from .results.margins import Margins as Margins
from .results.gradient import Gradient as Gradient
from .results.hessian import Hessian as Hessian
from .results.modes import Modes as Modes
from .results.result import SavedResult as SavedResult
from .results.root_locus import RootLocus as RootLocus
from .results.run import Run as Run, load_run as load_run
from .results.topology import Topology as Topology
from .results.workspace import Workspace as Workspace
from .robust.design import RobustOptimum as RobustOptimum
from .robust.allocation import Allocation as Allocation
from .robust.allocation_curve import AllocationCurve as AllocationCurve
from .robust.statistic import (
    Statistic as Statistic,
    mean as mean,
    probability as probability,
    quantile as quantile,
    std as std,
    worst as worst,
)
from .robust.statistics_result import Statistics as Statistics
from .robust.verification import Verification as Verification
from .sensitivity.comparison import Constraint as Constraint
from .sensitivity.failure import SystemEvent as SystemEvent
from .sensitivity.failure import all_of as all_of
from .sensitivity.failure import any_of as any_of
from .sensitivity.objective import (
    Objective as Objective,
    at as at,
    final as final,
    integral as integral,
    lowest as lowest,
    range as range,
    time_of as time_of,
)
from .sensitivity.stability_objective import StabilityObjective as StabilityObjective
from .sensitivity.stability_objective import critical_speed as critical_speed
from .sensitivity.stability_objective import damping_ratio as damping_ratio
from .sensitivity.stability_objective import frequency as frequency
from .sensitivity.stability_objective import growth_rate as growth_rate
from .uncertainty.chaos import Chaos as Chaos
from .uncertainty.global_study import GlobalStudy as GlobalStudy
from .uncertainty.gpu_cluster import GpuWorkers as GpuWorkers
from .uncertainty.horizon import HorizonWarning as HorizonWarning
from .uncertainty.moments import Moments as Moments
from .uncertainty.reliability import Reliability as Reliability
from .uncertainty.sobol import SobolIndices as SobolIndices
from .uncertainty.study import Study as Study

__all__: list[str]
__version__: str
