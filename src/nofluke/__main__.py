"""The command ``nofluke``, which is also ``python -m nofluke``."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; where click is missing, say what to type."""
    from nofluke.errors import InputError
    from nofluke.extras import needed

    try:
        needed("click", "the command line needs")
    except InputError as error:
        print(f"nofluke: {error}", file=sys.stderr)
        sys.exit(2)
    from nofluke.cli import main as run

    run()


if __name__ == "__main__":
    main()
