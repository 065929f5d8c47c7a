"""The exceptions of the package. `code` is the exit code that the program has for the same mistake."""


class Error(RuntimeError):
    """Base of all errors that the caller can cause or cure. The message is one line."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class UsageError(Error, ValueError):
    """Wrong or contradicting options (code 2)."""


class InputError(Error, ValueError):
    """A file, or the value of an option, that cannot be used: `place: found ..., expected ...` (code 3)."""


class OutputError(Error, OSError):
    """Results that cannot be written (code 5)."""
