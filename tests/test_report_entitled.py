"""A slider position's verdict is entitled: corrected wherever it was found, never better than an evaluation there."""

import collections

import numpy as np
import pytest

import nofluke as nf
from nofluke.show.report import grid as places
from nofluke.show.report.cells import every_null
from nofluke.show.report.grid import make_grid
from nofluke.show.report.payload import make_payload

SIDES = ("precision", "recall")
RANK = {"yes": 2, "partly": 1, "no": 0, "cannot tell": 0}


@pytest.fixture(autouse=True)
def few_thresholds(monkeypatch):
    """Pages of some 50 positions are enough."""
    monkeypatch.setattr(places, "QUANTILES", (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98))


def by_corrected(cell, alpha):
    """The best verdict that a cell's corrected p-values allow, by hand."""
    p = sorted(cell[side]["corrected"] for side in SIDES)
    if p[1] <= alpha:
        return "yes"
    return "partly" if p[0] <= alpha / 2 else "no"


def positions(payload):
    """Every cell with its place."""
    return (((d, k), cell) for d, row in enumerate(payload["cells"]) for k, cell in enumerate(row))


def seasonal(n=1_200, seed=3):
    """Events and scores that share a season and nothing else."""
    rng = np.random.default_rng(seed)
    wave = np.sin(2 * np.pi * np.arange(n) / 50)
    return rng.random(n) < 0.04 * (1 + 0.95 * wave), rng.normal(size=n) + 1.2 * wave


def skilled(n=600, seed=4):
    """Events and a detector that feels them."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.05
    return truth, rng.normal(size=n) + 1.4 * truth


@pytest.mark.slow
@pytest.mark.parametrize("data", [seasonal, skilled])
def test_no_position_is_better_than_its_correction_or_than_an_evaluation_there(data):
    """Whatever auto chooses at a position, its verdict is at most that by corrected p and at most `evaluate`'s."""
    truth, scores = data()
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, n_resamples=499, rng=0)
    payload, grid = make_payload(result), make_grid(result)
    good = 0
    for (d, k), cell in positions(payload):
        if (d, k) == grid.chosen:
            continue
        assert RANK[cell["verdict"]] <= RANK[by_corrected(cell, 0.05)]
        if RANK[cell["verdict"]]:
            good += 1
            there = nf.evaluate(truth, scores, threshold=float(grid.told[k]), tolerance=grid.tolerances[d])
            assert RANK[cell["verdict"]] <= RANK[there.verdict]
    assert good > 5 if data is skilled else good == 0


def test_a_null_that_was_named_is_the_null_of_every_position():
    """Without auto the verdict is the one by corrected p, but for what no evaluation could tell."""
    result = nf.evaluate(*skilled(), quantile=0.9, tolerance=1, null="circular-shift")
    payload = make_payload(result)
    seen = collections.Counter()
    for at, cell in positions(payload):
        if list(at) != payload["chosen"] and cell["verdict"] != "cannot tell":
            assert RANK[cell["verdict"]] in (RANK[by_corrected(cell, 0.05)], 2)  # 2: by one measure that alone could
            seen[cell["verdict"]] += 1
    assert len(seen) > 1


def test_the_position_named_beforehand_keeps_its_own_p_and_says_why():
    """The evaluated cell has the result's verdict and states the corrected p-values; the others say that they count."""
    truth, scores = skilled(seed=8)
    result = nf.evaluate(truth, scores, quantile=0.97, tolerance=0)
    payload = make_payload(result)
    chosen = payload["cells"][payload["chosen"][0]][payload["chosen"][1]]
    assert (chosen["verdict"], chosen["text"]["reason"]) == (result.verdict, result.reason)
    assert chosen["text"]["which"].startswith("This position was chosen beforehand, so its own p-values count.")
    assert chosen["text"]["p_row"] == "p (counts)"
    assert chosen["precision"]["text"]["counts"] == chosen["precision"]["text"]["p"]
    for at, cell in positions(payload):
        if list(at) != payload["chosen"]:
            assert "found by moving the sliders" in cell["text"]["which"]
            assert cell["text"]["corrected_row"].endswith("(counts)")
            assert "after correction" in cell["text"]["reason"] or cell["verdict"] == "cannot tell"


def test_where_every_other_alternative_is_asked_for_the_verdict_is_still_about_being_better():
    """With alternative="less" Holm corrects the upper p-values, whatever the page shows."""
    result = nf.evaluate(*skilled(), quantile=0.9, tolerance=1, null="permutation", alternative="less")
    payload = make_payload(result)
    verdicts = collections.Counter(cell["verdict"] for _, cell in positions(payload))
    assert verdicts["yes"] > 3
    assert all(cell["precision"]["p"] > 0.5 for _, cell in positions(payload) if cell["verdict"] == "yes")


