"""A ranking by a table of values: its tests against enumeration, all kinds of tables, its words and its ways out.

Oracles import nothing from nofluke: they go through all exchanges of methods within units, one by one.
"""

import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import nofluke as nf
from nofluke.cli import cli
from nofluke.studies import rank as module
from nofluke.studies.rank import answered, complete_ranks

TSB = Path(os.environ.get("NOFLUKE_DATA", "nowhere")) / "tsb-ad"
ABOUT = ["!ts_len", "!*anomaly*"]
PEERS = [
    *([0.61, 0.4, 0.56, 0.67], [0.52, 0.54, 0.66, 0.69], [0.51, 0.36, 0.52, 0.59], [0.7, 0.7, 0.65, 0.57]),
    *([0.48, 0.27, 0.44, 0.41], [0.54, 0.43, 0.61, 0.53], [0.56, 0.52, 0.58, 0.64], [0.5, 0.5, 0.4, 0.5]),
    *([0.61, 0.52, 0.65, 0.79], [0.67, 0.53, 0.48, 0.74], [0.65, 0.58, 0.39, 0.57], [0.57, 0.53, 0.56, 0.56]),
    *([0.77, 0.64, 0.62, 0.74], [0.41, 0.49, 0.42, 0.48]),
]


# ---- oracles


def differences(values, weights, unit):
    """For each unit, the weighted sum of the differences of all pairs on the series that both have."""
    n = values.shape[1]
    found = {}
    for row, weight, u in zip(values, weights, unit, strict=True):
        d = found.setdefault(u, np.zeros((n, n)))
        for i, j in itertools.product(range(n), repeat=2):
            if not np.isnan(row[i]) and not np.isnan(row[j]):
                d[i, j] += weight * (row[i] - row[j])
    return list(found.values())


def statistic(units):
    """|Σ d| / √Σ d² of all pairs; 0 where two agree everywhere."""
    total, squares = sum(units), sum(d * d for d in units)
    return np.where(squares > 1e-20, np.abs(total) / np.sqrt(np.where(squares > 1e-20, squares, 1)), 0.0)


def by_enumeration(values, weights, unit):
    """Corrected p of all pairs: all exchanges of the methods of each unit, and the flips of the pair itself."""
    units = differences(values, weights, unit)
    n = values.shape[1]
    present = [
        [i for i in range(n) if any(not np.isnan(row[i]) for row, own in zip(values, unit, strict=True) if own == u)]
        for u in dict.fromkeys(unit)
    ]
    seen, largest = statistic(units), []
    for orders in itertools.product(*(itertools.permutations(own) for own in present)):
        moved = []
        for d, own, order in zip(units, present, orders, strict=True):
            who = dict(zip(own, order, strict=True))
            moved.append(
                np.array([[d[who[i], who[j]] if i in who and j in who else 0.0 for j in range(n)] for i in range(n)])
            )
        largest.append(statistic(moved).max())
    p = np.array([[np.mean(np.array(largest) >= t - 1e-9) for t in row] for row in seen])
    for i, j in itertools.product(range(n), repeat=2):
        d = np.array([one[i, j] for one in units])
        d = d[np.abs(d) > 1e-12]
        flipped = [abs(np.dot(signs, d)) for signs in itertools.product([1, -1], repeat=len(d))]
        p[i, j] = max(p[i, j], np.mean(np.array(flipped) >= abs(d.sum()) - 1e-9)) if len(d) else 1.0
    return p


def test_few_exchanges_are_enumerated():
    """With three methods on five series, p is the share of all exchanges: it equals that of the oracle exactly."""
    values = np.random.default_rng(0).random((5, 3)).round(1)
    found = answered(values, np.ones(5), np.arange(5), "series", 0.05, 99, 0)
    assert found.n_resamples == 0
    np.testing.assert_allclose(found.pvalue, by_enumeration(values, np.ones(5), range(5)), rtol=1e-12)


@pytest.mark.parametrize("weigh", ["series", "sources"])
def test_whole_sources_are_exchanged(weigh):
    """Series of one source move together, with the weight that the mean gives them."""
    rng = np.random.default_rng(1)
    values, source = rng.random((9, 3)), [*"aaaabbcdd"]
    table = {**{f"m{i}": values[:, i] for i in range(3)}, "from": source}
    found = nf.rank(table, source="from", weigh=weigh)
    weights = np.array([1 / source.count(s) if weigh == "sources" else 1.0 for s in source])
    order = [int(name[1]) for name in found.methods]
    np.testing.assert_allclose(found.answer.pvalue, by_enumeration(values[:, order], weights, source), rtol=1e-12)
    expected = weights @ values / weights.sum()
    np.testing.assert_allclose(found.means, expected[order])


