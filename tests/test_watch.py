"""A watch: replay equals updates, order and killed processes change nothing, what voids it is an error or said."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from fuzzing import NoWords
from nofluke.cli import main
from nofluke.errors import InputError
from nofluke.inference import blocks as module

HOUR = np.timedelta64(3600, "s")
START = np.datetime64("2026-03-20T00:00:00", "s")


def data(days=40, skill=0.6, seed=0, step=300, rate=0.01):
    """Times, labels and two detectors' alarms, five minutes apart."""
    rng = np.random.default_rng(seed)
    n = days * 86_400 // step
    events = rng.random(n) < rate
    alarms = {
        "good": (rng.random(n) < 0.02) | (events & (rng.random(n) < skill)),
        "blind": rng.random(n) < 0.03,
    }
    return START + np.arange(n) * np.timedelta64(step, "s"), events, alarms


def state_of(watch):
    """The file that it would write."""
    return module.dumped(watch._state)


SETTINGS = {"tolerance": "10min", "block": "1d", "lost_below": 0.3}


@pytest.fixture(scope="module")
def replayed():
    times, events, alarms = data()
    return nf.Watch.replay(events, predictions=alarms, times=times, **SETTINGS)


def test_replay_equals_updates_whatever_is_passed_again(replayed):
    """Updates with all of the past, with what is needed only, and at odd times lead to the same state."""
    times, events, alarms = data()
    for every, only_needed in ((1, False), (3, True), (7, True)):
        watch = nf.watch(**SETTINGS)
        for day in (*range(every, 40, every), 40):
            stop = day * 288
            needed = START if watch.needs_from is None else np.datetime64(watch.needs_from)
            first = int(np.searchsorted(times, needed)) if only_needed else 0
            some = slice(first, stop)
            result = watch.update(events[some], predictions={k: v[some] for k, v in alarms.items()}, times=times[some])
        assert result.n_blocks == 39
        ours, theirs = (json.loads(state_of(one)) for one in (watch, replayed))
        assert ours["settings"].pop("labels_final", 0) == theirs["settings"].pop("labels_final", 0)
        assert ours == theirs


def test_the_same_update_twice_changes_nothing(tmp_path):
    """Neither the file nor the result."""
    times, events, alarms = data(20)
    watch = nf.watch(tmp_path / "state.json", **SETTINGS)
    first = watch.update(events, predictions=alarms, times=times)
    written = (tmp_path / "state.json").read_bytes()
    again = nf.watch(tmp_path / "state.json").update(events, predictions=alarms, times=times)
    assert (tmp_path / "state.json").read_bytes() == written
    assert first.to_dict() == again.to_dict()
    assert os.listdir(tmp_path) == ["state.json"]


def test_the_order_of_rows_does_not_matter(replayed):
    """Rows with a clock, and lists, in any order."""
    times, events, alarms = data()
    order = np.random.default_rng(1).permutation(len(times))
    mixed = nf.Watch.replay(
        events[order], predictions={k: v[order] for k, v in alarms.items()}, times=times[order], **SETTINGS
    )
    assert state_of(mixed) == state_of(replayed)
    lists = [times[events], {k: times[v] for k, v in alarms.items()}]
    backwards = [lists[0][::-1], {k: v[::-1] for k, v in lists[1].items()}]
    end = {"until": times[-1] + np.timedelta64(300, "s")}
    one, other = (nf.Watch.replay(a, predictions=b, **end, **SETTINGS) for a, b in (lists, backwards))
    assert state_of(one) == state_of(other)


def test_lists_at_the_resolution_of_steps_are_the_same_as_steps(replayed):
    """Dates without a grid, rounded to the steps of one."""
    times, events, alarms = data()
    lists = nf.Watch.replay(
        times[events],
        predictions={k: times[v] for k, v in alarms.items()},
        until=times[-1] + np.timedelta64(300, "s"),
        step="5min",
        **SETTINGS,
    )
    assert [one.path.tolist() for one in lists.result.detectors] == [
        one.path.tolist() for one in replayed.result.detectors
    ]
    assert lists.result["good"].recall == replayed.result["good"].recall


def test_counts_are_those_of_evaluate(replayed):
    """Hits over all settled blocks, within the same tolerance."""
    times, events, alarms = data()
    some = slice(0, 39 * 288)
    for name, own in alarms.items():
        whole = nf.evaluate(events[some], predictions=own[some], times=times[some], tolerance="10min")
        found = replayed.result[name]
        # events near the end may be found by an alarm behind it, which evaluate is not shown
        assert abs(found.recall.hits - whole.recall_hits) <= 1
        assert found.recall.of == whole.n_events
        assert found.precision.of == whole.n_predictions
        assert abs(found.precision.hits - whole.precision_hits) <= 1


