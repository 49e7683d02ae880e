"""Build the wheel and the sdist, look inside, and use both as a user would: ``.venv/bin/python .ci/package.py``.

Needs the extras test and release. The wheel is built from the sdist, and installed into a clean virtual environment
without a compiler: first with no extra, then with the command line.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 1_220_000  # source alone: 1.21 MB in some 320 files; data or tests by accident would be far more
FOLDERS = ("src", "tests", "docs", "benchmarks", ".ci", ".github")
ALONE = """
import nofluke as nf
truth, scores = [0, 0, 1, 0, 0, 0, 0, 0, 0] * 2, [1, 2, 9, 1, 2, 1, 2, 1, 2] * 2
assert nf.evaluate(truth, scores, threshold=5, null="permutation").verdict == "yes"
table = {"name": ["a"] * 9 + ["b"] * 9, "label": truth, "z": scores}
study = nf.study(table, series="name", truth="label", scores="z", threshold=5, null="permutation", workers=1)
assert study.leaderboard().rows[0].detector == "z"
"""
LEFT_OUT = ("__pycache__", "_build", ".hypothesis")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; its failure is that of the check."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def files(folder: Path) -> set[str]:
    """All files below a folder by their path from the root, without what is built."""
    found = (path.relative_to(ROOT) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not set(path.parts) & set(LEFT_OUT)}


def check(what: str, problems: set[str]) -> None:
    """Stop where there are any."""
    if problems:
        sys.exit(f"{what}: {', '.join(sorted(problems))}")


def check_wheel(wheel: Path) -> None:
    """Every file of the package, its metadata, and nothing else; small."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {name.removeprefix("src/") for name in files(ROOT / "src")}
    check("the wheel lacks", package - names)
    check("the wheel has what is not in src", names - package)
    check(
        "the wheel is too large",
        {f"{wheel.stat().st_size:,} bytes"} if wheel.stat().st_size >= MOST_BYTES else set(),
    )


def check_sdist(sdist: Path, there: Path) -> None:
    """Whoever has the sdist can run the tests, and builds the same package."""
    with tarfile.open(sdist) as packed:
        packed.extractall(there, filter="data")
    inside = there / sdist.name.removesuffix(".tar.gz")
    plain = {path.name for path in ROOT.glob("*") if path.suffix in (".md", ".cff", ".toml")} | {"LICENSE"}
    wanted = plain.union(*(files(ROOT / folder) for folder in FOLDERS))
    check("the sdist lacks", {name for name in wanted if not (inside / name).exists()})
    pytest = (sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider")
    run(*pytest, "--collect-only", cwd=inside, PYTHONPATH=str(inside / "src"))
    run(*pytest, "tests/test_release.py", cwd=inside, PYTHONPATH=str(inside / "src"))


def check_installed(wheel: Path, there: Path, version: str) -> None:
    """The wheel works in an empty environment, far from the source: the library alone, and the command line."""
    venv.create(there / "venv", with_pip=True)
    python, nofluke = (there / "venv" / "bin" / name for name in ("python", "nofluke"))
    install = (python, "-m", "pip", "install", "-q", "--only-binary=:all:")
    clean = {"PYTHONPATH": "", "PYTHONSAFEPATH": "1"}
    run(*install, wheel, cwd=there)
    run(python, "-c", ALONE, cwd=there, **clean)
    refused = subprocess.run([nofluke], env={**os.environ, **clean}, capture_output=True, text=True, check=False)
    told = f"{refused.returncode} {refused.stderr.strip()}"
    wanted = "2 nofluke: the command line needs click, which is not installed: pip install 'nofluke[cli]'."
    check("without click, the command says", {told} - {wanted})
    run(*install, f"{wheel}[cli]", cwd=there)
    told = run(nofluke, "--version", cwd=there, **clean).split()[-1]
    check("nofluke --version is not that of the file's name", {told} - {version})
    said = run(nofluke, "demo", cwd=there, **clean)
    check("the demo finds no skill", set() if "Verdict: no fluke." in said else {said})


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        there = Path(name)
        run(sys.executable, "-m", "build", "--outdir", there, ROOT, cwd=there)
        (wheel,), (sdist,) = there.glob("*.whl"), there.glob("*.tar.gz")
        run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=there)
        check_wheel(wheel)
        check_sdist(sdist, there)
        check_installed(wheel, there, version=wheel.name.split("-")[1])
        print(f"{wheel.name} ({wheel.stat().st_size:,} bytes) and {sdist.name} are fit to be released.")


main()
