"""The module of each public name; written by `python tools/public_api.py`."""

NAMES = {
    "coordinates.redundancy": "RedundantReactionWarning",
    "coordinates.systems": "Relative",
    "core.errors": (
        "AssemblyError FileError InfeasibleError Interrupted ModelError SimulationError"
        " StudyError VarimechError"
    ),
    "core.mathematics": (
        "absolute acos asin atan atan2 cos cosh cross dot exp log maximum minimum norm"
        " rotation sign sin sinh sqrt tan tanh vector where"
    ),
    "elements": "elements",
    "elements.registry": "register",
    "formulations.index1": "Stabilised",
    "formulations.penalty": "Penalty",
    "formulations.registry": "register_formulation",
    "integrators.generalised_alpha": "GeneralisedAlpha",
    "integrators.hht": "HHT",
    "integrators.newmark": "Newmark",
    "integrators.registry": "register_integrator",
    "integrators.runge_kutta": "RungeKutta",
    "interchange.motion_equations": "MotionEquations",
    "mechanism": "Mechanism",
    "model.parameter": "Parameter Tolerance",
    "model.sections": "Section circle rectangle square tube",
    "model.state": "State",
    "optimization.design_problem": "DesignProblem",
    "optimization.fit": "Fit",
    "optimization.measurement": "Measurement measurement",
    "optimization.optimum": "Optimum",
    "optimization.quantities": "Path Peak path peak",
    "plotting.figure": "Line Panel line_figure",
    "problem": "Problem",
    "reports.page": "report",
    "results.certificate": "Certificate",
    "results.ensemble": "Ensemble",
    "results.event_smoothness": "EventWarning",
    "results.events": "Event Events",
    "results.gradient": "Gradient",
    "results.hessian": "Hessian",
    "results.linear_model": "LinearModel",
    "results.lost_motion": "LostMotion",
    "results.modes": "Modes",
    "results.result": "SavedResult",
    "results.run": "Run load_run",
    "results.topology": "Topology",
    "sensitivity.comparison": "Constraint",
    "sensitivity.objective": "Objective at final integral lowest range time_of",
    "uncertainty.chaos": "Chaos",
    "uncertainty.global_study": "GlobalStudy",
    "uncertainty.horizon": "HorizonWarning",
    "uncertainty.moments": "Moments",
    "uncertainty.reliability": "Reliability",
    "uncertainty.sobol": "SobolIndices",
    "uncertainty.study": "Study",
}
MODULES = {name: module for module, names in NAMES.items() for name in names.split()}
