"""Makes docs/wines.csv, the table of the page "Your first table"; run it to have the file again.

The measurements are those of scikit-learn's wine data. Three things are added that tables have as a rule: a number for
every row, a column that says the same as another one in another unit, and cells that are empty.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

PAGE = Path(__file__).parent
EMPTY = 20  # cells of the column "hue"


def wines() -> str:
    """The table as text."""
    data = load_wine()
    columns = {name.replace("od280/od315_of_diluted_wines", "od280_od315"): data.data[:, i].round(2).tolist()
               for i, name in enumerate(data.feature_names)}  # fmt: skip
    for row in np.random.default_rng(0).choice(len(data.target), EMPTY, replace=False):
        columns["hue"][row] = ""
    columns["alcohol_proof"] = [round(2 * percent, 2) for percent in columns["alcohol"]]
    names = ["bottle", *columns, "cultivar"]
    rows = zip(range(1001, 1001 + len(data.target)), *columns.values(), ("ABC"[i] for i in data.target), strict=True)
    return "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n"


if __name__ == "__main__":
    (PAGE / "wines.csv").write_text(wines())
