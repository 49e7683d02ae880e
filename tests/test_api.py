"""What programs rely on is what was written down."""

from api import differences


def test_names_signatures_keys_and_options_are_those_written_down():
    """Frozen with the release; until then, whoever changes something writes it down: ``python tests/api.py``."""
    found = differences()
    assert not found, f"\n{found}"
