"""The leaderboard of a study: order, text, CSV and JSON, the map of its cells, its figures, and what is missing."""

import csv
import io
import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import nofluke as nf
from boards import NASTY, detector_names, study, tables
from nofluke.errors import InputError, Remark
from nofluke.studies.cell_map import CODES, map_cells
from nofluke.studies.leaderboard import About, Leaderboard, PairMatrix, Pairs
from nofluke.studies.pooled_row import Pooled, PooledMeasure
from nofluke.studies.store import count_reasons, missing_in_words
from nofluke.text.signs import VERDICTS

ABOUT = About(title="Some", null="auto", tolerance="2 steps", threshold="budget 1%", n_series=3, n_groups=3)


def row(name, value, **more):
    """A detector with one value for all measures."""
    measure = PooledMeasure(value=value)
    rest = {
        "n_series": 3,
        "n_failed": 0,
        "n_told": 3,
        "share_yes": math.nan,
        "skill_in": 0,
        "n_groups": 3,
        "best": False,
    }
    rest |= {"verdict": "no", "reason": "", "precision": measure, "recall": measure, "f1": measure}
    return Pooled(detector=name, **(rest | more))


def board_of(*rows, pairs=None, about=ABOUT):
    return Leaderboard(rows=rows, pairs=pairs, about=about)


def test_detectors_stand_best_first_and_those_without_f1_last():
    """By pooled F1; equal ones stay in the order of the study."""
    board = board_of(row("none", math.nan), row("low", 0.1), row("high", 0.9), row("also low", 0.1))
    assert board.detectors == ("high", "low", "also low", "none")


def test_pairs_follow_the_order_of_the_rows():
    """Row and column of the matrix are moved together."""
    gap = np.array([[np.nan, -0.2], [0.2, np.nan]])
    matrix = PairMatrix(difference=gap, low=gap - 1, high=gap + 1, pvalue=gap, corrected=gap)
    board = board_of(row("a", 0.3), row("b", 0.5), pairs=Pairs(detectors=("a", "b"), measures={"f1": matrix}))
    assert board.pairs.detectors == ("b", "a")
    assert board.pairs.measures["f1"].difference[0, 1] == 0.2
    assert board.to_dict()["pairs"] == [
        {
            "detectors": ["b", "a"],
            "f1": {"difference": 0.2, "low": -0.8, "high": 1.2, "pvalue": 0.2, "corrected": 0.2},
        }
    ]


def test_a_detector_twice_or_pairs_of_others_are_refused():
    """One line that says what to do."""
    with pytest.raises(InputError, match="rows has the detector 'a' twice: pass one row for each detector"):
        board_of(row("a", 0.1), row("a", 0.2))
    with pytest.raises(InputError, match="pairs must have the detectors of rows"):
        board_of(row("a", 0.1), pairs=Pairs(detectors=("b",), measures={}))


def test_the_summary_begins_with_what_is_missing():
    """How many cells, and why; once, and nothing where none is missing."""
    board, _, failed = study()
    lines = str(board).splitlines()
    total = len(failed["series"]) - 1 + 16
    alone = list(dict.fromkeys(failed["series"][:-1]))
    where = f"{len(set(failed['detector'][:-1]))} detectors on {', '.join(alone[:3])} and {len(alone) - 3} more"
    assert lines[0] == f"{total} of 448 cells are missing:"
    assert lines[1:3] == [
        f"16: {NASTY}: no such file. (16 detectors on 027_sensor.csv)",
        f"{total - 16}: scores has 3 NaN at position(s) 4, 7, 9: drop them. ({where})",
    ]
    assert str(board).count("cells are missing") == 1
    assert "missing" not in str(board_of(row("a", 0.1)))
    assert f"{total} of 448 cells are missing" in board.to_markdown()
    assert f"{total} of 448 cells are missing" in board.to_latex()


def test_many_reasons_are_summed_up():
    """Three are told, the rest are counted, and no line is broken."""
    found = missing_in_words((("a\nb", 9), ("c", 3), ("d", 2), ("e", 1), ("f", 1)), 100)
    assert found == ("16 of 100 cells are missing:", "9: a b", "3: c", "2: d", "2: 2 other reasons.")
    assert missing_in_words((("c", 1),), 1) == ("1 of 1 cell is missing:", "1: c")


