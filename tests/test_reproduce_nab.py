"""NAB's published detectors: every number of the page, on a made-up clone of NAB and on part of the real one."""

import csv
import json
import math
import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from nofluke.cli import cli, main
from nofluke.errors import InputError
from nofluke.reproduce import nab as nab_study
from nofluke.reproduce import reproduce_nab

DETECTORS = ("ARTime", "bayesChangePt", "null", "random")
PARTS = ("realAdExchange", "realKnownCause/rogue_agent_key_hold")  # the short ones
NOT_SCORES = ("series", "timestamp", "value", "event", "window")


def made_up():
    """Three series: times, places of points, windows, and scores of three detectors."""
    rng = np.random.default_rng(4)
    found = {}
    for i, n in enumerate((400, 500, 600)):
        times = np.datetime64("2020-01-01T00:00:00") + np.arange(n) * np.timedelta64(1, "h")
        if i == 1:
            times[300:] -= np.timedelta64(1, "h")  # a clock that was turned back
        points = np.array([60, 200 + 10 * i, 350])
        skilled = rng.random(n)
        skilled[points[:2]] += 1
        scores = {"bayesChangePt": skilled, "null": np.full(n, 0.5), "random": rng.random(n)}
        found[f"realTest/some_{i}"] = (times, points, [(p - 12, p + 12) for p in points], scores)
    return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A folder in the layout of numenta/NAB."""
    root = tmp_path_factory.mktemp("clone") / "NAB"
    labels, windows = {}, {}
    for name, (times, points, ranges, scores) in made_up().items():
        group, stem = name.split("/")
        text = [str(t).replace("T", " ") for t in times]
        labels[f"{name}.csv"] = [text[p] for p in points]
        windows[f"{name}.csv"] = [[text[a], text[b]] for a, b in ranges]
        for detector, z in scores.items():
            path = root / "results" / detector / group / f"{detector}_{stem}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = "\n".join(f"{t},0,{s!r},0" for t, s in zip(text, z.tolist(), strict=True))
            path.write_text(f"timestamp,value,anomaly_score,label\n{rows}\n")
    (root / "labels").mkdir()
    (root / "labels" / "combined_labels.json").write_text(json.dumps(labels))
    (root / "labels" / "combined_windows.json").write_text(json.dumps(windows))
    return root


@pytest.fixture(scope="module")
def small(clone, tmp_path_factory):
    """The page about the made-up clone."""
    return reproduce_nab(clone, tmp_path_factory.mktemp("small"), seed=1, n_resamples=500, workers=1)


def shared_table():
    """NAB's table of 28 series."""
    if not os.environ.get("NOFLUKE_DATA"):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    return Path(os.environ["NOFLUKE_DATA"]) / "nab" / "nab.parquet"


