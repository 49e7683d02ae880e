"""Help by topic: which section an option stands in, and examples at the end."""

from __future__ import annotations

import shlex

import click

TOPICS = {
    "Data": "series source group groups layout data truth truth-file truth-start truth-end ranges truth-as overlaps n-steps "
    "event-time alarm-time time time-format truth-time-format event-time-format alarm-time-format ranges-time-format "
    "span gaps in-gaps gaps-time-format duplicates tick mask missing warmup test-part",
    "Detector": "scores predictions detector method-column value methods better weigh higher-is threshold quantile budget",
    "Plan": "recall precision coverage share-alarms events power steps steps-per-event",
    "Tolerance and counting": "tolerance early late unit lag edges leads count-events count-alarms refractory "
    "zero-division",
    "Metrics": "metric rank-by statistic test-f1",
    "Pages": "simulated point-adjustment nab",
    "Chance": "null strata period method resamples permutations seed stop-after alternative ties chance familywise",
    "Verdict and gate": "speaks-for alpha level classical gate gate-on min-precision min-recall min-f1",
    "Computing": "workers dask restart",
    "Output": "rows format output diagram report title scripts help",
}
"""Options in the order in which the help of every command shows those that it has."""


def write_topics(options: list[click.Parameter], context: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of a command by topic; one that has no topic comes last, so that nothing is hidden."""
    named = [option for option in options if isinstance(option, click.Option)]
    left = {option: record for option in named if (record := option.get_help_record(context)) is not None}
    for topic, names in {**TOPICS, "Options": ""}.items():
        own = [option for name in names.split() for option in left if f"--{name}" in option.opts]
        own = own if names else list(left)
        if own:
            with formatter.section(topic):
                formatter.write_dl([left.pop(option) for option in own])


def write_examples(examples: tuple[str, ...], formatter: click.HelpFormatter) -> None:
    """Commands to copy; one that is too long goes on in the next line, as shells take it."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(broken(example, formatter.width, " " * formatter.current_indent) + "\n")


def broken(command: str, width: int, indent: str = "") -> str:
    """A command in lines that end in a backslash, broken between words.

    >>> print(broken("nofluke evaluate data.csv --truth label", 30))
    nofluke evaluate data.csv \\
        --truth label
    """
    lines = [indent]
    words = shlex.split(command)
    # an option stays with its first value
    groups: list[str] = []
    for i, word in enumerate(words):
        if i and words[i - 1].startswith("-") and not word.startswith("-"):
            groups[-1] += f" {shlex.quote(word)}"
        else:
            groups.append(shlex.quote(word))
    for group in groups:
        if lines[-1].strip() and len(lines[-1]) + len(group) + 3 > width:
            lines[-1] += " \\"
            lines.append(f"{indent}    {group}")
        else:
            lines[-1] += f" {group}" if lines[-1].strip() else group
    return "\n".join(lines)
