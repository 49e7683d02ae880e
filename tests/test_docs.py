"""The documentation says what the code does: checks tables, keys, options and printed sessions in docs/."""

import doctest
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import nofluke as nf
from nofluke.cli import cli, main
from nofluke.laws import precision
from nofluke.measures.confusion import MEASURES
from nofluke.metrics import _BUILT_IN
from nofluke.nulls.permutation import CELL_OPERATIONS
from nofluke.studies.store import cells_with
from pages import scripts_of

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = DOCS.parent / "README.md"
PROSE = [*PAGES, *sorted(DOCS.parent.glob("*.md"))]


def section(page: str, heading: str) -> str:
    """The text of a page from a heading to the next of the same or a higher level."""
    text = (DOCS / page).read_text(encoding="utf-8")
    match = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert match, f"{page} has no heading {heading!r}"
    rest = text[match.end() :]
    end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def table_rows(text: str) -> Iterator[list[str]]:
    """The cells of all rows of all Markdown tables, headings and rules left out."""
    below_rule = False
    for line in text.splitlines():
        if not line.startswith("|") or re.match(r"\| *---", line):
            below_rule = line.startswith("|")
        elif below_rule:
            yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def made_by(page: str, until: str) -> dict[str, Any]:
    """The names that a page's examples make, up to the first that begins so; files go to the working directory."""
    made: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples((DOCS / page).read_text(encoding="utf-8")):
        if example.source.startswith(until):
            return made
        exec(example.source, made)
    raise AssertionError(f"{page} has no example that begins with {until!r}")


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the sessions of the pages use, in the working directory."""
    monkeypatch.chdir(tmp_path)
    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    rows = zip(quakes.days, quakes.truth, scores, strict=True)
    lines = [f"{day},{int(event)},{score:.6f}" for day, event, score in rows]
    (tmp_path / "data.csv").write_text("\n".join(["day,label,z", *lines]) + "\n")
    columns = zip(quakes.truth, scores, quakes.counts, strict=True)
    both = [f"{int(event)},{score:.6f},{count}" for event, score, count in columns]
    (tmp_path / "detectors.csv").write_text("\n".join(["label,z,tweets", *both]) + "\n")
    sensors = dict(made_by("howto/studies.md", "study =")["table"])
    sensors["det_random"][1017] = np.nan  # of the sixth
    rows = zip(*sensors.values(), strict=True)
    (tmp_path / "sensors.csv").write_text(
        "\n".join([",".join(sensors), *(",".join(map(str, row)) for row in rows)]) + "\n"
    )
    (tmp_path / "events.txt").write_text("".join(f"{day}T12:00\n" for day in quakes.days[quakes.truth]))
    alarms = quakes.days[scores >= np.quantile(scores, 0.9)]
    for name, days in (("quakes.csv", quakes.days[quakes.truth]), ("tweets.csv", alarms)):
        (tmp_path / name).write_text("\n".join(["day", *map(str, days)]) + "\n")
    (tmp_path / "outages.csv").write_text("start,end\n2010-01-24,2010-02-02\n")
    for export in (DOCS / "howto" / "exports").iterdir():
        (tmp_path / export.name).write_bytes(export.read_bytes())
    for page in ("tutorial.md", "tutorial-alerts.md"):
        (script,) = scripts_of((DOCS / page).read_text(encoding="utf-8"))
        exec(script, {})  # latency.csv and incidents.csv, alerts.csv and pagerduty.csv
    return tmp_path


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and output of one call of the command line."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    printed = capsys.readouterr()
    return int(stopped.value.code or 0), printed.out + printed.err


def sessions() -> list[tuple[str, str]]:
    """All blocks of the kind ``console``, with the page they are on."""
    pattern = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [
        (str(page.relative_to(DOCS)), block)
        for page in PAGES
        for block in pattern.findall(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("page", "session"), sessions())
@pytest.mark.usefixtures("example_files")
def test_sessions_print_what_the_page_shows(page: str, session: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command of a session prints what stands below it, up to digits written as three dots."""
    code = 0
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more
        if command == "echo $?":
            printed = f"{code}\n"
        else:
            name, *arguments = shlex.split(command)
            assert name == "nofluke", f"{page}: {command}"
            code, printed = run(arguments, capsys)
        same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
        assert same, f"{page}: {command}\nshown:\n{expected}\nprinted:\n{printed}"


