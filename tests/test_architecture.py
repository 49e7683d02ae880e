"""How the package is put together: who may import whom, what is loaded when, and what is public."""

import ast
import functools
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import nofluke

PACKAGE = Path(nofluke.__file__).parent

LINE = (
    # what everything may use
    "errors",
    "extras",
    "lazy",
    "arrays",
    "plain",
    "ratios",
    "dates",
    "progress",
    "compiled",
    "levels",
    # the rooms, in the order in which data flow; "" is the package itself, `import nofluke`
    "data",
    "series",
    "datasets",
    "detectors",
    "text",
    "laws",
    "measures",
    "metrics",
    "nulls",
    "inference",
    "studies",
    "adapters",
    "plot",
    "",
    "show",
    "reproduce",
    "cli",
    "__main__",
)
"""A module may import only from what stands before it here: at its top, inside functions, or for types.

A new module goes into the room it belongs to. Within a room modules may import as they like, but not in a circle. The
same line stands in CONTRIBUTING.md, with a sentence for each room.
"""

SHORTCUTS = {
    ("laws.law", "plot"),
    ("text.exports", "plot.panels"),
    ("inference.evaluate", "plot"),
    ("inference.sweep", "plot"),
    ("inference.molchan", "plot"),
    ("inference.coincidence", "plot"),
    ("inference.compare", "plot"),
    ("inference.significance", "plot"),
    ("inference.evaluate", "show.report"),
    ("inference.report", "show.several"),
    ("inference.series", "plot"),
    ("inference.watch", "plot"),
    ("inference.watch", "show.watch"),
    ("studies.leaderboard", "plot"),
    ("studies.rank", "plot"),
    ("studies.rank", "show.ranking"),
    ("laws.law", "laws.sums"),
    ("nulls.base", "nulls.placements"),
    ("studies.result", "show.leaderboard"),
}
"""Methods of results that hand over to a later module when they are called, such as `.plot()`."""

HEAVY = (
    "pandas",
    "polars",
    "pyarrow",
    "xarray",
    "duckdb",
    "matplotlib",
    "numba",
    "scipy",
    "scipy.stats",
    "rich",
    "sklearn",
    "pooch",
    "distributed",
    "dask",
)


