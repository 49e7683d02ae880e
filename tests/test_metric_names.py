"""Names of metrics and nulls as people write them, and what they are told where there is no such name."""

import numpy as np
import pytest

import nofluke as nf
import nofluke.metrics
from nofluke.metrics.spelling import known_as
from nofluke.nulls.whole_series import as_series_null

LABELS = [0] * 10 + [1] * 4 + [0] * 6
SCORES = [0.1] * 9 + [0.9] * 3 + [0.1] * 8


def share(labels, alarms):
    """Share of labelled steps with an alarm."""
    return (labels & alarms).sum() / labels.sum()


@pytest.mark.parametrize("name", nofluke.metrics.names())
def test_case_and_hyphens_do_not_matter(name):
    """No two names differ by these alone."""
    for spelt in (name.upper(), name.replace("-", "_"), name.replace("-", ""), f" {name.title()} "):
        assert nf.metrics.get(spelt) == nf.metrics.get(name)


def test_settings_go_behind_any_spelling():
    """The text of the metric is the plain one."""
    assert nf.metrics.get("VUS_PR:window=3").text == "vus-pr:window=3"


def test_a_name_that_could_be_two_is_none():
    """Unless it is one of them to the letter."""
    assert known_as("AB", ["ab", "a-b"]) is None
    assert known_as("a-b", ["ab", "a-b"]) == "a-b"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("auc-rok", "metric='auc-rok' must be one of 'auc-roc', .*: did you mean 'auc-roc'[?]$"),
        ("VUS_P", ": did you mean 'vus-pr'[?]$"),
        ("zzz", r"'f1'.*\.$"),
        (
            "vus-pr:wind=3",
            "^metric='vus-pr:wind=3' has no setting 'wind', but window and n_thresholds: did you mean 'window'[?]$",
        ),
        ("auc", ": did you mean 'auc-roc'[?]$"),
        ("range-f1:x=1", "has no setting 'x', but bias, cardinality, alpha and beta.$"),
        ("auc-roc:x=1", "has no setting 'x', nor any other.$"),
        ("vus-pr:=3", "has no setting '', but window"),
        ("vus-pr:curve=roc", "has no setting 'curve': its name says it, 'vus-roc' or 'vus-pr'.$"),
        (
            "vus-pr:window=3,window=4",
            "^metric='vus-pr:window=3,window=4' has the setting 'window' twice: pass it once.$",
        ),
        ({"f1"}, "^metric={'f1'} must be a name.*: pass several to nf.significance as a list.$"),
        ((name for name in ["f1"]), ": pass several to nf.significance as a list.$"),
        (np.array(["f1"]), ": pass several to nf.significance as a list.$"),
        (["f1"], ": pass several to nf.significance as a list.$"),
        (3, "^metric=3 must be a name, a metric, or a function of labels and scores or alarms.$"),
    ],
)
def test_what_is_no_metric_is_told_what_is(text, match):
    """The message names what was passed and what could be."""
    with pytest.raises(nf.InputError, match=match):
        nf.metrics.get(text)


# names of one's own


@pytest.mark.parametrize("name", ["a--b", "-a", "a-", "3d", "é", "²", "a_b", "A", "", "a b", "a:b", "a\n"])
def test_names_are_plain_words(added, name):
    """So that they can be typed, and no setting or list is taken for one."""
    with pytest.raises(nf.InputError, match=r"name=.* must consist of lower-case letters, digits and hyphens"):
        nf.metrics.register(name, share)
    assert nf.metrics.register("my-2nd-1", share).name == "my-2nd-1"


@pytest.mark.parametrize("perfect", [np.nan, np.inf, "1", [1.0]])
def test_a_perfect_value_is_a_number(added, perfect):
    """Or None."""
    with pytest.raises(nf.InputError, match=r"^perfect=.* must be a finite number, or None"):
        nf.metrics.register("mine", share, perfect=perfect)
    assert nf.metrics.register("mine", share, perfect=np.float32(1)).perfect == 1.0


