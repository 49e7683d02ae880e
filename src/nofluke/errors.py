"""The one error that bad input raises: it names the argument, the value and the remedy."""


class InputError(ValueError):
    """Input that cannot be evaluated, with a message that says what to do about it.

    A ``ValueError``, so that code written against other libraries catches it; a class of its own, so that
    the command line can print its message in one line and let every other error through as the bug it is.
    """