def module_name(path):
    """src/nofluke/exact/__init__.py is "exact", src/nofluke/__init__.py is ""."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def place_of(name):
    """The module itself, or the package that it belongs to."""
    return name.partition(".")[0]


@functools.cache
def tree_of(path):
    """The parsed source of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported_by(path):
    """Modules of this package that a file imports anywhere, by their names in LINE."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} line {node.lineno}: write imports in full, from nofluke.x import y"
            source = node.module
            # `from a.b import kernels` imports a module, `from a.b.kernels import run` a name of one
            as_modules = {f"{source}.{alias.name}" for alias in node.names}
            known = {full for full in as_modules if full.removeprefix("nofluke.") in MODULES}
            found |= known | ({source} if len(known) < len(as_modules) else set())
    return {name.removeprefix("nofluke").removeprefix(".") for name in found if name.partition(".")[0] == "nofluke"}


def loaded_after(code, *arguments):
    """Names of the modules a fresh interpreter has loaded after running code."""
    end = "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + end, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_every_module_has_its_place_in_the_line():
    """A new module says where it belongs, and one that is gone leaves no trace."""
    assert sorted(set(map(place_of, MODULES)) - set(LINE)) == [], "give each new module its place in LINE"
    assert sorted(set(LINE) - set(MODULES)) == [], "take out of LINE what no longer exists"
    assert len(LINE) == len(set(LINE))


def test_modules_import_only_from_before_themselves():
    """load, align and validate, detect, count, null, infer, present: nothing imports what comes after it."""
    beyond = {}
    for name, path in MODULES.items():
        place = place_of(name)
        allowed = {*LINE[: LINE.index(place)], *(place_of(late) for early, late in SHORTCUTS if early == name)}
        inside = {other for other in imported_by(path) if place_of(other) == place and "." in name + other}
        beyond[name] = sorted({place_of(other) for other in imported_by(path) - inside} - allowed)
    assert {name: others for name, others in beyond.items() if others} == {}


def test_nothing_is_imported_in_a_circle():
    """Also within a package, where the line says nothing."""
    waiting = {
        name: imported_by(path) - {late for early, late in SHORTCUTS if early == name} for name, path in MODULES.items()
    }
    while free := [name for name, needs in waiting.items() if not needs & set(waiting)]:
        for name in free:
            del waiting[name]
    assert sorted(waiting) == []


def test_the_check_of_imports_sees_them_all(tmp_path):
    """Imports at the top, inside functions and for types; of modules and of names in them."""
    text = (
        "import json\nimport nofluke as nf\nimport nofluke.series.clock\nfrom nofluke import __version__, errors\n"
        "from nofluke.laws.exact import moments\n"
        "def f():\n    from nofluke.series.tolerance import Tolerance\n    from numpy import array\n"
    )
    (tmp_path / "some.py").write_text(text)
    assert imported_by(tmp_path / "some.py") == {"", "series.clock", "errors", "laws.exact.moments", "series.tolerance"}


def test_kernels_are_imported_late():
    """numba loads slowly: only kernels name it at the top, and nothing imports those there."""
    for name, path in MODULES.items():
        tree = tree_of(path)
        top = {
            full
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
            for full in (alias.name, f"{getattr(node, 'module', '')}.{alias.name}", getattr(node, "module", None) or "")
        }
        if not name.endswith("kernels"):
            assert not any(full.partition(".")[0] == "numba" for full in top), name
            assert not any(full.startswith("nofluke.") and full.endswith("kernels") for full in top), name
        assert not any(full.startswith("scipy.stats") for full in top), name


def test_files_are_written_in_one_place():
    """A writer of its own would leave half a file on a full disk: `paths.write_file` is for all."""
    for name, path in MODULES.items():
        calls = [n.func for n in ast.walk(tree_of(path)) if isinstance(n, ast.Call)]
        writers = {f.attr for f in calls if isinstance(f, ast.Attribute)} & {"write_text", "write_bytes"}
        assert name == "data.paths" or not writers, name


def test_importing_nofluke_loads_nothing_heavy():
    """No data frame library, no duckdb, no plots, no compiler: the user brings them or a function needs them."""
    assert loaded_after("import nofluke").isdisjoint(HEAVY)


def test_help_loads_nothing_heavy():
    """`nofluke --help` and the help of every command answer at once."""
    code = (
        "import contextlib, sys\nfrom nofluke.cli import main\n"
        "for words in ([], ['--help'], ['--version'], *([name, '--help'] for name in sys.argv[1:])):\n"
        "    with contextlib.suppress(SystemExit):\n        main(words)\n"
    )
    from nofluke.cli import cli

    assert loaded_after(code, *cli.commands).isdisjoint({*HEAVY, "narwhals"})


def test_evaluating_arrays_loads_no_data_frames():
    """NumPy in, numbers out: pandas and its like stay unloaded, though they are installed."""
    code = (
        "import numpy as np, nofluke as nf\n"
        "x = np.arange(50) % 7\n"
        "result = nf.evaluate(x == 3, x, quantile=0.8, tolerance=1)\n"
        "str(result), result.to_dict(), result.to_csv(), result.to_markdown()\n"
        "curve = nf.sweep([0, 1, 0, 1], [1, 2, 3, 4], tolerances=(0, 1))\n"
        "str(curve), curve.to_dict(), curve.to_csv()\n"
    )
    frames = {
        "pandas",
        "polars",
        "pyarrow",
        "xarray",
        "duckdb",
        "matplotlib",
        "scipy.stats",
        "rich",
        "sklearn",
        "narwhals",
    }
    assert loaded_after(code).isdisjoint(frames)


def test_the_command_line_reads_files_without_data_frames(tmp_path):
    """duckdb alone reads files, and a pipe needs no rich."""
    (tmp_path / "data.csv").write_text("y,z\n0,1\n1,2\n0,3\n")
    code = (
        "import contextlib, sys\nfrom nofluke.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(['evaluate', sys.argv[1], '--truth', 'y', '--scores', 'z', '--threshold', '2'])\n"
    )
    loaded = loaded_after(code, str(tmp_path / "data.csv"))
    assert "duckdb" in loaded
    assert loaded.isdisjoint({"pandas", "polars", "pyarrow", "xarray", "matplotlib", "rich"})


def test_a_small_problem_on_the_command_line_needs_no_compiler(tmp_path):
    """Loading numba takes longer than the law: NumPy handles few events where the process ends with the call."""
    rows = "\n".join(f"{int(i in (40, 400, 900))},{i % 97}" for i in range(1_000))
    (tmp_path / "data.csv").write_text(f"y,z\n{rows}\n")
    code = (
        "import contextlib, sys\nfrom nofluke.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(['evaluate', sys.argv[1], '--truth', 'y', '--scores', 'z', '--threshold', '90', '--tolerance', '3'])\n"
    )
    assert "numba" not in loaded_after(code, str(tmp_path / "data.csv"))


def test_what_is_public_is_there_and_nothing_else_shows():
    """``tests/api.json`` has the names themselves."""
    assert all(hasattr(nofluke, name) for name in nofluke.__all__)
    assert dir(nofluke) == sorted([*nofluke.__all__, "__version__"])


def test_importing_nofluke_loads_none_of_its_rooms():
    """A name is loaded when it is asked for, with what it needs: an evaluation needs no studies, plots or adapters."""
    own = {name for name in loaded_after("import nofluke") if name.startswith("nofluke.")}
    assert own == set()
    used = loaded_after("import nofluke\nnofluke.evaluate([0, 1, 0], [0, 1, 0], threshold=1).verdict")
    assert "nofluke.inference.evaluate" in used
    assert not {f"nofluke.{room}" for room in ("studies", "plot", "adapters", "datasets", "show")} & used


def test_type_checkers_see_what_a_program_gets():
    """What is imported for them alone is what names are loaded from."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nofluke")
        for alias in node.names
    }
    assert sorted(seen) == sorted(nofluke.__all__)
    for name, where in seen.items():
        module = where if inspect.ismodule(getattr(nofluke, name)) else where.rpartition(".")[0]
        home = importlib.import_module(module)
        assert getattr(nofluke, name) is (home if module == where else getattr(home, name)), name
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        nofluke.evaluat  # noqa: B018


