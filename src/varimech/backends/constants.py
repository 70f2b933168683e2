"""Constants that compiled and interpreted runs share, as definitions for the compiler. Each value
is chosen, and explained, once, in the Python module that uses it.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from . import events, explicit, newton, selection, switching

SHARED: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (newton, ("NEGLIGIBLE", "NOISE", "LARGEST")),
    (selection, ("POOR", "SINGULAR", "DEPENDENT")),
    (explicit, ("SAFETY", "BLUR", "FORESEEN", "MOST_FORESEEN", "SHORTEST", "BRIDGE", "TRIES")),
    (explicit, ("PROGRESS", "ROUNDING", "UNYIELDING", "OFF", "RESTING")),
    (
        events,
        (
            "TOUCH",
            "SLOW",
            "SLOWEST",
            "BLURRED",
            "ROUNDED",
            "BLURRED_FORCE",
            "OVERLAPS",
            "DIP",
            "INSTANT",
            "NEVER",
            "AT_ONCE",
        ),
    ),
    (
        events,
        (
            "ATTEMPTS",
            "REVISIONS",
            "CONSISTENT",
            "LOWEST",
            "NUDGE",
            "CHANGED",
            "ACCUMULATED",
            "JUMPED",
            "PROBED",
            "THIRDS",
            "EDGE",
            "MOST_UNDECIDED",
            "NOTED",
            "UNIT_VALUES",
            "NEARLY",
            "TURNED",
            "ALIGNED",
            "REFINED",
            "ONSET",
            "GATHERED",
            "BEGUN",
            "ENTERED",
            "ENDING",
            "QUIET",
        ),
    ),
    (switching, ("ACROSS", "GIVEN", "JUMP", "TOGETHER", "NEARER", "PATIENCE", "IMMINENT")),
)


@cache
def definitions() -> str:
    """Return `#define VM_NAME value` for each constant."""
    return "\n".join(
        f"#define VM_{name} {getattr(module, name)!r}" for module, names in SHARED for name in names
    )
