"""Data from outside: files and columns, and how files are written."""
