"""Archives whose labels share their places: what is said of it, and labels exchanged between series."""

from itertools import permutations, product

import numpy as np
import pytest

import nofluke as nf
from nofluke.errors import InputError
from nofluke.studies.draws import Labels
from nofluke.studies.exchange import all_matchings, drawn_matchings, laws_of_matchings

ASKED = {"series": "name", "truth": "label", "scores": "z", "budget": 0.1, "tolerance": 2, "workers": 1}
BY_NAME = {**ASKED, "null": "series-exchange"}


def ranges(n, *starts, long=5):
    """Labels with a range at each start."""
    labels = np.zeros(n, dtype=int)
    for start in starts:
        labels[start : start + long] = 1
    return labels


def table(truths, scores=None, rng=0, **more):
    """A table with these labels, and scores that find some of them."""
    generator = np.random.default_rng(rng)
    own = [generator.normal(size=len(one)).round(3) + one for one in truths] if scores is None else scores
    lengths = [len(one) for one in truths]
    columns = {name: np.repeat(values, lengths) for name, values in more.items()}
    names = [f"s{i:02}" for i in range(len(truths))]
    return {"name": np.repeat(names, lengths), "label": np.concatenate(truths), "z": np.concatenate(own), **columns}


def scores_of(data):
    """Labels and scores of each series of a table."""
    names = dict.fromkeys(data["name"].tolist())
    return [(data["label"][data["name"] == name], data["z"][data["name"] == name]) for name in names]


def by_hand(data, classes, units=None, **how):
    """All sums of both hits over all exchanges, by evaluating every series with every other's labels."""
    asked = {"budget": 0.1, "tolerance": 2, "null": "circular-shift", **how}
    series = scores_of(data)

    def hits(i, j):
        found = nf.evaluate(series[i][0], series[j][1], **asked)
        return np.array([found.precision_hits, found.recall_hits])

    sums = [np.zeros((1, 2), dtype=int)]
    for own in classes:
        many = []
        for order in permutations(range(len(own))):
            moved = [(own[i], own[j]) for j, i in enumerate(order)]
            pairs = [(a, b) for u, v in moved for a, b in (zip(u, v, strict=True) if units else [(u, v)])]
            many.append(sum((hits(a, b) for a, b in pairs), np.zeros(2, dtype=int)))
        sums.append(np.array(many))
    return np.array([sum(parts) for parts in product(*sums)])


def check(data, classes, units=None, study=None, **how):
    """The pooled p-values are those of all exchanges."""
    row = nf.study(data, **{**BY_NAME, **(study or {}), **how}).pooled()[0]
    sums = by_hand(data, classes, units, **how)
    observed = sums[0]  # the first exchange moves nothing
    for measure, column, seen in ((row.precision, sums[:, 0], observed[0]), (row.recall, sums[:, 1], observed[1])):
        assert measure.pvalue == pytest.approx(np.mean(column >= seen))
        assert measure.method.startswith("exact")
    return row


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("how", [{}, {"count_events": "ranges"}, {"count_alarms": "episodes"}, {"test_part": 20}])
def test_pooled_chance_is_that_of_all_matchings(n, how):
    """Few series: every way to exchange their labels, each evaluated by hand."""
    starts = [(30, 50), (33, 60), (61,), (45, 70)][:n]
    check(table([ranges(80, *one) for one in starts]), [list(range(n))], **how)


def test_series_of_other_lengths_are_not_matched():
    """Each length is a class, classes are independent, and a series alone in its class is left out with a note."""
    truths = [ranges(80, 30), ranges(80, 50), ranges(80, 61), ranges(60, 40), ranges(60, 50), ranges(70, 40)]
    row = check(table(truths), [[0, 1, 2], [3, 4]])
    assert (row.n_series, row.n_told) == (6, 5)
    assert "Labels were exchanged between 5 series in 2 classes of the same length and test part" in row.notes[0]
    assert row.notes[1].startswith(
        "Labels of 1 series could not be exchanged, since no other series of the same length"
    )
    assert row.notes[1].endswith("chance and p-values are those of the other 5.")


def test_other_test_parts_and_groups_are_not_matched():
    """The end of training is that of the names; groups count where they are named."""
    truths = [ranges(80, 30), ranges(80, 50), ranges(80, 61), ranges(80, 40)]
    named = table(truths, group=["a", "a", "b", "b"])
    row = check(named, [[0, 1], [2, 3]], study={"group": "group"})
    assert (row.skill_in, row.n_groups) == (0, 2)
    data = table(truths)
    names = ["1_A_id_1_x_tr_10_1st_30", "2_A_id_1_x_tr_10_1st_50", "3_A_id_1_x_tr_20_1st_61", "4_A_id_1_x_tr_20_1st_40"]
    data["name"] = np.repeat(names, 80)
    found = nf.study(data, **BY_NAME, test_part="names").pooled()[0]
    series = scores_of(data)
    hits = np.array(
        [
            [nf.evaluate(series[i][0], series[j][1], budget=0.1, tolerance=2, test_part=part).recall_hits for j in own]
            for own, part in (((0, 1), 10), ((2, 3), 20))
            for i in own
        ]
    )
    sums = [np.trace(hits[:2]), hits[0, 1] + hits[1, 0]], [np.trace(hits[2:]), hits[2, 1] + hits[3, 0]]
    every = np.array([a + b for a, b in product(*sums)])
    assert found.recall.pvalue == pytest.approx(np.mean(every >= every[0]))


