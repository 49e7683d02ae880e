"""Manners of the command line: help by topic, examples, completion, lists and ranges, words, endings, lines."""

import ast
import errno
import inspect
import io
import json
import os
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin

import click
import numpy as np
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import nofluke as nf
from nofluke.cli import cli
from nofluke.cli.command import TOPICS, broken
from nofluke.cli.printing import wrapped
from nofluke.cli.values import spread
from nofluke.errors import InputError
from nofluke.studies.sources import read_source
from nofluke.text.tables import Table

N = 400
COMMANDS = dict(cli.commands)


@pytest.fixture(scope="module")
def rows():
    """Days, labels and two scores of a series in which a detector has skill."""
    rng = np.random.default_rng(3)
    truth = (rng.random(N) < 0.08).astype(int)
    days = np.datetime64("2010-01-01") + np.arange(N)
    return days, truth, (3 * truth + rng.normal(size=N)).round(3), rng.normal(size=N).round(3)


@pytest.fixture
def files(tmp_path, monkeypatch, rows):
    """The files that the examples of all helps name, small ones."""
    monkeypatch.chdir(tmp_path)
    days, truth, z, other = rows
    alarms = (z > np.quantile(z, 0.9)).astype(int)

    def write(name, head, *columns):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
        path.write_text("\n".join([head, *lines]) + "\n")

    write("data.csv", "day,label,z,alarm", days, truth, z, alarms)
    write("detectors.csv", "label,z,tweets,alarm", truth, z, other, alarms)
    write("events.csv", "day", days[truth == 1])
    write("quakes.csv", "day", days[truth == 1])
    write("tweets.csv", "day", days[alarms == 1])
    nf.evaluate(truth, predictions=alarms, null="permutation").to_json(tmp_path / "result.json")
    write("outages.csv", "start,end", ["2010-03-01"], ["2010-03-04"])
    write("ranges.csv", "start,end", [100, 700], [140, 760])
    starts = np.datetime64("2026-01-02T10:00") + np.arange(12) * np.timedelta64(7, "D")
    write("incidents.csv", "start,end", starts, starts + 30)
    write("alerts.csv", "rule,start,end", ["cpu", "disk"] * 6, starts + [5, 90] * 6, starts + [20, 95] * 6)
    names = np.repeat(["a", "b"], N // 2)
    write("sensors.csv", "name,label,det_z,det_other", names, truth, z, other)
    twice = np.tile(np.arange(N), 2)
    detectors = np.repeat(["z", "other"], N)
    write(
        "long.csv",
        "name,label,detector,score",
        names[twice],
        truth[twice],
        detectors,
        np.concatenate([z, other]),
    )
    for half, name in ((slice(None, N // 2), "a"), (slice(N // 2, None), "b")):
        write(f"sensors/{name}.csv", "label,lof,iforest", truth[half], z[half], other[half])
    lists = [f"{i:03d}_{'abcdefgh'[i % 8]}_x" for i in range(16)], [*"abcdefgh"] * 2, range(100, 116)
    found = np.arange(16) % 5 / 8, np.arange(16) % 3 / 6
    write("table.csv", "file,dataset,lof,iforest,cnn", *lists[:2], *found, found[0] ** 2)
    write("uni.csv", "file,ts_len,lof,iforest,cnn", *lists[::2], *found, found[0] ** 2)
    write("values.csv", "file,detector,VUS-PR", lists[0] * 2, ["lof"] * 16 + ["cnn"] * 16, np.concatenate(found))
    for name, values in zip(("lof", "cnn"), found, strict=True):
        write(f"results/{name}.csv", "file,VUS-PR", lists[0], values)
    times = [f"{day} 00:00:00" for day in days]
    write("NAB/results/good/real/good_x.csv", "timestamp,anomaly_score", times, z)
    windows = {"real/x.csv": [[str(day), str(day + 1)] for day in days[truth == 1][::8]]}
    write("scores/good/x.csv", "score", z)
    (tmp_path / "labels").mkdir(exist_ok=True)
    write("labels/x.csv", "label", truth)
    (tmp_path / "NAB/labels").mkdir()
    (tmp_path / "NAB/labels/combined_windows.json").write_text(json.dumps(windows))
    return tmp_path


@pytest.fixture
def run(files, run):
    """The command line, beside these files."""
    return run


# help


def help_of(*words):
    done = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_each_option_in_one_topic_and_fits_80_columns(name):
    """With two to four examples at the end; what has no topic would stand under Options."""
    told = help_of(name)
    told_options, _, examples = told.partition("\nExamples:\n")
    options = told_options[re.search(r"^\w[\w ]+:$", told_options, re.MULTILINE).start() :]
    sections = re.findall(r"^(\w[\w ]+):$", options, re.MULTILINE)
    assert set(sections) <= set(TOPICS)
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            topics = [topic for topic, names in TOPICS.items() for one in names.split() if f"--{one}" in option.opts]
            assert len(topics) == 1, option.opts
            shown = rf"^  (?:-\w, )?(?:--[\w-]+, )*{option.opts[-1]}(?![\w-])"
            assert len(re.findall(shown, options, re.MULTILINE)) == 1, option.opts
    assert 2 <= examples.count("  nofluke ") <= 4
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if inspect.isfunction(getattr(nf, name, None)) and name != "watch"]
)
def test_options_have_the_words_and_defaults_of_the_verb(name):
    """Whatever a command leaves to the verb is left at what the verb has."""
    verb = getattr(nf, name)
    arguments, found = inspect.signature(verb).parameters, 0
    for option in COMMANDS[name].params:
        argument = arguments.get({"resamples": "n_resamples"}.get(option.name, option.name))
        if argument is None or not isinstance(option, click.Option):
            continue
        kind = argument.annotation
        kind = eval(kind, inspect.unwrap(verb).__globals__) if isinstance(kind, str) else kind
        words = [get_args(one) for one in (kind, *get_args(kind)) if get_origin(one) is Literal]
        if words:
            assert tuple(option.type.choices) == words[0], option.name
            found += 1
        if isinstance(option.default, int | float | str | bool):
            assert option.default == argument.default or option.default == str(argument.default), option.name
            found += 1
    assert found


def test_no_topic_names_an_option_that_no_command_has():
    """The table of topics holds what there is."""
    known = {name for command in COMMANDS.values() for option in command.params for name in option.opts}
    assert {f"--{name}" for names in TOPICS.values() for name in names.split()} - known == {"--help"}


def test_commands_stand_by_topic_with_whole_summaries_of_one_line():
    """None is cut, and none is missing."""
    told = help_of()
    assert "..." not in told.partition("Judge one detector")[2]
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(command.get_short_help_str(200))}$", told, re.MULTILINE), name
    assert [name for commands in cli.topics.values() for name in commands] == list(COMMANDS)


EXAMPLES = dict.fromkeys(e for c in (cli, *COMMANDS.values()) for e in c.examples if "reproduce" not in e)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_help_run(run, example, monkeypatch):
    """As they are printed, on small files; a gate may say no. Pages have tests of their own, and are not made."""
    monkeypatch.setattr("nofluke.show.report.write_report", lambda _result, path, **_: path)
    monkeypatch.setattr("nofluke.show.several.write_several", lambda _found, path, **_: path)
    words = shlex.split(broken(example, 80).replace("\\\n", ""))
    assert words == shlex.split(example)
    quick = ["--workers", "1", "--null", "circular-shift"] if words[1] == "study" else []
    if "--resamples" in {name for option in COMMANDS[words[1]].params for name in option.opts} - set(words):
        quick += ["--resamples", "99"]
    code, out, err = run(*words[1:], *quick)
    assert code in (0, 1, 3), err
    assert out or "-o" in words


@pytest.mark.parametrize("example", COMMANDS["reproduce"].examples)
def test_examples_of_reproduce_reach_the_library(run, example, monkeypatch):
    """Their work takes minutes and the network: it stands in for itself."""
    seen = []

    class Done:
        claims, directory = (), Path("out")

        def in_words(self):
            return "done"

        def table(self):
            return Table(columns=("",), rows=())

    for name in ("reproduce", "reproduce_nab", "reproduce_point_adjustment"):
        monkeypatch.setattr(f"nofluke.reproduce.{name}", lambda *_args, _name=name, **_: seen.append(_name) or Done())
    code, out, err = run(*shlex.split(example)[1:])
    assert (code, err) == (0, "")
    assert "Open out/index.html" in out
    assert len(seen) == 1


# completion


def completed(line):
    """What bash is offered at the end of a line, with the kind of each."""
    *words, last = line.split(" ")
    complete = BashComplete(cli, {}, "nofluke", "_NOFLUKE_COMPLETE")
    return {item.value: item.type for item in complete.get_completions(words[1:], last)}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("nofluke ev", {"evaluate"}),
        (
            "nofluke evaluate --trut",
            {"--truth", "--truth-file", "--truth-start", "--truth-end", "--truth-time-format", "--truth-where"},
        ),
        ("nofluke evaluate --method ", {"auto", "exact", "montecarlo", "saddlepoint", "binomial"}),
        ("nofluke evaluate data.csv --truth ", {"day", "label", "z", "alarm"}),
        ("nofluke evaluate data.csv --scores l", {"label"}),
        ("nofluke evaluate data.csv --truth-file outages.csv --truth-start ", {"start", "end"}),
        ("nofluke evaluate --predictions-file alerts.csv --by ", {"rule", "start", "end"}),
        ("nofluke compare --predictions-file alerts.csv --predictions s", {"start"}),
        ("nofluke coincidence quakes.csv detectors.csv --alarm-time t", {"tweets"}),
        ("nofluke study long.csv --detector d", {"detector"}),
        ("nofluke evaluate nowhere.csv --truth ", set()),
        ("nofluke evaluate --truth ", set()),
        ("nofluke significance --metric vus-", {"vus-pr", "vus-roc"}),
        ("nofluke evaluate --null circ", {"circular-shift"}),
    ],
)
@pytest.mark.usefixtures("files")
def test_shells_complete_options_choices_columns_and_names(line, offered):
    """Columns are those of the file that was typed before; without one there is nothing to offer, and no error."""
    assert set(completed(line)) == offered


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("nofluke sweep da", "file"),
        ("nofluke sweep data.csv --truth-file e", "file"),
        ("nofluke reproduce -o o", "dir"),
    ],
)
def test_files_are_left_to_the_shell(line, kind):
    """Which knows how to quote them."""
    assert completed(line) == {line.split()[-1]: kind}


