"""Measured data and priors in the fit study of a model file: numbers, or columns of a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, StrictInt, StrictStr

from ..core.errors import ModelError
from ..core.table_files import read_columns_of
from ..identification.measurement import Measurement, measurement
from ..model.parameter import Parameter, Tolerance
from . import field_types as ft
from .distribution_fields import Distribution

Column = StrictStr | Annotated[StrictInt, Field(ge=0)]
Numbers = list[ft.Finite]
IN_FILE = ("time", "value")
"""Keys that name columns of a file."""


class MeasurementEntry(ft.Strict):
    """Samples of a quantity: times and values, or columns of a CSV file."""

    of: StrictStr = Field(description="The measured quantity, an expression of the state.")
    file: StrictStr | None = Field(
        None, description="A CSV file, by its path from the folder of the model file."
    )
    time: Column | None = Field(
        None, description="Column of times (s): its name, or its number from 0; 0 if not given."
    )
    value: Column | list[Column] | None = Field(
        None, description="Column of values, or a list, one for each component; 1 if not given."
    )
    times: Numbers | None = Field(None, description="Times of samples, s.")
    values: Numbers | list[Numbers] | None = Field(
        None, description="A number, or a row of numbers, for each time."
    )
    sigma: ft.Positive | Column | Numbers | list[Numbers] | None = Field(
        None,
        description="Standard deviation of the noise: a number, the name of a column of the file,"
        " or numbers; estimated if not given.",
    )
    unit: StrictStr = Field("", description="SI unit of the values.")

    def read(self, folder: Path) -> MeasurementEntry:
        """The same with the numbers of its file.

        Raises:
            ModelError: for a file or column that is not there, or keys that do not go together.
        """
        if self.file is None:
            if self.times is None or self.values is None or self.given(*_others(IN_FILE)):
                raise ModelError(
                    "needs times: and values:, or file: with time: and value: for its columns"
                )
            if isinstance(self.sigma, str):
                raise ModelError(
                    "is a column, and there is no file", field="sigma", value=self.sigma
                )
            return self
        if self.times is not None or self.values is not None:
            raise ModelError("has numbers and a file", remedy="give one of the two")
        several = isinstance(self.value, list)
        columns: list[str | int] = [0 if self.time is None else self.time]
        columns += self.value if isinstance(self.value, list) else [self.value or 1]
        columns += [self.sigma] if isinstance(self.sigma, str) else []
        found = read_columns_of(folder / self.file, columns)
        values = found[1 : len(found) - isinstance(self.sigma, str)]
        numbers = {
            "of": self.of,
            "times": found[0].tolist(),
            "values": np.column_stack(values).tolist() if several else values[0].tolist(),
            "unit": self.unit,
        }
        if self.sigma is not None:
            numbers["sigma"] = found[-1].tolist() if isinstance(self.sigma, str) else self.sigma
        return MeasurementEntry.model_validate(numbers)

    def made(self, name: str) -> Measurement:
        """As a fit has it."""
        assert self.times is not None and self.values is not None
        assert not isinstance(self.sigma, str)
        return measurement(self.of, self.times, self.values, self.sigma, name=name, unit=self.unit)


def _others(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in MeasurementEntry.model_fields if name not in names)


class PriorEntry(ft.Strict):
    """What is known of a parameter before the data."""

    tolerance: ft.Number | None = Field(
        None, description="Bilateral tolerance ±, read as a normal distribution."
    )
    sigmas: ft.Positive | None = Field(
        None, description="Standard deviations in the tolerance; 3 if not given."
    )
    distribution: Distribution | None = Field(
        None, description="A distribution of scipy.stats, instead of a tolerance."
    )

    def made(self, parameter: Parameter) -> object:
        """The distribution, with numbers in the unit of the parameter.

        Raises:
            ModelError: for a tolerance and a distribution, or neither.
        """
        if self.distribution is not None and self.tolerance is None:
            return self.distribution.made()
        if self.distribution is not None or self.tolerance is None:
            raise ModelError(
                f"prior of {parameter.name!r} needs a tolerance or a distribution",
                remedy="give one of the two, or null for a flat prior",
            )
        tolerance = Tolerance(self.tolerance, 3.0 if self.sigmas is None else self.sigmas)
        return tolerance.in_unit_of(parameter.name, parameter.unit)
