"""Each field's own words: names, presets, and the numbers of its own software.

``python tests/test_fields.py`` records what timescoring and pyunicorn say, where they are installed.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import nofluke as nf
from nofluke.cli import main
from nofluke.errors import called, packed, say, unpacked
from nofluke.nulls import as_null
from nofluke.series.names import Names, plural_of
from oracles import coincalc_eca

FILE = Path(__file__).with_name("field_values.json")
DOCS = Path(__file__).parents[1] / "docs"
QUAKES = nf.datasets.simulate_quakes(rng=0)
Z = nf.detectors.energy_transient(QUAKES.counts)
FLOODS = {"event_name": "flood", "alarm_name": "storm"}
SETS = {
    "flood": FLOODS,
    "seizure": {"event_name": "seizure", "alarm_name": "alarm"},
    "incident": {"event_name": "incident", "alarm_name": "alert"},
}
OLD = re.compile(r"\b(events?|alarms?|predictions?|ranges? (?:is|are|found))\b", re.IGNORECASE)


CUT = {"quantile": 0.9, "tolerance": 2}
HOURS = pd.date_range("2024-01-01", periods=len(QUAKES.truth), freq="h")
QUESTIONS = {
    "evaluate": lambda **names: nf.evaluate(QUAKES.truth, Z, **CUT, **names),
    "ranges": lambda **names: nf.evaluate(
        QUAKES.truth, Z, **CUT, **names, count_events="ranges", count_alarms="episodes", warmup=100
    ),
    "few": lambda **names: nf.evaluate(np.flatnonzero(QUAKES.truth)[:3], Z, **CUT, **names),
    "none": lambda **names: nf.evaluate(QUAKES.truth, Z, threshold=1e9, **names),
    "all": lambda **names: nf.evaluate(QUAKES.truth, Z, threshold=-1e9, tolerance=2, **names),
    "dated": lambda **names: nf.evaluate(
        HOURS[::500] + pd.Timedelta("7min"), predictions=Z > 1.4, times=HOURS, tolerance="3h", **names
    ),
    "doubted": lambda **names: nf.evaluate(
        [0] * 50 + [1] * 20 + [0] * 130, predictions=[0, 1] * 100, null="permutation", **names
    ),
    "sweep": lambda **names: nf.sweep(QUAKES.truth, Z, quantiles=[0.9, 0.95], tolerances=[0, 2], **names),
    "coincidence": lambda **names: nf.coincidence(
        [3, 60, 75, 90], [2, 50, 61, 80], tolerance=nf.Tolerance(early=2, late=0), span=(0, 99), **names
    ),
    "windows": lambda **names: nf.sweep_tolerances(
        [3, 60, 75], [2, 50, 61], tolerances=[1, 2], lags=[0, 1], span=(0, 99), **names
    ),
    "diagnose": lambda **names: nf.diagnose(QUAKES.truth, Z, **CUT, **names),
    "significance": lambda **names: nf.significance(
        "pa-f1", QUAKES.truth, Z, quantile=0.9, n_resamples=50, rng=1, **names
    ),
    "compare": lambda **names: nf.compare(QUAKES.truth, {"a": Z, "b": QUAKES.counts}, **CUT, n_resamples=99, **names),
}


@cache
def named(kind: str) -> object:
    """The answer to a question of that kind, about floods and storms."""
    return QUESTIONS[kind](**FLOODS)


class TestNames:
    @pytest.mark.parametrize("kind", QUESTIONS)
    def test_no_other_word_for_events_and_alarms_is_left(self, kind):
        """In the text of a result nothing is called an event, an alarm or a prediction any more."""
        text = str(named(kind))
        assert OLD.findall(text) == []
        assert re.search("flood|storm", text)
        assert OLD.findall(named(kind).to_latex()) == []
        assert OLD.findall(named(kind).to_markdown()) == []

    @pytest.mark.parametrize("kind", QUESTIONS)
    def test_names_change_no_number_key_or_column(self, kind):
        """JSON has the same keys and numbers, CSV the same columns and, but for sentences, the same rows."""
        plain = QUESTIONS[kind]()
        mine, its = (one.to_dict(flat=True) for one in (named(kind), plain))
        assert list(mine) == list(its)
        numbers = {key for key, value in its.items() if not isinstance(value, str)}
        assert {key: mine[key] for key in numbers} == {key: its[key] for key in numbers}
        assert list(named(kind).columns()) == list(plain.columns())

    @pytest.mark.parametrize(
        "null", ["jitter:window=20", "seasonal:period=24", "segments", "interval-shuffle", "blocks:length=9"]
    )
    def test_what_chance_does_is_told_in_names(self, null):
        """Of every null, whatever it moves."""
        told = called(as_null(null).assumption, Names.of("flood", "storm"))
        assert OLD.findall(told) == []
        assert "storms stay in place" in told

    def test_sentences_make_sense_with_three_sets_of_names(self):
        """As people of three fields would read them."""
        asked = {"events": [3, 60, 75, 90], "alarms": [2, 50, 61, 80], "tolerance": 2, "span": (0, 99)}
        told = {name: nf.coincidence(**asked, **names) for name, names in SETS.items()}
        said = {
            name: (*found.sentences()[:2], next(note for note in found.table().notes if "Delay:" in note))
            for name, found in told.items()
        }
        assert [text.partition(";")[0] for text in said["flood"]] == [
            "2 of 4 storms are within 2 time units of a flood",
            "2 of 4 floods are within 2 time units of a storm",
            "Storms without a flood: 2 (2 per 100 time units). Delay: median 0 time units (middle half -0.5 time units to 0.5 "
            "time units).",
        ]
        assert said["seizure"][0].startswith("2 of 4 alarms are within 2 time units of a seizure")
        assert said["seizure"][2].startswith("False alarms: 2 (2 per 100 time units).")
        assert said["incident"][1].startswith("2 of 4 incidents are within 2 time units of an alert")
        assert said["incident"][2].startswith("Alerts without an incident: 2")
        assert told["incident"].names.alarms == "alerts"

    def test_plurals_and_articles(self):
        """By English rules, or as the name brings them."""
        assert [plural_of(noun) for noun in ("outage", "breach", "anomaly", "day", "crisis")] == [
            *("outages", "breaches", "anomalies", "days", "crises"),
        ]
        names = Names.of("person/people", "SLO breach")
        told = called(say("{:,} {}, {an_alarm}, {Events}, {event_s}", 2, say("{events}")), names)
        assert told == "2 people, an SLO breach, People, people"

    @pytest.mark.parametrize("name", ["", " ", "a/", "/a", "a/b/c", "x" * 70, 3, "a\nb", b"flood", ["flood"]])
    def test_what_is_no_name_is_refused(self, name):
        """With the argument and a remedy."""
        with pytest.raises(nf.InputError, match="event_name"):
            nf.evaluate([0, 1, 0], predictions=[0, 1, 0], event_name=name)

    def test_a_unit_of_time_is_that_of_delays_and_tolerances(self):
        """However long they are; what is no unit is refused."""
        clock = pd.date_range("2024-01-01", periods=300, freq="min")
        truth = np.arange(300) % 60 == 10
        asked = {"predictions": np.roll(truth, 2), "times": clock, "tolerance": "3min"}
        assert "Delay: median 120s (middle half 120s to 120s)." in str(nf.evaluate(truth, **asked, time_unit="s"))
        assert "within 0.05h of" in str(nf.evaluate(truth, **asked, time_unit="h"))
        assert "Delay: median 2min" in str(nf.evaluate(truth, **asked))
        with pytest.raises(nf.InputError, match="time_unit='days'"):
            nf.evaluate(truth, **asked, time_unit="days")

    def test_sentences_keep_their_things_on_the_way_to_other_processes(self):
        """Packed and unpacked, a sentence can still be told in names."""
        sent = unpacked(packed(say("{Events} without {an_alarm}")))
        assert called(sent, Names.of("flood", "storm")) == "Floods without a storm"

    def test_figures_have_the_names(self):
        """Legends and axes."""
        ax = nf.plot.timeline(named("evaluate"), ax=Figure().subplots())
        told = [text.get_text() for text in ax.get_legend().get_texts()]
        assert any(text.startswith("floods found") for text in told)
        assert any(text.startswith("storms without a flood") for text in told)
        assert OLD.findall(" ".join(told)) == []
        ax = nf.plot.coincidence(named("coincidence"), Figure().subplots())
        assert OLD.findall(" ".join(text.get_text() for text in ax.get_legend().get_texts())) == []

    def test_a_series_carries_its_names(self):
        """To every question it is asked."""
        series = nf.Series(QUAKES.truth, **FLOODS)
        assert str(series) == "2,557 steps, 162 floods"
        assert series.evaluate(Z, quantile=0.9).names.alarm == "storm"
        assert str(nf.Series([3, 9], span=(0, 20), **FLOODS)) == "2 floods from 0 to 20"


class TestLeads:
    asked: ClassVar = {
        "events": [10, 40, 70],
        "alarms": [9, 39, 90],
        "tolerance": nf.Tolerance(early=2, late=0),
        "span": (0, 99),
    }

    @pytest.mark.parametrize(
        ("leads", "names"), [("alarms", ("trigger", "precursor")), ("events", ("precursor", "trigger"))]
    )
    def test_rates_stand_in_table_and_figure_where_it_is_said_what_leads(self, leads, names):
        """And nowhere else."""
        found = nf.coincidence(**self.asked, leads=leads)
        rows = [row[0] for row in found.table().rows[:2]]
        assert rows == [f"precision ({names[0]} rate)", f"recall ({names[1]} rate)"]
        panels = nf.plot.evaluation(found, Figure().subplots(1, 2))
        titles = [" ".join(panel.get_title().split()) for panel in panels]
        assert [title[: len(row)] for title, row in zip(titles, rows, strict=True)] == rows
        assert nf.coincidence(**self.asked).table().rows[0][0] == "precision"
        assert found.columns()["measure"][:2] == ["precision", "recall"]


class TestLengths:
    @pytest.mark.parametrize(
        ("length", "told"),
        [
            ("525946min", "a year"),
            ("365.2425d", "a year"),
            ("730.485d", "730.485d"),
            ("365d", "365d"),
            ("97s", "97s"),
            ("2h", "2h"),
        ],
    )
    def test_lengths_are_as_people_say_them(self, length, told):
        """In sentences; JSON keeps them exact."""
        tolerance = nf.Tolerance(early=length, late=length)
        assert str(tolerance) == told
        assert nf.Tolerance(early=tolerance.plain(), late=tolerance.plain()) == tolerance

    def test_a_float_of_nanoseconds_is_told_as_a_whole_one_is(self):
        """No minutes with five digits."""
        from nofluke.dates import format_duration

        assert format_duration(-97e9) == format_duration(-97 * 10**9) == "-97s"


class TestPresets:
    def test_what_is_passed_wins(self):
        """Over the preset; a mapping of one's own is one."""
        truth, alarms = [0, 1, 1, 0, 0, 0] * 9, [0, 0, 1, 1, 0, 0] * 9
        assert nf.evaluate(truth, predictions=alarms, preset="sre").n_events == 9
        own = nf.evaluate(truth, predictions=alarms, preset="sre", event_name="outage", count_alarms="steps")
        assert (own.names.events, own.names.alarm, own.n_predictions) == ("outages", "alert", 18)
        changed = {**nf.presets["sre"], "event_name": "outage"}
        assert nf.evaluate(truth, predictions=alarms, preset=changed).names.event == "outage"

    @pytest.mark.parametrize("preset", ["sze", "eca:tau", "szcore:x=1", 3, "eca:delta_t=-2d", ""])
    def test_what_is_no_preset_is_refused(self, preset):
        """In one line that names it."""
        with pytest.raises(nf.InputError):
            nf.coincidence([3, 9], [4], span=(0, 20), tolerance=1, preset=preset)

    def test_each_prints_its_table(self):
        """With each of its arguments and its reference."""
        for name, preset in nf.presets.items():
            assert all(argument in str(preset) for argument in preset)
            assert preset.reference in str(preset)
            assert str(preset) in str(nf.presets)
            assert name in repr(nf.presets)

    def test_the_command_line_takes_them_too(self, tmp_path, capsys):
        """As the library does, and what is typed wins; names of presets with a typo are refused in one line."""
        clock = pd.date_range("2024-01-01", periods=3_000, freq="s")
        frame = pd.DataFrame({"time": clock, "label": 0, "alarm": 0})
        for start in (300, 1_200, 2_100):
            frame.loc[start : start + 80, "label"] = frame.loc[start + 20 : start + 130, "alarm"] = 1
        file = tmp_path / "eeg.csv"
        frame.to_csv(file, index=False)
        words = [
            *("evaluate", str(file), "--truth", "label", "--predictions", "alarm", "--time", "time"),
            "--format",
            "json",
        ]

        def told(*more):
            with pytest.raises(SystemExit) as stopped:
                main([*words, *more])
            out = capsys.readouterr()
            return stopped.value.code, out.out, out.err

        theirs = nf.evaluate(frame["label"], predictions=frame["alarm"], times=clock, preset="szcore")
        assert json.loads(told("--preset", "szcore")[1]) == theirs.to_dict()
        own = json.loads(told("--preset", "szcore", "--tolerance", "5s", "--event-name", "fit")[1])
        assert own["tolerance"] == "5s"
        reset = json.loads(told("--preset", "sre", "--tolerance", "60s")[1])["reset"]
        assert (reset["median"], reset["unit"]) == (50.0, "seconds")
        code, _, error = told("--preset", "szcor")
        assert (code, error.count("\n")) == (2, 1)
        assert "did you mean 'szcore'?" in error
        with pytest.raises(SystemExit):
            main(["presets", "szcore"])
        assert capsys.readouterr().out.rstrip("\n") == str(nf.presets["szcore"])

    @settings(max_examples=25)
    @given(data=st.data(), width=st.integers(0, 9), tau=st.integers(0, 9), sym=st.booleans())
    def test_eca_is_coincalc_s_in_its_own_sign(self, data, width, tau, sym):
        """ΔT and τ as CC.eca.ts takes them, by its formula."""
        times = st.lists(st.integers(2, 60), min_size=1, max_size=9, unique=True).map(sorted)
        effects, causes = data.draw(times), data.draw(times)
        preset = f"eca:delta_t={width},tau={tau}" + (",sym=yes" if sym else "")
        found = nf.coincidence(effects, causes, preset=preset, span=(0, 60), tick=1, null="permutation")
        theirs = coincalc_eca(effects, causes, (0, 60), width, tau, sym=sym, edges=False)
        assert theirs == [(found.recall_hits, len(effects)), (found.precision_hits, len(causes))]

    def test_eca_is_pyunicorn_s(self):
        """Its recorded rates, without the times that it leaves out at both ends of a list."""
        for case in json.loads(FILE.read_text())["pyunicorn"]:
            x, y, wide, lag = case["x"], case["y"], case["taumax"], case["lag"]
            found = nf.coincidence(
                x, y, preset=f"eca:delta_t={wide},tau={lag}", span=(0, 400), tick=1, null="permutation"
            )
            heard, counted = np.ones(len(y), dtype=bool), np.ones(len(x), dtype=bool)
            if wide or lag:  # it leaves out nothing where both are 0
                heard, counted = np.array(y) < y[-1] - lag - wide, np.array(x) > x[0] + lag + wide
            told = found.cell.found[counted].mean(), found.cell.alarm_hits[heard].mean()
            assert told == pytest.approx(case["rates"], rel=1e-6)

    def test_szcore_gives_timescoring_s_numbers(self):
        """Events, found ones, false alarms, sensitivity, precision, F1 and false alarms per day, in steps too."""
        for case in json.loads(FILE.read_text())["timescoring"]:
            truth, alarms = (mask_of(case[name]) for name in ("ref", "hyp"))
            clock = pd.date_range("2024-01-01", periods=len(truth), freq="s")
            found = nf.evaluate(truth, predictions=alarms, times=clock, preset="szcore", null="circular-shift")
            tp, fp, fn = found.recall_hits, found.false_alarms.count, found.n_events - found.recall_hits
            assert (found.n_events, tp, fp) == (case["refTrue"], case["tp"], case["fp"])
            assert found.recall == pytest.approx(case["sensitivity"])
            assert tp / (tp + fp) == pytest.approx(case["precision"])
            assert 2 * tp / (2 * tp + fp + fn) == pytest.approx(case["f1"])
            assert found.false_alarms.rate(per="1d") == pytest.approx(case["fpRate"])
            steps = {
                "tolerance": nf.Tolerance(early=30, late=60),
                "merge_gap": 90,
                "split_longer": 300,
                "refractory": 91,
            }
            same = nf.evaluate(truth, predictions=alarms, **steps, null="circular-shift")
            assert (same.n_events, same.recall_hits, same.false_alarms.count) == (found.n_events, tp, fp)

    def test_earthquakes_counts_time_under_alarm(self):
        """An alarm finds what comes from its own time on for as long as it lasts."""
        found = nf.coincidence([20, 30, 31, 90], [10, 60], preset="earthquakes:window=20", span=(0, 99), tick=1)
        assert found.cell.found.tolist() == [True, True, False, False]
        assert (found.cell.covered, found.n) == (42, 100)