def test_the_documented_line_gives_a_script(run, monkeypatch):
    """For each of the three shells."""
    for shell in ("bash", "zsh", "fish"):
        monkeypatch.setenv("_NOFLUKE_COMPLETE", f"{shell}_source")
        code, out, err = run()
        assert (code, err) == (0, "")
        assert "_NOFLUKE_COMPLETE" in out
        page = (Path(__file__).parent.parent / "docs/reference/cli.md").read_text(encoding="utf-8")
        assert f"_NOFLUKE_COMPLETE={shell}_source nofluke" in page


# lists and ranges

numbers = st.decimals(min_value=-1000, max_value=1000, places=3)


@given(start=numbers, stop=numbers, count=st.integers(2, 60), unit=st.sampled_from(["", "h", "min", "%"]))
def test_a_range_is_numpys_linspace_with_both_ends_exact(start, stop, count, unit):
    """In the unit that it was written in."""
    words = spread(f"{start}{unit}:{stop}{unit}:{count}", "--x")
    assert all(word.endswith(unit) for word in words)
    found = [float(word.removesuffix(unit) if unit else word) for word in words]
    assert found == pytest.approx(np.linspace(float(start), float(stop), count), abs=1e-12)
    assert (found[0], found[-1]) == (float(start), float(stop))


