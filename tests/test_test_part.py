"""The test part: only it counts, and only within it anything is moved."""

from datetime import datetime

import numpy as np
import pytest

import nofluke as nf
from nofluke.errors import InputError
from nofluke.series import reading
from nofluke.show.report.origin import call_of
from nofluke.studies.sources.names import training_end

N = 100
DAYS = np.arange("2024-01-01", "2024-04-10", dtype="datetime64[D]")
RNG = np.random.default_rng(0)
TRUTH = (RNG.random(N) < 0.1).astype(int)
SCORES = RNG.random(N) + TRUTH
ASKED = {"quantile": 0.8, "tolerance": 1, "rng": 0}


def inside(begin, stop=N):
    """Which steps are in a test part."""
    return (np.arange(N) >= begin) & (np.arange(N) < stop)


@pytest.mark.parametrize(
    ("part", "begin", "stop"),
    [
        (50, 50, N),
        (0, 0, N),
        (0.29, 29, N),
        ("50%", 50, N),
        ((50, 79), 50, 80),
        ("50,79", 50, 80),
        ([None, 79], 0, 80),
        (("10%", "30%"), 10, 30),
        ("2024-02-20", 50, N),
        (datetime(2024, 2, 20), 50, N),
        (np.datetime64("2024-02-20"), 50, N),
        (("2024-02-20", "2024-03-20"), 50, 80),
        ("50d", 50, N),
        ("2023-01-01", 0, N),
    ],
    ids=str,
)
def test_only_the_test_part_counts(part, begin, stop):
    """It is the same as a mask over all else, whatever says where it begins and ends."""
    found = nf.evaluate(TRUTH, SCORES, times=DAYS, test_part=part, **ASKED)
    masked = nf.evaluate(TRUTH, SCORES, times=DAYS, mask=~inside(begin, stop), **ASKED)
    assert (found.n, found.n_events, found.threshold) == (stop - begin, TRUTH[begin:stop].sum(), masked.threshold)
    assert found.precision_test.pvalue == masked.precision_test.pvalue
    assert (found.left_out.warmup, found.left_out.masked) == (begin, N - stop)


def test_the_test_part_may_be_flagged_step_by_step():
    """Steps need not lie together, and those before the first are left out as a warm-up is."""
    flags = inside(50) & (np.arange(N) % 7 > 0)
    found = nf.evaluate(TRUTH, SCORES, test_part=flags, **ASKED)
    assert found.n == flags.sum()
    assert found.to_dict()["precision"] == nf.evaluate(TRUTH, SCORES, mask=~flags, **ASKED).to_dict()["precision"]
    assert found.notes[0] == "The first 50 steps, before the test part, were left out."


def test_with_a_warm_up_the_later_begin_counts():
    """Both say what is left out at the front."""
    assert nf.evaluate(TRUTH, SCORES, test_part=30, warmup=50, **ASKED).left_out.warmup == 50
    assert nf.evaluate(TRUTH, SCORES, test_part=60, warmup=50, **ASKED).left_out.warmup == 60
    assert nf.Series(TRUTH, test_part=60).read.n == 40


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (100, r"test_part=100 begins beyond the 100 steps: pass an earlier step"),
        ((50, 100), r"test_part=100 ends beyond the 100 steps"),
        ((50, 40), r"test_part=\(50, 40\) holds none of the 100 steps"),
        (-1, r"test_part=-1 must be a number of steps"),
        (1.5, r"test_part=1.5 must be a share above 0 and below 1"),
        ("soon", r"test_part='soon' must say where the test part begins: a step"),
        ("names", r"test_part='names' is for the series of a study, which have names: pass where"),
        ([1] * 99, r"test_part has 99 values but scores has 100"),
        ([False] * 100, r"test_part holds none of the 100 steps"),
        ("2024-02-20", r"test_part holds times, but the data has no clock: pass times="),
    ],
)
def test_a_test_part_that_makes_no_sense_says_why(part, message):
    """Beyond the end, nothing left, no name, no clock."""
    with pytest.raises(InputError, match=f"^{message}"):
        nf.evaluate(TRUTH, SCORES, test_part=part, **ASKED)


def test_archives_keep_the_end_of_training_in_names():
    """UCR's names end in three numbers, of which it is the first; TSB-AD writes tr_ before it."""
    assert training_end("001_UCR_Anomaly_DISTORTED1sddb40_35000_52000_52620.txt") == 35000
    assert training_end("U/001_NAB_id_1_Facility_tr_1007_1st_2014.csv") == 1007
    assert training_end("machine-1-1") is training_end("a_1_2_3") is None


def table(name="001_NAB_id_{}_Web_tr_40_1st_60"):
    """Three series in a table, of which 60 steps each are tested."""
    names = [name.format(i) for i in range(3)]
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.1).astype(int)
    return {
        "name": np.repeat(names, 100),
        "label": truth,
        "z": truth + rng.random(300),
        "tested": np.tile(np.arange(100) >= 40, 3).astype(int),
        "day": np.tile(DAYS, 3),
    }