def mask_of(ranges: list[list[int]], n: int = 4_000) -> np.ndarray:
    """0 or 1 for each second."""
    found = np.zeros(n, dtype=int)
    for start, stop in ranges:
        found[start:stop] = 1
    return found


class TestShapes:
    @settings(max_examples=60)
    @given(
        flags=st.lists(st.booleans(), min_size=1, max_size=60),
        merge=st.one_of(st.none(), st.integers(1, 9)),
        split=st.one_of(st.none(), st.integers(1, 9)),
        dated=st.booleans(),
    )
    def test_ranges_are_merged_and_split_as_one_would_by_hand(self, flags, merge, split, dated):
        """Runs of labels, on steps and in seconds; ranges that were given, by their ends."""
        asked = {"merge_gap": merge, "split_longer": split}
        if dated:
            asked = {name: None if length is None else f"{length}s" for name, length in asked.items()}
            asked["times"] = pd.date_range("2024-01-01", periods=len(flags), freq="s")
        found = nf.evaluate(flags, predictions=np.zeros(len(flags)), count_events="ranges", **asked)
        truth = found.cell.truth
        assert list(zip(truth.starts.tolist(), truth.stops.tolist(), strict=True)) == shaped(flags, merge, split)

    def test_given_ranges_are_measured_from_end_to_start(self):
        """Closed ends; pieces end where the next begins, which belongs to that."""
        clock = pd.date_range("2024-01-01", periods=1_000, freq="s")
        ranges = [(clock[10], clock[50]), (clock[139], clock[160]), (clock[250], clock[560])]
        for gap, n in (("89s", 3), ("90s", 2)):
            found = nf.evaluate(ranges, predictions=np.zeros(1_000), times=clock, merge_gap=gap)
            assert found.n_events == n
        found = nf.evaluate(ranges, predictions=np.zeros(1_000), times=clock, split_longer="5min")
        assert found.cell.truth.starts.tolist() == [10, 139, 250, 550]
        assert found.cell.truth.pieces.tolist() == [0, 1, 2, 2]
        assert "Ranges longer than 5min were split: 3 became 4." in found.notes

    def test_pieces_shorter_than_steps_are_refused(self):
        """Billions of them would fill the memory."""
        days = pd.date_range("2024-01-01", periods=50)
        with pytest.raises(nf.InputError, match="split_longer=1ns would cut the ranges into"):
            nf.evaluate([0] * 20 + [1] * 20 + [0] * 10, predictions=[0, 1] * 25, times=days, split_longer="1ns")

    def test_pieces_move_together(self):
        """Under a null that shuffles ranges: as far apart as in the data."""
        truth = np.zeros(500, dtype=int)
        for start, stop in ((20, 80), (150, 160), (300, 345)):
            truth[start:stop] = 1
        found = nf.evaluate(truth, predictions=np.zeros(500), split_longer=20, null="segments", n_resamples=50, rng=1)
        side = found.cell.truth
        rows = as_null("segments").draw(side)(np.random.default_rng(0), 200)
        for one in np.unique(side.pieces):
            own = side.pieces == one
            assert (np.diff(rows[:, own], axis=1) == np.diff(side.starts[own])).all()
        whole = nf.evaluate(truth, predictions=np.zeros(500), count_events="ranges").cell.truth
        assert np.unique(np.sort(rows[:, np.unique(side.wholes[0])], axis=1), axis=0).shape[0] > 100
        assert (rows[:, side.wholes[1]] + (side.stops - side.starts)[side.wholes[1]] <= 500).all()
        assert whole.n == len(np.unique(side.pieces))

    def test_pieces_of_a_range_across_a_border_stay(self):
        """Where whole periods are exchanged, all of them or none, though a piece ends at the border."""
        days = pd.date_range("2023-01-01", periods=365)
        truth = np.zeros(365, dtype=int)
        truth[[*range(25, 37), *range(100, 103), *range(200, 203), 300]] = 1  # the first ends in February
        found = nf.evaluate(
            truth, predictions=truth, times=days, split_longer=6, null="period-shuffle:period=month", rng=1
        )
        side = found.cell.truth
        assert side.starts[:2].tolist() == [25, 31]
        rows = as_null("period-shuffle:period=month").draw(side)(np.random.default_rng(0), 200)
        assert (rows[:, :2] == [25, 31]).all()
        assert len(np.unique(rows[:, 3])) > 1

    @pytest.mark.parametrize(
        ("name", "value"), [("merge_gap", 0), ("split_longer", "0s"), ("split_longer", 1.5), ("merge_gap", "x")]
    )
    def test_what_is_no_length_is_refused(self, name, value):
        """By its name, and so is a length for steps."""
        with pytest.raises(nf.InputError, match=name):
            nf.evaluate([0, 1, 1, 0], predictions=[0, 1, 0, 0], **{name: value})
        with pytest.raises(nf.InputError, match="counts each step"):
            nf.evaluate([0, 1, 1, 0], predictions=[0, 1, 0, 0], **{name: 2}, count_events="steps")


