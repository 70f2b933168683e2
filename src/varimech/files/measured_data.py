"""Measured data in model files: times and values in the text, or two columns of a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, PrivateAttr, StrictFloat, StrictInt, StrictStr

from ..core.errors import Label, ModelError
from ..core.expressions import fixed_number
from ..core.table_files import read_columns
from ..core.tables import in_si_units
from ..core.units import of_one_kind
from ..model.user_functions import StateExpression
from . import field_types as ft

if TYPE_CHECKING:
    from ..identification.measurement import Measurement

Plain = list[StrictFloat | StrictInt]


class DataEntry(ft.Strict):
    """Measured samples of an expression of the state."""

    value: StrictStr = Field(description="Measured quantity, an expression of the state.")
    file: StrictStr | None = Field(
        None, description="A CSV file, by its path from the folder of the model file."
    )
    columns: list[StrictStr | StrictInt] | None = Field(
        None,
        description="Columns of times and values in the file, by name or by number from 0; the first two if"
        " not given.",
    )
    times: Plain | None = Field(None, description="Times of the samples, instead of a file.")
    values: Plain | None = Field(None, description="Values at these times.")
    units: list[StrictStr] | None = Field(None, description="Units of times and values, if not SI.")
    sigma: ft.Number | None = Field(
        None, description="Standard deviation of the noise; estimated from residuals if not given."
    )
    unit: StrictStr = Field("", description="SI unit of the value, for tables and figures.")
    _folder: Path = PrivateAttr(Path())

    def locate(self, folder: Path) -> None:
        """Set the folder to which paths are relative."""
        self._folder = folder

    @property
    def path(self) -> Path | None:
        """Path of the CSV file, if any."""
        return None if self.file is None else self._folder / self.file

    def made(self, name: str) -> Measurement:
        """Build the measurement for analyses.

        Raises:
            ModelError: for data that are missing, duplicated, or cannot be read.
        """
        from ..identification.measurement import measurement

        label = f"data {name!r}"
        present = self.times is not None, self.values is not None
        if present != ((self.file is None,) * 2) or (
            self.file is None and self.columns is not None
        ):
            raise ModelError(
                "has either a file, or times and values",
                element=label,
                remedy="give file: (with columns:), or times: and values:",
            )
        if self.path is not None:
            times, values, _ = read_columns(self.path, self.columns or (0, 1))
        else:
            times, values = self.times, self.values  # type: ignore[assignment]
        self._check_units(label)
        times, values, _ = in_si_units(times, values, None, self.units, label)
        sigma = None if self.sigma is None else fixed_number(self.sigma, self.unit, label)
        return measurement(
            StateExpression(self.value), times, values, sigma, name=name, unit=self.unit
        )

    def _check_units(self, label: str) -> None:
        """Check that times are in seconds, and values in the unit of the measured expression, if
        units are given.
        """
        for unit, expected in zip(self.units or (), ("s", self.unit), strict=False):
            if expected and not of_one_kind(unit, expected):
                raise ModelError(
                    "has the wrong dimension",
                    label=Label(label, "units"),
                    value=unit,
                    remedy=f"expected {expected}, or a unit that converts to it",
                )
