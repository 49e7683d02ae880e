"""Docstrings of everything public: each names its neighbours, and they exist."""

import inspect
import re
from operator import attrgetter

import nofluke as nf

MODULES = {
    "": nf,
    "metrics.": nf.metrics,
    "nulls.": nf.nulls,
    "plot.": nf.plot,
    "datasets.": nf.datasets,
    "detectors.": nf.detectors,
}
DOCUMENTED = [
    prefix + name
    for prefix, module in MODULES.items()
    for name in module.__all__
    if callable(getattr(module, name)) and not inspect.ismodule(getattr(module, name))
]
NEIGHBOUR = re.compile(r"(nofluke(?:\.\w+)+(?:, nofluke(?:\.\w+)+)*) : \S.*")


def neighbours(docstring):
    """The names in the section See Also of a docstring, or a failure where a line has none."""
    section = docstring.partition("See Also\n--------\n")[2].partition("\n\n")[0]
    found = [NEIGHBOUR.fullmatch(line) for line in section.splitlines()]
    assert all(found), f"write lines as 'nofluke.name : what it is for.', not {section!r}"
    return [name for match in found for name in match[1].split(", ")]


def test_everything_public_names_its_neighbours():
    """Two to five of them, each of which can be imported, and none of which is the thing itself."""
    for name in DOCUMENTED:
        named = neighbours(inspect.getdoc(attrgetter(name)(nf)))
        assert 2 <= len(named) <= 5, name
        assert len(set(named)) == len(named), name
        assert f"nofluke.{name}" not in named
        for one in named:
            attrgetter(one.removeprefix("nofluke."))(nf)


def test_the_names_of_a_module_are_its_public_api():
    """`dir(nf)` and tab completion show what is documented, and no inner module."""
    assert dir(nf) == sorted([*nf.__all__, "__version__"])


def test_help_on_the_package_is_an_orientation():
    """`help(nf)` names every public function, and has an example that works (doctest runs it)."""
    functions = [name for name in nf.__all__ if name[0].islower()]
    assert [name for name in functions if f"`{name}`" not in nf.__doc__] == []
    assert "\n>>> " in nf.__doc__
