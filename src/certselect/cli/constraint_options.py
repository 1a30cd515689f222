"""Settings as the command line takes them: whole numbers, lists of column names, a file of costs."""

from __future__ import annotations

import csv
from pathlib import Path

from certselect.errors import InvalidInput
from certselect.names import shown

_MOST_DIGITS = 18  # of a whole number in an option; Python refuses to read thousands of them


def whole_number(text: str) -> int | None:
    """The number that decimal digits spell, or None if the text is something else."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def split_names(listed: str) -> list[str]:
    """The column names of "a,b,c"; a name with a comma in it stands in double quotes, as in a CSV file."""
    names = next(csv.reader([listed], skipinitialspace=True), [])
    if len(names) < 2 or not all(names):
        raise InvalidInput(
            f"the group {shown(listed)}", "two column names or more, like a,b,c", "Separate the names by commas."
        )
    return names


def read_costs(path: Path) -> dict[str, float]:
    """What each feature costs, out of a CSV file with the columns feature and cost."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"--costs {shown(str(path))}, which cannot be read ({reason})", "a CSV file", "Check the path."
        ) from None
    costs: dict[str, float] = {}
    for line, row in enumerate(rows, start=2):
        feature, cost = row.get("feature"), row.get("cost")
        if feature is None or cost is None:
            raise InvalidInput(
                f"line {line} of {path} without a feature or a cost",
                "a first line 'feature,cost' and a name and a number in each line",
                "Check the file.",
            )
        if feature in costs:
            raise InvalidInput(f"two costs for {feature!r} in {path}", "one", "Remove one of the lines.")
        try:
            costs[feature] = float(cost)
        except ValueError:
            raise InvalidInput(f"the cost {cost!r} of {feature!r} in {path}", "a number", "Check the file.") from None
    return costs