def test_a_name_has_one_function(added):
    """The same one may come again, as it does where a module is loaded twice."""
    first = nf.metrics.register("mine", share, needs="alarms")
    assert nf.metrics.register("mine", share, needs="alarms") == first
    with pytest.raises(nf.InputError, match="name='mine' is already registered for another function: choose another"):
        nf.metrics.register("mine", lambda *_: 1.0)
    assert nf.metrics.get("mine") == first
    with pytest.raises(nf.InputError, match="name='aucroc' is a built-in metric"):
        nf.metrics.register("aucroc", share)


def test_metrics_and_classes_are_not_registered(added):
    """A metric has a name; a class would be made, and no value had."""
    with pytest.raises(nf.InputError, match=r"function=AUCROC.* is already a metric with a name: use it directly"):
        nf.metrics.register("mine", nf.metrics.get("auc-roc"))
    with pytest.raises(nf.InputError, match="function=dict is a class"):
        nf.metrics.register("mine", dict)


# nulls of metrics


def test_nulls_of_scores_are_public():
    """By name and as objects."""
    assert as_series_null("random-scores:phi=0.5") == nf.nulls.RandomScores(phi=0.5)
    assert as_series_null("score-permutation") == nf.nulls.ScorePermutation()
    by_object = nf.significance("auc-roc", LABELS, SCORES, null=nf.nulls.ScorePermutation(), rng=1, n_resamples=99)
    assert (
        by_object.pvalue
        == nf.significance("auc-roc", LABELS, SCORES, null="score-permutation", rng=1, n_resamples=99).pvalue
    )


@pytest.mark.parametrize(
    ("null", "match"),
    [
        (
            "nothing",
            "^null='nothing' must be one of 'auto', 'permutation', .*'stationary', 'random-scores', 'score-permutation'.$",
        ),
        ("random-scores:phi=2", "^null='random-scores:phi=2': phi=2 must be at least 0 and below 1.$"),
        ("random-scores:phi=0.1,phi=0.2", "has the setting 'phi' twice"),
        ("blocks:length=0", "^null='blocks:length=0': length=0 must be"),
        ("blocks:size=3", "^null='blocks:size=3' has no setting 'size', but length.$"),
    ],
)
def test_errors_of_nulls_name_what_was_passed(null, match):
    """And the list of names has all that metrics take."""
    with pytest.raises(nf.InputError, match=match):
        nf.significance("auc-roc", LABELS, SCORES, null=null)


def test_the_perfect_value_is_drawn_where_it_is_near():
    """A dotted line, and a word about it; nothing where it is far."""
    from matplotlib.figure import Figure

    near = nf.significance("auc-roc", LABELS, LABELS, null="circular-shift")
    far = nf.chance("auc-roc", LABELS * 50, n_resamples=50, rng=1)
    drawn = [line for line in near.plot(Figure().subplots()).get_lines() if line.get_label() == "perfect 1"]
    assert [line.get_xdata() for line in drawn] == [[1.0, 1.0]]
    assert not [line for line in far.plot(Figure().subplots()).get_lines() if "perfect" in line.get_label()]


def test_what_events_are_is_checked():
    """A word that is none is not taken for one of the two."""
    with pytest.raises(nf.InputError, match="count_events='foo' must be one of 'steps', 'ranges'"):
        nf.metrics.get("recall")(LABELS, [0] * 20, count_events="foo")
    with pytest.raises(nf.InputError, match="count_events='foo'"):
        nf.significance("auc-roc", LABELS, SCORES, count_events="foo")


def test_a_window_of_time_needs_times():
    """The message says so."""
    with pytest.raises(nf.InputError, match=r"window='1d' is a length of time.*: pass times=, or a number of steps.$"):
        nf.metrics.get("vus-pr:window=1d")(LABELS, SCORES)
