"""Events of contacts and dry friction: the equations, and all constants. `units` and `modes` are the
interpreted loop, as units.c, modes.c and events.c are the compiled one.

A unit is a contact or the friction of one (`model/contact_law`). A function of the state is positive
as long as its mode holds:

    contact    open: g;   closed: N         friction    sliding: σ s;   sticking: μ₀ N − |T|
    friction with several components        sliding: m·s − |s|/2 − 5 E;   sticking the same

A step within which one of them falls below zero is shortened until it ends there, by cubic
interpolation where the rate is known (g, s), else by bracketing. Steps do not look beyond their
modes, so all pieces of a motion are smooth.

**Sliding with several components.** The mode m is a direction, near that of s, and ε is zero
(`contact_law`). The watched function vanishes where s has turned by 60° from m, and m is renewed there:
nothing happens. Or it vanishes where |s| has fallen to 10 E, a speed tied to the tolerance: then m is
renewed and ε = E, so that nothing is singular where the slip vanishes. Sliding ends where m·s = 0; the
velocity that is left, across m, is taken away by an impact in which friction sticks. Sliding begins
with ε = E, too, until m·s = 30 E. It begins in the direction of the slip's acceleration: m =
ṡ(m) / |ṡ(m)|, by m ← m + ṡ / b, normalised, where b is the change of ṡ over that of m (J. Barzilai and
J. M. Borwein, IMA J. Numer. Anal. 8 (1988) 141–148); the first m, opposite to T, is the answer if the
slip has the same inertia in all directions.

**Impact.** Of all contacts that touch, those take part whose impulse is not negative, and which would
close otherwise: 0 ≤ Λ ⊥ ġ⁺ + ε ġ⁻ ≥ 0, a linear complementarity problem. It is solved by changing the
first unit that is inconsistent until none is (K. G. Murty, Opsearch 11 (1974) 118–135: this ends for
every P-matrix). Friction sticks in an impact unless its impulse exceeds μ₀ Λ; it slides then. Impacts
slower than the tolerance times the largest speed, or followed by a flight lower than rounding, have
no restitution, so that impacts which accumulate end in contact.

**Modes after an event** follow from velocities (surfaces that part, friction that slides), then from
accelerations by the same scheme: 0 ≤ N ⊥ g̈ ≥ 0, |T| ≤ μ₀ N.

**Stated events** have a function that changes its sign; its side is kept beside the modes. Extrema of
objectives are events at which the rate of a function vanishes and nothing happens.

**Derivatives.** An event at t* maps the state x⁻ to x⁺ = R(x⁻, t, ρ). With w the function that
vanishes there, f = (v, a) the rates before and after it, and S = ∂x/∂ρ at fixed time,

    t*' = −(w_x S⁻ + w_ρ) / ẇ,     S⁺ = R_x (S⁻ + f⁻ t*') + R_ρ + R_t t*' − f⁺ t*',
    ψ' ← ψ' + (g⁻ − g⁺) t*'

(saltation; R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems,
Springer 2004, chapter 7). R is the chain of an impact, or the identity; it is differentiated as every
chain. w may depend on accelerations and multipliers: their rates are derivatives of the same chain
along (v, a) and time. The adjoint is the transpose of these lines.
"""

from __future__ import annotations

