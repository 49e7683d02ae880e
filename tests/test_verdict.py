"""The verdict: yes, partly, no or cannot tell, each for its reason; how often it errs; what a gate makes of it."""

import json
import pickle
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from exact_oracles import enumerate_joint
from nofluke.cli import main
from nofluke.inference.gate import checks, first_problem
from nofluke.nulls.choice import Choice, choose
from nofluke.nulls.permutation import Permutation

SPARSE = np.isin(
    np.arange(200), [11, 45, 78, 102, 131, 140, 163, 177, 181, 190]
)  # events of a step each, without clusters


def gate(result, **options):
    """What the gate says of a result."""
    return first_problem(check.found for check in checks(result, **options))


def verdict_of(truth, alarms, **options):
    """The result under the paper's null, unless told otherwise."""
    return nf.evaluate(truth, predictions=alarms, **{"null": "permutation", **options})


def oracle(p, floors, alpha):
    """The rule in fractions: p-values and smallest attainable p-values of precision and recall."""
    able = [i for i in (0, 1) if floors[i] <= alpha]
    if not able:
        return "cannot tell"
    if len(able) == 1:
        return "yes" if p[able[0]] <= alpha else "no"
    return "yes" if max(p) <= alpha else "partly" if min(p) <= alpha / 2 else "no"


def upper(law):
    """P(X ≥ k) for every k that can come out."""
    return {k: sum(p for value, p in law.items() if value >= k) for k in law}


class TestVerdicts:
    def test_yes_needs_both(self):
        """A detector that knows the events is no fluke, and the reason names both measures."""
        result = verdict_of(SPARSE, SPARSE)
        assert result.verdict == "yes"
        assert result.verdict_in_words() == (
            "Verdict: no fluke. Precision and recall are both better than chance at the 0.05 level."
        )

    def test_partly_needs_half_the_level(self):
        """One measure carries "partly" only at α/2: chance has two tries."""
        truth, alarms = np.zeros(120, dtype=bool), np.zeros(120, dtype=bool)
        truth[10:100:6] = True
        alarms[[9, 10, 11, 15, 16, 17, 40, 80, 110]] = True
        seen = {}
        for alpha in np.linspace(0.01, 0.9, 90):
            result = verdict_of(truth, alarms, tolerance=1, alpha=float(alpha))
            p = sorted((result.precision_test.pvalue, result.recall_test.pvalue))
            wanted = "yes" if p[1] <= alpha else "partly" if p[0] <= alpha / 2 else "no"
            assert result.verdict == wanted
            seen[wanted, p[0] <= alpha] = result.reason
        assert {verdict for verdict, _ in seen} == {"yes", "partly", "no"}
        assert "as the better of two" in seen["partly", True]
        assert "chance has two tries" in seen["no", True]
        assert "Neither precision nor recall is better than chance" in seen["no", False]

    @pytest.mark.parametrize(
        ("truth", "alarms", "tolerance", "reason"),
        [
            ([0] * 50, [0, 1] * 25, 0, "There are no events"),
            ([0, 1] * 25, [0] * 50, 0, "There are no predictions"),
            ([0, 1] * 25, [1] * 50, 0, "Every step is predicted"),
            ([0, 1] * 25, [0, 1, 0, 0, 0] * 10, 1, "Every step is within the tolerance of an event"),
            ([0, 1, 0, 0], [0, 1, 0, 0], 0, "No outcome could have reached the 0.05 level"),
        ],
    )
    @pytest.mark.parametrize("null", ["auto", "permutation", "circular-shift", "segments"])
    def test_what_cannot_be_told_is_not_called_a_fluke(self, truth, alarms, tolerance, reason, null):
        """There is no verdict without events, a choice, or an outcome that could have been significant."""
        result = verdict_of(truth, alarms, tolerance=tolerance, null=null, rng=1)
        assert result.verdict == "cannot tell"
        assert result.reason.startswith(reason)
        assert result.verdict_in_words().startswith(f"Verdict: cannot tell. {reason}")
        assert result.to_dict()["reason"] == result.reason

    def test_the_verdict_rests_on_the_measure_that_can_be_tested(self):
        """Everything is near a prediction: recall is 1 for anyone, and precision decides at α, not at α/2 (Tarone)."""
        alarms = np.zeros(100, dtype=bool)
        alarms[[1, 2, 3, 4, *range(7, 100, 7), 98]] = True
        truth = np.zeros(100, dtype=bool)
        truth[[3, 45, 70]] = True
        result = verdict_of(truth, alarms, tolerance=Tolerance7, alpha=0.05)
        assert result.recall_test.pvalue == 1.0
        assert result.ruling.rests_on == ("precision",)
        for alpha in (0.05, 0.3, 0.5, 0.9):
            result = verdict_of(truth, alarms, tolerance=Tolerance7, alpha=alpha)
            assert result.verdict == ("yes" if result.precision_test.pvalue <= alpha else "no")
            assert (
                "The verdict rests on it alone: under the null permutation, the smallest possible p for recall is 1."
                in result.reason
            )

    def test_few_resamples_cannot_tell(self):
        """Ten resamples give no p below 1/11, whatever the detector."""
        result = verdict_of(SPARSE, SPARSE, method="montecarlo", n_resamples=10, rng=1)
        assert result.verdict == "cannot tell"
        assert "is 0.091 for precision and 0.091 for recall" in result.reason

    def test_a_null_that_does_not_hold_cannot_tell(self, monkeypatch):
        """Where auto finds no null that holds, the p-values stay but nothing is made of them."""
        why = "No window is longer than the ranges and shorter than the drift."
        choice = Choice(model=Permutation(), asked="auto", why=why, holds=False)
        monkeypatch.setattr("nofluke.inference.evaluate.choose", lambda *_: choice)
        result = nf.evaluate(SPARSE, predictions=SPARSE)
        assert (result.verdict, result.reason) == ("cannot tell", why)
        assert result.to_dict()["null"]["holds"] is False
        assert gate(result, on="recall").code == 3

    def test_results_stay_equal_and_can_be_pickled(self):
        """Also once the verdict has been asked for."""
        one, other = verdict_of(SPARSE, SPARSE), verdict_of(SPARSE, SPARSE)
        assert one.verdict == "yes"
        assert one == other == pickle.loads(pickle.dumps(one))


