"""The paper's data come whole or not at all; the simulated ones are repeatable and look like them."""

import hashlib
import logging
import os
import socket

import numpy as np
import pooch
import pytest
import requests

from nofluke.datasets import BENCHMARKS, benchmark_labels, load_earthquakes, public_labels, simulate_quakes
from nofluke.detectors import energy_transient
from nofluke.errors import InputError

FILES = ("twitter-earthquakes.dat", "earthquakes.dat")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """No test reaches out: a connection is an error, as it is offline."""

    def refuse(*args, **kwargs):
        raise OSError("the network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def small_files(monkeypatch):
    """The two files in small, with their sums in place of the paper's."""
    content = {FILES[0]: b"3.0e+00\n5.0e+00\n", FILES[1]: b"0.0e+00\n1.0e+00\n"}
    monkeypatch.setattr(
        "nofluke.datasets.quakes._SHA256", {f: hashlib.sha256(b).hexdigest() for f, b in content.items()}
    )
    return content


def tolerant_precision_and_recall(truth, predictions, tolerance):
    """Both measures by comparing every pair of positions."""
    events, alarms = np.flatnonzero(truth), np.flatnonzero(predictions)
    near = np.abs(events[:, None] - alarms[None, :]) <= tolerance
    return near.any(axis=0).mean(), near.any(axis=1).mean()


def test_the_papers_data_are_whole():
    """2,557 days and 162 events, with the paper's precision and recall, and no dates made up."""
    if not os.environ.get("NOFLUKE_DATA"):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    quakes = load_earthquakes()
    assert (quakes.counts.size, quakes.truth.size, int(quakes.truth.sum())) == (2557, 2557, 162)
    assert (quakes.counts.dtype, quakes.truth.dtype) == (np.int64, np.bool_)
    assert quakes.days is None
    assert not quakes.simulated
    scores = energy_transient(quakes.counts)
    found = tolerant_precision_and_recall(quakes.truth, scores >= np.quantile(scores, 0.9), 2)
    assert found == (pytest.approx(145 / 256), pytest.approx(80 / 162))


@pytest.mark.parametrize("below", ["", "anomaly-eval"])
def test_files_are_found_in_the_directory_or_below(tmp_path, monkeypatch, small_files, below):
    """NOFLUKE_DATA may name the parent of anomaly-eval or the place of the files itself."""
    (tmp_path / below).mkdir(exist_ok=True)
    for name, content in small_files.items():
        (tmp_path / below / name).write_bytes(content)
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    quakes = load_earthquakes()
    assert quakes.counts.tolist() == [3, 5]
    assert quakes.truth.tolist() == [False, True]


def test_other_bytes_are_refused(tmp_path, monkeypatch):
    """A file that is not the paper's is not loaded, and the message names it."""
    for name in FILES:
        (tmp_path / name).write_text("1\n0\n")
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"twitter-earthquakes\.dat is not the paper's file.*2441d0eb89fd"):
        load_earthquakes()


def test_missing_files_are_named(tmp_path, monkeypatch):
    """An empty directory, and one that does not exist, are said to be so."""
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"has no twitter-earthquakes\.dat"):
        load_earthquakes()
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"NOFLUKE_DATA='.*nowhere' is not a directory"):
        load_earthquakes()


@pytest.mark.parametrize(
    "failure",
    [
        requests.exceptions.ConnectionError("no route"),
        ConnectionError("no route"),
        ValueError("no route: hash"),
    ],
)
def test_a_failed_download_says_what_to_do(tmp_path, monkeypatch, capfd, failure):
    """Offline, the message names both ways out, and nothing is printed."""

    def fail(*args, **kwargs):
        raise failure

    monkeypatch.delenv("NOFLUKE_DATA", raising=False)
    monkeypatch.setenv("NOFLUKE_CACHE", str(tmp_path))
    monkeypatch.setattr(pooch, "retrieve", fail)
    with pytest.raises(InputError, match=r"no route.*set NOFLUKE_DATA.*simulate_quakes\(\)"):
        load_earthquakes()
    assert capfd.readouterr() == ("", "")