def test_truths_that_series_share_move_as_one():
    """Two machines of two sensors each: their labels are exchanged together, or not at all."""
    one, other = ranges(80, 20, 40), ranges(80, 50, 66)
    row = check(table([one, one, other, other]), [[(0, 1), (2, 3)]], units=True)
    assert row.n_told == 4
    alone = nf.study(table([one, one, other]), **BY_NAME).pooled()[0]
    assert (alone.n_told, alone.verdict) == (0, "cannot tell")


def test_series_without_events_have_nothing_to_exchange():
    """Their alarms count as false ones, whatever the labels of the others do."""
    truths = [ranges(80, 30), ranges(80, 50), ranges(80, 61), np.zeros(80, dtype=int)]
    row = nf.study(table(truths), **BY_NAME).pooled()[0]
    assert row.n_told == row.n_series == 4
    few = nf.study(table(truths[:3]), **BY_NAME).pooled()[0]
    assert row.recall.pvalue == few.recall.pvalue
    assert row.precision.pvalue == few.precision.pvalue
    assert row.precision.expected < few.precision.expected


def test_events_that_touch_borders_and_each_other_are_counted_as_evaluate_counts_them():
    """Hits of the labels of any series on the alarms of any other, by steps and by episodes."""
    from nofluke.series.between import trial_of
    from nofluke.series.detector import AlarmRule, choose_cut
    from nofluke.series.reading import prepare
    from nofluke.series.tolerance import Tolerance

    rng = np.random.default_rng(3)
    truths = [(rng.random(60) < share).astype(int) for share in (0.05, 0.1, 0.3, 0.6)]
    for count, early, late in product(("steps", "episodes"), (0, 3), (0, 2)):
        within = Tolerance(early=early, late=late)
        bounds = [(np.flatnonzero(one), np.flatnonzero(one) + 1) for one in truths]
        labels = Labels.join([a for a, _ in bounds], [b for _, b in bounds])
        scores = rng.normal(size=60)
        sequence = prepare(truths[0], scores)
        made = trial_of(sequence, (within,), choose_cut(sequence, budget=0.3), AlarmRule.of(count_alarms=count))
        found = labels.hits(made.trial.cell(0, 0))
        for row, one in zip(found, truths, strict=True):
            own = nf.evaluate(one, scores, budget=0.3, tolerance=within, count_alarms=count)
            assert row.tolist() == [own.precision_hits, own.recall_hits]


def test_the_programme_over_subsets_counts_all_matchings():
    """As many as there are orders, with the sums that each of them has; large classes are drawn instead."""
    hits = np.random.default_rng(5).integers(0, 4, (6, 6))
    sums = [hits[list(order), range(6)].sum() for order in permutations(range(6))]
    assert all_matchings(hits).tolist() == np.bincount(sums).tolist()
    assert all_matchings(np.zeros((13, 13), dtype=int)) is None


def test_drawn_matchings_agree_with_all_of_them():
    """Means and tails of sums over two classes, of which one is too large to be listed."""
    rng = np.random.default_rng(6)
    small, large = rng.integers(0, 3, (5, 5, 2)), rng.integers(0, 2, (14, 14, 2))
    laws, joint = laws_of_matchings([small, large], [1, 2], (99, 99), 20_000)
    draws = np.repeat(np.stack([joint.precision, joint.recall], axis=1), joint.counts, axis=0)
    assert laws["recall"].method.kind == "simulated"
    expected = small.mean(axis=(0, 1)) * 5 + large.mean(axis=(0, 1)) * 14
    np.testing.assert_allclose(draws.mean(axis=0), expected, atol=0.06)
    exact = all_matchings(small[:, :, 1])
    tail = np.mean(drawn_matchings(small, 20_000, 3)[:, 1] >= len(exact) - 2)
    assert tail == pytest.approx(exact[-2:].sum() / exact.sum(), abs=0.02)


# ---- places that coincide


def archive(places, rng=0, n=30, steps=300, **how):
    """Series with an event each, at the given places or later ones, and a detector that fires at the middle."""
    generator = np.random.default_rng(rng)
    truths = [ranges(steps, *np.atleast_1d(places(generator, i))) for i in range(n)]
    scores = [generator.normal(size=steps) + 9 * (np.abs(np.arange(steps) - 152) <= 2) for _ in truths]
    return table(truths, scores, **how)


def behind(generator, i):
    """A place in the second half; in every third series the middle."""
    return 150 if i % 3 == 0 else generator.integers(151, 290)


