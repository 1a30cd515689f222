"""Running the command line as a user does: a process of its own, in a pipe or on a terminal."""

import os
import pty
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from certselect.cli import main; main()"]


def certselect(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


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
