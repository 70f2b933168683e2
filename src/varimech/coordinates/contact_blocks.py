"""Constraints and efforts of the contacts that an element defines (`model/contact_law`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model.contact_law import Contact, ContactLabel, ContactSymbols
from ..model.parameter_set import ParameterSet
from .dynamics import Constraint, ContactUnit

Pairs = tuple[tuple[SX, SX], ...]


class ContactBlocks:
    """Blocks of constraints, friction forces, and friction impulses of an element's contacts.

    Args:
        owner: name of the element.
        labels: labels of its contacts.
        contacts: gap, slip and coefficients of each contact.
        numbers: parameters and modes of the model.
        slack: coordinate and rate of a slack by its name.
        differentiate: time derivative of functions of positions and time.
        rates: all velocities.
    """

    def __init__(
        self,
        owner: str,
        labels: Sequence[ContactLabel],
        contacts: Sequence[Contact],
        numbers: ParameterSet,
        slack: Callable[[str], tuple[SX, SX]],
        differentiate: Callable[[SX], SX],
        rates: SX,
    ):
        self.constraints: list[Constraint] = []
        self.efforts: list[tuple[SX, SX]] = []
        self.impulses: list[tuple[SX, SX]] = []
        self._owner, self._numbers, self._slack = owner, numbers, slack
        for label, contact in zip(labels, contacts, strict=True):
            self._check(label, contact, rates)
            normal = SX(1)
            if contact.gap is not None:
                normal = -self._add_contact(label, contact.gap, differentiate(contact.gap), contact)
            if contact.slip is not None:
                self._add_friction(label, contact, normal)

    def _check(self, label: ContactLabel, contact: Contact, v: SX) -> None:
        """Refuse gaps that depend on velocities, and slips that are not linear in velocities."""
        if contact.gap is not None and ca.depends_on(contact.gap, v):
            raise ModelError(
                "depends on velocities, so nothing keeps it from going beyond its limit",
                element=label.name,
                remedy="limit a function of positions; m.event watches any function",
            )
        if contact.slip is None:
            return
        J = ca.jacobian(contact.slip, v)
        if J.nnz() == 0 or ca.depends_on(J, v):
            raise ModelError(
                "friction needs a rate that is linear in the velocities",
                element=label.name,
                remedy="give a velocity, such as displacement_rate('guide')",
            )

    def _add_contact(self, label: ContactLabel, gap: SX, rate: SX, contact: Contact) -> SX:
        """Add the block of a contact; return the symbol of its multiplier."""
        modes, (y, ẏ) = ContactSymbols(label, self._numbers.modes), self._slack(label.slacks[0])
        c, p, b = (modes[name] for name in ("closed", "impact", "bounce"))
        assert contact.restitution is not None
        λ = SX.sym("λ")
        self.constraints.append(
            Constraint(
                label.name,
                c * gap + (1 - c) * y,
                (self._owner,),
                impact=p * rate + (1 - p) * ẏ,
                bounce=b * contact.restitution * rate,
                contact=ContactUnit(
                    label.name,
                    gap,
                    self._place(label.modes_of("closed")),
                    λ,
                    restitution=contact.restitution,
                ),
            )
        )
        return λ

    def _add_friction(self, label: ContactLabel, contact: Contact, normal: SX) -> None:
        """Add the block of friction; `normal` is N in terms of the symbol of the contact's
        multiplier.
        """
        modes = ContactSymbols(label, self._numbers.modes)
        y, ẏ = (
            ca.vertcat(*x)
            for x in zip(*[self._slack(name) for name in label.friction_slacks], strict=True)
        )
        k, k_impact = modes["stick"], modes["impact stick"]
        s, μ = contact.slip, contact.sliding
        assert s is not None and μ is not None
        assert contact.static is not None
        name, place = label.units[-1], self._place(label.modes_of("stick"))
        λ = SX.sym("λ", label.components)
        unit = ContactUnit(name, s, place, λ, limit=contact.static * normal)
        held = s  # plus the rate of the slack along a normal, where nothing slips
        if contact.normal is not None:
            held = s + contact.normal * ca.dot(contact.normal, ẏ)
        self.constraints.append(
            Constraint(
                name,
                y,
                (self._owner,),
                rate=k * held + (1 - k) * ẏ,
                impact=k_impact * held + (1 - k_impact) * ẏ,
                contact=unit,
            )
        )
        self.efforts.append((s, -modes.sliding_direction(s) * μ * normal))
        if contact.gap is not None:  # prescribed normal forces have no impulse
            self.impulses.append((s, -μ * modes.impact_share(s, normal)))

    def _place(self, mode: str) -> int:
        return self._numbers.mode_place(mode)


def reset_blocks(
    owner: str,
    event: str,
    resets: Sequence[tuple[SX, SX]],
    slacks: Sequence[tuple[SX, SX]],
    mode: SX,
) -> list[Constraint]:
    """Return the blocks that an event imposes on rates in an impact: each rate takes its new value;
    at all other times the blocks constrain slacks only.
    """
    return [
        Constraint(
            f"reset {k} by {event}",
            y,
            (owner,),
            impact=mode * rate + (1 - mode) * ẏ,
            bounce=-mode * target,
        )
        for k, ((rate, target), (y, ẏ)) in enumerate(zip(resets, slacks, strict=True))
    ]


def slack_energy(rates: Sequence[SX], mass: float) -> SX:
    """Kinetic energy of slacks, which makes their accelerations unique."""
    return sum((mass * ca.sumsqr(rate) / 2 for rate in rates), SX(0))