def test_a_line_tells_value_interval_chance_corrected_p_and_verdict():
    """In text; what was not worked out is a dash, never 0."""
    f1 = PooledMeasure(
        value=0.5, low=0.4, high=0.6, told=0.5, expected=0.25, std=0.1, pvalue=1e-9, corrected=2e-9, method="exact"
    )
    rows = row("a\nb", 0.5, f1=f1, verdict="yes", best=True, share_yes=0.5), row("c", math.nan)
    board = board_of(*rows, pairs=Pairs(detectors=("a\nb", "c"), measures={}))
    table = board.table(("f1",))
    assert table.columns == ("detector", "F1 [95%]", "F1 chance", "F1 p", "verdict", "series ✓", "skill in")
    assert table.rows[0] == ("a b *", "0.500 [0.400, 0.600]", "0.250", "2.0e-09", "✓ no fluke", "0.500", "0 of 3")
    assert table.rows[1] == ("c", "undefined", "–", "–", "✗ could be a fluke", "–", "0 of 3")
    assert table.notes[0].startswith("* F1 not significantly worse than the best")
    assert f1.above_chance == pytest.approx(1 / 3)


def test_one_reason_with_other_numbers_and_names_is_one():
    """The first is an example, with who and where; another kind, or another text without one, is another reason."""
    names, told = [f"m{i:02d}" for i in range(30)], "scores has {} NaN at position(s) {}: drop them."
    reasons = [Remark("NaN", told, 1, i) for i in range(29)]
    failed = {"series": [*names, "n"], "group": [""] * 31, "detector": [*["b"] * 30, ""]}
    failed["reason"] = [*reasons, Remark("NaN", told, 2, "3, 7 and 9"), "no column 'x y' in n."]
    assert count_reasons(failed, ("a", "b")) == (
        ("scores has 1 NaN at position(s) 0: drop them. (b on m00, m01, m02 and 27 more)", 30),
        ("no column 'x y' in n. (2 detectors on n)", 2),
    )
    quoted = {"series": ["s", "t"], "group": ["", ""], "detector": ["a", "a"]}
    quoted["reason"] = [Remark("no column", "{}: no {!r}.", *names) for names in (("s", "p"), ("t", "q r"))]
    assert count_reasons(quoted, ("a",)) == (("s: no 'p'. (a on s, t)", 2),)


def partly_told():
    """Two detectors, of which chance is about fewer series than the value for one."""
    less, same = (PooledMeasure(value=0.9, told=told, expected=0.388) for told in (0.787, 0.9))
    matrix = PairMatrix(**dict.fromkeys(("difference", "low", "high", "pvalue", "corrected"), np.full((2, 2), np.nan)))
    rows = row("a", 0.9, f1=less, best=True), row("b$\n_c_", 0.8, f1=same, notes=("Few.",), best=True)
    return board_of(*rows, pairs=Pairs(detectors=("a", "b$\n_c_"), measures={"f1": matrix}))


def test_the_value_that_chance_is_about_stands_beside_it():
    """Only where it is another than the value of all series; a line says what it is; the figure has a hollow mark."""
    board = partly_told()
    assert [line[2] for line in board.table(("f1",)).rows] == ["0.388 (of 0.787)", "0.388"]
    assert board.table(("f1",)).notes[1].startswith("(of x): chance covers only the series on which a null holds")
    assert not any("(of x)" in note for note in board.table(("recall",)).notes)
    ax = board.plot(Figure().subplots())
    assert ax.lines[2].get_xdata().tolist() == [0.787]
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == [
        "F1, 95% interval",
        "F1 where a null holds",
    ]


def test_nothing_compared_is_no_star():
    """A detector alone is not told from nothing: no star, no line on it, and no such word in the answer."""
    board = board_of(row("a", 0.5, best=True))
    assert not board.rows[0].best
    assert "*" not in str(board)
    assert "best" not in str(board) + board.verdict_in_words()


