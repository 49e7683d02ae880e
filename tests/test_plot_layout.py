"""Every figure is readable in a paper's column, 3.33 inches wide, on light and dark paper: measured as drawn."""

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import rgb_to_hsv, to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

import nofluke as nf
from nofluke import plot
from nofluke.studies.cell_map import map_cells
from nofluke.studies.leaderboard import About, Leaderboard
from nofluke.studies.pooled_row import Pooled, PooledMeasure
from nofluke.text.numbers import p_is

COLUMN = 3.33
LEAST = (0.9, 0.65)  # inches of a panel
NAMES = ("a", "isolation forest, window 10", "isolation forest, window 20", "matrix profile", "one-class SVM")


@cache
def quakes(dates=False):
    """A labelled series and the scores of twelve detectors, the first ones better."""
    data = nf.datasets.simulate_quakes(rng=3, n_steps=600, n_events=45)
    rng = np.random.default_rng(0)
    score = nf.detectors.energy_transient(data.counts)
    names = [*NAMES, *(f"detector {i}" for i in range(6, 13))]
    scores = {name: score + i * rng.gamma(1, 0.4, len(score)) for i, name in enumerate(names)}
    return data.truth, scores, {"times": data.days} if dates else {}


@cache
def result(dates=False, ranges=False):
    """An evaluation on steps, on dates, or of ranges on dates."""
    truth, scores, how = quakes(dates)
    rest = {"count_events": "ranges"} if ranges else {}
    return nf.evaluate(truth, scores["a"], quantile=0.9, tolerance="2d" if dates else 2, rng=1, **how, **rest)


@cache
def results(n, dates=False):
    """Evaluations of n detectors."""
    truth, scores, how = quakes(dates)
    return {
        name: nf.evaluate(truth, scores[name], quantile=0.9, tolerance=2, rng=1, **how) for name in list(scores)[:n]
    }


@cache
def curve(n=3, quantiles=(0.5, 0.7, 0.8, 0.9, 0.95, 0.99), name="a"):
    """A sweep over n tolerances."""
    truth, scores, _ = quakes()
    return nf.sweep(
        truth, scores[name], quantiles=quantiles, tolerances=range(n), null="permutation", method="binomial"
    )


@cache
def curves(n):
    """Sweeps of n detectors over three tolerances."""
    return {name: curve(name=name) for name in list(quakes()[1])[:n]}


@cache
def lists(dates=True):
    """A coincidence of two lists of dates."""
    rng = np.random.default_rng(1)
    day = np.datetime64("2021-03-01")
    events, alarms = (day + np.sort(rng.choice(500, 30, replace=False)) for _ in range(2))
    how = {"span": (day, day + 499), "gaps": [(day + 200, day + 230)], "duplicates": "merge"}
    kept = (
        [x for x in events if not day + 200 <= x <= day + 230],
        [x for x in alarms if not day + 200 <= x <= day + 230],
    )
    return kept, how


@cache
def windows(n):
    """A sweep of two lists over n tolerances and some lags."""
    (events, alarms), how = lists()
    tolerances, lags = [f"{i}d" for i in range(n)], [f"{i}d" for i in range(-6, 7)]
    return nf.sweep_tolerances(events, alarms, tolerances=tolerances, lags=lags, null="permutation", **how)


@cache
def coincidence():
    """Both lists at one tolerance."""
    (events, alarms), how = lists()
    return nf.coincidence(events, alarms, tolerance="4d", null="permutation", **how)


@cache
def metrics(*more):
    """Two metrics of one detector, and more."""
    truth, scores, _ = quakes()
    return nf.significance(["auc-roc", "average-precision", *more], truth, scores["a"], null="circular-shift")


@cache
def level():
    """A level of chance."""
    return nf.chance("auc-roc", quakes()[0], n_resamples=200, rng=1)


@cache
def comparison(n):
    """A comparison of n detectors."""
    truth, scores, _ = quakes()
    return nf.compare(truth, dict(list(scores.items())[:n]), quantile=0.9, tolerance=2, n_resamples=199, alpha=0.5)


@cache
def ranking():
    """A ranking of twelve methods, some of which differ."""
    rng = np.random.default_rng(2)
    return nf.rank({name: rng.random(60) * 0.3 + 0.03 * i for i, name in enumerate(quakes()[1])}, n_resamples=499)


