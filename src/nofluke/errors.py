"""The one error that bad input raises: it names the argument, the value and the remedy."""


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


class NumericalError(ArithmeticError):
    """A number could not be computed: a fault of nofluke, never of the data. Nothing that is not a number is returned."""
