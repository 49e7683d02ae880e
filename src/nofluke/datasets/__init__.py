"""Labelled series to try things on: the paper's earthquakes, simulated ones, and the labels of public benchmarks.

Earthquakes come as `Quakes`: a count per day, and whether an earthquake happened that day. Benchmarks come as labels
only (`BenchmarkLabels`): that is enough to find out what chance reaches on them.
"""

from nofluke.datasets.benchmark_labels import BENCHMARKS, BenchmarkLabels, public_labels
from nofluke.datasets.quakes import Quakes, load_earthquakes, simulate_quakes

__all__ = ["BENCHMARKS", "BenchmarkLabels", "Quakes", "load_earthquakes", "public_labels", "simulate_quakes"]