Tolerance7 = nf.Tolerance(early=7, late=7)


class TestHowOftenItErrs:
    @given(data=st.data())
    def test_the_verdict_is_the_rule_and_errs_at_most_as_often_as_it_says(self, data):
        """Over all placements of the events, the rule in fractions gives the same verdict and rarely errs.

        Under the null, a verdict other than no or cannot tell has a probability of at most α (1.5 α is proven).
        """
        n = data.draw(st.integers(4, 11))
        m = data.draw(st.integers(1, min(n - 1, 5)))
        alarms = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n - 1, unique=True).map(sorted))
        delta = data.draw(st.integers(0, 2))
        alpha = data.draw(st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 3)]))
        starts, stops = [max(a - delta, 0) for a in alarms], [min(a + delta + 1, n) for a in alarms]
        joint = enumerate_joint(starts, stops, n, m)
        laws = [{}, {}]
        for (r, c), p in joint.items():
            for law, hits in ((laws[0], c), (laws[1], r)):
                law[hits] = law.get(hits, 0) + p
        tails = [upper(law) for law in laws]
        floors = [min(tail.values()) for tail in tails]
        verdicts = {(r, c): oracle((tails[0][c], tails[1][r]), floors, alpha) for r, c in joint}
        assert sum(joint[at] for at, verdict in verdicts.items() if verdict in ("yes", "partly")) <= alpha
        events = data.draw(st.lists(st.integers(0, n - 1), min_size=m, max_size=m, unique=True))
        truth, flags = np.isin(np.arange(n), events), np.isin(np.arange(n), alarms)
        result = verdict_of(truth, flags, tolerance=delta, alpha=float(alpha))
        if result.ruling.obstacle:
            return
        assert result.verdict == verdicts[result.recall_hits, result.precision_hits]

    def test_at_larger_sizes_too(self):
        """By the exact joint law of problems too large to enumerate, at three levels."""
        rng = np.random.default_rng(5)
        for _ in range(60):
            n = int(rng.integers(20, 120))
            truth, alarms = np.zeros(n, dtype=bool), rng.random(n) < rng.uniform(0.03, 0.4)
            truth[rng.choice(n, int(rng.integers(2, 15)), replace=False)] = True
            if not 0 < alarms.sum() < n:
                continue
            result = verdict_of(truth, alarms, tolerance=int(rng.integers(0, 4)))
            joint = Permutation().joint(result.cell)
            p = []
            for hits in (joint.precision_hits, joint.recall_hits):
                tail = np.cumsum(np.bincount(hits, weights=joint.weights)[::-1])[::-1]
                p.append(tail[hits])
            for alpha in (0.01, 0.05, 0.1):
                level = alpha * (1 + 1e-9)
                floors = [side.min() for side in p]
                verdicts = [oracle(pair, floors, level) for pair in zip(*p, strict=True)]
                erring = np.isin(verdicts, ["yes", "partly"])
                assert joint.weights[erring].sum() <= alpha * (1 + 1e-6)


