"""The base of all results: labelled arrays in one xarray Dataset with metadata, and all operations
common to results.

A class of results defines its arrays (`dataset`), their origin (`info`) and its description
(`_described`). Saving, loading, tables, text, JSON and the view in notebooks are implemented here.
Datasets are built when they are requested, so that computing a result does not spend time on
labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

from ..core.errors import ModelError
from ..core.markup import Displayed, html_heading, html_table, html_text
from ..core.messages import PYTHON, PythonSyntax, Text, rendered
from ..plotting.figure import picture
from ..plotting.table import table
from .labels import with_units
from .saving import dataset_of, load_dataset, load_json, plain, save_dataset, save_json

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from .run import Run


class Variable:
    """A variable of the dataset as an attribute of its result: `mean = Variable("The mean.")`.

    The second argument is its name in the dataset if that differs.
    """

    def __init__(self, doc: str, name: str = ""):
        self.__doc__ = doc
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._name or name

    @overload
    def __get__(self, result: None, owner: type) -> Self: ...
    @overload
    def __get__(self, result: Result, owner: type) -> xr.DataArray: ...
    def __get__(self, result: Result | None, owner: type) -> Self | xr.DataArray:
        """Return the descriptor itself, with its documentation, if accessed on the class."""
        return self if result is None else result.dataset[self._name]


Table = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Header and rows."""


@dataclass(frozen=True)
class Description:
    """Description of a result: as text in a terminal, as tables in a notebook."""

    title: str
    summary: Sequence[Text] = ()
    """Lines above the tables."""
    tables: Sequence[Table] = ()
    notes: Sequence[Text] = ()
    """Lines below the tables."""

    def text(self, syntax: PythonSyntax) -> str:
        """The text that is printed, with arguments in the syntax of an interface."""
        summary = [rendered(line, syntax) for line in self.summary]
        notes = [f"  {rendered(note, syntax)}" for note in self.notes]
        tables = [table(*each) for each in self.tables]
        return "\n".join([f"<{self.title}>", *summary, *tables, *notes])

    def html(self) -> str:
        """The HTML that notebooks show."""
        tables = [html_table(*each) for each in self.tables]
        above, below = (
            html_text("\n".join(map(str, lines))) if lines else ""
            for lines in (self.summary, self.notes)
        )
        return "".join([html_heading(self.title), above, *tables, below])