def test_markdown_has_no_bullet_no_formula_and_no_broken_line():
    """Signs of names and of the star are text."""
    lines = partly_told().to_markdown(measures=("f1",)).splitlines()
    assert lines[4:6] == [
        "| a \\* | 0.900 | 0.388 (of 0.787) | – | ✗ could be a fluke | – | 0 of 3 |",
        "| b\\$ \\_c\\_ \\* | 0.900 | 0.388 | – | ✗ could be a fluke | – | 0 of 3 |",
    ]
    assert lines[7].startswith("\\* F1 not significantly worse than the best")
    assert lines[-1] == "Note on b\\$ \\_c\\_: Few."


def test_latex_has_a_short_table_for_each_measure():
    """With the package they need, labels, and the notes once, below all of them."""
    text = partly_told().to_latex()
    assert text.startswith("% requires \\usepackage{booktabs}")
    assert text.count(r"\begin{tabular}{lrrrrrr}") == text.count(r"\end{table}") == 3
    labels = [line for line in text.splitlines() if line.startswith(r"\label")]
    assert labels == [rf"\label{{tab:nofluke-leaderboard{end}}}" for end in ("", "-precision", "-recall")]
    captions = [line for line in text.splitlines() if line.startswith(r"\caption")]
    assert captions == [rf"\caption{{Some: 2 detectors on 3 series, {name}}}" for name in ("F1", "precision", "recall")]
    assert text.count("Null: auto") == 1
    assert text.index("Null: auto") > text.rindex(r"\end{table}")


def test_csv_and_json_have_full_digits_and_nothing_for_the_undefined():
    """Every column of a row comes back as it was."""
    board, _, _ = study()
    lines = list(csv.DictReader(io.StringIO(board.to_csv())))
    plain = json.loads(json.dumps(board.to_dict(), allow_nan=False))
    assert [line["detector"] for line in lines] == list(board.detectors) == [d["detector"] for d in plain["detectors"]]
    for line, told, one in zip(lines, plain["detectors"], board.rows, strict=True):
        assert float(line["recall_corrected"]) == one.recall.corrected == told["recall"]["corrected"]
        assert (line["not_told_from_best"], told["not_told_from_best"]) == (str(one.best).lower(), one.best)
        assert line["verdict"] == told["verdict"] == one.verdict
    assert len(plain["pairs"]) == 16 * 15 // 2
    empty = board_of(row("a", math.nan))
    assert next(csv.DictReader(io.StringIO(empty.to_csv())))["f1"] == ""
    assert empty.to_dict()["detectors"][0]["f1"]["value"] is None


def test_names_that_look_like_markup_stay_text_in_markdown_and_html():
    """A detector may be called as it likes."""
    board, _, _ = study()
    assert "<script" not in board.to_markdown().replace("\\<", "")
    assert "<script" not in board._repr_html_()


@given(st.integers(1, 4), st.integers(1, 8), st.integers(0, 2**20))
def test_the_map_has_every_cell_at_its_place(n_detectors, n_series, seed):
    """Against a plain walk over the tables."""
    cells, failed = tables(n_detectors, n_series, min(3, n_series), seed)
    names = detector_names(n_detectors)[::-1]
    found = map_cells(names, cells, failed)
    at = {(d, s): k for k, (d, s) in enumerate(zip(cells["detector"], cells["series"], strict=True))}
    assert sorted(found.columns) == sorted({*map(str, cells["series"]), *failed["series"]})
    for i, detector in enumerate(names):
        for j, series in enumerate(found.columns):
            k = at.get((detector, series), -1)
            assert found.rows[i, j] == k
            assert CODES[found.codes[i, j]] == ("missing" if k < 0 else cells["verdict"][k])
            if k >= 0:
                chance = cells["f1_at_chance"][k]
                assert found.values[i, j] == pytest.approx((cells["f1"][k] - chance) / (1 - chance))
            else:
                assert math.isnan(found.values[i, j])
                assert (i, j) in found.reasons