def test_p_of_random_exchanges_is_never_0():
    """However far apart methods are, the data are one of the exchanges."""
    found = nf.rank({"a": np.arange(60) + 100.0, "b": np.arange(60), "c": np.arange(60) - 50.0}, n_resamples=199)
    assert found.answer.pvalue[0, 1] == found.answer.floor[0, 1] == 1 / 200


@pytest.mark.parametrize("kept", [0, 10**9])
@pytest.mark.parametrize("gaps", [[(0, 0), (1, 2)], [(0, 1), (2, 2), (3, 0)], [(0, 0), (1, 0), (2, 0)]])
def test_only_methods_that_are_present_are_exchanged(gaps, kept, monkeypatch):
    """Cells that are missing stay where they are, whether a method lacks a whole source or a part of one."""
    monkeypatch.setattr(module, "MOST_KEPT", kept)
    values, source = np.random.default_rng(2).random((8, 3)), np.array([0, 0, 0, 1, 1, 2, 2, 3])
    for at in gaps:
        values[at] = np.nan
    for unit in (source, np.arange(8)[:5]):
        own = values[: len(unit)]
        found = answered(own, np.ones(len(unit)), unit, "sources", 0.05, 99, 0)
        assert found.n_resamples == 0
        np.testing.assert_allclose(found.pvalue, by_enumeration(own, np.ones(len(unit)), unit.tolist()), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["complete", "lacking", "partly"])
def test_random_exchanges_agree_with_all_of_them(kind, monkeypatch):
    """Each of the three compiled loops draws from what is enumerated where there is little."""
    values, unit = np.random.default_rng(5).random((8, 4)), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    values[:, 0] += 0.2
    if kind == "lacking":
        values[:2, 1] = np.nan
    if kind == "partly":
        values[2, 1] = values[5, 0] = np.nan
    monkeypatch.setattr(module, "MOST_LISTED", 10**6)
    exact = answered(values, np.ones(8), unit, "sources", 0.05, 99, 0)
    monkeypatch.setattr(module, "MOST_LISTED", 1)
    drawn = answered(values, np.ones(8), unit, "sources", 0.05, 20_000, 7)
    assert (exact.n_resamples, drawn.n_resamples) == (0, 20_000)
    np.testing.assert_allclose(drawn.pvalue, exact.pvalue, atol=4.5 * 0.5 / 20_000**0.5)


