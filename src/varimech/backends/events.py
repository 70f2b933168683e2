"""Events of contacts and dry friction: the equations, and all constants. `units` and `modes`
implement them for the interpreted loop, units.c, modes.c and events.c for the compiled one.

A unit is a contact or the friction of one (`model/contact_law`). A function of the state is
positive as long as its mode holds:

    contact    open: g;   closed: N         friction    sliding: σ s;   sticking: μ₀ N − |T|
    friction with several components        sliding: m·s − |s|/2 − 5 E;   sticking the same

A step within which one of these functions falls below zero is shortened until it ends at the zero,
by cubic interpolation where the rate is known (g, s), else by bracketing. No step extends beyond
its modes, so all pieces of a motion are smooth.

**Sliding with several components.** The mode m is a direction, near that of s, and ε is zero
(`contact_law`). The watched function vanishes where s has turned by 60° from m; then m is renewed,
and nothing else happens. It also vanishes where |s| has fallen to 10 E, a speed proportional to the
tolerance: then m is renewed and ε = E, so that nothing is singular where the slip vanishes. Sliding
ends where m·s = 0; the remaining velocity, perpendicular to m, is removed by an impact in which
friction sticks. Sliding begins with ε = E, too, until m·s = 30 E. It begins in the direction of the
slip's acceleration: m = ṡ(m) / |ṡ(m)|, by m ← m + ṡ / b, normalised, where b is the change of ṡ
over that of m (J. Barzilai and J. M. Borwein, IMA J. Numer. Anal. 8 (1988) 141–148); the first m,
opposite to T, is the solution if the slip has the same inertia in all directions.

**Impact.** Of all contacts that touch, those take part whose impulse is not negative, and which
would close otherwise: 0 ≤ Λ ⊥ ġ⁺ + ε ġ⁻ ≥ 0, a linear complementarity problem. It is solved by
changing the first inconsistent unit until all are consistent (K. G. Murty, Opsearch 11 (1974)
118–135: this ends for every P-matrix). Friction sticks in an impact unless its impulse exceeds μ₀
Λ; then it slides. Impacts slower than the tolerance times the largest speed, or followed by a
flight lower than rounding, have no restitution, so that accumulating impacts end in permanent
contact.

**Modes after an event** follow from velocities (surfaces that part, friction that slides), then
from accelerations by the same scheme: 0 ≤ N ⊥ g̈ ≥ 0, |T| ≤ μ₀ N.

**Stated events** have a function that changes its sign; the present sign (its side of zero) is
stored beside the modes. Extrema of objectives are events at which the rate of a function vanishes
and nothing happens.

**Derivatives.** An event at t* maps the state x⁻ to x⁺ = R(x⁻, t, ρ). With w the function that
vanishes there, f = (v, a) the rates before and after it, and S = ∂x/∂ρ at fixed time,

    t*' = −(w_x S⁻ + w_ρ) / ẇ,     S⁺ = R_x (S⁻ + f⁻ t*') + R_ρ + R_t t*' − f⁺ t*',
    ψ' ← ψ' + (g⁻ − g⁺) t*'

(saltation; R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical
Systems, Springer 2004, chapter 7). R is the chain of an impact, or the identity; it is
differentiated like every chain. w may depend on accelerations and multipliers: their rates are
derivatives of the same chain along (v, a) and time. The adjoint is the transpose of these
equations.
"""

from __future__ import annotations

