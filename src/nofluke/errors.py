"""The one error that bad input raises: it names the argument, the value and the remedy."""

LONGEST = 900
"""Characters of a message; what is longer, such as a cell of a megabyte, loses its middle."""


def shortened(text: str, most: int) -> str:
    """Text in one printable line of at most so many characters, cut in the middle.

    >>> shortened("a cell\\nof 1234567890", 15)
    'a cell … 567890'
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.splitlines()))
    kept = (most - 3) // 2
    return line if len(line) <= most else f"{line[:kept]} … {line[-kept:]}"


class InputError(ValueError):
    """Input that cannot be evaluated, with a message that says what to do about it.

    A ``ValueError``, so that code written against other libraries catches it; a class of its own, so that
    the command line can print its message in one line and let every other error through as the bug it is.

    Examples
    --------
    >>> import nofluke as nf
    >>> nf.evaluate([0, 1], [0.2, float("nan")], threshold=0.5)
    Traceback (most recent call last):
    nofluke.errors.InputError: scores has 1 NaN at position(s) 1: drop them, or pass missing="mask".
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message, LONGEST))
