"""The compiled loop of :mod:`nofluke.inference.sweep`; imported late, since numba takes a while to load."""

from __future__ import annotations

from nofluke.compiled import compiled


@compiled()
def hits_of_windows(placements, starts, stops, precision, recall):  # type: ignore[no-untyped-def]
    """Both hits of each placement in each window, added to arrays of shape (placements, windows).

    Rows of ``placements`` ascend, as do the first and the last steps of the alarms' windows: one walk along both is
    enough.
    """
    for row in range(placements.shape[0]):
        events = placements[row]
        for window in range(starts.shape[0]):
            at = 0
            for alarm in range(starts.shape[1]):
                while at < events.size and events[at] < starts[window, alarm]:
                    at += 1
                if at < events.size and events[at] < stops[window, alarm]:
                    precision[row, window] += 1
            alarm = 0
            for event in events:
                while alarm < stops.shape[1] and stops[window, alarm] <= event:
                    alarm += 1
                if alarm < starts.shape[1] and starts[window, alarm] <= event:
                    recall[row, window] += 1