@given(st.lists(st.one_of(numbers.map(str), st.just("2h"), st.just("0:1:3")), min_size=1, max_size=8))
def test_a_list_is_its_parts_one_after_another(parts):
    """Whatever they are, with or without blanks around commas."""
    expected = tuple(word for part in parts for word in spread(part, "--x"))
    assert spread(",".join(parts), "--x") == expected
    assert spread(" , ".join(parts), "--x") == expected


@given(st.text(alphabet="0123456789.,:-+eh%min ", max_size=12))
def test_whatever_is_typed_is_words_or_one_line(text):
    """No other error, and no endless list."""
    said, words = "", ()
    try:
        words = spread(text, "--x")
    except InputError as error:
        said = str(error)
    assert said.startswith("--x ") if said else 1 <= len(words) <= 60_000
    assert "\n" not in said


def test_steps_of_hundredths_are_written_as_people_write_them():
    """0.51, not 0.5100000000000001."""
    assert spread(".5:.99:50", "--quantile")[:3] == ("0.5", "0.51", "0.52")
    assert spread("0:8:5", "--tolerance") == ("0", "2", "4", "6", "8")


def test_lists_and_ranges_are_what_repeated_options_are(run):
    """Of every option of sweep, and of tolerances and lags of lists of times."""
    base = ("sweep", "data.csv", "--truth", "label", "--scores", "z", "--null", "permutation", "--format", "json")
    for short, long in (
        (
            "--tolerance 0,1,4 --quantile .8:.9:3",
            "--tolerance 0 --tolerance 1 --tolerance 4 --quantile .8 --quantile .85 --quantile .9",
        ),
        ("--threshold 1,2.5", "--threshold 1 --threshold 2.5"),
        ("--budget 1%:3%:3", "--budget 1% --budget 2% --budget 3%"),
        ("--time day --tolerance 24h,2d", "--time day --tolerance 24h --tolerance 2d"),
    ):
        found = run(*base, *short.split())
        assert found == run(*base, *long.split())
        assert (found[0], found[2]) == (0, "")
    lists = ("coincidence", "quakes.csv", "tweets.csv", "--null", "permutation", "--format", "json", "--tolerance")
    assert run(*lists, "1d", "--lag", "-2d:2d:3") == run(*lists, "1d", "--lag", "-2d", "--lag", "0d", "--lag", "2d")