TOUCH = 1e-11
"""Gap, relative to the size of the mechanism, below which surfaces touch: a thousand roundings."""
SLOW = 1e-11
"""Speed, relative to the largest one so far, below which surfaces neither part nor slide."""
SLOWEST = 1e-3
"""Smallest reference speed (m/s or rad/s): mechanisms at rest need one, too, and speeds below
1e-14 m/s count as rest.
"""
BLURRED = 1e-14
"""Relative magnitude of a watched function below zero that counts as rounding."""
ROUNDED = 0.03
"""Share of this magnitude below which a value is zero: one or two floating-point numbers."""
BLURRED_FORCE = 1e-10
"""`BLURRED` for forces, relative to the largest force: multipliers are less exact than positions.
"""
LOWEST = 1e-13
"""Height of a flight between two impacts, relative to the size of the mechanism, below which
rounding of positions hides it: some hundred floating-point numbers.
"""
OVERLAPS = 1e-9
"""Negative gap, relative to the size of the mechanism, beyond which shapes overlap at the start:
ten times stricter than the tolerance of an assembly.
"""
DIP = 0.1
"""Largest minimum of a watched function within a step, relative to its values at the ends, that is
examined: interpolation over a step is more exact than that.
"""
AT_ONCE = -1.0
"""Proposed length of the next step after an event before it has failed."""
INSTANT = 1e-15
"""Accuracy of event times, as a share of the run: a few floating-point numbers."""
NEVER = 1e300
"""Value of a function that is not watched."""
NUDGE = 1e-6
"""Time, as a share of the run, by which a state is moved to compute the rate of a function that
depends on accelerations: between rounding and curvature, for motions that change within a hundredth
of the run.
"""
CHANGED = 3e-14
"""Relative change of a function over this time that exceeds rounding."""
ATTEMPTS = 60
"""Most steps to locate one event; bisection to rounding would take so many."""
PROBED = 8
"""Parts of a step at whose ends the interpolation is checked for values below zero."""
THIRDS = 25
"""Reductions of the interval around the lowest of these values to two thirds: to 1e-5 of a step."""
EDGE = 1e-4
"""Share of a step within which a minimum counts as one at the end."""
MOST_UNDECIDED = 8
"""Most units whose modes are all tried: 6,561 combinations of frictions."""
NOTED = 9
"""Numbers that are logged for an event: see `Trajectory.notes`."""
JUMPED = 1e-6
"""Value of a stated function after an event, relative to its largest one, that is a jump over zero.
"""
ACCUMULATED = 1e-9
"""Rate of a stated function, relative to the largest speed, at which resets have accumulated."""
REVISIONS = 20
"""Most changes of modes for each unit until an event is resolved, and most events at one instant.
"""
CONSISTENT = 1e-9
"""Relative error of forces and accelerations in the tests of modes."""
NONE, SHORTER = -1, -2
CONTACT, FRICTION, EVENT, EXTREMUM = range(4)
OF_VELOCITIES, AT_START = 1, 3
"""Kinds of resets of stated events: of velocities; of states (2); and of states, also at the start
of a run.
"""
QUIET = -1.0
"""Logged in place of a mode when a direction was renewed: nothing has happened."""
NEVER_FIRES = 2
"""Direction of an event that only ends steps."""
GAP, GAP_RATE, GAP_ACCELERATION, NORMAL, RESTITUTION = range(5)
SLIP, SLIP_RATE, TANGENTIAL, LIMIT = range(4)
UNIT_VALUES = 13
"""Number of values of a unit. For slips of several components, |s| and |T| take the places of the
scalars, and the components follow.
"""
SLIPS, SLIP_RATES, TANGENTIALS = 4, 7, 10
"""Places of the first components."""
ONSET = 100.0
"""Speed ε at which sliding with several components begins or ends, over the tolerance and the
largest speed. The direction follows the slip at the rate μ N/(m (|s| + ε)) there: if the load
approaches μ₀ N = μ N slowly, s stays small for long, and explicit steps have to resolve that. A
block pulled in this way at the tolerance 1e-8 takes 7,700 steps for 10 (errors 4e-11), 2,600 for
100 (3e-12), and 960 for 1000 (7e-11).
"""
ENDING = 1e-6
"""Lower bound of this speed, relative to the largest one: rounding, 1e-15, would turn a smaller
slip so much that derivatives, which depend on it as 1/|s|, need too many steps.
"""
GATHERED = 0.01
"""Lower bound of the largest speed at the onset of sliding, as a share of the speed that the load
would reach without friction in the whole run: a mechanism may have been at rest until then.
"""
BEGUN, ENTERED, NEARLY = 30.0, 10.0, 4.0
"""Slip over ε at which sliding has begun, at which it approaches its end, and up to which the
remaining slip may be removed.
"""
TURNED = 0.5
"""Cosine between the slip and its mode at which the mode is renewed; at zero the force would jump.
"""
ALIGNED = 1e-12
"""Error of the direction in which sliding begins: some roundings of accelerations."""
REFINED = 100
"""Most corrections of such directions: some five suffice unless masses differ by direction."""