def pipelines() -> list[dict[str, Any]]:
    """The configurations on the page about gates."""
    text = (DOCS / "howto" / "ci-gate.md").read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


@pytest.mark.usefixtures("example_files")
def test_commands_of_pipelines_pass_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """Each configuration is valid YAML, and its commands work: on GitHub, on GitLab and before a commit."""
    github, gitlab, hooks = pipelines()
    (job,), (hook,) = github["jobs"].values(), hooks["repos"][0]["hooks"]
    commands = [step["run"] for step in job["steps"] if "run" in step] + gitlab["gate"]["script"]
    words = [shlex.split(command) for command in commands] + [[*hook["entry"].split(), *hook["args"]]]
    called = [command for command in words if command[0] == "nofluke"]
    assert len(called) == 4
    pinned = [word for command in words for word in command if "==" in word] + hook["additional_dependencies"]
    assert pinned == [f"nofluke[cli]=={nf.__version__}"] * 3
    for _, *arguments in called:
        kept = next((i for i, word in enumerate(arguments) if word in (">", ">>")), len(arguments))
        assert run(arguments[:kept], capsys)[0] == 0, arguments
    assert job["steps"][-1]["with"]["report_paths"] == "gate.xml"
    assert 'name="recall is at least 0.4"' in Path("gate.xml").read_text(encoding="utf-8")


def test_every_measure_is_listed_with_its_formula_and_reading() -> None:
    """The table of measures has exactly those of the code, in order, with their formulas, readings and reasons."""
    text = section("reference/measures.md", "Which measures can be read as usual")
    items = re.findall(r"^(\d+)\. (.+(?:\n    .+)*)$", text, re.MULTILINE)
    reasons = {number: " ".join(reason.split()) for number, reason in items}
    listed = {}
    for name, formula, truth, predictions in table_rows(text):
        reading = {}
        for side, cell in (("truth", truth), ("predictions", predictions)):
            answer, reason = re.fullmatch(r"(\*\*yes\*\*|no) \((\d+)\)", cell).groups()
            reading[side] = (answer != "no", reasons[reason])
        listed[name.strip("`")] = (formula, reading)
    assert list(listed.items()) == [(name, (m.formula, m.reading)) for name, m in MEASURES.items()]


def test_every_measure_is_listed_with_its_other_names_its_undefined_cases_and_its_chance() -> None:
    """The table of names has exactly those of the code, in order."""
    rows = table_rows(section("reference/measures.md", "Under every field's name"))
    told = [(name, ", ".join(f"`{other}`" for other in m.also), m.undefined, m.chance) for name, m in MEASURES.items()]
    assert [(name.strip("`"), *rest) for name, *rest in rows] == told


def flat_keys(value: Any, before: str = "") -> dict[str, Any]:
    """All keys of nested objects, joined by dots, with their values."""
    if not isinstance(value, dict) or before == "tolerance.":
        return {before.removesuffix("."): value}
    return {name: found for key, inner in value.items() for name, found in flat_keys(inner, f"{before}{key}.").items()}


def fits(value: Any, kind: str) -> bool:
    """Whether a value is of a kind as the page words it, such as ``number or null`` or ``list of integers``."""
    if kind.startswith("list of "):
        if value is None and kind.endswith(" or null"):
            return True
        inner = re.sub(r"s\b", "", kind.removeprefix("list of ").removesuffix(" or null"))
        return isinstance(value, list) and all(fits(item, inner) for item in value)
    kinds: dict[str, Any] = {
        "integer": int,
        "number": (int, float),
        "string": str,
        "null": type(None),
        "object": dict,
        "true": bool,
        "false": bool,
    }
    return any(isinstance(value, kinds[word]) for word in re.split(r", | or ", kind))


def documented(heading: str) -> dict[str, tuple[str, str]]:
    """Type and meaning by key."""
    return {
        key.strip("`"): (kind, meaning)
        for key, kind, meaning in table_rows(section("reference/json.md", heading))
        if "`" in key
    }


def only_for(keys: dict[str, tuple[str, str]], *conditions: str) -> set[str]:
    """Keys whose meaning begins with one of the conditions, alone or after another one."""
    return {key for key, (_, meaning) in keys.items() if any(c in meaning.split(":")[0] for c in conditions)}


