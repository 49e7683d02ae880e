"""What pages hold, for the tests that read them: code that readers should save, packed numbers; and a browser."""

import base64
import contextlib
import json
import re
import shutil
import zlib

import numpy as np

from nofluke.show.report.timeline import TYPES

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_SCRIPT = re.compile(r"^```python\n(# \w+\.py\n.*?)^```$", re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def visits(browser):
    """Opens pages; in the end nothing may have gone wrong in any of them, and nothing may have been asked for."""
    troubles, contexts = [], []

    def opened(path, width=1200, height=900, link="", **how):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **how))
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(f"dialog {dialog.message}"))
        page.on(
            "request", lambda asked: None if re.match("file:|data:|blob:", asked.url) else troubles.append(asked.url)
        )
        page.goto(path.as_uri() + link)
        if how.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]", timeout=60_000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def scripts_of(page: str) -> list[str]:
    """The code that a page asks to save as files, each named in its first line."""
    return _SCRIPT.findall(page)


def unpacked(made):
    """The column of numbers that `packed` or `packed_ascending` made, as the script of the page reads it."""
    dtype = np.dtype(TYPES[made["kind"]])
    planes = np.frombuffer(zlib.decompress(base64.b64decode(made["z"])), dtype=np.uint8).reshape(dtype.itemsize, -1)
    values = np.frombuffer(planes.T.tobytes(), dtype=dtype)
    return values if "from" not in made else np.cumsum(values, dtype=np.float64) + made["from"]


def data_of(page):
    """The numbers that a page carries, as its script reads them."""
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def payloads_in(page):
    """All numbers that a page carries: its own, and those of the pages inside it."""
    every = re.findall(r'<script type="text/plain"[^>]*>([^<]+)</script>', page)
    return [json.loads(zlib.decompress(base64.b64decode(packed))) for packed in every]
