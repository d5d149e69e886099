# SPDX-License-Identifier: Apache-2.0
"""python -m combinex: the command line."""

from ._command import main

if __name__ == "__main__":
    main()