def test_a_step_that_many_series_share_is_said_and_pooled_by_exchange():
    """A detector that fires there on every series has skill by no verdict, though by each series' own null it would."""
    study = nf.study(archive(behind), **{**ASKED, "budget": 0.02}, count_events="ranges")
    assert study.places.coincide
    assert study.places.told.startswith("10 of 30 series have their first event at step 150 (p = ")
    board = study.leaderboard()
    (note,) = [note for note in board.about.notes if "step 150" in note]
    assert "more than chance allows. Labels are exchanged between series, which keeps places." in note
    assert board.about.null == "auto, pooled by series-exchange"
    assert board.rows[0].verdict in ("no", "cannot tell")
    shifted = nf.study(archive(behind), **{**ASKED, "budget": 0.02}, count_events="ranges", null="circular-shift")
    assert shifted.pooled()[0].verdict in ("yes", "partly")
    (note,) = [note for note in shifted.leaderboard().about.notes if "step 150" in note]
    assert "The requested null does not keep places: series-exchange does" in note


def test_events_that_all_lie_late_are_said_unless_that_is_the_test_part():
    """Relative to the test part their places are as chance has them, and each series keeps its own null."""
    data = archive(lambda generator, _: generator.integers(150, 295))
    study = nf.study(data, **ASKED, count_events="ranges")
    assert study.exchanges
    assert study.places.told.startswith("Events of 30 series lie at alike places: a tenth before 0.5")
    known = nf.study(data, **ASKED, count_events="ranges", test_part="50%")
    assert not known.exchanges
    assert known.leaderboard().about.null == "auto"


def test_a_share_of_the_length_that_series_share_is_said():
    """Series of other lengths, each with its event at half of it."""
    truths = [ranges(200 + 10 * i, 100 + 5 * i) for i in range(20)]
    study = nf.study(table(truths), **ASKED)
    assert study.places.told.startswith("20 of 20 series have their first event at 0.500 of their length")
    row = study.pooled()[0]
    assert (row.verdict, row.n_told) == ("cannot tell", 0)


def test_identical_places_cannot_tell():
    """Nothing can be exchanged, and the reason says so."""
    row = nf.study(archive(lambda *_: 150), **ASKED).pooled()[0]
    assert row.verdict == "cannot tell"
    assert row.reason == (
        "Labels of no series can be exchanged with those of another: no other series of the same length, test part and "
        "group has events at other places."
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_places_as_chance_has_them_are_not_remarked_on(seed):
    """Few events or many, of equal and of unequal length, alone and in clusters."""
    rng = np.random.default_rng(seed)
    truths = []
    for _ in range(40):
        n = int(rng.integers(200, 220))
        first = rng.integers(0, n - 60)
        truths.append(np.roll(ranges(n, first, first + 10, first + rng.integers(20, 50), long=3), rng.integers(n)))
    assert not nf.study(table(truths), **ASKED).places.coincide
    alone = [ranges(200, rng.integers(0, 195)) for _ in range(40)]
    assert not nf.study(table(alone), **ASKED).places.coincide


def test_sensors_of_one_machine_are_no_archive():
    """The same events in all series are one truth, which is placed once."""
    truths = [ranges(200, 50, 120, 170)] * 12
    study = nf.study(table(truths), **ASKED)
    assert not study.exchanges
    assert len(study.shared) == 1


def test_a_single_series_refuses_the_exchange():
    """Names of nulls of one series are what helps."""
    labels, scores = ranges(80, 30), np.random.default_rng(0).normal(size=80)
    told = r"^null='series-exchange' exchanges labels between the series of a study: pass it to study, or name a null"
    with pytest.raises(InputError, match=told):
        nf.evaluate(labels, scores, budget=0.1, null="series-exchange")
    with pytest.raises(InputError, match=told):
        nf.sweep(labels, scores, null="series-exchange")


@pytest.mark.slow
def test_workers_and_resuming_change_nothing(tmp_path):
    """The same rows by one process and by two, in one go and resumed, and in an opened folder."""
    data = archive(behind)
    asked = {**ASKED, "budget": 0.02, "count_events": "ranges"}
    once = nf.study(data, **asked, out=tmp_path / "once")
    twice = nf.study(data, **{**asked, "workers": 2}, out=tmp_path / "twice")
    before = (tmp_path / "once" / "pooled.json").read_bytes()
    assert (tmp_path / "twice" / "pooled.json").read_bytes() == before
    page = (tmp_path / "once" / "leaderboard.html").read_bytes()
    parts = sorted(one for one in (tmp_path / "once").rglob("part.json"))
    assert parts
    parts[3].unlink()
    (tmp_path / "once" / "pooled.json").unlink()
    nf.study(data, **asked, out=tmp_path / "once")
    assert (tmp_path / "once" / "pooled.json").read_bytes() == before
    assert (tmp_path / "once" / "leaderboard.html").read_bytes() == page
    assert b"10 of 30 series have their first event at step 150" in page
    opened = nf.Study.open(tmp_path / "once")
    assert opened.exchanges
    assert opened.pooled() == once.pooled() == twice.pooled()