@cache
def board():
    """A leaderboard of twelve detectors."""
    rest = {"n_series": 9, "n_failed": 0, "n_told": 9, "share_yes": 0.4, "skill_in": 2, "n_groups": 9}
    rows = []
    for i, name in enumerate(quakes()[1]):
        f1 = PooledMeasure(value=0.7 - 0.05 * i, low=0.6 - 0.05 * i, high=0.8 - 0.05 * i, expected=0.2, std=0.05)
        told = {"precision": f1, "recall": f1, "f1": f1, "verdict": "yes", "reason": ""}
        rows.append(Pooled(detector=name, best=i < 3, **told, **rest))
    about = About(title="", null="auto", tolerance="2 steps", threshold="budget 1%", n_series=9, n_groups=9)
    return Leaderboard(rows=tuple(rows), pairs=None, about=about)


@cache
def cells():
    """Verdicts of five detectors on twelve series of three groups."""
    words = ["yes", "no", "partly", "cannot tell"]
    every = [(name, s) for name in NAMES for s in range(12)]
    table = {
        "series": [f"series {s}" for _, s in every],
        "group": [f"group {s // 4}" for _, s in every],
        "detector": [name for name, _ in every],
        "verdict": [words[(3 * s + len(name)) % 4] for name, s in every],
        "f1": [0.05 * s + 0.2 for _, s in every],
        "f1_at_chance": [0.3] * len(every),
    }
    return map_cells(NAMES, table, {"series": [], "group": [], "detector": [], "reason": []})


@cache
def watched(n):
    """A watch over n detectors of ten years, in blocks of four weeks."""
    data = nf.datasets.simulate_quakes(rng=3)
    rng = np.random.default_rng(0)
    alarms = {
        name: (data.truth > 0) & (rng.random(len(data.truth)) < 0.5) | (rng.random(len(data.truth)) < 0.05)
        for name in NAMES[:n]
    }
    how = {"tolerance": "1d", "block": "28d", "lost_below": 0.3}
    return nf.Watch.replay(data.truth, predictions=alarms, times=data.days, **how).result


@dataclass(frozen=True)
class Case:
    """A figure: what draws it, into how many panels, and how high it is in a column."""

    draw: object
    shape: tuple = ()
    height: float = 2.8


def timeline(make, ax):
    """`timeline` takes its Axes by name."""
    return plot.timeline(make(), ax=ax)


