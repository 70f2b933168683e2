"""Compilation of equations and a method to programs, in one of three regimes.

unrolled     all functions as straight-line code of the whole mechanism: small models
assembled    from one function for each kind of element (`stages/assembled`): large models
recursive    over the bodies of an open tree in relative coordinates (`coordinates/relative`):
             explicit integrators
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import casadi as ca
import numpy as np

from ..backends.bound import Evaluation
from ..backends.program import ChainFunctions, PassageFunctions, Program
from ..backends.runner import Runner
from ..backends.sundials import SundialsRunner
from ..coordinates.dynamics import AugmentedInertia, Dynamics
from ..coordinates.element_types import pieces_of
from ..coordinates.equations import Equations
from ..coordinates.initial_state_chain import start_chain
from ..coordinates.penalty import constant_penalty, penalty_function, penalty_plan
from ..coordinates.systems import DEEP, UNROLLED
from ..core.errors import ModelError
from ..core.messages import Message
from ..core.symbols import SX
from ..formulations.formulation import SHARP, Conditioning
from ..formulations.impact import impact
from ..schemes import Method
from ..sensitivity.event_functions import EventFunctions
from ..sensitivity.event_map import EventMap
from ..sensitivity.objective import Objective
from ..sensitivity.objective_functions import ObjectiveFunctions, measured
from ..sensitivity.switching import switching_functions
from ..sensitivity.tangent_augmented import augmented
from ..stages.assembled import AssembledChain
from ..stages.chain import PARAMETERS, Chain
from ..stages.pieces import Pieces
from ..stages.plan import Plan, row_length
from ..stages.saddle import Saddle
from .derivative_request import DerivativeRequest
from .unrolled_chains import unrolled

if TYPE_CHECKING:
    from ..coordinates.relative.recursion import Recursion
    from .recursive_chains import RecursiveChains

LARGE = 50
"""Unknowns and multipliers above which straight-line code takes longer to compile than it saves;
see docs/decisions/2026-11-code-generation.md.
"""
FLEXIBLE = 30
"""The limit for mechanisms with beams, whose elements take more operations."""
LONG = 8
"""The limit for open trees that recursion solves."""
EVENTFUL = 150
"""The limit for mechanisms with events, whose many short steps are faster with unrolled functions.
Chain of 48 bars with a stop, 146 unknowns: the first gradient takes 3.7 s unrolled and 1.8 s
assembled as bytecode, later compiled ones 0.12 and 0.29 s.
"""
STARTED = 25
"""Coordinates up to which the initial state of a recursive tree is unrolled: initial values may
depend on all of them.
"""


class Programs:
    """Programs of one mechanism by one method."""

    def __init__(
        self, equations: Equations, method: Method, *, large: bool | None = None, wide: bool = False
    ):
        self.equations = equations
        self.method = method
        self.wide = wide
        """Whether the state is augmented with its tangent in one direction of the parameters
        (`sensitivity/tangent_augmented.py`).
        """
        self.unknowns = equations.q.numel() + equations.λ.numel()
        self.largest_unrolled = (
            EVENTFUL
            if equations.has_events or equations.loads
            else LONG
            if self._recursive_chains is not None
            else FLEXIBLE
            if equations.model.beams
            else UNROLLED
            if self._depth is not None and self._depth <= DEEP and not wide
            else LARGE
        )
        """Unknowns and multipliers up to which functions are unrolled."""
        self.large = self.unknowns > self.largest_unrolled if large is None else large
        """Whether functions are assembled or recursive, not unrolled."""
        self._chains: dict[tuple[object, ...], ChainFunctions] = {}
        self._evaluations: dict[tuple[object, ...], Evaluation] = {}
        self._check_contacts()  # first: methods for large models need not support events
        self._check_velocity_constraints()
        self._check_size()

    @property
    def recursive(self) -> bool:
        """Whether runs are executed by recursion over a tree."""
        return self.large and self._recursive_chains is not None

    @property
    def finds_start(self) -> bool:
        """Whether programs compute the initial state of a run themselves, from an initial guess."""
        return self.method.integrator.continuous is None and (
            not self.recursive or self.equations.q.numel() <= STARTED
        )

    def program(
        self,
        objectives: ObjectiveFunctions,
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> Program:
        """Build the program with these objectives and the requested derivatives."""
        method = self.method
        start: ChainFunctions | None = None
        rates: ChainFunctions | None = None
        hit: ChainFunctions | None = None
        penalty: ca.Function | Plan
        if self.recursive:
            step, rates = self._recursive("end", request), self._recursive("rates", request)
            start = self._recursive("start", request) if self.finds_start else None
            penalty = constant_penalty(self.equations, Saddle(regular=True))
        else:
            if conditioning.regular:
                start = self._functions(
                    "start",
                    lambda e, _: start_chain(e, remember=method.remembers),
                    request,
                    conditioning,
                )
            step = self._functions("step", self._step, request, conditioning)
            if method.rates_apart:
                rates = self._functions("rates", method.rates, request, conditioning)
            elif method.integrator.difference is not None and objectives.ends_steps:
                rates = self._functions("rates", method.event_rates, request, conditioning)
            if self.equations.has_events and not self.wide:
                hit = self._functions("impact", self._impact, request, conditioning)
            saddle = method.formulation.saddle(conditioning)
            penalty = (
                penalty_plan(self._pieces, saddle)
                if self.large
                else self._of_positions(penalty_function(self.equations, saddle))
            )
        return Program(
            (2 if self.wide else 1) * self.equations.q.numel(),
            start,
            step,
            penalty,
            objectives,
            None if request.directions is None else request.columns,
            row_length(request.columns),
            row_length(request.objectives) if request.adjoint else 0,
            method.integrator.coefficients,
            rates,
            (
                self._of_positions(self.jacobian, columns=True)
                if method.formulation.traits.selects
                else None
            ),
            sharp=conditioning == SHARP,
            directions=request.directions,
            impact=hit,
            passage=self._passage(objectives.event_map, request, conditioning),
            along_time=self._along_time and (request.directions is not None or request.adjoint),
        )

    def runner(
        self,
        functions: ObjectiveFunctions,
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> Runner | SundialsRunner:
        """Build the runner that executes this program."""
        program = self.program(functions, request, conditioning)
        e, solver = self.equations, self.method.integrator.continuous
        if solver is None:
            return Runner(program)
        saddle = self.method.formulation.saddle(conditioning)
        return SundialsRunner(
            program, self.method.continuous(e, saddle), self.jacobian, solver, e.lengths
        )

    def _of_positions(self, function: ca.Function, *, columns: bool = False) -> ca.Function:
        """Adapt a function of (q, ρ, t) to the augmented positions and parameters, if there are
        any; with `columns` its result has one column for each entry of q.
        """
        if not self.wide:
            return function
        q, ρ, t = function.sx_in()
        values, more = function(q, ρ, t), SX.sym("q'", q.numel())
        padded = ca.horzcat(values, SX.zeros(values.shape)) if columns else values
        return ca.Function(
            function.name(),
            [ca.vertcat(q, more), ca.vertcat(ρ, SX.sym("ρ'", ρ.numel())), t],
            [ca.densify(padded)],
        )

    def objectives(
        self, objectives: Mapping[str, Objective], request: DerivativeRequest
    ) -> ObjectiveFunctions:
        """Compile integrands and final terms, and their requested derivatives."""
        rows = (
            row_length(request.columns),
            row_length(request.objectives) if request.adjoint else None,
        )
        outputs = measured(self.equations, objectives)
        if self.wide:
            e = self.equations
            parts = [e.q, e.v, e.a, e.λ]
            tangents = [SX.sym("s'", part.numel()) for part in parts]
            packed = ca.vertcat(*[x for pair in zip(parts, tangents, strict=True) for x in pair])
            outputs = outputs.augmented(ca.vertcat(*tangents), SX.sym("ρ'", e.ρ.numel()), packed)
            event_map = EventMap(e, objectives) if request.passages else None
            return replace(outputs.functions(request.directions, *rows), event_map=event_map)
        directions = request.directions
        # an adjoint needs derivatives with respect to all parameters
        if directions is None and request.adjoint:
            directions = np.zeros((self.equations.ρ.numel(), 0))
        switching = switching_functions(self.equations, objectives, directions)
        functions = replace(outputs.functions(request.directions, *rows), switching=switching)
        remembered = self.equations.q.numel() if self.method.remembers else 0
        events = EventFunctions(self.equations, objectives, directions, remembered)
        if events.units is None:
            return functions
        return replace(
            functions,
            units=events.units,
            samples=events.samples,
            final_time=outputs.final_time,
        )

    def recursive_rates(self, directions: np.ndarray | None) -> Evaluation:
        """Compile the rates of a tree by recursion, as a function that is evaluated directly."""
        request = DerivativeRequest(directions)
        if request.key not in self._evaluations:
            self._evaluations[request.key] = Evaluation(
                self._recursive("rates", request).finish, 4 if directions is None else 5
            )
        return self._evaluations[request.key]

    @cached_property
    def jacobian(self) -> ca.Function:
        """Compile (q, ρ, t) → Φ_q."""
        e = self.equations
        return ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(e.constraint_jacobian)])

    def _check_size(self) -> None:
        name = self.equations.model.name
        count = f"mechanism {name!r} has {self.unknowns} unknowns and multipliers"
        for part in (self.method.integrator, self.method.formulation):
            if self.large and not part.traits.large_models:
                raise ModelError(
                    f"{count}; {part.title} takes up to {self.largest_unrolled}",
                    remedy=Message("use {formulation}", formulation=("index1", "ali3p")),
                )
        if not self.large or self.recursive or self._depth is None:
            return
        # bodies at the end of long branches depend on too many coordinates for code that is
        # generated for each depth
        if (depth := self._depth) > DEEP:
            assert self._recursion is not None
            is_open = self._recursion.tree.is_open and not self.wide
            is_open = is_open and not self.equations.has_events  # recursion does not support events
            what = f"second derivatives by {self.method.title}" if self.wide else self.method.title
            raise ModelError(
                f"{count}, and bodies {depth} joints away from the ground; {what} take up to"
                f" {self.largest_unrolled} of the former or {DEEP} of the latter",
                remedy=Message(
                    "use {formulation} or {coordinates}" if is_open else "use {coordinates}",
                    formulation="index1",
                    coordinates="natural",
                ),
            )

    def _check_contacts(self) -> None:
        """Refuse schemes that do not support events, or friction in joints."""
        if not self.equations.has_events and not self.equations.loads:
            return
        name, method = self.equations.model.name, self.method
        if method.integrator.continuous is not None or not method.formulation.traits.exact:
            raise ModelError(
                f"mechanism {name!r} has contacts, dry friction or events, which {method.title} does"
                " not take",
                remedy=Message("use {formulation}", formulation=("index1", "ali3p")),
            )
        if self.equations.constrains_velocities and not method.formulation.traits.sticks:
            raise ModelError(
                f"mechanism {name!r} has friction that sticks, a constraint of velocities, which"
                f" {method.formulation.title} does not take",
                remedy=Message("use {formulation}", formulation=("index1", "ali3p")),
            )
        if self.large and self.equations.loads:
            raise ModelError(
                f"mechanism {name!r} has {self.unknowns} unknowns and multipliers; with friction in"
                f" joints there may be {self.largest_unrolled}",
                remedy="use m.dry_friction, smooth friction, or fewer bodies",
            )
        if self.equations.loads and method.formulation.name != "index1":
            raise ModelError(
                f"mechanism {name!r} has friction in joints, which only formulation 'index1' takes",
                remedy=Message("use {formulation}, or m.dry_friction", formulation="index1"),
            )

    def _check_velocity_constraints(self) -> None:
        """Refuse formulations that would omit velocity constraints."""
        e, formulation = self.equations, self.method.formulation
        if not e.has_velocity_constraints:
            return
        names = ", ".join(repr(b.joints[0]) for b in e.blocks if b.is_nonholonomic)
        problem = f"mechanism {e.model.name!r} constrains velocities ({names}), which"
        remedy = Message("use {formulation}", formulation=("index1", "ali3p"))
        if not formulation.traits.nonholonomic:
            raise ModelError(f"{problem} {formulation.title} does not take", remedy=remedy)
        if self.large and formulation.traits.step:
            raise ModelError(
                f"{problem} {formulation.title} takes up to {self.largest_unrolled} unknowns and"
                f" multipliers; it has {self.unknowns}",
                remedy=Message("use {formulation}", formulation="index1"),
            )

    @property
    def _along_time(self) -> bool:
        """Whether chains are differentiated with respect to time: parameters move events."""
        return self.equations.has_events and not self.wide

    def _passage(
        self, event_map: EventMap | None, request: DerivativeRequest, conditioning: Conditioning
    ) -> PassageFunctions | None:
        """Build the map of states over events; unrolled."""
        if event_map is None:
            return None
        if not self.method.formulation.traits.exact:
            raise ModelError(
                f"mechanism {self.equations.model.name!r}: second derivatives, complex steps and the"
                f" composite system cross no jumps or kinks with {self.method.formulation.title}",
                remedy=Message("use {formulation}", formulation=("index1", "ali3p")),
            )
        if self.large:
            raise ModelError(
                f"mechanism {self.equations.model.name!r} has {self.unknowns} unknowns and"
                " multipliers; second derivatives cross events, jumps and kinks up to"
                f" {self.largest_unrolled}",
                remedy="use first derivatives, or smooth forces",
            )
        plain = event_map.chain(self.method.formulation.saddle(conditioning))
        if self.method.remembers:
            *state, ψ = plain.result
            plain = replace(plain, result=(*state, state[2], ψ))
        chain = augmented(plain) if self.wide else plain
        functions = self._unrolled(lambda _: chain, request, state_varies=True)
        modes = event_map.layout.modes
        return PassageFunctions(functions, modes, self.equations.ρ.numel() - modes)

    def passage(self, objectives: Mapping[str, Objective]) -> PassageFunctions | None:
        """Build the map of states over events, without derivatives."""
        relaxed = not self.method.formulation.traits.sharp_first
        event_map, conditioning = (
            EventMap(self.equations, objectives),
            Conditioning(relaxed=relaxed),
        )
        return self._passage(event_map, DerivativeRequest(), conditioning)

    # unrolled, or assembled

    def _step(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        return self.method.step(dynamics, saddle, constrained=self.equations.λ.numel() > 0)

    def _impact(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        return self.method.remembering(impact(dynamics, saddle))

    @cached_property
    def _pieces(self) -> Pieces[Dynamics]:
        return pieces_of(self.equations)

    def _functions(
        self,
        name: str,
        build: Callable[[Dynamics, Saddle], Chain],
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> ChainFunctions:
        key = (name, conditioning, request.key)
        if key not in self._chains:
            saddle = self.method.formulation.saddle(conditioning)
            varies = name != "start"

            def chain(dynamics: Dynamics) -> Chain:
                plain = build(dynamics, saddle)
                return augmented(plain, state_varies=varies) if self.wide else plain

            self._chains[key] = (self._assembled if self.large else self._unrolled)(
                chain, request, state_varies=varies
            )
        return self._chains[key]

    def _assembled(
        self, build: Callable[[Dynamics], Chain], request: DerivativeRequest, *, state_varies: bool
    ) -> ChainFunctions:
        pieces = self._pieces.mapped(build)
        chain = AssembledChain(pieces.doubled(PARAMETERS) if self.wide else pieces)
        iterated = chain.chain.iterated
        return ChainFunctions(
            chain.predict if iterated else None,
            chain.iterate if iterated else None,
            chain.finish(
                request.directions, state_varies=state_varies, along_time=self._along_time
            ),
            pullback=(
                chain.pullback(
                    request.objectives, state_varies=state_varies, along_time=self._along_time
                )
                if request.adjoint
                else None
            ),
            seeded=self._along_time and request.directions is not None,
        )

    def _unrolled(
        self, build: Callable[[Dynamics], Chain], request: DerivativeRequest, *, state_varies: bool
    ) -> ChainFunctions:
        return unrolled(
            build(self.equations),
            None if request.directions is None else request.moved,
            adjoint=request.adjoint,
            state_varies=state_varies,
            along_time=self._along_time,
        )

    # recursive

    @cached_property
    def _recursive_chains(self) -> RecursiveChains | None:
        """Chains of the tree, if it is open, it owns all coordinates, and an explicit integrator
        requires rates.
        """
        if self._recursion is None or not self._recursion.tree.is_open or self.wide:
            return None
        if not self.method.formulation.traits.recursive:
            return None
        if not self.equations.is_plain or self.equations.has_events:
            return None
        from .recursive_chains import RecursiveChains  # imported late: only trees need it

        return RecursiveChains(self.equations)

    def _recursive(self, name: str, request: DerivativeRequest) -> ChainFunctions:
        assert self._recursive_chains is not None
        return self._recursive_chains.functions(name, request)

    @cached_property
    def _depth(self) -> int | None:
        """Largest number of joints between a body and the ground; None in natural coordinates."""
        return None if self._recursion is None else max(self._recursion.tree.depths.values())

    @property
    def _recursion(self) -> Recursion | None:
        """Recursion of relative coordinates, which alone supply their own inertia forces."""
        inertia = self.equations.inertia
        supplied = inertia.supplied if isinstance(inertia, AugmentedInertia) else inertia
        return cast("Recursion | None", supplied)