@pytest.mark.parametrize(
    "options",
    [
        "--scores z --quantile 0.9 --tolerance 2",
        "--scores z --quantile 0.9 --tolerance 2 --method montecarlo --resamples 99 --seed 1",
        "--scores z --threshold 1e9 --time day --late 2d",
        "--predictions label --tolerance 1 --null permutation",
        "--scores z --quantile 0.9 --tolerance 2 --test-f1",
        "--scores z --quantile 0.9 --null segments --resamples 99 --seed 1 --test-f1",
    ],
)
@pytest.mark.usefixtures("example_files")
def test_keys_of_evaluate_are_documented(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of evaluate has exactly the documented keys, with values of the documented types."""
    code, printed = run(["evaluate", "data.csv", "--truth", "label", *options.split(), "--format", "json"], capsys)
    assert code == 0, printed
    keys = documented("Keys of evaluate")
    simulated = "--resamples" in options
    absent = set() if simulated else only_for(keys, "Monte Carlo only", "where it is simulated")
    absent |= set() if "--test-f1" in options else only_for(keys, "only with `--test-f1`")
    absent |= only_for(keys, "only with `--statistic`")
    found = flat_keys(json.loads(printed))
    assert set(found) == set(keys) - absent
    wrong = {key: value for key, value in found.items() if not fits(value, keys[key][0])}
    assert not wrong


@pytest.mark.parametrize(
    ("options", "absent"),
    [
        ("--quantile 0.9 --tolerance 0", ("Monte Carlo only", "only with `--familywise`", "only with `--budget`")),
        (
            "--quantile 0.9 --tolerance 2d --time day --method montecarlo --resamples 99 --seed 1 --familywise",
            ("only with `--budget`",),
        ),
        ("--tolerance 0 --tolerance 2", ("only with", "with chance")),
    ],
)
@pytest.mark.usefixtures("example_files")
def test_keys_of_sweep_are_documented(
    options: str, absent: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The JSON of sweep has exactly the documented keys, with values of the documented types."""
    arguments = ["sweep", "data.csv", "--truth", "label", "--scores", "z", *options.split(), "--format", "json"]
    code, printed = run(arguments, capsys)
    assert code == 0, printed
    keys = documented("Keys of sweep")
    found = flat_keys(json.loads(printed))
    assert set(found) == set(keys) - only_for(keys, *absent)
    wrong = {key: value for key, value in found.items() if not fits(value, keys[key][0])}
    assert not wrong


@pytest.mark.parametrize(
    "options",
    [
        "--metric auc-roc",
        "--metric auc-roc --null score-permutation --resamples 99 --stop-after 9",
        "--metric auc-roc --metric nab --budget 5% --alternative two-sided",
        "--metric nab --threshold 1e9",
    ],
)
@pytest.mark.usefixtures("example_files")
def test_keys_of_significance_are_documented(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of one metric, and of several, has exactly the documented keys, with values of the documented types."""
    words = ["significance", "data.csv", "--truth", "label", "--scores", "z", *options.split(), "--format", "json"]
    code, printed = run(words, capsys)
    assert code == 0, printed
    keys = documented("Keys of significance")
    each, several = only_for(keys, "each"), only_for(keys, "only for several")
    found = flat_keys(json.loads(printed))
    if "metrics" in found:
        assert set(found) == set(keys) - each | {"pvalue", "verdict", "reason", "method"}
        assert all(set(one) == each for one in found["metrics"])
    else:
        assert set(found) == set(keys) - several
    every = [found, *found.get("metrics", [])]
    assert not {key: value for one in every for key, value in one.items() if not fits(value, keys[key][0])}


@pytest.mark.parametrize("options", ["--quantile 0.9 --tolerance 2", "--threshold 1e9"])
@pytest.mark.usefixtures("example_files")
def test_keys_of_compare_are_documented(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the comparison, of each detector and of each difference; those of intervals are the ones of the library."""
    words = ["compare", "detectors.csv", "--truth", "label", "--scores", "z", "--scores", "tweets", *options.split()]
    code, printed = run([*words, "--format", "json"], capsys)
    assert code == 0, printed
    keys, found = documented("Keys of compare"), json.loads(printed)
    for before, many in (("detectors[].", found.pop("detectors")), ("differences[].", found.pop("differences"))):
        for one in many:
            found |= {f"{before}{key}": value for key, value in one.items()}
            assert not [key for key, value in one.items() if not fits(value, keys[f"{before}{key}"][0])]
    assert set(found) == set(keys)
    assert not {key: value for key, value in found.items() if not fits(value, keys[key][0])}


def test_options_of_compare_are_documented() -> None:
    """In the table, or as those of evaluate in the sentence below it."""
    text = section("reference/cli.md", "Compare")
    written = [re.match(r"`(--[a-z-]+)", cells[0])[1] for cells in table_rows(text) if cells[0].startswith("`--")]
    same = re.search(r"\n\n(`--truth`.*?) are those\s+of `evaluate`", text, re.DOTALL)[1]
    options = [o.opts[-1] if o.opts[-1].startswith("--") else o.opts[0] for o in cli.commands["compare"].params]
    assert sorted([*written, *re.findall(r"`(--[a-z-]+)`", same)]) == sorted(set(options) - {"file"})


@pytest.mark.parametrize("options", ["", "--classical --source from"])
def test_keys_of_rank_are_documented(options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the ranking, of each method, answer and pair."""
    rows = [f"s{i},{i // 2},{i / 20},{i % 3 / 5}" for i in range(8)]
    (tmp_path / "table.csv").write_text("\n".join(["series,from,x,y", *rows]) + "\n")
    words = ["rank", str(tmp_path / "table.csv"), "--series", "series", "--methods", "x", "--methods", "y"]
    code, printed = run([*words, *options.split(), "--format", "json"], capsys)
    assert code == 0, printed
    keys, found = documented("Keys of rank"), json.loads(printed)
    for name in ("methods", "answers"):
        for one in found.pop(name):
            for pair in one.pop("pairs", []):
                found |= {f"{name}[].pairs[].{key}": value for key, value in pair.items()}
            found |= {f"{name}[].{key}": value for key, value in one.items()}
    assert set(found) == set(keys) - (set() if options else only_for(keys, "only with"))
    nested = {"answers[].groups"}
    assert not {key: value for key, value in found.items() if key not in nested and not fits(value, keys[key][0])}


def test_options_of_rank_are_documented() -> None:
    """All of them in the table, with their choices."""
    rows = [cells[0] for cells in table_rows(section("reference/cli.md", "Rank")) if cells[0].startswith("`--")]
    written = {re.match(r"`(--[a-z-]+)", cell)[1]: cell for cell in rows}
    options = {o.opts[-1]: o for o in cli.commands["rank"].params if o.opts[-1].startswith("--")}
    assert sorted(written) == sorted(options)
    for name in written:
        choices = getattr(options[name].type, "choices", None)
        assert choices is None or "|".join(choices) in written[name], name


@pytest.mark.parametrize("scores", ["det_*", "det_peak"])
@pytest.mark.usefixtures("example_files")
def test_keys_of_study_are_documented(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the leaderboard, of each detector, pair and reason; those of measures stand for all three."""
    words = ["study", "sensors.csv", "--series", "name", "--truth", "label", "--scores", scores, "--budget", "3%"]
    words += ["--metric", "auc-roc", "--resamples", "99"]
    code, printed = run([*words, "--null", "permutation", "--workers", "1", "--format", "json"], capsys)
    assert code == (4 if scores == "det_*" else 0), printed
    keys, told, found = documented("Keys of study"), json.loads(printed), {}
    for one in told["detectors"]:
        found |= {
            f"detectors[].metrics[].{key}": value for metric in one.pop("metrics") for key, value in metric.items()
        }
    for name in ("missing", "detectors", "pairs"):
        many = told.pop(name) or []
        found |= {f"{name}[].{key}": value for one in many for key, value in flat_keys(one).items()}
    found = {
        re.sub(r"\.(f1|precision|recall|auc-roc)\.", ".MEASURE.", key): value for key, value in (told | found).items()
    }
    absent = {key for key in keys if key.startswith(("missing", "pairs"))} if scores == "det_peak" else set()
    assert set(found) == set(keys) - absent
    assert not {key: value for key, value in found.items() if not fits(value, keys[key][0])}


def test_options_of_study_are_documented() -> None:
    """In the table, with their choices, or as those of evaluate in the sentence below it."""
    text = section("reference/cli.md", "Study")
    written = {
        re.match(r"`(--[a-z-]+)", cells[0])[1]: cells[0] for cells in table_rows(text) if cells[0].startswith("`--")
    }
    same = re.findall(
        r"`(--[a-z-]+)`", re.search(r"\n\n(`--count-events`.*?) are those\s+of `evaluate`", text, re.DOTALL)[1]
    )
    options = {o.opts[-1]: o for o in cli.commands["study"].params if o.opts[-1].startswith("--")}
    assert sorted([*written, *same]) == sorted(options)
    for name in written:
        choices = getattr(options[name].type, "choices", None)
        assert choices is None or "|".join(choices) in written[name], name


def test_columns_of_a_study_are_documented() -> None:
    """Their names, in the order of the file; NAME stands for a metric."""
    listed = [
        name.strip("`") for names, _ in table_rows(section("howto/studies.md", "Columns")) for name in names.split(", ")
    ]
    assert listed == list(cells_with(["NAME"]))
    files = [name.strip("`") for name, _ in table_rows(section("howto/studies.md", "Files"))]
    assert files[:6] == ["study.json", "parts/", "results.parquet", "failed.jsonl", "timings.parquet", "pooled.json"]


@pytest.mark.usefixtures("example_files")
def test_keys_of_chance_are_documented(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of significance without what belongs to a value."""
    words = ["chance", "data.csv", "--truth", "label", "--metric", "auc-roc", "--resamples", "99", "--format", "json"]
    code, printed = run(words, capsys)
    assert code == 0, printed
    keys = documented("Keys of significance")
    last = section("reference/json.md", "Keys of significance").rstrip().rpartition("\n\n")[2]
    without = set(re.findall(r"`([a-z_]+)`", last))
    assert set(flat_keys(json.loads(printed))) == set(keys) - only_for(keys, "only for several") - without


@pytest.mark.parametrize("command", ["significance", "chance"])
def test_options_of_metrics_are_documented(command: str) -> None:
    """In the table, or as those of evaluate in the sentence below it."""
    text = section("reference/cli.md", "Metrics")
    written = {
        re.match(r"`(--[a-z0-9-]+)", cells[0])[1]: cells[0]
        for cells in table_rows(text)
        if cells[1] in (command, "both")
    }
    same, more = re.search(
        r"\n\n(`--truth`.*?)\s+are\s+those\s+of\s+`evaluate`,\s+and\s+for\s+`significance`\s+also\s+(.*?)\.\s",
        text,
        re.DOTALL,
    ).groups()
    named = re.findall(r"`(--[a-z-]+)`", same + (more if command == "significance" else ""))
    options = {o.opts[-1] if o.opts[-1].startswith("--") else o.opts[0]: o for o in cli.commands[command].params}
    options.pop("file")
    assert sorted([*written, *named]) == sorted(options)
    for name in written:
        choices = getattr(options[name].type, "choices", None)
        assert choices is None or "|".join(choices) in written[name], name


@pytest.mark.parametrize("command", ["evaluate", "sweep"])
def test_every_option_is_documented(command: str) -> None:
    """The tables of options have exactly the options of each command, with their choices."""
    written = {
        re.match(r"`(--[a-z0-9-]+)", cells[0])[1]: cells[0]
        for cells in table_rows(section("reference/cli.md", "Options"))
        if cells[0].startswith("`--") and cells[1] in (command, "both")
    }
    options = {o.opts[-1] if o.opts[-1].startswith("--") else o.opts[0]: o for o in cli.commands[command].params}
    options.pop("file")
    assert set(written) == set(options)
    for name, option in options.items():
        choices = getattr(option.type, "choices", None)
        assert choices is None or "|".join(choices) in written[name], name


def test_limits_of_the_methods_are_those_of_the_code() -> None:
    """What the page calls affordable is what "auto" goes by."""
    written = [
        float(value)
        for _, value in table_rows(section("explanation/theory.md", "Which method when").split("affordable")[-1])
    ]
    limits = [
        precision.PROGRAMME_OPERATIONS,
        CELL_OPERATIONS,
        precision.PROGRAMME_BYTES,
        precision.FEW_OPERATIONS,
        precision.FEW_PATIENCE,
        precision.FOURIER_SECONDS,
    ]
    assert written == limits


def test_every_null_model_is_listed_with_its_methods() -> None:
    """The table of null models has the models and methods of the code."""
    rows = table_rows(section("explanation/theory.md", "Other null models"))
    written = {name.strip("`"): tuple(re.findall(r"`([a-z]+)`", methods)) for name, _, _, methods in rows}
    models = [model for name, model in vars(nf.nulls).items() if name in nf.nulls.__all__ and hasattr(model, "methods")]
    others = (
        "custom",
        "random-scores",
        "score-permutation",
    )  # the last two are for metrics, which have a table of their own
    assert written == {m.name: m.methods for m in models if hasattr(m, "name") and m.name not in others}


def test_every_command_is_documented() -> None:
    """Each command of the command line is named on its page."""
    text = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    assert [name for name in cli.commands if f"`nofluke {name}" not in text] == []


def test_every_public_name_is_in_the_api_page() -> None:
    """Each public name of the package is in the table, and all but modules have an entry on the page it links to."""
    rows = list(table_rows((DOCS / "reference/api.md").read_text(encoding="utf-8")))
    named = {name: cells[0] for cells in rows for name in re.findall(r"`nofluke\.(\w+)`", " ".join(cells))}
    assert sorted(named) == sorted(nf.__all__)
    for name, cell in named.items():
        page = DOCS / "reference" / re.search(r"\]\((api/\w+\.md)\)", cell)[1]
        text = page.read_text(encoding="utf-8")
        assert f":: nofluke.{name}\n" in text or f"nofluke.{name}" in text.splitlines()[0], name


def test_every_metric_is_on_the_page_of_its_family() -> None:
    """The table of families has exactly the metrics of the code, each on the page its row links to and in the API."""
    listed = []
    for family, names in table_rows((DOCS / "reference/metrics.md").read_text(encoding="utf-8").partition("## ")[0]):
        page = DOCS / "reference" / re.search(r"\]\((metrics/\w+\.md)\)", family)[1]
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`([a-z0-9-]+)`", names):
            listed.append(name)
            assert f"`{name}` | `nf.metrics.{type(nf.metrics.get(name)).__name__}" in text, name
    assert listed == list(_BUILT_IN)
    api = (DOCS / "reference/api/metrics.md").read_text(encoding="utf-8")
    assert [name for name in nf.metrics.__all__ if f"nofluke.metrics.{name}\n" not in api] == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as Sphinx and web hosts make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    """Each link to a file of this repository names one that exists, and a heading that is in it."""
    for page in (*PAGES, README):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                name, _, anchor = target.partition("#")
                other = page.parent / name if name else page
                assert other.exists(), f"{page}: {target}"
                assert not anchor or anchor in anchors(other), f"{page}: {target}"


@pytest.mark.parametrize("part", ["howto", "explanation", "reference"])
def test_pages_have_one_name_and_one_order(part: str) -> None:
    """The first page of a part lists the others by their titles, in the order of the side bar."""
    text = (DOCS / part / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^- \[(.+)\]\(([\w-]+)\.md\)", text, re.MULTILINE)
    assert [name for _, name in listed] == [name for tree in trees for name in tree.split()]
    for title, name in listed:
        assert (DOCS / part / f"{name}.md").read_text(encoding="utf-8").startswith(f"# {title}\n"), name


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of fences and tables, with their numbers."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            yield number, line


def test_no_line_of_prose_is_longer_than_120_characters() -> None:
    """Outside of code and tables; what a command or an example prints may be longer."""
    assert [f"{page}: {number}" for page in PROSE for number, line in prose(page) if len(line) > 120] == []


def test_the_readme_is_short_and_has_its_two_commands_and_picture_first() -> None:
    """Fewer than 80 lines; a newcomer sees the demo, the tests and a picture before the first heading."""
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 80
    first = "\n".join(lines).split("\n## ")[0]
    assert "nofluke demo" in first
    assert "-m pytest" in first
    assert "](docs/images/" in first


def test_theory_and_code_point_at_each_other() -> None:
    """A section names the modules that compute it, and each of these names the section."""
    text = (DOCS / "explanation/theory.md").read_text(encoding="utf-8")
    named = {
        module: heading
        for heading, modules in re.findall(r"^#+ ([^\n]+)\n\nCode: ([^\n]+)\.$", text, re.MULTILINE)
        for module in re.findall(r"`([\w.]+)`", modules)
    }
    assert len(named) >= 15
    for module, heading in named.items():
        told = " ".join((importlib.import_module(module).__doc__ or "").split())
        assert f'The section "{heading}" of docs/explanation/theory.md' in told, module
