"""Tests here are the examples of the pages; the scripts beside them need what only the building of them needs."""

collect_ignore_glob = ["*.py", "*/*.py"]
