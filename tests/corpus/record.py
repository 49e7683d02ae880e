"""Records what users see, compares a tree with the record, and lists differences by kind.

    python tests/corpus/record.py record NAME         answers of the tree that is imported, as NAME
    python tests/corpus/record.py compare [PREFIX]    this tree against the record and the changes since, by kind
    python tests/corpus/record.py accept ISSUE        take this tree's differences as the changes of an issue
    python tests/corpus/record.py list ISSUE          what the list of an issue does not explain yet

The record of commit 648f3cc is never overwritten. What an issue changes stands beside it: ``since/ISSUE.*.json.xz``
have the new values, ``since/ISSUE.json`` says of every kind of difference how many there are and why: a list of
``{"kind", "number", "reason"}``, where the kind is as `compare` prints it, after the name of its problem if one likes,
and a star stands for anything. A test fails if a tree differs from both, or if a change is not listed with its number
and reason. PYTHONPATH chooses the tree.
"""

import difflib
import fnmatch
import functools
import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

FIRST = "648f3cc"
PARTS = ("numbers", "words")
CLOSE = 1e-9
Answers = dict[str, dict[str, dict[str, Any]]]
"""By problem and part, values by their path."""


def problems() -> list[dict[str, Any]]:
    """All problems, in their order."""
    with lzma.open(HERE / "problems.jsonl.xz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def some(n: int) -> list[dict[str, Any]]:
    """As many problems, evenly from the whole list."""
    every = problems()
    return [every[at * len(every) // n] for at in range(n)]


# ---- records


def read(name: str) -> Answers:
    """A record, or the values of an issue."""
    found: Answers = defaultdict(dict)
    for part in PARTS:
        path = HERE / f"{name}.{part}.json.xz"
        if path.exists():
            with lzma.open(path, "rt", encoding="utf-8") as file:
                for problem, values in json.load(file).items():
                    found[problem][part] = values
    return found


def write(name: str, answers: Answers) -> None:
    """The same, written whole."""
    for part in PARTS:
        values = {problem: both[part] for problem, both in answers.items() if both.get(part)}
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        (HERE / f"{name}.{part}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def issues() -> list[str]:
    """The issues that changed something, in their order."""
    return sorted((path.stem for path in (HERE / "since").glob("*.json")), key=int)


@functools.cache
def expected(until: str | None = None) -> Answers:
    """The record, with what every issue changed since; up to an issue, without it."""
    answers = read(FIRST)
    for issue in issues():
        if issue == until:
            break
        for problem, both in read(f"since/{issue}").items():
            for part, values in both.items():
                known = answers.setdefault(problem, {}).setdefault(part, {})
                known.update(values)
                for path in [path for path, value in values.items() if value == GONE]:
                    del known[path]
    return answers


GONE = "<gone>"  # a path that an issue took away


def answers_of(asked: Iterable[dict[str, Any]], workers: int = 2) -> Answers:
    """What this tree answers."""
    asked = list(asked)
    chunks = [asked[at : at + 20] for at in range(0, len(asked), 20)]
    found: Answers = {}
    with ProcessPoolExecutor(workers) as pool:
        for at, chunk in enumerate(pool.map(answers_here, chunks)):
            found |= chunk
            if sys.stderr.isatty():
                print(f"\r{min((at + 1) * 20, len(asked)):,} of {len(asked):,}", end="", file=sys.stderr)
    return found


def answers_here(asked: Iterable[dict[str, Any]]) -> Answers:
    """The same in this process."""
    from corpus.calls import answer, unsaved

    found = {}
    with unsaved():
        for problem in asked:
            try:
                found[problem["id"]] = answer(problem)
            except Exception as error:
                raise RuntimeError(
                    f"{problem['id']}: {type(error).__name__}: {error}\n{json.dumps(problem)}"
                ) from error
    return found


# ---- differences


@dataclass(frozen=True)
class Difference:
    """One value that is not as it was."""

    problem: str
    part: str
    path: str
    kind: str
    old: Any
    new: Any


def differences(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], problem: str) -> Iterator[Difference]:
    """What differs between two answers to one problem."""
    drawn = any("simulated" in str(value) for value in old.get("numbers", {}).values())
    for part in PARTS:
        before, after = old.get(part, {}), new.get(part, {})
        for path in [*before, *(path for path in after if path not in before)]:
            a, b = before.get(path, GONE), after.get(path, GONE)
            if not same(a, b):
                yield Difference(problem, part, path, kind_of(part, path, a, b, drawn), a, b)


def same(a: Any, b: Any) -> bool:
    """Equal; numbers up to 1e-9 of their size, in texts those with ten digits and more."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= CLOSE * max(abs(a), abs(b), 1e-290) or abs(a - b) < 1e-13
    if isinstance(a, str) and isinstance(b, str) and a != b:
        parts, others = (NUMBER.split(text) for text in (a, b))
        if parts[::2] != others[::2]:
            return False
        return all(
            one == two or (len(one) > 9 and len(two) > 9 and same(float(one), float(two)))
            for one, two in zip(parts[1::2], others[1::2], strict=True)
        )
    return type(a) is type(b) and a == b


NUMBER = re.compile(r"(\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)")


def kind_of(part: str, path: str, old: Any, new: Any, drawn: bool) -> str:
    """The kind of a difference, so that equal ones can be counted: by the name of a number, or by the changed lines."""
    name = re.sub(r"\.?\b\d+\b", "", path).strip(".")
    if path == "refused" and GONE in (old, new):
        return "answer instead of an error" if new == GONE else "error instead of an answer"
    if old == GONE or new == GONE:
        return f"{part}: {'new' if old == GONE else 'gone'} {name}"
    if part == "numbers":
        if isinstance(old, str) or isinstance(new, str):
            return f"{name.rsplit('.', 1)[-1]}: {template(str(old))} -> {template(str(new))}"
        return f"{'drawn number' if drawn else 'number'}: {name.rsplit('.', 1)[-1]}"
    return f"words in {name.rsplit('.', 1)[-1]}: {changed_lines(str(old), str(new))}"


def template(text: str) -> str:
    """A text without its numbers."""
    return re.sub(r"[+-]?\d[\d,.]*(?:e[+-]?\d+)?%?", "#", text)[:160]


def changed_lines(old: str, new: str) -> str:
    """The first line or sentence that differs, before and after."""
    before, after = (re.split(r"(?<=[.;:]) |\n", text) for text in (old, new))
    for way, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if way != "equal":
            return f"{template(' '.join(before[a:b]))} -> {template(' '.join(after[c:d]))}"
    return "-> "


def listed(found: Iterable[Difference]) -> str:
    """Differences by kind: how many, and an example of each."""
    by_kind: dict[str, list[Difference]] = defaultdict(list)
    for one in found:
        by_kind[one.kind].append(one)
    lines = []
    for kind, ones in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        one = ones[0]
        lines.append(f"{len(ones):>6}  {kind}\n        e.g. {one.problem} {one.path}")
        if one.part == "numbers":
            lines.append(f"        {one.old!r} -> {one.new!r}")
    return "\n".join(lines) or "no differences"


# ---- what issues changed


def changes_of(issue: str) -> list[Difference]:
    """The differences that the values of an issue make."""
    before, after = expected(issue), read(f"since/{issue}")
    found = []
    for problem, both in after.items():
        old = before.get(problem, {})
        new = {
            part: {path: v for path, v in (old.get(part, {}) | both.get(part, {})).items() if v != GONE}
            for part in PARTS
        }
        found += differences(old, new, problem)
    return found


def unlisted(issue: str) -> tuple[list[Difference], list[str]]:
    """Changes of an issue that its list does not explain, and entries of the list whose number is wrong."""
    left, wrong = changes_of(issue), []
    for entry in json.loads((HERE / "since" / f"{issue}.json").read_text(encoding="utf-8")):
        pattern = entry["kind"].replace("[", "[[]").replace("?", "[?]")  # only stars mean something
        mine = [
            fnmatch.fnmatchcase(one.kind, pattern) or fnmatch.fnmatchcase(one.problem + " " + one.kind, pattern)
            for one in left
        ]
        left = [one for one, is_mine in zip(left, mine, strict=True) if not is_mine]
        if sum(mine) != entry["number"] or len(entry["reason"].split()) < 3:
            wrong.append(f"{entry['kind']}: {sum(mine)} of them, {entry['number']} listed")
    return left, wrong


def accept(issue: str) -> None:
    """Take what differs now as the changes of an issue, and say which of them its list does not explain yet."""
    before, now = expected(issue), answers_of(problems())
    values: Answers = {}
    for problem, new in now.items():
        for one in differences(before.get(problem, {}), new, problem):
            values.setdefault(problem, {}).setdefault(one.part, {})[one.path] = one.new
    (HERE / "since").mkdir(exist_ok=True)
    write(f"since/{issue}", values)
    reasons = HERE / "since" / f"{issue}.json"
    if not reasons.exists():
        reasons.write_text("[]\n", encoding="utf-8")
    show_list(issue)


def show_list(issue: str) -> None:
    """What the list of an issue leaves open."""
    left, wrong = unlisted(issue)
    print(listed(left))
    print("\n".join(["", "entries with another number:", *wrong]) if wrong else "")


def main(words: list[str]) -> None:
    """The script."""
    match words:
        case ["record", name]:
            if (HERE / f"{name}.numbers.json.xz").exists():
                raise SystemExit(f"{name} is there already, and records are never overwritten.")
            write(name, answers_of(problems()))
        case ["compare", *prefix]:
            asked = [one for one in problems() if one["id"].startswith(tuple(prefix) or "")]
            now, before = answers_of(asked), expected()
            found = [one for name, new in now.items() for one in differences(before.get(name, {}), new, name)]
            print(listed(found))
            print(f"\n{len(found):,} differences in {len({one.problem for one in found}):,} of {len(asked):,} problems")
        case ["accept", issue]:
            accept(issue)
        case ["list", issue]:
            show_list(issue)
        case ["count"]:
            cells = Counter("/".join(one["id"].split("/")[:-1]) for one in problems())
            print("\n".join(f"{number:>5}  {cell}" for cell, number in cells.items()))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
