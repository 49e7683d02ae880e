"""Size on disk and time of import in fresh virtual environments, beside pyod, aeon and sktime.

``python benchmarks/installed.py`` needs a network. Sizes leave out pip and setuptools; seconds are CPU time of a fresh
interpreter, the least of seven.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASKED = {
    "nofluke": (str(ROOT), ["import nofluke", "from nofluke import evaluate"]),
    "nofluke[cli]": (f"{ROOT}[cli]", ["import nofluke.cli"]),
    "nofluke[all]": (f"{ROOT}[all]", []),
    "pyod": ("pyod", ["import pyod", "from pyod.models.iforest import IForest"]),
    "aeon": ("aeon", ["import aeon", "from aeon.anomaly_detection.series.distance_based import KMeansAD"]),
    "sktime": ("sktime", ["import sktime", "from sktime.detection.lof import SubLOF"]),
}
TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")


def megabytes(packages: Path) -> float:
    """What the files below a folder take on the disk, without the tools that installed them."""
    files = (path for path in packages.rglob("*") if path.relative_to(packages).parts[0] not in TOOLS)
    return sum(path.lstat().st_blocks * 512 for path in files) / 2**20


def seconds(python: Path, code: str) -> float:
    """CPU time of a fresh interpreter that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], check=True, cwd=python.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


for name, (target, imports) in ASKED.items():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", target], check=True)
        (packages,) = Path(folder, "lib").glob("python*/site-packages")
        versions = sorted(path.name.removesuffix(".dist-info") for path in packages.glob("*.dist-info"))
        told = [f"{code}: {min(seconds(python, code) for _ in range(8)):.2f} s" for code in imports]
        (version,) = (one for one in versions if one.startswith(name.partition("[")[0] + "-"))
        others = [one for one in versions if one.partition("-")[0] not in TOOLS and one != version]
        print(f"{name} ({version}): {megabytes(packages):.0f} MB, {len(others)} other packages; {'; '.join(told)}")
