"""What programs rely on: public names and their signatures, keys of JSON, options of the command line.

``api.json`` holds it. Whoever adds something writes it there, by ``python tests/api.py``, and reads what differs.
"""

import difflib
import inspect
import json
from pathlib import Path

import click

import nofluke as nf
from exported import results
from nofluke.cli import cli

PLACE = Path(__file__).with_name("api.json")
MODULES = {"nofluke": nf, **{f"nofluke.{name}": getattr(nf, name) for name in ("datasets", "detectors", "metrics")}}
MODULES |= {"nofluke.nulls": nf.nulls, "nofluke.plot": nf.plot}


def current():
    """As this tree has it."""
    return {"names": dict(names()), "keys": dict(keys()), "options": dict(options())}


def names():
    """Public names, and public methods and attributes of public classes, with what they take."""
    for prefix, module in MODULES.items():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield f"{prefix}.{name}", taken(thing)
            if inspect.isclass(thing):
                for member in sorted(set(dir(thing)) - set(dir(ValueError)) - {"with_traceback", "add_note"}):
                    if not member.startswith("_"):
                        yield f"{prefix}.{name}.{member}", taken(getattr(thing, member))


def taken(thing):
    """Arguments with their defaults, without annotations; nothing for what is not called."""
    if not callable(thing):
        return ""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return ""
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def keys():
    """Keys of the JSON of every result, one within the other."""
    for name, result in results().items():
        yield name, sorted(set(_below(result.to_dict())))


def _below(told, path=""):
    if isinstance(told, dict):
        for key, value in told.items():
            yield f"{path}{key}"
            yield from _below(value, f"{path}{key}.")
    elif isinstance(told, list):
        for value in told:
            yield from _below(value, path)


def options():
    """Commands, and their options with what they take and what they are otherwise."""
    for name, command in cli.commands.items():
        yield name, sorted(_told(one) for one in command.params)


def _told(option):
    kind = "|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.type.name
    # click has its own word for no default, another one in each version
    plain = isinstance(option.default, str | int | float | tuple)
    default = f" = {option.default}" if plain else ""
    return f"{' '.join([*option.opts, *option.secondary_opts])} <{kind}>{default}"


def text(api):
    """As the file has it."""
    return json.dumps(api, indent=1, ensure_ascii=False, default=str) + "\n"


def differences():
    """What differs from the file, line by line."""
    held = PLACE.read_text(encoding="utf-8").splitlines() if PLACE.exists() else []
    found = difflib.unified_diff(held, text(current()).splitlines(), "tests/api.json", "this tree", n=0, lineterm="")
    return "\n".join(found)


if __name__ == "__main__":
    print(differences())
    PLACE.write_text(text(current()), encoding="utf-8")