WRONG = {
    "sweep --quantile 0,9": "--quantile 0,9 is the list of 0 and 9, but 9 is not a share between 0 and 1: write 0.9 if",
    "sweep --budget 1,5%": "--budget 1,5% is the list of 1 and 5%, with and without %: write 1.5% if",
    "sweep --quantile .5,2": "--quantile .5,2 is the list of .5 and 2, but 2 is not a share between 0 and 1: write .5,.9",
    "sweep --tolerance 0,,2": "--tolerance 0,,2 has nothing on one side of a comma: write a list as 0,1,2",
    "sweep --tolerance 0:8": "--tolerance 0:8 is not a range: write START:STOP:COUNT, such as 0:8:5",
    "sweep --tolerance 0:8:1": "--tolerance 0:8:1: COUNT is how many values there are, .* from 2 to 10,000, got '1'",
    "sweep --tolerance 0:8:99999999999": "--tolerance 0:8:9+: COUNT is how many",
    "sweep --tolerance 30min:2h:4": "--tolerance 30min:2h:4 has ends in two units: write both in one",
    "sweep --tolerance 0:x2:4": "--tolerance 0:x2:4: 'x2' is not a number, with or without a unit: write 0:8:5",
    "sweep --tolerance 0:5:3": "--tolerance 0:5:3 has 2.5, which must be a whole number of steps, or a duration .*; "
    "on a clock of plain numbers pass --unit clock: write 0:5:6 for whole numbers[.]",
    "sweep --budget 1:10%:4": "--budget 1:10%:4 has ends in two units: write both in one, such as 1%:10%:4",
    "sweep --budget 1%:5%": "--budget 1%:5% is not a range: write START:STOP:COUNT, such as 1%:5%:5",
    "sweep --quantile .5,x": "--quantile x is not a number: write it as 0.05 or 5%",
    "evaluate --quantile .9 --alpha 0,05": "--alpha 0,05 is not a number: write 0.05 if you meant a decimal comma",
    "evaluate --quantile .9 --alpha five": "--alpha five is not a number: write it as 0.05 or 5%",
    "evaluate --quantile .9 --min-recall 150%": "--min-recall 1.5 must be between 0 and 1",
    "sweep --threshold 1,x": "--threshold x is not a number: write it as 2.5",
    "evaluate --quantile 0,9": "--quantile 0,9 is a list or a range, but evaluate takes one value: write 0.9 if you meant a "
    "decimal comma, or use nofluke sweep for several",
    "evaluate --quantile .9 --tolerance 0,1": "--tolerance 0,1 is a list or a range, but evaluate .* use nofluke sweep",
    "evaluate --quantile .8:.9:3": "--quantile .8:.9:3 is a list or a range, but evaluate takes one value: use nofluke sweep",
    "diagnose --budget 1%,2%": "--budget 1%,2% is a list or a range, but diagnose takes one value: run it once for each",
    "evaluate --quantile .9 --quantile .8": "--quantile was passed 2 times: pass it once, or use nofluke sweep for several",
    "evaluate --quantile .9 -o x.xlsx": "--output x.xlsx: evaluate cannot write .xlsx: use .txt, .json, .csv, "
    ".md, .tex or .xml, or pass --format",
    "diagnose -o x.xml": "--output x.xml: diagnose cannot write .xml: use .txt, .json, .csv, .md or .tex, or",
    "report --quantile .9 -o x.pdf": "--output x.pdf: report cannot write .pdf: use .html or .htm",
    "evaluate --quantile .9 --truth-time-format %Y": "--truth-time-format is for --truth-file: pass that, or --time-format",
}


