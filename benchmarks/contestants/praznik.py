"""praznik through Rscript, where R has it: codes go there in a file, columns and R's own seconds come back as text.

The protocol: `Rscript SCRIPT FOLDER ROWS COLUMNS K CRITERION THREADS`, with the codes column by column, then the
classes, as little-endian 32-bit integers in FOLDER/codes.bin. The answer is one line `seconds S` for the second of two
calls, and one line `chosen I J ...` of columns counted from 1. Between the two R collects what is not needed and
pauses, as everybody does here between two turns: right after the first, all that the second needs would still be in the
caches.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from .clock import OwnClock

SCRIPT = """\
given <- commandArgs(trailingOnly = TRUE)
size <- as.integer(given[2:6][-4])
rows <- size[1]; columns <- size[2]; k <- size[3]; threads <- size[4]
codes <- readBin(file.path(given[1], "codes.bin"), "integer", rows * (columns + 1), size = 4, endian = "little")
X <- as.data.frame(matrix(codes[seq_len(rows * columns)], rows, columns))
X[] <- lapply(X, factor)
Y <- factor(codes[rows * columns + seq_len(rows)])
choose <- getExportedValue("praznik", toupper(given[5]))
found <- choose(X, Y, k = k, threads = threads)
invisible(gc())
Sys.sleep(0.1)
began <- Sys.time()
found <- choose(X, Y, k = k, threads = threads)
seconds <- as.numeric(Sys.time() - began, units = "secs")
cat("seconds", format(seconds, digits = 6), "\\n")
cat("chosen", unname(found$selection), "\\n")
"""


@cache
def why_no_praznik() -> str | None:
    if shutil.which("Rscript") is None:
        return "not installed (no Rscript; in R: install.packages('praznik'))"
    asked = ["Rscript", "-e", "cat(requireNamespace('praznik', quietly = TRUE))"]
    if "TRUE" not in subprocess.run(asked, capture_output=True, text=True).stdout:
        return "not installed (in R: install.packages('praznik'))"
    return None


def praznik_order(X: np.ndarray, y: np.ndarray, k: int, criterion: str, threads: int) -> OwnClock:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.concatenate([X.T.ravel(), y]).astype("<i4").tofile(folder / "codes.bin")
        (folder / "choose.R").write_text(SCRIPT)
        sizes = [*X.shape, k, criterion, threads]
        command = ["Rscript", str(folder / "choose.R"), name, *map(str, sizes)]
        # OpenMP would take fewer threads than it is asked for where the environment says so.
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        told = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    lines = {key: rest for key, *rest in (line.split() for line in told.splitlines() if line.strip())}
    return OwnClock([int(place) - 1 for place in lines["chosen"]], float(lines["seconds"][0]))