def test_the_house_is_measured():
    """Its figures are printed at the end of a run, and nothing fails on them."""
    assert re.fullmatch(
        r"[\d,]+ lines in \d+ modules, \d+ .*; an evaluation passes \d+ functions in \d+ modules", house()
    )


def house():
    """Lines, modules, modules with a single importer, and the walk of a second evaluation with its verdict."""
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES.values())
    importers = Counter(name for path in MODULES.values() for name in imported_by(path))
    alone = sum(count == 1 for count in importers.values())
    quakes = nofluke.datasets.simulate_quakes(rng=0)
    scores = nofluke.detectors.energy_transient(quakes.counts)
    seen = set()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_qualname))

    for _ in range(2):  # what is worked out once, such as tables of constants, is no part of the walk
        seen.clear()
        sys.setprofile(look)
        try:
            _ = nofluke.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2).verdict
        finally:
            sys.setprofile(None)
    return (
        f"{lines:,} lines in {len(MODULES)} modules, {alone} with a single importer; an evaluation passes {len(seen)} "
        f"functions in {len({file for file, _ in seen})} modules"
    )


def test_contributing_draws_the_same_line():
    """Every room stands in CONTRIBUTING's drawing, in the order that is held here, with a sentence."""
    text = (PACKAGE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = text.split("```text\n")[1].split("```")[0]
    rooms = [line.split()[0] for line in drawing.splitlines() if line and not line.startswith(" ")]
    assert rooms == [name or "nofluke" for name in LINE[LINE.index("data") : -1]]


@pytest.mark.parametrize("name", sorted(nofluke.__all__))
def test_what_is_public_is_documented_with_an_example(name):
    """A newcomer can paste something; the doctests see to it that it works."""
    thing = getattr(nofluke, name)
    text = inspect.getdoc(thing) or ""
    assert text
    if not inspect.ismodule(thing):
        assert "Examples\n--------\n>>> " in text, f"nofluke.{name} has no Examples section"


def test_no_path_of_a_machine_and_no_loose_end_is_left_in_the_source():
    """What is written works anywhere, and is finished."""
    for path in MODULES.values():
        text = path.read_text(encoding="utf-8")
        for word in ("TODO", "FIXME", "XXX", "NotImplementedError", "/work/", "/root/", "/tmp/", "/home/"):
            assert word not in text, f"{path.name} has {word}"
