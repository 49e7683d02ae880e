"""Which way a lag moves the window, here and in other software, and what is said where it goes against `leads`."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import main
from oracles import coincalc_eca, pyunicorn_eca

EFFECTS, CAUSES = [10, 61, 100, 140, 175, 210], [50, 97, 139, 150, 200, 240]
SPAN = (0, 259)
PYUNICORN = (0.6000000238418579, 0.6000000238418579, 0.20000000298023224, 0.20000000298023224)
"""What EventSeries.event_coincidence_analysis(x, y, taumax=14, lag=2) of pyunicorn 1.0.0 gives, x being the effects."""

times = st.lists(st.integers(0, 60), min_size=1, max_size=9, unique=True).map(sorted)


def against(result):
    """The notes on a window that goes against what leads."""
    return [note for note in result.notes if "though leads" in note]


class TestOtherSoftware:
    def test_the_lag_of_pyunicorn_has_the_other_sign(self):
        """Its four rates, on lists of which it leaves out one at an end that coincides with nothing."""
        for first, second, rates in ((EFFECTS, CAUSES, PYUNICORN[:2]), (CAUSES, EFFECTS, PYUNICORN[2:])):
            found = nf.coincidence(first, second, tolerance=nf.Tolerance(early=14, late=0), lag=-2, span=SPAN)
            assert str(found.tolerance) == "2 to 16 time units early"
            assert not found.cell.found[0]  # the first effect
            told = (found.recall_hits / (len(first) - 1), found.precision_hits / (len(second) - 1))
            assert told == pytest.approx(rates, rel=1e-6)
            assert against(found) == []

    def test_with_the_sign_of_pyunicorn_it_is_another_window(self):
        """The effects then come first, and a note says so."""
        found = nf.coincidence(EFFECTS, CAUSES, tolerance=7, lag=9, span=SPAN)
        assert (str(found.tolerance), found.recall_hits) == ("2 to 16 time units late", 1)
        assert against(found) == [
            "Only alarms 2 to 16 time units after an event count, though leads='alarms': pass lag=-9 if alarms come first, or "
            'pass leads="events" if they follow.'
        ]

    @settings(max_examples=25)
    @given(effects=times, causes=times, width=st.integers(0, 9), lag=st.integers(0, 9), sym=st.booleans())
    def test_windows_are_those_of_pyunicorn_and_coincalc(self, effects, causes, width, lag, sym):
        """The same hits of effects and of causes, by what their sources count."""
        if any(len(one) > 2 and set(one) <= {0, 1} for one in (effects, causes)):
            return  # would be labels
        window = width if sym else nf.Tolerance(early=width, late=0)
        found = nf.coincidence(effects, causes, tolerance=window, lag=-lag, span=(0, 60), tick=1, null="permutation")
        theirs = coincalc_eca(effects, causes, (0, 60), width, lag, sym=sym, edges=False)
        assert theirs == [(found.recall_hits, len(effects)), (found.precision_hits, len(causes))]
        if not sym:
            kept = np.array(effects) > effects[0] + lag + width if lag or width else np.ones(len(effects), dtype=bool)
            assert pyunicorn_eca(effects, causes, width, lag)[0] == (int(found.cell.found[kept].sum()), int(kept.sum()))


class TestNotes:
    @pytest.mark.parametrize(
        ("early", "late", "lag", "leads", "remedy"),
        [
            (7, 7, 9, "alarms", "after an event count, though leads='alarms': pass lag=-9 if alarms come first, or"),
            (7, 7, 7, "alarms", "Only alarms 0 to 14 time units after"),
            (
                0,
                3,
                0,
                "alarms",
                "leads='alarms': exchange early and late if alarms come first, or pass leads=\"events\"",
            ),
            (0, 3, 1, "alarms", "leads='alarms': exchange early and late and pass lag=-1 if alarms come first"),
            (-1, 3, 0, "alarms", "Only alarms 1 to 3 time units after"),
            (0, 0, 3, "alarms", "Only alarms 3 time units after an event count"),
            (
                7,
                7,
                -9,
                "events",
                "leads='events': pass lag=9 if events come first, or pass leads=\"alarms\" if",
            ),
            (
                3,
                0,
                0,
                "events",
                "leads='events': exchange early and late if events come first",
            ),
        ],
    )
    def test_a_window_on_the_wrong_side_is_told(self, early, late, lag, leads, remedy):
        """With what to pass instead; not where the other one leads."""
        window = nf.Tolerance(early=early, late=late)
        (note,) = against(nf.coincidence(EFFECTS, CAUSES, tolerance=window, lag=lag, leads=leads, span=SPAN))
        assert remedy in note
        other = "events" if leads == "alarms" else "alarms"
        assert against(nf.coincidence(EFFECTS, CAUSES, tolerance=window, lag=lag, leads=other, span=SPAN)) == []

    @pytest.mark.parametrize("leads", ["alarms", "events"])
    @pytest.mark.parametrize(("early", "late"), [(0, 0), (2, 2), (1, 9), (9, 1)])
    def test_a_window_on_both_sides_goes_against_nothing(self, early, late, leads):
        """Nor does one that is a single instant."""
        window = nf.Tolerance(early=early, late=late)
        assert against(nf.coincidence(EFFECTS, CAUSES, tolerance=window, leads=leads, span=SPAN)) == []

    def test_following_the_remedy_ends_the_note(self):
        """Dates too: the lag that is proposed puts the window where alarms lead."""
        days = [np.datetime64("2020-01-01") + np.array(one) for one in (EFFECTS, CAUSES)]
        asked = {"tolerance": "7d", "span": ("2020-01-01", "2020-09-30")}
        (note,) = against(nf.coincidence(*days, lag="9d", **asked))
        assert 'pass lag="-9d"' in note
        assert against(nf.coincidence(*days, lag="-9d", **asked)) == []

    def test_the_command_line_names_its_options(self, tmp_path, capsys):
        """--lag and --leads."""
        files = [str(tmp_path / name) for name in ("effects.txt", "causes.txt")]
        for file, listed in zip(files, (EFFECTS, CAUSES), strict=True):
            np.savetxt(file, listed, fmt="%d")
        with pytest.raises(SystemExit, match="0"):
            main(["coincidence", *files, "--tolerance", "7", "--lag", "9", "--span", "0", "259", "--format", "json"])
        notes = json.loads(capsys.readouterr().out)["notes"]
        assert any("--lag -9 if alarms come first, or pass --leads events if they follow" in note for note in notes)
