"""The double wishbone of the gallery against distances of its points alone, solved by Newton's method,
and their complex steps.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import kinematic_mechanisms as km
import numpy as np
import pytest
from scipy import stats

import double_wishbone as dw
import suspension_camber as sc

AT = {name: np.array(place) for name, place in dw.POINTS.items()}
HUB = ("LO", "UO", "TO", "W")


def closed(heights: np.ndarray, **given: complex) -> np.ndarray:
    """Camber and toe-in (rad), (height, 2): arms keep the distance of their ball joints from their front
    mounts, and its part along their axes; the upright keeps its distances.
    """
    mounts = {name: AT[name].astype(complex) for name in AT}
    for name, value in given.items():
        if name != "tie":
            mounts[name[:2]]["xyz".index(name[2])] = value
    tie = given.get("tie", np.linalg.norm(AT["TI"] - AT["TO"]))

    def along(front: np.ndarray, rear: np.ndarray) -> np.ndarray:
        u = front - rear
        return u / np.sqrt(u @ u)

    def closure(x: np.ndarray, height: float) -> np.ndarray:
        p = dict(zip(HUB, x.reshape(4, 3), strict=True))
        rows = []
        for k, a in enumerate(HUB):
            for b in HUB[k + 1 :]:
                rows.append(sum((p[a] - p[b]) ** 2) - sum((AT[a] - AT[b]) ** 2))
        for front, rear, ball in (("LF", "LR", "LO"), ("UF", "UR", "UO")):
            now, made = p[ball] - mounts[front], AT[ball] - AT[front]
            rows.append(sum(now**2) - sum(made**2))
            u = along(mounts[front], mounts[rear])
            rows.append(now @ u - made @ along(AT[front], AT[rear]))
        rows += [sum((p["TO"] - mounts["TI"]) ** 2) - tie**2, p["W"][2] - height]
        return np.array(rows)

    x = np.concatenate([AT[name] for name in HUB]).astype(complex)
    made = np.array([AT[name] - AT["W"] for name in HUB[:3]])
    found = []
    for height in heights:
        x = km.newton(partial(closure, height=height), x)
        now = x.reshape(4, 3)[:3] - x.reshape(4, 3)[3]
        R = np.linalg.solve(made, now).T
        found.append([np.arcsin(R[2, 1]), np.arctan(R[1, 0] / R[0, 0])])
    return np.array(found)


def test_camber_and_toe_with_their_derivatives() -> None:
    k = dw.over_travel(dw.suspension(), 7)
    names = [str(name) for name in k.parameter_names]
    assert set(names) == {*dw.OFF, "tie"}
    values = {n: float(AT[n[:2]]["xyz".index(n[2])]) for n in dw.OFF}
    values["tie"] = float(np.linalg.norm(AT["TI"] - AT["TO"]))
    heights = k.values[:, 0]
    expected = closed(heights, **values).real
    for column, output in enumerate((dw.camber, dw.toe)):
        assert k.measure(output).to_numpy() == pytest.approx(expected[:, column], abs=1e-11)
        slopes = k.measure(output, wrt="all")
        for name in names:
            step = km.complex_step(lambda **v: closed(heights, **v), values, name)[:, column]
            found = slopes.sel(parameter=name).to_numpy()
            assert found == pytest.approx(step, abs=1e-8 * abs(step).max()), name
    _, σ = dw.deviation(k, dw.toe)
    steps = [km.complex_step(lambda **v: closed(heights, **v), values, n)[:, 1] for n in names]
    expected_σ = dw.TOLERANCE / 3 * np.sqrt(np.sum(np.square(steps), axis=0))
    assert σ.to_numpy() == pytest.approx(expected_σ, rel=1e-7)


def test_the_driven_wheel_passes_the_same_positions() -> None:
    m = dw.suspension()
    run = m.simulate(dw.DURATION / 4, step=dw.DURATION / 40, backend="interpreted")
    heights = run.position("upright.W").to_numpy()[:, 2]
    assert heights[-1] == pytest.approx(0.36, abs=1e-9)
    expected = closed(heights).real
    assert run.measure(dw.camber).to_numpy() == pytest.approx(expected[:, 0], abs=1e-7)


def test_cheapest_tolerances_of_camber_and_toe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The risk by linear functions of the closed form, and by samples; cheaper and safer."""
    a = sc.main(tmp_path, samples=200)
    assert a.converged and a.cost < a.cost_before
    values = {n: float(AT[n[:2]]["xyz".index(n[2])]) for n in dw.OFF}
    values["tie"] = float(np.linalg.norm(AT["TI"] - AT["TO"]))
    height = dw.POINTS["W"][2]
    ends = np.array([height - dw.TRAVEL, height + dw.TRAVEL])
    middle = np.degrees(closed(ends, **values).real)
    # both fall with the height: largest with the wheel down, smallest with the wheel up
    slopes = np.degrees(
        [km.complex_step(lambda **v: closed(ends, **v), values, n) for n in a.names]
    )  # (parameter, height, output)
    signs = np.array([1.0, -1.0])[:, None]
    limits = np.array(list(sc.LIMITS.values())).T[::-1]  # the upper ones with the wheel down

    def risks(widths: np.ndarray) -> list[float]:
        found = []
        for k in range(2):
            G = signs[:, 0] * slopes[:, :, k] * widths[:, None] / 3
            σ = np.linalg.norm(G, axis=0)
            β = signs[:, 0] * (limits - middle)[:, k] / σ
            both = stats.multivariate_normal(np.zeros(2), G.T @ G / np.outer(σ, σ))
            found.append(1 - float(both.cdf(β)))
        return found

    assert risks(a.after) == pytest.approx([sc.RISK] * 2, rel=0.02)
    assert risks(a.before)[1] > 3 * sc.RISK
    drawn = sc.extremes(sc.problem(sc.mechanism()), a, 2000, seed=11)
    for found, widths in zip(drawn, (a.before, a.after), strict=True):
        σ = np.linalg.norm(slopes.reshape(len(widths), 4) * widths[:, None] / 3, axis=0)
        # columns of the example: largest and smallest of camber, then of toe-in
        assert found.std(axis=0) == pytest.approx(σ.reshape(2, 2).T.ravel(), rel=0.06)
        for leaves, risk in zip(sc.outside(found).values(), risks(widths), strict=True):
            assert stats.binomtest(int(leaves.sum()), 2000, risk).pvalue > 1e-3
    assert (tmp_path / "suspension_camber.png").stat().st_size > 20_000
    assert "tighten first: tie, UFy, URy" in capsys.readouterr().out