def shaped(flags, merge, split):
    """Runs of flags, merged and split one after the other."""
    runs: list[list[int]] = []
    for i, flag in enumerate(flags):
        if flag and runs and runs[-1][1] == i:
            runs[-1][1] = i + 1
        elif flag:
            runs.append([i, i + 1])
    merged: list[list[int]] = []
    for start, stop in runs:
        if merge is not None and merged and start - merged[-1][1] < merge:
            merged[-1][1] = stop
        else:
            merged.append([start, stop])
    found = []
    for start, stop in merged:
        while split is not None and stop - start > split:
            found.append((start, start + split))
            start += split
        found.append((start, stop))
    return found


class TestResets:
    @settings(max_examples=60)
    @given(data=st.data(), early=st.integers(0, 3), late=st.integers(0, 3), ranges=st.booleans())
    def test_a_reset_is_from_the_end_of_an_event_to_that_of_its_last_alarm(self, data, early, late, ranges):
        """Looked for step by step; NaN for what was missed."""
        n = data.draw(st.integers(1, 40))
        truth, alarms = (data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for _ in range(2))
        found = nf.evaluate(
            truth,
            predictions=alarms,
            tolerance=nf.Tolerance(early=early, late=late),
            count_events="ranges" if ranges else "steps",
        )
        events = shaped(truth, None, None) if ranges else [(i, i + 1) for i in range(n) if truth[i]]
        expected = []
        for start, stop in events:
            near = [i for i in range(max(start - early, 0), min(stop + late, n)) if alarms[i]]
            last = near[-1] if near else None
            while last is not None and last + 1 < n and alarms[last + 1]:
                last += 1
            expected.append(np.nan if last is None else last - (stop - 1))
        np.testing.assert_array_equal(found.resets.values, expected)

    def test_it_is_told_only_if_it_has_a_name(self):
        """In the table and in JSON."""
        truth, alarms = [0, 1, 1, 0, 0, 0] * 9, [0, 0, 1, 1, 0, 0] * 9
        named = nf.evaluate(truth, predictions=alarms, preset="sre")
        assert "Detection time: median 1 step (middle half 1 step to 1 step). Reset time: median 1 step" in str(named)
        plain = nf.evaluate(truth, predictions=alarms)
        assert "reset" not in plain.to_dict()
        assert "eset" not in str(plain)


