"""Distributions in model files: the name of one of scipy.stats, with its numbers."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from ..core.errors import ModelError, unknown_name


class Distribution(BaseModel):
    """A distribution of scipy.stats by name (`norm`, `uniform`, `Normal`, …); all other keys are
    its parameters, in SI units.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, StrictFloat | StrictInt]
    name: StrictStr = Field(description="Name in scipy.stats: norm, uniform, triang, lognorm, …")

    def made(self) -> object:
        """Build the distribution."""
        from scipy import stats

        name, numbers = self.name, dict(self.__pydantic_extra__)
        families = {n for n in dir(stats) if isinstance(getattr(stats, n), stats.rv_continuous)}
        newer = {"Normal", "Uniform"}
        if name not in families | newer:
            raise unknown_name("continuous distribution of scipy.stats", name, families | newer)
        try:
            return getattr(stats, name)(**numbers)
        except (TypeError, ValueError) as error:
            raise ModelError(f"distribution {name!r} does not take {numbers!r}: {error}") from None


def distribution_entry(distribution: Any) -> dict[str, object]:
    """Return the file entry of a distribution.

    Raises:
        ModelError: for a distribution that scipy.stats does not build from numbers.
    """
    from scipy import stats

    family = getattr(distribution, "dist", None)
    if isinstance(family, stats.rv_continuous) and getattr(stats, family.name, None) is not None:
        shapes = [s.strip() for s in family.shapes.split(",")] if family.shapes else []
        numbers = {
            **dict(zip([*shapes, "loc", "scale"], distribution.args, strict=False)),
            **distribution.kwds,
        }
        return {"name": family.name, **_floats(distribution, numbers)}
    if type(distribution).__name__ in ("Normal", "Uniform"):
        numbers = distribution._original_parameters
        return {"name": type(distribution).__name__, **_floats(distribution, numbers)}
    problem = "is not a distribution of scipy.stats by its name and numbers"
    raise ModelError(
        problem, field="distribution", value=distribution, remedy="model files contain only these"
    )


def _floats(distribution: object, numbers: dict[str, Any]) -> dict[str, float]:
    try:
        floats = {key: float(value) for key, value in numbers.items()}
    except TypeError:
        raise ModelError(
            "has arrays for numbers",
            field="distribution",
            value=distribution,
            remedy="give single ones",
        ) from None
    if not all(map(math.isfinite, floats.values())):
        problem = f"has numbers that are not finite: {floats!r}"
        remedy = "model files contain only finite ones"
        raise ModelError(problem, field="distribution", value=distribution, remedy=remedy)
    return floats