def test_skill_convinces_and_blindness_does_not(replayed):
    """Verdict, always-valid p, when; the worst verdict is that of several."""
    found = replayed.result
    assert found["good"].verdict == "better than chance"
    assert found["good"].pvalue < 1e-4
    assert found["good"].since.convincing == "2026-04-10"  # three weeks, in which days are first compared
    assert found["blind"].verdict in ("not yet", "lost")
    assert found["blind"].evidence.highest < 20
    assert found.verdict == found["blind"].verdict
    with pytest.raises(InputError, match="2 detectors are watched"):
        found.evidence  # noqa: B018
    with pytest.raises(KeyError):
        found["other"]


def test_labels_that_changed_after_they_were_settled_are_an_error(tmp_path):
    """Both are shown, and a restart is offered; alarms likewise; blocks that are not settled may change."""
    times, events, alarms = data(20)
    place = tmp_path / "state.json"
    watch = nf.watch(place, labels_final="2d", **SETTINGS)
    watch.update(events, predictions=alarms, times=times)
    written = place.read_bytes()
    changed = events.copy()
    changed[5 * 288 + np.argmin(changed[5 * 288 :])] = True
    with pytest.raises(
        InputError, match=r"labels of the block 2026-03-25 to 2026-03-26 .* event.* then, .* now.*restart"
    ):
        watch.update(changed, predictions=alarms, times=times)
    late = events.copy()
    late[-400] ^= True
    watch.update(late, predictions=alarms, times=times)
    flipped = {**alarms, "good": alarms["good"].copy()}
    flipped["good"][3 * 288] ^= True
    with pytest.raises(InputError, match=r"alarms of good of the block 2026-03-23 to 2026-03-24"):
        watch.update(events, predictions=flipped, times=times)
    assert place.read_bytes() == written


def test_labels_are_waited_for():
    """A block is settled when its labels are final and the tolerance has passed, and not a second before."""
    times, events, alarms = data(10)
    own = {"tolerance": "10min", "block": "1d", "labels_final": "2d"}
    for until, settled in (("2026-03-23T00:09:59", 0), ("2026-03-23T00:10:00", 1)):
        watch = nf.watch(**own)
        result = watch.update(times[events], predictions=times[alarms["good"]], until=until)
        assert result.n_blocks == settled
    assert nf.watch(**own).update(times[events], predictions=times[alarms["good"]], until="2026-03-23").verdict == (
        "cannot tell"
    )


def test_until_may_go_back():
    """Nothing is unsettled, and nothing new is."""
    times, events, alarms = data(20)
    watch = nf.watch(**SETTINGS)
    before = watch.update(events, predictions=alarms, times=times).to_dict()
    some = slice(0, 10 * 288)
    after = watch.update(events[some], predictions={k: v[some] for k, v in alarms.items()}, times=times[some]).to_dict()
    assert before == after


def test_missing_detectors_data_and_settings_that_change_are_errors(tmp_path):
    """Each says what was expected."""
    times, events, alarms = data(20)
    place = tmp_path / "state.json"
    nf.watch(place, **SETTINGS).update(events, predictions=alarms, times=times)
    watch = nf.watch(place)
    with pytest.raises(InputError, match="blind missing"):
        watch.update(events, predictions={"good": alarms["good"]}, times=times)
    with pytest.raises(InputError, match="extra new"):
        watch.update(events, predictions={**alarms, "extra": alarms["good"]}, times=times)
    later = slice(-10, None)
    more = times + np.timedelta64(30, "D")
    with pytest.raises(InputError, match="the block from 2026-04-08 is not settled"):
        watch.update(events[later], predictions={k: v[later] for k, v in alarms.items()}, times=more[later])
    with pytest.raises(InputError, match="tolerance 10min then, 5min now"):
        nf.watch(place, tolerance="5min")
    with pytest.raises(InputError, match="must be dates, as before"):
        watch.update(events, predictions=alarms)
    nf.watch(place, tolerance="10min", alpha=0.05)  # the same, or the default, is no change


def test_a_restart_begins_with_the_next_block_and_shares_alpha(tmp_path):
    """What was learned is kept apart; the evidence of the new run is weighed."""
    times, events, alarms = data()
    place = tmp_path / "state.json"
    some = slice(0, 20 * 288)
    one = {k: v[some] for k, v in alarms.items()}
    first = nf.watch(place, **SETTINGS).update(events[some], predictions=one, times=times[some])
    watch = nf.watch(place, restart=True, tolerance="5min")
    assert watch.result.verdict == "cannot tell"
    found = watch.update(events, predictions=alarms, times=times)
    assert watch.settings["tolerance"] == "5min"
    assert found.to_dict()["run"] == 2
    assert found.n_blocks == 39 - first.n_blocks
    assert found.columns()["start"][0] == "2026-04-08"
    kept = json.loads(place.read_text())["earlier"]
    assert kept[0]["detectors"]["good"]["highest"] == pytest.approx(first["good"].evidence.highest)
    shares = [module.State(settings={}, run=run).weight for run in range(1, 60)]
    assert shares[:3] == pytest.approx([0.8, 0.1, 0.05])
    assert sum(shares) <= 1


