"""Judging a trial: tests, corrections, one threshold, many thresholds."""