def test_more_units_than_a_block_holds(monkeypatch):
    """Units beyond the first block of the compiled loops count as those in it: 150 of them give p of the normal law."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(150, 2))
    monkeypatch.setattr(module, "MOST_LISTED", 1)
    found = answered(values, np.ones(150), np.arange(150), "series", 0.05, 20_000, 1)
    d = values[:, 0] - values[:, 1]
    expected = 2 * stats.norm.sf(abs(d.sum()) / np.sqrt(d @ d))
    assert found.pvalue[0, 1] == pytest.approx(expected, abs=0.02)


def test_the_number_of_processors_changes_nothing(monkeypatch):
    """Chunks have streams of their own, whoever draws them."""
    values = np.random.default_rng(0).random((40, 5))
    one = answered(values, np.ones(40), np.arange(40), "series", 0.05, 999, 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert answered(values, np.ones(40), np.arange(40), "series", 0.05, 999, 3) == one
    other = answered(values, np.ones(40), np.arange(40), "series", 0.05, 999, 4)
    assert not np.array_equal(other.pvalue, one.pvalue)


# ---- floors, intervals, groups


@pytest.mark.parametrize("n_methods", [2, 4])
def test_five_sources_cannot_tell_and_six_can(n_methods):
    """A pair that differs in five units has no p below 1/16, however many methods there are; with six it is 1/32."""
    for n_units, verdict in ((5, "cannot tell"), (6, "yes")):
        values = np.arange(n_units)[:, None] * 0.01 + np.linspace(0.9, 0.1, n_methods)
        values += np.random.default_rng(0).normal(0, 1e-4, values.shape)
        table = {f"m{i}": np.repeat(values[:, i], 2) for i in range(n_methods)}
        found = nf.rank({**table, "from": np.repeat(np.arange(n_units), 2)}, source="from")
        assert found.verdict == verdict
        assert found.answer.enough == 6
        assert found.answer.floor[0, 1] == pytest.approx(2.0 ** (1 - n_units))
        assert found.answer.pvalue[0, 1] >= found.answer.floor[0, 1]
        assert np.isnan(found.answer.low[0, 1]) == (verdict == "cannot tell")
        if verdict == "cannot tell":
            assert "5 sources cannot tell any pair apart at the 0.05 level (it takes 6)" in found.verdict_in_words()
            assert "the smallest p-value that 5 sources can give is 0.062" in str(found)


def test_one_source_cannot_tell_anything_about_others():
    """All series from one place: p is 1 by sources, whatever is seen by series."""
    rng = np.random.default_rng(0)
    low = rng.random(30) * 0.1
    found = nf.rank({"a": low + 0.5, "b": low, "from": ["x"] * 30}, source="from")
    assert found.verdict == "cannot tell"
    assert found.answer.pvalue[0, 1] == found.answer.floor[0, 1] == 1
    assert found.other.told[0, 1]


def test_intervals_exclude_0_where_pairs_are_told_apart():
    """And any other difference where a table shifted by it would be told apart at the same bar."""
    rng = np.random.default_rng(4)
    values = rng.random((40, 4)) * 0.3 + np.array([0.3, 0.25, 0.12, 0.0])
    found = answered(values, np.ones(40), np.arange(40) // 2, "sources", 0.05, 999, 0)
    outside = (found.low > 0) | (found.high < 0)
    pairs = np.triu_indices(4, 1)
    assert (outside == found.told)[pairs].all()
    assert 0 < found.told[pairs].sum() < 6
    seen = np.mean(values[:, 0] - values[:, 1])
    assert found.low[0, 1] < seen < found.high[0, 1]
    ratios = []
    for end in (found.low[0, 1], found.high[0, 1]):
        d = (values[:, 0] - values[:, 1] - end).reshape(20, 2).sum(1)
        ratios.append(abs(d.sum()) / np.sqrt(d @ d))
    assert ratios[0] == pytest.approx(ratios[1])


def test_a_source_with_nearly_all_series_leaves_no_interval():
    """Where the weights of the units are so unequal that no mean is bounded, there is none, and a note says why."""
    rng = np.random.default_rng(0)
    source = ["big"] * 400 + [*"abcdefghi"]
    found = nf.rank({"x": rng.random(409), "y": rng.random(409), "z": rng.random(409), "s": source}, source="s")
    assert np.isnan(found.answer.low[0, 1])
    assert "a few sources hold nearly all of the weight" in str(found)


def test_groups_hold_every_pair_that_is_not_told_apart_and_no_other():
    """The bars of the diagram: within one nobody is told from another, and whoever is not shares one."""
    rng = np.random.default_rng(8)
    found = nf.rank({f"m{i}": rng.random(60) * 0.4 + 0.04 * i for i in range(9)})
    told = found.answer.told
    together = np.eye(9, dtype=bool)
    for group in found.answer.groups():
        assert not told[np.ix_(group, group)].any()
        together[np.ix_(group, group)] = True
    assert (together == ~told).all()
    sets = [set(group) for group in found.answer.groups()]
    assert not any(one <= other for one, other in itertools.permutations(sets, 2))
    assert 0 < found.answer.n_told < 36


def test_units_that_would_tell_grow_as_the_difference_shrinks():
    """Half the difference takes about four times the units; where the two have one mean there is no number."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=60)
    noise -= noise.mean()
    needed = [nf.rank({"a": noise + d, "b": np.zeros(60)}).answer.needed for d in (0.1, 0.05)]
    assert needed[1] == pytest.approx(4 * needed[0], rel=0.02)
    assert nf.rank({"a": [1.0, 2, 3], "b": [3.0, 2, 1]}).answer.needed is None
    # the usual sample size: the bar of a test at .05, and power .8
    expected = ((stats.norm.isf(0.025) + stats.norm.isf(0.2)) / 0.3) ** 2
    many = nf.rank({"a": noise / noise.std() + 0.3, "b": np.zeros(60)}).answer.needed
    assert many == pytest.approx(expected, rel=0.06)


# ---- what must hold for any table

TABLES = st.tuples(st.integers(2, 5), st.integers(2, 12), st.integers(0, 10**6))