OF_STUDY = {"series": "name", "truth": "label", "scores": "z", "budget": 0.1, "tolerance": 1, "workers": 1}


@pytest.mark.parametrize(
    ("part", "more"), [("names", {}), (40, {}), ("40%", {}), ("tested", {}), ("2024-02-10", {"times": "day"})], ids=str
)
def test_studies_take_one_test_part_for_all_a_column_or_names(part, more):
    """Each cell is what an evaluation of its series gives, and names that were read are in a note."""
    data = table()
    found = nf.study(data, **OF_STUDY, **more, test_part=part)
    for i, name in enumerate(dict.fromkeys(data["name"])):
        own = slice(100 * i, 100 * i + 100)
        times = {"times": DAYS} if more else {}
        one = nf.evaluate(data["label"][own], data["z"][own], budget=0.1, tolerance=1, test_part=40, **times)
        cell = found.cell(name, "z")
        assert (cell["n"], cell["recall_pvalue"]) == (60, one.recall_test.pvalue)
    notes = " ".join(found.leaderboard().about.notes)
    assert ("On 3 series: Its name says that the test part begins at step 40." in notes) is (part == "names")


def test_a_column_of_test_parts_comes_from_files_too(tmp_path):
    """Of a table with all series, and of one file for each of them."""
    import pandas as pd

    frame = pd.DataFrame(table())
    frame.to_parquet(tmp_path / "all.parquet")
    (tmp_path / "each").mkdir()
    for name, own in frame.groupby("name"):
        own.to_csv(tmp_path / "each" / f"{name}.csv", index=False)
    whole = nf.study(tmp_path / "all.parquet", **OF_STUDY, test_part="tested")
    each = nf.study(tmp_path / "each", **{**OF_STUDY, "series": None}, test_part="tested")
    named = nf.study(tmp_path / "each", **{**OF_STUDY, "series": None}, test_part="names")
    for one in (whole, each, named):
        assert one.cells["n"].tolist() == [60, 60, 60]
        assert one.cells["recall_pvalue"].tolist() == whole.cells["recall_pvalue"].tolist()


def test_names_that_say_nothing_are_a_reason():
    """A series whose name lacks the end of training has no result; without being asked, a name that has it is noted."""
    found = nf.study(table("machine-{}"), **OF_STUDY, test_part="names")
    assert found.n_missing == 3
    assert "its name does not say where training ends" in found.failed["reason"][0]
    notes = " ".join(nf.study(table(), **OF_STUDY).leaderboard().about.notes)
    assert "Its name says that training ends at step 40, and all of it counts; test_part='names' leaves" in notes


def test_studies_refuse_what_is_no_test_part():
    """Arrays differ between series; layouts have no columns of their own; lengths of time need a clock."""
    with pytest.raises(
        InputError, match=r"^test_part has a value for each step, of which series differ: name a column"
    ):
        nf.study(table(), **OF_STUDY, test_part=np.ones(100))
    with pytest.raises(InputError, match=r"has no column 'tasted'.*did you mean 'tested'"):
        nf.study(table(), **OF_STUDY, test_part="tasted")
    with pytest.raises(InputError, match=r"^test_part='2024-02-10' is a length of time, but the data have no clock"):
        nf.study(table(), **OF_STUDY, test_part="2024-02-10")


def test_columns_are_told_from_values():
    """Text that is nothing else names a column, and so does whatever stands behind "column:"."""
    assert reading.test_part_column("tested") == reading.test_part_column("column:tested") == "tested"
    assert reading.test_part_column("column:50%") == "50%"
    assert not any(map(reading.test_part_column, ("names", "50%", "2d", "1000,2000", "2024-01-01", 50, None)))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"test_part": "50%"}, "test_part=50,"),
        ({"test_part": (50, 79)}, "test_part=(50, 79),"),
        ({"test_part": 30, "warmup": 40}, "test_part=30, warmup=40,"),
    ],
)
def test_pages_say_the_test_part(asked, said):
    """The call that a page shows gives the same result."""
    result = nf.evaluate(TRUTH, SCORES, **ASKED, **asked)
    call = call_of(result)
    assert said in call
    assert eval(call, {"nf": nf, "truth": TRUTH, "scores": SCORES}).left_out == result.left_out


def test_a_test_part_is_looked_at_before_it_becomes_an_array():
    """Ranges of any length, uneven lists and objects that are no arrays are told as they were passed."""

    class NoArray:
        def __array__(self, *_, **__):
            raise RuntimeError("no array")

    for odd in (range(2**40), [[0, [1, 2]]], NoArray(), [NoArray()]):
        with pytest.raises(InputError, match=r"^test_part"):
            nf.Series(TRUTH, test_part=odd)