def test_no_network_ends_in_the_same_message(tmp_path, monkeypatch, capfd):
    """pooch itself, with every connection refused, ends in an InputError and prints nothing."""
    monkeypatch.delenv("NOFLUKE_DATA", raising=False)
    monkeypatch.setenv("NOFLUKE_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"cannot download https://raw.githubusercontent.com/diozaka/anomaly-eval/"):
        load_earthquakes()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A stand-in for the network: a dict of the files it serves, and a list of the addresses asked for."""
    files, asked = {}, []

    def serve(self, url, output_file, downloader, check_only=False):
        asked.append(url)
        with open(output_file, "wb") as file:
            file.write(files[url.rsplit("/", 1)[1]])

    monkeypatch.delenv("NOFLUKE_DATA", raising=False)
    monkeypatch.setenv("NOFLUKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", serve)
    return files, asked


def test_a_download_is_kept_and_used_again(tmp_path, small_files, server):
    """The second call finds both files in NOFLUKE_CACHE and fetches nothing."""
    files, asked = server
    files.update(small_files)
    assert load_earthquakes().counts.tolist() == load_earthquakes().counts.tolist() == [3, 5]
    assert len(asked) == 2
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == sorted(FILES)


def test_other_bytes_from_the_network_are_refused(server):
    """What is downloaded is checked too."""
    server[0].update(dict.fromkeys(FILES, b"1\n0\n"))
    with pytest.raises(InputError, match=r"cannot download .*twitter-earthquakes"):
        load_earthquakes()


def test_a_download_is_not_announced(small_files, server):
    """pooch's logger, which would print the address, stays silent and keeps its level."""
    server[0].update(small_files)
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = pooch.get_logger()
    level = logger.level
    logger.addHandler(handler)
    try:
        load_earthquakes()
    finally:
        logger.removeHandler(handler)
    assert records == []
    assert logger.level == level


LISTED = (
    b"chan_id,spacecraft,anomaly_sequences,class,num_values\n"
    b'P-1,SMAP,"[[5, 6], [1, 2]]","[contextual, point]",8\n'
    b'P-2,SMAP,"[[0, 1]]",[point],3\n'
    b'M-6,MSL,"[[1, 1]]",[point],2\n'
    b'P-2,SMAP,"[[2, 2]]",[point],3\n'
)
SMALL = {
    "khundman/telemanom/2e6c/labeled_anomalies.csv": LISTED,
    "NetManAIOps/OmniAnomaly/7fb0/ServerMachineDataset/test_label/machine-1-1.txt": b"1\n0\n1\n",
    "NetManAIOps/OmniAnomaly/7fb0/ServerMachineDataset/test_label/machine-1-2.txt": b"1\n1\n0\n",
    "eBay/RANSynCoders/948e/data/test_label.csv": b"timestamp_(min),label\n132480.0,0\n132481.0,1\n132482.0,1\n",
}
EXPECTED = {
    "MSL": ("01", ["M-6"], 1),
    "SMAP": ("01100110" + "110", ["P-1", "P-2"], 3),
    "SMD": ("101" + "110", ["machine-1-1", "machine-1-2"], 3),
    "PSM": ("011", ["PSM"], 1),
}
RANGES = (
    "benchmark,entity,length,start,end\nMSL,M-6,2,1,1\nSMAP,P-1,8,1,2\nSMAP,P-1,8,5,6\nSMAP,P-2,3,0,1\n"
    "SMD,machine-1-1,3,0,0\nSMD,machine-1-1,3,2,2\nSMD,machine-1-2,3,0,1\nPSM,PSM,3,1,2\n"
)


@pytest.fixture
def small_labels(monkeypatch):
    """Files of the same forms as the public ones, in small, and sums of the ranges as written by hand."""
    sums = {address: hashlib.sha256(content).hexdigest() for address, content in SMALL.items()}
    rows = [line.partition(",") for line in RANGES.splitlines()[1:]]
    texts = {name: "".join(f"{rest}\n" for first, _, rest in rows if first == name) for name in BENCHMARKS}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    monkeypatch.setattr(benchmark_labels, "_sums", lambda: sums)
    monkeypatch.setattr(benchmark_labels, "_DIGESTS", digests)


def shown(labels):
    """Labels as text, the entities, the ranges."""
    return "".join(str(int(one)) for one in labels.truth), list(labels.entities), labels.n_ranges


@pytest.mark.parametrize("name", BENCHMARKS)
def test_public_labels_are_the_same_from_the_network_and_from_a_file(name, small_labels, server, tmp_path, monkeypatch):
    """Lists of ranges (of a channel listed twice the first line) and labels of steps are read and joined."""
    server[0].update({address.rsplit("/", 1)[1]: content for address, content in SMALL.items()})
    downloaded = public_labels(name)
    assert shown(downloaded) == EXPECTED[name]
    assert shown(public_labels(name)) == EXPECTED[name]
    assert len(server[1]) == (2 if name == "SMD" else 1)
    assert all(url.startswith("https://raw.githubusercontent.com/") for url in server[1])
    (tmp_path / "public-labels").mkdir()
    (tmp_path / "public-labels" / "ranges.csv").write_text(RANGES)
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    found = public_labels(name)
    assert shown(found) == EXPECTED[name]
    np.testing.assert_array_equal(found.groups, downloaded.groups)
    assert [downloaded.entities[k] for k in np.unique(downloaded.groups)] == list(downloaded.entities)


def test_entities_can_be_left_out(small_labels, tmp_path, monkeypatch):
    """The others keep their labels and are counted anew; an entity that is not there is named."""
    (tmp_path / "ranges.csv").write_text(RANGES)
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    left = public_labels("SMD").without("machine-1-1")
    assert shown(left) == ("110", ["machine-1-2"], 1)
    assert left.groups.tolist() == [0, 0, 0]
    assert left.source.endswith("without machine-1-1")
    assert left.without().source == left.source  # nothing more is said to be left out
    with pytest.raises(InputError, match=r"entities='machine-9' is not part of SMD"):
        public_labels("SMD").without("machine-9")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"has no ranges\.csv, nor has its public-labels directory: put it there .* or unset NOFLUKE_DATA"),
        ("a,b\n1,2\n", r"ranges\.csv must have the columns benchmark, entity, length, start, end: replace it"),
        (RANGES.replace("8,5,6", "8,5,x"), r"ranges\.csv has a length, start or end that is not a whole number"),
        (RANGES.replace("8,5,6", "8,5"), r"ranges\.csv has a length, start or end that is not a whole number"),
        (RANGES.replace("8,5,6", "8,5,7"), r"ranges\.csv does not have the public labels of SMAP: replace it"),
    ],
)
def test_other_labels_are_refused(content, message, small_labels, tmp_path, monkeypatch):
    """A missing file, other columns, no numbers and other ranges are each said to be so."""
    if content is not None:
        (tmp_path / "ranges.csv").write_text(content)
    monkeypatch.setenv("NOFLUKE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=message):
        public_labels("SMAP")


def test_public_labels_say_what_to_do_without_a_network(tmp_path, monkeypatch):
    """An unknown name lists the known ones; offline, the message names the file to provide."""
    monkeypatch.delenv("NOFLUKE_DATA", raising=False)
    monkeypatch.setenv("NOFLUKE_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="name='SWaT' must be one of 'MSL', 'SMAP', 'SMD', 'PSM'"):
        public_labels("SWaT")
    with pytest.raises(
        InputError, match=r"cannot download https://raw\..*/labeled_anomalies\.csv .*set NOFLUKE_DATA to"
    ):
        public_labels("MSL")


@pytest.mark.parametrize(
    ("name", "steps", "entities", "ranges", "labelled"),
    [
        ("MSL", 73_729, 27, 36, 7_766),
        ("SMAP", 435_826, 54, 68, 55_922),
        ("SMD", 708_420, 28, 327, 29_444),
        ("PSM", 87_841, 1, 72, 24_381),
    ],
)
def test_the_public_labels_are_whole(name, steps, entities, ranges, labelled):
    """As their authors describe them; SMAP without P-2 is OmniAnomaly's, of 427,617 steps with 54,696 labelled."""
    if not os.environ.get("NOFLUKE_DATA"):
        pytest.skip("NOFLUKE_DATA is unset: it names the directory of the data")
    found = public_labels(name)
    assert (found.truth.size, len(found.entities), found.n_ranges, int(found.truth.sum())) == (
        steps,
        entities,
        ranges,
        labelled,
    )
    assert (np.diff(found.groups) >= 0).all()
    if name == "SMAP":
        left = found.without("P-2")
        assert (left.truth.size, int(left.truth.sum())) == (427_617, 54_696)


def test_the_same_seed_gives_the_same_data():
    """Equal seeds, and a generator of that seed, agree; another seed differs; the default is fixed."""
    first, again = simulate_quakes(5), simulate_quakes(np.random.default_rng(5))
    np.testing.assert_array_equal(first.counts, again.counts)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert not np.array_equal(first.counts, simulate_quakes(6).counts)
    assert not np.array_equal(first.truth, simulate_quakes(6).truth)
    np.testing.assert_array_equal(simulate_quakes().counts, simulate_quakes(0).counts)
    assert "rng=5" in first.source


def test_simulated_data_are_shaped_and_labelled_like_the_papers():
    """2,557 days from 2010 on, 162 events, whole numbers, and the word simulated."""
    quakes = simulate_quakes()
    assert quakes.simulated
    assert quakes.source.startswith("simulated")
    assert (quakes.counts.size, int(quakes.truth.sum())) == (2557, 162)
    assert (quakes.counts.dtype, quakes.truth.dtype, quakes.days.dtype) == (
        np.int64,
        np.bool_,
        "datetime64[D]",
    )
    assert quakes.counts.min() >= 0
    assert str(quakes.days[0]) == "2010-01-01"
    assert np.all(np.diff(quakes.days) == np.timedelta64(1, "D"))


@pytest.mark.parametrize("seed", range(8))
def test_simulated_detection_is_about_as_good_as_the_papers(seed):
    """Whatever the seed, precision and recall lie around the paper's .57 and .49."""
    quakes = simulate_quakes(seed)
    scores = energy_transient(quakes.counts)
    predictions = scores >= np.quantile(scores, 0.9)
    precision, recall = tolerant_precision_and_recall(quakes.truth, predictions, 2)
    assert 0.45 < precision < 0.7
    assert 0.38 < recall < 0.58


@pytest.mark.parametrize(("n_steps", "n_events"), [(1, 0), (1, 1), (20, 20), (5000, 3)])
def test_other_sizes_keep_their_number_of_events(n_steps, n_events):
    """Every size from one day on has exactly the events asked for."""
    quakes = simulate_quakes(1, n_steps=n_steps, n_events=n_events)
    assert (quakes.counts.size, quakes.days.size, int(quakes.truth.sum())) == (n_steps, n_steps, n_events)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_steps": 0}, "n_steps=0 must be a whole number of at least 1"),
        ({"n_events": -1}, "n_events=-1 must be a whole number of at least 0"),
        ({"n_steps": 2.5}, "n_steps=2.5 must be a whole number"),
        ({"n_steps": 10**15}, "n_steps=1000000000000000 must be a whole number of at least 1 and at most 100,000,000"),
        ({"n_steps": 10, "n_events": 11}, "n_events=11 exceeds n_steps=10"),
        ({"rng": "seed"}, "rng='seed' must be a whole number of 0 or more"),
        ({"rng": -1}, "rng=-1 must be a whole number of 0 or more"),
    ],
)
def test_bad_settings_are_named(settings, message):
    """A refusal names the argument and its value."""
    with pytest.raises(InputError, match=message):
        simulate_quakes(**settings)