def test_series_of_a_group_stand_together():
    """Also where the table has them mixed, and where one of them has no result at all."""
    cells = {"series": ["s", "t", "u"], "group": ["g", "h", "g"], "detector": ["a"] * 3, "verdict": ["no"] * 3}
    cells |= {"f1": [0.1] * 3, "f1_at_chance": [1.0, 0.1, math.nan]}
    failed = {"series": ["v"], "group": ["h"], "detector": [""], "reason": ["empty"]}
    found = map_cells(("a",), cells, failed)
    assert (found.columns, found.groups) == (("s", "u", "t", "v"), ("g", "g", "h", "h"))
    assert found.spans() == [("g", 0, 2), ("h", 2, 4)]
    assert found.reasons == {(0, 3): "empty"}
    assert np.isnan(found.values[0]).tolist() == [True, True, False, True]


def test_many_cells_are_shown_as_groups_and_it_is_said():
    """Counts and sums over the series of each group, against a plain walk."""
    cells, failed = tables(3, 60, 4)
    names = tuple(dict.fromkeys(map(str, cells["detector"])))
    found = map_cells(names, cells, failed, most=30)
    assert (found.kind, len(found.columns)) == ("groups", 4)
    assert found.about == "60 series are shown as 4 groups: each column sums over its series."
    assert found.counts.sum() == 3 * 60
    assert found.counts[:, :, 0].sum() == sum(count for _, count in count_reasons(failed, names))
    for i, detector in enumerate(names):
        for j, group in enumerate(found.columns):
            of = [k for k in range(len(cells["n"])) if (cells["detector"][k], cells["group"][k]) == (detector, group)]
            words = [cells["verdict"][k] for k in of]
            assert found.counts[i, j, 1:].tolist() == [words.count(word) for word in CODES[1:]]
            assert found.share_yes[i, j] == words.count("yes") / len(of)
            alarms, events = (sum(cells[name][k] for k in of) for name in ("n_predictions", "n_events"))
            f1, chance = (
                2
                / (
                    alarms / sum(cells[f"precision{end}"][k] for k in of)
                    + events / sum(cells[f"recall{end}"][k] for k in of)
                )
                for end in ("_hits", "_expected")
            )
            assert found.values[i, j] == pytest.approx((f1 - chance) / (1 - chance))


def test_many_series_without_groups_are_sampled_and_it_is_said():
    """Evenly, from the first to the last."""
    cells, failed = tables(3, 60, 60)
    found = map_cells(tuple(dict.fromkeys(map(str, cells["detector"]))), cells, failed, most=30)
    assert (found.kind, len(found.columns)) == ("series", 10)
    assert found.about.startswith("10 of 60 series are shown")
    assert (found.columns[0], found.columns[-1]) == ("000_sensor.csv", "059_sensor.csv")


def test_the_figure_shows_every_detector_with_interval_and_chance():
    """Dots, ends of intervals and chance at their values; those not significantly worse than the best are shaded."""
    board, _, _ = study()
    ax = board.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()][:2] == [r.detector for r in board.rows[:2]]
    f1, luck = ax.containers
    assert f1.lines[0].get_xdata().tolist() == [r.f1.value for r in board.rows]
    assert luck.lines[0].get_xdata().tolist() == [r.f1.expected for r in board.rows]
    ends = [segment[:, 0].tolist() for segment in f1.lines[2][0].get_segments()]
    assert np.allclose(ends, [[r.f1.low, r.f1.high] for r in board.rows])
    assert len(ax.patches) == sum(r.best for r in board.rows)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "F1, 95% interval",
        "chance, mean ± 2 std",
        "not significantly worse than the best",
    ]


def test_the_figure_of_nothing_is_empty():
    """Undefined values are not drawn, and are no error."""
    ax = nf.plot.leaderboard(board_of(row("a$b", math.nan)), Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"a\$b"]
    with pytest.raises(InputError, match="board must be a Leaderboard, from a study, got dict"):
        nf.plot.leaderboard({})


def test_the_map_of_verdicts_has_a_symbol_in_every_cell():
    """Colour and symbol agree, and are those of tables and pages; missing cells have a dot."""
    board, cells, failed = study()
    found = map_cells(board.detectors, cells, failed)
    ax = nf.plot.verdicts(found, Figure().subplots())
    letters = np.array([text.get_text() for text in ax.texts]).reshape(found.codes.shape)
    assert (letters == np.array(["·", "?", "✗", "◐", "✓"])[found.codes]).all()
    image = ax.images[0]
    assert [to_hex(image.cmap(image.norm(i))).upper() for i in (4, 3, 2, 1)] == [s.light for s in VERDICTS.values()]
    assert [label.get_text() for label in ax.get_xticklabels()] == [f"group {i}" for i in range(7)]


