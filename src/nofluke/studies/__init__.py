"""Many detectors on many series: cells, the engines that compute them, and what is said about them together."""
