"""``python -m nofluke`` is the command ``nofluke``."""

from nofluke.cli import main

main()
