"""Every kind of result is saved as .nc and as .json and loaded again, without its mechanism: the
same arrays bit by bit, the same metadata and the same text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import varimech as vm
from varimech.results.result import Result

DURATION = 0.1


ANGLE = vm.final(lambda s: s.angle("rod"), unit="rad")


def problem() -> vm.Problem:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L, angle = m.parameter("L", 1.0, unit="m"), m.parameter("angle", -1.0, unit="rad")
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": angle})
    return m.problem({"ψ": ANGLE}, "L", duration=DURATION)


def ensemble() -> vm.Ensemble:
    """Its second sample fails: no rod has a negative length. NaN in its place is saved, too."""
    return problem().ensemble({"L": [1.0, -1.0, 1.5]})


def fit() -> vm.Fit:
    times, values = [0.04, 0.07, 0.1], [-1.006, -1.019, -1.039]
    return problem().fit(vm.measurement(lambda s: s.angle("rod"), times, values, sigma=0.01), "L")


TOLERANCE = {"L": vm.Tolerance(0.1), "angle": vm.Tolerance(0.1)}
KINDS: dict[str, Callable[[], Result]] = {
    "Run": lambda: problem().gradient().run,
    "Gradient": lambda: problem().gradient(),
    "adjoint Gradient, NaN before the end": lambda: problem().gradient("adjoint"),
    "Hessian": lambda: problem().hessian(),
    "Ensemble": ensemble,
    "Moments": lambda: problem().moments(TOLERANCE),
    "Study": lambda: problem().monte_carlo(TOLERANCE, samples=16, executor=1),
    "Optimum": lambda: problem().optimize("L", bounds={"L": (0.8, 1.2)}),
    "Fit": fit,
    "Certificate": lambda: problem().certify(),
    "SobolIndices": lambda: problem().openturns(TOLERANCE).sobol(samples=16),
    "Reliability": lambda: problem().openturns(TOLERANCE).probability(ANGLE <= -1.04),
    "Chaos": lambda: problem().openturns(TOLERANCE).chaos(runs=16, checks=8, degree=2),
}
REBUILT = {"Run", "Certificate", "SobolIndices"}


def bits(array: xr.DataArray) -> object:
    """The bytes of numbers; texts as a list, which files may store in another way."""
    values = array.to_numpy()
    return values.tobytes() if values.dtype.kind in "fiub" else [*map(str, values.ravel())]


def same(read: xr.Dataset, written: xr.Dataset) -> None:
    assert set(read.variables) == set(written.variables)
    for name in map(str, written.variables):
        assert read[name].dims == written[name].dims
        assert bits(read[name]) == bits(written[name]), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_loaded_as_it_was_saved(kind: str, tmp_path: Path) -> None:
    result = KINDS[kind]()
    for ending in (".nc", ".json"):
        path = result.save(tmp_path / f"result{ending}")
        read = type(result).load(path)
        same(read.dataset, result.dataset)
        assert str(read) == str(result)
        assert {**read.info, **json.loads(json.dumps(_plain(result.info)))} == read.info
        assert isinstance(read, type(result) if kind in REBUILT else vm.SavedResult)
        assert not read.to_dataframe().empty and not read.table().empty
        assert read._repr_html_()
        again = type(result).load(read.save(tmp_path / f"again{ending}"))
        same(again.dataset, result.dataset)
        assert str(again) == str(result)


def _plain(info: dict[str, object]) -> object:
    from varimech.results.saving import plain

    return plain(info)


def test_another_kind_or_a_changed_file_is_refused(tmp_path: Path) -> None:
    result = ensemble()
    for ending in (".nc", ".json"):
        path = result.save(tmp_path / f"ensemble{ending}")
        with pytest.raises(vm.ModelError, match="not a saved study: the kind of result in it is E"):
            vm.Study.load(path)
    path.write_text(path.read_text(encoding="utf-8").replace("1.5", "1.6"), encoding="utf-8")
    with pytest.raises(vm.ModelError, match=r"not a saved ensemble.*changed after it was saved"):
        vm.Ensemble.load(path)
    assert np.isnan(result.values[1]).all() and set(result.failures) == {1}