CASES = {
    "null": Case(lambda ax: plot.null(result().precision_test.law, ax, observed=result().precision_hits)),
    "evaluation side by side": Case(lambda ax: plot.evaluation(result(), ax), (1, 2), 2.2),
    "sweep": Case(lambda ax: plot.sweep(curve(2), ax), (2, 2), 4.4),
    "sweep of 12 together": Case(lambda ax: plot.sweep(curve(12), ax, chance="none"), (1, 2)),
    "timeline": Case(partial(timeline, result)),
    "timeline of ranges": Case(partial(timeline, partial(result, True, True))),
    "timeline of 3": Case(partial(timeline, partial(results, 3, True)), (), 3.2),
    "timeline of 12": Case(partial(timeline, partial(results, 12, True)), (), 5),
    "coincidence": Case(lambda ax: plot.coincidence(coincidence(), ax)),
    "lags": Case(lambda ax: plot.lags(windows(2), ax), (2, 2), 4.4),
    "lags of 9 together": Case(lambda ax: plot.lags(windows(9), ax, chance="none"), (1, 2)),
    "significance": Case(lambda ax: plot.significance(metrics()[0], ax)),
    "significances": Case(lambda ax: plot.significances(metrics(), ax), (2,), 4.4),
    "significances of 3": Case(lambda ax: plot.significances(metrics("vus-roc"), ax), (3,), 5),
    "significances side by side": Case(lambda ax: plot.significances(metrics(), ax), (1, 2), 2.4),
    "chance level": Case(lambda ax: plot.chance_level(level(), ax)),
    "leaderboard": Case(lambda ax: plot.leaderboard(board(), ax), (), 3.2),
    "ranking": Case(lambda ax: plot.ranking(ranking(), ax), (), 3.4),
    "ranking as dots": Case(lambda ax: plot.ranking(ranking(), ax, kind="dots"), (), 3.4),
    "verdicts": Case(lambda ax: plot.verdicts(cells(), ax)),
    "watch": Case(lambda ax: plot.watch(watched(1), ax), (3,), 5),
    "watch of 5": Case(lambda ax: plot.watch(watched(5), ax), (3,), 5.4),
    "verdicts as values": Case(lambda ax: plot.verdicts(cells(), ax, show="value")),
    "heatmap": Case(lambda ax: plot.heatmap(curve(12), ax), (2,), 4.8),
    "heatmap side by side": Case(lambda ax: plot.heatmap(curve(3), ax, show="value"), (1, 2), 2.4),
    "heatmap of 12 side by side": Case(lambda ax: plot.heatmap(curve(12), ax), (1, 2), 2.4),
    "precision and recall of 12 tolerances": Case(lambda ax: plot.precision_recall(curve(12), ax), (), 3.0),
    "precision and recall of 12 detectors": Case(
        lambda ax: plot.precision_recall(curves(12), ax, tolerance=2, chance="band"), (), 3.8
    ),
    "tolerance": Case(lambda ax: plot.tolerance(curve(12), ax, quantile=0.9), (1, 2)),
    "molchan": Case(lambda ax: plot.molchan(curve(1).molchan(n_resamples=99), ax), (), 3.4),
    "molchan of 5": Case(
        lambda ax: plot.molchan({name: curve(1).molchan(n_resamples=99) for name in NAMES}, ax), (), 4
    ),
    "performance": Case(lambda ax: plot.performance(curve(1), ax), (), 3.4),
    "performance of 5": Case(lambda ax: plot.performance(curves(5), ax, tolerance=2, chance="band"), (), 4),
    "performance of a result": Case(lambda ax: plot.performance(result(), ax), (), 3.4),
    "lag": Case(lambda ax: plot.lag(result(), ax), (1, 2)),
    "lag of 5": Case(lambda ax: plot.lag(results(5), ax), (2,), 4.8),
    "compare": Case(lambda ax: plot.compare(comparison(3), ax), (2,), 3.8),
    "compare 8": Case(lambda ax: plot.compare(comparison(8), ax), (2,), 5),
    "compare side by side": Case(lambda ax: plot.compare(comparison(3), ax), (1, 2), 2.4),
    "compare 8 side by side": Case(lambda ax: plot.compare(comparison(8), ax), (1, 2), 2.4),
}


