"""One result of every public kind, on small data, and what flat dicts and LaTeX tables must look like."""

import functools
import re
from collections import Counter

import numpy as np
from sklearn.naive_bayes import GaussianNB

import nofluke as nf
from nofluke.inference.significance import ChanceLevels
from nofluke.metrics import Listing

NASTY = "<b>&\"'|_%$#{}~^\\[x] *a* `c` --null δ ≥ µ"
N = 120
DRAWN = np.random.default_rng(3)
TRUTH = np.isin(np.arange(N), DRAWN.choice(N, 14, replace=False)).astype(int)
GOOD = DRAWN.integers(0, 5, N) + 3 * TRUTH
POOR = DRAWN.integers(0, 31, N)
EVENTS, ALARMS = [5, 29, 41, 77, 90], [6, 30, 55, 78, 100]
RANKED = {"x": GOOD[:16] / 9, "y": POOR[:16] / 40, NASTY: POOR[20:36] / 50, "from": [i // 2 for i in range(16)]}


NAMES = (
    *("evaluation", "undefined", "coincidence", "sweep", "windows", "familywise", "comparison", "three", "diagnosis"),
    *("power", "sample size", "no sample size", "significance", "significances", "chance level", "chance levels"),
    *("study", "leaderboard", "pooled", "by group", "confusion", "listing", "cross-validation", "ranking"),
    *("needed", "needed to compare", "molchan", "watch"),
)


@functools.cache
def results():
    """Results by name. Made once: nothing that is asked of a result changes it."""
    judged = {"tolerance": 1, "null": "permutation"}
    found = nf.evaluate(TRUTH, GOOD, threshold=5, **judged)
    curve = nf.sweep(TRUTH, GOOD, thresholds=[2, 5], tolerances=(1, 0), null="permutation")
    study = nf.study(
        {"name": ["x"] * N + ["y"] * N, "label": [*TRUTH] * 2, "good": [*GOOD] * 2, "poor": [*POOR] * 2},
        **{"series": "name", "truth": "label", "scores": ["good", "poor"], "budget": "10%", "workers": 1},
        **{"metrics": ["auc-roc", "pa-f1"], "n_resamples": 99, **judged},
    )
    grouped = nf.study(
        {
            "name": np.repeat(["x", "y", "v", "w"], N),
            "from": np.repeat([NASTY, "b"], 2 * N),
            "label": [*TRUTH, *TRUTH[::-1]] * 2,
            "good": [*GOOD] * 4,
        },
        **{"series": "name", "group": "from", "truth": "label", "scores": "good", "budget": "10%", "workers": 1},
        **{"n_resamples": 99, **judged},
    )
    levels = [nf.chance(name, TRUTH, n_resamples=99, rng=1) for name in ("auc-roc", "best-f1")]
    significance = functools.partial(nf.significance, truth=TRUTH, scores=GOOD, null="circular-shift")
    windows = nf.sweep_tolerances(EVENTS, ALARMS, tolerances=[1, 2], lags=[0, 1], span=(0, 119))
    return {
        "evaluation": found,
        "undefined": nf.evaluate([0, 0], [0, 0], threshold=1),
        "coincidence": nf.coincidence(EVENTS, ALARMS, tolerance=2, span=(0, 119)),
        "sweep": curve,
        "windows": windows,
        "familywise": curve.familywise(n_resamples=99, rng=1),
        "comparison": nf.compare(TRUTH, {"good": GOOD, NASTY: POOR}, budget="10%", tolerance=1),
        "three": nf.compare(TRUTH, {"good": GOOD, "poor": POOR, "y": TRUTH}, budget="10%", n_resamples=99, rng=1),
        "diagnosis": nf.diagnose(TRUTH, GOOD, threshold=5),
        "power": nf.power(recall=0.6, coverage=0.2, n_events=10, n_steps=2_000),
        "sample size": nf.sample_size(recall=0.6, coverage=0.2),
        "no sample size": nf.sample_size(recall=0.1, coverage=0.2),
        "significance": significance("auc-roc"),
        "significances": significance(["auc-roc", "vus-pr:window=5"]),
        "chance level": levels[0],
        "chance levels": ChanceLevels(results=tuple(levels)),
        "study": study,
        "leaderboard": study.leaderboard(),
        "pooled": study.pooled()[0],
        "by group": grouped.pooled(by="group"),
        "confusion": found.tolerant_truth,
        "listing": Listing.of_all(),
        "cross-validation": nf.cross_val_evaluate(GaussianNB(), GOOD[:, None], TRUTH, cv=3, **judged),
        "ranking": nf.rank(RANKED, source="from"),
        "needed": found.needed(),
        "needed to compare": nf.compare(TRUTH, {"good": GOOD, NASTY: POOR}, budget="10%", tolerance=1).needed(),
        "molchan": curve.molchan(tolerance=1, n_resamples=99, rng=1),
        "watch": nf.Watch.replay(
            [*TRUTH] * 3, predictions={"good": [*(GOOD > 4)] * 3, NASTY: [*(POOR > 20)] * 3}, tolerance=1, block=60
        ).result,
    }


def check_latex(text):
    """Environments and braces are balanced, rows have as many cells as columns, nothing special is bare."""
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert comments[0] == r"% requires \usepackage{booktabs}"
    text = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert re.sub(r"\\begin\{table\}.*?\\end\{table\}", "", text, flags=re.DOTALL).count("\\begin") == 0
    assert text.count(r"\caption{") == text.count(r"\label{tab:") == text.count(r"\begin{table}")
    for columns, body in re.findall(
        r"\\begin\{tabular\}\{((?:[lr]|p\{0.3\\linewidth\})+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL
    ):
        columns = columns.replace(r"p{0.3\linewidth}", "p")
        lines = [line for line in body.splitlines() if not re.fullmatch(r"\\(top|mid|bottom)rule", line)]
        assert lines
        for line in lines:
            assert line.endswith(r" \\")
            assert not re.match(r"\s*[\[*]", line), line
            assert len(re.findall(r"(?<!\\)&", line[:-3])) == len(columns) - 1, line
    open_environments = []
    for which, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if which == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert open_environments == []
    bare = re.sub(r"\\\\|\\[#$%&_{}]", "", text)
    depth = 0
    for sign in re.findall(r"[{}]", bare):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    outside = re.sub(r"\$[^$\n]*\$", "", bare)
    assert not re.search(r"[#$%_^~|<>]|--", re.sub(r"\\(label|ref)\{[^}]*\}", "", outside)), outside
    assert set(re.findall(r"\\([A-Za-z]+)", outside)) <= {
        *("begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule"),
        *("smallskip", "footnotesize", "setlength", "tabcolsep", "linewidth"),
        *("textbackslash", "textasciitilde", "textasciicircum", "textbar", "textendash"),
    }


def scalars(value):
    """All values outside of plain lists, None left out, in any order; a band has two."""
    if isinstance(value, dict):
        pairs = [(inner if key == "band" and isinstance(inner, list) else [inner]) for key, inner in value.items()]
        return [one for inner in pairs for each in inner for one in scalars(each)]
    if isinstance(value, list):
        return [one for inner in value for one in scalars(inner)] if all(isinstance(v, dict) for v in value) else []
    return [] if value is None else [value]


def check_flat(flat, plain):
    """Every scalar is there once, under a key that loggers take."""
    assert Counter(map(repr, flat.values())) == Counter(map(repr, scalars(plain)))
    for key, value in flat.items():
        assert re.fullmatch(r"\w+(/\w+)*", key), key
        assert len(key) <= 250
        assert type(value) in (bool, int, float, str)