@pytest.mark.slow
def test_pure_noise_finds_a_position_in_at_most_one_page_of_twenty():
    """Of 60 pages of noise, no more than the level permits show "no fluke" or "partly" at any position found."""
    rng = np.random.default_rng(11)
    fooled = 0
    for _ in range(60):
        n = 300
        truth, scores = rng.random(n) < 0.06, rng.random(n)
        payload = make_payload(
            nf.evaluate(truth, scores, quantile=0.85, tolerance=2, null="permutation", n_resamples=999)
        )
        moved = (cell for at, cell in positions(payload) if list(at) != payload["chosen"])
        fooled += any(RANK[cell["verdict"]] for cell in moved)
    assert fooled <= 7  # 3 expected at most; more than 7 happen once in a hundred


def test_every_null_tells_the_p_of_those_that_hold_and_why_the_others_do_not():
    """A season sets aside what does not keep it; the p-values of the others are those of `evaluate` under them."""
    truth, scores = seasonal()
    result = nf.evaluate(truth, scores, quantile=0.9, tolerance=2)
    used, *others = every_null(result)
    assert (used.used, used.model.text, used.precision) == (True, result.null.text, result.precision_test.pvalue)
    aside = {one.model.name: one.against for one in others if one.against}
    assert "season" in aside["permutation"]
    assert "season" in aside["circular-shift"]
    assert all(one.precision is None for one in others if one.against)
    valid = [one for one in others if not one.against]
    assert valid
    for one in valid:
        there = nf.evaluate(truth, scores, quantile=0.9, tolerance=2, null=one.model, rng=0)
        wanted = (there.precision_test.pvalue, there.recall_test.pvalue)
        assert (one.precision, one.recall) == pytest.approx(wanted, rel=1e-9)


def test_ranges_and_lists_of_times_set_aside_what_cannot_place_them():
    """Single-step nulls are no nulls of ranges, and those that need a grid none of times."""
    rng = np.random.default_rng(0)
    ranges = nf.evaluate([(10, 20), (50, 70), (100, 104)], rng.random(200), quantile=0.9)
    assert {one.model.name for one in every_null(ranges) if "ranges" in one.against} >= {"permutation"}
    lists = nf.coincidence(np.sort(rng.choice(900, 30, False)), np.sort(rng.choice(900, 40, False)), tolerance=3)
    assert any(one.precision is not None and not one.used for one in every_null(lists))


def test_what_next_names_a_threshold_that_holds_and_how_many_events_are_missing():
    """The best threshold that holds at the evaluated tolerance, a runnable command, events needed without a verdict."""
    truth, scores = skilled()
    payload = make_payload(nf.evaluate(truth, scores, quantile=0.8, tolerance=1))
    steps = payload["next"]
    row = payload["cells"][payload["chosen"][0]]
    best = max((c for c in row if c["verdict"] == "yes" and by_corrected(c, 0.05) == "yes"), key=lambda c: c["f1"])
    assert f"{best['f1']:.3f}" in steps[0]["words"]
    again = eval(steps[0]["command"], {"nf": nf, "truth": truth, "scores": scores})
    assert again.f1 == pytest.approx(best["f1"])
    weak = nf.evaluate(truth, np.random.default_rng(3).random(600), quantile=0.9, tolerance=1)
    told = make_payload(weak)["next"]
    assert "no threshold is better than chance" in told[0]["words"]
    assert any("per 1,000 steps" in step["words"] for step in told)


def test_what_next_moves_the_window_to_where_the_alarms_are():
    """Alarms five steps late at tolerance two: the advised window holds them, and the command finds them."""
    rng = np.random.default_rng(0)
    truth = np.zeros(1_000, bool)
    truth[rng.choice(np.arange(20, 980, 12), 40, replace=False)] = True
    alarms = np.roll(truth, 5)
    steps = make_payload(nf.evaluate(truth, predictions=alarms, tolerance=2))["next"]
    late = next(step for step in steps if "late" in step["words"])
    assert "about 5 steps late" in late["words"]
    assert eval(late["command"], {"nf": nf, "truth": truth, "predictions": alarms}).recall == 1


