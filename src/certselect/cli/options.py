"""What several commands take beside the settings: the table, its target, and where the result goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TableFile = Annotated[Path, typer.Argument(help="CSV or Parquet file with one row per sample.")]
Target = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column to predict: class labels or numbers; may be repeated.",
    ),
]
Threads = Annotated[int | None, typer.Option(help="How many cores to use; all if not given.")]
Json = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save the result to this JSON file; - for standard output.")
]
