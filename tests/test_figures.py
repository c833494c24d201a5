"""Figures of experiments: what is drawn where, and readable axes."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest

from repbm.experiments import load_experiment
from repbm.experiments._trust_table import trust_table
from repbm.experiments.figures._canvas import _ticks, logarithmic, png
from repbm.experiments.figures._errors import _kinds, _points, alpha_figure, errors_figure
from repbm.experiments.figures._trust import trust_figures

OURS, RARE, PUBLISHED = "this software, 95 % interval over runs", "not defined in most runs", "published"


@pytest.fixture
def table() -> pl.DataFrame:
    """An estimator with everything, one that is hardly ever defined, one of the paper alone, and one without error."""
    lines = []
    for name, undefined, rmse, paper in (
        ("a", 0, 2.0, 3.0),
        ("b", 8, 5.0, None),
        ("c", 10, None, 7.0),
        ("d", 0, 0.0, None),
    ):
        line = {"estimator": f"repbm(alpha={len(lines)})", "runs": 10, "undefined": undefined, "name": name}
        for metric in ("mean", "individual"):
            low, high = (1.0, 4.0) if name == "a" else (None, None)
            line |= {f"rmse_{metric}": rmse, f"rmse_{metric}_low": low, f"rmse_{metric}_high": high}
            line |= {f"published_{metric}": paper}
        lines.append(line)
    return pl.DataFrame(lines)


def test_what_has_a_place_on_a_logarithmic_axis(table: pl.DataFrame) -> None:
    assert _points(table, "mean").rows() == [
        ("repbm(alpha=0)", OURS, 2.0, 1.0, 4.0),
        ("repbm(alpha=1)", RARE, 5.0, 5.0, 5.0),
        ("repbm(alpha=0)", PUBLISHED, 3.0, 3.0, 3.0),
        ("repbm(alpha=2)", PUBLISHED, 7.0, 7.0, 7.0),
    ]
    assert _kinds(table) == [PUBLISHED, OURS, RARE]
    assert _kinds(table.head(1)) == [PUBLISHED, OURS]


@pytest.mark.slow
def test_the_same_table_is_the_same_picture(table: pl.DataFrame) -> None:
    for figure in (errors_figure, alpha_figure):
        assert figure(table) == figure(table) != figure(table.head(2))
        # A table in which nothing is defined has a picture too.
        assert figure(table.tail(1)).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.3, 25, [0.5, 1, 2, 5, 10, 20]),
        (0.7, 1.5, [0.8, 1.0, 1.2, 1.4]),
        (0.98, 1.03, [0.98, 0.99, 1.0, 1.01, 1.02, 1.03]),
        (0.001, 1000, [0.001, 0.01, 0.1, 1, 10, 100, 1000]),
        (1e-5, 1e5, [1e-5, 1e-3, 0.1, 10, 1000, 1e5]),
    ],
)
def test_ticks_are_those_that_people_would_choose(low: float, high: float, expected: list[float]) -> None:
    assert _ticks(low, high, most=7) == pytest.approx(expected)


def test_axes_hold_everything_that_has_a_logarithm() -> None:
    scale, axis = logarithmic([2.0, 40.0, 0.0, -1.0, float("inf"), float("nan")])
    low, high = scale.domain
    assert 1 < low < 2
    assert 40 < high < 80
    assert axis.values == [2, 5, 10, 20]
    # One number alone gets some room, none at all a usual axis.
    for numbers in ([3.0], []):
        low, high = logarithmic(numbers)[0].domain
        assert low < high


def test_experiments_load_nothing_that_draws() -> None:
    code = "import sys, repbm.experiments; assert not {'altair', 'vl_convert', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_chart_without_labels_is_as_wide_as_all() -> None:
    import altair as alt

    data = pl.DataFrame({"x": [1.0, 2.0]})

    def draw(width: int) -> alt.Chart:
        return alt.Chart(data).mark_point().encode(x=alt.X("x:Q", axis=None)).properties(width=width, height=50)

    assert int.from_bytes(png(draw)[16:20], "big") == 800


def test_trust_has_two_figures_of_families_alone() -> None:
    numbers = {"rms": 1.0, "rms_supported": 0.9, "am_rms": 3.0, "wdr_rms": None, "coverage": 0.9}
    rows = [{"family": family, "episodes": 200, **numbers} for family in ("a", "exam", "exam, answerable", "beside")]
    table = pl.DataFrame(rows, schema=trust_table(pl.DataFrame(schema=load_experiment("trust").schema)).schema)
    found = trust_figures(table)
    assert set(found) == {"errors", "coverage"}
    assert all(png.startswith(b"\x89PNG") for png in found.values())
    assert found == trust_figures(table.head(1))