@cache
def drawn(name, style="default"):
    """The figure of a case in a column, laid out, once for all tests."""
    case = CASES[name]
    with plt.style.context(style):
        figure = Figure(figsize=(COLUMN, case.height), dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(*case.shape) if case.shape else figure.subplots()
        case.draw(axes)
        figure.draw_without_rendering()
    return figure


def texts_of(figure):
    """Every text that is seen, with its box; the texts of a tick only where the tick is."""
    renderer = figure.canvas.get_renderer()
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            found.append((text, text.get_window_extent(renderer)))
    hidden = {
        label
        for ax in figure.axes
        for axis in (ax.xaxis, ax.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not _within(tick.get_loc(), axis.get_view_interval())
    }
    off = {text for ax in figure.axes for child in ax.child_axes for text in child.findobj(Text)}
    return [(text, box) for text, box in found if text not in hidden | off]


def _within(at, ends):
    low, high = sorted(ends)
    slack = 1e-9 * (high - low)
    return low - slack <= at <= high + slack


def shrunk(box, pixels=1.0):
    """A box without its rim: what touches does not overlap."""
    return box.x0 + pixels, box.y0 + pixels, box.x1 - pixels, box.y1 - pixels


def overlap(one, other):
    """Whether two boxes overlap."""
    a, b = shrunk(one), shrunk(other)
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.fixture(scope="module", params=CASES)
def figure(request):
    """Each figure, drawn once."""
    return drawn(request.param)


@pytest.mark.slow
def test_figures_fit_into_a_column(figure):
    """Nothing leaves the figure, no panel collapses, no text covers another, no legend covers data."""
    page = figure.bbox
    texts = texts_of(figure)
    for text, box in texts:
        inside = page.x0 <= box.x0 + 1, page.y0 <= box.y0 + 1, box.x1 <= page.x1 + 1, box.y1 <= page.y1 + 1
        assert all(inside), f"{text.get_text()!r} leaves the figure"
    for (one, box), (other, beside) in combinations(texts, 2):
        assert not overlap(box, beside), f"{one.get_text()!r} is on {other.get_text()!r}"
    for ax in figure.axes:
        if ax.get_label() != "<colorbar>":
            size = ax.bbox.size / figure.dpi
            assert (size >= LEAST).all(), f"a panel of {size} inches"
            if ax.get_legend() is not None:
                box = ax.get_legend().get_window_extent(figure.canvas.get_renderer())
                assert not any(overlap(box, other.bbox) for other in figure.axes), "a legend covers a panel"
                assert box.x1 <= page.x1 + 1


def luminance(colour):
    """The relative luminance of WCAG."""
    rgb = np.array(colour[:3])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    """The contrast of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


DARK = (
    "null",
    "timeline of ranges",
    "lags of 9 together",
    "leaderboard",
    "verdicts",
    "lag of 5",
    "lag",
    "compare side by side",
)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", DARK)
def test_figures_can_be_read_on_light_and_on_dark_paper(name, style):
    """Letters have a contrast of at least 4.5 with what is behind them, lines and markers of 3."""
    figure = drawn(name, style)
    paper = to_rgba(figure.get_facecolor())
    assert luminance(paper) == pytest.approx(1.0 if style == "default" else 0.0)
    cells = {}
    for ax in figure.axes:
        for image in ax.images:
            values = image.cmap(image.norm(image.get_array()))
            cells |= {text: values[round(text.get_position()[1]), round(text.get_position()[0])] for text in ax.texts}
        for line in ax.get_lines():
            assert contrast(to_rgba(line.get_color()), paper) >= 3, line.get_label()
    for text, _ in texts_of(figure):
        behind = cells.get(text, paper)
        behind = paper if behind[3] == 0 else behind
        assert contrast(to_rgba(text.get_color()), behind) >= 4.5, text.get_text()


def test_the_mean_of_chance_is_seen_on_its_band_on_dark_paper():
    """With a contrast of at least 3, in lines over a band and in the rows of detectors."""
    for name in ("lag", "compare side by side"):
        ax = drawn(name, "dark_background").axes[0]
        lines = [line for line in ax.get_lines() if "chance, mean" in str(line.get_label())]
        lines += [one.lines[0] for one in ax.containers if "chance" in one.get_label()]
        bands = [one.get_facecolor() for one in ax.collections if "chance" in str(one.get_label())]
        bands += [one.lines[2][0].get_color() for one in ax.containers if "chance" in one.get_label()]
        (line,), (band,) = lines, bands
        on_black = band[0][:3] * band[0][3]
        assert contrast(to_rgba(line.get_color()), on_black) >= 3, name
        assert contrast(on_black, (0, 0, 0)) >= 3, name


@pytest.mark.slow
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_nothing_but_found_and_missed_is_blue_or_orange(style):
    """By its hue, whatever it is that has a colour; chance is grey."""
    for name in CASES:
        for ax in drawn(name, style).axes:
            for line in ax.get_lines():
                red, green, blue = to_rgba(line.get_color())[:3]
                hue, full, _ = rgb_to_hsv((red, green, blue))
                told = str(line.get_label())
                coloured = full > 0.3 and (0.04 < hue < 0.13 or 0.5 < hue < 0.72)
                assert not coloured or told.startswith(("event", "range", "predictions", "alarms", "false")), (
                    name,
                    told,
                )
                assert not told.startswith(("chance", "_chance")) or red == green == blue, (name, told)


@pytest.mark.parametrize("size", [(COLUMN, 2.4), (7.0, 3.0)])
def test_the_size_that_a_reader_sets_is_taken(size):
    """Of the whole figure; its height for each row of panels. Without one, figures have sizes of their own."""
    with plt.rc_context({"figure.figsize": size}):
        assert plot.evaluation(result())[0].figure.get_size_inches() == pytest.approx(size)
        assert plot.leaderboard(board()).figure.get_size_inches() == pytest.approx(size)
        assert plot.sweep(curve(2))[0, 0].figure.get_size_inches() == pytest.approx((size[0], 2 * size[1]))
    assert plot.evaluation(result())[0].figure.get_size_inches() == pytest.approx((9.2, 3.4))
    plt.close("all")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.shape])
def test_a_figure_has_at_most_one_legend_and_its_titles_are_aligned(name):
    """However many panels it has."""
    figure = drawn(name)
    assert sum(ax.get_legend() is not None for ax in figure.axes) <= 1
    rows = {}
    for ax in figure.axes:
        if ax.get_title() and ax.get_label() != "<colorbar>":
            rows.setdefault(round(ax.bbox.y0), set()).add(round(ax.title.get_window_extent().y0))
    assert all(len(heights) == 1 for heights in rows.values())


SHARED = (
    "evaluation side by side",
    "significances of 3",
    "significances side by side",
    "heatmap side by side",
    "compare 8 side by side",
)


@pytest.mark.parametrize("name", SHARED)
def test_panels_without_room_share_a_legend_that_names_everything_once(name):
    """It stands above the titles of the first row, and tells each kind of line once."""
    figure = drawn(name)
    (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
    told = [text.get_text() for text in legend.get_texts()]
    assert len({text.split(",")[0] for text in told}) == len(told) >= 2
    first = figure.axes[0]
    assert legend.get_window_extent().y0 >= first.title.get_window_extent().y1 - 1
    assert first.title.get_window_extent().y0 >= first.bbox.y1 - 1


def test_numbers_that_differ_between_panels_stand_in_their_titles():
    """Where both share a legend: hits and p-values of an evaluation, as in the legends of wide panels."""
    left, right = drawn("evaluation side by side").axes
    for ax, test in ((left, result().precision_test), (right, result().recall_test)):
        assert p_is(test.pvalue) in ax.get_title()
        assert f"{test.hits} of {test.of}" in ax.get_xlabel().replace("\n", " ")


def test_detectors_side_by_side_are_named_once_and_stand_in_the_same_rows():
    """The difference of a detector is beside its value; the best has none."""
    left, right = drawn("compare 8 side by side").axes
    assert not any(text.get_text() for text in right.get_yticklabels())
    assert left.get_ylim() == right.get_ylim()
    found = comparison(8)
    at = {round(y): x for x, y in right.containers[0].lines[0].get_xydata() if not np.isnan(x)}
    best = found.detectors.index(found.best or found.detectors[0])
    assert sorted(at) == [row for row in range(8) if row != best]
    for row, x in at.items():
        assert x == found.values[best, 2] - found.values[row, 2]


def test_a_shared_legend_makes_room_where_nothing_lays_out_the_figure():
    """Below the upper end of the figure, and above both panels."""
    figure = Figure(figsize=(COLUMN, 2.6))
    FigureCanvasAgg(figure)
    panels = plot.evaluation(result(), figure.subplots(1, 2))
    figure.draw_without_rendering()
    box = panels[0].get_legend().get_window_extent()
    assert box.y1 <= figure.bbox.y1 + 1
    assert box.x1 <= figure.bbox.x1 + 1
    assert all(box.y0 >= ax.title.get_window_extent().y1 - 1 for ax in panels)


def test_titles_stand_above_legends_whenever_they_are_set():
    """Also where nothing lays out the figure: the panel makes room, and a title set later is above the legend."""
    figure = Figure(figsize=(4, 3))
    FigureCanvasAgg(figure)
    ax = plot.precision_recall(curves(5), figure.subplots(), tolerance=2)
    ax.set_title("set later")
    figure.draw_without_rendering()
    title, legend = ax.title.get_window_extent(), ax.get_legend().get_window_extent()
    assert ax.bbox.y1 <= legend.y0 + 1
    assert legend.y1 <= title.y0 + 1
    assert title.y1 <= figure.bbox.y1 + 1


def test_steps_and_hits_have_whole_ticks():
    """On every axis that counts."""
    for name in ("null", "timeline", "tolerance", "lag"):
        for ax in drawn(name).axes:
            assert (ax.get_xticks() % 1 == 0).all(), name


def test_dates_are_few_and_short():
    """At most a handful of them in a column."""
    (ax,) = drawn("timeline of ranges").axes
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert 2 <= len(texts) <= 6
    assert max(map(len, texts)) <= 4


def test_every_public_figure_is_looked_at():
    """A new function gets a case."""
    public = {name for name in plot.__all__ if name not in ("PALETTE", "SERIES")}
    told = " ".join(CASES).replace("chance level", "chance_level").replace("precision and recall", "precision_recall")
    assert {name for name in public if name not in told.split()} == set()