def test_a_restart_that_fails_costs_nothing(tmp_path):
    """The run begins with an update that works; and settings do not go back to blocks that were seen."""
    times, events, alarms = data(days=10)
    place = tmp_path / "state.json"
    nf.watch(place, **SETTINGS).update(events, predictions=alarms, times=times)
    before = place.read_bytes()
    watch = nf.watch(place, restart=True, tolerance="5min")
    for _ in range(2):
        with pytest.raises(InputError, match="the data have no dates"):
            watch.update(events, predictions=alarms)
        assert place.read_bytes() == before
    assert watch.update(events, predictions=alarms, times=times).to_dict()["run"] == 2
    assert watch.update(events, predictions=alarms, times=times).to_dict()["run"] == 2
    with pytest.raises(InputError, match=r"start='2026-03-21' lies in blocks that were seen before tolerance changed"):
        nf.watch(place, restart=True, tolerance="20min", start="2026-03-21")
    assert nf.watch(place, restart=True, start="2026-03-21", labels_final="2d").settings["start"] == "2026-03-21"


def test_files_without_rows_and_silent_rules_are_an_answer(tmp_path, capsys):
    """Of lists that begin where they are needed: nothing happened since, or one rule of two was silent."""

    def written(name, *rows):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return str(tmp_path / name)

    def call(alarms, truth, until, *more):
        lists = ["--predictions-file", alarms, "--truth-file", truth, "--until", until, "--by", "rule"]
        with pytest.raises(SystemExit) as stopped:
            main(["watch", str(tmp_path / "state.json"), *lists, "--predictions", "time", *more])
        return stopped.value.code or 0, capsys.readouterr().err

    no_alarms, no_truth = written("none.csv", ("time", "rule")), written("no-truth.csv", ("time",))
    days = [f"2026-03-{day:02}T06:00Z" for day in range(1, 20)]
    truth = written("truth.csv", ("time",), *((day,) for day in days))
    rows = [(day, "ab"[i % 2]) for i, day in enumerate(days)]
    code, said = call(no_alarms, truth, "2026-03-20T00:00Z", "--tolerance", "10min")
    assert (code, "has no alarms, so that --by finds no detector" in said) == (2, True)
    both = written("both.csv", ("time", "rule"), *rows)
    assert call(both, truth, "2026-03-20T00:00Z", "--tolerance", "10min") == (0, "")
    late = written("late.csv", ("time", "rule"), ("2026-03-20T06:00Z", "a"))
    for alarms, events, until in (
        (late, truth, "2026-03-22T00:00Z"),
        (no_alarms, truth, "2026-03-23T00:00Z"),
        (no_alarms, no_truth, "2026-03-24T00:00Z"),
        (both, no_truth, "2026-03-25T00:00Z"),
    ):
        assert call(alarms, events, until) == (0, "")
    assert json.loads((tmp_path / "state.json").read_text())["detectors"] == ["a", "b"]
    code, said = call(written("changed.csv", ("time", "rule"), *rows[:4], *rows[5:]), truth, "2026-03-26T00:00Z")
    assert code == 2
    assert said.endswith("or begin a new run by --restart.\n")


def test_states_of_newer_versions_and_other_files_are_refused_by_name(tmp_path):
    """One line each, and nothing is overwritten."""
    for text, said in (
        ('{"format": "nofluke watch", "version": 2}', "newer nofluke .version 2"),
        ('{"a": 1}', "not the state of a watch"),
        ("", "is damaged"),
        ('{"format": "nofluke watch", "version": 1}', "is damaged"),
        ("[]", "not the state of a watch"),
    ):
        place = tmp_path / "state.json"
        place.write_text(text)
        with pytest.raises(InputError, match=said):
            nf.watch(place, tolerance="5min")
        assert place.read_text() == text


def test_a_state_is_read_back_as_it_was_written(replayed):
    """To the last digit, dates with a zone and plain steps too."""
    rng = np.random.default_rng(0)
    plain = nf.Watch.replay(rng.random(3_000) < 0.02, predictions=rng.random(3_000) < 0.05, tolerance=1, block=100)
    for watch in (replayed, plain, nf.watch(tolerance=2)):
        text = state_of(watch)
        assert module.dumped(module.loaded(text, "state")) == text
        json.loads(text)


def test_e_is_one_until_there_are_enough_events():
    """Without a clock a season has to be looked for first, and the verdict says why."""
    _, events, alarms = data(10, rate=0.003)
    own = {"tolerance": 2, "block": 288}
    result = nf.Watch.replay(events, predictions=alarms["good"], **own).result
    assert set(result.columns()["evidence"]) == {module.FIRST_RUN}
    assert result.verdict == "cannot tell"
    assert "8 events" in result.reason


def test_what_is_looked_for_before_a_block_does_not_see_it():
    """Whatever the last blocks hold, the seasons that were seen before are the same."""
    rng = np.random.default_rng(5)
    n = 30 * 288
    rate = np.exp(1.5 * np.sin(2 * np.pi * np.arange(n) / 200))
    events, alarms = rng.random(n) < 0.01 * rate, rng.random(n) < 0.03 * rate
    seen = set()
    for _ in range(5):
        other = events.copy()
        other[-2 * 288 :] = rng.permutation(other[-2 * 288 :])
        periods = nf.Watch.replay(other, predictions=alarms, tolerance=2, block=288)._state.periods["detector"]
        seen.add(tuple((one.long, one.since) for one in periods if one.since <= 28 * 288))
    assert len(seen) == 1
    assert abs(seen.pop()[0][0] - 200) <= 2


