"""nofluke watch: files in, one line out, exit codes, formats, and errors in options."""

import json

import numpy as np
import pytest

from nofluke.cli import cli, main
from test_docs import documented, section

START = np.datetime64("2026-01-01T00:00:00", "s")
LATER = ("--predictions-file", "alerts.csv", "--truth-file", "incidents.csv")
FIRST = (*LATER, "--tolerance", "10min", "--labels-final", "2d", "--predictions", "time")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command in a folder with alerts of two rules and incidents of 100 days: what it printed, said, returned."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    begins = np.sort(rng.integers(0, 100 * 86_400, 150))
    found = begins[rng.random(150) < 0.6] + 120
    other = rng.integers(0, 100 * 86_400, 400)
    rows = [(at, "cpu") for at in found] + [(at, rule) for at, rule in zip(other, ["cpu", "disk"] * 200, strict=True)]
    alerts = "".join(f"{START + np.timedelta64(int(at), 's')}Z,{rule}\n" for at, rule in rows)
    (tmp_path / "alerts.csv").write_text(f"time,rule\n{alerts}")
    spans = "".join(
        f"{START + np.timedelta64(int(a), 's')}Z,{START + np.timedelta64(int(a) + 300, 's')}Z\n" for a in begins
    )
    (tmp_path / "incidents.csv").write_text(f"start,end\n{spans}")

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(["watch", *arguments])
        out, err = capsys.readouterr()
        return out, err, stopped.value.code

    return call


def test_one_line_settings_once_and_the_same_twice(run, tmp_path):
    """The first call brings the settings, later ones none; nothing changes where nothing is new."""
    out, err, code = run("state.json", *FIRST, "--until", "2026-02-01T00:00Z")
    assert (code, err, out.count("\n")) == (0, "", 1)
    written = (tmp_path / "state.json").read_bytes()
    again = run("state.json", *LATER, "--predictions", "time", "--until", "2026-02-01T00:00Z")
    assert again == (out, "", 0)
    assert (tmp_path / "state.json").read_bytes() == written
    out, _, code = run("state.json", *LATER, "--predictions", "time", "--until", "2026-04-11T00:00Z", "--gate")
    assert code == 0
    assert out.startswith("detector: better than chance.")
    assert "--mute-after" in out


def test_rules_formats_and_page(run, tmp_path):
    """Each rule is a detector; JSON has its keys, Prometheus its samples, the page the verdict."""
    until = ("--until", "2026-04-11T00:00Z", "--by", "rule")
    out, _, code = run("state.json", *FIRST, *until, "--format", "json", "--report", "page.html")
    assert code == 0
    told = json.loads(out)
    assert keys_of(told) == set(documented("Keys of watch"))
    assert [one["name"] for one in told["detectors"]] == ["cpu", "disk"]
    assert told["detectors"][0]["verdict"] == "better than chance"
    assert "better than chance" in (tmp_path / "page.html").read_text()
    assert run("state.json", *LATER, "--predictions", "time", *until, "--format", "prometheus", "-o", "a.prom")[2] == 0
    samples = (tmp_path / "a.prom").read_text()
    assert 'nofluke_watch_verdict{detector="cpu",verdict="better than chance"} 1' in samples
    for line in samples.splitlines():
        assert (
            line.startswith("# ") or float(line.rpartition(" ")[2]) == float(line.rpartition(" ")[2]) or "NaN" in line
        )


def test_the_gate(run, tmp_path):
    """3 where nothing can be told, 1 where skill is lost, with a line that says why."""
    out, err, code = run("new.json", *FIRST, "--until", "2026-01-02T00:00Z", "--gate")
    assert code == 3
    assert err.startswith("nofluke: gate: cannot tell. No block is settled yet")
    out, err, code = run("lost.json", *FIRST, "--until", "2026-04-11T00:00Z", "--lost-below", "0.95", "--gate")
    assert code == 1
    assert "lost" in out
    assert err.startswith("nofluke: gate: lost.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("state.json",), "name the alarms: --predictions-file FILE"),
        (("state.json", *LATER, "--predictions", "time"), "tolerance"),
        (("state.json", *FIRST, "--until", "soon"), "until"),
        (("state.json", *FIRST, "--null", "segments"), "--null"),
        (("state.json", *FIRST, "--block", "1min"), "--block"),
        (("alerts.csv", *FIRST), "alerts.csv"),
        (("state.json", *FIRST, "-o", "alerts.csv"), "would destroy"),
    ],
)
def test_errors_are_one_line_and_name_the_option(run, tmp_path, arguments, said):
    """Exit code 2, nothing on standard output, and no state is left."""
    out, err, code = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (tmp_path / "state.json").exists()


def test_files_without_rows_are_lists_of_none(run, tmp_path):
    """No alerts and no incidents yet: an answer."""
    (tmp_path / "alerts.csv").write_text("time,rule\n")
    (tmp_path / "incidents.csv").write_text("start,end\n")
    out, err, code = run("state.json", *FIRST, "--until", "2026-02-01T00:00Z", "--start", "2026-01-01T00:00Z")
    assert (code, err) == (0, "")
    assert "nothing to learn" in out


def keys_of(told, before=""):
    """The keys of JSON as its page has them."""
    found = set()
    for key, value in told.items():
        if isinstance(value, dict) and key != "settings":
            found |= keys_of(value, f"{before}{key}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            found |= keys_of(value[0], f"{before}{key}[].")
        else:
            found.add(f"{before}{key}")
    return found


def test_every_option_is_in_the_reference():
    """And none that is not there."""
    text = section("reference/cli.md", "Watch")
    options = {name for one in cli.commands["watch"].params for name in one.opts if name.startswith("--")} - {
        "--output"
    }
    assert {name for name in options if f"`{name}" in text} == options