@pytest.mark.parametrize(("line", "message"), WRONG.items(), ids=list(WRONG))
def test_what_is_wrong_names_option_value_and_remedy(run, files, monkeypatch, line, message):
    """In one line, before anything is computed or written."""
    monkeypatch.setattr(nf, "evaluate", lambda *_, **__: pytest.fail("evaluated"))
    before = sorted(files.rglob("*"))
    command, *options = line.split()
    code, out, err = run(command, "data.csv", "--truth", "label", "--scores", "z", *options)
    assert (code, out) == (2, "")
    assert re.match(f"nofluke: {message}", err), err
    assert sorted(files.rglob("*")) == before


def test_a_format_that_is_named_goes_into_any_file(run, files):
    """The ending matters only where nothing else says the format; a file without one is text."""
    base = ("evaluate", "data.csv", "--truth", "label", "--scores", "z", "--quantile", "0.9", "-o")
    assert run(*base, "x.dat", "--format", "csv")[0] == 0
    assert (files / "x.dat").read_text().startswith("measure,")
    assert run(*base, "x")[0] == run(*base, "X.TXT")[0] == 0
    assert (files / "x").read_text() == (files / "X.TXT").read_text()
    assert (files / "x").read_text().startswith("400 steps")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param(
            *("report data.csv --truth label --scores z --quantile .9 -o page.html", "--output page.html"),
            marks=pytest.mark.slow,
        ),
        ("evaluate data.csv --truth label --scores z --quantile .9 -o x.json", "--output x.json"),
        pytest.param(
            *("coincidence quakes.csv tweets.csv --tolerance 2d --report page.html -o x.txt", "--report page.html"),
            marks=pytest.mark.slow,
        ),
        ("watch state.json --predictions-file tweets.csv --truth-file quakes.csv --tolerance 2d", "state.json"),
    ],
)
def test_on_a_full_disk_nothing_is_left_and_the_option_is_named(run, files, monkeypatch, line, named):
    """In one line; what says who holds a lock is no reason to fail, nor to keep it."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nofluke.data.paths.os.fsync", full)
    monkeypatch.setattr("nofluke.data.paths.os.write", full)
    before = sorted(files.rglob("*"))
    code, _, err = run(*line.split())
    told = f"nofluke: {named} cannot be written (No space left on device): choose another place."
    assert (code, err.splitlines()[-1]) == (2, told)  # on a busy machine, lines of progress come before
    assert sorted(files.rglob("*")) == before


def test_a_full_folder_for_copies_is_named(run, monkeypatch):
    """A pipe is copied before it is read: what is full is not its file."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nofluke.data.tables._copy_stream", full)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"label,z\n0,1\n")))
    code, out, err = run("evaluate", "-", "--truth", "label", "--scores", "z", "--quantile", ".9")
    assert (code, out) == (2, "")
    assert re.match("nofluke: standard input cannot be copied to .*: name a folder with more room by .* TMPDIR", err)


# formats of times


