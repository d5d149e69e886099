# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Every message is the library's own."""


class Error(Exception):
    """Whatever combinex could not do."""


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