RUNS = np.repeat([0, 1, 0, 1, 0, 1, 0], [30, 6, 40, 5, 60, 7, 52]).astype(bool)


class TestTheNullOfAResult:
    def test_auto_is_the_default_and_says_which_and_why(self):
        """Runs of events are shifted, and the result says so in one sentence."""
        runs = np.isin(np.arange(1_000) // 6, np.random.default_rng(0).choice(160, 7, replace=False))
        result = nf.evaluate(runs, predictions=np.roll(runs, 1), tolerance=1)
        choice = result.settings.choice
        assert (choice.asked, result.null.text, choice.doubts) == ("auto", "circular-shift", ())
        assert choice.why in str(result)
        assert "Null: circular-shift (auto). Events come as runs" in str(result)
        assert result.verdict_in_words().startswith("Verdict: ")

    def test_a_null_that_the_data_contradict_comes_first(self):
        """Whoever insists on it reads so in the first words: table, notebook, JSON; and in a note, once."""
        result = verdict_of(RUNS, RUNS)
        first = "Under permutation, which these events contradict: no fluke."
        assert result.verdict_in_words().startswith(first)
        for text in (str(result), result._repr_html_()):
            assert first in text
            assert text.count("which the null permutation tears apart") == 1
        plain = result.to_dict()
        assert plain["doubts"] == list(result.settings.choice.doubts)
        assert len(plain["doubts"]) == 1
        assert plain["null"] == {
            "asked": "permutation",
            "name": "permutation",
            "text": "permutation",
            "why": "",
            "assumption": result.null.assumption,
            "holds": True,
        }

    def test_a_caveat_of_a_null_is_no_doubt_of_the_data(self):
        """The null bernoulli is for comparison only whatever the data: that is a note, not a contradiction."""
        result = verdict_of(SPARSE, SPARSE, null="bernoulli")
        assert result.settings.choice.doubts == ()
        assert any("to compare with the literature" in note for note in result.notes)

    def test_every_json_names_its_schema(self):
        """Evaluations, sweeps and diagnoses."""
        scores = np.arange(200) % 17
        made = (
            nf.evaluate(SPARSE, scores, quantile=0.9),
            nf.sweep(SPARSE, scores, quantiles=[0.8]),
            nf.diagnose(SPARSE, scores),
        )
        assert [one.to_dict()["schema"] for one in made] == [2, 2, 2]
        assert made[1].to_dict()["null"]["asked"] == "auto"
        assert json.dumps([one.to_dict() for one in made])

    def test_a_sweep_has_one_null_for_all_its_cells(self):
        """By the alarms of about a tenth of the steps, and it says why."""
        curve = nf.sweep(RUNS, np.arange(200) % 17, quantiles=[0.5, 0.9], tolerances=(0, 2))
        assert curve.settings.choice.why
        assert curve.settings.choice.why in str(curve)

    def test_auto_is_resolved_by_the_data_only(self):
        """The word auto alone makes no null model; a method the chosen null lacks is an error with a remedy."""
        with pytest.raises(nf.InputError, match="null='auto' needs data to look at: pass it to evaluate or sweep"):
            nf.nulls.as_null("auto")
        with pytest.raises(nf.InputError, match="must be one of 'auto', 'permutation'"):
            nf.evaluate(SPARSE, predictions=SPARSE, null="automatic")
        with pytest.raises(
            nf.InputError, match='which auto chose for these data: pass null="permutation", or method="auto"'
        ):
            nf.evaluate(RUNS, predictions=RUNS, method="saddlepoint")
        cell = verdict_of(RUNS, RUNS).cell
        assert choose(" auto ", cell, 0.05).is_auto

    def test_simulated_quakes_come_to_the_permutation(self):
        """As the data of the demonstration do, and the paper's (tests/test_paper.py)."""
        for seed in range(3):
            quakes = nf.datasets.simulate_quakes(rng=seed)
            scores = nf.detectors.energy_transient(quakes.counts)
            assert nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2).null.text == "permutation"