@pytest.fixture(scope="module")
def part_path(tmp_path_factory):
    """A table of a few of NAB's series."""
    import duckdb

    source, path = shared_table(), tmp_path_factory.mktemp("part") / "part.parquet"
    kept = " OR ".join(f"series LIKE '{part}%'" for part in PARTS)
    duckdb.sql(f"COPY (SELECT * FROM '{source}' WHERE {kept}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="module")
def part(part_path, tmp_path_factory):
    """The page about four detectors on them."""
    return reproduce_nab(part_path, tmp_path_factory.mktemp("page"), detectors=DETECTORS, n_resamples=500, workers=1)


def rows(done, name="table"):
    """A CSV file as dictionaries."""
    with (done.directory / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def alarms_within_budget(scores):
    """Positions of the highest scores, on at most 1% of the steps, ties at the cut left out."""
    order = np.sort(scores)[::-1]
    over = order[math.floor(len(scores) / 100)]
    return np.flatnonzero(scores > over)


def by_hand(series, detector):
    """Pooled recall and precision of a detector, and what a permutation of the events gives of them on average."""
    sums = np.zeros(6)
    for points, scores in series:
        n, m, alarms = len(scores[detector]), len(points), alarms_within_budget(scores[detector])
        d = n // 100
        near = np.abs(points[:, None] - alarms[None, :]) <= d
        covered = (np.abs(np.arange(n)[:, None] - alarms[None, :]) <= d).any(axis=1).sum()
        reach = np.minimum(alarms + d, n - 1) - np.maximum(alarms - d, 0) + 1
        missed = np.array([math.prod((n - w - i) / (n - i) for i in range(m)) for w in reach.tolist()])
        sums += (near.any(axis=1).sum(), m, m * covered / n, near.any(axis=0).sum(), len(alarms), (1 - missed).sum())
    found, events, by_luck, hits, count, lucky = sums
    return found / events, by_luck / events, hits / count, lucky / count


def read_series(path, labels="event"):
    """Labels (places of points, or a 0/1 column of windows) and scores of each series of a table, by duckdb alone."""
    import duckdb

    table = duckdb.sql(f"SELECT * FROM '{path}'").fetchnumpy()
    names = np.asarray(table["series"])
    detectors = [name for name in table if name not in NOT_SCORES]
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        marks = np.asarray(table[labels][own], dtype=int)
        scores = {one: np.asarray(table[one][own], dtype=float) for one in detectors}
        yield (np.flatnonzero(marks) if labels == "event" else marks), scores


@pytest.mark.slow
@pytest.mark.parametrize("detector", ["bayesChangePt", "random"])
def test_values_and_the_papers_chance_are_those_counted_by_hand(small, detector):
    """Pooled recall and precision, and their means over all placements; a clock turned back does no harm."""
    row = next(row for row in rows(small) if (row["null"], row["detector"]) == ("permutation", detector))
    told = [float(row[name]) for name in ("recall_value", "recall_expected", "precision_value", "precision_expected")]
    expected = by_hand([(points, scores) for _, points, _, scores in made_up().values()], detector)
    assert told == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.slow
def test_controls_are_told_for_what_they_are(small, part):
    """Noise is no better than chance and a constant cannot be told; a detector with skill is better."""
    for done in (small, part):
        outcomes = {claim.key: claim.outcome for claim in done.claims}
        assert outcomes["random-is-chance"] == outcomes["constant-cannot-be-told"] == "holds"
        assert outcomes["recall-of-bayes"] == outcomes["ties-at-the-quantile"] == "cannot be checked"
        assert {row["verdict"] for row in rows(done) if row["detector"] == "null"} == {"cannot tell"}
    assert {row["verdict"] for row in rows(small) if row["detector"] == "bayesChangePt"} == {"yes"}


def test_nobody_is_said_to_fall_where_ranks_are_the_same():
    """One detector keeps its rank; two that change places fall and rise."""

    def found(**recalls):
        rows = {}
        for name, (value, expected) in recalls.items():
            recall = SimpleNamespace(value=value, told=value, expected=expected)
            how = {"n_told": 1, "n_series": 1, "measure": lambda _, recall=recall: recall}
            rows[name] = SimpleNamespace(detector=name, recall=recall, **how)
        return nab_study.ranks_by_recall(SimpleNamespace(rows={"auto": rows}))

    holds, words = found(a=(0.5, 0.1))
    assert holds
    assert words.startswith("None falls. Furthest above chance is a: recall 0.500")
    holds, words = found(a=(0.9, 0.8), b=(0.5, 0.1))
    assert not holds
    assert words.startswith("a falls furthest, from 1 to 2 of 2: recall 0.900, of which chance gives 0.800. Furthest")


def test_what_is_known_of_the_whole_is_checked_where_the_whole_is_there(small, monkeypatch):
    """With as many series as NAB has, statements about all of it are decided, and made-up scores refute them."""
    monkeypatch.setattr(nab_study, "WHOLE", 3)
    found = {claim.key: claim for claim in nab_study.NAB.check(small.study)}
    assert found["recall-of-bayes"].outcome == found["ties-at-the-quantile"].outcome == "does not hold"
    assert "the whole of NAB" in found["recall-of-bayes"].finding
    monkeypatch.setattr("nofluke.reproduce.nab.TIED_ON_ALL", (3, 9))
    assert {claim.key: claim.outcome for claim in nab_study.NAB.check(small.study)}["ties-at-the-quantile"] == "holds"


@pytest.mark.slow
def test_ties_are_counted():
    """Cells with alarms on more than 5% of the steps at the .99 quantile, on all of them, and with one score only."""
    source = nab_study.Source.of(shared_table())
    series = [scores for _, scores in read_series(source.path)]
    for one in nab_study.ties_of(source):
        columns = [scores[one.detector] for scores in series]
        shares = [np.mean(z >= np.quantile(z, 0.99)) for z in columns]
        assert one.cells == len(columns) == 28
        assert one.many == sum(share > 0.05 for share in shares)
        assert one.everywhere == sum(share == 1 for share in shares)
        assert one.constant == sum(len(set(z.tolist())) == 1 for z in columns)


def found_windows(windows, scores):
    """How many runs of a 0/1 column hold an alarm, and how many there are."""
    alarms = np.isin(np.arange(len(scores)), alarms_within_budget(scores))
    starts = np.flatnonzero(np.diff(windows, prepend=0) == 1)
    stops = np.flatnonzero(np.diff(windows, append=0) == -1) + 1
    return np.array([sum(alarms[a:b].any() for a, b in zip(starts, stops, strict=True)), len(starts)])


@pytest.mark.parametrize("of", ["clone", pytest.param("table", marks=pytest.mark.slow)])
def test_windows_are_events_of_their_own(of, request):
    """Each window is one event, found by an alarm within it and nowhere else."""
    done = request.getfixturevalue("small" if of == "clone" else "part")
    if of == "clone":
        marks = [np.zeros(len(times), dtype=int) for times, *_ in made_up().values()]
        for mark, (_, _, ranges, _) in zip(marks, made_up().values(), strict=True):
            for a, b in ranges:
                mark[a : b + 1] = 1
        series = [(mark, one[-1]["random"]) for mark, one in zip(marks, made_up().values(), strict=True)]
    else:
        path = request.getfixturevalue("part_path")
        series = [(mark, scores["random"]) for mark, scores in read_series(path, "window")]
    found, count = sum(found_windows(mark, scores) for mark, scores in series)
    row = next(row for row in rows(done) if (row["events"], row["detector"]) == ("windows", "random"))
    assert float(row["recall_value"]) == pytest.approx(found / count)


def test_every_file_is_there(small):
    """A page, statements, a figure, tables, and a leaderboard of each study; what is listed is there."""
    boards = {f"{s}/leaderboard.{f}" for s in ("permutation", "auto", "windows") for f in ("csv", "md", "tex", "html")}
    figures = {f"figure-1.{form}" for form in ("svg", "pdf", "png", "csv")}
    assert set(small.files) == boards | figures | {"index.html", "claims.json", "table.csv", "ties.csv"}
    assert all((small.directory / name).is_file() for name in small.files)
    written = json.loads((small.directory / "claims.json").read_text(encoding="utf-8"))
    assert written["claims"] == [claim.to_dict() for claim in small.claims]
    assert (written["data"], written["series"], written["seed"]) == ("NAB", 3, 1)


def test_the_page_needs_nothing_and_leads_nowhere_else(small):
    """No scripts, links to files beside it, unique ids; it says what was compared and what it teaches."""
    html = (small.directory / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<img|<iframe|@import|\ssrc=|url\((?!#)", html)
    targets = {one for one in re.findall(r'<(?:a|link)\b[^>]*href="([^"]*)"', html) if one != "data:,"}
    assert targets <= set(small.files)
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    text = " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<(style|svg)\b.*?</\1>", "", html, flags=re.DOTALL)).split())
    for words in (
        "3 of NAB&#39;s 58 series, read from NAB",
        "of which chance gives",
        "What it teaches",
        "nofluke reproduce --nab NAB --seed 1 --permutations 500 -o out/",
    ):
        assert words in text
    assert all(f"Table {i}." in text for i in range(1, 6))


@pytest.mark.slow
def test_same_seed_same_bytes_also_by_command(small, clone, tmp_path, monkeypatch):
    """A second run, by the command line, writes the same bytes; it prints the table and every statement."""
    study = nab_study.study
    monkeypatch.setattr(nab_study, "study", lambda *a, **k: study(*a, **{**k, "workers": 1}))  # or it starts processes
    options = ["--nab", str(clone), "--seed", "1", "--permutations", "500", "-o", str(tmp_path / "again")]
    result = CliRunner().invoke(cli, ["reproduce", *options], catch_exceptions=False)
    assert result.exit_code == 0
    for name in small.files:
        assert (tmp_path / "again" / name).read_bytes() == (small.directory / name).read_bytes(), name
    printed = " ".join(result.output.split())  # lines are shorter
    assert " ".join(small.table().text().split()) in printed
    assert all(" ".join(claim.statement.split()) in printed for claim in small.claims)


def test_a_table_without_windows_has_no_second_table(tmp_path):
    """One table of points, in text; detectors that are not there leave statements open."""
    times, points, _, scores = made_up()["realTest/some_0"]
    event = np.isin(np.arange(len(times)), points).astype(int)
    lines = [f"a,{e},{s!r}" for e, s in zip(event.tolist(), scores["bayesChangePt"].tolist(), strict=True)]
    (tmp_path / "one.csv").write_text("series,event,mine\n" + "\n".join(lines) + "\n")
    done = reproduce_nab(tmp_path / "one.csv", tmp_path / "out", n_resamples=200, workers=1)
    assert done.study.windows is None
    assert "Windows instead of points" not in (done.directory / "index.html").read_text(encoding="utf-8")
    outcomes = {claim.key: claim.outcome for claim in done.claims}
    assert outcomes["random-is-chance"] == outcomes["constant-cannot-be-told"] == "cannot be checked"


def test_what_is_not_nab_is_refused(tmp_path):
    """A folder without labels, a table without events, a path to nothing: one sentence each."""
    with pytest.raises(
        InputError, match=r"has no labels/combined_labels.json, or no results: pass the folder of a clone"
    ):
        reproduce_nab(tmp_path, tmp_path / "out")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"series"):
        reproduce_nab(tmp_path / "other.csv", tmp_path / "out")
    with pytest.raises(InputError, match=r"there is no such file"):
        reproduce_nab(tmp_path / "nowhere.parquet", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nab", ".", "--simulated"), "--simulated goes with the paper's study"),
        (("--nab", ".", "--point-adjustment"), "--point-adjustment and --nab are two pages"),
        (("--nab", "nowhere", "--seed", "-1"), "--seed=-1 must"),
        (("--nab", "."), "--nab='.' has no labels/combined_labels.json"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, options, message):
    """In the words of the command line."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "-o", str(tmp_path / "out"), *options])
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_the_documentation_has_what_the_scores_give():
    """Recall, precision and their means under permutation, in the table on the page of claims; and cells with ties."""
    series = list(read_series(shared_table()))
    text = (Path(__file__).parent.parent / "docs" / "claims.md").read_text(encoding="utf-8")
    table = text.split("### Pooled over series")[1].split("\n\n")[2]
    written = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    for name, recall, recall_chance, _, precision, precision_chance, *_ in written[:-1]:
        told = by_hand(series, name.strip("`"))
        assert [recall, recall_chance, precision, precision_chance] == [f"{value:.3f}".lstrip("0") for value in told]
    assert len(written) == 8
    shares = [np.mean(z >= np.quantile(z, 0.99)) for _, scores in series for z in scores.values()]
    assert f"{sum(share > 0.05 for share in shares)} of {len(shares)} cells" in " ".join(text.split())
