"""Settings as the command line takes them: whole numbers, lists of column names, files of a number per column."""

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


def read_numbers(path: Path, *, option: str, column: str) -> dict[str, float]:
    """A number for each feature, out of a CSV file with the columns "feature" and this one."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"--{option} {shown(str(path))}, which cannot be read ({reason})", "a CSV file", "Check the path."
        ) from None
    numbers: dict[str, float] = {}
    for line, row in enumerate(rows, start=2):
        feature, number = row.get("feature"), row.get(column)
        if feature is None or number is None:
            raise InvalidInput(
                f"line {line} of {path} without a feature or a {column}",
                f"a first line 'feature,{column}' and a name and a number in each line",
                "Check the file.",
            )
        if feature in numbers:
            raise InvalidInput(f"two {option} for {feature!r} in {path}", "one", "Remove one of the lines.")
        try:
            numbers[feature] = float(number)
        except ValueError:
            raise InvalidInput(
                f"the {column} {number!r} of {feature!r} in {path}", "a number", "Check the file."
            ) from None
    return numbers