def test_each_file_may_write_times_in_its_own_way(run, files, rows):
    """The truth may be in another format than FILE, and so may both lists, gaps and ranges; iso is ISO 8601."""
    days, truth, z, _ = rows
    european = [f"{day.astype(object):%d/%m/%Y}" for day in days]
    compact = [f"{day.astype(object):%Y%m%d}" for day in days]
    (files / "eu.csv").write_text("day,z\n" + "".join(f"{d},{s}\n" for d, s in zip(european, z, strict=True)))
    (files / "compact.csv").write_text("at\n" + "".join(f"{compact[i]}\n" for i in np.flatnonzero(truth)))
    rest = [
        "--scores",
        "z",
        "--time",
        "day",
        "--quantile",
        "0.9",
        "--tolerance",
        "1d",
        "--null",
        "permutation",
        "--format",
        "json",
    ]
    expected = run("evaluate", "data.csv", "--truth-file", "events.csv", *rest)
    assert expected[0] == 0
    one = ("evaluate", "eu.csv", "--time-format", "%d/%m/%Y", *rest)
    assert run(*one, "--truth-file", "compact.csv", "--truth-time-format", "%Y%m%d") == expected
    assert run(*one, "--truth-file", "events.csv", "--truth-time-format", "iso") == expected
    code, _, err = run("evaluate", "data.csv", "--truth-file", "compact.csv", *rest)
    assert code == 2
    assert "as in --truth-time-format %Y%m%d." in err
    (files / "eu-gaps.csv").write_text("start,end\n01/03/2010,04/03/2010\n")
    lists = ["--tolerance", "1d", "--span", "2010-01-01", "2011-02-04", "--null", "permutation", "--format", "json"]
    formats = ("--event-time-format", "%Y%m%d", "--gaps", "eu-gaps.csv", "--gaps-time-format", "%d/%m/%Y")
    same = run("coincidence", "quakes.csv", "tweets.csv", "--gaps", "outages.csv", *lists)
    assert same[0] == 0
    assert run("coincidence", "compact.csv", "tweets.csv", *formats, *lists) == same
    assert run("coincidence", "tweets.csv", "compact.csv", "--alarm-time-format", "%Y%m%d", *lists)[0] == 0
    code, _, err = run("coincidence", "quakes.csv", "tweets.csv", "--gaps-time-format", "%Y", *lists)
    assert (code, err) == (2, "nofluke: --gaps-time-format is for --gaps: pass that too, or leave it out.\n")


@pytest.mark.parametrize("series", [None, "name"])
def test_studies_read_times_in_a_format(tmp_path, rows, series):
    """Files that hold a series each, tables of many, and ranges apart, which may be in another format."""
    days, truth, z, _ = rows
    at = np.flatnonzero(truth)
    for name, style in (("iso", "%Y-%m-%d"), ("eu", "%d/%m/%Y")):
        told = [f"{day.astype(object):{style}}" for day in days]
        lines = "".join(f"s,{d},{y},{s}\n" for d, y, s in zip(told, truth, z, strict=True))
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.csv").write_text("name,day,y,z\n" + lines)
        ranges = "".join(f"s,{told[i]},{told[i]}\n" for i in at)
        (tmp_path / f"{name}-ranges.csv").write_text("series,start,end\n" + ranges)

    def cases(folder, **more):
        asked = {"series": series, "scores": "z", "times": "day"}
        (case,) = read_source(str(tmp_path / folder), **asked, **more).parts[0].read()
        truth = case.truth if isinstance(case.truth, np.ndarray) else case.truth.starts
        return [str(time)[:10] for time in case.times], [str(event)[:10] for event in truth]

    told = {name: str(tmp_path / f"{name}-ranges.csv") for name in ("iso", "eu")}
    assert cases("eu", truth="y", time_format="%d/%m/%Y") == cases("iso", truth="y")
    apart = cases("iso", ranges=told["iso"])
    assert apart == ([str(day) for day in days], [str(days[i]) for i in at])
    assert cases("eu", ranges=told["eu"], time_format="%d/%m/%Y") == apart
    assert cases("eu", ranges=told["iso"], time_format="%d/%m/%Y", ranges_time_format="iso") == apart
    assert cases("iso", ranges=told["eu"], ranges_time_format="%d/%m/%Y") == apart


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time_format": "%Y"}, r"time_format='%Y' needs times=, the column that it is for"),
        ({"time_format": 3, "times": "day"}, r"time_format=3 must be a format such as"),
        (
            {"time_format": "%Y", "times": "day"},
            r"time_format='%Y' is for files: make dates of the frame's column 'day'",
        ),
        ({"ranges_time_format": "%Y"}, r"ranges_time_format='%Y' is for a table of ranges in a file: leave it out"),
    ],
)
def test_formats_that_fit_nothing_are_refused(given, message):
    """Rather than passed over."""
    frame = {"name": ["a", "a"], "day": ["2010", "2011"], "y": [0, 1], "z": [0.1, 0.2]}
    with pytest.raises(InputError, match=message):
        nf.study(frame, series="name", truth="y", scores="z", budget=0.5, **given)