def test_commands_of_the_page_run_on_the_command_line(tmp_path):
    """On new data and new events, with threshold 0, with a short one, and with the budget named in the text."""
    from click.testing import CliRunner

    from nofluke.cli import cli
    from nofluke.show.report import Source

    truth, scores = skilled()
    rows = "".join(f"{i},{z:.3f}\n" for i, z in enumerate(scores))
    ranges = "".join(f"{i},{i}\n" for i in np.flatnonzero(truth))
    for name, text in (("NEW.csv", "t,z\n" + rows), ("NEW-EVENTS.csv", "start,end\n" + ranges)):
        (tmp_path / name).write_text(text)
    source = Source(
        file="old.csv",
        columns={"scores": "z", "time": "t"},
        command="nofluke report old.csv --truth-file events.csv --scores z --time t --quantile 0.8 --tolerance 1 -o x.html",
        truth_file="events.csv",
    )
    result = nf.evaluate(truth, np.round(scores, 3), quantile=0.8, tolerance=1)
    step = make_payload(result, source)["next"][0]
    assert "NEW.csv --truth-file NEW-EVENTS.csv" in step["command"]
    assert len(step["command"].partition("--threshold ")[2].split()[0]) < 8
    words = step["command"].replace("NEW", str(tmp_path / "NEW")).split()[1:]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output


def test_commands_of_the_page_have_their_options_before_files_whose_names_begin_with_a_dash():
    """Behind -- nothing is an option any more."""
    from nofluke.show.report import Source

    truth, scores = skilled()
    command = "nofluke report --scores z --quantile 0.8 --tolerance 1 -- -old.csv"
    source = Source(file="-old.csv", columns={"truth": "y", "scores": "z"}, command=command)
    steps = make_payload(nf.evaluate(truth, scores, quantile=0.8, tolerance=1), source)["next"]
    commands = [step["command"] for step in steps if step["command"].startswith("nofluke evaluate")]
    assert commands
    assert all(one.endswith((" -- -old.csv", " -- NEW.csv")) for one in commands), commands


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"ties": "mid"}, "and half of those with exactly as many"),
        ({"alternative": "two-sided"}, "p is twice the share of these worlds with at least"),
        ({"alternative": "less"}, "p is the share of these worlds with at most"),
    ],
)
def test_the_paragraph_on_p_says_what_is_counted(how, words):
    """Ties by half, both tails, the lower tail."""
    payload = make_payload(nf.evaluate(*skilled(), quantile=0.9, tolerance=1, null="permutation", **how))
    chosen = payload["cells"][payload["chosen"][0]][payload["chosen"][1]]
    assert words in chosen["text"]["explained"]
    if "alternative" in how:
        assert "uses one-sided p-values" in chosen["text"]["which"]
        assert chosen["text"]["corrected_row"] == "p, one-sided, corrected"


def test_the_corrected_p_is_one_number_wherever_it_stands():
    """The table, the bar, the outline and the verdict of a position that was found go by the same p-values."""
    payload = make_payload(nf.evaluate(*seasonal(480), quantile=0.97, tolerance=1, n_resamples=499, rng=0))
    for at, cell in positions(payload):
        if list(at) != payload["chosen"]:
            for side in SIDES:
                assert cell[side]["text"]["corrected"] == cell[side]["text"]["counts"]
                assert cell[side]["remains"] == (cell[side]["corrected"] <= 0.05)


def test_the_paragraph_on_p_has_the_numbers_of_the_page():
    """Hits, what chance gives and the share of worlds, in words that need no statistics."""
    result = nf.evaluate(*skilled(), quantile=0.9, tolerance=1)
    payload = make_payload(result)
    words = payload["cells"][payload["chosen"][0]][payload["chosen"][1]]["text"]["explained"]
    assert words.startswith(f"{result.precision_hits} of {result.n_predictions} predictions are hits.")
    assert f"at least {result.precision_hits} hits" in words
    assert "null distribution" in words
    nothing = nf.evaluate([0] * 20, np.arange(20.0), quantile=0.9)
    assert "nothing to compare" in make_payload(nothing)["cells"][0][0]["text"]["explained"]


def test_a_season_that_only_more_alarms_show_counts_at_every_position():
    """Five alarms show no season, fifty do: all positions have p-values corrected under the null that keeps it."""
    n, hour = 480, np.arange(480) % 24
    rng, day = np.random.default_rng([3, 77]), (hour > 8) & (hour < 16)
    truth, scores = rng.random(n) < np.where(day, 0.09, 0.015), rng.normal(size=n) + 1.2 * day
    result = nf.evaluate(truth, scores, quantile=0.99, tolerance=1, n_resamples=499, rng=0)
    assert "season" not in result.null.keeps
    payload = make_payload(result)
    found = [cell for at, cell in positions(payload) if list(at) != payload["chosen"]]
    assert all("seasonal:period=24" in cell["text"]["which"] for cell in found)
    assert not any(RANK[cell["verdict"]] for cell in found)