@settings(max_examples=30)
@given(TABLES)
def test_order_of_rows_and_columns_changes_nothing(drawn):
    """The same table in another order has the same means, order and, where all are enumerated, the same p."""
    n_methods, n_series, seed = drawn
    rng = np.random.default_rng(seed)
    values = rng.random((min(n_series, 4), min(n_methods, 3)))
    names = [f"m{i}" for i in range(values.shape[1])]
    one = nf.rank(dict(zip(names, values.T, strict=True)))
    rows, columns = rng.permutation(len(values)), rng.permutation(len(names))
    other = nf.rank({names[k]: values[rows, k] for k in columns})
    assert other.methods == one.methods
    np.testing.assert_allclose(other.means, one.means)
    np.testing.assert_allclose(other.answer.pvalue, one.answer.pvalue)
    np.testing.assert_allclose(other.answer.low, one.answer.low)


@settings(max_examples=30)
@given(TABLES)
@example((2, 10, 0))  # a difference of 0, but for rounding
def test_a_constant_for_each_series_changes_no_difference(drawn):
    """Hard series are hard for all: only differences within a series count. Turned round, lower is better."""
    n_methods, n_series, seed = drawn
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 20, (n_series, n_methods)) / 4  # halves of halves: sums are exact
    values[0, 0] += 1
    shifted = values + rng.integers(0, 50, (n_series, 1)) / 4
    names = [f"m{i}" for i in range(n_methods)]
    one, other, turned = (
        nf.rank(dict(zip(names, table.T, strict=True)), n_resamples=99, better=better)
        for table, better in ((values, "higher"), (shifted, "higher"), (-values, "lower"))
    )
    np.testing.assert_allclose(other.answer.pvalue, one.answer.pvalue, rtol=1e-9)
    np.testing.assert_allclose(other.differences, one.differences, atol=1e-12)
    assert turned.methods == one.methods
    np.testing.assert_allclose(turned.answer.pvalue, one.answer.pvalue, rtol=1e-9)
    np.testing.assert_allclose(turned.differences, -one.differences, atol=1e-12)
    np.testing.assert_allclose(turned.answer.low, -one.answer.high, atol=1e-12)


