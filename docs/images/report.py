"""Screenshots for the README and the documentation, beside this script: report and detectors, light and dark.

Needs jinja2, matplotlib, playwright, pillow and chromium: python docs/images/report.py
"""

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np

import nofluke as nf

SIZE = {"width": 1200, "height": 1480}
COLOURS = 200  # enough for a page with one palette, and a third of the bytes


def main() -> None:
    """Make the reports of simulated data, and look at them."""
    from playwright.sync_api import sync_playwright

    quakes = nf.datasets.simulate_quakes(rng=0)
    energy = nf.detectors.energy_transient(quakes.counts)
    how = {"quantile": 0.9, "tolerance": 2, "times": quakes.days}
    title = "Simulated tweets about earthquakes"
    detectors = {"energy": energy, "counts": quakes.counts, "noise": np.random.default_rng(0).random(len(energy))}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        one = nf.evaluate(quakes.truth, energy, **how).report(Path(folder) / "report.html", title=title)
        several = nf.report(quakes.truth, detectors, path=Path(folder) / "detectors.html", title=title, **how)
        # no sandbox: so that it also works as root in a container
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path, scheme in (
            ("report-light", one, "light"),
            ("report-dark", one, "dark"),
            ("detectors", several, "light"),
            ("detectors-dark", several, "dark"),
        ):
            page = browser.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", timeout=60_000)
            save(page.screenshot(), name)
        browser.close()


def save(picture: bytes, name: str) -> None:
    """A picture in few colours, beside this script."""
    from PIL import Image

    small = Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(Path(__file__).with_name(f"{name}.png"), optimize=True)


if __name__ == "__main__":
    main()
