"""What the pages of the documentation ask their readers to do, for the tests that do it."""

import re

_SCRIPT = re.compile(r"^```python\n(# \w+\.py\n.*?)^```$", re.MULTILINE | re.DOTALL)


def scripts_of(page: str) -> list[str]:
    """The code that a page asks to save as files, each named in its first line."""
    return _SCRIPT.findall(page)
