"""What a release promises: one version, a readable changelog, Pythons that are tested."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

import nofluke

ROOT = Path(__file__).parent.parent
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that compare, without what marks a candidate."""
    return tuple(map(int, re.match(r"[\d.]+\d", version)[0].split(".")))


def releases() -> dict[str, str]:
    """What the changelog says of each version, newest first, by the rest of the heading."""
    parts = re.split(r"^## (.+)$", read("CHANGELOG.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_version_stands_in_one_place():
    """The package, the build and the documentation read it from `nofluke.__version__`; the citation leaves it out."""
    project = tomllib.loads(read("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/nofluke/__init__.py"
    assert "version = release = __version__" in read("docs/conf.py")
    assert "version" not in yaml.safe_load(read("CITATION.cff"))


def test_pages_that_name_the_version_name_this_one():
    """Nothing that a release would have to change is forgotten."""
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *ROOT.glob("docs/**/*.md")]
    found = {name for page in pages for name in re.findall(r"\b\d+\.\d+\.\d+rc\d+\b", page.read_text(encoding="utf-8"))}
    assert found <= {nofluke.__version__}


def test_the_changelog_keeps_its_form():
    """As Keep a Changelog has it: unreleased first, then versions with ISO dates, newest first, by kind of change."""
    unreleased, *released = releases()
    assert unreleased == "[Unreleased]"
    headings = [
        re.fullmatch(r"\[(\d+\.\d+\.\d+(?:rc\d+)?)\] - (\d{4}-\d\d-\d\d)", heading).groups() for heading in released
    ]
    versions, dates = zip(*headings, strict=True)
    assert versions[0] == nofluke.__version__
    assert [numbers(version) for version in versions] == sorted(map(numbers, versions), reverse=True)
    assert [date.fromisoformat(day) for day in dates] == sorted(map(date.fromisoformat, dates), reverse=True)
    for text in releases().values():
        kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


def test_entries_of_the_changelog_are_sentences():
    """Each ends with a full stop, in lines of at most 120 characters."""
    text = read("CHANGELOG.md")
    assert [line for line in text.splitlines() if len(line) > 120] == []
    for entry in re.findall(r"^- (.+?)(?=^- |^$|\Z)", text, re.MULTILINE | re.DOTALL):
        whole = " ".join(entry.split())
        assert re.search(r"[.)]$", whole), whole


def test_declared_pythons_are_those_that_are_tested():
    """Classifiers, the matrix of the workflow and the oldest Python agree."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    declared = [name.split(" :: ")[-1] for name in project["classifiers"] if re.search(r":: 3\.\d+$", name)]
    workflow = yaml.safe_load(read(".github/workflows/ci.yml"))
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["matrix"]["python"] == declared
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert project["requires-python"] == f">={declared[0]}"


@pytest.mark.parametrize("tool", ["build", "twine"])
def test_tools_of_a_release_are_an_extra(tool):
    """Who runs the tests need not install them."""
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert any(name.startswith(tool) for name in extras["release"])
    assert not any(name.startswith(tool) for name in extras["test"])
