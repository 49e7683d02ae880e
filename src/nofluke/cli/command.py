"""Commands as this program has them: help by topic, errors in options, notes in options."""

from __future__ import annotations

from typing import Any

import click

from nofluke.cli.endings import check_ending
from nofluke.cli.topics import write_examples, write_topics
from nofluke.cli.wording import in_options
from nofluke.errors import InputError

_LISTED = ("--tolerance", "--threshold", "--quantile", "--budget")


class Command(click.Command):
    """A command whose errors name its options, and that takes an option twice only where several are meant."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_topics(self.get_params(ctx), ctx, formatter)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            _refuse_repeated(order, ctx.info_name or "")
        with in_options(ctx):
            left = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            check_ending(ctx)
        return left

    def invoke(self, ctx: click.Context) -> Any:
        with in_options(ctx):
            return super().invoke(ctx)


class Commands(click.Group):
    """Commands by topic, each with its whole first sentence."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples
        self.topics: dict[str, tuple[click.Command, ...]] = {}

    def add_topic(self, topic: str, *commands: click.Command) -> None:
        """Add commands under a heading."""
        self.topics[topic] = commands
        for command in commands:
            self.add_command(command)

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of the topics

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.commands))
        for topic, commands in self.topics.items():
            with formatter.section(topic):
                rows = [((c.name or "").ljust(widest), c.get_short_help_str(limit=200)) for c in commands]
                formatter.write_dl(rows)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


def _refuse_repeated(order: list[click.Parameter], command: str) -> None:
    """Refuse an option that was typed more than once: the last would count, and the others be dropped in silence."""
    for option in dict.fromkeys(order):
        single = isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
        if single and order.count(option) > 1:
            name, times = option.opts[-1], f"was passed {order.count(option)} times"
            if name in ("--scores", "--predictions"):
                raise InputError(
                    argument=name,
                    problem=f"{times}, but {command} judges one detector",
                    remedy="pass it once, or compare detectors by nofluke compare",
                )
            many = ", or use nofluke sweep for several" if name in _LISTED and command == "evaluate" else ""
            raise InputError(argument=name, problem=times, remedy=f"pass it once{many}")
