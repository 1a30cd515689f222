"""Running the command line as a user does: a process of its own, in a pipe or on a terminal.

`in_process` runs it in this process: the same code, without the second that a new one takes to import everything.
"""

import contextlib
import io
import os
import pty
import subprocess
import sys
import warnings
from unittest import mock

from certselect.cli import main

# Options of the settings that most tests were written for.
COUNTED = ("--measure", "plugin", "--correction", "none")
JMI = ("--criterion", "jmi", *COUNTED)
COMMAND = [sys.executable, "-c", "from certselect.cli import main; main()"]


def certselect(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def in_process(*arguments):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["certselect", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # what a process of its own would do
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def error_of(done):
    """The one block that an error is told in, as a line: what was got, what was expected, what to do."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert lines, "no error"
    assert lines[0].startswith("certselect: "), done.stderr
    assert len(lines) <= 3, done.stderr
    assert all(line.startswith("  ") for line in lines[1:]), done.stderr
    assert done.returncode != 0
    return "; ".join(line.strip() for line in lines).removeprefix("certselect: ")


def on_a_terminal(*arguments):
    """Everything a command writes to a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    assert process.wait(60) == 0
    os.close(master)
    return seen.decode()
