"""What the command line exits with, in one place: the help prints it, docs/command-line.md explains it."""

from __future__ import annotations

FINE, BUG, WRONG, FALSE_CLAIM, BROKEN_FILE, ANOTHER_TABLE, UNCHECKED = range(7)
INTERRUPTED = 130  # what shells report for Ctrl-C

MEANINGS = {
    FINE: "done, or what a file claims holds",
    BUG: "an unexpected error, or nobody read the output",
    WRONG: "wrong options, or a table or file that cannot be used",
    FALSE_CLAIM: "verify: a claim is false",
    BROKEN_FILE: "verify: the file is broken",
    ANOTHER_TABLE: "verify: it was made from another table",
    UNCHECKED: "verify: a criterion, measure or strategy is not installed",
    INTERRUPTED: "interrupted by Ctrl-C; the best so far was printed and saved",
}
OF_VERDICTS = {
    "false claim": FALSE_CLAIM,
    "broken file": BROKEN_FILE,
    "another table": ANOTHER_TABLE,
    "cannot be checked here": UNCHECKED,
}
