"""JUnit XML: what build servers show of a gate, and whether it says what the exit code says."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import nofluke as nf
from nofluke.cli import main
from nofluke.cli.junit import Case, Suite, junit
from nofluke.inference.gate import gate_by_verdicts

OUTCOMES = ("failure", "error", "skipped")
LABELS = [0, 1, 0, 0] * 30
GOOD = ("--truth", "label", "--predictions", "good")
BAD = ("--truth", "label", "--predictions", "bad")
NONE = ("--truth", "label", "--predictions", "none")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line beside a file of three detectors; returns the exit code, the XML and the errors."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{label},{label},{int(i % 4 == i // 4 % 4)},0,{label + i / 1000}" for i, label in enumerate(LABELS)]
    (tmp_path / "data.csv").write_text("\n".join(["label,good,bad,none,a<b&c", *rows]) + "\n")
    times = "\n".join(["t", *(str(i * i + i) for i in range(40))]) + "\n"
    (tmp_path / "events.csv").write_text(times)
    (tmp_path / "alarms.csv").write_text(times)

    def call(*arguments, ending=("--format", "junit")):
        with pytest.raises(SystemExit) as stopped:
            main([*arguments, *ending])
        printed = capsys.readouterr()
        return stopped.value.code, printed.out, printed.err

    return call


def outcomes(text):
    """What became of each test, by its class and name, read back from the XML."""
    found = {}
    for case in ElementTree.fromstring(text).iter("testcase"):
        children = [child.tag for child in case if child.tag in OUTCOMES]
        found[case.get("classname"), case.get("name")] = children[0] if children else "passed"
    return found


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        ((*GOOD, "--gate"), 0, {"better than chance": "passed"}),
        ((*BAD, "--gate"), 1, {"better than chance": "failure"}),
        ((*NONE, "--gate"), 3, {"better than chance": "error"}),
        ((*BAD, "--gate-on", "recall"), 1, {"recall is better than chance": "failure"}),
        (
            (*GOOD, "--min-recall", "1", "--min-f1", "0.9"),
            0,
            {"better than chance": "passed", "recall is at least 1": "passed", "F1 is at least 0.9": "passed"},
        ),
        ((*BAD, "--min-recall", "0.99"), 1, {"better than chance": "failure", "recall is at least 0.99": "failure"}),
        ((*NONE, "--min-recall", "0.1"), 3, {"better than chance": "error", "recall is at least 0.1": "skipped"}),
    ],
)
def test_tests_fail_where_the_gate_does(run, options, code, expected):
    """A failure is exit code 1, an error exit code 3, and what was not looked at is skipped."""
    found = run("evaluate", "data.csv", *options, "--null", "permutation")
    assert found[0] == code
    assert outcomes(found[1]) == {(f"data.{options[3]}", name): outcome for name, outcome in expected.items()}


def test_without_a_gate_the_exit_code_is_0(run):
    """A format changes no exit code: the file tells, and --gate stops the build."""
    code, text, err = run("evaluate", "data.csv", *BAD, "--null", "permutation")
    assert (code, err) == (0, "")
    assert "failure" in outcomes(text).values()


def test_a_failure_tells_the_reason_of_the_gate(run):
    """Message and text are the line on standard error."""
    _, text, err = run("evaluate", "data.csv", *BAD, "--null", "permutation", "--gate")
    (failure,) = ElementTree.fromstring(text).iter("failure")
    assert err == f"nofluke: gate: {failure.get('message')}\n"
    assert failure.text == failure.get("message")


def test_properties_are_the_keys_of_the_json(run):
    """Plain values only, under the names of the library, with full digits."""
    _, text, _ = run("evaluate", "data.csv", *GOOD, "--null", "permutation", "--test-f1")
    found = {one.get("name"): one.get("value") for one in ElementTree.fromstring(text).iter("property")}
    told = nf.evaluate(LABELS, predictions=LABELS, null="permutation").to_dict(f1="test")
    assert found["recall.pvalue"] == repr(told["recall"]["pvalue"])
    assert found["null.text"] == "permutation"
    assert found["null.holds"] == "true"
    assert found["f1_test.pvalue"] == repr(told["f1_test"]["pvalue"])
    assert "notes" not in found


def test_the_ending_xml_asks_for_it(run, tmp_path):
    """As other endings ask for their formats; the printed result is inside."""
    code, out, _ = run("evaluate", "data.csv", *GOOD, "--null", "permutation", ending=("-o", "gate.xml"))
    assert (code, out) == (0, "")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()[0]
    assert suite.findtext("system-out").startswith("120 steps, 30 events, 30 predictions")


@pytest.mark.parametrize(("code", "gate"), [(0, ()), (1, ("--gate",))])
def test_a_study_has_a_suite_for_each_detector(run, code, gate):
    """So that the build shows which one failed; with the gate, any failure is one of the command."""
    words = ("study", "data.csv", "--truth", "label", "--scores", "good", "--scores", "bad", "--threshold", "1")
    found = run(*words, "--null", "permutation", "--workers", "1", *gate)
    assert found[0] == code, found
    assert outcomes(found[1]) == {
        ("study.good", "better than chance"): "passed",
        ("study.bad", "better than chance"): "failure",
    }
    assert ("gate: bad: the verdict is no." in found[2]) is bool(gate)


def test_a_series_without_a_result_is_an_error(run, tmp_path):
    """The XML says of which detector cells are missing; the exit code is 4, unless a gate has found worse."""
    for name, score in (("one", "0.5"), ("two", "")):
        lines = [f"{label},{label},{score}" for label in LABELS]
        (tmp_path / f"{name}.csv").write_text("\n".join(["label,good,holes", *lines]) + "\n")
    words = ("study", "one.csv", "two.csv", "--truth", "label", "--scores", "good", "--scores", "holes")
    words = (*words, "--threshold", "1", "--null", "permutation", "--workers", "1")
    code, text, _ = run(*words)
    assert (code, run(*words, "--gate")[0]) == (4, 3)
    found = outcomes(text)
    assert found["study.good", "better than chance"] == "passed"
    assert found["study.holes", "every series has a result"] == "error"
    assert "1 of 2 series have no result." in text


def test_a_detector_that_failed_comes_before_one_that_cannot_be_told():
    """Too little data on one detector does not hide that another is no better than chance."""
    rows = {name: SimpleNamespace(verdict=name, reason="So.") for name in ("yes", "cannot tell", "no", "partly")}
    found = gate_by_verdicts(rows)
    assert (found.code, found.why) == (1, "no: the verdict is no. So.")
    assert gate_by_verdicts({name: rows[name] for name in ("yes", "cannot tell")}).code == 3


def test_significance_is_one_test_of_all_its_metrics(run):
    """Its verdict is yes where any metric is better than chance, corrected for all: so is the test."""
    words = ("significance", "data.csv", "--truth", "label", "--scores", "a<b&c", "--null", "score-permutation")
    code, text, _ = run(
        *words, "--metric", "auc-roc", "--metric", "best-f1", "--resamples", "99", "--seed", "1", "--gate"
    )
    assert code == 0
    assert outcomes(text) == {("data.a<b&c", "auc-roc or best-f1 is better than chance"): "passed"}


def test_two_lists_are_named_after_their_files(run):
    """Events first."""
    code, text, _ = run(
        "coincidence", "events.csv", "alarms.csv", "--tolerance", "1", "--gate", "--null", "permutation"
    )
    assert (code, outcomes(text)) == (0, {("events.alarms", "better than chance"): "passed"})


def test_what_has_no_verdict_is_refused(run):
    """Several windows, and sweeps, have none."""
    windows = ("--tolerance", "1", "--tolerance", "2")
    code, out, err = run("coincidence", "events.csv", "alarms.csv", *windows)
    assert (code, out) == (2, "")
    assert "--format junit is for one tolerance and one lag" in err
    code, out, err = run("sweep", "data.csv", "--truth", "label", "--scores", "good", ending=("-o", "x.xml"))
    assert (code, out) == (2, "")
    assert ".xml" in err or "needs a verdict" in err


def test_any_text_makes_valid_xml():
    """Markup is escaped, what XML cannot hold is replaced, and the rest comes back as it was, line breaks too."""
    odd = 'a<b>&"c" ≥ é 🙂'
    text = junit(
        odd, [Suite(name=odd, cases=(Case(name="\x00\x1b[31m\ud800\uffff", outcome="error", why=odd),), output="1\n2")]
    )
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert (root.get("name"), root[0].get("name"), root[0].findtext("system-out")) == (odd, odd, "1\n2")
    case = root[0].find("testcase")
    assert (case.get("name"), case.find("error").text) == ("??[31m??", odd)


def test_counts_are_those_of_the_tests():
    """Of every suite and of all, as build servers check them."""
    cases = [Case(name=str(i), outcome=outcome) for i, outcome in enumerate(("passed", *OUTCOMES, "failure"))]
    root = ElementTree.fromstring(
        junit("all", [Suite(name="x", cases=tuple(cases)), Suite(name="y", cases=(cases[1],))])
    )
    assert root.attrib == {"name": "all", "tests": "6", "failures": "3", "errors": "1"}
    counts = {name: root[0].get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "2", "errors": "1", "skipped": "1"}
