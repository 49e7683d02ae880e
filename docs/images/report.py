"""Screenshots of a report for the README and the documentation: report-light.png and report-dark.png, beside this script.

Needs plotly, playwright, pillow and chromium: python docs/images/report.py
"""

import io
import shutil
import tempfile
from pathlib import Path

import nofluke as nf

SIZE = {"width": 1200, "height": 1480}
COLOURS = 96  # enough for a page with one palette, and a third of the bytes


def main() -> None:
    """Make the report of simulated data, and look at it twice."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    quakes = nf.datasets.simulate_quakes(rng=0)
    scores = nf.detectors.energy_transient(quakes.counts)
    result = nf.evaluate(quakes.truth, scores, quantile=0.9, tolerance=2, times=quakes.days)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = result.report(Path(folder) / "report.html", title="Simulated tweets about earthquakes")
        # no sandbox: so that it also works as root in a container
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
            small.save(Path(__file__).with_name(f"report-{scheme}.png"), optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
