"""How a measure reads in a matrix with tolerance on one side: whether as usual, and the reason."""

from __future__ import annotations

Reading = dict[str, tuple[bool, str]]
"""For tolerance in the truth and in the predictions: whether the measure can be read as usual, and why."""

_SMEARED_FN = "FN counts silent steps near an event, even those next to an alarm that found it: they are not misses."
_SMEARED_FP = (
    "FP counts eventless steps near a prediction, even those next to an event that was found: they are not false "
    "alarms."
)
_WIDE_TRUTH = "It divides by steps near an event (AAδ), which grow with the tolerance; they are not the events."
_WIDE_CALM = "It divides by steps far from every event (AnAδ), which shrink as the tolerance grows."
_WIDE_ALARM = (
    "It divides by steps near a prediction (PAδ), which grow with the tolerance; they are not the predictions."
)
_WIDE_SILENCE = "It divides by steps far from every prediction (PnAδ), which shrink as the tolerance grows."
_MIXED_TRUTH = (
    "It mixes entries that count predictions (TP, FP) with entries that count steps near events (FN). " + _SMEARED_FN
)
_MIXED_PRED = (
    "It mixes entries that count events (TP, FN) with entries that count steps near predictions (FP). " + _SMEARED_FP
)
MIXED: Reading = {"truth": (False, _MIXED_TRUTH), "predictions": (False, _MIXED_PRED)}
PER_CALM: Reading = {"truth": (False, _WIDE_CALM), "predictions": (False, _SMEARED_FP)}
PER_SILENCE: Reading = {"truth": (False, _SMEARED_FN), "predictions": (False, _WIDE_SILENCE)}
PREVALENCE: Reading = {
    "truth": (
        False,
        "It is the share of steps near an event: what a random prediction would score as precision.",
    ),
    "predictions": (True, "The share of steps that are events."),
}
BIAS: Reading = {
    "truth": (True, "The share of steps that are predicted."),
    "predictions": (
        False,
        "It is the share of steps near a prediction: what a random event would score as recall.",
    ),
}
LIFT: Reading = {
    "truth": (True, "Precision over what predictions on random steps would score (AAδ / T)."),
    "predictions": (True, "Recall over what events on random steps would score (PAδ / T)."),
}


def per_predicted(good: str) -> Reading:
    """As usual where predictions are counted, which tolerance in the truth leaves alone."""
    return {"truth": (True, good), "predictions": (False, _WIDE_ALARM)}


def per_actual(good: str) -> Reading:
    """As usual where events are counted, which tolerance in the predictions leaves alone."""
    return {"truth": (False, _WIDE_TRUTH), "predictions": (True, good)}