def test_the_lesser_evidence_counts():
    """Rotations are fooled by a season of the day, exchanged weekdays by weeks that differ, and neither fools both."""
    rng = np.random.default_rng(3)
    at = np.arange(140 * 96)
    times = START + at * np.timedelta64(900, "s")
    daily = np.exp(2 * np.sin(2 * np.pi * at / 96))
    weeks = np.where(at // (7 * 96) % 3 == 0, 5.0, 0.5)
    for rate, fooled in ((daily / daily.mean(), "circular-shift"), (weeks, module.DAY)):
        events, alarms = rng.random(len(at)) < 0.02 * rate, rng.random(len(at)) < 0.05 * rate
        found = nf.Watch.replay(events, predictions=alarms, times=times, tolerance="15min")
        assert found.result.verdict == "not yet"
        if fooled == "circular-shift":
            alone = nf.Watch.replay(events, predictions=alarms, times=times, tolerance="15min", null=fooled)
            assert alone.result.verdict == "better than chance"
        else:
            logs = [one["by"]["detector"]["logs"].get("1d, every 7") for one in found._state.blocks]
            assert max(max(one) for one in logs if one) > 5


def test_seasons_of_one_period_and_several_cycles_are_not_mixed_up():
    """Days by weekday, and every other day: each has evidence of its own, from when on it counts."""
    times, events, alarms = data(60, skill=0.3)
    watch = nf.Watch.replay(
        events[: 20 * 288], predictions=alarms["blind"][: 20 * 288], times=times[: 20 * 288], tolerance=2
    )
    state = watch._state
    [weekdays] = state.periods["detector"]
    other = module.Periods(long=module.DAY, alike=2, many=3, since=state.next, start=state.next, why="")
    assert weekdays.kind(state.timeline) != other.kind(state.timeline)
    state.periods["detector"].append(other)
    found = watch.update(events, predictions=alarms["blind"], times=times)
    kinds = [set(one["by"]["detector"]["logs"]) for one in state.blocks]
    assert [i for i, own in enumerate(kinds) if "1d, every 7" in own] == [20, 41]
    assert next(i for i, own in enumerate(kinds) if "1d, every 2" in own) == 24
    assert found.detectors[0].path[:20].max() <= module.FIRST_RUN  # of weekdays, from the beginning on


def test_what_is_seen_late_caps_what_was_gathered():
    """A season that begins unseen: what counted as skill until it is seen does not count from then on."""
    rng = np.random.default_rng(2)
    n, begins = 200 * 100, 60 * 100
    rate = np.where(np.arange(n) < begins, 1.0, np.exp(2.5 * np.sin(2 * np.pi * np.arange(n) / 100)))
    events, alarms = rng.random(n) < 0.02 * rate, rng.random(n) < 0.05 * rate
    found = nf.Watch.replay(events, predictions=alarms, tolerance=1, block=100)
    seen = found._state.periods["detector"][0]
    assert abs(seen.long - 100) <= 1
    assert begins < seen.since < n
    path, stops = found.result.detectors[0].path, found.result.times
    assert path[stops > seen.since].max() < 20
    assert path[stops > seen.since][0] <= module.FIRST_RUN
    assert f"whole periods of {seen.long} steps change places" in found.result.detectors[0].why


def test_ranges_across_borders_count_where_they_begin():
    """Once, up to the end of their block; alarms on the rest are right. Labels that go on are no new event."""
    times = START + np.arange(4 * 24) * HOUR
    spans = [(times[20], times[30]), (times[60], times[61])]
    alarms = [times[28], times[60]]
    found = nf.Watch.replay(
        spans, predictions=alarms, until=times[-1] + HOUR, step="1h", tolerance="0s", block="1d", null="circular-shift",
        start="2026-03-20",
    ).result  # fmt: skip
    rows = found.columns()
    assert rows["events"] == [1, 0, 1, 0]
    assert rows["found"] == [0, 0, 1, 0]
    assert rows["right"] == [0, 1, 1, 0]
    labels = np.zeros(96, dtype=bool)
    labels[20:31] = labels[60:62] = True
    hits = np.isin(np.arange(96), [28, 60])
    own = {"tolerance": 0, "block": 24, "null": "circular-shift", "count_events": "ranges"}
    whole = nf.Watch.replay(labels, predictions=hits, times=times, **own)
    part = nf.watch(**own)
    part.update(labels[:24], predictions=hits[:24], times=times[:24], until=times[24] + HOUR)
    part.update(labels[24:], predictions=hits[24:], times=times[24:])
    assert part.result.columns()["events"] == whole.result.columns()["events"] == [1, 0, 1, 0][: whole.result.n_blocks]


def test_masked_steps_and_gaps_hold_nothing():
    """Events and alarms on them do not count; a block that is masked as a whole teaches nothing."""
    times, events, alarms = data(20)
    mask = np.zeros(len(times), dtype=bool)
    mask[5 * 288 : 6 * 288] = True
    rows = nf.Watch.replay(events, predictions=alarms["good"], times=times, mask=mask, **SETTINGS).result.columns()
    assert (rows["events"][5], rows["alarms"][5], rows["learned"][5]) == (0, 0, False)
    gaps = [(times[5 * 288], times[6 * 288 - 1] + np.timedelta64(299, "s"))]
    lists = nf.Watch.replay(
        times[events], predictions=times[alarms["good"]], gaps=gaps, until=times[-1], step="5min", **SETTINGS
    ).result.columns()  # fmt: skip
    assert lists["events"] == rows["events"][: len(lists["events"])]
    assert lists["evidence"] == rows["evidence"][: len(lists["events"])]


def test_the_order_of_gaps_does_not_matter():
    """Nor whether they overlap: the same time is unwatched, and no block has changed."""
    events = [START + 6 * HOUR + np.timedelta64(86_400 * i, "s") for i in range(8)]
    early, late = (START + 1 * HOUR, START + 4 * HOUR), (START + 9 * HOUR, START + 11 * HOUR)
    watch = nf.watch(tolerance="10min")
    watch.update(events, predictions=events, gaps=[early, late], until="2026-03-24")
    steps = watch._state.blocks[0]["steps"]
    for gaps in ([late, early], [early, (START + 10 * HOUR, late[1]), (late[0], START + 10 * HOUR)]):
        watch.update(events, predictions=events, gaps=gaps, until="2026-03-24")
        again = nf.watch(tolerance="10min")
        again.update(events, predictions=events, gaps=gaps, until="2026-03-24")
        assert again._state.blocks[0]["steps"] == steps < 8_640


def test_muting_is_masked():
    """Steps after each event, for as long as alarms are held back and as the window is."""
    events, alarms = np.zeros(400, dtype=bool), np.zeros(400, dtype=bool)
    events[[10, 14, 120]] = True
    alarms[[9, 16, 119]] = True
    how = {"tolerance": nf.Tolerance(early=2, late=0), "block": 100, "null": "circular-shift"}
    found = nf.Watch.replay(events, predictions=alarms, mute_after=5, **how)
    first = found._state.blocks[0]
    assert first["events"] == 1  # the second is within the time after the first
    assert first["by"]["detector"]["alarms"] == 1
    assert first["steps"] == 100 - 11  # 5 + 2 after 10, and as many after 14, which mutes too
    assert nf.Watch.replay(events, predictions=alarms, **how)._state.blocks[0]["events"] == 2


def updated(events, alarms, days, **how):
    """A watch that is passed no more than it needs, every so many steps."""
    watch = nf.watch(**how)
    for stop in (*range(days, len(events), days), len(events)):
        first = int(watch.needs_from or 0)
        watch.update(events[first:stop], predictions=alarms[first:stop], since=first)
    return watch


def test_muting_that_is_longer_than_a_block_is_masked_in_updates_too():
    """What an update is not passed again is still known."""
    rng = np.random.default_rng(4)
    events, alarms = rng.random(2_000) < 0.004, rng.random(2_000) < 0.1
    how = {"tolerance": 2, "block": 50, "null": "circular-shift", "mute_after": 120}
    whole = nf.Watch.replay(events, predictions=alarms, **how)
    assert str(updated(events, alarms, 100, **how).result.columns()) == str(whole.result.columns())


@pytest.mark.parametrize("mute_after", [None, 30])
def test_events_that_are_longer_than_blocks_are_one_in_updates_too(mute_after):
    """A run of labels over four blocks is an event of the first."""
    rng = np.random.default_rng(5)
    events, alarms = np.zeros(1_000, dtype=bool), rng.random(1_000) < 0.1
    events[75:260] = events[400:500] = events[620] = True
    how = {"tolerance": 2, "block": 50, "null": "circular-shift", "count_events": "ranges", "mute_after": mute_after}
    whole = nf.Watch.replay(events, predictions=alarms, **how).result.columns()
    assert sum(whole["events"]) == 3
    for every in (50, 90):
        assert str(updated(events, alarms, every, **how).result.columns()) == str(whole)


def test_a_season_of_hours_of_the_week_is_kept():
    """It is longer than blocks of a day, but not constant within them: Mondays at nine are not Mondays at noon."""
    rng = np.random.default_rng(1)
    at = np.arange(300 * 288)
    rate = np.where((at // 288 % 7 == 4) & (at % 288 // 24 == 4), 20.0, 1.0)
    events, alarms = rng.random(len(at)) < 0.008 * rate, rng.random(len(at)) < 0.025 * rate
    times = START + at * np.timedelta64(300, "s")
    for how in ({}, {"block": "1d"}, {"block": "7d"}, {"null": "period-shuffle:period=7d"}):
        assert nf.Watch.replay(events, predictions=alarms, times=times, tolerance=2, **how).result.verdict == "not yet"
    for null in ("circular-shift", "period-shuffle:period=1d"):
        alone = nf.Watch.replay(events, predictions=alarms, times=times, tolerance=2, null=null)
        assert alone.result.verdict == "better than chance"


def test_days_are_those_of_the_calendar_in_a_zone():
    """A day on which clocks change has 23 hours; blocks go on from midnight to midnight there."""
    utc = [datetime(2026, 3, 27, 23, tzinfo=UTC), datetime(2026, 3, 30, 12, tzinfo=UTC)]
    found = nf.Watch.replay(
        utc[:1], predictions=utc, until="2026-04-02T00:00Z", tolerance="10min", block="1d", timezone="Europe/Berlin",
        null="circular-shift",
    )  # fmt: skip
    starts = found.result.columns()["start"]
    assert starts[:4] == ["2026-03-27T23:00Z", "2026-03-28T23:00Z", "2026-03-29T22:00Z", "2026-03-30T22:00Z"]
    with pytest.raises(InputError, match="needs times with a time zone"):
        nf.Watch.replay([START], predictions=[START], until="2026-04-02", tolerance="10min", timezone="Europe/Berlin")
    with pytest.raises(InputError, match="timezone='Mars' is not known"):
        nf.watch(tolerance="1min", timezone="Mars")
    with pytest.raises(InputError, match="no time zone"):
        nf.Watch.replay([START], predictions=utc, until="2026-04-02", tolerance="10min")


def test_empty_lists_are_an_answer():
    """No alarms, no events, neither: nothing to learn, no error."""
    times = START + np.arange(100) * HOUR
    for truth, alarms in (([], []), (times[:50], []), ([], times[:50])):
        found = nf.Watch.replay(
            truth, predictions=alarms, until="2026-06-01", tolerance="10min", start="2026-03-20", null="circular-shift"
        )
        assert found.result.verdict == "nothing to learn"
        assert set(found.result.columns()["evidence"]) == {module.FIRST_RUN}
        assert found.result.to_json()
        str(found.result)


def test_starts_between_two_steps_of_lists_lose_nothing():
    """Blocks begin on a step that times are rounded to."""
    at = [START + np.timedelta64(3 * 3600 + 17, "s")]
    how = {"tolerance": "1h", "block": "1d", "null": "circular-shift", "until": "2026-03-30"}
    found = nf.Watch.replay(at, predictions=at, start="2026-03-20T00:00:07", **how).result
    assert (found.recall.hits, found.recall.of, found.precision.hits) == (1, 1, 1)


def test_lists_that_begin_later_say_so():
    """Where nobody watched, no event was missed."""
    times, events, alarms = data(20)
    watch = nf.watch(tolerance="10min", block="1d", null="circular-shift", start="2026-03-15")
    result = watch.update(times[events], predictions=times[alarms["good"]], since=START, until=times[-1])
    assert [one["steps"] for one in watch._state.blocks[:6]] == [0, 0, 0, 0, 0, 8640]
    assert result.n_blocks == 24


def test_a_first_update_that_fails_leaves_a_watch_that_works():
    """And one that began with empty lists takes times with a zone later."""
    watch = nf.watch(tolerance="10min", block="15min")
    with pytest.raises(InputError, match="at least 2 windows"):
        watch.update([START], predictions=[START], until="2026-03-30")
    with pytest.raises(InputError, match="at least 2 windows"):
        watch.update([START], predictions=[START], until="2026-03-30")
    empty = nf.watch(tolerance="10min", start="2026-03-20")
    empty.update([], predictions=[], until="2026-03-20T12:00")
    zoned = [datetime(2026, 3, 21, tzinfo=UTC)]
    found = empty.update(zoned, predictions=zoned, until="2026-03-30T00:00Z")
    assert (found.verdict, found.recall.hits) == ("not yet", 1)
    assert found.reason.endswith("whole periods are first compared at 2026-04-10T00:10Z.")


def test_irregular_times_need_a_duration():
    """Steps at odd times: a tolerance in steps means nothing there."""
    rng = np.random.default_rng(0)
    times = START + np.cumsum(rng.integers(30, 3_000, 3_000)) * np.timedelta64(1, "s")
    events, alarms = rng.random(3_000) < 0.02, rng.random(3_000) < 0.05
    with pytest.raises(InputError, match="irregular"):
        nf.Watch.replay(events, predictions=alarms, times=times, tolerance=2)
    assert nf.Watch.replay(events, predictions=alarms, times=times, tolerance="5min").result.n_blocks > 40


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "tolerance must be fixed"),
        ({"tolerance": 2, "block": "0s"}, "block='0s' must be a duration"),
        ({"tolerance": 2, "block": np.arange(3)}, "block=.* must be a duration"),
        ({"tolerance": 2, "start": NoWords()}, "start=.* must be a step or a time"),
        ({"tolerance": 2, "null": "segments"}, "has no law within a block"),
        ({"tolerance": 2, "lost_below": 1.5}, "lost_below=1.5 must"),
        ({"tolerance": 2, "alpha": 2}, "alpha=2 must"),
        ({"tolerance": 2, "labels_final": "-1d"}, "labels_final='-1d' is negative"),
        ({"tolerance": 2, "false_alarm_every": "often"}, "false_alarm_every='often'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    """Each by its name."""
    with pytest.raises(InputError, match=said):
        nf.watch(**settings)


def test_data_that_make_no_sense_are_refused():
    """A threshold comes before the scores, a block is longer than its tolerance, lists have an end."""
    with pytest.raises(InputError, match="threshold must be fixed before"):
        nf.watch(tolerance=2).update([0, 1], [0.1, 0.2])
    with pytest.raises(InputError, match="at least 2 windows"):
        nf.watch(tolerance=20, block=30).update([0, 1] * 50, predictions=[0, 1] * 50)
    with pytest.raises(InputError, match="until says up to when"):
        nf.watch(tolerance="5min").update([START], predictions=[START])
    with pytest.raises(InputError, match="counts steps, but lists have none"):
        nf.watch(tolerance=5).update([START], predictions=[START], until="2026-05-01")
    with pytest.raises(InputError, match="pass either scores or predictions"):
        nf.watch(tolerance=5).update([0, 1])
    with pytest.raises(InputError, match="is a duration, but the data have no dates"):
        nf.watch(tolerance="5min").update([0, 1] * 50, predictions=[0, 1] * 50)


def test_scores_are_cut_at_the_threshold_that_was_fixed():
    """At least, or at most where high scores are normal."""
    times, events, alarms = data(20)
    own = nf.Watch.replay(events, predictions=alarms["good"], times=times, **SETTINGS)
    score = np.where(alarms["good"], 2.0, 1.0)
    high = nf.Watch.replay(events, score, times=times, threshold=2.0, **SETTINGS)
    low = nf.Watch.replay(events, -score, times=times, threshold=-2.0, higher_is="normal", **SETTINGS)
    assert own.result.columns() == high.result.columns() == low.result.columns()


def test_a_loss_is_seen_and_said():
    """Recall falls from .8 to .1: lost, since a date; with a reference period, too."""
    times, events, _ = data(200, rate=0.01)
    rng = np.random.default_rng(7)
    skill = np.where(np.arange(len(times)) < 120 * 288, 0.85, 0.05)
    alarms = (rng.random(len(times)) < 0.005) | (events & (rng.random(len(times)) < skill))
    for least in (0.6, "100d"):
        how = {"tolerance": "5min", "block": "1d", "false_alarm_every": "1y"}
        found = nf.Watch.replay(events, predictions=alarms, times=times, lost_below=least, **how).result
        assert found.verdict == "lost"
        assert "2026-07-18" <= found.since.lost <= "2026-08-20"
        assert found.since.lost in found.reason
    assert nf.Watch.replay(events, predictions=alarms, times=times, **how).result.verdict == "better than chance"


def test_a_reference_period_that_promises_nothing_says_so(tmp_path):
    """Recall so low, or events so few, that the lower limit is 0: a loss cannot be seen, and that is the verdict."""
    times, events, alarms = data(60, skill=0.5)
    how = {"times": times, "tolerance": "10min", "false_alarm_every": "1y"}
    for truth, period, said in (
        (events, "2d", "of the reference period of 2d, its recall was .* with a lower limit of 0"),
        (events & (times > times[10 * 288]), "5d", "of the reference period of 5d, no block of it had an event"),
    ):
        found = nf.Watch.replay(truth, predictions=alarms["good"], lost_below=period, **how).result
        assert found.verdict == "cannot tell"
        for text in (found.reason, str(found).replace("\n", " "), found.report(tmp_path / "page.html").read_text()):
            assert re.search(f"A loss cannot be seen: {said}. Pass a share, or a longer period.", text)
        assert "The evidence is convincing since" in found.reason
        assert found.detectors[0].lost_below is None
    early = nf.Watch.replay(events, predictions=alarms["good"], lost_below="90d", **how).result
    assert early.verdict == "better than chance"  # the period is not over


def test_results_say_what_voids_them_wherever_they_are_read(replayed, tmp_path):
    """Text, words, JSON, Markdown, LaTeX, notebook and page."""
    found = replayed.result
    page = found.report(tmp_path / "page.html").read_text()
    for text in (str(found), found.in_words(), found.to_json(), found.to_markdown(), found.to_latex(), page):
        assert "do not react to events" in text.replace("\n", " ")
        assert "e-BH" in text
    assert "evidence" in found.to_csv().splitlines()[0]
    assert len(found.to_frame()) == 2 * 39
    assert "<svg" in page
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    assert page.count('class="verdict"') == len(found.detectors)  # the hero


def test_the_page_says_each_verdict_once_and_shows_the_latest_blocks_first(replayed, tmp_path):
    """Of all detectors, block by block; the picture is evidence to the last digit that floats have."""
    found = replayed.result
    page = found.report(tmp_path / "page.html").read_text()
    shown = re.findall(r"<tr><t[hd][^>]*>(good|blind)</t[hd]><td[^>]*>(2026-[-0-9]+)</td>", page)
    assert shown[:3] == [("good", "2026-04-27"), ("blind", "2026-04-27"), ("good", "2026-04-26")]
    heroes = page[page.index('class="verdict"') : page.index("<figure")]
    assert heroes.count("better than chance") == 1
    drawn = found.plot()[0].lines[0].get_ydata()
    assert drawn.max() == pytest.approx(found["good"].evidence.highest)


def test_names_are_escaped(tmp_path):
    """In Prometheus's labels and on the page."""
    times, events, alarms = data(5)
    name = 'a"<b>\\c'
    found = nf.Watch.replay(events, predictions={name: alarms["good"]}, times=times, **SETTINGS).result
    assert 'detector="a\\"<b>\\\\c"' in found.to_prometheus()
    assert "<b>" not in found.report(tmp_path / "page.html").read_text()


def test_prometheus_takes_the_text_as_it_is():
    """Each family once, HELP and TYPE before its samples, labels in quotes, a line feed at the very end."""
    times, events, alarms = data(25)
    found = nf.Watch.replay(events, predictions={**alarms, "never": alarms["good"] & False}, times=times, **SETTINGS)
    text = found.result.to_prometheus()
    assert text.endswith("\n")
    family, known, samples = "", set(), set()
    for line in text.splitlines():
        helped, kind = re.fullmatch(r"# HELP (\w+) .+", line), re.fullmatch(r"# TYPE (\w+) gauge", line)
        sample = re.fullmatch(r'(\w+)(\{(?:\w+="[^"\\]*",?)+\}) (NaN|[-+.e\d]+)', line)
        if helped:
            family = helped[1]
            assert family not in known
        elif kind:
            assert kind[1] == family
            known.add(family)
        else:
            assert sample[1] == family
            assert family in known
            assert sample[1] + sample[2] not in samples
            samples.add(sample[1] + sample[2])
    assert len(samples) == 3 * 15


def test_a_detector_that_never_fires_has_nothing_to_learn_from():
    """And the evidence of the others is corrected for it all the same."""
    times, events, alarms = data(40)
    found = nf.Watch.replay(
        events, predictions={"good": alarms["good"], "never": alarms["good"] & False}, times=times, tolerance="10min"
    ).result
    assert found["never"].verdict == found.verdict == "nothing to learn"
    assert found["never"].reason == "No block has had both events and alarms so far."
    assert found["good"].verdict == "better than chance"
    assert found["never"].precision.of == 0


def test_rows_that_are_missing_here_and_there_cost_little():
    """Days that lack other rows still change places, at the times that all have; clocks that are not exact, too."""
    times, events, alarms = data(40)
    rng = np.random.default_rng(9)
    there = rng.random(len(times)) > 0.02
    late = times + rng.integers(0, 60, len(times)).astype("timedelta64[s]")
    for some, clock in ((there, times), (there | True, late)):
        found = nf.Watch.replay(events[some], predictions=alarms["good"][some], times=clock[some], tolerance="10min")
        assert found.result.verdict == "better than chance"


def test_updates_of_two_processes_wait_for_each_other(tmp_path):
    """Several at once on one file: none is lost, and the state is that of one after the other."""
    expected = nf.Watch.replay(*lists(16)[0], **lists(16)[1], **SETTINGS)
    with start(tmp_path, 16) as one, start(tmp_path, 16) as other:
        assert (one.wait(60), other.wait(60)) == (0, 0)
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["blocks"] == json.loads(state_of(expected))["blocks"]
    assert sorted(os.listdir(tmp_path)) == ["script.py", "state.json"]


SCRIPT = """
import sys
from test_watch import SETTINGS, lists
import nofluke as nf

place, days = sys.argv[1], int(sys.argv[2])
watch = nf.watch(place, **SETTINGS)
print("ready", flush=True)
for day in range(2, days + 1):
    (truth,), how = lists(days, day)
    watch.update(truth, **how)
    print(day, flush=True)
"""


def lists(days, until=None):
    """A truth and arguments, up to some day."""
    times, events, alarms = data(days)
    end = START + np.timedelta64(days if until is None else until, "D")
    kept = times < end
    known = {name: times[own & kept] for name, own in alarms.items()}
    return (times[events & kept],), {"predictions": known, "until": end, "since": START}


def start(folder, days):
    """The script above, running."""
    (folder / "script.py").write_text(SCRIPT)
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, str(folder / "script.py"), str(folder / "state.json"), str(days)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("wait", [0.02, *(pytest.param(long, marks=pytest.mark.slow) for long in (0.0, 0.01, 0.05))])
def test_killing_at_any_moment_loses_nothing(tmp_path, wait):
    """The state is whole after SIGKILL, and going on leads to where an undisturbed watch is."""
    with start(tmp_path, 16) as process:
        assert process.stdout.readline() == "ready\n"
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    module.loaded((tmp_path / "state.json").read_text(), "state")
    with start(tmp_path, 16) as again:
        assert again.wait(60) == 0
    expected = nf.Watch.replay(*lists(16)[0], **lists(16)[1], **SETTINGS)
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["blocks"] == json.loads(state_of(expected))["blocks"]
