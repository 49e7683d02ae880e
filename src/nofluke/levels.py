"""Every level and constant of the rule that chooses a null, with its reason: what counts as seen, and what it takes.

docs/explanation/nulls.md has what the rule reaches with them, in the situations of ``benchmarks/situations.py``.

The section "Which null to trust" of docs/explanation/theory.md has the mathematics.
"""

# What is seen in events. Only the permutation needs evidence that it holds, so these levels are lenient: a null that
# keeps what is not there costs little power, one that tears apart what is there calls it skill.
CLUSTERED = 0.1  # clusters of events, against random steps
SPACED = 0.1  # events that keep a distance from each other
CLUSTERED_WITHIN = 0.025  # clusters within a season or a slow change: what these leave is looked at twice
RUN_LENGTH = 2.0  # labelled steps come as runs if these are so long on average ...
RUN = 0.01  # ... and at this level: neighbours by accident are no range
FEW_EVENTS = 10  # fewer show no clusters even where there are some
LONG_RUNS = 5  # steps of a run of alarms, on average, from which on it counts as one: its length is no slow change

# Stretches in which a score does not change: outages, most often
FLAT = 10  # steps of equal scores, at least ...
TIED = 0.02  # ... where elsewhere at most this share of neighbours are equal
FLAT_SHARE = 0.01  # of all steps, from which on they matter
RHYTHM = 4  # stretches that come back at distances which vary by less than this part of them are no outages
AVOIDED = 0.05  # how often so many events would all lie elsewhere: events are then not reported in them

# Slow changes of both rates
SLOW_CHANGE = 0.2
SLOW_BESIDE_SEASON = 0.02  # there are few nulls that keep both
CYCLES_OF_CHANGE = (2, 4, 8)  # looked for in the first so many frequencies: periods of T down to T/8
WINDOWS = 40  # of time, in which events are permuted where rates change slowly; more where they change faster
FEWEST_WINDOWS = 5  # below, windows are hardly shorter than the series
WINDOW_OF_TOLERANCES = 5  # tolerances that a window is long, so that hits seldom cross its border
WITHIN_CHANGE = 5  # a shift is at most this part of the time in which rates change

# Seasons
SEASON = 0.05  # of a period that is known; twice as much for the search, which both sides must agree on
CALENDAR = 0.035  # of all rules of the calendar together; the search then has half of its level
LEAST_CYCLES = 4  # fewer leave no neighbouring frequencies to compare with
LEAST_STEPS = 3  # of a period
OTHER_SIDE = 0.2  # at which the other side must show a period that one shows
JOINTLY = 0.2  # share of the level for what only both sides together show
COMBS = 0.1  # share of the level for whole periods by many harmonics: for short ones, and for long ones
FEWEST_CYCLES = 8  # of a long whole period
MANY_CYCLES = 12  # a period that comes back less often must stand out from all longer ones, or it is a slow change
HARMONIC = 1e-3  # level at which a lower frequency is taken for the fundamental one
STRONG = 7.0  # -log p of both sides together, from which on a harmonic says something of the period: 0.7%
SAME_PERIOD = 0.03  # by how much a long period may miss a multiple of a short one and still be one ...
OFF_CYCLES = 0.25  # ... or by so many of its own cycles, which is as well as its frequency is known
MOST_TIMES = 7  # of one period, that another may be a part of: the days of a week
IN_PHASE = 12  # steps of each phase of a season, in each window of time: with fewer, events cannot move
FEWEST_PHASES = 12
FEWEST_OF_TWO = 8  # phases of each of two seasons that both are kept
MOST_ERAS, CYCLES_OF_ERA = 4, 8  # windows of time of a season, and cycles in each
MOST_ERAS_OF_CHANGE, CYCLES_OF_ERA_OF_CHANGE = 8, 5  # the same where rates change slowly
FEWEST_ERAS = 4  # windows of time that a season with a slow change needs