TOUCH = 1e-11
"""Gap, over the size of the mechanism, below which surfaces touch: a thousand roundings."""
SLOW = 1e-11
"""Speed, over the largest one so far, below which surfaces neither part nor slide."""
SLOWEST = 1e-3
"""Least speed (m/s or rad/s) for these scales: what is at rest has a scale, too, and what is slower
than 1e-14 m/s rests.
"""
BLURRED = 1e-14
"""The same for values below zero that are only rounding."""
ROUNDED = 0.03
"""Share of that below which a value is zero: one or two floating-point numbers."""
BLURRED_FORCE = 1e-10
"""The same for forces, over the largest one: multipliers are less exact than positions."""
LOWEST = 1e-13
"""Height of a flight between two impacts, over the size of the mechanism, that rounding of
positions does not hide: some hundred floating-point numbers.
"""
OVERLAPS = 1e-9
"""Gap, over the size of the mechanism, below which shapes overlap at the start: ten times as exact
as an assembly is asked to be.
"""
DIP = 0.1
"""A minimum of a watched function within a step is looked at if it is below this share of the
values at its ends: interpolation over a step is more exact than that.
"""
AT_ONCE = -1.0
"""Proposed length of the next step where an event before it has failed."""
INSTANT = 1e-15
"""Share of the run to which events are located: a few floating-point numbers."""
NEVER = 1e300
"""Value of a function that is not watched."""
NUDGE = 1e-6
"""Share of the run by which a state is moved to find the rate of a function that depends on
accelerations: between rounding and curvature, for motions that change within a hundredth of the run.
"""
CHANGED = 3e-14
"""Relative change of a function over that time that is more than rounding."""
ATTEMPTS = 60
"""Steps to locate one event at most; bisection to rounding would take so many."""
PROBED = 8
"""Parts of a step at whose ends interpolation is looked at for values below zero."""
THIRDS = 25
"""Reductions of the interval around the lowest of these to two thirds: to 1e-5 of a step."""
EDGE = 1e-4
"""Share of a step at whose ends a minimum is one at the end."""
MOST_UNDECIDED = 8
"""Units whose modes are all tried out, at most: 6,561 combinations of frictions."""
NOTED = 9
"""Numbers that are noted of an event: see `Trajectory.notes`."""
JUMPED = 1e-6
"""Value of a stated function after an event, over its largest one, that is a jump over zero."""
ACCUMULATED = 1e-9
"""Rate of a stated function, over the largest speed, at which resets have accumulated."""
REVISIONS = 20
"""Changes of modes for each unit until an event is settled, and events at one instant, at most."""
CONSISTENT = 1e-9
"""Relative error of forces and accelerations by which modes are judged."""
NONE, SHORTER = -1, -2
CONTACT, FRICTION, EVENT, EXTREMUM = range(4)
OF_VELOCITIES, AT_START = 1, 3
"""Resets of stated events: of velocities; of states (2); and of states at the start of a run, too."""
QUIET = -1.0
"""Noted in place of a mode where a direction was renewed: nothing has happened."""
NEVER_FIRES = 2
"""Direction of an event that only ends steps."""
GAP, GAP_RATE, GAP_ACCELERATION, NORMAL, RESTITUTION = range(5)
SLIP, SLIP_RATE, TANGENTIAL, LIMIT = range(4)
UNIT_VALUES = 13
"""Values of a unit: slips of several components have |s| and |T| there, and their components behind."""
SLIPS, SLIP_RATES, TANGENTIALS = 4, 7, 10
"""Where these begin."""
ONSET = 100.0
"""Speed at which sliding with several components begins or ends (ε), over the tolerance and the
largest speed. The direction follows the slip at the rate μ N/(m (|s| + ε)) there: if the load reaches
μ₀ N = μ N slowly, s is small for long, and explicit steps have to follow that. A block that is pulled
so at the tolerance 1e-8 takes 7,700 steps for 10 (errors 4e-11), 2,600 for 100 (3e-12), and 960 for
1000 (7e-11).
"""
ENDING = 1e-6
"""That speed over the largest one, at least: rounding of a smaller slip, 1e-15, would turn it by so much
that derivatives, which depend on it as 1/|s|, need too many steps.
"""
GATHERED = 0.01
"""The largest speed is taken to be, at the onset, at least this share of what the load would reach
without friction in the whole run: a mechanism may have been at rest until then.
"""
BEGUN, ENTERED, NEARLY = 30.0, 10.0, 4.0
"""Slip over ε at which sliding has begun, at which it comes to its end, and up to which what is left of
it may be taken away.
"""
TURNED = 0.5
"""Cosine between the slip and its mode at which the mode is renewed; at zero the force would jump."""
ALIGNED = 1e-12
"""Error of a direction in which sliding begins: some roundings of accelerations."""
REFINED = 100
"""Corrections of such directions, at most: some five suffice unless masses differ by directions."""
