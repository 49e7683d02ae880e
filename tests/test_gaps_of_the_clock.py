"""What lies in a gap of the clock: on no step where tolerances count steps, at its own time where they do not."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import main
from nofluke.series.between import trial_of
from nofluke.series.reading import prepare
from nofluke.studies.cases import Case
from test_study_cells import assert_as_evaluated, rows_of, settings_of

CLOCK = [0, 1, 2, 3, 100, 101, 102]
LEFT_OUT = "1 {}(s) lie in gaps of the clock: they are on no step, and were left out."
IN_TIME = nf.Tolerance(early=1, late=1, unit="clock")


def flags(*steps, n=7):
    return np.isin(np.arange(n), steps).astype(int)


def counted(truth, alarms, tolerance=0, **how):
    """Events, alarms, and both hits."""
    window = tolerance if isinstance(tolerance, nf.Tolerance) else nf.Tolerance(early=tolerance, late=tolerance)
    trial = trial_of(prepare(truth, predictions=alarms, **how), (window,), None).trial
    return trial.n_events, int(trial.n_predictions[0]), int(trial.recall_hits[0, 0]), int(trial.precision_hits[0, 0])


def series(rng=0, n=400, hole=(150, 260)):
    """A clock of minutes with a hole, events on it as times, and scores that know some of them."""
    generator = np.random.default_rng(rng)
    minutes = np.setdiff1d(np.arange(n), np.arange(*hole))
    events = np.sort(generator.choice(minutes, 14, replace=False))
    scores = generator.random(len(minutes)) + 0.6 * np.isin(minutes, events[::2])
    return minutes, events, scores


def dates(minutes):
    return np.datetime64("2024-03-01T00:00:00") + np.asarray(minutes) * np.timedelta64(60, "s")


class TestInSteps:
    @pytest.mark.parametrize("tolerance", [0, 1, 3])
    @pytest.mark.parametrize("alarm", [3, 4])
    @pytest.mark.parametrize(
        ("truth", "what"),
        [([99], "event"), ([4], "event"), ([(98, 99)], "range"), ([(4, 50)], "range"), ([(99, 99)], "range")],
    )
    def test_what_lies_in_a_gap_is_on_no_step(self, truth, what, alarm, tolerance):
        """Neither the alarm before the gap nor the one behind it finds it, and a note says that it was left out."""
        result = nf.evaluate(truth, predictions=flags(alarm), times=CLOCK, truth_as="times", tolerance=tolerance)
        assert (result.n_events, result.recall_hits, result.precision_hits, len(result.delays.values)) == (0, 0, 0, 0)
        assert LEFT_OUT.format(what) in result.notes

    @pytest.mark.parametrize("truth", [[3.5], [(3.5, 3.5)], [(3.5, 50)], [(3.2, 3.9)]])
    def test_the_step_before_a_gap_lasts_as_long_as_others_do(self, truth):
        """What begins in that time is on that step, whether it is an event or a range."""
        for alarm, found in ((3, 1), (4, 0)):
            result = nf.evaluate(truth, predictions=flags(alarm), times=CLOCK, truth_as="times", tolerance=0)
            assert (result.n_events, result.recall_hits, result.precision_hits) == (1, found, found)
            assert not any("on no step" in note for note in result.notes)

    def test_a_range_partly_in_a_gap_keeps_its_steps(self):
        """It is as one that ends on its last step, or begins on its first."""
        for inside, same in (((2, 50), (2, 3)), ((50, 101), (100, 101)), ((2, 101), (2, 101))):
            for alarm in range(7):
                for tolerance in (0, 1, nf.Tolerance(early=2, late=-1)):
                    one, other = (counted([pair], flags(alarm), tolerance, times=CLOCK) for pair in (inside, same))
                    assert one == other

    @pytest.mark.parametrize("alarms", [[99, 101], [(98, 99), (101, 101)]])
    def test_alarms_in_a_gap_are_on_no_step_either(self, alarms):
        """Times and ranges: they find no event and are no false alarms, and a note says so."""
        for event in (3, 4):
            result = nf.evaluate(flags(event), predictions=alarms, times=CLOCK, tolerance=0)
            assert (result.n_predictions, result.recall_hits) == (1, 0)
            assert any("left out" in note for note in result.notes)

    def test_alarms_in_a_gap_are_told_of_where_ranges_or_episodes_need_steps(self):
        """Under a tolerance in time too, since alarms are then moved to their steps."""
        note = LEFT_OUT.format("alarm")
        ranges = nf.evaluate([(2, 3)], predictions=[99, 101], times=CLOCK, tolerance=IN_TIME)
        episodes = nf.evaluate(
            [2.5], predictions=[99, 101], times=CLOCK, truth_as="times", tolerance=IN_TIME, count_alarms="episodes"
        )
        for result in (ranges, episodes):
            assert (result.n_predictions, result.notes.count(note)) == (1, 1)

    @settings(max_examples=100)
    @given(
        st.integers(2, 12),
        st.integers(12, 40),
        st.integers(2, 12),
        st.lists(st.integers(0, 10**9), max_size=8, unique=True),
        st.lists(st.booleans(), min_size=64, max_size=64),
        st.sampled_from(["events", "ranges", "steps of ranges", "alarms"]),
    )
    def test_a_gap_is_as_masked_steps(self, before, hole, behind, picks, alarms, kind):
        """Rows that are missing from a regular clock count as rows that are there and masked: the same hits."""
        n = before + hole + behind
        held = np.ones(n, dtype=bool)
        held[before : before + hole] = False
        at = dates(sorted({pick % n for pick in picks}))
        every, alarms = dates(np.arange(n)), np.array(alarms[:n])
        truth, more = at, {"truth_as": "times"}
        if kind in ("ranges", "steps of ranges"):
            truth = list(zip(at[::2], at[1::2], strict=False))
            more = {"truth_as": "ranges", "count_events": "ranges" if kind == "ranges" else "steps"}
        given = (every[alarms], every[alarms]) if kind == "alarms" else (alarms[held], alarms)
        assert counted(truth, given[0], times=every[held], **more) == counted(
            truth, given[1], times=every, mask=~held, **more
        )

    @pytest.mark.parametrize("ranges", [False, True])
    def test_every_verb_leaves_it_out(self, ranges):
        """With an event or a range in the hole, all numbers are those without it; and each says so in a note."""
        minutes, events, scores = series()
        truth = [(a, a + 1) for a in events] if ranges else list(events)
        both = [*truth, (200, 210) if ranges else 200]
        note = LEFT_OUT.format("range" if ranges else "event")
        how = {"times": minutes, "truth_as": "ranges" if ranges else "times"}
        cut = {**how, "budget": 0.1, "tolerance": 2}

        def plainly(result):
            record = json.loads(result.to_json())
            record.pop("notes", None)
            return record

        pairs = [
            (call(truth), call(both))
            for call in (
                lambda t: nf.evaluate(t, scores, null="circular-shift", **cut),
                lambda t: nf.sweep(t, scores, quantiles=[0.8, 0.9], tolerances=[0, 2], null="circular-shift", **how),
                lambda t: nf.sweep(t, scores, tolerances=[0, 2], null="circular-shift", **how),
                lambda t: nf.diagnose(t, scores, **cut),
                lambda t: nf.compare(t, {"a": scores, "b": scores[::-1]}, rng=1, n_resamples=99, **cut),
            )
        ]
        for without, with_it in pairs:
            assert plainly(with_it) == plainly(without)
            assert note in with_it.notes
            assert note not in without.notes
        one, other = (nf.significance("auc-roc", t, scores, rng=1, n_resamples=99, **how) for t in (truth, both))
        assert (one.value, one.pvalue) == (other.value, other.pvalue)
        said = "1 range(s) between two steps contain no step and were left out." if ranges else note
        assert said in other.notes

    def test_a_study_says_what_evaluate_says(self):
        """In every cell, with times and with ranges."""
        minutes, events, scores = series()
        for truth, kind in ((np.append(events, 200), "times"), ([(200, 210), (300, 310), (320, 321)], "ranges")):
            if kind == "ranges":
                truth = np.array(truth)
            case = Case(series="s", group="s", truth=truth, detectors={"z": scores}, times=minutes, truth_as=kind)
            asked, arguments = settings_of(2, budget=0.1, null="auto")
            assert_as_evaluated(case, asked, {**arguments, "truth_as": kind}, 2)
            assert any("lie in gaps of the clock" in note for note in rows_of(case, asked).cells[0]["notes"])

    def test_the_command_line_says_so_too(self, tmp_path, capsys):
        """With files of times and of ranges."""
        minutes, events, scores = series()
        data, listed, spans = (str(tmp_path / name) for name in ("data.csv", "events.csv", "ranges.csv"))
        pd.DataFrame({"time": dates(minutes), "z": scores}).to_csv(data, index=False)
        pd.DataFrame({"time": dates([*events, 200])}).to_csv(listed, index=False)
        pd.DataFrame({"start": dates([20, 200]), "end": dates([22, 210])}).to_csv(spans, index=False)
        for file, what, left in ((listed, "event", len(events)), (spans, "range", 1)):
            asked = ["evaluate", data, "--scores", "z", "--time", "time", "--truth-file", file, "--budget", "0.1"]
            with pytest.raises(SystemExit, match="0"):
                main([*asked, "--format", "json"])
            told = json.loads(capsys.readouterr().out)
            assert told["n_events"] == left
            assert LEFT_OUT.format(what) in told["notes"]

    def test_steps_and_times_are_not_mixed_for_ranges_in_a_gap(self):
        """One set of events for the whole sweep: they count in time, and do not in steps."""
        with pytest.raises(nf.InputError, match="tolerances mix steps and lengths of time"):
            nf.sweep([(98, 99), (1, 2)], [0, 1, 2, 3, 4, 5, 6], times=CLOCK, tolerances=[1, IN_TIME])
        assert nf.sweep([(1, 2)], [0, 1, 2, 3, 4, 5, 6], times=CLOCK, tolerances=[1, IN_TIME]).n_events == 1


class TestInTime:
    @pytest.mark.parametrize(("alarm", "found"), [(3, 0), (4, 1)])
    def test_it_keeps_its_own_time(self, alarm, found):
        """Found by the alarm behind the gap, one time unit away; a note tells where it is."""
        for truth, told in (
            ([99], "1 event(s) lie in gaps of the clock: events could fall there, but no alarm could."),
            ([(98, 99)], "1 range(s) lie in gaps of the clock, where no alarm could fall."),
        ):
            result = nf.evaluate(truth, predictions=flags(alarm), times=CLOCK, truth_as="times", tolerance=IN_TIME)
            assert (result.n_events, result.recall_hits) == (1, found)
            assert told in result.notes

    def test_alarms_in_a_gap_are_told_of(self):
        """By themselves, and beside events that lie there too."""
        alone = nf.evaluate(flags(4), predictions=[99], times=CLOCK, tolerance=IN_TIME)
        assert (alone.recall_hits, alone.precision_hits) == (1, 1)
        assert "1 alarm(s) lie in gaps of the clock: alarms could fall there, but no event could." in alone.notes
        both = nf.evaluate([50, 98], predictions=[99], times=CLOCK, truth_as="times", tolerance=IN_TIME)
        assert (both.recall_hits, both.precision_hits) == (1, 1)
        assert "2 event(s) and 1 alarm(s) lie in gaps of the clock: both could fall there." in both.notes


class TestBetweenSteps:
    @settings(max_examples=60)
    @given(st.data())
    def test_a_range_between_two_steps_is_found_as_an_event_there_is(self, data):
        """In steps both are on the step before them, with and without a mask."""
        steps = data.draw(st.lists(st.integers(2, 6), min_size=3, max_size=12))
        clock = np.cumsum([0, *steps])
        n = len(clock)
        at = data.draw(st.integers(0, int(clock[-1])).filter(lambda t: t not in clock))
        bits = st.lists(st.booleans(), min_size=n, max_size=n)
        alarms, mask = np.array(data.draw(bits)), np.array(data.draw(bits))
        mask[0] = False
        early, late = data.draw(st.sampled_from([(0, 0), (1, 0), (0, 2), (2, 2), (3, -1), (-1, 2)]))
        how = {"times": clock, "mask": mask, "tolerance": nf.Tolerance(early=early, late=late), "truth_as": "times"}
        event, *ranges = (counted(truth, alarms, **how) for truth in ([at], [(at, at)], [(at, at + 0.5)]))
        assert ranges == [event, event]

    def test_a_masked_step_behind_it_brings_no_later_alarm_near(self):
        """With ten masked steps behind a range between two steps, the alarm behind them is ten steps away."""
        alarms, mask = flags(13, n=20), np.zeros(20, dtype=bool)
        mask[3:13] = True
        found = [counted([(2.2, 2.8)], alarms, late, times=np.arange(20), mask=mask)[2] for late in (0, 1, 10, 11)]
        assert found == [0, 0, 0, 1]

    def test_a_range_behind_the_last_stamp_is_in_a_study_too(self):
        """While the last step lasts: it has no step of its own, and is on the last one."""
        case = Case(
            series="s",
            group="s",
            truth=np.array([(39.2, 39.6), (10, 12)]),
            detectors={"z": np.arange(40.0)},
            times=np.arange(40),
            truth_as="ranges",
        )
        asked, arguments = settings_of(1, budget=0.1, null="circular-shift")
        assert_as_evaluated(case, asked, {**arguments, "truth_as": "ranges"}, 1)


def own_count(times, ranges, mask, alarms, early, late, in_steps):
    """Ranges kept, found, and alarms near one: a mask cuts a range at the stamps of its open steps.

    An end that no mask cuts stays where it is.
    """
    kept, taken = [], -1
    for begin, end in sorted(ranges):
        inside = [i for i, time in enumerate(times) if begin <= time <= end and i > taken]
        taken = inside[-1] if inside else taken
        steps = [i for i in inside if not mask[i]]
        if not inside:
            steps = [i for i in [max(i for i, time in enumerate(times) if time <= begin)] if not mask[i]]
        if not steps:
            continue
        first = times[steps[0]] if inside and steps[0] != inside[0] else begin
        last = times[steps[-1]] if inside and steps[-1] != inside[-1] else end
        kept.append((steps[0], steps[-1]) if in_steps else (first, last))
    at = [i if in_steps else times[i] for i in range(len(times)) if alarms[i] and not mask[i]]
    near = [[begin - early <= p <= end + late for p in at] for begin, end in kept]
    return len(kept), sum(map(any, near)), sum(map(any, zip(*near, strict=True)))


def test_a_mask_cuts_a_range_at_the_stamps_of_its_open_steps():
    """Events, and both hits, are an own count's in 400 cases: steps and time, ends on stamps and not, windows aside."""
    rng = np.random.default_rng(3)
    for case in range(400):
        n = int(rng.integers(4, 20))
        times = np.cumsum(rng.integers(1, 4, n)) * 2
        ends = np.sort(rng.choice(np.arange(times[0], times[-1] + 1), 2 * int(rng.integers(1, 3)), replace=False))
        mask, alarms = rng.random(n) < 0.35, rng.random(n) < 0.3
        mask[rng.integers(n)] = False
        in_steps, scale = case % 2 == 0, 1 if case % 2 == 0 else 3
        early, late = (int(side) * scale for side in rng.integers(0, 4, 2))
        late = -int(rng.integers(0, early + 1)) if case % 3 == 0 else late
        ranges = [tuple(map(int, pair)) for pair in ends.reshape(-1, 2)]
        tolerance = nf.Tolerance(early=early, late=late, unit="steps" if in_steps else "clock")
        n_events, _, found, hits = counted(ranges, alarms, tolerance, times=times, mask=mask)
        assert (n_events, found, hits) == own_count(times.tolist(), ranges, mask, alarms, early, late, in_steps), case