# Spectra, in which seasons and slow changes are looked for
BESIDE = 20  # frequencies on either side that say how strong the spectrum is there without a season
GAP = 2  # frequencies next to it that a season between two frequencies leaks into
BESIDE_KNOWN = 10  # the same of a period that is known: its whole cycles leak nothing, so nearer ones will do
BACKGROUND = 4  # times as many frequencies behind those of a slow change say what there is without one
HARMONICS = 8  # of a period that is searched for, by which the fundamental one is told from its parts
KNOWN_HARMONICS = 4  # of a period that is known: a day with two peaks has two
SHORT_PERIODS, SHORT_HARMONICS = (3, 31), 15  # whole periods, up to the days of a month, and all of their harmonics
LONG_HARMONICS = 48  # of a longer whole period: so short are the peaks in it that are looked for
MOST_OF_HARMONIC = 6.0  # -log p that each of these counts at most: one strong wave is no comb
FLAGS_OF_HARMONIC = 5  # for each harmonic: with fewer, two that share a phase count in all harmonics at once

# Whole periods exchanged. They cost little power, so that little evidence is needed to take them, and to take care
FEW_RANGES = 30  # with fewer, the season of one side suffices: that of so few events does not show
PERIODS_WITH_EVENTS = 3
ARRANGEMENTS_FOR_LEVEL = 2  # over α
MOVED = 0.5  # share of the events that must be able to move
SHARED_CYCLE, CYCLE = 0.3, 7  # level at which alarms of days differ by weekday
FORTNIGHTS = 0.05  # the same of every other week, beyond weekdays
WEEKS = 0.02  # the same of both sides without a clock, where a season may be a day ...
MOST_DAYS = 2_000  # ... of so many cycles at most: beyond, weeks show
FOLLOWING = 0.1  # level at which alarms of periods follow each other: then these change places within windows ...
PERIODS_OF_WINDOW, CYCLES_OF_WINDOW = 7, 4  # ... of about so many, or so many cycles of them

# Shifts: p cannot be smaller than one over their number, and perfect alarms shifted by little still find every event
SHIFTS_FOR_LEVEL = 2  # over α: whole periods to shift by; half as many suffice for "yes"
REACH_FOR_LEVEL = 2.5  # over α: steps that local shifts reach at least
REACH_OF_WINDOW = 0.625  # over α: windows that they should reach ...
LEAST_WINDOW = 5  # ... of so many steps at least
CLEAR_OF_RANGES = 3  # times the longest range, run of alarms and window: nearer shifts find what the data found
SHOWN_REACH = 100  # steps of local shifts where nothing calls for others

# Doubts about a null that was insisted on: said only where the data are plain
DOUBT = 0.01  # one in a hundred results without reason is little enough
ENOUGH_EVENTS = 8  # fewer make a cluster by accident
SEARCHED_UNASKED = 100_000  # steps up to which any period is searched for; auto and diagnose always search

# Metrics of whole series
ALONE = 2  # steps of a range, on average, from which on labels are no single steps
NEIGHBOURS = 0.1  # level at which a null of single steps has too few neighbours, or too short runs of them
PLAIN = 0.001  # level of what the detector alone shows
UNSEEN = 20  # times the longest range: in a shorter series slow changes cannot be told from ranges
TRIES, FEWEST_TRIES = 99, 9  # draws of a null that show whether ranges would be single steps under it
FEWEST_SHARE, MOST_SHARE, HALF = 0.01, 0.1, 0.5  # of the steps, whose highest scores are looked at as alarms
LEANING = 1.3  # standard deviations by which labels and detector both lean to one side of their groups

# Events with times of their own, against time stamps that are dense at some times
FEWEST_BESIDE_STAMPS = 5  # events, before which nothing is said
FAVOURED = 1.64  # standard deviations by which events favour dense times: one in twenty without reason

# Hits of a whole study at other shifts
NEAR_WINDOWS = 10  # on either side, that count as near
FEWEST_SHIFTS = 20  # independent ones, below which nothing is said
UNLIKE = 1.28  # standard deviations from which on they are a doubt: one in ten without reason
