# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Messages may quote a file or a name that somebody else chose: nothing in them steers the
terminal they are shown on."""


class Error(Exception):
    """Whatever combinex could not do."""

    def __str__(self) -> str:
        from ._lib import shown

        return shown(super().__str__())


class InvalidError(Error, ValueError):
    """A value, or the content of a file, is wrong."""


class FileError(Error, OSError):
    """The operating system refused to open, read or write."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class CancelledError(Error):
    """The caller's progress function asked to stop."""


class UnsupportedError(Error, TypeError):
    """A model that cannot be imported: the message says why, and what can be."""
