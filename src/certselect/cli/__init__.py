"""The command line; the only room that prints."""

from certselect.cli.app import main

__all__ = ["main"]
