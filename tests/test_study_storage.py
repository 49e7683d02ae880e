"""What is kept of a study is checked when it is read: damage is found and named, and resuming mends just that."""

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import nofluke as nf
from nofluke.studies import study as studying
from nofluke.studies.store import read_table, sealed

PAGES = {f"leaderboard.{end}" for end in ("csv", "md", "tex", "html")}


def ask(out, **changes):
    """A study of five series and two detectors, of which one lacks a series; each series is a part."""
    rng = np.random.default_rng(3)
    truth = rng.random(5 * 80) < 0.06
    table = {"name": np.repeat([*"abcde"], 80), "label": truth, "det_a": truth + rng.normal(size=400)}
    table["det_b"] = np.where(table["name"] == "b", np.nan, rng.normal(size=400))
    asked = {"series": "name", "truth": "label", "scores": "det_*", "budget": "5%", "tolerance": 1, "n_resamples": 99}
    return nf.study(table, **{**asked, "workers": 1, "out": out, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished study in a folder, which tests copy."""
    out = tmp_path_factory.mktemp("finished") / "out"
    ask(out)
    return out


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of it to be damaged."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


@pytest.fixture
def computed(monkeypatch):
    """The series that are computed from now on, and how often a study is pooled."""
    seen = []
    part_of, pool = studying.part_of, nf.Study._pool
    monkeypatch.setattr(
        studying, "part_of", lambda chunk, asked: (seen.append(*chunk.series), part_of(chunk, asked))[1]
    )
    monkeypatch.setattr(nf.Study, "_pool", lambda *args: (seen.append("pooled"), pool(*args))[1])
    return seen


def files_of(out):
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def opened(out):
    """The study in a folder, or what is said against it."""
    try:
        return nf.Study.open(out), ""
    except nf.InputError as error:
        return None, str(error)


def told_by(study):
    """All numbers of a study."""
    cells = {
        name: [list(one) if isinstance(one, np.ndarray) else one for one in study.cells[name]] for name in study.cells
    }
    failed = {name: list(values) for name, values in study.failed.items()}
    return repr((cells, failed, [row.to_dict() for row in study.pooled()], study.rank_by, study.n_missing))


class TestManifest:
    def test_every_file_is_listed_with_rows_size_and_checksum(self, finished):
        """As anybody can check them, and read them, without nofluke."""
        manifest = json.loads((finished / "manifest.json").read_text())
        listed = {one["file"]: one for one in manifest["files"]}
        assert sorted([*listed, "manifest.json"]) == files_of(finished)
        assert manifest["n_files"] == len(listed)
        for name, one in listed.items():
            data = (finished / name).read_bytes()
            assert (one["size"], one["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert listed["results.parquet"]["rows"] == 9
        assert listed["failed.jsonl"]["rows"] == 1
        assert sum(one["rows"] for name, one in listed.items() if name.endswith("/cells.parquet")) == 9

    def test_other_programs_read_parts_and_manifest(self, finished):
        """Any duckdb or polars."""
        import duckdb

        one = f"SELECT count(*) FROM read_parquet('{finished}/parts/*/cells.parquet')"
        assert duckdb.sql(one).fetchall() == [(9,)]
        listed = duckdb.sql(f"SELECT unnest(files) FROM read_json('{finished}/manifest.json')")
        assert len(listed.fetchall()) == len(files_of(finished)) - 1
        polars = pytest.importorskip("polars")
        assert polars.read_parquet(f"{finished}/parts/*/cells.parquet").shape[0] == 9

    def test_its_own_checksum_is_of_its_content_not_of_its_layout(self, copy, finished):
        """Tools may lay JSON out anew."""
        for name in ("study.json", "manifest.json"):
            told = json.loads((copy / name).read_text())
            assert sealed({key: value for key, value in told.items() if key != "sha256"}) == (copy / name).read_text()
        (copy / "manifest.json").write_text(json.dumps(json.loads((copy / "manifest.json").read_text())))
        assert told_by(nf.Study.open(copy)) == told_by(nf.Study.open(finished))


class TestDamage:
    def test_a_flipped_bit_anywhere_is_an_error_that_names_the_file_or_changes_nothing(self, copy, finished):
        """Many bits of every file, the pooled one and the manifest too."""
        rng, expected, silent = np.random.default_rng(0), told_by(nf.Study.open(finished)), set()
        for name in files_of(copy):
            data = (copy / name).read_bytes()
            places = (
                {0, len(data) - 1, *rng.integers(0, len(data), 1 if name in PAGES else 14).tolist()} if data else set()
            )
            for at in places:
                changed = bytearray(data)
                changed[at] ^= 1 << int(rng.integers(8))
                (copy / name).write_bytes(changed)
                found, told = opened(copy)
                if found is None:
                    assert told.startswith(f"{copy / name} is damaged: calling nf.study again with the same arguments ")
                    assert told.endswith(" recomputes it.")
                else:
                    silent.add(name)
                    assert told_by(found) == expected
            (copy / name).write_bytes(data)
        assert silent <= {*PAGES, "study.json", "manifest.json"}, "where a bit may be of the layout alone"
        assert told_by(nf.Study.open(copy)) == expected

    def test_files_that_are_cut_gone_or_swapped_are_named(self, copy):
        """Each file of the folder, but for the pages, which nothing is read from."""
        for name in files_of(copy):
            data = (copy / name).read_bytes()
            if name in PAGES or not data:
                continue
            (copy / name).write_bytes(data[: len(data) // 2])
            with pytest.raises(nf.InputError, match=rf"{name} is damaged: calling nf.study again .* recomputes it"):
                nf.Study.open(copy)
            (copy / name).unlink()
            if name != "manifest.json":  # without it, the study is not finished
                with pytest.raises(nf.InputError, match=rf"{name} is missing: calling nf.study again"):
                    nf.Study.open(copy)
            (copy / name).write_bytes(data)
        one, other = copy / "parts/000001", copy / "parts/000002"
        one.rename(copy / "x")
        other.rename(one)
        (copy / "x").rename(other)
        with pytest.raises(nf.InputError, match=r"parts/000001/\w+\.\w+ is damaged"):
            nf.Study.open(copy)
        (copy / "manifest.json").unlink()
        with pytest.raises(nf.InputError, match=r"parts/000001/part.json is of another part, or of another study"):
            nf.Study.open(copy)

    def test_files_of_another_study_are_told(self, copy, finished, tmp_path):
        """Settings, a part, or the pooled rows."""
        ask(tmp_path / "other", budget="10%")
        for name in ("study.json", "manifest.json", "pooled.json", "parts/000003/cells.parquet"):
            shutil.copy(tmp_path / "other" / name, copy / name)
            with pytest.raises(nf.InputError, match=r"recomputes it"):
                nf.Study.open(copy)
            shutil.copy(finished / name, copy / name)
        (copy / "manifest.json").unlink()
        shutil.rmtree(copy / "parts/000003")
        shutil.copytree(tmp_path / "other/parts/000003", copy / "parts/000003")
        with pytest.raises(nf.InputError, match=r"parts/000003/part.json is of another part, or of another study"):
            nf.Study.open(copy)

    def test_a_folder_of_another_version_is_not_called_damaged(self, copy):
        """Neither to read nor to resume; one that says more, or less, than its format is damaged."""
        written = (copy / "study.json").read_text()
        told = {name: value for name, value in json.loads(written).items() if name != "sha256"}
        (copy / "study.json").write_text(sealed({**told, "format": "nofluke study 3"}))
        for reader in (nf.Study.open, nf.rank, ask, partial(ask, resume=False)):
            with pytest.raises(
                nf.InputError,
                match=r"is in the format nofluke study 3, and this version reads .* use nofluke \S+, which",
            ):
                reader(copy)
        for other in ({**told, "more": 1}, {name: value for name, value in told.items() if name != "unused"}):
            (copy / "study.json").write_text(sealed(other))
            with pytest.raises(nf.InputError, match=r"study.json is damaged: .* recomputes it"):
                nf.Study.open(copy)
            ask(copy)
            assert (copy / "study.json").read_text() == written

    def test_a_file_in_place_of_the_parts_is_named(self, copy):
        """What is somebody else's is not removed."""
        shutil.rmtree(copy / "parts")
        (copy / "parts").write_text("mine")
        with pytest.raises(nf.InputError, match=r"parts cannot be made \(File exists\): remove what is there"):
            ask(copy)
        assert (copy / "parts").read_text() == "mine"

    def test_what_people_put_beside_it_or_write_on_a_page_does_no_harm(self, copy, finished):
        """Nothing is read from there; parts beyond the last are nobody's."""
        (copy / "notes.txt").write_text("x")
        (copy / "leaderboard.md").write_text("my own words")
        shutil.copytree(copy / "parts/000001", copy / "parts/000017")
        assert told_by(nf.Study.open(copy)) == told_by(nf.Study.open(finished))

    @pytest.mark.parametrize(
        ("name", "again"),
        [
            ("study.json", []),
            ("manifest.json", ["pooled"]),
            ("pooled.json", ["pooled"]),
            ("results.parquet", ["pooled"]),
            ("failed.jsonl", ["pooled"]),
            ("leaderboard.html", []),
            ("parts/000003/laws.parquet", ["d", "pooled"]),
            ("parts/000001/part.json", ["b", "pooled"]),
        ],
    )
    def test_resuming_computes_just_what_is_damaged(self, copy, finished, computed, name, again):
        """And the folder is as it was: the same results to the last byte, and every file in the manifest."""
        data = bytearray((copy / name).read_bytes())
        data[len(data) // 2] ^= 1
        (copy / name).write_bytes(data)
        ask(copy)
        assert computed == again
        same = {
            one for one in files_of(copy) if "timings" not in one and one != "manifest.json" and "part.json" not in one
        }
        assert {one for one in same if (copy / one).read_bytes() == (finished / one).read_bytes()} == same
        assert told_by(nf.Study.open(copy)) == told_by(nf.Study.open(finished))

    def test_a_lost_study_json_is_made_again_where_the_parts_are_of_the_same(self, copy, computed):
        """They carry what they were made of; a folder that is somebody else's is left alone."""
        (copy / "study.json").unlink()
        with pytest.raises(nf.InputError, match="holds other files"):
            ask(copy, budget="10%")
        ask(copy)
        assert computed == []
        assert nf.Study.open(copy).n_missing == 1


class TestUnfinished:
    def test_an_unfinished_study_opens_as_such(self, finished, tmp_path, monkeypatch):
        """It says how many parts it lacks, counts their cells as missing, and pools and compares nothing."""

        class Stop(BaseException):
            pass

        def stopping(chunk, asked):
            if chunk.series == ("d",):
                raise Stop
            return part_of(chunk, asked)

        part_of = studying.part_of
        monkeypatch.setattr(studying, "part_of", stopping)
        with pytest.raises(Stop):
            ask(tmp_path / "out")
        monkeypatch.undo()
        half = nf.Study.open(tmp_path / "out")
        assert half.unfinished == "2 of its 5 parts are missing"
        assert "unfinished: 2 of its 5 parts are missing" in repr(half)
        assert str(half) == repr(half)  # there is no leaderboard to print
        assert "2 of its 5 parts are missing" in half._repr_html_()
        assert (half.n_series, half.n_cells, half.n_missing, len(half.cells["series"])) == (5, 10, 5, 5)
        assert half.cell("a", "det_a") == nf.Study.open(finished).cell("a", "det_a")
        with pytest.raises(
            nf.InputError,
            match=r"series='e' is none of the series computed so far: 2 of its 5 parts are missing: call nf.study again "
            r"with the same arguments, which resumes it, or check the name",
        ):
            half.cell("e", "det_a")
        of_all = ("shared", "places", "exchanges")
        for question in (
            *(half.pooled, half.leaderboard, half.compare, half.write, half.corrected, partial(nf.rank, half)),
            *(partial(nf.rank, tmp_path / "out"), *(partial(getattr, half, name) for name in of_all)),
        ):
            with pytest.raises(
                nf.InputError, match=r"is not finished: 2 of its 5 parts are missing: call nf.study again"
            ):
                question()
        ask(tmp_path / "out")
        whole = nf.Study.open(tmp_path / "out")
        assert (whole.unfinished, whole.n_missing) == ("", 1)
        assert told_by(whole) == told_by(nf.Study.open(finished))

    def test_parts_that_were_taken_out_are_missing_or_named(self, copy):
        """A finished study without one is damaged; without its manifest it is an unfinished one."""
        shutil.rmtree(copy / "parts/000002")
        with pytest.raises(nf.InputError, match=r"parts/000002/cells.parquet is missing: .* recomputes it"):
            nf.Study.open(copy)
        (copy / "manifest.json").unlink()
        found = nf.Study.open(copy)
        assert (found.unfinished, found.n_missing) == ("1 of its 5 parts is missing", 3)

    @pytest.mark.parametrize("where", ["keep", "write", "seal"])
    def test_a_study_that_ends_before_its_manifest_was_not_pooled(self, tmp_path, monkeypatch, computed, where):
        """All parts are kept; what was pooled is not believed before the manifest is there."""

        def ends(*_args, **_more):
            raise MemoryError

        owner = {"keep": "nofluke.studies.result.keep", "write": "nofluke.Study.write"}
        with monkeypatch.context() as patch:
            patch.setattr(owner.get(where, "nofluke.studies.store.Folder.seal"), ends)
            with pytest.raises(MemoryError):
                ask(tmp_path / "out")
        found = nf.Study.open(tmp_path / "out")
        assert (found.unfinished, found.n_missing) == ("all parts are there, but it was not pooled to the end", 1)
        with pytest.raises(nf.InputError, match="is not finished: all parts are there"):
            found.pooled()
        computed.clear()
        ask(tmp_path / "out")
        assert computed == ["pooled"]
        assert nf.Study.open(tmp_path / "out").unfinished == ""


class TestNothingToDo:
    def test_a_finished_study_computes_and_writes_nothing(self, copy, finished, computed):
        """Neither cells nor draws for pooling, nor files; and it says the same."""
        before = {name: (copy / name).stat().st_mtime_ns for name in files_of(copy)}
        again = ask(copy)
        assert computed == []
        assert {name: (copy / name).stat().st_mtime_ns for name in files_of(copy)} == before
        assert told_by(again) == told_by(nf.Study.open(finished))
        computed.clear()
        assert [row.detector for row in again.pooled(n_resamples=49)] == ["det_a", "det_b"]  # the data are at hand
        assert computed == ["pooled"]
        with pytest.raises(nf.InputError, match=r"pooling other than with \d+ draws and level 0.95 needs the data"):
            nf.Study.open(copy).pooled(n_resamples=49)

    def test_another_ranking_is_pooled_anew(self, copy, computed):
        """What ranks a study is no setting, and is kept with the pooled rows."""
        ask(copy, rank_by="recall")
        assert computed == ["pooled"]
        assert nf.Study.open(copy).rank_by == "recall"

    def test_pages_that_are_written_again_are_listed_as_they_are(self, copy):
        """Also by a study that was opened."""
        (copy / "leaderboard.csv").write_text("")
        nf.Study.open(copy).write()
        listed = {one["file"]: one["size"] for one in json.loads((copy / "manifest.json").read_text())["files"]}
        assert listed["leaderboard.csv"] == (copy / "leaderboard.csv").stat().st_size > 0
        assert len(read_table(copy / "results.parquet")["series"]) == 9
        nf.Study.open(copy)