@pytest.mark.parametrize(
    "word", ["alert", "incident", "warning", "seizure", "Molchan", "Nemenyi", "critical difference", "pager"]
)
def test_a_search_finds_the_words_of_a_field(word):
    """On a page that answers questions, as Sphinx searches by whole words."""
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "howto").glob("*.md")]
    assert any(re.search(rf"\b{word}s?\b", page, re.IGNORECASE) for page in pages)


def record() -> None:
    """Write down what the fields' own software says."""
    from pyunicorn.eventseries import EventSeries
    from timescoring import scoring
    from timescoring.annotations import Annotation

    rng = np.random.default_rng(20)
    keys = ("refTrue", "tp", "fp", "sensitivity", "precision", "f1", "fpRate")
    seizures, rates = [], []
    while len(seizures) < 25:
        ranges = {
            name: sorted(
                [int(at), int(at + long)] for at, long in rng.integers((0, many[0]), (3_200, many[1]), (n, 2)).tolist()
            )
            for name, n, many in (("ref", 6, (20, 700)), ("hyp", 7, (5, 140)))
        }
        masks = [mask_of(ranges[name]).astype(bool) for name in ("ref", "hyp")]
        found = scoring.EventScoring(*(Annotation(mask, 1) for mask in masks))
        if max(stop - start for start, stop in found.hyp.events) < 300:  # longer alarms count once here
            seizures.append(ranges | {key: float(getattr(found, key)) for key in keys})
    for wide, lag in ((3, 0), (10, 2), (25, 5), (0, 0), (7, 7)):
        x, y = (sorted(int(at) for at in rng.choice(400, 40, replace=False)) for _ in range(2))
        series = [np.isin(np.arange(400), one).astype(int) for one in (x, y)]
        told = EventSeries.event_coincidence_analysis(*series, wide, lag=lag)
        rates.append({"x": x, "y": y, "taumax": wide, "lag": lag, "rates": [float(rate) for rate in told[:2]]})
    FILE.write_text(json.dumps({"timescoring": seizures, "pyunicorn": rates}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