@settings(max_examples=30)
@given(TABLES, st.booleans(), st.sampled_from([0.0, 0.2]))
def test_p_is_never_0_and_never_below_its_floor(drawn, grouped, missing):
    """Nor above 1, nor is a copy of a method ever told from it; a method does not differ from itself."""
    n_methods, n_series, seed = drawn
    rng = np.random.default_rng(seed)
    values = rng.random((n_series, n_methods)).round(1)
    values[1:][rng.random((n_series - 1, n_methods)) < missing] = np.nan
    table = {f"m{i}": values[:, i] for i in range(n_methods)} | {"copy": values[:, 0]}
    if grouped:
        table["from"] = [str(i // 2) for i in range(n_series)]
    found = nf.rank(table, source="from" if grouped else None, n_resamples=49)
    i, j = found.methods.index("m0"), found.methods.index("copy")
    for answer in found.answers:
        assert (answer.pvalue <= 1).all()
        assert (answer.pvalue >= answer.floor * (1 - 1e-9)).all()
        assert (answer.floor > 0).all()
        assert (answer.pvalue == answer.pvalue.T).all()
        assert (np.diag(answer.pvalue) == 1).all()
        assert answer.pvalue[i, j] == 1
        assert not answer.told[i, j]
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_p_does_not_depend_on_the_scale(scale):
    """Squares of the values would be 0, or infinite."""
    values = np.random.default_rng(0).random((12, 3))
    one, other = (nf.rank(dict(zip("abc", s * values.T, strict=True)), n_resamples=99) for s in (1.0, scale))
    np.testing.assert_array_equal(other.answer.pvalue, one.answer.pvalue)
    np.testing.assert_allclose(other.answer.low / scale, one.answer.low)
    json.dumps(other.to_dict(), allow_nan=False)


def test_who_lacks_the_hard_series_does_not_lead():
    """Published means are as they are; the order is by differences on the series that both have."""
    easy, hard = [0.9] * 10, [0.1] * 10
    found = nf.rank({"all": [*easy, *hard], "picky": [*np.subtract(easy, 0.05), *[np.nan] * 10]})
    assert found.methods == ("all", "picky")
    assert found.means.tolist() == pytest.approx([0.5, 0.85])
    assert found.differences[0, 1] == pytest.approx(0.05)
    assert found.n_series_of.tolist() == [20, 10]
    assert "10 of 40 cells are missing" in str(found)


def test_methods_without_a_series_in_common_are_not_compared():
    """There is no difference, no interval, and p is 1."""
    found = nf.rank({"a": [1.0, 2, np.nan, np.nan], "b": [np.nan, np.nan, 1, 2], "c": [0.5, 0.5, 0.5, 0.6]})
    told = found.difference("a", "b")
    assert (told["difference"], told["low"], told["pvalue"]) == (None, None, 1.0)
    assert "no series in common" in found.to_markdown(rows="pairs")
    assert np.isnan(found.mean_ranks).all()
    assert found.classical().friedman is not None


def test_a_constant_method_is_ranked_and_noted():
    """A method that is the same everywhere is no error."""
    found = nf.rank({"a": np.random.default_rng(0).random(9), "flat": [0.5] * 9})
    assert "The same value on every series: flat." in found.notes
    assert nf.rank({"a": [1, 1.0], "b": [1, 1.0]}).answer.pvalue[0, 1] == 1


# ---- the classical tests, as others have them


def test_classical_tests_are_those_of_other_packages():
    """autorank 1.3.0, scikit-posthocs 0.17.1, aeon 1.6.0, with scipy 1.17.1: recorded on the table above."""
    values = np.array(PEERS)
    found = nf.rank(dict(zip("abcd", values.T, strict=True)))
    place = [found.methods.index(name) for name in "abcd"]
    classical = found.classical()
    assert classical.friedman == pytest.approx(0.06552762259006702)  # all three
    assert classical.critical_difference == pytest.approx(1.2535512603486423, rel=1e-4)  # autorank
    ranks = dict(zip(found.methods, found.mean_ranks.tolist(), strict=True))
    expected = {"a": 2.1785714285714284, "b": 3.107142857142857, "c": 2.75, "d": 1.9642857142857142}  # autorank, aeon
    assert ranks == pytest.approx(expected)
    nemenyi = [  # scikit_posthocs.posthoc_nemenyi_friedman
        [1.0, 0.22669688602641502, 0.6451600476781312, 0.9716864713022136],
        [0.22669688602641502, 1.0, 0.8842979147902774, 0.08867270928888271],
        [0.6451600476781312, 0.8842979147902774, 1.0, 0.37275100400684724],
        [0.9716864713022136, 0.08867270928888271, 0.37275100400684724, 1.0],
    ]
    np.testing.assert_allclose(classical.nemenyi[np.ix_(place, place)], nemenyi, rtol=1e-6)
    holm = [  # scikit_posthocs.posthoc_wilcoxon(p_adjust="holm")
        [1.0, 0.05763087046555483, 0.8151340814866284, 0.8151340814866284],
        [0.05763087046555483, 1.0, 0.8151340814866284, 0.06523994683788062],
        [0.8151340814866284, 0.8151340814866284, 1.0, 0.132187774610405],
        [0.8151340814866284, 0.06523994683788062, 0.132187774610405, 1.0],
    ]
    np.testing.assert_allclose(classical.wilcoxon[np.ix_(place, place)], holm, rtol=1e-9)
    one_sided = {"ab": 0.004802572538796236, "ac": 0.1358556802477714, "cd": 0.9834765281736993}  # aeon's wilcoxon_test
    for (i, j), p in one_sided.items():
        d = values[:, "abcd".index(i)] - values[:, "abcd".index(j)]
        own = nf.rank({"x": d, "y": np.zeros(14)}).classical().wilcoxon[0, 1]  # of one pair, without a correction
        assert own == pytest.approx(2 * min(p, 1 - p), rel=0.02)


def test_ranks_are_those_of_scipy():
    """With ties in the middle, on the series that all methods have."""
    values = np.random.default_rng(0).integers(0, 4, (30, 5)).astype(float)
    values[3, 2] = np.nan
    kept = np.delete(values, 3, axis=0)
    np.testing.assert_array_equal(complete_ranks(values), stats.rankdata(-kept, axis=1))


def test_the_classical_tests_say_what_they_assume():
    """Whoever prints them reads that they take series for independent."""
    found = nf.rank(dict(zip("abcd", np.array(PEERS).T, strict=True)))
    text = found.table(classical=found.classical()).text()
    assert "Tests that take series for independent, for comparison: Friedman p = 0.066." in text
    assert "by Nemenyi 0 from the best mean rank (critical difference 1.25" in text


# ---- public tables

needs_tables = pytest.mark.skipif(not TSB.is_dir(), reason="NOFLUKE_DATA names no folder with tsb-ad/")


@needs_tables
@pytest.mark.parametrize(
    ("name", "best", "mean", "size", "by_sources", "by_series"),
    [
        ("uni_vus-pr.csv", "Sub-PCA", 0.423, (350, 23, 32), 31, 9),
        ("multi_vus-pr.csv", "CNN", 0.313, (180, 17, 23), 20, 10),
    ],
)
def test_the_published_tables_of_tsb_ad(name, best, mean, size, by_sources, by_series):
    """Who is not told from the best: nearly all if one means other sources, a third if more of these series."""
    found = nf.rank(TSB / name, series="file", source="_([^_]+)_", methods=ABOUT, n_resamples=4_999)
    assert (found.n_series, found.n_sources, len(found.methods)) == size
    assert (found.best, round(float(found.means[0]), 3)) == (best, mean)
    assert (found.answer.units, found.other.units) == ("sources", "series")
    assert [int((~one.told[0]).sum()) - 1 for one in found.answers] == [by_sources, by_series]
    others, differ = size[2] - 1, size[2] - 1 - by_sources
    first = f"{differ or 'none'} of {others} others {'are' if differ else 'is'} shown to differ from it on new sources"
    assert found.verdict_in_words() == f"{best} leads; {first}, {others - by_series} are on these series."


@needs_tables
def test_columns_that_describe_series_are_not_ranked_in_silence():
    """The last seven columns of the table are no methods: the error names them, and what to do."""
    with pytest.raises(nf.InputError, match=r"unlike the others.*'ts_len', 'anomaly_len'.*methods=\"!ts_len\""):
        nf.rank(TSB / "uni_vus-pr.csv", series="file")


# ---- tables of every kind

WIDE = {"file": ["a_1", "a_2", "b_1", "c_1"], "x": [0.5, 0.6, 0.7, 0.2], "y": [0.4, 0.7, 0.5, 0.1]}
LONG = {
    "file": WIDE["file"] * 2,
    "who": ["x"] * 4 + ["y"] * 4,
    "VUS-PR": WIDE["x"] + WIDE["y"],
    "from": [name[0] for name in WIDE["file"]] * 2,
}
KEYS = {"series": "file", "method": "who", "value": "VUS-PR"}


def write_csv(path, columns):
    """A file of columns."""
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return path


def test_the_same_table_in_every_form(tmp_path):
    """Wide, long, of any library, in files, one file a method, with sources by column, pattern, dict or function."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    one = nf.rank(WIDE, series="file", source="^(.)")
    parquet = tmp_path / "wide.parquet"
    pl.DataFrame(WIDE).write_parquet(parquet)
    folder = tmp_path / "each"
    folder.mkdir()
    for name in "xy":
        write_csv(folder / f"{name}.csv", {"file": WIDE["file"], "VUS-PR": WIDE[name], "note": [*"pqrs"]})
    wide = [
        *(frame(WIDE) for frame in (pd.DataFrame, pl.DataFrame, pa.table)),
        *(write_csv(tmp_path / "wide.csv", WIDE), parquet, str(parquet)),
    ]
    found = [nf.rank(table, series="file", source="^(.)") for table in wide]
    found += [
        nf.rank(table, **KEYS, source=source)
        for table in (LONG, pd.DataFrame(LONG), write_csv(tmp_path / "long.csv", LONG))
        for source in ("from", "^(.)", {name: name[0] for name in WIDE["file"]}, lambda name: name[0])
    ]
    several = sorted(folder.iterdir())
    for table in (several, [str(folder / "*.csv")], {path.stem: path for path in several}):
        found.append(nf.rank(table, series="file", source="^(.)"))
    found.append(nf.rank(str(folder / "*.csv"), series="file", value="VUS-PR", source="^(.)"))
    for other in found:
        assert other.methods == one.methods
        np.testing.assert_array_equal(other.values, one.values)
        np.testing.assert_array_equal(other.answer.pvalue, one.answer.pvalue)
        assert other.n_sources == 3


def test_a_study_is_a_table(tmp_path):
    """Its cells by F1, or by another of their columns; groups are sources; its folder is the same."""
    rng = np.random.default_rng(0)
    truth = np.tile(np.arange(100) % 20 == 3, 8).astype(int)
    table = {
        "name": np.repeat([f"s{i}" for i in range(8)], 100),
        "place": np.repeat([f"g{i // 2}" for i in range(8)], 100),
        "label": truth,
        "good": truth + rng.normal(0, 0.3, 800),
        "poor": rng.normal(size=800),
    }
    how = {"truth": "label", "scores": ["good", "poor"], "budget": "5%", "null": "permutation", "workers": 1}
    study = nf.study(table, series="name", group="place", out=tmp_path / "out", **how)
    found = nf.rank(study)
    assert (found.best, found.metric, found.n_sources, found.n_series) == ("good", "f1", 4, 8)
    assert found.to_dict() == nf.rank(tmp_path / "out").to_dict()
    assert nf.rank(study, value="recall").metric == "recall"
    with pytest.raises(nf.InputError, match="value='recal' is no column of a study's cells: did you mean 'recall'"):
        nf.rank(study, value="recal")
    assert nf.rank(nf.study(table, series="name", **how)).n_sources is None


def test_what_is_no_table_is_refused_with_a_remedy(tmp_path):
    """The argument, its value and what to do."""
    pd = pytest.importorskip("pandas")
    bad = write_csv(tmp_path / "bad.csv", {**WIDE, "y": ["0.1", "0.2", "failed", "0.3"]})
    cases = [
        (WIDE, {"series": "flie"}, "series='flie' is no column of the table: did you mean 'file'"),
        (
            WIDE,
            {"series": "file", "speaks_for": "sources"},
            "speaks_for='sources' needs to know where series come from",
        ),
        (WIDE, {"series": "file", "weigh": "sources"}, "weigh='sources' needs .*: pass source="),
        (WIDE, {"series": "file", "methods": "z"}, "methods='z' names no method"),
        (WIDE, {"series": "file", "methods": "x"}, r"has 1 method\(s\) \('x'\)"),
        (WIDE, {"series": "file", "source": "(z)"}, "gives no source for 4 series, such as 'a_1'"),
        (WIDE, {"series": "file", "source": "("}, "neither a column nor a pattern"),
        (WIDE, {"series": "file", "source": "plcae"}, "source='plcae' is no column"),
        (WIDE, {"series": "file", "source": 3}, "must be a column, a pattern"),
        (WIDE, {"series": "file", "source": float}, "cannot be called with a name of a series"),
        ("x" * 5_000, {}, "x+"),
        (WIDE, {"series": "file", "value": "x"}, "value='x' is for tables with a row for each series and method"),
        (WIDE, {"series": "file", "better": "more"}, "better='more' must be one of"),
        (WIDE, {"series": "file", "alpha": 2}, "alpha=2 must be between 0 and 1"),
        (LONG, {"method": "who", "value": "VUS-PR"}, "series is missing"),
        (LONG, {"method": "who", "series": "file"}, "value is missing"),
        (LONG, {**KEYS, "value": "from"}, "value='from' holds text"),
        (LONG, {**KEYS, "method": "from"}, "values of 'a' on 'a_1'"),
        (LONG, {"series": "file", "methods": ["VUS-PR"]}, "has 'a_1' in 2 rows"),
        ({**LONG, "VUS-PR": [1.5] * 8}, KEYS, "is 1.5 for 'x' on 'a_1', but vus-pr is between 0 and 1"),
        ({**LONG, "from": [*"abbcabbb"]}, {**KEYS, "source": "from"}, "puts 'c_1' into 'c' and 'b'"),
        ({**LONG, "who": [None, *LONG["who"][1:]]}, KEYS, r"method='who' has no value in 1 row\(s\)"),
        ({"x": [1, np.inf], "y": [1, 2]}, {}, "has an infinite value, of 'x' on 'row 2'"),
        ({"x": [], "y": []}, {}, "has no rows"),
        (pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]), {}, "has several columns named 'x'"),
        ({"x": [1], "y": [1, 2]}, {}, "columns of unequal length"),
        ({"file": ["a"], "name": ["b"]}, {"series": "file"}, "has no method"),
        (3, {}, "must be a data frame, a dict of columns, a path"),
        (bad, {"series": "file"}, "'failed' where a number belongs"),
        ([bad, bad], {}, "series is missing: name the column by which rows of several tables belong together"),
        ({"p": WIDE and bad, "q": bad}, {"series": "file", "method": "x"}, "method='x' is for one table"),
        (tmp_path / "none.csv", {}, "there is no such file"),
    ]
    for table, arguments, message in cases:
        with pytest.raises(nf.InputError, match=message):
            nf.rank(table, **arguments)


def test_text_and_empty_columns_are_left_out_with_a_note():
    """What cannot be a method is said, not guessed."""
    found = nf.rank({**WIDE, "domain": [*"wxyz"], "z": [np.nan] * 4}, series="file")
    assert found.methods == ("x", "y")
    assert "Text, and so no method: 'domain'." in found.notes
    assert "Without any value, and so left out: 'z'." in found.notes


# ---- words and ways out


def test_it_never_says_equal():
    """Methods are not shown to differ; only the reminder uses the word."""
    found = nf.rank(dict(zip("abcd", np.array(PEERS).T, strict=True)))
    said = " ".join([str(found), found.verdict_in_words(), found.to_latex(), found.to_json()])
    assert "equal" not in said.replace("does not mean equal", "")
    assert "not shown to differ" in said


def test_without_sources_it_says_what_that_means():
    """And with them, which question each number answers."""
    found = nf.rank(WIDE, series="file")
    assert found.other is None
    assert "No source is known, so series are taken for independent" in str(found)
    known = nf.rank(WIDE, series="file", source="^(.)", speaks_for="series")
    assert (known.answer.units, known.other.units) == ("series", "sources")
    assert "Speaks for: more series of the same sources, in the same proportions" in str(known)


def test_the_command_prints_every_format(tmp_path):
    """Text, JSON, CSV, Markdown, LaTeX and a page, from one table."""
    path = write_csv(tmp_path / "wide.csv", {**WIDE, "<b>": [0.1, 0.3, 0.2, 0.2]})
    base = ["rank", str(path), "--series", "file", "--source", "^(.)"]

    def run(*more):
        done = CliRunner().invoke(cli, [*base, *more], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "x leads; 3 sources cannot tell any pair apart" in run()
    told = json.loads(run("--format", "json", "--classical"))
    assert told == json.loads(
        json.dumps((found := nf.rank(path, series="file", source="^(.)")).to_dict(classical=found.classical()))
    )
    assert run("--format", "csv").startswith(
        "method,rank,mean,mean_rank,n_series,difference,low,high,p_sources,p_series"
    )
    assert run("--format", "csv", "--rows", "pairs").count("\n") == 7
    assert run("--format", "markdown").count("|") > 20
    assert r"\begin{table}" in run("--format", "latex")
    run("--report", str(tmp_path / "page.html"), "--diagram", str(tmp_path / "cd.svg"))
    assert "<svg" in (tmp_path / "cd.svg").read_text()
    page = (tmp_path / "page.html").read_text()
    assert "&lt;b&gt;" in page
    assert "<b> " not in page
    assert page.count('class="static"') == 2


def test_the_command_words_errors_in_options(tmp_path):
    """--weigh, not weigh=."""
    path = write_csv(tmp_path / "wide.csv", WIDE)
    done = CliRunner().invoke(cli, ["rank", str(path), "--series", "file", "--weigh", "sources"])
    assert isinstance(done.exception, nf.InputError)
    assert str(done.exception) == "--weigh sources needs to know where series come from: pass --source COLUMN."


def test_the_diagram_has_a_bar_for_each_group_and_the_dots_a_row_for_each_method():
    """What is drawn is what was found, into the Axes given, with the best at the right."""
    figures = pytest.importorskip("matplotlib.figure")
    rng = np.random.default_rng(8)
    values = {f"m{i}": rng.random(60) * 0.4 + 0.04 * i for i in range(9)}
    for better in ("higher", "lower"):
        found = nf.rank(values, better=better)
        ax = figures.Figure().subplots()
        assert found.plot(ax) is ax
        bars = [line for line in ax.lines if line.get_marker() == "o"]
        assert [len(bar.get_xdata()) for bar in bars] == [len(group) for group in found.groups]
        low, high = ax.get_xlim()
        assert (low < high) == (better == "higher")
        names = [text.get_text().split()[0] for text in ax.texts]
        assert names == list(found.methods)
        rows = found.plot(figures.Figure().subplots(), kind="dots")
        assert [tick.get_text().split()[0] for tick in rows.get_yticklabels()] == list(found.methods)
    with pytest.raises(nf.InputError, match="kind='bars' must be one of"):
        found.plot(kind="bars")
