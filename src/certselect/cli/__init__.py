"""The command line; the only room that prints."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line to its exit."""
    try:
        from certselect.cli.app import app
        from certselect.cli.exits import run
    except KeyboardInterrupt:  # while all this is being imported
        sys.exit(130)
    run(app)
