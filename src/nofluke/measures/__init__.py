"""What is measured: counts, confusion matrices, delays, statistics."""