def test_the_map_of_values_marks_what_is_missing():
    """Dots only there; groups have shares of yes; other words are refused."""
    board, cells, failed = study(3, 60, 4)
    found = map_cells(board.detectors, cells, failed)
    ax = nf.plot.verdicts(found, Figure().subplots(), show="value")
    assert sum(text.get_text() == "·" for text in ax.texts) == (found.codes == 0).sum()
    assert np.allclose(ax.images[0].get_array().filled(-9), np.nan_to_num(found.values.clip(-1, 1), nan=-9))
    groups = map_cells(board.detectors, cells, failed, most=30)
    ax = nf.plot.verdicts(groups, Figure().subplots())
    assert np.allclose(ax.images[0].get_array(), groups.share_yes)
    assert ax.get_title(loc="left").replace("\n", " ") == groups.about
    with pytest.raises(InputError, match="show='p' must be one of 'verdict', 'value'"):
        nf.plot.verdicts(found, show="p")
    plt.close("all")


def test_files_end_with_a_line_and_a_detector_alone_has_no_star(tmp_path):
    """As written for one detector: nothing was compared."""
    table = {
        "name": ["a"] * 9 + ["b"] * 9,
        "label": [0, 0, 1, 0, 0, 0, 0, 0, 0] * 2,
        "z": [1, 2, 9, 1, 2, 1, 2, 1, 2] * 2,
    }
    done = nf.study(table, series="name", truth="label", scores="z", threshold=5, null="permutation", workers=1)
    assert not done.pooled()[0].best
    done.write(tmp_path)
    for name in ("leaderboard.md", "leaderboard.tex"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.endswith("\n")
        assert "not significantly worse than the best" not in text


def test_a_tiny_p_beside_skill_in_no_series_is_explained():
    """Only where both meet: some group with skill, a large p, or a single group need no words."""
    small = PooledMeasure(value=0.5, expected=0.3, std=0.01, pvalue=7e-45, corrected=6.9e-44)
    large = PooledMeasure(value=0.5, expected=0.3, std=0.01, pvalue=0.4, corrected=0.4)
    told = row("a", 0.5, precision=small, recall=large, skill_in=0, n_groups=40).reconciled(0.05)
    assert "p = 6.9e-44" in told
    assert "skill is in 0 of 40 means that it can be shown of none by itself" in told
    others = ({"skill_in": 1}, {"precision": large}, {"n_groups": 1}, {"precision": PooledMeasure(value=0.5)})
    for other in others:
        how = {"precision": small, "recall": large, "skill_in": 0, "n_groups": 40} | other
        assert row("a", 0.5, **how).reconciled(0.05) == ""


def test_a_leaderboard_says_why_it_cannot_tell():
    """Each reason once, with all detectors that it is about; not again where a note has said it."""
    why = {"verdict": "cannot tell", "reason": "No null holds on any series."}
    board = board_of(row("a", 0.5, **why), row("b", 0.4, **why), row("c", 0.3, **why, notes=(why["reason"],)))
    notes = [note for note in board.table().notes if why["reason"] in note]
    assert notes == [f"Note on a, b: cannot tell. {why['reason']}", f"Note on c: {why['reason']}"]


def test_a_note_on_several_detectors_is_printed_once():
    """With those that it is about, or that it is about all of them."""
    some = (
        row("a", 0.5, notes=("Few.", "Shared.")),
        row("b", 0.4, notes=("Shared.", "Few.")),
        row("c", 0.3, notes=("Shared.",)),
    )
    told = [note for note in board_of(*some).table().notes if note.startswith("Note on")]
    assert told == ["Note on a, b: Few.", "Note on all 3 detectors: Shared."]
    told = [note for note in board_of(*some[:2]).table().notes if note.startswith("Note on")]
    assert told == ["Note on both detectors: Few.", "Note on both detectors: Shared."]