# words

CODE = (
    "cli/",
    "show/",
    "reproduce/",
    "plot/",
    "datasets/",
    "series/arguments.py",
)  # what writes Python, or is not told by the command line


@cache
def texts():
    """Every text of the library that may name an argument as Python does, with placeholders filled; no docstrings."""
    return [(file, text) for file, text in _texts() if re.search(r"\w=", text) and " " in text]


def _texts():
    package = Path(nf.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if not path.relative_to(package).as_posix().startswith(CODE):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = list(ast.walk(tree))
            skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
            skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
            for node in nodes:
                if isinstance(node, ast.JoinedStr):
                    parts = [p.value if isinstance(p, ast.Constant) else _filled(p) for p in node.values]
                    yield path.name, "".join(parts)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                    yield path.name, node.value


def _filled(value):
    return "'x'" if value.conversion == ord("r") or "shown" in ast.unparse(value) else "x"


def left_over(text, names):
    """Arguments that are still named as Python does; settings of nulls, after a colon, are no arguments."""
    return re.findall(rf"(?<![\w'\"/.:,-])({'|'.join(names)})=", text)


def test_no_text_names_an_argument_of_python():
    """Whoever names an argument in a sentence says it as a part, so that the command line has its own word for it."""
    options = {option.name for command in COMMANDS.values() for option in command.params}
    names = options | {"times", "rng", "n_resamples"}
    found = [(file, text) for file, text in texts() if left_over(text, names)]
    assert [(file, text) for file, text in found if not SPOKEN.search(text)] == []


SPOKEN = re.compile(r"=\(y == -[12]\)|Tolerance\(early=|method='montecarlo' still works|by start= and end=")
"""What Python says in one way and a shell in another, and an error that is a bug."""


def test_a_sweep_that_was_tested_as_a_whole_names_chance_for_its_cells(run):
    """With --familywise chance was computed, but not cell by cell."""
    _, out, _ = run(
        *("sweep", "data.csv", "--truth", "label", "--scores", "z", "--familywise", "--resamples", "9", "--seed", "1")
    )
    assert re.search(r"^The p-values of the \d+ single cells were not computed: pass --chance\.$", out, re.MULTILINE)
    assert "Chance was not computed" not in out


# lines


def test_prose_is_wrapped_and_wide_tables_continue_below(run):
    """In a pipe at 100 characters; an option stays with its value. Markdown has a line for each row."""
    _, out, _ = run("evaluate", "data.csv", "--truth", "label", "--scores", "z", "--quantile", "0.9")
    assert max(map(len, out.splitlines())) <= 100
    assert "Null: " in out
    _, told, _ = run(
        "evaluate", "data.csv", "--truth", "label", "--scores", "z", "--quantile", "0.9", "--format", "markdown"
    )
    assert max(map(len, told.splitlines())) > 100
    wide = run(
        "study",
        "sensors.csv",
        *["--series", "name", "--truth", "label", "--scores", "det_*", "--budget", "5%", "--workers", "1"],
    )[1]
    assert max(map(len, wide.splitlines())) <= 100
    assert sum(line.startswith("detector ") for line in wide.splitlines()) == 2


@given(st.text(alphabet="ab -=±'p0.", max_size=400))
def test_wrapping_loses_no_word(text):
    """Only white space changes, and only a word that is too long makes a line too long."""
    assert wrapped(text).split() == text.split()
    for line in wrapped(text).splitlines():
        assert len(line) <= 100 or not re.search(r"[^ =±] (?![=± ])", line.strip()) or "--" in line or " = " in line


def test_options_stay_with_their_values_and_p_with_its_number():
    """Where a line ends between them, both go into the next."""
    assert wrapped("x" * 90 + " use --null circular-shift").splitlines()[1] == "--null circular-shift"
    assert wrapped("x" * 96 + " p = 0.005").splitlines()[1] == "p = 0.005"
