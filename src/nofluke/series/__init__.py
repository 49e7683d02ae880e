"""One labelled series: its clock, its tolerance, how arguments are read, and the trial that is judged."""