class TestNumbersBesideOneAnother:
    def test_the_table_puts_f1_to_the_test(self):
        """With chance and p, exactly where that is cheap, and the same each time; JSON and CSV when asked."""
        result = verdict_of(SPARSE, SPARSE)
        exact = result.f_test()
        row = result.table().rows[2]
        assert row[0] == "F1"
        assert float(row[-1]) == pytest.approx(exact.pvalue, rel=0.05)
        assert "F1 exact (dynamic programme)" in str(result)
        assert result.table(f1="value").rows[2][-1] == ""
        assert "f1_test" not in result.to_dict()
        assert result.to_dict(f1="test")["f1_test"]["pvalue"] == exact.pvalue
        assert f",{exact.pvalue!r}," in result.to_csv(f1="test")

    def test_f1_is_simulated_with_the_seed_of_the_result(self):
        """For nulls without a joint law, and the fine print says with how many resamples."""
        result = verdict_of(RUNS, RUNS, null="segments", n_resamples=2_000, rng=4)
        assert "F1 montecarlo (999 resamples, seed 4). Precision and recall: 2,000 resamples, seed 4." in str(result)
        assert str(result) == str(result)

    def test_beyond_a_hundred_thousand_steps_f1_is_tested_when_asked(self):
        """A long series is printed at once."""
        truth = np.arange(100_001) % 5_003 == 7
        result = verdict_of(truth, np.roll(truth, 1), tolerance=2)
        assert result.table().rows[2][-1] == ""
        assert result.table(f1="test").rows[2][-1]

    def test_a_result_says_what_permutation_would_say(self):
        """Where another null was taken, and its p-values differ; not beside the permutation itself."""
        shifted, permuted = nf.evaluate(RUNS, predictions=RUNS), verdict_of(RUNS, RUNS)
        lines = [note for note in shifted.table().notes if note.startswith("Permutation would say p = ")]
        assert lines == [
            f"Permutation would say p = {permuted.precision_test.pvalue:.1e} (precision) and p = "
            f"{permuted.recall_test.pvalue:.1e} (recall)."
        ]
        assert "Permutation would say" not in str(permuted)


