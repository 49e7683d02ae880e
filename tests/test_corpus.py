"""What users see is as it was at commit 648f3cc, but for what issues changed and said so: see `corpus/record.py`."""

import json

import pytest

from corpus import record

SOME = record.some(100)
CHUNK = 20
CHUNKS = [SOME[at : at + CHUNK] for at in range(0, len(SOME), CHUNK)]
EVERY = [problem for problem in record.problems() if problem not in SOME]
MANY = 100


def check(asked):
    """No answer differs from the record and the changes since."""
    expected = record.expected()
    found = [
        difference
        for problem, new in record.answers_here(asked).items()
        for difference in record.differences(expected[problem], new, problem)
    ]
    assert not found, f"\n{record.listed(found)}"


@pytest.mark.parametrize("asked", CHUNKS, ids=lambda chunk: chunk[0]["id"])
def test_answers_are_those_of_the_record(asked):
    """Numbers, verdicts, choices of nulls, sentences, tables, JSON and terminal output of 100 problems."""
    check(asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [EVERY[at : at + MANY] for at in range(0, len(EVERY), MANY)], ids=lambda chunk: chunk[0]["id"]
)
def test_all_answers_are_those_of_the_record(asked):
    """The same of all others."""
    check(asked)


@pytest.mark.slow
@pytest.mark.parametrize("issue", record.issues())
def test_every_change_is_listed_with_its_number_and_reason(issue):
    """The changes of an issue are those that its list explains, no more and no fewer of each kind."""
    left, wrong = record.unlisted(issue)
    assert not left, f"\n{record.listed(left)}"
    assert not wrong, "\n".join(wrong)


def test_the_corpus_covers_verbs_nulls_and_kinds():
    """At least thirty problems of each verb, null and kind, and each is answered but where an error is asked for."""
    cells: dict[str, int] = {}
    for problem in record.problems():
        if problem["verb"] not in ("typed", "command") and "/error/" not in problem["id"]:
            cell = problem["id"].rsplit("/", 1)[0]
            cells[cell] = cells.get(cell, 0) + 1
    assert min(cells.values()) >= 30
    assert len(cells) > 90
    refused = {name for name, both in record.read(record.FIRST).items() if "refused" in both.get("numbers", {})}
    assert not {name for name in refused if "/error/" not in name}


def test_comparing_finds_what_differs():
    """A number beyond 1e-9, a word, a lost key and a new error are differences; the last digits of a number are not."""
    old = {"numbers": {"p": 0.25, "verdict": "yes"}, "words": {"print": "chance gives 71 ± 10; p = 0.123456789012"}}

    def kinds(part, **changed):
        new = json.loads(json.dumps(old))
        new[part] |= changed
        return [one.kind for one in record.differences(old, new, "x")]

    assert kinds("numbers", p=0.25 * (1 + 1e-11)) == []
    assert kinds("words", print="chance gives 71 ± 10; p = 0.123456789013") == []
    assert kinds("numbers", p=0.25 * (1 + 1e-8)) == ["number: p"]
    assert kinds("numbers", verdict="no") == ["verdict: yes -> no"]
    assert kinds("words", print="chance gives 72 ± 10; p = 0.123456789012") != []
    assert kinds("numbers", refused="InputError") == ["error instead of an answer"]
    assert [one.kind for one in record.differences(old, {"words": old["words"]}, "x")] == [
        "numbers: gone p",
        "numbers: gone verdict",
    ]
