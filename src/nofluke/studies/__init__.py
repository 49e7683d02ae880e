"""Many detectors on many series: cells, the engines that compute them, and what is told of them together."""