class TestGate:
    """Exit code 0, 1 or 3, what cannot be told before what fails, and one line that says why."""

    @pytest.fixture
    def file(self, tmp_path):
        columns = {
            "truth": SPARSE,
            "good": SPARSE,
            "late": np.roll(SPARSE, 3),
            "never": np.zeros(200, dtype=bool),
            "once": np.arange(200) == 11,
            "most": SPARSE | (np.arange(200) % 3 == 0),
            "single": np.arange(200) == 45,
        }
        lines = [
            ",".join(columns),
            *(",".join(str(int(v)) for v in row) for row in zip(*columns.values(), strict=True)),
        ]
        (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
        return str(tmp_path / "data.csv")

    @pytest.mark.parametrize(
        ("alarms", "options", "code", "why"),
        [
            ("late", "", 0, ""),
            ("good", "--gate", 0, ""),
            ("late", "--gate", 1, "the verdict is no. Neither precision nor recall"),
            ("never", "--gate", 3, "cannot tell. There are no predictions"),
            ("good", "--gate-on both", 0, ""),
            ("late", "--gate-on both", 1, "the verdict is no."),
            ("good", "--gate-on precision", 0, ""),
            ("good", "--gate-on recall", 0, ""),
            ("good", "--gate-on f1", 0, ""),
            ("late", "--gate-on precision", 1, "precision is not better than chance at the 0.05 level (p = 1)."),
            ("late", "--gate-on recall", 1, "recall is not better than chance"),
            ("late", "--gate-on f1", 1, "F1 is not better than chance"),
            ("never", "--gate-on f1", 3, "cannot tell. There are no predictions"),
            (
                "late",
                "--gate-on precision --tolerance 30",
                3,
                "cannot tell. Every step is within the tolerance of an event",
            ),
            ("good", "--min-precision 1", 0, ""),
            ("good", "--min-precision 0.9 --min-recall 0.9 --min-f1 0.9", 0, ""),
            ("once", "--gate-on precision --min-recall 0.5", 1, "recall is 0.100, below 0.5."),
            ("once", "--gate-on precision --min-recall 0.1", 0, ""),
            ("most", "--min-precision 0.9", 1, "precision is 0.137, below 0.9."),
            ("most", "--gate-on recall --min-f1 0.9", 1, "F1 is 0.241, below 0.9."),
            ("late", "--min-recall 0", 1, "the verdict is no."),
            ("never", "--min-recall 0.5", 3, "cannot tell."),
        ],
    )
    def test_exit_codes(self, file, alarms, options, code, why, capsys):
        """As the table in docs/reference/cli.md has them; the result is printed all the same."""
        with pytest.raises(SystemExit) as stopped:
            main(
                [
                    "evaluate",
                    file,
                    "--truth",
                    "truth",
                    "--predictions",
                    alarms,
                    "--null",
                    "permutation",
                    *options.split(),
                ]
            )
        printed = capsys.readouterr()
        assert stopped.value.code == code, printed.err
        assert printed.err.startswith(f"nofluke: gate: {why}") if why else printed.err == ""
        assert printed.err.count("\n") == bool(why)
        assert "Verdict: " in printed.out

    @pytest.mark.parametrize("on", ["precision", "recall", "f1"])
    def test_a_measure_that_can_reach_no_level_cannot_tell(self, on):
        """One event, one alarm, four steps: no p below .25 can come out."""
        found = gate(verdict_of([0, 1, 0, 0], [0, 0, 1, 0]), on=on)
        assert found.code == 3
        assert "The smallest possible p for" in found.why

    def test_bad_limits_are_refused(self, file, capsys):
        """A share lies between 0 and 1; the message names the option."""
        with pytest.raises(SystemExit) as stopped:
            main(["evaluate", file, "--truth", "truth", "--predictions", "good", "--min-f1", "90"])
        assert stopped.value.code == 2
        assert capsys.readouterr() == ("", "nofluke: --min-f1 90 must be between 0 and 1.\n")
        with pytest.raises(nf.InputError, match="on='accuracy' must be one of"):
            gate(verdict_of(SPARSE, SPARSE), on="accuracy")
        with pytest.raises(nf.InputError, match="min_f1=2 must be between 0 and 1"):
            gate(verdict_of(SPARSE, SPARSE), least={"f1": 2})


class TestPerfectAlarms:
    """*No* is only said where alarms on every event would have been significant."""

    RANGES: ClassVar = [(60, 119), (300, 371), (500, 559), (700, 779)]

    def judged(self, alarms, reach, count="episodes", **more):
        """Alarms as ranges against the four events, in 1,000 steps."""
        flags = np.zeros(1_000, dtype=int)
        for first, last in alarms:
            flags[first : last + 1] = 1
        null = f"local-shift:reach={reach}"
        return nf.evaluate(self.RANGES, predictions=flags, tolerance=2, count_alarms=count, null=null, **more)

    def test_short_shifts_of_long_ranges_cannot_tell(self):
        """Shifted by 100 steps at most, events of an hour are still found by perfect alarms in more than 5%."""
        perfect = self.judged([(80, 99), (320, 339), (520, 539), (730, 749)], 100)
        poor = self.judged([(20, 39), (320, 339), (620, 639), (900, 919)], 100)
        assert perfect.recall == perfect.precision == 1
        assert min(perfect.recall_test.pvalue, perfect.precision_test.pvalue) > 0.05
        for found in (perfect, poor):
            assert found.verdict == "cannot tell"
            assert "the smallest possible p is" in found.reason

    def test_what_could_have_come_out_does_not_depend_on_the_hits(self):
        """Alarms as long as these have the same smallest p-values wherever they are."""
        floors = set()
        for begin in (0, 130, 400):
            found = self.judged([(begin + 60 * k, begin + 60 * k + 19) for k in range(4)], 100)
            floors.add(tuple(found.floor_above(side, 0.05) for side in ("precision", "recall")))
        assert len(floors) == 1

    def test_long_shifts_of_the_same_events_say_no(self):
        """With room enough perfect alarms are significant, so poor ones are judged."""
        ranges = [(60, 64), (300, 306), (500, 505), (700, 707)]
        flags = np.isin(np.arange(1_000), [20, 301, 620, 900]).astype(int)
        found = nf.evaluate(ranges, predictions=flags, tolerance=1, null="local-shift:reach=400")
        assert found.verdict == "no"
        assert found.floor_above("recall", 0.05) is None

    def test_steps_on_events_may_tell_where_episodes_cannot(self):
        """All steps of an event predicted are rarely all within shifted events: precision of steps can be judged."""
        alarms = [(20, 39), (320, 339), (620, 639), (900, 919)]
        assert self.judged(alarms, 100, "steps").verdict == "no"

    def test_one_rule_for_verdict_gate_and_diagnosis(self):
        """Diagnose reports the smallest p-values that the verdict goes by, the same in every call."""
        rng = np.random.default_rng(3)
        rate = np.linspace(0.2, 4, 2_000)
        starts = np.sort(rng.choice(1_900, 7, replace=False, p=rate[:1_900] / rate[:1_900].sum()))
        ranges = [(int(s), int(s) + 79) for s in starts[np.diff(starts, prepend=-200) > 90]]
        scores = rng.normal(size=2_000) + 2 * rate
        asked = {"quantile": 0.9, "tolerance": 2, "count_alarms": "episodes"}
        found = nf.diagnose(ranges, scores, **asked)
        assert found.recommended.name == "local-shift"
        assert found == nf.diagnose(ranges, scores, **asked)
        judged = nf.evaluate(ranges, scores, **asked)
        (told,) = (one for one in found.smallest_p if one.null == "local-shift")
        for side in ("precision", "recall"):
            assert judged.floor_above(side, 1e-9) == getattr(told, side)

    def test_event_times_have_the_same_rule(self):
        """Shifts no longer than the tolerance tell nothing of two lists of times either."""
        events = [103, 317, 512, 824]
        found = nf.coincidence(events, [150, 420, 610], tolerance=20, span=(0, 1_000), null="local-shift:reach=30")
        assert found.verdict == "cannot tell"
        found = nf.coincidence(events, [150, 420, 610], tolerance=2, span=(0, 1_000), null="local-shift:reach=200")
        assert found.verdict == "no"