class Result(Displayed):
    """Result of an analysis.

    `info` describes its origin, `dataset` contains its numbers with names and units. Print it, show
    it in a notebook, or `save` it.
    """

    _dims: ClassVar[tuple[str, ...]] = ("time", "objective")
    """Dimensions of the variables that tables show; rows of files run along the first of them."""

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, scheme, parameters, versions, seconds and other metadata, as far as known."""
        raise NotImplementedError

    @property
    def dataset(self) -> xr.Dataset:
        """All labelled arrays, with units."""
        raise NotImplementedError

    def to_dataframe(self) -> pd.DataFrame:
        """The main variables as a table.

        Returns:
            A row for each entry along their dimensions.
        """
        data = self.dataset
        dims = self._kind._dims
        shown = data[[name for name, array in data.items() if array.dims == dims]]
        units = [str(name) for name in shown.coords if str(name).endswith("_unit")]
        return shown.drop_vars(units).to_dataframe()

    def table(self) -> pd.DataFrame:
        """The main numbers as a table; of most results, `to_dataframe`.

        Returns:
            The table.
        """
        return self.to_dataframe()

    def save(self, path: str | Path, *, variables: Sequence[str] | str | None = None) -> Path:
        """Write it to a file; the ending of the name chooses the format.

        Args:
            path: .nc (netCDF with a digest of its content), .csv, .mat (MATLAB) or .json.
            variables: some of `dataset` by name, for .csv and .mat; all if not given.

        Returns:
            The path.

        Raises:
            ModelError: for another ending, an unknown variable, or a file that cannot be written.
        """
        path = Path(path)
        if variables is not None and path.suffix in (".nc", ".json"):
            problem = f"has no effect for a {path.suffix} file, which has all variables"
            remedy = "leave it out, or save .csv or .mat"
            raise ModelError(
                problem, element="save", field="variables", value=variables, remedy=remedy
            )
        if path.suffix == ".json":
            return save_json({**self.to_json(), "text": self.text()}, path)
        metadata = {**self._metadata(), "text": self.text()}
        attributes = {"result": self._kind.__name__, "varimech": json.dumps(plain(metadata))}
        whole = self.dataset.assign_attrs(attributes)
        return save_dataset(whole, path, only=variables, rows=self._kind._dims[0])

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a result that was saved as .nc or .json.

        Args:
            path: the file.

        Returns:
            A `SavedResult` with the dataset, metadata and text of the result. A `Run`,
            `Modes`, a `Certificate` and `SobolIndices` are rebuilt as such.

        Raises:
            ModelError: if the file is missing, was damaged or changed, or has another result.
        """
        return SavedResult(cls, *cls._read(Path(path)))

    @classmethod
    def _read(cls, path: Path) -> tuple[xr.Dataset, dict[str, Any]]:
        """Dataset and metadata of a file."""
        if path.suffix != ".json":
            return load_dataset(path, cls.__name__)
        return dataset_of(load_json(path, cls.__name__), path, cls.__name__)

    @property
    def _kind(self) -> type[Result]:
        """The class that files name, and whose dimensions tables show."""
        return type(self)

    def _metadata(self) -> dict[str, object]:
        """`info`, and the further data that a file needs to be loaded."""
        return self.info

    def to_json(self) -> dict[str, Any]:
        """Metadata, coordinates and variables as plain data.

        Returns:
            `result`, `info`, `coords`, `data_vars` and `attrs`; NaN is None.
        """
        content = self.dataset.to_dict(data="list")
        kept = {key: content[key] for key in ("coords", "data_vars", "attrs")}
        return dict(plain({"result": self._kind.__name__, "info": self._metadata(), **kept}))

    def _described(self) -> Description:
        """Text and tables that describe the result."""
        raise NotImplementedError

    def _display(self) -> str:
        plot = getattr(self, "plot", None)
        return self._described().html() + ("" if plot is None else picture(plot()))

    def text(self, syntax: PythonSyntax = PYTHON) -> str:
        """Text that `print` shows, with arguments in the syntax of an interface."""
        return self._described().text(syntax)

    def __repr__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False, repr=False)
class ByParameter(Result):
    """A result with objectives and parameters as labels."""

    objective_names: tuple[str, ...]
    units: tuple[str, ...]
    """Units of the objectives."""
    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]

    def _coords(self, *dims: str) -> dict[str, Any]:
        """Coordinates by objective, and by parameter along some dimensions."""
        coords = with_units("objective", self.objective_names, self.units)
        for dim in dims:
            coords |= with_units(dim, self.parameter_names, self.parameter_units)
        return coords


@dataclass(frozen=True, eq=False, repr=False)
class Derivatives(ByParameter):
    """Derivatives along a run."""

    method: str
    """The derivative method."""
    run: Run
    seconds: dict[str, float]

    @property
    def info(self) -> dict[str, Any]:
        """`info` of the run, the derivative method, and seconds."""
        return {**self.run.info, "derivatives": self.method, "seconds": self.seconds}

    @property
    def _attrs(self) -> dict[str, str]:
        return {"mechanism": self.run.info["mechanism"], "method": self.method}


class SavedResult(Result):
    """A result of any kind after loading: read-only, without its mechanism."""

    def __init__(self, kind: type[Result], dataset: xr.Dataset, info: dict[str, object]):
        self._saved = kind
        self._dataset = dataset
        self._info = {key: value for key, value in info.items() if key != "text"}
        self._text = str(info.get("text", f"<{kind.__name__} without text>"))

    @property
    def info(self) -> dict[str, Any]:
        """Metadata, identical to `info` of the result that was saved."""
        return self._info

    @property
    def dataset(self) -> xr.Dataset:
        """All labelled arrays, bit by bit identical to those that were saved."""
        return self._dataset

    @property
    def _kind(self) -> type[Result]:
        return self._saved

    def _display(self) -> str:
        return html_text(self._text)

    def text(self, syntax: PythonSyntax = PYTHON) -> str:
        """Text that `print` showed for the result that was saved."""
        return self._text
